package ledger

import (
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/bench"
)

// BenchmarkReadDocument compares reading a ledger of 100,000 entries with one
// pass over its bytes that only counts its quotes.
func BenchmarkReadDocument(b *testing.B) {
	text := sample(100_000, 0)
	quotes := 0
	bench.Ratio(b, 0, func() {
		for i := range len(text) {
			if text[i] == '"' {
				quotes++
			}
		}
	}, func() {
		if _, err := ReadDocument(text); err != nil {
			b.Fatal(err)
		}
	})
	if quotes == 0 {
		b.Fatal("no quotes")
	}
	b.ReportMetric(float64(len(text))/1e6, "MB")
}

// BenchmarkThoroughly is the same without the quick reader.
func BenchmarkThoroughly(b *testing.B) {
	text := sample(100_000, 0)
	for b.Loop() {
		if _, err := thoroughly(text); err != nil {
			b.Fatal(err)
		}
	}
}
