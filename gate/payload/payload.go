// Package payload takes single fields out of a JSON document that another
// program wrote, such as the event of a workflow run. It is the way to
// gate/internal/jsondoc for the packages that stand beside gate, and keeps only
// what it was asked for: an event may be 32 MiB long, of which a handful of
// fields matter.
package payload

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
)

// The limits of a document (github-action.md 3). One that is larger or nested
// deeper is refused, never cut.
const (
	MaxBytes = 32 << 20
	maxDepth = 64 // arrays and objects, the outermost being 1
)

// Kind is the JSON type of a field.
type Kind uint8

// The kinds of a Field. Absent is the zero value.
const (
	Absent Kind = iota
	Null
	Boolean
	Number
	String
	Array
	Object
)

// String names the kind as a person would say it.
func (k Kind) String() string {
	switch k {
	case Absent:
		return "missing"
	case Null:
		return "null"
	case Boolean:
		return "a boolean"
	case Number:
		return "a number"
	case String:
		return "a string"
	case Array:
		return "an array"
	case Object:
		return "an object"
	}
	return "of an unknown type"
}

// Field is one value of a document.
type Field struct {
	Kind  Kind
	Text  string // the decoded String; "" for any other kind
	True  bool   // the value of a Boolean
	Items int    // how many items an Array has
}

// Fields are the values found, by path.
type Fields map[string]Field

// Errors of Pick, beside those that say where the text is no JSON.
var (
	ErrEmpty     = errors.New("it is empty")
	ErrTooLarge  = fmt.Errorf("it is larger than %d MiB", MaxBytes>>20)
	ErrNotObject = errors.New("it is no JSON object")
)

// Pick reads a whole document, which must be one JSON object, and gives the
// values at the wanted paths: keys joined by dots, and the index of an array's
// item as a key ("workflow_run.pull_requests.0.base.sha"). A path that the
// document lacks is absent from the result. A key that holds a dot is on no
// path.
//
// Equal keys in one object are refused: which of the two a reader takes is a
// matter of taste, and the writer of this document never writes them. A lone
// surrogate in an escape is let pass, because it is valid JSON and stands at
// most in prose that nobody here reads.
func Pick(data []byte, paths ...string) (Fields, error) {
	switch {
	case len(data) == 0:
		return nil, ErrEmpty
	case len(data) > MaxBytes:
		return nil, ErrTooLarge
	}
	w := walker{src: data, wanted: paths, found: Fields{}}
	err := jsondoc.Scan(data, jsondoc.Options{MaxDepth: maxDepth, KeepSurrogates: true}, w.token)
	if bad := (*jsondoc.Error)(nil); errors.As(err, &bad) {
		return nil, fmt.Errorf("%w (byte %d)", bad, bad.Offset)
	}
	if err != nil {
		return nil, err
	}
	return w.found, nil
}

// level is one open array or object.
type level struct {
	path  string // "" where nothing below is wanted
	array bool
	items int
	on    bool // some wanted path begins with this one
}

type walker struct {
	src    []byte
	wanted []string
	found  Fields
	open   []level
	key    string // of the member that comes next; "" when it is not wanted
}

func (w *walker) token(t jsondoc.Token) error {
	switch t.Kind {
	case jsondoc.Key:
		w.key = ""
		if w.open[len(w.open)-1].on {
			w.key = t.Text(w.src)
		}
		return nil
	case jsondoc.ObjectEnd, jsondoc.ArrayEnd:
		top := w.open[len(w.open)-1]
		w.open = w.open[:len(w.open)-1]
		if f, ok := w.found[top.path]; ok && top.on && top.array {
			f.Items = top.items
			w.found[top.path] = f
		}
		return nil
	case jsondoc.Object, jsondoc.Array, jsondoc.String, jsondoc.Number, jsondoc.True, jsondoc.False, jsondoc.Null:
	}
	if len(w.open) == 0 {
		if t.Kind != jsondoc.Object {
			return ErrNotObject
		}
		w.open = append(w.open, level{on: true})
		return nil
	}
	path, on := w.place()
	if on && slices.Contains(w.wanted, path) {
		w.found[path] = w.field(t)
	}
	if t.Kind == jsondoc.Object || t.Kind == jsondoc.Array {
		w.open = append(w.open, level{path: path, array: t.Kind == jsondoc.Array, on: on})
	}
	return nil
}

// place gives the path of the value that begins now, and whether it or
// something below it is wanted. It counts the items of arrays on the way.
func (w *walker) place() (path string, on bool) {
	top := &w.open[len(w.open)-1]
	key := w.key
	if top.array {
		key = strconv.Itoa(top.items)
		top.items++
	}
	if !top.on || key == "" {
		return "", false
	}
	if strings.Contains(key, ".") {
		return "", false
	}
	path = key
	if top.path != "" {
		path = top.path + "." + key
	}
	for _, want := range w.wanted {
		if rest, found := strings.CutPrefix(want, path); found && (rest == "" || rest[0] == '.') {
			return path, true
		}
	}
	return "", false
}

func (w *walker) field(t jsondoc.Token) Field {
	switch t.Kind {
	case jsondoc.Object:
		return Field{Kind: Object}
	case jsondoc.Array:
		return Field{Kind: Array}
	case jsondoc.String:
		return Field{Kind: String, Text: t.Text(w.src)}
	case jsondoc.Number:
		return Field{Kind: Number}
	case jsondoc.True, jsondoc.False:
		return Field{Kind: Boolean, True: t.Kind == jsondoc.True}
	case jsondoc.Null:
		return Field{Kind: Null}
	case jsondoc.Key, jsondoc.ObjectEnd, jsondoc.ArrayEnd:
	}
	return Field{}
}

// Cut prepares text from outside for a message: it drops control and format
// characters and cuts at limit characters.
func Cut(s string, limit int) string { return safetext.Cut(s, limit) }
