package gate_test

import (
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
)

func TestInGit(t *testing.T) {
	for p, want := range map[string]bool{
		".git": true, ".git/config": true, "a/.Git/hooks": true, "a/.GIT": true,
		"": false, ".": false, "a": false, ".github/workflows": false, "a.git/b": false, ".gitignore": false,
	} {
		if got := gate.InGit(p); got != want {
			t.Errorf("InGit(%q) = %v", p, got)
		}
	}
}
