package ecma

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
)

func TestIsSpace(t *testing.T) {
	const set = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if got := IsSpace(r); got != strings.ContainsRune(set, r) && r != utf8.RuneError {
			t.Errorf("IsSpace(%U) = %v", r, got)
		}
	}
	if got := Trim("\ufeff\u3000 a\u0085 b \u2028\n"); got != "a\u0085 b" {
		t.Errorf("Trim left %q", got)
	}
}

func TestUnits(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "é": 1, "\uffff": 1, "\U00010000": 2, "a🚀b": 4} {
		if got := Units(s); got != want {
			t.Errorf("Units(%q) = %d, want %d", s, got, want)
		}
	}
}

// The numbers of U+FFFD are those of TextDecoder.
func TestDecode(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"é🚀\ufeff", "é🚀\ufeff"},
		{"a\xffb", "a\ufffdb"},
		{"\xff\xfe", "\ufffd\ufffd"},
		{"\x80\xbf", "\ufffd\ufffd"},
		{"\xc0\xaf", "\ufffd\ufffd"},             // overlong: neither byte begins anything
		{"\xe2\x82", "\ufffd"},                   // cut short at the end
		{"\xe2\x82x", "\ufffdx"},                 // cut short by a letter
		{"\xf0\x9f\x9a", "\ufffd"},               // cut short after three of four bytes
		{"\xf0\x9f\x9aé", "\ufffdé"},             // cut short by another character
		{"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},   // a surrogate
		{"\xe0\x80\x80", "\ufffd\ufffd\ufffd"},   // overlong in three bytes
		{"\xf0\x8f\xbf", "\ufffd\ufffd\ufffd"},   // overlong in four bytes
		{"\xf4\x90\x80", "\ufffd\ufffd\ufffd"},   // above U+10FFFF
		{"\xe2\xe2\x82\xac", "\ufffd€"},          // begun twice
		{"\xf5\x80", "\ufffd\ufffd"},             // a byte that begins nothing
		{"\ufffd", "\ufffd"},                     // the character itself is sound
		{"\xc3\xc3\xa9\xc3", "\ufffdé\ufffd"},    // between sound characters
		{"\xf1\x80\x80\xe1\x80", "\ufffd\ufffd"}, // two pieces
	} {
		if got := Decode([]byte(tt.in)); got != tt.want {
			t.Errorf("Decode(%q) = %+q, want %+q", tt.in, got, tt.want)
		}
	}
}

func TestAppendString(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", `""`},
		{`a "b" \c /`, `"a \"b\" \\c /"`},
		{"\b\t\n\f\r", `"\b\t\n\f\r"`},
		{"\x00\x01\v\x1b\x1f", `"\u0000\u0001\u000b\u001b\u001f"`},
		{"<&>'\x7f\u0085\u2028\u2029é🚀", "\"<&>'\x7f\u0085\u2028\u2029é🚀\""},
		{"a\xffb", "\"a\ufffdb\""},
	} {
		if got := string(AppendString(nil, tt.in)); got != tt.want {
			t.Errorf("AppendString(%q) = %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestAppendSpelled(t *testing.T) {
	const src = `{"a" : 1.50,"caf\u00e9":[ 1e3, 12345678901234567890,{ },[ ]
		,[[true],null]], "9":{"2":"x\/y","1":false}, "":-0}`
	const want = `{
    "a": 1.50,
    "caf\u00e9": [
      1e3,
      12345678901234567890,
      {},
      [],
      [
        [
          true
        ],
        null
      ]
    ],
    "9": {
      "2": "x\/y",
      "1": false
    },
    "": -0
  }`
	doc, err := jsondoc.Parse([]byte(src), jsondoc.Options{MaxDepth: 64})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(AppendSpelled(nil, []byte(src), doc.Root, 1)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What is written reads back as the same string, and holds no character that a
// reader would have to escape.
func FuzzAppendString(f *testing.F) {
	f.Add("plain")
	f.Add("\x00\x1f\x7f\"\\\u2028🚀")
	f.Add("\xed\xa0\x80\xe2\x82")
	f.Fuzz(func(t *testing.T, s string) {
		out := AppendString(nil, s)
		var back string
		if err := json.Unmarshal(out, &back); err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		if back != Decode([]byte(s)) {
			t.Errorf("%q came back as %q", s, back)
		}
		if !utf8.Valid(out) {
			t.Errorf("%q is not UTF-8", out)
		}
		if utf8.ValidString(s) && back != s {
			t.Errorf("sound text %q was changed to %q", s, back)
		}
	})
}

// The layout changes white space between tokens and nothing else.
func FuzzAppendSpelled(f *testing.F) {
	f.Add([]byte(`{"a":[1.50,{"b":{}}],"c":"\u00e9"}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		tokens := func(b []byte) string {
			var s strings.Builder
			if jsondoc.Scan(b, jsondoc.Options{MaxDepth: 64}, func(tok jsondoc.Token) error {
				s.Write(b[tok.Off:tok.End])
				s.WriteByte('\n')
				return nil
			}) != nil {
				return ""
			}
			return s.String()
		}
		doc, err := jsondoc.Parse(src, jsondoc.Options{MaxDepth: 64})
		if err != nil {
			return
		}
		out := AppendSpelled(nil, src, doc.Root, 0)
		if a, b := tokens(src), tokens(out); a != b {
			t.Errorf("tokens\n%s\nbecame\n%s", a, b)
		}
	})
}
