package schemacheck

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

// manifestOf writes a manifest with one task for each list of dependencies;
// status gives each one's status.
func manifestOf(deps [][]int, status func(i int) string) string {
	var b strings.Builder
	b.WriteString(strings.Replace(tasks, "100", "99999999", 1))
	for i, list := range deps {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `"T-%06d": {"title": "t", %s, "depends_on": [`, i, status(i))
		for k, d := range list {
			if k > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `"T-%06d"`, d)
		}
		b.WriteString(`]}`)
	}
	b.WriteString("\n" + end)
	return b.String()
}

func waiting(int) string { return `"status": "blocked"` }

func of(l report.Layer, rule string) []report.Finding {
	var list []report.Finding
	for _, f := range l.Findings {
		if f.Rule == rule {
			list = append(list, f)
		}
	}
	return list
}

// Graphs in the shapes that recursion, or quadratic work, does not survive.
func TestLargeGraphs(t *testing.T) {
	n := 50_000
	if testing.Short() {
		n = 5_000
	}
	chain := make([][]int, n) // each on the one before
	ring := make([][]int, n)
	star := make([][]int, n)  // the first on all others
	web := make([][]int, n)   // each on the eight before
	pairs := make([][]int, n) // circles of two
	back := make([][]int, n)  // a chain in which each also leads back to the first
	for i := range n {
		ring[i] = []int{(i + n - 1) % n}
		pairs[i] = []int{i ^ 1}
		if i > 0 {
			chain[i] = []int{i - 1}
			star[0] = append(star[0], i)
			back[i-1] = append(back[i-1], i, 0)
		}
		for k := max(0, i-8); k < i; k++ {
			web[i] = append(web[i], k)
		}
	}
	for _, tt := range []struct {
		name   string
		deps   [][]int
		cycles int
	}{
		{"chain", chain, 0},
		{"chain, the other way round", reversed(chain), 0},
		{"ring", ring, 1},
		{"star", star, 0},
		{"web", web, 0},
		{"pairs", pairs, maxFindings + 1}, // and one that counts the rest
		{"everything leads back", back, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := Check(input(manifestOf(tt.deps, waiting), ""))
			fit(t, l)
			if got := len(of(l, Cycle.ID)); got != tt.cycles {
				t.Errorf("%d cycles, want %d", got, tt.cycles)
			}
		})
	}

	l := Check(input(manifestOf(ring, waiting), ""))
	want := "These tasks wait for each other: T-000000"
	for i := 1; i < 9; i++ {
		want += fmt.Sprintf(" -> T-%06d", n-i)
	}
	want += fmt.Sprintf(" -> … (%d more) -> T-000000.", n-9)
	if got := of(l, Cycle.ID)[0].Message; got != want {
		t.Errorf("message %q, want %q", got, want)
	}

	// Every second task of a long chain is ready; the first is blocked by something.
	l = Check(input(manifestOf(chain, func(i int) string {
		switch {
		case i == 0:
			return `"status": "blocked", "blocked_by": "b"`
		case i%2 == 0:
			return `"status": "ready"`
		}
		return `"status": "done", "completed": "2026-01-01T00:00:00Z"`
	}), ""))
	if got := len(of(l, BlockedUpstream.ID)); got != maxFindings+1 {
		t.Errorf("%d tasks wait for the first one, want %d and one that counts the rest", got, maxFindings)
	}

	// One task with 200,000 dependencies, all the same.
	same := [][]int{make([]int, 200_000), nil}
	for i := range same[0] {
		same[0][i] = 1
	}
	l = Check(input(manifestOf(same, waiting), ""))
	if got := len(of(l, DuplicateDependency.ID)); got != 1 {
		t.Errorf("%d duplicate dependencies, want 1", got)
	}
}

func reversed(deps [][]int) [][]int {
	n := len(deps)
	r := make([][]int, n)
	for i, list := range deps {
		for _, d := range list {
			r[n-1-i] = append(r[n-1-i], n-1-d)
		}
	}
	return r
}

func TestCycleMessages(t *testing.T) {
	for _, tt := range []struct {
		name, tasks string
		want        []string
	}{
		{
			"the shortest of two ways round",
			`"T-001": {"title": "t", "status": "blocked", "depends_on": ["T-002", "T-004"]}, "T-002": {"title": "t", "status": "blocked", "depends_on": ["T-003"]},
			 "T-003": {"title": "t", "status": "blocked", "depends_on": ["T-001"]}, "T-004": {"title": "t", "status": "blocked", "depends_on": ["T-001"]}`,
			[]string{"T-001 -> T-004 -> T-001"},
		},
		{
			"it starts at the smallest id, though a shorter one does not touch it",
			`"T-003": {"title": "t", "status": "blocked", "depends_on": ["T-003", "T-001"]}, "T-001": {"title": "t", "status": "blocked", "depends_on": ["T-002"]},
			 "T-002": {"title": "t", "status": "blocked", "depends_on": ["T-003"]}`,
			[]string{"T-001 -> T-002 -> T-003 -> T-001"},
		},
		{
			"ids compare as texts",
			`"T-999": {"title": "t", "status": "blocked", "depends_on": ["T-1000"]}, "T-1000": {"title": "t", "status": "blocked", "depends_on": ["T-999"]}`,
			[]string{"T-1000 -> T-999 -> T-1000"},
		},
		{
			"a task that only leads into a circle is not part of it",
			`"T-001": {"title": "t", "status": "blocked", "depends_on": ["T-002"]}, "T-002": {"title": "t", "status": "blocked", "depends_on": ["T-003"]},
			 "T-003": {"title": "t", "status": "blocked", "depends_on": ["T-002", "T-004"]}, "T-004": {"title": "t", "status": "ready"}`,
			[]string{"T-002 -> T-003 -> T-002"},
		},
	} {
		var got []string
		for _, f := range of(Check(input(tasks+tt.tasks+end, "")), Cycle.ID) {
			got = append(got, strings.TrimSuffix(strings.TrimPrefix(f.Message, "These tasks wait for each other: "), "."))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestLongListsOfDependencies(t *testing.T) {
	deps := [][]int{nil, nil, nil, nil, nil, {0, 1, 2, 3, 4}}
	l := Check(input(manifestOf(deps, func(int) string { return `"status": "ready"` }), ""))
	got := of(l, NotReady.ID)
	want := "T-000005 is ready, but depends on T-000000 (ready), T-000001 (ready), T-000002 (ready) and 2 more."
	if len(got) != 1 || got[0].Message != want {
		t.Errorf("%+v, want %q", got, want)
	}
}

// A task with fewer than eight direct dependencies that are blocked is judged
// exactly, whatever lies between; with more it may be told of those alone.
func TestWitnesses(t *testing.T) {
	for n, want := range map[int]int{0: 1, 1: 1, witnesses - 1: 1, witnesses: 0, 3 * witnesses: 0} {
		// The last task depends on n blocked ones and on one that depends on all of
		// these and, at the end of its list, on one more.
		deps := make([][]int, n+3)
		far, over, last := n, n+1, n+2
		for i := range n {
			deps[last] = append(deps[last], i)
			deps[over] = append(deps[over], i)
		}
		deps[last] = append(deps[last], over)
		deps[over] = append(deps[over], far)
		l := Check(input(manifestOf(deps, func(i int) string {
			switch i {
			case over:
				return `"status": "cancelled"`
			case last:
				return `"status": "ready"`
			}
			return `"status": "blocked", "blocked_by": "b"`
		}), ""))
		if got := len(of(l, BlockedUpstream.ID)); got != want {
			t.Errorf("with %d direct ones: %d findings, want %d", n, got, want)
		}
		if got := len(of(l, NotReady.ID)); got != min(n, 1) {
			t.Errorf("with %d direct ones: %d times not ready", n, got)
		}
	}
}

// plainGraph decides by trying: reachability by Warshall's algorithm.
type plainGraph struct {
	deps   [][]int
	status []string
	cause  []bool
	reach  [][]bool // over one edge or more
}

func newPlainGraph(deps [][]int, status []string, cause []bool) plainGraph {
	n := len(deps)
	g := plainGraph{deps, status, cause, make([][]bool, n)}
	for i := range n {
		g.reach[i] = make([]bool, n)
		for _, d := range deps[i] {
			g.reach[i][d] = true
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				g.reach[i][j] = g.reach[i][j] || g.reach[i][k] && g.reach[k][j]
			}
		}
	}
	return g
}

// cycles gives for each circle the smallest id of its component and the length
// of a shortest way round from there.
func (g plainGraph) cycles() map[int]int {
	found := map[int]int{}
	for i := range g.deps {
		if !g.reach[i][i] {
			continue
		}
		smallest := true
		for j := range i {
			smallest = smallest && !(g.reach[i][j] && g.reach[j][i])
		}
		if !smallest {
			continue
		}
		at := map[int]bool{i: true}
		for length := 1; ; length++ {
			next := map[int]bool{}
			for v := range at {
				for _, d := range g.deps[v] {
					next[d] = true
				}
			}
			if next[i] {
				found[i] = length
				break
			}
			at = next
		}
	}
	return found
}

func (g plainGraph) upstream(i int) bool {
	if g.status[i] != ready && g.status[i] != inProgress {
		return false
	}
	for j := range g.deps {
		if g.reach[i][j] && g.status[j] == blocked && g.cause[j] && !slices.Contains(g.deps[i], j) {
			return true
		}
	}
	return false
}

func TestRandomGraphsAgreeWithPlainSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	statuses := []string{ready, inProgress, blocked, blocked, done, cancelled}
	id := regexp.MustCompile(`T-(\d+)`)
	index := func(text string) int {
		var n int
		if m := id.FindStringSubmatch(text); m != nil {
			_ = json.Unmarshal([]byte(strings.TrimLeft(m[1][:5], "0")+m[1][5:]), &n)
		}
		return n
	}
	for round := range 400 {
		n := 1 + rng.IntN(14)
		deps, status, cause := make([][]int, n), make([]string, n), make([]bool, n)
		for i := range n {
			status[i], cause[i] = statuses[rng.IntN(len(statuses))], rng.IntN(2) == 0
			for range rng.IntN(4) {
				if d := rng.IntN(n); !slices.Contains(deps[i], d) {
					deps[i] = append(deps[i], d)
				}
			}
		}
		g := newPlainGraph(deps, status, cause)
		l := Check(input(manifestOf(deps, func(i int) string {
			s := fmt.Sprintf(`"status": %q`, status[i])
			if cause[i] {
				s += `, "blocked_by": "b"`
			}
			return s
		}), ""))
		fit(t, l)

		cycles := map[int]int{}
		for _, f := range of(l, Cycle.ID) {
			ids := id.FindAllString(f.Message, -1)
			for k := range len(ids) - 1 {
				if !slices.Contains(deps[index(ids[k])], index(ids[k+1])) {
					t.Fatalf("round %d: %s names an edge that does not exist", round, f.Message)
				}
			}
			if ids[0] != ids[len(ids)-1] || f.Line != index(ids[0])+2 {
				t.Fatalf("round %d: %s at line %d", round, f.Message, f.Line)
			}
			length := len(ids) - 1
			if m := regexp.MustCompile(`\((\d+) more\)`).FindStringSubmatch(f.Message); m != nil {
				t.Fatalf("round %d: a short circle is cut: %s", round, f.Message)
			}
			cycles[index(ids[0])] = length
		}
		if want := g.cycles(); fmt.Sprint(cycles) != fmt.Sprint(want) {
			t.Fatalf("round %d: circles %v, want %v\n%v", round, cycles, want, deps)
		}
		waits := make([]bool, n)
		for _, f := range of(l, BlockedUpstream.ID) {
			waits[f.Line-2] = true
		}
		for i := range n {
			if waits[i] != g.upstream(i) {
				t.Fatalf("round %d: task %d waits %v, want %v\n%v\n%v\n%v", round, i, waits[i], g.upstream(i), deps, status, cause)
			}
		}
	}
}
