package snapshot_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/disk"
	"github.com/handoff-gate/handoff-gate/gate/internal/bench"
	"github.com/handoff-gate/handoff-gate/gate/snapshot"
)

// BenchmarkHash reads and hashes a handoff set of 50 MB against SHA-256 of the
// same bytes when they are in memory already.
func BenchmarkHash(b *testing.B) {
	const size = 50_000_000
	for _, files := range []int{1, 10} {
		b.Run(fmt.Sprintf("files=%d", files), func(b *testing.B) {
			dir := b.TempDir()
			handoff := filepath.Join(dir, ".ai", "handoff")
			if err := os.MkdirAll(handoff, 0o755); err != nil {
				b.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			var content [][]byte
			for i := range files {
				text := bench.Text(rng, size/files)
				content = append(content, text)
				if err := os.WriteFile(filepath.Join(handoff, fmt.Sprintf("LOG-%02d.md", i)), text, 0o644); err != nil {
					b.Fatal(err)
				}
			}
			floor := func() {
				for _, text := range content {
					sha256.Sum256(text)
				}
			}
			subject := func() {
				work, err := disk.Open(dir)
				if err != nil {
					b.Fatal(err)
				}
				defer work.Close()
				set, err := snapshot.Read(context.Background(), work, ".", snapshot.Options{DigestOnly: true})
				if err != nil || len(set.Files) != files {
					b.Fatal(len(set.Files), err)
				}
			}
			bench.Ratio(b, 1.2, floor, subject)
		})
	}
}
