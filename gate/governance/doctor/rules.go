package doctor

import (
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// The rules of doctor's own gates (aahp-governance.md 5).
var (
	NotEvaluated = &rule.Rule{
		ID: "doctor/not-evaluated", Severity: report.Error,
		Title:   "No gate of doctor was evaluated",
		Why:     "A record in which every gate was skipped proves nothing, and must not be taken for a pass.",
		Remedy:  "Configure or select at least one gate, or run no governance check here.",
		Example: "doctor --governance in a repository without package.json and workflows.",
	}
	ManifestMissing = &rule.Rule{
		ID: "doctor/manifest-missing", Severity: report.Error,
		Title:   "There is no MANIFEST.json",
		Why:     "The manifest names the files of the handoff set and their checksums. Without it nothing vouches for any of them.",
		Remedy:  "Create the handoff set with handoff-gate init, or regenerate its manifest.",
		Example: "doctor in a repository that has no .ai/handoff/.",
	}
	ManifestInvalid = &rule.Rule{
		ID: "doctor/manifest-invalid", Severity: report.Error,
		Title:   "MANIFEST.json is not a JSON object",
		Why:     "A manifest that cannot be read in exactly one way vouches for nothing: not JSON, a key twice, a link, or another value than an object.",
		Remedy:  "Repair it, or regenerate it with handoff-gate manifest.",
		Example: "A conflict marker in MANIFEST.json.",
	}
	UnsafeIndexName = &rule.Rule{
		ID: "doctor/unsafe-index-name", Severity: report.Error,
		Title:   "The index names something that is no plain file name",
		Why:     "The index is about files of .ai/handoff/ itself. A path in it could lead elsewhere.",
		Remedy:  "Remove the entry, or regenerate the manifest.",
		Example: `"files": {"../../README.md": …}`,
	}
	IndexedFileMissing = &rule.Rule{
		ID: "doctor/indexed-file-missing", Severity: report.Error,
		Title:   "An indexed file is not there",
		Why:     "The next agent is told of a file that it cannot read.",
		Remedy:  "Restore the file; if its removal is meant, regenerate the manifest.",
		Example: "LOG.md is in the index and was deleted.",
	}
	UnindexedFile = &rule.Rule{
		ID: "doctor/unindexed-file", Severity: report.Error,
		Title:   "A file of the handoff set is not indexed",
		Why:     "Agents read the canonical files whether or not the manifest names them. One that is not indexed can be changed unseen.",
		Remedy:  "Index it: regenerate the manifest.",
		Example: "TRUST.md was added by hand.",
	}
	StrayFile = &rule.Rule{
		ID: "doctor/stray-file", Severity: report.Error,
		Title:   "A document in the handoff folder belongs to no handoff set",
		Why:     "No checksum vouches for it, and an agent that reads the folder may follow it all the same.",
		Remedy:  "Move it out of .ai/handoff/, or remove it.",
		Example: ".ai/handoff/NOTES.md",
	}
	ManifestSchemaRule = &rule.Rule{
		ID: "doctor/manifest-schema", Severity: report.Error,
		Title:   "The manifest breaks its schema",
		Why:     "Tools of other projects read the manifest by its schema: required keys, types, enumerations, lengths, dates, and no unknown keys.",
		Remedy:  "Correct the place that the message names; handoff-gate migrate takes the template's placeholders out of the tasks.",
		Example: `"last_session": {"phase": "coding", …}`,
	}
	GroundingMissing = &rule.Rule{
		ID: "doctor/grounding-missing", Severity: report.Error,
		Title:   "There is no GROUNDING.md",
		Why:     "It says what an agent may take for a fact, and how it has to mark the rest.",
		Remedy:  "Create it; handoff-gate migrate-grounding brings one.",
		Example: "A handoff set of AAHP 2.",
	}
	TrustMissing = &rule.Rule{
		ID: "doctor/trust-missing", Severity: report.Error,
		Title:   "There is no TRUST.md",
		Why:     "The register says which properties are verified, how, and until when.",
		Remedy:  "Create it, with a table whose head names Property, Status and Provenance.",
		Example: "A handoff set of STATUS.md alone.",
	}
	NoProvenanceColumn = &rule.Rule{
		ID: "doctor/no-provenance-column", Severity: report.Error,
		Title:   "The trust register has no column Provenance",
		Why:     "Without it nobody can tell what a property rests on: a test, a document, or somebody's word.",
		Remedy:  "Add the column Provenance to the head of the table and to its rows.",
		Example: "| Property | Status |",
	}
	PinMissing = &rule.Rule{
		ID: "doctor/pin-missing", Severity: report.Error,
		Title:   "package.json lacks the tool that pinnedDep asks for",
		Why:     "A workflow that runs AAHP's tool from node_modules runs the version that package.json and the lock file name. Without the entry there is none.",
		Remedy:  "Add the package with an exact version in the block that pinnedDep.location names.",
		Example: `"pinnedDep": {} and no @elvatis_com/aahp in devDependencies.`,
	}
	NotExactPin = &rule.Rule{
		ID: "doctor/not-exact-pin", Severity: report.Error,
		Title:   "The tool is not pinned exactly",
		Why:     "A range lets the next installation bring another gate than the one that was reviewed.",
		Remedy:  "Write the version alone, or set pinnedDep.allowRange where ranges are meant.",
		Example: `"@elvatis_com/aahp": "^4.0.0"`,
	}
)

// Rules are all rows.
var Rules = []*rule.Rule{
	NotEvaluated, ManifestMissing, ManifestInvalid, UnsafeIndexName, IndexedFileMissing, UnindexedFile, StrayFile, ManifestSchemaRule,
	GroundingMissing, TrustMissing, NoProvenanceColumn, PinMissing, NotExactPin,
}
