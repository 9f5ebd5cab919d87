package githubapi

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate/render"
)

// env makes a Lookup of pairs.
func env(vars map[string]string) Lookup {
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}

// inputs makes the environment the runner makes: a variable for each input, its
// hyphens kept, in upper case.
func inputs(values map[string]string) map[string]string {
	vars := map[string]string{}
	for _, s := range InputSpecs {
		vars["INPUT_"+strings.ToUpper(s.Name)] = s.Default
	}
	vars["INPUT_TOKEN"] = testToken
	for k, v := range values {
		vars["INPUT_"+strings.ToUpper(k)] = v
	}
	return vars
}

var defaultInputs = Inputs{
	Paths: []PathLine{{Text: "."}}, WorkingDirectory: ".", CheckRun: true, Annotations: AnnotationsAuto, MaxAnnotations: 200,
	Summary: true, FetchMissing: true, APITimeout: time.Minute, Token: testToken, Checks: true, Sessions: Sessions{Auto: true},
	Packets: Packets{Strict: true, Ledger: Ledger{Refs: true}},
}

func TestInputDefaults(t *testing.T) {
	for name, vars := range map[string]map[string]string{
		"as the runner gives them": inputs(nil),
		"all empty": func() map[string]string {
			vars := inputs(nil)
			for k := range vars {
				vars[k] = ""
			}
			vars["INPUT_TOKEN"] = testToken
			return vars
		}(),
		"none set": {"INPUT_TOKEN": testToken},
	} {
		got, err := ReadInputs(env(vars))
		if err != nil || !reflect.DeepEqual(got, defaultInputs) {
			t.Errorf("%s: %v\ngot  %+v\nwant %+v", name, err, got, defaultInputs)
		}
	}
}

func TestInputValues(t *testing.T) {
	for _, c := range []struct {
		input, value string
		change       func(*Inputs)
	}{
		{"base", "HEAD~1", func(in *Inputs) { in.Base = "HEAD~1" }}, // a finding, not a usage error
		{"base", "  " + commitA + "\n", func(in *Inputs) { in.Base = commitA }},
		{"path", "packages/api", func(in *Inputs) { in.Paths = []PathLine{{Text: "packages/api"}} }},
		{"path", " ./packages/api/ \r\n\n packages/*\nauto\npackages//api\n", func(in *Inputs) {
			in.Paths = []PathLine{{Text: "packages/api"}, {Text: "packages/*", Glob: true}, {Text: "auto", Auto: true}}
		}},
		{"path", "a?", func(in *Inputs) { in.Paths = []PathLine{{Text: "a?", Glob: true}} }},
		{"path", "./auto", func(in *Inputs) { in.Paths = []PathLine{{Text: "auto"}} }},
		{"path", "..a/b..", func(in *Inputs) { in.Paths = []PathLine{{Text: "..a/b.."}} }},
		{"working-directory", "src/checkout/", func(in *Inputs) { in.WorkingDirectory = "src/checkout" }},
		{"check-run", "off", func(in *Inputs) { in.CheckRun = false }},
		{"check-name", "Handoff: état", func(in *Inputs) { in.CheckName = "Handoff: état" }},
		{"sha", strings.ToUpper(commitA), func(in *Inputs) { in.SHA = commitA }},
		{"sha", strings.Repeat("a", 64), func(in *Inputs) { in.SHA = strings.Repeat("a", 64) }},
		{"annotations", "commands", func(in *Inputs) { in.Annotations = AnnotationsCommands }},
		{"annotations", "off", func(in *Inputs) { in.Annotations = AnnotationsOff }},
		{"max-annotations", "0", func(in *Inputs) { in.MaxAnnotations = 0 }},
		{"max-annotations", "1000", func(in *Inputs) { in.MaxAnnotations = 1000 }},
		{"summary", "FALSE", func(in *Inputs) { in.Summary = false }},
		{"report", "./out/report.json", func(in *Inputs) { in.Report = "out/report.json" }},
		{"sarif", "out/x.sarif", func(in *Inputs) { in.SARIF = "out/x.sarif" }},
		{"fetch-missing", "False", func(in *Inputs) { in.FetchMissing = false }},
		{"api-timeout", "600", func(in *Inputs) { in.APITimeout = 10 * time.Minute }},
		{"token", "", func(in *Inputs) { in.Token = "" }},
		{"schema", "True", func(in *Inputs) { in.Schema = true }},
		{"secrets", "extended", func(in *Inputs) { in.ExtendedSecrets = true }},
		{"checks", "off", func(in *Inputs) { in.Checks = false }},
		{"sessions", "off", func(in *Inputs) { in.Sessions = Sessions{} }},
		{"sessions", "handoffs/ \n\n ./packages//api/handoffs\nhandoffs\n.", func(in *Inputs) {
			in.Sessions = Sessions{Roots: []string{"handoffs", "packages/api/handoffs", "."}}
		}},
		{"sessions", "./auto", func(in *Inputs) { in.Sessions = Sessions{Roots: []string{"auto"}} }},
		{"policy-from", "head", func(in *Inputs) { in.PolicyFromHead = true }},
		{"governance", "False", func(*Inputs) {}},
		{"governance", "true", func(in *Inputs) { in.Governance = true }},
		{"governance-skip", " claims \n\ncli-source\nclaims", func(in *Inputs) { in.GovernanceSkip = []string{"claims", "cli-source"} }},
		{"packets-strict", "TRUE", func(*Inputs) {}},
		{"packets-strict", "false", func(in *Inputs) { in.Packets.Strict = false }},
		{"packets-all", "True", func(in *Inputs) { in.Packets.All = true }},
		{"registry", "./keys//registry.json", func(in *Inputs) { in.Packets.Registry = "keys/registry.json" }},
		{"receiver", "bob", func(in *Inputs) { in.Packets.Receiver = "bob" }},
		{"ledger", "refs", func(*Inputs) {}},
		{"ledger", "github:octo-org/ledger", func(in *Inputs) { in.Packets.Ledger = Ledger{Repository: "octo-org/ledger"} }},
		{"ledger", "./claims/ledger.json", func(in *Inputs) { in.Packets.Ledger = Ledger{File: "claims/ledger.json"} }},
	} {
		want := defaultInputs
		c.change(&want)
		got, err := ReadInputs(env(inputs(map[string]string{c.input: c.value})))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s=%q: %v\ngot  %+v\nwant %+v", c.input, c.value, err, got, want)
		}
	}
}

func TestInputUsageErrors(t *testing.T) {
	for _, c := range []struct{ input, value, says string }{
		{"path", "/etc", "absolute"},
		{"path", "../other", ".."},
		{"path", "ok\na/../../b", ".."},
		{"path", "packages/..", ".."},
		{"working-directory", "../..", ".."},
		{"working-directory", "/github/workspace", "absolute"},
		{"check-run", "maybe", "auto or off"},
		{"check-run", "Auto", "auto or off"},
		{"check-name", "two\nlines", "one line"},
		{"sha", "main", "full commit id"},
		{"sha", commitA[:12], "full commit id"},
		{"annotations", "on", "auto, commands or off"},
		{"max-annotations", "many", "0 to 1000"},
		{"max-annotations", "1001", "0 to 1000"},
		{"max-annotations", "-1", "0 to 1000"},
		{"max-annotations", "+5", "0 to 1000"},
		{"max-annotations", "99999999999999999999", "0 to 1000"},
		{"summary", "yes please", "true or false"},
		{"summary", "1", "true or false"},
		{"report", "/tmp/report.json", "absolute"},
		{"report", "../report.json", ".."},
		{"report", ".git/report.json", ".git"},
		{"report", "sub/.GIT/hooks/x", ".git"},
		{"report", "out/", "file"},
		{"report", ".", "file"},
		{"sarif", "/x", "absolute"},
		{"fetch-missing", "no", "true or false"},
		{"api-timeout", "0", "1 to 600"},
		{"api-timeout", "-1", "1 to 600"},
		{"api-timeout", "601", "1 to 600"},
		{"api-timeout", "60s", "1 to 600"},
		{"schema", "on", "true or false"},
		{"secrets", "all", "fixed or extended"},
		{"checks", "true", "on or off"},
		{"policy-from", "both", "base or head"},
		{"governance", "perhaps", "true or false"},
		{"governance-skip", "claims\nclaim", "ids of gates"},
		{"governance-skip", "claims, handoff", "verify-workflow"},
		{"packets", "/etc/*.json", "absolute"},
		{"packets", "ok/*.json\n../*.json", ".."},
		{"packets-all", "some", "true or false"},
		{"packets-strict", "on", "true or false"},
		{"registry", "../registry.json", ".."},
		{"registry", ".", "the path of a file"},
		{"receiver", "bob\ncarol", "an agent's id"},
		{"claim", "true", "only with packets"},
		{"claim", "refs", "true or false"},
		{"ledger", "github:octo-org", "github:OWNER/REPO"},
		{"ledger", "github:octo-org/a/b", "github:OWNER/REPO"},
		{"ledger", "git:store.git", "refs, github:OWNER/REPO, or a file path"},
		{"ledger", "remote:origin", "refs, github:OWNER/REPO, or a file path"},
		{"ledger", "/srv/ledger.json", "absolute"},
		{"ledger", "../ledger.json", ".."},
		{"ledger", ".git/ledger.json", ".git"},
		{"sessions", "/srv/handoffs", "auto, off, or root folders"},
		{"sessions", "handoffs\n../handoffs", "auto, off, or root folders"},
	} {
		_, err := ReadInputs(env(inputs(map[string]string{c.input: c.value})))
		var usage *UsageError
		if !errors.As(err, &usage) || usage.Input != c.input || !strings.Contains(err.Error(), "input "+c.input+":") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s=%q: %v", c.input, c.value, err)
		}
	}
}

func TestEveryBadInputIsNamed(t *testing.T) {
	in, err := ReadInputs(env(inputs(map[string]string{"summary": "x", "check-run": "y", "claim": "true"})))
	want := "input check-run: \"y\" is not allowed; allowed: auto or off\n" +
		"input summary: \"x\" is not allowed; allowed: true or false\n" +
		"input claim: \"true\" is not allowed; allowed: true or false, true only with packets"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	if in.Token != testToken {
		t.Error("the token is not known, so the error could not be masked")
	}
	if _, err := ReadInputs(env(inputs(map[string]string{"report": "a/b", "sarif": "./a//b"}))); err == nil || !strings.Contains(err.Error(), "another file") {
		t.Errorf("one file for both: %v", err)
	}
	if _, err := ReadInputs(env(inputs(map[string]string{"token": "two words"}))); err == nil || strings.Contains(err.Error(), "words") {
		t.Errorf("a token that cannot be one: %v", err)
	}
}

// Packets need a registry, and claims packets.
func TestPacketInputs(t *testing.T) {
	in, err := ReadInputs(env(inputs(map[string]string{"packets": " handoffs/**/*.json \n\n./a.json\nhandoffs/**/*.json", "registry": "r.json", "claim": "true"})))
	want := Packets{Globs: []string{"handoffs/**/*.json", "a.json"}, Strict: true, Registry: "r.json", Claim: true, Ledger: Ledger{Refs: true}}
	if err != nil || !reflect.DeepEqual(in.Packets, want) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, in.Packets, want)
	}
	if _, err := ReadInputs(env(inputs(map[string]string{"packets": "*.json"}))); err == nil || !strings.Contains(err.Error(), "input registry:") {
		t.Errorf("packets without a registry: %v", err)
	}
}

// A shell cannot pass INPUT_CHECK-NAME on, so the other spelling counts where
// that does not exist. Where it exists it counts alone, even when it is empty:
// an earlier step could set the other through GITHUB_ENV.
func TestInputSpellings(t *testing.T) {
	for _, c := range []struct {
		vars map[string]string
		want bool
	}{
		{map[string]string{"INPUT_CHECK-RUN": "off"}, false},
		{map[string]string{"INPUT_CHECK_RUN": "off"}, false},
		{map[string]string{"INPUT_CHECK-RUN": "auto", "INPUT_CHECK_RUN": "off"}, true},
		{map[string]string{"INPUT_CHECK-RUN": "", "INPUT_CHECK_RUN": "off"}, true},
		{map[string]string{"INPUT_check-run": "off"}, true},
	} {
		if got, err := ReadInputs(env(c.vars)); err != nil || got.CheckRun != c.want {
			t.Errorf("%v: check-run %t, %v", c.vars, got.CheckRun, err)
		}
	}
	// No other variable stands in for the token.
	if got, err := ReadInputs(env(map[string]string{"GITHUB_TOKEN": "x", "GH_TOKEN": "x"})); err != nil || got.Token != "" {
		t.Errorf("token %q, %v", got.Token, err)
	}
}

func TestCheckName(t *testing.T) {
	for _, c := range []struct {
		name, path, want string
	}{
		{"", ".", "handoff-gate"},
		{"", "./", "handoff-gate"},
		{"", "packages/api", "handoff-gate (packages/api)"},
		{"", "a\nb", "handoff-gate"},
		{"mine", "packages/api", "mine"},
	} {
		in, err := ReadInputs(env(inputs(map[string]string{"check-name": c.name, "path": c.path})))
		if err != nil || in.Name() != c.want {
			t.Errorf("%+v: %q, %v", c, in.Name(), err)
		}
	}
}

func TestContext(t *testing.T) {
	full := map[string]string{
		"GITHUB_REPOSITORY": testRepo, "GITHUB_API_URL": "https://ghe.example.test/api/v3", "GITHUB_SERVER_URL": "https://ghe.example.test/",
		"GITHUB_RUN_ID": "7001", "GITHUB_WORKFLOW": "handoff", "GITHUB_JOB": "gate", "GITHUB_EVENT_NAME": "push",
		"GITHUB_EVENT_PATH": "/no/such/event.json", "GITHUB_SHA": strings.ToUpper(commitA), "GITHUB_REF": "refs/heads/main",
		"GITHUB_WORKSPACE": "/github/workspace", "GITHUB_OUTPUT": "/out", "GITHUB_STEP_SUMMARY": "/sum", "RUNNER_DEBUG": "1", "ACT": "true",
		"GITHUB_RUN_ATTEMPT": "not a number", "AAHP_SKIP_VERIFY": "", "HANDOFFS_ROOT": "x",
		// None of these is the repository.
		"GITHUB_REPOSITORY_OWNER": "someone",
	}
	got := ReadContext(env(full))
	want := Context{
		Repository: testRepo, APIURL: "https://ghe.example.test/api/v3", ServerURL: "https://ghe.example.test", RunID: "7001",
		Workflow: "handoff", Job: "gate", EventName: "push", EventPath: "/no/such/event.json", SHA: commitA, Ref: "refs/heads/main",
		Workspace: "/github/workspace", OutputPath: "/out", SummaryPath: "/sum", Debug: true, Act: true,
		Ignored: []string{"AAHP_SKIP_VERIFY", "HANDOFFS_ROOT"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if u := got.RunURL(); u != "https://ghe.example.test/octo-org/widgets/actions/runs/7001" {
		t.Errorf("run %q", u)
	}
	none := ReadContext(env(nil))
	if none.APIURL != "https://api.github.com" || none.ServerURL != "https://github.com" || none.Repository != "" || none.RunURL() != "" {
		t.Errorf("without an environment: %+v", none)
	}
}

// parseOutputs reads a file as the runner does.
func parseOutputs(t testing.TB, data string) map[string]string {
	t.Helper()
	out := map[string]string{}
	lines := strings.Split(data, "\n")
	for i := 0; i < len(lines); i++ {
		if lines[i] == "" {
			continue
		}
		eq, here := strings.Index(lines[i], "="), strings.Index(lines[i], "<<")
		if here < 0 || eq >= 0 && eq < here {
			t.Fatalf("line %d is no heredoc: %q", i+1, lines[i])
		}
		name, delim, _ := strings.Cut(lines[i], "<<")
		if len(delim) != 32 || strings.Trim(delim, "0123456789abcdef") != "" {
			t.Fatalf("delimiter %q", delim)
		}
		var value []string
		for i++; i < len(lines) && lines[i] != delim; i++ {
			value = append(value, lines[i])
		}
		if i == len(lines) {
			t.Fatalf("output %s never ends", name)
		}
		if _, twice := out[name]; twice {
			t.Fatalf("output %s twice", name)
		}
		out[name] = strings.Join(value, "\n")
	}
	return out
}

func TestOutputs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "output")
	o := Outputs{
		Verdict: "fail", Base: commitA, Head: commitB, Errors: 2, Warnings: 1, Notices: 3, CheckRunID: 1001,
		CheckRunURL: "https://github.example.test/octo-org/widgets/runs/1001", Reporting: ReportingCheckRun, ReportPath: "out/a b.json",
		SARIFPath: "x\nverdict=pass\r\nverdict<<E\npass\nE\n" + testToken,
	}
	mask := NewMasker(testToken)
	if err := WriteOutputs(file, rand.Reader, mask, o); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := parseOutputs(t, string(data))
	want := map[string]string{
		"verdict": "fail", "base": commitA, "head": commitB, "errors": "2", "warnings": "1", "notices": "3",
		"check-run-id": "1001", "check-run-url": o.CheckRunURL, "reporting": "check-run", "report-path": "out/a b.json",
		"sarif-path": got["sarif-path"],
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
	if v := got["sarif-path"]; strings.ContainsAny(v, "\r\n") || strings.Contains(v, testToken) || !strings.HasPrefix(v, "x verdict=pass") {
		t.Errorf("sarif-path %q", v)
	}
	if n := strings.Count(string(data), "<<"); n < len(OutputNames) {
		t.Errorf("%d outputs", n)
	}
}

func TestOutputsOfARunThatCouldNotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "output")
	if err := WriteOutputs(file, rand.Reader, NewMasker(""), Outputs{}); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(file)
	got := parseOutputs(t, string(data))
	want := map[string]string{
		"verdict": "error", "base": "", "head": "", "errors": "0", "warnings": "0", "notices": "0",
		"check-run-id": "", "check-run-url": "", "reporting": "commands", "report-path": "", "sarif-path": "",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestUnwritableFilesAreErrorsOnly(t *testing.T) {
	mask := NewMasker(testToken)
	for name, file := range map[string]string{"unset": "", "a folder": t.TempDir(), "no folder": filepath.Join(t.TempDir(), "x", "y")} {
		if err := WriteOutputs(file, rand.Reader, mask, Outputs{}); err == nil {
			t.Errorf("outputs, %s: no error", name)
		}
		if err := AppendSummary(file, mask, "x"); err == nil {
			t.Errorf("summary, %s: no error", name)
		}
	}
	if err := WriteOutputs(filepath.Join(t.TempDir(), "o"), strings.NewReader("short"), mask, Outputs{}); err == nil {
		t.Error("no random delimiter, and no error")
	}
}

func TestSummary(t *testing.T) {
	mask := NewMasker(testToken)
	file := filepath.Join(t.TempDir(), "summary")
	if got := SummaryRoom(file); got != render.MaxSummary {
		t.Errorf("room %d", got)
	}
	for _, s := range []string{"# One\n", "two " + testToken + "\n"} {
		if err := AppendSummary(file, mask, s); err != nil {
			t.Fatal(err)
		}
	}
	data, _ := os.ReadFile(file)
	if string(data) != "# One\ntwo ***\n" {
		t.Errorf("got %q", data)
	}
	if got := SummaryRoom(file); got != render.MaxSummary-len(data) {
		t.Errorf("room %d", got)
	}
}

func TestSummaryStaysWithinTheRunnersLimit(t *testing.T) {
	mask := NewMasker("")
	for _, c := range []struct {
		there int
		added string
		cut   bool
	}{
		{0, strings.Repeat("x", render.MaxSummary), false},
		{0, strings.Repeat("é\n", render.MaxSummary), true},
		{render.MaxSummary - 500, strings.Repeat("one line\n", 100), true},
		{render.MaxSummary - 500, strings.Repeat("é", 400), true},
		{render.MaxSummary - 10, "0123456789", false},
	} {
		file := filepath.Join(t.TempDir(), "summary")
		if err := os.WriteFile(file, bytes.Repeat([]byte("y"), c.there), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := AppendSummary(file, mask, c.added); err != nil {
			t.Fatal(err)
		}
		data, _ := os.ReadFile(file)
		got := string(data[c.there:])
		if len(data) > render.MaxSummary || !utf8.ValidString(got) || strings.HasSuffix(got, summaryCut) != c.cut {
			t.Errorf("%d bytes there, %d added: %d in all, ending %q", c.there, len(c.added), len(data), got[max(0, len(got)-40):])
		}
		if !c.cut && got != c.added {
			t.Error("what fits was changed")
		}
	}
	full := filepath.Join(t.TempDir(), "summary")
	if err := os.WriteFile(full, make([]byte, 2*render.MaxSummary), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := AppendSummary(full, mask, "x"); err == nil {
		t.Error("written to a full file")
	}
}

func TestMasker(t *testing.T) {
	b64 := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + testToken))
	m := NewMasker(testToken)
	for in, want := range map[string]string{
		"":                              "",
		"nothing":                       "nothing",
		"a " + testToken + " b":         "a *** b",
		testToken + testToken:           "******",
		"AUTHORIZATION: basic " + b64:   "AUTHORIZATION: basic ***",
		testToken[:10]:                  testToken[:10],
		testToken[:10] + testToken:      testToken[:10] + "***",
		"https://x:" + testToken + "@h": "https://x:***@h",
	} {
		if got := m.String(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		if got := string(m.Bytes([]byte(in))); got != want {
			t.Errorf("bytes of %q: %q, want %q", in, got, want)
		}
	}
	if got := NewMasker("").String("x-access-token: "); got != "x-access-token: " {
		t.Errorf("without a token: %q", got)
	}
}

// pieces writes s in pieces of n bytes.
func pieces(t testing.TB, m *Masker, s string, n int) string {
	t.Helper()
	var b strings.Builder
	w := m.Writer(&b)
	for len(s) > 0 {
		k := min(n, len(s))
		got, err := io.WriteString(w, s[:k])
		if err != nil || got != k {
			t.Fatalf("wrote %d of %d: %v", got, k, err)
		}
		s = s[k:]
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMaskWriter(t *testing.T) {
	m := NewMasker(testToken)
	text := "one " + testToken + " two " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+testToken)) + testToken[:20]
	for n := 1; n <= len(text); n++ {
		if got := pieces(t, m, text, n); got != m.String(text) {
			t.Errorf("in pieces of %d: %q", n, got)
		}
	}
	var b strings.Builder
	w := m.Writer(&b)
	fmt.Fprint(w, "a line\n", testToken[:5])
	if b.String() != "a line\n" {
		t.Errorf("held back too much or too little: %q", b.String())
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestMaskWriterFails(t *testing.T) {
	w := NewMasker(testToken).Writer(brokenWriter{})
	if _, err := w.Write([]byte("x")); err == nil {
		t.Error("no error")
	}
}

// In pieces or whole, the text is the same, and no secret is in it.
func FuzzMasker(f *testing.F) {
	f.Add(testToken, "a "+testToken+" b", 3)
	f.Add("abab", "ababababab", 1)
	f.Add("eC1h", "x-access-token:eC1heC1hY2Nl", 2)
	f.Add("x", "eC1hY2Nlc3MtdG9rZW46eA==", 5)
	f.Fuzz(func(t *testing.T, token, text string, n int) {
		m := NewMasker(token)
		whole := m.String(text)
		if n < 1 {
			n = 1
		}
		if got := pieces(t, m, text, n); got != whole {
			t.Errorf("in pieces of %d: %q; whole: %q", n, got, whole)
		}
		// A secret of stars could stand in the stars themselves; no token has any.
		if token != "" && !strings.Contains(token, "*") && strings.Contains(whole, token) {
			t.Errorf("the secret is left in %q", whole)
		}
	})
}

// Whatever a value holds, the file reads back as the same outputs.
func FuzzOutputs(f *testing.F) {
	f.Add("fail", "x\nverdict=pass", "a<<b", []byte("seed"))
	f.Add("", "00000000000000000000000000000000", "\r\n\u2028\x85", []byte{})
	f.Fuzz(func(t *testing.T, verdict, url, path string, seed []byte) {
		// A source that repeats what the value may hold already.
		random := io.MultiReader(bytes.NewReader(slices.Concat(seed, seed)), rand.Reader)
		data, err := Outputs{Verdict: verdict, CheckRunURL: url, ReportPath: path}.encode(random, NewMasker(testToken))
		if err != nil {
			t.Skip() // the source gave one delimiter too often; nothing is written then
		}
		got := parseOutputs(t, string(data))
		if len(got) != len(OutputNames) {
			t.Errorf("outputs %q", got)
		}
		single := func(s string) bool { return !strings.ContainsAny(s, "\r\n") }
		for name, want := range map[string]string{"verdict": verdict, "check-run-url": url, "report-path": path} {
			if !single(got[name]) {
				t.Errorf("%s spans lines: %q", name, got[name])
			}
			if plain(want) && want != "" && !strings.Contains(want, testToken) && got[name] != want {
				t.Errorf("%s: %q, want %q", name, got[name], want)
			}
		}
	})
}

// plain has only printable ASCII, which no output changes.
func plain(s string) bool {
	return strings.Trim(s, " ") == s && strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}
