// Package rule is the table of everything the gate can find. A layer declares
// its rules as data; findings are made from them, and `rules`, `explain` and
// docs/rules.md are printed from the same rows.
//
// A new rule is a variable in rules.go of its layer, listed in that package's Rules,
// and the decision beside it in check.go (docs/extending.md).
package rule

import (
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// Rule is one row of the table. Its ID never changes once released.
type Rule struct {
	ID       string          `json:"id"`       // "integrity/checksum-mismatch"
	Severity report.Severity `json:"severity"` // the strongest it can have
	Title    string          `json:"title"`    // one line
	Why      string          `json:"why"`      // why it matters, one paragraph
	Remedy   string          `json:"remedy"`   // what to do, in general
	Example  string          `json:"-"`        // what it looks like, for explain
	Varies   string          `json:"-"`        // when the severity is weaker, for people; "" when never
}

// At makes a finding of the rule with its own severity.
func (r *Rule) At(path string, span report.Span, message, remedy string) report.Finding {
	return r.As(r.Severity, path, span, message, remedy)
}

// As makes a finding with another severity than the rule's own.
func (r *Rule) As(s report.Severity, path string, span report.Span, message, remedy string) report.Finding {
	return report.Finding{Rule: r.ID, Severity: s, Path: path, Span: span, Message: message, Remedy: remedy}
}

// FirstError gives the error of a layer that comes first in an order of rules; nil
// where no rule of them has one.
func FirstError(l *report.Layer, order []*Rule) *report.Finding {
	for _, r := range order {
		for i := range l.Findings {
			if f := &l.Findings[i]; f.Rule == r.ID && f.Severity == report.Error {
				return f
			}
		}
	}
	return nil
}
