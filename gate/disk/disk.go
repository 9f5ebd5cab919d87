// Package disk is the working tree as a gate.Tree. Nothing below its root is
// ever reached through a symbolic link, and a name is found only under exactly
// the byte string its folder lists (aahp-verify.md 2).
package disk

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/handoff-gate/handoff-gate/gate"
)

// Tree is the working tree below one folder. It is safe for several goroutines.
type Tree struct {
	root   *os.Root
	opened *opened

	mu      sync.Mutex
	folders map[string][]gate.Entry // what each folder listed when first asked
}

// Open opens the working tree whose top level is dir.
func Open(dir string) (*Tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	opened, err := openTop(root)
	if err != nil {
		root.Close()
		return nil, err
	}
	return &Tree{root: root, opened: opened, folders: map[string][]gate.Entry{}}, nil
}

// Close lets the top level go.
func (t *Tree) Close() error { return errors.Join(t.opened.close(), t.root.Close()) }

// Name is how messages call it.
func (t *Tree) Name() string { return gate.WorkingTree }

// Stat tells what stands at p.
func (t *Tree) Stat(p string) (gate.Entry, error) {
	if p == "." {
		return gate.Entry{Path: ".", Kind: gate.Folder, Size: -1}, nil
	}
	if !clean(p) {
		return gate.Entry{}, fs.ErrNotExist
	}
	children, err := t.List(path.Dir(p))
	if err != nil {
		return gate.Entry{}, err
	}
	i, ok := slices.BinarySearchFunc(children, p, func(e gate.Entry, p string) int { return cmp.Compare(e.Path, p) })
	if !ok {
		return gate.Entry{}, fs.ErrNotExist
	}
	return children[i], nil
}

// clean tells whether p is a relative path without empty, "." and ".." segments.
// fs.ValidPath wants UTF-8 besides, but a name is any bytes.
func clean(p string) bool {
	for segment := range strings.SplitSeq(p, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	return true
}

// List gives the children of a folder that is reached through real folders.
func (t *Tree) List(dir string) ([]gate.Entry, error) {
	// First what is known: to look at every folder above once more would make the
	// time for a deep tree grow with the square of its depth.
	t.mu.Lock()
	children, ok := t.folders[dir]
	t.mu.Unlock()
	if ok {
		return children, nil
	}
	if dir != "." {
		e, err := t.Stat(dir)
		if err != nil {
			return nil, err
		}
		if e.Kind != gate.Folder {
			return nil, fs.ErrNotExist
		}
	}
	children, err := t.read(dir)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	t.folders[dir] = children
	t.mu.Unlock()
	return children, nil
}

func (t *Tree) read(dir string) ([]gate.Entry, error) {
	p, err := t.opened.enter(dir)
	if err != nil {
		return nil, Cause(err)
	}
	defer t.opened.leave(p)
	children, err := p.list()
	if err != nil {
		return nil, Cause(err)
	}
	slices.SortFunc(children, func(a, b gate.Entry) int { return cmp.Compare(a.Path, b.Path) })
	return children, nil
}

func gitMode(m fs.FileMode) uint32 {
	if m&0o100 != 0 {
		return 0o100755
	}
	return 0o100644
}

// Open opens a regular file without following links and without blocking, so
// that a FIFO put in its place can neither hang the gate nor be read.
func (t *Tree) Open(p string) (io.ReadCloser, gate.Entry, error) {
	f, e, err := t.OpenFile(p)
	if err != nil {
		return nil, e, err
	}
	return f, e, nil
}

// OpenFile is Open for who reads at more than one place.
func (t *Tree) OpenFile(p string) (*File, gate.Entry, error) {
	e, err := t.Stat(p)
	if err != nil {
		return nil, e, err
	}
	if e.Kind != gate.Regular {
		return nil, e, gate.ErrNotRegular
	}
	folder := t.Folder()
	defer folder.Close()
	f, err := folder.Open(p)
	if err != nil {
		return nil, e, err
	}
	if f == nil {
		return nil, e, gate.ErrNotRegular
	}
	e.Size = f.Size()
	return f, e, nil
}

// Folder opens files of one folder in turn, without looking the folder up for
// each of them. It serves the scan of a whole work tree.
type Folder struct {
	tree *Tree
	dir  string
	at   *openDir // nil before the first file, and where dir is no real folder
}

// Folder makes a reader for many files, best asked for in path order.
func (t *Tree) Folder() *Folder { return &Folder{tree: t} }

// Open opens the file at p when it is a regular one; nil and no error when it
// is anything else or gone.
func (f *Folder) Open(p string) (*File, error) {
	dir, base := path.Split(p)
	dir = strings.TrimSuffix(dir, "/")
	if dir == "" {
		dir = "."
	}
	if f.at == nil || dir != f.dir {
		f.Close()
		at, err := f.tree.opened.enter(dir)
		if err != nil {
			return nil, unlessPassedOver(err)
		}
		f.at, f.dir = at, dir
	}
	h, err := f.at.open(base)
	if err != nil {
		return nil, unlessPassedOver(err)
	}
	size, err := h.size()
	if err != nil || size < 0 {
		_ = h.close() // nothing was written
		return nil, nil
	}
	return &File{handle: h, size: size}, nil
}

// unlessPassedOver keeps an error that does not mean "no regular file there".
func unlessPassedOver(err error) error {
	if passedOver(err) {
		return nil
	}
	return Cause(err)
}

// Close lets the current folder go.
func (f *Folder) Close() {
	if f.at != nil {
		f.tree.opened.leave(f.at)
		f.at = nil
	}
}

// File is an open regular file.
type File struct {
	handle    handle
	size, pos int64
	closed    bool
}

// Size is how large the file was when it was opened.
func (f *File) Size() int64 { return f.size }

// Read reads on. At the size that the file had it says that the end is reached
// without asking once more, which halves the calls for a small file. A file of
// size 0 is asked: some file systems do not tell sizes.
func (f *File) Read(p []byte) (int, error) {
	if f.closed {
		return 0, fs.ErrClosed
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := f.handle.read(p)
	if err != nil {
		return 0, Cause(err)
	}
	f.pos += int64(n)
	if n == 0 || f.pos == f.size {
		err = io.EOF
	}
	return n, err
}

// ReadAt reads at an offset, apart from where Read is (io.ReaderAt).
func (f *File) ReadAt(p []byte, off int64) (n int, err error) {
	if f.closed {
		return 0, fs.ErrClosed
	}
	for n < len(p) {
		m, err := f.handle.readAt(p[n:], off+int64(n))
		if err != nil {
			return n, Cause(err)
		}
		if m == 0 {
			return n, io.EOF
		}
		n += m
	}
	return n, nil
}

// Close closes the file.
func (f *File) Close() error {
	if f.closed {
		return fs.ErrClosed
	}
	f.closed = true
	return f.handle.close()
}

// Cause keeps why an operation failed without the paths it was tried on: they may
// be absolute, and no machine's path stands in a report.
func Cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err
	}
	return err
}

// Walk lists every regular file below dir, without following links. Folders
// for which skip answers true are not entered.
func (t *Tree) Walk(dir string, skip func(name string) bool) ([]string, error) {
	var out []string
	todo := []string{dir}
	for len(todo) > 0 {
		d := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		children, err := t.List(d)
		if err != nil {
			return nil, err
		}
		for _, c := range children {
			switch c.Kind {
			case gate.Folder:
				if !skip(path.Base(c.Path)) {
					todo = append(todo, c.Path)
				}
			case gate.Regular:
				out = append(out, c.Path)
			case gate.Symlink, gate.Gitlink, gate.Special, gate.Unmerged:
			}
		}
	}
	slices.Sort(out)
	return out, nil
}
