// Package run is one run of the gate, for verify and action alike: it reads the
// snapshots, lets every layer of every project decide, runs the declared checks
// last and puts the report together. It knows no event and no flag.
//
// A new layer of an AAHP project is a pure package of its own and a row of layers,
// with what it is to read in source. A new format beside AAHP is a pure package
// that makes entries of report.Project, and a file here that reads for it, as
// sessions.go does for gate/session.
package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/disk"
	"github.com/handoff-gate/handoff-gate/gate/drift"
	"github.com/handoff-gate/handoff-gate/gate/git"
	"github.com/handoff-gate/handoff-gate/gate/integrity"
	"github.com/handoff-gate/handoff-gate/gate/internal/parallel"
	"github.com/handoff-gate/handoff-gate/gate/lint"
	"github.com/handoff-gate/handoff-gate/gate/pointer"
	"github.com/handoff-gate/handoff-gate/gate/policy"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
	"github.com/handoff-gate/handoff-gate/gate/schemacheck"
	"github.com/handoff-gate/handoff-gate/gate/trust"
)

// Checkout is what a run reads from: a work tree and, where there is one, its
// repository.
type Checkout struct {
	Top  string     // absolute, links resolved
	Work *disk.Tree // the working tree at Top
	Repo *git.Repo  // nil outside a repository
	// Refused says why there is none; nil where there is one.
	Refused error
}

// OpenCheckout opens the repository that holds o.Dir, or o.Dir alone outside a
// repository.
func OpenCheckout(ctx context.Context, o git.Options) (*Checkout, error) {
	repo, err := git.Open(ctx, o)
	top := o.Dir
	var refused error
	switch {
	case err == nil:
		top = repo.Top()
	case errors.Is(err, git.ErrNoRepository):
		repo, refused = nil, err
	default:
		return nil, err
	}
	work, err := disk.Open(top)
	if err != nil {
		if repo != nil {
			repo.Close()
		}
		return nil, err
	}
	return &Checkout{Top: top, Work: work, Repo: repo, Refused: refused}, nil
}

// Close ends what OpenCheckout began.
func (c *Checkout) Close() {
	c.Work.Close()
	if c.Repo != nil {
		c.Repo.Close()
	}
}

// Given is a problem that was found before the layers: it becomes an error or
// notice in layer drift of every project.
type Given struct {
	Rule            *rule.Rule
	Message, Remedy string
}

// Project is one handoff set to verify.
type Project struct {
	Path     string // from the top level, or "."
	Commands gate.Commands
	Given    string // the path as commands take it, one word of a shell
	// Removed says that HEAD's tree lost the project's manifest but not the rest
	// of its folder; the finding that reports it.
	Removed *Given
}

// Options say how the projects are judged.
type Options struct {
	Level       gate.Level
	Base        gate.Base
	NoChangeSet string // why there is no change set; "" when there is one to compare
	HeadIsBase  bool   // HEAD's own policy is the base policy
	Given       []Given
	PolicyFrom  policy.Source // "": the level's default
	Secrets     lint.SecretSet
	Schema      bool
	Governance  *Governance // nil: the layer governance is off
	Now         time.Time

	Environ         []string      // for declared checks
	CheckTimeout    time.Duration // of each; 0 is proc.CheckTimeout
	ChecksOff       string        // why declared checks are not run; "" runs them
	NoProgramHint   string        // what to add when a check's program is not there
	Contained       bool          // as the action: own HOME, the folder owner's rights, a process nobody can read
	ShallowIsNotice bool
	OnlyContent     bool // lint: the layer integrity of the working tree alone

	// Others are the entries of what else was verified, sessions and packets: they
	// are decided before any declared check runs, and stand behind the projects.
	Others []report.Project
	// Last, unless it is nil, is called when everything is decided, the declared
	// checks included. It is told whether anything has failed, and what it gives
	// stands in place of Others.
	Last func(ctx context.Context, failed bool) ([]report.Project, error)
	// Alone is the command that repeats a run that has no project. In such a run
	// what was found on the way to a base has an entry of its own.
	Alone string
}

// run is the state that the projects of one run share.
type run struct {
	c *Checkout
	o Options

	head    git.Commit // zero when HEAD does not resolve
	headSet gate.Tree  // its tree; nil then
	base    gate.Tree  // nil without a base commit

	index func() (*git.Index, error)

	baseTree  string       // id of the tree that changes is measured from; "" for none
	comparing func() error // compares once, and waits for it; nil where nothing is compared

	// Of what is compared: not to be read before compared has returned.
	changes, staged []gate.Change
	diffErr         error
}

// Verify judges the projects and gives the finished report, but for its tool.
func Verify(ctx context.Context, c *Checkout, projects []Project, o Options) (*report.Report, error) {
	r := &run{c: c, o: o}
	if err := r.resolve(ctx); err != nil {
		return nil, err
	}
	rep := &report.Report{Base: o.Base.ID, Head: r.head.ID}
	if o.Level == gate.Precommit || o.OnlyContent {
		rep.Base = ""
	}
	results := make([]*result, len(projects))
	for i, p := range projects {
		var err error
		if results[i], err = r.project(ctx, p); err != nil {
			return nil, err
		}
	}
	if len(projects) == 0 {
		rep.Projects = r.alone()
	}
	// Everything is decided; only now may a program of the checkout run.
	runner := checkRunner{checkout: c, o: o}
	defer runner.close()
	for _, res := range results {
		if res.plan != nil {
			outcomes, err := runner.run(ctx, res.path, res.plan.Run)
			if err != nil {
				return nil, err
			}
			res.set(res.plan.Finish(outcomes))
		}
		level := string(o.Level)
		if o.OnlyContent {
			level = "lint"
		}
		rep.Projects = append(rep.Projects, report.Project{Path: res.path, Format: "aahp", Level: level, Layers: res.layers})
	}
	others := o.Others
	if o.Last != nil {
		var err error
		if others, err = o.Last(ctx, anyFailed(rep.Projects) || anyFailed(o.Others)); err != nil {
			return nil, err
		}
	}
	rep.Projects = append(rep.Projects, others...)
	c.finish(rep)
	return rep, ctx.Err()
}

// anyFailed tells whether a layer has failed.
func anyFailed(projects []report.Project) bool {
	return slices.ContainsFunc(projects, func(p report.Project) bool {
		return slices.ContainsFunc(p.Layers, func(l report.Layer) bool { return l.Status == report.Failed })
	})
}

// alone reports what was found on the way to a base where there is no project
// (github-action.md 3).
func (r *run) alone() []report.Project {
	s := &source{run: r, p: Project{Path: ".", Commands: gate.Commands{Again: r.o.Alone}}}
	l, ok := drift.Alone(drift.Input{
		Project: ".", Level: r.o.Level, Repository: r.c.Repo != nil, Base: r.o.Base, NoChangeSet: r.o.NoChangeSet,
		Given: s.given(), Commands: s.p.Commands,
	})
	if !ok {
		return nil
	}
	return []report.Project{{Path: ".", Format: "aahp", Level: string(r.o.Level), Layers: []report.Layer{l}}}
}

// finish takes out of a report what must not be printed, and brings it into its
// final form.
func (c *Checkout) finish(rep *report.Report) {
	redact(rep)
	c.forget(rep)
	rep.Finish()
}

// forget takes the place of the checkout on this machine out of what git and
// checks have said: the same checkout gives the same report anywhere, in a
// container too. Remedies keep the path that the caller gave.
func (c *Checkout) forget(rep *report.Report) {
	if c.Top == filepath.Dir(c.Top) {
		return // the root, whose name is in every path
	}
	r := strings.NewReplacer(c.Top+string(filepath.Separator), "", c.Top, ".")
	for _, p := range rep.Projects {
		for i := range p.Layers {
			p.Layers[i].Summary = r.Replace(p.Layers[i].Summary)
		}
		if p.Packet != nil {
			rewordPacket(p, r.Replace)
			continue
		}
		for _, l := range p.Layers {
			for i := range l.Findings {
				l.Findings[i].Message = r.Replace(l.Findings[i].Message)
			}
		}
	}
}

// redact hides credentials and addresses in what the layers quote from the
// repository. The content checks mask what they report themselves.
func redact(rep *report.Report) {
	for _, p := range rep.Projects {
		if p.Packet != nil {
			rewordPacket(p, lint.Redact)
			continue
		}
		for _, l := range p.Layers {
			for i := range l.Findings {
				f := &l.Findings[i]
				if strings.HasPrefix(f.Rule, "lint/") {
					continue
				}
				f.Message = lint.Redact(f.Message)
				// The command that fixes a finding must stay one that runs.
				advice, command, _ := report.CutFix(f.Remedy)
				f.Remedy = report.WithFix(lint.Redact(advice), command)
			}
		}
	}
}

// resolve reads what all projects share.
func (r *run) resolve(ctx context.Context) error {
	if r.c.Repo == nil {
		return nil
	}
	var err error
	if r.head, err = r.c.Repo.Head(ctx); err != nil {
		return err
	}
	if r.head.ID != "" {
		r.headSet = r.c.Repo.Tree(gate.HeadTree, r.head.Tree)
	}
	r.index = sync.OnceValues(func() (*git.Index, error) { return r.c.Repo.Index(ctx) })
	if r.o.OnlyContent {
		return nil
	}
	return r.compare(ctx)
}

// compare chooses what the change sets are made of. They are made beside
// everything else, once compared is called.
func (r *run) compare(ctx context.Context) error {
	if r.o.Level != gate.Precommit {
		switch {
		case r.o.Base.ID != "":
			c, err := r.c.Repo.Commit(ctx, r.o.Base.ID)
			if err != nil {
				r.diffErr = fmt.Errorf("the base commit cannot be read: %w", err)
				return nil
			}
			r.baseTree = c.Tree
		case r.o.Base.Empty:
			r.baseTree = git.EmptyTree(len(r.head.ID))
		}
		if r.baseTree != "" {
			r.base = r.c.Repo.Tree("base tree", r.baseTree)
		}
	}
	from := r.head.Tree
	if r.headSet == nil {
		n, err := r.c.Repo.IDLength(ctx)
		if err != nil {
			return err
		}
		from = git.EmptyTree(n)
	}
	if r.o.Level == gate.Precommit {
		r.base = r.headSet
	} else if !r.o.Base.Known() || r.o.NoChangeSet != "" {
		return nil
	}
	r.comparing = sync.OnceValue(func() error { return r.diff(ctx, from) })
	return nil
}

// diff fills the change sets. A comparison that fails is a finding of every
// project, so it is kept, not returned.
func (r *run) diff(ctx context.Context, from string) error {
	var g parallel.Group
	var stagedErr, changesErr error
	g.Go(func() error {
		r.staged, stagedErr = r.c.Repo.Staged(ctx, from)
		return nil
	})
	if r.baseTree != "" && r.baseTree != r.head.Tree {
		g.Go(func() error {
			r.changes, changesErr = r.c.Repo.Changes(ctx, r.baseTree, r.head.Tree)
			return nil
		})
	}
	_ = g.Wait() // neither ends the other, so that where both fail the report always names the same one
	if err := cmp.Or(stagedErr, changesErr); err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return err
		}
		r.changes, r.staged, r.diffErr = nil, nil, err
	}
	return nil
}

// compared waits until the change sets are there, making them where nobody has
// begun to.
func (r *run) compared() error {
	if r.comparing == nil {
		return nil
	}
	return r.comparing()
}

// result is a project on the way to its report.
type result struct {
	path   string
	layers []report.Layer
	plan   *trust.Plan
}

// set puts a finished layer in the place that was kept for it.
func (r *result) set(l report.Layer) {
	for i := range r.layers {
		if r.layers[i].ID == l.ID {
			r.layers[i] = l
		}
	}
}

// project lets every layer of one project decide, but for its declared checks.
func (r *run) project(ctx context.Context, p Project) (*result, error) {
	res := &result{path: p.Path}
	if p.Removed != nil {
		res.layers = r.removed(p)
		return res, nil
	}
	s := &source{run: r, p: p}
	if err := s.read(ctx); err != nil {
		return nil, err
	}
	for _, l := range layers {
		if !l.on(r.o) {
			continue
		}
		layer, err := l.decide(ctx, s, res)
		if err != nil {
			return nil, err
		}
		res.layers = append(res.layers, layer)
	}
	return res, nil
}

// removed reports a project whose handoff folder a change took away.
func (r *run) removed(p Project) []report.Layer {
	const why = "the project's handoff folder was removed"
	f := p.Removed.Rule.At(gate.Join(p.Path, gate.ManifestFile), report.Span{}, p.Removed.Message, report.WithFix(p.Removed.Remedy, p.Commands.Again))
	var out []report.Layer
	for _, l := range layers {
		if !l.on(r.o) {
			continue
		}
		if l.id == drift.ID {
			out = append(out, report.Done(l.id, l.title, why, []report.Finding{f}))
		} else {
			out = append(out, report.Skipped(l.id, l.title, why))
		}
	}
	return out
}

// given makes the findings that stand in layer drift from what was known before
// the run.
func (s *source) given() []report.Finding {
	var out []report.Finding
	for _, g := range s.run.o.Given {
		remedy := g.Remedy
		if g.Rule.Severity == report.Error {
			remedy = report.WithFix(remedy, s.p.Commands.Again)
		}
		out = append(out, g.Rule.At(gate.Join(s.p.Path, gate.ManifestFile), report.Span{}, g.Message, remedy))
	}
	return out
}

// layer is one row of the registration table: a capability drops in as one
// package and one row.
type layer struct {
	id, title string
	on        func(Options) bool
	decide    func(context.Context, *source, *result) (report.Layer, error)
}

func always(Options) bool      { return true }
func verifying(o Options) bool { return !o.OnlyContent }

// layers are the layers of an AAHP project, in the order of the report.
var layers = []layer{
	{integrity.ID, integrity.Title, always, decideIntegrity},
	{drift.ID, drift.Title, verifying, decideDrift},
	{pointer.ID, pointer.Title, verifying, decidePointer},
	{trust.ID, trust.Title, verifying, decideTrust},
	{schemacheck.ID, schemacheck.Title, func(o Options) bool { return verifying(o) && o.Schema }, decideSchema},
	{governanceID, governanceTitle, func(o Options) bool { return verifying(o) && o.Governance != nil }, decideGovernance},
}

// Skipped is the report of a run in which nothing was evaluated, with the
// reason in every layer.
func Skipped(projects []Project, o Options, why string) *report.Report {
	rep := &report.Report{}
	for _, p := range projects {
		rp := report.Project{Path: p.Path, Format: "aahp", Level: string(o.Level)}
		for _, l := range layers {
			if l.on(o) {
				rp.Layers = append(rp.Layers, report.Skipped(l.id, l.title, why))
			}
		}
		rep.Projects = append(rep.Projects, rp)
	}
	rep.Finish()
	return rep
}
