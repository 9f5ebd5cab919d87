package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Limits of a script (aahp-governance.md 10).
const (
	ScriptTimeout   = 60 * time.Second
	maxScriptOutput = 1 << 20 // standard output and standard error together
)

// ScriptEnv is the whole environment of a script: where programs are, a home folder
// of its own and an encoding. No token and no variable of a runner is in it.
func ScriptEnv(environ []string, home string) []string {
	env := []string{"PATH=" + Getenv(environ, "PATH"), "HOME=" + home, "LANG=C.UTF-8"}
	if runtime.GOOS == "windows" {
		for _, name := range []string{"SystemRoot", "ComSpec", "PATHEXT"} {
			if value, ok := LookupEnv(environ, name); ok {
				env = append(env, name+"="+value)
			}
		}
	}
	return env
}

// RunScript runs a program with arguments, with its input at its end, and gives what
// it printed on standard output. It waits for the program and nothing else; then, or
// when its time (ScriptTimeout where timeout is 0) is over, or when it prints more
// than maxScriptOutput, every process of its group is killed. The error is a
// *NotFoundError when there is no such program, and else says why it did not
// succeed.
func RunScript(ctx context.Context, argv []string, dir string, env []string, timeout time.Duration) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path, err := find(argv[0], dir, env)
	if err != nil {
		return nil, err
	}
	if timeout == 0 {
		timeout = ScriptTimeout
	}
	outputs := [2]*capture{}
	for i := range outputs {
		if outputs[i], err = newCapture(); err != nil {
			return nil, err
		}
		defer outputs[i].r.Close()
		defer outputs[i].w.Close()
	}
	cmd := &exec.Cmd{
		Path: path, Args: slices.Clone(argv), Dir: filepath.Clean(dir), Env: env,
		Stdout: outputs[0].w, Stderr: outputs[1].w, SysProcAttr: ownGroup(nil),
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("it could not be started: %w", rootCause(err))
	}
	budget := &budget{left: maxScriptOutput, over: make(chan struct{})}
	streams := [2]*stream{{budget: budget}, {budget: budget}}
	for i, o := range outputs {
		o.w.Close()
		o.read(streams[i])
	}
	end := await(ctx, cmd, timeout, budget.over)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if end.lost {
		return nil, errors.New(end.reason)
	}
	for i, o := range outputs {
		o.stop(streams[i])
	}
	stdout, stderr := streams[0].bytes(), streams[1].bytes()
	switch {
	case budget.spent():
		return nil, fmt.Errorf("it printed more than %d bytes", maxScriptOutput)
	case end.reason != "":
		return nil, errors.New(end.reason)
	case end.err != nil:
		err := rootCause(end.err)
		if said := complaint(stderr); said != "" {
			return nil, fmt.Errorf("%w: %s", err, said)
		}
		return nil, err
	}
	return stdout, nil
}

// errorLine is how node begins to say what went wrong.
var errorLine = regexp.MustCompile(`^(?:Uncaught )?\w*Error\b`)

// complaint gives the first line of a standard error that says what went wrong, else
// the last one that is not blank: node prints the place before and its own version
// after what went wrong. It is outside text.
func complaint(stderr []byte) string {
	last := ""
	for line := range bytes.FieldsFuncSeq(stderr, func(r rune) bool { return r == '\n' || r == '\r' }) {
		said := strings.TrimSpace(string(line))
		if errorLine.MatchString(said) {
			return said
		}
		if said != "" {
			last = said
		}
	}
	return last
}

// budget is how much the streams of a program may still hold together.
type budget struct {
	mu   sync.Mutex
	left int
	over chan struct{} // closed when more was written
}

func (b *budget) spent() bool {
	select {
	case <-b.over:
		return true
	default:
		return false
	}
}

// stream keeps what a program writes, within the budget.
type stream struct {
	budget *budget
	buf    []byte
}

func (s *stream) Write(p []byte) (int, error) {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	kept := p[:min(len(p), s.budget.left)]
	s.buf = append(s.buf, kept...)
	s.budget.left -= len(kept)
	if len(kept) < len(p) && !s.budget.spent() {
		close(s.budget.over)
	}
	return len(p), nil
}

// bytes is what was kept.
func (s *stream) bytes() []byte {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	return slices.Clone(s.buf)
}
