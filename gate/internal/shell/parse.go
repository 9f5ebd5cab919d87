package shell

import (
	"regexp"
	"slices"
	"strings"
)

// parser reads a text once, from the left, with one token of lookahead. It never
// fails: what fits no rule is passed over.
type parser struct {
	src    string
	i      int
	line   int // logical, of the token that is read next
	flat   bool
	peeked *token
	here   []hereDocument // begun, their bodies still to come
	*state
}

// state is what the parser of a text shares with those of its backticks.
type state struct {
	script *Script
	depth  int
	seq    int
	wasted int // bytes that were looked at in vain
}

// closers are the tokens that end a list.
type closers []string

func (c closers) has(t token) bool {
	return (t.kind == word || t.kind == operator) && slices.Contains(c, t.text)
}

// enter goes one level deeper; false when that is too deep, and reading ends.
func (p *parser) enter() bool {
	p.depth++
	if p.depth > maxDepth {
		p.giveUp()
	}
	return !p.script.TooDeep
}

func (p *parser) leave() { p.depth-- }

func (p *parser) giveUp() {
	p.script.TooDeep = true
	p.i, p.peeked, p.here = len(p.src), nil, nil
}

func (p *parser) number() int {
	p.seq++
	return p.seq
}

// isOperator tells whether the next token is that operator.
func (p *parser) isOperator(text string) bool {
	t := p.peek()
	return t.kind == operator && t.text == text
}

func (p *parser) isWord(text string) bool {
	t := p.peek()
	return t.kind == word && t.text == text
}

// accept passes over a token if it is the next.
func (p *parser) accept(text string) bool {
	if t := p.peek(); (t.kind == word || t.kind == operator) && t.text == text {
		p.next()
		return true
	}
	return false
}

func (p *parser) newlines() {
	for p.peek().kind == newline {
		p.next()
	}
}

// begins tells whether a command can begin with a token.
func begins(t token, end closers) bool {
	switch t.kind {
	case word, redirection:
		return !end.has(t)
	case operator:
		return t.text == "("
	case eof, newline:
	}
	return false
}

// list reads commands up to a token of end, which is left.
func (p *parser) list(owner *Command, role Role, end closers) *List {
	l := &List{Owner: owner, Role: role}
	defer p.leave()
	if !p.enter() {
		return l
	}
	for {
		t := p.peek()
		if t.kind == eof || end.has(t) {
			return l
		}
		if !begins(t, end) || p.flat && t.text == "}" {
			p.next() // a separator, or what closes nothing
			continue
		}
		a := p.andOr(l, end)
		if p.isOperator("&") {
			a.Background = true
			p.next()
		}
	}
}

func (p *parser) andOr(l *List, end closers) *AndOr {
	a := &AndOr{In: l, Index: len(l.Items)}
	l.Items = append(l.Items, a)
	p.pipeline(a)
	for p.isOperator("&&") || p.isOperator("||") {
		text := p.next().text
		p.newlines()
		if !begins(p.peek(), end) {
			break
		}
		a.Operators = append(a.Operators, text)
		p.pipeline(a)
	}
	return a
}

func (p *parser) pipeline(a *AndOr) {
	pl := &Pipeline{In: a, Index: len(a.Pipelines)}
	a.Pipelines = append(a.Pipelines, pl)
	for !p.flat && (p.isWord("!") || p.isWord("time")) {
		if p.next().text == "!" {
			pl.Not = !pl.Not
			continue
		}
		for t := p.peek(); t.kind == word && strings.HasPrefix(t.text, "-"); t = p.peek() {
			p.next()
		}
	}
	p.command(pl)
	for p.isOperator("|") {
		p.next()
		p.newlines()
		p.command(pl)
	}
}

// command reads one command, which may be an empty one.
func (p *parser) command(pl *Pipeline) {
	c := &Command{In: pl, Index: len(pl.Commands), Line: p.line}
	pl.Commands = append(pl.Commands, c)
	if !p.compound(c) {
		p.simple(c)
		return
	}
	for p.peek().kind == redirection {
		p.attach(c, p.next(), false)
	}
	if c.Kind == Other {
		c.Seq = p.number() // as for a simple command: its substitutions come before
		p.script.Commands = append(p.script.Commands, c)
	}
	c.Last, c.EndLine = p.seq, p.line
}

// compound reads a compound command if one begins here.
func (p *parser) compound(c *Command) bool {
	t := p.peek()
	begin := func(k Kind) {
		c.Kind, c.Seq = k, p.number()
		p.next()
	}
	body := func(role Role, end ...string) {
		c.Lists = append(c.Lists, p.list(c, role, end))
	}
	if t.kind == operator && t.text == "(" {
		if !p.flat && p.i < len(p.src) && p.src[p.i] == '(' {
			begin(Other)
			p.arithmetic(c, 1)
			return true
		}
		begin(Subshell)
		body(Body, ")")
		p.accept(")")
		return true
	}
	if t.kind != word {
		return false
	}
	if p.flat {
		if t.text != "{" {
			return false
		}
		begin(If)
		body(Branch, "}")
		p.accept("}")
		return true
	}
	switch t.text {
	case "{":
		begin(Group)
		body(Body, "}")
		p.accept("}")
	case "if":
		begin(If)
		p.branches(c)
	case "while", "until":
		begin(Loop)
		c.Keyword = t.text
		body(Condition, "do")
		p.accept("do")
		body(Body, "done")
		p.accept("done")
	case "for", "select":
		begin(Loop)
		c.Keyword = t.text
		p.header(c, "do")
		body(Body, "done")
		p.accept("done")
	case "case":
		begin(Case)
		p.header(c, "in")
		p.arms(c)
	case "function":
		begin(Function)
		c.Keyword = p.next().text
		if p.accept("(") {
			p.accept(")")
		}
		p.functionBody(c)
	case "[[":
		begin(Other)
		p.test(c, t.text)
	default:
		return false
	}
	return true
}

// branches reads an if up to its fi.
func (p *parser) branches(c *Command) {
	for {
		c.Lists = append(c.Lists, p.list(c, Condition, closers{"then", "fi"}))
		p.accept("then")
		c.Lists = append(c.Lists, p.list(c, Branch, closers{"elif", "else", "fi"}))
		if p.accept("elif") {
			continue
		}
		if p.accept("else") {
			c.Lists = append(c.Lists, p.list(c, Else, closers{"fi"}))
		}
		p.accept("fi")
		return
	}
}

// header reads the words of a for or case up to a reserved word.
func (p *parser) header(c *Command, end string) {
	for first := true; ; first = false {
		t := p.peek()
		switch {
		case t.kind == eof:
			return
		case t.kind == word && t.text == end && !first:
			p.next()
			return
		case t.kind == operator && t.text == "(" && p.i < len(p.src) && p.src[p.i] == '(':
			p.next()
			p.arithmetic(c, 1)
		default:
			p.attach(c, p.next(), false)
		}
	}
}

// arms reads the branches of a case up to its esac.
func (p *parser) arms(c *Command) {
	for {
		p.newlines()
		if t := p.peek(); t.kind == eof || p.accept("esac") {
			return
		}
		p.accept("(")
		for !p.isOperator(")") && p.peek().kind != eof {
			p.attach(c, p.next(), false)
		}
		p.accept(")")
		c.Lists = append(c.Lists, p.list(c, Branch, closers{";;", ";&", ";;&", "esac"}))
		if !p.isWord("esac") {
			p.next()
		}
	}
}

// functionBody reads what a function does: one compound command, as a rule.
func (p *parser) functionBody(c *Command) {
	p.newlines()
	l := &List{Owner: c, Role: Body}
	c.Lists = append(c.Lists, l)
	p.script.Functions[c.Keyword] = c
	defer p.leave()
	if !p.enter() {
		return
	}
	if t := p.peek(); begins(t, nil) {
		a := &AndOr{In: l}
		l.Items = append(l.Items, a)
		p.pipeline(a)
	}
}

// test reads [[ … ]], in which operators are others.
func (p *parser) test(c *Command, first string) {
	c.Words = append(c.Words, Word(first))
	for {
		t := p.peek()
		if t.kind == eof {
			break
		}
		p.next()
		p.attach(c, t, false)
		c.Words = append(c.Words, Word(t.text))
		if t.kind == word && t.text == "]]" {
			break
		}
	}
	c.Text = joined(c.Words, nil)
}

var (
	assignment = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)(?:\[[^]]*\])?\+?=`)
	onlySubst  = regexp.MustCompile(`^(?:\$\(\)|"\$\(\)")$`)
)

// simple reads a simple command, or a function if that is what begins here.
func (p *parser) simple(c *Command) {
	c.Kind = Simple
	var words []Word
	var redirections []string
	for {
		t := p.peek()
		switch {
		case t.kind == word && p.flat && (t.text == "{" || t.text == "}"):
		case t.kind == word:
			p.next()
			whole := false
			if len(words) == 0 || len(c.Assigns) == len(words) {
				if m := assignment.FindStringSubmatch(t.text); m != nil {
					value := t.text[len(m[0]):]
					whole = onlySubst.MatchString(value)
					c.Assigns = append(c.Assigns, Assign{m[1], Word(value)})
				}
			}
			p.attach(c, t, whole)
			words = append(words, Word(t.text))
			continue
		case t.kind == redirection:
			p.next()
			p.attach(c, t, false)
			redirections = append(redirections, t.text)
			continue
		case t.kind == operator && t.text == "(" && len(words) == 1 && len(c.Assigns) == 0 && p.closesAtOnce():
			p.next()
			p.next()
			c.Kind, c.Seq, c.Keyword = Function, p.number(), string(words[0])
			p.functionBody(c)
			c.Last, c.EndLine = p.seq, p.line
			return
		}
		break
	}
	c.Words = words[len(c.Assigns):]
	c.strip(p.flat)
	c.Text = joined(c.Words, redirections)
	c.Seq = p.number()
	c.Last, c.EndLine = c.Seq, p.line
	p.script.Commands = append(p.script.Commands, c)
}

// closesAtOnce tells whether the parenthesis that was peeked is closed by the
// next character.
func (p *parser) closesAtOnce() bool {
	rest := strings.TrimLeft(p.src[p.i:min(p.i+20, len(p.src))], " \t")
	return strings.HasPrefix(rest, ")")
}

// attach notes the lists in the substitutions of a token.
func (p *parser) attach(c *Command, t token, whole bool) {
	for _, l := range t.lists {
		l.Owner = c
		l.Value = whole && len(t.lists) == 1 && !t.process
	}
}

func joined(words []Word, redirections []string) string {
	parts := make([]string, 0, len(words)+len(redirections))
	for _, w := range words {
		parts = append(parts, string(w))
	}
	return strings.Join(append(parts, redirections...), " ")
}

// reserved are words that can stand before a command, where the text is no
// well-formed one; elsewhere they were read as what they are.
var reserved = []string{"!", "if", "then", "elif", "else", "while", "until", "do", "{"}

// wrappers run the command that is made of their arguments, with the options
// that take a value of their own.
var wrappers = map[string]string{
	"env": "uC", "exec": "a", "time": "fo", "command": "", "sudo": "CDghprRtTuU",
}

// strip takes what stands before the command that is run: reserved words,
// assignments, and env, exec, time, command and sudo. In flat text it leaves the if
// and else of cmd, behind which a command stands without braces.
func (c *Command) strip(flat bool) {
	for len(c.Words) > 0 {
		name := c.Name()
		if m := assignment.FindStringSubmatch(string(c.Words[0])); m != nil {
			c.Assigns = append(c.Assigns, Assign{m[1], c.Words[0][len(m[0]):]})
			c.Words = c.Words[1:]
			continue
		}
		valued, wraps := wrappers[name]
		first := string(c.Words[0])
		ofCmd := flat && len(c.Words) > 1 && (strings.EqualFold(first, "if") || strings.EqualFold(first, "else"))
		if !wraps && (ofCmd || !slices.Contains(reserved, first)) {
			return
		}
		c.Words = c.Words[1:]
		c.Exec = c.Exec || name == "exec"
		for wraps && len(c.Words) > 0 && strings.HasPrefix(string(c.Words[0]), "-") {
			option := c.Words[0].Value()
			c.Words = c.Words[1:]
			if name == "command" && strings.ContainsAny(option, "vV") {
				c.Looked = true
			}
			if option == "--" {
				break
			}
			takesValue := len(option) == 2 && strings.Contains(valued, option[1:])
			if takesValue && len(c.Words) > 0 {
				c.Words = c.Words[1:]
			}
		}
	}
}
