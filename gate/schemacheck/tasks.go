package schemacheck

import (
	"fmt"
	"strings"
	"time"

	"github.com/handoff-gate/handoff-gate/gate/internal/conform"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/rule"
	"github.com/handoff-gate/handoff-gate/schema"
)

// The statuses of a task.
const (
	ready      = "ready"
	inProgress = "in_progress"
	blocked    = "blocked"
	done       = "done"
	cancelled  = "cancelled"
)

// futureSlack is how far after the clock a task's time may lie: clocks and time
// zones of several machines wrote it.
const futureSlack = 24 * time.Hour

// task is one member of tasks with a well-formed id.
type task struct {
	id     string
	member jsondoc.Member
	sound  bool   // it fits the schema; otherwise only its id counts
	status string // "" unless sound

	deps []dependency // distinct ids, in the order of depends_on; none unless sound
}

// dependency is the first mention of an id in depends_on.
type dependency struct {
	item *jsondoc.Value
	task int // index into the graph's tasks, -1 for an id that is no key of tasks
}

func (t *task) field(name string) *jsondoc.Value { return t.member.Value.Get(name) }

// filled tells whether an optional text is there and not blank.
func (t *task) filled(name string) bool {
	v := t.field(name)
	return v.Is(jsondoc.String) && strings.TrimFunc(v.Text, schema.Blank) != ""
}

// settled tells whether nobody works on the task any more.
func (t *task) settled() bool { return t.status == done || t.status == cancelled }

// graph is the task graph: an edge leads from a task to one that it depends on.
type graph struct {
	*checker
	doc   *jsondoc.Document
	path  string
	tasks []task
	ids   map[string]int
}

// graph judges the tasks of a manifest. Everything in it is linear in tasks plus
// edges, and nothing recurses.
func (c *checker) graph(doc *jsondoc.Document, path string, broken []conform.Violation) {
	tasks, ok := doc.Root.Member("tasks")
	if !ok || !tasks.Value.Is(jsondoc.Object) {
		return
	}
	g := graph{checker: c, doc: doc, path: path, ids: map[string]int{}}
	unsound := map[string]bool{} // ids of tasks, and the names of broken root members
	for _, v := range broken {
		switch {
		case len(v.Path) >= 2 && v.Path[0] == "tasks":
			unsound["tasks/"+v.Path[1]] = true
		case len(v.Path) == 1:
			unsound[v.Path[0]] = true
		}
	}
	for _, m := range tasks.Value.Members {
		if !taskID(m.Key) {
			continue
		}
		t := task{id: m.Key, member: m, sound: !unsound["tasks/"+m.Key]}
		if t.sound {
			t.status = t.field("status").Text
		}
		g.ids[m.Key] = len(g.tasks)
		g.tasks = append(g.tasks, t)
	}
	c.tasks = len(g.tasks)
	if len(g.tasks) == 0 {
		return
	}
	g.version(unsound["aahp_version"])
	g.numbers(tasks, unsound["next_task_id"])
	g.dependencies()
	for i := range g.tasks {
		if g.tasks[i].sound {
			g.own(&g.tasks[i])
			g.direct(&g.tasks[i])
		}
	}
	components := g.components()
	g.cycles(components)
	g.upstream(components)
}

// taskID tells whether a key is T- and at least three digits.
func taskID(key string) bool {
	digits, ok := strings.CutPrefix(key, "T-")
	return ok && len(digits) >= 3 && strings.Trim(digits, "0123456789") == ""
}

// number gives the number of an id as a decimal of any length without leading
// zeros; "" for zero.
func number(id string) string { return strings.TrimLeft(strings.TrimPrefix(id, "T-"), "0") }

// at adds a finding at the key of a task's member.
func (g *graph) at(r *rule.Rule, t *task, name, message, remedy string) {
	m, _ := t.member.Value.Member(name)
	g.add(r, g.path, g.doc.AtKey(m), message, remedy)
}

// name shows an id in a message.
func name(id string) string { return safetext.Clean(id) }

func (g *graph) version(unsound bool) {
	m, ok := g.doc.Root.Member("aahp_version")
	if !ok || unsound {
		return
	}
	major, _, _ := strings.Cut(m.Value.Text, ".")
	if major = strings.TrimLeft(major, "0"); len(major) > 1 || major >= "3" {
		return
	}
	g.add(Version, g.path, g.doc.AtKey(m),
		fmt.Sprintf("The manifest has tasks, which came with format 3, but says that it is of format %s.", g.clean(m.Value.Text)), "")
}

// numbers judges ids by their numbers.
func (g *graph) numbers(tasks jsondoc.Member, unsound bool) {
	highest, holder := "", g.tasks[0].id
	first := map[string]string{}
	for i := range g.tasks {
		t := &g.tasks[i]
		n := number(t.id)
		if len(n) > len(highest) || len(n) == len(highest) && n > highest {
			highest, holder = n, t.id
		}
		if other, twice := first[n]; twice {
			g.add(DuplicateID, g.path, g.doc.AtKey(t.member),
				fmt.Sprintf("%s and %s are two ids with one number.", name(other), name(t.id)),
				fmt.Sprintf("Give one of the two a number of its own, in %s and in every depends_on that means it.", safetext.Clean(g.path)))
			continue
		}
		first[n] = t.id
	}
	m, ok := g.doc.Root.Member("next_task_id")
	switch {
	case !ok:
		g.add(NextID, g.path, g.doc.AtKey(tasks),
			fmt.Sprintf("There are tasks up to %s, but no next_task_id that keeps their ids from being used again.", name(holder)),
			fmt.Sprintf("Add next_task_id to %s, a whole number above that of %s.", safetext.Clean(g.path), name(holder)))
	case !unsound && conform.CompareWhole(m.Value.Text, highest) <= 0:
		g.add(NextID, g.path, g.doc.AtKey(m),
			fmt.Sprintf("next_task_id is %s, but %s exists already.", g.clean(m.Value.Text), name(holder)),
			fmt.Sprintf("Set next_task_id in %s to a whole number above that of %s.", safetext.Clean(g.path), name(holder)))
	}
}

// dependencies reads the edges and judges them one by one.
func (g *graph) dependencies() {
	for i := range g.tasks {
		t := &g.tasks[i]
		list := (*jsondoc.Value)(nil)
		if t.sound {
			list = t.field("depends_on")
		}
		if !list.Is(jsondoc.Array) {
			continue
		}
		mentions := make(map[string]int, len(list.Items))
		for _, item := range list.Items {
			mentions[item.Text]++
			switch mentions[item.Text] {
			case 1:
			case 2:
				g.add(DuplicateDependency, g.path, g.doc.At(item),
					fmt.Sprintf("%s names %s twice in depends_on.", name(t.id), name(item.Text)), "")
				continue
			default:
				continue
			}
			k, ok := g.ids[item.Text]
			if !ok {
				k = -1
				g.add(UnknownDependency, g.path, g.doc.At(item),
					fmt.Sprintf("%s depends on %s, which is no task of this manifest.", name(t.id), name(item.Text)),
					fmt.Sprintf("Correct the id in depends_on of %s, or remove it when the task is gone.", name(t.id)))
			}
			t.deps = append(t.deps, dependency{item, k})
		}
	}
}

// own judges a task by itself.
func (g *graph) own(t *task) {
	created, completed := t.field("created"), t.field("completed")
	switch t.status {
	case done:
		if completed == nil {
			g.at(DoneWithoutCompleted, t, "status",
				fmt.Sprintf("%s is done, but has no completed.", name(t.id)),
				fmt.Sprintf("Add completed to %s: the time at which it was done.", name(t.id)))
		}
	case inProgress:
		if !t.filled("assigned_to") {
			g.at(Unassigned, t, "status", fmt.Sprintf("%s is in progress, but assigned_to names nobody.", name(t.id)), "")
		}
	}
	if completed != nil && !t.settled() {
		g.at(CompletedNotDone, t, "completed",
			fmt.Sprintf("%s has completed, but its status is %s.", name(t.id), t.status),
			fmt.Sprintf("Set the status of %s to done, or remove completed.", name(t.id)))
	}
	if t.settled() && t.filled("blocked_by") {
		g.at(BlockedByOnDone, t, "blocked_by", fmt.Sprintf("%s is %s, but still has blocked_by.", name(t.id), t.status), "")
	}
	from, hasFrom := instant(created)
	to, hasTo := instant(completed)
	if hasFrom && hasTo && to.Before(from) {
		g.at(CompletedBeforeCreated, t, "completed",
			fmt.Sprintf("%s was completed at %s, before it was created at %s.", name(t.id), g.clean(completed.Text), g.clean(created.Text)),
			fmt.Sprintf("Correct created or completed of %s.", name(t.id)))
	}
	limit := g.in.Now.Add(futureSlack)
	for _, m := range []struct {
		name string
		at   time.Time
		ok   bool
	}{{"created", from, hasFrom}, {"completed", to, hasTo}} {
		if m.ok && m.at.After(limit) {
			g.at(FutureTime, t, m.name,
				fmt.Sprintf("%s of %s is %s, more than 24 hours from now.", m.name, name(t.id), g.clean(t.field(m.name).Text)),
				fmt.Sprintf("Correct %s of %s.", m.name, name(t.id)))
		}
	}
}

func instant(v *jsondoc.Value) (time.Time, bool) {
	if !v.Is(jsondoc.String) {
		return time.Time{}, false
	}
	return schema.ParseDateTime(v.Text)
}

// direct judges a task by those it depends on directly. An id that is no task
// has its own finding and decides nothing here, except that a task that waits
// for it is not called ready.
func (g *graph) direct(t *task) {
	var open listing // neither done nor cancelled
	allDone := true
	for _, d := range t.deps {
		if d.task < 0 {
			allDone = false
			continue
		}
		other := &g.tasks[d.task]
		if other.status != done {
			allDone = false
		}
		if !other.settled() {
			status := other.status
			if status == "" {
				status = "of unknown status"
			}
			open.add(fmt.Sprintf("%s (%s)", name(other.id), status))
		}
		if other.status == cancelled && !t.settled() {
			g.add(DependsOnCancelled, g.path, g.doc.At(d.item),
				fmt.Sprintf("%s is %s and depends on %s, which is cancelled and will never be done.", name(t.id), t.status, name(other.id)),
				fmt.Sprintf("Remove %s from depends_on of %s, or cancel %s too.", name(other.id), name(t.id), name(t.id)))
		}
	}
	switch t.status {
	case ready, inProgress:
		if open.n > 0 {
			g.at(NotReady, t, "status",
				fmt.Sprintf("%s is %s, but depends on %s.", name(t.id), t.status, open.String()),
				fmt.Sprintf("Set the status of %s to blocked until that is done, or remove what it does not depend on.", name(t.id)))
		}
	case blocked:
		if allDone && !t.filled("blocked_by") {
			g.at(BlockedWithoutCause, t, "status",
				fmt.Sprintf("%s is blocked, but has no blocked_by and nothing left to wait for.", name(t.id)),
				fmt.Sprintf("Set the status of %s to ready, or say in blocked_by what it waits for.", name(t.id)))
		}
	case done:
		if open.n > 0 {
			g.at(DoneWithOpenDependency, t, "status",
				fmt.Sprintf("%s is done, but depends on %s.", name(t.id), open.String()),
				fmt.Sprintf("Set the status of the dependency to done, or take it out of depends_on of %s.", name(t.id)))
		}
	}
}

// listing names the first few things of a list and counts the rest.
type listing struct {
	shown []string
	n     int
}

const longestListing = 3

func (l *listing) add(s string) {
	if l.n++; l.n <= longestListing {
		l.shown = append(l.shown, s)
	}
}

func (l *listing) String() string {
	s := strings.Join(l.shown, ", ")
	if more := l.n - len(l.shown); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}
