package packaging

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/criteria"
	"github.com/handoff-gate/handoff-gate/gate/governance"
	"github.com/handoff-gate/handoff-gate/gate/policy"
	"github.com/handoff-gate/handoff-gate/githubapi/internal/sample"
)

// docs/commands.md has a section for each command that the program lists, in the
// order of the help. Each has the flags, defaults and exit statuses of the command
// and of those below it.
func TestCommandsPage(t *testing.T) {
	sections := map[string]string{}
	var order []string
	for _, section := range strings.Split(read(t, "docs/commands.md"), "\n## `")[1:] {
		name, text, _ := strings.Cut(section, "`")
		sections[name] = text
		order = append(order, name)
	}
	all := commands(t)
	if !slices.Equal(order, all.order) {
		t.Errorf("the sections are\n%v, the help lists\n%v", order, all.order)
	}
	stated := regexp.MustCompile(`(?s)Exit status(?:es)?:? (\d.*?)(?:\n\n|$)|\n(\| Exit status \|.*?)(?:\n\n|$)`)
	number := regexp.MustCompile(`(?:^|[;.]\s?|\n\| )(\d) `)
	for _, name := range all.order {
		text := sections[name]
		for flag := range all.flags(name) {
			if !regexp.MustCompile(`(?m)(?:^|[^\w-])` + flag + `(?:[^\w-]|$)`).MatchString(text) {
				t.Errorf("the section %s does not mention %s", name, flag)
			}
		}
		for _, row := range regexp.MustCompile("(?m)^\\| `(--[a-z-]+)[^|]*\\| `([^`|]+)` \\|").FindAllStringSubmatch(text, -1) {
			if got := all.defaultOf(name, row[1]); got != row[2] {
				t.Errorf("the section %s says that %s is %q by default, the help %q", name, row[1], row[2], got)
			}
		}
		m := stated.FindStringSubmatch(text)
		if m == nil {
			continue // the table at the top of the page is true of it
		}
		found := map[string]bool{}
		for _, n := range number.FindAllStringSubmatch(m[1]+m[2], -1) {
			found[n[1]] = true
		}
		if want := all.statuses(name); !maps.Equal(found, want) {
			t.Errorf("the section %s has the exit statuses %v, the help %v", name, found, want)
		}
	}
}

// Every relative link of the documentation leads to something, headings included, and
// to every page leads one.
func TestLinks(t *testing.T) {
	linked := map[string]bool{filepath.Join(root(t), "README.md"): true}
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
			if target != page {
				linked[target] = true
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
	for _, page := range append(files(t, "*.md"), files(t, "docs/*.md")...) {
		if !linked[page] {
			t.Errorf("no page leads to %s", filepath.Base(page))
		}
	}
}

// docs/configuration.md has a row for every key that the schema knows, and for no other,
// and says of each whether it is required; the defaults are those of the code.
func TestConfigurationPage(t *testing.T) {
	var root configurationSchema
	if err := json.Unmarshal([]byte(read(t, "schema/aahp-config.schema.json")), &root); err != nil {
		t.Fatal(err)
	}
	required := map[string]bool{} // of every key
	root.keys("", required)
	rows := map[string]string{} // the default of every key
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.*?) \\| .+ \\|$").FindAllStringSubmatch(read(t, "docs/configuration.md"), -1) {
		if rows[m[1]] != "" {
			t.Errorf("%s has two rows", m[1])
		}
		rows[m[1]] = m[2]
		if _, known := required[m[1]]; !known {
			t.Errorf("the schema has no %s", m[1])
		}
	}
	for key, must := range required {
		if rows[key] == "" {
			t.Errorf("there is no row for %s", key)
		} else if (rows[key] == "**required**") != must {
			t.Errorf("%s: the default is %q; required: %t", key, rows[key], must)
		}
	}
	code := func(values ...string) string { return "`" + strings.Join(values, "` `") + "`" }
	c := governance.ReadConfig(gate.Document{State: gate.Present, Data: []byte(`{"versionSites": [{"file": "f"}], "docLinks": {}, "generate": {"log": {}},
		"claims": [{"id": "i", "canonical": "c", "phrase": "p", "advertised": 1, "surfaces": []}], "forbiddenPatterns": [{"pattern": "p"}], "docSync": [{"sources": []}], "pinnedDep": {}}`)}, gate.Commands{}, nil)
	if !c.Valid("check") {
		t.Fatalf("%+v", c.Problems)
	}
	for key, want := range map[string]string{
		"trustTtl.enforce":              code(fmt.Sprint(policy.BuiltIn().Trust.Enforce)),
		"trustTtl.graceDays":            code(fmt.Sprint(policy.BuiltIn().Trust.GraceDays)),
		"versionSites[].minOccurrences": code(fmt.Sprint(c.VersionSites[0].Min)),
		"versionSites[].boundary":       code(fmt.Sprint(c.VersionSites[0].Boundary)),
		"claims[].flags":                code(c.Claims[0].Flags.Text),
		"claims[].joinTsConcat":         code(fmt.Sprint(c.Claims[0].Join)),
		"forbiddenPatterns[].id":        code(c.ForbiddenPatterns[0].ID),
		"forbiddenPatterns[].flags":     code(c.ForbiddenPatterns[0].Flags.Text),
		"forbiddenPatterns[].message":   code(c.ForbiddenPatterns[0].Message),
		"forbiddenPatterns[].include":   code(c.ForbiddenPatterns[0].Include...),
		"docSync[].id":                  code(c.DocSync[0].ID),
		"docLinks.include":              code(c.DocLinks.Include...),
		"generate.log.source":           code(c.Log.Source.Text),
		"generate.freshness.file":       code(c.Freshness.Text),
		"pinnedDep.name":                code(c.PinnedDep.Name),
		"pinnedDep.location":            code(c.PinnedDep.Location),
		"pinnedDep.allowRange":          code(fmt.Sprint(c.PinnedDep.AllowRange)),
		"verifyWorkflow.enforce":        code(fmt.Sprint(c.Enforce)),
		"acceptanceCriteria.include":    code(criteria.DefaultInclude),
		"acceptanceCriteria.manifest":   code(criteria.DefaultManifest),
	} {
		if rows[key] != want {
			t.Errorf("%s: the page has the default %s, the code %s", key, rows[key], want)
		}
	}
}

// configurationSchema is the part of a schema that says which keys there are.
type configurationSchema struct {
	Properties map[string]configurationSchema
	Required   []string
	Items      *configurationSchema
}

// keys adds the paths of all keys below one, and whether each is required.
func (s configurationSchema) keys(below string, required map[string]bool) {
	if s.Items != nil {
		s.Items.keys(below+"[]", required)
	}
	for key, part := range s.Properties {
		path := strings.TrimPrefix(below+"."+key, ".")
		required[path] = slices.Contains(s.Required, key)
		part.keys(path, required)
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

// Whoever tries the commands of README.md in a clone of this repository gets a handoff
// set that passes: no file of it has a line that counts as a conflict marker.
func TestNoConflictMarkers(t *testing.T) {
	out, err := exec.Command("git", "-C", root(t), "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("SKIPPED: not a clone: %v", err)
	}
	marker := regexp.MustCompile(`(?m)^\s*(?:<{7}|>{7})`)
	for _, name := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join(root(t), name))
		if err == nil && marker.Match(data) {
			t.Errorf("%s has conflict markers", name)
		}
	}
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

// What gosec and its like find and is no fault has its reason beside it, and
// docs/threat-model.md names each class of .golangci.yml, and no other.
func TestTriage(t *testing.T) {
	err := filepath.WalkDir(root(t), func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "docs_test.go") {
			return err
		}
		data, err := os.ReadFile(file)
		for line := range strings.Lines(string(data)) {
			_, marked, found := strings.Cut(line, "//nolint")
			if found && !regexp.MustCompile(`^:[a-z]+ // \S+ \S+`).MatchString(marked) {
				t.Errorf("%s: no linter or no reason: %s", filepath.Base(file), strings.TrimSpace(line))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	classes := func(name string) []string {
		found := regexp.MustCompile(`\bG\d{3}\b`).FindAllString(read(t, name), -1)
		slices.Sort(found)
		return slices.Compact(found)
	}
	if page, config := classes("docs/threat-model.md"), classes(".golangci.yml"); !slices.Equal(page, config) || len(page) == 0 {
		t.Errorf("docs/threat-model.md has the classes %v, .golangci.yml %v", page, config)
	}
}

// docs/extending.md adds a rule by a diff of fewer than twenty lines. It applies to
// this version, the commands below it work, and the rule does what the page says.
func TestExtending(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: compiles the program; not with -short")
	}
	page := read(t, "docs/extending.md")
	_, text, _ := strings.Cut(page, "\n```diff\n")
	diff, text, found := strings.Cut(text, "\n```\n")
	if !found {
		t.Fatal("there is no diff")
	}
	if n := len(regexp.MustCompile(`(?m)^\+[^+]`).FindAllString(diff, -1)); n != 19 {
		t.Errorf("%d lines are added; the page says nineteen", n)
	}
	module := filepath.Join(t.TempDir(), "module")
	if err := sample.CopyModule(t.Context(), root(t), module); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "git", "apply", "--recount", "-")
	cmd.Dir, cmd.Stdin = module, strings.NewReader(diff+"\n")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the diff does not apply: %v\n%s", err, output)
	}
	commands := regexp.MustCompile(`(?m)^    (go .*)$`).FindAllStringSubmatch(text, -1)
	if len(commands) != 3 {
		t.Fatalf("the commands are %q", commands)
	}
	output := ""
	for _, c := range commands {
		output = command(t, module, nil, "sh", "-c", c[1])
	}
	if !strings.Contains(output, "tasks/title-is-id (warning)") {
		t.Errorf("explain says\n%s", output)
	}
}
