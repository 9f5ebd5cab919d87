package lint

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

// TestHidden goes through the table of aahp-lint.md 10.3: what is reported, as
// how severe, at which columns, and the honest twin of it.
func TestHidden(t *testing.T) {
	const zwnj, zwj, zwsp = "\u200c", "\u200d", "\u200b"
	for _, tc := range []struct {
		name, line string
		want       string // "" when nothing is reported
		message    string
	}{
		{"tags", "ok" + tagged("hello there"), "error 3-14", "U+E0068 tag (2)"},
		{"a flag of tags", "\U0001F3F4" + tagged("gbsct") + "\U000E007F flag", "", ""},
		{"a flag without its end", "\U0001F3F4" + tagged("gbsct") + " flag", "error 2-7", ""},
		{"a flag that says too much", "\U0001F3F4" + tagged("gbsctxyz") + "\U000E007F", "error 2-11", ""},
		{"a flag in capitals", "\U0001F3F4" + tagged("GBSCT") + "\U000E007F", "error 2-8", ""},
		{"an override", "abc\u202etxt.exe\u202c", "error 4-5", "U+202E override (1), U+202C end of embedding (1)"},
		{"an override in Hebrew", "\u05e9\u202e\u05dc", "error 2-3", ""},
		{"an unbalanced isolate", "x \u2066 y", "error 3-4", "isolate"},
		{"an isolate closed by the wrong end", "\u2067\u05e9\u202c", "error 1-2", ""},
		{"a closer alone", "\u05e9\u2069", "error 2-3", ""},
		{"crossed embeddings", "\u202b\u2067\u05e9\u202c\u2069", "error 1-3", ""},
		{"a balanced isolate without right-to-left text", "see \u2066abc\u2069.", "warning 5-6", "U+2066 isolate (1), U+2069 end of isolate (1)"},
		{"a balanced isolate round Hebrew", "see \u2067\u05e9\u05dc\u05d5\u05dd\u2069.", "", ""},
		{"nested embeddings round Arabic", "\u202b\u0633\u0644\u0627\u0645 \u202aabc\u202c\u202c", "", ""},
		{"a path copied from a Windows dialog", "see \u202aC:\\Users\\x\\a.txt", "warning 5-6", "U+202A embedding (1)"},
		{"two of them", "\u202aC:\\a \u202aC:\\b", "error 1-2", ""},
		{"a mark without right-to-left text", "abc\u200e", "warning 4-5", "U+200E direction mark (1)"},
		{"a mark is not the letter that excuses it", "abc\u200f", "warning 4-5", ""},
		{"nor is the Arabic letter mark", "abc\u061c", "warning 4-5", ""},
		{"the Arabic letter mark in Arabic", "\u0633\u0644\u0627\u0645 (abc)\u061c", "", ""},
		{"a mark in Hebrew", "\u05e9\u05dc\u05d5\u05dd (abc)\u200f", "", ""},
		{"a joiner between Latin letters", "a" + zwj + "b", "warning 2-3", "U+200D zero-width joiner (1)"},
		{"a non-joiner in Persian", "\u0645\u06cc" + zwnj + "\u062e\u0648\u0627\u0647\u0645", "", ""},
		{"a joiner in Hindi", "\u0915\u094d" + zwj + "\u0937", "", ""},
		{"a joiner at the end of a Bengali word", "\u09b0\u09cd" + zwj, "", ""},
		{"a joiner after an Arabic digit only", "\u0661" + zwj + " ", "warning 2-3", ""},
		{"an emoji family", "\U0001F468\u200d\U0001F469\u200d\U0001F467", "", ""},
		{"an emoji with skin tone", "\U0001F9D1\U0001F3FE\u200d\U0001F4BB", "", ""},
		{"a heart on fire", "\u2764\ufe0f\u200d\U0001F525", "", ""},
		{"an emoji joined to a letter", "\U0001F468\u200dx", "warning 2-3", ""},
		{"a non-joiner between emoji", "\U0001F468\u200c\U0001F469", "warning 2-3", ""},
		{"a zero-width space between Latin letters", "pass" + zwsp + "word", "warning 5-6", "U+200B zero-width space (1)"},
		{"a zero-width space in Thai", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35" + zwsp + "\u0e04\u0e23\u0e31\u0e1a", "", ""},
		{"a zero-width space after Khmer", "\u1780" + zwsp + "abc", "", ""},
		{"a selector after emoji", "\u26a0\ufe0f warn \u2714\ufe0e ok", "", ""},
		{"a keycap", "1\ufe0f\u20e3 #\ufe0f\u20e3", "", ""},
		{"a selector after a letter", "a\ufe0fb", "warning 2-3", "U+FE0F variation selector (1)"},
		{"a selector after a mathematical sign", "\u2229\ufe00", "", ""},
		{"a selector at the start", "\ufe0f", "warning 1-2", ""},
		{"a doubled emoji selector", "- \ufe0f\ufe0f\u26a0\ufe0f x", "warning 3-5", "U+FE0F variation selector (2)"},
		{"selectors as a data channel", "\U0001F600\ufe01\ufe02\ufe03\ufe04", "error 2-6", ""},
		{"eight emoji selectors", "\u26a0" + strings.Repeat("\ufe0f", 8), "error 2-10", ""},
		{"seven of them", "\u26a0" + strings.Repeat("\ufe0f", 7), "warning 2-9", ""},
		{"a supplementary selector after Han", "\u845b\U000E0100\u57ce", "", ""},
		{"two of them after Han", "\u845b\U000E0100\U000E0101", "error 2-4", ""},
		{"one after a letter", "a\U000E0101b", "error 2-3", "supplementary variation selector"},
		{"a Mongolian selector", "\u182d\u180b", "", ""},
		{"a Mongolian selector after a letter", "a\u180b", "warning 2-3", "Mongolian selector"},
		{"a word joiner", "a\u2060b", "warning 2-3", "U+2060 word joiner (1)"},
		{"an invisible times", "2\u2062x", "warning 2-3", "invisible operator"},
		{"a Hangul filler", "a\u3164b", "warning 2-3", "Hangul filler"},
		{"a Hangul filler in Hangul", "\u115f\u1161", "", ""},
		{"a byte order mark inside", "a\ufeffb", "warning 2-3", "U+FEFF byte order mark (1)"},
		{"an escape", "a\x1b[8mhidden\x1b[0m", "warning 2-3", "U+001B control character (2)"},
		{"a control of Latin-1", "a\u0085b", "warning 2-3", "U+0085 control character (1)"},
		{"a form feed and a tab", "a\fb\tc", "", ""},
		{"a run of seven zero-width characters in Thai", "\u0e01" + strings.Repeat(zwsp, 7) + "\u0e01", "warning 3-8", ""},
		{"a run of eight", "\u0e01" + strings.Repeat(zwsp, 8) + "\u0e01", "error 2-10", "U+200B zero-width space (8)"},
		{"a mixed run of ten", "a" + strings.Repeat(zwsp+zwnj, 5) + "b", "error 2-12", "(5), U+200C"},
		{"a weaker character first, the severity of the strongest", "a\u2060 b\u202ec", "error 2-3", "U+2060 word joiner (1), U+202E override (1)"},
		{"soft hyphens and no-break spaces", "Donau\u00addampf 10\u00a0km\u202fx\u2009y", "", ""},
		{"private use and unassigned", "\ue000 \U0003FFF0", "", ""},
	} {
		h := judgeHidden([]byte(tc.line), false)
		got := ""
		if h.total > 0 {
			col := func(off int) int { return 1 + len([]rune(tc.line[:off])) }
			got = string(h.severity) + " " + itoa(col(h.start)) + "-" + itoa(col(h.end))
		}
		if got != tc.want {
			t.Errorf("%s: %+q: got %q, want %q", tc.name, tc.line, got, tc.want)
		}
		if h.total > 0 && !strings.Contains(h.message(), tc.message) {
			t.Errorf("%s: message %q lacks %q", tc.name, h.message(), tc.message)
		}
	}
}

func itoa(n int) string {
	if n >= 10 {
		return itoa(n/10) + string(rune('0'+n%10))
	}
	return string(rune('0' + n))
}

func TestHiddenInFiles(t *testing.T) {
	for _, tc := range []struct {
		name, file, text string
		want             []string
	}{
		{"a byte order mark opens the file", "STATUS.md", "\ufeff# Status\nGreen\u200b.\n", []string{"hidden-unicode warning 2:6-7 "}},
		{"columns after it", "STATUS.md", "\ufeffa\u200bb\n", []string{"hidden-unicode warning 1:2-3 "}},
		{"one finding a line", "STATUS.md", "a\u200bb\u200bc\nd\u200be\n", []string{"hidden-unicode warning 1:2-3 ", "hidden-unicode warning 2:2-3 "}},
		{"in .aiignore too", ".aiignore", "a\u202eb\n", []string{"hidden-unicode error 1:2-3 "}},
		{"not in a binary file", "data.bin", "\x00a\u202eb\n", nil},
		{"behind an escape, at the token", "x.json", "{\n\"k\": \"a\\u202eb\"}\n", []string{"hidden-unicode error 2:6-16 "}},
		{"plain in JSON, once", "x.json", "{\n\"k\": \"a\u202eb\"}\n", []string{"hidden-unicode error 2:8-9 "}},
		{"a surrogate pair behind escapes", "x.json", `{"k": "\uD83D\uDE00 \uDB40\uDC61"}`, []string{"hidden-unicode error 1:7-34 "}},
		{"a NUL is a matter of encoding", "STATUS.md", "ab\x00c\n\x00\n", []string{"encoding warning 1:3-4 "}},
		{"an invalid byte", "notes.txt", "a\n\u00e9\xe9\n", []string{"encoding warning 2:2-3 "}},
		{"Latin-1 in a file of another kind", "data.bin", "a\x00\xe9\n", nil},
		{"UTF-16", "STATUS.md", "\xfe\xff\x00a\x00\n", []string{"encoding warning 1:0-0 "}},
	} {
		if got := describe(scanFile(tc.file, tc.text, Options{})); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestTraits holds the paged table to the definitions it is made of, also where
// newTraits takes a short cut.
func TestTraits(t *testing.T) {
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if r > 0x3ffff && r < 0xe0000 || r > 0xe0fff {
			continue
		}
		got := traitsOf(r)
		if (got&traitHidden != 0) != (hiddenRow(r) != rowNone) {
			t.Fatalf("%U: hidden", r)
		}
		if want := scriptTraits(r); got&(traitJoined|traitUnspaced|traitHan|traitMongolian|traitHangul|traitRTL|traitEmoji|traitSelectable) != want {
			t.Fatalf("%U: script traits %x, want %x", r, got, want)
		}
		if got&(traitInvisible|traitTag) != 0 {
			continue
		}
		folded, _ := foldRune(r)
		if len(folded) == 1 && traits(folded[0]) != got&traitChar || len(folded) > 1 && got&traitChar != 0 {
			t.Fatalf("%U folds to %q, table says %x", r, folded, got)
		}
	}
}

// TestLookalikes names some of the table and its capitals.
func TestLookalikes(t *testing.T) {
	for r, want := range map[rune]byte{
		'а': 'a', 'А': 'a', 'В': 'b', 'в': 'b', 'М': 'm', 'ν': 'v', 'Ν': 'n', 'υ': 'u', 'Υ': 'y', 0x04c0: 'i', 0x04cf: 'l',
		'Κ': 'k', 'к': 'k', 'Ο': 'o', 0x054d: 'u', 0x2c6d: 'a', 0x0408: 'j',
	} {
		if got := lookalikes[r]; got != want {
			t.Errorf("%U looks like %q, want %q", r, got, want)
		}
	}
	for _, r := range "κжяσ" {
		if r != 'κ' && lookalikes[r] != 0 {
			t.Errorf("%U is no look-alike", r)
		}
	}
}

func FuzzHidden(f *testing.F) {
	for _, s := range []string{"abc\u202etxt\u202c", "\U0001F3F4" + tagged("gbeng") + "\U000E007F", "a\u200b\u200c\u200d", "\ufe0f\ufe0f", "\xff\u2066", "\ufeff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		h := judgeHidden([]byte(line), false)
		if (h.total > 0) != (h.severity != "") {
			t.Fatalf("%+q: %d characters of severity %q", line, h.total, h.severity)
		}
		if h.total == 0 {
			return
		}
		if h.start < 0 || h.end <= h.start || h.end > len(line) {
			t.Fatalf("%+q: place %d-%d", line, h.start, h.end)
		}
		for _, r := range h.message() {
			if unicode.In(r, unicode.Cc, unicode.Cf) {
				t.Fatalf("%+q: the message holds %U", line, r)
			}
		}
		// More text after it takes nothing away that is an error by itself.
		if strings.ContainsAny(line, "\u202d\u202e") && h.severity != report.Error {
			t.Fatalf("%+q: an override is %s", line, h.severity)
		}
	})
}
