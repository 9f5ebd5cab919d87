package lint

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

const (
	// blockSize is how much is scanned at once: large enough that the cost of
	// a block does not count, small enough for the cache of any processor.
	blockSize = 128 << 10
	// textWindow is how much of a file is looked at for a NUL when its name
	// does not say whether it is text (aahp-lint.md 2.5).
	textWindow = 8 << 10
	// contextLimit bounds the lines that are kept for phrases that run across
	// line ends.
	contextLimit = 2 << 20
	// maxHits is how many hits of one rule a file keeps. A kind that was not
	// met before is kept beyond it, so that no address and no phrase can hide
	// behind many others.
	maxHits = 10_000
)

// ignoreFile is the one name in a handoff folder that is not scanned for
// phrases, secrets and addresses.
const ignoreFile = ".aiignore"

// Scanner reads one file of a handoff folder, once. It is an io.Writer that
// never fails: feed it the bytes as they are hashed, then call Finish.
//
// A JSON file is kept whole until Finish; of any other file, a block of whole
// lines.
type Scanner struct {
	name   string
	opts   Options
	result FileResult

	json, ignore, outside bool
	inner                 bool // it reads what another Scanner has decoded
	utf16                 *utf16Reader

	size     int // of a block; blockSize but in tests
	buf      []byte
	context  int // buf[:context] was scanned already
	searched int // buf[:searched] holds no LF after the context
	line     int // of buf[0]
	begun    bool
	state    uint32
	scan     scan
	hits     hitList
	encoded  bool // lint/encoding was reported
}

// NewScanner makes the scanner for the file at name, which is relative to the
// handoff folder and slash-separated.
func NewScanner(name string, o Options) *Scanner {
	base := path.Base(name)
	s := &Scanner{
		name: name, opts: o, line: 1, size: blockSize,
		result:  FileResult{Path: name},
		json:    strings.HasSuffix(base, ".json"),
		ignore:  base == ignoreFile,
		outside: slices.Contains(strings.Split(name, "/")[:strings.Count(name, "/")], ".git"),
	}
	if s.json {
		s.buf = make([]byte, 0, min(max(o.Size, 0), maxBuffer)+1)
	}
	s.scan.path = name
	return s
}

// maxBuffer bounds what is set aside on the word of Options.Size.
const maxBuffer = 256 << 20

// textExtensions make a file text whatever its first bytes are.
var textExtensions = []string{".md", ".json", ".txt", ".yml", ".yaml", ".toml", ".lock"}

// textName tells whether a file is text by its name alone.
func textName(name string) bool {
	base := path.Base(name)
	for _, e := range textExtensions {
		if strings.HasSuffix(base, e) {
			return true
		}
	}
	return strings.IndexByte(strings.TrimPrefix(base, "."), '.') < 0
}

// checksFor says what is looked for in a file (aahp-lint.md 2.1).
func checksFor(name string, text bool, o Options) checks {
	base := path.Base(name)
	if base == ignoreFile {
		return checks{hidden: text}
	}
	direct := !strings.Contains(name, "/")
	narrow := direct && !strings.HasPrefix(base, ".") && (strings.HasSuffix(base, ".md") || strings.HasSuffix(base, ".json"))
	allowlist := base == allowlistFile
	return checks{
		phrases:   true,
		views:     text,
		addresses: !allowlist && (narrow || text),
		wide:      !narrow,
		hidden:    text,
		extended:  o.Secrets == Extended,
	}
}

// Write takes the next bytes of the file.
func (s *Scanner) Write(p []byte) (int, error) {
	n := len(p)
	if s.json {
		s.buf = append(s.buf, p...)
		return n, nil
	}
	for len(p) > 0 {
		room := s.context + s.size - len(s.buf)
		if room <= 0 {
			room = s.size // A line that is longer than a block.
		}
		part := p[:min(room, len(p))]
		p = p[len(part):]
		s.grow(len(part))
		s.buf = append(s.buf, part...)
		if len(s.buf)-s.context >= s.size && (s.begun || len(s.buf) >= textWindow) {
			s.block(false)
		}
	}
	return n, nil
}

// grow makes room for n more bytes. A long line doubles the buffer, but not
// beyond the size the file is known to have.
func (s *Scanner) grow(n int) {
	if cap(s.buf)-len(s.buf) >= n {
		return
	}
	size := max(2*cap(s.buf), len(s.buf)+n, 64<<10)
	if known := int(min(max(s.opts.Size, 0), maxBuffer)); known >= len(s.buf)+n {
		size = min(size, known)
	}
	s.buf = append(make([]byte, 0, size), s.buf...)
}

// block scans the whole lines of the buffer; with final, all of it.
func (s *Scanner) block(final bool) {
	end := len(s.buf)
	if !final {
		n := bytes.LastIndexByte(s.buf[max(s.context, s.searched):], '\n')
		if n < 0 {
			s.searched = len(s.buf)
			return
		}
		end = max(s.context, s.searched) + n + 1
	}
	s.scanBlock(s.buf[:end])

	// The last lines stay, for phrases that run across line ends.
	keep := end
	for range joinedLines {
		if keep == 0 {
			break
		}
		keep = bytes.LastIndexByte(s.buf[:keep-1], '\n') + 1
	}
	if end-keep > contextLimit {
		keep = end
	}
	s.line += bytes.Count(s.buf[:keep], []byte{'\n'})
	s.buf = s.buf[:copy(s.buf, s.buf[keep:])]
	s.context = end - keep
	s.searched = 0
}

// scanBlock scans text from the context on.
func (s *Scanner) scanBlock(text []byte) {
	first := !s.begun
	s.begun = true
	if first {
		s.decide(s.buf) // not only its first lines
	}
	fresh := text[s.context:]
	if s.utf16 != nil {
		s.utf16.write(fresh)
	}
	if s.result.Markers.Count > 0 || mayHoldMarker(fresh) {
		s.findMarkers(text)
	}
	if s.ignore && !strings.Contains(s.name, "/") {
		s.countPatterns(text)
	}
	if s.outside {
		return
	}
	s.scan.start = first
	s.state = s.scan.run(text, s.context, s.state)
	s.place(text, s.scan.hits)
	s.reportEncoding(text)
}

// decide looks at the first bytes of a file to learn what it is.
func (s *Scanner) decide(head []byte) {
	if s.inner {
		return
	}
	isText := textName(s.name) || bytes.IndexByte(head[:min(len(head), textWindow)], 0) < 0
	s.scan.checks = checksFor(s.name, isText, s.opts)
	if s.outside {
		return
	}
	if order := utf16Order(head); order != nil {
		s.scan.checks = checksFor(s.name, true, s.opts)
		s.utf16 = newUTF16Reader(order, s)
		s.scan.hidden = false // Its bytes are no characters.
		if !s.json {
			s.encoded = true
			s.hits.add(Hit{
				Rule: Encoding, Severity: Encoding.Severity, Span: report.Span{Line: 1},
				Message: "the file begins with a UTF-16 byte order mark; handoff files are UTF-8",
			})
		}
	}
}

// findMarkers runs the conflict-marker test over a block that may hold some.
func (s *Scanner) findMarkers(text []byte) {
	m := newMarkerState()
	m.line = s.line + bytes.Count(text[:s.context], []byte{'\n'})
	m.scan(text[s.context:])
	if s.result.Markers.Count == 0 {
		s.result.Markers.First = m.result.First
	}
	s.result.Markers.Count += m.result.Count
}

// countPatterns counts the pattern lines of the handoff folder's .aiignore.
func (s *Scanner) countPatterns(text []byte) {
	const space = " \t\n\v\f\r"
	for off := s.context; off < len(text); {
		end := len(text)
		if n := bytes.IndexByte(text[off:], '\n'); n >= 0 {
			end = off + n
		}
		line := bytes.Trim(text[off:end], space)
		if len(line) > 0 && line[0] != '#' {
			if s.result.IgnorePatterns == 0 {
				start := off + bytes.Index(text[off:end], line)
				p := newPlacer(text, s.line)
				s.result.FirstIgnore = p.span(start, start+len(line))
			}
			s.result.IgnorePatterns++
		}
		off = end + 1
	}
}

// reportEncoding reports the first byte that is not UTF-8 text, once per file.
func (s *Scanner) reportEncoding(text []byte) {
	if s.encoded || s.json || s.scan.badAt < 0 || !s.scan.hidden {
		return
	}
	s.encoded = true
	what := "a byte that is not valid UTF-8"
	if s.scan.badNUL {
		what = "a NUL byte"
	}
	p := newPlacer(text, s.line)
	s.hits.add(Hit{
		Rule: Encoding, Severity: Encoding.Severity, Span: p.span(s.scan.badAt, s.scan.badAt+1),
		Message: "the first of the file's bytes that are not text: " + what,
	})
}

// place gives the hits of a block their lines and columns.
func (s *Scanner) place(text []byte, hits []found) {
	if len(hits) == 0 {
		return
	}
	places := newPlacer(text, s.line).all(hits)
	for i, f := range hits {
		s.hits.add(Hit{
			Rule: f.rule, Severity: f.severity, Kind: f.kind, Span: places[i],
			Message: f.message, address: f.address,
		})
	}
}

// Finish ends the file and gives what was found in it. The Scanner cannot be
// used again.
func (s *Scanner) Finish() FileResult {
	if s.json {
		s.finishJSON()
	} else {
		s.block(true)
	}
	if s.utf16 != nil {
		s.mergeUTF16()
	}
	if s.opts.Secrets == Extended && !s.outside && !s.ignore {
		for _, id := range extendedRules().paths(s.name) {
			s.hits.add(Hit{
				Rule: SecretExtended, Severity: SecretExtended.Severity, Kind: id,
				Message: "possible secret, by the name of the file (gitleaks rule " + id + ")",
			})
		}
	}
	s.result.Hits = s.hits.finish()
	s.result.exempt = s.hits.exempt
	s.buf = nil
	return s.result
}

// mergeUTF16 adds what the decoded text of a UTF-16 file holds. What its bytes
// held already on the same line is the same finding, told with worse columns.
func (s *Scanner) mergeUTF16() {
	decoded := s.utf16.finish()
	s.hits.dropRepeated(decoded.Hits)
	for _, h := range decoded.Hits {
		s.hits.add(h)
	}
	for a := range decoded.exempt {
		s.hits.addExempt(a)
	}
}

// hitList collects the hits of a file within its bounds.
type hitList struct {
	hits   []Hit
	counts map[string]int // by rule
	kinds  map[hitKind]struct{}
	left   map[string]int // by rule: not kept
	exempt map[string]struct{}
	lines  map[hitLine]struct{} // where a phrase was reported
}

type hitKind struct{ rule, kind string }

type hitLine struct {
	kind, pointer string
	line          int
}

func (l *hitList) add(h Hit) {
	if h.address != "" {
		if exemptAddress(h.address) {
			l.addExempt(h.address)
			return
		}
	}
	if l.counts == nil {
		l.counts, l.kinds, l.left, l.lines = map[string]int{}, map[hitKind]struct{}{}, map[string]int{}, map[hitLine]struct{}{}
	}
	if h.Rule == Injection {
		// A phrase that runs into a block may have been seen in the one before.
		key := hitLine{h.Kind, h.pointer, h.Span.Line}
		if _, twice := l.lines[key]; twice {
			return
		}
		if len(l.lines) < maxHits {
			l.lines[key] = struct{}{}
		}
	}
	kind := hitKind{h.Rule.ID, h.kind()}
	if l.counts[h.Rule.ID] >= maxHits {
		if _, known := l.kinds[kind]; known {
			l.left[h.Rule.ID]++
			return
		}
	}
	l.counts[h.Rule.ID]++
	l.kinds[kind] = struct{}{}
	l.hits = append(l.hits, h)
}

func (l *hitList) addExempt(address string) {
	if l.exempt == nil {
		l.exempt = map[string]struct{}{}
	}
	l.exempt[address] = struct{}{}
}

// dropRepeated removes the hits that others repeat: same rule, kind and line.
func (l *hitList) dropRepeated(others []Hit) {
	if len(others) == 0 || len(l.hits) == 0 {
		return
	}
	type place struct {
		rule, kind string
		line       int
	}
	there := map[place]struct{}{}
	for _, h := range others {
		there[place{h.Rule.ID, h.kind(), h.Span.Line}] = struct{}{}
	}
	l.hits = slices.DeleteFunc(l.hits, func(h Hit) bool {
		_, twice := there[place{h.Rule.ID, h.kind(), h.Span.Line}]
		return twice
	})
	clear(l.lines)
}

// finish orders the hits and says of each rule how much was left out.
func (l *hitList) finish() []Hit {
	slices.SortStableFunc(l.hits, func(a, b Hit) int {
		return cmp.Or(
			cmp.Compare(a.Span.Line, b.Span.Line), cmp.Compare(a.Span.Column, b.Span.Column),
			strings.Compare(a.Rule.ID, b.Rule.ID), strings.Compare(a.kind(), b.kind()), strings.Compare(a.pointer, b.pointer),
		)
	})
	for i := range slices.Backward(l.hits) {
		h := &l.hits[i]
		if n := l.left[h.Rule.ID]; n > 0 {
			h.Message += fmt.Sprintf(" (%d more of this rule in this file are not listed)", n)
			delete(l.left, h.Rule.ID)
		}
	}
	return l.hits
}

// placer turns offsets of a text into lines and columns. It walks forward, so
// offsets should come in order; it starts over when they do not.
type placer struct {
	text             []byte
	first            int // the line of text[0]
	at, line, column int
}

func newPlacer(text []byte, line int) *placer {
	return &placer{text: text, first: line, line: line, column: 1}
}

// position gives line and column of the byte at off.
func (p *placer) position(off int) (line, column int) {
	if off < p.at {
		p.at, p.line, p.column = 0, p.first, 1
	}
	part := p.text[p.at:off]
	if n := bytes.LastIndexByte(part, '\n'); n >= 0 {
		p.line += bytes.Count(part, []byte{'\n'})
		p.column = 1
		part = part[n+1:]
	}
	p.column += utf8.RuneCount(part)
	p.at = off
	column = p.column
	if p.line == 1 && off > 0 && bytes.HasPrefix(p.text, byteOrderMark) {
		column-- // The byte order mark at the start of a file counts as none.
	}
	return p.line, column
}

// span gives the place of the bytes from start to end, which are on one line.
func (p *placer) span(start, end int) report.Span {
	line, column := p.position(start)
	_, after := p.position(end)
	return report.Span{Line: line, Column: column, EndColumn: after}
}

// all gives the places of hits, in one walk over the text.
func (p *placer) all(hits []found) []report.Span {
	offsets := make([]int, 0, 2*len(hits))
	for i := range hits {
		offsets = append(offsets, 2*i, 2*i+1)
	}
	offset := func(k int) int {
		if k%2 == 0 {
			return hits[k/2].start
		}
		return hits[k/2].end
	}
	slices.SortFunc(offsets, func(a, b int) int { return cmp.Compare(offset(a), offset(b)) })
	spans := make([]report.Span, len(hits))
	for _, k := range offsets {
		line, column := p.position(offset(k))
		if s := &spans[k/2]; k%2 == 0 {
			s.Line, s.Column = line, column
		} else {
			s.EndColumn = column
		}
	}
	return spans
}
