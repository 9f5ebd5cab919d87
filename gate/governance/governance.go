// Package governance is the command check: aahp.config.json, which of the eight
// gates it selects, and what each of them finds in the work tree
// (aahp-governance.md 1 to 5, 9, 10). The command doctor, in gate/governance/doctor,
// shares the configuration, the predicate, two of the gates and the record.
//
// A new gate is an id in IDs with a title, its condition in Applies, a case of
// Judge.Gate with a file such as links.go that decides it, and its section in
// schema/aahp-config.schema.json.
package governance

import (
	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// Names of the files that the gates go by, relative to the project.
const (
	ConfigFile    = "aahp.config.json"
	PackageFile   = "package.json"
	ChangelogFile = "CHANGELOG.md"
	ManifestFile  = gate.ManifestFile
)

// The layer in which the report of check and of doctor says what it thinks of
// the configuration.
const (
	ConfigID    = "config"
	ConfigTitle = "Configuration"
)

// The ids of the gates of check (1.1).
const (
	Changelog         = "changelog"
	ChangelogFormat   = "changelog-format"
	VersionSync       = "version-sync"
	Claims            = "claims"
	ForbiddenPatterns = "forbidden-patterns"
	SchemaDocSync     = "schema-doc-sync"
	DocLinks          = "doc-links"
	Handoff           = "handoff"
)

// The gates of doctor that this package speaks of, too: PinnedDep for its
// predicate, VerifyWorkflow for the setting that makes it block.
const (
	PinnedDep      = "pinned-dep"
	VerifyWorkflow = "verify-workflow"
)

// IDs are the gates of check, in the order of the report. They are what
// check.only and check.skip may name.
var IDs = []string{Changelog, ChangelogFormat, VersionSync, Claims, ForbiddenPatterns, SchemaDocSync, DocLinks, Handoff}

// Titles name the gates for people.
var Titles = map[string]string{
	Changelog:         "Changelog entry of the version",
	ChangelogFormat:   "Changelog format",
	VersionSync:       "Version in other files",
	Claims:            "Numbers in the documentation",
	ForbiddenPatterns: "Forbidden patterns",
	SchemaDocSync:     "Lists that must agree",
	DocLinks:          "Links in the documentation",
	Handoff:           "Release journal and current version",
}

// Masked is text from the repository made safe for a message, without the
// credentials and addresses that mask hides; a nil mask hides nothing.
func Masked(mask func(string) string, text string) string {
	if mask != nil {
		text = mask(text)
	}
	return safetext.Clean(text)
}

// again is a remedy for what a person has to change: the same command once more
// proves it.
func again(c gate.Commands, text string) string { return report.WithFix(text, c.Again) }
