// Package fake has in-memory stand-ins for what the layers read, for tests.
package fake

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
)

// File is one entry of a Tree.
type File struct {
	Data string
	Kind gate.Kind // 0 is Regular
	Exec bool      // mode 100755
	Err  error     // what Stat gives for it
	Lost error     // what Open gives for it: an object that the clone lacks
}

// Tree is a gate.Tree that holds the files it is made of, by path. Folders are
// there because something is below them.
type Tree map[string]File

// Files makes a Tree of regular files.
func Files(content map[string]string) Tree {
	t := Tree{}
	for p, data := range content {
		t[p] = File{Data: data}
	}
	return t
}

// With gives a copy of the tree in which some files are others; a nil file is
// removed.
func (t Tree) With(changes map[string]*File) Tree {
	out := Tree{}
	for p, f := range t {
		out[p] = f
	}
	for p, f := range changes {
		if f == nil {
			delete(out, p)
		} else {
			out[p] = *f
		}
	}
	return out
}

// Name is how messages call the tree.
func (t Tree) Name() string { return "fake tree" }

// Stat finds a file, or a folder that holds one.
func (t Tree) Stat(path string) (gate.Entry, error) {
	if f, ok := t[path]; ok {
		return t.entry(path, f), f.Err
	}
	if path == "." {
		return folder(path), nil
	}
	for p := range t {
		if strings.HasPrefix(p, path+"/") {
			return folder(path), nil
		}
	}
	return gate.Entry{}, fs.ErrNotExist
}

func folder(path string) gate.Entry {
	return gate.Entry{Path: path, Kind: gate.Folder, Mode: 0o40000, Size: -1}
}

func (t Tree) entry(path string, f File) gate.Entry {
	e := gate.Entry{Path: path, Kind: f.Kind, Size: int64(len(f.Data)), ID: id(f.Data)}
	switch f.Kind {
	case 0, gate.Regular:
		e.Kind, e.Mode = gate.Regular, 0o100644
		if f.Exec {
			e.Mode = 0o100755
		}
	case gate.Symlink:
		e.Mode = 0o120000
	case gate.Gitlink:
		e.Mode = 0o160000
	case gate.Folder, gate.Special, gate.Unmerged:
	}
	return e
}

// Open reads a regular file.
func (t Tree) Open(path string) (io.ReadCloser, gate.Entry, error) {
	e, err := t.Stat(path)
	if err != nil {
		return nil, e, err
	}
	if e.Kind != gate.Regular {
		return nil, e, gate.ErrNotRegular
	}
	if err := t[path].Lost; err != nil {
		return nil, e, err
	}
	return io.NopCloser(strings.NewReader(t[path].Data)), e, nil
}

// ReadLink gives the data of a symbolic link as its target.
func (t Tree) ReadLink(path string) (string, error) {
	e, err := t.Stat(path)
	if err != nil {
		return "", err
	}
	if e.Kind != gate.Symlink {
		return "", gate.ErrNotLink
	}
	return t[path].Data, t[path].Lost
}

// List gives the direct children of a folder, ordered by bytes.
func (t Tree) List(dir string) ([]gate.Entry, error) {
	e, err := t.Stat(dir)
	if err != nil {
		return nil, err
	}
	if e.Kind != gate.Folder {
		return nil, fs.ErrNotExist
	}
	var names []string
	for p := range t {
		if rel, ok := gate.Below(dir, p); ok {
			name, _, _ := strings.Cut(rel, "/")
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var out []gate.Entry
	for _, name := range slices.Compact(names) {
		child, err := t.Stat(gate.Join(dir, name))
		if err != nil {
			return nil, err
		}
		out = append(out, child)
	}
	return out, nil
}

// id is an object id that equal contents share: 40 hex digits.
func id(data string) string {
	sum := sha256.Sum256([]byte(data))
	return hex.EncodeToString(sum[:20])
}

// noID is the object id of an absent side.
var noID = strings.Repeat("0", 40)

// Compare gives the changes from one tree to another as git reports them:
// ordered by path, without rename detection.
func Compare(old, current Tree) []gate.Change {
	var paths []string
	for p := range old {
		paths = append(paths, p)
	}
	for p := range current {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	var out []gate.Change
	for _, p := range slices.Compact(paths) {
		was, had := old[p]
		is, has := current[p]
		c := gate.Change{Path: p, Status: 'M', OldID: noID, NewID: noID}
		if had {
			e := old.entry(p, was)
			c.OldMode, c.OldID = e.Mode, e.ID
		}
		if has {
			e := current.entry(p, is)
			c.NewMode, c.NewID = e.Mode, e.ID
		}
		switch {
		case has && is.Kind == gate.Unmerged:
			c.Status, c.NewMode, c.NewID = 'U', 0, noID
		case !had:
			c.Status = 'A'
		case !has:
			c.Status = 'D'
		case c.OldMode&0o170000 != c.NewMode&0o170000:
			c.Status = 'T'
		case c.OldMode == c.NewMode && c.OldID == c.NewID:
			continue
		}
		out = append(out, c)
	}
	return out
}
