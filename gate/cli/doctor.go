package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/git"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/run"
)

var doctorCommand = command{
	name: "doctor", args: "[PATH]", summary: "Record how far a project conforms, its workflows included",
	text: `
PATH is a project's folder (default: the current folder); a missing
.ai/handoff/ is a finding. Judged is the work tree, by eight gates: handoff-set,
manifest-schema, grounding, pinned-dep, changelog-format, version-sync,
verify-workflow, cli-source. The last two read the workflows of the repository:
can one that runs the gate skip it? Nothing is executed.
`,
	exits: exits("no gate failed or lacks what it requires and at least one was evaluated", "otherwise", "PATH is no folder or bad usage"),
	run:   runDoctor,
}

func runDoctor(ctx context.Context, p Process, args []string) error {
	fs := flag.NewFlagSet("doctor", flag.ContinueOnError)
	var g gates
	var o run.DoctorOptions
	g.register(fs)
	fs.BoolVar(&o.Governance, "governance", false, "do not look at the handoff set")
	fs.BoolVar(&o.Governance, "no-handoff", false, "the same as --governance")
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
	words := []string{"handoff-gate", "doctor", safetext.ShellPath(project.given)}
	if o.Governance {
		words = append(words, "--governance")
	}
	checkout, target, err := project.open(ctx, p, true, strings.Join(words, " "))
	if err != nil {
		return err
	}
	defer checkout.Close()
	if errors.Is(checkout.Refused, git.ErrDamaged) {
		return fmt.Errorf("the repository of %s cannot be read: %w", project.given, checkout.Refused)
	}
	rep, result, facts, err := run.Doctor(ctx, checkout, target, o)
	if err != nil {
		return err
	}
	return g.finish(p, rep, result, facts)
}
