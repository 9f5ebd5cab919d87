//go:build !unix

package disk

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
)

// openDir is an open folder, reached through real folders alone.
type openDir struct {
	path string // from the top level
	root *os.Root
}

// opened are the folders of a tree.
type opened struct{ root *os.Root }

func openTop(root *os.Root) (*opened, error) { return &opened{root}, nil }

// enter opens a folder unless a component of its path is no real folder.
func (s *opened) enter(dir string) (*openDir, error) {
	root, err := s.root.OpenRoot(".")
	if err != nil || dir == "." {
		return &openDir{dir, root}, err
	}
	for name := range strings.SplitSeq(dir, "/") {
		info, err := root.Lstat(name)
		if err != nil || !info.IsDir() {
			root.Close()
			return nil, errors.Join(fs.ErrNotExist, err)
		}
		next, err := root.OpenRoot(name)
		root.Close()
		if err != nil {
			return nil, err
		}
		root = next
	}
	return &openDir{dir, root}, nil
}

func (s *opened) leave(p *openDir) { p.root.Close() }

func (s *opened) close() error { return nil }

// open opens one file of the folder unless it is a link. There is no openat here;
// os.Root keeps a file that is swapped meanwhile inside the top level.
func (p *openDir) open(base string) (handle, error) {
	info, err := p.root.Lstat(base)
	if err != nil {
		return handle{}, err
	}
	if !info.Mode().IsRegular() {
		return handle{}, fs.ErrNotExist
	}
	f, err := p.root.Open(base)
	return handle{f}, err
}

// list gives what the folder holds, in any order.
func (p *openDir) list() ([]gate.Entry, error) {
	f, err := p.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	infos, err := f.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	children := make([]gate.Entry, 0, len(infos))
	for _, d := range infos {
		e := gate.Entry{Path: gate.Join(p.path, d.Name()), Kind: kind(d.Type()), Size: -1}
		if e.Kind == gate.Regular {
			info, err := d.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			e.Kind, e.Size, e.Mode = kind(info.Mode()), info.Size(), gitMode(info.Mode())
		}
		children = append(children, e)
	}
	return children, nil
}

func kind(m fs.FileMode) gate.Kind {
	switch {
	case m.IsRegular():
		return gate.Regular
	case m.IsDir():
		return gate.Folder
	case m&fs.ModeSymlink != 0:
		return gate.Symlink
	}
	return gate.Special
}
