package packet

import (
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// kind is a rule of packets with what every finding of it has in common: whose
// turn it is, what that person does, and the command that mends it.
type kind struct {
	*rule.Rule
	state ledger.State // of a reason; "" where the rule is none
	turn  string       // who does what, without the last line
	mend  mend
}

// mend names the command in which a remedy ends (packets.md 11).
type mend uint8

const (
	again   mend = iota // an edit helps, or another's work; the check is then run again
	sign                // the sender signs (again)
	approve             // an approver approves, then the sender signs
	pin                 // missing digests are filled in, then the sender signs
	refresh             // all digests are taken anew, then the sender signs
)

// general is the command of a rule that is not about one packet.
var general = map[mend]string{
	again:   "handoff-gate packet check FILE --registry REGISTRY --workspace .",
	sign:    "handoff-gate packet sign FILE --key KEY --out FILE",
	approve: "handoff-gate packet approve FILE --key KEY --action NAME --out FILE",
	pin:     "handoff-gate packet pin FILE --workspace . --out FILE",
	refresh: "handoff-gate packet pin FILE --workspace . --refresh --out FILE",
}

func declare(k *kind, s report.Severity, name, title, why, turn, example string) *kind {
	k.turn = turn
	k.Rule = &rule.Rule{
		ID: "packet/" + name, Severity: s, Title: title, Why: why, Example: example,
		Remedy: report.WithFix(turn, general[k.mend]),
	}
	if s == report.Notice {
		k.Remedy = turn
	}
	return k
}

// reason declares a rule that rejects.
func reason(state ledger.State, m mend, name, title, why, turn, example string) *kind {
	return declare(&kind{state: state, mend: m}, report.Error, name, title, why, turn, example)
}

// warning declares a rule that never rejects.
func warning(m mend, name, title, why, turn, example string) *kind {
	return declare(&kind{mend: m}, report.Warning, name, title, why, turn, example)
}

func notice(name, title, why, turn, example string) *kind {
	return declare(&kind{}, report.Notice, name, title, why, turn, example)
}

// varying says when a rule is only a warning.
func (k *kind) varying(when string) *kind {
	k.Varies = when
	return k
}

const (
	invalid    = ledger.Invalid
	incomplete = ledger.Incomplete
	stale      = ledger.Stale
	blocked    = ledger.Blocked
)

// The rules of check 1 (packets.md 6).
var (
	packetUnreadable = reason(invalid, sign, "packet-unreadable",
		"The packet cannot be read in one way",
		"What is not plain JSON, begins with a byte order mark, holds broken UTF-8, nests deeper than 64 or is larger than 1 MiB, is read differently by different programs, or not at all. Signer and receiver would then mean different packets.",
		"The sender writes the packet as plain JSON and signs it.",
		`{"handoff": {"id": "h-0001",}}    (a comma too many)`)
	duplicateField = reason(invalid, sign, "duplicate-field",
		"An object of the packet has the same key twice",
		"Readers differ in which of two equal keys counts, so a packet could be one thing to its signer and another to whoever runs it. Keys are compared after unescaping.",
		"The sender keeps one of the two and signs again.",
		`{"handoff": {"to": "bob", "\u0074o": "eve"}}`)
	malformed = reason(invalid, sign, "malformed",
		"A member of the packet has a wrong type, size or character",
		"The checks judge only what has the form that the format gives it; a list in place of a text, a negative estimate or a hidden character could mean anything.",
		"The sender corrects the member that the code names and signs again.",
		`"planned_actions": [{"name": "build", "tool": "shell", "est_usd": -1}]`)
	registryUnreadable = reason(invalid, again, "registry-unreadable",
		"The registry cannot be read in one way",
		"The registry says who exists and what a receiver allows. One that is no strict JSON, or is not there, leaves nobody whose signature could count, so no packet is judged by it.",
		"The registry's owner repairs it, or has it merged before the packets that need it.",
		`{"agents": {"alice": {"keys": []}, "alice": {"keys": []}}}`)
	registryMalformed = reason(invalid, again, "registry-malformed",
		"The registry has a member of a wrong type",
		"A policy whose limit is a text, or two keys of one id, leave open what is allowed and whose key it is. Nothing is checked by such a registry.",
		"The registry's owner corrects the member that the message names.",
		`{"agents": {"bob": {"policy": {"max_ttl_hours": "24"}}}}`)
	missingHandoff = reason(invalid, sign, "missing-handoff",
		"The packet has no object handoff",
		"Everything that is signed and judged stands in the member handoff.",
		"The sender puts the fields into an object named handoff and signs it.",
		`{"Handoff": {"id": "h-0001"}}    (names are compared exactly)`)
	missingField = reason(invalid, sign, "missing-field",
		"A required field of the handoff is missing",
		"A receiver must not guess what a sender left out. Some fields may come from the receiver's defaults; this one did not.",
		"The sender fills in the field that the code names and signs again.",
		`{"handoff": {"from": "alice", "to": "bob", "purpose": ""}}`)
	badSchemaVersion = reason(invalid, sign, "bad-schema-version",
		"The packet is of another version of the format",
		"Only the version 0.1 is known, as the text \"0.1\". What another version means cannot be judged here.",
		"The sender writes schema_version \"0.1\" and signs again.",
		`"schema_version": 0.1    (a number, not the text)`)
	badOnFailure = reason(invalid, sign, "bad-on-failure",
		"What shall happen on failure is none of the four words",
		"A receiver that fails must know what the sender wants then; a word of one's own would be ignored.",
		"The sender writes reject, retry_with_budget, escalate or request_human, and signs again.",
		`"on_failure": "ignore"`)
	receiverMismatch = reason(invalid, sign, "receiver-mismatch",
		"The packet is addressed to somebody else",
		"The receiver is set by --as-receiver, and the packet's to names another. Judged by another's policy, a packet could choose the receiver that allows most.",
		"The sender addresses the packet to this receiver and signs again; or whoever received it passes it on.",
		`"to": "carol"    with --as-receiver bob`)
	badSHA256 = reason(invalid, sign, "bad-sha256",
		"A pinned digest is no SHA-256",
		"A digest has exactly 64 hex digits. Anything else pins nothing.",
		"The sender pins the file again (`handoff-gate packet pin FILE --workspace . --refresh --out FILE`) and signs.",
		`"artifact_refs": [{"path": "brief.md", "sha256": "3cfde1"}]`)
	unknownField = reason(invalid, sign, "unknown-field",
		"The packet has a member that the format does not know",
		"A misspelt member is silently without effect: a forbidden list under the name forbid forbids nothing, and its sender believes otherwise.",
		"The sender corrects the member's name or removes it, and signs again.",
		`"scope": {"owned_paths": [], "forbidden": [], "forbid": ["force_push"]}`).
		varying("A warning unless the run is strict (--strict, or the action's packets-strict).")
	plannedActionsMissing = reason(invalid, sign, "planned-actions-missing",
		"The packet plans no actions, and the receiver requires them",
		"Tools, approvals and budget are judged by the actions that are planned. Without any the packet would pass with nothing judged.",
		"The sender lists the actions in planned_actions and signs again.",
		`"planned_actions": []    with "require_planned_actions": true`)
)

// The rules of check 2.
var (
	unknownAgent = reason(invalid, sign, "unknown-agent",
		"The registry has no such agent",
		"Names are compared exactly, so that Alice, or alice with a Cyrillic letter, cannot pass for alice.",
		"The sender writes the agent's id as the registry has it and signs again; or the registry's owner registers the agent.",
		`"from": "Alice"    where the registry has "alice"`)
	aliasNotCanonical = reason(invalid, sign, "alias-not-canonical",
		"The packet names an agent by an alias",
		"An alias is for people. Ledger, policy and signatures go by the one canonical id, or one agent would have two of each.",
		"The sender writes the id that the alias stands for and signs again.",
		`"from": "ally"    where the registry has "ally": {"alias_of": "alice"}`)
	signatureMissing = reason(invalid, sign, "signature-missing",
		"The packet is not signed",
		"The receiver's policy (or --strict) requires a signature: without one anybody could have written the packet in the sender's name.",
		"The sender signs the packet.",
		`{"handoff": {…}}    with "require_signatures": true`)
	signatureMalformed = reason(invalid, sign, "signature-malformed",
		"The signature has a wrong form",
		"It must be an object whose sig is a text; anything else cannot be verified.",
		"The sender signs the packet again.",
		`"signature": "Bffl6SgKo9Z5…"    (a text, not the object)`)
	signatureAlgUnsupported = reason(invalid, sign, "signature-alg-unsupported",
		"The packet is not signed with Ed25519",
		"Packets are signed with Ed25519 and nothing else. The algorithm is never taken from the signature itself, or a weak one could be chosen by whoever forges.",
		"The sender signs with an Ed25519 key that the registry has.",
		`"signature": {"signer": "alice", "alg": "none", "sig": ""}`)
	signatureSignerMismatch = reason(invalid, sign, "signature-signer-mismatch",
		"Somebody else than the sender signed",
		"A packet speaks for its from. A signature of another agent, however valid, is not the sender's word.",
		"The agent named in from signs the packet.",
		`"from": "alice"    with "signature": {"signer": "mallory", …}`)
	signatureKidRequired = reason(invalid, sign, "signature-kid-required",
		"The signature does not say which of the sender's keys it is",
		"Only the named key is tried, never any key that fits: else a revoked key would live on beside the new one.",
		"The sender signs again with a key file that has its kid.",
		`"signature": {"signer": "alice", "sig": "…"}    where alice has two keys`)
	signatureKeyUnknown = reason(invalid, sign, "signature-key-unknown",
		"The registry has no usable key of that name for the sender",
		"A signature counts by the key that the receiver's registry holds. An unknown key, one of another algorithm, or one that is no sound public key proves nothing.",
		"The sender signs with a registered key; or the registry's owner registers this one (`packet keygen` prints the entry).",
		`"signature": {"signer": "alice", "kid": "a-9", …}    where alice has a-1`)
	signatureKeyRevoked = reason(invalid, sign, "signature-key-revoked",
		"The key of the signature is revoked",
		"Whoever has stolen a key can date a signature as they like, so a revoked key counts for nothing, whenever it signed.",
		"The sender signs again with a key that is valid.",
		`"keys": [{"kid": "a-1", "public_key": "…", "revoked_at": "2026-09-01T00:00:00Z"}]`)
	signatureKeyNotYetValid = reason(invalid, sign, "signature-key-not-yet-valid",
		"The key of the signature is not valid yet",
		"The registry says from when on the key counts; judged is the time of the check.",
		"The sender signs with a key that is valid now, or waits.",
		`"keys": [{"kid": "a-2", "public_key": "…", "valid_from": "2027-01-01T00:00:00Z"}]`)
	signatureKeyExpired = reason(invalid, sign, "signature-key-expired",
		"The key of the signature is no longer valid",
		"The registry says until when the key counts; judged is the time of the check.",
		"The sender signs again with a key that is valid.",
		`"keys": [{"kid": "a-1", "public_key": "…", "valid_until": "2026-01-01T00:00:00Z"}]`)
	signatureInvalid = reason(invalid, sign, "signature-invalid",
		"The signature does not fit the packet",
		"The handoff was changed after it was signed, or another key signed it, or the text of the signature is not the one spelling that is accepted.",
		"The sender looks at what changed, restores or confirms it, and signs again.",
		`"budget": {"tokens": 50000, …} was signed, "budget": {"tokens": 500000, …} arrived`)
	unsignedPacket = warning(sign, "unsigned-packet",
		"The packet is not signed, and the policy does not ask for it",
		"Nobody vouches for the packet: whoever could write the file could write anything into it.",
		"The sender signs the packet; the receiver sets require_signatures.",
		`{"handoff": {…}}    with "require_signatures": false`)
)

// The rules of check 4.
var (
	badExpiresAt = reason(invalid, sign, "bad-expires-at",
		"The packet's expiry is no timestamp",
		"It must be RFC 3339 with an offset. A time without one is never guessed: it would expire at another moment on each machine.",
		"The sender writes a time such as 2026-10-05T00:00:00Z and signs again.",
		`"expires_at": "2026-10-05T00:00:00"    (no offset)`)
	handoffExpired = reason(stale, sign, "handoff-expired",
		"The packet has expired",
		"What a packet asks for may no longer hold. The second of its expiry counts as expired.",
		"The sender refreshes the packet: looks whether it still holds, gives it a new expiry and signs again; approvals as before.",
		`"expires_at": "2026-10-02T12:00:00Z"    checked at 12:00:00`)
	ttlExceeded = reason(invalid, sign, "ttl-exceeded",
		"The packet would be valid for longer than the receiver allows",
		"A packet that is valid for long can be found, replayed where its claim is forgotten, and run against a state that nobody had in mind.",
		"The sender chooses an earlier expiry and signs again.",
		`"expires_at" in 30 days    with "max_ttl_hours": 24`)
)

// The rules of check 5.
var (
	authorityExceedsReceiverPolicy = reason(blocked, sign, "authority-exceeds-receiver-policy",
		"The packet asks for more than the receiver's policy allows",
		"Authority only narrows: a packet may ask for less than the policy allows, never for more tools or a larger budget.",
		"The sender asks for less and signs again; or the receiver's owner widens the policy in the registry.",
		`"allowed_tools": ["shell"]    where the policy allows ["read_repo"]`)
	toolNotAllowed = reason(blocked, sign, "tool-not-allowed",
		"A planned action uses a tool that the packet itself does not allow",
		"The packet's own list of tools is what its sender authorised. An action outside it was planned by mistake, or slipped in.",
		"The sender allows the tool or drops the action, and signs again.",
		`"allowed_tools": ["read_repo"], and an action with "tool": "git_push"`)
	toolNotAllowedByReceiver = reason(blocked, sign, "tool-not-allowed-by-receiver",
		"A planned action uses a tool that the receiver's policy does not allow",
		"The receiver's list is the outer bound, whatever the packet says.",
		"The sender drops the action and signs again; or the receiver's owner allows the tool in the registry.",
		`"tool": "shell"    where the policy allows ["read_repo", "git_push"]`)
	forbiddenAction = reason(blocked, sign, "forbidden-action",
		"A planned action is forbidden",
		"Its name or its tool stands in the packet's scope.forbidden or in the policy's forbidden. Forbidding beats every permission.",
		"The sender drops the action and signs again; or the owner who forbade it lifts that.",
		`"forbidden": ["force_push"], and an action with "name": "force_push"`)
	approvalMissing = reason(blocked, approve, "approval-missing",
		"A planned action needs an approval and has none",
		"The packet or the policy says that this action or tool needs a person's approval. None of the packet's approvals is for it.",
		"An approver approves the action; then the sender signs.",
		`"approval_required_for": ["git_push"], an action with that tool, and "approvals": []`)
	approvalParamsMismatch = reason(blocked, approve, "approval-params-mismatch",
		"The approvals of an action are for other parameters",
		"An approval of a push to a feature branch is none of a push to main. Each parameter that was approved must stand in the plan with the same value.",
		"The sender restores the approved parameters, or an approver approves the new ones; then the sender signs.",
		`approved "params": {"branch": "feature/x"}, planned "params": {"branch": "main"}`)
	approvalExpiresInvalid = reason(blocked, approve, "approval-expires-invalid",
		"An approval's expiry is no timestamp",
		"An approval that says until when it counts must say it in RFC 3339 with an offset; a time is never guessed.",
		"An approver approves again with a sound --expires-at; then the sender signs.",
		`"approvals": [{"action": "push", "approver": "rita", "expires_at": "tomorrow"}]`)
	approvalExpired = reason(blocked, approve, "approval-expired",
		"An approval has expired",
		"Approvals do not cover purpose, inputs or budget, so they are given for a time. The second of the expiry counts as expired.",
		"An approver approves again; then the sender signs.",
		`"approvals": [{"action": "push", "expires_at": "2026-10-01T00:00:00Z", …}]    checked a day later`)
	approverNotTrusted = reason(blocked, approve, "approver-not-trusted",
		"An approval is by somebody whose approval does not count",
		"The policy's trusted_approvers does not name the approver; or it has no such list and the approver is the sender, who cannot approve their own request.",
		"A trusted approver approves the action; then the sender signs.",
		`"approver": "mallory"    with "trusted_approvers": ["rita"]`)
	approvalKidRequired = reason(blocked, approve, "approval-kid-required",
		"An approval does not say which of the approver's keys signed it",
		"Only the named key is tried, never any key that fits.",
		"The approver approves again with a key file that has its kid; then the sender signs.",
		`"approvals": [{"approver": "rita", "sig": "…"}]    where rita has two keys`)
	approvalKeyRevoked = reason(blocked, approve, "approval-key-revoked",
		"The key of an approval is revoked",
		"A revoked key counts for nothing, whenever it signed.",
		"The approver approves again with a key that is valid; then the sender signs.",
		`"rita": {"keys": [{"kid": "r-1", "public_key": "…", "revoked_at": "2026-09-01T00:00:00Z"}]}`)
	approvalKeyNotYetValid = reason(blocked, approve, "approval-key-not-yet-valid",
		"The key of an approval is not valid yet",
		"The registry says from when on the key counts; judged is the time of the check.",
		"The approver approves again with a key that is valid now; then the sender signs.",
		`"rita": {"keys": [{"kid": "r-2", "public_key": "…", "valid_from": "2027-01-01T00:00:00Z"}]}`)
	approvalKeyExpired = reason(blocked, approve, "approval-key-expired",
		"The key of an approval is no longer valid",
		"The registry says until when the key counts; judged is the time of the check.",
		"The approver approves again with a key that is valid; then the sender signs.",
		`"rita": {"keys": [{"kid": "r-1", "public_key": "…", "valid_until": "2026-01-01T00:00:00Z"}]}`)
	approvalSignatureInvalid = reason(blocked, approve, "approval-signature-invalid",
		"An approval's signature does not fit",
		"It was given for another key, sender, receiver, action, expiry or parameters, by an unknown key, or it was forged. Copied to another handoff an approval is always this.",
		"The approver looks at the request and approves it anew; then the sender signs.",
		`an approval that was taken over from the packet of revision 7 into that of revision 8`)
	approvalUnsigned = reason(blocked, approve, "approval-unsigned",
		"An approval is not signed",
		"Without a signature the approval is only the packet's own claim that somebody approved.",
		"The approver approves with their key; then the sender signs.",
		`"approvals": [{"action": "push", "approver": "rita"}]    with "require_signed_approvals": true`).
		varying("A warning unless the policy has require_signed_approvals or the run is strict.")
	budgetExceeded = reason(blocked, sign, "budget-exceeded",
		"The planned actions cost more than the budget",
		"The estimates of all actions together are above the lower of the packet's and the policy's budget. Equal is allowed.",
		"The sender plans less or asks for more within the policy, and signs again; or an owner raises the policy's budget.",
		`"budget": {"usd": 2, …}, and two actions with "est_usd": 1.5`)
)

// The rules of checks 6 and 7.
var (
	workspaceRequired = reason(invalid, again, "workspace-required",
		"Files are pinned and no workspace was named",
		"A pin that was not compared is not a pass.",
		"Name the folder with `--workspace`.",
		"handoff-gate packet check p.json --registry registry.json")
	artifactPathEscapesWorkspace = reason(invalid, sign, "artifact-path-escapes-workspace",
		"An artifact's path leads out of the workspace",
		"A packet must not make the checker open files elsewhere. Paths are relative with slashes, without .. and without links that leave; nothing outside is opened or looked at.",
		"The sender names a file inside the workspace and signs again.",
		`"artifact_refs": [{"path": "../secrets.env"}]`)
	artifactMissing = reason(incomplete, sign, "artifact-missing",
		"An artifact is not a regular file of the workspace",
		"The handoff depends on a file that the receiver does not have. A folder, a pipe or a link to nothing is none.",
		"The sender supplies the file, or corrects its path and signs again.",
		`"artifact_refs": [{"path": "context/breif.md"}]`)
	artifactHashMismatch = reason(stale, refresh, "artifact-hash-mismatch",
		"An artifact is not the file that was pinned",
		"Its bytes changed after the sender pinned them, so sender and receiver would work from different files. Line ends count.",
		"Restore the file; or, if the change is meant, the sender pins it again, then approvals as before, and signs again.",
		`the pinned brief.md, after a line was added`)
	artifactUnpinned = reason(incomplete, pin, "artifact-unpinned",
		"An artifact is not pinned",
		"Without a SHA-256 the file may be exchanged at any time and the packet still fits.",
		"The sender pins it, then signs again.",
		`"artifact_refs": [{"path": "brief.md"}]`).
		varying("A warning unless the run is strict (--strict, or the action's packets-strict).")
	evidenceMissing = reason(incomplete, sign, "evidence-missing",
		"Required evidence is not there",
		"The packet requires a kind of evidence and has no item of that kind.",
		"The sender supplies the evidence and signs again.",
		`"required_evidence": ["test_output"], "evidence": []`)
	evidenceNotVerbatim = reason(invalid, sign, "evidence-not-verbatim",
		"Evidence of a verbatim kind is not word for word",
		"Code, quotes and legal text count only as they stand in the source: verbatim must be exactly true, and a quote must occur byte for byte in the file or its line range. One changed word is a paraphrase.",
		"The sender quotes the source as it stands and signs again.",
		`{"kind": "verbatim_quote", "ref": "rules.md#L3", "verbatim": true, "quote": "A verdict needs 2 readers."}    where the file says "two"`)
	evidenceUnreferenced = reason(incomplete, sign, "evidence-unreferenced",
		"Evidence does not say where it comes from",
		"Evidence without a ref cannot be looked up by anybody.",
		"The sender adds the ref, a path with an optional fragment, and signs again.",
		`{"kind": "test_output", "verbatim": true}`)
	evidencePathEscapesWorkspace = reason(invalid, sign, "evidence-path-escapes-workspace",
		"The ref of evidence leads out of the workspace",
		"A packet must not make the checker open files elsewhere. Nothing outside is opened or looked at.",
		"The sender refers to a file inside the workspace and signs again.",
		`{"kind": "legal_text", "ref": "/etc/passwd#L1"}`)
	evidenceRefMissing = reason(incomplete, sign, "evidence-ref-missing",
		"Evidence refers to a file or line that is not there",
		"What cannot be found proves nothing.",
		"The sender supplies the file, or corrects the ref and signs again.",
		`{"kind": "code_text", "ref": "main.go#L90-L99"}    in a file of 40 lines`)
	evidenceHashMismatch = reason(stale, refresh, "evidence-hash-mismatch",
		"The source of evidence is not the file that was pinned",
		"The whole file is pinned, fragment or not. It changed since, so the evidence may no longer stand in it.",
		"Restore the file; or, if the change is meant, the sender pins it again, then approvals as before, and signs again.",
		`the pinned rules.md, after another line of it was edited`)
	verbatimEvidenceUnpinned = reason(invalid, pin, "verbatim-evidence-unpinned",
		"Verbatim evidence is not pinned",
		"A quotation of a file that may be exchanged at any time is no quotation.",
		"The sender pins it, then signs again.",
		`{"kind": "verbatim_quote", "ref": "rules.md#L3", "verbatim": true}`)
)

// The rules about the registry and the run.
var (
	registryKeyUnusable = warning(again, "registry-key-unusable",
		"A key of the registry cannot be used",
		"It is missing, of an unknown algorithm, not spelled as base64url of the right length, or a point with which anybody could sign anything. Signatures of this key are refused.",
		"Register a new key: `handoff-gate packet keygen` prints the entry.",
		`{"kid": "a-1", "alg": "Ed25519", "public_key": "AAAA"}`)
	registrySharedKey = warning(again, "registry-shared-key",
		"Two agents have the same public key",
		"Whoever holds the private key speaks for both, so neither's word is their own.",
		"Give each agent a key of its own.",
		`"alice" and "bob" with one public_key`)
	registryUnknownPolicyKey = warning(again, "registry-unknown-policy-key",
		"A policy has a member that is not known",
		"A misspelt flag silently does not hold: require_signature requires nothing.",
		"Correct the member's name.",
		`"policy": {"require_signature": true}    (require_signatures)`)
	registryConfusableIDs = warning(again, "registry-confusable-ids",
		"Ids of the registry can be taken for one another",
		"Two ids that differ in case only, or one that mixes Latin with Cyrillic or Greek letters, look alike to whoever reviews a packet.",
		"Rename one of them.",
		`"alice" and "Alice"`)
	registryChanged = notice("registry-changed",
		"The change edits the registry",
		"Packets are judged by the base's registry, so a change cannot register its own key. What it says takes effect once merged; reviewers should look at it as at any grant of rights.",
		"Nothing is to be done; review who gets which key and which policy.",
		"A pull request that adds a key for alice.")
	registryBrokenAtHead = declare(&kind{mend: again}, report.Error, "registry-broken-at-head",
		"The change breaks the registry",
		"After the merge no packet could be checked, and the repair would then have no registry to be judged by.",
		"Repair the registry in this change.",
		"A pull request that removes registry.json, or leaves a comma too many in it.")
	noMatch = warning(again, "no-match",
		"A pattern of the input packets matches no file",
		"A misspelt pattern checks nothing, and that looks like a pass.",
		"Correct the pattern, or remove it.",
		"packets: .handoff/*.jsn")
	receiverNotSet = notice("receiver-not-set",
		"The packet chooses the policy that judges it",
		"The input receiver is empty, so the policy is that of whoever the packet names in to. In a repository with one receiver, name it.",
		"Set the input receiver where one receiver is meant.",
		"packets: handoffs/*.json    without receiver")
	claimDeferred = notice("claim-deferred",
		"The packet was checked against the ledger and not claimed",
		"A pull request runs many times, and its first run would lock out its second. Claims are written on a push to the default branch and in dispatched runs.",
		"Nothing is to be done; the claim is made after the merge.",
		"claim: true    on pull_request")
)

// Rules are the rules of this package; those of check 3, of completing and of
// abandoning are the ledger's.
var Rules = rules(
	packetUnreadable, duplicateField, malformed, registryUnreadable, registryMalformed, missingHandoff,
	missingField, badSchemaVersion, badOnFailure, receiverMismatch, badSHA256, unknownField,
	plannedActionsMissing, unknownAgent, aliasNotCanonical, signatureMissing, signatureMalformed,
	signatureAlgUnsupported, signatureSignerMismatch, signatureKidRequired, signatureKeyUnknown,
	signatureKeyRevoked, signatureKeyNotYetValid, signatureKeyExpired, signatureInvalid, unsignedPacket,
	badExpiresAt, handoffExpired, ttlExceeded, authorityExceedsReceiverPolicy, toolNotAllowed,
	toolNotAllowedByReceiver, forbiddenAction, approvalMissing, approvalParamsMismatch, approvalExpiresInvalid,
	approvalExpired, approverNotTrusted, approvalKidRequired, approvalKeyRevoked, approvalKeyNotYetValid,
	approvalKeyExpired, approvalSignatureInvalid, approvalUnsigned, budgetExceeded, workspaceRequired,
	artifactPathEscapesWorkspace, artifactMissing, artifactHashMismatch, artifactUnpinned, evidenceMissing,
	evidenceNotVerbatim, evidenceUnreferenced, evidencePathEscapesWorkspace, evidenceRefMissing,
	evidenceHashMismatch, verbatimEvidenceUnpinned, registryKeyUnusable, registrySharedKey,
	registryUnknownPolicyKey, registryConfusableIDs, registryChanged, registryBrokenAtHead, noMatch,
	receiverNotSet, claimDeferred,
)

func rules(kinds ...*kind) []*rule.Rule {
	out := make([]*rule.Rule, len(kinds))
	for i, k := range kinds {
		out[i] = k.Rule
	}
	return out
}
