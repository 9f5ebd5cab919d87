package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/disk"
	"github.com/handoff-gate/handoff-gate/gate/internal/localpath"
	"github.com/handoff-gate/handoff-gate/gate/internal/parallel"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/session"
)

// SessionInput says which sessions of one root are verified, and between which two
// states. Paths are from the top level.
type SessionInput struct {
	Root string
	Now  gate.LinkReader

	// Base is the state that Now is compared with: nil compares nothing, and
	// sessions.md 8 is skipped. BaseErr says why there is none although one was
	// asked for.
	Base    gate.Tree
	BaseErr error

	Prefix  string // the one session that it names; "" for all
	Changed bool   // of all, those that differ from Base

	// Marked takes only folders for sessions that have a timeline or a payload in
	// one of the two states, and nothing is said of a root without any: other
	// projects lay out folders alike (sessions.md 12). Without it, a root that has
	// no session is an error.
	Marked bool

	Private  bool // the event says that the repository is private
	Pointers bool // a pointer of Git LFS is a file that cannot be read

	// Pairs are those of several roots that are verified together, of which this is
	// one; nil pairs within the root.
	Pairs *session.Pairs

	// Top is the place of the top level on this machine, absolute, for recorded
	// paths that are; "" knows none.
	Top    string
	OnDisk bool // Now is what lies there
	// Transcripts is where recorded sources are looked for; nil is Now.
	Transcripts gate.LinkReader

	Again   string // the command that verifies the same once more
	List    string // the command that lists what exists
	Nothing string // says why there is no session; "" for the usual reasons
}

// Match says how the search for sessions ended.
type Match uint8

// The outcomes of a search.
const (
	Matched Match = iota
	NotMatched
	Ambiguous
)

// SessionResult is what was decided about one root.
type SessionResult struct {
	Match   Match
	Entries []report.Project // of the sessions that were verified, ordered by path
	Results []session.Result // of these
	Root    *report.Project  // what was found about the root itself; nil for nothing
	Found   bool             // one of the states has a session
}

// Projects are all entries: the sessions, then the root.
func (r *SessionResult) Projects() []report.Project {
	if r.Root == nil {
		return r.Entries
	}
	return append(slices.Clip(r.Entries), *r.Root)
}

// Sessions verifies sessions of one root.
func Sessions(ctx context.Context, in SessionInput) (*SessionResult, error) {
	r := &sessionRun{in: in, now: session.Find(in.Now, in.Root)}
	if in.Nothing != "" {
		r.in.Base, r.in.BaseErr = nil, nil // there is no root to compare
	}
	if r.in.Base != nil {
		r.base = session.Find(in.Base, in.Root)
		if len(r.base.Broken) > 0 {
			r.in.BaseErr, r.in.Base = r.base.Broken[0].Err, nil
		}
	}
	if in.Marked {
		session.Count(&r.now, &r.base)
	}
	transcripts := in.Transcripts
	if transcripts == nil {
		transcripts = in.Now
	}
	r.sources = session.NewSources(transcripts, r.places)
	r.out.Found = len(r.now.Sessions)+len(r.base.Sessions) > 0
	var err error
	if in.Prefix != "" {
		err = r.one(ctx)
	} else {
		err = r.all(ctx)
	}
	if err != nil {
		return nil, err
	}
	return &r.out, ctx.Err()
}

// sessionRun is the state of one call of Sessions.
type sessionRun struct {
	in        SessionInput
	now, base session.Store
	pairs     session.Pairs
	sources   *session.Sources
	about     []report.Finding // findings about the root
	out       SessionResult
}

// places gives where a recorded source may lie.
func (r *sessionRun) places(name string) []string {
	if !filepath.IsAbs(name) {
		slashed := filepath.ToSlash(name)
		if r.in.Root == "." {
			return []string{slashed}
		}
		return []string{slashed, r.in.Root + "/" + slashed}
	}
	if r.in.Top == "" {
		return nil
	}
	if rel, in := localpath.Below(r.in.Top, name); in {
		return []string{rel}
	}
	if !r.in.OnDisk {
		return nil
	}
	// The top level has no link in it, the recorded path may.
	rel, err := disk.Follow(r.in.Top, name)
	if err != nil {
		return nil
	}
	return []string{rel}
}

// input is what a check of one session is given.
func (r *sessionRun) input(p session.Place) *session.Input {
	in := &session.Input{
		Place: p, Now: r.in.Now, Sources: r.sources.Find, Private: r.in.Private, Pointers: r.in.Pointers, Again: r.in.Again,
	}
	if r.in.Base != nil {
		in.Base, in.Compared = r.in.Base, true
		if before, ok := r.pairs.Partner[p.Path]; ok {
			in.Before = &before
		}
	}
	return in
}

// each runs f for every number below n, some of them side by side.
func each(ctx context.Context, n int, f func(i int)) error {
	return parallel.Each(ctx, n, func(ctx context.Context, i int) error {
		f(i)
		return ctx.Err()
	})
}

// heads reads the manifests of all sessions. Of those that cannot be read, the
// findings stand in bad.
func (r *sessionRun) heads(ctx context.Context) (heads []session.Head, bad map[string][]report.Finding, err error) {
	n := len(r.now.Sessions)
	all, findings := make([]session.Head, n), make([][]report.Finding, n)
	err = each(ctx, n, func(i int) {
		all[i], findings[i] = session.ReadHead(r.input(r.now.Sessions[i]))
	})
	bad = map[string][]report.Finding{}
	for i, h := range all {
		if len(findings[i]) > 0 {
			bad[h.Path] = findings[i]
		} else {
			heads = append(heads, h)
		}
	}
	return heads, bad, err
}

// pair finds each session's partner at the base. Where a manifest of the base
// cannot be read, no session has a partner for sure.
func (r *sessionRun) pair() {
	switch {
	case r.in.Base == nil:
		return
	case r.in.Pairs != nil:
		r.pairs = *r.in.Pairs
		return
	}
	pairs, err := pairSessions(r.in.Now, r.in.Base, &r.now, &r.base)
	if err != nil {
		r.in.Base, r.in.BaseErr = nil, err
		return
	}
	r.pairs = pairs
}

// one verifies the session that the prefix names.
func (r *sessionRun) one(ctx context.Context) error {
	heads, bad, err := r.heads(ctx)
	if err != nil {
		return err
	}
	found := session.Resolve(heads, r.in.Prefix)
	switch {
	case len(found) == 0:
		r.out.Match = NotMatched
		r.about = append(r.about, session.Missing(r.in.Root, r.nothing(fmt.Sprintf("no session begins with %q", safetext.Clean(r.in.Prefix))), r.in.List))
		for _, p := range r.now.Sessions {
			if strings.HasPrefix(p.ID, r.in.Prefix) {
				r.about = append(r.about, bad[p.Path]...)
			}
		}
	case len(found) > 1:
		r.out.Match = Ambiguous
		r.about = append(r.about, session.AmbiguousPrefix(r.in.Root, found, r.in.List))
	default:
		r.pair()
		in := r.input(found[0].Place)
		res := session.Check(in)
		if err := cmp.Or(r.in.BaseErr, res.BaseErr); err != nil {
			res.Findings = append(res.Findings, session.Unavailable(r.in.Root, err, in.Again))
		}
		r.out.Entries, r.out.Results = []report.Project{res.Entry(in)}, []session.Result{res}
	}
	r.root("")
	return nil
}

// nothing says why there is nothing to verify.
func (r *sessionRun) nothing(why string) string {
	switch {
	case r.in.Nothing != "":
		return r.in.Nothing
	case !r.now.Exists:
		return "there are no sessions: the root is no folder"
	case len(r.now.Sessions) == 0:
		return "the root holds no sessions"
	}
	return why
}

// all verifies every session, or those that changed.
func (r *sessionRun) all(ctx context.Context) error {
	r.pair()
	selected := r.now.Sessions
	partly := r.in.Changed && r.in.Base != nil
	if partly {
		changed := make([]bool, len(selected))
		if err := each(ctx, len(selected), func(i int) {
			changed[i] = session.Changed(r.in.Now, r.in.Base, r.now.Sessions[i].Path)
		}); err != nil {
			return err
		}
		selected = nil
		for i, c := range changed {
			if c {
				selected = append(selected, r.now.Sessions[i])
			}
		}
	}
	n := len(selected)
	r.out.Entries, r.out.Results = make([]report.Project, n), make([]session.Result, n)
	if err := each(ctx, n, func(i int) {
		in := r.input(selected[i])
		r.out.Results[i] = session.Check(in)
		r.out.Entries[i] = r.out.Results[i].Entry(in)
	}); err != nil {
		return err
	}
	baseErr := r.in.BaseErr
	for _, res := range r.out.Results {
		baseErr = cmp.Or(baseErr, res.BaseErr)
	}
	if baseErr != nil && (len(r.now.Sessions) > 0 || !r.in.Marked) {
		r.about = append(r.about, session.Unavailable(r.in.Root, baseErr, r.in.Again))
	}
	if len(r.now.Sessions) == 0 && !r.in.Marked {
		r.out.Match = NotMatched
		r.about = append(r.about, session.Missing(r.in.Root, r.nothing(""), r.in.List))
	}
	r.aboutFolders(partly)
	if err := r.index(ctx, partly); err != nil {
		return err
	}
	skip := ""
	if len(selected) == 0 && len(r.now.Sessions) > 0 {
		skip = "no session differs from the base"
	}
	r.root(skip)
	return nil
}

// aboutFolders reports what stands at the place of a session and is none.
func (r *sessionRun) aboutFolders(partly bool) {
	touched := func(p string) bool { return !partly || session.Changed(r.in.Now, r.in.Base, p) }
	for _, b := range r.now.Broken {
		r.about = append(r.about, session.Unlisted(b, r.in.Again))
	}
	for _, p := range r.now.Headless {
		if touched(p.Path) {
			r.about = append(r.about, session.Headless(p, r.in.Again))
		}
	}
	for _, p := range r.now.Links {
		if touched(p) {
			r.about = append(r.about, session.Linked(p, r.in.Again))
		}
	}
	for _, p := range r.pairs.Alone {
		r.about = append(r.about, session.Removed(p))
	}
}

// index compares INDEX.json with the sessions: with all of them where it changed
// itself, else with those that were verified.
func (r *sessionRun) index(ctx context.Context, partly bool) error {
	path := gate.Join(r.in.Root, session.IndexName)
	if _, err := r.in.Now.Stat(path); errors.Is(err, fs.ErrNotExist) || r.in.Marked && !r.out.Found {
		return nil
	}
	var heads []session.Head
	for _, res := range r.out.Results {
		if res.Parsed {
			heads = append(heads, res.Head)
		}
	}
	switch {
	case !partly:
	case session.Changed(r.in.Now, r.in.Base, path):
		var err error
		if heads, _, err = r.heads(ctx); err != nil {
			return err
		}
	case len(heads) == 0:
		return nil
	}
	r.about = append(r.about, session.CheckIndex(r.in.Now, r.in.Root, heads)...)
	return nil
}

// root makes the entry of the root, where there is something to say of it.
func (r *sessionRun) root(skip string) {
	var l report.Layer
	switch {
	case len(r.about) > 0:
		l = report.Done(session.ID, session.Title, plural.Of(len(r.about), "finding")+" about the root", r.about)
	case skip != "":
		l = report.Skipped(session.ID, session.Title, skip)
	default:
		return
	}
	r.out.Root = &report.Project{Path: r.in.Root, Format: session.Format, Level: session.Level, Layers: []report.Layer{l}}
}
