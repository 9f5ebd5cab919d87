// Package jsregexp compiles JavaScript's regular expressions for Go's engine,
// which needs linear time and knows no backtracking (aahp-governance.md 9). A
// source is parsed as JavaScript and translated; it never reaches Go as it is, as
// several spellings mean different things in the two.
//
// What cannot be translated exactly is an error that names the construct, but for
// this residue: JavaScript counts UTF-16 units without the flag u, here code
// points count; the flag i folds a few letters more than JavaScript's without u
// (ſ with s, the Kelvin sign with k); with m only LF ends a line; and a group that
// is repeated keeps what its last pass captured where JavaScript clears it.
package jsregexp

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// Limits of a pattern.
const (
	maxRepeat  = 1000     // of one quantifier, and of those inside each other multiplied
	maxDepth   = 1000     // of groups
	maxProgram = 10 << 20 // bytes of the compiled program

	// maxTranslation bounds the text that Go's parser is given, in bytes. A negated
	// property of eight bytes can take ten thousand.
	maxTranslation = 16 << 20
)

// Regexp is a compiled expression. NumSubexp counts the groups as JavaScript
// numbers them.
type Regexp struct {
	*regexp.Regexp
	Global bool // the flag g was given

	literals []string // see MayMatch
}

// Error is why a pattern or its flags are not accepted.
type Error struct {
	Flags       bool   // it is about the flags
	Offset      int    // in code points, from 0, where the construct begins
	Construct   string // as it stands in the source, at most a few characters; outside text
	Reason      string // the end of a sentence, in our own words
	Unsupported bool   // JavaScript accepts it
}

// Error names the construct, its offset and the reason. It holds outside text.
func (e *Error) Error() string {
	where := "offset"
	if e.Flags {
		where = "the flags, offset"
	}
	what := e.Construct
	if what == "" {
		what = "the pattern"
	}
	kind := "is invalid"
	if e.Unsupported {
		kind = "is not supported"
	}
	return fmt.Sprintf("%s at %s %d %s: %s", what, where, e.Offset, kind, e.Reason)
}

// Compile compiles the source of an expression with its flags. The error is an
// *Error.
func Compile(source, flags string) (*Regexp, error) {
	p := &parser{src: []rune(source), names: map[string]bool{}, complements: map[string]string{}}
	if err := p.flags(flags); err != nil {
		return nil, err
	}
	text, err := p.translate()
	if err != nil {
		return nil, err
	}
	tree, err := affordable(text)
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, refused(err)
	}
	return &Regexp{Regexp: re, Global: p.global, literals: required(tree)}, nil
}

// MustCompile is Compile for a source of this program.
func MustCompile(source, flags string) *Regexp {
	re, err := Compile(source, flags)
	if err != nil {
		panic("jsregexp: " + source + ": " + err.Error())
	}
	return re
}

// affordable parses the translation, and compiles it once to see how large its
// program is.
func affordable(text string) (*syntax.Regexp, error) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, refused(err)
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, refused(err)
	}
	size := 0
	for i := range prog.Inst {
		size += int(unsafe.Sizeof(prog.Inst[i])) + len(prog.Inst[i].Rune)*4
	}
	if size > maxProgram {
		return nil, &Error{Unsupported: true, Reason: "its program is larger than 10 MiB"}
	}
	return tree, nil
}

// refused says why Go's parser did not take a translation: only its limits are
// left as a reason.
func refused(err error) error {
	reason := "it is larger than the engine takes"
	var e *syntax.Error
	if errors.As(err, &e) && e.Code == syntax.ErrNestingDepth {
		reason = fmt.Sprintf("it is nested deeper than %d", maxDepth)
	}
	return &Error{Unsupported: true, Reason: reason}
}

// parser reads a source and writes the translation.
type parser struct {
	src []rune
	pos int
	out strings.Builder

	global, ignoreCase, multiline, dotAll, unicode bool

	named bool // the source has a group with a name, so \k is no letter
	names map[string]bool
	depth int

	complements map[string]string // of tables, as members of a class
}

func (p *parser) flags(flags string) error {
	seen := map[rune]bool{}
	for i, f := range []rune(flags) {
		bad := func(unsupported bool, reason string) error {
			return &Error{Flags: true, Offset: i, Construct: string(f), Unsupported: unsupported, Reason: reason}
		}
		if seen[f] {
			return bad(false, "a flag may be given once")
		}
		seen[f] = true
		switch f {
		case 'g':
			p.global = true
		case 'i':
			p.ignoreCase = true
		case 'm':
			p.multiline = true
		case 's':
			p.dotAll = true
		case 'u':
			p.unicode = true
		case 'd': // asks for places, which are always known here
		case 'y', 'v':
			return bad(true, "the flags are g, i, m, s and u")
		default:
			return bad(false, "the flags are g, i, m, s and u")
		}
	}
	return nil
}

func (p *parser) translate() (string, error) {
	p.named = p.hasNames()
	if p.ignoreCase {
		p.out.WriteString("(?i)")
	}
	if _, err := p.disjunction(); err != nil {
		return "", err
	}
	if p.pos < len(p.src) {
		return "", p.invalid(p.pos, "it closes no group")
	}
	return p.out.String(), nil
}

// hasNames looks for (?<name ahead of everything else: what \k means in front of
// the group depends on it.
func (p *parser) hasNames() bool {
	class := false
	for i := 0; i < len(p.src); i++ {
		switch p.src[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '(':
			if !class && p.at(i+1, "?<") && !p.at(i+3, "=") && !p.at(i+3, "!") {
				return true
			}
		}
	}
	return false
}

// at tells whether the source has those characters at i.
func (p *parser) at(i int, s string) bool {
	for _, c := range s {
		if i >= len(p.src) || p.src[i] != c {
			return false
		}
		i++
	}
	return true
}

// peek is the character at the position, or -1 at the end.
func (p *parser) peek() rune {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return -1
}

// shown is how many characters of a construct an error shows.
const shown = 12

func (p *parser) error(from int, unsupported bool, reason string) error {
	to := min(max(p.pos, from+1), from+shown, len(p.src))
	construct := string(p.src[min(from, to):to])
	if construct == "" {
		construct = "the end"
	}
	return &Error{Offset: from, Construct: construct, Unsupported: unsupported, Reason: reason}
}

func (p *parser) invalid(from int, reason string) error     { return p.error(from, false, reason) }
func (p *parser) unsupported(from int, reason string) error { return p.error(from, true, reason) }

// disjunction reads alternatives up to a closing parenthesis or the end. weight is
// the product of the repetitions inside each other, the largest there is.
func (p *parser) disjunction() (weight int, err error) {
	weight = 1
	for {
		switch c := p.peek(); c {
		case -1, ')':
			return weight, nil
		case '|':
			p.pos++
			p.out.WriteByte('|')
		default:
			from := p.pos
			w, err := p.term()
			if err != nil {
				return 0, err
			}
			if p.out.Len() > maxTranslation {
				return 0, p.unsupported(from, "from there on the pattern is larger than the engine takes")
			}
			weight = max(weight, w)
		}
	}
}

// term reads one assertion, or an atom with its quantifier.
func (p *parser) term() (weight int, err error) {
	from := p.pos
	c := p.src[p.pos]
	p.pos++
	weight = 1
	switch c {
	case '^':
		p.out.WriteString(p.anchor(`\A`, `(?m:^)`))
		return 1, nil
	case '$':
		p.out.WriteString(p.anchor(`\z`, `(?m:$)`))
		return 1, nil
	case '*', '+', '?':
		return 0, p.invalid(from, "there is nothing to repeat")
	case '(':
		weight, err = p.group(from)
	case '[':
		err = p.class(from)
	case '.':
		if p.dotAll {
			p.out.WriteString(anything)
		} else {
			p.out.WriteString(`[^\n\r\x{2028}\x{2029}]`)
		}
	case '\\':
		switch p.peek() {
		case 'b', 'B':
			p.out.WriteString(`\` + string(p.peek()))
			p.pos++
			return 1, nil
		}
		var e escape
		if e, err = p.escape(from, false); err == nil {
			p.out.WriteString(e.alone())
		}
	case '{':
		p.pos = from
		if _, ok := p.braces(); ok {
			return 0, p.invalid(from, "there is nothing to repeat")
		}
		p.pos = from + 1
		err = p.lone(from, c)
	case '}', ']':
		err = p.lone(from, c)
	default:
		p.out.WriteString(literal(c))
	}
	if err != nil {
		return 0, err
	}
	return p.quantifier(weight)
}

// anything is every character, nothing is none: [^] and [].
const (
	anything = `(?s:.)`
	nothing  = `[^\x00-\x{10FFFF}]`
)

func (p *parser) anchor(text, line string) string {
	if p.multiline {
		return line
	}
	return text
}

// lone reads a bracket or brace that closes or begins nothing.
func (p *parser) lone(from int, c rune) error {
	if p.unicode {
		return p.invalid(from, "with the flag u it has to be escaped")
	}
	p.out.WriteString(literal(c))
	return nil
}

func literal(c rune) string {
	if c < utf8.RuneSelf && c >= ' ' && c != 0x7F {
		return regexp.QuoteMeta(string(c))
	}
	return fmt.Sprintf(`\x{%X}`, c)
}

// group reads a group after its opening parenthesis.
func (p *parser) group(from int) (weight int, err error) {
	if p.depth++; p.depth > maxDepth {
		return 0, p.unsupported(from, fmt.Sprintf("groups are nested deeper than %d", maxDepth))
	}
	open := "("
	if p.peek() == '?' {
		p.pos++
		switch c := p.peek(); {
		case c == ':':
			p.pos++
			open = "(?:"
		case c == '=' || c == '!':
			p.pos++
			return 0, p.unsupported(from, "lookahead")
		case c == '<' && (p.at(p.pos+1, "=") || p.at(p.pos+1, "!")):
			p.pos += 2
			return 0, p.unsupported(from, "lookbehind")
		case c == '<':
			p.pos++
			if err := p.groupName(from); err != nil {
				return 0, err
			}
		default:
			p.pos = min(p.pos+1, len(p.src))
			return 0, p.invalid(from, "a group begins with (, (?: or (?<name>")
		}
	}
	p.out.WriteString(open)
	if weight, err = p.disjunction(); err != nil {
		return 0, err
	}
	if p.peek() != ')' {
		p.pos = from + 1
		return 0, p.invalid(from, "the group is not closed")
	}
	p.pos++
	p.depth--
	p.out.WriteByte(')')
	return weight, nil
}

// quantifier reads what may follow an atom.
func (p *parser) quantifier(weight int) (int, error) {
	from := p.pos
	var b bounds
	switch c := p.peek(); c {
	case '*', '+', '?':
		p.pos++
		p.out.WriteRune(c)
	case '{':
		var ok bool
		if b, ok = p.braces(); !ok {
			p.pos = from
			if p.unicode {
				return 0, p.invalid(from, "with the flag u it has to be a quantifier or escaped")
			}
			return weight, nil // a literal brace comes next
		}
		switch {
		case b.reversed:
			return 0, p.invalid(from, "its numbers are out of order")
		case b.low > maxRepeat || b.high > maxRepeat:
			return 0, p.unsupported(from, fmt.Sprintf("a repetition count is above %d", maxRepeat))
		}
		if n := max(b.low, b.high, 1); weight*n > maxRepeat {
			return 0, p.unsupported(from, fmt.Sprintf("repetitions inside each other multiply to more than %d", maxRepeat))
		}
		weight *= max(b.low, b.high, 1)
		p.out.WriteString(b.text())
	default:
		return weight, nil
	}
	if p.peek() == '?' {
		p.pos++
		p.out.WriteByte('?')
	}
	return weight, nil
}

// bounds are the numbers of a quantifier in braces. Numbers above maxRepeat read as
// maxRepeat+1.
type bounds struct {
	low, high int // high is -1 without an upper bound
	reversed  bool
}

func (b bounds) text() string {
	switch b.high {
	case b.low:
		return fmt.Sprintf("{%d}", b.low)
	case -1:
		return fmt.Sprintf("{%d,}", b.low)
	}
	return fmt.Sprintf("{%d,%d}", b.low, b.high)
}

// braces reads {n}, {n,} or {n,m}; ok is false where there is none.
func (p *parser) braces() (b bounds, ok bool) {
	p.pos++ // the brace
	low := p.digits()
	if low == "" {
		return b, false
	}
	high := low
	if p.peek() == ',' {
		p.pos++
		high = p.digits()
	}
	if p.peek() != '}' {
		return b, false
	}
	p.pos++
	b = bounds{low: count(low), high: -1}
	if high != "" {
		b.high = count(high)
		low, high = strings.TrimLeft(low, "0"), strings.TrimLeft(high, "0")
		b.reversed = len(low) > len(high) || len(low) == len(high) && low > high
	}
	return b, true
}

func (p *parser) digits() string {
	from := p.pos
	for p.peek() >= '0' && p.peek() <= '9' {
		p.pos++
	}
	return string(p.src[from:p.pos])
}

func count(digits string) int {
	n := 0
	for _, c := range []byte(digits) {
		if n = n*10 + int(c-'0'); n > maxRepeat {
			return maxRepeat + 1
		}
	}
	return n
}
