package packet

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/timestamp"
	"github.com/handoff-gate/handoff-gate/gate/packet/strict"
)

// checkAuthority is check 5: the packet asks for no more than it may.
func (c *Judged) checkAuthority() {
	if allowed := c.policy.allowedTools; allowed != nil {
		for _, tool := range c.h.allowedTools.Items {
			if !allowed.has(tool.Text) {
				c.reject(authority, authorityExceedsReceiverPolicy, c.doc.in(fAuthority, fAllowedTools),
					"the packet allows the tool %s, and the receiver's policy does not", show(tool.Text))
				break
			}
		}
	}
	c.judgeActions()
	for i := range dimensions {
		c.judgeBudget(i)
	}
}

// actions gives the planned actions.
func (c *Judged) actions() []*jsondoc.Value {
	if v := c.h.get(fPlannedActions); v != nil {
		return v.Items
	}
	return nil
}

func (c *Judged) judgeActions() {
	h := &c.h
	approvals := c.readApprovals()
	for i, action := range c.actions() {
		name, tool := text(action, fName), text(action, fTool)
		switch {
		case !lists(h.allowedTools, tool):
			c.reject(authority, toolNotAllowed, c.doc.in(fPlannedActions, i), "the action %s uses %s, which the packet does not allow", show(name), show(tool))
		case c.policy.allowedTools != nil && !c.policy.allowedTools.has(tool):
			c.reject(authority, toolNotAllowedByReceiver, c.doc.in(fPlannedActions, i), "the action %s uses %s, which the receiver's policy does not allow", show(name), show(tool))
		}
		for _, word := range []string{name, tool} {
			if lists(h.forbidden, word) || c.policy.forbidden.has(word) {
				c.reject(authority, forbiddenAction, c.doc.in(fPlannedActions, i), "the action %s with the tool %s is forbidden: %s", show(name), show(tool), show(word))
				break
			}
		}
		if lists(h.approvalRequired, name) || lists(h.approvalRequired, tool) || c.policy.approvalRequired.has(name) || c.policy.approvalRequired.has(tool) {
			c.judgeApproval(i, &plannedAction{v: action, name: name, tool: tool}, approvals)
		}
	}
}

// lists tells whether a list has exactly that text.
func lists(v *jsondoc.Value, word string) bool {
	return slices.ContainsFunc(v.Items, func(item *jsondoc.Value) bool { return item.Text == word })
}

// plannedAction is an action that needs an approval.
type plannedAction struct {
	v          *jsondoc.Value
	name, tool string
	params     map[string][]byte // canonical, by name; nil until asked for
}

// approval is one approval of the packet, judged once however many actions it is
// for.
type approval struct {
	i      int
	v      *jsondoc.Value
	action string
	params []param // nil where it has none, and then it fits any
	any    bool    // it has no params

	judged   bool
	problems []found
	unsigned bool // it has no signature, and none is required
	warned   bool
}

type param struct {
	name      string
	canonical []byte
}

func (c *Judged) readApprovals() []approval {
	list := member(c.h.authority.v, fApprovals)
	if list == nil {
		return nil
	}
	out := make([]approval, len(list.Items))
	for i, v := range list.Items {
		out[i] = approval{i: i, v: v, action: text(v, fAction), any: true}
		if p := member(v, fParams); p != nil {
			out[i].any = false
			for _, m := range p.Members {
				if m.Key != "commit" {
					out[i].params = append(out[i].params, param{m.Key, strict.Canonical(m.Value)})
				}
			}
		}
	}
	return out
}

// fits tells whether an approval is for the parameters that are planned.
func (a *approval) fits(action *plannedAction) bool {
	if a.any {
		return true
	}
	if action.params == nil {
		action.params = map[string][]byte{}
		if p := member(action.v, fParams); p != nil {
			for _, m := range p.Members {
				action.params[m.Key] = strict.Canonical(m.Value)
			}
		}
	}
	for _, p := range a.params {
		planned, ok := action.params[p.name]
		if !ok || !bytes.Equal(planned, p.canonical) {
			return false
		}
	}
	return true
}

// judgeApproval looks for an approval of an action without a problem. Where there
// is none, the problems of all that fit are the reasons.
func (c *Judged) judgeApproval(i int, action *plannedAction, approvals []approval) {
	var candidates []*approval
	for _, word := range []string{action.name, action.tool} {
		for j := range approvals {
			if approvals[j].action == word {
				candidates = append(candidates, &approvals[j])
			}
		}
		if action.name == action.tool {
			break
		}
	}
	missing := func(k *kind, format string) {
		c.found[authority].add(found{
			kind: k, span: c.doc.in(fPlannedActions, i), message: fmt.Sprintf(format, show(action.name), show(action.tool)), action: action.name,
		})
	}
	if len(candidates) == 0 {
		missing(approvalMissing, "the action %s with the tool %s needs an approval, and the packet has none for it")
		return
	}
	candidates = slices.DeleteFunc(candidates, func(a *approval) bool { return !a.fits(action) })
	if len(candidates) == 0 {
		missing(approvalParamsMismatch, "the approvals of the action %s with the tool %s are for other parameters than those planned")
		return
	}
	var unsigned *approval
	for _, a := range candidates {
		c.judgeOne(a)
		switch {
		case len(a.problems) > 0:
		case !a.unsigned:
			return // approved, with a signature
		case unsigned == nil:
			unsigned = a
		}
	}
	if unsigned != nil {
		c.warnUnsigned(unsigned)
		return
	}
	for _, a := range candidates {
		for _, f := range a.problems {
			f.action = action.name
			c.found[authority].add(f)
		}
		if a.unsigned {
			c.warnUnsigned(a)
		}
	}
}

func (c *Judged) warnUnsigned(a *approval) {
	if !a.warned {
		a.warned = true
		c.found[authority].add(found{
			kind: approvalUnsigned, warns: true, span: c.doc.in(fAuthority, fApprovals, a.i), action: a.action,
			message: "the approval of " + show(a.action) + " by " + show(text(a.v, fApprover)) + " is not signed: it is only the packet's own claim",
		})
	}
}

// judgeOne finds the problems of one approval: its expiry, whether its approver
// counts, and its signature.
func (c *Judged) judgeOne(a *approval) {
	if a.judged {
		return
	}
	a.judged = true
	add := func(k *kind, message string) {
		a.problems = append(a.problems, found{kind: k, span: c.doc.in(fAuthority, fApprovals, a.i), message: message})
	}
	approver := text(a.v, fApprover)
	about := "the approval of " + show(a.action) + " by " + show(approver)
	if v := member(a.v, fExpiresAt); v != nil {
		switch expires, ok := when(v); {
		case !ok:
			add(approvalExpiresInvalid, about+" has an expiry that is no timestamp with an offset")
		case !expires.After(c.o.Now):
			add(approvalExpired, about+" expired at "+timestamp.Format(expires))
		}
	}
	switch trusted := c.policy.trustedApprovers; {
	case trusted != nil && !trusted.has(approver):
		add(approverNotTrusted, about+" does not count: the receiver's trusted_approvers does not have the approver")
	case trusted == nil && approver == c.h.text(fFrom):
		add(approverNotTrusted, about+" does not count: the approver is the sender, and nobody approves their own request")
	}
	sig := member(a.v, fSig)
	switch {
	case sig == nil && c.policy.signedApprovals:
		add(approvalUnsigned, about+" is not signed, and a signature is required")
		return
	case sig == nil:
		a.unsigned = true
		return
	}
	agent := c.registry.find(approver)
	k, several := agent.key(member(a.v, fKid), func(*key) bool { return true })
	if several {
		add(approvalKidRequired, about+" has no kid, and the approver has more than one key")
		return
	}
	if k == nil {
		why := "the registry has no usable key" + kidOf(a.v) + " of the approver"
		switch {
		case agent == nil:
			why = "the registry has no such agent"
		case agent.alias:
			why = "the approver is an alias, which has no keys"
		}
		add(approvalSignatureInvalid, about+" is signed, and "+why)
		return
	}
	if state, since := k.at(c.o.Now); state != keyGood {
		rules := map[keyState]*kind{keyRevoked: approvalKeyRevoked, keyNotYetValid: approvalKeyNotYetValid, keyExpired: approvalKeyExpired}
		add(rules[state], about+" is signed by the key"+kidOf(a.v)+", which "+since)
		return
	}
	if !sig.Is(jsondoc.String) || !k.public.verifies(approvalMessage(c.h.v, a.v), sig.Text) {
		add(approvalSignatureInvalid, about+" is not signed for this handoff's key, sender and receiver, this action, expiry and parameters")
	}
}

// approvalMessage is what an approval signs (packets.md 3): its own action,
// approver, expiry and, where it has them, params, and the handoff's key, sender
// and receiver.
func approvalMessage(h, a *jsondoc.Value) []byte {
	out := append([]byte(approvalDomain), '{')
	name := func(key string) { out = append(strict.AppendString(out, key), ':') }
	value := func(key string, v *jsondoc.Value) {
		name(key)
		if v == nil {
			out = append(out, "null"...)
		} else {
			out = strict.AppendCanonical(out, v)
		}
		out = append(out, ',')
	}
	value(fAction, member(a, fAction))
	value(fApprover, member(a, fApprover))
	value(fExpiresAt, member(a, fExpiresAt))
	value(fFrom, member(h, fFrom))
	value(fKey, member(h, fKey))
	if p := member(a, fParams); p != nil {
		value(fParams, p)
	}
	value(fTo, member(h, fTo))
	out[len(out)-1] = '}'
	return out
}

// judgeBudget compares one dimension: what the packet asks for with what the
// policy gives, and what is planned with the lower of the two.
func (c *Judged) judgeBudget(i int) {
	name := dimensions[i]
	asked, limit := c.h.dimension[i], c.policy.budget[i]
	least, whose := asked, "the packet's"
	if limit != nil && above(asked, limit) {
		c.reject(authority, authorityExceedsReceiverPolicy, c.doc.in(fAuthority, fBudget, name), "the packet asks for %s %s, and the receiver's policy allows %s", bare(asked.Text), name, bare(limit.Text))
		least, whose = limit, "the policy's"
	}
	sum := 0.0
	for _, action := range c.actions() {
		if v := member(action, estimates[i]); v != nil {
			n, _ := v.Float()
			sum += n
		}
	}
	if most, _ := least.Float(); sum > most {
		c.reject(authority, budgetExceeded, c.doc.in(fAuthority, fBudget, name), "the planned actions are estimated at %v %s, above %s budget of %s", sum, name, whose, bare(least.Text))
	}
}
