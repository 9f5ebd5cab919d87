package run

import (
	"context"

	"github.com/handoff-gate/handoff-gate/gate/governance"
	"github.com/handoff-gate/handoff-gate/gate/governance/doctor"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// DoctorOptions say how doctor judges a project.
type DoctorOptions struct {
	GovernanceOptions
	Governance bool // the three handoff gates are not looked at
}

// Doctor makes the conformance record of a project from its work tree. The report
// is finished but for its tool; what the record says besides is in the facts, but
// for the tool too.
func Doctor(ctx context.Context, c *Checkout, p Project, o DoctorOptions) (*report.Report, governance.Result, governance.Facts, error) {
	in := c.governance(p, o.GovernanceOptions)
	facts, err := c.facts(ctx, in)
	if err != nil {
		return nil, governance.Result{}, facts, err
	}
	if o.Governance {
		facts.Mode = "governance"
	}
	result, err := doctor.Judge(ctx, doctor.Input{Input: in, Repo: facts.Repo, Governance: o.Governance, Given: p.Given})
	if err != nil {
		return nil, result, facts, err
	}
	result = result.Alone(doctor.NotEvaluated, in.Config.Path, p.Commands)
	rep, err := c.governed(ctx, p, &result)
	return rep, result, facts, err
}
