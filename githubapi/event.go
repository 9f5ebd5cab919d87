package githubapi

import (
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/payload"
)

// The names of the events that section 3 of github-action.md has a row for, as
// GITHUB_EVENT_NAME gives them. workflow_call is none of them: a called
// workflow sees the event of its caller.
const (
	eventPullRequest       = "pull_request"
	eventReview            = "pull_request_review"
	eventReviewComment     = "pull_request_review_comment"
	eventPullRequestTarget = "pull_request_target"
	eventMergeGroup        = "merge_group"
	eventPush              = "push"
	eventCreate            = "create"
	eventRelease           = "release"
	eventDelete            = "delete"
	eventDispatch          = "workflow_dispatch"
	eventSchedule          = "schedule"
	eventRepository        = "repository_dispatch"
	eventWorkflowRun       = "workflow_run"
)

// The fields of a payload that some event needs.
const (
	fieldBase          = "pull_request.base.sha"
	fieldHead          = "pull_request.head.sha"
	fieldGroupBase     = "merge_group.base_sha"
	fieldGroupHead     = "merge_group.head_sha"
	fieldRef           = "ref"
	fieldRefType       = "ref_type"
	fieldBefore        = "before"
	fieldAfter         = "after"
	fieldDeleted       = "deleted"
	fieldDefaultBranch = "repository.default_branch"
	fieldPrivate       = "repository.private"
	fieldTagName       = "release.tag_name"
	fieldInputs        = "inputs"
	fieldInputsBase    = "inputs.base"
	fieldRunHead       = "workflow_run.head_sha"
	fieldRunPulls      = "workflow_run.pull_requests"
	fieldRunPullBase   = "workflow_run.pull_requests.0.base.sha"
	fieldRunPullHead   = "workflow_run.pull_requests.0.head.sha"
)

// wanted is every field above with what it stands in, so that a message can
// name the outermost thing that is not there.
var wanted = withParents(fieldBase, fieldHead, fieldGroupBase, fieldGroupHead, fieldRef, fieldRefType, fieldBefore, fieldAfter,
	fieldDeleted, fieldDefaultBranch, fieldPrivate, fieldTagName, fieldInputs, fieldInputsBase, fieldRunHead, fieldRunPulls, fieldRunPullBase, fieldRunPullHead)

func withParents(paths ...string) []string {
	var all []string
	seen := map[string]bool{}
	for _, p := range paths {
		for i := 0; i <= len(p); i++ {
			if (i == len(p) || p[i] == '.') && !seen[p[:i]] {
				seen[p[:i]] = true
				all = append(all, p[:i])
			}
		}
	}
	return all
}

// Event is what started the workflow run: its name, and those fields of its
// payload that decide what is compared. Nothing else of the payload is kept.
type Event struct {
	Name   string // GITHUB_EVENT_NAME
	file   string
	fields payload.Fields
	err    error // the payload as a whole could not be read
}

// ReadEvent reads the payload of an event. The file is named in messages, and
// err is what reading it ended in, nil for the bytes of a whole file (see
// ReadPayload). A payload that cannot be read is no error here but part of the
// Event: Resolve makes a finding of it.
func ReadEvent(name, file string, data []byte, err error) Event {
	e := Event{Name: name, file: file, err: err}
	if err == nil {
		e.fields, e.err = payload.Pick(data, wanted...)
	}
	return e
}

// ReadPayload reads a payload, and no more of it than shows that it is over its
// limit of 32 MiB.
func ReadPayload(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, payload.MaxBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > payload.MaxBytes:
		return nil, payload.ErrTooLarge
	}
	return data, nil
}

// NothingLeft says why an event leaves nothing to verify: its branch or tag was
// deleted. It is "" for every other event, and for a payload that cannot be
// read, which proves nothing.
func (e Event) NothingLeft() string {
	switch deleted := e.fields[fieldDeleted]; {
	case e.err != nil:
	case e.Name == eventDelete:
		return "the branch or tag was deleted: nothing is left to verify"
	case e.Name == eventPush && deleted.Kind == payload.Boolean && deleted.True:
		return "the push deleted the branch or tag: nothing is left to verify"
	}
	return ""
}

// MayClaim tells whether claims of packets are written in the event's runs: on a
// push to the default branch and where somebody dispatched the run (packets.md
// 10). A pull request runs many times, and its first run would lock out the next.
func (e Event) MayClaim() bool {
	switch e.Name {
	case eventDispatch, eventRepository:
		return true
	case eventPush:
		ref, branch := e.fields[fieldRef], e.fields[fieldDefaultBranch]
		return ref.Kind == payload.String && branch.Kind == payload.String && branch.Text != "" && ref.Text == "refs/heads/"+branch.Text
	}
	return false
}

// IsSchedule tells a run that nobody's change has started.
func (e Event) IsSchedule() bool { return e.Name == eventSchedule }

// UnderReview is the commit that the payload alone says the event's check run
// stands on, for a run that ends before there is a repository to ask. It is ""
// where that takes the checkout, and where the field cannot be read.
func (e Event) UnderReview() string {
	path := ""
	switch e.Name {
	case eventPullRequest, eventReview, eventReviewComment, eventPullRequestTarget:
		path = fieldHead
	case eventMergeGroup:
		path = fieldGroupHead
	case eventPush:
		if strings.HasPrefix(e.fields[fieldRef].Text, "refs/heads/") {
			path = fieldAfter
		}
	case eventWorkflowRun:
		path = fieldRunHead
	}
	f := e.fields[path]
	if path == "" || f.Kind != payload.String {
		return ""
	}
	id, kind := parseID(f.Text, len(f.Text))
	if kind != idFine || len(id) != 40 && len(id) != 64 {
		return ""
	}
	return id
}

// Private tells whether the payload says that the repository is private.
func (e Event) Private() bool {
	f := e.fields[fieldPrivate]
	return f.Kind == payload.Boolean && f.True
}

// unreadable describes the whole payload for a finding.
func (e Event) unreadable() string {
	where := "no file: GITHUB_EVENT_PATH is not set"
	if e.file != "" {
		where = payload.Cut(e.file, 160)
	}
	why := payload.Cut(e.err.Error(), 160)
	if errors.Is(e.err, fs.ErrNotExist) {
		why = "it does not exist"
	}
	return "the payload of the event " + payload.Cut(e.Name, shown) + " (" + where + ") cannot be read: " + why
}

// lack describes why a field is not of the kind that its event needs, naming
// the outermost part of its path that is wrong.
func (e Event) lack(path, expected string) string {
	for i := range len(path) {
		if path[i] != '.' {
			continue
		}
		parent, kind := e.fields[path[:i]], payload.Object
		if path[:i] == fieldRunPulls {
			kind = payload.Array
		}
		if parent.Kind != kind {
			want := "an object"
			if kind == payload.Array {
				want = "an array"
			}
			return e.wrong(path[:i], parent, want)
		}
	}
	return e.wrong(path, e.fields[path], expected)
}

func (e Event) wrong(path string, f payload.Field, expected string) string {
	is := f.Kind.String()
	if f.Kind == payload.String {
		is = "\"" + payload.Cut(f.Text, shown) + "\""
	}
	return "in the payload of the event " + payload.Cut(e.Name, shown) + " the field " + path + " is " + is + "; expected: " + expected
}

// shown is how many characters a message shows of a value that is no commit id.
const shown = 80

// idKind says what stands where a commit id belongs.
type idKind uint8

const (
	idNone    idKind = iota // all zeros
	idFine                  // a full id of this repository
	idBad                   // another string
	idMissing               // absent, null or of another type
)

// readID reads the object id at path, in lower case. length is that of this
// repository's ids.
func (e Event) readID(path string, length int) (string, idKind) {
	f := e.fields[path]
	if f.Kind != payload.String {
		return "", idMissing
	}
	return parseID(f.Text, length)
}

// parseID lower-cases a full object id of the given length (40 or 64 digits).
// All zeros of either length are none. Anything else, an abbreviated id too, is
// bad: it never reaches git, where it might name a branch or be an option.
func parseID(s string, length int) (string, idKind) {
	if (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0") == "" {
		return "", idNone
	}
	if len(s) != length {
		return "", idBad
	}
	for i := range len(s) {
		if c := s[i] | 0x20; (s[i] < '0' || s[i] > '9') && (c < 'a' || c > 'f') {
			return "", idBad
		}
	}
	return strings.ToLower(s), idFine
}
