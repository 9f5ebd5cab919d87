package adopt

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
)

// openTasks is how many open tasks a summary lists.
const openTasks = 5

// statuses are those that a summary counts, in its order; every other one is of
// the last.
var statuses = []string{"ready", "in_progress", "blocked", "done", "cancelled", "other"}

// Status summarises the manifest for people (aahp-authoring.md 3), in lines that
// are safe for a terminal. path is how the summary calls the project. The error is
// ErrNoManifest, or says why the manifest cannot be read.
func (f *Folder) Status(path string) (string, error) {
	data, err := f.read(ManifestName, gate.MaxManifest)
	switch {
	case isNone(err):
		return "", ErrNoManifest
	case err != nil:
		return "", fmt.Errorf("%s %w", ManifestPath, err)
	case !utf8.Valid(data):
		return "", errors.New(ManifestPath + " is not valid UTF-8")
	}
	// Nothing is judged here, so whatever JSON.parse reads is read.
	doc, err := jsondoc.Parse(data, jsondoc.Options{KeepEqualKeys: true, KeepSurrogates: true})
	if err != nil {
		return "", fmt.Errorf("%s is not valid JSON: %s", ManifestPath, reason(data, 0, err))
	}
	if doc.Root.Kind != jsondoc.Object {
		return "", fmt.Errorf("%s holds %s, not an object", ManifestPath, doc.Root.Kind.Article())
	}
	return summarize(doc.Root, path, bytes.Count(data, []byte{'\n'})), nil
}

func summarize(m *jsondoc.Value, path string, lines int) string {
	var b strings.Builder
	line := func(label, value string) { fmt.Fprintf(&b, "%s: %s\n", label, Show(value)) }
	session := m.Get("last_session")
	line("Project", shown(m.Get("project"), "(unknown)"))
	line("Path", path)
	line("Phase", shown(session.Get("phase"), "(unknown)"))
	line("Agent", shown(session.Get("agent"), "(unknown)"))
	line("Session", shown(session.Get("timestamp"), "(unknown)"))
	line("Session ID", shown(session.Get("session_id"), "(unknown)"))
	line("Commit", shown(session.Get("commit"), "(none)"))
	line("Manifest lines", strconv.Itoa(lines))
	line("Next actions lines", shown(m.Get("files").Get(nextName).Get("lines"), "?"))
	tasks := distinct(m.Get("tasks"))
	line("Task counts", counts(tasks))
	quick := ecma.Trim(shown(m.Get("quick_context"), ""))
	if quick == "" {
		quick = "(no quick_context)"
	}
	line("Quick context", quick)
	b.WriteString("Open ready/in_progress tasks:\n")
	n := 0
	for _, t := range tasks {
		status := t.Value.Get("status")
		if n < openTasks && status.Is(jsondoc.String) && (status.Text == "ready" || status.Text == "in_progress") {
			n++
			fmt.Fprintf(&b, "  %s: %s (%s)\n", Show(sound(t.Key)), Show(shown(t.Value.Get("title"), "(no title)")), status.Text)
		}
	}
	if n == 0 {
		b.WriteString("  (no ready or in_progress tasks)\n")
	}
	return b.String()
}

// shown gives a value as a line shows it: a string by its text, a number or a
// boolean as it is spelled. Anything else counts as absent.
func shown(v *jsondoc.Value, absent string) string {
	switch {
	case v.Is(jsondoc.String):
		return sound(v.Text)
	case v.Is(jsondoc.Number):
		return v.Text
	}
	if truth, ok := v.Bool(); ok {
		return strconv.FormatBool(truth)
	}
	return absent
}

// distinct gives the members of an object, each key once: where the first of equal
// ones stands, with the value of the last.
func distinct(v *jsondoc.Value) []jsondoc.Member {
	if !v.Is(jsondoc.Object) {
		return nil
	}
	var out []jsondoc.Member
	at := map[string]int{}
	for _, m := range v.Members {
		if i, ok := at[m.Key]; ok {
			out[i].Value = m.Value
			continue
		}
		at[m.Key] = len(out)
		out = append(out, m)
	}
	return out
}

// counts says how many tasks have which status.
func counts(tasks []jsondoc.Member) string {
	of := map[string]int{}
	for _, t := range tasks {
		status := statuses[len(statuses)-1]
		if v := t.Value.Get("status"); v.Is(jsondoc.String) {
			for _, known := range statuses {
				if v.Text == known {
					status = known
				}
			}
		}
		of[status]++
	}
	var parts []string
	for _, s := range statuses {
		if of[s] > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", s, of[s]))
		}
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}
