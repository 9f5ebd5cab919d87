package schemacheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
)

// components are the strongly connected components of a graph.
type components struct {
	of      []int   // the component of each task
	members [][]int // the tasks of each component; what one depends on has a lower number
}

// components finds them by Tarjan's algorithm, with a stack of its own in place
// of recursion: a chain of 50,000 tasks is not deep to it.
func (g *graph) components() components {
	n := len(g.tasks)
	c := components{of: make([]int, n)}
	var (
		order   = make([]int, n) // 1-based number in the order of discovery; 0: not seen
		low     = make([]int, n) // lowest number reachable that is still open
		next    = make([]int, n) // the edge to follow next
		path    []int            // the walk from a root to where it stands
		open    []int            // seen, and not yet in a component
		counter int
	)
	enter := func(v int) {
		counter++
		order[v], low[v] = counter, counter
		c.of[v] = -1
		path, open = append(path, v), append(open, v)
	}
	for root := range n {
		if order[root] != 0 {
			continue
		}
		enter(root)
		for len(path) > 0 {
			v := path[len(path)-1]
			if next[v] < len(g.tasks[v].deps) {
				w := g.tasks[v].deps[next[v]].task
				next[v]++
				switch {
				case w < 0:
				case order[w] == 0:
					enter(w)
				case c.of[w] < 0:
					low[v] = min(low[v], order[w])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				parent := path[len(path)-1]
				low[parent] = min(low[parent], low[v])
			}
			if low[v] != order[v] {
				continue
			}
			at := len(open) - 1
			for open[at] != v { // the component lies at the end
				at--
			}
			members := slices.Clone(open[at:])
			open = open[:at]
			for _, w := range members {
				c.of[w] = len(c.members)
			}
			c.members = append(c.members, members)
		}
	}
	return c
}

// cycles reports each component that has a cycle, once.
func (g *graph) cycles(c components) {
	parent := make([]int, len(g.tasks)) // shared: components do not overlap
	for i := range parent {
		parent[i] = -1
	}
	for k, members := range c.members {
		first := slices.MinFunc(members, func(a, b int) int { return strings.Compare(g.tasks[a].id, g.tasks[b].id) })
		if cycle := g.shortestCycle(c, k, first, parent); cycle != nil {
			t := &g.tasks[first]
			g.at(Cycle, t, "depends_on",
				fmt.Sprintf("These tasks wait for each other: %s.", g.arrows(cycle)),
				fmt.Sprintf("Remove one of these dependencies from depends_on in %s; no task of the circle can be started before it.", safetext.Clean(g.path)))
		}
	}
}

// shortestCycle looks, breadth first, for the shortest way from a task back to
// itself, which cannot leave the task's component; nil when there is none.
func (g *graph) shortestCycle(c components, component, start int, parent []int) []int {
	queue := []int{start}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		for _, d := range g.tasks[v].deps {
			w := d.task
			switch {
			case w < 0 || c.of[w] != component:
			case w == start:
				cycle := []int{start}
				for ; v != start; v = parent[v] {
					cycle = append(cycle, v)
				}
				cycle = append(cycle, start)
				slices.Reverse(cycle)
				return cycle
			case parent[w] < 0:
				parent[w] = v
				queue = append(queue, w)
			}
		}
	}
	return nil
}

// longestCycle is how many ids of a cycle a message names.
const longestCycle = 10

func (g *graph) arrows(cycle []int) string {
	ids := make([]string, 0, longestCycle+1)
	for i, v := range cycle {
		if len(cycle) > longestCycle+1 && i == longestCycle-1 {
			ids = append(ids, fmt.Sprintf("… (%d more)", len(cycle)-1-i), name(g.tasks[cycle[0]].id))
			break
		}
		ids = append(ids, name(g.tasks[v].id))
	}
	return strings.Join(ids, " -> ")
}

// witnesses is how many blocked tasks are remembered for each component. A task
// with fewer direct dependencies that are blocked is judged exactly; one with as
// many or more has been told of all of those by tasks/not-ready.
const witnesses = 8

// upstream reports tasks that look free to start but wait, over others, for a
// blocked one. Components come in the order of their dependencies, so what each
// reaches is known when it is needed.
func (g *graph) upstream(c components) {
	reach := make([][]int, len(c.members)) // up to witnesses blocked tasks in or below each component
	for k, members := range c.members {
		for _, v := range members {
			if t := &g.tasks[v]; t.status == blocked && t.filled("blocked_by") {
				reach[k] = witness(reach[k], v)
			}
			for _, d := range g.tasks[v].deps {
				if d.task < 0 || c.of[d.task] == k {
					continue
				}
				for _, w := range reach[c.of[d.task]] {
					reach[k] = witness(reach[k], w)
				}
			}
		}
	}
	direct := make([]int, len(g.tasks)) // the last task, plus one, that depends on this one directly
	for i := range g.tasks {
		t := &g.tasks[i]
		if t.status != ready && t.status != inProgress {
			continue
		}
		for _, d := range t.deps {
			if d.task >= 0 {
				direct[d.task] = i + 1
			}
		}
		if w := g.indirect(c, reach, t, direct, i+1); w >= 0 {
			g.at(BlockedUpstream, t, "status",
				fmt.Sprintf("%s is %s, but over other tasks it depends on %s, which is blocked by %q.",
					name(t.id), t.status, name(g.tasks[w].id), g.clean(g.tasks[w].field("blocked_by").Text)),
				fmt.Sprintf("Set the status of %s to blocked, or resolve what blocks %s.", name(t.id), name(g.tasks[w].id)))
		}
	}
}

// indirect finds a blocked task that t reaches and does not itself depend on;
// -1 for none.
func (g *graph) indirect(c components, reach [][]int, t *task, direct []int, stamp int) int {
	for _, d := range t.deps {
		if d.task < 0 {
			continue
		}
		for _, w := range reach[c.of[d.task]] {
			if direct[w] != stamp {
				return w
			}
		}
	}
	return -1
}

// witness adds a task to a short list without doubles.
func witness(list []int, v int) []int {
	if len(list) == witnesses || slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}
