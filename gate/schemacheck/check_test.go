package schemacheck

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

var (
	now      = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	commands = gate.Commands{Regen: "handoff-gate manifest .", Again: "handoff-gate verify . --schema"}
)

const (
	manifestPath = ".ai/handoff/MANIFEST.json"
	configPath   = "aahp.config.json"
)

// The manifests of these tests are one of these heads and what a test adds.
const (
	headOf2 = `{"aahp_version": "2.0", "project": "p", "quick_context": "", "files": {}, "last_session": {"agent": "a", "timestamp": "2026-01-01T00:00:00Z", "phase": "idle"},`
	head    = `{"aahp_version": "3.0", "project": "p", "quick_context": "", "files": {}, "last_session": {"agent": "a", "timestamp": "2026-01-01T00:00:00Z", "phase": "idle"},`
	tasks   = head + ` "next_task_id": 100, "tasks": {
`
	end = `}}`
)

func document(path, src string) gate.Document {
	return gate.Document{Path: path, State: gate.Present, Data: []byte(src), Entry: gate.Entry{Path: path, Kind: gate.Regular}}
}

func input(manifest, config string) Input {
	in := Input{Project: ".", Manifest: document(manifestPath, manifest), Now: now, Commands: commands}
	in.Config = gate.Document{Path: configPath}
	if config != "" {
		in.Config = document(configPath, config)
	}
	return in
}

var marker = regexp.MustCompile(`«([a-z-]+/[a-z-]+)»`)

// unmark takes the marks «rule» out of a text and gives the finding that each
// announces at the place where it stood.
func unmark(path, marked string) (text string, want []string) {
	for _, line := range strings.Split(marked, "\n") {
		for {
			m := marker.FindStringSubmatchIndex(line)
			if m == nil {
				break
			}
			want = append(want, fmt.Sprintf("%s:%d:%d %s", path, strings.Count(text, "\n")+1, utf8.RuneCountInString(line[:m[0]])+1, line[m[2]:m[3]]))
			line = line[:m[0]] + line[m[1]:]
		}
		text += line + "\n"
	}
	slices.Sort(want)
	return text, want
}

func found(l report.Layer) []string {
	var got []string
	for _, f := range l.Findings {
		got = append(got, fmt.Sprintf("%s:%d:%d %s", f.Path, f.Line, f.Column, f.Rule))
	}
	slices.Sort(got)
	return got
}

// fit checks what holds for every layer and finding.
func fit(t testing.TB, l report.Layer) {
	t.Helper()
	if l.ID != ID || l.Title != Title || l.Summary == "" {
		t.Errorf("layer %q, title %q, summary %q", l.ID, l.Title, l.Summary)
	}
	for _, f := range l.Findings {
		i := slices.IndexFunc(Rules, func(r *rule.Rule) bool { return r.ID == f.Rule })
		if i < 0 {
			t.Errorf("the rule %q is not in the table", f.Rule)
			continue
		}
		if f.Severity != Rules[i].Severity {
			t.Errorf("%s has severity %q", f.Rule, f.Severity)
		}
		for _, text := range []string{f.Message, f.Remedy} {
			if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf) }) {
				t.Errorf("%s: %q is not fit to print", f.Rule, text)
			}
		}
		if f.Message == "" || strings.Contains(f.Message, "\n") {
			t.Errorf("%s: the message %q is not one line", f.Rule, f.Message)
		}
		if f.Severity != report.Notice && f.Remedy == "" {
			t.Errorf("%s has no remedy", f.Rule)
		}
		if last := f.Remedy[strings.LastIndexByte(f.Remedy, '\n')+1:]; f.Severity == report.Error &&
			last != "fix: "+commands.Again && last != "fix: "+commands.Regen {
			t.Errorf("%s: the remedy %q does not end in a command", f.Rule, f.Remedy)
		}
	}
}

// scenario is a manifest, or the tasks of one, and perhaps a configuration, with
// a mark at each finding that it has.
type scenario struct {
	name     string
	rule     *rule.Rule // the rule that it is about
	tasks    string     // members of tasks, in a sound manifest
	manifest string     // or a whole manifest
	config   string
}

// For each rule there is at least one that fires it and one twin that does not.
var scenarios = []scenario{
	{name: "a value that the schema refuses", rule: Manifest, tasks: `"T-001": {"title": "t", "status": «schema/manifest»"todo"}`},
	{name: "its twin", rule: Manifest, tasks: `"T-001": {"title": "t", "status": "ready"}`},
	{name: "a missing key is marked at the brace", rule: Manifest, tasks: `"T-001": «schema/manifest»{"title": "t"}`},
	{name: "an unknown key is marked at the key", rule: Manifest, manifest: head + "\n  «schema/manifest»\"task\": {}\n}"},
	{name: "a name that the index may not have", rule: Manifest, manifest: strings.Replace(head, `"files": {}`, "\"files\": {\n«schema/manifest»\"a.txt\": {}}", 1) + ` "tasks": {}}`},
	{name: "one finding for each constraint", rule: Manifest, tasks: `"T-001": «schema/manifest»«schema/manifest»{"priority": «schema/manifest»"urgent"}`},
	{name: "a missing root key is the integrity layer's", rule: Manifest, manifest: `{"project": "p"}`},
	{name: "an unknown root key beside it is not", rule: Manifest, manifest: `{"project": "p", «schema/manifest»"xyzzyx": 1}`},
	{name: "an index that is not an object", rule: Manifest, manifest: strings.Replace(head, `"files": {}`, `"files": «schema/manifest»null`, 1) + ` "tasks": {}}`},

	{name: "a value that the schema refuses", rule: Config, manifest: head + ` "tasks": {}}`, config: "{\n \"trustTtl\": {\"graceDays\": «schema/config»400}}"},
	{name: "a misspelt section", rule: Config, manifest: head + ` "tasks": {}}`, config: "{\n «schema/config»\"doclinks\": {}}"},
	{name: "its twin", rule: Config, manifest: head + ` "tasks": {}}`, config: `{"docLinks": {}, "trustTtl": {"graceDays": 365}}`},

	{name: "a bracketed token in a time", rule: Placeholder, tasks: `"T-001": {"title": "t", "status": "ready", "created": «schema/placeholder»"[ISO-8601]"}`},
	{name: "a date that is none", rule: Placeholder, tasks: `"T-001": {"title": "t", "status": "ready", "created": «schema/placeholder»"YYYY-MM-DDT00:00:00Z"}`},
	{name: "in an enumeration", rule: Placeholder, tasks: `"T-001": {"title": "t", "status": «schema/placeholder»"[ready | blocked]"}`},
	{name: "in an array", rule: Placeholder, tasks: `"T-001": {"title": "t", "status": "ready", "depends_on": [«schema/placeholder»"[T-NNN]"]}`},
	{name: "in place of a number", rule: Placeholder, manifest: head + ` "next_task_id": «schema/placeholder»"[number]"}`},
	{name: "once, though it breaks two constraints", rule: Placeholder, manifest: head + ` "tasks": {}}`, config: `{"handoffImpact": {"nonImpactingModifiedFiles": [{"file": «schema/placeholder»"[path]", "reason": «schema/config»"--"}]}}`},
	{name: "where any text is allowed it is none", rule: Placeholder, tasks: `"T-001": {"title": "[title]", "status": "ready", "blocked_by": "[who]", "assigned_to": "YYYY-MM-DD"}`},
	{name: "a token that is only part of the value is none", rule: Placeholder, tasks: `"T-001": {"title": "t", "status": "ready", "created": «schema/manifest»"on [date]"}`},
	{name: "a key is no value", rule: Placeholder, manifest: head + ` «schema/manifest»"[key]": "[value]"}`},

	{name: "in a task", rule: NearMissKey, tasks: `"T-001": {"title": "t", "status": "ready", «schema/near-miss-key»"depend_on": [], «schema/near-miss-key»"asigned_to": "a"}`},
	{name: "only the case is wrong", rule: NearMissKey, tasks: `"T-001": «schema/manifest»{«schema/near-miss-key»"Title": "t", "status": "ready"}`},
	{name: "in last_session", rule: NearMissKey, manifest: strings.Replace(head, `"agent": "a"`, `"agent": "a", «schema/near-miss-key»"sesion_id": "s"`, 1) + ` "tasks": {}}`},
	{name: "in a file entry", rule: NearMissKey, manifest: strings.Replace(head, `"files": {}`, `"files": {"A.md": {"checksum": "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "updated": "2026-01-01T00:00:00Z", "lines": 1, "summary": "s", "line": 1}}`, 1) + ` "tasks": {}}`},
	{name: "in a file entry that lacks the key", rule: NearMissKey, manifest: strings.Replace(head, `"files": {}`, `"files": {"A.md": «schema/manifest»{"checksum": "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "updated": "2026-01-01T00:00:00Z", "lines": 1, «schema/near-miss-key»"sumary": "s"}}`, 1) + ` "tasks": {}}`},
	{name: "in token_budget", rule: NearMissKey, manifest: head + ` "token_budget": {«schema/near-miss-key»"full_reads": 1}}`},
	{name: "not where the object has the known key", rule: NearMissKey, tasks: `"T-001": {"title": "t", "status": "ready", "depends_on": [], "depend_on": []}`},
	{name: "not a key of three characters", rule: NearMissKey, tasks: `"T-001": «schema/manifest»{"status": "ready", "tit": "t", "tle": "t"}`},
	{name: "not a key of one's own", rule: NearMissKey, tasks: `"T-001": {"title": "t", "status": "ready", "notes": "n", "estimate": 3}`},
	{name: "cross_repo_ref takes no unknown key at all", rule: NearMissKey, manifest: head + ` "cross_repo_ref": {"repo": "r", "commit": "c", "relation": "extends", «schema/manifest»"handofffile": "f"}}`},

	{name: "a circle of two", rule: Cycle, tasks: `"T-001": {"title": "t", "status": "blocked", «tasks/cycle»"depends_on": ["T-002"]},
"T-002": {"title": "t", "status": "blocked", "depends_on": ["T-001"]}`},
	{name: "on itself", rule: Cycle, tasks: `"T-001": {"title": "t", "status": "blocked", «tasks/cycle»"depends_on": ["T-001"]}`},
	{name: "the smallest id stands last", rule: Cycle, tasks: `"T-003": {"title": "t", "status": "blocked", "depends_on": ["T-001"]},
"T-002": {"title": "t", "status": "blocked", "depends_on": ["T-003"]},
"T-001": {"title": "t", "status": "blocked", «tasks/cycle»"depends_on": ["T-002"]}`},
	{name: "two circles", rule: Cycle, tasks: `"T-001": {"title": "t", "status": "blocked", «tasks/cycle»"depends_on": ["T-002"]},
"T-002": {"title": "t", "status": "blocked", "depends_on": ["T-001", "T-003"]},
"T-003": {"title": "t", "status": "blocked", «tasks/cycle»"depends_on": ["T-003"]}`},
	{name: "a diamond is none", rule: Cycle, tasks: `"T-001": {"title": "t", "status": "blocked", "depends_on": ["T-002", "T-003"]},
"T-002": {"title": "t", "status": "blocked", "depends_on": ["T-004"]},
"T-003": {"title": "t", "status": "blocked", "depends_on": ["T-004"]},
"T-004": {"title": "t", "status": "ready"}`},
	{name: "edges of a task that breaks the schema do not count", rule: Cycle, tasks: `"T-001": {"title": "t", "status": "blocked", "depends_on": ["T-002"]},
"T-002": {"title": «schema/manifest»1, "status": "blocked", "depends_on": ["T-001"]}`},

	{name: "an id that is no task", rule: UnknownDependency, tasks: `"T-001": {"title": "t", "status": "ready", "depends_on": [«tasks/unknown-dependency»"T-002"]}`},
	{name: "ids are texts", rule: UnknownDependency, tasks: `"T-001": {"title": "t", "status": "done", "completed": "2026-01-01T00:00:00Z"},
"T-002": {"title": "t", "status": "ready", "depends_on": [«tasks/unknown-dependency»"T-0001"]}`},
	{name: "an unknown id keeps a task blocked", rule: UnknownDependency, tasks: `"T-001": {"title": "t", "status": "blocked", "depends_on": [«tasks/unknown-dependency»"T-002"]}`},
	{name: "a task that breaks the schema is known", rule: UnknownDependency, tasks: `"T-001": {"title": «schema/manifest»1, "status": "ready"},
"T-002": {"title": "t", "status": "blocked", "depends_on": ["T-001"]}`},

	{name: "two spellings", rule: DuplicateID, tasks: `"T-001": {"title": "t", "status": "ready"}, "T-002": {"title": "t", "status": "ready"},
«tasks/duplicate-id»"T-0001": {"title": "t", "status": "ready"}, «tasks/duplicate-id»"T-00001": {"title": "t", "status": "ready"}`},
	{name: "the later key, whichever is shorter", rule: DuplicateID, tasks: `"T-0001": {"title": "t", "status": "ready"},
«tasks/duplicate-id»"T-001": {"title": "t", "status": "ready"}`},
	{name: "zero", rule: DuplicateID, tasks: `"T-000": {"title": "t", "status": "ready"}, «tasks/duplicate-id»"T-0000": {"title": "t", "status": "ready"}`},
	{name: "other numbers", rule: DuplicateID, tasks: `"T-001": {"title": "t", "status": "ready"}, "T-010": {"title": "t", "status": "ready"}, "T-0011": {"title": "t", "status": "ready"}`},

	{name: "equal to the highest", rule: NextID, manifest: head + ` «tasks/next-id»"next_task_id": 7, "tasks": {"T-007": {"title": "t", "status": "ready"}, "T-003": {"title": "t", "status": "ready"}}}`},
	{name: "below", rule: NextID, manifest: head + ` "tasks": {"T-007": {"title": "t", "status": "ready"}}, «tasks/next-id»"next_task_id": 6}`},
	{name: "absent", rule: NextID, manifest: head + "\n «tasks/next-id»\"tasks\": {\"T-001\": {\"title\": \"t\", \"status\": \"ready\"}}}"},
	{name: "numbers of any length", rule: NextID, manifest: head + ` «tasks/next-id»"next_task_id": 123456789012345678901234567890, "tasks": {"T-123456789012345678901234567890": {"title": "t", "status": "ready"}}}`},
	{name: "numbers of any spelling", rule: NextID, manifest: head + ` «tasks/next-id»"next_task_id": 1.0e1, "tasks": {"T-0010": {"title": "t", "status": "ready"}}}`},
	{name: "a task that breaks the schema has its number", rule: NextID, manifest: head + ` «tasks/next-id»"next_task_id": 7, "tasks": {"T-007": «schema/manifest»{"title": "t"}}}`},
	{name: "one above", rule: NextID, manifest: head + ` "next_task_id": 8, "tasks": {"T-007": {"title": "t", "status": "ready"}}}`},
	{name: "a gap", rule: NextID, manifest: head + ` "next_task_id": 1e30, "tasks": {"T-007": {"title": "t", "status": "ready"}}}`},
	{name: "no tasks", rule: NextID, manifest: head + ` "next_task_id": 1}`},
	{name: "empty tasks", rule: NextID, manifest: head + ` "tasks": {}}`},
	{name: "neither", rule: NextID, manifest: strings.TrimSuffix(headOf2, ",") + "}"},
	{name: "one that the schema refuses has its own finding", rule: NextID, manifest: head + ` "next_task_id": «schema/manifest»0, "tasks": {"T-007": {"title": "t", "status": "ready"}}}`},

	{name: "ready", rule: NotReady, tasks: `"T-001": {"title": "t", "status": "ready"},
"T-002": {"title": "t", «tasks/not-ready»"status": "ready", "depends_on": ["T-001"]}`},
	{name: "in progress", rule: NotReady, tasks: `"T-001": {"title": "t", "status": "blocked", "blocked_by": "b"},
"T-002": {"title": "t", «tasks/not-ready»"status": "in_progress", "depends_on": ["T-001"], "assigned_to": "a"}`},
	{name: "an unknown status is not done", rule: NotReady, tasks: `"T-001": {"title": "t", "status": «schema/manifest»"finished"},
"T-002": {"title": "t", «tasks/not-ready»"status": "ready", "depends_on": ["T-001"]}`},
	{name: "dependencies done", rule: NotReady, tasks: `"T-001": {"title": "t", "status": "done", "completed": "2026-01-01T00:00:00Z"},
"T-002": {"title": "t", "status": "ready", "depends_on": ["T-001"]}`},
	{name: "blocked tasks may wait", rule: NotReady, tasks: `"T-001": {"title": "t", "status": "ready"},
"T-002": {"title": "t", "status": "blocked", "depends_on": ["T-001"]}`},

	{name: "no dependency", rule: BlockedWithoutCause, tasks: `"T-001": {"title": "t", «tasks/blocked-without-cause»"status": "blocked"}`},
	{name: "all done", rule: BlockedWithoutCause, tasks: `"T-001": {"title": "t", "status": "done", "completed": "2026-01-01T00:00:00Z"},
"T-002": {"title": "t", «tasks/blocked-without-cause»"status": "blocked", "depends_on": ["T-001"]}`},
	{name: "blank cause", rule: BlockedWithoutCause, tasks: `"T-001": {"title": "t", «tasks/blocked-without-cause»"status": "blocked", "blocked_by": " \u00a0\t", "depends_on": []}`},
	{name: "a cause", rule: BlockedWithoutCause, tasks: `"T-001": {"title": "t", "status": "blocked", "blocked_by": "review"}`},
	{name: "a dependency of unknown status", rule: BlockedWithoutCause, tasks: `"T-001": {"title": "t", "status": «schema/manifest»"x"},
"T-002": {"title": "t", "status": "blocked", "depends_on": ["T-001"]}`},

	{name: "over a done task", rule: BlockedUpstream, tasks: `"T-001": {"title": "t", "status": "blocked", "blocked_by": "b"},
"T-002": {"title": "t", «tasks/done-with-open-dependency»"status": "done", "completed": "2026-01-01T00:00:00Z", "depends_on": ["T-001"]},
"T-003": {"title": "t", «tasks/blocked-upstream»"status": "ready", "depends_on": ["T-002"]}`},
	{name: "over a ready one", rule: BlockedUpstream, tasks: `"T-001": {"title": "t", "status": "blocked", "blocked_by": "b"},
"T-002": {"title": "t", «tasks/not-ready»"status": "ready", "depends_on": ["T-001"]},
"T-003": {"title": "t", «tasks/blocked-upstream»«tasks/not-ready»"status": "ready", "depends_on": ["T-002"]}`},
	{name: "directly it is not-ready alone", rule: BlockedUpstream, tasks: `"T-001": {"title": "t", "status": "blocked", "blocked_by": "b"},
"T-002": {"title": "t", «tasks/not-ready»"status": "ready", "depends_on": ["T-001"]}`},
	{name: "directly and over another it is not-ready alone", rule: BlockedUpstream, tasks: `"T-001": {"title": "t", "status": "blocked", "blocked_by": "b"},
"T-002": {"title": "t", "status": "blocked", "depends_on": ["T-001"]},
"T-003": {"title": "t", «tasks/not-ready»"status": "ready", "depends_on": ["T-001", "T-002"]}`},
	{name: "one directly and another over it", rule: BlockedUpstream, tasks: `"T-001": {"title": "t", "status": "blocked", "blocked_by": "b"},
"T-002": {"title": "t", "status": "blocked", "blocked_by": "b", "depends_on": ["T-001"]},
"T-003": {"title": "t", «tasks/blocked-upstream»«tasks/not-ready»"status": "ready", "depends_on": ["T-002"]}`},
	{name: "blocked by dependencies alone", rule: BlockedUpstream, tasks: `"T-001": {"title": "t", "status": "ready"},
"T-002": {"title": "t", "status": "blocked", "depends_on": ["T-001"]},
"T-003": {"title": "t", "status": "blocked", "depends_on": ["T-002"]},
"T-004": {"title": "t", «tasks/not-ready»"status": "ready", "depends_on": ["T-003"]}`},

	{name: "ready", rule: DependsOnCancelled, tasks: `"T-001": {"title": "t", "status": "cancelled"},
"T-002": {"title": "t", "status": "ready", "depends_on": [«tasks/depends-on-cancelled»"T-001"]}`},
	{name: "blocked", rule: DependsOnCancelled, tasks: `"T-001": {"title": "t", "status": "cancelled"},
"T-002": {"title": "t", "status": "blocked", "depends_on": [«tasks/depends-on-cancelled»"T-001"]}`},
	{name: "done or cancelled itself", rule: DependsOnCancelled, tasks: `"T-001": {"title": "t", "status": "cancelled"},
"T-002": {"title": "t", "status": "done", "completed": "2026-01-01T00:00:00Z", "depends_on": ["T-001"]},
"T-003": {"title": "t", "status": "cancelled", "depends_on": ["T-001"]}`},

	{name: "no time", rule: DoneWithoutCompleted, tasks: `"T-001": {"title": "t", «tasks/done-without-completed»"status": "done"}`},
	{name: "a time", rule: DoneWithoutCompleted, tasks: `"T-001": {"title": "t", "status": "done", "completed": "2026-01-01T00:00:00Z"}, "T-002": {"title": "t", "status": "cancelled"}`},

	{name: "ready dependency", rule: DoneWithOpenDependency, tasks: `"T-001": {"title": "t", "status": "ready"},
"T-002": {"title": "t", «tasks/done-with-open-dependency»"status": "done", "completed": "2026-01-01T00:00:00Z", "depends_on": ["T-001"]}`},
	{name: "settled dependencies", rule: DoneWithOpenDependency, tasks: `"T-001": {"title": "t", "status": "cancelled"}, "T-002": {"title": "t", "status": "done", "completed": "2026-01-01T00:00:00Z"},
"T-003": {"title": "t", "status": "done", "completed": "2026-01-01T00:00:00Z", "depends_on": ["T-001", "T-002"]}`},

	{name: "in progress", rule: CompletedNotDone, tasks: `"T-001": {"title": "t", "status": "in_progress", "assigned_to": "a", «tasks/completed-not-done»"completed": "2026-01-01T00:00:00Z"}`},
	{name: "done or cancelled", rule: CompletedNotDone, tasks: `"T-001": {"title": "t", "status": "cancelled", "completed": "2026-01-01T00:00:00Z"}`},

	{name: "an hour before", rule: CompletedBeforeCreated, tasks: `"T-001": {"title": "t", "status": "done", "created": "2026-01-01T01:00:00Z", «tasks/completed-before-created»"completed": "2026-01-01T00:00:00Z"}`},
	{name: "zones are minded", rule: CompletedBeforeCreated, tasks: `"T-001": {"title": "t", "status": "done", "created": "2026-01-01T00:30:00Z", «tasks/completed-before-created»"completed": "2026-01-01T01:00:00+01"}`},
	{name: "at once", rule: CompletedBeforeCreated, tasks: `"T-001": {"title": "t", "status": "done", "created": "2026-01-01T01:00:00+01:00", "completed": "2026-01-01 00:00:00z"}`},

	{name: "a day and a second", rule: FutureTime, tasks: `"T-001": {"title": "t", "status": "done", «tasks/future-time»"created": "2026-01-16T12:00:01Z", «tasks/future-time»"completed": "2099-01-01T00:00:00Z"}`},
	{name: "a day", rule: FutureTime, tasks: `"T-001": {"title": "t", "status": "done", "created": "2026-01-16T12:00:00Z", "completed": "2026-01-16T12:00:00Z"}`},

	{name: "done", rule: BlockedByOnDone, tasks: `"T-001": {"title": "t", "status": "done", "completed": "2026-01-01T00:00:00Z", «tasks/blocked-by-on-done»"blocked_by": "b"}`},
	{name: "cancelled", rule: BlockedByOnDone, tasks: `"T-001": {"title": "t", "status": "cancelled", «tasks/blocked-by-on-done»"blocked_by": "b"}`},
	{name: "blocked or blank", rule: BlockedByOnDone, tasks: `"T-001": {"title": "t", "status": "blocked", "blocked_by": "b"}, "T-002": {"title": "t", "status": "cancelled", "blocked_by": ""}`},

	{name: "nobody", rule: Unassigned, tasks: `"T-001": {"title": "t", «tasks/unassigned»"status": "in_progress"}, "T-002": {"title": "t", «tasks/unassigned»"status": "in_progress", "assigned_to": " "}`},
	{name: "somebody", rule: Unassigned, tasks: `"T-001": {"title": "t", "status": "in_progress", "assigned_to": "a"}, "T-002": {"title": "t", "status": "ready"}`},

	{name: "twice and thrice", rule: DuplicateDependency, tasks: `"T-001": {"title": "t", "status": "done", "completed": "2026-01-01T00:00:00Z"},
"T-002": {"title": "t", "status": "ready", "depends_on": ["T-001", «tasks/duplicate-dependency»"T-001", "T-001"]}`},
	{name: "an unknown id twice", rule: DuplicateDependency, tasks: `"T-002": {"title": "t", "status": "ready", "depends_on": [«tasks/unknown-dependency»"T-001", «tasks/duplicate-dependency»"T-001"]}`},
	{name: "in two tasks", rule: DuplicateDependency, tasks: `"T-001": {"title": "t", "status": "done", "completed": "2026-01-01T00:00:00Z"},
"T-002": {"title": "t", "status": "ready", "depends_on": ["T-001"]}, "T-003": {"title": "t", "status": "ready", "depends_on": ["T-001"]}`},

	{name: "format 2", rule: Version, manifest: strings.Replace(headOf2, `"aahp_version"`, `«tasks/version»"aahp_version"`, 1) + ` "next_task_id": 9, "tasks": {"T-001": {"title": "t", "status": "ready"}}}`},
	{name: "format 02.9", rule: Version, manifest: strings.Replace(strings.Replace(head, "3.0", "02.9", 1), `"aahp_version"`, `«tasks/version»"aahp_version"`, 1) + ` "next_task_id": 9, "tasks": {"T-001": {"title": "t", "status": "ready"}}}`},
	{name: "format 3", rule: Version, tasks: `"T-001": {"title": "t", "status": "ready"}`},
	{name: "format 10", rule: Version, manifest: strings.Replace(head, "3.0", "10.0", 1) + ` "next_task_id": 9, "tasks": {"T-001": {"title": "t", "status": "ready"}}}`},
	{name: "format 2 with empty tasks", rule: Version, manifest: headOf2 + ` "tasks": {}}`},
}

func TestScenarios(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.rule.ID+"/"+s.name, func(t *testing.T) {
			src := s.manifest
			if src == "" {
				src = tasks + s.tasks + end
			}
			manifest, want := unmark(manifestPath, src)
			config, more := "", []string(nil)
			if s.config != "" {
				config, more = unmark(configPath, s.config)
			}
			want = append(want, more...)
			slices.Sort(want)
			l := Check(input(manifest, config))
			fit(t, l)
			if got := found(l); !slices.Equal(got, want) {
				t.Errorf("found\n%s\nwant\n%s\nin\n%s%s", strings.Join(got, "\n"), strings.Join(want, "\n"), manifest, config)
				for _, f := range l.Findings {
					t.Logf("%s %s", f.Rule, f.Message)
				}
			}
			if again := Check(input(manifest, config)); !slices.Equal(again.Findings, l.Findings) || again.Summary != l.Summary {
				t.Error("a second run finds something else")
			}
		})
	}
}

// A rule without a scenario that fires it, and one that does not, is not tested.
func TestEveryRuleHasScenarios(t *testing.T) {
	elsewhere := []*rule.Rule{DuplicateKey, NotEvaluated} // TestDuplicateKeys, TestNotEvaluated
	for _, r := range Rules {
		if slices.Contains(elsewhere, r) {
			continue
		}
		fires, silent := false, false
		for _, s := range scenarios {
			if s.rule == r {
				has := strings.Contains(s.manifest+s.tasks+s.config, "«"+r.ID+"»")
				fires, silent = fires || has, silent || !has
			}
		}
		if !fires || !silent {
			t.Errorf("%s: has one that fires %v, one that is silent %v", r.ID, fires, silent)
		}
	}
}

func TestRuleTable(t *testing.T) {
	severities := map[string]report.Severity{
		"schema/manifest": report.Error, "schema/config": report.Error, "schema/placeholder": report.Error, "schema/not-evaluated": report.Error,
		"tasks/blocked-by-on-done": report.Notice, "tasks/unassigned": report.Notice, "tasks/duplicate-dependency": report.Notice, "tasks/version": report.Notice,
	}
	seen := map[string]bool{}
	for _, r := range Rules {
		want := severities[r.ID]
		if want == "" {
			want = report.Warning
		}
		if r.Severity != want {
			t.Errorf("%s has severity %q, want %q", r.ID, r.Severity, want)
		}
		if r.Title == "" || r.Why == "" || r.Remedy == "" || r.Example == "" {
			t.Errorf("%s: a text is missing", r.ID)
		}
		if seen[r.ID] || !regexp.MustCompile(`^(schema|tasks)/[a-z-]+$`).MatchString(r.ID) {
			t.Errorf("%s is no id of its own", r.ID)
		}
		seen[r.ID] = true
	}
}

func files(docs ...gate.Document) iter.Seq[gate.Document] { return slices.Values(docs) }

func TestDuplicateKeys(t *testing.T) {
	sound := head + ` "tasks": {}}`
	for _, tt := range []struct{ name, path, src string }{
		{"at the second", ".ai/handoff/notes.json", "{\"a\": 1,\n \"b\": 2, «schema/duplicate-key»\"a\": 3}"},
		{"once, however often", ".ai/handoff/notes.json", `{"a": 1, «schema/duplicate-key»"a": 2, "a": 3}`},
		{"equal after decoding", ".ai/handoff/notes.json", `{"é\n": 1, «schema/duplicate-key»"\u00e9\u000a": 2}`},
		{"in each object", ".ai/handoff/sub/x.json", `[{"a": 1, «schema/duplicate-key»"a": 2}, {"a": {"a": 1, "b": [], «schema/duplicate-key»"b": {}}}, {"a": 1}]`},
		{"in the archive's index", ".ai/handoff/LOG-ARCHIVE.index.json", `{"entries": [], «schema/duplicate-key»"entries": []}`},
		{"other keys", ".ai/handoff/notes.json", `{"a": 1, "A": 2, "b": {"a": 1}, "": 0}`},
		{"nested deeply", ".ai/handoff/notes.json", strings.Repeat("[", 999) + `{"a": 1, «schema/duplicate-key»"a": 1}` + strings.Repeat("]", 999)},
		{"the manifest is the integrity layer's", manifestPath, `{"a": 1, "a": 2}`},
		{"the allowlist is the content checks'", ".ai/handoff/pii-allowlist.json", `{"a": 1, "a": 2}`},
		{"another file of its name is not", ".ai/handoff/sub/pii-allowlist.json", `{"a": 1, «schema/duplicate-key»"a": 2}`},
		{"another manifest neither", ".ai/handoff/sub/MANIFEST.json", `{"a": 1, «schema/duplicate-key»"a": 2}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src, want := unmark(tt.path, tt.src)
			in := input(sound, "")
			in.Files = files(document(tt.path, src))
			l := Check(in)
			fit(t, l)
			if got := found(l); !slices.Equal(got, want) {
				t.Errorf("found %q, want %q", got, want)
			}
		})
	}
}

func TestNotEvaluated(t *testing.T) {
	soundManifest, soundConfig := document(manifestPath, head+` "tasks": {}}`), document(configPath, "{}")
	with := func(path string, s gate.State, err error) gate.Document {
		return gate.Document{Path: path, State: s, Err: err}
	}
	broken := errors.New("it is a symbolic link")
	for _, tt := range []struct {
		name             string
		manifest, config gate.Document
		want             string // of a report where no other layer says anything
	}{
		{"both sound", soundManifest, soundConfig, ""},
		{"no configuration", soundManifest, gate.Document{Path: configPath}, ""},
		{"no manifest", gate.Document{Path: manifestPath}, soundConfig, manifestPath + ":0:0 schema/not-evaluated"},
		{"manifest is a link", with(manifestPath, gate.NotRegular, broken), soundConfig, manifestPath + ":0:0 schema/not-evaluated"},
		{"manifest is too large", with(manifestPath, gate.TooLarge, errors.New("it is larger than its limit")), soundConfig, manifestPath + ":0:0 schema/not-evaluated"},
		{"manifest is empty", document(manifestPath, ""), soundConfig, manifestPath + ":1:1 schema/not-evaluated"},
		{"manifest has equal keys", document(manifestPath, "{\"a\": 1,\n  \"a\": 2}"), soundConfig, manifestPath + ":2:3 schema/not-evaluated"},
		{"manifest has a byte order mark", document(manifestPath, "\ufeff{}"), soundConfig, manifestPath + ":1:1 schema/not-evaluated"},
		{"manifest has a lone surrogate", document(manifestPath, `{"a": "\ud800"}`), soundConfig, manifestPath + ":1:8 schema/not-evaluated"},
		{"manifest is no UTF-8", document(manifestPath, "{\"a\": \"\xff\"}"), soundConfig, manifestPath + ":1:8 schema/not-evaluated"},
		{"manifest is too deep", document(manifestPath, strings.Repeat("[", 65)+strings.Repeat("]", 65)), soundConfig, manifestPath + ":1:65 schema/not-evaluated"},
		{"manifest is no object", document(manifestPath, "\n[]"), soundConfig, manifestPath + ":2:1 schema/not-evaluated"},
		{"configuration is a link", soundManifest, with(configPath, gate.NotRegular, broken), configPath + ":0:0 schema/not-evaluated"},
		{"configuration cannot be read", soundManifest, with(configPath, gate.Unreadable, errors.New("permission denied")), configPath + ":0:0 schema/not-evaluated"},
		{"configuration has a comment", soundManifest, document(configPath, "{\n  // x\n}"), configPath + ":2:3 schema/not-evaluated"},
		{"configuration has equal keys", soundManifest, document(configPath, `{"trustTtl": {}, "trustTtl": {}}`), configPath + ":1:18 schema/not-evaluated"},
		{"configuration is null", soundManifest, document(configPath, "null"), configPath + ":1:1 schema/not-evaluated"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := Input{Project: ".", Manifest: tt.manifest, Config: tt.config, Now: now, Commands: commands}
			l := Check(in)
			fit(t, l)
			if got := strings.Join(found(l), "\n"); got != tt.want {
				t.Errorf("found %q, want %q", got, tt.want)
			}
			if tt.want == "" {
				if l.Status != report.OK {
					t.Errorf("status %q", l.Status)
				}
				return
			}
			if l.Status != report.Failed {
				t.Errorf("status %q: what was not judged must fail", l.Status)
			}

			// The same where the layer concerned reports the document.
			path, reporting := manifestPath, "integrity/manifest-invalid"
			if strings.HasPrefix(tt.want, configPath) {
				path, reporting = configPath, "trust/config-invalid"
			}
			in.Reported = []report.Finding{{Rule: reporting, Severity: report.Error, Path: path}}
			l = Check(in)
			fit(t, l)
			if l.Status != report.Skip || len(l.Findings) != 0 || !strings.Contains(l.Summary, "could not be judged") {
				t.Errorf("where %s reports it: %+v", reporting, l)
			}
		})
	}
}

func TestWhoReportsADocument(t *testing.T) {
	for _, tt := range []struct {
		path   string
		f      report.Finding
		silent bool
	}{
		{manifestPath, report.Finding{Rule: "integrity/manifest-missing", Severity: report.Error, Path: manifestPath}, true},
		{manifestPath, report.Finding{Rule: "integrity/not-regular", Severity: report.Error, Path: manifestPath}, true},
		{manifestPath, report.Finding{Rule: "integrity/not-regular", Severity: report.Error, Path: ".ai/handoff/STATUS.md"}, false},
		{manifestPath, report.Finding{Rule: "integrity/handoff-dir-not-real", Severity: report.Error, Path: ".ai/handoff"}, true},
		{manifestPath, report.Finding{Rule: "integrity/handoff-dir-not-real", Severity: report.Error, Path: ".ai/hand"}, false},
		{manifestPath, report.Finding{Rule: "integrity/manifest-incomplete", Severity: report.Error, Path: manifestPath}, false},
		{manifestPath, report.Finding{Rule: "integrity/manifest-invalid", Severity: report.Warning, Path: manifestPath}, false},
		{configPath, report.Finding{Rule: "drift/config-invalid", Severity: report.Error, Path: configPath}, true},
		{configPath, report.Finding{Rule: "drift/config-not-regular", Severity: report.Error, Path: configPath}, true},
		{configPath, report.Finding{Rule: "trust/config-invalid", Severity: report.Error, Path: configPath}, true},
		{configPath, report.Finding{Rule: "drift/base-config-invalid", Severity: report.Warning, Path: configPath}, false}, // another copy
		{configPath, report.Finding{Rule: "drift/config-unstaged", Severity: report.Error, Path: configPath}, false},       // not for its content
		{configPath, report.Finding{Rule: "integrity/handoff-dir-not-real", Severity: report.Error, Path: ".ai/handoff"}, false},
		{".ai/handoff/x.json", report.Finding{Rule: "lint/json-invalid", Severity: report.Error, Path: ".ai/handoff/x.json"}, true},
		{".ai/handoff/x.json", report.Finding{Rule: "lint/secret", Severity: report.Error, Path: ".ai/handoff/x.json"}, false},
	} {
		in := input(head+` "tasks": {}}`, "")
		switch tt.path {
		case manifestPath:
			in.Manifest = document(manifestPath, "{")
		case configPath:
			in.Config = document(configPath, "{")
		default:
			in.Files = files(document(tt.path, "{"))
		}
		in.Reported = []report.Finding{tt.f}
		l := Check(in)
		if got := len(l.Findings) == 0; got != tt.silent {
			t.Errorf("%s with %s at %s: silent %v", tt.path, tt.f.Rule, tt.f.Path, got)
		}
	}
}

// A broken manifest does not hide what is wrong with the configuration, and a
// file that another layer reports does not make the layer skip what it proved.
func TestDocumentsAreJudgedApart(t *testing.T) {
	in := input("{", `{"x": 1}`)
	in.Reported = []report.Finding{{Rule: "integrity/manifest-invalid", Severity: report.Error, Path: manifestPath}}
	l := Check(in)
	if got := found(l); !slices.Equal(got, []string{configPath + ":1:2 schema/config"}) || l.Status != report.Failed || !strings.Contains(l.Summary, "MANIFEST.json could not be judged") {
		t.Errorf("%+v", l)
	}
	in = input(head+` "tasks": {}}`, "")
	in.Files = files(document(".ai/handoff/x.json", "{"))
	in.Reported = []report.Finding{{Rule: "lint/json-invalid", Severity: report.Error, Path: ".ai/handoff/x.json"}}
	if l := Check(in); l.Status != report.OK || len(l.Findings) != 0 {
		t.Errorf("%+v", l)
	}
	in.Reported = nil
	if got := found(Check(in)); !slices.Equal(got, []string{".ai/handoff/x.json:1:2 schema/not-evaluated"}) {
		t.Errorf("%q", got)
	}
	in.Files = files(gate.Document{Path: ".ai/handoff/x.json", State: gate.TooLarge, Err: errors.New("it is larger than its limit")}, gate.Document{Path: ".ai/handoff/gone.json"})
	if got := found(Check(in)); !slices.Equal(got, []string{".ai/handoff/x.json:0:0 schema/not-evaluated"}) {
		t.Errorf("%q", got)
	}
}

func TestSummaries(t *testing.T) {
	for _, tt := range []struct{ manifest, config, want string }{
		{head + ` "tasks": {}}`, "", "MANIFEST.json fits its schema"},
		{head + ` "tasks": {}}`, "{}", "MANIFEST.json and aahp.config.json fit their schemas"},
		{tasks + `"T-001": {"title": "t", "status": "ready"}` + end, "", "MANIFEST.json fits its schema; 1 task, no remarks on their graph"},
		{tasks + `"T-001": {"title": "t", "status": "done"}, "T-002": {"title": "t", "status": "x"}` + end, "", "MANIFEST.json: 1 broken constraint; 2 tasks, 1 remark on their graph"},
		{tasks + `"T-001": {"title": "t", "status": "ready", "note": "", "stats": 1, "titles": 2}` + end, `{"x": 1, "y": 2}`, "MANIFEST.json and aahp.config.json: 2 broken constraints; 1 task, no remarks on their graph"},
		{"{", "", "no document could be judged"},
	} {
		if got := Check(input(tt.manifest, tt.config)).Summary; got != tt.want {
			t.Errorf("summary %q, want %q", got, tt.want)
		}
	}
}

func TestRemedies(t *testing.T) {
	for _, tt := range []struct {
		rule             *rule.Rule
		manifest, config string
		want             string
	}{
		{Manifest, strings.Replace(head, `"idle"`, `"sleeping"`, 1) + ` "tasks": {}}`, "", "The generator writes /last_session: regenerate the manifest instead of editing it.\nfix: handoff-gate manifest ."},
		{Manifest, tasks + `"T-001": {"title": "t", "status": "todo"}` + end, "", "Change /tasks/T-001/status in .ai/handoff/MANIFEST.json, line 2: it must be one of ready, in_progress, blocked, done, cancelled, for example \"ready\".\nfix: handoff-gate verify . --schema"},
		{Manifest, tasks + `"T-001": {"title": "t"}` + end, "", "Add the key \"status\" to the object in .ai/handoff/MANIFEST.json, line 2: its value must be one of ready, in_progress, blocked, done, cancelled, for example \"ready\".\nfix: handoff-gate verify . --schema"},
		{Manifest, tasks + `"TASK-1": {}` + end, "", "Rename or remove the key in .ai/handoff/MANIFEST.json, line 2: a key there must be T- and at least three digits, for example \"T-001\".\nfix: handoff-gate verify . --schema"},
		{Manifest, head + ` "task": {}}`, "", "Rename the key in .ai/handoff/MANIFEST.json, line 1, to \"tasks\", or remove it.\nfix: handoff-gate verify . --schema"},
		{Config, head + ` "tasks": {}}`, `{"check": {"onyl2": []}}`, "Rename or remove the key in aahp.config.json, line 1: a key there must be one of only, skip.\nfix: handoff-gate verify . --schema"},
		{Placeholder, tasks + `"T-001": {"title": "t", "status": "ready", "created": "[ISO-8601]"}` + end, "", "Give /tasks/T-001/created its value in .ai/handoff/MANIFEST.json, line 2: it must be a date and time with a time zone, for example \"2026-01-31T09:30:00Z\". An optional field can be deleted instead. Then regenerate the manifest: handoff-gate manifest .\nfix: handoff-gate verify . --schema"},
		{Placeholder, strings.Replace(head, `"2026-01-01T00:00:00Z"`, `"[ISO-8601]"`, 1) + ` "tasks": {}}`, "", "The generator writes /last_session: regenerate the manifest instead of editing it.\nfix: handoff-gate manifest ."},
	} {
		l := Check(input(tt.manifest, tt.config))
		i := slices.IndexFunc(l.Findings, func(f report.Finding) bool { return f.Rule == tt.rule.ID })
		if i < 0 {
			t.Errorf("%s is not found: %+v", tt.rule.ID, l.Findings)
			continue
		}
		if got := l.Findings[i].Remedy; got != tt.want {
			t.Errorf("%s: remedy\n%s\nwant\n%s", tt.rule.ID, got, tt.want)
		}
	}
}

// In a subfolder every path begins with the project.
func TestSubfolderProject(t *testing.T) {
	in := Input{
		Project: "packages/api", Now: now, Commands: commands,
		Manifest: document("packages/api/.ai/handoff/MANIFEST.json", `{"xyzzy": 1}`),
		Config:   document("packages/api/aahp.config.json", `{"xyzzy": 1}`),
		Files:    files(document("packages/api/.ai/handoff/pii-allowlist.json", `{"a":1,"a":1}`), document("packages/api/.ai/handoff/a.json", `{"a":1,"a":1}`)),
	}
	want := []string{
		"packages/api/.ai/handoff/MANIFEST.json:1:2 schema/manifest",
		"packages/api/.ai/handoff/a.json:1:8 schema/duplicate-key",
		"packages/api/aahp.config.json:1:2 schema/config",
	}
	if got := found(Check(in)); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// Text of a document reaches messages cleaned, cut and masked.
func TestOutsideText(t *testing.T) {
	secret := "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	src := head + ` "next_task_id": 1, "tasks": {
"T-001": {"title": "t", "status": "blocked", "blocked_by": "` + secret + `\n::error::\u202e"},
"T-002": {"title": "t", "status": "done", "depends_on": ["T-001"]},
"T-003": {"title": "t", "status": "ready", "depends_on": ["T-002"]},
"T-` + strings.Repeat("9", 5000) + `": {"title": "t", "status": "ready", "depends_on": ["T-` + strings.Repeat("8", 5000) + `"]},
"` + secret + `": 1, "T-004": {"` + secret + `s": 1, "status": "` + secret + `", "priority": "\u001b[31m", "titel\u202e\n": "x"}}}`
	in := input(src, `{"`+secret+`": 1}`)
	in.Files = files(document(".ai/handoff/x.json", `{"`+secret+`": 1, "`+secret+`": 1}`))
	in.Mask = func(s string) string { return strings.ReplaceAll(s, secret, "***") }
	l := Check(in)
	fit(t, l)
	if len(l.Findings) < 10 {
		t.Fatalf("only %d findings", len(l.Findings))
	}
	for _, f := range l.Findings {
		if strings.Contains(f.Message+f.Remedy, "ghp_") || len(f.Message) > 1500 {
			t.Errorf("%s: %q", f.Rule, f.Message)
		}
	}
}

func TestManyFindingsAreCounted(t *testing.T) {
	many := func(n int) report.Layer {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteString(",\n")
			}
			fmt.Fprintf(&b, `"T-%04d": {"title": "t", "status": "ready", "priority": "x"}`, i)
		}
		return Check(input(strings.Replace(tasks, "100", "10000", 1)+b.String()+end, ""))
	}
	if l := many(maxFindings); len(l.Findings) != maxFindings {
		t.Errorf("%d findings, want %d", len(l.Findings), maxFindings)
	}
	l := many(maxFindings + 1)
	if len(l.Findings) != maxFindings+1 || strings.Contains(l.Findings[maxFindings].Message, "more") {
		t.Errorf("one more than allowed is listed as it is: %d findings", len(l.Findings))
	}
	l = many(maxFindings + 500)
	fit(t, l)
	last := l.Findings[len(l.Findings)-1]
	if len(l.Findings) != maxFindings+1 || last.Line != maxFindings+2 || !strings.Contains(last.Message, "500 more findings") {
		t.Errorf("%d findings, the last %+v", len(l.Findings), last)
	}
	if !strings.Contains(l.Summary, "1500 broken constraints") {
		t.Errorf("summary %q", l.Summary)
	}
}

// Where so much is broken that not all of it is looked for, nothing is said of
// the graph: a task that was not looked at must not pass for sound.
func TestEndlessFindings(t *testing.T) {
	src := tasks + `"T-001": {"title": "t", "status": "ready", "depends_on": [` + strings.Repeat("0,", 100_000) + `"T-002"]}` + end
	l := Check(input(src, ""))
	fit(t, l)
	if len(l.Findings) != maxFindings+1 || len(of(l, Manifest.ID)) != maxFindings+1 || !strings.Contains(l.Findings[maxFindings].Message, "at least") ||
		!strings.Contains(l.Summary, "at least") || strings.Contains(l.Summary, "task,") {
		t.Errorf("%d findings, summary %q", len(l.Findings), l.Summary)
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range scenarios {
		src := s.manifest
		if src == "" {
			src = tasks + s.tasks + end
		}
		f.Add(marker.ReplaceAllString(src, ""), marker.ReplaceAllString(s.config, ""))
	}
	f.Fuzz(func(t *testing.T, manifest, config string) {
		in := input(manifest, config)
		in.Files = files(document(".ai/handoff/x.json", manifest))
		l := Check(in)
		fit(t, l)
		if again := Check(in); !slices.Equal(again.Findings, l.Findings) {
			t.Error("a second run finds something else")
		}
	})
}

// The layer opens no file, starts no process and reads no clock.
func TestPurity(t *testing.T) {
	for _, dir := range []string{".", "../internal/conform", "../internal/jsondoc", "../internal/lines", "../internal/safetext", "../report", "../rule", "../../schema"} {
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v, %v", dir, names, err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range file.Imports {
				switch path := strings.Trim(i.Path.Value, `"`); {
				case path == "os", path == "os/exec", path == "syscall", path == "net" || strings.HasPrefix(path, "net/"), path == "math/rand", path == "math/rand/v2":
					t.Errorf("%s imports %s", name, path)
				}
			}
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(src), "time.Now") {
				t.Errorf("%s reads the clock", name)
			}
		}
	}
}
