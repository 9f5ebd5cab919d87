package wholefile

import (
	"io/fs"
	"os"
	"path/filepath"
)

// InRoot is an open folder, which no name leaves.
func InRoot(root *os.Root) Folder { return rootFolder{root} }

type rootFolder struct{ root *os.Root }

func (r rootFolder) Create(name string, mode fs.FileMode) (File, error) {
	f, err := r.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (r rootFolder) Rename(from, to string) error { return r.root.Rename(from, to) }

func (r rootFolder) Link(from, to string) error { return r.root.Link(from, to) }

func (r rootFolder) Remove(name string) error { return r.root.Remove(name) }

func (r rootFolder) Exists(name string) bool {
	_, err := r.root.Lstat(name)
	return err == nil
}

func (r rootFolder) Sync() error {
	f, err := r.root.Open(".")
	if err != nil {
		return err
	}
	return syncAndClose(f)
}

// In is the folder of that path.
func In(dir string) Folder { return pathFolder(dir) }

type pathFolder string

func (p pathFolder) at(name string) string { return filepath.Join(string(p), name) }

func (p pathFolder) Create(name string, mode fs.FileMode) (File, error) {
	f, err := os.OpenFile(p.at(name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode) //nolint:gosec // the caller names it.
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (p pathFolder) Rename(from, to string) error { return os.Rename(p.at(from), p.at(to)) }

func (p pathFolder) Link(from, to string) error { return os.Link(p.at(from), p.at(to)) }

func (p pathFolder) Remove(name string) error { return os.Remove(p.at(name)) }

func (p pathFolder) Exists(name string) bool {
	_, err := os.Lstat(p.at(name))
	return err == nil
}

func (p pathFolder) Sync() error {
	f, err := os.Open(string(p)) //nolint:gosec // the caller names it.
	if err != nil {
		return err
	}
	return syncAndClose(f)
}

// syncAndClose flushes a folder, where the file system has a way to do that.
func syncAndClose(f *os.File) error {
	defer f.Close()
	if err := f.Sync(); err != nil && !cannotSync(err) {
		return err
	}
	return nil
}
