package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/localpath"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/render"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/githubapi"
)

// stop ends a run that reached no verdict: exit status 2, told in the log, the
// check run, the summary and the outputs.
func (a *action) stop(ctx context.Context, err error) int {
	a.outputs.Verdict = "error"
	a.flushNotes()
	if ctx.Err() != nil {
		return a.cancelled(ctx)
	}
	reason := a.mask.String(err.Error())
	a.log.Message(report.Error, "The gate could not be run: "+reason)
	markdown := render.FailureSummary(reason, a.summaryOptions(nil))
	a.beginLate(ctx)
	if a.reporter != nil {
		res := a.reporter.Complete(ctx, githubapi.Output{Title: "The gate could not be run", Summary: markdown}, nil, githubapi.Failure)
		a.flushNotes()
		switch {
		case res.Completed:
			a.keepCheckRun(res.ID, res.URL)
		case ctx.Err() != nil:
			return a.cancelled(ctx)
		}
		if res.Refusal != nil {
			a.refusal = res.Refusal
		}
	}
	if a.refusal != nil {
		a.log.Message(a.refusal.Severity, a.refusal.Text())
	}
	if a.in.Annotations == githubapi.AnnotationsOff && a.outputs.CheckRunID == 0 {
		a.outputs.Reporting = githubapi.ReportingNone
	}
	if a.in.Summary {
		a.summary(markdown)
	}
	return statusError
}

// beginLate begins the check run of a run that ended before it had one, on the
// commit that the payload names: a result of an earlier run on it must not stay
// the last word.
func (a *action) beginLate(ctx context.Context) {
	if a.reporter != nil || a.noCheckRun != "" || a.event.NothingLeft() != "" {
		return
	}
	if a.target.CheckRunSHA == "" {
		if a.target.CheckRunSHA = a.in.SHA; a.in.SHA == "" {
			a.target.CheckRunSHA = a.event.UnderReview()
		}
	}
	a.connect()
	a.begin(ctx)
}

// cancelled ends a run that was told to end: exit status 2.
func (a *action) cancelled(ctx context.Context) int {
	a.outputs = githubapi.Outputs{Verdict: "error", Base: a.outputs.Base, Head: a.outputs.Head}
	a.log.Message(report.Error, "The run was cancelled before a verdict.")
	if a.reporter != nil {
		refusal := a.reporter.Cancel(context.WithoutCancel(ctx))
		a.flushNotes()
		if refusal != nil {
			a.log.Message(report.Warning, "The check run could not be cancelled: "+refusal.Error())
		}
		a.keepCheckRun(a.reporter.ID(), a.reporter.URL())
	}
	if a.in.Annotations == githubapi.AnnotationsOff && a.outputs.CheckRunID == 0 {
		a.outputs.Reporting = githubapi.ReportingNone
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
	if a.checkout != nil {
		// Checks may have run: their work is not what decides about a fetch.
		a.checkout.Repo.Offline()
	}
	rep.Tool = a.p.tool()
	rep.Rewrite(a.mask.String)
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
	a.outputs.Reporting = githubapi.ReportingCommands

	a.log.Group("Reporting")
	exists := a.inHead()
	options := a.summaryOptions(exists)
	// Before the check run says passed: should this fail, there is no verdict.
	files := a.render(rep)
	commands, ended := a.complete(ctx, rep, &options)
	if ended {
		return a.cancelled(ctx)
	}
	a.log.EndGroup()
	if a.refusal != nil {
		text := a.refusal.Text()
		options.Notes = append(options.Notes, text)
		a.log.Message(a.refusal.Severity, text)
	}
	if a.in.Annotations == githubapi.AnnotationsOff {
		commands = nil
		if a.outputs.Reporting == githubapi.ReportingCommands {
			a.outputs.Reporting = githubapi.ReportingNone
		}
	}
	where := "the log above"
	if a.in.Summary {
		where += " and the job summary"
	}
	a.log.Annotate(commands, render.CommandOptions{PathPrefix: a.prefix(), Where: where})
	a.write(files)
	if a.in.Summary {
		a.summarize(rep, options)
	}
	if rep.Verdict == report.Fail {
		return statusFail
	}
	return statusPass
}

// complete completes the check run, where there is one, and gives what is left
// to be shown as workflow commands. ended: the run was cancelled meanwhile, and
// the check run does not carry the verdict.
func (a *action) complete(ctx context.Context, rep *report.Report, options *render.SummaryOptions) (commands []render.Annotation, ended bool) {
	annotations := render.Annotations(rep, render.AnnotationOptions{Exists: options.Exists})
	if a.reporter == nil {
		a.log.Line("No check run: " + a.noCheckRun + ".")
		return annotations, false
	}
	onCheckRun := annotations
	if a.in.Annotations != githubapi.AnnotationsAuto {
		onCheckRun = nil
	}
	conclusion := githubapi.Success
	if rep.Verdict == report.Fail {
		conclusion = githubapi.Failure
	}
	title, summary, text := render.CheckRunOutput(rep, *options)
	res := a.reporter.Complete(ctx, githubapi.Output{Title: title, Summary: summary, Text: text}, onCheckRun, conclusion)
	a.flushNotes()
	if res.Refusal != nil {
		a.refusal = res.Refusal
	}
	if !res.Completed {
		return annotations, ctx.Err() != nil
	}
	a.keepCheckRun(res.ID, res.URL)
	a.quote(fmt.Sprintf("check run %d, %s, with %s: %s", res.ID, conclusion, plural.Of(res.Annotated, "annotation"), res.URL))
	if res.Over > 0 {
		options.Notes = append(options.Notes, fmt.Sprintf("%d findings have no annotation: the input max-annotations is %d.", res.Over, a.in.MaxAnnotations))
	}
	if a.in.Annotations == githubapi.AnnotationsAuto {
		return res.Unsent, false
	}
	return annotations, false
}

// errors prints the errors outside any group, where a reader sees them.
func (a *action) errors(rep *report.Report) {
	a.untrusted(func(w io.Writer) error {
		_, err := io.WriteString(w, render.ErrorLines(rep))
		return err
	})
}

// inHead tells which files of a report are in HEAD's tree, where an annotation
// can stand. In a submodule none can: its files are not those of the
// repository that the check run is in.
func (a *action) inHead() func(string) bool {
	nowhere := func(string) bool { return false }
	if a.submodule {
		return nowhere
	}
	stat := a.headTree()
	if stat == nil {
		return nowhere
	}
	return func(p string) bool {
		e, err := stat(p)
		return err == nil && e.Kind != gate.Folder
	}
}

// headTree looks paths up in HEAD's tree; nil where there is none.
func (a *action) headTree() func(string) (gate.Entry, error) {
	if a.target.Head == "" || a.checkout == nil {
		return nil
	}
	return a.treeOf(a.target.Head)
}

// treeOf looks paths up in a commit's tree; nil where it cannot be read.
func (a *action) treeOf(commit string) func(string) (gate.Entry, error) {
	c, err := a.checkout.Repo.Commit(context.Background(), commit)
	if err != nil {
		return nil
	}
	return a.checkout.Repo.Tree("tree of "+commit, c.Tree).Stat
}

// prefix is the repository's folder in the workspace.
func (a *action) prefix() string {
	if a.checkout == nil {
		return ""
	}
	rel, _ := localpath.Below(a.env.Workspace, a.checkout.Top)
	return rel
}

func (a *action) summaryOptions(exists func(string) bool) render.SummaryOptions {
	sha := a.target.CheckRunSHA
	if sha == "" {
		sha = a.target.Head
	}
	return render.SummaryOptions{
		ServerURL: a.env.ServerURL, Repository: a.env.Repository, LinkSHA: sha, BaseSource: a.mask.String(a.target.Base.Source),
		Workflow: a.mask.String(a.env.Workflow), RunURL: a.env.RunURL(), Version: a.p.Version, Limit: a.room, Exists: exists,
	}
}

// apart separates a summary from what an earlier program of the step has
// written: a paragraph or an HTML block in it would swallow the first line.
const apart = "\n\n"

// summarize writes the job summary of a finished run.
func (a *action) summarize(rep *report.Report, options render.SummaryOptions) {
	options.Limit = max(a.room-len(apart), 1)
	var b strings.Builder
	if err := render.Summary(&b, rep, options); err != nil {
		a.log.Message(report.Warning, "The job summary is not written: "+err.Error())
		return
	}
	a.summary(b.String())
}

func (a *action) summary(markdown string) {
	if a.room < render.MaxSummary {
		markdown = apart + markdown
	}
	if strings.TrimSpace(markdown) == "" {
		a.log.Message(report.Warning, "The job summary is not written: its file is full.")
		return
	}
	if err := githubapi.AppendSummary(a.env.SummaryPath, a.mask, markdown); err != nil {
		a.log.Message(report.Warning, err.Error())
	}
}

// quote and untrusted print text from outside; without a random source nothing
// of it is printed, which the log keeps as its error.
func (a *action) quote(text string) { _ = a.log.Quote(text) }

func (a *action) untrusted(write func(io.Writer) error) { _ = a.log.Untrusted(write) }

// flushNotes prints the debug lines. They quote commands and paths, so the old
// form of a runner's command, which counts anywhere in a line, is broken up.
func (a *action) flushNotes() {
	for _, n := range a.notes.take() {
		a.log.Debug(strings.ReplaceAll(n, "##[", "## ["))
	}
}
