package gitledger

import (
	"fmt"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/bench"
	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger/ledgertest"
)

// BenchmarkClaimInCrowdedRefs compares a claim in a repository of 100,000 claims
// with one in an empty repository.
func BenchmarkClaimInCrowdedRefs(b *testing.B) {
	empty, crowded := bare(b, "sha1"), bare(b, "sha1")
	put(crowded, "other", `{"state":"RELEASED"}`)
	id := crowded.Git("rev-parse", ledger.Ref("other"))
	var refs strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&refs, "create %s %s\n", ledger.Ref(fmt.Sprint(i)), id)
	}
	crowded.Feed(refs.String(), "update-ref", "--stdin")
	crowded.Git("pack-refs", "--all")
	n := 0
	claim := func(r *gittest.Repo) func() {
		return func() {
			n++
			key := fmt.Sprintf("one more %d", n)
			o, err := ledger.Check(b.Context(), local(b, r.Dir), ledgertest.A(key), ledgertest.At(0), true)
			if err != nil || !o.Recorded {
				b.Fatal(o, err)
			}
		}
	}
	bench.Ratio(b, 3, claim(empty), claim(crowded))
}
