package run

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/git"
	"github.com/handoff-gate/handoff-gate/gate/pointer"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// readPointer asks the repository about the commit that the manifest records.
func (s *source) readPointer(ctx context.Context) error {
	r := s.run
	s.pointer = pointer.Input{
		Project: s.p.Path, Commands: s.p.Commands, Repository: r.c.Repo != nil, Head: r.head.ID, ShallowIsNotice: r.o.ShallowIsNotice,
		Manifest: gate.ReadDocument(s.judged, gate.Join(s.p.Path, gate.ManifestFile), gate.MaxManifest),
	}
	digits, ok := pointer.Value(s.pointer.Manifest)
	if !ok || r.headSet == nil {
		return nil
	}
	a := &s.pointer.Answer
	c, err := r.c.Repo.Commit(ctx, digits)
	switch {
	case errors.Is(err, git.ErrAmbiguous):
		a.Ambiguous = true
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case strings.HasPrefix(c.ID, digits):
		a.Found, a.ID, a.IsHead = true, c.ID, c.ID == r.head.ID
	}
	if a.Found && !a.IsHead {
		a.Ancestor, a.AncestorErr = r.c.Repo.IsAncestor(ctx, c.ID, r.head.ID)
		if a.Ancestor {
			a.ChangedOutside, a.DiffErr = s.changedOutside(ctx, c.Tree)
		}
	}
	if !a.IsHead && (!a.Ancestor || a.DiffErr != nil) {
		if a.Shallow, err = r.c.Repo.Shallow(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// changedOutside counts the files of the project that differ from HEAD's
// outside the handoff folder.
func (s *source) changedOutside(ctx context.Context, tree string) (int, error) {
	r := s.run
	if tree == r.head.Tree {
		return 0, nil
	}
	var changes []gate.Change
	var err error
	if tree == r.baseTree && r.comparing != nil {
		// Layer 2 asks for the same comparison.
		if err := r.compared(); err != nil {
			return 0, err
		}
		changes, err = r.changes, r.diffErr
	} else {
		changes, err = r.c.Repo.ChangesBelow(ctx, tree, r.head.Tree, s.p.Path)
	}
	if err != nil {
		return 0, err
	}
	n := 0
	for _, c := range changes {
		if _, below := gate.Below(s.p.Path, c.Path); below && !s.inHandoff(c.Path) {
			n++
		}
	}
	return n, nil
}

func decidePointer(_ context.Context, s *source, _ *result) (report.Layer, error) {
	if s.run.o.Level == gate.Precommit {
		return report.Skipped(pointer.ID, pointer.Title, "not run at precommit"), nil
	}
	return pointer.Check(s.pointer), nil
}
