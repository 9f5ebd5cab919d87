package session

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// indexed are the fields of a row that repeat those of a manifest.
var indexed = []struct {
	name, field string
	of          func(*Head) ecma.Value
}{
	{hashField, hashField, func(h *Head) ecma.Value { return h.Hash }},
	{"turns", "turn_count", func(h *Head) ecma.Value { return h.Turns }},
	{"revisions", "revisions", func(h *Head) ecma.Value { return h.Revisions }},
}

// CheckIndex compares INDEX.json with the sessions that it names (sessions.md 7.6).
// Those that were not read are passed over.
func CheckIndex(t gate.Tree, root string, heads []Head) []report.Finding {
	path := gate.Join(root, IndexName)
	stale := func(line int, message string) []report.Finding {
		return []report.Finding{finding(IndexStale, IndexStale.Severity, path, at(line), message, "Run the engine's list, which rewrites the index.", "")}
	}
	r, e, err := t.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, gate.ErrNotRegular):
		return stale(0, IndexName+" is "+e.Kind.Article()+", not a file with a JSON array")
	case err != nil:
		return stale(0, IndexName+" cannot be read: "+safetext.Clean(err.Error()))
	}
	defer r.Close()
	if e.Size > MaxFile {
		return stale(0, IndexName+" has more than 256 MiB")
	}
	byName := map[[2]string]*Head{}
	for i := range heads {
		h := &heads[i]
		project := h.Project
		if h.Legacy() {
			project = h.Label
		}
		byName[[2]string{h.ID, project}] = h
	}
	var findings report.Bounded
	names := []string{"id", "project"}
	for _, f := range indexed {
		names = append(names, f.name)
	}
	var tok *ecma.Tokenizer
	row := ecma.NewPicker(func() int { return tok.Line() }, names...)
	rows := &ecma.Splitter{}
	rows.Begin = func(string, jsondoc.Kind) ecma.Visitor {
		row.Reset()
		return row
	}
	rows.End = func() {
		id, project := row.Taken[0], row.Taken[1]
		if rows.Kind != jsondoc.Array || id.Kind != jsondoc.String || project.Kind != jsondoc.String {
			return
		}
		h := byName[[2]string{string(id.ID), string(project.ID)}]
		if h == nil {
			return
		}
		var wrong []string
		for i, f := range indexed {
			if got, want := row.Taken[2+i], f.of(h); got.Kind != 0 && !got.Equals(want) {
				wrong = append(wrong, fmt.Sprintf("%s is not the manifest's %s, %s", f.name, f.field, shown(want)))
			}
		}
		if len(wrong) > 0 {
			findings.Add(stale(id.Line, fmt.Sprintf("in the row of %s %s", safetext.Clean(h.Name()), strings.Join(wrong, "; ")))[0])
		}
	}
	tok = ecma.NewTokenizer(rows, maxDepth)
	err = ecma.Copy(tok, r)
	var syntax *ecma.Error
	switch {
	case errors.As(err, &syntax):
		return stale(syntax.Line, IndexName+" is not JSON: "+syntax.Error())
	case err != nil:
		return stale(0, IndexName+" cannot be read: "+safetext.Clean(err.Error()))
	case rows.Kind != jsondoc.Array:
		return stale(1, IndexName+" is "+rows.Kind.Article()+", not an array")
	}
	return findings.Findings()
}
