package cli_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/cli"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/githubapi/apitest"
)

// claims is a packet with a registry that asks for no signature, and a ledger at a
// stand-in of GitHub.
type claims struct {
	t              *testing.T
	dir            string
	api            *apitest.Server
	stdout, stderr string
}

const claimsToken = "ghs_claimsToken0123456789abcdef"

func newClaims(t *testing.T) *claims {
	t.Helper()
	api, err := apitest.New(apitest.Options{Repository: "octo-org/claims", Token: claimsToken})
	if err != nil {
		t.Fatal(err)
	}
	c := &claims{t: t, dir: t.TempDir(), api: api}
	t.Cleanup(func() {
		api.Close()
		for _, p := range api.Problems() {
			t.Errorf("GitHub would object: %s", p)
		}
		if strings.Contains(c.stdout+c.stderr, claimsToken) {
			t.Error("the token was printed")
		}
	})
	for name, text := range map[string]string{
		"registry.json": `{"agents": {"alice": {}, "bob": {}}}`,
		"brief.md":      "Brief\n",
		"p.json": `{"handoff": {"schema_version": "0.1", "id": "h-0001", "idempotency_key": "demo:rev-7", "trace_id": "t-1", "from": "alice", "to": "bob",
			"purpose": "Show a claim", "on_failure": "reject", "inputs": {"state_revision": "r", "artifact_refs": [{"path": "brief.md"}]},
			"scope": {"owned_paths": [], "forbidden": []},
			"authority": {"allowed_tools": ["read"], "approval_required_for": [], "budget": {"tokens": 1, "usd": 1, "minutes": 1}},
			"acceptance": {"output_schema": "v1", "required_evidence": ["test_output"], "evidence": [{"kind": "test_output"}], "expires_at": "2026-12-02T00:00:00Z"}}}`,
	} {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// run runs a packet command on the packet and gives its decision.
func (c *claims) run(token string, args ...string) *report.Packet {
	c.t.Helper()
	words := []string{"packet", args[0], filepath.Join(c.dir, "p.json")}
	if args[0] == "check" || args[0] == "claim" {
		words = append(words, "--registry", filepath.Join(c.dir, "registry.json"), "--workspace", c.dir)
	}
	words = append(words, "--ledger", "github:octo-org/claims", "--now", now, "--format", "json")
	var out, said bytes.Buffer
	environ := append(os.Environ(), "GITHUB_API_URL="+c.api.URL, "GITHUB_TOKEN="+token)
	status := cli.Run(c.t.Context(), append(words, args[1:]...), cli.Process{Stdout: &out, Stderr: &said, Environ: environ, Version: "0.0.0-test"})
	c.stdout, c.stderr = c.stdout+out.String(), c.stderr+said.String()
	var r report.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || status > 1 {
		c.t.Fatalf("exit status %d, %v\n%s%s", status, err, out.String(), said.String())
	}
	return r.Projects[0].Packet
}

func (c *claims) wants(p *report.Packet, decision, codes string) {
	c.t.Helper()
	var got []string
	for _, r := range p.Reasons {
		got = append(got, r.Code)
	}
	if p.Decision != decision || strings.Join(got, " ") != codes {
		c.t.Fatalf("%s %q, want %s %q\n%s", p.Decision, got, decision, codes, c.stderr)
	}
}

// A packet is claimed, refused to everybody else and completed in the refs of a
// GitHub repository, also where GitHub answers late or not at all.
func TestPacketLedgerAtGitHub(t *testing.T) {
	c := newClaims(t)
	refs := regexp.MustCompile(`/git/refs`)
	c.wants(c.run(claimsToken, "check", "--dry-run"), "ACCEPT", "")
	for _, r := range c.api.Requests() {
		if r.Method != http.MethodGet {
			t.Errorf("a dry run sends %s %s", r.Method, r.Path)
		}
	}
	c.api.Fail(apitest.Fault{Method: "POST", Path: refs, Apply: true, Drop: true, Times: 1})
	if p := c.run(claimsToken, "claim", "--claim-file", filepath.Join(c.dir, "token")); p.Claim == nil || p.Claim.Epoch != 1 || p.Ledger != "recorded" {
		t.Fatalf("%+v\n%s", p, c.stderr)
	}
	if n := c.api.History(ledger.Ref("demo:rev-7")); n != 1 {
		t.Errorf("the claim was written %d times", n)
	}
	c.wants(c.run(claimsToken, "claim"), "REJECT", "idempotency_key_reserved")
	c.wants(c.run(claimsToken, "complete"), "REJECT", "claim_token_required")
	c.api.Fail(apitest.Fault{Method: "PATCH", Path: refs, Apply: true, Status: 502, Times: 1})
	c.wants(c.run(claimsToken, "complete", "--claim-file", filepath.Join(c.dir, "token")), "COMPLETED", "")
	c.wants(c.run(claimsToken, "claim"), "REJECT", "duplicate_idempotency_key")
	c.wants(c.run("", "check", "--dry-run"), "REJECT", "ledger_unreachable")
	c.wants(c.run("wrong", "check", "--dry-run"), "REJECT", "ledger_unreachable")
}

// After an answer that stays away the claim may have arrived, so its token is kept.
func TestPacketClaimFileStaysInDoubt(t *testing.T) {
	c := newClaims(t)
	c.api.Fail(apitest.Fault{Method: "POST", Path: regexp.MustCompile(`/git/refs`), Status: 422, Message: "Reference update failed"})
	token := filepath.Join(c.dir, "token")
	c.wants(c.run(claimsToken, "claim", "--claim-file", token), "REJECT", "ledger_unreachable")
	if _, err := os.Stat(token); err != nil || !strings.Contains(c.stderr, "is kept") {
		t.Errorf("%v\n%s", err, c.stderr)
	}
}
