//go:build unix

package wholefile

import (
	"errors"

	"golang.org/x/sys/unix"
)

// cannotSync tells a file system that has no way to flush a folder. Its names
// last as it makes them last.
func cannotSync(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP)
}
