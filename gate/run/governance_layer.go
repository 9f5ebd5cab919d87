package run

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/governance"
	"github.com/handoff-gate/handoff-gate/gate/governance/doctor"
	"github.com/handoff-gate/handoff-gate/gate/lint"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// The layer that holds what check and doctor find.
const (
	governanceID    = "governance"
	governanceTitle = "Governance"
)

// Governance are the options of the layer governance.
type Governance struct {
	Skip []string        // the input governance-skip: ids of gates to leave out
	Tag  *governance.Tag // the tag that the run is about; nil for none, or one that is no version
}

// decideGovernance runs the gates of check and of doctor over the work tree and
// makes one layer of what they find (aahp-governance.md 1).
func decideGovernance(ctx context.Context, s *source, _ *result) (report.Layer, error) {
	r, o := s.run, s.run.o.Governance
	in := r.c.governance(s.p, GovernanceOptions{Now: r.o.Now, WithExec: "handoff-gate check " + s.p.Given + " --allow-exec"})
	facts, err := r.c.facts(ctx, in)
	if err != nil {
		return report.Layer{}, err
	}
	in.Omit = map[string]string{}
	for _, id := range o.Skip {
		in.Omit[id] = "governance-skip"
	}
	pending, err := governance.Check(ctx, in)
	if err != nil {
		return report.Layer{}, err
	}
	floors, err := r.c.floors(ctx, s.p.Path, pending.Floors, GovernanceOptions{})
	if err != nil {
		return report.Layer{}, err
	}
	checked := pending.Finish(floors)

	// What the layers integrity and schema say is not said again, and a gate that
	// check.only or check.skip leave out of check is no gate of doctor either.
	doctored := in
	doctored.Omit = map[string]string{doctor.HandoffSet: "layer integrity", doctor.ManifestSchema: "layer schema"}
	for _, id := range doctor.IDs {
		if by, out := in.Config.Deselects(id); out && slices.Contains(governance.IDs, id) {
			doctored.Omit[id] = by
		}
	}
	for id, by := range in.Omit {
		doctored.Omit[id] = by
	}
	record, err := doctor.Judge(ctx, doctor.Input{Input: doctored, Repo: facts.Repo, Given: s.p.Given})
	if err != nil {
		return report.Layer{}, err
	}

	found := merged(checked, record)
	if o.Tag != nil && in.Omit[governance.VersionSync] == "" {
		found = append(found, governance.NewJudge(in).Tag(*o.Tag)...)
	}
	if r.base != nil {
		base := gate.ReadDocument(r.base, in.Config.Path, gate.MaxConfig)
		found = append(found, governance.Removed(governance.ReadConfig(base, s.p.Commands, lint.Redact), in.Config, s.p.Commands)...)
	}
	ran := checked.Evaluated() + record.Evaluated()
	summary := fmt.Sprintf("%d of %d gates of check and %d of %d of doctor ran", checked.Evaluated(), len(checked.Gates), record.Evaluated(), len(record.Gates))
	if out := leftOut(checked, record); out != "" {
		summary += "; left out: " + out
	}
	if ran == 0 {
		summary = "NOT EVALUATED: " + summary
		if len(checked.Problems) == 0 {
			found = append(found, governance.NotEvaluated.At(in.Config.Path, report.Span{}, "No gate ran: each was left out or lacks its input.",
				report.WithFix("Configure or select at least one gate in "+governance.ConfigFile+", or switch the layer governance off.", s.p.Commands.Again)))
		}
	}
	return report.Done(governanceID, governanceTitle, summary, found), nil
}

// merged gives what the gates of both commands found. Where two gates found the
// same by one rule, on one line, it appears once.
func merged(results ...governance.Result) []report.Finding {
	type place struct {
		rule, path string
		line       int
	}
	var all []report.Finding
	by := map[place]int{} // which list found it first
	n := 0
	add := func(list []report.Finding) {
		n++
		for _, f := range list {
			key := place{f.Rule, f.Path, f.Line}
			if first, known := by[key]; known && first != n {
				continue
			}
			by[key] = n
			all = append(all, f)
		}
	}
	for _, r := range results {
		add(r.Config.Findings)
		for _, g := range r.Gates {
			add(g.Findings)
		}
	}
	return all
}

// leftOut names each gate that was left out, and by whom.
func leftOut(results ...governance.Result) string {
	var who []string
	gates := map[string][]string{}
	seen := map[string]bool{}
	for _, r := range results {
		for _, g := range r.Gates {
			by, ok := strings.CutPrefix(g.Reason, "deselected by ")
			if g.Outcome != governance.Deselected || !ok || seen[g.ID] {
				continue
			}
			seen[g.ID] = true
			if gates[by] == nil {
				who = append(who, by)
			}
			gates[by] = append(gates[by], g.ID)
		}
	}
	for i, by := range who {
		who[i] = strings.Join(gates[by], ", ") + " (" + by + ")"
	}
	return strings.Join(who, "; ")
}
