package jsregexp

import (
	"fmt"
	"strings"
	"unicode"
)

// escape is what a backslash and what follows it mean: one character, or a set in
// the form that stands inside a class of Go.
type escape struct {
	char rune
	set  string // "" for a character
}

// alone is the escape as an atom.
func (e escape) alone() string {
	if e.set != "" {
		return "[" + e.set + "]"
	}
	return literal(e.char)
}

// member writes a character as a member of a class, where blanks and hyphens are
// safe as code points only.
func member(c rune) string { return fmt.Sprintf(`\x{%X}`, c) }

// The sets of JavaScript's \s and \S.
const (
	space    = `\t-\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}`
	notSpace = `\x00-\x08\x0E-\x1F!-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027}\x{202A}-\x{202E}` +
		`\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{FEFE}\x{FF00}-\x{10FFFF}`
)

var sets = map[rune]string{'d': `0-9`, 'D': `\D`, 'w': `\w`, 'W': `\W`, 's': space, 'S': notSpace}

var controls = map[rune]rune{'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}

// escape reads an escape after its backslash, which is at from.
func (p *parser) escape(from int, inClass bool) (escape, error) {
	c := p.peek()
	if c < 0 {
		return escape{}, p.invalid(from, "nothing follows the backslash")
	}
	p.pos++
	if set, ok := sets[c]; ok {
		return escape{set: set}, nil
	}
	if control, ok := controls[c]; ok {
		return escape{char: control}, nil
	}
	switch {
	case c == 'b' && inClass:
		return escape{char: '\b'}, nil
	case c >= '0' && c <= '9':
		return p.digitEscape(from, c, inClass)
	}
	switch c {
	case 'c':
		return p.controlEscape(from, inClass)
	case 'x':
		if n, ok := p.hex(2); ok {
			return escape{char: n}, nil
		}
	case 'u':
		if e, ok, err := p.unicodeEscape(from); ok || err != nil {
			return e, err
		}
	case 'p', 'P':
		if p.peek() == '{' || p.unicode {
			return p.property(from, c == 'P')
		}
	case 'k':
		switch {
		case !inClass && p.peek() == '<':
			p.upTo('>')
			return escape{}, p.unsupported(from, "a backreference")
		case p.named:
			return escape{}, p.invalid(from, "beside groups with names it has to be a backreference")
		}
	}
	return p.identity(from, c, inClass)
}

// identity is a character that stands for itself.
func (p *parser) identity(from int, c rune, inClass bool) (escape, error) {
	if p.unicode && !strings.ContainsRune(`^$\.*+?()[]{}|/`, c) && !(inClass && c == '-') {
		return escape{}, p.invalid(from, "with the flag u only punctuation of the syntax may be escaped")
	}
	return escape{char: c}, nil
}

// digitEscape reads \0 and what looks like a backreference.
func (p *parser) digitEscape(from int, c rune, inClass bool) (escape, error) {
	next := p.peek()
	switch {
	case c == '0' && (next < '0' || next > '9'):
		return escape{char: 0}, nil
	case !inClass && c != '0':
		return escape{}, p.unsupported(from, "a backreference")
	case p.unicode:
		return escape{}, p.invalid(from, "with the flag u it is no escape")
	case c >= '8':
		return escape{char: c}, nil
	}
	// The octal escapes that JavaScript keeps for old pages.
	n := c - '0'
	for digits := 1; digits < 3 && p.peek() >= '0' && p.peek() <= '7' && n*8+p.peek()-'0' <= 0o377; digits++ {
		n = n*8 + p.peek() - '0'
		p.pos++
	}
	return escape{char: n}, nil
}

// controlEscape reads \cX after the c.
func (p *parser) controlEscape(from int, inClass bool) (escape, error) {
	c := p.peek()
	letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	if letter || inClass && !p.unicode && (c >= '0' && c <= '9' || c == '_') {
		p.pos++
		return escape{char: c % 32}, nil
	}
	if p.unicode {
		return escape{}, p.invalid(from, "a letter has to follow")
	}
	p.pos-- // the backslash stands for itself, and so does the c
	return escape{char: '\\'}, nil
}

// hex reads exactly n hex digits; ok is false, and nothing read, where there are
// none.
func (p *parser) hex(n int) (value rune, ok bool) {
	if p.pos+n > len(p.src) {
		return 0, false
	}
	for _, c := range p.src[p.pos : p.pos+n] {
		d := hexDigit(c)
		if d < 0 {
			return 0, false
		}
		value = value*16 + d
	}
	p.pos += n
	return value, true
}

func hexDigit(c rune) rune {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	}
	return -1
}

// unicodeEscape reads \uXXXX and \u{…} after the u. ok is false where there is
// neither.
func (p *parser) unicodeEscape(from int) (e escape, ok bool, err error) {
	if p.peek() == '{' {
		return p.bracedEscape(from)
	}
	n, ok := p.hex(4)
	if !ok {
		return e, false, nil
	}
	if n >= 0xD800 && n <= 0xDBFF && p.at(p.pos, `\u`) {
		after := p.pos
		p.pos += 2
		if low, ok := p.hex(4); ok && low >= 0xDC00 && low <= 0xDFFF {
			return escape{char: 0x10000 + (n-0xD800)<<10 + low - 0xDC00}, true, nil
		}
		p.pos = after
	}
	if n >= 0xD800 && n <= 0xDFFF {
		return e, false, p.unsupported(from, "half of a surrogate pair")
	}
	return escape{char: n}, true, nil
}

func (p *parser) bracedEscape(from int) (e escape, ok bool, err error) {
	body, closed := p.upTo('}')
	if !p.unicode {
		return e, false, p.unsupported(from, "without the flag u it means the letter u, repeated")
	}
	n := rune(0)
	for _, c := range body {
		d := hexDigit(c)
		if n = n*16 + d; d < 0 || n > unicode.MaxRune {
			closed = false
			break
		}
	}
	switch {
	case !closed || body == "":
		return e, false, p.invalid(from, "a code point in hex digits is expected")
	case n >= 0xD800 && n <= 0xDFFF:
		return e, false, p.unsupported(from, "half of a surrogate pair")
	}
	return escape{char: n}, true, nil
}

// upTo reads the opening bracket at the position and what follows up to the
// closing one, and gives what stands between them.
func (p *parser) upTo(closing rune) (body string, closed bool) {
	p.pos++
	from := p.pos
	for p.pos < len(p.src) {
		p.pos++
		if p.src[p.pos-1] == closing {
			return string(p.src[from : p.pos-1]), true
		}
	}
	return string(p.src[from:]), false
}

// property reads \p{…} and \P{…} after the letter.
func (p *parser) property(from int, negated bool) (escape, error) {
	if !p.unicode {
		p.upTo('}')
		return escape{}, p.unsupported(from, "it needs the flag u")
	}
	if p.peek() != '{' {
		return escape{}, p.invalid(from, "a property in braces is expected")
	}
	body, closed := p.upTo('}')
	if !closed {
		return escape{}, p.invalid(from, "the brace is not closed")
	}
	name, ok := goProperty(body)
	if !ok {
		return escape{}, p.unsupported(from, "only general categories and scripts are known")
	}
	switch {
	case !negated:
		return escape{set: `\p{` + name + `}`}, nil
	case p.ignoreCase:
		// JavaScript folds the complement, Go would complement what is folded.
		if p.complements[name] == "" {
			p.complements[name] = complement(tableOf(name))
		}
		return escape{set: p.complements[name]}, nil
	}
	return escape{set: `\P{` + name + `}`}, nil
}

// goProperty gives Go's name of a general category or a script. JavaScript takes a
// script only as Script=…; its bare name, which means nothing else there, is taken
// too.
func goProperty(body string) (string, bool) {
	key, value, pair := strings.Cut(body, "=")
	if !pair {
		key, value = "", body
	}
	if alias, ok := unicode.CategoryAliases[value]; ok {
		value = alias
	}
	_, category := unicode.Categories[value]
	_, script := unicode.Scripts[value]
	switch key {
	case "":
		return value, category || script
	case "gc", "General_Category":
		return value, category
	case "sc", "Script":
		return value, script
	}
	return "", false
}

func tableOf(name string) *unicode.RangeTable {
	if t, ok := unicode.Categories[name]; ok {
		return t
	}
	return unicode.Scripts[name]
}

// complement writes everything that a table lacks as members of a class.
func complement(t *unicode.RangeTable) string {
	var b strings.Builder
	next := rune(0)
	until := func(c rune) { // c is in the table
		if c > next {
			fmt.Fprintf(&b, "%s-%s", member(next), member(c-1))
		}
		next = max(next, c+1)
	}
	for _, r := range t.R16 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			until(c)
		}
	}
	for _, r := range t.R32 {
		for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
			until(c)
		}
	}
	until(unicode.MaxRune + 1)
	return b.String()
}
