package wholefile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/wholefile"
)

// folders opens a folder in each way.
func folders(t *testing.T, dir string) map[string]wholefile.Folder {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return map[string]wholefile.Folder{"path": wholefile.In(dir), "root": wholefile.InRoot(root)}
}

// A call that fails leaves what was there and nothing else, whichever it is. Only
// that a folder cannot be flushed comes after the new text.
func TestFailedOperation(t *testing.T) {
	failure := errors.New("no space left")
	for _, tt := range []struct {
		name, operations string
		old              string // "" is none
		o                wholefile.Options
		final            error // where the last operation fails
	}{
		{"created", "create, write, write, sync, close, rename f, sync folder", "", wholefile.Options{Mode: 0o644}, nil},
		{"replaced", "create, write, write, chmod, sync, close, rename f, sync folder", "old", wholefile.Options{Mode: 0o640, Exact: true}, nil},
		{"durable", "create, write, write, sync, close, rename f, sync folder", "old", wholefile.Options{Mode: 0o600, Durable: true}, failure},
	} {
		for kind := range folders(t, t.TempDir()) {
			t.Run(tt.name+" in a "+kind, func(t *testing.T) {
				operations := strings.Split(tt.operations, ", ")
				for at := range len(operations) + 1 {
					dir := t.TempDir()
					file := filepath.Join(dir, "f")
					if tt.old != "" {
						if err := os.WriteFile(file, []byte(tt.old), 0o600); err != nil {
							t.Fatal(err)
						}
					}
					var done []string
					folder := wholefile.Watch(folders(t, dir)[kind], func(operation string) error {
						done = append(done, operation)
						if len(done)-1 == at {
							return failure
						}
						return nil
					})
					err := wholefile.Write(folder, "f", strings.NewReader("new"), tt.o)
					want, text := failure, tt.old
					switch at {
					case len(operations):
						want, text = nil, "new"
						if got := strings.Join(done, ", "); got != tt.operations {
							t.Errorf("the operations are %s", got)
						}
					case len(operations) - 1:
						want, text = tt.final, "new"
					}
					if !errors.Is(err, want) {
						t.Errorf("%q failed: %v, want %v", done, err, want)
					}
					if data, _ := os.ReadFile(file); string(data) != text {
						t.Errorf("%q failed: the file holds %q, want %q", done, data, text)
					}
					if got, want := len(names(t, dir)), min(len(text), 1); got != want {
						t.Errorf("%q failed: %q are left", done, names(t, dir))
					}
					if info, err := os.Stat(file); text == "new" && tt.o.Exact && runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != tt.o.Mode) {
						t.Errorf("the mode is %v (%v)", info.Mode(), err)
					}
				}
			})
		}
	}
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// A new file takes no name that somebody else took meanwhile, also where the file
// system knows no links.
func TestNew(t *testing.T) {
	noLinks := errors.New("no links here")
	for _, tt := range []struct {
		name         string
		links, taken bool
	}{{"free", true, false}, {"taken", true, true}, {"free, no links", false, false}, {"taken, no links", false, true}} {
		for kind := range folders(t, t.TempDir()) {
			t.Run(tt.name+", in a "+kind, func(t *testing.T) {
				dir := t.TempDir()
				file := filepath.Join(dir, "f")
				folder := wholefile.Watch(folders(t, dir)[kind], func(operation string) error {
					if operation == "link f" && !tt.links {
						return noLinks
					}
					return nil
				})
				text, want := "new", error(nil)
				o := wholefile.Options{Mode: 0o600, New: true, Before: func() error {
					if !tt.taken {
						return nil
					}
					return os.WriteFile(file, []byte("theirs"), 0o600)
				}}
				if tt.taken {
					text, want = "theirs", fs.ErrExist
				}
				if err := wholefile.Write(folder, "f", strings.NewReader("new"), o); !errors.Is(err, want) {
					t.Errorf("got %v, want %v", err, want)
				}
				if data, _ := os.ReadFile(file); string(data) != text || len(names(t, dir)) != 1 {
					t.Errorf("the file holds %q, want %q; the folder holds %q", data, text, names(t, dir))
				}
			})
		}
	}
}

// What Before refuses is not placed.
func TestBefore(t *testing.T) {
	dir := t.TempDir()
	refusal := errors.New("it has changed")
	err := wholefile.Write(wholefile.In(dir), "f", strings.NewReader("new"), wholefile.Options{Mode: 0o600, Before: func() error { return refusal }})
	if !errors.Is(err, refusal) || len(names(t, dir)) != 0 {
		t.Errorf("got %v; %q are left", err, names(t, dir))
	}
}

// A new file whose name may not last is not left behind: a second try would find the
// name taken.
func TestNewAndNotDurable(t *testing.T) {
	failure := errors.New("input/output error")
	for kind := range folders(t, t.TempDir()) {
		dir := t.TempDir()
		folder := wholefile.Watch(folders(t, dir)[kind], func(operation string) error {
			if operation == "sync folder" {
				return failure
			}
			return nil
		})
		err := wholefile.Write(folder, "f", strings.NewReader("new"), wholefile.Options{Mode: 0o600, New: true, Durable: true})
		if !errors.Is(err, failure) || len(names(t, dir)) != 0 {
			t.Errorf("in a %s: got %v; %q are left", kind, err, names(t, dir))
		}
	}
}
