// Package criteria reports on the acceptance criteria of tasks (aahp-authoring.md
// 5). It reads prose that people write by hand, so it cannot be sound: nothing it
// finds is an error, and it is no layer of verify.
//
// A new shape of prose belongs to read.go, which makes sections of a text, and a new
// rule to rules.go and check.go, which judges them.
package criteria

import (
	"errors"
	"fmt"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/policy"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// ID and Title name the layer in a report.
const (
	ID    = "criteria"
	Title = "Acceptance criteria"
)

// MaxDocument is how large a document may be, in bytes.
const MaxDocument = 64 << 20

// Input is what the report is made of.
type Input struct {
	Project string // from the repository's top level; "." for the top level itself
	Config  Config
	Refused error // why git refused the pathspecs; nil where it did not
	Files   []File

	// Manifest is the path of the registry, relative to the project, and Registry
	// what was read there.
	Manifest string
	Registry Registry
}

// File is one tracked document.
type File struct {
	Path string // from the repository's top level
	Document
	Err error // why it could not be read
}

// Check makes the layer.
func Check(in Input) report.Layer {
	var b report.Bounded
	c := checker{in: in, findings: &b}
	c.config()
	c.registry()
	sections, read := 0, 0
	for _, f := range in.Files {
		if f.Err != nil {
			b.Add(FileUnreadable.At(f.Path, first, fmt.Sprintf("The file could not be read: %s.", reason(f.Err)), FileUnreadable.Remedy))
			continue
		}
		read++
		sections += len(f.Sections)
		c.file(f)
	}
	if read == 0 && in.Refused == nil {
		b.Add(NoFilesMatched.At(c.configFile(), first,
			fmt.Sprintf("No file was read: git tracks none that %s selects and that can be read.", quoted(in.Config.Include)), NoFilesMatched.Remedy))
	}
	summary := fmt.Sprintf("%s in %s, %s", plural.Of(sections, "section"), plural.Of(read, "file"), c.state())
	return report.Done(ID, Title, summary, b.Findings())
}

// first is the place of what concerns a file as a whole.
var first = report.Span{Line: 1}

type checker struct {
	in       Input
	findings *report.Bounded
}

func (c *checker) configFile() string { return gate.Join(c.in.Project, policy.ConfigFile) }

func (c *checker) config() {
	for _, p := range c.in.Config.Problems {
		c.findings.Add(ConfigUnusable.At(c.configFile(), first, p, ConfigUnusable.Remedy))
	}
	if c.in.Refused != nil {
		c.findings.Add(IncludeUnusable.At(c.configFile(), first,
			fmt.Sprintf("git refused %s: %s.", quoted(c.in.Config.Include), reason(c.in.Refused)), IncludeUnusable.Remedy))
	}
}

func (c *checker) registry() {
	r := c.in.Registry
	at := gate.Join(c.in.Project, c.in.Manifest)
	name := safetext.Clean(c.in.Manifest)
	switch {
	case r.Usable:
	case errors.Is(r.Err, ErrOutside):
		c.findings.Add(ManifestOutsideRoot.At(c.configFile(), first,
			fmt.Sprintf("The task registry %s lies outside of the project and was not opened.", name), ManifestOutsideRoot.Remedy))
	case r.Err != nil:
		c.findings.Add(ManifestUnreadable.At(at, first, fmt.Sprintf("The task registry cannot be used: %s.", reason(r.Err)), ManifestUnreadable.Remedy))
	case c.in.Config.Configured:
		c.findings.Add(ManifestMissing.At(at, first, fmt.Sprintf("The task registry %s does not exist.", name), ManifestMissing.Remedy))
	}
}

// state says what is known of the tasks.
func (c *checker) state() string {
	r := c.in.Registry
	switch {
	case r.Usable:
		return "registry " + safetext.Clean(c.in.Manifest) + " with " + plural.Of(len(r.Tasks), "task")
	case errors.Is(r.Err, ErrOutside):
		return "registry outside of the project, not opened"
	case r.Err != nil:
		return "registry " + safetext.Clean(c.in.Manifest) + " cannot be used"
	}
	return "no registry"
}

// done is the status of a task whose criteria must all be settled.
const done = "done"

func (c *checker) file(f File) {
	for _, s := range f.Sections {
		at := report.Span{Line: s.Line}
		if s.Alias != "" {
			c.findings.Add(LegacyHeading.At(f.Path, at,
				fmt.Sprintf("The section stands under “%s”; the heading for new text is “Acceptance criteria”.", s.Alias), LegacyHeading.Remedy))
		}
		status, known := c.in.Registry.Tasks[s.Task]
		if c.in.Registry.Usable && (s.Task == "" || !known) {
			c.findings.Add(Unbound.At(f.Path, at, unbound(s.Task), Unbound.Remedy))
		}
		if s.Criteria == 0 {
			c.findings.Add(Unparsed.At(f.Path, at, "The section holds no item that can be read as a criterion.", Unparsed.Remedy))
		}
		if s.Plain > 0 {
			c.findings.Add(PlainBullets.At(f.Path, report.Span{Line: s.Plain},
				"A criterion is a plain list item: nothing tells whether it is met.", PlainBullets.Remedy))
		}
		if s.Open > 0 && status == done {
			c.findings.Add(UnresolvedOnDone.At(f.Path, report.Span{Line: s.Open},
				fmt.Sprintf("Task %s is done, and this criterion is open, neither waived nor moved to a follow-up.", s.Task), UnresolvedOnDone.Remedy))
		}
	}
	if f.OpenFence > 0 {
		c.findings.Add(UnterminatedFence.At(f.Path, report.Span{Line: f.OpenFence},
			"The code fence is open at the end of the file; "+notRead(f.Lost), UnterminatedFence.Remedy))
	}
}

func unbound(task string) string {
	if task == "" {
		return "The section stands under no task."
	}
	return fmt.Sprintf("The section belongs to %s, which the registry does not have.", safetext.Clean(task))
}

// notRead says how many lines a fence takes away.
func notRead(n int) string {
	return fmt.Sprintf("%s after it %s not read.", plural.Of(n, "line"), plural.Are(n))
}

func quoted(pathspecs []string) string {
	return "“" + safetext.Clean(strings.Join(pathspecs, " ")) + "”"
}

func reason(err error) string { return strings.TrimRight(safetext.Clean(err.Error()), ". ") }
