package render

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// Limits of an annotation. GitHub takes 64 KB of message and 255 characters of
// title (github-action.md 4 and 5); the message stays below that.
const (
	MaxAnnotationMessage = 60_000 // bytes
	MaxAnnotationTitle   = 255    // characters
)

// Annotation is one finding as a check run or a workflow command shows it.
// Lines and columns are 1-based; 0 means that there is none.
type Annotation struct {
	Severity report.Severity
	// Path is relative to the repository's top level. It is empty when no file
	// can carry the finding: a check run then gets no annotation for it, a
	// workflow command no file.
	Path                   string
	StartLine, EndLine     int // both set, and EndLine >= StartLine, when Path is
	StartColumn, EndColumn int // only when StartLine equals EndLine
	Title                  string
	Message                string // the finding's message, then its remedy
}

// CheckLevel is the severity in the words of the Checks API.
func (a *Annotation) CheckLevel() string {
	switch a.Severity {
	case report.Error:
		return "failure"
	case report.Warning:
		return "warning"
	case report.Notice:
		return "notice"
	}
	// A severity nobody knows must not look harmless.
	return "failure"
}

// AnnotationOptions are the choices of Annotations.
type AnnotationOptions struct {
	// Exists tells whether a path is a file of HEAD's tree, and so can carry an
	// annotation. Nil means that every path can.
	Exists func(path string) bool
}

// Annotations turns the findings of a report into annotations: errors, then
// warnings, then notices, each in the order of the report (github-action.md 5).
func Annotations(r *report.Report, o AnnotationOptions) []Annotation {
	c := r.Count()
	all := make([]Annotation, 0, c.Errors+c.Warnings+c.Notices)
	for rank := range 4 { // the last rank is that of an unknown severity
		for i := range r.Projects {
			p := &r.Projects[i]
			for j := range p.Layers {
				for k := range p.Layers[j].Findings {
					if f := &p.Layers[j].Findings[k]; f.Severity.Rank() == rank {
						all = append(all, annotate(p, f, o.Exists))
					}
				}
			}
		}
	}
	return all
}

// annotate makes the annotation of one finding.
func annotate(p *report.Project, f *report.Finding, exists func(string) bool) Annotation {
	a := Annotation{
		Severity: f.Severity,
		Title:    firstRunes(AnnotationText(f.Rule), MaxAnnotationTitle),
	}
	file, span := anchor(p, f, exists)
	message := f.Message
	if f.Path != "" && file != CleanPath(f.Path) && !strings.Contains(message, f.Path) {
		message = plainLine(location(f)) + ": " + message
	}
	if f.Remedy != "" {
		message += "\n\n" + f.Remedy
	}
	a.Message = cutWithNote(AnnotationText(message), MaxAnnotationMessage,
		"… (cut: the report has the whole message)", func(s string) int { return len(s) })
	if file == "" {
		return a
	}
	a.Path = file
	a.StartLine, a.EndLine = max(span.Line, 1), max(span.Line, 1)
	if span.Line >= 1 && span.EndLine > span.Line {
		a.EndLine = span.EndLine
	}
	if span.Line >= 1 && span.Column >= 1 && a.EndLine == a.StartLine {
		a.StartColumn = span.Column
		if span.EndColumn >= span.Column {
			a.EndColumn = span.EndColumn
		}
	}
	return a
}

// anchor chooses the file that carries a finding, and the place in it: the
// finding's own file; where that is not in HEAD's tree, the file that stands
// for the project, with no place in it; else none.
func anchor(p *report.Project, f *report.Finding, exists func(string) bool) (string, report.Span) {
	usable := func(file string) bool { return file != "" && (exists == nil || exists(file)) }
	if f.Path == "" {
		return "", report.Span{}
	}
	if file := CleanPath(f.Path); usable(file) {
		return file, f.Span
	}
	if file := CleanPath(standIn(p)); usable(file) {
		return file, report.Span{}
	}
	return "", report.Span{}
}

// standIn is the file that stands for a project as a whole.
func standIn(p *report.Project) string {
	switch p.Format {
	case "packet": // the packet itself
		return p.Path
	case "agents-handoff":
		return gate.Join(p.Path, "manifest.json")
	case "agents-handoff-install":
		return ""
	}
	return gate.Join(p.Path, gate.ManifestFile)
}

// CleanPath brings a path into the form that GitHub takes: no leading "./" or
// "/", no "." and no empty segment. It is empty for a path that GitHub would
// refuse or show elsewhere: one with "..", a backslash, a control character or
// bytes that are not UTF-8.
func CleanPath(p string) string {
	if !utf8.ValidString(p) || strings.ContainsRune(p, '\\') ||
		strings.ContainsFunc(p, func(r rune) bool { return unicode.Is(unicode.Cc, r) || breaksLine(r) }) {
		return ""
	}
	p = strings.TrimLeft(path.Clean(p), "/")
	for seg := range strings.SplitSeq(p, "/") {
		if seg == ".." || seg == "." || seg == "" {
			return ""
		}
	}
	return p
}

// firstRunes cuts s to at most n characters.
func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
