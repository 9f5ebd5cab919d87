// Command handoff-gate verifies the files by which AI agents hand work to each
// other in a repository.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/handoff-gate/handoff-gate/gate/cli"
)

// The linker sets these for a release: -X main.version=… -X main.commit=….
var (
	version = "0.1.0"
	commit  = ""
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	program, _ := os.Executable() // "" where the system does not tell
	status := cli.Run(ctx, os.Args[1:], cli.Process{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(), Program: program, Version: version, Commit: commit,
	})
	stop()
	os.Exit(status)
}
