// Package cli is the command line: the table of commands, their flags, exit
// statuses and the wiring of everything else (interface.md, "Program").
//
// A new command is a row of groups, and a function that parses its flags first;
// help, manual page and completion follow from these. What the action verifies
// beside projects is a function in action_others.go.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/handoff-gate/handoff-gate/gate/internal/manual"
	"github.com/handoff-gate/handoff-gate/gate/proc"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// The exit statuses (interface.md, "Exit status").
const (
	statusPass  = 0 // the gate passed; warnings may have been reported
	statusFail  = 1 // a blocking finding exists
	statusError = 2 // usage error, or the gate could not be run at all
)

// Process is what a run has of the world: its streams, its environment and who
// it is. Tests give their own.
type Process struct {
	Stdin          io.Reader // nil is an empty input
	Stdout, Stderr io.Writer
	Environ        []string
	Program        string // where the program itself is, for hooks to call; "" when unknown
	Version        string // "0.1.0"
	Commit         string // the commit it was built from; "" when unknown

	// CheckTimeout is how long a declared check may take; 0 is the time of
	// aahp-verify.md 8.3. No flag and no variable sets it.
	CheckTimeout time.Duration

	// BeforeChange is asked ahead of each operation by which a command changes a
	// file, told what that is; an error takes the operation's place. It is nil in
	// the program: tests end the process there.
	BeforeChange func(operation string) error
}

// tool is how a report names the program.
func (p Process) tool() report.Tool { return report.Tool{Name: "handoff-gate", Version: p.Version} }

func (p Process) getenv(name string) string {
	return proc.Getenv(p.Environ, name)
}

// say writes to standard error. That this fails cannot be said anywhere.
func (p Process) say(format string, args ...any) {
	_, _ = fmt.Fprintf(p.Stderr, format, args...)
}

// command is one row of the table of commands, or of those below one. All that is
// said of a command is made from its row and the flags that it parses: help,
// manual page and completion (describe.go).
type command struct {
	name     string
	summary  string   // one line, no full stop
	args     string   // arguments that are no flags, "[PATH]"
	required []string // flags that it does not work without
	text     string   // paragraphs for `help COMMAND`
	exits    []manual.Exit
	below    []command // the commands below it; then it has no run of its own

	// run calls parse before it does anything else: so its flags are known
	// without a run.
	run func(ctx context.Context, p Process, args []string) error
}

// group is commands for one kind of task.
type group struct {
	title    string
	commands []command
}

// groups is the table of commands, in the order of the help. It is a function
// because describingCommands print it.
func groups() []group {
	return []group{
		{"Verify a handoff set", []command{verifyCommand, lintCommand, checkCommand, doctorCommand, criteriaCommand}},
		{"Write a handoff set", []command{
			initCommand, manifestCommand, statusCommand, archiveCommand, migrateCommand, groundingCommand, hooksCommand,
		}},
		{"Verify other formats", []command{packetCommand, sessionCommand, installCommand}},
		{"Run on GitHub", []command{actionCommand}},
		{"Explain", append([]command{rulesCommand, explainCommand, versionCommand}, describingCommands()...)},
	}
}

// commands are those of all groups.
func commands() []command {
	var all []command
	for _, g := range groups() {
		all = append(all, g.commands...)
	}
	return all
}

// exits gives the exit statuses 0, 1 and 2 their meanings; one without cannot be.
func exits(pass, fail, wrong string) []manual.Exit {
	var all []manual.Exit
	for status, meaning := range []string{statusPass: pass, statusFail: fail, statusError: wrong} {
		if meaning != "" {
			all = append(all, manual.Exit{Status: status, Meaning: meaning})
		}
	}
	return all
}

// usageError is a mistake in how the program was called.
type usageError struct{ message string }

func (e usageError) Error() string { return e.message }

func usagef(format string, args ...any) error {
	return usageError{fmt.Sprintf(format, args...)}
}

// exitStatus ends a run with a status and nothing more to say.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// Run runs the program and gives its exit status. A bug becomes status 2,
// never 0.
func Run(ctx context.Context, args []string, p Process) (status int) {
	defer func() {
		if r := recover(); r != nil {
			p.say("handoff-gate: internal error: %v\n%s", r, debug.Stack())
			status = statusError
		}
	}()
	name := ""
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	switch name {
	case "":
		p.say("%s", describe(p).Help())
		return statusError
	case "--version", "-version":
		name = "version"
	}
	if isHelp(name) {
		name = "help"
	}
	c, ok := find(commands(), name)
	if !ok {
		p.say("handoff-gate: there is no command %q; `handoff-gate help` lists them\n", name)
		return statusError
	}
	err := error(nil)
	path := name
	if c.below != nil {
		c, path, args, err = c.choose(args)
	}
	if err == nil {
		err = c.run(ctx, p, args)
	}
	if errors.Is(err, flag.ErrHelp) {
		_, err = io.WriteString(p.Stdout, describe(p).CommandHelp(path, c.describe()))
	}
	var exit exitStatus
	var usage usageError
	switch {
	case err == nil:
		return statusPass
	case errors.As(err, &exit):
		return int(exit)
	case errors.As(err, &usage):
		p.say("handoff-gate %s: %s\n%s`handoff-gate help %s` says more.\n", path, oneLine(err.Error()), describe(p).Usage(path, c.describe()), path)
	case ctx.Err() != nil:
		p.say("handoff-gate %s: the run was ended before a verdict\n", path)
	default:
		p.say("handoff-gate %s: %s\n", path, oneLine(err.Error()))
	}
	return statusError
}

// find finds a command by its name.
func find(all []command, name string) (command, bool) {
	i := slices.IndexFunc(all, func(c command) bool { return c.name == name })
	if i < 0 {
		return command{}, false
	}
	return all[i], true
}

// choose gives the command below c that the first argument names, its path, and the
// other arguments; where it names none, c itself and why.
func (c command) choose(args []string) (chosen command, path string, rest []string, err error) {
	names := strings.Join(manual.Names(c.describe().Commands), ", ")
	if len(args) == 0 {
		return c, c.name, nil, usagef("say what to do: %s", names)
	}
	if isHelp(args[0]) {
		return c, c.name, nil, flag.ErrHelp
	}
	if chosen, ok := find(c.below, args[0]); ok {
		return chosen, c.name + " " + chosen.name, args[1:], nil
	}
	return c, c.name, nil, usagef("there is no command %s %q; say what to do: %s", c.name, args[0], names)
}

func isHelp(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" }

// oneLine keeps outside text in an error from forging lines of its own, from
// steering a terminal, and from becoming a command of a runner, whose old form
// counts anywhere in a line.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, s)
	return strings.ReplaceAll(s, "##[", "## [")
}

// helpWanted is what parse ends with where the command line asks for help: a
// flag.ErrHelp that knows the flags which the command takes.
type helpWanted struct{ flags *flag.FlagSet }

func (helpWanted) Error() string { return flag.ErrHelp.Error() }

func (helpWanted) Is(target error) bool { return target == flag.ErrHelp }

// parse reads flags and positional arguments in any order: flags may follow a
// path. The value of a flag is taken as it is, also when it begins with a hyphen;
// what follows a lone "--" is positional. At most limit positional arguments are
// taken.
func parse(fs *flag.FlagSet, args []string, limit int) ([]string, error) {
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	var flags, positional []string
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		switch {
		case arg == "--":
			positional = append(positional, args...)
			args = nil
		case len(arg) < 2 || arg[0] != '-':
			positional = append(positional, arg)
		default:
			flags = append(flags, arg)
			if takesValue(fs, arg) && len(args) > 0 {
				flags = append(flags, args[0])
				args = args[1:]
			}
		}
	}
	if err := fs.Parse(flags); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, helpWanted{fs}
		}
		return nil, usageError{flagError.ReplaceAllString(err.Error(), "$1--$2")}
	}
	if len(positional) > limit {
		return nil, usagef("unexpected argument %q", positional[limit])
	}
	return positional, nil
}

// flagError finds the name in an error of package flag, which writes one hyphen where
// the help has two.
var flagError = regexp.MustCompile(`^(flag provided but not defined: |flag needs an argument: |invalid (?:boolean )?value ".*" for (?:flag )?)-([a-z][\w-]+)`)

// takesValue tells whether the argument after a flag is its value.
func takesValue(fs *flag.FlagSet, arg string) bool {
	f := fs.Lookup(strings.TrimPrefix(arg[1:], "-")) // nil for name=value, too
	if f == nil {
		return false
	}
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return !ok || !b.IsBoolFlag()
}

// once is a string flag that knows whether it was given.
type once struct {
	value string
	given bool
}

func (o *once) String() string { return o.value }

func (o *once) Set(s string) error {
	o.value, o.given = s, true
	return nil
}

// choice is a flag with a fixed set of values.
type choice struct {
	value   string
	allowed []string
}

func (c *choice) String() string { return c.value }

func (c *choice) Set(s string) error {
	if !slices.Contains(c.allowed, s) {
		return fmt.Errorf("it must be one of %s", strings.Join(c.allowed, ", "))
	}
	c.value = s
	return nil
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
