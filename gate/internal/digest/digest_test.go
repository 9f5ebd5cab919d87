package digest_test

import (
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/digest"
)

// crFree is what a manifest records, made from a copy without CR: apart from
// the code under test, which makes none.
func crFree(data string) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(strings.ReplaceAll(data, "\r", ""))))
}

// The digest of a stream does not depend on where it is cut, and CR count
// nowhere: not in pairs, not at the ends, not alone.
func TestCRFreeLeavesOutEveryCR(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "\r", "\r\r\r", "a", "\ra\r", "a\r\nb\r\n", "a\r\rb", "\x00\r\xff"}
	for range 200 {
		b := make([]byte, random.IntN(300))
		for i := range b {
			b[i] = "\r\nab"[random.IntN(4)]
		}
		texts = append(texts, string(b))
	}
	for _, text := range texts {
		d := digest.NewCRFree()
		for rest := []byte(text); len(rest) > 0; {
			n := 1 + random.IntN(len(rest))
			before := string(rest[:n])
			if written, err := d.Write(rest[:n]); written != n || err != nil {
				t.Fatalf("Write gives %d, %v for %d bytes", written, err, n)
			}
			if string(rest[:n]) != before {
				t.Fatalf("Write changed its argument %q", before)
			}
			rest = rest[n:]
		}
		if got, want := d.String(), crFree(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func FuzzCRFree(f *testing.F) {
	f.Add([]byte("a\r\nb\r"), 1)
	f.Add([]byte("\r\r"), 7)
	f.Fuzz(func(t *testing.T, data []byte, step int) {
		step = max(1, step%64)
		d := digest.NewCRFree()
		for part := range slices.Chunk(data, step) {
			_, _ = d.Write(part)
		}
		if d.String() != crFree(string(data)) {
			t.Errorf("%q in steps of %d has another digest", data, step)
		}
	})
}

// A Blob that has done one file does the next, whatever was left of the first.
func TestBlobIDs(t *testing.T) {
	short, long := digest.NewBlob(40), digest.NewBlob(64)
	for _, text := range []string{"", "a\r\n", strings.Repeat("text\n", 1000), "x"} {
		object := fmt.Appendf(nil, "blob %d\x00%s", len(text), text)
		for b, want := range map[*digest.Blob]string{
			short: fmt.Sprintf("%x", sha1.Sum(object)),
			long:  fmt.Sprintf("%x", sha256.Sum256(object)),
		} {
			b.Begin(int64(len(text)))
			_, _ = b.Write([]byte("left"))
			b.Begin(int64(len(text)))
			for part := range slices.Chunk([]byte(text), 7) {
				_, _ = b.Write(part)
			}
			if got := string(b.ID()); got != want {
				t.Errorf("%d bytes: %s, want %s", len(text), got, want)
			}
		}
	}
	if digest.NewBlob(0) != nil || digest.NewBlob(41) != nil {
		t.Error("ids of a length that git does not have")
	}
}

func TestIsSHA256(t *testing.T) {
	good := strings.Repeat("0af9", 16)
	for s, want := range map[string]bool{
		good: true, strings.ToUpper(good): false, good[1:]: false, good + "0": false, "": false, good[1:] + "g": false, good[1:] + " ": false,
	} {
		if digest.IsSHA256(s) != want || digest.IsSHA256([]byte(s)) != want {
			t.Errorf("%q: want %v", s, want)
		}
	}
}
