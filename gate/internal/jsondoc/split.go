package jsondoc

import "bytes"

// Splitter takes a document of any size apart while it is written to it, so that
// only one element at a time is held: it hands out the elements of the outermost
// array, or of the arrays that are members of the outermost object, and keeps the
// rest. It knows brackets and strings alone; the document is sound when each
// element and the rest are, as Scan or Parse reads them.
type Splitter struct {
	// Element takes the n-th element, from 0, of such an array: its bytes without
	// the white space around it, valid until Element returns, and their offset in
	// the document. key is the spelling of the member's key with its quotes; empty
	// for the outermost array. An error ends the work.
	Element func(key []byte, n int, src []byte, off int64) error
	// Wanted tells whether the array of a member is to be handed out; nil is for all.
	Wanted func(key []byte) bool

	rest    []byte
	off     int64 // of the next byte
	depth   int
	outer   byte // the bracket that opens the document; 0 before it
	inText  bool // within a string
	escaped bool // after a backslash in one

	text, textEnd int    // the last string of depth 1, in rest
	key           []byte // of the array that is being handed out
	inArray       bool   // whose elements are handed out
	array         int    // its depth
	n             int
	element       []byte
	elementOff    int64
}

// Write takes the next bytes of the document.
func (s *Splitter) Write(p []byte) (int, error) {
	for i := 0; i < len(p); i++ {
		// What is no bracket, comma or quote needs no look.
		if n := s.plain(p[i:]); n > 0 {
			s.keep(p[i : i+n])
			if i += n; i == len(p) {
				break
			}
		}
		if err := s.mark(p[i]); err != nil {
			return i, err
		}
	}
	return len(p), nil
}

// plain counts the bytes at the beginning of p that say nothing to a Splitter.
func (s *Splitter) plain(p []byte) int {
	stops := "\"{}[],"
	if s.inText {
		if s.escaped {
			return 0
		}
		stops = "\"\\"
	}
	if n := bytes.IndexAny(p, stops); n >= 0 {
		return n
	}
	return len(p)
}

// keep takes bytes over to where they belong.
func (s *Splitter) keep(p []byte) {
	if s.inArray {
		s.element = append(s.element, p...)
	} else {
		s.rest = append(s.rest, p...)
	}
	s.off += int64(len(p))
}

// mark takes a byte that is not plain.
func (s *Splitter) mark(c byte) error {
	switch {
	case s.inText:
		switch {
		case s.escaped:
			s.escaped = false
		case c == '\\':
			s.escaped = true
		case c == '"':
			s.inText = false
			if !s.inArray {
				s.textEnd = len(s.rest) + 1
			}
		}
	case c == '"':
		s.inText = true
		if s.depth == 1 && !s.inArray {
			s.text = len(s.rest)
		}
	case c == '{' || c == '[':
		return s.open(c)
	case c == '}' || c == ']':
		return s.close(c)
	case c == ',' && s.inArray && s.depth == s.array:
		if err := s.hand(); err != nil {
			return err
		}
		s.off++
		s.elementOff = s.off
		return nil
	}
	s.keep([]byte{c})
	return nil
}

func (s *Splitter) open(c byte) error {
	begins := c == '[' && !s.inArray && (s.outer == 0 || s.outer == '{' && s.depth == 1)
	if s.outer == 0 {
		s.outer = c
	}
	s.keep([]byte{c})
	s.depth++
	if !begins {
		return nil
	}
	s.key = s.key[:0]
	if s.depth > 1 && s.text < s.textEnd {
		s.key = append(s.key, s.rest[s.text:s.textEnd]...)
	}
	if s.Wanted == nil || s.Wanted(s.key) {
		s.inArray, s.array, s.n, s.elementOff = true, s.depth, 0, s.off
	}
	return nil
}

func (s *Splitter) close(c byte) error {
	if s.inArray && s.depth == s.array {
		if s.n > 0 || len(bytes.Trim(s.element, " \t\r\n")) > 0 {
			if err := s.hand(); err != nil {
				return err
			}
		}
		s.element, s.inArray = s.element[:0], false
	}
	s.keep([]byte{c})
	s.depth--
	return nil
}

// hand hands out the element that has ended. Of all elements of an array the rest
// keeps one 0; where one is missing, a comma that makes the rest unsound.
func (s *Splitter) hand() error {
	begin := len(s.element) - len(bytes.TrimLeft(s.element, " \t\r\n"))
	src := bytes.TrimRight(s.element[begin:], " \t\r\n")
	s.element = s.element[:0]
	if len(src) == 0 {
		s.rest = append(s.rest, ',')
		return nil
	}
	if s.n == 0 {
		s.rest = append(s.rest, '0')
	}
	n := s.n
	s.n++
	return s.Element(s.key, n, src, s.elementOff+int64(begin))
}

// Rest gives what was not handed out, once the document has ended: an array that
// had elements holds a single 0 there.
func (s *Splitter) Rest() []byte { return s.rest }
