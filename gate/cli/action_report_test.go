package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/githubapi"
	"github.com/handoff-gate/handoff-gate/githubapi/apitest"
)

// lostSite is a site whose change indexes files that are not there: an error
// for each.
func lostSite(t *testing.T, names ...string) *site {
	t.Helper()
	s := emptySite(t)
	s.write("app.go", "package app\n")
	s.handoff(".", "Begun.")
	s.A = s.src.Commit("A")
	s.B = s.A
	s.write("app.go", "package app // changed\n")
	s.handoff(".", "Changed.", names...)
	s.C = s.src.Commit("C")
	s.propose()
	return s.at(s.M)
}

func many(n int) []string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("LOST-%03d.md", i))
	}
	return names
}

// plain is a summary as a reader sees its text.
func plain(markdown string) string { return html.UnescapeString(markdown) }

// The check run is begun before anything is judged and ends with the verdict.
func TestActionCheckRun(t *testing.T) {
	t.Parallel()
	s := newSite(t, honest, ".").at2(commitM)
	o := s.pullRun()
	r := s.checkRun()
	if r.Name != "handoff-gate" || r.HeadSHA != s.C || r.Conclusion != "success" || r.StartedAt == "" || r.CompletedAt == "" {
		t.Errorf("check run %+v", r)
	}
	if want := siteWeb + "/" + siteRepository + "/actions/runs/7001"; r.DetailsURL != want {
		t.Errorf("details_url %s, want %s", r.DetailsURL, want)
	}
	if o.outputs["check-run-id"] != fmt.Sprint(r.ID) || !strings.HasPrefix(o.outputs["check-run-url"], siteWeb+"/") || o.outputs["reporting"] != "check-run" {
		t.Errorf("outputs %v", o.outputs)
	}
	for _, q := range s.api.Requests() {
		if q.Method != http.MethodPost {
			continue
		}
		var sent map[string]any
		if err := json.Unmarshal(q.Body, &sent); err != nil || sent["status"] != "in_progress" || sent["conclusion"] != nil {
			t.Errorf("created as %s", q.Body)
		}
	}
	if names := slices.Sorted(maps.Keys(o.outputs)); !slices.Equal(names, slices.Sorted(slices.Values(githubapi.OutputNames))) {
		t.Errorf("outputs %v", names)
	}
}

// at2 is at for a commit that is named by its place in the history.
func (s *site) at2(commit func(*site) string) *site { return s.at(commit(s)) }

// Annotations go in batches of 50, the last with the conclusion.
func TestActionAnnotationsInBatches(t *testing.T) {
	t.Parallel()
	s := lostSite(t, many(130)...)
	o := s.pullRun()
	r := s.checkRun()
	if o.outputs["errors"] != "130" || len(r.Annotations) != len(allFindings(o)) {
		t.Errorf("%d annotations of %d findings, %s errors", len(r.Annotations), len(allFindings(o)), o.outputs["errors"])
	}
	for i, name := range many(130) {
		// A file that is not there cannot carry an annotation.
		if a := r.Annotations[i]; a.Path != ".ai/handoff/MANIFEST.json" || !strings.Contains(a.Message, name) || a.Level != "failure" {
			t.Fatalf("annotation %d: %+v, want %s", i, a, name)
		}
	}
	var sizes []int
	for _, q := range s.api.Requests() {
		var sent struct {
			Conclusion *string
			Output     struct{ Annotations []any }
		}
		if q.Method == http.MethodPatch {
			if err := json.Unmarshal(q.Body, &sent); err != nil {
				t.Fatal(err)
			}
			sizes = append(sizes, len(sent.Output.Annotations))
			if last := len(sizes) == 3; last != (sent.Conclusion != nil) {
				t.Errorf("request %d has conclusion %v", len(sizes), sent.Conclusion)
			}
		}
	}
	if len(sizes) != 3 || sizes[0] != 50 || sizes[1] != 50 {
		t.Errorf("batches of %v", sizes)
	}
}

func allFindings(o outcome) (all []report.Finding) {
	for _, p := range o.report.Projects {
		for _, l := range p.Layers {
			all = append(all, l.Findings...)
		}
	}
	return all
}

// Where findings are shown, and what the output reporting says of it.
func TestActionAnnotationModes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		inputs     map[string]string
		env        map[string]string
		onCheckRun bool // annotations
		commands   bool
		reporting  string
		checkRuns  int
	}{
		{name: "auto", onCheckRun: true, reporting: "check-run", checkRuns: 1},
		{name: "commands", inputs: map[string]string{"annotations": "commands"}, commands: true, reporting: "check-run", checkRuns: 1},
		{name: "off", inputs: map[string]string{"annotations": "off"}, reporting: "check-run", checkRuns: 1},
		{name: "no check run", inputs: map[string]string{"check-run": "off"}, commands: true, reporting: "commands"},
		{name: "neither", inputs: map[string]string{"check-run": "off", "annotations": "off"}, reporting: "none"},
		{name: "no token", inputs: map[string]string{"token": ""}, commands: true, reporting: "commands"},
		{name: "act", env: map[string]string{"ACT": "true"}, commands: true, reporting: "commands"},
		{name: "none allowed", inputs: map[string]string{"max-annotations": "0"}, reporting: "check-run", checkRuns: 1},
		{name: "a bad repository name", env: map[string]string{"GITHUB_REPOSITORY": "x"}, commands: true, reporting: "commands"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, tampered, ".").at2(commitM)
			maps.Copy(s.env, c.env)
			for name, value := range c.inputs {
				s.input(name, value)
			}
			o := s.pullRun()
			if o.status != 1 || o.outputs["reporting"] != c.reporting {
				t.Errorf("exit status %d, reporting %q, want %q\n%s", o.status, o.outputs["reporting"], c.reporting, o.log)
			}
			if got := len(o.named("error")) > 0; got != c.commands {
				t.Errorf("::error commands: %t, want %t", got, c.commands)
			}
			runs := s.api.Runs()
			if len(runs) != c.checkRuns || c.checkRuns == 0 && len(s.api.Requests()) > 0 {
				t.Fatalf("%d check runs, want %d; %d requests", len(runs), c.checkRuns, len(s.api.Requests()))
			}
			if c.checkRuns == 1 && (len(runs[0].Annotations) > 0) != c.onCheckRun {
				t.Errorf("%d annotations", len(runs[0].Annotations))
			}
			if !strings.Contains(plain(o.summary), ".ai/handoff/STATUS.md") {
				t.Error("the summary does not name the file")
			}
		})
	}
}

// Of each level the runner keeps ten commands; the last counts the rest.
func TestActionTenCommandsOfALevel(t *testing.T) {
	t.Parallel()
	s := lostSite(t, many(40)...).input("check-run", "off")
	errors := s.pullRun().named("error")
	if len(errors) != 10 || !strings.Contains(errors[9].data, "31 errors more") {
		t.Errorf("%d commands, the last %q", len(errors), errors[len(errors)-1].data)
	}
}

// A refused, slow or absent API changes where findings are shown, and neither
// the verdict nor the exit status.
func TestActionFallsBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault apitest.Fault
		level string // of the one command that says so
		says  string
	}{
		"a fork's token":   {apitest.Fault{Method: "POST", Status: 403, Message: "Resource not accessible by integration"}, "notice", "checks: write"},
		"a personal token": {apitest.Fault{Method: "POST", Status: 403, Message: "You must authenticate via a GitHub App."}, "notice", "checks: write"},
		"bad credentials":  {apitest.Fault{Status: 401, Message: "Bad credentials"}, "warning", "401"},
		"not found":        {apitest.Fault{Status: 404, Message: "Not Found"}, "warning", "404"},
		"gone":             {apitest.Fault{Status: 410, Message: "Gone"}, "warning", "410"},
		"legal reasons":    {apitest.Fault{Status: 451, Message: "Unavailable"}, "warning", "451"},
		"rate limited":     {apitest.Fault{Status: 429, Message: "slow down", Header: map[string]string{"Retry-After": "3600"}}, "warning", "api-timeout"},
		"server error":     {apitest.Fault{Status: 503, Message: "later"}, "warning", "api-timeout"},
		"no connection":    {apitest.Fault{Drop: true}, "warning", "api-timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for kind, want := range map[kind]int{honest: 0, tampered: 1} {
				s := newSite(t, kind, ".").at2(commitM).input("api-timeout", "2")
				s.api.Fail(c.fault)
				o := s.pullRun()
				if o.status != want || o.outputs["reporting"] != "commands" || o.outputs["check-run-id"] != "" {
					t.Errorf("exit status %d, want %d, outputs %v\n%s", o.status, want, o.outputs, o.log)
				}
				var said []string
				for _, cmd := range append(o.named("notice"), o.named("warning")...) {
					if cmd.properties["title"] == "" {
						said = append(said, cmd.name+": "+cmd.data)
					}
				}
				if len(said) != 1 || !strings.HasPrefix(said[0], c.level) || !strings.Contains(said[0], c.says) || !strings.Contains(said[0], "verdict is not affected") {
					t.Errorf("said %q, want one %s with %q", said, c.level, c.says)
				}
				if want == 1 && len(o.named("error")) == 0 {
					t.Error("no ::error command")
				}
			}
		})
	}
}

// A batch that GitHub refuses goes to the workflow commands; the check run is
// completed all the same.
func TestActionRefusedBatch(t *testing.T) {
	t.Parallel()
	s := newSite(t, tampered, ".").at2(commitM)
	s.api.Fail(apitest.Fault{Method: "PATCH", Status: 422, Message: "Invalid request.", Match: func(r apitest.Request) bool {
		return strings.Contains(string(r.Body), `"annotations":[`)
	}})
	o := s.pullRun()
	if r := s.checkRun(); o.status != 1 || r.Conclusion != "failure" || len(r.Annotations) != 0 || len(o.named("error")) == 0 {
		t.Errorf("exit status %d, %s, %d annotations, %d commands", o.status, r.Conclusion, len(r.Annotations), len(o.named("error")))
	}
}

// A repeated run shows its findings once; a push and a pull request on one head
// never overwrite each other.
func TestActionRunsOnOneHead(t *testing.T) {
	t.Parallel()
	t.Run("attempts", func(t *testing.T) {
		s := newSite(t, honest, ".").at2(commitM).input("annotations", "off")
		s.pullRun()
		s.env["GITHUB_RUN_ATTEMPT"] = "2"
		s.pullRun()
		if r := s.checkRun(); r.Conclusion != "success" {
			t.Errorf("conclusion %s", r.Conclusion)
		}
		s = newSite(t, tampered, ".").at2(commitM)
		s.pullRun()
		s.env["GITHUB_RUN_ATTEMPT"] = "2"
		s.pullRun()
		runs := s.api.Runs()
		if len(runs) != 2 || len(runs[0].Annotations) != len(runs[1].Annotations) {
			t.Errorf("%d check runs", len(runs))
		}
	})
	t.Run("events", func(t *testing.T) {
		s := newSite(t, honest, ".")
		s.at(s.C).env["GITHUB_RUN_ID"] = "8001"
		if o := s.run("push", push("refs/heads/feature", strings.Repeat("d", 40), s.C)); o.status != 1 {
			t.Fatalf("exit status %d of the push", o.status)
		}
		s.env["GITHUB_RUN_ID"] = "8002"
		if o := s.pullRun(); o.status != 0 {
			t.Fatalf("exit status %d of the pull request", o.status)
		}
		runs := s.api.Runs()
		if len(runs) != 2 || runs[0].Conclusion != "failure" || runs[1].Conclusion != "success" {
			t.Errorf("check runs %+v", runs)
		}
	})
}

// Exit status 2 is told everywhere too: where the commit is known, a result of
// an earlier run must not stay the last word on it.
func TestActionCannotRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare  func(*site)
		says     string
		checkRun bool
	}{
		"bad input":                 {func(s *site) { s.input("summary", "yes") }, "input summary", true},
		"input without another":     {func(s *site) { s.input("claim", "true") }, "input claim", true},
		"no such path":              {func(s *site) { s.input("path", "packages/none") }, "packages/none", true},
		"a path without a handoff":  {func(s *site) { s.input("path", "src") }, "src holds no folder .ai/handoff", true},
		"nothing matches":           {func(s *site) { s.input("path", "packages/*") }, "nothing was found", true},
		"a path that is a file":     {func(s *site) { s.input("path", "src/app.go") }, "no folder", true},
		"no such working directory": {func(s *site) { s.input("working-directory", "none") }, "working-directory", true},
		"a tracked report":          {func(s *site) { s.input("sarif", "src/app.go") }, "input sarif", true},
		"no workspace":              {func(s *site) { s.env["GITHUB_WORKSPACE"] = unset }, "GITHUB_WORKSPACE", true},
		"no such workspace":         {func(s *site) { s.env["GITHUB_WORKSPACE"] = "/nowhere" }, "GITHUB_WORKSPACE", true},
		"no repository": {func(s *site) {
			if err := os.RemoveAll(filepath.Join(s.workspace, ".git")); err != nil {
				s.t.Fatal(err)
			}
		}, "has a .git", true},
		"a repository that git refuses": {func(s *site) { s.checkout.Git("config", "core.repositoryformatversion", "9") }, "repo version", true},
		"no git":                        {func(s *site) { s.env["PATH"] = "/nowhere" }, "no git in PATH", true},
		"bad input check-run":           {func(s *site) { s.input("check-run", "maybe") }, "input check-run", false},
		"bad input sha":                 {func(s *site) { s.input("sha", "main") }, "input sha", false},
		"bad input, no check run":       {func(s *site) { s.input("check-run", "off").input("summary", "yes") }, "input summary", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, honest, ".").at2(commitM)
			c.prepare(s)
			o := s.pullRun()
			if o.status != 2 || o.report != nil {
				t.Fatalf("exit status %d, want 2\n%s", o.status, o.log)
			}
			errors := o.named("error")
			if len(errors) != 1 || !strings.Contains(errors[0].data, c.says) || !strings.Contains(plain(o.summary), c.says) {
				t.Errorf("errors %+v, want one with %q, and the same in the summary:\n%s", errors, c.says, o.summary)
			}
			if !c.checkRun {
				if n := len(s.api.Runs()); n != 0 {
					t.Errorf("%d check runs", n)
				}
				return
			}
			if r := s.checkRun(); r.HeadSHA != s.C || r.Conclusion != "failure" || o.outputs["check-run-id"] != fmt.Sprint(r.ID) {
				t.Errorf("check run %+v, outputs %v", r, o.outputs)
			}
		})
	}
}

// A cancelled job has a few seconds: the check run is cancelled, outputs are
// written, exit status 2.
func TestActionCancelled(t *testing.T) {
	t.Parallel()
	for name, when := range map[string]func(apitest.Request) bool{
		"while it begins":   func(r apitest.Request) bool { return r.Method == http.MethodPost },
		"while it finishes": func(r apitest.Request) bool { return r.Method == http.MethodPatch },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, honest, ".").at2(commitM)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			// The request takes effect, the answer gets lost, and then comes the signal.
			s.api.Fail(apitest.Fault{Times: 1, Apply: true, Gone: true, Status: 502, Message: "lost", Match: func(r apitest.Request) bool {
				if !when(r) {
					return false
				}
				cancel()
				return true
			}})
			o := s.runWith(ctx, s.step("pull_request", s.pull("opened")))
			if r := s.checkRun(); o.status != 2 || r.Conclusion != "cancelled" || o.outputs["verdict"] != "error" || o.outputs["check-run-id"] != fmt.Sprint(r.ID) {
				t.Errorf("exit status %d, conclusion %s, outputs %v\n%s", o.status, r.Conclusion, o.outputs, o.log)
			}
			if o.report != nil {
				t.Error("a report was written")
			}
		})
	}
}

// Where a report may stand. What is refused is refused before anything is
// judged, and no link is followed.
func TestActionReportPaths(t *testing.T) {
	t.Parallel()
	s := newSite(t, honest, ".").at2(commitM).input("check-run", "off")
	outside := t.TempDir()
	for link, target := range map[string]string{"out": outside, "in": "src", "dangling.json": filepath.Join(outside, "made.json")} {
		if err := os.Symlink(target, filepath.Join(s.workspace, link)); err != nil {
			t.Fatal(err)
		}
	}
	refused := []string{
		"/tmp/x.json", "../x.json", "a/../../x.json", ".git/x.json", "a/.git/x.json", ".GIT/x.json", "out/x.json", "in/x.json",
		"dangling.json", "src/app.go", "src/app.go/x.json", "src", ".", "x/",
	}
	for _, input := range []string{"report", "sarif"} {
		for _, path := range refused {
			s.input("report", "").input("sarif", "").input(input, path)
			if o := s.pullRun(); o.status != 2 || len(o.named("error")) != 1 || !strings.Contains(o.named("error")[0].data, "input "+input) {
				t.Errorf("%s %q: exit status %d\n%s", input, path, o.status, o.log)
			}
		}
		// The twins.
		for _, path := range []string{"x.json", "./deep/er/x.json", "src/new.json", "with, all: of% it.json", ".ai/handoff/x.json"} {
			s.input("report", "").input("sarif", "").input(input, path)
			o := s.pullRun()
			clean := strings.TrimPrefix(path, "./")
			if _, err := os.Stat(filepath.Join(s.workspace, clean)); o.status != 0 || o.outputs[input+"-path"] != clean || err != nil {
				t.Errorf("%s %q: exit status %d, output %q, %v", input, path, o.status, o.outputs[input+"-path"], err)
			}
			_ = os.Remove(filepath.Join(s.workspace, clean))
		}
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 0 {
		t.Errorf("written outside of the workspace: %v", entries)
	}
	s.input("report", "same.json").input("sarif", "./same.json")
	if o := s.pullRun(); o.status != 2 {
		t.Errorf("both reports in one file: exit status %d", o.status)
	}
}

// A report may not replace what any repository of the workspace tracks.
func TestActionReportInAnotherCheckout(t *testing.T) {
	t.Parallel()
	s := newSite(t, honest, ".")
	s.clone(s.B, clone{below: "other"})
	s.clone(s.M, clone{below: "mine"}).input("working-directory", "mine")
	for path, want := range map[string]int{"other/src/app.go": 2, "other/new.json": 0, "mine/docs/other.md": 2, "new.json": 0} {
		if o := s.input("report", path).pullRun(); o.status != want {
			t.Errorf("report %s: exit status %d, want %d\n%s", path, o.status, want, o.log)
		}
	}
}

// The summary stays within what the runner takes, whatever is there already,
// and begins after an empty line.
func TestActionSummaryLimits(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 100)
	var names []string
	for i := range 150 {
		names = append(names, fmt.Sprintf("%s-%03d.md", long, i))
	}
	s := lostSite(t, names...).input("check-run", "off")
	for before, want := range map[int]string{
		0: "", 6: "", 900_000: "", 999_000: "", 1_000_000: "full", 1_000_500: "full",
	} {
		environ := s.step("pull_request", s.pull("opened"))
		text := strings.Repeat("x", before)
		if err := os.WriteFile(filepath.Join(s.files, "summary"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		o := s.runWith(context.Background(), environ)
		switch {
		case !strings.HasPrefix(o.summary, text):
			t.Errorf("%d bytes before: they changed", before)
		case len(o.summary) > max(1_000_000, before):
			t.Errorf("%d bytes before: %d after", before, len(o.summary))
		case want == "" && !regexp.MustCompile(`^x*(\n\n)?## ❌ Handoff Gate failed`).MatchString(o.summary):
			t.Errorf("%d bytes before: then %.80q", before, o.summary[before:])
		case want == "full" && (o.summary != text || len(o.named("warning")) == 0 || !strings.Contains(o.log, "summary is not written")):
			t.Errorf("%d bytes before: no warning\n%s", before, o.log)
		}
		if o.status != 1 {
			t.Errorf("exit status %d", o.status)
		}
	}
	if o := s.input("summary", "False").pullRun(); o.summary != "" {
		t.Errorf("summary: false, and %d bytes", len(o.summary))
	}
}

// What a reader needs is in the summary; a run that passes fits a screen.
func TestActionSummaryContent(t *testing.T) {
	t.Parallel()
	s := newSite(t, tampered, ".").at2(commitM)
	text := plain(s.pullRun().summary)
	for _, want := range []string{
		"failed: 1 error", s.B[:7], s.M[:7], "first parent", "handoffs", "/actions/runs/7001", "/blob/" + s.C + "/.ai/handoff/STATUS.md#L1",
		"integrity/checksum-mismatch", "handoff-gate manifest .",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the summary lacks %q:\n%s", want, text)
		}
	}
	s = newSite(t, honest, ".").at2(commitM)
	if n := strings.Count(s.pullRun().summary, "\n"); n > 30 {
		t.Errorf("a run that passes takes %d lines", n)
	}
}

// Files of the runner that cannot be written cost a warning each, nothing else.
func TestActionWithoutTheRunnersFiles(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{"unset": unset, "unwritable": "/nowhere/file"} {
		s := newSite(t, honest, ".").at2(commitM)
		s.env["GITHUB_OUTPUT"], s.env["GITHUB_STEP_SUMMARY"] = value, value
		o := s.input("report", "").pullRun()
		if n := len(o.named("warning")); o.status != 0 || n != 2 {
			t.Errorf("%s: exit status %d, %d warnings\n%s", name, o.status, n, o.log)
		}
	}
}

// Inputs as the runner passes them, and as some shells do.
func TestActionInputs(t *testing.T) {
	t.Parallel()
	s := newSite(t, honest, ".").at2(commitM).input("check-run", "off")
	for _, c := range []struct {
		name, value string
		want        int
	}{
		{"summary", "TRUE", 0},
		{"summary", "False", 0},
		{"summary", " true ", 0},
		{"summary", "", 0},
		{"summary", "yes", 2},
		{"summary", "1", 2},
		{"summary", "on", 2},
		{"annotations", "both", 2},
		{"annotations", "Auto", 2},
		{"max-annotations", "1000", 0},
		{"max-annotations", "1001", 2},
		{"max-annotations", "-1", 2},
		{"max-annotations", "1.0", 2},
		{"api-timeout", "1", 0},
		{"api-timeout", "0", 2},
		{"api-timeout", "601", 2},
		{"path", "./", 0},
		{"path", "/abs", 2},
		{"path", "..", 2},
		{"path", ".\n../x", 2},
		{"working-directory", "/abs", 2},
		{"working-directory", "a/..", 2},
		{"checks", "true", 2},
		{"policy-from", "main", 2},
		{"secrets", "all", 2},
		{"packets", "../*.json", 2},
		{"packets-all", "perhaps", 2},
		{"claim", "true", 2},
		{"ledger", "../file", 2},
		{"sessions", "/docs", 2},
		{"sessions", "off", 0},
		{"governance", "false", 0},
		{"governance", "yes", 2},
		{"governance-skip", "claims", 0},
		{"governance-skip", "claim", 2},
	} {
		old, had := s.env["INPUT_"+strings.ToUpper(c.name)]
		o := s.input(c.name, c.value).pullRun()
		if o.status != c.want {
			t.Errorf("%s %q: exit status %d, want %d", c.name, c.value, o.status, c.want)
		}
		if c.want == 2 && !strings.Contains(o.named("error")[0].data, "input "+c.name) {
			t.Errorf("%s %q: the error does not name it: %s", c.name, c.value, o.named("error")[0].data)
		}
		if had {
			s.input(c.name, old)
		} else {
			delete(s.env, "INPUT_"+strings.ToUpper(c.name))
		}
	}
	s = newSite(t, honest, ".").at2(commitM)
	s.env["INPUT_CHECK_NAME"] = "  another  "
	if s.pullRun(); s.checkRun().Name != "another" {
		t.Errorf("INPUT_CHECK_NAME is not read: %s", s.checkRun().Name)
	}
}

// What the log says about a run, and what it says only when it is debugged.
func TestActionLog(t *testing.T) {
	t.Parallel()
	s := newSite(t, honest, ".").at2(commitM)
	maps.Copy(s.env, map[string]string{"AAHP_BASE_SHA": "x", "AAHP_SKIP_VERIFY": "1", "HANDOFFS_ROOT": ""})
	o := s.pullRun()
	for _, want := range []string{
		"base " + s.B + " from the first parent", "head " + s.M, "AAHP_BASE_SHA is set", "AAHP_SKIP_VERIFY is set", "HANDOFFS_ROOT is set",
		"::group::Inputs and commits", "::group::Project .", "::group::Reporting",
	} {
		if !strings.Contains(o.log, want) {
			t.Errorf("the log lacks %q:\n%s", want, o.log)
		}
	}
	if n := len(o.named("debug")); n != 0 {
		t.Errorf("%d debug lines without RUNNER_DEBUG", n)
	}
	s.env["RUNNER_DEBUG"], s.env["GITHUB_RUN_ID"] = "1", "7002"
	var debug []string
	for _, c := range s.pullRun().named("debug") {
		debug = append(debug, c.data)
	}
	for _, want := range []string{"git diff-tree", "POST /repos/" + siteRepository + "/check-runs: 201", "event pull_request"} {
		if !strings.Contains(strings.Join(debug, "\n"), want) {
			t.Errorf("the debug lines lack %q: %q", want, debug)
		}
	}
	s.input("check-name", "handoff")
	if o := s.pullRun(); o.status != 0 || !slices.ContainsFunc(o.named("warning"), func(c workflowCommand) bool { return strings.Contains(c.data, "id of this job") }) {
		t.Errorf("no warning about a check named like the job\n%s", o.log)
	}
}
