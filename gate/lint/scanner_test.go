package lint

import (
	"fmt"
	"strings"
)

// scanFile scans a file in one piece.
func scanFile(name, text string, o Options) FileResult {
	s := NewScanner(name, o)
	_, _ = s.Write([]byte(text))
	return s.Finish()
}

// describe writes hits as a test reads them: rule, severity, place, kind.
func describe(r FileResult) []string {
	var out []string
	for _, h := range r.Hits {
		kind := h.Kind
		if h.address != "" {
			kind = h.address
		}
		out = append(out, fmt.Sprintf("%s %s %d:%d-%d %s", strings.TrimPrefix(h.Rule.ID, "lint/"), h.Severity,
			h.Span.Line, h.Span.Column, h.Span.EndColumn, kind))
	}
	return out
}
