package disk

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/handoff-gate/handoff-gate/gate/internal/wholefile"
)

// WriteOptions say how Write writes.
type WriteOptions struct {
	Mode    fs.FileMode // of a new file
	Private bool        // a file that is replaced gets Mode, too, and not its old one
	New     bool        // refuse a file that is there: fs.ErrExist
	Durable bool        // fail where a loss of power could undo the write
	// Before is asked ahead of each operation that changes something, told what
	// that is; an error takes the operation's place. Nil asks nothing.
	Before func(operation string) error
}

// Write writes a whole file at once: beside its place under another name, flushed,
// and then renamed, so that the old text or the new is there at any time. A link
// in its place stays one, and what it leads to is replaced.
func Write(file string, data []byte, o WriteOptions) error {
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
	folder := wholefile.Watch(wholefile.In(filepath.Dir(file)), o.Before)
	return Cause(wholefile.Write(folder, filepath.Base(file), bytes.NewReader(data), wholefile.Options{
		// What replaces a file is nobody else's to read before it has that one's mode.
		Mode: mode, Exact: info != nil && mode&^0o600 != 0, New: o.New, Durable: o.Durable,
	}))
}

var errNotRegular = errors.New("it is there and no regular file")
