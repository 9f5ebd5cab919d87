// Command handoff-gate verifies the files by which AI agents hand work to each
// other in a repository.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
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
	if commit == "" {
		commit = builtFrom()
	}
	status := cli.Run(ctx, os.Args[1:], cli.Process{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(), Program: program, Version: version, Commit: commit,
	})
	stop()
	os.Exit(status)
}

// builtFrom is the commit that `go install` and `go build` note of themselves in a clone
// without changes; "" where they note none.
func builtFrom() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if settings["vcs"] != "git" || settings["vcs.modified"] != "false" {
		return ""
	}
	return settings["vcs.revision"]
}
