package governance

import (
	"fmt"
	"slices"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// values are what a source lists: each value once, with the line where it is
// first.
type values struct {
	path string
	line map[string]int
}

// docSyncGate is 4.6: lists agree.
func (j *Judge) docSyncGate() (string, []report.Finding) {
	var findings []report.Finding
	for _, g := range j.in.Config.DocSync {
		if len(g.Sources) < 2 {
			findings = append(findings, j.config(SingleSource, g.Span, fmt.Sprintf("The group %s has %s, so nothing is compared.", j.quote(g.ID), plural.Of(len(g.Sources), "source")),
				"Name a second source, or remove the group."))
		}
		var reference *values
		for _, s := range g.Sources {
			v, bad := j.source(g, s)
			findings = append(findings, bad...)
			switch {
			case bad != nil:
			case reference == nil:
				reference = v
			default:
				findings = append(findings, j.compare(g, reference, v)...)
			}
		}
	}
	return plural.Of(len(j.in.Config.DocSync), "group") + " compared", findings
}

func (j *Judge) source(g Group, s Source) (*values, []report.Finding) {
	p, escape := j.inside(s.File)
	if escape != nil {
		return nil, escape
	}
	re, bad := j.captures(SyncPattern, "the group "+j.quote(g.ID), s.Pattern, Text{Text: "g"})
	doc := j.follow(p, maxNamed)
	if doc.State != gate.Present {
		bad = append(bad, j.config(MissingSource, s.File.Span, fmt.Sprintf("The source %s of the group %s cannot be read: %s.", j.quote(s.File.Text), j.quote(g.ID), j.unread(doc)),
			"Restore the file, correct its path, or drop the source."))
	}
	if bad != nil {
		return nil, bad
	}
	w := readWhole(doc.Data, false)
	v := &values{path: p, line: map[string]int{}}
	matches, bad := j.matches(SyncPattern, re, s.Pattern, w, p)
	if bad != nil {
		return nil, bad
	}
	for _, m := range matches {
		if m[2] < 0 {
			continue
		}
		if text := w.text[m[2]:m[3]]; v.line[text] == 0 {
			v.line[text] = w.line(m[2])
		}
	}
	if len(v.line) == 0 {
		return nil, []report.Finding{j.at(NoValues, p, report.Span{Line: 1}, fmt.Sprintf("Nothing there matches the pattern of the group %s.", j.quote(g.ID)),
			"Correct the pattern, or restore the list.")}
	}
	return v, nil
}

// compare compares a later source with the reference.
func (j *Judge) compare(g Group, reference, v *values) []report.Finding {
	var missing, extra []string
	for text := range reference.line {
		if v.line[text] == 0 {
			missing = append(missing, text)
		}
	}
	line := 0
	for text, at := range v.line {
		if reference.line[text] == 0 {
			extra = append(extra, text)
			if line == 0 || at < line {
				line = at
			}
		}
	}
	if len(missing)+len(extra) == 0 {
		return nil
	}
	slices.Sort(missing)
	slices.Sort(extra)
	message := fmt.Sprintf("The group %s: this file and %s do not agree.", j.quote(g.ID), j.clean(reference.path))
	remedy := ""
	if len(missing) > 0 {
		message += " Missing here: " + j.list(missing) + "."
		remedy += "Add here: " + j.list(missing) + ". "
	}
	if len(extra) > 0 {
		message += " Only here: " + j.list(extra) + "."
		remedy += "Remove here: " + j.list(extra) + ". "
	}
	return []report.Finding{j.at(Disagree, v.path, report.Span{Line: max(line, 1)}, message, remedy+"Or correct "+j.clean(reference.path)+", or the patterns.")}
}
