package lines

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

func TestPosition(t *testing.T) {
	for _, tt := range []struct {
		name         string
		text         string
		off          int
		line, column int
	}{
		{"empty text", "", 0, 1, 1},
		{"past an empty text", "", 5, 1, 1},
		{"first byte", "abc", 0, 1, 1},
		{"end of the text", "abc", 3, 1, 4},
		{"past the end counts as the end", "abc", 9, 1, 4},
		{"LF belongs to its line", "ab\ncd", 2, 1, 3},
		{"after LF", "ab\ncd", 3, 2, 1},
		{"last line", "ab\ncd", 5, 2, 3},
		{"end of a text that ends in LF", "ab\n", 3, 1, 4},
		{"only LF", "\n", 0, 1, 1},
		{"empty lines", "\n\nx", 2, 3, 1},
		{"CR is part of its line", "ab\r\ncd", 2, 1, 3},
		{"CR alone ends no line", "ab\rcd", 3, 1, 4},
		{"LINE SEPARATOR ends no line", "a\u2028b", 4, 1, 3},
		{"tab counts as one", "\t\tx", 2, 1, 3},
		{"code points, not bytes", "é€😀x", 9, 1, 4},
		{"a combining mark is a code point", "e\u0301x", 3, 1, 3},
		{"an invalid byte counts as one", "\xff\xfex", 2, 1, 3},
		{"a cut sequence counts byte by byte", "\xe2\x82x", 2, 1, 3},
		{"byte order mark counts as none", "\ufeffab", 4, 1, 2},
		{"byte order mark itself", "\ufeffab", 0, 1, 1},
		{"byte order mark on a later line counts", "a\n\ufeffb", 5, 2, 2},
		{"byte order mark later on the first line counts", "a\ufeffb", 4, 1, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := New([]byte(tt.text))
			line, column := x.Position(tt.off)
			if line != tt.line || column != tt.column {
				t.Errorf("Position(%d) in %q = %d:%d, want %d:%d", tt.off, tt.text, line, column, tt.line, tt.column)
			}
			if got := x.Line(tt.off); got != tt.line {
				t.Errorf("Line(%d) in %q = %d, want %d", tt.off, tt.text, got, tt.line)
			}
		})
	}
}

func TestSpan(t *testing.T) {
	x := New([]byte("one é two\nthree\n"))
	for _, tt := range []struct {
		off, end int
		want     report.Span
	}{
		{4, 6, report.Span{Line: 1, Column: 5, EndColumn: 6}},
		{0, 0, report.Span{Line: 1, Column: 1, EndColumn: 1}},
		{11, 16, report.Span{Line: 2, Column: 1, EndColumn: 6}},
		{7, 13, report.Span{Line: 1, Column: 7, EndLine: 2, EndColumn: 3}},
	} {
		if got := x.Span(tt.off, tt.end); got != tt.want {
			t.Errorf("Span(%d, %d) = %+v, want %+v", tt.off, tt.end, got, tt.want)
		}
	}
}

// plain counts from the beginning of the text each time.
func plain(text []byte, off int) (line, column int) {
	end := min(off, len(text))
	if off >= len(text) && len(text) > 0 && text[len(text)-1] == '\n' {
		off = len(text) - 1
	}
	start := bytes.LastIndexByte(text[:min(off, len(text))], '\n') + 1
	line = bytes.Count(text[:start], []byte{'\n'}) + 1
	column = 1
	for i := start; i < end; {
		r, n := utf8.DecodeRune(text[i:])
		if !(i == 0 && r == '\ufeff') {
			column++
		}
		i += n
	}
	return line, column
}

// The marks in long lines must not change what is counted.
func TestLongLinesAgreeWithPlainCounting(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "é", "€", "😀", "\xff", "\xe2\x82", "\ufeff", "\r", "\t"}
	for _, bom := range []string{"", "\ufeff"} {
		text := []byte(bom)
		for len(text) < 6*stride {
			text = append(text, pieces[rng.IntN(len(pieces))]...)
			if rng.IntN(3*stride) == 0 {
				text = append(text, '\n')
			}
		}
		x := New(text)
		for range 3000 {
			off := rng.IntN(len(text) + 2)
			line, column := x.Position(off)
			if wl, wc := plain(text, off); line != wl || column != wc {
				t.Fatalf("Position(%d) = %d:%d, plainly counted %d:%d", off, line, column, wl, wc)
			}
		}
	}
}

// Positions near the end of one line of 16 MiB, 50,000 of them: counted from
// the line's start this would not come to an end.
func TestOneVeryLongLine(t *testing.T) {
	text := bytes.Repeat([]byte("é"), 8<<20)
	x := New(text)
	for i := range 50_000 {
		off := len(text) - 2*i
		if _, column := x.Position(off); column != off/2+1 {
			t.Fatalf("column of %d is %d, want %d", off, column, off/2+1)
		}
	}
}

func FuzzPosition(f *testing.F) {
	f.Add([]byte("a\nb\r\n\xff\ufeff"), 3)
	f.Add([]byte("\ufeff"), 0)
	f.Add(bytes.Repeat([]byte("é"), stride), 2*stride)
	f.Fuzz(func(t *testing.T, text []byte, off int) {
		if off < 0 {
			return
		}
		line, column := New(text).Position(off)
		if wl, wc := plain(text, off); line != wl || column != wc {
			t.Errorf("Position(%d) in %q = %d:%d, plainly counted %d:%d", off, text, line, column, wl, wc)
		}
	})
}
