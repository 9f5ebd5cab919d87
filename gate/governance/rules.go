package governance

import (
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// Rules of the configuration and of the commands as a whole.
var (
	Unreadable = &rule.Rule{
		ID:       "config/unreadable",
		Severity: report.Error,
		Title:    "aahp.config.json cannot be read",
		Why: "The gates that a project has asked for are written in this file. A folder or a symbolic link in its place, or a " +
			"file over 1 MiB, is not read, and a gate that reads nothing must not say that nothing was asked for.",
		Remedy:  "Make aahp.config.json a regular JSON file of at most 1 MiB that the gate may read. It may not be a symbolic link.",
		Example: "aahp.config.json -> ../shared/aahp.config.json",
	}
	InvalidJSON = &rule.Rule{
		ID:       "config/invalid-json",
		Severity: report.Error,
		Title:    "aahp.config.json is not JSON",
		Why: "Gates are chosen by the presence of keys. A file that breaks off or holds comments has no keys that could be " +
			"relied on, so no gate is evaluated until it is mended.",
		Remedy: "Correct the file at the line. It must be one JSON document in UTF-8, without comments, without a comma before a " +
			"closing bracket, without a byte order mark, and nested at most 64 deep.",
		Example: `{"docLinks": {},` + "\n}",
	}
	DuplicateKey = &rule.Rule{
		ID:       "config/duplicate-key",
		Severity: report.Error,
		Title:    "An object of aahp.config.json has a key twice",
		Why: "JSON does not say which of two equal keys counts. A second, empty section further down switches off for one " +
			"reader what the first has switched on for a reviewer.",
		Remedy:  "Keep one of the two members.",
		Example: `{"claims": [{"id": "rules"}], "docLinks": {}, "claims": []}`,
	}
	SchemaRule = &rule.Rule{
		ID:       "config/schema",
		Severity: report.Error,
		Title:    "aahp.config.json breaks a constraint of its schema",
		Why: "A misspelt key reads as a section that was never written, so the gate that somebody asked for would be skipped " +
			"and nothing would say so. While the file has such an error no gate is evaluated.",
		Remedy:  "Correct the place that the message names: rename the key to the one proposed, or see the schema.",
		Example: `{"forbiddenPaterns": [{"pattern": "TODO"}]}` + "\n\n" + `/forbiddenPaterns: (root) has the unknown key "forbiddenPaterns"; did you mean "forbiddenPatterns"?`,
	}
	UnknownGate = &rule.Rule{
		ID:       "config/unknown-gate",
		Severity: report.Error,
		Title:    "check.only or check.skip names a gate that there is not",
		Why: "With a misspelt id the wrong gates run: one that was to be left out stays in, or, under check.only, the one that " +
			"was wanted does not run.",
		Remedy:  "Name gates among changelog, changelog-format, version-sync, claims, forbidden-patterns, schema-doc-sync, doc-links and handoff.",
		Example: `{"check": {"only": ["doc-link"]}}`,
	}
	PathEscape = &rule.Rule{
		ID:       "config/path-escape",
		Severity: report.Error,
		Title:    "A path in aahp.config.json leads out of the project",
		Why: "Whoever proposes a change writes the configuration. A path that leaves the project, by itself or through a " +
			"symbolic link, would have the gate read a file of the machine it runs on and quote it in a report.",
		Remedy:  "Write a path inside the project: relative, without a drive, and not through a link that leads elsewhere.",
		Example: `{"versionSites": [{"file": "../other/VERSION"}]}`,
	}
	GateRemoved = &rule.Rule{
		ID:       "config/gate-removed",
		Severity: report.Warning,
		Title:    "The change switches off a gate that the base has on",
		Why: "The configuration that judges a change is the change's own, as a pattern and the text it describes change " +
			"together. A change may drop a gate; that it does must be seen by whoever reviews it.",
		Remedy:  "Restore the section or the selection, or have the removal reviewed.",
		Example: "The base has \"docLinks\": {} in aahp.config.json, and the change removes it.",
	}
	NotEvaluated = &rule.Rule{
		ID:       "check/not-evaluated",
		Severity: report.Error,
		Title:    "No gate of check ran",
		Why: "Every gate was deselected or lacks its input, so nothing was proved. A run that proves nothing is no pass: " +
			"a pipeline would show it green for as long as the configuration stays empty.",
		Remedy:  "Configure or select at least one gate, or run no governance check here.",
		Example: `{"check": {"only": []}}`,
	}
)

// Rules of the gates changelog and changelog-format.
var (
	MissingVersion = &rule.Rule{
		ID:       "changelog/missing-version",
		Severity: report.Error,
		Title:    "The version of package.json has no entry in CHANGELOG.md",
		Why:      "A version is released with what it changes, or users learn of the change when something breaks.",
		Remedy:   "Add the heading ## [VERSION] - YYYY-MM-DD below Unreleased, and its reference link.",
		Example:  "package.json has the version 2.1.0, and the newest heading of CHANGELOG.md is ## [2.0.0] - 2026-02-01.",
	}
	BadHeading = &rule.Rule{
		ID:       "changelog/bad-heading",
		Severity: report.Error,
		Title:    "A heading of CHANGELOG.md is neither Unreleased nor a release",
		Why: "Tools find releases by their headings. One with a v before the number, without brackets or without a date is " +
			"passed over, and its changes are counted to the release above.",
		Remedy:  "Write ## [Unreleased], or ## [X.Y.Z] - YYYY-MM-DD with exactly one hyphen between blanks.",
		Example: "## [v2.0.0] - 2026-02-01",
	}
	NoReleases = &rule.Rule{
		ID:       "changelog/no-releases",
		Severity: report.Error,
		Title:    "CHANGELOG.md has no release",
		Why:      "A changelog without a release heading says of no version what is in it.",
		Remedy:   "Add a heading ## [X.Y.Z] - YYYY-MM-DD for each release, the newest first.",
		Example:  "# Changelog\n\nNothing yet.",
	}
	UnreleasedPosition = &rule.Rule{
		ID:       "changelog/unreleased-position",
		Severity: report.Error,
		Title:    "Unreleased is not the first section of CHANGELOG.md",
		Why:      "The newest stands first. Below a release, what is not yet released reads as a part of the history.",
		Remedy:   "Move ## [Unreleased] above every release.",
		Example:  "## [2.0.0] - 2026-02-01\n\n## [Unreleased]",
	}
	UnreleasedDuplicate = &rule.Rule{
		ID:       "changelog/unreleased-duplicate",
		Severity: report.Error,
		Title:    "CHANGELOG.md has a second Unreleased",
		Why:      "It is what a merge leaves behind. The release takes one of the two along and the other is forgotten.",
		Remedy:   "Join the two sections into the first.",
		Example:  "## [Unreleased]\n\n### Added\n- one\n\n## [Unreleased]\n\n### Added\n- two",
	}
	InvalidDate = &rule.Rule{
		ID:       "changelog/invalid-date",
		Severity: report.Error,
		Title:    "A release of CHANGELOG.md has a date that does not exist",
		Why:      "The date says when users could have the release. One that no calendar has was typed by mistake or made up.",
		Remedy:   "Write the day of the release as YYYY-MM-DD.",
		Example:  "## [2.0.0] - 2026-02-30",
	}
	FutureDate = &rule.Rule{
		ID:       "changelog/future-date",
		Severity: report.Error,
		Title:    "A release of CHANGELOG.md is dated after today",
		Why:      "What will be released is Unreleased. Days are compared in UTC.",
		Remedy:   "Write the day of the release, or keep the changes below Unreleased until then.",
		Example:  "## [2.0.0] - 2199-01-01",
	}
	UnknownSection = &rule.Rule{
		ID:       "changelog/unknown-section",
		Severity: report.Error,
		Title:    "A section of CHANGELOG.md has a name outside the list",
		Why: "Keep a Changelog has six kinds of change, so that a reader who looks for what was removed, or for security " +
			"fixes, looks in one place.",
		Remedy:  "Name the section Added, Changed, Deprecated, Removed, Fixed or Security.",
		Example: "### Improved",
	}
	DuplicateVersion = &rule.Rule{
		ID:       "changelog/duplicate-version",
		Severity: report.Error,
		Title:    "Two releases of CHANGELOG.md in a row have the same number",
		Why: "Pre-release suffixes do not count here: 1.0.0 above 1.0.0-rc.1 is the same number, as users of the release want " +
			"one list of its changes.",
		Remedy:  "Join the two sections, or correct the number of one.",
		Example: "## [1.0.0] - 2026-02-01\n\n## [1.0.0-rc.1] - 2026-01-15",
	}
	Order = &rule.Rule{
		ID:       "changelog/order",
		Severity: report.Error,
		Title:    "A release of CHANGELOG.md stands below an older one",
		Why:      "The newest stands first. Out of order, the first release is not the current one.",
		Remedy:   "Order the releases by version, the greatest first.",
		Example:  "## [1.0.0] - 2026-01-01\n\n## [2.0.0] - 2026-02-01",
	}
	TopVersion = &rule.Rule{
		ID:       "changelog/top-version",
		Severity: report.Error,
		Title:    "The first release of CHANGELOG.md is not the version of package.json",
		Why:      "One of the two was forgotten when the version was raised. A release made from this commit would contradict itself.",
		Remedy:   "Add the section of the version that package.json has, or correct package.json.",
		Example:  "package.json has the version 2.1.0, and the first release heading is ## [2.0.0] - 2026-02-01.",
	}
	MissingLink = &rule.Rule{
		ID:       "changelog/missing-link",
		Severity: report.Error,
		Title:    "A version of CHANGELOG.md has no reference link",
		Why:      "The brackets promise a link to the comparison or the release. Without its line the heading shows them literally.",
		Remedy:   "Add a line [X.Y.Z]: https://… of its own, with nothing after the address.",
		Example:  "## [2.0.0] - 2026-02-01, and no line that begins with [2.0.0]: https://",
	}
	BOM = &rule.Rule{
		ID:       "changelog/bom",
		Severity: report.Error,
		Title:    "CHANGELOG.md begins with a byte order mark",
		Why:      "UTF-8 needs none, and readers that do not expect it see three characters before the first heading.",
		Remedy:   "Save the file as UTF-8 without a byte order mark.",
		Example:  "EF BB BF 23 20 43 …",
	}
	Encoding = &rule.Rule{
		ID:       "changelog/encoding",
		Severity: report.Error,
		Title:    "CHANGELOG.md is not valid UTF-8",
		Why:      "What is not UTF-8 reads differently from tool to tool, up to the name of a version.",
		Remedy:   "Save the file as UTF-8.",
		Example:  "A file in Latin-1, with the byte E9 for é.",
	}
)

// Rules of the gate version-sync, and of package.json.
var (
	VersionMismatch = &rule.Rule{
		ID:       "version/mismatch",
		Severity: report.Error,
		Title:    "A file does not repeat the version often enough",
		Why: "Installation commands, badges and lock files repeat the version. One that was left behind installs the old " +
			"release for as long as nobody looks.",
		Remedy:  "Set the version there. The message names what was found and what is expected.",
		Example: "README.md holds 1.2.3 0 times and should hold it once; it holds 1.2.2.",
	}
	MissingSite = &rule.Rule{
		ID:       "version/missing-file",
		Severity: report.Error,
		Title:    "A version site does not exist",
		Why:      "The file was moved or removed, and with it the check that its version is right.",
		Remedy:   "Restore the file, correct its path, or drop the site from versionSites.",
		Example:  `{"versionSites": [{"file": "docs/install.md"}]}`,
	}
	TagMismatch = &rule.Rule{
		ID:       "version/tag-mismatch",
		Severity: report.Error,
		Title:    "The tag is of another version than package.json",
		Why:      "Whoever installs a release by its tag gets another version than the one that the package states, and its changelog is that of another. A tag that was published cannot be taken back.",
		Remedy:   "Delete the tag, set the version in package.json and the changelog, and tag again.",
		Example:  `The tag v1.4.0 on a commit whose package.json says "version": "1.3.9".`,
	}
	PackageJSON = &rule.Rule{
		ID:       "version/package-json",
		Severity: report.Error,
		Title:    "package.json has no version that could be read",
		Why:      "Several gates compare with the version of package.json. Without one they can prove nothing.",
		Remedy:   "Give package.json a version string.",
		Example:  `{"name": "sample", "version": 2}`,
	}
)

// Rules of the gate claims.
var (
	ClaimPattern = &rule.Rule{
		ID:       "claims/invalid-pattern",
		Severity: report.Error,
		Title:    "The pattern of a claim cannot be used",
		Why: "Patterns are JavaScript's, matched in linear time, without lookaround and backreferences. One that cannot be " +
			"translated exactly is refused rather than approximated. A claim needs the flag g and a group that holds the number.",
		Remedy:  "Correct the construct that the message names.",
		Example: `"phrase": "(?<=has )(\\d+) rules"`,
	}
	MissingSurface = &rule.Rule{
		ID:       "claims/missing-surface",
		Severity: report.Error,
		Title:    "A file that should state a number does not exist",
		Why:      "The file was moved or removed, and the number in it is no longer compared.",
		Remedy:   "Restore the file, correct its path, or drop the surface.",
		Example:  `"surfaces": [{"file": "docs/overview.md"}]`,
	}
	NoMatch = &rule.Rule{
		ID:       "claims/no-match",
		Severity: report.Error,
		Title:    "A file that should state a number does not",
		Why:      "The sentence was reworded, and the pattern finds it no more. The number may be wrong now or later without notice.",
		Remedy:   "Correct the text, the phrase, or drop the surface.",
		Example:  `README.md has nothing that matches (\d+)\+ rules.`,
	}
	WrongNumber = &rule.Rule{
		ID:       "claims/wrong-number",
		Severity: report.Error,
		Title:    "The documentation states another number than is advertised",
		Why:      "One of several places that state the number was forgotten when it changed.",
		Remedy:   "Correct the number in the text, or the advertised one in every place.",
		Example:  `README.md says 200+ rules, and "advertised" is 350.`,
	}
	ExceedsFloor = &rule.Rule{
		ID:       "claims/exceeds-floor",
		Severity: report.Error,
		Title:    "The advertised number is greater than what was counted",
		Why:      "The script counts what is there. The documentation promises more.",
		Remedy:   "Lower the advertised number, and the texts, to what the script counts.",
		Example:  `"advertised" is 350, and the floor script printed 349.`,
	}
	FloorPath = &rule.Rule{
		ID:       "claims/floor-path",
		Severity: report.Error,
		Title:    "floorCmd is not the path of a script of this project",
		Why: "It is the only thing of the configuration that can be executed, so it is no command line: it names one regular " +
			"file inside the project that git tracks and a reviewer has seen.",
		Remedy:  "Name a script of the project by its relative path, and commit it.",
		Example: `"floorCmd": "node scripts/count.mjs"`,
	}
	FloorNotEvaluated = &rule.Rule{
		ID:       "claims/floor-not-evaluated",
		Severity: report.Error,
		Title:    "A claim with a floor was not proven",
		Why: "The script that counts runs only with --allow-exec and where node is. Without it the number is not proven, and " +
			"what is not proven does not pass.",
		Remedy:  "Run handoff-gate check --allow-exec where node is, or deselect claims with check.skip or the input governance-skip.",
		Example: `"floorCmd": "scripts/count.mjs", in the action, which executes nothing.`,
	}
	FloorFailed = &rule.Rule{
		ID:       "claims/floor-failed",
		Severity: report.Error,
		Title:    "The script that counts did not succeed",
		Why:      "It ended with another exit status than 0, took longer than 60 seconds or printed more than 1 MiB.",
		Remedy:   "Run the script by hand with node and mend it.",
		Example:  "node scripts/count.mjs: exit status 1",
	}
	FloorNoNumber = &rule.Rule{
		ID:       "claims/floor-no-number",
		Severity: report.Error,
		Title:    "The script that counts printed no number",
		Why:      "Its first number is the floor. Without one the claim is compared with nothing.",
		Remedy:   "Have the script print the number it counted.",
		Example:  "node scripts/count.mjs printed: done",
	}
	NoSurfaces = &rule.Rule{
		ID:       "claims/no-surfaces",
		Severity: report.Warning,
		Title:    "A claim names no file that states it",
		Why:      "With an empty list nothing is compared, and nothing is proven.",
		Remedy:   "Name the files that state the number, or remove the claim.",
		Example:  `"surfaces": []`,
	}
)

// Rules of the gate forbidden-patterns.
var (
	Forbidden = &rule.Rule{
		ID:       "patterns/forbidden",
		Severity: report.Error,
		Title:    "A file holds what the project forbids",
		Why:      "The project has decided that this text does not belong into its files. The rule's own message says why.",
		Remedy:   "Do as the rule's message says, or exclude the file in the rule.",
		Example:  `{"forbiddenPatterns": [{"id": "no-todo", "pattern": "TODO", "message": "file an issue instead"}]}`,
	}
	ForbiddenPattern = &rule.Rule{
		ID:       "patterns/invalid-pattern",
		Severity: report.Error,
		Title:    "A forbidden pattern cannot be used",
		Why: "Patterns are JavaScript's, matched in linear time, without lookaround and backreferences. One that cannot be " +
			"translated exactly is refused rather than approximated: it would forbid something else.",
		Remedy:  "Correct the construct that the message names.",
		Example: `"pattern": "foo(?!bar)"`,
	}
	PatternsNoGit = &rule.Rule{
		ID:       "patterns/no-git",
		Severity: report.Error,
		Title:    "Which files to search for forbidden patterns is not known",
		Why:      "git lists the files. Outside of a repository, or where git refuses a pathspec, no file would be searched and all would look clean.",
		Remedy:   "Run the gate inside the repository, and correct the include or exclude that git refuses.",
		Example:  `"include": [":(nonsense)*.md"]`,
	}
	PatternsUnreadable = &rule.Rule{
		ID:       "patterns/unreadable",
		Severity: report.Error,
		Title:    "A tracked file could not be searched",
		Why:      "What cannot be read may hold what is forbidden.",
		Remedy:   "Make the file readable.",
		Example:  "docs/a.md cannot be read: permission denied.",
	}
	PatternsNoFiles = &rule.Rule{
		ID:       "patterns/no-files",
		Severity: report.Warning,
		Title:    "A forbidden pattern selects no file",
		Why:      "An include that selects nothing is a typing error, or is about files that are gone. Either way nothing is searched.",
		Remedy:   "Correct include, or drop it.",
		Example:  `"include": ["doc/*.md"], and the folder is called docs.`,
	}
)

// Rules of the gate schema-doc-sync.
var (
	MissingSource = &rule.Rule{
		ID:       "docsync/missing-source",
		Severity: report.Error,
		Title:    "A file whose list should agree with another does not exist",
		Why:      "The file was moved or removed, and the lists are no longer compared.",
		Remedy:   "Restore the file, correct its path, or drop the source.",
		Example:  `{"docSync": [{"sources": [{"file": "src/kinds.ts", "pattern": "\"(\\w+)\""}]}]}`,
	}
	SyncPattern = &rule.Rule{
		ID:       "docsync/invalid-pattern",
		Severity: report.Error,
		Title:    "The pattern of a list cannot be used",
		Why: "Patterns are JavaScript's, matched in linear time, without lookaround and backreferences. One that cannot be " +
			"translated exactly is refused rather than approximated. It needs a group that holds the value.",
		Remedy:  "Correct the construct that the message names.",
		Example: `"pattern": "(?<kind"`,
	}
	NoValues = &rule.Rule{
		ID:       "docsync/no-values",
		Severity: report.Error,
		Title:    "A file that should list values has none",
		Why:      "The pattern finds nothing there, so the file was rewritten or the pattern is wrong. An empty list agrees with nothing.",
		Remedy:   "Correct the pattern, or restore the list.",
		Example:  "docs/kinds.md has nothing that matches `(\\w+)`.",
	}
	Disagree = &rule.Rule{
		ID:       "docsync/disagree",
		Severity: report.Error,
		Title:    "Two lists that should agree do not",
		Why:      "A value was added to the code and not to the documentation, or the other way round.",
		Remedy:   "Add or remove the values that the message lists.",
		Example:  "docs/kinds.md lacks: note. It has besides: notes.",
	}
	SingleSource = &rule.Rule{
		ID:       "docsync/single-source",
		Severity: report.Warning,
		Title:    "A group compares fewer than two files",
		Why:      "With one source nothing is compared.",
		Remedy:   "Name a second source, or remove the group.",
		Example:  `{"docSync": [{"id": "kinds", "sources": [{"file": "src/kinds.ts", "pattern": "\"(\\w+)\""}]}]}`,
	}
)

// Rules of the gate doc-links.
var (
	BrokenLink = &rule.Rule{
		ID:       "links/broken",
		Severity: report.Error,
		Title:    "A link leads to a file that does not exist",
		Why:      "The reader, a person or an agent, is sent to nothing. Code fences do not count: what is shown there is copied.",
		Remedy:   "Correct the target, or restore the file.",
		Example:  "README.md links to docs/giude.md, and the file is called docs/guide.md.",
	}
	LinksNoGit = &rule.Rule{
		ID:       "links/no-git",
		Severity: report.Error,
		Title:    "Which files to search for links is not known",
		Why:      "git lists the files. Outside of a repository, or where git refuses a pathspec, no link would be followed and all would look sound.",
		Remedy:   "Run the gate inside the repository, and correct the include that git refuses.",
		Example:  `{"docLinks": {"include": [":(nonsense)*.md"]}}`,
	}
	LinksUnreadable = &rule.Rule{
		ID:       "links/unreadable",
		Severity: report.Error,
		Title:    "A file could not be searched for links",
		Why:      "What cannot be read may hold links that lead nowhere.",
		Remedy:   "Make the file readable.",
		Example:  "README.md cannot be read: permission denied.",
	}
	LinksNoFiles = &rule.Rule{
		ID:       "links/no-files",
		Severity: report.Warning,
		Title:    "docLinks.include selects no file",
		Why:      "An include that selects nothing is a typing error, or is about files that are gone. Either way no link is followed.",
		Remedy:   "Correct include, or drop it.",
		Example:  `{"docLinks": {"include": ["doc/*.md"]}}, and the folder is called docs.`,
	}
)

// Rules of the gate handoff.
var (
	TargetUnset = &rule.Rule{
		ID:       "freshness/target-unset",
		Severity: report.Error,
		Title:    "The release journal has no target",
		Why:      "generate.log asks for a journal and does not say where it stands. No default is safe: LOG.md is the agents' own.",
		Remedy:   "Name the journal's file in generate.log.target.",
		Example:  `{"generate": {"log": {"title": "Sample: Releases"}}}`,
	}
	TargetRefused = &rule.Rule{
		ID:       "freshness/target-refused",
		Severity: report.Error,
		Title:    "The release journal would overwrite the agents' log",
		Why:      "LOG.md, its archive and its index are written by agents and never regenerated. A generated journal in their place destroys the history.",
		Remedy:   "Name another file in generate.log.target.",
		Example:  `{"generate": {"log": {"target": ".ai/handoff/LOG.md"}}}`,
	}
	SourceMissing = &rule.Rule{
		ID:       "freshness/source-missing",
		Severity: report.Error,
		Title:    "The changelog that the release journal is made of does not exist",
		Why:      "Without its source the journal cannot be proved current.",
		Remedy:   "Restore the file, or correct generate.log.source.",
		Example:  `{"generate": {"log": {"source": "HISTORY.md", "target": "docs/releases.md"}}}`,
	}
	StaleJournal = &rule.Rule{
		ID:       "freshness/stale-journal",
		Severity: report.Error,
		Title:    "The release journal is not what the changelog says",
		Why:      "Agents read the journal to learn what was released. One that lacks the newest release, or differs from the changelog, misleads them.",
		Remedy:   "Regenerate the journal from the changelog.",
		Example:  "CHANGELOG.md has the release 2.1.0, and the table of docs/releases.md begins with v2.0.0.",
	}
	StatedVersion = &rule.Rule{
		ID:       "freshness/version-mismatch",
		Severity: report.Error,
		Title:    "The handoff states another version than package.json",
		Why:      "The next session begins with what NEXT_ACTIONS.md says is current. A stale version there sends it to the wrong release.",
		Remedy:   "Set the stated version to the one of package.json.",
		Example:  "Current version: **v2.0.0**, and package.json has 2.1.0.",
	}
)

// Rules are all rules of check and of what it shares with doctor.
var Rules = []*rule.Rule{
	Unreadable, InvalidJSON, DuplicateKey, SchemaRule, UnknownGate, PathEscape, GateRemoved, NotEvaluated,
	MissingVersion, BadHeading, NoReleases, UnreleasedPosition, UnreleasedDuplicate, InvalidDate, FutureDate, UnknownSection,
	DuplicateVersion, Order, TopVersion, MissingLink, BOM, Encoding,
	VersionMismatch, MissingSite, PackageJSON, TagMismatch,
	ClaimPattern, MissingSurface, NoMatch, WrongNumber, ExceedsFloor, FloorPath, FloorNotEvaluated, FloorFailed, FloorNoNumber, NoSurfaces,
	Forbidden, ForbiddenPattern, PatternsNoGit, PatternsUnreadable, PatternsNoFiles,
	MissingSource, SyncPattern, NoValues, Disagree, SingleSource,
	BrokenLink, LinksNoGit, LinksUnreadable, LinksNoFiles,
	TargetUnset, TargetRefused, SourceMissing, StaleJournal, StatedVersion,
}
