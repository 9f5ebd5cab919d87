package packet

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/handoff-gate/handoff-gate/gate/packet/strict"
)

// world is a packet that is accepted, with all that it is judged by. A test changes
// one thing and says what is found.
type world struct {
	t         testing.TB
	registry  object
	handoff   object
	unsigned  bool   // the packet gets no signature
	signature object // put over the one that is made
	beside    object // members beside handoff and signature
	files     map[string]string
	o         Options
}

type (
	object = map[string]any
	list   = []any
)

// gone removes a member.
type gone struct{}

const (
	brief    = "# Brief\nVerify the pack.\n"
	theRules = "# Rules\n\nM1-U-12: A verdict needs two readers.\nM1-U-13: Naïve “quotes” stay.\nLast line."
	now      = "2026-10-02T12:00:00Z"
	later    = "2026-10-06T00:00:00Z"
)

func instant(t testing.TB, s string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		t.Fatal(err)
	}
	return at.UTC()
}

// keyOf makes the key of a name, always the same.
func keyOf(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("packet test " + name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func public(name string) string { return Encode(keyOf(name)[ed25519.SeedSize:]) }

func registered(kid, name string) object {
	return object{"kid": kid, "alg": "Ed25519", "public_key": public(name)}
}

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return &world{
		t: t,
		registry: object{"agents": object{
			"alice": object{"role": "planner", "keys": list{registered("a-1", "alice")}},
			"bob": object{"role": "builder", "keys": list{registered("b-1", "bob")}, "policy": object{
				"allowed_tools": list{"read_repo", "edit_files", "git_push"}, "forbidden": list{"force_push"},
				"approval_required_for": list{"git_push"}, "trusted_approvers": list{"rita"},
				"budget":             object{"tokens": 200000, "usd": 10, "minutes": 120},
				"require_signatures": true, "require_signed_approvals": true, "require_planned_actions": true, "verify_evidence": true,
			}},
			"rita":    object{"role": "approver", "kind": "human", "keys": list{registered("r-1", "rita")}},
			"ally":    object{"alias_of": "alice"},
			"mallory": object{"keys": list{registered("m-1", "mallory")}},
		}},
		handoff: object{
			"schema_version": "0.1", "id": "h-0001", "idempotency_key": "pack:m1:rev-7", "trace_id": "t-0001",
			"from": "alice", "to": "bob", "purpose": "Verify the M-1 verdict pack", "on_failure": "reject",
			"inputs": object{"state_revision": "rev-7", "artifact_refs": list{object{"path": "context/brief.md", "sha256": sum(brief)}}},
			"scope":  object{"owned_paths": list{"out/**"}, "forbidden": list{}},
			"authority": object{
				"allowed_tools": list{"read_repo", "edit_files", "git_push"}, "approval_required_for": list{},
				"budget": object{"tokens": 50000, "usd": 2, "minutes": 30},
			},
			"planned_actions": list{object{"name": "read_rules", "tool": "read_repo"}},
			"acceptance": object{
				"output_schema": "verdict.v1", "required_evidence": list{"verbatim_quote"}, "expires_at": later,
				"evidence": list{object{"kind": "verbatim_quote", "ref": "rules/M-1.md#m1-u-12", "verbatim": true, "sha256": sum(theRules)}},
			},
		},
		files: map[string]string{"context/brief.md": brief, "rules/M-1.md": theRules},
		o:     Options{Now: instant(t, now), Workspace: true, Commands: Commands{File: "p.json", Workspace: "ws", Again: "handoff-gate packet check p.json"}},
	}
}

// at finds what a path leads to: names of members and numbers of items, with dots
// between. Its last step is left.
func (w *world) at(root object, path string) (in any, last string) {
	steps := strings.Split(path, ".")
	in = root
	for _, s := range steps[:len(steps)-1] {
		switch v := in.(type) {
		case object:
			in = v[s]
		case list:
			i, err := strconv.Atoi(s)
			if err != nil {
				w.t.Fatalf("%s: %v", path, err)
			}
			in = v[i]
		}
	}
	return in, steps[len(steps)-1]
}

func (w *world) change(root object, path string, value any) {
	in, last := w.at(root, path)
	switch v := in.(type) {
	case object:
		if _, ok := value.(gone); ok {
			delete(v, last)
		} else {
			v[last] = value
		}
	case list:
		i, err := strconv.Atoi(last)
		if err != nil {
			w.t.Fatalf("%s: %v", path, err)
		}
		v[i] = value
	default:
		w.t.Fatalf("%s leads through %T", path, in)
	}
}

// set changes the handoff, in pairs of path and value.
func (w *world) set(pairs ...any) *world {
	for i := 0; i < len(pairs); i += 2 {
		w.change(w.handoff, pairs[i].(string), pairs[i+1])
	}
	return w
}

// reg changes the registry.
func (w *world) reg(pairs ...any) *world {
	for i := 0; i < len(pairs); i += 2 {
		w.change(w.registry, pairs[i].(string), pairs[i+1])
	}
	return w
}

// policy changes bob's policy.
func (w *world) policy(pairs ...any) *world {
	for i := 0; i < len(pairs); i += 2 {
		w.change(w.registry, "agents.bob.policy."+pairs[i].(string), pairs[i+1])
	}
	return w
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// canonicalOf is the canonical form of a value, by way of its JSON.
func canonicalOf(t testing.TB, v any) []byte {
	t.Helper()
	doc, err := strict.Parse(strict.Packet, encode(t, v))
	if err != nil {
		t.Fatal(err)
	}
	return strict.Canonical(doc.Root)
}

// sealed signs a canonical form.
func sealed(domain, name string, canonical []byte) string {
	return Encode(ed25519.Sign(keyOf(name), append([]byte(domain+"\n"), canonical...)))
}

const (
	packetTag   = "synthe/handoff-signature/v1"
	approvalTag = "synthe/approval-signature/v1"
)

// packet gives the packet's bytes, signed by alice.
func (w *world) packet() []byte {
	p := object{"handoff": w.handoff}
	if !w.unsigned {
		s := object{"signer": "alice", "kid": "a-1", "alg": "Ed25519", "sig": sealed(packetTag, "alice", canonicalOf(w.t, w.handoff))}
		for k, v := range w.signature {
			w.change(s, k, v)
		}
		p["signature"] = s
	}
	for k, v := range w.beside {
		p[k] = v
	}
	return encode(w.t, p)
}

// push plans a push, which needs an approval, with rita's approval of it.
func (w *world) push(approvals ...any) *world {
	actions := w.handoff["planned_actions"].(list)
	w.handoff["planned_actions"] = append(actions, object{"name": "push_branch", "tool": "git_push", "params": object{"remote": "origin", "branch": "feature/x"}})
	w.set("authority.approvals", list(approvals))
	return w
}

// approval makes one by rita for the push, changed in pairs before it is signed. A
// kid or sig is put in afterwards.
func (w *world) approval(pairs ...any) object {
	a := object{"action": "push_branch", "approver": "rita", "params": object{"remote": "origin", "branch": "feature/x"}}
	by, kid, sig := "rita", any("r-1"), any(nil)
	for i := 0; i < len(pairs); i += 2 {
		switch name := pairs[i].(string); name {
		case "by":
			by = pairs[i+1].(string)
		case "kid":
			kid = pairs[i+1]
		case "sig":
			sig = pairs[i+1]
		default:
			w.change(a, name, pairs[i+1])
		}
	}
	body := object{"expires_at": nil}
	for k, v := range a {
		body[k] = v
	}
	for _, name := range []string{"from", "to", "idempotency_key"} {
		body[name] = w.handoff[name]
	}
	a["sig"] = sealed(approvalTag, by, canonicalOf(w.t, body))
	for name, v := range (object{"kid": kid, "sig": sig}) {
		if v != nil {
			w.change(a, name, v)
		}
	}
	return a
}

// files answers what a check wants to know of files.
func (w *world) look(needs []Need) []File {
	out := make([]File, len(needs))
	for i, n := range needs {
		text, ok := w.files[n.Path]
		switch {
		case text == "->outside":
			out[i] = File{State: Escapes}
		case ok:
			f, err := Examine(func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }, n)
			if err != nil {
				w.t.Fatal(err)
			}
			out[i] = f
		}
	}
	return out
}

// judge runs the checks on some bytes.
func (w *world) judge(data []byte) *Judged {
	c := Check(Read("p.json", data), ReadRegistry("registry.json", encode(w.t, w.registry)), w.o)
	if !c.Malformed() {
		c.Files(w.look(c.Needs()))
	}
	return c
}

func codes(c *Judged) (reasons, warnings []string) {
	p := c.Project()
	for _, r := range p.Packet.Reasons {
		reasons = append(reasons, r.Code)
	}
	for _, l := range p.Layers {
		for _, f := range l.Findings {
			if f.Severity == "warning" {
				warnings = append(warnings, strings.TrimPrefix(f.Rule, "packet/"))
			}
		}
	}
	return reasons, warnings
}

// expect runs the checks and wants exactly these reasons, with a space between,
// and these warnings behind a bar.
func (w *world) expect(want string) *Judged {
	w.t.Helper()
	return w.expectOf(w.packet(), want)
}

func (w *world) expectOf(data []byte, want string) *Judged {
	w.t.Helper()
	c := w.judge(data)
	reasons, warnings := codes(c)
	got := strings.Join(reasons, " ")
	if len(warnings) > 0 {
		got += " | " + strings.Join(warnings, " ")
	}
	if got = strings.TrimSpace(got); got != want {
		w.t.Errorf("found %q, want %q", got, want)
	}
	consistent(w.t, c)
	return c
}

// consistent holds an entry of the report to what every one must be.
func consistent(t testing.TB, c *Judged) {
	t.Helper()
	p := c.Project()
	if len(p.Layers) != layers {
		t.Errorf("%d layers", len(p.Layers))
	}
	errors := map[string]int{}
	for _, l := range p.Layers {
		for _, f := range l.Findings {
			if f.Line < 1 || f.Message == "" || f.Path == "" || f.Severity != "notice" && f.Remedy == "" {
				t.Errorf("finding without place, message or remedy: %+v", f)
			}
			if strings.ContainsAny(f.Message, "\r\n\t\x00") || strings.ContainsRune(f.Message, '\u202e') {
				t.Errorf("message %q has raw control characters", f.Message)
			}
			if f.Severity == "error" {
				errors[l.ID+f.Rule+f.Message]++
			}
		}
	}
	for _, r := range p.Packet.Reasons {
		if !strings.HasPrefix(r.Message, r.Code+": ") {
			t.Errorf("message %q does not begin with %q", r.Message, r.Code)
		}
		if errors[r.Layer+r.Rule+r.Message]--; errors[r.Layer+r.Rule+r.Message] < 0 {
			t.Errorf("reason %s is no finding", r.Code)
		}
		if r.State == "" {
			t.Errorf("reason %s has no state", r.Code)
		}
	}
	for f, n := range errors {
		if n != 0 {
			t.Errorf("finding %s is no reason", f)
		}
	}
	if rejected := len(p.Packet.Reasons) > 0; rejected != c.Rejected() || rejected != (p.Packet.Decision == Reject) || rejected != (p.Packet.State != "") {
		t.Errorf("decision %q, state %q with %d reasons", p.Packet.Decision, p.Packet.State, len(p.Packet.Reasons))
	}
}

// es256 makes a P-256 key and gives its public form and a signer.
func es256(t testing.TB) (public string, sign func(domain string, canonical []byte) string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return Encode(point[1:]), func(domain string, canonical []byte) string {
		hash := sha256.Sum256(append([]byte(domain+"\n"), canonical...))
		r, s, err := ecdsa.Sign(rand.Reader, key, hash[:])
		if err != nil {
			t.Fatal(err)
		}
		return Encode(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
	}
}
