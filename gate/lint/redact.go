package lint

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// Redact replaces the credentials and e-mail addresses in a text that another
// layer is about to print: a reason, a table cell, the output of a check. A
// credential becomes ***; an address keeps its first character and its domain.
// What only holds one behind invisible characters is replaced as a whole.
func Redact(text string) string {
	if !holdsSecret(text) {
		return text
	}
	var out strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			out.WriteByte('\n')
		}
		redactLine(&out, []byte(line))
	}
	if out.String() == text {
		return "***"
	}
	return out.String()
}

func redactLine(out *strings.Builder, line []byte) {
	var c creds
	c.scanLine(line)
	slices.SortFunc(c.found, func(a, b credMatch) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
	})
	done := 0
	for i := 0; i < len(c.found); {
		start, end, shown := c.found[i].start, c.found[i].end, "***"
		alone := c.found[i]
		n := i + 1
		for n < len(c.found) && c.found[n].start < end {
			end = max(end, c.found[n].end)
			n++
		}
		if n == i+1 && alone.detector == addressDetector {
			at := bytes.IndexByte(line[start:end], '@')
			shown = string(line[start:start+1]) + "***" + string(line[start+at:end])
		}
		out.Write(line[done:start])
		out.WriteString(shown)
		done, i = end, n
	}
	out.Write(line[done:])
}
