package gitledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger/ledgertest"
)

// roundsVariable is how many rounds TestClones plays. A hundred take minutes, as
// each of their 3200 claims starts some ten git processes: `make races`.
const roundsVariable = "HANDOFF_GATE_ROUNDS"

// TestClones lets 32 clones of one bare repository claim one key at once through
// their remote, round after round: each round has exactly one winner, and nobody
// waits for ever.
func TestClones(t *testing.T) {
	const clones = 32
	rounds, err := strconv.Atoi(os.Getenv(roundsVariable))
	switch {
	case err == nil:
	case testing.Short():
		t.Skip("SKIPPED: under -short four rivals of the conformance test are enough")
	default:
		rounds = 2
	}
	seed := gittest.New(t, "sha1")
	seed.Write("README.md", "# Sample\n")
	seed.Commit("Start")
	origin := bare(t, "sha1")
	seed.Git("push", "-q", origin.Dir, "main")
	dirs := make([]string, clones)
	for i := range dirs {
		dirs[i] = filepath.Join(t.TempDir(), "clone")
		seed.Git("clone", "-q", "--no-local", origin.Dir, dirs[i])
	}
	for round := range rounds {
		key := fmt.Sprintf("round-%d", round)
		outcomes := make([]ledger.Outcome, clones)
		var wg sync.WaitGroup
		start := make(chan struct{})
		for i := range clones {
			store, c := remote(t, "origin", dirs[i]), ledgertest.A(key)
			c.HandoffID = fmt.Sprint(i)
			wg.Go(func() {
				<-start
				var err error
				if outcomes[i], err = ledger.Check(context.Background(), store, c, ledgertest.At(0), true); err != nil {
					t.Error(err)
				}
			})
		}
		close(start)
		wg.Wait()
		winner := ""
		for i, o := range outcomes {
			switch {
			case o.Recorded && winner != "":
				t.Fatalf("round %d: both %s and %d have won", round, winner, i)
			case o.Recorded:
				winner = fmt.Sprint(i)
			case ledgertest.Codes(o) != "idempotency_key_reserved duplicate":
				t.Errorf("round %d: clone %d: %s (%v)", round, i, ledgertest.Codes(o), o.Detail)
			}
		}
		var e struct {
			ID string `json:"handoff_id"`
		}
		if err := json.Unmarshal([]byte(get(origin, key)), &e); err != nil || e.ID != winner {
			t.Fatalf("round %d: %q has won, and the claim is that of %q (%v)", round, winner, e.ID, err)
		}
	}
	if n := len(strings.Fields(origin.Git("for-each-ref", "--format=%(refname)", "refs/handoff/claims/"))); n != rounds {
		t.Errorf("there are %d claims after %d rounds", n, rounds)
	}
}

// answer is a host whose writes come to something else.
type answer struct {
	ledger.Host
	write func(try int, write func() error) error
	tries int
}

func (a *answer) Write(ctx context.Context, ref, id, old string) error {
	a.tries++
	return a.write(a.tries, func() error { return a.Host.Write(ctx, ref, id, old) })
}

var errLost = errors.New("the answer was lost")

// What a claim comes to when an answer is lost, a lock is held, or somebody is
// faster. The same holds for every host; here it is a real repository.
func TestLostAnswers(t *testing.T) {
	const key = "k"
	theirs := func(t *testing.T, r *gittest.Repo) {
		put(r, key, of(t, key, `{"state":"RESERVED","reserved_at":"2026-10-02T12:00:00Z","handoff_id":"theirs"}`))
	}
	for _, c := range []struct {
		name   string
		write  func(t *testing.T, r *gittest.Repo, try int, write func() error) error
		want   string
		writes int
	}{
		{"lost after it took effect", func(_ *testing.T, _ *gittest.Repo, _ int, write func() error) error {
			return errors.Join(write(), errLost)
		}, "", 1},
		{"lost before it took effect, once", func(_ *testing.T, _ *gittest.Repo, try int, write func() error) error {
			if try == 1 {
				return errLost
			}
			return write()
		}, "", 2},
		{"always lost", func(*testing.T, *gittest.Repo, int, func() error) error { return errLost }, "ledger_unreachable unknown", 3},
		{"somebody is faster", func(t *testing.T, r *gittest.Repo, _ int, write func() error) error {
			theirs(t, r)
			return write()
		}, "idempotency_key_reserved duplicate", 1},
		{"ours, and completed by somebody since", func(t *testing.T, r *gittest.Repo, _ int, write func() error) error {
			if err := write(); err != nil {
				return err
			}
			put(r, key, of(t, key, `{"state":"COMPLETED","handoff_id":"h-1","trace_id":"t-1"}`))
			return errLost
		}, "duplicate_idempotency_key duplicate", 1},
		{"a lock that is held", func(t *testing.T, r *gittest.Repo, try int, write func() error) error {
			lock := filepath.Join(gitDir(r), filepath.FromSlash(ledger.Ref(key))+".lock")
			if try == 1 {
				if err := errors.Join(os.MkdirAll(filepath.Dir(lock), 0o755), os.WriteFile(lock, nil, 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			err := write()
			if try == 1 {
				if removed := os.Remove(lock); removed != nil {
					t.Fatal(removed)
				}
			}
			return err
		}, "", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, open := range map[string]func(r *gittest.Repo) *ledger.Refs{
				"local":  func(r *gittest.Repo) *ledger.Refs { return local(t, r.Dir) },
				"remote": func(r *gittest.Repo) *ledger.Refs { return remote(t, r.Dir, t.TempDir()) },
			} {
				r := bare(t, "sha1")
				store := open(r)
				a := &answer{Host: store.Host, write: func(try int, write func() error) error { return c.write(t, r, try, write) }}
				store.Host, store.Pause = a, func(ctx context.Context, _ int) error { return ctx.Err() }
				if got := ledgertest.Codes(check(t, store, key)); got != c.want || a.tries != c.writes {
					t.Errorf("%s: %q in %d writes, want %q in %d", name, got, a.tries, c.want, c.writes)
				}
			}
		})
	}
}

func gitDir(r *gittest.Repo) string {
	return filepath.Join(r.Dir, r.Git("rev-parse", "--git-dir"))
}

// The commits behind a ref are the key's history, each naming its predecessor, all
// of one author and at the time of the check.
func TestHistory(t *testing.T) {
	r := bare(t, "sha1")
	c := ledgertest.A("k")
	for name, store := range map[string]*ledger.Refs{"local": local(t, r.Dir), "remote": remote(t, r.Dir, t.TempDir())} {
		c.Key = name
		if o, err := ledger.Check(t.Context(), store, c, ledgertest.At(0), true); err != nil || !o.Recorded {
			t.Fatal(o, err)
		}
		w := ledgertest.Of(c)
		w.Force = true
		if o, err := ledger.Abandon(t.Context(), store, w, ledgertest.At(1e9)); err != nil || !o.Recorded {
			t.Fatal(o, err)
		}
		if o, err := ledger.Check(t.Context(), store, c, ledgertest.At(2e9), true); err != nil || o.Epoch != 2 {
			t.Fatal(o, err)
		}
		if o, err := ledger.Complete(t.Context(), store, ledgertest.Of(c), ledgertest.At(3e9)); err != nil || !o.Recorded {
			t.Fatal(o, err)
		}
		const want = "COMPLETED, epoch 2|handoff-gate|handoff-gate|2026-10-02T12:00:03+00:00\n" +
			"RESERVED, epoch 2|handoff-gate|handoff-gate|2026-10-02T12:00:02+00:00\n" +
			"RELEASED, epoch 1|handoff-gate|handoff-gate|2026-10-02T12:00:01+00:00\n" +
			"RESERVED, epoch 1|handoff-gate|handoff-gate|2026-10-02T12:00:00+00:00"
		if got := r.Git("log", "--format=%s|%an|%cn|%aI", ledger.Ref(name)); got != want {
			t.Errorf("%s: the history is\n%s", name, got)
		}
	}
	if out, err := r.Try("fsck", "--strict"); err != nil {
		t.Errorf("git fsck: %s", out)
	}
}

// A date that git cannot hold does not stop a claim.
func TestDates(t *testing.T) {
	r := bare(t, "sha1")
	for i, days := range []int{-365 * 500, 365 * 5000} {
		terms := ledgertest.At(0)
		terms.Now = terms.Now.AddDate(0, 0, days)
		c := ledgertest.A(fmt.Sprint(i))
		if o, err := ledger.Check(t.Context(), local(t, r.Dir), c, terms, true); err != nil || !o.Recorded {
			t.Errorf("%s: %s, %v (%v)", terms.Now, ledgertest.Codes(o), err, o.Detail)
		}
	}
	if out, err := r.Try("fsck", "--strict"); err != nil {
		t.Errorf("git fsck: %s", out)
	}
}
