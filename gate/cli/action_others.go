package cli

import (
	"context"
	"errors"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/run"
)

// others are what a run verifies beside projects: sessions, install records and
// packets.
type others struct {
	entries []report.Project // of the report, in order
	// found says that HEAD or the base has something of the kind that the inputs
	// select, also where this change did not touch it: the run is not empty.
	found bool
	again string // the command that verifies it once more; "" where nothing was found
}

// others judges everything but the projects. Each kind adds what it found.
func (a *action) others(ctx context.Context, projects []run.Project) (others, error) {
	var all others
	for _, judge := range []func(context.Context, []run.Project) (others, error){
		a.sessions, a.packets, // packets last, see claims
	} {
		one, err := judge(ctx, projects)
		if err != nil {
			return all, err
		}
		all.entries = append(all.entries, one.entries...)
		all.found = all.found || one.found
		if all.again == "" {
			all.again = one.again
		}
	}
	return all, nil
}

// trees are the two states that others are judged by. They are trees of commits,
// never the checkout: attributes, LFS or an earlier step can make files on disk
// differ from what is under review.
type trees struct {
	head     gate.LinkReader // nil where HEAD resolves to no commit
	headTree string          // its id

	// base is nil where there is nothing to compare with: no change set, the empty
	// tree, or a base that could not be had, for which baseErr says why.
	base     gate.LinkReader
	baseTree string
	baseErr  error
}

// trees opens the two states.
func (a *action) trees(ctx context.Context) (trees, error) {
	var t trees
	repo := a.checkout.Repo
	if a.target.Head == "" {
		return t, nil
	}
	head, err := repo.Commit(ctx, a.target.Head)
	if err != nil {
		return t, cannot("HEAD cannot be read: %s", safetext.Clean(err.Error()))
	}
	t.head, t.headTree = repo.Tree(gate.HeadTree, head.Tree), head.Tree
	switch b := a.target.Base; {
	case b.ID != "":
		base, err := repo.Commit(ctx, b.ID)
		if err != nil {
			t.lost(err)
		} else {
			t.base, t.baseTree = repo.Tree("base tree", base.Tree), base.Tree
		}
	case b.Empty, a.target.NoChangeSet != "":
	default:
		t.lost(errors.New("no base could be settled on"))
	}
	return t, nil
}

// lost says that the base cannot be read, and why.
func (t *trees) lost(err error) { t.base, t.baseTree, t.baseErr = nil, "", err }

// same tells whether the two states have the same thing at a path. What cannot be
// read is not the same.
func (t trees) same(path string) bool {
	if t.base == nil {
		return false
	}
	is, err := t.head.Stat(path)
	if err != nil {
		return false
	}
	was, err := t.base.Stat(path)
	return err == nil && was.ID == is.ID && was.Mode == is.Mode
}
