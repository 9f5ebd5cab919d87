package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/timestamp"
	"github.com/handoff-gate/handoff-gate/gate/packet/strict"
)

// EntryState is where a key stands.
type EntryState string

// The states of an entry. One without a state is an older one and counts as
// completed.
const (
	Reserved  EntryState = "RESERVED"
	Completed EntryState = "COMPLETED"
	Released  EntryState = "RELEASED"
)

// The members of an entry (packets.md 7), and the two that an entry in git has
// besides (packets.md 9).
const (
	memberState       = "state"
	memberHandoffID   = "handoff_id"
	memberTraceID     = "trace_id"
	memberFrom        = "from"
	memberTo          = "to"
	memberReservedAt  = "reserved_at"
	memberCompletedAt = "completed_at"
	memberReleasedAt  = "released_at"
	memberSignature   = "signature"
	memberEpoch       = "epoch"
	memberDigest      = "packet_sha256"
	memberToken       = "claim_token_sha256" //nolint:gosec // a name, not a token.
	memberOwnedPaths  = "owned_paths"
	memberDependsOn   = "depends_on"

	memberKey   = "idempotency_key"
	memberNonce = "nonce"
)

// members are those of the table, which a claim writes anew.
var members = []string{
	memberState, memberHandoffID, memberTraceID, memberFrom, memberTo, memberReservedAt, memberCompletedAt, memberReleasedAt,
	memberSignature, memberEpoch, memberDigest, memberToken, memberOwnedPaths, memberDependsOn,
}

// Entry is one entry as it was read.
type Entry struct {
	State EntryState
	value *jsondoc.Value
	src   []byte
}

// unknownState ends the sentence about an entry whose state is none of ours.
const unknownState = "has a state that is none of RESERVED, COMPLETED and RELEASED"

// readEntry reads the bytes of one entry. The error is an *Error.
func readEntry(src []byte) (*Entry, error) {
	doc, err := strict.Parse(strict.Ledger, src)
	if err != nil {
		return nil, corrupt(err.Error())
	}
	if !doc.Root.Is(jsondoc.Object) {
		return nil, corrupt("an entry is no object")
	}
	e := &Entry{State: Completed, value: doc.Root, src: src}
	if v := doc.Root.Get(memberState); v != nil {
		var ok bool
		if e.State, ok = stateOf(v.Kind, v.Text); !ok {
			return nil, corrupt("an entry " + unknownState)
		}
	}
	return e, nil
}

// readClaim reads the claim.json behind a ref: the entry of exactly this key.
func readClaim(key string, src []byte) (*Entry, error) {
	e, err := readEntry(src)
	if err != nil {
		return nil, err
	}
	if !e.is(memberKey, key) {
		return nil, corrupt("the claim behind the ref of the key " + show(key) + " is that of another key")
	}
	return e, nil
}

// stateOf reads the value of the member state; null is as good as none.
func stateOf(k jsondoc.Kind, text string) (EntryState, bool) {
	if k == jsondoc.Null {
		return Completed, true
	}
	s := EntryState(text)
	return s, k == jsondoc.String && (s == Reserved || s == Completed || s == Released)
}

// get gives a member that is there and not null.
func (e *Entry) get(name string) *jsondoc.Value {
	if v := e.value.Get(name); v != nil && v.Kind != jsondoc.Null {
		return v
	}
	return nil
}

// has tells whether a member is there and not null.
func (e *Entry) has(name string) bool { return e.get(name) != nil }

// is tells whether a member is exactly that string.
func (e *Entry) is(name, want string) bool {
	v := e.get(name)
	return v != nil && v.Kind == jsondoc.String && v.Text == want
}

// text is a member that is a string; "" for any other.
func (e *Entry) text(name string) string {
	if v := e.get(name); v != nil && v.Kind == jsondoc.String {
		return v.Text
	}
	return ""
}

// strings gives a member that is a list of strings; ok is false for anything else
// that is there, with the strings that are in it. An absent list is empty.
func (e *Entry) strings(name string) (list []string, ok bool) {
	v := e.get(name)
	if v == nil {
		return nil, true
	}
	if v.Kind != jsondoc.Array {
		return nil, false
	}
	ok = true
	for _, item := range v.Items {
		if item.Kind != jsondoc.String {
			ok = false
			continue
		}
		list = append(list, item.Text)
	}
	return list, ok
}

// epoch is that of the entry's claim; 1 where older entries have none.
func (e *Entry) epoch() int64 {
	if v := e.get(memberEpoch); v != nil && strict.IsInteger(v) {
		// One far beyond any count of claims would have no next one.
		if n, err := strconv.ParseInt(v.Text, 10, 64); err == nil && n > 0 && n < 1<<53 {
			return n
		}
	}
	return 1
}

// fresh tells whether a claim is at most a TTL old; one from the future is. What
// cannot be read is not fresh.
func (e *Entry) fresh(t Terms) (fresh, readable bool) {
	at, ok := timestamp.Parse(e.text(memberReservedAt))
	if !ok {
		return false, false
	}
	return t.Now.Sub(at) <= t.TTL, true
}

// object gives the entry's members as they are spelled.
func (e *Entry) object() *Object {
	o := &Object{}
	for _, m := range e.value.Members {
		o.list = append(o.list, pair{m.Key, string(e.src[m.Value.Off:m.Value.End])})
	}
	return o
}

// Object is an entry to be written: members in order, each with the spelling of
// its value.
type Object struct{ list []pair }

type pair struct{ key, raw string }

// set gives a member a value, in its place or at the end.
func (o *Object) set(key, raw string) {
	for i := range o.list {
		if o.list[i].key == key {
			o.list[i].raw = raw
			return
		}
	}
	o.list = append(o.list, pair{key, raw})
}

// without gives the members whose key is none of those.
func (o *Object) without(keys []string) []pair {
	var out []pair
	for _, p := range o.list {
		if !slices.Contains(keys, p.key) {
			out = append(out, p)
		}
	}
	return out
}

// JSON gives the object on one line.
func (o *Object) JSON() []byte {
	out := []byte{'{'}
	for i, p := range o.list {
		if i > 0 {
			out = append(out, ", "...)
		}
		out = strict.AppendString(out, p.key)
		out = append(out, ": "...)
		out = append(out, p.raw...)
	}
	return append(out, '}')
}

func quote(s string) string { return string(strict.AppendString(nil, s)) }

func list(items []string) string {
	out := []byte{'['}
	for i, s := range items {
		if i > 0 {
			out = append(out, ", "...)
		}
		out = strict.AppendString(out, s)
	}
	return string(append(out, ']'))
}

// reserve makes the entry of a claim. previous is the released entry that it
// follows, or nil: what of it is not ours stays.
func (c *Claim) reserve(previous *Entry, t Terms) (o *Object, epoch int64) {
	epoch = 1
	o = &Object{}
	add := func(key, raw string) { o.list = append(o.list, pair{key, raw}) }
	if previous != nil {
		epoch = previous.epoch() + 1
	}
	add(memberState, quote(string(Reserved)))
	add(memberHandoffID, quote(c.HandoffID))
	add(memberTraceID, quote(c.TraceID))
	add(memberFrom, quote(c.From))
	add(memberTo, quote(c.To))
	add(memberReservedAt, quote(timestamp.FormatSeconds(t.Now)))
	add(memberSignature, quote(c.Signature))
	add(memberEpoch, strconv.FormatInt(epoch, 10))
	add(memberDigest, quote(c.Digest))
	if c.TokenDigest != "" {
		add(memberToken, quote(c.TokenDigest))
	}
	add(memberOwnedPaths, list(c.OwnedPaths))
	if len(c.DependsOn) > 0 {
		add(memberDependsOn, list(c.DependsOn))
	}
	if previous != nil {
		o.list = append(o.list, previous.object().without(members)...)
	}
	return o, epoch
}

// moved decides that the claim ends in another state. The member at gets the time.
func (e *Entry) moved(to EntryState, at string, t Terms) Verdict {
	o := e.object()
	o.set(memberState, quote(string(to)))
	o.set(at, quote(timestamp.FormatSeconds(t.Now)))
	return Verdict{Entry: o, State: to, At: t.Now, Epoch: e.epoch(), Signature: e.text(memberSignature)}
}

// Ref is the name of the ref that holds the entry of a key (packets.md 9).
func Ref(key string) string {
	sum := sha256.Sum256([]byte(key))
	return refPrefix + hex.EncodeToString(sum[:])
}

const refPrefix = "refs/handoff/claims/"
