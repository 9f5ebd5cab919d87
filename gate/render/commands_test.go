package render

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

// obeyed is a command that the runner would carry out.
type obeyed struct {
	name       string
	properties map[string]string
	data       string
}

// runner reads a log as the runner does: line by line, leading blanks trimmed,
// commands of the new form at the start of a line, of the old form anywhere in
// it, nothing between a stop-commands command and its token. Lines end where
// any reader could see an end.
func runner(t *testing.T, log string) []obeyed {
	t.Helper()
	var cmds []obeyed
	stop := ""
	lines := strings.FieldsFunc(log, breaksLine)
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		if stop != "" {
			if strings.HasPrefix(trimmed, "::"+stop+"::") || strings.Contains(line, "##["+stop+"]") {
				stop = ""
			}
			continue
		}
		rest, isCommand := strings.CutPrefix(trimmed, "::")
		info, data, hasEnd := strings.Cut(rest, "::")
		if !isCommand || !hasEnd {
			if strings.Contains(line, "##[") {
				t.Errorf("an old-style command: %q", line)
			}
			continue
		}
		name, props, _ := strings.Cut(info, " ")
		if name == "stop-commands" {
			stop = data
			if len(stop) != 32 {
				t.Errorf("token %q", stop)
			}
			continue
		}
		if !slices.Contains([]string{"error", "warning", "notice", "group", "endgroup", "debug"}, name) {
			t.Errorf("the log gives the command %q", line)
		}
		c := obeyed{name, map[string]string{}, data}
		for _, kv := range strings.Split(strings.TrimSpace(props), ",") {
			if k, v, ok := strings.Cut(kv, "="); ok {
				for _, e := range [][2]string{{"%0D", "\r"}, {"%0A", "\n"}, {"%3A", ":"}, {"%2C", ","}, {"%25", "%"}} {
					v = strings.ReplaceAll(v, e[0], e[1])
				}
				c.properties[k] = v
			}
		}
		for _, e := range [][2]string{{"%0D", "\r"}, {"%0A", "\n"}, {"%25", "%"}} {
			c.data = strings.ReplaceAll(c.data, e[0], e[1])
		}
		cmds = append(cmds, c)
	}
	if stop != "" {
		t.Error("stop-commands never ended")
	}
	groups := 0
	for _, c := range cmds {
		switch c.name {
		case "group":
			groups++
		case "endgroup":
			groups--
		}
		if groups < 0 || groups > 1 {
			t.Error("groups are nested or not balanced")
		}
	}
	if groups != 0 {
		t.Error("a group is left open")
	}
	return cmds
}

func TestCommandEscapes(t *testing.T) {
	got := command("error", []property{{"file", "a:b,c%\r\n.md"}, {"line", "1"}, {"col", ""}, {"title", "x"}}, "100% :,\r\n::end")
	want := "::error file=a%3Ab%2Cc%25%0D%0A.md,line=1,title=x::100%25 :,%0D%0A::end"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := command("endgroup", nil, ""); got != "::endgroup::" {
		t.Errorf("got %s", got)
	}
}

// What the runner reads is what was meant, whatever stands in it.
func FuzzCommandRoundTrip(f *testing.F) {
	for _, n := range evilNames {
		f.Add(n, n)
	}
	f.Add("%25%0A%3A%2C", "%250A")
	f.Fuzz(func(t *testing.T, file, data string) {
		if strings.ContainsFunc(file+data, func(r rune) bool { return breaksLine(r) && r != '\n' && r != '\r' }) ||
			strings.ContainsRune(file+data, 0x85) || strings.TrimSpace(data) != data {
			t.Skip("not a line end for the runner, but for the reader in this test")
		}
		cmds := runner(t, command("error", []property{{"file", file}, {"title", "t"}}, data)+"\n")
		if len(cmds) != 1 {
			t.Fatalf("%d commands", len(cmds))
		}
		if cmds[0].name != "error" || cmds[0].properties["file"] != file || cmds[0].data != data || cmds[0].properties["title"] != "t" {
			t.Errorf("%q, %q came back as %+v", file, data, cmds[0])
		}
	})
}

func commands(t *testing.T, a []Annotation, o CommandOptions) []obeyed {
	t.Helper()
	var b bytes.Buffer
	if err := writeCommands(&b, a, o); err != nil {
		t.Fatal(err)
	}
	return runner(t, b.String())
}

func TestCommandsAtMostTenOfALevel(t *testing.T) {
	for _, c := range []struct{ n, taken, want, more int }{
		{1, 0, 1, 0},
		{10, 0, 10, 0},
		{11, 0, 10, 2},
		{500, 0, 10, 491},
		{3, 8, 2, 2},
		{2, 8, 2, 0},
		{2, 10, 0, 0},
	} {
		list := make([]Annotation, c.n)
		for i := range list {
			list[i] = Annotation{Severity: report.Warning, Path: "f", StartLine: i + 1, EndLine: i + 1, Title: "a/b", Message: "m"}
		}
		got := commands(t, list, CommandOptions{Where: "the job summary", Taken: report.Counts{Warnings: c.taken}})
		if len(got) != c.want {
			t.Errorf("%+v: %d commands", c, len(got))
			continue
		}
		if c.more > 0 {
			last := got[len(got)-1].data
			if !strings.HasPrefix(last, fmt.Sprintf("%d warnings more", c.more)) || !strings.Contains(last, "the job summary") {
				t.Errorf("%+v: %q", c, last)
			}
		}
	}
}

func TestCommandsProperties(t *testing.T) {
	got := commands(t, []Annotation{
		{Severity: report.Error, Path: "a,b.md", StartLine: 3, EndLine: 3, StartColumn: 2, EndColumn: 5, Title: "a/b", Message: "m"},
		{Severity: report.Error, Path: "c.md", StartLine: 3, EndLine: 5, Title: "a/b", Message: "m"},
		{Severity: report.Notice, Title: "a/b", Message: "##[error]x\n::y::"},
	}, CommandOptions{PathPrefix: "sub/dir"})
	want := []obeyed{
		{"error", map[string]string{"file": "sub/dir/a,b.md", "line": "3", "col": "2", "endColumn": "5", "title": "a/b"}, "m"},
		{"error", map[string]string{"file": "sub/dir/c.md", "line": "3", "endLine": "5", "title": "a/b"}, "m"},
		{"notice", map[string]string{"title": "a/b"}, "## [error]x\n::y::"},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestCommandsCutMessages(t *testing.T) {
	for _, unit := range []string{"a", "é", "%", "\n", "😀", "a%😀\n"} {
		message := strings.Repeat(unit, 9000) + "\nfix: handoff-gate manifest ."
		a := Annotation{Severity: report.Error, Path: "f", StartLine: 1, EndLine: 1, Title: "a/b", Message: message}
		got := commands(t, []Annotation{a}, CommandOptions{})[0]
		if n := len(utf16.Encode([]rune(got.data))); n > maxCommandMessage {
			t.Errorf("%q: %d characters", unit, n)
		}
		if !strings.HasSuffix(got.data, "\nfix: handoff-gate manifest .") || strings.Contains(got.data, "\uFFFD") || !strings.Contains(got.data, "(cut:") {
			t.Errorf("%q: ends %q", unit, got.data[len(got.data)-90:])
		}
		var raw bytes.Buffer
		if err := writeCommands(&raw, []Annotation{a}, CommandOptions{}); err != nil {
			t.Fatal(err)
		}
		_, data, _ := strings.Cut(raw.String()[2:], "::")
		if n := len(utf16.Encode([]rune(strings.TrimSuffix(data, "\n")))); n > maxCommandMessage {
			t.Errorf("%q: %d characters escaped", unit, n)
		}
	}
}

func TestGitHub(t *testing.T) {
	for _, r := range []*report.Report{passing(), failing(), hostile(), large(100), skipped()} {
		var b bytes.Buffer
		if err := GitHub(&b, r, GitHubOptions{Random: counter(0xAB)}); err != nil {
			t.Fatal(err)
		}
		cmds := runner(t, b.String())
		c := r.Count()
		want := min(c.Errors, 10) + min(c.Warnings, 10) + min(c.Notices, 10)
		if len(cmds) != want {
			t.Errorf("%d commands, want %d", len(cmds), want)
		}
		if !strings.Contains(b.String(), headline(r)) {
			t.Error("no text for people")
		}
	}
	var b bytes.Buffer
	if err := GitHub(&b, failing(), GitHubOptions{Random: counter(1)}); err != nil {
		t.Fatal(err)
	}
	golden(t, "fail.github", b.Bytes())
}

func TestGitHubWithoutRandomnessPrintsNothing(t *testing.T) {
	for _, random := range []io.Reader{nil, strings.NewReader("short")} {
		var b bytes.Buffer
		if err := GitHub(&b, failing(), GitHubOptions{Random: random}); err == nil || b.Len() > 0 {
			t.Errorf("error %v, output %q", err, b.String())
		}
	}
}

func TestLog(t *testing.T) {
	var b bytes.Buffer
	l := NewLog(&b, &sequence{})
	l.Group("Inputs and commits")
	l.Line("base 1a2b3c4d5e6f from pull_request.base.sha\n::error::not a command")
	l.Group("packages/api\n::error::x ##[error]y")
	if err := l.Quote(strings.Join(evilNames, "\n")); err != nil {
		t.Fatal(err)
	}
	if err := l.Quote("second\nblock"); err != nil {
		t.Fatal(err)
	}
	l.Debug("GET /x\n::error::z")
	for range 12 {
		l.Message(report.Warning, "refused: ::error::x")
	}
	l.Annotate(Annotations(failing(), AnnotationOptions{}), CommandOptions{})
	l.Group("Reporting")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, c := range runner(t, b.String()) {
		count[c.name]++
	}
	if fmt.Sprint(count) != "map[debug:1 endgroup:3 error:3 group:3 notice:1 warning:10]" {
		t.Errorf("commands %v in\n%s", count, b.String())
	}
	var tokens []string
	for line := range strings.Lines(b.String()) {
		if token, ok := strings.CutPrefix(line, "::stop-commands::"); ok {
			tokens = append(tokens, strings.TrimSpace(token))
		}
	}
	if len(tokens) != 2 || tokens[0] == tokens[1] {
		t.Errorf("tokens %q", tokens)
	}
}

// sequence is a source of random bytes for tests: each draw is another.
type sequence struct{ n byte }

func (s *sequence) Read(p []byte) (int, error) {
	s.n++
	for i := range p {
		p[i] = s.n
	}
	return len(p), nil
}

// A text that holds the token cannot end the block: another is drawn.
func TestLogTokenIsNotInTheText(t *testing.T) {
	first := strings.Repeat("01", 16)
	var b bytes.Buffer
	l := NewLog(&b, &sequence{})
	if err := l.Quote("::" + first + "::\n::error::x"); err != nil {
		t.Fatal(err)
	}
	if cmds := runner(t, b.String()); len(cmds) != 0 {
		t.Errorf("the runner would obey %v", cmds)
	}
	if !strings.HasPrefix(b.String(), "::stop-commands::"+strings.Repeat("02", 16)) {
		t.Errorf("log %q", b.String())
	}
	if err := NewLog(&b, counter(1)).Quote(first); err == nil {
		t.Error("a source that repeats itself is accepted")
	}
}

func FuzzLog(f *testing.F) {
	for _, n := range evilNames {
		f.Add(n, n)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		var out bytes.Buffer
		l := NewLog(&out, &sequence{})
		l.Group(a)
		l.Line(b)
		if err := l.Quote(a + "\n" + b); err != nil {
			t.Skip(err)
		}
		l.Line(a)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if cmds := runner(t, out.String()); len(cmds) != 2 {
			t.Errorf("the runner would obey %v", cmds)
		}
	})
}

// outputsOf reads a GITHUB_OUTPUT file as the runner does.
func outputsOf(t *testing.T, file string) map[string]string {
	t.Helper()
	out := map[string]string{}
	lines := strings.Split(file, "\n")
	for i := 0; i < len(lines); i++ {
		if lines[i] == "" {
			continue
		}
		eq, here := strings.Index(lines[i], "="), strings.Index(lines[i], "<<")
		if here < 0 || eq >= 0 && eq < here {
			t.Fatalf("line %q", lines[i])
		}
		name, delim := lines[i][:here], lines[i][here+2:]
		var value []string
		for i++; ; i++ {
			if i == len(lines) {
				t.Fatalf("output %s never ends", name)
			}
			if lines[i] == delim {
				break
			}
			value = append(value, lines[i])
		}
		out[name] = strings.Join(value, "\n")
	}
	return out
}

func FuzzOutput(f *testing.F) {
	for _, n := range evilNames {
		f.Add(n)
	}
	f.Add("a\n" + strings.Repeat("01", 16) + "\nverdict=pass")
	f.Add(strings.Repeat("01", 16))
	f.Fuzz(func(t *testing.T, value string) {
		var b bytes.Buffer
		random := &sequence{}
		for _, name := range []string{"head", "verdict"} {
			if err := Output(&b, random, name, value); err != nil {
				t.Skip(err)
			}
		}
		got := outputsOf(t, b.String())
		if len(got) != 2 || strings.ContainsFunc(got["verdict"], breaksLine) || got["head"] != got["verdict"] {
			t.Errorf("outputs %q", got)
		}
	})
}
