package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/disk"
	"github.com/handoff-gate/handoff-gate/gate/git"
	"github.com/handoff-gate/handoff-gate/gate/internal/localpath"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/session"
)

// SessionOptions say which sessions are verified on disk.
type SessionOptions struct {
	// Dir is the root, absolute, links resolved as far as it is there. "" where there
	// is none, of which Nothing then says why.
	Dir     string
	Nothing string
	Start   string // the folder the gate was started in, absolute, links resolved

	Prefix  string // "" for all
	Changed bool
	Base    string // any name that git resolves to a commit; "" compares nothing

	Environ     []string
	Again, List string // commands, as in SessionInput
}

// openSessions opens the state on disk around a root.
func openSessions(ctx context.Context, o SessionOptions) (*Checkout, SessionInput, error) {
	in := SessionInput{Root: ".", Now: noFolder{}, Prefix: o.Prefix, Changed: o.Changed, Again: o.Again, List: o.List, Nothing: o.Nothing}
	dir, there := standing(cmp.Or(o.Dir, o.Start))
	c, err := OpenCheckout(ctx, git.Options{Dir: dir, StartDir: o.Start, Environ: o.Environ})
	if err != nil {
		return nil, in, err
	}
	if o.Dir == "" {
		return c, in, nil
	}
	in.Top, in.OnDisk = c.Top, true
	if there {
		in.Now = linkedInside{c.Work, c.Top}
	}
	if c.Repo != nil {
		var below bool
		if in.Root, below = localpath.Below(c.Top, o.Dir); !below {
			c.Close()
			return nil, in, errors.New("the root is not below the top level of its repository")
		}
		return c, in, nil
	}
	// The top level is a folder further up, which the gate need not be allowed to
	// list: what is verified is read from the root itself, as if it lay there.
	in.Root = outside(o.Dir, o.Start)
	in.Now = mounted{in.Now, in.Root}
	in.Top = filepath.Clean(strings.TrimSuffix(o.Dir, filepath.FromSlash(in.Root)))
	if in.Root == "." {
		in.Top = o.Dir
	}
	return c, in, nil
}

// standing is the deepest folder of a path that is there, and tells whether that
// is all of it.
func standing(dir string) (string, bool) {
	for at := dir; ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && info.IsDir() || at == filepath.Dir(at) {
			return at, at == dir
		}
	}
}

// VerifySessions verifies sessions on disk and gives the report but for its tool
// (sessions.md 1).
func VerifySessions(ctx context.Context, o SessionOptions) (*report.Report, *SessionResult, error) {
	c, in, err := openSessions(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	rep := &report.Report{}
	if c.Repo != nil {
		head, err := c.Repo.Head(ctx)
		if err != nil {
			return nil, nil, err
		}
		rep.Head = head.ID
	} else if in.Top != "" {
		// Transcripts may lie anywhere below the top level.
		if top, err := disk.Open(in.Top); err == nil {
			defer top.Close()
			in.Transcripts = linkedInside{top, in.Top}
		}
	}
	if o.Base != "" {
		base, err := namedCommit(ctx, c, o.Base)
		if in.BaseErr = err; err == nil {
			rep.Base, in.Base = base.ID, c.Repo.Tree("base tree", base.Tree)
		}
	}
	res, err := Sessions(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	rep.Projects = res.Projects()
	c.finish(rep)
	return rep, res, ctx.Err()
}

// ListSessions reads what the manifests under a root say, ordered by project and
// id, and says of each that could not be read why.
func ListSessions(ctx context.Context, o SessionOptions) (heads []session.Head, unread []string, err error) {
	c, in, err := openSessions(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	r := &sessionRun{in: in, now: session.Find(in.Now, in.Root), sources: session.NewSources(in.Now, nil)}
	heads, bad, err := r.heads(ctx)
	if err != nil {
		return nil, nil, err
	}
	slices.SortStableFunc(heads, func(a, b session.Head) int {
		return cmp.Or(strings.Compare(a.Label, b.Label), strings.Compare(a.ID, b.ID))
	})
	for _, p := range r.now.Sessions {
		if findings := bad[p.Path]; len(findings) > 0 {
			unread = append(unread, p.Name()+": "+findings[0].Message)
		}
	}
	for _, b := range r.now.Broken {
		unread = append(unread, session.Unlisted(b, "").Message)
	}
	return heads, unread, nil
}

// mounted is a tree that begins at a path of another one's, of which it holds
// nothing else.
type mounted struct {
	tree gate.LinkReader
	at   string
}

// inside gives the path in the tree.
func (m mounted) inside(p string) (string, bool) {
	if p == m.at {
		return ".", true
	}
	return gate.Below(m.at, p)
}

// entry gives an entry its path from the top.
func (m mounted) entry(e gate.Entry) gate.Entry {
	if e.Path == "." {
		e.Path = m.at
	} else {
		e.Path = gate.Join(m.at, e.Path)
	}
	return e
}

// Name is how messages call the tree.
func (m mounted) Name() string { return m.tree.Name() }

// Stat tells what stands at a path.
func (m mounted) Stat(p string) (gate.Entry, error) {
	rel, ok := m.inside(p)
	if !ok {
		return gate.Entry{}, fs.ErrNotExist
	}
	e, err := m.tree.Stat(rel)
	return m.entry(e), err
}

// Open reads a regular file.
func (m mounted) Open(p string) (io.ReadCloser, gate.Entry, error) {
	rel, ok := m.inside(p)
	if !ok {
		return nil, gate.Entry{}, fs.ErrNotExist
	}
	r, e, err := m.tree.Open(rel)
	return r, m.entry(e), err
}

// List gives the children of a folder.
func (m mounted) List(dir string) ([]gate.Entry, error) {
	rel, ok := m.inside(dir)
	if !ok {
		return nil, fs.ErrNotExist
	}
	entries, err := m.tree.List(rel)
	out := make([]gate.Entry, len(entries))
	for i, e := range entries {
		out[i] = m.entry(e)
	}
	return out, err
}

// ReadLink gives the target of a link.
func (m mounted) ReadLink(p string) (string, error) {
	rel, ok := m.inside(p)
	if !ok {
		return "", fs.ErrNotExist
	}
	return m.tree.ReadLink(rel)
}

// noFolder is the state of a root where there is none.
type noFolder struct{}

// Name is how messages call the tree.
func (noFolder) Name() string { return gate.WorkingTree }

// Stat finds nothing.
func (noFolder) Stat(string) (gate.Entry, error) { return gate.Entry{}, fs.ErrNotExist }

// Open finds nothing.
func (noFolder) Open(string) (io.ReadCloser, gate.Entry, error) {
	return nil, gate.Entry{}, fs.ErrNotExist
}

// List finds nothing.
func (noFolder) List(string) ([]gate.Entry, error) { return nil, fs.ErrNotExist }

// ReadLink finds nothing.
func (noFolder) ReadLink(string) (string, error) { return "", fs.ErrNotExist }

// mostParents is how far up a root is looked for.
const mostParents = 10

// FindSessionRoot walks up from a folder to the first that declares or holds a root
// (sessions.md 2.3). It is "" where none does. A configuration that is wrong is an
// error: to go on would verify another store than the one that is meant.
func FindSessionRoot(start string) (string, error) {
	dir := start
	for range mostParents + 1 {
		declared, err := declaredRoot(filepath.Join(dir, session.ConfigName))
		if err != nil {
			return "", err
		}
		if declared != "" {
			if !filepath.IsAbs(declared) {
				declared = filepath.Join(dir, declared)
			}
			return declared, nil
		}
		handoffs := filepath.Join(dir, session.HandoffsName)
		if info, err := os.Stat(handoffs); err == nil && info.IsDir() {
			return handoffs, nil
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	return "", nil
}

// declaredRoot reads the root that a configuration declares; "" where there is no
// configuration, or it declares none.
func declaredRoot(file string) (string, error) {
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s cannot be read: %w", file, disk.Cause(err))
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s cannot be read: it is no regular file", file)
	case info.Size() > session.MaxConfig:
		return "", fmt.Errorf("%s cannot be read: it is larger than %d bytes", file, session.MaxConfig)
	}
	data, err := os.ReadFile(file) //nolint:gosec // the user's own root, or found above the current folder.
	if err != nil {
		return "", fmt.Errorf("%s cannot be read: %w", file, disk.Cause(err))
	}
	config := session.ParseConfig(data)
	if err := config.Err(); err != nil {
		return "", fmt.Errorf("%s is wrong: %w", file, err)
	}
	return config.Directory, nil
}
