// Package githubapi is everything between the gate and GitHub: the event
// payload, the Checks API, and the runner's inputs, outputs and files. Nothing
// here decides a verdict. What the API refuses changes where findings are
// shown, never what the gate says (github-action.md, first rule).
//
// A new input is a row of InputSpecs and a field of Inputs, a new output a name in
// OutputNames; a new event is a case in target.go.
package githubapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/google/go-github/v66/github"

	"github.com/handoff-gate/handoff-gate/gate/payload"
)

// DefaultAPIURL is used only where GITHUB_API_URL is unset.
const DefaultAPIURL = "https://api.github.com"

// apiVersion is the version of the REST API that every request names.
const apiVersion = "2022-11-28"

// perPage is the largest page the list endpoints give.
const perPage = 100

// maxPages bounds every list: a server whose "next" never ends must not keep
// the gate until its deadline. It is 10,000 check runs, or tags.
const maxPages = 100

// Clock is time as the client sees it, so that tests neither wait nor guess.
type Clock interface {
	Now() time.Time
	// Sleep waits for d or until ctx ends, and then returns ctx's error.
	Sleep(ctx context.Context, d time.Duration) error
}

// systemClock is the real time.
type systemClock struct{}

// Now is time.Now.
func (systemClock) Now() time.Time { return time.Now() }

// Sleep waits on a timer.
func (systemClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Options say which API is called, for which repository, and within what time.
type Options struct {
	APIURL     string            // GITHUB_API_URL exactly as given; "" is DefaultAPIURL
	Repository string            // GITHUB_REPOSITORY: OWNER/NAME
	Token      string            // "" is none: no call is made at all
	Version    string            // the program's, for the User-Agent
	Timeout    time.Duration     // api-timeout: all calls and waits together
	Transport  http.RoundTripper // nil: one of its own that honours HTTPS_PROXY and NO_PROXY
	Clock      Clock             // nil: the real time
	Jitter     func() float64    // in [0,1), spreads the waits; nil: random
	Debug      func(Attempt)     // told of every request sent; may be nil
}

// Client calls the API of one repository, one call after another. It is not
// for concurrent use: the budget of time is one for all calls, and GitHub asks
// for sequential requests.
type Client struct {
	gh          *github.Client
	t           *transport
	owner, name string
	token       bool
	mask        *Masker
}

var repositoryPart = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)

// ownerAndName parts the name of a repository. go-github puts both into the path
// as they are, so nothing that would change the path may pass.
func ownerAndName(repository string) (owner, name string, ok bool) {
	owner, name, _ = strings.Cut(repository, "/")
	for _, part := range []string{owner, name} {
		if !repositoryPart.MatchString(part) || part == "." || part == ".." {
			return "", "", false
		}
	}
	return owner, name, true
}

// NewClient prepares a client; it sends nothing. An error means that the
// environment names no usable API or repository: reporting falls back then.
func NewClient(o Options) (*Client, error) {
	owner, name, ok := ownerAndName(o.Repository)
	if !ok {
		return nil, fmt.Errorf("GITHUB_REPOSITORY is %q, expected OWNER/NAME", brief(o.Repository))
	}
	raw := o.APIURL
	if raw == "" {
		raw = DefaultAPIURL
	}
	base, err := url.Parse(strings.TrimRight(raw, "/") + "/")
	if err != nil || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" ||
		base.Scheme != "https" && base.Scheme != "http" {
		return nil, fmt.Errorf("GITHUB_API_URL is %q, expected an http or https URL", NewMasker(o.Token).String(brief(raw)))
	}
	if o.Clock == nil {
		o.Clock = systemClock{}
	}
	if o.Transport == nil {
		o.Transport = defaultTransport()
	}
	mask := NewMasker(o.Token)
	t := &transport{
		base: o.Transport, origin: base, clock: o.Clock, jitter: o.Jitter, debug: o.Debug, mask: mask,
		budget: o.Timeout, requestTimeout: requestTimeout, lastTry: lastTry,
		header: http.Header{
			"Authorization":        {"Bearer " + o.Token},
			"Accept":               {"application/vnd.github+json"},
			"X-Github-Api-Version": {apiVersion},
			"User-Agent":           {"handoff-gate/" + o.Version},
		},
	}
	gh := github.NewClient(&http.Client{
		Transport: t,
		// The transport follows redirects itself: net/http would turn a PATCH
		// into a GET on 301 and 302.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	// Not WithEnterpriseURLs: it appends api/v3/ to hosts that do not begin
	// with "api.", and the runner has already given the whole address.
	gh.BaseURL = base
	return &Client{gh: gh, t: t, owner: owner, name: name, token: o.Token != "", mask: mask}, nil
}

// Cause says why a call brought nothing.
type Cause uint8

// The causes of a CallError.
const (
	Answered    Cause = iota + 1 // a status that another try would not change
	Limited                      // rate limited to the last try
	ServerError                  // 500, 502, 503, 504 to the last try
	Network                      // no answer: DNS, TLS, refused, cut, too slow
	Deadline                     // api-timeout is used up
	Cancelled                    // the caller's context ended
	Redirected                   // sent to another host, which must not see the token
	Unreadable                   // an answer over the limit, or not the JSON expected
	NoToken                      // there is no token, so nothing was sent
)

// CallError is a call without a usable answer.
type CallError struct {
	Method, Path string // of the request; empty when none was sent
	Cause        Cause
	Status       int    // of the last answer; 0 when there was none
	Message      string // the server's words or the network error; masked, one line, bounded
	Tries        int
	// Lost: the request may have taken effect although no answer says so. Only
	// for a request that must not be repeated blindly is this of interest.
	Lost bool
	err  error
}

// Error names the request, the answer and the tries.
func (e *CallError) Error() string {
	if e.Cause == NoToken {
		return "there is no token, so the API was not called"
	}
	var b strings.Builder
	if e.Method != "" {
		fmt.Fprintf(&b, "%s %s: ", e.Method, e.Path)
	}
	b.WriteString(e.Answer())
	if e.Tries > 1 {
		fmt.Fprintf(&b, " (%d tries)", e.Tries)
	}
	return b.String()
}

// Answer is what came back, in words for a reader: "403 Forbidden".
func (e *CallError) Answer() string {
	var s string
	switch {
	case e.Status != 0:
		s = strings.TrimSpace(fmt.Sprintf("%d %s", e.Status, e.Message))
	case e.Message != "":
		s = e.Message
	}
	switch e.Cause {
	case Deadline:
		if s == "" {
			return "api-timeout is used up"
		}
		return "api-timeout is used up; the last answer was " + s
	case Cancelled:
		return "the run was cancelled"
	case NoToken:
		return "there is no token"
	case Network:
		return "no answer: " + s
	case Answered, Limited, ServerError, Redirected, Unreadable:
	}
	return s
}

// Unwrap gives the error underneath, where there is one.
func (e *CallError) Unwrap() error { return e.err }

var errNoToken = &CallError{Cause: NoToken}

// unreadable is the failure of a GET whose answer lacks what it is asked for.
func unreadable(path, message string) error {
	return &CallError{Method: http.MethodGet, Path: path, Cause: Unreadable, Status: http.StatusOK, Message: message, Tries: 1}
}

// failed brings whatever go-github returned into the form of a CallError; nil
// stays nil. go-github's own error types are not used further: it knows no
// retries, sees a rate limit only in a 403, and shows whole URLs.
func (c *Client) failed(resp *github.Response, err error) error {
	if err == nil {
		return nil
	}
	var call *CallError
	if errors.As(err, &call) {
		return call
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		// go-github returns the context's error in place of the transport's, so
		// how far the request came is not known: it counts as lost.
		return &CallError{Cause: Cancelled, Lost: true, err: err}
	}
	if resp == nil || resp.Response == nil || resp.Request == nil {
		return &CallError{Cause: Network, Message: c.clean(err.Error()), Tries: 1, Lost: true, err: err}
	}
	out := &CallError{
		Method: resp.Request.Method, Path: resp.Request.URL.Path, Status: resp.StatusCode,
		Cause: Answered, Tries: 1, err: err,
	}
	if s := resp.StatusCode; s >= 200 && s <= 299 {
		out.Cause, out.Lost, out.Message = Unreadable, true, "an answer that is not the JSON expected"
		return out
	}
	out.Message = c.clean(answerMessage(err, resp.StatusCode))
	return out
}

// answerMessage is what the server said about a refused request.
func answerMessage(err error, status int) string {
	var parts []string
	var refused *github.ErrorResponse
	if errors.As(err, &refused) {
		if refused.Message != "" {
			parts = append(parts, refused.Message)
		}
		for i, e := range refused.Errors {
			if i == 3 { // the rest says the same of other fields
				break
			}
			if s := strings.TrimSpace(strings.Join([]string{e.Field, e.Code, e.Message}, " ")); s != "" {
				parts = append(parts, s)
			}
		}
	}
	if len(parts) == 0 {
		return http.StatusText(status)
	}
	return strings.Join(parts, "; ")
}

// clean makes one bounded line without secrets of text from outside. The mask
// comes first: a token that the cut halves would no longer be recognised.
func (c *Client) clean(s string) string { return cleanText(c.mask, s) }

// brief shows text from outside in a message: without control and format
// characters, and no longer than a message bears.
func brief(s string) string { return payload.Cut(s, 160) }

func cleanText(m *Masker, s string) string {
	return payload.Cut(m.String(strings.Join(strings.Fields(s), " ")), 300)
}

// check runs, as calls ------------------------------------------------------

func (c *Client) createCheckRun(ctx context.Context, opts github.CreateCheckRunOptions) (*github.CheckRun, error) {
	if !c.token {
		return nil, errNoToken
	}
	run, resp, err := c.gh.Checks.CreateCheckRun(sent(ctx, once), c.owner, c.name, opts)
	if err == nil && run.GetID() == 0 {
		return nil, &CallError{Method: "POST", Cause: Unreadable, Status: resp.StatusCode, Message: "a check run without an id", Tries: 1, Lost: true}
	}
	return run, c.failed(resp, err)
}

func (c *Client) updateCheckRun(ctx context.Context, how sending, id int64, opts github.UpdateCheckRunOptions) error {
	if !c.token {
		return errNoToken
	}
	_, resp, err := c.gh.Checks.UpdateCheckRun(sent(ctx, how), c.owner, c.name, id, opts)
	err = c.failed(resp, err)
	var call *CallError
	if errors.As(err, &call) && call.Cause == Unreadable && how != once {
		// The server accepted it; what it said of it is of no further use.
		return nil
	}
	return err
}

func (c *Client) getCheckRun(ctx context.Context, id int64) (*github.CheckRun, error) {
	run, resp, err := c.gh.Checks.GetCheckRun(ctx, c.owner, c.name, id)
	return run, c.failed(resp, err)
}

// checkRuns lists all check runs of a commit with a name, on every page.
func (c *Client) checkRuns(ctx context.Context, sha, name string) ([]*github.CheckRun, error) {
	if !c.token {
		return nil, errNoToken
	}
	var all []*github.CheckRun
	err := pages(func(page github.ListOptions) (int, error) {
		res, resp, err := c.gh.Checks.ListCheckRunsForRef(ctx, c.owner, c.name, sha, &github.ListCheckRunsOptions{
			// The default filter shows the newest of a name only.
			CheckName: &name, Filter: github.String("all"), ListOptions: page,
		})
		if err != nil {
			return 0, c.failed(resp, err)
		}
		if res != nil {
			all = append(all, res.CheckRuns...)
		}
		return resp.NextPage, nil
	})
	return all, err
}

func (c *Client) annotations(ctx context.Context, id int64) ([]*github.CheckRunAnnotation, error) {
	var all []*github.CheckRunAnnotation
	err := pages(func(page github.ListOptions) (int, error) {
		list, resp, err := c.gh.Checks.ListCheckRunAnnotations(ctx, c.owner, c.name, id, &page)
		if err != nil {
			return 0, c.failed(resp, err)
		}
		all = append(all, list...)
		return resp.NextPage, nil
	})
	return all, err
}

// look-ups ------------------------------------------------------------------

var fullID = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// Compare asks where two commits stand to each other: base and head are full
// commit ids (or names, which the server resolves). No answer is an error, and
// the caller fails closed on it. Source: GET /repos/{o}/{r}/compare/{base}...{head}.
func (c *Client) Compare(ctx context.Context, base, head string) (Comparison, error) {
	cmp, err := c.compare(ctx, base, head)
	if err != nil {
		return Comparison{}, err
	}
	out := Comparison{
		MergeBase: strings.ToLower(cmp.GetMergeBaseCommit().GetSHA()),
		AheadBy:   cmp.GetAheadBy(), BehindBy: cmp.GetBehindBy(),
	}
	if cmp.AheadBy == nil || cmp.BehindBy == nil || !fullID.MatchString(out.MergeBase) {
		return Comparison{}, unreadable("compare", "a comparison without merge base or counts")
	}
	return out, nil
}

func (c *Client) compare(ctx context.Context, base, head string) (*github.CommitsComparison, error) {
	if !c.token {
		return nil, errNoToken
	}
	// One commit a page: the list itself is of no use here, and whole it is
	// 250 commits.
	cmp, resp, err := c.gh.Repositories.CompareCommits(ctx, c.owner, c.name, base, head, &github.ListOptions{Page: 1, PerPage: 1})
	return cmp, c.failed(resp, err)
}

// maxPeels bounds how many tag objects are followed from one tag: git itself
// makes no such chains, a server that serves one is not waited for.
const maxPeels = 10

// Tags lists all tags, each with the commit it stands for; tags of trees and
// blobs are left out. A list with a gap is never returned: a missing tag would
// move the base of a release further back. Source: GET
// /repos/{o}/{r}/git/matching-refs/tags/ on every page, and git/tags/{sha} for
// each annotated tag.
func (c *Client) Tags(ctx context.Context) ([]Tag, error) {
	if !c.token {
		return nil, errNoToken
	}
	var refs []*github.Reference
	err := pages(func(page github.ListOptions) (int, error) {
		list, resp, err := c.gh.Git.ListMatchingRefs(ctx, c.owner, c.name, &github.ReferenceListOptions{Ref: "tags/", ListOptions: page})
		if err != nil {
			return 0, c.failed(resp, err)
		}
		refs = append(refs, list...)
		return resp.NextPage, nil
	})
	if err != nil {
		return nil, err
	}
	var tags []Tag
	for _, ref := range refs {
		name, ok := strings.CutPrefix(ref.GetRef(), "refs/tags/")
		if !ok || name == "" || ref.Object == nil {
			continue
		}
		commit, err := c.peel(ctx, name, ref.Object)
		if err != nil {
			return nil, err
		}
		if commit != "" {
			tags = append(tags, Tag{Name: name, Commit: commit})
		}
	}
	return tags, nil
}

// peel follows tag objects to a commit; "" when they end in something else.
func (c *Client) peel(ctx context.Context, name string, obj *github.GitObject) (string, error) {
	for range maxPeels {
		id := strings.ToLower(obj.GetSHA())
		if !fullID.MatchString(id) {
			return "", unreadable("git/tags", "a tag without an object id")
		}
		switch obj.GetType() {
		case "commit":
			return id, nil
		case "tag":
		default:
			return "", nil
		}
		tag, resp, err := c.gh.Git.GetTag(ctx, c.owner, c.name, id)
		if err := c.failed(resp, err); err != nil {
			var call *CallError
			if errors.As(err, &call) && call.Status == http.StatusNotFound {
				// The list and the object come from different stores, and the
				// second may lag. Comparing the tag with itself names its
				// commit as well.
				return c.peelByCompare(ctx, name)
			}
			return "", err
		}
		if tag.Object == nil {
			break
		}
		obj = tag.Object
	}
	return "", nil
}

func (c *Client) peelByCompare(ctx context.Context, name string) (string, error) {
	cmp, err := c.compare(ctx, name, name)
	if err != nil {
		return "", err
	}
	id := strings.ToLower(cmp.GetBaseCommit().GetSHA())
	if !fullID.MatchString(id) {
		return "", unreadable("compare", "a comparison without a base commit")
	}
	return id, nil
}

// pages calls one for every page until there is no next one. Pages must grow:
// a server that sends the reader in circles ends in an error.
func pages(one func(github.ListOptions) (next int, err error)) error {
	opts := github.ListOptions{Page: 1, PerPage: perPage}
	for range maxPages {
		next, err := one(opts)
		if err != nil || next == 0 {
			return err
		}
		if next <= opts.Page {
			return &CallError{Cause: Unreadable, Message: fmt.Sprintf("page %d names page %d as the next", opts.Page, next), Tries: 1}
		}
		opts.Page = next
	}
	return &CallError{Cause: Unreadable, Message: fmt.Sprintf("a list of more than %d pages", maxPages), Tries: 1}
}
