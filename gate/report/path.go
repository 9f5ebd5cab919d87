package report

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// ValidPath shows each byte of a path that is not UTF-8 as %XX
// (aahp-verify.md 2). A valid path comes back unchanged.
func ValidPath(p string) string {
	if utf8.ValidString(p) {
		return p
	}
	var b strings.Builder
	for i := 0; i < len(p); {
		r, n := utf8.DecodeRuneInString(p[i:])
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, "%%%02X", p[i])
		} else {
			b.WriteString(p[i : i+n])
		}
		i += n
	}
	return b.String()
}
