package jsregexp

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestLiterals(t *testing.T) {
	for _, tt := range []struct{ source, flags, want string }{
		{"TOD[O]", "gm", "TODO"},
		{`\bcat\b`, "", "cat"},
		{"(?:password|secret)\\s*=", "", "password secret"},
		{"(?:password|secret)\\s*:==", "", "password secret"},
		{"a?bc+d*", "", "b"},
		{"(foo){2,}x*", "", "foo"},
		{"a|b*", "", ""},
		{"a|b|", "", ""},
		{"[ab]c?", "", ""},
		{"x{0,3}", "", ""},
		{"", "", ""},
		{"abc", "i", ""},
		{"<<<", "i", "<<<"},
		{"1|2|3|4|5|6|7|8|9", "", ""}, // it is a class
		{"aa|bb|cc|dd|ee|ff|gg|hh|ii", "", ""},
	} {
		if got := strings.Join(MustCompile(tt.source, tt.flags).literals, " "); got != tt.want {
			t.Errorf("/%s/%s: %q, want %q", tt.source, tt.flags, got, tt.want)
		}
	}
}

// What matches may match.
func TestMayMatch(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	matched, ruledOut := 0, 0
	for range 20_000 {
		re, err := Compile(randomSource(r, 3), randomFlags(r))
		if err != nil {
			continue
		}
		for range 4 {
			text := randomText(r)
			switch may, matches := re.MayMatch(text), re.Regexp.MatchString(text); {
			case matches && !may:
				t.Errorf("%s matches %q and is said not to", re, text)
			case matches:
				matched++
			case !may:
				ruledOut++
			}
		}
	}
	if matched < 1000 || ruledOut < 1000 {
		t.Errorf("%d matched, %d were ruled out", matched, ruledOut)
	}
}
