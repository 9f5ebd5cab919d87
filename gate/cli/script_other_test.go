//go:build !unix

package cli_test

import "github.com/rogpeppe/go-internal/testscript"

func fifo(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("this system has no named pipes: begin the script with [!unix] skip")
}
