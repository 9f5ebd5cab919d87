package ecma

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
)

// Visitor is told the tokens of a text, in order. Bytes that it is given are only
// valid during the call.
type Visitor interface {
	// Open begins an Object or an Array, Close ends it.
	Open(k jsondoc.Kind)
	Close()
	// Text is a part of the key or string that the next call of Key or String
	// ends: UTF-8, but for surrogates that stand alone, three bytes each. A part
	// ends between characters.
	Text(part []byte)
	Key()
	String()
	// Atom is a Number, True, False or Null, as it is spelled.
	Atom(k jsondoc.Kind, spelling []byte)
}

// Tokenizer reads one text as JSON.parse does, in parts of any size and in little
// memory. It is a second reader beside jsondoc, which needs the whole text in
// memory: the transcripts of a session may have 250 MB, and a number, a string
// and the end of a text mean the same in both (FuzzTokenizer compares them). It
// wants UTF-8 in parts that end between characters, as a Decoder writes them.
type Tokenizer struct {
	visit    Visitor
	maxDepth int

	state state
	open  []bool // for each open container: it is an object
	line  int
	last  byte // the last byte read, 0 before the first

	word    []byte // a number or word that the parts of the text divide
	isKey   bool   // the string that is read is a key
	hex     int    // digits of an escape that were read
	unit    rune   // their value
	high    rune   // a high surrogate whose low one may follow; 0 for none
	scratch [utf8.UTFMax]byte
	err     error
}

// NewTokenizer makes a Tokenizer. Arrays and objects may be nested maxDepth deep.
func NewTokenizer(v Visitor, maxDepth int) *Tokenizer {
	return &Tokenizer{visit: v, maxDepth: maxDepth, line: 1}
}

// Reset begins another text, whose first line is that number.
func (t *Tokenizer) Reset(line int) {
	*t = Tokenizer{visit: t.visit, maxDepth: t.maxDepth, open: t.open[:0], word: t.word[:0], line: line}
}

// Line is the line of the token that is read, counted in LFs.
func (t *Tokenizer) Line() int { return t.line }

// Error is where and why a text is not JSON.
type Error struct {
	Line   int
	reason string
}

// Error gives one sentence without the place and without outside text.
func (e *Error) Error() string { return e.reason }

type state uint8

const (
	atValue state = iota
	atFirstItem
	atFirstKey
	atKey
	atColon
	atComma // after a value in a container
	atEnd   // after the whole value
	inString
	inEscape
	inHex
	inNumber
	inWord
)

// Write reads the next part of the text. The error is an *Error, which comes
// again with each further call.
func (t *Tokenizer) Write(p []byte) (int, error) {
	if t.err == nil && len(p) > 0 {
		t.read(p)
		t.last = p[len(p)-1]
	}
	return len(p), t.err
}

// Finish ends the text and says whether it was whole.
func (t *Tokenizer) Finish() error {
	if t.err != nil {
		return t.err
	}
	switch t.state {
	case inNumber:
		t.number(t.word)
	case inWord:
		t.atom(t.word)
	default:
	}
	if t.err == nil && t.state != atEnd {
		line := t.line
		if t.last == '\n' {
			line-- // the end belongs to the line that the last LF ended
		}
		t.err = &Error{Line: line, reason: "it ends too early"}
	}
	return t.err
}

func (t *Tokenizer) fail(reason string) { t.err = &Error{Line: t.line, reason: reason} }

func (t *Tokenizer) read(p []byte) {
	for i := 0; i < len(p) && t.err == nil; {
		switch t.state {
		case inString:
			i = t.inString(p, i)
		case inEscape:
			t.escape(p[i])
			i++
		case inHex:
			t.hexDigit(p[i])
			i++
		case inNumber, inWord:
			i = t.inWord(p, i)
		default:
			switch p[i] {
			case '\n':
				t.line++
				fallthrough
			case ' ', '\t', '\r':
				for i++; i < len(p) && p[i] == ' '; i++ { // the indentation
				}
			default:
				i = t.between(p, i)
			}
		}
	}
}

// between reads what stands between strings, numbers and words.
func (t *Tokenizer) between(p []byte, i int) int {
	c := p[i]
	switch t.state {
	case atFirstItem:
		if c == ']' {
			t.close()
			return i + 1
		}
		return t.value(p, i)
	case atValue:
		return t.value(p, i)
	case atFirstKey:
		if c == '}' {
			t.close()
			return i + 1
		}
		fallthrough
	case atKey:
		if c != '"' {
			t.fail("a key in double quotes is missing")
			return i
		}
		t.state, t.isKey = inString, true
		return t.inString(p, i+1)
	case atColon:
		if c != ':' {
			t.fail("a colon is missing after a key")
			return i
		}
		t.state = atValue
	case atComma:
		object := t.open[len(t.open)-1]
		switch {
		case c == '}' && object, c == ']' && !object:
			t.close()
		case c == ',' && object:
			t.state = atKey
		case c == ',':
			t.state = atValue
		case object:
			t.fail("a comma or closing brace is missing")
		default:
			t.fail("a comma or closing bracket is missing")
		}
	default:
		t.fail("there is text after the end of the document")
	}
	return i + 1
}

// value begins a value.
func (t *Tokenizer) value(p []byte, i int) int {
	switch c := p[i]; {
	case c == '"':
		t.state, t.isKey = inString, false
		return t.inString(p, i+1)
	case c == '{' || c == '[':
		if len(t.open) == t.maxDepth {
			t.fail(fmt.Sprintf("it is nested deeper than %d levels", t.maxDepth))
			return i
		}
		t.open = append(t.open, c == '{')
		if c == '{' {
			t.state = atFirstKey
			t.visit.Open(jsondoc.Object)
		} else {
			t.state = atFirstItem
			t.visit.Open(jsondoc.Array)
		}
	case c == '-' || c >= '0' && c <= '9':
		t.state = inNumber
		return i
	case c >= 'a' && c <= 'z':
		t.state = inWord
		return i
	case t.last == 0 && i == 0 && len(p) >= 3 && string(p[:3]) == "\xef\xbb\xbf":
		t.fail("it begins with a byte order mark")
	default:
		t.fail("a value is missing")
	}
	return i + 1
}

func (t *Tokenizer) close() {
	t.open = t.open[:len(t.open)-1]
	t.ended()
	t.visit.Close()
}

// ended goes on after a value.
func (t *Tokenizer) ended() {
	t.state = atComma
	if len(t.open) == 0 {
		t.state = atEnd
	}
}

// inWord reads on in a number or word.
func (t *Tokenizer) inWord(p []byte, i int) int {
	j := i
	if t.state == inNumber {
		for j < len(p) && numeric[p[j]] {
			j++
		}
	} else {
		for j < len(p) && p[j] >= 'a' && p[j] <= 'z' {
			j++
		}
	}
	if j == len(p) {
		if t.word = append(t.word, p[i:]...); t.state == inWord && len(t.word) > len("false") {
			t.fail("a value is misspelt")
		}
		return j
	}
	word := p[i:j]
	if len(t.word) > 0 {
		t.word = append(t.word, word...)
		word = t.word
	}
	if t.state == inNumber {
		t.number(word)
	} else {
		t.atom(word)
	}
	t.word = t.word[:0]
	return j
}

// numeric are the bytes that a number is made of.
var numeric = func() (t [256]bool) {
	for _, c := range "0123456789+-.eE" {
		t[c] = true
	}
	return t
}()

func (t *Tokenizer) number(spelling []byte) {
	if !isNumber(spelling) {
		t.fail("a number is misspelt")
		return
	}
	t.ended()
	t.visit.Atom(jsondoc.Number, spelling)
}

// isNumber tells whether s is a number of JSON's grammar.
func isNumber(s []byte) bool {
	digits := func() bool {
		n := 0
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		s = s[n:]
		return n > 0
	}
	if len(s) > 0 && s[0] == '-' {
		s = s[1:]
	}
	if len(s) > 0 && s[0] == '0' {
		s = s[1:]
	} else if !digits() {
		return false
	}
	if len(s) > 0 && s[0] == '.' {
		s = s[1:]
		if !digits() {
			return false
		}
	}
	if len(s) > 0 && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if len(s) > 0 && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		if !digits() {
			return false
		}
	}
	return len(s) == 0
}

func (t *Tokenizer) atom(word []byte) {
	var k jsondoc.Kind
	switch string(word) {
	case "true":
		k = jsondoc.True
	case "false":
		k = jsondoc.False
	case "null":
		k = jsondoc.Null
	default:
		t.fail("a value is misspelt")
		return
	}
	t.ended()
	t.visit.Atom(k, word)
}

// inString reads on in a string up to its end or an escape.
func (t *Tokenizer) inString(p []byte, i int) int {
	j := plain(p, i)
	if t.high != 0 && (j > i || j < len(p) && p[j] == '"') {
		t.lone()
	}
	if j > i {
		t.visit.Text(p[i:j])
	}
	if j == len(p) {
		return j
	}
	switch p[j] {
	case '"':
		if t.isKey {
			t.state = atColon
			t.visit.Key()
		} else {
			t.ended()
			t.visit.String()
		}
	case '\\':
		t.state = inEscape
	default:
		t.fail("a string holds a raw control character")
	}
	return j + 1
}

// plain finds the first byte from i on that does not stand for itself in a
// string, eight bytes at a time.
func plain(p []byte, i int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(p); i += 8 {
		w := binary.LittleEndian.Uint64(p[i:])
		quote, slash := w^('"'*ones), w^('\\'*ones)
		// In each term the lowest byte that is set is right; those above may not be.
		found := (w - ' '*ones) & ^w
		found |= (quote - ones) & ^quote
		found |= (slash - ones) & ^slash
		if found &= tops; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(p) && p[i] >= ' ' && p[i] != '"' && p[i] != '\\' {
		i++
	}
	return i
}

// lone hands on a high surrogate that no low one follows.
func (t *Tokenizer) lone() {
	if t.high != 0 {
		u := t.high
		t.high = 0
		t.visit.Text(t.surrogate(u))
	}
}

func (t *Tokenizer) surrogate(u rune) []byte {
	return append(t.scratch[:0], byte(0xe0|u>>12), byte(0x80|u>>6&0x3f), byte(0x80|u&0x3f))
}

func (t *Tokenizer) escape(c byte) {
	t.state = inString
	switch c {
	case 'u':
		t.state, t.hex, t.unit = inHex, 0, 0
		return
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	default:
		t.fail("a string holds an unknown escape")
		return
	}
	t.lone()
	t.visit.Text(append(t.scratch[:0], c))
}

func (t *Tokenizer) hexDigit(c byte) {
	switch {
	case c >= '0' && c <= '9':
		c -= '0'
	case c >= 'a' && c <= 'f':
		c -= 'a' - 10
	case c >= 'A' && c <= 'F':
		c -= 'A' - 10
	default:
		t.fail("a \\u escape needs four hex digits")
		return
	}
	t.unit = t.unit<<4 | rune(c)
	if t.hex++; t.hex < 4 {
		return
	}
	t.state = inString
	u := t.unit
	switch low := u >= 0xdc00 && u <= 0xdfff; {
	case low && t.high != 0:
		r := utf16.DecodeRune(t.high, u)
		t.high = 0
		t.visit.Text(utf8.AppendRune(t.scratch[:0], r))
	case utf16.IsSurrogate(u) && !low:
		t.lone()
		t.high = u
	case low:
		t.visit.Text(t.surrogate(u))
	default:
		t.lone()
		t.visit.Text(utf8.AppendRune(t.scratch[:0], u))
	}
}
