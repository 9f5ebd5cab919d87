package githubapi

import (
	"io"
	"net/url"
	"strings"

	"github.com/sethvargo/go-githubactions"
)

// Lookup reads an environment variable and tells whether it is set; os.LookupEnv
// in the program.
type Lookup func(name string) (value string, ok bool)

// Context is what the runner says of this run, apart from inputs and payload.
type Context struct {
	Repository  string // OWNER/NAME; never taken from the payload
	APIURL      string // as given; DefaultAPIURL when unset
	ServerURL   string // without a final slash
	RunID       string
	Workflow    string // its name, as its author wrote it
	Job         string // the job's id
	EventName   string
	EventPath   string
	SHA, Ref    string
	Workspace   string
	OutputPath  string // GITHUB_OUTPUT; "" when unset
	SummaryPath string // GITHUB_STEP_SUMMARY; "" when unset
	Debug       bool   // RUNNER_DEBUG is 1
	Act         bool   // a local imitation of the runner: no Checks API
	// Ignored are variables of other commands that are set. An earlier step can
	// set them through GITHUB_ENV, so they have no effect here; the log says so.
	Ignored []string
}

// ignoredVariables belong to verify and to sessions.
var ignoredVariables = []string{"AAHP_BASE_SHA", "AAHP_SKIP_VERIFY", "HANDOFFS_ROOT"}

// ReadContext reads the runner's variables.
//
// They are read by go-githubactions, except for two things. Its Context also
// loads the event payload, of any size and nesting, so GITHUB_EVENT_PATH is
// kept from it. And its Repo falls back to owner.name, which many payloads
// lack, so that GITHUB_REPOSITORY alone counts.
func ReadContext(lookup Lookup) Context {
	get := func(name string) string { v, _ := lookup(name); return v }
	action := githubactions.New(githubactions.WithWriter(io.Discard), githubactions.WithGetenv(func(name string) string {
		if name == "GITHUB_EVENT_PATH" {
			return ""
		}
		return get(name)
	}))
	// An error is about numbers that nothing here needs; what could be read is
	// there all the same.
	gh, _ := action.Context()
	if gh == nil {
		gh = &githubactions.GitHubContext{}
	}
	c := Context{
		Repository: gh.Repository, APIURL: gh.APIURL, ServerURL: strings.TrimRight(gh.ServerURL, "/"),
		RunID: get("GITHUB_RUN_ID"), Workflow: gh.Workflow, Job: get("GITHUB_JOB"),
		EventName: gh.EventName, EventPath: get("GITHUB_EVENT_PATH"), SHA: strings.ToLower(gh.SHA), Ref: gh.Ref,
		Workspace: gh.Workspace, OutputPath: get("GITHUB_OUTPUT"), SummaryPath: gh.StepSummary,
		Debug: get("RUNNER_DEBUG") == "1", Act: get("ACT") != "",
	}
	for _, name := range ignoredVariables {
		if _, ok := lookup(name); ok {
			c.Ignored = append(c.Ignored, name)
		}
	}
	return c
}

// RunURL is the page of this run; "" where the runner does not name one.
func (c Context) RunURL() string {
	if c.ServerURL == "" || c.Repository == "" || c.RunID == "" {
		return ""
	}
	return c.ServerURL + "/" + c.Repository + "/actions/runs/" + url.PathEscape(c.RunID)
}
