package git_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
)

// What "git add -N" announces reads as an empty file in the index, but no commit
// made of the index holds it: neither the tree nor the change set has it.
func TestIntendedEntriesAreNotInTheIndex(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		for _, empties := range []int{1, 150} { // named one by one, and too many for it
			t.Run(fmt.Sprintf("%s/%d", format, empties), func(t *testing.T) {
				repo := gittest.New(t, format)
				repo.Write("a.txt", "a\n")
				repo.Commit("Start")
				want := []string{"a.txt"}
				for i := range empties {
					name := fmt.Sprintf("empty/%03d", i)
					repo.Write(name, "")
					want = append(want, name)
				}
				repo.Git("add", "-A")
				repo.Write("intended.md", "not staged\n")
				repo.Write("empty/intended", "")
				repo.Git("add", "-N", "intended.md", "empty/intended")
				r := open(t, repo.Dir)
				x, err := r.Index(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, e := range x.Below(".") {
					got = append(got, e.Path)
				}
				if slices.Sort(want); !slices.Equal(got, want) {
					t.Errorf("the index holds %q, want %q", got, want)
				}
				head, err := r.Commit(context.Background(), "HEAD^{commit}")
				if err != nil {
					t.Fatal(err)
				}
				changes, err := r.Staged(context.Background(), head.Tree)
				if err != nil {
					t.Fatal(err)
				}
				if len(changes) != empties {
					t.Errorf("%d changes are staged, want %d: %v", len(changes), empties, changes)
				}
			})
		}
	}
}
