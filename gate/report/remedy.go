package report

import (
	"strconv"
	"strings"
)

// fix begins the last line of a remedy, a command to be pasted. Renderers set it
// apart, and tests run it.
const fix = "fix: "

// WithFix ends a remedy in the command that mends a finding, or shows it mended; ""
// is none.
func WithFix(advice, command string) string {
	if command == "" {
		return advice
	}
	return advice + "\n" + fix + command
}

// In begins an advice with the place of the edit, since a remedy is also printed where
// its finding is not; line 0 is none. The path is fit to be printed.
func In(path string, line int, advice string) string {
	if line > 0 {
		path += ", line " + strconv.Itoa(line)
	}
	return "In " + path + ": " + strings.ToLower(advice[:1]) + advice[1:]
}

// CutFix parts a remedy into what a person does and the command that it ends in.
func CutFix(remedy string) (advice, command string, found bool) {
	return strings.Cut(remedy, "\n"+fix)
}

// FixOf gives the command of one line of a remedy; false for any other line.
func FixOf(line string) (command string, ok bool) { return strings.CutPrefix(line, fix) }
