package proc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
)

// Limits of a declared check (aahp-verify.md 8.3).
const (
	// CheckTimeout is how long a check may take.
	CheckTimeout = 120 * time.Second
	// maxCheckOutput is how much of a check's output is kept, the end of it.
	maxCheckOutput = 64 << 10
	// outputLines is how many lines of it are given.
	outputLines = 5
	// killWait is how long a killed check is waited for. Only a process that
	// the gate has no right to signal, or that hangs in the kernel, needs it.
	killWait = 5 * time.Second
)

// CheckSpec is a declared check to run.
type CheckSpec struct {
	Argv    []string
	Dir     string   // the project's folder, absolute
	Env     []string // from CheckEnv
	Timeout time.Duration
	// Owner is whom the check runs as; nil is the gate's own user. See
	// ProjectOwner.
	Owner *Owner
}

// Owner is a user and a group by number.
type Owner struct{ UID, GID uint32 }

// Outcome is how a check ended. Texts in it are from outside but for the words
// around them.
type Outcome struct {
	Passed   bool     // the program ended with exit status 0
	TimedOut bool     // it was ended after the time allowed
	NotFound bool     // it, or the interpreter it names, is not there
	Reason   string   // why it did not pass: "exit status 3"
	Output   []string // its last five non-empty lines, cleaned
}

// RunCheck runs one declared check and waits for its program, and for nothing
// else: when the program has ended or its time (CheckTimeout where the spec has
// none) is over, every process of its group is killed. A process that left the
// group and holds the output open is not waited for. When ctx is cancelled the
// group is killed too; the Outcome is then no pass.
func RunCheck(ctx context.Context, spec CheckSpec) Outcome {
	if err := ctx.Err(); err != nil {
		return Outcome{Reason: "the run was ended before this check"}
	}
	if len(spec.Argv) == 0 || spec.Argv[0] == "" {
		return Outcome{Reason: "it names no program"}
	}
	dir, err := filepath.Abs(spec.Dir)
	if err != nil {
		return Outcome{Reason: err.Error()}
	}
	path, err := find(spec.Argv[0], dir, spec.Env)
	if err != nil {
		var missing *NotFoundError
		return Outcome{NotFound: errors.As(err, &missing), Reason: err.Error()}
	}
	output, err := newCapture()
	if err != nil {
		return Outcome{Reason: "it could not be started: " + err.Error()}
	}
	defer output.r.Close()
	cmd := &exec.Cmd{
		Path: path, Args: spec.Argv, Dir: dir, Env: spec.Env,
		Stdout: output.w, Stderr: output.w, // files, so that nobody copies and Wait waits for the program alone
		SysProcAttr: ownGroup(spec.Owner),
	}
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	err = cmd.Start()
	output.w.Close()
	if err != nil {
		return notStarted(spec.Argv[0], dir, err)
	}
	out := &tail{}
	output.read(out)
	timeout := spec.Timeout
	if timeout == 0 {
		timeout = CheckTimeout
	}
	end := await(ctx, cmd, timeout, nil)
	o := Outcome{TimedOut: end.timedOut, Reason: end.reason}
	if end.lost {
		return o // nothing more can be done about it, and nothing more is known
	}
	output.stop(out)
	o.Output = out.lines()
	switch {
	case end.reason != "":
	case end.err == nil:
		o.Passed = true
	default:
		o.Reason = rootCause(end.err).Error()
	}
	return o
}

// capture is a pipe that a program writes to. It is a file to the program, so that
// whoever else holds it open is not waited for.
type capture struct {
	r, w  *os.File
	ended chan struct{} // closed when the reader is done
}

func newCapture() (*capture, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &capture{r: r, w: w, ended: make(chan struct{})}, nil
}

// read begins to read into out, which must be safe for a reader that on Windows may
// outlive stop.
func (c *capture) read(out io.Writer) {
	go func() {
		defer close(c.ended)
		buf := make([]byte, 32<<10)
		for {
			n, err := c.r.Read(buf)
			_, _ = out.Write(buf[:n]) // it only gathers
			if err != nil {
				return
			}
		}
	}()
}

// stop takes what the program had written and ends the reader.
func (c *capture) stop(out io.Writer) { stopReading(c.r, c.ended, out) }

// ending is how a program that was started ended.
type ending struct {
	reason   string // why it was killed; "" when it ended by itself
	timedOut bool
	lost     bool  // it was killed and does not end
	err      error // of one that ended by itself
}

// await waits for a program, and for nothing else, until it ends, its time is over,
// over is closed or ctx is cancelled. In any case every process of its group is
// killed.
func await(ctx context.Context, cmd *exec.Cmd, timeout time.Duration, over <-chan struct{}) ending {
	waiter := newWaiter(cmd)
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	var end ending
	select {
	case <-waiter.exited:
	case <-over:
		end.reason = "it printed too much"
	case <-timer.C:
		if waiter.hasExited() {
			break // it was in time; the timer was only seen first
		}
		end.timedOut, end.reason = true, "it did not end within "+timeout.String()
	case <-ctx.Done():
		end.reason = "the run was ended before this check was"
	}
	if end.reason == "" {
		killRest(cmd.Process)
	} else {
		_ = killGroup(cmd.Process) // a refusal shows below: the program does not end
		grace := time.NewTimer(killWait)
		defer grace.Stop()
		select {
		case <-waiter.exited:
		case <-grace.C:
			end.lost = true
			return end
		}
	}
	end.err = waiter.reap()
	return end
}

// notStarted says why a program that was found did not start.
func notStarted(name, dir string, err error) Outcome {
	if _, statErr := os.Stat(dir); statErr == nil && errors.Is(err, fs.ErrNotExist) {
		return Outcome{NotFound: true, Reason: name + " is there, and the interpreter that its first line names was not found"}
	}
	return Outcome{Reason: "it could not be started: " + rootCause(err).Error()}
}

// rootCause drops the names that os puts before the reason.
func rootCause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var e *exec.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

func isNotExist(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound)
}

// CheckEnv gives the environment of declared checks: of environ only what a
// program needs to find itself around, no token, proxy or variable of a runner;
// and git told to trust exactly the folder topLevel (the repository's, absolute
// and with links resolved; "" outside a repository), whoever owns it.
func CheckEnv(environ []string, topLevel string) []string {
	return checkEnv(environ, topLevel, runtime.GOOS == "windows")
}

func checkEnv(environ []string, topLevel string, windows bool) []string {
	allowed := []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "TMP", "TEMP"}
	if windows {
		allowed = append(allowed, "SystemRoot", "ComSpec", "PATHEXT")
	}
	var env []string
	for _, kv := range environ {
		name, _, ok := strings.Cut(kv, "=")
		if !ok || !strings.HasPrefix(name, "LC_") && !slices.ContainsFunc(allowed, func(a string) bool { return sameName(name, a, windows) }) {
			continue
		}
		env = SetEnv(env, kv)
	}
	env = append(env, "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0")
	if topLevel != "" {
		env = append(env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0="+topLevel)
	}
	return env
}

// SetEnv gives env with a variable ("HOME=/tmp/x") set, in the place of any of
// the same name.
func SetEnv(env []string, kv string) []string {
	name, _, _ := strings.Cut(kv, "=")
	env = slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		n, _, _ := strings.Cut(e, "=")
		return sameName(n, name, runtime.GOOS == "windows")
	})
	return append(env, kv)
}

// tail keeps the last maxCheckOutput bytes written to it. It has a lock because
// on Windows the reader may outlive the call.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	if len(p) > maxCheckOutput {
		p = p[len(p)-maxCheckOutput:]
	}
	t.buf = append(t.buf, p...)
	// Moving the end to the front only at twice the size keeps the cost of a
	// byte constant.
	if len(t.buf) > 2*maxCheckOutput {
		t.buf = t.buf[:copy(t.buf, t.buf[len(t.buf)-maxCheckOutput:])]
	}
	return n, nil
}

// lines gives the last non-empty lines, the oldest first. A progress display
// ends its lines in CR.
func (t *tail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	rest := t.buf
	if len(rest) > maxCheckOutput {
		rest = rest[len(rest)-maxCheckOutput:]
	}
	var lines []string
	for len(lines) < outputLines && len(rest) > 0 {
		i := bytes.LastIndexAny(rest, "\r\n")
		if l := strings.TrimSpace(safetext.Clean(string(rest[i+1:]))); l != "" {
			lines = append(lines, l)
		}
		rest = rest[:max(i, 0)]
	}
	slices.Reverse(lines)
	return lines
}
