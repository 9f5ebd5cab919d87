// Package pointer compares the commit that a manifest records with HEAD
// (aahp-verify.md 7). It is advisory: only a manifest that is missing or
// unreadable is an error. It asks git nothing; the caller looks the recorded
// value up and hands in the Answer.
package pointer

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/lines"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// ID and Title name the layer in a report.
const (
	ID    = "pointer"
	Title = "Commit pointer"
)

// Input is what the layer judges.
type Input struct {
	Project  string // from the repository's top level; "." for the top level itself
	Commands gate.Commands

	// Manifest is read as layer 3's row of sources says, limit gate.MaxManifest.
	Manifest   gate.Document
	Repository bool   // false outside a git repository: the layer does not apply
	Head       string // full id; "" when HEAD does not resolve
	// Answer is what the repository knows of the value that Value gives. It is
	// not looked at where Value gives none.
	Answer Answer
	// ShallowIsNotice: what a shallow clone leaves undecided is a notice (in
	// the action) and not a warning.
	ShallowIsNotice bool
}

// Answer is what a repository knows of a recorded commit.
type Answer struct {
	// Found: exactly one commit has an id that begins with the digits. A ref of
	// that name does not count.
	Found bool
	// Ambiguous: several have.
	Ambiguous bool
	ID        string // the full id when Found
	IsHead    bool
	// Ancestor: HEAD reaches it. AncestorErr says why git could not tell.
	Ancestor    bool
	AncestorErr error
	Shallow     bool // the clone's history is cut
	// ChangedOutside counts the files below the project and outside its handoff
	// folder in which the trees of the commit and HEAD differ. DiffErr says why
	// they could not be compared.
	ChangedOutside int
	DiffErr        error
}

// Value gives the recorded commit in lower case if it may be looked up: 4 to 64
// hexadecimal digits. The value is data that anybody can write, so nothing else
// ever reaches git.
func Value(manifest gate.Document) (digits string, ok bool) {
	r, err := read(manifest)
	if err != nil || r.kind != digitsRecorded {
		return "", false
	}
	return r.value, true
}

type recordedKind uint8

const (
	nothingRecorded recordedKind = iota // absent, null, "" or "unknown"
	otherRecorded                       // anything that is no id
	digitsRecorded
)

// recorded is last_session.commit of a manifest.
type recorded struct {
	kind  recordedKind
	value string // the digits, or for people what stands there instead
	span  report.Span
}

// notObjectError is a document whose top level is something else.
type notObjectError struct{ offset int }

func (notObjectError) Error() string { return "its top level is no object" }

// read finds the recorded commit. The error is a *jsondoc.Error, a
// notObjectError, or says why the bytes are not there.
func read(manifest gate.Document) (recorded, error) {
	if manifest.State != gate.Present {
		return recorded{}, cmp.Or(manifest.Err, fs.ErrNotExist)
	}
	doc, err := jsondoc.Parse(manifest.Data, jsondoc.Options{MaxDepth: gate.MaxDepth})
	if err != nil {
		return recorded{}, err
	}
	if !doc.Root.Is(jsondoc.Object) {
		return recorded{}, notObjectError{offset: doc.Root.Off}
	}
	session, there := doc.Root.Member("last_session")
	if !there {
		return recorded{}, nil
	}
	commit, there := session.Value.Member("commit")
	if !there {
		return recorded{span: doc.AtKey(session)}, nil
	}
	r := recorded{span: doc.AtKey(commit)}
	switch v := commit.Value; v.Kind {
	case jsondoc.Null:
	case jsondoc.String:
		switch {
		case v.Text == "" || v.Text == "unknown":
		case isID(v.Text):
			r.kind, r.value = digitsRecorded, strings.ToLower(v.Text)
		default:
			r.kind, r.value = otherRecorded, "“"+safetext.Clean(v.Text)+"”"
		}
	default:
		r.kind, r.value = otherRecorded, "a value of the kind "+v.Kind.String()
	}
	return r, nil
}

func isID(s string) bool {
	if len(s) < 4 || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
			return false
		}
	}
	return true
}

// Check decides the layer. The first case that fits is the only one reported.
func Check(in Input) report.Layer {
	if !in.Repository {
		return report.Skipped(ID, Title, "not in a git repository")
	}
	summary, finding := judge(in)
	var findings []report.Finding
	if finding != nil {
		findings = append(findings, *finding)
	}
	return report.Done(ID, Title, summary, findings)
}

func judge(in Input) (summary string, finding *report.Finding) {
	path := gate.Join(in.Project, gate.ManifestFile)
	one := func(f report.Finding) *report.Finding { return &f }
	switch in.Manifest.State {
	case gate.Absent:
		return "there is no manifest", one(ManifestMissing.At(path, report.Span{},
			gate.ManifestFile+" does not exist, so there is no recorded commit to compare with HEAD.",
			report.WithFix("Read `git diff -- "+safetext.ShellQuote(in.Commands.GitFile(gate.Join(in.Project, gate.HandoffDir)))+"`, then regenerate the manifest.", in.Commands.Regen)))
	case gate.NotRegular:
		return "the manifest is no regular file", one(ManifestMissing.At(path, report.Span{},
			fmt.Sprintf("%s is no regular file (%s) and was not followed, so there is no recorded commit to compare with HEAD.", gate.ManifestFile, reason(in.Manifest.Err)),
			report.WithFix("Put a regular file in its place, then regenerate it.", in.Commands.Regen)))
	case gate.Present, gate.TooLarge, gate.Unreadable:
	}
	r, err := read(in.Manifest)
	if err != nil {
		span, why := report.Span{}, reason(err)
		var syntax *jsondoc.Error
		var notObject notObjectError
		if errors.As(err, &syntax) {
			span = jsondoc.StoppedAt(in.Manifest.Data, err)
			if syntax.Problem == jsondoc.EqualKeys {
				why += " (“" + safetext.Clean(syntax.Key) + "”)"
			}
		} else if errors.As(err, &notObject) {
			span.Line, span.Column = lines.New(in.Manifest.Data).Position(notObject.offset)
		}
		return "the manifest cannot be read", one(ManifestUnreadable.At(path, span,
			fmt.Sprintf("%s cannot be read: %s.", gate.ManifestFile, why), restore(in, path)))
	}
	if in.Head == "" {
		return "there is no commit yet", one(NoHead.At(path, report.Span{},
			"HEAD names no commit yet, so there is nothing to compare the recorded commit with.",
			"Make a first commit."))
	}
	switch r.kind {
	case nothingRecorded:
		return "the manifest records no commit", one(Unset.At(path, r.span,
			"last_session.commit is absent, empty or unknown: the manifest does not say which commit the handoff describes.",
			report.WithFix("Regenerate the manifest after the first commit.", in.Commands.Regen)))
	case otherRecorded:
		return "the recorded commit is no commit id", one(UnknownCommit.At(path, r.span,
			fmt.Sprintf("last_session.commit is %s. Expected: 4 to 64 hexadecimal digits. It was not looked up.", r.value),
			report.WithFix("Regenerate the manifest if code has changed since the handoff was written.", in.Commands.Regen)))
	case digitsRecorded:
	}
	return found(in, r, path)
}

// found judges a value that was looked up.
func found(in Input, r recorded, path string) (string, *report.Finding) {
	a := in.Answer
	one := func(f report.Finding) *report.Finding { return &f }
	undecidable := func(shallow bool, message, remedy string) (string, *report.Finding) {
		severity := Undecidable.Severity
		if shallow && in.ShallowIsNotice {
			severity = report.Notice
		}
		return "undecidable in this clone", one(Undecidable.As(severity, path, r.span, message, remedy))
	}
	const unshallow = "Fetch more history to decide it: fetch-depth: 0 for actions/checkout, the command below elsewhere."
	switch {
	case a.Ambiguous:
		// More history can only add commits, so it decides nothing here.
		return "the recorded commit is ambiguous", one(UnknownCommit.At(path, r.span,
			fmt.Sprintf("last_session.commit is %s, and several commits have ids that begin so.", r.value),
			report.WithFix("Regenerate the manifest; it records more digits.", in.Commands.Regen)))
	case !a.Found && a.Shallow:
		return undecidable(true,
			fmt.Sprintf("last_session.commit is %s, which this clone does not have. The clone is shallow, so the commit may lie before the point where its history is cut: history down to that commit decides it, the whole of it in any case.", r.value),
			report.WithFix(unshallow, "git fetch --unshallow"))
	case !a.Found:
		return "the recorded commit is not in this repository", one(UnknownCommit.At(path, r.span,
			fmt.Sprintf("last_session.commit is %s, and no commit of this repository has an id that begins so.", r.value),
			report.WithFix("Regenerate the manifest if code has changed since the handoff was written.", in.Commands.Regen)))
	case a.IsHead:
		return "the recorded commit is HEAD", nil
	}
	id := a.ID
	if id == "" {
		id = r.value
	}
	short, head := safetext.Cut(id, 12), safetext.Cut(in.Head, 12)
	switch {
	case a.AncestorErr != nil && !a.Shallow:
		return undecidable(false,
			fmt.Sprintf("Whether HEAD (%s) descends from the recorded commit %s could not be decided: %s.", head, short, reason(a.AncestorErr)),
			"Fetch every commit between the two; a clone that has them decides it.")
	case !a.Ancestor && a.Shallow:
		return undecidable(true,
			fmt.Sprintf("HEAD (%s) is not seen to descend from the recorded commit %s. The clone is shallow, so the link between them may lie before the point where its history is cut: the history of HEAD down to that commit decides it, the whole of it in any case.", head, short),
			report.WithFix(unshallow, "git fetch --unshallow"))
	case !a.Ancestor:
		return "the recorded commit is not in HEAD's history", one(NotAncestor.At(path, r.span,
			fmt.Sprintf("The recorded commit %s is not in the history of HEAD (%s). That is usual after a squash or rebase merge; the layers integrity and drift judge whether the handoff is stale.", short, head),
			report.WithFix("Regenerate the manifest if code has changed since the handoff was written.", in.Commands.Regen)))
	case a.DiffErr != nil:
		return undecidable(false,
			fmt.Sprintf("The trees of the recorded commit %s and of HEAD (%s) could not be compared: %s. It takes both trees, and no further history, to decide it.", short, head, reason(a.DiffErr)),
			"Fetch the trees of both commits; a clone without a filter has them.")
	case a.ChangedOutside > 0:
		files := plural.Of(a.ChangedOutside, "file")
		return files + " changed outside the handoff since the recorded commit", one(BehindHead.At(path, r.span,
			fmt.Sprintf("The handoff was written for commit %s. Since then %s outside %s changed up to HEAD (%s).", short, files, gate.HandoffDir, head),
			report.WithFix("If the handoff does not describe these changes yet, update STATUS.md, then regenerate the manifest.", in.Commands.Regen)))
	}
	return "since the recorded commit nothing changed outside the handoff", nil
}

// restore is the remedy for a manifest that is there and cannot be read.
func restore(in Input, path string) string {
	const text = "Repair the manifest, or restore the committed one, or regenerate it with --force."
	if safetext.Cut(path, len(path)) != path { // it cannot be printed as it is
		return report.WithFix(text, in.Commands.Again)
	}
	return report.WithFix(text, "git checkout HEAD -- "+safetext.ShellQuote(in.Commands.GitFile(path)))
}

func reason(err error) string {
	return safetext.Cut(strings.TrimRight(err.Error(), ". \n"), 300)
}
