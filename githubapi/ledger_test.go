package githubapi

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/handoff-gate/handoff-gate/gate/packet/ledger"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger/ledgertest"
	"github.com/handoff-gate/handoff-gate/githubapi/apitest"
)

// newLedger is a ledger at a server, with a clock that does not wait.
func newLedger(t testing.TB, s *apitest.Server, change ...func(*Options)) *ledger.Refs {
	t.Helper()
	o := Options{APIURL: s.URL, Repository: testRepo, Token: testToken, Version: "0.1.0", Clock: newClock(), Jitter: func() float64 { return 0 }}
	for _, c := range change {
		c(&o)
	}
	l, err := NewLedger(o)
	if err != nil {
		t.Fatal(err)
	}
	l.Pause = func(ctx context.Context, _ int) error { return ctx.Err() }
	return l
}

// behind gives an entry the members that it has behind a ref.
func behind(t testing.TB, key, entry string) string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(entry), &m); err != nil {
		t.Fatal(err)
	}
	quoted, err := json.Marshal(key)
	if err != nil {
		t.Fatal(err)
	}
	m["idempotency_key"], m["nonce"] = quoted, json.RawMessage(`"00000000000000000000000000000000"`)
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestLedgerConformance(t *testing.T) {
	ledgertest.Run(t, func(t *testing.T) ledgertest.Kind {
		s := newAPI(t, func(o *apitest.Options) { o.Clients = true })
		return ledgertest.Kind{
			Open: func() ledger.Store { return newLedger(t, s) },
			Put:  func(key, entry string) { s.PutFile(ledger.Ref(key), "claim.json", behind(t, key, entry)) },
			Get:  func(key string) string { return s.File(ledger.Ref(key)) },
			Refs: true,
		}
	})
}

const (
	ledgerKey = "pack:m1:rev-7"
	accepted  = ""
	reserved  = "idempotency_key_reserved duplicate"
	noAnswer  = "ledger_unreachable unknown"
)

func claimAt(t *testing.T, l *ledger.Refs, write bool) string {
	t.Helper()
	o, err := ledger.Check(t.Context(), l, ledgertest.A(ledgerKey), ledgertest.At(0), write)
	if err != nil {
		t.Fatal(err)
	}
	if o.Recorded != (write && len(o.Reasons) == 0) {
		t.Errorf("recorded: %v, reasons %q", o.Recorded, ledgertest.Codes(o))
	}
	return ledgertest.Codes(o)
}

// rival is a host before each of whose writes something happens.
type rival struct {
	ledger.Host
	before func(try int)
	tries  int
}

func (r *rival) Write(ctx context.Context, ref, id, old string) error {
	r.tries++
	r.before(r.tries)
	return r.Host.Write(ctx, ref, id, old)
}

var (
	refsPath  = regexp.MustCompile(`/git/refs$`)
	readsPath = regexp.MustCompile(`/git/matching-refs/`)
)

// What a claim comes to when the server does what GitHub may do.
func TestLedgerClaims(t *testing.T) {
	theirs := `{"state":"RESERVED","reserved_at":"2026-10-02T12:00:00Z","handoff_id":"theirs"}`
	for _, c := range []struct {
		name   string
		server func(*apitest.Server)
		before func(s *apitest.Server, try int) // each write
		want   string
		writes int // POSTs of the ref
		ours   bool
	}{
		{"nothing in the way", func(*apitest.Server) {}, nil, accepted, 1, true},
		{"somebody is faster: 422", func(*apitest.Server) {}, func(s *apitest.Server, _ int) {
			s.PutFile(ledger.Ref(ledgerKey), "claim.json", behind(t, ledgerKey, theirs))
		}, reserved, 1, false},
		{"the answer is lost, the write is not", func(s *apitest.Server) {
			s.Fail(apitest.Fault{Method: "POST", Path: refsPath, Apply: true, Drop: true, Times: 1})
		}, nil, accepted, 1, true},
		{"502 after the write took effect", func(s *apitest.Server) {
			s.Fail(apitest.Fault{Method: "POST", Path: refsPath, Apply: true, Status: 502, Times: 1})
		}, nil, accepted, 1, true},
		{"an answer that is no JSON after the write took effect", func(s *apitest.Server) {
			s.Fail(apitest.Fault{Method: "POST", Path: refsPath, Apply: true, Status: 201, Body: "<html>", Times: 1})
		}, nil, accepted, 1, true},
		{"502 and no write", func(s *apitest.Server) {
			s.Fail(apitest.Fault{Method: "POST", Path: refsPath, Status: 502, Times: 1})
		}, nil, accepted, 2, true},
		{"422 though nothing is there", func(s *apitest.Server) {
			s.Fail(apitest.Fault{Method: "POST", Path: refsPath, Status: 422, Message: "Reference update failed", Times: 2})
		}, nil, accepted, 3, true},
		{"422 to the last try", func(s *apitest.Server) {
			s.Fail(apitest.Fault{Method: "POST", Path: refsPath, Status: 422, Message: "Reference update failed"})
		}, nil, noAnswer, 3, false},
		{"503 to the last try", func(s *apitest.Server) {
			s.Fail(apitest.Fault{Method: "POST", Path: refsPath, Status: 503})
		}, nil, noAnswer, 3, false},
		{"no right to write", func(s *apitest.Server) {
			s.Fail(apitest.Fault{Method: "POST", Path: refsPath, Status: 403, Message: "Resource not accessible by integration"})
		}, nil, noAnswer, 3, false},
		{"lost, and somebody else was faster", func(s *apitest.Server) {
			s.Fail(apitest.Fault{Method: "POST", Path: refsPath, Drop: true, Times: 1})
		}, func(s *apitest.Server, _ int) {
			s.PutFile(ledger.Ref(ledgerKey), "claim.json", behind(t, ledgerKey, theirs))
		}, reserved, 1, false},
		{"somebody is faster at the last try", func(s *apitest.Server) {
			s.Fail(apitest.Fault{Method: "POST", Path: refsPath, Status: 503, Times: 2})
		}, func(s *apitest.Server, try int) {
			if try == 3 {
				s.PutFile(ledger.Ref(ledgerKey), "claim.json", behind(t, ledgerKey, theirs))
			}
		}, reserved, 3, false},
		{"a replica that lags after a lost answer", func(s *apitest.Server) {
			s.Fail(apitest.Fault{Method: "POST", Path: refsPath, Apply: true, Drop: true, Times: 1})
			s.Fail(apitest.Fault{Method: "GET", Path: readsPath, Skip: 1, Status: 200, Body: "[]", Times: 1})
		}, nil, accepted, 2, true},
		{"claimed and released meanwhile", func(*apitest.Server) {}, func(s *apitest.Server, try int) {
			if try == 1 {
				s.PutFile(ledger.Ref(ledgerKey), "claim.json", behind(t, ledgerKey, `{"state":"RELEASED","epoch":4}`))
			}
		}, accepted, 1, true},
		{"the reading after a refusal fails for good", func(s *apitest.Server) {
			s.Fail(apitest.Fault{Method: "POST", Path: refsPath, Status: 503})
			s.Fail(apitest.Fault{Method: "GET", Path: readsPath, Skip: 1, Status: 404, Message: "Not Found"})
		}, nil, noAnswer, 3, false},
		{"a write that lands, and no reading after it", func(s *apitest.Server) {
			s.Fail(apitest.Fault{Method: "POST", Path: refsPath, Apply: true, Status: 503, Times: 1})
			s.Fail(apitest.Fault{Method: "GET", Path: readsPath, Skip: 1, Status: 404, Message: "Not Found"})
		}, nil, noAnswer, 3, true},
		{"404 for the list of refs is no absence", func(s *apitest.Server) {
			s.Fail(apitest.Fault{Method: "GET", Path: readsPath, Status: 404, Message: "Not Found"})
		}, nil, noAnswer, 0, false},
		{"null for the list of refs is no absence", func(s *apitest.Server) {
			s.Fail(apitest.Fault{Method: "GET", Path: readsPath, Status: 200, Body: "null"})
		}, nil, noAnswer, 0, false},
		{"nothing for the list of refs is no absence", func(s *apitest.Server) {
			s.Fail(apitest.Fault{Method: "GET", Path: readsPath, Status: 200, Body: "\n"})
		}, nil, noAnswer, 0, false},
		{"a list of refs that is promised is no absence", func(s *apitest.Server) {
			s.Fail(apitest.Fault{Method: "GET", Path: readsPath, Status: 202, Body: "[]"})
		}, nil, noAnswer, 0, false},
		{"an empty repository", func(s *apitest.Server) { s.EmptyRepository() }, nil, noAnswer, 0, false},
		{"longer names that begin with the ref's", func(s *apitest.Server) {
			for i := range 250 {
				s.PutFile(ledger.Ref(ledgerKey)+"x"+strings.Repeat("y", i), "claim.json", "{}")
			}
		}, nil, accepted, 1, true},
		{"a commit that is not there", func(s *apitest.Server) { s.PointRef(ledger.Ref(ledgerKey), commitA) }, nil, noAnswer, 0, false},
		{"a second file", func(s *apitest.Server) { s.PutFile(ledger.Ref(ledgerKey), "other.json", behind(t, ledgerKey, theirs)) }, nil, "ledger_corrupt invalid", 0, false},
		{"the claim of another key", func(s *apitest.Server) { s.PutFile(ledger.Ref(ledgerKey), "claim.json", behind(t, "other", theirs)) }, nil, "ledger_corrupt invalid", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newAPI(t)
			c.server(s)
			l := newLedger(t, s)
			if c.before != nil {
				l.Host = &rival{Host: l.Host, before: func(try int) { c.before(s, try) }}
			}
			if got := claimAt(t, l, true); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			writes, commits := 0, 0
			for _, r := range s.Requests() {
				switch {
				case r.Method == http.MethodPost && refsPath.MatchString(r.Path):
					writes++
				case r.Method == http.MethodPost && strings.HasSuffix(r.Path, "/git/commits"):
					commits++
				case strings.Contains(r.Path, "/git/ref/"), strings.Contains(r.Path, "/refs/refs/"):
					t.Errorf("%s %s", r.Method, r.Path)
				}
			}
			if writes != c.writes {
				t.Errorf("%d writes of the ref, want %d", writes, c.writes)
			}
			if c.name != "claimed and released meanwhile" && commits > 1 {
				t.Errorf("%d commits were made; the same one is to be written again", commits)
			}
			if ours := strings.Contains(s.File(ledger.Ref(ledgerKey)), `"handoff_id": "h-1"`); ours != c.ours {
				t.Errorf("the ref holds our claim: %v, want %v", ours, c.ours)
			}
		})
	}
}

// A change of state moves the ref forward and never by force.
func TestLedgerNextState(t *testing.T) {
	s := newAPI(t)
	if got := claimAt(t, newLedger(t, s), true); got != accepted {
		t.Fatal(got)
	}
	s.Fail(apitest.Fault{Method: "PATCH", Apply: true, Status: 502, Times: 1})
	o, err := ledger.Complete(t.Context(), newLedger(t, s), ledgertest.Of(ledgertest.A(ledgerKey)), ledgertest.At(time.Hour))
	if err != nil || !o.Recorded || o.Already {
		t.Fatalf("%+v, %v", o, err)
	}
	if n := s.History(ledger.Ref(ledgerKey)); n != 2 {
		t.Errorf("the history has %d commits", n)
	}
	i := slices.IndexFunc(s.Requests(), func(r apitest.Request) bool { return r.Method == http.MethodPatch })
	r := s.Requests()[i]
	if want := "/repos/" + testRepo + "/git/" + ledger.Ref(ledgerKey); r.Path != want || !strings.Contains(string(r.Body), `"force":false`) {
		t.Errorf("PATCH %s %s, want %s without force", r.Path, r.Body, want)
	}
}

// Two who abandon and claim anew at once: what was judged is what the write
// demands, so the second cannot write over the first.
func TestLedgerRivalsAfterARelease(t *testing.T) {
	s := newAPI(t)
	s.PutFile(ledger.Ref(ledgerKey), "claim.json", behind(t, ledgerKey, `{"state":"RELEASED","epoch":1}`))
	l := newLedger(t, s)
	other := newLedger(t, s)
	l.Host = &rival{Host: l.Host, before: func(try int) {
		if try == 1 {
			c := ledgertest.A(ledgerKey)
			c.HandoffID = "faster"
			if o, err := ledger.Check(t.Context(), other, c, ledgertest.At(0), true); err != nil || !o.Recorded || o.Epoch != 2 {
				t.Errorf("%+v, %v", o, err)
			}
		}
	}}
	if got := claimAt(t, l, true); got != reserved {
		t.Errorf("%q", got)
	}
	if !strings.Contains(s.File(ledger.Ref(ledgerKey)), `"faster"`) {
		t.Errorf("the ref holds %s", s.File(ledger.Ref(ledgerKey)))
	}
}

// A dry run reads, so a token that may only read is enough; without any token
// nothing is sent.
func TestLedgerDryRun(t *testing.T) {
	s := newAPI(t)
	s.PutFile(ledger.Ref(ledgerKey), "claim.json", behind(t, ledgerKey, `{"state":"RELEASED"}`))
	if got := claimAt(t, newLedger(t, s), false); got != accepted {
		t.Errorf("%q", got)
	}
	for _, r := range s.Requests() {
		if r.Method != http.MethodGet {
			t.Errorf("a dry run sends %s %s", r.Method, r.Path)
		}
	}
	sent := len(s.Requests())
	for _, write := range []bool{true, false} {
		if got := claimAt(t, newLedger(t, s, func(o *Options) { o.Token = "" }), write); got != noAnswer {
			t.Errorf("without a token: %q", got)
		}
	}
	if len(s.Requests()) != sent {
		t.Error("a request was sent without a token")
	}
}

// An answer that does not come ends in ledger.Wait, and a run that was cancelled
// is no verdict.
func TestLedgerTime(t *testing.T) {
	s := newAPI(t)
	s.Fail(apitest.Fault{Delay: time.Hour})
	l := newLedger(t, s)
	l.Wait = time.Millisecond
	if got := claimAt(t, l, true); got != noAnswer {
		t.Errorf("%q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if o, err := ledger.Check(ctx, newLedger(t, s), ledgertest.A(ledgerKey), ledgertest.At(0), true); err == nil {
		t.Errorf("%+v", o)
	}
}

// A server that asks to be left alone for longer than the ledger waits is asked
// again after the usual wait, as many limits are lifted sooner.
func TestLedgerIsLimited(t *testing.T) {
	s := newAPI(t)
	s.Fail(apitest.Fault{Method: "GET", Times: 2, Status: 429, Header: map[string]string{"Retry-After": "3600"}, Message: "slow down"})
	clock := newClock()
	if got := claimAt(t, newLedger(t, s, func(o *Options) { o.Clock = clock }), true); got != accepted {
		t.Errorf("%q", got)
	}
	if len(clock.waits) != 2 || clock.waits[0] != time.Second || clock.waits[1] != 2*time.Second {
		t.Errorf("the waits are %v", clock.waits)
	}
}

func TestNewLedgerRefuses(t *testing.T) {
	for _, name := range []string{"", "o", "o/", "/r", "o/r/x", "../x", "o/..", "o r/x"} {
		if _, err := NewLedger(Options{Repository: name, Token: "t"}); err == nil {
			t.Errorf("%q is taken for a repository", name)
		}
	}
}
