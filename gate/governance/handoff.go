package governance

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsregexp"
	"github.com/handoff-gate/handoff-gate/gate/internal/lines"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// handoffGate is 4.8: the release journal and the stated version are current.
func (j *Judge) handoffGate() (string, []report.Finding) {
	var compared []string
	var findings []report.Finding
	if j.pkg.Exists && j.pkg.Doc == nil {
		_, findings = j.version()
	}
	if j.in.Config.Log != nil {
		what, found := j.journal(j.in.Config.Log)
		if what != "" {
			compared = append(compared, what)
		}
		findings = append(findings, found...)
	}
	what, found := j.statedVersion()
	if what != "" {
		compared = append(compared, what)
	}
	findings = append(findings, found...)
	if len(compared) == 0 {
		return "nothing compared", findings
	}
	return strings.Join(compared, ", ") + " compared", findings
}

// refusedTargets are the agents' own files, which are never generated.
var refusedTargets = []string{
	gate.HandoffDir + "/log.md", gate.HandoffDir + "/log-archive.md", gate.HandoffDir + "/log-archive.index.json",
}

// journal compares the release journal with its changelog. what says what was
// compared, "" for nothing.
func (j *Judge) journal(log *Log) (what string, findings []report.Finding) {
	if log.Target == nil || ecma.Trim(log.Target.Text) == "" {
		return "", []report.Finding{j.config(TargetUnset, log.Span, "generate.log names no target.", "Name the journal's file in generate.log.target.")}
	}
	target, resolved, why := j.resolve(log.Target.Text)
	if why != "" {
		_, findings = j.inside(*log.Target)
	} else if refused := j.refusedTarget(target, resolved); refused != "" {
		return "", []report.Finding{j.config(TargetRefused, log.Target.Span, fmt.Sprintf("The target %s is %s, which agents write and nothing generates.", j.quote(log.Target.Text), refused),
			"Name another file in generate.log.target.")}
	}
	source, escape := j.inside(log.Source)
	if findings = append(findings, escape...); findings != nil {
		return "", findings
	}
	doc := j.follow(source, maxNamed)
	if doc.State != gate.Present {
		span := log.Source.Span
		if span.Line == 0 {
			span = log.Span
		}
		return "", []report.Finding{j.config(SourceMissing, span, fmt.Sprintf("The changelog %s, of which the release journal is made, cannot be read: %s.", j.quote(log.Source.Text), j.unread(doc)),
			"Restore the file, or correct generate.log.source.")}
	}
	h := parseHistory(doc.Data)
	wanted := h.journal()
	stale := func(p string, span report.Span, message string) []report.Finding {
		return []report.Finding{j.at(StaleJournal, p, span, message,
			fmt.Sprintf("Regenerate the journal from %s: a first line %q, and from the heading %q on the table of its releases to the end.", j.clean(log.Source.Text), "# "+j.clean(j.title(log)), wanted[0]))}
	}
	what = "release journal (" + plural.Of(len(h.releases), "release") + ")"
	doc = j.follow(target, maxNamed)
	if doc.State != gate.Present {
		return what, stale(j.in.Config.Path, log.Target.Span, fmt.Sprintf("The journal %s cannot be read: %s.", j.quote(log.Target.Text), j.unread(doc)))
	}
	got := strings.Split(strings.ReplaceAll(ecma.Decode(doc.Data), "\r", ""), "\n")
	line, expected := firstDifference(got, "# "+j.title(log), wanted)
	if line == 0 {
		return what, nil
	}
	// As for the patterns, a file that ends in a line end has a last, empty line.
	return what, stale(target, report.Span{Line: min(line, len(got))}, fmt.Sprintf("The journal is not what %s says: %s.", j.clean(log.Source.Text), j.difference(got, line, expected)))
}

// refusedTarget tells which of the agents' files a target is; "" for none.
func (j *Judge) refusedTarget(target, resolved string) string {
	for _, p := range []string{target, resolved} {
		rel, _ := gate.Below(j.in.Project, p)
		rel = path.Clean(strings.ToLower(strings.ReplaceAll(rel, `\`, "/")))
		if slices.Contains(refusedTargets, rel) {
			return rel
		}
	}
	return ""
}

// title is the title of the release journal.
func (j *Judge) title(log *Log) string {
	switch {
	case log.Title != "":
		return log.Title
	case j.pkg.Name() != "":
		return j.pkg.Name() + ": Release Journal"
	}
	return j.in.Name + ": Release Journal"
}

// journal is the part of a release journal that is generated: its lines, the last
// one empty.
func (h *history) journal() []string {
	out := []string{fmt.Sprintf("%s%d, newest first)", journalHeading, len(h.releases)), "", "| Version | Date | Headline |", "|---------|------|----------|"}
	for i, at := range h.releases {
		end := len(h.lines)
		if i+1 < len(h.releases) {
			end = h.releases[i+1].line - 1
		}
		out = append(out, fmt.Sprintf("| v%s | %s | %s |", at.name, at.date, headline(h.lines[at.line:end])))
	}
	return append(out, "")
}

const journalHeading = "## Releases ("

// maxHeadline is how many characters of a headline a journal has.
const maxHeadline = 120

// headline makes one line of plain text of a release: of the first of its lines
// that is not blank.
func headline(body []string) string {
	i := slices.IndexFunc(body, func(line string) bool { return ecma.Trim(line) != "" })
	if i < 0 {
		return ""
	}
	s := strings.ReplaceAll(body[i], "**", "")
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "*") {
		s = strings.TrimLeftFunc(s[1:], ecma.IsSpace)
	}
	s = strings.ReplaceAll(s, "`", "")
	s = strings.Join(strings.FieldsFunc(s, ecma.IsSpace), " ")
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
	s = strings.ReplaceAll(s, `\`, `\\`)
	s = strings.ReplaceAll(s, "|", `\|`)
	s = strings.Trim(s, " ")
	if len(s) > maxHeadline {
		s = strings.TrimRight(s[:maxHeadline-3], " ") + "..."
	}
	return s
}

// firstDifference gives the first line of a journal that is not as it should be,
// and what should stand there; 0 when there is none. What stands between the title
// and the table is free.
func firstDifference(got []string, title string, wanted []string) (line int, expected string) {
	if got[0] != title {
		return 1, title
	}
	from := slices.IndexFunc(got, func(s string) bool { return strings.HasPrefix(s, journalHeading) })
	if from < 0 {
		return 1, wanted[0]
	}
	table := got[from:]
	for i := range max(len(table), len(wanted)) {
		switch {
		case i == len(table):
			return from + i, wanted[i-1] + " and a line end" // the last line has none
		case i == len(wanted):
			return from + i + 1, ""
		case table[i] != wanted[i]:
			return from + i + 1, wanted[i]
		}
	}
	return 0, ""
}

func (j *Judge) difference(got []string, line int, expected string) string {
	found := "nothing"
	if line <= len(got) && got[line-1] != "" {
		found = j.quote(got[line-1])
	}
	if expected == "" {
		return fmt.Sprintf("line %d has %s, and the journal should have ended there", line, found)
	}
	return fmt.Sprintf("line %d has %s, expected is %s", line, found, j.quote(expected))
}

var statedVersion = jsregexp.MustCompile(`Current version:\s*\*\*v(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)\*\*`, "i")

// statedVersion compares what the handoff calls the current version. what says
// what was compared, "" for nothing.
func (j *Judge) statedVersion() (what string, findings []report.Finding) {
	p, escape := j.inside(j.in.Config.Freshness)
	if escape != nil {
		return "", escape
	}
	doc := j.follow(p, maxNamed)
	switch {
	case doc.State == gate.Absent || !j.pkg.Exists:
		return "", nil
	case doc.State != gate.Present:
		return "", []report.Finding{j.at(StatedVersion, p, report.Span{}, fmt.Sprintf("The file that states the current version cannot be read: %s.", j.unread(doc)),
			"Make it a regular file that the gate may read.")}
	}
	text := ecma.Decode(doc.Data)
	m := statedVersion.FindStringSubmatchIndex(text)
	if m == nil || j.pkg.Doc == nil {
		return "", nil // a package.json that cannot be parsed is reported already
	}
	version, missing := j.version()
	if missing != nil {
		return "", missing
	}
	what = "stated version " + j.clean(version)
	stated := text[m[2]:m[3]]
	if stated == version {
		return what, nil
	}
	return what, []report.Finding{j.at(StatedVersion, p, report.Span{Line: lines.New([]byte(text)).Line(m[0])}, fmt.Sprintf("The current version is stated as %s, and the version of %s is %s.", j.clean(stated), PackageFile, j.clean(version)),
		fmt.Sprintf("State **v%s** there.", j.clean(version)))}
}
