package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/adopt"
	"github.com/handoff-gate/handoff-gate/gate/internal/localpath"
)

var hooksCommand = command{
	name: "hooks", summary: "Install git hooks that verify each commit and push",
	below: []command{{
		name: "install", args: "[PATH]", summary: "Write the hooks pre-commit and pre-push",
		text: `
They are written to the folder from which git runs the hooks of the repository that
PATH (default: the current folder) lies in. Another hook in their place is kept
beside them as NAME.pre-handoff-gate.bak. A folder outside of the repository (a
global core.hooksPath) is left alone. A hook that verifies other projects of the
repository goes on to do so.

A hook calls the program named in HANDOFF_GATE, else the one that installed it, else
the one in PATH, and fails where none is there. AAHP_SKIP_VERIFY=1 lets one commit
or push through.
`,
		exits: exits("done", "refused or failed", "used wrongly or no handoff set"),
		run:   runHooksInstall,
	}},
}

func runHooksInstall(ctx context.Context, p Process, args []string) error {
	paths, err := parse(flag.NewFlagSet("hooks install", flag.ContinueOnError), args, 1)
	if err != nil {
		return err
	}
	project, err := openProject(paths)
	if err != nil {
		return err
	}
	a := newAuthoring("hooks install", p, project)
	place, settings, err := a.hookPlace(ctx)
	if err != nil {
		return a.failed(err)
	}
	done, err := adopt.InstallHooks(place, settings, adopt.Hooks{Before: p.BeforeChange})
	if errors.Is(err, adopt.ErrSharedHooks) {
		return a.sharedHooks(place, settings)
	}
	var b strings.Builder
	for _, h := range done {
		file := adopt.Show(shownPath(place, h.Name))
		if !h.Written {
			fmt.Fprintf(&b, "unchanged %s\n", file)
		} else {
			fmt.Fprintf(&b, "installed %s\n", file)
		}
		if len(h.Others) > 0 {
			fmt.Fprintf(&b, "  it still verifies %s, too\n", adopt.Show(strings.Join(h.Others, ", ")))
		}
		if h.Backup != "" {
			verb := "kept as"
			if !h.Made {
				verb = "already kept as"
			}
			fmt.Fprintf(&b, "  the hook that was there is %s %s; it is no longer run\n", verb, adopt.Show(shownPath(place, h.Backup)))
		}
	}
	if _, printErr := io.WriteString(a.results(), b.String()); printErr != nil {
		return a.failed(errors.Join(err, printErr))
	}
	if err != nil {
		return a.failed(err)
	}
	return nil
}

// hookPlace finds the folder of the hooks. It opens the handoff folder, too, as
// every command that writes: a link in its place is refused.
func (a *authoring) hookPlace(ctx context.Context) (adopt.HookPlace, adopt.HookSettings, error) {
	var place adopt.HookPlace
	var settings adopt.HookSettings
	repo, err := a.repository(ctx)
	if err != nil {
		return place, settings, err
	}
	if repo == nil {
		return place, settings, fmt.Errorf("%s lies in no git repository that git, which must be installed, accepts", a.project.given)
	}
	defer repo.Close()
	folder, err := a.folder(ctx, repo.Top())
	if err != nil {
		return place, settings, err
	}
	folder.Close()
	var in bool
	if settings.Project, in = localpath.Below(repo.Top(), a.project.dir); !in {
		return place, settings, errors.New("the project is not below the top level of its repository")
	}
	place.Top = repo.Top()
	place.Dir, place.Common, err = repo.HookDir(ctx)
	if filepath.IsAbs(a.process.Program) {
		settings.Program = a.process.Program
	}
	return place, settings, err
}

// shownPath gives the path of a file of the hooks' folder from the top level, where
// it lies below that.
func shownPath(place adopt.HookPlace, name string) string {
	file := filepath.Join(place.Dir, name)
	if rel, in := localpath.Below(place.Top, file); in {
		return rel
	}
	return file
}

// sharedHooks refuses to change what other repositories rely on.
func (a *authoring) sharedHooks(place adopt.HookPlace, settings adopt.HookSettings) error {
	var b strings.Builder
	fmt.Fprintf(&b, "handoff-gate hooks install: git runs hooks from %s, outside of this repository (core.hooksPath); other repositories use them, too, so nothing was written\n",
		adopt.Show(place.Dir))
	b.WriteString("fix: call from the hooks there:\n")
	for _, h := range adopt.GitHooks {
		fmt.Fprintf(&b, "  %s: %s\n", h.Name, adopt.Show(h.Command("handoff-gate", settings)))
	}
	a.say("%s", b.String())
	return exitStatus(statusFail)
}
