package ledger

import (
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// State says who has to act on a refused packet (packets.md 6).
type State string

// The states.
const (
	Invalid     State = "invalid"
	Incomplete  State = "incomplete"
	Stale       State = "stale"
	Conflicting State = "conflicting"
	Blocked     State = "blocked"
	Duplicate   State = "duplicate"
	Unknown     State = "unknown"
)

// Reason is one reason against a claim, a completion or a release.
type Reason struct {
	Rule    *rule.Rule
	State   State
	Message string // a sentence about this case, without the code
	Remedy  string // who acts and how, without the last line "fix: …"
}

// Code is the code of the reasons that a rule of packets gives:
// "idempotency_key_reserved" (packets.md 6).
func Code(r *rule.Rule) string {
	return strings.ReplaceAll(strings.TrimPrefix(r.ID, "packet/"), "-", "_")
}

func because(r *rule.Rule, s State, message string) Reason {
	turn, _, _ := report.CutFix(r.Remedy) // the command is of this case
	return Reason{Rule: r, State: s, Message: message, Remedy: turn}
}

// show quotes outside text for a message: what a reader cannot see is escaped.
func show(s string) string { return `"` + safetext.Escape(s, safetext.Limit) + `"` }

func corrupted(message string) Reason { return because(LedgerCorrupt, Invalid, message) }

func unreachable(message string) Reason { return because(LedgerUnreachable, Unknown, message) }

func unsupported() Reason {
	return because(LedgerUnsupported, Blocked, "the receiver's policy has exclusive_paths, and a ledger in git refs cannot list its claims")
}

func missingKey() Reason {
	return because(MissingIdempotencyKey, Invalid, "the packet has no idempotency_key, so no claim is its own")
}

func mismatch() Reason {
	return because(CompletionPacketMismatch, Conflicting, "the handoff is not the one that was claimed: its canonical form has another SHA-256")
}

func notReserved(message string) Reason { return because(ReleaseNotReserved, Invalid, message) }

// InThisRun is the reason against the later of two packets of one run that have one
// key (packets.md 10, "Claims").
func InThisRun() Reason {
	return because(IdempotencyKeyReserved, Duplicate, "an earlier packet of this run has the same idempotency_key")
}
