package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/handoff-gate/handoff-gate/gate/git"
	"github.com/handoff-gate/handoff-gate/gate/internal/localpath"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
)

// namedCommit finds the commit that any name of git's resolves to (sessions.md
// 8). The error is for the finding that the base is not available.
func namedCommit(ctx context.Context, c *Checkout, name string) (git.Commit, error) {
	if c.Repo == nil {
		return git.Commit{}, fmt.Errorf("there is no repository: %w", c.Refused)
	}
	commit, err := c.Repo.Commit(ctx, name+"^{commit}")
	if !errors.Is(err, fs.ErrNotExist) {
		return commit, err
	}
	why := fmt.Sprintf("%q names no commit of this clone", safetext.Clean(name))
	if shallow, err := c.Repo.Shallow(ctx); err == nil && shallow {
		why += ", which is shallow"
	}
	return commit, errors.New(why)
}

// outside gives the place of a folder that no repository holds, from the top
// level that paths are relative to: the folder the gate was started in if that
// contains it, else its parent (sessions.md 1).
func outside(dir, start string) string {
	if rel, in := localpath.Below(start, dir); in {
		return rel
	}
	if dir == filepath.Dir(dir) {
		return "."
	}
	return filepath.Base(dir)
}
