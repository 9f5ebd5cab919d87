// Package plural counts things in words.
package plural

import (
	"strconv"
	"strings"
)

// Of gives the number and the noun in its form for it: "1 row", "2 rows", "0 branches".
func Of(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "ch"):
		noun += "es"
	default:
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}
