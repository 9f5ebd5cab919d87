// Package wholefile writes a file at once: beside its place under another name,
// flushed, and then renamed, so that whoever looks finds the whole old text or the
// whole new one, also after a kill or a loss of power.
package wholefile

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
)

// Folder is what is done to the folder of a file, one call each. A name has no
// folder in it.
type Folder interface {
	// Create makes a file that must not be there yet.
	Create(name string, mode fs.FileMode) (File, error)
	Rename(from, to string) error
	// Link gives a file a second name, which must be free: fs.ErrExist.
	Link(from, to string) error
	Remove(name string) error
	// Exists tells whether something has the name, be it a link to nothing.
	Exists(name string) bool
	// Sync makes the names in the folder last.
	Sync() error
}

// File is a new file, open for writing.
type File interface {
	io.Writer
	io.StringWriter
	Chmod(mode fs.FileMode) error
	Sync() error
	Close() error
}

// Options say how Write writes.
type Options struct {
	// Mode is that of the file, less the umask unless it is Exact.
	Mode fs.FileMode
	// Exact is for a file that replaces another and has to have its mode. Nobody
	// else reads it before it has that.
	Exact bool
	// New refuses a name that is taken, also one that was taken meanwhile:
	// fs.ErrExist.
	New bool
	// Durable fails where the folder cannot be flushed. Without it a loss of power
	// may then bring the old text back, whole. The new text is there in both cases,
	// but for a New file that fails so.
	Durable bool
	// Before is asked right before the new file takes the name, and may refuse;
	// nil asks nothing.
	Before func() error
}

// Write writes a file. After an error the new file is gone and the target
// untouched, but for Durable's of one that is replaced; after a kill the new file may stay, and is ignored
// by everything because of its name.
func Write(folder Folder, name string, content io.WriterTo, o Options) error {
	temporary := temporaryName(name)
	mode := o.Mode
	if o.Exact {
		mode = 0o600
	}
	f, err := folder.Create(temporary, mode)
	if err != nil {
		return err
	}
	if err = fill(f, content, o); err == nil && o.Before != nil {
		err = o.Before()
	}
	if err == nil {
		err = place(folder, temporary, name, o.New)
	}
	if err != nil {
		_ = folder.Remove(temporary) // what went wrong first is what is said
		return err
	}
	err = folder.Sync()
	if err == nil || !o.Durable {
		return nil
	}
	if o.New {
		_ = folder.Remove(name) // nobody relies on it yet
	}
	return err
}

// fill writes a file to its end and closes it.
func fill(f File, content io.WriterTo, o Options) (err error) {
	defer func() {
		if err != nil {
			_ = f.Close() // it may be closed already
		}
	}()
	if _, err := content.WriteTo(f); err != nil {
		return err
	}
	if o.Exact {
		if err := f.Chmod(o.Mode.Perm()); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

// place gives a finished file its name. Where the file system knows no links, the
// last look decides whether the name is free.
func place(folder Folder, temporary, name string, isNew bool) error {
	if !isNew {
		return folder.Rename(temporary, name)
	}
	err := folder.Link(temporary, name)
	switch {
	case err == nil:
		_ = folder.Remove(temporary) // it has two names otherwise, both of them whole
		return nil
	case errors.Is(err, fs.ErrExist) || folder.Exists(name):
		return fs.ErrExist
	}
	return folder.Rename(temporary, name)
}

// temporaryName gives a name that no command indexes and no other run uses.
func temporaryName(name string) string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails: it ends the program instead
	return "." + name + "." + hex.EncodeToString(b[:]) + ".tmp"
}
