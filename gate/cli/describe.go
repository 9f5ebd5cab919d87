package cli

import (
	"context"
	"errors"
	"flag"
	"io"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/catalog"
	"github.com/handoff-gate/handoff-gate/gate/internal/manual"
	"github.com/handoff-gate/handoff-gate/gate/policy"
	"github.com/handoff-gate/handoff-gate/githubapi"
)

// describe says all that there is to say of the program, from the table of commands
// and the flags that each of them parses.
func describe(p Process) manual.Program {
	d := manual.Program{
		Name: "handoff-gate", Version: p.Version, Summary: "verifies the files by which AI agents hand work to each other",
		Exits: exits("the gate passed", "a blocking finding exists", "used wrongly, or the gate could not be run"),
		Variables: []manual.Named{
			{Name: skipVariable, Text: "at 1, verify evaluates nothing and passes, at every level but ci"},
			{Name: baseVariable, Text: "the commit that verify measures a change from, where `--base` names none"},
			{Name: "HANDOFFS_ROOT", Text: "the folder of the sessions, where `--root` names none"},
			{Name: "HANDOFF_GATE", Text: "the program that installed hooks call"},
			{Name: "GITHUB_TOKEN", Text: "the token for a ledger github:OWNER/REPO"},
			{Name: "GITHUB_API_URL", Text: "the address of the API for such a ledger (default: " + githubapi.DefaultAPIURL + ")"},
			{Name: "NO_COLOR", Text: "where it is not empty, a terminal gets no colour"},
		},
		Files: []manual.Named{
			{Name: gate.HandoffDir + "/", Text: "the handoff set of a project"},
			{Name: policy.ConfigFile, Text: "the project's configuration of the gate"},
		},
	}
	for _, r := range catalog.Rules() {
		d.Rules = append(d.Rules, r.ID)
	}
	for _, g := range groups() {
		of := manual.Group{Title: g.title}
		for _, c := range g.commands {
			of.Commands = append(of.Commands, c.describe())
		}
		d.Groups = append(d.Groups, of)
	}
	return d
}

func (c command) describe() manual.Command {
	d := manual.Command{Name: c.name, Summary: c.summary, Args: c.args, Required: c.required, Text: c.text, Exits: c.exits}
	for _, below := range c.below {
		d.Commands = append(d.Commands, below.describe())
	}
	if c.run != nil {
		c.flags().VisitAll(func(f *flag.Flag) { d.Flags = append(d.Flags, describeFlag(f)) })
	}
	return d
}

// flags gives the flags of a command, by asking it for help.
func (c command) flags() *flag.FlagSet {
	var help helpWanted
	errors.As(c.run(context.Background(), Process{Stdout: io.Discard, Stderr: io.Discard}, []string{"-h"}), &help)
	return help.flags
}

// describeFlag takes the placeholder of a flag's value from between the backquotes
// of its usage, as the package flag does.
func describeFlag(f *flag.Flag) manual.Flag {
	value, text := flag.UnquoteUsage(f)
	d := manual.Flag{Name: f.Name, Value: value, Text: text, Default: f.DefValue}
	if c, ok := f.Value.(*choice); ok {
		d.Choices, d.Value = c.allowed, strings.Join(c.allowed, "|")
	}
	if value == "" { // it is a switch
		d.Default = ""
	}
	return d
}

// describingCommands are those that print the description.
func describingCommands() []command {
	return []command{
		{
			name: "help", args: "[COMMAND [SUBCOMMAND]]", summary: "Say how to use the program or a command",
			exits: exits("done", "", "no such command"), run: runHelp,
		},
		{
			name: "man", summary: "Print the manual page",
			text:  "In the form that man reads. To see it: `handoff-gate man | man -l -`",
			exits: exits("done", "", "used wrongly"), run: runMan,
		},
		{
			name: "completion", args: shells("|"), summary: "Print a completion script for a shell",
			text: "For bash, in ~/.bashrc: `source <(handoff-gate completion bash)`\n\n" +
				"For zsh, in ~/.zshrc after compinit: `source <(handoff-gate completion zsh)`\n\n" +
				"For fish: `handoff-gate completion fish >~/.config/fish/completions/handoff-gate.fish`",
			exits: exits("done", "", "used wrongly"), run: runCompletion,
		},
	}
}

// shells gives the names of the shells that there is a script for.
func shells(between string) string {
	names := make([]string, len(manual.Shells))
	for i, s := range manual.Shells {
		names[i] = s.Name
	}
	return strings.Join(names, between)
}

func runHelp(_ context.Context, p Process, args []string) error {
	names, err := parse(flag.NewFlagSet("help", flag.ContinueOnError), args, 2)
	if err != nil {
		return err
	}
	d := describe(p)
	text := d.Help()
	if len(names) > 0 {
		path := strings.Join(names, " ")
		c, ok := d.Find(names...)
		if !ok {
			return usagef("there is no command %q", path)
		}
		text = d.CommandHelp(path, c)
	}
	_, err = io.WriteString(p.Stdout, text)
	return err
}

func runMan(_ context.Context, p Process, args []string) error {
	if _, err := parse(flag.NewFlagSet("man", flag.ContinueOnError), args, 0); err != nil {
		return err
	}
	_, err := io.WriteString(p.Stdout, describe(p).Man())
	return err
}

func runCompletion(_ context.Context, p Process, args []string) error {
	given, err := parse(flag.NewFlagSet("completion", flag.ContinueOnError), args, 1)
	if err != nil {
		return err
	}
	for _, shell := range manual.Shells {
		if len(given) > 0 && given[0] == shell.Name {
			_, err := io.WriteString(p.Stdout, shell.Script(describe(p)))
			return err
		}
	}
	return usagef("name the shell: %s", shells(", "))
}
