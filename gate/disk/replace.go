package disk

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteOptions say how Write writes.
type WriteOptions struct {
	Mode    fs.FileMode // of a new file
	Private bool        // a file that is replaced gets Mode, too, and not its old one
	New     bool        // refuse a file that is there: fs.ErrExist
}

// Write writes a whole file at once: beside its place under another name, flushed,
// and then renamed, so that the old text or the new is there at any time. A link
// in its place stays one, and what it leads to is replaced.
func Write(file string, data []byte, o WriteOptions) (err error) {
	if resolved, err := filepath.EvalSymlinks(file); err == nil {
		file = resolved
	}
	mode := o.Mode
	info, err := os.Lstat(file)
	switch {
	case err == nil && o.New:
		return fs.ErrExist
	case err == nil && !info.Mode().IsRegular():
		return errNotRegular
	case err == nil && !o.Private:
		mode = info.Mode().Perm()
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return Cause(err)
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // it never fails: it ends the program instead
	temporary := filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+"."+hex.EncodeToString(random[:])+".tmp")
	first := mode
	if info != nil {
		first &= 0o600 // nobody else reads it before it has the mode of the old one
	}
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, first) //nolint:gosec // the caller names it.
	if err != nil {
		return Cause(err)
	}
	defer func() {
		if err != nil {
			_ = f.Close() // it may be closed already
			_ = os.Remove(temporary)
			err = Cause(err)
		}
	}()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if first != mode {
		if err := f.Chmod(mode); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if o.New {
		return place(temporary, file)
	}
	return os.Rename(temporary, file)
}

var errNotRegular = errors.New("it is there and no regular file")

// place gives a finished file its name unless somebody has taken that meanwhile.
// Where the file system knows no links, the last look decides.
func place(temporary, file string) error {
	err := os.Link(temporary, file)
	switch {
	case err == nil:
		_ = os.Remove(temporary) // it has two names otherwise, both of them whole
		return nil
	case errors.Is(err, fs.ErrExist):
		return fs.ErrExist
	}
	if _, err := os.Lstat(file); err == nil {
		return fs.ErrExist
	}
	return os.Rename(temporary, file)
}
