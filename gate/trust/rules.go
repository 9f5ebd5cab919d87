package trust

import (
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

const underEnforcement = "A warning unless the applied policy sets `trustTtl.enforce` to true."

// The rules of layer 4 (aahp-verify.md 11), in the order of that table.
var (
	ConfigInvalid = &rule.Rule{
		ID: "trust/config-invalid", Severity: report.Error,
		Title:   "The trust section of the policy is broken",
		Why:     "`trustTtl` says how long a verified fact stays verified and which programs may prove one. A section that cannot be read would silently mean the defaults: no enforcement and no checks. So the change that breaks it fails, also where another copy of the policy judges this change.",
		Remedy:  "Repair `aahp.config.json` at the place named. `trustTtl` holds no other keys than `enforce` (true or false), `graceDays` (a whole number from 0 to 365) and `checks` (objects with exactly `id`, `run` and `reason`).",
		Example: "{\"trustTtl\": {\"enforce\": \"yes\"}}",
	}
	PolicyUnavailable = &rule.Rule{
		ID: "trust/policy-unavailable", Severity: report.Error,
		Title:   "The policy that must judge the trust register could not be read",
		Why:     "The policy of the base commit decides, so that a change cannot relax the policy it is judged by. Without a base commit there is no such policy, and judging by the change's own would be the very way round it. Nothing is judged and no program runs.",
		Remedy:  "Give the gate a base commit that this clone holds; what is wrong with the present one is a finding of the layer `drift`.",
		Example: "handoff-gate verify --level ci    (no --base, no AAHP_BASE_SHA)",
	}
	RegisterMissing = &rule.Rule{
		ID: "trust/register-missing", Severity: report.Error,
		Title:   "There is no trust register",
		Why:     "Without `TRUST.md` nothing that the handoff claims as verified can be judged, and \"nothing has expired\" would be true of nothing. Deleting the register must not be a quieter way to switch enforcement off than editing the policy.",
		Remedy:  "Add `.ai/handoff/TRUST.md` with a table that has the columns Status and Expires or Check, or turn enforcement off in `aahp.config.json`.",
		Example: "ls .ai/handoff    (no TRUST.md)",
		Varies:  underEnforcement,
	}
	RegisterUnreadable = &rule.Rule{
		ID: "trust/register-unreadable", Severity: report.Error,
		Title:   "The trust register cannot be read",
		Why:     "A register that is a link, a submodule, a device, larger than 16 MiB or unreadable is never followed or cut: what another file says is no statement of this handoff. It counts as unproven, which fails whether or not expiry is enforced.",
		Remedy:  "Make `.ai/handoff/TRUST.md` a regular, readable file of at most 16 MiB.",
		Example: "ln -s ../../docs/trust.md .ai/handoff/TRUST.md",
	}
	NotEvaluated = &rule.Rule{
		ID: "trust/not-evaluated", Severity: report.Error,
		Title:   "No row of the trust register can be judged",
		Why:     "Only a row with the status `verified` and a Check or an Expires date is judged. A register without one (no table, no Status column, everything assumed or undated) is not a register in which nothing has expired, and must not look like one.",
		Remedy:  "Give the register a table with the columns Status and Expires or Check and verify at least one row, or turn enforcement off in `aahp.config.json`.",
		Example: "| Property | Status | Expires |\n|---|---|---|\n| Build passes | assumed | 2026-03-05 |",
		Varies:  underEnforcement,
	}
	Expired = &rule.Rule{
		ID: "trust/expired", Severity: report.Error,
		Title:   "A verified row is past its Expires date and its grace period",
		Why:     "Whoever reads the handoff next takes `verified` at its word. A fact that somebody established long ago is an assumption again, and work built on it inherits the mistake.",
		Remedy:  "Verify the fact again and set the row's dates anew; or write `assumed` as its status; or give it a Check that proves it in every run. Regenerating the manifest does not help: it records what the file says, not whether it is still true.",
		Example: "| DB connection | verified | 2026-02-20 | 3d | 2026-02-23 | - |",
		Varies:  underEnforcement,
	}
	ExpiredInGrace = &rule.Rule{
		ID: "trust/expired-in-grace", Severity: report.Warning,
		Title:   "A verified row is past its Expires date, within its grace period",
		Why:     "The grace period (`trustTtl.graceDays`, 14 days if not set) gives routine runs time to show that a fact has expired before it stops a change that has nothing to do with it.",
		Remedy:  "Do before the grace period ends what `trust/expired` asks for: verify again and reset the dates, write `assumed`, or give the row a Check.",
		Example: "| Build passes | verified | 2026-02-26 | 7d | 2026-03-05 | - |    (on 2026-03-10)",
	}
	Undated = &rule.Rule{
		ID: "trust/undated", Severity: report.Warning,
		Title:   "A verified row has neither a date nor a check",
		Why:     "A fact that is verified for ever can never be found out of date. An Expires cell counts only when it is exactly YYYY-MM-DD; text beside the date makes it none.",
		Remedy:  "Write a date as YYYY-MM-DD into the Expires cell, or the name of a check into the Check cell.",
		Example: "| DB connection | verified | 2026-02-20 | 3d | 2026-02-23 (EXPIRED) | - |",
	}
	CheckFailed = &rule.Rule{
		ID: "trust/check-failed", Severity: report.Error,
		Title:   "The check of a verified row does not pass",
		Why:     "The row says that the fact is proven by the check it names, and the check says otherwise now. There is no grace: whatever its date, the statement is false.",
		Remedy:  "Mend what the check reports, or write another status than `verified`. Regenerating the manifest does not help.",
		Example: "| LICENSE matches the declared license | verified | 2026-09-28 | 30d | 2026-10-28 | license-matches |",
		Varies:  underEnforcement,
	}
	CheckTimeout = &rule.Rule{
		ID: "trust/check-timeout", Severity: report.Error,
		Title:   "The check of a verified row did not end within 120 seconds",
		Why:     "A check that does not answer proves nothing. It was ended together with every process of its group.",
		Remedy:  "Make the check finish within 120 seconds: prove the fact from the files at hand, without network and without a build.",
		Example: "{\"id\": \"all-tests\", \"run\": [\"make\", \"test\"], \"reason\": \"The tests pass.\"}",
		Varies:  underEnforcement,
	}
	CheckUnknown = &rule.Rule{
		ID: "trust/check-unknown", Severity: report.Error,
		Title:   "The check of a verified row is not known",
		Why:     "A Check cell is a name and never a command. It is looked up among the built-in checks and in `trustTtl.checks` of the policy; a name found in neither proves nothing, and nothing is run for it.",
		Remedy:  "Use a built-in check (`license-matches`, `manifest-integrity`) or declare the name in `trustTtl.checks` of `aahp.config.json`.",
		Example: "| Tests pass | verified | 2026-09-28 | 7d | 2026-10-05 | tests-pass |    (declared nowhere)",
		Varies:  underEnforcement,
	}
	CheckIDInvalid = &rule.Rule{
		ID: "trust/check-id-invalid", Severity: report.Error,
		Title:   "The Check cell of a verified row is not a name",
		Why:     "The register is text that agents write. Were a cell run as a command, whoever can edit the handoff could run anything in CI. So a cell is the name of a reviewed check: at most 64 lower-case letters, digits and hyphens.",
		Remedy:  "Write the name of a check, in lower-case letters, digits and hyphens. It is a name, not a command; the command belongs in `trustTtl.checks` of `aahp.config.json`.",
		Example: "| Tests pass | verified | 2026-09-28 | 7d | 2026-10-05 | make test |",
		Varies:  underEnforcement,
	}
	CheckPending = &rule.Rule{
		ID: "trust/check-pending", Severity: report.Warning,
		Title:   "The check of a verified row is declared by this change only",
		Why:     "The policy of the base judges a change, so a change cannot bring a new program and have it run in the same step. Until its policy is merged the row counts as check-backed and is not judged.",
		Remedy:  "Nothing needs to change: the row is judged once the policy that declares its check is merged.",
		Example: "One pull request adds the id `lock-fresh` to `trustTtl.checks` and a row that names it.",
	}
	ChecksNotRun = &rule.Rule{
		ID: "action/checks-not-run", Severity: report.Error,
		Title:   "A declared check was not run in this workflow run",
		Why:     "A declared check runs programs of the checkout. On events that hand a workflow secrets for somebody else's code, and where the input `checks` is `off`, none is started. The row counts as check-backed and is not judged, and where the policy enforces trust that blocks, since nothing was proved.",
		Remedy:  "Let a workflow on `pull_request`, `push` or `merge_group` with `checks: on` judge the register, or use a built-in check.",
		Example: "on: pull_request_target    (with a row whose Check is declared in trustTtl.checks)",
		Varies:  "A notice unless the applied policy sets `trustTtl.enforce` to true.",
	}
)

// Rules are the rows of this layer in the table of all rules.
var Rules = []*rule.Rule{
	ConfigInvalid, PolicyUnavailable, RegisterMissing, RegisterUnreadable, NotEvaluated, Expired, ExpiredInGrace,
	Undated, CheckFailed, CheckTimeout, CheckUnknown, CheckIDInvalid, CheckPending, ChecksNotRun,
}
