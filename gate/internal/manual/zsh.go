package manual

import "strings"

// Zsh is a completion script for zsh: a file of the name _handoff-gate in a folder
// of fpath, or text to be sourced after compinit.
func (p Program) Zsh() string {
	var s script
	function := "_" + p.Name
	s.line("#compdef %s", p.Name)
	s.line("# zsh completion for %s, made by `%s completion zsh`.", p.Name, p.Name)
	s.line("")
	s.line("%s_commands() {", function)
	s.line("\tlocal -a commands")
	s.line("\tcase $1 in")
	for _, c := range append(p.parents(), Command{Name: "''", Commands: p.Commands()}) {
		s.line("\t%s)", c.Name)
		s.line("\t\tcommands=(")
		for _, below := range c.Commands {
			s.line("\t\t\t%s", quote(below.Name+":"+strings.ReplaceAll(below.Summary, ":", `\:`)))
		}
		s.line("\t\t) ;;")
	}
	s.line("\tesac")
	s.line("\t(($#commands)) && _describe -t commands command commands")
	s.line("}")
	s.line("")
	s.line("%s() {", function)
	s.line("\tif ((CURRENT > 2)) && [[ $words[2] == (%s) ]]; then", strings.Join(p.helpers(), "|"))
	s.line("\t\tif ((CURRENT == 3)); then")
	s.line("\t\t\t%s_commands ''", function)
	s.line("\t\telif ((CURRENT == 4)); then")
	s.line("\t\t\t%s_commands $words[3]", function)
	s.line("\t\tfi")
	s.line("\t\treturn")
	s.line("\tfi")
	s.line("\tif ((CURRENT == 2)); then")
	s.line("\t\t%s_commands ''", function)
	s.line("\t\treturn")
	s.line("\tfi")
	s.line("\tlocal command=$words[2]")
	s.line("\tshift words")
	s.line("\t((CURRENT--))")
	s.line("\tcase $command in")
	s.line("\t%s)", strings.Join(Names(p.parents()), " | "))
	s.line("\t\tif ((CURRENT == 2)); then")
	s.line("\t\t\t%s_commands $command", function)
	s.line("\t\t\treturn")
	s.line("\t\tfi")
	s.line("\t\tcommand+=\" $words[2]\"")
	s.line("\t\tshift words")
	s.line("\t\t((CURRENT--)) ;;")
	s.line("\tesac")
	s.line("\tcase $command in")
	for _, l := range p.leaves() {
		s.line("\t%s)", quote(l.path))
		s.line("\t\t_arguments -S \\")
		for _, f := range l.Flags {
			s.line("\t\t\t%s \\", quote(zshFlag(f)))
		}
		argument := l.argument()
		if argument == "" || kindOf(argument) == names {
			s.line("\t\t\t'--help[%s]' ;;", "say how to use the command")
			continue
		}
		s.line("\t\t\t'--help[%s]' \\", "say how to use the command")
		s.line("\t\t\t%s ;;", quote(":"+strings.ReplaceAll(argument, "|", " or ")+":"+zshAction(kindOf(argument), p.words(argument))))
	}
	s.line("\tesac")
	s.line("}")
	s.line("")
	s.line("if [[ $funcstack[1] == %s ]]; then", function)
	s.line("\t%s \"$@\"", function)
	s.line("else")
	s.line("\tcompdef %s %s", function, p.Name)
	s.line("fi")
	return s.String()
}

// zshFlag is a flag as _arguments takes it.
func zshFlag(f Flag) string {
	text := "[" + strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `:`, `\:`, "`", "").Replace(f.Text) + "]"
	switch {
	case f.Value == "":
		return f.dashed() + text
	case f.Choices != nil:
		return f.dashed() + "=" + text + ":value:" + zshAction(choices, f.Choices)
	}
	return f.dashed() + "=" + text + ":" + f.Value + ":" + zshAction(f.kind(), nil)
}

func zshAction(k kind, words []string) string {
	switch k {
	case folders:
		return "_files -/"
	case anyFiles:
		return "_files"
	case choices, rules:
		return "(" + strings.Join(words, " ") + ")"
	case free, names:
	}
	return " " // a message, and nothing to choose from
}
