package jsondoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// lenient reads all UTF-8 that encoding/json reads.
var lenient = Options{KeepEqualKeys: true, KeepSurrogates: true}

func TestRefused(t *testing.T) {
	tests := []struct {
		name    string
		src     string
		o       Options
		problem Problem
		offset  int
	}{
		{"empty", "", Options{}, Syntax, 0},
		{"only white space", " \n", Options{}, Syntax, 2},
		{"byte order mark", "\xef\xbb\xbf{}", Options{}, ByteOrderMark, 0},
		{"byte order mark, however lenient", "\xef\xbb\xbf{}", lenient, ByteOrderMark, 0},
		{"UTF-16", "\xff\xfe{\x00}\x00", Options{}, Syntax, 0},
		{"two documents", "{} {}", Options{}, Syntax, 3},
		{"text after the end", "1 x", Options{}, Syntax, 2},
		{"line comment", "{ // x\n}", Options{}, Syntax, 2},
		{"block comment", "/* */ {}", Options{}, Syntax, 0},
		{"trailing comma in an object", `{"a":1,}`, Options{}, Syntax, 7},
		{"trailing comma in an array", `[1,]`, Options{}, Syntax, 3},
		{"leading comma", `[,1]`, Options{}, Syntax, 1},
		{"two commas", `[1,,2]`, Options{}, Syntax, 3},
		{"no comma", `[1 2]`, Options{}, Syntax, 3},
		{"no comma between members", `{"a":1 "b":2}`, Options{}, Syntax, 7},
		{"no colon", `{"a" 1}`, Options{}, Syntax, 5},
		{"no value", `{"a":}`, Options{}, Syntax, 5},
		{"key without quotes", `{a:1}`, Options{}, Syntax, 1},
		{"key in single quotes", `{'a':1}`, Options{}, Syntax, 1},
		{"number as a key", `{1:2}`, Options{}, Syntax, 1},
		{"closing brace for a bracket", `[1}`, Options{}, Syntax, 2},
		{"closing bracket for a brace", `{"a":1]`, Options{}, Syntax, 6},
		{"closing bracket alone", `]`, Options{}, Syntax, 0},
		{"object not closed", `{"a":1`, Options{}, Syntax, 6},
		{"array not closed", `[`, Options{}, Syntax, 1},
		{"ends after a key", `{"a"`, Options{}, Syntax, 4},
		{"ends after a comma", `{"a":1,`, Options{}, Syntax, 7},
		{"NaN", `[NaN]`, Options{}, Syntax, 1},
		{"Infinity", `-Infinity`, Options{}, Syntax, 1},
		{"upper case", `True`, Options{}, Syntax, 0},
		{"misspelt word", `nulx`, Options{}, Syntax, 3},
		{"word cut short", `tru`, Options{}, Syntax, 3},
		{"word run on", `nullx`, Options{}, Syntax, 4},
		{"leading zero", `01`, Options{}, Syntax, 1},
		{"plus sign", `+1`, Options{}, Syntax, 0},
		{"minus alone", `-`, Options{}, Syntax, 1},
		{"no digit before the point", `.5`, Options{}, Syntax, 0},
		{"no digit after the point", `[1.]`, Options{}, Syntax, 3},
		{"no digit in the exponent", `1e+`, Options{}, Syntax, 3},
		{"hexadecimal", `0x10`, Options{}, Syntax, 1},
		{"string not closed", `"abc`, Options{}, Syntax, 4},
		{"raw line end in a string", "\"a\nb\"", Options{}, Syntax, 2},
		{"raw tab in a string", "\"\t\"", Options{}, Syntax, 1},
		{"raw NUL in a string", "\"\x00\"", Options{}, Syntax, 1},
		{"unknown escape", `"\x41"`, Options{}, Syntax, 2},
		{"escape cut short", `"\`, Options{}, Syntax, 2},
		{"three hex digits", `"\u12g4"`, Options{}, Syntax, 5},
		{"hex digits cut short", `"\u12`, Options{}, Syntax, 5},
		{"bad byte in a string", "[\"ab\xff\"]", Options{}, BadUTF8, 4},
		{"overlong form", "\"\xc0\xaf\"", Options{}, BadUTF8, 1},
		{"surrogate as bytes", "\"\xed\xa0\x80\"", Options{}, BadUTF8, 1},
		{"bad byte in a key", "{\"\xfe\":1}", Options{}, BadUTF8, 2},
		{"bad byte outside strings is no UTF-8 matter", "[\xff]", lenient, Syntax, 1},
		{"no-break space is no white space", "[\u00a01]", Options{}, Syntax, 1},
		{"high surrogate alone", `"ab\ud800"`, Options{}, LoneSurrogate, 3},
		{"low surrogate alone", `"\udc00"`, Options{}, LoneSurrogate, 1},
		{"surrogates in the wrong order", `"\udc00\ud800"`, Options{}, LoneSurrogate, 1},
		{"two high surrogates", `"\ud800\ud800\udc00"`, Options{}, LoneSurrogate, 1},
		{"high surrogate before a letter", `"\ud800\u0041"`, Options{}, LoneSurrogate, 1},
		{"high surrogate in a key", `{"\uD83D":1}`, Options{}, LoneSurrogate, 2},
		{"pair whose second half is cut", `"\ud800\udc"`, Options{}, Syntax, 11},
		{"equal keys", `{"a":1,"b":2,"a":3}`, Options{}, EqualKeys, 13},
		{"equal keys deep inside", `[{"x":{"a":1,"a":1}}]`, Options{}, EqualKeys, 13},
		{"keys equal after decoding", `{"a\u0062":1,"ab":2}`, Options{}, EqualKeys, 13},
		{"equal keys spelled with a pair", `{"\ud83d\ude00":1,"😀":2}`, Options{}, EqualKeys, 18},
		{"equal empty keys", `{"":1,"":2}`, Options{}, EqualKeys, 6},
		{"too deep by one", `[[[]]]`, Options{MaxDepth: 2}, TooDeep, 2},
		{"too deep in an object", `{"a":{"b":{}}}`, Options{MaxDepth: 2}, TooDeep, 10},
		{"a digit too many", `[12,-1234]`, Options{MaxDigits: 3}, TooManyDigits, 4},
		{"NaN where numbers are finite", `[NaN]`, Options{Finite: true}, NonFinite, 1},
		{"Infinity where numbers are finite", `{"a":Infinity}`, Options{Finite: true}, NonFinite, 5},
		{"-Infinity where numbers are finite", `[0,-Infinity]`, Options{Finite: true}, NonFinite, 3},
		{"NaN where no value is expected", `[1 NaN]`, Options{Finite: true}, Syntax, 3},
		{"-NaN is no word", `-NaN`, Options{Finite: true}, Syntax, 1},
		{"Infinity cut short", `Infini`, Options{Finite: true}, Syntax, 0},
		{"overflow by the exponent", `[1e999]`, Options{Finite: true}, NonFinite, 1},
		{"overflow below", `[-1E+400]`, Options{Finite: true}, NonFinite, 1},
		{"overflow of a fraction", "1" + strings.Repeat("0", 309) + ".5", Options{Finite: true}, NonFinite, 0},
		{"overflow by rounding", `1.7976931348623159e308`, Options{Finite: true}, NonFinite, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := Parse([]byte(tt.src), tt.o)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("Parse(%q) = %v, %v; want an *Error", tt.src, doc, err)
			}
			if e.Problem != tt.problem || e.Offset != tt.offset {
				t.Errorf("Parse(%q): problem %d at %d (%s), want %d at %d", tt.src, e.Problem, e.Offset, e, tt.problem, tt.offset)
			}
			if e.Error() == "" || strings.ContainsAny(e.Error(), "\n\"") {
				t.Errorf("reason %q is not one plain sentence", e)
			}
		})
	}
}

func TestErrorNamesTheRepeatedKey(t *testing.T) {
	_, err := Parse([]byte(`{"tasks":1,"ta\u0073ks":2}`), Options{})
	var e *Error
	if !errors.As(err, &e) || e.Key != "tasks" {
		t.Fatalf("error %+v, want one that names the key tasks", err)
	}
}

func TestAccepted(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		o         Options
	}{
		{"scalars at the top", "0", Options{}},
		{"white space all round", " \t\r\n[ 1 , { } ] \n", Options{}},
		{"numbers", "[-0, 0.0, 1e5, 1E+5, 1.5e-7, 123456789012345678901234567890, 1e999999999]", Options{}},
		{"escapes", `"\" \\ \/ \b \f \n \r \t \u0000 \uD83D\uDE00"`, Options{}},
		{"DEL and line separators are no control characters", "\"\x7f\u2028\u2029\u0085\"", Options{}},
		{"equal keys in two objects", `[{"a":1},{"a":1}]`, Options{}},
		{"a key and its own child", `{"a":{"a":{"a":1}}}`, Options{}},
		{"keys that differ in case", `{"a":1,"A":2}`, Options{}},
		{"keys that differ in normal form", "{\"\u00e9\":1,\"e\u0301\":2}", Options{}},
		{"equal keys where they are kept", `{"a":1,"a":2}`, Options{KeepEqualKeys: true}},
		{"exactly as deep as allowed", `{"a":[1]}`, Options{MaxDepth: 2}},
		{"depth counts what is open", `[[],[],[[]]]`, Options{MaxDepth: 3}},
		{"byte order mark inside a string", "\"\ufeff\"", Options{}},
		{"as many digits as allowed", `[-123,123]`, Options{MaxDigits: 3}},
		{"digits of other numbers", `[1.2345,12345e0]`, Options{MaxDigits: 3}},
		{"the largest finite numbers", `[1.7976931348623157e308,-1.7976931348623158e308]`, Options{Finite: true}},
		{"too small is zero, not an error", `[1e-999,0e999]`, Options{Finite: true}},
		{"whole numbers of any size", "1" + strings.Repeat("0", 400), Options{Finite: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Parse([]byte(tt.src), tt.o); err != nil {
				t.Errorf("Parse(%q): %v", tt.src, err)
			}
		})
	}
}

func TestText(t *testing.T) {
	for _, tt := range []struct {
		src  string
		o    Options
		want string
	}{
		{`"plain"`, Options{}, "plain"},
		{`""`, Options{}, ""},
		{`"\u0069gnore"`, Options{}, "ignore"},
		{`"\"\\\/\b\f\n\r\t"`, Options{}, "\"\\/\b\f\n\r\t"},
		{`"\u00e9\u20AC"`, Options{}, "é€"},
		{`"\uD83D\ude00!"`, Options{}, "😀!"},
		{`"\u0000"`, Options{}, "\x00"},
		{`"a\ud800b"`, Options{KeepSurrogates: true}, "a\xed\xa0\x80b"},
		{`"\udc00\ud800"`, Options{KeepSurrogates: true}, "\xed\xb0\x80\xed\xa0\x80"},
		{`"\ud83d\ud83d\ude00"`, Options{KeepSurrogates: true}, "\xed\xa0\xbd😀"},
		{"-1.50e+07", Options{}, "-1.50e+07"},
	} {
		doc, err := Parse([]byte(tt.src), tt.o)
		if err != nil {
			t.Errorf("Parse(%q): %v", tt.src, err)
			continue
		}
		if doc.Root.Text != tt.want {
			t.Errorf("Parse(%q) reads %q, want %q", tt.src, doc.Root.Text, tt.want)
		}
	}
}

func TestScanGivesEveryToken(t *testing.T) {
	src := `{"a": [1, "x\n", true], "b": {}, "c": null}`
	var got []string
	err := Scan([]byte(src), Options{}, func(tok Token) error {
		s := fmt.Sprintf("%d %s", tok.Kind, src[tok.Off:tok.End])
		if tok.Escaped {
			s += " escaped"
		}
		got = append(got, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"1 {", `5 "a"`, "3 [", "7 1", `6 "x\n" escaped`, "8 true", "4 ]",
		`5 "b"`, "1 {", "2 }", `5 "c"`, "10 null", "2 }",
	}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("tokens\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestScanStopsAtTheVisitorsError(t *testing.T) {
	stop := errors.New("enough")
	n := 0
	err := Scan([]byte(`[1,2,3]`), Options{}, func(Token) error {
		if n++; n == 3 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || n != 3 {
		t.Errorf("Scan stopped after %d tokens with %v, want after 3 with the visitor's error", n, err)
	}
}

func TestPlaces(t *testing.T) {
	src := "{\n  \"é\": {\"b\": [10,\n    \"x\"]}, \"c\": true\n}\n"
	doc, err := Parse([]byte(src), Options{})
	if err != nil {
		t.Fatal(err)
	}
	outer, _ := doc.Root.Member("é")
	b, _ := outer.Value.Member("b")
	c, _ := doc.Root.Member("c")
	for _, tt := range []struct {
		name                         string
		line, column, end, off, stop int
		v                            *Value
	}{
		{"root, at its brace", 1, 1, 2, 0, len(src) - 1, doc.Root},
		{"object, at its brace", 2, 8, 9, 10, 33, outer.Value},
		{"array, at its bracket", 2, 14, 15, 16, 32, b.Value},
		{"number", 2, 15, 17, 17, 19, b.Value.Items[0]},
		{"string on the next line", 3, 5, 8, 25, 28, b.Value.Items[1]},
		{"word", 3, 17, 21, 37, 41, c.Value},
	} {
		s := doc.At(tt.v)
		if s.Line != tt.line || s.Column != tt.column || s.EndColumn != tt.end || s.EndLine != 0 {
			t.Errorf("%s: span %+v, want line %d, columns %d to %d", tt.name, s, tt.line, tt.column, tt.end)
		}
	}
	if s := doc.AtKey(outer); s.Line != 2 || s.Column != 3 || s.EndColumn != 6 {
		t.Errorf("key with an accent: span %+v, want line 2, columns 3 to 6", s)
	}
	if got := src[b.Value.Off:b.Value.End]; got != "[10,\n    \"x\"]" {
		t.Errorf("the array spells %q", got)
	}
	if got := src[outer.Value.Off:outer.Value.End]; got != "{\"b\": [10,\n    \"x\"]}" {
		t.Errorf("the object spells %q", got)
	}
	if doc.Line(b.Value.Items[1].Off) != 3 {
		t.Errorf("the string is on line %d, want 3", doc.Line(b.Value.Items[1].Off))
	}
}

func TestNilAndWrongKinds(t *testing.T) {
	var none *Value
	text := &Value{Kind: String, Text: "1"}
	if none.Get("a") != nil || text.Get("a") != nil || none.Is(Object) {
		t.Error("a value that is no object has no members")
	}
	if _, ok := none.Bool(); ok {
		t.Error("nothing is no boolean")
	}
	if _, ok := text.Bool(); ok {
		t.Error("a string is no boolean")
	}
	if _, ok := text.Float(); ok {
		t.Error("a string is no number")
	}
	if v, ok := (&Value{Kind: False}).Bool(); v || !ok {
		t.Error("false is a boolean")
	}
	if f, ok := (&Value{Kind: Number, Text: "1e999"}).Float(); !ok || f < 1e308 {
		t.Error("a number too large for binary64 reads as infinite")
	}
	if f, ok := (&Value{Kind: Number, Text: "1e-999"}).Float(); !ok || f != 0 {
		t.Error("a number too small for binary64 reads as zero")
	}
}

func parse(t testing.TB, src string) *Value {
	t.Helper()
	doc, err := Parse([]byte(src), lenient)
	if err != nil {
		t.Fatalf("Parse(%q): %v", src, err)
	}
	return doc.Root
}

func TestEqual(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{`1`, `1.0`, true},
		{`1`, `10e-1`, true},
		{`0`, `-0`, true},
		{`9007199254740993`, `9007199254740992`, true}, // one binary64
		{`1`, `2`, false},
		{`1`, `"1"`, false},
		{`1`, `true`, false},
		{`true`, `true`, true},
		{`true`, `false`, false},
		{`null`, `null`, true},
		{`null`, `false`, false},
		{`"\u0061"`, `"a"`, true},
		{`"a"`, `"A"`, false},
		{`[]`, `{}`, false},
		{`[1,2]`, `[1,2]`, true},
		{`[1,2]`, `[2,1]`, false},
		{`[1]`, `[1,1]`, false},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, true},
		{`{"a":{"x":1,"y":2}}`, `{"a":{"y":2,"x":1}}`, true},
		{`[{"a":1,"b":2}]`, `[{"b":2,"a":1}]`, true},
		{`{"a":1}`, `{"a":1,"b":2}`, false},
		{`{"a":1,"b":2}`, `{"a":1}`, false},
		{`{"a":1,"b":null}`, `{"a":1,"c":null}`, false},
		{`{"a":1,"a":2}`, `{"a":2}`, true},
		{`{"a":1,"a":2}`, `{"a":1}`, false},
		{`{"a":1,"a":1}`, `{"a":1,"b":2}`, false}, // as many members, not the same keys
		{`{"a":1,"b":2}`, `{"a":1,"a":1}`, false},
		{`{"a":1,"a":2}`, `{"a":1,"a":2}`, true},
	} {
		for _, swap := range []bool{false, true} {
			a, b := parse(t, tt.a), parse(t, tt.b)
			if swap {
				a, b = b, a
			}
			if got := Equal(a, b); got != tt.want {
				t.Errorf("Equal(%s, %s), swapped %v: %v", tt.a, tt.b, swap, got)
			}
		}
	}
	if !Equal(nil, nil) || Equal(nil, parse(t, "null")) || Equal(parse(t, "null"), nil) {
		t.Error("an absent value equals an absent value alone")
	}
}

// bigObject is an object of n members, in order or in the reverse.
func bigObject(n int, reverse bool) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		k := i
		if reverse {
			k = n - 1 - i
		}
		fmt.Fprintf(&b, `"key-%06d":%d`, k, k)
	}
	b.WriteByte('}')
	return b.String()
}

// The object is so large that looking through its members for each key would
// take minutes: this test then runs into the time limit of the test run.
func TestLargeObjects(t *testing.T) {
	n := large(200_000)
	a, b := parse(t, bigObject(n, false)), parse(t, bigObject(n, true))
	for i := range n {
		key := fmt.Sprintf("key-%06d", i)
		if v := a.Get(key); v == nil || v.Text != strconv.Itoa(i) {
			t.Fatalf("Get(%q) = %v", key, v)
		}
	}
	if a.Get("key-") != nil {
		t.Error("a key that is not there was found")
	}
	if !Equal(a, b) {
		t.Error("the objects differ in the order of their members alone")
	}
	b.Members[n/2].Value.Text = "-1"
	if Equal(a, b) {
		t.Error("a difference in the middle was not seen")
	}
	c := parse(t, `{`+strings.Repeat(`"same":1,`, n)+`"same":2}`)
	if v := c.Get("same"); v.Text != "2" {
		t.Errorf("of equal keys %q counted, want the last", v.Text)
	}
	if !Equal(c, parse(t, `{"same":2}`)) {
		t.Error("of equal keys the last counts in a comparison")
	}
}

// large is a number of parts, a tenth of it with -short.
func large(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

func TestFewAndManyMembersReadAlike(t *testing.T) {
	for n := range 2 * fewMembers {
		v := parse(t, strings.TrimSuffix(bigObject(n, true), "}")+map[bool]string{true: `"key-000000":"last"}`, false: `,"key-000000":"last"}`}[n == 0])
		if got := v.Get("key-000000"); got == nil || got.Text != "last" {
			t.Errorf("with %d members before: %v, want the last of two equal keys", n, got)
		}
		if v.Get("none") != nil {
			t.Errorf("with %d members before: a key that is not there was found", n)
		}
	}
}

// Nothing here may recurse or copy per level.
func TestDeepNesting(t *testing.T) {
	n := large(1_000_000)
	src := strings.Repeat("[", n) + strings.Repeat("]", n)
	doc, err := Parse([]byte(src), Options{})
	if err != nil {
		t.Fatal(err)
	}
	depth := 0
	for v := doc.Root; v != nil; depth++ {
		if len(v.Items) == 0 {
			break
		}
		v = v.Items[0]
	}
	if depth != n-1 {
		t.Errorf("depth %d, want %d", depth+1, n)
	}
	src = strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n)
	if _, err := Parse([]byte(src), Options{}); err != nil {
		t.Fatal(err)
	}
	var e *Error
	if _, err := Parse([]byte(src), Options{MaxDepth: 64}); !errors.As(err, &e) || e.Problem != TooDeep || e.Offset != 64*len(`{"a":`) {
		t.Errorf("with a limit of 64: %+v", err)
	}
}

// Documents of the largest size that is read, in the shapes that a careless
// reader takes quadratic time for. No clock is looked at: a quadratic reader
// would not come to an end.
func TestLargestDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("reads documents of 16 MiB")
	}
	const size = 16 << 20
	fill := func(open, piece, end string) string {
		return open + strings.Repeat(piece, (size-len(open)-len(end))/len(piece)) + end
	}
	for _, tt := range []struct {
		name, src string
		ok        bool
	}{
		{"one string", fill(`"`, "x", `"`), true},
		{"one string of escapes", fill(`"`, `\u0061`, `"`), true},
		{"one string of backslashes", fill(`"`, `\\`, `"`), true},
		{"string that never ends", fill(`"`, `\"`, ``), false},
		{"one number", fill("", "1", ""), true},
		{"white space", fill("", " ", "1"), true},
		{"array of empty objects", fill("[{}", ",{}", "]"), true},
		{"brackets that never close", fill("", "[", ""), false},
	} {
		err := Scan([]byte(tt.src), Options{}, func(tok Token) error {
			if tok.Kind == String {
				_ = tok.Text([]byte(tt.src))
			}
			return nil
		})
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// A document on one line with many values: the places of all of them.
func TestPlacesOnOneLongLine(t *testing.T) {
	n := large(200_000)
	src := "[" + strings.Repeat(`"é",`, n) + "0]"
	doc, err := Parse([]byte(src), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range doc.Root.Items {
		want := 2 + 4*i
		if s := doc.At(v); s.Line != 1 || s.Column != want {
			t.Fatalf("item %d: %+v, want column %d", i, s, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, `{"a":[1,-2.5e3,"x",true,false,null,{"b":{}}]}`, `"\ud83d\ude00\u00e9\n"`, `"\ud800"`, `{"a":1,"\u0061":2}`,
		"\xef\xbb\xbf{}", "\"\xff\"", `[1,]`, `{"a":1,}`, `01`, `-`, `1e`, `"\x"`, `nul`, `[[[[]]]]`, " \t\r\n0 ", `{"":{"":""}}`, "\"\x01\"",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if bytes.Count(src, []byte("["))+bytes.Count(src, []byte("{")) > 9000 {
			t.Skip("encoding/json stops at 10,000 levels")
		}
		doc, err := Parse(src, lenient)
		if valid := utf8.Valid(src) && json.Valid(src); (err == nil) != valid {
			t.Fatalf("Parse says %v, encoding/json says valid: %v", err, valid)
		}
		strictDoc, strictErr := Parse(src, Options{})
		if err != nil {
			if strictErr == nil {
				t.Fatal("the strict reading accepts what the lenient one refuses")
			}
			var e *Error
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(src) {
				t.Fatalf("error %#v", err)
			}
			return
		}
		d := json.NewDecoder(bytes.NewReader(src))
		d.UseNumber()
		var want any
		if err := d.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if !same(doc.Root, want) {
			t.Fatalf("Parse reads %q otherwise than encoding/json", src)
		}
		spelled(t, src, doc.Root)
		refuse := hasEqualKeys(doc.Root) || hasSurrogate(doc.Root)
		if (strictErr != nil) != refuse {
			t.Fatalf("strict reading: %v, though a plain look says refuse: %v", strictErr, refuse)
		}
		if strictErr == nil && !reflect.DeepEqual(strictDoc.Root, doc.Root) {
			t.Fatal("the two readings differ")
		}
	})
}

// same compares a value with what encoding/json makes of it: of equal keys the
// last, U+FFFD for a lone surrogate.
func same(v *Value, want any) bool {
	switch w := want.(type) {
	case map[string]any:
		if v.Kind != Object {
			return false
		}
		last := map[string]*Value{}
		for _, m := range v.Members {
			last[replaceSurrogates(m.Key)] = m.Value
		}
		if len(last) != len(w) {
			return false
		}
		for k, x := range w {
			if last[k] == nil || !same(last[k], x) {
				return false
			}
		}
		return true
	case []any:
		if v.Kind != Array || len(v.Items) != len(w) {
			return false
		}
		for i, x := range w {
			if !same(v.Items[i], x) {
				return false
			}
		}
		return true
	case string:
		return v.Kind == String && replaceSurrogates(v.Text) == w
	case json.Number:
		return v.Kind == Number && v.Text == string(w)
	case bool:
		b, ok := v.Bool()
		return ok && b == w
	}
	return want == nil && v.Kind == Null
}

func replaceSurrogates(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			n = 3 // the reader lets no other bytes through
		}
		b.WriteRune(r)
		i += n
	}
	return b.String()
}

func hasSurrogate(v *Value) bool {
	if v.Kind == String && !utf8.ValidString(v.Text) {
		return true
	}
	for _, x := range v.Items {
		if hasSurrogate(x) {
			return true
		}
	}
	for _, m := range v.Members {
		if !utf8.ValidString(m.Key) || hasSurrogate(m.Value) {
			return true
		}
	}
	return false
}

func hasEqualKeys(v *Value) bool {
	for _, x := range v.Items {
		if hasEqualKeys(x) {
			return true
		}
	}
	seen := map[string]bool{}
	for _, m := range v.Members {
		if seen[m.Key] || hasEqualKeys(m.Value) {
			return true
		}
		seen[m.Key] = true
	}
	return false
}

// spelled checks that what stands between the offsets of each value is that
// value.
func spelled(t *testing.T, src []byte, v *Value) {
	t.Helper()
	again, err := Parse(src[v.Off:v.End], lenient)
	if err != nil || again.Root.Kind != v.Kind || again.Root.Text != v.Text {
		t.Fatalf("offsets %d to %d spell %q (%v)", v.Off, v.End, src[v.Off:v.End], err)
	}
	for _, x := range v.Items {
		if x.Kind != Array && x.Kind != Object {
			spelled(t, src, x)
		}
	}
	for _, m := range v.Members {
		key, err := Parse(src[m.KeyOff:m.KeyEnd], lenient)
		if err != nil || key.Root.Text != m.Key {
			t.Fatalf("the key %q spells %q", m.Key, src[m.KeyOff:m.KeyEnd])
		}
	}
}

func TestPointerToken(t *testing.T) {
	for key, want := range map[string]string{"": "", "a b": "a b", "a/b": "a~1b", "~": "~0", "~1": "~01", "/~/": "~1~0~1"} {
		if got := PointerToken(key); got != want {
			t.Errorf("%q gives %q, want %q", key, got, want)
		}
	}
}

// Each token knows how deep it stands, an end as its beginning does.
func TestDepth(t *testing.T) {
	src := `{"a": [1, {"b": null}], "c": "d"}`
	var got []string
	err := Scan([]byte(src), Options{}, func(tok Token) error {
		got = append(got, fmt.Sprintf("%d %s", tok.Depth, src[tok.Off:tok.End]))
		return nil
	})
	want := `0 {|1 "a"|1 [|2 1|2 {|3 "b"|3 null|2 }|1 ]|1 "c"|1 "d"|0 }`
	if all := strings.Join(got, "|"); err != nil || all != want {
		t.Errorf("%s (%v)\nwant %s", all, err, want)
	}
}
