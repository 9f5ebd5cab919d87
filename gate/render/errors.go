package render

import (
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

// ErrorLines gives the errors of a report, a line each, then the headline: what
// a reader of a job's log must see without opening a group. It is "" when there
// is no error. The text is for Log.Untrusted.
func ErrorLines(r *report.Report) string {
	if r.Count().Errors == 0 {
		return ""
	}
	var b strings.Builder
	for i := range r.Projects {
		for j := range r.Projects[i].Layers {
			for k := range r.Projects[i].Layers[j].Findings {
				f := &r.Projects[i].Layers[j].Findings[k]
				if f.Severity == report.Error {
					b.WriteString("error  " + plainLine(location(f)) + "  " + plainLine(f.Rule) + ": " + plainLine(f.Message) + "\n")
				}
			}
		}
	}
	b.WriteString(plainLine(headline(r)) + "\n")
	return b.String()
}
