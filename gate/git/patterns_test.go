package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
)

// Pathspecs are git's: `*` crosses folders, magic words count, and they are taken
// in the folder that is asked about. What is not tracked or not below it is left
// out.
func TestTracked(t *testing.T) {
	r := gittest.New(t, "")
	for _, name := range []string{"a.md", "sub/b.md", "sub/deep/c.md", "sub/d.txt", "sub/*.md"} {
		r.Write(name, "x\n")
	}
	r.Commit("all")
	r.Write("sub/untracked.md", "x\n")
	repo := open(t, r)
	for _, tt := range []struct {
		dir, pathspecs, want string
	}{
		{".", "*.md", "a.md sub/*.md sub/b.md sub/deep/c.md"},
		{".", "sub/*.md", "sub/*.md sub/b.md sub/deep/c.md"},
		{"sub", "*.md", "sub/*.md sub/b.md sub/deep/c.md"},
		{"sub", "*.md :!deep", "sub/*.md sub/b.md"},
		{"sub", ":(literal)*.md", "sub/*.md"},
		{"sub", ":(glob)*.md", "sub/*.md sub/b.md"},
		{"sub", "untracked.md", ""},
		{"sub", "../a.md :/a.md d.txt", "sub/d.txt"},
		{"sub/deep", ".", "sub/deep/c.md"},
		{".", "-o", ""}, // no option
	} {
		got, err := repo.Tracked(context.Background(), tt.dir, strings.Fields(tt.pathspecs))
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("%s in %s: %q, %v", tt.pathspecs, tt.dir, got, err)
		}
	}
	for _, refused := range []string{":(nonsense)x", "../../outside"} {
		_, err := repo.Tracked(context.Background(), "sub", []string{refused})
		var e *Error
		if !errors.As(err, &e) || e.Status <= 0 {
			t.Errorf("%s: %v", refused, err)
		}
	}
}

// An unmerged path has several entries in the index and is one file.
func TestTrackedNamesAnUnmergedPathOnce(t *testing.T) {
	r := gittest.New(t, "")
	r.Write("a.md", "1\n")
	base := r.Commit("base")
	r.Write("a.md", "2\n")
	r.Commit("here")
	r.Git("checkout", "-q", "-b", "there", base)
	r.Write("a.md", "3\n")
	r.Commit("there")
	if _, err := r.Try("merge", "-q", "main"); err == nil {
		t.Fatal("the merge has no conflict")
	}
	got, err := open(t, r).Tracked(context.Background(), ".", []string{"*.md"})
	if err != nil || !slices.Equal(got, []string{"a.md"}) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestHookDir(t *testing.T) {
	r := gittest.New(t, "")
	r.Commit("first")
	temporary, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	linked := gittest.At(t, filepath.Join(temporary, "linked"))
	r.Git("worktree", "add", "-q", linked.Dir)
	r.Write("sub/x", "x\n")
	home := t.TempDir()
	common := filepath.Join(r.Dir, ".git")
	check := func(dir, hooks string, environ ...string) {
		t.Helper()
		env := append(slices.DeleteFunc(os.Environ(), func(kv string) bool {
			return strings.HasPrefix(kv, "GIT_") || strings.HasPrefix(kv, "HOME=") || strings.HasPrefix(kv, "XDG_")
		}), "HOME="+home, "GIT_CONFIG_NOSYSTEM=1")
		repo, err := Open(context.Background(), Options{Dir: dir, StartDir: dir, Environ: append(env, environ...)})
		if err != nil {
			t.Fatal(err)
		}
		defer repo.Close()
		gotHooks, gotCommon, err := repo.HookDir(context.Background())
		if err != nil || gotHooks != hooks || gotCommon != common {
			t.Errorf("%q, %q, %v; want %q, %q", gotHooks, gotCommon, err, hooks, common)
		}
	}
	check(r.Dir, filepath.Join(common, "hooks"))
	check(filepath.Join(r.Dir, "sub"), filepath.Join(common, "hooks"))
	check(linked.Dir, filepath.Join(common, "hooks"))
	// The user's own configuration counts, whatever it stands in.
	check(r.Dir, "/elsewhere", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0=/elsewhere")
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[core]\n\thooksPath = ~/hooks\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(r.Dir, filepath.Join(home, "hooks"))
	check(r.Dir, filepath.Join(common, "hooks"), "GIT_CONFIG_GLOBAL=/dev/null")
	// A relative one is taken from the top level, that of a linked worktree its own.
	r.Git("config", "core.hooksPath", ".githooks")
	check(r.Dir, filepath.Join(r.Dir, ".githooks"))
	check(filepath.Join(r.Dir, "sub"), filepath.Join(r.Dir, ".githooks"))
	check(linked.Dir, filepath.Join(linked.Dir, ".githooks"))
	r.Git("config", "core.hooksPath", "")
	check(r.Dir, "/")
	// Variables of a hook that calls this do not.
	r.Git("config", "--unset", "core.hooksPath")
	check(r.Dir, filepath.Join(home, "hooks"), "GIT_DIR="+home)
}
