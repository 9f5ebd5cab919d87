package githubapi

import (
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// The rules of the action about the event and the checkout (github-action.md 3,
// interface.md for ProjectRemoved). Their findings stand on a project's
// MANIFEST.json, in layer drift.
var (
	PayloadUnreadable = &rule.Rule{
		ID:       "action/payload-unreadable",
		Severity: report.Error,
		Title:    "The event's payload cannot be read, or lacks a field that the event needs",
		Why: "The payload says which commits are under review. Without it the gate would have to guess, and a wrong guess compares the wrong commits and " +
			"passes a change that nobody looked at.",
		Remedy: "Run the action in a workflow on GitHub, which writes the payload. With `act`, pass an event file that has the field named in the message.",
		Example: "A push event without `before`:\n\n" +
			"    In the payload of the event push the field before is missing; expected: a commit id of 40 hexadecimal digits.",
	}
	WrongCheckout = &rule.Rule{
		ID:       "action/wrong-checkout",
		Severity: report.Error,
		Title:    "What is checked out is not what the event is about",
		Why: "The gate judges the commit that is checked out. On pull_request_target, for one, actions/checkout takes the target branch unless it is told " +
			"otherwise: verified would be what is merged already, and every pull request would pass.",
		Remedy: "Check out the commit under review: drop `ref:` from actions/checkout, or give it the `ref:` that the message names.",
		Example: "A workflow on pull_request_target with the default checkout. Repaired:\n\n" +
			"    - uses: actions/checkout@<commit id>\n      with: {ref: \"${{ github.event.pull_request.head.sha }}\"}",
	}
	HeadBehindBase = &rule.Rule{
		ID:       "action/head-behind-base",
		Severity: report.Error,
		Title:    "The pull request's head does not contain the base it is measured from",
		Why: "Compared with a newer target branch, the branch's older STATUS.md differs from the target's although the author never touched it, so the handoff " +
			"looks updated when it is not; and other people's newer work counts as undone by this change.",
		Remedy: "Check out the merge commit (drop `ref:` from actions/checkout), or bring the branch up to date with its target, or pass `base`. " +
			"Where the history is cut so that it cannot be told, check out with `fetch-depth: 0`.",
		Example: "The branch left main at 1a2b…, main has moved on to 3c4d…, and the workflow checks out `github.event.pull_request.head.sha`.",
	}
	BaseMoved = &rule.Rule{
		ID:       "action/base-moved",
		Severity: report.Notice,
		Title:    "The target branch has moved on since the event's payload was written",
		Why: "The payload's base is often older than the commit on which GitHub built the merge commit of the same run. Measured from the older one, other people's " +
			"merged work and their handoff update would count as this change's. So the merge commit's first parent is used, and both ids are named.",
		Remedy:  "Nothing is to be done.",
		Example: "    The base has moved on: pull_request.base.sha is 1a2b…, but GitHub built the merge commit on 3c4d…, which is used.",
	}
	ProjectRemoved = &rule.Rule{
		ID:       "action/project-removed",
		Severity: report.Error,
		Title:    "A project lost its handoff folder while the rest of it stayed",
		Why: "With a glob or `auto` the projects to verify are found by their manifest. A change that deletes the manifest would take its project out of the gate, " +
			"so a folder that the base knows as a project must be a project still, or be gone altogether.",
		Remedy: "Restore the project's `.ai/handoff` folder, or remove the rest of the project too.",
		Example: "`packages/api/.ai/handoff/MANIFEST.json` is deleted, `packages/api/main.go` is not. Repaired:\n\n" +
			"    git checkout BASE -- packages/api/.ai/handoff",
	}
)

// Rules are the rows of this package in the table of rules.
var Rules = []*rule.Rule{PayloadUnreadable, WrongCheckout, HeadBehindBase, BaseMoved, ProjectRemoved}
