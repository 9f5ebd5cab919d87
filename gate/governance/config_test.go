package governance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

func read(text string) *Config {
	return ReadConfig(gate.Document{Path: ConfigFile, State: gate.Present, Data: []byte(text)}, commands, nil)
}

// What makes a configuration invalid, where, and under which JSON Pointer.
func TestInvalid(t *testing.T) {
	deep := func(n int) string {
		return strings.Repeat(`{"check":`, n-1) + "{}" + strings.Repeat("}", n-1)
	}
	for _, tt := range []struct{ text, want string }{
		{"", "invalid-json 1 "},
		{" \n\n", "invalid-json 2 "},
		{"{\"a\": {},\n}", "invalid-json 2 "},
		{"{\n", "invalid-json 1 "},
		{"{'a': 1}", "invalid-json 1 "},
		{"{} {}", "invalid-json 1 "},
		{"{\"check\": {\"only\": [\"\\udc00\"]}}", "invalid-json 1 "},
		{"\n{\"claims\": 01}", "invalid-json 2 "},
		{deep(65), "invalid-json 1 "},
		{"null", "schema 1 "},
		{"[]", "schema 1 "},
		{"{\"claims\": [],\n\"claims\": []}", "duplicate-key 2 /claims"},
		{"{\"docLinks\": {\"a/~\": 1,\n\"a/~\": {\"x\": 1,\n\"x\": 2}}}", "duplicate-key 2 /docLinks/a~1~0, duplicate-key 3 /docLinks/a~1~0/x"},
		{"{\"claims\": 1, \"claims\": 2,}", "invalid-json 1 "}, // what is no JSON has no keys
		{"{\"check\": {\n\"only\": [\"claims\", \"Claims\"],\n\"skip\": [\"cli-source\", 1]}}", "schema 3 /check/skip/1, unknown-gate 2 /check/only/1, unknown-gate 3 /check/skip/0"},
		{"{\"check\": {\"only\": \"claims\"}}", "schema 1 /check/only"},
		{"{\"versionSites\": [{\n\"minOccurrences\": 0}]}", "schema 1 /versionSites/0, schema 2 /versionSites/0/minOccurrences"},
		{"{\"versionSites\": [{\"file\": \"a\", \"minOccurrences\": \"1\"}]}", "schema 1 /versionSites/0/minOccurrences"},
		{"{\"pinnedDep\": {\"location\": \"peer\"},\n\"Claims\": []}", "schema 1 /pinnedDep/location, schema 2 /Claims"},
		{"{\"docLinks\": []}", "schema 1 /docLinks"},
	} {
		var got []string
		c := read(tt.text)
		for _, p := range append(c.Problems, c.UnknownGates...) {
			if p.Finding.Path != ConfigFile || p.Finding.Severity != report.Error {
				t.Errorf("%q: %+v", tt.text, p)
			}
			got = append(got, fmt.Sprintf("%s %d %s", strings.TrimPrefix(p.Finding.Rule, "config/"), p.Finding.Line, p.Pointer))
			found(t, []report.Finding{p.Finding})
		}
		if s := strings.Join(got, ", "); s != tt.want {
			t.Errorf("%.80q: %s, want %s", tt.text, s, tt.want)
		}
		if len(c.VersionSites)+len(c.Claims) > 0 {
			t.Errorf("%q: an invalid configuration has sections", tt.text)
		}
	}
	if c := read(deep(64)); c.Valid("check") || strings.HasPrefix(c.Problems[0].Finding.Rule, "config/invalid") {
		t.Errorf("%+v", c.Problems)
	}
}

// doctor does not look at gate ids.
func TestValidFor(t *testing.T) {
	c := read(`{"check": {"only": ["nothing"]}}`)
	if c.Valid("check") || !c.Valid("doctor") {
		t.Error("an unknown gate is check's business alone")
	}
	if l, problems := c.Layer("doctor"); l.Status != report.OK || problems != nil {
		t.Errorf("%+v", l)
	}
	if l, problems := c.Layer("check"); l.Status != report.Failed || len(problems) != 1 {
		t.Errorf("%+v", l)
	}
}

func TestUnreadable(t *testing.T) {
	for _, doc := range []gate.Document{
		{State: gate.NotRegular, Err: fmt.Errorf("it is a folder")},
		{State: gate.TooLarge, Err: fmt.Errorf("it is larger than its limit")},
		{State: gate.Unreadable, Err: fmt.Errorf("permission denied")},
		{State: gate.Unreadable},
		{State: gate.Present, Data: make([]byte, gate.MaxConfig+1)},
	} {
		doc.Path = ConfigFile
		c := ReadConfig(doc, commands, nil)
		if len(c.Problems) != 1 || c.Problems[0].Finding.Rule != "config/unreadable" || c.Problems[0].Finding.Line != 0 {
			t.Errorf("%+v: %+v", doc.State, c.Problems)
		}
	}
	absent := ReadConfig(gate.Document{Path: ConfigFile}, commands, nil)
	if !absent.Valid("check") || absent.Present {
		t.Errorf("%+v", absent)
	}
}

// Messages propose the key that was probably meant, and nothing far away.
func TestProposals(t *testing.T) {
	for key, want := range map[string]string{
		"versionSite": "versionSites", "VERSIONSITES": "versionSites", "forbidenPaterns": "forbiddenPatterns",
		"doclink": "docLinks", "chek": "check", "checkers": "", "x": "", "trustTTL": "trustTtl",
	} {
		c := read(`{"` + key + `": 1}`)
		f := c.Problems[0].Finding
		if got := strings.Contains(f.Message, "did you mean"); got != (want != "") || !strings.Contains(f.Message+f.Remedy, want) || !strings.Contains(f.Message, "/"+key) {
			t.Errorf("%s: %s %s", key, f.Message, f.Remedy)
		}
	}
}

func TestDefaults(t *testing.T) {
	for _, c := range []*Config{read("{}"), ReadConfig(gate.Document{Path: ConfigFile}, commands, nil)} {
		if c.Freshness.Text != ".ai/handoff/NEXT_ACTIONS.md" || c.PinnedDep.Set || c.PinnedDep.Name != "@elvatis_com/aahp" || c.DocLinks != nil || c.Log != nil || c.Only != nil || c.Enforce {
			t.Errorf("%+v", c)
		}
	}
	c := read(`{"versionSites": [{"file": "a"}, {"file": "b", "minOccurrences": 1e400, "boundary": true, "note": "n"}],
		"claims": [{"id": "a", "canonical": "b", "advertised": 1.0, "phrase": "c", "surfaces": []}],
		"forbiddenPatterns": [{"pattern": "a"}, {"pattern": "b", "id": "", "message": "", "flags": "", "include": [], "exclude": ["x"]}],
		"docSync": [{"sources": []}], "docLinks": {}, "generate": {"log": {}}, "pinnedDep": {}, "verifyWorkflow": {"enforce": true}}`)
	if !c.Valid("check") {
		t.Fatalf("%+v", c.Problems)
	}
	for _, tt := range []struct{ got, want any }{
		{c.VersionSites[0].Min, 1},
		{c.VersionSites[1].Min, 1<<31 - 1},
		{c.Claims[0].Flags.Text, "gi"},
		{c.Claims[0].Advertised.Text, "1.0"},
		{c.ForbiddenPatterns[0].ID, "(unnamed)"},
		{c.ForbiddenPatterns[0].Flags.Text, "gm"},
		{c.ForbiddenPatterns[0].Message, "forbidden pattern"},
		{strings.Join(c.ForbiddenPatterns[0].Include, " "), "*.md *.mjs *.js *.json *.sh *.bash *.bats *.yml *.yaml *.txt"},
		{c.ForbiddenPatterns[1].Message, "forbidden pattern"},
		{c.ForbiddenPatterns[1].Flags.Text, ""},
		{c.ForbiddenPatterns[1].Configured, false},
		{c.DocSync[0].ID, "(unnamed)"},
		{strings.Join(c.DocLinks.Include, " "), "README.md CLAUDE.md CONTRIBUTING.md .ai/handoff/*.md"},
		{c.Log.Source.Text, "CHANGELOG.md"},
		{c.Log.Target == nil, true},
		{c.PinnedDep.Set && c.PinnedDep.Location == "devDependencies" && !c.PinnedDep.AllowRange, true},
		{c.Enforce, true},
	} {
		if tt.got != tt.want {
			t.Errorf("%v, want %v", tt.got, tt.want)
		}
	}
}

// A hostile file is read in time that grows with it, and lists a bounded number of
// problems.
func TestHostileConfig(t *testing.T) {
	many := "{" + strings.Repeat(`"a":{"`+strings.Repeat("k", 10)+`":1},`, 20_000) + `"a":1}`
	if n := len(read(many).Problems); n != maxEqualKeys {
		t.Errorf("%d problems", n)
	}
	long := `{"` + strings.Repeat("k", 500_000) + `": {` + strings.Repeat(`"a": 1, `, 50_000) + `"a": 1}}`
	for _, p := range read(long).Problems {
		if len(p.Pointer)+len(p.Finding.Message) > 2000 {
			t.Fatalf("%d bytes", len(p.Pointer))
		}
	}
}

func FuzzReadConfig(f *testing.F) {
	for _, s := range []string{`{}`, `{"check": {"only": ["claims"]}, "claims": []}`, `{"a":1,"a":2}`, "{\"docLinks\":\n{\"include\": [1]}}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := read(text)
		for _, p := range append(c.Problems, c.UnknownGates...) {
			if p.Finding.Line < 1 || p.Finding.Line > strings.Count(text, "\n")+1 || p.Finding.Message == "" {
				t.Errorf("%+v", p.Finding)
			}
		}
	})
}

// The predicate of section 3, row by row.
func TestApplies(t *testing.T) {
	everything := read(`{"versionSites": [{"file": "a"}], "claims": [{"id": "a", "canonical": "b", "advertised": 1, "phrase": "c", "surfaces": []}],
		"forbiddenPatterns": [{"pattern": "a"}], "docSync": [{"sources": []}], "docLinks": {}}`)
	empty := read(`{"versionSites": [], "claims": [], "forbiddenPatterns": [], "docSync": []}`)
	for _, tt := range []struct {
		name    string
		config  *Config
		present Present
		want    string
	}{
		{"nothing", empty, Present{}, ""},
		{"all files", empty, Present{true, true, true}, "changelog changelog-format handoff pinned-dep"},
		{"all sections", everything, Present{}, "claims forbidden-patterns schema-doc-sync doc-links"},
		{"all", everything, Present{true, true, true}, strings.Join(IDs, " ") + " pinned-dep"},
		{"package.json", everything, Present{Package: true}, "version-sync claims forbidden-patterns schema-doc-sync doc-links pinned-dep"},
		{"CHANGELOG.md", empty, Present{Changelog: true}, ""},
	} {
		var got []string
		for _, id := range append(IDs[:len(IDs):len(IDs)], PinnedDep) {
			if absent, applies := Applies(id, tt.config, tt.present); applies {
				got = append(got, id)
			} else if absent == "" {
				t.Errorf("%s: %s does not say why", tt.name, id)
			}
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, s, tt.want)
		}
	}
}

func TestRemoved(t *testing.T) {
	const claim = `"claims": [{"id": "a", "canonical": "b", "advertised": 1, "phrase": "c", "surfaces": []}]`
	for _, tt := range []struct{ name, base, work, want string }{
		{"nothing changed", `{` + claim + `, "check": {"skip": ["claims"]}}`, `{"check": {"skip": ["claims"]}}`, ""},
		{"a section gone", `{` + claim + `}`, "\n\n{}", "1 the gate claims"},
		{"a section emptied", `{` + claim + `}`, "{\n\"claims\":\n[]}", "2 the gate claims"},
		{"the file gone", `{"docLinks": {}, "versionSites": [{"file": "a"}]}`, "", "1 the gate version-sync, 1 the gate doc-links"},
		{"skipped", ``, "{\"check\":\n{\"skip\":\n[\"changelog\"]}}", "2 the gate changelog"},
		{"no longer among only", `{"docLinks": {}, "check": {"only": ["doc-links", "handoff"]}}`, "{\"docLinks\": {}, \"check\":\n{\"only\": [\"doc-links\", \"changelog\"]}}", "2 the gate handoff"},
		{"only what nothing selects", `{"docLinks": {}, "check": {"skip": ["changelog", "changelog-format", "handoff"]}}`, `{"docLinks": {}, "check": {"only": ["claims"]}}`, "1 the gate doc-links"},
		{"enforcement off", `{"verifyWorkflow": {"enforce": true}}`, "{\"verifyWorkflow\":\n{\"enforce\": false}}", "2 the enforcement of the gate verify-workflow"},
		{"enforcement emptied", `{"verifyWorkflow": {"enforce": true}}`, "{\n\"verifyWorkflow\": {}}", "2 the enforcement of the gate verify-workflow"},
		{"a pin gone", `{"pinnedDep": {}}`, `{}`, "1 the gate pinned-dep"},
		{"a journal gone", `{"generate": {"log": {"target": "x"}}}`, "{\n\"generate\": {}}", "2 the release journal of the gate handoff"},
		{"gates added", `{}`, `{"docLinks": {}, "verifyWorkflow": {"enforce": true}, "pinnedDep": {}}`, ""},
		{"an invalid base", `{"docLinks": {}, "x": 1}`, `{}`, ""},
		{"an invalid change", `{"docLinks": {}}`, `{`, ""},
	} {
		config := func(text string) *Config {
			if text == "" {
				return ReadConfig(gate.Document{Path: ConfigFile}, commands, nil)
			}
			return read(text)
		}
		var got []string
		for _, f := range Removed(config(tt.base), config(tt.work), commands) {
			what, _, _ := strings.Cut(strings.TrimPrefix(f.Message, "The base has "), " on, and")
			got = append(got, fmt.Sprintf("%d %s", f.Line, what))
			if f.Rule != "config/gate-removed" || f.Severity != report.Warning || f.Path != ConfigFile || f.Remedy == "" {
				t.Errorf("%s: %+v", tt.name, f)
			}
		}
		if s := strings.Join(got, ", "); s != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, s, tt.want)
		}
	}
}
