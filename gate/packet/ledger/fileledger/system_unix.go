//go:build unix

package fileledger

import "golang.org/x/sys/unix"

// How files are opened that somebody else may have put there.
const (
	noWaiting   = unix.O_NONBLOCK // for the other end of a FIFO
	noFollowing = unix.O_NOFOLLOW
)
