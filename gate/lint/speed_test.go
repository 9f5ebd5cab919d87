package lint

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// best is the least time of three rounds.
func best(f func()) time.Duration {
	least := time.Hour
	for range 3 {
		start := time.Now()
		f()
		least = min(least, time.Since(start))
	}
	return least
}

// tools skips the test unless the programs that are the floor are there.
func tools(t testing.TB, names ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("measures time")
	}
	for _, n := range names {
		if _, err := exec.LookPath(n); err != nil {
			t.Skip("the floor is measured with ", n, ", which is not here")
		}
	}
}

func command(t testing.TB, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t")
	if out, err := cmd.CombinedOutput(); err != nil {
		var e *exec.ExitError
		if !errors.As(err, &e) || e.ExitCode() != 1 || len(out) > 0 { // grep: nothing found
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
	}
}

// measureArchive times hash and scan of a 50 MB journal in one pass against
// sha256sum and grep with the phrases and with the secrets of AAHP's list.
func measureArchive(t testing.TB) (ours, floor time.Duration) {
	tools(t, "sha256sum", "grep")
	dir := t.TempDir()
	file := filepath.Join(dir, "LOG-ARCHIVE.md")
	if err := os.WriteFile(file, ordinaryText(50<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	var secrets, words []string
	for _, d := range detectors {
		if d.fixed {
			secrets = append(secrets, d.expr)
		}
	}
	for _, p := range phrases {
		words = append(words, p.name)
	}
	for name, list := range map[string][]string{"secrets": secrets, "phrases": words} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(list, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	floor = best(func() {
		command(t, dir, "sha256sum", file)
		command(t, dir, "grep", "-aE", "-f", "secrets", file)
		command(t, dir, "grep", "-aiE", "-f", "phrases", file)
	})
	ours = best(func() {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		s := NewScanner("LOG-ARCHIVE.md", Options{})
		if _, err := io.Copy(io.MultiWriter(sha256.New(), s), f); err != nil {
			t.Fatal(err)
		}
		if r := s.Finish(); len(r.Hits) > 0 {
			t.Fatal(describe(r))
		}
	})
	return ours, floor
}

func TestArchiveSpeed(t *testing.T) {
	var ours, floor time.Duration
	for range 3 { // A busy machine can spoil one measurement.
		if ours, floor = measureArchive(t); ours <= floor*3/2 {
			t.Logf("hash and scan %v, sha256sum and two greps %v", ours, floor)
			return
		}
	}
	t.Errorf("hash and scan took %v, more than 1.5 times the %v of sha256sum and two greps", ours, floor)
}

// TestArchiveMemory holds the scanner to a few blocks of memory, whatever the
// size of the file, also when it is one line.
func TestArchiveMemory(t *testing.T) {
	for name, tc := range map[string]struct {
		text []byte
		most uint64
	}{
		"many lines": {ordinaryText(24 << 20), 4 << 20},
		// The line itself, once: the buffer doubles until it has the size of the file.
		"one line": {bytes.ReplaceAll(ordinaryText(24<<20), []byte("\n"), []byte(" ")), 64 << 20},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s := NewScanner("LOG-ARCHIVE.md", Options{Size: int64(len(tc.text))})
		for i := 0; i < len(tc.text); i += 32 << 10 {
			_, _ = s.Write(tc.text[i:min(len(tc.text), i+32<<10)])
		}
		s.Finish()
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > tc.most {
			t.Errorf("%s: %d KiB allocated over a file of %d KiB", name, used>>10, len(tc.text)>>10)
		}
	}
}

// TestMarkerSpeed times the conflict-marker test over a tree of tracked files, read
// through one buffer, against git grep for the same lines.
func TestMarkerSpeed(t *testing.T) {
	tools(t, "git")
	dir := t.TempDir()
	const files = 10_000
	text := ordinaryText(1 << 20)
	var names []string
	for i := range files {
		sub := filepath.Join(dir, fmt.Sprintf("d%03d", i/500))
		if i%500 == 0 {
			if err := os.Mkdir(sub, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		name := filepath.Join(sub, fmt.Sprintf("f%05d.txt", i))
		from := i * 37 % (len(text) - 4096)
		if err := os.WriteFile(name, text[from:from+1024+i%3072], 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	command(t, dir, "git", "init", "-q")
	command(t, dir, "git", "add", "-A")
	floor := best(func() { command(t, dir, "git", "grep", "-lE", "^[[:space:]]*(<{7}|>{7})") })
	buf := make([]byte, 64<<10)
	var ours time.Duration
	for range 3 {
		ours = best(func() {
			for _, n := range names {
				f, err := os.Open(n)
				if err != nil {
					t.Fatal(err)
				}
				m, err := ReadMarkers(f, buf, false)
				f.Close()
				if err != nil || m.Count > 0 {
					t.Fatal(n, err)
				}
			}
		})
		if ours <= floor*3/2 {
			t.Logf("markers in %d files %v, git grep %v", files, ours, floor)
			return
		}
	}
	t.Errorf("the markers of %d files took %v, more than 1.5 times the %v of git grep", files, ours, floor)
}

func BenchmarkMarkers(b *testing.B) {
	text := ordinaryText(1 << 20)
	buf := make([]byte, 64<<10)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for range b.N {
		if m, err := ReadMarkers(bytes.NewReader(text), buf, false); err != nil || m.Count > 0 {
			b.Fatal(m, err)
		}
	}
}

// BenchmarkBareExpressions is what the literals save: the expressions alone.
func BenchmarkBareExpressions(b *testing.B) {
	text := ordinaryText(256 << 10)
	var list []*regexp.Regexp
	for _, d := range detectors {
		list = append(list, regexp.MustCompile(d.expr))
	}
	b.SetBytes(int64(len(text)))
	for range b.N {
		for _, e := range list {
			e.Match(text)
		}
	}
}
