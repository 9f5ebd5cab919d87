package governance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/fake"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

var (
	commands = gate.Commands{Again: "handoff-gate check ."}
	today    = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
)

// world is a project with everything in it tracked. Its links are followed by the
// text of their targets.
func world(tree fake.Tree) Input {
	return Input{
		Project: ".", Name: "folder", Work: tree, Now: today, Commands: commands, WithExec: "handoff-gate check . --allow-exec",
		Config: ReadConfig(gate.ReadDocument(tree, ConfigFile, gate.MaxConfig), commands, nil),
		Follow: func(p string) (string, bool, error) {
			for range 10 {
				e, err := tree.Stat(p)
				if err != nil || e.Kind != gate.Symlink {
					return p, false, err
				}
				target := tree[p].Data
				if strings.HasPrefix(target, "/") {
					return "", true, nil
				}
				if p = path.Join(path.Dir(p), target); strings.HasPrefix(p, "..") {
					return "", true, nil
				}
			}
			return "", false, fs.ErrNotExist
		},
		Tracked: func(_ context.Context, pathspecs []string) ([]string, error) {
			var list []string
			for p := range tree {
				if slices.ContainsFunc(pathspecs, func(spec string) bool {
					spec, literal := strings.CutPrefix(spec, ":(literal)")
					end, star := strings.CutPrefix(spec, "*")
					return p == spec || star && !literal && strings.HasSuffix(p, end)
				}) {
					list = append(list, p)
				}
			}
			slices.Sort(list)
			return list, nil
		},
	}
}

// run is the whole of check over a project, without executing anything.
func run(t *testing.T, in Input) Result {
	t.Helper()
	p, err := Check(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return p.Finish(slices.Repeat([]FloorResult{{NotRun: "execution is off"}}, len(p.Floors)))
}

// found lists findings as "RULE PATH:LINE", and fails for one without a message or
// a remedy that ends in a command.
func found(t *testing.T, findings []report.Finding) string {
	t.Helper()
	findings = slices.Clone(findings)
	report.Sort(findings)
	var list []string
	for _, f := range findings {
		s := f.Rule + " " + f.Path
		if f.Line > 0 {
			s += fmt.Sprint(":", f.Line)
		}
		list = append(list, s)
		if f.Message == "" || !strings.Contains(f.Remedy, "\nfix: handoff-gate check .") || strings.HasPrefix(f.Remedy, "\n") {
			t.Errorf("%s: %q, %q", s, f.Message, f.Remedy)
		}
	}
	return strings.Join(list, ", ")
}

// expect runs check and compares all findings.
func expect(t *testing.T, tree fake.Tree, want string) Result {
	t.Helper()
	r := run(t, world(tree))
	if got := found(t, r.Findings()); got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	return r
}

const changes = "# Changelog\n\n## [Unreleased]\n\n## [2.0.0] - 2026-02-01\n\n## [1.0.0] - 2026-01-01\n\n" +
	"[Unreleased]: https://example.com\n[2.0.0]: https://example.com\n[1.0.0]: https://example.com\n"

func TestTheOrderOfLayers(t *testing.T) {
	r := expect(t, fake.Files(map[string]string{"package.json": `{"version": "2.0.0"}`, "CHANGELOG.md": changes}), "")
	var got []string
	for _, l := range r.Layers() {
		got = append(got, l.ID+" "+string(l.Status))
	}
	want := "config skip, changelog ok, changelog-format ok, version-sync skip, claims skip, forbidden-patterns skip, schema-doc-sync skip, doc-links skip, handoff skip"
	if strings.Join(got, ", ") != want {
		t.Errorf("%s", got)
	}
	if r.Evaluated() != 2 || strings.Join(r.Footer(), "|") != "2 of 8 gate(s) ran" {
		t.Errorf("%d, %q", r.Evaluated(), r.Footer())
	}
}

// A run without a gate is no pass where check stands alone; with an invalid
// configuration that has errors enough.
func TestAlone(t *testing.T) {
	r := run(t, world(fake.Tree{"x": {}}))
	if r.Evaluated() != 0 || len(r.Findings()) != 0 {
		t.Errorf("%+v", r)
	}
	alone := r.Alone(NotEvaluated, ConfigFile, commands)
	if got := found(t, alone.Findings()); got != "check/not-evaluated aahp.config.json" || alone.Config.Status != report.Failed {
		t.Errorf("%s, %s", got, alone.Config.Status)
	}
	if got := strings.Join(alone.Footer(), "|"); got != "NOT EVALUATED: no gate ran, so nothing was proved|0 of 8 gate(s) ran" {
		t.Errorf("%s", got)
	}
	invalid := run(t, world(fake.Files(map[string]string{ConfigFile: "{"}))).Alone(NotEvaluated, ConfigFile, commands)
	if got := found(t, invalid.Findings()); got != "config/invalid-json aahp.config.json:1" {
		t.Errorf("%s", got)
	}
	for _, g := range invalid.Gates {
		if l := g.Layer(); l.Status != report.Failed || len(l.Findings) > 0 || !strings.HasPrefix(l.Summary, "NOT EVALUATED") {
			t.Errorf("%+v", l)
		}
	}
}

// What somebody else leaves out is named with who did.
func TestOmit(t *testing.T) {
	in := world(fake.Files(map[string]string{"package.json": `{"version": "2.0.0"}`, "CHANGELOG.md": "", ConfigFile: `{"check": {"skip": ["changelog"]}}`}))
	in.Omit = map[string]string{ChangelogFormat: "governance-skip"}
	r := run(t, in)
	if a, b := r.Gates[0], r.Gates[1]; a.Reason != "deselected by check.skip" || b.Reason != "deselected by governance-skip" || b.Outcome != Deselected {
		t.Errorf("%+v, %+v", a, b)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, config := range []string{`{"docLinks": {}}`, `{"forbiddenPatterns": [{"pattern": "x"}]}`} {
		in := world(fake.Files(map[string]string{ConfigFile: config, "README.md": "x"}))
		if _, err := Check(ctx, in); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", config, err)
		}
	}
}

// A gate that asks git says so when there is nobody to ask or git fails.
func TestGitThatDoesNotAnswer(t *testing.T) {
	in := world(fake.Files(map[string]string{
		"count.mjs": "",
		ConfigFile:  `{"docLinks": {}, "forbiddenPatterns": [{"pattern": "x"}], "claims": [{"id": "a", "canonical": "", "advertised": 1, "phrase": "(1)", "surfaces": [], "floorCmd": "count.mjs"}]}`,
	}))
	in.Tracked = func(context.Context, []string) ([]string, error) { return nil, errors.New("it broke") }
	want := "claims/floor-path aahp.config.json:1, claims/no-surfaces aahp.config.json:1, links/no-git aahp.config.json:1, patterns/no-git aahp.config.json:1"
	if got := found(t, run(t, in).Findings()); got != want {
		t.Errorf("%s", got)
	}
	in.Tracked, in.NoGit = nil, errors.New("no repository")
	if got := found(t, run(t, in).Findings()); got != want {
		t.Errorf("%s", got)
	}
	in.NoGit = nil
	if got := found(t, run(t, in).Findings()); got != want {
		t.Errorf("%s", got)
	}
}

// Every rule path is the repository's, also where the project is below it.
func TestAProjectInAFolder(t *testing.T) {
	tree := fake.Files(map[string]string{
		"pkg/package.json": `{"version": "3.0.0"}`, "pkg/CHANGELOG.md": changes,
		"pkg/aahp.config.json": "{\"versionSites\": [\n{\"file\": \"V\"},\n{\"file\": \"../V\"}]}", "pkg/V": "2.0.0", "V": "3.0.0",
	})
	in := world(tree)
	in.Project = "pkg"
	in.Config = ReadConfig(gate.ReadDocument(tree, "pkg/"+ConfigFile, gate.MaxConfig), commands, nil)
	want := "changelog/missing-version pkg/CHANGELOG.md:5, changelog/top-version pkg/CHANGELOG.md:5, version/mismatch pkg/V:1, config/path-escape pkg/aahp.config.json:3"
	if got := found(t, run(t, in).Findings()); got != want {
		t.Errorf("%s", got)
	}
}

// Files that the gates know by name may be links inside the repository.
func TestLinkedFiles(t *testing.T) {
	link := func(to string) fake.File { return fake.File{Kind: gate.Symlink, Data: to} }
	tree := fake.Files(map[string]string{"docs/changes.md": changes, "package.json": `{"version": "2.0.0"}`})
	tree["CHANGELOG.md"] = link("docs/changes.md")
	expect(t, tree, "")
	for to, why := range map[string]string{"gone.md": "to nothing", "../out.md": "leaves the repository", ".git/HEAD": "git's own folder", "docs": "a symbolic link"} {
		tree["CHANGELOG.md"] = link(to)
		tree[".git/HEAD"] = fake.File{Data: changes}
		r := expect(t, tree, "changelog/missing-version CHANGELOG.md:1, changelog/no-releases CHANGELOG.md:1")
		if m := r.Gates[0].Findings[0].Message; !strings.Contains(m, why) && to != "docs" {
			t.Errorf("%s: %s", to, m)
		}
	}
	// A link in the place of package.json counts as one that is there.
	delete(tree, "package.json")
	tree["package.json"] = link("gone.json")
	tree["CHANGELOG.md"] = fake.File{Data: changes}
	expect(t, tree, "version/package-json package.json, version/package-json package.json")
}
