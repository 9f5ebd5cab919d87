package cli_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/handoff-gate/handoff-gate/gate/cli"
	"github.com/handoff-gate/handoff-gate/gate/integrity"
	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// now is the clock of every script.
const now = "2026-11-30T12:00:00Z"

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"handoff-gate": func() {
			os.Exit(cli.Run(context.Background(), os.Args[1:], cli.Process{
				Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(), Version: "0.0.0-test",
			}))
		},
	})
}

// TestScripts runs testdata/script: the command line as people use it. Each
// script is a repository and what the gate says of it. Beyond testscript's own
// commands there are
//
//	handoff [DIR]       writes a sound handoff set, without its manifest
//	manifest [DIR]      writes the manifest that fits the handoff files
//	commit MESSAGE      stages everything and commits it
//	head NAME           sets the variable NAME to the id of HEAD
//	gate ARGS           runs the program twice, wants the same report from both,
//	                    valid against its schema, and exit status 0; lists
//	                    layers and findings, a line each, for stdout to match
//	! gate ARGS         the same with exit status 1
//	unusable ARGS       wants exit status 2 and no report
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "testdata", "script"),
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			for _, kv := range gittest.Environ() {
				if strings.HasPrefix(kv, "GIT_") {
					e.Vars = append(e.Vars, kv)
				}
			}
			e.Vars = append(e.Vars, "NOW="+now)
			return os.Remove(filepath.Join(e.WorkDir, ".tmp-none"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"handoff": handoff, "manifest": manifest, "commit": commit, "head": head, "gate": gateCommand, "unusable": unusable,
		},
	})
}

func folder(ts *testscript.TestScript, args []string) string {
	if len(args) > 1 {
		ts.Fatalf("at most one folder")
	}
	dir := "."
	if len(args) == 1 {
		dir = args[0]
	}
	return filepath.Join(ts.MkAbs(dir), ".ai", "handoff")
}

func handoff(ts *testscript.TestScript, _ bool, args []string) {
	dir := folder(ts, args)
	ts.Check(os.MkdirAll(dir, 0o755))
	for name, text := range map[string]string{
		"STATUS.md":       "# Status\n\nThe project builds.\n",
		"NEXT_ACTIONS.md": "# Next actions\n\nNothing is open.\n",
		"LOG.md":          "# Log\n\n## 2026-11-01 Start\n\nSet up.\n",
		"TRUST.md":        "# Trust\n\n| Property | Status | Expires | Check |\n|---|---|---|---|\n| Builds | verified | 2099-01-01 | - |\n",
	} {
		file := filepath.Join(dir, name)
		if _, err := os.Lstat(file); err == nil {
			continue // the script brings its own
		}
		ts.Check(os.WriteFile(file, []byte(text), 0o644))
	}
}

func manifest(ts *testscript.TestScript, _ bool, args []string) {
	dir := folder(ts, args)
	files := map[string]any{}
	for _, name := range integrity.Canonical {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		sum := sha256.Sum256(bytes.ReplaceAll(data, []byte("\r"), nil))
		files[name] = map[string]any{
			"checksum": fmt.Sprintf("sha256:%x", sum), "updated": "2026-11-01T00:00:00Z", "lines": bytes.Count(data, []byte("\n")), "summary": "A file.",
		}
	}
	id := "unknown"
	if out, err := gitOutput(ts, "rev-parse", "-q", "--verify", "HEAD"); err == nil {
		id = out
	}
	text, err := json.MarshalIndent(map[string]any{
		"aahp_version": "3.0", "project": "sample", "files": files, "quick_context": "A sample.",
		"last_session": map[string]any{"agent": "sample", "timestamp": "2026-11-01T00:00:00Z", "commit": id, "phase": "idle"},
	}, "", "  ")
	ts.Check(err)
	ts.Check(os.WriteFile(filepath.Join(dir, "MANIFEST.json"), append(text, '\n'), 0o644))
}

func gitOutput(ts *testscript.TestScript, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), gittest.Environ()
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

func commit(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(ts.Exec("git", "add", "-A"))
	ts.Check(ts.Exec("git", "commit", "-q", "--allow-empty", "-m", strings.Join(args, " ")))
}

func head(ts *testscript.TestScript, _ bool, args []string) {
	id, err := gitOutput(ts, "rev-parse", "HEAD")
	ts.Check(err)
	ts.Setenv(args[0], id)
}

func run(ts *testscript.TestScript, args []string) (status int, stdout string) {
	err := ts.Exec("handoff-gate", args...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		status = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	return status, ts.ReadFile("stdout")
}

func gateCommand(ts *testscript.TestScript, neg bool, args []string) {
	file := filepath.Join(ts.Getenv("WORK"), ".tmp-report.json")
	args = append(args, "--format", "json", "--report", file)
	if !strings.Contains(strings.Join(args, " "), "--now") {
		args = append(args, "--now", now)
	}
	want := 0
	if neg {
		want = 1
	}
	status, first := run(ts, args)
	list := listing(ts, first)
	fmt.Fprint(ts.Stdout(), list)
	if status != want {
		ts.Fatalf("exit status %d, want %d\n%s", status, want, list)
	}
	if written := ts.ReadFile(file); written != first {
		ts.Fatalf("--report wrote another report than standard output has")
	}
	if _, second := run(ts, args); second != first {
		ts.Fatalf("two runs differ:\n%s\n%s", first, second)
	}
	fmt.Fprint(ts.Stdout(), list)
	ts.Check(os.Remove(file))
	ts.Check(validReport([]byte(first)))
}

// listing shows a report as lines: "layer ID STATUS: SUMMARY", then
// "SEVERITY RULE PATH:LINE:COLUMN: MESSAGE".
func listing(ts *testscript.TestScript, text string) string {
	var r report.Report
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		ts.Fatalf("standard output is no report: %v\n%s", err, text)
	}
	var b strings.Builder
	for _, p := range r.Projects {
		for _, l := range p.Layers {
			fmt.Fprintf(&b, "layer %s %s: %s\n", l.ID, l.Status, l.Summary)
			for _, f := range l.Findings {
				fmt.Fprintf(&b, "%s %s %s", f.Severity, f.Rule, f.Path)
				if f.Line > 0 {
					fmt.Fprintf(&b, ":%d", f.Line)
				}
				if f.Column > 0 {
					fmt.Fprintf(&b, ":%d", f.Column)
				}
				fmt.Fprintf(&b, ": %s\n", strings.ReplaceAll(f.Message, "\n", " / "))
			}
		}
	}
	fmt.Fprintf(&b, "verdict %s\n", r.Verdict)
	return b.String()
}

func unusable(ts *testscript.TestScript, _ bool, args []string) {
	file := filepath.Join(ts.Getenv("WORK"), ".tmp-report.json")
	status, _ := run(ts, append(args, "--report", file))
	if status != 2 {
		ts.Fatalf("exit status %d, want 2", status)
	}
	if _, err := os.Stat(file); err == nil {
		ts.Fatalf("a report was written")
	}
}
