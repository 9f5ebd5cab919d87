package conform

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// Numbers compare as their values do, however they are spelled.
func TestCompare(t *testing.T) {
	for _, pair := range [][2]string{{"-5", "-4"}, {"-1", "0"}, {"-0.1", "+.05"}, {"0", "1e-9"}, {"9", "10"}, {"99", "123"}, {"1.5", "1.25e1"}, {"1e999999999", "1e1000000000"}, {"-1e1000000000", "-1"}} {
		if Compare(pair[0], pair[1]) != -1 || Compare(pair[1], pair[0]) != 1 {
			t.Errorf("%s and %s", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]string{{"0", "-0.0"}, {"007", "7."}, {"+5", "5.0"}, {".5", "5e-1"}, {"12e2", "1200"}, {"1E+2", "100"}} {
		if Compare(pair[0], pair[1]) != 0 {
			t.Errorf("%s and %s", pair[0], pair[1])
		}
	}
	r := rand.New(rand.NewPCG(8, 9))
	number := func() string {
		var b strings.Builder
		b.WriteString([]string{"", "-", "+"}[r.IntN(3)])
		for range 1 + r.IntN(4) {
			b.WriteByte(byte('0' + r.IntN(3)))
		}
		b.WriteString([]string{"", ".", ".0", ".10", ".01"}[r.IntN(5)])
		b.WriteString([]string{"", "e0", "e2", "E-1", "e+1"}[r.IntN(5)])
		return b.String()
	}
	for range 20_000 {
		a, b := number(), number()
		x, okX := new(big.Rat).SetString(a)
		y, okY := new(big.Rat).SetString(b)
		if !okX || !okY {
			t.Fatalf("%s, %s", a, b)
		}
		if got, want := Compare(a, b), x.Cmp(y); got != want {
			t.Errorf("%s and %s: %d, want %d", a, b, got, want)
		}
	}
}
