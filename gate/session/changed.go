package session

import (
	"errors"
	"io"
	"io/fs"
	"path"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/digest"
)

// Changed tells whether anything below a path differs between two states: a file
// that was added, changed or removed (sessions.md 8.5). What cannot be compared
// counts as changed.
func Changed(now, base gate.Tree, p string) bool {
	a, err := now.Stat(p)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return true
	}
	b, baseErr := base.Stat(p)
	if baseErr != nil && !errors.Is(baseErr, fs.ErrNotExist) {
		return true
	}
	if err != nil || baseErr != nil {
		return (err == nil) != (baseErr == nil)
	}
	return differ(now, base, a, b)
}

func differ(now, base gate.Tree, a, b gate.Entry) bool {
	switch {
	case a.Kind != b.Kind:
		return true
	case a.ID != "" && b.ID != "":
		return a.ID != b.ID || a.Mode != b.Mode
	case a.Kind == gate.Folder:
		return foldersDiffer(now, base, a.Path, b.Path)
	case a.Kind == gate.Regular:
		return a.Mode != b.Mode || fileDiffers(now, a.Path, b.ID)
	case a.Kind == gate.Symlink:
		return false // it is never followed, so where it leads is of no interest
	}
	return true
}

func foldersDiffer(now, base gate.Tree, mine, theirs string) bool {
	a, err := now.List(mine)
	if err != nil {
		return true
	}
	b, err := base.List(theirs)
	if err != nil || len(a) != len(b) {
		return true
	}
	for i := range a {
		if path.Base(a[i].Path) != path.Base(b[i].Path) || differ(now, base, a[i], b[i]) {
			return true
		}
	}
	return false
}

// fileDiffers compares a file with git's id of another.
func fileDiffers(t gate.Tree, path, id string) bool {
	blob := digest.NewBlob(len(id))
	if blob == nil {
		return true
	}
	r, e, err := t.Open(path)
	if err != nil {
		return true
	}
	defer r.Close()
	blob.Begin(e.Size)
	if _, err := io.Copy(blob, r); err != nil {
		return true
	}
	return string(blob.ID()) != id
}
