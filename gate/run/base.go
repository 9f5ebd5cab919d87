package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/git"
)

// ResolveBase chooses what layer 2 compares HEAD with, and checks a base that
// was given (aahp-verify.md 5.1). given is "" when there is none. At precommit
// there is no base.
func ResolveBase(ctx context.Context, repo *git.Repo, level gate.Level, given string) (gate.Base, error) {
	if repo == nil || level == gate.Precommit {
		return gate.Base{}, nil
	}
	head, err := repo.Head(ctx)
	if err != nil {
		return gate.Base{}, err
	}
	if head.ID == "" {
		return gate.Base{Problem: gate.HeadMissing}, nil
	}
	if given != "" {
		return givenBase(ctx, repo, level, head, given)
	}
	if level == gate.CI {
		return gate.Base{Problem: gate.BaseRequired}, nil
	}
	if id, err := repo.Upstream(ctx); err != nil || id != "" {
		return gate.Base{ID: id, Source: "the branch's upstream"}, err
	}
	if id, err := repo.Ref(ctx, "refs/remotes/origin/main"); err != nil || id != "" {
		return gate.Base{ID: id, Source: "origin/main"}, err
	}
	if len(head.Parents) == 0 {
		return gate.Base{Empty: true, Source: "the empty tree, as HEAD has no parent"}, nil
	}
	parent := head.Parents[0]
	if _, err := repo.Commit(ctx, parent); errors.Is(err, fs.ErrNotExist) {
		return missing(ctx, repo, "HEAD's first parent "+parent)
	} else if err != nil {
		return gate.Base{}, err
	}
	return gate.Base{ID: parent, Source: "HEAD's first parent"}, nil
}

func missing(ctx context.Context, repo *git.Repo, detail string) (gate.Base, error) {
	shallow, err := repo.Shallow(ctx)
	return gate.Base{Problem: gate.BaseMissing, Detail: detail, Shallow: shallow}, err
}

func givenBase(ctx context.Context, repo *git.Repo, level gate.Level, head git.Commit, given string) (gate.Base, error) {
	id := strings.ToLower(given)
	switch {
	case !git.IsIDPrefix(id) || len(id) < 7:
		return gate.Base{Problem: gate.BaseMalformed, Detail: given}, nil
	case strings.Trim(id, "0") == "":
		return gate.Base{Problem: gate.BaseZero, Detail: given}, nil
	}
	// git prefers a ref that is named like a short id, so the answer has to
	// begin with the digits.
	c, err := repo.Commit(ctx, id)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return gate.Base{}, err
	}
	if err != nil || !strings.HasPrefix(c.ID, id) {
		return missing(ctx, repo, given)
	}
	if level == gate.CI && c.ID == head.ID {
		return gate.Base{Problem: gate.BaseIsHead, Detail: given}, nil
	}
	return gate.Base{ID: c.ID, Source: fmt.Sprintf("the given id %s", id)}, nil
}
