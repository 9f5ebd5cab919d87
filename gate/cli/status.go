package cli

import (
	"context"
	"errors"
	"flag"
	"io"
	"path/filepath"

	"github.com/handoff-gate/handoff-gate/gate/adopt"
)

var statusCommand = command{
	name: "status", args: "[PATH]", summary: "Summarise a handoff set from its manifest",
	text: `
Reads .ai/handoff/MANIFEST.json of PATH (default: the current folder) and nothing
else, and prints who worked last, the tasks by their status, and the first five
that are ready or in progress. It judges nothing: verify does.
`,
	exits: exits("done", "no manifest that can be read", "used wrongly or no handoff set"),
	run:   runStatus,
}

func runStatus(ctx context.Context, p Process, args []string) error {
	paths, err := parse(flag.NewFlagSet("status", flag.ContinueOnError), args, 1)
	if err != nil {
		return err
	}
	project, err := openProject(paths)
	if err != nil {
		return err
	}
	a := newAuthoring("status", p, project)
	abs, err := filepath.Abs(project.given)
	if err != nil {
		return a.failed(err)
	}
	boundary, err := a.boundary(ctx)
	if err != nil {
		return a.failed(err)
	}
	folder, err := adopt.OpenFolderToRead(project.dir, boundary)
	if err != nil {
		return a.failed(err)
	}
	defer folder.Close()
	text, err := folder.Status(abs)
	if errors.Is(err, adopt.ErrNoManifest) {
		a.say("handoff-gate status: %s\nfix: %s (or `%s` for a new set)\n", err, a.again("manifest"), a.again("init"))
		return exitStatus(statusFail)
	}
	if err != nil {
		return a.failed(err)
	}
	if _, err := io.WriteString(a.results(), text); err != nil {
		return a.failed(err)
	}
	return nil
}
