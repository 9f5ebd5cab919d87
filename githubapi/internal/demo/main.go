// Command demo shows the gate's main job on the sample repository, without a
// network: a pull request arrives as an event, `handoff-gate action` judges it, and
// what it prints, sends to the API and writes into the job summary is shown; once
// for a change that fails, once for its repaired twin.
//
//	go run ./githubapi/internal/demo [-binary handoff-gate]
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/handoff-gate/handoff-gate/githubapi/apitest"
	"github.com/handoff-gate/handoff-gate/githubapi/internal/sample"
)

func main() {
	binary := flag.String("binary", "", "the program to show; built from this folder when empty")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := demo(ctx, *binary, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		stop()
		os.Exit(1)
	}
}

// scene is one run of the action.
type scene struct {
	title, action string
	head, merge   string // the pull request's head and GitHub's merge of it
	status        int    // the exit status that it must end with
}

func demo(ctx context.Context, binary string, out io.Writer) error {
	root, err := sample.Root()
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "handoff-gate-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if binary == "" {
		binary = filepath.Join(scratch, "handoff-gate")
		build := exec.CommandContext(ctx, "go", "build", "-o", binary, ".")
		build.Dir = root
		if output, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build the program: %w\n%s", err, output)
		}
	}
	if binary, err = filepath.Abs(binary); err != nil {
		return err
	}

	workspace := filepath.Join(scratch, "tide-tables")
	commits, err := sample.Build(ctx, filepath.Join(root, "testdata", "sample"), workspace)
	if err != nil {
		return err
	}
	api, err := apitest.New(apitest.Options{Repository: sample.Repository, Token: sample.Token})
	if err != nil {
		return err
	}
	defer api.Close()

	for i, s := range []scene{
		{"a pull request breaks the handoff set", "opened", commits.Failing, commits.FailingMerge, 1},
		{"its author repairs it", "synchronize", commits.Repaired, commits.RepairedMerge, 0},
	} {
		if err := sample.Checkout(ctx, workspace, s.merge); err != nil {
			return err
		}
		run := sample.Run{
			Workspace: workspace, Commands: filepath.Join(scratch, fmt.Sprintf("run-%d", i+1)),
			SHA: s.merge, APIURL: api.URL, ServerURL: "https://github.example.test",
		}
		if err := run.Prepare(sample.PullRequest(s.action, commits.Base, s.head)); err != nil {
			return err
		}
		p := &printer{to: out}
		p.heading('=', "%d. %s (pull_request, %s)", i+1, s.title, s.action)
		if err := p.scene(ctx, binary, run, api, s); err != nil {
			return err
		}
	}
	if problems := api.Problems(); len(problems) > 0 {
		return errors.New("GitHub would have refused: " + strings.Join(problems, "; "))
	}
	return nil
}

// scene runs the action once and shows what came of it.
func (p *printer) scene(ctx context.Context, binary string, run sample.Run, api *apitest.Server, s scene) error {
	sent := len(api.Requests())
	cmd := exec.CommandContext(ctx, binary, "action")
	cmd.Env = append(run.Environ(run.Workspace, run.Commands), "PATH="+os.Getenv("PATH"), "TMPDIR="+os.TempDir())
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	p.heading('-', "the step's log")
	p.text(log.String())

	p.heading('-', "what was sent to the API")
	for _, r := range api.Requests()[sent:] {
		p.line("%-5s %s: %d", r.Method, r.Path, r.Status)
	}
	runs := api.Runs()
	if len(runs) > 0 {
		p.check(runs[len(runs)-1])
	}

	p.heading('-', "the job summary (GitHub renders it; text of the repository is escaped)")
	summary, err := run.Summary()
	if err != nil {
		return err
	}
	p.text(summary)

	status := cmd.ProcessState.ExitCode()
	p.heading('-', "exit status %d", status)
	if p.err != nil {
		return p.err
	}
	if status != s.status {
		return fmt.Errorf("the exit status is %d, but this run must end with %d", status, s.status)
	}
	return nil
}

// check shows a check run as its page would.
func (p *printer) check(run apitest.CheckRun) {
	p.line("")
	p.line("check run %q on %.12s: %s, %s", run.Name, run.HeadSHA, run.Status, run.Conclusion)
	p.line("  %s", run.Title)
	for _, a := range run.Annotations {
		p.line("")
		p.line("  %s:%d [%s] %s", a.Path, a.StartLine, a.Level, a.Title)
		p.line("    %s", strings.ReplaceAll(a.Message, "\n", "\n    "))
	}
}

// printer writes and keeps the first error.
type printer struct {
	to  io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.to, format+"\n", args...)
	}
}

func (p *printer) heading(rule rune, format string, args ...any) {
	title := fmt.Sprintf(format, args...)
	p.line("\n%s\n%s", title, strings.Repeat(string(rule), len([]rune(title))))
}

func (p *printer) text(s string) { p.line("%s", strings.TrimRight(s, "\n")) }
