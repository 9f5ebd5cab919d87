//go:build unix

package cli_test

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// checkedSite is a site whose register has a row that the check "probe" backs,
// which runs argv. The row and the check are in the base already.
func checkedSite(t *testing.T, enforce bool, argv ...string) *site {
	t.Helper()
	s := emptySite(t)
	config, err := json.Marshal(object{"trustTtl": object{"enforce": enforce, "checks": []any{object{"id": "probe", "run": argv, "reason": "It looks around."}}}})
	if err != nil {
		t.Fatal(err)
	}
	s.write("aahp.config.json", string(config))
	s.write(".ai/handoff/TRUST.md", "# Trust\n\n| Property | Status | Expires | Check |\n|---|---|---|---|\n| The probe passes | verified | 2099-01-01 | probe |\n")
	s.write("app.go", "package app\n")
	s.handoff(".", "Begun.")
	s.A = s.src.Commit("A")
	s.B = s.A
	s.write("app.go", "package app // changed\n")
	s.handoff(".", "Changed.")
	s.C = s.src.Commit("C")
	s.propose()
	return s
}

// Declared checks run only where the configuration that declares them is
// trusted, and nobody's secrets are at hand (github-action.md 11).
func TestActionRunsDeclaredChecks(t *testing.T) {
	t.Parallel()
	dispatch := func(s *site) any { return object{"inputs": object{"base": s.B}} }
	for _, c := range []struct {
		event   string
		payload func(*site) any
		inputs  map[string]string
		ran     bool
	}{
		{event: "pull_request", payload: pulled("opened"), ran: true},
		{event: "pull_request_review", payload: pulled("submitted"), ran: true},
		{event: "pull_request_review_comment", payload: pulled("created"), ran: true},
		{event: "push", payload: func(s *site) any { return push("refs/heads/feature", s.B, s.C) }, ran: true},
		{event: "merge_group", payload: func(s *site) any { return queued(s.B, s.C) }, ran: true},
		{event: "schedule", payload: func(*site) any { return object{} }, ran: true},
		{event: "workflow_dispatch", payload: dispatch, ran: true},
		{event: "repository_dispatch", payload: dispatch, inputs: map[string]string{"base": "B"}, ran: true},
		{event: "pull_request_target", payload: pulled("opened")},
		{event: "workflow_run", payload: func(s *site) any { return runOf(s, 1) }},
		{event: "issue_comment", payload: dispatch, inputs: map[string]string{"base": "B"}},
		{event: "pull_request", payload: pulled("opened"), inputs: map[string]string{"checks": "off"}},
	} {
		t.Run(c.event, func(t *testing.T) {
			t.Parallel()
			for _, enforce := range []bool{false, true} {
				proof := filepath.Join(t.TempDir(), "ran")
				s := checkedSite(t, enforce, "touch", proof)
				s.at(s.C)
				for name, value := range c.inputs {
					if value == "B" {
						value = s.B
					}
					s.input(name, value)
				}
				o := s.run(c.event, c.payload(s))
				_, err := os.Stat(proof)
				if ran := !errors.Is(err, fs.ErrNotExist); ran != c.ran {
					t.Errorf("enforce %t: ran %t, want %t\n%s", enforce, ran, c.ran, o.log)
				}
				want := 0
				if !c.ran {
					f := o.finding(t, "action/checks-not-run")
					severity := "notice"
					if enforce {
						severity, want = "error", 1
					}
					if string(f.Severity) != severity || f.Path != ".ai/handoff/TRUST.md" {
						t.Errorf("enforce %t: %s on %s", enforce, f.Severity, f.Path)
					}
				}
				if o.status != want {
					t.Errorf("enforce %t: exit status %d, want %d\n%s", enforce, o.status, want, o.log)
				}
			}
		})
	}
}

// A program that the image does not have: the finding says where it would be.
func TestActionCheckWithoutItsProgram(t *testing.T) {
	t.Parallel()
	s := checkedSite(t, false, "no-such-program")
	o := s.at(s.C).pullRun()
	if f := o.finding(t, "trust/check-failed"); !strings.Contains(f.Message, "not found") || !strings.Contains(f.Remedy, ".github/actions/run") {
		t.Errorf("%s\n%s", f.Message, f.Remedy)
	}
}

// What a check changes cannot change what was judged: it runs last.
func TestActionChecksRunLast(t *testing.T) {
	t.Parallel()
	s := checkedSite(t, false, "sh", "-c", "echo x >> .ai/handoff/STATUS.md; rm -rf .git/refs; git config core.fsmonitor 'touch /nowhere'; ln -s /tmp .gate")
	o := s.at(s.C).pullRun()
	if r := s.checkRun(); o.status != 0 || r.Conclusion != "success" {
		t.Errorf("exit status %d, %s\n%s", o.status, r.Conclusion, o.log)
	}
	if o.report != nil {
		t.Error("the report was written through a link that the check made")
	}
}

// program is the gate as a process of its own, which testscript puts into PATH.
func (s *site) program(environ []string) (*exec.Cmd, *strings.Builder) {
	cmd := exec.Command("handoff-gate", "action")
	var log strings.Builder
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = environ, s.workspace, &log, &log
	return cmd, &log
}

// A check sees no credential: not in its environment, not in that of a process
// it can look at, so this test runs alone. As root it runs as whoever owns the
// project.
func TestActionChecksSeeNoSecrets(t *testing.T) {
	out := t.TempDir()
	script := "id -u > OUT/id; id -G >> OUT/id; ls -A \"$HOME\" | wc -l >> OUT/id; env > OUT/env; " +
		"cat /proc/[0-9]*/environ > OUT/others 2>/dev/null; cat /proc/$PPID/mem >> OUT/others 2>/dev/null; " +
		"echo '::set-output name=verdict::x'; echo '##[add-path]/x' >&2; true"
	s := checkedSite(t, false, "sh", "-c", strings.ReplaceAll(script, "OUT", out))
	s.at(s.C)
	root := os.Geteuid() == 0
	if root {
		chown(t, 1001, 1002, s.workspace)
		// The check has to be able to write where the test reads.
		for dir := out; dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Fatal(err)
			}
		}
	}
	environ := s.step("push", push("refs/heads/feature", s.B, s.C))
	cmd, log := s.program(environ)
	err := cmd.Run()
	o := s.ended(cmd.ProcessState.ExitCode(), log.String(), environ)
	if o.status != 0 {
		t.Fatalf("%v\n%s", err, o.log)
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for _, place := range []string{"env", "others"} {
		for _, secret := range []string{siteToken, siteRuntime} {
			if strings.Contains(read(place), secret) {
				t.Errorf("a check sees a secret in %s", place)
			}
		}
	}
	for _, prefix := range []string{"INPUT_", "GITHUB_", "ACTIONS_"} {
		if strings.Contains("\n"+read("env"), "\n"+prefix) {
			t.Errorf("a check has variables %s*", prefix)
		}
	}
	if got, want := strings.Fields(read("id")), "1001 1002 0"; root && strings.Join(got, " ") != want {
		t.Errorf("user, groups and files in HOME are %v, want %s", got, want)
	}
}

// What root leaves in the workspace belongs to its owner, or the next job of a
// self-hosted runner could not clean up.
func TestActionGivesItsFilesToTheOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root makes files that others cannot remove")
	}
	for name, c := range map[string]clone{
		"fetched base": {depth: 1}, "fetched blobs": {depth: 1, filter: "blob:none", sparse: []string{".ai/handoff"}},
	} {
		s := newSite(t, honest, ".")
		s.clone(s.M, c).input("report", "a/b/report.json").input("sarif", "a/c/report.sarif")
		chown(t, 1001, 1002, s.workspace)
		if o := s.pullRun(); o.status != 0 {
			t.Fatalf("%s: exit status %d\n%s", name, o.status, o.log)
		}
		err := filepath.WalkDir(s.workspace, func(p string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			var st syscall.Stat_t
			if err := syscall.Lstat(p, &st); err != nil {
				return err
			}
			if st.Uid != 1001 || st.Gid != 1002 {
				t.Errorf("%s: %s belongs to %d:%d", name, strings.TrimPrefix(p, s.workspace), st.Uid, st.Gid)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func chown(t *testing.T, uid, gid int, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(p, uid, gid)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A running check is ended with all that it started when the job is cancelled.
// What still runs holds the FIFO open, so this would wait for it as a job would.
func TestActionCancelledDuringACheck(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		fifo := filepath.Join(t.TempDir(), "fifo")
		if err := syscall.Mkfifo(fifo, 0o666); err != nil {
			t.Fatal(err)
		}
		s := checkedSite(t, false, "sh", "-c", "exec 3> "+fifo+"; sleep 100000 & echo begun >&3; wait")
		s.at(s.C)
		environ := s.step("push", push("refs/heads/feature", s.B, s.C))
		cmd, log := s.program(environ)
		// For writing too, or reading would end before the check has begun.
		held, err := os.OpenFile(fifo, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := os.Open(fifo)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = cmd.Wait()
			_ = held.Close()
		}()
		line := make([]byte, len("begun\n"))
		if _, err := io.ReadFull(r, line); err != nil {
			<-ended
			t.Fatalf("%s: the check did not begin\n%s", sig, log)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		<-ended
		o := s.ended(cmd.ProcessState.ExitCode(), log.String(), environ)
		if r := s.checkRun(); o.status != 2 || r.Conclusion != "cancelled" || o.outputs["verdict"] != "error" {
			t.Errorf("%s: exit status %d, conclusion %s\n%s", sig, o.status, r.Conclusion, o.log)
		}
		if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
			t.Errorf("%s: read %q, %v", sig, rest, err)
		}
	}
}
