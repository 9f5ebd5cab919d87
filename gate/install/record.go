package install

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/internal/digest"
	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// missing is what a record says of a listed file that its version does not have.
const missing = "missing"

// maxDepth is how deep a record may be nested (sessions.md 6.1).
const maxDepth = 10_000

// record is a parsed install record.
type record struct {
	text []byte // decoded, what offsets are in
	doc  *jsondoc.Document
}

// parseRecord reads a record as JSON.parse does (sessions.md 6.1). Where it
// cannot, it says what is wrong and in which line.
func parseRecord(data []byte) (r *record, line int, problem string) {
	text := []byte(ecma.Decode(data))
	doc, err := jsondoc.Parse(text, jsondoc.Options{MaxDepth: maxDepth, KeepEqualKeys: true, KeepSurrogates: true})
	switch {
	case err != nil:
		return nil, jsondoc.StoppedAt(text, err).Line, "is not JSON: " + err.Error()
	case !doc.Root.Is(jsondoc.Object):
		return nil, doc.Line(doc.Root.Off), "is " + doc.Root.Kind.Article() + ", not an object"
	}
	return &record{text: text, doc: doc}, 0, ""
}

// get finds a field; nil where there is none.
func (r *record) get(name string) *jsondoc.Value { return r.doc.Root.Get(name) }

// field is the line of a field's key, or the first where there is none.
func (r *record) field(name string) report.Span {
	if m, ok := r.doc.Root.Member(name); ok {
		return r.key(m)
	}
	return firstLine
}

func (r *record) key(m jsondoc.Member) report.Span { return report.Span{Line: r.doc.Line(m.KeyOff)} }

// string gives the value of a field that is a string.
func (r *record) string(name string) (string, bool) { return stringOf(r.get(name)) }

func stringOf(v *jsondoc.Value) (string, bool) {
	if !v.Is(jsondoc.String) {
		return "", false
	}
	return v.Text, true
}

// shown is a field as a message quotes it.
func (r *record) shown(name string) string { return r.quoted(r.get(name)) }

func (r *record) quoted(v *jsondoc.Value) string {
	switch {
	case v == nil:
		return "absent"
	case v.Kind == jsondoc.Object || v.Kind == jsondoc.Array:
		return v.Kind.Article()
	}
	return safetext.Cut(string(r.text[v.Off:v.End]), 80)
}

// entry is one listed path.
type entry struct {
	path string // as it is recorded; a surrogate that stands alone is three bytes
	hash string // 64 lower-case hex digits, or the word missing; "" where the record has neither
	at   report.Span
}

// flaw is one way in which a record contradicts itself.
type flaw struct {
	at      report.Span
	message string
}

// entries gives what `files` lists, and what is wrong with the list.
func (r *record) entries() (list []entry, flaws []flaw) {
	files := r.get("files")
	if !files.Is(jsondoc.Object) {
		return nil, []flaw{{r.field("files"), "files is " + r.quoted(files) + ", not an object of paths and hashes"}}
	}
	if len(files.Members) == 0 {
		return nil, []flaw{{r.field("files"), "files lists nothing"}}
	}
	for _, m := range files.Members {
		if files.Get(m.Key) != m.Value {
			continue // an equal key follows, whose value counts
		}
		hash, ok := stringOf(m.Value)
		if !ok || hash != missing && !digest.IsSHA256(hash) {
			flaws = append(flaws, flaw{r.key(m), "the hash of " + safetext.Clean(m.Key) + " in files is " + r.quoted(m.Value) + ", not 64 lower-case hex digits and not \"" + missing + "\""})
			hash = ""
		}
		list = append(list, entry{m.Key, hash, r.key(m)})
	}
	return list, flaws
}

// setHash is the hash over all recorded hashes (sessions.md 9.2).
func setHash(list []entry) string {
	type keyed struct {
		units []uint16
		entry
	}
	sorted := make([]keyed, len(list))
	for i, e := range list {
		sorted[i] = keyed{ecma.UTF16(e.path), e}
	}
	slices.SortFunc(sorted, func(a, b keyed) int { return slices.Compare(a.units, b.units) })
	h := sha256.New()
	for i, e := range sorted {
		line := ecma.WellFormed(e.path) + "\x00" + e.hash
		if i > 0 {
			line = "\n" + line
		}
		_, _ = h.Write([]byte(line)) // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// escapes says in what way a listed path is none of the copy's folder; "" where
// it is one.
func escapes(path string) string {
	switch {
	case path == "":
		return "is empty"
	case path[0] == '/':
		return "is absolute"
	case strings.Contains(path, `\`):
		return "holds a backslash"
	case strings.Contains(path, "\x00"):
		return "holds a NUL"
	case len(path) > 1 && path[1] == ':' && path[0]|0x20 >= 'a' && path[0]|0x20 <= 'z':
		return "begins with a drive letter"
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return "has a segment " + segment
		}
	}
	return ""
}
