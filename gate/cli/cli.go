// Package cli is the command line: the table of commands, their flags, exit
// statuses and the wiring of everything else (interface.md, "Program").
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/handoff-gate/handoff-gate/gate/proc"
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

func (p Process) getenv(name string) string {
	return proc.Getenv(p.Environ, name)
}

// say writes to standard error. That this fails cannot be said anywhere.
func (p Process) say(format string, args ...any) {
	_, _ = fmt.Fprintf(p.Stderr, format, args...)
}

// command is one row of the table of commands. The table prints the help too.
type command struct {
	name    string
	usage   string // arguments, for the help
	summary string // one line
	help    string // more, for `help COMMAND`
	run     func(ctx context.Context, p Process, args []string) error
}

// commands is a function because the help command prints the table.
func commands() []command {
	return []command{
		verifyCommand, lintCommand, checkCommand, doctorCommand, manifestCommand, statusCommand, archiveCommand, initCommand, migrateCommand, groundingCommand, hooksCommand, criteriaCommand, packetCommand, sessionCommand, installCommand, actionCommand, rulesCommand, explainCommand, versionCommand,
		{name: "help", usage: "[COMMAND]", summary: "Say how to use the program or one command", run: runHelp},
	}
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
		p.say("%s", programHelp())
		return statusError
	case "--version", "-version":
		name = "version"
	}
	if isHelp(name) {
		name = "help"
	}
	for _, c := range commands() {
		if c.name != name {
			continue
		}
		err := error(flag.ErrHelp)
		if len(args) != 1 || !isHelp(args[0]) {
			err = c.run(ctx, p, args)
		}
		if errors.Is(err, flag.ErrHelp) {
			_, err = io.WriteString(p.Stdout, c.fullHelp())
		}
		var exit exitStatus
		var usage usageError
		switch {
		case err == nil:
			return statusPass
		case errors.As(err, &exit):
			return int(exit)
		case errors.As(err, &usage):
			p.say("handoff-gate %s: %s\n%s", name, oneLine(err.Error()), c.usageLine())
		case ctx.Err() != nil:
			p.say("handoff-gate %s: the run was ended before a verdict\n", name)
		default:
			p.say("handoff-gate %s: %s\n", name, oneLine(err.Error()))
		}
		return statusError
	}
	p.say("handoff-gate: there is no command %q; `handoff-gate help` lists them\n", name)
	return statusError
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
			return nil, err
		}
		return nil, usageError{err.Error()}
	}
	if len(positional) > limit {
		return nil, usagef("unexpected argument %q", positional[limit])
	}
	return positional, nil
}

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

func runHelp(_ context.Context, p Process, args []string) error {
	if len(args) == 0 {
		_, err := io.WriteString(p.Stdout, programHelp())
		return err
	}
	for _, c := range commands() {
		if c.name == args[0] {
			_, err := io.WriteString(p.Stdout, c.fullHelp())
			return err
		}
	}
	return usagef("there is no command %q", args[0])
}

// programHelp is what `help` prints.
func programHelp() string {
	var b strings.Builder
	b.WriteString("handoff-gate verifies the files by which AI agents hand work to each other.\n\nusage: handoff-gate COMMAND [ARGUMENTS]\n\n")
	width := 0
	for _, c := range commands() {
		width = max(width, len(c.name))
	}
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, c.name, c.summary)
	}
	b.WriteString("\n`handoff-gate help COMMAND` says more. Exit status: 0 the gate passed, 1 a blocking\nfinding exists, 2 the gate could not be run.\n")
	return b.String()
}

// fullHelp is what `help COMMAND` prints.
func (c command) fullHelp() string {
	s := c.summary + ".\n\n" + c.usageLine()
	if c.help != "" {
		s += "\n" + c.help
	}
	return s
}

func (c command) usageLine() string {
	return strings.TrimRight("usage: handoff-gate "+c.name+" "+c.usage, " ") + "\n"
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
