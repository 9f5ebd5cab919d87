//go:build unix

package fileledger

import (
	"errors"

	"golang.org/x/sys/unix"
)

// How files are opened that somebody else may have put there.
const (
	noWaiting   = unix.O_NONBLOCK // for the other end of a FIFO
	noFollowing = unix.O_NOFOLLOW
)

// cannotSync tells a file system that has no way to flush a folder. Its names
// last as it makes them last.
func cannotSync(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP)
}
