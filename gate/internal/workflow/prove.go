package workflow

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
)

// PullRequest is the trigger that a scanner must run on. pull_request_target is
// another one: by default it sees the base branch, not the change.
const PullRequest = "pull_request"

// ProvePullRequestJob proves that a workflow runs a job for pull requests and
// that a failure of the job counts, conditions 2 to 6 of aahp-verify.md 6.1.
// It is a proof over text: what an `if` evaluates to is not judged, nor can it
// be seen here whether the job is a required check. The error is an *Error,
// with the line of the trigger or the job where one is known.
func ProvePullRequestJob(data []byte, job string) error {
	f, err := Load(data)
	if err != nil {
		return err
	}
	if err := f.proveTrigger(); err != nil {
		return within(data, err)
	}
	if err := f.proveJob(job); err != nil {
		return within(data, err)
	}
	return nil
}

// proveTrigger is condition 3.
func (f *File) proveTrigger() error {
	on, err := f.Triggers()
	if err != nil {
		return err
	}
	if n := Indirection(on.Value); n != nil {
		return failf(n.Line, "its key on uses a YAML alias or merge key, which is not followed")
	}
	switch v := on.Value; v.Kind {
	case yaml.ScalarNode:
		if v.Value == PullRequest {
			return nil
		}
	case yaml.SequenceNode:
		for _, item := range v.Content {
			if item.Kind == yaml.ScalarNode && item.Value == PullRequest {
				return nil
			}
		}
	case yaml.MappingNode:
		if _, ok := Get(v, PullRequest); ok {
			return nil
		}
	case yaml.DocumentNode, yaml.AliasNode:
	}
	return failf(on.Key.Line, "it is not triggered by %s", PullRequest)
}

// proveJob is conditions 4 to 6.
func (f *File) proveJob(id string) error {
	jobs, ok := Get(f.Root, "jobs")
	if !ok {
		return failf(0, "it has no key jobs")
	}
	if jobs.Value.Kind != yaml.MappingNode {
		return failf(jobs.Key.Line, "its key jobs is not a mapping")
	}
	job, ok := Get(jobs.Value, id)
	if !ok {
		return failf(jobs.Key.Line, "it has no job %s", safetext.Clean(id))
	}
	if n := Indirection(job.Value); n != nil {
		return failf(n.Line, "its job %s uses a YAML alias or merge key, which is not followed", safetext.Clean(id))
	}
	if job.Value.Kind != yaml.MappingNode {
		return failf(job.Key.Line, "its job %s is not a mapping", safetext.Clean(id))
	}
	if m, ok := Get(job.Value, "if"); ok {
		if m.Value.Kind != yaml.ScalarNode || !namesWord(m.Value.Value, PullRequest) {
			return failf(m.Key.Line, "the if of its job %s does not name %s", safetext.Clean(id), PullRequest)
		}
	}
	if m, ok := Get(job.Value, "continue-on-error"); ok {
		if m.Value.Kind != yaml.ScalarNode || !strings.EqualFold(m.Value.Value, "false") {
			return failf(m.Key.Line, "its job %s has a continue-on-error that is not false, so its failure would not count", safetext.Clean(id))
		}
	}
	return nil
}

// namesWord tells whether text holds word with no letter, digit or underscore
// before or behind it.
func namesWord(text, word string) bool {
	part := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		behind, _ := utf8.DecodeRuneInString(text[i+len(word):])
		if !(i > 0 && part(before)) && !(i+len(word) < len(text) && part(behind)) {
			return true
		}
		from = i + len(word)
	}
}
