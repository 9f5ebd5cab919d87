//go:build unix

package disk

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// openIn opens one file of a folder. os.Root would follow a link that stays
// inside it; openat with O_NOFOLLOW does not, and O_NONBLOCK keeps the open
// from waiting for the other end of a FIFO.
func openIn(_ *os.Root, folder *os.File, base string) (*os.File, error) {
	for {
		fd, err := unix.Openat(int(folder.Fd()), base, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return os.NewFile(uintptr(fd), base), nil
	}
}

// passedOver tells errors that mean "no regular file there": gone, a link, a
// socket, or a device without its driver.
func passedOver(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) || errors.Is(err, unix.ENOTDIR)
}
