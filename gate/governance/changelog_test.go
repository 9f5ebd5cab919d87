package governance

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/fake"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsregexp"
)

// The grammar of 4.2 as the specification spells it, in JavaScript's expressions.
var (
	specRelease    = jsregexp.MustCompile(`^## \[(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)\] - (\d{4}-\d{2}-\d{2})\s*$`, "")
	specUnreleased = jsregexp.MustCompile(`^## \[Unreleased\]\s*$`, "")
	specLink       = jsregexp.MustCompile(`^\[([^\]]+)\]:\s*https?://\S+$`, "")
)

// asSpecified reads a changelog line by line with these expressions.
func asSpecified(data string) string {
	var b strings.Builder
	for i, line := range regexp.MustCompile(`\r?\n`).Split(strings.TrimPrefix(data, "\ufeff"), -1) {
		if m := specLink.FindStringSubmatch(line); m != nil {
			fmt.Fprintf(&b, "link %q\n", m[1])
		}
		switch m := specRelease.FindStringSubmatch(line); {
		case m != nil:
			fmt.Fprintf(&b, "%d release %s %s\n", i+1, m[1], m[2])
		case specUnreleased.MatchString(line):
			fmt.Fprintf(&b, "%d unreleased\n", i+1)
		case strings.HasPrefix(line, "## "):
			fmt.Fprintf(&b, "%d bad\n", i+1)
		case strings.HasPrefix(line, "### "):
			fmt.Fprintf(&b, "%d section %q\n", i+1, ecma.Trim(line[4:]))
		}
	}
	return b.String()
}

// asRead lists the same of a history, line by line.
func asRead(data string) string {
	h := parseHistory([]byte(data))
	at := map[int]string{}
	for _, x := range h.headings {
		switch {
		case x.date != "":
			at[x.line] = fmt.Sprintf("%d release %s %s\n", x.line, x.name, x.date)
		case x.known:
			at[x.line] = fmt.Sprintf("%d unreleased\n", x.line)
		default:
			at[x.line] = fmt.Sprintf("%d bad\n", x.line)
		}
	}
	for _, x := range h.sections {
		at[x.line] = fmt.Sprintf("%d section %q\n", x.line, x.name)
	}
	var b strings.Builder
	for i, line := range h.lines {
		if label, ok := referenceLink(line); ok && h.links[label] {
			fmt.Fprintf(&b, "link %q\n", label)
		}
		b.WriteString(at[i+1])
	}
	return b.String()
}

// The reader and the expressions of the specification see the same.
func FuzzChangelog(f *testing.F) {
	for _, s := range []string{
		changes, "## [1.0.0] - 2026-01-01\u00a0\r\n### Added \n", "## [1.0.0-rc.1] - 2026-01-01\r", "##  [1.0.0] - 2026-01-01", "## [Unreleased]\t\n## [unreleased]",
		"[a]: http://x y\n[a]b]: https://x\n[]: https://x\n[a]:https://\n[a]:\u2003http://x\n[a] : http://x", "\ufeff## [01.002.3] - 0000-99-99", "### \n#### x\n##\n###", "\xff## x\n[\xff]: http://\xff",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data string) {
		data = strings.ToValidUTF8(data, "\ufffd")
		if got, want := asRead(data), asSpecified(data); got != want {
			t.Errorf("%q is read as\n%sand is\n%s", data, got, want)
		}
	})
}

// Each case is the sound changelog with something replaced.
func TestChangelogFormat(t *testing.T) {
	for _, tt := range []struct{ name, from, to, want string }{
		{"sound", "", "", ""},
		{"no Unreleased", "## [Unreleased]\n", "", ""},
		{"v before the number", "## [1.0.0]", "## [v1.0.0]", "changelog/bad-heading CHANGELOG.md:7"},
		{"build metadata", "## [1.0.0]", "## [1.0.0+1]", "changelog/bad-heading CHANGELOG.md:7"},
		{"yanked", "2026-01-01", "2026-01-01 [YANKED]", "changelog/bad-heading CHANGELOG.md:7"},
		{"two blanks", "] - 2026-01-01", "]  - 2026-01-01", "changelog/bad-heading CHANGELOG.md:7"},
		{"an en dash", "] - 2026-01-01", "] \u2013 2026-01-01", "changelog/bad-heading CHANGELOG.md:7"},
		{"other digits", "2026-01-01", "\u0662026-01-01", "changelog/bad-heading CHANGELOG.md:7"},
		{"lower case", "[Unreleased]\n", "[unreleased]\n", "changelog/bad-heading CHANGELOG.md:3"},
		{"a blank line of a heading", "# Changelog", "## ", "changelog/bad-heading CHANGELOG.md:1, changelog/unreleased-position CHANGELOG.md:3"},
		{"no blank behind the number signs", "# Changelog", "##Changelog", ""},
		{"a leap day", "2026-01-01", "2024-02-29", ""},
		{"no leap day", "2026-01-01", "1900-02-29", "changelog/invalid-date CHANGELOG.md:7"},
		{"month 13", "2026-01-01", "2025-13-01", "changelog/invalid-date CHANGELOG.md:7"},
		{"day 0", "2026-01-01", "2025-12-00", "changelog/invalid-date CHANGELOG.md:7"},
		{"today", "2026-02-01", "2026-06-01", ""},
		{"tomorrow", "2026-02-01", "2026-06-02", "changelog/future-date CHANGELOG.md:5"},
		{"an invalid date far away", "2026-02-01", "9999-99-99", "changelog/invalid-date CHANGELOG.md:5"},
		{"a section in other letters", "## [1.0.0]", "### fixed\n## [1.0.0]", "changelog/unknown-section CHANGELOG.md:7"},
		{"a section with a colon", "## [1.0.0]", "### Fixed:\n## [1.0.0]", "changelog/unknown-section CHANGELOG.md:7"},
		{"a section before any release", "## [Unreleased]", "### Notes\n## [Unreleased]", "changelog/unknown-section CHANGELOG.md:3"},
		{"blanks around a section", "## [1.0.0]", "###  Fixed\t\n## [1.0.0]", ""},
		{"a heading further down", "## [1.0.0]", "#### Whatever\n## [1.0.0]", ""},
		{"numbers of any length", "1.0.0]", "1.99999999999999999999.0]", ""},
		{"zeros before a number", "[1.0.0]", "[02.000.0]", "changelog/duplicate-version CHANGELOG.md:7"},
		{"a greater number below", "[1.0.0]", "[2.0.10]", "changelog/order CHANGELOG.md:7"},
		{"a pre-release below", "[1.0.0]", "[2.0.0-alpha]", "changelog/duplicate-version CHANGELOG.md:7"},
		{"a link in a list", "[1.0.0]: ", "- [1.0.0]: ", "changelog/missing-link CHANGELOG.md:7"},
		{"a link by ftp", "[1.0.0]: https", "[1.0.0]: ftp", "changelog/missing-link CHANGELOG.md:7"},
		{"an empty link", "[1.0.0]: https://example.com", "[1.0.0]: https://", "changelog/missing-link CHANGELOG.md:7"},
		{"a link of a pre-release", "[2.0.0]: ", "[2.0.0-rc.1]: ", "changelog/missing-link CHANGELOG.md:5"},
	} {
		text := strings.Replace(changes, tt.from, tt.to, 1)
		if strings.Contains(tt.from, "1.0.0]") && !strings.HasSuffix(tt.from, ": ") && !strings.HasPrefix(tt.to, "###") {
			text = strings.ReplaceAll(changes, tt.from, tt.to)
		}
		t.Run(tt.name, func(t *testing.T) {
			expect(t, fake.Files(map[string]string{"package.json": `{"version": "2.0.0"}`, "CHANGELOG.md": text, ConfigFile: `{"check": {"only": ["changelog-format"]}}`}), tt.want)
		})
	}
}

// Presence looks at the beginning of lines, and at nothing else.
func TestChangelogPresence(t *testing.T) {
	for text, want := range map[string]string{
		"## [2.0.0] - whenever":               "",
		"\ufeff## [2.0.0] - x":                "",
		"x\r\n## [2.0.0] - ":                  "",
		"## [2.0.0]":                          "changelog/missing-version CHANGELOG.md:1",
		" ## [2.0.0] - x":                     "changelog/missing-version CHANGELOG.md:1",
		"## [12.0.0] - x":                     "changelog/missing-version CHANGELOG.md:1",
		"x\n## [1.0.0] - 2026-01-01\n":        "changelog/missing-version CHANGELOG.md:2",
		"x\n## [1.0.0] - x\n\n### [2.0.0] - ": "changelog/missing-version CHANGELOG.md:1",
	} {
		expect(t, fake.Files(map[string]string{"package.json": `{"version": "2.0.0"}`, "CHANGELOG.md": text, ConfigFile: `{"check": {"only": ["changelog"]}}`}), want)
	}
}

func TestCompareCores(t *testing.T) {
	ordered := []string{"0.0.0", "0.0.1", "0.2.0", "0.10.0", "1.0.0", "9.9.9", "10.0.0", "99999999999999999999.0.0", "100000000000000000000.0.0"}
	for i, a := range ordered {
		for k, b := range ordered {
			got, want := compareCores(a+"-z", b), 0
			switch {
			case i < k:
				want = -1
			case i > k:
				want = 1
			}
			if got != want {
				t.Errorf("%s and %s: %d", a, b, got)
			}
		}
	}
}
