package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/githubapi/apitest"
)

// far is an expiry that no run of these tests is after.
const far = `acceptance.expires_at="2999-01-01T00:00:00Z"`

// packetSite is a site whose first commit has a registry and the files that
// packets pin, and whose second has packets with these keys.
func packetSite(t *testing.T, keys ...string) *site {
	t.Helper()
	s := emptySite(t)
	s.write("context/brief.md", packetBrief)
	s.write("rules.md", packetRules)
	s.registry()
	s.B = s.src.Commit("Registry")
	for i, key := range keys {
		s.packet(fmt.Sprintf("handoffs/%c.json", 'a'+i), fmt.Sprintf("idempotency_key=%q", key))
	}
	s.C = s.src.Commit("Packets")
	s.propose()
	return s.input("packets", "handoffs/*.json").input("registry", "registry.json").input("receiver", "bob").input("claim", "true").input("sessions", "off")
}

func (s *site) registry(settings ...string) {
	s.t.Helper()
	data, err := madeRegistry(settings)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write("registry.json", string(data))
}

func (s *site) packet(file string, settings ...string) {
	s.t.Helper()
	data, err := madePacket(append(settings, far))
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(file, string(data))
}

// landed runs the action on a push of C to the default branch.
func (s *site) landed() outcome {
	s.t.Helper()
	s.at(s.C)
	s.env["GITHUB_SHA"] = s.C
	return s.run("push", push("refs/heads/main", s.B, s.C))
}

// decisions lists what was decided about each packet: "a.json ACCEPT recorded 1".
func (o outcome) decisions() string {
	var out []string
	if o.report != nil {
		for _, p := range o.report.Projects {
			if p.Packet == nil {
				continue
			}
			s := strings.TrimPrefix(p.Path, "handoffs/") + " " + p.Packet.Decision + " " + p.Packet.Ledger
			if p.Packet.Claim != nil {
				s += fmt.Sprint(" ", p.Packet.Claim.Epoch)
			}
			for _, r := range p.Packet.Reasons {
				s += " " + r.Code
			}
			out = append(out, s)
		}
	}
	return strings.Join(out, ", ")
}

// claimRef is the ref of the key demo:rev-7 (packets.md 9).
const claimRef = "refs/handoff/claims/d1e4f47fbe0e2ec142da3e7d146f4898b17df7552691c897c4c0ec28ad4347ab"

// A push to the default branch claims its packets in the repository's refs. To run
// the job again finds them reserved, rightly.
func TestActionClaims(t *testing.T) {
	t.Parallel()
	s := packetSite(t, "demo:rev-7", "other")
	o := s.landed()
	if o.status != 0 || o.decisions() != "a.json ACCEPT recorded 1, b.json ACCEPT recorded 1" {
		t.Fatalf("status %d: %s\n%s", o.status, o.decisions(), o.log)
	}
	var claim map[string]any
	if err := json.Unmarshal([]byte(s.api.File(claimRef)), &claim); err != nil || claim["state"] != "RESERVED" || claim["idempotency_key"] != "demo:rev-7" || claim["signature"] != "verified" {
		t.Errorf("claim %v, %v", claim, err)
	}
	if !strings.Contains(o.log, "ACCEPT claim recorded") || slices.Contains(o.rules(), "packet/claim-deferred") {
		t.Errorf("rules %v\n%s", o.rules(), o.log)
	}
	o = s.run("push", push("refs/heads/main", s.B, s.C))
	if o.status != 1 || o.decisions() != "a.json REJECT dry-run idempotency_key_reserved, b.json REJECT dry-run idempotency_key_reserved" {
		t.Errorf("again: status %d: %s", o.status, o.decisions())
	}
}

// A pull request asks the ledger and writes nothing, also as somebody's fork.
func TestActionDefersClaims(t *testing.T) {
	t.Parallel()
	s := packetSite(t, "demo:rev-7")
	for range 2 {
		s.at(s.M)
		o := s.run("pull_request", s.pull("opened"))
		if o.status != 0 || o.decisions() != "a.json ACCEPT dry-run" || !slices.Contains(o.rules(), "packet/claim-deferred") {
			t.Fatalf("status %d: %s, %v\n%s", o.status, o.decisions(), o.rules(), o.log)
		}
		s = s.again()
	}
	for _, r := range s.api.Requests() {
		if r.Method != http.MethodGet && strings.Contains(r.Path, "/git/") {
			t.Errorf("%s %s in a pull request", r.Method, r.Path)
		}
	}
	if ref := s.api.Ref(claimRef); ref != "" {
		t.Errorf("the ref is %s", ref)
	}
}

// again empties the workspace for another run.
func (s *site) again() *site {
	s.t.Helper()
	dir, err := filepath.EvalSymlinks(s.t.TempDir())
	if err != nil {
		s.t.Fatal(err)
	}
	s.workspace = dir
	return s
}

// A run that has an error claims nothing: a key must not be reserved by a run that
// then fails.
func TestActionClaimsOnlyWithoutErrors(t *testing.T) {
	t.Parallel()
	t.Run("another packet is refused", func(t *testing.T) {
		t.Parallel()
		s := packetSite(t, "demo:rev-7")
		s.packet("handoffs/b.json", `idempotency_key="b"`, `authority.budget.usd=1000`)
		s.C = s.src.Commit("Greedy")
		s.propose()
		o := s.landed()
		if o.status != 1 || o.decisions() != "a.json ACCEPT dry-run, b.json REJECT dry-run authority_exceeds_receiver_policy" {
			t.Fatalf("status %d: %s\n%s", o.status, o.decisions(), o.log)
		}
		if f := o.finding(t, "packet/claim-deferred"); f.Path != "handoffs/a.json" || !strings.Contains(f.Message, "the run has errors") {
			t.Errorf("finding %+v", f)
		}
		if s.api.Ref(claimRef) != "" {
			t.Error("a claim was written")
		}
	})
	t.Run("a handoff set is not in order", func(t *testing.T) {
		t.Parallel()
		s := packetSite(t, "demo:rev-7")
		s.handoff(".", "Begun.")
		s.write(".ai/handoff/STATUS.md", "# Status\n\nWritten after the manifest.\n")
		s.C = s.src.Commit("Tampered")
		s.propose()
		o := s.landed()
		if o.status != 1 || o.decisions() != "a.json ACCEPT dry-run" || s.api.Ref(claimRef) != "" {
			t.Fatalf("status %d: %s\n%s", o.status, o.decisions(), o.log)
		}
	})
	t.Run("a declared check fails", func(t *testing.T) {
		t.Parallel()
		s := emptySite(t)
		s.write("context/brief.md", packetBrief)
		s.write("rules.md", packetRules)
		s.registry()
		s.write("aahp.config.json", `{"trustTtl": {"enforce": true, "checks": {"never": {"description": "fails", "run": ["git", "no-such-command"]}}}}`)
		s.write(".ai/handoff/TRUST.md", "# Trust\n\n| Property | Status | Expires | Check |\n|---|---|---|---|\n| Builds | verified | 2099-01-01 | never |\n")
		s.handoff(".", "Begun.")
		s.B = s.src.Commit("Registry")
		s.packet("handoffs/a.json")
		s.handoff(".", "Changed.")
		s.C = s.src.Commit("Packets")
		s.propose()
		s.input("packets", "handoffs/*.json").input("registry", "registry.json").input("receiver", "bob").input("claim", "true")
		o := s.landed()
		if o.status != 1 || o.decisions() != "a.json ACCEPT dry-run" || s.api.Ref(claimRef) != "" {
			t.Fatalf("status %d: %s, %v\n%s", o.status, o.decisions(), o.rules(), o.log)
		}
	})
}

// A claim that is refused at the last moment makes its packet a REJECT; earlier ones
// stand, later ones are not made.
func TestActionClaimLost(t *testing.T) {
	t.Parallel()
	s := packetSite(t, "a", "demo:rev-7", "z")
	s.api.Fail(apitest.Fault{
		Method: http.MethodPost, Path: regexp.MustCompile(`/git/refs$`), Status: http.StatusUnprocessableEntity, Message: "Reference cannot be created",
		Match: func(r apitest.Request) bool { return strings.Contains(string(r.Body), claimRef) },
	})
	o := s.landed()
	if o.status != 1 || o.decisions() != "a.json ACCEPT recorded 1, b.json REJECT none ledger_unreachable, c.json ACCEPT dry-run" {
		t.Fatalf("status %d: %s\n%s", o.status, o.decisions(), o.log)
	}
	if f := o.finding(t, "packet/claim-deferred"); f.Path != "handoffs/c.json" {
		t.Errorf("finding %+v", f)
	}
}

// A file of the workspace keeps claims for self-hosted runners that keep it.
func TestActionFileLedger(t *testing.T) {
	t.Parallel()
	s := packetSite(t, "demo:rev-7").input("ledger", "claims/ledger.json").input("token", "")
	if err := os.Mkdir(filepath.Join(s.workspace, "claims"), 0o755); err != nil {
		t.Fatal(err)
	}
	if o := s.landed(); o.status != 0 || o.decisions() != "a.json ACCEPT recorded 1" {
		t.Fatalf("status %d: %s\n%s", o.status, o.decisions(), o.log)
	}
	data, err := os.ReadFile(filepath.Join(s.workspace, "claims", "ledger.json"))
	if err != nil || !strings.Contains(string(data), `"demo:rev-7"`) || !strings.Contains(string(data), "RESERVED") {
		t.Errorf("ledger %s, %v", data, err)
	}
	if o := s.run("push", push("refs/heads/main", s.B, s.C)); o.status != 1 || o.decisions() != "a.json REJECT dry-run idempotency_key_reserved" {
		t.Errorf("again: status %d: %s", o.status, o.decisions())
	}
	if n := len(s.api.Requests()); n > 0 {
		t.Errorf("%d requests without a token", n)
	}
}

// A forged packet fails the check run of a pull request, with an annotation on the
// line of the offending member; an honest one passes it.
func TestActionPacketsOnACheckRun(t *testing.T) {
	t.Parallel()
	s := packetSite(t, "demo:rev-7").input("claim", "false")
	s.at(s.M)
	if o := s.run("pull_request", s.pull("opened")); o.status != 0 || s.checkRun().Conclusion != "success" {
		t.Fatalf("an honest packet: status %d, %s\n%s", o.status, s.checkRun().Conclusion, o.log)
	}

	s = packetSite(t, "demo:rev-7").input("claim", "false")
	data, err := os.ReadFile(filepath.Join(s.src.Dir, "handoffs", "a.json"))
	if err != nil {
		t.Fatal(err)
	}
	forged := strings.Replace(string(data), `"usd": 2`, `"usd": 3`, 1)
	s.write("handoffs/a.json", forged)
	s.C = s.src.Commit("Forged")
	s.propose()
	s.at(s.M)
	o := s.run("pull_request", s.pull("opened"))
	run := s.checkRun()
	if o.status != 1 || run.Conclusion != "failure" || len(run.Annotations) != 1 {
		t.Fatalf("status %d, %s with %d annotations\n%s", o.status, run.Conclusion, len(run.Annotations), o.log)
	}
	a, line := run.Annotations[0], 1+strings.Count(forged[:strings.Index(forged, `"signature"`)], "\n")
	if a.Path != "handoffs/a.json" || a.StartLine != line || !strings.HasPrefix(a.Message, "signature_invalid: ") || a.Title != "packet/signature-invalid" {
		t.Errorf("annotation %+v, want it on line %d", a, line)
	}
	if !strings.Contains(o.summary, "packet/signature-invalid") {
		t.Errorf("summary %s", o.summary)
	}
}
