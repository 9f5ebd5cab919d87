package cli

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/handoff-gate/handoff-gate/gate/render"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/run"
)

var criteriaCommand = command{
	name: "criteria", args: "[PATH]", summary: "Report on the acceptance criteria of tasks; never a gate",
	text: `
Reads the tracked documents of PATH (default: the current folder) that hold
acceptance criteria, and the task registry in the manifest, and says which
criteria of done tasks are open and what it could not read. Which documents
and which registry: acceptanceCriteria in aahp.config.json. It judges no dates:
--now is taken and changes nothing.
`,
	exits: exits("whatever is found", "", "used wrongly, no git work tree, or a configuration that cannot be read"),
	run:   runCriteria,
}

func runCriteria(ctx context.Context, p Process, args []string) error {
	fs := flag.NewFlagSet("criteria", flag.ContinueOnError)
	var c common
	c.registerReport(fs)
	c.text = func(w io.Writer, r *report.Report, _ render.TextOptions) error { return render.Criteria(w, r) }
	paths, err := parse(fs, args, 1)
	if err != nil {
		return err
	}
	if _, err := c.time(); err != nil {
		return err
	}
	project, err := openRoot(paths)
	if err != nil {
		return err
	}
	checkout, target, err := project.open(ctx, p, false, "")
	if err != nil {
		return err
	}
	defer checkout.Close()
	if checkout.Repo == nil {
		return fmt.Errorf("%s is in no git work tree, and git tells which files are tracked: %w", project.given, checkout.Refused)
	}
	rep, err := run.Criteria(ctx, checkout, target.Path)
	if err != nil {
		return err
	}
	return finish(p, &c, rep, []string{render.CriteriaNotice})
}
