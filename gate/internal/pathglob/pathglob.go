// Package pathglob matches paths against globs in which `**` crosses slashes, and
// `**/` may stand for nothing; `*` and `?` cross none (packets.md 4 and 10).
package pathglob

import (
	"strings"
	"unicode/utf8"
)

// Glob is a glob made ready to be matched.
type Glob []part

// part is one piece of a glob: a character, or a wildcard.
type part struct {
	kind partKind
	char rune
}

type partKind uint8

const (
	literal   partKind = iota
	one                // ?
	segment            // *
	anything           // **
	anyFolder          // **/
)

// ParseFlat reads a glob in which nothing crosses a slash: `**` is one `*` after the
// other (interface.md, the input path).
func ParseFlat(glob string) Glob {
	for strings.Contains(glob, "**") {
		glob = strings.ReplaceAll(glob, "**", "*")
	}
	return Parse(glob)
}

// Parse reads a glob. Every text is one.
func Parse(glob string) Glob {
	var out Glob
	for i := 0; i < len(glob); {
		switch {
		case strings.HasPrefix(glob[i:], "**/"):
			out = append(out, part{kind: anyFolder})
			i += 3
		case strings.HasPrefix(glob[i:], "**"):
			out = append(out, part{kind: anything})
			i += 2
		case glob[i] == '*':
			out = append(out, part{kind: segment})
			i++
		case glob[i] == '?':
			out = append(out, part{kind: one})
			i++
		default:
			r, n := character(glob[i:])
			out = append(out, part{char: r})
			i += n
		}
	}
	return out
}

// Match follows all ways through the glob at once, so that no glob takes longer
// than its length times that of the path. at[i] is true where g[:i] may stand
// for what was read; within[i], where the part i is an anyFolder that has begun
// and waits for its slash.
func (g Glob) Match(path string) bool {
	n := len(g)
	at, next := make([]bool, n+1), make([]bool, n+1)
	within, nextWithin := make([]bool, n), make([]bool, n)
	// What may stand for nothing is passed over.
	open := func(at []bool) {
		for i, p := range g {
			if at[i] && p.kind >= segment {
				at[i+1] = true
			}
		}
	}
	at[0] = true
	open(at)
	for off := 0; off < len(path); {
		r, size := character(path[off:])
		off += size
		clear(next)
		clear(nextWithin)
		for i, p := range g {
			if !at[i] && !within[i] {
				continue
			}
			switch p.kind {
			case literal:
				next[i+1] = next[i+1] || r == p.char
			case one:
				next[i+1] = next[i+1] || r != '/'
			case segment:
				next[i] = next[i] || r != '/'
			case anything:
				next[i] = true
			case anyFolder:
				nextWithin[i] = true
				next[i+1] = next[i+1] || r == '/'
			}
		}
		open(next)
		at, next, within, nextWithin = next, at, nextWithin, within
	}
	return at[n]
}

// character gives the first character of a text. A path is any bytes: one that is not
// UTF-8 is a character of its own, which no other byte is and no text spells.
func character(s string) (r rune, size int) {
	r, size = utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && size == 1 {
		r = -rune(s[0])
	}
	return r, size
}
