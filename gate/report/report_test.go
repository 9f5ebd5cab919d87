package report

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestValidPath(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"docs/a b.md", "docs/a b.md"},
		{"docs/é.md", "docs/é.md"},
		{"a\nb", "a\nb"}, // valid UTF-8; renderers deal with it
		{"a\xffb", "a%FFb"},
		{"\xc3(", "%C3("},
		{"\xed\xa0\x80", "%ED%A0%80"},
		{"\ufffd", "\ufffd"}, // a real replacement character is no bad byte
	} {
		if got := ValidPath(tt.in); got != tt.want {
			t.Errorf("ValidPath(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func FuzzValidPath(f *testing.F) {
	f.Add("a\xffb")
	f.Add("docs/é.md")
	f.Fuzz(func(t *testing.T, p string) {
		got := ValidPath(p)
		if !utf8.ValidString(got) || utf8.ValidString(p) && got != p {
			t.Errorf("ValidPath(%q) = %q", p, got)
		}
	})
}

func TestSeverityRank(t *testing.T) {
	if !(Error.Rank() < Warning.Rank() && Warning.Rank() < Notice.Rank() && Notice.Rank() < Severity("").Rank()) {
		t.Error("severities rank from error to notice, and the unknown last")
	}
}

// ordered are findings in the order of a report: each differs from the one
// before in the next criterion.
var ordered = []Finding{
	{Path: "", Rule: "z/z"},
	{Path: "B", Rule: "z/z"}, // by bytes: upper case first
	{Path: "a", Rule: "a/b", Message: "no line is line 0"},
	{Path: "a", Rule: "a/a", Span: Span{Line: 2}},
	{Path: "a", Rule: "a/b", Message: "m", Span: Span{Line: 2}},
	{Path: "a", Rule: "a/b", Message: "n", Span: Span{Line: 2}},
	{Path: "a", Rule: "a/b", Message: "n", Span: Span{Line: 2, Column: 1}},
	{Path: "a", Rule: "a/b", Message: "n", Span: Span{Line: 2, Column: 1, EndLine: 3}},
	{Path: "a", Rule: "a/b", Message: "n", Span: Span{Line: 2, Column: 1, EndLine: 3, EndColumn: 1}},
	{Path: "a", Rule: "a/a", Span: Span{Line: 10}}, // a number, not a text
	{Path: "a/b", Rule: "a/a"},
	{Path: "é", Rule: "a/a"},
}

func TestSort(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		shuffled := append([]Finding(nil), ordered...)
		rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		Sort(shuffled)
		if !reflect.DeepEqual(shuffled, ordered) {
			t.Fatalf("sorted to %+v", shuffled)
		}
	}
}

func TestStatusFollowsFromFindings(t *testing.T) {
	e, w, n := Finding{Severity: Error}, Finding{Severity: Warning}, Finding{Severity: Notice}
	for _, tt := range []struct {
		findings []Finding
		want     Status
	}{
		{nil, OK},
		{[]Finding{n}, OK},
		{[]Finding{n, w}, Warn},
		{[]Finding{w, n, e}, Failed},
		{[]Finding{e}, Failed},
	} {
		if l := Done("id", "Title", "summary", tt.findings); l.Status != tt.want || l.Findings == nil {
			t.Errorf("%+v: status %q, findings %v; want %q and a list", tt.findings, l.Status, l.Findings, tt.want)
		}
	}
	l := Skipped("id", "Title", "why")
	l.Settle()
	if l.Status != Skip || l.Findings == nil || len(l.Findings) != 0 || l.Summary != "why" {
		t.Errorf("a skipped layer stays so, with an empty list: %+v", l)
	}
	l.Findings = append(l.Findings, e)
	if l.Settle(); l.Status != Failed {
		t.Errorf("a finding in a skipped layer counts: status %q", l.Status)
	}
	l = Unevaluated("id", "Title", "why")
	if l.Settle(); l.Status != Failed || len(l.Findings) != 0 || l.Summary != "NOT EVALUATED: why" {
		t.Errorf("a layer that was not evaluated stays failed without a finding: %+v", l)
	}
}

func TestFinish(t *testing.T) {
	r := Report{Projects: []Project{
		{Path: "p\xff", Layers: []Layer{
			{ID: "a", Findings: []Finding{{Path: "b", Severity: Warning}, {Path: "\xc3", Severity: Notice}}},
			Skipped("b", "B", "why"),
		}},
		{Path: "q", Layers: []Layer{{ID: "a", Findings: []Finding{{Severity: Error}}}}},
		{Path: "r"},
	}}
	r.Finish()
	if r.SchemaVersion != "1" || r.Verdict != Fail {
		t.Errorf("schema version %q, verdict %q", r.SchemaVersion, r.Verdict)
	}
	for i, want := range []Verdict{Pass, Fail, Pass} {
		if r.Projects[i].Verdict != want {
			t.Errorf("project %d: verdict %q, want %q", i, r.Projects[i].Verdict, want)
		}
	}
	p := r.Projects[0]
	if p.Path != "p%FF" || p.Layers[0].Status != Warn || p.Layers[1].Status != Skip {
		t.Errorf("project %+v", p)
	}
	// %C3 sorts before b, the byte 0xC3 after it: what is printed decides.
	if f := p.Layers[0].Findings; f[0].Path != "%C3" || f[1].Path != "b" {
		t.Errorf("findings %+v", f)
	}
	if got, want := r.Count(), (Counts{Errors: 1, Warnings: 1, Notices: 1}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	if got, want := p.Layers[0].Count(), (Counts{Warnings: 1, Notices: 1}); got != want {
		t.Errorf("counts of the layer %+v, want %+v", got, want)
	}
	if p.Layer("b") == nil || p.Layer("b").ID != "b" || p.Layer("none") != nil {
		t.Error("a layer is found by its id alone")
	}

	empty := Report{}
	empty.Finish()
	if b, _ := json.Marshal(empty); empty.Verdict != Pass || string(b) != `{"schema_version":"1","tool":{"name":"","version":""},"verdict":"pass","base":"","head":"","projects":[]}` {
		t.Errorf("an empty report is %s", b)
	}
	before, _ := json.Marshal(r)
	r.Finish()
	if after, _ := json.Marshal(r); string(after) != string(before) {
		t.Errorf("finishing twice changes the report:\n%s\n%s", before, after)
	}
}

func TestFindingAsJSON(t *testing.T) {
	for _, tt := range []struct {
		f    Finding
		want string
	}{
		{
			Finding{Rule: "a/b", Severity: Notice, Path: "p", Message: "m"},
			`{"rule":"a/b","severity":"notice","path":"p","message":"m"}`,
		},
		{
			Finding{Rule: "a/b", Severity: Error, Message: "m", Remedy: "r", Span: Span{Line: 1, EndLine: 2, Column: 3, EndColumn: 4}},
			`{"rule":"a/b","severity":"error","path":"","line":1,"end_line":2,"column":3,"end_column":4,"message":"m","remedy":"r"}`,
		},
	} {
		if b, err := json.Marshal(tt.f); err != nil || string(b) != tt.want {
			t.Errorf("%s (%v), want %s", b, err, tt.want)
		}
	}
}

// Every text that may quote the repository is rewritten, and the order follows it.
func TestRewrite(t *testing.T) {
	finding := func(path string) Finding {
		return Finding{Rule: "a/b", Severity: Error, Path: path, Message: "KEY in it", Remedy: "Drop KEY."}
	}
	r := Report{Projects: []Project{{
		Path: "KEY", Format: "packet", Level: "packet",
		Layers: []Layer{Done("drift", "Drift", "of KEY", []Finding{finding("KEY.md"), finding("L.md")})},
		Packet: &Packet{
			Decision: "REJECT", Reasons: []PacketReason{{Code: "field:KEY", Message: "field:KEY: is KEY"}}, HandoffID: "KEY", TraceID: "KEY",
			IdempotencyKey: "KEY", From: "KEY", To: "KEY", DefaultsApplied: []string{"KEY"},
		},
	}}}
	r.Finish()
	r.Rewrite(func(s string) string { return strings.ReplaceAll(s, "KEY", "Z") })
	data, err := json.Marshal(r)
	if err != nil || strings.Contains(string(data), "KEY") {
		t.Errorf("%v: %s", err, data)
	}
	if got := r.Projects[0].Layers[0].Findings[0].Path; got != "L.md" || r.Verdict != Fail {
		t.Errorf("the first finding is on %s, the verdict %s", got, r.Verdict)
	}
}
