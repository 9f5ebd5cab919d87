package audit

import (
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/internal/shell"
	"github.com/handoff-gate/handoff-gate/gate/internal/workflow"
)

// maxSearched is how much of a file is searched that is too large to be judged.
const maxSearched = 16 << 20

// file is one workflow.
type file struct {
	path   string // from the top level
	base   string // its last part
	text   string // "" when it could not be read
	root   *yaml.Node
	on     int // line of the key on; 0 when there is none
	events []workflow.Trigger
	jobs   []*job

	// broken is why the file cannot be judged; "" when it can. Line 0 is unknown.
	broken string
	line   int
	// huge says that not even its text was searched.
	huge bool
}

// job is one job of a workflow.
type job struct {
	file  *file
	key   *yaml.Node
	node  *yaml.Node
	steps []*step
	calls string // the base name of the workflow that it calls by local path, or ""

	verify []run // what it runs of verify, in the order of its steps
	govern []run // what it runs of check and doctor
}

// step is one step of a job. Of run and uses at most one is there.
type step struct {
	job       *job
	node      *yaml.Node
	run, uses workflow.Member // with nil nodes where there is none
	script    *script         // of run; nil without one
	action    action          // of uses
}

// script is the text of a run step, split, with the shell that it is run by.
type script struct {
	text string
	mode mode
	*shell.Script
	given map[string][]gift // by the name of the variable; nil until it is asked for
}

// line is where the step says what it runs.
func (s *step) line() int {
	switch {
	case s.run.Key != nil:
		return s.run.Key.Line
	case s.uses.Key != nil:
		return s.uses.Key.Line
	}
	return s.node.Line
}

// scriptKey tells scripts apart: aliases make one text stand in many steps.
type scriptKey struct {
	text string
	mode mode
}

// reader reads the files of one repository.
type reader struct {
	tree    gate.Tree
	actions map[string]bool // local actions, by path: whether one is ours
	scripts map[scriptKey]*script
}

func (r *reader) file(p string) *file {
	f := &file{path: p, base: path.Base(p)}
	doc := gate.ReadDocument(r.tree, p, gate.MaxWorkflow)
	if doc.State != gate.Present {
		f.broken = "it cannot be read"
		if doc.Err != nil {
			f.broken = safetext.Clean(doc.Err.Error())
		}
		if doc.State == gate.TooLarge {
			// It still concerns the gate where it names it.
			f.text = string(gate.ReadDocument(r.tree, p, maxSearched).Data)
			f.huge = f.text == ""
		}
		return f
	}
	f.text = string(doc.Data)
	parsed, err := workflow.Read(doc.Data)
	if err == nil {
		f.root = parsed.Root
		if m, err := parsed.Triggers(); err == nil {
			f.on = m.Key.Line
		}
		f.events, err = parsed.Events()
	}
	var e *workflow.Error
	if errors.As(err, &e) && (f.root == nil || e.Line > 0) { // no triggers at all is no error here
		f.broken, f.line, f.root = e.Message, e.Line, nil
		return f
	}
	if n := parsed.MergeKey(); n != nil {
		f.broken, f.line = "it uses a YAML merge key, which GitHub does not follow", n.Line
	}
	jobs := get(f.root, "jobs")
	if jobs == nil || jobs.Kind != yaml.MappingNode {
		return f
	}
	for i := 0; i+1 < len(jobs.Content); i += 2 {
		j := r.job(f, jobs.Content[i], jobs.Content[i+1])
		for _, s := range j.steps {
			for _, run := range s.runs() {
				if run.verb == verify {
					j.verify = append(j.verify, run)
				} else {
					j.govern = append(j.govern, run)
				}
			}
		}
		f.jobs = append(f.jobs, j)
	}
	return f
}

func (r *reader) job(f *file, key, node *yaml.Node) *job {
	j := &job{file: f, key: key, node: node}
	if text, ok := scalar(get(node, "uses")); ok {
		if dir, base := path.Split(path.Clean(text)); strings.HasPrefix(text, "./") && path.Clean(dir) == Folder {
			j.calls = base
		}
	}
	steps := get(node, "steps")
	if steps == nil || steps.Kind != yaml.SequenceNode {
		return j
	}
	for _, n := range steps.Content {
		j.steps = append(j.steps, r.step(j, n))
	}
	return j
}

func (r *reader) step(j *job, n *yaml.Node) *step {
	s := &step{job: j, node: n}
	if m, ok := workflow.Get(n, "run"); ok {
		s.run = m
		if text, ok := scalar(m.Value); ok {
			key := scriptKey{text, s.shell()}
			if r.scripts[key] == nil {
				r.scripts[key] = &script{text: text, mode: key.mode, Script: shell.Parse(text, shell.Options{Flat: key.mode.flat})}
			}
			s.script = r.scripts[key]
		}
	}
	if m, ok := workflow.Get(n, "uses"); ok {
		s.uses = m
		if text, ok := scalar(m.Value); ok {
			s.action = r.action(text)
		}
	}
	return s
}

// mode is what the shell of a step does with a failure.
type mode struct {
	flat     bool // no POSIX shell: PowerShell, cmd, another language
	idle     bool // it runs nothing of the script: cat {0}, bash -n {0}
	errexit  bool // -e: the first failing command ends the script
	pipefail bool
}

// shell is the shell that a step is run by (aahp-governance.md 7.1).
func (s *step) shell() mode {
	named, ok := "", false
	for _, n := range []*yaml.Node{get(s.node, "shell"), get(s.job.node, "defaults", "run", "shell"), get(s.job.file.root, "defaults", "run", "shell")} {
		if named, ok = scalar(n); ok {
			break
		}
	}
	if !ok {
		if s.job.onWindows() {
			return mode{flat: true}
		}
		return mode{errexit: true}
	}
	words := strings.Fields(named)
	if len(words) == 0 {
		return mode{}
	}
	program := strings.TrimSuffix(words[0][strings.LastIndexAny(words[0], `/\`)+1:], ".exe")
	posix := slices.Contains(shells, program)
	switch {
	case slices.Contains(idle, program):
		return mode{idle: true}
	case named == "bash":
		return mode{errexit: true, pipefail: true}
	case named == "sh":
		return mode{errexit: true}
	case posix && strings.Contains(named, "{0}"):
		var o options
		o.set(words[1:])
		at := commandOption(words[1:]) + 2 // of what it runs instead of a file
		own := at > 1 && at < len(words) && !strings.HasPrefix(words[at], `"`) && !strings.HasPrefix(words[at], "'") && !strings.Contains(words[at], "{0}")
		return mode{errexit: o.errexit == on, idle: own || o.noexec == on}
	}
	return mode{flat: !posix && !strings.Contains(named, "${{")}
}

// onWindows tells whether a job names a runner with Windows.
func (j *job) onWindows() bool {
	n := get(j.node, "runs-on")
	if labels := get(n, "labels"); labels != nil {
		n = labels
	}
	if n == nil {
		return false
	}
	names := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		names = n.Content
	}
	return slices.ContainsFunc(names, func(n *yaml.Node) bool {
		text, _ := scalar(n)
		text = strings.ToLower(strings.TrimSpace(text))
		return text == "windows" || strings.HasPrefix(text, "windows-")
	})
}

// action is what a step uses.
type action struct {
	ours  bool   // it is this project's action
	image string // of docker://, without that; "" for any other
	local bool   // ./path
	repo  string // "owner/name" in lower case of an action of a repository
	ref   string // behind the @
}

var localAction = regexp.MustCompile(`^\.{1,2}/`)

// isGate tells whether a repository, an image or an action is called as this
// project is.
func isGate(name string) bool { return strings.EqualFold(name, "handoff-gate") }

func (r *reader) action(text string) action {
	text = strings.TrimSpace(text)
	var a action
	if image, ok := strings.CutPrefix(text, "docker://"); ok {
		a.image = image
		a.ours = isGate(imageName(image))
		return a
	}
	if localAction.MatchString(text) {
		a.local = true
		a.ours = r.localAction(text)
		return a
	}
	name, tagged := text, false
	if i := strings.LastIndexByte(text, '@'); i >= 0 {
		name, a.ref, tagged = text[:i], text[i+1:], true
	}
	owner, rest, _ := strings.Cut(name, "/")
	repo, _, _ := strings.Cut(rest, "/")
	a.repo = strings.ToLower(owner + "/" + repo)
	a.ours = tagged && owner != "" && isGate(repo)
	return a
}

// imageName is the last component of an image's path, without tag and digest.
func imageName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	image = image[strings.LastIndexByte(image, '/')+1:]
	name, _, _ := strings.Cut(image, ":")
	return name
}

// localAction tells whether the action in a folder of the repository is ours, by
// its name.
func (r *reader) localAction(text string) bool {
	dir := path.Clean(text)
	if dir == ".." || strings.HasPrefix(dir, "../") {
		return false
	}
	known, ok := r.actions[dir]
	if ok {
		return known
	}
	for _, base := range []string{"action.yml", "action.yaml"} {
		doc := gate.ReadDocument(r.tree, gate.Join(dir, base), gate.MaxWorkflow)
		if doc.State == gate.Absent {
			continue
		}
		if f, err := workflow.Read(doc.Data); doc.State == gate.Present && err == nil {
			name, _ := scalar(get(f.Root, "name"))
			name = strings.TrimSpace(name)
			known = strings.EqualFold(name, "Handoff Gate") || isGate(name)
		}
		break
	}
	r.actions[dir] = known
	return known
}

// hasEvent finds a trigger by name.
func (f *file) hasEvent(name string) bool {
	_, ok := f.event(name)
	return ok
}

func (f *file) event(name string) (workflow.Trigger, bool) {
	for _, e := range f.events {
		if e.Name.Value == name {
			return e, true
		}
	}
	return workflow.Trigger{}, false
}

// called is the trigger of a workflow that others call.
const called = "workflow_call"

// runsItself tells whether a workflow is triggered by anything but a call.
func (f *file) runsItself() bool {
	return len(f.events) == 0 || slices.ContainsFunc(f.events, func(e workflow.Trigger) bool { return e.Name.Value != called })
}

// unawaited are the triggers for which no pull request waits (7.2), beside a push
// of tags.
var unawaited = []string{"schedule", "workflow_dispatch", "release", "create", "repository_dispatch"}

// isAwaited tells whether a workflow has a trigger of its own for which a pull
// request, the merge queue or a branch may wait.
func (f *file) isAwaited() bool {
	if len(f.events) == 0 {
		return true
	}
	return slices.ContainsFunc(f.events, func(e workflow.Trigger) bool {
		name := e.Name.Value
		return name != called && !slices.Contains(unawaited, name) && !(name == "push" && tagsOnly(e.Filter))
	})
}

// tagsOnly tells whether a push is filtered so that only tags trigger.
func tagsOnly(filter *yaml.Node) bool {
	has := func(key string) bool { return get(filter, key) != nil }
	return (has("tags") || has("tags-ignore")) && !has("branches") && !has("branches-ignore")
}

// reports tells whether a job of the workflow reports on a pull request, in the
// merge queue or on a branch.
func (f *file) reports() bool {
	return slices.ContainsFunc(f.events, func(e workflow.Trigger) bool {
		name := e.Name.Value
		return strings.HasPrefix(name, "pull_request") || name == "merge_group" || name == "push" && !tagsOnly(e.Filter)
	})
}

// checkName is the name under which a job reports, and where it stands.
func (j *job) checkName() (name string, at *yaml.Node) {
	if m, ok := workflow.Get(j.node, "name"); ok {
		if text, ok := scalar(m.Value); ok && text != "" {
			return text, m.Key
		}
	}
	return j.key.Value, j.key
}
