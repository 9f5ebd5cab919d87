package cli

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/install"
	"github.com/handoff-gate/handoff-gate/gate/internal/follow"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/run"
	"github.com/handoff-gate/handoff-gate/gate/session"
)

// sessions serves the input sessions: session folders and install records
// (sessions.md 12).
func (a *action) sessions(ctx context.Context, projects []run.Project) (others, error) {
	if a.in.Sessions.Off() {
		return others{}, nil
	}
	t, err := a.trees(ctx)
	if t.head == nil || err != nil {
		return others{}, err
	}
	roots, err := a.roots(ctx, &t)
	if err != nil {
		return others{}, err
	}
	out, err := a.folders(ctx, t, roots)
	if err != nil {
		return out, err
	}
	copies, err := a.installs(ctx, t, projects)
	if err != nil {
		return out, err
	}
	if !out.found {
		out.again = copies.again
	}
	if copies.found && !out.found && len(copies.entries) == 0 {
		in := install.Input{Root: ".", Dir: "."}
		copies.entries = []report.Project{in.Entry(report.Skipped(install.ID, install.Title, "no installation was touched by this change"))}
	}
	out.entries, out.found = append(out.entries, copies.entries...), out.found || copies.found
	slices.SortStableFunc(out.entries, func(a, b report.Project) int { return strings.Compare(a.Path, b.Path) })
	return out, ctx.Err()
}

// roots gives the roots that are named, or those that are found.
func (a *action) roots(ctx context.Context, t *trees) (session.Roots, error) {
	var roots session.Roots
	for _, named := range a.in.Sessions.Roots {
		place, err := follow.Folder(t.head, ".", ".", named)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return roots, cannot("input sessions: HEAD's tree has no folder %s", safetext.Clean(named))
		case err != nil:
			return roots, cannot("input sessions: the folder %s of HEAD's tree cannot be read: %s", safetext.Clean(named), safetext.Clean(err.Error()))
		case place.Outside:
			return roots, cannot("input sessions: %s leads out of the repository", safetext.Clean(named))
		}
		if !slices.Contains(roots.Paths, place.Path) {
			roots.Paths = append(roots.Paths, place.Path)
		}
	}
	if !a.in.Sessions.Auto {
		return roots, nil
	}
	head, err := a.checkout.Repo.TreeEntries(ctx, t.headTree, ".")
	if err != nil {
		return roots, cannot("HEAD's tree cannot be listed: %s", safetext.Clean(err.Error()))
	}
	before := head
	if t.base != nil && t.baseTree != t.headTree {
		if before, err = a.checkout.Repo.TreeEntries(ctx, t.baseTree, "."); err != nil {
			t.lost(err)
		}
	}
	// A nil LinkReader must not become an interface that holds one.
	if t.base == nil {
		return session.FindRoots(t.head, nil, head, nil), ctx.Err()
	}
	roots = session.FindRoots(t.head, t.base, head, before)
	if roots.BaseErr != nil {
		t.lost(roots.BaseErr)
	}
	return roots, ctx.Err()
}

// folders judges the session folders below the roots.
func (a *action) folders(ctx context.Context, t trees, roots session.Roots) (others, error) {
	var out others
	var skipped []report.Project
	for _, w := range roots.Wrong {
		again := a.again("handoff-gate session verify --all")
		out.entries = append(out.entries, report.Project{Path: path.Dir(w.Path), Format: session.Format, Level: session.Level, Layers: []report.Layer{
			report.Done(session.ID, session.Title, "the configuration of a store is wrong", []report.Finding{w.Finding(w.Path, again)}),
		}})
		out.found, out.again = true, again
	}
	var pairs map[string]*session.Pairs
	if t.base != nil {
		var err error
		if pairs, err = run.PairRoots(t.head, t.base, roots.Paths, a.in.Sessions.Auto); err != nil {
			t.lost(err)
		}
	}
	a.prefetch(ctx, t, roots.Paths, pairs)
	seen := map[string]bool{}
	for _, root := range roots.Paths {
		command := "handoff-gate session verify --all --root " + safetext.ShellQuote(root)
		if a.in.Sessions.Auto && t.base != nil {
			command += " --changed"
		}
		in := run.SessionInput{
			Root: root, Now: t.head, BaseErr: t.baseErr, Changed: a.in.Sessions.Auto, Marked: a.in.Sessions.Auto,
			Pairs: pairs[root], Private: a.event.Private(), Pointers: true, Top: a.checkout.Top,
			Again: a.again(command), List: "handoff-gate session list --root " + safetext.ShellQuote(root),
		}
		if t.base != nil {
			in.Base = t.base
		}
		res, err := run.Sessions(ctx, in)
		if err != nil {
			return out, err
		}
		for _, e := range res.Entries {
			if !seen[e.Path] { // a root may lie within another one
				seen[e.Path] = true
				out.entries = append(out.entries, e)
			}
		}
		if !res.Found && res.Root == nil {
			continue
		}
		out.found = true
		if out.again == "" {
			out.again = in.Again
		}
		switch {
		case res.Root == nil:
		case res.Root.Layers[0].Status == report.Skip:
			skipped = append(skipped, *res.Root)
		default:
			out.entries = append(out.entries, *res.Root)
		}
	}
	if len(out.entries) == 0 && len(skipped) > 0 {
		one := skipped[0]
		if len(skipped) > 1 {
			one.Path = "."
		}
		out.entries = []report.Project{one}
	}
	return out, nil
}

// prefetch gets what a partial clone lacks of the sessions that will be read, in one
// fetch for each state: one by one, each file would be a round trip. What cannot be
// had is told by whoever reads it.
func (a *action) prefetch(ctx context.Context, t trees, roots []string, pairs map[string]*session.Pairs) {
	if !a.partial {
		return
	}
	var now, before []string // blobs
	for _, root := range roots {
		store := session.Find(t.head, root)
		for _, s := range store.Sessions {
			if a.in.Sessions.Auto && t.same(s.Path) {
				continue
			}
			if entries, err := t.head.List(s.Path); err == nil {
				now = append(now, blobs(entries)...)
			}
			if pairs[root] == nil {
				continue
			}
			if partner, ok := pairs[root].Partner[s.Path]; ok {
				if entries, err := t.base.List(partner.Path); err == nil {
					before = append(before, blobs(entries)...)
				}
			}
		}
	}
	_ = a.checkout.Repo.Prefetch(ctx, t.headTree, now)
	_ = a.checkout.Repo.Prefetch(ctx, t.baseTree, before)
}

func blobs(entries []gate.Entry) (ids []string) {
	for _, e := range entries {
		if e.Kind == gate.Regular {
			ids = append(ids, e.ID)
		}
	}
	return ids
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
			one.Dir, one.Again = f.Path, a.again("handoff-gate install verify "+safetext.ShellPath(f.Path))
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
