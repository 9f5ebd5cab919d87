package git

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
)

func describe(t *testing.T, r *gittest.Repo) (head, url string) {
	t.Helper()
	repo, err := Open(context.Background(), Options{Dir: r.Dir, StartDir: r.Dir, Environ: gittest.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	if head, err = repo.ShortHead(context.Background()); err != nil {
		t.Fatal(err)
	}
	if url, err = repo.RemoteURL(context.Background()); err != nil {
		t.Fatal(err)
	}
	return head, url
}

func TestShortHead(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			r := gittest.New(t, format)
			if head, _ := describe(t, r); head != "" {
				t.Errorf("before the first commit HEAD is %q", head)
			}
			id := r.Commit("first")
			if head, _ := describe(t, r); head != r.Git("rev-parse", "--short", "HEAD") || len(head) != 7 {
				t.Errorf("HEAD is %q, want what rev-parse --short says", head)
			}
			r.Git("config", "core.abbrev", "12")
			if head, _ := describe(t, r); head != id[:12] {
				t.Errorf("with core.abbrev 12 HEAD is %q", head)
			}
			r.Git("config", "core.abbrev", "4")
			if head, _ := describe(t, r); head != id[:7] {
				t.Errorf("with core.abbrev 4 HEAD is %q, want seven digits", head)
			}
			r.Git("checkout", "-q", "--detach")
			if head, _ := describe(t, r); head != id[:7] {
				t.Errorf("detached HEAD is %q", head)
			}
		})
	}
}

func TestShortHeadOfALinkedWorktree(t *testing.T) {
	r := gittest.New(t, "")
	id := r.Commit("first")
	dir := filepath.Join(t.TempDir(), "linked")
	r.Git("worktree", "add", "-q", dir)
	linked := *r
	linked.Dir = dir
	if head, _ := describe(t, &linked); !strings.HasPrefix(id, head) || head == "" {
		t.Errorf("HEAD of a linked worktree is %q", head)
	}
}

func TestRemoteURL(t *testing.T) {
	r := gittest.New(t, "")
	want := func(want string) {
		t.Helper()
		if _, url := describe(t, r); url != want {
			t.Errorf("URL is %q, want %q", url, want)
		}
	}
	want("")
	r.Git("remote", "add", "upstream", "https://example.com/u/up.git")
	want("https://example.com/u/up.git")
	r.Git("remote", "add", "a.b", "git@example.com:a/b.git")
	want("git@example.com:a/b.git")
	r.Git("remote", "add", "origin", "https://example.com/o/origin.git")
	r.Git("remote", "set-url", "--add", "origin", "https://example.com/o/second.git")
	want("https://example.com/o/origin.git")
}

// No other remote stands in for origin.
func TestOriginURL(t *testing.T) {
	r := gittest.New(t, "")
	r.Git("remote", "add", "upstream", "https://example.com/u/up.git")
	for _, want := range []string{"", "https://example.com/o/origin.git"} {
		if got, err := open(t, r).OriginURL(context.Background()); err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
		if want == "" {
			r.Git("remote", "add", "origin", "https://example.com/o/origin.git")
			r.Git("remote", "set-url", "--add", "origin", "https://example.com/o/second.git")
		}
	}
}

func TestFirstRemote(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"origin first", "remote.origin.url\nA\x00remote.b.url\nB\x00", "A"},
		{"origin last", "remote.b.url\nB\x00remote.a.url\nA\x00remote.origin.url\nO\x00", "O"},
		{"by name", "remote.b.url\nB\x00remote.a.url\nA\x00", "A"},
		{"by bytes", "remote.b.url\nB\x00remote.Z.url\nZ\x00", "Z"},
		{"the first of two", "remote.a.url\n1\x00remote.a.url\n2\x00", "1"},
		{"a key without a value", "remote.origin.url\x00remote.b.url\nB\x00", "B"},
		{"an empty value", "remote.origin.url\n\x00remote.b.url\nB\x00", "B"},
		{"a line end in the value", "remote.a.url\nx\ny\x00", "x\ny"},
	} {
		if got := firstRemote(tt.in); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
