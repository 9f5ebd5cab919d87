package packaging

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/githubapi/apitest"
	"github.com/handoff-gate/handoff-gate/githubapi/internal/sample"
)

// TestRealRun takes the repository of testdata/formats, which has all three formats and
// the governance gates, through the life of two pull requests and a release. The binary
// plays it first, and what it says is what the author acts upon. Then the same workflow
// runs are played once more by the image as a runner starts it, and by act with the
// repository's own workflow, there with the binary and with the image. All have to come
// to the same report, byte for byte.
func TestRealRun(t *testing.T) {
	story := tell(t, binary(t))

	t.Run("in the image", func(t *testing.T) {
		image := image(t)
		story.again(t, func(t *testing.T, s *site, c *scene) (log string, status int) {
			args := container(t, image, s.checkout(t, c), "host", env("-e", s.inputs(t))...)
			_, log, status = run(t, os.Environ(), "", "docker", args...)
			foreign(t, s.dir)
			return log, status
		}, (*outcome).sameAs)
	})
	t.Run("under act", func(t *testing.T) {
		// On the machine itself act works in a copy of the checkout, which it removes.
		kept := t.TempDir()
		start := fmt.Sprintf("status=0; %s action || status=$?; cp %s %s; exit $status", binary(t), reportFile, kept)
		story.underAct(t, composite(t, start), kept, "--platform", "ubuntu-latest=-self-hosted")
	})
	t.Run("in the image under act", func(t *testing.T) {
		image := image(t)
		story.underAct(t, released(t, image), "", jobImage(t)...)
	})
}

// reportFile is where the repository's workflow wants the report.
const reportFile = "handoff-report.json"

// scene is one workflow run of the story.
type scene struct {
	name       string
	event, ref string
	payload    []byte
	commit     string   // that is checked out
	tags       []string // NAME=COMMIT that the checkout has
	outcome    outcome  // of the binary
}

// outcome is what a workflow run left behind.
type outcome struct {
	status                        int
	report, summary, outputs, log string
	calls                         []string // of the API
}

// story is what happened in a repository.
type story struct {
	dir    string // the repository
	scenes []*scene
}

// tell plays the story by the binary.
func tell(t *testing.T, binary string) *story {
	a := newAuthor(t, binary)
	claims := func(want int) {
		t.Helper()
		n := 0
		for _, r := range a.api.Requests() {
			if r.Method == "POST" && strings.HasSuffix(r.Path, "/git/refs") && r.Status == 201 {
				n++
			}
		}
		if n != want {
			t.Errorf("there are %d claims, expected %d", n, want)
		}
	}

	// The project, and its first release.
	a.overlay("base")
	a.commit("Predict three stations")
	start := a.handOver()
	a.tags = []string{"v0.1.0=" + start}

	// An honest pull request: the handoff set tells what was done, the session has grown
	// by the turns that did it, and a signed packet asks the next agent to compare.
	a.branch("torshavn", start)
	a.overlay("change")
	a.sign("packets/torshavn.json")
	a.commit("Add Torshavn")
	head := a.handOver()
	a.pullRequest("an honest pull request", "opened", start, head)
	main := a.queue("torshavn in the merge queue", start, head)
	claims(0) // so far every run was a dry one
	a.push("torshavn is merged", start, main)
	claims(1)

	// The next one breaks each format, and the gates. The packet asks for more than its
	// sender signed, and the skill and the transcript are not what they were.
	a.branch("visby", main)
	a.edit("src/tides.js", "  lerwick", "  visby: [[0.02, 40], [0.01, 75]],\n  lerwick")
	a.edit(".ai/handoff/LOG.md", "# Log\n", "# Log\n\n## 2026-03-03: Visby\n\nAdds Visby.\n")
	a.edit(".ai/handoff/TRUST.md", "2099-12-31", "2025-12-31")
	a.copy("packets/torshavn.json", "packets/visby.json", "torshavn", "visby", "Torshavn", "Visby", `"usd": 2`, `"usd": 20`)
	a.edit(timeline, "0.13 m", "0.31 m")
	a.edit(skill, "before you leave", "if you like")
	a.edit("README.md", "docs/limits.md", "docs/limit.md")
	a.edit("package.json", "0.1.0", "0.2.0")
	head = a.commit("Add Visby")
	failing := a.pullRequest("a failing pull request", "opened", main, head,
		"changelog/missing-version CHANGELOG.md",
		"changelog/top-version CHANGELOG.md",
		"drift/handoff-not-updated .ai/handoff/STATUS.md",
		"install/file-changed "+skill,
		"integrity/checksum-mismatch .ai/handoff/LOG.md",
		"integrity/checksum-mismatch .ai/handoff/TRUST.md",
		"links/broken README.md",
		"packet/approval-signature-invalid packets/visby.json",
		"packet/artifact-hash-mismatch packets/visby.json",
		"packet/authority-exceeds-receiver-policy packets/visby.json",
		"packet/signature-invalid packets/visby.json",
		"provenance/payload-timeline-drift "+timeline,
		"provenance/timeline-rewritten "+timeline,
		"trust/check-failed .ai/handoff/TRUST.md",
		"trust/expired .ai/handoff/TRUST.md",
		"version/mismatch README.md",
	)

	// Its author does what each finding says, from top to bottom. That pins the packet
	// after it was signed, which is the one thing that a second round has to mend.
	a.repair(failing)
	head = a.commit("Repair")
	failing = a.pullRequest("the repaired pull request", "synchronize", main, head, "packet/signature-missing packets/visby.json")
	a.repair(failing)
	head = a.commit("Sign the packet")
	a.pullRequest("the pull request, repaired again", "synchronize", main, head)
	a.confirm()
	before, main := main, a.queue("visby in the merge queue", main, head)
	a.push("visby is merged", before, main)
	claims(2)

	// What was claimed is not claimed again, under whatever name it comes.
	a.branch("again", main)
	a.copy("packets/visby.json", "packets/again.json")
	a.edit(".ai/handoff/STATUS.md", "Next: ", "Next: compare Visby once more, then ")
	a.commit("Compare once more")
	head = a.handOver()
	a.pullRequest("a packet comes again", "opened", main, head, "packet/idempotency-key-reserved packets/again.json")

	// A tag of another version is no release.
	a.tag("a tag that disagrees", "v0.3.0", main, "version/tag-mismatch package.json")
	a.tag("a tag that agrees", "v0.2.0", main)
	claims(2)

	if problems := a.api.Problems(); len(problems) > 0 {
		t.Errorf("GitHub would have refused: %s", strings.Join(problems, "; "))
	}
	return &story{dir: a.dir, scenes: a.scenes}
}

const (
	session  = "handoffs/projects/tide-tables/northern-stations"
	timeline = session + "/timeline.jsonl"
	skill    = ".claude/skills/agents-handoff/SKILL.md"
)

// edits are what a person does after reading a finding, by its rule.
var edits = map[string]func(*author){
	"changelog/missing-version": func(a *author) {
		a.edit("CHANGELOG.md", "## [Unreleased]\n", "## [Unreleased]\n\n## [0.2.0] - 2026-03-03\n")
		a.edit("CHANGELOG.md", "[0.1.0]: ", "[0.2.0]: https://example.com/harbour/tide-tables/releases/tag/v0.2.0\n[0.1.0]: ")
	},
	"changelog/top-version":                    nil, // the same
	"drift/handoff-not-updated":                func(a *author) { a.edit(".ai/handoff/STATUS.md", "Four stations", "Five stations, Visby the latest,") },
	"install/file-changed":                     func(a *author) { a.restore(skill) },
	"integrity/checksum-mismatch":              nil, // the change is meant
	"links/broken":                             func(a *author) { a.edit("README.md", "docs/limit.md", "docs/limits.md") },
	"packet/approval-signature-invalid":        nil, // the approver agrees
	"packet/artifact-hash-mismatch":            nil, // the change is meant
	"packet/authority-exceeds-receiver-policy": func(a *author) { a.edit("packets/visby.json", `"usd": 20`, `"usd": 2`) },
	"packet/signature-invalid":                 nil, // the sender agrees
	"packet/signature-missing":                 nil,
	"provenance/payload-timeline-drift":        nil, // the same as the next
	"provenance/timeline-rewritten":            func(a *author) { a.restore(timeline) },
	"trust/check-failed":                       nil, // mended with the index
	"trust/expired":                            func(a *author) { a.edit(".ai/handoff/TRUST.md", "2025-12-31", "2099-12-31") },
	"version/mismatch":                         func(a *author) { a.edit("README.md", "Version 0.1.0", "Version 0.2.0") },
}

// author works on the repository, and sees what the binary says of it.
type author struct {
	*site
	t          *testing.T
	binary     string
	hours      int
	tags       []string
	scenes     []*scene
	keys       map[string]string // files, by agent
	confirming []string          // commands that show a finding mended
}

func newAuthor(t *testing.T, binary string) *author {
	t.Helper()
	a := &author{t: t, binary: binary, keys: map[string]string{}}
	dir := filepath.Join(t.TempDir(), "tide-tables")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	a.site = newSite(t, dir)
	a.git(t, "init", "--quiet", "--initial-branch=main", "--object-format=sha1")
	// Act has the repository's name from there.
	a.git(t, "remote", "add", "origin", "https://github.com/"+sample.Repository)
	for _, agent := range []string{"alice", "rita"} {
		seed := sha256.Sum256([]byte("sample key of " + agent)) // packets/registry/agents.json has the public keys
		text := fmt.Sprintf(`{"agent": %q, "kid": %q, "private_key": %q}`, agent, agent+"-1", base64.RawURLEncoding.EncodeToString(seed[:]))
		a.keys[agent] = filepath.Join(t.TempDir(), agent+".key")
		if err := os.WriteFile(a.keys[agent], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// show plays a workflow run, wants exactly these errors, each RULE PATH, and gives its
// findings.
func (a *author) show(c scene, errors ...string) []report.Finding {
	a.t.Helper()
	r := a.checkout(a.t, &c)
	environ := append(r.Environ(r.Workspace, r.Commands), "PATH="+os.Getenv("PATH"))
	_, log, status := run(a.t, append(environ, a.inputs(a.t)...), "", a.binary, "action")
	c.outcome = a.collect(a.t, log, status)
	a.scenes = append(a.scenes, &c)

	var document report.Report
	if err := json.Unmarshal([]byte(c.outcome.report), &document); err != nil {
		a.t.Fatalf("%s: %v\n%s", c.name, err, log)
	}
	var all []report.Finding
	var found []string
	for _, p := range document.Projects {
		for _, l := range p.Layers {
			all = append(all, l.Findings...)
			for _, f := range l.Findings {
				if f.Severity == report.Error {
					found = append(found, f.Rule+" "+f.Path)
				}
			}
		}
	}
	slices.Sort(found)
	if !slices.Equal(found, errors) || (status == 1) != (len(errors) > 0) || status > 1 {
		a.t.Fatalf("%s ends with %d and the errors\n%s\nexpected\n%s\n%s", c.name, status, strings.Join(found, "\n"), strings.Join(errors, "\n"), log)
	}
	return all
}

// pullRequest, queue, push and tag are the events of the story.
func (a *author) pullRequest(name, action, base, head string, errors ...string) []report.Finding {
	a.t.Helper()
	return a.show(scene{name: name, event: "pull_request", payload: sample.PullRequest(action, base, head), commit: a.merge(base, head)}, errors...)
}

// queue also gives the commit that main then becomes.
func (a *author) queue(name, base, head string) string {
	a.t.Helper()
	merged := a.merge(base, head)
	a.show(scene{name: name, event: "merge_group", ref: "refs/heads/gh-readonly-queue/main/pr-1-" + base, payload: sample.MergeGroup(base, merged), commit: merged})
	return merged
}

func (a *author) push(name, before, after string) {
	a.t.Helper()
	a.show(scene{name: name, event: "push", ref: "refs/heads/main", payload: sample.Push("refs/heads/main", before, after), commit: after})
}

func (a *author) tag(name, tag, commit string, errors ...string) {
	a.t.Helper()
	ref := "refs/tags/" + tag
	a.show(scene{name: name, event: "push", ref: ref, payload: sample.Push(ref, "", commit), commit: commit, tags: append(slices.Clone(a.tags), tag+"="+commit)}, errors...)
}

// repair does what findings say, from top to bottom: first what needs a person, then
// each command of a line fix: that writes.
func (a *author) repair(findings []report.Finding) {
	a.t.Helper()
	a.git(a.t, "switch", "--quiet", "-")
	var commands []string
	for _, f := range findings {
		if f.Severity != report.Error {
			continue
		}
		edit, known := edits[f.Rule]
		if !known {
			a.t.Fatalf("nobody knows what to do about %s: %s", f.Rule, f.Remedy)
		}
		if edit != nil {
			edit(a)
		}
		_, fix, ok := strings.Cut(f.Remedy, "\nfix: ")
		switch {
		case !ok || strings.Contains(fix, "\n"):
			a.t.Fatalf("the remedy of %s does not end in a line fix: %s", f.Rule, f.Remedy)
		case verifying.MatchString(fix):
			a.confirming = append(a.confirming, fix)
		default:
			commands = append(commands, fix)
		}
	}
	for i, fix := range commands {
		if !slices.Contains(commands[:i], fix) {
			a.shell(fix)
		}
	}
}

// confirm runs the commands that were to show a finding mended.
func (a *author) confirm() {
	a.t.Helper()
	a.git(a.t, "switch", "--quiet", "-")
	for _, fix := range a.confirming {
		a.shell(fix)
	}
}

// verifying are commands that only look.
var verifying = regexp.MustCompile(`^handoff-gate (verify|(session|install) verify|packet check) `)

// shell runs a line as a person pastes it, with the key that it leaves open.
func (a *author) shell(line string) {
	a.t.Helper()
	key := a.keys["alice"]
	if strings.HasPrefix(line, "handoff-gate packet approve ") {
		key = a.keys["rita"]
	}
	line = strings.Replace(line, " --key KEY ", " --key "+key+" ", 1)
	path := "PATH=" + filepath.Dir(a.binary) + string(os.PathListSeparator) + os.Getenv("PATH")
	command(a.t, a.dir, []string{path}, "sh", "-c", line)
}

// sign makes a packet of a draft: its sender pins what it is about, a person approves
// its last action, and the sender signs.
func (a *author) sign(packet string) {
	a.t.Helper()
	for _, line := range []string{
		"handoff-gate packet pin PACKET --workspace . --out PACKET",
		"handoff-gate packet approve PACKET --key KEY --action report --out PACKET",
		"handoff-gate packet sign PACKET --key KEY --out PACKET",
	} {
		a.shell(strings.ReplaceAll(line, "PACKET", packet))
	}
}

// handOver ends a session: the manifest is written and committed.
func (a *author) handOver() string {
	a.t.Helper()
	a.shell(fmt.Sprintf("handoff-gate manifest --quiet --agent example-agent --session-id s-%d --phase implementation --now %s", a.hours, a.now()))
	return a.commit("Hand over")
}

func (a *author) now() string { return fmt.Sprintf("2026-02-24T%02d:00:00Z", a.hours) }

func (a *author) commit(message string) string {
	a.t.Helper()
	a.hours++
	a.git(a.t, "add", "--all")
	if _, err := sample.Git(a.t.Context(), a.dir, a.now(), "commit", "--quiet", "--message", message); err != nil {
		a.t.Fatal(err)
	}
	return a.git(a.t, "rev-parse", "HEAD")
}

func (a *author) branch(name, from string) {
	a.t.Helper()
	a.git(a.t, "switch", "--quiet", "--create", name, from)
}

// merge makes the commit that GitHub makes of a base and a head that contains it.
func (a *author) merge(base, head string) string {
	a.t.Helper()
	return a.git(a.t, "commit-tree", head+"^{tree}", "-p", base, "-p", head, "-m", "Merge "+head+" into "+base)
}

// restore takes a file from main's side of the branch.
func (a *author) restore(file string) {
	a.t.Helper()
	a.git(a.t, "checkout", "--quiet", "HEAD^", "--", file)
}

func (a *author) overlay(folder string) {
	a.t.Helper()
	if err := sample.Overlay(filepath.Join(root(a.t), "testdata", "formats", folder), a.dir); err != nil {
		a.t.Fatal(err)
	}
}

func (a *author) edit(file, old, now string) {
	a.t.Helper()
	a.rewrite(file, file, func(text string) string {
		if strings.Count(text, old) != 1 {
			a.t.Fatalf("%s has %q %d times", file, old, strings.Count(text, old))
		}
		return strings.Replace(text, old, now, 1)
	})
}

// copy copies a file with each of the replacements made everywhere.
func (a *author) copy(from, to string, replacements ...string) {
	a.t.Helper()
	a.rewrite(from, to, strings.NewReplacer(replacements...).Replace)
}

func (a *author) rewrite(from, to string, change func(string) string) {
	a.t.Helper()
	data, err := os.ReadFile(filepath.Join(a.dir, filepath.FromSlash(from)))
	if err != nil {
		a.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(a.dir, filepath.FromSlash(to)), []byte(change(string(data))), 0o644); err != nil {
		a.t.Fatal(err)
	}
}

// again plays the story once more, on a copy of the repository and with an API of its
// own, and compares what each run leaves behind.
func (st *story) again(t *testing.T, play func(*testing.T, *site, *scene) (log string, status int), same func(got, want *outcome) []string) {
	dir := filepath.Join(t.TempDir(), "tide-tables")
	if err := os.CopyFS(dir, os.DirFS(st.dir)); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, dir)
	for _, c := range st.scenes {
		log, status := play(t, s, c)
		got := s.collect(t, log, status)
		for _, difference := range same(&got, &c.outcome) {
			t.Errorf("%s: %s", c.name, difference)
		}
		if t.Failed() {
			t.Fatalf("the log of this run:\n%s\nand of the binary:\n%s", log, c.outcome.log)
		}
	}
	if problems := s.api.Problems(); len(problems) > 0 {
		t.Errorf("GitHub would have refused: %s", strings.Join(problems, "; "))
	}
}

// underAct plays the story by act, the action being one of the given metadata. Reports
// are in the checkout, or else in the folder kept. Act has no check runs, and shows the
// job summary in the log.
func (st *story) underAct(t *testing.T, metadata, kept string, more ...string) {
	act := tool(t, "github.com/nektos/act")
	gate := actionFolder(t, metadata)
	st.again(t, func(t *testing.T, s *site, c *scene) (log string, status int) {
		r := s.checkout(t, c)
		workflow := filepath.Join(s.dir, ".github", "workflows", "handoff.yml")
		args := append(slices.Clone(more),
			"--local-repository", s.uses(t)+"="+gate, "--secret", "GITHUB_TOKEN="+sample.Token,
			"--env", "GITHUB_API_URL="+r.APIURL, "--env", "GITHUB_SERVER_URL="+r.ServerURL, "--env", "GITHUB_RUN_ID=7")
		log, status = runAct(t, act, s.dir, workflow, c.event, c.payload, args...)
		if kept != "" {
			_ = os.Rename(filepath.Join(kept, reportFile), filepath.Join(s.dir, reportFile)) // it is missed afterwards
		}
		if m := summaryOfAct.FindStringSubmatch(log); m != nil {
			if err := os.WriteFile(filepath.Join(r.Commands, "summary.md"), []byte(m[1]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return log, status
	}, (*outcome).sameReportAs)
}

var summaryOfAct = regexp.MustCompile(`(?s)Summary - (## .*?\n)\[handoff/handoff\]`)

// sameAs tells how an outcome differs from another one.
func (o *outcome) sameAs(want *outcome) []string {
	differences := o.sameReportAs(want)
	for _, part := range []struct{ name, got, want string }{
		{"outputs", o.outputs, want.outputs},
		{"log", o.log, want.log},
		{"calls of the API", strings.Join(o.calls, "\n"), strings.Join(want.calls, "\n")},
	} {
		if part.got != part.want {
			differences = append(differences, fmt.Sprintf("the %s:\n%s\nexpected:\n%s", part.name, part.got, part.want))
		}
	}
	return differences
}

// sameReportAs is sameAs for a runner without check runs.
func (o *outcome) sameReportAs(want *outcome) (differences []string) {
	if o.status != want.status {
		differences = append(differences, fmt.Sprintf("it ends with %d, expected %d", o.status, want.status))
	}
	if o.report != want.report {
		differences = append(differences, fmt.Sprintf("the report:\n%s\nexpected:\n%s", o.report, want.report))
	}
	if o.summary != want.summary {
		differences = append(differences, fmt.Sprintf("the job summary:\n%s\nexpected:\n%s", o.summary, want.summary))
	}
	got, expected := ledgerCalls(o.calls), ledgerCalls(want.calls)
	if got != expected {
		differences = append(differences, fmt.Sprintf("the calls of the ledger:\n%s\nexpected:\n%s", got, expected))
	}
	return differences
}

func ledgerCalls(calls []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(calls), func(c string) bool { return !strings.Contains(c, "/git/") }), "\n")
}

// site is where workflow runs take place: a checkout, and a server, which also keeps
// the ledger.
type site struct {
	dir     string
	api     *apitest.Server
	run     sample.Run       // the last one
	seen    int              // requests before it
	claimed []*regexp.Regexp // when each claim was made, which a refusal tells
}

func newSite(t *testing.T, dir string) *site {
	t.Helper()
	api, err := apitest.New(apitest.Options{Repository: sample.Repository, Token: sample.Token})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(api.Close)
	return &site{dir: dir, api: api}
}

func (s *site) git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := sample.Git(t.Context(), s.dir, "", args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// checkout does what comes before the action's step.
func (s *site) checkout(t *testing.T, c *scene) sample.Run {
	t.Helper()
	if err := sample.Checkout(t.Context(), s.dir, c.commit); err != nil {
		t.Fatal(err)
	}
	for _, tag := range strings.Fields(s.git(t, "tag", "--list")) {
		s.git(t, "tag", "--delete", tag)
	}
	for _, tag := range c.tags {
		name, commit, _ := strings.Cut(tag, "=")
		s.git(t, "tag", name, commit)
	}
	s.seen = len(s.api.Requests())
	s.run = sample.Run{
		Workspace: s.dir, Commands: filepath.Join(t.TempDir(), "commands"), Event: c.event, Ref: c.ref,
		SHA: c.commit, APIURL: s.api.URL, ServerURL: "https://github.example.test",
	}
	if err := s.run.Prepare(c.payload); err != nil {
		t.Fatal(err)
	}
	return s.run
}

// collect takes what a run left behind, with the same in place of what differs from run
// to run: times, random numbers, and the ids of commits that have them.
func (s *site) collect(t *testing.T, log string, status int) outcome {
	t.Helper()
	file := filepath.Join(s.dir, reportFile)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	o := outcome{status: status, report: string(text), log: random.ReplaceAllString(log, "RANDOM")}
	if o.summary, err = s.run.Summary(); err != nil {
		t.Fatal(err)
	}
	if o.outputs, err = s.run.Output(); err != nil {
		t.Fatal(err)
	}
	o.outputs = random.ReplaceAllString(o.outputs, "RANDOM")
	for _, r := range s.api.Requests()[s.seen:] {
		for _, m := range reserved.FindAllStringSubmatch(string(r.Body), -1) {
			s.claimed = append(s.claimed, regexp.MustCompile(escaped.Replace(m[1])))
		}
		path, body := r.Path, random.ReplaceAllString(moment.ReplaceAllString(string(r.Body), "TIME"), "RANDOM")
		if strings.Contains(path, "/git/") {
			path, body = objectID.ReplaceAllString(path, "ID"), objectID.ReplaceAllString(body, "ID")
		}
		o.calls = append(o.calls, fmt.Sprintf("%s %s?%s: %d\n%s", r.Method, path, r.Query.Encode(), r.Status, body))
	}
	for _, at := range s.claimed {
		for _, text := range []*string{&o.report, &o.summary, &o.log} {
			*text = at.ReplaceAllString(*text, "TIME")
		}
		for i := range o.calls {
			o.calls[i] = at.ReplaceAllString(o.calls[i], "TIME")
		}
	}
	return o
}

var (
	reserved = regexp.MustCompile(`\\"reserved_at\\": \\"([^"\\]+)\\"`)
	moment   = regexp.MustCompile(`\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	random   = regexp.MustCompile(`\b[0-9a-f]{32}\b`)
	objectID = regexp.MustCompile(`\b[0-9a-f]{40}\b`)
	escaped  = strings.NewReplacer("-", "(?:-|&#45;)", ":", "(?:[:]|&#58;)") // of a time, as the job summary has it
)

// step is the one of the checked-out workflow that uses the action.
func (s *site) step(t *testing.T) (uses string, with map[string]string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, ".github", "workflows", "handoff.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var w workflow
	if err := yaml.Unmarshal(data, &w); err != nil {
		t.Fatal(err)
	}
	for _, step := range w.Jobs["handoff"].Steps {
		if strings.HasPrefix(step.Uses, "handoff-gate/") {
			return step.Uses, step.With
		}
	}
	t.Fatal("the workflow does not use the action")
	return "", nil
}

func (s *site) uses(t *testing.T) string {
	t.Helper()
	uses, _ := s.step(t)
	return uses
}

// inputs are the variables in which the action gets what the workflow gives it.
func (s *site) inputs(t *testing.T) (env []string) {
	t.Helper()
	_, with := s.step(t)
	for name, value := range with {
		env = append(env, "INPUT_"+strings.ToUpper(name)+"="+value)
	}
	return env
}

// env puts a flag before each variable.
func env(flag string, variables []string) (args []string) {
	for _, v := range variables {
		args = append(args, flag, v)
	}
	return args
}
