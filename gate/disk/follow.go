package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/handoff-gate/handoff-gate/gate/internal/localpath"
)

// ErrOutside says that a path leads out of the folder that it must stay in.
var ErrOutside = errors.New("it leads out of its folder")

// Follow gives where the path p really leads, relative to the folder boundary, with
// slashes and no link left in it. Both arguments are absolute, and the boundary has
// no link in it. The error is ErrOutside where it leads out of the boundary, an
// fs.ErrNotExist where nothing is there, in the boundary, and else why a link
// cannot be followed.
func Follow(boundary, p string) (rel string, err error) {
	target, err := filepath.EvalSymlinks(p)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing:
		target = aim(p)
	case err != nil:
		return "", Cause(err)
	}
	rel, in := localpath.Below(boundary, target)
	if !in {
		return "", ErrOutside
	}
	if missing {
		return rel, fmt.Errorf("nothing is there: %w", fs.ErrNotExist)
	}
	return rel, nil
}

// maxLinks is how many links in a row are followed, as in Linux.
const maxLinks = 40

// aim gives where a path that leads to nothing points, as far as the names in it
// tell: nothing is read there, so this only decides what is said.
func aim(p string) string {
	for range maxLinks {
		p = filepath.Join(Resolve(filepath.Dir(p)), filepath.Base(p))
		next, err := os.Readlink(p)
		if err != nil {
			break
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(p), next)
		}
		p = filepath.Clean(next)
	}
	return p
}

// Resolve follows the links in the part of a path that is there.
func Resolve(p string) string {
	p = filepath.Clean(p)
	if resolved, err := filepath.EvalSymlinks(p); err == nil {
		return resolved
	}
	if dir := filepath.Dir(p); dir != p {
		return filepath.Join(Resolve(dir), filepath.Base(p))
	}
	return p
}
