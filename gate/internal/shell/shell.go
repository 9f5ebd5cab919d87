// Package shell splits the text of a workflow's run step into commands, and
// keeps how they hang together: what follows what by which operator, and in which
// branch, group or substitution a command stands (aahp-governance.md 7.1). The
// grammar is that of POSIX shells and bash; text of another language gives some
// commands too, and never an error. Nothing is expanded and nothing is run.
package shell

import (
	"strings"
)

// Kind of a Command.
type Kind uint8

// The kinds. Of each compound command the lists stand in Command.Lists.
const (
	Simple   Kind = iota + 1
	Group         // { list; }
	Subshell      // ( list )
	If            // if list then list … fi
	Loop          // while, until, for and select
	Case          // case word in … esac
	Function      // name() body: its one list holds the body alone
	Other         // (( … )), and [[ … ]] with its words
)

// Role of a List in what holds it.
type Role uint8

// The roles of a list.
const (
	Whole        Role = iota + 1 // the script
	Body                         // of a group, subshell, loop or function
	Condition                    // of if, elif, while or until
	Branch                       // of if or elif, or an arm of case
	Else                         // of if
	Substitution                 // $( ), backticks, <( ) or >( ) in a word
)

// Script is a text that was split.
type Script struct {
	List *List
	// Commands are all simple and other commands that are no compound ones, in
	// the order in which they begin.
	Commands []*Command
	// Functions are the functions by name; of two with one name the last.
	Functions map[string]*Command
	// TooDeep says that the text is nested deeper than is looked at. Nothing is
	// known about it then.
	TooDeep bool
}

// List is commands one after another.
type List struct {
	Owner *Command // what holds it; nil for the script
	Role  Role
	Items []*AndOr
	// Value says of a Substitution that it is the whole value of an assignment.
	Value bool
}

// AndOr is pipelines joined by && and ||.
type AndOr struct {
	In         *List
	Index      int // in In.Items
	Pipelines  []*Pipeline
	Operators  []string // between them: "&&" or "||"
	Background bool     // a single & follows
}

// Pipeline is commands joined by |.
type Pipeline struct {
	In       *AndOr
	Index    int // in In.Pipelines
	Not      bool
	Commands []*Command
}

// Command is one command.
type Command struct {
	In    *Pipeline
	Index int // in In.Commands
	Kind  Kind

	// Seq numbers the commands of a script in the order in which they begin, and
	// Last is the largest number inside of this one.
	Seq, Last int
	// Line and EndLine are logical lines, from 1: a newline counts where it ends a
	// command, not in quotes, behind a backslash or in a here-document.
	Line, EndLine int

	Keyword string // of a Loop: while, until, for or select; of a Function its name
	Lists   []*List

	// Of a command that is not compound: the assignments before it, and its words
	// without them, without reserved words and without env, exec, time, command
	// and sudo with their options. Text is those words and the redirections.
	Assigns []Assign
	Words   []Word
	Text    string
	// Looked says that the command is only looked up: command -v.
	Looked bool
	// Exec says that the command, if it has words, takes the place of the shell.
	Exec bool
}

// Assign is VAR=value.
type Assign struct {
	Name  string
	Value Word
}

// Word is one word as it is spelled, but that each substitution is "$()".
type Word string

// Value takes quotes and backslashes away, but for those in an expression of the
// workflow.
func (w Word) Value() string {
	s := string(w)
	if !strings.ContainsAny(s, `'"\`) {
		return s
	}
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		if n := expressionLen(s[i:]); n > 0 {
			b.WriteString(s[i : i+n])
			i += n - 1
			continue
		}
		switch c := s[i]; {
		case quote == '\'' && c != '\'':
			b.WriteByte(c)
		case c == quote && quote != 0:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == '\\' && i+1 < len(s) && (quote == 0 || strings.IndexByte("$`\"\\", s[i+1]) >= 0):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Name is the first word of a command without quotes, and of an absolute path its
// last part; "" for a command without words.
func (c *Command) Name() string {
	if len(c.Words) == 0 {
		return ""
	}
	name := c.Words[0].Value()
	if strings.HasPrefix(name, "/") {
		name = name[strings.LastIndexByte(name, '/')+1:]
	}
	return name
}

// Args are the words behind the first, without quotes.
func (c *Command) Args() []string {
	var args []string
	for _, w := range c.Words[min(1, len(c.Words)):] {
		args = append(args, w.Value())
	}
	return args
}

// maxDepth is how deep commands are nested at most. An honest script has less
// than ten levels.
const maxDepth = 50

// Options of Parse.
type Options struct {
	// Flat reads text of a shell that is not a POSIX one, PowerShell say: no word
	// is reserved, and what stands in braces is a branch of an If without else.
	Flat bool
}

// Parse splits a text. It takes time and memory in proportion to its length.
func Parse(text string, o Options) *Script {
	p := &parser{src: text, line: 1, flat: o.Flat, state: &state{script: &Script{Functions: map[string]*Command{}}}}
	list := p.list(nil, Whole, nil)
	if p.script.TooDeep {
		return &Script{List: &List{Role: Whole}, Functions: map[string]*Command{}, TooDeep: true}
	}
	p.script.List = list
	return p.script
}
