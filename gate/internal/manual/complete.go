package manual

import (
	"bytes"
	"fmt"
	"strings"
)

// A Shell is one for which there is completion.
type Shell struct {
	Name   string
	Script func(Program) string
}

// Shells are those that there are.
var Shells = []Shell{{"bash", Program.Bash}, {"zsh", Program.Zsh}, {"fish", Program.Fish}}

// identifier is the program's name as part of a function's.
func (p Program) identifier() string { return strings.ReplaceAll(p.Name, "-", "_") }

// script is a script that is being written.
type script struct{ bytes.Buffer }

func (s *script) line(format string, args ...any) { fmt.Fprintf(&s.Buffer, format+"\n", args...) }

// quote puts a text between single quotes, in bash and zsh.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
