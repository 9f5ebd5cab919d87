package audit

import (
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// weaker is when the rules about a workflow that can skip the gate do not block.
const weaker = "A warning unless verifyWorkflow.enforce is true in aahp.config.json."

// The rules of verify-workflow (aahp-governance.md 7).
var (
	JobConditional = &rule.Rule{
		ID: "workflow/job-conditional", Severity: report.Error, Varies: weaker,
		Title:   "The job that runs the gate has a condition",
		Why:     "GitHub reports a job whose condition does not hold as skipped, and a skipped required check counts as success. Whoever can make the condition fail, by the name of a branch, a label or a title, merges without the gate.",
		Remedy:  unconditional,
		Example: "if: github.actor != 'dependabot[bot]' on the job with aahp verify.",
	}
	JobSoftFailing = &rule.Rule{
		ID: "workflow/job-soft-failing", Severity: report.Error, Varies: weaker,
		Title:   "The failure of the job that runs the gate does not count",
		Why:     "With continue-on-error the job reports success whatever the gate says. An expression may evaluate to true, so it is taken for one.",
		Remedy:  unconditional,
		Example: "continue-on-error: true on the job with aahp verify.",
	}
	JobNeeds = &rule.Rule{
		ID: "workflow/job-needs", Severity: report.Error, Varies: weaker,
		Title:   "The job that runs the gate waits for other jobs",
		Why:     "A job is skipped when one that it needs fails or is skipped, unless its if is always(), and a skipped required check counts as success. A change that breaks the tests would get past the gate.",
		Remedy:  withoutNeeds,
		Example: "needs: test on the job with aahp verify, and test fails.",
	}
	BaseFromAuthor = &rule.Rule{
		ID: "workflow/base-from-author", Severity: report.Error, Varies: weaker,
		Title:   "The author of a change chooses the base that it is measured from",
		Why:     "What counts as changed is the difference from the base. From a base that is a fixed commit, or comes from the head branch, the title or a comment, a change can be made to look empty.",
		Remedy:  "Let the gate take the base from the event, or pass the base branch's commit of the event.",
		Example: "AAHP_BASE_SHA: ${{ github.event.pull_request.head.sha }}",
	}
	NoCILevel = &rule.Rule{
		ID: "workflow/no-ci-level", Severity: report.Error, Varies: weaker,
		Title:   "No step of the job runs the gate at level ci",
		Why:     "Below level ci the environment variable AAHP_SKIP_VERIFY switches everything off, and the change's own policy judges it. Such a run proves nothing about what is merged.",
		Remedy:  "Give the gate --level ci. " + unconditional,
		Example: "run: bash scripts/verify-handoff.sh . --level full",
	}
	StepConditional = &rule.Rule{
		ID: "workflow/step-conditional", Severity: report.Error, Varies: weaker,
		Title:   "The step that runs the gate may be passed over",
		Why:     "A step whose condition does not hold is skipped, and a script that takes another branch or ends before the gate does not run it. The job succeeds either way.",
		Remedy:  unconditional,
		Example: `run: '[ -n "$SKIP" ] || aahp verify . --level ci'`,
	}
	StepSoftFailing = &rule.Rule{
		ID: "workflow/step-soft-failing", Severity: report.Error, Varies: weaker,
		Title:   "The result of the step that runs the gate is lost",
		Why:     "continue-on-error, || true, a pipe into another command without pipefail, a & or a later command after set +e replace the gate's exit status by another. The step is green while the gate is red.",
		Remedy:  unconditional,
		Example: "run: aahp verify . --level ci | tee verify.log, in the default shell.",
	}
	GovernJobConditional = &rule.Rule{
		ID: "workflow/govern-job-conditional", Severity: report.Error, Varies: weaker,
		Title:   "The job that runs check or doctor has a condition",
		Why:     "As workflow/job-conditional, for a job that runs the governance commands alone: where the condition does not hold, the skipped job counts as success.",
		Remedy:  unconditional,
		Example: "if: github.event_name == 'push' on the job with aahp check.",
	}
	GovernJobSoftFailing = &rule.Rule{
		ID: "workflow/govern-job-soft-failing", Severity: report.Error, Varies: weaker,
		Title:   "The failure of the job that runs check or doctor does not count",
		Why:     "As workflow/job-soft-failing, for a job that runs the governance commands alone.",
		Remedy:  unconditional,
		Example: "continue-on-error: true on the job with handoff-gate doctor.",
	}
	GovernStepConditional = &rule.Rule{
		ID: "workflow/govern-step-conditional", Severity: report.Error, Varies: weaker,
		Title:   "The step that runs check or doctor may be passed over",
		Why:     "As workflow/step-conditional, for each of the two commands by itself: one of them that always runs does not stand in for the other.",
		Remedy:  unconditional,
		Example: "if: false on the only step with aahp check.",
	}
	GovernStepSoftFailing = &rule.Rule{
		ID: "workflow/govern-step-soft-failing", Severity: report.Error, Varies: weaker,
		Title:   "The result of the step that runs check or doctor is lost",
		Why:     "As workflow/step-soft-failing, for each of the two commands by itself.",
		Remedy:  unconditional,
		Example: "run: handoff-gate check . || true",
	}
	PullRequestTarget = &rule.Rule{
		ID: "workflow/pull-request-target", Severity: report.Error, Varies: weaker,
		Title:   "The gate is triggered by pull_request_target",
		Why:     "That trigger checks out the base branch by default: the gate judges what is merged already, and every pull request passes. With a checkout of the head the proposed change lies beside a token that may write.",
		Remedy:  "Trigger the workflow by pull_request instead.",
		Example: "on: pull_request_target in the workflow with the gate.",
	}
	NoPullRequestTrigger = &rule.Rule{
		ID: "workflow/no-pull-request-trigger", Severity: report.Error, Varies: weaker,
		Title:   "No pull request triggers the gate",
		Why:     "A gate that runs on pushes alone, or by hand, says something about a change after it was merged. As a required check it never reports.",
		Remedy:  "Add the trigger pull_request to the workflow that runs the gate, and merge_group where a merge queue is used.",
		Example: "on: {push: {branches: [main]}} in the only workflow with the gate.",
	}
	SameCheckName = &rule.Rule{
		ID: "workflow/same-check-name", Severity: report.Error, Varies: weaker,
		Title:   "Another job reports under the gate's name",
		Why:     "A required check is known by its name alone. Where two jobs share it, whichever reports satisfies the requirement: a gate with a filter of paths, beside a twin with the opposite filter, never has to run.",
		Remedy:  "Give one of the two jobs another name.",
		Example: "A job gate with the gate on paths: [src/**], and a job gate that runs echo on paths-ignore: [src/**].",
	}
	Undecidable = &rule.Rule{
		ID: "workflow/undecidable", Severity: report.Error,
		Title:   "It cannot be told what a workflow runs",
		Why:     "A file that cannot be parsed as one YAML document, or that is called as the gate and runs it in no step of its own, may do anything. What cannot be judged does not pass. A merge key (<<) is such a case: GitHub does not follow it, other readers do.",
		Remedy:  "Repair the file, or run the gate in a step of its own.",
		Example: "aahp-verify.yml whose only step uses ./.github/actions/gate.",
	}
)

// The rules about this project's own action (aahp-governance.md 7.3).
var (
	DispatchBase = &rule.Rule{
		ID: "workflow/dispatch-base", Severity: report.Warning,
		Title:   "A run by hand would have no base",
		Why:     "A workflow_dispatch event carries no commit to compare with. Without a required input base that reaches the gate every such run fails, and people get used to that.",
		Remedy:  "Declare the input base of workflow_dispatch with required: true, and pass it to the command; the action reads it by itself.",
		Example: "on: [pull_request, workflow_dispatch]",
	}
	PolicyFromHead = &rule.Rule{
		ID: "workflow/policy-from-head", Severity: report.Warning,
		Title:   "The change's own policy judges it",
		Why:     "With policy-from: head a pull request can relax the rules by which it is judged, in the same commit.",
		Remedy:  "Drop the setting: the policy is then that of the base.",
		Example: "with: {policy-from: head}",
	}
	ShallowCheckout = &rule.Rule{
		ID: "workflow/shallow-checkout", Severity: report.Warning,
		Title:   "The commit to compare with is not there, and is not fetched",
		Why:     "actions/checkout fetches one commit. The command fetches nothing, and the action does not where fetch-missing is false; such a run fails for want of the base.",
		Remedy:  "Check out with fetch-depth: 0, or let the action fetch the base.",
		Example: "actions/checkout without fetch-depth before handoff-gate verify . --level ci.",
	}
	PermissionsUndeclared = &rule.Rule{
		ID: "workflow/permissions-undeclared", Severity: report.Warning,
		Title:   "The job with the gate declares no permissions",
		Why:     "Without them the token may do what the settings of the repository or organisation allow, which can be everything. The gate reads content and writes a check run.",
		Remedy:  "Declare permissions: {contents: read, checks: write}.",
		Example: "A workflow with the action and no key permissions.",
	}
	PermissionsExcessive = &rule.Rule{
		ID: "workflow/permissions-excessive", Severity: report.Warning,
		Title:   "The job with the gate may write more than it needs",
		Why:     "Whatever runs in the job, a later step or a script of the proposed change, has the same token. The gate needs checks: write alone, and contents: write where it writes claims.",
		Remedy:  "Grant only what the job writes: permissions: {contents: read, checks: write}.",
		Example: "permissions: write-all",
	}
)

// The rules of cli-source (aahp-governance.md 8).
const byPath = "Run the pinned CLI by its path after npm ci --ignore-scripts: node node_modules/@elvatis_com/aahp/bin/aahp.js."

var (
	RegistryFetch = &rule.Rule{
		ID: "workflow/registry-fetch", Severity: report.Error,
		Title:   "The gate is fetched from a registry at each run",
		Why:     "npx, npm install NAME, pnpm dlx and their like run whatever the registry serves at that moment, with the token of the job; no lock file and no review says what that is. So does go run of anything but an exact version.",
		Remedy:  byPath + " For go run and go install name an exact version, @vX.Y.Z.",
		Example: "run: npx @elvatis_com/aahp verify . --level ci",
	}
	UnownedName = &rule.Rule{
		ID: "workflow/unowned-name", Severity: report.Error, Varies: "A warning where nothing is fetched: npx --no-install aahp.",
		Title:   "A package is named that does not belong to AAHP",
		Why:     "The unscoped name aahp is not AAHP's on the npm registry. Whoever registers it chooses what a workflow runs that fetches it.",
		Remedy:  byPath + " The package's name is @elvatis_com/aahp.",
		Example: "run: npx aahp verify . --level ci",
	}
	CheckoutPath = &rule.Rule{
		ID: "workflow/checkout-path", Severity: report.Error,
		Title:   "The CLI is run from a path that is not in the repository",
		Why:     "bin/aahp.js is there in AAHP's own repository alone. Elsewhere the step fails, or runs what an earlier step or a change has put in its place.",
		Remedy:  byPath + " In a checkout of AAHP beside this one set working-directory.",
		Example: "run: node bin/aahp.js verify . --level ci",
	}
	NoInstall = &rule.Rule{
		ID: "workflow/no-install", Severity: report.Error,
		Title:   "The CLI is run from node_modules that nothing has installed",
		Why:     "Without npm ci in the same job node_modules is absent, or comes from a cache that nobody has verified against the lock file.",
		Remedy:  byPath,
		Example: "run: node_modules/.bin/aahp verify . --level ci, right after the checkout.",
	}
	UnpinnedAction = &rule.Rule{
		ID: "workflow/unpinned-action", Severity: report.Warning,
		Title:   "The action or image of the gate is not pinned",
		Why:     "A tag or a branch can be moved to other code after it was reviewed. A full commit id and a digest cannot.",
		Remedy:  "Use it by commit id: uses: OWNER/handoff-gate@<40 hex> # vX.Y.Z; an image by its digest, @sha256:….",
		Example: "uses: handoff-gate/handoff-gate@v1",
	}
)

// Rules are all rows.
var Rules = []*rule.Rule{
	JobConditional, JobSoftFailing, JobNeeds, BaseFromAuthor, NoCILevel, StepConditional, StepSoftFailing,
	GovernJobConditional, GovernJobSoftFailing, GovernStepConditional, GovernStepSoftFailing,
	PullRequestTarget, NoPullRequestTrigger, SameCheckName, Undecidable,
	DispatchBase, PolicyFromHead, ShallowCheckout, PermissionsUndeclared, PermissionsExcessive,
	RegistryFetch, UnownedName, CheckoutPath, NoInstall, UnpinnedAction,
}
