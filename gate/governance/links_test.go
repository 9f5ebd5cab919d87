package governance

import (
	"regexp"
	"strings"
	"testing"
)

func TestFindLinks(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"[a](b)", "0 b"},
		{"![a](b \"t\")", "1 b"},
		{"[a](b 't')", ""},
		{"[a](b \"t\" )", ""},
		{"[a](b\u00a0\"t\")", "0 b"},
		{"[a] (b)", ""},
		{"[a](b", ""},
		{"[](b)", "0 b"},
		{"[a]()", ""},
		{"[a](b c)", ""},
		{"`[a](b)`", "1 b"},
		{"[a\nb](c\n\"t\")", "0 c"},
		{"[a](b(c))", "0 b(c"},
		{"[a](<b>)", "0 <b>"},
		{`[a\](b)`, ""},
		{`[a\\](b)`, "0 b"},
		{`[a\](b) [c](d)`, "8 d"},
		{`[a\](b [c](d)`, "7 d"},
		{"[a (b) [c](d)", "0 d"}, // a bracket that opens nothing is text of the label
		{"[[a](b)](c)", "0 b"},
		{"[a][b]", ""},
		{"[a]: b", ""},
	} {
		var got []string
		for _, l := range findLinks(tt.text) {
			got = append(got, strings.TrimSpace(string(rune('0'+l.off))+" "+l.target))
		}
		if s := strings.Join(got, ", "); s != tt.want {
			t.Errorf("%q: %s, want %s", tt.text, s, tt.want)
		}
	}
}

func TestLinkFile(t *testing.T) {
	for target, want := range map[string]string{
		"a.md": "a.md", "a.md#x": "a.md", "a.md?x#y": "a.md", "a.md#x?y": "a.md", "/a": "/a", "<a>": "a", "<a#b>": "a", "a%20b": "a b", "a%2Fb": "a/b", "%E9": "%E9", "%c3%a9": "é",
		"a%": "a%", "%zz%20": "%zz%20", "a+b": "a+b", "<": "<", "<>": "", "?": "", "?a": "", "./": "./", "docs/x:y": "docs/x:y",
		"#a": "", "//a": "", "http://a": "", "HTTPS://a": "", "mailto:a": "", "<http://a>": "", "<#a>": "", "<//a>": "", "x-1.+:a": "", "a.md:12": "", "C:/a": "", ":a": ":a",
	} {
		got, ok := link{target: target}.file()
		if got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", target, got, ok)
		}
	}
}

// Where links begin and what they point to is within the text, and a link is found
// with whatever stands around it in other paragraphs.
func FuzzLinks(f *testing.F) {
	for _, s := range []string{"[a](b)", "![a\\](b \"t\")", "[a](<b c>)", "[x](%2e%2e/%00)", "[a\n](b)", "](a) [](c)"} {
		f.Add(s)
	}
	whole := regexp.MustCompile(`(?s)^\[[^\]]*\]\([^)\s]`)
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "\ufffd")
		found := findLinks(text)
		for _, l := range found {
			if !whole.MatchString(text[l.off:]) || !strings.Contains(text[l.off:], "]("+l.target) || l.target == "" {
				t.Fatalf("%q: %+v", text, l)
			}
			if name, ok := l.file(); ok && name == "" {
				t.Errorf("%q: %+v names a file without a name", text, l)
			}
		}
		after := findLinks(text + "\n\n]()\n\n[end](end.md)")
		if n := len(after); n <= len(found) || after[n-1].target != "end.md" {
			t.Errorf("%q hides the link behind it: %+v", text, after)
		}
	})
}
