//go:build unix

package disk_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/disk"
)

// A path leads to what is there in the end, or out of its folder, or nowhere. What
// is outside is called so also where nothing is there.
func TestFollow(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	inside, outside := filepath.Join(dir, "inside"), filepath.Join(dir, "outside")
	for _, folder := range []string{filepath.Join(inside, "sub"), outside} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"near": "sub/file", "absolute": filepath.Join(inside, "sub", "file"), "folder": "sub", "chain": "near",
		"away": "../outside/file", "gone-away": "../outside/gone", "chain-away": "gone-away", "folder-away": outside,
		"gone": "sub/gone", "chain-gone": "gone", "self": "self",
	} {
		if err := os.Symlink(target, filepath.Join(inside, link)); err != nil {
			t.Fatal(err)
		}
	}
	loop := errors.New("another error")
	for _, tt := range []struct {
		p, rel string
		err    error
	}{
		{"sub/file", "sub/file", nil},
		{"sub/../near", "sub/file", nil},
		{"absolute", "sub/file", nil},
		{"folder/file", "sub/file", nil},
		{"chain", "sub/file", nil},
		{"none", "none", fs.ErrNotExist},
		{"gone", "sub/gone", fs.ErrNotExist},
		{"chain-gone", "sub/gone", fs.ErrNotExist},
		{"folder/none", "sub/none", fs.ErrNotExist},
		{"away", "", disk.ErrOutside},
		{"gone-away", "", disk.ErrOutside},
		{"chain-away", "", disk.ErrOutside},
		{"folder-away/file", "", disk.ErrOutside},
		{"folder-away/none", "", disk.ErrOutside},
		{"folder-away/none/deep/er", "", disk.ErrOutside},
		{"folder/none/deep/er", "sub/none/deep/er", fs.ErrNotExist},
		{"none/deep/er", "none/deep/er", fs.ErrNotExist},
		{"../outside/file", "", disk.ErrOutside},
		{"../inside2", "", disk.ErrOutside},
		{"self", "", loop},
	} {
		rel, err := disk.Follow(inside, filepath.Join(inside, tt.p))
		if errors.Is(tt.err, loop) {
			if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, disk.ErrOutside) {
				t.Errorf("%s: %q, %v", tt.p, rel, err)
			}
			continue
		}
		if rel != tt.rel || !errors.Is(err, tt.err) {
			t.Errorf("%s: %q, %v; want %q, %v", tt.p, rel, err, tt.rel, tt.err)
		}
	}
}
