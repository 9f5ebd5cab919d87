package cli_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/handoff-gate/handoff-gate/schema"
)

// governanceCommands are for scripts about check and doctor.
//
//	gates ARGS      runs check or doctor with --json, wants a record that is valid
//	                against its schema and exit status 0, and prints it for stdout
//	                to match; with ! an exit status of 1
var governanceCommands = map[string]func(*testscript.TestScript, bool, []string){"gates": gates}

func gates(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("gates needs a command")
	}
	args = slices.Insert(args, 1, "--json", "--format", "sarif")
	if !slices.Contains(args, "--now") {
		args = append(args, "--now", now)
	}
	status, stdout, stderr := run(ts, args)
	if wanted := map[bool]int{false: 0, true: 1}[neg]; status != wanted {
		ts.Fatalf("exit status %d, want %d\n%s%s", status, wanted, stdout, stderr)
	}
	ts.Check(schema.Check(schema.Record, []byte(stdout)))
	if strings.Contains(stdout, ts.Getenv("WORK")) {
		ts.Fatalf("the record names a folder of this machine:\n%s", stdout)
	}
	fmt.Fprint(ts.Stdout(), stdout)
}
