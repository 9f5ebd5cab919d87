package sample

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// Repository is the sample's name on the (stand-in) server.
const Repository = "harbour/tide-tables"

// Token is what the sample's workflow runs have for a token. It opens nothing.
const Token = "sample-token-of-no-value"

// PullRequest is the payload of a pull_request event, with the fields that the
// gate reads and a few that make it recognisable.
func PullRequest(action, base, head string) []byte {
	repository := map[string]any{
		"name": "tide-tables", "full_name": Repository, "default_branch": "main",
		"owner": map[string]any{"login": "harbour"},
	}
	data, err := json.MarshalIndent(map[string]any{
		"action": action, "number": 1,
		"pull_request": map[string]any{
			"number": 1, "title": "Add Torshavn", "state": "open",
			"base": map[string]any{"ref": "main", "sha": base, "repo": repository},
			"head": map[string]any{"ref": "northern-stations", "sha": head, "repo": repository},
		},
		"repository": repository,
		"sender":     map[string]any{"login": "ada"},
	}, "", "  ")
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
		"GITHUB_EVENT_NAME=pull_request", "GITHUB_EVENT_PATH=" + commands + "/event.json",
		"GITHUB_SHA=" + r.SHA, "GITHUB_REF=refs/pull/1/merge",
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
