package cli_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/githubapi/apitest"
)

// eventCase is one row, or one sentence below, of the table of github-action.md
// 3: what the runner says happened, what is checked out, and what the gate
// compares then.
type eventCase struct {
	name    string
	kind    kind
	event   string
	payload func(*site) any
	sha     func(*site) string // GITHUB_SHA; nil is the merge commit
	at      func(*site)        // the checkout; nil is the merge commit, whole
	inputs  map[string]string

	status  int
	base    func(*site) string // of the report; nil is none
	checkOn func(*site) string // the commit of the check run; nil is no check run
	rules   []string           // of drift, action and trust that fire
}

func commitA(s *site) string { return s.A }
func commitB(s *site) string { return s.B }
func commitC(s *site) string { return s.C }
func commitM(s *site) string { return s.M }
func atA(s *site)            { s.at(s.A) }
func atB(s *site)            { s.at(s.B) }
func atC(s *site)            { s.at(s.C) }

func pulled(action string) func(*site) any { return func(s *site) any { return s.pull(action) } }

// runOf is the payload of workflow_run with n pull requests.
func runOf(s *site, n int) object {
	list := []any{}
	for range n {
		list = append(list, object{"number": 1, "base": object{"ref": "main", "sha": s.B}, "head": object{"ref": "feature", "sha": s.C}})
	}
	return object{"action": "completed", "workflow_run": object{"head_sha": s.C, "pull_requests": list}, "repository": repositoryOf()}
}

func dispatched(inputs any) func(*site) any {
	return func(*site) any {
		return object{"inputs": inputs, "ref": "refs/heads/main", "repository": repositoryOf()}
	}
}

var eventCases = []eventCase{
	// pull_request and its relatives.
	{name: "pull request, merge commit", event: "pull_request", payload: pulled("opened"), base: commitB, checkOn: commitC},
	{
		name: "pull request, merge commit of a bad change", kind: forgotten, event: "pull_request", payload: pulled("opened"),
		status: 1, base: commitB, checkOn: commitC, rules: []string{"drift/handoff-not-updated"},
	},
	{name: "pull request, head", event: "pull_request", payload: pulled("synchronize"), at: atC, base: commitB, checkOn: commitC},
	{
		name: "pull request, depth 1", event: "pull_request", payload: pulled("reopened"),
		at: func(s *site) { s.clone(s.M, clone{depth: 1}) }, base: commitB, checkOn: commitC,
	},
	{name: "review", event: "pull_request_review", payload: pulled("submitted"), base: commitB, checkOn: commitC},
	{name: "review comment", event: "pull_request_review_comment", payload: pulled("created"), base: commitB, checkOn: commitC},
	{
		name: "a label is no free pass", kind: forgotten, event: "pull_request", payload: pulled("labeled"),
		status: 1, base: commitB, checkOn: commitC, rules: []string{"drift/handoff-not-updated"},
	},
	{
		name: "closing is no free pass", kind: forgotten, event: "pull_request", payload: pulled("closed"),
		status: 1, base: commitB, checkOn: commitC, rules: []string{"drift/handoff-not-updated"},
	},
	{
		name: "the base has moved on", event: "pull_request",
		payload: func(s *site) any { p := s.pull("opened"); setBase(p, s.A); return p },
		base:    commitB, checkOn: commitC, rules: []string{"action/base-moved"},
	},
	{
		name: "head behind the base", event: "pull_request",
		payload: func(s *site) any { p := s.pull("opened"); setBase(p, later(s)); return p },
		at:      atC, status: 1, base: later, checkOn: commitC, rules: []string{"action/head-behind-base"},
	},
	{
		name: "head behind the base, shallow, told by the API", event: "pull_request",
		payload: func(s *site) any { p := s.pull("opened"); setBase(p, later(s)); return p },
		at: func(s *site) {
			s.api.Compare(later(s), s.C, apitest.Comparison{Base: later(s), MergeBase: s.B, AheadBy: 1, BehindBy: 1})
			s.clone(s.C, clone{depth: 1})
		},
		status: 1, base: later, checkOn: commitC, rules: []string{"action/head-behind-base"},
	},
	{
		name: "head with its base, shallow, told by the API", event: "pull_request", payload: pulled("opened"),
		at: func(s *site) { s.clone(s.C, clone{depth: 1}) }, base: commitB, checkOn: commitC,
	},
	{
		name: "head, shallow, and nobody can tell", event: "pull_request", payload: pulled("opened"),
		at: func(s *site) { s.clone(s.C, clone{depth: 1}) }, inputs: map[string]string{"token": ""},
		status: 1, base: commitB, rules: []string{"action/head-behind-base"},
	},
	{
		name: "the target branch is checked out", event: "pull_request", payload: pulled("opened"), at: atB,
		status: 1, base: commitB, checkOn: commitC, rules: []string{"action/wrong-checkout"},
	},
	{
		name: "a merge that is not GitHub's, on an older base", event: "pull_request", payload: pulled("opened"),
		at:     func(s *site) { m := s.merge(s.A, s.C, "mine"); s.put(m, "refs/heads/mine"); s.at(m) },
		status: 1, base: commitB, checkOn: commitC, rules: []string{"action/wrong-checkout"},
	},
	{
		name: "a merge that is not GitHub's, on the payload's base", event: "pull_request", payload: pulled("opened"),
		at:   func(s *site) { m := s.merge(s.B, s.C, "mine"); s.put(m, "refs/heads/mine"); s.at(m) },
		base: commitB, checkOn: commitC,
	},
	{name: "input base wins", event: "pull_request", payload: pulled("opened"), inputs: map[string]string{"base": "A"}, base: commitA, checkOn: commitC},
	{
		name: "input base does not excuse the checkout", event: "pull_request", payload: pulled("opened"), at: atB, inputs: map[string]string{"base": "A"},
		status: 1, base: commitA, checkOn: commitC, rules: []string{"action/wrong-checkout"},
	},
	{name: "input sha", event: "pull_request", payload: pulled("opened"), inputs: map[string]string{"sha": "B"}, base: commitB, checkOn: commitB},

	// pull_request_target.
	{
		name: "target, default checkout", event: "pull_request_target", payload: pulled("opened"), sha: commitB, at: atB,
		status: 1, base: commitB, checkOn: commitC, rules: []string{"action/wrong-checkout"},
	},
	{name: "target, head", event: "pull_request_target", payload: pulled("opened"), sha: commitB, at: atC, base: commitB, checkOn: commitC},
	{name: "target, merge on the payload's base", event: "pull_request_target", payload: pulled("opened"), sha: commitB, base: commitB, checkOn: commitC},
	{
		name: "target, merge on another base", event: "pull_request_target", sha: commitB,
		payload: func(s *site) any { p := s.pull("opened"); setBase(p, s.A); return p },
		status:  1, base: commitA, checkOn: commitC, rules: []string{"action/wrong-checkout"},
	},

	// merge_group.
	{name: "merge queue", event: "merge_group", payload: func(s *site) any { return queued(s.B, s.M) }, base: commitB, checkOn: commitM},
	{
		name: "merge queue, wrong checkout", event: "merge_group", payload: func(s *site) any { return queued(s.B, s.M) }, at: atC,
		status: 1, base: commitB, checkOn: commitM, rules: []string{"action/wrong-checkout"},
	},

	// push.
	{name: "push", event: "push", payload: func(s *site) any { return push("refs/heads/feature", s.B, s.C) }, at: atC, base: commitB, checkOn: commitC},
	{
		name: "push, wrong checkout", event: "push", payload: func(s *site) any { return push("refs/heads/feature", s.A, s.C) }, at: atB,
		status: 1, base: commitA, checkOn: commitC, rules: []string{"action/wrong-checkout"},
	},
	{
		name: "forced push: the old tip is on no branch", event: "push",
		payload: func(s *site) any {
			p := push("refs/heads/feature", orphaned(s), s.C)
			p["forced"] = true
			return p
		},
		at: atC, base: orphaned, checkOn: commitC,
	},
	{
		name: "push, and the old tip is gone from the server", event: "push",
		payload: func(s *site) any { return push("refs/heads/feature", strings.Repeat("d", 40), s.C) }, at: atC,
		status: 1, checkOn: commitC, rules: []string{"drift/base-missing", "trust/policy-unavailable"},
	},
	{
		name: "push, and fetching is switched off", event: "push",
		payload: func(s *site) any { return push("refs/heads/feature", s.B, s.C) },
		at:      func(s *site) { s.clone(s.C, clone{depth: 1}) }, inputs: map[string]string{"fetch-missing": "false"},
		status: 1, checkOn: commitC, rules: []string{"drift/base-missing", "trust/policy-unavailable"},
	},
	{name: "new branch", event: "push", payload: func(s *site) any { return push("refs/heads/feature", noCommit, s.C) }, at: atC, base: commitB, checkOn: commitC},
	{
		name: "new branch, shallow, told by the API", event: "push", payload: func(s *site) any { return push("refs/heads/feature", noCommit, s.C) },
		at: func(s *site) { s.clone(s.C, clone{depth: 1}) }, base: commitB, checkOn: commitC,
	},
	{
		name: "new branch, shallow, and nobody can tell", event: "push", payload: func(s *site) any { return push("refs/heads/feature", noCommit, s.C) },
		at: func(s *site) { s.clone(s.C, clone{depth: 1}) }, inputs: map[string]string{"token": ""},
		status: 1, rules: []string{"drift/base-required", "trust/policy-unavailable"},
	},
	{name: "new branch that the default branch holds", event: "push", payload: func(s *site) any { return push("refs/heads/copy", noCommit, s.B) }, at: atB, base: commitB, checkOn: commitB},
	{name: "the repository's first push", event: "push", payload: func(s *site) any { return push("refs/heads/main", noCommit, s.A) }, at: atA, checkOn: commitA},

	// workflow_dispatch.
	{name: "dispatch, input base", event: "workflow_dispatch", payload: dispatched(nil), at: atC, inputs: map[string]string{"base": "B"}, base: commitB, checkOn: commitC},
	{name: "dispatch, the payload's base", event: "workflow_dispatch", payload: func(s *site) any { return object{"inputs": object{"base": s.B}} }, at: atC, base: commitB, checkOn: commitC},
	{
		name: "dispatch without a base", event: "workflow_dispatch", payload: dispatched(nil), at: atC,
		status: 1, checkOn: commitC, rules: []string{"drift/base-required", "trust/policy-unavailable"},
	},
	{
		name: "dispatch, a branch for a base", event: "workflow_dispatch", payload: dispatched(object{"base": "main"}), at: atC,
		status: 1, checkOn: commitC, rules: []string{"drift/base-malformed", "trust/policy-unavailable"},
	},
	{
		name: "dispatch, HEAD for a base", event: "workflow_dispatch", payload: dispatched(nil), at: atC, inputs: map[string]string{"base": "C"},
		status: 1, base: commitC, checkOn: commitC, rules: []string{"drift/base-is-head"},
	},
	{
		name: "dispatch, zeros for a base", event: "workflow_dispatch", payload: dispatched(nil), at: atC, inputs: map[string]string{"base": noCommit},
		status: 1, checkOn: commitC, rules: []string{"drift/base-zero", "trust/policy-unavailable"},
	},

	// Events without a change of their own.
	{name: "schedule", event: "schedule", payload: func(*site) any { return object{"schedule": "0 6 * * *"} }, at: atC, checkOn: commitC},
	{
		name: "schedule on a handoff that was edited", kind: tampered, event: "schedule", payload: func(*site) any { return object{"schedule": "0 6 * * *"} }, at: atC,
		status: 1, checkOn: commitC,
	},
	{
		name: "schedule with a base", kind: forgotten, event: "schedule", payload: func(*site) any { return object{} }, at: atC, inputs: map[string]string{"base": "B"},
		status: 1, base: commitB, checkOn: commitC, rules: []string{"drift/handoff-not-updated"},
	},
	{
		name: "repository_dispatch: its payload is not read", event: "repository_dispatch",
		payload: func(s *site) any { return object{"client_payload": object{"base": s.B}} }, at: atC,
		status: 1, checkOn: commitC, rules: []string{"drift/base-required", "trust/policy-unavailable"},
	},
	{
		name: "repository_dispatch with a base", event: "repository_dispatch", payload: func(*site) any { return object{} }, at: atC,
		inputs: map[string]string{"base": "B"}, base: commitB, checkOn: commitC,
	},
	{name: "workflow_run of one pull request", event: "workflow_run", payload: func(s *site) any { return runOf(s, 1) }, sha: commitB, at: atC, base: commitB, checkOn: commitC},
	{
		name: "workflow_run of two", event: "workflow_run", payload: func(s *site) any { return runOf(s, 2) }, sha: commitB, at: atC,
		status: 1, checkOn: commitC, rules: []string{"drift/base-required", "trust/policy-unavailable"},
	},
	{
		name: "workflow_run, default checkout", event: "workflow_run", payload: func(s *site) any { return runOf(s, 1) }, sha: commitB, at: atB,
		status: 1, base: commitB, checkOn: commitC, rules: []string{"action/wrong-checkout"},
	},
	{
		name: "an event without a row", event: "issue_comment", payload: func(*site) any { return object{"action": "created"} }, at: atC,
		status: 1, checkOn: commitC, rules: []string{"drift/base-required", "trust/policy-unavailable"},
	},
	{
		name: "an event without a row, with a base", event: "issue_comment", payload: func(*site) any { return object{} }, at: atC,
		inputs: map[string]string{"base": "B"}, base: commitB, checkOn: commitC,
	},
}

func setBase(pull object, id string) { pull["pull_request"].(object)["base"].(object)["sha"] = id }

func queued(base, head string) object {
	return object{"action": "checks_requested", "merge_group": object{"base_sha": base, "head_sha": head}, "repository": repositoryOf()}
}

// later is a commit of main that the pull request's head does not have. Making
// it twice makes the same one.
func later(s *site) string {
	id := s.src.Git("commit-tree", s.B+"^{tree}", "-p", s.B, "-m", "later")
	s.put(id, "refs/heads/main")
	return id
}

// orphaned is a commit that the server has and no branch holds.
func orphaned(s *site) string {
	id := s.src.Git("commit-tree", s.A+"^{tree}", "-p", s.A, "-m", "orphaned")
	s.put(id, "refs/heads/gone")
	s.src.Git("--git-dir="+s.server, "update-ref", "-d", "refs/heads/gone")
	return id
}

func TestActionEvents(t *testing.T) {
	t.Parallel()
	for _, c := range eventCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, c.kind, ".")
			payload := c.payload(s)
			if c.at == nil {
				s.at(s.M)
			} else {
				c.at(s)
			}
			if c.sha != nil {
				s.env["GITHUB_SHA"] = c.sha(s)
			}
			byName := map[string]string{"A": s.A, "B": s.B, "C": s.C}
			for name, value := range c.inputs {
				if id, ok := byName[value]; ok {
					value = id
				}
				s.input(name, value)
			}
			o := s.run(c.event, payload)
			if o.status != c.status {
				t.Fatalf("exit status %d, want %d\n%s", o.status, c.status, o.log)
			}
			base := ""
			if c.base != nil {
				base = c.base(s)
			}
			if o.outputs["base"] != base || o.report.Base != base {
				t.Errorf("base: output %s, report %s, want %s", o.outputs["base"], o.report.Base, base)
			}
			if o.outputs["head"] != o.report.Head || o.report.Head != s.checkout.Git("rev-parse", "HEAD") {
				t.Errorf("head: output %s, report %s", o.outputs["head"], o.report.Head)
			}
			rules := slices.DeleteFunc(o.rules(), func(id string) bool {
				group, _, _ := strings.Cut(id, "/")
				return group != "action" && group != "drift" && group != "trust"
			})
			if !slices.Equal(rules, c.rules) {
				t.Errorf("rules %v, want %v\n%s", rules, c.rules, o.log)
			}
			if c.checkOn == nil {
				if runs := s.api.Runs(); len(runs) != 0 {
					t.Errorf("a check run on %s, want none", runs[0].HeadSHA)
				}
				return
			}
			want := map[int]string{0: "success", 1: "failure"}[c.status]
			if r := s.checkRun(); r.HeadSHA != c.checkOn(s) || r.Conclusion != want {
				t.Errorf("check run on %s: %s, want %s: %s", r.HeadSHA, r.Conclusion, c.checkOn(s), want)
			}
		})
	}
}

// What is left after a branch or tag was deleted is nothing: no call, no check
// run, every layer skipped, and no need for a checkout.
func TestActionLeavesDeletedRefsAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		event   string
		payload any
	}{
		"push that deletes":   {"push", push("refs/heads/feature", strings.Repeat("a", 40), noCommit)},
		"tag that is deleted": {"push", push("refs/tags/v1", strings.Repeat("a", 40), noCommit)},
		"delete":              {"delete", object{"ref": "feature", "ref_type": "branch"}},
	} {
		for _, checkedOut := range []bool{true, false} {
			s := newSite(t, tampered, ".")
			if s.at(s.C); !checkedOut {
				s.env["GITHUB_WORKSPACE"] = t.TempDir()
				s.workspace = s.env["GITHUB_WORKSPACE"]
			}
			o := s.run(c.event, c.payload)
			if o.status != 0 || len(s.api.Requests()) != 0 {
				t.Errorf("%s, checked out %t: exit status %d, %d requests\n%s", name, checkedOut, o.status, len(s.api.Requests()), o.log)
				continue
			}
			for _, l := range o.report.Projects[0].Layers {
				if l.Status != report.Skip || !strings.Contains(l.Summary, "deleted") {
					t.Errorf("%s: layer %s is %s: %s", name, l.ID, l.Status, l.Summary)
				}
			}
		}
	}
	// The twin: the same name with a payload that proves nothing.
	s := newSite(t, honest, ".")
	if o := s.at(s.C).run("delete", "{"); o.status != 1 {
		t.Errorf("an unreadable payload of delete: exit status %d, want 1", o.status)
	}
}

// The release before a tag is found in the clone, or through the API where the
// clone is cut.
func TestActionTags(t *testing.T) {
	t.Parallel()
	type tagCase struct {
		name, this string
		tags       []string // of the commits before, oldest first
		shallow    bool
		noToken    bool
		want       string // the tag that is the base; "" is the empty tree
		rule       string
	}
	for _, c := range []tagCase{
		{name: "the highest lower version", this: "v1.11.0", tags: []string{"v1.9.0", "v1.10.0"}, want: "v1.10.0"},
		{name: "a pre-release is no release", this: "v1.11.0", tags: []string{"v1.9.0", "v1.11.0-rc.1"}, want: "v1.9.0"},
		{name: "before a pre-release there may be one", this: "v1.11.0-rc.2", tags: []string{"v1.9.0", "v1.11.0-rc.1"}, want: "v1.11.0-rc.1"},
		{name: "of the same prefix", this: "api/v1.1.0", tags: []string{"api/v1.0.0", "v1.0.5"}, want: "api/v1.0.0"},
		{name: "a floating tag is no version", this: "v1.1.0", tags: []string{"v1.0.0", "v1"}, want: "v1.0.0"},
		{name: "no version: the nearest", this: "weekly", tags: []string{"v1.9.0", "nightly"}, want: "nightly"},
		{name: "none before", this: "v1.0.0"},
		{name: "shallow, told by the API", this: "v1.11.0", tags: []string{"v1.9.0", "v1.10.0"}, shallow: true, want: "v1.10.0"},
		{name: "shallow, and nobody can tell", this: "v1.11.0", tags: []string{"v1.9.0"}, shallow: true, noToken: true, rule: "drift/base-required"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := emptySite(t)
			s.handoff(".", "Begun.")
			s.src.Commit("Start")
			at := map[string]string{}
			for i, tag := range c.tags {
				s.write("app.go", tag)
				s.handoff(".", tag)
				at[tag] = s.src.Commit(tag)
				s.src.Git("tag", tag)
				s.api.Tag(tag, at[tag], "")
				_ = i
			}
			s.write("app.go", "last")
			s.handoff(".", "Last.")
			tip := s.src.Commit("Last")
			s.src.Git("tag", "-a", "-m", "Release", c.this)
			object := s.src.Git("rev-parse", c.this)
			s.api.Tag(c.this, tip, object)
			for i, tag := range c.tags {
				s.api.Compare(at[tag], tip, apitest.Comparison{Base: at[tag], MergeBase: at[tag], AheadBy: len(c.tags) - i})
			}
			s.put(tip, "refs/heads/main")
			s.src.Git("push", "-q", "--tags", "origin")
			s.env["GITHUB_SHA"], s.env["GITHUB_REF"] = tip, "refs/tags/"+c.this
			if c.noToken {
				s.input("token", "")
			}
			depth := 0
			if c.shallow {
				depth = 1
			}
			for _, event := range []string{"push", "create", "release"} {
				s.workspace = t.TempDir()
				s.clone(tip, clone{depth: depth})
				s.env["GITHUB_RUN_ID"] = event
				var payload any = push("refs/tags/"+c.this, noCommit, object)
				switch event {
				case "create":
					payload = map[string]any{"ref": c.this, "ref_type": "tag", "repository": repositoryOf()}
				case "release":
					payload = map[string]any{"action": "published", "release": map[string]any{"tag_name": c.this}, "repository": repositoryOf()}
				}
				o := s.run(event, payload)
				if c.rule != "" {
					if f := o.finding(t, c.rule); o.status != 1 || !strings.Contains(f.Remedy, "fetch-depth: 0") {
						t.Errorf("%s: exit status %d, remedy %q", event, o.status, f.Remedy)
					}
					continue
				}
				if o.status != 0 || o.outputs["base"] != at[c.want] {
					t.Errorf("%s: exit status %d, base %s, want %s (%s)\n%s", event, o.status, o.outputs["base"], at[c.want], c.want, o.log)
				}
			}
			for _, r := range s.api.Runs() {
				if r.HeadSHA != tip {
					t.Errorf("check run on %s, want the commit that the tag peels to, %s", r.HeadSHA, tip)
				}
			}
		})
	}
	t.Run("wrong checkout", func(t *testing.T) {
		s := newSite(t, honest, ".")
		s.src.Git("tag", "v1.0.0", s.C)
		s.src.Git("push", "-q", "--tags", "origin")
		s.env["GITHUB_SHA"] = s.C
		o := s.at(s.B).run("push", push("refs/tags/v1.0.0", noCommit, s.C))
		if f := o.finding(t, "action/wrong-checkout"); o.status != 1 || !strings.Contains(f.Message, s.B) || !strings.Contains(f.Message, s.C) {
			t.Errorf("exit status %d, %s", o.status, f.Message)
		}
	})
}

// A payload is another party's bytes: whatever they are, the change is not
// passed and the finding names the file or the field.
func TestActionPayloads(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 70)
	for name, c := range map[string]struct{ payload, names string }{
		"empty":              {"", "event.json"},
		"not JSON":           {"{", "event.json"},
		"an array":           {"[1]", "event.json"},
		"null":               {"null", "event.json"},
		"not UTF-8":          {"\xff\xfe", "event.json"},
		"deeper than 64":     {deep, "event.json"},
		"over 32 MiB":        {`{"x":"` + strings.Repeat("a", 32<<20) + `"}`, "event.json"},
		"a field is null":    {`{"pull_request":null}`, "pull_request"},
		"a field is missing": {`{"pull_request":{"base":{"sha":"` + strings.Repeat("a", 40) + `"}}}`, "pull_request.head"},
		"another type":       {`{"pull_request":{"head":{"sha":1},"base":{"sha":2}}}`, "pull_request.head.sha"},
		"no commit id":       {`{"pull_request":{"head":{"sha":"main"},"base":{"sha":"main"}}}`, "pull_request.head.sha"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, honest, ".")
			o := s.at(s.M).run("pull_request", c.payload)
			said := ""
			for _, p := range o.report.Projects {
				for _, l := range p.Layers {
					for _, f := range l.Findings {
						if f.Rule == "action/payload-unreadable" {
							said += f.Message + "\n"
						}
					}
				}
			}
			if o.status != 1 || !strings.Contains(said, c.names) {
				t.Errorf("exit status %d, message %q, want it to name %s", o.status, said, c.names)
			}
			if n := len(s.api.Runs()); n != 0 {
				t.Errorf("%d check runs on a commit that nobody named", n)
			}
		})
	}
	for name, path := range map[string]string{"missing": "/nowhere/event.json", "unset": unset} {
		s := newSite(t, honest, ".")
		s.env["GITHUB_EVENT_PATH"] = path
		if o := s.at(s.M).run("pull_request", s.pull("opened")); o.status != 1 {
			t.Errorf("payload %s: exit status %d, want 1", name, o.status)
		}
	}
}
