package adopt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/integrity"
	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/timestamp"
)

// Session is what last_session and quick_context record of a session.
type Session struct {
	Agent   string
	ID      string // "" makes one from the time
	Phase   string // one of Phases
	Minutes int
	Context string // "" builds one from the summaries
	// KeepContext: the context on record stays where it is sound.
	KeepContext bool
}

// Phases are the values of last_session.phase.
var Phases = []string{"research", "architecture", "implementation", "review", "fix", "idle", "documentation"}

// Facts are what a manifest records of the place where it is made.
type Facts struct {
	Commit  string // the abbreviated id of HEAD, or UnknownCommit
	Project string // the project's name where none is on record
	Now     time.Time
}

// UnknownCommit stands for the commit where there is no repository, no commit
// yet or no git.
const UnknownCommit = "unknown"

// maxContext is how many characters quick_context may have.
const maxContext = 500

// format is the version of the format that is written.
const format = "3.0"

// Manifest is a manifest as it is to be written.
type Manifest struct {
	Data     []byte
	Files    int // how many are indexed
	Budget   Budget
	Warnings []string // sentences; outside text in them is shown safely

	previous *previous
}

// Budget estimates how many tokens a model reads.
type Budget struct{ Manifest, Core, Full int64 }

// Refusal says why a manifest is not replaced: all that would be lost.
type Refusal struct{ Problems []string }

func (r *Refusal) Error() string { return strings.Join(r.Problems, "; ") }

// Generate makes the manifest of the folder as it is now and writes nothing.
// With force, what cannot be carried over is dropped with a warning; without, it
// is a *Refusal. Other errors are of reading.
func (f *Folder) Generate(s Session, facts Facts, force bool) (*Manifest, error) {
	old, err := f.readManifest()
	if err != nil {
		return nil, fmt.Errorf("%s %w", ManifestPath, err)
	}
	m := &Manifest{previous: old}
	if len(old.problems) > 0 {
		if !force {
			return nil, &Refusal{old.problems}
		}
		m.dropped()
	}
	return m, f.generate(m, s, facts, false)
}

// dropped warns of what --force drops.
func (m *Manifest) dropped() {
	for _, problem := range m.previous.problems {
		if m.previous.root == nil {
			m.warn("the old manifest is " + problem + "; all it held is dropped, its task registry too")
		} else {
			m.warn(problem + "; dropped")
		}
	}
}

func (m *Manifest) warn(sentence string) { m.Warnings = append(m.Warnings, sentence) }

// generate makes the document; with keep, what the last session left on record
// stays where it is sound.
func (f *Folder) generate(m *Manifest, s Session, facts Facts, keep bool) error {
	entries, err := f.index(m)
	if err != nil {
		return err
	}
	d := document{previous: m.previous, entries: entries, commit: facts.Commit, project: facts.Project, now: facts.Now.UTC(), session: s}
	if keep {
		d.recorded = m.previous.session
	}
	switch {
	case (keep || s.KeepContext) && m.previous.context != nil:
		d.context = *m.previous.context
	case s.Context != "":
		given := ecma.Decode([]byte(s.Context))
		if d.context = clip(given, maxContext); d.context != given {
			m.warn(fmt.Sprintf("the context is longer than %d characters and was cut", maxContext))
		}
	default:
		d.context = builtContext(entries)
	}
	m.Data, m.Budget = d.render()
	m.Files = len(entries)
	if m.Files == 0 {
		m.warn("no file is indexed; the integrity layer refuses such a manifest")
	}
	if len(m.Data) > gate.MaxManifest {
		return fmt.Errorf("%s would be larger than the limit of %d MiB", ManifestPath, gate.MaxManifest>>20)
	}
	if _, err := jsondoc.Parse(m.Data, jsondoc.Options{MaxDepth: gate.MaxDepth}); err != nil {
		return fmt.Errorf("%s would not be readable: %w", ManifestPath, err)
	}
	return nil
}

// entry is what the manifest records of one file.
type entry struct {
	name    string
	digest  string
	updated string
	lines   int64
	summary string
	tokens  int64
}

// index reads every file that is indexed.
func (f *Folder) index(m *Manifest) ([]entry, error) {
	var entries []entry
	for _, name := range integrity.Canonical {
		e, err := f.measure(m, name)
		var kind notRegularError
		switch {
		case err == nil:
			entries = append(entries, e)
		case errors.Is(err, fs.ErrNotExist):
		case errors.As(err, &kind), errors.Is(err, errBroken):
			m.warn(gate.HandoffDir + "/" + name + " " + err.Error() + "; it is not indexed")
		default:
			return nil, fmt.Errorf("%s/%s %w", gate.HandoffDir, name, err)
		}
	}
	return entries, nil
}

// measure reads one file in a stream.
func (f *Folder) measure(m *Manifest, name string) (entry, error) {
	file, err := f.open(name)
	if err != nil {
		return entry{}, err
	}
	defer file.Close()
	if file.info.Size() > gate.MaxHandoffFile {
		return entry{}, errTooLarge
	}
	stream := newMeasure(name)
	n, err := io.Copy(stream, io.LimitReader(file, gate.MaxHandoffFile+1))
	if err != nil {
		return entry{}, unreadable(err)
	}
	if n > gate.MaxHandoffFile {
		return entry{}, errTooLarge
	}
	if file.linked {
		m.warn(gate.HandoffDir + "/" + name + " is a symbolic link; it is indexed, but the integrity layer refuses it")
	}
	e := entry{name: name, digest: stream.digest.String(), lines: stream.lines, summary: stream.summary.end(), tokens: stream.tokens()}
	if at, ok := m.previous.updated(name, e.digest); ok {
		e.updated = at
	} else {
		e.updated = timestamp.FormatSeconds(file.info.ModTime())
	}
	return e, nil
}

// builtContext makes a quick_context from the summaries of the core files.
func builtContext(entries []entry) string {
	var parts []string
	for _, e := range entries {
		if e.name != statusName && e.name != nextName || e.summary == noSummary {
			continue
		}
		s := e.summary
		if !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, "!") && !strings.HasSuffix(s, "?") {
			s += "."
		}
		parts = append(parts, s)
	}
	if len(parts) == 0 {
		return "No handoff files found with content summaries."
	}
	return clip(strings.Join(parts, " "), maxContext)
}

// document is everything that stands in a manifest but its token budget.
type document struct {
	previous *previous
	entries  []entry
	session  Session
	recorded spelled // the last_session to keep, instead of one from session
	commit   string
	project  string
	context  string
	now      time.Time
}

// maxRounds is how often the budget is put in; it settles after a few.
const maxRounds = 20

// render gives the bytes of the manifest. Its budget counts these very bytes, so
// it is put in until it no longer changes.
func (d *document) render() ([]byte, Budget) {
	var others, core int64
	for _, e := range d.entries {
		others += e.tokens
		if e.name == statusName || e.name == nextName {
			core += e.tokens
		}
	}
	var own int64
	for range maxRounds {
		b := Budget{Manifest: own, Core: own + core, Full: own + others}
		text := d.bytes(b)
		if own = estimateText(text); own == b.Manifest {
			return text, b
		}
	}
	b := Budget{Manifest: own, Core: own + core, Full: own + others}
	return d.bytes(b), b
}

func (d *document) bytes(b Budget) []byte {
	w := &writer{}
	w.open()
	w.text("aahp_version", format)
	name := d.previous.project
	if name == "" || name == placeholder {
		name = d.project
	}
	w.text("project", name)
	w.key("last_session")
	if d.recorded.present() {
		w.spelled(d.recorded)
	} else {
		w.open()
		w.text("agent", d.session.Agent)
		id := d.session.ID
		if id == "" {
			id = "cli-" + strconv.FormatInt(d.now.Unix(), 10)
		}
		w.text("session_id", id)
		w.text("timestamp", timestamp.FormatSeconds(d.now))
		w.text("commit", d.commit)
		w.text("phase", d.session.Phase)
		w.number("duration_minutes", int64(d.session.Minutes))
		w.close()
	}
	w.key("files")
	w.open()
	for _, e := range d.entries {
		w.key(e.name)
		w.open()
		w.text("checksum", e.digest)
		w.text("updated", e.updated)
		w.number("lines", e.lines)
		w.text("summary", e.summary)
		w.close()
	}
	w.close()
	w.text("quick_context", d.context)
	w.key("token_budget")
	w.open()
	w.number("manifest_only", b.Manifest)
	w.number("manifest_plus_core", b.Core)
	w.number("full_read", b.Full)
	w.close()
	if d.previous.nextTask != "" {
		w.key("next_task_id")
		w.out = append(w.out, d.previous.nextTask...)
	}
	for _, carried := range []struct {
		key   string
		value spelled
	}{{"tasks", d.previous.tasks}, {"cross_repo_ref", d.previous.crossRef}} {
		if carried.value.present() {
			w.key(carried.key)
			w.spelled(carried.value)
		}
	}
	w.close()
	return append(w.out, '\n')
}

// placeholder is the project's name in a template.
const placeholder = "[PROJECT]"

// writer writes objects in the layout of aahp-authoring.md 2.1.
type writer struct {
	out   []byte
	depth int
	empty bool // nothing stands in the open object yet
}

func (w *writer) open() {
	w.out = append(w.out, '{')
	w.depth++
	w.empty = true
}

func (w *writer) close() {
	w.depth--
	if !w.empty {
		w.line()
	}
	w.out = append(w.out, '}')
	w.empty = false
}

func (w *writer) line() {
	w.out = append(w.out, '\n')
	for range w.depth {
		w.out = append(w.out, ' ', ' ')
	}
}

func (w *writer) key(name string) {
	if !w.empty {
		w.out = append(w.out, ',')
	}
	w.empty = false
	w.line()
	w.out = ecma.AppendString(w.out, name)
	w.out = append(w.out, ": "...)
}

func (w *writer) text(name, value string) {
	w.key(name)
	w.out = ecma.AppendString(w.out, value)
}

func (w *writer) number(name string, value int64) {
	w.key(name)
	w.out = strconv.AppendInt(w.out, value, 10)
}

func (w *writer) spelled(s spelled) { w.out = ecma.AppendSpelled(w.out, s.src, s.value, w.depth) }

// Write puts the manifest in its place.
func (f *Folder) Write(m *Manifest) error {
	if err := f.Replace(ManifestName, bytes.NewReader(m.Data), nil); err != nil {
		return fmt.Errorf("%s was not written: %w", ManifestPath, err)
	}
	return nil
}

// ProjectName gives the name of a project from the URL of a remote; where that
// has no name in it, from the project's folder. No other part of the URL, which
// may hold a password, is let through.
func ProjectName(url, folder string) string {
	name := strings.TrimSuffix(url, "/")
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = name[strings.LastIndexByte(name, ':')+1:]
	name = strings.TrimSuffix(name, ".git")
	if name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == "" {
		return name
	}
	return folder
}
