//go:build unix

package disk

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/handoff-gate/handoff-gate/gate"
)

// openDir is an open folder, reached through real folders alone. It is closed when
// nobody is in it and it was not entered for a while: whoever reads six files of a
// folder opens the folder once.
type openDir struct {
	path  string // from the top level
	fd    int
	users int
	kept  bool // it is in opened.recent
}

// opened are the open folders of a tree.
type opened struct {
	mu     sync.Mutex
	top    *os.File
	recent []*openDir // the last one first
}

// keptDirs is how many folders stay open: some more than goroutines read side by
// side, each with the folders above.
const keptDirs = 32

// folderFlags open a folder and nothing else, and through no link.
const folderFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

func openTop(root *os.Root) (*opened, error) {
	top, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	return &opened{top: top}, nil
}

// enter opens a folder. Every folder above is opened in turn, so that no component
// of the path can be a link.
func (s *opened) enter(dir string) (*openDir, error) {
	if dir != "." && !clean(dir) {
		return nil, fs.ErrNotExist // it could lead out of the tree
	}
	return s.descend(dir)
}

func (s *opened) descend(dir string) (*openDir, error) {
	s.mu.Lock()
	for i, p := range s.recent {
		if p.path == dir {
			copy(s.recent[1:i+1], s.recent[:i])
			s.recent[0] = p
			p.users++
			s.mu.Unlock()
			return p, nil
		}
	}
	s.mu.Unlock()
	above, name := int(s.top.Fd()), "."
	if dir != "." {
		parent, err := s.descend(path.Dir(dir))
		if err != nil {
			return nil, err
		}
		defer s.leave(parent)
		above, name = parent.fd, path.Base(dir)
	}
	fd, err := retried(func() (int, error) { return unix.Openat(above, name, folderFlags, 0) })
	if err != nil {
		return nil, err
	}
	p := &openDir{path: dir, fd: fd, users: 1, kept: true}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent = slices.Insert(s.recent, 0, p)
	for len(s.recent) > keptDirs {
		last := s.recent[len(s.recent)-1]
		s.recent = s.recent[:len(s.recent)-1]
		last.kept = false
		last.end()
	}
	return p, nil
}

// leave lets a folder go.
func (s *opened) leave(p *openDir) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.users--
	p.end()
}

// end closes a folder that nobody is in any more and nobody remembers.
func (p *openDir) end() {
	if p.users == 0 && !p.kept {
		_ = unix.Close(p.fd) // nothing was written
	}
}

func (s *opened) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.recent {
		p.kept = false
		p.end()
	}
	s.recent = nil
	return s.top.Close()
}

// open opens one file of the folder. os.Root would follow a link that stays inside
// it; openat with O_NOFOLLOW does not, and O_NONBLOCK keeps the open from waiting
// for the other end of a FIFO.
func (p *openDir) open(base string) (handle, error) {
	fd, err := retried(func() (int, error) {
		return unix.Openat(p.fd, base, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	return handle(fd), err
}

// list gives what the folder holds, in any order.
func (p *openDir) list() ([]gate.Entry, error) {
	fd, err := retried(func() (int, error) { return unix.Openat(p.fd, ".", folderFlags, 0) })
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "folder")
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	children := make([]gate.Entry, 0, len(names))
	for _, name := range names {
		var st unix.Stat_t
		_, err := retried(func() (int, error) { return 0, unix.Fstatat(p.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		e := gate.Entry{Path: gate.Join(p.path, name), Size: -1}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			e.Kind, e.Size, e.Mode = gate.Regular, st.Size, gitMode(fs.FileMode(st.Mode))
		case unix.S_IFDIR:
			e.Kind = gate.Folder
		case unix.S_IFLNK:
			e.Kind = gate.Symlink
		default:
			e.Kind = gate.Special
		}
		children = append(children, e)
	}
	return children, nil
}
