// Package catalog is the one table of every rule, put together from the rows
// that each part declares.
//
// A new rule is a row in the Rules of the package that decides it, and so is here
// at once; a new package with rules adds a line to Rules. docs/extending.md walks
// through one.
package catalog

import (
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/criteria"
	"github.com/handoff-gate/handoff-gate/gate/drift"
	"github.com/handoff-gate/handoff-gate/gate/governance"
	"github.com/handoff-gate/handoff-gate/gate/governance/audit"
	"github.com/handoff-gate/handoff-gate/gate/governance/doctor"
	"github.com/handoff-gate/handoff-gate/gate/install"
	"github.com/handoff-gate/handoff-gate/gate/integrity"
	"github.com/handoff-gate/handoff-gate/gate/lint"
	"github.com/handoff-gate/handoff-gate/gate/packet"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger"
	"github.com/handoff-gate/handoff-gate/gate/pointer"
	"github.com/handoff-gate/handoff-gate/gate/rule"
	"github.com/handoff-gate/handoff-gate/gate/schemacheck"
	"github.com/handoff-gate/handoff-gate/gate/session"
	"github.com/handoff-gate/handoff-gate/gate/trust"
	"github.com/handoff-gate/handoff-gate/githubapi"
)

// Rules gives every rule, ordered by id.
func Rules() []*rule.Rule {
	all := slices.Concat(
		githubapi.Rules,
		integrity.Rules,
		lint.Rules,
		drift.Rules,
		pointer.Rules,
		trust.Rules,
		schemacheck.Rules,
		governance.Rules,
		audit.Rules,
		doctor.Rules,
		criteria.Rules,
		install.Rules,
		packet.Rules,
		ledger.Rules,
		session.Rules,
	)
	slices.SortFunc(all, func(a, b *rule.Rule) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// Find gives the rule with that id; nil when there is none.
func Find(id string) *rule.Rule {
	for _, r := range Rules() {
		if r.ID == id {
			return r
		}
	}
	return nil
}
