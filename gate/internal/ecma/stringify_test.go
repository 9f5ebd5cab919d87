package ecma

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
)

// deep is the depth to which these tests read.
const deep = 2000

// stringify gives JSON.stringify(JSON.parse(text)), the text being read in parts
// of that many bytes.
func stringify(text []byte, part int) (string, error) {
	d, err := Read(&parts{text, part}, Options{MaxDepth: deep})
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = d.WriteTo(&b)
	return b.String(), err
}

// parts is a reader that gives a few bytes at a time.
type parts struct {
	rest []byte
	size int
}

func (p *parts) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.rest[:min(p.size, len(p.rest))])
	p.rest = p.rest[n:]
	return n, nil
}

// The worked examples of sessions.md 6.6.
func TestWorkedExamples(t *testing.T) {
	for _, tt := range [][2]string{
		{`{ "b" : 1 , "a" : [ ] }`, `{"b":1,"a":[]}`},
		{`{"b":1,"10":2,"9":3,"a":4}`, `{"9":3,"10":2,"b":1,"a":4}`},
		{`{"4294967295":1,"4294967294":2}`, `{"4294967294":2,"4294967295":1}`},
		{`{"01":1,"-1":2,"1":3,"0":4}`, `{"0":4,"1":3,"01":1,"-1":2}`},
		{`{"a":1,"b":2,"a":3}`, `{"a":3,"b":2}`},
		{`{"a":1,"\u0061":2}`, `{"a":2}`},
		{`{"x":{"2":1,"1":1}}`, `{"x":{"1":1,"2":1}}`},
		{`{"a":{"__proto__":{"x":1},"b":1}}`, `{"a":{"__proto__":{"x":1},"b":1}}`},
		{`[1.0,1.50,-1.0e0]`, `[1,1.5,-1]`},
		{`[-0,-0.0,0e9]`, `[0,0,0]`},
		{`[9007199254740993,-9007199254740993]`, `[9007199254740992,-9007199254740992]`},
		{`[12345678901234567890]`, `[12345678901234567000]`},
		{`[123456789012345678901]`, `[123456789012345680000]`},
		{`[100000000000000000000,1e20,1e21]`, `[100000000000000000000,100000000000000000000,1e+21]`},
		{`[999999999999999900000,1e+21]`, `[999999999999999900000,1e+21]`},
		{`[1E5,1e-5,1e-6,1e-7]`, `[100000,0.00001,0.000001,1e-7]`},
		{`[0.000001234,0.0000001234]`, `[0.000001234,1.234e-7]`},
		{`[1.2345678901234567e-5]`, `[0.000012345678901234568]`},
		{`[0.1,0.30000000000000004,4.35]`, `[0.1,0.30000000000000004,4.35]`},
		{`[5e-324,2.5e-324,2e-324]`, `[5e-324,5e-324,0]`},
		{`[1.7976931348623157e308,1.8e308,-1e400]`, `[1.7976931348623157e+308,null,null]`},
		{`[1e23,2e22,123e-20]`, `[1e+23,2e+22,1.23e-18]`},
		{`["\/","<>&'"]`, `["/","<>&'"]`},
		{`["\b\f\n\r\t\"\\"]`, `["\b\f\n\r\t\"\\"]`},
		{`["\u0000\u0007\u000b\u001F"]`, `["\u0000\u0007\u000b\u001f"]`},
		{`["\u007f\u0080\u2028\u2029\ufeff"]`, "[\"\u007f\u0080\u2028\u2029\ufeff\"]"},
		{`["\ud83d\ude00","\uD83D"]`, `["😀","\ud83d"]`},
		{`["\uDE00\uD83D"]`, `["\ude00\ud83d"]`},
		{`["A\u00e9"]`, `["Aé"]`},
		{`{"":1,"\ud800":2}`, `{"":1,"\ud800":2}`},
		{`["\u0022\u005C\u002f"]`, `["\"\\/"]`},
		{`[true,false,null]`, `[true,false,null]`},
		{`[[],{},"",0]`, `[[],{},"",0]`},
		// And what they leave out.
		{`{"b":{"z":1,"2":{"y":1,"1":2},"1":3},"0":{"5":1,"5":2,"x":1,"4":[{"b":0,"7":1}]}}`, `{"0":{"4":[{"7":1,"b":0}],"5":2,"x":1},"b":{"1":3,"2":{"1":2,"y":1},"z":1}}`},
		{`{"a":{"c":1,"1":2},"b":2,"a":3}`, `{"a":3,"b":2}`},
		{`{"1":0,"1":{"b":1,"0":2}}`, `{"1":{"0":2,"b":1}}`},
		{`["\ud83d\ud83d\ude00\ud83d","\ud83dx","\ud83d\n"]`, `["\ud83d😀\ud83d","\ud83dx","\ud83d\n"]`},
		{` "x" `, `"x"`},
		{"\t\r\n 7 ", `7`},
		{`{"toString":1,"constructor":2,"toJSON":3,"length":4}`, `{"toString":1,"constructor":2,"toJSON":3,"length":4}`},
		{`{}`, `{}`},
		{`""`, `""`},
	} {
		for _, part := range []int{1, 2, 3, 7, 1 << 20} {
			if got, err := stringify([]byte(tt[0]), part); err != nil || got != tt[1] {
				t.Errorf("%s in parts of %d\ngot  %s (%v)\nwant %s", tt[0], part, got, err, tt[1])
			}
		}
	}
}

// The whole manifest of sessions.md 6.6.
func TestWorkedManifest(t *testing.T) {
	const manifest = `{ "session": "demo-1", "10": "ten", "project": "p", "9": 9, "watermark": 1.0, "turn_count": 2, "big": 9007199254740993, "turn_count": 2, "manifest_sha256": "x" }`
	d, err := Read(strings.NewReader(manifest), Options{MaxDepth: deep})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := d.WriteTo(&b, "manifest_sha256", "__proto__"); err != nil {
		t.Fatal(err)
	}
	if want := `{"9":9,"10":"ten","session":"demo-1","project":"p","watermark":1,"turn_count":2,"big":9007199254740992}`; b.String() != want {
		t.Errorf("got  %s\nwant %s", &b, want)
	}
	if got, want := d.SHA256("manifest_sha256", "__proto__"), "b664f9911c68a95a82014ea419dc8ab2ca71277f9bd1cd3cbed382fbd9f815cb"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if len(d.Repeated) != 1 || d.Repeated[0] != (Repeated{"turn_count", 1}) {
		t.Errorf("repeated: %v", d.Repeated)
	}
}

func TestWithoutAllMembers(t *testing.T) {
	for text, want := range map[string]string{`{"a":1}`: `{}`, `{"a":{"a":2},"a":1}`: `{}`, `{}`: `{}`, `["a"]`: `["a"]`, `{"b":{"a":1},"a":1,"0":2}`: `{"0":2,"b":{"a":1}}`} {
		d, err := Read(strings.NewReader(text), Options{MaxDepth: deep})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := d.WriteTo(&b, "a"); err != nil || b.String() != want {
			t.Errorf("%s without a: %s (%v), want %s", text, &b, err, want)
		}
	}
}

func TestDocumentFields(t *testing.T) {
	const text = `{
  "s": "a\ud800b",
  "list": ["x",
    {"b":1,"0":2}, -0],
  "n": 1e999,
  "list":
    [1.50, "y", []],
  "z": {"list": ["no"]}
}`
	d, err := Read(strings.NewReader(text), Options{MaxDepth: deep, Elements: "list"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range d.Fields() {
		got = append(got, fmt.Sprintf("%s:%d:%d:%s:%s", f.Key, f.Line, f.Value.Line, f.Kind, f.JSON))
	}
	want := []string{`s:2:2:string:"a\ud800b"`, `list:6:7:array:[1.5,"y",[]]`, `n:5:5:number:null`, `z:8:8:object:{"list":["no"]}`}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	got = nil
	for _, e := range d.Elements {
		got = append(got, fmt.Sprintf("%d:%s:%s", e.Line, e.Kind, e.JSON))
	}
	if want := []string{"7:number:1.5", `7:string:"y"`, "7:array:[]"}; !slices.Equal(got, want) {
		t.Errorf("elements: got %q, want %q", got, want)
	}
	if f, _ := d.Elements[0].Number(); f != 1.5 {
		t.Errorf("element: %v", f)
	}
	if f, ok := d.Field("n"); !ok || f.number != math.Inf(1) {
		t.Errorf("n: %v", f)
	}
	if f, _ := d.Field("s"); !ok(f.Text()) {
		t.Errorf("s: %v", f)
	}
	if _, ok := d.Field("none"); ok {
		t.Error("a member was found that is not there")
	}
}

func ok(s string, ok bool) bool { return ok && s == "a\xed\xa0\x80b" }

func TestEquals(t *testing.T) {
	const text = `{"a":1,"b":1.0,"c":"x","d":{"p":[1,{"q":2,"r":3}],"s":4},"e":{"s":4,"p":[1,{"r":3,"q":2}]},"f":[1],"g":null,"h":1e999,"i":-1e999,"j":true,"k":1e400}`
	d, err := Read(strings.NewReader(text), Options{MaxDepth: deep})
	if err != nil {
		t.Fatal(err)
	}
	equal := map[string]bool{"ab": true, "de": true, "hk": true}
	for _, a := range d.Fields() {
		p := NewPicker(func() int { return 1 }, a.Key)
		if err := Copy(NewTokenizer(p, deep), strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		for _, b := range d.Fields() {
			want := a.Key == b.Key || equal[min(a.Key, b.Key)+max(a.Key, b.Key)]
			if got := a.Equals(b.Value); got != want {
				t.Errorf("%s equals %s: %v", a.Key, b.Key, got)
			}
			if got := p.Taken[0].Equals(b.Value); got != want {
				t.Errorf("taken %s equals %s: %v", a.Key, b.Key, got)
			}
		}
		if a.Equals(Value{}) || p.Taken[0].Equals(Value{}) {
			t.Errorf("%s equals what is absent", a.Key)
		}
	}
}

// Where a text is not JSON, and why.
func TestNotJSON(t *testing.T) {
	for _, tt := range []struct {
		text string
		line int
		why  string
	}{
		{"", 1, "it ends too early"},
		{" \n\n", 2, "it ends too early"},
		{"\ufeff{}", 1, "it begins with a byte order mark"},
		{" \ufeff{}", 1, "a value is missing"},
		{"{}\ufeff", 1, "there is text after the end of the document"},
		{"{}\x00", 1, "there is text after the end of the document"},
		{"{}\n\n{}", 3, "there is text after the end of the document"},
		{"[1\n,]", 2, "a value is missing"},
		{"{\n\"a\":1,\n}", 3, "a key in double quotes is missing"},
		{"{\"a\"\n1}", 2, "a colon is missing after a key"},
		{"{\"a\":1\n\"b\":2}", 2, "a comma or closing brace is missing"},
		{"[1\n2]", 2, "a comma or closing bracket is missing"},
		{"[1}", 1, "a comma or closing bracket is missing"},
		{"{\"a\":1]", 1, "a comma or closing brace is missing"},
		{"[\"a\nb\"]", 1, "a string holds a raw control character"},
		{"\"\t\"", 1, "a string holds a raw control character"},
		{`"\x41"`, 1, "a string holds an unknown escape"},
		{`"\u00g0"`, 1, `a \u escape needs four hex digits`},
		{`"\u12"`, 1, `a \u escape needs four hex digits`},
		{`"abc`, 1, "it ends too early"},
		{`"abc\`, 1, "it ends too early"},
		{"01", 1, "a number is misspelt"},
		{"[.5]", 1, "a value is missing"},
		{"1.", 1, "a number is misspelt"},
		{"[+1]", 1, "a value is missing"},
		{"-", 1, "a number is misspelt"},
		{"1e", 1, "a number is misspelt"},
		{"1e+", 1, "a number is misspelt"},
		{"--1", 1, "a number is misspelt"},
		{"1.5.5", 1, "a number is misspelt"},
		{"NaN", 1, "a value is missing"},
		{"nul", 1, "a value is misspelt"},
		{"nullnull", 1, "a value is misspelt"},
		{"True", 1, "a value is missing"},
		{"/* */ 1", 1, "a value is missing"},
		{"'a'", 1, "a value is missing"},
		{"\"a\xff\"x", 1, "there is text after the end of the document"},
		{"\xff", 1, "a value is missing"},
		{strings.Repeat("[", deep+1), 1, "it is nested deeper than 2000 levels"},
		{strings.Repeat("[\n", deep) + "{}", deep + 1, "it is nested deeper than 2000 levels"},
		{strings.Repeat("[", deep), 1, "it ends too early"},
	} {
		for _, part := range []int{1, 3, 1 << 20} {
			_, err := stringify([]byte(tt.text), part)
			var e *Error
			if !errors.As(err, &e) || e.Line != tt.line || e.Error() != tt.why {
				t.Errorf("%.40q in parts of %d: %+v, want line %d: %s", tt.text, part, err, tt.line, tt.why)
			}
		}
	}
	if got, err := stringify([]byte(strings.Repeat("[", deep)+strings.Repeat("]", deep)), 4096); err != nil || len(got) != 2*deep {
		t.Errorf("as deep as is allowed: %v", err)
	}
}

func TestReadError(t *testing.T) {
	broken := errors.New("broken")
	if _, err := Read(iotest.ErrReader(broken), Options{MaxDepth: deep}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// The memory in which a text is read goes to the next one: neither shows in the other,
// whichever of them cannot be read.
func TestReadOneAfterAnother(t *testing.T) {
	texts := []string{
		`{"list": [1, {"b": 2, "1": "x"}], "n": 1.5, "list": ["last"], "7": [true]}`,
		`{"list": [{"open": {"and": [`,
		`[{"list": ["no member of the outermost"]}]`,
		`{}`,
		`{"list": [null], "n": 12345678901234567890}`,
		`"text`,
		`{"other": {"list": [1]}, "list": {"0": 1}}`,
		`7`,
	}
	show := func(d *Document, err error) string {
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%+v %+v %+v %v %d %s", d.Fields(), d.Elements, d.Repeated, d.Kind, d.Line, d.SHA256())
	}
	o := Options{MaxDepth: deep, Elements: "list"}
	alone := map[string]string{}
	for _, text := range texts {
		visitors = sync.Pool{New: visitors.New} // nothing comes from another text
		alone[text] = show(Read(strings.NewReader(text), o))
	}
	type reading struct {
		text     string
		document *Document
	}
	var kept []reading
	for i := range 200 {
		text := texts[(i*i+i/len(texts))%len(texts)]
		d, err := Read(strings.NewReader(text), o)
		if got := show(d, err); got != alone[text] {
			t.Fatalf("%s is read as\n%s, alone as\n%s", text, got, alone[text])
		}
		if err == nil {
			kept = append(kept, reading{text, d})
		}
	}
	for _, r := range kept {
		if got := show(r.document, nil); got != alone[r.text] {
			t.Errorf("%s became\n%s, it was\n%s", r.text, got, alone[r.text])
		}
	}
}

// What a text took that is nothing like others is not kept for them.
func TestReadKeepsNoLargeMemory(t *testing.T) {
	for name, text := range map[string]string{
		"a long number":   "[" + strings.Repeat("1", 1<<20) + "]",
		"a long fraction": `{"n": 0.` + strings.Repeat("1", 1<<20) + "}",
		"many members":    "{" + strings.TrimSuffix(strings.Repeat(`"a":1,`, 1<<14), ",") + "}",
		"deep":            strings.Repeat("[", 1<<14) + strings.Repeat("]", 1<<14),
		"many elements":   `{"list": [` + strings.TrimSuffix(strings.Repeat("1,", 1<<14), ",") + "]}",
	} {
		if _, err := Read(strings.NewReader(text), Options{MaxDepth: 1 << 14, Elements: "list"}); err != nil {
			t.Fatal(err)
		}
		v := visitors.Get().(*documentVisitor)
		if n := max(cap(v.fields), cap(v.items), cap(v.members), cap(v.open), cap(v.t.open), cap(v.t.word)); n > manyFields {
			t.Errorf("%s: %d of one kind are kept", name, n)
		}
		visitors.Put(v)
	}
}

// Every double is written with the fewest digits, and reads back.
func TestNumbersReadBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 3))
	for range 200_000 {
		f := math.Float64frombits(rng.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		s := AppendNumber(nil, f)
		if got := Number(s); got != f {
			t.Fatalf("%g is written as %s, which is %g", f, s, got)
		}
		if !isNumber(s) {
			t.Fatalf("%g is written as %s", f, s)
		}
	}
}

// Numbers that are longer than any reader has digits for.
func TestLongNumbers(t *testing.T) {
	zeros := func(n int) string { return strings.Repeat("0", n) }
	for text, want := range map[string]float64{
		"0." + zeros(100_000) + "1e100001":        1,
		"-0." + zeros(200_000) + "25e200001":      -2.5,
		"1" + zeros(100_000) + "e-100000":         1,
		"1" + zeros(100_000) + "." + zeros(500):   math.Inf(1),
		"0." + zeros(400) + "1":                   0,
		"1e" + zeros(300) + "5":                   1e5,
		"1e-" + zeros(300) + "5":                  1e-5,
		"1e+" + strings.Repeat("9", 300):          math.Inf(1),
		"-1e" + strings.Repeat("9", 300):          math.Inf(-1),
		"1e-" + strings.Repeat("9", 300):          0,
		"0e" + strings.Repeat("9", 300):           0,
		"0." + zeros(300) + "e" + zeros(10) + "1": 0,
		strings.Repeat("1", 300):                  mustFloat(strings.Repeat("1", 300)),
		strings.Repeat("9", 400) + "e-400":        1,
		"9007199254740993" + zeros(200) + "e-200": 9007199254740992,
		"9007199254740993." + zeros(900) + "1":    9007199254740994, // above the middle by a digit that is far away
		"9007199254740993." + zeros(900) + "0":    9007199254740992,
		"0.5" + zeros(1000) + "1":                 0.5,
		"2.4703282292062327e-324":                 0,
		"24703282292062328e-340":                  5e-324,
	} {
		if !isNumber([]byte(text)) {
			t.Fatalf("%.40s… is no number", text)
		}
		if got := Number([]byte(text)); got != want {
			t.Errorf("%.40s… (%d bytes) is %g, want %g", text, len(text), got, want)
		}
	}
}

func mustFloat(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err)
	}
	return f
}

// corpus makes texts of JSON, and some that nearly are.
type corpus struct{ *rand.Rand }

func (c corpus) one(of ...string) string { return of[c.IntN(len(of))] }

func (c corpus) space() string { return c.one("", "", "", "", " ", "\n", "\t", "\r\n", "  ") }

func (c corpus) number() string {
	switch c.IntN(8) {
	case 0:
		return strconv.Itoa(c.IntN(2000) - 1000)
	case 1:
		return c.one("0", "-0", "-0.0", "0e9", "1E5", "1e-7", "1e21", "123456789012345678901", "1e400", "-1e400", "5e-324", "2.5e-324", "1.8e308", "9007199254740993", "4.35", "1e23")
	case 2:
		return strconv.FormatFloat(math.Float64frombits(c.Uint64()&^(1<<62)), 'g', -1, 64)
	case 3:
		return fmt.Sprintf("%d%s", c.Uint64(), strings.Repeat("0", c.IntN(12)))
	case 4:
		return fmt.Sprintf("%d.%de%d", c.IntN(100), c.Uint64(), c.IntN(660)-330)
	case 5:
		return fmt.Sprintf("%d.%d", c.IntN(10), c.Uint64())
	case 6: // halfway between two doubles, or nearly
		return strconv.FormatUint(c.Uint64()>>uint(c.IntN(12))|1, 10) + c.one("", ".5", ".0", ".50000000000000000000000000000001", "e-5", "e5")
	}
	return strings.Repeat(c.one("1", "9", "12"), 1+c.IntN(30)) + c.one("", "e-20", "e+3", ".000")
}

func (c corpus) string() string {
	var b strings.Builder
	b.WriteByte('"')
	for range c.IntN(6) {
		switch c.IntN(9) {
		case 0:
			b.WriteString(c.one(`\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`))
		case 1:
			fmt.Fprintf(&b, `\u%04x`, c.IntN(0x10000))
		case 2:
			fmt.Fprintf(&b, `\u%04X`, 0xd7f0+c.IntN(0x820)) // surrogates and what is beside them
		case 3:
			fmt.Fprintf(&b, `\ud8%02x\uDc%02X`, c.IntN(256), c.IntN(256))
		case 4:
			b.WriteString(c.one("\u2028", "\u2029", "\x7f", "\u0080", "\ufeff", "\ufffd", "é", "漢", "😀", "<>&'", "/"))
		case 5:
			b.WriteString(c.one("\xff", "\xe2\x82", "\xf0\x9f\x98", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc3"))
		default:
			b.WriteString(c.one("a", "b", "plain text", "0", "  "))
		}
	}
	b.WriteByte('"')
	return b.String()
}

func (c corpus) key() string {
	switch c.IntN(6) {
	case 0:
		return fmt.Sprintf(`"%d"`, c.IntN(14))
	case 1:
		return c.one(`"01"`, `"-1"`, `"1.0"`, `"1e3"`, `"4294967294"`, `"4294967295"`, `"4294967296"`, `"42949672940"`, `""`, `"+1"`, `"00"`, `"\u0031"`)
	case 2:
		return c.one(`"__proto__"`, `"toString"`, `"constructor"`, `"toJSON"`, `"length"`, `"\u005f_proto__"`)
	case 3:
		return c.string()
	}
	return c.one(`"a"`, `"b"`, `"c"`, `"\u0061"`, `"d"`)
}

func (c corpus) value(depth int) string {
	k := c.IntN(10)
	if depth > 4 {
		k = c.IntN(6)
	}
	list := func(open, end string, least, most int, item func() string) string {
		var items []string
		for range least + c.IntN(most-least+1) {
			items = append(items, c.space()+item()+c.space())
		}
		return open + strings.Join(items, ",") + end
	}
	switch {
	case k < 2:
		return c.number()
	case k < 4:
		return c.string()
	case k < 6:
		return c.one("true", "false", "null", "[]", "{}", "[ ]", "{\n}", `""`)
	case k < 7:
		return list("[", "]", 1, 4, func() string { return c.value(depth + 1) })
	}
	most := 6
	if c.IntN(20) == 0 {
		most = 40 // more than are looked for one by one
	}
	return list("{", "}", 1, most, func() string { return c.key() + c.space() + ":" + c.space() + c.value(depth+1) })
}

// text is a value, or one in which a byte is another.
func (c corpus) text() string {
	s := c.space() + c.value(0) + c.space()
	if c.IntN(12) == 0 {
		i := c.IntN(len(s) + 1)
		s = s[:i] + c.one("", ",", "x", "0", ".", "\"", "]", "\x00", "\n", "\ufeff", "\\") + s[min(len(s), i+c.IntN(2)):]
	}
	return s
}

// What this package writes is what node writes, for 40,000 texts.
func TestLikeNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: the oracle for JSON.parse and JSON.stringify is missing")
	}
	c := corpus{rand.New(rand.NewPCG(2026, 6))}
	n := 40_000
	if testing.Short() {
		n = 4_000
	}
	texts := make([]string, n)
	var in bytes.Buffer
	for i := range texts {
		texts[i] = c.text()
		if i%2 == 1 { // numbers alone are where most of the rules are
			texts[i] = "[" + c.number() + "," + c.number() + "," + c.number() + "]"
		}
		in.WriteString(base64.StdEncoding.EncodeToString([]byte(texts[i])) + "\n")
	}
	cmd := exec.Command(node, "-e", `
const out = [];
for (const line of require('fs').readFileSync(0, 'latin1').split('\n').slice(0, -1)) {
  let s;
  try { s = JSON.stringify(JSON.parse(Buffer.from(line, 'base64').toString('utf8'))); } catch { s = ''; }
  out.push(Buffer.from(s, 'utf8').toString('base64'));
}
process.stdout.write(out.join('\n') + '\n');`)
	cmd.Stdin = &in
	answers, err := cmd.Output()
	if err != nil {
		t.Fatalf("node failed: %v", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(answers))
	lines.Buffer(nil, 1<<20)
	sound := 0
	for i, text := range texts {
		if !lines.Scan() {
			t.Fatalf("node answered %d of %d", i, n)
		}
		want, err := base64.StdEncoding.DecodeString(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		got, err := stringify([]byte(text), 1+i%100)
		if err == nil {
			sound++
		}
		if got != string(want) {
			t.Fatalf("%q\ngot  %s (%v)\nnode %s", text, got, err, want)
		}
	}
	if sound < n/2 || sound == n {
		t.Errorf("%d of %d texts are JSON; the corpus should have both kinds", sound, n)
	}
}

// plainValue is a second, plain implementation: maps and slices, no spans.
func plainValue(v *jsondoc.Value) string {
	switch v.Kind {
	case jsondoc.Object:
		values := map[string]string{}
		var keys []string
		for _, m := range v.Members {
			if _, had := values[m.Key]; !had {
				keys = append(keys, m.Key)
			}
			values[m.Key] = plainValue(m.Value)
		}
		index := func(k string) (uint64, bool) {
			n, err := strconv.ParseUint(k, 10, 32)
			return n, err == nil && n < 1<<32-1 && strconv.FormatUint(n, 10) == k
		}
		slices.SortStableFunc(keys, func(a, b string) int {
			m, isA := index(a)
			n, isB := index(b)
			switch {
			case isA && isB:
				return int(int64(m) - int64(n))
			case isA:
				return -1
			case isB:
				return 1
			}
			return 0
		})
		for i, k := range keys {
			keys[i] = plainString(k) + ":" + values[k]
		}
		return "{" + strings.Join(keys, ",") + "}"
	case jsondoc.Array:
		var items []string
		for _, item := range v.Items {
			items = append(items, plainValue(item))
		}
		return "[" + strings.Join(items, ",") + "]"
	case jsondoc.String:
		return plainString(v.Text)
	case jsondoc.Number:
		f, _ := v.Float()
		return plainNumber(f)
	case jsondoc.True, jsondoc.False, jsondoc.Null:
		return map[jsondoc.Kind]string{jsondoc.True: "true", jsondoc.False: "false", jsondoc.Null: "null"}[v.Kind]
	default:
		return "?"
	}
}

// plainString goes over UTF-16 units, as the specification does.
func plainString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	units := UTF16(s)
	for i := 0; i < len(units); i++ {
		u := units[i]
		switch {
		case u == '"' || u == '\\':
			b.WriteString(`\` + string(rune(u)))
		case strings.ContainsRune("\b\t\n\f\r", rune(u)):
			b.WriteString(map[uint16]string{8: `\b`, 9: `\t`, 10: `\n`, 12: `\f`, 13: `\r`}[u])
		case u < 0x20 || u >= 0xdc00 && u <= 0xdfff:
			fmt.Fprintf(&b, `\u%04x`, u)
		case u >= 0xd800 && u <= 0xdbff:
			if i+1 < len(units) && units[i+1] >= 0xdc00 && units[i+1] <= 0xdfff {
				b.WriteRune(0x10000 + (rune(u)-0xd800)<<10 + rune(units[i+1]) - 0xdc00)
				i++
			} else {
				fmt.Fprintf(&b, `\u%04x`, u)
			}
		default:
			b.WriteRune(rune(u))
		}
	}
	b.WriteByte('"')
	return b.String()
}

// plainNumber follows sessions.md 6.3 word by word.
func plainNumber(f float64) string {
	switch {
	case math.IsInf(f, 0):
		return "null"
	case f == 0:
		return "0"
	case f < 0:
		return "-" + plainNumber(-f)
	}
	mantissa, e, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	digits := strings.Replace(mantissa, ".", "", 1)
	exponent, _ := strconv.Atoi(e)
	k, n := len(digits), exponent+1
	switch {
	case k <= n && n <= 21:
		return digits + strings.Repeat("0", n-k)
	case 0 < n && n <= 21:
		return digits[:n] + "." + digits[n:]
	case -6 < n && n <= 0:
		return "0." + strings.Repeat("0", -n) + digits
	}
	s := digits[:1]
	if k > 1 {
		s += "." + digits[1:]
	}
	return s + fmt.Sprintf("e%+d", n-1)
}

// plainly is JSON.stringify(JSON.parse(text)) by the plain implementation.
func plainly(text []byte) (string, error) {
	src := []byte(Decode(text))
	d, err := jsondoc.Parse(src, jsondoc.Options{MaxDepth: deep, KeepEqualKeys: true, KeepSurrogates: true})
	if err != nil {
		var e *jsondoc.Error
		if errors.As(err, &e) {
			return "", err
		}
		panic(err)
	}
	return plainValue(d.Root), nil
}

// Any text gives the same as the plain implementation, in whatever parts it comes,
// and what is written is written the same when it is read again.
func FuzzStringify(f *testing.F) {
	c := corpus{rand.New(rand.NewPCG(1, 2))}
	for range 60 {
		f.Add([]byte(c.text()), uint8(c.IntN(256)))
	}
	for _, s := range []string{
		"\ufeff1", "{\"a\":1,\"a\":2}", `{"b":1,"1":{"b":1,"1":{"b":1,"1":2}}}`, `["\ud800","\udc00\ud800"]`, strings.Repeat("[", 30), "1e400", "-0", "01",
		`{"__proto__":1,"__proto__":{"__proto__":2}}`, "[1e-7,1e21,0.1]", "\"\xed\xa0\x80\xf0\x9f\"", "{\"\xff\":1,\"\ufffd\":2}",
	} {
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, text []byte, size uint8) {
		want, wantErr := plainly(text)
		got, err := stringify(text, 1+int(size))
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: error %v, the plain implementation: %v", text, err, wantErr)
		}
		if err != nil {
			return
		}
		if got != want {
			t.Fatalf("%q\ngot  %s\nwant %s", text, got, want)
		}
		if !utf8.ValidString(got) || !json.Valid([]byte(got)) {
			t.Fatalf("%q is written as %q", text, got)
		}
		if again, err := stringify([]byte(got), 1<<20); err != nil || again != got {
			t.Fatalf("%s is written again as %s (%v)", got, again, err)
		}
	})
}

// The Tokenizer stops at the line at which jsondoc does.
func FuzzTokenizer(f *testing.F) {
	for _, s := range []string{"", "\n", "{\n\"a\"\n:\n1\n}\nx", "[1,\n2\n", "[\n01]", "{\"a\":\n\"\x01\"}", "[\n1\n.5]", "[\nnul]", "\"\\ud8\"", "\xef\xbb\xbf"} {
		f.Add([]byte(s), uint8(2))
	}
	f.Fuzz(func(t *testing.T, text []byte, size uint8) {
		src := []byte(Decode(text))
		_, want := jsondoc.Parse(src, jsondoc.Options{MaxDepth: deep, KeepEqualKeys: true, KeepSurrogates: true})
		_, err := stringify(text, 1+int(size))
		var place *jsondoc.Error
		var e *Error
		if errors.As(want, &place) != errors.As(err, &e) {
			t.Fatalf("%q: %v, jsondoc: %v", text, err, want)
		}
		if e == nil {
			return
		}
		line := 1 + bytes.Count(src[:min(place.Offset, len(src))], []byte("\n"))
		if place.Offset >= len(src) && bytes.HasSuffix(src, []byte("\n")) {
			line--
		}
		if e.Line != line {
			t.Fatalf("%q: line %d (%v), jsondoc: %d (%v)", text, e.Line, e, line, want)
		}
	})
}

// Decoding in parts gives what decoding at once gives.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte("a\xe2\x82\xac\xf0\x9f\x98\x80\xed\xa0\x80\xf0\x9f\xe2\xff"), uint8(1))
	f.Add([]byte("\xf0\x9f\x98"), uint8(2))
	f.Fuzz(func(t *testing.T, text []byte, size uint8) {
		var b bytes.Buffer
		d := NewDecoder(partChecker{t, &b})
		for rest := text; len(rest) > 0; {
			n := min(1+int(size), len(rest))
			if _, err := d.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := d.Flush(); err != nil {
			t.Fatal(err)
		}
		if want := Decode(text); b.String() != want {
			t.Errorf("%q: got %q, want %q", text, &b, want)
		}
	})
}

// partChecker wants every part to be UTF-8.
type partChecker struct {
	t *testing.T
	b *bytes.Buffer
}

func (c partChecker) Write(p []byte) (int, error) {
	if !utf8.Valid(p) {
		c.t.Errorf("the part %q is not UTF-8", p)
	}
	return c.b.Write(p)
}
