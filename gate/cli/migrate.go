package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/handoff-gate/handoff-gate/gate/adopt"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
)

var migrateCommand = command{
	name: "migrate", args: "[PATH]", summary: "Bring an older handoff set up to date",
	text: `
Removes from the manifest of PATH (default: the current folder) the fields of tasks
that a template has left as placeholders, regenerates it, and writes .aiignore
where there is none. What is left for a person to do is listed; no other file is
changed.
`,
	exits: exits("done or not wanted", "refused or failed", "used wrongly or no handoff set"),
	run:   runMigrate,
}

var groundingCommand = command{
	name: "migrate-grounding", args: "[PATH]", summary: "Add what the grounding of claims needs",
	text: `
Adds the section "## Provenance" to the end of TRUST.md where it has none, writes
GROUNDING.md where there is none, and regenerates the manifest if there is one.
Rows that are there are never changed. It asks nothing.
`,
	exits: exits("done", "refused or failed", "used wrongly or no handoff set"),
	run:   runMigrateGrounding,
}

// beginAuthoring reads the command line of a command that writes a handoff set, and
// opens the set.
func beginAuthoring(ctx context.Context, p Process, fs *flag.FlagSet, args []string) (*authoring, *adopt.Folder, adopt.Facts, error) {
	paths, err := parse(fs, args, 1)
	if err != nil {
		return nil, nil, adopt.Facts{}, err
	}
	project, err := openProject(paths)
	if err != nil {
		return nil, nil, adopt.Facts{}, err
	}
	a := newAuthoring(fs.Name(), p, project)
	folder, facts, err := a.open(ctx, time.Now().UTC())
	if err != nil {
		return nil, nil, adopt.Facts{}, a.failed(err)
	}
	return a, folder, facts, nil
}

func runMigrate(ctx context.Context, p Process, args []string) error {
	fs := flag.NewFlagSet("migrate", flag.ContinueOnError)
	var yes bool
	fs.BoolVar(&yes, "yes", false, "do not ask before an existing manifest is changed")
	fs.BoolVar(&yes, "y", false, "the same as --yes")
	a, folder, facts, err := beginAuthoring(ctx, p, fs, args)
	if err != nil {
		return err
	}
	defer folder.Close()
	plan, err := folder.PlanMigration()
	if err == nil && plan.Exists && !yes {
		if err := a.agreed(ctx, plan); err != nil {
			return err
		}
		plan, err = folder.PlanMigration() // the answer may have taken its time
	}
	var required *adopt.RequiredError
	switch {
	case errors.As(err, &required):
		return a.requires(required)
	case err != nil:
		return a.refused(err)
	}
	m, ignore, err := folder.Migrate(plan, facts)
	if m == nil {
		return a.refused(err)
	}
	for _, w := range m.Warnings {
		a.warn(w)
	}
	changed := migrated(plan, m, ignore)
	if err != nil { // of what comes after the manifest
		return errors.Join(a.lists(changed, nil), a.failed(err))
	}
	review, err := folder.Review()
	if err != nil {
		return errors.Join(a.lists(changed, nil), a.failed(err))
	}
	return a.lists(changed, a.left(review))
}

// requires says which placeholders can be neither removed nor guessed.
func (a *authoring) requires(required *adopt.RequiredError) error {
	var b strings.Builder
	fmt.Fprintf(&b, "handoff-gate %s: placeholders stand in fields that every task must have; nothing was changed:\n", a.command)
	for _, field := range required.Fields {
		fmt.Fprintf(&b, "  - %s\n", field)
	}
	fmt.Fprintf(&b, "fix: write what is meant into these fields of %s, then run `%s`\n", adopt.ManifestPath, a.again(a.command))
	a.say("%s", b.String())
	return exitStatus(statusFail)
}

// agreed asks whether the manifest is to be changed; nil is a yes.
func (a *authoring) agreed(ctx context.Context, plan *adopt.Migration) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s exists and will be regenerated.\n", adopt.ManifestPath)
	if len(plan.Removed) > 0 {
		b.WriteString("These placeholders in it will be removed:\n")
	}
	for _, r := range plan.Removed {
		fmt.Fprintf(&b, "  - %s\n", r)
	}
	b.WriteString("Go on? y or n\n")
	if _, err := io.WriteString(a.results(), b.String()); err != nil {
		return a.failed(err)
	}
	answer, err := readLine(ctx, a.process.Stdin)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return a.failed(fmt.Errorf("there is no answer on standard input, so nothing was changed; `%s --yes` asks no question", a.again(a.command)))
	case answer == "y" || answer == "Y":
		return nil
	}
	if _, err := io.WriteString(a.results(), "Aborted.\n"); err != nil {
		return a.failed(err)
	}
	return exitStatus(statusPass)
}

// maxAnswer is how much of a line of standard input counts.
const maxAnswer = 256

// readLine reads one line without its end, and not a byte more; of a long one the
// beginning. The error is io.EOF where there is none, or why reading failed.
func readLine(ctx context.Context, r io.Reader) (string, error) {
	if r == nil {
		return "", io.EOF
	}
	type result struct {
		line []byte
		err  error
	}
	read := make(chan result, 1) // whoever never answers must not keep the run from being ended
	go func() {
		var line []byte
		for b := make([]byte, 1); ; {
			n, err := r.Read(b)
			if n > 0 && b[0] == '\n' {
				read <- result{line: line}
				return
			}
			if n > 0 && len(line) < maxAnswer {
				line = append(line, b[0])
			}
			if err == io.EOF && len(line) > 0 {
				err = nil
				read <- result{line: line}
				return
			}
			if err != nil {
				read <- result{err: err}
				return
			}
		}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case got := <-read:
		return strings.TrimSuffix(string(got.line), "\r"), got.err
	}
}

// migrated says what was done.
func migrated(plan *adopt.Migration, m *adopt.Manifest, ignore bool) []string {
	var changed []string
	for _, r := range plan.Removed {
		changed = append(changed, adopt.ManifestName+": removed "+r.String())
	}
	verb := "created"
	if plan.Exists {
		verb = "regenerated"
	}
	changed = append(changed, fmt.Sprintf("%s: %s, %s indexed", adopt.ManifestName, verb, plural.Of(m.Files, "file")))
	if ignore {
		changed = append(changed, ".aiignore: created")
	}
	return changed
}

// left says what a person has to do.
func (a *authoring) left(r adopt.Review) []string {
	var out []string
	if r.NoStatus {
		out = append(out, "STATUS.md: there is none; `"+a.again("init")+"` writes a template of each file that is missing")
	}
	if r.NoSummary {
		out = append(out, "STATUS.md: put a line <!-- SECTION: summary --> above its summary")
	}
	switch {
	case r.LogProblem != nil:
		out = append(out, "LOG.md: its entries cannot be counted: "+r.LogProblem.Error())
	case r.LogEntries > keptEntries:
		out = append(out, fmt.Sprintf("LOG.md: it has %s; `%s` moves all but %d into the archive", plural.Of(r.LogEntries, "entry"), a.again("archive"), keptEntries))
	}
	if r.NoTTL {
		out = append(out, "TRUST.md: add a column TTL that says how long each row holds, and in Expires the date until when, which `verify` reads")
	}
	return out
}

// lists prints what a migration did, and apart from it what it left.
func (a *authoring) lists(changed, left []string) error {
	var b strings.Builder
	for _, list := range []struct {
		title string
		items []string
	}{{"Changed:", changed}, {"Left for you:", left}} {
		b.WriteString(list.title + "\n")
		for _, item := range list.items {
			fmt.Fprintf(&b, "  - %s\n", adopt.Show(item))
		}
		if len(list.items) == 0 {
			b.WriteString("  nothing\n")
		}
	}
	if _, err := io.WriteString(a.results(), b.String()); err != nil {
		return a.failed(err)
	}
	return nil
}

func runMigrateGrounding(ctx context.Context, p Process, args []string) error {
	fs := flag.NewFlagSet("migrate-grounding", flag.ContinueOnError)
	fs.Bool("force", false, "taken, and without a meaning here")
	a, folder, facts, err := beginAuthoring(ctx, p, fs, args)
	if err != nil {
		return err
	}
	defer folder.Close()
	g, err := folder.Ground(facts)
	if g == nil {
		return a.refused(err)
	}
	if g.Manifest != nil {
		for _, w := range g.Manifest.Warnings {
			a.warn(w)
		}
	}
	if _, printErr := io.WriteString(a.results(), a.grounded(g, err == nil)); printErr != nil {
		return a.failed(errors.Join(err, printErr))
	}
	if err != nil {
		return a.refused(err)
	}
	return nil
}

// grounded says what was done; finished is false where an error came between.
func (a *authoring) grounded(g *adopt.Grounding, finished bool) string {
	var b strings.Builder
	switch {
	case g.NoTrust:
		b.WriteString("TRUST.md: there is none; skipped\n")
	case g.Section:
		b.WriteString("TRUST.md: added the section \"## Provenance\"\n")
	case finished:
		b.WriteString("TRUST.md: kept; it has the section \"## Provenance\"\n")
	}
	if g.NoColumn {
		b.WriteString("TRUST.md: no table has a column Provenance; it is still to be added by hand\n")
	}
	switch {
	case g.NewGrounding:
		b.WriteString("GROUNDING.md: created\n")
	case finished:
		b.WriteString("GROUNDING.md: kept\n")
	}
	switch {
	case g.NoManifest:
		fmt.Fprintf(&b, "MANIFEST.json: there is none; `%s` makes it\n", a.again("manifest"))
	case g.Manifest != nil:
		fmt.Fprintf(&b, "MANIFEST.json: regenerated, %s indexed\n", plural.Of(g.Manifest.Files, "file"))
	case finished:
		b.WriteString("MANIFEST.json: up to date\n")
	}
	return b.String()
}
