package install

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/follow"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// Places are where copies are looked for below a folder, in this order
// (sessions.md 9.4). agent-handoff is the product's older name.
var Places = func() (places []string) {
	for _, dir := range []string{".claude/skills", ".codex/skills", ".agents/skills", "skills", "local/skills"} {
		places = append(places, dir+"/agents-handoff", dir+"/agent-handoff")
	}
	return places
}()

// Found is what stands, or stood, at a place.
type Found struct {
	follow.Place
	// Removed says that the base has an install record there and that neither of
	// the two files is there now.
	Removed bool
}

// Search looks for installations below in.Dir, in the order of the places, each
// real folder once. within is the folder of in.Files that links may not leave.
// The error is about reading in.Files; whether the base could be read is in
// in.BaseErr.
func Search(in *Input, within string) ([]Found, error) {
	files, ok := in.Files.(gate.LinkReader)
	if !ok {
		return nil, fmt.Errorf("the %s cannot tell where links lead", in.Files.Name())
	}
	var found []Found
	seen := map[string]bool{}
	for _, rel := range Places {
		place, err := follow.Folder(files, within, in.Dir, rel)
		holds := place.Outside
		if err == nil && !holds {
			holds, err = holdsAny(files, place.Path, SkillName, RecordName)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		removed := false
		if !holds && in.BaseErr == nil {
			place, removed, in.BaseErr = in.removed(rel, place)
		}
		if (holds || removed) && !seen[place.Path] {
			seen[place.Path] = true
			found = append(found, Found{place, removed})
		}
	}
	return found, nil
}

// removed tells whether the base holds a record at a place that holds none now,
// and where. Where the base reaches it through a link, it is the folder behind
// the link that must be gone.
func (in *Input) removed(rel string, now follow.Place) (follow.Place, bool, error) {
	base, ok := in.Base.(gate.LinkReader)
	if !ok {
		return now, false, nil
	}
	// A base there is in a repository only, where the tree begins at the top level.
	was, err := follow.Folder(base, ".", in.Dir, rel)
	if errors.Is(err, fs.ErrNotExist) || was.Outside {
		return now, false, nil
	}
	if err != nil {
		return now, false, err
	}
	had, err := holdsAny(base, was.Path, RecordName)
	if err != nil || !had {
		return now, false, err
	}
	still, err := holdsAny(in.Files, was.Path, SkillName, RecordName)
	return was, !still && err == nil, nil
}

// holdsAny tells whether a folder has an entry of one of the names, of whatever
// kind.
func holdsAny(t gate.Tree, dir string, names ...string) (bool, error) {
	for _, name := range names {
		switch _, err := t.Stat(gate.Join(dir, name)); {
		case err == nil:
			return true, nil
		case !errors.Is(err, fs.ErrNotExist):
			return false, err
		}
	}
	return false, nil
}

// Judge judges what was found at a place. in is that of Search with Dir set to
// f.Path.
func (f Found) Judge(in Input) report.Layer {
	c := newChecker(in)
	switch {
	case f.Outside:
		c.Dir = "."
		c.link(f.Link, leadsOutside)
		return c.done("the place is a symbolic link that leads outside")
	case f.Removed:
		c.gone()
		return c.done("the installation of the base is gone")
	}
	return c.done(c.run())
}

// None is the layer of a folder below which no installation was found.
func None(in Input) report.Layer {
	if in.BaseErr == nil {
		return report.Skipped(ID, Title, "no installation was found")
	}
	c := newChecker(in)
	c.unavailable(c.path("."), in.BaseErr)
	return c.done("no installation was found, and whether the base has one is not known")
}
