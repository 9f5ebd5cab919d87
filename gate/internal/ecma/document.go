package ecma

import (
	"bytes"
	"cmp"
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
	v := visitors.Get().(*documentVisitor)
	v.begin(o)
	if err := Copy(v.t, r); err != nil {
		v.end()
		return nil, err
	}
	d := v.d
	d.w.finish()
	v.settle()
	v.end()
	return d, nil
}

// visitors are handed from one text to the next, with the memory that they need
// while they read.
var visitors = sync.Pool{New: func() any {
	v := &documentVisitor{}
	v.t = NewTokenizer(v, 0)
	return v
}}

// manyFields is up to how many members, and bytes of a number, a visitor's memory is
// kept.
const manyFields = 1024

// begin makes v ready for another text.
func (v *documentVisitor) begin(o Options) {
	d := &Document{}
	d.w = Writer{open: v.open[:0], members: v.members[:0]}
	d.w.Repeated = func(key string) { d.Repeated = append(d.Repeated, Repeated{key, v.t.Line()}) }
	v.d, v.elements, v.depth, v.fields, v.items = d, o.Elements, 0, v.fields[:0], v.items[:0]
	v.t.Reset(1)
	v.t.maxDepth = o.MaxDepth
}

// end lets go of the text, and takes back what the Document has no more use for.
func (v *documentVisitor) end() {
	w := &v.d.w
	v.open, v.members, w.open, w.members, w.Repeated, v.d = w.open, w.members, nil, nil, nil, nil
	if cap(v.fields)+cap(v.items)+cap(v.members)+cap(v.open)+cap(v.t.open)+cap(v.t.word) > manyFields {
		return
	}
	clear(v.fields[:cap(v.fields)]) // they hold keys
	clear(v.open[:cap(v.open)])
	visitors.Put(v)
}

// copiers are handed from one text to the next: most texts are much shorter than
// the buffer.
var copiers = sync.Pool{New: func() any { return &copier{} }}

type copier struct {
	decoder Decoder
	buffer  [32 << 10]byte
}

// Copy gives a whole text to a Tokenizer.
func Copy(t *Tokenizer, r io.Reader) error {
	c := copiers.Get().(*copier)
	defer func() {
		c.decoder.Reset(nil)
		copiers.Put(c)
	}()
	c.decoder.Reset(t)
	for {
		n, err := r.Read(c.buffer[:])
		if _, failed := c.decoder.Write(c.buffer[:n]); failed != nil {
			return failed
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if err := c.decoder.Flush(); err != nil {
		return err
	}
	return t.Finish()
}

// documentVisitor notes lines beside what the Writer writes.
type documentVisitor struct {
	d        *Document
	t        *Tokenizer
	elements string
	depth    int
	fields   []noted // the members of the outermost object, each as often as it stands there
	items    []item

	open    []container // of the Writer
	members []member    // of the Writer
}

// noted is what is known of a member before its text is put in order.
type noted struct {
	start int // of the member in the Writer's text
	Field
}

// item is an element of the named member.
type item struct {
	span
	Value
}

// field is the member of the outermost object that is read; nil where that is an
// array.
func (v *documentVisitor) field() *noted {
	if len(v.fields) == 0 {
		return nil
	}
	return &v.fields[len(v.fields)-1]
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
		if f := v.field(); f != nil {
			f.Value = Value{Kind: k, Line: v.t.Line()}
			if f.Key == v.elements {
				v.items = v.items[:0] // of equal keys the last one counts
			}
		}
	case 2:
		if v.listing() {
			v.items = append(v.items, item{span{len(v.d.w.out), 0}, Value{Kind: k, Line: v.t.Line()}})
		}
	}
}

// listing tells whether an element of the named member is read.
func (v *documentVisitor) listing() bool {
	return v.elements != "" && v.depth == 2 && !v.d.w.open[1].object && v.field() != nil && v.field().Key == v.elements
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
		v.fields = append(v.fields, noted{m.start, Field{Key: text(v.d.w.out[m.start:m.colon]), Line: v.t.Line()}})
	}
}

func (v *documentVisitor) String() {
	v.begun()
	v.d.w.String()
	v.ended()
}

func (v *documentVisitor) Atom(k jsondoc.Kind, spelling []byte) {
	v.value(k)
	if k == jsondoc.Number && v.depth == 1 && v.field() != nil {
		v.field().number = Number(spelling)
	} else if k == jsondoc.Number && v.listing() {
		v.items[len(v.items)-1].number = Number(spelling)
	}
	v.d.w.Atom(k, spelling)
	v.ended()
}

// settle lists what was noted.
func (v *documentVisitor) settle() {
	d := v.d
	d.fields = make([]Field, len(d.w.root.list))
	for i, m := range d.w.root.list {
		n, _ := slices.BinarySearchFunc(v.fields, m.start, func(f noted, start int) int { return cmp.Compare(f.start, start) })
		d.fields[i] = v.fields[n].Field
		d.fields[i].JSON = d.w.piece(span{m.colon + 1, m.end})
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
