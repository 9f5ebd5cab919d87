//go:build unix

package proc

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// ownGroup starts a child as the leader of a process group of its own, so that
// it can be ended together with all it starts. With an owner the child runs as
// that user and group and has no further groups.
func ownGroup(owner *Owner) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if owner != nil {
		attr.Credential = &syscall.Credential{Uid: owner.UID, Gid: owner.GID}
	}
	return attr
}

// killGroup kills every process of the group that p leads.
func killGroup(p *os.Process) error {
	err := syscall.Kill(-p.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// killRest kills what is left of the group whose leader has ended.
func killRest(p *os.Process) { _ = killGroup(p) }

// stopReading takes what the program had already written and ends the reader,
// without waiting for whoever still holds the other end.
func stopReading(r *os.File, read <-chan struct{}, out io.Writer) {
	if err := r.SetReadDeadline(time.Unix(1, 0)); err != nil {
		r.Close()
		<-read
		return
	}
	<-read
	// Past its deadline a file gives nothing more, not even what is there. So
	// the rest of the pipe's buffer is read without waiting, and bounded, as a
	// process that left the group may go on writing.
	if r.SetReadDeadline(time.Time{}) != nil {
		return
	}
	raw, err := r.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, 64<<10)
	for range 32 {
		n := 0
		failed := raw.Read(func(fd uintptr) bool {
			n, _ = syscall.Read(int(fd), buf)
			return true // never wait for more
		})
		if failed != nil || n <= 0 {
			return
		}
		_, _ = out.Write(buf[:n]) // it only gathers
	}
}

// ProjectOwner gives whom declared checks must run as, and to whom what is written
// into the folder must belong: as root the owner and group of the folder, unless
// that is root too; nil otherwise.
func ProjectOwner(dir string) (*Owner, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Uid == 0 {
		return nil, nil
	}
	return &Owner{UID: st.Uid, GID: st.Gid}, nil
}

func chown(path string, owner Owner) error {
	return os.Chown(path, int(owner.UID), int(owner.GID))
}
