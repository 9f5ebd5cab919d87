package lint

import (
	"html"
	"unicode/utf8"
)

// reference is an HTML character reference at the start of text, which begins
// with "&": what html.UnescapeString makes of it and how many bytes it takes.
// No reference is 0 bytes long.
func reference(text []byte) (decoded string, size int) {
	if len(text) > 1 && text[1] == '#' {
		r, size, _ := numericReference(text)
		if size == 0 {
			return "", 0
		}
		return string(r), size
	}
	n := nameLength(text)
	if n < 2 {
		return "", 0
	}
	name := string(text[:1+n])
	if 1+n < len(text) && text[1+n] == ';' {
		whole := name + ";"
		if got := html.UnescapeString(whole); utf8.RuneCountInString(got) <= 2 && got != whole {
			return got, n + 2
		}
	}
	// Without a semicolon a few old names count, also as the beginning of a word.
	for l := min(n, longestOldName); l > 1; l-- {
		if got := html.UnescapeString(name[:1+l]); got != name[:1+l] && utf8.RuneCountInString(got) == 1 {
			return got, 1 + l
		}
	}
	return "", 0
}

// longestName and longestOldName are the lengths of the longest names of
// references, with and without a semicolon.
const (
	longestName    = 31
	longestOldName = 6
)

// nameLength counts the alphanumerics after the "&", up to one more than the
// longest name.
func nameLength(text []byte) int {
	n := 0
	for 1+n < len(text) && n <= longestName && alnumBytes[text[1+n]] {
		n++
	}
	return n
}

// numericReference reads "&#…" as html.UnescapeString does: as many digits as
// there are, in arithmetic that wraps, with or without a semicolon, but not a
// single digit without one.
func numericReference(text []byte) (r rune, size int, closed bool) {
	const shortest = 4
	if len(text) < shortest {
		return 0, 0, false
	}
	i, hex := 2, false
	if i < len(text) && (text[i] == 'x' || text[i] == 'X') {
		hex = true
		i++
	}
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case '0' <= c && c <= '9' && hex:
			r = 16*r + rune(c-'0')
		case '0' <= c && c <= '9':
			r = 10*r + rune(c-'0')
		case hex && 'a' <= lower(c) && lower(c) <= 'f':
			r = 16*r + rune(lower(c)-'a') + 10
		default:
			goto end
		}
	}
end:
	if i < len(text) && text[i] == ';' {
		closed = true
		i++
	}
	if i < shortest {
		return 0, 0, false
	}
	switch {
	case 0x80 <= r && r <= 0x9f:
		// Bytes of Windows-1252; none of them is an ASCII character.
		r = windows1252[r-0x80]
	case r == 0 || r > utf8.MaxRune || r < 0 || 0xd800 <= r && r <= 0xdfff:
		r = utf8.RuneError
	}
	return r, i, closed
}

var windows1252 = [32]rune{
	0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0x8d, 0x17d, 0x8f,
	0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a, 0x153, 0x9d, 0x17e, 0x178,
}
