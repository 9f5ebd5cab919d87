package adopt

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
)

// Limits of a summary and of what it is taken from.
const (
	maxSummary = 150 // characters
	// maxPassage is how many bytes of one line, and of one paragraph, are looked
	// at. It bounds the memory for a file without line ends; no text is so long.
	maxPassage = 8 << 20
)

const noSummary = "(no summary available)"

// summarizer makes the summary of one file (aahp-authoring.md 2.7) from its
// bytes, without CRs, in a stream.
type summarizer interface {
	add(p []byte)
	end() string
}

func newSummarizer(name string) summarizer {
	switch name {
	case allowlistName:
		return newJSONSummary("PII allowlist")
	case IndexName:
		return newJSONSummary("LOG archive index")
	case logName:
		return &markdownSummary{entry: "Latest entry: ", top: &scan{}}
	case ArchiveName:
		return &markdownSummary{entry: "Newest archived entry: ", top: &scan{}}
	}
	return &markdownSummary{top: &scan{}}
}

// markdownSummary feeds lines to a scan from the top and, once the marker was
// seen, to one from there; in a journal it looks for the newest entry as well.
type markdownSummary struct {
	entry      string // what a journal's summary begins with; "" for no journal
	entryFence string // the fence that is open, for the entries
	found      string // the journal's summary

	top, section *scan

	line    []byte // of the next line, what has come
	held    []byte // the line before it, which waits to know its next one
	holding bool
}

var sectionMarker = regexp.MustCompile(`(?i)<!--[` + spaceClass + `]*SECTION[` + spaceClass + `]*:[` + spaceClass + `]*summary[` + spaceClass + `]*-->`)

// spaceClass is ecma.IsSpace as the inside of a class of characters.
const spaceClass = `\t\n\v\f\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`

func (m *markdownSummary) add(p []byte) {
	for len(p) > 0 && m.found == "" {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			m.line = appendBounded(m.line, p)
			return
		}
		if len(m.line) > 0 {
			m.line = appendBounded(m.line, p[:i])
			m.next(m.line)
			m.line = m.line[:0]
		} else {
			m.next(p[:min(i, maxPassage)])
		}
		p = p[i+1:]
	}
}

func appendBounded(dst, p []byte) []byte {
	return append(dst, p[:min(len(p), maxPassage-len(dst))]...)
}

// next takes a line, and hands on the one before it.
func (m *markdownSummary) next(line []byte) {
	if m.holding {
		m.see(m.held, line)
	}
	m.held, m.holding = append(m.held[:0], line...), true
}

func (m *markdownSummary) end() string {
	if m.found == "" {
		m.next(m.line)
	}
	if m.found == "" {
		m.see(m.held, nil)
	}
	if m.found != "" {
		return m.found
	}
	if m.section != nil {
		if s := m.section.result(); s != "" {
			return s
		}
	}
	if s := m.top.result(); s != "" {
		return s
	}
	if m.top.table != "" {
		return m.top.table
	}
	return noSummary
}

// see looks at one line, knowing the line after it.
func (m *markdownSummary) see(line, after []byte) {
	if m.entry != "" {
		if m.newest(line); m.found != "" {
			return
		}
	}
	section := m.section
	if !m.top.done || section != nil && !section.done {
		l := newLine(line, after)
		m.top.step(l)
		if section != nil {
			section.step(l)
		}
	}
	if section == nil && bytes.Contains(line, []byte(commentOpen)) && sectionMarker.MatchString(ecma.Decode(line)) {
		m.section = &scan{}
	}
}

// newest looks for the first entry of a journal: "## [", outside of a fence.
func (m *markdownSummary) newest(line []byte) {
	if m.entryFence == "" && !bytes.ContainsAny(line, "#`~") {
		return
	}
	s := ecma.Trim(ecma.Decode(line))
	if m.entryFence != "" {
		if strings.HasPrefix(s, m.entryFence) {
			m.entryFence = ""
		}
		return
	}
	if m.entryFence = fence(s); m.entryFence != "" {
		return
	}
	title, ok := strings.CutPrefix(s, "##")
	if !ok {
		return
	}
	trimmed := strings.TrimLeftFunc(title, ecma.IsSpace)
	if len(trimmed) < len(title) && len(trimmed) > 1 && trimmed[0] == '[' {
		m.found = clip(tidy(m.entry+trimmed), maxSummary)
	}
}

// fence gives the run of backticks or tildes by which a trimmed line opens a
// fence; "" when it opens none.
func fence(s string) string {
	for _, c := range []byte("`~") {
		n := 0
		for n < len(s) && s[n] == c {
			n++
		}
		if n >= 3 {
			return s[:n]
		}
	}
	return ""
}

// mdLine is a line in the forms that a scan needs.
type mdLine struct {
	indented bool   // begins with white space as written
	trimmed  string // without white space at both ends
	underKey bool   // the next line makes it a heading
}

func newLine(line, after []byte) mdLine {
	s := ecma.Decode(line)
	first, _ := utf8.DecodeRuneInString(s)
	next := ecma.Trim(ecma.Decode(after))
	return mdLine{
		indented: s != "" && ecma.IsSpace(first),
		trimmed:  ecma.Trim(s),
		underKey: next != "" && (strings.Trim(next, "=") == "" || strings.Trim(next, "-") == ""),
	}
}

// scan looks for the first paragraph.
type scan struct {
	done    bool
	comment bool   // a comment is open
	fence   string // the fence that is open
	begun   bool
	list    bool // the paragraph is a list item
	text    []byte
	table   string // the columns of the first table line that has some
}

// result gives the paragraph's summary; "" when there is none.
func (s *scan) result() string {
	text := tidy(string(s.text))
	if text == "" {
		return ""
	}
	return clip(firstSentence(text), maxSummary)
}

// step takes the next line.
func (s *scan) step(l mdLine) {
	if s.done {
		return
	}
	t := l.trimmed
	if s.comment {
		i := strings.Index(t, commentClose)
		if i < 0 {
			return
		}
		s.comment = false
		t = ecma.Trim(t[i+len(commentClose):])
	}
	if s.fence != "" {
		if strings.HasPrefix(t, s.fence) {
			s.fence = ""
		}
		return
	}
	if f := fence(t); f != "" {
		s.fence = f
		s.done = s.begun
		return
	}
	if strings.HasPrefix(t, commentOpen) {
		s.comment = !strings.Contains(t, commentClose)
		s.done = s.begun
		return
	}
	class := classify(t, l.underKey)
	if s.begun {
		if class == text && (!s.list || l.indented) {
			s.append(t)
		} else {
			s.done = true
		}
		return
	}
	switch class {
	case text:
		s.begun = true
		s.append(t)
	case list:
		s.begun, s.list = true, true
		s.append(item(t))
	case table:
		if s.table == "" {
			s.table = columns(t)
		}
	case skip:
	}
}

func (s *scan) append(t string) {
	if len(s.text) > 0 {
		s.text = appendBounded(s.text, []byte{' '})
	}
	s.text = appendBounded(s.text, []byte(t))
}

// class is what a line of Markdown is to a scan.
type class uint8

const (
	skip class = iota
	table
	list
	text
)

var (
	breakLine = regexp.MustCompile(`^[-*_=]{3,}$`)
	pointless = regexp.MustCompile("^[\\[\\]{}(),:;\"'`" + spaceClass + "]+$")
	loneTag   = regexp.MustCompile(`^</?[A-Za-z][^>]*>$`)
	listItem  = regexp.MustCompile(`^(?:[-*+]|[0-9]+[.)])[` + spaceClass + `]+`)
	taskBox   = regexp.MustCompile(`^\[[ xX]\][` + spaceClass + `]+`)
)

// classify tells what a trimmed line is; underKey says that the line below makes
// it a heading.
func classify(t string, underKey bool) class {
	switch {
	case t == "", t[0] == '#', t[0] == '>', breakLine.MatchString(t):
		return skip
	case t[0] == '|':
		return table
	case strings.HasPrefix(t, "!["), strings.HasPrefix(t, "[!["), underKey,
		pointless.MatchString(t), loneTag.MatchString(t), bookkeeping(t):
		return skip
	case listItem.MatchString(t):
		return list
	}
	return text
}

// item removes the marker of a list item, and its task box.
func item(t string) string {
	t = t[len(listItem.FindString(t)):]
	return t[len(taskBox.FindString(t)):]
}

// records are the labels of lines that say when and by whom, not what.
var records = map[string]bool{
	"agent": true, "session": true, "session id": true, "timestamp": true, "commit": true, "commit before": true,
	"commit after": true, "phase": true, "branch": true, "task": true, "tasks": true, "date": true, "status": true,
	"priority": true, "owner": true, "legend": true, "model": true, "last updated": true, "updated": true, "version": true,
	"current version": true, "current package version": true, "package version": true, "protocol version": true,
	"expires": true, "ttl": true, "provenance": true,
}

// bookkeeping tells whether a line is a label that says nothing for a summary:
// one of records, or one without a value.
func bookkeeping(t string) bool {
	label, value, ok := boldLabel(t)
	if !ok {
		label, value, ok = plainLabel(t)
	}
	return ok && (ecma.Trim(value) == "" || records[lower(ecma.Trim(label))])
}

// maxLabel is the length of a label in characters.
const maxLabel = 40

// boldLabel reads **Label:** value and **Label**: value, with ** or __.
func boldLabel(t string) (label, value string, ok bool) {
	if !strings.HasPrefix(t, "**") && !strings.HasPrefix(t, "__") {
		return "", "", false
	}
	mark, rest := t[:2], t[2:]
	end := strings.IndexAny(rest, "*_:")
	if end < 1 || utf8.RuneCountInString(rest[:end]) > maxLabel {
		return "", "", false
	}
	for _, tail := range []string{":" + mark, mark + ":"} {
		if v, found := strings.CutPrefix(rest[end:], tail); found {
			return rest[:end], v, true
		}
	}
	return "", "", false
}

var plainLabelForm = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9 ()/-]{0,40}):(?:$|[` + spaceClass + `])`)

// plainLabel reads Label: value.
func plainLabel(t string) (label, value string, ok bool) {
	m := plainLabelForm.FindStringSubmatch(t)
	if m == nil {
		return "", "", false
	}
	return m[1], t[len(m[1])+1:], true
}

// lower is the lower case of what can equal a label of records. The Kelvin sign
// is the one other character whose lower case is an ASCII letter.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r == '\u212a':
			return 'k'
		}
		return r
	}, s)
}

var ruleCell = regexp.MustCompile(`^:?-+:?$`)

// columns makes a summary of a table line; "" when the line names no column.
func columns(t string) string {
	t = strings.TrimSuffix(strings.TrimPrefix(t, "|"), "|")
	var cells []string
	named := false
	for cell := range strings.SplitSeq(t, "|") {
		if cell = tidy(cell); cell != "" {
			cells = append(cells, cell)
			named = named || !ruleCell.MatchString(cell)
		}
	}
	if !named {
		return ""
	}
	return clip("Table with columns: "+strings.Join(cells, ", "), maxSummary)
}

// jsonSummary is the summary of a JSON file of the set. Of a document that is
// large because it has many entries, it holds one at a time.
type jsonSummary struct {
	label   string
	start   []byte // of the document, until it is known whether a mark stands there
	begun   bool
	split   *jsondoc.Splitter
	unsound bool
	items   int // of an array
	entries int // of the last member of that name that is an array and not empty
}

func newJSONSummary(label string) *jsonSummary {
	j := &jsonSummary{label: label}
	j.split = &jsondoc.Splitter{Element: func(key []byte, n int, src []byte, _ int64) error {
		j.unsound = j.unsound || jsondoc.Scan(asUTF8(src), lenient, func(jsondoc.Token) error { return nil }) != nil
		if len(key) == 0 {
			j.items = n + 1
		} else if keyText(key) == entriesKey {
			j.entries = n + 1
		}
		return nil
	}}
	return j
}

// lenient is how JSON.parse reads a document.
var lenient = jsondoc.Options{KeepEqualKeys: true, KeepSurrogates: true}

// entriesKey is the member whose elements a summary counts.
const entriesKey = "entries"

const byteOrderMark = "\ufeff"

func asUTF8(src []byte) []byte {
	if utf8.Valid(src) {
		return src
	}
	return []byte(ecma.Decode(src))
}

// keyText decodes the spelling of a key.
func keyText(spelling []byte) (text string) {
	src := asUTF8(spelling)
	err := jsondoc.Scan(src, lenient, func(t jsondoc.Token) error {
		text = sound(t.Text(src))
		return nil
	})
	if err != nil {
		return ""
	}
	return text
}

func (j *jsonSummary) add(p []byte) {
	if !j.begun {
		j.start = append(j.start, p...)
		if len(j.start) < len(byteOrderMark) {
			return
		}
		p = j.begin()
	}
	_, _ = j.split.Write(p) // no element ends it
}

// begin gives the start of the document without the mark.
func (j *jsonSummary) begin() []byte {
	j.begun = true
	return bytes.TrimPrefix(j.start, []byte(byteOrderMark))
}

func (j *jsonSummary) end() string {
	if !j.begun {
		_, _ = j.split.Write(j.begin())
	}
	src := asUTF8(j.split.Rest())
	var outer jsondoc.Kind
	var keys []string
	var size int // of keys
	seen := map[string]bool{}
	items, entries := 0, -1
	inEntries := false
	err := jsondoc.Scan(src, lenient, func(t jsondoc.Token) error {
		switch depth := t.Depth; {
		case t.Closes():
		case depth == 1 && t.Kind == jsondoc.Key:
			k := sound(t.Text(src))
			inEntries = k == entriesKey
			if inEntries {
				entries = -1 // of equal keys the last counts
			}
			// A little more than the summary holds is enough to see that it
			// has to be clipped.
			if size <= maxSummary && !seen[k] {
				seen[k] = true
				keys = append(keys, k)
				size += utf8.RuneCountInString(k) + len(", ")
			}
		case t.Kind == jsondoc.Key:
		case depth == 0:
			outer = t.Kind
		case depth == 1 && outer == jsondoc.Array:
			items++
		case depth == 1 && inEntries && t.Kind == jsondoc.Array:
			entries = 0
		case depth == 2 && inEntries && entries >= 0:
			entries++
		}
		return nil
	})
	// Where elements were handed out, one stands for all.
	if items > 0 {
		items = j.items
	}
	if entries > 0 {
		entries = j.entries
	}
	switch {
	case err != nil || j.unsound:
		return "(not valid JSON)"
	case outer == jsondoc.Array:
		return fmt.Sprintf("%s: array of %d", j.label, items)
	case outer == jsondoc.Object && entries == 1:
		return j.label + ": 1 entry."
	case outer == jsondoc.Object && entries >= 0:
		return fmt.Sprintf("%s: %d entries.", j.label, entries)
	case outer == jsondoc.Object:
		return clip(j.label+" with keys: "+strings.Join(keys, ", "), maxSummary)
	}
	return j.label
}

// sound makes lone surrogates, which the reader gives as three bytes, U+FFFD.
func sound(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
