package githubapi

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/sethvargo/go-githubactions"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/governance/doctor"
)

// InputSpec is one input of action.yml: its name, its default and what it takes.
type InputSpec struct {
	Name    string
	Default string
	Allowed string // in words, for the usage error
}

// tokenDefault is the default of the input token in action.yml; the runner
// evaluates it, so what arrives here is the token itself or nothing.
const tokenDefault = "${{ github.token }}" //nolint:gosec // the expression, not a token.

const (
	aBool   = "true or false"
	aFolder = "a folder below the top, without .. and not absolute"
	aFile   = "a file path below GITHUB_WORKSPACE, without .., not absolute and not below .git"
)

// InputSpecs is every input of the Action, in the order of action.yml
// (github-action.md 1, interface.md "Beyond AAHP in the Action").
var InputSpecs = []InputSpec{
	{Name: "base", Allowed: "a full commit id"},
	{Name: "path", Default: ".", Allowed: "folders, globs or auto, one a line, without .. and not absolute"},
	{Name: "working-directory", Default: ".", Allowed: aFolder},
	{Name: "check-run", Default: "auto", Allowed: "auto or off"},
	{Name: "check-name", Allowed: "one line of text"},
	{Name: "sha", Allowed: "a full commit id"},
	{Name: "annotations", Default: "auto", Allowed: "auto, commands or off"},
	{Name: "max-annotations", Default: "200", Allowed: "a number from 0 to 1000"},
	{Name: "summary", Default: "true", Allowed: aBool},
	{Name: "report", Allowed: aFile},
	{Name: "sarif", Allowed: aFile},
	{Name: "fetch-missing", Default: "true", Allowed: aBool},
	{Name: "api-timeout", Default: "60", Allowed: "a number of seconds from 1 to 600"},
	{Name: "token", Default: tokenDefault, Allowed: "a token, or nothing"},
	{Name: "schema", Default: "false", Allowed: aBool},
	{Name: "secrets", Default: "fixed", Allowed: "fixed or extended"},
	{Name: "governance", Default: "false", Allowed: aBool},
	{Name: "governance-skip", Allowed: "ids of gates, one a line: " + strings.Join(doctor.Gates(), ", ")},
	{Name: "checks", Default: "on", Allowed: "on or off"},
	{Name: "packets", Allowed: "globs of files, one a line, without .. and not absolute"},
	{Name: "packets-all", Default: "false", Allowed: aBool},
	{Name: "packets-strict", Default: "true", Allowed: aBool},
	{Name: "registry", Allowed: "the path of a file below the top, without .. and not absolute; packets need one"},
	{Name: "receiver", Allowed: "an agent's id"},
	{Name: "claim", Default: "false", Allowed: aBool + ", true only with packets"},
	{Name: "ledger", Default: ledgerRefs, Allowed: "refs, github:OWNER/REPO, or " + aFile},
	{Name: "sessions", Default: "auto", Allowed: "auto, off, or root folders, one a line, without .. and not absolute"},
	{Name: "policy-from", Default: "base", Allowed: "base or head"},
}

// AnnotationMode is the input annotations.
type AnnotationMode string

// The annotation modes.
const (
	AnnotationsAuto     AnnotationMode = "auto"     // on the check run if there is one, else commands
	AnnotationsCommands AnnotationMode = "commands" // workflow commands alone
	AnnotationsOff      AnnotationMode = "off"
)

// PathLine is one line of the input path. What it names is found out later: a
// line that is an existing folder is that folder, whatever characters it has.
type PathLine struct {
	Text string // cleaned: slashes, no "./", no final slash; "." is the top level
	Auto bool   // the word auto
	Glob bool   // it holds * or ?
}

// Sessions is the input sessions. Its zero value is off.
type Sessions struct {
	Auto  bool     // what is found and was changed
	Roots []string // these and all in them; cleaned: slashes, "." is the top level
}

// Off tells whether neither sessions nor install records are verified.
func (s Sessions) Off() bool { return !s.Auto && len(s.Roots) == 0 }

// Inputs are the inputs of the Action, checked as far as that needs no file.
type Inputs struct {
	Base             string // not checked: a bad one is a finding, no usage error
	Paths            []PathLine
	WorkingDirectory string // cleaned; "." is the workspace
	CheckRun         bool   // auto; false is off
	CheckName        string // "" is by Name
	SHA              string // lower case; "" is by event
	Annotations      AnnotationMode
	MaxAnnotations   int // 0 to 1000
	Summary          bool
	Report, SARIF    string // cleaned, below the workspace; "" is none
	FetchMissing     bool
	APITimeout       time.Duration
	Token            string
	Schema           bool
	ExtendedSecrets  bool
	Governance       bool
	GovernanceSkip   []string // ids of gates that the layer governance leaves out
	Checks           bool     // declared trust checks are run
	Sessions         Sessions
	Packets          Packets
	PolicyFromHead   bool
}

// Packets are the inputs about signed packets.
type Packets struct {
	Globs    []string // cleaned: slashes, no "./"; none switches packets off
	All      bool     // every match, changed or not
	Strict   bool
	Registry string // cleaned, from the top level
	Receiver string // "" is whoever each packet names
	Claim    bool
	Ledger   Ledger
}

// Ledger is the input ledger: refs of a repository, or a file.
type Ledger struct {
	Refs       bool   // this repository's
	Repository string // another's, OWNER/REPO
	File       string // cleaned, below the workspace
}

// ledgerRefs is the input ledger's word for this repository's refs.
const ledgerRefs = "refs"

// UsageError is an input whose value is not one it takes: exit status 2.
type UsageError struct {
	Input, Value, Allowed string
}

// Error names the input, what was given and what is allowed.
func (e *UsageError) Error() string {
	return fmt.Sprintf("input %s: %q is not allowed; allowed: %s", e.Input, brief(e.Value), e.Allowed)
}

// ReadInputs reads INPUT_* and checks it. All bad inputs are reported together,
// as UsageErrors joined in the order of action.yml; Inputs then holds what
// could be read, so that the token is masked in that case too.
func ReadInputs(lookup Lookup) (Inputs, error) {
	r := newInputReader(lookup)
	in := Inputs{
		Base:             r.text("base"),
		Paths:            r.paths("path"),
		WorkingDirectory: r.folder("working-directory"),
		CheckRun:         r.choice("check-run", "auto", "off") == "auto",
		CheckName:        r.line("check-name"),
		SHA:              r.sha("sha"),
		Annotations:      AnnotationMode(r.choice("annotations", "auto", "commands", "off")),
		MaxAnnotations:   r.number("max-annotations", 0, 1000),
		Summary:          r.boolean("summary"),
		Report:           r.file("report"),
		SARIF:            r.file("sarif"),
		FetchMissing:     r.boolean("fetch-missing"),
		APITimeout:       time.Duration(r.number("api-timeout", 1, 600)) * time.Second,
		Token:            r.token("token"),
		Schema:           r.boolean("schema"),
		ExtendedSecrets:  r.choice("secrets", "fixed", "extended") == "extended",
		Governance:       r.boolean("governance"),
		GovernanceSkip:   r.gates("governance-skip"),
		Checks:           r.choice("checks", "on", "off") == "on",
		Sessions:         r.sessions("sessions"),
		Packets:          r.packets(),
		PolicyFromHead:   r.choice("policy-from", "base", "head") == "head",
	}
	if in.Report != "" && in.Report == in.SARIF {
		r.errs = append(r.errs, &UsageError{Input: "sarif", Value: in.SARIF, Allowed: "another file than report"})
	}
	slices.SortStableFunc(r.errs, func(a, b *UsageError) int { return r.order[a.Input] - r.order[b.Input] })
	var errs []error
	for _, e := range r.errs {
		errs = append(errs, e)
	}
	return in, errors.Join(errs...)
}

// Name is the check run's name: the input check-name, or the program's with the
// one project it is about.
func (in Inputs) Name() string {
	switch {
	case in.CheckName != "":
		return in.CheckName
	case len(in.Paths) == 1 && in.Paths[0].Text != ".":
		return "handoff-gate (" + brief(in.Paths[0].Text) + ")"
	}
	return "handoff-gate"
}

// inputReader reads inputs and collects what is wrong with them.
type inputReader struct {
	lookup Lookup
	action *githubactions.Action
	specs  map[string]InputSpec
	order  map[string]int
	errs   []*UsageError
}

func newInputReader(lookup Lookup) *inputReader {
	r := &inputReader{lookup: lookup, specs: map[string]InputSpec{}, order: map[string]int{}}
	// GetInput knows how the runner makes a variable of a name and that values
	// are trimmed. Nothing else of the library is used here: its SetOutput and
	// SaveState write one constant delimiter and panic on a failed write.
	r.action = githubactions.New(githubactions.WithWriter(io.Discard), githubactions.WithGetenv(func(name string) string {
		v, _ := lookup(name)
		return v
	}))
	for i, s := range InputSpecs {
		r.specs[s.Name], r.order[s.Name] = s, i
	}
	return r
}

// given is the trimmed value of an input, "" when it is not set. The runner
// keeps the hyphens of a name. Some shells drop such variables, so the spelling
// with underscores counts where the other does not exist; where it exists, even
// empty, a step that sets the second through GITHUB_ENV changes nothing.
func (r *inputReader) given(name string) string {
	if strings.Contains(name, "-") {
		if _, ok := r.lookup("INPUT_" + strings.ToUpper(name)); !ok {
			// GetInput turns blanks into underscores.
			return r.action.GetInput(strings.ReplaceAll(name, "-", " "))
		}
	}
	return r.action.GetInput(name)
}

// text is the value or the default.
func (r *inputReader) text(name string) string {
	if v := r.given(name); v != "" {
		return v
	}
	return r.specs[name].Default
}

func (r *inputReader) refuse(name, value string) {
	r.errs = append(r.errs, &UsageError{Input: name, Value: value, Allowed: r.specs[name].Allowed})
}

func (r *inputReader) choice(name string, values ...string) string {
	v := r.text(name)
	if !slices.Contains(values, v) {
		r.refuse(name, v)
		return r.specs[name].Default
	}
	return v
}

func (r *inputReader) boolean(name string) bool {
	v := r.text(name)
	switch {
	case strings.EqualFold(v, "true"):
		return true
	case !strings.EqualFold(v, "false"):
		r.refuse(name, v)
		return r.specs[name].Default == "true"
	}
	return false
}

func (r *inputReader) number(name string, least, most int) int {
	v := r.text(name)
	n, err := strconv.Atoi(v)
	digits := strings.Trim(v, "0123456789") == "" // no sign, no underscore
	if err != nil || !digits || n < least || n > most {
		r.refuse(name, v)
		n, _ = strconv.Atoi(r.specs[name].Default)
	}
	return n
}

func (r *inputReader) line(name string) string {
	v := r.text(name)
	if strings.ContainsFunc(v, unicode.IsControl) {
		r.refuse(name, v)
		return ""
	}
	return v
}

func (r *inputReader) sha(name string) string {
	v := strings.ToLower(r.text(name))
	if v != "" && !fullID.MatchString(v) {
		r.refuse(name, v)
		return ""
	}
	return v
}

// token has no default here: an empty input means none, and no other variable
// is consulted.
func (r *inputReader) token(name string) string {
	v := r.given(name)
	if strings.ContainsFunc(v, func(c rune) bool { return c <= ' ' || c > '~' }) {
		// It would break the request's header. Its value is in no message.
		r.refuse(name, "(hidden)")
	}
	return v
}

// below cleans a path and tells whether it stays below where it starts.
func below(p string) (string, bool) {
	if p == "" || strings.HasPrefix(p, "/") || strings.ContainsRune(p, 0) {
		return "", false
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == ".." {
			return "", false
		}
	}
	return path.Clean(p), true
}

// fileBelow is below for what cannot be the folder where it starts.
func fileBelow(p string) (string, bool) {
	p, ok := below(p)
	if p == "." {
		return "", false
	}
	return p, ok
}

// lines reads an input of several values, one a line, by one that reads a line. Empty
// lines are passed over, equal values count once.
func lines[T comparable](r *inputReader, name string, one func(line string) (T, bool)) []T {
	var all []T
	for line := range strings.SplitSeq(r.text(name), "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		v, ok := one(line)
		if !ok {
			r.refuse(name, line)
		} else if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

func (r *inputReader) folder(name string) string {
	v := r.text(name)
	p, ok := below(v)
	if !ok {
		r.refuse(name, v)
		return "."
	}
	return p
}

func (r *inputReader) file(name string) string {
	v := r.text(name)
	if v == "" {
		return ""
	}
	p, ok := fileBelow(v)
	if !ok || strings.HasSuffix(v, "/") || gate.InGit(p) {
		r.refuse(name, v)
		return ""
	}
	return p
}

// paths reads the folders and globs of path.
func (r *inputReader) paths(name string) []PathLine {
	return lines(r, name, func(line string) (PathLine, bool) {
		p, ok := below(line)
		return PathLine{Text: p, Auto: line == "auto", Glob: strings.ContainsAny(p, "*?")}, ok
	})
}

// gates reads ids of gates of check and doctor.
func (r *inputReader) gates(name string) []string {
	return lines(r, name, func(id string) (string, bool) { return id, slices.Contains(doctor.Gates(), id) })
}

// sessions reads one of the two words, or root folders.
func (r *inputReader) sessions(name string) Sessions {
	switch r.text(name) {
	case "auto":
		return Sessions{Auto: true}
	case "off":
		return Sessions{}
	}
	return Sessions{Roots: lines(r, name, below)}
}

// packets reads the inputs about packets.
func (r *inputReader) packets() Packets {
	p := Packets{
		Globs: lines(r, "packets", fileBelow), All: r.boolean("packets-all"), Strict: r.boolean("packets-strict"), Registry: r.fromTop("registry"),
		Receiver: r.line("receiver"), Claim: r.boolean("claim"), Ledger: r.ledger("ledger"),
	}
	given := r.text("packets") != ""
	if given && r.text("registry") == "" {
		r.refuse("registry", "")
	}
	if p.Claim && !given {
		r.refuse("claim", "true")
	}
	return p
}

// fromTop reads the path of a file from the top level; "" where none is given.
func (r *inputReader) fromTop(name string) string {
	v := r.text(name)
	if v == "" {
		return ""
	}
	p, ok := fileBelow(v)
	if !ok {
		r.refuse(name, v)
	}
	return p
}

// ledger reads where claims stand. What else git could serve, a folder or a
// remote, is for the command line.
func (r *inputReader) ledger(name string) Ledger {
	v := r.text(name)
	if v == ledgerRefs {
		return Ledger{Refs: true}
	}
	if repository, ok := strings.CutPrefix(v, "github:"); ok {
		if _, _, ok := ownerAndName(repository); !ok {
			r.refuse(name, v)
		}
		return Ledger{Repository: repository}
	}
	if strings.HasPrefix(v, "git:") || strings.HasPrefix(v, "remote:") {
		r.refuse(name, v)
		return Ledger{Refs: true}
	}
	return Ledger{File: r.file(name)}
}
