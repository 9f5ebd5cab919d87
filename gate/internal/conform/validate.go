// Package conform judges a document that was read strictly by one of the
// project's schemas, and says for each broken constraint what is wrong in one
// plain sentence, and where (aahp-schemas.md 1).
package conform

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/schema"
)

// Violation is one constraint that a document breaks.
type Violation struct {
	Keyword    string         // the schema keyword: "type", "required", …
	Path       []string       // keys and indexes from the root to the value
	Pointer    string         // the same as an RFC 6901 pointer, safe to print
	Value      *jsondoc.Value // the refused value; the object that lacks or holds Key
	Key        string         // the missing or unknown key, as it is
	Suggestion string         // for an unknown key the known key it resembles, or ""
	Span       report.Span    // of the value; of the object's brace or the unknown key
	Message    string         // one sentence, safe to print
	Allowed    string         // what the schema says: "must be …"
	Example    string         // a value that would do, as JSON, or ""
}

// Options of Validate.
type Options struct {
	// Mask hides what must not be printed, a credential or an address, in text
	// from the document; nil hides nothing.
	Mask func(string) string
}

// Validate judges a document by its schema and gives every constraint that it
// breaks, in the order of the document; it stops at about MaxViolations of them.
// The document must have been read by the strict rules; of equal keys the last
// counts.
func Validate(k schema.Kind, doc *jsondoc.Document, o Options) []Violation {
	return validate(k, doc, o, pieceSize)
}

// validate is Validate with pieces of another size.
func validate(k schema.Kind, doc *jsondoc.Document, o Options, size int) []Violation {
	c := schema.Get(k)
	j := judge{schema: c, doc: doc, mask: o.Mask, size: size}
	j.split(c.Root, doc.Root, nil)
	slices.SortStableFunc(j.found, func(a, b Violation) int {
		return cmp.Or(
			cmp.Compare(a.Span.Line, b.Span.Line),
			cmp.Compare(a.Span.Column, b.Span.Column),
			strings.Compare(a.Keyword, b.Keyword),
			strings.Compare(a.Key, b.Key),
			strings.Compare(a.Message, b.Message),
		)
	})
	return j.found
}

// tree builds what the validator takes. What is nested deeper than any schema
// looks is left out.
func tree(v *jsondoc.Value, depth int) any {
	switch v.Kind {
	case jsondoc.Object:
		m := make(map[string]any, len(v.Members))
		if depth <= gate.MaxDepth {
			for _, member := range v.Members {
				m[member.Key] = tree(member.Value, depth+1)
			}
		}
		return m
	case jsondoc.Array:
		items := make([]any, len(v.Items))
		if depth <= gate.MaxDepth {
			for i, item := range v.Items {
				items[i] = tree(item, depth+1)
			}
		}
		return items
	case jsondoc.String:
		return v.Text
	case jsondoc.Number:
		return stand(v.Text)
	case jsondoc.True, jsondoc.False:
		return v.Kind == jsondoc.True
	case jsondoc.ObjectEnd, jsondoc.ArrayEnd, jsondoc.Key, jsondoc.Null:
	}
	return nil
}

// judge turns errors of the validator into violations.
type judge struct {
	schema *schema.Compiled
	doc    *jsondoc.Document
	mask   func(string) string
	size   int // of a piece, in bytes of the document
	found  []Violation
}

// leaf makes the violations of one broken constraint at a path of the document.
func (j *judge) leaf(e *jsonschema.ValidationError, path []string) {
	value := j.locate(path)
	v := Violation{Path: path, Pointer: j.pointer(path), Value: value, Span: j.doc.At(value)}
	if p := e.ErrorKind.KeywordPath(); len(p) > 0 {
		v.Keyword = p[0]
	}
	allowed, example := j.schema.Prose(e.SchemaURL)
	v.Allowed, v.Example = allowed, asJSON(example)

	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, key := range k.Missing {
			w := v
			w.Key = key
			w.Message = fmt.Sprintf("%s lacks the required key %q.", v.Pointer, key)
			w.Allowed, w.Example = j.member(e.SchemaURL, key)
			j.found = append(j.found, w)
		}
		return
	case *kind.AdditionalProperties:
		for _, key := range k.Properties {
			j.found = append(j.found, j.unknown(v, e.SchemaURL, key))
		}
		return
	case *kind.MinLength:
		v.Message = fmt.Sprintf("%s has %s, but must have at least %d.", v.Pointer, plural.Of(k.Got, "character"), k.Want)
		if k.Got == 0 {
			v.Message = v.Pointer + " is an empty text, but must not be empty."
		}
	case *kind.MaxLength:
		v.Message = fmt.Sprintf("%s has %s, but may have at most %d.", v.Pointer, plural.Of(k.Got, "character"), k.Want)
	case *kind.Minimum:
		v.Message = fmt.Sprintf("%s is %s, but must be %s or more.", v.Pointer, j.show(value), whole(k.Want))
	case *kind.Maximum:
		v.Message = fmt.Sprintf("%s is %s, but must be %s or less.", v.Pointer, j.show(value), whole(k.Want))
	case *kind.Not:
		v.Keyword = "not"
		v.Message = fmt.Sprintf("%s is %s, but %s.", v.Pointer, j.show(value), v.Allowed)
	case *kind.AnyOf:
		v.Message = fmt.Sprintf("%s is %s that lacks what is required: it %s.", v.Pointer, j.show(value), v.Allowed)
	case *kind.Type, *kind.Enum, *kind.Const, *kind.Format, *kind.Pattern:
		v.Message = fmt.Sprintf("%s is %s, but %s.", v.Pointer, j.show(value), v.Allowed)
	default:
		v.Message = fmt.Sprintf("%s is %s, which breaks the keyword %q of the schema.", v.Pointer, j.show(value), v.Keyword)
	}
	j.found = append(j.found, v)
}

// unknown makes the violation of a key that an object may not have. It is
// placed at the key, and its path leads to the member.
func (j *judge) unknown(v Violation, location, key string) Violation {
	object := v.Pointer
	v.Key = key
	v.Path = append(slices.Clone(v.Path), key)
	v.Pointer = j.pointer(v.Path)
	if m, ok := v.Value.Member(key); ok {
		v.Span = j.doc.AtKey(m)
	}
	shown := `"` + j.clean(key) + `"`
	part := j.schema.Part(location)
	if part != nil && part.PropertyNames != nil {
		allowed, example := j.schema.Prose(part.PropertyNames.Location)
		v.Allowed, v.Example = allowed, asJSON(example)
		v.Message = fmt.Sprintf("%s has the key %s, but a key there %s.", object, shown, v.Allowed)
		return v
	}
	v.Message = fmt.Sprintf("%s has the unknown key %s.", object, shown)
	v.Allowed, v.Example = "", ""
	if part == nil {
		return v
	}
	known := slices.Sorted(maps.Keys(part.Properties))
	v.Allowed = "must be one of " + strings.Join(known, ", ")
	if near, ok := schema.Nearest(key, known); ok {
		v.Suggestion = near
		v.Message = fmt.Sprintf("%s has the unknown key %s; did you mean %q?", object, shown, near)
	}
	return v
}

// member gives the prose of the member that an object schema declares.
func (j *judge) member(location, key string) (allowed, example string) {
	part := j.schema.Part(location)
	if part == nil || part.Properties[key] == nil {
		return "", ""
	}
	sub := part.Properties[key]
	if sub.Description == "" && sub.Ref != nil {
		sub = sub.Ref
	}
	text, value := j.schema.Prose(sub.Location)
	return text, asJSON(value)
}

// locate finds a value by its path. A path that the document does not have
// would be a bug of the validator; the root stands in for it.
func (j *judge) locate(path []string) *jsondoc.Value {
	v := j.doc.Root
	for _, token := range path {
		next := v.Get(token)
		if v.Kind == jsondoc.Array {
			if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v.Items) {
				next = v.Items[i]
			}
		}
		if next == nil {
			return j.doc.Root
		}
		v = next
	}
	return v
}

// pointer writes a path as an RFC 6901 pointer that is safe to print.
func (j *judge) pointer(path []string) string {
	if len(path) == 0 {
		return "(root)"
	}
	var b strings.Builder
	for _, token := range path {
		b.WriteByte('/')
		b.WriteString(jsondoc.PointerToken(j.masked(token)))
		if b.Len() > 4*safetext.Limit {
			break // more would be cut anyway
		}
	}
	return safetext.Clean(b.String())
}

func (j *judge) masked(text string) string {
	if j.mask == nil {
		return text
	}
	return j.mask(text)
}

func (j *judge) clean(text string) string { return safetext.Clean(j.masked(text)) }

// show names a value in a sentence.
func (j *judge) show(v *jsondoc.Value) string {
	switch v.Kind {
	case jsondoc.String:
		if v.Text == "" {
			return "an empty text"
		}
		return `"` + j.clean(v.Text) + `"`
	case jsondoc.Number:
		return "the number " + j.clean(v.Text)
	case jsondoc.Object:
		return "an object"
	case jsondoc.Array:
		return "an array"
	case jsondoc.True:
		return "true"
	case jsondoc.False:
		return "false"
	case jsondoc.ObjectEnd, jsondoc.ArrayEnd, jsondoc.Key, jsondoc.Null:
	}
	return "null"
}

func whole(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	return r.RatString()
}

// asJSON writes an example of a schema; "" for none.
func asJSON(v any) string {
	if v == nil {
		return ""
	}
	b, err := json.Marshal(v)
	if err != nil || !utf8.Valid(b) {
		return ""
	}
	return string(b)
}
