package ledger

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"time"
)

// ClaimFile is the one file in the tree of a claim's commit.
const ClaimFile = "claim.json"

// MaxClaim is the largest claim.json that is read. Nothing that a packet can ask
// for is larger.
const MaxClaim = 2 << 20

// Author and Email are author and committer of every claim's commit. The address
// leads nowhere.
const (
	Author = "handoff-gate"
	Email  = "handoff-gate@localhost.invalid"
)

// Stored is what stands behind a ref.
type Stored struct {
	ID    string // of the commit, full
	Claim []byte // its claim.json; nil when it has no such file, or more than that
}

// Commit is a commit to be made.
type Commit struct {
	Parent      string    // the commit of the entry before; "" for the first
	Claim       []byte    // its claim.json
	When        time.Time // of author and committer
	Description string    // one line
}

// Host keeps refs: a repository here, one behind a remote, or GitHub's. An error
// of a call says nothing about the ref: it was refused, or the answer was lost.
type Host interface {
	// Read gives those of the refs that exist. A ref is left out only where the
	// answer would have shown it.
	Read(ctx context.Context, refs []string) (map[string]Stored, error)
	// Commit makes a commit whose tree holds the claim alone.
	Commit(ctx context.Context, c Commit) (id string, err error)
	// Write makes the ref name the commit, only if it names old, or is absent
	// where old is "".
	Write(ctx context.Context, ref, id, old string) error
}

// The tries of one write (packets.md 9).
const maxWrites = 3

// Refs is a Store of one ref for each key. The state is read once, and what was
// judged is exactly what a write demands.
type Refs struct {
	Host Host

	// Random gives the nonces; nil is crypto/rand's.
	Random io.Reader
	// Wait bounds one Look or Update; 0 is the constant Wait.
	Wait time.Duration
	// Pause waits before another try, the first being 1; nil waits some tenths of
	// a second and longer each time.
	Pause func(ctx context.Context, try int) error
}

// Lists is false: refs are named by digests of keys, and have no common snapshot.
func (r *Refs) Lists() bool { return false }

// Look decides by what the refs hold.
func (r *Refs) Look(ctx context.Context, key string, judge Judge) (Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, r.wait())
	defer cancel()
	old, err := r.read(ctx, key)
	if err != nil {
		return Verdict{}, err
	}
	return judge(ctx, r.view(key, old))
}

// Update decides and writes. After a refusal, or an answer that got lost, the ref
// is read again: our nonce there means that the write is ours, another means that
// somebody was faster, and then what they wrote is judged. Where nothing has
// changed the same commit is written again: a lock or a replica that lags refuses
// and then shows nothing, and only this run has the nonce.
func (r *Refs) Update(ctx context.Context, key string, judge Judge) (Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, r.wait())
	defer cancel()
	old, err := r.read(ctx, key)
	if err != nil {
		return Verdict{}, err
	}
	var verdict Verdict
	var id, nonce string
	var failure error
	for try := 1; ; try++ {
		if id == "" { // nothing is to be written yet, or another was faster, after the last try too
			if verdict, err = judge(ctx, r.view(key, old)); err != nil || verdict.Entry == nil {
				return verdict, err
			}
		}
		if try > maxWrites {
			break
		}
		if id == "" {
			if nonce, err = r.nonce(); err != nil {
				return Verdict{}, err
			}
			verdict.Entry.set(memberKey, quote(key))
			verdict.Entry.set(memberNonce, quote(nonce))
			id, err = r.Host.Commit(ctx, Commit{
				Parent: old.id, Claim: append(verdict.Entry.JSON(), '\n'), When: verdict.At,
				Description: fmt.Sprintf("%s, epoch %d", verdict.State, verdict.Epoch),
			})
			if err != nil {
				return Verdict{}, r.failed("the commit of the claim could not be made", err)
			}
		}
		if failure = r.Host.Write(ctx, Ref(key), id, old.id); failure == nil {
			return verdict, nil
		}
		now, err := r.read(ctx, key)
		var trouble *Error
		switch {
		case errors.As(err, &trouble) && trouble.Corrupt:
			return Verdict{}, err
		case err != nil:
			failure = errors.Join(failure, err)
		case now.id == id || now.entry != nil && now.entry.is(memberNonce, nonce):
			return verdict, nil
		case now.id != old.id:
			old, id = now, ""
			continue
		}
		if try < maxWrites {
			if err := r.pause(ctx, try); err != nil {
				break
			}
		}
	}
	return Verdict{}, r.failed("the ledger did not take the claim, or did not say that it has", failure)
}

func (r *Refs) failed(message string, err error) error {
	var trouble *Error
	if errors.As(err, &trouble) {
		return trouble
	}
	return Unreachable(message, err)
}

func (r *Refs) wait() time.Duration {
	if r.Wait == 0 {
		return Wait
	}
	return r.Wait
}

func (r *Refs) pause(ctx context.Context, try int) error {
	if r.Pause != nil {
		return r.Pause(ctx, try)
	}
	// Those who were refused at once do not come back at once.
	d := time.Duration(try)*200*time.Millisecond + time.Duration(mathrand.Int64N(int64(300*time.Millisecond))) //nolint:gosec // who waits how long is no secret.
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// nonce gives 128 random bits. Without them two runs that build the same entry in
// the same second would build the same commit, and a push of a commit that the
// ref has already succeeds.
func (r *Refs) nonce() (string, error) {
	random := r.Random
	if random == nil {
		random = rand.Reader
	}
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", err
	}
	return hex.EncodeToString(b[:]), nil
}

// standing is the entry of a key and the commit that holds it; both zero where
// there is none.
type standing struct {
	id    string
	entry *Entry
}

func (r *Refs) read(ctx context.Context, key string) (standing, error) {
	found, err := r.entries(ctx, []string{key})
	return found[key], err
}

func (r *Refs) entries(ctx context.Context, keys []string) (map[string]standing, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	refs := make([]string, len(keys))
	for i, key := range keys {
		refs[i] = Ref(key)
	}
	stored, err := r.Host.Read(ctx, refs)
	if err != nil {
		return nil, r.failed("the ledger could not be read", err)
	}
	found := map[string]standing{}
	for i, key := range keys {
		s, ok := stored[refs[i]]
		if !ok {
			continue
		}
		if s.Claim == nil {
			return nil, corrupt("the ref of the key " + show(key) + " names no commit of one " + ClaimFile)
		}
		e, err := readClaim(key, s.Claim)
		if err != nil {
			return nil, err
		}
		found[key] = standing{s.ID, e}
	}
	return found, nil
}

// refsView sees one key as it was read for the write, and others as they are when
// they are asked for: completed is final, so completion is sound all the same.
type refsView struct {
	refs *Refs
	seen map[string]*Entry // nil for a key without an entry
}

func (r *Refs) view(key string, s standing) *refsView {
	return &refsView{refs: r, seen: map[string]*Entry{key: s.entry}}
}

// Entries reads those that were not read before.
func (v *refsView) Entries(ctx context.Context, keys ...string) (map[string]*Entry, error) {
	var ask []string
	for _, key := range keys {
		if _, known := v.seen[key]; !known {
			v.seen[key] = nil
			ask = append(ask, key)
		}
	}
	found, err := v.refs.entries(ctx, ask)
	if err != nil {
		return nil, err
	}
	for key, s := range found {
		v.seen[key] = s.entry
	}
	out := map[string]*Entry{}
	for _, key := range keys {
		if e := v.seen[key]; e != nil {
			out[key] = e
		}
	}
	return out, nil
}

// Reserved cannot be answered.
func (v *refsView) Reserved(func(string, *Entry)) error {
	return Unreachable("a ledger in refs cannot list its claims", nil)
}
