package disk_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/disk"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	check := func(name, text string, mode fs.FileMode) {
		t.Helper()
		data, err := os.ReadFile(name)
		if err != nil || string(data) != text {
			t.Errorf("%s holds %q, %v, want %q", filepath.Base(name), data, err, text)
		}
		if info, err := os.Stat(name); err == nil && runtime.GOOS != "windows" && info.Mode().Perm() != mode {
			t.Errorf("%s has the mode %04o, want %04o", filepath.Base(name), info.Mode().Perm(), mode)
		}
	}
	write := func(text string, o disk.WriteOptions, want error) {
		t.Helper()
		if err := disk.Write(file, []byte(text), o); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
	write("one", disk.WriteOptions{Mode: 0o600, New: true}, nil)
	check(file, "one", 0o600)
	write("two", disk.WriteOptions{Mode: 0o600, New: true}, fs.ErrExist)
	check(file, "one", 0o600)
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	write("three", disk.WriteOptions{Mode: 0o644}, nil)
	check(file, "three", 0o640) // that of the old one
	write("four", disk.WriteOptions{Mode: 0o600, Private: true}, nil)
	check(file, "four", 0o600)

	// A link stays one.
	link := filepath.Join(dir, "link")
	if err := os.Symlink("file", link); err != nil {
		t.Skip("this system makes no links: ", err)
	}
	if err := disk.Write(link, []byte("five"), disk.WriteOptions{Mode: 0o644}); err != nil {
		t.Error(err)
	}
	check(file, "five", 0o600)
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link is gone", err)
	}

	// What cannot be written leaves nothing behind.
	if err := disk.Write(dir, nil, disk.WriteOptions{Mode: 0o644}); err == nil {
		t.Error("a folder is replaced")
	}
	if err := disk.Write(filepath.Join(dir, "none", "file"), nil, disk.WriteOptions{Mode: 0o644}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 2 {
		t.Errorf("%d names are left: %v, %v", len(names), names, err)
	}
}
