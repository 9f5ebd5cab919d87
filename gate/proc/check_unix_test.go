//go:build unix

package proc

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// check runs a shell script as a declared check, in a folder of its own.
func check(t *testing.T, script string, change ...func(*CheckSpec)) Outcome {
	t.Helper()
	spec := CheckSpec{Argv: []string{shell(t), "-c", script}, Dir: t.TempDir(), Env: CheckEnv(os.Environ(), "/top")}
	for _, c := range change {
		c(&spec)
	}
	return RunCheck(context.Background(), spec)
}

func TestRunCheck(t *testing.T) {
	for _, tc := range []struct {
		name   string
		script string
		want   Outcome
	}{
		{"passes", "echo fine", Outcome{Passed: true, Output: []string{"fine"}}},
		{"passes in silence", "exit 0", Outcome{Passed: true}},
		{"fails", "echo out; echo err >&2; exit 3", Outcome{Reason: "exit status 3", Output: []string{"out", "err"}}},
		{"ended by a signal", "echo last words; kill -TERM $$", Outcome{Reason: "signal: terminated", Output: []string{"last words"}}},
		{"its input is at its end", "cat; echo done", Outcome{Passed: true, Output: []string{"done"}}},
		{"floods and fails", "yes padpadpadpadpadpad | head -c 40000000; echo; echo end; exit 3", Outcome{Reason: "exit status 3", Output: slices.Concat(slices.Repeat([]string{"padpadpadpadpadpad"}, 3), []string{"p", "end"})}},
		{"floods and passes", "yes pad | head -c 40000000", Outcome{Passed: true, Output: slices.Repeat([]string{"pad"}, 5)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := check(t, tc.script)
			if tc.name == "floods and fails" && len(got.Output) == 5 {
				got.Output[3] = "p" // where the flood was cut within a line
			}
			if fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", tc.want) {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
		})
	}
}

// TestRunCheckIsNoShell: an argument is an argument, whatever it looks like, and
// the environment is exactly the one given.
func TestRunCheckIsNoShell(t *testing.T) {
	shell(t)
	program, err := exec.LookPath("env")
	if err != nil {
		t.Skip("SKIPPED: there is no env here to print an environment")
	}
	folder := filepath.Dir(program)
	o := check(t, "", func(s *CheckSpec) {
		s.Argv, s.Env = []string{"env", "A=$(id) `id` ; exit 1 | *"}, []string{"B=1", "PATH=" + folder, "C=2"}
	})
	if want := []string{"B=1", "PATH=" + folder, "C=2", "A=$(id) `id` ; exit 1 | *"}; !o.Passed || !slices.Equal(o.Output, want) {
		t.Errorf("%+v, want %q", o, want)
	}
	o = check(t, `pwd -P`, func(s *CheckSpec) { s.Dir = "/" })
	if !slices.Equal(o.Output, []string{"/"}) {
		t.Errorf("the current folder: %+v", o)
	}
}

func TestRunCheckNotStarted(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"lost": "#!/no/such/interpreter\n", "garbled": "\x00\x01\x02"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "data"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		argv []string
		want Outcome
	}{
		{nil, Outcome{Reason: "it names no program"}},
		{[]string{"lost"}, Outcome{NotFound: true, Reason: "the program lost was not found; looked for it in PATH (/none)"}},
		{[]string{"./absent"}, Outcome{NotFound: true, Reason: "the program ./absent was not found; looked for it at " + dir + "/absent"}},
		{[]string{"./lost"}, Outcome{NotFound: true, Reason: "./lost is there, and the interpreter that its first line names was not found"}},
		{[]string{"./garbled"}, Outcome{Reason: "it could not be started: exec format error"}},
		{[]string{"./data"}, Outcome{Reason: "./data cannot be run: permission denied"}},
	} {
		got := RunCheck(context.Background(), CheckSpec{Argv: tc.argv, Dir: dir, Env: []string{"PATH=/none"}})
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", tc.want) {
			t.Errorf("%q\ngot  %+v\nwant %+v", tc.argv, got, tc.want)
		}
	}
	if got := RunCheck(context.Background(), CheckSpec{Argv: []string{"/bin/sh"}, Dir: filepath.Join(dir, "none")}); got.Passed || got.NotFound || got.Reason == "" {
		t.Errorf("in no folder: %+v", got)
	}
}

// witness is a FIFO that processes of a check hold open for writing. It reads
// as ended exactly when the last of them is gone, so a test needs no clock to
// know that a group was killed.
type witness struct {
	path string
	r    *os.File
}

func newWitness(t *testing.T) witness {
	t.Helper()
	w := witness{path: filepath.Join(t.TempDir(), "fifo")}
	if err := syscall.Mkfifo(w.path, 0o666); err != nil {
		t.Skip("SKIPPED: no FIFO can be made here: ", err)
	}
	// Without O_NONBLOCK opening would wait for a writer, which comes later.
	r, err := os.OpenFile(w.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	w.r = r
	return w
}

// gone waits until no process holds the FIFO and gives what was written to it.
func (w witness) gone(t *testing.T) string {
	t.Helper()
	text, err := io.ReadAll(w.r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRunCheckTimeout: at the end of its time a check is killed, and so is what
// it started.
func TestRunCheckTimeout(t *testing.T) {
	w := newWitness(t)
	o := check(t, `exec 3>"`+w.path+`"; echo begun; sleep 1000 & sleep 1000`, func(s *CheckSpec) { s.Timeout = 300 * time.Millisecond })
	if o.Passed || !o.TimedOut || o.Reason != "it did not end within 300ms" {
		t.Errorf("%+v", o)
	}
	w.gone(t)
}

// TestRunCheckKillsTheRest: what a program leaves in its group when it ends does
// not outlive it.
func TestRunCheckKillsTheRest(t *testing.T) {
	w := newWitness(t)
	o := check(t, `exec 3>"`+w.path+`"; echo held >&3; sleep 1000 & echo started`)
	if !o.Passed || !slices.Equal(o.Output, []string{"started"}) {
		t.Errorf("%+v", o)
	}
	if got := w.gone(t); got != "held\n" {
		t.Errorf("the witness read %q", got)
	}
}

// TestRunCheckDoesNotWaitForOthers: a process that left the group is not found
// any more, and holding the check's output open does not hold up the gate.
func TestRunCheckDoesNotWaitForOthers(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("SKIPPED: there is no setsid to leave a process group with")
	}
	w := newWitness(t)
	fifo := filepath.Join(t.TempDir(), "ready")
	if err := syscall.Mkfifo(fifo, 0o666); err != nil {
		t.Fatal(err)
	}
	o := check(t, `setsid sh -c 'exec 3>"`+w.path+`"; echo $$ >"`+fifo+`"; exec sleep 1000' & read pid <"`+fifo+`"; echo $pid`)
	if !o.Passed || len(o.Output) != 1 {
		t.Fatalf("%+v", o)
	}
	pid, err := strconv.Atoi(o.Output[0])
	if err != nil {
		t.Fatal(err)
	}
	// That it is still there shows that nobody waited for it.
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("the process %d that left the group: %v", pid, err)
	}
	w.gone(t)
}

// TestRunCheckCancelled: when the gate is told to end, a running check ends with
// it.
func TestRunCheckCancelled(t *testing.T) {
	sh := shell(t)
	w := newWitness(t)
	ctx, cancel := context.WithCancel(context.Background())
	ready := filepath.Join(t.TempDir(), "ready")
	if err := syscall.Mkfifo(ready, 0o666); err != nil {
		t.Fatal(err)
	}
	done := make(chan Outcome)
	go func() {
		done <- RunCheck(ctx, CheckSpec{
			Argv: []string{sh, "-c", `exec 3>"$WITNESS"; sleep 1000 & echo up >"$READY"; wait`}, Dir: t.TempDir(),
			Env: append(env(), "WITNESS="+w.path, "READY="+ready),
		})
	}()
	// Reading waits for the script to write, so only a running check is cancelled.
	if text, err := os.ReadFile(ready); err != nil || string(text) != "up\n" {
		t.Errorf("%q, %v", text, err)
	}
	cancel()
	if o := <-done; o.Passed || o.TimedOut || o.Reason != "the run was ended before this check was" {
		t.Errorf("%+v", o)
	}
	w.gone(t)
	if o := RunCheck(ctx, CheckSpec{Argv: []string{sh, "-c", "exit 0"}, Dir: "/"}); o.Passed {
		t.Errorf("after cancelling: %+v", o)
	}
}

// TestRunCheckAsOwner: as root, checks run as whoever owns the project.
func TestRunCheckAsOwner(t *testing.T) {
	sh := shell(t)
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can run a check as somebody else")
	}
	dir := t.TempDir()
	for p := dir; p != os.TempDir() && p != "/"; p = filepath.Dir(p) {
		if err := os.Chmod(p, 0o755); err != nil { // the other user must get there
			t.Fatal(err)
		}
	}
	if owner, err := ProjectOwner(dir); owner != nil || err != nil {
		t.Errorf("a folder of root: %v, %v", owner, err)
	}
	if err := os.Chown(dir, 12345, 54321); err != nil {
		t.Skip("SKIPPED: no other owner can be set here: ", err)
	}
	owner, err := ProjectOwner(dir)
	if err != nil || owner == nil || *owner != (Owner{12345, 54321}) {
		t.Fatalf("%v, %v", owner, err)
	}
	home, remove, err := TempHome(owner)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := remove(); err != nil {
			t.Error(err)
		}
	})
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o := RunCheck(context.Background(), CheckSpec{
		Argv: []string{sh, "-c", `id -u; id -g; id -G; cat secret 2>/dev/null || echo refused; touch "$HOME/mine" && echo at home`},
		Dir:  dir, Env: SetEnv(CheckEnv(os.Environ(), ""), "HOME="+home), Owner: owner,
	})
	if want := []string{"12345", "54321", "54321", "refused", "at home"}; !o.Passed || !slices.Equal(o.Output, want) {
		t.Errorf("%+v, want %q", o, want)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(home); !os.IsNotExist(err) {
		t.Errorf("the home folder: %v", err)
	}
	if _, err := ProjectOwner(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there has no owner")
	}
}

func TestTempHome(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir, remove, err := TempHome(nil)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode() != os.ModeDir|0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	t.Setenv("TMPDIR", filepath.Join(dir, "none"))
	if _, _, err := TempHome(nil); err == nil || !strings.Contains(err.Error(), "home folder") {
		t.Errorf("without a folder for temporary files: %v", err)
	}
}
