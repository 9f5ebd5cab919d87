package packaging

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The hooks that this repository offers to the pre-commit framework are those of
// aahp-authoring.md 8, and have no key that the framework does not know.
func TestPreCommitHooks(t *testing.T) {
	type hook struct {
		ID            string
		Name          string
		Description   string
		Entry         string
		Language      string
		Stages        []string
		PassFilenames *bool  `yaml:"pass_filenames"`
		AlwaysRun     bool   `yaml:"always_run"`
		Minimum       string `yaml:"minimum_pre_commit_version"`
	}
	var hooks []hook
	d := yaml.NewDecoder(strings.NewReader(read(t, ".pre-commit-hooks.yaml")))
	d.KnownFields(true)
	if err := d.Decode(&hooks); err != nil {
		t.Fatal(err)
	}
	no := false
	var want []hook
	for _, h := range []struct{ id, stage, level string }{
		{"handoff-gate", "pre-commit", "precommit"}, {"handoff-gate-push", "pre-push", "prepush"},
	} {
		want = append(want, hook{
			ID: h.id, Entry: "handoff-gate verify --level " + h.level, Language: "golang", Stages: []string{h.stage},
			PassFilenames: &no, AlwaysRun: true, Minimum: "3.2.0", // the first that calls stages so
		})
	}
	for i := range hooks {
		if hooks[i].Name == "" || hooks[i].Description == "" {
			t.Errorf("%s has no name or description", hooks[i].ID)
		}
		hooks[i].Name, hooks[i].Description = "", ""
	}
	if !reflect.DeepEqual(hooks, want) {
		t.Errorf("%+v\nwant %+v", hooks, want)
	}
}

// The framework installs a Go hook by "go install ./..." at the top, and runs its
// entry with the folder of the programs in PATH.
func TestGoInstallYieldsTheProgram(t *testing.T) {
	bin := t.TempDir()
	command(t, root(t), []string{"GOBIN=" + bin}, "go", "install", "./...")
	if got := command(t, "", nil, filepath.Join(bin, "handoff-gate"), "version"); !strings.HasPrefix(got, "handoff-gate ") {
		t.Errorf("%q", got)
	}
}
