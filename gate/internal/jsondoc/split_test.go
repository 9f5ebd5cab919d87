package jsondoc

import (
	"strconv"
	"strings"
	"testing"
)

// split takes a document apart, in pieces of so many bytes.
func split(t testing.TB, src string, piece int) (elements []string, rest string) {
	t.Helper()
	s := &Splitter{Element: func(key []byte, n int, el []byte, off int64) error {
		if got := src[off : int(off)+len(el)]; got != string(el) {
			t.Errorf("%q: element %q at %d, where %q stands", src, el, off, got)
		}
		elements = append(elements, string(key)+strconv.Itoa(n)+"="+string(el))
		return nil
	}}
	for i := 0; i < len(src); i += piece {
		p := []byte(src[i:min(len(src), i+piece)])
		if n, err := s.Write(p); n != len(p) || err != nil {
			t.Fatalf("%q: %d, %v", src, n, err)
		}
	}
	return elements, string(s.Rest())
}

func TestSplitter(t *testing.T) {
	for _, tt := range []struct{ src, elements, rest string }{
		{`{"a": [1, {"b": [2, 3]}, "],"], "c": {"d": [4]}, "e": []}`, `"a"0=1 "a"1={"b": [2, 3]} "a"2="],"`, `{"a": [0], "c": {"d": [4]}, "e": []}`},
		{`[1, [2, 3] , {"a": [4]}]`, `0=1 1=[2, 3] 2={"a": [4]}`, `[0]`},
		{`{"a\"[": ["\"", "\\"], "b": "[1,2]"}`, `"a\"["0="\"" "a\"["1="\\"`, `{"a\"[": [0], "b": "[1,2]"}`},
		{`{"a": [ ]}`, ``, `{"a": []}`},
		{`"x"`, ``, `"x"`},
		{``, ``, ``},
		{`{"a": [1,]}`, `"a"0=1`, `{"a": [0,]}`},
		{`{"a": [,1]}`, `"a"0=1`, `{"a": [,0]}`},
		{`{"a": [1 2]}`, `"a"0=1 2`, `{"a": [0]}`},
		{`{"a": [1}`, `"a"0=1`, `{"a": [0}`},
		{`{"a": [1, 2`, `"a"0=1`, `{"a": [0`},
		{`[]]`, ``, `[]]`},
		{`[] [1]`, ``, `[] [1]`},
	} {
		for piece := 1; piece < 8; piece++ {
			elements, rest := split(t, tt.src, piece)
			if got := strings.Join(elements, " "); got != tt.elements || rest != tt.rest {
				t.Errorf("%s: %s and %s, want %s and %s", tt.src, got, rest, tt.elements, tt.rest)
			}
		}
	}
}

func TestSplitterKeepsWhatIsNotWanted(t *testing.T) {
	var handed []string
	s := &Splitter{
		Wanted:  func(key []byte) bool { return string(key) == `"b"` },
		Element: func(_ []byte, _ int, src []byte, _ int64) error { handed = append(handed, string(src)); return nil },
	}
	if _, err := s.Write([]byte(`{"a": [1, 2], "b": [3, 4], "c": {"b": [5]}}`)); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(handed, " "); got != "3 4" || string(s.Rest()) != `{"a": [1, 2], "b": [0], "c": {"b": [5]}}` {
		t.Errorf("%s and %s", got, s.Rest())
	}
}

// A document is sound when its parts are, and they are what it holds.
func FuzzSplitter(f *testing.F) {
	for _, s := range []string{`{"a": [1, {"b": [2]}], "c": []}`, `[[], {}]`, `{"a": [1,], "b": [}]`, `{"a":["\\\"",2],"a":[3]}`, `[]1`, "{\"a\":[\n]\r}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		o := Options{KeepEqualKeys: true}
		doc, err := Parse([]byte(src), o)
		elements, rest := split(t, src, 7)
		sound := true
		var values []string
		for _, e := range elements {
			_, value, _ := strings.Cut(e, "=")
			if i := strings.LastIndexByte(e[:len(e)-len(value)-1], '"'); i >= 0 {
				_, value, _ = strings.Cut(e[i:], "=")
			}
			values = append(values, value)
			sound = sound && Scan([]byte(value), o, func(Token) error { return nil }) == nil
		}
		bare, restErr := Parse([]byte(rest), o)
		if sound = sound && restErr == nil; sound != (err == nil) {
			t.Fatalf("%q: %v; its parts %q and %q are sound: %v", src, err, elements, rest, sound)
		}
		if err != nil {
			return
		}
		var want []string
		arrays := []*Value{doc.Root}
		if doc.Root.Is(Object) {
			arrays = arrays[:0]
			for _, m := range doc.Root.Members {
				arrays = append(arrays, m.Value)
			}
		}
		for _, a := range arrays {
			for _, v := range a.Items {
				want = append(want, src[v.Off:v.End])
			}
		}
		if strings.Join(values, "\x00") != strings.Join(want, "\x00") || bare.Root.Kind != doc.Root.Kind || len(bare.Root.Members) != len(doc.Root.Members) {
			t.Errorf("%q: %q, want %q", src, values, want)
		}
	})
}
