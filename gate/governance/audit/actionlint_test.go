package audit_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v3"

	"github.com/handoff-gate/handoff-gate/gate/internal/workflow"
)

// The reader of workflows and that of the linter actionlint agree about triggers,
// conditions, permissions and steps, in every workflow that the tests have.
func TestAgreesWithActionlint(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: builds a tool; not with -short")
	}
	top, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "actionlint")
	build := exec.CommandContext(t.Context(), "go", "build", "-modfile=.github/tools/workflows/go.mod", "-o", program, "./gate/governance/audit/testdata/actionlint")
	build.Dir = top
	if output, err := build.CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: actionlint cannot be built here (no module proxy?): %v\n%s", err, output)
	}
	dir := t.TempDir()
	fixtures := fixtureFiles(t, top)
	var names []string
	for name, data := range fixtures {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	show := exec.CommandContext(t.Context(), program, names...)
	show.Dir = dir
	output, err := show.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	theirs := strings.Split("\n"+string(output), "\nfile ")[1:]
	if len(theirs) != len(names) || len(names) < 15 {
		t.Fatalf("%d of %d fixtures were read", len(theirs), len(names))
	}
	for i, name := range names {
		if got, want := strings.TrimSpace(readBy(t, name, fixtures[name])), strings.TrimSpace(theirs[i]); got != want {
			t.Errorf("read here:\n%s\nread by actionlint:\n%s", got, want)
		}
	}
}

// fixtureFiles are the project's workflows, its examples, and those of the scripts
// about doctor.
func fixtureFiles(t *testing.T, top string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, pattern := range []string{".github/workflows/*.yml", ".github/examples/*.yml", "testdata/script/doctor*.txtar"} {
		files, err := filepath.Glob(filepath.Join(top, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name := strings.TrimSuffix(filepath.Base(file), ".yml")
			if filepath.Ext(file) == ".yml" {
				all[name+".yml"] = data
				continue
			}
			for _, f := range txtar.Parse(data).Files {
				if strings.Contains(string(f.Data), "\njobs:\n") {
					all[name+"-"+filepath.Base(f.Name)+".yml"] = f.Data
				}
			}
		}
	}
	return all
}

// readBy shows what is read here, as testdata/actionlint does.
func readBy(t *testing.T, name string, data []byte) string {
	t.Helper()
	f, err := workflow.Read(data)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	events, err := f.Events()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	text := func(n *yaml.Node, key string) {
		if m, ok := workflow.Get(n, key); ok && m.Value.Kind == yaml.ScalarNode {
			say("%s %s", key, strings.ReplaceAll(m.Value.Value, "\n", "\\n"))
		}
	}
	permissions := func(what string, n *yaml.Node) {
		m, ok := workflow.Get(n, "permissions")
		if !ok {
			return
		}
		if m.Value.Kind == yaml.ScalarNode {
			say("permissions of the %s %s", what, m.Value.Value)
			return
		}
		var all []string
		for i := 0; i < len(m.Value.Content); i += 2 {
			all = append(all, m.Value.Content[i].Value+": "+m.Value.Content[i+1].Value)
		}
		slices.Sort(all)
		if len(all) > 0 {
			say("permissions of the %s %s", what, strings.Join(all, ", "))
		}
	}
	say("%s", name)
	for _, e := range events {
		say("on %s", e.Name.Value)
	}
	permissions("workflow", f.Root)
	jobs, _ := workflow.Get(f.Root, "jobs")
	var order []int
	for i := 0; i < len(jobs.Value.Content); i += 2 {
		order = append(order, i)
	}
	slices.SortFunc(order, func(x, y int) int { return strings.Compare(jobs.Value.Content[x].Value, jobs.Value.Content[y].Value) })
	for _, i := range order {
		job := jobs.Value.Content[i+1]
		say("job %s", jobs.Value.Content[i].Value)
		text(job, "if")
		text(job, "continue-on-error")
		text(job, "needs")
		if m, ok := workflow.Get(job, "needs"); ok {
			for _, n := range m.Value.Content {
				say("needs %s", n.Value)
			}
		}
		permissions("job", job)
		text(job, "uses")
		steps, _ := workflow.Get(job, "steps")
		if steps.Value == nil {
			continue
		}
		for _, step := range steps.Value.Content {
			say("step")
			text(step, "if")
			text(step, "run")
			text(step, "uses")
		}
	}
	return b.String()
}
