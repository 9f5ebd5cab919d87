package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// Limits of what GitHub shows, in bytes of UTF-8, whatever its description says
// (github-action.md 4 and 6). A summary file above 1,024 KiB is not uploaded at all,
// whoever wrote it; a check run's summary or text above 65,535 is refused.
const (
	MaxSummary     = 1_000_000
	MaxCheckOutput = 65_000 - 1 // "below 65,000"
)

const (
	// openFindings is how many findings of a layer are in view before the rest
	// goes into a <details>.
	openFindings = 10
	// maxTextInSummary bounds one message or remedy, in bytes, so that no single
	// finding can push out all others.
	maxTextInSummary = 8_000
	// maxNotes bounds the notes of a summary, and leaves room for them.
	maxNotes = 20
)

// SummaryOptions say what a summary can link to and how long it may be. All
// strings may come from the environment of the job; what is not usable as a
// link is shown without one.
type SummaryOptions struct {
	ServerURL  string // GITHUB_SERVER_URL, "https://github.com"
	Repository string // "OWNER/REPO"
	LinkSHA    string // the commit that files are linked at: HEAD, or a pull request's head
	BaseSource string // where the base came from: "pull_request.base.sha"
	Workflow   string // the workflow's name
	RunURL     string // the page of the run
	Version    string // the program's version; empty: the report's
	Limit      int    // bytes available; 0: MaxSummary
	// Exists tells whether a path is a file of the linked commit; others get no
	// link. Nil means that every path is.
	Exists func(path string) bool
	// Notes are further lines about this run, in our own words: what was not
	// sent, what to allow.
	Notes []string
}

// Summary writes the Markdown of a job summary (github-action.md 6): verdict,
// commits, a table of the layers, the findings, version and run. It never
// writes more than o.Limit bytes: whole findings are left out, notices first,
// and a line says how many. Every piece of text that may come from the
// repository stands in HTML blocks, as code in entities, so that no Markdown
// and no HTML can be made from it.
func Summary(w io.Writer, r *report.Report, o SummaryOptions) error {
	if o.Limit == 0 {
		o.Limit = MaxSummary
	}
	p := page{r: r, o: o}
	_, err := io.WriteString(w, p.compose(o.Limit, true))
	return err
}

// CheckRunOutput makes the three texts of a check run: a title of verdict and
// counts, a summary without details, and a text of the findings ("" when there
// are none). Summary and text are each below 65,000 bytes of UTF-8, cut between
// findings, with a note of what is left out (github-action.md 4).
func CheckRunOutput(r *report.Report, o SummaryOptions) (title, summary, text string) {
	p := page{r: r, o: o}
	title = firstRunes(headline(r), MaxAnnotationTitle)
	summary = p.compose(MaxCheckOutput, false)
	if c := r.Count(); c.Errors+c.Warnings+c.Notices > 0 {
		text = p.findings(MaxCheckOutput, " or the job's summary")
	}
	return title, summary, text
}

// FailureSummary is the Markdown for a run in which the gate could not be run
// at all (exit status 2). reason may hold text from outside.
func FailureSummary(reason string, o SummaryOptions) string {
	p := page{r: &report.Report{Tool: report.Tool{Name: "handoff-gate", Version: o.Version}}, o: o}
	reason = cutBytes(reason, maxTextInSummary)
	return "## ❌ Handoff Gate could not run\n\n<p>" + codeLines(strings.Split(reason, "\n")) + "</p>\n\n" + p.foot() + "\n"
}

// page builds the pieces of a summary. Pieces are separated by empty lines;
// none holds one, because an empty line ends an HTML block.
type page struct {
	r *report.Report
	o SummaryOptions
}

// compose puts a whole page together in at most limit bytes.
func (p *page) compose(limit int, withFindings bool) string {
	head := p.verdict() + "\n\n"
	foot := p.foot() + "\n"
	if len(head)+len(foot) > limit {
		// No room even for the frame: the verdict alone, or nothing.
		return cutLine(p.verdict()+"\n", limit)
	}
	room := limit - len(head) - len(foot)
	var b strings.Builder
	b.WriteString(head)
	add := func(piece string) {
		if piece != "" && len(piece)+2 <= room {
			b.WriteString(piece)
			b.WriteString("\n\n")
			room -= len(piece) + 2
		}
	}
	add(p.commits())
	add(p.table(room - 2))
	add(p.notes())
	if withFindings {
		add(p.findings(room-2, ""))
	}
	b.WriteString(foot)
	return b.String()
}

// cutLine keeps s if it fits, and nothing otherwise.
func cutLine(s string, limit int) string {
	if len(s) > limit {
		return ""
	}
	return s
}

// verdict is the first line. It holds no outside text.
func (p *page) verdict() string {
	sign := "✅"
	switch {
	case p.r.Verdict != report.Pass:
		sign = "❌"
	case p.r.Count().Warnings > 0:
		sign = "⚠️"
	}
	return "## " + sign + " Handoff Gate " + lowerFirst(headline(p.r))
}

// lowerFirst makes "Failed" "failed", for the middle of a line.
func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// repoURL is the repository's page, "" when it is not known.
func (p *page) repoURL() string {
	owner, name, ok := strings.Cut(p.o.Repository, "/")
	server := strings.TrimRight(p.o.ServerURL, "/")
	if !ok || !isName(owner) || !isName(name) || !isWebAddress(server) || strings.ContainsAny(server, "?#") {
		return ""
	}
	return server + "/" + owner + "/" + name
}

// isName tells whether s can be an owner or a repository.
func isName(s string) bool {
	if s == "" || s == "." || s == ".." {
		return false
	}
	for i := range len(s) {
		if !isAlnum(s[i]) && s[i] != '-' && s[i] != '_' && s[i] != '.' {
			return false
		}
	}
	return true
}

// commits says what was compared with what.
func (p *page) commits() string {
	commit := func(id string) string {
		return link(p.under("/commit/"+id), code(shortID(id)))
	}
	var parts []string
	switch {
	case isObjectID(p.r.Base) && p.o.BaseSource != "":
		parts = append(parts, "Base "+commit(p.r.Base)+" from "+prose(p.o.BaseSource))
	case isObjectID(p.r.Base):
		parts = append(parts, "Base "+commit(p.r.Base))
	case p.o.BaseSource != "":
		parts = append(parts, "Base: "+prose(p.o.BaseSource))
	}
	if isObjectID(p.r.Head) {
		parts = append(parts, "Head "+commit(p.r.Head))
	}
	if len(parts) == 0 {
		return ""
	}
	return "<p>" + strings.Join(parts, " · ") + "</p>"
}

// under is a page of the repository, "" when the repository is not known.
func (p *page) under(rest string) string {
	if u := p.repoURL(); u != "" {
		return u + rest
	}
	return ""
}

// table lists every layer, in at most limit bytes; what does not fit is counted
// in a last row. Failed layers are never among those left out before others.
func (p *page) table(limit int) string {
	const head = "<table>\n<tr><th>Project</th><th>Layer</th><th>Result</th><th>Summary</th></tr>\n"
	const foot = "</table>"
	const moreRoom = 80 // the row that counts what is left out
	type row struct {
		status report.Status
		html   string
	}
	var rows []row
	for i := range p.r.Projects {
		pr := &p.r.Projects[i]
		for j := range pr.Layers {
			l := &pr.Layers[j]
			rows = append(rows, row{l.Status, "<tr><td>" + code(pr.Path) + "</td><td>" + prose(l.Title) + "</td><td>" +
				statusSign(l.Status) + " " + prose(statusWord(l.Status)) + "</td><td>" +
				prose(cutBytes(l.Summary, maxTextInSummary)) + "</td></tr>\n"})
		}
	}
	if len(rows) == 0 {
		return ""
	}
	room := limit - len(head) - len(foot) - moreRoom
	if room < 0 {
		return ""
	}
	keep := make([]bool, len(rows))
	left := 0
	for _, status := range []report.Status{report.Failed, report.Warn, report.OK, report.Skip} {
		for i, r := range rows {
			if r.status != status || keep[i] {
				continue
			}
			if left > 0 || len(r.html) > room {
				left++
				continue
			}
			keep[i], room = true, room-len(r.html)
		}
	}
	var b strings.Builder
	b.WriteString(head)
	for i, r := range rows {
		if keep[i] {
			b.WriteString(r.html)
		}
	}
	if left > 0 {
		fmt.Fprintf(&b, "<tr><td colspan=\"4\">… and %d more layers, see the log</td></tr>\n", left)
	}
	b.WriteString(foot)
	return b.String()
}

// notes are the lines about this run.
func (p *page) notes() string {
	notes := p.o.Notes
	if len(notes) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<ul>\n")
	for _, n := range notes[:min(len(notes), maxNotes)] {
		b.WriteString("<li>" + prose(cutBytes(n, maxTextInSummary)) + "</li>\n")
	}
	b.WriteString("</ul>")
	return b.String()
}

// foot is the last line: which program, which workflow, which run.
func (p *page) foot() string {
	s := "<p>handoff-gate"
	if v := cmp.Or(p.o.Version, p.r.Tool.Version); v != "" {
		s += " " + ownWord(v)
	}
	if p.o.Workflow != "" {
		s += " · workflow " + code(cutBytes(p.o.Workflow, 300))
	}
	if isWebAddress(p.o.RunURL) {
		s += " · " + link(p.o.RunURL, "this run")
	}
	return s + "</p>"
}

// item is one finding on the page.
type item struct {
	project *report.Project
	layer   *report.Layer
	finding *report.Finding
	order   int // of its layer, over all projects
	folded  fold
	html    string
	keep    bool
}

// fold says where in its layer's section a finding stands.
type fold uint8

const (
	inView   fold = iota // directly
	longTail             // in the <details> of a long list
	notices              // in the <details> of notices
)

// The frame of a section; the numbers are what a section costs at most.
const (
	foldOpen  = "<details><summary>%d %s</summary>\n"
	foldClose = "</details>\n"
	foldRoom  = len(foldOpen) + len(foldClose) + 40
)

// findings shows the findings grouped by layer and file, errors first, in at
// most limit bytes. What does not fit is left out, notices first and each
// finding whole; the last line counts it. elsewhere says where it can be read
// too, besides the log.
func (p *page) findings(limit int, elsewhere string) string {
	items := p.items()
	if len(items) == 0 {
		return ""
	}
	left := p.choose(items, limit, len(elsewhere))
	var b strings.Builder
	for i := 0; i < len(items); {
		j := i
		for j < len(items) && items[j].order == items[i].order {
			j++
		}
		p.section(&b, items[i:j])
		i = j
	}
	if left > 0 {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "<p>%s, see the log%s.</p>", plural.Of(left, "more finding"), elsewhere)
	}
	return cutLine(strings.TrimRight(b.String(), "\n"), limit)
}

// items lists all findings in the order of the page.
func (p *page) items() []item {
	var items []item
	order := 0
	for i := range p.r.Projects {
		pr := &p.r.Projects[i]
		for j := range pr.Layers {
			l := &pr.Layers[j]
			group := make([]item, 0, len(l.Findings))
			strongest := map[string]int{} // of each file
			for k := range l.Findings {
				f := &l.Findings[k]
				group = append(group, item{project: pr, layer: l, finding: f, order: order})
				if s, ok := strongest[f.Path]; !ok || f.Severity.Rank() < s {
					strongest[f.Path] = f.Severity.Rank()
				}
			}
			slices.SortStableFunc(group, func(a, b item) int {
				return cmp.Or(
					cmp.Compare(strongest[a.finding.Path], strongest[b.finding.Path]),
					strings.Compare(a.finding.Path, b.finding.Path),
					cmp.Compare(a.finding.Severity.Rank(), b.finding.Severity.Rank()),
				)
			})
			seen := 0
			for k := range group {
				switch {
				case group[k].finding.Severity == report.Notice:
					group[k].folded = notices
				case seen >= openFindings:
					group[k].folded = longTail
				default:
					seen++
				}
			}
			// The parts of a section are contiguous.
			slices.SortStableFunc(group, func(a, b item) int { return cmp.Compare(a.folded, b.folded) })
			items = append(items, group...)
			order++
		}
	}
	return items
}

// choose marks the findings that fit and renders them: all errors before any
// warning, all warnings before any notice, and nothing after the first that
// does not fit. It returns how many are left out.
func (p *page) choose(items []item, limit, note int) (left int) {
	type partKey struct {
		order  int
		folded fold
	}
	type fileKey struct {
		partKey
		path string
	}
	sections, parts, files := map[int]bool{}, map[partKey]bool{}, map[fileKey]bool{}
	room := limit - note - 80 // the last line
	full := false
	for rank := range 4 {
		for i := range items {
			it := &items[i]
			if it.finding.Severity.Rank() != rank {
				continue
			}
			if full {
				left++
				continue
			}
			it.html = p.finding(it)
			part := partKey{it.order, it.folded}
			file := fileKey{part, it.finding.Path}
			cost := len(it.html)
			if !sections[it.order] {
				cost += len(p.sectionHead(it)) + 2
			}
			if !parts[part] {
				cost += foldRoom
			}
			if !files[file] {
				cost += len(fileHead(it)) + len(fileFoot)
			}
			if cost > room {
				full = true
				left++
				continue
			}
			sections[it.order], parts[part], files[file] = true, true, true
			room -= cost
			it.keep = true
		}
	}
	return left
}

// section writes the findings of one layer that are kept.
func (p *page) section(b *strings.Builder, items []item) {
	items = slices.DeleteFunc(items, func(it item) bool { return !it.keep })
	if len(items) == 0 {
		return
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(p.sectionHead(&items[0]))
	for i := 0; i < len(items); {
		j := i
		for j < len(items) && items[j].folded == items[i].folded {
			j++
		}
		switch items[i].folded {
		case inView:
			files(b, items[i:j])
		case longTail:
			fmt.Fprintf(b, foldOpen, j-i, "more")
			files(b, items[i:j])
			b.WriteString(foldClose)
		case notices:
			word := "notices"
			if j-i == 1 {
				word = "notice"
			}
			fmt.Fprintf(b, foldOpen, j-i, word)
			files(b, items[i:j])
			b.WriteString(foldClose)
		}
		i = j
	}
}

// sectionHead is the heading of a layer; in a run over several projects it
// names the project.
func (p *page) sectionHead(it *item) string {
	s := "<h3>" + prose(it.layer.Title)
	if len(p.r.Projects) > 1 {
		s += " in " + code(it.project.Path)
	}
	return s + "</h3>\n"
}

// files writes findings with a heading for each file.
func files(b *strings.Builder, items []item) {
	for i := 0; i < len(items); {
		b.WriteString(fileHead(&items[i]))
		j := i
		for ; j < len(items) && items[j].finding.Path == items[i].finding.Path; j++ {
			b.WriteString(items[j].html)
		}
		b.WriteString(fileFoot)
		i = j
	}
}

const fileFoot = "</ul>\n"

func fileHead(it *item) string {
	name := "no file"
	if it.finding.Path != "" {
		name = code(it.finding.Path)
	}
	return "<p><strong>" + name + "</strong></p>\n<ul>\n"
}

// finding is one entry of a list: rule and place, message, remedy.
func (p *page) finding(it *item) string {
	f := it.finding
	var b strings.Builder
	b.WriteString("<li>" + severitySign(f.Severity) + " <code>" + ownWord(f.Rule) + "</code>")
	if f.Path != "" {
		place := f.Path
		if f.Line > 0 {
			place = fmt.Sprintf("%s:%d", f.Path, f.Line)
		}
		b.WriteString(" at " + link(p.blob(f), code(place)))
	}
	b.WriteString("<br>" + codeLines(strings.Split(cutText(f.Message), "\n")))
	advice, commands := splitRemedy(cutText(f.Remedy))
	if len(advice) > 0 {
		b.WriteString("<br>To do: " + codeLines(advice))
	}
	for _, c := range commands {
		// A block of its own: its blanks stay as they are when it is copied.
		b.WriteString("<pre>" + code(c) + "</pre>")
	}
	b.WriteString("</li>\n")
	return b.String()
}

// cutText bounds a message or a remedy; a command at its end is kept.
func cutText(s string) string {
	return cutWithNote(s, maxTextInSummary, "… (cut: the report has the whole text)", func(s string) int { return len(s) })
}

// blob is the address of a finding's file and line in the linked commit, ""
// when it has none.
func (p *page) blob(f *report.Finding) string {
	file := CleanPath(f.Path)
	repo := p.repoURL()
	if file == "" || repo == "" || !isObjectID(p.o.LinkSHA) || p.o.Exists != nil && !p.o.Exists(file) {
		return ""
	}
	u := repo + "/blob/" + p.o.LinkSHA + "/" + escapePath(file)
	if f.Line > 0 {
		u += fmt.Sprintf("#L%d", f.Line)
		if f.EndLine > f.Line {
			u += fmt.Sprintf("-L%d", f.EndLine)
		}
	}
	return u
}
