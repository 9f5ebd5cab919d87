package cli

import (
	"context"
	"flag"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/run"
)

var doctorCommand = command{
	name:    "doctor",
	usage:   "[PATH] [--json] [--governance|--no-handoff] [--quiet] [--format text|json|sarif|github] [--report FILE] [--now RFC3339]",
	summary: "Record how far a project conforms, and whether a workflow can skip the gate",
	help: `PATH is a project's folder (default: the current folder); a missing
.ai/handoff/ is a finding. Judged is the work tree, by eight gates: handoff-set,
manifest-schema, grounding, pinned-dep, changelog-format, version-sync,
verify-workflow, cli-source. The last two read the workflows of the repository.
Nothing is executed.

  --json         print the record of the gates instead of a report
  --governance   do not look at the handoff set; --no-handoff is the same
  --quiet        text only: failing gates and the footer
  --format F     text, json, sarif or github (workflow commands)
  --report FILE  also write the JSON report to FILE
  --now RFC3339  the time to judge dates by (default: now)

Exit status: 0 no gate failed or lacks what it requires and at least one was
evaluated, 1 otherwise, 2 PATH is no folder or bad usage.
`,
	run: runDoctor,
}

func runDoctor(ctx context.Context, p Process, args []string) error {
	fs := flag.NewFlagSet("doctor", flag.ContinueOnError)
	var g gates
	var o run.DoctorOptions
	g.register(fs)
	fs.BoolVar(&o.Governance, "governance", false, "")
	fs.BoolVar(&o.Governance, "no-handoff", false, "")
	paths, err := parse(fs, args, 1)
	if err != nil {
		return err
	}
	if o.Now, err = g.time(); err != nil {
		return err
	}
	project, err := openRoot(paths)
	if err != nil {
		return err
	}
	words := []string{"handoff-gate", "doctor", safetext.ShellQuote(project.given)}
	if o.Governance {
		words = append(words, "--governance")
	}
	checkout, target, err := project.open(ctx, p, true, strings.Join(words, " "))
	if err != nil {
		return err
	}
	defer checkout.Close()
	rep, result, facts, err := run.Doctor(ctx, checkout, target, o)
	if err != nil {
		return err
	}
	return g.finish(p, rep, result, facts)
}
