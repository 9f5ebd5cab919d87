package adopt

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
)

// operations are what is done to a folder, one call each, so that a test can end
// the process or fail the call at every one of them.
type operations interface {
	// Create makes a file that must not be there yet.
	Create(name string, mode fs.FileMode) (newFile, error)
	Rename(from, to string) error
	Remove(name string) error
	// Sync makes the names in the folder last.
	Sync() error
}

type newFile interface {
	io.Writer
	Chmod(mode fs.FileMode) error
	Sync() error
	Close() error
}

// replacement is one file to be written.
type replacement struct {
	name    string
	content io.WriterTo
	// mode is that of the file that is replaced. Where none is, the new file gets
	// 0644 less the umask.
	replaces bool
	mode     fs.FileMode
	// before is asked right before the new file takes the name, and may refuse;
	// nil asks nothing.
	before func() error
}

// newFileMode is the mode of a file that replaces none.
const newFileMode = 0o644

// writeSize is how much is written at a time.
const writeSize = 256 << 10

// replace writes a file beside its target and renames it over the target, which
// so holds the whole old or the whole new text at any time. After an error the
// new file is gone and the target untouched; after a kill it may stay, and is
// ignored by everything because of its name.
func replace(ops operations, r replacement) (err error) {
	temporary := temporaryName(r.name)
	mode := fs.FileMode(newFileMode)
	if r.replaces {
		mode = 0o600 // nobody else reads it before it has the mode of its target
	}
	f, err := ops.Create(temporary, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close() // it may be closed already
			_ = ops.Remove(temporary)
		}
	}()
	w := bufio.NewWriterSize(f, writeSize)
	if _, err := r.content.WriteTo(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if r.replaces {
		if err := f.Chmod(r.mode.Perm()); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if r.before != nil {
		if err := r.before(); err != nil {
			return err
		}
	}
	if err := ops.Rename(temporary, r.name); err != nil {
		return err
	}
	// The new text is there for everybody now. Some file systems cannot flush a
	// folder, and then a loss of power may bring the old text back, whole.
	_ = ops.Sync()
	return nil
}

// temporaryName gives a name that no command indexes and no other run uses.
func temporaryName(name string) string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails: it ends the program instead
	return "." + name + "." + hex.EncodeToString(b[:]) + ".tmp"
}

// rootOperations are the operations on a real folder.
type rootOperations struct{ root *os.Root }

func (o rootOperations) Create(name string, mode fs.FileMode) (newFile, error) {
	f, err := o.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (o rootOperations) Rename(from, to string) error { return o.root.Rename(from, to) }

func (o rootOperations) Remove(name string) error { return o.root.Remove(name) }

func (o rootOperations) Sync() error {
	f, err := o.root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// watched asks before each operation. An error takes the place of the operation.
type watched struct {
	operations
	before func(operation string) error
}

func (w watched) Create(name string, mode fs.FileMode) (newFile, error) {
	if err := w.before("create"); err != nil {
		return nil, err
	}
	f, err := w.operations.Create(name, mode)
	if err != nil {
		return nil, err
	}
	return watchedFile{f, w.before}, nil
}

func (w watched) Rename(from, to string) error {
	if err := w.before("rename " + to); err != nil {
		return err
	}
	return w.operations.Rename(from, to)
}

func (w watched) Sync() error {
	if err := w.before("sync folder"); err != nil {
		return err
	}
	return w.operations.Sync()
}

// watchedFile writes in two halves, between which a process may end.
type watchedFile struct {
	newFile
	before func(operation string) error
}

func (f watchedFile) Write(p []byte) (int, error) {
	done := 0
	for _, half := range [][]byte{p[:len(p)/2], p[len(p)/2:]} {
		if err := f.before("write"); err != nil {
			return done, err
		}
		n, err := f.newFile.Write(half)
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

func (f watchedFile) Chmod(mode fs.FileMode) error {
	if err := f.before("chmod"); err != nil {
		return err
	}
	return f.newFile.Chmod(mode)
}

func (f watchedFile) Sync() error {
	if err := f.before("sync"); err != nil {
		return err
	}
	return f.newFile.Sync()
}

func (f watchedFile) Close() error {
	if err := f.before("close"); err != nil {
		return err
	}
	return f.newFile.Close()
}
