package cli_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/handoff-gate/handoff-gate/gate/catalog"
	"github.com/handoff-gate/handoff-gate/gate/cli"
	"github.com/handoff-gate/handoff-gate/gate/integrity"
	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/schema"
)

// now is the clock of every script.
const now = "2026-11-30T12:00:00Z"

// checkTimeout names a variable by which a script makes declared checks end
// sooner than after the two minutes of the product.
const checkTimeout = "SCRIPT_CHECK_TIMEOUT"

var scripts = filepath.Join("..", "..", "testdata", "script")

func TestMain(m *testing.M) {
	testscript.Main(clearing{m}, map[string]func(){
		"handoff-gate": func() {
			limit, _ := time.ParseDuration(os.Getenv(checkTimeout)) // 0, the product's own, when unset
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			// Not os.Executable: this is the test, which is the program by its name only.
			program, _ := exec.LookPath(os.Args[0])
			status := cli.Run(ctx, os.Args[1:], cli.Process{
				Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(), Program: program, Version: "0.0.0-test", CheckTimeout: limit,
				BeforeChange: killer(),
			})
			stop()
			os.Exit(status)
		},
	})
}

// TestScripts runs testdata/script: the command line as people use it. Each
// script is a repository and what the gate says of it. Beyond testscript's own
// commands there are
//
//	repo [DIR]          makes a repository with a sound handoff set in two
//	                    commits, the second with the manifest, and sets the
//	                    variable BASE to the id of the second
//	handoff [DIR]       writes a sound handoff set, without its manifest; files
//	                    that are there stay
//	manifest [DIR]      writes the manifest that fits the handoff files
//	note [DIR]          adds a line to STATUS.md and rewrites the manifest: what
//	                    an honest change does
//	commit MESSAGE      stages everything and commits it
//	head NAME           sets the variable NAME to the id of HEAD
//	id NAME REV [N]     sets the variable NAME to the id of REV, or to its first N
//	                    digits
//	restore             brings the work tree back to the commit $BASE
//	write FILE TEXT     writes a file; \n, \r, \t, \xHH and \\ in both arguments
//	                    mean what they mean in Go
//	append FILE TEXT    adds to a file, escapes as above
//	edit FILE OLD NEW   replaces a text that is in the file exactly once
//	grow FILE SIZE      makes a file that many bytes long, with a hole
//	fifo FILE           makes a named pipe
//	gate ARGS           runs the program twice (once with -short), wants the same
//	                    report from both, valid against its schema, and exit
//	                    status 0; lists layers and findings, a line each, for
//	                    stdout to match
//	! gate ARGS         the same with exit status 1
//	unusable ARGS       wants exit status 2 and no report
//	status N ARGS       runs a command that makes no report and wants exit status N
//
// and those of contentCommands, actionCommands, installCommands, sessionCommands, packetCommands,
// ledgerCommands and governanceCommands.
func TestScripts(t *testing.T) {
	processesOnly(t)
	testscript.Run(t, testscript.Params{
		Dir:                 scripts,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			for _, kv := range gittest.Environ() {
				if strings.HasPrefix(kv, "GIT_") {
					e.Vars = append(e.Vars, kv)
				}
			}
			e.Vars = append(e.Vars, "NOW="+now)
			return nil
		},
		Cmds: commands(contentCommands, actionCommands, installCommands, sessionCommands, packetCommands, ledgerCommands, governanceCommands, map[string]func(*testscript.TestScript, bool, []string){
			"repo": repo, "handoff": handoff, "manifest": manifest, "note": note, "commit": commit, "head": head, "id": id, "restore": restore,
			"write": write, "append": appendTo, "edit": edit, "grow": grow, "fifo": fifo,
			"gate": gateCommand, "unusable": unusable, "status": status,
		}),
	})
}

// commands puts the command tables of several files together.
func commands(tables ...map[string]func(*testscript.TestScript, bool, []string)) map[string]func(*testscript.TestScript, bool, []string) {
	all := map[string]func(*testscript.TestScript, bool, []string){}
	for _, t := range tables {
		maps.Copy(all, t)
	}
	return all
}

// want holds a command of a script to its number of arguments.
func want(ts *testscript.TestScript, neg bool, args []string, least, most int) {
	if neg {
		ts.Fatalf("this command has no opposite")
	}
	if len(args) < least || len(args) > most {
		ts.Fatalf("%d arguments, want %d to %d", len(args), least, most)
	}
}

func folder(ts *testscript.TestScript, neg bool, args []string) string {
	want(ts, neg, args, 0, 1)
	dir := "."
	if len(args) == 1 {
		dir = args[0]
	}
	return filepath.Join(ts.MkAbs(dir), ".ai", "handoff")
}

func repo(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 0, 1)
	back := ts.MkAbs(".")
	if len(args) == 1 {
		ts.Check(os.MkdirAll(ts.MkAbs(args[0]), 0o755))
		ts.Check(ts.Chdir(args[0]))
	}
	ts.Check(ts.Exec("git", "init", "-q", "-b", "main"))
	handoff(ts, false, nil)
	commit(ts, false, []string{"Start"})
	manifest(ts, false, nil)
	commit(ts, false, []string{"Manifest"})
	head(ts, false, []string{"BASE"})
	ts.Check(ts.Chdir(back))
}

func handoff(ts *testscript.TestScript, neg bool, args []string) {
	dir := folder(ts, neg, args)
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

func manifest(ts *testscript.TestScript, neg bool, args []string) {
	dir := folder(ts, neg, args)
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

func note(ts *testscript.TestScript, neg bool, args []string) {
	status := filepath.Join(folder(ts, neg, args), "STATUS.md")
	data, err := os.ReadFile(status)
	ts.Check(err)
	ts.Check(os.WriteFile(status, append(data, "\nOne more change.\n"...), 0o644))
	manifest(ts, false, args)
}

func gitOutput(ts *testscript.TestScript, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), gittest.Environ()
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

func commit(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, 100)
	ts.Check(ts.Exec("git", "add", "-A"))
	ts.Check(ts.Exec("git", "commit", "-q", "--no-verify", "--allow-empty", "-m", strings.Join(args, " ")))
}

func head(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, 1)
	id, err := gitOutput(ts, "rev-parse", "HEAD")
	ts.Check(err)
	ts.Setenv(args[0], id)
}

func id(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, 3)
	digits, err := gitOutput(ts, "rev-parse", "--verify", args[1])
	ts.Check(err)
	if len(args) == 3 {
		n, err := strconv.Atoi(args[2])
		ts.Check(err)
		digits = digits[:n]
	}
	ts.Setenv(args[0], digits)
}

func restore(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 0, 0)
	// The index first and then what it does not name: git would write through a
	// link that stands where a folder of the commit belongs.
	ts.Check(ts.Exec("git", "reset", "-q", ts.Getenv("BASE")))
	ts.Check(ts.Exec("git", "clean", "-q", "-ffdx", "-e", ".tmp"))
	ts.Check(ts.Exec("git", "reset", "-q", "--hard", ts.Getenv("BASE")))
}

// unescape reads the escapes of a text. A double quote stays as it is.
func unescape(ts *testscript.TestScript, s string) string {
	out, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
	if err != nil {
		ts.Fatalf("%q: %v", s, err)
	}
	return out
}

func write(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, 2)
	file := ts.MkAbs(unescape(ts, args[0]))
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o755))
	ts.Check(os.WriteFile(file, []byte(unescape(ts, args[1])), 0o644))
}

func appendTo(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, 2)
	file := ts.MkAbs(unescape(ts, args[0]))
	data, err := os.ReadFile(file)
	ts.Check(err)
	ts.Check(os.WriteFile(file, append(data, unescape(ts, args[1])...), 0o644))
}

func edit(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 3, 3)
	file, from, to := ts.MkAbs(args[0]), unescape(ts, args[1]), unescape(ts, args[2])
	data, err := os.ReadFile(file)
	ts.Check(err)
	if n := bytes.Count(data, []byte(from)); n != 1 {
		ts.Fatalf("%s holds %q %d times", args[0], from, n)
	}
	ts.Check(os.WriteFile(file, bytes.Replace(data, []byte(from), []byte(to), 1), 0o644))
}

func grow(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, 2)
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), size))
}

func run(ts *testscript.TestScript, args []string) (status int, stdout, stderr string) {
	err := ts.Exec("handoff-gate", args...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		status = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	return status, ts.ReadFile("stdout"), ts.ReadFile("stderr")
}

// reportFile is outside of the script's folder, which may be the repository
// under test.
func reportFile(ts *testscript.TestScript) string {
	dir, err := os.MkdirTemp("", "handoff-gate-script-*")
	ts.Check(err)
	ts.Defer(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "report.json")
}

func gateCommand(ts *testscript.TestScript, neg bool, args []string) {
	r, stderr := judged(ts, neg, args)
	fmt.Fprint(ts.Stdout(), listing(r))
	fmt.Fprint(ts.Stderr(), stderr)
}

// judged runs the program for a report, and holds that report to all that is
// true of each.
func judged(ts *testscript.TestScript, failing bool, args []string) (*report.Report, string) {
	if len(args) == 0 {
		ts.Fatalf("gate needs a command")
	}
	plain := slices.Clone(args)
	file := reportFile(ts)
	flags := []string{"--format", "json", "--report", file}
	if !slices.Contains(args, "--now") {
		flags = append(flags, "--now", now)
	}
	args = slices.Insert(args, ahead(args), flags...)
	wanted := 0
	if failing {
		wanted = 1
	}
	status, first, stderr := run(ts, args)
	var r report.Report
	if err := json.Unmarshal([]byte(first), &r); err != nil {
		ts.Fatalf("exit status %d, and standard output is no report: %v\n%s%s", status, err, first, stderr)
	}
	if status != wanted {
		ts.Fatalf("exit status %d, want %d\n%s", status, wanted, listing(&r))
	}
	if written := ts.ReadFile(file); written != first {
		ts.Fatalf("--report wrote another report than standard output has")
	}
	if !testing.Short() {
		if _, second, _ := run(ts, args); second != first {
			ts.Fatalf("two runs differ:\n%s\n%s", first, second)
		}
	}
	if strings.Contains(first, ts.Getenv("WORK")) {
		ts.Fatalf("the report names a folder of this machine:\n%s", first)
	}
	ts.Check(schema.Check(schema.Report, []byte(first)))
	ts.Check(coherent(&r, status))
	if args[0] == "verify" || args[0] == "lint" {
		mends(ts, plain, &r)
	}
	return &r, stderr
}

// ahead is where flags can stand: behind the command, or the command below it.
func ahead(args []string) int {
	if slices.Contains([]string{"packet", "session", "install"}, args[0]) && len(args) > 1 {
		return 2
	}
	return 1
}

// coherent holds a report to what its schema cannot say: that its parts fit
// each other, the rule table and the exit status (interface.md).
func coherent(r *report.Report, status int) error {
	if failed := r.Verdict == report.Fail; failed != (status == 1) || failed != (r.Count().Errors > 0) {
		return fmt.Errorf("verdict %s, exit status %d, %d errors", r.Verdict, status, r.Count().Errors)
	}
	for _, p := range r.Projects {
		for _, l := range p.Layers {
			again := l
			again.Findings = slices.Clone(l.Findings)
			again.Settle()
			if again.Status != l.Status || !slices.Equal(again.Findings, l.Findings) {
				return fmt.Errorf("layer %s has status %s or an order that does not follow from its findings", l.ID, l.Status)
			}
			for _, f := range l.Findings {
				if err := sound(f); err != nil {
					return fmt.Errorf("finding %s on %s: %w", f.Rule, f.Path, err)
				}
			}
		}
	}
	return nil
}

func sound(f report.Finding) error {
	known := catalog.Find(f.Rule)
	_, last, _ := strings.Cut(f.Remedy, "\nfix: ")
	switch {
	case known == nil:
		return errors.New("the rule is not in the table")
	case f.Severity != known.Severity && known.Varies == "":
		return fmt.Errorf("severity %s, the table says %s", f.Severity, known.Severity)
	case f.Path == "" || strings.HasPrefix(f.Path, "/") || strings.HasPrefix(f.Path, "../"):
		return errors.New("the path is not one below the top level")
	case f.Severity != report.Notice && f.Remedy == "":
		return errors.New("it has no remedy")
	case f.Severity == report.Error && (last == "" || strings.Contains(last, "\n")):
		return fmt.Errorf("the remedy does not end in a command: %q", f.Remedy)
	}
	for _, text := range []string{f.Message, f.Remedy} {
		if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) }); i >= 0 {
			return fmt.Errorf("a text holds a control character: %q", text)
		}
	}
	return nil
}

// listing shows a report as lines: "project PATH LEVEL base ID head ID", "layer
// ID STATUS: SUMMARY", then "SEVERITY RULE PATH:LINE:COLUMN: MESSAGE".
func listing(r *report.Report) string {
	var b strings.Builder
	for _, p := range r.Projects {
		fmt.Fprintf(&b, "project %s %s base %s head %s\n", p.Path, p.Level, r.Base, r.Head)
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

func unusable(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 0, 100)
	file := reportFile(ts)
	if len(args) > 0 {
		args = slices.Insert(args, ahead(args), "--report", file)
	}
	status, stdout, stderr := run(ts, args)
	if status != 2 {
		ts.Fatalf("exit status %d, want 2", status)
	}
	if _, err := os.Stat(file); err == nil || stdout != "" {
		ts.Fatalf("a report was written")
	}
	if stderr == "" {
		ts.Fatalf("the reason is not on standard error")
	}
}

func status(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, len(args))
	if got, _, _ := run(ts, args[1:]); strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit status %d, want %s\n%s", got, args[0], ts.ReadFile("stderr"))
	}
}
