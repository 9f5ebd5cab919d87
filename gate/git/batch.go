package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// batch is one long-lived `cat-file --batch`. A request holds the lock until
// its answer has been read to the end, so a reader of a large object must be
// closed before the next request.
type batch struct {
	start func() (*exec.Cmd, error)

	mu     sync.Mutex
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *boundedBuffer
	closed bool
}

// object is the header of an answer.
type object struct {
	id, kind string
	size     int64
}

// smallObject is the size up to which an object is read at once, which frees
// the process for the next request.
const smallObject = 1 << 20

// request asks for one object. name must not hold a line feed.
func (b *batch) request(name string) (object, io.ReadCloser, error) {
	if strings.ContainsAny(name, "\n\x00") {
		return object{}, nil, fs.ErrNotExist
	}
	b.mu.Lock()
	o, err := b.ask(name)
	if err != nil {
		b.mu.Unlock()
		return o, nil, err
	}
	if o.size > smallObject {
		return o, &objectReader{b: b, left: o.size}, nil
	}
	data := make([]byte, o.size+1)
	_, err = io.ReadFull(b.out, data)
	if err != nil {
		err = b.broken(err)
	}
	b.mu.Unlock()
	if err != nil {
		return o, nil, err
	}
	return o, io.NopCloser(bytes.NewReader(data[:o.size])), nil
}

func (b *batch) ask(name string) (object, error) {
	if b.closed {
		return object{}, errors.New("git cat-file was closed")
	}
	if b.cmd == nil {
		if err := b.open(); err != nil {
			return object{}, err
		}
	}
	if _, err := io.WriteString(b.in, name+"\n"); err != nil {
		return object{}, b.broken(err)
	}
	line, err := b.out.ReadString('\n')
	if err != nil {
		return object{}, b.broken(err)
	}
	line = strings.TrimSuffix(line, "\n")
	// The object's name is echoed and may hold blanks, so the answer is told
	// from its end.
	for _, word := range []string{" missing", " ambiguous"} {
		if strings.HasSuffix(line, word) {
			return object{}, fs.ErrNotExist
		}
	}
	f := strings.Split(line, " ")
	if len(f) != 3 {
		return object{}, b.broken(fmt.Errorf("unexpected answer of git cat-file"))
	}
	size, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil || size < 0 || !IsFullID(f[0]) {
		return object{}, b.broken(fmt.Errorf("unexpected answer of git cat-file"))
	}
	return object{id: f[0], kind: f[1], size: size}, nil
}

func (b *batch) open() error {
	cmd, err := b.start()
	if err != nil {
		return err
	}
	b.stderr = &boundedBuffer{}
	cmd.Stderr = b.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("git cannot be started: %w", err)
	}
	b.cmd, b.in, b.out = cmd, in, bufio.NewReaderSize(out, 64<<10)
	return nil
}

// broken ends the process after a failed exchange; the next request starts a
// new one. The error carries what git said.
func (b *batch) broken(err error) error {
	b.in.Close()
	b.cmd.Process.Kill()
	b.cmd.Wait()
	said := b.stderr.message()
	b.cmd = nil
	if said != "" {
		return &Error{Command: "cat-file", Message: said}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &Error{Command: "cat-file", Message: "it ended without an answer"}
	}
	return fmt.Errorf("git cat-file: %w", err)
}

func (b *batch) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.cmd == nil {
		return
	}
	b.in.Close()
	b.cmd.Process.Kill()
	b.cmd.Wait()
	b.cmd = nil
}

// objectReader streams a large object and holds the batch until it is closed.
type objectReader struct {
	b    *batch
	left int64
	done bool
	err  error
}

func (r *objectReader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	if r.left == 0 {
		return 0, io.EOF
	}
	if int64(len(p)) > r.left {
		p = p[:r.left]
	}
	n, err := r.b.out.Read(p)
	r.left -= int64(n)
	if err != nil {
		r.err = r.b.broken(err)
		return n, r.err
	}
	return n, nil
}

func (r *objectReader) Close() error {
	if r.done {
		return nil
	}
	r.done = true
	defer r.b.mu.Unlock()
	switch {
	case r.err != nil:
	case r.left > smallObject:
		// Reading the rest could take longer than starting anew.
		_ = r.b.broken(io.EOF)
	default:
		if _, err := r.b.out.Discard(int(r.left) + 1); err != nil {
			_ = r.b.broken(err)
		}
	}
	return nil
}

// boundedBuffer keeps the first 16 KiB of what a child wrote to stderr.
type boundedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *boundedBuffer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if room := 16<<10 - w.b.Len(); room > 0 {
		w.b.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// message is git's last line, which names the cause, without its "fatal: ".
func (w *boundedBuffer) message() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(w.b.String()), "\n")
	for _, l := range lines {
		if rest, ok := strings.CutPrefix(l, "fatal: "); ok {
			return rest
		}
	}
	return strings.TrimPrefix(lines[len(lines)-1], "error: ")
}

// childWait is how long a child that was told to stop may take.
const childWait = 2 * time.Second

func (r *Repo) command(ctx context.Context, m mode, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, r.program, args...)
	cmd.Dir = r.top
	cmd.Env = r.environment(m)
	cmd.WaitDelay = childWait
	if r.debug != nil {
		r.debug("git " + strings.Join(args, " "))
	}
	return cmd
}

// output runs one git command and gives all it printed.
func (r *Repo) output(ctx context.Context, m mode, args ...string) ([]byte, error) {
	cmd := r.command(ctx, m, args...)
	var stderr boundedBuffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil {
		return out, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	e := &Error{Command: args[0], Message: stderr.message(), Status: -1}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		e.Status = exit.ExitCode()
	}
	if e.Message == "" {
		e.Message = err.Error()
	}
	return out, e
}

// Error is a git command that failed.
type Error struct {
	Command string
	Message string // what git said; outside text
	Status  int    // exit status; -1 when it was not started or was killed
}

func (e *Error) Error() string { return "git " + e.Command + ": " + e.Message }
