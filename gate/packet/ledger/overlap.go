package ledger

import (
	"strings"

	"golang.org/x/text/cases"

	"github.com/handoff-gate/handoff-gate/gate/internal/pathglob"
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
			last := strings.LastIndexAny(g.folded, "*?")
			g.prefix, g.suffix = g.folded[:first], g.folded[last+1:]
			// In `a**/b` the slash belongs to the wildcard, which may stand for nothing; in
			// `a/**/b` another one stands before it.
			if before, ok := strings.CutSuffix(g.folded[:last+1], "**"); ok && before != "" && !strings.HasSuffix(before, "/") {
				g.suffix = strings.TrimPrefix(g.suffix, "/")
			}
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
	// A leading `**/` may stand for nothing, so that `**/b` stands for `b`.
	if !strings.HasPrefix(path, a.prefix) || !strings.HasSuffix(path, strings.TrimPrefix(a.suffix, "/")) {
		return false
	}
	if len(a.folded) > maxGlob || len(path) > maxGlob {
		return true
	}
	return pathglob.Parse(a.folded).Match(path)
}
