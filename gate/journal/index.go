package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
)

// Record is what the index has on record of one archived entry.
type Record struct {
	digest Digest
	odd    string // what stands there instead of the digest of any entry
	off    int64  // of its bytes in the index
	size   int
}

// Digest gives the digest as it stands in the index.
func (r Record) Digest() string {
	if r.odd != "" {
		return r.odd
	}
	return r.digest.String()
}

// known tells whether a record is of one of these entries.
func (r Record) known(entries map[Digest]bool) bool { return r.odd == "" && entries[r.digest] }

// Index is LOG-ARCHIVE.index.json (aahp-authoring.md 4.2). As of a Document, its
// texts are read when they are asked for.
type Index struct {
	Records []Record // the newest first
	Sum     Digest   // of all bytes of the file
	Size    int64    // in bytes

	src  *window
	rest []byte // the document without its records
	root *jsondoc.Value
}

// The members of an index.
const (
	versionMember = "version"
	entriesMember = "entries"
	digestMember  = "sha256"
	titleMember   = "title"
)

// ErrNotUTF8 says that an index is not UTF-8.
var ErrNotUTF8 = errors.New("is not valid UTF-8")

// MalformedError says in one sentence, without the file's name, why an index is
// malformed.
type MalformedError struct{ reason string }

func (e *MalformedError) Error() string { return e.reason }

func malformed(format string, args ...any) error {
	return &MalformedError{fmt.Sprintf(format, args...)}
}

// ReadIndex reads an index. The error is ErrNotUTF8, a *MalformedError, or one of
// reading.
func ReadIndex(src io.ReaderAt) (*Index, error) {
	x := &Index{src: newWindow(src)}
	whole := sha256.New()
	split := &jsondoc.Splitter{
		Wanted: isEntries,
		Element: func(_ []byte, _ int, src []byte, off int64) error {
			r, err := record(src)
			r.off = off
			x.Records = append(x.Records, r)
			return err
		},
	}
	size, err := io.Copy(io.MultiWriter(whole, split), io.NewSectionReader(src, 0, 1<<62))
	if err != nil {
		return nil, err
	}
	x.Size = size
	whole.Sum(x.Sum[:0])
	x.rest = split.Rest()
	doc, err := jsondoc.Parse(x.rest, jsondoc.Options{MaxDepth: gate.MaxHandoffDepth})
	if err != nil {
		return nil, notJSON(err)
	}
	x.root = doc.Root
	version, ok := x.root.Get(versionMember).Float()
	switch {
	case x.root.Kind != jsondoc.Object:
		return nil, malformed("is no JSON object")
	case !ok || version != 1:
		return nil, malformed("has not the version 1")
	case !x.root.Get(entriesMember).Is(jsondoc.Array):
		return nil, malformed("has no array of entries")
	}
	return x, nil
}

// isEntries tells whether the spelling of a key is that of the member with the
// entries.
func isEntries(key []byte) bool {
	doc, err := jsondoc.Parse(key, jsondoc.Options{})
	return err == nil && doc.Root.Text == entriesMember
}

func notJSON(err error) error {
	var e *jsondoc.Error
	if errors.As(err, &e) && e.Problem == jsondoc.BadUTF8 {
		return ErrNotUTF8
	}
	return malformed("is not valid JSON: %s", err)
}

// record reads one element of the index.
func record(src []byte) (Record, error) {
	doc, err := jsondoc.Parse(src, jsondoc.Options{MaxDepth: gate.MaxHandoffDepth - 2})
	if err != nil {
		return Record{}, notJSON(err)
	}
	d := doc.Root.Get(digestMember)
	if !d.Is(jsondoc.String) {
		return Record{}, malformed("has an entry that is no object with a string %s", digestMember)
	}
	r := Record{size: len(src)}
	if n, err := hex.Decode(r.digest[:], []byte(d.Text[:min(len(d.Text), hex.EncodedLen(len(r.digest)))])); err != nil || n < len(r.digest) || r.digest.String() != d.Text {
		r.digest, r.odd = Digest{}, d.Text
		if r.odd == "" {
			r.odd = `""`
		}
	}
	return r, nil
}

// spelling reads a record's bytes.
func (x *Index) spelling(r Record) (*jsondoc.Value, []byte, error) {
	src := make([]byte, r.size)
	if n, err := x.src.ReadAt(src, r.off); n < len(src) {
		return nil, nil, errors.Join(io.ErrUnexpectedEOF, err)
	}
	doc, err := jsondoc.Parse(src, jsondoc.Options{MaxDepth: gate.MaxHandoffDepth - 2})
	if err != nil {
		return nil, nil, err
	}
	return doc.Root, src, nil
}

// Title reads what the index has on record as an entry's title; "" where there is
// none.
func (x *Index) Title(r Record) (string, error) {
	v, _, err := x.spelling(r)
	if err != nil || !v.Get(titleMember).Is(jsondoc.String) {
		return "", err
	}
	return v.Get(titleMember).Text, nil
}

// indexFile is the content of an index that is to be written: entries to be
// recorded, and after them what is on record and stays as it is spelled.
type indexFile struct {
	from  *Document
	front []Entry
	rest  *Index // nil for nothing
}

// WriteTo writes the index.
func (f indexFile) WriteTo(w io.Writer) (int64, error) {
	c := &counter{w: w}
	err := f.write(c)
	return c.n, err
}

func (f indexFile) write(w io.Writer) error {
	if f.rest == nil {
		if _, err := io.WriteString(w, "{\n  \"version\": 1,\n  \"entries\": "); err != nil {
			return err
		}
		if err := f.entries(w); err != nil {
			return err
		}
		_, err := io.WriteString(w, "\n}\n")
		return err
	}
	between := "{\n  "
	for _, m := range f.rest.root.Members {
		if _, err := fmt.Fprintf(w, "%s%s: ", between, ascii(f.rest.rest[m.KeyOff:m.KeyEnd])); err != nil {
			return err
		}
		between = ",\n  "
		if m.Key == entriesMember {
			if err := f.entries(w); err != nil {
				return err
			}
		} else if _, err := w.Write(ascii(ecma.AppendSpelled(nil, f.rest.rest, m.Value, 1))); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "\n}\n")
	return err
}

// entries writes the array of entries.
func (f indexFile) entries(w io.Writer) error {
	between := "[\n    "
	for _, e := range f.front {
		title, err := f.from.Title(e)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "%s{\n      %q: %q,\n      %q: %s\n    }", between, digestMember, e.Digest.String(), titleMember, ascii(ecma.AppendString(nil, title)))
		if err != nil {
			return err
		}
		between = ",\n    "
	}
	if f.rest != nil {
		for _, r := range f.rest.Records {
			v, src, err := f.rest.spelling(r)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(w, "%s%s", between, ascii(ecma.AppendSpelled(nil, src, v, 2))); err != nil {
				return err
			}
			between = ",\n    "
		}
	}
	end := "\n  ]"
	if between[0] == '[' {
		end = "[]"
	}
	_, err := io.WriteString(w, end)
	return err
}

// ascii gives JSON in which every character above U+007F is escaped: it can only
// stand in a string.
func ascii(p []byte) []byte {
	if bytes.IndexFunc(p, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return p
	}
	var out []byte
	for _, r := range string(p) {
		if r < utf8.RuneSelf {
			out = append(out, byte(r))
		} else {
			out = safetext.AppendEscape(out, r)
		}
	}
	return out
}
