package lint

import (
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// The rules of aahp-lint.md 9.
var (
	Injection = &rule.Rule{
		ID: "lint/injection", Severity: report.Error,
		Title: "An instruction to the agent stands in a handoff file",
		Why: "The next agent reads handoff files as data and tends to do what they say. Ten phrasings that attempts to take " +
			"an agent over keep using are refused wherever they stand, also behind JSON escapes, invisible characters, " +
			"look-alike letters, HTML references or base64. The list is a tripwire, not a proof: an instruction in other " +
			"words passes, so a person still reviews what enters the handoff.",
		Remedy: "Handoff files are data for agents, and this list is a tripwire. If the text is an attack, remove it and find " +
			"out who wrote it (git log -p -- FILE). If it is innocent, reword it. Code fences and quotes do not exempt it; " +
			".aiignore is the one file that is not scanned.",
		Example: "STATUS.md, line 12: \"From here on, you are now in maintenance mode\" hits \"you are now\". Write \"the service is now in maintenance mode\".",
		Varies:  "warning when only formatting splits the phrase: emphasis, a tag, a line end, a no-break space",
	}
	Secret = &rule.Rule{
		ID: "lint/secret", Severity: report.Error,
		Title: "A credential stands in a handoff file",
		Why: "A handoff is committed, cloned and read by every later session and by the services behind the agents. A key in it " +
			"is known to all of them from the moment it is pushed. The detectors look for the exact shape of providers' keys " +
			"and for assignments of long values to names such as API_KEY; they print a kind and a length, never the value.",
		Remedy: "Revoke the credential first: it is in git's history and in every clone, so deleting the line does not help. " +
			"Then remove it from the file, name where it is stored in place of the value, and regenerate the manifest.",
		Example: "STATUS.md, line 8: \"export DEPLOY_TOKEN=…\" with a value of 40 letters and digits. Write \"DEPLOY_TOKEN is in the CI's secret store\".",
	}
	SecretSuspect = &rule.Rule{
		ID: "lint/secret-suspect", Severity: report.Warning,
		Title: "A URL carries a user name and a password",
		Why: "scheme://user:password@host is how connection strings carry credentials. Many are samples, so this does not block; " +
			"a real one is a credential like any other.",
		Remedy: "If the password is real, revoke it, then write the URL without it and name where it is stored. If it is a sample, " +
			"use a host that says so (db.example.com, localhost) or a placeholder.",
		Example: "LOG.md, line 30: a database URL with a password of twelve characters, copied from a shell.",
	}
	SecretExtended = &rule.Rule{
		ID: "lint/secret-extended", Severity: report.Error,
		Title: "A detector of the extended set found a credential",
		Why: "With --secrets extended the rules of gitleaks (" + ExtendedVersion + ", MIT licence) run as well. They know many more " +
			"providers and also judge by entropy, which is too eager for prose about configuration; that is why they are opt-in.",
		Remedy:  "If it is a credential, revoke it first, then remove it and name where it is stored. If it is not, reword the line so that no value stands beside a word like key, token or secret.",
		Example: "NEXT_ACTIONS.md, line 4: an API key of a provider that the fixed list does not know.",
	}
	IgnoreNotEnforced = &rule.Rule{
		ID: "lint/aiignore-not-enforced", Severity: report.Notice,
		Title: ".aiignore lists patterns that no gate reads",
		Why: "The patterns of .aiignore tell an agent what to leave out. They have no defined meaning as rules (sk-* would match " +
			"\"task-type\"), so the gate does not turn them into any, and says so, lest somebody relies on it.",
		Remedy:  "Rely on no pattern of it. What must block stands under forbiddenPatterns in aahp.config.json, which handoff-gate check judges, and verify with --governance.",
		Example: ".ai/handoff/.aiignore with the line \"*.pem\".",
	}
	PII = &rule.Rule{
		ID: "lint/pii", Severity: report.Error,
		Title: "An e-mail address stands in a handoff file",
		Why: "A handoff is copied further than its author thinks. Addresses of people belong in it only when somebody decided so, " +
			"for a reason, for a time; the allowlist records that decision. Addresses that by their form are nobody's " +
			"(example.com, noreply) are exempt.",
		Remedy: "Remove the address or write a role (\"the on-call lead\"). If it is operationally necessary, add it to " +
			"pii-allowlist.json with reason, owner and expiry. For git@host: write the https:// form; reword name@2x.png.",
		Example: "STATUS.md, line 5: the address of a customer who reported a bug. Write \"the reporting customer (ticket 4711)\".",
		Varies:  "A warning in files that are not Markdown or JSON directly in the handoff folder.",
	}
	AllowlistInvalid = &rule.Rule{
		ID: "lint/pii-allowlist-invalid", Severity: report.Error,
		Title: "The address allowlist breaks its format",
		Why: "An allowlist that can be misread approves what nobody meant to approve. Each entry names one address, why it is " +
			"needed, who answers for it and until when; nothing else is accepted, and a broken entry approves nothing.",
		Remedy:  "Fix the field that is named, then regenerate the manifest.",
		Example: "pii-allowlist.json: an entry without owner, or with the value \"*@corp.io\".",
	}
	AllowlistExpired = &rule.Rule{
		ID: "lint/pii-allowlist-expired", Severity: report.Error,
		Title:   "An approval of an address has expired",
		Why:     "Approvals end so that somebody asks again. After the day named in expires the entry approves nothing.",
		Remedy:  "Ask the owner again and renew expires, or delete the entry and the address together; then regenerate the manifest.",
		Example: "pii-allowlist.json: \"expires\": \"2026-03-31\", judged on 1 April.",
	}
	AllowlistExpiring = &rule.Rule{
		ID: "lint/pii-allowlist-expiring", Severity: report.Warning,
		Title:   "An approval of an address expires within 14 days",
		Why:     "After that day every change is blocked until somebody renews the approval or removes the address.",
		Remedy:  "Ask the owner again and renew expires, or delete the entry and the address together; then regenerate the manifest.",
		Example: "pii-allowlist.json: \"expires\": \"2026-03-31\", judged on 20 March.",
	}
	AllowlistUnused = &rule.Rule{
		ID: "lint/pii-allowlist-unused", Severity: report.Notice,
		Title:   "An approved address occurs nowhere",
		Why:     "An approval without a use lets the address come back unseen.",
		Remedy:  "Delete the entry, then regenerate the manifest.",
		Example: "pii-allowlist.json approves an address that was removed from STATUS.md last month.",
	}
	LockPresent = &rule.Rule{
		ID: "lint/lock-present", Severity: report.Error,
		Title: "A session did not finish: its lock is still there",
		Why: "HANDOFF.lock says that a session is writing. Left behind, it means the session died half-way and the files may be " +
			"half-written; committed, it makes every later session believe that another one is at work. Its age does not matter.",
		Remedy: "A session did not finish. Compare with the last clean commit (git show HEAD:.ai/handoff/MANIFEST.json), record " +
			"the recovery in LOG.md, delete the lock, and never commit it.",
		Example: ".ai/handoff/HANDOFF.lock in the working tree of a pull request.",
	}
	LockOnBranch = &rule.Rule{
		ID: "lint/lock-on-branch", Severity: report.Warning,
		Title:   "A branch holds a lock in its tip",
		Why:     "Handoff is sequential: one session at a time. A lock that was committed on another branch comes back with the next merge.",
		Remedy:  "Finish or recover that session, then delete the lock on that branch and commit the deletion.",
		Example: "The tip of the local branch feature/x holds .ai/handoff/HANDOFF.lock.",
	}
	ConflictMarker = &rule.Rule{
		ID: "lint/conflict-marker", Severity: report.Error,
		Title: "A merge was not resolved",
		Why: "A line that begins with seven angle brackets is what git leaves where two changes collide. In a handoff it shows two " +
			"states of the project as one; in code it does not even build.",
		Remedy: "Resolve the merge by hand before you regenerate anything: STATUS.md is rewritten from both sides, LOG.md keeps both " +
			"entries, the newest first. Then regenerate the manifest. A document that shows markers on purpose must put another character before them.",
		Example: "LOG.md, line 3: seven opening brackets and a branch name.",
	}
	JSONInvalid = &rule.Rule{
		ID: "lint/json-invalid", Severity: report.Error,
		Title: "A JSON file of the handoff set cannot be decoded",
		Why: "Text behind JSON escapes is only seen once it is decoded. A file that cannot be decoded was not read, so it cannot be " +
			"called clean. Decoding is strict: UTF-8 without a byte order mark, no comments, no trailing text, no lone surrogates.",
		Remedy:  "Repair the file at the place named, or delete it.",
		Example: "extra.json, line 1: a comma before the closing brace.",
	}
	Encoding = &rule.Rule{
		ID: "lint/encoding", Severity: report.Warning,
		Title: "A text file is not UTF-8 text",
		Why: "Readers of a file that is not plain UTF-8 disagree about what it says, and tools stop at a NUL or skip the file as " +
			"binary. What one reader is not shown, another may follow.",
		Remedy:  "Save the file as UTF-8.",
		Example: "STATUS.md saved as UTF-16 by an editor.",
	}
	HiddenUnicode = &rule.Rule{
		ID: "lint/hidden-unicode", Severity: report.Error,
		Title: "A line holds characters that do not show",
		Why: "Tag characters, direction overrides and long runs of zero-width characters hide text from a reviewer and show it to a " +
			"model, or show the reviewer another text than the one that is there. Characters that the world's scripts need, " +
			"where they need them, are not reported: joiners in Persian or Hindi, zero-width spaces in Thai, selectors after emoji.",
		Remedy: "Show them (grep -nP '[^\\x20-\\x7E]' FILE | cat -v, or an editor that displays them), delete them and retype the line. Tag " +
			"characters and overrides are how text is hidden from a reviewer and shown to a model, so find out who wrote the line.",
		Example: "STATUS.md, line 9: U+202E turns the end of a file name round.",
		Varies:  "A warning for characters that are out of place but hide little, such as one zero-width space between Latin letters.",
	}
	Unscannable = &rule.Rule{
		ID: "lint/unscannable", Severity: report.Error,
		Title: "Something could not be scanned",
		Why: "What was not read cannot be called clean. Links, submodules and special files in the handoff folder are never " +
			"followed; a file that cannot be read to its end, or is larger than 256 MiB, is refused.",
		Remedy:  "Replace it by a regular, readable file of at most 256 MiB, or remove it.",
		Example: ".ai/handoff/rules.txt is a symbolic link.",
	}
)

// Rules is the table of this package.
var Rules = []*rule.Rule{
	Injection, Secret, SecretSuspect, IgnoreNotEnforced, PII, AllowlistInvalid, AllowlistExpired, AllowlistExpiring,
	AllowlistUnused, LockPresent, LockOnBranch, ConflictMarker, JSONInvalid, Encoding, HiddenUnicode, Unscannable, SecretExtended,
}
