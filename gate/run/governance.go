package run

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/disk"
	"github.com/handoff-gate/handoff-gate/gate/governance"
	"github.com/handoff-gate/handoff-gate/gate/lint"
	"github.com/handoff-gate/handoff-gate/gate/proc"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// GovernanceOptions say how check and doctor judge a project.
type GovernanceOptions struct {
	Now time.Time
	// WithExec is the command that also runs the scripts of claims, for remedies.
	WithExec string
	// AllowExec runs these scripts (aahp-governance.md 10).
	AllowExec    bool
	Environ      []string      // for the scripts
	CheckTimeout time.Duration // of each; 0 is proc.ScriptTimeout
}

// Check runs the eight gates of check over the work tree. The report is finished but
// for its tool; what the record of --json says besides is in the facts, but for the
// tool too.
func Check(ctx context.Context, c *Checkout, p Project, o GovernanceOptions) (*report.Report, governance.Result, governance.Facts, error) {
	in := c.governance(p, o)
	pending, err := governance.Check(ctx, in)
	if err != nil {
		return nil, governance.Result{}, governance.Facts{}, err
	}
	facts, err := c.facts(ctx, in)
	if err != nil {
		return nil, governance.Result{}, facts, err
	}
	floors, err := c.floors(ctx, p.Path, pending.Floors, o)
	if err != nil {
		return nil, governance.Result{}, facts, err
	}
	result := pending.Finish(floors).Alone(governance.NotEvaluated, in.Config.Path, p.Commands)
	rep, err := c.governed(ctx, p, &result)
	return rep, result, facts, err
}

// governance makes what the gates of check and doctor read of a project.
func (c *Checkout) governance(p Project, o GovernanceOptions) governance.Input {
	doc := gate.ReadDocument(c.Work, gate.Join(p.Path, governance.ConfigFile), gate.MaxConfig)
	in := governance.Input{
		Project: p.Path, Name: filepath.Base(filepath.Join(c.Top, filepath.FromSlash(p.Path))),
		Work: c.Work, Follow: c.leads, Config: governance.ReadConfig(doc, p.Commands, lint.Redact), NoGit: c.Refused,
		Now: o.Now, Commands: p.Commands, WithExec: o.WithExec, Mask: lint.Redact,
	}
	if c.Repo != nil {
		in.Tracked = func(ctx context.Context, pathspecs []string) ([]string, error) {
			return c.tracked(ctx, p.Path, pathspecs)
		}
	}
	return in
}

// leads tells where a path of the work tree leads when every link is followed.
func (c *Checkout) leads(p string) (target string, outside bool, err error) {
	if strings.ContainsRune(p, 0) {
		return "", false, fs.ErrNotExist
	}
	target, err = disk.Follow(c.Top, filepath.Join(c.Top, filepath.FromSlash(p)))
	return target, errors.Is(err, disk.ErrOutside), err
}

// facts gathers what a record says besides its gates.
func (c *Checkout) facts(ctx context.Context, in governance.Input) (governance.Facts, error) {
	f := governance.Facts{Now: in.Now, Repo: governance.RepoName(governance.NewJudge(in).Package().Repository())}
	if f.Repo == "" && c.Repo != nil {
		origin, err := c.Repo.OriginURL(ctx)
		if err != nil {
			return f, err
		}
		f.Repo = governance.RepoName(origin)
	}
	if f.Repo == "" {
		f.Repo = "unknown"
	}
	return f, nil
}

// governed makes the report of a result, and takes out of the result what must not
// be printed.
func (c *Checkout) governed(ctx context.Context, p Project, result *governance.Result) (*report.Report, error) {
	rep := &report.Report{Projects: []report.Project{{Path: p.Path, Format: "aahp", Level: result.Command, Layers: result.Layers()}}}
	if c.Repo != nil {
		head, err := c.Repo.Head(ctx)
		if err != nil {
			return nil, err
		}
		rep.Head = head.ID
	}
	c.finish(rep)
	for i := range result.Gates {
		result.Gates[i].Reason = strings.TrimPrefix(rep.Projects[0].Layers[i+1].Summary, "NOT EVALUATED: ")
	}
	return rep, ctx.Err()
}

// floors runs the scripts that count what claims advertise, one after another.
func (c *Checkout) floors(ctx context.Context, project string, floors []governance.Floor, o GovernanceOptions) ([]governance.FloorResult, error) {
	results := make([]governance.FloorResult, len(floors))
	if !o.AllowExec || len(floors) == 0 {
		for i := range results {
			results[i].NotRun = "execution is off without --allow-exec"
		}
		return results, nil
	}
	if c.Repo != nil {
		c.Repo.Offline()
	}
	if err := proc.HardenSelf(); err != nil {
		return nil, err
	}
	for i, f := range floors {
		var err error
		if results[i], err = c.floor(ctx, project, f, o); err != nil {
			return nil, err
		}
	}
	return results, nil
}

func (c *Checkout) floor(ctx context.Context, project string, f governance.Floor, o GovernanceOptions) (r governance.FloorResult, err error) {
	home, remove, err := proc.TempHome(nil)
	if err != nil {
		return r, err
	}
	defer func() { _ = remove() }() // what is left lies in the system's temporary folder
	script := filepath.Join(c.Top, filepath.FromSlash(f.Script))
	dir := filepath.Join(c.Top, filepath.FromSlash(path.Clean(project)))
	r.Stdout, err = proc.RunScript(ctx, []string{"node", script}, dir, proc.ScriptEnv(o.Environ, home), o.CheckTimeout)
	var missing *proc.NotFoundError
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case errors.As(err, &missing):
		r.NotRun = "there is no node in PATH"
	case err != nil:
		r.Failed = err.Error()
	}
	return r, nil
}
