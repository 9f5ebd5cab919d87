package install

import (
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// The rules of install records (sessions.md 9.3 and 9.5).
var (
	NotInstalled = &rule.Rule{
		ID: "install/not-installed", Severity: report.Error,
		Title:   "Nothing is installed in the folder",
		Why:     "An installation has a `SKILL.md` and the record that its installer wrote. A folder with neither is no copy that could be verified; most often the path is wrong.",
		Remedy:  "Name the folder that holds `SKILL.md`, or install the copy anew from a trusted archive.",
		Example: "handoff-gate install verify .claude/skills    (the copy is in .claude/skills/agents-handoff)",
	}
	RecordMissing = &rule.Rule{
		ID: "install/record-missing", Severity: report.Error,
		Title:   "The installation has no install record",
		Why:     "Without `.agents-handoff-install.json` nothing says which bytes were installed, so an edited copy looks like an honest one. Copies made before version 2.0.3 never had a record; the installer's own check passes them, this one was asked for a proof.",
		Remedy:  "Reinstall from a trusted archive with a current installer, and commit the record with the copy.",
		Example: "rm .claude/skills/agents-handoff/.agents-handoff-install.json",
	}
	RecordUnparsable = &rule.Rule{
		ID: "install/record-unparsable", Severity: report.Error,
		Title:   "The install record cannot be read as JSON",
		Why:     "The installer's own check takes a broken record for none and passes, so breaking the record would be a way round it. Here it is an error.",
		Remedy:  "Restore the record from version control, or reinstall from a trusted archive.",
		Example: "A conflict marker in .agents-handoff-install.json, or a byte order mark before it.",
	}
	RecordUnsupported = &rule.Rule{
		ID: "install/record-unsupported", Severity: report.Error,
		Title:   "The install record is of an unknown form or product",
		Why:     "What the fields of another form mean is not known, and the record of another product proves nothing about this one.",
		Remedy:  "Reinstall from a trusted archive, or update the gate if the form is newer than it.",
		Example: "\"schema_version\": \"2.0-install-provenance\"",
	}
	RecordInconsistent = &rule.Rule{
		ID: "install/record-inconsistent", Severity: report.Error,
		Title:   "The install record contradicts itself",
		Why:     "The record holds a hash of each file and one hash over all of them. An installer writes both from the same files, so a difference means that the record was edited after it was written.",
		Remedy:  "Restore the record from version control, or reinstall from a trusted archive.",
		Example: "The hash of README.md in `files` was replaced and `files_sha256` left as it was.",
	}
	PathEscape = &rule.Rule{
		ID: "install/path-escape", Severity: report.Error,
		Title:   "The install record lists a path outside its folder",
		Why:     "A listed path names a file of the copy. One that is absolute, climbs with `..` or is written for another system would make the gate read, and so vouch for, something else. It is not opened.",
		Remedy:  "Reinstall from a trusted archive: no installer writes such a path.",
		Example: "\"files\": {\"../../.ssh/config\": \"…\"}",
	}
	Symlink = &rule.Rule{
		ID: "install/symlink", Severity: report.Error,
		Title:   "A part of the installation is a symbolic link",
		Why:     "The bytes behind a link are not part of the copy and can be exchanged without touching it. The installer writes real files. The link is not followed.",
		Remedy:  "Replace the link by the real file or folder, or reinstall from a trusted archive.",
		Example: "tools/handoff.mjs -> /tmp/handoff.mjs",
	}
	FileMissing = &rule.Rule{
		ID: "install/file-missing", Severity: report.Error,
		Title:   "An installed file is gone",
		Why:     "The record says that the file was installed. A copy without it is not the copy that was made.",
		Remedy:  "Restore the file from version control, or reinstall from a trusted archive.",
		Example: "rm .claude/skills/agents-handoff/tools/handoff.mjs",
	}
	FileChanged = &rule.Rule{
		ID: "install/file-changed", Severity: report.Error,
		Title:   "An installed file has other bytes than were installed",
		Why:     "These files are instructions and programs that an agent follows and runs. A change after the installation is what the record is there to show, whoever made it. A checkout that converts line ends changes bytes, too: mark the copy `-text` in .gitattributes.",
		Remedy:  "Restore the file from version control, or reinstall from a trusted archive. If line ends were converted, mark the copy -text in .gitattributes and check it out anew.",
		Example: "One line was added to SKILL.md after the installation.",
	}
	FileUnexpected = &rule.Rule{
		ID: "install/file-unexpected", Severity: report.Error,
		Title:   "A file is there that this version does not have",
		Why:     "The record lists the file as missing from the version that was installed. Somebody has put one in its place, and an agent will use it like the others.",
		Remedy:  "Remove the file, or reinstall from a trusted archive.",
		Example: "\"docs/OLD.md\": \"missing\" in the record, and a docs/OLD.md in the folder.",
	}
	SkillHeaderMissing = &rule.Rule{
		ID: "install/skill-header-missing", Severity: report.Error,
		Title:   "SKILL.md has no header",
		Why:     "An agent knows a skill by the lines `name:` and `version:` at the head of its `SKILL.md`. Without them the copy is not the product that the record is about.",
		Remedy:  "Restore SKILL.md from version control, or reinstall from a trusted archive.",
		Example: "SKILL.md begins with \"# agents-handoff\" and has no line \"version: 2.0.5\".",
	}
	VersionMismatch = &rule.Rule{
		ID: "install/version-mismatch", Severity: report.Error,
		Title:   "SKILL.md is of another version than was installed",
		Why:     "The installer takes the version of its record from `SKILL.md`. Where they differ, the files and the record are of different installations.",
		Remedy:  "Reinstall from a trusted archive, so that files and record are of one version.",
		Example: "\"version\": \"2.0.5\" in the record, \"version: 2.0.4\" in SKILL.md.",
	}
	LocalPathExposed = &rule.Rule{
		ID: "install/local-path-exposed", Severity: report.Notice,
		Title:   "The install record names a path of somebody's machine",
		Why:     "The installer records where it copied from and to. In a repository that path tells readers a user's name and the layout of a machine.",
		Remedy:  "Look at the path before the repository is published. To be rid of it, reinstall with a relative target.",
		Example: "\"target\": \"/home/someone/app/.claude/skills/agents-handoff\"",
	}
	RecordRewritten = &rule.Rule{
		ID: "install/record-rewritten", Severity: report.Error,
		Title:   "The install record lists other files than at the base, for the same version",
		Why:     "Whoever edits an installed file can compute every hash of the record anew, and the copy then agrees with itself. The base commit knows what was recorded before: one archive cannot give two sets of files.",
		Remedy:  "Say in the change why the files differ, or reinstall from the tagged archive.",
		Example: "README.md, its hash and `files_sha256` change together, `version` and `source.ref` stay.",
		Varies:  "A warning unless both records name the same archive: a development tree may change within a version.",
	}
	BaseUnavailable = &rule.Rule{
		ID: "install/base-unavailable", Severity: report.Error,
		Title:   "The base commit of an installation cannot be read",
		Why:     "A rewritten record agrees with itself; only the base commit shows the rewrite. A base that was asked for and cannot be read leaves that open, and an open question does not pass.",
		Remedy:  "Fetch the base commit (in a workflow: `fetch-depth: 0`), or name one that this clone has.",
		Example: "handoff-gate install verify .claude/skills/agents-handoff --base 1a2b3c4    (in a clone of depth 1)",
	}
)

// Rules are the rows of install records in the table of all rules, in the order
// in which the first error of a record is named (sessions.md 9.3).
var Rules = []*rule.Rule{
	NotInstalled, RecordMissing, RecordUnparsable, RecordUnsupported, RecordInconsistent, PathEscape, Symlink, FileMissing,
	FileChanged, FileUnexpected, SkillHeaderMissing, VersionMismatch, LocalPathExposed, RecordRewritten, BaseUnavailable,
}
