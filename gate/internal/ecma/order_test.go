package ecma

import (
	"slices"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	loneHigh = "\xed\xa0\xbd" // U+D83D
	loneLow  = "\xed\xb8\x80" // U+DE00
)

func TestUTF16(t *testing.T) {
	for _, tt := range []struct {
		s    string
		want []uint16
	}{
		{"", nil},
		{"aé", []uint16{'a', 0xe9}},
		{"\ue000\uffff", []uint16{0xe000, 0xffff}},
		{"\U00010000\U0010ffff", []uint16{0xd800, 0xdc00, 0xdbff, 0xdfff}},
		{loneHigh + "x" + loneLow, []uint16{0xd83d, 'x', 0xde00}},
		{"\xff", []uint16{0xfffd}},
	} {
		if got := UTF16(tt.s); !slices.Equal(got, tt.want) {
			t.Errorf("UTF16(%+q) = %x, want %x", tt.s, got, tt.want)
		}
	}
	sorted := []string{"", "A", "a", "a" + loneHigh, "a\U00010000", "a\U0001f600", "a" + loneLow, "a\ue000", "a\uffff", "b"}
	byUnits := slices.Clone(sorted)
	slices.Reverse(byUnits)
	slices.SortFunc(byUnits, func(a, b string) int { return slices.Compare(UTF16(a), UTF16(b)) })
	// U+D83D is above the first half of U+10000 and equal to that of U+1F600.
	sorted[3], sorted[4] = sorted[4], sorted[3]
	if !slices.Equal(byUnits, sorted) {
		t.Errorf("order %+q, want %+q", byUnits, sorted)
	}
}

func TestWellFormed(t *testing.T) {
	for in, want := range map[string]string{
		"":                             "",
		"aé🚀\ufffd":                    "aé🚀\ufffd",
		loneHigh + "a" + loneLow:       "\ufffda\ufffd",
		"\xed\x9f\xbf":                 "\ud7ff",
		loneHigh + loneHigh + "\uE000": "\ufffd\ufffd\ue000",
	} {
		if got := WellFormed(in); got != want {
			t.Errorf("WellFormed(%+q) = %+q, want %+q", in, got, want)
		}
	}
}

// For sound text the standard library is the oracle.
func FuzzUTF16(f *testing.F) {
	f.Add("aé\ue000\U00010000")
	f.Add(loneHigh + loneLow)
	f.Fuzz(func(t *testing.T, s string) {
		got := UTF16(s)
		if !utf8.ValidString(s) {
			return
		}
		if want := utf16.Encode([]rune(s)); !slices.Equal(got, want) {
			t.Errorf("UTF16(%+q) = %x, want %x", s, got, want)
		}
		if WellFormed(s) != s {
			t.Errorf("WellFormed changed %+q", s)
		}
	})
}
