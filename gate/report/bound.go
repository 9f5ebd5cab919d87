package report

import (
	"fmt"
	"strings"
)

// MaxOfRule is how many findings of one rule and severity a layer lists. A file
// within its limit can hold a million lines that break a rule; nobody reads as
// many findings, and each of them takes many times the room of its line.
const MaxOfRule = 10_000

// Bounded gathers findings. Of each rule and severity it keeps the first
// MaxOfRule; where there are more, the last of these says how many. The zero
// value is ready to use.
type Bounded struct {
	kept []Finding
	of   map[boundKey]*surplus
}

type boundKey struct {
	rule     string
	severity Severity
}

// surplus is what was seen of one rule and severity.
type surplus struct {
	count int
	last  int // index of the last that was kept
}

// Add takes a finding and tells whether it was kept as it is.
func (b *Bounded) Add(f Finding) bool {
	k := boundKey{f.Rule, f.Severity}
	s := b.of[k]
	if s == nil {
		if b.of == nil {
			b.of = map[boundKey]*surplus{}
		}
		s = &surplus{}
		b.of[k] = s
	}
	s.count++
	if s.count > MaxOfRule {
		return false
	}
	s.last = len(b.kept)
	b.kept = append(b.kept, f)
	return true
}

// Clone gives one that is added to apart from b.
func (b *Bounded) Clone() *Bounded {
	c := &Bounded{kept: append([]Finding(nil), b.kept...), of: make(map[boundKey]*surplus, len(b.of))}
	for k, s := range b.of {
		same := *s
		c.of[k] = &same
	}
	return c
}

// Dropped counts n more of a rule and severity that the caller did not keep.
func (b *Bounded) Dropped(rule string, severity Severity, n int) {
	if s := b.of[boundKey{rule, severity}]; s != nil {
		s.count += n
	}
}

// Findings gives what was kept.
func (b *Bounded) Findings() []Finding {
	out := append([]Finding(nil), b.kept...)
	for _, s := range b.of {
		if s.count > MaxOfRule {
			out[s.last] = more(out[s.last], s.count-MaxOfRule+1)
		}
	}
	return out
}

// more makes of a finding the one that stands for n of its kind.
func more(f Finding, n int) Finding {
	f.Span = Span{}
	f.Message = fmt.Sprintf("%d more findings of this rule are not listed: only the first %d are.", n, MaxOfRule-1)
	if f.Remedy != "" {
		command, _ := FixOf(f.Remedy[strings.LastIndexByte(f.Remedy, '\n')+1:])
		f.Remedy = WithFix("Mend those that are listed; the next run lists what is left.", command)
	}
	return f
}

// bound drops what is too much of a list. It orders the list first: a layer may have
// found things in any order, and which of them are kept must not depend on that.
func bound(findings []Finding) []Finding {
	if len(findings) <= MaxOfRule {
		return findings
	}
	Sort(findings)
	var b Bounded
	for _, f := range findings {
		b.Add(f)
	}
	return b.Findings()
}
