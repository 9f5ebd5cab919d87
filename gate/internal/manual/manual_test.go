package manual_test

import (
	"bytes"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate/cli"
	"github.com/handoff-gate/handoff-gate/gate/internal/manual"
)

// gate runs the program and gives its standard output.
func gate(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if status := cli.Run(t.Context(), args, cli.Process{Stdout: &stdout, Stderr: &stderr, Version: "0.0.0-test"}); status != 0 {
		t.Fatalf("%q: exit status %d\n%s", args, status, &stderr)
	}
	return stdout.String()
}

// program has texts that mean something to a shell or to roff. Nothing of them may
// be run or lost.
var program = manual.Program{
	Name: "odd-program", Version: "1.0", Summary: `says 'odd' "things" \ $(touch pwned)`,
	Groups: []manual.Group{{Title: "Odd", Commands: []manual.Command{
		{
			Name: "say", Summary: "It's $HOME: `touch pwned`", Args: "[PATH]",
			Text: ".\n'a line that begins like a request of roff\n\n.SH and another one; \\fBno bold\\fR",
			Flags: []manual.Flag{
				{Name: "colon", Value: "a|b", Choices: []string{"a", "b"}, Text: "either: [a] or b; it's `a`"},
				{Name: "dollar", Text: `$(touch pwned) "$HOME" \n %s`},
			},
		},
		{Name: "group", Summary: "More", Commands: []manual.Command{{Name: "below", Summary: "Less", Args: "RULE"}}},
		{Name: "help", Summary: "Help", Args: "[COMMAND]"},
	}}},
	Rules: []string{"odd/rule", "odd/other"},
	Exits: []manual.Exit{{Status: 0, Meaning: "well"}},
}

// The help lists each command once, fits a terminal and is short.
func TestHelp(t *testing.T) {
	help := gate(t, "help")
	names := regexp.MustCompile(`(?m)^  ([a-z-]+)  `).FindAllStringSubmatch(help, -1)
	seen := map[string]bool{}
	for _, n := range names {
		if seen[n[1]] {
			t.Errorf("%s is listed twice", n[1])
		}
		seen[n[1]] = true
	}
	if n := strings.Count(help, "\n"); n > 45 {
		t.Errorf("it has %d lines", n)
	}
	if len(seen) < 20 {
		t.Errorf("only %d commands in\n%s", len(seen), help)
	}
	pages := []string{help}
	for name := range seen {
		page := gate(t, "help", name)
		pages = append(pages, page)
		if !strings.Contains(page, "COMMAND [ARGUMENTS]") {
			continue
		}
		for _, below := range regexp.MustCompile(`(?m)^  ([a-z-]+)  `).FindAllStringSubmatch(page, -1) {
			pages = append(pages, gate(t, "help", name, below[1]))
			if again := gate(t, name, below[1], "--help"); again != pages[len(pages)-1] {
				t.Errorf("help %s %s and %s %s --help differ", name, below[1], name, below[1])
			}
		}
	}
	for _, page := range pages {
		for line := range strings.Lines(page) {
			if n := utf8.RuneCountInString(line) - 1; n > 80 && strings.Contains(strings.TrimSpace(line), " ") && !strings.HasPrefix(line, "  --") {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}

// One command's help, to the letter.
func TestCommandHelp(t *testing.T) {
	c := manual.Command{
		Name: "do", Summary: "Do it", Args: "FILE", Required: []string{"key"},
		Text: "First. `a command that stays in one line, as it is to be copied from here, whole`\n\nSecond.",
		Flags: []manual.Flag{
			{Name: "key", Value: "KEY", Text: "the KEY"},
			{Name: "kind", Value: "one|another", Choices: []string{"one", "another"}, Text: "which kind it is, in more words than a line of a terminal has", Default: "one"},
			{Name: "y", Text: "yes"},
		},
		Exits: []manual.Exit{{Status: 0, Meaning: "done"}, {Status: 3, Meaning: "it broke"}},
	}
	const want = `Do it.

usage: p do FILE --key KEY [FLAGS]

First.
` + "`a command that stays in one line, as it is to be copied from here, whole`" + `

Second.

  --key KEY         the KEY
  --kind one|another
                    which kind it is, in more words than a line of a terminal
                    has (default: one)
  -y                yes

Exit status: 0 done; 3 it broke.
`
	p := manual.Program{Name: "p", Groups: []manual.Group{{Commands: []manual.Command{c}}}}
	if got := p.CommandHelp("do", c); got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
}

func TestFind(t *testing.T) {
	for path, want := range map[string]string{"say": "say", "group": "group", "group below": "below", "none": "", "group none": "", "say below": "", "": ""} {
		c, ok := program.Find(strings.Fields(path)...)
		if c.Name != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", path, c.Name, ok)
		}
	}
}

// The manual page names every command and flag, and what sets manual pages has
// nothing to say against it.
func TestMan(t *testing.T) {
	page := gate(t, "man")
	for _, want := range []string{
		".SH NAME\nhandoff\\-gate \\- ", ".SS packet check FILE \\-\\-registry FILE [FLAGS]\n", "\\fB\\-\\-level\\fR \\fIprecommit|prepush|full|ci\\fR\n",
		".SH EXIT STATUS\n", "\\fBAAHP_SKIP_VERIFY\\fR", "\\fB\\-y\\fR\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	for _, source := range []string{page, program.Man()} {
		for line := range strings.Lines(source) {
			if strings.HasPrefix(line, "'") || regexp.MustCompile(`^\.(?:[^A-Z\\]|$)`).MatchString(line) {
				t.Errorf("a request that was a text: %s", line)
			}
		}
	}
	t.Run("groff", func(t *testing.T) {
		for _, source := range []string{page, program.Man()} {
			set, complaints := pipe(t, source, "groff", "-ww", "-Tutf8", "-P-cbou", "-man")
			if complaints != "" || !strings.Contains(set, "EXIT STATUS") {
				t.Errorf("%s\n%s", complaints, set)
			}
		}
		// What stood in a text is in the page.
		set, _ := pipe(t, program.Man(), "groff", "-Tascii", "-P-cbou", "-man")
		set = strings.Join(strings.Fields(set), " ")
		for _, want := range []string{`\ $(touch pwned)`, "'a line that begins like a request", ".SH and another one; \\fBno bold\\fR", `$(touch pwned) "$HOME" \n %s`} {
			if !strings.Contains(set, want) {
				t.Errorf("no %q in\n%s", want, set)
			}
		}
	})
	t.Run("mandoc", func(t *testing.T) {
		for _, source := range []string{page, program.Man()} {
			complaints, _ := pipe(t, source, "mandoc", "-Tlint")
			for line := range strings.Lines(complaints) {
				if !strings.Contains(line, "missing date") { // on purpose
					t.Error(line)
				}
			}
		}
	})
}

// pipe gives a program its input. Where the program is absent, the test is skipped.
func pipe(t *testing.T, input, name string, args ...string) (stdout, stderr string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("SKIPPED: %s is not installed", name)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Stdin = strings.NewReader(input)
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	_ = cmd.Run() // mandoc has a status of its own for each kind of complaint
	return out.String(), complaints.String()
}
