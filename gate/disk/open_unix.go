//go:build unix

package disk

import (
	"errors"
	"io/fs"
	"syscall"
)

// noFollow keeps the last component from being a link and the open from
// waiting for the other end of a FIFO.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// passedOver tells errors that mean "no regular file there": gone, a link, a
// socket, or a device without its driver.
func passedOver(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENXIO) || errors.Is(err, syscall.ENOTDIR)
}
