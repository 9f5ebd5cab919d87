package lint

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
)

// creds collects the matches of the detectors on one line at a time. The text
// and all offsets are those of the block being scanned; from and to bound the
// line at hand.
type creds struct {
	text     []byte
	from, to int
	last     [maxDetectors]int        // where the last match of a detector ended
	runs     [maxDetectors][2]runSpan // what matchers remember, see seq
	found    []credMatch              // on this line, in the order met

	// What lies over an address that is shown: secrets, and with them the
	// credentials in URLs. Made when they are first asked for.
	secrets, withURLs spans
	secretsOK         bool
}

// maxDetectors bounds the table of detectors: a line's kinds fit one word.
const maxDetectors = 64

// runSpan is a run of bytes that a matcher has walked.
type runSpan struct{ from, to int }

// credMatch is a match that its guards kept.
type credMatch struct {
	detector   uint8
	start, end int
}

// reset prepares for another text.
func (c *creds) reset(text []byte) {
	*c = creds{text: text, found: c.found[:0]}
}

// line is the text up to the end of the line.
func (c *creds) line() []byte { return c.text[:c.to] }

// event is called where a fixed text has ended at offset i; row is the state of
// the automaton.
func (c *creds) event(row uint32, i int) {
	for _, id := range credAutomaton.words(row) {
		h := credWords[id]
		at := i + 1 - h.length
		if at < c.last[h.detector] || h.begins && at > c.from && isWord(c.text[at-1]) {
			continue
		}
		d := &detectors[h.detector]
		start, end, ok := d.match(c, h.detector, at, h.length)
		if !ok || start < c.last[h.detector] {
			continue
		}
		c.last[h.detector] = end
		if d.keep == nil || d.keep(c.text[start:end]) {
			c.found = append(c.found, credMatch{h.detector, start, end})
		}
	}
}

// scanLine finds everything in a whole line, for the callers that have a line and
// no stream.
func (c *creds) scanLine(line []byte) {
	c.reset(line)
	c.from, c.to, c.found = 0, len(line), c.found[:0]
	row, a := uint32(0), credAutomaton
	for i, b := range line {
		row = a.next[int(row)+int(a.class[b])]
		if row&look != 0 {
			row &^= look
			c.event(row, i)
		}
	}
}

// settle orders what was found on the line by the rules of precedence and calls
// emit for the first match of every kind (for addresses: of every address).
func (c *creds) settle(emit func(m credMatch)) {
	if len(c.found) == 0 {
		return
	}
	c.secretsOK = false
	var seen uint64
	var addresses map[string]struct{}
	fixed := c.cover(func(d uint8) bool { return detectors[d].fixed })
	for _, m := range c.found {
		if m.detector == addressDetector {
			if addresses == nil {
				addresses = map[string]struct{}{}
			}
			key := string(c.text[m.start:m.end])
			if _, twice := addresses[key]; !twice {
				addresses[key] = struct{}{}
				emit(m)
			}
			continue
		}
		d := &detectors[m.detector]
		if seen&(1<<m.detector) != 0 || !d.fixed && m.detector != urlDetector && fixed.over(m.start, m.end) {
			continue
		}
		seen |= 1 << m.detector
		emit(m)
	}
}

// spans are ordered by start; most[i] is the greatest end among the first i+1.
type spans struct {
	at   []runSpan
	most []int
}

// cover collects the spans of the matches whose detector is wanted.
func (c *creds) cover(wanted func(d uint8) bool) spans {
	var s spans
	for _, m := range c.found {
		if wanted(m.detector) {
			s.at = append(s.at, runSpan{m.start, m.end})
		}
	}
	s.settle()
	return s
}

// settle orders the spans; it must be called before over.
func (s *spans) settle() {
	slices.SortFunc(s.at, func(a, b runSpan) int { return cmp.Compare(a.from, b.from) })
	s.most = s.most[:0]
	for i, r := range s.at {
		if i > 0 {
			r.to = max(r.to, s.most[i-1])
		}
		s.most = append(s.most, r.to)
	}
}

// over tells whether one of the spans lies over [start, end).
func (s *spans) over(start, end int) bool {
	n, _ := slices.BinarySearchFunc(s.at, end, func(r runSpan, end int) int { return cmp.Compare(r.from, end) })
	return n > 0 && s.most[n-1] > start
}

// overlapsSecret tells whether a match of another detector than not (addresses
// apart) lies over [start, end): then nothing of that span may be shown.
func (c *creds) overlapsSecret(not uint8, start, end int) bool {
	for _, f := range c.found {
		if f.detector != not && f.detector != addressDetector && f.start < end && start < f.end {
			return true
		}
	}
	return false
}

// maxName is how much of the name of an assignment a message shows.
const maxName = 40

// show masks a match for a message.
func (c *creds) show(m credMatch) string {
	d := &detectors[m.detector]
	match := c.text[m.start:m.end]
	switch {
	case m.detector == addressDetector:
		return c.showAddress(m)
	case m.detector == urlDetector:
		sep := bytes.Index(match, []byte("://"))
		at := bytes.LastIndexByte(match, '@')
		scheme, host := string(match[:sep]), string(match[at+1:])
		if c.overlapsSecret(m.detector, m.start, m.start+sep) {
			scheme = "***"
		}
		if c.overlapsSecret(m.detector, m.start+at+1, m.end) {
			host = "***"
		}
		return scheme + "://***@" + safetext.Clean(host)
	case d.fixed && strings.HasSuffix(d.shown, "=***"):
		eq := m.start + len(d.shown) - len("***") - 1
		start := eq
		for start > c.from && eq-start < maxName && isWord(c.text[start-1]) {
			start--
		}
		if c.overlapsSecret(m.detector, start, m.start) {
			return "***" + d.shown
		}
		return string(c.text[start:eq]) + "=***"
	case strings.HasPrefix(d.shown, "***"), strings.Contains(d.shown, "/"), d.fixed:
		return d.shown
	}
	for _, h := range d.heads {
		if bytes.HasPrefix(match, []byte(h)) {
			return h + "***"
		}
	}
	return d.shown
}

// showAddress gives the first character and the domain.
func (c *creds) showAddress(m credMatch) string {
	if !c.secretsOK {
		// A line can hold a hundred thousand addresses.
		c.secrets = c.cover(func(d uint8) bool { return d != addressDetector && d != urlDetector })
		c.withURLs = c.cover(func(d uint8) bool { return d != addressDetector })
		c.secretsOK = true
	}
	match := c.text[m.start:m.end]
	at := bytes.IndexByte(match, '@')
	first, domain := string(match[:1]), string(match[at+1:])
	if c.withURLs.over(m.start, m.start+1) {
		first = "" // Of a password, as like as not.
	}
	if c.secrets.over(m.start+at, m.end) {
		domain = "***"
	}
	return first + "***@" + safetext.Clean(domain)
}

// holdsSecret tells whether a secret, a URL with credentials or an address
// stands in text, as it is or after view 1: then a message must not show it.
func holdsSecret(text string) bool {
	var c creds
	for _, t := range [][]byte{[]byte(text), stripText(nil, []byte(text))} {
		for len(t) > 0 {
			line, rest, _ := bytes.Cut(t, []byte{'\n'})
			c.scanLine(line)
			if len(c.found) > 0 {
				return true
			}
			t = rest
		}
	}
	return false
}

var (
	localBytes  = bytesIn("a-zA-Z0-9._%+-")
	domainBytes = bytesIn("a-zA-Z0-9.-")
)

func isLetter(b byte) bool { return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' }

// matchAddress matches section 5's pattern around the "@" at offset at.
func matchAddress(c *creds, d uint8, at, _ int) (start, end int, ok bool) {
	text := c.line()
	start = at
	for start > c.from && start > c.last[d] && localBytes[text[start-1]] {
		start--
	}
	if start == at {
		return 0, 0, false
	}
	stop := at + 1
	for stop < len(text) && domainBytes[text[stop]] {
		stop++
	}
	for dot := stop - 3; dot >= at+2; dot-- {
		if text[dot] == '.' && isLetter(text[dot+1]) && isLetter(text[dot+2]) {
			end = dot + 3
			for end < stop && isLetter(text[end]) {
				end++
			}
			return start, end, true
		}
	}
	return 0, 0, false
}

// exemptAddress tells whether section 5 drops an address by its form.
func exemptAddress(a string) bool {
	return strings.Contains(a, ".noreply.") || strings.HasPrefix(a, "noreply@") || strings.HasPrefix(a, "no-reply@") ||
		strings.Contains(a, "example.com") || strings.Contains(a, "placeholder")
}

// Limits of the expression for credentials in a URL.
const (
	maxScheme                  = 21
	maxURLUser                 = 64
	minURLSecret, maxURLSecret = 6, 128
)

var (
	schemeBytes = bytesIn("A-Za-z0-9+.-")
	// What ends the user and the password, besides.
	notURLUser   = bytesIn("\t\n\f\r :/@?#'\"<>")
	notURLSecret = bytesIn("\t\n\f\r :/@?#'\"<>${[*")
)

// matchURL matches the expression of lint/secret-suspect around the "://" at
// offset at.
func matchURL(c *creds, d uint8, at, head int) (start, end int, ok bool) {
	text := c.line()
	start = -1
	for s := at - 1; s >= c.from && s >= c.last[d] && at-s <= maxScheme && schemeBytes[text[s]]; s-- {
		if at-s >= 2 && isLetter(text[s]) && (s == c.from || !isWord(text[s-1])) {
			start = s
		}
	}
	if start < 0 {
		return 0, 0, false
	}
	i, _ := skipRunes(text, at+head, maxURLUser, notURLUser)
	if i >= len(text) || text[i] != ':' {
		return 0, 0, false
	}
	i, n := skipRunes(text, i+1, maxURLSecret, notURLSecret)
	if n < minURLSecret || i >= len(text) || text[i] != '@' {
		return 0, 0, false
	}
	end = i + 1
	for end < len(text) && domainBytes[text[end]] {
		end++
	}
	return start, end, end > i+1
}

// skipRunes passes over at most limit code points whose first byte is not in
// stop, and counts them. An invalid byte counts as one.
func skipRunes(text []byte, i, limit int, stop *[256]bool) (end, n int) {
	for i < len(text) && n < limit && !stop[text[i]] {
		if text[i] < utf8.RuneSelf {
			i++
		} else {
			_, size := utf8.DecodeRune(text[i:])
			i += size
		}
		n++
	}
	return i, n
}

// keepURL is the guard of lint/secret-suspect.
func keepURL(match []byte) bool {
	_, rest, _ := strings.Cut(string(match), "://")
	user, rest, _ := strings.Cut(rest, ":")
	password, host, _ := strings.Cut(rest, "@")
	if placeholder([]byte(password)) || password == user {
		return false
	}
	switch strings.ToLower(password) {
	case "password", "passwd", "secret", "username", "your_password", "your-password":
		return false
	}
	host = strings.ToLower(host)
	if host == "localhost" || host == "127.0.0.1" || strings.Contains(host, "example.") {
		return false
	}
	for _, top := range []string{".example", ".test", ".invalid", ".localhost"} {
		if strings.HasSuffix(host, top) {
			return false
		}
	}
	return true
}
