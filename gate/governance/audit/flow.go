package audit

import (
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/internal/shell"
)

// setting is what is done to an option of a shell.
type setting uint8

const (
	unset setting = iota
	on
	off
)

// options are what one `set` does.
type options struct{ errexit, pipefail, noexec setting }

// set reads the arguments of `set`, or those of the shell itself.
func (o *options) set(args []string) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if len(arg) < 2 || arg[0] != '-' && arg[0] != '+' || arg == "--" {
			return
		}
		if strings.HasPrefix(arg, "--") {
			continue // a long option of the shell
		}
		to := on
		if arg[0] == '+' {
			to = off
		}
		if strings.Contains(arg[1:], "e") {
			o.errexit = to
		}
		if strings.Contains(arg[1:], "n") {
			o.noexec = to
		}
		if strings.Contains(arg[1:], "o") && i+1 < len(args) {
			i++
			switch args[i] {
			case "errexit":
				o.errexit = to
			case "pipefail":
				o.pipefail = to
			case "noexec":
				o.noexec = to
			}
		}
	}
}

// border is what an exit ends and a set stays within: a subshell, a command of a
// pipeline, what runs in the background, a substitution, or a function for its
// return. nil is the script.
type border any

// borders are those around a command, the nearest first and the script last.
func borders(c *shell.Command) []border {
	var all []border
	for up := c; ; {
		l := up.In.In.In
		if len(up.In.Commands) > 1 {
			all = append(all, up)
		}
		if up.In.In.Background {
			all = append(all, up.In.In)
		}
		if l.Role == shell.Substitution {
			all = append(all, l)
		}
		if l.Owner == nil {
			return append(all, nil)
		}
		if up = l.Owner; up.Kind == shell.Subshell || up.Kind == shell.Function {
			all = append(all, up)
		}
	}
}

func isFunction(b border) bool {
	c, ok := b.(*shell.Command)
	return ok && c.Kind == shell.Function
}

// flow answers what becomes of the result of commands in one script. An answer
// takes time in proportion to the depth of the command, not to the length of the
// script.
type flow struct {
	*script
	gates map[*shell.List][]*shell.Command // the ci runs below each list

	skips map[border]int              // the first command that ends it as success
	fails []int                       // failing exits: exit X, return X, false
	bare  []int                       // each `exit` without an argument
	named map[string]int              // the last exit that names a variable
	sets  map[border][2][]set         // of -e and of pipefail, in the order of the script
	trap  int                         // the first trap that turns an end into success; 0 is none
	calls map[string][]*shell.Command // of each function

	ends    map[*shell.AndOr][]int // see lineEnd
	listEnd map[*shell.List][]int
	nextOrs map[*shell.AndOr][]int
	tests   map[*shell.AndOr][]bool
	held    map[*shell.List]bool
	called  map[call]verdict
}

// verdict is what a script makes of a command.
type verdict struct{ conditional, soft bool }

// call is a way of a result that has reached the end of a function. Of functions
// with one name the calls are not told apart.
type call struct {
	function string
	state
}

// set is one change of an option.
type set struct {
	seq int
	on  bool
}

// judge says of each run of one subcommand in a script whether it stands under a
// condition and whether its result is lost (aahp-governance.md 7.1).
func judge(s *script, runs []*run) {
	if len(runs) == 0 {
		return
	}
	f := &flow{
		script: s, gates: map[*shell.List][]*shell.Command{}, skips: map[border]int{}, named: map[string]int{}, sets: map[border][2][]set{},
		calls: map[string][]*shell.Command{}, ends: map[*shell.AndOr][]int{}, listEnd: map[*shell.List][]int{}, nextOrs: map[*shell.AndOr][]int{},
		tests: map[*shell.AndOr][]bool{}, held: map[*shell.List]bool{}, called: map[call]verdict{},
	}
	for _, r := range runs {
		if r.ci && !r.inside.conditional {
			f.note(r.command)
		}
	}
	f.index()
	known := map[*shell.Command]verdict{}
	for _, r := range runs {
		v, ok := known[r.command]
		if !ok {
			v = f.judge(r.command)
			known[r.command] = v
		}
		r.verdict = verdict{v.conditional || r.inside.conditional, v.soft || r.inside.soft}
	}
}

// note enters a ci run with every list that it stands in.
func (f *flow) note(c *shell.Command) {
	for up := c; up != nil; {
		l := up.In.In.In
		f.gates[l] = append(f.gates[l], c)
		up = l.Owner
	}
}

var (
	variableName = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	takesStatus  = regexp.MustCompile(`\$(?:\?|\{\?\})`)
	endsWell     = regexp.MustCompile(`(?:^|[\s;&|{(])exit(?:\s+0)?\s*(?:$|[;&|})])`)
)

// isZero tells whether a status is success: a shell keeps the last eight bits of
// the number.
func isZero(status string) bool {
	n, err := strconv.ParseInt(status, 10, 64)
	return err == nil && n%256 == 0
}

// index notes the commands on which the answers rest.
func (f *flow) index() {
	var ending []*shell.Command // functions in which an exit ends the script as success
	var traps []*shell.Command
	ends := func(c *shell.Command) {
		f.skip(c)
		if b := borders(c)[0]; isFunction(b) {
			ending = append(ending, b.(*shell.Command))
		}
	}
	for _, c := range f.Commands {
		name, args := c.Name(), c.Args()
		switch {
		case c.Exec && len(c.Words) > 0 && !f.mode.flat:
			ends(c) // with the status of what it runs instead of the shell
		case f.Functions[name] != nil:
			f.calls[name] = append(f.calls[name], c)
		case name == "set" && !f.mode.flat:
			var o options
			o.set(args)
			if o.noexec == on {
				ends(c)
			}
			at := borders(c)
			b := at[slices.IndexFunc(at, func(b border) bool { return !isFunction(b) })]
			sets := f.sets[b]
			for i, to := range []setting{o.errexit, o.pipefail} {
				if to != unset {
					sets[i] = append(sets[i], set{c.Seq, to == on})
				}
			}
			f.sets[b] = sets
		case name == "trap":
			traps = append(traps, c)
		case name == "false":
			if c.Index == len(c.In.Commands)-1 && !c.In.In.Background && f.nextOr(c.In) < 0 {
				f.fails = append(f.fails, c.Seq)
			}
		case name == "exit" || name == "return":
			switch {
			case !f.exit(c, name, args):
			case name == "exit":
				ends(c)
			default:
				f.skip(c)
			}
		}
	}
	// A call of such a function ends what the call stands in.
	done := map[*shell.Command]bool{}
	for len(ending) > 0 {
		fn := ending[len(ending)-1]
		ending = ending[:len(ending)-1]
		if done[fn] {
			continue
		}
		done[fn] = true
		for _, call := range f.calls[fn.Keyword] {
			if f.skip(call); isFunction(borders(call)[0]) {
				ending = append(ending, borders(call)[0].(*shell.Command))
			}
		}
	}
	for _, c := range traps {
		args := c.Args()
		if len(args) > 1 && f.trap == 0 && (endsWell.MatchString(args[0]) || slices.ContainsFunc(variableName.FindAllString(args[0], -1), func(name string) bool {
			return done[f.Functions[name]]
		})) {
			f.trap = c.Seq
		}
	}
}

// skip notes that a command ends what it stands in as success.
func (f *flow) skip(c *shell.Command) {
	b := borders(c)[0]
	if first, ok := f.skips[b]; !ok || c.Seq < first {
		f.skips[b] = c.Seq
	}
}

// exit notes an exit or return, and tells whether it ends what it stands in as
// success.
func (f *flow) exit(c *shell.Command, name string, args []string) bool {
	if len(args) > 0 && strings.EqualFold(args[0], "/b") { // as cmd writes it
		args = args[1:]
	}
	switch {
	case len(args) == 0 && name == "return":
		return false
	case len(args) == 0:
		f.bare = append(f.bare, c.Seq)
		if behindOr(c) {
			return false // it ends with the failure before it
		}
	case !isZero(args[0]):
		if c.Index == len(c.In.Commands)-1 {
			f.fails = append(f.fails, c.Seq)
		}
		if name == "exit" {
			for _, v := range variableName.FindAllString(strings.Join(args, " "), -1) {
				f.named[v] = c.Seq
			}
		}
		return false
	}
	return true
}

// behindOr tells whether a command is the first to run behind a ||.
func behindOr(c *shell.Command) bool {
	for c != nil {
		p := c.In
		if p.Index > 0 {
			return p.In.Operators[p.Index-1] == "||"
		}
		l := p.In.In
		if c.Index > 0 || p.In.Index > 0 || l.Role != shell.Body || l.Owner.Kind != shell.Group && l.Owner.Kind != shell.Subshell {
			return false
		}
		c = l.Owner
	}
	return false
}

// skipped tells whether something before a command ends, as success, what the
// command stands in. A function is left out of account: its calls count.
func (f *flow) skipped(c *shell.Command) bool {
	for _, b := range borders(c) {
		if first, ok := f.skips[b]; ok && first < c.Seq {
			return true
		}
		if isFunction(b) {
			return false
		}
	}
	return false
}

// options gives the options of the shell at a command.
func (f *flow) options(c *shell.Command) (errexit, pipefail bool) {
	at := [2]bool{f.mode.errexit, f.mode.pipefail}
	var latest [2]int
	handedOn := true // bash does not hand -e on to a substitution
	for _, b := range borders(c) {
		for i, list := range f.sets[b] {
			n := sort.Search(len(list), func(n int) bool { return list[n].seq > c.Seq })
			if n > 0 && list[n-1].seq > latest[i] && (i > 0 || handedOn) {
				at[i], latest[i] = list[n-1].on, list[n-1].seq
			}
		}
		if l, ok := b.(*shell.List); ok && l.Role == shell.Substitution && latest[0] == 0 {
			at[0], handedOn = false, false
		}
	}
	return at[0], at[1]
}

// nextOr gives the first || behind a pipeline in its list, as the index of the
// operator; -1 when there is none.
func (f *flow) nextOr(p *shell.Pipeline) int {
	a := p.In
	next, ok := f.nextOrs[a]
	if !ok {
		next = make([]int, len(a.Pipelines))
		last := -1
		for i := len(a.Pipelines) - 1; i >= 0; i-- {
			if i < len(a.Operators) && a.Operators[i] == "||" {
				last = i
			}
			next[i] = last
		}
		f.nextOrs[a] = next
	}
	return next[p.Index]
}

// afterTest tells whether a pipeline follows, by && alone, one that begins with a
// test.
func (f *flow) afterTest(p *shell.Pipeline) bool {
	a := p.In
	after, ok := f.tests[a]
	if !ok {
		after = make([]bool, len(a.Pipelines))
		for i := 1; i < len(after); i++ {
			if a.Operators[i-1] == "&&" {
				name := first(a.Pipelines[i-1]).Name()
				after[i] = after[i-1] || name == "[" || name == "[[" || name == "test"
			}
		}
		f.tests[a] = after
	}
	return after[p.Index]
}

func first(p *shell.Pipeline) *shell.Command { return p.Commands[0] }
func last(p *shell.Pipeline) *shell.Command  { return p.Commands[len(p.Commands)-1] }

// restOfLine gives the number of the last command of the line on which an
// operator stands. What is opened on the line belongs to it up to where it is
// closed, and what follows an operator at the line's end is on the line, too.
func (f *flow) restOfLine(a *shell.AndOr, operator int) int {
	ends, ok := f.ends[a]
	if !ok {
		n := len(a.Pipelines)
		ends = make([]int, n)
		for i := n - 1; i >= 0; i-- {
			ends[i] = i
			if i+1 < n && first(a.Pipelines[i+1]).Line <= last(a.Pipelines[i]).EndLine {
				ends[i] = ends[i+1]
			}
		}
		f.ends[a] = ends
	}
	end := ends[operator+1]
	if end < len(a.Pipelines)-1 {
		return last(a.Pipelines[end]).Last
	}
	l := a.In
	list, ok := f.listEnd[l]
	if !ok {
		n := len(l.Items)
		list = make([]int, n)
		for i := n - 1; i >= 0; i-- {
			list[i] = i
			if i+1 < n && first(l.Items[i+1].Pipelines[0]).Line <= last(l.Items[i].Pipelines[len(l.Items[i].Pipelines)-1]).EndLine {
				list[i] = list[i+1]
			}
		}
		f.listEnd[l] = list
	}
	item := l.Items[list[a.Index]]
	return last(item.Pipelines[len(item.Pipelines)-1]).Last
}

// between tells whether one of the numbers lies above from and not above to.
func between(numbers []int, from, to int) bool {
	i := sort.SearchInts(numbers, from+1)
	return i < len(numbers) && numbers[i] <= to
}

// handedOn tells whether the result of a command is taken up by the next one: by
// a variable that a later exit names, or by an exit of its own.
func (f *flow) handedOn(c *shell.Command) bool {
	i := sort.Search(len(f.Commands), func(i int) bool { return f.Commands[i].Seq > c.Last })
	if i == len(f.Commands) {
		return false
	}
	next := f.Commands[i]
	takes := func(name, value string) bool { return takesStatus.MatchString(value) && f.named[name] > next.Seq }
	for _, a := range next.Assigns {
		if takes(a.Name, string(a.Value)) {
			return true
		}
	}
	switch next.Name() {
	case "export", "local", "declare", "typeset", "readonly":
		for _, arg := range next.Args() {
			if name, value, ok := strings.Cut(arg, "="); ok && takes(name, value) {
				return true
			}
		}
	case "exit":
		args := next.Args()
		return len(next.In.Commands) == 1 && (len(args) == 0 || takesStatus.MatchString(args[0]) || strings.EqualFold(args[0], "$LASTEXITCODE"))
	}
	return false
}

// judge follows the result of a command outwards to the end of the script.
func (f *flow) judge(c *shell.Command) verdict {
	w := walk{flow: f, state: state{verdict: verdict{conditional: f.skipped(c), soft: f.trap > 0 && f.trap < c.Seq}}}
	w.errexit, w.pipefail = f.options(c)
	if f.mode.flat && (strings.EqualFold(c.Name(), "if") || strings.EqualFold(c.Name(), "else")) {
		w.conditional = true // as cmd writes it: if exist FILE COMMAND
	}
	w.out(c)
	return w.verdict
}

// walk is one way of a result through what is around a command.
type walk struct {
	*flow
	state
}

// state is what is known of a result on its way.
type state struct {
	verdict
	errexit, pipefail bool

	// final says that the failure ends what is around: a failing exit follows, or
	// -e ends it. weak says that -e does not look at it any more.
	final, weak bool
}

// out goes from a command to what it stands in, until the script is reached.
func (w *walk) out(c *shell.Command) {
	for c != nil {
		w.pipeline(c)
		w.andOr(c)
		w.list(c)
		c = w.owner(c)
	}
}

// pipeline: behind a | the result is that of another command.
func (w *walk) pipeline(c *shell.Command) {
	p := c.In
	if len(p.Commands) > 1 {
		w.final = false
		if c.Index < len(p.Commands)-1 && !w.pipefail {
			w.soft = true
		}
	}
	l := p.In.In
	if p.Not && !w.final && !(l.Role == shell.Condition && l.Owner.Kind == shell.If) {
		w.soft = true
	}
}

// andOr: || takes the result away, && keeps -e from looking at it.
func (w *walk) andOr(c *shell.Command) {
	p, a := c.In, c.In.In
	if i := p.Index; i > 0 && (a.Operators[i-1] == "||" || w.afterTest(p)) {
		w.conditional = true
	}
	if !w.final {
		switch or := w.nextOr(p); {
		case or >= 0:
			from, to := last(a.Pipelines[or]).Last, w.restOfLine(a, or)
			if between(w.fails, from, to) || between(w.bare, from, to) || w.handedOn(last(a.Pipelines[or])) {
				w.final = true
			} else {
				w.soft = true
			}
		case p.Index < len(a.Operators) && a.In.Role != shell.Condition:
			w.weak = true
		}
	}
	if a.Background || c.Name() == "coproc" {
		w.soft, w.final = true, false
	}
}

// list: what fails ends the script under -e; else only the last result counts.
func (w *walk) list(c *shell.Command) {
	a := c.In.In
	switch l := a.In; {
	case w.final:
	case w.errexit && !w.weak && !w.unwatched(c):
		w.final = true
	case a.Index == len(l.Items)-1:
	case w.handedOn(last(a.Pipelines[len(a.Pipelines)-1])):
		w.final = true
	default:
		w.soft = true
	}
}

// unwatched tells whether -e is not looked at around a command: in a condition,
// behind !, and left of && and ||.
func (w *walk) unwatched(c *shell.Command) bool {
	for up := c; ; {
		l := up.In.In.In
		if l.Role == shell.Condition {
			return true
		}
		if l.Owner == nil {
			return false
		}
		up = l.Owner
		if up.Kind == shell.Function {
			calls := w.calls[up.Keyword]
			return len(calls) > 0 && !slices.ContainsFunc(calls[:min(len(calls), 100)], func(call *shell.Command) bool {
				return !call.In.Not && call.In.Index >= len(call.In.In.Operators) && call.In.In.In.Role != shell.Condition
			})
		}
		if up.In.Not || up.In.Index < len(up.In.In.Operators) {
			return true
		}
	}
}

// owner goes from the list of a command to what holds it; nil at the end.
func (w *walk) owner(c *shell.Command) *shell.Command {
	l := c.In.In.In
	o := l.Owner
	switch l.Role {
	case shell.Whole:
		return nil
	case shell.Condition:
		if w.final {
			break
		}
		if o.Kind == shell.If && between(w.fails, c.Last, o.Last) {
			w.final = true
		} else {
			w.soft = true
		}
	case shell.Branch, shell.Else:
		if o.Kind != shell.If || !w.complete(o) {
			w.conditional = true
		}
	case shell.Substitution:
		w.final = false
		if !l.Value || len(o.Words) > 0 || len(o.Assigns) > 1 && o.Assigns[len(o.Assigns)-1].Value.Value() != "$()" {
			w.soft = true
		}
		w.weak = false
		w.errexit, w.pipefail = w.options(o)
	case shell.Body:
		switch o.Kind {
		case shell.Subshell:
			w.final, w.weak = false, false
		case shell.Loop:
			if !w.final {
				w.soft = true // what a later round does counts
			}
		case shell.Function:
			w.callers(o)
			return nil
		case shell.Simple, shell.Group, shell.If, shell.Case, shell.Other:
		}
	}
	return o
}

// callers goes on with the calls of a function: the best of them counts. One that
// is never called runs nothing, and neither does one that only calls itself.
func (w *walk) callers(fn *shell.Command) {
	key := call{fn.Keyword, w.state}
	known, ok := w.called[key]
	if !ok {
		known = verdict{conditional: true}
		w.called[key] = known
		for _, c := range w.calls[fn.Keyword] {
			next := *w
			next.conditional = next.conditional || w.skipped(c)
			next.out(c)
			if !next.conditional && (known.conditional || known.soft) {
				known = next.verdict
			}
			if known == (verdict{}) {
				break
			}
		}
		w.called[key] = known
	}
	w.verdict = known
}

// complete tells whether an if has an else, and each of its branches a ci run
// that is not itself conditional there.
func (f *flow) complete(o *shell.Command) bool {
	if o.Lists[len(o.Lists)-1].Role != shell.Else {
		return false
	}
	for _, l := range o.Lists {
		if (l.Role == shell.Branch || l.Role == shell.Else) && !f.holds(l) {
			return false
		}
	}
	return true
}

// holds tells whether a branch runs a ci run whenever it is taken.
func (f *flow) holds(l *shell.List) bool {
	if known, ok := f.held[l]; ok {
		return known
	}
	f.held[l] = slices.ContainsFunc(f.gates[l], func(c *shell.Command) bool { return f.certain(c, l) })
	return f.held[l]
}

// certain tells whether a command runs whenever a list around it does.
func (f *flow) certain(c *shell.Command, within *shell.List) bool {
	for up := c; ; {
		p, l := up.In, up.In.In.In
		if i := p.Index; i > 0 && (p.In.Operators[i-1] == "||" || f.afterTest(p)) {
			return false
		}
		if l == within {
			return true
		}
		up = l.Owner
		switch {
		case up.Kind == shell.Function, up.Kind == shell.Case && l.Role == shell.Branch:
			return false
		case up.Kind == shell.If && l.Role != shell.Condition && !f.complete(up):
			return false
		}
	}
}
