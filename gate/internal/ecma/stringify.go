package ecma

import (
	"bytes"
	"cmp"
	"io"
	"math"
	"slices"
	"sort"

	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
)

// Writer is a Visitor that writes a value as JSON.stringify prints what
// JSON.parse read (sessions.md 6.2): array indices before the other keys of an
// object, of equal keys the last value at the first place. Its zero value is
// ready for use.
//
// Members are written in the order in which they come. What is to stand in
// another order is only noted, and put in place when the text is copied out, so
// that an object within an object within an object is not moved for each of them.
type Writer struct {
	// Repeated, where it is set, is called for each key that an object has had
	// already, at that key.
	Repeated func(key string)

	out     []byte
	open    []container
	members []member // of the objects that are open, the innermost last
	moved   []moved  // objects in whose order of members something changed
	text    bool     // a string is being written
	key     bool     // what is written next in an object is a key

	root rootMembers
}

// container is an array or object that is open.
type container struct {
	object  bool
	start   int            // of its bracket
	first   int            // of its members
	items   int            // of an array
	keys    map[string]int // the first member of each key, once there are many
	highest int64          // the highest array index so far, -1 before the first
	named   bool           // a key that is no array index has been seen
	disturb bool           // the members have to be put in order
}

// member is one member of an open object. What lies from start to end of the
// text is the key, a colon and the value.
type member struct {
	start, colon, end int
	index             int64 // the array index that the key is; -1 for none
	same              int   // the first member of that key
}

// span is a piece of the text.
type span struct{ start, end int }

// moved is an object and its members in order.
type moved struct {
	span
	members []span
}

// rootMembers are the members of the outermost object, in order.
type rootMembers struct {
	object bool
	list   []rootMember
}

type rootMember struct {
	span
	colon int
}

// manyMembers is up to how many members a key is looked for one by one.
const manyMembers = 16

// noIndex is the index of a key that is not one of an array.
const noIndex = -1

// Reset makes w ready for another value.
func (w *Writer) Reset() {
	*w = Writer{
		Repeated: w.Repeated, out: w.out[:0], open: w.open[:0], members: w.members[:0], moved: w.moved[:0],
		root: rootMembers{list: w.root.list[:0]},
	}
}

// begin writes what stands before a value.
func (w *Writer) begin() {
	if n := len(w.open); n > 0 && !w.open[n-1].object {
		if w.open[n-1].items++; w.open[n-1].items > 1 {
			w.out = append(w.out, ',')
		}
	}
}

// end notes the end of a value.
func (w *Writer) end() {
	if n := len(w.open); n > 0 && w.open[n-1].object {
		w.members[len(w.members)-1].end = len(w.out)
		w.key = true
	}
}

// Open begins an array or object.
func (w *Writer) Open(k jsondoc.Kind) {
	w.begin()
	w.open = append(w.open, container{object: k == jsondoc.Object, start: len(w.out), first: len(w.members), highest: noIndex})
	w.key = k == jsondoc.Object
	if w.key {
		w.out = append(w.out, '{')
	} else {
		w.out = append(w.out, '[')
	}
}

// Close ends the innermost array or object.
func (w *Writer) Close() {
	c := w.open[len(w.open)-1]
	w.open = w.open[:len(w.open)-1]
	if !c.object {
		w.out = append(w.out, ']')
	} else {
		w.out = append(w.out, '}')
		w.settle(c)
	}
	w.key = false
	w.end()
}

// settle puts the members of an object in order.
func (w *Writer) settle(c container) {
	members := w.members[c.first:]
	ordered := members
	if c.disturb {
		ordered = make([]member, 0, len(members))
		place := map[int]int{} // of the first members that were replaced, in ordered
		for i, m := range members {
			if first := m.same - c.first; first != i {
				ordered[place[first]].span(m)
				continue
			}
			place[i] = len(ordered)
			ordered = append(ordered, m)
		}
		slices.SortStableFunc(ordered, func(a, b member) int {
			// An unsigned noIndex lies above every index.
			return cmp.Compare(uint64(a.index), uint64(b.index))
		})
		spans := make([]span, len(ordered))
		for i, m := range ordered {
			spans[i] = span{m.start, m.end}
		}
		w.moved = append(w.moved, moved{span{c.start, len(w.out)}, spans})
	}
	if len(w.open) == 0 {
		w.root.object = true
		w.root.list = slices.Grow(w.root.list, len(ordered))
		for _, m := range ordered {
			w.root.list = append(w.root.list, rootMember{span{m.start, m.end}, m.colon})
		}
	}
	w.members = w.members[:c.first]
}

// span takes over the place of another member of the same key.
func (m *member) span(other member) { m.start, m.colon, m.end = other.start, other.colon, other.end }

// Text writes a part of a key or string.
func (w *Writer) Text(part []byte) {
	w.beginText()
	w.out = appendEscaped(w.out, part)
}

func (w *Writer) beginText() {
	if w.text {
		return
	}
	w.text = true
	if !w.key {
		w.begin()
	} else {
		c := &w.open[len(w.open)-1]
		if len(w.members) > c.first {
			w.out = append(w.out, ',')
		}
		w.members = append(w.members, member{start: len(w.out)})
	}
	w.out = append(w.out, '"')
}

// String ends a string.
func (w *Writer) String() {
	w.beginText() // it may be empty
	w.text = false
	w.out = append(w.out, '"')
	w.end()
}

// Key ends a key.
func (w *Writer) Key() {
	w.beginText()
	w.text, w.key = false, false
	n := len(w.members) - 1
	m := &w.members[n]
	w.out = append(w.out, '"')
	m.colon = len(w.out)
	w.out = append(w.out, ':')
	key := w.out[m.start:m.colon]
	c := &w.open[len(w.open)-1]
	m.index, m.same = arrayIndex(key[1:len(key)-1]), n
	switch {
	case m.index == noIndex:
		c.named = true
	case c.named || m.index < c.highest:
		c.disturb = true
	default:
		c.highest = m.index
	}
	if m.same = w.first(c, key, n); m.same != n {
		c.disturb = true
		if w.Repeated != nil {
			w.Repeated(text(key))
		}
	}
}

// first finds the first member with that key; n is the one that was just read.
func (w *Writer) first(c *container, key []byte, n int) int {
	if c.keys == nil {
		for i := c.first; i < n; i++ {
			if bytes.Equal(w.keyOf(i), key) {
				return w.members[i].same
			}
		}
		if n-c.first < manyMembers {
			return n
		}
		c.keys = map[string]int{}
		for i := c.first; i <= n; i++ {
			if m := w.members[i]; m.same == i {
				c.keys[string(w.keyOf(i))] = i
			}
		}
		return n
	}
	if i, ok := c.keys[string(key)]; ok {
		return i
	}
	c.keys[string(key)] = n
	return n
}

func (w *Writer) keyOf(i int) []byte { return w.out[w.members[i].start:w.members[i].colon] }

// arrayIndex gives the array index that a key is: 0, or digits without a zero in
// front, up to 4294967294.
func arrayIndex(key []byte) int64 {
	if len(key) == 0 || len(key) > 10 || key[0] == '0' && len(key) > 1 {
		return noIndex
	}
	n := int64(0)
	for _, c := range key {
		if c < '0' || c > '9' {
			return noIndex
		}
		n = n*10 + int64(c-'0')
	}
	if n >= math.MaxUint32 {
		return noIndex
	}
	return n
}

// Atom writes a number, true, false or null.
func (w *Writer) Atom(k jsondoc.Kind, spelling []byte) {
	w.begin()
	if k == jsondoc.Number && !isShortInteger(spelling) {
		w.out = AppendNumber(w.out, Number(spelling))
	} else {
		w.out = append(w.out, spelling...)
	}
	w.end()
}

// finish makes the text ready to be copied out.
func (w *Writer) finish() {
	slices.SortFunc(w.moved, func(a, b moved) int { return cmp.Compare(a.start, b.start) })
}

// copyTo writes a piece of the text, in order.
func (w *Writer) copyTo(to io.Writer, s span) error {
	i := sort.Search(len(w.moved), func(i int) bool { return w.moved[i].start >= s.start })
	for i < len(w.moved) && w.moved[i].start < s.end {
		m := w.moved[i]
		if _, err := to.Write(w.out[s.start : m.start+1]); err != nil {
			return err
		}
		for j, member := range m.members {
			if j > 0 {
				if _, err := to.Write([]byte{','}); err != nil {
					return err
				}
			}
			if err := w.copyTo(to, member); err != nil {
				return err
			}
		}
		s.start = m.end - 1 // the closing brace
		i = sort.Search(len(w.moved), func(i int) bool { return w.moved[i].start >= m.end })
	}
	_, err := to.Write(w.out[s.start:s.end])
	return err
}

// WriteTo writes the value once it is whole.
func (w *Writer) WriteTo(to io.Writer) (int64, error) {
	w.finish()
	n := counter{to: to}
	err := w.copyTo(&n, span{0, len(w.out)})
	return n.n, err
}

type counter struct {
	to io.Writer
	n  int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.n += int64(n)
	return n, err
}

// piece gives a piece of the text, in order. It shares the memory of w where
// nothing in it was moved.
func (w *Writer) piece(s span) []byte {
	i := sort.Search(len(w.moved), func(i int) bool { return w.moved[i].start >= s.start })
	if i == len(w.moved) || w.moved[i].start >= s.end {
		return w.out[s.start:s.end:s.end]
	}
	var b bytes.Buffer
	_ = w.copyTo(&b, s) // a buffer takes everything
	return b.Bytes()
}
