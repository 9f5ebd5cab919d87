package jsondoc

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/handoff-gate/handoff-gate/gate/internal/lines"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// Value is one value of a document, with its place.
type Value struct {
	Kind     Kind // Object, Array, String, Number, True, False or Null
	Off, End int  // bytes of the whole value in the document
	Text     string
	Members  []Member // of an Object, in the order of the document
	Items    []*Value // of an Array

	index atomic.Pointer[map[string]int] // key to member, see Member
}

// Member is one member of an object.
type Member struct {
	Key            string
	KeyOff, KeyEnd int
	Value          *Value
}

// Document is a parsed document.
type Document struct {
	Root *Value

	src   []byte
	once  sync.Once
	lines *lines.Index // see places
}

// Parse reads a whole document into a tree. The error is an *Error.
func Parse(src []byte, o Options) (*Document, error) {
	p := parser{src: src}
	if err := Scan(src, o, p.take); err != nil {
		return nil, err
	}
	return &Document{Root: p.root, src: src}, nil
}

// StoppedAt gives the place in src where reading it stopped with err, for an error of
// Scan or Parse.
func StoppedAt(src []byte, err error) report.Span {
	var e *Error
	if !errors.As(err, &e) {
		return report.Span{}
	}
	line, column := lines.New(src).Position(e.Offset)
	return report.Span{Line: line, Column: column}
}

// parser makes a tree of tokens. What belongs to the values that are open stands
// on stacks, and is copied once its number is known.
type parser struct {
	src     []byte
	root    *Value
	open    []opened
	key     Member
	members []Member
	items   []*Value
	slab    []Value // values that are yet to be used
}

// opened is a value whose end has not come.
type opened struct {
	v              *Value
	key            Member // of the value itself, where it stands in an object
	members, items int    // where its own begin
}

// slabSize is how many values are made at once.
const slabSize = 32

func (p *parser) take(t Token) error {
	switch t.Kind {
	case Key:
		p.key = Member{Key: t.Text(p.src), KeyOff: t.Off, KeyEnd: t.End}
		return nil
	case ObjectEnd, ArrayEnd:
		p.close(t)
		return nil
	case Object, Array, String, Number, True, False, Null:
	}
	if len(p.slab) == 0 {
		p.slab = make([]Value, slabSize)
	}
	v := &p.slab[0]
	p.slab = p.slab[1:]
	v.Kind, v.Off, v.End = t.Kind, t.Off, t.End
	if t.Kind == String || t.Kind == Number {
		v.Text = t.Text(p.src)
	}
	if t.Kind == Object || t.Kind == Array {
		p.open = append(p.open, opened{v, p.key, len(p.members), len(p.items)})
		return nil
	}
	p.add(v, p.key)
	return nil
}

// close ends the value that is open.
func (p *parser) close(t Token) {
	o := p.open[len(p.open)-1]
	p.open = p.open[:len(p.open)-1]
	o.v.End = t.End
	if n := p.members[o.members:]; len(n) > 0 {
		o.v.Members = slices.Clone(n)
		p.members = p.members[:o.members]
	}
	if n := p.items[o.items:]; len(n) > 0 {
		o.v.Items = slices.Clone(n)
		p.items = p.items[:o.items]
	}
	p.add(o.v, o.key)
}

// add puts a value that is whole into the one around it.
func (p *parser) add(v *Value, key Member) {
	switch n := len(p.open); {
	case n == 0:
		p.root = v
	case p.open[n-1].v.Kind == Object:
		key.Value = v
		p.members = append(p.members, key)
	default:
		p.items = append(p.items, v)
	}
}

// places gives the index of the document's lines, made when somebody first asks
// for a place.
func (d *Document) places() *lines.Index {
	d.once.Do(func() { d.lines = lines.New(d.src) })
	return d.lines
}

// Line gives the line of a byte offset.
func (d *Document) Line(off int) int { return d.places().Line(off) }

// At gives the place of a value as a span of its first line alone: an object is
// marked at its opening brace.
func (d *Document) At(v *Value) report.Span {
	end := v.End
	if v.Kind == Object || v.Kind == Array {
		end = v.Off + 1
	}
	return d.places().Span(v.Off, end)
}

// AtKey gives the place of a member's key.
func (d *Document) AtKey(m Member) report.Span { return d.places().Span(m.KeyOff, m.KeyEnd) }

// Get finds the member with exactly that key; nil when v is no object or has
// none. Of equal keys the last counts.
func (v *Value) Get(key string) *Value {
	if m, ok := v.Member(key); ok {
		return m.Value
	}
	return nil
}

// Member is Get with the key's own place.
func (v *Value) Member(key string) (Member, bool) {
	if v == nil || v.Kind != Object {
		return Member{}, false
	}
	if len(v.Members) > fewMembers {
		i, ok := v.keys()[key]
		if !ok {
			return Member{}, false
		}
		return v.Members[i], true
	}
	for _, m := range slices.Backward(v.Members) {
		if m.Key == key {
			return m, true
		}
	}
	return Member{}, false
}

// fewMembers is how many members are looked through one by one. A larger object
// gets an index at its first look-up, so that a caller that asks for each of
// 50,000 keys does not take quadratic time.
const fewMembers = 16

// keys gives the index of a large object. Two goroutines that ask at once may
// both build it; they build the same.
func (v *Value) keys() map[string]int {
	if m := v.index.Load(); m != nil {
		return *m
	}
	m := make(map[string]int, len(v.Members))
	for i := range v.Members {
		m[v.Members[i].Key] = i // the last of equal keys stays
	}
	v.index.Store(&m)
	return m
}

// Is tells whether v is there and of that kind. For booleans use Bool.
func (v *Value) Is(k Kind) bool { return v != nil && v.Kind == k }

// Bool gives the value of true or false.
func (v *Value) Bool() (value, ok bool) {
	if v == nil || v.Kind != True && v.Kind != False {
		return false, false
	}
	return v.Kind == True, true
}

// Float gives the nearest binary64 of a number; too large reads as infinite.
func (v *Value) Float() (float64, bool) {
	if v == nil || v.Kind != Number {
		return 0, false
	}
	f, err := strconv.ParseFloat(v.Text, 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

// Equal compares two values as JSON values: numbers as binary64, strings
// decoded, members in any order, and of equal keys the last.
func Equal(a, b *Value) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case String:
		return a.Text == b.Text
	case Number:
		x, _ := a.Float()
		y, _ := b.Float()
		return x == y
	case Array:
		return slices.EqualFunc(a.Items, b.Items, Equal)
	case Object:
		return equalMembers(a, b)
	case ObjectEnd, ArrayEnd, Key, True, False, Null:
	}
	return true
}

// equalMembers compares objects whatever the order of their members: each key
// of one is a key of the other, and the values that count are equal.
func equalMembers(a, b *Value) bool {
	for _, m := range b.Members {
		if a.Get(m.Key) == nil {
			return false
		}
	}
	for _, m := range a.Members {
		if a.Get(m.Key) != m.Value {
			continue // an equal key follows, whose value counts
		}
		if !Equal(m.Value, b.Get(m.Key)) {
			return false
		}
	}
	return true
}
