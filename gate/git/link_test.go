package git_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
)

// A link is read as the commit has it, whatever the checkout made of it. A blob
// that no system could follow is none.
func TestReadLink(t *testing.T) {
	r := gittest.New(t, "sha1")
	r.Write("file", "text")
	for name, target := range map[string]string{"a/link": "../file", "absolute": "/etc/passwd"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(r.Dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(r.Dir, name)); err != nil {
			t.Skipf("SKIPPED: no symbolic links here: %v", err)
		}
	}
	r.Write("long", strings.Repeat("x/", 3000))
	r.Git("add", "-A")
	r.Git("update-index", "--cacheinfo", "120000,"+r.Git("rev-parse", ":long")+",long")
	r.Git("commit", "-q", "-m", "links")
	repo := open(t, r.Dir)
	tree := repo.Tree("head tree", head(t, repo).Tree)
	for link, want := range map[string]string{"a/link": "../file", "absolute": "/etc/passwd"} {
		if got, err := tree.ReadLink(link); got != want || err != nil {
			t.Errorf("ReadLink(%q) = %q, %v; want %q", link, got, err, want)
		}
	}
	for _, p := range []string{"file", "a", "long"} {
		if _, err := tree.ReadLink(p); !errors.Is(err, gate.ErrNotLink) {
			t.Errorf("ReadLink(%q): %v", p, err)
		}
	}
	if _, err := tree.ReadLink("gone"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadLink of nothing: %v", err)
	}
}
