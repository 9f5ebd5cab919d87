//go:build unix

package adopt

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
			if err := os.WriteFile(hook, h.script(HookSettings{Project: name, Program: program}, nil), 0o755); err != nil {
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

// A hook of several projects calls the program for each, and fails where one of
// them does; what it calls is found again in it.
func TestHookOfSeveralProjects(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nprintf '<%s>' \"$2\"\n[ \"$2\" != b ] || exit 7\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	projects := []string{"a\nb", "it's", "./-x", "z"}
	words := []string{`"$(printf 'a\012b')"`, `'it'\''s'`, "./-x", "z"}
	for _, project := range projects {
		if err := os.MkdirAll(filepath.Join(dir, project, filepath.FromSlash(gate.HandoffDir)), 0o755); err != nil {
			t.Skipf("the file system has no such names: %v", err)
		}
	}
	h, s := GitHooks[0], HookSettings{Project: "b", Program: program}
	script := h.script(s, words)
	hook := filepath.Join(dir, "hook")
	if err := os.WriteFile(hook, script, 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sh", hook).Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("the status: %v", err)
	}
	if got, want := string(out), "<a\nb><it's><./-x><b><z>"; got != want {
		t.Errorf("called with %q, want %q", got, want)
	}
	got := h.others(append(script, "gate verify $(id) --level precommit\ngate verify gone --level precommit\n"...), HookPlace{Top: dir}, s)
	slices.Sort(got)
	slices.Sort(words)
	if !slices.Equal(got, words) {
		t.Errorf("found again: %q, want %q", got, words)
	}
}

// A hook is plain text of a POSIX shell, known by its marker.
func TestHookScript(t *testing.T) {
	for _, h := range GitHooks {
		script := h.script(HookSettings{Project: ".", Program: "/bin/handoff-gate"}, nil)
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
