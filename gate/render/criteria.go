package render

import (
	"bytes"
	"fmt"
	"io"

	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// CriteriaNotice says what the report on acceptance criteria is worth.
const CriteriaNotice = "This report is best effort: no findings is no proof that the criteria are met, and it must not gate a merge."

// Criteria writes the report on acceptance criteria for people (aahp-authoring.md
// 5.4): the counts and the state of the registry, a line a finding, the notice.
func Criteria(w io.Writer, r *report.Report) error {
	var b bytes.Buffer
	for _, p := range r.Projects {
		for _, l := range p.Layers {
			fmt.Fprintf(&b, "%s: %s, %s\n", plainLine(l.ID), plural.Of(len(l.Findings), "finding"), plainLine(l.Summary))
			for _, f := range l.Findings {
				fmt.Fprintf(&b, "  - %s:%d [%s] %s\n", plainLine(f.Path), f.Line, plainLine(f.Rule), plainLine(f.Message))
			}
		}
	}
	b.WriteString(CriteriaNotice + "\n")
	_, err := w.Write(b.Bytes())
	return err
}
