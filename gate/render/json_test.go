package render

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

func jsonOf(t *testing.T, r *report.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// reportSchema compiles the published schema of the report.
func reportSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	f, err := os.Open("../../schema/report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.AssertVocabs()
	if err := c.AddResource("report.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestJSONGolden(t *testing.T) {
	golden(t, "fail.json", jsonOf(t, failing()))
	golden(t, "pass.json", jsonOf(t, passing()))
}

func TestJSONValidatesAgainstItsSchema(t *testing.T) {
	s := reportSchema(t)
	for name, r := range map[string]*report.Report{
		"passing": passing(), "failing": failing(), "skipped": skipped(), "large": large(30),
		"empty": made(), "nil findings": {SchemaVersion: "1", Tool: report.Tool{Name: "handoff-gate", Version: "dev"}, Verdict: report.Pass},
	} {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(jsonOf(t, r)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := s.Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Each row takes the failing report and breaks one promise of the schema.
func TestSchemaRefuses(t *testing.T) {
	s := reportSchema(t)
	layer := func(d map[string]any, i int) map[string]any {
		return d["projects"].([]any)[0].(map[string]any)["layers"].([]any)[i].(map[string]any)
	}
	project := func(d map[string]any) map[string]any { return d["projects"].([]any)[0].(map[string]any) }
	first := func(d map[string]any) map[string]any { return layer(d, 0)["findings"].([]any)[0].(map[string]any) }
	for name, breakIt := range map[string]func(map[string]any){
		"nothing broken":                   nil,
		"unknown member":                   func(d map[string]any) { d["duration"] = 3 },
		"member missing":                   func(d map[string]any) { delete(d, "head") },
		"abbreviated base":                 func(d map[string]any) { d["base"] = "1a2b3c4" },
		"upper-case base":                  func(d map[string]any) { d["base"] = strings.ToUpper(baseID) },
		"pass with a failed project":       func(d map[string]any) { d["verdict"] = "pass" },
		"fail without a failed project":    func(d map[string]any) { d["projects"] = []any{} },
		"project passes with failed layer": func(d map[string]any) { project(d)["verdict"] = "pass" },
		"ok layer with an error":           func(d map[string]any) { layer(d, 0)["status"] = "ok" },
		"warn layer with an error":         func(d map[string]any) { layer(d, 0)["status"] = "warn" },
		"skipped layer with findings":      func(d map[string]any) { layer(d, 0)["status"] = "skip" },
		"failed layer without an error":    func(d map[string]any) { layer(d, 0)["findings"] = []any{} },
		"warn layer without a warning":     func(d map[string]any) { layer(d, 2)["status"] = "warn" },
		"empty summary":                    func(d map[string]any) { layer(d, 2)["summary"] = "" },
		"findings missing":                 func(d map[string]any) { delete(layer(d, 2), "findings") },
		"error without remedy":             func(d map[string]any) { delete(first(d), "remedy") },
		"unknown severity":                 func(d map[string]any) { first(d)["severity"] = "fatal" },
		"line 0":                           func(d map[string]any) { first(d)["line"] = 0 },
		"column without line":              func(d map[string]any) { delete(first(d), "line"); first(d)["column"] = 3 },
		"end column without column":        func(d map[string]any) { first(d)["end_column"] = 3 },
		"rule without a group":             func(d map[string]any) { first(d)["rule"] = "mismatch" },
		"rule in upper case":               func(d map[string]any) { first(d)["rule"] = "Integrity/Mismatch" },
		"absolute path":                    func(d map[string]any) { first(d)["path"] = "/etc/passwd" },
		"control character in a message":   func(d map[string]any) { first(d)["message"] = "a\x1b[0m" },
		"level of another format":          func(d map[string]any) { project(d)["level"] = "packet" },
		"packet member elsewhere":          func(d map[string]any) { project(d)["packet"] = map[string]any{} },
		"no layer":                         func(d map[string]any) { project(d)["layers"] = []any{} },
	} {
		t.Run(name, func(t *testing.T) {
			var d map[string]any
			if err := json.Unmarshal(jsonOf(t, failing()), &d); err != nil {
				t.Fatal(err)
			}
			if breakIt != nil {
				breakIt(d)
			}
			if err := s.Validate(d); (err == nil) != (breakIt == nil) {
				t.Errorf("validate: %v", err)
			}
		})
	}
}

// A packet's project has one member more.
func TestSchemaTakesPackets(t *testing.T) {
	s := reportSchema(t)
	doc := `{"schema_version": "1", "tool": {"name": "handoff-gate", "version": "0.1.0"}, "verdict": "fail", "base": "", "head": "",
	"projects": [{"path": "packets/a.json", "format": "packet", "level": "packet", "verdict": "fail",
	  "layers": [{"id": "authority", "title": "Authority", "status": "fail", "summary": "an approval is missing", "findings": [
	    {"rule": "packet/approval-missing", "severity": "error", "path": "packets/a.json", "line": 3, "message": "m", "remedy": "r"}]}],
	  "packet": {"decision": "REJECT", "state": "blocked",
	    "reasons": [{"code": "approval_missing", "state": "blocked", "layer": "authority", "rule": "packet/approval-missing", "message": "m"}],
	    "handoff_id": "h-0001", "trace_id": "t-1", "idempotency_key": "demo:rev-7", "from": "alice", "to": "bob",
	    "packet_sha256": "00", "signature": "verified", "defaults_applied": [], "ledger": "none", "claim": null}}]}`
	for from, ok := range map[string]bool{
		"REJECT": true, "ACCEPT": false, "MAYBE": false,
	} {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.Replace(doc, `"REJECT"`, `"`+from+`"`, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); (err == nil) != ok {
			t.Errorf("%s: %v", from, err)
		}
	}
}

func TestJSONIsStable(t *testing.T) {
	a, b := jsonOf(t, hostile()), jsonOf(t, hostile())
	if !bytes.Equal(a, b) {
		t.Error("two runs differ")
	}
	if !bytes.HasSuffix(a, []byte("}\n")) {
		t.Error("no line feed at the end")
	}
	if bytes.Contains(jsonOf(t, failing()), []byte(`\u0026`)) {
		t.Error("HTML escapes")
	}
}

// What is printed is inert, and reads back as what was meant.
func FuzzJSON(f *testing.F) {
	for _, n := range evilNames {
		f.Add(n)
	}
	f.Add("##[x]##[##[\u009b\U000e0041\x7f")
	f.Fuzz(func(t *testing.T, s string) {
		r := made(report.Project{Path: "p", Layers: []report.Layer{report.Done("x", "x", s, nil)}})
		out := jsonOf(t, r)
		for _, c := range string(out) {
			if c != '\n' && unicode.In(c, unicode.Cc, unicode.Cf) {
				t.Errorf("%U stands raw in the document", c)
			}
		}
		if bytes.Contains(out, []byte("##[")) {
			t.Error("an old-style command")
		}
		var back report.Report
		if err := json.Unmarshal(out, &back); err != nil {
			t.Fatal(err)
		}
		if got := back.Projects[0].Layers[0].Summary; utf8.ValidString(s) && got != s {
			t.Errorf("%q came back as %q", s, got)
		}
	})
}
