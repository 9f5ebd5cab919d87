package run

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/criteria"
	"github.com/handoff-gate/handoff-gate/gate/disk"
	"github.com/handoff-gate/handoff-gate/gate/policy"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// Criteria makes the report on the acceptance criteria of one project, its tool
// aside (aahp-authoring.md 5). The checkout must have a repository. The error says
// why there is no report: git, or a configuration that cannot be read.
func Criteria(ctx context.Context, c *Checkout, project string) (*report.Report, error) {
	config, err := criteria.ParseConfig(gate.ReadDocument(c.Work, gate.Join(project, policy.ConfigFile), gate.MaxConfig))
	if err != nil {
		return nil, err
	}
	in := criteria.Input{Project: project, Config: config}
	head, err := c.Repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	paths, err := c.tracked(ctx, project, config.Include)
	var refused refusedError
	switch {
	case errors.As(err, &refused):
		in.Refused = refused
	case err != nil:
		return nil, err
	}
	for _, p := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		in.Files = append(in.Files, c.readCriteria(p))
	}
	in.Manifest, in.Registry = c.registry(project, config.Manifest)
	rep := &report.Report{Head: head.ID}
	rep.Projects = []report.Project{{
		Path: project, Format: "aahp", Level: criteria.ID, Layers: []report.Layer{criteria.Check(in)},
	}}
	c.finish(rep)
	return rep, nil
}

// refusedError is what git says of pathspecs that it does not take.
type refusedError struct{ error }

// tracked lists the tracked files that the pathspecs select.
func (c *Checkout) tracked(ctx context.Context, project string, pathspecs []string) ([]string, error) {
	if strings.ContainsRune(strings.Join(pathspecs, ""), 0) {
		return nil, refusedError{errors.New("a pathspec holds the character U+0000")}
	}
	paths, err := c.Repo.Tracked(ctx, project, pathspecs)
	if err == nil {
		return paths, nil
	}
	// What git does not say of a pathspec that is beyond doubt, it says of this one.
	if _, err := c.Repo.Tracked(ctx, project, []string{":(literal)" + policy.ConfigFile}); err != nil {
		return nil, err
	}
	return nil, refusedError{err}
}

func (c *Checkout) readCriteria(p string) criteria.File {
	f := criteria.File{Path: p}
	switch doc := gate.ReadDocument(c.Work, p, criteria.MaxDocument); doc.State {
	case gate.Present:
		f.Document = criteria.Read(doc.Data)
	case gate.Absent:
		f.Err = errors.New("git tracks it, and it is not in the working tree")
	case gate.NotRegular, gate.TooLarge, gate.Unreadable:
		f.Err = doc.Err
	}
	return f
}

// registry reads the task registry, whose path must stay inside the project by its
// text and after following links. It gives that path relative to the project.
func (c *Checkout) registry(project, configured string) (string, criteria.Registry) {
	dir := filepath.Join(c.Top, filepath.FromSlash(project))
	rel := filepath.Clean(filepath.FromSlash(configured))
	if filepath.IsAbs(rel) {
		var err error
		if rel, err = filepath.Rel(dir, rel); err != nil {
			return configured, criteria.Registry{Err: criteria.ErrOutside}
		}
	}
	if !filepath.IsLocal(rel) {
		return configured, criteria.Registry{Err: criteria.ErrOutside}
	}
	name := filepath.ToSlash(rel)
	target, err := disk.Follow(dir, filepath.Join(dir, rel))
	switch {
	case errors.Is(err, disk.ErrOutside):
		return name, criteria.Registry{Err: criteria.ErrOutside}
	case err != nil && target == "":
		target = name // whatever is in the way, reading without links says it
	}
	return name, criteria.ParseRegistry(gate.ReadDocument(c.Work, path.Join(project, target), gate.MaxManifest))
}
