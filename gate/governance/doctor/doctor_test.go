package doctor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/governance"
	"github.com/handoff-gate/handoff-gate/gate/governance/doctor"
	"github.com/handoff-gate/handoff-gate/gate/internal/fake"
	"github.com/handoff-gate/handoff-gate/gate/render"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/schema"
)

const dir = gate.HandoffDir + "/"

// conforming is a project of which every gate of its own passes.
func conforming() map[string]string {
	entry := `{"checksum": "sha256:` + strings.Repeat("0", 64) + `", "updated": "2026-05-01T00:00:00Z", "lines": 1, "summary": "s"}`
	return map[string]string{
		dir + "STATUS.md":    "# Status\n",
		dir + "GROUNDING.md": "# Grounding\n",
		dir + "TRUST.md":     "| Property | Provenance |\n",
		dir + "MANIFEST.json": `{"aahp_version": "3.0", "project": "p", "last_session": {"agent": "a", "timestamp": "2026-05-01T00:00:00Z", "phase": "idle"},
"quick_context": "c", "files": {
"STATUS.md": ` + entry + `,
"GROUNDING.md": ` + entry + `,
"TRUST.md": ` + entry + `
}}`,
		"package.json":     "{\"name\": \"p\",\n\"devDependencies\": {\"@elvatis_com/aahp\": \"4.0.0\"}}\n",
		"aahp.config.json": `{"pinnedDep": {}}`,
	}
}

func judge(t *testing.T, tree fake.Tree, change func(*doctor.Input)) governance.Result {
	t.Helper()
	commands := gate.Commands{Regen: "handoff-gate manifest .", Again: "handoff-gate doctor ."}
	in := doctor.Input{
		Input: governance.Input{
			Project: ".", Work: tree, Now: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), Commands: commands, NoGit: errors.New("no repository"),
			Config: governance.ReadConfig(gate.ReadDocument(tree, governance.ConfigFile, gate.MaxConfig), commands, nil),
			Follow: func(p string) (string, bool, error) {
				_, err := tree.Stat(p)
				return p, false, err
			},
		},
		Repo: "unknown", Given: ".",
	}
	if change != nil {
		change(&in)
	}
	r, err := doctor.Judge(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range r.Gates {
		if g.ID != doctor.IDs[i] || g.Title == "" || g.Reason == "" {
			t.Errorf("%+v", g)
		}
		for _, f := range g.Findings {
			if f.Message == "" || !strings.Contains(f.Remedy, "\nfix: ") {
				t.Errorf("%+v", f)
			}
		}
	}
	return r
}

// found lists rules and places of one gate behind its outcome.
func found(r governance.Result, id string) string {
	for _, g := range r.Gates {
		if g.ID != id {
			continue
		}
		all := []string{g.Outcome.String()}
		for _, f := range g.Findings {
			all = append(all, fmt.Sprintf("%s %s:%d", strings.TrimPrefix(f.Rule, "doctor/"), strings.TrimPrefix(f.Path, dir), f.Line))
		}
		return strings.Join(all, " | ")
	}
	return "no such gate"
}

// Each case differs from a conforming project in one place.
func TestGates(t *testing.T) {
	link := fake.File{Kind: gate.Symlink, Data: "x"}
	for _, tt := range []struct {
		name, gate, want string
		change           func(map[string]string, fake.Tree)
	}{
		{"conforming", doctor.HandoffSet, "pass", nil},
		{"conforming", doctor.ManifestSchema, "pass", nil},
		{"conforming", doctor.Grounding, "pass", nil},
		{"conforming", governance.PinnedDep, "pass", nil},

		{"no manifest", doctor.HandoffSet, "fail | manifest-missing MANIFEST.json:0", func(_ map[string]string, t fake.Tree) { delete(t, dir+"MANIFEST.json") }},
		{"a link for a manifest", doctor.HandoffSet, "fail | manifest-invalid MANIFEST.json:0", func(_ map[string]string, t fake.Tree) { t[dir+"MANIFEST.json"] = link }},
		{"a link for a manifest", doctor.ManifestSchema, "fail | manifest-invalid MANIFEST.json:0", func(_ map[string]string, t fake.Tree) { t[dir+"MANIFEST.json"] = link }},
		{"a key twice", doctor.ManifestSchema, "fail | manifest-invalid MANIFEST.json:2", func(_ map[string]string, t fake.Tree) {
			t[dir+"MANIFEST.json"] = fake.File{Data: "{\"a\": 1,\n\"a\": 2}"}
		}},
		{
			"names that are none", doctor.HandoffSet, "fail | unsafe-index-name MANIFEST.json:2 | unsafe-index-name MANIFEST.json:3 | unsafe-index-name MANIFEST.json:4 | unsafe-index-name MANIFEST.json:5 | unsafe-index-name MANIFEST.json:6 | unsafe-index-name MANIFEST.json:7",
			func(_ map[string]string, t fake.Tree) {
				for name := range t {
					if strings.HasPrefix(name, dir) {
						delete(t, name)
					}
				}
				t[dir+"MANIFEST.json"] = fake.File{Data: "{\"files\": {\n\"\": 1,\n\"..\": 1,\n\"a/b\": 1,\n\"a\\\\b\": 1,\n\"C:x\": 1,\n\"a\\u0000\": 1}}"}
			},
		},
		{"an indexed folder", doctor.HandoffSet, "fail | indexed-file-missing MANIFEST.json:3", func(_ map[string]string, t fake.Tree) {
			delete(t, dir+"STATUS.md")
			t[dir+"STATUS.md/x"] = fake.File{}
		}},
		{"no index at all", doctor.HandoffSet, "fail | unindexed-file STATUS.md:1 | unindexed-file TRUST.md:1 | unindexed-file GROUNDING.md:1", func(_ map[string]string, t fake.Tree) { t[dir+"MANIFEST.json"] = fake.File{Data: "{}"} }},
		{"others beside the set", doctor.HandoffSet, "fail | stray-file .a.json:1 | stray-file NOTES.md:1 | stray-file link.md:1", func(_ map[string]string, t fake.Tree) {
			t[dir+"NOTES.md"], t[dir+".a.json"], t[dir+"link.md"] = fake.File{}, fake.File{}, link
			t[dir+".aiignore"], t[dir+"HANDOFF.lock"], t[dir+"sub/x.md"], t[dir+"NOTES.MD"] = fake.File{}, fake.File{}, fake.File{}, fake.File{}
		}},

		{"no grounding", doctor.Grounding, "fail | grounding-missing GROUNDING.md:0", func(_ map[string]string, t fake.Tree) { delete(t, dir+"GROUNDING.md") }},
		{"neither", doctor.Grounding, "fail | grounding-missing GROUNDING.md:0 | trust-missing TRUST.md:0", func(_ map[string]string, t fake.Tree) {
			delete(t, dir+"GROUNDING.md")
			delete(t, dir+"TRUST.md")
		}},
		{"a column of another name", doctor.Grounding, "fail | no-provenance-column TRUST.md:1", func(_ map[string]string, t fake.Tree) {
			t[dir+"TRUST.md"] = fake.File{Data: "| Provenances |\n| _Provenance |\n"}
		}},
		{"a column without end", doctor.Grounding, "fail | no-provenance-column TRUST.md:1", func(_ map[string]string, t fake.Tree) { t[dir+"TRUST.md"] = fake.File{Data: "| Provenance\n|\n"} }},
		{"an indented table", doctor.Grounding, "fail | no-provenance-column TRUST.md:1", func(_ map[string]string, t fake.Tree) { t[dir+"TRUST.md"] = fake.File{Data: " | Provenance |\n"} }},
		{"in any line and case", doctor.Grounding, "pass", func(_ map[string]string, t fake.Tree) {
			t[dir+"TRUST.md"] = fake.File{Data: "a\r\n|a|(PROVENANCE)|\r\n"}
		}},

		{"no package.json", governance.PinnedDep, "not-applicable", func(_ map[string]string, t fake.Tree) { delete(t, "package.json") }},
		{"no pinnedDep", governance.PinnedDep, "not-applicable", func(_ map[string]string, t fake.Tree) { delete(t, "aahp.config.json") }},
		{"no pinnedDep and no JSON", governance.PinnedDep, "not-applicable", func(_ map[string]string, t fake.Tree) {
			delete(t, "aahp.config.json")
			t["package.json"] = fake.File{Data: "{"}
		}},
		{"no JSON", governance.PinnedDep, "fail | version/package-json package.json:0", func(_ map[string]string, t fake.Tree) { t["package.json"] = fake.File{Data: "{"} }},
		{"itself", governance.PinnedDep, "self", func(_ map[string]string, t fake.Tree) {
			delete(t, "aahp.config.json")
			t["package.json"] = fake.File{Data: `{"name": "@elvatis_com/aahp"}`}
		}},
		{"not there", governance.PinnedDep, "missing | pin-missing package.json:0", func(_ map[string]string, t fake.Tree) {
			t["package.json"] = fake.File{Data: `{"dependencies": {"@elvatis_com/aahp": "4.0.0"}}`}
		}},
		{"an empty name is none", governance.PinnedDep, "missing | pin-missing package.json:0", func(_ map[string]string, t fake.Tree) {
			t["package.json"] = fake.File{Data: `{"devDependencies": {}}`} // which has no name either
			t["aahp.config.json"] = fake.File{Data: `{"pinnedDep": {"name": ""}}`}
		}},
		{"no block", governance.PinnedDep, "missing | pin-missing package.json:0", func(_ map[string]string, t fake.Tree) { t["package.json"] = fake.File{Data: `{"devDependencies": []}`} }},
		{"in either block", governance.PinnedDep, "pass", func(_ map[string]string, t fake.Tree) {
			t["package.json"] = fake.File{Data: `{"dependencies": {"x": "4.0.0-rc.1"}}`}
			t["aahp.config.json"] = fake.File{Data: `{"pinnedDep": {"name": "x", "location": "any"}}`}
		}},
		{"the first block counts", governance.PinnedDep, "fail | not-exact-pin package.json:1", func(_ map[string]string, t fake.Tree) {
			t["package.json"] = fake.File{Data: `{"dependencies": {"x": "4.0.0"}, "devDependencies": {"x": "4"}}`}
			t["aahp.config.json"] = fake.File{Data: `{"pinnedDep": {"name": "x", "location": "any"}}`}
		}},
		{"a range", governance.PinnedDep, "fail | not-exact-pin package.json:2", func(_ map[string]string, t fake.Tree) {
			t["package.json"] = fake.File{Data: "{\"devDependencies\":\n{\"@elvatis_com/aahp\": \"^4.0.0\"}}"}
		}},
		{"no text", governance.PinnedDep, "fail | not-exact-pin package.json:2", func(_ map[string]string, t fake.Tree) {
			t["package.json"] = fake.File{Data: "{\"devDependencies\": {\"@elvatis_com/aahp\":\n4}}"}
		}},
		{"a range is allowed", governance.PinnedDep, "pass", func(_ map[string]string, t fake.Tree) {
			t["package.json"] = fake.File{Data: `{"devDependencies": {"@elvatis_com/aahp": "^4.0.0"}}`}
			t["aahp.config.json"] = fake.File{Data: `{"pinnedDep": {"allowRange": true}}`}
		}},
	} {
		t.Run(tt.name+", "+tt.gate, func(t *testing.T) {
			files := conforming()
			tree := fake.Files(files)
			if tt.change != nil {
				tt.change(files, tree)
			}
			if got := found(judge(t, tree, nil), tt.gate); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// A placeholder of the template in a task names the command that removes it.
func TestPlaceholderNamesMigrate(t *testing.T) {
	files := conforming()
	files[dir+"MANIFEST.json"] = strings.Replace(files[dir+"MANIFEST.json"], `"project": "p"`, `"project": "[NAME]", "tasks": {"T-001": {"title": "[x]", "status": "ready", "created": "YYYY-MM-DD"}}`, 1)
	r := judge(t, fake.Files(files), nil)
	g := r.Gates[1]
	if len(g.Findings) != 1 || !strings.HasSuffix(g.Findings[0].Remedy, "\nfix: handoff-gate migrate . --yes") {
		t.Errorf("%+v", g.Findings)
	}
}

func TestUnlookedAndOmitted(t *testing.T) {
	tree := fake.Files(conforming())
	r := judge(t, tree, func(in *doctor.Input) { in.Governance = true })
	for i, g := range r.Gates {
		if unlooked := g.Outcome == governance.Unlooked; unlooked != (i < 3) {
			t.Errorf("%s: %s", g.ID, g.Outcome)
		}
	}
	r = judge(t, tree, func(in *doctor.Input) {
		in.Omit = map[string]string{doctor.Grounding: "a", governance.PinnedDep: "b", governance.VersionSync: "c"}
	})
	if got := r.Gates[2].Outcome.String() + r.Gates[3].Outcome.String() + r.Gates[5].Outcome.String(); got != "deselecteddeselecteddeselected" {
		t.Error(got)
	}
	if g := r.Gates[2]; g.Reason != "deselected by a" {
		t.Error(g.Reason)
	}
}

func TestInvalidConfiguration(t *testing.T) {
	tree := fake.Files(conforming())
	tree["aahp.config.json"] = fake.File{Data: `{"pinnedDeps": {}}`}
	r := judge(t, tree, nil)
	if r.Evaluated() != 0 || len(r.Problems) != 1 {
		t.Errorf("%+v", r)
	}
	for _, g := range r.Gates {
		if g.Outcome != governance.Unevaluated || len(g.Findings) > 0 {
			t.Errorf("%+v", g)
		}
	}
}

// Each record is valid by its schema.
func TestRecordFitsItsSchema(t *testing.T) {
	tree := fake.Files(conforming())
	broken := fake.Files(conforming())
	broken["aahp.config.json"] = fake.File{Data: `{"pinnedDeps": {}, "docLinks": []}`}
	for name, r := range map[string]governance.Result{
		"conforming":   judge(t, tree, nil),
		"--governance": judge(t, tree, func(in *doctor.Input) { in.Governance = true }),
		"invalid":      judge(t, broken, nil),
		"empty":        judge(t, fake.Tree{}, nil),
	} {
		facts := governance.Facts{Repo: "o/n", Tool: report.Tool{Name: "handoff-gate", Version: "1"}, Now: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)}
		if name == "--governance" {
			facts.Mode = "governance"
		}
		var b bytes.Buffer
		if err := render.Record(&b, r.Record(facts)); err != nil {
			t.Fatal(err)
		}
		if err := schema.Check(schema.Record, b.Bytes()); err != nil {
			t.Errorf("%s: %v\n%s", name, err, b.String())
		}
	}
}

// The gates that governance-skip may name are those of both commands, each once.
func TestGatesOfBothCommands(t *testing.T) {
	if got := strings.Join(doctor.Gates(), " "); got != "changelog changelog-format version-sync claims forbidden-patterns schema-doc-sync doc-links handoff handoff-set manifest-schema grounding pinned-dep verify-workflow cli-source" {
		t.Error(got)
	}
}
