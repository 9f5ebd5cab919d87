package lint

import (
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// traits says how the views of aahp-lint.md 10.2 and the table of 10.3 see one
// code point. The low byte is what view 2 makes of it where that is a single
// ASCII character (already in lower case), else 0.
type traits uint32

const (
	traitChar      traits = 0xff    // the ASCII character it folds to
	traitInvisible traits = 1 << 8  // in INV: view 1 removes it
	traitTag       traits = 1 << 9  // a tag character: view 1 shows the ASCII below it
	traitMany      traits = 1 << 10 // folds to several characters, one of them ASCII: see foldRune
	traitSpace     traits = 1 << 11 // Zs: view 3 makes it a blank
	traitHidden    traits = 1 << 12 // in a row of the table of 10.3

	// What the table of 10.3 asks of neighbours.
	traitJoined     traits = 1 << 13 // letter or mark of a script that is spelled with joiners
	traitUnspaced   traits = 1 << 14 // of a script that is written without spaces
	traitHan        traits = 1 << 15
	traitMongolian  traits = 1 << 16 // letter or mark
	traitHangul     traits = 1 << 17 // letter or mark
	traitRTL        traits = 1 << 18 // strong right-to-left letter
	traitEmoji      traits = 1 << 19
	traitSelectable traits = 1 << 20 // takes a variation selector

	traitLookalike traits = 1 << 21 // the fold went through the table of look-alikes
)

// page holds the traits of 256 code points, worked out when the first of them
// is met: NFKC of all of Unicode would cost a tenth of a second at the start.
type page [256]traits

var pages [(unicode.MaxRune + 1) / 256]atomic.Pointer[page]

// traitsOf gives the traits of a code point.
func traitsOf(r rune) traits {
	p := pages[r>>8].Load()
	if p == nil {
		p = new(page)
		for i := range p {
			p[i] = newTraits(r&^0xff | rune(i))
		}
		pages[r>>8].Store(p)
	}
	return p[r&0xff]
}

func newTraits(r rune) traits {
	// The two great blocks fold to themselves; asking each of their 32,000
	// characters would be felt.
	switch {
	case r >= 0x4e00 && r <= 0x9fff:
		return traitUnspaced | traitHan | traitSelectable
	case r >= 0xac00 && r <= 0xd7a3:
		return traitHangul
	}
	t := scriptTraits(r)
	if hiddenRow(r) != rowNone {
		t |= traitHidden
	}
	switch {
	case r >= 0xe0020 && r <= 0xe007e:
		return t | traitTag | traits(lower(byte(r-0xe0000)))
	case invisible(r):
		return t | traitInvisible
	}
	if unicode.Is(unicode.Zs, r) {
		t |= traitSpace
	}
	folded, alike := foldRune(r)
	if alike {
		t |= traitLookalike
	}
	if len(folded) == 1 {
		return t | traits(folded[0])
	}
	for i := range len(folded) {
		if folded[i] < utf8.RuneSelf {
			return t | traitMany
		}
	}
	return t
}

// foldedMany remembers the folds of the few hundred code points that become
// several characters.
var foldedMany sync.Map // rune -> string

// foldMany is foldRune for a code point with traitMany.
func foldMany(r rune) string {
	if s, ok := foldedMany.Load(r); ok {
		return s.(string)
	}
	s, _ := foldRune(r)
	foldedMany.Store(r, s)
	return s
}

// foldRune gives what view 2 makes of one code point: NFKC by itself, then the
// look-alikes, then ASCII lower case. Characters that stay outside ASCII are
// kept, since they end a word.
func foldRune(r rune) (folded string, alike bool) {
	var buf [utf8.UTFMax]byte
	n := utf8.EncodeRune(buf[:], r)
	s := buf[:n]
	if r >= utf8.RuneSelf {
		s = norm.NFKC.Bytes(s)
	}
	var out []byte
	for _, c := range string(s) {
		if l, ok := lookalikes[c]; ok {
			out, alike = append(out, l), true
		} else if c < utf8.RuneSelf {
			out = append(out, lower(byte(c)))
		} else {
			out = utf8.AppendRune(out, c)
		}
	}
	return string(out), alike
}

// lower is ASCII lower case.
func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// invisible tells whether r is in the set INV of aahp-lint.md 10.2, the tag
// characters that shadow ASCII apart: those are replaced, not removed.
func invisible(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\t' && r != '\n' && r != '\r'
	case r < 0x7f:
		return false
	case r <= 0x9f, r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160,
		r == 0x17b4, r == 0x17b5, r >= 0x180b && r <= 0x180f,
		r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f,
		r == 0x3164, r >= 0xfe00 && r <= 0xfe0f, r == 0xfeff, r == 0xffa0, r >= 0xfff9 && r <= 0xfffb,
		r >= 0x1d173 && r <= 0x1d17a, r == 0xe0001, r == 0xe007f, r >= 0xe0100 && r <= 0xe01ef:
		return true
	}
	return false
}

// lookalikes maps letters of Cyrillic, Greek, Armenian and Latin that look like
// an ASCII letter of the phrases to that letter (aahp-lint.md 10.2).
var lookalikes = makeLookalikes(map[byte][]rune{
	'a': {0x0430, 0x03b1, 0x0251},
	'b': {0x0432, 0x0392},
	'c': {0x0441},
	'd': {0x0501},
	'e': {0x0435, 0x0395},
	'g': {0x0261},
	'h': {0x04bb, 0x043d, 0x0397},
	'i': {0x0456, 0x03b9, 0x0131, 0x0269, 0x04c0},
	'j': {0x0458, 0x03f3},
	'k': {0x043a, 0x03ba},
	'l': {0x04cf},
	'm': {0x043c, 0x039c},
	'n': {0x0578, 0x039d},
	'o': {0x043e, 0x03bf, 0x0585},
	'p': {0x0440, 0x03c1},
	'q': {0x051b},
	's': {0x0455},
	't': {0x0442, 0x03c4},
	'u': {0x03c5, 0x057d},
	'v': {0x03bd, 0x0475},
	'w': {0x051d},
	'x': {0x0445, 0x03c7},
	'y': {0x0443, 0x03a5, 0x04af},
})

func makeLookalikes(table map[byte][]rune) map[rune]byte {
	m := map[rune]byte{}
	for to, from := range table {
		for _, r := range from {
			m[r] = to
		}
	}
	for to, from := range table {
		for _, r := range from {
			capital := unicode.ToUpper(r)
			// A capital that has a row of its own keeps it: the capitals of
			// Greek nu and upsilon are N and Y, that of U+04CF is an i.
			if _, listed := m[capital]; capital >= utf8.RuneSelf && !listed {
				m[capital] = to
			}
		}
	}
	return m
}
