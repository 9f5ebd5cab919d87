package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/install"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/run"
)

// sessions serves the input sessions: session folders and install records
// (sessions.md 12).
func (a *action) sessions(ctx context.Context, projects []run.Project) (others, error) {
	if a.in.Sessions.Off() {
		return others{}, nil
	}
	t := a.trees(ctx)
	if t.head == nil {
		return others{}, nil
	}
	out, err := a.installs(ctx, t, projects)
	if err != nil {
		return out, err
	}
	if out.found && len(out.entries) == 0 {
		in := install.Input{Root: ".", Dir: "."}
		out.entries = append(out.entries, in.Entry(report.Skipped(install.ID, install.Title, "no installation was touched by this change")))
	}
	slices.SortStableFunc(out.entries, func(a, b report.Project) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// installs judges the install records below the top level and below each project
// folder.
func (a *action) installs(ctx context.Context, t trees, projects []run.Project) (others, error) {
	in := install.Input{Files: t.head, Root: ".", Dir: ".", BaseErr: t.baseErr, Repository: true}
	if t.base != nil {
		in.Base = t.base
	}
	dirs := []string{"."}
	for _, p := range projects {
		dirs = append(dirs, p.Path)
	}
	out := others{again: a.again("handoff-gate install verify --all")}
	seen := map[string]bool{}
	for _, dir := range dirs {
		in.Dir = dir
		found, err := install.Search(&in, ".")
		if err != nil {
			return out, cannot("installations cannot be searched for in HEAD's tree: %s", safetext.Clean(err.Error()))
		}
		for _, f := range found {
			if seen[f.Path] {
				continue
			}
			seen[f.Path], out.found = true, true
			if a.in.Sessions.Auto && !t.touched(f) {
				continue
			}
			one := in
			one.Dir, one.Again = f.Path, a.again("handoff-gate install verify "+safetext.ShellQuote(f.Path))
			out.entries = append(out.entries, one.Entry(f.Judge(one)))
		}
	}
	return out, ctx.Err()
}

// touched tells whether the change touched a copy, or the link that leads to it.
func (t trees) touched(f install.Found) bool {
	return f.Removed || f.Link != "" && !t.same(f.Link) || !f.Outside && !t.same(f.Path)
}

// again adds the base to a command that repeats a part of this run.
func (a *action) again(command string) string {
	if id := a.target.Base.ID; id != "" {
		command += " --base " + id
	}
	return command
}
