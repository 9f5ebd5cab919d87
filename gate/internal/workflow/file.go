// Package workflow reads GitHub Actions workflows as YAML nodes with their
// lines, and proves what the gate must know of one. A workflow is content of
// the change under test: loading one is safe whatever it holds. Load never
// follows an alias, Read puts what is meant in its place, within bounds.
package workflow

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
)

// maxDepth bounds nesting. GitHub refuses a workflow nested deeper than some
// fifty levels; an honest one has about eight.
const maxDepth = 100

// Error says why a workflow is not what it should be, and where.
type Error struct {
	Line    int    // 1-based; 0 where none is known
	Message string // outside text in it is already cleaned
}

// Error gives the message without the line.
func (e *Error) Error() string { return e.Message }

func failf(line int, format string, args ...any) *Error {
	return &Error{Line: line, Message: fmt.Sprintf(format, args...)}
}

// File is a workflow: one YAML document, no tab in its indentation, and no two
// equal keys in any mapping.
type File struct {
	Root *yaml.Node // of a file from Load the top mapping, of one from Read any node
}

// Member is one key of a mapping with its value.
type Member struct {
	Key, Value *yaml.Node
}

// Load parses a workflow whose top is a block mapping. The error is an *Error.
func Load(data []byte) (*File, error) {
	f, err := load(data)
	if err != nil {
		return nil, within(data, err)
	}
	if f.Root.Kind != yaml.MappingNode || f.Root.Style&yaml.FlowStyle != 0 {
		return nil, within(data, failf(f.Root.Line, "its top level is not a block mapping"))
	}
	return f, nil
}

// within keeps a line inside the file: the library counts one more for a node
// that begins where the file ends.
func within(data []byte, err error) error {
	var e *Error
	if errors.As(err, &e) {
		e.Line = min(e.Line, bytes.Count(data, []byte{'\n'})+1)
	}
	return err
}

func load(data []byte) (*File, error) {
	if len(data) > gate.MaxWorkflow {
		return nil, failf(0, "it is larger than %d bytes", gate.MaxWorkflow)
	}
	if !utf8.Valid(data) {
		return nil, failf(0, "it is not valid UTF-8")
	}
	if line := oddBreak(data); line > 0 {
		return nil, failf(line, "a line ends in neither LF nor CR LF, and readers disagree about such ends")
	}
	doc, err := parse(data)
	if err != nil {
		return nil, err
	}
	root := doc.Content[0]
	text := lineTable(data)
	w := walker{inBlock: make([]bool, len(text)), text: text}
	if err := w.walk(root, 0, 1); err != nil {
		return nil, err
	}
	if err := w.tabs(); err != nil {
		return nil, err
	}
	return &File{Root: root}, nil
}

// oddBreak finds a line break that YAML 1.1 knows and YAML 1.2 does not (NEL, LS,
// PS), or a CR alone, and gives its line; 0 when there is none. With one of them
// a key can be in a comment for one reader and count for another.
func oddBreak(data []byte) int {
	at := -1
	for _, odd := range []string{"\u0085", "\u2028", "\u2029"} {
		if i := bytes.Index(data, []byte(odd)); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	for i, c := range data {
		if c == '\r' && (i+1 == len(data) || data[i+1] != '\n') && (at < 0 || i < at) {
			at = i
			break
		}
	}
	if at < 0 {
		return 0
	}
	return 1 + bytes.Count(data[:at], []byte{'\n'})
}

// parse reads the one document of a stream. The library answers some malformed
// input with a panic of its own making; that is a malformed document too.
func parse(data []byte) (doc *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			doc, err = nil, failf(0, "the YAML cannot be read")
		}
	}()
	d := yaml.NewDecoder(bytes.NewReader(data))
	doc = new(yaml.Node)
	if err := d.Decode(doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, failf(0, "it is empty")
		}
		return nil, yamlError(err)
	}
	var next yaml.Node
	switch err := d.Decode(&next); {
	case err == nil:
		return nil, failf(next.Line, "it holds more than one YAML document")
	case !errors.Is(err, io.EOF):
		return nil, yamlError(err)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, failf(0, "it is empty")
	}
	return doc, nil
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line ([0-9]{1,9}): )?`)

// ofParser are the messages of the library's parser, whose line it counts from 0;
// its scanner counts from 1.
var ofParser = regexp.MustCompile(`^(?:did not find expected (?:<|node content|'-' indicator|key|',' or )|found (?:undefined tag handle|duplicate %|incompatible YAML document))`)

// yamlError takes the line out of the library's message.
func yamlError(err error) *Error {
	message := err.Error()
	line := 0
	if m := yamlLine.FindStringSubmatch(message); m != nil {
		message = message[len(m[0]):]
		line, _ = strconv.Atoi(m[1])
	}
	if ofParser.MatchString(message) {
		line++
	}
	return failf(line, "it is not valid YAML: %s", safetext.Clean(message))
}

// lineTable splits a text into its lines, without LF and CR LF.
func lineTable(data []byte) [][]byte {
	text := bytes.Split(data, []byte{'\n'})
	for i := range text {
		text[i] = bytes.TrimSuffix(text[i], []byte{'\r'})
	}
	return text
}

// walker visits the nodes of a file once.
type walker struct {
	text    [][]byte
	inBlock []bool // of each line: it is content of a block scalar
}

// walk holds every mapping to distinct scalar keys and notes which lines are
// content of a block scalar. Such content is indented by more than the key or
// the dash that the scalar belongs to; outer is that one's column, 1-based.
func (w *walker) walk(n *yaml.Node, outer, depth int) error {
	if depth > maxDepth {
		return failf(n.Line, "it is nested deeper than %d levels", maxDepth)
	}
	switch n.Kind {
	case yaml.MappingNode:
		if err := distinct(n); err != nil {
			return err
		}
	case yaml.ScalarNode:
		if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			w.block(n.Line, outer)
		}
	case yaml.DocumentNode, yaml.SequenceNode, yaml.AliasNode:
	}
	for i, c := range n.Content {
		column := n.Column
		if n.Kind == yaml.MappingNode {
			column = n.Content[i&^1].Column
		}
		if err := w.walk(c, column, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// distinct reports the second of two equal keys. Keys are compared as text,
// which is how GitHub reads them: 1 and "1" are equal.
func distinct(n *yaml.Node) error {
	seen := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		key := k
		if k.Kind == yaml.AliasNode {
			key = k.Alias
		}
		if key == nil || key.Kind != yaml.ScalarNode {
			return failf(k.Line, "a mapping has a key that is no plain text")
		}
		if line, twice := seen[key.Value]; twice {
			return failf(k.Line, "a mapping has the key %q twice (first in line %d)", safetext.Clean(key.Value), line)
		}
		seen[key.Value] = k.Line
	}
	return nil
}

// block marks the content of the block scalar whose header stands in a line.
// The content begins at its first line that is not blank, if that is indented by
// outer blanks at least, and goes on while lines are blank or indented as far as
// the first. A scalar with an explicit indentation may go further than this
// notes; a tab there is refused then, which errs on the safe side.
func (w *walker) block(header, outer int) {
	indent := -1
	for i := header; i < len(w.text); i++ { // header is 1-based: this is the next line
		spaces, rest := indentation(w.text[i])
		if len(rest) > 0 {
			if indent < 0 {
				indent = max(spaces, outer)
			}
			if spaces < indent {
				return
			}
		}
		w.inBlock[i] = true
	}
}

// indentation counts the blanks at the start of a line.
func indentation(line []byte) (spaces int, rest []byte) {
	rest = bytes.TrimLeft(line, " ")
	return len(line) - len(rest), rest
}

// tabs refuses a tab among the white space that a line begins with, where that
// is indentation: not in a block scalar, a blank line or a comment (some of
// which the library refuses all the same).
func (w *walker) tabs() error {
	for i, line := range w.text {
		if w.inBlock[i] {
			continue
		}
		rest := bytes.TrimLeft(line, " \t")
		if len(rest) > 0 && rest[0] != '#' && bytes.IndexByte(line[:len(line)-len(rest)], '\t') >= 0 {
			return failf(i+1, "a tab stands in the indentation")
		}
	}
	return nil
}

// Get finds the member of a mapping whose key is a scalar with exactly that
// text; ok is false where n is no mapping or has none.
func Get(n *yaml.Node, key string) (m Member, ok bool) {
	if n == nil || n.Kind != yaml.MappingNode {
		return Member{}, false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := n.Content[i]; k.Kind == yaml.ScalarNode && k.Value == key {
			return Member{Key: k, Value: n.Content[i+1]}, true
		}
	}
	return Member{}, false
}

// Indirection finds the first alias or merge key in a node and below it, its
// keys included; nil when there is none.
func Indirection(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n
	}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && isMergeKey(c) {
			return c
		}
		if found := Indirection(c); found != nil {
			return found
		}
	}
	return nil
}

// Triggers gives the member `on` of a workflow. Where a reader of YAML 1.1 has
// rewritten the file, its key is the boolean true; both at once are no trigger,
// since readers disagree about them.
func (f *File) Triggers() (Member, error) {
	on, isOn := Get(f.Root, "on")
	yes, isTrue := f.booleanTrue()
	switch {
	case isOn && isTrue:
		return Member{}, failf(yes.Key.Line, "it has both the key on and the key true, which some readers take for the same")
	case isOn:
		return on, nil
	case isTrue:
		return yes, nil
	}
	return Member{}, failf(0, "it has no key on")
}

func (f *File) booleanTrue() (Member, bool) {
	for i := 0; i+1 < len(f.Root.Content); i += 2 {
		k := f.Root.Content[i]
		if k.Kind == yaml.ScalarNode && k.ShortTag() == "!!bool" && (k.Value == "true" || k.Value == "True" || k.Value == "TRUE") {
			return Member{Key: k, Value: f.Root.Content[i+1]}, true
		}
	}
	return Member{}, false
}
