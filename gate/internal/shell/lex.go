package shell

import (
	"strings"
)

// tokenKind is what a token is.
type tokenKind uint8

const (
	eof         tokenKind = iota
	newline               // ends a command
	operator              // ; ;; & && | || ( )
	word                  // with quotes, substitutions as "$()"
	redirection           // with its target: "2>&1", "> log"
)

type token struct {
	kind    tokenKind
	text    string
	lists   []*List // the substitutions in it
	process bool    // one of them is <( ) or >( )
}

func (p *parser) peek() token {
	if p.peeked == nil {
		t := p.lex()
		p.peeked = &t
	}
	return *p.peeked
}

func (p *parser) next() token {
	t := p.peek()
	p.peeked = nil
	if t.kind == newline {
		p.line++
	}
	return t
}

// at gives the byte at an offset from here; 0 behind the end.
func (p *parser) at(offset int) byte {
	if p.i+offset < len(p.src) {
		return p.src[p.i+offset]
	}
	return 0
}

// lex reads one token.
func (p *parser) lex() token {
	p.blanks()
	if p.i >= len(p.src) {
		return token{kind: eof}
	}
	take := func(text string) token {
		p.i += len(text)
		return token{kind: operator, text: text}
	}
	switch p.src[p.i] {
	case '\n':
		p.i++
		p.bodies()
		return token{kind: newline}
	case ';':
		for _, text := range []string{";;&", ";;", ";&"} {
			if strings.HasPrefix(p.src[p.i:], text) {
				return take(text)
			}
		}
		return take(";")
	case '&':
		switch {
		case p.at(1) == '&':
			return take("&&")
		case p.at(1) == '>':
			return p.redirection("")
		}
		return take("&")
	case '|':
		switch p.at(1) {
		case '|':
			return take("||")
		case '&':
			p.i += 2
			return token{kind: operator, text: "|"}
		}
		return take("|")
	case '(':
		return take("(")
	case ')':
		return take(")")
	case '<', '>':
		if p.at(1) != '(' {
			return p.redirection("")
		}
	}
	return p.word()
}

// blanks passes over blanks, joined lines and comments.
func (p *parser) blanks() {
	for p.i < len(p.src) {
		switch c := p.src[p.i]; {
		case c == ' ' || c == '\t' || c == '\r':
			p.i++
		case c == '\\' && p.at(1) == '\n':
			p.i += 2
		case c == '#':
			if n := strings.IndexByte(p.src[p.i:], '\n'); n >= 0 {
				p.i += n
			} else {
				p.i = len(p.src)
			}
		case p.flat && p.joined() > 0:
			p.i += p.joined()
		case p.flat && c == '<' && p.at(1) == '#':
			p.i = p.behind(2, "#>")
		default:
			return
		}
	}
}

// joined is the length of what joins two lines in PowerShell or cmd; 0 where no
// such thing stands.
func (p *parser) joined() int {
	if c := p.at(0); c != '`' && c != '^' {
		return 0
	}
	switch {
	case p.at(1) == '\n':
		return 2
	case p.at(1) == '\r' && p.at(2) == '\n':
		return 3
	}
	return 0
}

// behind gives the place behind the next end, from an offset on; the end of the
// text where there is none.
func (p *parser) behind(offset int, end string) int {
	from := min(p.i+offset, len(p.src))
	if n := strings.Index(p.src[from:], end); n >= 0 {
		return from + n + len(end)
	}
	return len(p.src)
}

// hereString passes over a here-string of PowerShell, if one begins here.
func (p *parser) hereString() bool {
	quote := p.at(1)
	if p.at(0) != '@' || quote != '\'' && quote != '"' || p.at(2) != '\n' && (p.at(2) != '\r' || p.at(3) != '\n') {
		return false
	}
	p.i = p.behind(2, "\n"+string(quote)+"@")
	return true
}

// redirection reads an operator and its target behind the number of a
// descriptor.
func (p *parser) redirection(descriptor string) token {
	op := ""
	for _, text := range []string{"<<<", "<<-", "<<", "<>", "<&", "<", "&>>", "&>", ">>", ">&", ">|", ">"} {
		if strings.HasPrefix(p.src[p.i:], text) {
			op = text
			break
		}
	}
	p.i += len(op)
	for p.at(0) == ' ' || p.at(0) == '\t' {
		p.i++
	}
	t := p.word()
	if op == "<<" || op == "<<-" {
		p.here = append(p.here, hereDocument{end: Word(t.text).Value(), tabs: op == "<<-"})
	}
	t.kind, t.text = redirection, descriptor+op+t.text
	return t
}

// hereDocument is a here-document whose body begins behind the next newline.
type hereDocument struct {
	end  string
	tabs bool // <<-: tabs at the start of a line do not count
}

// bodies passes over the bodies of the here-documents that were begun.
func (p *parser) bodies() {
	for _, h := range p.here {
		for p.i < len(p.src) {
			line, _, _ := strings.Cut(p.src[p.i:], "\n")
			p.i = min(p.i+len(line)+1, len(p.src))
			if h.tabs {
				line = strings.TrimLeft(line, "\t")
			}
			if strings.TrimSuffix(line, "\r") == h.end {
				break
			}
		}
	}
	p.here = nil
}

// wordReader puts a word together.
type wordReader struct {
	p *parser
	b strings.Builder
	t token
}

// word reads a word up to an unquoted blank or operator. It may be empty, and a
// number before a redirection makes it one.
func (p *parser) word() token {
	w := wordReader{p: p, t: token{kind: word}}
	for p.i < len(p.src) {
		switch c := p.src[p.i]; {
		case strings.IndexByte(" \t\r\n;&|)", c) >= 0:
			return w.done()
		case c == '(':
			if !assignment.MatchString(w.b.String()) || !strings.HasSuffix(w.b.String(), "=") {
				return w.done()
			}
			w.array()
		case c == '<' || c == '>':
			if p.at(1) == '(' {
				w.t.process = true
				p.i += 2
				w.substitution()
				continue
			}
			if isNumber(w.b.String()) {
				return p.redirection(w.b.String())
			}
			return w.done()
		case p.flat && p.hereString():
			w.b.WriteString("@''")
		case p.flat && c == '`':
			w.b.WriteString(p.src[p.i:min(p.i+2, len(p.src))])
			p.i = min(p.i+2, len(p.src))
		default:
			w.piece(c)
		}
	}
	return w.done()
}

func isNumber(s string) bool {
	return s != "" && len(s) < 4 && strings.Trim(s, "0123456789") == ""
}

func (w *wordReader) done() token {
	w.t.text = w.b.String()
	return w.t
}

// piece reads what can stand outside of quotes and is not the end of a word.
func (w *wordReader) piece(c byte) {
	p := w.p
	switch c {
	case '\\':
		w.escape()
	case '\'':
		w.copyTo(1, '\'', false)
	case '"':
		w.double()
	case '`':
		w.backtick()
	case '$':
		switch p.at(1) {
		case '\'':
			w.b.WriteByte('$')
			p.i++
			w.copyTo(1, '\'', true)
		case '"':
			p.i++
			w.double()
		default:
			w.dollar()
		}
	default:
		w.b.WriteByte(c)
		p.i++
	}
}

// escape reads a backslash and what it stands before; a newline joins lines.
func (w *wordReader) escape() {
	p := w.p
	if p.at(1) != '\n' {
		w.b.WriteString(p.src[p.i:min(p.i+2, len(p.src))])
	}
	p.i = min(p.i+2, len(p.src))
}

// copyTo copies a quoted piece whose first n bytes open it.
func (w *wordReader) copyTo(n int, end byte, escapes bool) {
	p := w.p
	w.b.WriteString(p.src[p.i : p.i+n])
	p.i += n
	for p.i < len(p.src) {
		c := p.src[p.i]
		if c == '$' && w.expression() {
			continue
		}
		if escapes && c == '\\' {
			w.escape()
			continue
		}
		w.b.WriteByte(c)
		p.i++
		if c == end {
			return
		}
	}
}

// double reads a piece in double quotes.
func (w *wordReader) double() {
	p := w.p
	w.b.WriteByte('"')
	p.i++
	for p.i < len(p.src) {
		switch c := p.src[p.i]; c {
		case '\\':
			w.escape()
		case '`':
			w.backtick()
		case '$':
			w.dollar()
		default:
			w.b.WriteByte(c)
			p.i++
			if c == '"' {
				return
			}
		}
	}
}

// dollar reads an expansion, or the dollar alone.
func (w *wordReader) dollar() {
	p := w.p
	switch {
	case w.expression():
	case strings.HasPrefix(p.src[p.i:], "$(("):
		p.i += 3
		w.b.WriteString("$(())")
		w.t.lists = append(w.t.lists, p.balanced(2)...)
	case p.at(1) == '(':
		p.i += 2
		w.substitution()
	case p.at(1) == '{':
		w.parameter()
	default:
		w.b.WriteByte('$')
		p.i++
	}
}

// maxExpression is the largest expression that GitHub evaluates, in bytes.
const maxExpression = 21000

// maxWasted bounds what is looked through for the end of something that has none.
const maxWasted = 32 << 20

// expressionLen is the length of the expression of the workflow that a text
// begins with; 0 when there is none, or it has no end.
func expressionLen(text string) int {
	if !strings.HasPrefix(text, "${{") {
		return 0
	}
	text = text[:min(maxExpression, len(text))]
	quoted := false
	for i := 3; i < len(text); i++ {
		switch {
		case text[i] == '\'':
			quoted = !quoted
		case !quoted && text[i] == '}' && i+1 < len(text) && text[i+1] == '}':
			return i + 2
		}
	}
	return 0
}

// expression copies an expression of the workflow, if one begins here: what it
// holds is no text of the shell.
func (w *wordReader) expression() bool {
	p := w.p
	rest := p.src[p.i:]
	n := expressionLen(rest)
	if n == 0 && strings.HasPrefix(rest, "${{") {
		if p.wasted += min(maxExpression, len(rest)); p.wasted > maxWasted {
			p.giveUp()
			return true
		}
	}
	w.b.WriteString(rest[:n])
	p.i += n
	return n > 0
}

// parameter reads ${…}.
func (w *wordReader) parameter() {
	p := w.p
	defer p.leave()
	w.b.WriteString("${")
	p.i += 2
	if !p.enter() {
		return
	}
	for p.i < len(p.src) {
		c := p.src[p.i]
		if c == '}' {
			w.b.WriteByte(c)
			p.i++
			return
		}
		w.piece(c)
	}
}

// substitution reads the commands of $( behind its parenthesis.
func (w *wordReader) substitution() {
	w.b.WriteString("$()")
	w.t.lists = append(w.t.lists, w.p.nested())
}

// nested reads a list up to the closing parenthesis, which is passed over.
func (p *parser) nested() *List {
	l := p.list(nil, Substitution, closers{")"})
	p.accept(")")
	return l
}

// backtick reads the commands of `…`, in which a backslash stands before each
// backtick, dollar and backslash of their own.
func (w *wordReader) backtick() {
	p := w.p
	p.i++
	var inner strings.Builder
	for p.i < len(p.src) && p.src[p.i] != '`' {
		if p.src[p.i] == '\\' && p.i+1 < len(p.src) && strings.IndexByte("`$\\", p.src[p.i+1]) >= 0 {
			p.i++
		}
		inner.WriteByte(p.src[p.i])
		p.i++
	}
	p.i = min(p.i+1, len(p.src))
	w.b.WriteString("$()")
	sub := &parser{src: inner.String(), line: p.line, flat: p.flat, state: p.state}
	w.t.lists = append(w.t.lists, sub.list(nil, Substitution, nil))
	if p.script.TooDeep {
		p.giveUp()
	}
}

// array passes over the values of an array: NAME=( … ).
func (w *wordReader) array() {
	p := w.p
	p.i++
	w.b.WriteString("()")
	for {
		t := p.lex()
		w.t.lists = append(w.t.lists, t.lists...)
		if t.kind == eof || t.kind == operator && t.text == ")" {
			return
		}
	}
}

// arithmetic passes over (( … )), of which the first parentheses were read.
func (p *parser) arithmetic(c *Command, open int) {
	p.i++
	for _, l := range p.balanced(open + 1) {
		l.Owner = c
	}
	c.Words = append(c.Words, "(())")
	c.Text = "(())"
}

// balanced passes over a text up to the parenthesis that closes the outermost of
// those that are open, and gives the commands of substitutions in it.
func (p *parser) balanced(open int) (lists []*List) {
	w := wordReader{p: p}
	for p.i < len(p.src) && open > 0 {
		switch c := p.src[p.i]; {
		case c == '(':
			open++
			p.i++
		case c == ')':
			open--
			p.i++
		case strings.HasPrefix(p.src[p.i:], "$(("):
			open += 2
			p.i += 3
		default:
			w.piece(c)
		}
	}
	return w.t.lists
}
