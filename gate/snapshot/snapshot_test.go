package snapshot_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/fake"
	"github.com/handoff-gate/handoff-gate/gate/snapshot"
)

const folder = ".ai/handoff/"

// digest is what a manifest records, made from a copy without CR: apart from
// the code under test, which makes none.
func digest(data string) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(strings.ReplaceAll(data, "\r", ""))))
}

// blob is git's id of a file.
func blob(data string) string {
	return fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(data), data)))
}

func read(t *testing.T, tree gate.Tree, o snapshot.Options) *snapshot.Set {
	t.Helper()
	s, err := snapshot.Read(context.Background(), tree, ".", o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A file larger than the buffer is read in parts, with a CR at the seam.
func TestLargeFileIsHashedInParts(t *testing.T) {
	data := strings.Repeat("x", 256<<10-1) + "\r\n" + strings.Repeat("y\r\n", 100_000)
	s := read(t, fake.Files(map[string]string{folder + "LOG.md": data}), snapshot.Options{IDLength: 40})
	f := s.File("LOG.md")
	if f == nil || f.State != gate.Present || f.Digest != digest(data) || f.Blob != blob(data) {
		t.Errorf("got %+v", f)
	}
}

// Everything below the folder is listed, links and special files too, but
// nothing is read through them and no folder .git is entered.
func TestWhatIsListed(t *testing.T) {
	s := read(t, fake.Tree{
		folder + "STATUS.md":     {Data: "x"},
		folder + "parts/a.md":    {Data: "y"},
		folder + "parts/link":    {Data: "z", Kind: gate.Symlink},
		folder + "pipe":          {Kind: gate.Special},
		folder + "sub":           {Kind: gate.Gitlink},
		folder + "merge.md":      {Kind: gate.Unmerged},
		folder + "lost.md":       {Data: "x", Lost: errors.New("no such object")},
		folder + "x/.git/config": {Data: "x"},
		folder + "\xff":          {Data: "x"},
		".ai/other":              {Data: "x"},
		"src/app.js":             {Data: "x"},
	}, snapshot.Options{})
	want := map[string]gate.State{
		"STATUS.md": gate.Present, "parts/a.md": gate.Present, "parts/link": gate.NotRegular, "pipe": gate.NotRegular, "sub": gate.NotRegular,
		"merge.md": gate.NotRegular, "lost.md": gate.Unreadable, "\xff": gate.Present,
	}
	got := map[string]gate.State{}
	var names []string
	for _, f := range s.Files {
		got[f.Name] = f.State
		names = append(names, f.Name)
		if (f.State == gate.Present) != (f.Err == nil) || (f.State == gate.Present) != (f.Digest != "") {
			t.Errorf("%s: state %d, digest %q, error %v", f.Name, f.State, f.Digest, f.Err)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if !slices.IsSorted(names) {
		t.Errorf("names are not in order: %q", names)
	}
	for name, want := range map[string]bool{"STATUS.md": true, "parts": true, "pipe": true, "a.md": false, "status.md": false, "parts/a.md": false, "": false} {
		if s.Has(name) != want {
			t.Errorf("Has(%q) is %v", name, !want)
		}
	}
	if s.File("parts") != nil || s.File("status.md") != nil || s.File("parts/a.md") == nil {
		t.Error("File finds a folder, another name, or not its own")
	}
}

func TestHandoffFolderThatIsNone(t *testing.T) {
	for _, c := range []struct {
		name string
		tree fake.Tree
		want string
		kind gate.Kind
	}{
		{"absent", fake.Files(map[string]string{"README.md": "x"}), "", 0},
		{"a link", fake.Tree{".ai/handoff": {Kind: gate.Symlink}}, ".ai/handoff", gate.Symlink},
		{"a file", fake.Tree{".ai/handoff": {Data: "x"}}, ".ai/handoff", gate.Regular},
		{"below a link", fake.Tree{".ai": {Kind: gate.Symlink}}, ".ai", gate.Symlink},
		{"a submodule", fake.Tree{".ai/handoff": {Kind: gate.Gitlink}}, ".ai/handoff", gate.Gitlink},
	} {
		s := read(t, c.tree, snapshot.Options{})
		if s.NotReal != c.want || s.NotRealKind != c.kind || len(s.Files) > 0 || s.Manifest.State != gate.Absent {
			t.Errorf("%s: got %+v", c.name, s)
		}
	}
}

func TestLFSPointer(t *testing.T) {
	s := read(t, fake.Files(map[string]string{
		folder + "a.md": "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
		folder + "b.md": "\nversion https://git-lfs.github.com/spec/v1\n",
	}), snapshot.Options{})
	if !s.File("a.md").LFSPointer || s.File("b.md").LFSPointer {
		t.Errorf("got %v and %v", s.File("a.md").LFSPointer, s.File("b.md").LFSPointer)
	}
}

// commit is a tree whose entries have git's ids, as those of a commit do. It
// counts how often its files are opened, which may be by several at once.
type commit struct {
	fake.Tree
	mu     *sync.Mutex
	opened map[string]int
}

func (c commit) withID(e gate.Entry) gate.Entry {
	if e.Kind == gate.Regular {
		e.ID = blob(c.Tree[e.Path].Data)
	}
	return e
}

func (c commit) Stat(p string) (gate.Entry, error) {
	e, err := c.Tree.Stat(p)
	return c.withID(e), err
}

func (c commit) List(dir string) ([]gate.Entry, error) {
	entries, err := c.Tree.List(dir)
	for i := range entries {
		entries[i] = c.withID(entries[i])
	}
	return entries, err
}

func (c commit) Open(p string) (io.ReadCloser, gate.Entry, error) {
	c.mu.Lock()
	c.opened[p]++
	c.mu.Unlock()
	return c.Tree.Open(p)
}

// What the working tree holds in the same bytes under the same name is not read
// again from the commit; everything else is.
func TestFilesOfTheSameBlobAreReadOnce(t *testing.T) {
	work := fake.Files(map[string]string{folder + "same.md": "same\r\n", folder + "other.md": "one", folder + "moved.md": "moved"})
	head := commit{fake.Files(map[string]string{folder + "same.md": "same\r\n", folder + "other.md": "two", folder + "renamed.md": "moved"}), &sync.Mutex{}, map[string]int{}}
	first := read(t, work, snapshot.Options{IDLength: 40})
	second := read(t, head, snapshot.Options{Known: []*snapshot.Set{first}})
	if n := head.opened[folder+"same.md"]; n != 0 {
		t.Errorf("same.md was read again, %d times", n)
	}
	for _, name := range []string{"other.md", "renamed.md"} {
		if head.opened[folder+name] != 1 {
			t.Errorf("%s was opened %d times", name, head.opened[folder+name])
		}
	}
	for name, data := range map[string]string{"same.md": "same\r\n", "other.md": "two", "renamed.md": "moved"} {
		f := second.File(name)
		if f.State != gate.Present || f.Digest != digest(data) || f.Content.Path != name {
			t.Errorf("%s: got %+v", name, f)
		}
	}

	// Without ids nothing is taken for the same.
	plain := read(t, work, snapshot.Options{})
	head.opened[folder+"same.md"] = 0
	read(t, head, snapshot.Options{Known: []*snapshot.Set{plain}})
	if head.opened[folder+"same.md"] != 1 {
		t.Error("same.md was taken from a set without ids")
	}
}

// sized is a tree with one file that says, or turns out, to have a size.
type sized struct {
	fake.Tree
	listed, opened int64
	content        io.Reader
}

func (s sized) List(dir string) ([]gate.Entry, error) {
	entries, err := s.Tree.List(dir)
	for i := range entries {
		entries[i].Size = s.listed
	}
	return entries, err
}

func (s sized) Open(p string) (io.ReadCloser, gate.Entry, error) {
	e, err := s.Stat(p)
	e.Size = s.opened
	return io.NopCloser(s.content), e, err
}

// A file over the limit is refused whether its folder, its opening or only its
// content shows it, and nothing of it is used.
func TestLimit(t *testing.T) {
	tree := fake.Files(map[string]string{folder + "LOG.md": "x"})
	const over = gate.MaxHandoffFile + 1
	untouched := func() io.Reader { return broken{errors.New("it was read")} }
	for _, c := range []struct {
		name string
		tree sized
		want gate.State
	}{
		{"listed", sized{tree, over, over, untouched()}, gate.TooLarge},
		{"opened", sized{tree, -1, over, untouched()}, gate.TooLarge},
		{"fails while it is read", sized{tree, 1, 1, untouched()}, gate.Unreadable},
		{"shorter than listed", sized{tree, 100, 100, strings.NewReader("x")}, gate.Present},
	} {
		f := read(t, c.tree, snapshot.Options{IDLength: 40}).File("LOG.md")
		if f.State != c.want || (c.want != gate.Present && (f.Digest != "" || f.Err == nil)) || f.Blob != "" {
			t.Errorf("%s: got %+v", c.name, f)
		}
	}
	if testing.Short() {
		t.Skip("SKIPPED: reading 256 MiB takes a second")
	}
	f := read(t, sized{tree, 1, 1, io.LimitReader(zeros{}, over)}, snapshot.Options{}).File("LOG.md")
	if f.State != gate.TooLarge || f.Digest != "" {
		t.Errorf("grown while it is read: got %+v", f)
	}
}

type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestCancelledReadingIsAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := snapshot.Read(ctx, fake.Files(map[string]string{folder + "LOG.md": "x"}), ".", snapshot.Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// The manifest of a set is read whole, apart from its digest as a file.
func TestManifest(t *testing.T) {
	s := read(t, fake.Files(map[string]string{folder + "MANIFEST.json": "{}\r\n"}), snapshot.Options{})
	if s.Manifest.State != gate.Present || !bytes.Equal(s.Manifest.Data, []byte("{}\r\n")) || s.File("MANIFEST.json").Digest != digest("{}\n") {
		t.Errorf("got %+v", s.Manifest)
	}
}
