package governance

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/conform"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
	"github.com/handoff-gate/handoff-gate/schema"
)

// Text is a string of the configuration with its place.
type Text struct {
	Text string
	Span report.Span // of the value; zero where Text is a default
}

// Config is aahp.config.json as the gates read it, defaults filled in
// (aahp-governance.md 2.2). Only a valid one has sections.
type Config struct {
	Path    string // of the file, from the repository's top level
	Present bool   // false for an absent file, which is an empty configuration

	// Problems make the configuration invalid for check and doctor, UnknownGates
	// only for check.
	Problems     []Problem
	UnknownGates []Problem

	VersionSites      []VersionSite
	Claims            []Claim
	Log               *Log // generate.log
	Freshness         Text // generate.freshness.file
	ForbiddenPatterns []Pattern
	PatternsSpan      report.Span // of the key forbiddenPatterns
	DocSync           []Group
	DocLinks          *Links
	Only, Skip        *Selection // check.only and check.skip; nil when absent
	PinnedDep         Pin
	Enforce           bool // verifyWorkflow.enforce

	root *jsondoc.Document // nil when absent or not JSON
}

// Problem is what makes the configuration invalid. Pointer is the JSON Pointer of
// the place, "" for the whole document.
type Problem struct {
	Pointer string
	Finding report.Finding
}

// VersionSite is a file that repeats the version.
type VersionSite struct {
	File     Text
	Min      int // minOccurrences
	Boundary bool
	Note     string
}

// Claim is a number that the documentation states.
type Claim struct {
	ID         string
	Phrase     Text
	Flags      Text
	Advertised Text  // the number as it is spelled, a whole one
	FloorCmd   *Text // nil without one
	Join       bool  // joinTsConcat
	Surfaces   []Text
	Span       report.Span // of the key surfaces
}

// Log is generate.log.
type Log struct {
	Span   report.Span // of the key log
	Source Text
	Target *Text // nil when absent
	Title  string
}

// Pattern is one of forbiddenPatterns.
type Pattern struct {
	ID          string
	Pattern     Text
	Flags       Text
	Message     string
	Include     []string    // never empty
	Exclude     []string    // nil for none
	Configured  bool        // Include is not the default
	IncludeSpan report.Span // of the key include, where configured
}

// Group is one of docSync.
type Group struct {
	ID      string
	Span    report.Span // of the key sources
	Sources []Source
}

// Source is one place whose values a group compares.
type Source struct{ File, Pattern Text }

// Links is docLinks.
type Links struct {
	Span        report.Span // of the key docLinks
	Include     []string
	Configured  bool
	IncludeSpan report.Span
}

// Selection is check.only or check.skip.
type Selection struct{ Gates []Text }

// Pin is pinnedDep.
type Pin struct {
	Set        bool // the section is there
	Name       string
	Location   string // "devDependencies", "dependencies" or "any"
	AllowRange bool
}

// The defaults of 2.2, 4.5 and 4.7.
const (
	defaultFreshness = gate.HandoffDir + "/NEXT_ACTIONS.md"
	defaultSource    = ChangelogFile
)

// DefaultPin is the npm package of AAHP's own tool.
const DefaultPin = "@elvatis_com/aahp"

var (
	defaultPatternFiles = strings.Fields("*.md *.mjs *.js *.json *.sh *.bash *.bats *.yml *.yaml *.txt")
	defaultLinkFiles    = []string{"README.md", "CLAUDE.md", "CONTRIBUTING.md", gate.HandoffDir + "/*.md"}
)

// ReadConfig reads and validates the configuration of a project (2.1). Mask hides
// what must not be printed, a credential or an address, in text of the file; nil
// hides nothing.
func ReadConfig(doc gate.Document, commands gate.Commands, mask func(string) string) *Config {
	r := configReader{
		c:        &Config{Path: doc.Path, Present: doc.State != gate.Absent},
		commands: commands, mask: mask,
	}
	r.c.defaults()
	if r.c.Present && r.parse(doc) {
		r.judge()
		if len(r.c.Problems) == 0 {
			r.sections()
		}
	}
	return r.c
}

// Valid tells whether check (or doctor, which does not look at gate ids) may
// evaluate its gates.
func (c *Config) Valid(command string) bool { return len(c.problems(command)) == 0 }

func (c *Config) problems(command string) []Problem {
	if command == "check" {
		return slices.Concat(c.Problems, c.UnknownGates)
	}
	return c.Problems
}

// Layer is the layer config of a report (1.1), and what makes the configuration
// invalid.
func (c *Config) Layer(command string) (report.Layer, []Problem) {
	problems := c.problems(command)
	if len(problems) == 0 {
		if !c.Present {
			return report.Skipped(ConfigID, ConfigTitle, "there is no "+ConfigFile), nil
		}
		return report.Done(ConfigID, ConfigTitle, ConfigFile+" is valid", nil), nil
	}
	findings := make([]report.Finding, len(problems))
	for i, p := range problems {
		findings[i] = p.Finding
	}
	return report.Done(ConfigID, ConfigTitle, ConfigFile+" is not valid: "+plural.Of(len(problems), "problem"), findings), problems
}

func (c *Config) defaults() {
	c.Freshness = Text{Text: defaultFreshness}
	c.PinnedDep = Pin{Name: DefaultPin, Location: "devDependencies"}
}

// maxEqualKeys is how many equal keys are listed of a file that may hold a
// hundred thousand.
const maxEqualKeys = 1000

type configReader struct {
	c        *Config
	commands gate.Commands
	mask     func(string) string
}

func (r *configReader) clean(s string) string { return Masked(r.mask, s) }

func (r *configReader) problem(ru *rule.Rule, pointer string, span report.Span, message, remedy string) Problem {
	return Problem{Pointer: pointer, Finding: ru.At(r.c.Path, span, message, again(r.commands, remedy))}
}

func (r *configReader) add(ru *rule.Rule, pointer string, span report.Span, message, remedy string) {
	r.c.Problems = append(r.c.Problems, r.problem(ru, pointer, span, message, remedy))
}

// parse tells whether the file is one JSON document without equal keys.
func (r *configReader) parse(doc gate.Document) bool {
	if doc.State != gate.Present || len(doc.Data) > gate.MaxConfig {
		why := fmt.Sprintf("it is larger than %d bytes", gate.MaxConfig)
		if doc.State != gate.TooLarge && doc.Err != nil {
			why = r.clean(doc.Err.Error())
		}
		r.add(Unreadable, "", report.Span{}, fmt.Sprintf("%s cannot be read: %s.", ConfigFile, why),
			fmt.Sprintf("Make %s a regular JSON file of at most 1 MiB that the gate may read, no link.", ConfigFile))
		return false
	}
	root, err := jsondoc.Parse(doc.Data, jsondoc.Options{MaxDepth: gate.MaxDepth, KeepEqualKeys: true})
	if err != nil {
		r.add(InvalidJSON, "", jsondoc.StoppedAt(doc.Data, err), fmt.Sprintf("%s is not JSON: %s.", ConfigFile, err),
			"Correct the file there. It must be one JSON document in UTF-8: no comments, no comma before a closing bracket, no byte order mark, no half of a surrogate pair, nested at most 64 deep.")
		return false
	}
	r.c.root = root
	r.equalKeys(root.Root, nil)
	return len(r.c.Problems) == 0
}

// equalKeys reports the keys that their object has already.
func (r *configReader) equalKeys(v *jsondoc.Value, path []string) {
	first := make(map[string]jsondoc.Member, len(v.Members))
	for _, m := range v.Members {
		if len(r.c.Problems) == maxEqualKeys {
			return
		}
		here := append(path, m.Key)
		if f, twice := first[m.Key]; twice {
			at := r.pointer(here)
			r.add(DuplicateKey, at, r.c.root.AtKey(m),
				fmt.Sprintf("%s: the key %s stands in line %d already, and readers disagree about which of the two counts.", at, quoted(r.mask, m.Key), r.c.root.Line(f.KeyOff)),
				"Keep one of the two members.")
		} else {
			first[m.Key] = m
		}
		r.equalKeys(m.Value, here)
	}
	for i, item := range v.Items {
		r.equalKeys(item, append(path, strconv.Itoa(i)))
	}
}

// pointer writes a path as a JSON Pointer that is safe to print.
func (r *configReader) pointer(path []string) string {
	var b strings.Builder
	for _, key := range path {
		b.WriteByte('/')
		b.WriteString(jsondoc.PointerToken(key))
		if b.Len() > 4*safetext.Limit {
			break // more would be cut anyway
		}
	}
	return r.clean(b.String())
}

// judge holds the document to the schema, and check.only and check.skip to the
// gates that there are.
func (r *configReader) judge() {
	for _, v := range conform.Validate(schema.Config, r.c.root, conform.Options{Mask: r.mask}) {
		pointer := v.Pointer
		if len(v.Path) == 0 {
			pointer = ""
		}
		message := v.Message
		if v.Key != "" && v.Keyword != "required" {
			message = v.Pointer + ": " + message
		}
		r.add(SchemaRule, pointer, v.Span, message, schemaRemedy(v))
	}
	check := r.c.root.Root.Get("check")
	for _, key := range []string{"only", "skip"} {
		list := check.Get(key)
		if !list.Is(jsondoc.Array) {
			continue
		}
		for i, item := range list.Items {
			if !item.Is(jsondoc.String) || slices.Contains(IDs, item.Text) {
				continue
			}
			pointer := fmt.Sprintf("/check/%s/%d", key, i)
			message := fmt.Sprintf("%s is %q, and there is no such gate", pointer, r.clean(item.Text))
			if near, ok := schema.Nearest(item.Text, slices.Sorted(slices.Values(IDs))); ok {
				message += fmt.Sprintf("; did you mean %q?", near)
			} else {
				message += "."
			}
			r.c.UnknownGates = append(r.c.UnknownGates, r.problem(UnknownGate, pointer, r.c.root.At(item), message,
				"Name one of the gates "+strings.Join(IDs, ", ")+"."))
		}
	}
}

func schemaRemedy(v conform.Violation) string {
	const see = " See the schema (aahp-config.schema.json)."
	switch {
	case v.Suggestion != "":
		return fmt.Sprintf("Rename the key to %q, or remove it.", v.Suggestion)
	case v.Keyword == "required":
		return fmt.Sprintf("Add the key %q.", v.Key) + see
	case v.Key != "":
		return "Remove the key, or correct its name." + see
	}
	return "Correct the value." + see
}

// sections reads a document that fits the schema.
func (r *configReader) sections() {
	root := r.c.root.Root
	for _, v := range items(root.Get("versionSites")) {
		site := VersionSite{File: r.text(v, "file"), Min: 1, Note: r.text(v, "note").Text}
		if n, ok := v.Get("minOccurrences").Float(); ok {
			site.Min = int(math.Min(n, math.MaxInt32))
		}
		site.Boundary = flag(v, "boundary")
		r.c.VersionSites = append(r.c.VersionSites, site)
	}
	for _, v := range items(root.Get("claims")) {
		r.c.Claims = append(r.c.Claims, r.claim(v))
	}
	r.generate(root.Get("generate"))
	r.c.PatternsSpan = r.key(root, "forbiddenPatterns")
	for _, v := range items(root.Get("forbiddenPatterns")) {
		p := Pattern{
			ID: r.name(v, "id", "(unnamed)"), Pattern: r.text(v, "pattern"), Flags: r.or(v, "flags", "gm"),
			Message: r.name(v, "message", "forbidden pattern"), Exclude: texts(v.Get("exclude")),
		}
		p.Include, p.Configured = include(v, defaultPatternFiles)
		p.IncludeSpan = r.key(v, "include")
		r.c.ForbiddenPatterns = append(r.c.ForbiddenPatterns, p)
	}
	for _, v := range items(root.Get("docSync")) {
		g := Group{ID: r.name(v, "id", "(unnamed)"), Span: r.key(v, "sources")}
		for _, s := range items(v.Get("sources")) {
			g.Sources = append(g.Sources, Source{File: r.text(s, "file"), Pattern: r.text(s, "pattern")})
		}
		r.c.DocSync = append(r.c.DocSync, g)
	}
	if v := root.Get("docLinks"); v != nil {
		l := &Links{Span: r.key(root, "docLinks"), IncludeSpan: r.key(v, "include")}
		l.Include, l.Configured = include(v, defaultLinkFiles)
		r.c.DocLinks = l
	}
	check := root.Get("check")
	r.c.Only, r.c.Skip = r.selection(check, "only"), r.selection(check, "skip")
	if v := root.Get("pinnedDep"); v != nil {
		r.c.PinnedDep = Pin{
			Set: true, Name: r.name(v, "name", DefaultPin), Location: r.or(v, "location", "devDependencies").Text,
			AllowRange: flag(v, "allowRange"),
		}
	}
	r.c.Enforce = flag(root.Get("verifyWorkflow"), "enforce")
}

func (r *configReader) claim(v *jsondoc.Value) Claim {
	c := Claim{
		ID: r.text(v, "id").Text, Phrase: r.text(v, "phrase"), Flags: r.or(v, "flags", "gi"),
		Advertised: r.text(v, "advertised"), FloorCmd: r.optional(v, "floorCmd"), Join: flag(v, "joinTsConcat"), Span: r.key(v, "surfaces"),
	}
	for _, s := range items(v.Get("surfaces")) {
		c.Surfaces = append(c.Surfaces, r.text(s, "file"))
	}
	return c
}

func (r *configReader) generate(v *jsondoc.Value) {
	if log := v.Get("log"); log != nil {
		r.c.Log = &Log{Span: r.key(v, "log"), Source: r.or(log, "source", defaultSource), Target: r.optional(log, "target"), Title: r.text(log, "title").Text}
	}
	r.c.Freshness = r.or(v.Get("freshness"), "file", defaultFreshness)
}

func (r *configReader) selection(check *jsondoc.Value, key string) *Selection {
	list := check.Get(key)
	if list == nil {
		return nil
	}
	s := &Selection{}
	for _, item := range list.Items {
		s.Gates = append(s.Gates, Text{item.Text, r.c.root.At(item)})
	}
	return s
}

// text reads a string or the spelling of a number; the zero Text when absent.
func (r *configReader) text(v *jsondoc.Value, key string) Text { return r.or(v, key, "") }

func (r *configReader) or(v *jsondoc.Value, key, otherwise string) Text {
	if t := r.optional(v, key); t != nil {
		return *t
	}
	return Text{Text: otherwise}
}

// name reads what something is called; an empty name is the same as none.
func (r *configReader) name(v *jsondoc.Value, key, otherwise string) string {
	if t := r.text(v, key).Text; t != "" {
		return t
	}
	return otherwise
}

func (r *configReader) optional(v *jsondoc.Value, key string) *Text {
	member := v.Get(key)
	if member == nil {
		return nil
	}
	return &Text{member.Text, r.c.root.At(member)}
}

// key is the place of a key; zero when v has no such member.
func (r *configReader) key(v *jsondoc.Value, key string) report.Span {
	m, ok := v.Member(key)
	if !ok {
		return report.Span{}
	}
	return r.c.root.AtKey(m)
}

func items(v *jsondoc.Value) []*jsondoc.Value {
	if v == nil {
		return nil
	}
	return v.Items
}

func texts(v *jsondoc.Value) []string {
	var out []string
	for _, item := range items(v) {
		out = append(out, item.Text)
	}
	return out
}

// include reads a list of pathspecs, of which an empty one is the same as none.
func include(v *jsondoc.Value, otherwise []string) (list []string, configured bool) {
	if list = texts(v.Get("include")); len(list) == 0 {
		return otherwise, false
	}
	return list, true
}

func flag(v *jsondoc.Value, key string) bool {
	member := v.Get(key)
	if member == nil {
		return false
	}
	b, _ := member.Bool()
	return b
}

// quoted is text of the repository in quotes, safe for a message.
func quoted(mask func(string) string, text string) string {
	if text == "" {
		return "an empty text"
	}
	return `"` + Masked(mask, text) + `"`
}
