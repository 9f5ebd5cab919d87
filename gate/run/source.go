package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"

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
	"github.com/handoff-gate/handoff-gate/gate/schemacheck"
	"github.com/handoff-gate/handoff-gate/gate/snapshot"
	"github.com/handoff-gate/handoff-gate/gate/trust"
)

// source is everything that was read for one project. Each layer's row of
// sources (aahp-verify.md 2) is decided here and nowhere else.
type source struct {
	run *run
	p   Project

	second   gate.Tree       // that layer 1 reads beside the working tree; nil for none
	sets     []*snapshot.Set // of layer 1, in the order of its row
	markers  []treeMarkers   // beside sets
	locks    []string        // local branches that hold the lock file
	locksErr error

	newSide  gate.Tree // of layer 2; nil where there is none
	policies policy.Policies

	pointer pointer.Input

	judged gate.Tree // what the pointer, the register and the schemas are read from
}

// read reads the project. Independent parts are read side by side.
func (s *source) read(ctx context.Context) error {
	r := s.run
	if err := s.trees(ctx); err != nil {
		return err
	}
	g, ctx := parallel.WithContext(ctx)
	g.Go(r.compared)
	g.Go(func() error { return s.readSets(ctx) })
	g.Go(func() error { return s.readMarkers(ctx) })
	switch {
	case errors.Is(r.c.Refused, git.ErrDamaged):
		s.locksErr = r.c.Refused
	case r.c.Repo != nil:
		g.Go(func() error {
			s.locks, s.locksErr = r.c.Repo.BranchesWith(ctx, gate.Join(s.p.Path, gate.HandoffDir+"/"+lint.LockFile))
			return ctx.Err()
		})
	}
	if !r.o.OnlyContent {
		if r.o.Level != gate.Precommit {
			g.Go(func() error { return s.readPointer(ctx) })
		}
		g.Go(s.readPolicies)
	}
	return g.Wait()
}

// trees chooses what is read from where.
func (s *source) trees(ctx context.Context) error {
	r := s.run
	s.judged = r.c.Work
	if r.c.Repo == nil || r.o.OnlyContent {
		return nil
	}
	if r.o.Level == gate.CI {
		s.newSide, s.second = r.headSet, r.headSet
		if r.headSet != nil {
			s.judged = r.headSet
		}
		return nil
	}
	x, err := r.index()
	if err != nil {
		// The layers that need it report it, as they do a head tree that this clone
		// lacks; what needs no index is judged all the same.
		s.newSide = unreadTree{gate.IndexTree, err}
		return ctx.Err()
	}
	s.newSide = x
	if r.o.Level == gate.Precommit && r.headSet != nil {
		if _, err := x.Stat(gate.Join(s.p.Path, gate.ManifestFile)); err == nil {
			s.second = x
		}
	}
	return nil
}

// unreadTree is a tree that could not be read: whoever asks it is told why, and
// never that nothing is there.
type unreadTree struct {
	name string
	err  error
}

// Name is how messages call the tree.
func (t unreadTree) Name() string { return t.name }

// Stat gives the error.
func (t unreadTree) Stat(string) (gate.Entry, error) { return gate.Entry{}, t.err }

// Open gives the error.
func (t unreadTree) Open(string) (io.ReadCloser, gate.Entry, error) {
	return nil, gate.Entry{}, t.err
}

// List gives the error.
func (t unreadTree) List(string) ([]gate.Entry, error) { return nil, t.err }

// readSets reads the handoff set of each snapshot of layer 1. The working tree
// comes first, so that what a commit or the index has in the same bytes need
// not be read again.
func (s *source) readSets(ctx context.Context) error {
	r := s.run
	o := snapshot.Options{Scan: lint.Options{Secrets: r.o.Secrets}}
	if s.second != nil {
		o.IDLength = len(r.head.ID)
	}
	working, err := snapshot.Read(ctx, r.c.Work, s.p.Path, o)
	if err != nil {
		return fmt.Errorf("the handoff folder cannot be read: %w", err)
	}
	if r.c.Repo != nil {
		// Where git cannot tell, the scan for conflict markers says so.
		if links, err := r.c.Repo.Submodules(ctx, gate.Join(s.p.Path, gate.HandoffDir)); err == nil {
			working.MarkSubmodules(r.c.Work, gate.Join(s.p.Path, gate.HandoffDir), links)
		}
	}
	s.sets = []*snapshot.Set{working}
	if s.second == nil {
		return nil
	}
	o.IDLength, o.Known = 0, s.sets
	other, err := snapshot.Read(ctx, s.second, s.p.Path, o)
	if err != nil {
		return fmt.Errorf("the handoff folder of the %s cannot be read: %w", s.second.Name(), err)
	}
	s.sets = row(r.o.Level, working, other)
	return nil
}

// row orders what was read of the two trees of layer 1: the one that is judged at ci
// comes first.
func row[T any](level gate.Level, working, second T) []T {
	if level == gate.CI {
		return []T{second, working}
	}
	return []T{working, second}
}

// readPolicies reads the copies of aahp.config.json.
func (s *source) readPolicies() error {
	r := s.run
	path := gate.Join(s.p.Path, policy.ConfigFile)
	in := policy.Input{
		Source: r.o.PolicyFrom, Level: r.o.Level, HeadIsBase: r.o.HeadIsBase,
		Working: gate.ReadDocument(r.c.Work, path, gate.MaxConfig),
		Outside: s.newSide == nil,
	}
	if s.newSide != nil {
		in.NewSide = gate.ReadDocument(s.newSide, path, gate.MaxConfig)
	}
	if err := r.compared(); err != nil {
		return err
	}
	if r.diffErr == nil && r.c.Repo != nil {
		// Before the first commit there is no policy that could have been agreed
		// on: the built-in one stands, as against the empty tree.
		in.BaseAvailable = r.base != nil || r.o.Level == gate.Precommit
		if r.base != nil {
			in.Base = gate.ReadDocument(r.base, path, gate.MaxConfig)
		}
	}
	s.policies = policy.Resolve(in)
	return nil
}

func decideIntegrity(_ context.Context, s *source, _ *result) (report.Layer, error) {
	r := s.run
	j := integrity.Judge(integrity.Input{
		Project: s.p.Path, Sets: s.sets, Commands: s.p.Commands,
		Compare: r.o.Level == gate.CI && len(s.sets) == 2,
	})
	in := lint.Input{Project: s.p.Path, Today: r.o.Now, Commands: s.p.Commands, BranchLocks: s.locks, BranchErr: s.locksErr}
	for i, set := range s.sets {
		snap := lint.Snapshot{
			Name: set.Tree, Lock: set.Has(lint.LockFile), Reported: j.Unread(i),
			Markers: s.markers[i].found, TreeProblems: s.markers[i].problems,
		}
		for _, f := range set.Files {
			if f.State == gate.Present {
				snap.Files = append(snap.Files, f.Content)
			} else {
				snap.Unscannable = append(snap.Unscannable, lint.Problem{Path: f.Name, Reason: f.Err.Error()})
			}
		}
		in.Snapshots = append(in.Snapshots, snap)
	}
	checked := "content checked"
	if r.o.Secrets == lint.Extended {
		checked += " with the rules of " + lint.ExtendedVersion
	}
	return j.Layer(lint.Check(in), checked), nil
}

func decideDrift(_ context.Context, s *source, _ *result) (report.Layer, error) {
	r := s.run
	in := drift.Input{
		Project: s.p.Path, Level: r.o.Level, Repository: r.c.Repo != nil, Refused: r.c.Refused, Base: r.o.Base, NoChangeSet: r.o.NoChangeSet,
		Given: s.given(), Changes: r.changes, Staged: r.staged, DiffErr: r.diffErr, Policies: s.policies,
		OldSide: r.base, HeadTree: r.headSet, NewSide: s.newSide, Commands: s.p.Commands,
	}
	return drift.Check(in), nil
}

func decideTrust(_ context.Context, s *source, res *result) (report.Layer, error) {
	r := s.run
	if r.o.Level == gate.Precommit {
		return report.Skipped(trust.ID, trust.Title, "not run at precommit"), nil
	}
	in := trust.Input{
		Project: s.p.Path, Commands: s.p.Commands,
		Register: gate.ReadDocument(s.judged, gate.Join(s.p.Path, trust.RegisterFile), gate.MaxTrustRegister),
		Applied:  s.policies.Applied, Source: s.policies.From, HeadTrust: s.policies.Head.Policy.Trust,
		HeadProblems: s.policies.Head.Problems, PolicyUnavailable: s.policies.Unavailable, PolicyErr: s.policies.BaseErr,
		Today: r.o.Now, ChecksOff: r.o.ChecksOff, NoProgramHint: r.o.NoProgramHint,
		PackageJSON: gate.ReadDocument(r.c.Work, gate.Join(s.p.Path, "package.json"), gate.MaxPackageJSON),
	}
	for i := range res.layers {
		if res.layers[i].ID == integrity.ID {
			in.IntegrityErrors = res.layers[i].Count().Errors
		}
	}
	for _, name := range trust.LicenseNames() {
		if _, err := r.c.Work.Stat(gate.Join(s.p.Path, name)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		in.LicenseName = name
		in.License = s.license(name)
		break
	}
	res.plan = trust.Prepare(in)
	return report.Layer{ID: trust.ID, Title: trust.Title}, nil
}

// license reads the license text; a link is followed only to a regular file of the
// same repository, and to none of git's own.
func (s *source) license(name string) gate.Document {
	c, p := s.run.c, gate.Join(s.p.Path, name)
	doc := gate.ReadDocument(c.Work, p, trust.MaxLicense)
	if doc.Entry.Kind != gate.Symlink {
		return doc
	}
	target, err := disk.Follow(c.Top, filepath.Join(c.Top, filepath.FromSlash(p)))
	switch {
	case errors.Is(err, disk.ErrOutside), gate.InGit(target):
		doc.Err = errors.New("it is a symbolic link that leaves the repository")
		return doc
	case err != nil:
		return doc
	}
	if there := gate.ReadDocument(c.Work, target, trust.MaxLicense); there.State != gate.NotRegular {
		return there
	}
	return doc
}

// schemaConfig reads the copy of aahp.config.json that the schema judges: at
// precommit the index's, the working tree's where the index has none.
func (s *source) schemaConfig() gate.Document {
	path := gate.Join(s.p.Path, policy.ConfigFile)
	if s.run.o.Level == gate.Precommit && s.newSide != nil {
		if doc := gate.ReadDocument(s.newSide, path, gate.MaxConfig); doc.State != gate.Absent {
			return doc
		}
	}
	return gate.ReadDocument(s.judged, path, gate.MaxConfig)
}

func decideSchema(_ context.Context, s *source, res *result) (report.Layer, error) {
	r := s.run
	set := s.sets[0]
	if r.o.Level == gate.Precommit && len(s.sets) == 2 {
		set = s.sets[1]
	}
	in := schemacheck.Input{
		Project: s.p.Path, Now: r.o.Now, Commands: s.p.Commands, Manifest: set.Manifest, Mask: lint.Redact,
		Config: s.schemaConfig(), Files: s.schemaFiles(),
	}
	for _, l := range res.layers {
		in.Reported = append(in.Reported, l.Findings...)
	}
	if res.plan != nil {
		in.Reported = append(in.Reported, res.plan.Findings()...)
	}
	return schemacheck.Check(in), nil
}

// schemaFiles reads the JSON files of the handoff folder, one at a time: at
// precommit the index's copies, and of what it lacks the working tree's.
func (s *source) schemaFiles() iter.Seq[gate.Document] {
	tree, set := s.judged, s.sets[0]
	staged := map[string]gate.Entry{}
	if x, ok := s.newSide.(*git.Index); ok && s.run.o.Level == gate.Precommit && s.run.headSet != nil {
		for _, e := range x.Below(gate.Join(s.p.Path, gate.HandoffDir)) {
			staged[e.Path] = e
		}
	}
	read := map[string]gate.Tree{}
	for _, f := range set.Files {
		if _, known := staged[f.Entry.Path]; !known && f.State == gate.Present {
			read[f.Entry.Path] = tree
		}
	}
	for p, e := range staged {
		if e.Kind == gate.Regular {
			read[p] = s.newSide
		}
	}
	return func(yield func(gate.Document) bool) {
		for _, p := range slices.Sorted(maps.Keys(read)) {
			if strings.HasSuffix(p, ".json") && !yield(gate.ReadDocument(read[p], p, gate.MaxHandoffFile)) {
				return
			}
		}
	}
}
