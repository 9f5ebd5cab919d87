// Package follow follows symbolic links in a tree: in a commit as on disk, and
// never out of it.
package follow

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
)

// Place is where a path really leads.
type Place struct {
	Path string // from the top of the tree, a real folder
	Link string // the first link on the way; "" where there is none
	// Outside says that the path leads out of where it may lead, or nowhere that
	// could be told. Path is then where it was looked for.
	Outside bool
}

// maxLinks is how many links are followed, as in Linux.
const maxLinks = 40

// Folder follows rel, any path with slashes, from the real folder dir. within is the
// folder that it may not leave in the end. Where no folder is there it gives
// fs.ErrNotExist.
func Folder(t gate.LinkReader, within, dir, rel string) (Place, error) {
	asked := path.Join(dir, rel)
	place := Place{Path: asked}
	outside := func() (Place, error) {
		place.Path, place.Outside = asked, true
		return place, nil
	}
	if strings.HasPrefix(rel, "/") {
		return outside()
	}
	at, rest, links := dir, strings.Split(rel, "/"), 0
	for len(rest) > 0 {
		segment := rest[0]
		rest = rest[1:]
		switch segment {
		case "", ".":
			continue
		case "..":
			if at == "." {
				return outside()
			}
			at = path.Dir(at)
			continue
		}
		here := gate.Join(at, segment)
		e, err := t.Stat(here)
		if err != nil {
			return place, err
		}
		switch e.Kind {
		case gate.Folder:
			at = here
			continue
		case gate.Symlink:
		default:
			return place, fs.ErrNotExist
		}
		if place.Link == "" {
			place.Link = here
		}
		target, err := t.ReadLink(here)
		links++
		switch {
		case errors.Is(err, gate.ErrNotLink), err == nil && (links > maxLinks || strings.HasPrefix(target, "/")):
			return outside()
		case err != nil:
			return place, err
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	if at != within {
		if _, ok := gate.Below(within, at); !ok {
			return outside()
		}
	}
	place.Path = at
	return place, nil
}
