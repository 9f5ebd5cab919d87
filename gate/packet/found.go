package packet

import (
	"strconv"

	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// found is one thing that was found, before it becomes a finding.
type found struct {
	kind    *kind
	detail  string         // of the reason's code, behind the colon; "" for none
	warns   bool           // a rule that rejects elsewhere only warns here
	path    string         // "" is the packet's
	span    report.Span    //
	message string         // without the code
	action  string         // what an approval is missing for, for the last line
	entry   *ledger.Reason // a reason of check 3: its state and remedy are its own
	more    int            // how many of the kind this one stands for beyond itself
}

// code is the reason's code: "missing_field:purpose" (packets.md 6). One that names
// a key of the packet keeps its colon where the key is "".
func (f *found) code() string {
	code := ledger.Code(f.kind.Rule)
	if f.detail != "" || f.kind == duplicateField || f.kind == unknownField {
		code += ":" + f.detail
	}
	return code
}

// severity is the rule's, unless it only warns here.
func (f *found) severity() report.Severity {
	if f.warns {
		return report.Warning
	}
	return f.kind.Severity
}

// rejects tells a reason from a warning or notice.
func (f *found) rejects() bool { return f.severity() == report.Error }

func (f *found) state() ledger.State {
	if f.entry != nil {
		return f.entry.State
	}
	return f.kind.state
}

// sentence is the message as reasons and findings have it: a reason begins with
// its code.
func (f *found) sentence() string {
	if f.rejects() {
		return f.code() + ": " + f.message
	}
	return f.message
}

// show quotes outside text for a message: what a reader cannot see is escaped.
func show(s string) string { return `"` + safetext.Escape(s, safetext.Limit) + `"` }

// of names one item of a list for a message: "planned_actions[2]".
func of(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

// bare is show without quotes, for a number as it is spelled.
func bare(s string) string { return safetext.Escape(s, safetext.Limit) }

// whole is outside text that a reader must see to its end.
func whole(s string) string { return safetext.Escape(s, len(s)) }
