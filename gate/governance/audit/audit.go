// Package audit reads the workflows of a repository and says whether one that
// runs the gate can skip it, soften it or point it elsewhere (aahp-governance.md
// 7), and whether what it runs is what was meant (8). It reads text alone: nothing
// is evaluated and nothing is run.
//
// A new way to call the gate is a row of patterns in recognise.go, a new way to lose
// its result a step of the walk in flow.go, and a new way to fetch it a case of
// fetchOf or imageOf in source.go. Each has a row in the tables of the tests, beside
// one that looks like it and is harmless.
package audit

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/governance"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/internal/workflow"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// Folder holds the workflows, from the repository's top level.
const Folder = ".github/workflows"

// The titles of the two gates, and the id of the second: that of the first is
// governance.VerifyWorkflow.
const (
	VerifyWorkflowTitle = "Workflows that run the gate"
	CLISource           = "cli-source"
	CLISourceTitle      = "Source of the gate in workflows"
)

// Input is what the audit judges.
type Input struct {
	Tree    gate.Tree // from the repository's top level; outside a repository, from the project
	Repo    string    // "owner/name" of aahp-governance.md 6.2, or "unknown"
	Enforce bool      // verifyWorkflow.enforce: what weakens the gate is an error
	Pinned  string    // pinnedDep.name; "" is governance.DefaultPin
	Package string    // the name in package.json; "" when there is none

	Commands gate.Commands
	Mask     func(string) string // hides what must not be printed; nil hides nothing
}

// Audit is the workflows of a repository, read once for both gates.
type Audit struct {
	in    Input
	files []*file // in byte order of their names
	// unread is why the folder itself could not be read; "" where it could.
	unread string
}

// Read reads the workflows. What cannot be read is kept as such.
func Read(in Input) *Audit {
	if in.Pinned == "" {
		in.Pinned = governance.DefaultPin
	}
	a := &Audit{in: in}
	entries, err := in.Tree.List(Folder)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		a.unread = safetext.Clean(err.Error())
		return a
	case err != nil && a.isLink():
		a.unread = "it is reached through a symbolic link"
		return a
	}
	r := reader{tree: in.Tree, actions: map[string]bool{}, scripts: map[scriptKey]*script{}}
	for _, e := range entries {
		switch strings.ToLower(path.Ext(e.Path)) {
		case ".yml", ".yaml":
			if e.Kind != gate.Folder {
				a.files = append(a.files, r.file(e.Path))
			}
		}
	}
	return a
}

// isLink tells whether the folder, or the one around it, is a symbolic link.
func (a *Audit) isLink() bool {
	for _, p := range []string{Folder, path.Dir(Folder)} {
		if e, err := a.in.Tree.Stat(p); err == nil && e.Kind == gate.Symlink {
			return true
		}
	}
	return false
}

// findings collects what one gate found. What is found twice at one place is one
// finding.
type findings struct {
	in   Input
	seen map[place]bool
	list []report.Finding
}

type place struct {
	rule, path string
	line       int
	subject    string
}

func (a *Audit) findings() *findings {
	return &findings{in: a.in, seen: map[place]bool{}}
}

// add notes a finding. line is 0 where none is known. subject tells findings of
// one rule in one line apart; it is "" as a rule.
func (f *findings) add(r *rule.Rule, s report.Severity, path string, line int, subject, message, remedy string) {
	key := place{r.ID, path, line, subject}
	if f.seen[key] {
		return
	}
	f.seen[key] = true
	if s == report.Error {
		remedy = report.WithFix(remedy, f.in.Commands.Again)
	}
	f.list = append(f.list, r.As(s, path, report.Span{Line: line}, message, remedy))
}

// sorted gives the findings in the order of the report.
func (f *findings) sorted() []report.Finding {
	report.Sort(f.list)
	return f.list
}

// quote makes text of a workflow safe for a message.
func (f *findings) quote(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if f.in.Mask != nil {
		text = f.in.Mask(text)
	}
	return "`" + strings.ReplaceAll(safetext.Cut(text, 80), "`", "'") + "`"
}

// name makes the name of a job, a scope or an input safe for a message.
func (f *findings) name(text string) string {
	if f.in.Mask != nil {
		text = f.in.Mask(text)
	}
	return safetext.Cut(text, 60)
}

// scalar gives the text of a node; ok is false for no node, null, and what is no
// scalar.
func scalar(n *yaml.Node) (text string, ok bool) {
	if n == nil || n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		return "", false
	}
	return n.Value, true
}

// get finds the value of a key; nil when there is none.
func get(n *yaml.Node, keys ...string) *yaml.Node {
	for _, k := range keys {
		m, ok := workflow.Get(n, k)
		if !ok {
			return nil
		}
		n = m.Value
	}
	return n
}

// fold finds a member whose key differs at most in case, as the inputs of an
// action are.
func fold(n *yaml.Node, key string) (workflow.Member, bool) {
	if n == nil || n.Kind != yaml.MappingNode {
		return workflow.Member{}, false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := n.Content[i]; k.Kind == yaml.ScalarNode && strings.EqualFold(k.Value, key) {
			return workflow.Member{Key: k, Value: n.Content[i+1]}, true
		}
	}
	return workflow.Member{}, false
}
