package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/git"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/lint"
	"github.com/handoff-gate/handoff-gate/gate/policy"
	"github.com/handoff-gate/handoff-gate/gate/render"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/run"
	"github.com/handoff-gate/handoff-gate/githubapi"
)

var actionCommand = command{
	name: "action", usage: "", summary: "Be the GitHub Action: read the event and INPUT_*, verify, report",
	help: `Reads what the runner gives to a step: GITHUB_EVENT_NAME, GITHUB_EVENT_PATH,
GITHUB_WORKSPACE, the INPUT_* variables of action.yml and the command files.
It takes no arguments.
`,
	run: func(ctx context.Context, p Process, args []string) error {
		if len(args) > 0 {
			return usagef("it takes no arguments; its inputs are INPUT_* variables")
		}
		if status := runAction(ctx, p); status != statusPass {
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

	checkout *run.Checkout
	client   *githubapi.Client
	reporter *githubapi.Reporter
	refusal  *githubapi.Refusal
	target   githubapi.Target
	outputs  githubapi.Outputs
	room     int // bytes the job summary may have
}

// cannotRun is why the gate could not be run at all: exit status 2.
type cannotRun struct{ reason string }

func (e cannotRun) Error() string { return e.reason }

func cannot(format string, args ...any) error { return cannotRun{fmt.Sprintf(format, args...)} }

// runAction runs the Action and gives its exit status: 0, 1 or 2. Outputs are
// written and groups are closed on every way out.
func runAction(ctx context.Context, p Process) (status int) {
	a := &action{p: p, notes: &debugNotes{}}
	a.lookup = func(name string) (string, bool) { return lookupEnv(p.Environ, name) }
	a.env = githubapi.ReadContext(a.lookup)
	var inputErr error
	a.in, inputErr = githubapi.ReadInputs(a.lookup)
	a.mask = githubapi.NewMasker(a.in.Token)
	a.out = a.mask.Writer(p.Stdout)
	a.log = render.NewLog(a.out, rand.Reader)
	a.room = githubapi.SummaryRoom(a.env.SummaryPath)
	defer func() {
		if r := recover(); r != nil {
			a.quote(fmt.Sprintf("internal error: %v\n%s", r, debug.Stack()))
			status = a.stop(ctx, cannot("an internal error; please report it with the log above"))
		}
		if a.checkout != nil {
			a.checkout.Close()
		}
		if err := githubapi.WriteOutputs(a.env.OutputPath, rand.Reader, a.mask, a.outputs); err != nil {
			a.log.Message(report.Warning, err.Error())
		}
		a.flushNotes()
		// The log is the last thing there is to write to; its failure can be
		// told nobody.
		_ = a.log.Close()
		_ = a.out.Flush()
	}()
	rep, err := a.verify(ctx, inputErr)
	if err != nil {
		return a.stop(ctx, err)
	}
	return a.show(ctx, rep)
}

func lookupEnv(environ []string, name string) (string, bool) {
	for i := len(environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(environ[i], name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// verify does everything up to the finished report.
func (a *action) verify(ctx context.Context, inputErr error) (*report.Report, error) {
	a.log.Group("Inputs and commits")
	a.log.Line("handoff-gate " + a.p.Version)
	for _, name := range a.env.Ignored {
		a.log.Line(name + " is set and has no effect here: an earlier step could have set it.")
	}
	if inputErr != nil {
		return nil, cannotRun{inputErr.Error()}
	}
	if a.in.CheckName != "" && a.in.CheckName == a.env.Job {
		a.log.Message(report.Warning, "The input check-name is the id of this job. Two checks of one name confuse branch protection: require the job, and give the check run another name.")
		a.log.Group("Inputs and commits")
	}
	if err := a.open(ctx); err != nil {
		return nil, err
	}
	if err := a.files(ctx); err != nil {
		return nil, err
	}
	a.connect()
	if err := a.resolve(ctx); err != nil {
		return nil, err
	}
	o := run.Options{Level: gate.CI, Schema: a.in.Schema}
	if why := a.target.NothingToVerify; why != "" {
		a.reporter = nil
		a.log.Line("Nothing is left to verify: " + why)
		return run.Skipped([]run.Project{{Path: "."}}, o, why), nil
	}
	a.begin(ctx)
	projects, err := a.projects(ctx)
	if err != nil {
		return nil, err
	}
	a.log.EndGroup()
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
	if _, err := os.Stat("/bin/sh"); errors.Is(err, os.ErrNotExist) {
		o.NoProgramHint = "The image of this action holds git and no shell or language; the composite action handoff-gate/handoff-gate/.github/actions/run runs checks with the runner's own tools."
	}
	return run.Verify(ctx, a.checkout, projects, o)
}

// open finds the workspace and the repository in it.
func (a *action) open(ctx context.Context) error {
	if a.env.Workspace == "" {
		return cannot("GITHUB_WORKSPACE is not set: there is no workspace to verify")
	}
	workspace, err := filepath.EvalSymlinks(a.env.Workspace)
	if err != nil {
		return cannot("the workspace GITHUB_WORKSPACE does not exist")
	}
	dir, err := filepath.EvalSymlinks(filepath.Join(workspace, filepath.FromSlash(a.in.WorkingDirectory)))
	if err != nil {
		return cannot("input working-directory: there is no folder %s in the workspace", safetext.Clean(a.in.WorkingDirectory))
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return cannot("input working-directory: %s is no folder", safetext.Clean(a.in.WorkingDirectory))
	}
	if !within(workspace, dir) {
		return cannot("input working-directory: %s leads out of the workspace", safetext.Clean(a.in.WorkingDirectory))
	}
	a.env.Workspace = workspace
	o := git.Options{Dir: dir, StartDir: dir, Environ: a.p.Environ, Server: a.env.ServerURL, Token: a.in.Token}
	if a.env.Debug {
		o.Debug = a.notes.add
	}
	c, err := run.OpenCheckout(ctx, o)
	if err == nil && c.Repo != nil && c.Repo.IsPartial(ctx) {
		c.Close()
		o.OnDemand = true
		c, err = run.OpenCheckout(ctx, o)
	}
	if err != nil {
		return cannot("the checkout cannot be opened: %s", err)
	}
	a.checkout = c
	if c.Repo == nil {
		return cannot("there is no git repository in the workspace (a checkout over the REST API has no .git): check out with actions/checkout on a runner that has git")
	}
	if !within(workspace, c.Top) {
		return cannot("the repository's top level is outside the workspace")
	}
	return nil
}

func within(dir, p string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && filepath.IsLocal(rel)
}

// connect prepares the API client; nothing is sent.
func (a *action) connect() {
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
	var data []byte
	file, err := os.Open(a.env.EventPath)
	if err == nil {
		data, err = githubapi.ReadPayload(file)
		file.Close()
	}
	repo, err2 := newRepository(ctx, a.checkout.Repo)
	if err2 != nil {
		return cannot("%s", err2)
	}
	in := githubapi.TargetInput{
		Event: githubapi.ReadEvent(a.env.EventName, a.env.EventPath, data, err), Repository: repo,
		SHA: a.env.SHA, Base: a.in.Base, CheckRunSHA: a.in.SHA, FetchMissing: a.in.FetchMissing,
	}
	if a.client != nil && a.in.Token != "" {
		in.Lookups = a.client
	}
	a.target, err = githubapi.Resolve(ctx, in)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return cannot("the commits of this run cannot be read: %s", err)
	}
	a.outputs.Base, a.outputs.Head = a.target.Base.ID, a.target.Head
	for _, n := range a.target.Notes {
		a.notes.add(n)
	}
	a.flushNotes()
	switch b := a.target.Base; {
	case b.ID != "":
		a.quote("base " + b.ID + " from " + b.Source)
	case b.Empty:
		a.quote("base: the empty tree, from " + b.Source)
	default:
		a.log.Line("base: none")
	}
	if a.target.Head != "" {
		a.quote("head " + a.target.Head + ", the commit that is checked out; event " + a.env.EventName)
	}
	return nil
}

// begin shows at once that the gate is working.
func (a *action) begin(ctx context.Context) {
	if !a.in.CheckRun || a.client == nil || a.in.Token == "" || a.env.Act || a.target.CheckRunSHA == "" {
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

// stop ends a run that reached no verdict: exit status 2, told in the log, the
// check run, the summary and the outputs.
func (a *action) stop(ctx context.Context, err error) int {
	a.outputs.Verdict = "error"
	a.flushNotes()
	if ctx.Err() != nil {
		a.log.Message(report.Error, "The run was cancelled before a verdict.")
		if a.reporter != nil {
			a.reporter.Cancel(context.WithoutCancel(ctx))
			a.keepCheckRun(a.reporter.ID(), a.reporter.URL())
		}
		return statusError
	}
	reason := a.mask.String(err.Error())
	a.log.EndGroup()
	a.log.Message(report.Error, "The gate could not be run: "+reason)
	markdown := render.FailureSummary(reason, a.summaryOptions(nil))
	if a.reporter != nil {
		res := a.reporter.Complete(ctx, githubapi.Output{Title: "The gate could not be run", Summary: markdown}, nil, githubapi.Failure)
		if res.Completed {
			a.keepCheckRun(res.ID, res.URL)
		}
	}
	if a.in.Summary {
		a.summary(markdown)
	}
	return statusError
}

func (a *action) keepCheckRun(id int64, url string) {
	if id != 0 {
		a.outputs.CheckRunID, a.outputs.CheckRunURL, a.outputs.Reporting = id, url, githubapi.ReportingCheckRun
	}
}

// show reports a finished run: log, check run or commands, summary, outputs.
func (a *action) show(ctx context.Context, rep *report.Report) int {
	rep.Tool = report.Tool{Name: "handoff-gate", Version: a.p.Version}
	a.flushNotes()
	for i := range rep.Projects {
		one := *rep
		one.Projects = rep.Projects[i : i+1]
		one.Finish()
		a.log.Group("Project " + safetext.Clean(rep.Projects[i].Path))
		a.untrusted(func(w io.Writer) error { return render.Text(w, &one, render.TextOptions{}) })
		a.log.EndGroup()
	}
	a.errors(rep)
	count := rep.Count()
	a.outputs.Verdict, a.outputs.Errors, a.outputs.Warnings, a.outputs.Notices = string(rep.Verdict), count.Errors, count.Warnings, count.Notices

	a.log.Group("Reporting")
	exists := a.inHead()
	annotations := render.Annotations(rep, render.AnnotationOptions{Exists: exists})
	var notes []string
	commands := annotations
	a.outputs.Reporting = githubapi.ReportingCommands
	options := a.summaryOptions(exists)
	if a.reporter != nil {
		onCheckRun := annotations
		if a.in.Annotations != githubapi.AnnotationsAuto {
			onCheckRun = nil
		}
		conclusion := githubapi.Success
		if rep.Verdict == report.Fail {
			conclusion = githubapi.Failure
		}
		title, summary, text := render.CheckRunOutput(rep, options)
		res := a.reporter.Complete(ctx, githubapi.Output{Title: title, Summary: summary, Text: text}, onCheckRun, conclusion)
		a.flushNotes()
		if res.Completed {
			a.keepCheckRun(res.ID, res.URL)
			if a.in.Annotations == githubapi.AnnotationsAuto {
				commands = res.Unsent
			}
			if res.Over > 0 {
				notes = append(notes, fmt.Sprintf("%d findings have no annotation: the input max-annotations is %d.", res.Over, a.in.MaxAnnotations))
			}
		}
		if res.Refusal != nil {
			a.refusal = res.Refusal
		}
		if a.refusal != nil {
			text := a.refusal.Text()
			notes = append(notes, text)
			a.log.Message(a.refusal.Severity, text)
		}
	}
	if a.in.Annotations == githubapi.AnnotationsOff {
		commands = nil
		if a.outputs.Reporting == githubapi.ReportingCommands {
			a.outputs.Reporting = githubapi.ReportingNone
		}
	}
	a.log.EndGroup()
	a.log.Annotate(commands, render.CommandOptions{PathPrefix: a.prefix(), Where: "the log above and the job summary"})
	a.write(rep)
	if a.in.Summary {
		options.Notes = notes
		var b strings.Builder
		if err := render.Summary(&b, rep, options); err != nil {
			a.log.Message(report.Warning, "The job summary is not written: "+err.Error())
		} else {
			a.summary(b.String())
		}
	}
	if rep.Verdict == report.Fail {
		return statusFail
	}
	return statusPass
}

// errors prints the errors outside any group, where a reader sees them.
func (a *action) errors(rep *report.Report) {
	a.untrusted(func(w io.Writer) error {
		_, err := io.WriteString(w, render.ErrorLines(rep))
		return err
	})
}

// inHead tells which files of a report are in HEAD's tree, where an annotation
// can stand.
func (a *action) inHead() func(string) bool {
	if a.target.Head == "" {
		return nil
	}
	c, err := a.checkout.Repo.Commit(context.Background(), a.target.Head)
	if err != nil {
		return nil
	}
	tree := a.checkout.Repo.Tree("head tree", c.Tree)
	return func(p string) bool {
		e, err := tree.Stat(p)
		return err == nil && e.Kind != gate.Folder
	}
}

// prefix is the repository's folder in the workspace.
func (a *action) prefix() string {
	rel, err := filepath.Rel(a.env.Workspace, a.checkout.Top)
	if err != nil {
		return ""
	}
	return filepath.ToSlash(rel)
}

func (a *action) summaryOptions(exists func(string) bool) render.SummaryOptions {
	sha := a.target.CheckRunSHA
	if sha == "" {
		sha = a.target.Head
	}
	return render.SummaryOptions{
		ServerURL: a.env.ServerURL, Repository: a.env.Repository, LinkSHA: sha, BaseSource: a.target.Base.Source,
		Workflow: a.env.Workflow, RunURL: a.env.RunURL(), Version: a.p.Version, Limit: a.room, Exists: exists,
	}
}

func (a *action) summary(markdown string) {
	if err := githubapi.AppendSummary(a.env.SummaryPath, a.mask, markdown); err != nil {
		a.log.Message(report.Warning, err.Error())
	}
}

// quote and untrusted print text from outside; without a random source nothing
// of it is printed, which the log keeps as its error.
func (a *action) quote(text string) { _ = a.log.Quote(text) }

func (a *action) untrusted(write func(io.Writer) error) { _ = a.log.Untrusted(write) }

func (a *action) flushNotes() {
	for _, n := range a.notes.take() {
		a.log.Debug(n)
	}
}
