package wholefile

import "io/fs"

// Watch asks before each operation that changes something, told what that is
// ("rename LOG.md"); an error takes the operation's place. So a test can end the
// process or fail the call at every one of them. Nil asks nothing.
func Watch(folder Folder, before func(operation string) error) Folder {
	if before == nil {
		return folder
	}
	return watched{folder, before}
}

// watched does not ask before it removes: after an operation that failed, what is
// left of the new file has to go.
type watched struct {
	Folder
	before func(operation string) error
}

func (w watched) Create(name string, mode fs.FileMode) (File, error) {
	if err := w.before("create"); err != nil {
		return nil, err
	}
	f, err := w.Folder.Create(name, mode)
	if err != nil {
		return nil, err
	}
	return watchedFile{f, w.before}, nil
}

func (w watched) Rename(from, to string) error {
	if err := w.before("rename " + to); err != nil {
		return err
	}
	return w.Folder.Rename(from, to)
}

func (w watched) Link(from, to string) error {
	if err := w.before("link " + to); err != nil {
		return err
	}
	return w.Folder.Link(from, to)
}

func (w watched) Sync() error {
	if err := w.before("sync folder"); err != nil {
		return err
	}
	return w.Folder.Sync()
}

// watchedFile writes in two halves, between which a process may end.
type watchedFile struct {
	File
	before func(operation string) error
}

func (f watchedFile) Write(p []byte) (int, error) { return f.WriteString(string(p)) }

func (f watchedFile) WriteString(s string) (int, error) {
	done := 0
	for _, half := range []string{s[:len(s)/2], s[len(s)/2:]} {
		if err := f.before("write"); err != nil {
			return done, err
		}
		n, err := f.File.WriteString(half)
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

func (f watchedFile) Chmod(mode fs.FileMode) error {
	if err := f.before("chmod"); err != nil {
		return err
	}
	return f.File.Chmod(mode)
}

func (f watchedFile) Sync() error {
	if err := f.before("sync"); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f watchedFile) Close() error {
	if err := f.before("close"); err != nil {
		return err
	}
	return f.File.Close()
}
