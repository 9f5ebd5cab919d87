package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/pathglob"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/run"
	"github.com/handoff-gate/handoff-gate/githubapi"
)

// projects resolves the input path: folders, globs and auto. nothing says why
// there is no project, where the run can do without one if something else is
// found to verify.
func (a *action) projects(ctx context.Context) (out []run.Project, nothing, err error) {
	seen := map[string]bool{}
	add := func(path string, removed *run.Given) {
		if seen[path] {
			return
		}
		seen[path] = true
		out = append(out, run.Project{Path: path, Commands: a.commands(path), Given: safetext.ShellPath(path), Removed: removed})
	}
	var found *manifests
	for _, line := range a.in.Paths {
		isFolder, err := a.folder(line.Text)
		if err != nil {
			return nil, nil, err
		}
		if isFolder && !a.newFolder(line) {
			switch err := a.hasHandoff(line.Text); {
			case err == nil:
				add(line.Text, nil)
			case len(a.in.Paths) == 1 && line.Text == "." && a.neverHadHandoff():
				return nil, cannot("%s, and nothing else was found to verify: no session folder, install record or packet%s", err, a.elsewhere(ctx)), nil
			default:
				return nil, nil, err
			}
			continue
		}
		if !line.Auto && !line.Glob {
			return nil, nil, cannot("input path: there is no folder %s in the repository%s", safetext.Clean(line.Text), a.sparse(line.Text))
		}
		if isFolder && a.onDisk(gate.Join(line.Text, gate.HandoffDir)) {
			add(line.Text, nil)
		}
		if found == nil {
			if found, err = a.manifests(ctx); err != nil {
				return nil, nil, err
			}
		}
		for _, p := range found.matching(line) {
			if found.removed[p] == nil {
				if err := a.hasHandoff(p); err != nil {
					return nil, nil, err
				}
			}
			add(p, found.removed[p])
		}
	}
	if len(out) == 0 {
		nothing = cannot("nothing was found to verify: no folder that the input path selects holds %s, at HEAD or in the base, and there is no session folder, install record or packet", gate.ManifestFile)
	}
	return out, nothing, nil
}

// elsewhere names the handoff sets of a monorepo that the input path does not select.
func (a *action) elsewhere(ctx context.Context) string {
	m, err := a.manifests(ctx)
	if err != nil || len(m.paths) == 0 {
		return ""
	}
	return "; there is a handoff set in " + safetext.Clean(m.paths[0]) + ": the input path selects it, and all there are with auto"
}

// commands are what remedies end in, as a person would run them at the top
// level of a clone.
func (a *action) commands(path string) gate.Commands {
	again := "handoff-gate verify " + safetext.ShellPath(path) + " --level ci"
	if id := a.target.Base.ID; id != "" {
		again += " --base " + id
	}
	if a.in.PolicyFromHead || a.target.HeadPolicy {
		again += " --policy-from head"
	}
	if a.in.Schema {
		again += " --schema"
	}
	if a.in.Governance {
		again += " --governance"
	}
	if a.in.ExtendedSecrets {
		again += " --secrets extended"
	}
	commands := regenerate(filepath.Join(a.checkout.Top, filepath.FromSlash(path)), path)
	commands.Again = again
	return commands
}

// folder tells whether a line names a folder of the checkout. A link is none:
// it could lead out of the repository.
func (a *action) folder(path string) (bool, error) {
	if path == "." {
		return true, nil
	}
	e, err := a.checkout.Work.Stat(path)
	if err != nil || e.Kind == gate.Regular {
		return false, nil //nolint:nilerr // what is not there is no folder; the caller says so.
	}
	if e.Kind != gate.Folder {
		return false, cannot("input path: %s is %s, not a folder", safetext.Clean(path), e.Kind.Article())
	}
	return true, nil
}

// newFolder tells whether a line that is a pattern names a folder which the
// change itself brings. Whoever proposes it must not choose in this way what is
// verified, so the line then selects what it selects as a pattern too.
func (a *action) newFolder(line githubapi.PathLine) bool {
	if !line.Auto && !line.Glob || a.target.Base.ID == "" {
		return false
	}
	stat := a.treeOf(a.target.Base.ID)
	if stat == nil {
		return true
	}
	_, err := stat(line.Text)
	return err != nil
}

// hasHandoff makes sure that a project has a handoff folder on disk. A link to
// one is enough here; layer 1 refuses it.
func (a *action) hasHandoff(project string) error {
	dir := gate.Join(project, gate.HandoffDir)
	if a.onDisk(dir) {
		return nil
	}
	return cannot("%s holds no folder %s%s", safetext.Clean(project), gate.HandoffDir, a.sparse(dir))
}

// neverHadHandoff tells whether neither HEAD nor the base has a handoff folder at
// the top: the repository is none of those, and nobody has taken it away.
func (a *action) neverHadHandoff() bool {
	for _, commit := range []string{a.target.Head, a.target.Base.ID} {
		if commit == "" {
			continue
		}
		stat := a.treeOf(commit)
		if stat == nil {
			return false
		}
		if _, err := stat(gate.HandoffDir); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

func (a *action) onDisk(dir string) bool {
	info, err := os.Stat(filepath.Join(a.checkout.Top, filepath.FromSlash(dir)))
	return err == nil && info.IsDir()
}

// sparse says what to add to a sparse checkout that lacks a folder of HEAD's
// tree; "" where HEAD has no such folder.
func (a *action) sparse(dir string) string {
	stat := a.headTree()
	if stat == nil {
		return ""
	}
	if e, err := stat(dir); err != nil || e.Kind != gate.Folder {
		return ""
	}
	return "; HEAD's tree has it, so in a sparse checkout add the pattern /" + safetext.Clean(dir) + "/"
}

// manifests are the projects of HEAD's tree, and those the change removed.
type manifests struct {
	paths   []string // ordered by bytes
	removed map[string]*run.Given
}

func (a *action) manifests(ctx context.Context) (*manifests, error) {
	m := &manifests{removed: map[string]*run.Given{}}
	repo := a.checkout.Repo
	if a.target.Head == "" {
		return m, nil
	}
	head, err := repo.Commit(ctx, a.target.Head)
	if err != nil {
		return nil, cannot("HEAD cannot be read: %s", err)
	}
	entries, err := repo.TreeEntries(ctx, head.Tree, ".")
	if err != nil {
		return nil, cannot("HEAD's tree cannot be listed: %s", err)
	}
	m.paths = projectsOf(entries)
	if a.target.Base.ID == "" {
		return m, nil
	}
	base, err := repo.Commit(ctx, a.target.Base.ID)
	if err != nil {
		return nil, cannot("the base commit cannot be read: %s", err)
	}
	before, err := repo.TreeEntries(ctx, base.Tree, ".")
	if err != nil {
		return nil, cannot("the base's tree cannot be listed: %s", err)
	}
	for _, p := range projectsOf(before) {
		if slices.Contains(m.paths, p) || !hasBelow(entries, p) {
			continue
		}
		m.removed[p] = &run.Given{
			Rule:    githubapi.ProjectRemoved,
			Message: "the change removes " + safetext.Clean(gate.Join(p, gate.ManifestFile)) + ", but other files of the project stay: deleting a handoff is no way out of it",
			Remedy:  "Restore the project's handoff folder, or remove the rest of the project too.",
		}
	}
	for p := range m.removed {
		m.paths = append(m.paths, p)
	}
	slices.Sort(m.paths)
	return m, nil
}

func projectsOf(entries []gate.Entry) []string {
	var out []string
	for _, e := range entries {
		if e.Path == gate.ManifestFile {
			out = append(out, ".")
		} else if p, ok := strings.CutSuffix(e.Path, "/"+gate.ManifestFile); ok {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// hasBelow tells whether a tree has files below a folder.
func hasBelow(entries []gate.Entry, dir string) bool {
	return slices.ContainsFunc(entries, func(e gate.Entry) bool {
		_, ok := gate.Below(dir, e.Path)
		return ok
	})
}

func (m *manifests) matching(line githubapi.PathLine) []string {
	if line.Auto {
		return m.paths
	}
	var out []string
	glob := pathglob.ParseFlat(line.Text)
	for _, p := range m.paths {
		if glob.Match(p) {
			out = append(out, p)
		}
	}
	return out
}
