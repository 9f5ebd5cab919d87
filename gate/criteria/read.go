package criteria

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
)

// Document is what a document says of acceptance criteria.
type Document struct {
	Sections []Section // in the order of the document

	// OpenFence is the line of a code fence that is still open at the end of the
	// document, 0 for none, and Lost how many lines after it are not read.
	OpenFence, Lost int
}

// Section is one list of acceptance criteria. Lines are 1-based, 0 for none.
type Section struct {
	Line     int
	Alias    string // the legacy heading it stands under, in lower case; "" for the canonical one
	Task     string // the id of the task in scope; "" for none
	Criteria int    // how many there are, task boxes and plain items
	Plain    int    // the line of the first plain item
	Open     int    // the line of the first box that is neither checked nor settled
}

// canonical is the heading of a criteria section; aliases are those that older
// documents use (aahp-authoring.md 5.2).
const canonical = "acceptance criteria"

var aliases = []string{"completion criteria", "definition of done"}

// Read reads a document (aahp-authoring.md 5.2). It understands the shapes that
// are written there and no others: what it cannot read it leaves out, and which
// shapes these are is in the documentation.
func Read(text []byte) Document {
	r := reader{rest: string(text), more: len(text) > 0}
	r.advance()
	for r.more {
		r.line++
		line := r.next
		r.advance()
		r.read(line)
	}
	r.endSection()
	if r.fence.length > 0 {
		r.doc.OpenFence, r.doc.Lost = r.fenceLine, r.line-r.fenceLine
	}
	return r.doc
}

// reader goes through a document line by line and sees one line ahead.
type reader struct {
	rest string
	next string // the line after the current one
	more bool   // there is one
	line int    // the number of the current line

	fence     fence // the open one; its length is 0 outside of any
	fenceLine int
	scope     scope
	section   *Section // the open one

	doc Document
}

// scope is the task that a section belongs to. Its level is that of the heading
// that opened it, and one that every heading closes for a bold label.
type scope struct {
	task  string
	level int
}

const labelLevel = 7 // headings have 1 to 6

// advance looks at the next line. Lines end at LF or CRLF.
func (r *reader) advance() {
	if r.rest == "" {
		r.next, r.more = "", false
		return
	}
	r.next, r.rest, _ = strings.Cut(r.rest, "\n")
	r.next = strings.TrimSuffix(r.next, "\r")
}

func (r *reader) read(line string) {
	if r.fence.length > 0 {
		if r.fence.closedBy(line) {
			r.fence = fence{}
		}
		return
	}
	if f, ok := openFence(line); ok {
		r.fence, r.fenceLine = f, r.line
		return
	}
	if level, text, ok := atxHeading(line); ok {
		r.heading(level, text, r.line)
		return
	}
	it, isItem := listItem(line)
	if !isItem && !isBreak(line) && r.more {
		if level, ok := underline(r.next); ok && mayBeSetext(line) {
			at := r.line
			r.line++
			r.advance()
			r.heading(level, ecma.Trim(line), at)
			return
		}
	}
	if text, ok := boldLabel(line); ok {
		r.endSection()
		if !r.open(text, r.line) {
			if id := taskID(text); id != "" {
				r.scope = scope{id, labelLevel}
			}
		}
		return
	}
	switch {
	case r.section == nil:
	case beginsBold(line), isBreak(line):
		r.endSection()
	case isItem && it.indent < detailIndent:
		r.criterion(line, it.text)
	}
}

// heading takes a heading: its effect on the scope comes before the section that
// it may open.
func (r *reader) heading(level int, text string, line int) {
	r.endSection()
	if id := taskID(text); id != "" {
		r.scope = scope{id, level}
	} else if level <= r.scope.level {
		r.scope = scope{}
	}
	r.open(text, line)
}

// open begins a section where the text of a heading or label is one of the
// recognised phrases.
func (r *reader) open(text string, line int) bool {
	alias, ok := phrase(text)
	if ok {
		r.section = &Section{Line: line, Alias: alias, Task: r.scope.task}
	}
	return ok
}

func (r *reader) endSection() {
	if r.section != nil {
		r.doc.Sections = append(r.doc.Sections, *r.section)
		r.section = nil
	}
}

// detailIndent is from how many characters of white space on an item belongs to
// the criterion above it.
const detailIndent = 2

func (r *reader) criterion(line, text string) {
	s := r.section
	s.Criteria++
	switch {
	case strings.HasPrefix(text, "[x]"), strings.HasPrefix(text, "[X]"):
	case strings.HasPrefix(text, "[ ]"):
		if s.Open == 0 && !settled(line) {
			s.Open = r.line
		}
	case s.Plain == 0:
		s.Plain = r.line
	}
}

// phrase tells whether a text names a criteria section, and by which alias.
func phrase(text string) (alias string, ok bool) {
	text = withoutStars(text)
	text = withoutStars(strings.TrimSuffix(text, ":"))
	text = strings.ToLower(strings.Join(strings.FieldsFunc(text, ecma.IsSpace), " "))
	if text == canonical {
		return "", true
	}
	for _, a := range aliases {
		if text == a {
			return a, true
		}
	}
	return "", false
}

func withoutStars(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return r == '*' || ecma.IsSpace(r) })
}

var taskIDs = regexp.MustCompile(`\bT-[0-9]{3,}\b`)

// taskID gives the first task id of a text; "" when it has none.
func taskID(text string) string { return strings.Clone(taskIDs.FindString(text)) }

// settlements are the words by which an open box says that it stays open for a
// reason, or where its criterion went.
var settlements = []string{"waived", "waiver", "follow-up", "followup", "moved"}

// settled tells whether a line holds (waived: reason), (follow-up: reference) or
// another form of these, in any case, with a reason that is not blank.
func settled(line string) bool {
	for {
		open := strings.IndexByte(line, '(')
		if open < 0 {
			return false
		}
		line = line[open+1:]
		reason, ok := settlement(strings.TrimLeftFunc(line, ecma.IsSpace))
		if !ok {
			continue
		}
		end := strings.IndexByte(reason, ')')
		if end < 0 {
			return false // so no later one ends either
		}
		if ecma.Trim(reason[:end]) != "" {
			return true
		}
	}
}

// settlement gives what stands after "waived:" or another such word.
func settlement(s string) (reason string, ok bool) {
	for _, word := range settlements {
		if len(s) < len(word) || !strings.EqualFold(s[:len(word)], word) {
			continue
		}
		if reason, ok = strings.CutPrefix(strings.TrimLeftFunc(s[len(word):], ecma.IsSpace), ":"); ok {
			return reason, true
		}
	}
	return "", false
}

// maxIndent is how many characters of white space may stand before what is no
// list item ("s3" in the specification).
const maxIndent = 3

// indented counts the white space at the beginning of a line, in characters, and
// gives the rest of the line.
func indented(line string) (n int, rest string) {
	rest = strings.TrimLeftFunc(line, ecma.IsSpace)
	return utf8.RuneCountInString(line[:len(line)-len(rest)]), rest
}

// atMargin gives a line without the white space before it, where that is no more
// than maxIndent.
func atMargin(line string) (rest string, ok bool) {
	n, rest := indented(line)
	return rest, n <= maxIndent
}

// run counts how often a line begins with a character.
func run(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

// fence is the opening line of a code block.
type fence struct {
	char   byte
	length int
}

const shortestFence = 3

func openFence(line string) (fence, bool) {
	rest, ok := atMargin(line)
	if !ok || rest == "" || rest[0] != '`' && rest[0] != '~' {
		return fence{}, false
	}
	f := fence{rest[0], run(rest, rest[0])}
	if f.length < shortestFence || f.char == '`' && strings.IndexByte(rest[f.length:], '`') >= 0 {
		return fence{}, false
	}
	return f, true
}

func (f fence) closedBy(line string) bool {
	rest, ok := atMargin(line)
	n := run(rest, f.char)
	return ok && n >= f.length && ecma.Trim(rest[n:]) == ""
}

// atxHeading reads "## Text".
func atxHeading(line string) (level int, text string, ok bool) {
	rest, ok := atMargin(line)
	level = run(rest, '#')
	after := rest[level:]
	text = ecma.Trim(after)
	first, _ := utf8.DecodeRuneInString(after)
	if !ok || level < 1 || level > 6 || !ecma.IsSpace(first) {
		return 0, "", false
	}
	return level, text, true
}

// mayBeSetext tells whether a line that is no item and no break may be the text of
// a heading that is underlined.
func mayBeSetext(line string) bool {
	rest, ok := atMargin(line)
	return ok && rest != ""
}

// underline tells the line below the text of a heading: only "=" for level 1, only
// "-" for level 2.
func underline(line string) (level int, ok bool) {
	rest, ok := atMargin(line)
	rest = ecma.Trim(rest)
	switch {
	case !ok || rest == "":
	case run(rest, '=') == len(rest):
		return 1, true
	case run(rest, '-') == len(rest):
		return 2, true
	}
	return 0, false
}

const shortestBreak = 3

// isBreak tells a line of three or more "-", "=" or "*" alone.
func isBreak(line string) bool {
	rest, ok := atMargin(line)
	rest = ecma.Trim(rest)
	if !ok || len(rest) < shortestBreak || strings.IndexByte("-=*", rest[0]) < 0 {
		return false
	}
	return run(rest, rest[0]) == len(rest)
}

const bold = "**"

// boldLabel reads a line that is only "**Text**", or that with a colon after it.
func boldLabel(line string) (text string, ok bool) {
	rest, ok := atMargin(line)
	if !ok {
		return "", false
	}
	rest, ok = strings.CutPrefix(strings.TrimSuffix(ecma.Trim(rest), ":"), bold)
	if !ok {
		return "", false
	}
	text, ok = strings.CutSuffix(rest, bold)
	return text, ok && text != "" && strings.IndexByte(text, '*') < 0
}

func beginsBold(line string) bool {
	rest, ok := atMargin(line)
	return ok && strings.HasPrefix(rest, bold)
}

// item is a list item.
type item struct {
	indent int    // characters of white space before its marker
	text   string // what stands after the marker
}

const maxNumber = 9 // digits of the marker of an ordered list

func listItem(line string) (item, bool) {
	indent, rest := indented(line)
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	switch {
	case n >= len(rest), n > maxNumber:
		return item{}, false
	case n > 0 && (rest[n] == '.' || rest[n] == ')'):
	case n == 0 && strings.IndexByte("-*+", rest[0]) >= 0:
	default:
		return item{}, false
	}
	after := rest[n+1:]
	text := strings.TrimLeftFunc(after, ecma.IsSpace)
	if len(text) == len(after) {
		return item{}, false // no white space after the marker
	}
	return item{indent, text}, true
}
