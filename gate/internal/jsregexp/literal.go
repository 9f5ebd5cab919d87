package jsregexp

import (
	"regexp/syntax"
	"strings"
	"unicode"
)

// maxLiterals is how many literals are looked for one by one.
const maxLiterals = 8

// MayMatch tells, fast, whether the expression can match anywhere in s. Where it
// answers false there is no match. Most expressions have a literal in every match,
// which is found many times faster than the engine gets through a text.
func (r *Regexp) MayMatch(s string) bool {
	for _, literal := range r.literals {
		if strings.Contains(s, literal) {
			return true
		}
	}
	return len(r.literals) == 0
}

// MatchString tells whether the expression matches anywhere in s.
func (r *Regexp) MatchString(s string) bool { return r.MayMatch(s) && r.Regexp.MatchString(s) }

// required gives literals of which every match holds at least one; none where that
// is not known.
func required(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			for _, c := range re.Rune {
				if unicode.SimpleFold(c) != c {
					return nil
				}
			}
		}
		return []string{string(re.Rune)}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if found := required(sub); better(found, best) {
				best = found
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			found := required(sub)
			if all = append(all, found...); found == nil || len(all) > maxLiterals {
				return nil
			}
		}
		return all
	default: // what matches nothing, one of many characters, or perhaps nothing
	}
	return nil
}

// better tells whether literals are a sharper test than others: the shortest of
// them is longer.
func better(a, b []string) bool {
	shortest := func(list []string) int {
		n := 0
		for i, s := range list {
			if i == 0 || len(s) < n {
				n = len(s)
			}
		}
		return n
	}
	return shortest(a) > shortest(b)
}
