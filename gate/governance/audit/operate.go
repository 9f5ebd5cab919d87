package audit

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/handoff-gate/handoff-gate/gate/internal/workflow"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// operate reports what makes our own gate fail without need, or gives it more
// than it needs (7.3).
func (v *verifier) operate(j *job) {
	for _, r := range j.verify {
		if r.kind != ours {
			continue
		}
		v.dispatch(j, r)
		v.policy(j, r)
		v.history(j, r)
	}
	v.permissions(j)
}

// remark notes a finding of 7.3.
func (v *verifier) remark(r *rule.Rule, f *file, line int, message, remedy string) {
	v.add(r, report.Warning, f.path, line, "", message, remedy)
}

// dispatch reports a manual run that would fail for want of a base.
func (v *verifier) dispatch(j *job, r run) {
	manual := false
	for _, f := range v.files {
		e, ok := f.event("workflow_dispatch")
		if !ok || !v.sources(j.file)[f] {
			continue
		}
		manual = true
		if required, _ := scalar(get(e.Filter, "inputs", "base", "required")); required != "true" {
			v.remark(DispatchBase, f, e.Name.Line, "the workflow can be run by hand, and declares no required input base: every such run would fail for want of a base",
				"Declare it: workflow_dispatch: {inputs: {base: {description: Exact commit id to compare with, required: true, type: string}}}, and pass it to the command.")
			return
		}
	}
	if !manual || r.text == "" || r.isInner {
		return
	}
	if b, ok := r.base(); !ok || !namesInput(b.text) {
		v.remark(DispatchBase, j.file, r.step.line(), "the workflow can be run by hand, and the command does not get its input base: every such run would fail for want of a base",
			`Pass it: an env AAHP_BASE_SHA with an expression that names inputs.base, or --base "$BASE" with such an env.`)
	}
}

// policy reports a policy that is taken from the change that it judges.
func (v *verifier) policy(j *job, r run) {
	given, line := "", r.step.line()
	switch {
	case r.text == "":
		m, ok := fold(get(r.step.node, "with"), "policy-from")
		if !ok {
			return
		}
		given, _ = scalar(m.Value)
		line = m.Key.Line
	case r.isInner:
		m, ok := r.step.env("INPUT_POLICY-FROM")
		if !ok {
			return
		}
		given, _ = scalar(m.Value)
	default:
		text, ok := r.flag("policy-from")
		if !ok {
			return
		}
		given = text
	}
	if given != "base" {
		v.remark(PolicyFromHead, j.file, line, fmt.Sprintf("the policy is taken from %s: a change could relax the policy that judges it", v.quote(given)),
			"Drop the setting: the policy is then that of the base.")
	}
}

// history reports a gate that has no history to compare with and cannot fetch it.
func (v *verifier) history(j *job, r run) {
	if r.text == "" {
		m, ok := fold(get(r.step.node, "with"), "fetch-missing")
		if text, _ := scalar(m.Value); !ok || !strings.EqualFold(strings.TrimSpace(text), "false") {
			return
		}
	}
	line := 0
	for _, s := range j.steps[:slices.Index(j.steps, r.step)] {
		if _, name, _ := strings.Cut(s.action.repo, "/"); name != "checkout" {
			continue
		}
		m, ok := fold(get(s.node, "with"), "fetch-depth")
		if text, _ := scalar(m.Value); ok && strings.TrimSpace(text) == "0" {
			return
		}
		if line == 0 {
			line = s.uses.Key.Line
		}
	}
	if line == 0 {
		line = r.step.line()
	}
	v.remark(ShallowCheckout, j.file, line, "the checkout has no history, and the gate does not fetch the commit to compare with",
		"Check out with fetch-depth: 0, or let the action fetch the base.")
}

// writable are the scopes that a job with the gate may write: the gate reports by
// the first, and steps beside it by the others.
var writable = []string{"checks", "pull-requests", "statuses", "security-events"}

// permissions reports a job whose token may do more than the job has to.
func (v *verifier) permissions(j *job) {
	granted := func(j *job) *workflow.Member {
		for _, n := range []*yaml.Node{j.node, j.file.root} {
			if m, ok := workflow.Get(n, "permissions"); ok {
				return &m
			}
		}
		return nil
	}
	claims := slices.ContainsFunc(j.steps, func(s *step) bool {
		m, ok := fold(get(s.node, "with"), "claim")
		text, _ := scalar(m.Value)
		return s.action.ours && ok && strings.EqualFold(strings.TrimSpace(text), "true")
	})
	if m := granted(j); m != nil {
		v.grants(j.file, m.Value, claims)
		return
	}
	// A called job has what its callers have.
	callers := v.callersOf(j)
	for _, caller := range callers {
		m := granted(caller)
		if m == nil {
			callers = nil
			break
		}
		v.grants(caller.file, m.Value, claims)
	}
	if len(callers) == 0 || j.file.runsItself() {
		v.remark(PermissionsUndeclared, j.file, j.key.Line, fmt.Sprintf("neither the job %s nor its workflow declares permissions: the token may do whatever the repository's settings allow", v.name(j.key.Value)),
			"Declare them: permissions: {contents: read, checks: write}.")
	}
}

// grants reports what permissions grant too much.
func (v *verifier) grants(f *file, n *yaml.Node, claims bool) {
	const remedy = "Grant only what the job writes: permissions: {contents: read, checks: write}."
	if text, ok := scalar(n); ok && text == "write-all" {
		v.remark(PermissionsExcessive, f, n.Line, "the job with the gate may write everything", remedy)
		return
	}
	if n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		scope := n.Content[i]
		text, _ := scalar(n.Content[i+1])
		if text != "write" || slices.Contains(writable, scope.Value) || claims && scope.Value == "contents" {
			continue
		}
		v.add(PermissionsExcessive, report.Warning, f.path, scope.Line, scope.Value, fmt.Sprintf("the job with the gate may write %s, which the gate does not need", v.name(scope.Value)), remedy)
	}
}
