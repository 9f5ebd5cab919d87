//go:build unix

package disk_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/disk"
)

// A scan of many files opens regular files alone, and never waits for one or
// leaves the work tree through a link.
func TestFolderOpensRegularFilesAlone(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755),
		os.WriteFile(filepath.Join(dir, "a", "b", "file"), []byte("text"), 0o644),
		os.WriteFile(filepath.Join(dir, "top"), nil, 0o644),
		os.WriteFile(outside, []byte("outside"), 0o644),
		os.Symlink("file", filepath.Join(dir, "a", "b", "link")),
		os.Symlink(outside, filepath.Join(dir, "a", "b", "away")),
		os.Symlink("b", filepath.Join(dir, "a", "linked")),
		syscall.Mkfifo(filepath.Join(dir, "a", "b", "fifo"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	work, err := disk.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer work.Close()
	folder := work.Folder()
	defer folder.Close()
	for path, want := range map[string]string{
		"a/b/file": "text", "top": "", "a/b/link": "passed over", "a/b/away": "passed over", "a/linked/file": "passed over",
		"a/b/fifo": "passed over", "a/b": "passed over", "a/b/gone": "passed over", "..": "passed over", "a/../top": "passed over",
		"../" + filepath.Base(dir) + "/top": "passed over", "a//b/file": "passed over", "a/./b/file": "passed over", "gone/file": "passed over", "top/file": "passed over",
	} {
		f, err := folder.Open(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		got := "passed over"
		if f != nil {
			data, err := io.ReadAll(f)
			if got = string(data); err != nil || f.Size() != int64(len(data)) {
				t.Errorf("%s: %v, size %d", path, err, f.Size())
			}
			part := make([]byte, 2)
			if n, err := f.ReadAt(part, 1); string(part[:n]) != got[min(1, len(got)):min(3, len(got))] || n < len(part) && !errors.Is(err, io.EOF) {
				t.Errorf("%s: ReadAt gives %q, %v", path, part[:n], err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			if _, err := f.ReadAt(part, 0); err == nil {
				t.Errorf("%s can be read at a place after it was closed", path)
			}
			if _, err := f.Read(make([]byte, 1)); err == nil {
				t.Errorf("%s can be read after it was closed", path)
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// A file that is written to while it is read is read to its new end, and one
// that is cut short to where it ends now.
func TestFileThatChangesWhileItIsRead(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after int
	}{{"grows", 3000, 5000}, {"shrinks", 5000, 3000}, {"had no size", 0, 10}} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			if err := os.WriteFile(path, bytes.Repeat([]byte{'a'}, c.before), 0o644); err != nil {
				t.Fatal(err)
			}
			work, err := disk.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer work.Close()
			folder := work.Folder()
			defer folder.Close()
			f, err := folder.Open("file")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if err := os.WriteFile(path, bytes.Repeat([]byte{'b'}, c.after), 0o644); err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(f)
			if err != nil || len(data) != c.after {
				t.Errorf("%d bytes, %v; want %d", len(data), err, c.after)
			}
		})
	}
}
