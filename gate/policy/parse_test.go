package policy_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/policy"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// present is the file with the given bytes.
func present(text string) gate.Document {
	return gate.Document{Path: policy.ConfigFile, State: gate.Present, Entry: gate.Entry{Kind: gate.Regular}, Data: []byte(text)}
}

func TestSoundFile(t *testing.T) {
	const text = `{
  "check": {"only": ["claims"]},
  "handoffImpact": {
    "nonImpactingModifiedFiles": [
      {"file": ".github/dependabot.yml", "reason": "  Only a schedule. "},
      {
        "reason": "理由",
        "file": "docs/a b+c@d_e-f.md"
      }
    ],
    "npmDevDependencyUpdates": {
      "reason": "Registry-pinned tools.",
      "supplyChainScan": {"workflow": ".github/workflows/ci.yml", "job": "scan"}
    }
  },
  "trustTtl": {
    "enforce": true,
    "graceDays": 1.4e1,
    "checks": [{"id": "lint-0", "run": ["sh", "-c", "exit 0"], "reason": "It \u006cints."}]
  }
}
`
	c := policy.Parse(present(text))
	want := policy.Policy{
		Reviewed: []policy.ReviewedFile{
			{File: ".github/dependabot.yml", Reason: "  Only a schedule. ", Span: report.Span{Line: 5, Column: 16, EndColumn: 40}},
			{File: "docs/a b+c@d_e-f.md", Reason: "理由", Span: report.Span{Line: 8, Column: 17, EndColumn: 38}},
		},
		NPM: &policy.NPMUpdates{
			Reason: "Registry-pinned tools.", Workflow: ".github/workflows/ci.yml", Job: "scan",
			Span: report.Span{Line: 13, Column: 7, EndColumn: 24},
		},
		Trust: policy.Trust{
			Enforce: true, GraceDays: 14,
			Checks: []policy.DeclaredCheck{{ID: "lint-0", Run: []string{"sh", "-c", "exit 0"}, Reason: "It lints."}},
		},
	}
	if len(c.Problems) != 0 || !reflect.DeepEqual(c.Policy, want) {
		t.Errorf("got %+v with %v\nwant %+v", c.Policy, c.Problems, want)
	}
	if !c.HandoffImpact.Is(jsondoc.Object) || !c.TrustTTL.Is(jsondoc.Object) {
		t.Error("the sections as written are not kept")
	}
}

func TestAbsentFileAndSections(t *testing.T) {
	for name, doc := range map[string]gate.Document{
		"absent":        {},
		"link":          {State: gate.NotRegular, Entry: gate.Entry{Kind: gate.Symlink}},
		"empty object":  present(" {} \n"),
		"other keys":    present(`{"handoffimpact": 1, "trustTTL": null}`),
		"empty trust":   present(`{"trustTtl": {}}`),
		"nothing named": present(`{"handoffImpact": {"nonImpactingModifiedFiles": []}}`),
	} {
		c := policy.Parse(doc)
		c.Policy.Reviewed = append([]policy.ReviewedFile(nil), c.Policy.Reviewed...)
		if len(c.Problems) != 0 || !reflect.DeepEqual(c.Policy, policy.BuiltIn()) {
			t.Errorf("%s: got %+v with %v", name, c.Policy, c.Problems)
		}
	}
}

// entry puts one entry into a file around it; the entry is on line 3.
func entry(text string) string {
	return "{\"handoffImpact\": {\"nonImpactingModifiedFiles\": [\n\n" + text + "\n]}}"
}

func file(name string) string { return entry(`{"file": ` + name + `, "reason": "r"}`) }

func npm(text string) string {
	return "{\"handoffImpact\": {\"npmDevDependencyUpdates\":\n\n" + text + "\n}}"
}

func scan(workflow, job string) string {
	return npm(fmt.Sprintf(`{"reason": "r", "supplyChainScan": {"workflow": %s, "job": %s}}`, workflow, job))
}

func ttl(text string) string { return "{\"trustTtl\":\n\n" + text + "\n}" }

func check(text string) string { return ttl(`{"checks": [` + text + `]}`) }

// TestRefused has one row for each thing that a file may not be or hold. Every
// problem is on line 3, or the row says where.
func TestRefused(t *testing.T) {
	const whole, impact, trust = policy.WholeFile, policy.HandoffImpact, policy.TrustTTL
	for _, tt := range []struct {
		name    string
		text    string
		section policy.Section
		line    int
		says    string
	}{
		// 3.1: the whole file.
		{"empty file", "", whole, 1, "too early"},
		{"early end", "{\"a\": [\n1,\n2\n", whole, 3, "too early"},
		{"byte order mark", "\ufeff{}", whole, 1, "byte order mark"},
		{"comment", "{\n// why\n}", whole, 2, ""},
		{"trailing comma", "{\"a\": {},\n}", whole, 2, ""},
		{"NaN", "\n\n{\"a\": NaN}", whole, 3, ""},
		{"infinity", "\n\n{\"a\": -Infinity}", whole, 3, ""},
		{"bad UTF-8", "\n\n{\"a\": \"\xff\"}", whole, 3, "UTF-8"},
		{"lone surrogate", "\n\n{\"a\": \"\\udc00\"}", whole, 3, "surrogate"},
		{"equal keys", "{\"a\": 1,\n \"b\": 2,\n \"a\": 3}", whole, 3, `the key "a" twice`},
		{"equal keys by escape, deep", "{\"x\": [{\"key\": 1,\n\n\"k\\u0065y\": 2}]}", whole, 3, `"key" twice`},
		{"top level array", "\n\n[]", whole, 3, "an array"},
		{"top level null", "\n\nnull", whole, 3, "holds null"},
		{"nested too deep", "\n\n" + strings.Repeat("[", 65), whole, 3, "64"},
		{"second document", "{}\n\n{}", whole, 3, ""},

		// 3.2: handoffImpact.
		{"section null", "{\"handoffImpact\":\n\nnull}", impact, 3, "is null"},
		{"section empty", "{\"handoffImpact\":\n\n{}}", impact, 3, "neither"},
		{"section with another key", "{\"handoffImpact\": {\"nonImpactingModifiedFiles\": [],\n\n\"files\": []}}", impact, 3, `"files"`},
		{"list null", "{\"handoffImpact\": {\"nonImpactingModifiedFiles\":\n\nnull}}", impact, 3, "is null"},
		{"entry a string", entry(`"a.md"`), impact, 3, "[0] is a string"},
		{"entry without reason", entry(`{"file": "a.md"}`), impact, 3, `lacks the key "reason"`},
		{"entry without file", entry(`{"reason": "r"}`), impact, 3, `lacks the key "file"`},
		{"entry with another key", entry(`{"file": "a.md", "reason": "r", "until": 1}`), impact, 3, `"until"`},
		{"file a number", file(`1`), impact, 3, "a number"},
		{"file empty", file(`""`), impact, 3, "empty"},
		{"file with blank before", file(`" a"`), impact, 3, "white space"},
		{"file with newline behind", file(`"a\n"`), impact, 3, "white space"},
		{"file absolute", file(`"/a"`), impact, 3, "exact path"},
		{"file with drive", file(`"C:/a"`), impact, 3, "exact path"},
		{"file with backslash", file(`"a\\b"`), impact, 3, "exact path"},
		{"file with glob", file(`"docs/*"`), impact, 3, "exact path"},
		{"file with class", file(`"docs/[a]"`), impact, 3, "exact path"},
		{"file with quote", file(`"a'b"`), impact, 3, "exact path"},
		{"file with control character", file(`"a\u0001b"`), impact, 3, "exact path"},
		{"file not ASCII", file(`"ä"`), impact, 3, "exact path"},
		{"file with empty segment", file(`"a//b"`), impact, 3, "exact path"},
		{"folder", file(`"a/"`), impact, 3, "exact path"},
		{"file with dot segment", file(`"./a"`), impact, 3, "segment ."},
		{"file that climbs", file(`"a/../b"`), impact, 3, "segment .."},
		{"the policy", file(`"AAHP.config.json"`), impact, 3, "policy itself"},
		{"the handoff folder", file(`".ai/Handoff"`), impact, 3, "handoff folder"},
		{"below the handoff folder", file(`".AI/handoff/STATUS.md"`), impact, 3, "handoff folder"},
		{"same file twice", "{\"handoffImpact\": {\"nonImpactingModifiedFiles\": [{\"file\": \"a\", \"reason\": \"r\"},\n\n{\"file\": \"A\", \"reason\": \"r\"}]}}", impact, 3, "too alike"},
		{"prefix, longer first", "{\"handoffImpact\": {\"nonImpactingModifiedFiles\": [{\"file\": \"docs/a.md\", \"reason\": \"r\"},\n{\"file\": \"docs/z\", \"reason\": \"r\"},\n{\"file\": \"docs/A\", \"reason\": \"r\"}]}}", impact, 3, "too alike"},
		{"reason blank", entry(`{"file": "a", "reason": " ... "}`), impact, 3, "no letter"},
		{"reason with zero width space", entry(`{"file": "a", "reason": "a\u200bb"}`), impact, 3, "format character"},
		{"reason with newline", entry(`{"file": "a", "reason": "a\nb"}`), impact, 3, "control"},
		{"reason a number", entry(`{"file": "a", "reason": 1}`), impact, 3, "a number"},
		{"npm not an object", npm(`true`), impact, 3, "a boolean"},
		{"npm without scan", npm(`{"reason": "r"}`), impact, 3, `"supplyChainScan"`},
		{"npm with another key", npm(`{"reason": "r", "actor": "x", "supplyChainScan": {"workflow": ".github/workflows/a.yml", "job": "a"}}`), impact, 3, `"actor"`},
		{"npm without reason", npm(`{"supplyChainScan": {"workflow": ".github/workflows/a.yml", "job": "a"}}`), impact, 3, `"reason"`},
		{"scan null", npm(`{"reason": "r", "supplyChainScan": null}`), impact, 3, "is null"},
		{"scan without job", npm(`{"reason": "r", "supplyChainScan": {"workflow": ".github/workflows/a.yml"}}`), impact, 3, `"job"`},
		{"workflow elsewhere", scan(`"ci.yml"`, `"a"`), impact, 3, "workflow is"},
		{"workflow in a folder", scan(`".github/workflows/a/b.yml"`, `"a"`), impact, 3, "workflow is"},
		{"workflow with a dot first", scan(`".github/workflows/.a.yml"`, `"a"`), impact, 3, "workflow is"},
		{"workflow with newline", scan(`".github/workflows/a.yml\n"`, `"a"`), impact, 3, "workflow is"},
		{"job with blank", scan(`".github/workflows/a.yml"`, `"a b"`), impact, 3, "job is"},
		{"job with digit first", scan(`".github/workflows/a.yml"`, `"1"`), impact, 3, "job is"},
		{"job too long", scan(`".github/workflows/a.yml"`, `"`+strings.Repeat("a", 101)+`"`), impact, 3, "job is"},

		// 3.3: trustTtl.
		{"trust null", ttl(`null`), trust, 3, "is null"},
		{"trust with another key", ttl(`{"grace": 1}`), trust, 3, `"grace"`},
		{"enforce a string", ttl(`{"enforce": "true"}`), trust, 3, "enforce is a string"},
		{"enforce null", ttl(`{"enforce": null}`), trust, 3, "enforce is null"},
		{"graceDays a string", ttl(`{"graceDays": "1"}`), trust, 3, "graceDays"},
		{"graceDays a boolean", ttl(`{"graceDays": true}`), trust, 3, "graceDays"},
		{"graceDays negative", ttl(`{"graceDays": -1}`), trust, 3, "graceDays"},
		{"graceDays too many", ttl(`{"graceDays": 366}`), trust, 3, "graceDays"},
		{"graceDays a fraction", ttl(`{"graceDays": 0.5}`), trust, 3, "graceDays"},
		{"graceDays infinite", ttl(`{"graceDays": 1e999}`), trust, 3, "graceDays"},
		{"checks an object", ttl(`{"checks": {}}`), trust, 3, "an object"},
		{"check a string", check(`"a"`), trust, 3, "[0] is a string"},
		{"check without id", check(`{"run": ["a"], "reason": "r"}`), trust, 3, `"id"`},
		{"check without run", check(`{"id": "a", "reason": "r"}`), trust, 3, `"run"`},
		{"check without reason", check(`{"id": "a", "run": ["a"]}`), trust, 3, `"reason"`},
		{"check with another key", check(`{"id": "a", "run": ["a"], "reason": "r", "shell": true}`), trust, 3, `"shell"`},
		{"id in upper case", check(`{"id": "A", "run": ["a"], "reason": "r"}`), trust, 3, "not an id"},
		{"id too long", check(`{"id": "` + strings.Repeat("a", 65) + `", "run": ["a"], "reason": "r"}`), trust, 3, "not an id"},
		{"id built in", check(`{"id": "license-matches", "run": ["a"], "reason": "r"}`), trust, 3, "built-in"},
		{"id twice", check(`{"id": "a", "run": ["a"], "reason": "r"}, {"id": "a", "run": ["b"], "reason": "r"}`), trust, 3, "line 3 has already"},
		{"run a string", check(`{"id": "a", "run": "a b", "reason": "r"}`), trust, 3, "run is a string"},
		{"run empty", check(`{"id": "a", "run": [], "reason": "r"}`), trust, 3, "run is empty"},
		{"run with a number", check(`{"id": "a", "run": ["a", 1], "reason": "r"}`), trust, 3, "run[1] is a number"},
		{"run with an empty word", check(`{"id": "a", "run": [""], "reason": "r"}`), trust, 3, "run[0] is empty"},
		{"run with NUL", check(`{"id": "a", "run": ["a\u0000"], "reason": "r"}`), trust, 3, "control"},
		{"check reason blank", check(`{"id": "a", "run": ["a"], "reason": "-"}`), trust, 3, "no letter"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := policy.Parse(present(tt.text))
			if len(c.Problems) != 1 {
				t.Fatalf("%d problems, one was expected: %v", len(c.Problems), c.Problems)
			}
			p := c.Problems[0]
			if p.Section != tt.section || p.Span.Line != tt.line || !strings.Contains(p.Message, tt.says) {
				t.Errorf("got section %d, line %d, %q\nwant section %d, line %d, … %q", p.Section, p.Span.Line, p.Message, tt.section, tt.line, tt.says)
			}
			if p.Span.Column == 0 {
				t.Error("no column")
			}
			if !reflect.DeepEqual(c.Policy, policy.BuiltIn()) {
				t.Errorf("a broken file says %+v", c.Policy)
			}
			wantDrift, wantTrust := tt.section == policy.TrustTTL, tt.section == policy.HandoffImpact
			if c.Sound(policy.HandoffImpact) != wantDrift || c.Sound(policy.TrustTTL) != wantTrust {
				t.Error("the wrong section counts as sound")
			}
			if n := len(c.ProblemsOf(policy.HandoffImpact)); (n == 0) != wantDrift {
				t.Errorf("%d problems of handoffImpact", n)
			}
		})
	}
}

// A broken section takes nothing from the other.
func TestSectionsAreApart(t *testing.T) {
	c := policy.Parse(present(`{"handoffImpact": 1, "trustTtl": {"enforce": true}}`))
	if !c.Policy.Trust.Enforce || c.Sound(policy.HandoffImpact) || !c.Sound(policy.TrustTTL) {
		t.Errorf("got %+v", c)
	}
	c = policy.Parse(present(`{"trustTtl": 1, "handoffImpact": {"nonImpactingModifiedFiles": [{"file": "a", "reason": "r"}]}}`))
	if len(c.Policy.Reviewed) != 1 || c.Sound(policy.TrustTTL) {
		t.Errorf("got %+v", c)
	}
}

func TestEveryProblemIsReported(t *testing.T) {
	c := policy.Parse(present(`{
 "handoffImpact": {"nonImpactingModifiedFiles": [
  {"file": "../a", "reason": ""},
  {"file": "*"}
 ], "other": 1},
 "trustTtl": {"graceDays": 400, "enforce": 1}
}`))
	var lines []int
	for _, p := range c.Problems {
		lines = append(lines, p.Span.Line)
	}
	if want := []int{5, 3, 3, 4, 4, 6, 6}; !reflect.DeepEqual(lines, want) {
		t.Errorf("problems on lines %v, want %v: %v", lines, want, c.Problems)
	}
}

func TestLimits(t *testing.T) {
	for name, doc := range map[string]gate.Document{
		"too large":  {State: gate.TooLarge, Err: errors.New("it is larger than its limit")},
		"unreadable": {State: gate.Unreadable, Err: errors.New("no such object\x1b[2J")},
	} {
		c := policy.Parse(doc)
		if len(c.Problems) != 1 || c.Problems[0].Section != policy.WholeFile {
			t.Errorf("%s: %v", name, c.Problems)
		} else if strings.ContainsRune(c.Problems[0].Message, '\x1b') {
			t.Errorf("%s: outside text in the message: %q", name, c.Problems[0].Message)
		}
	}
	if c := policy.Parse(present(strings.Repeat(" ", gate.MaxConfig-2) + "{}")); len(c.Problems) != 0 {
		t.Errorf("at the limit: %v", c.Problems)
	}
	if c := policy.Parse(present(`{"a":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + "}")); len(c.Problems) != 0 {
		t.Errorf("nested at the limit: %v", c.Problems)
	}
	many := policy.Parse(present(`{"handoffImpact": {"nonImpactingModifiedFiles": [` + strings.Repeat("1,", 500_000) + "1]}}"))
	if n := len(many.Problems); n != 51 || !strings.Contains(many.Problems[50].Message, "499951 more problems") {
		t.Errorf("%d problems, the last is %v", n, many.Problems[n-1])
	}
}

// A file of the largest size on one line, all entries sound, must not take
// quadratic time for its columns: without the bound this takes minutes.
func TestOneLongLine(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"handoffImpact": {"nonImpactingModifiedFiles": [`)
	n := 0
	for ; b.Len() < gate.MaxConfig-60; n++ {
		if n > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"file":"f%06d.md","reason":"r"}`, n)
	}
	b.WriteString("]}}")
	c := policy.Parse(present(b.String()))
	if len(c.Problems) != 0 || len(c.Policy.Reviewed) != n {
		t.Fatalf("%d of %d entries, %v", len(c.Policy.Reviewed), n, c.Problems)
	}
	first, last := c.Policy.Reviewed[0].Span, c.Policy.Reviewed[n-1].Span
	if first.Line != 1 || first.Column != 58 || last.Line != 1 || last.Column != 0 {
		t.Errorf("first at %+v, last at %+v", first, last)
	}
}

// FuzzParse holds what Parse promises for any bytes: a file with a problem has
// no say in that section, and what a sound file says keeps the rules that an
// exemption rests on.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "{}", "[]", file(`"docs/a.md"`), file(`"../a"`), scan(`".github/workflows/ci.yml"`, `"scan"`),
		ttl(`{"enforce": true, "graceDays": 3}`), check(`{"id": "a", "run": ["a"], "reason": "r"}`),
		"{\"a\": \"\\ud800\"}", "{\"a\":1,\"\\u0061\":2}", strings.Repeat(`{"a":`, 70),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := policy.Parse(present(string(data)))
		again := policy.Parse(present(string(data)))
		if !reflect.DeepEqual(c.Problems, again.Problems) || !reflect.DeepEqual(c.Policy, again.Policy) {
			t.Fatal("two readings differ")
		}
		lineCount := 1 + strings.Count(string(data), "\n")
		for _, p := range c.Problems {
			if p.Message == "" || p.Span.Line > lineCount || strings.ContainsAny(p.Message, "\x00\x1b\n\r") {
				t.Errorf("problem %+v of %d lines", p, lineCount)
			}
		}
		if !c.Sound(policy.HandoffImpact) && (c.Policy.Reviewed != nil || c.Policy.NPM != nil) {
			t.Error("a broken handoffImpact exempts something")
		}
		if !c.Sound(policy.TrustTTL) && !reflect.DeepEqual(c.Policy.Trust, policy.BuiltIn().Trust) {
			t.Error("a broken trustTtl says something")
		}
		if n := c.Policy.Trust.GraceDays; n < 0 || n > 365 {
			t.Errorf("graceDays %d", n)
		}
		for i, r := range c.Policy.Reviewed {
			lower := "/" + strings.ToLower(r.File) + "/"
			if strings.Contains(lower, "/../") || strings.Contains(lower, "/./") || strings.Contains(lower, "//") ||
				strings.HasPrefix(lower, "/.ai/handoff/") || lower == "/aahp.config.json/" || strings.ContainsAny(lower, "*?[\\\x00\n:") {
				t.Errorf("exempts %q", r.File)
			}
			for j, o := range c.Policy.Reviewed {
				if i != j && strings.HasPrefix(strings.ToLower(o.File), strings.ToLower(r.File)) {
					t.Errorf("exempts %q and %q", r.File, o.File)
				}
			}
		}
		for _, d := range c.Policy.Trust.Checks {
			if len(d.Run) == 0 || d.Run[0] == "" || strings.ContainsRune(strings.Join(d.Run, " "), 0) {
				t.Errorf("declares %q", d.Run)
			}
		}
	})
}
