package ledger

import (
	"io"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/packet/strict"
)

// Document is a ledger file: one JSON object with an entry for each key
// (packets.md 7). The format has no place for an index, so all of it is read to
// find one entry, and all of it is written to change one. Only the entries that
// are asked for become values.
type Document struct {
	src     string
	spans   []span
	index   map[string]int32 // of the span, by key
	closing int              // offset of the object's closing brace
}

// span is one member of the object. MaxBytes of a ledger fits 32 bits.
type span struct {
	key      string
	off, end int32 // of the value
	reserved bool
}

// ReadDocument checks every entry of a ledger and keeps where it stands. The
// error is an *Error.
func ReadDocument(src string) (*Document, error) {
	if int64(len(src)) <= strict.Ledger.MaxBytes() {
		if d, ok := quickly(src); ok {
			return d, nil
		}
	}
	return thoroughly(src)
}

// EmptyDocument is a ledger that does not exist yet.
func EmptyDocument() *Document {
	d, _ := quickly("{}\n")
	return d
}

// thoroughly reads a ledger of any spelling, and says what is wrong with one
// that is refused.
func thoroughly(src string) (*Document, error) {
	d := &Document{src: src, index: map[string]int32{}}
	data := []byte(src)
	open := false // the next value is that of the entry's state
	var key string
	var begin int
	state := Completed
	err := strict.Scan(strict.Ledger, data, func(t jsondoc.Token) error {
		switch depth := t.Depth; {
		case depth == 0 && t.Closes():
			d.closing = t.Off
		case depth == 0 && t.Kind != jsondoc.Object:
			return corrupt("the ledger is no object")
		case depth == 1 && t.Kind == jsondoc.Key:
			key = t.Text(data)
		case depth == 1 && t.Kind == jsondoc.Object:
			begin, state = t.Off, Completed
		case depth == 1 && t.Closes():
			d.add(key, begin, t.End, state == Reserved)
		case depth == 1:
			return corrupt("the entry of the key " + show(key) + " is no object")
		case depth == 2 && t.Kind == jsondoc.Key:
			open = t.Text(data) == memberState
		case depth == 2 && open && !t.Closes():
			open = false
			var ok bool
			if state, ok = stateOf(t.Kind, t.Text(data)); !ok {
				return corrupt("the entry of the key " + show(key) + " " + unknownState)
			}
		}
		return nil
	})
	if err != nil {
		if _, ours := err.(*Error); ours { //nolint:errorlint // it is the visitor's own.
			return nil, err
		}
		return nil, corrupt(err.Error())
	}
	return d, nil
}

func (d *Document) add(key string, off, end int, reserved bool) {
	d.index[key] = int32(len(d.spans))                                     //nolint:gosec // bounded by MaxBytes.
	d.spans = append(d.spans, span{key, int32(off), int32(end), reserved}) //nolint:gosec // bounded by MaxBytes.
}

// Entry gives the entry of a key; nil when there is none.
func (d *Document) Entry(key string) (*Entry, error) {
	i, ok := d.index[key]
	if !ok {
		return nil, nil //nolint:nilnil // none is no error.
	}
	return d.entry(int(i))
}

func (d *Document) entry(i int) (*Entry, error) {
	return readEntry([]byte(d.src[d.spans[i].off:d.spans[i].end]))
}

// Reserved calls visit for every RESERVED entry, by key.
func (d *Document) Reserved(visit func(key string, e *Entry)) error {
	var found []int
	for i := range d.spans {
		if d.spans[i].reserved {
			found = append(found, i)
		}
	}
	slices.SortFunc(found, func(a, b int) int { return strings.Compare(d.spans[a].key, d.spans[b].key) })
	for _, i := range found {
		e, err := d.entry(i)
		if err != nil {
			return err
		}
		visit(d.spans[i].key, e)
	}
	return nil
}

// With gives the ledger with another entry for a key, for writing: every other
// byte is as it was read.
func (d *Document) With(key string, entry *Object) io.WriterTo {
	body := string(entry.JSON())
	if i, ok := d.index[key]; ok {
		s := d.spans[i]
		return pieces{d.src[:s.off], body, d.src[s.end:]}
	}
	member := quote(key) + ": " + body
	if len(d.spans) == 0 {
		// What stood between the braces was white space.
		return pieces{d.src[:strings.IndexByte(d.src, '{')+1], "\n  ", member, "\n", d.src[d.closing:]}
	}
	last := d.spans[len(d.spans)-1].end
	return pieces{d.src[:last], ",\n  ", member, d.src[last:]}
}

// pieces are parts of a text that together are too large to be copied.
type pieces []string

// WriteTo writes them one after the other.
func (p pieces) WriteTo(w io.Writer) (int64, error) {
	var total int64
	for _, s := range p {
		n, err := io.WriteString(w, s)
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
	return total, nil
}
