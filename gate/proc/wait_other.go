//go:build !linux

package proc

import "os/exec"

// waiter tells when a program has ended. It is reaped at once here: waiting for
// a process and leaving it its number has no portable call. That a new process
// takes the number, and leads a group of it, in the moment until the old group
// is killed would need every other number to be used up.
type waiter struct {
	exited chan struct{}
	err    error
}

func newWaiter(cmd *exec.Cmd) *waiter {
	w := &waiter{exited: make(chan struct{})}
	go func() {
		defer close(w.exited)
		w.err = cmd.Wait()
	}()
	return w
}

// reap gives how the program ended; call it after exited is closed.
func (w *waiter) reap() error { return w.err }

func (w *waiter) hasExited() bool {
	select {
	case <-w.exited:
		return true
	default:
		return false
	}
}
