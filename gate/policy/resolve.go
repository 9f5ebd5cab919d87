package policy

import (
	"bytes"
	"fmt"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// Input is what Resolve needs: the copies of one project's aahp.config.json, as
// they were read, and what is known about the base.
type Input struct {
	Source Source // --policy-from; "" is the default of the level

	Level gate.Level

	// NewSide is the file in layer 2's new side: the index, at ci the head tree.
	NewSide gate.Document
	// Working is the file in the working tree. NotRegular stands for the name in
	// any other form: a link, a folder, a special file.
	Working gate.Document
	// Outside says that there is no new side: outside a repository, and at ci
	// where HEAD does not resolve. The working tree's file is the head policy.
	Outside bool

	// Base is the file in the base tree (at precommit: the head tree). Against
	// the empty tree, and before the first commit, it is the zero Document.
	Base gate.Document
	// BaseAvailable says that a base tree, or the empty tree, could be resolved.
	BaseAvailable bool
	// HeadIsBase says that there rightly is no change set, so that HEAD's own
	// file is the base policy. Base and BaseAvailable are not looked at then.
	HeadIsBase bool
}

// ConfigKind says what is wrong with the head policy's file.
type ConfigKind uint8

// The kinds of a ConfigProblem, each with a drift rule of its own.
const (
	Untracked   ConfigKind = iota + 1 // in the working tree, not in the new side
	Irregular                         // a link, submodule, folder or unmerged entry in the new side
	Unstaged                          // the working tree's copy differs, or is gone
	Invalid                           // a rule of aahp-verify.md 3.1 or 3.2 is broken
	Unavailable                       // the new side has it, its bytes cannot be read
)

// ConfigProblem is one reason for a drift/config-* error.
type ConfigProblem struct {
	Kind    ConfigKind
	Span    report.Span
	Message string // outside text in it is already cleaned
}

// Policies is what the copies come to (aahp-verify.md 3).
type Policies struct {
	Head    Copy
	Base    Copy   // of HEAD itself where there is no change set
	Applied Policy // may classify, enforce and name programs to run
	From    Source // which copy was to be applied

	// Unavailable says that the base policy was to be applied and there is no
	// base to read it from: nothing may be judged by Applied, nothing run.
	Unavailable bool
	// BaseErr says why the base's file could not be read, where that is the
	// reason for Unavailable: the clone lacks it.
	BaseErr error
	// BaseBroken says that the base policy was to be applied and is broken, so
	// that Applied is the built-in policy.
	BaseBroken bool
	// Changed says that the base policy is applied and that the head's differs.
	Changed bool

	// Config are the problems of the head policy that stop classification, in
	// the order of the specification. Always empty outside a repository.
	Config []ConfigProblem
}

// defaultSource is where the applied policy comes from when nothing else is
// said: from the base at ci, from the head elsewhere.
func defaultSource(level gate.Level) Source {
	if level == gate.CI {
		return FromBase
	}
	return FromHead
}

// Resolve parses the copies, says which one is applied and what is wrong with
// the head's. The head policy is validated whichever is applied.
func Resolve(in Input) Policies {
	p := Policies{From: in.Source}
	if p.From == "" {
		p.From = defaultSource(in.Level)
	}
	if in.Outside {
		p.Head = Parse(in.Working)
	} else {
		p.Head = Parse(in.NewSide)
		p.Config = configProblems(in, p.Head)
	}
	p.apply(in)
	return p
}

// apply chooses the applied policy.
func (p *Policies) apply(in Input) {
	switch {
	case in.HeadIsBase:
		p.Base = p.Head
	case in.BaseAvailable:
		p.Base = Parse(in.Base)
	}
	if p.From == FromHead {
		p.Applied = p.Head.Policy
		return
	}
	p.Applied = BuiltIn()
	switch {
	case !in.HeadIsBase && (in.Outside || !in.BaseAvailable):
		p.Unavailable = true
	case p.Base.Document.State == gate.Unreadable:
		p.Unavailable, p.BaseErr = true, p.Base.Document.Err
	case p.Base.broken():
		p.BaseBroken = true
	default:
		p.Applied = p.Base.Policy
		p.Changed = differ(p.Base, p.Head, HandoffImpact) || differ(p.Base, p.Head, TrustTTL)
	}
}

// broken tells whether a copy cannot be applied at all.
func (c Copy) broken() bool {
	return len(c.Problems) > 0 || c.Document.State == gate.NotRegular
}

// differ compares a section of a sound base with the head's as JSON values. A
// head section that breaks a rule cannot be the same as one that breaks none,
// and is not compared: a sound section has objects of three keys at most, so
// that comparing without regard to their order stays cheap.
func differ(base, head Copy, s Section) bool {
	switch head.Document.State {
	case gate.NotRegular, gate.Unreadable:
		return false // what it says is unknown, and an error of its own
	case gate.Absent, gate.Present, gate.TooLarge:
	}
	if !head.Sound(s) {
		return true
	}
	return !jsondoc.Equal(base.section(s), head.section(s))
}

func (c Copy) section(s Section) *jsondoc.Value {
	if s == HandoffImpact {
		return c.HandoffImpact
	}
	return c.TrustTTL
}

// configProblems fills the first four rows of the table in aahp-verify.md 3.
func configProblems(in Input, head Copy) []ConfigProblem {
	var out []ConfigProblem
	add := func(kind ConfigKind, span report.Span, message string) {
		out = append(out, ConfigProblem{Kind: kind, Span: span, Message: message})
	}
	switch in.NewSide.State {
	case gate.Absent:
		if k := in.Working; k.State != gate.Absent && k.Entry.Kind != gate.Folder {
			add(Untracked, report.Span{}, fmt.Sprintf("%s is in the working tree, but not in the %s that is judged", ConfigFile, NewSideName(in.Level)))
		}
		return out
	case gate.NotRegular:
		add(Irregular, report.Span{}, fmt.Sprintf("%s is %s in the %s, a regular file is expected", ConfigFile, in.NewSide.Entry.Kind.Article(), NewSideName(in.Level)))
		return out
	case gate.Unreadable:
		add(Unavailable, report.Span{}, fmt.Sprintf("%s of the %s cannot be read: %s", ConfigFile, NewSideName(in.Level), safetext.Clean(in.NewSide.Err.Error())))
		return out
	case gate.Present, gate.TooLarge:
	}
	if message := unstaged(in); message != "" {
		add(Unstaged, report.Span{}, message)
	}
	for _, p := range head.ProblemsOf(HandoffImpact) {
		add(Invalid, p.Span, p.Message)
	}
	return out
}

// unstaged compares the working tree's copy with the new side's, CR-free; ""
// when they agree.
func unstaged(in Input) string {
	side := NewSideName(in.Level)
	switch in.Working.State {
	case gate.Absent:
		return fmt.Sprintf("%s is in the %s, but gone from the working tree", ConfigFile, side)
	case gate.NotRegular:
		return fmt.Sprintf("%s is a regular file in the %s, but %s in the working tree", ConfigFile, side, in.Working.Entry.Kind.Article())
	case gate.Unreadable:
		return fmt.Sprintf("%s in the working tree cannot be compared with the %s: %s", ConfigFile, side, safetext.Clean(in.Working.Err.Error()))
	case gate.Present, gate.TooLarge:
	}
	if in.NewSide.State == gate.TooLarge && in.Working.State == gate.TooLarge {
		return "" // both are refused for their size, which is reported already
	}
	if in.NewSide.State != in.Working.State ||
		!bytes.Equal(gate.WithoutCR(in.NewSide.Data), gate.WithoutCR(in.Working.Data)) {
		return fmt.Sprintf("%s differs between the working tree and the %s", ConfigFile, side)
	}
	return ""
}

// NewSideName is how messages call the new side of layer 2.
func NewSideName(level gate.Level) string {
	if level == gate.CI {
		return "commit"
	}
	return "index"
}

// Classifies tells whether the applied policy may exempt changes: not after an
// error in the head policy. The layer drift adds its own proof of the entries.
func (p Policies) Classifies() bool { return !p.Unavailable && len(p.Config) == 0 }
