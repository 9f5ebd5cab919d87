package git

import (
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
)

// fewTrees is how many trees smallChange reads: those of a commit that touches
// a handful of folders, as one that only hands over does.
const fewTrees = 16

// smallChange compares two trees below a folder by reading those of their
// folders that differ. It gives up, and answers false, when there are more than
// a few, when one of them cannot be read, and when dir is not a folder in both:
// diff-tree then says what is the case. The answer is diff-tree's.
func (r *Repo) smallChange(base, head, dir string) (changes []gate.Change, ok bool) {
	old, err := r.Tree("", base).Stat(dir)
	if err != nil || old.Kind != gate.Folder {
		return nil, false
	}
	current, err := r.Tree("", head).Stat(dir)
	if err != nil || current.Kind != gate.Folder {
		return nil, false
	}
	c := treeComparison{repo: r, left: fewTrees, zero: strings.Repeat("0", len(base))}
	if !c.compare(dir, old.ID, current.ID) {
		return nil, false
	}
	slices.SortFunc(c.changes, func(a, b gate.Change) int { return strings.Compare(a.Path, b.Path) })
	return c.changes, true
}

type treeComparison struct {
	repo    *Repo
	left    int    // trees that may still be read
	zero    string // the id of an absent side
	changes []gate.Change
}

// compare adds what differs between two folders, "" for one that is absent. It
// answers false when too much is to be read.
func (c *treeComparison) compare(dir, old, current string) bool {
	if old == current {
		return true
	}
	before, ok := c.tree(old)
	if !ok {
		return false
	}
	after, ok := c.tree(current)
	if !ok {
		return false
	}
	for name, a := range before {
		if !c.entries(gate.Join(dir, name), a, after[name]) {
			return false
		}
	}
	for name, b := range after {
		if _, both := before[name]; !both && !c.entries(gate.Join(dir, name), gate.Entry{}, b) {
			return false
		}
	}
	return true
}

// entries compares what stands at one path; the zero Entry is an absent side.
func (c *treeComparison) entries(p string, a, b gate.Entry) bool {
	if a.ID == b.ID && a.Mode == b.Mode {
		return true
	}
	var old, current string // the folders among the two
	if a.Kind == gate.Folder {
		old, a = a.ID, gate.Entry{}
	}
	if b.Kind == gate.Folder {
		current, b = b.ID, gate.Entry{}
	}
	c.file(p, a, b)
	return c.compare(p, old, current)
}

// file adds what happened to a path that is no folder, or of which that side
// counts as absent.
func (c *treeComparison) file(p string, a, b gate.Entry) {
	change := gate.Change{Status: 'M', Path: p, OldMode: a.Mode, NewMode: b.Mode, OldID: a.ID, NewID: b.ID}
	switch {
	case a.Kind == 0 && b.Kind == 0:
		return
	case a.Kind == 0:
		change.Status, change.OldID = 'A', c.zero
	case b.Kind == 0:
		change.Status, change.NewID = 'D', c.zero
	case a.Kind != b.Kind:
		change.Status = 'T'
	}
	c.changes = append(c.changes, change)
}

func (c *treeComparison) tree(id string) (map[string]gate.Entry, bool) {
	if id == "" {
		return nil, true
	}
	if c.left--; c.left < 0 {
		return nil, false
	}
	names, err := c.repo.rawTree(id)
	return names, err == nil
}

// A tree is small up to so many folders, read one by one, and files.
const (
	smallTreeFolders = 32
	smallTreeFiles   = 2000
)

// smallTree gives up, and answers false, when a tree is not small, when it cannot
// be read, and when dir is no folder in it: ls-tree then says what is the case.
func (r *Repo) smallTree(treeID, dir string) ([]gate.Entry, bool) {
	top, err := r.Tree("", treeID).Stat(dir)
	if err != nil || top.Kind != gate.Folder {
		return nil, false
	}
	var entries []gate.Entry
	folders := []gate.Entry{top}
	for i := 0; i < len(folders); i++ {
		if len(folders) > smallTreeFolders || len(entries) > smallTreeFiles {
			return nil, false
		}
		names, err := r.rawTree(folders[i].ID)
		if err != nil {
			return nil, false
		}
		for name, e := range names {
			e.Path = gate.Join(folders[i].Path, name)
			if e.Kind == gate.Folder {
				folders = append(folders, e)
			} else {
				entries = append(entries, e)
			}
		}
	}
	slices.SortFunc(entries, byPath)
	return entries, true
}
