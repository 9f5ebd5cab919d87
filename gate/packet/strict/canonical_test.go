package strict

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
)

func canonical(t testing.TB, src string) string {
	t.Helper()
	// As a ledger, so that what a packet's limit of size would stop is read too.
	doc, err := Parse(Ledger, []byte(src))
	if err != nil {
		t.Fatalf("Parse(%.200q): %v", src, err)
	}
	return string(Canonical(doc.Root))
}

// The table of packets.md 2.
func TestWorkedExamples(t *testing.T) {
	for _, tt := range []struct{ src, want, sum string }{
		{`{"b":1,"a":2}`, `{"a":2,"b":1}`, "d3626ac30a87e6f7a6428233b3c68299976865fa5508e4267c5415c76af7a772"},
		{
			`{"n":1.0,"m":1e3,"z":-0,"zz":-0.0,"big":123456789012345678901234567890}`,
			`{"big":123456789012345678901234567890,"m":1000,"n":1,"z":0,"zz":0}`,
			"818bb322848c19bc3ee8c9be839db3836bbf9406036742b645177a5f1d2a63e6",
		},
		{
			`{"x":0.1,"y":1e-5,"w":0.00012,"v":1.5e-7,"u":5e-324,"t":1e22,"s":2.50,"r":4503599627370495.5}`,
			`{"r":4503599627370495.5,"s":2.5,"t":10000000000000000000000,"u":5e-324,"v":1.5e-07,"w":0.00012,"x":0.1,"y":1e-05}`,
			"7eeaa343aac74b06a6ee42a5383df60ba1907113857a847e6448074141c73363",
		},
		{
			`{"q":1e21,"h":9007199254740993,"i":9007199254740993.0,"k":0.1e1}`,
			`{"h":9007199254740993,"i":9007199254740992,"k":1,"q":1000000000000000000000}`,
			"9a14db1c35adfabcf7cffe367abe8826e1919d5aeb0dc0fadd043180e3d34a87",
		},
		{`{"t":true,"f":false,"n":null,"e":[],"o":{}}`, `{"e":[],"f":false,"n":null,"o":{},"t":true}`, "2f0e28eea66ca5517f95d7383c87bee4e791e5f3eee58e9e1e578817b92c7afd"},
	} {
		doc, err := Parse(Packet, []byte(tt.src))
		if err != nil {
			t.Errorf("%s: %v", tt.src, err)
			continue
		}
		if got := string(Canonical(doc.Root)); got != tt.want {
			t.Errorf("%s\ngives %s\n want %s", tt.src, got, tt.want)
		}
		if sum := sha256.Sum256(Canonical(doc.Root)); hex.EncodeToString(sum[:]) != tt.sum {
			t.Errorf("%s: SHA-256 %x, want %s", tt.src, sum, tt.sum)
		}
	}
	for _, tt := range []struct{ src, want string }{
		{`{"\ud83d\ude00":1,"\uffff":2,"z":3}`, "7b227a223a332c22efbfbf223a322c22f09f9880223a317d"},
		{"{\"e\u0301\":1,\"\u00e9\":2}", "7b2265cc81223a312c22c3a9223a327d"},
		{
			`{"s":"a\/b \u00e9 \u2028 <&> \u007f \u0000\u001f\b\f\n\r\t\"\\"}`,
			"7b2273223a22612f6220c3a920e280a8203c263e207f205c75303030305c75303031665c625c665c6e5c725c745c225c5c227d",
		},
	} {
		if got := hex.EncodeToString([]byte(canonical(t, tt.src))); got != tt.want {
			t.Errorf("%s\ngives %s\n want %s", tt.src, got, tt.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for src, want := range map[string]string{
		"0":                       "0",
		"-0":                      "0",
		"-0e-5":                   "0",
		"1e-999":                  "0",
		"-1e-999":                 "0",
		"-18446744073709551616":   "-18446744073709551616",
		"1E+2":                    "100",
		"120e-1":                  "12",
		"-1.50":                   "-1.5",
		"1e15":                    "1000000000000000",
		"1e16":                    "10000000000000000",
		"123456789e3":             "123456789000",
		"9007199254740993.0":      "9007199254740992", // a tie: to even
		"9007199254740995.0":      "9007199254740996",
		"0.0001":                  "0.0001",
		"0.00009999":              "9.999e-05",
		"-0.00001":                "-1e-05",
		"1e-100":                  "1e-100",
		"4.35":                    "4.35",
		"0.1e0":                   "0.1",
		"2.2250738585072011e-308": "2.225073858507201e-308",
		"1.7976931348623157e308":  new(big.Float).SetFloat64(math.MaxFloat64).Text('f', 0),
		"1e308":                   new(big.Float).SetFloat64(1e308).Text('f', 0),
	} {
		if got := canonical(t, src); got != want {
			t.Errorf("%s gives %s, want %s", src, got, want)
		}
	}
	if got := canonical(t, "1e308"); len(got) != 309 {
		t.Errorf("1e308 has %d digits, want 309", len(got))
	}
}

// plain is a second implementation: values by encoding/json, numbers by math/big,
// digits by trial, strings letter by letter, members by code points.
func plain(t testing.TB, src string) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(src))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("encoding/json refuses %.200q: %v", src, err)
	}
	return plainValue(v)
}

func plainValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprint(v)
	case string:
		return plainString(v)
	case json.Number:
		return plainNumber(string(v))
	case []any:
		var parts []string
		for _, item := range v {
			parts = append(parts, plainValue(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case map[string]any:
		var keys [][]rune
		for k := range v {
			keys = append(keys, []rune(k))
		}
		slices.SortFunc(keys, slices.Compare)
		var parts []string
		for _, k := range keys {
			parts = append(parts, plainString(string(k))+":"+plainValue(v[string(k)]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	panic(fmt.Sprintf("%T", v))
}

func plainString(s string) string {
	short := map[rune]string{'"': `\"`, '\\': `\\`, 8: `\b`, 9: `\t`, 10: `\n`, 12: `\f`, 13: `\r`}
	out := ""
	for _, r := range s {
		if esc, ok := short[r]; ok {
			out += esc
		} else if r < 0x20 {
			out += fmt.Sprintf(`\u%04x`, r)
		} else {
			out += string(r)
		}
	}
	return `"` + out + `"`
}

func plainNumber(s string) string {
	if !strings.ContainsAny(s, ".eE") {
		n, _ := new(big.Int).SetString(s, 10)
		return n.String()
	}
	x := nearest(s)
	if r := new(big.Rat).SetFloat64(x); r.IsInt() {
		return r.Num().String()
	}
	for digits := 1; ; digits++ {
		e := fmt.Sprintf("%.*e", digits-1, x)
		if back, _ := strconv.ParseFloat(e, 64); back != x {
			continue
		}
		if math.Abs(x) < 0.0001 {
			return e
		}
		mantissa, exp, _ := strings.Cut(e, "e")
		sign := ""
		if mantissa[0] == '-' {
			sign, mantissa = "-", mantissa[1:]
		}
		n, _ := strconv.Atoi(exp)
		digits := strings.Replace(mantissa, ".", "", 1)
		point := n + 1
		switch {
		case point <= 0:
			return sign + "0." + strings.Repeat("0", -point) + digits
		default: // not whole, so digits go on after the point
			return sign + digits[:point] + "." + digits[point:]
		}
	}
}

// nearest reads a literal exactly and rounds once, half to even.
func nearest(s string) float64 {
	mantissa, exp, _ := strings.Cut(strings.ToLower(s), "e")
	if n, err := strconv.Atoi(exp); exp != "" && (err != nil || n < -2000) {
		return 0 // more zeros than any of these mantissas has digits
	}
	r, ok := new(big.Rat).SetString(mantissa)
	if !ok {
		panic(s)
	}
	if exp != "" {
		n, _ := strconv.Atoi(exp)
		ten := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(n, -n))), nil))
		if n < 0 {
			r.Quo(r, ten)
		} else {
			r.Mul(r, ten)
		}
	}
	x, _ := r.Float64()
	return x
}

// generator makes documents in many spellings of few values, so that equal values
// meet.
type generator struct{ *rand.Rand }

func (g generator) space() string {
	return [...]string{"", "", "", " ", "\n", "\t ", "\r\n"}[g.IntN(7)]
}

func (g generator) text() string {
	runes := []rune("aAé\u0301\u00e9e\x00\n\t\"\\/<&\u007f\u2028\ufeff\uffff😀\U0010ffff")
	out := `"`
	for range g.IntN(4) {
		r := runes[g.IntN(len(runes))]
		high, low := utf16.EncodeRune(r)
		switch {
		case g.IntN(3) == 0 && r > 0xffff:
			out += fmt.Sprintf(`\u%04x\u%04X`, high, low)
		case g.IntN(3) == 0 && r <= 0xffff, r < 0x20, r == '"', r == '\\':
			out += fmt.Sprintf(`\u%04x`, r)
		default:
			out += string(r)
		}
	}
	return out + `"`
}

func (g generator) number() string {
	sign := [...]string{"", "", "-"}[g.IntN(3)]
	whole := [...]string{"0", "1", "10", "9007199254740993", "123456789012345678901234567890", "4503599627370495", strconv.Itoa(g.IntN(1e9) + 1)}[g.IntN(7)]
	fraction := [...]string{"", "", ".0", ".5", ".50", ".000012", "." + strconv.Itoa(g.IntN(1e9))}[g.IntN(7)]
	exponent := [...]string{"", "", "", "e0", "E+2", "e-2", "e-5", "e-324", "e22", "e" + strconv.Itoa(g.IntN(600)-330)}[g.IntN(10)]
	text := sign + whole + fraction + exponent
	if strings.ContainsAny(text, ".e") && math.IsInf(nearest(text), 0) {
		return "1"
	}
	return text
}

func (g generator) value(depth int) string {
	switch n := g.IntN(10); {
	case n < 3:
		return g.number()
	case n < 5:
		return g.text()
	case n < 7 || depth == 0:
		return [...]string{"null", "true", "false", "[]", "{}"}[g.IntN(5)]
	case n == 7:
		parts := make([]string, g.IntN(4))
		for i := range parts {
			parts[i] = g.space() + g.value(depth-1) + g.space()
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	var parts []string
	seen := map[string]bool{}
	for range g.IntN(5) {
		key := g.text()
		var name string
		if err := json.Unmarshal([]byte(key), &name); err != nil {
			panic(err)
		}
		if !seen[name] {
			seen[name] = true
			parts = append(parts, g.space()+key+g.space()+":"+g.space()+g.value(depth-1))
		}
	}
	return "{" + strings.Join(parts, ",") + g.space() + "}"
}

// Both implementations give the same bytes, which read back to the same bytes.
func TestCanonicalAgreesWithAPlainImplementation(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(1, 2))}
	n := 20000
	if testing.Short() {
		n = 2000
	}
	for range n {
		src := g.space() + g.value(4) + g.space()
		got := canonical(t, src)
		if want := plain(t, src); got != want {
			t.Fatalf("%q\ngives %q\n want %q", src, got, want)
		}
		if again := canonical(t, got); again != got {
			t.Fatalf("%q\ngives %q\n then %q", src, got, again)
		}
	}
}

// Two values share a canonical form exactly when they are equal.
func TestDifferentValuesHaveDifferentForms(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(3, 4))}
	n, equal := 200000, 0
	if testing.Short() {
		n = 20000
	}
	for range n {
		a, b := g.value(1), g.value(1)
		same := canonical(t, a) == canonical(t, b)
		if same != equalValues(read(t, a), read(t, b)) {
			t.Fatalf("%q and %q: same form %v", a, b, same)
		}
		if same {
			equal++
		}
	}
	if equal < n/1000 {
		t.Errorf("only %d of %d pairs were equal", equal, n)
	}
}

func read(t testing.TB, src string) *jsondoc.Value {
	t.Helper()
	doc, err := Parse(Ledger, []byte(src))
	if err != nil {
		t.Fatalf("Parse(%.200q): %v", src, err)
	}
	return doc.Root
}

// equalValues compares what two documents mean: numbers as exact rationals (after
// the rounding of those that are no integer literals), objects whatever their
// order.
func equalValues(a, b *jsondoc.Value) bool {
	if a.Kind != b.Kind || len(a.Items) != len(b.Items) || len(a.Members) != len(b.Members) {
		return false
	}
	switch a.Kind {
	case jsondoc.String:
		return a.Text == b.Text
	case jsondoc.Number:
		return exact(a).Cmp(exact(b)) == 0
	case jsondoc.Object, jsondoc.Array, jsondoc.True, jsondoc.False, jsondoc.Null, jsondoc.Key, jsondoc.ObjectEnd, jsondoc.ArrayEnd:
	}
	for i := range a.Items {
		if !equalValues(a.Items[i], b.Items[i]) {
			return false
		}
	}
	for _, m := range a.Members {
		if other := b.Get(m.Key); other == nil || !equalValues(m.Value, other) {
			return false
		}
	}
	return true
}

func exact(v *jsondoc.Value) *big.Rat {
	if IsInteger(v) {
		r, _ := new(big.Rat).SetString(v.Text)
		return r
	}
	x, _ := v.Float()
	return new(big.Rat).SetFloat64(x)
}

// Whatever is read has one canonical form, which is read as the same value; a
// second document shares it only when it means the same.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{
		`{"b":1,"a":[1.0,1e3,-0,5e-324,1e22,4503599627370495.5]}`, `"\ud83d\ude00\u0000\/"`, `{"é":1,"é":2}`, `[1e308]`, `123456789012345678901234567890`,
		`{"a":{"a":{}}}`, `[NaN]`, `{"a":1,"a":2}`, `1E400`, `"\ud800"`,
	} {
		f.Add([]byte(s), []byte(`{"a":[1,1000,0,5e-324,10000000000000000000000,4503599627370495.5],"b":1.0}`))
	}
	f.Fuzz(func(t *testing.T, one, two []byte) {
		a, err := Parse(Packet, one)
		if err != nil {
			code(t, err)
			return
		}
		form := Canonical(a.Root)
		back := read(t, string(form))
		if !equalValues(a.Root, back) {
			t.Fatalf("%q reads back from %q as another value", one, form)
		}
		if again := Canonical(back); !bytes.Equal(again, form) {
			t.Fatalf("%q\ngives %q\n then %q", one, form, again)
		}
		b, err := Parse(Packet, two)
		if err != nil {
			return
		}
		if same := bytes.Equal(form, Canonical(b.Root)); same != equalValues(a.Root, b.Root) {
			t.Fatalf("%q and %q: same form %v", one, two, same)
		}
	})
}
