package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/adopt"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
)

var initCommand = command{
	name: "init", args: "[PATH]", summary: "Begin a handoff set: write what is missing, and a manifest",
	text: `
Makes .ai/handoff/ in PATH (default: the current folder), writes a template of each
file that is not there, and a manifest of them all. Nothing else is touched.
`,
	exits: exits("done", "refused or failed", "used wrongly or no such folder"),
	run:   runInit,
}

// defaultAgent is who ran a session where nobody says.
const defaultAgent = "cli-tool"

func runInit(ctx context.Context, p Process, args []string) error {
	fs := flag.NewFlagSet("init", flag.ContinueOnError)
	var o adopt.InitOptions
	fs.BoolVar(&o.Force, "force", false, "write files anew that are there, but never a journal that holds an entry; the manifest keeps its tasks")
	fs.BoolVar(&o.Allowlist, "with-pii-allowlist", false, "write pii-allowlist.json, too")
	paths, err := parse(fs, args, 1)
	if err != nil {
		return err
	}
	project, err := openRoot(paths)
	if err != nil {
		return err
	}
	a := newAuthoring("init", p, project)
	if err := adopt.MakeFolder(project.dir, adopt.Hooks{Before: p.BeforeChange}); err != nil {
		return a.failed(err)
	}
	folder, facts, err := a.open(ctx, time.Now().UTC())
	if err != nil {
		return a.failed(err)
	}
	defer folder.Close()
	done, warnings, initErr := folder.Init(o, adopt.Session{Agent: defaultAgent, Phase: "idle"}, facts)
	for _, w := range warnings {
		a.warn(w)
	}
	var b strings.Builder
	created, replaced := 0, 0
	for _, f := range done {
		verb := "kept"
		if f.Created {
			verb = "created"
			created++
		}
		if f.Replaced {
			replaced++
		}
		fmt.Fprintf(&b, "%s %s\n", verb, f.Name)
	}
	if initErr == nil {
		fmt.Fprintf(&b, "%s created, %d kept", plural.Of(created, "file"), len(done)-created)
		if replaced > 0 {
			fmt.Fprintf(&b, "; %d took the place of another", replaced)
		}
		b.WriteString("\n" + a.afterInit())
	}
	if _, err := fmt.Fprint(a.results(), b.String()); err != nil {
		return a.failed(errors.Join(initErr, err))
	}
	if initErr != nil {
		return a.refused(initErr)
	}
	return nil
}

// afterInit says how a new set becomes that of its project.
func (a *authoring) afterInit() string {
	given := filepath.ToSlash(a.project.given)
	dir := path.Join(given, gate.HandoffDir)
	quoted := safetext.ShellPath(dir)
	return "next:\n" +
		"  1. replace the placeholders in square brackets, such as [PROJECT], in " + adopt.Show(dir) + "\n" +
		"  2. " + a.again("manifest") + "\n" +
		"  3. git add " + quoted + " && git commit -m 'Begin the handoff set' -- " + quoted + "\n"
}
