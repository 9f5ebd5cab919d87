package governance

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/lines"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// history is a changelog by the grammar of aahp-governance.md 4.2. Lines are
// 1-based; code fences have no special meaning.
type history struct {
	lines      []string
	headings   []heading // every H2, in file order
	unreleased []heading
	releases   []heading
	sections   []heading // every H3
	links      map[string]bool
}

// heading is one heading of a changelog.
type heading struct {
	line  int
	name  string // the version of a release, the name of a section
	date  string // of a release
	known bool   // of an H2: Unreleased or a release
}

var (
	releaseHeading = regexp.MustCompile(`^## \[(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)\] - (\d{4}-\d{2}-\d{2})$`)
	scheme         = regexp.MustCompile(`^https?://`)
)

const unreleased = "Unreleased"

// sectionNames are the kinds of change that Keep a Changelog has.
var sectionNames = []string{"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}

const byteOrderMark = "\ufeff"

// parseHistory reads a changelog. A byte order mark at its beginning is ignored.
func parseHistory(data []byte) *history {
	h := &history{lines: splitLines(strings.TrimPrefix(ecma.Decode(data), byteOrderMark)), links: map[string]bool{}}
	for i, line := range h.lines {
		at := heading{line: i + 1}
		if label, ok := referenceLink(line); ok {
			h.links[label] = true
		}
		if name, ok := strings.CutPrefix(line, "### "); ok {
			at.name = ecma.Trim(name)
			h.sections = append(h.sections, at)
		}
		if !strings.HasPrefix(line, "## ") {
			continue
		}
		whole := strings.TrimRightFunc(line, ecma.IsSpace)
		if m := releaseHeading.FindStringSubmatch(whole); m != nil {
			at.name, at.date, at.known = m[1], m[2], true
			h.releases = append(h.releases, at)
		} else if whole == "## ["+unreleased+"]" {
			at.known = true
			h.unreleased = append(h.unreleased, at)
		}
		h.headings = append(h.headings, at)
	}
	return h
}

// referenceLink reads a line `[label]: https://…`, after whose address nothing
// may stand, not even a blank.
func referenceLink(line string) (label string, ok bool) {
	rest, ok := strings.CutPrefix(line, "[")
	if !ok {
		return "", false
	}
	label, rest, ok = strings.Cut(rest, "]:")
	if !ok || label == "" || strings.Contains(label, "]") {
		return "", false
	}
	address := strings.TrimLeftFunc(rest, ecma.IsSpace)
	s := scheme.FindString(address)
	return label, s != "" && len(address) > len(s) && strings.IndexFunc(address, ecma.IsSpace) < 0
}

// compareCores compares the numbers X.Y.Z of two versions, whatever follows them.
func compareCores(a, b string) int {
	core := func(v string) []string {
		v, _, _ = strings.Cut(v, "-")
		return strings.Split(v, ".")
	}
	return slices.CompareFunc(core(a), core(b), func(x, y string) int {
		x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
		return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y))
	})
}

// readChangelog reads CHANGELOG.md. Where it cannot be read, the gate has a
// finding of the rule.
func (j *Judge) readChangelog(r *rule.Rule) ([]byte, []report.Finding) {
	doc := j.read(ChangelogFile, maxNamed)
	if doc.State == gate.Present {
		return doc.Data, nil
	}
	return nil, []report.Finding{j.at(r, doc.Path, report.Span{Line: 1}, fmt.Sprintf("%s cannot be judged: %s.", ChangelogFile, j.unread(doc)),
		"Make CHANGELOG.md a regular file that the gate may read.")}
}

// changelogGate is 4.1: the version has a heading.
func (j *Judge) changelogGate() (string, []report.Finding) {
	version, findings := j.version()
	if findings != nil {
		return "the version is not known", findings
	}
	data, findings := j.readChangelog(MissingVersion)
	if findings != nil {
		return "the changelog could not be read", findings
	}
	h := parseHistory(data)
	wanted := "## [" + version + "] - "
	if slices.ContainsFunc(h.lines, func(line string) bool { return strings.HasPrefix(line, wanted) }) {
		return "the version " + j.clean(version) + " has an entry", nil
	}
	line := 1
	message := fmt.Sprintf("%s has no heading that begins with %q, the version of %s.", ChangelogFile, "## ["+j.clean(version)+"] - ", PackageFile)
	if len(h.releases) > 0 {
		line = h.releases[0].line
		message += " The first release there is " + j.clean(h.releases[0].name) + "."
	}
	return "the version " + j.clean(version) + " has no entry", []report.Finding{
		j.at(MissingVersion, j.path(ChangelogFile), report.Span{Line: line}, message,
			fmt.Sprintf("Add the heading ## [%s] - %s below Unreleased, and its reference link.", j.clean(version), "YYYY-MM-DD")),
	}
}

// formatGate is 4.2: Keep a Changelog 1.1.0.
func (j *Judge) formatGate() (string, []report.Finding) {
	data, findings := j.readChangelog(NoReleases)
	if findings != nil {
		return "the changelog could not be read", findings
	}
	f := format{j: j, h: parseHistory(data), full: map[*rule.Rule]bool{}}
	version, missing := j.version()
	for _, finding := range missing {
		f.found.Add(finding)
	}
	f.encoding(data)
	f.headings()
	f.dates()
	f.sections()
	f.order()
	if missing == nil && len(f.h.releases) > 0 && f.h.releases[0].name != version {
		top := f.h.releases[0]
		f.add(TopVersion, top.line, func() (string, string) {
			return fmt.Sprintf("The first release is %s, and the version of %s is %s.", j.clean(top.name), PackageFile, j.clean(version)),
				fmt.Sprintf("Add the section ## [%s] - YYYY-MM-DD above it, or correct the version of %s.", j.clean(version), PackageFile)
		})
	}
	f.references()
	return plural.Of(len(f.h.releases), "release") + " by Keep a Changelog 1.1.0", f.found.Findings()
}

// format collects what a changelog breaks.
type format struct {
	j     *Judge
	h     *history
	found report.Bounded
	full  map[*rule.Rule]bool // of which so many were found that no more are listed
}

// add adds a finding, whose message and remedy are made only where it is listed.
func (f *format) add(r *rule.Rule, line int, say func() (message, remedy string)) {
	if f.full[r] {
		f.found.Dropped(r.ID, r.Severity, 1)
		return
	}
	message, remedy := say()
	f.full[r] = !f.found.Add(f.j.at(r, f.j.path(ChangelogFile), report.Span{Line: line}, message, remedy))
}

// show is a line of the changelog as a message quotes it.
func (f *format) show(at heading) string { return f.j.quote(f.h.lines[at.line-1]) }

// encoding is R8.
func (f *format) encoding(data []byte) {
	if bytes.HasPrefix(data, []byte(byteOrderMark)) {
		f.add(BOM, 1, func() (string, string) {
			return "The file begins with a byte order mark.",
				"Save the file as UTF-8 without a byte order mark."
		})
	}
	for off := 0; off < len(data); {
		c, n := utf8.DecodeRune(data[off:])
		if c == utf8.RuneError && n == 1 {
			f.add(Encoding, lines.New(data).Line(off), func() (string, string) {
				return fmt.Sprintf("The byte %02X there is not UTF-8.", data[off]),
					"Save the file as UTF-8."
			})
			return
		}
		off += n
	}
}

// headings is R1 and R2.
func (f *format) headings() {
	for _, at := range f.h.headings {
		if !at.known {
			f.add(BadHeading, at.line, func() (string, string) {
				return f.show(at) + " is neither Unreleased nor a release.",
					"Write ## [Unreleased], or ## [X.Y.Z] - YYYY-MM-DD: no v, no build metadata, exactly one hyphen between blanks, nothing after the date."
			})
		}
	}
	if len(f.h.releases) == 0 {
		f.add(NoReleases, 1, func() (string, string) {
			return "No heading is that of a release.",
				"Add a heading ## [X.Y.Z] - YYYY-MM-DD for each release, the newest first."
		})
	}
	for i, at := range f.h.unreleased {
		switch {
		case i > 0:
			f.add(UnreleasedDuplicate, at.line, func() (string, string) {
				return fmt.Sprintf("Unreleased is there already, in line %d.", f.h.unreleased[0].line),
					"Join the two sections into the first."
			})
		case at != f.h.headings[0]:
			f.add(UnreleasedPosition, at.line, func() (string, string) {
				return fmt.Sprintf("Above Unreleased stands %s, in line %d.", f.show(f.h.headings[0]), f.h.headings[0].line),
					"Move ## [Unreleased] above every release."
			})
		}
	}
}

// dates is R3.
func (f *format) dates() {
	today := f.j.in.Now.UTC().Format(time.DateOnly)
	for _, at := range f.h.releases {
		if _, err := time.Parse(time.DateOnly, at.date); err != nil {
			f.add(InvalidDate, at.line, func() (string, string) {
				return "The date " + at.date + " does not exist.",
					"Write the day of the release as YYYY-MM-DD."
			})
		} else if at.date > today {
			f.add(FutureDate, at.line, func() (string, string) {
				return fmt.Sprintf("The release is dated %s, and today is %s (UTC).", at.date, today),
					"Write the day of the release, at most " + today + ", or keep the changes below Unreleased until then."
			})
		}
	}
}

// sections is R4.
func (f *format) sections() {
	for _, at := range f.h.sections {
		if !slices.Contains(sectionNames, at.name) {
			f.add(UnknownSection, at.line, func() (string, string) {
				return f.show(at) + " is no section of Keep a Changelog.",
					"Name the section one of " + strings.Join(sectionNames, ", ") + "."
			})
		}
	}
}

// order is R5: only neighbours are compared, and only their numbers.
func (f *format) order() {
	for i := 1; i < len(f.h.releases); i++ {
		above, at := f.h.releases[i-1], f.h.releases[i]
		switch c := compareCores(at.name, above.name); {
		case c == 0:
			f.add(DuplicateVersion, at.line, func() (string, string) {
				return fmt.Sprintf("%s has the same number as %s above it, in line %d: what marks a pre-release does not count.", f.j.clean(at.name), f.j.clean(above.name), above.line),
					"Join the two sections, or correct the number of one."
			})
		case c > 0:
			f.add(Order, at.line, func() (string, string) {
				return fmt.Sprintf("%s stands below %s, which is older.", f.j.clean(at.name), f.j.clean(above.name)),
					"Order the releases by version, the greatest first."
			})
		}
	}
}

// references is R7.
func (f *format) references() {
	missing := func(label string, at heading) {
		if !f.h.links[label] {
			shown := f.j.clean(label)
			f.add(MissingLink, at.line, func() (string, string) {
				return fmt.Sprintf("[%s] has no reference link.", shown),
					fmt.Sprintf("Add a line [%s]: https://… of its own, with nothing after the address.", shown)
			})
		}
	}
	if len(f.h.unreleased) > 0 {
		missing(unreleased, f.h.unreleased[0])
	}
	for _, at := range f.h.releases {
		missing(at.name, at)
	}
}
