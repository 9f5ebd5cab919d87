//go:build unix

package proc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// script runs a shell script as RunScript runs node.
func script(t *testing.T, text string, timeout time.Duration) (string, error) {
	t.Helper()
	out, err := RunScript(context.Background(), []string{shell(t), "-c", text}, t.TempDir(), ScriptEnv(os.Environ(), "/home/none"), timeout)
	return string(out), err
}

func TestRunScript(t *testing.T) {
	for _, tt := range []struct{ name, text, stdout, err string }{
		{"prints", "echo 12; echo noise >&2", "12\n", ""},
		{"is silent", "exit 0", "", ""},
		{"its input is at its end", "cat; echo done", "done\n", ""},
		{"fails in silence", "echo 12; exit 3", "", "exit status 3"},
		{"fails and says why", "printf 'at 1\\n\\nTypeError: no\\n\\nNode.js v20\\n' >&2; exit 1", "", "exit status 1: TypeError: no"},
		{"fails and says something", "printf 'one\\ntwo\\n\\n' >&2; exit 1", "", "exit status 1: two"},
		{"ended by a signal", "kill -TERM $$", "", "signal: terminated"},
		{"prints as much as it may", "head -c 1048576 /dev/zero", strings.Repeat("\x00", maxScriptOutput), ""},
		{"prints too much", "head -c 1048577 /dev/zero", "", "it printed more than 1048576 bytes"},
		{"prints too much in all", "head -c 1048576 /dev/zero; echo >&2", "", "it printed more than 1048576 bytes"},
		{"complains too much", "head -c 1048577 /dev/zero >&2; exit 1", "", "it printed more than 1048576 bytes"},
		{"never stops printing", "yes", "", "it printed more than 1048576 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := script(t, tt.text, 0)
			said := ""
			if err != nil {
				said = err.Error()
			}
			if out != tt.stdout || said != tt.err {
				t.Errorf("%.100q, %q; want %.100q, %q", out, said, tt.stdout, tt.err)
			}
		})
	}
}

// The environment is exactly what section 10 lists.
func TestScriptEnv(t *testing.T) {
	env := ScriptEnv([]string{"PATH=/bin", "HOME=/root", "GITHUB_TOKEN=t", "INPUT_X=1", "LD_PRELOAD=x", "LANG=de"}, "/fresh")
	if got := strings.Join(env, " "); got != "PATH=/bin HOME=/fresh LANG=C.UTF-8" {
		t.Errorf("%q", got)
	}
}

func TestRunScriptNotStarted(t *testing.T) {
	var missing *NotFoundError
	if _, err := RunScript(context.Background(), []string{"node"}, t.TempDir(), []string{"PATH=/none:."}, 0); !errors.As(err, &missing) {
		t.Errorf("no such program: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := RunScript(ctx, []string{shell(t)}, t.TempDir(), env(), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
	if _, err := RunScript(context.Background(), []string{shell(t)}, filepath.Join(t.TempDir(), "none"), env(), 0); err == nil {
		t.Error("it was started in no folder")
	}
}

// At the end of its time a script is killed with all it started, and what it leaves
// running when it ends in time is killed too.
func TestRunScriptKillsTheGroup(t *testing.T) {
	for name, text := range map[string]string{"too slow": "sleep 1000 & sleep 1000", "too much": "sleep 1000 & yes", "ends": "sleep 1000 & echo 1"} {
		w := newWitness(t)
		timeout := time.Duration(0)
		if name == "too slow" {
			timeout = 300 * time.Millisecond
		}
		_, err := script(t, `exec 3>"`+w.path+`"; `+text, timeout)
		if (err == nil) != (name == "ends") {
			t.Errorf("%s: %v", name, err)
		}
		w.gone(t)
	}
}

func TestRunScriptCancelled(t *testing.T) {
	sh, w := shell(t), newWitness(t)
	ready := filepath.Join(t.TempDir(), "ready")
	if err := syscall.Mkfifo(ready, 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		_, err := RunScript(ctx, []string{sh, "-c", `exec 3>"$WITNESS"; sleep 1000 & echo up >"$READY"; wait`}, "/", append(env(), "WITNESS="+w.path, "READY="+ready), 0)
		done <- err
	}()
	// Reading waits for the script to write, so only a running one is cancelled.
	if text, err := os.ReadFile(ready); err != nil || string(text) != "up\n" {
		t.Errorf("%q, %v", text, err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	w.gone(t)
}
