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
	name:    "install",
	usage:   "verify DIR [--base SHA] | verify --all [DIR] [--base SHA] [--format text|json|sarif|github] [--report FILE] [--now RFC3339]",
	summary: "Verify the install record of an agents-handoff copy",
	help: `verify DIR hashes the files of the copy in DIR and compares them with the record
that its installer wrote, .agents-handoff-install.json. verify --all looks for
copies below DIR (default: the current folder): agents-handoff and agent-handoff
in .claude/skills, .codex/skills, .agents/skills, skills and local/skills.
Nothing of a copy is run.

  --base NAME      a commit by any name of git's; also find a record that was
                   rewritten or removed since
  --format F       text, json, sarif or github (workflow commands)
  --report FILE    also write the JSON report to FILE
  --now RFC3339    accepted as everywhere; nothing here depends on the time
`,
	run: runInstall,
}

func runInstall(ctx context.Context, p Process, args []string) error {
	fs := flag.NewFlagSet("install", flag.ContinueOnError)
	var c common
	var base once
	var all bool
	c.registerReport(fs)
	fs.Var(&base, "base", "")
	fs.BoolVar(&all, "all", false, "")
	words, err := parse(fs, args, 2)
	if err != nil {
		return err
	}
	switch {
	case len(words) == 0 || words[0] != "verify":
		return usagef("say what to do: `handoff-gate install verify DIR`")
	case len(words) == 1 && !all:
		return usagef("name the folder of the copy, or --all to search for copies")
	}
	if err := usableBase(base); err != nil {
		return err
	}
	if _, err := c.time(); err != nil {
		return err
	}
	dir, err := openRoot(words[1:])
	if err != nil {
		return err
	}
	start, err := workingFolder()
	if err != nil {
		return err
	}
	rep, dirs, err := run.Installs(ctx, run.InstallOptions{
		Dir: dir.dir, All: all, Start: start, Base: base.value, Environ: p.Environ,
		Again: func(rel string) string {
			again := "handoff-gate install verify " + safetext.ShellQuote(path.Join(filepath.ToSlash(dir.given), rel))
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
	for _, rel := range dirs {
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
