package journal

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

const (
	zeros = "0000000000000000000000000000000000000000000000000000000000000000"
	ones  = "1111111111111111111111111111111111111111111111111111111111111111"
)

func parseIndex(t testing.TB, src string) *Index {
	t.Helper()
	x, err := ParseIndex([]byte(src))
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return x
}

func indexText(t testing.TB, f IndexFile) string {
	t.Helper()
	var b strings.Builder
	n, err := f.WriteTo(&b)
	if err != nil || n != int64(b.Len()) {
		t.Fatalf("%d bytes written, %d counted, %v", b.Len(), n, err)
	}
	return b.String()
}

func TestParseIndex(t *testing.T) {
	for _, tt := range []struct{ src, records, err string }{
		{`{"version": 1, "entries": []}`, "", ""},
		{`{"entries": [{"title": "t", "sha256": "` + zeros + `"}, {"sha256": "x"}], "version": 1.0}`, zeros + " t, x ", ""},
		{`{"version": 1, "entries": [{"sha256": "a", "title": 5, "n": {"sha256": 1, "title": []}, "m": [{}]}], "more": [{}, 1]}`, "a ", ""},
		{``, "", "is not valid JSON: it ends too early (byte 0)"},
		{"\ufeff{}", "", "is not valid JSON"},
		{`{"version": 1, "entries": []} x`, "", "is not valid JSON"},
		{"{\"version\": 1, \"entries\": [{\"sha256\": \"\xff\"}]}", "", "is not valid JSON"},
		{`{"version": 1, "entries": [], "entries": []}`, "", "is not valid JSON"},
		{`{"version": 1, "entries": [], "x": ` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`, "", "is not valid JSON"},
		{`[]`, "", "is no JSON object"},
		{`[1, {"version": 1}]`, "", "is no JSON object"},
		{`null`, "", "is no JSON object"},
		{`{}`, "", "has not the version 1"},
		{`{"version": 2, "entries": []}`, "", "has not the version 1"},
		{`{"version": "1", "entries": []}`, "", "has not the version 1"},
		{`{"version": true, "entries": []}`, "", "has not the version 1"},
		{`{"version": [1], "entries": []}`, "", "has not the version 1"},
		{`{"version": 1}`, "", "has no array of entries"},
		{`{"version": 1, "entries": {}}`, "", "has no array of entries"},
		{`{"version": 1, "entries": null}`, "", "has no array of entries"},
		{`{"version": 1, "entries": [1]}`, "", errNoRecord.Error()},
		{`{"version": 1, "entries": [[]]}`, "", errNoRecord.Error()},
		{`{"version": 1, "entries": [{}]}`, "", errNoRecord.Error()},
		{`{"version": 1, "entries": [{"title": "t"}]}`, "", errNoRecord.Error()},
		{`{"version": 1, "entries": [{"sha256": "a"}, {"x": {"sha256": "a"}}]}`, "", errNoRecord.Error()},
		{`{"version": 1, "entries": [{"sha256": 5}]}`, "", errNoRecord.Error()},
	} {
		x, err := ParseIndex([]byte(tt.src))
		if tt.err != "" {
			if err == nil || !strings.HasPrefix(err.Error(), tt.err) {
				t.Errorf("%.100s: %v, want %s", tt.src, err, tt.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.src, err)
			continue
		}
		var records []string
		for _, r := range x.Records {
			records = append(records, r.Digest+" "+r.Title)
		}
		if got := strings.Join(records, ", "); got != tt.records {
			t.Errorf("%s: records %q, want %q", tt.src, got, tt.records)
		}
	}
}

func TestIndexFile(t *testing.T) {
	d := read(t, "## [2026-06-24] Agent: \"oldest\" \\ \x01\x7f\u0080é\u2028🚀\ufeff\n")
	const entry = `    {
      "sha256": "98a2a7b27e3a4b7b7f0bb36dbd5d9d33f0b2ac0a5f5c4b5ae0b4bbf4d6c22c11",
      "title": "## [2026-06-24] Agent: \"oldest\" \\ \u0001` + "\x7f" + `\u0080\u00e9\u2028\ud83d\ude80\ufeff"
    }`
	own := strings.Replace(entry, "98a2a7b27e3a4b7b7f0bb36dbd5d9d33f0b2ac0a5f5c4b5ae0b4bbf4d6c22c11", d.Entries[0].Digest.String(), 1)
	for _, tt := range []struct {
		name, rest string
		front      []Entry
		want       string
	}{
		{"nothing", "", nil, "{\n  \"version\": 1,\n  \"entries\": []\n}\n"},
		{"the first", "", d.Entries, "{\n  \"version\": 1,\n  \"entries\": [\n" + own + "\n  ]\n}\n"},
		{
			"in front of what is there", `{"version":1,"entries":[{"sha256":"` + zeros + `","title":"old"}]}`, d.Entries,
			"{\n  \"version\": 1,\n  \"entries\": [\n" + own + ",\n    {\n      \"sha256\": \"" + zeros + "\",\n      \"title\": \"old\"\n    }\n  ]\n}\n",
		},
		{
			"members of others stay as they are spelled", `{"é":1.50,"entries":[{"n":{"b":[1e3]},"title":"\u00E9é","sha256":"x"}],"version":1.0}`, nil,
			"{\n  \"\\u00e9\": 1.50,\n  \"entries\": [\n    {\n      \"n\": {\n        \"b\": [\n          1e3\n        ]\n      },\n      \"title\": \"\\u00E9\\u00e9\",\n      \"sha256\": \"x\"\n    }\n  ],\n  \"version\": 1.0\n}\n",
		},
	} {
		f := IndexFile{Front: tt.front}
		if tt.rest != "" {
			f.Rest = parseIndex(t, tt.rest)
		}
		if got := indexText(t, f); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// Whatever index is read, it is written as ASCII and reads back as the same
// records; written once more, it is the same bytes.
func FuzzIndex(f *testing.F) {
	f.Add([]byte(`{"version": 1, "entries": [{"sha256": "` + ones + `", "title": "## [2026-01-01] é🚀\ud83d\ude80\u007f"}], "n": [{}, 1.50]}`))
	f.Add([]byte(`{"entries": [], "version": 1e0}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		x, err := ParseIndex(src)
		if err != nil {
			return
		}
		if !json.Valid(src) {
			t.Fatalf("%q was read", src)
		}
		front := []Entry{{Title: "new"}}
		text := indexText(t, IndexFile{Front: front, Rest: x})
		if i := strings.IndexFunc(text, func(r rune) bool { return r > 0x7f }); i >= 0 {
			t.Errorf("%q holds a character beyond ASCII", text)
		}
		again := parseIndex(t, text)
		same := func(a, b Record) bool { return a.Digest == b.Digest && a.Title == b.Title }
		if len(again.Records) == 0 || again.Records[0].Digest != zeros || again.Records[0].Title != "new" || !slices.EqualFunc(again.Records[1:], x.Records, same) {
			t.Errorf("%q became %q", src, text)
		}
		if once := indexText(t, IndexFile{Rest: again}); once != text {
			t.Errorf("%q became %q", text, once)
		}
		var doc struct {
			Version float64
			Entries []struct{ Sha256, Title any }
		}
		if err := json.Unmarshal([]byte(text), &doc); err != nil || doc.Version != 1 || len(doc.Entries) != len(again.Records) {
			t.Errorf("encoding/json reads %q as %v, %v", text, doc, err)
		}
	})
}
