package render

import (
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// Limits of the runner (github-action.md 5, read in its source): it keeps ten
// commands of a level for each step, drops the others silently, and cuts a
// message at 4,096 characters.
const (
	maxCommandsPerLevel = 10
	maxCommandMessage   = 4096 // UTF-16 code units, counted after escaping
)

// property is one key of a workflow command.
type property struct{ key, value string }

// The escapes of workflow commands. A replacer works in one pass, so that the
// percent signs it makes are not escaped again.
var (
	dataEscapes     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// command writes one workflow command, without a line feed at its end:
// "::error file=a%3Ab,line=1::message". Properties with an empty value are left
// out. Name and keys are ours and written as they are.
func command(name string, properties []property, data string) string {
	var b strings.Builder
	b.WriteString("::")
	b.WriteString(name)
	sep := " "
	for _, p := range properties {
		if p.value == "" {
			continue
		}
		b.WriteString(sep)
		b.WriteString(p.key)
		b.WriteByte('=')
		_, _ = propertyEscapes.WriteString(&b, p.value) // a strings.Builder never fails
		sep = ","
	}
	b.WriteString("::")
	_, _ = dataEscapes.WriteString(&b, data)
	return b.String()
}

// CommandOptions are the choices of Log.Annotate.
type CommandOptions struct {
	// PathPrefix is the folder of the repository in the workspace, "" or "."
	// when they are one: the runner makes paths relative to the workspace.
	PathPrefix string
	// Where says where the findings are that are not written as commands, as in
	// "see the job summary". Empty means "the log".
	Where string
	// Taken is how many commands of each level the step has written already:
	// they count against the runner's ten.
	Taken report.Counts
}

// writeCommands writes annotations as workflow commands, a line each. Of each level
// there are at most ten; when there are more, the last one says how many, and
// where they are.
func writeCommands(w io.Writer, annotations []Annotation, o CommandOptions) error {
	if o.Where == "" {
		o.Where = "the log"
	}
	byLevel := map[report.Severity][]Annotation{}
	for _, a := range annotations {
		s := a.Severity
		if s != report.Warning && s != report.Notice {
			s = report.Error // a severity nobody knows must not look harmless
		}
		byLevel[s] = append(byLevel[s], a)
	}
	var b strings.Builder
	for _, level := range []struct {
		severity report.Severity
		taken    int
	}{
		{report.Error, o.Taken.Errors},
		{report.Warning, o.Taken.Warnings},
		{report.Notice, o.Taken.Notices},
	} {
		list, room := byLevel[level.severity], maxCommandsPerLevel-level.taken
		if room <= 0 {
			continue
		}
		rest := 0
		if len(list) > room {
			rest = len(list) - (room - 1)
			list = list[:room-1]
		}
		for i := range list {
			b.WriteString(annotationCommand(level.severity, &list[i], o.PathPrefix))
			b.WriteByte('\n')
		}
		if rest > 0 {
			text := fmt.Sprintf("%s more: GitHub shows %d of a level for each step. See %s.",
				plural.Of(rest, string(level.severity)), maxCommandsPerLevel, o.Where)
			b.WriteString(command(string(level.severity), []property{{"title", "handoff-gate"}}, text))
			b.WriteByte('\n')
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// annotationCommand is the command of one annotation.
func annotationCommand(level report.Severity, a *Annotation, prefix string) string {
	var props []property
	if a.Path != "" {
		file := a.Path
		if prefix != "" && prefix != "." {
			file = path.Join(prefix, file)
		}
		props = append(props, property{"file", file}, property{"line", strconv.Itoa(max(a.StartLine, 1))})
		if a.EndLine > a.StartLine {
			props = append(props, property{"endLine", strconv.Itoa(a.EndLine)})
		} else if a.StartColumn > 0 { // the runner strips columns that span lines
			props = append(props, property{"col", strconv.Itoa(a.StartColumn)})
			if a.EndColumn > 0 {
				props = append(props, property{"endColumn", strconv.Itoa(a.EndColumn)})
			}
		}
	}
	props = append(props, property{"title", defuse(a.Title)})
	message := cutWithNote(defuse(a.Message), maxCommandMessage, "… (cut: the log has the whole message)", escapedUnits)
	return command(string(level), props, message)
}

// escapedUnits counts the characters of s as the runner's language does, in
// UTF-16 code units, and as the command spells them. The message itself is
// shorter than that, so it is below the limit however the limit is meant.
func escapedUnits(s string) int {
	n := 0
	for _, r := range s {
		switch r {
		case '%', '\r', '\n':
			n += 3
		default:
			n += max(utf16.RuneLen(r), 1)
		}
	}
	return n
}
