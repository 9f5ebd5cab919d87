package governance

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

// decode reads bytes as UTF-8: a byte order mark stays, invalid bytes become
// U+FFFD as a browser or node would have them.
func decode(data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	out, err := unicode.UTF8.NewDecoder().Bytes(data)
	if err != nil {
		return strings.ToValidUTF8(string(data), "\ufffd")
	}
	return string(out)
}

// splitLines splits a text at LF and CRLF. A text that ends in one has a last
// empty line.
func splitLines(text string) []string {
	list := strings.Split(text, "\n")
	for i := range list[:len(list)-1] {
		list[i] = strings.TrimSuffix(list[i], "\r")
	}
	return list
}

// isSpace tells the white space of JavaScript, which \s matches and trim removes.
func isSpace(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', ' ', 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return true
	}
	return r >= 0x2000 && r <= 0x200A
}

func trim(s string) string { return strings.TrimFunc(s, isSpace) }
