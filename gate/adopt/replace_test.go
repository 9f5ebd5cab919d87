package adopt

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// handoff makes a project with such files in its handoff folder.
func handoff(t testing.TB, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, ".ai", "handoff"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, body := range files {
		put(t, dir, name, body)
	}
	return dir
}

func put(t testing.TB, project, name, body string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(project, ".ai", "handoff", name), []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, project, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(project, ".ai", "handoff", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func openFolder(t testing.TB, project string) *Folder {
	t.Helper()
	f, err := OpenFolder(project, project, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// names lists the handoff folder.
func names(t testing.TB, project string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(project, ".ai", "handoff"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

var facts = Facts{Commit: UnknownCommit, Project: "sample", Now: time.Date(2026, 3, 1, 12, 30, 45, 0, time.UTC)}

// failingAt makes the operation at that place, counted from 0, fail. done lists the
// operations up to it.
func failingAt(at int, err error) (done *[]string, before func(string) error) {
	done = new([]string)
	return done, func(operation string) error {
		*done = append(*done, operation)
		if len(*done) == at+1 {
			return err
		}
		return nil
	}
}

// failing opens the folder with failingAt.
func failing(t testing.TB, project string, at int, err error) (f *Folder, done *[]string) {
	t.Helper()
	done, before := failingAt(at, err)
	f, openErr := OpenFolder(project, project, Hooks{Before: before})
	if openErr != nil {
		t.Fatal(openErr)
	}
	t.Cleanup(f.Close)
	return f, done
}

// An operation that fails leaves the target and nothing else.
func TestFailedOperation(t *testing.T) {
	failure := errors.New("no space left")
	for at := range 7 {
		project := handoff(t, map[string]string{"LOG.md": "old"})
		f, done := failing(t, project, at, failure)
		err := f.Replace("LOG.md", strings.NewReader("new text"), nil)
		if !errors.Is(err, failure) {
			t.Errorf("%q failed: Replace returns %v", *done, err)
		}
		if got := get(t, project, "LOG.md"); got != "old" {
			t.Errorf("%q failed: the target is %q", *done, got)
		}
		if left := names(t, project); len(left) != 1 {
			t.Errorf("%q failed: %q is left", *done, left)
		}
	}
}

// What cannot be flushed after the rename does not undo it.
func TestFolderThatCannotBeFlushed(t *testing.T) {
	project := handoff(t, map[string]string{"LOG.md": "old"})
	f, done := failing(t, project, 7, errors.New("not on this file system"))
	if err := f.Replace("LOG.md", strings.NewReader("new"), nil); err != nil || get(t, project, "LOG.md") != "new" {
		t.Errorf("Replace returns %v", err)
	}
	if (*done)[7] != "sync folder" {
		t.Errorf("the last of %q is not to flush the folder", *done)
	}
}

func TestReplaceAsksBefore(t *testing.T) {
	project := handoff(t, map[string]string{"LOG.md": "old"})
	f := openFolder(t, project)
	refusal := errors.New("it has changed")
	err := f.Replace("LOG.md", bytes.NewReader([]byte("new")), func() error {
		if got := get(t, project, "LOG.md"); got != "old" {
			t.Errorf("asked when the target is %q already", got)
		}
		return refusal
	})
	if !errors.Is(err, refusal) || get(t, project, "LOG.md") != "old" || len(names(t, project)) != 1 {
		t.Errorf("Replace returns %v, the folder holds %q", err, names(t, project))
	}
}

func TestReplaceKeepsTheMode(t *testing.T) {
	project := handoff(t, map[string]string{"LOG.md": "old"})
	f := openFolder(t, project)
	file := filepath.Join(project, ".ai", "handoff", "LOG.md")
	for _, mode := range []fs.FileMode{0o600, 0o664, 0o755} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		if err := f.Replace("LOG.md", strings.NewReader("new"), nil); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != mode {
			t.Errorf("mode %v became %v", mode, info.Mode())
		}
	}
}

// Two runs that write at once leave one whole file each time.
func TestReplaceAtOnce(t *testing.T) {
	project := handoff(t, nil)
	whole := map[string]bool{}
	done := make(chan error)
	const writers = 8
	for i := range writers {
		text := strings.Repeat(strconv.Itoa(i), 10_000*(i+1))
		whole[text] = true
		f := openFolder(t, project)
		go func() {
			var err error
			for range 20 {
				err = errors.Join(err, f.Replace("LOG.md", strings.NewReader(text), nil))
			}
			done <- err
		}()
	}
	for finished := 0; finished < writers; {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			finished++
		default:
			data, err := os.ReadFile(filepath.Join(project, ".ai", "handoff", "LOG.md"))
			if err == nil && !whole[string(data)] {
				t.Fatalf("a reader saw %d bytes that nobody wrote", len(data))
			}
		}
	}
	if left := names(t, project); len(left) != 1 {
		t.Errorf("%q is left", left)
	}
}

// A link is replaced, never written through.
func TestReplaceALink(t *testing.T) {
	project := handoff(t, nil)
	target := filepath.Join(project, "real.json")
	if err := os.WriteFile(target, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(project, ".ai", "handoff", "LOG.md")
	if err := os.Symlink("../../real.json", link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if err := openFolder(t, project).Replace("LOG.md", strings.NewReader("new"), nil); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != 0o600 || get(t, project, "LOG.md") != "new" {
		t.Errorf("LOG.md is now %v", info.Mode())
	}
	if data, _ := os.ReadFile(target); string(data) != "old" {
		t.Errorf("the link's target is now %q", data)
	}
}
