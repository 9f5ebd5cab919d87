package drift

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/workflow"
	"github.com/handoff-gate/handoff-gate/gate/policy"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

var errNoTree = errors.New("there is no tree to read")

// pathProblem is one way in which a reviewed path is not what it must be.
type pathProblem struct {
	rule *rule.Rule
	what string // what was seen, behind the path
	edit string // what to do, with a verb for the place of the entry
}

var (
	isDirectory = pathProblem{
		ReviewedPathDirectory, "is a folder, a review is for one exact file",
		"Replace the entry in %s by one for each exact file.",
	}
	isUntracked = pathProblem{
		ReviewedPathUntracked, "is not tracked by git",
		"Remove the entry from %s, or correct its spelling: list only tracked files.",
	}
	isNotRegular = pathProblem{
		ReviewedPathNotRegular, "is or was a link, a submodule or an unmerged file, a review is for a regular file",
		"Remove the entry from %s: list only regular files.",
	}
)

// proveReviewed proves the head policy's entries in every run, whether or not
// the change touches them (5.4). It tells whether all hold.
func (c *checker) proveReviewed() bool {
	if c.NewSide == nil {
		return true // nothing to prove them against; another finding says so
	}
	sound := true
	for _, f := range c.Policies.Head.Policy.Reviewed {
		problem, err := c.entryProblem(c.path(f.File))
		if err != nil {
			c.diffFailed("The reviewed file "+shown(f.File)+" cannot be looked up", err)
			return false
		}
		if problem == nil {
			continue
		}
		sound = false
		where := place(shown(c.config()), f.Span)
		c.fail(problem.rule, c.config(), f.Span, shown(f.File)+" "+problem.what+".", fmt.Sprintf(problem.edit, where))
	}
	return sound
}

// entryProblem is what is wrong with a reviewed path: one of three rules, or
// nothing (nil).
func (c *checker) entryProblem(path string) (*pathProblem, error) {
	current, err := stat(c.NewSide, path)
	if err != nil {
		return nil, err
	}
	if current == gate.Folder {
		return &isDirectory, nil
	}
	head, err := stat(c.HeadTree, path)
	if err != nil {
		return nil, err
	}
	base, err := stat(c.OldSide, path)
	if err != nil {
		return nil, err
	}
	if current == 0 && (c.Level == gate.CI || head == 0 || head == gate.Folder) {
		return &isUntracked, nil
	}
	for _, k := range []gate.Kind{current, head, base} {
		switch k {
		case gate.Symlink, gate.Gitlink, gate.Special, gate.Unmerged:
			return &isNotRegular, nil
		case 0, gate.Regular, gate.Folder:
		}
	}
	return nil, nil
}

// stat gives the kind of what stands at a path; 0 for nothing and for no tree.
func stat(t gate.Tree, path string) (gate.Kind, error) {
	if t == nil {
		return 0, nil
	}
	e, err := t.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return e.Kind, err
}

// scanner is what became of the proof of 6.1.
type scanner struct {
	proven        bool
	workflow, job string
}

// note says in a summary what was proven, and what the proof cannot show.
func (s scanner) note() string {
	if !s.proven {
		return ""
	}
	return fmt.Sprintf("; job %s of %s runs on pull requests, but whether it is a required check cannot be seen from here", s.job, s.workflow)
}

// proveScanner proves that the job named by the head policy runs on pull
// requests, in every run and whatever the change is.
func (c *checker) proveScanner() scanner {
	npm := c.Policies.Head.Policy.NPM
	if npm == nil || c.NewSide == nil {
		return scanner{}
	}
	where := place(shown(c.config()), npm.Span)
	unproven := func(path string, at report.Span, message string) scanner {
		c.fail(NPMScanUnproven, path, at,
			fmt.Sprintf("%s does not prove that job %s runs on pull requests: %s.", npm.Workflow, npm.Job, message),
			fmt.Sprintf("Point supplyChainScan (%s) at a job that runs on pull_request, repair %s, or drop npmDevDependencyUpdates.", where, npm.Workflow))
		return scanner{}
	}
	doc := gate.ReadDocument(c.NewSide, npm.Workflow, gate.MaxWorkflow)
	switch doc.State {
	case gate.Absent:
		return unproven(c.config(), npm.Span, "it is not in the "+policy.NewSideName(c.Level))
	case gate.NotRegular, gate.TooLarge:
		return unproven(c.config(), npm.Span, doc.Err.Error())
	case gate.Unreadable:
		return unproven(c.config(), npm.Span, "it cannot be read: "+shown(doc.Err.Error()))
	case gate.Present:
	}
	err := workflow.ProvePullRequestJob(doc.Data, npm.Job)
	if err == nil {
		return scanner{proven: true, workflow: npm.Workflow, job: npm.Job}
	}
	var problem *workflow.Error
	if errors.As(err, &problem) && problem.Line > 0 {
		return unproven(npm.Workflow, report.Span{Line: problem.Line}, problem.Message)
	}
	return unproven(c.config(), npm.Span, err.Error())
}
