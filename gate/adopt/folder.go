package adopt

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/disk"
	"github.com/handoff-gate/handoff-gate/gate/internal/wholefile"
)

// Folder is the handoff folder of a project. Its files are read through links as
// long as these stay inside the boundary, and written in the folder itself.
type Folder struct {
	root     *os.Root
	dir      string // absolute, links resolved
	boundary string // the folder that no link may leave
	ops      wholefile.Folder
	progress Progress
	ended    func() error
	changing bool     // this run has begun to change something
	lock     *os.File // the folder, locked; nil while it is not
}

// Hooks are what a run is told while it is at work. The zero value is silent.
type Hooks struct {
	// Before is asked ahead of each operation that changes something in the folder,
	// told what that is ("rename LOG.md"); an error takes the operation's place.
	Before func(operation string) error
	// Progress is told how far reading or writing a file has come.
	Progress Progress
	// Ended is asked ahead of each piece of a file that is read, and its error ends
	// the run. From the first change on it is asked no more: only a kill leaves a
	// run's work half done.
	Ended func() error
}

// Progress takes how far a work ("reading LOG.md") has come, in bytes.
type Progress func(work string, done, total int64)

// OpenFolder opens the handoff folder of a project. Both arguments are absolute
// with links resolved; boundary is the repository's top level, or the project
// where there is no repository. A link in place of .ai or .ai/handoff is an
// error: what is written would land somewhere else.
func OpenFolder(project, boundary string, hooks Hooks) (*Folder, error) {
	root, err := descend(project, enter)
	if err != nil {
		return nil, err
	}
	return newFolder(root, filepath.Join(project, filepath.FromSlash(gate.HandoffDir)), boundary, hooks), nil
}

// descend opens the handoff folder of a project by one step after the other.
func descend(project string, step func(root *os.Root, name string) (*os.Root, error)) (*os.Root, error) {
	root, err := os.OpenRoot(project)
	if err != nil {
		return nil, disk.Cause(err)
	}
	at := ""
	for name := range strings.SplitSeq(gate.HandoffDir, "/") {
		at = strings.TrimPrefix(at+"/"+name, "/")
		next, err := step(root, name)
		root.Close()
		if err != nil {
			return nil, fmt.Errorf("%s %w", at, err)
		}
		root = next
	}
	return root, nil
}

// OpenFolderToRead is OpenFolder for a command that writes nothing: .ai and
// .ai/handoff may be links that stay inside the boundary.
func OpenFolderToRead(project, boundary string) (*Folder, error) {
	rel, err := disk.Follow(boundary, filepath.Join(project, filepath.FromSlash(gate.HandoffDir)))
	if errors.Is(err, disk.ErrOutside) {
		return nil, fmt.Errorf("%s %w", gate.HandoffDir, errOutside)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be opened: %w", gate.HandoffDir, err)
	}
	dir := filepath.Join(boundary, filepath.FromSlash(rel))
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be opened: %w", gate.HandoffDir, disk.Cause(err))
	}
	return newFolder(root, dir, boundary, Hooks{}), nil
}

func newFolder(root *os.Root, dir, boundary string, hooks Hooks) *Folder {
	f := &Folder{root: root, dir: dir, boundary: boundary, ops: wholefile.Watch(wholefile.InRoot(root), hooks.Before), progress: hooks.Progress, ended: hooks.Ended}
	if f.progress == nil {
		f.progress = func(string, int64, int64) {}
	}
	if f.ended == nil {
		f.ended = func() error { return nil }
	}
	return f
}

// enter opens a folder that is a real one.
func enter(root *os.Root, name string) (*os.Root, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return nil, fmt.Errorf("cannot be opened: %w", disk.Cause(err))
	}
	if before.Mode()&fs.ModeSymlink != 0 {
		return nil, errors.New("is a symbolic link; nothing is written through one")
	}
	if !before.IsDir() {
		return nil, errors.New("is no folder")
	}
	next, err := root.OpenRoot(name)
	if err != nil {
		return nil, fmt.Errorf("cannot be opened: %w", disk.Cause(err))
	}
	after, err := next.Stat(".")
	if err != nil || !os.SameFile(before, after) {
		next.Close()
		return nil, errors.New("was replaced while it was opened")
	}
	return next, nil
}

// Close lets the folder go.
func (f *Folder) Close() {
	if f.lock != nil {
		f.lock.Close()
	}
	f.root.Close()
}

// handoffFile is a file of the folder, open for reading.
type handoffFile struct {
	file     *disk.File
	info     fs.FileInfo
	linked   bool // it was reached through a link
	progress func(done int64)
	goOn     func() error
	done     int64
}

// Read reads on.
func (f *handoffFile) Read(p []byte) (int, error) {
	if err := f.goOn(); err != nil {
		return 0, err
	}
	n, err := f.file.Read(p)
	f.done += int64(n)
	f.progress(f.done)
	return n, err
}

// ReadAt reads at an offset.
func (f *handoffFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.goOn(); err != nil {
		return 0, err
	}
	n, err := f.file.ReadAt(p, off)
	f.done = max(f.done, off+int64(n))
	f.progress(f.done)
	return n, err
}

// Close closes the file.
func (f *handoffFile) Close() { _ = f.file.Close() } // nothing was written

// The ways in which a file of the folder is not read. Each is a sentence without
// the file's name.
var (
	errOutside = errors.New("is a symbolic link that leaves the repository; nothing outside it is read")
	errGitDir  = errors.New("is a symbolic link into git's own folder, which is no part of the handoff set")
	errBroken  = errors.New("is a symbolic link to nothing")
)

// isNone tells that there is nothing to read: no file of the name, or a link to
// nothing.
func isNone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errBroken) }

// notRegularError is anything but a file: a folder, a pipe, a device.
type notRegularError struct{ kind gate.Kind }

func (e notRegularError) Error() string { return "is a " + e.kind.String() + ", not a regular file" }

// open opens the file of exactly that name; a link is followed while it stays
// inside the boundary. The error is fs.ErrNotExist when nothing has the name,
// one of those above, or why the file cannot be read. A pipe is never opened.
func (f *Folder) open(name string) (*handoffFile, error) {
	// A tree remembers what it has listed, so each file gets a new one: another
	// command of this program may just have written it.
	tree, err := disk.Open(f.dir)
	if err != nil {
		return nil, unreadable(err)
	}
	defer tree.Close()
	entry, err := tree.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, unreadable(err)
	}
	if entry.Kind != gate.Symlink {
		return f.openIn(f.root, tree, name, name)
	}
	rel, err := f.follow(name)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(f.boundary)
	if err != nil {
		return nil, unreadable(err)
	}
	defer root.Close()
	all, err := disk.Open(f.boundary)
	if err != nil {
		return nil, unreadable(err)
	}
	defer all.Close()
	file, err := f.openIn(root, all, rel, name)
	if err != nil {
		return nil, err
	}
	file.linked = true
	return file, nil
}

// openIn opens a regular file of a tree, whose top is root; name is how the folder
// calls it.
func (f *Folder) openIn(root *os.Root, tree *disk.Tree, p, name string) (*handoffFile, error) {
	info, err := root.Lstat(filepath.FromSlash(p))
	if err != nil {
		return nil, unreadable(err)
	}
	file, entry, err := tree.OpenFile(p)
	if errors.Is(err, gate.ErrNotRegular) {
		return nil, notRegularError{entry.Kind}
	}
	if err != nil {
		return nil, unreadable(err)
	}
	report := func(done int64) { f.progress("reading "+name, done, info.Size()) }
	return &handoffFile{file: file, info: info, progress: report, goOn: f.goOn}, nil
}

// goOn tells whether the run goes on; the error says why not.
func (f *Folder) goOn() error {
	if f.changing {
		return nil
	}
	if err := f.ended(); err != nil {
		return &EndedError{err}
	}
	return nil
}

// EndedError says that the run was ended while it had changed nothing yet.
type EndedError struct{ cause error }

func (e *EndedError) Error() string { return "not read to its end: " + e.cause.Error() }

func (e *EndedError) Unwrap() error { return e.cause }

// unreadable says that a file is there and cannot be read. It is no
// fs.ErrNotExist, even where the file went away meanwhile: that there is no such
// file is for the folder's listing to say.
func unreadable(err error) error {
	var ended *EndedError
	if errors.As(err, &ended) {
		return ended
	}
	return fmt.Errorf("cannot be read: %v", disk.Cause(err)) //nolint:errorlint // see above.
}

// follow gives where a link of the folder leads, relative to the boundary and
// with no link left in it.
func (f *Folder) follow(name string) (string, error) {
	rel, err := disk.Follow(f.boundary, filepath.Join(f.dir, name))
	broken := errors.Is(err, fs.ErrNotExist)
	switch {
	case errors.Is(err, disk.ErrOutside):
		return "", errOutside
	case err != nil && !broken:
		return "", fmt.Errorf("is a symbolic link that cannot be followed: %w", err)
	}
	switch {
	case gate.InGit(rel):
		return "", errGitDir
	case broken:
		return "", errBroken
	}
	return rel, nil
}

// errTooLarge says that a file is over its limit; it is never read in part.
var errTooLarge = errors.New("is larger than its limit")

// read reads a whole file of the folder.
func (f *Folder) read(name string, limit int64) ([]byte, error) {
	file, err := f.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if file.info.Size() > limit {
		return nil, errTooLarge
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, unreadable(err)
	}
	if int64(len(data)) > limit {
		return nil, errTooLarge
	}
	return data, nil
}

// Replace writes a file of the folder atomically (aahp-authoring.md 1, rule 5).
// A link of that name is replaced by a regular file and its target keeps its
// bytes; the new file has the mode of the one that was read under the name.
// before, which may be nil, is asked right before the new file takes the name.
func (f *Folder) Replace(name string, content io.WriterTo, before func() error) error {
	f.changing = true
	r := replacement{name: name, content: content, before: before}
	switch info, err := f.root.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return disk.Cause(err)
	case info.Mode()&fs.ModeSymlink != 0:
		file, err := f.open(name)
		switch {
		case err == nil:
			r.replaces, r.mode = true, file.info.Mode()
			file.Close()
		case !errors.Is(err, errBroken):
			return err
		}
	default:
		r.replaces, r.mode = true, info.Mode()
	}
	return disk.Cause(replace(f.ops, r))
}
