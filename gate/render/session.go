package render

import (
	"fmt"
	"io"
	"strconv"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

// SessionLine is what the line of a session names.
type SessionLine struct {
	ID, Project string
	Turns       int
}

// SessionOptions are the choices of Sessions.
type SessionOptions struct {
	// Sessions are those of the first entries, in their order. An entry after them
	// is about the root.
	Sessions []SessionLine
	Asked    string // the prefix, or --all: what an entry about the root is called
	Total    bool   // end in a line of totals
	// First gives the error that stands for an entry; nil where there is none.
	First func(*report.Layer) *report.Finding
}

// Sessions writes a report of session folders for people: a line PASS or FAIL for
// each, and below it the findings (sessions.md 1).
func Sessions(w io.Writer, r *report.Report, o SessionOptions, text TextOptions) error {
	t := &textWriter{o: text}
	passed, failed := 0, 0
	for i := range r.Projects {
		l := &r.Projects[i].Layers[0]
		name := plainLine(o.Asked)
		ok := "NOTE " + name + ": " + plainLine(l.Summary)
		isSession := i < len(o.Sessions)
		if isSession {
			s := o.Sessions[i]
			name = plainLine(s.ID) + " [" + plainLine(s.Project) + "]"
			ok = t.paint(green, "PASS") + " " + name + ": manifest hash ok, timeline " + strconv.Itoa(s.Turns) + " turns, payload parses"
		}
		first := o.First(l)
		switch {
		case first != nil:
			t.line(t.paint(red, "FAIL"), " ", name, ": ", plainLine(first.Rule), ": ", plainLine(first.Message))
		case l.Status == report.Skip:
			t.line(t.paint(dim, "SKIP"), " ", name, ": ", plainLine(l.Summary))
		default:
			t.line(ok)
		}
		if isSession && first != nil {
			failed++
		} else if isSession {
			passed++
		}
		t.listed(l)
	}
	if o.Total {
		t.line(fmt.Sprintf("%d passed, %d failed", passed, failed))
	}
	_, err := w.Write(t.b.Bytes())
	return err
}

// SessionRow is one session of a list.
type SessionRow struct{ Project, ID, Harness, Turns, Revisions, Updated string }

// SessionList writes a line for each session (sessions.md 1).
func SessionList(w io.Writer, rows []SessionRow) error {
	t := &textWriter{}
	for _, r := range rows {
		t.line("[", plainLine(r.Project), "] ", plainLine(r.ID), " harness=", plainLine(r.Harness), " turns=", plainLine(r.Turns), " rev=", plainLine(r.Revisions), " updated=", plainLine(r.Updated))
	}
	_, err := w.Write(t.b.Bytes())
	return err
}
