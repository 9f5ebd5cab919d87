// Package ledgertest holds every kind of ledger to the same state machine
// (packets.md 7). A kind of ledger that passes Run claims, completes and abandons
// as the others do, whoever wrote its entries.
package ledgertest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/handoff-gate/handoff-gate/gate/packet/ledger"
)

// Kind is one empty ledger under test.
type Kind struct {
	// Open gives the ledger as another process would open it.
	Open func() ledger.Store
	// Put makes the bytes the entry of a key, as another tool would.
	Put func(key, entry string)
	// Get gives the bytes of the entry; "" when there is none.
	Get func(key string) string
	// Refs: Put adds idempotency_key and nonce, as an entry behind a ref has them.
	Refs bool
	// Rivals is how many claim one key at once; 0 is 8.
	Rivals int
	// Slow: a claim takes long, so that a few keys stand for all.
	Slow bool
}

// Start is the clock of every first claim.
var Start = time.Date(2026, 10, 2, 12, 0, 0, 0, time.UTC)

// At gives terms some time after Start.
func At(after time.Duration) ledger.Terms {
	return ledger.Terms{Now: Start.Add(after), TTL: ledger.DefaultTTL}
}

// A is a claim of a key by alice to bob.
func A(key string) ledger.Claim {
	return ledger.Claim{
		Key: key, HandoffID: "h-1", TraceID: "t-1", From: "alice", To: "bob", Signature: "verified",
		Digest: strings.Repeat("ab", 32), OwnedPaths: []string{"out/**"},
	}
}

// Of is the work of the packet that A claims.
func Of(c ledger.Claim) ledger.Work {
	return ledger.Work{Key: c.Key, HandoffID: c.HandoffID, Digest: c.Digest, DependsOn: c.DependsOn}
}

// Codes are those of an outcome's reasons, each with its state.
func Codes(o ledger.Outcome) string {
	var out []string
	for _, r := range o.Reasons {
		out = append(out, ledger.Code(r.Rule)+" "+string(r.State))
	}
	return strings.Join(out, ", ")
}

type test struct {
	*testing.T
	Kind
}

func (t test) check(c ledger.Claim, terms ledger.Terms, write bool) ledger.Outcome {
	t.Helper()
	o, err := ledger.Check(context.Background(), t.Open(), c, terms, write)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// claim wants a claim to be accepted, or refused for a reason.
func (t test) claim(c ledger.Claim, terms ledger.Terms, want string) ledger.Outcome {
	t.Helper()
	o := t.check(c, terms, true)
	if got := Codes(o); got != want || o.Recorded != (want == "") {
		t.Fatalf("claim of %q at %s: %q (recorded: %v; %v), want %q", c.Key, terms.Now.Format(time.TimeOnly), got, o.Recorded, o.Detail, want)
	}
	return o
}

func (t test) complete(w ledger.Work, terms ledger.Terms, want string) ledger.Outcome {
	t.Helper()
	o, err := ledger.Complete(context.Background(), t.Open(), w, terms)
	if got := Codes(o); err != nil || got != want || o.Recorded != (want == "") {
		t.Fatalf("completing %q: %q, %v (%v), want %q", w.Key, got, err, o.Detail, want)
	}
	return o
}

func (t test) abandon(w ledger.Work, terms ledger.Terms, want string) ledger.Outcome {
	t.Helper()
	o, err := ledger.Abandon(context.Background(), t.Open(), w, terms)
	if got := Codes(o); err != nil || got != want || o.Recorded != (want == "") {
		t.Fatalf("abandoning %q: %q, %v (%v), want %q", w.Key, got, err, o.Detail, want)
	}
	return o
}

// entry gives the members of an entry.
func (t test) entry(key string) map[string]any {
	t.Helper()
	var out map[string]any
	text := t.Get(key)
	if text == "" {
		t.Fatalf("there is no entry of %q", key)
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("entry of %q: %v: %s", key, err, text)
	}
	return out
}

func (t test) has(key string, want map[string]any) {
	t.Helper()
	e := t.entry(key)
	for name, value := range want {
		got, there := e[name]
		if value == nil && there || value != nil && fmt.Sprint(got) != fmt.Sprint(value) {
			t.Errorf("entry of %q: %s is %v, want %v", key, name, got, value)
		}
	}
}

// Run holds a kind of ledger to the state machine. open makes a new, empty one.
func Run(t *testing.T, open func(t *testing.T) Kind) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(test)
	}{
		{"claim", claim},
		{"look", look},
		{"completed", completed},
		{"complete refused", completeRefused},
		{"old claim", oldClaim},
		{"abandon", abandon},
		{"abandon refused", abandonRefused},
		{"token", token},
		{"dependencies", dependencies},
		{"circles", circles},
		{"other tools", otherTools},
		{"corrupt", corruptEntries},
		{"keys", keys},
		{"at once", atOnce},
		{"others at once", othersAtOnce},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := open(t)
			if k.Rivals == 0 {
				k.Rivals = 8
			}
			c.run(test{t, k})
		})
	}
}

const (
	reserved    = "idempotency_key_reserved duplicate"
	duplicate   = "duplicate_idempotency_key duplicate"
	conflicting = "duplicate_idempotency_key conflicting"
	unknown     = "unknown_outcome unknown"
)

func claim(t test) {
	c := A("demo:rev-7")
	o := t.claim(c, At(0), "")
	if o.Epoch != 1 {
		t.Errorf("epoch %d", o.Epoch)
	}
	t.has(c.Key, map[string]any{
		"state": "RESERVED", "handoff_id": "h-1", "trace_id": "t-1", "from": "alice", "to": "bob", "reserved_at": "2026-10-02T12:00:00Z",
		"signature": "verified", "epoch": 1, "packet_sha256": c.Digest, "owned_paths": "[out/**]",
		"depends_on": nil, "claim_token_sha256": nil, "completed_at": nil, "released_at": nil,
	})
	if t.Refs {
		e := t.entry(c.Key)
		if nonce, _ := e["nonce"].(string); e["idempotency_key"] != c.Key || len(nonce) != 32 {
			t.Errorf("the claim behind the ref has key %v and nonce %v", e["idempotency_key"], e["nonce"])
		}
	}
	t.claim(c, At(0), reserved)
	other := c
	other.HandoffID = "h-2"
	t.claim(other, At(time.Hour), reserved)
	t.claim(A("another"), At(0), "")
}

func look(t test) {
	c := A("k")
	if o := t.check(c, At(0), false); len(o.Reasons) > 0 || o.Recorded || o.Epoch != 0 {
		t.Errorf("a look at an empty ledger: %+v", o)
	}
	if e := t.Get("k"); e != "" {
		t.Errorf("a look has written %s", e)
	}
	t.claim(c, At(0), "")
	before := t.Get("k")
	if got := Codes(t.check(c, At(0), false)); got != reserved {
		t.Errorf("a look at a claim: %s", got)
	}
	if after := t.Get("k"); after != before {
		t.Errorf("a look has changed %s to %s", before, after)
	}
}

func completed(t test) {
	c := A("k")
	t.claim(c, At(0), "")
	if o := t.complete(Of(c), At(time.Hour), ""); o.Already || o.Epoch != 1 {
		t.Errorf("completing: %+v", o)
	}
	t.has("k", map[string]any{"state": "COMPLETED", "reserved_at": "2026-10-02T12:00:00Z", "completed_at": "2026-10-02T13:00:00Z", "owned_paths": "[out/**]"})
	before := t.Get("k")
	if o := t.complete(Of(c), At(2*time.Hour), ""); !o.Already {
		t.Errorf("completing again: %+v", o)
	}
	if after := t.Get("k"); after != before {
		t.Errorf("completing again has changed %s to %s", before, after)
	}
	t.claim(c, At(1000*time.Hour), duplicate)
	for _, change := range []func(*ledger.Claim){func(c *ledger.Claim) { c.HandoffID = "h-2" }, func(c *ledger.Claim) { c.TraceID = "t-2" }} {
		other := c
		change(&other)
		t.claim(other, At(time.Hour), conflicting)
	}
	t.abandon(Of(c), At(1000*time.Hour), "release_not_reserved invalid")
}

func completeRefused(t test) {
	c := A("k")
	t.complete(Of(c), At(0), "completion_unknown_key invalid")
	t.complete(ledger.Work{HandoffID: "h-1"}, At(0), "missing_idempotency_key invalid")
	t.claim(c, At(0), "")
	w := Of(c)
	w.HandoffID, w.Digest = "h-2", "cd"
	t.complete(w, At(0), "completion_handoff_mismatch conflicting")
	w.HandoffID = "h-1"
	t.complete(w, At(0), "completion_packet_mismatch conflicting")
	w = Of(c)
	w.HasToken, w.Token = true, "ct_none"
	t.complete(w, At(0), "claim_token_invalid conflicting")
	t.has("k", map[string]any{"state": "RESERVED"})
	w = Of(c)
	w.Force = true
	t.abandon(w, At(0), "")
	t.complete(Of(c), At(0), "completion_unknown_key invalid")
}

func oldClaim(t test) {
	c := A("k")
	t.claim(c, At(0), "")
	t.claim(c, At(24*time.Hour), reserved)
	t.claim(c, At(24*time.Hour+time.Second), unknown)
	t.claim(c, At(-1000*time.Hour), reserved) // a claim from the future is fresh
	short := At(time.Hour)
	short.TTL = time.Hour
	t.claim(c, short, reserved)
	short.Now = short.Now.Add(time.Second)
	t.claim(c, short, unknown)
	// Nothing of that has changed what can be completed.
	t.complete(Of(c), At(1000*time.Hour), "")
}

func abandon(t test) {
	c := A("k")
	c.TokenDigest = ledger.TokenDigest("ct_old")
	t.claim(c, At(0), "")
	w := Of(c)
	w.HasToken, w.Token = true, "ct_old"
	if o := t.abandon(w, At(time.Minute), ""); o.Epoch != 1 {
		t.Errorf("epoch %d was released", o.Epoch)
	}
	t.has("k", map[string]any{"state": "RELEASED", "released_at": "2026-10-02T12:01:00Z", "epoch": 1})
	next := A("k")
	next.HandoffID = "h-2"
	if o := t.claim(next, At(time.Hour), ""); o.Epoch != 2 {
		t.Errorf("the next claim has epoch %d", o.Epoch)
	}
	t.has("k", map[string]any{"state": "RESERVED", "handoff_id": "h-2", "epoch": 2, "released_at": nil, "claim_token_sha256": nil, "reserved_at": "2026-10-02T13:00:00Z"})
	// The holder of the first claim can complete it no more.
	w.HandoffID = "h-2"
	t.complete(w, At(time.Hour), "claim_token_invalid conflicting")
	forced := Of(next)
	forced.Force = true
	t.abandon(forced, At(2*time.Hour), "")
	if o := t.claim(next, At(3*time.Hour), ""); o.Epoch != 3 {
		t.Errorf("the third claim has epoch %d", o.Epoch)
	}
}

func abandonRefused(t test) {
	c := A("k")
	t.abandon(Of(c), At(0), "release_not_reserved invalid")
	t.abandon(ledger.Work{}, At(0), "release_not_reserved invalid")
	t.claim(c, At(0), "")
	w := Of(c)
	w.Digest = "cd"
	w.Force = true
	t.abandon(w, At(0), "completion_packet_mismatch conflicting")
	w = Of(c)
	w.HasToken, w.Token, w.Force = true, "ct_x", true
	t.abandon(w, At(0), "claim_token_invalid conflicting")
	t.abandon(Of(c), At(0), "release_claim_fresh duplicate")
	t.abandon(Of(c), At(24*time.Hour), "release_claim_fresh duplicate")
	t.abandon(Of(c), At(-time.Hour), "release_claim_fresh duplicate")
	w = Of(c)
	w.HandoffID = "h-2" // not compared here
	t.abandon(w, At(25*time.Hour), "")
	t.abandon(Of(c), At(25*time.Hour), "release_not_reserved invalid")
}

func token(t test) {
	c := A("k")
	c.TokenDigest = ledger.TokenDigest("ct_mine")
	t.claim(c, At(0), "")
	t.has("k", map[string]any{"claim_token_sha256": c.TokenDigest})
	if strings.Contains(t.Get("k"), "ct_mine") {
		t.Error("the token stands in the ledger")
	}
	t.complete(Of(c), At(0), "claim_token_required invalid")
	w := Of(c)
	w.HasToken, w.Token = true, "ct_theirs"
	t.complete(w, At(0), "claim_token_invalid conflicting")
	w.Token = ""
	t.complete(w, At(0), "claim_token_invalid conflicting")
	w.Token = "ct_mine"
	t.complete(w, At(0), "")
	t.complete(Of(c), At(0), "claim_token_required invalid") // also when it is completed
	if o := t.complete(w, At(0), ""); !o.Already {
		t.Error("it was completed twice")
	}
}

func dependencies(t test) {
	up, down := A("up"), A("down")
	down.DependsOn = []string{"missing", "up", "up"}
	t.claim(up, At(0), "")
	t.claim(down, At(0), "") // unmet dependencies do not stop a claim
	t.has("down", map[string]any{"depends_on": "[missing up up]"})
	t.complete(Of(down), At(0), "dependency_incomplete blocked, dependency_unknown blocked")
	t.complete(Of(up), At(0), "")
	t.complete(Of(down), At(0), "dependency_unknown blocked")
	t.has("down", map[string]any{"state": "RESERVED"})
	t.claim(A("missing"), At(0), "")
	t.complete(Of(down), At(0), "dependency_incomplete blocked")
	t.abandon(ledger.Work{Key: "missing", Force: true, Digest: A("").Digest}, At(0), "")
	t.complete(Of(down), At(0), "dependency_incomplete blocked")
	t.claim(A("missing"), At(0), "")
	t.complete(Of(A("missing")), At(0), "")
	t.complete(Of(down), At(0), "")
}

func circles(t test) {
	const circle = "dependency_cycle invalid"
	self := A("self")
	self.DependsOn = []string{"x", "self"}
	t.claim(self, At(0), circle)
	a, b, c := A("a"), A("b"), A("c")
	a.DependsOn, b.DependsOn, c.DependsOn = []string{"b"}, []string{"c", "x"}, []string{"y", "a"}
	t.claim(a, At(0), "")
	t.claim(b, At(0), "")
	t.claim(c, At(0), circle)
	t.claim(a, At(0), reserved)
	again := a
	again.DependsOn = []string{"a"}
	t.claim(again, At(0), reserved+", "+circle)
	// Only claims in progress wait.
	forced := Of(b)
	forced.Force = true
	t.abandon(forced, At(0), "")
	t.claim(c, At(0), "")
}

// otherTools: entries of Synthe, and of versions before and after this one.
func otherTools(t test) {
	t.Put("done", `{"handoff_id": "h-1", "trace_id": "t-1", "completed_at": "2026-01-01T00:00:00Z"}`)
	t.claim(A("done"), At(0), duplicate)
	t.complete(Of(A("done")), At(0), "")
	t.Put("null", `{"state": null, "handoff_id": "h-1"}`)
	t.claim(A("null"), At(0), conflicting)

	t.Put("bare", `{"state": "RESERVED", "reserved_at": "2026-10-02T11:59:00+00:00"}`)
	t.claim(A("bare"), At(0), reserved)
	w := ledger.Work{Key: "bare", HandoffID: "any", Digest: "any"} // what the entry lacks is not compared
	t.complete(w, At(0), "")

	for i, when := range []string{`"yesterday"`, `"2026-10-02T12:00:00"`, `null`, `5`, `""`} {
		key := fmt.Sprintf("unreadable-%d", i)
		t.Put(key, `{"state": "RESERVED", "reserved_at": `+when+`}`)
		t.claim(A(key), At(0), unknown)
		t.abandon(ledger.Work{Key: key}, At(0), "")
	}
	t.Put("no-time", `{"state": "RESERVED"}`)
	t.claim(A("no-time"), At(0), unknown)

	t.Put("released", `{"note": {"by":1.50e1},"state":"RELEASED","released_at":"2026-01-01T00:00:00Z","epoch":7,"big":12345678901234567890123}`)
	if o := t.claim(A("released"), At(0), ""); o.Epoch != 8 {
		t.Errorf("epoch %d follows 7", o.Epoch)
	}
	if got := t.Get("released"); !strings.Contains(got, `{"by":1.50e1}`) || !strings.Contains(got, "12345678901234567890123") || strings.Contains(got, "released_at") {
		t.Errorf("unknown members are not as they were: %s", got)
	}
	t.Put("kept", `{"state":"RESERVED","reserved_at":"2026-10-02T12:00:00Z","x":1.10,"handoff_id":"h-1"}`)
	t.complete(ledger.Work{Key: "kept", HandoffID: "h-1"}, At(0), "")
	if got := t.Get("kept"); !strings.Contains(got, "1.10") || !strings.Contains(got, "COMPLETED") {
		t.Errorf("unknown members are not as they were: %s", got)
	}
	if t.Slow {
		return
	}
	for i, epoch := range []string{`"9"`, "1.5", "-3", "0", "null", "99999999999999999999"} {
		key := fmt.Sprintf("epoch-%d", i)
		t.Put(key, `{"state":"RELEASED","epoch":`+epoch+`}`)
		if o := t.claim(A(key), At(0), ""); o.Epoch != 2 {
			t.Errorf("epoch %d follows %s", o.Epoch, epoch)
		}
	}
}

func corruptEntries(t test) {
	const corrupt = "ledger_corrupt invalid"
	for i, entry := range []string{`{"state": "reserved"}`, `{"state": "OPEN"}`, `{"state": ""}`, `{"state": 1}`, `{"state": ["RESERVED"]}`} {
		fresh := fmt.Sprintf("k%d", i)
		t.Put(fresh, entry)
		t.claim(A(fresh), At(0), corrupt)
		t.complete(Of(A(fresh)), At(0), corrupt)
		t.abandon(Of(A(fresh)), At(0), corrupt)
	}
}

func keys(t test) {
	all := []string{
		"_corrupt", "quote\"back\\slash \U0001f600", "é", "e\u0301", "a/b", "..", "-x", "with space", "%41", "A", "a", "{}", "refs/heads/main", strings.Repeat("k", 512),
	}
	if t.Slow {
		all = all[:4]
	}
	for _, key := range all {
		t.claim(A(key), At(0), "")
		t.claim(A(key), At(0), reserved)
		t.complete(Of(A(key)), At(0), "")
		t.claim(A(key), At(0), duplicate)
	}
}

// atOnce: of simultaneous claims of one key exactly one is accepted.
func atOnce(t test) {
	var wg sync.WaitGroup
	outcomes := make([]ledger.Outcome, t.Rivals)
	for i := range outcomes {
		store, c := t.Open(), A("k")
		c.HandoffID = fmt.Sprintf("h-%d", i)
		wg.Go(func() { outcomes[i], _ = ledger.Check(context.Background(), store, c, At(0), true) })
	}
	wg.Wait()
	winner := ""
	for i, o := range outcomes {
		switch {
		case o.Recorded && winner != "":
			t.Errorf("both %s and h-%d were accepted", winner, i)
		case o.Recorded:
			winner = fmt.Sprintf("h-%d", i)
		case Codes(o) != reserved:
			t.Errorf("h-%d: %s (%v)", i, Codes(o), o.Detail)
		}
	}
	t.has("k", map[string]any{"handoff_id": winner})
}

// othersAtOnce: simultaneous claims of different keys lose no entry.
func othersAtOnce(t test) {
	var wg sync.WaitGroup
	for i := range t.Rivals {
		store := t.Open()
		wg.Go(func() {
			o, err := ledger.Check(context.Background(), store, A(fmt.Sprintf("k%d", i)), At(0), true)
			if err != nil || !o.Recorded {
				t.Errorf("k%d: %s, %v (%v)", i, Codes(o), err, o.Detail)
			}
		})
	}
	wg.Wait()
	for i := range t.Rivals {
		t.has(fmt.Sprintf("k%d", i), map[string]any{"state": "RESERVED"})
	}
}
