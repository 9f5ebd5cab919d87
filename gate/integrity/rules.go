package integrity

import (
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// Rules are the rows of this layer in the rule table (aahp-verify.md 11).
var Rules = []*rule.Rule{
	HandoffDirNotReal, ManifestMissing, ManifestInvalid, IndexEmpty, ManifestIncomplete, IndexPathInvalid, CaseCollision,
	MissingFile, NotRegular, Unverifiable, ChecksumMalformed, ChecksumMismatch, Unindexed, UncommittedHandoff,
}

// The rules of layer 1. Those of its content checks are in gate/lint.
var (
	HandoffDirNotReal = &rule.Rule{
		ID: "integrity/handoff-dir-not-real", Severity: report.Error,
		Title:   "The handoff folder, or one below it, is a link or no folder",
		Why:     "A link at .ai or .ai/handoff, or in the way to an indexed file, lets files from elsewhere pose as the reviewed handoff set. Nothing below such a place is read.",
		Remedy:  "Make it a real folder of this repository.",
		Example: ".ai/handoff -> ../shared-handoff",
	}
	ManifestMissing = &rule.Rule{
		ID: "integrity/manifest-missing", Severity: report.Error,
		Title:   "There is no MANIFEST.json",
		Why:     "The manifest is the index of the handoff set. Without it nothing says which files belong to the set, nor what they held when they were handed over.",
		Remedy:  "Generate the manifest.",
		Example: ".ai/handoff/STATUS.md is there, .ai/handoff/MANIFEST.json is not",
	}
	ManifestInvalid = &rule.Rule{
		ID: "integrity/manifest-invalid", Severity: report.Error,
		Title:   "MANIFEST.json is not sound JSON",
		Why:     "Two readers must find the same thing in the index. A document with broken JSON, two equal keys, invalid UTF-8 or a lone surrogate reads differently from one program to the next, which hides an entry from one of them.",
		Remedy:  "Repair the document, or restore or regenerate it.",
		Example: `{"files": {"LOG.md": {…}}, "files": {}}`,
	}
	IndexEmpty = &rule.Rule{
		ID: "integrity/index-empty", Severity: report.Error,
		Title:   "The manifest indexes nothing",
		Why:     "A manifest whose files member is missing or empty makes every checksum check pass without proving anything.",
		Remedy:  "Regenerate the manifest so that it indexes the handoff set.",
		Example: `"files": {}`,
	}
	ManifestIncomplete = &rule.Rule{
		ID: "integrity/manifest-incomplete", Severity: report.Error,
		Title:   "The manifest lacks a required key",
		Why:     "Agents read aahp_version, project, last_session and quick_context before anything else; without them a handoff says neither what it is nor who left it.",
		Remedy:  "Regenerate the manifest; the generator writes every required key.",
		Example: "a MANIFEST.json without last_session",
	}
	IndexPathInvalid = &rule.Rule{
		ID: "integrity/index-path-invalid", Severity: report.Error,
		Title:   "The index names a path outside the handoff folder",
		Why:     "An absolute path, a .. segment, a backslash or a control character can make one reader hash a file that another reader never sees. Such a name is never opened.",
		Remedy:  "Remove the entry, or regenerate the manifest.",
		Example: `"../../README.md": {"checksum": "sha256:…"}`,
	}
	CaseCollision = &rule.Rule{
		ID: "integrity/case-collision", Severity: report.Error,
		Title:   "Two indexed names differ only in letter case",
		Why:     "On a disk that ignores case the two are one file, so one of the two checksums vouches for the wrong content.",
		Remedy:  "Keep one of the two names.",
		Example: "STATUS.md and status.md",
	}
	MissingFile = &rule.Rule{
		ID: "integrity/missing-file", Severity: report.Error,
		Title:   "An indexed file is not there",
		Why:     "The next reader is promised a file that was deleted, renamed or never committed.",
		Remedy:  "Restore the file, or regenerate the manifest if the deletion was meant.",
		Example: "MANIFEST.json indexes LOG.md; the folder has no LOG.md",
	}
	NotRegular = &rule.Rule{
		ID: "integrity/not-regular", Severity: report.Error,
		Title:   "A handoff file is a link, submodule or special file",
		Why:     "What a link shows depends on the machine that follows it; a commit holds only the link. Checksums of such a file prove nothing about what an agent will read.",
		Remedy:  "Replace it by a regular file.",
		Example: ".ai/handoff/TRUST.md -> ../../docs/trust.md",
	}
	Unverifiable = &rule.Rule{
		ID: "integrity/unverifiable", Severity: report.Error,
		Title:   "A handoff file could not be read whole",
		Why:     "A file over its limit or one that cannot be opened was not hashed, so nothing was proved about it. The gate never judges a part of a file.",
		Remedy:  "Make the file readable and keep it within the limit.",
		Example: "a LOG.md of 300 MiB",
	}
	ChecksumMalformed = &rule.Rule{
		ID: "integrity/checksum-malformed", Severity: report.Error,
		Title:   "An entry has no usable checksum",
		Why:     "A placeholder, an empty digest or another algorithm leaves the file unprotected while the index looks complete.",
		Remedy:  "Regenerate the manifest; never write a checksum by hand.",
		Example: `"STATUS.md": {"checksum": "sha256:[hash]"}`,
	}
	ChecksumMismatch = &rule.Rule{
		ID: "integrity/checksum-mismatch", Severity: report.Error,
		Title:   "A handoff file changed outside the protocol",
		Why:     "The file is not the one that was handed over: it was edited after the manifest was written, by hand, by a merge, or by somebody who wants the next agent to read something else.",
		Remedy:  "First look at the change with git diff. Regenerating accepts whatever is there, tampering too; do it only when all of it is legitimate.",
		Example: "STATUS.md was edited and MANIFEST.json was not regenerated",
	}
	Unindexed = &rule.Rule{
		ID: "integrity/unindexed", Severity: report.Error,
		Title:   "A canonical handoff file is not indexed",
		Why:     "Agents read the canonical files whether or not the manifest lists them. One that is not listed can be changed without any check noticing.",
		Remedy:  "Review the file, then regenerate the manifest.",
		Example: ".ai/handoff/GROUNDING.md is there, MANIFEST.json does not list it",
	}
	UncommittedHandoff = &rule.Rule{
		ID: "integrity/uncommitted-handoff", Severity: report.Warning,
		Title:   "The checkout's handoff differs from the commit's",
		Why:     "In a pipeline the commit is what will be merged, so the commit was judged. A checkout that differs means that an earlier step of the job wrote to the handoff folder.",
		Remedy:  "Commit the change, or undo what the job changed.",
		Example: "a step before the gate regenerates STATUS.md and MANIFEST.json without committing them",
	}
)
