package git

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
)

// nulRecords takes whole NUL-terminated records.
func nulRecords(records *[]string) func(string) (string, error) {
	return func(piece string) (string, error) {
		for {
			r, rest, whole := strings.Cut(piece, "\x00")
			if !whole {
				return piece, nil
			}
			*records = append(*records, r)
			piece = rest
		}
	}
}

// What a command prints arrives as the same records wherever the pieces end,
// also when a record is longer than the buffer; what a failed command printed
// never arrives as an answer.
func TestStream(t *testing.T) {
	r := gittest.New(t, "")
	var want []string
	var all strings.Builder
	for _, size := range []int{1, streamBuffer - 2, streamBuffer - 1, streamBuffer, 3*streamBuffer + 7, 5} {
		want = append(want, strings.Repeat("x", size))
		all.WriteString(want[len(want)-1] + "\x00")
	}
	r.Write("records", all.String())
	r.Write("cut", "whole\x00cut short")
	r.Commit("c")
	repo, err := Open(context.Background(), Options{Dir: r.Dir, StartDir: r.Dir, Environ: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	ctx := context.Background()

	var got []string
	if err := repo.stream(ctx, plumbing, nulRecords(&got), "cat-file", "blob", "HEAD:records"); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%d records, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("record %d has %d bytes, want %d", i, len(got[i]), len(want[i]))
		}
	}

	if err := repo.stream(ctx, plumbing, nulRecords(new([]string)), "cat-file", "blob", "HEAD:cut"); err == nil {
		t.Error("an output that ends within a record is taken")
	}
	var e *Error
	if err := repo.stream(ctx, plumbing, nulRecords(new([]string)), "cat-file", "blob", "HEAD:none"); !errors.As(err, &e) || e.Status <= 0 {
		t.Errorf("a command that fails gives %v", err)
	}
	refused := errors.New("refused")
	refuse := func(string) (string, error) { return "", refused }
	if err := repo.stream(ctx, plumbing, refuse, "cat-file", "blob", "HEAD:records"); !errors.Is(err, refused) {
		t.Errorf("what parse says comes back as %v", err)
	}
}
