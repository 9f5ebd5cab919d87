package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// JSON writes the report as one indented document with a line feed at its end
// (interface.md, "Report"). The same report gives the same bytes. Characters
// that could act on a terminal or in a job's log are written as escapes; the
// values are unchanged.
func JSON(w io.Writer, r *report.Report) error {
	out := *r
	if out.Projects == nil {
		out.Projects = []report.Project{}
	}
	return writeJSON(w, out)
}

// writeJSON encodes v, indented by two blanks, without HTML escapes.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("encode JSON: %w", err)
	}
	_, err := w.Write(escapeJSON(b.Bytes()))
	return err
}

// escapeJSON replaces what stands raw in JSON strings and is not inert where
// the document is printed: DEL and the C1 controls (CSI is one of them), format
// characters, and the "##[" that the runner obeys anywhere in a line. All of
// them can stand only inside strings, where an escape means the same.
func escapeJSON(doc []byte) []byte {
	var out []byte // nil until something changes
	done := 0
	emit := func(i int, r rune, size int) {
		out = safetext.AppendEscape(append(out, doc[done:i]...), r)
		done = i + size
	}
	for i := 0; i < len(doc); {
		c := doc[i]
		if c < utf8.RuneSelf {
			if c == 0x7F || c == '[' && i >= 2 && doc[i-1] == '#' && doc[i-2] == '#' {
				emit(i, rune(c), 1)
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(doc[i:])
		if unicode.In(r, unicode.Cc, unicode.Cf) {
			emit(i, r, size)
		}
		i += size
	}
	if out == nil {
		return doc
	}
	return append(out, doc[done:]...)
}
