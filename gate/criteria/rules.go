package criteria

import (
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// The rules of this report (aahp-authoring.md 5.3), in the order of that table.
// None is an error.
var (
	LegacyHeading = &rule.Rule{
		ID: "criteria/legacy-heading", Severity: report.Notice,
		Title:   "Acceptance criteria stand under an older heading",
		Why:     "One heading for one thing lets people and tools find it. `Completion criteria` and `Definition of done` are still read, and new text uses `Acceptance criteria`.",
		Remedy:  "Rename the heading; the criteria stay as they are.",
		Example: "## T-001: Parser\n\n### Definition of done\n- [ ] It reads every sample.",
	}
	PlainBullets = &rule.Rule{
		ID: "criteria/plain-bullets", Severity: report.Warning,
		Title:   "Criteria are plain list items, without a box",
		Why:     "Nothing tells a plain item that is met from one that was forgotten.",
		Remedy:  "Write each criterion as a task box, `- [ ]`, and check it when there is evidence.",
		Example: "**Acceptance criteria:**\n- It reads every sample.",
	}
	UnresolvedOnDone = &rule.Rule{
		ID: "criteria/unresolved-on-done", Severity: report.Warning,
		Title:   "A task that is done has an open criterion",
		Why:     "After the session nobody can tell a criterion that was not met from an exception that was agreed on. A box that stays open says why: `(waived: reason)`, or where it went: `(follow-up: T-042)`, `(moved: #123)`.",
		Remedy:  "Check the box if there is evidence, add the reason or the follow-up in its line, or take the task back from `done`.",
		Example: "**Acceptance criteria:**    (T-001 is done in MANIFEST.json)\n- [ ] It reads every sample.",
	}
	Unparsed = &rule.Rule{
		ID: "criteria/unparsed-criteria-section", Severity: report.Warning,
		Title:   "A criteria section holds no criterion that can be read",
		Why:     "A table, prose, or items that are indented by two or more are not read. Falling silent about them would look as if all were well.",
		Remedy:  "Write the criteria as task boxes that begin in the first column or the second.",
		Example: "**Acceptance criteria:**\n| Criterion | Met |",
	}
	Unbound = &rule.Rule{
		ID: "criteria/unbound-criteria-section", Severity: report.Warning,
		Title:   "A criteria section belongs to no task of the registry",
		Why:     "Whether a task is done is known of the tasks in the manifest alone. A section belongs to the task whose heading or label it stands under, and a heading of the same level as the task's ends that.",
		Remedy:  "Put the section below the heading of its task, one level deeper or as a bold label, and the task's id into `tasks` of the manifest.",
		Example: "## T-001: Parser\n\n## Acceptance criteria",
	}
	UnterminatedFence = &rule.Rule{
		ID: "criteria/unterminated-fence", Severity: report.Warning,
		Title:   "A code fence is open up to the end of the file",
		Why:     "Everything after it is code, so criteria there are not read.",
		Remedy:  "Close the fence.",
		Example: "```\n- [ ] This is code.    (and no closing fence)",
	}
	ConfigUnusable = &rule.Rule{
		ID: "criteria/config-unusable", Severity: report.Warning,
		Title:   "The configuration of this report has the wrong shape",
		Why:     "A default was used instead of what is written, so the report may be about other files than was meant.",
		Remedy:  "Mend `acceptanceCriteria` in `aahp.config.json`: `include` is an array of git pathspecs, `manifest` a path, and there is no other member.",
		Example: "{\"acceptanceCriteria\": {\"include\": \"*.md\"}}",
	}
	IncludeUnusable = &rule.Rule{
		ID: "criteria/include-unusable", Severity: report.Warning,
		Title:   "git refused the pathspecs",
		Why:     "No file could be listed, so nothing was read.",
		Remedy:  "Mend `acceptanceCriteria.include`; `git ls-files -- PATHSPEC` shows what git makes of one.",
		Example: "{\"acceptanceCriteria\": {\"include\": [\":(nonsense)x\"]}}",
	}
	NoFilesMatched = &rule.Rule{
		ID: "criteria/no-files-matched", Severity: report.Warning,
		Title:   "No file was read",
		Why:     "The report covers nothing. Files that git does not track are never read.",
		Remedy:  "Add the document to git, or name others in `acceptanceCriteria.include`.",
		Example: "NEXT_ACTIONS.md is there and not yet added to git.",
	}
	FileUnreadable = &rule.Rule{
		ID: "criteria/file-unreadable", Severity: report.Warning,
		Title:   "A file could not be read",
		Why:     "Its criteria are not part of the report. Links are not followed.",
		Remedy:  "Put a regular file in its place, or stop tracking it.",
		Example: "rm .ai/handoff/NEXT_ACTIONS.md    (and git still tracks it)",
	}
	ManifestMissing = &rule.Rule{
		ID: "criteria/manifest-missing", Severity: report.Warning,
		Title:   "The configured task registry does not exist",
		Why:     "Which tasks are done is not known, so open criteria of done tasks are not reported.",
		Remedy:  "Mend `acceptanceCriteria.manifest`, or remove it for the default.",
		Example: "{\"acceptanceCriteria\": {\"manifest\": \"nope.json\"}}",
	}
	ManifestOutsideRoot = &rule.Rule{
		ID: "criteria/manifest-outside-root", Severity: report.Warning,
		Title:   "The task registry lies outside of the project",
		Why:     "A value of the configuration must not make the program read files from elsewhere on the machine. The file was not opened.",
		Remedy:  "Name a file of the project in `acceptanceCriteria.manifest`, one that is no link out of it.",
		Example: "{\"acceptanceCriteria\": {\"manifest\": \"../other/MANIFEST.json\"}}",
	}
	ManifestUnreadable = &rule.Rule{
		ID: "criteria/manifest-unreadable", Severity: report.Warning,
		Title:   "The task registry cannot be used",
		Why:     "Which tasks are done is not known, so open criteria of done tasks are not reported.",
		Remedy:  "Mend the manifest: JSON, an object, with an object `tasks`.",
		Example: "{\"tasks\": []}",
	}
)

// Rules are the rows of this report in the table of all rules.
var Rules = []*rule.Rule{
	LegacyHeading, PlainBullets, UnresolvedOnDone, Unparsed, Unbound, UnterminatedFence,
	ConfigUnusable, IncludeUnusable, NoFilesMatched, FileUnreadable, ManifestMissing, ManifestOutsideRoot, ManifestUnreadable,
}
