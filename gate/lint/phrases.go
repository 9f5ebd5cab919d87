package lint

import (
	"bytes"
)

// phrase is one row of the list of aahp-lint.md 3.1, for ASCII-lowercased text.
// A phrase of two halves matches from the first of its head to the last of its
// tail on a line: what `.*` between them finds.
type phrase struct {
	name       string // the pattern as the list spells it
	head, tail string // tail is "" for a phrase in one piece
}

var phrases = [...]phrase{
	{"ignore all previous", "ignore all previous", ""},
	{"ignore prior", "ignore prior", ""},
	{"disregard.*instructions", "disregard", "instructions"},
	{"you are now", "you are now", ""},
	{"new system prompt", "new system prompt", ""},
	{"override.*safety", "override", "safety"},
	{"act as.*unrestricted", "act as", "unrestricted"},
	{"jailbreak", "jailbreak", ""},
	{"admin_override", "admin_override", ""},
	{"sudo mode", "sudo mode", ""},
}

// longestPhrase is the length of the longest phrase in one piece.
const longestPhrase = len("ignore all previous")

// find gives the first match in an ASCII-lowercased text without LF.
func (p phrase) find(text []byte) (start, end int, ok bool) {
	start = bytes.Index(text, []byte(p.head))
	if start < 0 {
		return 0, 0, false
	}
	end = start + len(p.head)
	if p.tail == "" {
		return start, end, true
	}
	n := bytes.LastIndex(text[end:], []byte(p.tail))
	if n < 0 {
		return 0, 0, false
	}
	return start, end + n + len(p.tail), true
}

// lowerInto appends the ASCII-lowercased text to buf.
func lowerInto(buf, text []byte) []byte {
	n := len(buf)
	buf = append(buf, text...)
	for i, b := range buf[n:] {
		buf[n+i] = lower(b)
	}
	return buf
}

// The sieve is the automaton that says which lines deserve the exact search. It
// accepts a superset of what the raw scan and the views 1 to 3 can find: it
// reads through everything a view would delete, folds what a view would fold
// and takes a line end for a blank. Its words are the heads and tails.
var (
	sieve      = newSieve()
	sieveWords []sieveWord
)

// sieveWord says which phrase a word of the sieve belongs to.
type sieveWord struct {
	phrase     uint8
	head, tail bool // of a phrase in two halves
}

// Classes of bytes that the sieve looks at itself.
const sieveSpecial = "&<>-"

func newSieve() *automaton {
	var words []string
	for i, p := range phrases {
		words = append(words, p.head)
		sieveWords = append(sieveWords, sieveWord{phrase: uint8(i), head: p.tail != ""})
		if p.tail != "" {
			words = append(words, p.tail)
			sieveWords = append(sieveWords, sieveWord{phrase: uint8(i), tail: true})
		}
	}
	// One class each for what is deleted, for controls and for non-ASCII bytes.
	const deleted, control, high = '*', 0x01, 0x80
	a := newAutomaton(words, true, sieveSpecial+string([]byte{deleted, '_', control, high}))
	for _, b := range []byte("`~") {
		a.class[b] = a.class[deleted]
	}
	for _, b := range []byte("\t\r\n") {
		a.class[b] = a.class[' ']
	}
	for b := range 0x20 {
		if b != '\t' && b != '\r' && b != '\n' {
			a.class[b] = a.class[control]
		}
	}
	a.class[0x7f] = a.class[control]
	for b := 0x80; b <= 0xff; b++ {
		a.class[b] = a.class[high]
	}

	a.mark()
	for s := range a.out {
		r := s * a.stride
		self := uint32(r)
		a.next[r+int(a.class[deleted])] = self
		for _, c := range []byte{control, high, '&'} {
			a.next[r+int(a.class[c])] = self | look
		}
		if a.word[s] != "admin" {
			a.next[r+int(a.class['_'])] = self
		}
		if a.last[s] == ' ' {
			a.next[r+int(a.class[' '])] = self
		}
		// A bracket ends a word, closes a tag or, after a blank, may open a
		// quoted line. In the middle of a phrase the others may open something
		// that a view deletes.
		a.next[r+int(a.class['>'])] = self | look
		if s != 0 {
			a.next[r+int(a.class['<'])] = self | look
			a.next[r+int(a.class['-'])] = self | look
		}
	}
	return a
}
