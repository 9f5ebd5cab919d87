//go:build unix

package fileledger

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// How files are opened that somebody else may have put there.
const (
	noWaiting   = unix.O_NONBLOCK // for the other end of a FIFO
	noFollowing = unix.O_NOFOLLOW
)

// tryLock takes an exclusive flock, the lock that Synthe takes, if nobody has it.
func tryLock(f *os.File) (bool, error) {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		default:
			return false, err
		}
	}
}

// cannotSync tells a file system that has no way to flush a folder. Its names
// last as it makes them last.
func cannotSync(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP)
}
