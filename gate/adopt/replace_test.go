package adopt

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
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
	f, err := OpenFolder(project, project)
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

// steps counts what a replacement does to the disk, and does something else at
// one step, counted from 0.
type steps struct {
	operations
	at    int
	event func() error
	done  int
	trace []string
}

func (s *steps) step(name string) error {
	s.done++
	s.trace = append(s.trace, name)
	if s.done-1 == s.at {
		return s.event()
	}
	return nil
}

func (s *steps) Create(name string, mode fs.FileMode) (newFile, error) {
	if err := s.step("create"); err != nil {
		return nil, err
	}
	f, err := s.operations.Create(name, mode)
	return &stepFile{f, s}, err
}

func (s *steps) Rename(from, to string) error {
	if err := s.step("rename"); err != nil {
		return err
	}
	return s.operations.Rename(from, to)
}

func (s *steps) Sync() error {
	if err := s.step("sync folder"); err != nil {
		return err
	}
	return s.operations.Sync()
}

type stepFile struct {
	newFile
	s *steps
}

func (f *stepFile) Write(p []byte) (int, error) {
	if err := f.s.step("write the first half"); err != nil {
		return 0, err
	}
	half, err := f.newFile.Write(p[:len(p)/2])
	if err != nil {
		return half, err
	}
	if err := f.s.step("write the rest"); err != nil {
		return half, err
	}
	rest, err := f.newFile.Write(p[len(p)/2:])
	return half + rest, err
}

func (f *stepFile) Chmod(mode fs.FileMode) error {
	if err := f.s.step("chmod"); err != nil {
		return err
	}
	return f.newFile.Chmod(mode)
}

func (f *stepFile) Sync() error {
	if err := f.s.step("sync"); err != nil {
		return err
	}
	return f.newFile.Sync()
}

func (f *stepFile) Close() error {
	if err := f.s.step("close"); err != nil {
		return err
	}
	return f.newFile.Close()
}

const (
	killProject = "ADOPT_TEST_PROJECT"
	killStep    = "ADOPT_TEST_KILL_AT"
)

// TestMain makes this test program the process that TestKilled kills.
func TestMain(m *testing.M) {
	project := os.Getenv(killProject)
	if project == "" {
		os.Exit(m.Run())
	}
	at, err := strconv.Atoi(os.Getenv(killStep))
	if err != nil {
		panic(err)
	}
	os.Exit(regenerateUntilKilled(project, at))
}

// doomed is the session that the killed process records.
var doomed = Session{Agent: "doomed", Phase: "idle"}

var facts = Facts{Commit: UnknownCommit, Project: "sample", Now: time.Date(2026, 3, 1, 12, 30, 45, 0, time.UTC)}

func regenerateUntilKilled(project string, at int) int {
	f, err := OpenFolder(project, project)
	if err != nil {
		fmt.Println(err)
		return 3
	}
	s := &steps{operations: f.ops, at: at, event: func() error {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err != nil {
			panic(err)
		}
		select {} // the kill is on its way
	}}
	f.ops = s
	m, err := f.Generate(doomed, facts, false)
	if err == nil {
		err = f.Write(m)
	}
	if err != nil {
		fmt.Println(err)
		return 3
	}
	fmt.Println(strings.Join(s.trace, "\n"))
	return 0
}

// TestKilled kills a process that regenerates the manifest before each of its
// operations on the folder in turn, until it has none left to be killed at.
func TestKilled(t *testing.T) {
	const old = `{"project": "old", "tasks": {"T-001": {"title": "kept", "status": "ready"}}}`
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; ; at++ {
		project := handoff(t, map[string]string{"STATUS.md": "# S\n\nText.\n", ManifestName: old})
		cmd := exec.Command(self, "-test.run=^$")
		cmd.Env = append(os.Environ(), killProject+"="+project, killStep+"="+strconv.Itoa(at))
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		killed := errors.As(err, &exit) && exit.ExitCode() != 3
		if err != nil && !killed {
			t.Fatalf("step %d: %v: %s", at, err, out)
		}
		got := get(t, project, ManifestName)
		isNew := strings.Contains(got, `"agent": "doomed"`) && strings.Contains(got, `"title": "kept"`) && strings.HasSuffix(got, "}\n")
		if got != old && !isNew {
			t.Errorf("killed at step %d, the manifest is neither the old nor the new one:\n%s", at, got)
		}
		for _, n := range names(t, project) {
			if n != "STATUS.md" && n != ManifestName && (!strings.HasPrefix(n, ".MANIFEST.json.") || !strings.HasSuffix(n, ".tmp")) {
				t.Errorf("killed at step %d, %s is left", at, n)
			}
		}
		// Whatever is left, the next run goes through and does not index it.
		f := openFolder(t, project)
		m, err := f.Generate(Session{Agent: "next", Phase: "idle"}, facts, false)
		if err != nil || m.Files != 1 || f.Write(m) != nil {
			t.Errorf("after a kill at step %d the next run failed: %v", at, err)
		}
		if !killed {
			want := "create write the first half write the rest chmod sync close rename sync folder"
			if trace := strings.Join(strings.Fields(string(out)), " "); trace != want {
				t.Errorf("the operations are %q, want %q", trace, want)
			}
			if !isNew || at != 8 {
				t.Errorf("the run that was not killed was run %d; it wrote\n%s", at, got)
			}
			return
		}
	}
}

// An operation that fails leaves the target and nothing else.
func TestFailedOperation(t *testing.T) {
	failure := errors.New("no space left")
	for at := range 7 {
		project := handoff(t, map[string]string{"LOG.md": "old"})
		f := openFolder(t, project)
		s := &steps{operations: f.ops, at: at, event: func() error { return failure }}
		f.ops = s
		err := f.Replace("LOG.md", strings.NewReader("new text"), nil)
		if !errors.Is(err, failure) {
			t.Errorf("%q failed: Replace returns %v", s.trace, err)
		}
		if got := get(t, project, "LOG.md"); got != "old" {
			t.Errorf("%q failed: the target is %q", s.trace, got)
		}
		if left := names(t, project); len(left) != 1 {
			t.Errorf("%q failed: %q is left", s.trace, left)
		}
	}
}

// What cannot be flushed after the rename does not undo it.
func TestFolderThatCannotBeFlushed(t *testing.T) {
	project := handoff(t, map[string]string{"LOG.md": "old"})
	f := openFolder(t, project)
	f.ops = &steps{operations: f.ops, at: 7, event: func() error { return errors.New("not on this file system") }}
	if err := f.Replace("LOG.md", strings.NewReader("new"), nil); err != nil || get(t, project, "LOG.md") != "new" {
		t.Errorf("Replace returns %v", err)
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
