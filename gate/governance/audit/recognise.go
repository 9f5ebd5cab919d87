package audit

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/internal/shell"
	"github.com/handoff-gate/handoff-gate/gate/internal/workflow"
)

// kind is whose gate it is.
type kind uint8

const (
	aahp kind = iota + 1
	ours
)

// verb is what the gate is asked for.
type verb uint8

const (
	verify verb = iota + 1
	check
	doctor
)

// run is one place where a step runs the gate.
type run struct {
	step *step
	kind kind
	verb verb
	ci   bool // at level ci, where everything is judged

	// text is the command that runs it; "" for an action step, which takes inputs.
	text    string
	words   []string       // of text, without quotes
	command *shell.Command // in the step's script; nil elsewhere
	isInner bool           // the command is `action`, which takes its inputs from the environment

	verdict         // what the script makes of it
	inside  verdict // of a command in a script that another shell is given: what that makes of it
}

// patterns are the shapes of the gate in a command (aahp-governance.md 7.1). Where
// they have a group, it holds the subcommand.
var patterns = []struct {
	kind  kind
	shape *regexp.Regexp
}{
	{aahp, regexp.MustCompile(`verify-handoff\.sh`)},
	{aahp, regexp.MustCompile(`(?:^|[\s"'/@])aahp(?:@[^\s"']*)?\s+(?:--\s+)?(verify|check|doctor)(?:\s|$)`)},
	{aahp, regexp.MustCompile(`aahp\.js\s+(verify|check|doctor)(?:\s|$)`)},
	{ours, regexp.MustCompile(`(?:^|[\s"'/])handoff-gate(?:[:@][^\s"']*)?\s+(verify|action|check|doctor)(?:\s|$)`)},
}

var (
	levelGiven = regexp.MustCompile(`--level[\s=]`)
	levelCI    = regexp.MustCompile(`--level[\s=]+["']?ci["']?(?:\s|$)`)
	inputLevel = regexp.MustCompile(`\bINPUT_LEVEL=["']?([^\s"';&|)]*)`)
)

// idle are commands that name what they are given and run nothing of it. Those of
// the second line are not in the specification, and run nothing either.
var idle = []string{
	"echo", "printf", ":", "true", "cat", "grep", "sed", "ls", "cp", "mv", "rm", "chmod", "git", "test", "[", "[[", "shellcheck",
	"export", "local", "readonly", "declare", "typeset", "cd", "set", "curl", "wget", "tar", "touch", "mkdir", "ln", "head", "tail", "diff", "find", "which", "type", "hash", "false",
}

// flatIdle are those of PowerShell and cmd, in lower case.
var flatIdle = []string{
	"rem", "::", "write-host", "write-output", "write-information", "write-verbose", "write-debug", "write-warning", "write-error", "set-content", "add-content", "get-content", "out-file",
	"title", "type", "copy", "del", "move",
}

// runsNothing tells whether a command only names things. flat says that it is one
// of a shell that is not a POSIX one.
func runsNothing(c *shell.Command, flat bool) bool {
	name := c.Name()
	if c.Looked || name == "" || slices.Contains(idle, name) {
		return true
	}
	if flat {
		name := strings.ToLower(strings.TrimPrefix(name, "@"))
		if slices.Contains(flatIdle, name) || slices.Contains(idle, name) {
			return true
		}
	}
	args := c.Args()
	switch {
	case slices.Contains(shells, name):
		for _, arg := range args {
			if !strings.HasPrefix(arg, "-") || arg == "--" {
				return false
			}
			if !strings.HasPrefix(arg, "--") && strings.Contains(arg, "n") {
				return true
			}
		}
	case name == "npm":
		// What a script of package.json expands to is not in this file.
		i := slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
		return i >= 0 && slices.Contains([]string{"run", "run-script", "rum", "urn"}, args[i])
	}
	return false
}

// shapes gives what a command's text names of the gate, each once.
func shapes(text string) []run {
	var found []run
	for _, p := range patterns {
		for _, m := range p.shape.FindAllStringSubmatchIndex(text, -1) {
			r := run{kind: p.kind, verb: verify, text: text}
			if len(m) > 2 {
				switch text[m[2]:m[3]] {
				case "check":
					r.verb = check
				case "doctor":
					r.verb = doctor
				case "action":
					r.isInner = true
				}
			}
			if helps(text[m[1]:]) || slices.ContainsFunc(found, func(f run) bool { return f.kind == r.kind && f.verb == r.verb }) {
				continue
			}
			found = append(found, r)
		}
	}
	return found
}

// unquoted is the text of a command in which only words with blanks are quoted, as
// a shell tells no other from one without quotes: "$HOME/bin/handoff-gate" verify
// runs the gate.
func unquoted(c *shell.Command) string {
	text := c.Text
	for _, w := range c.Words {
		if v := w.Value(); v != string(w) && strings.Contains(text, string(w)) && len(v) > 0 && !strings.ContainsAny(v, " \t\r\n") {
			text = strings.Replace(text, string(w), v, 1)
		}
	}
	return text
}

// helps tells whether the arguments behind a subcommand ask for its help, which
// judges nothing.
func helps(rest string) bool {
	for _, word := range strings.Fields(rest) {
		switch word {
		case "-h", "--help", "-help":
			return true
		case "--":
			return false
		}
	}
	return false
}

// runs are the places where a step runs the gate.
func (s *step) runs() []run {
	switch {
	case s.script != nil && s.script.mode.idle:
	case s.script != nil:
		return s.commands()
	case s.action.ours:
		return s.actions()
	}
	return nil
}

func (s *step) commands() []run { return s.runsOf(s.script, 0) }

// runsOf are the runs of the gate in a script, and in those that it gives to
// another shell.
func (s *step) runsOf(in *script, depth int) []run {
	var all []run
	for _, c := range in.Commands {
		if runsNothing(c, in.mode.flat) || in.Functions[c.Name()] != nil {
			continue
		}
		if inner := innerScript(c); inner != nil && depth < maxShells {
			for _, r := range s.runsOf(inner, depth+1) {
				r.command, r.inside = c, r.verdict
				all = append(all, r)
			}
			continue
		}
		for _, r := range shapes(unquoted(c)) {
			r.step, r.command = s, c
			for _, w := range c.Words {
				r.words = append(r.words, w.Value())
			}
			r.ci = r.atCI()
			all = append(all, r)
		}
	}
	for _, v := range []verb{verify, check, doctor} {
		var same []*run
		for i := range all {
			if all[i].verb == v {
				same = append(same, &all[i])
			}
		}
		judge(in, same)
	}
	return all
}

// maxShells is how many shells within shells are looked into.
const maxShells = 3

// shells are the programs that take a script behind -c.
var shells = []string{"bash", "sh", "dash", "zsh", "ksh"}

// innerScript is the script that a command gives to another shell: bash -c SCRIPT,
// by itself or behind what runs it (timeout 60 bash -c SCRIPT), or eval SCRIPT;
// nil when it gives none.
func innerScript(c *shell.Command) *script {
	if c.Name() == "eval" {
		return inner(strings.Join(c.Args(), " "), mode{})
	}
	words := c.Args()
	for i := range c.Words {
		if !slices.Contains(shells, path.Base(c.Words[i].Value())) {
			continue
		}
		args := words[i:]
		at := commandOption(args)
		if at < 0 || at+1 == len(args) {
			continue
		}
		var o options
		o.set(args[:at+1])
		return inner(args[at+1], mode{errexit: o.errexit == on, pipefail: o.pipefail == on})
	}
	return nil
}

func inner(text string, m mode) *script {
	return &script{text: text, mode: m, Script: shell.Parse(text, shell.Options{})}
}

// commandOption finds the option -c of a shell, alone or among others; -1 when
// the shell is given a file, or nothing.
func commandOption(args []string) int {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--" || !strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "+"):
			return -1
		case strings.HasPrefix(arg, "--"):
		case strings.Contains(arg, "c"):
			return i
		case strings.HasSuffix(arg, "o"):
			i++ // the name of the option
		}
	}
	return -1
}

// actions is what an action step runs. An image can be given arguments, which are
// then a command, and another entry point, of which nothing is known.
func (s *step) actions() []run {
	with := get(s.node, "with")
	r := run{step: s, kind: ours, verb: verify}
	if s.action.image != "" {
		if m, ok := fold(with, "entrypoint"); ok {
			if text, ok := scalar(m.Value); !ok || strings.TrimSpace(text) != "" {
				return nil
			}
		}
		if m, ok := fold(with, "args"); ok {
			text, _ := scalar(m.Value)
			if strings.TrimSpace(text) != "" {
				all := shapes("handoff-gate " + text)
				for i := range all {
					all[i].step, all[i].words = s, strings.Fields(all[i].text)
					all[i].ci = all[i].atCI()
				}
				return all
			}
		}
	}
	r.ci = true
	if m, ok := fold(with, "level"); ok {
		text, _ := scalar(m.Value)
		r.ci = text == "ci"
	}
	return []run{r}
}

// atCI tells whether a command judges at level ci.
func (r *run) atCI() bool {
	if r.verb != verify {
		return true
	}
	if !r.isInner {
		n := len(levelCI.FindAllString(r.text, -1))
		return n > 0 && n == len(levelGiven.FindAllString(r.text, -1))
	}
	text := r.text
	if r.step.script != nil {
		text = r.step.script.text
	}
	for _, m := range inputLevel.FindAllStringSubmatch(text, -1) {
		if m[1] != "ci" {
			return false
		}
	}
	for _, env := range r.step.envs() {
		if m, ok := workflow.Get(env, "INPUT_LEVEL"); ok {
			if text, _ := scalar(m.Value); text != "ci" {
				return false
			}
		}
	}
	return true
}
