package cli

import (
	"context"
	"errors"
	"flag"
	"io"
	"path/filepath"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/disk"
	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/manual"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/render"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/run"
	"github.com/handoff-gate/handoff-gate/gate/session"
)

// The exit statuses of session verify beside the common ones (sessions.md 1).
const (
	statusAmbiguous = 3 // the prefix names more than one session
	statusNoMatch   = 4 // it names none, or there is none
)

var sessionCommand = command{
	name: "session", summary: "Verify and list agents-handoff session folders",
	below: []command{
		{
			name: "verify", args: "[PREFIX]", summary: "Judge one session, or all",
			text: `
Judges the one session whose name, or whose field session, begins with PREFIX; with
--all every session.
` + sessionPlace,
			exits: append(exits("passed", "failed", "used wrongly"),
				manual.Exit{Status: statusAmbiguous, Meaning: "PREFIX names more than one session"}, manual.Exit{Status: statusNoMatch, Meaning: "it names none, or there is none"}),
			run: runSessionVerify,
		},
		{
			name: "list", args: "[FILTER]", summary: "Print a line for each session",
			text: `
For those of FILTER alone where it is a project or the beginning of a name.
` + sessionPlace,
			exits: append(exits("listed", "", "used wrongly"), manual.Exit{Status: statusNoMatch, Meaning: "nothing to list"}),
			run:   runSessionList,
		},
	},
}

const sessionPlace = `
The sessions lie below --root, else $HANDOFFS_ROOT, else what handoff.config.json
here or up to ten folders above declares, else the first folder handoffs/ there.
Nothing is written.
`

// sessionFlags are the flags of both subcommands.
type sessionFlags struct {
	common
	root, base   once
	all, changed bool
}

func runSessionVerify(ctx context.Context, p Process, args []string) error {
	fs := flag.NewFlagSet("session verify", flag.ContinueOnError)
	var c sessionFlags
	c.registerReport(fs)
	c.registerRoot(fs)
	fs.Var(&c.base, "base", "a commit by any `NAME` of git's; also find turns that were rewritten since, whatever the hashes say")
	fs.BoolVar(&c.all, "all", false, "verify every session")
	fs.BoolVar(&c.changed, "changed", false, "of all sessions, verify those that differ from the base")
	prefix, err := parse(fs, args, 1)
	if err != nil {
		return err
	}
	if _, err := c.time(); err != nil {
		return err
	}
	return c.verify(ctx, p, prefix)
}

func runSessionList(ctx context.Context, p Process, args []string) error {
	fs := flag.NewFlagSet("session list", flag.ContinueOnError)
	var c sessionFlags
	c.registerRoot(fs)
	filter, err := parse(fs, args, 1)
	if err != nil {
		return err
	}
	return c.list(ctx, p, filter)
}

func (c *sessionFlags) registerRoot(fs *flag.FlagSet) {
	fs.Var(&c.root, "root", "the folder `DIR` that holds the sessions")
}

// options are what both subcommands ask a run for.
func (c *sessionFlags) options(p Process) (run.SessionOptions, error) {
	o := run.SessionOptions{Environ: p.Environ, List: "handoff-gate session list" + c.rootWords()}
	var err error
	if o.Start, err = workingFolder(); err != nil {
		return o, err
	}
	o.Dir, o.Nothing, err = sessionRoot(p, c.root, o.Start)
	return o, err
}

func (c *sessionFlags) rootWords() string {
	if !c.root.given {
		return ""
	}
	return " --root " + safetext.ShellQuote(c.root.value)
}

func (c *sessionFlags) verify(ctx context.Context, p Process, words []string) error {
	switch {
	case len(words) > 0 && c.all:
		return usagef("give a prefix or --all, not both")
	case len(words) == 0 && !c.all:
		return usagef("name a session by the beginning of its name, or all with --all")
	case len(words) > 0 && words[0] == "":
		return usagef("the prefix is empty")
	case c.changed && (!c.all || !c.base.given):
		return usagef("--changed needs --all and --base")
	}
	if err := usableBase(c.base); err != nil {
		return err
	}
	o, err := c.options(p)
	if err != nil {
		return err
	}
	asked := "--all"
	o.Again = "handoff-gate session verify"
	if c.all {
		o.Again += " --all"
	}
	if c.changed {
		o.Again += " --changed"
	}
	o.Again += c.rootWords()
	if c.base.given {
		o.Again += " --base " + safetext.ShellQuote(c.base.value)
	}
	if !c.all {
		asked = words[0]
		o.Prefix = asked
		if strings.HasPrefix(asked, "-") {
			o.Again += " --"
		}
		o.Again += " " + safetext.ShellQuote(asked)
	}
	o.Changed, o.Base = c.changed, c.base.value
	rep, res, err := run.VerifySessions(ctx, o)
	if err != nil {
		return err
	}
	text := render.SessionOptions{Asked: asked, Total: c.all, First: session.First}
	for _, r := range res.Results {
		text.Sessions = append(text.Sessions, render.SessionLine{ID: r.Head.ID, Project: r.Head.Label, Turns: r.Turns})
	}
	c.text = func(w io.Writer, r *report.Report, o render.TextOptions) error { return render.Sessions(w, r, text, o) }
	err = finish(p, &c.common, rep, nil)
	var status exitStatus
	if errors.As(err, &status) {
		switch res.Match {
		case run.Ambiguous:
			return exitStatus(statusAmbiguous)
		case run.NotMatched:
			return exitStatus(statusNoMatch)
		case run.Matched:
		}
	}
	return err
}

func (c *sessionFlags) list(ctx context.Context, p Process, words []string) error {
	o, err := c.options(p)
	if err != nil {
		return err
	}
	heads, unread, err := run.ListSessions(ctx, o)
	if err = errors.Join(err, ctx.Err()); err != nil {
		return err // an interrupted list would look like a short one
	}
	for _, u := range unread {
		p.say("handoff-gate session: not listed: %s\n", oneLine(u))
	}
	var rows []render.SessionRow
	for _, h := range heads {
		if len(words) > 0 && words[0] != h.Label && words[0] != h.Project && !strings.HasPrefix(h.ID, words[0]) {
			continue
		}
		rows = append(rows, render.SessionRow{
			Project: h.Label, ID: h.ID, Harness: cell(h.Harness), Turns: cell(h.Turns), Revisions: cell(h.Revisions), Updated: cell(h.UpdatedAt),
		})
	}
	if len(rows) == 0 {
		why := o.Nothing
		if why == "" {
			why = "there is no such session"
		}
		p.say("handoff-gate session: %s\n", oneLine(why))
		return exitStatus(statusNoMatch)
	}
	return render.SessionList(p.Stdout, rows)
}

// cell shows a field of a manifest in a list.
func cell(v ecma.Value) string {
	if s, ok := v.Text(); ok {
		return safetext.Clean(s)
	}
	if v.Kind == 0 {
		return "-"
	}
	return safetext.Clean(string(v.JSON))
}

// sessionRoot finds the root (sessions.md 2): absolute, links resolved as far as it
// is there. Where there is none it says why.
func sessionRoot(p Process, given once, start string) (dir, nothing string, err error) {
	if given.given {
		root, err := openRoot([]string{given.value})
		return root.dir, "", err
	}
	if v := p.getenv("HANDOFFS_ROOT"); v != "" {
		if !filepath.IsAbs(v) {
			v = filepath.Join(start, v)
		}
		return disk.Resolve(v), "", nil
	}
	dir, err = run.FindSessionRoot(start)
	if err != nil {
		return "", "", err
	}
	if dir == "" {
		return "", "there are no handoffs: neither here nor up to ten folders above is a " + session.ConfigName + " or a folder " + session.HandoffsName + "/; name the root with --root", nil
	}
	return disk.Resolve(dir), "", nil
}
