package governance

import (
	"fmt"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// sections are the members of the configuration that switch a gate on.
var sections = map[string]string{
	VersionSync:       "versionSites",
	Claims:            "claims",
	ForbiddenPatterns: "forbiddenPatterns",
	SchemaDocSync:     "docSync",
	DocLinks:          "docLinks",
}

// Removed reports each gate that the base's configuration selects and the work
// tree's does not (aahp-governance.md 1). An absent file is an empty configuration.
// Where one of the two is invalid nothing is compared: no gate of it is evaluated.
func Removed(base, work *Config, commands gate.Commands) []report.Finding {
	if !base.Valid("doctor") || !work.Valid("doctor") {
		return nil
	}
	var findings []report.Finding
	removed := func(what, how string, member ...string) {
		span := work.key(member)
		span.Line = max(span.Line, 1)
		findings = append(findings, GateRemoved.At(work.Path, span, fmt.Sprintf("The base has %s on, and the change switches it off: %s.", what, how),
			again(commands, "Restore it, or have the removal reviewed.")))
	}
	all := Present{Package: true, Changelog: true, Manifest: true}
	for _, id := range IDs {
		_, on := Applies(id, base, all)
		if _, out := base.Deselects(id); out || !on {
			continue
		}
		what := "the gate " + id
		if absent, on := Applies(id, work, all); !on {
			removed(what, absent, sections[id])
		} else if by, out := work.Deselects(id); out {
			removed(what, by+" leaves it out", "check", by[len("check."):])
		} else if id == Handoff && base.Log != nil && work.Log == nil {
			removed("the release journal of "+what, ConfigFile+" has no generate.log", "generate", "log")
		}
	}
	if base.PinnedDep.Set && !work.PinnedDep.Set {
		removed("the gate "+PinnedDep, ConfigFile+" has no pinnedDep", "pinnedDep")
	}
	if base.Enforce && !work.Enforce {
		removed("the enforcement of the gate "+VerifyWorkflow, "verifyWorkflow.enforce is not true", "verifyWorkflow", "enforce")
	}
	return findings
}

// key is the place of the key of a member, or of the innermost member above it
// that is there; zero without any.
func (c *Config) key(path []string) report.Span {
	var span report.Span
	if c.root == nil {
		return span
	}
	at := c.root.Root
	for _, key := range path {
		m, ok := at.Member(key)
		if !ok {
			break
		}
		span, at = c.root.AtKey(m), m.Value
	}
	return span
}
