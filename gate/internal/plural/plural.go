// Package plural counts things in words.
package plural

import (
	"strconv"
	"strings"
)

// Of gives the number and the noun in its form for it: "1 row", "2 rows", "0 branches",
// "3 entries".
func Of(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "ch"):
		noun += "es"
	case strings.HasSuffix(noun, "ry"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	default:
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// Are gives the verb for that many things: "is" for one, else "are".
func Are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
