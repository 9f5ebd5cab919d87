//go:build unix

package git

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
)

func TestFetchedFilesAreGivenToTheOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root leaves files that have to be given away")
	}
	r := gittest.New(t, "sha1")
	r.Write("a", "a")
	r.Commit("first")
	repo, err := Open(context.Background(), Options{Dir: r.Dir, StartDir: r.Dir, Environ: gittest.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	dir := filepath.Join(r.Dir, ".git")
	outside := filepath.Join(t.TempDir(), "outside")
	others := filepath.Join(dir, "objects", "others")
	for _, name := range []string{outside, filepath.Join(dir, "shallow"), others} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Somebody else's file is left as it is, as is what a link leads to.
	if err := os.Chown(others, 4711, 4711); err != nil {
		t.Skip("SKIPPED: no other owner can be set here: ", err)
	}
	for name, target := range map[string]string{"file": outside, "folder": filepath.Dir(outside)} {
		if err := os.Symlink(target, filepath.Join(dir, "objects", name)); err != nil {
			t.Fatal(err)
		}
	}
	const owner = 12345
	if err := os.Lchown(dir, owner, owner); err != nil {
		t.Fatal(err)
	}
	repo.giveBack(context.Background())
	for name, want := range map[string]uint32{
		"shallow": owner, "objects": owner, "objects/pack": owner, "objects/others": 4711, "HEAD": 0,
	} {
		if got := ownerOf(t, filepath.Join(dir, name)); got != want {
			t.Errorf("%s belongs to %d, not to %d", name, got, want)
		}
	}
	if got := ownerOf(t, outside); got != 0 {
		t.Errorf("a file outside belongs to %d", got)
	}
}

func ownerOf(t *testing.T, name string) uint32 {
	t.Helper()
	info, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Uid
}
