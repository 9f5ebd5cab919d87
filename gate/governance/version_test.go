package governance

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/conform"
	"github.com/handoff-gate/handoff-gate/gate/internal/fake"
)

func TestOccurrences(t *testing.T) {
	for _, tt := range []struct {
		text, version    string
		anywhere, asWord int
	}{
		{"3.3.09 v3.3.0 3.3.0", "3.3.0", 3, 1},
		{"v1.2.3", "1.2.3", 1, 0},
		{"1.2.3-rc.1 1.2.3.4 x/1.2.3", "1.2.3", 3, 3},
		{"_1.2.3 1.2.3_ é1.2.3", "1.2.3", 3, 1},
		{"1.2.31.2.3", "1.2.3", 2, 0},
		{"1x2x3", "1.2.3", 0, 0},
		{"1.1.1.1.1.1", "1.1.1", 2, 2},
		{"", "1.2.3", 0, 0},
		{"a-a-", "a-", 2, 1}, // no boundary behind a hyphen at the end of the text
	} {
		a, w := len(occurrences(tt.text, tt.version, false)), len(occurrences(tt.text, tt.version, true))
		if a != tt.anywhere || w != tt.asWord {
			t.Errorf("%s in %q: %d and %d", tt.version, tt.text, a, w)
		}
	}
}

// The finder against regular expressions, and stale versions never inside of the
// version itself.
func FuzzOccurrences(f *testing.F) {
	f.Add("v1.2.3, 1.2.3-rc.1 and 11.2.34", "1.2.3")
	f.Add("1.1.1.1.1", "1.1.1")
	f.Add("aaaa", "aa")
	f.Fuzz(func(t *testing.T, text, version string) {
		if text, version = strings.ToValidUTF8(text, "\ufffd"), strings.ToValidUTF8(version, "\ufffd"); version == "" || len(version) > 1000 {
			return
		}
		plain := regexp.QuoteMeta(version)
		for _, boundary := range []bool{false, true} {
			re := regexp.MustCompile(plain)
			if boundary {
				re = regexp.MustCompile(`\b` + plain + `\b`)
			}
			found := occurrences(text, version, boundary)
			if got, want := fmt.Sprint(found), fmt.Sprint(re.FindAllStringIndex(text, -1)); got != want {
				t.Errorf("%q in %q: %s, want %s", version, text, got, want)
			}
			others, first := stale(text, version, found)
			if (len(others) > 0) != (first >= 0) {
				t.Errorf("%q in %q: %q at %d", version, text, others, first)
			}
			for _, o := range others {
				if o == version || !strings.HasPrefix(text[first:], others[0]) {
					t.Errorf("%q in %q: %q at %d", version, text, others, first)
				}
			}
		}
	})
}

func TestVersionSites(t *testing.T) {
	for _, tt := range []struct{ name, version, site, text, want, message string }{
		{"enough", "1.2.3", `"minOccurrences": 2`, "1.2.3 1.2.3", "", ""},
		{"too few", "1.2.3", `"minOccurrences": 3, "note": "see above"`, "1.2.3\n1.2.3\n", "version/mismatch V:1", "found 2 times, and 3 are expected (see above)."},
		{"the first stale line", "1.2.3", `"boundary": true`, "x\n1.2.2 and\n0.0.1 1.2.2", "version/mismatch V:2", "Other versions there: 0.0.1, 1.2.2."},
		{"the number of a pre-release", "1.2.3-rc.1", `"minOccurrences": 2`, "1.2.3-rc.1\n1.2.3-rc.2", "version/mismatch V:2", "Other versions there: 1.2.3."},
		{"a version that is no number", "next", `"boundary": true`, "nextone\n1.2.3.4", "version/mismatch V:2", "Other versions there: 1.2.3."},
		{"many", "9.9.9", `"boundary": true`, "1.0.1 1.0.2 1.0.3 1.0.4 1.0.5 1.0.6 1.0.7 1.0.8 1.0.9 1.0.10 1.0.11 1.0.12", "version/mismatch V:1", "and 2 more."},
	} {
		r := expect(t, fake.Files(map[string]string{
			"package.json": `{"version": "` + tt.version + `"}`, "V": tt.text, ConfigFile: `{"versionSites": [{"file": "V", ` + tt.site + `}]}`,
		}), tt.want)
		if f := r.Findings(); tt.want != "" && len(f) == 1 && !strings.Contains(f[0].Message, tt.message) {
			t.Errorf("%s: %s", tt.name, f[0].Message)
		}
	}
}

// Of equal keys in package.json the last counts, as for npm; a byte order mark and
// comments are no JSON.
func TestPackage(t *testing.T) {
	for text, want := range map[string]string{
		`{"version": "1.0.0", "version": "2.0.0", "name": "p"}`: "2.0.0 p",
		`{"version": 1, "name": 2}`:                             " ",
		`{"version": "", "name": ""}`:                           " ",
		"\ufeff{\"version\": \"1.0.0\"}":                        " ",
		"{// c\n}":                                              " ",
		"[]":                                                    " ",
		`{"repository": "https://github.com/o/n"}`:              "  https://github.com/o/n",
		`{"repository": {"url": "git@github.com:o/n.git"}}`:     "  git@github.com:o/n.git",
		`{"repository": {"url": 1}}`:                            " ",
	} {
		p := NewJudge(world(fake.Files(map[string]string{"package.json": text}))).Package()
		version, _, _ := p.Version()
		if got := strings.TrimRight(version+" "+p.Name()+" "+p.Repository(), " "); got != strings.TrimRight(want, " ") {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func TestIsNumber(t *testing.T) {
	for text, want := range map[string]bool{
		"350": true, " 350\u00a0": true, "0350": true, "+350": true, "350.0": true, "350.": true, "3.5e2": true, "35000E-2": true,
		"": false, "351": false, "-350": false, "350.00000000000000000000001": false, "1,350": false, "350+": false, "0x15e": false, "3 50": false, "350n": false, "Infinity": false, "1e999999999999": false, ".": false, "e2": false,
	} {
		if isNumber(text, "350") != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
	for _, pair := range [][2]string{{"-5", "-5.0"}, {"0", "-0"}, {".5", "5e-1"}, {"12e2", "1200"}} {
		if !isNumber(pair[0], pair[1]) {
			t.Errorf("%s is not %s", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]string{{"-5", "-4"}, {"-1", "0"}, {"0", "1e-9"}, {"9", "10"}, {"99", "123"}, {"1.5", "1.25e1"}} {
		if conform.Compare(pair[0], pair[1]) != -1 || conform.Compare(pair[1], pair[0]) != 1 {
			t.Errorf("%s and %s", pair[0], pair[1])
		}
	}
}

// A floor is judged by how its script ended and by its first number.
func TestFloors(t *testing.T) {
	tree := fake.Files(map[string]string{
		"count.mjs": "", "R": "12",
		ConfigFile: "{\"claims\": [{\"id\": \"a\", \"canonical\": \"\", \"phrase\": \"(12)\", \"surfaces\": [{\"file\": \"R\"}],\n\"advertised\": 12,\n\"floorCmd\": \"count.mjs\"}]}",
	})
	for _, tt := range []struct {
		result FloorResult
		want   string
	}{
		{FloorResult{Stdout: []byte("12")}, ""},
		{FloorResult{Stdout: []byte("about 13.5 of 2")}, ""},
		{FloorResult{Stdout: []byte("99999999999999999999999")}, ""},
		{FloorResult{Stdout: []byte("x-12")}, "claims/exceeds-floor aahp.config.json:2"},
		{FloorResult{Stdout: []byte("11\n12\n")}, "claims/exceeds-floor aahp.config.json:2"},
		{FloorResult{Stdout: []byte("none")}, "claims/floor-no-number aahp.config.json:3"},
		{FloorResult{Failed: "exit status 1"}, "claims/floor-failed aahp.config.json:3"},
		{FloorResult{NotRun: "off"}, "claims/floor-not-evaluated aahp.config.json:3"},
	} {
		p, err := Check(t.Context(), world(tree))
		if err != nil || len(p.Floors) != 1 || p.Floors[0].Script != "count.mjs" {
			t.Fatalf("%+v, %v", p, err)
		}
		r := p.Finish([]FloorResult{tt.result})
		if got := found(t, r.Findings()); got != tt.want {
			t.Errorf("%+v: %s", tt.result, got)
		}
		if l := r.Gates[3]; (l.Outcome == Pass) != (tt.want == "") {
			t.Errorf("%+v: %s", tt.result, l.Outcome)
		}
	}
}
