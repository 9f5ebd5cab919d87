//go:build unix

package disk

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// handle is a bare file descriptor. What os.File does beside (registering with
// the poller, a finalizer, locks) takes as long as reading a small file, and a
// scan of the work tree opens every file there is.
type handle int

// size gives the size of a regular file, -1 for anything else.
func (h handle) size() (int64, error) {
	var st unix.Stat_t
	if _, err := retried(func() (int, error) { return 0, unix.Fstat(int(h), &st) }); err != nil {
		return -1, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return -1, nil
	}
	return st.Size, nil
}

func (h handle) read(p []byte) (int, error) {
	return retried(func() (int, error) { return unix.Read(int(h), p) })
}

func (h handle) readAt(p []byte, off int64) (int, error) {
	return retried(func() (int, error) { return unix.Pread(int(h), p, off) })
}

func (h handle) close() error { return unix.Close(int(h)) }

// retried repeats a call that a signal interrupted.
func retried(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// passedOver tells errors that mean "no regular file there": gone, a link, a
// socket, or a device without its driver.
func passedOver(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) || errors.Is(err, unix.ENOTDIR)
}
