package lint

import (
	"bytes"
	"io"
	"unicode"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

// markerLength is how many brackets make a conflict marker.
const markerLength = 7

// binaryWindow is how much of a file is looked at for a NUL.
const binaryWindow = 8 << 10

// ReadMarkers finds the conflict markers in a file outside the handoff folder,
// which is passed over when a NUL stands in its first 8,192 bytes; what is in the
// folder, a Scanner reads. It reads through buf, which must hold more than these
// and serves for a whole tree.
func ReadMarkers(r io.Reader, buf []byte) (Markers, error) {
	m := newMarkerState()
	for first := true; ; first = false {
		n, err := io.ReadFull(r, buf)
		if first && bytes.IndexByte(buf[:min(n, binaryWindow)], 0) >= 0 {
			return Markers{}, nil
		}
		m.scan(buf[:n])
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return m.result, nil
		default:
			return Markers{}, err
		}
	}
}

var (
	markerOpen  = []byte("<<<<<<<")
	markerClose = []byte(">>>>>>>")
)

// mayHoldMarker tells whether a text of whole lines can hold a marker: without
// seven equal brackets in a row only removing CRs could make one.
func mayHoldMarker(text []byte) bool {
	return bytes.IndexByte(text, '\r') >= 0 || bytes.Contains(text, markerOpen) || bytes.Contains(text, markerClose)
}

// markerState walks over the lines of a file that may come in pieces.
type markerState struct {
	result Markers

	line, column int // of the next character
	phase        markerPhase
	bracket      byte // of the run
	run, start   int  // its length so far and the column where it began
	last         int  // the column after its last bracket
	counted      int  // the line of the last marker that was counted
	bom          bool // a byte order mark opened the file

	part  [utf8.UTFMax]byte // the beginning of a character that a piece ended in
	parts int
}

type markerPhase uint8

const (
	leading  markerPhase = iota // white space at the start of a line
	brackets                    // in a run of brackets that the line begins with
	passing                     // the rest of a line that is decided
)

func newMarkerState() markerState { return markerState{line: 1, column: 1} }

// scan reads the next piece.
func (m *markerState) scan(text []byte) {
	for i := 0; i < len(text); {
		if m.phase == passing {
			n := bytes.IndexByte(text[i:], '\n')
			if n < 0 {
				return
			}
			i += n
		}
		b := text[i]
		switch {
		case b == '\n':
			m.endRun()
			m.phase, m.parts = leading, 0
			m.line++
			m.column = 1
			i++
		case b == '\r':
			m.column++
			i++
		case m.phase == brackets && b == m.bracket:
			m.run++
			m.column++
			m.last = m.column
			i++
		case m.phase == brackets:
			m.endRun()
			m.phase = passing
		case m.parts == 0 && (b == '<' || b == '>'):
			m.phase, m.bracket, m.run, m.start = brackets, b, 1, m.column
			m.column++
			m.last = m.column
			i++
		default:
			i++
			m.space(b)
		}
	}
	// A run that reaches the end of the text may be all there is.
	if m.phase == brackets {
		m.mark()
	}
}

// space takes one byte of what may be white space before the first character
// of a line.
func (m *markerState) space(b byte) {
	m.part[m.parts] = b
	m.parts++
	if !utf8.FullRune(m.part[:m.parts]) {
		return
	}
	r, size := utf8.DecodeRune(m.part[:m.parts])
	mark := r == 0xfeff
	if size != m.parts || !unicode.Is(unicode.White_Space, r) && !mark {
		m.phase = passing
		return
	}
	m.parts = 0
	if mark && m.line == 1 && m.column == 1 && !m.bom {
		m.bom = true // It opens the file, and has no column.
		return
	}
	m.column++
}

// endRun closes a run of brackets.
func (m *markerState) endRun() {
	if m.phase == brackets {
		m.mark()
	}
}

// mark counts the run if it is long enough, once, and keeps the first one.
func (m *markerState) mark() {
	if m.run < markerLength {
		return
	}
	if m.counted != m.line {
		m.counted = m.line
		m.result.Count++
	}
	if m.result.Count == 1 {
		m.result.First = report.Span{Line: m.line, Column: m.start, EndColumn: m.last}
	}
}
