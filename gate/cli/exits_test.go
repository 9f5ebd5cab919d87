package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/cli"
)

// help is what `handoff-gate help WORDS` prints.
func help(t *testing.T, words ...string) string {
	t.Helper()
	var out bytes.Buffer
	if status := cli.Run(t.Context(), append([]string{"help"}, words...), cli.Process{Stdout: &out, Stderr: &out}); status != 0 {
		t.Fatalf("help %q: exit status %d\n%s", words, status, &out)
	}
	return out.String()
}

var (
	listed   = regexp.MustCompile(`(?m)^  ([a-z-]+)  `)
	exits    = regexp.MustCompile(`(?s)\nExit status: (.*)\.\n`)
	exitOf   = regexp.MustCompile(`(?:^|; )(\d+) `)
	scripted = regexp.MustCompile(`(?m)^(?:\[[^]]*\] )?((?:! )?(?:gate|once)|unusable|status \d+|exec handoff-gate) (.*)$`)
)

// The exit statuses that the help of a command states are those that scripts show of
// it: each of them, and no other one.
func TestExitStatuses(t *testing.T) {
	shown := map[string]map[int]string{} // by command: where a status is shown
	files, err := filepath.Glob(filepath.Join(scripts, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	stated := map[string][]int{}
	parents := map[string]bool{}
	for _, name := range listed.FindAllStringSubmatch(help(t), -1) {
		page := help(t, name[1])
		if !strings.Contains(page, "COMMAND [ARGUMENTS]") {
			stated[name[1]] = statuses(page)
			continue
		}
		parents[name[1]] = true
		for _, below := range listed.FindAllStringSubmatch(page, -1) {
			stated[name[1]+" "+below[1]] = statuses(help(t, name[1], below[1]))
		}
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range scripted.FindAllStringSubmatch(string(data), -1) {
			words := strings.Fields(m[2])
			if len(words) == 0 {
				continue
			}
			path := words[0]
			if parents[path] && len(words) > 1 {
				path += " " + words[1]
			}
			if stated[path] == nil {
				continue // a mistake in the call, on purpose
			}
			if shown[path] == nil {
				shown[path] = map[int]string{}
			}
			shown[path][statusOf(m[1])] = filepath.Base(file) + ": " + m[0]
		}
	}
	for path, want := range stated {
		if path == "action" {
			continue // its tests need a runner's variables
		}
		for _, status := range want {
			if shown[path][status] == "" {
				t.Errorf("no script shows exit status %d of %s, which its help states", status, path)
			}
		}
		for status, where := range shown[path] {
			if !slices.Contains(want, status) {
				t.Errorf("the help of %s states no exit status %d, but %s", path, status, where)
			}
		}
	}
}

// statuses are the numbers that a help states.
func statuses(page string) []int {
	m := exits.FindStringSubmatch(page)
	if m == nil {
		return []int{}
	}
	all := []int{}
	for _, e := range exitOf.FindAllStringSubmatch(strings.ReplaceAll(m[1], "\n", " "), -1) {
		n, _ := strconv.Atoi(e[1]) // it is digits
		all = append(all, n)
	}
	return all
}

// statusOf is the exit status that a command of a script wants.
func statusOf(verb string) int {
	switch verb {
	case "! gate", "! once":
		return 1
	case "unusable":
		return 2
	case "gate", "once", "exec handoff-gate":
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimPrefix(verb, "status ")) // it is digits
	return n
}
