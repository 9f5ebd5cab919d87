// Package ledger is the memory of signed packets: what stands in it, who may
// change it and when, so that of any number of simultaneous claims of one key
// exactly one is accepted (packets.md 7 and 9). It decides and does no IO of its
// own: where entries stand is the business of a Store. FileStore and the hosts of
// refs are in fileledger, gitledger and githubapi.
//
//	         claim (ACCEPT)          complete
//	(none) ───────────────▶ RESERVED ─────────▶ COMPLETED   (final)
//	                         │    ▲
//	                abandon  ▼    │ claim, epoch + 1
//	                        RELEASED
//
// A new kind of ledger is a Store in a package of its own that passes
// ledgertest.Run, and a prefix of --ledger in gate/cli.
package ledger

import (
	"context"
	"errors"
	"time"
)

// DefaultTTL is how long a claim counts as work in progress.
const DefaultTTL = 24 * time.Hour

// Wait is how long a ledger is waited for: its lock, its answers (packets.md 6
// and 9).
const Wait = 30 * time.Second

// Terms are by what time a decision is made.
type Terms struct {
	Now time.Time     // the clock of the check, in UTC
	TTL time.Duration // how old a claim may be and still count as fresh
}

// Claim is what check 3 needs to know of a packet that check 1 has passed.
type Claim struct {
	Key, HandoffID, TraceID, From, To string

	Signature      string   // "verified" or "absent"
	Digest         string   // packet_sha256: hex SHA-256 of c(handoff)
	OwnedPaths     []string // effective, defaults included
	DependsOn      []string // keys it waits for
	ExclusivePaths bool     // the policy has exclusive_paths
	TokenDigest    string   // claim_token_sha256; "" when no token was asked for
}

// Work is what completing and abandoning need to know of a packet. They run none
// of the checks, so any member may be "" where the packet lacks it or has
// something else than a string there.
type Work struct {
	Key, HandoffID, Digest string

	DependsOn    []string // the keys among depends_on
	BadDependsOn bool     // depends_on is there and not a list of non-empty strings
	Token        string   // the text of the claim token
	HasToken     bool     // a token was given
	Force        bool     // abandon a fresh claim
}

// View is what a decision may see of a ledger.
type View interface {
	// Entries gives those of the keys that have an entry.
	Entries(ctx context.Context, keys ...string) (map[string]*Entry, error)
	// Reserved calls visit for every RESERVED entry, by key. A ledger in refs
	// cannot list its keys: Store.Lists tells.
	Reserved(visit func(key string, e *Entry)) error
}

// Verdict is a decision: the reasons against, or the entry to keep.
type Verdict struct {
	Reasons []Reason
	Entry   *Object    // what the key's entry becomes; nil changes nothing
	State   EntryState // of that entry
	At      time.Time  // when it came to be
	Epoch   int64      // of the claim that was made, completed or released
	Already bool       // it was completed before
	// Signature is the entry's member, of a claim that is completed or released.
	Signature string
}

// Judge decides by a view. It may be called more than once: after another was
// faster, by what the ledger holds then.
type Judge func(context.Context, View) (Verdict, error)

// Store keeps entries. The error of its calls is an *Error, or the context's own
// after that was cancelled.
type Store interface {
	// Look decides and writes nothing; no file is made and no lock is taken.
	Look(ctx context.Context, key string, judge Judge) (Verdict, error)
	// Update decides and keeps the verdict's entry in one step that no other
	// Update of the key can come between. It returns once that is durable.
	Update(ctx context.Context, key string, judge Judge) (Verdict, error)
	// Lists tells whether View.Reserved can answer.
	Lists() bool
}

// Error is a ledger that is corrupt, or that did not answer.
type Error struct {
	Corrupt bool
	Message string // a sentence for the report: no path, no address, nothing of this machine
	Err     error  // what happened, for standard error; outside text, may be nil
}

// Error gives the sentence and what happened.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap gives what happened.
func (e *Error) Unwrap() error { return e.Err }

// corrupt makes the error of an entry or a ledger that cannot be read in one way.
func corrupt(message string) error { return &Error{Corrupt: true, Message: message} }

// Unreachable makes the error of a ledger that did not answer. The message is a
// sentence for the report, err what happened.
func Unreachable(message string, err error) error { return &Error{Message: message, Err: err} }

// Outcome is what came of check 3, of completing or of abandoning.
type Outcome struct {
	Reasons  []Reason
	Recorded bool  // the entry stands in the ledger as this run wants it
	Already  bool  // it stood there before
	Epoch    int64 // of the claim; 0 where none is recorded
	// Signature is what the claim that was completed or released says of the
	// packet's: "verified" or "absent"; "" where it says neither.
	Signature string
	// Doubt: the ledger did not answer, so a write may have arrived.
	Doubt bool
	// Detail says for standard error what happened to the ledger; it is outside
	// text, and nil where nothing did.
	Detail error
}

// Check is check 3 (packets.md 6): it judges a claim by what the store holds
// and, with write, records it. The error is the context's own: a ledger that
// cannot be used is a reason.
func Check(ctx context.Context, s Store, c Claim, t Terms, write bool) (Outcome, error) {
	if c.ExclusivePaths && !s.Lists() {
		return Outcome{Reasons: []Reason{unsupported()}}, nil
	}
	judge := func(ctx context.Context, v View) (Verdict, error) { return c.judge(ctx, v, t) }
	if !write {
		verdict, err := s.Look(ctx, c.Key, judge)
		verdict.Entry = nil
		return outcome(ctx, verdict, err)
	}
	verdict, err := s.Update(ctx, c.Key, judge)
	return outcome(ctx, verdict, err)
}

// Complete ends a claim as done (packets.md 7).
func Complete(ctx context.Context, s Store, w Work, t Terms) (Outcome, error) {
	if w.Key == "" {
		return keyless(ctx, s, missingKey())
	}
	verdict, err := s.Update(ctx, w.Key, func(ctx context.Context, v View) (Verdict, error) { return w.complete(ctx, v, t) })
	return outcome(ctx, verdict, err)
}

// Abandon gives a claim back (packets.md 7).
func Abandon(ctx context.Context, s Store, w Work, t Terms) (Outcome, error) {
	if w.Key == "" {
		return keyless(ctx, s, notReserved("the packet has no idempotency_key, so nothing is reserved under it"))
	}
	verdict, err := s.Update(ctx, w.Key, func(ctx context.Context, v View) (Verdict, error) { return w.abandon(ctx, v, t) })
	return outcome(ctx, verdict, err)
}

// keyless gives the reason against a packet that no claim can be of. The ledger is
// read all the same, because one that cannot be used is said first and alone.
func keyless(ctx context.Context, s Store, r Reason) (Outcome, error) {
	verdict, err := s.Look(ctx, "", func(context.Context, View) (Verdict, error) { return Verdict{Reasons: []Reason{r}}, nil })
	return outcome(ctx, verdict, err)
}

func outcome(ctx context.Context, v Verdict, err error) (Outcome, error) {
	var trouble *Error
	switch {
	case err == nil:
		o := Outcome{Reasons: v.Reasons, Recorded: v.Entry != nil || v.Already, Already: v.Already}
		if o.Recorded {
			o.Epoch = v.Epoch
			if v.Signature == "verified" || v.Signature == "absent" {
				o.Signature = v.Signature
			}
		}
		return o, nil
	case ctx.Err() != nil:
		return Outcome{Doubt: true}, ctx.Err()
	case errors.As(err, &trouble) && trouble.Corrupt:
		return Outcome{Reasons: []Reason{corrupted(trouble.Message)}, Detail: trouble.Err}, nil
	case errors.As(err, &trouble):
		return Outcome{Reasons: []Reason{unreachable(trouble.Message)}, Doubt: true, Detail: trouble.Err}, nil
	}
	return Outcome{Reasons: []Reason{unreachable("the ledger did not answer")}, Doubt: true, Detail: err}, nil
}
