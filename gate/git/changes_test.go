package git

import (
	"fmt"
	"strings"
	"testing"
)

func FuzzParseRaw(f *testing.F) {
	id, zero := strings.Repeat("a", 40), strings.Repeat("0", 40)
	f.Add(":100644 100644 " + id + " " + id + " M\x00a\x00")
	f.Add(":000000 120000 " + zero + " " + id + " A\x00a\nb\x00:160000 000000 " + id + " " + zero + " D\x00c\x00")
	f.Add(":100644 100644 " + id + " " + id + " R100\x00a\x00b\x00")
	f.Add(":100644 100644 " + id)
	f.Fuzz(func(t *testing.T, out string) {
		changes, rest, err := parseRaw(nil, out)
		if err != nil || rest != "" {
			return
		}
		// What was understood is all there was: writing it again gives the input.
		var b strings.Builder
		for _, c := range changes {
			fmt.Fprintf(&b, ":%06o %06o %s %s %c\x00%s\x00", c.OldMode, c.NewMode, c.OldID, c.NewID, c.Status, c.Path)
		}
		if b.String() != out {
			t.Errorf("%q was read as %q", out, b.String())
		}
	})
}
