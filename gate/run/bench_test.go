package run

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/drift"
	"github.com/handoff-gate/handoff-gate/gate/git"
	"github.com/handoff-gate/handoff-gate/gate/internal/bench"
	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
)

// now is the clock of every benchmark.
var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// verify is a whole run in this process, for what is measured inside of it.
func openRun(b *testing.B, sample bench.Sample, level gate.Level, debug func(string)) *run {
	b.Helper()
	ctx := context.Background()
	c, err := OpenCheckout(ctx, git.Options{Dir: sample.Dir, StartDir: sample.Dir, Environ: gittest.Environ(), Debug: debug})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	base, err := ResolveBase(ctx, c.Repo, level, sample.Base)
	if err != nil {
		b.Fatal(err)
	}
	return &run{c: c, o: Options{Level: level, Base: base, Now: now, Environ: gittest.Environ()}}
}

// gateCommand runs the built program on a sample.
func gateCommand(program string, sample bench.Sample, level gate.Level) bench.Command {
	return bench.Command{Dir: sample.Dir, Argv: []string{program, "verify", "--level", string(level), "--base", sample.Base, "--now", now.Format(time.RFC3339)}}
}

// BenchmarkSmall is what everybody waits for at every push: a whole run over a
// small repository, git included. The floor is as many starts of git that do
// nothing, one after another.
func BenchmarkSmall(b *testing.B) {
	sample := bench.NewSample(b, bench.Shape{Files: 300, Changed: 100})
	program := bench.Program(b)
	var processes atomic.Int64
	c, err := OpenCheckout(context.Background(), git.Options{
		Dir: sample.Dir, StartDir: sample.Dir, Environ: gittest.Environ(), Debug: func(string) { processes.Add(1) },
	})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	base, err := ResolveBase(context.Background(), c.Repo, gate.CI, sample.Base)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := Verify(context.Background(), c, []Project{{Path: "."}}, Options{Level: gate.CI, Base: base, Now: now}); err != nil {
		b.Fatal(err)
	}
	start := bench.Command{Dir: sample.Dir, Argv: []string{"git", "version"}}
	bench.Time(b, 50*time.Millisecond, func() {
		for range processes.Load() {
			start.Run(b)
		}
	}, func() { gateCommand(program, sample, gate.CI).Run(b) })
	b.ReportMetric(float64(processes.Load()), "git-processes")
}

// BenchmarkLarge is a change of 50,000 files.
func BenchmarkLarge(b *testing.B) {
	const files = 50_000
	sample := bench.NewSample(b, bench.Shape{Files: files, Changed: files})
	program := bench.Program(b)

	// Layer 2 whole, with its two comparisons, against the one comparison that
	// no gate can do without.
	b.Run("drift", func(b *testing.B) {
		r := openRun(b, sample, gate.CI, nil)
		ctx := context.Background()
		floor := func() {
			if n := countRecords(b, sample); n != files+2 {
				b.Fatalf("%d records", n)
			}
		}
		subject := func() {
			r := &run{c: r.c, o: r.o}
			if err := r.resolve(ctx); err != nil {
				b.Fatal(err)
			}
			s := &source{run: r, p: Project{Path: "."}}
			if err := s.trees(ctx); err != nil {
				b.Fatal(err)
			}
			if err := s.readPolicies(); err != nil {
				b.Fatal(err)
			}
			layer, err := decideDrift(ctx, s, nil)
			if err != nil || layer.ID != drift.ID || len(r.changes) != files+2 {
				b.Fatal(layer, err)
			}
		}
		bench.Ratio(b, 1.3, floor, subject)
	})

	// The conflict markers of the working tree against git's own search.
	b.Run("markers", func(b *testing.B) {
		r := openRun(b, sample, gate.Full, nil)
		ctx := context.Background()
		search := bench.Command{Dir: sample.Dir, Argv: []string{"git", "grep", "-lE", "^(<{7}|>{7})"}, Want: 1}
		subject := func() {
			s := &source{run: r, p: Project{Path: "."}}
			if err := s.readMarkers(ctx); err != nil || len(s.markers) != 1 || len(s.markers[0].problems) > 0 {
				b.Fatal(s.markers, err)
			}
		}
		bench.Ratio(b, 1.5, func() { search.Run(b) }, subject)
	})

	for _, level := range []gate.Level{gate.CI, gate.Full} {
		b.Run("peak/"+string(level), func(b *testing.B) {
			bench.Peak(b, 64, gateCommand(program, sample, level))
		})
	}
}

// countRecords reads a raw comparison through a pipe and counts its records.
func countRecords(b *testing.B, sample bench.Sample) int {
	b.Helper()
	cmd := exec.Command("git", "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", sample.Base, sample.Head)
	cmd.Dir, cmd.Env = sample.Dir, gittest.Environ()
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 64<<10)
	nuls := 0
	for {
		n, err := out.Read(buf)
		nuls += bytes.Count(buf[:n], []byte{0})
		if err == io.EOF {
			break
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return nuls / 2
}

// phrases and secrets are the two lists of aahp-lint.md 3.1 and 4.1 as grep
// takes them.
const (
	phrases = `ignore all previous|ignore prior|disregard.*instructions|you are now|new system prompt|override.*safety|act as.*unrestricted|jailbreak|admin_override|sudo mode`
	secrets = `sk-[a-zA-Z0-9]{16,}|gh[po]_[a-zA-Z0-9]{16,}|glpat-|xox[bp]-|AKIA[A-Z0-9]{16,}|Bearer [a-zA-Z0-9]|-----BEGIN.*PRIVATE KEY|_(KEY|SECRET|TOKEN|PASSWORD|CREDENTIALS)=['"]?[-_.+/=a-zA-Z0-9]*[a-zA-Z0-9]{16,}`
)

// BenchmarkArchive is a whole run over a handoff set with a LOG-ARCHIVE.md of
// 50 MB. The floor is what a shell script would do with that file: a digest and
// two searches.
func BenchmarkArchive(b *testing.B) {
	sample := bench.NewSample(b, bench.Shape{Files: 100, Changed: 20, Archive: 50_000_000})
	program := bench.Program(b)
	archive := filepath.Join(sample.Dir, ".ai", "handoff", "LOG-ARCHIVE.md")
	for _, level := range []gate.Level{gate.Full, gate.CI} {
		b.Run(fmt.Sprintf("peak/%s", level), func(b *testing.B) {
			bench.Peak(b, 96, gateCommand(program, sample, level))
		})
		b.Run(fmt.Sprintf("time/%s", level), func(b *testing.B) {
			for _, tool := range []string{"sha256sum", "grep"} {
				if _, err := exec.LookPath(tool); err != nil {
					b.Skip("there is no ", tool)
				}
			}
			floor := func() {
				bench.Command{Dir: sample.Dir, Argv: []string{"sha256sum", archive}}.Run(b)
				bench.Command{Dir: sample.Dir, Argv: []string{"grep", "-nE", secrets, archive}, Want: 1}.Run(b)
				bench.Command{Dir: sample.Dir, Argv: []string{"grep", "-niE", phrases, archive}, Want: 1}.Run(b)
			}
			bench.Ratio(b, 1.5, floor, func() { gateCommand(program, sample, level).Run(b) })
		})
	}
}
