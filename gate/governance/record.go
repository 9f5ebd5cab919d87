package governance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/handoff-gate/handoff-gate/gate/internal/timestamp"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// AAHPVersion is the AAHP release whose gate semantics are implemented.
const AAHPVersion = "4.0.0"

// Outcome is how a gate of check or doctor ended (aahp-governance.md 6.1).
type Outcome uint8

// The outcomes. Unlooked are doctor's handoff gates under --governance;
// Unevaluated is every gate while the configuration is invalid.
const (
	Pass Outcome = iota + 1
	Fail
	Missing
	Self
	Advisory
	NotApplicable
	Deselected
	Unlooked
	Unevaluated
)

// outcomes is the table of 6.1: the value in the record's gates, the one in its
// gateOutcomes, and whether the gate counts as evaluated.
var outcomes = map[Outcome]struct {
	gate, outcome string
	ran           bool
}{
	Pass:          {"pass", "pass", true},
	Fail:          {"fail", "fail", true},
	Missing:       {"missing", "missing", true},
	Self:          {"self", "self", true},
	Advisory:      {"advisory", "advisory", true},
	NotApplicable: {"skip", "not-applicable", false},
	Deselected:    {"skip", "deselected", false},
	Unlooked:      {"skip", "unevaluated", false},
	Unevaluated:   {"unevaluated", "unevaluated", false},
}

// Ran tells whether a gate with this outcome counts as evaluated.
func (o Outcome) Ran() bool { return outcomes[o].ran }

// String is the outcome as the record's gateOutcomes have it.
func (o Outcome) String() string { return outcomes[o].outcome }

// Gate is what one gate of check or doctor found.
type Gate struct {
	ID, Title string
	Outcome   Outcome
	// Reason says in one sentence what was judged, or why nothing was; never
	// empty. It is the summary of the gate's layer.
	Reason   string
	Findings []report.Finding
}

// Layer is the gate as a layer of the report (1.1).
func (g Gate) Layer() report.Layer {
	switch g.Outcome {
	case NotApplicable, Deselected, Unlooked:
		return report.Skipped(g.ID, g.Title, g.Reason)
	case Unevaluated:
		return report.Unevaluated(g.ID, g.Title, g.Reason)
	case Pass, Fail, Missing, Self, Advisory:
	}
	return report.Done(g.ID, g.Title, g.Reason, g.Findings)
}

// Judged makes the Gate of one that ran. Its outcome follows from the findings:
// an error is Fail, a warning Advisory.
func Judged(id, title, reason string, findings []report.Finding) Gate {
	g := Gate{ID: id, Title: title, Outcome: Pass, Reason: reason, Findings: findings}
	for _, f := range findings {
		switch f.Severity {
		case report.Error:
			g.Outcome = Fail
			return g
		case report.Warning:
			g.Outcome = Advisory
		case report.Notice:
		}
	}
	return g
}

// Result is one run of check or doctor over one project.
type Result struct {
	Command string // "check" or "doctor"
	Config  report.Layer
	// Problems are what makes the configuration invalid; empty when it is valid or
	// absent.
	Problems []Problem
	Gates    []Gate // all eight, in gate order
}

// Evaluated counts the gates that ran.
func (r Result) Evaluated() int {
	n := 0
	for _, g := range r.Gates {
		if g.Outcome.Ran() {
			n++
		}
	}
	return n
}

// Layers are the layers of the report: config, then the gates.
func (r Result) Layers() []report.Layer {
	layers := []report.Layer{r.Config}
	for _, g := range r.Gates {
		layers = append(layers, g.Layer())
	}
	return layers
}

// Findings are those of all layers, in their order.
func (r Result) Findings() []report.Finding {
	all := append([]report.Finding{}, r.Config.Findings...)
	for _, g := range r.Gates {
		all = append(all, g.Findings...)
	}
	return all
}

// Footer is the last line of the text output, and the one that says NOT
// EVALUATED where no gate ran.
func (r Result) Footer() []string {
	ran := fmt.Sprintf("%d of %d gate(s) ran", r.Evaluated(), len(r.Gates))
	if r.Evaluated() == 0 {
		return []string{"NOT EVALUATED: no gate ran, so nothing was proved", ran}
	}
	return []string{ran}
}

// Facts are what a record holds besides the result.
type Facts struct {
	Mode string // "governance" under --governance, else ""
	Repo string // "owner/name" or "unknown"
	Tool report.Tool
	Now  time.Time
}

// Record is the conformance record (aahp-governance.md 6.2). Its JSON is judged
// by schema/governance-record.schema.json.
type Record struct {
	SchemaVersion int                  `json:"schemaVersion"`
	Command       string               `json:"command,omitempty"` // "check"; absent for doctor
	Mode          string               `json:"mode,omitempty"`    // "governance", or absent
	Repo          string               `json:"repo"`
	AAHPVersion   string               `json:"aahpVersion"`
	Tool          report.Tool          `json:"tool"`
	Config        *InvalidConfig       `json:"config,omitempty"` // only while it is invalid
	Gates         Ordered[string]      `json:"gates"`
	GateOutcomes  Ordered[GateOutcome] `json:"gateOutcomes"`
	Evaluated     int                  `json:"evaluated"`
	Total         int                  `json:"total"`
	CheckedAt     string               `json:"checkedAt"` // RFC 3339, UTC
}

// InvalidConfig says why no gate was evaluated.
type InvalidConfig struct {
	Valid  bool          `json:"valid"` // always false
	Errors []ConfigError `json:"errors"`
}

// ConfigError is one problem of the configuration. Path is a JSON Pointer, "" for
// the whole document.
type ConfigError struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// GateOutcome is the long form of a gate's result.
type GateOutcome struct {
	Outcome string `json:"outcome"`
	Reason  string `json:"reason"`
}

// Named is a value under a key.
type Named[T any] struct {
	Key   string
	Value T
}

// Ordered is a JSON object whose members keep their order.
type Ordered[T any] []Named[T]

// MarshalJSON writes the members in their order.
func (o Ordered[T]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(m.Key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.Value)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Record makes the conformance record of a result.
func (r Result) Record(f Facts) Record {
	rec := Record{
		SchemaVersion: 2, Mode: f.Mode, Repo: f.Repo, AAHPVersion: AAHPVersion, Tool: f.Tool,
		Evaluated: r.Evaluated(), Total: len(r.Gates), CheckedAt: timestamp.FormatSeconds(f.Now),
	}
	if r.Command == "check" {
		rec.Command = r.Command
	}
	if len(r.Problems) > 0 {
		rec.Config = &InvalidConfig{Errors: []ConfigError{}}
		for _, p := range r.Problems {
			rec.Config.Errors = append(rec.Config.Errors, ConfigError{Path: p.Pointer, Message: p.Finding.Message})
		}
	}
	for _, g := range r.Gates {
		row := outcomes[g.Outcome]
		rec.Gates = append(rec.Gates, Named[string]{g.ID, row.gate})
		rec.GateOutcomes = append(rec.GateOutcomes, Named[GateOutcome]{g.ID, GateOutcome{g.Outcome.String(), g.Reason}})
	}
	return rec
}

// RepoName gives "owner/name" out of the URL of a repository on github.com, or
// "" when it is none (6.2).
func RepoName(url string) string {
	for _, host := range []string{"github.com/", "github.com:"} {
		before, rest, ok := strings.Cut(url, host)
		if !ok || before != "" && (repoPart(before[len(before)-1:]) && !strings.HasSuffix(before, ".")) {
			continue // another host, such as notgithub.com
		}
		rest, _, _ = strings.Cut(rest, "#")
		owner, name, _ := strings.Cut(strings.TrimSuffix(rest, "/"), "/")
		name, _, _ = strings.Cut(name, "/")
		name = strings.TrimSuffix(name, ".git")
		if repoPart(owner) && repoPart(name) {
			return owner + "/" + name
		}
	}
	return ""
}

// repoPart tells whether s is made of what GitHub allows in a name.
func repoPart(s string) bool {
	for _, c := range s {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return s != "" && s != "." && s != ".."
}
