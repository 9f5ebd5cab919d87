// Package ecma holds what the file formats took over from ECMAScript: its white
// space, its lengths in UTF-16 code units, its reading of broken UTF-8, and the
// bytes of JSON.stringify. The first generators of these files were programs of
// that language, and a file has one right form only.
package ecma

import (
	"strings"
	"unicode/utf8"
)

// IsSpace tells the white space of aahp-authoring.md 1, rule 9: WhiteSpace and
// LineTerminator of ECMAScript. U+0085 is not in it, unlike in unicode.IsSpace.
func IsSpace(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', ' ', 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff:
		return true
	}
	return r >= 0x2000 && r <= 0x200a
}

// Trim removes white space at both ends.
func Trim(s string) string { return strings.TrimFunc(s, IsSpace) }

// Units is the length of a string in UTF-16 code units.
func Units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// Decode reads bytes as UTF-8. What is not UTF-8 becomes U+FFFD as in every
// decoder that follows the Encoding Standard: one for each longest piece that
// begins a character and does not end it, where Go has one for each byte. A byte
// order mark is a character like any other.
func Decode(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	out := make([]byte, 0, len(b)+len(b)/8)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			n = broken(b)
		}
		out = utf8.AppendRune(out, r)
		b = b[n:]
	}
	return string(out)
}

// broken gives the length of the broken piece that b begins with: its first
// byte, and those after it that could still have gone on to a character.
func broken(b []byte) int {
	lead := b[0]
	var more int
	low, high := byte(0x80), byte(0xbf) // what the second byte may be
	switch {
	case lead >= 0xc2 && lead <= 0xdf:
		more = 1
	case lead >= 0xe0 && lead <= 0xef:
		more = 2
		switch lead {
		case 0xe0:
			low = 0xa0 // else overlong
		case 0xed:
			high = 0x9f // else a surrogate
		}
	case lead >= 0xf0 && lead <= 0xf4:
		more = 3
		switch lead {
		case 0xf0:
			low = 0x90 // else overlong
		case 0xf4:
			high = 0x8f // else above U+10FFFF
		}
	}
	n := 1
	for n <= more && n < len(b) && b[n] >= low && b[n] <= high {
		n++
		low, high = 0x80, 0xbf
	}
	return n
}
