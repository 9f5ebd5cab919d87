package audit

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/governance"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/internal/shell"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// unowned is the name of AAHP's tool without its scope. Nobody who has to do with
// AAHP owns it on the npm registry.
const unowned = "aahp"

// sourcer is the judgement of cli-source (aahp-governance.md 8).
type sourcer struct {
	*Audit
	*findings
	self              bool // this repository is AAHP's own: its shapes are not judged
	usesAAHP, usesOwn bool
}

// mentions finds the gate's name in the text of a file that cannot be parsed.
var mentions = regexp.MustCompile(`aahp|handoff-gate`)

// CLISource judges whether what a workflow runs is the gate that was meant.
func (a *Audit) CLISource() governance.Gate {
	s := &sourcer{Audit: a, findings: a.findings(), self: a.in.Package != "" && a.in.Package == a.in.Pinned}
	if a.unread != "" {
		s.add(Undecidable, report.Error, Folder, 0, "", "the folder of workflows cannot be read: "+a.unread, Undecidable.Remedy)
	}
	for _, f := range a.files {
		if f.undecided() {
			if mentions.MatchString(f.text) || f.huge || f.text == "" && mentions.MatchString(strings.ToLower(f.base)) {
				s.add(Undecidable, report.Error, f.path, max(f.line, 1), "", "the workflow cannot be judged: "+f.broken, Undecidable.Remedy)
			}
			continue
		}
		for _, j := range f.jobs {
			s.job(j)
		}
	}
	list := s.sorted()
	g := governance.Judged(CLISource, CLISourceTitle, "", list)
	switch {
	case len(list) > 0:
		g.Reason = plural.Of(len(list), "doubtful source") + ", first " + list[0].Rule
	case s.usesAAHP && s.self:
		g.Outcome, g.Reason = governance.Self, "this repository is "+s.name(a.in.Pinned)+" itself"
	case s.usesAAHP || s.usesOwn:
		g.Reason = "every workflow runs a gate whose source is fixed"
	default:
		g.Outcome, g.Reason = governance.NotApplicable, "no workflow runs the CLI of AAHP, or this program or its action"
	}
	return g
}

// jobState is what earlier steps of a job have done.
type jobState struct {
	installed bool // dependencies were installed
	prepared  bool // by an action, perhaps: what it does is not read
	moved     bool // the step at hand has changed its folder
}

// plainActions do not install dependencies; a cache is not verified.
var plainActions = []string{"actions/checkout", "actions/setup-node", "actions/setup-python", "actions/cache"}

func (s *sourcer) job(j *job) {
	var state jobState
	for _, st := range j.steps {
		switch {
		case st.script != nil:
			state.moved = st.movesFolder()
			s.commands(st, st.script, &state, 0)
		case st.uses.Key != nil:
			s.action(st)
			if !slices.Contains(plainActions, st.action.repo) {
				state.prepared = true
			}
		}
	}
}

// movesFolder tells whether a step, or the defaults around it, set the folder it
// runs in.
func (s *step) movesFolder() bool {
	return get(s.node, "working-directory") != nil || get(s.job.node, "defaults", "run", "working-directory") != nil ||
		get(s.job.file.root, "defaults", "run", "working-directory") != nil
}

// fault notes a finding about what a step runs.
func (s *sourcer) fault(r *rule.Rule, severity report.Severity, st *step, message string) {
	s.add(r, severity, st.job.file.path, st.line(), "", message, r.Remedy)
}

var (
	fullCommit  = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
	pinnedImage = regexp.MustCompile(`@sha256:[0-9a-f]{64}$`)
	exactModule = regexp.MustCompile(`^v\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$`)
)

func (s *sourcer) action(st *step) {
	a := st.action
	if !a.ours {
		return
	}
	s.usesOwn = true
	switch {
	case a.image != "":
		s.image(st, a.image)
	case !a.local && !fullCommit.MatchString(a.ref):
		s.fault(UnpinnedAction, report.Warning, st, fmt.Sprintf("the action is used by %s, which can be moved to other code", s.quote("@"+a.ref)))
	}
}

// image reports our image where it is not named by digest.
func (s *sourcer) image(st *step, image string) {
	s.usesOwn = true
	if !pinnedImage.MatchString(image) {
		s.fault(UnpinnedAction, report.Warning, st, fmt.Sprintf("the image %s is not named by its digest, and a tag can be moved to another image", s.quote(image)))
	}
}

// commands looks at those of a script, and of those that it gives to another shell.
func (s *sourcer) commands(st *step, in *script, state *jobState, depth int) {
	for _, c := range in.Commands {
		s.command(st, c, state)
		if inner := innerScript(c); inner != nil && depth < maxShells {
			s.commands(st, inner, state, depth+1)
		}
	}
}

// command looks at one command of a step.
func (s *sourcer) command(st *step, c *shell.Command, state *jobState) {
	var words []string
	for _, w := range c.Words {
		words = append(words, w.Value())
	}
	if len(words) == 0 {
		return
	}
	words[0] = c.Name()
	if words[0] == "cd" || words[0] == "pushd" {
		state.moved = true
	}
	if runsNothing(c, st.script.mode.flat) {
		return
	}
	s.scripts(st, words, state)
	for _, called := range toolCalls(words) {
		fetched := fetchOf(called)
		s.packages(st, called, fetched, state)
		s.module(st, called)
		if image, ok := imageOf(called); ok && isGate(imageName(image)) {
			s.image(st, image)
		}
		if fetched.installs && !slices.Contains(containerTools, words[0]) {
			state.installed = true // here, and not in a container
		}
	}
	// A command that is found on the machine is no doubtful one.
	for _, r := range shapes(c.Text) {
		s.usesAAHP = s.usesAAHP || r.kind == aahp && !verifyScript.MatchString(c.Text)
		s.usesOwn = s.usesOwn || r.kind == ours
	}
	switch strings.TrimSuffix(path.Base(words[0]), ".exe") {
	case "aahp":
		s.usesAAHP = true
	case "handoff-gate":
		s.usesOwn = true
	}
}

var verifyScript = patterns[0].shape

// toolCalls gives the words of a command from each program on that fetches
// something: another program may run it, as in timeout 60 npx aahp.
func toolCalls(words []string) [][]string {
	var all [][]string
	for i, w := range words {
		tool := strings.TrimSuffix(strings.TrimSuffix(path.Base(w), ".cmd"), ".exe")
		if tool != "go" && !slices.Contains(npmTools, tool) && !slices.Contains(containerTools, tool) {
			continue
		}
		all = append(all, append([]string{tool}, words[i+1:]...))
		if len(all) == maxCalls {
			break
		}
	}
	return all
}

// maxCalls bounds the calls of programs that are looked at in one command.
const maxCalls = 4

// packages looks at npm packages that a command names.
func (s *sourcer) packages(st *step, words []string, f fetch, state *jobState) {
	for _, name := range f.names {
		var r *rule.Rule
		switch name {
		case s.Audit.in.Pinned:
			r = RegistryFetch
		case unowned:
			r = UnownedName
		default:
			continue
		}
		s.usesAAHP = true
		if s.self {
			continue
		}
		shown := s.quote(strings.Join(words[:min(len(words), 6)], " "))
		switch {
		case !f.local && r == UnownedName:
			s.fault(r, report.Error, st, shown+" fetches the package aahp, which does not belong to AAHP: whoever owns that name chooses what runs")
		case !f.local:
			s.fault(r, report.Error, st, shown+" fetches the gate from the registry at each run: no lock file says what is run")
		case r == UnownedName:
			s.fault(r, report.Warning, st, shown+" names the package aahp, which does not belong to AAHP; nothing is fetched, so it fails where that is not installed")
		default:
			s.needsInstall(st, state)
		}
	}
}

// needsInstall reports a package that nothing has installed.
func (s *sourcer) needsInstall(st *step, state *jobState) {
	if !state.installed && !state.prepared {
		s.fault(NoInstall, report.Error, st, "the gate is run from node_modules, and no step before installs the dependencies")
	}
}

var (
	installedCLI = regexp.MustCompile(`(?:^|/)node_modules/(?:(?:.*/)?bin/aahp\.js|\.bin/aahp(?:\.cmd)?)$`)
	checkoutCLI  = regexp.MustCompile(`^(?:\./)?bin/aahp\.js$`)
)

// scripts looks at AAHP's tool where it is called by its path.
func (s *sourcer) scripts(st *step, words []string, state *jobState) {
	for i, w := range words {
		w = strings.ReplaceAll(w, `\`, "/")
		switch {
		case installedCLI.MatchString(w):
			s.usesAAHP = true
			if !s.self {
				s.needsInstall(st, state)
			}
		case checkoutCLI.MatchString(w) && i > 0 && slices.ContainsFunc(words[:i], isNode):
			s.usesAAHP = true
			if !s.self && !state.moved && !s.exists("bin/aahp.js") {
				s.fault(CheckoutPath, report.Error, st, "the repository has no file bin/aahp.js: the step fails, or runs what another step put there")
			}
		}
	}
}

func isNode(w string) bool { return strings.TrimSuffix(path.Base(w), ".exe") == "node" }

func (s *sourcer) exists(p string) bool {
	e, err := s.Audit.in.Tree.Stat(p)
	return err == nil && e.Kind != gate.Folder
}

// goValued are options of go run and go install that take a value.
var goValued = strings.Fields("-C -exec -tags -ldflags -gcflags -asmflags -mod -modfile -overlay -p -pkgdir -toolexec -o -buildmode -compiler -coverpkg -covermode")

// module looks at go run and go install.
func (s *sourcer) module(st *step, words []string) {
	if words[0] != "go" {
		return
	}
	args := positional(words[1:], goValued)
	if len(args) < 2 || args[0] != "run" && args[0] != "install" {
		return
	}
	packages := args[1:]
	if args[0] == "run" {
		packages = packages[:1] // the rest is for the program
	}
	for _, arg := range packages {
		module, version, _ := strings.Cut(arg, "@")
		elements := strings.Split(module, "/")
		if !slices.Contains(elements, "handoff-gate") || strings.HasPrefix(module, ".") || !strings.Contains(elements[0], ".") {
			continue
		}
		s.usesOwn = true
		if !exactModule.MatchString(version) {
			s.fault(RegistryFetch, report.Error, st, s.quote(arg)+" names no exact version: what is run can change from one run to the next")
		}
	}
}

// fetch is what a command does with npm packages.
type fetch struct {
	names    []string // the packages that it names, without versions
	local    bool     // it runs them only where they are installed
	installs bool     // it installs the dependencies of the project
}

// npmTools are the programs that fetchOf knows.
var npmTools = strings.Fields("npm npx pnpm pnpx yarn bun bunx")

// containerTools are the programs that imageOf knows.
var containerTools = strings.Fields("docker podman nerdctl")

// npmValued are options of theirs that take a value, allValued those of the
// package and the command to call as well.
var (
	npmValued = strings.Fields("--prefix --registry --loglevel --cache --userconfig --workspace -w -C --dir --cwd --filter")
	allValued = append(strings.Fields("-p --package -c --call"), npmValued...)
)

var (
	npmInstall = []string{"install", "i", "in", "ins", "inst", "insta", "instal", "isnt", "isnta", "isntal", "isntall", "add", "install-test", "it"}
	npmCI      = []string{"ci", "clean-install", "ic", "install-clean", "isntall-clean", "install-ci-test", "cit", "clean-install-test", "sit"}
)

// fetchOf reads a command of npm or its like.
func fetchOf(words []string) fetch {
	tool := words[0]
	if !slices.Contains(npmTools, tool) {
		return fetch{}
	}
	rest := words[1:]
	sub := ""
	args := positional(rest, allValued)
	if len(args) > 0 {
		sub = args[0]
	}
	if tool == "yarn" && sub == "global" && len(args) > 1 {
		args = args[1:]
		sub = args[0]
	}
	switch {
	case tool == "npx", tool == "bunx", tool == "pnpx":
		f := fetch{names: named(rest)}
		f.local = tool == "npx" && hasOption(rest, "--no-install", "--no") && !hasOption(rest, "--yes", "-y")
		return f
	case tool == "npm" && (sub == "exec" || sub == "x"), tool == "pnpm" && sub == "dlx", tool == "yarn" && sub == "dlx", tool == "bun" && sub == "x":
		return fetch{names: named(without(rest, sub))}
	case tool == "npm" && slices.Contains(npmInstall, sub), (tool == "pnpm" || tool == "yarn" || tool == "bun") && sub == "add":
		f := fetch{installs: true}
		for _, arg := range args[1:] {
			f.names = append(f.names, packageName(arg))
		}
		return f
	case tool == "npm" && slices.Contains(npmCI, sub), (tool == "pnpm" || tool == "bun") && (sub == "install" || sub == "i" || sub == "ci"), tool == "yarn" && (sub == "install" || sub == ""):
		return fetch{installs: true}
	}
	return fetch{}
}

// without gives the words but for the first that is sub, which is among them.
func without(words []string, sub string) []string {
	i := slices.Index(words, sub)
	return append(slices.Clone(words[:i]), words[i+1:]...)
}

// positional gives the words that are no options. valued lists the options that
// take the next word as their value; -- ends them.
func positional(words, valued []string) []string {
	var all []string
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "--":
			return append(all, words[i+1:]...)
		case !strings.HasPrefix(w, "-") || w == "-":
			all = append(all, w)
		case slices.Contains(valued, w):
			i++
		}
	}
	return all
}

// hasOption tells whether one of the options stands before the command that is
// run.
func hasOption(words []string, names ...string) bool {
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "--" || !strings.HasPrefix(w, "-"):
			return false
		case slices.Contains(names, w):
			return true
		case slices.Contains(allValued, w):
			i++
		}
	}
	return false
}

// named gives the packages that npx or its like is asked for: those of -p and
// --package, else the first word that is no option.
func named(words []string) []string {
	var names []string
	called := false
	for i := 0; i < len(words); i++ {
		w := words[i]
		value, isPackage := strings.CutPrefix(w, "--package=")
		switch {
		case isPackage:
			names = append(names, packageName(value))
		case w == "-p" || w == "--package":
			if i++; i < len(words) {
				names = append(names, packageName(words[i]))
			}
		case w == "-c" || w == "--call":
			i++
			called = true
		case strings.HasPrefix(w, "--call="):
			called = true
		case slices.Contains(npmValued, w):
			i++
		case w == "--" || !strings.HasPrefix(w, "-"):
			if w == "--" {
				i++
			}
			if len(names) == 0 && !called && i < len(words) {
				names = append(names, packageName(words[i]))
			}
			return names
		}
	}
	return names
}

// packageName takes the version from the name of a package, and what it is an
// alias for.
func packageName(spec string) string {
	if _, target, ok := strings.Cut(spec, "@npm:"); ok {
		spec = target
	}
	spec = strings.TrimPrefix(spec, "npm:")
	if i := strings.LastIndexByte(spec, '@'); i > 0 {
		spec = spec[:i]
	}
	return spec
}

// flagsOfRun are the options of docker run that take no value.
var flagsOfRun = strings.Fields("--rm --init --privileged --read-only --detach --interactive --tty --publish-all --no-healthcheck --oom-kill-disable --sig-proxy --quiet --disable-content-trust --help")

// imageOf gives the image of docker run and docker pull.
func imageOf(words []string) (image string, ok bool) {
	if !slices.Contains(containerTools, words[0]) {
		return "", false
	}
	i := 1
	for i < len(words) && (strings.HasPrefix(words[i], "-") || words[i] == "container" || words[i] == "image") {
		if slices.Contains([]string{"--context", "-c", "--config", "--host", "-H", "--log-level", "-l"}, words[i]) {
			i++
		}
		i++
	}
	if i >= len(words) || words[i] != "run" && words[i] != "pull" {
		return "", false
	}
	pull := words[i] == "pull"
	for i++; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "--":
			continue
		case !strings.HasPrefix(w, "-"):
			return w, true
		case strings.Contains(w, "="):
		case pull && w != "--platform", slices.Contains(flagsOfRun, w):
		case !strings.HasPrefix(w, "--") && cluster(w):
		default:
			i++ // its value
		}
	}
	return "", false
}

// cluster tells whether a word of short options takes no further word: all of
// them are switches, or one has its value in the same word.
func cluster(w string) bool {
	for k, c := range w[1:] {
		if !strings.ContainsRune("ditPq", c) {
			return k+2 < len(w)
		}
	}
	return true
}
