// Package lines turns byte offsets into the 1-based lines and columns of a
// report (aahp-lint.md 2.4).
package lines

import (
	"bytes"
	"sort"
	"sync"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

// Index knows where each line of a text begins. Lines end at LF only.
type Index struct {
	text   []byte
	starts []int

	once  sync.Once
	marks []mark // see column
}

// mark says how many code points of the text stand before an offset.
type mark struct{ off, runes int }

// stride is the distance of marks in bytes, and the longest piece of a line that
// is counted afresh at each question.
const stride = 1024

// New indexes text, which must not change afterwards.
func New(text []byte) *Index {
	starts := make([]int, 1, bytes.Count(text, []byte{'\n'})+1)
	for i := 0; ; {
		n := bytes.IndexByte(text[i:], '\n')
		if n < 0 {
			break
		}
		i += n + 1
		starts = append(starts, i)
	}
	return &Index{text: text, starts: starts}
}

// Line gives the line that holds the byte at off. An offset at or past the end
// of a text that ends in LF belongs to the line that the last LF ended.
func (x *Index) Line(off int) int {
	if n := len(x.text); off >= n && n > 0 && x.text[n-1] == '\n' {
		off = n - 1
	}
	return sort.SearchInts(x.starts, off+1)
}

// Position gives line and column of the byte at off.
func (x *Index) Position(off int) (line, column int) {
	line = x.Line(off)
	start := x.starts[line-1]
	off = min(off, len(x.text))
	if off-start <= stride {
		return line, Column(x.text[start:], off-start, start == 0)
	}
	column = x.runes(off) - x.runes(start) + 1
	if start == 0 && bytes.HasPrefix(x.text, byteOrderMark) {
		column--
	}
	return line, column
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// runes counts the code points that begin before off, an invalid byte as one.
// Marks keep it from counting a long line anew for each of its findings.
func (x *Index) runes(off int) int {
	x.once.Do(func() {
		x.marks = make([]mark, 0, len(x.text)/stride+1)
		next := 0
		for i, n := 0, 0; i < len(x.text); n++ {
			if i >= next {
				x.marks = append(x.marks, mark{i, n})
				next = i + stride
			}
			_, size := utf8.DecodeRune(x.text[i:])
			i += size
		}
	})
	k := sort.Search(len(x.marks), func(i int) bool { return x.marks[i].off > off }) - 1
	if k < 0 {
		return 0
	}
	n := x.marks[k].runes
	for i := x.marks[k].off; i < off; n++ {
		_, size := utf8.DecodeRune(x.text[i:])
		i += size
	}
	return n
}

// Span gives the place of the bytes from off to end. It spans lines only where
// the bytes do; the column after the last byte is EndColumn.
func (x *Index) Span(off, end int) report.Span {
	line, column := x.Position(off)
	endLine, endColumn := x.Position(end)
	s := report.Span{Line: line, Column: column, EndColumn: endColumn}
	if endLine != line {
		s.EndLine = endLine
	}
	return s
}

// Column counts the code points before byte off of a line, plus one. An invalid
// byte counts as one; a byte order mark counts as none where the line is the
// first of its file.
func Column(line []byte, off int, first bool) int {
	col := 1
	for i := 0; i < off && i < len(line); {
		r, n := utf8.DecodeRune(line[i:])
		if !(first && i == 0 && r == '\ufeff') {
			col++
		}
		i += n
	}
	return col
}
