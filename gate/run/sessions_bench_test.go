package run

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/bench"
	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// hashAll is the floor of everything that reads session folders: every byte of
// them is read and hashed, one file after another.
func hashAll(b *testing.B, dir string) {
	b.Helper()
	h := sha256.New()
	buffer := make([]byte, 64<<10)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{f}, buffer)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkSessions verifies 5,000 session folders side by side, with JSON, hashes
// and every comparison between their files.
func BenchmarkSessions(b *testing.B) {
	const folders = 5000
	top := b.TempDir()
	for i := range folders {
		bench.NewSession(b, filepath.Join(top, "projects", fmt.Sprintf("project-%02d", i%50), fmt.Sprintf("session-%04d", i)), bench.Session{Turns: 11, Text: 80, Seed: uint64(i)})
	}
	subject := func() {
		rep, _, err := VerifySessions(context.Background(), SessionOptions{Dir: top, Start: top, Environ: gittest.Environ()})
		if err != nil || rep.Verdict != report.Pass || len(rep.Projects) != folders {
			b.Fatal(err)
		}
	}
	bench.Ratio(b, 1.5, func() { hashAll(b, top) }, subject)
}

// BenchmarkTimeline is a session of 250 MB, whose payload has all of it once more.
func BenchmarkTimeline(b *testing.B) {
	const bytes = 250_000_000
	top := b.TempDir()
	bench.NewSession(b, filepath.Join(top, "projects", "sample", "large"), bench.Session{Turns: bytes / 460, Text: 400, Compact: true})
	program := bench.Program(b)
	c := bench.Command{Dir: top, Argv: []string{program, "session", "verify", "--all", "--root", top}}
	b.Run("memory", func(b *testing.B) { bench.Peak(b, 96, c) })
	b.Run("time", func(b *testing.B) { bench.Ratio(b, 0, func() { hashAll(b, top) }, func() { c.Run(b) }) })
}
