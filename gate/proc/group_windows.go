package proc

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// ownGroup has no owner to heed here: Windows has no such credential in the
// standard library, and the action does not run there as a container.
func ownGroup(*Owner) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// killGroup ends p and its descendants as far as the system's taskkill finds
// them. There is no job object behind it, so it is weaker than elsewhere: see
// killRest.
func killGroup(p *os.Process) error {
	if root := os.Getenv("SystemRoot"); filepath.IsAbs(root) {
		kill := exec.Command(filepath.Join(root, "System32", "taskkill.exe"), "/T", "/F", "/PID", strconv.Itoa(p.Pid))
		kill.WaitDelay = time.Second
		if kill.Run() == nil {
			return nil
		}
	}
	err := p.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		return os.ErrProcessDone
	}
	return err
}

// killRest does nothing: what a program leaves running when it has ended by
// itself is an orphan here that nothing leads to any more, and the program's
// number may already be another's.
func killRest(*os.Process) {}

// stopReading gives the reader a moment to take what the program had written. A
// pipe has no deadline here, so a reader that somebody keeps waiting is left to
// end with the pipe.
func stopReading(_ *os.File, read <-chan struct{}, _ io.Writer) {
	timer := time.NewTimer(250 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-read:
	case <-timer.C:
	}
}

// ProjectOwner gives nil: checks run as the gate's own user.
func ProjectOwner(string) (*Owner, error) { return nil, nil }

func chown(string, Owner) error { return errors.ErrUnsupported }
