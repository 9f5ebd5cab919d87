package schemacheck

import (
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// Rules of the documents.
var (
	Manifest = &rule.Rule{
		ID:       "schema/manifest",
		Severity: report.Error,
		Title:    "MANIFEST.json breaks a constraint of its schema",
		Why: "The manifest is what an agent reads first and what every tool of the protocol parses. A status that no tool " +
			"knows, a time without a zone or a misspelt key is skipped without a word by one reader and stops the next. " +
			"The required keys of the top level are left to the integrity layer, which reports them in every run.",
		Remedy: "Regenerate the manifest when the field is one that the generator writes (aahp_version, last_session, files, " +
			"quick_context, token_budget). Edit tasks, next_task_id, cross_repo_ref and project by hand.",
		Example: `"T-003": {"title": "Write the parser", "status": "todo"}` + "\n\n" +
			`/tasks/T-003/status is "todo", but must be one of ready, in_progress, blocked, done, cancelled.`,
	}
	Config = &rule.Rule{
		ID:       "schema/config",
		Severity: report.Error,
		Title:    "aahp.config.json breaks a constraint of its schema",
		Why: "The configuration switches checks on by having a section for them. A misspelt key reads as a section that was " +
			"never written, so the check that somebody asked for does not run and nothing says so.",
		Remedy: "Correct the field as the message says. For an unknown key the message names the known one that it resembles.",
		Example: `{"doclinks": {"include": ["README.md"]}}` + "\n\n" +
			`(root) has the unknown key "doclinks"; did you mean "docLinks"?`,
	}
	Placeholder = &rule.Rule{
		ID:       "schema/placeholder",
		Severity: report.Error,
		Title:    "A field still holds the template's placeholder",
		Why: "Templates leave [ISO-8601], YYYY-MM-DD and the like to be filled in. Where the schema wants a real value, " +
			"what was left over says that this part of the handoff was never written.",
		Remedy:  "Give the field its value, or delete it when it is optional, and regenerate the manifest.",
		Example: `"created": "[ISO-8601]"` + "\n\n" + `/tasks/T-001/created still holds the template's placeholder "[ISO-8601]": it must be a date and time with a time zone.`,
	}
	DuplicateKey = &rule.Rule{
		ID:       "schema/duplicate-key",
		Severity: report.Warning,
		Title:    "An object in a JSON file of the handoff set has a key twice",
		Why: "JSON does not say which of two equal keys counts. Most readers take the last, some the first, and a person " +
			"who reviews the file sees the one that stands nearer. In the manifest, the configuration and the allowlist " +
			"other rules refuse it; elsewhere it is this warning.",
		Remedy:  "Keep one of the two members.",
		Example: `{"reviewed": false, "owner": "ops", "reviewed": true}`,
	}
	NearMissKey = &rule.Rule{
		ID:       "schema/near-miss-key",
		Severity: report.Warning,
		Title:    "A key looks like a misspelt known one",
		Why: "Tasks, file entries, last_session and token_budget may have keys of their own, so the schema lets a misspelt " +
			"one pass. A dependency written under depend_on is then no dependency at all.",
		Remedy:  "Rename the key to the known one, or give a key of your own a name that is not so near to it.",
		Example: `"T-004": {"title": "Release", "status": "ready", "depend_on": ["T-003"]}`,
	}
	NotEvaluated = &rule.Rule{
		ID:       "schema/not-evaluated",
		Severity: report.Error,
		Title:    "A document could not be judged by its schema",
		Why: "What cannot be read or decoded proves nothing, and a gate must not pass what it has not seen. Where the " +
			"integrity, drift or trust layer already reports the same document, this rule is silent.",
		Remedy:  "Make the file a regular file with valid JSON: UTF-8 without a byte order mark, no comments, no equal keys, within the limits of size and depth.",
		Example: `{"trustTtl": {"enforce": true},}`,
	}
)

// Rules of the task graph.
var (
	Cycle = &rule.Rule{
		ID:       "tasks/cycle",
		Severity: report.Warning,
		Title:    "Tasks depend on each other in a circle",
		Why: "No task of a circle can be started before itself, so an agent that follows the dependencies never gets to " +
			"any of them. A task that depends on itself is the smallest circle.",
		Remedy:  "Remove one of the dependencies that the message names.",
		Example: "These tasks wait for each other: T-001 -> T-003 -> T-001.",
	}
	UnknownDependency = &rule.Rule{
		ID:       "tasks/unknown-dependency",
		Severity: report.Warning,
		Title:    "A task depends on an id that is no task",
		Why:      "The id is misspelt, or its task was removed. Either way nobody can tell when the dependency is met.",
		Remedy:   "Correct the id, or remove it from depends_on.",
		Example:  `"T-002": {"title": "Ship", "status": "blocked", "depends_on": ["T-099"]}`,
	}
	DuplicateID = &rule.Rule{
		ID:       "tasks/duplicate-id",
		Severity: report.Warning,
		Title:    "Two task ids have the same number",
		Why: "T-001 and T-0001 are different keys and one number. People and commit messages mix them up, and the next id " +
			"is counted by number.",
		Remedy:  "Give one of the two a number of its own, also where it is depended on.",
		Example: `{"T-001": {"title": "Parser", "status": "done"}, "T-0001": {"title": "Printer", "status": "ready"}}`,
	}
	NextID = &rule.Rule{
		ID:       "tasks/next-id",
		Severity: report.Warning,
		Title:    "next_task_id does not lie above every task",
		Why: "Ids are never reused: history refers to them. A next_task_id that is too low, or missing, makes the next " +
			"agent give a new task an old task's name. A gap is fine.",
		Remedy:  "Set next_task_id to a whole number above the highest number of a task.",
		Example: "next_task_id is 3, but T-007 exists already.",
	}
	NotReady = &rule.Rule{
		ID:       "tasks/not-ready",
		Severity: report.Warning,
		Title:    "A task is ready or in progress while a dependency is open",
		Why: "ready tells an agent that it can begin now. Work begun before its dependency is done is work on sand, or " +
			"the dependency is not a real one.",
		Remedy:  "Set the task to blocked until its dependencies are done, or remove those that are none.",
		Example: "T-003 is ready, but depends on T-002 (in_progress).",
	}
	BlockedWithoutCause = &rule.Rule{
		ID:       "tasks/blocked-without-cause",
		Severity: report.Warning,
		Title:    "A task is blocked although nothing blocks it",
		Why:      "All its dependencies are done and blocked_by says nothing: the task is ready, and nobody picks it up.",
		Remedy:   "Set the status to ready, or say in blocked_by what the task waits for.",
		Example:  "T-004 is blocked, but has no blocked_by and nothing left to wait for.",
	}
	BlockedUpstream = &rule.Rule{
		ID:       "tasks/blocked-upstream",
		Severity: report.Warning,
		Title:    "A task looks free to start, but waits for a blocked one further up",
		Why: "Somewhere along its dependencies stands a task that waits for something outside the plan. Until that is " +
			"resolved, finishing the tasks in between does not free this one.",
		Remedy:  "Set the task to blocked, or resolve what blocks the other.",
		Example: `T-003 is ready, but over other tasks it depends on T-001, which is blocked by "access to the test system".`,
	}
	DependsOnCancelled = &rule.Rule{
		ID:       "tasks/depends-on-cancelled",
		Severity: report.Warning,
		Title:    "An open task depends on a cancelled one",
		Why:      "A cancelled task will never be done. What waited for it has to be planned anew or cancelled too.",
		Remedy:   "Remove the dependency, point it at the task that replaces the cancelled one, or cancel the task.",
		Example:  "T-005 is ready and depends on T-002, which is cancelled and will never be done.",
	}
	DoneWithoutCompleted = &rule.Rule{
		ID:       "tasks/done-without-completed",
		Severity: report.Warning,
		Title:    "A done task does not say when it was completed",
		Why:      "The time ties the task to the commits and the journal of that day. Without it, done cannot be checked.",
		Remedy:   "Add completed with the time at which the task was done.",
		Example:  `"T-001": {"title": "Parser", "status": "done"}`,
	}
	DoneWithOpenDependency = &rule.Rule{
		ID:       "tasks/done-with-open-dependency",
		Severity: report.Warning,
		Title:    "A task is done while a dependency is open",
		Why:      "Either the dependency was done as well and nobody wrote it down, or the task is not done.",
		Remedy:   "Set the dependency to done, remove it, or reopen the task.",
		Example:  "T-003 is done, but depends on T-002 (ready).",
	}
	CompletedNotDone = &rule.Rule{
		ID:       "tasks/completed-not-done",
		Severity: report.Warning,
		Title:    "A task has a completion time but is not done",
		Why:      "One of the two is stale: the task was reopened and kept its time, or it was finished and kept its status.",
		Remedy:   "Set the status to done, or remove completed.",
		Example:  `"T-002": {"title": "Printer", "status": "in_progress", "completed": "2026-01-31T09:30:00Z"}`,
	}
	CompletedBeforeCreated = &rule.Rule{
		ID:       "tasks/completed-before-created",
		Severity: report.Warning,
		Title:    "A task was completed before it was created",
		Why:      "At least one of the two times is invented or was copied from another task.",
		Remedy:   "Correct created or completed.",
		Example:  `"created": "2026-02-01T00:00:00Z", "completed": "2026-01-31T09:30:00Z"`,
	}
	FutureTime = &rule.Rule{
		ID:       "tasks/future-time",
		Severity: report.Warning,
		Title:    "A task's time lies in the future",
		Why: "Nothing was created or completed tomorrow. A day of tolerance covers clocks and time zones; what lies beyond " +
			"was made up.",
		Remedy:  "Correct the time.",
		Example: `"completed": "2199-01-01T00:00:00Z"`,
	}
	BlockedByOnDone = &rule.Rule{
		ID:       "tasks/blocked-by-on-done",
		Severity: report.Notice,
		Title:    "A finished task still says what blocks it",
		Why:      "blocked_by is left over from before. Readers that look for obstacles find one that no longer exists.",
		Remedy:   "Remove blocked_by.",
		Example:  `"T-001": {"title": "Parser", "status": "done", "blocked_by": "review"}`,
	}
	Unassigned = &rule.Rule{
		ID:       "tasks/unassigned",
		Severity: report.Notice,
		Title:    "A task in progress is assigned to nobody",
		Why:      "The next session cannot tell whether somebody works on the task or it was dropped half done.",
		Remedy:   "Name in assigned_to who works on the task, or set it back to ready.",
		Example:  `"T-002": {"title": "Printer", "status": "in_progress"}`,
	}
	DuplicateDependency = &rule.Rule{
		ID:       "tasks/duplicate-dependency",
		Severity: report.Notice,
		Title:    "A task names a dependency twice",
		Why:      "It does no harm, but the second mention was often meant to be another task.",
		Remedy:   "Remove the second mention, or correct it.",
		Example:  `"depends_on": ["T-001", "T-002", "T-001"]`,
	}
	Version = &rule.Rule{
		ID:       "tasks/version",
		Severity: report.Notice,
		Title:    "A manifest of an older format has tasks",
		Why:      "Tasks came with format 3. A reader that goes by aahp_version does not look for them in an older one.",
		Remedy:   "Regenerate the manifest: the generator writes the present version.",
		Example:  `{"aahp_version": "2.0", "tasks": {"T-001": {"title": "Parser", "status": "ready"}}}`,
	}
)

// Rules are all rules of the layer.
var Rules = []*rule.Rule{
	Manifest,
	Config,
	Placeholder,
	DuplicateKey,
	NearMissKey,
	NotEvaluated,
	Cycle,
	UnknownDependency,
	DuplicateID,
	NextID,
	NotReady,
	BlockedWithoutCause,
	BlockedUpstream,
	DependsOnCancelled,
	DoneWithoutCompleted,
	DoneWithOpenDependency,
	CompletedNotDone,
	CompletedBeforeCreated,
	FutureTime,
	BlockedByOnDone,
	Unassigned,
	DuplicateDependency,
	Version,
}
