package jsregexp

import (
	"strings"
	"unicode"
)

// class reads a class after its opening bracket, which is at from.
func (p *parser) class(from int) error {
	negated := p.peek() == '^'
	if negated {
		p.pos++
	}
	members := members{sets: map[string]bool{}}
	for {
		switch p.peek() {
		case -1:
			p.pos = from + 1
			return p.invalid(from, "the class is not closed")
		case ']':
			p.pos++
			p.out.WriteString(classOf(members.text.String(), negated))
			return nil
		}
		if err := p.classMember(&members); err != nil {
			return err
		}
	}
}

// members are what a class of Go holds. A set is written once, however often the
// source has it: some stand for hundreds of ranges.
type members struct {
	text strings.Builder
	sets map[string]bool
}

func (m *members) add(e escape) {
	switch {
	case e.set == "":
		m.text.WriteString(member(e.char))
	case !m.sets[e.set]:
		m.sets[e.set] = true
		m.text.WriteString(e.set)
	}
}

func classOf(members string, negated bool) string {
	switch {
	case members == "" && negated:
		return anything
	case members == "":
		return nothing
	case negated:
		return "[^" + members + "]"
	}
	return "[" + members + "]"
}

// classMember reads a character, a set or a range.
func (p *parser) classMember(m *members) error {
	from := p.pos
	low, err := p.classAtom()
	if err != nil {
		return err
	}
	if p.peek() != '-' || p.pos+1 >= len(p.src) || p.src[p.pos+1] == ']' {
		m.add(low)
		return nil
	}
	p.pos++
	high, err := p.classAtom()
	if err != nil {
		return err
	}
	switch {
	case low.set == "" && high.set == "" && low.char > high.char:
		return p.invalid(from, "the range is out of order")
	case low.set == "" && high.set == "":
		m.text.WriteString(member(low.char) + "-" + member(high.char))
	case p.unicode:
		return p.invalid(from, "with the flag u a range has a character at both ends")
	default:
		m.add(low)
		m.add(escape{char: '-'})
		m.add(high)
	}
	return nil
}

func (p *parser) classAtom() (escape, error) {
	from := p.pos
	c := p.src[p.pos]
	p.pos++
	if c == '\\' {
		return p.escape(from, true)
	}
	return escape{char: c}, nil
}

// groupName reads the name of a group up to its ">". Names are not kept: nothing
// refers to them.
func (p *parser) groupName(from int) error {
	var name strings.Builder
	for {
		c := p.peek()
		if c < 0 {
			return p.invalid(from, "the name of the group is not closed")
		}
		p.pos++
		if c == '>' {
			break
		}
		if c == '\\' {
			var ok bool
			if c, ok = p.nameEscape(); !ok {
				return p.invalid(from, "the name of a group is made of letters, digits, $ and _")
			}
		}
		first := name.Len() == 0
		if !(c == '$' || c == '_' || unicode.In(c, unicode.L, unicode.Nl, unicode.Other_ID_Start) ||
			!first && (c == 0x200C || c == 0x200D || unicode.In(c, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue))) {
			return p.invalid(from, "the name of a group is made of letters, digits, $ and _")
		}
		name.WriteRune(c)
	}
	switch {
	case name.Len() == 0:
		return p.invalid(from, "the group has an empty name")
	case p.names[name.String()]:
		return p.invalid(from, "another group has that name")
	}
	p.names[name.String()] = true
	return nil
}

// nameEscape reads \uXXXX or \u{…} in a name, after the backslash.
func (p *parser) nameEscape() (c rune, ok bool) {
	if p.peek() != 'u' {
		return 0, false
	}
	p.pos++
	outer := p.unicode
	p.unicode = true // both forms are allowed in a name, whatever the flags
	e, ok, err := p.unicodeEscape(p.pos - 2)
	p.unicode = outer
	return e.char, ok && err == nil
}
