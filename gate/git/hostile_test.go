package git

import (
	"context"
	"encoding/hex"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
)

// stored writes an object as it is, also one that git would never write.
func stored(t *testing.T, r *gittest.Repo, kind, content string) string {
	t.Helper()
	c := exec.Command("git", "hash-object", "-t", kind, "-w", "--literally", "--stdin")
	c.Dir, c.Env, c.Stdin = r.Dir, gittest.Environ(), strings.NewReader(content)
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func open(t *testing.T, r *gittest.Repo) *Repo {
	t.Helper()
	repo, err := Open(context.Background(), Options{Dir: r.Dir, StartDir: r.Dir, Environ: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(repo.Close)
	return repo
}

// Only what git takes for a parent is one: a header of that name further down
// makes no commit an ancestor of what it was never merged into.
func TestAParentIsWhatGitFollows(t *testing.T) {
	r := gittest.New(t, "")
	r.Write("a", "1\n")
	first := r.Commit("first")
	r.Write("a", "2\n")
	second := r.Commit("second")
	other := r.Git("commit-tree", "-m", "other", second+"^{tree}")
	raw := r.Git("cat-file", "commit", second) + "\n"
	for _, c := range []struct{ name, raw string }{
		{"after the committer", strings.Replace(raw, "\n\n", "\nparent "+other+"\n\n", 1)},
		{"after the author", strings.Replace(raw, "\ncommitter", "\nparent "+other+"\ncommitter", 1)},
		{"after another header", strings.Replace(raw, "\nauthor", "\nnote x\nparent "+other+"\nauthor", 1)},
		{"in the message", raw + "\nparent " + other + "\n"},
		{"a second tree", strings.Replace(raw, "\nparent", "\ntree "+strings.Repeat("0", 40)+"\nparent "+other+"\nparent", 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			id := stored(t, r, "commit", c.raw)
			repo := open(t, r)
			commit, err := repo.Commit(context.Background(), id)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range commit.Parents {
				if p == other {
					t.Errorf("parents %v", commit.Parents)
				}
			}
			if is, _ := repo.IsAncestor(context.Background(), other, id); is {
				t.Error("it is taken for an ancestor")
			}
		})
	}
	id := stored(t, r, "commit", strings.Replace(raw, "\nauthor", "\nparent "+other+"\nauthor", 1))
	repo := open(t, r)
	commit, err := repo.Commit(context.Background(), id)
	if err != nil || strings.Join(commit.Parents, " ") != first+" "+other {
		t.Errorf("a merge has the parents %v, %v", commit.Parents, err)
	}
	if is, err := repo.IsAncestor(context.Background(), other, id); !is || err != nil {
		t.Errorf("the second parent of a merge is an ancestor: %v, %v", is, err)
	}
	if _, err := repo.Commit(context.Background(), stored(t, r, "commit", strings.TrimPrefix(raw, strings.SplitAfter(raw, "\n")[0]))); err == nil {
		t.Error("a commit without a tree is read")
	}
}

// A comparison of trees whose names are not in git's order tells of changes
// that nobody made.
func TestTreesOutOfOrder(t *testing.T) {
	r := gittest.New(t, "")
	blob, err := hex.DecodeString(stored(t, r, "blob", "x\n"))
	if err != nil {
		t.Fatal(err)
	}
	file := func(names ...string) string {
		var s strings.Builder
		for _, n := range names {
			s.WriteString("100644 " + n + "\x00" + string(blob))
		}
		return s.String()
	}
	folder, err := hex.DecodeString(stored(t, r, "tree", file("x")))
	if err != nil {
		t.Fatal(err)
	}
	sub := func(name string) string { return "40000 " + name + "\x00" + string(folder) }
	before := stored(t, r, "tree", file("a", "b", "c"))
	for _, c := range []struct {
		name, tree string
		ok         bool
	}{
		{"in order", file("a", "b", "c", "d"), true},
		{"a folder after a longer name", file("a.b") + sub("a"), true},
		{"a folder before a longer name", sub("a") + file("a.b"), false},
		{"a file after a longer name", file("a.b", "a"), false},
		{"backwards", file("c", "b", "a"), false},
		{"one too early", file("c", "a", "b"), false},
		{"one name twice", file("a", "a", "b", "c"), false},
		{"a file and a folder of one name", file("a", "a.b") + sub("a"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			repo := open(t, r)
			id := stored(t, r, "tree", c.tree)
			if _, err := repo.Tree("tree", id).List("."); (err == nil) != c.ok {
				t.Errorf("listing it: %v", err)
			}
			if _, ok := repo.smallChange(before, id, "."); ok != c.ok {
				t.Errorf("a small change: %v", ok)
			}
			// diff-tree takes a file and a folder of one name for two names.
			changes, err := repo.Changes(context.Background(), before, id)
			if c.ok && err != nil {
				t.Errorf("comparing it: %v", err)
			}
			seen := map[string]bool{}
			for _, ch := range changes {
				if seen[ch.Path] {
					t.Errorf("%s changed twice: %v", ch.Path, changes)
				}
				seen[ch.Path] = true
			}
		})
	}
}
