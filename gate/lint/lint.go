// Package lint decides what stands in the content of a handoff set
// (aahp-lint.md): instructions, credentials, addresses, hidden characters,
// locks and conflict markers. A Scanner reads the bytes of one file, once, as
// they stream past; Check judges what the scanners of all snapshots found.
//
// The package opens no file, starts no process and reads no clock. It never
// keeps a credential: what it found is described by kind, place and length. An
// e-mail address is kept, unexported, because the allowlist names addresses.
//
// A new form of secret is a row of detectors (secrets.go), a new phrase one of
// phrases.go. Another kind of content to find is a rule in rules.go that a Scanner
// feeds and judge.go judges.
package lint

import (
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// LockFile is the file by which a session says that it is writing, directly in the
// handoff folder.
const LockFile = "HANDOFF.lock"

// SecretSet says which detectors look for credentials.
type SecretSet uint8

// The detector sets (--secrets). Extended adds the gitleaks rules to Fixed.
const (
	Fixed SecretSet = iota
	Extended
)

// Options are what a Scanner needs to know about the run.
type Options struct {
	Secrets SecretSet
	// Size is the size of the file in bytes where it is known, else 0. It only
	// saves copying: a JSON file, and a line, are kept whole while they are read.
	Size int64
}

// Hit is one thing found in one file.
type Hit struct {
	Rule     *rule.Rule
	Severity report.Severity
	Kind     string      // the phrase, the kind of secret or the gitleaks rule; "" for other rules
	Span     report.Span // the zero Span where a file as a whole is meant
	Message  string      // complete but for the snapshots it was seen in

	address string // of a lint/pii hit, as written; never printed
	pointer string // of a decoded string, masked
}

// kind tells hits of one rule on one line apart.
func (h *Hit) kind() string {
	if h.address != "" {
		return h.address
	}
	return h.Kind
}

// FileResult is what one Scanner found.
type FileResult struct {
	Path    string // relative to the handoff folder, slash-separated, any bytes
	Hits    []Hit
	Markers Markers

	// IgnorePatterns counts the pattern lines when the file is the handoff
	// folder's own .aiignore; FirstIgnore is where the first stands.
	IgnorePatterns int
	FirstIgnore    report.Span

	allowlist *allowlist          // set when the file is the handoff folder's own pii-allowlist.json
	exempt    map[string]struct{} // addresses that section 5 exempts by their form
}

// Markers is what the conflict-marker test of one file gave.
type Markers struct {
	Count int         // lines that are markers
	First report.Span // of the brackets of the first one
}
