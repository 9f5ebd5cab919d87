package adopt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/disk"
	"github.com/handoff-gate/handoff-gate/gate/integrity"
	"github.com/handoff-gate/handoff-gate/gate/journal"
)

// MakeFolder makes the handoff folder of a project where there is none. project is
// as for OpenFolder, and so is what is refused.
func MakeFolder(project string, hooks Hooks) error {
	root, err := descend(project, func(root *os.Root, name string) (*os.Root, error) { return makeIn(root, name, hooks) })
	if err != nil {
		return err
	}
	root.Close()
	return nil
}

// newFolderMode is the mode of a folder that is made, less the umask.
const newFolderMode = 0o755

// makeIn makes a folder where nothing has the name, and opens it.
func makeIn(root *os.Root, name string, hooks Hooks) (*os.Root, error) {
	if _, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		if hooks.Before != nil {
			if err := hooks.Before("mkdir " + name); err != nil {
				return nil, err
			}
		}
		if err := root.Mkdir(name, newFolderMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("cannot be made: %w", disk.Cause(err))
		}
	}
	return enter(root, name)
}

// InitOptions are the choices of Init.
type InitOptions struct {
	Force     bool // files that are there are written anew, but for those that would lose an entry or a task
	Allowlist bool // write an empty list of permitted addresses, too
}

// Starter is what Init did about one file.
type Starter struct {
	Name     string
	Created  bool // it was written; else it was there and is kept
	Replaced bool // another one was there before
}

// firstTask registers the task that the template of NEXT_ACTIONS.md has.
const firstTask = `{
  "next_task_id": 2,
  "tasks": {
    "T-001": {"title": "Fill in the handoff set of this project", "status": "ready", "priority": "high", "depends_on": []}
  }
}`

// Init writes the files that a handoff set lacks, and a manifest that indexes
// them. It gives what it did about each file, in order, also when it ends in an
// error: a *Refusal of the manifest or a file that cannot be read is found before
// anything is written, a file that cannot be written when its turn comes.
func (f *Folder) Init(o InitOptions, s Session, facts Facts) (done []Starter, warnings []string, err error) {
	names := starters
	if o.Allowlist {
		names = append(slices.Clip(names), allowlistName)
	}
	kept, err := f.keep(names, o.Force)
	if err != nil {
		return nil, nil, err
	}
	manifestKept, err := f.keepManifest(o.Force)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		starter, err := f.start(name, kept[name], o.Force)
		if err != nil {
			return done, nil, called(name, notWritten(err))
		}
		done = append(done, starter)
	}
	manifest := Starter{Name: ManifestName}
	if !manifestKept {
		if manifest, warnings, err = f.startManifest(o, s, facts); err != nil {
			return done, warnings, err
		}
	}
	return append(done, manifest), warnings, nil
}

// keep says which files stay as they are. It fails where a file could not be
// indexed or written later.
func (f *Folder) keep(names []string, force bool) (map[string]bool, error) {
	kept := map[string]bool{}
	for _, name := range slices.Concat(integrity.Canonical, []string{ignoreName, ManifestName}) {
		written := slices.Contains(names, name)
		file, err := f.open(name)
		var kind notRegularError
		switch {
		case err == nil:
			if kept[name] = !force; force && (name == logName || name == ArchiveName) {
				kept[name] = holdsEntry(file)
			}
			file.Close()
		case errors.Is(err, fs.ErrNotExist):
		case errors.Is(err, errBroken), errors.As(err, &kind) && !(force && written):
			kept[name] = !force
		default:
			return nil, called(name, err)
		}
	}
	return kept, nil
}

// holdsEntry tells whether a journal has an entry. One that cannot be read may
// have some.
func holdsEntry(file *handoffFile) bool {
	doc, err := journal.Read(io.NewSectionReader(file, 0, gate.MaxHandoffFile+1))
	return err != nil || len(doc.Entries) > 0
}

// keepManifest tells whether the manifest stays as it is. The error is a *Refusal
// where it is to be written anew and cannot be.
func (f *Folder) keepManifest(force bool) (bool, error) {
	old, err := f.readManifest()
	switch {
	case err != nil:
		return false, called(ManifestName, err)
	case old.data == nil && !f.taken(ManifestName):
		return false, nil
	case !force:
		return true, nil
	case len(old.problems) > 0:
		return false, &Refusal{old.problems}
	}
	return false, nil
}

// taken tells whether anything has a name, a link to nothing too.
func (f *Folder) taken(name string) bool {
	_, err := f.root.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// errTaken says that another run has made the file meanwhile.
var errTaken = errors.New("it is there meanwhile")

// start writes one file, unless it is kept.
func (f *Folder) start(name string, kept, force bool) (Starter, error) {
	s := Starter{Name: name}
	if kept {
		return s, nil
	}
	s.Created, s.Replaced = true, f.taken(name)
	err := f.Replace(name, bytes.NewReader(template(name)), func() error {
		if !force && f.taken(name) {
			return errTaken
		}
		return nil
	})
	if errors.Is(err, errTaken) {
		return Starter{Name: name}, nil
	}
	return s, err
}

// startManifest writes the first manifest of the set, or with force another one.
// The task that the template of NEXT_ACTIONS.md has is registered where both are
// new.
func (f *Folder) startManifest(o InitOptions, s Session, facts Facts) (Starter, []string, error) {
	starter := Starter{Name: ManifestName, Created: true, Replaced: f.taken(ManifestName)}
	if starter.Replaced && !o.Force {
		return Starter{Name: ManifestName}, nil, nil // another run was faster
	}
	old, err := f.readManifest()
	if err != nil {
		return starter, nil, called(ManifestName, err)
	}
	if old.data == nil && f.isTemplate(nextName) {
		old = readPrevious([]byte(firstTask))
	}
	m := &Manifest{previous: old}
	if err := f.generate(m, s, facts, false); err != nil {
		return starter, nil, err
	}
	err = f.Replace(ManifestName, bytes.NewReader(m.Data), func() error {
		if !o.Force && f.taken(ManifestName) {
			return errTaken
		}
		return nil
	})
	if errors.Is(err, errTaken) {
		return Starter{Name: ManifestName}, nil, nil
	}
	if err != nil {
		return starter, m.Warnings, called(ManifestName, notWritten(err))
	}
	return starter, m.Warnings, nil
}

func notWritten(err error) error { return fmt.Errorf("was not written: %w", err) }

// isTemplate tells whether a file is as Init writes it: by this run, or by one
// that was cut short before it made the manifest.
func (f *Folder) isTemplate(name string) bool {
	want := template(name)
	got, err := f.read(name, int64(len(want)))
	return err == nil && bytes.Equal(got, want)
}
