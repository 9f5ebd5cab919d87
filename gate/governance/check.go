package governance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// Input is one project as the gates read it.
type Input struct {
	Project string    // "." or "packages/api"
	Name    string    // of the project's folder; names the package in a journal where nothing else does
	Work    gate.Tree // the work tree
	// Follow tells where a path of the work tree leads when every symbolic link is
	// followed. Outside says that it leads out of the repository; an fs.ErrNotExist,
	// that nothing is there, may come with a target.
	Follow func(path string) (target string, outside bool, err error)
	Config *Config
	// Tracked lists the files below the project that git tracks and that one of the
	// pathspecs selects, from the top level; nil outside of a repository.
	Tracked func(ctx context.Context, pathspecs []string) ([]string, error)
	NoGit   error             // why Tracked is nil
	Omit    map[string]string // gates to leave out, each with who does: "check.skip"
	Now     time.Time
	// Commands are what remedies end in, WithExec the command that also runs the
	// scripts of claims.
	Commands gate.Commands
	WithExec string
	// Mask hides what must not be printed, a credential or an address, in text from
	// the repository; nil hides nothing.
	Mask func(string) string
}

// How large a file may be that a gate reads: one that it knows by name or that the
// configuration names, one that is searched for links, and one that is searched line
// by line.
const (
	maxNamed    = 16 << 20
	maxLinked   = 16 << 20
	maxSearched = gate.MaxHandoffFile
)

// Judge decides single gates. It reads package.json once for all of them.
type Judge struct {
	in      Input
	pkg     *Package
	present Present
	floors  []Floor             // of the gate claims, once it was decided
	lists   map[string][]string // what git has listed, by the pathspecs
}

// NewJudge makes a Judge.
func NewJudge(in Input) *Judge {
	j := &Judge{in: in}
	j.pkg = j.readPackage()
	j.present = Present{Package: j.pkg.Exists, Changelog: j.exists(ChangelogFile), Manifest: j.exists(ManifestFile)}
	return j
}

// Package is package.json.
func (j *Judge) Package() *Package { return j.pkg }

// Applies is the predicate of section 3 for this project.
func (j *Judge) Applies(gate string) (absent string, applies bool) {
	return Applies(gate, j.in.Config, j.present)
}

// skipped gives the Gate of one that does not run; ok is false for one that does.
func (j *Judge) skipped(id string) (g Gate, ok bool) {
	g = Gate{ID: id, Title: Titles[id]}
	if by, out := j.in.Omit[id]; out {
		g.Outcome, g.Reason = Deselected, "deselected by "+by
		return g, true
	}
	absent, applies := j.Applies(id)
	g.Outcome, g.Reason = NotApplicable, absent
	return g, !applies
}

// exists tells whether anything has that name in the project.
func (j *Judge) exists(name string) bool {
	_, err := j.in.Work.Stat(j.path(name))
	return !errors.Is(err, fs.ErrNotExist)
}

// path is the path of a file of the project from the repository's top level.
func (j *Judge) path(name string) string { return gate.Join(j.in.Project, name) }

// read reads a file of the project that the gates know by its name. A link is
// followed inside the repository.
func (j *Judge) read(name string, limit int64) gate.Document {
	return j.follow(j.path(name), limit)
}

func (j *Judge) follow(p string, limit int64) gate.Document {
	doc := gate.ReadDocument(j.in.Work, p, limit)
	if doc.State != gate.Absent && (doc.State != gate.NotRegular || doc.Entry.Kind != gate.Symlink) {
		return doc
	}
	switch target, outside, err := j.in.Follow(p); {
	case outside:
		doc.State, doc.Err = gate.NotRegular, errors.New("it is reached through a symbolic link that leaves the repository")
	case err == nil && gate.InGit(target):
		doc.State, doc.Err = gate.NotRegular, errors.New("it is reached through a symbolic link into git's own folder")
	case err == nil && target != p:
		doc = gate.ReadDocument(j.in.Work, target, limit)
		doc.Path = p
	case doc.State == gate.Absent:
	case errors.Is(err, fs.ErrNotExist):
		doc.Err = errors.New("it is a symbolic link to nothing")
	case err != nil:
		doc.Err = fmt.Errorf("it is a symbolic link that cannot be followed: %w", err)
	}
	return doc
}

// unread says why a document has no bytes, as the end of a sentence.
func (j *Judge) unread(doc gate.Document) string {
	if doc.State == gate.Absent {
		return "it does not exist"
	}
	return j.clean(doc.Err.Error())
}

func (j *Judge) clean(text string) string  { return Masked(j.in.Mask, text) }
func (j *Judge) quote(text string) string  { return quoted(j.in.Mask, text) }
func (j *Judge) remedy(text string) string { return again(j.in.Commands, text) }

// at makes a finding whose remedy is an edit.
func (j *Judge) at(r *rule.Rule, p string, span report.Span, message, remedy string) report.Finding {
	return r.At(p, span, message, j.remedy(remedy))
}

// config makes a finding about a place of the configuration.
func (j *Judge) config(r *rule.Rule, span report.Span, message, remedy string) report.Finding {
	return j.at(r, j.in.Config.Path, span, message, remedy)
}

var drive = regexp.MustCompile(`^[A-Za-z]:`)

// inside applies rule P (2.3) to a path out of the configuration and gives it from
// the repository's top level. A path that breaks the rule is a finding, and
// nothing of it may be read.
func (j *Judge) inside(t Text) (p string, escape []report.Finding) {
	p, _, why := j.resolve(t.Text)
	if why == "" {
		return p, nil
	}
	return "", []report.Finding{j.config(PathEscape, t.Span, fmt.Sprintf("The path %s is not read: %s.", j.quote(t.Text), why),
		"Write a path inside the project: relative, without a drive, and not through a link that leads elsewhere.")}
}

// resolve gives a path of the project from the repository's top level, as it is
// written and with every link followed. why is the end of a sentence that says how
// it breaks rule P, "" when it does not.
func (j *Judge) resolve(text string) (p, target, why string) {
	slashed := strings.ReplaceAll(text, `\`, "/")
	local := path.Clean(slashed)
	switch {
	case strings.HasPrefix(slashed, "/"):
		return "", "", "it is not relative"
	case drive.MatchString(text):
		return "", "", "it begins with a drive"
	case local == ".." || strings.HasPrefix(local, "../"):
		return "", "", "it leads out of the project"
	case gate.InGit(local):
		return "", "", "it is in git's own folder"
	}
	p = j.path(path.Clean(text))
	if path.Clean(text) == "." {
		p = j.in.Project
	}
	target, outside, err := j.in.Follow(p)
	switch {
	case outside:
		return "", "", "a symbolic link on its way leads out of the repository"
	case err != nil && target == "":
		return p, p, "" // what there is to say of it the gate says when it reads
	}
	if _, below := gate.Below(j.in.Project, target); !below && target != j.in.Project {
		return "", "", "a symbolic link on its way leads out of the project"
	}
	if gate.InGit(target) {
		return "", "", "a symbolic link on its way leads into git's own folder"
	}
	return p, target, ""
}

// Gate decides one gate: what Omit leaves out and what does not apply is skipped.
// Scripts of claims are not run: their claims are not proven. The error says that
// ctx was cancelled.
func (j *Judge) Gate(ctx context.Context, id string) (Gate, error) {
	if g, skip := j.skipped(id); skip {
		return g, nil
	}
	var summary string
	var findings []report.Finding
	var err error
	switch id {
	case Changelog:
		summary, findings = j.changelogGate()
	case ChangelogFormat:
		summary, findings = j.formatGate()
	case VersionSync:
		summary, findings = j.versionGate()
	case Claims:
		summary, findings, j.floors = j.claimsGate(ctx)
	case ForbiddenPatterns:
		summary, findings, err = j.patternsGate(ctx)
	case SchemaDocSync:
		summary, findings = j.docSyncGate()
	case DocLinks:
		summary, findings, err = j.linksGate(ctx)
	case Handoff:
		summary, findings = j.handoffGate()
	default:
		panic("governance: there is no gate " + id)
	}
	return Judged(id, Titles[id], summary, findings), errors.Join(err, ctx.Err())
}

// Pending is a check that has decided everything but the claims whose scripts are
// yet to run: nothing of the work tree is read once one has begun.
type Pending struct {
	Floors []Floor

	judge  *Judge
	result Result
}

// Check decides the eight gates of one project. The error says that ctx was
// cancelled.
func Check(ctx context.Context, in Input) (*Pending, error) {
	c := in.Config
	p := &Pending{result: Result{Command: "check"}}
	p.result.Config, p.result.Problems = c.Layer("check")
	if len(p.result.Problems) > 0 {
		p.result.Gates = NoneEvaluated(IDs, Titles)
		return p, nil
	}
	omit := map[string]string{}
	for _, id := range IDs {
		if by, out := c.Deselects(id); out {
			omit[id] = by
		}
	}
	maps.Copy(omit, in.Omit)
	in.Omit = omit
	p.judge = NewJudge(in)
	for _, id := range IDs {
		g, err := p.judge.Gate(ctx, id)
		if err != nil {
			return nil, err
		}
		p.result.Gates = append(p.result.Gates, g)
	}
	p.Floors = p.judge.floors
	return p, nil
}

// NoneEvaluated are the gates of a project whose configuration is invalid.
func NoneEvaluated(ids []string, titles map[string]string) []Gate {
	out := make([]Gate, len(ids))
	for i, id := range ids {
		out[i] = Gate{ID: id, Title: titles[id], Outcome: Unevaluated, Reason: ConfigFile + " is not valid"}
	}
	return out
}

// Finish gives the result, with how the scripts of Floors ended, in their order. A
// claim without a result is not proven.
func (p *Pending) Finish(results []FloorResult) Result {
	var findings []report.Finding
	for i, f := range p.Floors {
		result := FloorResult{NotRun: "nothing is executed here"}
		if i < len(results) {
			result = results[i]
		}
		findings = append(findings, f.judge(p.judge, result)...)
	}
	for k, g := range p.result.Gates {
		if g.ID == Claims && len(findings) > 0 {
			p.result.Gates[k] = Judged(g.ID, g.Title, g.Reason, append(g.Findings, findings...))
		}
	}
	return p.result
}

// Alone adds to a result in which no gate ran, though the configuration is valid,
// the error that says so. In a report of check or doctor alone this is no pass.
func (r Result) Alone(notEvaluated *rule.Rule, config string, commands gate.Commands) Result {
	if len(r.Problems) > 0 || r.Evaluated() > 0 {
		return r
	}
	r.Config.Findings = append(r.Config.Findings, notEvaluated.At(config, report.Span{}, "No gate ran: each was left out or lacks its input.",
		again(commands, "Configure or select at least one gate in "+ConfigFile+", or run no governance check here.")))
	r.Config.Summary += "; no gate ran"
	r.Config.Settle()
	return r
}
