//go:build unix

package disk

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Folders are closed once nobody is in them and others were entered since, in
// whatever order goroutines come and go.
func TestFewFoldersStayOpen(t *testing.T) {
	dir := t.TempDir()
	const folders = 3 * keptDirs
	for i := range folders {
		p := filepath.Join(dir, fmt.Sprint(i), "sub")
		if err := os.MkdirAll(p, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(p, "file"), []byte(fmt.Sprint(i)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	before := descriptors(t)
	held, err := tree.opened.enter("0/sub")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range folders {
				r, _, err := tree.Open(fmt.Sprintf("%d/sub/file", i))
				if err != nil {
					t.Error(err)
					return
				}
				r.Close()
			}
		})
	}
	all.Wait()
	if n := descriptors(t) - before; n > keptDirs+1 {
		t.Errorf("%d more descriptors are open, want at most %d", n, keptDirs+1)
	}
	if h, err := held.open("file"); err != nil {
		t.Errorf("a folder that somebody is in was closed: %v", err)
	} else if err := h.close(); err != nil {
		t.Error(err)
	}
	tree.opened.leave(held)
	if err := tree.Close(); err != nil {
		t.Fatal(err)
	}
	if n := descriptors(t) - before; n > 0 {
		t.Errorf("%d descriptors are left", n)
	}
}

// descriptors counts the open ones of this process.
func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Skip("SKIPPED: /dev/fd is not there: ", err)
	}
	return len(entries)
}
