package render

import (
	"fmt"
	"io"
	"strconv"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

// InstallOptions are the choices of Installs.
type InstallOptions struct {
	Names []string // what each entry is called, in their order
	Total bool     // end in a line of totals
	// First gives the error that stands for an entry; nil where there is none.
	First func(*report.Layer) *report.Finding
}

// Installs writes a report of installations for people: a line PASS or FAIL for
// each, and below it the findings (sessions.md 1).
func Installs(w io.Writer, r *report.Report, o InstallOptions, text TextOptions) error {
	t := &textWriter{o: text}
	passed, failed := 0, 0
	for i := range r.Projects {
		l := &r.Projects[i].Layers[0]
		name := plainLine(o.Names[i])
		switch first := o.First(l); {
		case first != nil:
			failed++
			t.line(t.paint(red, "FAIL"), " ", name, ": ", plainLine(first.Rule), ": ", plainLine(first.Message))
		case l.Status == report.Skip:
			t.line(t.paint(dim, "SKIP"), " ", name, ": ", plainLine(l.Summary))
		default:
			passed++
			t.line(t.paint(green, "PASS"), " ", name, ": ", plainLine(l.Summary))
		}
		t.listed(l)
	}
	if o.Total {
		t.line(fmt.Sprintf("%d passed, %d failed", passed, failed))
	}
	_, err := w.Write(t.b.Bytes())
	return err
}

// listed writes the findings of a layer, a line each: severity, rule, place and
// message.
func (t *textWriter) listed(l *report.Layer) {
	for i := range l.Findings {
		f := &l.Findings[i]
		place := f.Path
		if f.Line > 0 {
			place += ":" + strconv.Itoa(f.Line)
		}
		t.line("  ", string(f.Severity), " ", plainLine(f.Rule), " ", plainLine(place), ": ", plainLine(f.Message))
	}
}
