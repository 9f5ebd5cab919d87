package git_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/git"
	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
)

func open(t *testing.T, dir string, environ ...string) *git.Repo {
	t.Helper()
	r, err := git.Open(context.Background(), git.Options{Dir: dir, StartDir: dir, Environ: append(os.Environ(), environ...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func head(t *testing.T, r *git.Repo) git.Commit {
	t.Helper()
	c, err := r.Commit(context.Background(), "HEAD^{commit}")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The same questions get the same answers in a SHA-1 and a SHA-256 repository,
// in a linked worktree, and from a folder inside the work tree.
func TestAnswersDoNotDependOnTheKindOfRepository(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			r := gittest.New(t, format)
			r.Write("a/one.txt", "one\n")
			r.Write("new\nline", "x")
			base := r.Commit("one")
			r.Write("a/one.txt", "two\n")
			r.Write("b", "b\n")
			want := r.Commit("two")
			linked := filepath.Join(t.TempDir(), "linked")
			r.Git("worktree", "add", "-q", "--detach", linked, want)

			for _, dir := range []string{r.Dir, filepath.Join(r.Dir, "a"), linked} {
				repo := open(t, dir)
				c := head(t, repo)
				if c.ID != want || !slices.Equal(c.Parents, []string{base}) {
					t.Fatalf("HEAD in %s is %+v, want %s with parent %s", dir, c, want, base)
				}
				changes, err := repo.Changes(context.Background(), base, want)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, ch := range changes {
					got = append(got, string(ch.Status)+" "+ch.Path)
				}
				if !slices.Equal(got, []string{"M a/one.txt", "A b"}) {
					t.Errorf("changes are %q", got)
				}
				tree := repo.Tree("head tree", c.Tree)
				doc := gate.ReadDocument(tree, "a/one.txt", 100)
				if doc.State != gate.Present || string(doc.Data) != "two\n" {
					t.Errorf("a/one.txt reads as %+v", doc)
				}
				if e, err := tree.Stat("new\nline"); err != nil || e.Kind != gate.Regular {
					t.Errorf("a name with a line feed: %+v, %v", e, err)
				}
				for _, absent := range []string{"A/one.txt", "a/one.txt/x", "c", "a/", ""} {
					if _, err := tree.Stat(absent); !errors.Is(err, fs.ErrNotExist) {
						t.Errorf("Stat(%q) gives %v", absent, err)
					}
				}
			}
		})
	}
}

// Replace refs, grafts, foreign GIT_* variables and the repository's own
// configuration change no answer.
func TestWhatAnEarlierStepLeftBehindDoesNotCount(t *testing.T) {
	r := gittest.New(t, "")
	r.Write("a", "1\n")
	base := r.Commit("one")
	r.Write("a", "2\n")
	want := r.Commit("two")
	r.Git("replace", want, base)
	r.Git("config", "core.worktree", t.TempDir())
	r.Git("config", "diff.ignoreSubmodules", "all")
	r.Git("config", "diff.external", "/bin/false")
	r.Git("config", "core.fsmonitor", "/bin/false")
	other := gittest.New(t, "")
	other.Write("z", "z\n")
	other.Commit("other")

	repo := open(t, r.Dir,
		"GIT_DIR="+other.Dir+"/.git", "GIT_INDEX_FILE="+other.Dir+"/.git/index", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=core.abbrev", "GIT_CONFIG_VALUE_0=4", "GIT_LITERAL_PATHSPECS=0", "GIT_EXTERNAL_DIFF=/bin/false")
	c := head(t, repo)
	if c.ID != want {
		t.Fatalf("HEAD is %s, want %s", c.ID, want)
	}
	if doc := gate.ReadDocument(repo.Tree("head tree", c.Tree), "a", 10); string(doc.Data) != "2\n" {
		t.Errorf("the replaced commit was read: %q", doc.Data)
	}
	if changes, err := repo.Changes(context.Background(), base, want); err != nil || len(changes) != 1 {
		t.Errorf("changes: %v, %v", changes, err)
	}
	paths, err := repo.WorkTreeFiles(context.Background(), ".")
	if err != nil || !slices.Equal(paths, []string{"a"}) {
		t.Errorf("files: %q, %v", paths, err)
	}
}

// A hook's variables name the index that is being committed; below ci they
// count, relative ones from the folder the gate was started in.
func TestHookVariables(t *testing.T) {
	r := gittest.New(t, "")
	r.Write("a", "1\n")
	r.Commit("one")
	r.Write("b", "2\n")
	r.Git("add", "b")
	index := filepath.Join(t.TempDir(), "index")
	data, err := os.ReadFile(filepath.Join(r.Dir, ".git", "index"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(index, data, 0o600); err != nil {
		t.Fatal(err)
	}
	r.Git("rm", "-q", "--cached", "b")
	other := gittest.New(t, "")
	both, indexOnly := []string{"GIT_DIR=.git", "GIT_INDEX_FILE=" + index}, []string{"GIT_INDEX_FILE=" + index}
	for _, c := range []struct {
		name      string
		variables []string
		start     string
		serve     bool
		want      int
	}{
		{"a hook of a linked worktree", both, r.Dir, true, 2},
		{"a hook that is told its index alone, as by git commit -a", indexOnly, r.Dir, true, 2},
		{"ci", both, r.Dir, false, 1},
		{"ci, the index alone", indexOnly, r.Dir, false, 1},
		{"a hook of another repository", indexOnly, other.Dir, true, 1},
		{"a hook of another repository that is told its folder", both, other.Dir, true, 1},
	} {
		environ := append(os.Environ(), c.variables...)
		repo, err := git.Open(context.Background(), git.Options{Dir: r.Dir, StartDir: c.start, Environ: environ, ServeHooks: c.serve})
		if err != nil {
			t.Fatal(err)
		}
		x, err := repo.Index(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if got := len(x.Below(".")); got != c.want {
			t.Errorf("%s: the index has %d entries, want %d", c.name, got, c.want)
		}
		repo.Close()
	}
}

// An empty .git, or one git refuses, is no repository; the one further out is
// never used in its place.
func TestABrokenRepositoryIsNotReplacedByTheOneAbove(t *testing.T) {
	r := gittest.New(t, "")
	r.Write("inner/x", "x\n")
	r.Commit("one")
	if err := os.MkdirAll(filepath.Join(r.Dir, "inner", ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := git.Open(context.Background(), git.Options{Dir: filepath.Join(r.Dir, "inner"), Environ: os.Environ()})
	if !errors.Is(err, git.ErrNoRepository) {
		t.Errorf("got %v, want ErrNoRepository", err)
	}
	if _, err := git.Open(context.Background(), git.Options{Dir: t.TempDir(), Environ: os.Environ()}); !errors.Is(err, git.ErrNoRepository) {
		t.Errorf("got %v, want ErrNoRepository", err)
	}
}

func TestIndexAndCommitKinds(t *testing.T) {
	r := gittest.New(t, "")
	r.Write("d/file", "x\n")
	r.Write("d.txt", "x\n")
	if err := os.Symlink("file", filepath.Join(r.Dir, "d", "link")); err != nil {
		t.Fatal(err)
	}
	r.Commit("one")
	r.Git("update-index", "--add", "--cacheinfo", "160000,"+r.Git("rev-parse", "HEAD")+",d/sub")
	r.Git("commit", "-q", "-m", "two")
	repo := open(t, r.Dir)
	x, err := repo.Index(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	trees := []gate.Tree{x, repo.Tree("head tree", head(t, repo).Tree)}
	for _, tree := range trees {
		for path, want := range map[string]gate.Kind{"d": gate.Folder, "d/file": gate.Regular, "d/link": gate.Symlink, "d/sub": gate.Gitlink} {
			if e, err := tree.Stat(path); err != nil || e.Kind != want {
				t.Errorf("%s: %s is %v, %v; want %v", tree.Name(), path, e.Kind, err, want)
			}
		}
		if _, _, err := tree.Open("d/link"); !errors.Is(err, gate.ErrNotRegular) {
			t.Errorf("%s: a link opened: %v", tree.Name(), err)
		}
		list, err := tree.List("d")
		if err != nil || len(list) != 3 || list[0].Path != "d/file" {
			t.Errorf("%s: List(d) = %v, %v", tree.Name(), list, err)
		}
		if top, err := tree.List("."); err != nil || len(top) != 2 {
			t.Errorf("%s: List(.) = %v, %v", tree.Name(), top, err)
		}
	}
}

// A large object is streamed; leaving it half-read does not spoil what follows.
func TestLargeObjects(t *testing.T) {
	r := gittest.New(t, "")
	big := strings.Repeat("0123456789abcdef", 1<<18)
	r.Write("big", big)
	r.Write("small", "s\n")
	r.Commit("one")
	repo := open(t, r.Dir)
	tree := repo.Tree("head tree", head(t, repo).Tree)
	rc, e, err := tree.Open("big")
	if err != nil || e.Size != int64(len(big)) {
		t.Fatalf("%+v, %v", e, err)
	}
	if data, err := io.ReadAll(rc); err != nil || string(data) != big {
		t.Fatalf("read %d bytes, %v", len(data), err)
	}
	rc.Close()
	for _, part := range []int64{0, 10, int64(len(big)) - 5} {
		rc, _, err := tree.Open("big")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(io.Discard, rc, part); err != nil {
			t.Fatal(err)
		}
		rc.Close()
		if doc := gate.ReadDocument(tree, "small", 10); string(doc.Data) != "s\n" {
			t.Fatalf("after %d bytes of the large object the small one reads as %+v", part, doc)
		}
	}
	if doc := gate.ReadDocument(tree, "big", 100); doc.State != gate.TooLarge {
		t.Errorf("an object over the limit is %v", doc.State)
	}
}

// Two large objects are read side by side, one against the other, and small ones
// between them.
func TestLargeObjectsSideBySide(t *testing.T) {
	r := gittest.New(t, "")
	big := strings.Repeat("0123456789abcdef", 1<<17)
	r.Write("big", big)
	r.Write("other", big+"x")
	r.Write("small", "s\n")
	r.Commit("one")
	repo := open(t, r.Dir)
	tree := repo.Tree("head tree", head(t, repo).Tree)
	for range 3 {
		a, _, err := tree.Open("big")
		if err != nil {
			t.Fatal(err)
		}
		b, _, err := tree.Open("other")
		if err != nil {
			t.Fatal(err)
		}
		if doc := gate.ReadDocument(tree, "small", 10); string(doc.Data) != "s\n" {
			t.Fatalf("between large objects the small one reads as %+v", doc)
		}
		one, two := make([]byte, 1000), make([]byte, 1000)
		for range len(big) / len(one) {
			if _, err := io.ReadFull(a, one); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(b, two); err != nil || string(one) != string(two) {
				t.Fatalf("%v, or the two differ", err)
			}
		}
		if err := errors.Join(b.Close(), a.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// A repository that is closed ends the processes of readers that are not.
func TestCloseBesideAReader(t *testing.T) {
	r := gittest.New(t, "")
	r.Write("big", strings.Repeat("0123456789abcdef", 1<<17))
	r.Commit("one")
	repo := open(t, r.Dir)
	rc, _, err := repo.Tree("head tree", head(t, repo).Tree).Open("big")
	if err != nil {
		t.Fatal(err)
	}
	repo.Close()
	if _, err := io.Copy(io.Discard, rc); err == nil {
		t.Error("an object is read to its end after its process was ended")
	}
	if err := rc.Close(); err != nil {
		t.Error(err)
	}
}

func TestAncestryTagsAndRefs(t *testing.T) {
	ctx := context.Background()
	r := gittest.New(t, "")
	a := r.Commit("a")
	b := r.Commit("b")
	r.Git("tag", "-a", "-m", "t", "v1.0.0", a)
	r.Git("tag", "light", b)
	r.Git("branch", "side", a)
	r.Git("checkout", "-q", "side")
	r.Write(".ai/handoff/HANDOFF.lock", "x")
	c := r.Commit("c")
	repo := open(t, r.Dir)
	for _, x := range []struct {
		a, b string
		want bool
	}{{a, b, true}, {b, a, false}, {a, a, true}, {b, c, false}} {
		if got, err := repo.IsAncestor(ctx, x.a, x.b); err != nil || got != x.want {
			t.Errorf("IsAncestor = %v, %v; want %v", got, err, x.want)
		}
	}
	if got, err := repo.MergeBase(ctx, b, c); err != nil || got != a {
		t.Errorf("MergeBase = %s, %v", got, err)
	}
	if n, err := repo.Distance(ctx, a, b); err != nil || n != 1 {
		t.Errorf("Distance = %d, %v", n, err)
	}
	tags, err := repo.Tags(ctx)
	if err != nil || !slices.Equal(tags, []git.Tag{{Name: "light", Commit: b}, {Name: "v1.0.0", Commit: a}}) {
		t.Errorf("Tags = %v, %v", tags, err)
	}
	if got, err := repo.Ref(ctx, "refs/tags/v1.0.0"); err != nil || got != a {
		t.Errorf("Ref = %s, %v", got, err)
	}
	if got, err := repo.Ref(ctx, "refs/heads/none"); err != nil || got != "" {
		t.Errorf("Ref = %q, %v", got, err)
	}
	if names, err := repo.BranchesWith(ctx, ".ai/handoff/HANDOFF.lock"); err != nil || !slices.Equal(names, []string{"side"}) {
		t.Errorf("BranchesWith = %q, %v", names, err)
	}
	if _, err := repo.Commit(ctx, r.Git("rev-parse", "v1.0.0")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an annotated tag is taken for a commit: %v", err)
	}
}
