// Package install judges the install record of an agents-handoff copy: are the
// files in a folder those that the installer put there, and does the record say
// the same as at the base commit (sessions.md 9)?
//
// A new rule is a row of rules.go, whose order decides which error stands for an
// installation, and an add in the file that reads what it is about: record.go and
// files.go, skill.go, base.go. Where copies are looked for is Places in places.go.
package install

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// ID and Title name the layer in a report.
const (
	ID    = "install"
	Title = "Install record"
)

// Format and Level are those of an installation's entry in a report.
const (
	Format = "agents-handoff-install"
	Level  = "install"
)

// The names of the two files that make a folder an installation.
const (
	RecordName = ".agents-handoff-install.json"
	SkillName  = "SKILL.md"
)

// MaxRecord is how large a record may be: that of a million files.
const MaxRecord = 64 << 20

// Input is one installation to judge.
type Input struct {
	// Files holds the installation in its folder Dir ("." is the whole tree). Root
	// is where the tree begins, from the top level: findings name files from there.
	Files gate.Tree
	Root  string
	Dir   string

	// Base is the tree of the base commit, from the top level; nil without a
	// base. BaseErr says why there is none although one was asked for.
	Base    gate.Tree
	BaseErr error

	Repository bool   // the folder is in a git work tree
	Again      string // the command that judges it once more
}

// Check judges one installation.
func Check(in Input) report.Layer {
	c := newChecker(in)
	return c.done(c.run())
}

// Entry makes the entry of a report for the folder.
func (in Input) Entry(l report.Layer) report.Project {
	return report.Project{Path: below(in.Root, in.Dir), Format: Format, Level: Level, Layers: []report.Layer{l}}
}

// First gives the error that stands for the whole installation: the first in
// the order of sessions.md 9.3; nil where there is no error.
func First(l *report.Layer) *report.Finding { return rule.FirstError(l, Rules) }

// checker is one run over an installation.
type checker struct {
	Input
	findings []report.Finding
	record   *record // nil where it cannot be evaluated
	before   *record // that of the base; nil where there is none to compare with
	hadOne   bool    // the base has something at the record's place

	links map[string]bool // the links that are reported, below Dir
}

func newChecker(in Input) *checker { return &checker{Input: in, links: map[string]bool{}} }

func (c *checker) done(summary string) report.Layer {
	return report.Done(ID, Title, summary, c.findings)
}

// run gathers the findings and gives the summary.
func (c *checker) run() string {
	skill, skillErr := c.Files.Stat(gate.Join(c.Dir, SkillName))
	doc := gate.ReadDocument(c.Files, gate.Join(c.Dir, RecordName), MaxRecord)
	noSkill := errors.Is(skillErr, fs.ErrNotExist)
	c.readBase()
	if noSkill && doc.State == gate.Absent {
		c.add(NotInstalled, c.path("."), report.Span{}, "the folder holds neither "+SkillName+" nor "+RecordName,
			"Name the folder that holds the copy, or reinstall it from a trusted archive.")
		if c.hadOne {
			c.gone()
		}
		return "nothing is installed there"
	}
	if skillErr == nil && skill.Kind == gate.Symlink {
		c.link(SkillName, notFollowed)
	}
	summary := c.readRecord(doc)
	if c.record != nil {
		summary = c.judge()
	}
	c.header(skill, skillErr)
	if c.record != nil && c.before != nil {
		c.compare()
	}
	return summary
}

// add notes a finding with the severity of its rule.
func (c *checker) add(r *rule.Rule, path string, at report.Span, message, remedy string) {
	c.as(r, r.Severity, path, at, message, remedy)
}

// as is add with another severity. What mends an error is outside of this
// program, so its remedy ends in the check that shows it mended.
func (c *checker) as(r *rule.Rule, s report.Severity, path string, at report.Span, message, remedy string) {
	if s == report.Error {
		remedy = report.WithFix(remedy, c.Again)
	}
	c.findings = append(c.findings, r.As(s, path, at, message, remedy))
}

// path names a file of the installation, or with "." its folder, from the top
// level.
func (c *checker) path(rel string) string { return below(below(c.Root, c.Dir), rel) }

// below is gate.Join that takes "." for no path at all, too.
func below(dir, rel string) string {
	if rel == "." {
		return dir
	}
	return gate.Join(dir, rel)
}

// The remedies that several rules share.
const (
	reinstall = "Reinstall from a trusted archive."
	restore   = "Restore it from version control, or reinstall from a trusted archive."
)

// firstLine is where a finding on a whole file stands.
var firstLine = report.Span{Line: 1}

// readRecord parses the record. Where that cannot be done it says so and gives
// the summary.
func (c *checker) readRecord(doc gate.Document) string {
	path := c.path(RecordName)
	switch doc.State {
	case gate.Absent:
		if c.hadOne {
			c.gone()
		} else {
			c.add(RecordMissing, path, firstLine, "there is a "+SkillName+" but no install record beside it, so nothing says which bytes were installed",
				"Reinstall from a trusted archive with a current installer; it writes the record.")
		}
		return "there is no install record"
	case gate.NotRegular:
		if doc.Entry.Kind == gate.Symlink {
			c.link(RecordName, notFollowed)
			return "the install record is a symbolic link"
		}
		c.add(RecordUnparsable, path, firstLine, "the install record is "+doc.Entry.Kind.Article()+", not a regular file", restore)
	case gate.TooLarge, gate.Unreadable:
		c.add(RecordUnparsable, path, firstLine, "the install record cannot be read: "+safetext.Clean(doc.Err.Error()), restore)
	case gate.Present:
		r, line, problem := parseRecord(doc.Data)
		if problem != "" {
			c.add(RecordUnparsable, path, report.Span{Line: line}, "the install record "+problem, restore)
			break
		}
		return c.support(r)
	}
	return "the install record cannot be read"
}

// support keeps the record where its form is known.
func (c *checker) support(r *record) string {
	known := true
	for _, field := range []struct {
		name    string
		allowed []string
	}{
		{"schema_version", []string{"1.0-install-provenance"}},
		{"product", []string{"agents-handoff", "agent-handoff"}},
	} {
		if v, ok := r.string(field.name); ok && slices.Contains(field.allowed, v) {
			continue
		}
		c.add(RecordUnsupported, c.path(RecordName), r.field(field.name),
			fmt.Sprintf("%s is %s, not %q", field.name, r.shown(field.name), field.allowed[0]),
			"Reinstall from a trusted archive, or update the gate if this form is newer than it.")
		known = false
	}
	if !known {
		return "the install record is of an unknown form"
	}
	c.record = r
	return ""
}

// link reports a link, once.
func (c *checker) link(rel, what string) {
	if c.links[rel] {
		return
	}
	c.links[rel] = true
	c.add(Symlink, c.path(rel), firstLine, safetext.Clean(rel)+" is a symbolic link"+what,
		"Replace the link by what it stands for, or reinstall from a trusted archive.")
}

// The ends of what is said of a link.
const (
	notFollowed  = ", which is not followed"
	leadsOutside = " that leads out of the folder that is searched, or nowhere"
)

func (c *checker) gone() {
	c.add(RecordMissing, c.path(RecordName), firstLine, "the base commit has an install record here, and now there is none",
		"Restore the record from the base commit, or remove the whole installation in a change of its own that says why.")
}
