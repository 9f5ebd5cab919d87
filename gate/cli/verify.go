package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/disk"
	"github.com/handoff-gate/handoff-gate/gate/git"
	"github.com/handoff-gate/handoff-gate/gate/internal/localpath"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/internal/timestamp"
	"github.com/handoff-gate/handoff-gate/gate/lint"
	"github.com/handoff-gate/handoff-gate/gate/policy"
	"github.com/handoff-gate/handoff-gate/gate/render"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/run"
)

// skipVariable is the escape hatch of verify below ci (aahp-verify.md 9).
const skipVariable = "AAHP_SKIP_VERIFY"

// baseVariable names a base where --base does not.
const baseVariable = "AAHP_BASE_SHA"

var verifyCommand = command{
	name: "verify", args: "[PATH]", summary: "Decide whether an AAHP handoff set can be relied on",
	text: `
PATH is a project: a folder that holds .ai/handoff/ (default: the current folder).
The layers are integrity, drift, commit pointer and trust register.

AAHP_SKIP_VERIFY=1 skips everything at every level but ci.
`,
	run: runVerify,
}

var lintCommand = command{
	name: "lint", args: "[PATH]", summary: "Check the content of a handoff set alone",
	text: `
This is layer 1 of verify, on the working tree of PATH (default: the current
folder): manifest integrity, instructions and characters that a reviewer cannot
see, credentials, addresses, locks and conflict markers.
`,
	run: runLint,
}

// common are the flags of every verifying command, and those that verify and
// lint share.
type common struct {
	format  choice
	report  once
	now     once
	quiet   bool
	secrets choice

	// text writes the report for people; nil is render.Text.
	text func(io.Writer, *report.Report, render.TextOptions) error
}

func (c *common) register(fs *flag.FlagSet) {
	c.registerReport(fs)
	c.secrets = choice{"fixed", []string{"fixed", "extended"}}
	fs.Var(&c.secrets, "secrets", "extended adds the gitleaks rules to the fixed detectors")
	fs.BoolVar(&c.quiet, "quiet", false, "text only: leave out what is fine")
}

// registerReport registers what every verifying command takes (interface.md,
// "Program").
func (c *common) registerReport(fs *flag.FlagSet) {
	c.format = choice{"text", []string{"text", "json", "sarif", "github"}}
	fs.Var(&c.format, "format", "what standard output is: text for people, the JSON report, SARIF, or workflow commands for GitHub")
	fs.Var(&c.report, "report", "also write the JSON report to `FILE`")
	fs.Var(&c.now, "now", "the time to judge dates by, `RFC3339` (default: the clock)")
}

// time gives the clock to judge dates by.
func (c *common) time() (time.Time, error) {
	if !c.now.given {
		return time.Now().UTC(), nil
	}
	t, ok := timestamp.Parse(c.now.value)
	if !ok {
		return t, usagef("--now %q is no RFC 3339 time such as 2026-03-01T12:00:00Z", c.now.value)
	}
	return t, nil
}

func (c *common) secretSet() lint.SecretSet {
	if c.secrets.value == "extended" {
		return lint.Extended
	}
	return lint.Fixed
}

// again adds the flags that were given to the command that repeats this run.
func (c *common) again(words []string) []string {
	if c.secrets.value != "fixed" {
		words = append(words, "--secrets", c.secrets.value)
	}
	return words
}

func runVerify(ctx context.Context, p Process, args []string) error {
	fs := flag.NewFlagSet("verify", flag.ContinueOnError)
	var c common
	var base once
	level := choice{string(gate.Full), []string{string(gate.Precommit), string(gate.Prepush), string(gate.Full), string(gate.CI)}}
	from := choice{"", []string{string(policy.FromBase), string(policy.FromHead)}}
	var schema, governance bool
	c.register(fs)
	fs.Var(&level, "level", "precommit judges what is staged, prepush and full the branch, ci the commit against its base")
	fs.Var(&base, "base", "the commit `SHA` that the change is measured from; beats AAHP_BASE_SHA (default: the upstream, else origin/main, else the parent; none at ci)")
	fs.Var(&from, "policy-from", "whose aahp.config.json decides (default: base at ci, else head)")
	fs.BoolVar(&schema, "schema", false, "also judge manifest and configuration against their schemas")
	fs.BoolVar(&governance, "governance", false, "also run the gates of check and doctor")
	paths, err := parse(fs, args, 1)
	if err != nil {
		return err
	}
	if base.given && base.value == "" {
		return usagef("--base needs a commit id")
	}
	now, err := c.time()
	if err != nil {
		return err
	}
	project, err := openProject(paths)
	if err != nil {
		return err
	}
	words := []string{"handoff-gate", "verify", safetext.ShellPath(project.given), "--level", level.value}
	if base.given {
		words = append(words, "--base", safetext.ShellQuote(base.value))
	}
	if from.value != "" {
		words = append(words, "--policy-from", from.value)
	}
	if schema {
		words = append(words, "--schema")
	}
	if governance {
		words = append(words, "--governance")
	}
	o := run.Options{
		Level: gate.Level(level.value), PolicyFrom: policy.Source(from.value), Schema: schema, Secrets: c.secretSet(), Now: now,
		Environ: p.Environ, CheckTimeout: p.CheckTimeout,
	}
	if governance {
		o.Governance = &run.Governance{}
	}
	ci := o.Level == gate.CI
	checkout, target, err := project.open(ctx, p, !ci, strings.Join(c.again(words), " "))
	if err != nil {
		return err
	}
	defer checkout.Close()
	if p.getenv(skipVariable) == "1" && !ci {
		why := skipVariable + "=1 is set: nothing was evaluated"
		rep := run.Skipped([]run.Project{target}, o, why)
		return finish(p, &c, rep, []string{why + ". The level ci will still check."})
	}
	given := p.getenv(baseVariable)
	if base.given {
		given = base.value
	}
	if o.Base, err = run.ResolveBase(ctx, checkout.Repo, o.Level, given); err != nil {
		return err
	}
	rep, err := run.Verify(ctx, checkout, []run.Project{target}, o)
	if err != nil {
		return err
	}
	return finish(p, &c, rep, nil)
}

func runLint(ctx context.Context, p Process, args []string) error {
	fs := flag.NewFlagSet("lint", flag.ContinueOnError)
	var c common
	c.register(fs)
	paths, err := parse(fs, args, 1)
	if err != nil {
		return err
	}
	now, err := c.time()
	if err != nil {
		return err
	}
	project, err := openProject(paths)
	if err != nil {
		return err
	}
	again := strings.Join(c.again([]string{"handoff-gate", "lint", safetext.ShellPath(project.given)}), " ")
	checkout, target, err := project.open(ctx, p, true, again)
	if err != nil {
		return err
	}
	defer checkout.Close()
	rep, err := run.Verify(ctx, checkout, []run.Project{target}, run.Options{
		Level: gate.Full, OnlyContent: true, Secrets: c.secretSet(), Now: now, Environ: p.Environ,
	})
	if err != nil {
		return err
	}
	return finish(p, &c, rep, nil)
}

// project is the folder that the command line names.
type project struct {
	given string // as it was given, for commands that people paste
	dir   string // absolute, links resolved
}

// openProject finds the project and makes sure that it has a handoff folder; a
// link to one is enough here, layer 1 refuses it.
func openProject(paths []string) (project, error) {
	p, err := openRoot(paths)
	if err != nil {
		return p, err
	}
	if info, err := os.Stat(filepath.Join(p.dir, filepath.FromSlash(gate.HandoffDir))); err != nil || !info.IsDir() {
		return p, fmt.Errorf("%s holds no folder %s; name the project's folder%s, or begin a handoff set there: `handoff-gate init %s`",
			p.given, gate.HandoffDir, p.nearby(), safetext.ShellPath(p.given))
	}
	return p, nil
}

// maxNearby is how many projects a message names.
const maxNearby = 3

// nearby names projects that may be meant: the nearest one that the folder lies in, and
// those that lie in it, up to two folders down, as in a monorepo.
func (p project) nearby() string {
	var found []string
	add := func(dir string) {
		found = append(found, safetext.ShellPath(safetext.Clean(filepath.ToSlash(filepath.Join(p.given, dir)))))
	}
	manifest := filepath.FromSlash(gate.HandoffDir + "/MANIFEST.json")
	for dir, up := p.dir, ".."; len(found) == 0 && filepath.Dir(dir) != dir; up = filepath.Join(up, "..") {
		dir = filepath.Dir(dir)
		if _, err := os.Stat(filepath.Join(dir, manifest)); err == nil {
			add(up)
		}
	}
	for _, pattern := range []string{"*", "*/*"} {
		below, err := fs.Glob(os.DirFS(p.dir), pattern+"/"+gate.HandoffDir+"/MANIFEST.json")
		if err != nil {
			continue // the pattern is sound, so the folder is not: no names
		}
		for _, name := range below {
			if !strings.HasPrefix(name, "node_modules/") {
				add(strings.TrimSuffix(name, "/"+gate.HandoffDir+"/MANIFEST.json"))
			}
		}
	}
	switch n := len(found); {
	case n == 0:
		return ""
	case n > maxNearby:
		found = append(found[:maxNearby], "…")
	}
	return ", such as " + strings.Join(found, ", ")
}

// openRoot finds the project for a command that takes one without a handoff
// folder, too.
func openRoot(paths []string) (project, error) {
	p := project{given: "."}
	if len(paths) > 0 {
		p.given = paths[0]
	}
	if p.given == "" {
		return p, usagef("the path is empty")
	}
	abs, err := filepath.Abs(p.given)
	if err != nil {
		return p, err
	}
	if p.dir, err = filepath.EvalSymlinks(abs); err != nil {
		return p, fmt.Errorf("there is no folder %s", p.given)
	}
	if info, err := os.Stat(p.dir); err != nil || !info.IsDir() {
		return p, fmt.Errorf("%s is no folder", p.given)
	}
	return p, nil
}

// open opens the repository around the project.
func (p project) open(ctx context.Context, proc Process, hooks bool, again string) (*run.Checkout, run.Project, error) {
	start, err := os.Getwd()
	if err != nil {
		return nil, run.Project{}, err
	}
	c, err := run.OpenCheckout(ctx, git.Options{Dir: p.dir, StartDir: start, Environ: proc.Environ, ServeHooks: hooks})
	if err != nil {
		return nil, run.Project{}, err
	}
	rel, in := localpath.Below(c.Top, p.dir)
	if !in {
		c.Close()
		return nil, run.Project{}, errors.New("the project is not below the top level of its repository")
	}
	commands := regenerate(p.dir, p.given)
	commands.Again = again
	commands.Project = rel
	commands.Given, commands.GitGiven = p.standing(start, c.Top)
	return c, run.Project{Path: rel, Commands: commands, Given: safetext.ShellPath(p.given)}, nil
}

// regenerate names the command that regenerates the manifest as it runs there
// (aahp-verify.md 10), and the handoff folder as it is called from the same
// place.
func regenerate(dir, given string) gate.Commands {
	for _, c := range []struct{ file, command string }{
		{"scripts/aahp-manifest.sh", "bash scripts/aahp-manifest.sh ."},
		{"node_modules/@elvatis_com/aahp/bin/aahp.js", "node node_modules/@elvatis_com/aahp/bin/aahp.js manifest ."},
	} {
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(c.file))); err == nil && info.Mode().IsRegular() {
			return gate.Commands{Regen: c.command, Handoff: gate.HandoffDir}
		}
	}
	return gate.Commands{
		Regen:   "handoff-gate manifest " + safetext.ShellPath(given),
		Handoff: safetext.ShellPath(path.Join(filepath.ToSlash(given), gate.HandoffDir)),
	}
}

// standing gives the project's folder as it is called from the folder the gate was
// started in, for any program and for git; "" is none. Only git knows nothing of the
// repository outside of every work tree, and in that of another one it must not be
// led to a file of the same name there.
func (p project) standing(start, top string) (program, forGit string) {
	start = disk.Resolve(start)
	given := filepath.Clean(p.given)
	if dir, err := filepath.Abs(given); err != nil || dir != p.dir {
		given = p.dir // a link leads there, and git goes through none
		if rel, err := filepath.Rel(start, p.dir); err == nil {
			given = rel
		}
	}
	program = filepath.ToSlash(given)
	if _, in := localpath.Below(top, start); in {
		return program, program
	}
	if _, err := git.Top(start); err == nil {
		return program, program
	}
	return program, ""
}

// finish prints a report and turns its verdict into the exit status.
func finish(p Process, c *common, rep *report.Report, advice []string) error {
	rep.Tool = p.tool()
	if c.report.given {
		if err := writeReport(p, c.report.value, rep); err != nil {
			return err
		}
	}
	if err := printReport(p, c, rep, advice); err != nil {
		return fmt.Errorf("the report cannot be printed: %w", err)
	}
	if rep.Verdict == report.Fail {
		return exitStatus(statusFail)
	}
	return nil
}
