package lint

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

// row is a line of the table of aahp-lint.md 10.3.
type row uint8

const (
	rowNone row = iota
	rowTag
	rowOverride
	rowEmbedding // embeddings, isolates and their closers
	rowMark
	rowJoiner // ZWNJ and ZWJ
	rowSpace  // ZWSP
	rowSelector
	rowSupplement // U+E0100–E01EF
	rowMongolian
	rowFormat
	rowControl
)

// hiddenRow finds the row of a code point. U+FEFF belongs to rowFormat; whether
// it opens a file is known to the caller alone.
func hiddenRow(r rune) row {
	switch {
	case r < 0x20:
		if r == 0 || r == '\t' || r == '\n' || r == '\r' || r == '\f' {
			return rowNone
		}
		return rowControl
	case r < 0x7f:
		return rowNone
	case r <= 0x9f:
		return rowControl
	case r >= 0xe0000 && r <= 0xe007f:
		return rowTag
	case r == 0x202d, r == 0x202e:
		return rowOverride
	case r >= 0x202a && r <= 0x202c, r >= 0x2066 && r <= 0x2069:
		return rowEmbedding
	case r == 0x200e, r == 0x200f, r == 0x61c:
		return rowMark
	case r == 0x200c, r == 0x200d:
		return rowJoiner
	case r == 0x200b:
		return rowSpace
	case r >= 0xfe00 && r <= 0xfe0f:
		return rowSelector
	case r >= 0xe0100 && r <= 0xe01ef:
		return rowSupplement
	case r >= 0x180b && r <= 0x180f:
		return rowMongolian
	case r >= 0x2060 && r <= 0x2064, r >= 0x206a && r <= 0x206f, r >= 0xfff9 && r <= 0xfffb,
		r == 0x34f, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0xfeff:
		return rowFormat
	}
	return rowNone
}

// hiddenName is how a message calls a code point of the table.
func hiddenName(r rune) string {
	switch hiddenRow(r) {
	case rowTag:
		return "tag"
	case rowOverride:
		return "override"
	case rowEmbedding:
		switch r {
		case 0x202a, 0x202b:
			return "embedding"
		case 0x202c:
			return "end of embedding"
		case 0x2069:
			return "end of isolate"
		}
		return "isolate"
	case rowMark:
		return "direction mark"
	case rowJoiner:
		if r == 0x200c {
			return "zero-width non-joiner"
		}
		return "zero-width joiner"
	case rowSpace:
		return "zero-width space"
	case rowSelector:
		return "variation selector"
	case rowSupplement:
		return "supplementary variation selector"
	case rowMongolian:
		return "Mongolian selector"
	case rowFormat:
		switch {
		case r == 0x2060:
			return "word joiner"
		case r <= 0x2064 && r > 0x2060:
			return "invisible operator"
		case r >= 0x206a && r <= 0x206f:
			return "deprecated format character"
		case r >= 0xfff9 && r <= 0xfffb:
			return "interlinear annotation"
		case r == 0x34f:
			return "grapheme joiner"
		case r == 0xfeff:
			return "byte order mark"
		}
		return "Hangul filler"
	case rowControl:
		return "control character"
	case rowNone:
	}
	return "character"
}

// joinerScripts need ZWNJ or ZWJ to be spelled; spaceScripts are written
// without spaces, so ZWSP says where a line may break.
var (
	joinerScripts = []*unicode.RangeTable{
		unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Mandaic, unicode.Manichaean,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
		unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
		unicode.Thai, unicode.Lao, unicode.Tibetan, unicode.Balinese, unicode.Javanese,
	}
	spaceScripts = []*unicode.RangeTable{
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
		unicode.Han, unicode.Hiragana, unicode.Katakana,
	}
)

// emoji is the set that aahp-lint.md 10.3 names so, not the Unicode property.
func emoji(r rune) bool {
	switch r {
	case 0xa9, 0xae, 0x203c, 0x2049, 0x2122, 0x2139, 0x24c2, 0x3030, 0x303d, 0x3297, 0x3299:
		return true
	}
	return r >= 0x2190 && r <= 0x21ff || r >= 0x2300 && r <= 0x23ff || r >= 0x25a0 && r <= 0x27bf ||
		r >= 0x2900 && r <= 0x297f || r >= 0x2b00 && r <= 0x2bff ||
		r >= 0x1f000 && r <= 0x1faff || r >= 0x1fc00 && r <= 0x1fffd
}

// letterOrMark tells whether r is a letter or mark of one of the scripts.
func letterOrMark(r rune, scripts ...*unicode.RangeTable) bool {
	return unicode.In(r, scripts...) && (unicode.IsLetter(r) || unicode.IsMark(r))
}

// strongRTL tells whether r is a strong right-to-left letter (Bidi_Class R or
// AL). Two marks have such a class and are no letters: they must not excuse
// themselves.
func strongRTL(r rune) bool {
	if r < 0x590 || r == 0x61c || r == 0x200f {
		return false
	}
	p, _ := bidi.LookupRune(r)
	return p.Class() == bidi.R || p.Class() == bidi.AL
}

// scriptTraits are the traits that the table of 10.3 asks of neighbours.
func scriptTraits(r rune) traits {
	var t traits
	set := func(bit traits, yes bool) {
		if yes {
			t |= bit
		}
	}
	set(traitJoined, letterOrMark(r, joinerScripts...))
	set(traitUnspaced, unicode.In(r, spaceScripts...))
	set(traitHan, unicode.Is(unicode.Han, r))
	set(traitMongolian, letterOrMark(r, unicode.Mongolian))
	set(traitHangul, letterOrMark(r, unicode.Hangul))
	set(traitRTL, strongRTL(r))
	set(traitEmoji, emoji(r))
	set(traitSelectable, takesSelector(r))
	return t
}

// hiddenLine is what one line (or decoded string) holds of the table.
type hiddenLine struct {
	severity   report.Severity // "" when nothing is reported
	start, end int             // of the first reported character and those that follow it directly
	total      int
	counts     []hiddenCount // by code point, in the order met
}

type hiddenCount struct {
	r rune
	n int
}

// hiddenListed is how many different code points a message lists.
const hiddenListed = 32

// maxBidiDepth bounds the stack of open embeddings. The Unicode algorithm
// itself gives up at 125, so nothing deeper is honest.
const maxBidiDepth = 1000

// bidiState is what the embeddings and isolates of a line amount to.
type bidiState uint8

const (
	bidiBalanced bidiState = iota
	bidiUnbalanced
	bidiLoneLRE // a single U+202A is all there is
)

// judgeHidden applies the table of aahp-lint.md 10.3 to a line without its LF.
// fileStart says that the line is the first of a file, whose byte order mark is
// passed over.
func judgeHidden(line []byte, fileStart bool) hiddenLine {
	var h hiddenLine
	w := hiddenWalk{line: line}
	w.rtl, w.balance = surveyLine(line)
	at := 0
	if fileStart && bytes.HasPrefix(line, byteOrderMark) {
		at = len(byteOrderMark)
	}
	for at < len(line) {
		r, size := utf8.DecodeRune(line[at:])
		next := at + size
		switch {
		case r < utf8.RuneSelf && r >= 0x20 && r != 0x7f:
			// Most characters: nothing of the table.
		case r == utf8.RuneError && size == 1:
		default:
			severity := w.row(r, at, next)
			if w.inLongRun(r, at) {
				severity = report.Error
			}
			if severity != "" {
				h.add(r, severity, at, next)
			}
		}
		w.prev = r
		at = next
	}
	return h
}

var byteOrderMark = []byte("\ufeff")

// hiddenWalk is what a walk over a line knows at one of its characters.
type hiddenWalk struct {
	line      []byte
	rtl       bool
	balance   bidiState
	prev      rune // the character before; 0 at the start
	flagEnd   int  // offset up to which tag characters spell a flag
	selectors selectorRun
	zero      int // zero-width characters to come of a run that is too long to be honest
	seen      int // of a run that is not
}

// row judges the character r at [at, end) by its row of the table; "" is none.
func (w *hiddenWalk) row(r rune, at, end int) report.Severity {
	// beside tells whether one of the neighbours has the trait.
	beside := func(t traits) bool {
		next, _ := utf8.DecodeRune(w.line[end:])
		return (traitsOf(w.prev)|traitsOf(next))&t != 0
	}
	unless := func(excused bool, s report.Severity) report.Severity {
		if excused {
			return ""
		}
		return s
	}
	switch hiddenRow(r) {
	case rowTag:
		return unless(at < w.flagEnd, report.Error)
	case rowOverride:
		return report.Error
	case rowEmbedding:
		if w.balance == bidiUnbalanced {
			return report.Error
		}
		return unless(w.balance != bidiLoneLRE && w.rtl, report.Warning)
	case rowMark:
		return unless(w.rtl, report.Warning)
	case rowJoiner:
		return unless(beside(traitJoined) || r == 0x200d && w.joinsEmoji(end), report.Warning)
	case rowSpace:
		return unless(beside(traitUnspaced), report.Warning)
	case rowSelector, rowSupplement:
		if w.selectors.left == 0 {
			w.selectors = surveySelectors(w.line[at:], w.prev)
		}
		w.selectors.left--
		if hiddenRow(r) == rowSupplement && (traitsOf(w.prev)&traitHan == 0 || w.selectors.length > 1) {
			return report.Error
		}
		return w.selectors.severity
	case rowMongolian:
		return unless(beside(traitMongolian), report.Warning)
	case rowFormat:
		filler := r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0
		return unless(filler && beside(traitHangul), report.Warning)
	case rowControl:
		return report.Warning
	case rowNone:
		if r == 0x1f3f4 {
			w.flagEnd = end + flagLength(w.line[end:])
		}
	}
	return ""
}

// joinsEmoji tells whether a joiner before offset end stands between emoji.
func (w *hiddenWalk) joinsEmoji(end int) bool {
	next, _ := utf8.DecodeRune(w.line[end:])
	return (traitsOf(w.prev)&traitEmoji != 0 || w.prev == 0xfe0f) && traitsOf(next)&traitEmoji != 0
}

// inLongRun tells whether the character at an offset is in a run of zero-width
// characters that is too long to be honest.
func (w *hiddenWalk) inLongRun(r rune, at int) bool {
	if zeroWidth(r) && w.zero == 0 && w.seen == 0 {
		if n := zeroRun(w.line[at:]); n >= longZeroRun {
			w.zero = n
		} else {
			w.seen = n
		}
	}
	switch {
	case w.zero > 0:
		w.zero--
		return true
	case w.seen > 0:
		w.seen--
	}
	return false
}

// add counts a reported character at [start, end).
func (h *hiddenLine) add(r rune, s report.Severity, start, end int) {
	switch {
	case h.total == 0:
		h.start, h.end = start, end
	case h.end == start:
		h.end = end
	}
	if h.severity == "" || s.Rank() < h.severity.Rank() {
		h.severity = s
	}
	h.total++
	for i := range h.counts {
		if h.counts[i].r == r {
			h.counts[i].n++
			return
		}
	}
	if len(h.counts) < hiddenListed {
		h.counts = append(h.counts, hiddenCount{r, 1})
	}
}

// longZeroRun is how many zero-width characters in a row no text needs.
const longZeroRun = 8

// zeroWidth tells whether r counts for such a run.
func zeroWidth(r rune) bool {
	return r >= 0x200b && r <= 0x200d || r >= 0x2060 && r <= 0x2064 || r == 0xfeff
}

// zeroRun gives the length of the run that text begins with, in characters.
func zeroRun(text []byte) int {
	n := 0
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if !zeroWidth(r) {
			break
		}
		n++
		text = text[size:]
	}
	return n
}

// surveyLine finds out what is true of a line as a whole: whether it has a
// strong right-to-left letter, and whether its embeddings are balanced.
func surveyLine(line []byte) (rtl bool, state bidiState) {
	var stack []rune // the closers that are awaited
	lre, all := 0, 0
	balanced := true
	for i := 0; i < len(line); {
		if line[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(line[i:])
		i += size
		switch r {
		case 0x202a, 0x202b, 0x202d, 0x202e: // overrides are closed by U+202C too
			stack = append(stack, 0x202c)
		case 0x2066, 0x2067, 0x2068:
			stack = append(stack, 0x2069)
		case 0x202c, 0x2069:
			if n := len(stack); n > 0 && stack[n-1] == r {
				stack = stack[:n-1]
			} else {
				balanced = false
			}
		default:
			rtl = rtl || traitsOf(r)&traitRTL != 0
			continue
		}
		all++
		if r == 0x202a {
			lre++
		}
		if len(stack) > maxBidiDepth {
			balanced = false
			stack = stack[:0]
		}
	}
	switch {
	case all == 1 && lre == 1:
		return rtl, bidiLoneLRE
	case !balanced || len(stack) > 0:
		return rtl, bidiUnbalanced
	}
	return rtl, bidiBalanced
}

// selectorRun is a run of variation selectors; left counts those to come.
type selectorRun struct {
	length, left int
	severity     report.Severity
}

// surveySelectors judges the run of selectors that text begins with; prev is
// the character before it.
func surveySelectors(text []byte, prev rune) selectorRun {
	var s selectorRun
	odd := false
	first := rune(0)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if k := hiddenRow(r); k != rowSelector && k != rowSupplement {
			break
		}
		if first == 0 {
			first = r
		}
		odd = odd || r != 0xfe0e && r != 0xfe0f
		s.length++
		i += size
	}
	s.left = s.length
	switch {
	case s.length > 1 && odd, s.length >= 8:
		s.severity = report.Error
	case s.length == 1 && hiddenRow(first) == rowSupplement:
		// Judged by the character before it, by the caller.
	case s.length == 1 && traitsOf(prev)&traitSelectable != 0:
	default:
		s.severity = report.Warning
	}
	return s
}

// takesSelector tells whether a single variation selector after r is honest.
func takesSelector(r rune) bool {
	return emoji(r) || r >= '0' && r <= '9' || r == '#' || r == '*' ||
		unicode.In(r, unicode.Han, unicode.Sm, unicode.Myanmar, unicode.Phags_Pa) || r >= 0x1f3fb && r <= 0x1f3ff
}

// flagLength gives the length of the tag characters that make a flag of the
// black flag before them, 0 when they do not.
func flagLength(text []byte) int {
	n, i := 0, 0
	for i < len(text) {
		r, size := utf8.DecodeRune(text[i:])
		i += size
		switch {
		case r >= 0xe0030 && r <= 0xe0039, r >= 0xe0061 && r <= 0xe007a:
			if n++; n > 6 {
				return 0
			}
		case r == 0xe007f && n >= 3:
			return i
		default:
			return 0
		}
	}
	return 0
}

// message lists the code points that were found.
func (h *hiddenLine) message() string {
	var b strings.Builder
	if h.total == 1 {
		b.WriteString("hidden character: ")
	} else {
		b.WriteString("hidden characters: ")
	}
	listed := 0
	for i, c := range h.counts {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "U+%04X %s (%d)", c.r, hiddenName(c.r), c.n)
		listed += c.n
	}
	if rest := h.total - listed; rest > 0 {
		fmt.Fprintf(&b, ", and %d others", rest)
	}
	return b.String()
}
