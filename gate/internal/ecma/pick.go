package ecma

import (
	"bytes"
	"crypto/sha256"
	"hash"

	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
)

// Picker is a Visitor that takes some members of one object and lets all else
// pass by. It is used for one value after another, with Reset between them.
type Picker struct {
	Kind  jsondoc.Kind // of the value; only an Object has members
	Taken []Taken      // in the order of the names

	names   []string
	line    func() int
	depth   int
	isKey   bool
	name    []byte
	slot    int       // of the member that is read, -1 for one that is not wanted
	digest  hash.Hash // of its text, where that is long
	w       *Writer   // of its value, where that is an array or object
	writing bool
}

// Taken is a member as JSON.stringify writes it, of equal keys the last one.
type Taken struct {
	Kind jsondoc.Kind // 0: there is none
	Line int          // of the key
	// ID are the characters of a string, or any other value as JSON: two values of
	// one kind are equal where these are. Of more than MaxID bytes it is a digest.
	ID     []byte
	number float64
}

// MaxID is the length of the longest ID that is no digest.
const MaxID = 64 << 10

// longID begins a digest. It is no byte of UTF-8.
const longID = 0xff

// ID gives what Taken.ID is of a string.
func ID(s string) string {
	if len(s) <= MaxID {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return string(append([]byte{longID}, sum[:]...))
}

// NewPicker makes a Picker for the members of those names. line tells the line
// of the token that is read.
func NewPicker(line func() int, names ...string) *Picker {
	return &Picker{names: names, Taken: make([]Taken, len(names)), line: line, slot: none}
}

// none is the slot of a member that nobody wants.
const none = -1

// Reset makes p ready for another value.
func (p *Picker) Reset() {
	for i := range p.Taken {
		p.Taken[i] = Taken{ID: p.Taken[i].ID[:0]}
	}
	p.Kind, p.depth, p.isKey, p.slot, p.writing = 0, 0, false, none, false
}

// Same tells whether two members are written alike; one that is absent equals
// another that is.
func (t Taken) Same(other Taken) bool {
	return (t.Kind == 0) == (other.Kind == 0) && (t.Kind == jsondoc.String) == (other.Kind == jsondoc.String) && bytes.Equal(t.ID, other.ID)
}

// Number gives the value of a number, which may be infinite.
func (t Taken) Number() (float64, bool) { return t.number, t.Kind == jsondoc.Number }

// Equals tells whether the member and another value are equal as JSON values. Two
// objects are, whatever the order of their members.
func (t Taken) Equals(v Value) bool {
	switch {
	case t.Kind != v.Kind:
		return false
	case t.Kind == jsondoc.String:
		return string(t.ID) == ID(text(v.JSON))
	case t.Kind == jsondoc.Number:
		return t.number == v.number
	case string(t.ID) == ID(string(v.JSON)):
		return true
	}
	return len(t.ID) > 0 && t.ID[0] != longID && equalJSON(t.ID, v.JSON)
}

// Open begins an array or object.
func (p *Picker) Open(k jsondoc.Kind) {
	switch {
	case p.writing:
		p.w.Open(k)
	case p.depth == 0:
		p.Kind, p.isKey = k, k == jsondoc.Object
	case p.depth == 1 && p.slot != none:
		p.Taken[p.slot].Kind, p.writing = k, true
		if p.w == nil {
			p.w = &Writer{}
		}
		p.w.Reset()
		p.w.Open(k)
	}
	p.depth++
}

// Close ends one.
func (p *Picker) Close() {
	p.depth--
	if p.writing {
		p.w.Close()
	}
	if p.depth != 1 {
		return
	}
	if p.writing {
		p.writing = false
		_, _ = p.w.WriteTo(idWriter{p}) // it takes everything
		p.taken()
	}
	p.member()
}

// member goes on to the next member.
func (p *Picker) member() { p.isKey, p.slot = p.Kind == jsondoc.Object, none }

type idWriter struct{ p *Picker }

func (w idWriter) Write(part []byte) (int, error) {
	w.p.add(part)
	return len(part), nil
}

// add adds to the ID of the member that is read.
func (p *Picker) add(part []byte) {
	t := &p.Taken[p.slot]
	if p.digest != nil {
		p.digest.Write(part)
		return
	}
	if len(t.ID)+len(part) > MaxID {
		p.digest = sha256.New()
		p.digest.Write(t.ID)
		p.digest.Write(part)
		return
	}
	t.ID = append(t.ID, part...)
}

// taken ends the ID of the member that is read.
func (p *Picker) taken() {
	if p.digest != nil {
		t := &p.Taken[p.slot]
		t.ID = p.digest.Sum(append(t.ID[:0], longID))
		p.digest = nil
	}
}

// Text takes a part of a key or string.
func (p *Picker) Text(part []byte) {
	switch {
	case p.writing:
		p.w.Text(part)
	case p.depth != 1:
	case p.isKey:
		if len(p.name) <= longestName {
			p.name = append(p.name, part...)
		}
	case p.slot != none:
		p.add(part)
	}
}

// longestName is longer than every name that anybody asks for: of a longer key
// only so much is kept, and a little more.
const longestName = 64

// Key ends a key.
func (p *Picker) Key() {
	if p.writing {
		p.w.Key()
		return
	}
	if p.depth != 1 {
		return
	}
	p.isKey = false
	for i, name := range p.names {
		if string(p.name) == name {
			p.slot = i
			p.Taken[i] = Taken{ID: p.Taken[i].ID[:0], Line: p.line()}
		}
	}
	p.name = p.name[:0]
}

// String ends a string.
func (p *Picker) String() {
	switch {
	case p.writing:
		p.w.String()
	case p.depth == 0:
		p.Kind = jsondoc.String
	case p.depth == 1:
		if p.slot != none {
			p.Taken[p.slot].Kind = jsondoc.String
			p.taken()
		}
		p.member()
	}
}

// Atom takes a number, true, false or null.
func (p *Picker) Atom(k jsondoc.Kind, spelling []byte) {
	switch {
	case p.writing:
		p.w.Atom(k, spelling)
	case p.depth == 0:
		p.Kind = k
	case p.depth == 1:
		if p.slot != none {
			t := &p.Taken[p.slot]
			t.Kind = k
			if k == jsondoc.Number {
				t.number = Number(spelling)
				if isShortInteger(spelling) {
					t.ID = append(t.ID, spelling...)
				} else {
					t.ID = AppendNumber(t.ID, t.number)
				}
			} else {
				t.ID = append(t.ID, spelling...)
			}
		}
		p.member()
	}
}

// Splitter is a Visitor that hands the members or elements of one array or object
// to others, each as a value of its own.
type Splitter struct {
	Kind jsondoc.Kind // of the whole value
	// Begin is called at each member, or with "" at each element, and gives who is
	// told of its value; nil for nobody. A name is cut after 64 bytes or more.
	Begin func(name string, k jsondoc.Kind) Visitor
	// End is called after a value that somebody was told of.
	End func()

	inner Visitor
	depth int // of what is open, that of inner included
	isKey bool
	begun bool // a string of the outermost level
	name  []byte
}

// Reset makes s ready for another value.
func (s *Splitter) Reset() {
	s.Kind, s.inner, s.depth, s.isKey, s.begun, s.name = 0, nil, 0, false, false, s.name[:0]
}

// begin tells of a value at the outermost level.
func (s *Splitter) begin(k jsondoc.Kind) {
	switch s.depth {
	case 0:
		s.Kind = k
	case 1:
		s.inner = s.Begin(string(s.name), k)
		s.name = s.name[:0]
	}
}

// end goes on after a value at the outermost level.
func (s *Splitter) end() {
	if s.depth != 1 {
		return
	}
	s.isKey, s.begun = s.Kind == jsondoc.Object, false
	if s.inner != nil {
		s.inner = nil
		s.End()
	}
}

// Open begins an array or object.
func (s *Splitter) Open(k jsondoc.Kind) {
	s.begin(k)
	if s.inner != nil {
		s.inner.Open(k)
	}
	s.depth++
	if s.depth == 1 {
		s.isKey = k == jsondoc.Object
	}
}

// Close ends one.
func (s *Splitter) Close() {
	s.depth--
	if s.inner != nil {
		s.inner.Close()
	}
	s.end()
}

// Text takes a part of a key or string.
func (s *Splitter) Text(part []byte) {
	if s.depth == 1 && s.isKey {
		if len(s.name) <= longestName {
			s.name = append(s.name, part...)
		}
		return
	}
	s.string()
	if s.inner != nil {
		s.inner.Text(part)
	}
}

// string tells of a string at the outermost level at its first part.
func (s *Splitter) string() {
	if s.depth <= 1 && !s.begun {
		s.begin(jsondoc.String)
		s.begun = true
	}
}

// Key ends a key.
func (s *Splitter) Key() {
	if s.depth == 1 {
		s.isKey = false
	} else if s.inner != nil {
		s.inner.Key()
	}
}

// String ends a string.
func (s *Splitter) String() {
	s.string()
	if s.inner != nil {
		s.inner.String()
	}
	s.end()
}

// Atom takes a number, true, false or null.
func (s *Splitter) Atom(k jsondoc.Kind, spelling []byte) {
	s.begin(k)
	if s.inner != nil {
		s.inner.Atom(k, spelling)
	}
	s.end()
}
