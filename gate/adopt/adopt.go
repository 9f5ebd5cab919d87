// Package adopt is what writes: the files of a handoff set, its manifest and journal
// among them, and git's hooks. Whatever it writes is written beside its target and
// then renamed over it, never through a link, and never outside of the handoff folder
// and the folder of the hooks.
//
// A new file of a handoff set is a name in integrity.Canonical and in starters, and
// its text in templates/. A new member of the manifest is written by document.bytes
// and, where it is to last, read by readPrevious. A new hook is a row of GitHooks.
package adopt

import (
	"strings"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
)

// Names of the files of a handoff set that this package knows by name.
const (
	ManifestName  = "MANIFEST.json"
	statusName    = "STATUS.md"
	nextName      = "NEXT_ACTIONS.md"
	logName       = "LOG.md"
	ArchiveName   = "LOG-ARCHIVE.md"
	IndexName     = "LOG-ARCHIVE.index.json"
	allowlistName = "pii-allowlist.json"
)

// ManifestPath is how messages call the manifest.
const ManifestPath = gate.ManifestFile

// Show prepares outside text for a terminal: every control character is shown as
// \u00xx, so that a title cannot forge a line or drive the terminal
// (aahp-authoring.md 1, rule 8). What is not UTF-8 becomes U+FFFD: a terminal
// may take such a byte for a control character.
func Show(s string) string {
	plain := true
	for _, r := range s {
		if isControl(r) || r == utf8.RuneError {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if isControl(r) {
			b.Write(safetext.AppendEscape(nil, r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isControl(r rune) bool { return r < 0x20 || r >= 0x7f && r <= 0x9f }

// ShowCut is Show for a message: text of any length is cut to what one holds.
func ShowCut(s string) string {
	n := 0
	for i := range s {
		if n == safetext.Limit {
			return Show(s[:i]) + "…"
		}
		n++
	}
	return Show(s)
}
