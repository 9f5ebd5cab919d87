package adopt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/journal"
	"github.com/handoff-gate/handoff-gate/schema"
)

// Placeholder is a field of a task that a template has left to fill in and that is
// no valid value.
type Placeholder struct {
	Task, Field string
	Value       string
}

func (p Placeholder) String() string {
	return fmt.Sprintf("%s %s \"%s\"", ShowCut(p.Task), ShowCut(p.Field), ShowCut(p.Value))
}

// RequiredError says that fields which every task must have are placeholders, so
// that they can be neither removed nor guessed.
type RequiredError struct{ Fields []Placeholder }

func (e *RequiredError) Error() string {
	var all []string
	for _, f := range e.Fields {
		all = append(all, f.String())
	}
	return ManifestPath + " has placeholders in fields that a task must have: " + strings.Join(all, ", ")
}

// Migration is what is to be done to a manifest.
type Migration struct {
	Exists  bool          // there is a manifest
	Removed []Placeholder // the fields that go

	previous *previous
}

// PlanMigration examines the manifest. The error is a *RequiredError, a *Refusal
// for what cannot be carried over, or one of reading.
func (f *Folder) PlanMigration() (*Migration, error) {
	if err := f.mayBeWritten(ignoreName); err != nil {
		return nil, err
	}
	old, err := f.readManifest()
	if err != nil {
		return nil, called(ManifestName, err)
	}
	m := &Migration{Exists: old.data != nil, previous: old}
	required := m.examine()
	if len(required) > 0 {
		return nil, &RequiredError{required}
	}
	if len(old.problems) > 0 {
		return nil, &Refusal{old.problems}
	}
	return m, nil
}

// mayBeWritten makes sure that a file is none whose link leads outside.
func (f *Folder) mayBeWritten(name string) error {
	file, err := f.open(name)
	var kind notRegularError
	switch {
	case err == nil:
		file.Close()
		return nil
	case isNone(err), errors.As(err, &kind):
		return nil
	}
	return called(name, err)
}

var taskID = regexp.MustCompile(`^T-[0-9]{3,}$`)

// requiredFields are those that every task must have.
var requiredFields = []string{"status", "title"}

// examine takes the placeholders out of the registry, and gives those that cannot
// be taken out. The document itself is not touched: what is written is made of it
// token by token.
func (m *Migration) examine() (required []Placeholder) {
	tasks := m.previous.tasks
	if !tasks.value.Is(jsondoc.Object) {
		return nil
	}
	registry := without(tasks.value)
	registry.Members = slices.Clone(tasks.value.Members)
	for i, task := range registry.Members {
		if !task.Value.Is(jsondoc.Object) || !taskID.MatchString(task.Key) {
			continue
		}
		kept := without(task.Value)
		for _, field := range task.Value.Members {
			p := Placeholder{task.Key, field.Key, field.Value.Text}
			switch {
			case !isPlaceholder(field):
				kept.Members = append(kept.Members, field)
			case slices.Contains(requiredFields, field.Key):
				required = append(required, p)
			default:
				m.Removed = append(m.Removed, p)
			}
		}
		registry.Members[i].Value = kept
	}
	m.previous.tasks.value = registry
	return required
}

// without gives an object without its members.
func without(v *jsondoc.Value) *jsondoc.Value {
	return &jsondoc.Value{Kind: v.Kind, Off: v.Off, End: v.End}
}

// isPlaceholder tells whether the value of a task's field looks like one, as a
// whole, and the manifest's schema rejects it there.
func isPlaceholder(field jsondoc.Member) bool {
	if !field.Value.Is(jsondoc.String) || !schema.Placeholder(field.Value.Text) {
		return false
	}
	task := map[string]any{"title": "A task", "status": "ready"}
	task[field.Key] = field.Value.Text
	manifest := schema.Get(schema.Manifest)
	return manifest.Part(manifest.Root.Location+"/$defs/task").Validate(task) != nil
}

// Migrate writes the manifest as it was planned, in one step with the removals,
// and the file .aiignore where there is none. It tells whether it wrote that.
func (f *Folder) Migrate(plan *Migration, facts Facts) (m *Manifest, ignore bool, err error) {
	s := Session{
		Agent: "migration-script", ID: "migrate-" + strconv.FormatInt(facts.Now.Unix(), 10), Phase: "idle", KeepContext: true,
	}
	m = &Manifest{previous: plan.previous}
	if err := f.generate(m, s, facts, false); err != nil {
		return nil, false, err
	}
	if err := f.Write(m); err != nil {
		return nil, false, err
	}
	starter, err := f.start(ignoreName, f.taken(ignoreName), false)
	if err != nil {
		return m, false, called(ignoreName, notWritten(err))
	}
	return m, starter.Created, nil
}

// Review is what a handoff set has that a person has to look at.
type Review struct {
	NoStatus   bool  // there is no STATUS.md
	NoSummary  bool  // STATUS.md marks no summary
	LogEntries int   // of LOG.md
	LogProblem error // why they cannot be counted
	NoTTL      bool  // TRUST.md says nothing of a TTL
}

// Review looks at the files that Migrate does not change.
func (f *Folder) Review() (Review, error) {
	var r Review
	status, there, err := f.text(statusName)
	if err != nil {
		return r, err
	}
	r.NoStatus, r.NoSummary = !there, there && !marksSummary(status)
	trust, there, err := f.text(trustName)
	if err != nil {
		return r, err
	}
	r.NoTTL = there && !bytes.Contains(trust, []byte("TTL"))
	r.LogEntries, r.LogProblem = f.countEntries()
	return r, nil
}

// text reads a text of the folder; there is false where there is none.
func (f *Folder) text(name string) (text []byte, there bool, err error) {
	text, err = f.read(name, gate.MaxHandoffFile)
	var kind notRegularError
	switch {
	case err == nil:
		return text, true, nil
	case isNone(err), errors.As(err, &kind):
		return nil, false, nil
	}
	return nil, false, called(name, err)
}

func marksSummary(text []byte) bool {
	for line := range bytes.Lines(text) {
		if sectionMarker.Match(line) {
			return true
		}
	}
	return false
}

func (f *Folder) countEntries() (int, error) {
	file, err := f.openJournalFile(logName)
	if file == nil {
		return 0, err
	}
	defer file.Close()
	doc, err := journal.Read(io.NewSectionReader(file, 0, gate.MaxHandoffFile+1))
	if err != nil {
		return 0, err
	}
	return len(doc.Entries), nil
}
