package drift

import (
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// The rules of the layer (aahp-verify.md 11).
var (
	NotARepository = &rule.Rule{
		ID: "drift/not-a-repository", Severity: report.Error,
		Title:   "The project is not in a git repository",
		Why:     "Whether a change updates its handoff can only be told by comparing two states of the project, and only git has both. Without a repository the question stays open, and an open question does not pass.",
		Remedy:  "Run the gate on a checkout that has its .git. A source archive without history cannot be judged.",
		Example: "handoff-gate verify on a folder that was unpacked from a release archive.",
	}
	HeadMissing = &rule.Rule{
		ID: "drift/head-missing", Severity: report.Error,
		Title:   "HEAD names no commit",
		Why:     "A repository without a first commit has no state that could be pushed or merged, so there is nothing to compare a base with. Only the level precommit can judge such a repository: there every staged file counts as added.",
		Remedy:  "Make the first commit, then run the gate again.",
		Example: "handoff-gate verify --level full right after git init.",
	}
	BaseRequired = &rule.Rule{
		ID: "drift/base-required", Severity: report.Error,
		Title:   "No base commit was given at level ci",
		Why:     "In CI the base decides what counts as the change. A guess, such as the parent of HEAD, would judge a part of a pull request and let the rest through, so none is made.",
		Remedy:  "Pass the base commit's id with --base or AAHP_BASE_SHA: the pull request's base, or of a push the commit before it. A workflow_dispatch run needs a required input for it.",
		Example: "handoff-gate verify --level ci in a manual run, with AAHP_BASE_SHA empty because the event carries no base.",
	}
	BaseMalformed = &rule.Rule{
		ID: "drift/base-malformed", Severity: report.Error,
		Title:   "The base is not a commit id",
		Why:     "A branch or tag name means something else tomorrow, and an expression such as HEAD~1 means something else after a force push. A text that is not plain hex digits could also be read by git as an option.",
		Remedy:  "Pass 7 to 64 hex digits of a commit's id (in the Action: the full id).",
		Example: "handoff-gate verify --level ci --base main",
	}
	BaseZero = &rule.Rule{
		ID: "drift/base-zero", Severity: report.Error,
		Title:   "The base is the all-zero id",
		Why:     "GitHub sends zeros where there is no commit before a push: on a new branch. Zeros name no commit, and comparing with nothing would be comparing nothing.",
		Remedy:  "For a new branch pass the commit that it left from.",
		Example: "AAHP_BASE_SHA taken from github.event.before on the first push of a branch.",
	}
	BaseMissing = &rule.Rule{
		ID: "drift/base-missing", Severity: report.Error,
		Title:   "The base names no commit of this clone",
		Why:     "The base must be a commit whose id begins with the given digits. A branch that merely has such a name, an ambiguous abbreviation, the id of a blob, tree or annotated tag, or a commit that this clone does not have leaves nothing to compare with.",
		Remedy:  "Fetch the commit (in a shallow clone: fetch-depth: 0, or git fetch of that one id), or pass the id of a commit that exists.",
		Example: "A checkout of depth 1 and the base of a pull request.",
	}
	BaseIsHead = &rule.Rule{
		ID: "drift/base-is-head", Severity: report.Error,
		Title:   "The base is HEAD itself",
		Why:     "Compared with itself HEAD has no change, so the gate would pass whatever was committed. In CI that is a mistake in the workflow, never a result.",
		Remedy:  "Pass the commit before the change: the pull request's base, or of a push the commit before it.",
		Example: "AAHP_BASE_SHA: ${{ github.sha }}",
	}
	DiffFailed = &rule.Rule{
		ID: "drift/diff-failed", Severity: report.Error,
		Title:   "The two sides of the change cannot be compared",
		Why:     "git failed to compare the trees, or this clone lacks a tree or a file that must be read for it. An unknown change set is never taken for an empty one.",
		Remedy:  "Make git able to compare the two; its message is quoted. In a partial or shallow clone fetch what is missing.",
		Example: "A partial clone (filter: blob:none) without access to its remote.",
	}
	ConfigUntracked = &rule.Rule{
		ID: "drift/config-untracked", Severity: report.Error,
		Title:   "aahp.config.json is not tracked by git",
		Why:     "A policy that is only in the working tree was reviewed by nobody and is not part of what is committed. Until it is tracked nothing is exempt.",
		Remedy:  "Add it to git, or remove it.",
		Example: "aahp.config.json was written and listed in .gitignore.",
	}
	ConfigNotRegular = &rule.Rule{
		ID: "drift/config-not-regular", Severity: report.Error,
		Title:   "aahp.config.json is not a regular file",
		Why:     "A link, a submodule or an unmerged entry in the policy's place can change its meaning without the policy being changed.",
		Remedy:  "Make it a regular file that git tracks.",
		Example: "aahp.config.json -> shared/policy.json",
	}
	ConfigUnstaged = &rule.Rule{
		ID: "drift/config-unstaged", Severity: report.Error,
		Title:   "aahp.config.json differs from what is judged",
		Why:     "The policy in the working tree is another than the one in the index (at ci: in the commit), or it is gone from there. Whoever reads the file sees another policy than the one that judges.",
		Remedy:  "Stage the change (at ci: commit it), or discard it.",
		Example: "A reviewed file was added to the list and the edit was not staged.",
	}
	ConfigInvalid = &rule.Rule{
		ID: "drift/config-invalid", Severity: report.Error,
		Title:   "aahp.config.json breaks a rule",
		Why:     "A policy that cannot be read in exactly one way must not exempt anything: a key given twice, a path with a pattern or a review without a reason each leave open what was reviewed. It fails in the change that breaks it, also where the base's policy is the one applied.",
		Remedy:  "Correct the place that the message names. The file is strict JSON; handoffImpact has nonImpactingModifiedFiles and npmDevDependencyUpdates, and every entry a reason.",
		Example: `{"handoffImpact": {"nonImpactingModifiedFiles": [{"file": "docs/*", "reason": "Docs."}]}}`,
	}
	BaseConfigInvalid = &rule.Rule{
		ID: "drift/base-config-invalid", Severity: report.Warning,
		Title:   "aahp.config.json of the base breaks a rule",
		Why:     "The base's policy is the one to judge this change, and it cannot be used. The built-in policy takes its place, so that a change that repairs the file can pass; nothing is exempt meanwhile.",
		Remedy:  "Merge a sound policy; until then update the handoff with every change.",
		Example: "The policy on the main branch was merged before the gate was required.",
	}
	PolicyChanged = &rule.Rule{
		ID: "drift/policy-changed", Severity: report.Notice,
		Title:   "The change edits the policy",
		Why:     "Where the base's policy is applied, a change cannot relax the policy that judges it. The notice says that what was judged by and what takes effect after the merge are two policies.",
		Remedy:  "Nothing is to be done; review the new policy.",
		Example: "A pull request that switches trustTtl.enforce off.",
	}
	ReviewedPathDirectory = &rule.Rule{
		ID: "drift/reviewed-path-directory", Severity: report.Error,
		Title:   "A reviewed path is a folder",
		Why:     "A review is for one file whose role is known. A folder would exempt files that nobody has seen yet.",
		Remedy:  "List exact files.",
		Example: `{"file": "docs", "reason": "Docs only."}`,
	}
	ReviewedPathUntracked = &rule.Rule{
		ID: "drift/reviewed-path-untracked", Severity: report.Error,
		Title:   "A reviewed path is not tracked",
		Why:     "An entry for a file that does not exist is a misspelling or a leftover, and it would silently exempt whatever comes to that name later. A file that is deleted leaves the list in the same change.",
		Remedy:  "Remove the entry, or correct its spelling; list only tracked files.",
		Example: `{"file": ".github/dependabot.yaml", "reason": "A schedule."} where the file is named dependabot.yml`,
	}
	ReviewedPathNotRegular = &rule.Rule{
		ID: "drift/reviewed-path-not-regular", Severity: report.Error,
		Title:   "A reviewed path is not a regular file",
		Why:     "The content of a link or a submodule is somewhere else, so a review of its name says nothing about what changes.",
		Remedy:  "List only regular files.",
		Example: `{"file": "vendor/tool", "reason": "A tool."} where vendor/tool is a submodule`,
	}
	ReviewedModeChange = &rule.Rule{
		ID: "drift/reviewed-mode-change", Severity: report.Warning,
		Title:   "A reviewed file's mode changed",
		Why:     "A review covers content alone. A file that becomes executable is another kind of change, so it stays impacting.",
		Remedy:  "Undo the mode change, or update the handoff with it.",
		Example: "chmod +x on a reviewed file.",
	}
	ReviewedNonImpacting = &rule.Rule{
		ID: "drift/reviewed-non-impacting", Severity: report.Notice,
		Title:   "A reviewed file was modified",
		Why:     "The policy lists this exact file as one whose content describes no state of the product, with a reason. Each time that is used it is said, so that a reviewer can disagree.",
		Remedy:  "Nothing is to be done if the reason still holds.",
		Example: ".github/dependabot.yml: Reviewed as non-impacting: dependency scheduling describes no product state.",
	}
	HandoffNotUpdated = &rule.Rule{
		ID: "drift/handoff-not-updated", Severity: report.Error,
		Title:   "Files changed, but the handoff did not",
		Why:     "Whoever continues from here, person or agent, reads the handoff first. A change without it leaves them with a description of an older state that still looks current. STATUS.md and MANIFEST.json must both have new content; a mode change, line ends alone, a copy or a deletion do not count, nor at ci what is merely staged.",
		Remedy:  "Describe the change in STATUS.md, regenerate the manifest, and commit both with it. A file that never describes product state can be listed in aahp.config.json, with a reason.",
		Example: "Handoff-impacting files changed but handoff state did not: no new content in STATUS.md and MANIFEST.json. Impacting changes:\nM src/app.go",
	}
	NPMScanUnproven = &rule.Rule{
		ID: "drift/npm-scan-unproven", Severity: report.Error,
		Title:   "The supply-chain scan is not proven to run on pull requests",
		Why:     "npm development updates are exempt because a scanner looks at them instead. When its workflow is gone, no longer runs on pull_request, has the job no more, makes it conditional on something else or lets it fail, the exemption has lost its ground. It is proven in every run, so the change that disables the scanner is the one that fails.",
		Remedy:  "Point supplyChainScan at a workflow and a job that run on pull_request, or drop npmDevDependencyUpdates. The proof reads text: the job's if must name pull_request, continue-on-error must be absent or false, and aliases are not followed.",
		Example: "jobs:\n  scan:\n    if: always()",
	}
	NPMDevUpdate = &rule.Rule{
		ID: "drift/npm-dev-update", Severity: report.Notice,
		Title:   "An npm devDependency update needed no handoff",
		Why:     "By its content, never by its author, the change only moves development packages from the npm registry, and the policy exempts that with a reason. Whether the scanner's job is a required check cannot be seen from the repository.",
		Remedy:  "Nothing is to be done if the reason still holds; make the scanner's job a required check.",
		Example: "A bot raises a linter from 1.0.0 to 1.0.1 in package-lock.json.",
	}
)

// The reasons why an npm update is not exempt (aahp-verify.md 6.2), in the
// order of the specification.
var (
	NPMOtherFiles = npmRule("npm-other-files", "Other files changed too",
		"The exemption is for package-lock.json, with package.json at most. Any other file outside the handoff folder is something a handoff may have to describe.",
		"A dependency update that also edits src/index.js.")
	NPMMode = npmRule("npm-mode", "The lock file's or manifest's mode is not 100644",
		"Lock file and manifest must be plain files before and after. An executable or a link in their place is not a content update.",
		"package-lock.json became executable.")
	NPMLockInvalid = npmRule("npm-lock-invalid", "The lock file is not one of version 3",
		"Both sides must be JSON objects without equal keys, with packages an object and lockfileVersion 3. Versions 1 and 2 have a second list of packages, and readers disagree about equal keys.",
		`"lockfileVersion": 2`)
	NPMLockTopLevel = npmRule("npm-lock-top-level", "The lock file's top level changed",
		"Only packages may differ. Its other members describe the project, not its development tools.",
		`"requires": true was removed.`)
	NPMNoPackageChange = npmRule("npm-no-package-change", "No package entry changed",
		"The lock file was modified, but no installed package. That is not a dependency update.",
		"The lock file was only indented differently.")
	NPMEntryNotPackage = npmRule("npm-entry-not-package", "A changed entry is no installed package",
		"An entry whose key does not begin with node_modules/ is a workspace: code of this repository.",
		`"packages/web": {"version": "1.1.0"}`)
	NPMEntryNotDev = npmRule("npm-entry-not-dev", "A changed entry is not a development dependency",
		"A package that runs in the product, before or after the change, changes the product. An entry that becomes dev was none before.",
		`"node_modules/left": {"version": "2.0.0"} without "dev": true`)
	NPMEntryLink = npmRule("npm-entry-link", "A changed entry is a link",
		"A linked package is a folder of this repository or beside it, not a package of the registry.",
		`"node_modules/web": {"resolved": "packages/web", "link": true}`)
	NPMEntryInstallScript = npmRule("npm-entry-install-script", "A changed entry has an install script",
		"An install script runs on every machine that installs, developers' included, before any scanner of the result can speak.",
		`"hasInstallScript": true`)
	NPMEntryIntegrity = npmRule("npm-entry-integrity", "A changed entry has no sound integrity",
		"Without a SHA-256, SHA-384 or SHA-512 digest the package's bytes are not pinned.",
		`"integrity": "sha1-…"`)
	NPMEntryRegistry = npmRule("npm-entry-registry", "A changed entry does not come from its own place in the npm registry",
		"The address must be the public registry's, for the very package that the entry names. Another host, another package or an encoded path is another supplier.",
		`"resolved": "https://example.com/tool.tgz"`)
	NPMManifestChanged = npmRule("npm-manifest-changed", "The manifest changed beyond versions of devDependencies",
		"package.json and the lock's root entry may differ only in the values of devDependencies: a script, a runtime dependency, a file list or another set of tools is a change of the project.",
		`"scripts": {"postinstall": "node x.js"}`)
	NPMSpecifier = npmRule("npm-specifier", "A changed specifier is not a plain version",
		"A range, tag, URL, git, file:, npm: or workspace: specifier does not say which package will come. Plain versions such as 1.2.3, ^1.2.3, ~1.2.3 do.",
		`"tool": "latest"`)
)

func npmRule(name, title, why, example string) *rule.Rule {
	return &rule.Rule{
		ID: "drift/" + name, Severity: report.Notice, Title: title,
		Why:     why + " The change is then judged like any other.",
		Remedy:  "Update the handoff with the change, or leave the named part out of it.",
		Example: example,
	}
}

// Rules are all rules of the layer.
var Rules = []*rule.Rule{
	NotARepository, HeadMissing, BaseRequired, BaseMalformed, BaseZero, BaseMissing, BaseIsHead, DiffFailed,
	ConfigUntracked, ConfigNotRegular, ConfigUnstaged, ConfigInvalid, BaseConfigInvalid, PolicyChanged,
	ReviewedPathDirectory, ReviewedPathUntracked, ReviewedPathNotRegular, ReviewedModeChange, ReviewedNonImpacting,
	HandoffNotUpdated, NPMScanUnproven, NPMDevUpdate,
	NPMOtherFiles, NPMMode, NPMLockInvalid, NPMLockTopLevel, NPMNoPackageChange, NPMEntryNotPackage, NPMEntryNotDev,
	NPMEntryLink, NPMEntryInstallScript, NPMEntryIntegrity, NPMEntryRegistry, NPMManifestChanged, NPMSpecifier,
}
