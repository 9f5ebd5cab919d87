package audit

import (
	"regexp"
	"slices"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/handoff-gate/handoff-gate/gate/internal/shell"
	"github.com/handoff-gate/handoff-gate/gate/internal/workflow"
)

// hasCondition tells whether an if can keep a job or a step from running
// (aahp-governance.md 7.1). n is its value; nil where there is no if.
func hasCondition(n *yaml.Node, ofStep bool, repo string) bool {
	if n == nil || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return false
	}
	text, ok := scalar(n)
	if !ok {
		return true
	}
	owner, _, known := strings.Cut(repo, "/")
	switch bare(text) {
	case "true", "always()", "success()":
		return false
	case "github.repository=='" + repo + "'", "github.repository_owner=='" + owner + "'":
		return !known
	case "!cancelled()", "success()||failure()":
		return !ofStep
	}
	return true
}

// isAlways tells whether an if is always(), which runs a job whatever became of
// those that it needs.
func isAlways(n *yaml.Node) bool {
	text, ok := scalar(n)
	return ok && bare(text) == "always()"
}

// bare takes one ${{ }}, enclosing parentheses and blanks away.
func bare(text string) string {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "${{"); ok {
		if inner, ok = strings.CutSuffix(inner, "}}"); ok {
			text = strings.TrimSpace(inner)
		}
	}
	for enclosed(text) {
		text = strings.TrimSpace(text[1 : len(text)-1])
	}
	var b strings.Builder
	quoted := false
	for _, r := range text {
		if r == '\'' {
			quoted = !quoted
		}
		if quoted || !strings.ContainsRune(" \t\r\n", r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// enclosed tells whether the first parenthesis is closed by the last character.
func enclosed(text string) bool {
	if len(text) < 2 || text[0] != '(' || text[len(text)-1] != ')' {
		return false
	}
	depth, quoted := 0, false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			depth--
			if depth == 0 && i < len(text)-1 {
				return false
			}
		}
	}
	return true
}

// isSoft tells whether a continue-on-error lets a failure pass.
func isSoft(n *yaml.Node) bool {
	if n == nil {
		return false
	}
	text, ok := scalar(n)
	return !ok || !strings.EqualFold(text, "false")
}

// expressions are the ${{ }} of a text, without these signs.
func expressions(text string) []string {
	var all []string
	for {
		_, rest, ok := strings.Cut(text, "${{")
		if !ok {
			return all
		}
		quoted, end := false, len(rest)
		for i := range len(rest) {
			if rest[i] == '\'' {
				quoted = !quoted
			}
			if !quoted && strings.HasPrefix(rest[i:], "}}") {
				end = i
				break
			}
		}
		all = append(all, rest[:end])
		text = rest[end:]
	}
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*`)

// contexts are the paths that an expression names, in lower case and split at
// their dots; "*" is an index that is not written out. The result of a function
// begins a path with "?".
func contexts(expr string) [][]string {
	var all [][]string
	var path []string
	end := func() {
		if path != nil {
			all = append(all, path)
		}
		path = nil
	}
	for expr != "" {
		switch c := expr[0]; {
		case c == '\'':
			end()
			_, n := quotedText(expr)
			expr = expr[n:]
		case identifier.MatchString(expr):
			end()
			name := identifier.FindString(expr)
			path, expr = []string{strings.ToLower(name)}, expr[len(name):]
		case c == '.' && path != nil:
			expr = strings.TrimLeft(expr[1:], " \t\r\n")
			if name := identifier.FindString(expr); name != "" {
				path, expr = append(path, strings.ToLower(name)), expr[len(name):]
			} else if strings.HasPrefix(expr, "*") {
				path, expr = append(path, "*"), expr[1:]
			}
		case c == '[' && path != nil:
			inside := strings.TrimLeft(expr[1:], " \t\r\n")
			if text, n := quotedText(inside); n > 0 && strings.HasPrefix(strings.TrimLeft(inside[n:], " \t\r\n"), "]") {
				path, expr = append(path, strings.ToLower(text)), inside[n:]
				continue
			}
			path, expr = append(path, "*"), expr[1:]
			end()
		case c == ']' && path != nil:
			expr = expr[1:]
		case c == ')':
			end()
			path, expr = []string{"?"}, expr[1:]
		case strings.IndexByte(" \t\r\n", c) >= 0:
			expr = expr[1:]
		default:
			end()
			expr = expr[1:]
		}
	}
	end()
	return all
}

// quotedText reads a string of an expression; n is 0 when there is none.
func quotedText(s string) (text string, n int) {
	if !strings.HasPrefix(s, "'") {
		return "", 0
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != '\'' {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '\'' {
			b.WriteByte('\'')
			i++
			continue
		}
		return b.String(), i + 1
	}
	return b.String(), len(s)
}

// ofAuthor finds what an expression names that the author of a change sets; ""
// when there is nothing of the kind.
func ofAuthor(expr string) string {
	for _, path := range contexts(expr) {
		if path[0] != "github" && path[0] != "?" {
			continue
		}
		for i, name := range path[1:] {
			before := path[i]
			switch name {
			case "head_ref":
				return strings.Join(path, ".")
			case "head", "title", "body", "labels", "user":
				if before == "pull_request" || before == "*" {
					return strings.Join(path, ".")
				}
			case "head_commit", "commits", "comment", "issue", "review", "client_payload":
				if before == "event" || before == "*" || before == "?" {
					return strings.Join(path, ".")
				}
			case "*":
				if before == "event" || before == "pull_request" || before == "github" {
					return strings.Join(path, ".")
				}
			}
		}
	}
	return ""
}

// namesInput tells whether a text names inputs.base in an expression.
func namesInput(text string) bool {
	for _, expr := range expressions(text) {
		for _, path := range contexts(expr) {
			n := len(path)
			if n >= 2 && path[n-2] == "inputs" && path[n-1] == "base" {
				return true
			}
		}
	}
	return false
}

// envs are the env mappings that a step sees, the nearest first.
func (s *step) envs() []*yaml.Node {
	return []*yaml.Node{get(s.node, "env"), get(s.job.node, "env"), get(s.job.file.root, "env")}
}

// env finds a variable in the env of step, job or workflow.
func (s *step) env(name string) (workflow.Member, bool) {
	for _, env := range s.envs() {
		if m, ok := workflow.Get(env, name); ok {
			return m, true
		}
	}
	return workflow.Member{}, false
}

// baseVariable names the base where a command's --base does not.
const baseVariable = "AAHP_BASE_SHA"

// base is where a run gets its base from.
type base struct {
	text string // with variables of env replaced
	line int
}

var variable = regexp.MustCompile(`^\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)(?:[:?+=-].*)?\})$`)

// base finds the base that a run is given; ok is false when it is given none.
func (r *run) base() (b base, ok bool) {
	if r.text == "" {
		m, ok := fold(get(r.step.node, "with"), "base")
		if !ok {
			return b, false
		}
		text, _ := scalar(m.Value)
		return base{r.step.expanded(text, 0), m.Key.Line}, true
	}
	if text, ok := r.flag("base"); ok {
		m := variable.FindStringSubmatch(text)
		if m == nil {
			return base{r.step.expanded(text, 0), r.step.line()}, true
		}
		return r.variable(m[1] + m[2])
	}
	return r.variable(baseVariable)
}

// variable finds what a variable of a command is set to: before the command
// itself, in an earlier one of its script, or in env. Where it is not found nothing
// is known of it.
func (r *run) variable(name string) (b base, ok bool) {
	if r.command != nil {
		if value, ok := r.assigned(name); ok {
			return base{r.step.expanded(value, 0), r.step.line()}, true
		}
	}
	m, ok := r.step.env(name)
	if !ok {
		return b, false
	}
	line := r.step.line()
	if name == baseVariable {
		line = m.Key.Line
	}
	text, _ := scalar(m.Value)
	return base{r.step.expanded(text, 0), line}, true
}

// assigned finds the value that the script gives a variable last before a run.
func (r *run) assigned(name string) (value string, ok bool) {
	for _, a := range slices.Backward(r.command.Assigns) {
		if a.Name == name {
			return a.Value.Value(), true
		}
	}
	s := r.step.script
	if s.given == nil {
		s.given = given(s.Script)
	}
	list := s.given[name]
	n := sort.Search(len(list), func(i int) bool { return list[i].seq >= r.command.Seq })
	if n == 0 {
		return "", false
	}
	return list[n-1].value, true
}

// gift is a value that a script gives a variable.
type gift struct {
	seq   int
	value string
}

// given finds the values that a script gives each variable, in its order.
func given(s *shell.Script) map[string][]gift {
	all := map[string][]gift{}
	for _, c := range s.Commands {
		if len(c.Words) == 0 {
			for _, a := range c.Assigns {
				all[a.Name] = append(all[a.Name], gift{c.Seq, a.Value.Value()})
			}
		}
		switch c.Name() {
		case "export", "declare", "typeset", "readonly", "local":
			for _, arg := range c.Args() {
				if name, value, ok := strings.Cut(arg, "="); ok {
					all[name] = append(all[name], gift{c.Seq, value})
				}
			}
		}
	}
	return all
}

// flag gives the last value of a flag of a command.
func (r *run) flag(name string) (value string, ok bool) {
	for i, w := range r.words {
		rest, isFlag := strings.CutPrefix(w, "--"+name)
		if !isFlag {
			continue
		}
		if v, hasValue := strings.CutPrefix(rest, "="); hasValue {
			value, ok = v, true
		} else if rest == "" && i+1 < len(r.words) {
			value, ok = r.words[i+1], true
		}
	}
	return value, ok
}

// expanded replaces an expression that is a variable of env alone by what it is
// set to.
func (s *step) expanded(text string, depth int) string {
	exprs := expressions(text)
	if len(exprs) != 1 || depth > 8 {
		return text
	}
	path := contexts(exprs[0])
	if len(path) != 1 || len(path[0]) != 2 || path[0][0] != "env" {
		return text
	}
	for _, env := range s.envs() {
		if m, ok := fold(env, path[0][1]); ok {
			inner, _ := scalar(m.Value)
			return s.expanded(inner, depth+1)
		}
	}
	return text
}
