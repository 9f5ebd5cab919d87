package safetext

import (
	"os/exec"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain", "docs/guide.md", "docs/guide.md"},
		{"line ends", "a\r\n::error::b", "a::error::b"},
		{"terminal sequence", "\x1b[31mred\x1b[0m", "[31mred[0m"},
		{"NUL, DEL and C1", "a\x00b\x7fc\u009bd", "abcd"},
		{"bidirectional override", "a\u202eb\u2066c", "abc"},
		{"zero width and soft hyphen", "a\u200bb\u200dc\u00add", "abcd"},
		{"tag characters", "a\U000e0041b", "ab"},
		{"byte order mark", "\ufeffa", "a"},
		{"bad bytes", "a\xff\xfeb", "a\ufffd\ufffdb"},
		{"other scripts", "说明 é العربية 😀", "说明 é العربية 😀"},
		{"separators are no control characters", "a\u2028b\u00a0c", "a\u2028b\u00a0c"},
		{"exactly as long as allowed", strings.Repeat("é", Limit), strings.Repeat("é", Limit)},
		{"one character more", strings.Repeat("é", Limit+1), strings.Repeat("é", Limit) + "…"},
		{"what is dropped does not count", strings.Repeat("\u200b", 999) + "a", "a"},
		{"nothing is cut where only dropped characters follow", strings.Repeat("a", Limit) + "\n\n", strings.Repeat("a", Limit)},
	} {
		if got := Clean(tt.in); got != tt.want {
			t.Errorf("%s: Clean(%q) = %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
	if got := Cut("abcdef", 3); got != "abc…" {
		t.Errorf("Cut to 3 = %q", got)
	}
	if got := Cut("abc", 0); got != "…" {
		t.Errorf("Cut to 0 = %q", got)
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b[0m\u202e\xff")
	f.Add(strings.Repeat("é", 200))
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > Limit+1 {
			t.Errorf("Clean(%q) = %q", s, got)
		}
		for _, r := range got {
			if unicode.In(r, unicode.Cc, unicode.Cf) {
				t.Errorf("Clean(%q) keeps %U", s, r)
			}
		}
		if again := Clean(got); utf8.RuneCountInString(got) <= Limit && again != got {
			t.Errorf("Clean twice gives %q, then %q", got, again)
		}
	})
}

func TestShellQuote(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"packages/api", "packages/api"},
		{"a@b:c=d,e%f+g-h_i.j", "a@b:c=d,e%f+g-h_i.j"},
		{"", "''"},
		{"a b", "'a b'"},
		{"it's", `'it'\''s'`},
		{"$(rm -rf /)", "'$(rm -rf /)'"},
		{"a;b", "'a;b'"},
		{"~", "'~'"},
		{"*", "'*'"},
		{"-rf", "'-rf'"},
		{"é", "'é'"},
		{"a\nfix: rm -rf ~", `"$(printf 'a\012fix: rm -rf ~')"`},
	} {
		if got := ShellQuote(tt.in); got != tt.want {
			t.Errorf("ShellQuote(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestShellPath(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"packages/api", "packages/api"},
		{".", "."},
		{"", "''"},
		{"-api", "./-api"},
		{"--force", "./--force"},
		{"-a b", "'./-a b'"},
		{"a/-b", "a/-b"},
		{"-\n", `"$(printf './-\012')"`},
	} {
		if got := ShellPath(tt.in); got != tt.want {
			t.Errorf("ShellPath(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// A real shell must read each quoted word as the text it came from.
func TestShellReadsQuotedWordsBack(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh on this machine")
	}
	for _, s := range []string{"", "plain/path", "a b", "it's", `"`, `\`, "$HOME", "`id`", "a\nb", "!x", "#x", "-n", "%s", "~root", "{a,b}", "'''", "é\u202e", "50%\t\\n'x'\xff", "a\u2028b"} {
		out, err := exec.Command(sh, "-c", "printf '%s' "+ShellQuote(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("%q comes back as %q (%v)", s, out, err)
		}
		if back, ok := ShellUnquote(ShellQuote(s)); !ok || back != s {
			t.Errorf("%q is unquoted as %q, %t", s, back, ok)
		}
	}
}

// Whatever ShellQuote did not write is no word of its own.
func TestShellUnquote(t *testing.T) {
	for _, word := range []string{"", "'", "a b", "$(id)", `"$(printf '`, `"$(printf 'a')"`, `"$(printf 'a\012')$(id)"`, "'a'b'", "'plain'", `'a'\'b`} {
		if s, ok := ShellUnquote(word); ok {
			t.Errorf("%q is taken for %q", word, s)
		}
	}
}

func TestEscape(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"plain é 😀", "plain é 😀"},
		{"a\nb\x00\x7f\u0085", `a\u000ab\u0000\u007f\u0085`},
		{"a\u202eb\u2066\u200b\ufeff", `a\u202eb\u2066\u200b\ufeff`},
		{"\u2028\u2029", `\u2028\u2029`},
		{"\U000e0041", `\udb40\udc41`},
		{"a\xffb", "a\ufffdb"},
		{strings.Repeat("é", 10), strings.Repeat("é", 10)},
		{strings.Repeat("é", 11), strings.Repeat("é", 7) + "..."},
		{strings.Repeat("\n", 11), strings.Repeat(`\u000a`, 7) + "..."},
	} {
		if got := Escape(tt.in, 10); got != tt.want {
			t.Errorf("Escape(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestAppendEscape(t *testing.T) {
	for r, want := range map[rune]string{0: `\u0000`, 0x7f: `\u007f`, 0x202e: `\u202e`, 0xffff: `\uffff`, 0x10000: `\ud800\udc00`, 0xe0001: `\udb40\udc01`, 0x10ffff: `\udbff\udfff`} {
		if got := string(AppendEscape([]byte("a"), r)); got != "a"+want {
			t.Errorf("%U gives %s, want a%s", r, got, want)
		}
	}
}
