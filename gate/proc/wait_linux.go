package proc

import (
	"errors"
	"os/exec"

	"golang.org/x/sys/unix"
)

// waiter tells when a program has ended before its number is given back. While
// the ended leader still has its number no other process can get it, so the
// rest of its group can be killed by it.
type waiter struct {
	exited chan struct{}
	cmd    *exec.Cmd
}

func newWaiter(cmd *exec.Cmd) *waiter {
	w := &waiter{exited: make(chan struct{}), cmd: cmd}
	go func() {
		defer close(w.exited)
		for {
			err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
			if !errors.Is(err, unix.EINTR) {
				return
			}
		}
	}()
	return w
}

// reap gives how the program ended; call it after exited is closed.
func (w *waiter) reap() error { return w.cmd.Wait() }

func (w *waiter) hasExited() bool {
	select {
	case <-w.exited:
		return true
	default:
		return false
	}
}
