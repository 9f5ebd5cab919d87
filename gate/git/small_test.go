package git

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
)

// Over random changes (files, folders and links in place of each other, moved
// submodules, modes) what this process lists and compares, and what ls-tree and
// diff-tree do, agree.
func TestSmallTreesAndChangesAgreeWithGit(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			r := gittest.New(t, format)
			repo, err := Open(context.Background(), Options{Dir: r.Dir, StartDir: r.Dir, Environ: os.Environ()})
			if err != nil {
				t.Fatal(err)
			}
			defer repo.Close()
			rng := rand.New(rand.NewPCG(3, 4))
			link := r.Commit("first")
			var trees []string
			for range 12 {
				change(t, r, rng, link)
				link = r.Commit("next")
				trees = append(trees, r.Git("rev-parse", "HEAD^{tree}"))
			}
			ctx := context.Background()
			compared := 0
			for _, a := range trees {
				for _, b := range trees {
					for _, dir := range []string{".", "d0", "d1/d0"} {
						list, ok := repo.smallTree(a, dir)
						if want := listed(t, repo, a, dir); ok && !slices.Equal(list, want) {
							t.Fatalf("%s below %s:\n%v\nwant\n%v", a, dir, list, want)
						}
						got, ok := repo.smallChange(a, b, dir)
						if !ok {
							continue
						}
						compared++
						args := append(append([]string{"diff-tree"}, rawFlags...), a, b, "--")
						if dir != "." {
							args = append(args, dir)
						}
						want, err := repo.raw(ctx, inOrder, args...)
						if err != nil {
							t.Fatal(err)
						}
						slices.SortFunc(want, func(a, b gate.Change) int { return cmp.Compare(a.Path, b.Path) })
						if !slices.Equal(got, want) {
							t.Fatalf("%s..%s below %s:\n%v\nwant\n%v", a, b, dir, got, want)
						}
					}
				}
			}
			if compared < 100 {
				t.Errorf("only %d comparisons were small", compared)
			}
		})
	}
}

// listed is what ls-tree lists.
func listed(t *testing.T, repo *Repo, tree, dir string) (entries []gate.Entry) {
	t.Helper()
	args := []string{"ls-tree", "-r", "-z", "--full-tree", tree}
	if dir != "." {
		args = append(args, "--", dir+"/")
	}
	err := repo.stream(context.Background(), plumbing, func(piece string) (rest string, err error) {
		entries, rest, err = parseLsTree(entries, piece)
		return rest, err
	}, args...)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// change replaces a few paths of a small work tree by something else.
func change(t *testing.T, r *gittest.Repo, rng *rand.Rand, commit string) {
	t.Helper()
	name := func(kind string) string { return fmt.Sprintf("%s%d", kind, rng.IntN(2)) }
	for range 6 {
		p := name("f")
		for range rng.IntN(3) {
			p = name("d") + "/" + p
		}
		if rng.IntN(6) == 0 {
			p = name("d") // where a folder may stand
		}
		full := filepath.Join(r.Dir, filepath.FromSlash(p))
		for dir := filepath.Dir(full); dir != r.Dir; dir = filepath.Dir(dir) {
			if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
				if err := os.Remove(dir); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := os.RemoveAll(full); err != nil {
			t.Fatal(err)
		}
		var err error
		switch rng.IntN(5) {
		case 0:
		case 1:
			r.Write(p, "text")
			err = os.Symlink("target", full+"-link")
			if os.IsExist(err) {
				err = os.Remove(full + "-link")
			}
		case 2:
			r.Write(p, fmt.Sprint(rng.IntN(3)))
			err = os.Chmod(full, 0o755)
		default:
			r.Write(p, fmt.Sprint(rng.IntN(3)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if rng.IntN(2) == 0 {
		r.Git("add", "-A")
		r.Git("update-index", "--add", "--cacheinfo", "160000,"+commit+",sub")
		r.Git("commit", "-q", "--allow-empty", "-m", "submodule")
	}
}

// A change of many folders, or a tree of many more, is left to git.
func TestLargeChangeIsNotSmall(t *testing.T) {
	r := gittest.New(t, "")
	r.Commit("first")
	before := r.Git("rev-parse", "HEAD^{tree}")
	for i := range smallTreeFolders {
		r.Write(fmt.Sprintf("d%02d/f", i), "text")
	}
	r.Commit("second")
	repo, err := Open(context.Background(), Options{Dir: r.Dir, StartDir: r.Dir, Environ: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	after := r.Git("rev-parse", "HEAD^{tree}")
	if _, ok := repo.smallChange(before, after, "."); ok {
		t.Error("it was read tree by tree")
	}
	changes, err := repo.ChangesBelow(context.Background(), before, after, ".")
	if err != nil || len(changes) != smallTreeFolders {
		t.Errorf("%d changes, %v", len(changes), err)
	}
	if _, ok := repo.smallTree(after, "."); ok {
		t.Error("it was listed tree by tree")
	}
	entries, err := repo.TreeEntries(context.Background(), after, ".")
	if err != nil || len(entries) != smallTreeFolders {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}
