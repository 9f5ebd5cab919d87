//go:build unix

package disk_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/disk"
)

// What is outside is never looked at: a link there says ErrOutside whether or not
// it leads to something.
func TestOpenWithin(t *testing.T) {
	dir := t.TempDir()
	inside := filepath.Join(dir, "inside")
	for _, f := range []string{"inside/sub/deep/file", "inside/file", "outside/file"} {
		f = filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, []byte(filepath.Base(filepath.Dir(f))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"near": "sub/deep/file", "folder": "sub", "sub/up": "../file", "sub/deep/far-up": "../../file", "chain": "folder/deep/file", "here": ".",
		"dotted": "./sub/../file", "absolute": filepath.Join(inside, "file"), "away": "../outside/file", "gone-away": "../outside/none",
		"sub/away": "../../outside/file", "folder-away": "../outside", "around": "../inside/file", "gone": "sub/none", "self": "self", "ping": "pong",
		"pong": "ping", "through-file": "file/x",
	} {
		if err := os.Symlink(target, filepath.Join(inside, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(inside, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	tree, err := disk.Open(inside)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	for _, tt := range []struct {
		p, text string
		err     error
	}{
		{"file", "inside", nil},
		{"./sub//deep/./file", "deep", nil},
		{"near", "deep", nil},
		{"folder/deep/file", "deep", nil},
		{"folder/up", "inside", nil},
		{"sub/deep/far-up", "inside", nil},
		{"chain", "deep", nil},
		{"here/file", "inside", nil},
		{"here/here/near", "deep", nil},
		{"dotted", "inside", nil},
		{"none", "", fs.ErrNotExist},
		{"none/none", "", fs.ErrNotExist},
		{"file/", "", fs.ErrNotExist},
		{"file/x", "", fs.ErrNotExist},
		{"through-file", "", fs.ErrNotExist},
		{"sub", "", fs.ErrNotExist},
		{"folder", "", fs.ErrNotExist},
		{".", "", fs.ErrNotExist},
		{"here", "", fs.ErrNotExist},
		{"pipe", "", fs.ErrNotExist},
		{"gone", "", fs.ErrNotExist},
		{"self", "", fs.ErrNotExist},
		{"ping", "", fs.ErrNotExist},
		{"absolute", "", disk.ErrOutside},
		{"away", "", disk.ErrOutside},
		{"gone-away", "", disk.ErrOutside},
		{"sub/away", "", disk.ErrOutside},
		{"folder/away", "", disk.ErrOutside},
		{"folder-away/file", "", disk.ErrOutside},
		{"folder-away/none", "", disk.ErrOutside},
		{"around", "", disk.ErrOutside},
		{"../outside/file", "", disk.ErrOutside},
		{"..", "", disk.ErrOutside},
	} {
		f, err := tree.OpenWithin(tt.p)
		if !errors.Is(err, tt.err) {
			t.Errorf("%s: %v, want %v", tt.p, err, tt.err)
		}
		if err != nil {
			continue
		}
		text, err := io.ReadAll(f)
		if err != nil || string(text) != tt.text {
			t.Errorf("%s: %q, %v, want %q", tt.p, text, err, tt.text)
		}
		f.Close()
	}
}
