package cli

import (
	"context"
	"flag"
	"io"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/governance"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/render"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/run"
)

var checkCommand = command{
	name: "check", args: "[PATH]", summary: "Run the governance gates that aahp.config.json selects",
	text: `
PATH is a project's folder (default: the current folder); it needs no
.ai/handoff/. Judged is the work tree, by eight gates: changelog,
changelog-format, version-sync, claims, forbidden-patterns, schema-doc-sync,
doc-links, handoff. A gate whose section or file is absent is skipped.
`,
	exits: exits("no gate failed and at least one ran", "a gate failed, the configuration is invalid or no gate ran", "PATH is no folder or bad usage"),
	run:   runCheck,
}

func runCheck(ctx context.Context, p Process, args []string) error {
	fs := flag.NewFlagSet("check", flag.ContinueOnError)
	var g gates
	g.register(fs)
	allow := fs.Bool("allow-exec", false, "run the scripts that claims name (floorCmd), with node")
	paths, err := parse(fs, args, 1)
	if err != nil {
		return err
	}
	now, err := g.time()
	if err != nil {
		return err
	}
	project, err := openRoot(paths)
	if err != nil {
		return err
	}
	words := []string{"handoff-gate", "check", safetext.ShellPath(project.given)}
	withExec := strings.Join(append(words, "--allow-exec"), " ")
	again := strings.Join(words, " ")
	if *allow {
		again = withExec
	}
	checkout, target, err := project.open(ctx, p, true, again)
	if err != nil {
		return err
	}
	defer checkout.Close()
	rep, result, facts, err := run.Check(ctx, checkout, target, run.GovernanceOptions{
		Now: now, WithExec: withExec, AllowExec: *allow, Environ: p.Environ, CheckTimeout: p.CheckTimeout,
	})
	if err != nil {
		return err
	}
	return g.finish(p, rep, result, facts)
}

// gates are the flags that check and doctor share.
type gates struct {
	common
	record bool // --json
}

func (g *gates) register(fs *flag.FlagSet) {
	g.registerReport(fs)
	fs.BoolVar(&g.quiet, "quiet", false, "text only: failing gates and the footer")
	fs.BoolVar(&g.record, "json", false, "print the record of the gates instead of a report")
}

// finish prints the report or, with --json, the record.
func (g *gates) finish(p Process, rep *report.Report, result governance.Result, facts governance.Facts) error {
	g.text = func(w io.Writer, r *report.Report, o render.TextOptions) error {
		o.FailuresOnly = o.Quiet
		return render.Text(w, r, o)
	}
	if g.record {
		facts.Tool = p.tool()
		g.format.value = "text" // --json wins over --format
		g.text = func(w io.Writer, _ *report.Report, _ render.TextOptions) error {
			return render.Record(w, result.Record(facts))
		}
	}
	return finish(p, &g.common, rep, result.Footer())
}
