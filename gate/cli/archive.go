package cli

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/adopt"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/journal"
)

// keptEntries is how many entries the log keeps, where no flag says otherwise.
const keptEntries = 10

var archiveCommand = command{
	name: "archive", args: "[PATH]", summary: "Move old entries of LOG.md to its archive, or verify that",
	text: `
Keeps the newest entries of .ai/handoff/LOG.md, those at its top, and moves the
others to the top of LOG-ARCHIVE.md; LOG-ARCHIVE.index.json records a digest of
each. An entry begins with ## [YYYY-MM-DD]. A run that is cut short loses nothing,
and the next one completes it. MANIFEST.json is left alone: regenerate it next.
`,
	exits: exits("done", "refused, failed or not verified", "used wrongly or no handoff set"),
	run:   runArchive,
}

// entryCount is a flag that is a whole number of at least 1.
type entryCount int

func (n *entryCount) String() string { return strconv.Itoa(int(*n)) }

func (n *entryCount) Set(s string) error {
	digits := strings.TrimLeft(s, "0")
	if digits == "" || strings.Trim(s, "0123456789") != "" {
		return errors.New("it must be a whole number of at least 1")
	}
	value, err := strconv.Atoi(digits)
	if err != nil {
		value = math.MaxInt // no log has so many
	}
	*n = entryCount(value)
	return nil
}

// archiveMemory is what the heap may grow to before the collector works harder, in
// bytes. What a journal needs is a small part of its size, and twice of that would
// be much for a journal of many small entries.
const archiveMemory = 64 << 20

func runArchive(ctx context.Context, p Process, args []string) error {
	fs := flag.NewFlagSet("archive", flag.ContinueOnError)
	keep := entryCount(keptEntries)
	var verify, reindex bool
	fs.Var(&keep, "keep", "how many entries the log keeps, `N`")
	fs.BoolVar(&verify, "verify", false, "write nothing; exit status 1 when the archive has lost or changed an entry that the index records, or the log has more than N entries")
	fs.BoolVar(&reindex, "reindex", false, "make the index anew from the archive as it is, after a deliberate redaction, and list what that changes")
	paths, err := parse(fs, args, 1)
	if err != nil {
		return err
	}
	if verify && reindex {
		return usagef("--verify and --reindex exclude each other")
	}
	project, err := openProject(paths)
	if err != nil {
		return err
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(min(archiveMemory, debug.SetMemoryLimit(-1))))
	a := &archiving{authoring: newAuthoring("archive", p, project), keep: int(keep)}
	boundary, err := a.boundary(ctx)
	if err != nil {
		return a.failed(err)
	}
	folder, err := a.folder(ctx, boundary)
	if err != nil {
		return a.failed(err)
	}
	defer folder.Close()
	if !verify {
		if err := folder.LockJournal(); err != nil {
			return a.failed(err)
		}
	}
	read := folder.ReadLog
	if reindex {
		read = folder.ReadArchive
	}
	journal, err := read()
	if err != nil {
		return a.unsound(err)
	}
	defer journal.Close()
	// Nothing ends a run between two files but a kill; so not when it was to end.
	if err := ctx.Err(); err != nil {
		return err
	}
	switch {
	case verify:
		return a.verify(journal)
	case reindex:
		return a.reindex(journal)
	}
	return a.rotate(journal)
}

// archiving is a run of the archive command.
type archiving struct {
	*authoring
	keep int
	err  error // of reading a title
}

// named names an entry by what the index records of it.
func named(digest, title string) string { return adopt.ShowCut(digest) + " " + adopt.ShowCut(title) }

// more says how many are not listed.
func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("  - and %d more\n", n)
}

// maxListed is how many entries a warning lists.
const maxListed = 20

// title notes that a title could not be read, for the end of the run.
func (a *archiving) title(title string, err error) string {
	a.err = errors.Join(a.err, err)
	return title
}

// unsound says why a journal cannot be worked on.
func (a *archiving) unsound(err error) error {
	var problems *adopt.JournalProblems
	var index *adopt.IndexError
	switch {
	case errors.As(err, &index):
		a.say("handoff-gate archive: %s\nfix: restore it from git (%s), or remove it and run `%s`\n",
			adopt.Show(err.Error()), a.restore(adopt.IndexName), a.again("archive")+" --reindex")
		return exitStatus(statusFail)
	case !errors.As(err, &problems):
		return a.failed(err)
	}
	lost := false
	var b strings.Builder
	for _, p := range problems.Named {
		what := adopt.ArchiveName + " holds an entry twice"
		switch p.Kind {
		case journal.ArchivedTwice:
		case journal.IndexedTwice:
			what = adopt.IndexName + " records an entry twice"
		case journal.Lost:
			lost = true
			what = adopt.ArchiveName + " no longer holds an entry that " + adopt.IndexName + " records"
		}
		fmt.Fprintf(&b, "  - %s: %s\n", what, named(p.Digest, p.Title))
	}
	a.say("handoff-gate archive: %s; nothing was written\n%s%s", problems, b.String(), more(problems.Count-len(problems.Named)))
	if lost {
		a.say("fix: restore the entry from git (%s, or an earlier commit); for a deliberate redaction run `%s`\n",
			a.restore(adopt.ArchiveName), a.again("archive")+" --reindex")
	} else {
		a.say("fix: remove the second one by hand, and run `%s` again\n", a.again("archive"))
	}
	return exitStatus(statusFail)
}

// restore is the command that brings a file of the set back.
func (a *archiving) restore(name string) string {
	return adopt.Show("git checkout HEAD -- " + safetext.ShellQuote(path.Join(filepath.ToSlash(a.project.given), gate.HandoffDir, name)))
}

// next prints results, and what comes after.
func (a *archiving) next(text string) error {
	if _, err := fmt.Fprintf(a.results(), "%snext: %s\n", text, a.again("manifest")); err != nil {
		return a.failed(err)
	}
	return nil
}

func (a *archiving) rotate(j *adopt.Journal) error {
	r, err := j.Rotate(a.keep)
	if err != nil {
		return a.failed(err)
	}
	if len(r.Moved) == 0 {
		_, err := fmt.Fprintf(a.results(), "nothing to archive: LOG.md has %s, and keeps %d\n", plural.Of(len(r.Kept), "entry"), a.keep)
		if err != nil {
			return a.failed(err)
		}
		return nil
	}
	return a.next(fmt.Sprintf("archived %s; LOG.md keeps %d\n", plural.Of(len(r.Moved), "entry"), len(r.Kept)))
}

func (a *archiving) verify(j *adopt.Journal) error {
	unindexed := j.Unindexed()
	if len(unindexed) > 0 {
		a.warn(fmt.Sprintf("%s of %s not on record in %s, so no change of it would be noticed:", plural.Of(len(unindexed), "entry"), adopt.ArchiveName, adopt.IndexName))
		var b strings.Builder
		for _, e := range unindexed[:min(len(unindexed), maxListed)] {
			fmt.Fprintf(&b, "  - %s\n", named(e.Digest.String(), a.title(j.Archive.Title(e))))
		}
		a.say("%s%s", b.String(), more(len(unindexed)-maxListed))
	}
	if n := len(j.Log.Entries); n > a.keep {
		command := a.again("archive")
		if a.keep != keptEntries {
			command += " --keep " + strconv.Itoa(a.keep)
		}
		a.say("handoff-gate archive: LOG.md has %s, and is to keep %d\nfix: %s\n", plural.Of(n, "entry"), a.keep, command)
		return exitStatus(statusFail)
	}
	if a.err != nil {
		return a.failed(a.err)
	}
	archived := 0
	if j.Archive != nil {
		archived = len(j.Archive.Entries)
	}
	_, err := fmt.Fprintf(a.results(), "verified: LOG.md has %s, LOG-ARCHIVE.md %s, %d of them as the index records them\n",
		plural.Of(len(j.Log.Entries), "entry"), plural.Of(archived, "entry"), archived-len(unindexed))
	if err != nil {
		return a.failed(err)
	}
	return nil
}

func (a *archiving) reindex(j *adopt.Journal) error {
	r, changed, err := j.Reindex()
	if err != nil {
		return a.failed(err)
	}
	n := plural.Of(len(j.Archive.Entries), "entry")
	if !changed {
		if _, err := fmt.Fprintf(a.results(), "%s is up to date: %s\n", adopt.IndexName, n); err != nil {
			return a.failed(err)
		}
		return nil
	}
	unexplained, err := r.Unexplained()
	if err != nil {
		return a.failed(err)
	}
	for i, e := range unexplained {
		if i == maxListed {
			a.warn(fmt.Sprintf("as do %d more", len(unexplained)-i))
			break
		}
		a.warn(fmt.Sprintf("the newly recorded entry %s holds no \"[redacted: <reason>]\", the only edit that the protocol allows", named(e.Digest.String(), a.title(j.Archive.Title(e)))))
	}
	// There may be as many lines as entries, so they are not held.
	b := bufio.NewWriter(a.results())
	line := func(format string, args ...any) {
		_, _ = fmt.Fprintf(b, format+"\n", args...) // Flush gives the first error.
	}
	line("reindexed %s: %s", adopt.IndexName, n)
	for _, x := range r.Dropped {
		line("dropped %s %s", adopt.Show(x.Digest()), adopt.Show(a.title(j.Index.Title(x))))
	}
	for _, e := range r.Recorded {
		line("recorded %s %s", e.Digest, adopt.Show(a.title(j.Archive.Title(e))))
	}
	line("unchanged %d", r.Unchanged)
	line("Any edit of the archive is accepted as it is, meant or not: look at each line above.")
	if err := errors.Join(a.err, b.Flush()); err != nil {
		return a.failed(err)
	}
	return a.next("")
}
