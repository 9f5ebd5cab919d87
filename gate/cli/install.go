package cli

import (
	"context"
	"flag"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/install"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/render"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/run"
)

var installCommand = command{
	name: "install", summary: "Verify the install record of an agents-handoff copy",
	below: []command{{
		name: "verify", args: "[DIR]", summary: "Compare a copy's files with its install record",
		text: `
Hashes the files of the copy in DIR and compares them with the record that its
installer wrote, .agents-handoff-install.json. With --all it looks for copies below
DIR (default: the current folder): agents-handoff and agent-handoff in
.claude/skills, .codex/skills, .agents/skills, skills and local/skills. Nothing of a
copy is run.
`,
		run: runInstallVerify,
	}},
}

func runInstallVerify(ctx context.Context, p Process, args []string) error {
	fs := flag.NewFlagSet("install verify", flag.ContinueOnError)
	var c common
	var base once
	var all bool
	c.registerReport(fs)
	fs.Var(&base, "base", "a commit by any `NAME` of git's; also find a record that was rewritten or removed since")
	fs.BoolVar(&all, "all", false, "look for copies below DIR")
	dirs, err := parse(fs, args, 1)
	if err != nil {
		return err
	}
	if len(dirs) == 0 && !all {
		return usagef("name the folder of the copy, or --all to search for copies")
	}
	if err := usableBase(base); err != nil {
		return err
	}
	if _, err := c.time(); err != nil {
		return err
	}
	dir, err := openRoot(dirs)
	if err != nil {
		return err
	}
	start, err := workingFolder()
	if err != nil {
		return err
	}
	rep, found, err := run.Installs(ctx, run.InstallOptions{
		Dir: dir.dir, All: all, Start: start, Base: base.value, Environ: p.Environ,
		Again: func(rel string) string {
			again := "handoff-gate install verify " + safetext.ShellPath(path.Join(filepath.ToSlash(dir.given), rel))
			if base.given {
				again += " --base " + safetext.ShellQuote(base.value)
			}
			return again
		},
	})
	if err != nil {
		return err
	}
	o := render.InstallOptions{Total: all, First: install.First}
	for _, rel := range found {
		name := dir.given
		if rel != "." {
			name = path.Join(filepath.ToSlash(dir.given), rel)
		}
		o.Names = append(o.Names, name)
	}
	c.text = func(w io.Writer, r *report.Report, text render.TextOptions) error {
		return render.Installs(w, r, o, text)
	}
	return finish(p, &c, rep, nil)
}

// usableBase refuses what can be no name of a commit (sessions.md 1).
func usableBase(base once) error {
	if base.given && (base.value == "" || strings.HasPrefix(base.value, "-")) {
		return usagef("--base needs the name of a commit, got %q", base.value)
	}
	return nil
}

// workingFolder is the current folder, absolute, links resolved.
func workingFolder() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}
