package governance

import (
	"slices"
	"strings"
)

// Present says which of the files that gates go by exist. A file counts by
// existing, whatever it is.
type Present struct {
	Package   bool // package.json
	Changelog bool // CHANGELOG.md
	Manifest  bool // .ai/handoff/MANIFEST.json
}

// Applies is the one predicate of aahp-governance.md 3, for the gates of check
// and for pinned-dep. Where a gate does not apply, absent says in one sentence
// which of its inputs is missing.
func Applies(gate string, c *Config, p Present) (absent string, applies bool) {
	section := func(key string, there bool) (string, bool) {
		if there {
			return "", true
		}
		return ConfigFile + " has no " + key, false
	}
	switch gate {
	case Changelog, ChangelogFormat:
		var missing []string
		if !p.Package {
			missing = append(missing, PackageFile)
		}
		if !p.Changelog {
			missing = append(missing, ChangelogFile)
		}
		return "there is no " + strings.Join(missing, " and no "), len(missing) == 0
	case VersionSync:
		if !p.Package {
			return "there is no " + PackageFile, false
		}
		return section("versionSites", len(c.VersionSites) > 0)
	case Claims:
		return section("claims", len(c.Claims) > 0)
	case ForbiddenPatterns:
		return section("forbiddenPatterns", len(c.ForbiddenPatterns) > 0)
	case SchemaDocSync:
		return section("docSync", len(c.DocSync) > 0)
	case DocLinks:
		return section("docLinks", c.DocLinks != nil)
	case Handoff:
		return "there is no " + ManifestFile, p.Manifest
	case PinnedDep:
		return "there is no " + PackageFile, p.Package
	}
	panic("governance: no predicate for the gate " + gate)
}

// Deselects tells whether check.only or check.skip keep a gate from running, and
// which of the two.
func (c *Config) Deselects(gate string) (by string, deselected bool) {
	named := func(list *Selection) bool {
		return slices.ContainsFunc(list.Gates, func(t Text) bool { return t.Text == gate })
	}
	switch {
	case c.Only != nil && !named(c.Only):
		return "check.only", true
	case c.Skip != nil && named(c.Skip):
		return "check.skip", true
	}
	return "", false
}
