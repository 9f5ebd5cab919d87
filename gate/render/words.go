package render

import (
	"fmt"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// countWords names the counts that are not zero, strongest first: "2 errors,
// 1 warning". It is empty when there are none.
func countWords(c report.Counts) string {
	var parts []string
	for _, p := range []struct {
		n   int
		one string
	}{{c.Errors, "error"}, {c.Warnings, "warning"}, {c.Notices, "notice"}} {
		if p.n > 0 {
			parts = append(parts, plural.Of(p.n, p.one))
		}
	}
	return strings.Join(parts, ", ")
}

// headline is the verdict of a report in one line: "Failed: 2 errors, 1
// warning". A report in which every layer was skipped passes, but says that
// nothing was checked.
func headline(r *report.Report) string {
	words := countWords(r.Count())
	switch {
	case r.Verdict == report.Fail && words == "":
		return "Failed"
	case r.Verdict == report.Fail:
		return "Failed: " + words
	case words != "":
		return "Passed: " + words
	case allSkipped(r):
		return "Passed: nothing was checked"
	}
	return "Passed"
}

// allSkipped tells whether no layer at all was evaluated.
func allSkipped(r *report.Report) bool {
	for _, p := range r.Projects {
		for _, l := range p.Layers {
			if l.Status != report.Skip {
				return false
			}
		}
	}
	return true
}

// statusWord says a layer's status to a person who does not know the report.
func statusWord(s report.Status) string {
	switch s {
	case report.OK:
		return "passed"
	case report.Warn:
		return "passed with warnings"
	case report.Failed:
		return "failed"
	case report.Skip:
		return "skipped"
	}
	return string(s)
}

// statusSign is the picture beside statusWord.
func statusSign(s report.Status) string {
	switch s {
	case report.OK:
		return "✅"
	case report.Warn:
		return "⚠️"
	case report.Failed:
		return "❌"
	case report.Skip:
		return "➖"
	}
	return "❔"
}

// severitySign is the picture of one finding.
func severitySign(s report.Severity) string {
	switch s {
	case report.Error:
		return "❌"
	case report.Warning:
		return "⚠️"
	case report.Notice:
		return "ℹ️"
	}
	return "❔"
}

// shortID is a commit id as people write it: 12 digits, enough for any
// repository. What is not a full object id comes back empty.
func shortID(id string) string {
	if !isObjectID(id) {
		return ""
	}
	return id[:12]
}

// isObjectID tells whether id is a full object id in lower-case hex: 40 digits
// for SHA-1, 64 for SHA-256.
func isObjectID(id string) bool {
	if len(id) != 40 && len(id) != 64 {
		return false
	}
	return strings.Trim(id, "0123456789abcdef") == ""
}

// splitRemedy parts what a person does from the commands that can be pasted: a
// remedy ends in lines "fix: COMMAND" where a command helps.
func splitRemedy(remedy string) (advice []string, commands []string) {
	for line := range strings.SplitSeq(remedy, "\n") {
		if c, ok := report.FixOf(line); ok {
			commands = append(commands, c)
		} else if strings.TrimSpace(line) != "" {
			advice = append(advice, line)
		}
	}
	return advice, commands
}

// location is where a finding points, for people: "path:line:column", as much
// of it as is known.
func location(f *report.Finding) string {
	switch {
	case f.Path == "" || f.Line < 1:
		return f.Path
	case f.Column < 1:
		return fmt.Sprintf("%s:%d", f.Path, f.Line)
	}
	return fmt.Sprintf("%s:%d:%d", f.Path, f.Line, f.Column)
}
