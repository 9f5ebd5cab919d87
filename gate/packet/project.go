package packet

import (
	"fmt"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// Format and Level are what a report calls a packet (packets.md 8).
const (
	Format = "packet"
	Level  = "packet"
)

// The decisions.
const (
	Accept    = "ACCEPT"
	Reject    = "REJECT"
	Completed = "COMPLETED"
	Released  = "RELEASED"
)

// Project gives the packet's entry in a report.
func (c *Judged) Project() report.Project {
	p := c.doc.project()
	p.Packet.Signature = string(c.sealed)
	p.Packet.DefaultsApplied = append(p.Packet.DefaultsApplied, c.h.applied...)
	if c.deferred != "" && c.looked {
		c.found[duplicate].add(found{kind: claimDeferred, span: c.doc.in(fKey), message: "the packet was checked against the ledger and not claimed: " + c.deferred})
		c.deferred = ""
	}
	for i := range c.found {
		p.Layers = append(p.Layers, c.layer(i, p.Packet))
	}
	if c.looked && c.dry {
		p.Packet.Ledger = "dry-run"
	}
	if c.outcome.Recorded && !c.dry {
		p.Packet.Ledger, p.Packet.Claim = "recorded", &report.PacketClaim{Epoch: c.outcome.Epoch}
	}
	settle(p.Packet, Accept)
	return p
}

// settle decides: a packet with a reason is rejected, in the state of the first.
func settle(p *report.Packet, otherwise string) {
	p.Decision = otherwise
	if len(p.Reasons) > 0 {
		p.Decision, p.State = Reject, p.Reasons[0].State
	}
}

// project begins the packet's entry.
func (d *Document) project() report.Project {
	sealed := signatureAbsent
	if member(d.root, fSignature) != nil {
		sealed = signatureFailed // not verified, at least
	}
	return report.Project{
		Path: d.path, Format: Format, Level: Level,
		Packet: &report.Packet{
			Reasons: []report.PacketReason{}, DefaultsApplied: []string{}, Ledger: "none", Signature: string(sealed), SHA256: d.sum,
			HandoffID: text(d.handoff, fID), TraceID: text(d.handoff, fTraceID), IdempotencyKey: text(d.handoff, fKey),
			From: text(d.handoff, fFrom), To: text(d.handoff, fTo),
		},
	}
}

// layer gives the layer of one check, and adds its reasons to the packet.
func (c *Judged) layer(i int, to *report.Packet) report.Layer {
	id, title := layerIDs[i], layerTitles[i]
	switch {
	case i != structure && c.Malformed():
		return report.Skipped(id, title, "not run: structure failed")
	case i == duplicate && !c.looked:
		return report.Skipped(id, title, "not run: no ledger was given")
	}
	l := assemble(c.doc, c.o.Commands, id, title, c.found[i].list, to)
	if l.Summary = c.summary(i); l.Status == report.Failed {
		l.Summary = rejectedSummary(c.found[i].list)
	}
	return l
}

// rejectedSummary names what rejects, each code's name once.
func rejectedSummary(list []found) string {
	var names []string
	n := 0
	seen := map[string]bool{}
	for i := range list {
		f := &list[i]
		if !f.rejects() {
			continue
		}
		n += 1 + f.more
		if name, _, _ := strings.Cut(f.code(), ":"); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return plural.Of(n, "reason") + ": " + strings.Join(names, ", ")
}

func (c *Judged) summary(i int) string {
	switch i {
	case structure:
		if n := len(c.h.applied); n > 0 {
			return "the packet is well formed, with " + plural.Of(n, "default") + " of the receiver filled in"
		}
		return "the packet is well formed"
	case signature:
		if c.sealed == signatureVerified {
			return "both agents are known, and the sender's signature fits"
		}
		return "both agents are known; the packet is not signed"
	case duplicate:
		return "the key is free"
	case freshness:
		return "the packet has not expired"
	case authority:
		return plural.Of(len(c.actions()), "planned action") + " within tools, approvals and budget"
	case artifacts:
		return plural.Of(len(member(c.h.inputs.v, fArtifactRefs).Items), "artifact") + " in the workspace as named"
	}
	return plural.Of(len(c.evidence()), "item") + " of evidence"
}

// assemble makes a layer of what was found, and adds the reasons to the packet.
func assemble(d *Document, commands Commands, id, title string, list []found, to *report.Packet) report.Layer {
	findings := make([]report.Finding, 0, len(list))
	for i := range list {
		f := &list[i]
		if f.path == "" {
			f.path = d.path
		}
		message, span := f.sentence(), f.span
		if f.more > 0 {
			message += fmt.Sprintf(" (and %d more of this rule, which are not listed)", f.more)
		}
		if f.rejects() {
			to.Reasons = append(to.Reasons, report.PacketReason{Code: f.code(), State: string(f.state()), Layer: id, Rule: f.kind.ID, Message: message})
		}
		findings = append(findings, f.kind.As(f.severity(), f.path, span, message, commands.remedy(f)))
	}
	return report.Done(id, title, title, findings)
}

// remedy ends in the command that mends the finding (packets.md 11).
func (c Commands) remedy(f *found) string {
	turn := f.kind.turn
	if f.entry != nil {
		turn = f.entry.Remedy
	}
	command := c.Again
	switch f.kind.mend {
	case sign:
		command = "handoff-gate packet sign " + c.File + " --key KEY --out " + c.File
	case approve:
		command = "handoff-gate packet approve " + c.File + " --key KEY --action " + safetext.ShellQuote(f.action) + " --out " + c.File
	case pin:
		command = "handoff-gate packet pin " + c.File + " --workspace " + c.workspace() + " --out " + c.File
	case refresh:
		command = "handoff-gate packet pin " + c.File + " --workspace " + c.workspace() + " --refresh --out " + c.File
	case again:
	}
	if f.kind.Severity == report.Notice {
		return turn
	}
	return report.WithFix(turn, command)
}

func (c Commands) workspace() string {
	if c.Workspace == "" {
		return "."
	}
	return c.Workspace
}

// Ended gives the entry of a packet that was to be completed or abandoned: one
// layer, with what the ledger has against it (packets.md 7). A refused document
// was asked of no ledger.
func Ended(d *Document, decision string, o ledger.Outcome, commands Commands) report.Project {
	p := d.project()
	var b bounded
	if d.refusal != nil {
		b.add(*d.refusal)
	}
	b.addReasons(d, o)
	l := assemble(d, commands, Duplicate, layerTitles[duplicate], b.list, p.Packet)
	if l.Status == report.Failed {
		l.Summary = rejectedSummary(b.list)
	} else {
		l.Summary = "the claim is " + decision
	}
	p.Layers = []report.Layer{l}
	if o.Recorded {
		p.Packet.Ledger, p.Packet.Claim = "recorded", &report.PacketClaim{Epoch: o.Epoch}
	}
	if o.Signature != "" {
		p.Packet.Signature = o.Signature // as it was found to be when the packet was claimed
	}
	p.Packet.Already = o.Already
	settle(p.Packet, decision)
	return p
}
