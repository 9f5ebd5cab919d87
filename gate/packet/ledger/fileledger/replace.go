package fileledger

import (
	"crypto/rand"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// disk is what a change does to the folder of a ledger, one call each, so that a
// test can end the process or fail the call at every one of them.
type disk interface {
	// Create makes a file that must not be there yet.
	Create(path string) (file, error)
	Rename(from, to string) error
	Remove(path string) error
	// Sync makes the names in a folder last.
	Sync(dir string) error
}

type file interface {
	io.Writer
	io.StringWriter
	Chmod(mode fs.FileMode) error
	Sync() error
	Close() error
}

// replace writes a ledger beside its old text and renames it over that. It
// succeeds only once the new text would survive a loss of power: a claim that
// comes back after a crash could be made twice. After an error the temporary
// file is gone; after a kill it may stay, and is ignored because of its name.
func replace(d disk, path string, mode fs.FileMode, content io.WriterTo) error {
	temporary := filepath.Join(filepath.Dir(path), temporaryName(filepath.Base(path)))
	f, err := d.Create(temporary)
	if err != nil {
		return err
	}
	if err = fill(f, mode, content); err == nil {
		err = d.Rename(temporary, path)
	}
	if err != nil {
		_ = d.Remove(temporary) // what went wrong first is what is said
		return err
	}
	return d.Sync(filepath.Dir(path))
}

// fill writes a file to its end and closes it.
func fill(f file, mode fs.FileMode, content io.WriterTo) (err error) {
	defer func() {
		if closing := f.Close(); err == nil {
			err = closing
		}
	}()
	if _, err := content.WriteTo(f); err != nil {
		return err
	}
	if mode != newMode {
		if err := f.Chmod(mode); err != nil {
			return err
		}
	}
	return f.Sync()
}

func temporaryName(name string) string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails: it ends the program instead
	return "." + name + "." + hex.EncodeToString(b[:]) + ".tmp"
}

// realDisk is the disk.
type realDisk struct{}

func (realDisk) Create(path string) (file, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, newMode) //nolint:gosec // it stands beside the ledger.
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (realDisk) Rename(from, to string) error { return os.Rename(from, to) }

func (realDisk) Remove(path string) error { return os.Remove(path) }

func (realDisk) Sync(dir string) error { return SyncFolder(dir) }

// SyncFolder makes the names in a folder last, where the file system has a way to
// flush a folder.
func SyncFolder(dir string) error {
	f, err := os.Open(dir) //nolint:gosec // the folder of a file that the caller names.
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !cannotSync(err) {
		return err
	}
	return nil
}
