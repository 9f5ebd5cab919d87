package githubapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v66/github"

	"github.com/handoff-gate/handoff-gate/gate/render"
)

// Conclusion of a check run. Neutral, skipped, stale and action_required are
// never given: the first two count as passed for a required check.
type Conclusion string

// The conclusions the gate gives.
const (
	Success   Conclusion = "success"   // no error
	Failure   Conclusion = "failure"   // an error, or the gate could not run
	Abandoned Conclusion = "cancelled" // the job was cancelled before a verdict
)

// Output is what a check run shows. Summary and Text are Markdown; what is over
// GitHub's limits is cut at a line, with a note.
type Output struct {
	Title, Summary, Text string
}

// Run is what a check run is made from.
type Run struct {
	Name           string // as branch protection and people see it
	HeadSHA        string // full commit id it is attached to
	ExternalID     string // of ExternalID: finds this run's check run again
	DetailsURL     string // where the run's log is
	MaxAnnotations int    // input max-annotations, 0 to 1000
}

// maxExternalID keeps the id readable; the API names no limit.
const maxExternalID = 200

// ExternalID identifies one gate in one workflow run. It is the same in each
// attempt of a run, so that a repeated run finds its own check run; it differs
// between events and runs, which have different bases and must not overwrite
// each other's verdict. Paths are the project folders, in any order.
func ExternalID(runID, event, job string, paths []string) string {
	paths = slices.Clone(paths)
	slices.Sort(paths)
	paths = slices.Compact(paths)
	for i, p := range paths {
		paths[i] = url.QueryEscape(p) // so that no path can hold a separator
	}
	projects := strings.Join(paths, ",")
	head := "hg1:" + url.QueryEscape(runID) + ":" + url.QueryEscape(event) + ":" + url.QueryEscape(job)
	id := head + ":" + projects
	if len(id) <= maxExternalID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	digest := "sha256-" + hex.EncodeToString(sum[:])
	if len(head)+1+len(digest) > maxExternalID {
		head = "hg1"
	}
	return head + ":" + digest
}

// Reporter keeps one check run: begun before the layers run, completed after,
// or cancelled. It is made for one run and not for concurrent use.
type Reporter struct {
	client *Client
	run    Run

	id      int64  // 0: there is no check run (known)
	url     string // its page
	count   int    // annotations on it, as far as this process knows
	shown   map[annotationKey]int
	closed  error    // no further annotations: why those on it could not be read
	unsure  bool     // a create was sent and no answer says what came of it
	ended   bool     // completed or cancelled by this process
	refused *Refusal // why there is no check run
}

// NewReporter prepares a check run; nothing is sent.
func NewReporter(c *Client, run Run) *Reporter { return &Reporter{client: c, run: run} }

// ID gives the check run's id; 0 when there is none.
func (r *Reporter) ID() int64 { return r.id }

// URL gives the address of the check run's page; "" when there is none.
func (r *Reporter) URL() string { return r.url }

// Begin finds this run's check run or creates it as in progress. A Refusal
// (nil when all is well) is remembered: Complete then hands everything back.
func (r *Reporter) Begin(ctx context.Context) *Refusal {
	doing := "looking for an earlier check run"
	found, err := r.find(ctx)
	for try := 1; err == nil; try++ {
		if found != nil {
			r.adopt(ctx, found)
			return nil
		}
		doing = "creating the check run"
		var run *github.CheckRun
		run, err = r.client.createCheckRun(ctx, github.CreateCheckRunOptions{
			Name: r.run.Name, HeadSHA: r.run.HeadSHA, Status: github.String("in_progress"),
			StartedAt: r.now(), ExternalID: github.String(r.run.ExternalID), DetailsURL: optional(r.run.DetailsURL),
		})
		if err == nil {
			r.take(run)
			return nil
		}
		var call *CallError
		if !errors.As(err, &call) || !call.Lost {
			break
		}
		// The check run may be there all the same. It is never created again
		// without looking, or the first would stay in progress for ever.
		r.unsure = true
		if call.Cause == Cancelled || try == maxTries {
			break
		}
		if e := r.client.t.sleep(ctx, r.client.t.backoff(try)); e != nil {
			call.Cause = Deadline
			if ctx.Err() != nil {
				call.Cause = Cancelled
			}
			break
		}
		found, err = r.find(ctx)
		if err != nil {
			doing = "looking whether the check run was created"
		}
	}
	r.refused = refusal(doing, err)
	return r.refused
}

// find looks among all check runs of the commit with this name for this run's
// own, and returns the newest if it can still be used: one that is not
// completed, or that is completed without annotations. Nil means to create
// one. Old annotations could only be added to, and the newest of a name is the
// one that is shown.
func (r *Reporter) find(ctx context.Context) (*github.CheckRun, error) {
	if !fullID.MatchString(r.run.HeadSHA) {
		return nil, &CallError{Cause: Unreadable, Message: fmt.Sprintf("%q is not a full commit id", r.run.HeadSHA)}
	}
	runs, err := r.client.checkRuns(ctx, r.run.HeadSHA, r.run.Name)
	if err != nil {
		return nil, err
	}
	var newest *github.CheckRun
	for _, run := range runs {
		if run.GetID() != 0 && run.GetExternalID() == r.run.ExternalID && run.GetName() == r.run.Name &&
			(newest == nil || run.GetID() > newest.GetID()) {
			newest = run
		}
	}
	if newest != nil && newest.GetStatus() == "completed" && newest.GetOutput().GetAnnotationsCount() > 0 {
		return nil, nil
	}
	return newest, nil
}

// adopt continues a check run that is there already. One that an attempt left
// in the middle may hold annotations: they are read, so that none is added twice.
func (r *Reporter) adopt(ctx context.Context, run *github.CheckRun) {
	r.take(run)
	r.count = run.GetOutput().GetAnnotationsCount()
	if r.count == 0 {
		return
	}
	list, err := r.client.annotations(ctx, r.id)
	if err != nil {
		r.closed = err
		return
	}
	r.shown = map[annotationKey]int{}
	for _, a := range list {
		r.shown[keyOf(a)]++
	}
}

func (r *Reporter) take(run *github.CheckRun) {
	r.id, r.unsure, r.refused = run.GetID(), false, nil
	if u, err := url.Parse(run.GetHTMLURL()); err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.User == nil {
		r.url = r.client.mask.String(u.String())
	}
}

// Result is what became of the findings and of the check run.
type Result struct {
	// Completed: the check run carries the verdict. If not, everything has to
	// be shown by other means, and Unsent holds every annotation.
	Completed bool
	ID        int64
	URL       string
	// Annotated counts the annotations on the check run, and Over those that
	// max-annotations left out (they are counted in the summary alone).
	Annotated, Over int
	// Unsent could not be put on the check run: refused or failed batches, and
	// findings without a usable file. They become workflow commands.
	Unsent []render.Annotation
	// Refusal says what went wrong first; nil when nothing did. With Completed
	// it concerns annotations alone.
	Refusal *Refusal
}

// item is an annotation and its form for the API.
type item struct {
	from render.Annotation
	wire *github.CheckRunAnnotation
}

// Complete puts the annotations on the check run, errors first, and completes
// it. The completion is sent whatever became of the batches, and once more, for
// at most 5 s, where the deadline passed: a check run left in progress blocks a
// merge for ever. Without a check run everything comes back in Unsent.
func (r *Reporter) Complete(ctx context.Context, out Output, annotations []render.Annotation, c Conclusion) Result {
	if r.id == 0 && r.unsure {
		if found, err := r.find(ctx); err == nil && found != nil {
			r.adopt(ctx, found)
		}
	}
	if r.id == 0 || r.ended {
		return Result{Unsent: annotations, Refusal: r.refused}
	}
	res := Result{ID: r.id, URL: r.url}
	lead, last := r.split(annotations, &res)
	if r.closed != nil {
		res.Refusal = refusal("reading the annotations of an earlier attempt", r.closed)
	}
	out = r.fit(out)

	for i, batch := range lead {
		err := r.update(ctx, github.UpdateCheckRunOptions{Name: r.run.Name, Output: output(out, batch)}, len(batch))
		if err == nil {
			res.Annotated += len(batch)
			continue
		}
		// The batch is skipped. The output it carried is in every later request,
		// so for it nothing is repeated; its findings go back to the caller.
		r.skip(&res, batch, "adding annotations", err)
		if !contentRefused(err) && !passing(err) {
			for _, rest := range lead[i+1:] {
				r.skip(&res, rest, "", nil)
			}
			r.skip(&res, last, "", nil)
			last = nil
			break
		}
	}
	if err := r.finish(ctx, out, last, c, &res); err != nil {
		failed := refusal("completing the check run", err)
		return Result{ID: r.id, URL: r.url, Unsent: annotations, Refusal: failed}
	}
	r.ended, res.Completed = true, true
	return res
}

// split sorts out what can be sent and cuts it into batches; the last is the
// one that goes with the completion, and may be empty.
func (r *Reporter) split(annotations []render.Annotation, res *Result) (lead [][]item, last []item) {
	sorted := slices.Clone(annotations)
	slices.SortStableFunc(sorted, func(a, b render.Annotation) int { return a.Severity.Rank() - b.Severity.Rank() })
	var items []item
	sendable := 0
	for _, a := range sorted {
		w, ok := wire(a)
		switch {
		case !ok || r.closed != nil:
			res.Unsent = append(res.Unsent, a)
			continue
		case sendable == max(0, r.run.MaxAnnotations):
			res.Over++
			continue
		}
		sendable++
		if k := keyOf(w); r.shown[k] > 0 {
			r.shown[k]--
			res.Annotated++
			continue
		}
		items = append(items, item{a, w})
	}
	for len(items) > maxBatch {
		lead = append(lead, items[:maxBatch])
		items = items[maxBatch:]
	}
	return lead, items
}

func (r *Reporter) skip(res *Result, batch []item, doing string, err error) {
	for _, it := range batch {
		res.Unsent = append(res.Unsent, it.from)
	}
	if err != nil && res.Refusal == nil {
		res.Refusal = refusal(doing, err)
	}
}

// finish completes the check run: with the last batch; if that fails, without
// annotations; if GitHub refuses the output itself, without output. Past the
// deadline there is one more try.
func (r *Reporter) finish(ctx context.Context, out Output, last []item, c Conclusion, res *Result) error {
	opts := github.UpdateCheckRunOptions{
		Name: r.run.Name, Status: github.String("completed"), Conclusion: github.String(string(c)), CompletedAt: r.now(),
	}
	with := func(batch []item) github.UpdateCheckRunOptions {
		o := opts
		o.Output = output(r.noted(out, res), batch)
		return o
	}
	err := r.update(ctx, with(last), len(last))
	if err == nil {
		res.Annotated += len(last)
		return nil
	}
	if len(last) > 0 {
		r.skip(res, last, "adding annotations", err)
		if contentRefused(err) || passing(err) {
			err = r.update(ctx, with(nil), 0)
		}
	}
	bare := with(nil)
	if contentRefused(err) {
		bare = opts
		err = r.update(ctx, bare, 0)
	}
	var call *CallError
	if errors.As(err, &call) && call.Cause == Deadline {
		err = r.client.updateCheckRun(ctx, final, r.id, bare)
	}
	return err
}

// update sends one PATCH that adds n annotations. GitHub appends them each
// time, so after a lost answer the check run is looked at before anything is
// sent again. Without annotations a repetition changes nothing.
func (r *Reporter) update(ctx context.Context, opts github.UpdateCheckRunOptions, n int) error {
	if n == 0 {
		return r.client.updateCheckRun(ctx, replay, r.id, opts)
	}
	for try := 1; ; try++ {
		err := r.client.updateCheckRun(ctx, once, r.id, opts)
		if err == nil {
			r.count += n
			return nil
		}
		var call *CallError
		if !errors.As(err, &call) || !call.Lost || call.Cause == Cancelled || try == maxTries {
			return err
		}
		if e := r.client.t.sleep(ctx, r.client.t.backoff(try)); e != nil {
			call.Cause = Deadline
			if ctx.Err() != nil {
				call.Cause = Cancelled
			}
			return call
		}
		run, e := r.client.getCheckRun(ctx, r.id)
		if e != nil {
			return e
		}
		switch run.GetOutput().GetAnnotationsCount() {
		case r.count + n:
			if opts.Conclusion == nil || run.GetConclusion() == *opts.Conclusion {
				r.count += n
				return nil
			}
			return err
		case r.count: // it did not arrive
		default:
			return err
		}
	}
}

// Cancel makes one try, of at most 5 s, at the conclusion cancelled; for a job
// that is being stopped. A check run completed by this process stays as it is.
func (r *Reporter) Cancel(ctx context.Context) *Refusal {
	if r.ended {
		return nil
	}
	if r.id == 0 && r.unsure {
		if found, err := r.find(sent(ctx, final)); err == nil && found != nil {
			r.take(found)
		}
	}
	if r.id == 0 {
		return nil
	}
	err := r.client.updateCheckRun(ctx, final, r.id, github.UpdateCheckRunOptions{
		Name: r.run.Name, Status: github.String("completed"), Conclusion: github.String(string(Abandoned)), CompletedAt: r.now(),
		Output: output(Output{Title: "Cancelled", Summary: "The run was cancelled before the gate had a verdict."}, nil),
	})
	if err != nil {
		return refusal("cancelling the check run", err)
	}
	r.ended = true
	return nil
}

// contentRefused: GitHub does not take this request's content, but may take another.
func contentRefused(err error) bool {
	var call *CallError
	if !errors.As(err, &call) || call.Cause != Answered {
		return false
	}
	switch call.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusGone, http.StatusUnavailableForLegalReasons:
		return false
	}
	return true
}

// passing: the request failed for a reason that the next one need not share.
func passing(err error) bool {
	var call *CallError
	if !errors.As(err, &call) {
		return false
	}
	return call.Cause == ServerError || call.Cause == Network || call.Cause == Limited || call.Cause == Unreadable
}

// fit brings the output into GitHub's limits. Title and summary are required
// wherever output is sent, so neither stays empty.
func (r *Reporter) fit(o Output) Output {
	o.Title = cutRunes(oneLine(o.Title), render.MaxAnnotationTitle)
	if o.Title == "" {
		o.Title = r.run.Name
	}
	o.Summary = cutLines(o.Summary, render.MaxCheckOutput)
	if strings.TrimSpace(o.Summary) == "" {
		o.Summary = o.Title
	}
	o.Text = cutLines(o.Text, render.MaxCheckOutput)
	return o
}

// noted adds to the summary how many findings the annotations do not show.
func (r *Reporter) noted(o Output, res *Result) Output {
	var b strings.Builder
	if n := len(res.Unsent); n > 0 {
		fmt.Fprintf(&b, "\n\n%s could not be added as annotations; the job summary and the log have them.", findings(n))
	}
	if res.Over > 0 {
		fmt.Fprintf(&b, "\n\n%s more stand only in the summary: max-annotations is %d.", findings(res.Over), r.run.MaxAnnotations)
	}
	if b.Len() > 0 {
		// 65,000 and these two sentences stay below GitHub's 65,535.
		o.Summary = strings.TrimRight(o.Summary, "\n") + b.String() + "\n"
	}
	return o
}

func findings(n int) string {
	if n == 1 {
		return "1 finding"
	}
	return fmt.Sprintf("%d findings", n)
}

func output(o Output, batch []item) *github.CheckRunOutput {
	out := &github.CheckRunOutput{Title: github.String(o.Title), Summary: github.String(o.Summary), Text: optional(o.Text)}
	for _, it := range batch {
		out.Annotations = append(out.Annotations, it.wire)
	}
	return out
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// now is the time in the form the API documents: UTC, whole seconds.
func (r *Reporter) now() *github.Timestamp {
	return &github.Timestamp{Time: r.client.t.clock.Now().UTC().Truncate(time.Second)}
}
