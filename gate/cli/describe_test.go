package cli

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// leaves are the commands that can be run, by the names that lead to them.
func leaves() map[string]command {
	all := map[string]command{}
	for _, c := range commands() {
		if c.below == nil {
			all[c.name] = c
		}
		for _, below := range c.below {
			all[c.name+" "+below.name] = below
		}
	}
	return all
}

// Each row says what help, manual and completion need, in their form.
func TestRowsAreComplete(t *testing.T) {
	sentence := func(where, text string) {
		if text == "" || strings.HasSuffix(text, ".") {
			t.Errorf("%s: %q is no text without a full stop", where, text)
		}
	}
	for path, c := range leaves() {
		sentence(path, c.summary)
		flags := c.flags()
		if flags == nil {
			t.Errorf("%s does not parse before it does anything else", path)
			continue
		}
		if flags.Name() != path {
			t.Errorf("%s calls its flags those of %q", path, flags.Name())
		}
		for _, name := range c.required {
			if flags.Lookup(name) == nil {
				t.Errorf("%s requires --%s, which it has not", path, name)
			}
		}
		flags.VisitAll(func(f *flag.Flag) {
			where := path + " --" + f.Name
			sentence(where, f.Usage)
			if _, isChoice := f.Value.(*choice); !isChoice && describeFlag(f).Value == "value" {
				t.Errorf("%s: no word in backquotes says what its value is", where)
			}
		})
	}
	for _, c := range commands() {
		sentence(c.name, c.summary)
		if (c.below == nil) == (c.run == nil) {
			t.Errorf("%s has commands below it and a run of its own, or neither", c.name)
		}
	}
}

// What the usage calls necessary is.
func TestRequiredFlags(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	for path, c := range leaves() {
		for _, missing := range c.required {
			args := strings.Fields(path)
			if c.args == "FILE" {
				args = append(args, file)
			}
			for _, other := range c.required {
				if other != missing {
					args = append(args, "--"+other, file)
				}
			}
			var stderr strings.Builder
			if status := Run(t.Context(), args, Process{Stderr: &stderr}); status != statusError || !strings.Contains(stderr.String(), "--"+missing) {
				t.Errorf("%q: exit status %d, and it says\n%s", args, status, &stderr)
			}
		}
	}
}

// The manual lists the variables that commands read, and no other ones.
func TestVariablesAreListed(t *testing.T) {
	read := map[string]bool{"HANDOFF_GATE": true} // by the hooks that are installed
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") || strings.HasPrefix(source, "action") {
			continue // docs/action.md has those of the action
		}
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?:getenv\(|Variable = )"([A-Z_]+)"`).FindAllStringSubmatch(string(text), -1) {
			read[m[1]] = true
		}
	}
	delete(read, "TERM") // every program for terminals reads it
	for _, v := range describe(Process{}).Variables {
		if !read[v.Name] {
			t.Errorf("nothing reads %s", v.Name)
		}
		delete(read, v.Name)
	}
	for name := range read {
		t.Errorf("%s is not listed", name)
	}
}

func TestChoose(t *testing.T) {
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"packet"}, "say what to do: check, claim, complete"},
		{[]string{"packet", "chek"}, `there is no command packet "chek"`},
		{[]string{"packet", "--registry", "check"}, `there is no command packet "--registry"`},
		{[]string{"hooks"}, "say what to do: install"},
		{[]string{"help", "packet", "chek"}, `there is no command "packet chek"`},
		{[]string{"help", "verify", "packet"}, `there is no command "verify packet"`},
		{[]string{"completion"}, "name the shell: bash, zsh, fish"},
		{[]string{"completion", "tcsh"}, "name the shell"},
		{[]string{"man", "verify"}, "unexpected argument"},
	} {
		var stderr strings.Builder
		if status := Run(t.Context(), tt.args, Process{Stderr: &stderr}); status != statusError || !strings.Contains(stderr.String(), tt.says) {
			t.Errorf("%q: exit status %d, and it says\n%s", tt.args, status, &stderr)
		}
	}
}
