package lint

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

// stripText appends view 1 of a line to out: without invisible characters and
// invalid bytes, tag characters shown as the ASCII they shadow.
func stripText(out, text []byte) []byte {
	for i := 0; i < len(text); {
		if b := text[i]; b < utf8.RuneSelf {
			if !invisible(rune(b)) {
				out = append(out, b)
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		switch t := traitsOf(r); {
		case r == utf8.RuneError && size == 1, t&traitInvisible != 0:
		case t&traitTag != 0:
			out = append(out, byte(r-0xe0000))
		default:
			out = append(out, text[i:i+size]...)
		}
		i += size
	}
	return out
}

// offsets maps offsets of a stripped line to the line, by stripping it once
// more as far as it is asked. Spans must not go backwards by much: it starts
// over when they do.
type offsets struct {
	text     []byte
	at, from int // text[:from] strips to at bytes
}

// span maps [start, end) of the stripped line.
func (o *offsets) span(start, end int) (int, int) {
	a, _ := o.char(start)
	_, b := o.char(end - 1)
	return a, b
}

// char gives the character of the line that byte n of the stripped line is of.
func (o *offsets) char(n int) (from, to int) {
	if n < o.at {
		o.at, o.from = 0, 0
	}
	for o.from < len(o.text) {
		r, size := utf8.DecodeRune(o.text[o.from:])
		t := traits(0)
		if r >= utf8.RuneSelf {
			t = traitsOf(r)
		}
		width := size
		switch {
		case r == utf8.RuneError && size == 1, t&traitInvisible != 0, r < utf8.RuneSelf && invisible(r):
			width = 0
		case t&traitTag != 0:
			width = 1
		}
		if n < o.at+width {
			return o.from, o.from + size
		}
		o.at += width
		o.from += size
	}
	return len(o.text), len(o.text)
}

// means says what stood between a phrase and a plain reading of it.
type means uint8

const (
	byInvisible means = 1 << iota
	byControl
	byTag
	byLookalike
	byCompat
	byReference
	bySpace
	byFormat
)

// names lists the means for a message.
func (m means) names() string {
	var names []string
	for _, n := range []struct {
		bit  means
		name string
	}{
		{byInvisible, "zero-width characters"},
		{byControl, "control characters"},
		{byTag, "tag characters"},
		{byLookalike, "look-alike letters"},
		{byCompat, "compatibility forms"},
		{byReference, "HTML references"},
	} {
		if m&n.bit != 0 {
			names = append(names, n.name)
		}
	}
	if m&(bySpace|byFormat) != 0 {
		names = append(names, "formatting")
	}
	return strings.Join(names, " and ")
}

// view is a line as one of the views of aahp-lint.md 10.2 shows it. In view 1
// text is UTF-8; in the others it has one byte a character, other for what is
// not ASCII. from, to and by run beside text: the source of each byte, and what
// was done to it or removed before it.
type view struct {
	text     []byte
	from, to []int32 // a scanned text is at most 256 MiB
	by       []means
}

const (
	other      = 0xff // a character outside ASCII
	otherBlank = 0x1c // a Zs that NFKC keeps: white space for view 3 alone
)

// reset empties the view and makes room for n bytes.
func (v *view) reset(n int) {
	v.text, v.from, v.to, v.by = v.text[:0], v.from[:0], v.to[:0], v.by[:0]
	if cap(v.text) < n {
		v.text, v.from, v.to, v.by = make([]byte, 0, n), make([]int32, 0, n), make([]int32, 0, n), make([]means, 0, n)
	}
}

func (v *view) add(b byte, from, to int32, by means) {
	v.text = append(v.text, b)
	v.from = append(v.from, from)
	v.to = append(v.to, to)
	v.by = append(v.by, by)
}

// span gives the source of text[a:b] and the means used inside it. What was
// removed before its first character does not count.
func (v *view) span(a, b int) (from, to int, by means) {
	by = v.by[a] &^ (byInvisible | byControl | byFormat)
	for _, m := range v.by[a+1 : b] {
		by |= m
	}
	return int(v.from[a]), int(v.to[b-1]), by
}

// stripView makes view 1 of text[from:to].
func (v *view) stripView(text []byte, from, to int) {
	v.reset(to - from)
	gap := means(0)
	for i := from; i < to; {
		b := text[i]
		if b >= 0x20 && b < 0x7f {
			v.add(b, int32(i), int32(i+1), gap)
			gap = 0
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:to])
		next := i + size
		t := traits(0)
		if r >= utf8.RuneSelf {
			t = traitsOf(r)
		}
		switch {
		case r == utf8.RuneError && size == 1, r < utf8.RuneSelf && invisible(r):
			gap |= byControl
		case t&traitInvisible != 0:
			if r <= 0x9f {
				gap |= byControl
			} else {
				gap |= byInvisible
			}
		case t&traitTag != 0:
			v.add(byte(r-0xe0000), int32(i), int32(next), gap|byTag)
			gap = 0
		default:
			for k := i; k < next; k++ {
				v.add(text[k], int32(i), int32(next), gap)
				gap = 0
			}
		}
		i = next
	}
}

// decodedReference is what reference gives.
type decodedReference struct {
	text string
	size int
}

// maxReferences bounds what is remembered of the references of a file.
const maxReferences = 4096

// reference is the function of that name with a memory: a text that is made of
// references repeats them.
func (s *scan) reference(text []byte) (decoded string, size int) {
	if len(text) < 2 || text[1] == '#' {
		return reference(text)
	}
	key := text[:min(len(text), 2+nameLength(text))]
	if d, known := s.references[string(key)]; known {
		return d.text, d.size
	}
	decoded, size = reference(key)
	if s.references == nil || len(s.references) >= maxReferences {
		s.references = map[string]decodedReference{}
	}
	s.references[string(key)] = decodedReference{decoded, size}
	return decoded, size
}

// foldView makes view 2 of view 1.
func (s *scan) foldView(v, v1 *view) {
	v.reset(len(v1.text))
	f := folder{view: v}
	for i := 0; i < len(v1.text); {
		b := v1.text[i]
		if b == '&' {
			if decoded, size := s.reference(v1.text[i:]); size > 0 {
				by := byReference
				for _, m := range v1.by[i : i+size] {
					by |= m
				}
				for _, r := range decoded {
					f.add(r, v1.from[i], v1.to[i+size-1], by)
				}
				i += size
				continue
			}
		}
		if b < utf8.RuneSelf {
			v.add(lower(b), v1.from[i], v1.to[i], v1.by[i]|f.gap)
			f.gap = 0
			i++
			continue
		}
		r, size := utf8.DecodeRune(v1.text[i:])
		f.add(r, v1.from[i], v1.to[i], v1.by[i])
		i += size
	}
}

// folder adds code points to view 2.
type folder struct {
	view *view
	gap  means // what was removed before the next character
}

func (f *folder) add(r rune, from, to int32, by means) {
	v := f.view
	if r < utf8.RuneSelf {
		if invisible(r) {
			f.gap |= by | byControl
			return
		}
		v.add(lower(byte(r)), from, to, by|f.gap)
		f.gap = 0
		return
	}
	t := traitsOf(r)
	switch {
	case t&traitInvisible != 0:
		f.gap |= by | byInvisible
		return
	case t&traitTag != 0: // only behind a reference: view 1 has shown the others
		by |= byTag
	case t&traitSpace != 0:
		by = by&^byReference | bySpace
	case t&traitLookalike != 0:
		by |= byLookalike
	case t&(traitChar|traitMany) != 0:
		by |= byCompat
	}
	switch {
	case t&traitChar != 0:
		v.add(byte(t&traitChar), from, to, by|f.gap)
	case t&traitMany != 0:
		for _, c := range foldMany(r) {
			if c < utf8.RuneSelf {
				v.add(byte(c), from, to, by|f.gap)
			} else {
				v.add(other, from, to, by|f.gap)
			}
			f.gap = 0
		}
	case t&traitSpace != 0:
		v.add(otherBlank, from, to, by|f.gap)
	default:
		v.add(other, from, to, by|f.gap)
	}
	f.gap = 0
}

func blank(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == otherBlank }

// maxTag is how many characters a tag may hold between its brackets.
const maxTag = 80

// formatView makes view 3 of a line from view 2, from the character skip on.
func (v *view) formatView(v2 *view, skip int) {
	v.reset(len(v2.text) - skip)
	t := v2.text
	gap := means(0)
	for i := skip; i < len(t); {
		n := 0
		switch t[i] {
		case '*', '`', '~':
			n = 1
		case '_':
			if i == 0 || blank(t[i-1]) || i+1 == len(t) || blank(t[i+1]) {
				n = 1
			}
		case '<':
			if hasPrefixAt(t, i, "<!--") {
				n = 4
			} else if k := bytes.IndexByte(t[i+1:min(len(t), i+2+maxTag)], '>'); k >= 0 {
				n = k + 2
			}
		case '-':
			if hasPrefixAt(t, i, "-->") {
				n = 3
			}
		}
		if n > 0 {
			gap |= byFormat
			i += n
			continue
		}
		if blank(t[i]) {
			switch {
			case len(v.text) > 0 && v.text[len(v.text)-1] == ' ':
				gap |= byFormat
			case t[i] == ' ':
				v.add(' ', v2.from[i], v2.to[i], v2.by[i]|gap)
				gap = 0
			default:
				v.add(' ', v2.from[i], v2.to[i], v2.by[i]|gap|byFormat)
				gap = 0
			}
			i++
			continue
		}
		v.add(t[i], v2.from[i], v2.to[i], v2.by[i]|gap)
		gap = 0
		i++
	}
}

const (
	// maxViewed is how much of a line the views see at once; longer lines are
	// cut into pieces that overlap (aahp-lint.md 2.7).
	maxViewed   = 1 << 20
	viewOverlap = 4 << 10
	// joinedLines is how many lines before its last a phrase can begin on: it
	// has at most two blanks.
	joinedLines = 2
)

// exact searches the line text[from:to] for the phrases: raw, then through the
// views 1 to 3, then across the line ends before it.
func (s *scan) exact(from, to int) {
	if from < s.exactTo {
		return
	}
	s.exactTo = to + 1
	s.lowered = lowerInto(s.lowered[:0], s.text[from:to])
	for n, p := range phrases {
		if start, end, ok := p.find(s.lowered); ok {
			s.phrase(uint8(n), from, report.Error, from+start, from+end, "")
		}
	}
	if !s.views {
		return
	}
	if plainLine(s.text[from:to]) {
		// The views show what the raw scan has seen. Only the beginning can
		// matter for a phrase that began on an earlier line.
		v1, v2 := &s.shown[0], &s.shown[1]
		v1.stripView(s.text, from, min(to, from+2*longestPhrase))
		s.foldView(v2, v1)
		s.joins(v2, from)
		return
	}
	for piece := from; ; piece += maxViewed - viewOverlap {
		end := min(to, piece+maxViewed)
		v1, v2, v3 := &s.shown[0], &s.shown[1], &s.shown[2]
		v1.stripView(s.text, piece, end)
		s.search(v1, from, false)
		s.foldView(v2, v1)
		s.search(v2, from, false)
		v3.formatView(v2, 0)
		s.search(v3, from, true)
		if piece == from {
			s.joins(v2, from)
		}
		if end == to {
			break
		}
	}
}

// plainLine tells whether the views 1 to 3 of a line equal it: printable ASCII
// without references, without anything that view 3 deletes and without two
// blanks in a row.
func plainLine(line []byte) bool {
	last := byte(0)
	for _, b := range line {
		if b < 0x20 || b >= 0x7f || b == ' ' && last == ' ' || plainBreakers[b] {
			return false
		}
		last = b
	}
	return true
}

var plainBreakers = bytesIn("&*`~_<>-")

// search looks for the phrases in one view of a line.
func (s *scan) search(v *view, line int, formatted bool) {
	text := v.text
	if v == &s.shown[0] {
		s.lowered = lowerInto(s.lowered[:0], text)
		text = s.lowered
	}
	for n, p := range phrases {
		if _, done := s.reported[phraseLine{uint8(n), line}]; done {
			continue
		}
		// A reference can decode to a line end, which no pattern crosses.
		for off := 0; off < len(text); {
			end := len(text)
			if k := bytes.IndexByte(text[off:], '\n'); k >= 0 {
				end = off + k
			}
			if a, b, ok := p.find(text[off:end]); ok {
				start, stop, by := v.span(off+a, off+b)
				s.phraseBy(uint8(n), line, start, stop, by, formatted)
				break
			}
			off = end + 1
		}
	}
}

// phraseBy reports a phrase seen through a view.
func (s *scan) phraseBy(n uint8, line, start, end int, by means, formatted bool) {
	if formatted || by&^(bySpace|byFormat) == 0 {
		s.phrase(n, line, report.Warning, start, end, ", split by "+(by|byFormat).names())
		return
	}
	s.phrase(n, line, report.Error, start, end, ", obfuscated by "+by.names())
}

// phrase reports phrase n on the line that begins at offset line, once.
func (s *scan) phrase(n uint8, line int, severity report.Severity, start, end int, how string) {
	key := phraseLine{n, line}
	if _, done := s.reported[key]; done {
		return
	}
	if s.reported == nil {
		s.reported = map[phraseLine]struct{}{}
	}
	s.reported[key] = struct{}{}
	s.hits = append(s.hits, found{
		rule: Injection, severity: severity, kind: phrases[n].name, start: start, end: end,
		message: `injection phrase "` + phrases[n].name + `"` + how,
	})
}

// lineView is what the joins need of a line: view 3 without what a joined line
// loses at its start, and whether it joins the line before.
type lineView struct {
	view
	line, to int // offsets of the line
	blank    bool
	joins    bool
}

// joins looks for phrases that begin on an earlier line of the paragraph and
// end on the line at offset line, whose view 2 is v2.
func (s *scan) joins(v2 *view, line int) {
	if line == 0 {
		return
	}
	j := &s.joining
	lines := &j.lines
	n := 0
	last := &lines[joinedLines]
	last.set(v2, line, line)
	if !last.joins {
		return
	}
	top := line
	for n < joinedLines && top > 0 {
		to := top - 1
		from := bytes.LastIndexByte(s.text[:to], '\n') + 1
		if to-from > maxViewed {
			break
		}
		l := &lines[joinedLines-1-n]
		j.strip.stripView(s.text, from, to)
		s.foldView(&j.fold, &j.strip)
		l.set(&j.fold, from, to)
		// A quoted line with nothing in it ends a paragraph as a blank one does.
		if l.blank || len(l.text) == 0 {
			break
		}
		n++
		top = from
		if !l.joins {
			break
		}
	}
	if n == 0 {
		return
	}
	joined := &j.text
	joined.reset(0)
	var starts [joinedLines + 1]int
	count := 0
	for i := joinedLines - n; i <= joinedLines; i++ {
		l := &lines[i]
		if i > joinedLines-n {
			for len(joined.text) > 0 && joined.text[len(joined.text)-1] == ' ' {
				joined.cut(len(joined.text) - 1)
			}
			joined.add(' ', int32(lines[i-1].to), int32(lines[i-1].to), byFormat)
		}
		text := l.view
		switch i {
		case joinedLines:
			text = text.slice(0, min(len(text.text), longestPhrase))
		case joinedLines - n:
			// The whole of it: its own first characters are kept.
			text = text.slice(max(0, len(text.text)-longestPhrase), len(text.text))
		}
		starts[count] = len(joined.text)
		count++
		joined.append(&text)
	}
	for k, p := range phrases {
		if p.tail != "" {
			continue
		}
		for off := 0; ; {
			a := bytes.Index(joined.text[off:], []byte(p.head))
			if a < 0 {
				break
			}
			a += off
			b := a + len(p.head)
			off = a + 1
			if b <= starts[n] || a >= starts[n] {
				continue // not across the last join
			}
			first := n
			for starts[first] > a {
				first--
			}
			l := &lines[joinedLines-n+first]
			_, _, by := joined.span(a, b)
			s.phrase(uint8(k), l.line, report.Warning, int(joined.from[a]), l.to, ", split by "+(by|byFormat).names())
		}
	}
}

// joining is the memory of joins, kept from line to line.
type joining struct {
	lines             [joinedLines + 1]lineView
	strip, fold, text view
}

func (v *view) cut(n int) { v.text, v.from, v.to, v.by = v.text[:n], v.from[:n], v.to[:n], v.by[:n] }

func (v *view) slice(a, b int) view { return view{v.text[a:b], v.from[a:b], v.to[a:b], v.by[a:b]} }

func (v *view) append(w *view) {
	v.text = append(v.text, w.text...)
	v.from = append(v.from, w.from...)
	v.to = append(v.to, w.to...)
	v.by = append(v.by, w.by...)
}

// set makes the view of a line from its view 2.
func (l *lineView) set(v2 *view, line, to int) {
	l.line, l.to = line, to
	t := v2.text
	i := 0
	for i < len(t) && blank(t[i]) {
		i++
	}
	l.blank = i == len(t)
	for i < len(t) && (blank(t[i]) || t[i] == '>') {
		i++
	}
	l.joins = !l.blank && !startsBlock(t[i:])
	l.formatView(v2, i)
}

// startsBlock tells whether a line that begins like this never continues a
// paragraph: a heading, a list item, a table row or a fence.
func startsBlock(t []byte) bool {
	if len(t) == 0 {
		return false
	}
	switch t[0] {
	case '#', '-', '+', '|':
		return true
	}
	if bytes.HasPrefix(t, []byte("```")) || bytes.HasPrefix(t, []byte("~~~")) {
		return true
	}
	i := 0
	for i < len(t) && '0' <= t[i] && t[i] <= '9' {
		i++
	}
	return i > 0 && i < len(t) && (t[i] == '.' || t[i] == ')')
}

// Limits of a base64 run (aahp-lint.md 10.2, view 4).
const (
	minBase64 = 24
	maxBase64 = 8 << 10
)

var (
	base64Bytes  = bytesIn("A-Za-z0-9+/_-")
	base64Common = alnumBytes
)

// base64 looks for phrases in the base64 runs of text[from:to], which holds
// whole lines. at maps offsets of text to those of the scan; nil: the same.
func (s *scan) base64(text []byte, from, to int, at func(start, end int) (int, int)) {
	// A run of 24 covers two of the offsets that are multiples of 12 and all
	// between them, so a few of those bytes tell where none is.
	const stride = minBase64 / 2
	in := base64Bytes
	for i := from; i+stride < to; i += stride {
		t := text[i : i+stride+1]
		if !in[t[0]] || !in[t[12]] || !(in[t[2]] && in[t[4]] && in[t[6]] && in[t[8]] && in[t[10]]) {
			continue
		}
		start, end := i, i
		for start > from && base64Bytes[text[start-1]] {
			start--
		}
		for end < to && base64Bytes[text[end]] {
			end++
		}
		if end-start >= minBase64 {
			s.base64Run(text, start, end, at)
		}
		i += (end - i) / stride * stride
	}
}

// base64Run decodes a run in the standard or the URL alphabet. Where it holds
// characters of both, the parts that keep to one are tried.
func (s *scan) base64Run(text []byte, start, end int, at func(start, end int) (int, int)) {
	run := text[start:end]
	standard, url := bytes.ContainsAny(run, "+/"), bytes.ContainsAny(run, "-_")
	switch {
	case !url:
		s.base64Part(text, start, end, base64.RawStdEncoding, at)
	case !standard:
		s.base64Part(text, start, end, base64.RawURLEncoding, at)
	default:
		for _, alphabet := range []struct {
			extra string
			enc   *base64.Encoding
		}{{"+/", base64.RawStdEncoding}, {"-_", base64.RawURLEncoding}} {
			for i := start; i < end; {
				j := i
				for j < end && (base64Common[text[j]] || strings.IndexByte(alphabet.extra, text[j]) >= 0) {
					j++
				}
				if j-i >= minBase64 {
					s.base64Part(text, i, j, alphabet.enc, at)
				}
				i = j + 1
			}
		}
	}
}

func (s *scan) base64Part(text []byte, start, end int, enc *base64.Encoding, at func(start, end int) (int, int)) {
	if end-start > maxBase64 {
		return
	}
	// Most runs are hashes and paths: the first bytes say so.
	const probe = minBase64 / 4 * 4
	var head [probe / 4 * 3]byte
	if _, err := enc.Decode(head[:], text[start:start+probe]); err != nil || !mayBeText(head[:]) {
		return
	}
	size := enc.DecodedLen(end - start)
	s.buf = append(s.buf[:0], make([]byte, size)...)
	n, err := enc.Decode(s.buf, text[start:end])
	if err != nil || !mostlyText(s.buf[:n]) {
		return
	}
	for pad := 0; pad < 2 && end < len(text) && text[end] == '='; pad++ {
		end++
	}
	low := lowerInto(nil, s.buf[:n])
	for k, p := range phrases {
		for rest := low; len(rest) > 0; {
			line, next, _ := bytes.Cut(rest, []byte{'\n'})
			if _, _, ok := p.find(line); ok {
				a, b := start, end
				if at != nil {
					a, b = at(a, b)
				}
				s.phrase(uint8(k), s.lineStart(a), report.Error, a, b, ", obfuscated by base64")
				break
			}
			rest = next
		}
	}
}

// lineStart gives the start of the line that holds offset i of the scan's text.
func (s *scan) lineStart(i int) int {
	if i >= s.lineFrom && i <= s.lineTo && s.lineFrom < s.lineTo {
		return s.lineFrom
	}
	s.lineFrom = bytes.LastIndexByte(s.text[:i], '\n') + 1
	s.lineTo = len(s.text)
	if n := bytes.IndexByte(s.text[i:], '\n'); n >= 0 {
		s.lineTo = i + n
	}
	return s.lineFrom
}

// mayBeText tells whether b can begin valid UTF-8; a character may be cut at
// its end.
func mayBeText(b []byte) bool {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			return len(b)-i < utf8.UTFMax && !utf8.FullRune(b[i:])
		}
		i += size
	}
	return true
}

// mostlyText tells whether b is valid UTF-8 of which at most 5 % of the code
// points are control characters.
func mostlyText(b []byte) bool {
	all, controls := 0, 0
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			return false
		}
		all++
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r >= 0x7f && r <= 0x9f {
			controls++
		}
		i += size
	}
	return all > 0 && controls*20 <= all
}
