package ledger

import (
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// The rules of check 3, of completing and of abandoning (packets.md 12).
var (
	LedgerCorrupt = &rule.Rule{
		ID: "packet/ledger-corrupt", Severity: report.Error,
		Title:   "The ledger cannot be read in one way",
		Why:     "The ledger says which work was claimed before. One that is no sound JSON, repeats a key, or holds an entry of an unknown state may have lost claims, so nothing new is accepted on its word.",
		Remedy:  "The operator repairs the place named, or restores the ledger from a copy that has every claim; nothing is claimed until then.\nfix: handoff-gate packet check FILE --registry REGISTRY --workspace . --ledger LEDGER --dry-run",
		Example: `{"demo:rev-7": {"state": "reserved"}}    (states are upper case)`,
	}
	LedgerUnreachable = &rule.Rule{
		ID: "packet/ledger-unreachable", Severity: report.Error,
		Title:   "The ledger did not answer",
		Why:     "Whether the packet was claimed before is unknown: the ledger could not be opened, locked within 30 seconds, read or written. A claim that was sent may have arrived. Accepting on doubt would run work twice.",
		Remedy:  "Try again; if it stays, look at the permission (`contents: read`, to claim `contents: write`).\nfix: handoff-gate packet check FILE --registry REGISTRY --workspace . --ledger LEDGER --dry-run",
		Example: "handoff-gate packet claim p.json --registry registry.json --ledger remote:https://git.example.com/no-such.git",
	}
	LedgerUnsupported = &rule.Rule{
		ID: "packet/ledger-unsupported", Severity: report.Error,
		Title:   "This kind of ledger cannot do what the policy asks for",
		Why:     "With `exclusive_paths` no two claims may own overlapping paths, which takes a look at all claims at once. A ledger in git refs has one ref for each key and no common snapshot.",
		Remedy:  "An owner uses a ledger file, or lifts `exclusive_paths` in the registry.\nfix: handoff-gate packet check FILE --registry REGISTRY --workspace . --ledger LEDGER --dry-run",
		Example: `"policy": {"exclusive_paths": true}    with --ledger git:/srv/claims.git`,
	}
	DuplicateIdempotencyKey = &rule.Rule{
		ID: "packet/duplicate-idempotency-key", Severity: report.Error,
		Title:   "The work of this key is done already",
		Why:     "A key is completed once. A replayed packet, or a second one under the same key, would do the work again: a second push, a second payment.",
		Remedy:  "Do not run it again. If it is other work, the sender gives it a key of its own and signs again.\nfix: handoff-gate packet sign FILE --key KEY --out FILE",
		Example: `{"demo:rev-7": {"state": "COMPLETED", …}}    and a packet with that idempotency_key`,
	}
	IdempotencyKeyReserved = &rule.Rule{
		ID: "packet/idempotency-key-reserved", Severity: report.Error,
		Title:   "Somebody has claimed this key and is at work",
		Why:     "Of any number of claims of one key exactly one is accepted. This one came later.",
		Remedy:  "Do not run it again. Whoever claimed it completes or abandons it.\nfix: handoff-gate packet complete FILE --ledger LEDGER",
		Example: "handoff-gate packet claim p.json …    run twice",
	}
	UnknownOutcome = &rule.Rule{
		ID: "packet/unknown-outcome", Severity: report.Error,
		Title:   "The key was claimed long ago and nobody said what came of it",
		Why:     "Whoever claimed it may have crashed before, during or after the work. Nothing but a look at the work itself tells, so nothing here turns it into \"not done\".",
		Remedy:  "The operator finds out what happened: `packet complete` if it was done, `packet abandon` if it is known that it was not.\nfix: handoff-gate packet complete FILE --ledger LEDGER",
		Example: `{"demo:rev-7": {"state": "RESERVED", "reserved_at": "<two days ago>", …}}`,
	}
	DependencyCycle = &rule.Rule{
		ID: "packet/dependency-cycle", Severity: report.Error,
		Title:   "The packet waits for itself",
		Why:     "`depends_on` names the packet's own key, or leads back to it through claims that wait for each other. None of them could ever be completed.",
		Remedy:  "The sender removes the dependency that closes the circle and signs again.\nfix: handoff-gate packet sign FILE --key KEY --out FILE",
		Example: `"idempotency_key": "a", "depends_on": ["b"]    while the claim of b waits for a`,
	}
	ClaimConflict = &rule.Rule{
		ID: "packet/claim-conflict", Severity: report.Error,
		Title:   "Another claim may own the same paths",
		Why:     "The receiver's policy has `exclusive_paths`: two pieces of work in progress must not write the same files. Globs are compared cautiously, so two that could meet count as meeting.",
		Remedy:  "An owner completes or abandons the other claim, or the sender asks for other paths.\nfix: handoff-gate packet check FILE --registry REGISTRY --workspace . --ledger LEDGER --dry-run",
		Example: `"owned_paths": ["src/**"]    while a claim owns "src/api/*.go"`,
	}
	MissingIdempotencyKey = &rule.Rule{
		ID: "packet/missing-idempotency-key", Severity: report.Error,
		Title:   "The packet to complete has no key",
		Why:     "The key names the claim that is to be completed.",
		Remedy:  "The sender supplies the key; complete the packet as it was claimed.\nfix: handoff-gate packet complete FILE --ledger LEDGER",
		Example: `{"handoff": {"id": "h-0001"}}`,
	}
	CompletionUnknownKey = &rule.Rule{
		ID: "packet/completion-unknown-key", Severity: report.Error,
		Title:   "There is no claim to complete",
		Why:     "Work that was done without a claim, or after its claim was released, may have been done by somebody else too.",
		Remedy:  "Name the ledger that the packet was claimed in. If the claim was released meanwhile, a person looks at what was done.\nfix: handoff-gate packet complete FILE --ledger LEDGER",
		Example: "handoff-gate packet complete p.json --ledger empty.json",
	}
	CompletionHandoffMismatch = &rule.Rule{
		ID: "packet/completion-handoff-mismatch", Severity: report.Error,
		Title:   "The key was claimed for another handoff",
		Why:     "Two handoffs share one key. Completing one would record the work of the other as done.",
		Remedy:  "A person decides which of the two stands; the other gets a key of its own.\nfix: handoff-gate packet complete FILE --ledger LEDGER",
		Example: "the entry has handoff_id h-0001, the packet id h-0002",
	}
	CompletionPacketMismatch = &rule.Rule{
		ID: "packet/completion-packet-mismatch", Severity: report.Error,
		Title:   "The packet is not the one that was claimed",
		Why:     "The entry holds the SHA-256 of the handoff as it was accepted. This one was changed after that.",
		Remedy:  "A person decides which of the two stands. Complete or abandon the packet as it was claimed.\nfix: handoff-gate packet complete FILE --ledger LEDGER",
		Example: "a packet whose purpose was edited after its claim",
	}
	ClaimTokenRequired = &rule.Rule{
		ID: "packet/claim-token-required", Severity: report.Error,
		Title:   "The claim is completed only with its token",
		Why:     "The claim was made with --claim-file, so only whoever holds that file may say that the work is done.",
		Remedy:  "Complete it with `--claim-file FILE`, the file that the claim has made.\nfix: handoff-gate packet complete FILE --ledger LEDGER --claim-file TOKEN",
		Example: "packet claim … --claim-file token, then packet complete … without it",
	}
	ClaimTokenInvalid = &rule.Rule{
		ID: "packet/claim-token-invalid", Severity: report.Error,
		Title:   "The token is not that of the claim",
		Why:     "The token belongs to another claim, perhaps to an earlier one of the same key that was released since. Its holder is not the one at work.",
		Remedy:  "A person finds out whose claim stands. Use the file that this claim has made; a claim that was made without a token takes none.\nfix: handoff-gate packet complete FILE --ledger LEDGER --claim-file TOKEN",
		Example: "a token kept from before packet abandon and a new claim",
	}
	DependencyIncomplete = &rule.Rule{
		ID: "packet/dependency-incomplete", Severity: report.Error,
		Title:   "Work that this packet waits for is not completed",
		Why:     "`depends_on` does not stop a claim. It stops the completion, so that nothing counts as done before what it builds on.",
		Remedy:  "The owners of the packets it waits for complete them first; the claim of this packet stays.\nfix: handoff-gate packet complete FILE --ledger LEDGER",
		Example: `"depends_on": ["up"]    while up is RESERVED`,
	}
	DependencyUnknown = &rule.Rule{
		ID: "packet/dependency-unknown", Severity: report.Error,
		Title:   "Work that this packet waits for was never claimed",
		Why:     "`depends_on` names a key that the ledger has no entry of: it is misspelt, or claimed in another ledger, or still to come.",
		Remedy:  "The owner of that work claims and completes it first, in the same ledger; the claim of this packet stays.\nfix: handoff-gate packet complete FILE --ledger LEDGER",
		Example: `"depends_on": ["up"]    and no entry of up`,
	}
	ReleaseNotReserved = &rule.Rule{
		ID: "packet/release-not-reserved", Severity: report.Error,
		Title:   "There is no claim to abandon",
		Why:     "Only a claim in progress can be given back: not a key that was never claimed, nor one that was released or completed.",
		Remedy:  "Nothing is to be released. Look at the ledger before you claim the packet anew.\nfix: handoff-gate packet check FILE --registry REGISTRY --workspace . --ledger LEDGER --dry-run",
		Example: "handoff-gate packet abandon p.json --ledger empty.json",
	}
	ReleaseClaimFresh = &rule.Rule{
		ID: "packet/release-claim-fresh", Severity: report.Error,
		Title:   "The claim is fresh: somebody may be at work",
		Why:     "Giving a key back while its holder works lets the work be done twice. The holder is stopped from completing, not from working.",
		Remedy:  "Do not run it again. Its holder gives it back with `--claim-file`; others wait until its time has passed or, where it is known that nothing was done, use `--force`.\nfix: handoff-gate packet abandon FILE --ledger LEDGER --claim-file TOKEN",
		Example: "packet claim, and packet abandon a minute later by somebody else",
	}
)

// Rules are the rows of this package in the table of all rules.
var Rules = []*rule.Rule{
	LedgerCorrupt, LedgerUnreachable, LedgerUnsupported, DuplicateIdempotencyKey, IdempotencyKeyReserved, UnknownOutcome, DependencyCycle, ClaimConflict,
	MissingIdempotencyKey, CompletionUnknownKey, CompletionHandoffMismatch, CompletionPacketMismatch, ClaimTokenRequired, ClaimTokenInvalid,
	DependencyIncomplete, DependencyUnknown, ReleaseNotReserved, ReleaseClaimFresh,
}
