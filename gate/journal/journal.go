// Package journal knows the journal of a handoff set (aahp-authoring.md 4): the
// entries of LOG.md and of its archive, what each is known by, the index of the
// archive, and which entries move when the log has become long. It opens no file:
// the three come in as readers, and go out as texts to be written.
package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
)

// Digest is a SHA-256.
type Digest [sha256.Size]byte

// String gives 64 lower-case hex digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Entry is one entry of a journal. Its text has neither the white space nor the
// separators that follow it.
type Entry struct {
	Digest Digest

	off, end int64 // of its text, in the bytes of the file
	titleEnd int64 // of its first line
}

// Document is a journal file: LOG.md or LOG-ARCHIVE.md. It keeps no text: that is
// read from the file when it is asked for.
type Document struct {
	Entries []Entry // as they stand, the newest first
	Sum     Digest  // of all bytes of the file
	Size    int64   // in bytes

	preamble int64 // where what stands before the first entry ends; 0 for blank
	src      *window
	buf      []byte
}

// NotUTF8Error says where a file is not UTF-8.
type NotUTF8Error struct{ Off int64 }

func (e *NotUTF8Error) Error() string {
	return fmt.Sprintf("is not valid UTF-8 (byte %d)", e.Off)
}

// bufferSize is how much of a file is held at a time, a part of a power of two so
// that no character of a file is cut for want of it.
const bufferSize = 64 << 10

// Read finds the entries of a journal. The file is read to its end once, and each
// entry's text once more; it must not change meanwhile, which Sum tells
// afterwards. The error is a *NotUTF8Error or one of reading.
func Read(src io.ReaderAt) (*Document, error) {
	var entries []Entry
	d, err := each(src, func(e Entry) { entries = append(entries, e) })
	if err != nil {
		return nil, err
	}
	d.Entries = entries
	return d, nil
}

// each is Read for who needs no list of the entries.
func each(src io.ReaderAt, visit func(Entry)) (*Document, error) {
	d := &Document{src: newWindow(src), buf: make([]byte, bufferSize)}
	whole := sha256.New()
	s := newScan()
	chunk := make([]byte, bufferSize)
	kept := 0 // bytes of a character that is not complete yet
	for {
		n, err := src.ReadAt(chunk[kept:], s.off+int64(kept))
		whole.Write(chunk[kept : kept+n])
		d.Size += int64(n)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		ready := chunk[:kept+n]
		if err == nil {
			ready = ready[:lastBoundary(ready)]
		}
		if bad := s.add(ready); bad >= 0 {
			return nil, &NotUTF8Error{bad}
		}
		if err := d.take(s, visit); err != nil {
			return nil, err
		}
		if err != nil {
			break
		}
		kept = copy(chunk, chunk[len(ready):kept+n])
	}
	s.end()
	if err := d.take(s, visit); err != nil {
		return nil, err
	}
	d.preamble = s.preamble
	whole.Sum(d.Sum[:0])
	return d, nil
}

// lastBoundary gives how much of p ends with a whole character, as far as the
// first byte of its last one tells.
func lastBoundary(p []byte) int {
	for i := len(p) - 1; i >= 0 && i > len(p)-utf8.UTFMax; i-- {
		if utf8.RuneStart(p[i]) {
			if !utf8.FullRune(p[i:]) {
				return i
			}
			break
		}
	}
	return len(p)
}

// take makes entries of the places that a scan has found.
func (d *Document) take(s *scan, visit func(Entry)) error {
	for _, p := range s.found {
		e := Entry{off: p.off, end: p.end, titleEnd: min(p.titleEnd, p.end)}
		sum := sha256.New()
		if err := d.copy(sum, p.off, p.digestEnd); err != nil {
			return err
		}
		sum.Write([]byte{'\n'})
		sum.Sum(e.Digest[:0])
		visit(e)
	}
	s.found = s.found[:0]
	return nil
}

// Title reads the first line of an entry, without white space at its ends.
func (d *Document) Title(e Entry) (string, error) {
	var b strings.Builder
	err := d.copy(&b, e.off, e.titleEnd)
	return strings.TrimFunc(b.String(), isSpace), err
}

// WriteText writes the text of an entry, with LF as the end of each line but the
// last, which has none.
func (d *Document) WriteText(w io.Writer, e Entry) error { return d.copy(w, e.off, e.end) }

// HasPreamble tells whether anything but white space stands before the first
// entry.
func (d *Document) HasPreamble() bool { return d.preamble > 0 }

// WritePreamble writes what stands before the first entry, without the white
// space at its end and with LF as line ends.
func (d *Document) WritePreamble(w io.Writer) error { return d.copy(w, 0, d.preamble) }

// copy writes bytes of the file with LF for each CRLF and each lone CR.
func (d *Document) copy(w io.Writer, from, to int64) error {
	afterCR := false
	for from < to {
		p := d.buf[:min(int64(len(d.buf)), to-from)]
		n, err := d.src.ReadAt(p, from)
		if n < len(p) {
			// The file had these bytes when it was read.
			return errors.Join(io.ErrUnexpectedEOF, err)
		}
		from += int64(n)
		if afterCR && p[0] == '\n' {
			p = p[1:]
		}
		afterCR = n > 0 && d.buf[n-1] == '\r'
		if bytes.IndexByte(p, '\r') >= 0 {
			p = bytes.ReplaceAll(bytes.ReplaceAll(p, []byte("\r\n"), []byte{'\n'}), []byte{'\r'}, []byte{'\n'})
		}
		if _, err := w.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// Mentions tells whether the text of an entry holds a phrase without line ends.
func (d *Document) Mentions(e Entry, phrase string) (bool, error) {
	p := &phraseFinder{phrase: []byte(phrase)}
	err := d.copy(p, e.off, e.end)
	return p.found, err
}

// phraseFinder looks for a phrase in what is written to it.
type phraseFinder struct {
	phrase []byte
	tail   []byte // of what came before, as much as can begin the phrase
	found  bool
}

func (f *phraseFinder) Write(p []byte) (int, error) {
	joined := append(f.tail, p...)
	f.found = f.found || bytes.Contains(joined, f.phrase)
	f.tail = append([]byte(nil), joined[max(0, len(joined)-len(f.phrase)+1):]...)
	return len(p), nil
}

// window is a source of which the last piece that was read is held, so that texts
// that follow each other are not each read by themselves.
type window struct {
	src io.ReaderAt
	buf []byte
	off int64 // of the piece
}

func newWindow(src io.ReaderAt) *window { return &window{src: src, buf: make([]byte, 0, bufferSize)} }

// ReadAt reads at an offset (io.ReaderAt).
func (w *window) ReadAt(p []byte, off int64) (int, error) {
	if len(p) >= cap(w.buf) {
		return w.src.ReadAt(p, off)
	}
	if off < w.off || off+int64(len(p)) > w.off+int64(len(w.buf)) {
		n, err := w.src.ReadAt(w.buf[:cap(w.buf)], off)
		w.buf, w.off = w.buf[:n], off
		if err != nil && (n < len(p) || !errors.Is(err, io.EOF)) {
			return copy(p, w.buf), err
		}
	}
	return copy(p, w.buf[off-w.off:]), nil
}

// isSpace is the white space of the journal's grammar: that of
// aahp-authoring.md 1, rule 9, with U+001C to U+001F and U+0085 and without
// U+FEFF.
func isSpace(r rune) bool {
	return r != 0xfeff && ecma.IsSpace(r) || r >= 0x1c && r <= 0x1f || r == 0x85
}

// place is where an entry stands.
type place struct {
	off, end  int64
	titleEnd  int64 // where its first line ends
	digestEnd int64 // where the text ends that its digest is made of
}

// scan goes through a journal once, character by character, and needs no memory
// of it: where the text of an entry ends follows from the last line that is not
// blank and no separator, and the text of its digest from the last character that
// would not be stripped.
type scan struct {
	off      int64 // of the next byte
	preamble int64
	found    []place // complete entries

	open     bool // an entry is
	entry    place
	matched  int   // characters of the line that fit the opening of an entry; -1 when one did not
	begin    int64 // of the line
	line     lineKind
	inked    int64 // the end of the last character that is no white space
	dashes   int64 // of the run of hyphens that the last characters are
	text     int64 // the end of the last line that is not blank and no separator
	stripped int64 // the end of the text without every trailing --- and white space

	// Of the three places above, what they were when the line began.
	inkedBefore, textBefore, strippedBefore int64
}

// opening is how an entry opens; a 0 is any ASCII digit.
const opening = "## [0000-00-00]"

// lineKind is what a line is, as far as it has been read.
type lineKind uint8

const (
	blank   lineKind = iota
	dash             // one hyphen
	dashes           // two
	rule             // three: a separator, if nothing follows
	ruled            // three, and white space
	content          // anything else
)

func newScan() *scan { return &scan{} }

// add takes the next characters. It gives the offset of a byte that is not UTF-8,
// or -1.
func (s *scan) add(p []byte) (bad int64) {
	for i := 0; i < len(p); {
		c := p[i]
		switch {
		case c == '\n' || c == '\r':
			s.endLine()
			s.off++
			s.beginLine()
			i++
			continue
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(p[i:])
			if r == utf8.RuneError && n == 1 {
				return s.off
			}
			s.matched = -1
			if isSpace(r) {
				s.space()
			} else {
				s.ink(int64(n))
			}
			s.off += int64(n)
			i += n
			continue
		}
		if s.matched >= 0 {
			if want := opening[s.matched]; c == want || want == '0' && c >= '0' && c <= '9' {
				s.matched++
			} else {
				s.matched = -1
			}
		}
		switch {
		case c == '-':
			s.hyphen()
		case isSpace(rune(c)):
			s.space()
		default:
			s.ink(1)
		}
		s.off++
		i++
		if s.matched == len(opening) {
			s.begun()
		}
	}
	return -1
}

// ink takes a character of n bytes that is neither white space nor a hyphen.
func (s *scan) ink(n int64) {
	s.inked = s.off + n
	s.stripped = s.inked
	s.dashes = 0
	s.line = content
}

func (s *scan) hyphen() {
	s.inked = s.off + 1
	s.dashes++
	switch s.line {
	case blank, dash, dashes:
		s.line++
	default:
		s.line = content
	}
}

func (s *scan) space() {
	s.endRun()
	switch s.line {
	case rule:
		s.line = ruled
	case dash, dashes:
		s.line = content
	default:
	}
}

// endRun ends a run of hyphens: three at a time are stripped, so one or two of
// them are left, or none.
func (s *scan) endRun() {
	if left := s.dashes % 3; left > 0 {
		s.stripped = s.inked - s.dashes + left
	}
	s.dashes = 0
}

func (s *scan) endLine() {
	s.endRun()
	if s.line == dash || s.line == dashes || s.line == content {
		s.text = s.inked
	}
	if s.open && s.entry.titleEnd == 0 {
		s.entry.titleEnd = s.off
	}
}

func (s *scan) beginLine() {
	s.begin, s.matched, s.line = s.off, 0, blank
	s.inkedBefore, s.textBefore, s.strippedBefore = s.inked, s.text, s.stripped
}

// begun opens the entry whose opening was just read, and closes the one before
// it where its line began.
func (s *scan) begun() {
	s.inked, s.text, s.stripped = s.inkedBefore, s.textBefore, s.strippedBefore
	s.close()
	s.open, s.entry, s.matched = true, place{off: s.begin}, -1
	s.inked, s.stripped = s.off, s.off
}

// close closes what is open: an entry, or the preamble.
func (s *scan) close() {
	if !s.open {
		s.preamble = s.inked
		return
	}
	s.entry.end, s.entry.digestEnd = s.text, s.stripped
	s.found = append(s.found, s.entry)
}

// end ends the journal.
func (s *scan) end() {
	s.endLine()
	s.close()
}
