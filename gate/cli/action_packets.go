package cli

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/parallel"
	"github.com/handoff-gate/handoff-gate/gate/internal/pathglob"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/packet"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger/fileledger"
	"github.com/handoff-gate/handoff-gate/gate/packet/strict"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/run"
	"github.com/handoff-gate/handoff-gate/githubapi"
)

// actionPackets is what a run of the action knows of its packets, from the
// judgement to the claims.
type actionPackets struct {
	a        *action
	in       githubapi.Packets
	t        trees
	now      time.Time
	registry *packet.Registry // that packets are judged by
	about    packet.About     // what is to be said besides
	store    ledger.Store     // nil where no ledger is read

	judged []*judgedPacket
	count  int // of the entries that others has of packets, its last
}

// judgedPacket is one packet, in path order.
type judgedPacket struct {
	*packet.Judged
	claim  ledger.Claim
	asked  bool // the ledger is asked about it
	second bool // an earlier packet of this run has its key
}

// packets serves the inputs about packets (packets.md 10). What is judged is read
// from git's trees, and the artifacts from the checkout.
func (a *action) packets(ctx context.Context, _ []run.Project) (others, error) {
	if len(a.in.Packets.Globs) == 0 {
		return others{}, nil
	}
	t, err := a.trees(ctx)
	if err != nil || t.head == nil {
		return others{}, err
	}
	p := &actionPackets{a: a, in: a.in.Packets, t: t, now: time.Now().UTC()}
	matches, found, err := p.matches(ctx)
	if err != nil {
		return others{}, err
	}
	if err := p.openLedger(ctx); err != nil {
		return others{}, err
	}
	p.readRegistry()
	checked := p.selected(matches)
	if err := p.judge(ctx, checked); err != nil {
		return others{}, err
	}
	out := others{found: found || p.hasRegistry(), entries: p.entries(), again: p.again("PACKET")}
	if len(checked) > 0 {
		out.again = p.again(safetext.ShellPath(checked[0].Path))
	}
	p.count = len(out.entries)
	a.claims = p
	return out, ctx.Err()
}

// matches lists what the patterns select at HEAD, in path order. found says that
// HEAD or the base has any.
func (p *actionPackets) matches(ctx context.Context) (head []gate.Entry, found bool, err error) {
	head, err = p.list(ctx, p.t.headTree, func(pattern string, matched int) {
		if matched == 0 {
			p.about.NoMatch = append(p.about.NoMatch, pattern)
		}
	})
	if err != nil || len(head) > 0 || p.t.base == nil {
		return head, len(head) > 0, err
	}
	base, err := p.list(ctx, p.t.baseTree, func(string, int) {})
	return head, len(base) > 0, err
}

// list lists what the patterns select in a tree, and tells of each pattern how
// much. The registry may stand among its packets: it is none.
func (p *actionPackets) list(ctx context.Context, tree string, each func(pattern string, matched int)) ([]gate.Entry, error) {
	byPath := map[string]gate.Entry{}
	for _, pattern := range p.in.Globs {
		entries, err := p.a.checkout.Repo.TreeEntries(ctx, tree, folderOf(pattern))
		if err != nil {
			return nil, cannot("the packets that the input packets selects cannot be listed: %s", safetext.Clean(err.Error()))
		}
		glob, matched := pathglob.Parse(pattern), 0
		for _, e := range entries {
			if e.Path != p.in.Registry && glob.Match(e.Path) {
				byPath[e.Path] = e
				matched++
			}
		}
		each(pattern, matched)
	}
	out := make([]gate.Entry, 0, len(byPath))
	for _, e := range byPath {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b gate.Entry) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// folderOf gives the folder that holds whatever a pattern selects.
func folderOf(pattern string) string {
	if i := strings.IndexAny(pattern, "*?"); i >= 0 {
		pattern = pattern[:i] + "x"
	}
	return path.Dir(pattern)
}

// selected chooses the packets that are checked, and says why others are not.
func (p *actionPackets) selected(matches []gate.Entry) []gate.Entry {
	if p.in.All {
		p.about.Why = "the input packets matches no file"
		return matches
	}
	if p.a.target.Tag != "" || p.a.event.IsSchedule() {
		p.about.Why = "packets were judged when they came and are not checked on the event " + safetext.Clean(p.a.event.Name) + ", unless packets-all is true"
		return nil
	}
	if p.t.base == nil {
		// The base is empty, so that everything is new; or it could not be had, which
		// fails the run.
		p.about.Why = "the input packets matches no file"
		return matches
	}
	p.about.Why = "no packet changed since " + p.a.target.Base.ID[:12]
	return slices.DeleteFunc(slices.Clone(matches), func(e gate.Entry) bool { return !p.changed(e) })
}

// changed tells whether the base lacks a packet or has other bytes under its name.
// Without a readable base everything counts as changed.
func (p *actionPackets) changed(e gate.Entry) bool {
	if p.t.base == nil {
		return true
	}
	was, err := p.t.base.Stat(e.Path)
	return err != nil || was.ID != e.ID || was.Kind != e.Kind
}

// ownRegistry tells that HEAD's registry judges.
func (p *actionPackets) ownRegistry() bool { return p.a.in.PolicyFromHead || p.a.target.HeadPolicy }

// readRegistry reads the registry that judges, and looks at what the change makes
// of it.
func (p *actionPackets) readRegistry() {
	file := p.in.Registry
	head := run.ReadRegistry(p.t.head, file, "HEAD")
	_, headErr := p.t.head.Stat(file)
	baseErr := error(nil)
	var base *packet.Registry
	switch {
	case p.t.base != nil:
		_, baseErr = p.t.base.Stat(file)
		base, p.about.Changed = run.BaseRegistry(file, p.t.base, p.t.head)
	case p.t.baseErr != nil:
		base = packet.NoRegistry(file, "the registry is read from the base commit, and that could not be had: "+safetext.Clean(p.t.baseErr.Error()))
	case p.a.target.Base.Empty:
		p.about.Changed = headErr == nil
		base = packet.NoRegistry(file, "there is no base that has a registry: a registry must be merged first, before the packets that it is to judge")
	default:
		base = packet.NoRegistry(file, "there is no base to read the registry from")
	}
	if p.registry = base; p.ownRegistry() {
		p.registry = head
	}
	switch broken := head.Sound(); {
	case !p.about.Changed || broken == nil:
	case headErr != nil && baseErr == nil:
		p.about.Broken = "the change removes the registry, and without one no packet can be checked after the merge"
	default:
		p.about.Broken = "the registry that the change brings cannot be used, so no packet could be checked after the merge: " + broken.Error()
	}
	p.about.Registry = p.registry
	p.about.Again = p.again("PACKET")
}

// hasRegistry tells whether HEAD or the base has something at the registry's path.
func (p *actionPackets) hasRegistry() bool {
	for _, tree := range []gate.LinkReader{p.t.head, p.t.base} {
		if tree == nil {
			continue
		}
		if _, err := tree.Stat(p.in.Registry); err == nil {
			return true
		}
	}
	return false
}

// again is the command that checks a packet as this run does, at the top level of
// a clone.
func (p *actionPackets) again(file string) string {
	s := "handoff-gate packet check " + file + " --registry " + safetext.ShellQuote(p.in.Registry) + " --workspace ."
	if p.in.Receiver != "" {
		s += " --as-receiver " + safetext.ShellQuote(p.in.Receiver)
	}
	if p.in.Strict {
		s += " --strict"
	}
	if id := p.a.target.Base.ID; id != "" && !p.ownRegistry() {
		s += " --policy-from base --base " + id
	}
	return s
}

// judge runs the checks of the packets side by side, and asks the ledger about
// those that changed.
func (p *actionPackets) judge(ctx context.Context, checked []gate.Entry) error {
	p.judged = make([]*judgedPacket, len(checked))
	if err := parallel.Each(ctx, len(checked), func(ctx context.Context, i int) error {
		e := checked[i]
		file := safetext.ShellPath(e.Path)
		c, err := run.JudgePacket(ctx, p.read(e), p.registry, p.a.checkout.Work, packet.Options{
			Now: p.now, Receiver: p.in.Receiver, Strict: p.in.Strict, RegistrySeen: i > 0,
			Commands: packet.Commands{File: file, Workspace: ".", Again: p.again(file)},
		})
		p.judged[i] = &judgedPacket{Judged: c, asked: p.changed(e)}
		return err
	}); err != nil {
		return err
	}
	for i, c := range p.judged {
		if p.in.Receiver == "" {
			c.ReceiverNotSet()
		}
		if i == 0 {
			if p.about.Changed {
				c.RegistryChanged()
			}
			for _, pattern := range p.about.NoMatch {
				c.NoMatch(pattern)
			}
		}
	}
	return p.look(ctx)
}

// read reads a packet from HEAD's tree.
func (p *actionPackets) read(e gate.Entry) *packet.Document {
	doc := gate.ReadDocument(p.t.head, e.Path, strict.Packet.MaxBytes())
	if doc.State == gate.Present {
		return packet.Read(e.Path, doc.Data)
	}
	return packet.Unreadable(e.Path, "the packet cannot be read from HEAD's tree: "+safetext.Clean(doc.Err.Error()))
}

// openLedger opens the ledger where the run reads one.
func (p *actionPackets) openLedger(ctx context.Context) error {
	l := p.in.Ledger
	if !p.in.Claim {
		return nil
	}
	if l.File != "" {
		if err := p.a.mayWrite(ctx, l.File); err != nil {
			return cannot("input ledger: %s %s", safetext.Clean(l.File), err)
		}
		p.store = fileledger.Open(filepath.Join(p.a.env.Workspace, filepath.FromSlash(l.File)))
		return nil
	}
	repository := l.Repository
	if l.Refs {
		repository = p.a.env.Repository
	}
	o := githubapi.Options{APIURL: p.a.env.APIURL, Repository: repository, Token: p.a.in.Token, Version: p.a.p.Version}
	if p.a.env.Debug {
		o.Debug = func(t githubapi.Attempt) { p.a.notes.add(t.String()) }
	}
	refs, err := githubapi.NewLedger(o)
	if err != nil {
		p.store = noLedger{err}
		return nil
	}
	p.store = refs
	return nil
}

// ask is check 3 of one packet.
func (p *actionPackets) ask(ctx context.Context, c *judgedPacket, write bool) error {
	o, err := ledger.Check(ctx, p.store, c.claim, ledger.Terms{Now: p.now, TTL: ledger.DefaultTTL}, write)
	if err != nil {
		return err
	}
	if o.Detail != nil {
		p.a.notes.add("ledger: " + safetext.Clean(o.Detail.Error()))
	}
	c.Ledger(o, !write)
	return nil
}

// look asks the ledger about each packet that changed, and writes nothing. Of two
// packets with one key the later is refused.
func (p *actionPackets) look(ctx context.Context) error {
	if p.store == nil {
		return nil
	}
	first := map[string]bool{}
	for _, c := range p.judged {
		claim, ok := c.Claim()
		if c.asked = c.asked && ok; !c.asked {
			continue
		}
		c.claim = claim
		if c.second = first[claim.Key]; c.second {
			c.Ledger(ledger.Outcome{Reasons: []ledger.Reason{ledger.InThisRun()}}, true)
			continue
		}
		if err := p.ask(ctx, c, false); err != nil {
			return err
		}
		first[claim.Key] = !c.Rejected()
		if !p.a.event.MayClaim() && !c.Rejected() { // nothing will be claimed of one that is rejected
			c.ClaimDeferred("claims are written on a push to the default branch, workflow_dispatch and repository_dispatch")
		}
	}
	return nil
}

// entries gives the entries of the report: one for each packet, and one of its own
// for what is about none.
func (p *actionPackets) entries() []report.Project {
	var out []report.Project
	about := p.about
	switch {
	case len(p.judged) == 0:
		about.Notes = true
		out = append(out, about.Entry())
	case about.Broken != "":
		about.Why, about.Changed, about.NoMatch = "about the registry alone; each packet has an entry of its own", false, nil
		out = append(out, about.Entry())
	}
	for _, c := range p.judged {
		out = append(out, c.Project())
	}
	return out
}

// write records the claims of the packets, the last act of a run and only of one
// that has no error: a key must not be reserved by a run that then fails. A claim
// that is refused makes its packet a REJECT, and later ones are not made. It gives
// the entries of packets anew.
func (p *actionPackets) write(ctx context.Context, failed bool) ([]report.Project, error) {
	for _, c := range p.judged {
		switch {
		case p.store == nil || !c.asked || !p.a.event.MayClaim() || c.Rejected():
		case failed:
			c.ClaimDeferred("the run has errors, and only one without any claims")
		default:
			if err := p.ask(ctx, c, true); err != nil {
				return nil, err
			}
			failed = c.Rejected()
		}
	}
	return p.entries(), nil
}
