package packet

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/cases"

	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/timestamp"
	"github.com/handoff-gate/handoff-gate/gate/packet/strict"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// Registry says who exists, by which keys they sign and what receivers allow
// (packets.md 5). It is read once and serves any number of checks at a time.
type Registry struct {
	path    string
	agents  map[string]*agent
	top     *policy // of those whose agent has none of its own
	problem *found  // why nothing is checked by it; nil where it is sound
	notes   []found // warnings about it
}

// agent is one entry of the registry.
type agent struct {
	alias  bool
	keys   []key   // usable ones; none of an alias
	policy *policy // both layers merged
}

// key is one usable key of an agent.
type key struct {
	public                         publicKey
	kid                            string
	hasKid                         bool
	validFrom, validUntil, revoked *time.Time
}

// ReadRegistry reads the bytes of a registry. path is its place in the report.
func ReadRegistry(path string, data []byte) *Registry {
	r := &Registry{path: path, agents: map[string]*agent{}}
	doc, err := strict.Parse(strict.Registry, data)
	if err != nil {
		r.problem = &found{kind: registryUnreadable, path: path, span: firstLine, message: err.Error()}
		return r
	}
	reader := registryReader{r: r, doc: doc}
	if problem := reader.read(); problem != nil {
		r.problem, r.notes = problem, nil
	}
	return r
}

// NoRegistry is a registry that cannot be had, with the reason as a sentence.
func NoRegistry(path, why string) *Registry {
	return &Registry{path: path, problem: &found{kind: registryUnreadable, path: path, span: firstLine, message: why}}
}

// Sound says why nothing can be checked by the registry, as its code and a
// sentence; nil where it is sound.
func (r *Registry) Sound() error {
	if r.problem == nil {
		return nil
	}
	return errors.New(r.problem.sentence())
}

// find gives the agent of exactly that id; nil where there is none.
func (r *Registry) find(id string) *agent { return r.agents[id] }

// policyOf is the policy that judges packets to an agent: the top-level one where
// the registry has no such agent (packets.md 5.2).
func (r *Registry) policyOf(id string) *policy {
	if a := r.find(id); a != nil {
		return a.policy
	}
	return r.top
}

// at tells whether a key counts at a time, and where it does not, ends a sentence
// about it with since or until when.
func (k *key) at(now time.Time) (state keyState, since string) {
	switch {
	case k.revoked != nil && !now.Before(*k.revoked):
		return keyRevoked, "is revoked since " + timestamp.Format(*k.revoked)
	case k.validFrom != nil && now.Before(*k.validFrom):
		return keyNotYetValid, "is valid from " + timestamp.Format(*k.validFrom) + " on"
	case k.validUntil != nil && !now.Before(*k.validUntil):
		return keyExpired, "was valid until " + timestamp.Format(*k.validUntil)
	}
	return keyGood, ""
}

// keyState says whether a key counts.
type keyState uint8

const (
	keyGood keyState = iota
	keyRevoked
	keyNotYetValid
	keyExpired
)

// registryReader reads a registry into its agents. It stops at the first member
// that is malformed.
type registryReader struct {
	r      *Registry
	doc    *jsondoc.Document
	shared map[string]string // algorithm and public key to the first agent that has it
}

func (g *registryReader) malformed(m jsondoc.Member, format string, args ...any) *found {
	span := firstLine
	if m.Value != nil {
		span = g.doc.AtKey(m)
	}
	return &found{kind: registryMalformed, path: g.r.path, span: span, message: fmt.Sprintf(format, args...)}
}

func (g *registryReader) note(k *kind, span report.Span, format string, args ...any) {
	g.r.notes = append(g.r.notes, found{kind: k, path: g.r.path, span: span, message: fmt.Sprintf(format, args...)})
}

func (g *registryReader) read() *found {
	root := g.doc.Root
	if !root.Is(jsondoc.Object) {
		return g.malformed(jsondoc.Member{}, "the registry is %s, not an object", root.Kind.Article())
	}
	top, problem := g.policy(root, "policy")
	if problem != nil {
		return problem
	}
	g.r.top = merge(nil, top)
	agents, _ := root.Member("agents")
	switch {
	case absent(agents.Value):
		return g.malformed(agents, "the registry has no member agents")
	case !agents.Value.Is(jsondoc.Object):
		return g.malformed(agents, "agents is %s, not an object", agents.Value.Kind.Article())
	}
	g.shared = map[string]string{}
	for _, m := range agents.Value.Members {
		if problem := g.agent(m, top); problem != nil {
			return problem
		}
	}
	g.confusable(agents.Value.Members)
	return nil
}

func (g *registryReader) agent(m jsondoc.Member, top *policy) *found {
	if !m.Value.Is(jsondoc.Object) {
		return g.malformed(m, "the agent %s is %s, not an object", show(m.Key), m.Value.Kind.Article())
	}
	a := &agent{}
	g.r.agents[m.Key] = a
	if alias, ok := m.Value.Member("alias_of"); ok && !absent(alias.Value) {
		if !alias.Value.Is(jsondoc.String) {
			return g.malformed(alias, "alias_of of the agent %s is %s, not a string", show(m.Key), alias.Value.Kind.Article())
		}
		a.alias = true
	}
	own, problem := g.policy(m.Value, "policy of the agent "+show(m.Key))
	if problem != nil {
		return problem
	}
	if own == nil {
		a.policy = g.r.top
	} else {
		a.policy = merge(top, own)
	}
	keys, problem := g.keys(m)
	if problem != nil {
		return problem
	}
	if !a.alias {
		a.keys = keys
	}
	return nil
}

func (g *registryReader) keys(a jsondoc.Member) ([]key, *found) {
	list, _ := a.Value.Member("keys")
	if absent(list.Value) {
		return nil, nil
	}
	if !list.Value.Is(jsondoc.Array) {
		return nil, g.malformed(list, "keys of the agent %s is %s, not a list", show(a.Key), list.Value.Kind.Article())
	}
	var out []key
	kids := map[string]bool{}
	for _, v := range list.Value.Items {
		if !v.Is(jsondoc.Object) {
			return nil, g.malformed(list, "a key of the agent %s is %s, not an object", show(a.Key), v.Kind.Article())
		}
		k := key{}
		kid, ok := v.Member(fKid)
		switch {
		case !ok || absent(kid.Value):
			if len(list.Value.Items) > 1 {
				return nil, g.malformed(list, "the agent %s has several keys, and one of them has no kid", show(a.Key))
			}
		case !kid.Value.Is(jsondoc.String):
			return nil, g.malformed(kid, "a kid of the agent %s is %s, not a string", show(a.Key), kid.Value.Kind.Article())
		case kids[kid.Value.Text]:
			return nil, g.malformed(kid, "the agent %s has two keys with the kid %s", show(a.Key), show(kid.Value.Text))
		default:
			k.kid, k.hasKid = kid.Value.Text, true
			kids[k.kid] = true
		}
		for _, t := range []struct {
			name string
			to   **time.Time
		}{{"valid_from", &k.validFrom}, {"valid_until", &k.validUntil}, {"revoked_at", &k.revoked}} {
			m, ok := v.Member(t.name)
			if !ok || absent(m.Value) {
				continue
			}
			at, ok := when(m.Value)
			if !ok {
				return nil, g.malformed(m, "%s of a key of the agent %s is no timestamp with an offset", t.name, show(a.Key))
			}
			*t.to = &at
		}
		if g.public(a.Key, v, &k) {
			out = append(out, k)
		}
	}
	return out, nil
}

// public reads the public key itself; one that cannot be used is a warning and is
// left out.
func (g *registryReader) public(id string, v *jsondoc.Value, k *key) bool {
	alg := Ed25519
	if m := member(v, fAlg); m != nil {
		alg = m.Text
		if !m.Is(jsondoc.String) {
			alg = ""
		}
	}
	why := "it has no public_key"
	encoded := member(v, "public_key")
	if encoded.Is(jsondoc.String) {
		k.public, why = usable(alg, encoded.Text)
	}
	if why != "" {
		g.note(registryKeyUnusable, g.doc.At(v), "a key of the agent %s%s cannot be used: %s", show(id), named(k), why)
		return false
	}
	shared := alg + ":" + encoded.Text
	if first, twice := g.shared[shared]; !twice {
		g.shared[shared] = id
	} else if first != id {
		g.note(registrySharedKey, g.doc.At(v), "the agents %s and %s have the same public key", show(first), show(id))
	}
	return true
}

func named(k *key) string {
	if !k.hasKid {
		return ""
	}
	return " (" + show(k.kid) + ")"
}

// confusable warns of ids that a reviewer may take for one another.
func (g *registryReader) confusable(agents []jsondoc.Member) {
	folded := map[string]string{}
	fold := cases.Fold()
	for _, m := range agents {
		f := fold.String(m.Key)
		if first, twice := folded[f]; twice {
			g.note(registryConfusableIDs, g.doc.AtKey(m), "the ids %s and %s differ in case only", show(first), show(m.Key))
		} else {
			folded[f] = m.Key
		}
		if s := mixed(m.Key); s != "" {
			g.note(registryConfusableIDs, g.doc.AtKey(m), "the id %s mixes Latin and %s letters", show(m.Key), s)
		}
	}
}

// mixed names the script that an id mixes with Latin; "" where it mixes none.
func mixed(id string) string {
	has := func(t *unicode.RangeTable) bool {
		return strings.IndexFunc(id, func(r rune) bool { return unicode.Is(t, r) }) >= 0
	}
	switch {
	case !has(unicode.Latin):
	case has(unicode.Cyrillic):
		return "Cyrillic"
	case has(unicode.Greek):
		return "Greek"
	}
	return ""
}

// when reads a timestamp.
func when(v *jsondoc.Value) (time.Time, bool) {
	if !v.Is(jsondoc.String) {
		return time.Time{}, false
	}
	return timestamp.Parse(v.Text)
}

// The members of a policy (packets.md 5.1).
const (
	pAllowedTools     = "allowed_tools"
	pTrustedApprovers = "trusted_approvers"
	pForbidden        = "forbidden"
	pApprovalRequired = "approval_required_for"
	pBudget           = "budget"
	pMaxTTL           = "max_ttl_hours"
	pSignatures       = "require_signatures"
	pSignedApprovals  = "require_signed_approvals"
	pPlannedActions   = "require_planned_actions"
	pVerifyEvidence   = "verify_evidence"
	pExclusivePaths   = "exclusive_paths"
	pDefaults         = "defaults"
)

// brokerMembers are members of a policy that Synthe's broker reads and nothing
// here evaluates.
var brokerMembers = []string{"allowed_paths", "forbidden_paths", "require_approval_commit_pin"}

// policy is what a receiver allows. Its lists are nil where there is none; an
// empty list allows nothing, or forbids nothing.
type policy struct {
	allowedTools, trustedApprovers set
	forbidden, approvalRequired    set

	budget [len(dimensions)]*jsondoc.Value // nil: no limit
	maxTTL *float64                        // hours; nil: no limit

	signatures, signedApprovals, plannedActions, verifyEvidence, exclusivePaths bool

	defaults map[string]*jsondoc.Value // what is there and not null
}

// set is a list whose order does not matter.
type set map[string]struct{}

func (s set) has(x string) bool {
	_, ok := s[x]
	return ok
}

// policy reads the member policy of the registry or an agent; nil where it is
// absent.
func (g *registryReader) policy(of *jsondoc.Value, name string) (*policy, *found) {
	m, _ := of.Member("policy")
	if absent(m.Value) {
		return nil, nil
	}
	if !m.Value.Is(jsondoc.Object) {
		return nil, g.malformed(m, "%s is %s, not an object", name, m.Value.Kind.Article())
	}
	p := &policy{}
	for _, m := range m.Value.Members {
		want, ok := p.take(m.Key, m.Value)
		if want != "" {
			return nil, g.malformed(m, "%s of the %s is not %s", show(m.Key), name, want)
		}
		if !ok && !slices.Contains(brokerMembers, m.Key) {
			g.note(registryUnknownPolicyKey, g.doc.AtKey(m), "the %s has the member %s, which is not known and holds nothing", name, show(m.Key))
		}
	}
	return p, nil
}

// take reads one member. want says what it had to be where it is something else;
// ok is false where there is no such member.
func (p *policy) take(name string, v *jsondoc.Value) (want string, ok bool) {
	unset := absent(v)
	list := func(to *set) (string, bool) {
		if unset {
			return "", true
		}
		s, ok := textSet(v)
		if !ok {
			return "a list of strings", true
		}
		*to = s
		return "", true
	}
	flag := func(to *bool) (string, bool) {
		b, ok := v.Bool()
		if !ok && !unset {
			return "true or false", true
		}
		*to = b
		return "", true
	}
	switch name {
	case pAllowedTools:
		return list(&p.allowedTools)
	case pTrustedApprovers:
		return list(&p.trustedApprovers)
	case pForbidden:
		return list(&p.forbidden)
	case pApprovalRequired:
		return list(&p.approvalRequired)
	case pSignatures:
		return flag(&p.signatures)
	case pSignedApprovals:
		return flag(&p.signedApprovals)
	case pPlannedActions:
		return flag(&p.plannedActions)
	case pVerifyEvidence:
		return flag(&p.verifyEvidence)
	case pExclusivePaths:
		return flag(&p.exclusivePaths)
	case pBudget:
		return p.takeBudget(v), true
	case pMaxTTL:
		if unset {
			return "", true
		}
		hours, ok := v.Float()
		if !ok || hours <= 0 || math.IsInf(hours, 0) {
			return "a finite number above 0", true
		}
		p.maxTTL = &hours
		return "", true
	case pDefaults:
		if unset {
			return "", true
		}
		if !v.Is(jsondoc.Object) {
			return "an object", true
		}
		p.defaults = map[string]*jsondoc.Value{}
		for _, m := range v.Members {
			if !absent(m.Value) {
				p.defaults[m.Key] = m.Value
			}
		}
		return "", true
	}
	return "", false
}

func (p *policy) takeBudget(v *jsondoc.Value) (want string) {
	if absent(v) {
		return ""
	}
	if !v.Is(jsondoc.Object) {
		return "an object of numbers"
	}
	for _, m := range v.Members {
		if absent(m.Value) {
			continue
		}
		if n, ok := m.Value.Float(); !ok || n < 0 {
			return "an object of numbers of 0 or more"
		}
		if i := slices.Index(dimensions[:], m.Key); i >= 0 {
			p.budget[i] = m.Value
		}
	}
	return ""
}

// textSet reads a list of strings.
func textSet(v *jsondoc.Value) (set, bool) {
	if !v.Is(jsondoc.Array) {
		return nil, false
	}
	s := make(set, len(v.Items))
	for _, item := range v.Items {
		if !item.Is(jsondoc.String) {
			return nil, false
		}
		s[item.Text] = struct{}{}
	}
	return s, true
}

// merge puts two layers together: authority only narrows (packets.md 5.1). Either
// may be nil; the result is not.
func merge(top, own *policy) *policy {
	switch {
	case top == nil && own == nil:
		return &policy{}
	case top == nil:
		return own
	case own == nil:
		return top
	}
	p := &policy{
		allowedTools: both(top.allowedTools, own.allowedTools), trustedApprovers: both(top.trustedApprovers, own.trustedApprovers),
		forbidden: either(top.forbidden, own.forbidden), approvalRequired: either(top.approvalRequired, own.approvalRequired),
		maxTTL: top.maxTTL, defaults: map[string]*jsondoc.Value{},
		signatures: top.signatures || own.signatures, signedApprovals: top.signedApprovals || own.signedApprovals,
		plannedActions: top.plannedActions || own.plannedActions, verifyEvidence: top.verifyEvidence || own.verifyEvidence,
		exclusivePaths: top.exclusivePaths || own.exclusivePaths,
	}
	if own.maxTTL != nil && (p.maxTTL == nil || *own.maxTTL < *p.maxTTL) {
		p.maxTTL = own.maxTTL
	}
	for i := range p.budget {
		p.budget[i] = lower(top.budget[i], own.budget[i])
	}
	for _, layer := range []*policy{top, own} {
		for k, v := range layer.defaults {
			p.defaults[k] = v
		}
	}
	return p
}

func both(a, b set) set {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	out := set{}
	for x := range a {
		if b.has(x) {
			out[x] = struct{}{}
		}
	}
	return out
}

func either(a, b set) set {
	out := set{}
	for _, s := range []set{a, b} {
		for x := range s {
			out[x] = struct{}{}
		}
	}
	return out
}

// lower gives the smaller of two limits, of which either may be nil.
func lower(a, b *jsondoc.Value) *jsondoc.Value {
	if a == nil || b != nil && above(a, b) {
		return b
	}
	return a
}
