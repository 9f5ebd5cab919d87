//go:build unix

package cli_test

import (
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

func fifo(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, 1)
	ts.Check(unix.Mkfifo(ts.MkAbs(args[0]), 0o644))
}
