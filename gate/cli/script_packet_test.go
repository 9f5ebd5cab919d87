package cli_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/handoff-gate/handoff-gate/gate/packet"
)

// packetCommands are for scripts about signed packets. Keys are those of the
// agents' names, always the same.
//
//	registry FILE [PATH=JSON…]  writes a registry with the agents alice (a planner),
//	                            bob (a builder with a policy), rita (an approver) and
//	                            the alias ally, changed
//	packet FILE [PATH=JSON…]    writes a packet from alice to bob that is accepted,
//	                            changed, with a push that rita approved, and signs it.
//	                            PATH begins in the handoff; packet.X is beside it, and
//	                            signature.X is put over the signature that was made
//	workspace DIR               writes the files that the packet pins
//	key NAME FILE               writes the private key of an agent
//
// In a PATH names and numbers are parted by dots; a JSON of - removes the member.
var packetCommands = map[string]func(*testscript.TestScript, bool, []string){
	"registry": writeRegistry, "packet": writePacket, "workspace": writeWorkspace, "key": writeKey,
}

const (
	packetBrief = "# Brief\n\nVerify the pack.\n"
	packetRules = "# Rules\n\nM1-U-12: A verdict needs two readers.\n"
)

const packetRegistry = `{
  "agents": {
    "alice": {"role": "planner", "keys": [{"kid": "a-1", "alg": "Ed25519", "public_key": "KEY-alice"}]},
    "bob": {"role": "builder", "keys": [{"kid": "b-1", "public_key": "KEY-bob"}], "policy": {
      "allowed_tools": ["read_repo", "git_push"], "forbidden": ["force_push"], "approval_required_for": ["git_push"],
      "trusted_approvers": ["rita"], "budget": {"tokens": 200000, "usd": 10, "minutes": 120}, "require_signatures": true,
      "require_signed_approvals": true, "require_planned_actions": true, "verify_evidence": true}},
    "rita": {"role": "approver", "kind": "human", "keys": [{"kid": "r-1", "public_key": "KEY-rita"}]},
    "ally": {"alias_of": "alice"}
  }
}
`

const packetHandoff = `{
  "schema_version": "0.1", "id": "h-0001", "idempotency_key": "demo:rev-7", "trace_id": "t-1", "from": "alice", "to": "bob",
  "purpose": "Verify the pack", "on_failure": "reject",
  "inputs": {"state_revision": "rev-7", "artifact_refs": [{"path": "context/brief.md", "sha256": "SUM-brief"}]},
  "scope": {"owned_paths": ["out/**"], "forbidden": []},
  "authority": {"allowed_tools": ["read_repo", "git_push"], "approval_required_for": [],
    "budget": {"tokens": 50000, "usd": 2, "minutes": 30},
    "approvals": [{"action": "push", "approver": "rita", "params": {"branch": "feature"}}]},
  "planned_actions": [{"name": "read_rules", "tool": "read_repo"}, {"name": "push", "tool": "git_push", "params": {"branch": "feature"}}],
  "acceptance": {"output_schema": "verdict.v1", "required_evidence": ["verbatim_quote"], "expires_at": "2026-12-02T00:00:00Z",
    "evidence": [{"kind": "verbatim_quote", "ref": "rules.md#L3", "sha256": "SUM-rules", "verbatim": true, "quote": "needs two readers"}]}
}
`

func packetSeed(name string) []byte {
	sum := sha256.Sum256([]byte("script " + name))
	return sum[:]
}

func packetKeyFile(name string) []byte {
	kid := name[:1] + "-1"
	return fmt.Appendf(nil, "{\"agent\": %q, \"kid\": %q, \"alg\": \"Ed25519\", \"private_key\": %q}\n", name, kid, base64.RawURLEncoding.EncodeToString(packetSeed(name)))
}

func packetKey(ts *testscript.TestScript, name string) *packet.PrivateKey {
	k, err := packet.ReadPrivateKey(packetKeyFile(name))
	ts.Check(err)
	return k
}

// packetDocument reads a JSON text, numbers as they are spelled.
func packetDocument(ts *testscript.TestScript, text string) any {
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	ts.Check(d.Decode(&v))
	return v
}

// change sets or removes what a path leads to.
func change(ts *testscript.TestScript, in any, steps []string, text string) {
	for len(steps) > 1 {
		switch v := in.(type) {
		case map[string]any:
			in = v[steps[0]]
		case []any:
			i, err := strconv.Atoi(steps[0])
			ts.Check(err)
			in = v[i]
		}
		steps = steps[1:]
	}
	switch v := in.(type) {
	case map[string]any:
		if text == "-" {
			delete(v, steps[0])
		} else {
			v[steps[0]] = packetDocument(ts, text)
		}
	case []any:
		i, err := strconv.Atoi(steps[0])
		ts.Check(err)
		v[i] = packetDocument(ts, text)
	default:
		ts.Fatalf("nothing is at %s", steps[0])
	}
}

func changes(ts *testscript.TestScript, args []string, each func(path, text string)) {
	for _, a := range args {
		path, text, ok := strings.Cut(a, "=")
		if !ok {
			ts.Fatalf("%q is no PATH=JSON", a)
		}
		each(path, text)
	}
}

func writeJSON(ts *testscript.TestScript, file string, v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	ts.Check(e.Encode(v))
	file = ts.MkAbs(file)
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o755))
	ts.Check(os.WriteFile(file, b.Bytes(), 0o644))
}

func writeRegistry(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, 100)
	text := packetRegistry
	for _, name := range []string{"alice", "bob", "rita"} {
		var entry struct {
			Public string `json:"public_key"`
		}
		ts.Check(json.Unmarshal([]byte(packetKey(ts, name).RegistryEntry()), &entry))
		text = strings.ReplaceAll(text, "KEY-"+name, entry.Public)
	}
	r := packetDocument(ts, text)
	changes(ts, args[1:], func(path, text string) { change(ts, r, strings.Split(path, "."), text) })
	writeJSON(ts, args[0], r)
}

func writePacket(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, 100)
	hex256 := func(s string) string { sum := sha256.Sum256([]byte(s)); return hex.EncodeToString(sum[:]) }
	h := packetDocument(ts, strings.NewReplacer("SUM-brief", hex256(packetBrief), "SUM-rules", hex256(packetRules)).Replace(packetHandoff))
	p := map[string]any{"handoff": h}
	after := map[string]string{}
	approved := false // the script writes the approvals
	changes(ts, args[1:], func(path, text string) {
		switch name, rest, _ := strings.Cut(path, "."); name {
		case "packet":
			change(ts, p, strings.Split(rest, "."), text)
		case "signature":
			after[rest] = text
		default:
			approved = approved || strings.HasPrefix(path, "authority.approvals")
			change(ts, h, strings.Split(path, "."), text)
		}
	})
	data, err := json.Marshal(p)
	ts.Check(err)
	write := func(change func(*packet.Draft) error) {
		d, err := packet.Open(data)
		if err != nil {
			return // a packet that nobody can sign
		}
		if change(d) == nil {
			data, err = d.Bytes()
			ts.Check(err)
		}
	}
	if !approved {
		a, _ := h.(map[string]any)["authority"].(map[string]any)
		delete(a, "approvals")
		data, err = json.Marshal(p)
		ts.Check(err)
		write(func(d *packet.Draft) error {
			_, err := d.Approve(packetKey(ts, "rita"), packet.Approval{Action: "push"})
			return err
		})
	}
	write(func(d *packet.Draft) error { return d.Sign(packetKey(ts, "alice")) })
	signed := packetDocument(ts, string(data)).(map[string]any)
	for path, text := range after {
		if path == "" {
			change(ts, signed, []string{"signature"}, text)
		} else {
			change(ts, signed, append([]string{"signature"}, strings.Split(path, ".")...), text)
		}
	}
	writeJSON(ts, args[0], signed)
}

func writeWorkspace(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, 1)
	for name, text := range map[string]string{"context/brief.md": packetBrief, "rules.md": packetRules} {
		file := filepath.Join(ts.MkAbs(args[0]), filepath.FromSlash(name))
		ts.Check(os.MkdirAll(filepath.Dir(file), 0o755))
		ts.Check(os.WriteFile(file, []byte(text), 0o644))
	}
}

func writeKey(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, 2)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), packetKeyFile(args[0]), 0o600))
}
