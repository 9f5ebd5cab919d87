package session

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// copied are the fields of a manifest that other files repeat (sessions.md 7.1):
// their name there, and the marks in the manifest by which a difference is one that
// a command of the engine leaves.
var copied = []struct {
	name, field string
	marks       []string
}{
	{"manifest_sha256", hashField, []string{"promoted_at", "federated_at"}},
	{"raw_sha256", "raw_sha256", nil},
	{"watermark", "watermark", nil},
	{"total_turns", "turn_count", nil},
	{"revision", "revisions", []string{"prev_project"}},
}

var copiedNames = func() (names []string) {
	for _, f := range copied {
		names = append(names, f.name)
	}
	return names
}()

// copies is what a JSON file says of its manifest.
type copies struct {
	file   string
	object bool // there is an object provenance
	tok    *ecma.Tokenizer
	fields *ecma.Picker
}

func newCopies(file string) *copies {
	c := &copies{file: file}
	c.fields = ecma.NewPicker(func() int { return c.tok.Line() }, copiedNames...)
	return c
}

// read reads the file. Of its other members, begin says who is told of each, and
// end is called after one that somebody was told of.
func (c *copies) read(r io.Reader, begin func(name string, k jsondoc.Kind) ecma.Visitor, end func()) error {
	inside := false
	members := &ecma.Splitter{}
	members.Begin = func(name string, k jsondoc.Kind) ecma.Visitor {
		if members.Kind != jsondoc.Object {
			return nil
		}
		if name != "provenance" {
			return begin(name, k)
		}
		c.fields.Reset()
		c.object, inside = k == jsondoc.Object, true
		return c.fields
	}
	members.End = func() {
		if inside {
			inside = false
			return
		}
		end()
	}
	c.tok = ecma.NewTokenizer(members, maxDepth)
	return ecma.Copy(c.tok, r)
}

// summary reads HANDOFF.summary.json; nil where it is not there or not JSON.
func (c *checker) summary() *copies {
	r := c.open(SummaryName)
	if r == nil {
		return nil
	}
	defer r.Close()
	cp := newCopies(SummaryName)
	err := cp.read(r, func(string, jsondoc.Kind) ecma.Visitor { return nil }, func() {})
	var syntax *ecma.Error
	switch {
	case errors.As(err, &syntax):
		c.add(SummaryUnparsable, c.file(SummaryName), at(syntax.Line), SummaryName+" is not JSON: "+syntax.Error(), "Rebuild the session.")
		return nil
	case err != nil:
		c.broken(SummaryName, "cannot be read: "+safetext.Clean(err.Error()))
		return nil
	}
	return cp
}

// judgeCopies compares the copies with the manifest (sessions.md 7.1).
func (c *checker) judgeCopies(summary, payload *copies, md *markdown) {
	for _, cp := range []*copies{payload, summary} {
		if cp == nil {
			continue
		}
		if !cp.object {
			c.add(CopyMissing, c.file(cp.file), report.Span{}, cp.file+" has no object provenance, which says what manifest it belongs to", "Rebuild the session with a current engine.")
			continue
		}
		for i, f := range copied {
			t, v := cp.fields.Taken[i], c.m.value(f.field)
			if t.Kind == 0 || v.Kind == 0 || t.Equals(v) {
				continue
			}
			c.differs(cp.file, t.Line, "provenance."+f.name, f.field, f.marks)
		}
	}
	var missing []string
	for _, name := range []string{SummaryName, RenderName} {
		if !c.there(name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		c.add(RenderMissing, c.in.Path, report.Span{}, "there is no "+strings.Join(missing, " and no "), "Rebuild the session.")
	}
	if md == nil {
		return
	}
	if md.kinds[1].line == 0 {
		c.add(CopyMissing, c.file(RenderName), report.Span{}, RenderName+" has no line \"- manifest sha256: …\", which says what manifest it belongs to", "Rebuild the session with a current engine.")
	}
	for i, k := range mdCopies {
		if got := md.kinds[i]; got.line > 0 && c.m.has(k.field) && !got.agrees {
			c.differs(RenderName, got.line, "\""+strings.TrimRight(k.prefix, ": =")+"\"", k.field, k.marks)
		}
	}
}

// differs reports a copy that is not what the manifest says. Where a command of the
// engine explains that, it is stale.
func (c *checker) differs(file string, line int, what, field string, marks []string) {
	message := fmt.Sprintf("%s in %s is not the manifest's %s, %s", what, file, field, shown(c.m.value(field)))
	for _, mark := range marks {
		if c.m.has(mark) {
			c.add(CopyStale, c.file(file), at(line), message+"; the manifest has "+mark+", so a command left it behind", "Rebuild or retitle the session to refresh the copies.")
			return
		}
	}
	c.add(CopyMismatch, c.file(file), at(line), message, "Rebuild the session, so that all its files are of one revision.")
}
