package fileledger

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/packet/ledger"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger/ledgertest"
)

const (
	doomedLedger = "FILELEDGER_TEST_LEDGER"
	doomedStep   = "FILELEDGER_TEST_KILL_AT"
	doomedVerb   = "FILELEDGER_TEST_VERB"
	rivalLedger  = "FILELEDGER_TEST_RIVAL"
)

// TestMain makes this test program the processes that TestKilled kills and
// TestProcesses lets claim.
func TestMain(m *testing.M) {
	if path := os.Getenv(doomedLedger); path != "" {
		at, err := strconv.Atoi(os.Getenv(doomedStep))
		if err != nil {
			panic(err)
		}
		os.Exit(writeUntilKilled(path, os.Getenv(doomedVerb), at))
	}
	if path := os.Getenv(rivalLedger); path != "" {
		os.Exit(claimWhenTold(path))
	}
	os.Exit(m.Run())
}

// steps does something else at one operation, counted from 0.
type steps struct {
	at    int
	event func() error
	trace []string
}

func (s *steps) step(operation string) error {
	s.trace = append(s.trace, strings.TrimSuffix(operation, " ledger.json"))
	if len(s.trace)-1 == s.at {
		return s.event()
	}
	return nil
}

// verbs are what changes a ledger. Each finds the entry as before made it, and is
// answered with again once it took effect.
var verbs = []struct {
	name   string
	before func(ctx context.Context, s ledger.Store) (ledger.Outcome, error)
	run    func(ctx context.Context, s ledger.Store) (ledger.Outcome, error)
	again  string
}{
	{name: "claim", run: claimDoomed, again: "idempotency_key_reserved duplicate"},
	{name: "complete", before: claimDoomed, run: func(ctx context.Context, s ledger.Store) (ledger.Outcome, error) {
		return ledger.Complete(ctx, s, ledgertest.Of(ledgertest.A("doomed")), ledgertest.At(0))
	}},
	{name: "abandon", before: claimDoomed, run: func(ctx context.Context, s ledger.Store) (ledger.Outcome, error) {
		w := ledgertest.Of(ledgertest.A("doomed"))
		w.Force = true
		return ledger.Abandon(ctx, s, w, ledgertest.At(0))
	}, again: "release_not_reserved invalid"},
}

func claimDoomed(ctx context.Context, s ledger.Store) (ledger.Outcome, error) {
	return ledger.Check(ctx, s, ledgertest.A("doomed"), ledgertest.At(0), true)
}

func writeUntilKilled(path, verb string, at int) int {
	l := Open(path)
	s := &steps{at: at, event: func() error {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err != nil {
			panic(err)
		}
		select {} // the kill is on its way
	}}
	l.before = s.step
	for _, v := range verbs {
		if v.name != verb {
			continue
		}
		if o, err := v.run(context.Background(), l); err != nil || !o.Recorded {
			fmt.Println(ledgertest.Codes(o), o.Detail, err)
			return 3
		}
	}
	fmt.Println(strings.Join(s.trace, " "))
	return 0
}

const oldLedger = "{\n  \"kept\": {\"state\": \"RESERVED\", \"reserved_at\": \"2026-10-02T12:00:00Z\", \"n\": 1.50}\n}\n"

// TestKilled kills a process before each of its operations on the folder in turn,
// until it has none left to be killed at. The ledger is the old or the new one, the
// lock is free, and nothing that is left stands in the way.
func TestKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range verbs {
		t.Run(verb.name, func(t *testing.T) {
			undisturbed := ""
			for at := -1; ; at++ { // the first one is not killed
				dir := t.TempDir()
				path := filepath.Join(dir, "ledger.json")
				if err := os.WriteFile(path, []byte(oldLedger), 0o640); err != nil {
					t.Fatal(err)
				}
				if verb.before != nil {
					if o, err := verb.before(t.Context(), Open(path)); err != nil || !o.Recorded {
						t.Fatal(o, err)
					}
				}
				old := textOf(t, path)
				cmd := exec.Command(self, "-test.run=^$")
				cmd.Env = append(os.Environ(), doomedLedger+"="+path, doomedStep+"="+strconv.Itoa(at), doomedVerb+"="+verb.name)
				out, err := cmd.CombinedOutput()
				var exit *exec.ExitError
				killed := errors.As(err, &exit) && exit.ExitCode() != 3
				if err != nil && !killed {
					t.Fatalf("step %d: %v: %s", at, err, out)
				}
				after := textOf(t, path)
				if at < 0 {
					undisturbed = after
				}
				if after != old && after != undisturbed || !killed && after == old {
					t.Errorf("killed at step %d, the ledger is neither the old nor the new one:\n%s", at, after)
				}
				entries, err := os.ReadDir(dir)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range entries {
					if n := e.Name(); n != "ledger.json" && n != "ledger.json.lock" && (!strings.HasPrefix(n, ".ledger.json.") || !strings.HasSuffix(n, ".tmp")) {
						t.Errorf("killed at step %d, %s is left", at, n)
					}
				}
				want := ""
				if after != old {
					want = verb.again
				}
				o, err := verb.run(t.Context(), Open(path))
				if got := ledgertest.Codes(o); err != nil || got != want {
					t.Errorf("after a kill at step %d the next one is %q, %v (%v)", at, got, err, o.Detail)
				}
				if last := textOf(t, path); last != undisturbed {
					t.Errorf("after a kill at step %d the next one leaves\n%s\nwant\n%s", at, last, undisturbed)
				}
				if !killed && at >= 0 {
					const steps = "create write write write write write write write write chmod sync close rename sync folder"
					got := strings.TrimSpace(string(out))
					if verb.name == "claim" && got != steps {
						t.Errorf("the operations are %q, want %q", got, steps)
					}
					if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
						t.Errorf("the ledger's mode is %v", info.Mode())
					}
					if at != len(strings.Fields(got))-1 {
						t.Errorf("number %d of %q was not killed", at, got)
					}
					return
				}
			}
		})
	}
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A call that fails leaves no temporary file, and no claim is reported. What was
// renamed and could not be flushed is in doubt.
func TestFailedOperation(t *testing.T) {
	failure := errors.New("no space left")
	for at := range 14 {
		dir := t.TempDir()
		path := filepath.Join(dir, "ledger.json")
		if err := os.WriteFile(path, []byte(oldLedger), 0o640); err != nil {
			t.Fatal(err)
		}
		l := Open(path)
		s := &steps{at: at, event: func() error { return failure }}
		l.before = s.step
		o, err := ledger.Check(t.Context(), l, ledgertest.A("k"), ledgertest.At(0), true)
		if got := ledgertest.Codes(o); err != nil || got != "ledger_unreachable unknown" || !o.Doubt || !errors.Is(o.Detail, failure) {
			t.Errorf("%q failed: %q, %v, %v", s.trace, got, err, o.Detail)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 2 {
			t.Errorf("%q failed: the folder holds %v", s.trace, entries)
		}
		if data, _ := os.ReadFile(path); string(data) != oldLedger && s.trace[len(s.trace)-1] != "sync folder" {
			t.Errorf("%q failed: the ledger is %s", s.trace, data)
		}
	}
}

// claimWhenTold claims each key that it reads, a line each, and answers.
func claimWhenTold(path string) int {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		c := ledgertest.A(in.Text())
		c.HandoffID = strconv.Itoa(os.Getpid())
		o, err := ledger.Check(context.Background(), Open(path), c, ledgertest.At(0), true)
		answer := ledgertest.Codes(o)
		if o.Recorded {
			answer = "ACCEPT"
		}
		if err != nil || o.Detail != nil {
			answer = fmt.Sprint(answer, err, o.Detail)
		}
		if _, err := fmt.Println(answer); err != nil {
			return 1
		}
	}
	return 0
}

// TestProcesses lets 32 processes claim one key at once, round after round: each
// round has exactly one winner, nobody waits for ever, and no entry is lost.
func TestProcesses(t *testing.T) {
	const processes = 32
	rounds := 100
	if testing.Short() {
		rounds = 5
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ledger.json")
	type rival struct {
		in  io.WriteCloser
		out *bufio.Scanner
		cmd *exec.Cmd
	}
	var rivals []rival
	for range processes {
		cmd := exec.Command(self, "-test.run=^$")
		cmd.Env = append(os.Environ(), rivalLedger+"="+path)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		rivals = append(rivals, rival{in, bufio.NewScanner(out), cmd})
	}
	for round := range rounds {
		key := fmt.Sprintf("round-%d", round)
		for _, r := range rivals {
			if _, err := io.WriteString(r.in, key+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		winner := 0
		for _, r := range rivals {
			if !r.out.Scan() {
				t.Fatalf("round %d: process %d has ended", round, r.cmd.Process.Pid)
			}
			switch answer := r.out.Text(); {
			case answer == "ACCEPT" && winner != 0:
				t.Fatalf("round %d: both %d and %d have won", round, winner, r.cmd.Process.Pid)
			case answer == "ACCEPT":
				winner = r.cmd.Process.Pid
			case answer != "idempotency_key_reserved duplicate":
				t.Errorf("round %d: %s", round, answer)
			}
		}
		var e struct {
			ID string `json:"handoff_id"`
		}
		if err := json.Unmarshal(members(t, path)[key], &e); err != nil || e.ID != strconv.Itoa(winner) {
			t.Fatalf("round %d: %d has won, and the entry is that of %q (%v)", round, winner, e.ID, err)
		}
	}
	for _, r := range rivals {
		_ = r.in.Close()
		if err := r.cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if n := len(members(t, path)); n != rounds {
		t.Errorf("the ledger has %d entries after %d rounds", n, rounds)
	}
}
