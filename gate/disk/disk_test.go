//go:build unix

package disk_test

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/disk"
	"github.com/handoff-gate/handoff-gate/gate/internal/bench"
)

// workTree makes a folder with one entry of every kind, and opens it.
func workTree(t *testing.T) (dir string, work *disk.Tree) {
	t.Helper()
	dir = t.TempDir()
	outside := t.TempDir()
	write := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, "a", "file"), "text", 0o644)
	write(filepath.Join(dir, "a", "tool"), "#!", 0o755)
	write(filepath.Join(dir, "a", "new\nline"), "", 0o644)
	write(filepath.Join(dir, "a", "\xff\xfe"), "bytes", 0o644)
	write(filepath.Join(dir, "a", ".git", "config"), "", 0o644)
	write(filepath.Join(outside, "file"), "outside", 0o644)
	for link, target := range map[string]string{
		"a/inside": "file", "a/away": filepath.Join(outside, "file"), "a/nowhere": "gone", "linked": "a", "escape": outside, "self": "self", "up": "..",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "a", "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	work, err := disk.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { work.Close() })
	return dir, work
}

func TestStat(t *testing.T) {
	_, work := workTree(t)
	for _, c := range []struct {
		path string
		kind gate.Kind
		size int64
		mode uint32
	}{
		{".", gate.Folder, -1, 0},
		{"a", gate.Folder, -1, 0},
		{"a/file", gate.Regular, 4, 0o100644},
		{"a/tool", gate.Regular, 2, 0o100755},
		{"a/new\nline", gate.Regular, 0, 0o100644},
		{"a/\xff\xfe", gate.Regular, 5, 0o100644},
		{"a/inside", gate.Symlink, -1, 0},
		{"a/away", gate.Symlink, -1, 0},
		{"a/nowhere", gate.Symlink, -1, 0},
		{"linked", gate.Symlink, -1, 0},
		{"self", gate.Symlink, -1, 0},
		{"a/fifo", gate.Special, -1, 0},
	} {
		e, err := work.Stat(c.path)
		if err != nil || e.Kind != c.kind || e.Size != c.size || e.Mode != c.mode || e.Path != c.path || e.ID != "" {
			t.Errorf("Stat(%q) gives %+v, %v", c.path, e, err)
		}
	}
}

// A name is found only as its folder lists it, and nothing behind a link.
func TestWhatIsNotThere(t *testing.T) {
	_, work := workTree(t)
	for _, path := range []string{
		"", "b", "A/file", "a/FILE", "a/file/", "a//file", "./a/file", "a/./file", "a/../a/file", "../x", "/a/file", "..",
		"linked/file", "escape/file", "up/x", "self/x", "a/file/x", "a/fifo/x", "a/gone",
	} {
		if e, err := work.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Stat(%q) gives %+v, %v", path, e, err)
		}
		if r, _, err := work.Open(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Open(%q) gives %v, %v", path, r, err)
		}
	}
	for _, path := range []string{"linked", "escape", "a/file", "self", "b"} {
		if l, err := work.List(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("List(%q) gives %v, %v", path, l, err)
		}
	}
}

func TestOpen(t *testing.T) {
	_, work := workTree(t)
	for path, want := range map[string]string{"a/file": "text", "a/\xff\xfe": "bytes", "a/new\nline": ""} {
		r, e, err := work.Open(path)
		if err != nil {
			t.Errorf("%q: %v", path, err)
			continue
		}
		data, err := io.ReadAll(r)
		if string(data) != want || err != nil || e.Size != int64(len(want)) {
			t.Errorf("%q reads as %q, %v, size %d", path, data, err, e.Size)
		}
		r.Close()
	}
	// A FIFO without a writer hangs whoever opens it, and then the test.
	for _, path := range []string{"a", "a/inside", "a/away", "a/nowhere", "a/fifo", "linked", "self"} {
		if r, _, err := work.Open(path); !errors.Is(err, gate.ErrNotRegular) {
			t.Errorf("Open(%q) gives %v, %v", path, r, err)
		}
	}
}

// What was a regular file when its folder was listed may be anything when it is
// opened.
func TestSwappedBetweenListingAndOpening(t *testing.T) {
	dir, work := workTree(t)
	path := filepath.Join(dir, "a", "file")
	for name, swap := range map[string]func() error{
		"a link": func() error { return os.Symlink("tool", path) },
		"a FIFO": func() error { return syscall.Mkfifo(path, 0o644) },
		"a socket": func() error {
			l, err := net.Listen("unix", path)
			if err == nil {
				t.Cleanup(func() { l.Close() })
			}
			return err
		},
		"a folder": func() error { return os.Mkdir(path, 0o755) },
		"nothing":  func() error { return nil },
	} {
		if e, err := work.Stat("a/file"); err != nil || e.Kind != gate.Regular {
			t.Fatalf("Stat gives %+v, %v", e, err)
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := swap(); err != nil {
			if name == "a socket" && strings.Contains(err.Error(), "invalid argument") {
				continue // the path is too long for a socket on this system
			}
			t.Fatal(err)
		}
		if r, _, err := work.Open("a/file"); err == nil {
			r.Close()
			t.Errorf("%s was opened in the file's place", name)
		}
	}
}

func TestList(t *testing.T) {
	_, work := workTree(t)
	children, err := work.List("a")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range children {
		got = append(got, c.Path)
	}
	want := []string{"a/.git", "a/away", "a/fifo", "a/file", "a/inside", "a/new\nline", "a/nowhere", "a/tool", "a/\xff\xfe"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWalkFollowsNoLink(t *testing.T) {
	_, work := workTree(t)
	got, err := work.Walk(".", func(name string) bool { return name == ".git" })
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a/file", "a/new\nline", "a/tool", "a/\xff\xfe"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// No error names a folder of this machine: errors stand in reports.
func TestErrorsNameNoPath(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	dir, work := workTree(t)
	if err := os.Chmod(filepath.Join(dir, "a", "file"), 0); err != nil {
		t.Fatal(err)
	}
	doc := gate.ReadDocument(work, "a/file", 100)
	if doc.State != gate.Unreadable || strings.Contains(doc.Err.Error(), "/") {
		t.Errorf("got %+v", doc)
	}
}

// BenchmarkLookIntoADeepTree looks at what stands below 300 folders that were
// listed before, against a look at what stands at the top: a longer path to
// compare, and not every folder above once more.
func BenchmarkLookIntoADeepTree(b *testing.B) {
	dir := b.TempDir()
	deepest := strings.Repeat("d/", 299) + "d"
	if err := os.MkdirAll(filepath.Join(dir, deepest), 0o755); err != nil {
		b.Fatal(err)
	}
	work, err := disk.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer work.Close()
	looks := func(path string) func() {
		return func() {
			for range 1000 {
				if e, err := work.Stat(path); err != nil || e.Kind != gate.Folder {
					b.Fatal(e, err)
				}
			}
		}
	}
	bench.Ratio(b, 200, looks("d"), looks(deepest))
}
