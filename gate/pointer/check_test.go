package pointer

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

const (
	path = "packages/api/.ai/handoff/MANIFEST.json"
	head = "0123456789abcdef0123456789abcdef01234567"
	old  = "89abcdef0123456789abcdef0123456789abcdef"
)

// manifest records a value; the key `commit` stands on line 4.
func manifest(value string) gate.Document {
	return gate.Document{
		Path: path, State: gate.Present,
		Data: []byte("{\n  \"aahp_version\": \"3.0\",\n  \"last_session\": {\n    \"commit\": " + value + "\n  }\n}\n"),
	}
}

func raw(text string) gate.Document {
	return gate.Document{Path: path, State: gate.Present, Data: []byte(text)}
}

func TestCheck(t *testing.T) {
	fired := map[*rule.Rule]bool{}
	ancestor := Answer{Found: true, ID: old, Ancestor: true}
	with := func(a Answer, change func(*Answer)) Answer {
		change(&a)
		return a
	}
	for _, tc := range []struct {
		name     string
		manifest gate.Document
		answer   Answer
		change   func(*Input)
		rule     *rule.Rule // nil: nothing is found
		severity report.Severity
		line     int
		message  string // a part of it
		fix      string // the last line of the remedy
	}{
		{name: "recorded HEAD", manifest: manifest(`"0123456"`), answer: Answer{Found: true, ID: head, IsHead: true}},
		{name: "only the handoff changed since", manifest: manifest(`"89abcdef"`), answer: ancestor},
		{name: "nothing recorded matters outside a repository", change: func(in *Input) { in.Repository = false }},

		{name: "no manifest", rule: ManifestMissing, severity: report.Error, fix: "regen"},
		{
			name: "the manifest is a link", manifest: gate.Document{State: gate.NotRegular, Err: errors.New("it is a symbolic link")},
			rule: ManifestMissing, severity: report.Error, message: "symbolic link", fix: "regen",
		},
		{
			name: "no JSON", manifest: raw("{\n  \"a\": 1,\n}\n"), rule: ManifestUnreadable, severity: report.Error, line: 3,
			fix: "git checkout HEAD -- " + path,
		},
		{name: "a key twice", manifest: raw("{\"a\": 1,\n\"a\": 2}"), rule: ManifestUnreadable, severity: report.Error, line: 2, message: "same key twice (“a”)", fix: "git checkout HEAD -- " + path},
		{name: "the top level is a list", manifest: raw("\n[]"), rule: ManifestUnreadable, severity: report.Error, line: 2, message: "top level is no object", fix: "git checkout HEAD -- " + path},
		{
			name: "nested too deep", manifest: raw(`{"a":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`),
			rule: ManifestUnreadable, severity: report.Error, line: 1, fix: "git checkout HEAD -- " + path,
		},
		{name: "too large", manifest: gate.Document{State: gate.TooLarge, Err: errors.New("it is larger than its limit")}, rule: ManifestUnreadable, severity: report.Error, message: "larger", fix: "git checkout HEAD -- " + path},
		{name: "unreadable", manifest: gate.Document{State: gate.Unreadable, Err: errors.New("permission denied")}, rule: ManifestUnreadable, severity: report.Error, fix: "git checkout HEAD -- " + path},
		{
			name: "a project with a name that cannot be pasted", manifest: raw("{"), rule: ManifestUnreadable, severity: report.Error, line: 1,
			change: func(in *Input) { in.Project = "a\nb" }, fix: "again",
		},

		{name: "no commit yet", manifest: manifest(`"89abcdef"`), answer: ancestor, change: func(in *Input) { in.Head = "" }, rule: NoHead, severity: report.Warning},
		{name: "a broken manifest and no commit yet", manifest: raw("{"), change: func(in *Input) { in.Head = "" }, rule: ManifestUnreadable, severity: report.Error, line: 1, fix: "git checkout HEAD -- " + path},

		{name: "null", manifest: manifest("null"), rule: Unset, severity: report.Warning, line: 4, fix: "regen"},
		{name: "empty", manifest: manifest(`""`), rule: Unset, severity: report.Warning, line: 4, fix: "regen"},
		{name: "unknown", manifest: manifest(`"unknown"`), rule: Unset, severity: report.Warning, line: 4, fix: "regen"},
		{name: "no commit key", manifest: raw("{\n\"last_session\": {}}"), rule: Unset, severity: report.Warning, line: 2, fix: "regen"},
		{name: "no session", manifest: raw("{}"), rule: Unset, severity: report.Warning, fix: "regen"},
		{name: "a session that is text", manifest: raw(`{"last_session": "x"}`), rule: Unset, severity: report.Warning, line: 1, fix: "regen"},

		// The value is data: what is no id is not looked up, so whatever the
		// repository would answer is not heeded.
		{name: "an option", manifest: manifest(`"--output=x"`), answer: ancestor, rule: UnknownCommit, severity: report.Warning, line: 4, message: "“--output=x”", fix: "regen"},
		{name: "a name", manifest: manifest(`"HEAD~1"`), answer: ancestor, rule: UnknownCommit, severity: report.Warning, line: 4, fix: "regen"},
		{name: "three digits", manifest: manifest(`"abc"`), answer: ancestor, rule: UnknownCommit, severity: report.Warning, line: 4, fix: "regen"},
		{name: "65 digits", manifest: manifest(`"` + strings.Repeat("a", 65) + `"`), answer: ancestor, rule: UnknownCommit, severity: report.Warning, line: 4, fix: "regen"},
		{name: "Unknown in capitals", manifest: manifest(`"Unknown"`), rule: UnknownCommit, severity: report.Warning, line: 4, fix: "regen"},
		{name: "a number", manifest: manifest("1234567"), answer: ancestor, rule: UnknownCommit, severity: report.Warning, line: 4, message: "kind number", fix: "regen"},
		{name: "an object", manifest: manifest(`{"id": "1234567"}`), answer: ancestor, rule: UnknownCommit, severity: report.Warning, line: 4, message: "kind object", fix: "regen"},
		{name: "control characters", manifest: manifest(`"\u001b[31m\u202eabc"`), rule: UnknownCommit, severity: report.Warning, line: 4, message: "“[31mabc”", fix: "regen"},

		{name: "no such commit", manifest: manifest(`"DEADBEEF"`), rule: UnknownCommit, severity: report.Warning, line: 4, message: "deadbeef", fix: "regen"},
		{name: "ambiguous digits", manifest: manifest(`"dead"`), answer: Answer{Ambiguous: true}, rule: UnknownCommit, severity: report.Warning, line: 4, message: "several", fix: "regen"},
		{name: "no such commit in a shallow clone", manifest: manifest(`"deadbeef"`), answer: Answer{Shallow: true}, rule: Undecidable, severity: report.Warning, line: 4, message: "shallow", fix: "git fetch --unshallow"},
		{
			name: "no such commit in a shallow clone of the action", manifest: manifest(`"deadbeef"`), answer: Answer{Shallow: true},
			change: func(in *Input) { in.ShallowIsNotice = true }, rule: Undecidable, severity: report.Notice, line: 4, fix: "git fetch --unshallow",
		},

		{name: "not an ancestor", manifest: manifest(`"89abcdef"`), answer: Answer{Found: true, ID: old}, rule: NotAncestor, severity: report.Warning, line: 4, message: "89abcdef0123…", fix: "regen"},
		{name: "no ancestor seen in a shallow clone", manifest: manifest(`"89abcdef"`), answer: Answer{Found: true, ID: old, Shallow: true}, rule: Undecidable, severity: report.Warning, line: 4, fix: "git fetch --unshallow"},
		{
			name: "git fails over a cut in the action", manifest: manifest(`"89abcdef"`), answer: Answer{Found: true, ID: old, Shallow: true, AncestorErr: errors.New("fatal: x")},
			change: func(in *Input) { in.ShallowIsNotice = true }, rule: Undecidable, severity: report.Notice, line: 4, fix: "git fetch --unshallow",
		},
		{
			name: "git cannot tell", manifest: manifest(`"89abcdef"`), answer: Answer{Found: true, ID: old, AncestorErr: errors.New("fatal: bad object\x1b\n")},
			change: func(in *Input) { in.ShallowIsNotice = true }, rule: Undecidable, severity: report.Warning, line: 4, message: "fatal: bad object.",
		},
		{
			name: "trees that cannot be compared", manifest: manifest(`"89abcdef"`), answer: with(ancestor, func(a *Answer) { a.DiffErr = errors.New("fatal: unable to read tree") }),
			change: func(in *Input) { in.ShallowIsNotice = true }, rule: Undecidable, severity: report.Warning, line: 4, message: "unable to read tree",
		},
		{name: "an ancestor in a shallow clone is decided", manifest: manifest(`"89abcdef"`), answer: with(ancestor, func(a *Answer) { a.Shallow = true })},
		{name: "one file behind", manifest: manifest(`"89abcdef"`), answer: with(ancestor, func(a *Answer) { a.ChangedOutside = 1 }), rule: BehindHead, severity: report.Warning, line: 4, message: " 1 file ", fix: "regen"},
		{name: "many files behind", manifest: manifest(`"89abcdef"`), answer: with(ancestor, func(a *Answer) { a.ChangedOutside = 20 }), rule: BehindHead, severity: report.Warning, line: 4, message: " 20 files ", fix: "regen"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := Input{
				Project: "packages/api", Commands: gate.Commands{Regen: "regen", Again: "again"},
				Manifest: tc.manifest, Repository: true, Head: head, Answer: tc.answer,
			}
			if tc.change != nil {
				tc.change(&in)
			}
			l := Check(in)
			if l.ID != ID || l.Summary == "" {
				t.Errorf("id %q, summary %q", l.ID, l.Summary)
			}
			if tc.rule == nil {
				if len(l.Findings) != 0 || in.Repository != (l.Status == report.OK) || !in.Repository && l.Status != report.Skip {
					t.Errorf("%s with %+v", l.Status, l.Findings)
				}
				return
			}
			if len(l.Findings) != 1 {
				t.Fatalf("found %+v", l.Findings)
			}
			fired[tc.rule] = true
			f := l.Findings[0]
			want := report.Finding{Rule: tc.rule.ID, Severity: tc.severity, Path: gate.Join(in.Project, gate.ManifestFile)}
			if f.Rule != want.Rule || f.Severity != want.Severity || f.Path != want.Path || f.Line != tc.line {
				t.Errorf("got %+v\nwant %s, %s, line %d", f, want.Rule, want.Severity, tc.line)
			}
			if !strings.Contains(f.Message, tc.message) {
				t.Errorf("the message lacks %q: %s", tc.message, f.Message)
			}
			last := f.Remedy[strings.LastIndexByte(f.Remedy, '\n')+1:]
			if fix, ok := strings.CutPrefix(last, "fix: "); f.Remedy == "" || ok != (tc.fix != "") || ok && fix != tc.fix {
				t.Errorf("the remedy is %q, want it to end in the command %q", f.Remedy, tc.fix)
			}
			for _, r := range f.Message + f.Remedy {
				if r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf) {
					t.Errorf("the control character %U in %q", r, f.Message+f.Remedy)
				}
			}
		})
	}
	for _, r := range Rules {
		if !fired[r] {
			t.Errorf("no case fires %s", r.ID)
		}
		if r.Title == "" || r.Why == "" || r.Remedy == "" || r.Example == "" {
			t.Errorf("%s lacks a field", r.ID)
		}
	}
}

// TestValue shows what may be looked up in a repository: digits, and nothing
// that git could take for anything else.
func TestValue(t *testing.T) {
	for value, want := range map[string]string{
		`"0123"`: "0123", `"ABCDEF12"`: "abcdef12", `"` + head + `"`: head, `"` + strings.Repeat("f", 64) + `"`: strings.Repeat("f", 64), `"\u0061bcd"`: "abcd",
		`"123"`: "", `"` + strings.Repeat("f", 65) + `"`: "", `"HEAD"`: "", `"-abcd"`: "", `" abcd"`: "", `"abcd\n"`: "", `"abcd^"`: "", `"abcg"`: "",
		`"ａｂｃｄ"`: "", `1234`: "", `null`: "", `""`: "", `"unknown"`: "", `["abcd"]`: "",
	} {
		if got, ok := Value(manifest(value)); got != want || ok != (want != "") {
			t.Errorf("%s gives %q, %v; want %q", value, got, ok, want)
		}
	}
	for _, doc := range []gate.Document{{}, {State: gate.NotRegular}, raw("{"), raw("[]"), raw(`{"last_session":{"commit":"abcd"},"last_session":{"commit":"ef01"}}`)} {
		if got, ok := Value(doc); ok {
			t.Errorf("%s gives %q", doc.Data, got)
		}
	}
}

// FuzzValue: whatever a manifest holds, only digits come out, and the layer is
// decided.
func FuzzValue(f *testing.F) {
	for _, value := range []string{`"abcd"`, `"HEAD"`, `null`, `{}`, `"\ud800"`, `"--help"`} {
		f.Add(manifest(value).Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc := raw(string(data))
		digits, ok := Value(doc)
		if ok != (digits != "") || len(digits) > 64 || strings.Trim(digits, "0123456789abcdef") != "" || ok && len(digits) < 4 {
			t.Errorf("%q, %v", digits, ok)
		}
		l := Check(Input{Project: ".", Manifest: doc, Repository: true, Head: head, Answer: Answer{Found: true, ID: head, IsHead: true}})
		if ok != (l.Status == report.OK) || !ok && len(l.Findings) != 1 {
			t.Errorf("%q is looked up: %v, and the layer is %+v", data, ok, l)
		}
	})
}
