package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/disk"
	"github.com/handoff-gate/handoff-gate/gate/git"
	"github.com/handoff-gate/handoff-gate/gate/install"
	"github.com/handoff-gate/handoff-gate/gate/internal/localpath"
	"github.com/handoff-gate/handoff-gate/gate/internal/parallel"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// InstallOptions say which installations are verified on disk.
type InstallOptions struct {
	Dir   string // absolute, links resolved: an installation, or where some are searched
	All   bool   // search Dir for installations
	Start string // the folder the gate was started in, absolute, links resolved

	// Base is any name that git resolves to a commit; "" compares with nothing.
	Base string

	Environ []string
	// Again gives the command that verifies the installation in a folder below
	// Dir ("." is Dir itself).
	Again func(rel string) string
}

// Installs verifies one installation, or all that are found, and gives the
// report but for its tool (sessions.md 9). Beside it stands each entry's folder
// below Dir.
func Installs(ctx context.Context, o InstallOptions) (*report.Report, []string, error) {
	c, err := OpenCheckout(ctx, git.Options{Dir: o.Dir, StartDir: o.Start, Environ: o.Environ})
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	rep := &report.Report{}
	in := install.Input{Files: linkedInside{c.Work, c.Top}, Root: ".", Dir: ".", Repository: c.Repo != nil}
	if c.Repo == nil {
		in.Root = outside(o.Dir, o.Start)
	} else {
		var below bool
		if in.Dir, below = localpath.Below(c.Top, o.Dir); !below {
			return nil, nil, errors.New("the folder is not below the top level of its repository")
		}
		head, err := c.Repo.Head(ctx)
		if err != nil {
			return nil, nil, err
		}
		rep.Head = head.ID
	}
	if o.Base != "" {
		base, err := namedCommit(ctx, c, o.Base)
		if in.BaseErr = err; err == nil {
			rep.Base, in.Base = base.ID, c.Repo.Tree("base tree", base.Tree)
		}
	}
	dirs, err := judgeInstalls(ctx, rep, in, o)
	if err != nil {
		return nil, nil, err
	}
	c.finish(rep)
	return rep, dirs, ctx.Err()
}

// linkedInside is a working tree in which an absolute link into the tree leads
// there, as it does on this machine.
type linkedInside struct {
	*disk.Tree
	top string // absolute, links resolved
}

// ReadLink gives the target with slashes, relative where it is in the tree.
func (t linkedInside) ReadLink(p string) (string, error) {
	target, err := t.Tree.ReadLink(p)
	if err != nil {
		return "", err
	}
	if filepath.IsAbs(target) {
		if rel, err := disk.Follow(t.top, target); err == nil || errors.Is(err, fs.ErrNotExist) {
			if target, err = filepath.Rel(filepath.Dir(filepath.FromSlash(p)), filepath.FromSlash(rel)); err != nil {
				return "", err
			}
		}
	}
	return filepath.ToSlash(target), nil
}

// judgeInstalls adds an entry to the report for each installation and names
// their folders below o.Dir.
func judgeInstalls(ctx context.Context, rep *report.Report, in install.Input, o InstallOptions) ([]string, error) {
	in.Again = o.Again(".")
	if !o.All {
		rep.Projects = []report.Project{in.Entry(install.Check(in))}
		return []string{"."}, nil
	}
	found, err := install.Search(&in, in.Dir)
	if err != nil {
		return nil, fmt.Errorf("installations cannot be searched for: %w", err)
	}
	if len(found) == 0 {
		rep.Projects = []report.Project{in.Entry(install.None(in))}
		return []string{"."}, nil
	}
	rep.Projects = make([]report.Project, len(found))
	dirs := make([]string, len(found))
	return dirs, parallel.Each(ctx, len(found), func(ctx context.Context, i int) error {
		one := in
		dirs[i], _ = gate.Below(in.Dir, found[i].Path) // it is where links may lead
		one.Dir, one.Again = found[i].Path, o.Again(dirs[i])
		rep.Projects[i] = one.Entry(found[i].Judge(one))
		return ctx.Err()
	})
}
