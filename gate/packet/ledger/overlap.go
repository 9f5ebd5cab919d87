package ledger

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
)

// globs are owned paths made ready to be compared: `**` crosses slashes, and
// `**/` may stand for nothing; `*` and `?` cross none (packets.md 4).
type globs []glob

type glob struct {
	given          string
	folded         string
	prefix, suffix string // literal: before the first wildcard, after the last
	wild           bool
}

// maxGlob is how long a path may be and still be compared by its wildcards. A
// longer one is no path of any system, and counts as meeting every other.
const maxGlob = 4096

func newGlobs(paths []string) globs {
	fold := cases.Fold()
	out := make(globs, len(paths))
	for i, p := range paths {
		g := glob{given: p, folded: fold.String(p)}
		first := strings.IndexAny(g.folded, "*?")
		if g.wild = first >= 0; g.wild {
			g.prefix, g.suffix = g.folded[:first], g.folded[strings.LastIndexAny(g.folded, "*?")+1:]
		}
		out[i] = g
	}
	return out
}

// meet finds the first two that may stand for the same file.
func (a globs) meet(b globs) (mine, theirs string, ok bool) {
	for _, x := range a {
		for _, y := range b {
			if x.meets(y) {
				return x.given, y.given, true
			}
		}
	}
	return "", "", false
}

// meets is cautious: two globs meet unless the text before their first wildcards
// or after their last ones excludes it.
func (a glob) meets(b glob) bool {
	switch {
	case !a.wild && !b.wild:
		return a.folded == b.folded
	case !a.wild:
		return b.fits(a.folded)
	case !b.wild:
		return a.fits(b.folded)
	}
	return (strings.HasPrefix(a.prefix, b.prefix) || strings.HasPrefix(b.prefix, a.prefix)) &&
		(strings.HasSuffix(a.suffix, b.suffix) || strings.HasSuffix(b.suffix, a.suffix))
}

// fits tells whether a path without wildcards is one that the glob stands for.
func (a glob) fits(path string) bool {
	if !strings.HasPrefix(path, a.prefix) {
		return false
	}
	if len(a.folded) > maxGlob || len(path) > maxGlob {
		return true
	}
	return fits(parts(a.folded), path)
}

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

func parts(glob string) []part {
	var out []part
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
			r, n := utf8.DecodeRuneInString(glob[i:])
			out = append(out, part{char: r})
			i += n
		}
	}
	return out
}

// fits follows all ways through the glob at once, so that no glob takes longer
// than its length times that of the path. at[i] is true where parts[:i] may stand
// for what was read; within[i], where the part i is an anyFolder that has begun
// and waits for its slash.
func fits(parts []part, path string) bool {
	n := len(parts)
	at, next := make([]bool, n+1), make([]bool, n+1)
	within, nextWithin := make([]bool, n), make([]bool, n)
	// What may stand for nothing is passed over.
	open := func(at []bool) {
		for i, p := range parts {
			if at[i] && p.kind >= segment {
				at[i+1] = true
			}
		}
	}
	at[0] = true
	open(at)
	for _, r := range path {
		clear(next)
		clear(nextWithin)
		for i, p := range parts {
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
