package packet

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/timestamp"
	"github.com/handoff-gate/handoff-gate/gate/packet/strict"
)

// Draft is a packet that is being written. Members keep their order and numbers
// their spelling; what changes is put in as text. Each change is made to the
// packet as it was read, so only one of Sign, Approve and Pin is called.
type Draft struct {
	doc   *Document
	src   []byte
	edits []edit
}

// edit replaces the bytes from off to end.
type edit struct {
	off, end int
	text     string
}

// Open reads a packet to write it. The error is why it is refused, and begins with
// the code of packets.md 1 or 6.
func Open(data []byte) (*Draft, error) {
	doc := Read("", data)
	if err := doc.Refusal(); err != nil {
		return nil, err
	}
	return &Draft{doc: doc, src: data}, nil
}

// Bytes gives the packet as indented JSON.
func (d *Draft) Bytes() ([]byte, error) {
	slices.SortStableFunc(d.edits, func(a, b edit) int { return a.off - b.off })
	var out bytes.Buffer
	at := 0
	for _, e := range d.edits {
		out.Write(d.src[at:e.off])
		out.WriteString(e.text)
		at = e.end
	}
	out.Write(d.src[at:])
	doc, err := strict.Parse(strict.Packet, out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("the packet would become one that cannot be read: %w", err)
	}
	return append(ecma.AppendSpelled(nil, out.Bytes(), doc.Root, 0), '\n'), nil
}

// set gives a member of an object a value, in its place or at the end.
func (d *Draft) set(of *jsondoc.Value, key, value string) {
	if m, ok := of.Member(key); ok {
		d.edits = append(d.edits, edit{m.Value.Off, m.Value.End, value})
		return
	}
	comma := ""
	if len(of.Members) > 0 {
		comma = ","
	}
	d.edits = append(d.edits, edit{of.End - 1, of.End - 1, comma + quote(key) + ":" + value})
}

// drop removes a member of an object, if it is there.
func (d *Draft) drop(of *jsondoc.Value, key string) {
	i := slices.IndexFunc(of.Members, func(m jsondoc.Member) bool { return m.Key == key })
	switch {
	case i < 0:
	case i > 0:
		d.edits = append(d.edits, edit{of.Members[i-1].Value.End, of.Members[i].Value.End, ""})
	case len(of.Members) > 1:
		d.edits = append(d.edits, edit{of.Members[0].KeyOff, of.Members[1].KeyOff, ""})
	default:
		d.edits = append(d.edits, edit{of.Members[0].KeyOff, of.Members[0].Value.End, ""})
	}
}

func quote(s string) string { return string(strict.AppendString(nil, s)) }

// Problems are what check 1 would say of the packet without a registry.
func (d *Draft) Problems() []string {
	c := Check(d.doc, &Registry{top: &policy{}}, Options{})
	var out []string
	for _, f := range c.found[structure].list {
		out = append(out, f.sentence())
	}
	return out
}

// Sign sets the signature.
func (d *Draft) Sign(k *PrivateKey) error {
	if from := member(d.doc.handoff, fFrom); !isText(from, k.Agent) {
		return fmt.Errorf("the key is that of %s, and the packet is from %s: only its sender signs a packet", show(k.Agent), show(text(d.doc.handoff, fFrom)))
	}
	sig := `{"signer":` + quote(k.Agent)
	if k.HasKid {
		sig += `,"kid":` + quote(k.Kid)
	}
	sig += `,"alg":"` + Ed25519 + `","sig":` + quote(k.sign(d.doc.message)) + "}"
	d.set(d.doc.root, fSignature, sig)
	return nil
}

// Approval is what an approver is asked for.
type Approval struct {
	Action    string // a planned action's name or, without parameters, a tool
	ExpiresAt string // "" is never
	NoParams  bool   // it fits any parameters
}

// Approve adds an approval and drops the signature, as the sender signs last. What
// is approved comes back as lines for the approver to read.
func (d *Draft) Approve(k *PrivateKey, a Approval) (shown []string, err error) {
	h := d.doc.handoff
	for _, name := range []string{fFrom, fTo, fKey} {
		if text(h, name) == "" {
			return nil, fmt.Errorf("the handoff has no %s, which an approval is for", name)
		}
	}
	actions, err := d.planned(a)
	if err != nil {
		return nil, err
	}
	authority := member(h, fAuthority)
	if authority != nil && !authority.Is(jsondoc.Object) {
		return nil, errors.New("malformed:authority: authority must be an object")
	}
	list := member(authority, fApprovals)
	if list != nil && !list.Is(jsondoc.Array) {
		return nil, errors.New("malformed:authority.approvals: approvals must be a list")
	}
	body := `{"action":` + quote(a.Action) + `,"approver":` + quote(k.Agent)
	if a.ExpiresAt != "" {
		body += `,"expires_at":` + quote(a.ExpiresAt)
	}
	params := member(actions[0], fParams)
	if a.NoParams {
		params = nil
	}
	if params != nil {
		body += `,"params":` + string(d.src[params.Off:params.End])
	}
	unsigned, err := strict.Parse(strict.Packet, []byte(body+"}"))
	if err != nil {
		return nil, err
	}
	if k.HasKid {
		body += `,"kid":` + quote(k.Kid)
	}
	body += `,"sig":` + quote(k.sign(approvalMessage(h, unsigned.Root))) + "}"
	switch {
	case list != nil && len(list.Items) > 0:
		d.edits = append(d.edits, edit{list.End - 1, list.End - 1, "," + body})
	case authority != nil:
		d.set(authority, fApprovals, "["+body+"]")
	default:
		d.set(h, fAuthority, `{"`+fApprovals+`":[`+body+"]}")
	}
	d.drop(d.doc.root, fSignature)
	return d.approved(k, a, actions, params), nil
}

// planned gives the actions that an approval is for: at least one, all with the
// same parameters unless these do not matter.
func (d *Draft) planned(a Approval) ([]*jsondoc.Value, error) {
	var out []*jsondoc.Value
	if list := member(d.doc.handoff, fPlannedActions); list != nil {
		for _, v := range list.Items {
			if isText(member(v, fName), a.Action) || a.NoParams && isText(member(v, fTool), a.Action) {
				out = append(out, v)
			}
		}
	}
	if len(out) == 0 {
		what := "name"
		if a.NoParams {
			what = "name or tool"
		}
		return nil, fmt.Errorf("no planned action has the %s %s", what, show(a.Action))
	}
	canonical := func(v *jsondoc.Value) string {
		if p := member(v, fParams); p != nil {
			return string(strict.Canonical(p))
		}
		return ""
	}
	if !a.NoParams && slices.ContainsFunc(out, func(v *jsondoc.Value) bool { return canonical(v) != canonical(out[0]) }) {
		return nil, fmt.Errorf("several planned actions are named %s and have different params: give them names of their own, or approve any parameters with --no-params", show(a.Action))
	}
	return out, nil
}

// approved says what an approval is for.
func (d *Draft) approved(k *PrivateKey, a Approval, actions []*jsondoc.Value, params *jsondoc.Value) []string {
	h := d.doc.handoff
	var tools []string
	for _, v := range actions {
		if tool := show(text(v, fTool)); !slices.Contains(tools, tool) {
			tools = append(tools, tool)
		}
	}
	p := "any"
	if params != nil {
		p = whole(string(strict.Canonical(params)))
	}
	budget := "none in the packet"
	if b := member(member(h, fAuthority), fBudget); b != nil {
		budget = whole(string(strict.Canonical(b)))
	}
	expires := "never"
	if a.ExpiresAt != "" {
		expires = a.ExpiresAt
	}
	return []string{
		"approver: " + show(k.Agent),
		"action:   " + show(a.Action),
		"tool:     " + strings.Join(tools, ", "),
		"params:   " + p,
		"from:     " + show(text(h, fFrom)),
		"to:       " + show(text(h, fTo)),
		"key:      " + show(text(h, fKey)),
		"budget:   " + budget,
		"expires:  " + expires,
	}
}

// IsTimestamp tells a time as packets have it (packets.md 3).
func IsTimestamp(s string) bool {
	_, ok := timestamp.Parse(s)
	return ok
}

// Pins are the files that Pin wants to know the digests of.
func (d *Draft) Pins(refresh bool) []Need {
	var needs []Need
	for _, p := range d.pinned(refresh) {
		if clean, ok := inside(p.path); ok && !slices.ContainsFunc(needs, func(n Need) bool { return n.Path == clean }) {
			needs = append(needs, Need{Path: clean})
		}
	}
	return needs
}

// pinnedItem is an artifact or an item of evidence that names a file.
type pinnedItem struct {
	v          *jsondoc.Value
	name, path string
}

// pinned gives what is to be pinned: what has no digest or, with refresh, all.
// What has not the form of a reference is left to the check.
func (d *Draft) pinned(refresh bool) []pinnedItem {
	var out []pinnedItem
	for _, list := range []struct {
		name string
		v    *jsondoc.Value
		path func(item *jsondoc.Value) string
	}{
		{"inputs.artifact_refs", member(member(d.doc.handoff, fInputs), fArtifactRefs), func(item *jsondoc.Value) string { return text(item, fPath) }},
		{"acceptance.evidence", member(member(d.doc.handoff, fAcceptance), fEvidence), func(item *jsondoc.Value) string {
			p, _, _ := splitRef(text(item, fRef))
			return p
		}},
	} {
		if !list.v.Is(jsondoc.Array) {
			continue
		}
		for i, item := range list.v.Items {
			if p := list.path(item); p != "" && (refresh || member(item, fSHA256) == nil) {
				out = append(out, pinnedItem{item, of(list.name, i), p})
			}
		}
	}
	return out
}

// Pin fills in digests, of the files that Pins asked for in its order, and drops
// the signature when anything changed.
func (d *Draft) Pin(refresh bool, files []File) error {
	byPath := map[string]File{}
	for i, n := range d.Pins(refresh) {
		byPath[n.Path] = files[i]
	}
	for _, p := range d.pinned(refresh) {
		clean, ok := inside(p.path)
		f := byPath[clean]
		switch {
		case !ok || f.State == Escapes:
			return fmt.Errorf("%s: %s leads out of the workspace", p.name, show(p.path))
		case f.State == Missing:
			return fmt.Errorf("%s: %s is no regular file of the workspace", p.name, show(p.path))
		}
		sum := hex.EncodeToString(f.SHA256[:])
		if !strings.EqualFold(text(p.v, fSHA256), sum) {
			d.set(p.v, fSHA256, quote(sum))
		}
	}
	if len(d.edits) > 0 {
		d.drop(d.doc.root, fSignature)
	}
	return nil
}
