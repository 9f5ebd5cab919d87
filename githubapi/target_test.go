package githubapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// expect is what a row must come to. Commits are named, not spelled.
type expect struct {
	base    string // name of the commit, "empty" for the empty tree, "" for none
	problem gate.BaseProblem
	rules   string // the rules of the problems, blank-separated
	check   string // the check run's commit
	skip    string // part of NoChangeSet
	nothing bool   // NothingToVerify
	own     bool   // HeadPolicy
	off     bool   // ChecksOff
	says    string // part of a message or remedy, of the base's or of a problem's
	source  string // part of Base.Source
}

func (want expect) compare(t *testing.T, w world, got Target) {
	t.Helper()
	base := ""
	switch {
	case got.Base.Empty:
		base = "empty"
	case got.Base.ID != "":
		base = w.name(got.Base.ID)
	}
	var rules []string
	text := got.Base.Message + "\n" + got.Base.Remedy
	for _, p := range got.Problems {
		rules = append(rules, strings.TrimPrefix(p.Rule.ID, "action/"))
		text += "\n" + p.Message + "\n" + p.Remedy
		if p.Message == "" || p.Rule.Severity != report.Notice && p.Remedy == "" {
			t.Errorf("%s lacks message or remedy: %+v", p.Rule.ID, p)
		}
		for line := range strings.Lines(p.Remedy) {
			if strings.HasPrefix(line, "fix: ") {
				t.Errorf("the remedy of %s has a last line of its own", p.Rule.ID)
			}
		}
	}
	same := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	same("base", base, want.base)
	same("problem of the base", got.Base.Problem, want.problem)
	same("rules", strings.Join(rules, " "), want.rules)
	same("check run on", w.name(got.CheckRunSHA), want.check)
	same("nothing to verify", got.NothingToVerify != "", want.nothing)
	same("HEAD's own policy", got.HeadPolicy, want.own)
	same("checks off", got.ChecksOff != "", want.off)
	if (got.NoChangeSet == "") != (want.skip == "") || !strings.Contains(got.NoChangeSet, want.skip) {
		t.Errorf("no change set: got %q, want %q", got.NoChangeSet, want.skip)
	}
	if !strings.Contains(text, want.says) {
		t.Errorf("%q is said nowhere in:\n%s", want.says, text)
	}
	if !strings.Contains(got.Base.Source, want.source) {
		t.Errorf("source: got %q, want %q", got.Base.Source, want.source)
	}
	if got.Base.Problem != gate.BaseFine && (got.Base.Message == "" || got.Base.Remedy == "") {
		t.Errorf("the base's problem lacks message or remedy: %+v", got.Base)
	}
	if (got.Base.Problem != gate.BaseFine || want.rules != "" && want.rules != "base-moved") != got.Blocked() {
		t.Errorf("blocked: %v", got.Blocked())
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }) {
		t.Errorf("a control character in %q", text)
	}
}

// scenario is one row of a table: an event meets a checkout.
type scenario struct {
	name     string
	event    string
	payload  string
	head     string // checked out; "" for std's M
	sha      string // GITHUB_SHA, by name; "" for head
	base     string // input base
	depth1   bool
	noFetch  bool
	noToken  bool
	silent   bool                        // the API answers nothing
	change   func(c *clone, api *server) // anything else
	want     expect
	resolved func(t *testing.T, got Target, c *clone, api *server)
}

func (s scenario) run(t *testing.T, w world) {
	t.Helper()
	head := cmp.Or(s.head, "M")
	c := full(t, w, head)
	if s.depth1 {
		c = depth1(t, w, head)
	}
	api := &server{w: w, branches: map[string]string{"main": "B"}}
	if s.silent {
		api.err = errors.New("503")
	}
	if s.change != nil {
		s.change(c, api)
	}
	in := TargetInput{
		Event: event(s.event, s.payload), Repository: c, Lookups: api,
		SHA: id(cmp.Or(s.sha, head)), Base: s.base, FetchMissing: !s.noFetch,
	}
	if s.noToken {
		in.Lookups = nil
	}
	got, err := Resolve(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	s.want.compare(t, w, got)
	if s.noToken && len(api.calls) > 0 {
		t.Errorf("API calls without a token: %v", api.calls)
	}
	if s.resolved != nil {
		s.resolved(t, got, c, api)
	}
}

func runAll(t *testing.T, w world, all []scenario) {
	t.Helper()
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.run(t, w)
		})
	}
}

// The rows of pull requests: what may be checked out, and what it is measured
// from.
func TestPullRequest(t *testing.T) {
	t.Parallel()
	pr := func(base, head string) string { return prPayload(id(base), id(head)) }
	behind := func(p string, want expect) []scenario {
		want.base, want.check = "B", "C"
		local, decided, undecided, silent, asked := want, want, want, want, want
		local.says, decided.says = "drop `ref:`", "drop `ref:`"
		undecided.says, silent.says = "fetch-depth: 0", "503"
		asked.rules, asked.check = "", "far"
		far := strings.ReplaceAll(p, id("C"), id("far"))
		return []scenario{
			{name: "head behind the base", payload: p, head: "C", sha: "M", want: local},
			{name: "head behind the base, shallow: the API decides", payload: p, head: "C", sha: "M", depth1: true, want: decided},
			{name: "head behind the base, shallow, no token: undecidable", payload: p, head: "C", sha: "M", depth1: true, noToken: true, want: undecided},
			{name: "head behind the base, shallow, no answer: undecidable", payload: p, head: "C", sha: "M", depth1: true, silent: true, want: silent},
			{name: "head on the base, shallow: the API decides", payload: far, head: "far", sha: "N", depth1: true, want: asked},
		}
	}
	all := []scenario{
		{name: "merge commit", payload: pr("B", "C"), want: expect{base: "B", check: "C", source: "first parent"}},
		{
			name: "merge commit, depth 1: parents come from the raw commit", payload: pr("B", "C"), depth1: true, want: expect{base: "B", check: "C"},
			resolved: func(t *testing.T, _ Target, c *clone, _ *server) {
				if fmt.Sprint(c.fetched) != "[B]" {
					t.Errorf("fetched %v", c.fetched)
				}
			},
		},
		{name: "ids in upper case", payload: strings.ToUpper(id("B")), want: expect{}},
		{name: "the base has moved on", payload: pr("A", "C"), want: expect{base: "B", check: "C", rules: "base-moved", says: id("A")}},
		{name: "the base has moved on, depth 1", payload: pr("A", "C"), depth1: true, want: expect{base: "B", check: "C", rules: "base-moved", says: id("B")}},
		{name: "head commit", payload: pr("B", "D"), head: "D", sha: "N", want: expect{base: "B", check: "D", source: "pull_request.base.sha"}},
		{name: "head commit that left an older base", payload: pr("A", "C"), head: "C", sha: "O", want: expect{base: "A", check: "C"}},
		{name: "older merge of GitHub's, on the payload's base", payload: pr("A", "C"), head: "O", sha: "M", want: expect{base: "A", check: "C"}},
		{
			name: "older merge of GitHub's, not on the payload's base", payload: pr("B", "C"), head: "O", sha: "M",
			want: expect{base: "B", check: "C", rules: "wrong-checkout", says: "`ref: " + id("C") + "`"},
		},
		{name: "the target branch is checked out", payload: pr("B", "C"), head: "B", sha: "M", want: expect{base: "B", check: "C", rules: "wrong-checkout", says: "HEAD is " + id("B")}},
		{name: "a commit on top of the head", payload: pr("A", "C"), head: "child", want: expect{base: "A", check: "C", rules: "wrong-checkout"}},
		{name: "author's merge: head as first parent", payload: pr("B", "C"), head: "reversed", want: expect{base: "B", check: "C", rules: "wrong-checkout"}},
		{name: "author's merge: three parents", payload: pr("B", "C"), head: "octopus", want: expect{base: "B", check: "C", rules: "wrong-checkout"}},
		{name: "author's merge: forged first parent", payload: pr("B", "C"), head: "forged", sha: "M", want: expect{base: "B", check: "C", rules: "wrong-checkout"}},
		{name: "author's merge: of the head with itself", payload: pr("B", "C"), head: "on itself", sha: "M", want: expect{base: "B", check: "C", rules: "wrong-checkout"}},
		{name: "the head is itself a merge, of the base too", payload: pr("B", "reversed"), head: "reversed", sha: "M", want: expect{base: "B", check: "reversed"}},
		{name: "nothing in the pull request", payload: pr("B", "B"), head: "B", sha: "M", want: expect{base: "B", problem: gate.BaseIsHead, check: "B"}},
		{name: "input base wins over the moved base", payload: pr("B", "C"), base: id("A"), want: expect{base: "A", check: "C", source: "input base"}},
		{name: "input base makes any merge of the head good", payload: pr("B", "C"), head: "O", sha: "M", base: id("A"), want: expect{base: "A", check: "C"}},
		{name: "input base switches off head-behind-base", payload: pr("B", "C"), head: "C", sha: "M", base: id("A"), want: expect{base: "A", check: "C"}},
		{name: "input base never excuses the checkout", payload: pr("B", "C"), head: "D", sha: "M", base: id("A"), want: expect{base: "A", check: "C", rules: "wrong-checkout"}},
		{name: "zero base", payload: prPayload(zero40, id("C")), head: "C", sha: "M", want: expect{problem: gate.BaseZero, check: "C", says: zero40}},
		{name: "zero base of a merge commit", payload: prPayload(zero40, id("C")), want: expect{base: "B", check: "C", rules: "payload-unreadable"}},
		{name: "symbolic base", payload: prPayload("main", id("C")), head: "C", sha: "M", want: expect{problem: gate.BaseMalformed, check: "C", says: `"main"`}},
		{name: "option as base", payload: prPayload("--upload-pack=touch /tmp/x", id("C")), head: "C", sha: "M", want: expect{problem: gate.BaseMalformed, check: "C"}},
		{name: "option as head", payload: prPayload(id("B"), "--output=/tmp/x"), want: expect{base: "B", rules: "payload-unreadable", says: "pull_request.head.sha"}},
		{name: "zero head", payload: prPayload(id("B"), zero40), want: expect{base: "B", rules: "payload-unreadable"}},
		{name: "SHA-256 head in a SHA-1 repository", payload: prPayload(id("B"), id("C")+"000000000000000000000000"), want: expect{base: "B", rules: "payload-unreadable"}},
		{
			name: "no base", payload: `{"pull_request": {"base": {"sha": null}, "head": {"sha": "` + id("C") + `"}}}`, head: "C", sha: "M",
			want: expect{check: "C", rules: "payload-unreadable", says: "pull_request.base.sha is null"},
		},
		{name: "no base, but input base", payload: `{"pull_request": {"head": {"sha": "` + id("C") + `"}}}`, base: id("A"), want: expect{base: "A", check: "C"}},
		{name: "no pull request", payload: `{"action": "opened"}`, want: expect{rules: "payload-unreadable", says: "the field pull_request is missing"}},
		{
			name: "head of another type", payload: `{"pull_request": {"base": {"sha": "` + id("B") + `"}, "head": [1]}}`,
			want: expect{base: "B", rules: "payload-unreadable", says: "pull_request.head is an array"},
		},
		{
			name: "the base is gone", payload: pr("A", "C"), head: "C", sha: "M", depth1: true,
			change: func(c *clone, _ *server) { c.gone = map[string]bool{"A": true} },
			want:   expect{problem: gate.BaseMissing, check: "C", says: "gone from the server"},
		},
		{
			name: "no access to the base", payload: pr("A", "C"), head: "C", sha: "M", depth1: true,
			change: func(c *clone, _ *server) {
				c.refuse = &FetchError{Denied: true, Message: "Authentication failed\x1b[2J"}
			},
			want: expect{problem: gate.BaseMissing, check: "C", says: "no access"},
		},
		{
			name: "the fetch fails", payload: pr("A", "C"), head: "C", sha: "M", depth1: true,
			change: func(c *clone, _ *server) { c.refuse = errors.New("Could not resolve host") },
			want:   expect{problem: gate.BaseMissing, check: "C", says: "resolve host"},
		},
		{
			name: "fetching is switched off", payload: pr("A", "C"), head: "C", sha: "M", depth1: true, noFetch: true,
			want: expect{problem: gate.BaseMissing, check: "C", says: "switched off"},
			resolved: func(t *testing.T, got Target, c *clone, _ *server) {
				if len(c.fetched) > 0 || !got.Base.Shallow {
					t.Errorf("fetched %v, shallow %v", c.fetched, got.Base.Shallow)
				}
			},
		},
		{
			name: "HEAD resolves to nothing", payload: pr("B", "C"), change: func(c *clone, _ *server) { c.head = "" },
			want: expect{problem: gate.HeadMissing, check: "C"},
		},
	}
	all[2].payload = strings.ReplaceAll(pr("B", "C"), id("C"), strings.ToUpper(id("C")))
	all[2].want = expect{base: "B", check: "C"}
	all = append(all, behind(pr("B", "C"), expect{rules: "head-behind-base"})...)
	for _, name := range []string{"pull_request", "pull_request_review", "pull_request_review_comment"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, s := range all {
				s.event = name
				t.Run(s.name, func(t *testing.T) { s.run(t, std()) })
			}
		})
	}
	t.Run("pull_request_target", func(t *testing.T) {
		t.Parallel()
		for _, s := range append([]scenario{
			{name: "the default checkout", payload: pr("B", "C"), head: "B", want: expect{base: "B", check: "C", rules: "wrong-checkout", says: "github.event.pull_request.head.sha"}},
			{name: "the head", payload: pr("B", "D"), head: "D", sha: "B", want: expect{base: "B", check: "D"}},
			{name: "a merge on the payload's base", payload: pr("B", "C"), head: "M", sha: "B", want: expect{base: "B", check: "C"}},
			{name: "GITHUB_SHA never moves the base here", payload: pr("A", "C"), head: "M", sha: "M", want: expect{base: "A", check: "C", rules: "wrong-checkout"}},
		}, behind(pr("B", "C"), expect{rules: "head-behind-base"})...) {
			s.event, s.want.off = "pull_request_target", true
			t.Run(s.name, func(t *testing.T) { s.run(t, std()) })
		}
	})
}

// A merge queue's entry is compared with the entry before it, as given.
func TestMergeGroup(t *testing.T) {
	t.Parallel()
	group := func(base, head string) string {
		return fmt.Sprintf(`{"action": "checks_requested", "merge_group": {"base_sha": %q, "head_sha": %q, "base_ref": "refs/heads/main"}}`, base, head)
	}
	runAll(t, std(), []scenario{
		{name: "head", event: "merge_group", payload: group(id("B"), id("D")), head: "D", want: expect{base: "B", check: "D", source: "merge_group.base_sha"}},
		{name: "depth 1", event: "merge_group", payload: group(id("B"), id("D")), head: "D", depth1: true, want: expect{base: "B", check: "D"}},
		{name: "a merge of the head is not the head", event: "merge_group", payload: group(id("B"), id("D")), head: "N", want: expect{base: "B", check: "D", rules: "wrong-checkout"}},
		{
			name: "no base", event: "merge_group", payload: `{"merge_group": {"head_sha": "` + id("D") + `"}}`, head: "D",
			want: expect{check: "D", rules: "payload-unreadable", says: "merge_group.base_sha is missing"},
		},
		{name: "base is head", event: "merge_group", payload: group(id("D"), id("D")), head: "D", want: expect{base: "D", check: "D", problem: gate.BaseIsHead}},
	})
}

// The kinds of pushes to branches.
func TestPush(t *testing.T) {
	t.Parallel()
	push := func(ref, before, after string) string { return pushPayload("refs/heads/"+ref, before, after) }
	fresh := func(after string) string { return push("feature", zero40, id(after)) }
	remote := func(c *clone, _ *server) { c.refs = map[string]string{"refs/remotes/origin/main": "B"} }
	all := []scenario{
		{name: "ordinary", payload: push("main", id("A"), id("B")), head: "B", want: expect{base: "A", check: "B", source: "before"}},
		{
			name: "forced: the old tip is fetched by its id", payload: push("feature", id("C"), id("D")), head: "D",
			change: func(c *clone, _ *server) { c.has = map[string]bool{"A": true, "B": true, "D": true} }, want: expect{base: "C", check: "D"},
			resolved: func(t *testing.T, _ Target, c *clone, _ *server) {
				if fmt.Sprint(c.fetched) != "[C]" {
					t.Errorf("fetched %v", c.fetched)
				}
			},
		},
		{name: "rollback: the base is newer", payload: push("main", id("B"), id("A")), head: "A", want: expect{base: "B", check: "A"}},
		{name: "another commit is checked out", payload: push("main", id("A"), id("B")), head: "D", want: expect{base: "A", check: "B", rules: "wrong-checkout"}},
		{name: "a merge of the pushed commit is not it", payload: push("main", id("A"), id("C")), head: "M", want: expect{base: "A", check: "C", rules: "wrong-checkout"}},
		{
			name: "new branch, complete clone", payload: fresh("C"), head: "C", change: remote, want: expect{base: "A", check: "C", source: "merge base"},
			resolved: func(t *testing.T, _ Target, _ *clone, api *server) {
				if len(api.calls) > 0 {
					t.Errorf("API calls %v", api.calls)
				}
			},
		},
		{name: "new branch, zeros of SHA-256", payload: push("feature", zero64, id("C")), head: "C", change: remote, want: expect{base: "A", check: "C"}},
		{
			name: "new branch, shallow", payload: fresh("D"), head: "D", depth1: true, want: expect{base: "B", check: "D"},
			resolved: func(t *testing.T, _ Target, c *clone, _ *server) {
				if fmt.Sprint(c.fetched) != "[B]" {
					t.Errorf("fetched %v", c.fetched)
				}
			},
		},
		{name: "new branch, default branch not in the clone", payload: fresh("D"), head: "D", want: expect{base: "B", check: "D"}},
		{
			name: "new branch, shallow, no token", payload: fresh("D"), head: "D", depth1: true, noToken: true,
			want: expect{problem: gate.BaseRequired, check: "D", says: "fetch-depth: 0"},
		},
		{
			name: "new branch, shallow, no answer", payload: fresh("D"), head: "D", depth1: true, silent: true,
			want: expect{problem: gate.BaseRequired, check: "D", says: "503"},
		},
		{
			name: "new branch without commits of its own", payload: fresh("A"), head: "A", change: remote,
			want: expect{base: "A", check: "A", skip: "already holds", own: true},
		},
		{name: "new branch of an unrelated history", payload: fresh("Z"), head: "Z", change: remote, want: expect{base: "empty", check: "Z"}},
		{name: "new branch, wrong checkout: nothing is derived", payload: fresh("C"), head: "D", change: remote, want: expect{check: "C", rules: "wrong-checkout"}},
		{name: "new branch, input base", payload: fresh("C"), head: "C", base: id("A"), want: expect{base: "A", check: "C"}},
		{
			name: "new branch, input base is HEAD: the user's error", payload: fresh("A"), head: "A", base: id("A"), change: remote,
			want: expect{base: "A", check: "A", problem: gate.BaseIsHead},
		},
		{
			name: "new branch, no default branch", payload: `{"ref": "refs/heads/f", "before": "` + zero40 + `", "after": "` + id("C") + `", "deleted": false}`, head: "C",
			want: expect{check: "C", rules: "payload-unreadable", says: "the field repository is missing"},
		},
		{
			name: "new branch, odd default branch", payload: strings.Replace(fresh("C"), `"main"`, `"../../tags/x"`, 1), head: "C",
			want: expect{check: "C", rules: "payload-unreadable", says: "repository.default_branch"},
		},
		{name: "the repository's first push", payload: push("main", zero40, id("A")), head: "A", want: expect{base: "empty", check: "A"}},
		{name: "a deleted branch", payload: strings.Replace(push("f", id("A"), zero40), `"deleted": false`, `"deleted": true`, 1), head: "B", want: expect{nothing: true}},
		{name: "a deleted branch, no HEAD", payload: `{"deleted": true}`, change: func(c *clone, _ *server) { c.head = "" }, want: expect{nothing: true}},
		{
			name: "deleted of another type deletes nothing", payload: strings.Replace(push("main", id("A"), id("B")), `"deleted": false`, `"deleted": "true"`, 1), head: "B",
			want: expect{base: "A", check: "B", rules: "payload-unreadable", says: "deleted"},
		},
		{name: "zero after without deleted", payload: push("main", id("A"), zero40), head: "B", want: expect{base: "A", rules: "payload-unreadable", says: "after"}},
		{
			name: "no before", payload: `{"ref": "refs/heads/main", "after": "` + id("B") + `", "deleted": false}`, head: "B",
			want: expect{check: "B", rules: "payload-unreadable", says: "before is missing"},
		},
		{
			name: "no ref", payload: `{"before": "` + id("A") + `", "after": "` + id("B") + `", "deleted": false}`, head: "B",
			want: expect{base: "A", check: "B", rules: "payload-unreadable", says: "the field ref is missing"},
		},
		{
			name: "a ref that is neither branch nor tag", payload: pushPayload("refs/notes/x", id("A"), id("B")), head: "B",
			want: expect{base: "A", check: "B", rules: "payload-unreadable", says: "refs/notes/x"},
		},
		{name: "before equals after", payload: push("main", id("B"), id("B")), head: "B", want: expect{base: "B", check: "B", problem: gate.BaseIsHead}},
	}
	for i := range all {
		all[i].event = "push"
	}
	runAll(t, std(), all)
}

// Events without a change of their own.
func TestOtherEvents(t *testing.T) {
	t.Parallel()
	run := func(pulls string) string {
		return fmt.Sprintf(`{"workflow_run": {"head_sha": %q, "pull_requests": %s}}`, id("C"), pulls)
	}
	pull := func(base, head string) string {
		return fmt.Sprintf(`{"base": {"sha": %q}, "head": {"sha": %q}}`, base, head)
	}
	runAll(t, std(), []scenario{
		{name: "dispatch, input base", event: "workflow_dispatch", payload: `{"inputs": null}`, head: "C", base: id("A"), want: expect{base: "A", check: "C", source: "input base"}},
		{name: "dispatch, payload's base", event: "workflow_dispatch", payload: `{"inputs": {"base": " ` + strings.ToUpper(id("A")) + ` "}}`, head: "C", want: expect{base: "A", check: "C", source: "inputs.base"}},
		{name: "dispatch, input base wins", event: "workflow_dispatch", payload: `{"inputs": {"base": "` + id("B") + `"}}`, head: "C", base: id("A"), want: expect{base: "A", check: "C"}},
		{name: "dispatch, no inputs", event: "workflow_dispatch", payload: `{"inputs": null}`, head: "C", want: expect{problem: gate.BaseRequired, check: "C", says: "(none)"}},
		{name: "dispatch, empty base", event: "workflow_dispatch", payload: `{"inputs": {"base": ""}}`, head: "C", want: expect{problem: gate.BaseRequired, check: "C", says: "required input"}},
		{name: "dispatch, branch as base", event: "workflow_dispatch", payload: `{"inputs": {"base": "main"}}`, head: "C", want: expect{problem: gate.BaseMalformed, check: "C", says: `"main"`}},
		{name: "dispatch, zeros", event: "workflow_dispatch", payload: `{"inputs": {"base": "` + zero64 + `"}}`, head: "C", want: expect{problem: gate.BaseZero, check: "C"}},
		{name: "dispatch, number as base", event: "workflow_dispatch", payload: `{"inputs": {"base": 7}}`, head: "C", want: expect{check: "C", rules: "payload-unreadable", says: "inputs.base is a number"}},
		{name: "dispatch, inputs of another type", event: "workflow_dispatch", payload: `{"inputs": []}`, head: "C", want: expect{check: "C", rules: "payload-unreadable"}},
		{name: "dispatch, base is HEAD", event: "workflow_dispatch", payload: `{"inputs": {"base": "` + id("C") + `"}}`, head: "C", want: expect{base: "C", problem: gate.BaseIsHead, check: "C"}},
		{name: "schedule", event: "schedule", payload: `{"schedule": "0 0 * * *"}`, head: "B", want: expect{check: "B", skip: "schedule", own: true}},
		{name: "schedule, input base", event: "schedule", payload: `{}`, head: "B", base: id("A"), want: expect{base: "A", check: "B"}},
		{name: "schedule, bad input base", event: "schedule", payload: `{}`, head: "B", base: "main", want: expect{problem: gate.BaseMalformed, check: "B"}},
		{name: "schedule, no HEAD", event: "schedule", payload: `{}`, change: func(c *clone, _ *server) { c.head = "" }, want: expect{problem: gate.HeadMissing, own: true}},
		{
			name: "repository_dispatch: client_payload is not read", event: "repository_dispatch", payload: `{"client_payload": {"base": "` + id("A") + `"}, "inputs": {"base": "` + id("A") + `"}}`,
			head: "B", want: expect{problem: gate.BaseRequired, check: "B"},
		},
		{name: "repository_dispatch, input base", event: "repository_dispatch", payload: `{}`, head: "B", base: id("A"), want: expect{base: "A", check: "B"}},
		{name: "run, one pull request", event: "workflow_run", payload: run("[" + pull(id("A"), id("C")) + "]"), head: "C", want: expect{base: "A", check: "C", off: true, source: "pull_requests"}},
		{name: "run, head behind the base", event: "workflow_run", payload: run("[" + pull(id("B"), id("C")) + "]"), head: "C", want: expect{base: "B", check: "C", off: true, rules: "head-behind-base"}},
		{name: "run, merge on the payload's base", event: "workflow_run", payload: run("[" + pull(id("B"), id("C")) + "]"), head: "M", want: expect{base: "B", check: "C", off: true}},
		{name: "run, merge on another base", event: "workflow_run", payload: run("[" + pull(id("A"), id("C")) + "]"), head: "M", want: expect{base: "A", check: "C", off: true, rules: "wrong-checkout"}},
		{name: "run, the default checkout", event: "workflow_run", payload: run("[" + pull(id("B"), id("C")) + "]"), head: "B", want: expect{base: "B", check: "C", off: true, rules: "wrong-checkout"}},
		{name: "run, no pull request (fork)", event: "workflow_run", payload: run("[]"), head: "C", want: expect{check: "C", off: true, problem: gate.BaseRequired, says: "0 entries"}},
		{name: "run, two pull requests", event: "workflow_run", payload: run("[" + pull(id("A"), id("C")) + "," + pull(id("A"), id("C")) + "]"), head: "C", want: expect{check: "C", off: true, problem: gate.BaseRequired, says: "2 entries"}},
		{name: "run, the pull request moved on", event: "workflow_run", payload: run("[" + pull(id("A"), id("D")) + "]"), head: "C", want: expect{check: "C", off: true, problem: gate.BaseRequired, says: "moved on"}},
		{name: "run, null entry", event: "workflow_run", payload: run("[null]"), head: "C", want: expect{check: "C", off: true, rules: "payload-unreadable", says: "pull_requests.0 is null"}},
		{name: "run, null list", event: "workflow_run", payload: run("null"), head: "C", want: expect{check: "C", off: true, rules: "payload-unreadable", says: "pull_requests is null"}},
		{name: "run, null list, input base", event: "workflow_run", payload: run("null"), head: "C", base: id("A"), want: expect{base: "A", check: "C", off: true}},
		{name: "any other", event: "check_run", payload: `{"action": "rerequested"}`, head: "C", want: expect{check: "C", off: true, problem: gate.BaseRequired, says: "merge_group"}},
		{name: "any other, input base", event: "check_run", payload: `{}`, head: "C", base: id("A"), want: expect{base: "A", check: "C", off: true}},
		{name: "no event at all", event: "", payload: `{}`, head: "C", want: expect{check: "C", off: true, problem: gate.BaseRequired}},
		{name: "hostile event name", event: "a\n::error::b", payload: `{}`, head: "C", want: expect{check: "C", off: true, problem: gate.BaseRequired}},
		{name: "create of a branch", event: "create", payload: `{"ref": "f", "ref_type": "branch"}`, head: "C", want: expect{check: "C", off: true, problem: gate.BaseRequired, says: "create of a branch"}},
		{name: "create of nobody knows what", event: "create", payload: `{"ref": "f"}`, head: "C", want: expect{off: true, rules: "payload-unreadable", says: "ref_type is missing"}},
		{name: "delete", event: "delete", payload: `{"ref": "f", "ref_type": "branch"}`, head: "B", want: expect{nothing: true}},
	})
}

// Input base takes a full id and nothing else, in every event.
func TestInputBase(t *testing.T) {
	t.Parallel()
	for bad, problem := range map[string]gate.BaseProblem{
		"main": gate.BaseMalformed, "HEAD~1": gate.BaseMalformed, "HEAD": gate.BaseMalformed, "v1.0.0": gate.BaseMalformed, "refs/heads/main": gate.BaseMalformed,
		id("A")[:12]: gate.BaseMalformed, id("A")[:39]: gate.BaseMalformed, id("A") + "0": gate.BaseMalformed, id("A") + "^": gate.BaseMalformed,
		id("A") + "000000000000000000000000": gate.BaseMalformed, // 64 digits in a SHA-1 repository
		"--upload-pack=touch${IFS}/tmp/x":    gate.BaseMalformed, "-" + id("A")[1:]: gate.BaseMalformed,
		"０００００００００００００００００００００００００００００００００００００００１": gate.BaseMalformed, // full-width digits
		strings.Repeat("g", 40): gate.BaseMalformed, strings.Repeat("f", 1<<20): gate.BaseMalformed, "\x1b[31m": gate.BaseMalformed,
		"0000000": gate.BaseMalformed, zero40: gate.BaseZero, zero64: gate.BaseZero,
		strings.Repeat("f", 40): gate.BaseMissing, id("object v1"): gate.BaseMissing, id("tree of A"): gate.BaseMissing,
	} {
		for name, data := range map[string]string{"workflow_dispatch": `{}`, "pull_request": prPayload(id("B"), id("C")), "schedule": `{}`} {
			w := std()
			w.objects = map[string]string{"v1": "A"}
			c := full(t, w, "M")
			got, err := Resolve(context.Background(), TargetInput{Event: event(name, data), Repository: c, SHA: id("M"), Base: bad, FetchMissing: true})
			if err != nil {
				t.Fatal(err)
			}
			if got.Base.Problem != problem || got.Base.ID != "" || !got.Blocked() || got.NoChangeSet != "" {
				t.Errorf("%s, base %.60q: %+v", name, bad, got.Base)
			}
			if len(got.Base.Message) > 600 {
				t.Errorf("a message of %d bytes", len(got.Base.Message))
			}
		}
	}
}

// A payload that cannot be read blocks every event, and says which file.
func TestUnreadablePayload(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"empty": "", "no JSON": "<html>", "cut": `{"pull_request": {`, "array": "[]", "deep": strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100),
		"huge": `{"a": "` + strings.Repeat("a", 32<<20) + `"}`, "equal keys": `{"after": 1, "after": 2}`, "NUL": "\x00",
	} {
		for _, ev := range []string{"pull_request", "pull_request_target", "merge_group", "push", "create", "release", "delete", "workflow_dispatch", "schedule", "repository_dispatch", "workflow_run", "other"} {
			for _, base := range []string{"", id("A")} {
				got, err := Resolve(context.Background(), TargetInput{
					Event: event(ev, data), Repository: full(t, std(), "M"), SHA: id("M"), Base: base, FetchMissing: true,
				})
				if err != nil {
					t.Fatal(err)
				}
				var rules []string
				for _, p := range got.Problems {
					rules = append(rules, p.Rule.ID)
				}
				if fmt.Sprint(rules) != "[action/payload-unreadable]" || got.NothingToVerify != "" || got.NoChangeSet != "" || got.Base.Problem != gate.BaseFine || got.Base.ID != base {
					t.Errorf("%s, %s, base %q: %v %+v", name, ev, base, rules, got)
				}
				if !strings.Contains(got.Problems[0].Message, "event.json") {
					t.Errorf("the file is not named: %s", got.Problems[0].Message)
				}
			}
		}
	}
	missing := ReadEvent("push", "/github/workflow/event.json", nil, &fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist})
	if m := missing.unreadable(); !strings.Contains(m, "/github/workflow/event.json") || !strings.Contains(m, "does not exist") {
		t.Error(m)
	}
	if m := ReadEvent("push", "", nil, errors.New("x")).unreadable(); !strings.Contains(m, "GITHUB_EVENT_PATH") {
		t.Error(m)
	}
	if _, err := ReadPayload(strings.NewReader(strings.Repeat(" ", 32<<20+1))); err == nil {
		t.Error("a payload over its limit was read")
	}
	if data, err := ReadPayload(strings.NewReader("{}")); err != nil || string(data) != "{}" {
		t.Error(data, err)
	}
}

// Input sha replaces the row's commit, and only a full id is taken. It never
// brings a check run to a deleted branch.
func TestInputSHA(t *testing.T) {
	t.Parallel()
	in := TargetInput{Event: event("push", pushPayload("refs/heads/main", id("A"), id("B"))), Repository: full(t, std(), "B"), CheckRunSHA: strings.ToUpper(id("D"))}
	if got, err := Resolve(context.Background(), in); err != nil || got.CheckRunSHA != id("D") {
		t.Error(got.CheckRunSHA, err)
	}
	for _, bad := range []string{"main", id("D")[:10], zero40} {
		in.CheckRunSHA = bad
		if _, err := Resolve(context.Background(), in); err == nil || !strings.Contains(err.Error(), "input sha") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	in.CheckRunSHA, in.Event = id("D"), event("push", `{"deleted": true}`)
	if got, err := Resolve(context.Background(), in); err != nil || got.CheckRunSHA != "" {
		t.Error(got.CheckRunSHA, err)
	}
}

// A git that fails is an error of the run, never a pass and never a guess.
func TestBrokenRepository(t *testing.T) {
	t.Parallel()
	broken := errors.New("git: signal: killed")
	for name, data := range map[string]string{
		"pull_request": prPayload(id("B"), id("C")), "push": pushPayload("refs/tags/v1.0.0", zero40, id("B")), "schedule": `{}`,
	} {
		c := full(t, std(), "B")
		c.broken = broken
		if _, err := Resolve(context.Background(), TargetInput{Event: event(name, data), Repository: c, SHA: id("B")}); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	c := depth1(t, std(), "M")
	c.refuse = ctx.Err()
	if _, err := Resolve(ctx, TargetInput{Event: event("pull_request", prPayload(id("B"), id("C"))), Repository: c, SHA: id("M"), FetchMissing: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Every published payload goes through, on a checkout that fits it.
func TestPublishedPayloads(t *testing.T) {
	t.Parallel()
	shared := cmp.Or(os.Getenv("HANDOFF_GATE_SHARED"), filepath.Join("..", "..", "shared"))
	files, err := filepath.Glob(filepath.Join(shared, "data", "webhooks", "*.json"))
	if err != nil || len(files) == 0 {
		t.Skipf("no payloads in %s: set HANDOFF_GATE_SHARED to the folder that holds data/webhooks", shared)
	}
	const (
		prBase, prHead = "f95f852bd8fca8fcc58a9a2d6c842781e32a215e", "ec26c3e57ca3a959ca5aad62de7213c562f8c821"
		pushed         = "6113728f27ae82c7b1a177c8d03f9e96e0adf246"
	)
	type want struct{ head, base, problem string }
	table := map[string]want{
		"check_run.rerequested":                    {head: pushed, problem: "required"},
		"ghes-3.5.pull_request.opened":             {head: "14977a7b5485400124827221a04bfb474bcd72d1", base: "78a96099c3f442d7f6e8d1a7d07090091993e65a"},
		"merge_group.checks_requested":             {head: "2ffea6db159f6b6c47a24e778fb9ef40cf6b1c7d", base: "380387fbc80638b734a49e1be1c4dfec1c01b33c"},
		"pull_request.closed":                      {head: prHead, base: prBase},
		"pull_request.edited.base-changed.derived": {head: prHead, base: prBase},
		"pull_request.edited.title-only.derived":   {head: prHead, base: prBase},
		"pull_request.opened.fork.derived":         {head: prHead, base: prBase},
		"pull_request.opened":                      {head: prHead, base: prBase},
		"pull_request.reopened":                    {head: prHead, base: prBase},
		"pull_request.synchronize":                 {head: prHead, base: prBase},
		"push.branch-created":                      {head: pushed, base: "empty"}, // of the default branch
		"push.branch-deleted.derived":              {head: pushed, base: "nothing"},
		"push.branch-forced.derived":               {head: pushed, base: prBase},
		"push.branch-normal.derived":               {head: pushed, base: prBase},
		"push.tag-created":                         {head: pushed, base: "empty"},
		"push.tag-deleted":                         {head: pushed, base: "nothing"},
		"release.edited":                           {head: pushed, base: "empty"},
		"release.published":                        {head: pushed, base: "empty"},
		"repository_dispatch":                      {head: pushed, problem: "required"},
		"workflow_dispatch":                        {head: pushed, problem: "required"},
		"workflow_dispatch.with-base.derived":      {head: pushed, base: prBase},
		"workflow_run.completed":                   {head: "5779607b49aab1200488439f02372c57b4f75444", problem: "required"},
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, ok := table[name]
			if !ok {
				t.Fatalf("there is no expectation for %s", name)
			}
			ev, _, _ := strings.Cut(strings.TrimPrefix(name, "ghes-3.5."), ".")
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			data, err := ReadPayload(f)
			e := ReadEvent(ev, file, data, err)
			if e.err != nil {
				t.Fatal(e.err)
			}
			c := line{head: w.head, parent: prBase}
			if len(w.base) == 40 {
				c.parent = w.base
			}
			got, err := Resolve(context.Background(), TargetInput{Event: e, Repository: c, SHA: w.head, FetchMissing: true})
			if err != nil {
				t.Fatal(err)
			}
			base := got.Base.ID
			switch {
			case got.Base.Empty:
				base = "empty"
			case got.NothingToVerify != "":
				base = "nothing"
			}
			if base != w.base || (got.Base.Problem == gate.BaseRequired) != (w.problem == "required") || len(got.Problems) > 0 {
				t.Errorf("got %s %+v, want %+v", base, got, w)
			}
			if w.base != "nothing" && got.CheckRunSHA != w.head {
				t.Errorf("check run on %q", got.CheckRunSHA)
			}
		})
	}
}

// line is a Repository of two commits with given ids, and one tag of no version.
type line struct{ head, parent string }

func (l line) Head(ctx context.Context) (Commit, error) { return l.Commit(ctx, l.head) }
func (l line) Commit(_ context.Context, s string) (Commit, error) {
	switch s {
	case l.head:
		return Commit{ID: s, Parents: []string{l.parent}}, nil
	case l.parent:
		return Commit{ID: s}, nil
	}
	return Commit{}, fs.ErrNotExist
}

func (l line) Peel(ctx context.Context, s string) (string, error) {
	c, err := l.Commit(ctx, s)
	return c.ID, err
}
func (l line) Shallow(context.Context) (bool, error) { return false, nil }
func (l line) IsAncestor(_ context.Context, a, b string) (bool, error) {
	return a == b || a == l.parent && b == l.head, nil
}
func (l line) MergeBase(context.Context, string, string) (string, error) { return l.parent, nil }
func (l line) Ref(context.Context, string) (string, error)               { return "", nil }
func (l line) Tags(context.Context) ([]Tag, error) {
	return []Tag{{Name: "here", Commit: l.head}}, nil
}
func (l line) Distance(context.Context, string, string) (int, error) { return 1, nil }
func (l line) Fetch(context.Context, string) error                   { return &FetchError{Gone: true, Message: "gone"} }
func (l line) ObjectIDLength() int                                   { return len(l.head) }

// In a SHA-256 repository ids have 64 digits, and one of 40 is abbreviated.
func TestSHA256(t *testing.T) {
	t.Parallel()
	long := func(name string) string { return (id(name) + id(name+"'"))[:64] }
	c := line{head: long("C"), parent: long("A")}
	in := TargetInput{Event: event("pull_request", prPayload(strings.ToUpper(long("A")), long("C"))), Repository: c, SHA: long("M"), FetchMissing: true}
	if got, err := Resolve(context.Background(), in); err != nil || got.Blocked() || got.Base.ID != long("A") || got.CheckRunSHA != long("C") {
		t.Errorf("%+v %v", got, err)
	}
	in.Base = long("A")[:40]
	if got, err := Resolve(context.Background(), in); err != nil || got.Base.Problem != gate.BaseMalformed {
		t.Errorf("%+v %v", got, err)
	}
	in.Base, in.Event = "", event("pull_request", prPayload(id("A"), id("C")))
	if got, err := Resolve(context.Background(), in); err != nil || got.Base.Problem != gate.BaseMalformed || !got.Blocked() || got.CheckRunSHA != "" {
		t.Errorf("%+v %v", got, err)
	}
}

// Whatever a payload holds, git is asked for full ids and well-formed refs alone
// (the clone fails the test otherwise), HEAD is never passed unproved, and two
// runs say the same.
func FuzzResolve(f *testing.F) {
	for _, s := range []struct{ name, data string }{
		{"pull_request", prPayload(id("B"), id("C"))},
		{"pull_request", prPayload("--x", "main")},
		{"push", pushPayload("refs/heads/f", zero40, id("C"))},
		{"push", pushPayload("refs/tags/v1.0.0", zero40, id("M"))},
		{"push", `{"deleted": 1}`},
		{"merge_group", `{"merge_group": {"base_sha": 1}}`},
		{"workflow_run", `{"workflow_run": {"head_sha": "` + id("M") + `", "pull_requests": [{"base": {"sha": "` + id("B") + `"}, "head": {"sha": "` + id("M") + `"}}]}}`},
		{"create", `{"ref_type": "tag", "ref": "../x"}`},
		{"release", `{"release": {"tag_name": "a b"}}`},
		{"workflow_dispatch", `{"inputs": {"base": "HEAD"}}`},
		{"schedule", `null`},
		{"delete", `{`},
		{"x", `{}`},
	} {
		f.Add(s.name, []byte(s.data))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		w := std()
		w.tags = map[string]string{"v1.0.0": "A", "v2": "B"}
		resolve := func() Target {
			got, err := Resolve(context.Background(), TargetInput{
				Event: ReadEvent(name, "event.json", data, nil), Repository: full(t, w, "M"), Lookups: &server{w: w}, SHA: id("M"), FetchMissing: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		got := resolve()
		if again := resolve(); fmt.Sprint(again.Base, again.CheckRunSHA, again.NoChangeSet) != fmt.Sprint(got.Base, got.CheckRunSHA, got.NoChangeSet) {
			t.Errorf("two runs differ: %+v %+v", got, again)
		}
		if !got.Blocked() && !got.Base.Known() && got.NoChangeSet == "" && got.NothingToVerify == "" {
			t.Errorf("neither compared nor blocked: %+v", got)
		}
		for _, p := range got.Problems {
			if strings.ContainsFunc(p.Message+p.Remedy, func(r rune) bool { return r < ' ' || r == 0x7f }) || len(p.Message) > 2000 {
				t.Errorf("message %q", p.Message)
			}
		}
	})
}

// Every rule has all its prose, and an id of its own.
func TestRules(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range Rules {
		if seen[r.ID] || !strings.HasPrefix(r.ID, "action/") || r.Severity == "" || r.Title == "" || r.Why == "" || r.Remedy == "" || r.Example == "" {
			t.Errorf("%+v", r)
		}
		seen[r.ID] = true
	}
}
