package render

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

func text(t *testing.T, r *report.Report, o TextOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// skipped is what the escape hatch leaves: nothing was evaluated.
func skipped() *report.Report {
	why := "not run: AAHP_SKIP_VERIFY=1"
	return made(report.Project{Path: ".", Format: "aahp", Level: "full", Layers: []report.Layer{
		report.Skipped("integrity", "Manifest integrity", why),
		report.Skipped("drift", "Handoff updated with the change", why),
		report.Skipped("pointer", "Last session's commit", why),
		report.Skipped("trust", "Trust register", why),
	}})
}

func TestTextGolden(t *testing.T) {
	ci := TextOptions{Advice: []string{"The gate at level ci ignores AAHP_SKIP_VERIFY and will still check this change."}}
	for _, c := range []struct {
		name string
		r    *report.Report
		o    TextOptions
	}{
		{"pass.txt", passing(), TextOptions{}},
		{"pass-quiet.txt", passing(), TextOptions{Quiet: true}},
		{"fail.txt", failing(), TextOptions{}},
		{"fail-quiet.txt", failing(), TextOptions{Quiet: true}},
		{"fail-colour.txt", failing(), TextOptions{Color: true}},
		{"skip.txt", skipped(), ci},
		{"hostile.txt", hostile(), TextOptions{}},
	} {
		t.Run(c.name, func(t *testing.T) { golden(t, c.name, []byte(text(t, c.r, c.o))) })
	}
}

// A remedy is printed for the layers that failed, once, and for no other.
func TestTextFailureSummary(t *testing.T) {
	out := text(t, failing(), TextOptions{})
	if n := strings.Count(out, "git diff -- .ai/handoff"); n != 1 {
		t.Errorf("the remedy shared by two findings is there %d times", n)
	}
	if !strings.Contains(out, "fix: handoff-gate manifest . && git add .ai/handoff") {
		t.Error("the command of the drift layer is missing")
	}
	_, todo, ok := strings.Cut(out, "What failed, and what to do")
	if !ok || !strings.Contains(todo, "\n  integrity\n") || !strings.Contains(todo, "\n  drift\n") {
		t.Errorf("the failed layers are not named:\n%s", todo)
	}
	if strings.Contains(todo, "pii-allowlist") || strings.Contains(todo, "pointer") {
		t.Errorf("the failure summary speaks of what did not fail:\n%s", todo)
	}
	if strings.Contains(text(t, passing(), TextOptions{}), "What failed") {
		t.Error("a passing report has a failure summary")
	}
}

func TestTextQuietIsNeverLonger(t *testing.T) {
	for name, r := range map[string]*report.Report{
		"passing": passing(), "failing": failing(), "skipped": skipped(), "hostile": hostile(), "empty": made(),
	} {
		loud, quiet := text(t, r, TextOptions{}), text(t, r, TextOptions{Quiet: true})
		if len(quiet) > len(loud) {
			t.Errorf("%s: quiet has %d bytes, normal %d", name, len(quiet), len(loud))
		}
		if r.Verdict == report.Fail && !strings.Contains(quiet, ".md") {
			t.Errorf("%s: quiet hides a failure", name)
		}
	}
	quiet := text(t, failing(), TextOptions{Quiet: true})
	for _, gone := range []string{"reviewed-non-impacting", "pointer", "trust"} {
		if strings.Contains(quiet, gone) {
			t.Errorf("quiet prints %q", gone)
		}
	}
}

func TestTextOfFailuresOnly(t *testing.T) {
	r := made(report.Project{Path: ".", Format: "aahp", Level: "check", Layers: []report.Layer{
		report.Done("doubtful", "D", "d", []report.Finding{{Rule: "a/b", Severity: report.Warning, Path: "p", Message: "m", Remedy: "r"}}),
		report.Done("wrong", "W", "w", []report.Finding{{Rule: "a/c", Severity: report.Error, Path: "p", Message: "m", Remedy: "r"}}),
		report.Unevaluated("unknown", "U", "u"),
	}})
	got := text(t, r, TextOptions{Quiet: true, FailuresOnly: true})
	if strings.Contains(got, "doubtful") || !strings.Contains(got, "wrong") || !strings.Contains(got, "NOT EVALUATED: u") {
		t.Errorf("%s", got)
	}
	if _, advice, _ := strings.Cut(got, "What failed"); strings.Contains(advice, "unknown") {
		t.Errorf("there is nothing to do about a layer without a finding:\n%s", got)
	}
}

// safeLines checks what a terminal and the runner see of a text.
func safeLines(t *testing.T, out string) {
	t.Helper()
	for _, r := range out {
		if r != '\n' && (unicode.In(r, unicode.Cc, unicode.Cf) || breaksLine(r)) {
			t.Errorf("character %U in the text", r)
		}
	}
	for line := range strings.Lines(out) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			t.Errorf("a line begins a command: %q", line)
		}
		if strings.Contains(line, "##[") {
			t.Errorf("an old-style command: %q", line)
		}
	}
}

func TestTextIsSafe(t *testing.T) {
	safeLines(t, text(t, hostile(), TextOptions{}))
	safeLines(t, text(t, failing(), TextOptions{}))
	if !strings.Contains(text(t, hostile(), TextOptions{}), "100%sure %d%!x.md") {
		t.Error("percent signs do not survive")
	}
}

func FuzzText(f *testing.F) {
	for _, n := range evilNames {
		f.Add(n)
	}
	f.Add("##\x00[error]")
	f.Add("#\u200b#[error]")
	f.Fuzz(func(t *testing.T, s string) {
		r := made(report.Project{Path: s, Format: "aahp", Level: "ci", Layers: []report.Layer{
			report.Done("integrity", s, s, []report.Finding{
				finding(s, report.Error, s, 1, s, s), finding(s, report.Warning, s, 0, s, s),
			}),
		}})
		safeLines(t, text(t, r, TextOptions{Advice: []string{s}}))
	})
}

func TestTextColourOnlyOnRequest(t *testing.T) {
	if strings.Contains(text(t, failing(), TextOptions{}), "\x1b") {
		t.Error("colour without being asked")
	}
	coloured := text(t, failing(), TextOptions{Color: true})
	plain := coloured
	for _, c := range []string{bold, dim, red, green, yellow, "0"} {
		plain = strings.ReplaceAll(plain, "\x1b["+c+"m", "")
	}
	if plain != text(t, failing(), TextOptions{}) {
		t.Error("colour changes more than colour")
	}
}

// A failing write is reported, not swallowed.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

var errBroken = errorString("broken pipe")

type errorString string

func (e errorString) Error() string { return string(e) }

func TestWriteErrors(t *testing.T) {
	r := failing()
	for name, err := range map[string]error{
		"text":     Text(brokenWriter{}, r, TextOptions{}),
		"json":     JSON(brokenWriter{}, r),
		"sarif":    SARIF(brokenWriter{}, r, sampleRules),
		"commands": writeCommands(brokenWriter{}, Annotations(r, AnnotationOptions{}), CommandOptions{}),
		"summary":  Summary(brokenWriter{}, r, SummaryOptions{}),
		"github":   GitHub(brokenWriter{}, r, GitHubOptions{Random: counter(1)}),
		"rules":    RulesText(brokenWriter{}, sampleRules),
		"explain":  Explain(brokenWriter{}, sampleRules[0]),
		"output":   Output(brokenWriter{}, counter(1), "verdict", "pass"),
	} {
		if err == nil {
			t.Errorf("%s: a failed write is not an error", name)
		}
	}
}

// counter is a source of random bytes for tests: the same byte for ever.
type counter byte

func (c counter) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(c)
	}
	return len(p), nil
}
