package cli_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/bench"
)

// longMemory is what a command may take for a journal of 50 MB, in MiB.
const longMemory = 96

// longEntries is how many entries that journal has. They are short for a journal,
// which is the worst: what a command remembers, it remembers of each.
const longEntries = 160_000

// longJournal makes a project with a LOG.md of 50 MB.
func longJournal(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, filepath.FromSlash(logFile))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	fmt.Fprint(w, "# Log\n\n---\n")
	text := strings.Repeat("What this session did. ", 12)
	for i := range longEntries {
		fmt.Fprintf(w, "\n## [2026-11-%02d] Agent: session %06d\n\n%s\n\n---\n", 1+i%30, longEntries-i, text)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if info, err := f.Stat(); err != nil || info.Size() < 50_000_000 {
		t.Fatalf("the log has %d bytes, %v", info.Size(), err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// longRuns are the commands over such a journal, in this order.
var longRuns = []struct {
	name    string
	args    []string
	prepare func(dir string) error // nil for nothing
}{
	{name: "archive", args: []string{"archive"}},
	{name: "verify", args: []string{"archive", "--verify"}},
	{name: "manifest", args: []string{"manifest"}},
	{name: "check", args: []string{"manifest", "--check"}},
	{name: "reindex", args: []string{"archive", "--reindex"}, prepare: func(dir string) error {
		return os.Remove(filepath.Join(dir, filepath.FromSlash(indexFile)))
	}},
}

// TestLongJournal runs the program as it is built over 50 MB: it reads and writes
// them in a stream, and says nothing of how far it has come where nobody waits.
func TestLongJournal(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program and writes 150 MB")
	}
	dir, program := longJournal(t), bench.Program(t)
	for _, run := range longRuns {
		if run.prepare != nil {
			if err := run.prepare(dir); err != nil {
				t.Fatal(err)
			}
		}
		mb, said := bench.Command{Dir: dir, Argv: append([]string{program}, run.args...)}.Peak(t)
		if mb > longMemory {
			t.Errorf("%s: %.0f MiB at the peak, want at most %d", run.name, mb, longMemory)
		}
		if said != "" {
			t.Errorf("%s says %q", run.name, said)
		}
		t.Logf("%s: %.0f MiB", run.name, mb)
	}
}

func BenchmarkRotate(b *testing.B) {
	dir, program := longJournal(b), bench.Program(b)
	for _, run := range longRuns {
		b.Run(run.name, func(b *testing.B) {
			if run.prepare != nil {
				if err := run.prepare(dir); err != nil {
					b.Fatal(err)
				}
			}
			bench.Peak(b, longMemory, bench.Command{Dir: dir, Argv: append([]string{program}, run.args...)})
		})
	}
}
