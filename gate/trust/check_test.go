package trust

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/policy"
	"github.com/handoff-gate/handoff-gate/gate/proc"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// What runs a check and what judges it know nothing of each other, but the
// outcome of the one is the outcome of the other.
var _ = Outcome(proc.Outcome{})

const (
	head = "# Trust\n\n| Property | Status | Last Verified | TTL | Expires | Check |\n|---|---|---|---|---|---|\n"
	path = "packages/api/.ai/handoff/TRUST.md"
	conf = "packages/api/aahp.config.json"
)

// good is a row that is always fine; firstRow is the line of the first row
// after head.
const (
	good     = "| Future | verified | 2026-01-01 | 7d | 2099-01-01 | - |\n"
	firstRow = 5
)

// row makes a row with the two cells that decide.
func row(status, expires, check string) string {
	return fmt.Sprintf("| Row | %s | 2026-01-01 | 7d | %s | %s |\n", status, expires, check)
}

// input is a sound input of a project in a folder, judged on 10 March 2026.
func input(register string, change ...func(*Input)) Input {
	in := Input{
		Project:   "packages/api",
		Commands:  gate.Commands{Regen: "handoff-gate manifest packages/api", Again: "handoff-gate verify packages/api"},
		Register:  gate.Document{Path: path, State: gate.Present, Data: []byte(register)},
		Applied:   policy.BuiltIn(),
		Source:    policy.FromBase,
		HeadTrust: policy.BuiltIn().Trust,
		Today:     time.Date(2026, 3, 10, 23, 59, 59, 0, time.UTC),
	}
	for _, c := range change {
		c(&in)
	}
	return in
}

func enforce(in *Input) { in.Applied.Trust.Enforce = true }

func grace(days int) func(*Input) {
	return func(in *Input) { in.Applied.Trust.GraceDays = days }
}

func declare(ids ...string) func(*Input) {
	return func(in *Input) {
		for _, id := range ids {
			in.Applied.Trust.Checks = append(in.Applied.Trust.Checks, policy.DeclaredCheck{ID: id, Run: []string{"true", id}, Reason: "r"})
		}
	}
}

func passing(policy.DeclaredCheck) Outcome { return Outcome{Passed: true} }

func failing(policy.DeclaredCheck) Outcome {
	return Outcome{Reason: "exit status 3", Output: []string{"one", "::error::two\x1b"}}
}

func slow(policy.DeclaredCheck) Outcome { return Outcome{TimedOut: true} }

func absent(policy.DeclaredCheck) Outcome {
	return Outcome{NotFound: true, Reason: "not found; looked in /usr/bin"}
}

// license sets what license-matches reads.
func license(pkg, name, text string) func(*Input) {
	return func(in *Input) {
		if pkg != "" {
			in.PackageJSON = gate.Document{State: gate.Present, Data: []byte(pkg)}
		}
		if name != "" {
			in.LicenseName = name
			in.License = gate.Document{State: gate.Present, Data: []byte(text)}
		}
	}
}

// want is the whole of what a case reports: rule, severity, path and line.
type want struct {
	rule     *rule.Rule
	severity report.Severity
	path     string
	line     int
}

// decide decides the whole layer, where run runs one declared check.
func decide(in Input, run func(policy.DeclaredCheck) Outcome) report.Layer {
	plan := Prepare(in)
	outcomes := make(map[string]Outcome, len(plan.Run))
	for _, c := range plan.Run {
		outcomes[c.ID] = run(c)
	}
	return plan.Finish(outcomes)
}

// TestCheck fires every rule of the layer in the right place, each beside a
// twin that stays silent.
func TestCheck(t *testing.T) {
	const mit = `{"license":"MIT"}`
	const mitText = "MIT License\n\nPermission is hereby   granted,\nfree of charge, to any person\n"
	onRow := func(r *rule.Rule, s report.Severity) []want { return []want{{r, s, path, firstRow}} }
	fired := map[*rule.Rule]bool{}
	for _, tc := range []struct {
		name string
		in   Input
		run  func(policy.DeclaredCheck) Outcome
		want []want
	}{
		{name: "nothing wrong", in: input(head + good)},

		// The day of Expires itself is fine; the grace period is inclusive.
		{name: "expires today", in: input(head+row("verified", "2026-03-10", "-"), enforce)},
		{name: "expired yesterday", in: input(head+row("verified", "2026-03-09", "-"), enforce), want: onRow(ExpiredInGrace, report.Warning)},
		{name: "last day of grace", in: input(head+row("verified", "2026-02-24", "-"), enforce), want: onRow(ExpiredInGrace, report.Warning)},
		{name: "first day after grace", in: input(head + row("verified", "2026-02-23", "-")), want: onRow(Expired, report.Warning)},
		{name: "first day after grace, enforced", in: input(head+row("verified", "2026-02-23", "-"), enforce), want: onRow(Expired, report.Error)},
		{name: "no grace at all", in: input(head+row("verified", "2026-03-09", "-"), enforce, grace(0)), want: onRow(Expired, report.Error)},
		{name: "no grace needed", in: input(head+row("verified", "2026-03-10", "-"), enforce, grace(0))},
		{name: "a year of grace", in: input(head+row("verified", "2025-03-10", "-"), enforce, grace(365)), want: onRow(ExpiredInGrace, report.Warning)},
		{name: "expired in the year 0", in: input(head+row("verified", "0000-01-01", "-"), enforce), want: onRow(Expired, report.Error)},
		{name: "status in capitals", in: input(head+row("VERIFIED", "2020-01-01", "-"), enforce), want: onRow(Expired, report.Error)},
		{name: "an expired row that is not verified", in: input(head+row("assumed", "2020-01-01", "-")+good, enforce)},
		{name: "an unknown check of a row that is not verified", in: input(head+row("**verified**", "2020-01-01", "rm -rf /")+good, enforce)},

		{name: "undated", in: input(head+row("verified", "2026-02-23 (EXPIRED)", "-")+good, enforce), want: onRow(Undated, report.Warning)},
		{name: "undated, empty", in: input(head+row("verified", "", "")+good, enforce), want: onRow(Undated, report.Warning)},

		{name: "register missing", in: input("", func(in *Input) { in.Register = gate.Document{} }), want: []want{{RegisterMissing, report.Warning, path, 0}}},
		{name: "register missing, enforced", in: input("", enforce, func(in *Input) { in.Register = gate.Document{} }), want: []want{{RegisterMissing, report.Error, path, 0}}},
		{
			name: "register is a link",
			in: input("", func(in *Input) {
				in.Register = gate.Document{State: gate.NotRegular, Err: errors.New("it is a symbolic link")}
			}),
			want: []want{{RegisterUnreadable, report.Error, path, 0}},
		},
		{name: "register too large", in: input("", func(in *Input) {
			in.Register = gate.Document{State: gate.TooLarge, Err: errors.New("it is larger than its limit")}
		}), want: []want{{RegisterUnreadable, report.Error, path, 0}}},
		{name: "register unreadable", in: input("", func(in *Input) {
			in.Register = gate.Document{State: gate.Unreadable, Err: errors.New("permission denied")}
		}), want: []want{{RegisterUnreadable, report.Error, path, 0}}},

		{name: "empty register", in: input(""), want: []want{{NotEvaluated, report.Warning, path, 1}}},
		{name: "no table", in: input("# Trust\n\nAll is well.\n", enforce), want: []want{{NotEvaluated, report.Error, path, 1}}},
		{name: "no status column", in: input("| Fact | Expires |\n|---|---|\n| a | 2099-01-01 |\n", enforce), want: []want{{NotEvaluated, report.Error, path, 1}}},
		{name: "all assumed", in: input(head+row("assumed", "2099-01-01", "-"), enforce), want: []want{{NotEvaluated, report.Error, path, 1}}},
		{
			name: "only undated", in: input(head+row("verified", "soon", "-"), enforce),
			want: []want{{NotEvaluated, report.Error, path, 1}, {Undated, report.Warning, path, firstRow}},
		},

		{name: "a command in the Check cell", in: input(head+row("verified", "2099-01-01", "`rm -rf /`"), enforce, declare("rm")), want: onRow(CheckIDInvalid, report.Error)},
		{name: "a name with a capital", in: input(head + row("verified", "2099-01-01", "License-matches")), want: onRow(CheckIDInvalid, report.Warning)},
		{name: "a name of 64 characters", in: input(head+row("verified", "2099-01-01", strings.Repeat("a", 64)), declare(strings.Repeat("a", 64)))},
		{name: "a name of 65 characters", in: input(head+row("verified", "2099-01-01", strings.Repeat("a", 65)), declare(strings.Repeat("a", 65))), want: onRow(CheckIDInvalid, report.Warning)},
		{name: "an unknown check", in: input(head + row("verified", "2099-01-01", "none-such")), want: onRow(CheckUnknown, report.Warning)},
		{name: "an unknown check, enforced", in: input(head+row("verified", "2099-01-01", "none-such"), enforce, declare("other")), want: onRow(CheckUnknown, report.Error)},

		{name: "a declared check passes, its date is ignored", in: input(head+row("verified", "2020-01-01", "`build`"), enforce, declare("build"))},
		{name: "a declared check fails, its date is ignored", in: input(head+row("verified", "2099-01-01", "build"), enforce, declare("build")), run: failing, want: onRow(CheckFailed, report.Error)},
		{name: "a declared check fails, not enforced", in: input(head+row("verified", "2099-01-01", "build"), declare("build")), run: failing, want: onRow(CheckFailed, report.Warning)},
		{name: "a declared check hangs", in: input(head+row("verified", "2099-01-01", "build"), enforce, declare("build")), run: slow, want: onRow(CheckTimeout, report.Error)},
		{name: "a declared check hangs, not enforced", in: input(head+row("verified", "2099-01-01", "build"), declare("build")), run: slow, want: onRow(CheckTimeout, report.Warning)},
		{name: "a program that is not there", in: input(head+row("verified", "2099-01-01", "build"), enforce, declare("build")), run: absent, want: onRow(CheckFailed, report.Error)},
		{
			name: "rows share a verdict", in: input(head+row("verified", "", "build")+row("verified", "", "build"), enforce, declare("build")), run: failing,
			want: []want{{CheckFailed, report.Error, path, firstRow}, {CheckFailed, report.Error, path, firstRow + 1}},
		},

		{
			name: "a check that only the change declares",
			in:   input(head+row("verified", "2020-01-01", "new"), enforce, func(in *Input) { in.HeadTrust.Checks = []policy.DeclaredCheck{{ID: "new"}} }),
			run:  failing, want: onRow(CheckPending, report.Warning),
		},
		{
			name: "checks are off", in: input(head+row("verified", "2020-01-01", "build"), declare("build"), func(in *Input) { in.ChecksOff = "the input checks is off" }),
			run: failing, want: onRow(ChecksNotRun, report.Notice),
		},
		{
			name: "checks are off under enforcement",
			in:   input(head+row("verified", "2020-01-01", "build"), enforce, declare("build"), func(in *Input) { in.ChecksOff = "the input checks is off" }),
			run:  failing, want: onRow(ChecksNotRun, report.Error),
		},
		{
			name: "checks are off, a built-in one is judged all the same",
			in:   input(head+row("verified", "2020-01-01", policy.ManifestIntegrity), enforce, func(in *Input) { in.ChecksOff, in.IntegrityErrors = "off", 1 }),
			want: onRow(CheckFailed, report.Error),
		},

		{name: "manifest-integrity holds", in: input(head+row("verified", "2020-01-01", policy.ManifestIntegrity), enforce)},
		{name: "manifest-integrity fails", in: input(head+row("verified", "2099-01-01", policy.ManifestIntegrity), func(in *Input) { in.IntegrityErrors = 2 }), want: onRow(CheckFailed, report.Warning)},
		{name: "license-matches holds", in: input(head+row("verified", "2020-01-01", policy.LicenseMatches), enforce, license(mit, "LICENSE", mitText))},
		{name: "license-matches fails", in: input(head+row("verified", "2099-01-01", policy.LicenseMatches), enforce, license(mit, "LICENSE", "All rights reserved.")), want: onRow(CheckFailed, report.Error)},

		{
			name: "a broken policy of the change, a sound one of the base applied",
			in: input(head+row("verified", "2020-01-01", "-"), enforce, func(in *Input) {
				in.HeadProblems = []policy.Problem{{Section: policy.TrustTTL, Span: report.Span{Line: 3}, Message: "enforce is a string"}}
			}),
			want: []want{{ConfigInvalid, report.Error, conf, 3}, {Expired, report.Error, path, firstRow}},
		},
		{
			name: "a broken policy that is the one applied: the defaults judge",
			in: input(head+row("verified", "2020-01-01", "-")+row("verified", "", "build"), enforce, declare("build"), func(in *Input) {
				in.Source = policy.FromHead
				in.HeadProblems = []policy.Problem{{Section: policy.WholeFile, Message: "no JSON"}}
			}),
			run:  failing,
			want: []want{{ConfigInvalid, report.Error, conf, 0}, {Expired, report.Warning, path, firstRow}, {CheckUnknown, report.Warning, path, firstRow + 1}},
		},
		{
			name: "a broken handoffImpact is another layer's business",
			in: input(head+good, func(in *Input) {
				in.HeadProblems = []policy.Problem{{Section: policy.HandoffImpact, Message: "x"}}
			}),
		},
		{
			name: "no base for the policy: nothing is judged, nothing runs",
			in:   input(head+row("verified", "2020-01-01", "build")+row("verified", "2020-01-01", "-"), enforce, declare("build"), func(in *Input) { in.PolicyUnavailable = true }),
			run:  failing, want: []want{{PolicyUnavailable, report.Error, conf, 0}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.run == nil {
				tc.run = passing
			}
			l := decide(tc.in, tc.run)
			var got []want
			for _, f := range l.Findings {
				w := want{severity: f.Severity, path: f.Path, line: f.Line}
				for _, r := range Rules {
					if r.ID == f.Rule {
						w.rule = r
						fired[r] = true
					}
				}
				got = append(got, w)
				sound(t, f)
			}
			if !sameSet(got, tc.want) {
				t.Errorf("got %+v", l.Findings)
			}
			if l.ID != ID || l.Summary == "" {
				t.Errorf("id %q, summary %q", l.ID, l.Summary)
			}
		})
	}
	for _, r := range Rules {
		if !fired[r] {
			t.Errorf("no case fires %s", r.ID)
		}
	}
}

func sameSet(a, b []want) bool {
	count := map[want]int{}
	for _, w := range a {
		count[w]++
	}
	for _, w := range b {
		count[w]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// sound checks what every finding must have.
func sound(t *testing.T, f report.Finding) {
	t.Helper()
	if f.Severity != report.Notice && f.Remedy == "" {
		t.Errorf("%s has no remedy", f.Rule)
	}
	if f.Severity == report.Error {
		lines := strings.Split(f.Remedy, "\n")
		if last := lines[len(lines)-1]; last != "fix: handoff-gate verify packages/api" {
			t.Errorf("the remedy of %s ends in %q", f.Rule, last)
		}
	}
	for _, r := range f.Message + f.Remedy {
		if r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf) {
			t.Errorf("%s: %q holds the control character %U", f.Rule, f.Message, r)
		}
	}
}

// TestRulesAreComplete: `rules` and `explain` print every field.
func TestRulesAreComplete(t *testing.T) {
	id := regexp.MustCompile(`^(trust|action)/[a-z]+(-[a-z]+)*$`)
	seen := map[string]bool{}
	for _, r := range Rules {
		if !id.MatchString(r.ID) || seen[r.ID] {
			t.Errorf("id %q", r.ID)
		}
		seen[r.ID] = true
		if r.Title == "" || r.Why == "" || r.Remedy == "" || r.Example == "" || r.Severity == "" {
			t.Errorf("%s lacks a field", r.ID)
		}
	}
}

// TestSummary shows the census, which no result leaves out.
func TestSummary(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   Input
		want string
	}{
		{
			"all kinds of rows",
			input(head + good + row("verified", "x", policy.ManifestIntegrity) + row("verified", "-", "-") + row("assumed", "-", "-") +
				row("untested", "-", "-") + row("untested", "-", "-") + row("planned", "-", "-")),
			"7 rows: 3 verified (1 check-backed, 1 dated, 1 with neither), 1 assumed, 2 untested, 1 other",
		},
		{
			"no table", input("words\n"),
			"0 rows: 0 verified (0 check-backed, 0 dated, 0 with neither), 0 assumed, 0 untested, 0 other; NOT EVALUATED: no trust table",
		},
		{
			"a table without rows", input(head),
			"0 rows: 0 verified (0 check-backed, 0 dated, 0 with neither), 0 assumed, 0 untested, 0 other; NOT EVALUATED: no rows",
		},
		{
			"rows, none judged", input(head + row("assumed", "2099-01-01", "-")),
			"1 row: 0 verified (0 check-backed, 0 dated, 0 with neither), 1 assumed, 0 untested, 0 other; NOT EVALUATED: no row could be judged",
		},
		{
			"no register", input("", func(in *Input) { in.Register = gate.Document{} }),
			"0 rows: 0 verified (0 check-backed, 0 dated, 0 with neither), 0 assumed, 0 untested, 0 other; NOT EVALUATED: there is no .ai/handoff/TRUST.md",
		},
		{
			"no policy", input(head+good, func(in *Input) { in.PolicyUnavailable = true }),
			"1 row: 1 verified (0 check-backed, 1 dated, 0 with neither), 0 assumed, 0 untested, 0 other; nothing was judged: the policy of the base is not available",
		},
		{
			"checks off", input(head+row("verified", "-", "build"), declare("build"), func(in *Input) { in.ChecksOff = "off" }),
			"1 row: 1 verified (1 check-backed, 0 dated, 0 with neither), 0 assumed, 0 untested, 0 other; 1 row with a check not judged in this run",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := decide(tc.in, passing).Summary; got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// TestPlan shows which checks are asked for: those that a verified row names,
// in the order of their first row, each once.
func TestPlan(t *testing.T) {
	in := input(head+row("assumed", "", "unused")+row("verified", "", "b")+row("verified", "", "a")+row("verified", "", "b")+row("verified", "", policy.ManifestIntegrity),
		declare("unused", "a", "b", policy.ManifestIntegrity))
	plan := Prepare(in)
	var ids []string
	for _, c := range plan.Run {
		ids = append(ids, c.ID)
		if want := []string{"true", c.ID}; !reflect.DeepEqual(c.Run, want) {
			t.Errorf("argv %q, want %q", c.Run, want)
		}
	}
	if want := []string{"b", "a"}; !reflect.DeepEqual(ids, want) {
		t.Errorf("planned %q, want %q", ids, want)
	}
	// An outcome that never came is no pass, and Finish may be asked again.
	for range 2 {
		l := plan.Finish(map[string]Outcome{"b": {Passed: true}})
		if len(l.Findings) != 1 || l.Findings[0].Rule != CheckFailed.ID || l.Findings[0].Line != firstRow+2 {
			t.Errorf("without the outcome of a: %+v", l.Findings)
		}
	}
}

// TestMessages shows the words for outcomes of checks, where outside text
// stands among ours.
func TestMessages(t *testing.T) {
	in := input(head+row("verified", "", "build")+row("verified", "", "build"), declare("build"))
	in.NoProgramHint = "The image holds no shell."
	l := decide(in, failing)
	if got, want := l.Findings[0].Message, "The check build of the verified row “Row” fails: exit status 3. It printed last:\n  | one\n  | ::error::two"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got, want := l.Findings[1].Message, "The check build of the verified row “Row” fails: exit status 3. It printed last:\n  | (see the row on line 5)"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if strings.Contains(l.Findings[0].Remedy, "shell") {
		t.Error("the hint belongs to a program that was not found")
	}
	if l = decide(in, absent); !strings.HasPrefix(l.Findings[0].Remedy, "The image holds no shell.\n") {
		t.Errorf("remedy %q", l.Findings[0].Remedy)
	}
	in = input(head + "| \u202eEvil\x1b[31m \\| name | verified | - | - | " + strings.Repeat("x", 500) + " | - |\n")
	for _, f := range decide(in, passing).Findings {
		sound(t, f)
		if len(f.Message) > 600 {
			t.Errorf("%d bytes: %s", len(f.Message), f.Message)
		}
	}
	in = input(head+good, func(in *Input) { in.PolicyUnavailable, in.PolicyErr = true, errors.New("fatal: missing blob\x1b.\n") })
	if f := decide(in, passing).Findings[0]; !strings.Contains(f.Message, "could not be read there: fatal: missing blob. No row") {
		t.Errorf("%q", f.Message)
	}
	in = input(head+row("verified", "2026-03-01", "-"), enforce)
	if f := decide(in, passing).Findings[0]; !strings.Contains(f.Message, "9 days ago") || !strings.Contains(f.Remedy, "In 6 days it blocks.") {
		t.Errorf("%q, %q", f.Message, f.Remedy)
	}
}

func TestDate(t *testing.T) {
	for text, ok := range map[string]bool{
		"2026-02-23": true, "2026-02-31": true, "0000-01-01": true, "9999-12-31": true,
		"2026-13-01": false, "2026-00-10": false, "2026-01-32": false, "2026-01-00": false, "2026-1-1": false, "26-01-01": false,
		"2026/01/01": false, "2026-01-01T00:00:00Z": false, "+026-01-01": false, "２026-01-01": false, "2026-01-0 ": false, "": false, "-": false,
	} {
		if _, got := date(text); got != ok {
			t.Errorf("%q is a date: %v, want %v", text, got, ok)
		}
	}
	a, _ := date("2026-02-31")
	if b, _ := date("2026-03-03"); a != b {
		t.Errorf("31 February is day %d, 3 March is %d", a, b)
	}
	a, _ = date("0000-01-01")
	if b, _ := date("9999-12-31"); b-a != 3652424 {
		t.Errorf("the years 0 to 9999 have %d days", b-a+1)
	}
}

// TestLicenseMatches goes through the table of texts, each license with a text
// that fits and the texts that must not be taken for it.
func TestLicenseMatches(t *testing.T) {
	const (
		bsd2  = "Redistribution and use in source and binary forms, with or without modification\n"
		bsd3  = bsd2 + "Neither the name of the copyright holder\n"
		gpl2  = "   GNU GENERAL PUBLIC LICENSE\n   Version 2, June 1991\n use the GNU Lesser General Public License instead\n"
		gpl3  = "\tGNU GENERAL PUBLIC LICENSE\r\n\tVersion 3, 29 June 2007\r\n 13. Use with the GNU Affero General Public License.\r\n"
		lgpl3 = "GNU LESSER GENERAL PUBLIC LICENSE\nVersion 3, 29 June 2007\n version 3 of the GNU General Public License\n"
		agpl3 = "GNU AFFERO GENERAL PUBLIC LICENSE\nVersion 3, 19 November 2007\n the GNU General Public License\n"
		apch  = "Apache License\n Version 2.0, January 2004\n"
		mpl   = "Mozilla Public License Version 2.0\n"
		isc   = "Permission to use, copy, modify, and/or distribute this software for any purpose\n"
		mit   = "PERMISSION IS HEREBY GRANTED, FREE\n\n OF CHARGE, to any person\n"
		un    = "This is free and unencumbered software released into the public domain.\n"
	)
	texts := map[string]string{"bsd2": bsd2, "bsd3": bsd3, "gpl2": gpl2, "gpl3": gpl3, "lgpl3": lgpl3, "agpl3": agpl3, "apache": apch, "mpl": mpl, "isc": isc, "mit": mit, "unlicense": un}
	fits := map[string]string{
		"MIT": "mit", "Apache-2.0": "apache", "ISC": "isc", "BSD-2-Clause": "bsd2", "BSD-3-Clause": "bsd3", "MPL-2.0": "mpl", "Unlicense": "unlicense",
		"GPL-2.0": "gpl2", "GPL-2.0-only": "gpl2", "GPL-2.0-or-later": "gpl2", "GPL-3.0": "gpl3", "GPL-3.0-only": "gpl3", "GPL-3.0-or-later": "gpl3",
		"LGPL-3.0": "lgpl3", "LGPL-3.0-only": "lgpl3", "LGPL-3.0-or-later": "lgpl3", "AGPL-3.0": "agpl3", "AGPL-3.0-only": "agpl3", "AGPL-3.0-or-later": "agpl3",
	}
	if len(fits) != len(licenseTexts) {
		t.Errorf("%d licenses have a text here, %d are known", len(fits), len(licenseTexts))
	}
	for id, fit := range fits {
		for name, text := range texts {
			why, ok := licenseMatches(input("", license(`{"license":"`+id+`"}`, "LICENSE", text)))
			if ok != (name == fit) || !ok && why == "" {
				t.Errorf("%s with the text %s: %v (%s)", id, name, ok, why)
			}
		}
	}
	for _, tc := range []struct {
		name   string
		change func(*Input)
		why    string
	}{
		{"no package.json", license("", "LICENSE", mit), "no package.json"},
		{"package.json is a link", func(in *Input) {
			in.PackageJSON = gate.Document{State: gate.NotRegular, Err: errors.New("it is a symbolic link")}
		}, "symbolic link"},
		{"package.json is no JSON", license("{", "LICENSE", mit), "ends too early"},
		{"license twice", license(`{"license":"ISC","license":"MIT"}`, "LICENSE", mit), "same key twice"},
		{"package.json is a list", license(`["MIT"]`, "LICENSE", mit), "declares no license"},
		{"no license", license(`{}`, "LICENSE", mit), "declares no license"},
		{"license is an object", license(`{"license":{"type":"MIT"}}`, "LICENSE", mit), "kind object"},
		{"license is not in the list", license(`{"license":"SEE LICENSE IN LICENSE"}`, "LICENSE", mit), "“SEE LICENSE IN LICENSE”"},
		{"license in another case", license(`{"license":"mit"}`, "LICENSE", mit), "“mit”"},
		{"no license file", license(`{"license":"MIT"}`, "", ""), "none of LICENSE, LICENSE.md"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			why, ok := licenseMatches(input("", tc.change))
			if ok || !strings.Contains(why, tc.why) {
				t.Errorf("ok %v, why %q, want one with %q", ok, why, tc.why)
			}
		})
	}
	in := input("", license(`{"license":"MIT"}`, "", ""))
	in.LicenseName, in.License = "LICENCE", gate.Document{State: gate.NotRegular, Err: errors.New("it is a link out of the repository")}
	if why, ok := licenseMatches(in); ok || why != "LICENCE cannot be read: it is a link out of the repository" {
		t.Errorf("ok %v, why %q", ok, why)
	}
}

// Who has not turned enforcement on is not told to turn it off, and who has a table not
// to make one.
func TestRemedyOfARegisterWithoutJudgedRows(t *testing.T) {
	table := head + row("assumed", "2099-01-01", "-")
	for _, tt := range []struct {
		name, register, want string
		enforce              bool
	}{
		{"no table", "# Trust\n", "Give it a table with the columns Status and Expires or Check, and verify at least one row.", false},
		{"a table", table, "Give one row at least the status verified and a date in Expires or a check in Check.", false},
		{"a table, enforced", table, "In packages/api/.ai/handoff/TRUST.md, line 1: give one row at least the status verified and a date in Expires or a check in Check, or turn trustTtl.enforce off in aahp.config.json.\nfix: ", true},
	} {
		in := input(tt.register)
		if tt.enforce {
			enforce(&in)
		}
		findings := Prepare(in).Finish(nil).Findings
		if len(findings) != 1 || !strings.HasPrefix(findings[0].Remedy, tt.want) || !tt.enforce && findings[0].Remedy != tt.want {
			t.Errorf("%s: %+v", tt.name, findings)
		}
	}
}

// What needs an edit is named with its place in the line before the command.
func TestRemedyOfARowNamesItsPlace(t *testing.T) {
	in := input(head + row("verified", "2000-01-01", "-"))
	enforce(&in)
	findings := Prepare(in).Finish(nil).Findings
	if len(findings) != 1 || findings[0].Rule != "trust/expired" {
		t.Fatalf("%+v", findings)
	}
	want := fmt.Sprintf("In packages/api/.ai/handoff/TRUST.md, line %d: verify the fact again", findings[0].Line)
	if !strings.HasPrefix(findings[0].Remedy, want) || !strings.Contains(findings[0].Remedy, "\nfix: ") {
		t.Errorf("%q does not begin with %q and end in a command", findings[0].Remedy, want)
	}
}

// The place stands before each advice, so none may read as if something else were to be
// edited there.
func TestRemedyThatIsNoEditOfTheRow(t *testing.T) {
	const file = "In packages/api/.ai/handoff/TRUST.md"
	timedOut := func(policy.DeclaredCheck) Outcome { return Outcome{TimedOut: true} }
	for _, tt := range []struct {
		name string
		in   Input
		run  func(policy.DeclaredCheck) Outcome
		want string
	}{
		{
			"another layer's findings", input(head+row("verified", "-", policy.ManifestIntegrity), enforce, func(in *Input) { in.IntegrityErrors = 1 }), passing,
			file + ", line 5: the row needs no edit; mend what the layer integrity reports.\n",
		},
		{
			"a check that takes too long", input(head+row("verified", "-", "build"), enforce, declare("build")), timedOut,
			file + ", line 5: make the check of this row finish within 120 seconds.\n",
		},
		{
			"no register", input("", enforce, func(in *Input) { in.Register = gate.Document{} }), passing,
			file + ": write the register, with a table that has the columns Status and Expires or Check, or turn ",
		},
	} {
		findings := decide(tt.in, tt.run).Findings
		if len(findings) != 1 || !strings.HasPrefix(findings[0].Remedy, tt.want) {
			t.Errorf("%s: %+v\nwant %s", tt.name, findings, tt.want)
		}
	}
}
