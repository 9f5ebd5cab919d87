// Package manual says how a program is called: the help of each command, a manual
// page, and completion for bash, zsh and fish. All of it is made from one
// description, so that nothing is said twice; gate/cli reads that description off
// its own table of commands and the flags that they take. Another shell, or another
// form of the manual, is one more function over Program here.
package manual

import (
	"slices"
	"strings"
)

// A Program is all that there is to say.
type Program struct {
	Name    string // "handoff-gate"
	Version string // "0.1.0"
	Summary string // what it does: one sentence without its name and full stop, "verifies …"
	Groups  []Group
	Rules   []string // what an argument RULE may be

	Exits     []Exit  // of a command that has none of its own
	Variables []Named // of the environment
	Files     []Named
}

// A Group is commands for one kind of task.
type Group struct {
	Title    string
	Commands []Command
}

// A Named is a variable or a file, and what it is for.
type Named struct{ Name, Text string }

// A Command is one command, or one below another.
type Command struct {
	Name     string
	Summary  string   // one line, no full stop
	Args     string   // "[PATH]": the arguments that are no flags
	Required []string // names of flags that must be given
	Text     string   // paragraphs, parted by empty lines; `code` in backquotes
	Flags    []Flag   // by name
	Exits    []Exit   // nil for those of the program
	Commands []Command
}

// A Flag is one flag of a command.
type Flag struct {
	Name    string
	Value   string   // what its value is, "FILE"; "" where it takes none
	Choices []string // all values that it may have, or nil
	Text    string   // no full stop
	Default string   // "" where there is none to tell
}

// An Exit is an exit status and what it means.
type Exit struct {
	Status  int
	Meaning string
}

// Commands gives the commands of all groups.
func (p Program) Commands() []Command {
	var all []Command
	for _, g := range p.Groups {
		all = append(all, g.Commands...)
	}
	return all
}

// Find gives the command of a name, or of a name and one below it. Without a name,
// and where there is none, ok is false.
func (p Program) Find(names ...string) (c Command, ok bool) {
	commands := p.Commands()
	for _, name := range names {
		i := slices.IndexFunc(commands, func(c Command) bool { return c.Name == name })
		if i < 0 {
			return Command{}, false
		}
		c, ok = commands[i], true
		commands = c.Commands
	}
	return c, ok
}

// A leaf is a command that can be run, with the names that lead to it.
type leaf struct {
	path string // "packet check"
	Command
}

func (p Program) leaves() []leaf {
	var all []leaf
	for _, c := range p.Commands() {
		if c.Commands == nil {
			all = append(all, leaf{c.Name, c})
		}
		for _, below := range c.Commands {
			all = append(all, leaf{c.Name + " " + below.Name, below})
		}
	}
	return all
}

// Label is the flag as it is written: "--level precommit|ci", "--schema", "-y".
func (f Flag) Label() string {
	label := f.dashed()
	if f.Value != "" {
		label += " " + f.Value
	}
	return label
}

func (f Flag) dashed() string {
	if len(f.Name) == 1 {
		return "-" + f.Name
	}
	return "--" + f.Name
}

// text is what the flag does, with its default.
func (f Flag) text() string {
	if f.Default == "" {
		return f.Text
	}
	return f.Text + " (default: " + f.Default + ")"
}

// kind is what a shell completes an argument or the value of a flag with.
type kind int

const (
	free     kind = iota // nothing: any text
	folders              // the names of folders
	anyFiles             // the names of files
	choices              // a fixed set of words
	rules                // the id of a rule
	names                // the name of a command, and of one below it
)

// kindOf reads the kind off the word that stands for the argument in the help.
func kindOf(placeholder string) kind {
	switch {
	case strings.Contains(placeholder, "|"):
		return choices
	case placeholder == "PATH" || placeholder == "DIR":
		return folders
	case placeholder == "FILE" || placeholder == "LEDGER" || placeholder == "KEY":
		return anyFiles
	case placeholder == "RULE":
		return rules
	case placeholder == "COMMAND":
		return names
	}
	return free
}

func (f Flag) kind() kind {
	if f.Choices != nil {
		return choices
	}
	return kindOf(f.Value)
}

// argument is the word that stands for the first argument, without brackets.
func (c Command) argument() string {
	first, _, _ := strings.Cut(c.Args, " ")
	return strings.Trim(first, "[]")
}

// words are all values that an argument may have; nil where nobody can list them.
func (p Program) words(argument string) []string {
	switch kindOf(argument) {
	case choices:
		return strings.Split(argument, "|")
	case rules:
		return p.Rules
	case free, folders, anyFiles, names:
	}
	return nil
}

// parents are the commands that have others below them.
func (p Program) parents() []Command {
	return slices.DeleteFunc(p.Commands(), func(c Command) bool { return c.Commands == nil })
}

// helpers are the names of the commands whose arguments are names of commands.
func (p Program) helpers() []string {
	return Names(slices.DeleteFunc(p.Commands(), func(c Command) bool { return kindOf(c.argument()) != names }))
}

// Names gives the names of commands.
func Names(commands []Command) []string {
	all := make([]string, len(commands))
	for i, c := range commands {
		all[i] = c.Name
	}
	return all
}
