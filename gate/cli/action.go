package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/git"
	"github.com/handoff-gate/handoff-gate/gate/governance"
	"github.com/handoff-gate/handoff-gate/gate/internal/localpath"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/lint"
	"github.com/handoff-gate/handoff-gate/gate/policy"
	"github.com/handoff-gate/handoff-gate/gate/proc"
	"github.com/handoff-gate/handoff-gate/gate/render"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/run"
	"github.com/handoff-gate/handoff-gate/githubapi"
)

var actionCommand = command{
	name: "action", summary: "Be the GitHub Action: read event and inputs, verify, report",
	text: `
It takes no arguments. What it reads is what the runner gives to a step:
GITHUB_EVENT_NAME, GITHUB_EVENT_PATH, GITHUB_WORKSPACE, the INPUT_* variables of
action.yml and the command files.
`,
	run: func(ctx context.Context, p Process, args []string) error {
		if len(args) == 1 && isHelp(args[0]) {
			return helpWanted{flag.NewFlagSet("action", flag.ContinueOnError)}
		}
		if status := runAction(ctx, p, args); status != statusPass {
			return exitStatus(status)
		}
		return nil
	},
}

// action is one run of the Action.
type action struct {
	p      Process
	lookup githubapi.Lookup
	env    githubapi.Context
	in     githubapi.Inputs
	mask   *githubapi.Masker
	out    *githubapi.MaskWriter
	log    *render.Log
	notes  *debugNotes
	event  githubapi.Event
	room   int // bytes the job summary may have

	// noCheckRun says why none is wanted; "" where one is.
	noCheckRun string
	connected  bool
	checkout   *run.Checkout // nil until the repository is open
	submodule  bool          // the repository is one of another repository
	partial    bool          // the clone lacks blobs, which are fetched on demand
	client     *githubapi.Client
	reporter   *githubapi.Reporter
	refusal    *githubapi.Refusal
	target     githubapi.Target
	outputs    githubapi.Outputs
	claims     *actionPackets // nil where no packets are asked for
}

// cannotRun is why the gate could not be run at all: exit status 2.
type cannotRun struct{ reason string }

func (e cannotRun) Error() string { return e.reason }

func cannot(format string, args ...any) error { return cannotRun{fmt.Sprintf(format, args...)} }

// runAction runs the Action and gives its exit status: 0, 1 or 2. Outputs are
// written and groups are closed on every way out.
func runAction(ctx context.Context, p Process, args []string) (status int) {
	a := &action{p: p, notes: &debugNotes{}}
	a.lookup = func(name string) (string, bool) { return proc.LookupEnv(p.Environ, name) }
	a.env = githubapi.ReadContext(a.lookup)
	var inputErr error
	a.in, inputErr = githubapi.ReadInputs(a.lookup)
	a.mask = githubapi.NewMasker(a.in.Token)
	a.out = a.mask.Writer(p.Stdout)
	a.log = render.NewLog(a.out, rand.Reader)
	a.room = githubapi.SummaryRoom(a.env.SummaryPath)
	// Outputs are written even where telling of a panic panics again.
	defer a.end()
	defer func() {
		if r := recover(); r != nil {
			a.quote(fmt.Sprintf("internal error: %v\n%s", r, debug.Stack()))
			status = a.stop(ctx, cannot("an internal error; please report it with the log above"))
		}
	}()
	rep, err := a.verify(ctx, args, inputErr)
	if err != nil {
		return a.stop(ctx, err)
	}
	return a.show(ctx, rep)
}

// end is the last of every run.
func (a *action) end() {
	if a.checkout != nil {
		a.checkout.Close()
	}
	if err := githubapi.WriteOutputs(a.env.OutputPath, rand.Reader, a.mask, a.outputs); err != nil {
		a.log.Message(report.Warning, err.Error())
	}
	a.flushNotes()
	// The log is the last thing there is to write to; its failure can be told
	// nobody.
	_ = a.log.Close()
	_ = a.out.Flush()
}

// verify does everything up to the finished report.
func (a *action) verify(ctx context.Context, args []string, inputErr error) (*report.Report, error) {
	a.introduce()
	a.readEvent()
	switch {
	case len(args) > 0:
		return nil, cannot("the command action takes no arguments; its inputs are INPUT_* variables")
	case inputErr != nil:
		a.unusableInputs(inputErr)
		return nil, cannotRun{inputErr.Error()}
	}
	if a.noCheckRun = a.unwanted(); a.noCheckRun == "" && a.env.Job != "" && a.in.Name() == a.env.Job {
		a.log.Message(report.Warning, "The check run's name (input check-name) is the id of this job. Two checks of one name confuse branch protection: require the job, and give the check run another name.")
		a.log.Group("Inputs and commits")
	}
	if err := a.findWorkspace(); err != nil {
		return nil, err
	}
	why := a.event.NothingLeft()
	if err := a.open(ctx); err != nil && why == "" {
		return nil, err
	}
	o := run.Options{Level: gate.CI, Schema: a.in.Schema}
	if a.in.Governance {
		o.Governance = &run.Governance{Skip: a.in.GovernanceSkip}
	}
	if why != "" {
		return a.nothingLeft(ctx, o, why)
	}
	a.connect()
	if err := a.resolve(ctx); err != nil {
		return nil, err
	}
	if err := a.files(ctx); err != nil {
		return nil, err
	}
	a.begin(ctx)
	projects, nothing, err := a.projects(ctx)
	if err != nil {
		return nil, err
	}
	others, err := a.others(ctx, projects)
	if err != nil {
		return nil, err
	}
	if nothing != nil && !others.found {
		return nil, nothing
	}
	a.log.EndGroup()
	o.Others, o.Alone = others.entries, others.again
	if a.claims != nil {
		o.Last = func(ctx context.Context, failed bool) ([]report.Project, error) {
			made, err := a.claims.write(ctx, failed)
			return append(slices.Clone(others.entries[:len(others.entries)-a.claims.count]), made...), err
		}
	}
	if prefix, version, ok := githubapi.ReadTag(a.target.Tag); ok && o.Governance != nil {
		o.Governance.Tag = &governance.Tag{Name: a.target.Tag, Prefix: prefix, Version: version}
	}
	o.Base, o.NoChangeSet, o.HeadIsBase = a.target.Base, a.target.NoChangeSet, a.target.HeadPolicy
	for _, p := range a.target.Problems {
		o.Given = append(o.Given, run.Given{Rule: p.Rule, Message: p.Message, Remedy: p.Remedy})
	}
	o.PolicyFrom = policy.FromBase
	if a.in.PolicyFromHead {
		o.PolicyFrom = policy.FromHead
	}
	if a.in.ExtendedSecrets {
		o.Secrets = lint.Extended
	}
	o.Now, o.Environ, o.Contained, o.ShallowIsNotice = time.Now().UTC(), a.p.Environ, true, true
	o.ChecksOff = a.target.ChecksOff
	if !a.in.Checks {
		o.ChecksOff = "the input checks is off"
	}
	o.NoProgramHint = "The image of this action holds git and neither a shell nor a language. Its composite action, .github/actions/run, runs checks on the runner itself, with the tools that are there."
	return run.Verify(ctx, a.checkout, projects, o)
}

// introduce says what runs and with which inputs.
func (a *action) introduce() {
	a.log.Group("Inputs and commits")
	a.log.Line("handoff-gate " + a.p.Version)
	for _, name := range a.env.Ignored {
		a.log.Line(name + " is set and has no effect here: an earlier step could have set it.")
	}
	var lines []string
	for _, spec := range githubapi.InputSpecs {
		value, _ := a.lookup("INPUT_" + strings.ToUpper(spec.Name))
		if value = strings.TrimSpace(value); value != "" && value != spec.Default && spec.Name != "token" {
			lines = append(lines, "input "+spec.Name+": "+safetext.Clean(strings.ReplaceAll(value, "\n", " | ")))
		}
	}
	if len(lines) > 0 {
		a.quote(strings.Join(lines, "\n"))
	}
}

func (a *action) readEvent() {
	var data []byte
	file, err := os.Open(a.env.EventPath)
	if err == nil {
		data, err = githubapi.ReadPayload(file)
		file.Close()
	}
	a.event = githubapi.ReadEvent(a.env.EventName, a.env.EventPath, data, err)
}

// unwanted says why there is no check run in this run; "" where there is one.
func (a *action) unwanted() string {
	switch {
	case !a.in.CheckRun:
		return "the input check-run is off"
	case a.in.Token == "":
		return "the input token is empty"
	case a.env.Act:
		return "act has no Checks API"
	}
	return ""
}

// unusableInputs keeps a failing check run from being made out of the inputs
// that are themselves wrong.
func (a *action) unusableInputs(err error) {
	a.noCheckRun = a.unwanted()
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, e := range all {
		var usage *githubapi.UsageError
		if !errors.As(e, &usage) {
			continue
		}
		switch usage.Input {
		case "check-run", "check-name", "sha", "token":
			a.noCheckRun = "the input " + usage.Input + " cannot be used"
		}
	}
}

func (a *action) findWorkspace() error {
	if a.env.Workspace == "" {
		return cannot("GITHUB_WORKSPACE is not set: there is no workspace to verify")
	}
	workspace, err := filepath.Abs(a.env.Workspace)
	if err == nil {
		workspace, err = filepath.EvalSymlinks(workspace)
	}
	if err != nil {
		return cannot("the workspace GITHUB_WORKSPACE does not exist")
	}
	a.env.Workspace = workspace
	return nil
}

// open finds the repository in the workspace.
func (a *action) open(ctx context.Context) error {
	workspace := a.env.Workspace
	dir, err := filepath.EvalSymlinks(filepath.Join(workspace, filepath.FromSlash(a.in.WorkingDirectory)))
	if err != nil {
		return cannot("input working-directory: there is no folder %s in the workspace", safetext.Clean(a.in.WorkingDirectory))
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return cannot("input working-directory: %s is no folder", safetext.Clean(a.in.WorkingDirectory))
	}
	if _, in := localpath.Below(workspace, dir); !in {
		return cannot("input working-directory: %s leads out of the workspace", safetext.Clean(a.in.WorkingDirectory))
	}
	o := git.Options{Dir: dir, StartDir: dir, Environ: a.p.Environ, Server: a.env.ServerURL, Token: a.in.Token}
	if a.env.Debug {
		o.Debug = a.notes.add
	}
	c, err := run.OpenCheckout(ctx, o)
	if err == nil && c.Repo != nil && c.Repo.IsPartial(ctx) {
		c.Close()
		o.OnDemand, a.partial = true, true
		c, err = run.OpenCheckout(ctx, o)
	}
	if ctx.Err() != nil {
		if err == nil {
			c.Close()
		}
		return ctx.Err()
	}
	if err != nil {
		return cannot("the checkout cannot be opened: %s", err)
	}
	if _, in := localpath.Below(workspace, c.Top); c.Repo == nil || !in {
		why := "its top level is outside the workspace"
		if c.Repo == nil {
			why = safetext.Clean(c.Refused.Error())
		}
		c.Close()
		return cannot("there is no repository that could be verified in the folder %s of the workspace: %s. Check out with actions/checkout before this step, on a runner that has git (without git it downloads the files alone), and name the folder of its input path in working-directory",
			safetext.Clean(a.in.WorkingDirectory), why)
	}
	a.checkout, a.submodule = c, c.Repo.IsSubmodule(ctx)
	return nil
}

// nothingLeft is the report of a deleted branch or tag. There need not even be
// a checkout.
func (a *action) nothingLeft(ctx context.Context, o run.Options, why string) (*report.Report, error) {
	a.noCheckRun = "nothing is left to verify"
	if err := a.files(ctx); err != nil {
		return nil, err
	}
	a.log.Line("Nothing is left to verify: " + why)
	a.log.EndGroup()
	return run.Skipped([]run.Project{{Path: "."}}, o, why), nil
}

// connect prepares the API client; nothing is sent.
func (a *action) connect() {
	if a.connected {
		return
	}
	a.connected = true
	o := githubapi.Options{
		APIURL: a.env.APIURL, Repository: a.env.Repository, Token: a.in.Token, Version: a.p.Version, Timeout: a.in.APITimeout,
	}
	if a.env.Debug {
		o.Debug = func(t githubapi.Attempt) { a.notes.add(t.String()) }
	}
	client, err := githubapi.NewClient(o)
	if err != nil {
		a.log.Message(report.Warning, "The GitHub API is not used: "+err.Error()+". The gate's verdict is not affected.")
		a.log.Group("Inputs and commits")
		return
	}
	a.client = client
}

// resolve chooses the commits that are compared.
func (a *action) resolve(ctx context.Context) error {
	repo, err := newRepository(ctx, a.checkout.Repo)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return cannot("the repository cannot be read: %s", err)
	}
	in := githubapi.TargetInput{
		Event: a.event, Repository: repo,
		SHA: a.env.SHA, Base: a.in.Base, CheckRunSHA: a.in.SHA, FetchMissing: a.in.FetchMissing,
	}
	if a.client != nil && a.in.Token != "" {
		in.Lookups = a.client
	}
	target, err := githubapi.Resolve(ctx, in)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return cannot("the commits of this run cannot be read: %s", err)
	}
	a.target = target
	a.outputs.Base, a.outputs.Head = target.Base.ID, target.Head
	if a.env.Debug {
		for _, n := range target.Notes {
			a.notes.add(n)
		}
	}
	a.flushNotes()
	switch b := target.Base; {
	case b.ID != "":
		a.quote("base " + b.ID + " from " + b.Source)
	case b.Empty:
		a.quote("base: the empty tree, from " + b.Source)
	default:
		a.log.Line("base: none")
	}
	if target.Head != "" {
		a.quote("head " + target.Head + ", the commit that is checked out; event " + safetext.Clean(a.env.EventName))
	}
	return nil
}

// begin shows at once that the gate is working.
func (a *action) begin(ctx context.Context) {
	if a.noCheckRun != "" {
		return
	}
	switch {
	case a.client == nil:
		a.noCheckRun = "the GitHub API is not used"
	case a.target.CheckRunSHA == "":
		a.noCheckRun = "the commit it would stand on is not known"
	}
	if a.noCheckRun != "" {
		return
	}
	paths := make([]string, len(a.in.Paths))
	for i, l := range a.in.Paths {
		paths[i] = l.Text
	}
	a.reporter = githubapi.NewReporter(a.client, githubapi.Run{
		Name: a.in.Name(), HeadSHA: a.target.CheckRunSHA, DetailsURL: a.env.RunURL(), MaxAnnotations: a.in.MaxAnnotations,
		ExternalID: githubapi.ExternalID(a.env.RunID, a.env.EventName, a.env.Job, paths),
	})
	a.refusal = a.reporter.Begin(ctx)
	a.flushNotes()
}
