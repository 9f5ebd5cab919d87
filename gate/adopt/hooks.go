package adopt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/disk"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/internal/wholefile"
)

// GitHook is one of the hooks that are installed.
type GitHook struct {
	Name  string
	Level gate.Level // the level that the gate runs at
	what  string     // that is verified, for people
}

// GitHooks are the hooks that are installed (aahp-authoring.md 8).
var GitHooks = []GitHook{{"pre-commit", gate.Precommit, "commit"}, {"pre-push", gate.Prepush, "push"}}

// hookMarker is the line by which a hook of ours is known.
const hookMarker = "# handoff-gate hook"

// HookSettings say what hooks call.
type HookSettings struct {
	Project string // relative to the repository's top level, with slashes
	Program string // where this program is; "" where that is not known
}

// Command is what a hook runs, of the program of that name.
func (h GitHook) Command(program string, s HookSettings) string {
	return h.command(program, safetext.ShellPath(s.Project))
}

func (h GitHook) command(program, word string) string {
	return program + " verify " + word + h.suffix()
}

func (h GitHook) suffix() string { return " --level " + string(h.Level) }

// The two ways in which a line of a hook runs the gate: as the last thing that the
// hook does, or as one of several.
const (
	runAlone = `exec "$gate"`
	runOne   = "gate"
)

// script is the hook itself, for a POSIX shell. git runs it at the top level. others
// are the other projects that it verifies, as words of the shell.
func (h GitHook) script(s HookSettings, others []string) []byte {
	run := h.Command(runAlone, s)
	if len(others) > 0 {
		words := append([]string{safetext.ShellPath(s.Project)}, others...)
		slices.Sort(words)
		lines := []string{"status=0", runOne + `() { "$gate" "$@" || status=$?; }`}
		for _, word := range words {
			lines = append(lines, h.command(runOne, word))
		}
		run = strings.Join(append(lines, `exit "$status"`), "\n")
	}
	text := strings.NewReplacer(
		"WHAT", h.what,
		"RECORDED", safetext.ShellQuote(filepath.ToSlash(s.Program)),
		"RUN", run,
	).Replace(hookTemplate)
	return []byte(text)
}

// others gives the other projects that a hook of ours verifies and that still have a
// handoff folder, as words of the shell: a monorepo has one hook for all its projects.
func (h GitHook) others(script []byte, place HookPlace, s HookSettings) []string {
	var words []string
	for line := range strings.Lines(string(script)) {
		line = strings.TrimSuffix(line, "\n")
		_, rest, found := strings.Cut(line, " verify ")
		word := strings.TrimSuffix(rest, h.suffix())
		if !found || (line != h.command(runAlone, word) && line != h.command(runOne, word)) {
			continue
		}
		project, ok := safetext.ShellUnquote(word)
		if !ok || word == safetext.ShellPath(s.Project) || slices.Contains(words, word) {
			continue
		}
		if _, err := os.Stat(filepath.Join(place.Top, filepath.FromSlash(project), filepath.FromSlash(gate.HandoffDir))); err == nil {
			words = append(words, word)
		}
	}
	return words
}

const hookTemplate = `#!/bin/sh
` + hookMarker + `
# It verifies the handoff set before each WHAT. Written by "handoff-gate hooks install",
# which replaces it; AAHP_SKIP_VERIFY=1 lets one WHAT through.

if [ "${AAHP_SKIP_VERIFY:-}" = 1 ]; then
	echo 'handoff-gate: AAHP_SKIP_VERIFY=1 is set: this WHAT is not verified' >&2
	exit 0
fi

recorded=RECORDED
if [ -f "${HANDOFF_GATE:-}" ] && [ -x "${HANDOFF_GATE:-}" ]; then
	gate=$HANDOFF_GATE
elif [ -f "$recorded" ] && [ -x "$recorded" ]; then
	gate=$recorded
elif ! gate=$(command -v handoff-gate); then
	echo 'handoff-gate: the program is not found, so this WHAT cannot be verified.' >&2
	echo 'Install it, or name it in the variable HANDOFF_GATE; AAHP_SKIP_VERIFY=1 goes on without.' >&2
	exit 1
fi
RUN
`

// HookPlace is where git runs hooks from. All three are absolute.
type HookPlace struct {
	Dir    string // the folder; it may not be there
	Top    string // the top level of the work tree
	Common string // git's own folder, which linked worktrees share
}

// ErrSharedHooks says that hooks run from a folder outside of the repository, which
// serves others as well.
var ErrSharedHooks = errors.New("hooks run from a folder outside of the repository")

// InstalledHook is what InstallHooks did about one hook.
type InstalledHook struct {
	Name    string
	Written bool     // else it was there already
	Others  []string // the other projects that it verifies, as words of a shell
	Backup  string   // the file that keeps the hook that was there; "" where none was
	Made    bool     // the backup was made now; else it was there already
}

// InstallHooks writes the hooks. Another hook in their place is copied beside it
// first. Nothing is written where one of the hooks cannot be. The error is
// ErrSharedHooks, or says why a file cannot be read or written.
func InstallHooks(place HookPlace, s HookSettings, hooks Hooks) (done []InstalledHook, err error) {
	d, err := openHookDir(place, hooks)
	if err != nil {
		return nil, err
	}
	defer d.root.Close()
	plans := make([]hookPlan, len(GitHooks))
	for i, h := range GitHooks {
		if plans[i], err = d.plan(h, place, s); err != nil {
			return nil, fmt.Errorf("%s: %w", h.Name, err)
		}
	}
	for _, p := range plans {
		installed, err := d.install(p)
		if err != nil {
			return done, fmt.Errorf("%s: %w", p.name, err)
		}
		done = append(done, installed)
	}
	return done, nil
}

// hookDir is the folder of the hooks.
type hookDir struct {
	root *os.Root
	dir  string // absolute, links resolved
	ops  wholefile.Folder
}

// openHookDir opens the folder, made as needed, which lies in the work tree or in
// git's own folder.
func openHookDir(place HookPlace, hooks Hooks) (*hookDir, error) {
	for _, boundary := range []string{place.Top, place.Common} {
		boundary, err := filepath.EvalSymlinks(boundary)
		if err != nil {
			return nil, disk.Cause(err)
		}
		rel, err := disk.Follow(boundary, place.Dir)
		if errors.Is(err, disk.ErrOutside) {
			continue
		}
		missing := errors.Is(err, fs.ErrNotExist)
		if err != nil && !missing {
			return nil, err
		}
		root, err := openBelow(boundary, rel, missing, hooks)
		if err != nil {
			return nil, disk.Cause(err)
		}
		return &hookDir{
			root: root, dir: filepath.Join(boundary, filepath.FromSlash(rel)), ops: wholefile.Watch(wholefile.InRoot(root), hooks.Before),
		}, nil
	}
	return nil, ErrSharedHooks
}

// openBelow opens a folder below another one and never outside of it.
func openBelow(boundary, rel string, missing bool, hooks Hooks) (*os.Root, error) {
	root, err := os.OpenRoot(boundary)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if missing {
		if hooks.Before != nil {
			if err := hooks.Before("mkdir hooks"); err != nil {
				return nil, err
			}
		}
		if err := root.MkdirAll(filepath.FromSlash(rel), newFolderMode); err != nil {
			return nil, err
		}
	}
	return root.OpenRoot(filepath.FromSlash(rel))
}

const (
	hookMode = 0o755
	maxHook  = 16 << 20
)

// hookPlan is what is to be done about one hook.
type hookPlan struct {
	name   string
	script []byte
	others []string  // the other projects that the hook verifies
	before *hookFile // what is there; nil for nothing
	backup bool      // which is to be kept
}

// hookFile is a file that stands in the place of a hook or of its backup.
type hookFile struct {
	data []byte // of its target, where it is a link
	mode fs.FileMode
	link bool
}

func (d *hookDir) plan(h GitHook, place HookPlace, s HookSettings) (hookPlan, error) {
	p := hookPlan{name: h.Name}
	before, err := d.read(h.Name)
	if err != nil {
		return p, err
	}
	p.before = before
	if before != nil && before.data != nil {
		p.backup = !isOurs(before.data)
	}
	if before != nil && !p.backup {
		p.others = h.others(before.data, place, s)
	}
	p.script = h.script(s, p.others)
	return p, nil
}

// isOurs tells whether a hook was written by InstallHooks.
func isOurs(script []byte) bool {
	for line := range bytes.Lines(script) {
		if string(bytes.TrimRight(line, " \t\r\n")) == hookMarker {
			return true
		}
	}
	return false
}

// read reads what stands in the place of a hook; nil for nothing. The data is nil
// where it is a link to nothing.
func (d *hookDir) read(name string) (*hookFile, error) {
	info, err := d.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, disk.Cause(err)
	}
	f := &hookFile{mode: info.Mode(), link: info.Mode()&fs.ModeSymlink != 0}
	file := filepath.Join(d.dir, name)
	if f.link {
		// git runs what a link leads to, wherever that is, so that is what a backup keeps.
		file, err = filepath.EvalSymlinks(file)
		if errors.Is(err, fs.ErrNotExist) {
			return f, nil
		}
		if err != nil {
			return nil, disk.Cause(err)
		}
	}
	f.data, f.mode, err = readHook(file)
	return f, err
}

// readHook reads a regular file that is reached through no link, and never waits
// for a pipe.
func readHook(file string) ([]byte, fs.FileMode, error) {
	tree, err := disk.Open(filepath.Dir(file))
	if err != nil {
		return nil, 0, disk.Cause(err)
	}
	defer tree.Close()
	r, entry, err := tree.Open(filepath.Base(file))
	if errors.Is(err, gate.ErrNotRegular) {
		return nil, 0, notRegularError{entry.Kind}
	}
	if err != nil {
		return nil, 0, disk.Cause(err)
	}
	defer r.Close()
	info, err := os.Lstat(file)
	if err != nil {
		return nil, 0, disk.Cause(err)
	}
	data, err := io.ReadAll(io.LimitReader(r, maxHook+1))
	if err != nil {
		return nil, 0, disk.Cause(err)
	}
	if len(data) > maxHook {
		return nil, 0, errTooLarge
	}
	return append([]byte{}, data...), info.Mode(), nil
}

func (d *hookDir) install(p hookPlan) (InstalledHook, error) {
	done := InstalledHook{Name: p.name, Others: p.others}
	if b := p.before; b != nil && !b.link && b.mode.Perm() == hookMode && bytes.Equal(b.data, p.script) {
		return done, nil
	}
	if p.backup {
		var err error
		if done.Backup, done.Made, err = d.keep(p); err != nil {
			return done, err
		}
	}
	done.Written = true
	return done, disk.Cause(replace(d.ops, replacement{
		name: p.name, content: bytes.NewReader(p.script), replaces: true, mode: hookMode,
		before: func() error {
			now, err := d.read(p.name)
			if err != nil {
				return err
			}
			if now != nil && now.data != nil && !now.same(p.before) && !isOurs(now.data) {
				return errors.New("another hook was written meanwhile, and nothing keeps it")
			}
			return nil
		},
	}))
}

// same tells whether a file has the same bytes and mode as another one.
func (f *hookFile) same(other *hookFile) bool {
	if f == nil || other == nil {
		return f == other
	}
	return f.link == other.link && f.mode.Perm() == other.mode.Perm() && bytes.Equal(f.data, other.data)
}

// maxBackups is how many backups with other content are looked at.
const maxBackups = 10_000

// keep copies a hook, bytes and mode, to the first name that no other backup has.
// One with the same content serves.
func (d *hookDir) keep(p hookPlan) (name string, made bool, err error) {
	want := &hookFile{data: p.before.data, mode: p.before.mode}
	for i := 0; i < maxBackups; {
		name = p.name + ".pre-handoff-gate.bak"
		if i > 0 {
			name += "." + strconv.Itoa(i)
		}
		there, err := d.read(name)
		switch {
		case err == nil && there == nil:
			if err := d.copy(name, want); !errors.Is(err, errTaken) {
				return name, true, err
			}
		case err == nil && there.same(want):
			return name, false, nil
		default:
			i++
		}
	}
	return "", false, errors.New("there are too many backups of it")
}

// copy writes a backup; errTaken where the name is taken meanwhile.
func (d *hookDir) copy(name string, f *hookFile) error {
	return disk.Cause(replace(d.ops, replacement{
		name: name, content: bytes.NewReader(f.data), replaces: true, mode: f.mode,
		before: func() error {
			if _, err := d.root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
				return errTaken
			}
			return nil
		},
	}))
}
