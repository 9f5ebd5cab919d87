package fileledger

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/bench"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger/ledgertest"
)

const many = 100_000

// crowded is a ledger of 100,000 claims.
func crowded(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "crowded.json")
	if got := claim(b, path, "k"); got != "" {
		b.Fatal(got)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	entry := data[bytes.IndexByte(data, ':')+2 : bytes.LastIndexByte(data, '\n')-2]
	var text bytes.Buffer
	text.WriteString("{")
	for i := range many {
		if i > 0 {
			text.WriteString(",")
		}
		fmt.Fprintf(&text, "\n  \"project:milestone:rev-%d\": %s", i, entry)
	}
	text.WriteString("\n}\n")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// claimAnew claims a key in a ledger and puts the old ledger back, which costs a
// rename.
func claimAnew(b *testing.B, path string) {
	b.Helper()
	old := path + ".old"
	_ = os.Remove(old)
	if err := os.Link(path, old); err != nil {
		b.Fatal(err)
	}
	o, err := ledger.Check(b.Context(), Open(path), ledgertest.A("one more"), ledgertest.At(0), true)
	if err != nil || !o.Recorded {
		b.Fatal(o, err)
	}
	if err := os.Rename(old, path); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkClaimInCrowdedFile compares a claim in a file of 100,000 entries with
// the least that the format allows: to read that file, and to write it anew so
// that it lasts. Against a claim in an empty file this cannot be a small ratio,
// see docs/packet-ledger.md.
func BenchmarkClaimInCrowdedFile(b *testing.B) {
	path := crowded(b)
	beside := filepath.Join(b.TempDir(), "beside")
	bench.Ratio(b, 6, func() {
		data, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		f, err := os.Create(beside)
		if err != nil {
			b.Fatal(err)
		}
		if _, err = f.Write(data); err == nil {
			err = f.Sync()
		}
		if closing := f.Close(); err != nil || closing != nil {
			b.Fatal(err, closing)
		}
	}, func() { claimAnew(b, path) })
}

// BenchmarkClaimInFile is the crowded file against an empty one, for the record.
func BenchmarkClaimInFile(b *testing.B) {
	path := crowded(b)
	empty := filepath.Join(b.TempDir(), "empty.json")
	if err := os.WriteFile(empty, []byte("{}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	bench.Ratio(b, 0, func() { claimAnew(b, empty) }, func() { claimAnew(b, path) })
}
