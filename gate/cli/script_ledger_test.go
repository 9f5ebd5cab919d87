package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/schema"
)

// ledgerCommands are for scripts about claims.
//
//	once ARGS         as gate, but the program is run once: what it does changes
//	                  what the next run finds. The listing begins with "decision
//	                  DECISION STATE ledger LEDGER epoch N", and "reason CODE STATE"
//	                  for each reason in order
//	! once ARGS       the same with exit status 1
//	member FILE KEY NAME TEXT
//	                  wants the member NAME of the entry KEY of a ledger file to be
//	                  that JSON; "-" wants that there is none
//	mode FILE OCTAL   wants the file to have those permissions, where there are any
var ledgerCommands = map[string]func(*testscript.TestScript, bool, []string){"once": once, "member": entryMember, "mode": fileMode}

func once(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("once needs a command")
	}
	file := reportFile(ts)
	args = slices.Concat(args, []string{"--format", "json", "--report", file})
	if !slices.Contains(args, "--now") {
		args = append(args, "--now", now)
	}
	status, first, stderr := run(ts, args)
	var r report.Report
	if err := json.Unmarshal([]byte(first), &r); err != nil {
		ts.Fatalf("exit status %d, and standard output is no report: %v\n%s%s", status, err, first, stderr)
	}
	if written := ts.ReadFile(file); written != first {
		ts.Fatalf("--report wrote another report than standard output has")
	}
	if strings.Contains(first, ts.Getenv("WORK")) {
		ts.Fatalf("the report names a folder of this machine:\n%s", first)
	}
	ts.Check(schema.Check(schema.Report, []byte(first)))
	ts.Check(coherent(&r, status))
	var b strings.Builder
	for _, p := range r.Projects {
		d := p.Packet
		fmt.Fprintf(&b, "decision %s %s ledger %s", d.Decision, d.State, d.Ledger)
		if d.Claim != nil {
			fmt.Fprintf(&b, " epoch %d", d.Claim.Epoch)
		}
		fmt.Fprintln(&b)
		for _, reason := range d.Reasons {
			fmt.Fprintf(&b, "reason %s %s\n", reason.Code, reason.State)
		}
	}
	b.WriteString(listing(&r))
	wanted := 0
	if neg {
		wanted = 1
	}
	if status != wanted {
		ts.Fatalf("exit status %d, want %d\n%s%s", status, wanted, b.String(), stderr)
	}
	fmt.Fprint(ts.Stdout(), b.String())
	fmt.Fprint(ts.Stderr(), stderr)
}

func entryMember(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 4, 4)
	var entries map[string]map[string]json.RawMessage
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &entries))
	got, there := entries[args[1]][args[2]]
	if args[3] == "-" && there || args[3] != "-" && string(got) != args[3] {
		ts.Fatalf("%s of %s is %s, want %s", args[2], args[1], got, args[3])
	}
}

func fileMode(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, 2)
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := strconv.FormatUint(uint64(info.Mode().Perm()), 8); runtime.GOOS != "windows" && got != args[1] {
		ts.Fatalf("%s has mode %s, want %s", args[0], got, args[1])
	}
}
