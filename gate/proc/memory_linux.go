package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// limitMemory bounds what a child that was just started may allocate. Files that
// it maps to read do not count. A failure leaves it without a limit: it may have
// ended by now.
func limitMemory(p *os.Process, limit uint64) {
	if limit > 0 {
		_ = unix.Prlimit(p.Pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: limit, Max: limit}, nil)
	}
}
