package adopt

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
)

// entriesOf makes a log of so many entries, the newest first.
func entriesOf(n int) string {
	var all []string
	for i := n; i > 0; i-- {
		all = append(all, fmt.Sprintf("## [2026-06-%02d] Agent: n%d\n\nText %d.", i, i, i))
	}
	return "# Log\n\n---\n\n" + strings.Join(all, "\n\n---\n\n") + "\n"
}

// files gives what the handoff folder holds.
func files(t testing.TB, project string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range names(t, project) {
		all[name] = get(t, project, name)
	}
	return all
}

// rotate does what the command archive does.
func rotate(t testing.TB, project string, hooks Hooks, keep int) (moved int, err error) {
	t.Helper()
	f, err := OpenFolder(project, project, hooks)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.LockJournal(); err != nil {
		return 0, err
	}
	j, err := f.ReadLog()
	if err != nil {
		return 0, err
	}
	defer j.Close()
	r, err := j.Rotate(keep)
	if err != nil {
		return 0, err
	}
	return len(r.Moved), nil
}

// archived makes a project whose archive and index hold two entries, and whose log
// has three more.
func archived(t testing.TB) string {
	t.Helper()
	project := handoff(t, map[string]string{logName: entriesOf(3)})
	if moved, err := rotate(t, project, Hooks{}, 1); moved != 2 || err != nil {
		t.Fatalf("%d moved, %v", moved, err)
	}
	put(t, project, logName, entriesOf(6))
	return project
}

// An operation that fails leaves no entry lost, no file half written and nothing
// beside them; the next run completes the work.
func TestArchiveWhereAnOperationFails(t *testing.T) {
	whole := archived(t)
	old := files(t, whole)
	if _, err := rotate(t, whole, Hooks{}, 2); err != nil {
		t.Fatal(err)
	}
	complete := files(t, whole)
	failure := errors.New("no space left")
	// Of the eight operations on each of three files, the last is allowed to fail.
	for at := range 24 {
		project := archived(t)
		done, before := failingAt(at, failure)
		_, err := rotate(t, project, Hooks{Before: before}, 2)
		operation := (*done)[at]
		if wanted := operation != "sync folder"; errors.Is(err, failure) != wanted {
			t.Errorf("%s failed: %v", operation, err)
		}
		for name, text := range files(t, project) {
			if text != old[name] && text != complete[name] {
				t.Errorf("%q failed: %s is %q", *done, name, text)
			}
		}
		if _, err := rotate(t, project, Hooks{}, 2); err != nil {
			t.Errorf("after %q failed, the next run does: %v", *done, err)
		}
		if got := files(t, project); !maps.Equal(got, complete) {
			t.Errorf("after %q failed, the next run leaves %q", *done, got)
		}
	}
}

// A file that somebody changes meanwhile is never replaced, and the run ends.
func TestArchiveComparesBeforeItReplaces(t *testing.T) {
	for _, tt := range []struct {
		changed string // the file
		before  string // the operation ahead of which it changes
		nth     int    // of that name
		written []string
	}{
		{logName, "sync", 0, nil},
		{ArchiveName, "sync", 0, nil},
		{IndexName, "sync", 0, nil},
		{IndexName, "sync", 1, []string{ArchiveName}},
		{ArchiveName, "sync", 1, []string{ArchiveName}},
		{logName, "sync", 2, []string{ArchiveName, IndexName}},
		{ArchiveName, "sync", 2, []string{ArchiveName, IndexName}},
	} {
		t.Run(fmt.Sprintf("%s at %d", tt.changed, tt.nth), func(t *testing.T) {
			project := archived(t)
			before := files(t, project)
			n := 0
			changed := ""
			_, err := rotate(t, project, Hooks{Before: func(operation string) error {
				if operation == tt.before {
					if n == tt.nth {
						changed = get(t, project, tt.changed) + "\nby somebody else\n"
						put(t, project, tt.changed, changed)
					}
					n++
				}
				return nil
			}}, 2)
			if err == nil || !strings.Contains(err.Error(), tt.changed+" was changed while this run was at work") {
				t.Errorf("the run ends with %v", err)
			}
			if got := get(t, project, tt.changed); got != changed {
				t.Errorf("%s is now %q", tt.changed, got)
			}
			written := map[string]bool{tt.changed: true}
			for _, name := range tt.written {
				written[name] = true
			}
			for name, text := range files(t, project) {
				if (text != before[name]) != written[name] {
					t.Errorf("%s was written: %v", name, text != before[name])
				}
			}
		})
	}
}

// A file that appears where there was none is a change, too, and so is one that
// goes away.
func TestArchiveSeesFilesComeAndGo(t *testing.T) {
	for _, name := range []string{ArchiveName, IndexName, logName} {
		project := handoff(t, map[string]string{logName: entriesOf(3)})
		_, err := rotate(t, project, Hooks{Before: func(operation string) error {
			file := filepath.Join(project, ".ai", "handoff", name)
			if operation != "sync" {
				return nil
			}
			if name == logName {
				return os.Remove(file)
			}
			return os.WriteFile(file, []byte("# Mine\n"), 0o644)
		}}, 1)
		if err == nil || !strings.Contains(err.Error(), name+" was changed") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOneRunOfArchiveAtATime(t *testing.T) {
	project := archived(t)
	first := openFolder(t, project)
	if err := first.LockJournal(); err != nil {
		t.Fatal(err)
	}
	before := files(t, project)
	if _, err := rotate(t, project, Hooks{}, 1); err == nil || !strings.Contains(err.Error(), "another run is writing the journal") {
		t.Errorf("while one has the lock, another ends with %v", err)
	}
	if !maps.Equal(files(t, project), before) {
		t.Error("it wrote something")
	}
	first.Close()
	if _, err := rotate(t, project, Hooks{}, 1); err != nil {
		t.Error(err)
	}
}

// What would be larger than anything that is read is not written.
func TestBoundedContent(t *testing.T) {
	b := &boundedContent{content: endless{}, report: func(int64) {}}
	n := int64(0)
	_, err := b.WriteTo(writerFunc(func(p []byte) (int, error) {
		n += int64(len(p))
		return len(p), nil
	}))
	if err == nil || !strings.Contains(err.Error(), "larger than the limit of 256 MiB") || n > gate.MaxHandoffFile {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// endless is a text that never ends.
type endless struct{}

func (endless) WriteTo(w io.Writer) (n int64, err error) {
	piece := make([]byte, 1<<20)
	for err == nil {
		_, err = w.Write(piece)
	}
	return 0, err
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
