package githubapi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/payload"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// Commit is a commit as its raw object has it, so that the parents are right in
// a shallow clone, where they resolve to nothing. Ids are full, in lower case.
type Commit struct {
	ID, Tree string
	Parents  []string
}

// Repository answers questions about the checkout. Only full object ids and
// full ref names are ever passed to it.
type Repository interface {
	// Head gives the commit that is checked out: the zero Commit when HEAD
	// names none.
	Head(ctx context.Context) (Commit, error)
	// Commit reads one commit: fs.ErrNotExist when the clone lacks the object or
	// it is no commit.
	Commit(ctx context.Context, id string) (Commit, error)
	// Peel gives the commit that a tag object stands for (a commit stands for
	// itself): fs.ErrNotExist when the clone lacks either.
	Peel(ctx context.Context, id string) (string, error)
	// Shallow tells whether the clone's history is cut.
	Shallow(ctx context.Context) (bool, error)
	// IsAncestor tells whether a is reachable from b (a commit reaches itself).
	IsAncestor(ctx context.Context, a, b string) (bool, error)
	// MergeBase gives a best common ancestor, "" when there is none.
	MergeBase(ctx context.Context, a, b string) (string, error)
	// Ref gives the commit that a full ref name peels to, "" when there is none.
	Ref(ctx context.Context, name string) (string, error)
	// Tags lists the tags that peel to a commit.
	Tags(ctx context.Context) ([]Tag, error)
	// Distance counts the commits reachable from to and not from from.
	Distance(ctx context.Context, from, to string) (int, error)
	// Fetch gets one object from the server by its id; the error is a
	// *FetchError where the server or git said no.
	Fetch(ctx context.Context, id string) error
	// ObjectIDLength is the number of hex digits of an id: 40 or 64.
	ObjectIDLength() int
}

// FetchError says why an object could not be fetched.
type FetchError struct {
	Gone    bool   // the server has it no longer
	Denied  bool   // the server gave no access
	Message string // what git said; outside text
}

// Error gives what git said.
func (e *FetchError) Error() string { return e.Message }

// Lookups are the questions for the API that finding a base may need. No answer
// is never taken for a good one.
type Lookups interface {
	// Compare compares two commits; base may also be a branch's name.
	Compare(ctx context.Context, base, head string) (Comparison, error)
	// Tags lists all tags of the repository, peeled to commits.
	Tags(ctx context.Context) ([]Tag, error)
}

// TargetInput is what Resolve decides from.
type TargetInput struct {
	Event        Event
	Repository   Repository
	Lookups      Lookups // nil without a usable token
	SHA          string  // GITHUB_SHA
	Base         string  // input base, trimmed; "" when not given
	CheckRunSHA  string  // input sha, trimmed; "" when not given
	FetchMissing bool    // input fetch-missing
}

// Problem is one thing that is wrong with event or checkout, to become a finding
// on each project's MANIFEST.json, in layer drift. Its severity is the rule's.
type Problem struct {
	Rule    *rule.Rule
	Message string // outside text in it is already cleaned
	Remedy  string // without the last line "fix: …"; "" for a notice
}

// Target is what one run of the gate compares, and on which commit its result
// is shown.
type Target struct {
	// Base is what HEAD is compared with. Base.Problem is one of the drift/base-…
	// rules, with Message and Remedy set. Base.ID stands wherever the base is
	// known and readable, also beside a problem: its policy is applied then.
	Base     gate.Base
	Problems []Problem // of the rules action/…
	Head     string    // the commit that is checked out; "" when HEAD resolves to none

	CheckRunSHA string // the commit the check run is attached to; "" for no check run

	NothingToVerify string // a branch or tag was deleted: exit 0, every layer skip, no API call
	NoChangeSet     string // why there is nothing to compare: layer drift is skip; "" beside an error
	HeadPolicy      bool   // HEAD's own file is the base policy
	ChecksOff       string // why declared checks are not run in this event
	Tag             string // the tag that was pushed, created or released; "" otherwise

	Notes []string // the rows chosen, for debug lines
}

// Blocked tells whether a problem keeps layer drift from comparing anything.
func (t Target) Blocked() bool {
	if t.Base.Problem != gate.BaseFine {
		return true
	}
	for _, p := range t.Problems {
		if p.Rule.Severity == report.Error {
			return true
		}
	}
	return false
}

// Resolve chooses the commits of a run (github-action.md 3). What is wrong with
// the event or the checkout is part of the Target; an error is about this run:
// git failed, the context ended, or the input sha is no commit id.
func Resolve(ctx context.Context, in TargetInput) (Target, error) {
	r := &resolver{in: in, ids: in.Repository.ObjectIDLength()}
	if err := r.resolve(ctx); err != nil {
		return Target{}, err
	}
	if r.t.Blocked() {
		r.t.NoChangeSet = ""
	}
	for i, p := range r.t.Problems {
		r.t.Problems[i].Message, r.t.Problems[i].Remedy = sentence(p.Message), sentence(p.Remedy)
	}
	r.t.Base.Message, r.t.Base.Remedy = sentence(r.t.Base.Message), sentence(r.t.Base.Remedy)
	return r.t, nil
}

// sentence gives a text its capital and its full stop.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".") + "."
}

type resolver struct {
	in   TargetInput
	ids  int // hex digits of an object id
	head Commit
	sha  string // GITHUB_SHA, "" when it is no id
	t    Target
}

// row is what the payload says of an event: a row of the table of section 3.
type row struct {
	event string // for messages: "create of a branch"

	// The HEAD column.
	tip      string // the commit that HEAD must be; "" when anything may be checked out
	unknown  bool   // tip could not be read: HEAD cannot be proved
	merges   bool   // a merge with tip as second parent is accepted too
	movable  bool   // GitHub's own merge (GITHUB_SHA) gives the base
	tipName  string // what tip is: "the pull request's head"
	checkout string // how to check it out

	// The base column.
	base     basis
	id       string // of a given base
	source   string // where the base comes from
	seen     string // of a base that could not be used: the value
	fallback string // of a required base: how the event can carry one
	branch   string // of a new branch: the default branch

	tagObject string // of a tag: the id in the payload, which may be of a tag object
	check     checkRunOn
}

// basis is how a row comes by its base.
type basis uint8

const (
	given       basis = iota // row.id
	required                 // by input base alone
	malformed                // the event carries something that is no id
	zero                     // the event carries zeros
	unread                   // a field that is needed cannot be read (already reported)
	emptyTree                // the repository's first push
	newBranch                // the merge base with the default branch
	previousTag              // the release before this one
	noChanges                // there is no change set
)

// checkRunOn is which commit a row shows its check run on.
type checkRunOn uint8

const (
	onHead checkRunOn = iota
	onTip
	onSHA // GITHUB_SHA, peeled
	nowhere
)

func (r *resolver) resolve(ctx context.Context) error {
	in := r.in
	r.sha, _ = parseID(in.SHA, r.ids)
	head, err := in.Repository.Head(ctx)
	if err != nil {
		return fmt.Errorf("reading HEAD: %w", err)
	}
	r.head, r.t.Head = head, head.ID

	w := r.row()
	if r.t.NothingToVerify != "" {
		return nil
	}
	if in.Event.err != nil {
		r.problem(PayloadUnreadable, in.Event.unreadable(), "run the action in a workflow on GitHub, which gives it the payload; with `act`, pass one by `--eventpath`")
	}
	if w.base == previousTag {
		if err := r.tagTip(ctx, &w); err != nil {
			return err
		}
	}
	if err := r.checkRun(ctx, w); err != nil {
		return err
	}
	if head.ID == "" {
		r.t.Base = gate.Base{
			Problem: gate.HeadMissing, Source: "HEAD", Detail: "HEAD",
			Message: "HEAD names no commit, so there is nothing to verify (event " + w.event + ")",
			Remedy:  "check out the commit to verify before this step, with actions/checkout",
		}
		return nil
	}
	proved := r.proveHead(&w)
	if in.Base != "" {
		return r.inputBase(ctx, w, proved)
	}
	return r.eventBase(ctx, w, proved)
}

// problem records a problem, each message once.
func (r *resolver) problem(to *rule.Rule, message, remedy string) {
	for _, p := range r.t.Problems {
		if p.Rule == to && p.Message == message {
			return
		}
	}
	r.t.Problems = append(r.t.Problems, Problem{Rule: to, Message: message, Remedy: remedy})
}

func (r *resolver) note(format string, a ...any) {
	r.t.Notes = append(r.t.Notes, fmt.Sprintf(format, a...))
}

// lacks reports a field that the event needs. Nothing is reported when the
// payload as a whole is unreadable: that is said once.
func (r *resolver) lacks(path, expected string) {
	if r.in.Event.err == nil {
		r.problem(PayloadUnreadable, r.in.Event.lack(path, expected),
			"run the action on a payload as GitHub sends it; with `act`, give the event file the field "+path)
	}
}

// row reads the payload by the name of its event.
func (r *resolver) row() row {
	e := r.in.Event
	w := row{event: payload.Cut(e.Name, shown)}
	switch e.Name {
	case eventPullRequest, eventReview, eventReviewComment:
		r.pullRequest(&w)
		w.movable = true
		w.checkout = "drop `ref:` from actions/checkout, so that it checks out the merge commit, or use `ref: ${{ github.event.pull_request.head.sha }}`"
	case eventPullRequestTarget:
		r.pullRequest(&w)
		w.checkout = "use `ref: ${{ github.event.pull_request.head.sha }}`, or better run on `pull_request`"
		r.t.ChecksOff = "the event pull_request_target runs with secrets"
	case eventMergeGroup:
		r.setTip(&w, fieldGroupHead, "the merge group's head")
		w.check, w.checkout = onTip, "drop `ref:` from actions/checkout, or use `ref: ${{ github.event.merge_group.head_sha }}`"
		r.setBase(&w, fieldGroupBase)
	case eventPush:
		r.push(&w)
	case eventCreate:
		r.create(&w)
	case eventRelease:
		w.checkout = "use `ref: ${{ github.event.release.tag_name }}`"
		r.tag(&w, r.text(fieldTagName, "the tag's name"))
	case eventDelete:
		r.t.NothingToVerify = e.NothingLeft()
		w.base, w.check = unread, nowhere
	case eventDispatch:
		r.dispatch(&w)
	case eventSchedule:
		w.base, r.t.HeadPolicy = noChanges, r.in.Base == ""
		r.note("event schedule: no change set without input base")
	case eventRepository:
		w.base, w.fallback = required, "client_payload is not read"
	case eventWorkflowRun:
		r.workflowRun(&w)
	default:
		r.unknownEvent(&w)
	}
	return w
}

// text reads a string that may not be empty.
func (r *resolver) text(path, expected string) string {
	f := r.in.Event.fields[path]
	if f.Kind != payload.String || f.Text == "" {
		r.lacks(path, expected)
		return ""
	}
	return f.Text
}

// setTip reads the commit that HEAD must be.
func (r *resolver) setTip(w *row, path, name string) {
	id, kind := r.in.Event.readID(path, r.ids)
	if kind != idFine {
		r.lacks(path, fmt.Sprintf("a commit id of %d hexadecimal digits", r.ids))
		w.unknown = true
	}
	w.tip, w.tipName = id, name
}

// setBase reads the base of an event, unless input base replaces it.
func (r *resolver) setBase(w *row, path string) {
	id, kind := r.in.Event.readID(path, r.ids)
	w.id, w.source = id, path
	switch kind {
	case idFine:
		w.base = given
	case idNone:
		w.base, w.seen = zero, r.in.Event.fields[path].Text
	case idBad:
		w.base, w.seen = malformed, r.in.Event.fields[path].Text
	case idMissing:
		w.base = unread
		if r.in.Base == "" {
			r.lacks(path, fmt.Sprintf("a commit id of %d hexadecimal digits", r.ids))
		}
	}
}

func (r *resolver) pullRequest(w *row) {
	r.setTip(w, fieldHead, "the pull request's head")
	r.setBase(w, fieldBase)
	w.merges, w.check = true, onTip
}

func (r *resolver) push(w *row) {
	e := r.in.Event
	if r.t.NothingToVerify = e.NothingLeft(); r.t.NothingToVerify != "" {
		return
	}
	if f := e.fields[fieldDeleted]; f.Kind != payload.Boolean && f.Kind != payload.Absent {
		// Without it nothing is taken for deleted, which is the safe reading.
		r.lacks(fieldDeleted, "true or false")
	}
	w.checkout = "drop `ref:` from actions/checkout, or use `ref: ${{ github.event.after }}`"
	ref := r.text(fieldRef, "the full name of a branch or tag")
	if name, ok := strings.CutPrefix(ref, "refs/tags/"); ok {
		w.tagObject, _ = e.readID(fieldAfter, r.ids)
		if w.tagObject == "" {
			r.lacks(fieldAfter, fmt.Sprintf("an object id of %d hexadecimal digits", r.ids))
			w.unknown = true
		}
		w.checkout = "drop `ref:` from actions/checkout, or use `ref: ${{ github.ref }}`"
		r.tag(w, name)
		return
	}
	branch, isBranch := strings.CutPrefix(ref, "refs/heads/")
	if ref != "" && !isBranch {
		r.lacks(fieldRef, "the full name of a branch or tag")
	}
	r.setTip(w, fieldAfter, "the pushed commit")
	w.check = onTip
	r.setBase(w, fieldBefore)
	if w.base != zero {
		return
	}
	if !isBranch {
		w.base = unread
		return
	}
	if r.in.Base != "" {
		return
	}
	w.branch = r.text(fieldDefaultBranch, "the name of the default branch")
	switch {
	case w.branch == "":
		w.base = unread
	case !validRef("refs/heads/" + w.branch):
		w.base = unread
		r.lacks(fieldDefaultBranch, "the name of the default branch")
	case w.branch == branch:
		w.base, w.source = emptyTree, "the first push of the default branch"
	default:
		w.base, w.source = newBranch, "the merge base of HEAD and the default branch "+payload.Cut(w.branch, shown)
	}
}

// tag is the row of tags and releases.
func (r *resolver) tag(w *row, name string) {
	w.base, w.check = previousTag, onSHA
	w.tipName = "the commit of the tag " + payload.Cut(name, shown)
	w.unknown = w.unknown || name == ""
	r.t.Tag = name
}

func (r *resolver) create(w *row) {
	switch kind := r.text(fieldRefType, "\"tag\" or \"branch\""); kind {
	case "tag":
		w.checkout = "drop `ref:` from actions/checkout, or use `ref: ${{ github.ref }}`"
		r.tag(w, r.text(fieldRef, "the tag's name"))
	case "":
		w.base, w.unknown, w.check = unread, true, nowhere
		r.t.ChecksOff = "it is not known what the event create made"
	default:
		w.event = "create of a " + payload.Cut(kind, shown)
		r.unknownEvent(w)
	}
}

func (r *resolver) dispatch(w *row) {
	w.base, w.source, w.fallback = required, fieldInputsBase, "the workflow's own input `base` is empty too"
	if r.in.Base != "" {
		return
	}
	inputs, base := r.in.Event.fields[fieldInputs], r.in.Event.fields[fieldInputsBase]
	switch {
	case inputs.Kind == payload.Absent || inputs.Kind == payload.Null:
		// A workflow without inputs has none in its payload.
	case inputs.Kind != payload.Object:
		w.base = unread
		r.lacks(fieldInputs, "an object")
	case base.Kind == payload.Absent || base.Kind == payload.Null:
	case base.Kind != payload.String:
		w.base = unread
		r.lacks(fieldInputsBase, "a string")
	case strings.TrimSpace(base.Text) != "":
		id, kind := parseID(strings.TrimSpace(base.Text), r.ids)
		w.base, w.id, w.seen = given, id, base.Text
		switch kind {
		case idNone:
			w.base = zero
		case idBad:
			w.base = malformed
		case idFine, idMissing:
		}
	}
}

func (r *resolver) workflowRun(w *row) {
	r.t.ChecksOff = "the event workflow_run runs with secrets"
	r.setTip(w, fieldRunHead, "the head of the tested run")
	w.merges, w.check, w.checkout = true, onTip, "use `ref: ${{ github.event.workflow_run.head_sha }}`"
	pulls := r.in.Event.fields[fieldRunPulls]
	if pulls.Kind != payload.Array {
		w.base = unread
		if r.in.Base == "" {
			r.lacks(fieldRunPulls, "an array")
		}
		return
	}
	w.base, w.fallback = required, fmt.Sprintf("workflow_run.pull_requests has %d entries where exactly one with the tested head is needed", pulls.Items)
	if pulls.Items != 1 {
		return
	}
	of, kind := r.in.Event.readID(fieldRunPullHead, r.ids)
	switch {
	case kind == idMissing:
		w.base = unread
		if r.in.Base == "" {
			r.lacks(fieldRunPullHead, fmt.Sprintf("a commit id of %d hexadecimal digits", r.ids))
		}
	case kind != idFine || of != w.tip:
		w.fallback = "the pull request of the tested run has moved on: its head is no longer workflow_run.head_sha"
	default:
		r.setBase(w, fieldRunPullBase)
	}
}

func (r *resolver) unknownEvent(w *row) {
	w.base = required
	w.fallback = "the events that carry one are pull_request, pull_request_review, pull_request_review_comment, pull_request_target, merge_group, push, " +
		"create of a tag, release, workflow_dispatch (its input `base`) and workflow_run"
	r.t.ChecksOff = "the event " + w.event + " is none of those that may run declared checks"
}

// tagTip finds the commit that a tag peels to. The payload's own id comes first,
// then GITHUB_SHA, then the local tag, which may have been moved since. The
// object of an annotated tag is often not in the clone; it is fetched only when
// nothing else tells.
func (r *resolver) tagTip(ctx context.Context, w *row) error {
	repo := r.in.Repository
	peel := func(id string) (bool, error) {
		if id == "" {
			return false, nil
		}
		commit, err := repo.Peel(ctx, id)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("peeling %s: %w", id, err)
		}
		w.tip = commit
		return true, nil
	}
	for _, id := range []string{w.tagObject, r.sha} {
		if ok, err := peel(id); ok || err != nil {
			return err
		}
	}
	if name := "refs/tags/" + r.t.Tag; validRef(name) {
		commit, err := repo.Ref(ctx, name)
		if err != nil {
			return fmt.Errorf("reading the tag: %w", err)
		}
		w.tip = commit
	}
	if w.tip == "" && w.tagObject != "" && r.in.FetchMissing {
		if err := repo.Fetch(ctx, w.tagObject); ctx.Err() != nil {
			return ctx.Err()
		} else if err == nil {
			if ok, err := peel(w.tagObject); ok || err != nil {
				return err
			}
		}
	}
	if w.tip == "" && !w.unknown {
		w.unknown = true
		r.problem(WrongCheckout, "the checkout does not have "+w.tipName+", so HEAD "+r.headText()+" is not proved to be it (event "+w.event+")",
			"check out the tagged commit: "+w.checkout)
	}
	return nil
}

// checkRun chooses the commit of the check run.
func (r *resolver) checkRun(ctx context.Context, w row) error {
	if r.in.CheckRunSHA != "" {
		id, kind := parseID(r.in.CheckRunSHA, r.ids)
		if kind != idFine {
			return fmt.Errorf("input sha is %q; allowed is a full commit id of %d hexadecimal digits", payload.Cut(r.in.CheckRunSHA, shown), r.ids)
		}
		r.t.CheckRunSHA = id
		return nil
	}
	switch w.check {
	case onHead:
		r.t.CheckRunSHA = r.head.ID
	case onTip:
		r.t.CheckRunSHA = w.tip
	case nowhere:
	case onSHA:
		r.t.CheckRunSHA = w.tip
		if r.sha == "" {
			return nil
		}
		commit, err := r.in.Repository.Peel(ctx, r.sha)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("peeling GITHUB_SHA: %w", err)
		}
		if err == nil {
			r.t.CheckRunSHA = commit
		}
	}
	return nil
}

// headText describes HEAD for a message.
func (r *resolver) headText() string {
	switch n := len(r.head.Parents); {
	case n == 2:
		return r.head.ID + " (a merge of " + r.head.Parents[0] + " and " + r.head.Parents[1] + ")"
	case n > 2:
		return fmt.Sprintf("%s (a merge of %d commits)", r.head.ID, n)
	}
	return r.head.ID
}

// mergesTip tells whether HEAD is a merge of exactly two commits, the second
// being the tip under review.
func (r *resolver) mergesTip(w row) bool {
	return w.merges && len(r.head.Parents) == 2 && r.head.Parents[1] == w.tip
}

// proveHead checks the HEAD column, and moves the base to the first parent of
// GitHub's own merge. It tells whether HEAD is what the event is about.
func (r *resolver) proveHead(w *row) bool {
	switch {
	case w.unknown:
		return false
	case w.tip == "":
		return true
	case r.head.ID == w.tip:
		r.note("event %s: HEAD is %s", w.event, w.tipName)
		return true
	case !r.mergesTip(*w):
		expected := w.tipName + " " + w.tip
		if w.merges {
			expected += ", or a merge with it as second parent"
		}
		r.problem(WrongCheckout, "HEAD is "+r.headText()+"; expected for the event "+w.event+": "+expected, "check out what is under review: "+w.checkout)
		return false
	case r.in.Base != "":
		r.note("event %s: HEAD is a merge of %s, measured from input base", w.event, w.tipName)
		return true
	}
	first := r.head.Parents[0]
	if w.movable && r.head.ID == r.sha {
		// Only GitHub can have made this commit: GITHUB_SHA is its merge, and an
		// author cannot make a commit that contains its own id.
		r.note("event %s: HEAD is GITHUB_SHA, a merge of %s: the base is its first parent", w.event, w.tipName)
		switch {
		case w.base == zero || w.base == malformed:
			r.lacks(w.source, fmt.Sprintf("a commit id of %d hexadecimal digits", r.ids))
		case w.base == given && w.id != first:
			r.problem(BaseMoved, "the base has moved on: "+w.source+" is "+w.id+", but GitHub built the merge commit on "+first+", which is used", "")
		}
		w.base, w.id, w.source = given, first, "the first parent of GitHub's merge commit"
		return true
	}
	if w.base == given && w.id == first {
		r.note("event %s: HEAD is a merge of %s, on the payload's base", w.event, w.tipName)
		return true
	}
	if w.base != given {
		// The base has a finding of its own; there is none to hold the merge against.
		return false
	}
	r.problem(WrongCheckout, "HEAD is "+r.headText()+", whose first parent is not the base "+w.id+" (from "+w.source+") of the event "+w.event+
		", and it is not the merge that GitHub made for this run", "check out the head commit itself: `ref: "+w.tip+"`")
	return false
}

// inputBase uses input base, which wins over the event's.
func (r *resolver) inputBase(ctx context.Context, w row, proved bool) error {
	r.note("event %s: input base replaces the event's", w.event)
	w.source = "input base"
	w.seen = r.in.Base
	id, kind := parseID(r.in.Base, r.ids)
	switch kind {
	case idFine:
		return r.use(ctx, w, id, proved)
	case idNone:
		r.zeroBase(w)
	case idBad, idMissing:
		r.malformedBase(w)
	}
	return nil
}

// eventBase uses what the event says. proved is false when HEAD is not what the
// event is about: then nothing is derived from HEAD.
func (r *resolver) eventBase(ctx context.Context, w row, proved bool) error {
	switch w.base {
	case given:
		if err := r.use(ctx, w, w.id, proved); err != nil || r.t.Base.Problem != gate.BaseFine {
			return err
		}
		if w.merges && r.head.ID == w.tip {
			return r.containsBase(ctx, w)
		}
	case required:
		r.requiredBase(w)
	case malformed:
		r.malformedBase(w)
	case zero:
		r.zeroBase(w)
	case unread:
		// Reported already.
	case emptyTree:
		r.t.Base = gate.Base{Empty: true, Source: w.source}
	case newBranch:
		if proved {
			return r.branchBase(ctx, w)
		}
	case previousTag:
		if proved {
			return r.releaseBase(ctx, w)
		}
	case noChanges:
		r.t.NoChangeSet = "the event " + w.event + " has no change set: nothing to compare without input `base`"
	}
	return nil
}

// use makes id the base. The clone may lack the commit: then it is fetched.
// Where HEAD is not what it should be (proved is false) its being the base is no
// finding of its own: a checkout of the target branch is the wrong checkout.
func (r *resolver) use(ctx context.Context, w row, id string, proved bool) error {
	r.t.Base = gate.Base{ID: id, Source: w.source}
	if id == r.head.ID {
		if !proved {
			return nil
		}
		r.t.Base.Problem, r.t.Base.Detail = gate.BaseIsHead, id
		r.t.Base.Message = "the base " + id + " (from " + w.source + ", event " + w.event + ") is HEAD itself: nothing would be compared"
		r.t.Base.Remedy = "pass the commit before the change as input `base`"
		return nil
	}
	there, err := r.present(ctx, id)
	if there || err != nil {
		return err
	}
	cause, remedy := "fetching is switched off (fetch-missing: false)", "check out with `fetch-depth: 0`, or set `fetch-missing: true`"
	if r.in.FetchMissing {
		err := r.in.Repository.Fetch(ctx, id)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			if there, err := r.present(ctx, id); there || err != nil {
				return err
			}
			cause, remedy = "the object of that id is no commit", "pass the full id of a commit as input `base`"
		} else {
			cause, remedy = fetchCause(err)
		}
		r.note("fetching %s: %s", id, cause)
	}
	shallow, err := r.in.Repository.Shallow(ctx)
	if err != nil {
		return fmt.Errorf("asking whether the clone is shallow: %w", err)
	}
	r.t.Base = gate.Base{
		Source: w.source, Problem: gate.BaseMissing, Detail: id, Shallow: shallow,
		Message: "the checkout lacks the base commit " + id + " (from " + w.source + ", event " + w.event + "), and " + cause,
		Remedy:  remedy,
	}
	return nil
}

// fetchCause says why a commit could not be fetched, and what to do about it.
func fetchCause(err error) (cause, remedy string) {
	said := payload.Cut(err.Error(), 160)
	var f *FetchError
	errors.As(err, &f)
	switch {
	case f != nil && f.Gone:
		return "it is gone from the server (" + said + ")",
			"name a commit that still exists as input `base`; a workflow on `workflow_dispatch` with an input `base` can run the gate for this commit"
	case f != nil && f.Denied:
		return "there is no access to the server (" + said + ")",
			"give the job `permissions: contents: read` and the action its `token`, or check out with `fetch-depth: 0`"
	}
	return "fetching it failed (" + said + ")",
		"check out with `fetch-depth: 0`, or run the gate by `workflow_dispatch` with an input `base`"
}

func (r *resolver) present(ctx context.Context, id string) (bool, error) {
	c, err := r.in.Repository.Commit(ctx, id)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading commit %s: %w", id, err)
	}
	return c.ID == id, nil
}

func (r *resolver) requiredBase(w row) {
	if r.in.Event.err != nil {
		// The payload might have carried one; it is the payload that is wrong.
		return
	}
	r.t.Base = gate.Base{
		Problem: gate.BaseRequired, Source: "event " + w.event, Detail: "(none)",
		Message: "the event " + w.event + " carries no base commit: input base is (none), and " + w.fallback,
		Remedy: "pass the full id of the commit before the change as input `base`; in a workflow on `workflow_dispatch` declare `base` as a required input " +
			"and pass it on by `with: {base: \"${{ inputs.base }}\"}`",
	}
}

func (r *resolver) malformedBase(w row) {
	text := payload.Cut(w.seen, shown)
	r.t.Base = gate.Base{
		Problem: gate.BaseMalformed, Source: w.source, Detail: text,
		Message: fmt.Sprintf("the base from %s (event %s) is \"%s\"; expected: a full commit id of %d hexadecimal digits", w.source, w.event, text, r.ids),
		Remedy:  "pass a full commit id as input `base`: no branch, no tag, no abbreviated id",
	}
}

func (r *resolver) zeroBase(w row) {
	text := payload.Cut(w.seen, shown)
	r.t.Base = gate.Base{
		Problem: gate.BaseZero, Source: w.source, Detail: text,
		Message: "the base from " + w.source + " (event " + w.event + ") is " + text + ", which names no commit",
		Remedy:  "pass the full id of the commit that the change started from as input `base`",
	}
}

// containsBase refuses a head that lacks the base's newer commits: measured from
// there, the target branch's own handoff updates would look like the author's.
func (r *resolver) containsBase(ctx context.Context, w row) error {
	base, head := r.t.Base.ID, r.head.ID
	yes, why, err := r.isAncestor(ctx, base, head)
	if err != nil || yes {
		return err
	}
	if why == "" {
		r.problem(HeadBehindBase, "HEAD "+head+" is "+w.tipName+" and does not contain the base "+base+" (from "+w.source+"), which would be counted as undone",
			"check out the merge commit (drop `ref:` from actions/checkout), or update the branch, or pass `base`")
		return nil
	}
	r.problem(HeadBehindBase, "it cannot be told whether HEAD "+head+", "+w.tipName+", contains the base "+base+" (from "+w.source+"): "+why,
		"check out with `fetch-depth: 0`, or check out the merge commit (drop `ref:` from actions/checkout), or pass `base`")
	return nil
}

// isAncestor asks local history, and the API where that is cut. why is set when
// neither could tell.
func (r *resolver) isAncestor(ctx context.Context, base, head string) (yes bool, why string, err error) {
	yes, err = r.in.Repository.IsAncestor(ctx, base, head)
	if err != nil {
		return false, "", fmt.Errorf("asking whether %s contains %s: %w", head, base, err)
	}
	if yes {
		// A cut history may hide a path, but never invents one.
		return true, "", nil
	}
	shallow, err := r.in.Repository.Shallow(ctx)
	if err != nil {
		return false, "", fmt.Errorf("asking whether the clone is shallow: %w", err)
	}
	if !shallow {
		return false, "", nil
	}
	if r.in.Lookups == nil {
		return false, "the clone is shallow, and there is no usable token to ask the API", nil
	}
	c, err := r.in.Lookups.Compare(ctx, base, head)
	if ctx.Err() != nil {
		return false, "", ctx.Err()
	}
	if err != nil {
		return false, "the clone is shallow, and the API gave no answer (" + payload.Cut(err.Error(), 160) + ")", nil
	}
	r.note("compare %s...%s: behind by %d", base, head, c.BehindBy)
	return c.BehindBy == 0, "", nil
}

// branchBase measures a new branch from where it left the default branch.
func (r *resolver) branchBase(ctx context.Context, w row) error {
	id, why, err := r.mergeBase(ctx, w.branch)
	switch {
	case err != nil:
		return err
	case why != "":
		r.underived(w, "where the new branch left "+payload.Cut(w.branch, shown)+" cannot be told: "+why)
		return nil
	case id == "":
		r.t.Base = gate.Base{Empty: true, Source: "a history that shares no commit with the default branch " + payload.Cut(w.branch, shown)}
		return nil
	case id == r.head.ID:
		r.t.Base = gate.Base{ID: id, Source: w.source}
		r.t.NoChangeSet = "the default branch already holds the tip of the new branch: the change set is empty"
		r.t.HeadPolicy = true
		return nil
	}
	return r.use(ctx, w, id, true)
}

func (r *resolver) mergeBase(ctx context.Context, branch string) (id, why string, err error) {
	repo := r.in.Repository
	shallow, err := repo.Shallow(ctx)
	if err != nil {
		return "", "", fmt.Errorf("asking whether the clone is shallow: %w", err)
	}
	where := "the clone is shallow"
	if !shallow {
		tip, err := repo.Ref(ctx, "refs/remotes/origin/"+branch)
		if err != nil {
			return "", "", fmt.Errorf("reading the default branch: %w", err)
		}
		if tip != "" {
			id, err := repo.MergeBase(ctx, r.head.ID, tip)
			if err != nil {
				return "", "", fmt.Errorf("looking for the merge base with the default branch: %w", err)
			}
			return id, "", nil
		}
		where = "the clone does not have the default branch"
	}
	if r.in.Lookups == nil {
		return "", where + ", and there is no usable token to ask the API", nil
	}
	c, err := r.in.Lookups.Compare(ctx, branch, r.head.ID)
	if ctx.Err() != nil {
		return "", "", ctx.Err()
	}
	if err != nil {
		return "", where + ", and the API gave no answer (" + payload.Cut(err.Error(), 160) + ")", nil
	}
	id, kind := parseID(c.MergeBase, r.ids)
	if kind != idFine {
		return "", where + ", and the API's answer names no merge base", nil
	}
	return id, "", nil
}

// underived is the finding for a base that had to be looked up and was not found.
func (r *resolver) underived(w row, why string) {
	r.t.Base = gate.Base{
		Problem: gate.BaseRequired, Source: "event " + w.event, Detail: "(none)",
		Message: "no base was found for the event " + w.event + ": " + why,
		Remedy:  "check out with `fetch-depth: 0`, or pass the full id of the commit before the change as input `base`",
	}
}

// releaseBase measures a tag from the release before it.
func (r *resolver) releaseBase(ctx context.Context, w row) error {
	tag, found, why, err := r.previous(ctx, r.t.Tag)
	switch {
	case err != nil:
		return err
	case why != "":
		r.underived(w, "the release before "+payload.Cut(r.t.Tag, shown)+" cannot be told: "+why)
		return nil
	case !found:
		r.t.Base = gate.Base{Empty: true, Source: "the tags: there is no release before " + payload.Cut(r.t.Tag, shown)}
		return nil
	}
	w.source = "the previous release tag " + payload.Cut(tag.Name, shown)
	return r.use(ctx, w, tag.Commit, true)
}

// validRef tells whether a full ref name is one that git could have made
// (git-check-ref-format), so that nothing else is ever looked up or asked for.
func validRef(name string) bool {
	if strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.HasSuffix(name, ".") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c == 0x7f || strings.IndexByte("~^:?*[\\", c) >= 0 {
			return false
		}
	}
	return true
}
