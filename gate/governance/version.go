package governance

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/lines"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

var anyVersion = regexp.MustCompile(`\b\d+\.\d+\.\d+\b`)

// occurrences finds the version in a text, one after the other: anywhere, or with
// boundary only where `\b` holds on both sides of it.
func occurrences(text, version string, boundary bool) (found [][2]int) {
	for from := 0; ; {
		i := strings.Index(text[from:], version)
		if i < 0 {
			return found
		}
		start, end := from+i, from+i+len(version)
		if boundary && !(atBoundary(text, start) && atBoundary(text, end)) {
			from = start + 1
			continue
		}
		found = append(found, [2]int{start, end})
		from = end
	}
}

// atBoundary tells whether exactly one of the bytes around an offset is a word
// character, in ASCII.
func atBoundary(text string, off int) bool {
	word := func(i int) bool {
		if i < 0 || i >= len(text) {
			return false
		}
		c := text[i]
		return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
	}
	return word(off-1) != word(off)
}

// stale finds what looks like another version: the texts, each once, and the
// offset of the first. found are the occurrences of the version itself.
func stale(text, version string, found [][2]int) (others []string, first int) {
	first = -1
	seen := map[string]bool{version: true}
	for _, m := range anyVersion.FindAllStringIndex(text, -1) {
		for len(found) > 0 && found[0][1] <= m[0] {
			found = found[1:]
		}
		part := len(found) > 0 && found[0][0] <= m[0] && m[1] <= found[0][1]
		other := text[m[0]:m[1]]
		if part || other == version {
			continue
		}
		if first < 0 {
			first = m[0]
		}
		if !seen[other] {
			seen[other] = true
			others = append(others, other)
		}
	}
	return others, first
}

// maxListed is how many values a message lists.
const maxListed = 10

// list joins values for a message, cleaned and at most maxListed of them.
func (j *Judge) list(values []string) string {
	shown := make([]string, 0, maxListed+1)
	for i, v := range values {
		if i == maxListed {
			shown = append(shown, fmt.Sprintf("and %d more", len(values)-i))
			break
		}
		shown = append(shown, j.clean(v))
	}
	return strings.Join(shown, ", ")
}

// versionGate is 4.3: the version stands where the configuration says.
func (j *Judge) versionGate() (string, []report.Finding) {
	version, findings := j.version()
	known := findings == nil
	for _, site := range j.in.Config.VersionSites {
		p, escape := j.inside(site.File)
		if escape != nil {
			findings = append(findings, escape...)
			continue
		}
		doc := j.follow(p, maxNamed)
		if doc.State != gate.Present {
			findings = append(findings, j.config(MissingSite, site.File.Span, fmt.Sprintf("The version site %s cannot be read: %s.", j.quote(site.File.Text), j.unread(doc)),
				"Restore the file, correct its path, or drop the site from versionSites."))
			continue
		}
		if known {
			findings = append(findings, j.versionSite(site, p, ecma.Decode(doc.Data), version)...)
		}
	}
	if !known {
		return "the version is not known", findings
	}
	return plural.Of(len(j.in.Config.VersionSites), "file") + " compared with the version " + j.clean(version), findings
}

func (j *Judge) versionSite(site VersionSite, p, text, version string) []report.Finding {
	found := occurrences(text, version, site.Boundary)
	if len(found) >= site.Min {
		return nil
	}
	line := 1
	others, first := stale(text, version, found)
	if first >= 0 {
		line = lines.New([]byte(text)).Line(first)
	}
	slices.Sort(others)
	how := ""
	if site.Boundary {
		how = " as a word of its own"
	}
	message := fmt.Sprintf("The version %s is found %s%s, and %d %s expected", j.clean(version), plural.Of(len(found), "time"), how, site.Min, plural.Are(site.Min))
	if site.Note != "" {
		message += " (" + j.clean(site.Note) + ")"
	}
	message += "."
	if len(others) > 0 {
		message += " Other versions there: " + j.list(others) + "."
	}
	return []report.Finding{j.at(VersionMismatch, p, report.Span{Line: line}, message, fmt.Sprintf("Set the version %s in %s.", j.clean(version), j.clean(p)))}
}
