package packet

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/packet/strict"
)

// The limits of packets.md 4.
const (
	maxName       = 256     // bytes of an agent's id
	maxIdentifier = 512     // bytes of an identifier
	maxPurpose    = 8 << 10 // bytes
	maxList       = 1000    // elements
	sha256Digits  = 64
)

// handoff is the object with the receiver's defaults filled in. The object itself
// never changes: its bytes are what is signed.
type handoff struct {
	v       *jsondoc.Value
	applied []string // what the defaults filled in, by full path

	inputs, scope, authority, acceptance part

	onFailure, ownedPaths, forbidden, allowedTools, approvalRequired *jsondoc.Value
	outputSchema, requiredEvidence, expiresAt                        *jsondoc.Value
	dimension                                                        [len(dimensions)]*jsondoc.Value // of the budget
}

// part is a member of the handoff that holds others.
type part struct {
	v    *jsondoc.Value // as it stands in the packet; nil where it is absent
	made bool           // it is absent, and defaults went into it
}

// get gives a member of the handoff that is there and not null, as it stands in
// the packet.
func (h *handoff) get(key string) *jsondoc.Value { return member(h.v, key) }

func (h *handoff) text(key string) string { return text(h.v, key) }

// fill reads the handoff and fills in defaults (packets.md 5.2).
func fill(v *jsondoc.Value, p *policy) handoff {
	h := handoff{v: v}
	for _, part := range []struct {
		to   *part
		name string
	}{{&h.inputs, fInputs}, {&h.scope, fScope}, {&h.authority, fAuthority}, {&h.acceptance, fAcceptance}} {
		part.to.v = h.get(part.name)
	}
	for _, f := range []struct {
		of   *part
		name string
		to   **jsondoc.Value
		in   string
	}{
		{&h.scope, fOwnedPaths, &h.ownedPaths, fScope},
		{&h.scope, fForbidden, &h.forbidden, fScope},
		{&h.authority, fAllowedTools, &h.allowedTools, fAuthority},
		{&h.authority, fApprovalRequired, &h.approvalRequired, fAuthority},
		{&h.acceptance, fOutputSchema, &h.outputSchema, fAcceptance},
		{&h.acceptance, fRequiredEvidence, &h.requiredEvidence, fAcceptance},
		{&h.acceptance, fExpiresAt, &h.expiresAt, fAcceptance},
	} {
		*f.to = member(f.of.v, f.name)
		if given := p.defaults[f.name]; given != nil && empty(*f.to) && f.of.fillable() {
			*f.to, f.of.made = given, f.of.v == nil
			h.applied = append(h.applied, f.in+"."+f.name)
		}
	}
	h.onFailure = h.get(fOnFailure)
	if given := p.defaults[fOnFailure]; given != nil && empty(h.onFailure) {
		h.onFailure = given
		h.applied = append(h.applied, fOnFailure)
	}
	h.fillBudget(p.defaults[fBudget])
	return h
}

// fillable tells whether something can be filled into the part.
func (p *part) fillable() bool { return p.v == nil || p.v.Kind == jsondoc.Object }

// fillBudget fills each dimension that is missing.
func (h *handoff) fillBudget(given *jsondoc.Value) {
	budget := member(h.authority.v, fBudget)
	for i, name := range dimensions {
		h.dimension[i] = member(budget, name)
		d := member(given, name)
		if d == nil || h.dimension[i] != nil || !h.authority.fillable() || !empty(budget) && budget.Kind != jsondoc.Object {
			continue
		}
		h.dimension[i], h.authority.made = d, h.authority.v == nil
		h.applied = append(h.applied, fAuthority+"."+fBudget+"."+name)
	}
}

// checkStructure is check 1. Each step collects what it finds, and one that found
// something ends the check.
func (c *Judged) checkStructure() {
	for _, step := range []func(){
		c.readable, c.registered, c.named, c.required, c.formed, c.complete, c.shaped,
	} {
		if step(); c.Malformed() {
			break
		}
	}
	if c.doc.handoff != nil && !c.o.Strict {
		c.unknownFields(func(path string, m jsondoc.Member) {
			c.warn(structure, unknownField, c.doc.json.AtKey(m), "the format has no member %s, so it is without effect", path)
		})
	}
}

// readable is step 1a.
func (c *Judged) readable() {
	if r := c.doc.refusal; r != nil && r.kind != missingHandoff {
		c.found[structure].add(*r)
	}
}

// registered is step 1b.
func (c *Judged) registered() {
	if c.registry.problem != nil {
		c.found[structure].add(*c.registry.problem)
	}
}

// named is step 1c.
func (c *Judged) named() {
	if c.doc.refusal != nil {
		c.found[structure].add(*c.doc.refusal)
		return
	}
	to := text(c.doc.handoff, fTo)
	c.policy = c.registry.policyOf(to)
	if c.o.Strict {
		strict := *c.policy
		strict.signatures, strict.signedApprovals, strict.plannedActions, strict.verifyEvidence = true, true, true, true
		c.policy = &strict
	}
	c.h = fill(c.doc.handoff, c.policy)
}

func (c *Judged) missing(path ...any) {
	name := dotted(path)
	c.found[structure].add(found{kind: missingField, detail: name, span: c.doc.in(path...), message: "the handoff has no " + name})
}

func (c *Judged) malformed(what string, path ...any) {
	c.found[structure].add(found{kind: malformed, detail: dotted(path), span: c.doc.in(path...), message: what})
}

// dotted writes a path as reason codes have it: "planned_actions[2].params".
func dotted(path []any) string {
	var b strings.Builder
	for _, step := range path {
		switch step := step.(type) {
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step)
		case int:
			b.WriteString("[" + strconv.Itoa(step) + "]")
		}
	}
	return b.String()
}

// required is step 1d.
func (c *Judged) required() {
	for _, name := range []string{fID, fKey, fTraceID, fSchemaVersion, fFrom, fTo, fPurpose, fInputs, fScope, fAuthority, fAcceptance, fOnFailure} {
		v, made := c.h.get(name), false
		switch name {
		case fScope:
			made = c.h.scope.made
		case fAuthority:
			made = c.h.authority.made
		case fAcceptance:
			made = c.h.acceptance.made
		case fOnFailure:
			v = c.h.onFailure
		}
		if empty(v) && !made {
			c.missing(name)
		}
	}
}

// formed is step 1e.
func (c *Judged) formed() {
	if v := c.h.get(fSchemaVersion); !v.Is(jsondoc.String) || v.Text != Version {
		c.reject(structure, badSchemaVersion, c.doc.in(fSchemaVersion), "schema_version must be the text %q", Version)
	}
	if v := c.h.onFailure; !v.Is(jsondoc.String) || !slices.Contains([]string{"reject", "retry_with_budget", "escalate", "request_human"}, v.Text) {
		c.reject(structure, badOnFailure, c.doc.in(fOnFailure), "on_failure must be reject, retry_with_budget, escalate or request_human")
	}
	for _, name := range []string{fID, fKey, fTraceID, fFrom, fTo} {
		limit := maxIdentifier
		if name == fFrom || name == fTo {
			limit = maxName
		}
		if !isName(c.h.get(name), limit) {
			c.malformed(name+" must be a text of 1 to "+strconv.Itoa(limit)+" bytes without control and format characters, and without white space at its ends", name)
		}
	}
	if !isPurpose(c.h.get(fPurpose)) {
		c.malformed("purpose must be a text of at most 8 KiB with something in it, without bidirectional controls", fPurpose)
	}
	if to := c.h.get(fTo); c.o.Receiver != "" && (!to.Is(jsondoc.String) || to.Text != c.o.Receiver) {
		c.reject(structure, receiverMismatch, c.doc.in(fTo), "the receiver here is %s, and the packet is for %s", show(c.o.Receiver), show(c.h.text(fTo)))
	}
	for _, p := range []struct {
		part
		name string
	}{{c.h.scope, fScope}, {c.h.authority, fAuthority}, {c.h.acceptance, fAcceptance}, {c.h.inputs, fInputs}} {
		if !p.made && !p.v.Is(jsondoc.Object) {
			c.malformed(p.name+" must be an object, and is "+p.v.Kind.Article(), p.name)
		}
	}
}

// isName tells a name, or with the larger limit an identifier (packets.md 4).
func isName(v *jsondoc.Value, limit int) bool {
	if !v.Is(jsondoc.String) || v.Text == "" || len(v.Text) > limit || strings.TrimFunc(v.Text, unicode.IsSpace) != v.Text {
		return false
	}
	return strings.IndexFunc(v.Text, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }) < 0
}

func isPurpose(v *jsondoc.Value) bool {
	if !v.Is(jsondoc.String) || len(v.Text) > maxPurpose || strings.TrimSpace(v.Text) == "" {
		return false
	}
	return strings.IndexFunc(v.Text, func(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }) < 0
}

// complete is step 1f.
func (c *Judged) complete() {
	h := &c.h
	refs := member(h.inputs.v, fArtifactRefs)
	for _, f := range []struct {
		v        *jsondoc.Value
		in, name string
		full     bool // an empty list counts as missing
	}{
		{member(h.inputs.v, fStateRevision), fInputs, fStateRevision, false},
		{refs, fInputs, fArtifactRefs, true},
		{h.ownedPaths, fScope, fOwnedPaths, false},
		{h.forbidden, fScope, fForbidden, false},
		{h.allowedTools, fAuthority, fAllowedTools, true},
		{h.approvalRequired, fAuthority, fApprovalRequired, false},
		{h.outputSchema, fAcceptance, fOutputSchema, false},
		{h.requiredEvidence, fAcceptance, fRequiredEvidence, true},
		{h.expiresAt, fAcceptance, fExpiresAt, false},
	} {
		if empty(f.v) || f.full && f.v.Is(jsondoc.Array) && len(f.v.Items) == 0 {
			c.missing(f.in, f.name)
		}
	}
	for _, d := range h.dimension {
		if !d.Is(jsondoc.Number) {
			c.missing(fAuthority, fBudget)
			break
		}
	}
}

// shaped is step 1g.
func (c *Judged) shaped() {
	h := &c.h
	if v := h.get(fDependsOn); v != nil && !isList(v, func(item *jsondoc.Value) bool { return item.Is(jsondoc.String) && item.Text != "" }) {
		c.malformed("depends_on must be a list of at most 1000 non-empty texts", fDependsOn)
	}
	for _, f := range []struct {
		v        *jsondoc.Value
		in, name string
	}{
		{h.forbidden, fScope, fForbidden},
		{h.ownedPaths, fScope, fOwnedPaths},
		{h.allowedTools, fAuthority, fAllowedTools},
		{h.approvalRequired, fAuthority, fApprovalRequired},
		{h.requiredEvidence, fAcceptance, fRequiredEvidence},
	} {
		if !isList(f.v, func(item *jsondoc.Value) bool { return item.Is(jsondoc.String) }) {
			c.malformed(f.name+" must be a list of at most 1000 texts", f.in, f.name)
		}
	}
	if v := member(h.inputs.v, fStateRevision); !v.Is(jsondoc.String) {
		c.malformed("state_revision must be a text, and is "+v.Kind.Article(), fInputs, fStateRevision)
	}
	if v := h.outputSchema; !v.Is(jsondoc.String) && !v.Is(jsondoc.Object) {
		c.malformed("output_schema must be a text or an object, and is "+v.Kind.Article(), fAcceptance, fOutputSchema)
	}
	c.shapedRefs()
	c.shapedActions()
	c.shapedApprovals()
	c.shapedEvidence()
	for i, d := range h.dimension {
		if !fits(d) {
			c.malformed("budget: "+dimensions[i]+" must be a number of 0 or more that fits binary64", fAuthority, fBudget)
			break
		}
	}
	if c.o.Strict {
		c.unknownFields(func(path string, m jsondoc.Member) {
			c.found[structure].add(found{kind: unknownField, detail: path, span: c.doc.json.AtKey(m), message: "the format has no such member, so it is without effect"})
		})
	}
	if v := h.get(fPlannedActions); c.policy.plannedActions && (v == nil || v.Is(jsondoc.Array) && len(v.Items) == 0) {
		c.reject(structure, plannedActionsMissing, c.doc.in(fPlannedActions), "the packet plans no actions, and the receiver requires them")
	}
}

func isList(v *jsondoc.Value, good func(*jsondoc.Value) bool) bool {
	return v.Is(jsondoc.Array) && len(v.Items) <= maxList && !slices.ContainsFunc(v.Items, func(item *jsondoc.Value) bool { return !good(item) })
}

// elements looks at a list of objects that each need some texts, and gives those
// that have them by their index.
func (c *Judged) elements(v *jsondoc.Value, path []any, needed []string, each func(i int, item *jsondoc.Value)) {
	if v == nil {
		return
	}
	if !v.Is(jsondoc.Array) || len(v.Items) > maxList {
		c.malformed(dotted(path)+" must be a list of at most 1000 objects", path...)
		return
	}
	for i, item := range v.Items {
		good := item.Is(jsondoc.Object)
		for _, name := range needed {
			good = good && text(item, name) != ""
		}
		if !good {
			c.malformed("it must be an object with the non-empty texts "+strings.Join(needed, " and "), append(slices.Clone(path), i)...)
			continue
		}
		each(i, item)
	}
}

// digest judges a member sha256 that is there.
func (c *Judged) digest(item *jsondoc.Value, path ...any) {
	if v := member(item, fSHA256); v != nil && !isDigest(v) {
		c.found[structure].add(found{kind: badSHA256, detail: dotted(path), span: c.doc.in(path...), message: "sha256 must be 64 hex digits"})
	}
}

func isDigest(v *jsondoc.Value) bool {
	return v.Is(jsondoc.String) && len(v.Text) == sha256Digits && strings.Trim(v.Text, "0123456789abcdefABCDEF") == ""
}

func (c *Judged) shapedRefs() {
	c.elements(member(c.h.inputs.v, fArtifactRefs), []any{fInputs, fArtifactRefs}, []string{fPath}, func(i int, item *jsondoc.Value) {
		c.digest(item, fInputs, fArtifactRefs, i)
	})
}

func (c *Judged) shapedActions() {
	c.elements(c.h.get(fPlannedActions), []any{fPlannedActions}, []string{fName, fTool}, func(i int, item *jsondoc.Value) {
		for _, name := range estimates {
			if v := member(item, name); v != nil && !fits(v) {
				c.malformed("it must be a number of 0 or more that fits binary64", fPlannedActions, i, name)
			}
		}
		if v := member(item, fParams); v != nil && !v.Is(jsondoc.Object) {
			c.malformed("it must be an object, and is "+v.Kind.Article(), fPlannedActions, i, fParams)
		}
	})
}

func (c *Judged) shapedApprovals() {
	c.elements(member(c.h.authority.v, fApprovals), []any{fAuthority, fApprovals}, []string{fAction, fApprover}, func(i int, item *jsondoc.Value) {
		if v := member(item, fParams); v != nil && !v.Is(jsondoc.Object) {
			c.malformed("it must be an object, and is "+v.Kind.Article(), fAuthority, fApprovals, i, fParams)
		}
	})
}

func (c *Judged) shapedEvidence() {
	c.elements(member(c.h.acceptance.v, fEvidence), []any{fAcceptance, fEvidence}, []string{fKind}, func(i int, item *jsondoc.Value) {
		c.digest(item, fAcceptance, fEvidence, i)
		for _, name := range []string{fRef, fQuote} {
			if v := member(item, name); v != nil && !v.Is(jsondoc.String) {
				c.malformed("it must be a text, and is "+v.Kind.Article(), fAcceptance, fEvidence, i, name)
			}
		}
	})
}

// known are the members that the format has, by object.
var known = struct {
	handoff, signature, inputs, ref, scope, authority, budget, approval, action, acceptance, evidence []string
}{
	handoff: []string{
		fSchemaVersion, fID, fKey, fTraceID, fFrom, fTo, fPurpose, fOnFailure, fInputs, fScope, fAuthority, fPlannedActions, fDependsOn, fAcceptance,
	},
	signature:  []string{fSigner, fKid, fAlg, fSig},
	inputs:     []string{fStateRevision, fArtifactRefs},
	ref:        []string{fPath, fSHA256},
	scope:      []string{fOwnedPaths, fForbidden},
	authority:  []string{fAllowedTools, fBudget, fApprovalRequired, fApprovals},
	budget:     dimensions[:],
	approval:   []string{fAction, fApprover, fExpiresAt, fParams, fKid, fSig},
	action:     append([]string{fName, fTool, fParams}, estimates[:]...),
	acceptance: []string{fOutputSchema, fRequiredEvidence, fEvidence, fExpiresAt},
	evidence:   []string{fKind, fRef, fSHA256, fVerbatim, fQuote},
}

// unknownFields calls visit for each member that the format does not have, in the
// order of the document, with its path as reason codes have it.
func (c *Judged) unknownFields(visit func(path string, m jsondoc.Member)) {
	walk := func(v *jsondoc.Value, prefix string, names []string, into func(m jsondoc.Member)) {
		if !v.Is(jsondoc.Object) {
			return
		}
		for _, m := range v.Members {
			if !slices.Contains(names, m.Key) {
				visit(prefix+strict.ShownKey(m.Key), m)
			} else if into != nil {
				into(m)
			}
		}
	}
	each := func(list jsondoc.Member, prefix string, names []string) {
		if list.Value.Is(jsondoc.Array) {
			for i, item := range list.Value.Items {
				walk(item, of(prefix, i)+".", names, nil)
			}
		}
	}
	inHandoff := func(m jsondoc.Member) {
		switch m.Key {
		case fInputs:
			walk(m.Value, "inputs.", known.inputs, func(m jsondoc.Member) {
				if m.Key == fArtifactRefs {
					each(m, "inputs.artifact_refs", known.ref)
				}
			})
		case fScope:
			walk(m.Value, "scope.", known.scope, nil)
		case fAuthority:
			walk(m.Value, "authority.", known.authority, func(m jsondoc.Member) {
				switch m.Key {
				case fBudget:
					walk(m.Value, "authority.budget.", known.budget, nil)
				case fApprovals:
					each(m, "authority.approvals", known.approval)
				}
			})
		case fPlannedActions:
			each(m, fPlannedActions, known.action)
		case fAcceptance:
			walk(m.Value, "acceptance.", known.acceptance, func(m jsondoc.Member) {
				if m.Key == fEvidence {
					each(m, "acceptance.evidence", known.evidence)
				}
			})
		}
	}
	walk(c.doc.root, "packet.", []string{fHandoff, fSignature}, func(m jsondoc.Member) {
		if m.Key == fHandoff {
			walk(m.Value, "", known.handoff, inHandoff)
		} else {
			walk(m.Value, "signature.", known.signature, nil)
		}
	})
}
