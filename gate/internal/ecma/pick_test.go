package ecma

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
)

// pick reads a text with a Picker, in small parts.
func pick(t *testing.T, text string, names ...string) *Picker {
	t.Helper()
	var tok *Tokenizer
	p := NewPicker(func() int { return tok.Line() }, names...)
	tok = NewTokenizer(p, deep)
	for range 2 { // the second time with what the first has left behind
		p.Reset()
		tok.Reset(1)
		if err := Copy(tok, &parts{[]byte(text), 3}); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func TestPicker(t *testing.T) {
	p := pick(t, `{"n": 1.50, "s": "a\u0041\ud800", "skip": {"n": 2, "s": [{"n": 3}]}, "o":
  {"b": 1, "0": {"n": 4}}, "n": 2, "`+strings.Repeat("n", 200)+`": 5, "t": true, "z": null, "e": "", "i": 1e999}`,
		"n", "s", "o", "t", "z", "e", "i", "absent")
	var got []string
	for _, v := range p.Taken {
		got = append(got, fmt.Sprintf("%s:%d:%s", v.Kind, v.Line, v.ID))
	}
	want := []string{"number:2:2", "string:1:aA\xed\xa0\x80", `object:1:{"0":{"n":4},"b":1}`, "boolean:2:true", "null:2:null", "string:2:", "number:2:null", "nothing:0:"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if p.Kind != jsondoc.Object {
		t.Errorf("kind %s", p.Kind)
	}
	for _, text := range []string{`[{"n": 1}, "n", 2]`, `"n"`, `1`, `null`} {
		if p := pick(t, text, "n"); p.Taken[0].Kind != 0 || p.Kind == jsondoc.Object {
			t.Errorf("%s has n: %v", text, p.Taken[0])
		}
	}
}

func TestSame(t *testing.T) {
	p := pick(t, `{"a": "1", "b": 1, "c": 1.0, "d": null, "e": 1e999, "f": "null", "g": "1"}`, "a", "b", "c", "d", "e", "f", "g", "x", "y")
	same := []string{"bc", "de", "ag", "xy"}
	for i, a := range "abcdefgxy" {
		for j, b := range "abcdefgxy" {
			want := a == b || slices.Contains(same, string([]rune{min(a, b), max(a, b)}))
			if got := p.Taken[i].Same(p.Taken[j]); got != want {
				t.Errorf("%c is the same as %c: %v", a, b, got)
			}
		}
	}
}

// Of a long text a digest is kept, by which it is still compared.
func TestLongID(t *testing.T) {
	long := strings.Repeat("é0123456789", MaxID/8)
	text := fmt.Sprintf(`{"a": %q, "b": [%q], "c": "x"}`, long, long)
	p := pick(t, text, "a", "b", "c")
	d, err := Read(strings.NewReader(text), Options{MaxDepth: deep})
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range d.Fields() {
		if !p.Taken[i].Equals(f.Value) {
			t.Errorf("%s differs from itself", f.Key)
		}
		if p.Taken[i].Equals(d.Fields()[(i+1)%3].Value) {
			t.Errorf("%s equals another", f.Key)
		}
	}
	if got := p.Taken[0].ID; string(got) != ID(long) || len(got) > 40 {
		t.Errorf("the digest has %d bytes", len(got))
	}
	if other := pick(t, strings.Replace(text, "é", "e", 1), "a", "b"); p.Taken[0].Same(other.Taken[0]) || !p.Taken[1].Same(other.Taken[1]) {
		t.Error("digests do not tell long texts apart")
	}
}

// What a Picker takes, and what a Splitter hands on, are the members of the
// document.
func FuzzPicker(f *testing.F) {
	c := corpus{rand.New(rand.NewPCG(3, 4))}
	for range 60 {
		f.Add([]byte(c.text()))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Read(bytes.NewReader(text), Options{MaxDepth: deep})
		if err != nil {
			return
		}
		var names []string
		for _, field := range d.Fields() {
			if len(field.Key) <= longestName {
				names = append(names, field.Key)
			}
		}
		p := pick(t, string(text), names...)
		if p.Kind != d.Kind {
			t.Fatalf("%q: kind %s, want %s", text, p.Kind, d.Kind)
		}
		for i, name := range names {
			field, _ := d.Field(name)
			if got := p.Taken[i]; got.Line != field.Line || !got.Equals(field.Value) {
				t.Errorf("%q: %q is %+v, want %+v", text, name, got, field)
			}
		}
		members := map[string]string{}
		items := 0
		var w Writer
		s := Splitter{}
		var last string
		s.Begin = func(name string, k jsondoc.Kind) Visitor {
			w.Reset()
			last = name
			if items++; name == "a" && k != jsondoc.Array {
				members[name] = ""
				return nil
			}
			return &w
		}
		s.End = func() {
			var b bytes.Buffer
			if _, err := w.WriteTo(&b); err != nil {
				t.Fatal(err)
			}
			members[last] = b.String()
		}
		if err := Copy(NewTokenizer(&s, deep), bytes.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		if s.Kind != d.Kind || (items > 0 && d.Kind != jsondoc.Object && d.Kind != jsondoc.Array) {
			t.Fatalf("%q: kind %s and %d members, want %s", text, s.Kind, items, d.Kind)
		}
		for _, name := range names {
			field, _ := d.Field(name)
			if got := members[name]; got != string(field.JSON) && (name != "a" || got != "") {
				t.Errorf("%q: %q is handed on as %s, want %s", text, name, got, field.JSON)
			}
		}
	})
}
