package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/handoff-gate/handoff-gate/gate/adopt"
	"github.com/handoff-gate/handoff-gate/gate/git"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
)

// authoring is a run of a command that writes a handoff set.
type authoring struct {
	command string
	process Process
	project project
	quiet   bool
	meter   *meter
}

func newAuthoring(command string, p Process, project project) *authoring {
	return &authoring{command: command, process: p, project: project, meter: newMeter(p)}
}

// results is where results go; errors and warnings go to standard error.
func (a *authoring) results() io.Writer {
	a.meter.clear()
	if a.quiet {
		return io.Discard
	}
	return a.process.Stdout
}

// say writes to standard error.
func (a *authoring) say(format string, args ...any) {
	a.meter.clear()
	a.process.say(format, args...)
}

func (a *authoring) warn(sentence string) { a.say("warning: %s\n", adopt.Show(sentence)) }

// failed says why a command ended and gives exit status 1. A run that was ended has
// not failed, and says so itself.
func (a *authoring) failed(err error) error {
	var ended *adopt.EndedError
	if errors.As(err, &ended) {
		a.meter.clear()
		return ended
	}
	a.say("handoff-gate %s: %s\n", a.command, adopt.Show(err.Error()))
	return exitStatus(statusFail)
}

// again is a command of this program for the project, to be pasted.
func (a *authoring) again(command string) string {
	return adopt.Show("handoff-gate " + command + " " + safetext.ShellPath(a.project.given))
}

// repository opens the repository that the project lies in; nil where there is
// none that git accepts, or no git. One that git cannot read is an error: what is
// written would silently lack its commit.
func (a *authoring) repository(ctx context.Context) (*git.Repo, error) {
	start, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	repo, err := git.Open(ctx, git.Options{Dir: a.project.dir, StartDir: start, Environ: a.process.Environ})
	if errors.Is(err, git.ErrNoRepository) && !errors.Is(err, git.ErrDamaged) {
		return nil, ctx.Err()
	}
	return repo, err
}

// boundary gives the folder that no link of the set may leave: the top level of the
// repository, or the project where there is none.
func (a *authoring) boundary(ctx context.Context) (string, error) {
	repo, err := a.repository(ctx)
	if repo == nil {
		return a.project.dir, err
	}
	defer repo.Close()
	return repo.Top(), nil
}

// folder opens the handoff folder, to be written.
func (a *authoring) folder(ctx context.Context, boundary string) (*adopt.Folder, error) {
	return adopt.OpenFolder(a.project.dir, boundary, adopt.Hooks{Before: a.process.BeforeChange, Progress: a.meter.show, Ended: ctx.Err})
}

// open opens the handoff folder and gathers what a manifest records of its place.
func (a *authoring) open(ctx context.Context, now time.Time) (*adopt.Folder, adopt.Facts, error) {
	facts := adopt.Facts{Commit: adopt.UnknownCommit, Now: now}
	repo, err := a.repository(ctx)
	if err != nil {
		return nil, facts, err
	}
	boundary, url := a.project.dir, ""
	if repo != nil {
		defer repo.Close()
		boundary = repo.Top()
		if id, err := repo.ShortHead(ctx); err != nil {
			a.warn("the commit is not known: " + safetext.Clean(err.Error()))
		} else if id != "" {
			facts.Commit = id
		}
		if url, err = repo.RemoteURL(ctx); err != nil {
			a.warn("the remotes are not known: " + safetext.Clean(err.Error()))
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, facts, err
	}
	abs, err := filepath.Abs(a.project.given)
	if err != nil {
		return nil, facts, err
	}
	facts.Project = adopt.ProjectName(url, filepath.Base(abs))
	folder, err := a.folder(ctx, boundary)
	return folder, facts, err
}

// longWork is how many bytes of a file take so long to read or write that a person
// who waits for it wants to see how far it has come.
const longWork = 8 << 20

// meter shows on a terminal how far long work has come, in one line that is written
// over. Where standard error is no terminal, it is silent.
type meter struct {
	w    io.Writer // nil to be silent
	line string    // that stands there
}

func newMeter(p Process) *meter {
	if !isTerminal(p.Stderr) || p.getenv("TERM") == "dumb" {
		return &meter{}
	}
	return &meter{w: p.Stderr}
}

// show is an adopt.Progress.
func (m *meter) show(work string, done, total int64) {
	if m.w == nil || total < longWork {
		return
	}
	if line := fmt.Sprintf("%s: %d%%", work, min(100, done*100/total)); line != m.line {
		m.line = line
		_, _ = fmt.Fprintf(m.w, "\r%s\x1b[K", line)
	}
}

// clear takes the line away.
func (m *meter) clear() {
	if m.line != "" {
		m.line = ""
		_, _ = io.WriteString(m.w, "\r\x1b[K")
	}
}
