// Package report holds what the gate decided: findings in layers in projects,
// their order and the verdict (interface.md, "Report"). It imports nothing of
// this project; how a report looks is the business of gate/render.
// A new format has its entries in Report.Projects, a new layer its own in
// Project.Layers; neither needs a change here.
package report

import (
	"cmp"
	"slices"
	"strings"
)

// Severity of a finding. An error blocks, a warning does not, a notice informs.
type Severity string

// The severities, strongest first.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Notice  Severity = "notice"
)

// Rank orders severities: 0 for an error, 1 for a warning, 2 for a notice.
func (s Severity) Rank() int {
	switch s {
	case Error:
		return 0
	case Warning:
		return 1
	case Notice:
		return 2
	}
	return 3
}

// Verdict of a project or a report.
type Verdict string

// The verdicts. Fail exactly when a finding of severity Error exists.
const (
	Pass Verdict = "pass"
	Fail Verdict = "fail"
)

// Status of a layer.
type Status string

// The statuses: ok, has warnings, has an error, did not apply.
const (
	OK     Status = "ok"
	Warn   Status = "warn"
	Failed Status = "fail"
	Skip   Status = "skip"
)

// Span is a place in a file: 1-based lines and columns (code points). The zero
// Span means that no line is known; a zero EndLine means the same line.
type Span struct {
	Line      int `json:"line,omitempty"`
	EndLine   int `json:"end_line,omitempty"`
	Column    int `json:"column,omitempty"`
	EndColumn int `json:"end_column,omitempty"`
}

// Finding is one thing the gate found in the repository under test.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Path     string   `json:"path"` // from the repository's top level, any bytes until Finish
	Span
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"`
}

// Layer is the result of one layer of one project.
type Layer struct {
	ID       string    `json:"id"`
	Title    string    `json:"title"`
	Status   Status    `json:"status"`
	Summary  string    `json:"summary"`
	Findings []Finding `json:"findings"`
}

// Skipped makes a layer that did not apply; why must not be empty.
func Skipped(id, title, why string) Layer {
	return Layer{ID: id, Title: title, Status: Skip, Summary: why, Findings: []Finding{}}
}

// Done makes a layer from what was found, of each rule up to MaxOfRule. Its
// status follows from the findings.
func Done(id, title, summary string, findings []Finding) Layer {
	l := Layer{ID: id, Title: title, Summary: summary, Findings: bound(findings)}
	l.Settle()
	return l
}

// Unevaluated makes a layer that fails without a finding of its own: it could not
// be judged, and another layer of the same project has the errors that say why
// (aahp-governance.md 1.1). The summary begins with the words NOT EVALUATED.
func Unevaluated(id, title, why string) Layer {
	return Layer{ID: id, Title: title, Status: Failed, Summary: "NOT EVALUATED: " + why, Findings: []Finding{}}
}

// Settle orders the findings and derives the status from them. A layer without
// findings that is Skip or Failed stays so.
func (l *Layer) Settle() {
	if l.Findings == nil {
		l.Findings = []Finding{}
	}
	Sort(l.Findings)
	if len(l.Findings) == 0 && (l.Status == Skip || l.Status == Failed) {
		return
	}
	l.Status = OK
	for _, f := range l.Findings {
		switch f.Severity {
		case Error:
			l.Status = Failed
			return
		case Warning:
			l.Status = Warn
		case Notice:
		}
	}
}

// Project is the result for one handoff set, session, install record or packet.
type Project struct {
	Path    string  `json:"path"`
	Format  string  `json:"format"`
	Level   string  `json:"level"`
	Verdict Verdict `json:"verdict"`
	Layers  []Layer `json:"layers"`
	Packet  *Packet `json:"packet,omitempty"` // of format packet
}

// Layer finds a layer by id; nil when the project has none.
func (p *Project) Layer(id string) *Layer {
	for i := range p.Layers {
		if p.Layers[i].ID == id {
			return &p.Layers[i]
		}
	}
	return nil
}

// Tool names the program that made a report.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Report is one run of the gate. No time, duration or machine name stands in
// it: the same input gives the same bytes.
type Report struct {
	SchemaVersion string    `json:"schema_version"`
	Tool          Tool      `json:"tool"`
	Verdict       Verdict   `json:"verdict"`
	Base          string    `json:"base"`
	Head          string    `json:"head"`
	Projects      []Project `json:"projects"`
}

// Finish brings a report into its final form: findings ordered, statuses and
// verdicts derived, paths valid UTF-8 (each bad byte as %XX).
func (r *Report) Finish() {
	r.SchemaVersion = "1"
	r.Verdict = Pass
	if r.Projects == nil {
		r.Projects = []Project{}
	}
	for i := range r.Projects {
		p := &r.Projects[i]
		p.Path = ValidPath(p.Path)
		p.Verdict = Pass
		for j := range p.Layers {
			l := &p.Layers[j]
			for k := range l.Findings {
				l.Findings[k].Path = ValidPath(l.Findings[k].Path)
			}
			l.Settle() // after the paths are as printed: they are what the order is by
			if l.Status == Failed {
				p.Verdict = Fail
			}
		}
		if p.Verdict == Fail {
			r.Verdict = Fail
		}
	}
}

// Rewrite passes every text of a finished report that may quote the repository
// through f, such as one that hides a secret. That has to come before a renderer
// escapes what f looks for.
func (r *Report) Rewrite(f func(string) string) {
	for i := range r.Projects {
		p := &r.Projects[i]
		p.Path = f(p.Path)
		for j := range p.Layers {
			l := &p.Layers[j]
			l.Summary = f(l.Summary)
			for k := range l.Findings {
				found := &l.Findings[k]
				found.Path, found.Message, found.Remedy = f(found.Path), f(found.Message), f(found.Remedy)
			}
		}
		if p.Packet != nil {
			p.Packet.rewrite(f)
		}
	}
	r.Finish() // another text may have another place in the order
}

// Counts are the numbers of findings by severity.
type Counts struct{ Errors, Warnings, Notices int }

// Count counts the findings of the whole report.
func (r *Report) Count() Counts {
	var c Counts
	for _, p := range r.Projects {
		for _, l := range p.Layers {
			c = c.add(l.Findings)
		}
	}
	return c
}

// Count counts the findings of one layer.
func (l *Layer) Count() Counts { return Counts{}.add(l.Findings) }

func (c Counts) add(findings []Finding) Counts {
	for _, f := range findings {
		switch f.Severity {
		case Error:
			c.Errors++
		case Warning:
			c.Warnings++
		case Notice:
			c.Notices++
		}
	}
	return c
}

// Sort orders findings by path (bytes), line (absent is 0), rule and message,
// and by the rest of the place after that, so that the order is total.
func Sort(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(
			strings.Compare(a.Path, b.Path),
			cmp.Compare(a.Line, b.Line),
			strings.Compare(a.Rule, b.Rule),
			strings.Compare(a.Message, b.Message),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.EndLine, b.EndLine),
			cmp.Compare(a.EndColumn, b.EndColumn),
		)
	})
}
