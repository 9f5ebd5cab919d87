package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func numbered(rule string, severity Severity, n int) (out []Finding) {
	for i := range n {
		out = append(out, Finding{Rule: rule, Severity: severity, Path: "x", Span: Span{Line: i + 1}, Message: fmt.Sprint("seen ", i), Remedy: "Mend it.\nfix: again"})
	}
	return out
}

// A layer lists so many findings of a rule. One more than that and the last
// says how many are left out; another rule or severity is not crowded out.
func TestFindingsOfARuleAreBounded(t *testing.T) {
	for _, c := range []struct{ n, listed, left int }{
		{0, 0, 0},
		{1, 1, 0},
		{MaxOfRule, MaxOfRule, 0},
		{MaxOfRule + 1, MaxOfRule, 2},
		{3 * MaxOfRule, MaxOfRule, 2*MaxOfRule + 1},
	} {
		findings := append(numbered("a/many", Warning, c.n), numbered("a/few", Warning, 3)...)
		findings = append(findings, numbered("a/many", Error, 1)...)
		l := Done("a", "A", "s", findings)
		counts := map[string]int{}
		left := ""
		for _, f := range l.Findings {
			counts[f.Rule+string(f.Severity)]++
			if strings.Contains(f.Message, "more findings") {
				left = f.Message
				if f.Line != 0 || !strings.HasSuffix(f.Remedy, "\nfix: again") {
					t.Errorf("%+v", f)
				}
			}
		}
		if counts["a/manywarning"] != c.listed || counts["a/fewwarning"] != 3 || counts["a/manyerror"] != 1 || l.Status != Failed {
			t.Errorf("%d: %v, %s", c.n, counts, l.Status)
		}
		if want := fmt.Sprintf("%d more ", c.left); c.left > 0 && !strings.HasPrefix(left, want) || c.left == 0 && left != "" {
			t.Errorf("%d: left out %q, want %s", c.n, left, want)
		}
		if again := Done("a", "A", "s", l.Findings); len(again.Findings) != len(l.Findings) {
			t.Errorf("%d: bounded again it has %d of %d", c.n, len(again.Findings), len(l.Findings))
		}
	}
}

// What a caller did not keep counts, and a copy is one of its own.
func TestBoundedCountsWhatWasDropped(t *testing.T) {
	var b Bounded
	for _, f := range numbered("a/many", Error, MaxOfRule) {
		if !b.Add(f) {
			t.Fatal("not kept")
		}
	}
	c := b.Clone()
	c.Dropped("a/many", Error, 5)
	c.Dropped("a/other", Error, 5) // none of it was ever kept
	find := func(b *Bounded) (last string) {
		for _, f := range b.Findings() {
			last = f.Message
		}
		return last
	}
	if got := find(c); !strings.HasPrefix(got, "6 more ") {
		t.Errorf("the copy: %q", got)
	}
	if got := find(&b); strings.Contains(got, "more") || len(b.Findings()) != MaxOfRule {
		t.Errorf("the original: %q", got)
	}
}

// A layer may find things in the order of a map: which of too many are listed is the
// same in every run.
func TestTheOrderOfFindingDecidesNothing(t *testing.T) {
	findings := numbered("a/many", Warning, MaxOfRule+5)
	backward := slices.Clone(findings)
	slices.Reverse(backward)
	if one, other := Done("a", "A", "s", findings), Done("a", "A", "s", backward); !slices.Equal(one.Findings, other.Findings) {
		t.Error("found backward, others are listed")
	}
}
