package proc

import (
	"fmt"
	"os"
)

// TempHome makes an empty folder to be the HOME of declared checks, closed to
// everybody but the owner (nil is the gate's own user). Call remove when the
// last check has ended; it follows no link that a check put there.
func TempHome(owner *Owner) (dir string, remove func() error, err error) {
	dir, err = os.MkdirTemp("", "handoff-gate-home-")
	if err != nil {
		return "", nil, fmt.Errorf("making a home folder for checks: %w", err)
	}
	if owner != nil {
		if err := chown(dir, *owner); err != nil {
			_ = os.Remove(dir) // that the owner could not be set is what is said
			return "", nil, fmt.Errorf("making a home folder for checks: %w", err)
		}
	}
	return dir, func() error { return os.RemoveAll(dir) }, nil
}
