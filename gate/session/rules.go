package session

import (
	"slices"

	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// Rules of what can be read at all.
var (
	ConfigInvalid = &rule.Rule{
		ID: "provenance/config-invalid", Severity: report.Error,
		Title:   "handoff.config.json is wrong",
		Why:     "The file says where the sessions are. With a wrong one another store than the configured one would be verified, and a green result would be about something else. On the command line this is exit status 2.",
		Remedy:  "Correct `handoff.config.json`; the message names each error by its key.",
		Example: "{\"handoffs_dir\": \"store\"}    (the key is handoff_dir)",
	}
	Symlink = &rule.Rule{
		ID: "provenance/symlink", Severity: report.Error,
		Title:   "A session, or a file of one, is a symbolic link",
		Why:     "What stands behind a link can be exchanged without touching the session, and a link can lead out of the repository. It is not followed, so what it hides was not verified.",
		Remedy:  "Replace the link by the real file or folder.",
		Example: "handoffs/projects/demo/login/timeline.jsonl -> ../../../elsewhere.jsonl",
	}
	Unreadable = &rule.Rule{
		ID: "provenance/unreadable", Severity: report.Error,
		Title:   "A file of a session cannot be read",
		Why:     "What cannot be read proves nothing, and a gate must not pass what it has not seen: a folder or pipe in the place of a file, one without permission to read, one over 256 MiB, or, in the action, a pointer of Git LFS whose content is not in the commit.",
		Remedy:  "Make it a readable regular file of at most 256 MiB, and commit its content rather than a pointer of Git LFS.",
		Example: "HANDOFF.llm.json is a folder.",
	}
	NoMatch = &rule.Rule{
		ID: "provenance/no-match", Severity: report.Error,
		Title:   "There is no such session",
		Why:     "Something was to be verified and nothing was found: the prefix is misspelt, the root is another folder, or the sessions are gone. On the command line the exit status is 4.",
		Remedy:  "Check the prefix and the root; `handoff-gate session list` shows what exists.",
		Example: "handoff-gate session verify lgoin",
	}
	PrefixAmbiguous = &rule.Rule{
		ID: "provenance/prefix-ambiguous", Severity: report.Error,
		Title:   "The prefix names more than one session",
		Why:     "Which of them was meant is not for the gate to guess, also where one of them is named exactly like the prefix. On the command line the exit status is 3.",
		Remedy:  "Give more characters, or `project/prefix`.",
		Example: "handoff-gate session verify login    (there are login-form and login-page)",
	}
	ManifestMissing = &rule.Rule{
		ID: "provenance/manifest-missing", Severity: report.Error,
		Title:   "A session folder has no manifest.json",
		Why:     "A folder is a session by its manifest. Without it nothing in the folder is verified, so removing the manifest would be a way round every check.",
		Remedy:  "Restore `manifest.json`, or remove the folder.",
		Example: "git rm handoffs/projects/demo/login/manifest.json",
	}
	BaseUnavailable = &rule.Rule{
		ID: "provenance/base-unavailable", Severity: report.Error,
		Title:   "The base commit cannot be read",
		Why:     "Hashes that the editor can compute anew show damage, not forgery. Only the comparison with a commit that is out of the editor's hands does, and it could not be made.",
		Remedy:  "Fetch the base commit: `fetch-depth: 0` for actions/checkout, `git fetch --unshallow` elsewhere.",
		Example: "handoff-gate session verify --all --base origin/main    (in a clone without that branch)",
	}
)

// Rules of the chain (sessions.md 5).
var (
	ManifestUnparsable = &rule.Rule{
		ID: "provenance/manifest-unparsable", Severity: report.Error,
		Title:   "manifest.json is not a JSON object",
		Why:     "Every other check begins with the manifest. The engine passes over such a folder as if it were not there; here it is an error.",
		Remedy:  "Restore it from version control, or rebuild the session.",
		Example: "A conflict marker in manifest.json, or a byte order mark before it.",
	}
	ManifestHash = &rule.Rule{
		ID: "provenance/manifest-hash-mismatch", Severity: report.Error,
		Title:   "The manifest does not have the hash that it records",
		Why:     "`manifest_sha256` covers every other field of the manifest as JSON.stringify writes it. Another value means that a field was edited, added or removed after the engine wrote the file.",
		Remedy:  "Undo the edit. To change what is recorded, rebuild the session.",
		Example: "\"turn_count\": 12 was edited to 11 and the hash left as it was.",
	}
	ManifestProtoKey = &rule.Rule{
		ID: "provenance/manifest-proto-key", Severity: report.Error,
		Title:   "The manifest has a key that its hash does not cover",
		Why:     "The engine copies the manifest in a way that loses a top-level `__proto__`, so its own hash leaves the key out, and another script of the engine hashes it. Whatever stands there can be changed without a trace.",
		Remedy:  "Remove the key.",
		Example: "\"__proto__\": {\"approved\": true}",
	}
	TimelineMissing = &rule.Rule{
		ID: "provenance/timeline-missing", Severity: report.Error,
		Title:   "The session has no timeline.jsonl",
		Why:     "The timeline is the transcript that everything else is made from.",
		Remedy:  "Restore `timeline.jsonl` from version control, or rebuild the session.",
		Example: "git rm handoffs/projects/demo/login/timeline.jsonl",
	}
	TurnCountDrift = &rule.Rule{
		ID: "provenance/turn-count-drift", Severity: report.Error,
		Title:   "The timeline does not have turn_count lines",
		Why:     "Lines were added to the timeline or lost from it after the manifest was written. A timeline without a line is none, whatever `turn_count` says.",
		Remedy:  "Restore the timeline; to add turns, rebuild the session from its transcript.",
		Example: "turn_count is 40, and timeline.jsonl has 39 lines.",
	}
	PayloadMissing = &rule.Rule{
		ID: "provenance/payload-missing", Severity: report.Error,
		Title:   "The session has no HANDOFF.llm.json",
		Why:     "The payload is what the next agent is given. A session without it hands nothing over.",
		Remedy:  "Rebuild the session.",
		Example: "A merged session before its first build.",
	}
	PayloadUnparsable = &rule.Rule{
		ID: "provenance/payload-unparsable", Severity: report.Error,
		Title:   "HANDOFF.llm.json is not JSON",
		Why:     "The next agent cannot read it, and it can be compared with nothing.",
		Remedy:  "Rebuild the session.",
		Example: "A file that was cut short while it was written.",
	}
)

// Rules of the inside of a folder (sessions.md 7).
var (
	CopyMismatch = &rule.Rule{
		ID: "provenance/copy-mismatch", Severity: report.Error,
		Title:   "A copy of a manifest's field says something else",
		Why:     "The payload, the summary and HANDOFF.md repeat hashes and numbers of the manifest, and a build refreshes all of them. A difference that no command explains means that the files are of different revisions, or that one was edited.",
		Remedy:  "Rebuild the session, so that all its files are of one revision.",
		Example: "provenance.total_turns is 40 in HANDOFF.llm.json, and turn_count is 41.",
	}
	CopyStale = &rule.Rule{
		ID: "provenance/copy-stale", Severity: report.Warning,
		Title:   "A copy of a manifest's field is from before the last command",
		Why:     "`promote`, `federated-merge` and `rename` write a new manifest without refreshing all its copies. They leave a mark in the manifest, by which such a difference is known from an edit.",
		Remedy:  "Rebuild or retitle the session to refresh the copies.",
		Example: "HANDOFF.md has the manifest's hash of before `promote`.",
	}
	CopyMissing = &rule.Rule{
		ID: "provenance/copy-missing", Severity: report.Warning,
		Title:   "A file does not say which manifest it belongs to",
		Why:     "Without the copies nothing tells whether the file is of the same revision as the rest of the folder.",
		Remedy:  "Rebuild the session with a current engine.",
		Example: "HANDOFF.summary.json has no object `provenance`.",
	}
	RenderMissing = &rule.Rule{
		ID: "provenance/render-missing", Severity: report.Warning,
		Title:   "The session lacks one of its renders",
		Why:     "`HANDOFF.summary.json` and `HANDOFF.md` are what people and small models read. A merged session has none until it is built.",
		Remedy:  "Rebuild the session.",
		Example: "git rm handoffs/projects/demo/login/HANDOFF.md",
	}
	SummaryUnparsable = &rule.Rule{
		ID: "provenance/summary-unparsable", Severity: report.Error,
		Title:   "HANDOFF.summary.json is not JSON",
		Why:     "Nobody can read it, and it can be compared with nothing.",
		Remedy:  "Rebuild the session.",
		Example: "A conflict marker in HANDOFF.summary.json.",
	}
	LineUnparsable = &rule.Rule{
		ID: "provenance/timeline-line-unparsable", Severity: report.Error,
		Title:   "A line of the timeline is not a JSON object",
		Why:     "The engine writes one object a line. A line that is none was edited, and with it the turns cannot be compared with the payload and the counts. Up to 20 are listed.",
		Remedy:  "Restore the line.",
		Example: "{\"seq\":3,\"class\":\"USER\",\"text\":\"unfinished",
	}
	ClassCountDrift = &rule.Rule{
		ID: "provenance/class-count-drift", Severity: report.Error,
		Title:   "The turns of a class are not as many as the manifest counts",
		Why:     "`counts` says how many turns are of the user, the agent and so on. With as many lines as before, a turn that changed its class is seen here.",
		Remedy:  "Restore the timeline.",
		Example: "counts.USER is 2, and three lines have the class USER.",
	}
	PayloadTimelineDrift = &rule.Rule{
		ID: "provenance/payload-timeline-drift", Severity: report.Error,
		Title:   "The timeline and the payload tell different turns",
		Why:     "The payload repeats every turn of the timeline. No command changes one without the other, so one of the two was edited.",
		Remedy:  "Find out which of the two was edited and restore it, or rebuild the session from its source.",
		Example: "Line 3 says \"do not deploy\", and the third turn of the payload says \"deploy\".",
	}
	WatermarkAhead = &rule.Rule{
		ID: "provenance/watermark-ahead", Severity: report.Error,
		Title:   "The watermark lies above every turn",
		Why:     "The watermark is the highest sequence number that was read. No command writes one that no turn has: turns were taken out.",
		Remedy:  "Restore the timeline.",
		Example: "watermark is 40, and the highest seq is 37.",
	}
	WatermarkBehind = &rule.Rule{
		ID: "provenance/watermark-behind", Severity: report.Warning,
		Title:   "The watermark lies below a turn",
		Why:     "A rebuild from a shorter transcript sets the watermark back. The next build will append turns that are there already.",
		Remedy:  "Rebuild the session from the full transcript.",
		Example: "watermark is 20, and the highest seq is 37.",
	}
	SourceChanged = &rule.Rule{
		ID: "provenance/source-changed", Severity: report.Warning,
		Title:   "The source transcript is not the one that was read",
		Why:     "`raw_sha256` is the hash of the transcript that the last build read. A live transcript grows after a build, so this is a warning; a transcript that should be finished was edited.",
		Remedy:  "Rebuild the session, or restore the transcript.",
		Example: "logs/login.jsonl has three lines more than at the last build.",
	}
	EvidenceContractChanged = &rule.Rule{
		ID: "provenance/evidence-contract-changed", Severity: report.Warning,
		Title:   "The evidence contract is not the one that was sealed",
		Why:     "People write the contract by hand into HANDOFF.md, and a build seals it with a hash. Since then it was edited, which is how it is used between two builds, or lost.",
		Remedy:  "Rebuild the session to seal the edited contract.",
		Example: "EVIDENCE: was filled in after the build.",
	}
	PromotionForced = &rule.Rule{
		ID: "provenance/promotion-forced", Severity: report.Warning,
		Title:   "The session was promoted past its evidence gate",
		Why:     "`promote` asks for a complete contract, and was told to go on without one.",
		Remedy:  "Complete the contract and promote the session again.",
		Example: "\"promoted_gate\": \"FORCED\"",
	}
	PromotionUnsupported = &rule.Rule{
		ID: "provenance/promotion-unsupported", Severity: report.Warning,
		Title:   "The manifest says VERIFIED, and the contract does not",
		Why:     "A session is promoted as VERIFIED by the contract in its HANDOFF.md: seven fields, and evidence where the result is DONE. What is there now would not have passed.",
		Remedy:  "Restore the contract, or promote the session again.",
		Example: "RESULT: DONE\nEVIDENCE:",
	}
	LocalPathExposed = &rule.Rule{
		ID: "provenance/local-path-exposed", Severity: report.Warning,
		Title:   "The manifest records a path of somebody's machine",
		Why:     "A session that is built from an absolute path keeps it, and with it the name of its author's account and the layout of the disk. Whoever reads the repository reads it too.",
		Remedy:  "Build the session from a relative path; look at `source_paths` before the repository is published.",
		Example: "\"source_paths\": [\"/home/ann/.claude/projects/shop/login.jsonl\"]",
		Varies:  "A notice in the action where the event says that the repository is private.",
	}
	DuplicateKey = &rule.Rule{
		ID: "provenance/manifest-duplicate-key", Severity: report.Warning,
		Title:   "An object in the manifest has a key twice",
		Why:     "The hash covers the last value. A reader that takes the first one sees another manifest under the same hash.",
		Remedy:  "Keep one of the two.",
		Example: "{\"turn_count\": 3, \"turn_count\": 40}",
	}
	ProjectMismatch = &rule.Rule{
		ID: "provenance/project-mismatch", Severity: report.Warning,
		Title:   "The session lies in the folder of another project",
		Why:     "`project` in the manifest and the name of the folder differ, so the folder was moved by hand. The engine's own `rename` changes both and records that it did.",
		Remedy:  "Move the folder back, and use the engine's `rename`.",
		Example: "projects/shop/login has \"project\": \"demo\".",
	}
	LegacyLayout = &rule.Rule{
		ID: "provenance/legacy-layout", Severity: report.Notice,
		Title:   "The session lies directly under the root",
		Why:     "Older engines wrote sessions there; a current one cannot see them until its next build moves them. They are verified where they are.",
		Remedy:  "The engine's next build moves the folder under `projects/`.",
		Example: "handoffs/login/manifest.json",
	}
	IndexStale = &rule.Rule{
		ID: "provenance/index-stale", Severity: report.Warning,
		Title:   "INDEX.json says something else than a session",
		Why:     "No hash covers the index. A row that differs from its session misleads whoever chooses a session by it.",
		Remedy:  "Run the engine's `list`, which rewrites the index.",
		Example: "{\"id\": \"login\", \"project\": \"demo\", \"turns\": 12, …}    (the manifest has turn_count 40)",
	}
)

// Rules of the comparison with the base (sessions.md 8).
var (
	TimelineRewritten = &rule.Rule{
		ID: "provenance/timeline-rewritten", Severity: report.Error,
		Title:   "A line of the timeline is not as it was at the base",
		Why:     "A timeline is only ever added to. Every hash of the folder can be computed anew after an edit; the base commit cannot, so a rewritten, reordered or lost turn is seen here, also after a retitle or rename.",
		Remedy:  "Restore the lines of the base; only append.",
		Example: "Line 3 was \"do not deploy\" at the base and is \"deploy\" now, with all hashes to match.",
	}
	IdentityChanged = &rule.Rule{
		ID: "provenance/identity-changed", Severity: report.Error,
		Title:   "The session is another one than at the base",
		Why:     "`session` and `created_at` say which session a folder holds, and no command changes them.",
		Remedy:  "Restore the field; use a new session for new work.",
		Example: "created_at was 2026-10-08T22:53:03.861Z and is 2026-11-01T00:00:00.000Z.",
	}
	RevisionsRegressed = &rule.Rule{
		ID: "provenance/revisions-regressed", Severity: report.Error,
		Title:   "The session has fewer revisions than at the base",
		Why:     "Each build counts one up. Fewer means that an older copy replaced the session, or that the count was edited.",
		Remedy:  "Rebuild on top of the base's folder.",
		Example: "revisions was 7 and is 6.",
	}
	RevisionsNotBumped = &rule.Rule{
		ID: "provenance/revisions-not-bumped", Severity: report.Error,
		Title:   "Turns were added without a new revision",
		Why:     "A build that reads a longer transcript counts the revision up. Lines or a hash that changed under the same revision were not written by a build.",
		Remedy:  "Rebuild on top of the base's folder.",
		Example: "timeline.jsonl has two lines more than at the base, and revisions is 3 in both.",
	}
	WatermarkRegressed = &rule.Rule{
		ID: "provenance/watermark-regressed", Severity: report.Error,
		Title:   "The watermark is lower than at the base",
		Why:     "A lower watermark makes the next build append turns a second time.",
		Remedy:  "Rebuild the session from the full transcript.",
		Example: "watermark was 37 and is 20.",
	}
	SourcePathsRemoved = &rule.Rule{
		ID: "provenance/source-paths-removed", Severity: report.Warning,
		Title:   "A source that the base records is gone",
		Why:     "The list says where the turns come from. To redact a path of somebody's machine is legitimate; to hide a source is not, and the gate cannot tell the two apart.",
		Remedy:  "Restore the element, or say in the change why it is gone.",
		Example: "source_paths no longer has \"logs/first.jsonl\".",
	}
	SessionRemoved = &rule.Rule{
		ID: "provenance/session-removed", Severity: report.Warning,
		Title:   "A session of the base is gone",
		Why:     "Whoever gives rewritten turns a new session and removes the old one passes every other check. A person has to look at each removal.",
		Remedy:  "Confirm that the removal is meant.",
		Example: "git rm -r handoffs/projects/demo/login",
	}
)

// Rules are the rows of this layer in the table of all rules.
var Rules = slices.Concat(
	[]*rule.Rule{ConfigInvalid, NoMatch, PrefixAmbiguous},
	order,
	[]*rule.Rule{
		CopyStale, CopyMissing, RenderMissing, WatermarkBehind, SourceChanged, EvidenceContractChanged, PromotionForced, PromotionUnsupported,
		LocalPathExposed, DuplicateKey, ProjectMismatch, LegacyLayout, IndexStale, SourcePathsRemoved, SessionRemoved,
	},
)

// order is the order in which the first error stands for a session (sessions.md
// 1): what could not be read, then sections 5, 6.4, 7 and 8, each as it is written.
var order = []*rule.Rule{
	Symlink, Unreadable,
	ManifestUnparsable, ManifestHash, TimelineMissing, TurnCountDrift, PayloadMissing, PayloadUnparsable,
	ManifestProtoKey,
	CopyMismatch, SummaryUnparsable, LineUnparsable, ClassCountDrift, PayloadTimelineDrift, WatermarkAhead, ManifestMissing,
	BaseUnavailable, TimelineRewritten, IdentityChanged, RevisionsRegressed, RevisionsNotBumped, WatermarkRegressed,
}

// First gives the error that stands for an entry: the first in the order of
// sessions.md 1; nil where there is no error.
func First(l *report.Layer) *report.Finding {
	return rule.FirstError(l, slices.Concat([]*rule.Rule{NoMatch, PrefixAmbiguous, ConfigInvalid}, order))
}
