package packet

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/packet/strict"
)

func TestRegistryMalformed(t *testing.T) {
	key := func(pairs string) string { return `{"agents": {"a": {"keys": [{` + pairs + `}]}}}` }
	policy := func(member string) string { return `{"agents": {"a": {"policy": {` + member + `}}}}` }
	for _, tt := range []struct{ src, want string }{
		{`{`, "registry_unreadable"},
		{`{"agents": {}, "agents": {}}`, "registry_unreadable"},
		{`{"agents": {"a": {}, "\u0061": {}}}`, "registry_unreadable"},
		{`{"agents": {}, "x": 1e999}`, "registry_unreadable"},
		{strings.Repeat(" ", 4<<20) + `{}`, "registry_unreadable"},
		{`[]`, "registry_malformed"},
		{`{}`, "registry_malformed"},
		{`{"agents": null}`, "registry_malformed"},
		{`{"agents": []}`, "registry_malformed"},
		{`{"agents": {"a": null}}`, "registry_malformed"},
		{`{"agents": {"a": []}}`, "registry_malformed"},
		{`{"agents": {"a": {"keys": {}}}}`, "registry_malformed"},
		{`{"agents": {"a": {"keys": [null]}}}`, "registry_malformed"},
		{`{"agents": {"a": {"keys": ["x"]}}}`, "registry_malformed"},
		{key(`"kid": 1`), "registry_malformed"},
		{`{"agents": {"a": {"keys": [{"kid": "1"}, {}]}}}`, "registry_malformed"},
		{`{"agents": {"a": {"keys": [{"kid": "1"}, {"kid": null}]}}}`, "registry_malformed"},
		{`{"agents": {"a": {"keys": [{"kid": "1"}, {"kid": "1"}]}}}`, "registry_malformed"},
		{key(`"valid_from": "2026-01-01"`), "registry_malformed"},
		{key(`"valid_until": 5`), "registry_malformed"},
		{key(`"revoked_at": ""`), "registry_malformed"},
		{`{"agents": {"a": {"alias_of": 1}}}`, "registry_malformed"},
		{`{"agents": {}, "policy": []}`, "registry_malformed"},
		{`{"agents": {}, "policy": "x"}`, "registry_malformed"},
		{`{"agents": {"a": {"policy": 1}}}`, "registry_malformed"},
		{policy(`"allowed_tools": "x"`), "registry_malformed"},
		{policy(`"trusted_approvers": [1]`), "registry_malformed"},
		{policy(`"forbidden": {}`), "registry_malformed"},
		{policy(`"approval_required_for": [null]`), "registry_malformed"},
		{policy(`"budget": []`), "registry_malformed"},
		{policy(`"budget": {"usd": "1"}`), "registry_malformed"},
		{policy(`"budget": {"usd": -1}`), "registry_malformed"},
		{policy(`"budget": {"hours": true}`), "registry_malformed"},
		{policy(`"max_ttl_hours": 0`), "registry_malformed"},
		{policy(`"max_ttl_hours": -1`), "registry_malformed"},
		{policy(`"max_ttl_hours": "24"`), "registry_malformed"},
		{policy(`"max_ttl_hours": 1` + strings.Repeat("0", 400)), "registry_malformed"},
		{policy(`"require_signatures": "true"`), "registry_malformed"},
		{policy(`"require_signed_approvals": 1`), "registry_malformed"},
		{policy(`"exclusive_paths": []`), "registry_malformed"},
		{policy(`"defaults": []`), "registry_malformed"},

		{`{"agents": {}}`, ""},
		{`{"agents": {"a": {}}, "policy": null}`, ""},
		{`{"agents": {"a": {"keys": null, "policy": null, "alias_of": null}}}`, ""},
		{`{"agents": {"a": {"keys": []}}, "unknown": 1}`, ""},
		{key(`"kid": null, "valid_from": null, "valid_until": "2026-01-01T00:00:00Z"`), ""},
		{policy(`"allowed_tools": null, "budget": null, "max_ttl_hours": null, "require_signatures": null, "defaults": null, "forbidden": null`), ""},
		{policy(`"budget": {"usd": null, "tokens": 0, "hours": 5}`), ""},
	} {
		r := ReadRegistry("registry.json", []byte(tt.src))
		got := ""
		if r.problem != nil {
			got = r.problem.code()
		}
		if got != tt.want {
			t.Errorf("%.100s: %q (%v), want %q", tt.src, got, r.Sound(), tt.want)
		}
	}
}

func TestRegistryWarnings(t *testing.T) {
	key := func(kid, public string) string {
		return fmt.Sprintf(`{"kid": %q, "public_key": %q}`, kid, public)
	}
	for _, tt := range []struct{ src, want string }{
		{`{"agents": {"a": {"keys": [` + key("1", public("alice")) + `]}, "b": {"keys": [` + key("2", public("alice")) + `]}}}`, "registry-shared-key:1"},
		{`{"agents": {"a": {"keys": [` + key("1", public("alice")) + `,` + key("2", public("alice")) + `]}}}`, ""},
		{`{"agents": {"a": {"keys": [{"kid": "1"}]}}}`, "registry-key-unusable:1"},
		{`{"agents": {"a": {"keys": [{"kid": "1", "public_key": 5}]}}}`, "registry-key-unusable:1"},
		{`{"agents": {"a": {"keys": [{"kid": "1", "alg": "RS256", "public_key": "` + public("alice") + `"}]}}}`, "registry-key-unusable:1"},
		{`{"agents": {"a": {"keys": [{"kid": "1", "alg": 1, "public_key": "` + public("alice") + `"}]}}}`, "registry-key-unusable:1"},
		{"{\"agents\": {},\n\"policy\": {\"x\": 1,\n\"require_signature\": true}}", "registry-unknown-policy-key:2 registry-unknown-policy-key:3"},
		{`{"agents": {"a": {"policy": {"allowed_paths": 1, "forbidden_paths": "x", "require_approval_commit_pin": null}}}}`, ""},
		{"{\"agents\": {\"alice\": {},\n\"Alice\": {},\n\"ALICE\": {\"alias_of\": \"alice\"}}}", "registry-confusable-ids:2 registry-confusable-ids:3"},
		{`{"agents": {"\u0430lice": {}, "b\u03b1": {}, "алиса": {}, "αβγ": {}, "日本x": {}, "Kelvin": {}, "\u212aelvin": {}}}`, "registry-confusable-ids:1 registry-confusable-ids:1 registry-confusable-ids:1"},
	} {
		r := ReadRegistry("registry.json", []byte(tt.src))
		var got []string
		for _, n := range r.notes {
			got = append(got, strings.TrimPrefix(n.kind.ID, "packet/")+":"+strconv.Itoa(n.span.Line))
		}
		if strings.Join(got, " ") != tt.want || r.problem != nil {
			t.Errorf("%s: %v (%v), want %s", tt.src, got, r.Sound(), tt.want)
		}
	}
}

// Keys that a signature must not count by (packets.md 3).
func TestUsableKeys(t *testing.T) {
	point := func(digits string) string {
		raw := make([]byte, len(digits)/2)
		if _, err := fmt.Sscanf(digits, "%x", &raw); err != nil {
			t.Fatal(err)
		}
		return Encode(raw)
	}
	good := public("alice")
	for _, text := range []string{
		point("0100000000000000000000000000000000000000000000000000000000000000"),
		point("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
		point("0000000000000000000000000000000000000000000000000000000000000000"),
		point("0000000000000000000000000000000000000000000000000000000000000080"),
		point("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
		point("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85"),
		point("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
		point("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa"),
		point("eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
		point("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
		point("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"),
		point("0100000000000000000000000000000000000000000000000000000000000080"),
		point(strings.Repeat("ff", 32)),
		point(strings.Repeat("11", 31)), point(strings.Repeat("11", 33)), "", "***", good + "=", good[:42], good[:20] + "\n" + good[20:], " " + good,
	} {
		if _, why := usable(Ed25519, text); why == "" {
			t.Errorf("%q is usable", text)
		}
	}
	if _, why := usable(Ed25519, good); why != "" {
		t.Error(why)
	}
	p256, _ := es256(t)
	if _, why := usable(ES256, p256); why != "" {
		t.Error(why)
	}
	for _, text := range []string{"", p256[:85], p256 + "A", Encode(make([]byte, 64)), Encode(append([]byte{1}, make([]byte, 63)...))} {
		if _, why := usable(ES256, text); why == "" {
			t.Errorf("%q is usable", text)
		}
	}
	if _, why := usable(Ed25519, p256); why == "" {
		t.Error("a P-256 key is usable for Ed25519")
	}
}

func TestDecode(t *testing.T) {
	for _, tt := range []struct {
		text string
		size int
		want bool
	}{
		{"AQ", 1, true},
		{"AR", 1, false}, // loose bits
		{"AQ==", 1, false},
		{"A", 1, false},
		{"-_8", 2, true},
		{"+/8", 2, false},
		{"AQ\n", 1, false},
		{"AQID", 3, true},
		{"AQID", 2, false},
		{"", 0, true},
	} {
		if raw, ok := decode(tt.text, tt.size); ok != tt.want || ok && Encode(raw) != tt.text {
			t.Errorf("decode(%q, %d) = %v, %v", tt.text, tt.size, raw, ok)
		}
	}
}

// The worked example of packets.md 3.
const worked = `{"schema_version":"0.1","id":"h-0001","idempotency_key":"demo:rev-7","trace_id":"t-1","from":"alice","to":"bob",
 "purpose":"Pr\u00fcfe <M-1>","on_failure":"reject",
 "inputs":{"state_revision":"rev-7","artifact_refs":[{"path":"context/brief.md","sha256":"` + sixtyFour + `"}]},
 "scope":{"owned_paths":[],"forbidden":[]},
 "authority":{"allowed_tools":["read_repo"],"approval_required_for":[],"budget":{"tokens":50000,"usd":2.0,"minutes":30}},
 "planned_actions":[{"name":"read_rules","tool":"read_repo","est_usd":0.00001}],
 "acceptance":{"output_schema":"verdict.v1","required_evidence":["verbatim_quote"],"expires_at":"2026-10-05T00:00:00Z"}}`

const sixtyFour = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

func TestWorkedExample(t *testing.T) {
	seeded := func(agent string, b byte) *PrivateKey {
		k, err := NewPrivateKey(agent, agent+"-1", strings.NewReader(strings.Repeat(string(b), 32)))
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	alice, rita := seeded("alice", 1), seeded("rita", 2)
	if e := alice.RegistryEntry(); e != `{"kid": "alice-1", "alg": "Ed25519", "public_key": "iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w"}` {
		t.Errorf("entry %s", e)
	}
	if e := rita.RegistryEntry(); !strings.Contains(e, "gTl3Dqh9F19Wo1Rmw0x-zMuNipG07jeiXfYPW4_Js5Q") {
		t.Errorf("entry %s", e)
	}
	d := Read("p.json", []byte(`{"handoff": `+worked+`}`))
	if len(d.canonical()) != 673 || d.sum != "1c5d3966c2c552601a1a8dc340f13e4f1b0139d582ae47aa173efadbf7c6b224" {
		t.Errorf("%d bytes with SHA-256 %s", len(d.canonical()), d.sum)
	}
	for _, part := range []string{`{"acceptance":{"expires_at":"2026-10-05T00:00:00Z","output_schema"`, `"usd":2}`, `"est_usd":1e-05`, `"purpose":"Prüfe <M-1>"`, `"to":"bob","trace_id":"t-1"}`} {
		if !strings.Contains(string(d.canonical()), part) {
			t.Errorf("the canonical form lacks %s", part)
		}
	}
	if got := alice.sign(d.message); got != "Bffl6SgKo9Z5j2uWtufK8kSr4KfmkARmCT0WsTI_kCOBgkZHhNCE9KaddSmxMJXlCT1qFRWUBv8gZz_KVXVsDg" {
		t.Errorf("signature %s", got)
	}
	for body, want := range map[string]string{
		`{"action": "git_push", "approver": "rita"}`: "hb1TqlO4g9nuaG7cISLoXKFqX-tpkCpHQ4Qr9wbpotupsx5Xxpo5jaWR344OqeJW3cJYh-efOddOLMDmkVA-BA",
		`{"action": "git_push", "approver": "rita", "expires_at": "2026-10-03T00:00:00Z", "params": {"remote":"origin","branch":"feature/x"}, "kid": "x"}`: "gW63hIvl1ji-fbIob4yMTj8pnPlPasVjL9yQEzpOvcwo8d526S4Os2gfDTIXQ-O-AbOou8XAk-GVekehISuOCg",
	} {
		a, err := strict.Parse(strict.Packet, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if got := rita.sign(approvalMessage(d.handoff, a.Root)); got != want {
			t.Errorf("%s: signature %s", body, got)
		}
	}
}
