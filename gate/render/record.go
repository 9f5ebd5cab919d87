package render

import (
	"io"

	"github.com/handoff-gate/handoff-gate/gate/governance"
)

// Record writes the record of check or doctor as one indented document with a line
// feed at its end (aahp-governance.md 6.2), as inert as JSON writes a report.
func Record(w io.Writer, r governance.Record) error { return writeJSON(w, r) }
