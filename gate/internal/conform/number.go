package conform

import (
	"cmp"
	"strconv"
	"strings"
)

// stand gives a number that the validator judges like the one spelled by text:
// whole or not, its sign, and its place among the whole numbers. Numbers too
// large for an int64 read as the largest one that is used here. The validator
// itself would expand 1e1000000000 into a gigabyte of digits, and binary64
// would take 0.99999999999999999999 for a whole number.
//
// The schemas hold to what this keeps: every bound is a whole number of at most
// 15 digits, and multipleOf is not used.
func stand(text string) any {
	sign := int64(1)
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		text, sign = rest, -1
	}
	digits, exponent := scientific(text)
	if digits == "" {
		return int64(0)
	}
	whole := len(digits) + exponent // how many digits stand before the point
	if exponent >= 0 {
		if whole > 18 {
			return sign * 1e18
		}
		n, _ := strconv.ParseInt(digits+strings.Repeat("0", exponent), 10, 64)
		return sign * n
	}
	between := 0.5 // stands for any value between two whole numbers
	switch {
	case whole > 15:
		between += 1e15
	case whole > 0:
		n, _ := strconv.ParseInt(digits[:whole], 10, 64)
		between += float64(n)
	}
	return float64(sign) * between
}

// maxExponent is where exponents stop: no text that is read has so many digits.
const maxExponent = 1 << 40

// scientific splits an unsigned JSON number into digits without zeros at either
// end and the power of ten that the last of them stands for. Zero has no digits.
func scientific(text string) (digits string, exponent int) {
	mantissa, exp := text, ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exp = text[:i], text[i+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return "", 0
	}
	return trimmed, power(exp) - len(fraction) + len(digits) - len(trimmed)
}

// power reads the digits of an exponent, held between -maxExponent and
// maxExponent.
func power(text string) int {
	negative := strings.HasPrefix(text, "-")
	n := 0
	for _, c := range []byte(strings.TrimLeft(text, "+-")) {
		if n = n*10 + int(c-'0'); n > maxExponent {
			n = maxExponent
		}
	}
	if negative {
		return -n
	}
	return n
}

// CompareWhole compares a whole JSON number ("7", "7.0", "7e3") of 0 or more
// with an unsigned decimal of any length: -1, 0 or 1. Neither is ever expanded.
func CompareWhole(number, decimal string) int {
	digits, exponent := scientific(number)
	decimal = strings.TrimLeft(decimal, "0")
	switch length := len(digits) + exponent; {
	case length < len(decimal):
		return -1
	case length > len(decimal):
		return 1
	}
	for i := range decimal {
		c := byte('0')
		if i < len(digits) {
			c = digits[i]
		}
		if c != decimal[i] {
			if c < decimal[i] {
				return -1
			}
			return 1
		}
	}
	return 0
}

// Compare compares two decimal numbers as they are spelled ("7", "-7.0", "+.5",
// "7e3"): -1, 0 or 1. Neither is ever expanded.
func Compare(a, b string) int {
	signA, digitsA, exponentA := signed(a)
	signB, digitsB, exponentB := signed(b)
	if signA != signB || signA == 0 {
		return cmp.Compare(signA, signB)
	}
	return signA * cmp.Or(
		cmp.Compare(len(digitsA)+exponentA, len(digitsB)+exponentB),
		strings.Compare(digitsA, digitsB),
	)
}

// signed is scientific for a number with a sign, which is 0 for zero.
func signed(text string) (sign int, digits string, exponent int) {
	sign = 1
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		text, sign = rest, -1
	}
	digits, exponent = scientific(strings.TrimPrefix(text, "+"))
	if digits == "" {
		sign = 0
	}
	return sign, digits, exponent
}
