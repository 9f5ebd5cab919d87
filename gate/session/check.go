// Package session judges agents-handoff session folders (sessions.md 3 to 8): does
// a folder agree with itself, and with what the base commit has of it?
//
// It reads both states as trees and is pure otherwise. Every file is read in parts,
// so that a timeline of 250 MB takes no more memory than one of a few lines.
//
// A new rule is a row of rules.go and an add in the file that reads what it is
// about: manifest.go, timeline.go, copies.go, markdown.go or index.go, base.go for
// what compares two states, find.go and roots.go for where sessions are. A key of
// handoff.config.json is a row of configKeys in config.go.
package session

import (
	"fmt"
	"io"
	"path"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// ID and Title name the layer in a report.
const (
	ID    = "provenance"
	Title = "Session provenance"
)

// Format and Level are those of a session's entry in a report.
const (
	Format = "agents-handoff"
	Level  = "session"
)

// MaxFile is how large a file of a session may be (sessions.md 7.6).
const MaxFile = 256 << 20

// The depths to which JSON is read (sessions.md 6.1).
const (
	maxManifestDepth = 2_000
	maxDepth         = 10_000
)

// Input is one session to judge.
type Input struct {
	Place
	Now gate.Tree

	// Base is the tree of the base commit and Before the session's partner there
	// (sessions.md 8.1); nil where there is none.
	Base   gate.Tree
	Before *Place
	// Compared says that a base was looked at, so that a session without a partner
	// is new.
	Compared bool

	// Sources finds the files that an element of source_paths names.
	Sources func(name string) []Source

	Private  bool   // the event says that the repository is private
	Pointers bool   // a pointer of Git LFS stands for a file that was not read
	Again    string // the command that judges the session once more
}

// Source is a transcript that a manifest names.
type Source struct {
	Path   string
	SHA256 string // of the decoded text
	Err    error  // why it could not be read
}

// Result is what was decided about one session.
type Result struct {
	Head     Head
	Parsed   bool // the manifest is a JSON object
	Turns    int  // lines of the timeline
	Findings []report.Finding
	BaseErr  error // why the base could not be read for this session; nil where it could
}

// Entry makes the session's entry in a report.
func (r *Result) Entry(in *Input) report.Project {
	l := report.Done(ID, Title, fmt.Sprintf("manifest hash ok, timeline %d turns, payload parses", r.Turns), r.Findings)
	if first := First(&l); first != nil {
		l.Summary = plural.Of(l.Count().Errors, "error") + ", the first: " + first.Rule
	} else if in.Compared && in.Before == nil {
		l.Summary += "; new, first commit is trusted"
	}
	return report.Project{Path: in.Path, Format: Format, Level: Level, Layers: []report.Layer{l}}
}

// checker is one run over a session.
type checker struct {
	in    *Input
	res   Result
	files map[string]gate.Entry
	bad   map[string]bool // files that are there and are not read
	m     manifest

	counted []ecma.Field // see counts
}

func newChecker(in *Input) *checker {
	c := &checker{in: in, files: map[string]gate.Entry{}, bad: map[string]bool{}}
	c.res.Head = Head{Place: in.Place, Label: in.Project}
	if in.Legacy() {
		c.res.Head.Label = "-"
	}
	return c
}

// Check judges one session.
func Check(in *Input) Result {
	c := newChecker(in)
	c.run()
	return c.res
}

func (c *checker) run() {
	if !c.list() {
		return
	}
	for _, name := range names {
		if c.files[name].Kind == gate.Symlink {
			c.link(name)
		}
	}
	if !c.readManifest() {
		return
	}
	if c.in.Legacy() {
		c.add(LegacyLayout, c.in.Path, report.Span{}, "the session lies directly under the root, where current engines do not see it",
			"Nothing has to be done: the engine's next build moves it under projects/.")
	}
	c.judgeManifest()
	before := c.readBefore()
	summary, render := c.summary(), c.render()
	t := c.turns(before)
	c.judgeCopies(summary, t.payload, render)
	c.judgeTurns(t)
	c.judgeSource()
	c.judgeContract(render)
	c.judgeBase(before, t)
}

// list notes what the folder holds.
func (c *checker) list() bool {
	entries, err := c.in.Now.List(c.in.Path)
	if err != nil {
		c.unreadable(c.in.Path, "the folder cannot be listed: "+safetext.Clean(err.Error()))
		return false
	}
	for _, e := range entries {
		c.files[path.Base(e.Path)] = e
	}
	return true
}

// link reports a link in the place of a file, which is then not read.
func (c *checker) link(name string) {
	c.bad[name] = true
	c.add(Symlink, c.file(name), report.Span{}, name+" is a symbolic link, which is not followed", "Replace the link by the file that it stands for.")
}

// file names a file of the session from the top level.
func (c *checker) file(name string) string { return gate.Join(c.in.Path, name) }

// there tells whether something stands at a name, whatever it is.
func (c *checker) there(name string) bool { return c.files[name].Kind != 0 }

// add notes a finding with the severity of its rule.
func (c *checker) add(r *rule.Rule, path string, at report.Span, message, remedy string) {
	c.as(r, r.Severity, path, at, message, remedy)
}

// as is add with another severity. What mends an error is outside of this program,
// so its remedy ends in the check that shows it mended.
func (c *checker) as(r *rule.Rule, s report.Severity, path string, at report.Span, message, remedy string) {
	c.res.Findings = append(c.res.Findings, finding(r, s, path, at, message, remedy, c.in.Again))
}

func finding(r *rule.Rule, s report.Severity, path string, at report.Span, message, remedy, again string) report.Finding {
	if s == report.Error {
		remedy = report.WithFix(remedy, again)
	}
	return r.As(s, path, at, message, remedy)
}

func at(line int) report.Span { return report.Span{Line: line} }

func (c *checker) unreadable(path, message string) {
	c.add(Unreadable, path, report.Span{}, message, "Make it a regular file of at most 256 MiB that can be read.")
}

// open opens a file of the session. Where it is there and cannot be read, it says
// so, and the file counts as one that nothing is known of.
func (c *checker) open(name string) io.ReadCloser {
	if !c.there(name) || c.bad[name] {
		return nil
	}
	e := c.files[name]
	if e.Kind != gate.Regular {
		c.broken(name, "is "+e.Kind.Article()+", not a regular file")
		return nil
	}
	r, e, err := c.in.Now.Open(c.file(name))
	if err != nil {
		c.broken(name, "cannot be read: "+safetext.Clean(err.Error()))
		return nil
	}
	if e.Size > MaxFile {
		r.Close()
		c.broken(name, fmt.Sprintf("has %d bytes, which is more than 256 MiB", e.Size))
		return nil
	}
	f := &file{ReadCloser: r}
	if c.in.Pointers && f.isPointer() {
		r.Close()
		c.broken(name, isPointer)
		return nil
	}
	return f
}

const isPointer = "is a pointer of Git LFS, whose content is not in the commit"

// broken notes that a file could not be read.
func (c *checker) broken(name, why string) {
	if !c.bad[name] {
		c.bad[name] = true
		c.unreadable(c.file(name), name+" "+why)
	}
}

// file is an open file whose beginning may have been looked at. It gives no more
// than MaxFile bytes, whatever grew meanwhile.
type file struct {
	io.ReadCloser
	ahead []byte
	err   error
	total int64
}

func (f *file) Read(p []byte) (int, error) {
	n, err := 0, f.err
	if len(f.ahead) > 0 {
		n = copy(p, f.ahead)
		f.ahead = f.ahead[n:]
		return n, nil
	}
	if err == nil {
		n, err = f.ReadCloser.Read(p)
	}
	if f.total += int64(n); f.total > MaxFile {
		return 0, fmt.Errorf("it has more than %d bytes", MaxFile)
	}
	return n, err
}

// isPointer tells whether the file begins as a pointer of Git LFS.
func (f *file) isPointer() bool {
	buf := make([]byte, len(gate.LFSPointer))
	n, err := io.ReadFull(f.ReadCloser, buf)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		f.err = err
	} else if err != nil {
		f.err = io.EOF
	}
	f.ahead = buf[:n]
	return string(f.ahead) == gate.LFSPointer
}
