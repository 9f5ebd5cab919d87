package pathglob

import "testing"

// gate/packet/ledger holds Match to regular expressions of generated globs.
func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		glob, path string
		want       bool
	}{
		{"a/b", "a/b", true},
		{"a/b", "a/bc", false},
		{"*.json", "a.json", true},
		{"*.json", "a/b.json", false},
		{"a/?.json", "a/é.json", true},
		{"a?b", "a/b", false},
		{"**", "a/b/c", true},
		{"**/*.json", "a.json", true},
		{"**/*.json", "a/b/c.json", true},
		{"src/**/a", "src/a", true},
		{"src/**/a", "src/x/y/a", true},
		{"src/**", "src", false},
		{"src/**", "srcs/a", false},
		{"[a]", "a", false},
		{"[a]", "[a]", true},
		{"", "", true},
		{"*", "", true},
		{"", "a", false},
		{"\xff", "\xff", true},
		{"\xff", "\xfe", false},
		{"\ufffd", "\xff", false},
		{"a?b", "a\xffb", true},
	} {
		if got := Parse(tt.glob).Match(tt.path); got != tt.want {
			t.Errorf("%q on %q: %v", tt.glob, tt.path, got)
		}
	}
}

func TestParseFlat(t *testing.T) {
	for _, tt := range []struct {
		glob, path string
		want       bool
	}{
		{"packages/*", "packages/api", true},
		{"packages/*", "packages/api/v2", false},
		{"packages/*/v?", "packages/api/v2", true},
		{"**", "packages", true},
		{"**", "packages/api", false},
		{"**/api", "packages/api", true},
		{"**/api", "api", false},
		{"***/api", "a/b/api", false},
	} {
		if got := ParseFlat(tt.glob).Match(tt.path); got != tt.want {
			t.Errorf("%q on %q: %v", tt.glob, tt.path, got)
		}
	}
}
