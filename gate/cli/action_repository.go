package cli

import (
	"context"
	"errors"
	"sync"

	"github.com/handoff-gate/handoff-gate/gate/git"
	"github.com/handoff-gate/handoff-gate/githubapi"
)

// repository lets the resolution of a target ask the checkout's git.
type repository struct {
	*git.Repo
	idLength int
}

func newRepository(ctx context.Context, r *git.Repo) (repository, error) {
	n, err := r.IDLength(ctx)
	return repository{r, n}, err
}

func (r repository) ObjectIDLength() int { return r.idLength }

func (r repository) Head(ctx context.Context) (githubapi.Commit, error) {
	c, err := r.Repo.Head(ctx)
	return githubapi.Commit(c), err
}

func (r repository) Commit(ctx context.Context, id string) (githubapi.Commit, error) {
	c, err := r.Repo.Commit(ctx, id)
	return githubapi.Commit(c), err
}

func (r repository) Tags(ctx context.Context) ([]githubapi.Tag, error) {
	tags, err := r.Repo.Tags(ctx)
	out := make([]githubapi.Tag, len(tags))
	for i, t := range tags {
		out[i] = githubapi.Tag(t)
	}
	return out, err
}

func (r repository) Fetch(ctx context.Context, id string) error {
	err := r.Repo.Fetch(ctx, id)
	var fe *git.FetchError
	if errors.As(err, &fe) {
		return &githubapi.FetchError{Gone: fe.Gone, Denied: fe.Denied, Message: fe.Message}
	}
	return err
}

// debugNotes collects debug lines from every goroutine until the log is free to
// take them.
type debugNotes struct {
	mu    sync.Mutex
	lines []string
}

func (n *debugNotes) add(line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, line)
}

func (n *debugNotes) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	lines := n.lines
	n.lines = nil
	return lines
}
