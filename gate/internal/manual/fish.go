package manual

import "strings"

// Fish is a completion script for fish 3.0 and later.
func (p Program) Fish() string {
	var s script
	in, only := "__"+p.identifier()+"_in", "__"+p.identifier()+"_only"
	s.line("# fish completion for %s, made by `%s completion fish`.", p.Name, p.Name)
	s.line("")
	s.line("# The words after the program's name are these alone, as far as they are finished.")
	s.line("function %s", only)
	s.line("    set -l words (commandline -opc)")
	s.line("    set -e words[1]")
	s.line(`    test "$words" = "$argv"`)
	s.line("end")
	s.line("")
	s.line("# They begin with these.")
	s.line("function %s", in)
	s.line("    set -l words (commandline -opc)")
	s.line("    set -e words[1]")
	s.line("    set -l many (count $argv)")
	s.line(`    test (count $words) -ge $many; and test "$words[1..$many]" = "$argv"`)
	s.line("end")
	s.line("")
	s.line("complete -c %s -f", p.Name)
	complete := func(when, rest string) { s.line("complete -c %s -n %s %s", p.Name, fishQuote(when), rest) }
	listed := func(when string, commands []Command) {
		for _, c := range commands {
			complete(when, "-a "+c.Name+" -d "+fishQuote(c.Summary))
		}
	}
	listed(only, p.Commands())
	for _, c := range p.parents() {
		listed(only+" "+c.Name, c.Commands)
	}
	for _, helper := range p.helpers() {
		listed(only+" "+helper, p.Commands())
		for _, c := range p.parents() {
			listed(only+" "+helper+" "+c.Name, c.Commands)
		}
	}
	for _, l := range p.leaves() {
		when := in + " " + l.path
		for _, f := range l.Flags {
			name := "-l " + f.Name
			if len(f.Name) == 1 {
				name = "-s " + f.Name
			}
			if f.Value != "" {
				name += fishValue(f.kind(), f.Choices)
			}
			complete(when, name+" -d "+fishQuote(strings.ReplaceAll(f.Text, "`", "")))
		}
		complete(when, "-l help -d "+fishQuote("say how to use the command"))
		argument := l.argument()
		switch words := p.words(argument); kindOf(argument) {
		case folders:
			complete(when, "-a '(__fish_complete_directories (commandline -ct))'")
		case anyFiles:
			complete(when, "-F")
		case choices, rules:
			complete(when, "-a "+fishQuote(strings.Join(words, " ")))
		case free, names:
		}
	}
	return s.String()
}

// fishValue says that a flag takes a value, and what it may be.
func fishValue(k kind, words []string) string {
	switch k {
	case folders:
		return " -x -a '(__fish_complete_directories (commandline -ct))'"
	case anyFiles:
		return " -r -F"
	case choices:
		return " -x -a " + fishQuote(strings.Join(words, " "))
	case free, rules, names:
	}
	return " -x"
}

// fishQuote puts a text between single quotes, in which fish knows two escapes.
func fishQuote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}
