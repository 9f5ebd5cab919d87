package githubapi

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

// Refusal says that the check run could not be had, or not finished, so that
// findings are shown as workflow commands instead (github-action.md 7).
type Refusal struct {
	Doing      string          // "creating the check run"
	Permission string          // what would allow it, "checks: write"; "" where no permission would
	Severity   report.Severity // Notice for a token that may not write, else Warning
	Hint       string          // what to look at, a sentence; may be empty
	Call       *CallError      // the call that failed
}

// checksWrite is the one permission the Checks API needs beyond reading.
const checksWrite = "checks: write"

// refusal classifies a failed call (the table of github-action.md 7).
func refusal(doing string, err error) *Refusal {
	r := &Refusal{Doing: doing, Severity: report.Warning}
	if !errors.As(err, &r.Call) {
		r.Call = &CallError{Cause: Network, Message: err.Error(), err: err}
	}
	switch r.Call.Cause {
	case NoToken:
		// Nothing was asked, so nothing was refused; an empty token is a choice.
		r.Severity, r.Permission = report.Notice, checksWrite
	case Answered:
		r.answered()
	case Limited:
		r.Hint = "GitHub limits the rate of requests; a later run has a new chance."
	case Deadline:
		r.Hint = "The input api-timeout bounds all API calls together."
	case Network:
		r.Hint = "The API host could not be reached, or did not answer as an HTTP server does."
	case Redirected:
		r.Hint = "The token is sent to no host but that of GITHUB_API_URL."
	case ServerError, Cancelled, Unreadable:
	}
	return r
}

// answered explains the statuses that another try would not change.
func (r *Refusal) answered() {
	switch r.Call.Status {
	case http.StatusForbidden:
		r.Permission, r.Severity = checksWrite, report.Notice
		if strings.Contains(strings.ToLower(r.Call.Message), "github app") {
			r.Hint = "A personal token cannot write check runs: leave the input token at its default, and give the job that permission."
		} else {
			r.Hint = "The token of a fork's or of Dependabot's pull request can only read."
		}
	case http.StatusUnauthorized:
		r.Permission = checksWrite
		r.Hint = "The token is not valid, or no longer: see the input token."
	case http.StatusNotFound:
		r.Permission = checksWrite
		r.Hint = "The token does not reach this repository, or the commit is not there."
	case http.StatusGone, http.StatusUnavailableForLegalReasons:
		r.Hint = "The repository or its checks are switched off."
	case http.StatusUnprocessableEntity:
		r.Hint = "GitHub takes the request for invalid; the commit may not be in the repository."
	}
}

// Error is the short form, for wrapping.
func (r *Refusal) Error() string { return r.Doing + ": " + r.Call.Error() }

// Unwrap gives the failed call.
func (r *Refusal) Unwrap() error { return r.Call }

// Text is what the one notice or warning of the fall-back says.
func (r *Refusal) Text() string {
	var b strings.Builder
	if r.Call.Cause == NoToken {
		b.WriteString("There is no check run: the input token is empty.")
	} else {
		fmt.Fprintf(&b, "There is no complete check run: %s failed (%s).", r.Doing, r.Call.Answer())
	}
	if r.Permission != "" {
		fmt.Fprintf(&b, " The permission \"%s\" would allow it.", r.Permission)
	}
	if r.Hint != "" {
		b.WriteString(" " + r.Hint)
	}
	b.WriteString(" Findings are shown as workflow commands and in the job summary. The gate's verdict is not affected.")
	return b.String()
}
