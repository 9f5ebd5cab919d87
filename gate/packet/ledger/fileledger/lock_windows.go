package fileledger

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// How files are opened; there is no FIFO in a folder, and a link is a right of
// administrators.
const (
	noWaiting   = 0
	noFollowing = 0
)

// tryLock takes an exclusive lock on the file if nobody has it.
func tryLock(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// cannotSync is true: no folder can be flushed.
func cannotSync(error) bool { return true }
