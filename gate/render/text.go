// Package render turns a finished report into bytes: text for people, JSON,
// SARIF, workflow commands, the Markdown of a job summary and of a check run.
// It opens nothing, reads no clock and no environment, and decides nothing:
// the same report and options give the same bytes.
//
// Everything in a report may have been written by the author of the change
// under review. Each renderer makes it inert for its own medium:
//
//	text, log    clean.go     no control characters, no line begun, no "##["
//	JSON, SARIF  json.go      escapes with the same value
//	commands     commands.go  the runner's own escapes
//	Markdown     inert.go     code, every ASCII punctuation character an entity
//
// A new renderer is a function over a finished report in a file of its own here,
// with a value of --format in gate/cli. A format that people read in another way
// than layer by layer has its own text, as session.go and packet.go are, and names
// the file that stands for it in annotations.go.
package render

import (
	"bytes"
	"io"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

// TextOptions are the choices of Text.
type TextOptions struct {
	Color  bool     // SGR colours, for a terminal
	Quiet  bool     // leave out what is fine: layers that are ok or skipped, and notices
	Advice []string // lines printed before the verdict, in our own words

	// FailuresOnly also leaves out layers that have warnings and no error.
	FailuresOnly bool
}

// The SGR parameters of the colours used.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

// Text writes the report for people. Each project has a line a layer, findings
// below their layer; then, for the layers that failed, what to do, each remedy
// once (aahp-verify.md 10); the verdict comes last, where a reader looks first.
// The remedy of a warning stands at its finding, as the last part is for
// failures alone.
func Text(w io.Writer, r *report.Report, o TextOptions) error {
	t := &textWriter{o: o}
	t.head(r)
	for i := range r.Projects {
		t.project(&r.Projects[i])
	}
	t.whatToDo(r)
	t.foot(r)
	_, err := w.Write(t.b.Bytes())
	return err
}

type textWriter struct {
	b bytes.Buffer
	o TextOptions
}

// line prints one line; its parts are already safe.
func (t *textWriter) line(parts ...string) {
	for _, p := range parts {
		t.b.WriteString(p)
	}
	t.b.WriteByte('\n')
}

// paint colours s when colours are wanted.
func (t *textWriter) paint(sgr, s string) string {
	if !t.o.Color || s == "" {
		return s
	}
	return "\x1b[" + sgr + "m" + s + "\x1b[0m"
}

// gap makes an empty line between parts, never at the beginning.
func (t *textWriter) gap() {
	if t.b.Len() > 0 {
		t.b.WriteByte('\n')
	}
}

func (t *textWriter) head(r *report.Report) {
	if t.o.Quiet {
		return
	}
	s := plainLine(r.Tool.Name + " " + r.Tool.Version)
	if id := shortID(r.Base); id != "" {
		s += ", base " + id
	}
	if id := shortID(r.Head); id != "" {
		s += ", head " + id
	}
	t.line(t.paint(dim, s))
}

// shown tells whether a layer is printed.
func (t *textWriter) shown(l *report.Layer) bool {
	return l.Status == report.Failed || !t.o.FailuresOnly && (!t.o.Quiet || l.Status == report.Warn)
}

func (t *textWriter) project(p *report.Project) {
	width, some := 0, false
	for i := range p.Layers {
		if t.shown(&p.Layers[i]) {
			some = true
			width = max(width, len(p.Layers[i].ID))
		}
	}
	if !some {
		return
	}
	t.gap()
	t.line(t.paint(bold, "Project "+plainLine(p.Path)), " (", plainLine(p.Format), ", ", plainLine(p.Level), ")")
	if p.Packet != nil {
		t.line("  ", t.decision(p))
	}
	for i := 0; i < len(p.Layers); {
		l := &p.Layers[i]
		n := sameSkip(p.Layers[i:])
		i += n
		if !t.shown(l) {
			continue
		}
		if n > 1 {
			ids := make([]string, 0, n)
			for _, s := range p.Layers[i-n : i] {
				ids = append(ids, plainLine(s.ID))
			}
			t.line("  ", t.status(l.Status), "  ", strings.Join(ids, ", "), ": ", plainLine(l.Summary))
			continue
		}
		id := plainLine(l.ID)
		t.line("  ", t.status(l.Status), "  ", id, strings.Repeat(" ", max(width-len(id), 0)), "  ", plainLine(l.Title), ": ", plainLine(l.Summary))
		t.findings(l)
	}
}

// sameSkip counts the layers at the front that are skipped for one reason, so
// that they can share a line; at least 1.
func sameSkip(layers []report.Layer) int {
	n := 1
	for layers[0].Status == report.Skip && n < len(layers) &&
		layers[n].Status == report.Skip && layers[n].Summary == layers[0].Summary {
		n++
	}
	return n
}

// status is the word of a status, padded to one width and coloured.
func (t *textWriter) status(s report.Status) string {
	word := plainLine(string(s))
	pad := strings.Repeat(" ", max(4-len(word), 0))
	return t.paint(map[report.Status]string{
		report.OK: green, report.Warn: yellow, report.Failed: red, report.Skip: dim,
	}[s], word) + pad
}

func (t *textWriter) findings(l *report.Layer) {
	remedies := map[string]bool{}
	for i := range l.Findings {
		f := &l.Findings[i]
		if t.o.Quiet && f.Severity == report.Notice {
			continue
		}
		sev := t.paint(map[report.Severity]string{
			report.Error: red, report.Warning: yellow, report.Notice: dim,
		}[f.Severity], plainLine(string(f.Severity)))
		place := plainLine(location(f))
		if place != "" {
			place += "  "
		}
		t.line("        ", sev, "  ", place, t.paint(dim, plainLine(f.Rule)))
		t.indented("          ", f.Message)
		if f.Severity != report.Error && f.Remedy != "" && !remedies[f.Remedy] {
			remedies[f.Remedy] = true
			t.indented("          ", "To do: "+f.Remedy)
		}
	}
}

// indented prints each line of s behind indent.
func (t *textWriter) indented(indent, s string) {
	for _, l := range plainLines(s) {
		if strings.TrimSpace(l) == "" {
			continue
		}
		t.line(indent, l)
	}
}

// whatToDo is the failure summary: which layers failed, and per failing layer
// its errors' remedies, each distinct one once.
func (t *textWriter) whatToDo(r *report.Report) {
	many := len(r.Projects) > 1
	begun := false
	for i := range r.Projects {
		p := &r.Projects[i]
		for j := range p.Layers {
			l := &p.Layers[j]
			if l.Count().Errors == 0 {
				continue
			}
			if !begun {
				begun = true
				t.gap()
				t.line(t.paint(bold, "What failed, and what to do"))
			}
			name := plainLine(l.ID)
			if many {
				name += " of " + plainLine(p.Path)
			}
			t.line("  ", t.paint(red, name))
			t.remedies(l)
		}
	}
}

func (t *textWriter) remedies(l *report.Layer) {
	seen := map[string]bool{}
	for i := range l.Findings {
		f := &l.Findings[i]
		if f.Severity != report.Error || f.Remedy == "" || seen[f.Remedy] {
			continue
		}
		seen[f.Remedy] = true
		t.remedy("    - ", f.Remedy)
	}
}

// remedy prints a remedy as one point of a list.
func (t *textWriter) remedy(point, remedy string) {
	for _, line := range plainLines(remedy) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if _, ok := report.FixOf(line); ok {
			line = t.paint(bold, line)
		}
		t.line(point, line)
		point = strings.Repeat(" ", len(point))
	}
}

func (t *textWriter) foot(r *report.Report) {
	if len(t.o.Advice) > 0 {
		t.gap()
		for _, a := range t.o.Advice {
			t.indented("", a)
		}
	}
	t.gap()
	colour := green
	if r.Verdict != report.Pass {
		colour = red
	} else if r.Count().Warnings > 0 {
		colour = yellow
	}
	t.line(t.paint(colour, headline(r)))
}
