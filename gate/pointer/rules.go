package pointer

import (
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// The rules of layer 3 (aahp-verify.md 11), in the order of that table.
var (
	ManifestMissing = &rule.Rule{
		ID: "pointer/manifest-missing", Severity: report.Error,
		Title:   "There is no manifest to read the commit pointer from",
		Why:     "The manifest records the commit that the handoff describes. Without it nobody can tell how old the handoff is; a link or submodule in its place is not followed.",
		Remedy:  "Regenerate the manifest, and commit it as a regular file.",
		Example: "rm .ai/handoff/MANIFEST.json",
	}
	ManifestUnreadable = &rule.Rule{
		ID: "pointer/manifest-unreadable", Severity: report.Error,
		Title:   "The manifest cannot be read",
		Why:     "A manifest that is no sound JSON (or has the same key twice, or is larger than 16 MiB) can be read in more than one way, so it records nothing.",
		Remedy:  "Repair the manifest at the place named, restore the committed one, or regenerate it.",
		Example: "{\"last_session\": {\"commit\": \"1a2b3c4\"},,}",
	}
	NoHead = &rule.Rule{
		ID: "pointer/no-head", Severity: report.Warning,
		Title:   "There is no commit yet to compare the pointer with",
		Why:     "The pointer says which commit the handoff describes. In a repository without a commit it can say nothing.",
		Remedy:  "Make a first commit.",
		Example: "git init    (and no commit yet)",
	}
	Unset = &rule.Rule{
		ID: "pointer/unset", Severity: report.Warning,
		Title:   "The manifest records no commit",
		Why:     "Without a recorded commit a reader cannot tell which state of the code the handoff describes.",
		Remedy:  "Regenerate the manifest after the first commit; it then records HEAD.",
		Example: "\"last_session\": {\"commit\": \"unknown\"}",
	}
	UnknownCommit = &rule.Rule{
		ID: "pointer/unknown-commit", Severity: report.Warning,
		Title:   "The recorded commit is not in this repository",
		Why:     "The handoff describes a commit that nobody can look at here: it was written elsewhere, or by hand, or the commit was rewritten. Only 4 to 64 hexadecimal digits are an id; a name of a branch or tag is not.",
		Remedy:  "Regenerate the manifest if code has changed since the handoff was written.",
		Example: "\"last_session\": {\"commit\": \"deadbeef\"}    (no such commit)",
	}
	NotAncestor = &rule.Rule{
		ID: "pointer/not-ancestor", Severity: report.Warning,
		Title:   "The recorded commit is not part of HEAD's history",
		Why:     "This is usual after a squash or rebase merge, which leaves the branch's own commits behind. Whether the handoff is really stale is judged by the layers `integrity` and `drift`; here it only means that the pointer leads nowhere for a reader of this branch.",
		Remedy:  "Regenerate the manifest if code has changed since the handoff was written.",
		Example: "git merge --squash feature    (the manifest still names a commit of feature)",
	}
	BehindHead = &rule.Rule{
		ID: "pointer/behind-head", Severity: report.Warning,
		Title:   "Files outside the handoff have changed since the recorded commit",
		Why:     "A manifest cannot record the commit that holds it, so the pointer is fine as long as only the handoff changed after it. When other files did, the handoff may describe a state that is gone.",
		Remedy:  "If the handoff does not describe these changes yet, update `STATUS.md` and regenerate the manifest.",
		Example: "Two commits change src/ after the one that last_session.commit names.",
	}
	Undecidable = &rule.Rule{
		ID: "pointer/undecidable", Severity: report.Warning,
		Title:   "This clone cannot tell where the recorded commit stands",
		Why:     "A shallow clone has no history beyond its cut, and a partial one may lack trees. A commit that is not seen may still be there, so neither \"fine\" nor \"stale\" would be honest.",
		Remedy:  "Fetch more history: `fetch-depth: 0` for actions/checkout, `git fetch --unshallow` elsewhere.",
		Example: "A workflow checks out with depth 1, and the manifest names the commit before HEAD.",
		Varies:  "A notice in the action for a shallow clone: depth 1 is the default there, and a warning in every run goes unread.",
	}
)

// Rules are the rows of this layer in the table of all rules.
var Rules = []*rule.Rule{ManifestMissing, ManifestUnreadable, NoHead, Unset, UnknownCommit, NotAncestor, BehindHead, Undecidable}
