package packet

import (
	"math"
	"math/big"

	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/packet/strict"
)

// fits tells a number of 0 or more that fits binary64.
func fits(v *jsondoc.Value) bool {
	n, ok := v.Float()
	return ok && n >= 0 && !math.IsInf(n, 0)
}

// above compares two numbers exactly: an integer literal has every digit, which
// its nearest binary64 may lack.
func above(a, b *jsondoc.Value) bool {
	x, _ := a.Float()
	y, _ := b.Float()
	if x != y {
		return x > y
	}
	if !strict.IsInteger(a) && !strict.IsInteger(b) {
		return false
	}
	return exact(a).Cmp(exact(b)) > 0
}

func exact(v *jsondoc.Value) *big.Rat {
	r := new(big.Rat)
	if strict.IsInteger(v) {
		r.SetString(v.Text)
	} else if x, _ := v.Float(); !math.IsInf(x, 0) {
		r.SetFloat64(x)
	}
	return r
}
