package render

import (
	"fmt"
	"io"
	"strings"
)

// Output writes one entry for the runner's GITHUB_OUTPUT file: the name, a
// delimiter of 32 random hex digits that the value does not contain, the value,
// the delimiter (github-action.md 9). Outputs are single lines; a line end in
// value becomes a blank. name is ours and written as it is.
func Output(w io.Writer, random io.Reader, name, value string) error {
	value = mapRunes(value, func(r rune) rune {
		if breaksLine(r) {
			return ' '
		}
		return r
	})
	delim, err := endToken(random, value)
	if err != nil {
		return fmt.Errorf("output %s: %w", name, err)
	}
	_, err = io.WriteString(w, strings.Join([]string{name + "<<" + delim, value, delim, ""}, "\n"))
	return err
}
