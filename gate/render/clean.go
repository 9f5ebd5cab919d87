package render

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

// replacement stands for a character that must not be printed.
const replacement = '\uFFFD'

// breaksLine tells whether r ends a line for somebody who reads the output: a
// terminal, a text editor, a log viewer.
func breaksLine(r rune) bool {
	switch r {
	case '\n', '\v', '\f', '\r', '\u0085', '\u2028', '\u2029':
		return true
	}
	return false
}

// plainLine makes s safe as a part of one line in a terminal or a log. Line
// ends and tabs become a blank. Other control characters and format characters
// (direction overrides, zero-width characters) become U+FFFD, so that two
// different names never look the same; bytes that are not UTF-8 likewise. The
// runner's old command form "##[" is printed as "## [" (aahp-verify.md 2).
func plainLine(s string) string {
	return defuse(mapRunes(s, func(r rune) rune {
		switch {
		case r == '\t' || breaksLine(r):
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf):
			return replacement
		}
		return r
	}))
}

// plainLines splits s at line feeds and makes each line safe with plainLine. A
// line that would begin with "::" begins with ": :" instead: the runner trims
// leading blanks, so indentation alone does not keep a command out of a log.
func plainLines(s string) []string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, l := range lines {
		lines[i] = defuseStart(plainLine(strings.TrimSuffix(l, "\r")))
	}
	return lines
}

// defuse breaks the runner's old command form, which counts anywhere in a line.
func defuse(s string) string { return strings.ReplaceAll(s, "##[", "## [") }

// defuseStart breaks the runner's command form at the beginning of a line.
func defuseStart(line string) string {
	rest := strings.TrimLeftFunc(line, unicode.IsSpace)
	if !strings.HasPrefix(rest, "::") {
		return line
	}
	return line[:len(line)-len(rest)] + ": " + rest[1:]
}

// AnnotationText keeps TAB and LF and replaces every other control character,
// the two Unicode line ends and bytes that are not UTF-8 by U+FFFD
// (github-action.md 5).
func AnnotationText(s string) string {
	return mapRunes(s, func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return r
		case unicode.Is(unicode.Cc, r) || breaksLine(r):
			return replacement
		}
		return r
	})
}

// mapRunes is strings.Map without dropping, and with the guarantee that each
// byte that is not UTF-8 becomes U+FFFD. A string that needs no change comes
// back as it is.
func mapRunes(s string, f func(rune) rune) string {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if f(r) != r || r == utf8.RuneError && size == 1 {
			var b strings.Builder
			b.Grow(len(s) + 16)
			b.WriteString(s[:i])
			for _, r := range s[i:] { // a bad byte ranges as U+FFFD
				b.WriteRune(f(r))
			}
			return b.String()
		}
		i += size
	}
	return s
}

// cutBytes cuts s to at most limit bytes, never inside a character.
func cutBytes(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	limit = max(limit, 0)
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// cutWithNote shortens a message to what measure allows: the note says that
// something is gone, and a last line "fix: COMMAND" is kept, because a message
// without its command is of no use. measure gives the size of a string; it must
// grow with it and be the sum of its characters' sizes.
func cutWithNote(s string, limit int, note string, measure func(string) int) string {
	if measure(s) <= limit {
		return s
	}
	tail := "\n" + note
	if i := strings.LastIndexByte(s, '\n'); i >= 0 && measure(s[i:]) <= limit/2 {
		if _, ok := report.FixOf(s[i+1:]); ok {
			tail += s[i:]
		}
	}
	room := limit - measure(tail)
	end := 0
	for end < len(s) {
		_, size := utf8.DecodeRuneInString(s[end:])
		room -= measure(s[end : end+size])
		if room < 0 {
			break
		}
		end += size
	}
	return s[:end] + tail
}
