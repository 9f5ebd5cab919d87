package session

import (
	"fmt"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// Resolve gives the sessions that a prefix names (sessions.md 4).
func Resolve(candidates []Head, prefix string) []Head {
	if found := beginning(candidates, prefix); len(found) > 0 {
		return found
	}
	const common = "session-"
	if len(prefix) < len(common) || !strings.EqualFold(prefix[:len(common)], common) {
		if found := beginning(candidates, common+prefix); len(found) > 0 {
			return found
		}
	}
	project, id, ok := strings.Cut(prefix, "/")
	if !ok {
		return nil
	}
	var found []Head
	for _, h := range candidates {
		if !h.Legacy() && h.Project == project && strings.HasPrefix(h.ID, id) {
			found = append(found, h)
		}
	}
	return found
}

// beginning gives the sessions whose name, or whose field session, begins so.
func beginning(candidates []Head, prefix string) []Head {
	var found []Head
	for _, h := range candidates {
		if session, ok := sessionText(h.Session); strings.HasPrefix(h.ID, prefix) || ok && strings.HasPrefix(session, prefix) {
			found = append(found, h)
		}
	}
	return found
}

// sessionText gives the field session as text: a string that is not empty, or a
// number that is not zero.
func sessionText(v ecma.Value) (string, bool) {
	if v.Kind == jsondoc.Number {
		f, _ := v.Number()
		return string(v.JSON), f != 0
	}
	s, ok := v.Text()
	return s, ok && s != ""
}

// maxNamed is how many sessions the message about an ambiguous prefix names.
const maxNamed = 10

// AmbiguousPrefix is the finding that a prefix names several sessions.
func AmbiguousPrefix(root string, found []Head, list string) report.Finding {
	var names []string
	for _, h := range found[:min(len(found), maxNamed)] {
		names = append(names, safetext.Clean(h.Name()))
	}
	if more := len(found) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return finding(PrefixAmbiguous, PrefixAmbiguous.Severity, root, report.Span{}, fmt.Sprintf("the prefix names %s: %s", plural.Of(len(found), "session"), strings.Join(names, ", ")),
		"Give more characters, or project/prefix.", list)
}

// Missing is the finding that nothing was found.
func Missing(root, why, list string) report.Finding {
	return finding(NoMatch, NoMatch.Severity, root, report.Span{}, why, "Check the prefix and the root; the command below lists what exists.", list)
}

// Headless is the finding that a folder lost its manifest.
func Headless(p Place, again string) report.Finding {
	return finding(ManifestMissing, ManifestMissing.Severity, p.Path, report.Span{}, "the folder has files of a session and no "+ManifestName, "Restore "+ManifestName+", or remove the folder.", again)
}

// Linked is the finding that a link stands at the place of a session or project.
func Linked(path, again string) report.Finding {
	return finding(Symlink, Symlink.Severity, path, report.Span{}, "a symbolic link stands where a session or project would, and is not followed", "Replace the link by the folder that it stands for.", again)
}

// Unlisted is the finding that a folder of a root could not be listed.
func Unlisted(b Broken, again string) report.Finding {
	return finding(Unreadable, Unreadable.Severity, b.Path, report.Span{}, "the folder cannot be listed: "+safetext.Clean(b.Err.Error()), "Make the folder one that can be read.", again)
}
