//go:build !unix

package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// handle is an open file.
type handle struct{ *os.File }

// size gives the size of a regular file, -1 for anything else.
func (h handle) size() (int64, error) {
	info, err := h.Stat()
	if err != nil {
		return -1, err
	}
	if !info.Mode().IsRegular() {
		return -1, nil
	}
	return info.Size(), nil
}

// read gives 0 and no error at the end, as the system call does.
func (h handle) read(p []byte) (int, error) {
	n, err := h.Read(p)
	if err == io.EOF {
		err = nil
	}
	return n, err
}

// readAt is read at an offset.
func (h handle) readAt(p []byte, off int64) (int, error) {
	n, err := h.ReadAt(p, off)
	if err == io.EOF {
		err = nil
	}
	return n, err
}

func (h handle) close() error { return h.Close() }

func passedOver(err error) bool { return errors.Is(err, fs.ErrNotExist) }
