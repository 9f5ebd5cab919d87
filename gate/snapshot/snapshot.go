// Package snapshot reads the handoff set of one tree once, streaming each file
// through its digest and the content scanner. What layer 1 judges is read here
// and nowhere else (aahp-verify.md 2).
package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/digest"
	"github.com/handoff-gate/handoff-gate/gate/internal/parallel"
	"github.com/handoff-gate/handoff-gate/gate/lint"
)

// File is one entry below the handoff folder that is no folder.
type File struct {
	Name       string // relative to the handoff folder
	Entry      gate.Entry
	State      gate.State // never Absent
	Err        error      // why it is not Present
	Digest     string     // "sha256:" and hex, of the bytes without CR
	Blob       string     // git's id for the bytes as they are; "" when not asked for
	LFSPointer bool
	Content    lint.FileResult // what the content scanner saw
}

// Set is the handoff set of one tree.
type Set struct {
	Tree        string // the tree's name, such as gate.HeadTree
	NotReal     string // the component of the handoff folder that is no real folder; "" when all are
	NotRealKind gate.Kind
	Manifest    gate.Document
	Files       []File          // ordered by name
	children    map[string]bool // direct children, folders too
}

// Has tells whether the handoff folder has a direct child of exactly that name,
// in any form.
func (s *Set) Has(name string) bool { return s.children[name] }

// File finds an entry by its name; nil when there is none or it is a folder.
func (s *Set) File(name string) *File {
	i, ok := slices.BinarySearchFunc(s.Files, name, func(f File, name string) int { return strings.Compare(f.Name, name) })
	if !ok {
		return nil
	}
	return &s.Files[i]
}

// Options say how a set is read.
type Options struct {
	Scan     lint.Options
	IDLength int    // of git's ids (40 or 64) when Blob is wanted, else 0
	Known    []*Set // sets read before: a file whose blob is the same is not read again
	// DigestOnly leaves the content unscanned, for whoever needs checksums alone.
	DigestOnly bool
}

// Read reads the handoff set of a project. A handoff folder that is absent from
// the tree gives a set without files, as an index may lack it.
func Read(ctx context.Context, t gate.Tree, project string, o Options) (*Set, error) {
	s := &Set{Tree: t.Name(), children: map[string]bool{}}
	dir := gate.Join(project, gate.HandoffDir)
	for _, p := range []string{gate.Join(project, ".ai"), dir} {
		e, err := t.Stat(p)
		if errors.Is(err, fs.ErrNotExist) {
			return s, nil
		}
		if err != nil {
			return nil, err
		}
		if e.Kind != gate.Folder {
			s.NotReal, s.NotRealKind = p, e.Kind
			return s, nil
		}
	}
	if err := s.list(t, dir); err != nil {
		return nil, err
	}
	s.Manifest = gate.ReadDocument(t, gate.Join(project, gate.ManifestFile), gate.MaxManifest)
	known := map[string]*File{}
	for _, k := range o.Known {
		for i := range k.Files {
			if f := &k.Files[i]; f.State == gate.Present && f.Blob != "" {
				known[f.Blob+"\x00"+f.Name] = f
			}
		}
	}
	var unread []*File
	for i := range s.Files {
		f := &s.Files[i]
		if f.State == gate.NotRegular || f.State == gate.Unreadable {
			continue
		}
		if k := known[f.Entry.ID+"\x00"+f.Name]; k != nil && f.Entry.ID != "" {
			f.State, f.Digest, f.Blob, f.LFSPointer, f.Content = gate.Present, k.Digest, k.Blob, k.LFSPointer, k.Content
			continue
		}
		unread = append(unread, f)
	}
	err := parallel.Each(ctx, len(unread), func(ctx context.Context, i int) error {
		unread[i].read(ctx, t, o)
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// A commit need not fit on a disk: a few thousand small objects make a folder a
// hundred thousand levels deep, and a dozen one of more files than could ever be
// counted, as a tree may hold the same tree twice. What is longer than a path may
// be, or more than a handoff folder ever has, is refused.
const (
	maxPath    = 4096 // bytes, as on Linux
	maxEntries = 1_000_000
)

var (
	errTooDeep = fmt.Errorf("its path is longer than %d bytes", maxPath)
	errTooMany = fmt.Errorf("it holds more than %d files and folders", maxEntries)
)

// list finds everything below the handoff folder, links not followed. A folder
// named .git is not entered: what it holds is git's.
func (s *Set) list(t gate.Tree, dir string) error {
	todo := []string{dir}
	entries := 0
	for len(todo) > 0 {
		d := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		children, err := t.List(d)
		if err != nil {
			if d == dir {
				return err
			}
			name, _ := gate.Below(dir, d)
			s.Files = append(s.Files, File{Name: name, Entry: gate.Entry{Path: d, Kind: gate.Folder}, State: gate.Unreadable, Err: err})
			continue
		}
		if entries += len(children); entries > maxEntries {
			return errTooMany
		}
		for _, c := range children {
			name, _ := gate.Below(dir, c.Path)
			if d == dir {
				s.children[name] = true
			}
			switch c.Kind {
			case gate.Folder:
				switch {
				case path.Base(c.Path) == ".git":
				case len(c.Path) > maxPath:
					s.Files = append(s.Files, File{Name: name, Entry: c, State: gate.Unreadable, Err: errTooDeep})
				default:
					todo = append(todo, c.Path)
				}
			case gate.Regular:
				s.Files = append(s.Files, File{Name: name, Entry: c, State: gate.Present})
			case gate.Symlink, gate.Gitlink, gate.Special, gate.Unmerged:
				s.Files = append(s.Files, notRegular(name, c))
			}
		}
	}
	s.sort()
	return nil
}

// MarkSubmodules adds to a set read from the working tree t the submodules below
// its handoff folder dir, which there are folders like any other: what they hold
// is in no commit of this repository.
func (s *Set) MarkSubmodules(t gate.Tree, dir string, links []gate.Entry) {
	for _, e := range links {
		name, below := gate.Below(dir, e.Path)
		if here, err := t.Stat(e.Path); !below || err != nil || here.Kind != gate.Folder {
			continue
		}
		s.Files = append(s.Files, notRegular(name, e))
	}
	s.sort()
}

func (s *Set) sort() {
	slices.SortFunc(s.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
}

func notRegular(name string, e gate.Entry) File {
	return File{Name: name, Entry: e, State: gate.NotRegular, Err: errors.New("it is " + e.Kind.Article())}
}

var lfsPointer = []byte(gate.LFSPointer)

// read streams one file through digest and scanner.
func (f *File) read(ctx context.Context, t gate.Tree, o Options) {
	fail := func(state gate.State, err error) {
		f.State, f.Err, f.Digest, f.Blob, f.Content = state, err, "", "", lint.FileResult{}
	}
	if f.Entry.Size > gate.MaxHandoffFile {
		fail(gate.TooLarge, errTooLarge)
		return
	}
	r, e, err := t.Open(f.Entry.Path)
	if errors.Is(err, gate.ErrNotRegular) {
		fail(gate.NotRegular, err)
		return
	}
	if err != nil {
		fail(gate.Unreadable, err)
		return
	}
	defer r.Close()
	if e.Size > gate.MaxHandoffFile {
		fail(gate.TooLarge, errTooLarge)
		return
	}
	f.Entry.Size = e.Size
	var scanner *lint.Scanner
	if !o.DigestOnly {
		scan := o.Scan
		scan.Size = e.Size
		scanner = lint.NewScanner(f.Name, scan)
	}
	sum := digest.NewCRFree()
	var blob *digest.Blob
	if e.Size >= 0 {
		blob = digest.NewBlob(o.IDLength)
	}
	if blob != nil {
		blob.Begin(e.Size)
	}
	h := newHasher(e.Size, func(chunk []byte) {
		sum.Write(chunk)
		if blob != nil {
			blob.Write(chunk)
		}
	})
	defer h.finish()
	var size int64
	for {
		buf := h.buffer()
		n, err := r.Read(buf)
		chunk := buf[:n]
		if size == 0 && bytes.HasPrefix(chunk, lfsPointer) {
			f.LFSPointer = true
		}
		size += int64(n)
		if size > gate.MaxHandoffFile {
			fail(gate.TooLarge, errTooLarge)
			return
		}
		h.hash(chunk)
		if scanner != nil {
			scanner.Write(chunk)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			fail(gate.Unreadable, err)
			return
		}
		if ctx.Err() != nil {
			fail(gate.Unreadable, ctx.Err())
			return
		}
	}
	h.finish()
	f.State, f.Digest = gate.Present, sum.String()
	if scanner != nil {
		f.Content = scanner.Finish()
	}
	if blob != nil && size == e.Size {
		f.Blob = string(blob.ID())
	}
}

// hasher hashes what is read of one file. Of a large file it does so beside the
// reading and scanning, which would otherwise wait for each other.
type hasher struct {
	write      func([]byte)
	one        []byte // the buffer of a small file
	full, free chan []byte
	done       chan struct{}
}

const (
	readSize  = 1 << 20 // of a buffer; a smaller one makes more calls and waits more often
	largeFile = 4 * readSize
)

// newHasher begins; finish must be called.
func newHasher(size int64, write func([]byte)) *hasher {
	h := &hasher{write: write}
	if size < largeFile {
		h.one = make([]byte, min(max(size, 0)+512, readSize))
		return h
	}
	const buffers = 3 // one is read into, one is hashed, one waits
	h.full, h.free, h.done = make(chan []byte, buffers), make(chan []byte, buffers), make(chan struct{})
	for range buffers {
		h.free <- make([]byte, readSize)
	}
	// Only hashes are computed in it, so nothing can fail or panic there.
	go func() {
		defer close(h.done)
		for chunk := range h.full {
			h.write(chunk)
			h.free <- chunk[:readSize]
		}
	}()
	return h
}

// buffer gives a buffer to read into.
func (h *hasher) buffer() []byte {
	if h.one != nil {
		return h.one
	}
	return <-h.free
}

// hash takes the next part of the file, which began a buffer. It may be read, and
// not written to, until the next buffer is asked for.
func (h *hasher) hash(chunk []byte) {
	if h.one != nil {
		h.write(chunk)
		return
	}
	h.full <- chunk
}

// finish waits until everything is hashed. It may be called again.
func (h *hasher) finish() {
	if h.full != nil {
		close(h.full)
		<-h.done
		h.full = nil
	}
}

var errTooLarge = fmt.Errorf("it is larger than %d MiB", gate.MaxHandoffFile>>20)
