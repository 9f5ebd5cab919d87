package governance

import (
	"strings"
	"testing"
)

func TestHeadline(t *testing.T) {
	long := strings.Repeat("w", 130)
	for _, tt := range []struct{ body, want string }{
		{"", ""},
		{"\n \t\n", ""},
		{"\n\nfirst\nsecond", "first"},
		{"**Bold** and *not*", "Bold and *not*"},
		{"- **Item**", "Item"},
		{"* item", "item"},
		{"-item", "item"},
		{"- - item", "- item"},
		{"** - item", "- item"}, // a blank stands in front of the hyphen
		{"***x*", "x*"},
		{"-", ""},
		{"### Added", "### Added"},
		{"`code`  and\tmore ", "code and more"},
		{"a\u00a0\u2003b", "a b"},
		{"caf\u00e9 \u2014 x", "caf  x"},
		{"\u00e9 x", "x"},
		{`a|b\c`, `a\|b\\c`},
		{`\|`, `\\\|`},
		{strings.Repeat("w", 120), strings.Repeat("w", 120)},
		{long, strings.Repeat("w", 117) + "..."},
		{strings.Repeat("w", 116) + " " + long, strings.Repeat("w", 116) + "..."},
		{strings.Repeat("|", 61), strings.Repeat(`\|`, 58) + `\...`},
		{"\x00a\x7fb", "ab"},
	} {
		if got := headline(splitLines(tt.body)); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.body, got, tt.want)
		}
	}
}

func TestFirstDifference(t *testing.T) {
	wanted := parseHistory([]byte(changes)).journal()
	journal := "# T\n\nfree\n" + strings.Join(wanted, "\n")
	for _, tt := range []struct {
		name, from, to string
		line           int
	}{
		{"none", "", "", 0},
		{"the title", "# T", "# U", 1},
		{"a blank behind the title", "# T", "# T ", 1},
		{"free text", "free", "# more\n\n## Release (1)", 0},
		{"nothing free", "\nfree\n", "", 0},
		{"no table", "## Releases (", "## Releases", 1},
		{"another number", "(2,", "(3,", 4},
		{"no empty line", "first)\n\n", "first)\n", 5},
		{"a row changed", "2026-01-01", "2026-01-02", 9},
		{"a row missing", strings.Join(wanted[4:5], "") + "\n", "", 8},
		{"the last row missing", wanted[5] + "\n", "", 9},
		{"no last line end", wanted[5] + "\n", wanted[5], 9},
		{"a second line end", wanted[5] + "\n", wanted[5] + "\n\n", 11},
		{"text behind the table", wanted[5] + "\n", wanted[5] + "\nmore\n", 10},
	} {
		text := strings.Replace(journal, tt.from, tt.to, 1)
		line, expected := firstDifference(strings.Split(text, "\n"), "# T", wanted)
		if line != tt.line {
			t.Errorf("%s: line %d, expected %q", tt.name, line, expected)
		}
	}
}

// The headline of a release is the first line up to the next release, of whatever
// kind it is.
func TestJournalOfAHistory(t *testing.T) {
	h := parseHistory([]byte("## [2.0.0] - 2026-02-01\n\n## [Unreleased]\n## [1.0.0] - 2026-99-99\n"))
	if got := strings.Join(h.journal()[4:], "|"); got != "| v2.0.0 | 2026-02-01 | ## [Unreleased] ||| v1.0.0 | 2026-99-99 |  ||" {
		t.Errorf("%s", got)
	}
}
