package ecma

import (
	"math"
	"strconv"
)

// Number gives the value of a number as JSON spells it: the nearest IEEE 754
// double, ties to even. What is too large is infinite, what is too small is
// zero. The spelling must be one of JSON's grammar.
func Number(spelling []byte) float64 {
	if isShortInteger(spelling) {
		n := int64(0)
		for _, c := range spelling {
			n = n*10 + int64(c-'0')
		}
		return float64(n)
	}
	text := string(spelling)
	if len(text) > shortNumber {
		text = shortened(spelling)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(f, 0) {
		return math.NaN() // not a spelling of JSON
	}
	return f
}

// shortNumber is up to what length strconv reads a number exactly as it stands:
// beyond, it may cut an exponent of many digits, which as many zeros in front of
// it could make a small one again.
const shortNumber = 128

// significant is how many digits decide a double: the longest number between two
// neighbours has 767 of them, and one more says on which side of it a longer
// spelling lies.
const significant = 800

// shortened spells a long number with the digits that decide it.
func shortened(spelling []byte) string {
	out := make([]byte, 0, significant+32)
	if spelling[0] == '-' {
		out = append(out, '-')
		spelling = spelling[1:]
	}
	out = append(out, '0', '.')
	first := len(out)
	point := int64(0) // where the point stands, counted from the first digit that is no zero
	rest, fraction := false, false
	i := 0
	for ; i < len(spelling); i++ {
		c := spelling[i]
		if c == '.' {
			fraction = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		leading := len(out) == first && c == '0'
		switch {
		case leading:
		case len(out)-first < significant:
			out = append(out, c)
		case c != '0':
			rest = true
		}
		if leading && fraction {
			point--
		} else if !leading && !fraction {
			point++
		}
	}
	if len(out) == first {
		return string(append(out, '0'))
	}
	if rest {
		out = append(out, '1')
	}
	out = append(out, 'e')
	return string(strconv.AppendInt(out, point+exponent(spelling[i:]), 10))
}

// exponent reads what follows the digits of a number: nothing, or an exponent.
// One that is far beyond what the zeros of a text can make up for stays there.
func exponent(s []byte) int64 {
	if len(s) == 0 {
		return 0
	}
	s = s[1:]
	negative := s[0] == '-'
	if s[0] == '-' || s[0] == '+' {
		s = s[1:]
	}
	e := int64(0)
	for _, c := range s {
		if e < 1<<40 {
			e = e*10 + int64(c-'0')
		}
	}
	if negative {
		return -e
	}
	return e
}

// AppendNumber appends a number as JSON.stringify writes it (sessions.md 6.3):
// the shortest digits that read back as the same double, as a whole number below
// 1e21, with a point from 1e-6 on, else with an exponent; infinities are null.
func AppendNumber(dst []byte, f float64) []byte {
	switch {
	case math.IsInf(f, 0), math.IsNaN(f):
		return append(dst, "null"...)
	case f == 0:
		return append(dst, '0') // a negative zero, too
	case f < 0:
		dst, f = append(dst, '-'), -f
	}
	if f >= 1e-6 && f < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	var buf [32]byte
	s := strconv.AppendFloat(buf[:0], f, 'e', -1, 64)
	// Go writes at least two digits of the exponent.
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '+' || s[i] == '-' {
			if s[i+1] == '0' {
				s = append(s[:i+1], s[i+2:]...)
			}
			break
		}
	}
	return append(dst, s...)
}

// isShortInteger tells a number whose spelling is what AppendNumber writes: digits
// alone, few enough for a double to be exact.
func isShortInteger(spelling []byte) bool {
	if len(spelling) > 15 {
		return false
	}
	for _, c := range spelling {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
