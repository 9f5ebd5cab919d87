package lint

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/bench"
	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
)

// tools skips the benchmark unless the programs that are the floor are there.
func tools(b *testing.B, names ...string) {
	b.Helper()
	for _, n := range names {
		if _, err := exec.LookPath(n); err != nil {
			b.Skip("the floor is measured with ", n, ", which is not here")
		}
	}
}

// BenchmarkArchive hashes and scans a journal of 50 MB in one pass. The floor is
// sha256sum, and grep with the phrases and with the secrets of AAHP's list.
func BenchmarkArchive(b *testing.B) {
	tools(b, "sha256sum", "grep")
	dir := b.TempDir()
	file := filepath.Join(dir, "LOG-ARCHIVE.md")
	if err := os.WriteFile(file, ordinaryText(50<<20), 0o600); err != nil {
		b.Fatal(err)
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
			b.Fatal(err)
		}
	}
	floor := func() {
		bench.Command{Dir: dir, Argv: []string{"sha256sum", file}}.Run(b)
		bench.Command{Dir: dir, Argv: []string{"grep", "-aE", "-f", "secrets", file}, Want: 1}.Run(b)
		bench.Command{Dir: dir, Argv: []string{"grep", "-aiE", "-f", "phrases", file}, Want: 1}.Run(b)
	}
	bench.Ratio(b, 1.5, floor, func() {
		f, err := os.Open(file)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		s := NewScanner("LOG-ARCHIVE.md", Options{})
		if _, err := io.Copy(io.MultiWriter(sha256.New(), s), f); err != nil {
			b.Fatal(err)
		}
		if r := s.Finish(); len(r.Hits) > 0 {
			b.Fatal(describe(r))
		}
	})
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

// BenchmarkMarkers looks for conflict markers in tracked files, read through one
// buffer. The floor is git grep for the same lines.
func BenchmarkMarkers(b *testing.B) {
	tools(b, "git")
	r := gittest.New(b, "")
	const files = 50_000
	text := ordinaryText(1 << 20)
	var names []string
	for i := range files {
		sub := filepath.Join(r.Dir, fmt.Sprintf("d%03d", i/500))
		if i%500 == 0 {
			if err := os.Mkdir(sub, 0o700); err != nil {
				b.Fatal(err)
			}
		}
		name := filepath.Join(sub, fmt.Sprintf("f%05d.txt", i))
		from := i * 37 % (len(text) - 4096)
		if err := os.WriteFile(name, text[from:from+1024+i%3072], 0o600); err != nil {
			b.Fatal(err)
		}
		names = append(names, name)
	}
	r.Git("add", "-A")
	search := bench.Command{Dir: r.Dir, Argv: []string{"git", "grep", "-lE", "^[[:space:]]*(<{7}|>{7})"}, Want: 1}
	buf := make([]byte, 64<<10)
	bench.Ratio(b, 1.5, func() { search.Run(b) }, func() {
		for _, n := range names {
			f, err := os.Open(n)
			if err != nil {
				b.Fatal(err)
			}
			m, err := ReadMarkers(f, buf)
			f.Close()
			if err != nil || m.Count > 0 {
				b.Fatal(n, err)
			}
		}
	})
}

func BenchmarkReadMarkers(b *testing.B) {
	text := ordinaryText(1 << 20)
	buf := make([]byte, 64<<10)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for range b.N {
		if m, err := ReadMarkers(bytes.NewReader(text), buf); err != nil || m.Count > 0 {
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
