package ecma

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"sync"

	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
)

// Document is a text that was read with JSON.parse, kept as JSON.stringify
// writes it.
type Document struct {
	Kind jsondoc.Kind // of the whole value
	Line int          // where it begins
	// Repeated are the keys that an object anywhere has had already.
	Repeated []Repeated
	// Elements are those of the member that Options.Elements names.
	Elements []Value

	w      Writer
	fields []Field // in the order of the text, the last of equal keys
}

// Repeated is a key that an object has had already.
type Repeated struct {
	Key  string
	Line int
}

// Field is a member of the outermost object. Of equal keys it is the last one.
type Field struct {
	Key  string
	Line int // of the key
	Value
}

// Value is a value as JSON.stringify writes it.
type Value struct {
	Kind jsondoc.Kind // 0: there is none
	Line int          // where it begins
	JSON []byte

	number float64 // of a Number; it may be infinite, which JSON shows as null
}

// Options of Read.
type Options struct {
	MaxDepth int
	// Elements names a member of the outermost object: of an array there, the
	// elements are listed with their lines.
	Elements string
}

// Read reads one text whole. The error is an *Error where it is not JSON, else
// that of r.
func Read(r io.Reader, o Options) (*Document, error) {
	d := &Document{}
	v := &documentVisitor{d: d, elements: o.Elements}
	t := NewTokenizer(v, o.MaxDepth)
	v.t = t
	d.w.Repeated = func(key string) { d.Repeated = append(d.Repeated, Repeated{key, t.Line()}) }
	if err := Copy(t, r); err != nil {
		return nil, err
	}
	d.w.finish()
	v.settle()
	return d, nil
}

// buffers are handed from one text to the next: most texts are much shorter.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// Copy gives a whole text to a Tokenizer.
func Copy(t *Tokenizer, r io.Reader) error {
	d := NewDecoder(t)
	buffer := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	if _, err := io.CopyBuffer(onlyWriter{d}, onlyReader{r}, buffer[:]); err != nil {
		return err
	}
	if err := d.Flush(); err != nil {
		return err
	}
	return t.Finish()
}

// onlyWriter and onlyReader keep io.CopyBuffer to its buffer.
type (
	onlyWriter struct{ io.Writer }
	onlyReader struct{ io.Reader }
)

// documentVisitor notes lines beside what the Writer writes.
type documentVisitor struct {
	d        *Document
	t        *Tokenizer
	elements string
	depth    int
	values   map[string]Field // the members of the outermost object, but for JSON
	key      string           // of them, the one that is read
	items    []item
}

// item is an element of the named member.
type item struct {
	span
	Value
}

func (v *documentVisitor) Open(k jsondoc.Kind) {
	v.value(k)
	v.depth++
	v.d.w.Open(k)
}

// value notes the beginning of a value.
func (v *documentVisitor) value(k jsondoc.Kind) {
	switch v.depth {
	case 0:
		v.d.Kind, v.d.Line = k, v.t.Line()
	case 1:
		if f, ok := v.values[v.key]; ok { // else it is an element
			f.Value = Value{Kind: k, Line: v.t.Line()}
			v.values[v.key] = f
		}
		if v.key == v.elements {
			v.items = v.items[:0]
		}
	case 2:
		if v.listing() {
			v.items = append(v.items, item{span{len(v.d.w.out), 0}, Value{Kind: k, Line: v.t.Line()}})
		}
	}
}

// listing tells whether an element of the named member is read.
func (v *documentVisitor) listing() bool {
	return v.elements != "" && v.key == v.elements && v.depth == 2 && !v.d.w.open[1].object && v.d.Kind == jsondoc.Object
}

// ended notes the end of a value.
func (v *documentVisitor) ended() {
	if v.listing() {
		v.items[len(v.items)-1].end = len(v.d.w.out)
	}
}

func (v *documentVisitor) Close() {
	v.d.w.Close()
	v.depth--
	v.ended()
}

func (v *documentVisitor) Text(part []byte) {
	v.begun()
	v.d.w.Text(part)
}

// begun notes the beginning of a string at its first part.
func (v *documentVisitor) begun() {
	if !v.d.w.text && !v.d.w.key {
		v.value(jsondoc.String)
	}
}

func (v *documentVisitor) Key() {
	v.d.w.Key()
	if v.depth == 1 {
		m := v.d.w.members[len(v.d.w.members)-1]
		v.key = text(v.d.w.out[m.start:m.colon])
		if v.values == nil {
			v.values = map[string]Field{}
		}
		v.values[v.key] = Field{Key: v.key, Line: v.t.Line()}
	}
}

func (v *documentVisitor) String() {
	v.begun()
	v.d.w.String()
	v.ended()
}

func (v *documentVisitor) Atom(k jsondoc.Kind, spelling []byte) {
	v.value(k)
	if k == jsondoc.Number && v.depth == 1 {
		if f, ok := v.values[v.key]; ok {
			f.number = Number(spelling)
			v.values[v.key] = f
		}
	} else if k == jsondoc.Number && v.listing() {
		v.items[len(v.items)-1].number = Number(spelling)
	}
	v.d.w.Atom(k, spelling)
	v.ended()
}

// settle lists what was noted.
func (v *documentVisitor) settle() {
	d := v.d
	for _, m := range d.w.root.list {
		f := v.values[text(d.w.out[m.start:m.colon])]
		f.JSON = d.w.piece(span{m.colon + 1, m.end})
		d.fields = append(d.fields, f)
	}
	for _, it := range v.items {
		it.JSON = d.w.piece(skipComma(d.w.out, it.span))
		d.Elements = append(d.Elements, it.Value)
	}
}

// skipComma leaves out the comma before an element.
func skipComma(out []byte, s span) span {
	if out[s.start] == ',' {
		s.start++
	}
	return s
}

// Fields are the members of the outermost object, in the order in which
// JSON.stringify writes them.
func (d *Document) Fields() []Field { return d.fields }

// Field finds the member of the outermost object with that key.
func (d *Document) Field(key string) (Field, bool) {
	for _, f := range d.fields {
		if f.Key == key {
			return f, true
		}
	}
	return Field{}, false
}

// WriteTo writes the value as JSON.stringify does, without those members of the
// outermost object.
func (d *Document) WriteTo(to io.Writer, without ...string) error {
	if !d.w.root.object {
		return d.w.copyTo(to, span{0, len(d.w.out)})
	}
	sep := []byte{'{'}
	for i, m := range d.w.root.list {
		if slices.Contains(without, d.fields[i].Key) {
			continue
		}
		if _, err := to.Write(sep); err != nil {
			return err
		}
		sep = []byte{','}
		if err := d.w.copyTo(to, m.span); err != nil {
			return err
		}
	}
	end := []byte{'}'}
	if sep[0] == '{' {
		end = []byte("{}")
	}
	_, err := to.Write(end)
	return err
}

// SHA256 is the digest of what WriteTo writes, in lower-case hex.
func (d *Document) SHA256(without ...string) string {
	h := sha256.New()
	_ = d.WriteTo(h, without...) // a hash takes everything
	return hex.EncodeToString(h.Sum(nil))
}

// Text gives the characters of a string; surrogates that stand alone have three
// bytes each. It is false for what is no string.
func (v Value) Text() (string, bool) {
	if v.Kind != jsondoc.String {
		return "", false
	}
	return text(v.JSON), true
}

// Number gives the value of a number, which may be infinite. It is false for what
// is none.
func (v Value) Number() (float64, bool) { return v.number, v.Kind == jsondoc.Number }

// Fields are the members of an object; none of anything else.
func (v Value) Fields() []Field {
	if v.Kind != jsondoc.Object {
		return nil
	}
	d, err := Read(bytes.NewReader(v.JSON), Options{MaxDepth: len(v.JSON)})
	if err != nil {
		return nil // not what JSON.stringify wrote
	}
	return d.Fields()
}

// Equals tells whether two values are equal as JSON values. Two objects are,
// whatever the order of their members; what is absent equals what is absent.
func (v Value) Equals(other Value) bool {
	switch {
	case v.Kind != other.Kind:
		return false
	case v.Kind == jsondoc.Number:
		return v.number == other.number
	}
	return bytes.Equal(v.JSON, other.JSON) || equalJSON(v.JSON, other.JSON)
}

// equalJSON compares two texts that JSON.stringify wrote.
func equalJSON(a, b []byte) bool {
	if a[0] != b[0] || a[0] != '{' && a[0] != '[' {
		return false
	}
	o := jsondoc.Options{KeepEqualKeys: true, KeepSurrogates: true}
	x, err := jsondoc.Parse(a, o)
	if err != nil {
		return false
	}
	y, err := jsondoc.Parse(b, o)
	return err == nil && jsondoc.Equal(x.Root, y.Root)
}

// text reads a string that JSON.stringify wrote.
func text(quoted []byte) string {
	return jsondoc.Token{Kind: jsondoc.String, End: len(quoted), Escaped: bytes.IndexByte(quoted, '\\') >= 0}.Text(quoted)
}
