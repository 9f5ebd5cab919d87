package ecma

import "unicode/utf8"

// UTF16 gives the UTF-16 code units of a string, the order of which is that of
// strings in ECMAScript. It differs from the order of bytes where characters
// above U+FFFF meet those from U+E000 on. A surrogate that stands alone, three
// bytes here, is the unit that it was.
func UTF16(s string) []uint16 {
	units := make([]uint16, 0, len(s))
	for i := 0; i < len(s); {
		if u, ok := surrogate(s[i:]); ok {
			units, i = append(units, u), i+3
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if r > 0xffff {
			r -= 0x10000
			units = append(units, uint16(0xd800+r>>10), uint16(0xdc00+r&0x3ff))
		} else {
			units = append(units, uint16(r))
		}
	}
	return units
}

// WellFormed replaces surrogates that stand alone by U+FFFD, as every encoder of
// UTF-8 does.
func WellFormed(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if _, ok := surrogate(s[i:]); ok {
			out, i = utf8.AppendRune(out, utf8.RuneError), i+3
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		out, i = utf8.AppendRune(out, r), i+n
	}
	return string(out)
}

// surrogate reads the three bytes of a surrogate at the beginning of s.
func surrogate[T string | []byte](s T) (uint16, bool) {
	if len(s) < 3 || s[0] != 0xed || s[1]&0xe0 != 0xa0 || s[2]&0xc0 != 0x80 {
		return 0, false
	}
	return 0xd000 | uint16(s[1]&0x3f)<<6 | uint16(s[2]&0x3f), true
}
