package run

import (
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

// What is said of a packet twice, as a reason and as a finding, stays the same, and
// a reason keeps its code, whatever is taken out of the rest.
func TestAPacketIsRewordedAsAWhole(t *testing.T) {
	reason := report.PacketReason{Code: "artifact_missing:/srv/clone/a", Message: "artifact_missing:/srv/clone/a: /srv/clone/a was sent by ann@corp.io and is not there"}
	rep := &report.Report{Projects: []report.Project{{
		Format: "packet", Packet: &report.Packet{Reasons: []report.PacketReason{reason}},
		Layers: []report.Layer{report.Done("artifacts", "Artifacts", "s", []report.Finding{
			{Rule: "packet/artifact", Severity: report.Error, Message: reason.Message, Remedy: "Mend it."},
		})},
	}}}
	(&Checkout{Top: "/srv/clone"}).finish(rep)
	got, finding := rep.Projects[0].Packet.Reasons[0], rep.Projects[0].Layers[0].Findings[0]
	if got.Message != finding.Message || !strings.HasPrefix(got.Message, reason.Code+": ") {
		t.Errorf("the reason is %+v, the finding says %q", got, finding.Message)
	}
	if said := strings.TrimPrefix(got.Message, reason.Code+": "); strings.Contains(said, "/srv") || strings.Contains(said, "ann@") {
		t.Errorf("it still says %q", said)
	}
}
