package audit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/handoff-gate/handoff-gate/gate/governance"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/internal/workflow"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// What a file or a workflow is called that promises the gate, in lower case, and
// whether check or doctor keep that promise as well as verify.
var (
	fileNames     = map[string]bool{"aahp-verify": false, "aahp-govern": true, "handoff-gate": false}
	workflowNames = map[string]bool{"aahp verify": false, "aahp govern": true, "handoff gate": false}
)

// concerns finds the gate in the text of a file that cannot be parsed.
var concerns = regexp.MustCompile(`verify-handoff\.sh|aahp\s+verify|aahp\s+(?:check|doctor)|handoff-gate`)

// verifier is the judgement of verify-workflow (aahp-governance.md 7).
type verifier struct {
	*Audit
	*findings
	severity report.Severity // of what weakens the gate

	byBase    map[string]*file         // the workflows that can be called, by base name
	callers   map[string][]*job        // the jobs that call a workflow, by its base name
	through   map[*file][]*job         // see callersOf
	above     map[*file]map[*file]bool // a file and those that call it, directly or not
	live      map[*file]bool           // the files that run for something that is waited for
	weakened  bool                     // a finding of 7.2
	undecided bool                     // a finding workflow/undecidable
}

// VerifyWorkflow judges whether the workflows that run the gate can skip it.
func (a *Audit) VerifyWorkflow() governance.Gate {
	v := &verifier{Audit: a, findings: a.findings(), severity: report.Warning, byBase: map[string]*file{}, callers: map[string][]*job{}, above: map[*file]map[*file]bool{}}
	if a.in.Enforce {
		v.severity = report.Error
	}
	for _, f := range a.files {
		if f.undecided() {
			continue
		}
		if f.hasEvent(called) {
			v.byBase[f.base] = f
		}
		for _, j := range f.jobs {
			if j.calls != "" {
				v.callers[j.calls] = append(v.callers[j.calls], j)
			}
		}
	}
	v.undecidable()
	verifies, governs := v.hosts()
	v.judge(verifies, governs)
	return v.gate(verifies, governs)
}

// undecided tells whether nothing of a file is judged.
func (f *file) undecided() bool { return f.broken != "" }

// weaken notes a finding of 7.2.
func (v *verifier) weaken(r *rule.Rule, f *file, line int, message, remedy string) {
	v.weakened = true
	v.add(r, v.severity, f.path, max(line, 1), "", message, remedy)
}

// unclear notes a file that cannot be judged.
func (v *verifier) unclear(f *file, line int, message string) {
	v.undecided = true
	v.add(Undecidable, report.Error, f.path, max(line, 1), "", message, Undecidable.Remedy)
}

// undecidable reports what cannot be judged: a broken file that has to do with
// the gate, and one that is called as the gate and does not run it.
func (v *verifier) undecidable() {
	if v.unread != "" {
		v.undecided = true
		v.add(Undecidable, report.Error, Folder, 0, "", "the folder of workflows cannot be read: "+v.unread, Undecidable.Remedy)
	}
	for _, f := range v.files {
		promised, byGovernance := f.promises()
		switch {
		case f.undecided():
			runs := slices.ContainsFunc(f.jobs, func(j *job) bool { return len(j.verify)+len(j.govern) > 0 })
			if promised || runs || f.huge || concerns.MatchString(f.text) {
				v.unclear(f, f.line, "the workflow cannot be judged: "+f.broken)
			}
		case promised && !v.keeps(f, byGovernance, map[*file]bool{}):
			v.unclear(f, 1, "the workflow is called as one that runs the gate, and no step of it runs the gate itself")
		}
	}
}

// promises tells whether a file is called as one that runs the gate, and whether
// a governance run keeps that.
func (f *file) promises() (promised, byGovernance bool) {
	base := strings.ToLower(f.base)
	base = strings.TrimSuffix(strings.TrimSuffix(base, ".yml"), ".yaml")
	name, _ := scalar(get(f.root, "name"))
	ofFile, byFile := fileNames[base]
	ofWorkflow, byWorkflow := workflowNames[strings.ToLower(strings.TrimSpace(name))]
	return byFile || byWorkflow, (ofFile || !byFile) && (ofWorkflow || !byWorkflow)
}

// keeps tells whether a job of a file runs the gate, in a step of its own or in a
// workflow of this repository that it calls.
func (v *verifier) keeps(f *file, byGovernance bool, seen map[*file]bool) bool {
	seen[f] = true
	return slices.ContainsFunc(f.jobs, func(j *job) bool {
		if len(j.verify) > 0 || byGovernance && len(j.govern) > 0 {
			return true
		}
		called := v.byBase[j.calls]
		return called != nil && !seen[called] && v.keeps(called, byGovernance, seen)
	})
}

// hosts are the jobs that run the gate. A job that runs both is one that
// verifies.
func (v *verifier) hosts() (verifies, governs []*job) {
	for _, f := range v.files {
		if f.undecided() {
			continue
		}
		for _, j := range f.jobs {
			switch {
			case len(j.verify) > 0:
				verifies = append(verifies, j)
			case len(j.govern) > 0:
				governs = append(governs, j)
			}
		}
	}
	return verifies, governs
}

// sources are a file and, where it can be called, those that call it, directly or
// through another.
func (v *verifier) sources(f *file) map[*file]bool {
	if known, ok := v.above[f]; ok {
		return known
	}
	all := map[*file]bool{f: true}
	for next := []*file{f}; len(next) > 0; {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		if !at.hasEvent(called) {
			continue
		}
		for _, j := range v.callers[at.base] {
			if !all[j.file] {
				all[j.file] = true
				next = append(next, j.file)
			}
		}
	}
	v.above[f] = all
	return all
}

// anySource tells whether one of the sources of a job's file is so.
func (v *verifier) anySource(j *job, is func(*file) bool) bool {
	for f := range v.sources(j.file) {
		if is(f) {
			return true
		}
	}
	return false
}

// run tells whether a job runs at all in this repository.
func (v *verifier) runs(j *job) bool { return v.anySource(j, (*file).runsItself) }

// onPullRequest tells whether a pull request triggers a job.
func (v *verifier) onPullRequest(j *job) bool {
	return v.anySource(j, func(f *file) bool { return f.hasEvent(workflow.PullRequest) })
}

// running are the files that are run by roots, themselves or through calls.
func (v *verifier) running(isRoot func(*file) bool) map[*file]bool {
	live := map[*file]bool{}
	var next []*file
	for _, f := range v.files {
		if !f.undecided() && isRoot(f) {
			live[f] = true
			next = append(next, f)
		}
	}
	for len(next) > 0 {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		for _, j := range at.jobs {
			if f := v.byBase[j.calls]; f != nil && !live[f] {
				live[f] = true
				next = append(next, f)
			}
		}
	}
	return live
}

// judge looks at every host, and at all of them together.
func (v *verifier) judge(verifies, governs []*job) {
	here := slices.DeleteFunc(slices.Clone(verifies), func(j *job) bool { return !v.runs(j) })
	awaited, all := v.running((*file).isAwaited), v.running((*file).runsItself)
	isAwaited := func(f *file) bool { return f.isAwaited() && f.runsItself() }
	v.goLive(all)
	if slices.ContainsFunc(here, v.onPullRequest) {
		v.goLive(awaited)
	} else {
		isAwaited = (*file).runsItself
	}
	for _, j := range here {
		if v.live[j.file] {
			v.verifyHost(j)
		}
		if slices.ContainsFunc(j.verify, func(r run) bool { return r.kind == ours }) {
			v.operate(j)
		}
	}
	v.together(verifies, here, isAwaited)
	if slices.ContainsFunc(here, v.onPullRequest) || slices.ContainsFunc(governs, v.onPullRequest) {
		v.goLive(awaited)
	}
	for _, j := range governs {
		if v.live[j.file] {
			v.governHost(j)
		}
	}
}

// goLive says which files are judged from here on.
func (v *verifier) goLive(live map[*file]bool) {
	v.live, v.through = live, map[*file][]*job{}
}

// callersOf are the jobs through which a host is run, without it.
func (v *verifier) callersOf(host *job) []*job {
	if all, ok := v.through[host.file]; ok {
		return all
	}
	var all []*job
	sources := v.sources(host.file)
	for _, f := range v.files {
		if !sources[f] || !v.live[f] {
			continue
		}
		for _, j := range f.jobs {
			if callee := v.byBase[j.calls]; callee != nil && sources[callee] {
				all = append(all, j)
			}
		}
	}
	v.through[host.file] = all
	return all
}

// member finds a key of a job or step, with its line.
func member(n *yaml.Node, key string) (value *yaml.Node, line int) {
	m, ok := workflow.Get(n, key)
	if !ok {
		return nil, 0
	}
	return m.Value, m.Key.Line
}

// needsOthers tells whether a job waits for others whose failure would skip it.
func needsOthers(j *job) (line int, needs bool) {
	n, line := member(j.node, "needs")
	if n == nil || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" || n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		return 0, false
	}
	condition, _ := member(j.node, "if")
	return line, !isAlways(condition)
}

// jobRules are what is reported of jobs as a whole.
type jobRules struct{ conditional, softFailing, needs *rule.Rule }

// job judges a host's job, and the jobs by which it is called.
func (v *verifier) job(host *job, rules jobRules) {
	for _, j := range append([]*job{host}, v.callersOf(host)...) {
		what := "the job " + v.name(j.key.Value)
		if j != host {
			what += ", which calls the workflow that runs the gate,"
		}
		if n, line := member(j.node, "if"); hasCondition(n, false, v.Audit.in.Repo) {
			v.weaken(rules.conditional, j.file, line, fmt.Sprintf("%s has a condition, %s: where it does not hold, the skipped job counts as success", what, v.value(n)), unconditional)
		}
		if n, line := member(j.node, "continue-on-error"); isSoft(n) {
			v.weaken(rules.softFailing, j.file, line, fmt.Sprintf("%s has continue-on-error %s: its failure does not count", what, v.value(n)), unconditional)
		}
		if rules.needs == nil {
			continue
		}
		if line, needs := needsOthers(j); needs {
			v.weaken(rules.needs, j.file, line, what+" needs other jobs: when one of them fails or is skipped, this one is skipped, and that counts as success", withoutNeeds)
		}
	}
}

// value shows a value of a workflow.
func (v *verifier) value(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode {
		return "`…`"
	}
	return v.quote(n.Value)
}

// The remedies that several rules share.
const (
	unconditional = "Remove if: and continue-on-error from job and step, run the gate unconditionally at level ci, and let its exit status be the script's. An exemption belongs inside the gate, keyed on the change, not around it, keyed on the actor."
	withoutNeeds  = "Remove needs from the job, or give it if: always(), so that it runs whatever became of the others. " + unconditional
)

// verifyHost judges a job that verifies (7.2).
func (v *verifier) verifyHost(j *job) {
	v.job(j, jobRules{JobConditional, JobSoftFailing, JobNeeds})
	for _, r := range j.verify {
		v.base(r)
	}
	atCI := slices.DeleteFunc(slices.Clone(j.verify), func(r run) bool { return !r.ci })
	if len(atCI) == 0 {
		r := j.verify[0]
		line := r.step.line()
		if m, ok := fold(get(r.step.node, "with"), "level"); ok && r.text == "" {
			line = m.Key.Line
		}
		v.weaken(NoCILevel, j.file, line, fmt.Sprintf("no step of the job %s verifies at level ci: at any other level AAHP_SKIP_VERIFY skips everything", v.name(j.key.Value)), "Give the gate --level ci. "+unconditional)
		return
	}
	v.steps(atCI, "verify", StepConditional, StepSoftFailing)
}

// governHost judges a job that runs check or doctor alone, each by itself.
func (v *verifier) governHost(j *job) {
	v.job(j, jobRules{conditional: GovernJobConditional, softFailing: GovernJobSoftFailing})
	for _, sub := range []struct {
		verb verb
		name string
	}{{check, "check"}, {doctor, "doctor"}} {
		runs := slices.DeleteFunc(slices.Clone(j.govern), func(r run) bool { return r.verb != sub.verb })
		if len(runs) > 0 {
			v.steps(runs, sub.name, GovernStepConditional, GovernStepSoftFailing)
		}
	}
}

// stepRuns is what one step runs.
type stepRuns struct {
	step *step
	runs []run
}

func byStep(runs []run) []stepRuns {
	var all []stepRuns
	for _, r := range runs {
		if n := len(all); n > 0 && all[n-1].step == r.step {
			all[n-1].runs = append(all[n-1].runs, r)
			continue
		}
		all = append(all, stepRuns{r.step, []run{r}})
	}
	return all
}

// steps judges the steps that run one subcommand: one of them has to run it
// always, and its failure has to count.
func (v *verifier) steps(runs []run, what string, conditional, softFailing *rule.Rule) {
	steps := byStep(runs)
	always := slices.DeleteFunc(slices.Clone(steps), func(s stepRuns) bool {
		n, _ := member(s.step.node, "if")
		return hasCondition(n, true, v.Audit.in.Repo) || !slices.ContainsFunc(s.runs, func(r run) bool { return !r.conditional })
	})
	if len(always) == 0 {
		s := steps[0].step
		n, line := member(s.node, "if")
		if hasCondition(n, true, v.Audit.in.Repo) {
			v.weaken(conditional, s.job.file, line, fmt.Sprintf("the step that runs %s has a condition, %s: where it does not hold, the job succeeds without it", what, v.value(n)), unconditional)
		} else {
			v.weaken(conditional, s.job.file, s.line(), fmt.Sprintf("the script runs %s under a condition, or can end before it: then the step succeeds without it", what), unconditional)
		}
		return
	}
	for _, s := range always {
		n, _ := member(s.step.node, "continue-on-error")
		if !isSoft(n) && slices.ContainsFunc(s.runs, func(r run) bool { return !r.conditional && !r.soft }) {
			return
		}
	}
	s := always[0].step
	if n, line := member(s.node, "continue-on-error"); isSoft(n) {
		v.weaken(softFailing, s.job.file, line, fmt.Sprintf("the step that runs %s has continue-on-error %s: its failure does not count", what, v.value(n)), unconditional)
		return
	}
	v.weaken(softFailing, s.job.file, s.line(), fmt.Sprintf("the script discards the result of %s: the step succeeds when the gate fails", what), unconditional)
}

// commitID is what can only be the id of a commit.
var commitID = regexp.MustCompile(`^[0-9A-Fa-f]{7,64}$`)

// base reports a base that the author of a change chooses.
func (v *verifier) base(r run) {
	b, ok := r.base()
	if !ok {
		return
	}
	const why = ": whoever chooses the base chooses what counts as changed"
	const remedy = "Let the gate take the base from the event: drop the setting, or pass the base branch's commit of the event (github.event.pull_request.base.sha, github.event.merge_group.base_sha, github.event.before)."
	if text := strings.Trim(strings.TrimSpace(b.text), `"'`); commitID.MatchString(text) {
		v.weaken(BaseFromAuthor, r.step.job.file, b.line, "the base is the commit "+v.quote(text)+", written in the workflow"+why, remedy)
		return
	}
	for _, expr := range expressions(b.text) {
		if path := ofAuthor(expr); path != "" {
			v.weaken(BaseFromAuthor, r.step.job.file, b.line, "the base is taken from "+v.quote(path)+", which the author of a change sets"+why, remedy)
			return
		}
	}
}

// together judges all that verify as the required check of a repository. here are
// those that run in it.
func (v *verifier) together(verifies, here []*job, isAwaited func(*file) bool) {
	if len(verifies) == 0 {
		return
	}
	hosts := here
	if len(hosts) == 0 {
		hosts = verifies
	}
	target := false
	for _, j := range hosts {
		for _, f := range v.files {
			e, ok := f.event("pull_request_target")
			if !ok || !v.sources(j.file)[f] {
				continue
			}
			target = true
			v.weaken(PullRequestTarget, f, e.Name.Line, "the gate is triggered by pull_request_target: with the default checkout it judges the base branch, with a checkout of the head it puts the proposed change beside a privileged token",
				"Trigger the workflow by pull_request instead.")
		}
	}
	if !target && !slices.ContainsFunc(hosts, v.onPullRequest) {
		f := hosts[0].file
		v.weaken(NoPullRequestTrigger, f, f.on, "no workflow that runs the gate is triggered by pull_request: no pull request is judged before it is merged",
			"Add the trigger pull_request (and merge_group where a merge queue is used).")
	}
	v.twins(here, isAwaited)
}

// twins reports jobs that report under the name of the required check without
// running the gate.
func (v *verifier) twins(hosts []*job, isAwaited func(*file) bool) {
	named := map[string]*job{}
	for _, j := range hosts {
		if v.live[j.file] && isAwaited(j.file) {
			if name, _ := j.checkName(); named[name] == nil {
				named[name] = j
			}
		}
	}
	for _, f := range v.files {
		if f.undecided() || !f.reports() {
			continue
		}
		for _, j := range f.jobs {
			name, at := j.checkName()
			host := named[name]
			if host == nil || len(j.verify) > 0 || v.leads(j) {
				continue
			}
			v.weaken(SameCheckName, f, at.Line, fmt.Sprintf("the job %s reports under the name %s, as the job that runs the gate in %s does: whichever reports satisfies the required check", v.name(j.key.Value), v.quote(name), host.file.path),
				"Give one of the two jobs another name.")
		}
	}
}

// leads tells whether a job calls a workflow that verifies.
func (v *verifier) leads(j *job) bool {
	f := v.byBase[j.calls]
	return f != nil && v.keeps(f, false, map[*file]bool{})
}

// gate puts the verdict together (7.4).
func (v *verifier) gate(verifies, governs []*job) governance.Gate {
	list := v.sorted()
	g := governance.Judged(governance.VerifyWorkflow, VerifyWorkflowTitle, "", list)
	first := ""
	if len(list) > 0 {
		first = list[0].Rule
		if n := len(list) - 1; n > 0 {
			first += " and " + plural.Of(n, "more finding")
		}
	}
	hosts := plural.Of(len(verifies), "job")
	switch {
	case v.undecided:
		g.Reason = "undecidable: " + first
	case v.weakened:
		g.Reason = "bypassable: " + first
	case len(verifies) > 0 && len(list) > 0:
		g.Reason = "enforced by " + hosts + ", with remarks: " + first
	case len(verifies) > 0:
		g.Reason = "enforced: the gate runs unconditionally at level ci in " + hosts
	case len(governs) > 0:
		g.Reason = "governance-only: check or doctor run in " + plural.Of(len(governs), "job") + ", and no handoff checksum is compared"
	default:
		g.Outcome, g.Reason = governance.NotApplicable, "absent: no workflow runs the gate"
	}
	return g
}
