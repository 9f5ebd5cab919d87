package session

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// scanner reads a text line by line in little memory, however long a line is.
// Lines end in LF or CR LF; a CR anywhere else belongs to its line (sessions.md
// 5). Its lines are bytes, not decoded: CR and LF are whole characters whatever
// stands beside them.
type scanner struct {
	r     io.Reader
	empty bool // empty lines are lines, too

	buf        []byte
	pos, end   int
	number     int  // of the line, counted in LFs
	open       bool // the line has parts that were not given
	terminated bool // the line ended in an LF
	eof        bool
	err        error // of r, but for the end
}

// bufferSize is how much of a file is held: lines up to this length are given in
// one part.
const bufferSize = 64 << 10

// buffers are handed from one scanner to the next: in a run over thousands of small
// sessions, clearing a new one for each file would take as long as reading it.
var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// newScanner makes a scanner over r, for which close is to be called.
func newScanner(r io.Reader) *scanner {
	return &scanner{r: r, buf: buffers.Get().(*[bufferSize]byte)[:]}
}

// close ends the use of the scanner and of all parts of lines that it gave.
func (s *scanner) close() {
	if s.buf != nil {
		buffers.Put((*[bufferSize]byte)(s.buf))
		s.buf = nil
	}
}

// next moves to the next line, and passes over empty ones. What is left of the
// line before is skipped.
func (s *scanner) next() bool {
	for {
		for s.open {
			s.part()
		}
		if s.number == 0 || s.terminated {
			s.number++
		}
		s.terminated = false
		if !s.fill() {
			return false
		}
		s.open = true
		if s.empty {
			return true
		}
		switch {
		case s.buf[s.pos] == '\n':
		case s.buf[s.pos] == '\r' && s.ahead(1) == '\n':
		default:
			return true
		}
	}
}

// fill makes sure that there is an unread byte, and answers false at the end.
func (s *scanner) fill() bool {
	if s.pos < s.end {
		return true
	}
	s.pos, s.end = 0, 0
	s.more()
	return s.end > 0
}

// more reads on behind what is held.
func (s *scanner) more() {
	for tries := 0; !s.eof; tries++ {
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		if err != nil || tries == 100 {
			s.eof = true
			if err == nil {
				err = io.ErrNoProgress
			}
			if !errors.Is(err, io.EOF) {
				s.err = err
			}
		}
		if n > 0 {
			return
		}
	}
}

// ahead gives the byte that many after the next one; 0 at the end of the file.
func (s *scanner) ahead(n int) byte {
	for s.pos+n >= s.end && !s.eof {
		if s.pos > 0 {
			s.end = copy(s.buf, s.buf[s.pos:s.end])
			s.pos = 0
		}
		if s.end == len(s.buf) {
			return 0
		}
		s.more()
	}
	if s.pos+n < s.end {
		return s.buf[s.pos+n]
	}
	return 0
}

// part gives the next part of the line, and nil at its end. It is valid until
// the next call.
func (s *scanner) part() []byte {
	if !s.open {
		return nil
	}
	for {
		i := bytes.IndexByte(s.buf[s.pos:s.end], '\n')
		if i < 0 && !s.eof && s.end-s.pos < len(s.buf) {
			// Make room, so that a line that fits is given in one part.
			s.end = copy(s.buf, s.buf[s.pos:s.end])
			s.pos = 0
			s.more()
			continue
		}
		var p []byte
		switch {
		case i >= 0:
			p = s.buf[s.pos : s.pos+i]
			s.pos += i + 1
			s.open, s.terminated = false, true
			if len(p) > 0 && p[len(p)-1] == '\r' {
				p = p[:len(p)-1]
			}
		case s.eof:
			p = s.buf[s.pos:s.end]
			s.pos, s.open = s.end, false
		default:
			// A CR at the end may belong to the end of the line.
			p = s.buf[s.pos:s.end]
			s.pos = s.end
			if p[len(p)-1] == '\r' {
				s.pos--
				p = p[:len(p)-1]
			}
		}
		if len(p) > 0 {
			return p
		}
		if !s.open {
			return nil
		}
	}
}
