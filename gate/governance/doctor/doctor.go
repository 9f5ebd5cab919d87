// Package doctor is the command doctor: the conformance record of a project over
// eight gates (aahp-governance.md 5 and 6). Two of them are those of check, and two
// judge the repository's workflows; the rest look at the handoff set and at how
// AAHP's own tool is pinned.
//
// A new gate is an id in IDs, its title in Titles and a case of gate.
package doctor

import (
	"context"
	"slices"

	"github.com/handoff-gate/handoff-gate/gate/governance"
	"github.com/handoff-gate/handoff-gate/gate/governance/audit"
)

// The ids of the gates that only doctor has.
const (
	HandoffSet     = "handoff-set"
	ManifestSchema = "manifest-schema"
	Grounding      = "grounding"
)

// IDs are the gates in the order of the record.
var IDs = []string{
	HandoffSet, ManifestSchema, Grounding, governance.PinnedDep, governance.ChangelogFormat, governance.VersionSync,
	governance.VerifyWorkflow, audit.CLISource,
}

// Titles name the gates for people.
var Titles = map[string]string{
	HandoffSet:                 "Handoff set",
	ManifestSchema:             "Manifest against its schema",
	Grounding:                  "Grounding and trust register",
	governance.PinnedDep:       "Pinned AAHP tool",
	governance.ChangelogFormat: governance.Titles[governance.ChangelogFormat],
	governance.VersionSync:     governance.Titles[governance.VersionSync],
	governance.VerifyWorkflow:  audit.VerifyWorkflowTitle,
	audit.CLISource:            audit.CLISourceTitle,
}

// Gates are the ids of the gates of check and of doctor, each once: what the input
// governance-skip may name.
func Gates() []string {
	all := slices.Clone(governance.IDs)
	for _, id := range IDs {
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}

// Input is one project as doctor reads it.
type Input struct {
	governance.Input
	Repo       string // "owner/name" of aahp-governance.md 6.2, or "unknown"
	Governance bool   // --governance: the three handoff gates are not looked at
	// Given is the project's path as a command takes it, one word of a shell.
	Given string
}

// Judge decides the eight gates of one project. The error says that ctx was
// cancelled.
func Judge(ctx context.Context, in Input) (governance.Result, error) {
	r := governance.Result{Command: "doctor"}
	r.Config, r.Problems = in.Config.Layer("doctor")
	if len(r.Problems) > 0 {
		r.Gates = governance.NoneEvaluated(IDs, Titles)
		return r, nil
	}
	d := &doctor{in: in, judge: governance.NewJudge(in.Input)}
	for _, id := range IDs {
		g, err := d.gate(ctx, id)
		if err != nil {
			return r, err
		}
		r.Gates = append(r.Gates, g)
	}
	return r, nil
}

// doctor is the state that the gates of one project share.
type doctor struct {
	in       Input
	judge    *governance.Judge
	manifest *manifest    // read when it is first asked for
	audit    *audit.Audit // the same
}

func (d *doctor) gate(ctx context.Context, id string) (governance.Gate, error) {
	g := governance.Gate{ID: id, Title: Titles[id]}
	if by, out := d.in.Omit[id]; out {
		g.Outcome, g.Reason = governance.Deselected, "deselected by "+by
		return g, nil
	}
	switch id {
	case HandoffSet, ManifestSchema, Grounding:
		if d.in.Governance {
			g.Outcome, g.Reason = governance.Unlooked, "not looked at under --governance"
			return g, nil
		}
	}
	switch id {
	case HandoffSet:
		return d.handoffSet(), nil
	case ManifestSchema:
		return d.manifestSchema(), nil
	case Grounding:
		return d.grounding(), nil
	case governance.PinnedDep:
		return d.pinnedDep(), nil
	case governance.VerifyWorkflow:
		return d.workflows().VerifyWorkflow(), nil
	case audit.CLISource:
		return d.workflows().CLISource(), nil
	}
	return d.judge.Gate(ctx, id)
}

// workflows reads the repository's workflows, once for both gates.
func (d *doctor) workflows() *audit.Audit {
	if d.audit == nil {
		d.audit = audit.Read(audit.Input{
			Tree: d.in.Work, Repo: d.in.Repo, Enforce: d.in.Config.Enforce, Pinned: d.in.Config.PinnedDep.Name,
			Package: d.judge.Package().Name(), Commands: d.in.Commands, Mask: d.in.Mask,
		})
	}
	return d.audit
}
