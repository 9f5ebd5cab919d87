package render

import (
	"fmt"
	"io"

	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// turns says for each state of a rejected packet who acts (packets.md 11).
var turns = map[string]string{
	"invalid":     "The sender repairs the packet and signs it again.",
	"incomplete":  "The sender supplies what is named.",
	"stale":       "The sender refreshes the packet.",
	"conflicting": "A person decides which of the two stands.",
	"blocked":     "An owner or approver acts, or the sender asks for less.",
	"duplicate":   "Do not run it again.",
	"unknown":     "The operator finds out what happened, then completes or abandons it.",
}

// Packets writes a report of packets for people: the decision in the first line,
// a line for each reason and for each warning (packets.md 8), and then, for a
// packet that is rejected, whose turn it is and what mends it, each remedy once.
func Packets(w io.Writer, r *report.Report, o TextOptions) error {
	t := &textWriter{o: o}
	for i := range r.Projects {
		t.packet(&r.Projects[i])
	}
	_, err := w.Write(t.b.Bytes())
	return err
}

func (t *textWriter) packet(p *report.Project) {
	t.line(t.decision(p))
	for _, reason := range p.Packet.Reasons {
		t.line(plainLine(reason.Layer), ": ", plainLine(reason.Message))
	}
	for j := range p.Layers {
		for k := range p.Layers[j].Findings {
			if f := &p.Layers[j].Findings[k]; f.Severity == report.Warning {
				t.line("warning: ", plainLine(f.Rule), ": ", plainLine(f.Message))
			}
		}
	}
	if p.Packet.Decision == "REJECT" {
		t.gap()
		t.line(t.paint(bold, "What to do: "), turns[p.Packet.State])
		t.mending(p)
	}
}

// shownKey is an idempotency key on one line. One that check 1 would refuse may
// be completed, so it can have any character.
func shownKey(key string) string { return plainLine(safetext.Escape(key, 1024)) }

// decision is the first line.
func (t *textWriter) decision(p *report.Project) string {
	d := p.Packet
	word := t.paint(green, plainLine(d.Decision))
	switch d.Decision {
	case "REJECT":
		code := ""
		if len(d.Reasons) > 0 {
			code = d.Reasons[0].Code
		}
		return t.paint(red, "REJECT") + " " + plainLine(d.State) + ": " + plainLine(code)
	case "COMPLETED":
		word += " " + shownKey(d.IdempotencyKey)
		if d.Already {
			word += " (already)"
		}
	case "RELEASED":
		epoch := int64(0)
		if d.Claim != nil {
			epoch = d.Claim.Epoch
		}
		word += fmt.Sprintf(" %s epoch %d", shownKey(d.IdempotencyKey), epoch)
	case "ACCEPT":
		switch d.Ledger {
		case "recorded":
			word += " claim recorded"
		case "dry-run":
			word += " dry run"
		default:
			word += " no ledger"
		}
	}
	return word
}

// mending writes the remedies of the reasons in their order, the first first, as
// it names the earliest broken link.
func (t *textWriter) mending(p *report.Project) {
	type key struct{ layer, rule, message string }
	remedies := map[key]string{}
	for j := range p.Layers {
		l := &p.Layers[j]
		for k := range l.Findings {
			f := &l.Findings[k]
			remedies[key{l.ID, f.Rule, f.Message}] = f.Remedy
		}
	}
	seen := map[string]bool{"": true}
	for _, reason := range p.Packet.Reasons {
		remedy := remedies[key{reason.Layer, reason.Rule, reason.Message}]
		if seen[remedy] {
			continue
		}
		seen[remedy] = true
		t.remedy("  - ", remedy)
	}
}
