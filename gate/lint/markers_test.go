package lint

import (
	"bytes"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
)

const (
	opening = "<" + "<<<<<<"
	closing = ">" + ">>>>>>"
)

func TestConflictMarkers(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		count      int
		line, col  int
		end        int
	}{
		{"a conflict", "a\n" + opening + " HEAD\nb\n=======\nc\n" + closing + " other\n", 2, 2, 1, 8},
		{"indented", "x\n   \t" + opening + " HEAD\n", 1, 2, 5, 12},
		{"bare, at the end of the file", "x\n" + opening, 1, 2, 1, 8},
		{"nine brackets", "x\ny\n" + closing + ">> q\n", 1, 3, 1, 10},
		{"CRLF", "x\r\n" + opening + " HEAD\r\n", 1, 2, 1, 8},
		{"a CR between the brackets", "<\r<<<\r<<<\n", 1, 1, 1, 10},
		{"a CR before them", "\r" + opening + "\n", 1, 1, 2, 9},
		{"after a byte order mark", "\ufeff" + opening + " HEAD\n", 1, 1, 1, 8},
		{"after a byte order mark of a later line", "x\n\ufeff" + opening, 1, 2, 2, 9},
		{"after a no-break and an ideographic space", "\u00a0\u3000" + opening, 1, 1, 3, 10},
		{"not UTF-8 before it", "x\xff\n" + opening, 1, 2, 1, 8},
		{"a sevenfold quotation", strings.Repeat(">", 7) + " quoted", 1, 1, 1, 8},
		{"six", "<<<<<<\n>>>>>>\n", 0, 0, 0, 0},
		{"seven of both kinds", "<<<<>>>>\n", 0, 0, 0, 0},
		{"a diff sample", "+" + opening + " HEAD\n-" + closing + "\n", 0, 0, 0, 0},
		{"inline code and a table", "`" + opening + "`\n| " + opening + " |\ntext " + opening + "\n", 0, 0, 0, 0},
		{"setext and diff3 lines", "Title\n=======\n|||||||\n", 0, 0, 0, 0},
		{"a quotation with blanks", "> > > > > > > x\n", 0, 0, 0, 0},
		{"an invalid byte is no white space", "\xa0" + opening + "\n", 0, 0, 0, 0},
		{"brackets after a line that only begins with some", "<<<\n<<<<\n", 0, 0, 0, 0},
	} {
		m := markersOf([]byte(tc.text))
		if m.Count != tc.count || m.First.Line != tc.line || m.First.Column != tc.col || m.First.EndColumn != tc.end {
			t.Errorf("%s: %q: got %d at %+v", tc.name, tc.text, m.Count, m.First)
		}
	}
}

// markersOf reads the markers of a text at once.
func markersOf(text []byte) Markers {
	m, err := ReadMarkers(bytes.NewReader(text), make([]byte, max(len(text), binaryWindow)+1))
	if err != nil {
		panic(err) // memory can always be read
	}
	return m
}

func TestMarkersInBinaryFiles(t *testing.T) {
	text := []byte("a\x00\n" + opening + "\n")
	if m := markersOf(text); m.Count != 0 {
		t.Errorf("outside the handoff folder: %+v", m)
	}
	if m := scanFile("data.bin", string(text), Options{}).Markers; m.Count != 1 {
		t.Errorf("a handoff file: %+v", m)
	}
	late := append(bytes.Repeat([]byte("x"), binaryWindow), text...)
	if m := markersOf(append(late, opening...)); m.Count != 2 {
		t.Errorf("a NUL after the window: %+v", m)
	}
	buf := make([]byte, 16<<10)
	if m, err := ReadMarkers(bytes.NewReader(text), buf); err != nil || m.Count != 0 {
		t.Errorf("read: %+v, %v", m, err)
	}
	if _, err := ReadMarkers(iotest.ErrReader(fmt.Errorf("broken")), buf); err == nil {
		t.Error("a read that fails gave no error")
	}
}

// bareMarkers is the test of aahp-lint.md 8 word for word.
func bareMarkers(text string) (count, first int) {
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r", ""), "\n") {
		line = strings.TrimFunc(line, func(r rune) bool { return unicode.Is(unicode.White_Space, r) || r == 0xfeff })
		if strings.HasPrefix(line, opening) || strings.HasPrefix(line, closing) {
			if count == 0 {
				first = i + 1
			}
			count++
		}
	}
	return count, first
}

func checkMarkers(t *testing.T, r *rand.Rand, text string) {
	t.Helper()
	count, first := bareMarkers(text)
	state := newMarkerState()
	state.scan([]byte(text))
	whole := state.result
	if whole.Count != count || whole.First.Line != first {
		t.Fatalf("%q: got %d, first on line %d; want %d, %d", text, whole.Count, whole.First.Line, count, first)
	}
	pieces := newMarkerState()
	for rest := []byte(text); len(rest) > 0; {
		n := 1 + r.Intn(min(len(rest), 9))
		pieces.scan(rest[:n])
		rest = rest[n:]
	}
	if pieces.result != whole {
		t.Fatalf("%q: in pieces %+v, whole %+v", text, pieces.result, whole)
	}
}

// TestMarkersInPieces holds the streaming test to the plain one.
func TestMarkersInPieces(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	parts := []string{opening, closing, "<", ">", "<<<", ">>>>", "\n", "\r\n", "\r", " ", "\t", "\u3000", "\ufeff", "\u00a0", "x", "\xff", "\xe3\x80", "=======", "\u2028"}
	for range 20_000 {
		var b strings.Builder
		for range r.Intn(8) {
			b.WriteString(parts[r.Intn(len(parts))])
		}
		checkMarkers(t, r, b.String())
	}
}

func FuzzMarkers(f *testing.F) {
	f.Add("a\n"+opening+" HEAD\r\n"+closing, int64(1))
	f.Add("\ufeff\u3000<\r<<<<<<", int64(2))
	f.Fuzz(func(t *testing.T, text string, seed int64) {
		checkMarkers(t, rand.New(rand.NewSource(seed)), text)
	})
}
