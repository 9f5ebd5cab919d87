//go:build !unix

package disk

import (
	"errors"
	"io/fs"
	"os"
)

// openIn opens one file of a folder unless it is a link. There is no openat
// here; os.Root keeps a file that is swapped meanwhile inside the top level.
func openIn(root *os.Root, _ *os.File, base string) (*os.File, error) {
	info, err := root.Lstat(base)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fs.ErrNotExist
	}
	return root.Open(base)
}

func passedOver(err error) bool { return errors.Is(err, fs.ErrNotExist) }
