package packaging

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/handoff-gate/handoff-gate/gate/catalog"
	"github.com/handoff-gate/handoff-gate/gate/cli"
	"github.com/handoff-gate/handoff-gate/githubapi"
)

// reference is what the help says that there is. It is made from the flags that the
// commands parse.
type reference struct {
	order []string            // the commands, as listed
	below map[string][]string // of a command with others below it: their names
	pages map[string]string   // the help of each that can be run: "packet check"
}

func help(t *testing.T, words ...string) string {
	t.Helper()
	var out bytes.Buffer
	if status := cli.Run(t.Context(), append([]string{"help"}, words...), cli.Process{Stdout: &out, Stderr: &out}); status != 0 {
		t.Fatalf("help %q: exit status %d\n%s", words, status, &out)
	}
	return out.String()
}

func commands(t *testing.T) reference {
	t.Helper()
	listed := regexp.MustCompile(`(?m)^  ([a-z-]+)  `)
	r := reference{below: map[string][]string{}, pages: map[string]string{}}
	for _, m := range listed.FindAllStringSubmatch(help(t), -1) {
		name, page := m[1], help(t, m[1])
		r.order = append(r.order, name)
		if !strings.Contains(page, "COMMAND [ARGUMENTS]") {
			r.pages[name] = page
			continue
		}
		for _, below := range listed.FindAllStringSubmatch(page, -1) {
			r.below[name] = append(r.below[name], below[1])
			r.pages[name+" "+below[1]] = help(t, name, below[1])
		}
	}
	if len(r.order) < 20 {
		t.Fatalf("the help lists %v", r.order)
	}
	return r
}

// paths are a command, or those below it.
func (r reference) paths(name string) []string {
	if r.below[name] == nil {
		return []string{name}
	}
	var all []string
	for _, below := range r.below[name] {
		all = append(all, name+" "+below)
	}
	return all
}

var helpFlag = regexp.MustCompile(`(?m)^  (--?[a-z][a-z-]*)(?: (\S+))?`)

// flags are those of a command and of all below it, with what their values are in
// the help; "" where they take none.
func (r reference) flags(name string) map[string]string {
	all := map[string]string{}
	for _, path := range r.paths(name) {
		for _, m := range helpFlag.FindAllStringSubmatch(r.pages[path], -1) {
			all[m[1]] = m[2]
		}
	}
	return all
}

// defaultOf is the value that a flag has where it is not given; "" where the help
// tells none.
func (r reference) defaultOf(name, flag string) string {
	for _, path := range r.paths(name) {
		_, text, found := strings.Cut(r.pages[path], "\n  "+flag+" ")
		if !found {
			continue
		}
		text, _, _ = strings.Cut(text, "\n  -")
		text, _, _ = strings.Cut(text, "\n\n")
		if m := regexp.MustCompile(`\(default: ([^()]*)\)$`).FindStringSubmatch(strings.Join(strings.Fields(text), " ")); m != nil {
			return m[1]
		}
	}
	return ""
}

func (r reference) statuses(name string) map[string]bool {
	all := map[string]bool{}
	for _, path := range r.paths(name) {
		_, text, _ := strings.Cut(r.pages[path], "\nExit status: ")
		for _, m := range regexp.MustCompile(`(?:^|; )(\d) `).FindAllStringSubmatch(strings.ReplaceAll(text, "\n", " "), -1) {
			all[m[1]] = true
		}
	}
	return all
}

// documents are the texts in which a user meets names: by file, or as the help of a
// command.
func documents(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "action.yml", ".github/actions/run/action.yml", ".github/examples/*.yml", ".pre-commit-hooks.yaml"} {
		for _, file := range files(t, pattern) {
			name, err := filepath.Rel(root(t), file)
			if err != nil {
				t.Fatal(err)
			}
			all[filepath.ToSlash(name)] = read(t, name)
		}
	}
	for path, page := range commands(t).pages {
		all["help "+path] = page
	}
	return all
}

var (
	fence = regexp.MustCompile("(?ms)^ *```[a-z]*\n(.*?)^ *```$")
	span  = regexp.MustCompile("`([^`\n]+)`")
)

// code is what stands as code in a page: blocks in fences or indented, and spans. All
// of a document that is no page is code.
func code(name, text string) (blocks, spans []string) {
	if !strings.HasSuffix(name, ".md") {
		return []string{text}, nil
	}
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		blocks = append(blocks, m[1])
	}
	text = fence.ReplaceAllString(text, "")
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "    ") {
			blocks = append(blocks, strings.TrimSpace(line)+"\n")
		}
	}
	for _, m := range span.FindAllStringSubmatch(text, -1) {
		spans = append(spans, m[1])
	}
	return blocks, spans
}

// Every call of the program that a page, an example or the help shows is one that the
// program takes: commands, flags, values of flags, ids of rules.
func TestCallsAreUsable(t *testing.T) {
	r := commands(t)
	seen := 0
	for name, text := range documents(t) {
		if name == "docs/rules.md" {
			continue // its remedies are held to the program where they are made
		}
		blocks, spans := code(name, text)
		var calls []string
		for _, b := range blocks {
			// A usage goes on in lines that begin with a flag.
			b = regexp.MustCompile(`\n +(\[*--)`).ReplaceAllString(b, " $1")
			for _, m := range regexp.MustCompile(`(?m)(?:^|[\s/"(])handoff-gate ([a-z-].*)$`).FindAllStringSubmatch(b, -1) {
				calls = append(calls, m[1])
			}
		}
		for _, s := range spans {
			call, ok := strings.CutPrefix(strings.TrimPrefix(s, "./"), "handoff-gate ")
			first, rest, more := strings.Cut(call, " ")
			if ok && regexp.MustCompile(`^[a-z-]`).MatchString(call) || slices.Contains(r.order, first) && more && (strings.HasPrefix(rest, "-") || r.below[first] != nil) {
				calls = append(calls, call)
			}
		}
		for _, call := range calls {
			seen++
			if err := r.usable(call); err != nil {
				t.Errorf("%s: handoff-gate %s: %v", name, call, err)
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d calls were found", seen)
	}
}

// usable tells what is wrong with a call, or with a usage.
func (r reference) usable(call string) error {
	words := strings.Fields(call)
	for i, w := range words {
		// What comes then is the shell's, or prose.
		if regexp.MustCompile(`^(?:\||\|\||&&|>.*|2>.*|#.*|…|;|\\|says|describes|lists|must)$`).MatchString(w) {
			words = words[:i]
			break
		}
	}
	next := func() string {
		if len(words) == 0 {
			return ""
		}
		w := strings.Trim(words[0], "[]`.,;)\"'")
		words = words[1:]
		return w
	}
	path := next()
	switch {
	case path == "COMMAND" || path == "--version" || path == "":
		return nil
	case !slices.Contains(r.order, path):
		return fmt.Errorf("there is no command %q", path)
	case r.below[path] != nil:
		below := next()
		if below == "" || below == "COMMAND" {
			return nil
		}
		if !slices.Contains(r.below[path], below) {
			return fmt.Errorf("there is no command %s %q", path, below)
		}
		path += " " + below
	}
	flags := r.flags(path)
	for len(words) > 0 {
		w := next()
		if path == "explain" && strings.ToLower(w) == w && w != "-h" && catalog.Find(w) == nil {
			return fmt.Errorf("there is no rule %q", w)
		}
		if !strings.HasPrefix(w, "-") || w == "-" || w == "--" {
			continue
		}
		w, given, _ := strings.Cut(w, "=")
		for _, flag := range strings.Split(w, "|") {
			takes, ok := flags[flag]
			if !ok && flag != "--help" && flag != "-h" {
				return fmt.Errorf("%s has no flag %s", path, flag)
			}
			if takes != "" && given == "" {
				given = next()
			}
			if !strings.Contains(takes, "|") || given != "" && strings.ToUpper(given) == given {
				continue
			}
			for _, value := range strings.Split(given, "|") {
				if !slices.Contains(strings.Split(takes, "|"), value) {
					return fmt.Errorf("%s takes %s, not %q", flag, takes, value)
				}
			}
		}
	}
	return nil
}

// ofOthers are flags, variables and files of other programs that pages name, and
// the rule that docs/extending.md adds.
var ofOthers = strings.Fields(".github/workflows/aahp-govern.yml --build-arg --end-of-options --network --no-install --no-verify LD_PRELOAD .pre-commit-config.yaml tasks/title-is-id")

// A flag that a page names by itself is one of some command.
func TestFlagsExist(t *testing.T) {
	r := commands(t)
	known := map[string]string{"--help": "", "--version": ""}
	for _, name := range r.order {
		for flag, value := range r.flags(name) {
			known[flag] = value
		}
	}
	for name, text := range documents(t) {
		_, spans := code(name, text)
		for _, s := range spans {
			flag := regexp.MustCompile(`^--[a-z][\w-]*`).FindString(s)
			if _, ok := known[flag]; flag != "" && !ok && !slices.Contains(ofOthers, flag) {
				t.Errorf("%s: no command has the flag %s", name, s)
			}
		}
	}
}

// Every id of a rule that a page names is in the table of rules. The reverse is
// docs/rules.md, which is printed from the table.
func TestRulesExist(t *testing.T) {
	groups := map[string]bool{}
	for _, rule := range catalog.Rules() {
		group, _, _ := strings.Cut(rule.ID, "/")
		groups[group] = true
	}
	id := regexp.MustCompile(`(?:^|[^\w./@-])([a-z]+/[a-z][a-z0-9-]+)(?:[^\w./-]|\.?$|\.\s)`)
	for name, text := range documents(t) {
		blocks, spans := code(name, text)
		for _, s := range append(blocks, spans...) {
			for _, m := range id.FindAllStringSubmatch(s, -1) {
				group, _, _ := strings.Cut(m[1], "/")
				if groups[group] && catalog.Find(m[1]) == nil && !exists(t, m[1]) && !slices.Contains(ofOthers, m[1]) {
					t.Errorf("%s: there is no rule %s", name, m[1])
				}
			}
		}
	}
}

func exists(t *testing.T, name string) bool {
	t.Helper()
	_, err := os.Stat(filepath.Join(root(t), filepath.FromSlash(name)))
	return err == nil
}

// Inputs and outputs: the tables of docs/action.md have rows for no others than
// there are (TestInputsAndOutputsAgree has the reverse), and every step of a page or
// example that uses the action gives it inputs that it has.
func TestInputsAndOutputsExist(t *testing.T) {
	page := read(t, "docs/action.md")
	section := func(title string) string {
		_, text, _ := strings.Cut(page, "\n## "+title+"\n")
		text, _, _ = strings.Cut(text, "\n## ")
		return text
	}
	row := regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|")
	for _, m := range row.FindAllStringSubmatch(section("Inputs"), -1) {
		usable(t, "docs/action.md", map[string]string{m[1]: ""})
	}
	for _, m := range row.FindAllStringSubmatch(section("Outputs"), -1) {
		if !slices.Contains(githubapi.OutputNames, m[1]) {
			t.Errorf("docs/action.md: there is no output %s", m[1])
		}
	}
	steps := 0
	for name, text := range documents(t) {
		if !strings.HasSuffix(name, ".md") {
			continue // TestWorkflowHabits reads the examples
		}
		for _, m := range regexp.MustCompile("(?ms)^```ya?ml\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
			var document yaml.Node
			if err := yaml.Unmarshal([]byte(m[1]), &document); err != nil {
				t.Errorf("%s: a block is no YAML: %v\n%s", name, err, m[1])
				continue
			}
			steps += stepsOf(t, name, &document)
		}
	}
	if steps < 3 {
		t.Errorf("only %d steps were found", steps)
	}
	output := regexp.MustCompile(`steps\.\w+\.outputs\.([a-z-]+)`)
	for _, name := range []string{"README.md", "docs/*.md", ".github/examples/*.yml"} {
		for _, file := range files(t, name) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range output.FindAllStringSubmatch(string(data), -1) {
				if !slices.Contains(githubapi.OutputNames, m[1]) {
					t.Errorf("%s: there is no output %s", filepath.Base(file), m[1])
				}
			}
		}
	}
}

// stepsOf finds the steps that use the action anywhere in a document, and counts
// them.
func stepsOf(t *testing.T, name string, node *yaml.Node) int {
	t.Helper()
	n := 0
	for _, child := range node.Content {
		n += stepsOf(t, name, child)
	}
	var step struct {
		Uses string
		With map[string]string
	}
	if node.Kind == yaml.MappingNode && node.Decode(&step) == nil && strings.HasPrefix(step.Uses, "handoff-gate/handoff-gate") {
		usable(t, name, step.With)
		n++
	}
	return n
}

// sources is the text of everything that can make a name mean something: code,
// recipes, workflows, schemas and templates; and the paths of all files.
func sources(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root(t), func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && (name == ".git" || name == "dist") {
			return filepath.SkipDir
		}
		fmt.Fprintln(&b, filepath.ToSlash(file))
		if d.IsDir() || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".md") || strings.HasSuffix(name, ".txtar") {
			return nil
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
			return err
		}
		data, err := os.ReadFile(file)
		b.Write(data)
		b.WriteByte('\n')
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A variable that a page names is one that something reads or sets.
func TestVariablesExist(t *testing.T) {
	all := sources(t)
	variable := regexp.MustCompile(`(?:^|[^\w-])\$?([A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9])(?:[^\w-]|$)`)
	for name, text := range documents(t) {
		if !strings.HasSuffix(name, ".md") || name == "docs/rules.md" {
			continue
		}
		_, spans := code(name, text)
		for _, s := range spans {
			for _, m := range variable.FindAllStringSubmatch(s, -1) {
				if !regexp.MustCompile(`\b`+m[1]+`\b`).MatchString(all) && !strings.HasPrefix(m[1], "INPUT_") && !slices.Contains(ofOthers, m[1]) {
					t.Errorf("%s: nothing knows %s", name, m[1])
				}
			}
		}
	}
}

// The variables that the manual lists are in docs/commands.md, or in a page it leads to.
func TestVariablesAreDocumented(t *testing.T) {
	var man bytes.Buffer
	if status := cli.Run(t.Context(), []string{"man"}, cli.Process{Stdout: &man, Stderr: &man}); status != 0 {
		t.Fatal(man.String())
	}
	_, section, _ := strings.Cut(man.String(), ".SH ENVIRONMENT\n")
	section, _, _ = strings.Cut(section, ".SH ")
	var pages strings.Builder
	for name, text := range documents(t) {
		if strings.HasPrefix(name, "docs/") && name != "docs/rules.md" {
			pages.WriteString(text)
		}
	}
	names := regexp.MustCompile(`(?m)^\\fB([A-Z_]+)\\fR$`).FindAllStringSubmatch(section, -1)
	if len(names) == 0 {
		t.Errorf("no variables in %q", section)
	}
	for _, m := range names {
		if !strings.Contains(pages.String(), "`"+m[1]+"`") && !strings.Contains(pages.String(), "`"+m[1]+"=1`") {
			t.Errorf("no page says what %s is", m[1])
		}
	}
}

// A file that a page names is in this repository, one that the program knows, or
// part of an example of that page.
func TestFilesExist(t *testing.T) {
	all := sources(t)
	file := regexp.MustCompile(`^\.?[\w./-]*[\w-]+\.(?:md|json|jsonl|go|mod|sum|ya?ml|sh|txt|txtar|mjs|sarif)$|^\.?[\w-]+(?:/[\w.-]+)*/$`)
	for name, text := range documents(t) {
		if !strings.HasSuffix(name, ".md") || name == "docs/rules.md" {
			continue
		}
		blocks, spans := code(name, text)
		for _, s := range spans {
			if !file.MatchString(s) || slices.Contains(ofOthers, s) {
				continue
			}
			near := path.Join(path.Dir(name), s)
			shown := strings.Contains(strings.Join(blocks, ""), s) // in an example
			if !exists(t, s) && !exists(t, near) && !shown && !strings.Contains(all, path.Base(s)) {
				t.Errorf("%s: there is no %s", name, s)
			}
		}
	}
}

// A target of make that a page names is in the Makefile.
func TestTargetsExist(t *testing.T) {
	makefile := read(t, "Makefile")
	for name, text := range documents(t) {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		blocks, spans := code(name, text)
		for _, s := range append(blocks, spans...) {
			for _, m := range regexp.MustCompile(`(?m)(?:^|&& )make ([a-z][a-z-]*)`).FindAllStringSubmatch(s, -1) {
				if !strings.Contains(makefile, "\n"+m[1]+":") {
					t.Errorf("%s: there is no target %s", name, m[1])
				}
			}
		}
	}
}
