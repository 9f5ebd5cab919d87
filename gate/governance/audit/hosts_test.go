package audit_test

import (
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/governance"
	"github.com/handoff-gate/handoff-gate/gate/governance/audit"
	"github.com/handoff-gate/handoff-gate/gate/internal/fake"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

const gateStep = "      - run: aahp verify . --level ci\n"

// A finding of 7.2 is a warning, and an error where the configuration says so.
func TestVerdicts(t *testing.T) {
	clean := gateJob(pullRequest, "", gateStep)
	weak := gateJob(pullRequest, "    if: false\n", gateStep)
	for _, tt := range []struct {
		name     string
		files    map[string]string
		enforce  bool
		outcome  governance.Outcome
		severity report.Severity
		reason   string
	}{
		{"absent", map[string]string{"a.yml": gateJob(pullRequest, "", "      - run: make\n")}, false, governance.NotApplicable, "", "absent"},
		{"no workflow", nil, true, governance.NotApplicable, "", "absent"},
		{"enforced", map[string]string{"a.yml": clean}, true, governance.Pass, "", "enforced"},
		{"bypassable", map[string]string{"a.yml": weak}, false, governance.Advisory, report.Warning, "bypassable: workflow/job-conditional"},
		{"bypassable, enforced", map[string]string{"a.yml": weak}, true, governance.Fail, report.Error, "bypassable: workflow/job-conditional"},
		{"two findings", map[string]string{"a.yml": weak, "b.yml": weak}, false, governance.Advisory, report.Warning, "bypassable: workflow/job-conditional and 1 more finding"},
		{"undecidable", map[string]string{"aahp-verify.yml": "a: ["}, false, governance.Fail, report.Error, "undecidable: workflow/undecidable"},
		{"undecidable beside bypassable", map[string]string{"aahp-verify.yml": "a: [", "b.yml": weak}, false, governance.Fail, "", "undecidable"},
		{"governance alone", map[string]string{"a.yml": gateJob(pullRequest, "", "      - run: aahp check .\n")}, false, governance.Pass, "", "governance-only: check or doctor run in 1 job, and no handoff checksum is compared"},
		{"with remarks", map[string]string{"a.yml": gateJob(pullRequest, "", "      - uses: o/handoff-gate@"+sha+"\n")}, true, governance.Advisory, report.Warning, "with remarks: workflow/permissions-undeclared"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := verify(t, tt.files, func(in *audit.Input) { in.Enforce = tt.enforce })
			if g.Outcome != tt.outcome || !strings.Contains(g.Reason, tt.reason) {
				t.Errorf("%s: %s", g.Outcome, g.Reason)
			}
			for _, f := range g.Findings {
				if tt.severity != "" && f.Severity != tt.severity {
					t.Errorf("%s is of severity %s", f.Rule, f.Severity)
				}
				if last := f.Remedy[strings.LastIndexByte(f.Remedy, '\n')+1:]; (f.Severity == report.Error) != (last == "fix: handoff-gate doctor .") {
					t.Errorf("%s, %s: %q", f.Rule, f.Severity, f.Remedy)
				}
			}
		})
	}
}

// each case is a set of files and what is found in them.
type hostCase struct {
	name  string
	files map[string]string
	want  string
}

func judgeCases(t *testing.T, cases []hostCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			if got := found(verify(t, tt.files)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func one(text string) map[string]string { return map[string]string{"a.yml": text} }

func TestJobs(t *testing.T) {
	judgeCases(t, []hostCase{
		{"needs", one(gateJob(pullRequest, "    needs: test\n", gateStep)), "advisory | job-needs a.yml:5"},
		{"needs in a list", one(gateJob(pullRequest, "    needs: [a, b]\n", gateStep)), "advisory | job-needs a.yml:5"},
		{"needs nothing", one(gateJob(pullRequest, "    needs: []\n", gateStep)), "pass"},
		{"needs, if true", one(gateJob(pullRequest, "    needs: test\n    if: true\n", gateStep)), "advisory | job-needs a.yml:5"},
		{"needs, if success()", one(gateJob(pullRequest, "    needs: test\n    if: success()\n", gateStep)), "advisory | job-needs a.yml:5"},
		{"needs, if always()", one(gateJob(pullRequest, "    needs: test\n    if: ${{ always() }}\n", gateStep)), "pass"},
		{"needs and a condition", one(gateJob(pullRequest, "    needs: test\n    if: x\n", gateStep)), "advisory | job-needs a.yml:5 | job-conditional a.yml:6"},
		{
			"all at once", one(gateJob(pullRequest, "    if: x\n    needs: y\n    continue-on-error: true\n", gateStep+"        if: z\n")),
			"advisory | job-conditional a.yml:5 | job-needs a.yml:6 | job-soft-failing a.yml:7 | step-conditional a.yml:11",
		},
		{"below ci stops", one(gateJob(pullRequest, "", "      - run: aahp verify .\n        if: x\n        continue-on-error: true\n")), "advisory | no-ci-level a.yml:7"},
		{"conditional stops", one(gateJob(pullRequest, "", gateStep+"        if: x\n        continue-on-error: true\n")), "advisory | step-conditional a.yml:8"},
		{"one step at ci is enough", one(gateJob(pullRequest, "", "      - run: aahp verify .\n"+gateStep)), "pass"},
		{"the first step at fault is shown", one(gateJob(pullRequest, "", gateStep+"        if: x\n"+gateStep+"        if: y\n")), "advisory | step-conditional a.yml:8"},
		{"one step is unconditional", one(gateJob(pullRequest, "", gateStep+"        if: x\n"+gateStep)), "pass"},
		{"the unconditional one is soft", one(gateJob(pullRequest, "", gateStep+"        if: x\n"+gateStep+"        continue-on-error: true\n")), "advisory | step-soft-failing a.yml:10"},
		{"one is soft, one is not", one(gateJob(pullRequest, "", gateStep+"        continue-on-error: true\n"+gateStep)), "pass"},
		{"soft in the script, and in the next step", one(gateJob(pullRequest, "", "      - run: aahp verify --level ci || true\n"+gateStep+"        continue-on-error: true\n")), "advisory | step-soft-failing a.yml:7"},
		{"what fails closed", one(gateJob("on:\n  pull_request:\n    paths: [a]\n    branches: [b]\n    types: [opened]\nconcurrency: x\n", "    timeout-minutes: 1\n    strategy: {matrix: {a: [1, 2]}}\n",
			"      - uses: actions/checkout@v1\n        if: x\n"+gateStep)), "pass"},
		{"another job with a condition", one(gateJob(pullRequest, "", gateStep) + "  other:\n    if: x\n    steps: [{run: make}]\n"), "pass"},
		{"two hosts", one(gateJob(pullRequest, "    if: x\n", gateStep) + "  other:\n    if: y\n    steps:\n" + gateStep), "advisory | job-conditional a.yml:5 | job-conditional a.yml:10"},
		{"steps that are no list", one("on: pull_request\njobs:\n  gate:\n    steps: aahp verify\n"), "not-applicable"},
		{"jobs that are no mapping", one("on: pull_request\njobs: [aahp verify]\n"), "not-applicable"},
	})
}

func TestGovernanceRuns(t *testing.T) {
	const checks, doctors = "      - run: aahp check .\n", "      - run: handoff-gate doctor --json .\n"
	judgeCases(t, []hostCase{
		{"clean", one(gateJob(pullRequest, "", checks+doctors)), "pass"},
		{"the job has a condition", one(gateJob(pullRequest, "    if: x\n", checks+doctors)), "advisory | govern-job-conditional a.yml:5"},
		{"the job is soft", one(gateJob(pullRequest, "    continue-on-error: true\n", checks)), "advisory | govern-job-soft-failing a.yml:5"},
		{"the job needs others", one(gateJob(pullRequest, "    needs: x\n", checks)), "pass"},
		{"one has a condition", one(gateJob(pullRequest, "", checks+"        if: x\n"+doctors)), "advisory | govern-step-conditional a.yml:8"},
		{"both have one", one(gateJob(pullRequest, "", checks+"        if: x\n"+doctors+"        if: x\n")), "advisory | govern-step-conditional a.yml:8 | govern-step-conditional a.yml:10"},
		{"one is soft", one(gateJob(pullRequest, "", checks+doctors+"        continue-on-error: true\n")), "advisory | govern-step-soft-failing a.yml:9"},
		{"in shell", one(gateJob(pullRequest, "", "      - run: aahp check . || true\n      - run: '[ x ] && aahp.js doctor'\n")), "advisory | govern-step-soft-failing a.yml:7 | govern-step-conditional a.yml:8"},
		{"both in one script", one(gateJob(pullRequest, "", "      - run: aahp check . && aahp doctor .\n")), "pass"},
		{"each in one branch", one(gateJob(pullRequest, "", "      - run: if x; then aahp check; else aahp doctor; fi\n")), "advisory | govern-step-conditional a.yml:7"},
		{"beside verify", one(gateJob(pullRequest, "", gateStep+checks+"        if: x\n")), "pass"},
		{"triggered by a push alone", one(gateJob("on: push\n", "", checks)), "pass"},
		{"on a schedule, beside one of a pull request", map[string]string{"a.yml": gateJob("on: {schedule: [{cron: x}]}\n", "    if: x\n", checks), "b.yml": gateJob(pullRequest, "", checks)}, "pass"},
		{"on a schedule, alone", one(gateJob("on: {schedule: [{cron: x}]}\n", "    if: x\n", checks)), "advisory | govern-job-conditional a.yml:5"},
	})
}

func TestTriggers(t *testing.T) {
	release := func(on string) map[string]string {
		return map[string]string{"a.yml": gateJob(pullRequest, "", gateStep), "b.yml": gateJob(on, "    needs: x\n    if: y\n    name: other\n", gateStep)}
	}
	judgeCases(t, []hostCase{
		{"a list", one(gateJob("on: [push, pull_request]\n", "", gateStep)), "pass"},
		{"a mapping", one(gateJob("on:\n  pull_request:\n", "", gateStep)), "pass"},
		{"an alias", one("x: &t pull_request\n" + gateJob("on: *t\n", "", gateStep)), "pass"},
		{"the key true", one(gateJob("true: pull_request\n", "", gateStep)), "pass"},
		{"a push", one(gateJob("on: push\n", "", gateStep)), "advisory | no-pull-request-trigger a.yml:2"},
		{"a merge queue alone", one(gateJob("on:\n  merge_group:\n", "", gateStep)), "advisory | no-pull-request-trigger a.yml:2"},
		{"the first host's", map[string]string{"b.yml": gateJob("on: push\n", "", gateStep), "c.yml": gateJob("on: push\n", "", gateStep)}, "advisory | no-pull-request-trigger b.yml:2"},
		{"none", one(gateJob("", "", gateStep)), "advisory | no-pull-request-trigger a.yml:1"},
		{"pull_request_target", one(gateJob("on: pull_request_target\n", "", gateStep)), "advisory | pull-request-target a.yml:2"},
		{"pull_request_target in a list", one(gateJob("on:\n  - pull_request\n  - pull_request_target\n", "", gateStep)), "advisory | pull-request-target a.yml:4"},
		{"pull_request_target in a mapping", one(gateJob("on:\n  push:\n  pull_request_target:\n    types: [opened]\n", "", gateStep)), "advisory | pull-request-target a.yml:4"},
		{"a release", release("on: {release: {types: [published]}}\n"), "pass"},
		{"tags", release("on: {push: {tags: [v*]}}\n"), "pass"},
		{"by hand, and others", release("on: [workflow_dispatch, schedule, create, repository_dispatch]\n"), "pass"},
		{"tags and branches", release("on: {push: {tags: [v*], branches: [main]}}\n"), "advisory | job-needs b.yml:5 | job-conditional b.yml:6"},
		{"a push", release("on: push\n"), "advisory | job-needs b.yml:5 | job-conditional b.yml:6"},
		{"a merge queue", release("on: merge_group\n"), "advisory | job-needs b.yml:5 | job-conditional b.yml:6"},
		{"a release alone", one(gateJob("on: release\n", "    if: x\n", gateStep)), "advisory | no-pull-request-trigger a.yml:2 | job-conditional a.yml:5"},
	})
}

func TestTwins(t *testing.T) {
	host := gateJob(pullRequest, "", gateStep)
	named := gateJob(pullRequest, "    name: The gate\n", gateStep)
	twin := func(on, key, more string) string {
		return on + "jobs:\n  " + key + ":\n" + more + "    runs-on: x\n    steps: [{run: echo}]\n"
	}
	both := func(a, b string) map[string]string { return map[string]string{"a.yml": a, "b.yml": b} }
	judgeCases(t, []hostCase{
		{"the same key", both(host, twin("on: pull_request\n", "gate", "")), "advisory | same-check-name b.yml:3"},
		{"in the merge queue", both(host, twin("on: merge_group\n", "gate", "")), "advisory | same-check-name b.yml:3"},
		{"on a push", both(host, twin("on: push\n", "gate", "")), "advisory | same-check-name b.yml:3"},
		{"on a push of tags", both(host, twin("on: {push: {tags: [a]}}\n", "gate", "")), "pass"},
		{"on a schedule", both(host, twin("on: {schedule: [{cron: x}]}\n", "gate", "")), "pass"},
		{"the key is the other's name", both(named, twin("on: pull_request\n", "x", "    name: The gate\n")), "advisory | same-check-name b.yml:4"},
		{"with another name", both(host, twin("on: pull_request\n", "gate", "    name: other\n")), "pass"},
		{"the host has another name", both(named, twin("on: pull_request\n", "gate", "")), "pass"},
		{"with an empty name", both(host, twin("on: pull_request\n", "gate", "    name:\n")), "advisory | same-check-name b.yml:3"},
		{"in the same file", one(host + "  other:\n    name: gate\n    runs-on: x\n    steps: [{run: echo}]\n"), "advisory | same-check-name a.yml:9"},
		{"another host", both(host, host), "pass"},
		{"a host that is reached by a call", map[string]string{
			"a.yml": gateJob("on: workflow_call\n", "", gateStep), "c.yml": "on: pull_request\njobs:\n  x:\n    uses: ./.github/workflows/a.yml\n",
			"b.yml": twin("on: pull_request\n", "gate", ""),
		}, "pass"},
	})
}

// A workflow that others call is judged with those that call it.
func TestCalledWorkflows(t *testing.T) {
	callee := gateJob("on: workflow_call\n", "", gateStep)
	caller := func(on, job, name string) string {
		return on + "jobs:\n  call:\n" + job + "    uses: ./.github/workflows/" + name + "\n"
	}
	judgeCases(t, []hostCase{
		{"clean", map[string]string{"a.yml": callee, "b.yml": caller("on: pull_request\n", "", "a.yml")}, "pass"},
		{"the caller has a condition", map[string]string{"a.yml": callee, "b.yml": caller("on: pull_request\n", "    if: x\n", "a.yml")}, "advisory | job-conditional b.yml:4"},
		{"the caller needs others", map[string]string{"a.yml": callee, "b.yml": caller("on: pull_request\n", "    needs: x\n", "a.yml")}, "advisory | job-needs b.yml:4"},
		{"the caller is soft", map[string]string{"a.yml": callee, "b.yml": caller("on: pull_request\n", "    continue-on-error: true\n", "a.yml")}, "advisory | job-soft-failing b.yml:4"},
		{"the callee has a condition", map[string]string{"a.yml": gateJob("on: workflow_call\n", "    if: x\n", gateStep), "b.yml": caller("on: pull_request\n", "", "a.yml")}, "advisory | job-conditional a.yml:5"},
		{
			"through another",
			map[string]string{"a.yml": callee, "b.yml": caller("on: workflow_call\n", "    if: x\n", "a.yml"), "c.yml": caller("on: pull_request\n", "    needs: y\n", "b.yml")},
			"advisory | job-conditional b.yml:4 | job-needs c.yml:4",
		},
		{"the caller is triggered by a push", map[string]string{"a.yml": callee, "b.yml": caller("on: push\n", "", "a.yml")}, "advisory | no-pull-request-trigger a.yml:2"},
		{"the caller is triggered by pull_request_target", map[string]string{"a.yml": callee, "b.yml": caller("on: pull_request_target\n", "", "a.yml")}, "advisory | pull-request-target b.yml:1"},
		{"nobody calls it", one(callee), "advisory | no-pull-request-trigger a.yml:2"},
		{"nobody calls it, and it has a condition", one(gateJob("on: workflow_call\n", "    if: x\n", gateStep)), "advisory | no-pull-request-trigger a.yml:2"},
		{"nobody calls it, and there is another", map[string]string{"a.yml": gateJob("on: workflow_call\n", "    if: x\n", gateStep), "b.yml": gateJob(pullRequest, "", gateStep)}, "pass"},
		{"it has a trigger of its own", one(gateJob("on: [workflow_call, pull_request]\n", "", gateStep)), "pass"},
		{"it is called, but cannot be", map[string]string{"a.yml": gateJob("on: push\n", "", gateStep), "b.yml": caller("on: pull_request\n", "", "a.yml")}, "advisory | no-pull-request-trigger a.yml:2"},
		{"by two, one of them before a release", map[string]string{"a.yml": callee, "b.yml": caller("on: pull_request\n", "", "a.yml"), "c.yml": caller("on: release\n", "    if: x\n    needs: y\n", "a.yml")}, "pass"},
		{"by two, one with a condition", map[string]string{"a.yml": callee, "b.yml": caller("on: pull_request\n", "", "a.yml"), "c.yml": caller("on: pull_request\n", "    if: x\n", "a.yml")}, "advisory | job-conditional c.yml:4"},
		{"in a circle", map[string]string{"a.yml": gateJob("on: workflow_call\n", "", gateStep) + "  again:\n    uses: ./.github/workflows/a.yml\n", "b.yml": caller("on: pull_request\n", "", "a.yml")}, "pass"},
		{"a workflow of another repository", one(caller("on: pull_request\n", "", "a.yml") + "  other:\n    uses: o/r/.github/workflows/gate.yml@v1\n"), "not-applicable"},
		{"governance", map[string]string{"a.yml": gateJob("on: workflow_call\n", "", "      - run: aahp check .\n"), "b.yml": caller("on: pull_request\n", "    if: x\n", "a.yml")}, "advisory | govern-job-conditional b.yml:4"},
	})
}

func TestUndecidable(t *testing.T) {
	broken := "jobs:\n  b: [unclosed\n"
	runs := gateJob(pullRequest, "", gateStep)
	judgeCases(t, []hostCase{
		{"broken, by name", map[string]string{"aahp-verify.yml": broken}, "fail | undecidable aahp-verify.yml:2"},
		{"broken, by another name", map[string]string{"AAHP-Govern.YAML": broken}, "fail | undecidable AAHP-Govern.YAML:2"},
		{"broken, by text", one("# handoff-gate\n" + broken), "fail | undecidable a.yml:3"},
		{"broken, by the script", one("# verify-handoff.sh\n" + broken), "fail | undecidable a.yml:3"},
		{"broken, with the words apart", one("# aahp\n#\n  verify\n" + broken), "not-applicable"},
		{"broken, of another kind", one(broken), "not-applicable"},
		{"broken, beside one that runs it", map[string]string{"a.yml": runs, "b.yml": broken}, "pass"},
		{"a key twice", one(strings.Replace(runs, "    steps:\n", "    if: false\n    if: true\n    steps:\n", 1) + "# handoff-gate\n"), "fail | undecidable a.yml:7"},
		{"two documents", one("# handoff-gate\na: 1\n---\nb: 2\n"), "fail | undecidable a.yml:3"},
		{"too large, by text", one("# handoff-gate\n#" + strings.Repeat("x", 1<<20) + "\n"), "fail | undecidable a.yml:1"},
		{"too large, of another kind", one("#" + strings.Repeat("x", 1<<20) + "\n"), "not-applicable"},
		{"too large to be searched", one("#" + strings.Repeat("x", 17<<20) + "\n"), "fail | undecidable a.yml:1"},
		{"too large, by name", map[string]string{"handoff-gate.yml": strings.Repeat("x", 1<<20+1)}, "fail | undecidable handoff-gate.yml:1"},
		{"a merge key", one("x: &x {a: b}\n" + strings.Replace(runs, "    steps:\n", "    <<: *x\n    steps:\n", 1)), "fail | undecidable a.yml:7"},
		{"a merge key elsewhere", one("x: &x {a: b}\n" + gateJob(pullRequest, "    <<: *x\n", "      - run: make\n")), "not-applicable"},
		{"on and true", one("true: push\n" + runs), "fail | undecidable a.yml:1"},
		{"an alias in itself", one("x: &x [*x]\n" + runs), "fail | undecidable a.yml:1"},

		{"by name, without the gate", map[string]string{"handoff-gate.yml": gateJob(pullRequest, "", "      - run: make\n")}, "fail | undecidable handoff-gate.yml:1"},
		{"by its own name", one("name: ' aahp Verify '\non: push\njobs: {}\n"), "fail | undecidable a.yml:1"},
		{"by its own name, with the gate", one(strings.Replace(runs, "name: CI", "name: Handoff Gate", 1)), "pass"},
		{"a file's name is no workflow's", one("name: aahp-verify\non: push\njobs: {}\n"), "not-applicable"},
		{"governance keeps its own name", map[string]string{"aahp-govern.yml": gateJob(pullRequest, "", "      - run: aahp check\n")}, "pass"},
		{"governance does not keep the other", map[string]string{"aahp-verify.yml": gateJob(pullRequest, "", "      - run: aahp check\n")}, "fail | undecidable aahp-verify.yml:1"},
		{"verify keeps each", map[string]string{"aahp-govern.yml": runs}, "pass"},
		{"a local action", map[string]string{"aahp-verify.yml": gateJob(pullRequest, "", "      - uses: ./.github/actions/gate\n")}, "fail | undecidable aahp-verify.yml:1"},
		{"a workflow of another repository", map[string]string{"aahp-verify.yml": "on: pull_request\njobs:\n  x:\n    uses: o/r/.github/workflows/gate.yml@v1\n"}, "fail | undecidable aahp-verify.yml:1"},
		{"a workflow of this repository", map[string]string{"aahp-verify.yml": "on: pull_request\njobs:\n  x:\n    uses: ./.github/workflows/a.yml\n", "a.yml": gateJob("on: workflow_call\n", "", gateStep)}, "pass"},
		{"no mapping at all", map[string]string{"handoff-gate.yml": "- a\n"}, "fail | undecidable handoff-gate.yml:1"},
		{"empty", map[string]string{"handoff-gate.yml": ""}, "fail | undecidable handoff-gate.yml:1"},
		{"not directly in the folder", map[string]string{"./.github/workflows/sub/aahp-verify.yml": broken}, "not-applicable"},
		{"no workflow by its ending", map[string]string{"aahp-verify.yml.bak": broken}, "not-applicable"},
	})
	for name, tree := range map[string]fake.Tree{
		"a link":                  {audit.Folder + "/aahp-verify.yml": {Kind: 2, Data: "x"}},
		"a folder that is a link": {audit.Folder: {Kind: 2, Data: "x"}},
		"a link above":            {".github": {Kind: 2, Data: "x"}},
	} {
		if g := audit.Read(audit.Input{Tree: tree}).VerifyWorkflow(); g.Outcome != governance.Fail {
			t.Errorf("%s: %s", name, found(g))
		}
	}
}

func TestBaseFromAuthor(t *testing.T) {
	command := func(run, env string) string {
		return gateJob(pullRequest, "", "      - run: "+run+"\n"+env)
	}
	env := func(value string) string {
		return command("aahp verify --level ci", "        env:\n          AAHP_BASE_SHA: "+value+"\n")
	}
	const inEnv, inRun, none = "advisory | base-from-author a.yml:9", "advisory | base-from-author a.yml:7", "pass"
	for value, want := range map[string]string{
		"${{ github.event.pull_request.base.sha }}":                       none,
		"${{ github.event.merge_group.base_sha || github.event.before }}": none,
		"${{ inputs.base }}":                           none,
		"${{ inputs.comment }}":                        none,
		"${{ steps.base.outputs.commits }}":            none,
		"${{ github.event_name == 'issue' }}":          none,
		"origin/main":                                  none,
		"${{ github.head_ref }}":                       inEnv,
		"${{ github['head_ref'] }}":                    inEnv,
		"${{ github.event.pull_request.head.sha }}":    inEnv,
		"${{ github.event.pull_request['head'].sha }}": inEnv,
		"${{ GitHub.Event.Pull_Request.Head.SHA }}":    inEnv,
		"${{ github.event.pull_request.base.sha || github.event.pull_request.title }}": inEnv,
		"${{ github.event.pull_request.body }}":                                        inEnv,
		"${{ github.event.pull_request.labels[0].name }}":                              inEnv,
		"${{ github.event.pull_request.labels.*.name }}":                               inEnv,
		"${{ github.event.pull_request.user.login }}":                                  inEnv,
		"${{ github.event.pull_request.*.sha }}":                                       inEnv,
		"${{ github.event.head_commit.id }}":                                           inEnv,
		"${{ github.event.commits[0].id }}":                                            inEnv,
		"${{ github.event.comment.body }}":                                             inEnv,
		"${{ github.event.issue.title }}":                                              inEnv,
		"${{ github.event.review.body }}":                                              inEnv,
		"${{ github.event.client_payload.base }}":                                      inEnv,
		"${{ github.event[inputs.x].id }}":                                             inEnv,
		"${{ fromJSON(toJSON(github)).event.commits[0].id }}":                          inEnv,
		sha:                inEnv,
		"0123abc":          inEnv,
		"'" + sha + "'":    inEnv,
		"${{ env.OTHER }}": none,
	} {
		if got := found(verify(t, one(env(value)))); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", value, got, want)
		}
	}
	judgeCases(t, []hostCase{
		{"a flag", one(command("aahp verify --level ci --base "+sha, "")), inRun},
		{"a flag with =", one(command("aahp verify --level ci --base="+sha, "")), inRun},
		{"a flag with an expression", one(command("aahp verify --level ci --base ${{ github.event.pull_request['head'].sha }}", "")), inRun},
		{"a flag with a variable", one(command("aahp verify --level ci --base \"$B\"", "        env:\n          B: ${{ github.head_ref }}\n")), inRun},
		{"a flag with a variable in braces", one(command("aahp verify --level ci --base ${B:-x}", "        env:\n          B: ${{ github.head_ref }}\n")), inRun},
		{"a flag with the variable itself", one(command("aahp verify --level ci --base \"$AAHP_BASE_SHA\"", "        env:\n          AAHP_BASE_SHA: ${{ github.head_ref }}\n")), inEnv},
		{"a flag with an unknown variable", one(command("aahp verify --level ci --base \"$B\"", "")), none},
		{"a flag with a command", one(command("aahp verify --level ci --base \"$(git merge-base a b)\"", "")), none},
		{"the flag wins", one(command("aahp verify --level ci --base ${{ inputs.base }}", "        env:\n          AAHP_BASE_SHA: "+sha+"\n")), none},
		{"before the command", one(command("AAHP_BASE_SHA="+sha+" aahp verify --level ci", "")), inRun},
		{"set in the script", one(command("|\n          B=${{ github.event.pull_request.head.sha }}\n          aahp verify --level ci --base \"$B\"", "")), inRun},
		{"exported in the script", one(command("|\n          export AAHP_BASE_SHA="+sha+"\n          aahp verify --level ci", "")), inRun},
		{"set anew in the script", one(command("|\n          B="+sha+"\n          B=$(git merge-base a b)\n          aahp verify --level ci --base \"$B\"", "")), none},
		{"set for another command", one(command("|\n          B="+sha+" echo\n          aahp verify --level ci --base \"$B\"", "")), none},
		{"set behind the gate", one(command("|\n          aahp verify --level ci --base \"$B\"\n          B="+sha, "")), none},
		{"the job's", one(gateJob(pullRequest, "    env:\n      AAHP_BASE_SHA: "+sha+"\n", gateStep)), "advisory | base-from-author a.yml:6"},
		{"the workflow's", one(gateJob(pullRequest+"env:\n  AAHP_BASE_SHA: "+sha+"\n", "", gateStep)), "advisory | base-from-author a.yml:4"},
		{"the step's comes first", one(gateJob(pullRequest+"env:\n  AAHP_BASE_SHA: "+sha+"\n", "", gateStep+"        env: {AAHP_BASE_SHA: '${{ inputs.base }}'}\n")), none},
		{"through env", one(gateJob(pullRequest+"env:\n  B: ${{ github.head_ref }}\n", "", gateStep+"        env:\n          AAHP_BASE_SHA: ${{ env.B }}\n")), "advisory | base-from-author a.yml:11"},
		{"the action's input", one(gateJob(pullRequest+"permissions: {}\n", "", "      - uses: o/handoff-gate@v1\n        with:\n          base: ${{ github.head_ref }}\n")), "advisory | base-from-author a.yml:10"},
		{"the action's input, in capitals", one(gateJob(pullRequest+"permissions: {}\n", "", "      - uses: o/handoff-gate@v1\n        with:\n          BASE: "+sha+"\n")), "advisory | base-from-author a.yml:10"},
		{"the action ignores the variable", one(gateJob(pullRequest+"permissions: {}\n", "", "      - uses: o/handoff-gate@v1\n        env: {AAHP_BASE_SHA: "+sha+"}\n")), "pass"},
	})
}

// What 7.3 says of our own action.
func TestOperation(t *testing.T) {
	full := "      - uses: actions/checkout@v1\n        with: {fetch-depth: 0}\n"
	act := "      - uses: o/handoff-gate@v1\n"
	const command = "      - run: handoff-gate verify . --level ci\n"
	with := func(text string) string { return act + "        with: {" + text + "}\n" }
	own := func(on, job, steps string) map[string]string {
		return one(gateJob(on+"permissions: {contents: read}\n", job, steps))
	}
	declared := "on:\n  pull_request:\n  workflow_dispatch:\n    inputs:\n      base: {required: true}\n"
	judgeCases(t, []hostCase{
		{"by hand, in a list", own("on: [pull_request, workflow_dispatch]\n", "", act), "advisory | dispatch-base a.yml:2"},
		{"by hand, without inputs", own("on:\n  pull_request:\n  workflow_dispatch:\n", "", act), "advisory | dispatch-base a.yml:4"},
		{"by hand, not required", own(strings.Replace(declared, "true", "false", 1), "", act), "advisory | dispatch-base a.yml:4"},
		{"by hand, declared", own(declared, "", act), "pass"},
		{"by hand, the command does not get it", own(declared, "", full+command), "advisory | dispatch-base a.yml:14"},
		{"by hand, the command gets it", own(declared, "", full+"      - run: handoff-gate verify . --level ci --base ${{ inputs.base }}\n"), "pass"},
		{"by hand, the command gets it from the event", own(declared, "", full+command+"        env: {AAHP_BASE_SHA: '${{ github.event.inputs.base || github.event.before }}'}\n"), "pass"},
		{"by hand, the command gets another", own(declared, "", full+command+"        env: {AAHP_BASE_SHA: '${{ inputs.other }}'}\n"), "advisory | dispatch-base a.yml:14"},
		{"by hand, the inner action", own(declared, "", full+"      - run: handoff-gate action\n"), "pass"},
		{"by hand, aahp's own", one(gateJob("on: [pull_request, workflow_dispatch]\n", "", gateStep)), "pass"},

		{"policy of the head", own(pullRequest, "", with("policy-from: head")), "advisory | policy-from-head a.yml:9"},
		{"policy by expression", own(pullRequest, "", with("Policy-From: '${{ x }}'")), "advisory | policy-from-head a.yml:9"},
		{"policy of the base", own(pullRequest, "", with("policy-from: base")), "pass"},
		{"policy of the head by a flag", own(pullRequest, "", full+"      - run: handoff-gate verify . --level ci --policy-from=head\n"), "advisory | policy-from-head a.yml:10"},
		{"policy of the base by a flag", own(pullRequest, "", full+"      - run: handoff-gate verify . --level ci --policy-from base\n"), "pass"},

		{"no history", own(pullRequest, "", "      - uses: actions/checkout@v1\n"+command), "advisory | shallow-checkout a.yml:8"},
		{"no checkout", own(pullRequest, "", command), "advisory | shallow-checkout a.yml:8"},
		{"some history", own(pullRequest, "", "      - uses: x/Checkout@v1\n        with: {fetch-depth: 2}\n"+command), "advisory | shallow-checkout a.yml:8"},
		{"all history", own(pullRequest, "", full+command), "pass"},
		{"all history, too late", own(pullRequest, "", command+full), "advisory | shallow-checkout a.yml:8"},
		{"the action fetches", own(pullRequest, "", act), "pass"},
		{"the action must not fetch", own(pullRequest, "", with("fetch-missing: false")), "advisory | shallow-checkout a.yml:8"},
		{"the action must not fetch, and need not", own(pullRequest, "", full+with("fetch-missing: 'false'")), "pass"},

		{"undeclared", one(gateJob(pullRequest, "", act)), "advisory | permissions-undeclared a.yml:4"},
		{"the job declares", one(gateJob(pullRequest, "    permissions: {contents: read, checks: write}\n", act)), "pass"},
		{"read-all", one(gateJob(pullRequest, "    permissions: read-all\n", act)), "pass"},
		{"write-all", one(gateJob(pullRequest, "    permissions: write-all\n", act)), "advisory | permissions-excessive a.yml:5"},
		{
			"scopes", one(gateJob(pullRequest, "    permissions:\n      contents: write\n      checks: write\n      id-token: write\n      statuses: write\n      issues: read\n", act)),
			"advisory | permissions-excessive a.yml:6 | permissions-excessive a.yml:8",
		},
		{"scopes in one line", one(gateJob(pullRequest, "    permissions: {contents: write, id-token: write}\n", act)), "advisory | permissions-excessive a.yml:5 | permissions-excessive a.yml:5"},
		{"the job's come first", one(gateJob(pullRequest+"permissions: write-all\n", "    permissions: {}\n", act)), "pass"},
		{"a claim writes refs", one(gateJob(pullRequest, "    permissions: {contents: write}\n", with("claim: true"))), "pass"},
		{"a claim is not made", one(gateJob(pullRequest, "    permissions: {contents: write}\n", with("claim: false"))), "advisory | permissions-excessive a.yml:5"},
		{"aahp's own", one(gateJob(pullRequest, "    permissions: write-all\n", gateStep)), "pass"},
		{"the caller declares", map[string]string{"a.yml": gateJob("on: workflow_call\n", "", act), "b.yml": "on: pull_request\njobs:\n  x:\n    permissions: {contents: write}\n    uses: ./.github/workflows/a.yml\n"}, "advisory | permissions-excessive b.yml:4"},
		{"a release beside the gate", map[string]string{"a.yml": gateJob(pullRequest+"permissions: {}\n", "", act), "b.yml": gateJob("on: release\n", "    if: x\n", act)}, "advisory | permissions-undeclared b.yml:4"},
	})
}
