package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

var documents = []string{
	"{}", " {\n}\t", "", "[]", "null", "{", "{}x", "\ufeff{}", `{"a":{}}`, `{"a":{},"b":{"state":"RESERVED"}}`,
	`{"a":{"state":"COMPLETED","n":1,"l":["x","y"],"t":true,"f":false,"z":null,"e":[]}}`,
	`{"a":{"state":"RELEASED" , "s" : "\u00e9\n\"\\\/\b\f\r\t"} , "b" : { } }`,
	`{"a":{"state":null}}`, `{"a":{"state":"reserved"}}`, `{"a":{"state":7}}`, `{"a":{"state":["RESERVED"]}}`, `{"a":{"state":{"x":1}}}`,
	`{"a":{"x":{"state":"nope"}}}`, `{"a":{"x":[{"state":"nope"}],"state":"RESERVED"}}`, `{"a":{"st\u0061te":"RESERVED"}}`, `{"a":{"st\u0061te":"x"}}`,
	`{"a":{},"a":{}}`, `{"a":{},"\u0061":{}}`, `{"a":{"b":1,"b":2}}`, `{"a":{"b":1,"\u0062":2}}`, `{"a":[]}`, `{"a":1}`, `{"a":"RESERVED"}`, `{"a":null}`,
	`{"a":{"n":-0}}`, `{"a":{"n":01}}`, `{"a":{"n":1.5e3}}`, `{"a":{"n":1e999}}`, `{"a":{"n":NaN}}`, `{"a":{"n":123456789012345678901234567890}}`, `{"a":{"n":1`, `{"a":{"n":1}`,
	`{"a":{"s":"\ud83d\ude00"}}`, `{"a":{"s":"\ud800"}}`, `{"a":{"s":"\uD8zz"}}`, `{"a":{"s":"\x"}}`, "{\"a\":{\"s\":\"\x01\"}}", "{\"a\":{\"s\":\"\xff\"}}", "{\"\xff\":{}}", `{"é":{},"😀":{}}`,
	`{"a":{"l":["x",]}}`, `{"a":{"l":[1]}}`, `{"a":{,}}`, `{"a":{"b"}}`, `{"a":{"b":1,}}`, `{"a":{}},`, `{"a":{},}`, `{"a" {}}`, `{"":{"":""}}`, `{"_corrupt":{"state":"RESERVED"}}`,
	`{"a":{"x":` + strings.Repeat("[", 62) + strings.Repeat("]", 62) + `}}`, `{"a":{"x":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}}`,
}

// plainly reads a ledger with encoding/json: the entries' states, in order of the
// document. It knows nothing of equal keys, surrogates and depths, so it is asked
// only about what was accepted.
func plainly(t *testing.T, text string) (keys []string, states map[string]any) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	states = map[string]any{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		name, _ := key.(string)
		keys = append(keys, name)
		var e map[string]any
		if err := dec.Decode(&e); err != nil {
			t.Fatal(err)
		}
		states[name] = e["state"]
	}
	return keys, states
}

func agrees(t *testing.T, text string) {
	t.Helper()
	slow, err := thoroughly(text)
	fast, ok := quickly(text)
	if ok && err != nil {
		t.Fatalf("%q is read quickly, though it is refused: %v", text, err)
	}
	if err != nil {
		var trouble *Error
		if !errors.As(err, &trouble) || !trouble.Corrupt || trouble.Message == "" {
			t.Fatalf("%q is refused with %#v", text, err)
		}
		return
	}
	if ok && (fast.closing != slow.closing || fmt.Sprint(fast.spans) != fmt.Sprint(slow.spans) || fmt.Sprint(fast.index) != fmt.Sprint(slow.index)) {
		t.Fatalf("%q is read as\n%v quickly and as\n%v thoroughly", text, fast, slow)
	}
	keys, states := plainly(t, text)
	if len(keys) != len(slow.spans) || len(states) != len(slow.spans) {
		t.Fatalf("%q has %d entries, read were %d", text, len(keys), len(slow.spans))
	}
	for i, key := range keys {
		e, err := slow.Entry(key)
		if err != nil || e == nil {
			t.Fatalf("%q: the entry of %q: %v, %v", text, key, e, err)
		}
		want := Completed
		if s, ok := states[key].(string); ok {
			want = EntryState(s)
		}
		if e.State != want || slow.spans[i].reserved != (want == Reserved) {
			t.Fatalf("%q: the entry of %q is %s, want %s", text, key, e.State, want)
		}
	}
	// Written with another entry it is a ledger that has both, and every other byte.
	o := &Object{}
	o.set(memberState, `"RELEASED"`)
	for _, key := range append(keys, "new \"key\" é") {
		var b bytes.Buffer
		if _, err := slow.With(key, o).WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		d, err := ReadDocument(b.String())
		if err != nil {
			t.Fatalf("%q with an entry for %q is %q: %v", text, key, b.String(), err)
		}
		e, err := d.Entry(key)
		if err != nil || e.State != Released {
			t.Fatalf("%q with an entry for %q is %q", text, key, b.String())
		}
		for _, other := range keys {
			if i, j := slow.spans[slow.index[other]], d.spans[d.index[other]]; other != key && slow.src[i.off:i.end] != d.src[j.off:j.end] {
				t.Fatalf("%q: the entry of %q has changed to %q", text, other, d.src[j.off:j.end])
			}
		}
	}
}

// The quick reader is an optimisation: it may give up, and else agrees.
func TestReadDocument(t *testing.T) {
	for _, text := range documents {
		agrees(t, text)
	}
}

// Most ledgers are read quickly, those of Python's json module too.
func TestOrdinaryLedgersAreReadQuickly(t *testing.T) {
	for _, text := range []string{
		sample(100, 0), sample(3, 2),
		"{\n  \"pack:m1\": {\n    \"state\": \"COMPLETED\",\n    \"handoff_id\": \"h\\u00e4\",\n    \"epoch\": 1,\n    \"owned_paths\": [\n      \"src/**\"\n    ]\n  }\n}\n",
	} {
		if _, ok := quickly(text); !ok {
			t.Errorf("not read quickly: %.300s", text)
		}
	}
}

// sample is a ledger of n entries, indented as asked for.
func sample(n, indent int) string {
	var b strings.Builder
	b.WriteString("{")
	for i := range n {
		if i > 0 {
			b.WriteString(",")
		}
		c := Claim{
			Key: fmt.Sprintf("project:milestone-%d:rev-%d", i%97, i), HandoffID: fmt.Sprintf("h-%08d", i), TraceID: fmt.Sprintf("t-%08d", i), From: "alice", To: "bob",
			Signature: "verified", Digest: strings.Repeat("0123456789abcdef", 4), OwnedPaths: []string{"src/**", "docs/guide.md"},
		}
		o, _ := c.reserve(nil, Terms{})
		fmt.Fprintf(&b, "\n  %s: ", quote(c.Key))
		text := o.JSON()
		if indent > 0 {
			var out bytes.Buffer
			_ = json.Indent(&out, text, "  ", strings.Repeat(" ", indent))
			text = out.Bytes()
		}
		b.Write(text)
	}
	b.WriteString("\n}\n")
	return b.String()
}

// FuzzReadDocument: whatever the bytes are, the two readers agree, and what is
// accepted can be written with another entry.
func FuzzReadDocument(f *testing.F) {
	for _, text := range documents {
		f.Add(text)
	}
	f.Add(sample(3, 2))
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 1<<16 {
			agrees(t, text)
		}
	})
}

// FuzzReadClaim: an entry behind a ref is of its own key, or corrupt.
func FuzzReadClaim(f *testing.F) {
	f.Add("k", `{"idempotency_key":"k","state":"RESERVED","reserved_at":"2026-10-02T12:00:00Z","epoch":3,"owned_paths":["a"],"depends_on":["b"]}`)
	f.Add("k", `{"idempotency_key":"K"}`)
	f.Add("\x00", `{"idempotency_key":"\u0000","state":null,"epoch":1e3}`)
	f.Fuzz(func(t *testing.T, key, text string) {
		e, err := readClaim(key, []byte(text))
		if err != nil {
			var trouble *Error
			if !errors.As(err, &trouble) || !trouble.Corrupt {
				t.Fatalf("%#v", err)
			}
			return
		}
		if e.epoch() < 1 || e.text(memberKey) != key {
			t.Fatalf("epoch %d of key %q", e.epoch(), e.text(memberKey))
		}
		next, err := readClaim(key, e.moved(Released, memberReleasedAt, Terms{}).Entry.JSON())
		if err != nil || next.State != Released || next.epoch() != e.epoch() {
			t.Fatalf("%q released is %v, %v", text, next, err)
		}
		c := Claim{Key: key, HandoffID: "h"}
		o, epoch := c.reserve(next, Terms{})
		o.set(memberKey, quote(key))
		again, err := readClaim(key, o.JSON())
		if err != nil || again.State != Reserved || again.epoch() != epoch || again.has(memberReleasedAt) {
			t.Fatalf("%q claimed again is %s, %v", text, o.JSON(), err)
		}
	})
}

// Mutations of a sound ledger find what the list above does not think of.
func TestMutations(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	base := sample(3, 0)
	rounds := 20_000
	if testing.Short() {
		rounds = 2_000
	}
	const alphabet = "{}[]\",:\\ \n01.eE-ustateRESERVEDn\x00\xc3\xa9"
	for range rounds {
		text := []byte(base)
		for range 1 + random.IntN(3) {
			i := random.IntN(len(text))
			switch random.IntN(3) {
			case 0:
				text[i] = alphabet[random.IntN(len(alphabet))]
			case 1:
				text = append(text[:i], text[i+1:]...)
			default:
				j := min(len(text), i+random.IntN(80))
				text = append(text[:j:j], text[i:]...)
			}
		}
		agrees(t, string(text))
	}
}
