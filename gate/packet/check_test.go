package packet

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/packet/ledger"
	"github.com/handoff-gate/handoff-gate/gate/packet/strict"
)

func TestAccepted(t *testing.T) {
	w := newWorld(t)
	c := w.expect("")
	p := c.Project().Packet
	if p.Decision != Accept || p.Signature != "verified" || p.Ledger != "none" || p.Claim != nil || p.From != "alice" || p.HandoffID != "h-0001" {
		t.Errorf("got %+v", p)
	}
	if sum := hex.EncodeToString(sha(canonicalOf(t, w.handoff))); p.SHA256 != sum {
		t.Errorf("packet_sha256 %s, want %s", p.SHA256, sum)
	}
	for _, l := range c.Project().Layers {
		if want := map[bool]string{true: "skip", false: "ok"}[l.ID == Duplicate]; string(l.Status) != want {
			t.Errorf("layer %s is %s, want %s", l.ID, l.Status, want)
		}
	}
	w.push(w.approval("expires_at", later)).expect("")
}

func sha(b []byte) []byte {
	s := sha256.Sum256(b)
	return s[:]
}

// Check 1, in its steps: what each finds, and that a step which found something
// ends the check.
func TestStructure(t *testing.T) {
	long := func(n int) list { return slices.Repeat(list{"x"}, n) }
	for _, tt := range []struct {
		name string
		set  []any
		want string
	}{
		// 1d
		{"nothing but the object", []any{
			"id",
			gone{},
			"idempotency_key", nil, "trace_id", "", "schema_version",
			gone{},
			"from",
			gone{},
			"to",
			gone{},
			"purpose", "",
			"inputs",
			gone{},
			"scope", nil, "authority", "", "acceptance",
			gone{},
			"on_failure",
			gone{},
		}, "missing_field:id missing_field:idempotency_key missing_field:trace_id missing_field:schema_version missing_field:from missing_field:to missing_field:purpose missing_field:inputs missing_field:scope missing_field:authority missing_field:acceptance missing_field:on_failure"},
		{"1d before 1e", []any{"purpose", gone{}, "schema_version", "9"}, "missing_field:purpose"},
		{"false is not missing", []any{"purpose", false}, "malformed:purpose"},
		// 1e
		{"all of 1e", []any{
			"schema_version", 0.1, "on_failure", "panic", "id", 1, "idempotency_key", " k", "trace_id", "t\n", "from", "a\u200b", "to",
			list{},
			"purpose", "  ",
			"scope", 1, "authority",
			list{},
			"acceptance", "x", "inputs", true,
		}, "bad_schema_version bad_on_failure malformed:id malformed:idempotency_key malformed:trace_id malformed:from malformed:to malformed:purpose malformed:scope malformed:authority malformed:acceptance malformed:inputs"},
		{"later version", []any{"schema_version", "0.2"}, "bad_schema_version"},
		{"version 0.10", []any{"schema_version", "0.10"}, "bad_schema_version"},
		{"on_failure of another type", []any{"on_failure", list{"reject"}}, "bad_on_failure"},
		{"id as long as allowed", []any{"id", strings.Repeat("é", 256)}, ""},
		{"id too long", []any{"id", strings.Repeat("é", 256) + "x"}, "malformed:id"},
		{"name too long", []any{"to", strings.Repeat("x", 257)}, "malformed:to"},
		{"white space at the end of an id", []any{"trace_id", "t\u3000"}, "malformed:trace_id"},
		{"white space within an id", []any{"trace_id", "t 1"}, ""},
		{"line separator in an id", []any{"id", "a\u2028b"}, "malformed:id"},
		{"soft hyphen in an id", []any{"id", "a\u00adb"}, "malformed:id"},
		{"C1 control in an id", []any{"id", "a\u0085b"}, "malformed:id"},
		{"purpose with lines", []any{"purpose", "one\ntwo\tthree"}, ""},
		{"purpose as long as allowed", []any{"purpose", strings.Repeat("x", 8192)}, ""},
		{"purpose too long", []any{"purpose", strings.Repeat("x", 8193)}, "malformed:purpose"},
		{"purpose with an override", []any{"purpose", "a\u202eb"}, "malformed:purpose"},
		{"purpose with an isolate", []any{"purpose", "a\u2066b"}, "malformed:purpose"},
		{"purpose with a zero-width character", []any{"purpose", "a\u200db"}, ""},
		{"1e before 1f", []any{"on_failure", "x", "inputs.state_revision", gone{}}, "bad_on_failure"},
		// 1f
		{"all of 1f", []any{
			"inputs", object{}, "scope", object{}, "authority", object{}, "acceptance", object{},
		}, "missing_field:inputs.state_revision missing_field:inputs.artifact_refs missing_field:scope.owned_paths missing_field:scope.forbidden missing_field:authority.allowed_tools missing_field:authority.approval_required_for missing_field:acceptance.output_schema missing_field:acceptance.required_evidence missing_field:acceptance.expires_at missing_field:authority.budget"},
		{"empty lists", []any{"inputs.artifact_refs", list{}, "authority.allowed_tools", list{}, "acceptance.required_evidence", list{}}, "missing_field:inputs.artifact_refs missing_field:authority.allowed_tools missing_field:acceptance.required_evidence"},
		{"empty texts", []any{"scope.owned_paths", "", "acceptance.output_schema", "", "acceptance.expires_at", ""}, "missing_field:scope.owned_paths missing_field:acceptance.output_schema missing_field:acceptance.expires_at"},
		{"budget without a dimension", []any{"authority.budget.usd", gone{}}, "missing_field:authority.budget"},
		{"budget with a boolean", []any{"authority.budget.usd", true}, "missing_field:authority.budget"},
		{"budget with a text", []any{"authority.budget.usd", "2"}, "missing_field:authority.budget"},
		{"budget of another type", []any{"authority.budget", list{1, 2, 3}}, "missing_field:authority.budget"},
		{"1f before 1g", []any{"scope.forbidden", gone{}, "depends_on", 1}, "missing_field:scope.forbidden"},
		// 1g
		{"all of 1g", []any{
			"depends_on",
			list{""},
			"scope.forbidden",
			list{1},
			"scope.owned_paths",
			object{},
			"authority.allowed_tools",
			list{nil},
			"authority.approval_required_for", "x",
			"acceptance.required_evidence", long(1001), "inputs.state_revision", 7, "acceptance.output_schema", 7,
			"inputs.artifact_refs",
			list{"x", object{"path": ""}, object{"path": "a", "sha256": "b"}, object{"path": "a", "sha256": 1}},
			"planned_actions",
			list{object{"name": "a"}, object{"name": "a", "tool": "t", "est_tokens": -1, "est_usd": "1", "est_minutes": true, "params": list{}}},
			"authority.approvals",
			list{object{"action": "a"}, object{"action": "a", "approver": "b", "params": 1}},
			"acceptance.evidence",
			list{object{}, object{"kind": "x", "sha256": "", "ref": 1, "quote": list{}}},
			"authority.budget.usd", -1, "authority.budget.tokens", -1,
		}, "malformed:depends_on malformed:scope.forbidden malformed:scope.owned_paths malformed:authority.allowed_tools malformed:authority.approval_required_for malformed:acceptance.required_evidence malformed:inputs.state_revision malformed:acceptance.output_schema malformed:inputs.artifact_refs[0] malformed:inputs.artifact_refs[1] bad_sha256:inputs.artifact_refs[2] bad_sha256:inputs.artifact_refs[3] malformed:planned_actions[0] malformed:planned_actions[1].est_tokens malformed:planned_actions[1].est_usd malformed:planned_actions[1].est_minutes malformed:planned_actions[1].params malformed:authority.approvals[0] malformed:authority.approvals[1].params malformed:acceptance.evidence[0] bad_sha256:acceptance.evidence[1] malformed:acceptance.evidence[1].ref malformed:acceptance.evidence[1].quote malformed:authority.budget"},
		{"lists of another type", []any{"inputs.artifact_refs", object{}, "planned_actions", "x", "authority.approvals", 1, "acceptance.evidence", true}, "malformed:inputs.artifact_refs malformed:planned_actions malformed:authority.approvals malformed:acceptance.evidence"},
		{"lists that are too long", []any{"planned_actions", slices.Repeat(list{object{}}, 1001), "depends_on", long(1001)}, "malformed:depends_on malformed:planned_actions"},
		{"a list as long as allowed", []any{"depends_on", long(1000), "scope.forbidden", long(1000)}, ""},
		{"depends_on that is null", []any{"depends_on", nil, "authority.approvals", nil}, ""},
		{"upper-case digest", []any{"inputs.artifact_refs.0.sha256", strings.ToUpper(sum(brief))}, ""},
		{"digest with a prefix", []any{"inputs.artifact_refs.0.sha256", "sha256:" + sum(brief)[7:]}, "bad_sha256:inputs.artifact_refs[0]"},
		{"digest that is null", []any{"inputs.artifact_refs.0.sha256", nil}, "| artifact-unpinned"},
		{"budget beyond binary64", []any{"authority.budget.tokens", json.Number("1" + strings.Repeat("0", 400))}, "malformed:authority.budget"},
		{"estimate beyond binary64", []any{"planned_actions.0.est_usd", json.Number("1" + strings.Repeat("0", 400))}, "malformed:planned_actions[0].est_usd"},
		{"minus nothing", []any{"planned_actions.0.est_usd", json.Number("-0.0")}, ""},
		{"output_schema as an object", []any{"acceptance.output_schema", object{"anything": 1}}, ""},
		{"planned actions missing", []any{"planned_actions", gone{}}, "planned_actions_missing"},
		{"planned actions null", []any{"planned_actions", nil}, "planned_actions_missing"},
		{"planned actions empty", []any{"planned_actions", list{}}, "planned_actions_missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t).set(tt.set...)
			if tt.want == "" {
				w.reg("agents."+fmt.Sprint(w.handoff["to"]), w.registry["agents"].(object)["bob"])
			}
			c := w.expect(tt.want)
			if rejected := c.Malformed(); rejected {
				for _, l := range c.Project().Layers[1:] {
					if l.Status != "skip" || l.Summary != "not run: structure failed" {
						t.Errorf("layer %s is %s: %s", l.ID, l.Status, l.Summary)
					}
				}
				if c.Needs() != nil {
					t.Error("files are looked at after check 1 failed")
				}
				if _, ok := c.Claim(); ok {
					t.Error("the ledger is asked after check 1 failed")
				}
			}
		})
	}
}

func TestReading(t *testing.T) {
	w := newWorld(t)
	good := string(w.packet())
	for _, tt := range []struct{ name, data, want string }{
		{"not JSON", good[1:], "packet_unreadable"},
		{"a byte order mark", "\ufeff" + good, "packet_unreadable"},
		{"a repeated key", strings.Replace(good, `"to": "bob"`, `"to": "bob", "t\u006f": "eve"`, 1), "duplicate_field:to"},
		{"NaN", strings.Replace(good, "50000", "NaN", 1), "malformed:non_finite_number"},
		{"a lone surrogate", strings.Replace(good, "verdict pack", `\ud800`, 1), "malformed:lone_surrogate"},
		{"a list", "[" + good + "]", "missing_handoff"},
		{"a word", "null", "missing_handoff"},
		{"no handoff", "{}", "missing_handoff"},
		{"handoff that is null", `{"handoff": null}`, "missing_handoff"},
		{"handoff that is a list", `{"handoff": []}`, "missing_handoff"},
		{"another case", strings.Replace(good, `"handoff"`, `"Handoff"`, 1), "missing_handoff"},
	} {
		c := w.expectOf([]byte(tt.data), tt.want)
		if p := c.Project().Packet; p.State != "invalid" {
			t.Errorf("%s: state %q", tt.name, p.State)
		}
	}
	// A broken packet is reported even with a broken registry; a sound one is not.
	broken := ReadRegistry("registry.json", []byte("{"))
	if reasons, _ := codes(Check(Read("p.json", []byte("{")), broken, w.o)); fmt.Sprint(reasons) != "[packet_unreadable]" {
		t.Errorf("got %v", reasons)
	}
	if reasons, _ := codes(Check(Read("p.json", []byte("{}")), broken, w.o)); fmt.Sprint(reasons) != "[registry_unreadable]" {
		t.Errorf("got %v", reasons)
	}
}

func TestUnknownFields(t *testing.T) {
	w := newWorld(t)
	w.beside = object{"note": 1}
	w.signature = object{"by": "x"}
	w.set(
		"FROM", "mallory", "scope.forbid", list{}, "inputs.x", 1, "inputs.artifact_refs.0.y", 1, "authority.z", nil, "authority.budget.hours", 1,
		"planned_actions.0.note", 1, "planned_actions.0.params", object{"anything": 1}, "acceptance.output_schema", object{"anything": 1},
		"acceptance.extra", 1, "acceptance.evidence.0.who", 1, "authority.approvals", list{object{"action": "a", "approver": "b", "when": 1}},
		"a\u202e", 1, "", 1,
	)
	c := w.expect("| " + strings.TrimSpace(strings.Repeat("unknown-field ", 14)))
	if p := c.Project().Packet; p.From != "alice" {
		t.Errorf("from %q", p.From)
	}
	w.o.Strict = true
	// In the order of the document, which json.Marshal sorts.
	w.expect("unknown_field: unknown_field:FROM unknown_field:acceptance.evidence[0].who unknown_field:acceptance.extra unknown_field:authority.approvals[0].when unknown_field:authority.budget.hours unknown_field:authority.z unknown_field:a\\u202e unknown_field:inputs.artifact_refs[0].y unknown_field:inputs.x unknown_field:planned_actions[0].note unknown_field:scope.forbid unknown_field:packet.note unknown_field:signature.by")
}

func TestReceiver(t *testing.T) {
	w := newWorld(t)
	w.o.Receiver = "bob"
	w.expect("")
	w.o.Receiver = "carol"
	w.expect("receiver_mismatch")
	w.set("to", list{}).expect("malformed:to receiver_mismatch")
}

// Defaults fill a copy: the signed bytes never change.
func TestDefaults(t *testing.T) {
	all := object{
		"owned_paths": list{"src/**"}, "forbidden": list{"rm"}, "allowed_tools": list{"read_repo"}, "approval_required_for": list{}, "output_schema": "v1",
		"required_evidence": list{"verbatim_quote"}, "expires_at": later, "on_failure": "escalate", "budget": object{"tokens": 1, "usd": 2, "minutes": 3},
		"purpose": "never filled", "id": "never",
	}
	w := newWorld(t).policy("defaults", all)
	w.set("scope", gone{}, "authority", gone{}, "acceptance.output_schema", "", "acceptance.required_evidence", nil, "acceptance.expires_at", gone{}, "on_failure", gone{})
	c := w.expect("")
	want := "[scope.owned_paths scope.forbidden authority.allowed_tools authority.approval_required_for acceptance.output_schema acceptance.required_evidence acceptance.expires_at on_failure authority.budget.tokens authority.budget.usd authority.budget.minutes]"
	if got := fmt.Sprint(c.Project().Packet.DefaultsApplied); got != want {
		t.Errorf("defaults applied %s\nwant %s", got, want)
	}
	if claim, _ := c.Claim(); fmt.Sprint(claim.OwnedPaths) != "[src/**]" || claim.Digest != hex.EncodeToString(sha(canonicalOf(t, w.handoff))) {
		t.Errorf("claim %+v", claim)
	}

	w = newWorld(t).policy("defaults", all).set("purpose", "", "id", gone{}, "inputs", gone{})
	w.expect("missing_field:id missing_field:purpose missing_field:inputs")

	// One dimension of the budget.
	w = newWorld(t).policy("defaults", all).set("authority.budget", object{"tokens": 5, "usd": nil, "minutes": 7})
	if got := fmt.Sprint(w.expect("").Project().Packet.DefaultsApplied); got != "[authority.budget.usd]" {
		t.Errorf("defaults applied %s", got)
	}

	// A default of a wrong type shows as the field's own reason.
	w = newWorld(t).policy("defaults", object{"owned_paths": "x", "on_failure": 1, "budget": object{"usd": "2"}})
	w.set("scope.owned_paths", gone{}).expect("malformed:scope.owned_paths")
	w.set("on_failure", gone{}).expect("bad_on_failure")
	w.set("on_failure", "reject", "scope.owned_paths", list{}, "authority.budget", gone{}).expect("missing_field:authority.budget")

	// Nothing is filled into what is no object, nor over what is there.
	w = newWorld(t).policy("defaults", all)
	w.set("scope", "").expect("missing_field:scope")
	w.set("scope", 1).expect("malformed:scope")
	w.set("scope", object{"owned_paths": list{}, "forbidden": list{}}, "authority.allowed_tools", list{}).expect("missing_field:authority.allowed_tools")

	// Of the top level alone, where the receiver is nobody; the agent's wins where
	// both have one, and null is unset.
	w = newWorld(t).reg("policy", object{"defaults": object{"on_failure": "retry_with_budget", "output_schema": "top"}})
	w.policy("defaults", object{"on_failure": "escalate", "output_schema": nil})
	w.set("on_failure", gone{}, "acceptance.output_schema", gone{})
	c = w.expect("")
	if c.h.onFailure.Text != "escalate" || c.h.outputSchema.Text != "top" {
		t.Errorf("filled in %q and %q", c.h.onFailure.Text, c.h.outputSchema.Text)
	}
	c = w.set("to", "nobody").expect("unknown_agent:to")
	if c.h.onFailure.Text != "retry_with_budget" {
		t.Errorf("filled in %q", c.h.onFailure.Text)
	}
}

func TestSignature(t *testing.T) {
	second := registered("a-2", "alice2")
	revoked := func(name, at string) object {
		k := registered("a-1", "alice")
		k[name] = at
		return k
	}
	for _, tt := range []struct {
		name string
		do   func(w *world)
		want string
	}{
		{"unsigned", func(w *world) { w.unsigned = true }, "signature_missing"},
		{"unsigned, allowed", func(w *world) { w.unsigned = true; w.policy("require_signatures", false) }, "| unsigned-packet"},
		{"unsigned, strict", func(w *world) { w.unsigned, w.o.Strict = true, true; w.policy("require_signatures", false) }, "signature_missing"},
		{"null is absent", func(w *world) { w.unsigned = true; w.beside = object{"signature": nil} }, "signature_missing"},
		{"a text", func(w *world) { w.beside = object{"signature": "x"} }, "signature_malformed"},
		{"sig missing", func(w *world) { w.signature = object{"sig": gone{}} }, "signature_malformed"},
		{"sig is a number", func(w *world) { w.signature = object{"sig": 7, "alg": "none"} }, "signature_malformed"},
		{"another algorithm", func(w *world) { w.signature = object{"alg": "ed25519", "signer": "x"} }, "signature_alg_unsupported"},
		{"algorithm of another type", func(w *world) { w.signature = object{"alg": list{}} }, "signature_alg_unsupported"},
		{"algorithm absent", func(w *world) { w.signature = object{"alg": nil} }, ""},
		{"another signer", func(w *world) { w.signature = object{"signer": "mallory", "kid": gone{}} }, "signature_signer_mismatch"},
		{"no signer", func(w *world) { w.signature = object{"signer": gone{}} }, "signature_signer_mismatch"},
		{"no kid, one key", func(w *world) { w.signature = object{"kid": gone{}} }, ""},
		{"no kid, two keys", func(w *world) {
			w.signature = object{"kid": nil}
			w.reg("agents.alice.keys", list{registered("a-1", "alice"), second})
		}, "signature_kid_required"},
		{"no kid, a revoked key counts", func(w *world) {
			w.signature = object{"kid": nil}
			second := registered("a-2", "alice2")
			second["revoked_at"] = "2020-01-01T00:00:00Z"
			w.reg("agents.alice.keys", list{registered("a-1", "alice"), second})
		}, "signature_kid_required"},
		{"no kid, an unusable key does not count", func(w *world) {
			w.signature = object{"kid": nil}
			w.reg("agents.alice.keys", list{registered("a-1", "alice"), object{"kid": "a-2", "public_key": "x"}})
		}, "| registry-key-unusable"},
		{"another kid", func(w *world) { w.signature = object{"kid": "a-2"} }, "signature_key_unknown"},
		{"a kid that is no text", func(w *world) { w.signature = object{"kid": 1} }, "signature_key_unknown"},
		{"only the named key is tried", func(w *world) {
			w.signature = object{"kid": "a-2"}
			w.reg("agents.alice.keys", list{registered("a-1", "alice"), second})
		}, "signature_invalid"},
		{"a key without kid is not named by one", func(w *world) {
			w.reg("agents.alice.keys", list{object{"public_key": public("alice")}})
		}, "signature_key_unknown"},
		{"a key without kid", func(w *world) {
			w.signature = object{"kid": gone{}}
			w.reg("agents.alice.keys", list{object{"public_key": public("alice")}})
		}, ""},
		{"no keys", func(w *world) { w.reg("agents.alice.keys", gone{}) }, "signature_key_unknown"},
		{"revoked", func(w *world) { w.reg("agents.alice.keys.0", revoked("revoked_at", now)) }, "signature_key_revoked"},
		{"revoked in a second", func(w *world) { w.reg("agents.alice.keys.0", revoked("revoked_at", "2026-10-02T12:00:01Z")) }, ""},
		{"not yet valid", func(w *world) { w.reg("agents.alice.keys.0", revoked("valid_from", "2026-10-02T12:00:01Z")) }, "signature_key_not_yet_valid"},
		{"valid from now on", func(w *world) { w.reg("agents.alice.keys.0", revoked("valid_from", now)) }, ""},
		{"expired", func(w *world) { w.reg("agents.alice.keys.0", revoked("valid_until", now)) }, "signature_key_expired"},
		{"expires in a second", func(w *world) { w.reg("agents.alice.keys.0", revoked("valid_until", "2026-10-02T14:00:01+02:00")) }, ""},
		{"an alias", func(w *world) { w.set("from", "ally"); w.signature = object{"signer": "ally"} }, "alias_not_canonical:from signature_key_unknown"},
		{"an alias with keys has none", func(w *world) {
			w.set("from", "ally").reg("agents.ally.keys", list{registered("a-1", "alice")})
			w.signature = object{"signer": "ally"}
		}, "alias_not_canonical:from signature_key_unknown | registry-shared-key"},
		{"to an alias", func(w *world) { w.set("to", "ally") }, "alias_not_canonical:to"},
		{"two strangers", func(w *world) { w.set("from", "Alice", "to", "BOB"); w.signature = object{"signer": "Alice"} }, "unknown_agent:from unknown_agent:to signature_key_unknown"},
		{"a look-alike", func(w *world) { w.set("from", "\u0430lice"); w.signature = object{"signer": "\u0430lice"} }, "unknown_agent:from signature_key_unknown"},
		{"signed as an approval", func(w *world) {
			w.signature = object{"sig": sealed(approvalTag, "alice", canonicalOf(w.t, w.handoff))}
		}, "signature_invalid"},
		{"ES256 cannot sign packets", func(w *world) {
			public, sign := es256(w.t)
			w.reg("agents.alice.keys.0", object{"kid": "a-1", "alg": "ES256", "public_key": public})
			w.signature = object{"sig": sign(packetTag, canonicalOf(w.t, w.handoff))}
		}, "signature_key_unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.do(w)
			c := w.expect(tt.want)
			state := "failed"
			switch {
			case w.unsigned:
				state = "absent"
			case tt.want == "" || strings.HasPrefix(tt.want, "|") || tt.want == "alias_not_canonical:to":
				state = "verified"
			}
			if got := c.Project().Packet.Signature; got != state {
				t.Errorf("signature %q, want %q", got, state)
			}
		})
	}
}

// Whatever is changed after signing breaks the signature, known to us or not.
func TestTampering(t *testing.T) {
	for _, change := range [][]any{
		{"purpose", "Verify something else"},
		{"authority.budget.tokens", 50001},
		{"scope.forbidden", list{"x"}},
		{"inputs.state_revision", "rev-8"},
		{"note", nil},
		{"planned_actions.0.params", object{}},
		{"acceptance.evidence.0.quote", "A verdict"},
	} {
		w := newWorld(t)
		w.signature = object{"sig": sealed(packetTag, "alice", canonicalOf(t, w.handoff))}
		c := w.set(change...).judge(w.packet())
		if reasons, _ := codes(c); fmt.Sprint(reasons) != "[signature_invalid]" {
			t.Errorf("%v: %v", change, reasons)
		}
	}
	// Beside the handoff nothing is covered.
	w := newWorld(t)
	w.beside = object{"note": "x"}
	w.expect("| unknown-field")
	// Another spelling of the same value is the same.
	w = newWorld(t)
	data := bytes.Replace(w.packet(), []byte(`"tokens": 50000`), []byte(`"tokens": 5.0e4`), 1)
	w.expectOf(bytes.Replace(data, []byte(`"alice"`), []byte(`"\u0061lice"`), 1), "")
}

func TestSpellingsOfASignature(t *testing.T) {
	w := newWorld(t)
	good := sealed(packetTag, "alice", canonicalOf(t, w.handoff))
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	loose := good[:len(good)-1] + string(alphabet[strings.IndexByte(alphabet, good[len(good)-1])^1])
	for _, sig := range []string{
		good + "==", good + "=", " " + good, good + "\n", good[:40] + "\n" + good[40:], good[:40] + "." + good[40:], loose, good[:len(good)-2], good + "AAAA", "", "!!",
		strings.NewReplacer("-", "+", "_", "/").Replace(good) + "+",
	} {
		w.signature = object{"sig": sig}
		if reasons, _ := codes(w.judge(w.packet())); fmt.Sprint(reasons) != "[signature_invalid]" {
			t.Errorf("%q: %v", sig, reasons)
		}
	}
}

func TestFreshness(t *testing.T) {
	for _, tt := range []struct {
		expires any
		max     any
		want    string
	}{
		{now, nil, "handoff_expired"},
		{"2026-10-02T12:00:00.000000001Z", nil, ""},
		{"2026-10-02T13:30:00+02:00", nil, "handoff_expired"},
		{"2026-10-02T10:30:00-02:00", nil, ""},
		{"2026-10-05", nil, "bad_expires_at"},
		{"2026-10-05T00:00:00", nil, "bad_expires_at"},
		{"2026-10-05 00:00:00Z", nil, "bad_expires_at"},
		{"2026-10-05T00:00:60Z", nil, "bad_expires_at"},
		{"2026-10-05t00:00:00Z", nil, ""},
		{5, nil, "bad_expires_at"},
		{later, 84, ""},
		{later, 83.99999, "ttl_exceeded"},
		{"9999-12-31T23:59:59Z", 1e6, "ttl_exceeded"},
		{"9999-12-31T23:59:59Z", 1e9, ""},
		{"2026-10-02T12:06:00Z", 0.1, ""},
		{"2026-10-02T12:06:00.1Z", 0.1, "ttl_exceeded"},
	} {
		w := newWorld(t).set("acceptance.expires_at", tt.expires)
		if tt.max != nil {
			w.policy("max_ttl_hours", tt.max)
		}
		if reasons, _ := codes(w.judge(w.packet())); strings.Join(reasons, " ") != tt.want {
			t.Errorf("%v at most %v hours: %v, want %q", tt.expires, tt.max, reasons, tt.want)
		}
	}
	w := newWorld(t).reg("policy", object{"max_ttl_hours": 24}).policy("max_ttl_hours", 1000)
	w.expect("ttl_exceeded")
}

func TestAuthority(t *testing.T) {
	act := func(pairs ...string) list {
		var out list
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, object{"name": pairs[i], "tool": pairs[i+1]})
		}
		return out
	}
	for _, tt := range []struct {
		name string
		do   func(w *world)
		want string
	}{
		{"more tools than the policy", func(w *world) {
			w.set("authority.allowed_tools", list{"read_repo", "shell", "dd"}, "planned_actions", act("x", "shell", "y", "nothing"))
		}, "authority_exceeds_receiver_policy tool_not_allowed_by_receiver tool_not_allowed"},
		{"no list allows all", func(w *world) {
			w.policy("allowed_tools", nil).set("authority.allowed_tools", list{"shell"}, "planned_actions", act("x", "shell"))
		}, ""},
		{"an empty list allows nothing", func(w *world) { w.policy("allowed_tools", list{}) }, "authority_exceeds_receiver_policy tool_not_allowed_by_receiver"},
		{"layers intersect", func(w *world) { w.reg("policy", object{"allowed_tools": list{"edit_files", "shell"}}) }, "authority_exceeds_receiver_policy tool_not_allowed_by_receiver"},
		{"forbidden by the packet", func(w *world) { w.set("scope.forbidden", list{"read_repo"}) }, "forbidden_action"},
		{"forbidden by name in the policy", func(w *world) { w.set("planned_actions", act("force_push", "read_repo")) }, "forbidden_action"},
		{"forbidden once", func(w *world) { w.set("scope.forbidden", list{"read_repo", "read_rules"}) }, "forbidden_action"},
		{"layers join", func(w *world) { w.reg("policy", object{"forbidden": list{"read_rules"}}) }, "forbidden_action"},
		{"approval missing", func(w *world) { w.push() }, "approval_missing"},
		{"approval asked for by the packet", func(w *world) { w.set("authority.approval_required_for", list{"read_rules"}) }, "approval_missing"},
		{"three at once, in order", func(w *world) {
			w.set("planned_actions", act("force_push", "git_push", "a", "none"), "authority.budget.usd", 11)
		}, "forbidden_action approval_missing tool_not_allowed authority_exceeds_receiver_policy"},
		{"approval", func(w *world) { w.push(w.approval()) }, ""},
		{"approval by the tool's name", func(w *world) { w.push(w.approval("action", "git_push")) }, ""},
		{"approval of another action", func(w *world) { w.push(w.approval("action", "read_rules")) }, "approval_missing"},
		{"approval without parameters", func(w *world) { w.push(w.approval("params", gone{})) }, ""},
		{"approval with none", func(w *world) { w.push(w.approval("params", object{})) }, ""},
		{"approval with a part of them and a commit", func(w *world) {
			w.push(w.approval("params", object{"branch": "feature/x", "commit": strings.Repeat("0", 40)}))
		}, ""},
		{"approval with more of them", func(w *world) {
			w.push(w.approval("params", object{"branch": "feature/x", "force": true}))
		}, "approval_params_mismatch"},
		{"approval with another value", func(w *world) { w.push(w.approval("params", object{"branch": "main"})) }, "approval_params_mismatch"},
		{"true is not 1", func(w *world) {
			w.push(w.approval("params", object{"n": true})).set("planned_actions.1.params.n", 1)
		}, "approval_params_mismatch"},
		{"1.0 is 1", func(w *world) {
			w.push(w.approval("params", object{"n": json.Number("1.0")})).set("planned_actions.1.params.n", 1)
		}, ""},
		{"parameters where none are planned", func(w *world) { w.push(w.approval()).set("planned_actions.1.params", gone{}) }, "approval_params_mismatch"},
		{"one of two fits", func(w *world) { w.push(w.approval("params", object{"branch": "main"}), w.approval()) }, ""},
		{"expired to the second", func(w *world) { w.push(w.approval("expires_at", now)) }, "approval_expired"},
		{"no timestamp", func(w *world) { w.push(w.approval("expires_at", "tomorrow")) }, "approval_expires_invalid"},
		{"an empty one", func(w *world) { w.push(w.approval("expires_at", "")) }, "approval_expires_invalid"},
		{"a number", func(w *world) { w.push(w.approval("expires_at", 5)) }, "approval_expires_invalid"},
		{"null never expires", func(w *world) { w.push(w.approval("expires_at", nil)) }, ""},
		{"not trusted", func(w *world) { w.push(w.approval("approver", "mallory", "by", "mallory", "kid", "m-1")) }, "approver_not_trusted"},
		{"nobody is trusted", func(w *world) { w.policy("trusted_approvers", list{}).push(w.approval()) }, "approver_not_trusted"},
		{"no list trusts others", func(w *world) {
			w.policy("trusted_approvers", gone{}).push(w.approval("approver", "mallory", "by", "mallory", "kid", "m-1"))
		}, ""},
		{"no list does not trust the sender", func(w *world) {
			w.policy("trusted_approvers", gone{}).push(w.approval("approver", "alice", "by", "alice", "kid", "a-1"))
		}, "approver_not_trusted"},
		{"a list may trust the sender", func(w *world) {
			w.policy("trusted_approvers", list{"alice"}).push(w.approval("approver", "alice", "by", "alice", "kid", "a-1"))
		}, ""},
		{"no kid, one key", func(w *world) { w.push(w.approval("kid", gone{})) }, ""},
		{"no kid, two keys of either algorithm", func(w *world) {
			public, _ := es256(w.t)
			w.reg("agents.rita.keys", list{registered("r-1", "rita"), object{"kid": "r-2", "alg": "ES256", "public_key": public}})
			w.push(w.approval("kid", gone{}))
		}, "approval_kid_required"},
		{"key revoked", func(w *world) { w.reg("agents.rita.keys.0.revoked_at", now).push(w.approval()) }, "approval_key_revoked"},
		{"key not yet valid", func(w *world) { w.reg("agents.rita.keys.0.valid_from", later).push(w.approval()) }, "approval_key_not_yet_valid"},
		{"key expired", func(w *world) { w.reg("agents.rita.keys.0.valid_until", now).push(w.approval()) }, "approval_key_expired"},
		{"revoked before anything else", func(w *world) {
			w.reg("agents.rita.keys.0.revoked_at", now, "agents.rita.keys.0.valid_from", later).push(w.approval("sig", "x"))
		}, "approval_key_revoked"},
		{"forged", func(w *world) { w.push(w.approval("by", "mallory")) }, "approval_signature_invalid"},
		{"sig is no text", func(w *world) { w.push(w.approval("sig", 5)) }, "approval_signature_invalid"},
		{"sig is empty", func(w *world) { w.push(w.approval("sig", "")) }, "approval_signature_invalid"},
		{"unknown kid", func(w *world) { w.push(w.approval("kid", "r-9")) }, "approval_signature_invalid"},
		{"unknown approver", func(w *world) { w.policy("trusted_approvers", nil).push(w.approval("approver", "ghost")) }, "approval_signature_invalid"},
		{"an alias", func(w *world) {
			w.policy("trusted_approvers", nil).push(w.approval("approver", "ally", "by", "alice", "kid", "a-1"))
		}, "approval_signature_invalid"},
		{"an unusable key", func(w *world) { w.reg("agents.rita.keys.0.public_key", "AAAA").push(w.approval()) }, "approval_signature_invalid | registry-key-unusable"},
		{"signed as a packet", func(w *world) {
			w.push(w.approval("sig", sealed(packetTag, "rita", []byte("{}"))))
		}, "approval_signature_invalid"},
		{"unsigned", func(w *world) { w.push(w.approval("sig", gone{})) }, "approval_unsigned"},
		{"sig that is null", func(w *world) { a := w.approval(); a["sig"] = nil; w.push(a) }, "approval_unsigned"},
		{"unsigned, allowed", func(w *world) { w.policy("require_signed_approvals", false).push(w.approval("sig", gone{})) }, "| approval-unsigned"},
		{"unsigned, strict", func(w *world) {
			w.o.Strict = true
			w.policy("require_signed_approvals", false).push(w.approval("sig", gone{}))
		}, "approval_unsigned"},
		{"unsigned beside a signed one", func(w *world) {
			w.policy("require_signed_approvals", false).push(w.approval("sig", gone{}), w.approval())
		}, ""},
		{"one good one is enough", func(w *world) {
			w.push(w.approval("sig", "AAAA"), object{"action": "push_branch", "approver": "mallory"}, w.approval())
		}, ""},
		{"all problems of all that fit", func(w *world) {
			w.push(
				w.approval("action", "git_push", "sig", gone{}),
				w.approval("expires_at", "2026-10-01T00:00:00Z", "approver", "mallory", "by", "alice", "kid", "m-1"),
				w.approval("params", object{"branch": "main"}),
			)
		}, "approval_expired approver_not_trusted approval_signature_invalid approval_unsigned"},
		{"what no action needs is not evaluated", func(w *world) { w.set("authority.approvals", list{w.approval("sig", "x")}) }, ""},
		{"name and tool alike", func(w *world) {
			w.set("planned_actions", act("git_push", "git_push"), "authority.approvals", list{w.approval("action", "git_push", "params", gone{}, "sig", "x")})
		}, "approval_signature_invalid"},
		{"ES256", func(w *world) {
			public, sign := es256(w.t)
			w.reg("agents.rita.keys", list{registered("r-1", "rita"), object{"kid": "r-2", "alg": "ES256", "public_key": public}})
			body := object{
				"action": "push_branch", "approver": "rita", "expires_at": nil, "from": "alice", "idempotency_key": "pack:m1:rev-7", "to": "bob",
				"params": object{"remote": "origin", "branch": "feature/x"},
			}
			w.push(w.approval("kid", "r-2", "sig", sign(approvalTag, canonicalOf(w.t, body))))
		}, ""},
		{"ES256, forged", func(w *world) {
			public, sign := es256(w.t)
			w.reg("agents.rita.keys.0", object{"kid": "r-2", "alg": "ES256", "public_key": public})
			w.push(w.approval("kid", "r-2", "sig", sign(approvalTag, []byte("{}"))))
		}, "approval_signature_invalid"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.do(w)
			c := w.expect(tt.want)
			for _, r := range c.Project().Packet.Reasons {
				if r.State != "blocked" {
					t.Errorf("%s is %s", r.Code, r.State)
				}
			}
		})
	}
	// An approval is for one key, sender and receiver.
	for _, field := range []string{"idempotency_key", "from", "to"} {
		donor := newWorld(t).set(field, "other")
		w := newWorld(t)
		w.push(donor.approval()).expect("approval_signature_invalid")
	}
	// It does not cover purpose, inputs or budget.
	donor := newWorld(t).set("purpose", "something else")
	w := newWorld(t)
	w.push(donor.approval()).expect("")
}

func TestBudget(t *testing.T) {
	for _, tt := range []struct {
		name        string
		budget, top object
		tokens, usd list
		want        string
	}{
		{"equal is allowed", object{"tokens": 50000, "usd": 2}, nil, list{25000, 25000}, list{1, 1}, ""},
		{"one more", nil, nil, list{25000, 25001}, nil, "budget_exceeded"},
		{"two dimensions", object{"usd": 1}, nil, list{50001, 0}, list{1, 0.1}, "budget_exceeded budget_exceeded"},
		{"above the policy", object{"usd": 11, "tokens": 200001}, nil, nil, nil, "authority_exceeds_receiver_policy authority_exceeds_receiver_policy"},
		{"as the policy", object{"usd": 10, "tokens": 200000, "minutes": 120}, nil, nil, nil, ""},
		{"sum above the policy", object{"usd": 12}, nil, nil, list{6, 5}, "authority_exceeds_receiver_policy budget_exceeded"},
		{"binary64 adds as Synthe does", object{"usd": 0.3}, nil, nil, list{0.1, 0.2}, "budget_exceeded"},
		{"layers take the smaller", nil, object{"usd": 1}, nil, nil, "authority_exceeds_receiver_policy"},
		{"every digit counts", object{"tokens": json.Number("9007199254740993")}, object{"tokens": json.Number("9007199254740992")}, nil, nil, "authority_exceeds_receiver_policy"},
	} {
		w := newWorld(t)
		for k, v := range tt.budget {
			w.set("authority.budget."+k, v)
		}
		if tt.top != nil {
			w.reg("policy", object{"budget": tt.top})
			if strings.Contains(tt.name, "digit") {
				w.policy("budget", nil)
			}
		}
		var actions list
		for i := range 2 {
			a := object{"name": fmt.Sprint("a", i), "tool": "read_repo"}
			if tt.tokens != nil {
				a["est_tokens"] = tt.tokens[i]
			}
			if tt.usd != nil {
				a["est_usd"] = tt.usd[i]
			}
			actions = append(actions, a)
		}
		if reasons, _ := codes(w.set("planned_actions", actions).judge(w.packet())); strings.Join(reasons, " ") != tt.want {
			t.Errorf("%s: %v, want %q", tt.name, reasons, tt.want)
		}
	}
}

func TestArtifacts(t *testing.T) {
	refs := func(w *world, pairs ...any) {
		var out list
		for i := 0; i < len(pairs); i += 2 {
			ref := object{"path": pairs[i]}
			if pairs[i+1] != nil {
				ref["sha256"] = pairs[i+1]
			}
			out = append(out, ref)
		}
		w.set("inputs.artifact_refs", out)
	}
	for _, p := range []string{
		"/etc/passwd", "~/x", "~root/x", "C:x", "c:/x", `a\b`, `..\x`, "../x", "a/../../x", "a/..", "a/../b", "..", "a\x00b", "a\nb", "a\u0085b", "a\x7f",
	} {
		w := newWorld(t)
		refs(w, p, sum(brief))
		w.expect("artifact_path_escapes_workspace")
	}
	for _, p := range []string{"./context/brief.md", "context//brief.md", "context/./brief.md"} {
		w := newWorld(t)
		refs(w, p, sum(brief))
		w.expect("")
	}
	w := newWorld(t)
	w.files["link"] = "->outside"
	refs(w, "link", sum(brief), "none", sum(brief), "context/brief.md", strings.Repeat("0", 64), "context/brief.md", nil, "context/brief.md", sum(brief), "~x", nil, "none", nil, "context/brief.md/", sum(brief))
	w.expect("artifact_path_escapes_workspace artifact_missing artifact_hash_mismatch artifact_path_escapes_workspace artifact_missing artifact_missing | artifact-unpinned")
	w.o.Strict = true
	c := w.expect("artifact_path_escapes_workspace artifact_missing artifact_hash_mismatch artifact_unpinned artifact_path_escapes_workspace artifact_missing artifact_missing")
	var states []string
	for _, r := range c.Project().Packet.Reasons[:4] {
		states = append(states, r.State)
	}
	if fmt.Sprint(states) != "[invalid incomplete stale incomplete]" {
		t.Errorf("states %v", states)
	}
	// Each file is asked for once.
	if n := c.Needs(); len(n) != 5 {
		t.Errorf("%d needs: %v", len(n), n)
	}

	w = newWorld(t)
	w.o.Workspace = false
	w.expect("workspace_required workspace_required")
	w.policy("verify_evidence", false).expect("workspace_required")

	// Line ends are not converted, and the message says when they are all.
	w = newWorld(t)
	w.files["context/brief.md"] = strings.ReplaceAll(brief, "\n", "\r\n")
	c = w.expect("artifact_hash_mismatch")
	if m := c.Project().Packet.Reasons[0].Message; !strings.Contains(m, "line ends") {
		t.Errorf("message %q", m)
	}
	w.files["context/brief.md"] = strings.ReplaceAll(brief, "Verify", "verify")
	c = w.expect("artifact_hash_mismatch")
	if m := c.Project().Packet.Reasons[0].Message; strings.Contains(m, "line ends") {
		t.Errorf("message %q", m)
	}
}

func TestEvidence(t *testing.T) {
	item := func(pairs ...any) object {
		out := object{"kind": "verbatim_quote", "ref": "rules/M-1.md#m1-u-12", "verbatim": true, "sha256": sum(theRules)}
		for i := 0; i < len(pairs); i += 2 {
			if _, ok := pairs[i+1].(gone); ok {
				delete(out, pairs[i].(string))
			} else {
				out[pairs[i].(string)] = pairs[i+1]
			}
		}
		return out
	}
	for _, tt := range []struct {
		name  string
		items list
		want  string
	}{
		{"sound", list{item()}, ""},
		{"exactly true", list{item("verbatim", gone{}), item("verbatim", false), item("verbatim", "true"), item("verbatim", 1)}, strings.TrimSpace(strings.Repeat("evidence_not_verbatim ", 4))},
		{"the verbatim kinds", list{item(), item("kind", "code_text", "verbatim", nil), item("kind", "legal_text", "verbatim", nil), item("kind", "test_output", "verbatim", nil)}, "evidence_not_verbatim evidence_not_verbatim"},
		{"unpinned", list{item("sha256", gone{})}, "verbatim_evidence_unpinned"},
		{"free text needs no pin", list{item(), item("kind", "test_output", "sha256", gone{})}, ""},
		{"no ref", list{item("ref", gone{})}, "evidence_unreferenced"},
		{"neither", list{item("ref", nil, "sha256", nil)}, "verbatim_evidence_unpinned evidence_unreferenced"},
		{"free text without ref", list{item(), item("kind", "note", "ref", nil, "sha256", nil)}, "evidence_unreferenced"},
		{"escapes", list{item("ref", "../x#y"), item("ref", "/etc/passwd"), item("ref", "#only"), item("ref", ""), item("ref", "link#L1")}, strings.TrimSpace(strings.Repeat("evidence_path_escapes_workspace ", 5))},
		{"missing", list{item("ref", "rules/none.md#a")}, "evidence_ref_missing"},
		{"lines", list{item("ref", "rules/M-1.md#L1"), item("ref", "rules/M-1.md#L5"), item("ref", "rules/M-1.md#L2-L5")}, ""},
		{"lines beyond", list{
			item("ref", "rules/M-1.md#L6"), item("ref", "rules/M-1.md#L5-L6"), item("ref", "rules/M-1.md#L0"), item("ref", "rules/M-1.md#L3-L2"),
			item("ref", "rules/M-1.md#L"+strings.Repeat("9", 40)),
		}, strings.TrimSpace(strings.Repeat("evidence_ref_missing ", 5))},
		{"labels", list{item("ref", "rules/M-1.md#L9-9"), item("ref", "rules/M-1.md#l9"), item("ref", "rules/M-1.md#L"), item("ref", "rules/M-1.md#L9-L"), item("ref", "rules/M-1.md#a#L9")}, ""},
		{"another file", list{item("sha256", strings.Repeat("1", 64))}, "evidence_hash_mismatch"},
		{"another file, in lines", list{item("ref", "rules/M-1.md#L1", "sha256", strings.Repeat("1", 64))}, "evidence_hash_mismatch"},
		{"upper-case pin", list{item("sha256", strings.ToUpper(sum(theRules)))}, ""},
		{"quote", list{item("quote", "A verdict needs two readers.")}, ""},
		{"quote over lines", list{item("quote", "readers.\nM1-U-13: Naïve “quotes” stay.")}, ""},
		{"quote with CRLF", list{item("quote", "readers.\r\nM1-U-13")}, ""},
		{"quote in its lines", list{item("quote", "A verdict", "ref", "rules/M-1.md#L3"), item("quote", "Last line.", "ref", "rules/M-1.md#L5")}, ""},
		{"quote in other lines", list{item("quote", "A verdict", "ref", "rules/M-1.md#L4-L5")}, "evidence_not_verbatim"},
		{"quote over the edge of its lines", list{item("quote", "readers.\nM1", "ref", "rules/M-1.md#L3")}, "evidence_not_verbatim"},
		{"quote up to the end of its line", list{item("quote", "readers.\n", "ref", "rules/M-1.md#L3")}, ""},
		{"paraphrase", list{item("quote", "A verdict needs 2 readers."), item("quote", "a verdict needs"), item("quote", "A verdict  needs"), item("quote", "readers. "), item("quote", `"quotes"`), item("quote", "Nai\u0308ve"), item("quote", "readers. M1-U-13"), item("quote", "")}, strings.TrimSpace(strings.Repeat("evidence_not_verbatim ", 8))},
		{"hash before quote", list{item("quote", "no such", "sha256", strings.Repeat("1", 64))}, "evidence_hash_mismatch"},
		{"said twice", list{item("quote", "no such", "verbatim", false)}, "evidence_not_verbatim evidence_not_verbatim"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t).set("acceptance.evidence", tt.items)
			w.files["link"] = "->outside"
			w.expect(tt.want)
		})
	}
	w := newWorld(t).set("acceptance.required_evidence", list{"zeta", "verbatim_quote", "alpha"})
	w.expect("evidence_missing evidence_missing")
	w.set("acceptance.evidence", gone{}).expect("evidence_missing evidence_missing evidence_missing")

	// Without verification only an item with a quote is looked at.
	w = newWorld(t).policy("verify_evidence", false)
	w.set("acceptance.evidence", list{item("ref", "none"), item("quote", "no such"), item("quote", "x", "ref", nil, "sha256", nil)})
	w.expect("evidence_not_verbatim verbatim_evidence_unpinned evidence_unreferenced")
	w.o.VerifyEvidence = true
	w.expect("evidence_ref_missing evidence_not_verbatim verbatim_evidence_unpinned evidence_unreferenced")
	w.o.VerifyEvidence, w.o.Strict = false, true
	w.expect("evidence_ref_missing evidence_not_verbatim verbatim_evidence_unpinned evidence_unreferenced")
	w.o.Workspace = false
	w.expect("workspace_required workspace_required")
}

// A finding stands on the line of the deepest member on its path that is there.
func TestLines(t *testing.T) {
	const packet = `{
  "handoff": {
    "schema_version": "0.1", "id": "h", "trace_id": "t",
    "idempotency_key": "k",
    "from": "ghost",
    "to": "bob", "purpose": "x", "on_failure": "reject",
    "inputs": {"state_revision": "r",
      "artifact_refs": [{"path": "a"},
        {"path": "/x"}]},
    "scope": {"owned_paths": [], "forbidden": []},
    "authority": {"allowed_tools": ["t"], "approval_required_for": [],
      "budget": {"tokens": 1, "usd": 1,
        "minutes": 1}},
    "planned_actions": [{"name": "n", "tool": "t"},
      {"name": "m",
       "tool": "u"}],
    "acceptance": {"output_schema": "s", "required_evidence": ["q",
        "r"],
      "expires_at": "never"}
  },
  "signature": {}
}`
	w := newWorld(t)
	w.reg("agents.bob.policy", object{"budget": object{"minutes": 0}, "require_signatures": true})
	got := map[string]int{}
	for _, l := range w.judge([]byte(packet)).Project().Layers {
		for _, f := range l.Findings {
			code, _, _ := strings.Cut(f.Message, ": ")
			got[code] = f.Line
		}
	}
	for code, line := range map[string]int{
		"unknown_agent:from": 5, "signature_malformed": 21, "bad_expires_at": 19, "tool_not_allowed": 15, "authority_exceeds_receiver_policy": 13,
		"artifact_path_escapes_workspace": 9, "artifact_missing": 8, "evidence_missing": 18,
	} {
		if got[code] != line {
			t.Errorf("%s is on line %d, want %d", code, got[code], line)
		}
	}
	line := func(from, to string) (int, string) {
		t.Helper()
		if !strings.Contains(packet, from) {
			t.Fatalf("no %q", from)
		}
		p := w.judge([]byte(strings.Replace(packet, from, to, 1))).Project()
		f := p.Layers[0].Findings[0]
		return f.Line, p.Packet.Reasons[0].Code
	}
	for _, tt := range []struct {
		from, to, code string
		line           int
	}{
		{`"purpose": "x", `, ``, "missing_field:purpose", 2},
		{`"usd": 1,`, `"x": 1,`, "missing_field:authority.budget", 12},
		{`"budget"`, `"bucket"`, "missing_field:authority.budget", 11},
		{`"tool": "u"`, `"tool": "u",
       "params": 1`, "malformed:planned_actions[1].params", 17},
		{`"name": "m",`, ``, "malformed:planned_actions[1]", 15},
		{`"handoff"`, `"hand"`, "missing_handoff", 1},
		{`"idempotency_key": "k"`, `"id": "k"`, "duplicate_field:id", 4},
		{`"minutes": 1`, `"minutes": NaN`, "malformed:non_finite_number", 13},
		{`"minutes": 1`, `"minutes": `, "packet_unreadable", 1},
	} {
		if n, code := line(tt.from, tt.to); n != tt.line || code != tt.code {
			t.Errorf("%s: %s on line %d, want %s on line %d", tt.to, code, n, tt.code, tt.line)
		}
	}
	// The ledger's reasons stand at the key.
	c := w.judge([]byte(packet))
	c.Ledger(ledger.Outcome{Reasons: []ledger.Reason{{Rule: ledger.LedgerCorrupt, State: ledger.Invalid, Message: "x"}}}, false)
	if f := c.Project().Layers[2].Findings[0]; f.Line != 4 || f.Message != "ledger_corrupt: x" {
		t.Errorf("got %+v", f)
	}
}

// The remedies of packets.md 11 that say more.
func TestRemedies(t *testing.T) {
	w := newWorld(t)
	w.o.Commands = Commands{File: "'my p.json'", Workspace: "ws", Again: "again"}
	w.unsigned = true
	w.set(
		"inputs.artifact_refs", list{object{"path": "context/brief.md", "sha256": strings.Repeat("0", 64)}},
		"acceptance.evidence", list{object{"kind": "legal_text", "verbatim": true, "ref": "rules/M-1.md"}},
	).push()
	fixes := map[string]string{}
	for _, l := range w.judge(w.packet()).Project().Layers {
		for _, f := range l.Findings {
			fixes[f.Rule] = f.Remedy[strings.LastIndexByte(f.Remedy, '\n')+1:]
		}
	}
	for rule, want := range map[string]string{
		"packet/signature-missing":          "fix: handoff-gate packet sign 'my p.json' --key KEY --out 'my p.json'",
		"packet/approval-missing":           "fix: handoff-gate packet approve 'my p.json' --key KEY --action push_branch --out 'my p.json'",
		"packet/artifact-hash-mismatch":     "fix: handoff-gate packet pin 'my p.json' --workspace ws --refresh --out 'my p.json'",
		"packet/verbatim-evidence-unpinned": "fix: handoff-gate packet pin 'my p.json' --workspace ws --out 'my p.json'",
	} {
		if fixes[rule] != want {
			t.Errorf("%s ends in %q, want %q", rule, fixes[rule], want)
		}
	}
	for _, r := range append(slices.Clone(Rules), ledger.Rules...) {
		if r.Title == "" || r.Why == "" || r.Remedy == "" || r.Example == "" || !strings.HasPrefix(r.ID, "packet/") {
			t.Errorf("%s has an empty part", r.ID)
		}
	}
}

// A packet can break a rule more often than anybody reads; what is left out is
// counted.
func TestBounds(t *testing.T) {
	w := newWorld(t)
	var actions, approvals list
	for range 200 {
		actions = append(actions, object{"name": "p", "tool": "git_push"})
		approvals = append(approvals, object{"action": "p", "approver": "rita"})
	}
	c := w.set("planned_actions", actions, "authority.approvals", approvals).judge(w.packet())
	consistent(t, c)
	p := c.Project()
	if n := len(p.Packet.Reasons); n != 10_000 {
		t.Errorf("%d reasons, want 10000", n)
	}
	if m := p.Packet.Reasons[9_999].Message; !strings.Contains(m, "30000 more") {
		t.Errorf("the last says %q", m)
	}
}

func TestMaskedText(t *testing.T) {
	evil := "x%0A::error::pwn\n::error file=a::owned\r\u202ey"
	w := newWorld(t).set("planned_actions.0.tool", evil, "depends_on", list{evil})
	c := w.expect("tool_not_allowed")
	if m := c.Project().Packet.Reasons[0].Message; !strings.Contains(m, `\u000a::error file=a::owned\u000d\u202ey`) {
		t.Errorf("message %q", m)
	}
}

func FuzzCheck(f *testing.F) {
	w := newWorld(f)
	w.push(w.approval())
	registry := encode(f, w.registry)
	f.Add(w.packet(), registry, true)
	f.Add([]byte(`{"handoff":{}}`), []byte(`{"agents":{}}`), false)
	f.Add(w.packet(), []byte(`{"agents":{"a":{"keys":[{}]}},"policy":{"max_ttl_hours":0}}`), false)
	f.Fuzz(func(t *testing.T, packet, registry []byte, strict bool) {
		w := newWorld(t)
		w.o.Strict = strict
		c := Check(Read("p.json", packet), ReadRegistry("registry.json", registry), w.o)
		if !c.Malformed() {
			c.Files(w.look(c.Needs()))
		}
		consistent(t, c)
		if c.Malformed() {
			return
		}
		// What passes check 1 has a canonical form that passes it as well, with the
		// same reasons from check 3 on.
		again := Check(Read("p.json", rewritten(packet)), ReadRegistry("registry.json", registry), w.o)
		again.Files(w.look(again.Needs()))
		one, _ := codes(c)
		two, _ := codes(again)
		if !slices.Equal(slices.Sorted(slices.Values(one)), slices.Sorted(slices.Values(two))) {
			t.Fatalf("%q: %v, and in canonical form %v", packet, one, two)
		}
	})
}

// rewritten writes a packet in canonical form.
func rewritten(packet []byte) []byte {
	doc, err := strict.Parse(strict.Packet, packet)
	if err != nil {
		panic(err)
	}
	return strict.Canonical(doc.Root)
}
