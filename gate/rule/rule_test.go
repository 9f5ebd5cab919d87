package rule

import (
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

func TestFindingsAreMadeFromTheirRule(t *testing.T) {
	r := &Rule{ID: "group/name", Severity: report.Error}
	span := report.Span{Line: 3, Column: 5, EndColumn: 9}
	want := report.Finding{Rule: "group/name", Severity: report.Error, Path: "p", Span: span, Message: "m", Remedy: "r"}
	if got := r.At("p", span, "m", "r"); got != want {
		t.Errorf("At: %+v, want %+v", got, want)
	}
	want.Severity = report.Warning
	if got := r.As(report.Warning, "p", span, "m", "r"); got != want {
		t.Errorf("As: %+v, want %+v", got, want)
	}
}
