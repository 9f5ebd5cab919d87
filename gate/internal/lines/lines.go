// Package lines turns byte offsets into the 1-based lines and columns of a
// report (aahp-lint.md 2.4).
package lines

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

// Index knows where each line of a text begins. Lines end at LF only.
type Index struct {
	text   []byte
	starts []int
}

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
	if off >= len(x.text) && off > 0 && x.text[len(x.text)-1] == '\n' {
		off = len(x.text) - 1
	}
	return sort.SearchInts(x.starts, off+1)
}

// Position gives line and column of the byte at off.
func (x *Index) Position(off int) (line, column int) {
	line = x.Line(off)
	start := x.starts[line-1]
	return line, Column(x.text[start:], min(off, len(x.text))-start, start == 0)
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
