// Package safetext prepares text from outside for a message: paths, table
// cells, reasons, program output, commit values (aahp-verify.md 2).
package safetext

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Limit is how many characters of one piece of outside text a message holds.
const Limit = 160

// Clean drops control and format characters (Unicode Cc, Cf), shows bytes that
// are not UTF-8 as U+FFFD and cuts at Limit characters.
func Clean(s string) string { return Cut(s, Limit) }

// Cut is Clean with a limit of its own, in characters.
func Cut(s string, limit int) string {
	var b strings.Builder
	n := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		if unicode.In(r, unicode.Cc, unicode.Cf) {
			continue
		}
		if n == limit {
			b.WriteString("…")
			break
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// Escape shows what Clean would drop, where the difference matters to a reader:
// control and format characters (bidirectional ones among them) and the line
// and paragraph separators as \uXXXX, bytes that are not UTF-8 as U+FFFD. A text
// of more than limit characters is cut to limit-3 of them and "...".
func Escape(s string, limit int) string {
	cut := utf8.RuneCountInString(s) > limit
	var b strings.Builder
	n := 0
	for _, r := range s {
		if cut && n == limit-3 {
			b.WriteString("...")
			break
		}
		n++
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			b.Write(AppendEscape(nil, r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// AppendEscape appends a character as \uXXXX, one above U+FFFF as the two of its
// surrogates, which is how JSON escapes it, too.
func AppendEscape(dst []byte, r rune) []byte {
	if r <= 0xffff {
		return fmt.Appendf(dst, `\u%04x`, r)
	}
	high, low := utf16.EncodeRune(r)
	return fmt.Appendf(dst, `\u%04x\u%04x`, high, low)
}

// ShellPath is ShellQuote for a path that stands where a command takes flags,
// too: quotes alone keep no program from taking "-x" for one.
func ShellPath(path string) string {
	if strings.HasPrefix(path, "-") {
		path = "./" + path
	}
	return ShellQuote(path)
}

// ShellQuote quotes s as one word for a POSIX shell, plain words as they are.
// The word has no control or format character, no line end and no byte that is
// not UTF-8, whatever s has: printf makes those, so that the name of a folder
// makes no second line of a remedy, which could be a command of its own.
func ShellQuote(s string) string {
	plain := s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._/-+@%,:=", r))
	}) < 0 && s[0] != '-'
	if plain {
		return s
	}
	single := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	var format strings.Builder
	escaped := false
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1, unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			escaped = true
			for _, c := range []byte(s[i : i+size]) {
				fmt.Fprintf(&format, `\%03o`, c)
			}
		case r == '%':
			format.WriteString("%%")
		case r == '\\':
			format.WriteString(`\\`)
		default:
			format.WriteString(s[i : i+size])
		}
		i += size
	}
	if escaped {
		// A line end at the very end is lost in this form. No folder has one.
		return `"$(printf ` + single(format.String()) + `)"`
	}
	return single(s)
}

// ShellUnquote gives what ShellQuote or ShellPath made the word of. It knows those
// words only; ok is false for any other.
func ShellUnquote(word string) (s string, ok bool) {
	s = word
	if format, cut := strings.CutPrefix(word, `"$(printf '`); cut {
		s = printed(strings.ReplaceAll(strings.TrimSuffix(format, `')"`), `'\''`, "'"))
	} else if quoted, cut := strings.CutPrefix(word, "'"); cut {
		s = strings.ReplaceAll(strings.TrimSuffix(quoted, "'"), `'\''`, "'")
	}
	return s, ShellQuote(s) == word
}

// printed is what printf makes of a format of ShellQuote.
func printed(format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		c := format[i]
		if i+1 < len(format) && (c == '%' || c == '\\') {
			i++
			if n, err := strconv.ParseUint(format[i:min(i+3, len(format))], 8, 8); err == nil && c == '\\' {
				c = byte(n)
				i += 2
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}
