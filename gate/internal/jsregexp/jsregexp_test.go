package jsregexp

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
)

// Each row of aahp-governance.md 9: what a pattern matches in full, and what not.
func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		source, flags string
		full, not     []string
	}{
		{`abc`, "", []string{"abc"}, []string{"ABC", "ab"}},
		{`abc`, "i", []string{"abc", "ABC"}, nil},
		{`é`, "i", []string{"é", "É"}, nil},
		{``, "", []string{""}, []string{"a"}},
		{`a|b||c`, "", []string{"a", "b", ""}, []string{"d"}},

		// Anchors, lines and the dot.
		{`^a$`, "", []string{"a"}, []string{"a\n"}},
		{`x\n^a$\ny`, "m", []string{"x\na\ny"}, nil},
		{`.`, "", []string{"a", "é", "😀", "\v", "\u0085"}, []string{"\n", "\r", "\u2028", "\u2029", ""}},
		{`.`, "s", []string{"\n", "\r", "\u2028", "a"}, nil},
		{`.`, "m", nil, []string{"\n"}},

		// Groups.
		{`(?:a|b)c`, "", []string{"ac", "bc"}, nil},
		{`(?<year>\d{4})-(?<$_é1>\d)`, "", []string{"2026-1"}, nil},
		{`(?<\u0061b>x)`, "", []string{"x"}, nil},
		{`()`, "", []string{""}, nil},

		// Quantifiers.
		{`a{2}`, "", []string{"aa"}, []string{"a", "aaa"}},
		{`a{2,}`, "", []string{"aa", "aaaa"}, []string{"a"}},
		{`a{1,2}`, "", []string{"a", "aa"}, []string{"", "aaa"}},
		{`a{0}b`, "", []string{"b"}, []string{"ab"}},
		{`a{01,002}`, "", []string{"a", "aa"}, nil},
		{`a+?b*?c??`, "", []string{"aabbc", "a"}, nil},
		{`a{2,3}?`, "", []string{"aa", "aaa"}, nil},
		{`a{1000}`, "", []string{strings.Repeat("a", 1000)}, nil},
		{`(?:a{10}){100}`, "", []string{strings.Repeat("a", 1000)}, nil},
		// A brace that starts none is literal.
		{`{`, "", []string{"{"}, nil},
		{`a{`, "", []string{"a{"}, nil},
		{`a{,5}`, "", []string{"a{,5}"}, nil},
		{`a{x}`, "", []string{"a{x}"}, nil},
		{`a{1,x}`, "", []string{"a{1,x}"}, nil},
		{`a{1`, "", []string{"a{1"}, nil},
		{`}`, "", []string{"}"}, nil},
		{`]`, "", []string{"]"}, nil},
		{`a]+`, "", []string{"a]]"}, nil},

		// Sets.
		{`\d`, "", []string{"7"}, []string{"٣", "a"}},
		{`\D`, "", []string{"٣", "\n"}, []string{"7"}},
		{`\w`, "", []string{"_", "a", "Z", "0"}, []string{"é", "-"}},
		{`\W`, "", []string{"é", "-"}, []string{"_"}},
		{`\s`, "", []string{"\t", "\n", "\v", "\f", "\r", " ", "\u00a0", "\u1680", "\u2000", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\ufeff"}, []string{"\u0085", "\u180e", "\u200b", "a"}},
		{`\S`, "", []string{"\u0085", "\u180e", "\u200b", "a", "😀", "\u0000"}, []string{"\t", " ", "\u00a0", "\ufeff"}},
		{`[\s]`, "", []string{"\u00a0"}, []string{"a"}},
		{`[^\s]`, "", []string{"a"}, []string{"\u00a0"}},
		{`[\S\n]`, "", []string{"a", "\n"}, []string{" "}},
		{`[\w-]`, "", []string{"-", "a"}, []string{","}},
		{`[\D]`, "", []string{"a"}, []string{"1"}},

		// Classes.
		{`[]`, "", nil, []string{"", "a", "\n", "]"}},
		{`[^]`, "", []string{"a", "\n", "😀"}, []string{""}},
		{`[]a]`, "", nil, []string{"]", "a", "a]"}}, // nothing, then a and a bracket
		{`[[:alpha:]]`, "", []string{"[]", "a]", ":]", "h]"}, []string{"b]", "a"}},
		{`[[]`, "", []string{"["}, nil},
		{`[a-c]`, "", []string{"a", "b", "c"}, []string{"d", "-"}},
		{`[a-]`, "", []string{"a", "-"}, []string{"b"}},
		{`[-a]`, "", []string{"a", "-"}, nil},
		{`[a-\d]`, "", []string{"a", "-", "5"}, []string{"b"}},
		{`[\d-a]`, "", []string{"a", "-", "5"}, []string{"b"}},
		{`[\b]`, "", []string{"\b"}, []string{"b"}},
		{`[\B]`, "", []string{"B"}, []string{"b"}},
		{`[.*+?(){}|^$]`, "", []string{".", "*", "(", "|", "^", "$"}, []string{"a"}},
		{`[^a^]`, "", []string{"b"}, []string{"a", "^"}},
		{`[ &&[a-c]`, "", []string{"&", "[", "a"}, nil},
		{`[\]\\]`, "", []string{"]", `\`}, nil},
		{`[é-ü]`, "", []string{"ö"}, []string{"a"}},
		{`[a-c]`, "i", []string{"B"}, nil},
		{`[^a]`, "i", []string{"b"}, []string{"a", "A"}},
		{`[A-z]`, "", []string{"_", "[", "b"}, []string{"{"}},

		// Escapes.
		{`\u0041\x41\u00e9`, "", []string{"AAé"}, nil},
		{`\uD83D\uDE00`, "", []string{"😀"}, nil},
		{`[\uD83D\uDE00]`, "", []string{"😀"}, nil},
		{`\cJ\cj`, "", []string{"\n\n"}, nil},
		{`[\cJ]`, "", []string{"\n"}, nil},
		{`\c1`, "", []string{`\c1`}, nil},
		{`\c`, "", []string{`\c`}, nil},
		{`[\c1]`, "", []string{"\x11"}, nil},
		{`[\c_]`, "", []string{"\x1f"}, nil},
		{`[\c!]`, "", []string{`\`, "c", "!"}, nil},
		{`\0`, "", []string{"\x00"}, []string{"0"}},
		{`\012`, "", []string{"\n"}, nil},
		{`\0018`, "", []string{"\x018"}, nil},
		{`[\101]`, "", []string{"A"}, nil},
		{`[\8\400]`, "", []string{"8", " ", "0"}, []string{"4"}},
		{`\t\n\v\f\r`, "", []string{"\t\n\v\f\r"}, nil},
		{`\A\z\Q\E\a\e\h`, "", []string{"AzQEaeh"}, nil},
		{`\u00`, "", []string{"u00"}, nil},
		{`\xg`, "", []string{"xg"}, nil},
		{`\p\P\k`, "", []string{"pPk"}, nil},
		{`\.\*\/\-\_\"\é`, "", []string{`.*/-_"é`}, nil},
		{`\bword\b`, "", []string{"word"}, nil},
		{`a\Bb`, "", []string{"ab"}, nil},
		{`a\b`, "", []string{"a"}, nil},

		// With the flag u.
		{`\u{41}\u{1F600}\u{000000041}`, "u", []string{"A😀A"}, nil},
		{`[\u{1F600}-\u{1F64F}]`, "u", []string{"😁"}, nil},
		{`\p{L}+`, "u", []string{"aé", "漢"}, []string{"1"}},
		{`\p{Lu}\p{Uppercase_Letter}\p{gc=Lu}\p{General_Category=Uppercase_Letter}`, "u", []string{"AÉÜ" + "Z"}, nil},
		{`\p{Script=Greek}\p{sc=Cyrillic}\p{Han}`, "u", []string{"αж漢"}, []string{"aж漢"}},
		{`\P{L}`, "u", []string{"1"}, []string{"a"}},
		{`[\p{L}\d]`, "u", []string{"é", "1"}, []string{"-"}},
		{`[^\p{L}]`, "u", []string{"1"}, []string{"é"}},
		{`[\P{L}]`, "u", []string{"1"}, []string{"é"}},
		{`\p{Lu}`, "iu", []string{"A", "a"}, []string{"1"}},
		{`\P{Lu}`, "iu", []string{"A", "a", "1"}, nil},
		{`[^\P{Lu}]`, "iu", nil, []string{"A", "a", "1"}},
		{`\^\$\\\.\*\+\?\(\)\[\]\{\}\|\/`, "u", []string{`^$\.*+?()[]{}|/`}, nil},
		{`[\-a]`, "u", []string{"-"}, nil},
		{`\cA`, "u", []string{"\x01"}, nil},
		{`[(*]`, "u", []string{"(", "*"}, nil},
		{`[\b]`, "u", []string{"\b"}, nil},
		{`a`, "dg", []string{"a"}, nil},
	} {
		re, err := Compile(tt.source, tt.flags)
		if err != nil {
			t.Errorf("/%s/%s: %v", tt.source, tt.flags, err)
			continue
		}
		whole, err := Compile("^(?:"+tt.source+")$", strings.ReplaceAll(tt.flags, "m", ""))
		if err != nil {
			t.Errorf("/%s/%s: %v", tt.source, tt.flags, err)
			continue
		}
		if strings.Contains(tt.flags, "m") {
			whole = re
		}
		for _, s := range tt.full {
			if !whole.MatchString(s) {
				t.Errorf("/%s/%s does not match %q", tt.source, tt.flags, s)
			}
		}
		for _, s := range tt.not {
			if whole.MatchString(s) {
				t.Errorf("/%s/%s matches %q", tt.source, tt.flags, s)
			}
		}
	}
}

// What is not accepted, with the construct and its offset.
func TestRefused(t *testing.T) {
	for _, tt := range []struct{ source, flags, want string }{
		{"a", "y", "y at the flags, offset 0 is not supported: the flags are g, i, m, s and u"},
		{"a", "gv", "v at the flags, offset 1 is not supported: the flags are g, i, m, s and u"},
		{"a", "x", "x at the flags, offset 0 is invalid: the flags are g, i, m, s and u"},
		{"a", "G", "G at the flags, offset 0 is invalid: the flags are g, i, m, s and u"},
		{"a", "gg", "g at the flags, offset 1 is invalid: a flag may be given once"},
		{"a", "dd", "d at the flags, offset 1 is invalid: a flag may be given once"},

		{"é(?=b)", "", "(?= at offset 1 is not supported: lookahead"},
		{"a(?!b)", "", "(?! at offset 1 is not supported: lookahead"},
		{"(?<=b)", "", "(?<= at offset 0 is not supported: lookbehind"},
		{"(?<!b)", "", "(?<! at offset 0 is not supported: lookbehind"},
		{`(a)\1`, "", `\1 at offset 3 is not supported: a backreference`},
		{`\9`, "", `\9 at offset 0 is not supported: a backreference`},
		{`(?<n>a)\k<n>`, "", `\k<n> at offset 7 is not supported: a backreference`},
		{`\k<n>`, "", `\k<n> at offset 0 is not supported: a backreference`},
		{`(?<n>a)\k`, "", `\k at offset 7 is invalid: beside groups with names it has to be a backreference`},
		{`[\k](?<n>a)`, "", `\k at offset 1 is invalid: beside groups with names it has to be a backreference`},

		{"a{1001}", "", "{1001} at offset 1 is not supported: a repetition count is above 1000"},
		{"a{0,1001}", "", "{0,1001} at offset 1 is not supported: a repetition count is above 1000"},
		{"a{1001,}", "", "{1001,} at offset 1 is not supported: a repetition count is above 1000"},
		{"a{99999999999999999999}", "", "{99999999999 at offset 1 is not supported: a repetition count is above 1000"},
		{"(a{100}){100}", "", "{100} at offset 8 is not supported: repetitions inside each other multiply to more than 1000"},
		{"(?:[^a]{500}b{500}c{500}){2}" + strings.Repeat(`\p{L}{1000}`, 300), "u", "the pattern at offset 0 is not supported: its program is larger than 10 MiB"},
		{strings.Repeat("a{1000}", 5000), "", "the pattern at offset 0 is not supported: it is larger than the engine takes"},
		{strings.Repeat("(", 1001) + strings.Repeat(")", 1001), "", "( at offset 1000 is not supported: groups are nested deeper than 1000"},
		{strings.Repeat("(?:a", 900) + strings.Repeat(")+", 900), "", "the pattern at offset 0 is not supported: it is nested deeper than 1000"},

		{"(?P<n>a)", "", "(?P at offset 0 is invalid: a group begins with (, (?: or (?<name>"},
		{"(?i)a", "", "(?i at offset 0 is invalid: a group begins with (, (?: or (?<name>"},
		{"(?i:a)", "", "(?i at offset 0 is invalid: a group begins with (, (?: or (?<name>"},
		{"(?", "", "(? at offset 0 is invalid: a group begins with (, (?: or (?<name>"},
		{"a**", "", "* at offset 2 is invalid: there is nothing to repeat"},
		{"a++", "", "+ at offset 2 is invalid: there is nothing to repeat"},
		{"a{2}{3}", "", "{3} at offset 4 is invalid: there is nothing to repeat"},
		{"{2}", "", "{2} at offset 0 is invalid: there is nothing to repeat"},
		{"|*", "", "* at offset 1 is invalid: there is nothing to repeat"},
		{"^*", "", "* at offset 1 is invalid: there is nothing to repeat"},
		{`\b+`, "", "+ at offset 2 is invalid: there is nothing to repeat"},
		{"(?:+)", "", "+ at offset 3 is invalid: there is nothing to repeat"},
		{"a{3,2}", "", "{3,2} at offset 1 is invalid: its numbers are out of order"},
		{"a{999999999999,888888888888}", "", "{99999999999 at offset 1 is invalid: its numbers are out of order"},
		{"a(b", "", "( at offset 1 is invalid: the group is not closed"},
		{"a[b", "", "[ at offset 1 is invalid: the class is not closed"},
		{`a[b\]`, "", "[ at offset 1 is invalid: the class is not closed"},
		{"a)b", "", ") at offset 1 is invalid: it closes no group"},
		{`a\`, "", `\ at offset 1 is invalid: nothing follows the backslash`},
		{"[c-a]", "", "c-a at offset 1 is invalid: the range is out of order"},
		{"(?<n>a)(?<n>b)", "", "(?<n> at offset 7 is invalid: another group has that name"},
		{"(?<1>a)", "", "(?<1 at offset 0 is invalid: the name of a group is made of letters, digits, $ and _"},
		{"(?<>a)", "", "(?<> at offset 0 is invalid: the group has an empty name"},
		{"(?<n", "", "(?<n at offset 0 is invalid: the name of the group is not closed"},
		{`(?<\x61>a)`, "", `(?<\ at offset 0 is invalid: the name of a group is made of letters, digits, $ and _`},

		{`\uD83D`, "", `\uD83D at offset 0 is not supported: half of a surrogate pair`},
		{`\uDE00x`, "", `\uDE00 at offset 0 is not supported: half of a surrogate pair`},
		{`\uD83D\u0041`, "", `\uD83D at offset 0 is not supported: half of a surrogate pair`},
		{`[\uD83D-\uDE00]`, "", `\uD83D at offset 1 is not supported: half of a surrogate pair`},
		{`\u{41}`, "", `\u{41} at offset 0 is not supported: without the flag u it means the letter u, repeated`},
		{`\p{L}`, "", `\p{L} at offset 0 is not supported: it needs the flag u`},
		{`\P{L}`, "g", `\P{L} at offset 0 is not supported: it needs the flag u`},

		{"]", "u", "] at offset 0 is invalid: with the flag u it has to be escaped"},
		{"}", "u", "} at offset 0 is invalid: with the flag u it has to be escaped"},
		{"{", "u", "{ at offset 0 is invalid: with the flag u it has to be escaped"},
		{"a{x", "u", "{ at offset 1 is invalid: with the flag u it has to be a quantifier or escaped"},
		{`\a`, "u", `\a at offset 0 is invalid: with the flag u only punctuation of the syntax may be escaped`},
		{`\-`, "u", `\- at offset 0 is invalid: with the flag u only punctuation of the syntax may be escaped`},
		{`\_`, "u", `\_ at offset 0 is invalid: with the flag u only punctuation of the syntax may be escaped`},
		{`\é`, "u", `\é at offset 0 is invalid: with the flag u only punctuation of the syntax may be escaped`},
		{`[\B]`, "u", `\B at offset 1 is invalid: with the flag u only punctuation of the syntax may be escaped`},
		{`\u00`, "u", `\u at offset 0 is invalid: with the flag u only punctuation of the syntax may be escaped`},
		{`\x4`, "u", `\x at offset 0 is invalid: with the flag u only punctuation of the syntax may be escaped`},
		{`\k`, "u", `\k at offset 0 is invalid: with the flag u only punctuation of the syntax may be escaped`},
		{`\c1`, "u", `\c at offset 0 is invalid: a letter has to follow`},
		{`\01`, "u", `\0 at offset 0 is invalid: with the flag u it is no escape`},
		{`[\1]`, "u", `\1 at offset 1 is invalid: with the flag u it is no escape`},
		{`[a-\d]`, "u", `a-\d at offset 1 is invalid: with the flag u a range has a character at both ends`},
		{`\u{110000}`, "u", `\u{110000} at offset 0 is invalid: a code point in hex digits is expected`},
		{`\u{}`, "u", `\u{} at offset 0 is invalid: a code point in hex digits is expected`},
		{`\u{12`, "u", `\u{12 at offset 0 is invalid: a code point in hex digits is expected`},
		{`\u{D83D}\u{DE00}`, "u", `\u{D83D} at offset 0 is not supported: half of a surrogate pair`},
		{`\p`, "u", `\p at offset 0 is invalid: a property in braces is expected`},
		{`\p{L`, "u", `\p{L at offset 0 is invalid: the brace is not closed`},
		{`\p{Emoji}`, "u", `\p{Emoji} at offset 0 is not supported: only general categories and scripts are known`},
		{`\p{Script_Extensions=Greek}`, "u", `\p{Script_Ex at offset 0 is not supported: only general categories and scripts are known`},
	} {
		_, err := Compile(tt.source, tt.flags)
		if err == nil || err.Error() != tt.want {
			t.Errorf("/%.60s/%s: %v, want %s", tt.source, tt.flags, err, tt.want)
		}
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("/%.60s/%s: the error is %T", tt.source, tt.flags, err)
		}
	}
}

func TestGroupsAndFlags(t *testing.T) {
	re := MustCompile(`(?:a)(b(?<n>c))|(d)`, "gi")
	if !re.Global || re.NumSubexp() != 3 {
		t.Errorf("global %v, groups %d", re.Global, re.NumSubexp())
	}
	if got := re.FindStringSubmatch("xABC"); fmt.Sprint(got) != "[ABC BC C ]" {
		t.Errorf("%q", got)
	}
	if MustCompile("a", "i").Global {
		t.Error("global without the flag")
	}
	defer func() {
		if recover() == nil {
			t.Error("MustCompile accepts an invalid pattern")
		}
	}()
	MustCompile("(", "")
}

// Matching takes linear time.
func TestNoBacktracking(t *testing.T) {
	if MustCompile("(a+)+$x", "gm").MatchString(strings.Repeat("a", 100_000) + "!") {
		t.Error("it matches")
	}
}

// What stands for much in few bytes is not multiplied.
func TestHostileSizes(t *testing.T) {
	for _, tt := range []struct {
		source string
		fits   bool
	}{
		{"[" + strings.Repeat(`\P{L}`, 100_000) + "]", true},
		{strings.Repeat(`\P{L}`, 100_000), false},
		{strings.Repeat(`[\P{L}\P{Lu}]`, 50_000), false},
		{strings.Repeat(`\p{L}{1000}`, 50_000), false},
		{strings.Repeat(`(a|b)`, 200_000), false},
	} {
		if _, err := Compile(tt.source, "iu"); (err == nil) != tt.fits {
			t.Errorf("%.20s…: %v", tt.source, err)
		}
	}
}

// The complement of a table has exactly what the table lacks.
func TestComplement(t *testing.T) {
	for _, name := range []string{"Lu", "L", "Cn", "Greek", "C"} {
		re := MustCompile(`^[^\P{`+map[bool]string{true: "sc=" + name, false: name}[name == "Greek"]+`}]$`, "iu")
		for c := rune(0); c <= unicode.MaxRune; c += 31 {
			if c >= 0xD800 && c <= 0xDFFF {
				continue
			}
			folded := unicode.Is(tableOf(name), c)
			for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
				folded = folded && unicode.Is(tableOf(name), f)
			}
			if got := re.MatchString(string(c)); got != folded {
				t.Fatalf("%s: %U: %v, want %v", name, c, got, folded)
			}
		}
	}
}

// Whatever the source: an *Error, or an expression that Go has compiled.
func FuzzCompile(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		f.Add(randomSource(r, 3), randomFlags(r))
	}
	f.Add(`[\c]\c[^]{2,}?\uD83D\uDE00(?<a>\p{L})`, "gimsu")
	f.Fuzz(func(t *testing.T, source, flags string) {
		re, err := Compile(source, flags)
		var e *Error
		switch {
		case err == nil:
			re.MatchString(source)
		case !errors.As(err, &e):
			t.Fatalf("%T", err)
		case e.Offset < 0 || e.Offset > len([]rune(source+flags)):
			t.Errorf("offset %d", e.Offset)
		}
	})
}
