package journal

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
)

// Record is what the index has on record of one archived entry.
type Record struct {
	Digest string // as it stands there; the digest of an entry, if nobody changed it
	Title  string // "" where there is none

	off, end int // of its bytes in the index
}

// digest gives the digest that a record spells as an index is to spell it.
func (r Record) digest() (d Digest, ok bool) {
	if len(r.Digest) != hex.EncodedLen(len(d)) || strings.ToLower(r.Digest) != r.Digest {
		return d, false
	}
	_, err := hex.Decode(d[:], []byte(r.Digest))
	return d, err == nil
}

// Index is LOG-ARCHIVE.index.json (aahp-authoring.md 4.2).
type Index struct {
	Records []Record // the newest first

	src     []byte
	members []indexMember
}

// Bytes are those that were read.
func (x *Index) Bytes() []byte { return x.src }

// indexMember is a member of the document, in the bytes of the index.
type indexMember struct {
	key              string
	keyOff, keyEnd   int
	valueOff, valEnd int
}

// The members of an index.
const (
	versionMember = "version"
	entriesMember = "entries"
	digestMember  = "sha256"
	titleMember   = "title"
)

// indexDepth is how deep an index may be nested, as any JSON file of a handoff set
// but the manifest.
const indexDepth = 1000

// ParseIndex reads an index. The error says in one sentence, without the file's
// name, why it is malformed.
func ParseIndex(src []byte) (*Index, error) {
	p := indexParser{index: &Index{src: src}}
	if err := jsondoc.Scan(src, jsondoc.Options{MaxDepth: indexDepth}, p.token); err != nil {
		var e *jsondoc.Error
		if errors.As(err, &e) {
			return nil, fmt.Errorf("is not valid JSON: %w (byte %d)", err, e.Offset)
		}
		return nil, err
	}
	switch {
	case !p.object:
		return nil, errors.New("is no JSON object")
	case !p.version:
		return nil, errors.New("has not the version 1")
	case !p.entries:
		return nil, errors.New("has no array of entries")
	}
	return p.index, nil
}

// indexParser reads the tokens of an index: no tree of a file that may be large.
type indexParser struct {
	index *Index
	depth int
	key   string // of the innermost member, at the depths that count

	object, version, entries bool // were seen, as they must be
	inEntries, hasDigest     bool
}

var errNoRecord = errors.New("has an entry that is no object with a string sha256")

func (p *indexParser) token(t jsondoc.Token) error {
	x := p.index
	switch t.Kind {
	case jsondoc.Key:
		p.key = ""
		if p.depth == 1 || p.depth == 3 {
			p.key = t.Text(x.src)
		}
		if p.depth == 1 {
			x.members = append(x.members, indexMember{key: p.key, keyOff: t.Off, keyEnd: t.End})
		}
		return nil
	case jsondoc.ObjectEnd, jsondoc.ArrayEnd:
		p.depth--
		return p.ended(t)
	default:
	}
	switch p.depth {
	case 0:
		p.object = t.Kind == jsondoc.Object
	case 1:
		if !p.object {
			break
		}
		x.members[len(x.members)-1].valueOff = t.Off
		switch p.key {
		case versionMember:
			v, err := jsondoc.Parse(x.src[t.Off:t.End], jsondoc.Options{})
			if err == nil && t.Kind == jsondoc.Number {
				n, ok := v.Root.Float()
				p.version = ok && n == 1
			}
		case entriesMember:
			p.entries = t.Kind == jsondoc.Array
		}
		p.inEntries = p.key == entriesMember && p.entries
	case 2:
		if !p.inEntries {
			break
		}
		if t.Kind != jsondoc.Object {
			return errNoRecord
		}
		x.Records = append(x.Records, Record{off: t.Off})
		p.hasDigest = false
	case 3:
		if !p.inEntries || t.Kind != jsondoc.String {
			break
		}
		switch r := &x.Records[len(x.Records)-1]; p.key {
		case digestMember:
			r.Digest, p.hasDigest = t.Text(x.src), true
		case titleMember:
			r.Title = t.Text(x.src)
		}
	}
	if t.Kind == jsondoc.Object || t.Kind == jsondoc.Array {
		p.depth++
		return nil
	}
	return p.ended(t)
}

// ended takes the end of a value.
func (p *indexParser) ended(t jsondoc.Token) error {
	x := p.index
	switch {
	case p.depth == 1 && p.object:
		x.members[len(x.members)-1].valEnd = t.End
	case p.depth == 2 && p.inEntries:
		if !p.hasDigest {
			return errNoRecord
		}
		x.Records[len(x.Records)-1].end = t.End
	}
	return nil
}

// IndexFile is the content of an index that is to be written.
type IndexFile struct {
	Front []Entry // entries to be recorded, before what is on record
	Rest  *Index  // what is on record and stays as it is spelled; nil for nothing
}

// WriteTo writes the index.
func (f IndexFile) WriteTo(w io.Writer) (int64, error) {
	out := &indexWriter{w: w}
	if f.Rest == nil {
		out.add([]byte("{\n  \"version\": 1,\n  \"entries\": "))
		out.records(f)
		out.add([]byte("\n}\n"))
		return out.written, out.err
	}
	for i, m := range f.Rest.members {
		separator := ",\n  "
		if i == 0 {
			separator = "{\n  "
		}
		out.add([]byte(separator))
		out.ascii(f.Rest.src[m.keyOff:m.keyEnd])
		out.add([]byte(": "))
		if m.key == entriesMember {
			out.records(f)
		} else {
			out.spelled(f.Rest.src[m.valueOff:m.valEnd], 1)
		}
	}
	out.add([]byte("\n}\n"))
	return out.written, out.err
}

// indexWriter writes ASCII and remembers the first error.
type indexWriter struct {
	w       io.Writer
	buf     []byte
	written int64
	err     error
}

func (o *indexWriter) add(p []byte) {
	if o.err != nil {
		return
	}
	n, err := o.w.Write(p)
	o.written += int64(n)
	o.err = err
}

// ascii adds JSON with every character above U+007F escaped: it can only stand
// in a string.
func (o *indexWriter) ascii(p []byte) {
	o.buf = o.buf[:0]
	for i := 0; i < len(p); {
		if p[i] < utf8.RuneSelf {
			o.buf = append(o.buf, p[i])
			i++
			continue
		}
		r, n := utf8.DecodeRune(p[i:])
		i += n
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			o.buf = fmt.Appendf(o.buf, `\u%04x\u%04x`, high, low)
		} else {
			o.buf = fmt.Appendf(o.buf, `\u%04x`, r)
		}
	}
	o.add(o.buf)
}

// spelled adds a value of an index that was read, laid out anew.
func (o *indexWriter) spelled(src []byte, level int) {
	doc, err := jsondoc.Parse(src, jsondoc.Options{MaxDepth: indexDepth})
	if err != nil {
		o.err = errors.Join(o.err, err)
		return
	}
	o.ascii(ecma.AppendSpelled(nil, src, doc.Root, level))
}

// records adds the array of entries.
func (o *indexWriter) records(f IndexFile) {
	empty := true
	next := func() {
		if empty {
			o.add([]byte("[\n    "))
		} else {
			o.add([]byte(",\n    "))
		}
		empty = false
	}
	for _, e := range f.Front {
		next()
		o.add([]byte("{\n      \"" + digestMember + "\": \"" + e.Digest.String() + "\",\n      \"" + titleMember + "\": "))
		o.ascii(ecma.AppendString(nil, e.Title))
		o.add([]byte("\n    }"))
	}
	if f.Rest != nil {
		for _, r := range f.Rest.Records {
			next()
			o.spelled(f.Rest.src[r.off:r.end], 2)
		}
	}
	if empty {
		o.add([]byte("[]"))
	} else {
		o.add([]byte("\n  ]"))
	}
}
