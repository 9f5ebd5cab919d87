package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// judging collects findings and joins those that several snapshots share.
type judging struct {
	in       Input
	handoff  string // the handoff folder, from the repository's top level
	findings []report.Finding
	seen     map[place]int // index in findings
	names    [][]string    // by finding: the snapshots it was seen in; nil: not of a snapshot
	current  string        // the snapshot at hand
}

// place is what makes two findings the same: rule, place and kind.
type place struct {
	rule, path string
	span       report.Span
	kind       string
}

// Check judges all snapshots together. The same rule, place and kind in several
// of them is one finding whose message names them. The order of the findings is
// left to report.Sort.
func Check(in Input) []report.Finding {
	j := &judging{in: in, handoff: gate.Join(in.Project, gate.HandoffDir), seen: map[place]int{}}
	for _, s := range in.Snapshots {
		j.current = s.Name
		j.snapshot(s)
	}
	j.current = ""
	j.branches()
	j.nameSnapshots()
	return j.findings
}

// add reports a finding unless the same was reported for another snapshot.
func (j *judging) add(f report.Finding, kind string) {
	key := place{f.Rule, f.Path, f.Span, kind}
	if n, known := j.seen[key]; known {
		if j.current != "" && !slices.Contains(j.names[n], j.current) {
			j.names[n] = append(j.names[n], j.current)
		}
		if f.Severity.Rank() < j.findings[n].Severity.Rank() {
			f.Message, j.findings[n] = j.findings[n].Message, f
		}
		return
	}
	j.seen[key] = len(j.findings)
	j.findings = append(j.findings, f)
	var names []string
	if j.current != "" {
		names = []string{j.current}
	}
	j.names = append(j.names, names)
}

// nameSnapshots says in each message which snapshots it is about, where more
// than one was judged.
func (j *judging) nameSnapshots() {
	if len(j.in.Snapshots) < 2 {
		return
	}
	for n, names := range j.names {
		if len(names) > 0 {
			j.findings[n].Message += " (" + strings.Join(names, " and ") + ")"
		}
	}
}

func (j *judging) snapshot(s Snapshot) {
	approved := j.allowlist(s)
	used := map[string]bool{}
	for _, f := range s.Files {
		p := j.handoff + "/" + f.Path
		for _, h := range f.Hits {
			if h.Rule == PII {
				if _, ok := approved[h.address]; ok {
					used[h.address] = true
					continue
				}
			}
			// What a message says beyond its kind (a length, a list of code
			// points) may differ between snapshots; rule, place and kind do not.
			j.add(h.Rule.As(h.Severity, p, h.Span, h.Message, j.remedy(h, p)), h.kind()+"\x00"+h.pointer)
		}
		for a := range f.exempt {
			used[a] = true
		}
		if f.Markers.Count > 0 {
			j.marker(p, f.Markers)
		}
		if f.IgnorePatterns > 0 {
			j.add(IgnoreNotEnforced.At(p, f.FirstIgnore,
				fmt.Sprintf("it lists %s, and no gate reads them", plural.Of(f.IgnorePatterns, "pattern")), IgnoreNotEnforced.Remedy), "")
		}
	}
	j.unused(approved, used)

	if s.Lock {
		p := j.handoff + "/" + LockFile
		j.add(LockPresent.At(p, report.Span{Line: 1},
			"a session's lock stands in the handoff folder: a session did not finish",
			strings.Replace(LockPresent.Remedy, "HEAD:.ai/handoff/", "HEAD:"+safetext.Clean(j.handoff)+"/", 1)+j.removeLock(p)), "")
	}
	for _, u := range s.Unscannable {
		if !s.Reported[u.Path] {
			j.unscannable(j.handoff+"/"+u.Path, u.Reason)
		}
	}
	for _, t := range s.Markers {
		if t.Markers.Count > 0 {
			j.marker(t.Path, t.Markers)
		}
	}
	for _, t := range s.TreeProblems {
		if t.Path == "" {
			j.add(Unscannable.At(j.handoff, report.Span{},
				"the files to look through for conflict markers could not be listed: "+safetext.Clean(t.Reason),
				"Make the project's files listable, then run the gate again."+j.again()), "tree")
			continue
		}
		j.unscannable(t.Path, t.Reason)
	}
}

func (j *judging) unscannable(p, reason string) {
	j.add(Unscannable.At(p, report.Span{}, "it could not be scanned: "+safetext.Clean(reason),
		Unscannable.Remedy+"\nIt is "+safetext.Clean(p)+"."+j.again()), "")
}

// removeLock is the command that takes the lock away: out of the index too where
// git has it, since there the finding would stay.
func (j *judging) removeLock(p string) string {
	for _, s := range j.in.Snapshots {
		if s.Lock && s.Name != gate.WorkingTree {
			return report.WithFix(" What is committed already is mended by a commit of the deletion.", "git rm -r -f "+safetext.ShellPath(j.in.Commands.GitFile(p)))
		}
	}
	return report.WithFix("", "rm "+safetext.ShellPath(j.in.Commands.File(p)))
}

// again is the last line of the remedy of an error that needs an edit.
func (j *judging) again() string { return report.WithFix("", j.in.Commands.Again) }

// edit names file and line and says what to do there; the fix line follows.
func (j *judging) edit(p string, span report.Span, what string) string {
	where := safetext.Clean(p)
	if span.Line > 0 {
		where += ", line " + strconv.Itoa(span.Line)
	}
	return "\nIn " + where + ": " + what + "." + j.again()
}

func (j *judging) marker(p string, m Markers) {
	j.add(ConflictMarker.At(p, m.First,
		fmt.Sprintf("conflict markers: seven angle brackets or more begin %s of the file", plural.Of(m.Count, "line")),
		ConflictMarker.Remedy+j.edit(p, m.First, "resolve the merge")), "")
}

// remedy says what to do about a hit of a scanner.
func (j *judging) remedy(h Hit, p string) string {
	switch h.Rule {
	case Injection:
		text := strings.Replace(Injection.Remedy, "-- FILE", "-- "+safetext.ShellQuote(safetext.Clean(p)), 1)
		what := "remove or reword the phrase"
		if h.Kind == "you are now" {
			what += ` ("is now", "you can now")`
		}
		return text + j.unlessWarning(h, p, what)
	case Secret:
		text := Secret.Remedy
		for i := range detectors {
			if detectors[i].kind == h.Kind && detectors[i].bare {
				text += " The words themselves are enough to hit: where there is no token, rewording is the fix."
			}
		}
		return text + j.unlessWarning(h, p, "remove the value")
	case SecretExtended:
		return SecretExtended.Remedy + j.unlessWarning(h, p, "remove the value")
	case PII:
		return PII.Remedy + j.unlessWarning(h, p, "remove the address, or have it approved")
	case HiddenUnicode:
		text := strings.Replace(HiddenUnicode.Remedy, "FILE", safetext.ShellQuote(safetext.Clean(p)), 1)
		return text + j.unlessWarning(h, p, "delete the hidden characters and retype the line")
	case JSONInvalid:
		return JSONInvalid.Remedy + j.unlessWarning(h, p, "repair the syntax")
	}
	return h.Rule.Remedy
}

// unlessWarning ends the remedy of an error with the edit and the command.
func (j *judging) unlessWarning(h Hit, p, what string) string {
	if h.Severity != report.Error {
		return ""
	}
	return j.edit(p, h.Span, what)
}

// allowlist judges the allowlist of a snapshot and gives its entries that
// approve an address today.
func (j *judging) allowlist(s Snapshot) map[string]approval {
	approved := map[string]approval{}
	for _, f := range s.Files {
		if f.allowlist == nil {
			continue
		}
		p := j.handoff + "/" + f.Path
		for _, problem := range f.allowlist.problems {
			j.add(AllowlistInvalid.At(p, problem.span, problem.message,
				AllowlistInvalid.Remedy+j.edit(p, problem.span, "fix the field")), problem.message)
		}
		today := j.in.Today.UTC()
		for _, e := range f.allowlist.entries {
			days := daysUntil(today.Unix(), e.expires.Unix())
			shown := maskAddress(e.value)
			switch {
			case days < 0:
				j.add(AllowlistExpired.At(p, e.expSpan,
					fmt.Sprintf("the approval of %s expired on %s", shown, e.expires.Format("2006-01-02")),
					AllowlistExpired.Remedy+j.edit(p, e.expSpan, "renew expires or delete the entry")), e.value)
				continue
			case days <= expiringDays:
				when := "in " + plural.Of(days, "day")
				if days == 0 {
					when = "today is its last day"
				}
				j.add(AllowlistExpiring.At(p, e.expSpan,
					fmt.Sprintf("the approval of %s expires on %s: %s", shown, e.expires.Format("2006-01-02"), when),
					AllowlistExpiring.Remedy), e.value)
			}
			approved[e.value] = approval{p, e.span}
		}
	}
	return approved
}

// approval is where an approved address stands in the allowlist.
type approval struct {
	path string
	span report.Span
}

// daysUntil counts the days from the UTC date of now to day, which is a
// midnight. Dates of the calendar reach further than a time.Duration.
func daysUntil(now, day int64) int {
	const seconds = 24 * 60 * 60
	today := now / seconds
	if now%seconds < 0 {
		today--
	}
	return int(day/seconds - today)
}

// unused reports the approvals that no file needs.
func (j *judging) unused(approved map[string]approval, used map[string]bool) {
	for value, a := range approved {
		if !used[value] {
			j.add(AllowlistUnused.At(a.path, a.span,
				"the approved address "+maskAddress(value)+" occurs nowhere in the handoff set", AllowlistUnused.Remedy), value)
		}
	}
}

// branches reports the locks that are committed on local branches.
func (j *judging) branches() {
	p := j.handoff + "/" + LockFile
	if j.in.BranchErr != nil {
		j.add(Unscannable.At(j.handoff, report.Span{},
			"the local branches could not be searched for locks: "+safetext.Clean(j.in.BranchErr.Error()),
			"Make git able to read the repository's branches, then run the gate again."+j.again()), "branches")
		return
	}
	names := slices.Clone(j.in.BranchLocks)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		message := "the tip of branch " + strconv.Quote(safetext.Clean(name)) + " holds a session's lock"
		if len(j.in.BranchLocks) > 1 {
			message += fmt.Sprintf("; so do %s in all, but handoff is sequential: one session at a time", plural.Of(len(names), "branch"))
		}
		j.add(LockOnBranch.At(p, report.Span{}, message, LockOnBranch.Remedy), name)
	}
}
