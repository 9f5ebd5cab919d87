package schema

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Nearest proposes the known key that an unknown one was probably meant to be:
// the one with the smallest edit distance without regard to case, the first by
// name of two that are equally near, if it is near enough at all. known must be
// in order.
func Nearest(key string, known []string) (nearest string, ok bool) {
	n := utf8.RuneCountInString(key)
	best := max(1, min(3, n/3)) + 1
	for _, k := range known {
		if m := utf8.RuneCountInString(k); n-m >= best || m-n >= best {
			continue // the lengths alone lie too far apart
		}
		if d := distance(key, k); d < best {
			nearest, best, ok = k, d, true
		}
	}
	return nearest, ok
}

// distance counts the insertions, deletions and replacements of characters that
// lead from one text to the other, without regard to case.
func distance(a, b string) int {
	from, to := []rune(strings.Map(unicode.ToLower, a)), []rune(strings.Map(unicode.ToLower, b))
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, c := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, d := range to {
			cost := diagonal
			if c != d {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(to)]
}

// Placeholder tells whether a value is, as a whole, what a template leaves to
// fill in: one bracketed token ([ISO-8601]) or YYYY-MM-DD, alone or followed by
// a T, t or blank and anything.
func Placeholder(text string) bool {
	if rest, ok := strings.CutPrefix(text, "YYYY-MM-DD"); ok {
		return rest == "" || strings.IndexByte("Tt ", rest[0]) >= 0
	}
	return len(text) > 2 && text[0] == '[' && text[len(text)-1] == ']' &&
		!strings.ContainsAny(text[1:len(text)-1], "[]\r\n")
}
