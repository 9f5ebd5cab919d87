package governance

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsregexp"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

var (
	linkPattern = jsregexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)(?:\s+"[^"]*")?\)`, "g")
	elsewhere   = jsregexp.MustCompile(`^<?(?:[a-z0-9+.-]+:|//|#)`, "i")
)

// link is one link or image of a document.
type link struct {
	off    int    // where it begins
	target string // as it is written
}

// findLinks finds the links of a document (4.7). Code fences have no special
// meaning; one whose closing bracket is escaped is none.
func findLinks(text string) []link {
	var found []link
	for _, m := range linkPattern.FindAllStringSubmatchIndex(text, -1) {
		label := text[m[0] : m[2]-len("](")]
		if escapes := len(label) - len(strings.TrimRight(label, `\`)); escapes%2 == 1 {
			continue
		}
		found = append(found, link{m[0], text[m[2]:m[3]]})
	}
	return found
}

// file gives the path that a link's target names, as it is written there, without
// what a browser reads; ok is false for one that names no file.
func (l link) file() (name string, ok bool) {
	name = l.target
	if elsewhere.MatchString(name) {
		return "", false
	}
	if len(name) > 1 && name[0] == '<' && name[len(name)-1] == '>' {
		name = name[1 : len(name)-1]
	}
	name, _, _ = strings.Cut(name, "#")
	name, _, _ = strings.Cut(name, "?")
	if decoded, err := url.PathUnescape(name); err == nil && utf8.ValidString(decoded) {
		name = decoded
	}
	return name, name != ""
}

// linksGate is 4.7: links lead to files that exist.
func (j *Judge) linksGate(ctx context.Context) (string, []report.Finding, error) {
	c := j.in.Config.DocLinks
	files, err := j.tracked(ctx, c.Include)
	if ctx.Err() != nil {
		return "", nil, ctx.Err()
	}
	if err != nil {
		return "the files to search are not known", []report.Finding{
			j.config(LinksNoGit, c.Span, fmt.Sprintf("Which files to search is not known: %s.", j.clean(err.Error())), "Run the gate inside the repository, and correct the pathspecs of include."),
		}, nil
	}
	if len(files) == 0 && c.Configured {
		return "no file is selected", []report.Finding{j.config(LinksNoFiles, c.IncludeSpan, "The include of docLinks selects no tracked file.", "Correct include, or drop it.")}, nil
	}
	found, err := j.search(ctx, files, maxLinked, j.brokenLinks)
	return "links of " + plural.Of(len(files), "file") + " followed", found, err
}

func (j *Judge) brokenLinks(c content) []report.Finding {
	if c.why != "" {
		return []report.Finding{j.at(LinksUnreadable, c.path, report.Span{}, "The file could not be searched: "+c.why+".", "Make the file readable.")}
	}
	text := ecma.Decode(c.data)
	asked := map[string]string{} // why a file is not there, by its name
	var b report.Bounded
	full := false // so many were found that no more are listed
	line, counted := 1, 0
	for _, l := range findLinks(text) {
		name, ok := l.file()
		if !ok {
			continue
		}
		why, known := asked[name]
		if !known {
			why = j.leads(path.Dir(c.path), name)
			asked[name] = why
		}
		line, counted = line+strings.Count(text[counted:l.off], "\n"), l.off
		switch {
		case why == "":
		case full:
			b.Dropped(BrokenLink.ID, BrokenLink.Severity, 1)
		default:
			full = !b.Add(j.at(BrokenLink, c.path, report.Span{Line: line}, fmt.Sprintf("The link to %s is broken: %s.", j.quote(l.target), why),
				"Correct the target, or restore the file."))
		}
	}
	return b.Findings()
}

// leads tells why a target leads nowhere, seen from the folder of its document; ""
// when something is there.
func (j *Judge) leads(dir, name string) string {
	if strings.HasPrefix(name, "/") {
		dir, name = j.in.Project, strings.TrimLeft(name, "/")
	}
	p := path.Join(dir, name)
	if p == ".." || strings.HasPrefix(p, "../") {
		return "it leads out of the repository"
	}
	if e, err := j.in.Work.Stat(p); err == nil && e.Kind != gate.Symlink {
		return ""
	}
	target, outside, err := j.in.Follow(p)
	if outside {
		return "it leads out of the repository"
	}
	if err == nil {
		_, err = j.in.Work.Stat(target) // which tells apart what differs in case
	}
	if err != nil {
		return "there is no " + j.clean(p)
	}
	return ""
}
