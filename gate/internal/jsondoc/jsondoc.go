// Package jsondoc is the one reader of JSON in this program. It keeps the
// offset and spelling of every token and every member of an object, and takes
// the rules that documents differ in as options: encoding/json keeps the last
// of two equal keys, replaces broken UTF-8 and forgets where things stood,
// which are three ways round a gate.
package jsondoc

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Options are the rules in which documents differ. The zero value is the
// strictest reading, with no limit on depth.
type Options struct {
	MaxDepth       int  // arrays and objects, the outermost being 1; 0: no limit
	KeepEqualKeys  bool // all members of equal keys are kept, in order
	KeepSurrogates bool // a lone surrogate escape reads as its three WTF-8 bytes
	MaxDigits      int  // of a number without fraction and exponent; 0: no limit
	Finite         bool // numbers fit binary64 where they have a fraction or an exponent, see NonFinite
}

// Problem says what kind of error stopped the reader.
type Problem uint8

// The problems of a document.
const (
	Syntax Problem = iota + 1
	ByteOrderMark
	BadUTF8
	LoneSurrogate
	EqualKeys
	TooDeep
	TooManyDigits
	NonFinite // NaN, Infinity, -Infinity, or a number beyond binary64; without Options.Finite the words are Syntax and the number is read
)

// Error is where and why reading stopped.
type Error struct {
	Problem Problem
	Offset  int    // of the first byte that cannot stand there; len(src) at an early end
	Key     string // the key that is repeated (EqualKeys)
	reason  string
}

// Error gives one sentence without the position and without outside text.
func (e *Error) Error() string { return e.reason }

// Kind of a token.
type Kind uint8

// The tokens. A tree of Values uses Object, Array and the scalars.
const (
	Object    Kind = iota + 1 // opening brace
	ObjectEnd                 // closing brace
	Array                     // opening bracket
	ArrayEnd                  // closing bracket
	Key
	String
	Number
	True
	False
	Null
)

// String names the kind as a person would say it.
func (k Kind) String() string {
	switch k {
	case Object, ObjectEnd:
		return "object"
	case Array, ArrayEnd:
		return "array"
	case Key:
		return "key"
	case String:
		return "string"
	case Number:
		return "number"
	case True, False:
		return "boolean"
	case Null:
		return "null"
	}
	return "nothing"
}

// Article names the kind with its article: "an object", "a string", "null".
func (k Kind) Article() string {
	switch k {
	case Object, ObjectEnd, Array, ArrayEnd:
		return "an " + k.String()
	case Null:
		return k.String()
	default:
		return "a " + k.String()
	}
}

// Token is one token of a document.
type Token struct {
	Kind     Kind
	Escaped  bool // a Key or String that holds a backslash
	Off, End int  // src[Off:End] is its spelling, quotes included
	Depth    int  // how many arrays and objects are open around it
}

// Closes tells the end of an array or object.
func (t Token) Closes() bool { return t.Kind == ObjectEnd || t.Kind == ArrayEnd }

type frame struct {
	object bool
	first  int                 // of an object's keys in scanner.keys
	index  map[string]struct{} // of a large object's keys; nil for others
}

type scanner struct {
	src  []byte
	o    Options
	i    int
	keys []Token // of the objects that are open, where equal keys are looked for
}

// Scan reads one document and calls visit for every token, in order. It stops
// at the first error of the document (an *Error) or of visit.
func Scan(src []byte, o Options, visit func(Token) error) error {
	s := scanner{src: src, o: o}
	if bytes.HasPrefix(src, []byte("\xef\xbb\xbf")) {
		return &Error{Problem: ByteOrderMark, reason: "it begins with a byte order mark"}
	}
	var stack []frame
	emit := func(k Kind, off int, escaped bool) error {
		return visit(Token{Kind: k, Off: off, End: s.i, Depth: len(stack), Escaped: escaped})
	}
value:
	for {
		s.space()
		off := s.i
		if off >= len(src) {
			return s.early()
		}
		switch c := src[off]; {
		case c == '{' || c == '[':
			if o.MaxDepth > 0 && len(stack) == o.MaxDepth {
				return &Error{Problem: TooDeep, Offset: off, reason: fmt.Sprintf("it is nested deeper than %d levels", o.MaxDepth)}
			}
			s.i++
			f := frame{object: c == '{', first: len(s.keys)}
			kind := Array
			if f.object {
				kind = Object
			}
			if err := emit(kind, off, false); err != nil {
				return err
			}
			stack = append(stack, f)
			s.space()
			if f.object {
				if s.i < len(src) && src[s.i] == '}' {
					break
				}
				if err := s.key(&stack[len(stack)-1], len(stack), visit); err != nil {
					return err
				}
				continue value
			}
			if s.i < len(src) && src[s.i] == ']' {
				break
			}
			continue value
		case c == '"':
			escaped, err := s.str()
			if err != nil {
				return err
			}
			if err := emit(String, off, escaped); err != nil {
				return err
			}
		case c == '-' || c >= '0' && c <= '9':
			if err := s.number(); err != nil {
				return err
			}
			if err := s.bounded(off); err != nil {
				return err
			}
			if err := emit(Number, off, false); err != nil {
				return err
			}
		default:
			k, err := s.word()
			if err != nil {
				return err
			}
			if err := emit(k, off, false); err != nil {
				return err
			}
		}
		// A value has ended: close what can be closed, then go on or stop.
		for {
			s.space()
			if len(stack) == 0 {
				if s.i < len(src) {
					return s.bad("there is text after the end of the document")
				}
				return nil
			}
			if s.i >= len(src) {
				return s.early()
			}
			top := &stack[len(stack)-1]
			switch c := src[s.i]; {
			case c == '}' && top.object, c == ']' && !top.object:
				off, kind := s.i, ArrayEnd
				if top.object {
					kind = ObjectEnd
				}
				s.i++
				s.keys = s.keys[:top.first]
				stack = stack[:len(stack)-1]
				if err := emit(kind, off, false); err != nil {
					return err
				}
			case c == ',':
				s.i++
				s.space()
				if top.object {
					if err := s.key(top, len(stack), visit); err != nil {
						return err
					}
				}
				continue value
			case top.object:
				return s.bad("a comma or closing brace is missing")
			default:
				return s.bad("a comma or closing bracket is missing")
			}
		}
	}
}

func (s *scanner) bad(reason string) error {
	return &Error{Problem: Syntax, Offset: s.i, reason: reason}
}

func (s *scanner) early() error {
	return &Error{Problem: Syntax, Offset: len(s.src), reason: "it ends too early"}
}

func (s *scanner) space() {
	for s.i < len(s.src) {
		switch s.src[s.i] {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return
		}
	}
}

// key reads a key and its colon.
func (s *scanner) key(f *frame, depth int, visit func(Token) error) error {
	off := s.i
	if off >= len(s.src) {
		return s.early()
	}
	if s.src[off] != '"' {
		return s.bad("a key in double quotes is missing")
	}
	escaped, err := s.str()
	if err != nil {
		return err
	}
	t := Token{Kind: Key, Off: off, End: s.i, Depth: depth, Escaped: escaped}
	if !s.o.KeepEqualKeys {
		if s.twice(f, t) {
			return &Error{Problem: EqualKeys, Offset: off, Key: t.Text(s.src), reason: "an object has the same key twice"}
		}
		s.keys = append(s.keys, t)
	}
	if err := visit(t); err != nil {
		return err
	}
	s.space()
	if s.i >= len(s.src) {
		return s.early()
	}
	if s.src[s.i] != ':' {
		return s.bad("a colon is missing after a key")
	}
	s.i++
	return nil
}

// twice tells whether an object has a key already. The keys of a small object are
// compared one by one, which takes no memory of its own.
func (s *scanner) twice(f *frame, t Token) bool {
	before := s.keys[f.first:]
	if len(before) < fewMembers {
		return slices.ContainsFunc(before, func(k Token) bool { return s.sameKey(k, t) })
	}
	if f.index == nil {
		f.index = make(map[string]struct{}, 2*len(before))
		for _, k := range before {
			f.index[k.Text(s.src)] = struct{}{}
		}
	}
	text := t.Text(s.src)
	_, twice := f.index[text]
	f.index[text] = struct{}{}
	return twice
}

// sameKey compares two keys by their text. Without escapes that is their spelling.
func (s *scanner) sameKey(a, b Token) bool {
	if bytes.Equal(s.src[a.Off:a.End], s.src[b.Off:b.End]) {
		return true
	}
	if !a.Escaped && !b.Escaped {
		return false
	}
	return a.Text(s.src) == b.Text(s.src)
}

func (s *scanner) str() (escaped bool, err error) {
	start := s.i
	for i := start + 1; i < len(s.src); {
		switch c := s.src[i]; {
		case c == '"':
			s.i = i + 1
			return escaped, nil
		case c == '\\':
			escaped = true
			if i, err = s.escape(i); err != nil {
				return false, err
			}
		case c < 0x20:
			s.i = i
			return false, s.bad("a string holds a raw control character")
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(s.src[i:])
			if r == utf8.RuneError && n == 1 {
				return false, &Error{Problem: BadUTF8, Offset: i, reason: "it is not valid UTF-8"}
			}
			i += n
		}
	}
	return false, s.early()
}

// escape reads the escape at i (a surrogate pair counts as one) and gives the
// offset after it.
func (s *scanner) escape(i int) (int, error) {
	if i+1 >= len(s.src) {
		return 0, s.early()
	}
	switch s.src[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2, nil
	case 'u':
	default:
		s.i = i + 1
		return 0, s.bad("a string holds an unknown escape")
	}
	u, err := s.hex4(i + 2)
	if err != nil {
		return 0, err
	}
	end := i + 6
	if !utf16.IsSurrogate(u) || s.o.KeepSurrogates {
		return end, nil
	}
	if u < 0xdc00 && end+1 < len(s.src) && s.src[end] == '\\' && s.src[end+1] == 'u' {
		low, err := s.hex4(end + 2)
		if err != nil {
			return 0, err
		}
		if low >= 0xdc00 && low <= 0xdfff {
			return end + 6, nil
		}
	}
	return 0, &Error{Problem: LoneSurrogate, Offset: i, reason: "an escape leaves a lone surrogate"}
}

func (s *scanner) hex4(i int) (rune, error) {
	var u rune
	for j := i; j < i+4; j++ {
		if j >= len(s.src) {
			return 0, s.early()
		}
		d := unhex(s.src[j])
		if d < 0 {
			s.i = j
			return 0, s.bad("a \\u escape needs four hex digits")
		}
		u = u<<4 | rune(d)
	}
	return u, nil
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func (s *scanner) digits() int {
	n := 0
	for s.i < len(s.src) && s.src[s.i] >= '0' && s.src[s.i] <= '9' {
		s.i++
		n++
	}
	return n
}

func (s *scanner) number() error {
	missing := func() error {
		if s.i >= len(s.src) {
			return s.early()
		}
		return s.bad("a number lacks a digit")
	}
	if s.src[s.i] == '-' {
		s.i++
		if s.o.Finite && bytes.HasPrefix(s.src[s.i:], []byte("Infinity")) {
			return nonFinite(s.i - 1)
		}
	}
	switch {
	case s.i < len(s.src) && s.src[s.i] == '0':
		s.i++
	case s.digits() == 0:
		return missing()
	}
	if s.i < len(s.src) && s.src[s.i] == '.' {
		s.i++
		if s.digits() == 0 {
			return missing()
		}
	}
	if s.i < len(s.src) && (s.src[s.i] == 'e' || s.src[s.i] == 'E') {
		s.i++
		if s.i < len(s.src) && (s.src[s.i] == '+' || s.src[s.i] == '-') {
			s.i++
		}
		if s.digits() == 0 {
			return missing()
		}
	}
	return nil
}

// bounded holds the number that was read from off to the limits of the options.
func (s *scanner) bounded(off int) error {
	if s.o.MaxDigits == 0 && !s.o.Finite {
		return nil
	}
	literal := s.src[off:s.i]
	if !bytes.ContainsAny(literal, ".eE") {
		n := len(literal)
		if literal[0] == '-' {
			n--
		}
		if s.o.MaxDigits > 0 && n > s.o.MaxDigits {
			return &Error{Problem: TooManyDigits, Offset: off, reason: fmt.Sprintf("a whole number has more than %d digits", s.o.MaxDigits)}
		}
		return nil
	}
	if s.o.Finite {
		if _, err := strconv.ParseFloat(string(literal), 64); err != nil {
			return nonFinite(off)
		}
	}
	return nil
}

func nonFinite(off int) error {
	return &Error{Problem: NonFinite, Offset: off, reason: "a number is not finite in binary64"}
}

func (s *scanner) word() (Kind, error) {
	if rest := s.src[s.i:]; s.o.Finite && (bytes.HasPrefix(rest, []byte("NaN")) || bytes.HasPrefix(rest, []byte("Infinity"))) {
		return 0, nonFinite(s.i)
	}
	for _, w := range []struct {
		text string
		kind Kind
	}{{"true", True}, {"false", False}, {"null", Null}} {
		if s.src[s.i] != w.text[0] {
			continue
		}
		for j := range len(w.text) {
			if s.i+j >= len(s.src) {
				return 0, s.early()
			}
			if s.src[s.i+j] != w.text[j] {
				s.i += j
				return 0, s.bad("a value is misspelt")
			}
		}
		s.i += len(w.text)
		return w.kind, nil
	}
	return 0, s.bad("a value is missing")
}

// Text decodes a Key or String token of src; other tokens give their spelling.
func (t Token) Text(src []byte) string {
	if t.Kind != Key && t.Kind != String {
		return string(src[t.Off:t.End])
	}
	raw := src[t.Off+1 : t.End-1]
	if !t.Escaped {
		return string(raw)
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			r, n := utf8.DecodeRune(raw[i:])
			out = utf8.AppendRune(out, r)
			i += n
			continue
		}
		switch c := raw[i+1]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			u := code(raw[i+2:])
			i += 6
			if utf16.IsSurrogate(u) {
				if low, ok := lowSurrogate(raw[i:]); ok && u < 0xdc00 {
					out = utf8.AppendRune(out, utf16.DecodeRune(u, low))
					i += 6
				} else {
					out = append(out, byte(0xe0|u>>12), byte(0x80|u>>6&0x3f), byte(0x80|u&0x3f))
				}
			} else {
				out = utf8.AppendRune(out, u)
			}
			continue
		default:
			out = append(out, c)
		}
		i += 2
	}
	return string(out)
}

func code(hex []byte) rune {
	u, _ := strconv.ParseUint(string(hex[:4]), 16, 16)
	return rune(u)
}

func lowSurrogate(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	u := code(raw[2:])
	return u, u >= 0xdc00 && u <= 0xdfff
}
