package governance

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/handoff-gate/handoff-gate/gate/internal/fake"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/schema"
)

var facts = Facts{Repo: "o/n", Tool: report.Tool{Name: "handoff-gate", Version: "0.1.0"}, Now: time.Date(2026, 1, 31, 13, 0, 0, 5, time.FixedZone("", 3600))}

// The record fits its schema whatever check found, and keeps the order of the gates.
func TestRecord(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"empty":   {"x": ""},
		"fine":    {"package.json": `{"version": "2.0.0"}`, "CHANGELOG.md": changes},
		"failing": {"package.json": `{"version": "2.0.1"}`, "CHANGELOG.md": changes, ConfigFile: `{"claims": [{"id": "a", "canonical": "b", "advertised": 1, "phrase": "(c)", "surfaces": []}]}`},
		"invalid": {ConfigFile: "{\"claims\": 1,\n\"x\": 2}"},
		"broken":  {ConfigFile: "{"},
	} {
		r := run(t, world(fake.Files(files)))
		text, err := json.Marshal(r.Record(facts))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Check(schema.Record, text); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
		last := -1
		for _, id := range IDs {
			i := strings.Index(string(text), `"`+id+`":"`)
			if i <= last {
				t.Errorf("%s: %s is out of order", name, id)
			}
			last = i
		}
		if name == "invalid" && !strings.Contains(string(text), `"config":{"valid":false,"errors":[{"path":"/claims","message":`) {
			t.Errorf("%s", text)
		}
		if name == "broken" && !strings.Contains(string(text), `"errors":[{"path":"",`) {
			t.Errorf("%s", text)
		}
	}
	r := run(t, world(fake.Files(map[string]string{"package.json": `{"version": "2.0.0"}`, "CHANGELOG.md": changes})))
	text, err := json.MarshalIndent(r.Record(facts), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if want := `{
 "schemaVersion": 2,
 "command": "check",
 "repo": "o/n",
 "aahpVersion": "4.0.0",
 "tool": {
  "name": "handoff-gate",
  "version": "0.1.0"
 },
 "gates": {
  "changelog": "pass",
  "changelog-format": "pass",
  "version-sync": "skip",`; !strings.HasPrefix(string(text), want) {
		t.Errorf("%s", text)
	}
	if want := ` "evaluated": 2,
 "total": 8,
 "checkedAt": "2026-01-31T12:00:00Z"
}`; !strings.HasSuffix(string(text), want) {
		t.Errorf("%s", text)
	}
}

// The table of outcomes (6.1) with the status of the layer of each.
func TestOutcomes(t *testing.T) {
	bad := []report.Finding{{Severity: report.Error, Message: "m"}}
	doubtful := []report.Finding{{Severity: report.Warning, Message: "m"}}
	for _, tt := range []struct {
		gate Gate
		want string
	}{
		{Judged("a", "A", "r", nil), "pass pass ok true"},
		{Judged("a", "A", "r", bad), "fail fail fail true"},
		{Judged("a", "A", "r", append(doubtful, bad...)), "fail fail fail true"},
		{Judged("a", "A", "r", doubtful), "advisory advisory warn true"},
		{Gate{Outcome: Missing, Findings: bad}, "missing missing fail true"},
		{Gate{Outcome: Self}, "self self ok true"},
		{Gate{Outcome: NotApplicable}, "skip not-applicable skip false"},
		{Gate{Outcome: Deselected}, "skip deselected skip false"},
		{Gate{Outcome: Unlooked}, "skip unevaluated skip false"},
		{Gate{Outcome: Unevaluated}, "unevaluated unevaluated fail false"},
	} {
		o := tt.gate.Outcome
		got := outcomes[o].gate + " " + o.String() + " " + string(tt.gate.Layer().Status) + " " + map[bool]string{true: "true", false: "false"}[o.Ran()]
		if got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}

func TestRepoName(t *testing.T) {
	for url, want := range map[string]string{
		"https://github.com/o/n":                   "o/n",
		"git+https://github.com/o/n.git":           "o/n",
		"git@github.com:o/n.git":                   "o/n",
		"ssh://git@github.com/o/n.js.git":          "o/n.js",
		"https://user:secret@github.com/o/n.git":   "o/n",
		"https://www.github.com/o/n/tree/main/pkg": "o/n",
		"https://github.com/o/n.git#v1":            "o/n",
		"https://github.com/o/n/":                  "o/n",
		"https://notgithub.com/o/n":                "",
		"https://my-github.com/o/n":                "",
		"https://gitlab.com/o/n":                   "",
		"github:o/n":                               "",
		"https://github.com/o":                     "",
		"https://github.com//n":                    "",
		"https://github.com/o/..":                  "",
		"https://github.com/o/n\u202e":             "",
		"":                                         "",
	} {
		if got := RepoName(url); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}
