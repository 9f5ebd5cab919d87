package audit_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/disk"
	"github.com/handoff-gate/handoff-gate/gate/governance"
	"github.com/handoff-gate/handoff-gate/gate/governance/audit"
)

// The project's own workflows, and those that it shows to others, cannot be
// talked out of running the gate, and what they run is fixed.
func TestOwnWorkflows(t *testing.T) {
	top := filepath.Join("..", "..", "..")
	work, err := disk.Open(top)
	if err != nil {
		t.Fatal(err)
	}
	defer work.Close()
	for name, tree := range map[string]audit.Input{
		"own":      {Tree: work},
		"examples": {Tree: workflows(examples(t, filepath.Join(top, ".github", "examples")))},
	} {
		a := audit.Read(tree)
		for _, g := range []governance.Gate{a.VerifyWorkflow(), a.CLISource()} {
			if g.Outcome != governance.Pass {
				t.Errorf("%s: %s: %s\n%v", name, g.ID, found(g), g.Findings)
			}
		}
	}
	// Of the examples each that a pull request triggers stands by itself, too.
	for base, text := range examples(t, filepath.Join(top, ".github", "examples")) {
		switch g := audit.Read(audit.Input{Tree: workflows(map[string]string{base: text})}).VerifyWorkflow(); base {
		case "publish.yml":
			if g.Outcome != governance.NotApplicable {
				t.Errorf("%s: %s", base, found(g))
			}
		case "manual.yml", "release-gate.yml", "packets-claim.yml":
			if len(g.Findings) != 1 || g.Findings[0].Rule != audit.NoPullRequestTrigger.ID {
				t.Errorf("%s: %s", base, found(g))
			}
		default:
			if g.Outcome != governance.Pass {
				t.Errorf("%s: %s", base, found(g))
			}
		}
	}
}

func examples(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(data)
	}
	if len(all) < 5 {
		t.Errorf("there are %d examples", len(all))
	}
	return all
}
