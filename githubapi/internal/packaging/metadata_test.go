package packaging

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/handoff-gate/handoff-gate/githubapi"
	"github.com/handoff-gate/handoff-gate/githubapi/internal/sample"
)

// metadata is what an action.yml says, in the order it says it.
type metadata struct {
	Name        string
	Description string
	Author      string
	Branding    struct{ Icon, Color string }
	Inputs      yaml.Node
	Outputs     yaml.Node
	Runs        struct {
		Using string
		Image string
		Args  []string
		Steps []struct {
			ID, Run, Shell string
			Env            map[string]string
		}
	}
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := sample.Root()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root(t), path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func action(t *testing.T, path string) metadata {
	t.Helper()
	var m metadata
	if err := yaml.Unmarshal([]byte(read(t, path)), &m); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return m
}

// members are the keys of a mapping, in order, with the fields of each value.
func members(t *testing.T, node yaml.Node) (names []string, fields map[string]map[string]string) {
	t.Helper()
	fields = map[string]map[string]string{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name := node.Content[i].Value
		var f map[string]string
		if err := node.Content[i+1].Decode(&f); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		names, fields[name] = append(names, name), f
	}
	return names, fields
}

// What the Marketplace and the runner ask of action.yml.
func TestActionMetadata(t *testing.T) {
	m := action(t, "action.yml")
	for _, tt := range []struct{ what, got, want string }{
		{"name", m.Name, "Handoff Gate"},
		{"icon", m.Branding.Icon, "check-circle"},
		{"color", m.Branding.Color, "purple"},
		{"using", m.Runs.Using, "docker"},
		{"image", m.Runs.Image, "Dockerfile"},
		{"args", strings.Join(m.Runs.Args, " "), "action"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s is %q, expected %q", tt.what, tt.got, tt.want)
		}
	}
	if m.Author == "" {
		t.Error("no author")
	}
	if n := len(m.Description); n == 0 || n > 125 {
		t.Errorf("the description has %d characters; the Marketplace takes 125", n)
	}
}

// The container action, the composite action, the program and the reference name
// the same inputs with the same defaults, and the same outputs.
func TestInputsAndOutputsAgree(t *testing.T) {
	page := read(t, "docs/action.md")
	for _, path := range []string{"action.yml", ".github/actions/run/action.yml"} {
		m := action(t, path)
		names, inputs := members(t, m.Inputs)
		var want []string
		for _, spec := range githubapi.InputSpecs {
			want = append(want, spec.Name)
			input := inputs[spec.Name]
			if input["default"] != spec.Default {
				t.Errorf("%s: %s has the default %q, the program %q", path, spec.Name, input["default"], spec.Default)
			}
		}
		if fmt.Sprint(names) != fmt.Sprint(want) {
			t.Errorf("%s has the inputs\n%v, the program\n%v", path, names, want)
		}
		outputs, fields := members(t, m.Outputs)
		if fmt.Sprint(outputs) != fmt.Sprint(githubapi.OutputNames) {
			t.Errorf("%s has the outputs\n%v, the program\n%v", path, outputs, githubapi.OutputNames)
		}
		for _, name := range outputs {
			value := "${{ steps.gate.outputs." + name + " }}"
			if m.Runs.Using == "composite" && fields[name]["value"] != value {
				t.Errorf("%s: output %s is %q, expected %q", path, name, fields[name]["value"], value)
			}
		}
	}
	for _, spec := range githubapi.InputSpecs {
		row := "| `" + spec.Name + "` | "
		if spec.Default == "" {
			row += "empty"
		} else {
			row += "`" + spec.Default + "`"
		}
		if !strings.Contains(page, row+" |") {
			t.Errorf("docs/action.md has no row %q", row)
		}
	}
	for _, name := range githubapi.OutputNames {
		if !strings.Contains(page, "| `"+name+"` |") {
			t.Errorf("docs/action.md has no row for the output %s", name)
		}
	}
}

// The composite action passes every input by the environment and puts no
// expression into a command, where a value could become code.
func TestCompositePassesEveryInput(t *testing.T) {
	m := action(t, ".github/actions/run/action.yml")
	if len(m.Runs.Steps) != 1 || m.Runs.Steps[0].ID != "gate" {
		t.Fatalf("expected one step, gate: %+v", m.Runs.Steps)
	}
	step := m.Runs.Steps[0]
	if strings.Contains(step.Run, "${{") {
		t.Errorf("an expression in the command: %s", step.Run)
	}
	for _, spec := range githubapi.InputSpecs {
		name := "INPUT_" + strings.ToUpper(strings.ReplaceAll(spec.Name, "-", "_"))
		if want := "${{ inputs." + spec.Name + " }}"; step.Env[name] != want {
			t.Errorf("%s is %q, expected %q", name, step.Env[name], want)
		}
	}
	if len(step.Env) != len(githubapi.InputSpecs) {
		t.Errorf("%d variables for %d inputs", len(step.Env), len(githubapi.InputSpecs))
	}
}

// What the image's recipe must and must not say.
func TestDockerfile(t *testing.T) {
	text := read(t, "Dockerfile")
	var instructions []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			instructions = append(instructions, line)
		}
	}
	recipe := strings.Join(instructions, "\n")
	for _, absent := range []string{"USER", "HEALTHCHECK", "EXPOSE", "VOLUME"} {
		if regexp.MustCompile(`(?m)^` + absent + `\b`).MatchString(recipe) {
			t.Errorf("the recipe has %s", absent)
		}
	}
	final := recipe[strings.LastIndex(recipe, "FROM "):]
	for _, want := range []string{"FROM scratch\n", `ENTRYPOINT ["/usr/local/bin/handoff-gate"]`} {
		if !strings.Contains(final, want) {
			t.Errorf("the final stage lacks %q", want)
		}
	}
	for _, label := range []string{"title", "description", "source", "url", "version", "revision", "licenses", "created"} {
		if !strings.Contains(final, "org.opencontainers.image."+label+"=") {
			t.Errorf("no label %s", label)
		}
	}
	// Each base image is an ARG whose default has a digest.
	pinned := regexp.MustCompile(`(?m)^ARG [A-Z]+_IMAGE=\S+:\S+@sha256:[0-9a-f]{64}$`)
	if n := len(pinned.FindAllString(recipe, -1)); n != 2 {
		t.Errorf("%d base images are pinned by digest, expected 2", n)
	}
	for _, from := range regexp.MustCompile(`(?m)^FROM .*$`).FindAllString(recipe, -1) {
		if !strings.Contains(from, "_IMAGE}") && from != "FROM scratch" {
			t.Errorf("a base image outside the two arguments: %s", from)
		}
	}
	// Without arguments the image reports the version that the program has by itself.
	version := regexp.MustCompile(`version\s*=\s*"([^"]+)"`).FindStringSubmatch(read(t, "main.go"))
	if version == nil || strings.Count(recipe, "ARG VERSION="+version[1]+"\n") != 2 {
		t.Errorf("ARG VERSION and the version in main.go (%v) differ", version)
	}
}
