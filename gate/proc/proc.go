// Package proc is the only place of this program that starts a process: git's
// plumbing for gate/git, and the declared checks of a trust register. Nothing
// is ever started through a shell, with an inherited environment or without a
// limit on what it may print and on how long it is waited for.
package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Limits of Run and Start.
const (
	// defaultOutput is how much standard output Run takes where the command sets no
	// limit of its own.
	defaultOutput = 64 << 20
	// maxStderr is how much of standard error is kept: git's first words say
	// what is wrong.
	maxStderr = 16 << 10
	// waitDelay is how long a child that was told to end, or a pipe that a
	// grandchild holds open, is waited for.
	waitDelay = 5 * time.Second
)

// ErrTooMuchOutput is what Run gives for a child that prints more than its
// limit. Nothing of the output is returned then: a part would read as a whole.
var ErrTooMuchOutput = errors.New("it printed more than its limit")

// Command is a child to start. Argv[0] is looked up in the PATH of Env, or taken
// relative to Dir where it holds a slash.
type Command struct {
	Argv []string
	Dir  string   // absolute, or relative to the program's own folder
	Env  []string // the whole environment; nil is an empty one
	// Stdin is what Run gives the child to read; nil is an empty input.
	Stdin io.Reader
	// PipeStdin makes Start give a Process with a Stdin to write to.
	PipeStdin bool
	// MaxOutput limits what Run takes from standard output; 0 is defaultOutput.
	MaxOutput int64
	// MaxMemory limits what the child may allocate, in bytes, where the system can
	// do that for another process (Linux); 0 is no limit. A child that gathers its
	// whole answer before it prints any of it is bounded by nothing else.
	MaxMemory uint64
}

// Result is what a child printed.
type Result struct {
	Stdout []byte
	Stderr string // the first 16 KiB, trimmed; outside text
}

// ExitError is a child that ended with anything but exit status 0.
type ExitError struct {
	Program string // base name and first argument: "git diff-tree"
	Code    int    // exit status; -1 for a signal
	Reason  string // "exit status 128", "signal: killed"
	Stderr  string // the first 16 KiB of its standard error, trimmed; outside text
}

// Error gives the reason and what the child said. It holds outside text.
func (e *ExitError) Error() string {
	s := e.Program + ": " + e.Reason
	if e.Stderr != "" {
		s += ": " + e.Stderr
	}
	return s
}

// Run starts a child, waits for it and gives what it printed. The error is an
// *ExitError when the child ran and did not end with status 0 (the Result is
// there all the same), ErrTooMuchOutput, ctx's error after it is cancelled, or
// why the child could not be started.
func Run(ctx context.Context, c Command) (Result, error) {
	cmd, stderr, err := c.prepare(ctx)
	if err != nil {
		return Result{}, err
	}
	limit := c.MaxOutput
	if limit == 0 {
		limit = defaultOutput
	}
	stdout := &head{limit: limit, fail: true}
	cmd.Stdin, cmd.Stdout = c.Stdin, stdout
	if err = cmd.Start(); err == nil {
		limitMemory(cmd.Process, c.MaxMemory)
		err = cmd.Wait()
	}
	if stdout.over {
		// The child saw its pipe close and ended for that reason.
		err = fmt.Errorf("%s: %w of %d bytes", program(c.Argv), ErrTooMuchOutput, limit)
		return Result{Stderr: stderr.text()}, err
	}
	return Result{Stdout: stdout.buf.Bytes(), Stderr: stderr.text()}, c.ended(ctx, stderr, err)
}

// Process is a running child.
type Process struct {
	// Stdin is there when the Command has PipeStdin; closing it is the end of
	// the child's input.
	Stdin io.WriteCloser
	// Stdout must be read to its end, or given up, before Wait.
	Stdout io.Reader

	command Command
	ctx     context.Context //nolint:containedctx // Wait reports its error, as exec.Cmd does.
	cmd     *exec.Cmd
	stderr  *head
}

// Start starts a child whose output is read as it comes. Whoever starts a child
// must call Wait. When ctx is cancelled the child and its group are killed.
func Start(ctx context.Context, c Command) (*Process, error) {
	cmd, stderr, err := c.prepare(ctx)
	if err != nil {
		return nil, err
	}
	p := &Process{command: c, ctx: ctx, cmd: cmd, stderr: stderr}
	if c.PipeStdin {
		if p.Stdin, err = cmd.StdinPipe(); err != nil {
			return nil, fmt.Errorf("%s: %w", program(c.Argv), err)
		}
	} else {
		cmd.Stdin = c.Stdin
	}
	if p.Stdout, err = cmd.StdoutPipe(); err != nil {
		return nil, fmt.Errorf("%s: %w", program(c.Argv), err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", program(c.Argv), err)
	}
	limitMemory(cmd.Process, c.MaxMemory)
	return p, nil
}

// Wait closes both pipes and waits for the child. The error is as Run's.
func (p *Process) Wait() error {
	if p.Stdin != nil {
		_ = p.Stdin.Close() // it may be closed already, which is fine
	}
	return p.command.ended(p.ctx, p.stderr, p.cmd.Wait())
}

// Kill ends the child and its group at once; Wait must still be called.
func (p *Process) Kill() { _ = killGroup(p.cmd.Process) }

// Stderr gives what the child has said on standard error; call it after Wait.
func (p *Process) Stderr() string { return p.stderr.text() }

func (c Command) prepare(ctx context.Context) (*exec.Cmd, *head, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return nil, nil, errors.New("no program to start")
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, nil, err
	}
	found, err := find(c.Argv[0], dir, c.Env)
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, found, c.Argv[1:]...)
	cmd.Args[0] = c.Argv[0]
	cmd.Dir = dir
	cmd.Env = c.Env
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	cmd.SysProcAttr = ownGroup(nil)
	cmd.WaitDelay = waitDelay
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	stderr := &head{limit: maxStderr}
	cmd.Stderr = stderr
	return cmd, stderr, nil
}

func (c Command) ended(ctx context.Context, stderr *head, err error) error {
	if err == nil {
		return nil
	}
	if cause := ctx.Err(); cause != nil {
		return fmt.Errorf("%s: %w", program(c.Argv), cause)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &ExitError{Program: program(c.Argv), Code: exit.ExitCode(), Reason: exit.String(), Stderr: stderr.text()}
	}
	return fmt.Errorf("%s: %w", program(c.Argv), err)
}

// program names a command for a message: "git diff-tree".
func program(argv []string) string {
	s := filepath.Base(argv[0])
	if len(argv) > 1 && !strings.HasPrefix(argv[1], "-") {
		s += " " + argv[1]
	}
	return s
}

// head keeps the first bytes written to it. What comes after them is discarded,
// or refused where fail is set, which ends the child.
type head struct {
	buf   bytes.Buffer
	limit int64
	fail  bool
	over  bool
}

func (h *head) Write(p []byte) (int, error) {
	room := h.limit - int64(h.buf.Len())
	if int64(len(p)) <= room {
		return h.buf.Write(p)
	}
	h.over = true
	if h.fail {
		return 0, ErrTooMuchOutput
	}
	h.buf.Write(p[:room])
	return len(p), nil
}

func (h *head) text() string { return strings.TrimSpace(h.buf.String()) }

// NotFoundError says that a program is not there and where it was looked for.
type NotFoundError struct {
	Program string
	Where   string
}

// Error names the program and the places; both are outside text.
func (e *NotFoundError) Error() string {
	return "the program " + e.Program + " was not found; looked for it " + e.Where
}

// find finds a program: in the folders of env's PATH, or with a slash in the
// name relative to dir. An entry of PATH that is empty or relative means the
// current folder to a shell. That folder is the checkout, whose author would
// choose the program then, so such entries are passed over.
func find(name, dir string, env []string) (string, error) {
	if strings.ContainsRune(name, '/') || runtime.GOOS == "windows" && strings.ContainsRune(name, '\\') {
		p := name
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		found, err := exec.LookPath(p)
		if err != nil {
			if isNotExist(err) {
				return "", &NotFoundError{Program: name, Where: "at " + p}
			}
			return "", fmt.Errorf("%s cannot be run: %w", name, rootCause(err))
		}
		return found, nil
	}
	path := Getenv(env, "PATH")
	for _, folder := range filepath.SplitList(path) {
		if !filepath.IsAbs(folder) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
			return found, nil
		}
	}
	where := "in PATH, which is empty"
	if path != "" {
		where = "in PATH (" + path + ")"
	}
	return "", &NotFoundError{Program: name, Where: where}
}

// LookupEnv gives the value of a variable of an environment and whether it is
// there. Of several the last counts, as it does for a child.
func LookupEnv(env []string, name string) (string, bool) {
	for _, kv := range slices.Backward(env) {
		if k, v, ok := strings.Cut(kv, "="); ok && sameName(k, name, runtime.GOOS == "windows") {
			return v, true
		}
	}
	return "", false
}

// Getenv is LookupEnv where no value and an empty one are the same.
func Getenv(env []string, name string) string {
	v, _ := LookupEnv(env, name)
	return v
}

// sameName compares names of variables; Windows does not tell cases apart.
func sameName(a, b string, windows bool) bool {
	return a == b || windows && strings.EqualFold(a, b)
}
