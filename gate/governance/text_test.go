package governance

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// The text of a file in the matching over all of it, and its lines, against a plain
// second implementation that carries the line of each byte along.
func TestReadWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		var b strings.Builder
		for range r.IntN(14) {
			b.WriteString([]string{"a", `"`, `"`, " ", "+", "\n", "\r\n", "\r", "é", "\u00a0"}[r.IntN(10)])
		}
		file, join := b.String(), r.IntN(2) == 0
		var text []byte
		var lineOf []int
		line := 1
		for i := 0; i < len(file); i++ {
			switch {
			case file[i] == '\r' && i+1 < len(file) && file[i+1] == '\n':
				continue
			case file[i] == '\r':
				text, lineOf = append(text, '\n'), append(lineOf, line)
				continue
			}
			text, lineOf = append(text, file[i]), append(lineOf, line)
			if file[i] == '\n' {
				line++
			}
		}
		if join {
			plain := regexp.MustCompile(`"[\s\x{a0}]*\+[\s\x{a0}]*"`)
			for {
				m := plain.FindIndex(text)
				if m == nil {
					break
				}
				// A string may begin right where the last one that was joined ends.
				text = append(append(append([]byte{}, text[:m[0]]...), 0), text[m[1]:]...)
				lineOf = append(append(append([]int{}, lineOf[:m[0]]...), 0), lineOf[m[1]:]...)
			}
			kept, lines := text[:0], lineOf[:0]
			for i, c := range text {
				if c != 0 {
					kept, lines = append(kept, c), append(lines, lineOf[i])
				}
			}
			text, lineOf = kept, lines
		}
		w := readWhole([]byte(file), join)
		if w.text != string(text) {
			t.Fatalf("%q (join %v) reads as %q, want %q", file, join, w.text, text)
		}
		for off := range text {
			if got := w.line(off); got != lineOf[off] {
				t.Fatalf("%q (join %v): offset %d of %q is in line %d, want %d", file, join, off, w.text, got, lineOf[off])
			}
		}
	}
}

func TestSplitLines(t *testing.T) {
	for in, want := range map[string]string{"": "[]", "a": "[a]", "a\n": "[a|]", "a\r\nb\r\n": "[a|b|]", "a\rb\r": "[a\rb\r]", "\r\n\n": "[||]"} {
		if got := "[" + strings.Join(splitLines(in), "|") + "]"; got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
