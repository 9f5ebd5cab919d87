package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/commands.md has a section for each command that the program lists, and each
// section has the flags that the program's own help has.
func TestCommandsPage(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "handoff-gate")
	command(t, root(t), nil, "go", "build", "-o", binary, ".")
	sections := map[string]string{}
	for _, section := range strings.Split(read(t, "docs/commands.md"), "\n## `")[1:] {
		name, text, _ := strings.Cut(section, "`")
		sections[name] = text
	}
	help := command(t, "", nil, binary, "help")
	names := regexp.MustCompile(`(?m)^  ([a-z-]+) {2,}`).FindAllStringSubmatch(help, -1)
	if len(names) == 0 {
		t.Fatalf("no commands in\n%s", help)
	}
	for _, name := range names {
		text, ok := sections[name[1]]
		if !ok {
			t.Errorf("no section %s", name[1])
			continue
		}
		delete(sections, name[1])
		usage := command(t, "", nil, binary, "help", name[1])
		for _, flag := range regexp.MustCompile(`--[a-z][a-z-]+`).FindAllString(usage, -1) {
			if !strings.Contains(text, flag) {
				t.Errorf("the section %s does not mention %s", name[1], flag)
			}
		}
	}
	for name := range sections {
		t.Errorf("the section %s is about no command of this version", name)
	}
}

// Every relative link of the documentation leads to something, headings included.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:\s]*)(?:#([^)\s]*))?\)`)
	for _, page := range append(files(t, "*.md"), files(t, "docs/*.md")...) {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(data), -1) {
			target := page
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(page), m[1])
			}
			text, err := os.ReadFile(target)
			if err != nil {
				if info, statErr := os.Stat(target); statErr != nil || !info.IsDir() {
					t.Errorf("%s: %s leads nowhere", filepath.Base(page), m[1])
				}
				continue
			}
			if m[2] != "" && !headings(string(text))[m[2]] {
				t.Errorf("%s: %s has no heading #%s", filepath.Base(page), m[1], m[2])
			}
		}
	}
}

// headings are the anchors of a page: those that GitHub makes of its headings, and
// explicit ones.
func headings(text string) map[string]bool {
	found := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		anchor := strings.ToLower(regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(m[1], ""))
		found[strings.ReplaceAll(anchor, " ", "-")] = true
	}
	for _, m := range regexp.MustCompile(`<a (?:id|name)="([^"]+)"`).FindAllStringSubmatch(text, -1) {
		found[m[1]] = true
	}
	return found
}

// The scripts that are shipped pass shellcheck, where it is installed.
func TestShellcheck(t *testing.T) {
	shellcheck, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("SKIPPED: shellcheck is not installed")
	}
	cmd := exec.CommandContext(t.Context(), shellcheck, ".ci/run", ".github/actions/run/run.sh", ".github/image/collect")
	cmd.Dir = root(t)
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
