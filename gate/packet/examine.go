package packet

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"strings"
	"sync"
)

// chunk is how much of a file is read at a time.
const chunk = 64 << 10

// buffers are handed from one file to the next: to make one takes as long as
// hashing a small file.
var buffers = sync.Pool{New: func() any { return new([chunk]byte) }}

// Examine reads a file and finds out what a Need wants to know of it. Its memory
// is that of a chunk and of the quotes. A file that has not the digest it should
// have is opened once more, to tell whether only its line ends differ. The error
// is one of opening or reading.
func Examine(open func() (io.ReadCloser, error), n Need) (File, error) {
	f := File{State: Present, Quoted: make([]bool, len(n.Quotes))}
	buffer := buffers.Get().(*[chunk]byte)
	defer buffers.Put(buffer)
	buf := buffer[:]
	sum := sha256.New()
	looking := n.Lines || len(n.Quotes) > 0
	x := newExaminer(n, f.Quoted)
	err := pass(open, buf, func(p []byte) {
		sum.Write(p)
		if looking {
			x.text(x.ends.unix(p))
		}
	})
	if err != nil {
		return File{}, err
	}
	if looking {
		x.text(x.ends.last())
		f.Lines = x.lines()
	}
	sum.Sum(f.SHA256[:0])
	f.LF = f.SHA256
	digest := hex.EncodeToString(f.SHA256[:])
	if slices.ContainsFunc(n.Pins, func(pin string) bool { return pin != digest }) {
		f.LF, err = unixDigest(open, buf)
	}
	return f, err
}

// pass reads to the end.
func pass(open func() (io.ReadCloser, error), buf []byte, each func(p []byte)) error {
	r, err := open()
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		n, err := r.Read(buf)
		if n > 0 {
			each(buf[:n])
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// unixDigest is the SHA-256 of the text with CRLF as LF.
func unixDigest(open func() (io.ReadCloser, error), buf []byte) (out [sha256.Size]byte, err error) {
	sum := sha256.New()
	var ends lineEnds
	if err := pass(open, buf, func(p []byte) { sum.Write(ends.unix(p)) }); err != nil {
		return out, err
	}
	sum.Write(ends.last())
	sum.Sum(out[:0])
	return out, nil
}

// lineEnds makes LF of CRLF in a text that comes in pieces.
type lineEnds struct {
	held bool // a CR ended the last piece, and what follows it is not known yet
	buf  []byte
}

// unix gives a piece with its line ends made LF. It is valid until the next call.
func (e *lineEnds) unix(p []byte) []byte {
	if !e.held && bytes.IndexByte(p, '\r') < 0 {
		return p
	}
	out := e.buf[:0]
	if e.held {
		e.held = false
		p = append([]byte{'\r'}, p...)
	}
	for {
		i := bytes.IndexByte(p, '\r')
		if i < 0 {
			break
		}
		out = append(out, p[:i]...)
		switch {
		case i+1 == len(p):
			e.held = true
		case p[i+1] != '\n':
			out = append(out, '\r')
		}
		p = p[i+1:]
	}
	e.buf = append(out, p...)
	return e.buf
}

// last gives what is held at the end of the text.
func (e *lineEnds) last() []byte {
	if e.held {
		e.held = false
		return []byte{'\r'}
	}
	return nil
}

// unixLines is a quote as it is looked for.
func unixLines(s string) []byte { return []byte(strings.ReplaceAll(s, "\r\n", "\n")) }

// examiner counts lines and looks for quotes in a text that comes in pieces.
type examiner struct {
	ends     lineEnds
	searches []search
	ranged   bool  // a search is for some lines only
	ended    int64 // how many lines have ended
	open     bool  // the last line has no LF yet
	newlines []int // offsets behind each LF of a piece
}

func newExaminer(n Need, found []bool) *examiner {
	x := &examiner{}
	for i, q := range n.Quotes {
		x.searches = append(x.searches, search{quote: unixLines(q.Text), lines: q.Lines, found: &found[i]})
		x.ranged = x.ranged || q.Lines != Lines{}
	}
	return x
}

func (x *examiner) lines() int64 {
	if x.open {
		return x.ended + 1
	}
	return x.ended
}

// text takes the next piece.
func (x *examiner) text(p []byte) {
	if len(p) == 0 {
		return
	}
	if x.ranged {
		x.newlines = x.newlines[:0]
		for i := 0; ; {
			n := bytes.IndexByte(p[i:], '\n')
			if n < 0 {
				break
			}
			i += n + 1
			x.newlines = append(x.newlines, i)
		}
	}
	for i := range x.searches {
		s := &x.searches[i]
		s.feed(x.part(p, s.lines))
	}
	x.ended += int64(bytes.Count(p, []byte{'\n'}))
	x.open = p[len(p)-1] != '\n'
}

// part gives what of a piece lies in a range of lines.
func (x *examiner) part(p []byte, l Lines) []byte {
	if l == (Lines{}) {
		return p
	}
	// The piece begins in line ended+1.
	from, to := x.behind(p, l.From-1-x.ended), x.behind(p, l.To-x.ended)
	if from >= to {
		return nil
	}
	return p[from:to]
}

// behind gives the offset behind the nth LF of a piece, within the piece.
func (x *examiner) behind(p []byte, n int64) int {
	switch {
	case n <= 0:
		return 0
	case n > int64(len(x.newlines)):
		return len(p)
	}
	return x.newlines[n-1]
}

// search looks for one quote.
type search struct {
	quote []byte
	lines Lines
	found *bool
	tail  []byte // the end of what was fed, one byte shorter than the quote at most
}

func (s *search) feed(p []byte) {
	if *s.found || len(p) == 0 {
		return
	}
	if bytes.Contains(p, s.quote) {
		*s.found = true
		return
	}
	keep := len(s.quote) - 1
	if len(s.tail) > 0 {
		across := append(s.tail, p[:min(len(p), keep)]...)
		if bytes.Contains(across, s.quote) {
			*s.found = true
			return
		}
		s.tail = across
	}
	if len(p) >= keep {
		s.tail = append(s.tail[:0], p[len(p)-keep:]...)
		return
	}
	// A short piece: all of it is behind the tail already, unless there was none.
	if len(s.tail) == 0 {
		s.tail = append(s.tail, p...)
	}
	if n := len(s.tail); n > keep {
		s.tail = append(s.tail[:0], s.tail[n-keep:]...)
	}
}
