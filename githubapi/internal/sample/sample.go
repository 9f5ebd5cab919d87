// Package sample builds the repository of testdata/sample: a target branch with a
// consistent handoff set, a pull request that breaks it, and the same pull request
// repaired. The demo shows it, and tests of the whole program run on it.
package sample

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Commits are the full ids of the history that Build makes. They are the same on
// every machine, since names, dates and contents are fixed.
type Commits struct {
	First         string // the project without its handoff set; what the manifest on main points at
	Base          string // main: the handoff set added
	Failing       string // head of the pull request
	FailingMerge  string // what GitHub checks out for it: Base and Failing merged
	Repaired      string // head after the repair
	RepairedMerge string
}

// Root finds the folder of this module: the working folder or the nearest one
// above it that holds go.mod.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod in the working folder or above it")
		}
		dir = parent
	}
}

// Build makes the repository in dir, which must not exist or be empty, from the
// folders base, change and repair below source. The branch main is checked out;
// the pull request is number 1.
func Build(ctx context.Context, source, dir string) (Commits, error) {
	var c Commits
	b := builder{ctx: ctx, dir: dir}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return c, err
	}
	b.git("init", "--quiet", "--initial-branch=main", "--object-format=sha1")
	b.overlay(filepath.Join(source, "base"))

	b.git("add", "--all", "--", ".", ":(exclude).ai")
	c.First = b.commit("2026-02-11T09:00:00Z", "Predict three stations")
	b.git("add", "--all", "--force")
	c.Base = b.commit("2026-02-11T09:30:00Z", "Add the handoff set")

	b.git("switch", "--quiet", "--create", "northern-stations")
	b.overlay(filepath.Join(source, "change"))
	b.git("add", "--all", "--force")
	c.Failing = b.commit("2026-02-24T14:00:00Z", "Add Torshavn")
	c.FailingMerge = b.merge(c.Base, c.Failing)

	b.overlay(filepath.Join(source, "repair"))
	b.git("add", "--all", "--force")
	c.Repaired = b.commit("2026-02-24T15:00:00Z", "Bring the handoff set up to date")
	c.RepairedMerge = b.merge(c.Base, c.Repaired)

	b.git("update-ref", "refs/pull/1/head", c.Repaired)
	b.git("update-ref", "refs/pull/1/merge", c.RepairedMerge)
	b.git("switch", "--quiet", "main")
	return c, b.err
}

// Checkout puts commit into the work tree of the repository in dir, with HEAD
// detached, as actions/checkout does for a pull request.
func Checkout(ctx context.Context, dir, commit string) error {
	b := builder{ctx: ctx, dir: dir}
	b.git("checkout", "--quiet", "--force", "--detach", commit)
	return b.err
}

// Git runs git in a repository of the sample, as its author and on a date as
// "2026-02-24T14:00:00Z", and gives what it prints.
func Git(ctx context.Context, dir, date string, args ...string) (string, error) {
	b := builder{ctx: ctx, dir: dir, date: date}
	out := b.git(args...)
	return out, b.err
}

// Overlay copies every file below source over the folder dir.
func Overlay(source, dir string) error {
	b := builder{dir: dir}
	b.overlay(source)
	return b.err
}

// builder runs git in one folder and keeps the first error, so that a history
// reads as the list of its steps.
type builder struct {
	ctx  context.Context
	dir  string
	date string
	err  error
}

func (b *builder) git(args ...string) string {
	if b.err != nil {
		return ""
	}
	date := b.date
	if date == "" {
		date = "2026-02-11T09:00:00Z"
	}
	cmd := exec.CommandContext(b.ctx, "git", args...)
	cmd.Dir = b.dir
	// Nothing of the user's configuration may change the ids.
	cmd.Env = append(withoutGit(os.Environ()),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_TERMINAL_PROMPT=0",
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=core.autocrlf", "GIT_CONFIG_VALUE_0=false",
		"GIT_CONFIG_KEY_1=safe.directory", "GIT_CONFIG_VALUE_1="+b.dir, // a test may have given it away
		"GIT_AUTHOR_NAME=Ada Example", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_AUTHOR_DATE="+date,
		"GIT_COMMITTER_NAME=Ada Example", "GIT_COMMITTER_EMAIL=ada@example.com", "GIT_COMMITTER_DATE="+date,
	)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.err = fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
		return ""
	}
	return strings.TrimSpace(string(out))
}

func (b *builder) commit(date, message string) string {
	b.date = date
	b.git("commit", "--quiet", "--no-verify", "--message", message)
	return b.git("rev-parse", "HEAD")
}

// merge makes the commit that GitHub makes for a pull request: base first, head
// second. Nothing conflicts here, so the tree is the head's.
func (b *builder) merge(base, head string) string {
	return b.git("commit-tree", head+"^{tree}", "-p", base, "-p", head, "-m", "Merge "+head+" into "+base)
}

// overlay copies every file below source over the work tree.
func (b *builder) overlay(source string) {
	if b.err != nil {
		return
	}
	b.err = filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		target := filepath.Join(b.dir, rel)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o644)
	})
}

// withoutGit drops what a hook or a CI step may have left for git.
func withoutGit(env []string) []string {
	var kept []string
	for _, v := range env {
		if !strings.HasPrefix(v, "GIT_") {
			kept = append(kept, v)
		}
	}
	return kept
}
