package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync"

	"github.com/handoff-gate/handoff-gate/gate/proc"
)

// batch answers questions about objects from a long-lived `cat-file --batch`. One
// question is answered at a time, but for large objects: whoever reads one has the
// process for itself, and the next question starts another. So several of them
// can be read side by side, one against the other.
type batch struct {
	start func() (*proc.Process, error)

	mu     sync.Mutex
	idle   *catFile          // nil before the first request, after a failure and while lent
	lent   map[*catFile]bool // to readers of large objects
	closed bool
	used   bool // a child was started
}

// catFile is one process.
type catFile struct {
	child *proc.Process
	out   *bufio.Reader

	once sync.Once
	said string
}

// object is the header of an answer.
type object struct {
	id, kind string
	size     int64
}

// ErrAmbiguous says that several objects have an id that begins with the digits
// asked for. It is an fs.ErrNotExist: no one object is meant.
var ErrAmbiguous = fmt.Errorf("several objects have such an id: %w", fs.ErrNotExist)

// smallObject is the size up to which an object is read at once, which frees
// the process for the next request.
const smallObject = 1 << 20

// request asks for one object. name must not hold a line feed.
func (b *batch) request(name string) (object, io.ReadCloser, error) {
	if strings.ContainsAny(name, "\n\x00") {
		return object{}, nil, fs.ErrNotExist
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	o, err := b.ask(name)
	if err != nil {
		return o, nil, err
	}
	if o.size > smallObject {
		r := &objectReader{b: b, c: b.idle, left: o.size}
		if b.lent == nil {
			b.lent = map[*catFile]bool{}
		}
		b.lent[b.idle], b.idle = true, nil
		return o, r, nil
	}
	data := make([]byte, o.size+1)
	if _, err = io.ReadFull(b.idle.out, data); err != nil {
		return o, nil, b.broken(err)
	}
	return o, io.NopCloser(bytes.NewReader(data[:o.size])), nil
}

func (b *batch) ask(name string) (object, error) {
	if b.closed {
		return object{}, errors.New("git cat-file was closed")
	}
	if b.idle == nil {
		if err := b.open(); err != nil {
			return object{}, err
		}
	}
	if _, err := io.WriteString(b.idle.child.Stdin, name+"\n"); err != nil {
		return object{}, b.broken(err)
	}
	line, err := b.idle.out.ReadString('\n')
	if err != nil {
		err = b.broken(err)
		var e *Error
		if errors.As(err, &e) && strings.HasSuffix(e.Message, "from promisor remote") {
			// Older versions of git end over an object that a partial clone lacks.
			return object{}, fs.ErrNotExist
		}
		return object{}, err
	}
	line = strings.TrimSuffix(line, "\n")
	// The object's name is echoed and may hold blanks, so the answer is told
	// from its end.
	switch {
	case strings.HasSuffix(line, " missing"), strings.HasSuffix(line, " submodule"):
		return object{}, fs.ErrNotExist
	case strings.HasSuffix(line, " ambiguous"):
		return object{}, ErrAmbiguous
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
	child, err := b.start()
	if err != nil {
		return err
	}
	b.idle, b.used = &catFile{child: child, out: bufio.NewReaderSize(child.Stdout, 64<<10)}, true
	return nil
}

// broken ends the process after a failed exchange; the next request starts a
// new one.
func (b *batch) broken(err error) error {
	c := b.idle
	b.idle = nil
	return c.broken(err)
}

// broken ends the process. The error carries what git said.
func (c *catFile) broken(err error) error {
	said := c.end()
	if said != "" {
		return &Error{Command: "cat-file", Message: said}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &Error{Command: "cat-file", Message: "it ended without an answer"}
	}
	return fmt.Errorf("git cat-file: %w", err)
}

// end kills the process and gives what it had said.
func (c *catFile) end() string {
	c.once.Do(func() {
		c.child.Kill()
		_ = c.child.Wait() // it was killed, or has failed and said why
		c.said = message(c.child.Stderr())
	})
	return c.said
}

// rest ends the processes; the next request starts a new one.
func (b *batch) rest() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.idle != nil {
		b.idle.end()
		b.idle = nil
	}
	for c := range b.lent {
		c.end()
	}
}

// close ends the processes for good and tells whether there ever was one.
func (b *batch) close() (used bool) {
	b.rest()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return b.used
}

// takeBack takes the process of a reader that is done. One that waits for the
// next question is enough.
func (b *batch) takeBack(c *catFile, usable bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.lent, c)
	if !usable || b.closed || b.idle != nil {
		c.end()
		return
	}
	b.idle = c
}

// objectReader streams a large object and has its process until it is closed.
type objectReader struct {
	b    *batch
	c    *catFile
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
	n, err := r.c.out.Read(p)
	r.left -= int64(n)
	if err != nil {
		r.err = r.c.broken(err)
		return n, r.err
	}
	return n, nil
}

func (r *objectReader) Close() error {
	if r.done {
		return nil
	}
	r.done = true
	// Reading a long rest could take longer than starting anew.
	usable := r.err == nil && r.left <= smallObject
	if usable {
		_, err := r.c.out.Discard(int(r.left) + 1)
		usable = err == nil
	}
	r.b.takeBack(r.c, usable)
	return nil
}

// message is the line of git's that names the cause, without its "fatal: ".
func message(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	for _, l := range lines {
		if rest, ok := strings.CutPrefix(l, "fatal: "); ok {
			return rest
		}
	}
	return strings.TrimPrefix(lines[len(lines)-1], "error: ")
}

// maxOutput and maxRecords bound what one git command may print. A dozen objects
// make a tree of more files than can be counted, as a tree may hold the same tree
// twice; what is kept of a million files takes about 300 MB.
const maxOutput = 512 << 20

var maxRecords = 3_000_000 // a test lowers it

// maxMemory bounds one git command: diff-tree, which gathers all changes before it
// prints one, needs about half of it for maxRecords.
var maxMemory uint64 = 2 << 30 // a test lowers it

// bounded ends the parsing of a list that has grown too long.
func bounded(records int, err error) error {
	if err == nil && records > maxRecords {
		return fmt.Errorf("there are more than %d files", maxRecords)
	}
	return err
}

func (r *Repo) command(m mode, args ...string) proc.Command {
	if r.debug != nil {
		r.debug("git " + strings.Join(args, " "))
	}
	c := proc.Command{Argv: append([]string{r.program}, args...), Dir: r.top, Env: r.environment(m), MaxOutput: maxOutput}
	if m != network { // what is fetched is for the server and git to bound
		c.MaxMemory = maxMemory
	}
	return c
}

// output runs one git command that reads, and gives all it printed.
func (r *Repo) output(ctx context.Context, args ...string) ([]byte, error) {
	res, err := proc.Run(ctx, r.command(plumbing, args...))
	return res.Stdout, failure(ctx, args[0], err)
}

// failure turns the error of a child into an *Error.
func failure(ctx context.Context, name string, err error) error {
	if err == nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	e := &Error{Command: name, Message: err.Error(), Status: -1}
	var exit *proc.ExitError
	if errors.As(err, &exit) {
		e.Status = exit.Code
		if said := message(exit.Stderr); said != "" {
			e.Message = said
		}
	}
	return e
}

// Error is a git command that failed.
type Error struct {
	Command string
	Message string // what git said; outside text
	Status  int    // exit status; -1 when it was not started or was killed
}

func (e *Error) Error() string { return "git " + e.Command + ": " + e.Message }

// saysNo tells the exit status by which git answers that there is no such thing from
// those of a failure.
func saysNo(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == 1
}
