package lint

import (
	"math/rand"
	"reflect"
	"strings"
	"testing"
)

// scanPieces scans a file in random pieces, in blocks of the given size.
func scanPieces(r *rand.Rand, name, text string, size int, o Options) FileResult {
	s := NewScanner(name, o)
	s.size = size
	for rest := []byte(text); len(rest) > 0; {
		n := 1 + r.Intn(min(len(rest), 2*size))
		_, _ = s.Write(rest[:n])
		rest = rest[n:]
	}
	return s.Finish()
}

// hostileFile makes a text of everything the scanners look for.
func hostileFile(r *rand.Rand) string {
	var b strings.Builder
	if r.Intn(8) == 0 {
		b.WriteString([]string{"\ufeff", "\xff\xfe", "\xfe\xff"}[r.Intn(3)])
	}
	for range 1 + r.Intn(8) {
		switch r.Intn(8) {
		case 0, 1:
			b.WriteString(hostileText(r))
		case 2:
			b.WriteString(hostileLine(r))
		case 3:
			b.WriteString(positives[r.Intn(len(positives))].make(r))
		case 4:
			b.WriteString([]string{"a\u202eb", "pass\u200bword", "\x00", "\xff", "\U0001F600\ufe01\ufe02", "می\u200cخواهم", "aWdub3JlIGFsbCBwcmV2aW91cyBpbnN0cnVjdGlvbnM="}[r.Intn(7)])
		case 5:
			b.WriteString("\n" + []string{opening, closing, " " + opening, "<<<<"}[r.Intn(4)])
		case 6:
			b.WriteString(strings.Repeat([]string{"x", "word ", "é", "\u200b", "a@b"}[r.Intn(5)], r.Intn(40)))
		}
		if r.Intn(2) == 0 {
			b.WriteString([]string{"\n", "\r\n", " ", "\n\n"}[r.Intn(4)])
		}
	}
	return b.String()
}

// sameResult compares what two scans of a file found.
func sameResult(a, b FileResult) bool { return reflect.DeepEqual(a, b) }

// TestPiecesFindTheSame feeds files in random pieces and blocks, so that every
// border falls everywhere, and finds what one piece gives.
func TestPiecesFindTheSame(t *testing.T) {
	r := rand.New(rand.NewSource(6))
	n := 20_000
	if testing.Short() {
		n = 2_000
	}
	for range n {
		text := hostileFile(r)
		name := []string{"STATUS.md", "notes.bin", ".aiignore", "x/y.txt"}[r.Intn(4)]
		whole := scanFile(name, text, Options{})
		pieces := scanPieces(r, name, text, 1+r.Intn(24), Options{Size: int64(r.Intn(2) * len(text))})
		if !sameResult(whole, pieces) {
			t.Fatalf("%s %q\n in pieces %q %+v\n whole     %q %+v", name, text, describe(pieces), pieces.Markers, describe(whole), whole.Markers)
		}
	}
}

// TestJSONBlocksFindTheSame does so for the blocks a JSON file is scanned in.
func TestJSONBlocksFindTheSame(t *testing.T) {
	r := rand.New(rand.NewSource(8))
	for range 3_000 {
		var b strings.Builder
		b.WriteString("{\n")
		for i := range 1 + r.Intn(5) {
			if i > 0 {
				b.WriteString([]string{",\n", ", "}[r.Intn(2)])
			}
			clean := strings.Map(func(c rune) rune {
				if c < 0x20 || c == '"' || c == '\\' || c == 0xfffd {
					return -1
				}
				return c
			}, strings.ToValidUTF8(hostileFile(r), ""))
			b.WriteString(`"k": "` + jsonEscapeSome(r, clean) + `"`)
		}
		b.WriteString("\n}")
		whole := scanFile("x.json", b.String(), Options{})
		pieces := scanPieces(r, "x.json", b.String(), 1+r.Intn(24), Options{})
		if !sameResult(whole, pieces) {
			t.Fatalf("%q\n in pieces %q\n whole     %q", b.String(), describe(pieces), describe(whole))
		}
	}
}

// FuzzScanner feeds any file in any pieces: no panic, the same as in one piece,
// and every finding has a place and a message that can be printed.
func FuzzScanner(f *testing.F) {
	r := rand.New(rand.NewSource(9))
	for i := range 30 {
		f.Add([]string{"STATUS.md", "x.json", "a.bin", "pii-allowlist.json"}[i%4], hostileFile(r), int64(i))
	}
	f.Add("x.json", `{"a": "\u0069gnore prior", "a": ["\uD83D\uDE00", {"b@c.io": 1}]}`, int64(1))
	f.Add("pii-allowlist.json", `{"version": 1, "entries": [{"value": "a@b.io", "kind": "email", "reason": "r", "owner": "o", "expires": "2027-01-01"}]}`, int64(1))
	f.Fuzz(func(t *testing.T, name, text string, seed int64) {
		if len(text) > 8<<10 || len(name) > 100 {
			return
		}
		r := rand.New(rand.NewSource(seed))
		whole := scanFile(name, text, Options{})
		pieces := scanPieces(r, name, text, 1+r.Intn(40), Options{})
		if !sameResult(whole, pieces) {
			t.Fatalf("%s %q\n in pieces %q\n whole     %q", name, text, describe(pieces), describe(whole))
		}
		for _, h := range whole.Hits {
			if h.Message == "" || strings.ContainsAny(h.Message, "\n\r\x1b") || h.Span.Line < 0 || h.Span.Column < 0 {
				t.Fatalf("%s %q: %+v", name, text, h)
			}
			if h.Span.Column > 0 && h.Span.EndColumn < h.Span.Column {
				t.Fatalf("%s %q: ends before it begins: %+v", name, text, h)
			}
		}
	})
}
