package snapshot_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/bench"
	"github.com/handoff-gate/handoff-gate/gate/internal/fake"
	"github.com/handoff-gate/handoff-gate/gate/snapshot"
)

// Read in parts and beside each other, files of any size have the digests that
// a plain reading of the whole gives, wherever a CR stands.
func TestDigestsOfAnySize(t *testing.T) {
	const part, large = 1 << 20, 4 << 20
	rng := rand.New(rand.NewPCG(5, 6))
	for _, size := range []int{0, 1, part - 1, part, part + 1, large - 1, large, large + 1, large + part, large + 3*part + 17} {
		text := bench.Text(rng, max(size, 1))[:size]
		for i := range size / 1000 {
			text[i*1000+rng.IntN(1000)] = '\r'
		}
		if size > part {
			text[part-1], text[part] = '\r', '\r'
		}
		tree := fake.Files(map[string]string{gate.HandoffDir + "/LOG.md": string(text)})
		set, err := snapshot.Read(context.Background(), tree, ".", snapshot.Options{IDLength: 40})
		if err != nil {
			t.Fatal(err)
		}
		f := set.File("LOG.md")
		if want := fmt.Sprintf("sha256:%x", sha256.Sum256(bytes.ReplaceAll(text, []byte{'\r'}, nil))); f.Digest != want {
			t.Errorf("%d bytes: digest %s, want %s", size, f.Digest, want)
		}
		blob := append(fmt.Appendf(nil, "blob %d\x00", size), text...)
		if want := fmt.Sprintf("%x", sha1.Sum(blob)); f.Blob != want {
			t.Errorf("%d bytes: blob %s, want %s", size, f.Blob, want)
		}
	}
}
