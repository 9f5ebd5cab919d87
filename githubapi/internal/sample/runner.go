package sample

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// Repository is the sample's name on the (stand-in) server.
const Repository = "harbour/tide-tables"

// Token is what the sample's workflow runs have for a token. It opens nothing.
const Token = "sample-token-of-no-value"

// PullRequest is the payload of a pull_request event, with the fields that the
// gate reads and a few that make it recognisable.
func PullRequest(action, base, head string) []byte {
	return payload(map[string]any{
		"action": action, "number": 1,
		"pull_request": map[string]any{
			"number": 1, "title": "Add Torshavn", "state": "open",
			"base": map[string]any{"ref": "main", "sha": base, "repo": repository},
			"head": map[string]any{"ref": "northern-stations", "sha": head, "repo": repository},
		},
	})
}

// MergeGroup is the payload of a merge_group event: the queue has merged a pull
// request into the target branch for a try.
func MergeGroup(base, head string) []byte {
	return payload(map[string]any{
		"action": "checks_requested",
		"merge_group": map[string]any{
			"base_ref": "refs/heads/main", "base_sha": base,
			"head_ref": "refs/heads/gh-readonly-queue/main/pr-1-" + base, "head_sha": head,
		},
	})
}

// Push is the payload of a push event of a branch or a tag; before is "" where it is
// new.
func Push(ref, before, after string) []byte {
	created := before == ""
	if created {
		before = strings.Repeat("0", len(after))
	}
	return payload(map[string]any{"ref": ref, "before": before, "after": after, "created": created, "deleted": false, "forced": false})
}

var repository = map[string]any{
	"name": "tide-tables", "full_name": Repository, "default_branch": "main",
	"owner": map[string]any{"login": "harbour"},
}

// payload adds what every event has.
func payload(event map[string]any) []byte {
	event["repository"] = repository
	event["sender"] = map[string]any{"login": "ada"}
	data, err := json.MarshalIndent(event, "", "  ")
	if err != nil { // only for values that JSON has no form for
		panic(err)
	}
	return append(data, '\n')
}

// Run is one workflow run on the sample: what a runner writes down before it
// starts the action, and where the action writes what it has to say.
type Run struct {
	Workspace string // the checkout
	Commands  string // folder of the files behind GITHUB_OUTPUT and the like
	Event     string // GITHUB_EVENT_NAME; "" is pull_request
	Ref       string // GITHUB_REF; "" is the pull request's
	SHA       string // GITHUB_SHA, the merge commit of a pull request
	APIURL    string // of the (stand-in) server
	ServerURL string
}

// Prepare writes the event's payload and the empty command files.
func (r Run) Prepare(payload []byte) error {
	if err := os.MkdirAll(r.Commands, 0o755); err != nil {
		return err
	}
	for name, data := range map[string][]byte{"event.json": payload, "output": nil, "summary.md": nil} {
		if err := os.WriteFile(filepath.Join(r.Commands, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Environ is what the runner sets for a step that uses the action, seen from the
// folders workspace and commands: elsewhere inside a container than outside.
func (r Run) Environ(workspace, commands string) []string {
	return []string{
		"GITHUB_ACTIONS=true", "CI=true",
		"GITHUB_API_URL=" + r.APIURL, "GITHUB_SERVER_URL=" + r.ServerURL,
		"GITHUB_REPOSITORY=" + Repository, "GITHUB_WORKSPACE=" + workspace,
		"GITHUB_EVENT_NAME=" + cmp.Or(r.Event, "pull_request"), "GITHUB_EVENT_PATH=" + commands + "/event.json",
		"GITHUB_SHA=" + r.SHA, "GITHUB_REF=" + cmp.Or(r.Ref, "refs/pull/1/merge"),
		"GITHUB_OUTPUT=" + commands + "/output", "GITHUB_STEP_SUMMARY=" + commands + "/summary.md",
		"GITHUB_WORKFLOW=handoff", "GITHUB_JOB=handoff", "GITHUB_RUN_ID=7", "GITHUB_RUN_ATTEMPT=1",
		"INPUT_TOKEN=" + Token,
	}
}

// Output is what the action wrote into the file of GITHUB_OUTPUT.
func (r Run) Output() (string, error) { return r.read("output") }

// Summary is the job summary that the action wrote.
func (r Run) Summary() (string, error) { return r.read("summary.md") }

func (r Run) read(name string) (string, error) {
	data, err := os.ReadFile(filepath.Join(r.Commands, name))
	return string(data), err
}
