package session

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/parallel"
)

// The files of a session folder (sessions.md 3).
const (
	ManifestName = "manifest.json"
	TimelineName = "timeline.jsonl"
	PayloadName  = "HANDOFF.llm.json"
	SummaryName  = "HANDOFF.summary.json"
	RenderName   = "HANDOFF.md"
	ToolsName    = "TOOLS.md"
)

// IndexName is the list of sessions in a root.
const IndexName = "INDEX.json"

var names = []string{ManifestName, TimelineName, PayloadName, SummaryName, RenderName, ToolsName}

// Place is where a session lies.
type Place struct {
	Path    string // the folder, from the top level
	ID      string // its name
	Project string // the name of the project folder; "" in the legacy layout
	// Marked says that timeline.jsonl or HANDOFF.llm.json stands beside the
	// manifest, which tells a session from a folder that is only laid out like one
	// (sessions.md 12).
	Marked bool
}

// Legacy tells whether the session lies directly under the root.
func (p Place) Legacy() bool { return p.Project == "" }

// Name is what tells the session from those of other projects.
func (p Place) Name() string {
	if p.Legacy() {
		return p.ID
	}
	return p.Project + "/" + p.ID
}

// Store is what a root holds. Each list is ordered by the bytes of its paths.
type Store struct {
	Exists   bool // the root is a folder
	Sessions []Place
	Headless []Place  // folders at a session's place without a manifest, but with another of its files
	Links    []string // symbolic links at the place of a session or of a project
	Broken   []Broken
}

// Broken is a folder that could not be listed.
type Broken struct {
	Path string
	Err  error
}

// reserved are the names under a root that are no sessions.
var reserved = []string{"projects", "links", "tools", "templates", "refs"}

// notSessions are the files that a root and a project have beside their folders.
var notSessions = []string{IndexName, ConfigName, "PROJECT.md"}

// Find lists the sessions under a root. It opens no file.
func Find(t gate.Tree, root string) Store {
	var s Store
	e, err := t.Stat(root)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		s.Broken = append(s.Broken, Broken{root, err})
		return s
	case err != nil || e.Kind != gate.Folder:
		return s
	}
	s.Exists = true
	var candidates []candidate
	for _, e := range s.list(t, root) {
		name := path.Base(e.Path)
		switch {
		case name == "projects" && e.Kind == gate.Folder:
			candidates = append(candidates, s.projects(t, e.Path)...)
		case name == "projects":
			s.link(e) // it would hide every session
		case !slices.Contains(reserved, name):
			candidates = append(candidates, candidate{e, ""})
		}
	}
	s.look(t, candidates)
	byPath := func(a, b Place) int { return strings.Compare(a.Path, b.Path) }
	slices.SortFunc(s.Sessions, byPath)
	slices.SortFunc(s.Headless, byPath)
	slices.SortFunc(s.Links, strings.Compare)
	return s
}

// candidate is what stands at the place of a session, and its project.
type candidate struct {
	gate.Entry
	project string
}

// look looks at the candidates, some of them side by side.
func (s *Store) look(t gate.Tree, candidates []candidate) {
	found := make([]Store, len(candidates))
	_ = parallel.Each(context.Background(), len(candidates), func(_ context.Context, i int) error {
		found[i].session(t, candidates[i])
		return nil // so that there is no error
	})
	for i := range found {
		s.Sessions = append(s.Sessions, found[i].Sessions...)
		s.Headless = append(s.Headless, found[i].Headless...)
		s.Links = append(s.Links, found[i].Links...)
		s.Broken = append(s.Broken, found[i].Broken...)
	}
}

func (s *Store) projects(t gate.Tree, dir string) (candidates []candidate) {
	for _, project := range s.list(t, dir) {
		if project.Kind != gate.Folder {
			s.link(project)
			continue
		}
		for _, e := range s.list(t, project.Path) {
			candidates = append(candidates, candidate{e, path.Base(project.Path)})
		}
	}
	return candidates
}

// session adds what stands at the place of a session.
func (s *Store) session(t gate.Tree, c candidate) {
	if c.Kind != gate.Folder {
		s.link(c.Entry)
		return
	}
	p := Place{Path: c.Path, ID: path.Base(c.Path), Project: c.project}
	manifest, others := false, false
	for _, file := range s.list(t, c.Path) {
		switch name := path.Base(file.Path); {
		case name == ManifestName:
			manifest = true
		case slices.Contains(names, name):
			others = true
			p.Marked = p.Marked || name == TimelineName || name == PayloadName
		}
	}
	switch {
	case manifest:
		s.Sessions = append(s.Sessions, p)
	case others:
		p.Marked = false
		s.Headless = append(s.Headless, p)
	}
}

func (s *Store) link(e gate.Entry) {
	if e.Kind == gate.Symlink && !slices.Contains(notSessions, path.Base(e.Path)) {
		s.Links = append(s.Links, e.Path)
	}
}

func (s *Store) list(t gate.Tree, dir string) []gate.Entry {
	entries, err := t.List(dir)
	if err != nil {
		s.Broken = append(s.Broken, Broken{dir, err})
	}
	return entries
}

// Session finds the session at a path.
func (s *Store) Session(path string) (Place, bool) {
	i, ok := slices.BinarySearchFunc(s.Sessions, path, func(p Place, path string) int { return strings.Compare(p.Path, path) })
	if !ok {
		return Place{}, false
	}
	return s.Sessions[i], true
}
