// Package trust judges the trust register TRUST.md: whether what it calls
// verified is still so (aahp-verify.md 8). It runs nothing itself. Declared
// checks run after everything else of a run is decided, so the layer is decided
// in two steps: Prepare judges what can be judged at once and names the checks
// to run, and Plan.Finish takes their outcomes.
package trust

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/policy"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// ID and Title name the layer in a report.
const (
	ID    = "trust"
	Title = "Trust register"
)

// RegisterFile is the register, relative to the project.
const RegisterFile = gate.HandoffDir + "/TRUST.md"

// Input is what the layer judges.
type Input struct {
	Project  string // from the repository's top level; "." for the top level itself
	Commands gate.Commands

	Register gate.Document // TRUST.md as layer 4's row of sources says, limit gate.MaxTrustRegister

	// Applied is the policy that may enforce and name programs: the built-in
	// one where the file is absent or the copy to be applied is broken.
	Applied policy.Policy
	// Source is the copy that Applied came from. FromHead with HeadProblems
	// means that Applied's trust section cannot be used; the defaults are.
	Source policy.Source
	// HeadTrust is the trust section of the head policy. A check that it alone
	// declares is pending.
	HeadTrust policy.Trust
	// HeadProblems are the problems of the head policy; those of the whole file
	// and of trustTtl are reported here.
	HeadProblems []policy.Problem
	// PolicyUnavailable: the base policy is to be applied and cannot be had.
	PolicyUnavailable bool
	// PolicyErr says why the base's file could not be read, where that is the
	// reason; nil means that there is no base.
	PolicyErr error

	Today time.Time // its UTC date is the day to judge by

	IntegrityErrors int // error findings of the layer integrity in this run

	// PackageJSON (limit gate.MaxPackageJSON) and License (limit MaxLicense)
	// come from the checked-out project. LicenseName is the first of
	// LicenseNames that exists in any form, "" for none.
	PackageJSON gate.Document
	License     gate.Document
	LicenseName string

	// ChecksOff says why declared checks are not run in this run ("the event
	// pull_request_target hands out secrets"); "" means that they are run.
	ChecksOff string
	// NoProgramHint is a sentence for the remedy of a check whose program was
	// not found, where the surroundings explain it (the image has no shell).
	NoProgramHint string
}

// Outcome is how a declared check ended. It has the fields of proc.Outcome, so
// that one converts to the other.
type Outcome struct {
	Passed   bool     // the program ended with exit status 0
	TimedOut bool     // it was ended after the time allowed
	NotFound bool     // it, or the interpreter it names, is not there
	Reason   string   // why it did not pass: "exit status 3"; may hold outside text
	Output   []string // its last non-empty lines; outside text
}

// Plan is the layer, decided but for the declared checks.
type Plan struct {
	// Run are the declared checks to run, in the order of their first row, each
	// once.
	Run []policy.DeclaredCheck

	in       Input
	trust    policy.Trust
	census   census
	unjudged int // check-backed rows that nothing judges in this run
	notes    []string
	findings report.Bounded
	waiting  []Row // the rows of the checks in Run
}

// Prepare judges everything but the declared checks.
func Prepare(in Input) *Plan {
	p := &Plan{in: in, trust: in.Applied.Trust}
	p.policyProblems()
	if !p.readable() {
		return p
	}
	if in.PolicyUnavailable {
		Scan(in.Register.Data, p.census.add)
		p.notes = append(p.notes, "nothing was judged: the policy of the base is not available")
		return p
	}
	if in.Register.State == gate.Absent {
		p.notes = append(p.notes, "NOT EVALUATED: there is no "+RegisterFile)
		p.enforced(RegisterMissing, report.Span{},
			fmt.Sprintf("%s does not exist, so nothing that this handoff calls verified was judged.", RegisterFile),
			"Write the register, with a table that has the columns Status and Expires or Check"+p.wayOut()+".")
		return p
	}
	p.judgeRows()
	return p
}

// Finish gives the layer. A check of Run that outcomes lacks counts as failed:
// nothing was proved.
func (p *Plan) Finish(outcomes map[string]Outcome) report.Layer {
	findings := p.findings.Clone()
	first := map[string]int{}
	for _, row := range p.waiting {
		o, ran := outcomes[row.Check]
		if !ran {
			o = Outcome{Reason: "it was not run"}
		}
		if line, again := first[row.Check]; again && len(o.Output) > 0 {
			o.Output = []string{fmt.Sprintf("(see the row on line %d)", line)}
		} else if !again {
			first[row.Check] = row.Line
		}
		if f, bad := p.outcome(row, o); bad {
			findings.Add(f)
		}
	}
	return report.Done(ID, Title, p.summary(), findings.Findings())
}

// policyProblems reports a broken head policy and chooses what the rows are
// judged by then.
func (p *Plan) policyProblems() {
	in := p.in
	path := gate.Join(in.Project, policy.ConfigFile)
	broken := false
	for _, problem := range in.HeadProblems {
		if problem.Section != policy.WholeFile && problem.Section != policy.TrustTTL {
			continue
		}
		broken = true
		where := policy.ConfigFile
		if problem.Span.Line > 0 {
			where = fmt.Sprintf("%s, line %d", where, problem.Span.Line)
		}
		p.findings.Add(ConfigInvalid.At(path, problem.Span, problem.Message,
			p.remedy(report.Error, "Repair "+where+": the message says what is wrong there.")))
	}
	if broken && in.Source == policy.FromHead {
		p.trust = policy.BuiltIn().Trust
	}
	if in.PolicyUnavailable {
		why := "there is no base commit to read it from"
		if in.PolicyErr != nil {
			why = "it could not be read there: " + clean(strings.TrimRight(in.PolicyErr.Error(), ". \n"), 300)
		}
		p.findings.Add(PolicyUnavailable.At(path, report.Span{},
			"The policy of the base commit is the one to apply, and "+why+". No row of the register was judged and no check was run.",
			p.remedy(report.Error, "Give a usable base commit; the layer drift says what is wrong with the present one.")))
	}
}

// readable reports a register that is there and cannot be read.
func (p *Plan) readable() bool {
	doc := p.in.Register
	var why string
	switch doc.State {
	case gate.Absent, gate.Present:
		return true
	case gate.NotRegular, gate.TooLarge, gate.Unreadable:
		why = safetext.Clean(doc.Err.Error())
	}
	p.notes = append(p.notes, "NOT EVALUATED: the register cannot be read")
	p.findings.Add(RegisterUnreadable.At(p.path(), report.Span{},
		fmt.Sprintf("%s cannot be read as a register: %s. Expected: a regular file of at most %d MiB.", RegisterFile, why, gate.MaxTrustRegister>>20),
		p.remedy(report.Error, "Make "+safetext.Clean(p.path())+" a regular, readable file of this repository.")))
	return false
}

func (p *Plan) judgeRows() {
	today := day(p.in.Today.UTC())
	declared := map[string]policy.DeclaredCheck{}
	for _, c := range p.trust.Checks {
		declared[c.ID] = c
	}
	pending := map[string]bool{}
	for _, c := range p.in.HeadTrust.Checks {
		pending[c.ID] = true
	}
	planned := map[string]bool{}
	builtIn := map[string]func() (string, bool){
		policy.LicenseMatches: sync.OnceValues(func() (string, bool) { return licenseMatches(p.in) }),
		policy.ManifestIntegrity: func() (string, bool) {
			return fmt.Sprintf("the layer integrity has %s in this run", plural.Of(p.in.IntegrityErrors, "error")), p.in.IntegrityErrors == 0
		},
	}
	headers := Scan(p.in.Register.Data, func(r Row) {
		p.census.add(r)
		switch {
		case r.Status != "verified":
		case r.Check == "":
			p.judgeDate(r, today)
		case !policy.IsCheckID(r.Check):
			p.enforced(CheckIDInvalid, at(r),
				fmt.Sprintf("The Check cell of the verified row %s is %s, which is no name of a check; nothing was run. Expected: at most 64 lower-case letters, digits and hyphens.", label(r), quote(r.Check)),
				"Write the name of a check, in lower-case letters, digits and hyphens. It is a name, not a command.")
		case builtIn[r.Check] != nil:
			if why, ok := builtIn[r.Check](); !ok {
				remedy := failedRemedy
				if r.Check == policy.ManifestIntegrity {
					remedy = "The row needs no edit; mend what the layer integrity reports."
				}
				p.enforced(CheckFailed, at(r),
					fmt.Sprintf("The check %s of the verified row %s fails: %s.", r.Check, label(r), why), remedy)
			}
		case declared[r.Check].ID != "":
			if p.in.ChecksOff != "" {
				p.unjudged++
				p.notRun(r)
				return
			}
			if !planned[r.Check] {
				planned[r.Check] = true
				p.Run = append(p.Run, declared[r.Check])
			}
			p.waiting = append(p.waiting, r)
		case pending[r.Check]:
			p.unjudged++
			p.findings.Add(CheckPending.At(p.path(), at(r),
				fmt.Sprintf("The check %s of the verified row %s is declared by the policy of this change and not by the one that judges it. It was not run and the row was not judged.", r.Check, label(r)),
				"Nothing to do here: the row is judged once the policy that declares the check is merged."))
		default:
			p.enforced(CheckUnknown, at(r),
				fmt.Sprintf("The verified row %s names the check %s, which is neither built in (%s, %s) nor declared in trustTtl.checks of the policy that is applied; nothing was run.",
					label(r), r.Check, policy.LicenseMatches, policy.ManifestIntegrity),
				"Use a built-in check or declare this one in trustTtl.checks of "+policy.ConfigFile+".")
		}
	})
	if p.census.checked+p.census.dated > 0 {
		return
	}
	var seen string
	missing := "Give one row at least the status verified and a date in Expires or a check in Check"
	switch {
	case headers == 0:
		missing = "Give it a table with the columns Status and Expires or Check, and verify at least one row"
		seen = "it has no trust table (no table header with a Status or Expires column)"
		p.notes = append(p.notes, "NOT EVALUATED: no trust table")
	case p.census.rows == 0:
		seen = "its trust table has no rows"
		p.notes = append(p.notes, "NOT EVALUATED: no rows")
	default:
		seen = fmt.Sprintf("it has %s, and none is verified with a date or a check, so none was judged", plural.Of(p.census.rows, "row"))
		p.notes = append(p.notes, "NOT EVALUATED: no row could be judged")
	}
	p.enforced(NotEvaluated, report.Span{Line: 1},
		fmt.Sprintf("%s was not evaluated: %s. That does not mean that nothing has expired.", RegisterFile, seen),
		missing+p.wayOut()+".")
}

// wayOut is what a remedy adds where enforcement makes the finding an error.
func (p *Plan) wayOut() string {
	if !p.trust.Enforce {
		return ""
	}
	return ", or turn trustTtl.enforce off in " + policy.ConfigFile
}

func (p *Plan) judgeDate(r Row, today int64) {
	expires, dated := date(r.Expires)
	if !dated {
		seen := "is empty"
		if r.Expires != "" {
			seen = "is " + quote(r.Expires)
		}
		p.findings.Add(Undated.At(p.path(), at(r),
			fmt.Sprintf("The verified row %s has no check, and its Expires cell %s. Expected: a date as YYYY-MM-DD, and nothing else in the cell.", label(r), seen),
			"Give the row a date (YYYY-MM-DD) or a Check."))
		return
	}
	past := int(today - expires)
	grace := p.trust.GraceDays
	switch {
	case past <= 0:
	case past <= grace:
		left := grace - past + 1
		end := "it counts as expired"
		if p.trust.Enforce {
			end = "it blocks"
		}
		p.findings.Add(ExpiredInGrace.At(p.path(), at(r),
			fmt.Sprintf("The verified row %s expired on %s, %s ago; the grace period is %s.", label(r), r.Expires, plural.Of(past, "day"), plural.Of(grace, "day")),
			fmt.Sprintf("%s In %s %s.", expiredRemedy, plural.Of(left, "day"), end)))
	default:
		p.enforced(Expired, at(r),
			fmt.Sprintf("The verified row %s expired on %s, %s ago; the grace period is %s. Read it as assumed.", label(r), r.Expires, plural.Of(past, "day"), plural.Of(grace, "day")),
			expiredRemedy+" Regenerating the manifest does not help.")
	}
}

func (p *Plan) notRun(r Row) {
	severity := report.Notice
	if p.trust.Enforce {
		severity = report.Error
	}
	p.findings.Add(ChecksNotRun.As(severity, p.path(), at(r),
		fmt.Sprintf("The declared check %s of the verified row %s was not run: %s. The row was not judged.", r.Check, label(r), safetext.Clean(p.in.ChecksOff)),
		p.remedy(severity, "Let a workflow on pull_request, push or merge_group with the input checks on judge the register, or give the row a built-in check.")))
}

// outcome judges a row by how its declared check ended.
func (p *Plan) outcome(r Row, o Outcome) (report.Finding, bool) {
	var tail strings.Builder
	for _, l := range o.Output {
		if l = safetext.Clean(l); l != "" {
			// The bar keeps a line of the program from standing at the
			// beginning of a line of ours.
			tail.WriteString("\n  | " + l)
		}
	}
	out := ""
	if tail.Len() > 0 {
		out = " It printed last:" + tail.String()
	}
	switch {
	case o.TimedOut:
		return p.enforcing(CheckTimeout, at(r),
			fmt.Sprintf("The check %s of the verified row %s did not end within 120 seconds and was ended with all processes of its group.%s", r.Check, label(r), out),
			"Make the check of this row finish within 120 seconds."), true
	case o.Passed:
		return report.Finding{}, false
	}
	why := "it did not say why"
	if o.Reason != "" {
		why = clean(o.Reason, 400)
	}
	remedy := failedRemedy
	if o.NotFound && p.in.NoProgramHint != "" {
		remedy = p.in.NoProgramHint + "\n" + remedy
	}
	return p.enforcing(CheckFailed, at(r),
		fmt.Sprintf("The check %s of the verified row %s fails: %s.%s", r.Check, label(r), why, out), remedy), true
}

const (
	expiredRemedy = "Verify the fact again and reset the row's dates, or write assumed as its status, or give it a Check."
	failedRemedy  = "Mend what the check reports, or write another status than verified for this row. Regenerating the manifest does not help."
)

// enforced adds a finding that is an error under enforcement, else a warning.
func (p *Plan) enforced(r *rule.Rule, span report.Span, message, remedy string) {
	p.findings.Add(p.enforcing(r, span, message, remedy))
}

func (p *Plan) enforcing(r *rule.Rule, span report.Span, message, remedy string) report.Finding {
	severity := report.Warning
	if p.trust.Enforce {
		severity = report.Error
	}
	if severity == report.Error {
		before, edit := "", remedy
		if i := strings.LastIndexByte(remedy, '\n'); i >= 0 {
			before, edit = remedy[:i+1], remedy[i+1:]
		}
		remedy = before + report.In(safetext.Clean(p.path()), span.Line, edit)
	}
	return r.As(severity, p.path(), span, message, p.remedy(severity, remedy))
}

// remedy ends the remedy of an error in the command to run after the edit.
func (p *Plan) remedy(s report.Severity, text string) string {
	if s == report.Error {
		return report.WithFix(text, p.in.Commands.Again)
	}
	return text
}

func (p *Plan) path() string { return gate.Join(p.in.Project, RegisterFile) }

func (p *Plan) summary() string {
	s := p.census.String()
	if p.unjudged > 0 {
		s += fmt.Sprintf("; %s with a check not judged in this run", plural.Of(p.unjudged, "row"))
	}
	for _, n := range p.notes {
		s += "; " + n
	}
	return s
}

// census counts rows; it is in every summary, so that nothing is silently fine.
type census struct {
	rows, verified, checked, dated, neither, assumed, untested, other int
}

func (c *census) add(r Row) {
	c.rows++
	switch r.Status {
	case "verified":
		c.verified++
		if r.Check != "" {
			c.checked++
		} else if _, ok := date(r.Expires); ok {
			c.dated++
		} else {
			c.neither++
		}
	case "assumed":
		c.assumed++
	case "untested":
		c.untested++
	default:
		c.other++
	}
}

func (c census) String() string {
	return fmt.Sprintf("%s: %d verified (%d check-backed, %d dated, %d with neither), %d assumed, %d untested, %d other",
		plural.Of(c.rows, "row"), c.verified, c.checked, c.dated, c.neither, c.assumed, c.untested, c.other)
}

// date reads exactly YYYY-MM-DD as a number of days. The 31st of February is
// the 3rd of March, as calendar arithmetic gives it.
func date(s string) (days int64, ok bool) {
	if len(s) != len("2006-01-02") || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	n := func(from, to int) int {
		v := 0
		for _, c := range []byte(s[from:to]) {
			if c < '0' || c > '9' {
				return -1
			}
			v = v*10 + int(c-'0')
		}
		return v
	}
	y, m, d := n(0, 4), n(5, 7), n(8, 10)
	if y < 0 || m < 1 || m > 12 || d < 1 || d > 31 {
		return 0, false
	}
	return day(time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)), true
}

// day numbers the days, by UTC dates. It counts seconds and not a
// time.Duration, which ends after 292 years.
func day(t time.Time) int64 {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60)
}

func at(r Row) report.Span { return report.Span{Line: r.Line} }

// label names a row by its first cell.
func label(r Row) string {
	if s := safetext.Clean(strings.ReplaceAll(r.Label, `\|`, "|")); s != "" {
		return quoted(s)
	}
	return fmt.Sprintf("of line %d", r.Line)
}

func quote(s string) string  { return quoted(safetext.Clean(s)) }
func quoted(s string) string { return "“" + s + "”" }

// clean is safetext.Clean with a longer limit, for text of which a part is ours.
func clean(s string, limit int) string { return safetext.Cut(s, limit) }

// Findings are what Prepare found, before any declared check.
func (p *Plan) Findings() []report.Finding { return p.findings.Findings() }
