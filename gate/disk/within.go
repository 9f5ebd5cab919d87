package disk

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// Within gives where a path of the tree really is, with no link left in it. Other
// than Follow it never looks at anything outside: a link is read and not followed,
// and one that is absolute or leads above the top is ErrOutside, whether or not
// something is there. The error is fs.ErrNotExist where nothing can be opened at
// the path. p is relative, with slashes; behind a slash at its end only a folder
// can be.
func (t *Tree) Within(p string) (string, error) {
	var at []string // the real folders that lead to what comes next
	todo := strings.Split(p, "/")
	links := 0
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			if len(at) == 0 {
				return "", ErrOutside
			}
			at = at[:len(at)-1]
			continue
		}
		here := strings.Join(append(at, name), "/")
		info, err := t.root.Lstat(here)
		if err != nil {
			return "", fs.ErrNotExist
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			if len(todo) > 0 && !info.IsDir() {
				return "", fs.ErrNotExist
			}
			at = append(at, name)
			continue
		}
		target, err := t.root.Readlink(here)
		if links++; err != nil || links > maxLinks {
			return "", fs.ErrNotExist
		}
		if filepath.IsAbs(target) || filepath.VolumeName(target) != "" || strings.HasPrefix(filepath.ToSlash(target), "/") {
			return "", ErrOutside
		}
		todo = append(strings.Split(filepath.ToSlash(target), "/"), todo...)
	}
	if len(at) == 0 {
		return ".", nil
	}
	return strings.Join(at, "/"), nil
}

// OpenWithin opens the regular file that a path leads to, as Within finds it. It
// neither blocks nor reads anything but a regular file: fs.ErrNotExist is the
// error for all else.
func (t *Tree) OpenWithin(p string) (*File, error) {
	at, err := t.Within(p)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(p, "/") || at == "." {
		return nil, fs.ErrNotExist
	}
	folder := t.Folder()
	defer folder.Close()
	f, err := folder.Open(at)
	if err == nil && f == nil {
		err = fs.ErrNotExist
	}
	return f, err
}
