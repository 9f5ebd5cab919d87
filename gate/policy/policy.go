// Package policy reads the copies of aahp.config.json that decide how a change
// is judged: head, base and applied policy, each with its problems
// (aahp-verify.md 3). The layers drift and trust turn problems into findings.
package policy

import (
	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// ConfigFile is the policy's name, at the project's root.
const ConfigFile = "aahp.config.json"

// Source says which copy is applied: the one of the base or the head's.
type Source string

// The sources of the applied policy (--policy-from).
const (
	FromBase Source = "base"
	FromHead Source = "head"
)

// Section is the part of the file that a problem is in.
type Section uint8

// The sections that verify reads; WholeFile problems concern both layers.
const (
	WholeFile Section = iota
	HandoffImpact
	TrustTTL
)

// Problem is one rule that a copy breaks.
type Problem struct {
	Section Section
	Span    report.Span
	Message string // outside text in it is already cleaned
}

// Policy is what a sound copy says. The zero value is not the built-in policy:
// use BuiltIn.
type Policy struct {
	Reviewed []ReviewedFile
	NPM      *NPMUpdates
	Trust    Trust
}

// ReviewedFile is an entry of nonImpactingModifiedFiles.
type ReviewedFile struct {
	File   string // relative to the project
	Reason string // as written
	Span   report.Span
}

// NPMUpdates is the opt-in for devDependency updates.
type NPMUpdates struct {
	Reason   string
	Workflow string // from the repository's top level
	Job      string
	Span     report.Span // of supplyChainScan
}

// Trust is the section trustTtl.
type Trust struct {
	Enforce   bool
	GraceDays int
	Checks    []DeclaredCheck
}

// DeclaredCheck is a program that the policy allows a trust row to name.
type DeclaredCheck struct {
	ID     string
	Run    []string // argv, never through a shell
	Reason string
}

// BuiltIn is the policy of a project without aahp.config.json.
func BuiltIn() Policy { return Policy{Trust: Trust{GraceDays: 14}} }

// Copy is one copy of the file and what was found in it.
type Copy struct {
	Document gate.Document
	Policy   Policy // the sound parts; BuiltIn values where a section is broken
	Problems []Problem

	// The two sections as they are written, so that copies can be compared as
	// JSON values. Nil where a section is absent or the file cannot be parsed.
	HandoffImpact, TrustTTL *jsondoc.Value
}

// ProblemsOf gives the problems that concern the section, those of the whole
// file among them.
func (c Copy) ProblemsOf(s Section) []Problem {
	var out []Problem
	for _, p := range c.Problems {
		if p.Section == WholeFile || p.Section == s {
			out = append(out, p)
		}
	}
	return out
}

// Sound tells whether nothing is wrong with the given section (or the file).
func (c Copy) Sound(s Section) bool {
	for _, p := range c.Problems {
		if p.Section == WholeFile || p.Section == s {
			return false
		}
	}
	return true
}
