package drift_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/drift"
	"github.com/handoff-gate/handoff-gate/gate/internal/fake"
	"github.com/handoff-gate/handoff-gate/gate/policy"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

const (
	status   = ".ai/handoff/STATUS.md"
	manifest = ".ai/handoff/MANIFEST.json"
	config   = "aahp.config.json"
)

var (
	baseID   = strings.Repeat("ab", 20)
	commands = gate.Commands{Regen: "handoff-gate manifest .", Again: "handoff-gate verify . --level ci --base " + baseID}
)

// start is the state of a small project before the change.
var start = fake.Files(map[string]string{
	status: "# Status\n\nOne.\n", manifest: "{\"files\": 1}\n", ".ai/handoff/LOG.md": "# Log\n",
	"README.md": "A project.\n", "src/app.js": "one\n", "docs/a.md": "a\n", "docs/b.md": "b\n",
})

// scene is a change to judge: three trees, of which unset ones are as the one
// before them.
type scene struct {
	level             gate.Level // ci if unset
	project           string
	base, head, index fake.Tree
	working           *gate.Document // aahp.config.json in the working tree; the new side's if unset
	from              policy.Source
	edit              func(*drift.Input)
}

func (s scene) input() drift.Input {
	if s.level == "" {
		s.level = gate.CI
	}
	if s.project == "" {
		s.project = "."
	}
	if s.base == nil {
		s.base = start
	}
	if s.head == nil {
		s.head = s.base
	}
	if s.index == nil {
		s.index = s.head
	}
	in := drift.Input{
		Project: s.project, Level: s.level, Repository: true, Commands: commands,
		Staged: fake.Compare(s.head, s.index), HeadTree: s.head,
	}
	if s.level == gate.Precommit {
		in.OldSide, in.NewSide = s.head, s.index
	} else {
		in.Base = gate.Base{ID: baseID, Source: "--base"}
		in.Changes = fake.Compare(s.base, s.head)
		in.OldSide, in.NewSide = s.base, s.index
	}
	if s.level == gate.CI {
		in.NewSide = s.head
	}
	path := gate.Join(s.project, config)
	newSide := gate.ReadDocument(in.NewSide, path, gate.MaxConfig)
	working := newSide
	if s.working != nil {
		working = *s.working
	}
	in.Policies = policy.Resolve(policy.Input{
		Level: s.level, Source: s.from, NewSide: newSide, Working: working,
		Base: gate.ReadDocument(in.OldSide, path, gate.MaxConfig), BaseAvailable: true,
	})
	if s.edit != nil {
		s.edit(&in)
	}
	return in
}

func text(data string) *fake.File { return &fake.File{Data: data} }

// change is a tree's copy with other contents; "-" removes a file.
func change(t fake.Tree, files ...string) fake.Tree {
	m := map[string]*fake.File{}
	for i := 0; i < len(files); i += 2 {
		m[files[i]] = text(files[i+1])
		if files[i+1] == "-" {
			m[files[i]] = nil
		}
	}
	return t.With(m)
}

// handoff updates the pair.
func handoff(t fake.Tree) fake.Tree { return change(t, status, "Two.\n", manifest, "{\"files\": 2}\n") }

// review is a policy with reviewed files.
func review(files ...string) string {
	var entries []string
	for _, f := range files {
		entries = append(entries, fmt.Sprintf("   {\"file\": %q, \"reason\": \" Reviewed, it says nothing. \"}", f))
	}
	return "{\n \"handoffImpact\": {\n  \"nonImpactingModifiedFiles\": [\n" + strings.Join(entries, ",\n") + "\n  ]\n }\n}\n"
}

// places gives rule, path and line of every finding.
func places(l report.Layer) []string {
	out := []string{}
	for _, f := range l.Findings {
		out = append(out, fmt.Sprintf("%s %s:%d", strings.TrimPrefix(f.Rule, "drift/"), f.Path, f.Line))
	}
	return out
}

// fired are the rules that some test has seen.
var fired = map[string]bool{}

// sound holds what every layer of a report promises.
func sound(t *testing.T, l report.Layer) {
	t.Helper()
	known := map[string]report.Severity{}
	for _, r := range drift.Rules {
		known[r.ID] = r.Severity
	}
	if l.Summary == "" || l.ID != "drift" {
		t.Errorf("layer %q, summary %q", l.ID, l.Summary)
	}
	for _, f := range l.Findings {
		fired[f.Rule] = true
		if known[f.Rule] != f.Severity && !strings.HasPrefix(f.Rule, "action/") {
			t.Errorf("%s has severity %s", f.Rule, f.Severity)
		}
		if f.Severity != report.Notice && f.Remedy == "" {
			t.Errorf("%s has no remedy", f.Rule)
		}
		last := f.Remedy[strings.LastIndexByte(f.Remedy, '\n')+1:]
		if (f.Severity == report.Error) != strings.HasPrefix(last, "fix: ") {
			t.Errorf("%s %s ends in %q", f.Severity, f.Rule, last)
		}
		if strings.ContainsFunc(f.Message+f.Remedy, func(r rune) bool { return r < ' ' && r != '\n' }) {
			t.Errorf("%s: control characters in %q", f.Rule, f.Message)
		}
	}
}

func check(t *testing.T, in drift.Input, want ...string) report.Layer {
	t.Helper()
	l := drift.Check(in)
	sound(t, l)
	if got := places(l); !reflect.DeepEqual(got, append([]string{}, want...)) {
		t.Errorf("got %v\nwant %v\n%s\n%v", got, want, l.Summary, l.Findings)
	}
	if again := drift.Check(in); !reflect.DeepEqual(again, l) {
		t.Error("a second run gives another layer")
	}
	return l
}

const stale = "handoff-not-updated " + status + ":0"

func TestVerdict(t *testing.T) {
	for _, tt := range []struct {
		name string
		s    scene
		want []string
	}{
		{"no change", scene{}, nil},
		{"only inside", scene{head: change(start, ".ai/handoff/LOG.md", "More.\n", ".ai/handoff/parts/ä \"q\"\n.md", "x")}, nil},
		{"outside without the handoff", scene{head: change(start, "src/app.js", "two\n")}, []string{stale}},
		{"outside with the handoff", scene{head: handoff(change(start, "src/app.js", "two\n"))}, nil},
		{"STATUS.md alone", scene{head: change(start, "src/app.js", "two\n", status, "Two.\n")}, []string{"handoff-not-updated " + manifest + ":0"}},
		{"MANIFEST.json alone", scene{head: change(start, "src/app.js", "two\n", manifest, "{}\n")}, []string{stale}},

		// 5.3: what counts as outside.
		{"a look-alike folder", scene{head: change(start, ".ai/handoff-notes.md", "x")}, []string{stale}},
		{"another letter case", scene{head: change(start, ".AI/handoff/STATUS.md", "x")}, []string{stale}},
		{"a folder before it", scene{head: change(start, "x/.ai/handoff/STATUS.md", "x")}, []string{stale}},
		{"elsewhere below .ai", scene{head: change(start, ".ai/other.md", "x")}, []string{stale}},
		{"a file in the folder's place", scene{base: fake.Files(map[string]string{"a": "a"}), head: fake.Files(map[string]string{"a": "a", ".ai/handoff": "x"})}, []string{stale}},
		{"an added file", scene{head: change(start, "new.js", "x")}, []string{stale}},
		{"a deleted file", scene{head: change(start, "README.md", "-")}, []string{stale}},
		{"an executable", scene{head: start.With(map[string]*fake.File{"src/app.js": {Data: "one\n", Exec: true}})}, []string{stale}},
		{"line ends of another file", scene{head: change(start, "src/app.js", "one\r\n")}, []string{stale}},
		{"a moved submodule", scene{
			base: start.With(map[string]*fake.File{"sub": {Data: "1", Kind: gate.Gitlink}}),
			head: start.With(map[string]*fake.File{"sub": {Data: "2", Kind: gate.Gitlink}}),
		}, []string{stale}},

		// 5.3: what counts as touched.
		{"the pair deleted", scene{head: change(start, "src/app.js", "two\n", status, "-", manifest, "-")}, []string{stale}},
		{"the pair copied away", scene{head: change(start, "docs/s.md", "# Status\n\nOne.\n", "docs/m.json", "{\"files\": 1}\n")}, []string{stale}},
		{"the pair moved away", scene{head: change(start, "s.md", "# Status\n\nOne.\n", status, "-", "m.json", "{\"files\": 1}\n", manifest, "-")}, []string{stale}},
		{"the pair's mode alone", scene{head: start.With(map[string]*fake.File{
			"src/app.js": text("two\n"), status: {Data: "# Status\n\nOne.\n", Exec: true}, manifest: {Data: "{\"files\": 1}\n", Exec: true},
		})}, []string{stale}},
		{"the pair's line ends alone", scene{head: change(start, "src/app.js", "two\n", status, "# Status\r\n\r\nOne.\r\n", manifest, "{\"files\": 1}\r\n")}, []string{stale}},
		{"CRs anywhere are no content", scene{head: change(start, "src/app.js", "two\n", status, "# St\ratus\n\nOne.\n", manifest, "{}\n")}, []string{stale}},
		{"mode and content", scene{head: start.With(map[string]*fake.File{
			"src/app.js": text("two\n"), status: {Data: "Two.\n", Exec: true}, manifest: text("{}\n"),
		})}, nil},
		{"the pair becomes links", scene{head: start.With(map[string]*fake.File{
			"src/app.js": text("two\n"), status: {Data: "x", Kind: gate.Symlink}, manifest: {Data: "y", Kind: gate.Symlink},
		})}, []string{stale}},
		{"links become the pair", scene{
			base: start.With(map[string]*fake.File{status: {Data: "x", Kind: gate.Symlink}, manifest: {Data: "y", Kind: gate.Gitlink}}),
			head: change(start, "src/app.js", "two\n"),
		}, nil},
		{"the pair is new", scene{base: fake.Files(map[string]string{"src/app.js": "one\n"}), head: start}, nil},
		{"another handoff file is not the pair", scene{head: change(start, "src/app.js", "two\n", ".ai/handoff/LOG.md", "x", ".ai/handoff/sub/STATUS.md", "x")}, []string{stale}},

		// Levels, and what is staged.
		{"ci: staged impacting, pair committed", scene{head: handoff(start), index: change(handoff(start), "new.js", "x")}, nil},
		{"ci: staged impacting alone", scene{index: change(start, "new.js", "x")}, []string{stale}},
		{"ci: staged pair does not count", scene{head: change(start, "src/app.js", "two\n"), index: handoff(change(start, "src/app.js", "two\n"))}, []string{stale}},
		{"full: staged pair counts", scene{level: gate.Full, head: change(start, "src/app.js", "two\n"), index: handoff(change(start, "src/app.js", "two\n"))}, nil},
		{"prepush: half committed, half staged", scene{level: gate.Prepush, head: change(start, "src/app.js", "two\n", status, "Two.\n"), index: change(start, "src/app.js", "two\n", status, "Two.\n", manifest, "{}\n")}, nil},
		{"full: staged impacting", scene{level: gate.Full, index: change(start, "new.js", "x")}, []string{stale}},
		{"precommit: staged", scene{level: gate.Precommit, index: change(start, "new.js", "x")}, []string{stale}},
		{"precommit: staged with the pair", scene{level: gate.Precommit, index: handoff(change(start, "new.js", "x"))}, nil},
		{"precommit: an unmerged pair", scene{level: gate.Precommit, index: change(start, "new.js", "x", manifest, "{}\n").With(map[string]*fake.File{status: {Data: "?", Kind: gate.Unmerged}})}, []string{stale}},
		{"precommit: first commit", scene{level: gate.Precommit, head: fake.Tree{}, index: start, edit: func(in *drift.Input) { in.HeadTree, in.OldSide = nil, nil }}, nil},
		{"precommit: first commit without the pair", scene{level: gate.Precommit, head: fake.Tree{}, index: fake.Files(map[string]string{"a": "a"}), edit: func(in *drift.Input) { in.HeadTree, in.OldSide = nil, nil }}, []string{stale}},
		{"root commit against the empty tree", scene{base: fake.Tree{}, head: start, edit: func(in *drift.Input) { in.Base = gate.Base{Empty: true} }}, nil},

		// Projects in a monorepo.
		{"another project's change", scene{project: "packages/api", head: change(start, "src/app.js", "two\n", "packages/api2/x", "x")}, nil},
		{"a project's own change", scene{project: "packages/api", head: change(start, "packages/api/x.js", "x", status, "Two.\n", manifest, "{}\n")}, []string{"handoff-not-updated packages/api/" + status + ":0"}},
		{"a project's own handoff", scene{project: "packages/api", head: change(start, "packages/api/x.js", "x", "packages/api/"+status, "Two.\n", "packages/api/"+manifest, "{}\n")}, nil},
		{"an inner project's handoff is outside", scene{head: change(start, "packages/api/"+status, "x")}, []string{stale}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := check(t, tt.s.input(), tt.want...)
			want := report.OK
			if len(tt.want) > 0 {
				want = report.Failed
			}
			if l.Status != want {
				t.Errorf("status %s", l.Status)
			}
		})
	}
}

func TestReviewedFiles(t *testing.T) {
	base := change(start, config, review("docs/a.md"))
	const reviewed, drifted = "reviewed-non-impacting docs/a.md:0", stale
	for _, tt := range []struct {
		name string
		s    scene
		want []string
	}{
		{"modified", scene{base: base, head: change(base, "docs/a.md", "A\n")}, []string{reviewed}},
		{"modified and staged once more", scene{base: base, head: change(base, "docs/a.md", "A\n"), index: change(base, "docs/a.md", "B\n")}, []string{reviewed}},
		{"modified beside another file", scene{base: base, head: change(base, "docs/a.md", "A\n", "docs/b.md", "B\n")}, []string{drifted, reviewed}},
		{"another letter case", scene{base: change(base, "docs/A.md", "a\n"), head: change(base, "docs/A.md", "A\n")}, []string{drifted}},
		{"not listed by the base", scene{head: change(start, config, review("docs/a.md"), "docs/a.md", "A\n")}, []string{drifted, "policy-changed " + config + ":0"}},
		{"listed by the head, which is applied", scene{from: policy.FromHead, head: change(start, config, review("docs/a.md"), "docs/a.md", "A\n")}, []string{drifted, reviewed}},
		{"deleted with its entry", scene{base: base, head: change(base, "docs/a.md", "-", config, "-")}, []string{drifted, "policy-changed " + config + ":0"}},
		{"executable", scene{base: base, head: base.With(map[string]*fake.File{"docs/a.md": {Data: "a\n", Exec: true}})}, []string{drifted, "reviewed-mode-change docs/a.md:0"}},
		{"executable, with the handoff", scene{base: base, head: handoff(base.With(map[string]*fake.File{"docs/a.md": {Data: "A\n", Exec: true}}))}, []string{"reviewed-mode-change docs/a.md:0"}},
		{"was added by this change", scene{base: change(start, config, review("docs/n.md"), "docs/n.md", "-"), head: change(start, config, review("docs/n.md"), "docs/n.md", "x")}, []string{drifted}},
		{"in a project", scene{
			project: "p", base: change(start, "p/"+config, review("docs/a.md"), "p/docs/a.md", "a\n"),
			head: change(start, "p/"+config, review("docs/a.md"), "p/docs/a.md", "A\n"),
		}, []string{"reviewed-non-impacting p/docs/a.md:0"}},

		// 5.4: the entries are proven, whether or not the change touches them.
		{"a folder", scene{level: gate.Full, base: change(start, config, review("docs"))}, []string{"reviewed-path-directory " + config + ":4"}},
		{"not tracked", scene{level: gate.Full, base: change(start, config, review("docs/b.md", "docs/no.md"))}, []string{"reviewed-path-untracked " + config + ":5"}},
		{"not tracked at ci", scene{base: change(start, config, review("docs/no.md"))}, []string{"reviewed-path-untracked " + config + ":4"}},
		{"deleted in the commit", scene{base: base, head: handoff(change(base, "docs/a.md", "-"))}, []string{"reviewed-path-untracked " + config + ":4"}},
		{"deletion staged, still in the head tree", scene{level: gate.Precommit, base: base, index: handoff(change(base, "docs/a.md", "-"))}, nil},
		{"a link", scene{base: base.With(map[string]*fake.File{"docs/a.md": {Data: "x", Kind: gate.Symlink}})}, []string{"reviewed-path-not-regular " + config + ":4"}},
		{"a submodule", scene{base: base.With(map[string]*fake.File{"docs/a.md": {Data: "x", Kind: gate.Gitlink}})}, []string{"reviewed-path-not-regular " + config + ":4"}},
		{"was a link in the base", scene{
			base: base.With(map[string]*fake.File{"docs/a.md": {Data: "x", Kind: gate.Symlink}}), head: handoff(base),
		}, []string{"reviewed-path-not-regular " + config + ":4"}},
		{"is a link in the head tree", scene{
			level: gate.Full, base: base, head: base.With(map[string]*fake.File{"docs/a.md": {Data: "x", Kind: gate.Symlink}}), index: handoff(base),
		}, []string{"reviewed-path-not-regular " + config + ":4"}},
		{"unmerged", scene{
			level: gate.Precommit, base: base, index: handoff(base).With(map[string]*fake.File{"docs/a.md": {Data: "x", Kind: gate.Unmerged}}),
		}, []string{"reviewed-path-not-regular " + config + ":4"}},
		{"one bad entry stops all reviews", scene{
			base: change(start, config, review("docs/a.md", "docs/no.md")), head: change(start, config, review("docs/a.md", "docs/no.md"), "docs/a.md", "A\n"),
		}, []string{drifted, "reviewed-path-untracked " + config + ":5"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := check(t, tt.s.input(), tt.want...)
			for _, f := range l.Findings {
				if f.Rule == "drift/reviewed-non-impacting" && f.Message != "Reviewed as non-impacting: Reviewed, it says nothing." {
					t.Errorf("message %q", f.Message)
				}
				if f.Rule == "drift/handoff-not-updated" && slices.Contains(tt.want, reviewed) && strings.Contains(f.Message, "docs/a.md") {
					t.Errorf("a reviewed file is listed: %q", f.Message)
				}
			}
		})
	}
}

func TestConfigFindings(t *testing.T) {
	sound := change(start, config, review("docs/a.md"))
	edit := func(t fake.Tree) fake.Tree { return change(t, "docs/a.md", "A\n") }
	doc := func(data string) *gate.Document {
		return &gate.Document{State: gate.Present, Entry: gate.Entry{Kind: gate.Regular}, Data: []byte(data)}
	}
	link := start.With(map[string]*fake.File{config: {Data: "x", Kind: gate.Symlink}})
	broken := "{\n \"handoffImpact\": {\n  \"nonImpactingModifiedFiles\": null,\n  \"x\": 1\n }\n}\n"
	for _, tt := range []struct {
		name string
		s    scene
		want []string
	}{
		{"untracked", scene{level: gate.Precommit, index: edit(start), working: doc(review("docs/a.md"))}, []string{stale, "config-untracked " + config + ":0"}},
		{"not regular", scene{level: gate.Precommit, base: link, index: edit(link)}, []string{stale, "config-not-regular " + config + ":0"}},
		{"unstaged", scene{level: gate.Precommit, base: sound, index: edit(sound), working: doc(review("docs/b.md"))}, []string{stale, "config-unstaged " + config + ":0"}},
		{"removed from the working tree", scene{level: gate.Precommit, base: sound, index: edit(sound), working: &gate.Document{}}, []string{stale, "config-unstaged " + config + ":0"}},
		{"line ends of the working tree", scene{level: gate.Precommit, base: sound, index: edit(sound), working: doc(strings.ReplaceAll(review("docs/a.md"), "\n", "\r\n"))}, []string{"reviewed-non-impacting docs/a.md:0"}},
		{"every broken rule", scene{level: gate.Precommit, index: handoff(change(start, config, broken))}, []string{"config-invalid " + config + ":3", "config-invalid " + config + ":4"}},
		{"broken in the head, sound in the base", scene{base: sound, head: change(edit(sound), config, broken)}, []string{stale, "policy-changed " + config + ":0", "config-invalid " + config + ":3", "config-invalid " + config + ":4"}},
		{"broken in the base, repaired with the handoff", scene{base: change(start, config, broken), head: handoff(sound)}, []string{"base-config-invalid " + config + ":0"}},
		{"broken in the base: nothing is exempt", scene{base: change(start, config, broken), head: edit(sound)}, []string{stale, "base-config-invalid " + config + ":0"}},
		{"a link in the base", scene{base: link, head: handoff(sound)}, []string{"base-config-invalid " + config + ":0"}},
		{"trustTtl alone is broken", scene{level: gate.Precommit, index: handoff(change(start, config, `{"trustTtl": 1}`))}, nil},
		{"trustTtl changed", scene{head: handoff(change(start, config, `{"trustTtl": {"enforce": true}}`))}, []string{"policy-changed " + config + ":0"}},
		{"another section changed", scene{head: handoff(change(start, config, `{"check": {}}`))}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) { check(t, tt.s.input(), tt.want...) })
	}
}

// After an error of the base nothing is compared, but what does not need one is
// proven all the same.
func TestNoBase(t *testing.T) {
	bad := change(start, config, review("docs"), "src/app.js", "two\n")
	for problem, rule := range map[gate.BaseProblem]string{
		gate.HeadMissing: "head-missing", gate.BaseRequired: "base-required", gate.BaseMalformed: "base-malformed",
		gate.BaseZero: "base-zero", gate.BaseMissing: "base-missing", gate.BaseIsHead: "base-is-head",
	} {
		s := scene{head: bad, edit: func(in *drift.Input) {
			in.Base = gate.Base{Problem: problem, Detail: "bad\x1b[31m" + strings.Repeat("x", 100), Shallow: true}
			in.OldSide, in.Changes = nil, nil
		}}
		l := check(t, s.input(), rule+" "+manifest+":0", "policy-changed "+config+":0", "reviewed-path-directory "+config+":4")
		if f := l.Findings[0]; !strings.Contains(f.Message, "bad[31m") || strings.Contains(f.Message, strings.Repeat("x", 80)) {
			t.Errorf("%s: %q", rule, f.Message)
		}
	}
	t.Run("base-missing in a shallow clone", func(t *testing.T) {
		l := drift.Check(scene{edit: func(in *drift.Input) { in.Base = gate.Base{Problem: gate.BaseMissing, Shallow: true} }}.input())
		if !strings.Contains(l.Findings[0].Remedy, "fetch") {
			t.Error(l.Findings)
		}
	})
	t.Run("what the event knows is said in its words", func(t *testing.T) {
		l := drift.Check(scene{edit: func(in *drift.Input) {
			in.Base = gate.Base{Problem: gate.BaseRequired, Message: "The event gollum has no base.", Remedy: "Pass the input base."}
		}}.input())
		f := l.Findings[0]
		if f.Message != "The event gollum has no base." || f.Remedy != "Pass the input base.\nfix: "+commands.Again {
			t.Errorf("%+v", f)
		}
	})
	t.Run("nobody chose a base", func(t *testing.T) {
		check(t, scene{edit: func(in *drift.Input) { in.Base = gate.Base{} }}.input(), "base-required "+manifest+":0")
	})
	t.Run("precommit needs none", func(t *testing.T) {
		check(t, scene{level: gate.Precommit, edit: func(in *drift.Input) { in.Base = gate.Base{Problem: gate.HeadMissing} }}.input())
	})
	t.Run("an error of the search for the base", func(t *testing.T) {
		given := report.Finding{Rule: "action/wrong-checkout", Severity: report.Error, Path: manifest, Message: "m", Remedy: "r\nfix: x"}
		l := check(t, scene{head: bad, edit: func(in *drift.Input) { in.Given = []report.Finding{given} }}.input(),
			"action/wrong-checkout "+manifest+":0", "policy-changed "+config+":0", "reviewed-path-directory "+config+":4")
		if l.Status != report.Failed {
			t.Error(l.Status)
		}
	})
	t.Run("a notice of it stops nothing", func(t *testing.T) {
		given := report.Finding{Rule: "action/base-moved", Severity: report.Notice, Path: manifest, Message: "m"}
		check(t, scene{head: change(start, "new.js", "x"), edit: func(in *drift.Input) { in.Given = []report.Finding{given} }}.input(),
			"action/base-moved "+manifest+":0", stale)
	})
}

func TestOutsideAndNothingToCompare(t *testing.T) {
	check(t, scene{edit: func(in *drift.Input) { in.Repository = false }}.input(), "not-a-repository "+manifest+":0")

	none := func(in *drift.Input) {
		in.NoChangeSet, in.Base, in.Changes = "a scheduled run has no change set", gate.Base{}, nil
	}
	l := check(t, scene{head: change(start, "new.js", "x"), edit: none}.input())
	if l.Status != report.Skip || l.Summary != "a scheduled run has no change set" {
		t.Errorf("%s: %s", l.Status, l.Summary)
	}
	// The policy is proven in a scheduled run too, and skip has no findings.
	l = check(t, scene{base: change(start, config, review("docs")), edit: none}.input(), "reviewed-path-directory "+config+":4")
	if l.Status != report.Failed {
		t.Errorf("%s: %s", l.Status, l.Summary)
	}
}

// What cannot be compared is an error of its own, never an empty change set.
func TestDiffFailed(t *testing.T) {
	lost := errors.New("this clone lacks the object\n\x1b[2J")
	const failed = "diff-failed " + manifest + ":0"
	head := handoff(change(start, "src/app.js", "two\n"))
	withConfig := change(start, config, review("docs/a.md"))
	for name, s := range map[string]scene{
		"git failed":        {edit: func(in *drift.Input) { in.Changes, in.DiffErr = nil, lost }},
		"no head tree":      {edit: func(in *drift.Input) { in.HeadTree = nil }},
		"no new side":       {edit: func(in *drift.Input) { in.NewSide = nil }},
		"the old STATUS.md": {base: start.With(map[string]*fake.File{status: {Data: "old", Lost: lost}}), head: head},
		"the new STATUS.md": {head: head.With(map[string]*fake.File{status: {Data: "new", Lost: lost}})},
		"the base's policy": {base: withConfig.With(map[string]*fake.File{config: {Data: "old", Lost: lost}}), head: change(withConfig, "docs/a.md", "A\n")},
		"the head's policy": {head: start.With(map[string]*fake.File{config: {Data: "new", Lost: lost}})},
		"a tree of an entry": {base: withConfig, edit: func(in *drift.Input) {
			in.OldSide = withConfig.With(map[string]*fake.File{"docs/a.md": {Err: lost}})
			in.DiffErr = nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			l := check(t, s.input(), failed)
			if l.Status != report.Failed {
				t.Error(l.Status)
			}
		})
	}
	// Nothing is read where nothing depends on it.
	check(t, scene{
		base: start.With(map[string]*fake.File{status: {Data: "old", Lost: lost}}),
		head: start.With(map[string]*fake.File{status: {Data: "new", Lost: lost}}),
	}.input())
	// The head's policy alone decides where it is the one applied.
	check(t, scene{
		from: policy.FromHead, base: withConfig.With(map[string]*fake.File{config: {Data: "old", Lost: lost}}), head: handoff(withConfig),
	}.input())
}

func TestListOfChanges(t *testing.T) {
	message := func(s scene) string {
		l := drift.Check(s.input())
		sound(t, l)
		for _, f := range l.Findings {
			if f.Rule == "drift/handoff-not-updated" {
				return f.Message
			}
		}
		t.Fatal("no finding")
		return ""
	}
	got := message(scene{
		base: start.With(map[string]*fake.File{"link": {Data: "a"}, "run.sh": text("x\n"), "old name": text("moved\n"), "gone": text("gone\n")}),
		head: start.With(map[string]*fake.File{
			"link": {Data: "a", Kind: gate.Symlink}, "run.sh": {Data: "x\n", Exec: true}, "src/x.go": text("x"),
			"new\nna\x1bme": text("moved\n"), "\xff": text("bytes"),
		}),
		index: start.With(map[string]*fake.File{
			"link": {Data: "a", Kind: gate.Symlink}, "run.sh": {Data: "x\n", Exec: true}, "src/x.go": text("x"),
			"new\nna\x1bme": text("moved\n"), "\xff": text("bytes"), "staged": text("s"),
		}),
	})
	want := `Handoff-impacting files changed but handoff state did not: no new content in STATUS.md and MANIFEST.json. Impacting changes:
D gone
T link
R old name -> newname
M run.sh (mode 100644 -> 100755)
A src/x.go
A %FF
A staged (staged, not committed)`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}

	many := fake.Tree{}
	for i := range 50 {
		many[fmt.Sprintf("f%02d", i)] = fake.File{Data: fmt.Sprint(i)}
	}
	got = message(scene{base: fake.Tree{}, head: many})
	if lines := strings.Split(got, "\n"); len(lines) != 22 || lines[1] != "A f00" || lines[20] != "A f19" || lines[21] != "and 30 more" {
		t.Errorf("got\n%s", got)
	}
	moved := fake.Tree{}
	for i := range 14 {
		moved[fmt.Sprintf("g%02d", i)] = fake.File{Data: fmt.Sprint(i)}
	}
	got = message(scene{base: many, head: moved})
	if lines := strings.Split(got, "\n"); len(lines) != 22 || lines[1] != "R f00 -> g00" || lines[21] != "and 30 more" {
		t.Errorf("got\n%s", got)
	}
	got = message(scene{project: "p", base: fake.Tree{}, head: fake.Files(map[string]string{"p/a/b.js": "x"})})
	if !strings.HasSuffix(got, "\nA a/b.js") {
		t.Errorf("got\n%s", got)
	}
}

func TestRemedyOfTheVerdict(t *testing.T) {
	in := scene{project: "my app", head: change(start, "my app/x", "x")}.input()
	l := drift.Check(in)
	if f := l.Findings[0]; !strings.HasSuffix(f.Remedy, "\nfix: handoff-gate manifest . && git add 'my app/.ai/handoff'") {
		t.Errorf("%q", f.Remedy)
	}
	in.Commands.Handoff = "../my-app/.ai/handoff"
	if f := drift.Check(in).Findings[0]; !strings.HasSuffix(f.Remedy, " && git add ../my-app/.ai/handoff") {
		t.Errorf("%q", f.Remedy)
	}
}

var update = flag.Bool("update", false, "rewrite the golden reports")

// TestGolden compares whole layers, as bytes, with testdata/reports.
func TestGolden(t *testing.T) {
	for name, s := range map[string]scene{
		"drifted": {
			base: change(start, config, review("docs/a.md")),
			head: change(start, config, review("docs/a.md", "docs/b.md"), "docs/a.md", "A\n", "docs/b.md", "B\n", "src/app.js", "-", "src/main.js", "one\n"),
		},
		"repaired": {
			base: change(start, config, review("docs/a.md")),
			head: handoff(change(start, config, review("docs/a.md", "docs/b.md"), "docs/a.md", "A\n", "docs/b.md", "B\n", "src/app.js", "-", "src/main.js", "one\n")),
		},
		"no-base":     {level: gate.CI, edit: func(in *drift.Input) { in.Base = gate.Base{Problem: gate.BaseMalformed, Detail: "HEAD~1"} }},
		"npm-granted": {base: lockStart(t), head: change(npmStart, "package-lock.json", edited(t, nil))},
		"npm-refused": {base: lockStart(t), head: change(npmStart, "package-lock.json", edited(t, func(l, _ obj) { tool(l)["hasInstallScript"] = true; delete(tool(l), "integrity") }))},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := json.MarshalIndent(drift.Check(s.input()), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			file := filepath.Join("testdata", "reports", name+".json")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Errorf("%s differs; got\n%s", file, got)
			}
		})
	}
}

// Every rule is complete, and no two share an id.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range drift.Rules {
		if seen[r.ID] || !strings.HasPrefix(r.ID, "drift/") || r.Title == "" || r.Why == "" || r.Remedy == "" || r.Example == "" || r.Severity == "" {
			t.Errorf("rule %+v", r)
		}
		seen[r.ID] = true
	}
	if len(seen) != 35 {
		t.Errorf("%d rules", len(seen))
	}
}

// large is a change set of n modified files.
func large(n int) drift.Input {
	in := scene{base: change(start, config, review("docs/a.md"))}.input()
	id, other := strings.Repeat("1", 40), strings.Repeat("2", 40)
	for i := range n {
		in.Changes = append(in.Changes, gate.Change{Status: 'M', Path: fmt.Sprintf("src/package%03d/file%05d.go", i%300, i), OldMode: 0o100644, NewMode: 0o100644, OldID: id, NewID: other})
	}
	return in
}

// A change is sorted without allocating for it.
func TestNoAllocationPerChange(t *testing.T) {
	few, many := large(100), large(20_000)
	a := testing.AllocsPerRun(3, func() { drift.Check(few) })
	b := testing.AllocsPerRun(3, func() { drift.Check(many) })
	// What runs beside the test allocates too, now and then.
	if b > a+1000 {
		t.Errorf("%v allocations for 100 changes, %v for 20,000", a, b)
	}
}

func BenchmarkCheck50000(b *testing.B) {
	in := large(50_000)
	b.ReportAllocs()
	for b.Loop() {
		drift.Check(in)
	}
}
