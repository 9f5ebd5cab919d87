package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
)

// start starts the program in a folder; what it gives waits for it.
func start(t *testing.T, dir string, args ...string) (wait func() int) {
	t.Helper()
	cmd := exec.Command("handoff-gate", args...)
	cmd.Dir, cmd.Env = dir, gittest.Environ()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() int {
		err := cmd.Wait()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode()
	}
}

// Processes that regenerate one manifest at once each leave a whole one, and the
// last of them stands.
func TestManifestsAtOnce(t *testing.T) {
	processesOnly(t)
	dir := writing{files: map[string]string{statusFile: "# Status\n\n" + strings.Repeat("Words. ", 5000)}}.place(t)
	if status := start(t, dir, "manifest")(); status != 0 {
		t.Fatalf("exit status %d", status)
	}
	var waits []func() int
	for i := range 8 {
		waits = append(waits, start(t, dir, "manifest", "--agent", fmt.Sprintf("agent-%d", i), "--context", strings.Repeat("x", 1+60*i)))
	}
	statuses := make(chan int)
	for _, wait := range waits {
		go func() { statuses <- wait() }()
	}
	var m struct {
		LastSession struct{ Agent string } `json:"last_session"`
		Context     string                 `json:"quick_context"`
	}
	reading := func() {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(manifestFile)))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatalf("a reader saw %q: %v", data, err)
		}
	}
	for ended := 0; ended < len(waits); {
		select {
		case status := <-statuses:
			if status != 0 {
				t.Errorf("exit status %d", status)
			}
			ended++
		default:
			reading()
		}
	}
	reading()
	var n int
	if _, err := fmt.Sscanf(m.LastSession.Agent, "agent-%d", &n); err != nil || len(m.Context) != 1+60*n {
		t.Errorf("the manifest has the session of %q and %d characters of context", m.LastSession.Agent, len(m.Context))
	}
	noLeftovers(t, dir)
}

// noLeftovers makes sure that no file of a run that has ended is left.
func noLeftovers(t *testing.T, dir string) {
	t.Helper()
	for path := range snapshotOf(t, dir) {
		if isLeftover(path) {
			t.Errorf("%s is left", path)
		}
	}
}

// Processes that rotate one log at once, each to another length, and with one that
// reindexes, lose no entry: each is done, or says that another is at work.
func TestArchivesAtOnce(t *testing.T) {
	processesOnly(t)
	const entries = 40
	all := map[string]bool{}
	for i := range entries {
		all[fmt.Sprintf("Text of entry %d.", i+1)] = true
	}
	for range 5 {
		dir := writing{files: map[string]string{logFile: journal(entries), archiveFile: "# Old\n", indexFile: `{"version": 1, "entries": []}`}}.place(t)
		var waits []func() int
		for keep := range 8 {
			waits = append(waits, start(t, dir, "archive", "--keep", fmt.Sprint(keep+1)))
		}
		waits = append(waits, start(t, dir, "archive", "--reindex"))
		done := 0
		for _, wait := range waits {
			switch status := wait(); status {
			case 0:
				done++
			case 1:
			default:
				t.Errorf("exit status %d", status)
			}
		}
		if done == 0 {
			t.Error("none of them was done")
		}
		if status := start(t, dir, "archive", "--verify", "--keep", "40")(); status != 0 {
			t.Errorf("archive and index do not agree: exit status %d", status)
		}
		seen := map[string]bool{}
		for _, file := range []string{logFile, archiveFile} {
			data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(data)) {
				if line = strings.TrimSpace(line); all[line] {
					if seen[line] {
						t.Errorf("%q stands twice", line)
					}
					seen[line] = true
				}
			}
		}
		if !maps.Equal(seen, all) {
			t.Errorf("%d of %d entries are left: %q", len(seen), len(all), slices.Sorted(maps.Keys(seen)))
		}
		noLeftovers(t, dir)
	}
}
