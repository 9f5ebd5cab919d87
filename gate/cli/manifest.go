package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/adopt"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
)

var manifestCommand = command{
	name: "manifest", args: "[PATH]", summary: "Regenerate MANIFEST.json, or check it",
	text: `
Reads every handoff file of PATH (default: the current folder) and writes
.ai/handoff/MANIFEST.json anew: checksums, line counts, summaries, token estimates
and this session. The project's name, the task registry, next_task_id and
cross_repo_ref are carried over as they are spelled. Read what changed
(git diff -- .ai/handoff) before you run it: it records the files as they are.
`,
	exits: exits("done", "refused, failed or stale", "used wrongly or no handoff set"),
	run:   runManifest,
}

// minutes is a flag of 1 to 9 digits.
type minutes int

func (m *minutes) String() string { return strconv.Itoa(int(*m)) }

func (m *minutes) Set(s string) error {
	if s == "" || len(s) > 9 || strings.Trim(s, "0123456789") != "" {
		return errors.New("it must be 1 to 9 digits")
	}
	n, err := strconv.Atoi(s)
	*m = minutes(n)
	return err
}

func runManifest(ctx context.Context, p Process, args []string) error {
	fs := flag.NewFlagSet("manifest", flag.ContinueOnError)
	session := adopt.Session{}
	phase := choice{"idle", adopt.Phases}
	var duration minutes
	var c common
	var force, check bool
	fs.StringVar(&session.Agent, "agent", defaultAgent, "who ran the session: the `NAME` of an agent")
	fs.StringVar(&session.ID, "session-id", "", "the session's `ID` (default: cli- and the time)")
	fs.Var(&phase, "phase", "what the session was about")
	fs.StringVar(&session.Context, "context", "", "the `TEXT` of quick_context, at most 500 characters (default: built from the summaries of STATUS.md and NEXT_ACTIONS.md)")
	fs.Var(&duration, "duration", "how many minutes the session took: `MIN`, of 1 to 9 digits")
	fs.Var(&c.now, "now", "the time to record, `RFC3339` (default: the clock)")
	fs.BoolVar(&force, "force", false, "drop what cannot be carried over, instead of refusing")
	fs.BoolVar(&check, "check", false, "write nothing; exit status 1 unless the file is byte for byte what would be written for the session it records")
	fs.BoolVar(&c.quiet, "quiet", false, "print nothing on standard output")
	paths, err := parse(fs, args, 1)
	if err != nil {
		return err
	}
	if check {
		if other := given(fs, "agent", "session-id", "phase", "context", "duration", "force"); other != "" {
			return usagef("--check and --%s exclude each other", other)
		}
	}
	now, err := c.time()
	if err != nil {
		return err
	}
	if y := now.Year(); y < 0 || y > 9999 {
		return usagef("--now %q is outside of the years 0000 to 9999 in UTC", c.now.value)
	}
	session.Phase, session.Minutes = phase.value, int(duration)
	project, err := openProject(paths)
	if err != nil {
		return err
	}
	a := newAuthoring("manifest", p, project)
	a.quiet = c.quiet
	folder, facts, err := a.open(ctx, now)
	if err != nil {
		return a.failed(err)
	}
	defer folder.Close()
	if check {
		return a.check(folder, session, facts)
	}
	return a.write(folder, session, facts, force)
}

// given names the first of some flags that the command line has.
func given(fs *flag.FlagSet, names ...string) string {
	found := ""
	fs.Visit(func(f *flag.Flag) {
		if found == "" && slices.Contains(names, f.Name) {
			found = f.Name
		}
	})
	return found
}

func (a *authoring) write(folder *adopt.Folder, session adopt.Session, facts adopt.Facts, force bool) error {
	m, err := folder.Generate(session, facts, force)
	if err != nil {
		return a.refused(err)
	}
	for _, w := range m.Warnings {
		a.warn(w)
	}
	if err := folder.Write(m); err != nil {
		return a.failed(err)
	}
	_, err = fmt.Fprintf(a.results(), "wrote %s: %s indexed\ntoken estimate: manifest %d, core %d, full %d\n",
		adopt.ManifestPath, plural.Of(m.Files, "file"), m.Budget.Manifest, m.Budget.Core, m.Budget.Full)
	if err != nil {
		return a.failed(err)
	}
	return nil
}

// refused says what would be lost, and how to go on.
func (a *authoring) refused(err error) error {
	var refusal *adopt.Refusal
	if !errors.As(err, &refusal) {
		return a.failed(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "not written: %s\n", adopt.ManifestPath)
	for _, problem := range refusal.Problems {
		fmt.Fprintf(&b, "  - %s\n", adopt.Show(problem))
	}
	fmt.Fprintf(&b, "fix: correct the file, or run `%s --force` to drop that data\n", a.again("manifest"))
	a.say("%s", b.String())
	return exitStatus(statusFail)
}

// check proves that the manifest is what the generator would write.
func (a *authoring) check(folder *adopt.Folder, session adopt.Session, facts adopt.Facts) error {
	m, stale, err := folder.Check(session, facts)
	switch {
	case errors.Is(err, adopt.ErrNoManifest):
		a.say("%s\nfix: %s\n", err, a.again("manifest"))
		return exitStatus(statusFail)
	case err != nil:
		return a.refused(err)
	}
	for _, w := range m.Warnings {
		a.warn(w)
	}
	var b strings.Builder
	if stale == nil {
		fmt.Fprintf(&b, "up to date: %s: %s indexed\n", adopt.ManifestPath, plural.Of(m.Files, "file"))
	}
	for _, pointer := range stale {
		fmt.Fprintf(&b, "stale: %s\n", adopt.Show(pointer))
	}
	if stale != nil {
		fmt.Fprintf(&b, "fix: %s\n", a.again("manifest"))
	}
	if _, err := io.WriteString(a.results(), b.String()); err != nil {
		return a.failed(err)
	}
	if stale != nil {
		return exitStatus(statusFail)
	}
	return nil
}
