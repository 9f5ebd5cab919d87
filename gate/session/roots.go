package session

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/follow"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
)

// Roots are the places at which sessions are looked for where nobody has named
// one (sessions.md 12).
type Roots struct {
	Paths []string // folders of one tree or both, ordered by bytes
	Wrong []WrongConfig
	// BaseErr says why what the base declares is not known.
	BaseErr error
}

// WrongConfig is a configuration of ours that is wrong, or declares a folder
// outside the repository.
type WrongConfig struct {
	Path string
	Config
}

// FindRoots gathers the roots of two trees, so that moving or removing one or its
// configuration hides nothing: each folder named handoffs, or that a link of that
// name leads to, and each that a configuration declares. The entries are all files
// of either tree; base may be nil.
func FindRoots(head, base gate.LinkReader, headFiles, baseFiles []gate.Entry) Roots {
	var r Roots
	roots, declared := map[string]bool{}, map[string]bool{}
	for _, e := range headFiles {
		addHandoffs(roots, head, e)
	}
	for _, e := range baseFiles {
		addHandoffs(roots, base, e)
	}
	if base != nil {
		for _, p := range configs(baseFiles) {
			doc := gate.ReadDocument(base, p, MaxConfig)
			if doc.State == gate.Unreadable {
				r.BaseErr = doc.Err
			}
			if doc.State != gate.Present {
				continue
			}
			c := ParseConfig(doc.Data)
			declared[p] = c.Directory != ""
			root, err := c.root(base, p)
			if err != nil {
				r.BaseErr = err
			}
			if root != "" {
				roots[root] = true
			}
		}
	}
	for _, p := range configs(headFiles) {
		c := readConfig(head, p)
		root, err := c.root(head, p)
		if err != nil {
			c.Problems = append(c.Problems, Problem{1, "what it declares cannot be followed: " + safetext.Clean(err.Error())})
		}
		if root != "" {
			roots[root] = true
		}
		// Others use the name of the file, too. It is ours if it declares a folder, or
		// did so at the base, or if a session lies where it would without declaring.
		if len(c.Problems) > 0 && (c.Directory != "" || declared[p] || hasSessions(head, base, gate.Join(path.Dir(p), HandoffsName))) {
			r.Wrong = append(r.Wrong, WrongConfig{p, c})
		}
	}
	r.Paths = slices.Sorted(maps.Keys(roots))
	return r
}

// readConfig reads the configuration at a path, with what keeps it from being read
// as its problem.
func readConfig(t gate.Tree, p string) Config {
	doc := gate.ReadDocument(t, p, MaxConfig)
	if doc.State == gate.Present {
		return ParseConfig(doc.Data)
	}
	why := "it is not there"
	if doc.Err != nil {
		why = "it cannot be read: " + safetext.Clean(doc.Err.Error())
	}
	return Config{Problems: []Problem{{1, why}}}
}

// root gives the folder that a configuration declares; "" where it declares none,
// or none that is there. One outside the repository is a problem of the
// configuration.
func (c *Config) root(t gate.LinkReader, at string) (string, error) {
	if c.Directory == "" {
		return "", nil
	}
	place, err := follow.Folder(t, ".", path.Dir(at), c.Directory)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case place.Outside:
		c.Problems = append(c.Problems, Problem{c.DirectoryLine, "it declares " + safetext.Clean(c.Directory) + ", which is outside the repository"})
		return "", nil
	}
	return place.Path, nil
}

// configs are the paths of all configurations.
func configs(files []gate.Entry) []string {
	var out []string
	for _, e := range files {
		if e.Path == ConfigName || strings.HasSuffix(e.Path, "/"+ConfigName) {
			out = append(out, e.Path)
		}
	}
	return out
}

// addHandoffs adds the folders of that name that a file lies below, and the one
// that it leads to where it is a link of that name.
func addHandoffs(roots map[string]bool, t gate.LinkReader, e gate.Entry) {
	const name = HandoffsName + "/"
	for from := 0; ; {
		n := strings.Index(e.Path[from:], name)
		if n < 0 {
			break
		}
		i := from + n
		if i == 0 || e.Path[i-1] == '/' {
			roots[e.Path[:i+len(HandoffsName)]] = true
		}
		from = i + len(name) - 1
	}
	if e.Kind != gate.Symlink || path.Base(e.Path) != HandoffsName {
		return
	}
	// What cannot be followed leads to no folder that could be verified.
	if place, err := follow.Folder(t, ".", ".", e.Path); err == nil && !place.Outside {
		roots[place.Path] = true
	}
}

// hasSessions tells whether a folder holds what counts as a session.
func hasSessions(head, base gate.Tree, root string) bool {
	now, before := Find(head, root), Store{}
	if base != nil {
		before = Find(base, root)
	}
	Count(&now, &before)
	return len(now.Sessions)+len(before.Sessions) > 0
}

// Count leaves of two states of a root what counts as sessions of this format
// where nobody has named the root: in one of the states timeline.jsonl or
// HANDOFF.llm.json must stand beside the manifest, as other projects use these
// names, too. Links count in a root that has such a session.
func Count(now, base *Store) {
	counts := map[string]bool{}
	for _, s := range []*Store{now, base} {
		for _, p := range s.Sessions {
			counts[p.Path] = counts[p.Path] || p.Marked
		}
	}
	other := func(p Place) bool { return !counts[p.Path] }
	for _, s := range []*Store{now, base} {
		s.Sessions = slices.DeleteFunc(s.Sessions, other)
		s.Headless = slices.DeleteFunc(s.Headless, other)
	}
	if len(now.Sessions)+len(base.Sessions) == 0 {
		now.Links, base.Links = nil, nil
	}
}
