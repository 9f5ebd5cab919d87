// Package bench measures what this program does against a floor in the same
// run: the least that any program would have to do. A ratio to a floor means
// the same on every machine, where a time in milliseconds does not.
//
// Nothing here fails over a bound, as a wall clock has no place in a test. A
// benchmark reports its bound beside what it measured, and the program in table
// compares the two (`make bench`).
package bench

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
)

// The units in which a benchmark reports a figure and its bound. The program in
// table reads them.
const (
	UnitRatio      = "x-floor"
	UnitRatioBound = "x-bound"
	UnitPeak       = "MB-peak"
	UnitPeakBound  = "MB-bound"
	UnitTime       = "ms"
	UnitTimeBound  = "ms-bound"
)

// Ratio runs floor and subject in turn and reports how many times as long as
// the floor the subject takes. Of each the fastest run counts: what else the
// machine does can only add to it. A bound of 0 is none.
func Ratio(b *testing.B, bound float64, floor, subject func()) {
	b.Helper()
	f, s := rounds(b, floor, subject)
	b.ReportMetric(float64(s)/float64(f), UnitRatio)
	if bound > 0 {
		b.ReportMetric(bound, UnitRatioBound)
	}
	b.ReportMetric(milliseconds(s), UnitTime)
}

// Time is Ratio for a subject whose bound is a time: the ratio is reported
// beside it, without a bound.
func Time(b *testing.B, bound time.Duration, floor, subject func()) {
	b.Helper()
	f, s := rounds(b, floor, subject)
	b.ReportMetric(float64(s)/float64(f), UnitRatio)
	b.ReportMetric(milliseconds(s), UnitTime)
	b.ReportMetric(milliseconds(bound), UnitTimeBound)
}

// rounds gives the fastest run of each. They take turns in going first, so that
// neither always finds the caches as the other left them.
func rounds(b *testing.B, floor, subject func()) (f, s time.Duration) {
	b.Helper()
	var fs, ss []time.Duration
	timed := func(list *[]time.Duration, run func()) {
		start := time.Now()
		run()
		*list = append(*list, time.Since(start))
	}
	for b.Loop() {
		if len(fs)%2 == 0 {
			timed(&fs, floor)
			timed(&ss, subject)
		} else {
			timed(&ss, subject)
			timed(&fs, floor)
		}
	}
	b.ReportMetric(0, "ns/op") // of both together, which says nothing
	return slices.Min(fs), slices.Min(ss)
}

// Fastest is the least time of a few runs, for choosing what to measure.
func Fastest(runs int, run func()) time.Duration {
	least := time.Duration(math.MaxInt64)
	for range runs {
		start := time.Now()
		run()
		least = min(least, time.Since(start))
	}
	return least
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Program builds the program as it is released and gives its path.
func Program(b testing.TB) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "handoff-gate")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", path, "github.com/handoff-gate/handoff-gate")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// Command is a command for a floor or a subject.
type Command struct {
	Dir  string
	Argv []string
	Want int // exit status
}

// Run runs the command, its output discarded, and fails the benchmark when it
// ends otherwise than wanted.
func (c Command) Run(b *testing.B) {
	b.Helper()
	cmd, said := c.prepare()
	c.check(b, cmd, said, cmd.Run())
}

func (c Command) prepare() (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
	said := &bytes.Buffer{}
	cmd.Dir, cmd.Env, cmd.Stderr = c.Dir, gittest.Environ(), said
	return cmd, said
}

func (c Command) check(b testing.TB, cmd *exec.Cmd, said *bytes.Buffer, err error) {
	b.Helper()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != c.Want {
		b.Fatalf("%s: %v, want exit status %d\n%s", strings.Join(c.Argv, " "), err, c.Want, said)
	}
}

// Peak runs the program and reports the largest resident memory it ever had, in
// MiB, without that of the processes it starts.
func Peak(b *testing.B, bound float64, c Command) {
	b.Helper()
	var most float64
	for b.Loop() {
		mb, _ := c.Peak(b)
		most = max(most, mb)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(most, UnitPeak)
	b.ReportMetric(bound, UnitPeakBound)
}

// Peak runs the program once and gives the largest resident memory it ever had, in
// MiB, and what it said on standard error. Where the system does not tell, the test
// is skipped.
func (c Command) Peak(b testing.TB) (mb float64, stderr string) {
	b.Helper()
	if _, err := peakOf(os.Getpid()); err != nil {
		b.Skip("peak memory is read from /proc, which is not there: ", err)
	}
	cmd, said := c.prepare()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	err := watch(done, func() {
		if now, err := peakOf(cmd.Process.Pid); err == nil {
			mb = max(mb, now)
		}
	})
	c.check(b, cmd, said, err)
	return mb, said.String()
}

// watch calls look every half millisecond until the process has ended. The
// kernel keeps the peak, so only what comes in the very last moment is missed.
// The process's own accounting would not do: it begins with its parent's peak.
func watch(done <-chan error, look func()) error {
	tick := time.NewTicker(500 * time.Microsecond)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-tick.C:
			look()
		}
	}
}

// peakOf reads the high-water mark of a process's resident memory, in MiB.
func peakOf(pid int) (float64, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(data), "VmHWM:")
	value, _, unit := strings.Cut(rest, " kB")
	if !ok || !unit {
		return 0, fmt.Errorf("no VmHWM for process %d", pid)
	}
	kb, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	return kb / 1024, err
}
