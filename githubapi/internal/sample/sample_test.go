package sample

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// The manifests of the sample name commits of the history that Build makes, so the
// ids must not depend on the machine, and a changed sample must bring its manifests
// along.
func TestManifestsNameTheCommitsOfTheHistory(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(root, "testdata", "sample")
	commits, err := Build(t.Context(), source, filepath.Join(t.TempDir(), "repo"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ folder, want string }{
		{"base", commits.First},
		{"repair", commits.Failing},
	} {
		data, err := os.ReadFile(filepath.Join(source, tt.folder, ".ai", "handoff", "MANIFEST.json"))
		if err != nil {
			t.Fatal(err)
		}
		var manifest struct {
			LastSession struct{ Commit string } `json:"last_session"`
		}
		if err := json.Unmarshal(data, &manifest); err != nil {
			t.Fatal(err)
		}
		if manifest.LastSession.Commit != tt.want {
			t.Errorf("%s: last_session.commit is %s, but the commit it describes is %s", tt.folder, manifest.LastSession.Commit, tt.want)
		}
	}
}
