package render

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

// one makes a report of a single finding in project.
func one(project string, f report.Finding) *report.Report {
	return made(report.Project{Path: project, Format: "aahp", Level: "ci", Layers: []report.Layer{report.Done("a", "A", "s", []report.Finding{f})}})
}

func TestAnnotationsOrder(t *testing.T) {
	var got []string
	for _, a := range Annotations(failing(), AnnotationOptions{}) {
		got = append(got, a.CheckLevel()+" "+a.Path+" "+a.Title)
	}
	want := []string{
		"failure .ai/handoff/LOG.md integrity/checksum-mismatch",
		"failure .ai/handoff/STATUS.md integrity/checksum-mismatch",
		"failure .ai/handoff/STATUS.md drift/handoff-not-updated",
		"warning .ai/handoff/NEXT_ACTIONS.md lint/pii",
		"notice docs/guide.md drift/reviewed-non-impacting",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

func TestAnnotationPlace(t *testing.T) {
	span := func(l, el, c, ec int) report.Span {
		return report.Span{Line: l, EndLine: el, Column: c, EndColumn: ec}
	}
	for name, c := range map[string]struct {
		in   report.Span
		want [4]int // start line, end line, start column, end column
	}{
		"no line is line 1":             {span(0, 0, 0, 0), [4]int{1, 1, 0, 0}},
		"a line":                        {span(7, 0, 0, 0), [4]int{7, 7, 0, 0}},
		"several lines":                 {span(7, 9, 0, 0), [4]int{7, 9, 0, 0}},
		"an end before the line goes":   {span(7, 3, 0, 0), [4]int{7, 7, 0, 0}},
		"columns on one line":           {span(7, 0, 2, 5), [4]int{7, 7, 2, 5}},
		"columns on one line, said":     {span(7, 7, 2, 5), [4]int{7, 7, 2, 5}},
		"a column alone":                {span(7, 0, 2, 0), [4]int{7, 7, 2, 0}},
		"columns across lines go":       {span(7, 9, 2, 5), [4]int{7, 9, 0, 0}},
		"a column without a line goes":  {span(0, 0, 2, 5), [4]int{1, 1, 0, 0}},
		"an end line alone goes":        {span(0, 9, 0, 0), [4]int{1, 1, 0, 0}},
		"an end column before it goes":  {span(7, 0, 5, 2), [4]int{7, 7, 5, 0}},
		"an end column alone goes":      {span(7, 0, 0, 2), [4]int{7, 7, 0, 0}},
		"what is negative is not known": {span(-1, -1, -1, -1), [4]int{1, 1, 0, 0}},
	} {
		a := Annotations(one(".", report.Finding{Rule: "a/b", Severity: report.Error, Path: "f", Span: c.in, Message: "m"}), AnnotationOptions{})[0]
		if got := [4]int{a.StartLine, a.EndLine, a.StartColumn, a.EndColumn}; got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestAnnotationAnchor(t *testing.T) {
	tree := map[string]bool{"p/.ai/handoff/MANIFEST.json": true, "p/src/a.go": true, "a:b,c.md": true, "back\\slash": true}
	exists := func(p string) bool { return tree[p] }
	for _, c := range []struct {
		path     string
		line     int
		want     string
		wantLine int
		message  string
	}{
		{"p/src/a.go", 3, "p/src/a.go", 3, "m"},
		{"./p/src/a.go", 3, "p/src/a.go", 3, "m"},
		{"/p//src/./a.go", 3, "p/src/a.go", 3, "m"},
		{"a:b,c.md", 3, "a:b,c.md", 3, "m"},
		{"p/gone.md", 3, "p/.ai/handoff/MANIFEST.json", 1, "p/gone.md:3: m"},
		{"p/gone.md", 0, "p/.ai/handoff/MANIFEST.json", 1, "p/gone.md: m"},
		{"../outside", 3, "p/.ai/handoff/MANIFEST.json", 1, "../outside:3: m"},
		{"back\\slash", 3, "p/.ai/handoff/MANIFEST.json", 1, "back\\slash:3: m"},
		{"line\nend", 3, "p/.ai/handoff/MANIFEST.json", 1, "line end:3: m"},
		{"", 0, "", 0, "m"},
	} {
		a := Annotations(one("p", finding("a/b", report.Error, c.path, c.line, "m", "")), AnnotationOptions{Exists: exists})[0]
		if a.Path != c.want || a.StartLine != c.wantLine || a.Message != c.message {
			t.Errorf("%q: %q:%d %q", c.path, a.Path, a.StartLine, a.Message)
		}
	}
	none := AnnotationOptions{Exists: func(string) bool { return false }}
	if a := Annotations(one("p", finding("a/b", report.Error, "p/x", 4, "m", "r")), none)[0]; a.Path != "" || a.StartLine != 0 || a.Message != "p/x:4: m\n\nr" {
		t.Errorf("without any file: %+v", a)
	}
}

func TestAnnotationText(t *testing.T) {
	r := one(".", finding(strings.Repeat("é", 400), report.Warning, "f", 1, "a\tb\nc\x00\x1b[0m\r\x7f\u0085\u2028\xffz", "do it"))
	a := Annotations(r, AnnotationOptions{})[0]
	if want := "a\tb\nc\uFFFD\uFFFD[0m\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDz\n\ndo it"; a.Message != want {
		t.Errorf("message %q", a.Message)
	}
	if utf8.RuneCountInString(a.Title) != 255 {
		t.Errorf("title of %d characters", utf8.RuneCountInString(a.Title))
	}
	long := Annotations(one(".", finding("a/b", report.Error, "f", 1, strings.Repeat("é", 40_000), "look\nfix: run this")), AnnotationOptions{})[0]
	if len(long.Message) > MaxAnnotationMessage || len(long.Message) < MaxAnnotationMessage-4 || !utf8.ValidString(long.Message) ||
		!strings.Contains(long.Message, "(cut:") || !strings.HasSuffix(long.Message, "\nfix: run this") {
		t.Errorf("%d bytes, ending %q", len(long.Message), long.Message[len(long.Message)-80:])
	}
}

func FuzzAnnotations(f *testing.F) {
	for _, n := range evilNames {
		f.Add(n, n, 3, 0, 1, 2)
	}
	f.Fuzz(func(t *testing.T, path, message string, line, endLine, column, endColumn int) {
		r := one("p", report.Finding{
			Rule: "a/b", Severity: report.Error, Path: path, Message: message, Remedy: path,
			Span: report.Span{Line: line, EndLine: endLine, Column: column, EndColumn: endColumn},
		})
		a := Annotations(r, AnnotationOptions{})[0]
		for _, c := range a.Message {
			if c != '\t' && c != '\n' && unicode.Is(unicode.Cc, c) {
				t.Errorf("%U in the message", c)
			}
		}
		if len(a.Message) > MaxAnnotationMessage || !utf8.ValidString(a.Message) || !utf8.ValidString(a.Path) {
			t.Errorf("%d bytes, path %q", len(a.Message), a.Path)
		}
		if a.Path == "" {
			return
		}
		if strings.HasPrefix(a.Path, "/") || strings.HasPrefix(a.Path, "./") || strings.Contains("/"+a.Path+"/", "/../") || strings.Contains(a.Path, "\\") {
			t.Errorf("path %q", a.Path)
		}
		if a.StartLine < 1 || a.EndLine < a.StartLine || a.StartLine != a.EndLine && (a.StartColumn != 0 || a.EndColumn != 0) {
			t.Errorf("place %+v", a)
		}
	})
}
