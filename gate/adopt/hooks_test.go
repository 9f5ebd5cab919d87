//go:build unix

package adopt

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
)

// Whatever the names of program and project are, the hook calls the one with the
// other, in each POSIX shell that is here, and its exit status is the program's.
func TestHookCallsTheProgram(t *testing.T) {
	shells := 0
	for _, shell := range [][]string{{"dash"}, {"bash", "--posix"}, {"busybox", "sh"}, {"ksh"}, {"mksh"}, {"sh"}} {
		if _, err := exec.LookPath(shell[0]); err != nil {
			continue
		}
		shells++
		for _, name := range []string{"plain", "two words", "it's", `a"b`, "$HOME `id`", "a\nb", "a\tb", "\xff\xfe", "-x", "--level", "é", "a\\nb", "*", ";id", "#x"} {
			dir := t.TempDir()
			program := filepath.Join(dir, name, "handoff-gate")
			if err := os.Mkdir(filepath.Dir(program), 0o755); err != nil {
				t.Skipf("the file system has no such names: %v", err)
			}
			stub := "#!/bin/sh\nprintf '<%s>' \"$@\"\nexit 7\n"
			if err := os.WriteFile(program, []byte(stub), 0o755); err != nil {
				t.Fatal(err)
			}
			hook := filepath.Join(dir, "hook")
			h := GitHook{Name: "pre-commit", Level: gate.Precommit, what: "commit"}
			if err := os.WriteFile(hook, h.script(HookSettings{Project: name, Program: program}), 0o755); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(shell[0], append(shell[1:], hook)...)
			cmd.Env = []string{"PATH=/usr/bin:/bin"}
			out, err := cmd.Output()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 7 {
				t.Errorf("%s, %q: %v", shell[0], name, err)
			}
			want := name
			if strings.HasPrefix(name, "-") {
				want = "./" + name
			}
			if got := string(out); got != "<verify><"+want+"><--level><precommit>" {
				t.Errorf("%s, %q: %q", shell[0], name, got)
			}
		}
	}
	if shells == 0 {
		t.Skip("SKIPPED: there is no shell")
	}
}

// A hook is plain text of a POSIX shell, known by its marker.
func TestHookScript(t *testing.T) {
	for _, h := range GitHooks {
		script := h.script(HookSettings{Project: ".", Program: "/bin/handoff-gate"})
		if !bytes.HasPrefix(script, []byte("#!/bin/sh\n"+hookMarker+"\n")) || bytes.Contains(script, []byte("\r")) || !isOurs(script) {
			t.Errorf("%s: %s", h.Name, script)
		}
	}
	for script, want := range map[string]bool{
		hookMarker: true, "x\n" + hookMarker + " \r\n": true, "x\n " + hookMarker: false, hookMarker + "s\n": false, "# handoff-gate": false, "": false,
	} {
		if isOurs([]byte(script)) != want {
			t.Errorf("%q", script)
		}
	}
}
