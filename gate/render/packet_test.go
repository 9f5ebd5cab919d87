package render

import (
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

func packetReport(p report.Packet, findings ...report.Finding) *report.Report {
	r := &report.Report{Projects: []report.Project{{
		Path: "p.json", Format: "packet", Level: "packet", Packet: &p, Layers: []report.Layer{report.Done("authority", "Authority", "x", findings)},
	}}}
	r.Finish()
	return r
}

func packetText(t testing.TB, r *report.Report) string {
	t.Helper()
	var b strings.Builder
	if err := Packets(&b, r, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The first line says all (packets.md 8).
func TestPacketDecisions(t *testing.T) {
	for _, tt := range []struct {
		p    report.Packet
		want string
	}{
		{report.Packet{Decision: "ACCEPT", Ledger: "none"}, "ACCEPT no ledger\n"},
		{report.Packet{Decision: "ACCEPT", Ledger: "dry-run"}, "ACCEPT dry run\n"},
		{report.Packet{Decision: "ACCEPT", Ledger: "recorded", Claim: &report.PacketClaim{Epoch: 1}}, "ACCEPT claim recorded\n"},
		{report.Packet{Decision: "COMPLETED", IdempotencyKey: "k:1"}, "COMPLETED k:1\n"},
		{report.Packet{Decision: "COMPLETED", IdempotencyKey: "k:1", Already: true}, "COMPLETED k:1 (already)\n"},
		{report.Packet{Decision: "COMPLETED", IdempotencyKey: "k\n\u202e1"}, "COMPLETED k\\u000a\\u202e1\n"},
		{report.Packet{Decision: "RELEASED", IdempotencyKey: "k:1", Claim: &report.PacketClaim{Epoch: 3}}, "RELEASED k:1 epoch 3\n"},
	} {
		if got := packetText(t, packetReport(tt.p)); got != tt.want {
			t.Errorf("%+v gives %q, want %q", tt.p, got, tt.want)
		}
	}
}

// Reasons in their own order, warnings, then what to do, each remedy once.
func TestRejectedPacket(t *testing.T) {
	reason := func(code string) report.PacketReason {
		return report.PacketReason{Code: code, State: "blocked", Layer: "authority", Rule: "packet/" + code, Message: code + ": why"}
	}
	finding := func(code, remedy string) report.Finding {
		return report.Finding{Rule: "packet/" + code, Severity: report.Error, Path: "p.json", Message: code + ": why", Remedy: remedy}
	}
	warning := report.Finding{Rule: "packet/w", Severity: report.Warning, Path: "p.json", Message: "careful", Remedy: "x"}
	got := packetText(t, packetReport(
		report.Packet{Decision: "REJECT", State: "blocked", Reasons: []report.PacketReason{reason("z"), reason("a"), reason("b")}},
		finding("a", "Mend a.\nfix: mend a"), finding("z", "Mend z.\nfix: mend z"), finding("b", "Mend a.\nfix: mend a"), warning,
	))
	want := `REJECT blocked: z
authority: z: why
authority: a: why
authority: b: why
warning: packet/w: careful

What to do: An owner or approver acts, or the sender asks for less.
  - Mend z.
    fix: mend z
  - Mend a.
    fix: mend a
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// However a packet's text looks, it begins no line and steers neither a terminal
// nor a runner.
func FuzzPackets(f *testing.F) {
	f.Add("x%0A::error::pwn\n::error file=a::owned\r\u202ey\x1b[2J", "##[error]")
	f.Fuzz(func(t *testing.T, a, b string) {
		r := packetReport(
			report.Packet{Decision: "REJECT", State: "blocked", IdempotencyKey: a, Reasons: []report.PacketReason{
				{Code: a, State: "blocked", Layer: "authority", Rule: "packet/x", Message: a + b},
			}},
			report.Finding{Rule: "packet/x", Severity: report.Error, Path: a, Message: a + b, Remedy: "Mend."},
			report.Finding{Rule: "packet/y", Severity: report.Warning, Path: a, Message: b, Remedy: b},
		)
		got := packetText(t, r)
		lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
		begins := []string{"REJECT blocked: ", "authority: ", "warning: packet/y: ", "", "What to do: ", "  - Mend."}
		if len(lines) != len(begins) {
			t.Fatalf("%d lines:\n%q", len(lines), got)
		}
		for i, l := range lines {
			if !strings.HasPrefix(l, begins[i]) {
				t.Errorf("line %q, want it to begin with %q", l, begins[i])
			}
		}
		safeLines(t, got)
	})
}
