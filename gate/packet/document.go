package packet

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger"
	"github.com/handoff-gate/handoff-gate/gate/packet/strict"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// Version is the one version of the format (packets.md 4).
const Version = "0.1"

// The members of a packet (packets.md 4).
const (
	fHandoff   = "handoff"
	fSignature = "signature"

	fSchemaVersion  = "schema_version"
	fID             = "id"
	fKey            = "idempotency_key"
	fTraceID        = "trace_id"
	fFrom           = "from"
	fTo             = "to"
	fPurpose        = "purpose"
	fOnFailure      = "on_failure"
	fInputs         = "inputs"
	fScope          = "scope"
	fAuthority      = "authority"
	fPlannedActions = "planned_actions"
	fDependsOn      = "depends_on"
	fAcceptance     = "acceptance"

	fStateRevision    = "state_revision"
	fArtifactRefs     = "artifact_refs"
	fOwnedPaths       = "owned_paths"
	fForbidden        = "forbidden"
	fAllowedTools     = "allowed_tools"
	fBudget           = "budget"
	fApprovalRequired = "approval_required_for"
	fApprovals        = "approvals"
	fOutputSchema     = "output_schema"
	fRequiredEvidence = "required_evidence"
	fEvidence         = "evidence"
	fExpiresAt        = "expires_at"

	fPath     = "path"
	fSHA256   = "sha256"
	fName     = "name"
	fTool     = "tool"
	fParams   = "params"
	fAction   = "action"
	fApprover = "approver"
	fKind     = "kind"
	fRef      = "ref"
	fVerbatim = "verbatim"
	fQuote    = "quote"

	fSigner = "signer"
	fKid    = "kid"
	fAlg    = "alg"
	fSig    = "sig"
)

// dimensions of a budget, in the order of the checks, and the members of an action
// that estimate them.
var (
	dimensions = [...]string{"tokens", "usd", "minutes"}
	estimates  = [...]string{"est_tokens", "est_usd", "est_minutes"}
)

// Document is a packet as it was read.
type Document struct {
	path    string
	json    *jsondoc.Document // nil where it was refused
	root    *jsondoc.Value    // nil where it was refused
	handoff *jsondoc.Value    // nil unless it is an object
	refusal *found            // why it cannot be judged at all; nil where it can

	message []byte // that a signature is over: the domain tag and the canonical handoff
	sum     string // packet_sha256
}

// Read reads the bytes of a packet, of which there need be no more than the limit
// and one. path is the packet's place in the report.
func Read(path string, data []byte) *Document {
	d := &Document{path: path}
	doc, err := strict.Parse(strict.Packet, data)
	if err != nil {
		d.refuse(err)
		return d
	}
	d.json, d.root = doc, doc.Root
	h := member(doc.Root, fHandoff)
	if !h.Is(jsondoc.Object) {
		d.refusal = &found{kind: missingHandoff, span: d.at(fHandoff), message: "the packet has no member handoff that is an object"}
		if !doc.Root.Is(jsondoc.Object) {
			d.refusal.message = "the packet is " + doc.Root.Kind.Article() + ", not an object"
		}
		return d
	}
	d.handoff = h
	// Rarely is the canonical form longer than what it is made of.
	d.message = append(make([]byte, 0, len(packetDomain)+h.End-h.Off), packetDomain...)
	d.message = strict.AppendCanonical(d.message, h)
	sum := sha256.Sum256(d.canonical())
	d.sum = hex.EncodeToString(sum[:])
	return d
}

// canonical is the canonical form of the handoff.
func (d *Document) canonical() []byte { return d.message[len(packetDomain):] }

// Unreadable is a packet whose bytes cannot be had, with the reason as a sentence.
func Unreadable(path, why string) *Document {
	return &Document{path: path, refusal: &found{kind: packetUnreadable, span: firstLine, message: why}}
}

// firstLine is where a finding stands that has no place in the packet.
var firstLine = report.Span{Line: 1}

func (d *Document) refuse(err error) {
	var e *strict.Error
	if !errors.As(err, &e) {
		e = &strict.Error{Code: strict.Unreadable, Line: 1}
	}
	f := &found{kind: packetUnreadable, span: firstLine, message: err.Error()}
	switch e.Code {
	case strict.Unreadable:
	case strict.NonFinite, strict.LoneSurrogate:
		f.kind, f.detail, f.span.Line = malformed, e.Code[len("malformed:"):], e.Line
	default:
		f.kind, f.detail, f.span.Line = duplicateField, e.Code[len(strict.DuplicateField)+1:], e.Line
	}
	d.refusal = f
}

// Refusal says why the packet cannot be judged at all, as its code and a sentence;
// nil where it can.
func (d *Document) Refusal() error {
	if d.refusal == nil {
		return nil
	}
	return fmt.Errorf("%s: %s", d.refusal.code(), d.refusal.message)
}

// absent tells a member that is missing or null.
func absent(v *jsondoc.Value) bool { return v == nil || v.Kind == jsondoc.Null }

// empty tells a member that is absent or "".
func empty(v *jsondoc.Value) bool { return absent(v) || v.Kind == jsondoc.String && v.Text == "" }

// member gives a member that is there and not null.
func member(v *jsondoc.Value, key string) *jsondoc.Value {
	if m := v.Get(key); !absent(m) {
		return m
	}
	return nil
}

// text gives a member that is a string; "" for any other.
func text(v *jsondoc.Value, key string) string {
	if m := v.Get(key); m.Is(jsondoc.String) {
		return m.Text
	}
	return ""
}

// at gives the place of the deepest member on a path that exists; keys are the
// names of members and the indices of items.
func (d *Document) at(path ...any) report.Span {
	span := firstLine
	v := d.root
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, ok := v.Member(step)
			if !ok {
				return span
			}
			span, v = d.json.AtKey(m), m.Value
		case int:
			if !v.Is(jsondoc.Array) || step >= len(v.Items) {
				return span
			}
			v = v.Items[step]
			span = d.json.At(v)
		}
	}
	return span
}

// in gives the place of a member of the handoff, as at does.
func (d *Document) in(path ...any) report.Span {
	return d.at(append([]any{fHandoff}, path...)...)
}

// Work is what completing and abandoning need to know of the packet.
func (d *Document) Work() ledger.Work {
	w := ledger.Work{Key: text(d.handoff, fKey), HandoffID: text(d.handoff, fID), Digest: d.sum}
	if v := member(d.handoff, fDependsOn); v != nil {
		w.BadDependsOn = !v.Is(jsondoc.Array)
		for _, item := range v.Items {
			if item.Is(jsondoc.String) && item.Text != "" {
				w.DependsOn = append(w.DependsOn, item.Text)
			} else {
				w.BadDependsOn = true
			}
		}
	}
	return w
}
