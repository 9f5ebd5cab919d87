package render

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	markdown "github.com/yuin/goldmark/renderer/html"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

const server = "https://github.example.test"

func options() SummaryOptions {
	return SummaryOptions{
		ServerURL: server, Repository: "octo-org/widgets", LinkSHA: linkID, BaseSource: "pull_request.base.sha",
		Workflow: "handoff", RunURL: server + "/octo-org/widgets/actions/runs/7001", Version: "0.1.0",
	}
}

func summary(t *testing.T, r *report.Report, o SummaryOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := Summary(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The tags and addresses that a summary may have, and nothing else.
var (
	ourTag  = regexp.MustCompile(`^(?:</?(?:h2|h3|p|table|tr|th|td|ul|li|code|strong|details|summary|pre)>|<br>|<td colspan="4">|</a>)`)
	ourLink = regexp.MustCompile(`^<a href="` + regexp.QuoteMeta(server) + `/octo-org/widgets/(?:commit/[0-9a-f]{40}|blob/[0-9a-f]{40}/[A-Za-z0-9%._~/-]+(?:#L[0-9]+(?:-L[0-9]+)?)?|actions/runs/[0-9]+)">`)
	// ourText is what stands outside code: words, numbers and the punctuation of
	// sentences. No mention, reference, address or entity of a construct is made
	// from these.
	ourText = regexp.MustCompile(`^[\p{L}\p{N} \n.,:;()'·…✅❌⚠️ℹ️➖-]*$`)
	address = regexp.MustCompile(`(?i)www\.|://|[a-z0-9]\.[a-z]|\b[0-9a-f]*[0-9][0-9a-f]{6,}\b|\bGH-\d`)
)

// inactive reads a summary as GitHub does, Markdown with its extensions and raw
// HTML, and then holds every tag and every word outside code to a short list.
// It returns how often each tag was opened.
func inactive(t *testing.T, md string) map[string]int {
	t.Helper()
	if !utf8.ValidString(md) {
		t.Error("not UTF-8")
	}
	for _, r := range md {
		if r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf) {
			t.Errorf("character %U in the summary", r)
		}
	}
	var out bytes.Buffer
	gm := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote), goldmark.WithRendererOptions(markdown.WithUnsafe()))
	if err := gm.Convert([]byte(md), &out); err != nil {
		t.Fatal(err)
	}
	var stack []string
	count := map[string]int{}
	for s := out.String(); s != ""; {
		if s[0] != '<' {
			end := strings.IndexByte(s, '<')
			if end < 0 {
				end = len(s)
			}
			text := s[:end]
			s = s[end:]
			if slices.Contains(stack, "code") {
				continue
			}
			text = html.UnescapeString(text)
			if !ourText.MatchString(text) {
				t.Errorf("outside code: %q", text)
			}
			if m := address.FindString(text); m != "" && !strings.Contains(text, "handoff-gate 0.1.0") {
				t.Errorf("%q outside code in %q", m, text)
			}
			continue
		}
		tag := ourTag.FindString(s)
		if tag == "" {
			tag = ourLink.FindString(s)
		}
		if tag == "" {
			t.Fatalf("not a tag of ours: %.120q", s)
		}
		s = s[len(tag):]
		name := strings.Trim(strings.Fields(strings.Trim(tag, "<>"))[0], "/")
		switch {
		case name == "br":
		case tag[1] == '/':
			if len(stack) == 0 || stack[len(stack)-1] != name {
				t.Fatalf("%s closes %v", tag, stack)
			}
			stack = stack[:len(stack)-1]
		default:
			if slices.Contains(stack, "code") {
				t.Fatalf("%s inside code", tag)
			}
			stack = append(stack, name)
			count[name]++
		}
	}
	if len(stack) != 0 {
		t.Errorf("left open: %v", stack)
	}
	// Without a Markdown reader: every block is our heading or begins with a
	// block-level tag, so that it is HTML up to the empty line that ends it.
	for block := range strings.SplitSeq(strings.TrimRight(md, "\n"), "\n\n") {
		if !regexp.MustCompile(`^(?:## |<(?:p|table|ul|h3|details)>)`).MatchString(block) {
			t.Errorf("block begins %.60q", block)
		}
	}
	return count
}

func TestSummaryGolden(t *testing.T) {
	for name, r := range map[string]*report.Report{
		"summary-pass.md": passing(), "summary-fail.md": failing(), "summary-skip.md": skipped(),
	} {
		md := summary(t, r, options())
		golden(t, name, []byte(md))
		inactive(t, md)
	}
}

func TestSummaryIsInert(t *testing.T) {
	o := options()
	o.BaseSource, o.Workflow, o.Notes = evilNames[0], strings.Join(evilNames, " "), evilNames
	md := summary(t, hostile(), o)
	count := inactive(t, md)
	if want := len(evilNames) + maxNotes; count["tr"] != 4 || count["li"] != want {
		t.Errorf("%d rows, %d entries; want 4, %d", count["tr"], count["li"], want)
	}
	if count["a"] == 0 {
		t.Error("no links")
	}
	plain := html.UnescapeString(md)
	for _, n := range evilNames {
		if strings.ContainsFunc(n, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf) || breaksLine(r) }) || !utf8.ValidString(n) {
			continue
		}
		if !strings.Contains(plain, n) {
			t.Errorf("%q is not shown", n)
		}
	}
	for _, raw := range []string{"<img", "<script", "](", "@octocat", "<!--", "widgets#1"} {
		if strings.Contains(md, raw) {
			t.Errorf("%q stands raw in the summary", raw)
		}
	}
	_, sum, text := CheckRunOutput(hostile(), o)
	inactive(t, sum)
	inactive(t, text)
	inactive(t, FailureSummary(strings.Join(evilNames, "\n"), o))
}

func FuzzSummaryIsInert(f *testing.F) {
	for _, n := range evilNames {
		f.Add(n, n)
	}
	f.Add("The base is 1a2b3c4.", "a.b")
	f.Fuzz(func(t *testing.T, a, b string) {
		o := options()
		o.BaseSource, o.Workflow, o.Version, o.Notes = a, b, "0.1.0", []string{a, b}
		r := made(report.Project{Path: a, Format: "aahp", Level: "ci", Layers: []report.Layer{
			report.Done("integrity", b, a, []report.Finding{
				finding(a, report.Error, b, 1, a, b), finding(b, report.Notice, a, 0, b, a+"\nfix: "+b),
			}),
			report.Skipped("drift", a, b),
		}}, report.Project{Path: b})
		inactive(t, summary(t, r, o))
		_, sum, text := CheckRunOutput(r, o)
		inactive(t, sum)
		inactive(t, text)
	})
}

// Whatever the room, the summary stays in it, is well-formed, and drops notices
// before warnings before errors.
func TestSummaryKeepsItsLimit(t *testing.T) {
	r := large(400)
	full := summary(t, r, options())
	if len(full) > MaxSummary {
		t.Fatalf("%d bytes", len(full))
	}
	more := regexp.MustCompile(`<p>(\d+) more findings?, see the log\.</p>`)
	for _, limit := range []int{0, 1, 10, 60, 100, 300, 900, 1000, 2000, 3333, 10_000, 65_000, 200_000, 700_000, 1_000_000} {
		o := options()
		o.Limit = limit
		md := summary(t, r, o)
		if limit == 0 {
			limit = MaxSummary
		}
		if len(md) > limit {
			t.Fatalf("limit %d: %d bytes", limit, len(md))
		}
		if md == "" {
			continue
		}
		count := inactive(t, md)
		shown := count["li"]
		left := 0
		if m := more.FindStringSubmatch(md); m != nil {
			fmt.Sscan(m[1], &left) //nolint:errcheck // digits by the expression
		}
		if limit >= 2000 && shown+left != 1200 {
			t.Errorf("limit %d: %d shown, %d said to be left out, of 1200", limit, shown, left)
		}
		errs, warns, infos := strings.Count(md, "<li>❌"), strings.Count(md, "<li>⚠️"), strings.Count(md, "<li>ℹ️")
		if warns > 0 && errs != 402 || infos > 0 && warns != 399 {
			t.Errorf("limit %d: %d errors, %d warnings, %d notices", limit, errs, warns, infos)
		}
	}
}

func TestSummaryHugeMessages(t *testing.T) {
	fs := []report.Finding{
		finding("a/b", report.Error, "x", 1, strings.Repeat("é`<", 400_000), "do\nfix: run this"),
		finding("a/c", report.Error, "y", 1, "short", "do"),
	}
	md := summary(t, made(report.Project{Path: ".", Format: "aahp", Layers: []report.Layer{report.Done("a", "A", strings.Repeat("<", 3_000_000), fs)}}), options())
	inactive(t, md)
	if len(md) > MaxSummary || !strings.Contains(md, "short") {
		t.Errorf("%d bytes", len(md))
	}
}

// With many projects the table itself must give way, failed layers last.
func TestSummaryManyProjects(t *testing.T) {
	var ps []report.Project
	for i := range 2000 {
		var fs []report.Finding
		if i == 1999 {
			fs = []report.Finding{finding("a/b", report.Error, "x", 1, "m", "r")}
		}
		ps = append(ps, report.Project{Path: fmt.Sprintf("packages/p%d", i), Layers: []report.Layer{report.Done("a", "A", "fine", fs)}})
	}
	o := options()
	o.Limit = 20_000
	md := summary(t, made(ps...), o)
	inactive(t, md)
	if len(md) > o.Limit || !strings.Contains(md, "more layers, see the log") || !strings.Contains(md, "p1999") {
		t.Errorf("%d bytes:\n%.300s", len(md), md)
	}
}

func TestSummaryPassingFitsOneScreen(t *testing.T) {
	r := passing()
	r.Projects[0].Layers[1].Findings = []report.Finding{
		finding("drift/reviewed-non-impacting", report.Notice, "docs/a.md", 0, "prose only", ""),
		finding("drift/reviewed-non-impacting", report.Notice, "docs/b.md", 0, "prose only", ""),
	}
	md := summary(t, r, options())
	if n := strings.Count(md, "\n"); n > 35 {
		t.Errorf("%d lines", n)
	}
	if !strings.Contains(md, "<details><summary>2 notices</summary>") {
		t.Errorf("notices are not folded:\n%s", md)
	}
}

func TestSummaryLinks(t *testing.T) {
	r := made(report.Project{Path: ".", Format: "aahp", Layers: []report.Layer{report.Done("a", "A", "s", []report.Finding{
		{Rule: "a/b", Severity: report.Error, Path: "a b/c#d?é&\"<.md", Span: report.Span{Line: 3, EndLine: 5}, Message: "m", Remedy: "r"},
		finding("a/b", report.Error, "gone.md", 1, "m", "r"),
		finding("a/b", report.Error, "../up.md", 1, "m", "r"),
	})}})
	o := options()
	o.Exists = func(p string) bool { return p != "gone.md" }
	md := summary(t, r, o)
	want := server + "/octo-org/widgets/blob/" + linkID + "/a%20b/c%23d%3F%C3%A9%26%22%3C.md#L3-L5"
	if !strings.Contains(md, `<a href="`+want+`">`) {
		t.Errorf("no link %s in\n%s", want, md)
	}
	if strings.Contains(md, "blob/"+linkID+"/gone") || strings.Contains(md, "up.md\"") || strings.Contains(md, "..") {
		t.Error("a link to what is not there")
	}
	if !strings.Contains(md, server+"/octo-org/widgets/commit/"+baseID) {
		t.Error("the base is not linked")
	}
	for name, o := range map[string]SummaryOptions{
		"script":     {ServerURL: "javascript:alert(1)//", Repository: "a/b", LinkSHA: linkID, RunURL: "javascript:alert(1)"},
		"quote":      {ServerURL: `https://x"onclick=x`, Repository: "a/b", LinkSHA: linkID, RunURL: `https://x/"><b>`},
		"repository": {ServerURL: server, Repository: `a/b"><b>`, LinkSHA: linkID},
		"sha":        {ServerURL: server, Repository: "", LinkSHA: `x"><b>`},
		"nothing":    {},
	} {
		md := summary(t, r, o)
		if strings.Contains(md, "<a ") || strings.Contains(md, "<b>") {
			t.Errorf("%s: a link was made:\n%s", name, md)
		}
	}
}

func TestCheckRunOutput(t *testing.T) {
	title, sum, text := CheckRunOutput(failing(), options())
	if title != "Failed: 3 errors, 1 warning, 1 notice" {
		t.Errorf("title %q", title)
	}
	if !strings.Contains(sum, "<table>") || strings.Contains(sum, "<li>") || !strings.Contains(sum, "actions/runs/7001") {
		t.Errorf("summary:\n%s", sum)
	}
	if !strings.Contains(text, "integrity/checksum-mismatch") || strings.Contains(text, "<table>") {
		t.Errorf("text:\n%s", text)
	}
	if title, _, text := CheckRunOutput(passing(), options()); title != "Passed" || text != "" {
		t.Errorf("title %q, text %q", title, text)
	}
	_, sum, text = CheckRunOutput(large(400), options())
	for name, s := range map[string]string{"summary": sum, "text": text} {
		if len(s) >= 65_000 || !utf8.ValidString(s) {
			t.Errorf("%s has %d bytes", name, len(s))
		}
		inactive(t, s)
	}
	if !strings.Contains(text, "more findings, see the log or the job's summary.</p>") || len(text) < 50_000 {
		t.Errorf("text of %d bytes ends %q", len(text), text[len(text)-120:])
	}
}

func TestHeadline(t *testing.T) {
	warn := made(report.Project{Path: ".", Layers: []report.Layer{report.Done("a", "A", "s", []report.Finding{finding("a/b", report.Warning, "x", 1, "m", "r")})}})
	for want, r := range map[string]*report.Report{
		"Passed": passing(), "Passed: 1 warning": warn, "Passed: nothing was checked": skipped(),
		"Failed: 3 errors, 1 warning, 1 notice": failing(),
	} {
		if got := headline(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestPlainProse(t *testing.T) {
	for s, want := range map[string]bool{
		"11 files indexed, 11 verified, in the head tree": true,
		"4 rows: 3 verified (1 check-backed, 2 dated)":    true,
		"it's 1,200 files; NOT EVALUATED.":                true,
		"see example.com":                                 false,
		"by @octocat":                                     false,
		"issue #1":                                        false,
		"issue GH-1":                                      false,
		"at 1a2b3c4":                                      false,
		"at deadbeef":                                     false,
		"a*b*":                                            false,
		"a_b":                                             false,
		"café":                                            false,
		"a\nb":                                            false,
	} {
		if got := isPlainProse(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func BenchmarkRender5000(b *testing.B) {
	r := large(1667)
	for name, f := range map[string]func() error{
		"text":    func() error { return Text(&bytes.Buffer{}, r, TextOptions{}) },
		"json":    func() error { return JSON(&bytes.Buffer{}, r) },
		"sarif":   func() error { return SARIF(&bytes.Buffer{}, r, sampleRules) },
		"summary": func() error { return Summary(&bytes.Buffer{}, r, options()) },
		"github":  func() error { return GitHub(&bytes.Buffer{}, r, GitHubOptions{Random: counter(7)}) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A long list keeps its beginning in view and folds the rest.
func TestSummaryFoldsLongLists(t *testing.T) {
	var fs []report.Finding
	for i := range 25 {
		fs = append(fs, finding("a/b", report.Error, fmt.Sprintf("f%02d", i), 1, "m", "r"))
	}
	md := summary(t, made(report.Project{Path: ".", Layers: []report.Layer{report.Done("a", "A", "s", fs)}}), options())
	before, after, ok := strings.Cut(md, "<details><summary>15 more</summary>")
	if !ok || strings.Count(before, "<li>") != openFindings || strings.Count(after, "<li>") != 15 {
		t.Errorf("not folded:\n%s", md)
	}
	inactive(t, md)
}

// Errors come first in a layer, and the findings of a file stand together.
func TestSummaryOrder(t *testing.T) {
	md := summary(t, made(report.Project{Path: ".", Layers: []report.Layer{report.Done("a", "A", "s", []report.Finding{
		finding("a/warn", report.Warning, "a.md", 1, "m", "r"),
		finding("a/warn", report.Warning, "b.md", 1, "m", "r"),
		finding("a/err", report.Error, "b.md", 9, "m", "r"),
	})}}), options())
	var got []string
	for _, m := range regexp.MustCompile(`<li>\S+ <code>(a/\w+)</code> at <a href="[^"]*/(\w\.md)#L(\d)">`).FindAllStringSubmatch(md, -1) {
		got = append(got, strings.Join(m[1:], " "))
	}
	if want := []string{"a/err b.md 9", "a/warn b.md 1", "a/warn a.md 1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
