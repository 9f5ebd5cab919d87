package strict

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
)

// Canonical gives the canonical form of a value that Parse has read: the bytes
// that are hashed and signed (packets.md 2).
func Canonical(v *jsondoc.Value) []byte { return AppendCanonical(nil, v) }

// AppendCanonical appends the canonical form of v. It recurses as deep as the
// value is nested, which Parse limits.
func AppendCanonical(dst []byte, v *jsondoc.Value) []byte {
	switch v.Kind {
	case jsondoc.Object:
		dst = append(dst, '{')
		for i, m := range sorted(v.Members) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(AppendString(dst, m.Key), ':')
			dst = AppendCanonical(dst, m.Value)
		}
		return append(dst, '}')
	case jsondoc.Array:
		dst = append(dst, '[')
		for i, item := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendCanonical(dst, item)
		}
		return append(dst, ']')
	case jsondoc.String:
		return AppendString(dst, v.Text)
	case jsondoc.Number:
		return appendNumber(dst, v)
	case jsondoc.True:
		return append(dst, "true"...)
	case jsondoc.False:
		return append(dst, "false"...)
	case jsondoc.Null, jsondoc.Key, jsondoc.ObjectEnd, jsondoc.ArrayEnd:
	}
	return append(dst, "null"...)
}

// AppendString appends the canonical form of a string, for whoever puts together
// an object that stands in no document. JSON.stringify escapes the same
// characters in the same way.
func AppendString(dst []byte, s string) []byte { return ecma.AppendString(dst, s) }

// sorted gives the members by key. Bytes of UTF-8 sort as code points do.
func sorted(members []jsondoc.Member) []jsondoc.Member {
	byKey := func(a, b jsondoc.Member) int { return strings.Compare(a.Key, b.Key) }
	if slices.IsSortedFunc(members, byKey) {
		return members
	}
	members = slices.Clone(members)
	slices.SortFunc(members, byKey)
	return members
}

// smallest is where numbers that are not whole change to an exponent.
const smallest = 0.0001

func appendNumber(dst []byte, v *jsondoc.Value) []byte {
	if IsInteger(v) {
		if v.Text == "-0" {
			return append(dst, '0')
		}
		return append(dst, v.Text...) // JSON has no other spelling of an integer
	}
	x, _ := v.Float()
	switch {
	case x == 0:
		return append(dst, '0') // of either sign
	case x == math.Trunc(x):
		return big.NewFloat(x).Append(dst, 'f', 0)
	case math.Abs(x) >= smallest:
		return strconv.AppendFloat(dst, x, 'f', -1, 64)
	}
	return strconv.AppendFloat(dst, x, 'e', -1, 64)
}
