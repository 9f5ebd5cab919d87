package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/handoff-gate/handoff-gate/githubapi"
	"github.com/handoff-gate/handoff-gate/githubapi/internal/sample"
)

// tools are the tools that were built.
var tools = map[string]*once{}

// tool builds one of the pinned tools of .github/tools and returns its path. A test
// that needs one is skipped where it can be had neither from the module cache nor
// from a module proxy.
func tool(t *testing.T, pkg string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED: builds a tool; not with -short")
	}
	name := filepath.Base(pkg)
	if tools[pkg] == nil {
		tools[pkg] = &once{}
	}
	return tools[pkg].get(t, name, func() string {
		file := filepath.Join(shared, name)
		cmd := exec.CommandContext(t.Context(), "go", "build", "-modfile=.github/tools/workflows/go.mod", "-o", file, pkg)
		cmd.Dir = root(t)
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("SKIPPED: %s cannot be built here (no module proxy?): %v\n%s", pkg, err, output)
		}
		return file
	})
}

// files are those that match a pattern below the root, at least one.
func files(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root(t), pattern))
	if err != nil || len(found) == 0 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found
}

// Workflows and examples pass actionlint. The examples are laid out as an adopter
// would have them, so that the workflow which one of them calls is found.
func TestActionlint(t *testing.T) {
	actionlint := tool(t, "github.com/rhysd/actionlint/cmd/actionlint")
	adopter := t.TempDir()
	workflows := filepath.Join(adopter, ".github", "workflows")
	if err := os.MkdirAll(workflows, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(adopter, ".git"), 0o755); err != nil { // how actionlint knows a repository
		t.Fatal(err)
	}
	for _, example := range files(t, ".github/examples/*.yml") {
		data, err := os.ReadFile(example)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(workflows, filepath.Base(example)), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{root(t), adopter} {
		cmd := exec.CommandContext(t.Context(), actionlint, "-no-color")
		cmd.Dir = dir
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("in %s: %v\n%s", dir, err, output)
		}
	}
}

// workflow is the part of a workflow that the rules below are about.
type workflow struct {
	Permissions yaml.Node
	Jobs        map[string]struct {
		Permissions map[string]string
		Uses        string
		Steps       []struct {
			Uses, Run string
			With, Env map[string]string
		}
	}
}

// writes are the permissions to write that jobs have, each because of what it does there.
var writes = map[string]string{
	"ci.yml test": "", "ci.yml image": "", "ci.yml workflows": "", "release.yml check": "",
	"release.yml image":    "attestations id-token packages", // pushes the image and attests it
	"release.yml archives": "attestations id-token",
	"release.yml release":  "contents", // moves tags, publishes

	"publish.yml publish":      "contents",        // the same for an adopter
	"release-gate.yml publish": "contents",        // hands it to publish.yml
	"packets-claim.yml claim":  "checks contents", // claims are refs
	// All others run the gate, which writes a check run.
}

// The security habits that zizmor checks and this project can check without it:
// actions by commit id, read-only permissions at the top and no more in a job than what it
// does, no credentials left in the checkout, no expression inside a command.
func TestWorkflowHabits(t *testing.T) {
	pinned := regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`)
	for _, file := range slices.Concat(files(t, ".github/workflows/*.yml"), files(t, ".github/examples/*.yml")) {
		name := filepath.Base(file)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var w workflow
		if err := yaml.Unmarshal(data, &w); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var permissions map[string]string
		if err := w.Permissions.Decode(&permissions); err != nil || len(permissions) != 1 || permissions["contents"] != "read" {
			t.Errorf("%s: permissions at the top are not contents: read alone", name)
		}
		for id, job := range w.Jobs {
			if job.Uses != "" && !strings.HasPrefix(job.Uses, "./") && !pinned.MatchString(job.Uses) {
				t.Errorf("%s: %s: %s is not pinned by a commit id", name, id, job.Uses)
			}
			var granted []string
			for permission, level := range job.Permissions {
				if level != "read" {
					granted = append(granted, permission)
				}
			}
			slices.Sort(granted)
			wanted, listed := writes[name+" "+id]
			if !listed {
				wanted = "checks"
			}
			if got := strings.Join(granted, " "); got != wanted {
				t.Errorf("%s: %s may write %q, expected %q", name, id, got, wanted)
			}
			for _, step := range job.Steps {
				if step.Uses != "" && step.Uses != "./" && !pinned.MatchString(step.Uses) {
					t.Errorf("%s: %s: %s is not pinned by a commit id", name, id, step.Uses)
				}
				if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != "false" {
					t.Errorf("%s: %s: the checkout keeps its credentials", name, id)
				}
				if strings.Contains(step.Run, "${{") {
					t.Errorf("%s: %s: an expression in a command: %s", name, id, step.Run)
				}
				if strings.HasPrefix(step.Uses, "handoff-gate/") || step.Uses == "./" {
					usable(t, name, step.With)
				}
			}
		}
		// Each id is followed by the version it stands for, for people and for updates.
		for line := range strings.Lines(string(data)) {
			if strings.Contains(line, "uses: ") && strings.Contains(line, "@") && !regexp.MustCompile(`@[0-9a-f]{40} # v\d+\.\d+\.\d+\n`).MatchString(line) {
				t.Errorf("%s: no version beside the commit id: %s", name, strings.TrimSpace(line))
			}
		}
	}
}

// usable tells that a step gives the action only inputs that it has.
func usable(t *testing.T, name string, with map[string]string) {
	t.Helper()
	for input := range with {
		if !slices.ContainsFunc(githubapi.InputSpecs, func(s githubapi.InputSpec) bool { return s.Name == input }) {
			t.Errorf("%s: the input %s is none of this version", name, input)
		}
	}
}

// The required-check example, run by act on this machine itself, with the composite
// action reduced to starting the binary that was built here. In TestImage it runs with
// the image.
func TestExampleUnderAct(t *testing.T) {
	act := tool(t, "github.com/nektos/act")
	exampleUnderAct(t, act, composite(t, "exec "+binary(t)+" action"), "--platform", "ubuntu-latest=-self-hosted")
}

// composite is the composite action with another command in place of its script.
func composite(t *testing.T, command string) string {
	t.Helper()
	text := read(t, ".github/actions/run/action.yml")
	start := regexp.MustCompile(`run: exec bash .*`).ReplaceAllLiteralString(text, "run: "+command)
	if start == text {
		t.Fatal("the composite action's command has changed; so must this test")
	}
	return start
}

// exampleUnderAct runs the required-check example with an action of the given metadata
// on the sample's pull request, broken and repaired.
func exampleUnderAct(t *testing.T, act, metadata string, more ...string) {
	t.Helper()
	workspace, commits := checkout(t)
	gate := actionFolder(t, metadata)
	example := filepath.Join(root(t), ".github", "examples", "required-check.yml")
	uses := regexp.MustCompile(`uses: (handoff-gate/handoff-gate@\S+)`).FindStringSubmatch(read(t, ".github/examples/required-check.yml"))
	if uses == nil {
		t.Fatal("the example does not use the action")
	}
	more = append(more, "--local-repository", uses[1]+"="+gate)
	for _, tt := range []struct {
		name, head, merge string
		passes            bool
	}{
		{"broken", commits.Failing, commits.FailingMerge, false},
		{"repaired", commits.Repaired, commits.RepairedMerge, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := sample.Checkout(t.Context(), workspace, tt.merge); err != nil {
				t.Fatal(err)
			}
			underAct(t, act, workspace, example, sample.PullRequest("opened", commits.Base, tt.head), tt.passes, more...)
		})
	}
}

// underAct runs a workflow for a pull_request event in a workspace that is checked out
// already, and tells whether it passed as expected; a failure must be for want of an
// updated handoff.
func underAct(t *testing.T, act, workspace, workflow string, event []byte, passes bool, more ...string) {
	t.Helper()
	log, status := runAct(t, act, workspace, workflow, "pull_request", event, more...)
	if passed := status == 0; passed != passes {
		t.Fatalf("the workflow passed: %t, expected %t\n%s", passed, passes, log)
	}
	if !passes && !strings.Contains(log, "handoff-not-updated") {
		t.Fatalf("the workflow failed for another reason\n%s", log)
	}
}

// runAct runs a workflow by act in a workspace that is checked out already.
//
// Act is a second implementation of the runner, so it finds what a test that calls the
// program cannot: names of inputs and outputs, the composite's environment, mounts.
// What it would fetch from GitHub is replaced by folders; the checkout by one that does
// nothing.
func runAct(t *testing.T, act, workspace, workflow, event string, payload []byte, more ...string) (log string, status int) {
	t.Helper()
	data, err := os.ReadFile(workflow)
	if err != nil {
		t.Fatal(err)
	}
	checkout := regexp.MustCompile(`uses: (actions/checkout@\S+)`).FindSubmatch(data)
	if checkout == nil {
		t.Fatalf("%s has no checkout", workflow)
	}
	nothing := actionFolder(t, "name: checkout\nruns:\n  using: composite\n  steps:\n    - run: 'true'\n      shell: bash\n")
	file := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(file, payload, 0o644); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "HOME="+t.TempDir(), "XDG_CACHE_HOME="+t.TempDir())
	_, log, status = run(t, env, "", act, append([]string{
		event, "--workflows", workflow, "--eventpath", file, "--directory", workspace,
		"--local-repository", string(checkout[1]) + "=" + nothing,
		"--action-offline-mode", "--pull=false", "--no-cache-server", "--rm",
	}, more...)...)
	return log, status
}

func actionFolder(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "action.yml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The last step of a release moves the tag that started it to the release commit, whether
// it is a tag object or a plain ref, and the floating ones; a tag that somebody else has
// moved meanwhile stays where it is.
func TestReleaseMovesTheTags(t *testing.T) {
	var w workflow
	if err := yaml.Unmarshal([]byte(read(t, ".github/workflows/release.yml")), &w); err != nil {
		t.Fatal(err)
	}
	steps := w.Jobs["release"].Steps
	step := steps[len(steps)-1]
	bin := t.TempDir()
	for name, script := range map[string]string{"gh": "exit 0", "go": `echo "$RELEASE_COMMIT"`} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name  string
		tag   []string
		moved bool
	}{
		{"a plain ref", []string{"tag", "v1.2.3"}, false},
		{"a tag object", []string{"tag", "--annotate", "--message", "Release", "v1.2.3"}, false},
		{"moved meanwhile", []string{"tag", "v1.2.3"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			origin, clone := filepath.Join(t.TempDir(), "origin"), filepath.Join(t.TempDir(), "clone")
			git := func(args ...string) string {
				out, err := sample.Git(t.Context(), clone, "2026-03-01T12:00:00Z", args...)
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			command(t, "", nil, "git", "init", "--quiet", "--bare", origin)
			command(t, "", nil, "git", "init", "--quiet", clone)
			git("remote", "add", "origin", origin)
			git("commit", "--quiet", "--allow-empty", "--message", "Merged")
			git(tt.tag...)
			pushed, head := git("rev-parse", "v1.2.3"), git("rev-parse", "HEAD")
			release := git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "Release")
			git("push", "--quiet", "origin", "v1.2.3")
			if tt.moved {
				git("push", "--quiet", "--force", "origin", release+"^:refs/heads/other", git("commit-tree", "HEAD^{tree}", "-m", "Another")+":refs/tags/v1.2.3")
			}
			env := append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "RELEASE_COMMIT="+release, "GITHUB_SHA="+head, "IMAGE=image")
			for name, value := range step.Env {
				env = append(env, name+"="+strings.NewReplacer("${{ github.token }}", "", "${{ github.ref_name }}", "v1.2.3",
					"${{ github.event.after }}", pushed, "${{ needs.image.outputs.digest }}", "sha256:0").Replace(value))
			}
			_, log, status := run(t, env, clone, "bash", "-e", "-c", step.Run)
			if (status != 0) != tt.moved {
				t.Fatalf("exit status %d\n%s", status, log)
			}
			for _, tag := range []string{"v1.2.3", "v1.2", "v1"} {
				at, _, _ := strings.Cut(git("ls-remote", "origin", "refs/tags/"+tag), "\t")
				if (at == release) == tt.moved {
					t.Errorf("%s is at %q, the release at %s", tag, at, release)
				}
			}
		})
	}
}
