package lint

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// found is a hit with its place still in offsets of the text it was found in.
type found struct {
	rule       *rule.Rule
	severity   report.Severity
	kind       string
	start, end int
	message    string
	address    string
}

// key tells hits apart that stand at the same place.
func (f *found) key() hitKind { return hitKind{f.rule.ID, f.kind + f.address} }

// checks says what a scan looks for.
type checks struct {
	phrases   bool // the raw list, and secrets
	views     bool // the views of aahp-lint.md 10.2
	addresses bool
	wide      bool // addresses are a warning (PII-WIDE)
	hidden    bool // the table of 10.3
	extended  bool // --secrets extended
}

// scan looks through one text: a block of whole lines of a file, or a decoded
// string. Two automata read every byte once; whatever they stop at marks its
// line, and a marked line is judged when it has ended.
type scan struct {
	checks
	path string // of the file, for the path conditions of the extended set

	text  []byte
	start bool // the text begins a file
	hits  []found

	creds    creds
	stripped creds

	// The line at hand: text[lineFrom:lineTo] without its LF.
	lineFrom, lineTo int
	open             bool
	wantStrip        bool // it holds something invisible
	wantPhrases      bool // the sieve accepted it
	wantHidden       bool // it holds a character of 10.3

	heads   [len(phrases)]int // start of the line that holds the head of a phrase, plus one
	tag     tagState
	after   int // offset behind the character or reference that is fed to the sieve
	force   int // lines after this one that are to be searched exactly
	exactTo int // end of the last line that was
	badAt   int // first NUL or invalid byte; -1: none
	badNUL  bool

	hiddenLines int // reported so far, in all blocks
	reported    map[phraseLine]struct{}

	secretSpans []runSpan // all secrets, for the extended set

	buf, strip, lowered []byte
	stripMap            offsets
	shown               [3]view // the views 1 to 3 of the line searched exactly
	joining             joining
	references          map[string]decodedReference
}

// phraseLine says that a phrase was reported on a line.
type phraseLine struct {
	phrase uint8
	line   int
}

// tagState follows the tags of view 3 on a line.
type tagState struct {
	end       int    // offset of the ">" that closes a tag; -1: none open
	saved     uint32 // the sieve's state before that tag
	opened    int    // lineFrom+1 of the line where a "<" stood inside a phrase
	close     int    // offset of the next ">", good while it is not passed; noClose: none on the line closeLine
	closeLine int
}

// run scans text from offset from; before it stand whole lines that were
// scanned already. state is what the previous block ended with.
func (s *scan) run(text []byte, from int, state uint32) uint32 {
	s.text = text
	s.hits = s.hits[:0]
	s.secretSpans = s.secretSpans[:0]
	s.creds.reset(text)
	s.lineFrom, s.lineTo, s.open = from, from, false
	s.wantStrip, s.wantPhrases, s.wantHidden = false, false, false
	s.heads = [len(phrases)]int{}
	s.tag = tagState{end: -1, close: -1}
	s.exactTo = -1
	s.badAt = -1
	clear(s.reported)
	if s.force > 0 && from < len(text) {
		s.enter(from)
		s.wantPhrases = true
	}

	p, q := state, uint32(0)
	pa, qa := sieve, credAutomaton
	pnext, qnext := pa.next, qa.next
	for i := from; i < len(text); i++ {
		b := text[i]
		np := pnext[int(p)+int(pa.class[b])]
		nq := qnext[int(q)+int(qa.class[b])]
		if (np|nq)&look == 0 {
			p, q = np, nq
			continue
		}
		if nq&look != 0 {
			q = nq &^ look
			s.enter(i)
			s.creds.event(q, i)
		} else {
			q = nq
		}
		if np&look == 0 {
			p = np
			continue
		}
		s.enter(i)
		var size int
		p, size = s.special(p, np, i)
		for ; size > 1; size-- {
			i++
			q = qnext[int(q)+int(qa.class[text[i]])]
			if q&look != 0 {
				q &^= look
				s.creds.event(q, i)
			}
		}
	}
	s.settleLine()
	if s.views {
		s.base64(text, from, len(text), nil)
	}
	if s.extended {
		s.scanExtended(from)
	}
	return p
}

// enter makes the line that holds offset i the line at hand.
func (s *scan) enter(i int) {
	if s.open && i < s.lineTo {
		return
	}
	if s.open {
		s.settleLine()
	}
	from := s.lineTo
	if from < len(s.text) && from < i && s.text[from] == '\n' {
		from++
	}
	if n := bytes.LastIndexByte(s.text[from:i], '\n'); n >= 0 {
		from += n + 1
	}
	to := len(s.text)
	if n := bytes.IndexByte(s.text[i:], '\n'); n >= 0 {
		to = i + n
	}
	s.lineFrom, s.lineTo, s.open = from, to, true
	s.creds.from, s.creds.to, s.creds.found = from, to, s.creds.found[:0]
}

// special handles the bytes that the sieve marks: p was its state before the
// byte at i and np is what its table says. It gives the new state and how many
// bytes the sieve is done with.
func (s *scan) special(p, np uint32, i int) (state uint32, size int) {
	text := s.text[:s.lineTo]
	b := text[i]
	switch {
	case b >= utf8.RuneSelf:
		r, size := utf8.DecodeRune(text[i:])
		if size == 1 {
			s.note(i, false)
			s.wantStrip = true
			return p, 1
		}
		t := traitsOf(r)
		if t&(traitInvisible|traitTag) != 0 {
			s.wantStrip = true
		}
		if t&traitHidden != 0 {
			s.wantHidden = true
		}
		s.after = i + size
		return s.feedRune(p, r, t), size
	case b == '&':
		return s.ampersand(p, i)
	case b == '<':
		return s.less(p, i)
	case b == '>':
		return s.greater(p, i), 1
	case b == '-':
		switch {
		case hasPrefixAt(text, i, "-->") && s.tag.end == i+2:
			s.tag.end = -1
			return s.tag.saved, 3
		case hasPrefixAt(text, i, "-->"):
			return p, 3
		case murky(text, i+1), i+1 < len(text) && text[i+1] == '-' && murky(text, i+2):
			s.exactly()
		}
		return 0, 1
	case sieve.class[b] == sieve.class[1]: // a control character
		s.wantStrip = true
		if b == 0 {
			s.note(i, true)
		}
		if hiddenRow(rune(b)) != rowNone {
			s.wantHidden = true
		}
		return p, 1
	}
	s.accept(np &^ look)
	return np &^ look, 1
}

// note remembers the first place that is not UTF-8 text.
func (s *scan) note(i int, nul bool) {
	if s.badAt < 0 {
		s.badAt, s.badNUL = i, nul
	}
}

// murky tells whether the byte at i is one that a view may remove or replace,
// so that what stands behind it may count as standing here.
func murky(text []byte, i int) bool {
	if i >= len(text) {
		return false
	}
	b := text[i]
	return b == '&' || b >= utf8.RuneSelf || b < 0x20 && b != '\t' && b != '\r' || b == 0x7f
}

// exactly marks the line for the exact search, and the next ones too: the
// sieve's state after it is not to be relied on.
func (s *scan) exactly() {
	s.wantPhrases = true
	s.force = joinedLines + 1
}

// accept handles the end of one of the sieve's words.
func (s *scan) accept(row uint32) {
	for _, id := range sieve.words(row) {
		switch w := sieveWords[id]; {
		case w.head:
			s.heads[w.phrase] = s.lineFrom + 1
		case w.tail:
			if s.heads[w.phrase] == s.lineFrom+1 {
				s.wantPhrases = true
			}
		default:
			s.wantPhrases = true
		}
	}
}

// feed moves the sieve by one ASCII character that a view has made of another.
func (s *scan) feed(p uint32, c byte) uint32 {
	np := sieve.next[int(p)+int(sieve.class[c])]
	if np&look == 0 {
		return np
	}
	switch c {
	case '&':
		return 0
	case '<':
		// It matters if something can close the tag, or it opens a comment.
		if s.wantPhrases && s.force > joinedLines {
			return 0 // The line is to be searched exactly already.
		}
		rest := s.text[min(s.after, s.lineTo):s.lineTo]
		if murky(rest, 0) || bytes.HasPrefix(rest, []byte("!")) || bytes.IndexByte(rest, '>') >= 0 ||
			bytes.IndexByte(rest, '&') >= 0 || bytes.IndexFunc(rest, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
			s.exactly()
		}
		return 0
	case '-':
		s.exactly()
		return 0
	case '>':
		if s.tag.opened == s.lineFrom+1 {
			s.exactly()
		}
		if sieve.last[int(p)/sieve.stride] == ' ' {
			return p
		}
		return 0
	}
	s.accept(np &^ look)
	return np &^ look
}

// feedRune moves the sieve by one code point as view 2 sees it.
func (s *scan) feedRune(p uint32, r rune, t traits) uint32 {
	switch {
	case t&traitInvisible != 0:
		return p
	case t&traitChar != 0:
		return s.feed(p, byte(t&traitChar))
	case t&traitSpace != 0:
		return s.feed(p, ' ')
	case t&traitMany != 0:
		for _, c := range foldMany(r) {
			if c < utf8.RuneSelf {
				p = s.feed(p, byte(c))
			} else {
				p = 0
			}
		}
		return p
	}
	return 0
}

// feedDecoded moves the sieve by what a reference decodes to.
func (s *scan) feedDecoded(p uint32, r rune) uint32 {
	switch {
	case r == '\t' || r == '\r':
		return s.feed(p, ' ')
	case r == '\n':
		return 0
	case r >= utf8.RuneSelf:
		return s.feedRune(p, r, traitsOf(r))
	case invisible(r):
		return p
	}
	return s.feed(p, byte(r))
}

// ampersand handles a "&", which may open a character reference.
func (s *scan) ampersand(p uint32, i int) (state uint32, size int) {
	text := s.text[i:s.lineTo]
	if len(text) < 2 {
		return 0, 1
	}
	if text[1] == '#' {
		r, size, closed := numericReference(text)
		digits := 2
		if size > 0 {
			digits = size
		}
		for digits < len(text) && alnumBytes[text[digits]] && size == 0 {
			digits++
		}
		if !closed && murky(text, digits) && text[digits] != '&' {
			s.exactly() // An invisible character may stand inside the reference.
		}
		if size == 0 {
			return 0, 1
		}
		if !closed && opensWord(text, size) {
			s.exactly()
		}
		s.after = i + size
		return s.feedDecoded(p, r), size
	}
	n := nameLength(text)
	if murky(text, 1+n) && text[1+n] != '&' {
		s.exactly()
	}
	if n < 2 {
		return 0, 1
	}
	if 1+n < len(text) && text[1+n] == ';' {
		if decoded, ok := referenceNames[string(text[1:2+n])]; ok {
			s.after = i + n + 2
			for _, r := range decoded {
				p = s.feedDecoded(p, r)
			}
			return p, n + 2
		}
	}
	for l := min(n, longestOldName); l > 1; l-- {
		decoded, ok := referenceNames[string(text[1:1+l])]
		if !ok {
			continue
		}
		if opensWord(text, 1+l) {
			s.exactly()
		}
		s.after = i + 1 + l
		for _, r := range decoded {
			p = s.feedDecoded(p, r)
		}
		return p, 1 + l
	}
	return 0, 1
}

// opensWord tells whether one of the sieve's words begins among the last
// characters of a reference that is size bytes long and has no semicolon: then
// they may count as they stand as well as decoded.
func opensWord(text []byte, size int) bool {
	for i := 1; i < size; i++ {
		if !wordStarts[text[i]] {
			continue
		}
		for _, p := range phrases {
			for _, w := range [...]string{p.head, p.tail} {
				if w != "" && lower(text[i]) == w[0] && len(text)-i >= len(w) && string(lowerInto(nil, text[i:i+len(w)])) == w {
					return true
				}
			}
		}
	}
	return false
}

// wordStarts are the letters that the sieve's words begin with.
var wordStarts = func() *[256]bool {
	var set [256]bool
	for _, p := range phrases {
		for _, w := range [...]string{p.head, p.tail} {
			if w != "" {
				set[w[0]], set[w[0]-'a'+'A'] = true, true
			}
		}
	}
	return &set
}()

// less handles a "<" inside a phrase: view 3 deletes comment delimiters and
// tags. What stands in a tag is read from the start; at its end the phrase goes
// on.
func (s *scan) less(p uint32, i int) (state uint32, size int) {
	text := s.text[:s.lineTo]
	if hasPrefixAt(text, i, "<!--") {
		return p, 4
	}
	if murky(text, i+1) || i+1 < len(text) && text[i+1] == '!' && (murky(text, i+2) || murky(text, i+3)) {
		s.exactly()
	}
	s.tag.opened = s.lineFrom + 1
	if i < s.tag.end {
		return 0, 1 // inside a tag already
	}
	if s.tag.closeLine != s.lineFrom+1 || s.tag.close >= 0 && s.tag.close < i {
		s.tag.closeLine = s.lineFrom + 1
		if s.tag.close = bytes.IndexByte(text[i:], '>'); s.tag.close >= 0 {
			s.tag.close += i
		}
	}
	if s.tag.close >= 0 {
		s.tag.end, s.tag.saved = s.tag.close, p
	}
	return 0, 1
}

// greater handles a ">".
func (s *scan) greater(p uint32, i int) uint32 {
	switch {
	case i == s.tag.end:
		s.tag.end = -1
		return s.tag.saved
	case sieve.last[int(p)/sieve.stride] == ' ':
		return p
	}
	return 0
}

// settleLine judges the line at hand.
func (s *scan) settleLine() {
	if !s.open {
		return
	}
	s.open = false
	from, to := s.lineFrom, s.lineTo
	s.settleCreds(&s.creds, nil)
	stripped := s.wantStrip && s.views
	if stripped {
		s.settleStripped(from, to)
	}
	forced := s.force
	if s.wantPhrases && s.phrases {
		s.exact(from, to)
	}
	if stripped {
		// View 4 comes after the others.
		s.base64(s.strip, 0, len(s.strip), s.unstripped)
	}
	if s.wantHidden && s.hidden {
		if h := judgeHidden(s.text[from:to], s.start && from == 0); h.total > 0 {
			f := found{rule: HiddenUnicode, severity: h.severity, start: from + h.start, end: from + h.end}
			// Beyond the limit a finding is counted, not told.
			if s.hiddenLines++; s.hiddenLines <= maxHits {
				f.message = h.message()
			}
			s.hits = append(s.hits, f)
		}
	}
	s.wantStrip, s.wantPhrases, s.wantHidden = false, false, false
	// The lines after one that the sieve could not follow.
	if forced > 0 {
		s.force--
		for next := to + 1; s.force > 0 && next < len(s.text); s.force-- {
			end := len(s.text)
			if n := bytes.IndexByte(s.text[next:], '\n'); n >= 0 {
				end = next + n
			}
			if s.phrases {
				s.exact(next, end)
			}
			next = end + 1
		}
	}
}

// settleCreds turns what c found on its line into hits. With at, offsets of c
// are mapped to the text, and only what is not on the line already is added.
func (s *scan) settleCreds(c *creds, at func(start, end int) (int, int)) {
	if len(c.found) == 0 || !s.phrases {
		return
	}
	var already map[hitKind]struct{}
	if at != nil {
		already = map[hitKind]struct{}{}
		for i := len(s.hits) - 1; i >= 0 && s.hits[i].start >= s.lineFrom; i-- {
			already[s.hits[i].key()] = struct{}{}
		}
	}
	c.settle(func(m credMatch) {
		d := &detectors[m.detector]
		f := found{rule: Secret, severity: Secret.Severity, kind: d.kind, start: m.start, end: m.end}
		suffix := ""
		if at != nil {
			f.start, f.end = at(m.start, m.end)
			suffix = ", after removing invisible characters"
		}
		switch m.detector {
		case addressDetector:
			if !s.addresses {
				return
			}
			f.rule, f.severity, f.address = PII, PII.Severity, string(c.text[m.start:m.end])
			if s.wide {
				f.severity = report.Warning
			}
			f.kind = ""
			f.message = "e-mail address " + c.show(m) + suffix
		case urlDetector:
			f.rule, f.severity = SecretSuspect, SecretSuspect.Severity
			f.message = fmt.Sprintf("possible credentials in a URL: %s%s", c.show(m), suffix)
		default:
			f.message = fmt.Sprintf("possible secret (%s): %s, %s%s", d.kind, c.show(m), length(c.text[m.start:m.end]), suffix)
		}
		if _, twice := already[f.key()]; twice {
			return
		}
		s.hits = append(s.hits, f)
	})
	if s.extended {
		for _, m := range c.found {
			if m.detector != addressDetector && m.detector != urlDetector {
				start, end := m.start, m.end
				if at != nil {
					start, end = at(start, end)
				}
				s.secretSpans = append(s.secretSpans, runSpan{start, end})
			}
		}
	}
}

// length says how long a match is.
func length(match []byte) string { return plural.Of(utf8.RuneCount(match), "character") }

// settleStripped looks for secrets and addresses in view 1 of a line.
func (s *scan) settleStripped(from, to int) {
	s.strip = stripText(s.strip[:0], s.text[from:to])
	s.stripMap = offsets{text: s.text[from:to]}
	s.stripped.scanLine(s.strip)
	s.settleCreds(&s.stripped, s.unstripped)
}

// unstripped maps a span of view 1 of the line at hand to the text.
func (s *scan) unstripped(start, end int) (int, int) {
	a, b := s.stripMap.span(start, end)
	return s.lineFrom + a, s.lineFrom + b
}
