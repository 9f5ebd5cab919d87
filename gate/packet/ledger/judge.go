package ledger

import (
	"context"
	"fmt"
	"slices"
)

// judge is check 3 by what a ledger holds: the reasons in the order of packets.md
// 6, or the entry of the claim.
func (c *Claim) judge(ctx context.Context, v View, t Terms) (Verdict, error) {
	entry, err := entryOf(ctx, v, c.Key)
	if err != nil {
		return Verdict{}, err
	}
	var reasons []Reason
	if r, against := c.replayed(entry, t); against {
		reasons = append(reasons, r)
	}
	circle, err := c.circle(ctx, v)
	if err != nil {
		return Verdict{}, err
	}
	if circle != "" {
		reasons = append(reasons, because(DependencyCycle, Invalid, circle))
	}
	if c.ExclusivePaths {
		conflicts, err := c.conflicts(v)
		if err != nil {
			return Verdict{}, err
		}
		reasons = append(reasons, conflicts...)
	}
	if len(reasons) > 0 {
		return Verdict{Reasons: reasons}, nil
	}
	o, epoch := c.reserve(entry, t)
	return Verdict{Entry: o, State: Reserved, At: t.Now, Epoch: epoch}, nil
}

// entryOf gives the entry of a key; nil where there is none.
func entryOf(ctx context.Context, v View, key string) (*Entry, error) {
	entries, err := v.Entries(ctx, key)
	return entries[key], err
}

// replayed judges by the entry of the packet's own key.
func (c *Claim) replayed(e *Entry, t Terms) (Reason, bool) {
	switch {
	case e == nil, e.State == Released:
		return Reason{}, false
	case e.State == Completed:
		if e.is(memberHandoffID, c.HandoffID) && e.is(memberTraceID, c.TraceID) {
			return because(DuplicateIdempotencyKey, Duplicate, "this handoff was completed already"+at(e, memberCompletedAt)), true
		}
		r := because(DuplicateIdempotencyKey, Conflicting, "the key was completed already"+at(e, memberCompletedAt)+", for "+e.whose())
		r.Remedy = "A person decides which of the two stands. If this is other work, the sender gives it a key of its own and signs again."
		return r, true
	}
	fresh, readable := e.fresh(t)
	switch {
	case fresh:
		return because(IdempotencyKeyReserved, Duplicate, "the key is reserved since "+show(e.text(memberReservedAt))+" for "+e.whose()), true
	case readable:
		return because(UnknownOutcome, Unknown, "the key is reserved since "+show(e.text(memberReservedAt))+", longer than a claim counts as work in progress, for "+e.whose()), true
	}
	return because(UnknownOutcome, Unknown, "the key is reserved, and since when cannot be read, for "+e.whose()), true
}

// whose names the handoff of an entry, for people.
func (e *Entry) whose() string {
	if !e.has(memberHandoffID) {
		return "a handoff that the entry does not name"
	}
	return "handoff " + show(e.text(memberHandoffID)) + " of trace " + show(e.text(memberTraceID))
}

func at(e *Entry, member string) string {
	if s := e.text(member); s != "" {
		return " at " + show(s)
	}
	return ""
}

// maxWaiting is how many keys are followed from one packet. A ledger that leads
// further is not used to claim by.
const maxWaiting = 10_000

// circle says how depends_on leads back to the packet, "" when it does not: by
// name, or through the claims in progress that it waits for.
func (c *Claim) circle(ctx context.Context, v View) (string, error) {
	if slices.Contains(c.DependsOn, c.Key) {
		return "depends_on names the packet's own key", nil
	}
	seen := map[string]bool{}
	for next := c.DependsOn; len(next) > 0; {
		var ask []string
		for _, key := range next {
			if !seen[key] {
				seen[key] = true
				ask = append(ask, key)
			}
		}
		if len(seen) > maxWaiting {
			return "", Unreachable(fmt.Sprintf("more than %d keys stand in the chain of dependencies", maxWaiting), nil)
		}
		if len(ask) == 0 {
			break
		}
		entries, err := v.Entries(ctx, ask...)
		if err != nil {
			return "", err
		}
		next = nil
		for _, key := range ask {
			e := entries[key]
			if e == nil || e.State != Reserved {
				continue
			}
			waits, _ := e.strings(memberDependsOn)
			if slices.Contains(waits, c.Key) {
				return "depends_on leads back to the packet through the claim of " + show(key), nil
			}
			next = append(next, waits...)
		}
	}
	return "", nil
}

// conflicts gives one reason for each other claim in progress that may own some
// of the packet's paths. What cannot be read of a claim counts against it.
func (c *Claim) conflicts(v View) ([]Reason, error) {
	if len(c.OwnedPaths) == 0 {
		return nil, nil
	}
	var reasons []Reason
	mine := newGlobs(c.OwnedPaths)
	err := v.Reserved(func(key string, e *Entry) {
		if key == c.Key || e.text(memberTo) != "" && !e.is(memberTo, c.To) {
			return
		}
		what := ""
		if theirs, ok := e.strings(memberOwnedPaths); !ok || !e.has(memberOwnedPaths) {
			what = "which does not say what paths it owns"
		} else if a, b, meet := mine.meet(newGlobs(theirs)); meet {
			what = show(b) + " and " + show(a) + " may be the same files"
		}
		if what == "" {
			return
		}
		reasons = append(reasons, because(ClaimConflict, Blocked, "the claim of "+show(key)+" is in progress: "+what))
	})
	return reasons, err
}

// complete decides by what a ledger holds (packets.md 7, "Complete").
func (w *Work) complete(ctx context.Context, v View, t Terms) (Verdict, error) {
	e, err := entryOf(ctx, v, w.Key)
	if err != nil {
		return Verdict{}, err
	}
	switch {
	case e == nil:
		return against(because(CompletionUnknownKey, Invalid, "the ledger has no entry of the key "+show(w.Key)))
	case e.State == Released:
		return against(because(CompletionUnknownKey, Invalid, "the claim of "+show(w.Key)+" was released"+at(e, memberReleasedAt)))
	case e.has(memberHandoffID) && !e.is(memberHandoffID, w.HandoffID):
		return against(because(CompletionHandoffMismatch, Conflicting, "the key was claimed for "+e.whose()+", and the packet is handoff "+show(w.HandoffID)))
	case w.changed(e):
		return against(mismatch())
	case e.has(memberToken) && !w.HasToken:
		return against(because(ClaimTokenRequired, Invalid, "the claim was made with a token, and none was given"))
	case w.HasToken && !e.holds(w.Token):
		return against(w.foreign(e))
	case e.State == Completed:
		return Verdict{Already: true, Epoch: e.epoch(), Signature: e.text(memberSignature)}, nil
	}
	reasons, err := w.waits(ctx, v)
	if err != nil || len(reasons) > 0 {
		return Verdict{Reasons: reasons}, err
	}
	return e.moved(Completed, memberCompletedAt, t), nil
}

// changed tells a packet that is not the one of the claim.
func (w *Work) changed(e *Entry) bool { return e.has(memberDigest) && !e.is(memberDigest, w.Digest) }

// foreign is the reason against a token that is not the claim's.
func (w *Work) foreign(e *Entry) Reason {
	message := "the token is not that of the claim"
	if !e.has(memberToken) {
		message = "the claim was made without a token, so none is its own"
	}
	return because(ClaimTokenInvalid, Conflicting, message)
}

func against(r Reason) (Verdict, error) { return Verdict{Reasons: []Reason{r}}, nil }

// waits gives the reasons of depends_on, each at most once.
func (w *Work) waits(ctx context.Context, v View) ([]Reason, error) {
	entries, err := v.Entries(ctx, w.DependsOn...)
	if err != nil {
		return nil, err
	}
	var reasons []Reason
	for _, key := range w.DependsOn {
		if e := entries[key]; e != nil && e.State != Completed {
			reasons = append(reasons, because(DependencyIncomplete, Blocked, "it waits for "+show(key)+", which is "+string(e.State)))
			break
		}
	}
	unknown := ""
	for _, key := range w.DependsOn {
		if entries[key] == nil {
			unknown = "it waits for " + show(key) + ", which has no entry"
			break
		}
	}
	if unknown == "" && w.BadDependsOn {
		unknown = "its depends_on is not a list of keys"
	}
	if unknown != "" {
		reasons = append(reasons, because(DependencyUnknown, Blocked, unknown))
	}
	return reasons, nil
}

// abandon decides by what a ledger holds (packets.md 7, "Abandon").
func (w *Work) abandon(ctx context.Context, v View, t Terms) (Verdict, error) {
	e, err := entryOf(ctx, v, w.Key)
	if err != nil {
		return Verdict{}, err
	}
	switch {
	case e == nil:
		return against(notReserved("the ledger has no entry of the key " + show(w.Key)))
	case e.State != Reserved:
		return against(notReserved("the claim of " + show(w.Key) + " is " + string(e.State)))
	case w.changed(e):
		return against(mismatch())
	case w.HasToken && !e.holds(w.Token):
		return against(w.foreign(e))
	}
	if fresh, _ := e.fresh(t); fresh && !w.HasToken && !w.Force {
		return against(because(ReleaseClaimFresh, Duplicate, "the key is reserved since "+show(e.text(memberReservedAt))+", so its holder may be at work"))
	}
	return e.moved(Released, memberReleasedAt, t), nil
}
