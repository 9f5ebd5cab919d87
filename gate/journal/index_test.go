package journal

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

const (
	noRecord = "has an entry that is no object with a string sha256"

	zeros = "0000000000000000000000000000000000000000000000000000000000000000"
	ones  = "1111111111111111111111111111111111111111111111111111111111111111"
)

func readIndex(t testing.TB, src string) *Index {
	t.Helper()
	x, err := ReadIndex(strings.NewReader(src))
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return x
}

// indexText writes the index of the entries of a journal before those of an index,
// "" for none.
func indexText(t testing.TB, front, rest string) string {
	t.Helper()
	f := indexFile{from: read(t, front)}
	f.front = f.from.Entries
	if rest != "" {
		f.rest = readIndex(t, rest)
	}
	return written(t, f)
}

// listed gives the records of an index as "DIGEST TITLE".
func listed(t testing.TB, x *Index) (all []string) {
	t.Helper()
	for _, r := range x.Records {
		title, err := x.Title(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r.Digest()+" "+title)
	}
	return all
}

func TestReadIndex(t *testing.T) {
	for _, tt := range []struct{ src, records, err string }{
		{`{"version": 1, "entries": []}`, "", ""},
		{`{"entries": [{"title": "t", "sha256": "` + zeros + `"}, {"sha256": "x"}], "version": 1.0}`, zeros + " t, x ", ""},
		{`{"version": 1, "entries": [{"sha256": "a", "title": 5, "n": {"sha256": 1, "title": []}, "m": [{}]}], "more": [{}, 1]}`, "a ", ""},
		{``, "", "is not valid JSON: it ends too early"},
		{"\ufeff{}", "", "is not valid JSON"},
		{`{"version": 1, "entries": []} x`, "", "is not valid JSON"},
		{"{\"version\": 1, \"entries\": [{\"sha256\": \"\xff\"}]}", "", "is not valid UTF-8"},
		{"{\"version\": 1, \"entries\": [], \"\xff\": 1}", "", "is not valid UTF-8"},
		{`{"version": 1, "entries": [{"sha256": "a"},]}`, "", "is not valid JSON"},
		{`{"version": 1, "entries": [{"sha256": "a", "sha256": "a"}]}`, "", "is not valid JSON"},
		{`{"version": 1, "\u0065ntries": [{"sha256": "a"}]}`, "a ", ""},
		{`{"version": 1, "entries": [{"sha256": ""}]}`, `"" `, ""},
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
		{`{"version": 1, "entries": [1]}`, "", noRecord},
		{`{"version": 1, "entries": [[]]}`, "", noRecord},
		{`{"version": 1, "entries": [{}]}`, "", noRecord},
		{`{"version": 1, "entries": [{"title": "t"}]}`, "", noRecord},
		{`{"version": 1, "entries": [{"sha256": "a"}, {"x": {"sha256": "a"}}]}`, "", noRecord},
		{`{"version": 1, "entries": [{"sha256": 5}]}`, "", noRecord},
	} {
		x, err := ReadIndex(strings.NewReader(tt.src))
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
		if got := strings.Join(listed(t, x), ", "); got != tt.records {
			t.Errorf("%s: records %q, want %q", tt.src, got, tt.records)
		}
	}
}

func TestIndexFile(t *testing.T) {
	const journal = "## [2026-06-24] Agent: \"oldest\" \\ \x01\x7f\u0080é\u2028🚀\ufeff\n"
	const entry = `    {
      "sha256": "98a2a7b27e3a4b7b7f0bb36dbd5d9d33f0b2ac0a5f5c4b5ae0b4bbf4d6c22c11",
      "title": "## [2026-06-24] Agent: \"oldest\" \\ \u0001` + "\x7f" + `\u0080\u00e9\u2028\ud83d\ude80\ufeff"
    }`
	own := strings.Replace(entry, "98a2a7b27e3a4b7b7f0bb36dbd5d9d33f0b2ac0a5f5c4b5ae0b4bbf4d6c22c11", read(t, journal).Entries[0].Digest.String(), 1)
	for _, tt := range []struct {
		name, front, rest string
		want              string
	}{
		{"nothing", "", "", "{\n  \"version\": 1,\n  \"entries\": []\n}\n"},
		{"the first", journal, "", "{\n  \"version\": 1,\n  \"entries\": [\n" + own + "\n  ]\n}\n"},
		{
			"in front of what is there", journal, `{"version":1,"entries":[{"sha256":"` + zeros + `","title":"old"}]}`,
			"{\n  \"version\": 1,\n  \"entries\": [\n" + own + ",\n    {\n      \"sha256\": \"" + zeros + "\",\n      \"title\": \"old\"\n    }\n  ]\n}\n",
		},
		{
			"members of others stay as they are spelled", "", `{"é":1.50,"entries":[{"n":{"b":[1e3]},"title":"\u00E9é","sha256":"x"}],"version":1.0,"more":[1,[]]}`,
			"{\n  \"\\u00e9\": 1.50,\n  \"entries\": [\n    {\n      \"n\": {\n        \"b\": [\n          1e3\n        ]\n      },\n      \"title\": \"\\u00E9\\u00e9\",\n      \"sha256\": \"x\"\n    }\n  ],\n  \"version\": 1.0,\n  \"more\": [\n    1,\n    []\n  ]\n}\n",
		},
	} {
		if got := indexText(t, tt.front, tt.rest); got != tt.want {
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
		x, err := ReadIndex(bytes.NewReader(src))
		if err != nil {
			return
		}
		if !json.Valid(src) {
			t.Fatalf("%q was read", src)
		}
		const front = "## [2026-01-01] new"
		text := indexText(t, front, string(src))
		if i := strings.IndexFunc(text, func(r rune) bool { return r > 0x7f }); i >= 0 {
			t.Errorf("%q holds a character beyond ASCII", text)
		}
		again := readIndex(t, text)
		want := append([]string{read(t, front).Entries[0].Digest.String() + " " + front}, listed(t, x)...)
		if got := listed(t, again); !slices.Equal(got, want) {
			t.Errorf("%q became %q", src, text)
		}
		if once := indexText(t, "", text); once != text {
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
