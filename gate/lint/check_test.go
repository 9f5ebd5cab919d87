package lint

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

var today = time.Date(2026, 10, 1, 23, 30, 0, 0, time.UTC)

// snapshot scans files into a snapshot.
func snapshot(name string, files map[string]string) Snapshot {
	s := Snapshot{Name: name}
	var names []string
	for n := range files {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		s.Files = append(s.Files, scanFile(n, files[n], Options{}))
	}
	return s
}

func input(snapshots ...Snapshot) Input {
	return Input{
		Project: ".", Today: today, Snapshots: snapshots,
		Commands: gate.Commands{Regen: "handoff-gate manifest .", Again: "handoff-gate lint ."},
	}
}

// brief writes findings as a test reads them, in the order of a report.
func brief(findings []report.Finding) []string {
	report.Sort(findings)
	var out []string
	for _, f := range findings {
		out = append(out, fmt.Sprintf("%s %s %s:%d:%d", f.Rule, f.Severity, strings.TrimPrefix(f.Path, ".ai/handoff/"), f.Line, f.Column))
	}
	return out
}

func entry(changes ...string) string {
	fields := map[string]string{
		"value": `"ops@corp.io"`, "kind": `"email"`, "reason": `"on call"`, "owner": `"Ops"`, "expires": `"2027-12-31"`,
	}
	order := []string{"value", "kind", "reason", "owner", "expires"}
	for i := 0; i+1 < len(changes); i += 2 {
		if _, known := fields[changes[i]]; !known {
			order = append(order, changes[i])
		}
		fields[changes[i]] = changes[i+1]
	}
	var parts []string
	for _, k := range order {
		if fields[k] != "" {
			parts = append(parts, `    "`+k+`": `+fields[k])
		}
	}
	return "   {\n" + strings.Join(parts, ",\n") + "\n   }"
}

func list(entries ...string) string {
	return "{\n \"version\": 1,\n \"entries\": [\n" + strings.Join(entries, ",\n") + "\n ]\n}\n"
}

// TestAllowlist shows every requirement of aahp-lint.md 6 broken, and where.
func TestAllowlist(t *testing.T) {
	const invalid = "lint/pii-allowlist-invalid error pii-allowlist.json:"
	const pii = "lint/pii error STATUS.md:1:1"
	for _, tc := range []struct {
		name, list string
		want       []string
	}{
		{"sound", list(entry()), nil},
		{"no entries", "{\"version\": 1, \"entries\": []}", []string{pii}},
		{"a root that is no object", "[]", []string{pii, invalid + "1:0"}},
		{"no entries key", "{\"version\": 1}", []string{pii, invalid + "1:0"}},
		{"an unknown root key", "{\"version\": 1, \"entries\": [], \"x\": 1}", []string{pii, invalid + "1:0"}},
		{"no version", "{\n\"entries\": []}", []string{pii, invalid + "1:0"}},
		{"a version in quotes", "{\n\"version\": \"1\", \"entries\": []}", []string{pii, invalid + "2:12"}},
		{"a version that is true", "{\n\"version\": true, \"entries\": []}", []string{pii, invalid + "2:12"}},
		{"another version", "{\n\"version\": 2, \"entries\": []}", []string{pii, invalid + "2:12"}},
		{"one point nought is the number 1", strings.Replace(list(entry()), "1,", "1.0,", 1), nil},
		{"entries that are no array", "{\n\"version\": 1, \"entries\": {}}", []string{pii, invalid + "2:26"}},
		{"an entry that is no object", list(`"ops@corp.io"`, entry()), []string{invalid + "4:1"}},
		{"a missing key", list(entry("owner", "")), []string{pii, invalid + "4:4"}},
		{"an unknown key", list(entry("note", `"x"`)), []string{pii, invalid + "4:4"}},
		{"a number for a string", list(entry("reason", "4711")), []string{pii, invalid + "7:15"}},
		{"a blank string", list(entry("reason", `" \u00a0"`)), []string{pii, invalid + "7:15"}},
		{"a tab", list(entry("reason", `"a\tb"`)), []string{pii, invalid + "7:15"}},
		{"another kind", list(entry("kind", `"phone"`)), []string{pii, invalid + "6:13"}},
		{"a wildcard", list(entry("value", `"*@corp.io"`)), []string{pii, invalid + "5:14"}},
		{"a domain", list(entry("value", `"corp.io"`)), []string{pii, invalid + "5:14"}},
		{"an address with a line end", list(entry("value", `"ops@corp.io\n"`)), []string{pii, invalid + "5:14"}},
		{"two equal values: the first one counts", list(entry(), entry()), []string{invalid + "12:14"}},
		{"no calendar date", list(entry("expires", `"2027-02-30"`)), []string{pii, invalid + "9:16"}},
		{"another spelling of a date", list(entry("expires", `"20271231"`)), []string{pii, invalid + "9:16"}},
		{"a time", list(entry("expires", `"2027-12-31T00:00:00Z"`)), []string{pii, invalid + "9:16"}},
		{"equal keys in an entry", list(strings.Replace(entry(), `"owner": "Ops"`, `"owner": "Ops", "owner": "Dev"`, 1)), []string{pii, invalid + "8:21"}},
		{"equal keys at the root", "{\n\"version\": 1,\n\"version\": 1, \"entries\": []}", []string{pii, invalid + "3:1"}},
		{"not JSON", "{\n\"version\": 1,\n}", []string{pii, invalid + "3:1"}},
		{"several problems, each told", list(entry("owner", "7", "kind", `""`)), []string{pii, invalid + "6:13", invalid + "8:14"}},
		{"expired yesterday", list(entry("expires", `"2026-09-30"`)), []string{pii, "lint/pii-allowlist-expired error pii-allowlist.json:9:16"}},
		{"expires today, its last day", list(entry("expires", `"2026-10-01"`)), []string{"lint/pii-allowlist-expiring warning pii-allowlist.json:9:16"}},
		{"expires in fourteen days", list(entry("expires", `"2026-10-15"`)), []string{"lint/pii-allowlist-expiring warning pii-allowlist.json:9:16"}},
		{"expires in fifteen", list(entry("expires", `"2026-10-16"`)), nil},
		{"an approval without a use", list(entry(), entry("value", `"x@corp.io"`)), []string{"lint/pii-allowlist-unused notice pii-allowlist.json:12:14"}},
		{"another case is another address", list(entry("value", `"Ops@corp.io"`)), []string{pii, "lint/pii-allowlist-unused notice pii-allowlist.json:5:14"}},
	} {
		got := Check(input(snapshot("working tree", map[string]string{"STATUS.md": "ops@corp.io\n", "pii-allowlist.json": tc.list})))
		if b := brief(got); !slices.Equal(b, tc.want) {
			t.Errorf("%s:\n got %q\nwant %q", tc.name, b, tc.want)
		}
		for _, f := range got {
			if strings.Contains(f.Message+f.Remedy, "ops@corp.io") {
				t.Errorf("%s: the address is printed: %q", tc.name, f.Message)
			}
		}
	}
}

func TestAllowlistIsAboutAddressesAlone(t *testing.T) {
	files := map[string]string{
		"pii-allowlist.json":       list(entry(), entry("value", `"noreply@corp.io"`)),
		"MANIFEST.json":            `{"quick_context": "ops\u0040corp.io decides"}`,
		"STATUS.md":                "ops@corp.io " + "gh" + "p_0123456789abcdefghij and noreply@corp.io\n",
		"notes/a.txt":              "ops@corp.io and bob@corp.io\n",
		"notes/pii-allowlist.json": list(entry("value", `"bob@corp.io"`)),
	}
	want := []string{
		"lint/secret error STATUS.md:1:13",
		"lint/pii warning notes/a.txt:1:17",
	}
	if got := brief(Check(input(snapshot("working tree", files)))); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAddresses shows which files are judged how, and the exemptions.
func TestAddresses(t *testing.T) {
	const text = "a.b@corp.io and c+d@sub.corp.io, a.b@corp.io\n"
	two := []string{"1:1 error", "1:17 error"}
	weak := []string{"1:1 warning", "1:17 warning"}
	for _, tc := range []struct {
		name, file, text string
		want             []string
	}{
		{"Markdown, directly", "STATUS.md", text, two},
		{"Markdown, deeper", "notes/x.md", text, weak},
		{"a dot file", ".notes.md", text, weak},
		{"a lock", "HANDOFF.lock", text, weak},
		{"another text file", "x.csv", text, weak},
		{"a binary file", "x.bin", "\x00" + text, nil},
		{"an extension in capitals", "STATUS.MD", text, weak},
		{"exempt forms", "STATUS.md", "1+u@users.noreply.github.com noreply@corp.io no-reply@x.io a@example.com a@sub.example.com a@example.company placeholder@corp.io\n", nil},
		{"near misses of them", "STATUS.md", "Noreply@corp.io x-noreply@corp.io a@example.org Placeholder@corp.io\n", []string{"1:1 error", "1:17 error", "1:35 error", "1:49 error"}},
		{"clone addresses and image names", "STATUS.md", "git@github.com:o/r image@2x.png\n", []string{"1:1 error", "1:20 error"}},
		{"no addresses", "STATUS.md", "pkg@1.0.0 @user user@host é@corp.io a@b.c x@.io\n", nil},
		{"the longest match", "STATUS.md", "x@a.b-c.io.museum1\n", []string{"1:1 error"}},
	} {
		var got []string
		for _, h := range scanFile(tc.file, tc.text, Options{}).Hits {
			if h.Rule == PII {
				got = append(got, fmt.Sprintf("%d:%d %s", h.Span.Line, h.Span.Column, h.Severity))
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestJSONFiles(t *testing.T) {
	for _, tc := range []struct {
		name, file, text string
		want             []string
	}{
		{"a trailing comma, and its bytes are read for addresses", "extra.json", "{ \"a\": \"bob@corp.io\", }\n", []string{"pii error 1:9-20 bob@corp.io", "json-invalid error 1:23-24 "}},
		{"an address after the place where decoding stopped", "extra.json", "{,\n \"bob@corp.io\"}\n", []string{"json-invalid error 1:2-3 ", "pii error 2:3-14 bob@corp.io"}},
		{"a byte order mark", "extra.json", "\ufeff{}", []string{"json-invalid error 1:1-1 "}},
		{"a comment", "extra.json", "// x\n{}", []string{"json-invalid error 1:1-2 "}},
		{"NaN", "extra.json", "[NaN]", []string{"json-invalid error 1:2-3 "}},
		{"a lone surrogate", "extra.json", "[\"\\ud800\"]", []string{"json-invalid error 1:3-4 "}},
		{"an invalid byte", "extra.json", "[\"\xff\"]", []string{"json-invalid error 1:3-4 "}},
		{"it ends too early", "extra.json", "{\"a\": [1,\n", []string{"json-invalid error 1:10-10 "}},
		{"nothing at all", "extra.json", "", []string{"json-invalid error 1:1-1 "}},
		{"too deep", "extra.json", strings.Repeat("[", 1001), []string{"json-invalid error 1:1001-1002 "}},
		{"just deep enough", "extra.json", strings.Repeat("[", 1000) + strings.Repeat("]", 1000), nil},
		{"equal keys are no failure", "extra.json", `{"a": 1, "a": 2}`, nil},
		{"the manifest is the business of integrity", "MANIFEST.json", "{", nil},
		{"a manifest elsewhere is not", "old/MANIFEST.json", "{", []string{"json-invalid error 1:2-2 "}},
		{"UTF-16", "extra.json", "\xff\xfe{\x00}\x00", []string{"json-invalid error 1:1-2 "}},
	} {
		if got := describe(scanFile(tc.file, tc.text, Options{})); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestPointers shows that a pointer can neither smuggle text into the output
// nor show a secret.
func TestPointers(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{`{"k\n::error::owned\u001b[0m": {"x": "sudo mode"}}`, `value at /k::error::owned[0m/x`},
		{`{"bobby@corp.io": {"x": "sudo mode"}}`, `value at /***/x`},
		{`{"gh` + `p_0123456789abcdefghij": ["sudo mode"]}`, `value at /***/0`},
		{`{"` + strings.Repeat("k", 400) + `": ["sudo mode"]}`, "value at /" + strings.Repeat("k", 159) + "…"},
		{`[[], {"": [0, {"a": "sudo mode"}]}]`, `value at /1//1/a`},
	} {
		got := messages(scanFile("extra.json", tc.text, Options{}))
		if !slices.ContainsFunc(got, func(m string) bool { return strings.HasSuffix(m, tc.want) }) {
			t.Errorf("%s: got %q, want %q", tc.text, got, tc.want)
		}
	}
}

// TestSeveralSnapshots shows that the same finding in two snapshots is one that
// names both.
func TestSeveralSnapshots(t *testing.T) {
	head := snapshot("head tree", map[string]string{"STATUS.md": "sudo mode\nbob@corp.io\n"})
	tree := snapshot("working tree", map[string]string{"STATUS.md": "sudo mode\n" + opening + "\n", "pii-allowlist.json": list(entry("value", `"bob@corp.io"`))})
	head.Lock, tree.Lock = true, true
	got := Check(input(head, tree))
	report.Sort(got)
	var lines []string
	for _, f := range got {
		lines = append(lines, fmt.Sprintf("%s:%d %s", f.Rule, f.Line, f.Message))
	}
	want := []string{
		"lint/lock-present:1 a session's lock stands in the handoff folder: a session did not finish (head tree and working tree)",
		"lint/injection:1 injection phrase \"sudo mode\" (head tree and working tree)",
		"lint/conflict-marker:2 conflict markers: seven angle brackets or more begin 1 line of the file (working tree)",
		"lint/pii:2 e-mail address b***@corp.io (head tree)",
		"lint/pii-allowlist-unused:5 the approved address b***@corp.io occurs nowhere in the handoff set (working tree)",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

func TestLocksAndTree(t *testing.T) {
	s := Snapshot{
		Name: "working tree", Lock: true,
		Unscannable: []Problem{{"rules.txt", "it is a symbolic link"}, {"big.md", "it is larger than its limit"}},
		Reported:    map[string]bool{"big.md": true},
		Markers:     []TreeMarkers{{"src/main.go", markersOf([]byte("package main\n" + opening + " HEAD\n"))}, {"ok.go", Markers{}}},
		TreeProblems: []Problem{
			{"", "git failed"}, {"src/secret.go", "permission denied"},
		},
	}
	in := input(s)
	in.Project = "packages/api"
	in.BranchLocks = []string{"feature/z", "feature/a"}
	got := Check(in)
	want := []string{
		"lint/unscannable error packages/api/.ai/handoff:0:0",
		"lint/lock-on-branch warning packages/api/.ai/handoff/HANDOFF.lock:0:0",
		"lint/lock-on-branch warning packages/api/.ai/handoff/HANDOFF.lock:0:0",
		"lint/lock-present error packages/api/.ai/handoff/HANDOFF.lock:1:0",
		"lint/unscannable error packages/api/.ai/handoff/rules.txt:0:0",
		"lint/conflict-marker error src/main.go:2:1",
		"lint/unscannable error src/secret.go:0:0",
	}
	if b := brief(got); !slices.Equal(b, want) {
		t.Errorf("got %q\nwant %q", b, want)
	}
	if !strings.Contains(got[1].Message, `"feature/a"`) || !strings.Contains(got[2].Message, `"feature/z"`) || !strings.Contains(got[1].Message, "sequential") {
		t.Errorf("branches: %q, %q", got[1].Message, got[2].Message)
	}
	if !strings.HasSuffix(got[3].Remedy, "\nfix: rm packages/api/.ai/handoff/HANDOFF.lock") {
		t.Errorf("remedy of the lock: %q", got[3].Remedy)
	}

	in = input()
	in.BranchErr = errors.New("for-each-ref failed")
	if b := brief(Check(in)); !slices.Equal(b, []string{"lint/unscannable error .ai/handoff:0:0"}) {
		t.Errorf("branches that cannot be read: %q", b)
	}
}

func TestIgnoreFile(t *testing.T) {
	res := scanFile(".aiignore", "# patterns\r\n\r\n  *.pem \njailbreak*\n  # no\n \t\n# AK"+"IA0123456789ABCDEF bob@corp.io\n"+opening+"\n", Options{})
	if res.IgnorePatterns != 3 || res.FirstIgnore != (report.Span{Line: 3, Column: 3, EndColumn: 8}) || len(res.Hits) != 0 || res.Markers.Count != 1 {
		t.Errorf("got %+v", res)
	}
	if res := scanFile("notes/.aiignore", "*.pem\n", Options{}); res.IgnorePatterns != 0 {
		t.Errorf("one of another folder: %+v", res)
	}
	got := Check(input(snapshot("working tree", map[string]string{".aiignore": "*.pem\n"})))
	if b := brief(got); !slices.Equal(b, []string{"lint/aiignore-not-enforced notice .aiignore:1:1"}) {
		t.Errorf("got %q", b)
	}
}

// everything is an input in which every rule has something to find.
func everything() Input {
	files := map[string]string{
		"STATUS.md": "sudo mode\n" + "gh" + "p_0123456789abcdefghij\npg://app:hunter2hunter2@db.corp\nbob@corp.io\na\u202eb\n\xff\n" + opening + "\n",
		".aiignore": "*.pem\n", "x.json": "{,", "pii-allowlist.json": list(entry("expires", `"2026-10-02"`), entry("value", `"x@corp.io"`, "expires", `"2020-01-01"`), entry("value", `"y"`), entry("value", `"z@corp.io"`)),
		"a.txt": "ops@corp.io\n",
	}
	s := snapshot("working tree", files)
	s.Files = append(s.Files, scanFile("ext.md", "cloudflare_api_key = \"zQ8mK2vT9xW4bN7cR5jL1pF6hD3gS0aYeUoIqwXM\"\n", Options{Secrets: Extended}))
	s.Lock = true
	s.Unscannable = []Problem{{"link", "it is a symbolic link"}}
	in := input(s)
	in.BranchLocks = []string{"x"}
	return in
}

// TestEveryRule fires every rule of the table and holds the findings to what
// all findings must have.
func TestEveryRule(t *testing.T) {
	fired := map[string]bool{}
	for _, f := range Check(everything()) {
		fired[f.Rule] = true
		if f.Message == "" || strings.ContainsAny(f.Message, "\r\n") || f.Path == "" {
			t.Errorf("%s: message %q, path %q", f.Rule, f.Message, f.Path)
		}
		if f.Severity != report.Notice && f.Remedy == "" {
			t.Errorf("%s has no remedy", f.Rule)
		}
		last := f.Remedy[strings.LastIndexByte(f.Remedy, '\n')+1:]
		if f.Severity == report.Error && !strings.HasPrefix(last, "fix: ") {
			t.Errorf("%s: the remedy of an error ends in %q", f.Rule, last)
		}
		hasColumn := f.Column > 0 && f.EndColumn >= f.Column
		if f.Line > 0 && !hasColumn && f.Rule != LockPresent.ID {
			t.Errorf("%s: no column at %+v", f.Rule, f.Span)
		}
	}
	for _, r := range Rules {
		if !fired[r.ID] {
			t.Errorf("%s did not fire", r.ID)
		}
		if r.Title == "" || r.Why == "" || r.Remedy == "" || r.Example == "" {
			t.Errorf("%s: the table has a gap", r.ID)
		}
	}
	if len(fired) != len(Rules) {
		t.Errorf("%d rules fired, the table has %d", len(fired), len(Rules))
	}
}

// TestManyHits shows the bound on what a file keeps, and that nothing new hides
// behind it.
func TestManyHits(t *testing.T) {
	var b strings.Builder
	for range maxHits + 500 {
		b.WriteString("bob@corp.io\n")
	}
	b.WriteString("eve@corp.io\n")
	res := scanFile("LOG.md", b.String(), Options{})
	last := res.Hits[len(res.Hits)-1]
	if len(res.Hits) != maxHits+1 || last.address != "eve@corp.io" || !strings.Contains(last.Message, "500 more of this rule") {
		t.Errorf("%d hits, the last is %+v", len(res.Hits), last)
	}
}
