// Package packet judges signed handoff packets (packets.md): whether a packet is
// one that its sender wrote, that nobody changed, and that asks for no more than
// its receiver allows. It opens no file and reads no clock; packet, registry, time
// and what is known of the workspace's files come in as arguments, and check 3 is
// the ledger's.
//
//	doc := packet.Read(path, bytes)                  1a, 1c
//	c := packet.Check(doc, registry, options)        checks 1, 2, 4, 5
//	c.Files(look at c.Needs())                       checks 6, 7
//	c.Ledger(outcome of ledger.Check(c.Claim()))     check 3
//	c.Project()                                      the report
//
// A new reason is a row of rules.go and a reject in the file of its check:
// structure.go, identity.go, freshness.go, authority.go or files.go, and those of
// check 3 in the package ledger. A new member of a packet is a name in document.go
// and in the table known of structure.go, one of a receiver's policy a case of
// take and a line of merge in registry.go.
package packet

import (
	"fmt"
	"time"

	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// The layers, one for each check, in their order (packets.md 6).
const (
	Structure = "structure"
	Signature = "signature"
	Duplicate = "duplicate"
	Freshness = "freshness"
	Authority = "authority"
	Artifacts = "artifacts"
	Evidence  = "evidence"
)

// layer numbers: what is found is kept by check.
const (
	structure = iota
	signature
	duplicate
	freshness
	authority
	artifacts
	evidence
	layers
)

var layerIDs = [layers]string{Structure, Signature, Duplicate, Freshness, Authority, Artifacts, Evidence}

var layerTitles = [layers]string{
	"Structure", "Identity and signature", "Duplicates", "Freshness", "Authority", "Artifacts", "Evidence",
}

// Options say how a packet is judged.
type Options struct {
	Now            time.Time // the clock, in UTC
	Receiver       string    // --as-receiver; "" is anyone
	Strict         bool
	VerifyEvidence bool
	Workspace      bool // there is one, for checks 6 and 7
	RegistrySeen   bool // the registry's warnings stand elsewhere in the report
	Commands       Commands
}

// Commands are what remedies end in. Each is a shell word or a whole command, as
// the caller would type it.
type Commands struct {
	File      string // the packet
	Workspace string // the workspace; "" is the current folder
	Again     string // checks the packet as this run does
}

// signatureState is the member signature of the report.
type signatureState string

const (
	signatureVerified signatureState = "verified"
	signatureAbsent   signatureState = "absent"
	signatureFailed   signatureState = "failed"
)

// Judged is a packet on its way through the checks.
type Judged struct {
	doc      *Document
	registry *Registry
	policy   *policy
	o        Options
	h        handoff

	found  [layers]bounded
	sealed signatureState

	plans []plan // what checks 6 and 7 want of files
	needs []Need

	deferred string // why the packet was not claimed; "" where nothing is to be said

	looked  bool // the ledger was asked
	outcome ledger.Outcome
	dry     bool
}

// Check runs checks 1, 2, 4 and 5, and finds out which files 6 and 7 need. If
// check 1 finds anything, nothing after it runs.
func Check(doc *Document, registry *Registry, o Options) *Judged {
	c := &Judged{doc: doc, registry: registry, o: o, sealed: signatureAbsent, policy: &policy{}}
	if member(doc.root, fSignature) != nil {
		c.sealed = signatureFailed // until it is verified
	}
	if !o.RegistrySeen {
		for _, n := range registry.notes {
			c.found[structure].add(n)
		}
	}
	if c.checkStructure(); c.Malformed() {
		return c
	}
	c.checkSignature()
	c.checkFreshness()
	c.checkAuthority()
	c.planFiles()
	return c
}

// Malformed tells whether check 1 found anything, so that nothing after it runs.
func (c *Judged) Malformed() bool { return c.found[structure].rejects }

// Rejected tells whether any check that has run has a reason.
func (c *Judged) Rejected() bool {
	for i := range c.found {
		if c.found[i].rejects {
			return true
		}
	}
	return false
}

// reject adds a reason to a check.
func (c *Judged) reject(layer int, k *kind, span report.Span, format string, args ...any) {
	c.found[layer].add(found{kind: k, span: span, message: fmt.Sprintf(format, args...)})
}

// warn adds a warning to a check.
func (c *Judged) warn(layer int, k *kind, span report.Span, format string, args ...any) {
	c.found[layer].add(found{kind: k, warns: k.Severity == report.Error, span: span, message: fmt.Sprintf(format, args...)})
}

// RegistryChanged says that the change under review edits the registry.
func (c *Judged) RegistryChanged() { c.found[structure].add(c.registry.changed()) }

// NoMatch says that a pattern of the input packets matches nothing.
func (c *Judged) NoMatch(pattern string) { c.found[structure].add(c.registry.unmatched(pattern)) }

// ReceiverNotSet says that the packet chooses the policy that judges it.
func (c *Judged) ReceiverNotSet() {
	c.found[structure].add(found{kind: receiverNotSet, span: c.doc.in(fTo), message: "no receiver is set, so the packet is judged by the policy of " + show(text(c.doc.handoff, fTo)) + ", whom it names itself"})
}

// ClaimDeferred says that the packet was checked against the ledger and not
// claimed, with the reason as a clause.
func (c *Judged) ClaimDeferred(why string) {
	c.deferred = why
}

// Claim is what check 3 needs to know; ok is false where check 1 found anything,
// so that no ledger is asked.
func (c *Judged) Claim() (claim ledger.Claim, ok bool) {
	if c.Malformed() {
		return ledger.Claim{}, false
	}
	return ledger.Claim{
		Key: c.h.text(fKey), HandoffID: c.h.text(fID), TraceID: c.h.text(fTraceID), From: c.h.text(fFrom), To: c.h.text(fTo),
		Signature: string(c.sealed), Digest: c.doc.sum,
		OwnedPaths: texts(c.h.ownedPaths), DependsOn: texts(c.h.get(fDependsOn)), ExclusivePaths: c.policy.exclusivePaths,
	}, true
}

// Ledger takes what came of check 3. With dry, nothing was to be recorded. A later
// outcome takes the place of an earlier one.
func (c *Judged) Ledger(o ledger.Outcome, dry bool) {
	c.looked, c.outcome, c.dry, c.deferred = true, o, dry, ""
	c.found[duplicate] = bounded{}
	c.found[duplicate].addReasons(c.doc, o)
}

// texts gives the strings of a list.
func texts(v *jsondoc.Value) []string {
	if v == nil {
		return nil
	}
	out := make([]string, 0, len(v.Items))
	for _, item := range v.Items {
		out = append(out, item.Text)
	}
	return out
}

// bounded keeps what was found by a check: of each rule and severity as many as a
// layer of a report lists. A packet of a megabyte can break a rule a million
// times, and nobody reads as many.
type bounded struct {
	list    []found
	of      map[boundKey]*tally
	rejects bool
}

type boundKey struct {
	rule  string
	warns bool
}

// tally is what was seen of one rule and severity.
type tally struct{ count, last int } // last: index of the last that was kept

func (b *bounded) add(f found) {
	if f.rejects() {
		b.rejects = true
	}
	if len(b.list) < report.MaxOfRule { // no rule can be over it yet
		b.list = append(b.list, f)
		return
	}
	if b.of == nil {
		b.of = map[boundKey]*tally{}
		for i := range b.list {
			t := b.tally(b.list[i].key())
			t.count++
			t.last = i
		}
	}
	t := b.tally(f.key())
	if t.count++; t.count > report.MaxOfRule {
		b.list[t.last].more++
		return
	}
	t.last = len(b.list)
	b.list = append(b.list, f)
}

// addReasons adds what a ledger has against a packet.
func (b *bounded) addReasons(d *Document, o ledger.Outcome) {
	span := d.in(fKey)
	for i := range o.Reasons {
		r := &o.Reasons[i]
		b.add(found{kind: &kind{Rule: r.Rule}, span: span, message: r.Message, entry: r})
	}
}

func (b *bounded) tally(k boundKey) *tally {
	if b.of[k] == nil {
		b.of[k] = &tally{}
	}
	return b.of[k]
}

func (f *found) key() boundKey { return boundKey{f.kind.ID, f.warns} }
