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
//	                            signature and signature.X are put over what was signed
//	workspace DIR               writes the files that the packet pins
//	key NAME FILE               writes the private key of an agent
//
// In a PATH names and numbers are parted by dots; a JSON of - removes the member.
var packetCommands = map[string]func(*testscript.TestScript, bool, []string){
	"registry": madeFile(madeRegistry), "packet": madeFile(madePacket), "workspace": writeWorkspace, "key": writeKey,
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

func packetKey(name string) *packet.PrivateKey {
	k, err := packet.ReadPrivateKey(packetKeyFile(name))
	if err != nil {
		panic(err) // it is made right here
	}
	return k
}

// packetDocument reads a JSON text, numbers as they are spelled.
func packetDocument(text string) (v any, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return v, d.Decode(&v)
}

// change sets or removes what a path leads to.
func change(in any, path, text string) error {
	steps := strings.Split(path, ".")
	last := steps[len(steps)-1]
	for _, step := range steps[:len(steps)-1] {
		switch v := in.(type) {
		case map[string]any:
			in = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil {
				return err
			}
			in = v[i]
		}
	}
	if v, ok := in.(map[string]any); ok && text == "-" {
		delete(v, last)
		return nil
	}
	value, err := packetDocument(text)
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	switch v := in.(type) {
	case map[string]any:
		v[last] = value
	case []any:
		i, err := strconv.Atoi(last)
		if err != nil {
			return err
		}
		v[i] = value
	default:
		return fmt.Errorf("nothing is at %s", path)
	}
	return nil
}

// changes takes settings PATH=JSON one by one.
func changes(settings []string, each func(path, text string) error) error {
	for _, a := range settings {
		path, text, ok := strings.Cut(a, "=")
		if !ok {
			return fmt.Errorf("%q is no PATH=JSON", a)
		}
		if err := each(path, text); err != nil {
			return err
		}
	}
	return nil
}

func indented(v any, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(v)
	return b.Bytes(), err
}

// madeRegistry makes a registry, changed.
func madeRegistry(settings []string) ([]byte, error) {
	text := packetRegistry
	for _, name := range []string{"alice", "bob", "rita"} {
		var entry struct {
			Public string `json:"public_key"`
		}
		if err := json.Unmarshal([]byte(packetKey(name).RegistryEntry()), &entry); err != nil {
			return nil, err
		}
		text = strings.ReplaceAll(text, "KEY-"+name, entry.Public)
	}
	r, err := packetDocument(text)
	if err == nil {
		err = changes(settings, func(path, text string) error { return change(r, path, text) })
	}
	return indented(r, err)
}

// madePacket makes a packet, changed, and signs it where it can be signed.
func madePacket(settings []string) ([]byte, error) {
	hex256 := func(s string) string { sum := sha256.Sum256([]byte(s)); return hex.EncodeToString(sum[:]) }
	h, err := packetDocument(strings.NewReplacer("SUM-brief", hex256(packetBrief), "SUM-rules", hex256(packetRules)).Replace(packetHandoff))
	if err != nil {
		return nil, err
	}
	p := map[string]any{"handoff": h}
	var after []string
	approved := false // the settings have the approvals
	err = changes(settings, func(path, text string) error {
		if rest, ok := strings.CutPrefix(path, "packet."); ok {
			return change(p, rest, text)
		}
		if path == "signature" || strings.HasPrefix(path, "signature.") {
			after = append(after, path+"="+text)
			return nil
		}
		approved = approved || strings.HasPrefix(path, "authority.approvals")
		return change(h, path, text)
	})
	if err != nil {
		return nil, err
	}
	if a, ok := h.(map[string]any)["authority"].(map[string]any); ok && !approved {
		delete(a, "approvals")
	}
	data, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	write := func(change func(*packet.Draft) error) {
		if d, err := packet.Open(data); err == nil && change(d) == nil { // else it is one that nobody can sign
			if made, err := d.Bytes(); err == nil {
				data = made
			}
		}
	}
	if !approved {
		write(func(d *packet.Draft) error {
			_, err := d.Approve(packetKey("rita"), packet.Approval{Action: "push"})
			return err
		})
	}
	write(func(d *packet.Draft) error { return d.Sign(packetKey("alice")) })
	signed, err := packetDocument(string(data))
	if err == nil {
		err = changes(after, func(path, text string) error { return change(signed, path, text) })
	}
	return indented(signed, err)
}

// madeFile writes what a function makes of the settings behind a file's name.
func madeFile(content func(settings []string) ([]byte, error)) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		want(ts, neg, args, 1, 100)
		data, err := content(args[1:])
		ts.Check(err)
		file := ts.MkAbs(args[0])
		ts.Check(os.MkdirAll(filepath.Dir(file), 0o755))
		ts.Check(os.WriteFile(file, data, 0o644))
	}
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
