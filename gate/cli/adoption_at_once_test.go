package cli_test

import (
	"strings"
	"testing"
)

// Processes that begin or migrate one set at once, or install its hooks, all
// succeed, and leave what one of them leaves.
func TestAdoptionsAtOnce(t *testing.T) {
	processesOnly(t)
	set := map[string]string{
		statusFile: "# Status\n\nThe project builds.\n", ".ai/handoff/TRUST.md": "# Trust\n",
		manifestFile: `{"tasks": {"T-001": {"title": "kept", "status": "ready", "created": "[ISO-8601]"}}}`,
	}
	hook := map[string]string{statusFile: "# Status\n", ".git/hooks/pre-commit": "#!/bin/sh\nexit 0\n"}
	for _, w := range []writing{
		{args: []string{"init", "--with-pii-allowlist"}},
		{args: []string{"init", "--force"}, files: set},
		{args: []string{"migrate", "--yes"}, files: set},
		{args: []string{"migrate-grounding"}, files: set},
		{args: []string{"hooks", "install"}, files: map[string]string{statusFile: "# Status\n"}},
		{args: []string{"hooks", "install"}, files: hook},
	} {
		t.Run(strings.Join(w.args, " "), func(t *testing.T) {
			t.Parallel()
			alone := w.place(t)
			if status := start(t, alone, w.args...)(); status != 0 {
				t.Fatalf("alone: exit status %d", status)
			}
			want := snapshotOf(t, alone)
			for range 5 {
				dir := w.place(t)
				var waits []func() int
				for range 8 {
					waits = append(waits, start(t, dir, w.args...))
				}
				for _, wait := range waits {
					if status := wait(); status != 0 {
						t.Errorf("exit status %d", status)
					}
				}
				got := snapshotOf(t, dir)
				for path := range union(got, want) {
					if got[path] != want[path] {
						t.Errorf("%s is\n%s\nwant\n%s", path, got[path], want[path])
					}
				}
				noLeftovers(t, dir)
			}
		})
	}
}
