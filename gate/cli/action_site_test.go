package cli_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/cli"
	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/githubapi/apitest"
	"github.com/handoff-gate/handoff-gate/schema"
)

// What stands in the environment of a step and must be seen nowhere else.
const (
	siteToken   = "ghs_oneTokenForTheTestsOfTheAction00"
	siteRuntime = "runtime-credential-of-the-tests"
)

const (
	siteRepository = "harbour/tide-tables"
	siteWeb        = "https://github.example.test"
	noCommit       = "0000000000000000000000000000000000000000"
	reportInput    = ".gate/report.json" // input report unless a test sets it
)

// site is a server with a repository on it, GitHub's API beside it, and a place
// where a workflow run works. The history is that of one pull request:
//
//	A ── B        main
//	      \
//	       C      feature, the pull request's head
//	       │
//	       M      GitHub's merge of B and C
type site struct {
	t          *testing.T
	dir        string        // of the two repositories
	src        *gittest.Repo // where commits are made
	server     string        // the bare repository
	A, B, C, M string
	workspace  string // of the workflow run
	checkout   *gittest.Repo
	api        *apitest.Server
	env        map[string]string // beside what the runner always sets
	files      string            // folder of the runner's files; new for each run
}

// kind is what the pull request of a site does.
type kind int

const (
	honest    kind = iota // changes code and updates the handoff
	forgotten             // changes code alone
	tampered              // edits STATUS.md and leaves the manifest as it was
)

// newSite makes a site whose project is the folder project.
func newSite(t *testing.T, k kind, project string) *site {
	t.Helper()
	key := fmt.Sprint(k, project)
	made, _ := templates.LoadOrStore(key, &template{})
	m := made.(*template)
	m.once.Do(func() { m.make(t, k, project) })
	if m.dir == "" {
		t.Fatal("there is no template: the test that was to make it failed")
	}
	s := &site{t: t, env: map[string]string{}, A: m.A, B: m.B, C: m.C, M: m.M}
	s.begin()
	if err := os.CopyFS(s.dir, os.DirFS(m.dir)); err != nil {
		t.Fatal(err)
	}
	s.src = gittest.At(t, filepath.Join(s.dir, "src"))
	s.src.Git("remote", "set-url", "origin", s.server)
	s.describe()
	return s
}

// templates are the sites of each kind and project, copied for each test: git
// takes longer to make one than the gate to judge it.
var templates sync.Map // of *template

type template struct {
	once       sync.Once
	dir        string
	A, B, C, M string
}

func (m *template) make(t *testing.T, k kind, project string) {
	t.Helper()
	s := emptySite(t)
	s.write(project+"/src/app.go", "package app\n")
	s.handoff(project, "Begun.")
	s.A = s.src.Commit("A")
	s.write("docs/other.md", "Of somebody else.\n")
	s.handoff(project, "Somebody else's.")
	s.B = s.src.Commit("B")
	s.write(project+"/src/app.go", "package app // changed\n")
	switch k {
	case honest:
		s.handoff(project, "Changed.")
	case tampered:
		s.handoff(project, "Changed.")
		s.write(project+"/.ai/handoff/STATUS.md", "# Status\n\nWritten after the manifest.\n")
	case forgotten:
	}
	s.C = s.src.Commit("C")
	s.propose()
	dir, err := os.MkdirTemp("", "handoff-gate-site-*")
	if err != nil {
		t.Fatal(err)
	}
	kept.Store(dir, true)
	if err := os.CopyFS(dir, os.DirFS(s.dir)); err != nil {
		t.Fatal(err)
	}
	m.dir, m.A, m.B, m.C, m.M = dir, s.A, s.B, s.C, s.M
}

// kept are the folders that outlive a test; clearing removes them.
var kept sync.Map

// clearing runs the tests and removes what was kept.
type clearing struct{ tests interface{ Run() int } }

func (c clearing) Run() int {
	if raceDetector() {
		withoutRaceDetector()
	}
	defer func() {
		kept.Range(func(dir, _ any) bool {
			os.RemoveAll(dir.(string))
			return true
		})
	}()
	return c.tests.Run()
}

func raceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// processesOnly skips a test under the race detector with -short: what it starts is
// built without the detector and runs in the other tests, too.
func processesOnly(t *testing.T) {
	t.Helper()
	if raceDetector() && testing.Short() {
		t.Skip("SKIPPED: the processes that this starts are built without the race detector")
	}
}

// withoutRaceDetector builds the program once more and puts it before the one
// that was built with the detector: the scripts start it more than a thousand
// times, and what the detector is for runs in this process in the other tests.
func withoutRaceDetector() {
	dir, err := os.MkdirTemp("", "handoff-gate-program-*")
	if err != nil {
		log.Fatal(err)
	}
	kept.Store(dir, true)
	build := exec.Command("go", "test", "-c", "-race=false", "-o", filepath.Join(dir, "handoff-gate"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		log.Printf("the scripts take long, as the program is the one with the race detector: %v\n%s", err, out)
		return
	}
	if err := os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH")); err != nil {
		log.Fatal(err)
	}
}

// emptySite is a site without a commit.
func emptySite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, env: map[string]string{}}
	s.begin()
	s.src = gittest.At(t, filepath.Join(s.dir, "src"))
	if err := os.Mkdir(s.src.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s.src.Git("init", "-q", "-b", "main")
	s.src.Git("init", "-q", "--bare", "-b", "main", s.server)
	for _, key := range []string{"uploadpack.allowAnySHA1InWant", "uploadpack.allowFilter"} {
		s.src.Git("--git-dir="+s.server, "config", key, "true")
	}
	s.src.Git("remote", "add", "origin", s.server)
	return s
}

// begin gives a site its folders and its API.
func (s *site) begin() {
	s.t.Helper()
	dir, err := filepath.EvalSymlinks(s.t.TempDir())
	if err != nil {
		s.t.Fatal(err)
	}
	s.dir, s.server = dir, filepath.Join(dir, "server.git")
	if s.workspace, err = filepath.EvalSymlinks(s.t.TempDir()); err != nil {
		s.t.Fatal(err)
	}
	if s.api, err = apitest.New(apitest.Options{Repository: siteRepository, Token: siteToken, Web: siteWeb, Spec: description(s.t)}); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.api.Close)
}

// description is GitHub's own of its API; every request and answer of the tests
// is held to it where it is there.
func description(t *testing.T) *apitest.Spec {
	t.Helper()
	spec, err := loadDescription()
	if os.IsNotExist(err) {
		t.Logf("requests are not held to GitHub's description of its API: %v", err)
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

var loadDescription = sync.OnceValues(func() (*apitest.Spec, error) {
	dir := os.Getenv("HANDOFF_GATE_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	file := filepath.Join(dir, "data", "github-openapi-slice.json")
	if _, err := os.Stat(file); err != nil {
		return nil, err
	}
	return apitest.LoadSpec(file)
})

// propose makes the merge of B and C and puts all on the server.
func (s *site) propose() {
	s.t.Helper()
	s.M = s.merge(s.B, s.C, "Merge")
	s.put(s.B, "refs/heads/main")
	s.put(s.C, "refs/heads/feature")
	s.put(s.M, "refs/pull/1/merge")
	s.describe()
}

// describe tells the API of the pull request.
func (s *site) describe() {
	s.api.Compare(s.B, s.C, apitest.Comparison{Base: s.B, MergeBase: s.B, AheadBy: 1})
	s.api.Compare("main", s.C, apitest.Comparison{Base: s.B, MergeBase: s.B, AheadBy: 1})
}

// merge makes a merge commit with the tree of its second parent.
func (s *site) merge(first, second, message string) string {
	s.t.Helper()
	return s.src.Git("commit-tree", second+"^{tree}", "-p", first, "-p", second, "-m", message)
}

func (s *site) put(commit, ref string) {
	s.t.Helper()
	s.src.Git("push", "-q", "-f", "origin", commit+":"+ref)
}

func (s *site) write(path, text string) {
	s.t.Helper()
	s.src.Write(filepath.ToSlash(filepath.Clean(path)), text)
}

// handoff writes a handoff set with its manifest. Files named in lost are
// indexed and not there.
func (s *site) handoff(project, status string, lost ...string) {
	s.t.Helper()
	dir := project + "/.ai/handoff/"
	set := map[string]string{
		"STATUS.md":       "# Status\n\n" + status + "\n",
		"NEXT_ACTIONS.md": "# Next actions\n\nNothing is open.\n",
		"LOG.md":          "# Log\n\n## 2026-11-01 Start\n\n" + status + "\n",
	}
	trust := filepath.Join(s.src.Dir, filepath.FromSlash(dir), "TRUST.md")
	if data, err := os.ReadFile(trust); err == nil {
		set["TRUST.md"] = string(data)
	} else {
		set["TRUST.md"] = "# Trust\n\n| Property | Status | Expires | Check |\n|---|---|---|---|\n| Builds | verified | 2099-01-01 | - |\n"
	}
	files := map[string]any{}
	entry := func(text string) map[string]any {
		return map[string]any{
			"checksum": fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))), "updated": "2026-11-01T00:00:00Z",
			"lines": strings.Count(text, "\n"), "summary": "A file.",
		}
	}
	for name, text := range set {
		s.write(dir+name, text)
		files[name] = entry(text)
	}
	for _, name := range lost {
		files[name] = entry("")
	}
	commit, err := s.src.Try("rev-parse", "-q", "--verify", "HEAD")
	if err != nil {
		commit = "unknown"
	}
	text, err := json.MarshalIndent(map[string]any{
		"aahp_version": "3.0", "project": "tide-tables", "files": files, "quick_context": "A sample.",
		"last_session": map[string]any{"agent": "sample", "timestamp": "2026-11-01T00:00:00Z", "commit": commit, "phase": "idle"},
	}, "", "  ")
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(dir+"MANIFEST.json", string(text)+"\n")
}

// clone is what a step with actions/checkout leaves behind: a detached HEAD.
type clone struct {
	depth  int    // 0 is the whole history, with tags
	below  string // folder of the workspace; "" is the workspace
	filter string
	sparse []string
	origin string // "" is the server by its path
}

// check out a commit, whole.
func (s *site) at(commit string) *site { return s.clone(commit, clone{}) }

func (s *site) clone(commit string, c clone) *site {
	s.t.Helper()
	dir := filepath.Join(s.workspace, filepath.FromSlash(c.below))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.t.Fatal(err)
	}
	s.checkout = gittest.At(s.t, dir)
	if c.origin == "" {
		c.origin = "file://" + s.server
	}
	s.checkout.Git("init", "-q", "-b", "none")
	s.checkout.Git("remote", "add", "origin", c.origin)
	fetch := []string{"fetch", "-q", "--no-tags"}
	switch {
	case c.depth > 0:
		fetch = append(fetch, fmt.Sprintf("--depth=%d", c.depth))
	default:
		s.checkout.Git("fetch", "-q", "--tags", "origin", "+refs/heads/*:refs/remotes/origin/*")
	}
	if c.filter != "" {
		s.checkout.Git("config", "remote.origin.promisor", "true")
		s.checkout.Git("config", "remote.origin.partialclonefilter", c.filter)
		fetch = append(fetch, "--filter="+c.filter)
	}
	if c.sparse != nil {
		s.checkout.Git(append([]string{"sparse-checkout", "set"}, c.sparse...)...)
	}
	s.checkout.Git(append(fetch, "origin", commit)...)
	s.checkout.Git("checkout", "-q", "--detach", commit)
	return s
}

// input sets an input of the action.
func (s *site) input(name, value string) *site {
	s.env["INPUT_"+strings.ToUpper(name)] = value
	return s
}

// object is a JSON object of a payload.
type object = map[string]any

// pull is the payload of the site's pull request.
func (s *site) pull(action string) object {
	return object{
		"action": action, "number": 1, "repository": repositoryOf(),
		"pull_request": object{
			"number": 1, "base": object{"ref": "main", "sha": s.B, "repo": repositoryOf()},
			"head": object{"ref": "feature", "sha": s.C, "repo": repositoryOf()},
		},
	}
}

func repositoryOf() object {
	return object{"name": "tide-tables", "full_name": siteRepository, "default_branch": "main", "owner": object{"login": "harbour"}}
}

// push is the payload of a push.
func push(ref, before, after string) object {
	return object{
		"ref": ref, "before": before, "after": after, "created": before == noCommit, "deleted": after == noCommit,
		"forced": false, "repository": repositoryOf(),
	}
}

// outcome is what a run of the action left behind.
type outcome struct {
	status   int
	log      string
	commands []workflowCommand
	outputs  map[string]string
	summary  string
	report   *report.Report // nil when none was written
}

// rules are the rules that fired, ordered, each once.
func (o outcome) rules() []string {
	var ids []string
	if o.report != nil {
		for _, p := range o.report.Projects {
			for _, l := range p.Layers {
				for _, f := range l.Findings {
					ids = append(ids, f.Rule)
				}
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// finding gives the one finding of a rule.
func (o outcome) finding(t *testing.T, rule string) report.Finding {
	t.Helper()
	var found []report.Finding
	if o.report != nil {
		for _, p := range o.report.Projects {
			for _, l := range p.Layers {
				for _, f := range l.Findings {
					if f.Rule == rule {
						found = append(found, f)
					}
				}
			}
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d findings of %s; all rules: %v\n%s", len(found), rule, o.rules(), o.log)
	}
	return found[0]
}

// named are the commands of one name.
func (o outcome) named(name string) []workflowCommand {
	var out []workflowCommand
	for _, c := range o.commands {
		if c.name == name {
			out = append(out, c)
		}
	}
	return out
}

// step writes the runner's files and gives the environment of the step.
func (s *site) step(event string, payload any) []string {
	s.t.Helper()
	s.files = s.t.TempDir()
	for _, name := range []string{"output", "summary", "env", "path", "state"} {
		if err := os.WriteFile(filepath.Join(s.files, name), nil, 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	data, isText := []byte(nil), false
	switch p := payload.(type) {
	case string:
		data, isText = []byte(p), true
	case []byte:
		data, isText = p, true
	}
	if !isText {
		var err error
		if data, err = json.Marshal(payload); err != nil {
			s.t.Fatal(err)
		}
	}
	file := func(name string) string { return filepath.Join(s.files, name) }
	if err := os.WriteFile(file("event.json"), data, 0o644); err != nil {
		s.t.Fatal(err)
	}
	env := map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": s.files, "LANG": "C.UTF-8", "CI": "true", "GITHUB_ACTIONS": "true",
		"GITHUB_API_URL": s.api.URL, "GITHUB_SERVER_URL": siteWeb, "GITHUB_REPOSITORY": siteRepository,
		"GITHUB_EVENT_NAME": event, "GITHUB_EVENT_PATH": file("event.json"), "GITHUB_SHA": s.M, "GITHUB_REF": "refs/pull/1/merge",
		"GITHUB_WORKSPACE": s.workspace, "GITHUB_RUN_ID": "7001", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_JOB": "handoff", "GITHUB_WORKFLOW": "handoffs",
		"GITHUB_OUTPUT": file("output"), "GITHUB_STEP_SUMMARY": file("summary"), "GITHUB_ENV": file("env"), "GITHUB_PATH": file("path"),
		"GITHUB_STATE": file("state"), "ACTIONS_RUNTIME_TOKEN": siteRuntime, "ACTIONS_ID_TOKEN_REQUEST_TOKEN": siteRuntime,
		"INPUT_TOKEN": siteToken, "INPUT_REPORT": reportInput,
	}
	maps.Copy(env, s.env)
	var environ []string
	for name, value := range env {
		if value != unset {
			environ = append(environ, name+"="+value)
		}
	}
	return environ
}

// unset takes a variable out of the environment.
const unset = "\x00unset"

// run runs the action in this process and holds it to what is true of every run.
func (s *site) run(event string, payload any) outcome {
	s.t.Helper()
	return s.runWith(context.Background(), s.step(event, payload))
}

func (s *site) runWith(ctx context.Context, environ []string) outcome {
	s.t.Helper()
	var log bytes.Buffer
	status := cli.Run(ctx, []string{"action"}, cli.Process{Stdout: &log, Stderr: &log, Environ: environ, Version: "0.0.0-test"})
	return s.ended(status, log.String(), environ)
}

// ended reads what a run left and checks what holds for all.
func (s *site) ended(status int, log string, environ []string) outcome {
	t := s.t
	t.Helper()
	o := outcome{status: status, log: log, commands: obeyed(t, log)}
	o.outputs = outputsIn(t, s.read("output"))
	o.summary = s.read("summary")
	for _, name := range []string{"env", "path", "state"} {
		if got := s.read(name); got != "" {
			t.Errorf("GITHUB_%s was written: %q", strings.ToUpper(name), got)
		}
	}
	if len(o.summary) > 1024*1024 {
		t.Errorf("a summary of %d bytes, which GitHub does not take", len(o.summary))
	}
	if slices.ContainsFunc(environ, func(kv string) bool { return strings.HasPrefix(kv, "GITHUB_OUTPUT="+s.files) }) {
		if want := map[int]string{0: "pass", 1: "fail", 2: "error"}[status]; o.outputs["verdict"] != want {
			t.Errorf("exit status %d, output verdict %q, want %q\n%s", status, o.outputs["verdict"], want, log)
		}
	}
	written := ""
	if file := o.outputs["report-path"]; file != "" {
		data, err := os.ReadFile(filepath.Join(s.workspace, filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		written, o.report = string(data), &report.Report{}
		if err := json.Unmarshal(data, o.report); err != nil {
			t.Fatal(err)
		}
		if err := schema.Check(schema.Report, data); err != nil {
			t.Errorf("the report: %v", err)
		}
		if err := coherent(o.report, status); err != nil {
			t.Errorf("the report: %v", err)
		}
	}
	for _, secret := range []string{siteToken, siteRuntime, base64.StdEncoding.EncodeToString([]byte("x-access-token:" + siteToken))} {
		for place, text := range map[string]string{"log": log, "summary": o.summary, "outputs": s.read("output"), "report": written} {
			if strings.Contains(html.UnescapeString(text), secret) {
				t.Errorf("a secret stands in the %s", place)
			}
		}
	}
	for _, r := range s.api.Requests() {
		if strings.Contains(html.UnescapeString(string(r.Body)), siteToken) {
			t.Errorf("the token stands in the body of %s %s", r.Method, r.Path)
		}
	}
	for _, p := range s.api.Problems() {
		t.Errorf("GitHub's API: %s", p)
	}
	for _, r := range s.api.Runs() {
		if r.Status != "completed" {
			t.Errorf("check run %d is left %s", r.ID, r.Status)
		}
	}
	return o
}

func (s *site) read(name string) string {
	data, err := os.ReadFile(filepath.Join(s.files, name))
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	return string(data)
}

// checkRun gives the only check run.
func (s *site) checkRun() apitest.CheckRun {
	s.t.Helper()
	runs := s.api.Runs()
	if len(runs) != 1 {
		s.t.Fatalf("%d check runs, want 1", len(runs))
	}
	return runs[0]
}

// workflowCommand is a command that the runner would obey.
type workflowCommand struct {
	name       string
	properties map[string]string
	data       string
}

var oldCommand = regexp.MustCompile(`##\[[a-z-]+[ \]]`)

// obeyed reads a log as the runner does (github-action.md 5): commands begin a
// line after blanks, those of the old form stand anywhere, and after
// stop-commands nothing counts up to its token.
func obeyed(t *testing.T, log string) []workflowCommand {
	t.Helper()
	plain := strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%")
	allowed := []string{"group", "endgroup", "notice", "warning", "error", "debug", "stop-commands"}
	var commands []workflowCommand
	stopped, open := "", 0
	count := map[string]int{}
	for line := range strings.Lines(log) {
		line = strings.TrimRight(line, "\r\n")
		text := strings.TrimLeft(line, " \t")
		if stopped != "" {
			if strings.HasPrefix(text, "::"+stopped+"::") {
				stopped = ""
			} else if strings.Contains(line, stopped) {
				t.Errorf("the end token stands in what it ends: %q", line)
			}
			continue
		}
		info, data, ok := strings.Cut(strings.TrimPrefix(text, "::"), "::")
		if !strings.HasPrefix(text, "::") || !ok {
			if oldCommand.MatchString(line) {
				t.Errorf("a command of the old form: %q", line)
			}
			continue
		}
		name, list, _ := strings.Cut(info, " ")
		if !slices.Contains(allowed, name) {
			t.Errorf("the log gives the command %q: %q", name, line)
		}
		c := workflowCommand{name: name, properties: map[string]string{}, data: plain.Replace(data)}
		for kv := range strings.SplitSeq(list, ",") {
			if k, v, ok := strings.Cut(kv, "="); ok {
				c.properties[k] = plain.Replace(v)
			}
		}
		switch name {
		case "stop-commands":
			if stopped = data; len(stopped) != 32 {
				t.Errorf("a weak end token %q", stopped)
			}
			continue
		case "group":
			if open++; open > 1 {
				t.Errorf("a group inside a group: %q", line)
			}
		case "endgroup":
			if open--; open < 0 {
				t.Error("a group ends that was not begun")
			}
		case "error", "warning", "notice":
			if open > 0 {
				t.Errorf("hidden inside a group: %q", line)
			}
			if len(c.data) > 4096 {
				t.Errorf("a message of %d characters", len(c.data))
			}
			if count[name]++; count[name] > 10 {
				t.Errorf("more than ten ::%s commands; the runner drops them", name)
			}
		}
		commands = append(commands, c)
	}
	if stopped != "" || open != 0 {
		t.Errorf("stop-commands or a group never ends:\n%s", log)
	}
	return commands
}

// outputsIn reads the file of GITHUB_OUTPUT as the runner does.
func outputsIn(t *testing.T, text string) map[string]string {
	t.Helper()
	out, used := map[string]string{}, map[string]bool{}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if lines[i] == "" {
			continue
		}
		name, token, ok := strings.Cut(lines[i], "<<")
		if !ok || len(token) != 32 || used[token] || i+2 >= len(lines) || lines[i+2] != token {
			t.Fatalf("no output of one line with a token of its own: %q", lines[i:min(i+3, len(lines))])
		}
		used[token] = true
		out[name] = lines[i+1]
		i += 2
	}
	return out
}
