package githubapi

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-github/v66/github"

	"github.com/handoff-gate/handoff-gate/gate/render"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/githubapi/apitest"
)

func testRun() Run {
	return Run{
		Name: "handoff-gate", HeadSHA: commitB, ExternalID: "hg1:7001:pull_request:handoff:.",
		DetailsURL: "https://github.example.test/octo-org/widgets/actions/runs/7001", MaxAnnotations: 1000,
	}
}

var testOutput = Output{Title: "2 errors, 1 warning", Summary: "| layer |\n|---|\n", Text: "findings\n"}

func annotation(s report.Severity, i int) render.Annotation {
	return render.Annotation{
		Severity: s, Path: fmt.Sprintf("docs/file-%04d.md", i), StartLine: i + 1, EndLine: i + 1, StartColumn: 2, EndColumn: 3,
		Title: "integrity/checksum-mismatch", Message: fmt.Sprintf("finding %d: 100%%sure %%d\n\nfix: git diff", i),
	}
}

func errorsAt(n int) []render.Annotation {
	var out []render.Annotation
	for i := range n {
		out = append(out, annotation(report.Error, i))
	}
	return out
}

// begun is a reporter whose check run is in progress.
func begun(t *testing.T, s *apitest.Server, change ...func(*Options)) (*Reporter, *fakeClock) {
	t.Helper()
	client, clock := newClient(t, s, change...)
	r := NewReporter(client, testRun())
	if refused := r.Begin(t.Context()); refused != nil {
		t.Fatal(refused)
	}
	return r, clock
}

func only(t *testing.T, s *apitest.Server) apitest.CheckRun {
	t.Helper()
	runs := s.Runs()
	if len(runs) != 1 {
		t.Fatalf("%d check runs, want 1: %+v", len(runs), runs)
	}
	return runs[0]
}

func sentBy(s *apitest.Server, method string) []apitest.Request {
	return slices.DeleteFunc(s.Requests(), func(r apitest.Request) bool { return r.Method != method })
}

var (
	patchPath    = regexp.MustCompile(`/check-runs/[0-9]+$`)
	withFindings = func(r apitest.Request) bool { return bytes.Contains(r.Body, []byte(`"annotations"`)) }
)

// Every request and every answer of one run is held against GitHub's published
// description, for github.com and for Enterprise Server.
func TestContract(t *testing.T) {
	if shared() == "" {
		t.Skip("SKIPPED: GitHub's OpenAPI description is not here; set HANDOFF_GATE_SHARED to the folder that holds data/" + githubSpec)
	}
	for name, prefix := range map[string]string{githubSpec: "", enterpriseSpec: "/api/v3"} {
		t.Run(name, func(t *testing.T) {
			s := newAPI(t, func(o *apitest.Options) { o.Spec, o.Prefix = spec(t, name), prefix })
			r, _ := begun(t, s)
			if got := only(t, s); got.Status != "in_progress" || got.Conclusion != "" || got.Name != "handoff-gate" || got.HeadSHA != commitB ||
				got.ExternalID != testRun().ExternalID || got.DetailsURL != testRun().DetailsURL || got.StartedAt != "2026-03-01T10:00:00Z" {
				t.Errorf("after Begin: %+v", got)
			}
			notes := []render.Annotation{annotation(report.Notice, 900), {Severity: report.Warning, Path: "a.md", Message: "no line"}}
			res := r.Complete(t.Context(), testOutput, append(notes, errorsAt(60)...), Failure)
			if !res.Completed || res.Refusal != nil || res.Annotated != 62 || res.ID != r.ID() || res.URL == "" {
				t.Errorf("result: %+v", res)
			}
			got := only(t, s)
			if got.Conclusion != "failure" || got.CompletedAt == "" || got.Title != testOutput.Title || got.Text != testOutput.Text || len(got.Annotations) != 62 {
				t.Errorf("after Complete: %+v", got)
			}
			// What a rerun, a cancelled run and the look-ups send as well.
			_, _ = begun(t, s)
			again, _ := begun(t, s)
			if refused := again.Cancel(t.Context()); refused != nil {
				t.Error(refused)
			}
			compareOK(s)
			s.Tag("v1", commitA, commitC)
			client, _ := newClient(t, s)
			if _, err := client.Compare(t.Context(), commitA, commitB); err != nil {
				t.Error(err)
			}
			if _, err := client.Tags(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSpecIsFound(t *testing.T) {
	if shared() == "" {
		t.Skip("SKIPPED: no shared data")
	}
	if _, err := apitest.LoadSpec(filepath.Join(shared(), "data", "no-such.json")); err == nil {
		t.Error("a description that is not there was loaded")
	}
}

func TestBatches(t *testing.T) {
	for _, c := range []struct{ n, patches int }{{0, 1}, {1, 1}, {50, 1}, {51, 2}, {100, 2}, {101, 3}, {1000, 20}} {
		t.Run(fmt.Sprint(c.n), func(t *testing.T) {
			s := newAPI(t)
			r, _ := begun(t, s)
			res := r.Complete(t.Context(), testOutput, errorsAt(c.n), Failure)
			if !res.Completed || res.Annotated != c.n || len(res.Unsent) != 0 || res.Over != 0 || res.Refusal != nil {
				t.Errorf("result: %+v", res)
			}
			patches := sentBy(s, "PATCH")
			if len(patches) != c.patches {
				t.Fatalf("%d PATCH requests, want %d", len(patches), c.patches)
			}
			for i, p := range patches {
				doc := bodyOf(t, p)
				last := i == len(patches)-1
				for _, k := range []string{"status", "conclusion", "completed_at"} {
					if _, has := doc[k]; has != last {
						t.Errorf("PATCH %d: member %s there: %t", i, k, has)
					}
				}
			}
			got := only(t, s)
			if len(got.Annotations) != c.n || got.Conclusion != "failure" {
				t.Errorf("%d annotations, conclusion %q", len(got.Annotations), got.Conclusion)
			}
			if c.n == 0 {
				return
			}
			two, three, first := 2, 3, got.Annotations[0]
			want := apitest.Annotation{
				Path: "docs/file-0000.md", StartLine: 1, EndLine: 1, StartColumn: &two, EndColumn: &three, Level: "failure",
				Title: "integrity/checksum-mismatch", Message: "finding 0: 100%sure %d\n\nfix: git diff",
			}
			if !reflect.DeepEqual(first, want) {
				t.Errorf("annotation %+v, want %+v", first, want)
			}
		})
	}
}

func TestMaxAnnotations(t *testing.T) {
	for _, c := range []struct{ bound, sent, over int }{{0, 0, 6}, {2, 2, 4}, {6, 6, 0}, {7, 6, 0}} {
		s := newAPI(t)
		client, _ := newClient(t, s)
		run := testRun()
		run.MaxAnnotations = c.bound
		r := NewReporter(client, run)
		_ = r.Begin(t.Context())
		all := append([]render.Annotation{annotation(report.Notice, 7), annotation(report.Warning, 8), annotation(report.Notice, 9)}, errorsAt(3)...)
		res := r.Complete(t.Context(), testOutput, all, Failure)
		got := only(t, s)
		if res.Over != c.over || res.Annotated != c.sent || len(got.Annotations) != c.sent || len(res.Unsent) != 0 {
			t.Errorf("bound %d: %+v", c.bound, res)
		}
		for _, a := range got.Annotations[:min(c.sent, 3)] {
			if a.Level != "failure" {
				t.Errorf("bound %d: a %s before an error", c.bound, a.Level)
			}
		}
		if noted := strings.Contains(got.Summary, fmt.Sprintf("max-annotations is %d", c.bound)); noted != (c.over > 0) {
			t.Errorf("bound %d: summary %q", c.bound, got.Summary)
		}
	}
}

func TestAnnotationForm(t *testing.T) {
	n := func(i int) *int { return &i }
	for name, c := range map[string]struct {
		in   render.Annotation
		want apitest.Annotation
	}{
		"no line":            {render.Annotation{EndLine: 9, StartColumn: 4}, apitest.Annotation{StartLine: 1, EndLine: 1}},
		"end before start":   {render.Annotation{StartLine: 5, EndLine: 3}, apitest.Annotation{StartLine: 5, EndLine: 5}},
		"across lines":       {render.Annotation{StartLine: 5, EndLine: 7, StartColumn: 1, EndColumn: 2}, apitest.Annotation{StartLine: 5, EndLine: 7}},
		"columns":            {render.Annotation{StartLine: 5, EndLine: 5, StartColumn: 1, EndColumn: 2}, apitest.Annotation{StartLine: 5, EndLine: 5, StartColumn: n(1), EndColumn: n(2)}},
		"end column earlier": {render.Annotation{StartLine: 5, StartColumn: 3, EndColumn: 2}, apitest.Annotation{StartLine: 5, EndLine: 5, StartColumn: n(3)}},
	} {
		c.in.Path, c.in.Message, c.in.Severity = "a.md", "m", report.Warning
		c.want.Path, c.want.Message, c.want.Level = "a.md", "m", "warning"
		s := newAPI(t)
		r, _ := begun(t, s)
		r.Complete(t.Context(), testOutput, []render.Annotation{c.in}, Success)
		if got := only(t, s).Annotations; len(got) != 1 || !reflect.DeepEqual(got[0], c.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestAnnotationLimits(t *testing.T) {
	s := newAPI(t)
	r, _ := begun(t, s)
	res := r.Complete(t.Context(), testOutput, []render.Annotation{{
		Severity: report.Error, Path: "a.md", Message: strings.Repeat("é", 40_000), Title: strings.Repeat("ü", 300),
	}, {
		Severity: report.Error, Path: "b.md", Message: "a\x1b[31mb\rc\xffd\te\nf", Title: "x\ny",
	}}, Failure)
	got := only(t, s).Annotations
	if !res.Completed || len(got) != 2 {
		t.Fatalf("%+v, %d annotations", res, len(got))
	}
	if m := got[0].Message; len(m) > render.MaxAnnotationMessage || !utf8.ValidString(m) || len(m) < render.MaxAnnotationMessage-8 {
		t.Errorf("message of %d bytes", len(m))
	}
	if n := utf8.RuneCountInString(got[0].Title); n != render.MaxAnnotationTitle {
		t.Errorf("title of %d characters", n)
	}
	if want := "a\ufffd[31mb\ufffdc\ufffdd\te\nf"; got[1].Message != want || got[1].Title != "x y" {
		t.Errorf("got %q, %q", got[1].Message, got[1].Title)
	}
}

// One path GitHub does not take costs its whole batch, so it is not sent.
func TestFindingsWithoutAUsableFile(t *testing.T) {
	paths := []string{"", ".", "/etc/passwd", "./a", "../a", "a/../b", `a\b`, "a//b", "a\x00b", "a\xffb"}
	var all []render.Annotation
	for _, p := range paths {
		all = append(all, render.Annotation{Severity: report.Error, Path: p, Message: "m"})
	}
	all = append(all, annotation(report.Error, 1))
	s := newAPI(t)
	r, _ := begun(t, s)
	res := r.Complete(t.Context(), testOutput, all, Failure)
	if !res.Completed || res.Annotated != 1 || !reflect.DeepEqual(res.Unsent, all[:len(paths)]) || res.Refusal != nil {
		t.Errorf("result: %+v", res)
	}
	if got := only(t, s); !strings.Contains(got.Summary, "10 findings could not be added") {
		t.Errorf("summary %q", got.Summary)
	}
}

func TestOutputIsCutByBytes(t *testing.T) {
	s := newAPI(t)
	r, _ := begun(t, s)
	line := "| " + strings.Repeat("é", 99) + " |\n"
	res := r.Complete(t.Context(), Output{
		Title: strings.Repeat("ü", 400) + "\n", Summary: strings.Repeat(line, 500), Text: strings.Repeat("日", 40_000),
	}, errorsAt(2), Failure)
	got := only(t, s)
	if !res.Completed || got.Conclusion != "failure" {
		t.Fatalf("%+v", res)
	}
	if n := utf8.RuneCountInString(got.Title); n > 255 {
		t.Errorf("title of %d characters", n)
	}
	for name, text := range map[string]string{"summary": got.Summary, "text": got.Text} {
		if len(text) > render.MaxCheckOutput || len(text) < render.MaxCheckOutput-300 || !strings.Contains(text, "left out") {
			t.Errorf("%s of %d bytes ends in %q", name, len(text), text[len(text)-100:])
		}
	}
	kept, _, _ := strings.Cut(got.Summary, "\n\n*The rest")
	if strings.Trim(kept, line) != "" || len(kept+"\n")%len(line) != 0 {
		t.Error("the summary is not cut between lines")
	}
}

func TestOutputIsNeverEmpty(t *testing.T) {
	s := newAPI(t)
	r, _ := begun(t, s)
	r.Complete(t.Context(), Output{Summary: " \n"}, nil, Success)
	if got := only(t, s); got.Title != "handoff-gate" || got.Summary == "" || got.Conclusion != "success" {
		t.Errorf("got %+v", got)
	}
}

func TestTokenStaysOutOfRequests(t *testing.T) {
	s := newAPI(t)
	r, _ := begun(t, s)
	leak := annotation(report.Error, 1)
	leak.Message = "the file holds " + testToken
	r.Complete(t.Context(), Output{Title: testToken, Summary: "x" + testToken, Text: testToken + "x"}, []render.Annotation{leak}, Failure)
	for _, q := range s.Requests() {
		if bytes.Contains(q.Body, []byte(testToken)) {
			t.Errorf("%s %s carries the token", q.Method, q.Path)
		}
	}
	if got := only(t, s); got.Summary != "x***" || got.Annotations[0].Message != "the file holds ***" {
		t.Errorf("got %+v", got)
	}
}

func TestFallBack(t *testing.T) {
	for _, c := range []struct {
		name     string
		fault    apitest.Fault
		severity report.Severity
		says     []string
	}{
		{"no permission", apitest.Fault{Method: "POST", Status: 403, Message: "Resource not accessible by integration"}, report.Notice, []string{"creating the check run", "checks: write", "fork"}},
		{"no permission to look", apitest.Fault{Status: 403, Message: "Resource not accessible by integration"}, report.Notice, []string{"checks: write"}},
		{"personal token", apitest.Fault{Method: "POST", Status: 403, Message: "You must authenticate via a GitHub App."}, report.Notice, []string{"checks: write", "personal token"}},
		{"rate limited", apitest.Fault{Status: 403, Message: "You have exceeded a secondary rate limit."}, report.Warning, []string{"rate"}},
		{"bad token", apitest.Fault{Status: 401, Message: "Bad credentials"}, report.Warning, []string{"401 Bad credentials", "checks: write"}},
		{"not found", apitest.Fault{Status: 404, Message: "Not Found"}, report.Warning, []string{"404"}},
		{"gone", apitest.Fault{Method: "POST", Status: 410}, report.Warning, []string{"410 Gone"}},
		{"legal", apitest.Fault{Status: 451}, report.Warning, []string{"451"}},
		{"unknown commit", apitest.Fault{Method: "POST", Status: 422, Message: "No commit found for SHA"}, report.Warning, []string{"No commit found"}},
		{"server error", apitest.Fault{Method: "GET", Status: 500}, report.Warning, []string{"500"}},
		{"no answer", apitest.Fault{Drop: true}, report.Warning, []string{"no answer"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newAPI(t)
			s.Fail(c.fault)
			client, _ := newClient(t, s)
			r := NewReporter(client, testRun())
			refused := r.Begin(t.Context())
			if refused == nil {
				t.Fatal("no refusal")
			}
			if refused.Severity != c.severity {
				t.Errorf("%s, want %s", refused.Severity, c.severity)
			}
			text := refused.Text()
			for _, want := range append(c.says, "verdict is not affected") {
				if !strings.Contains(text, want) {
					t.Errorf("%q lacks %q", text, want)
				}
			}
			all := errorsAt(3)
			before := len(s.Requests())
			res := r.Complete(t.Context(), testOutput, all, Failure)
			if res.Completed || res.ID != 0 || !reflect.DeepEqual(res.Unsent, all) || res.Refusal != refused {
				t.Errorf("result: %+v", res)
			}
			if n := len(s.Requests()) - before; n != 0 {
				t.Errorf("%d requests after the fall-back", n)
			}
			if n := len(s.Runs()); n != 0 {
				t.Errorf("%d check runs", n)
			}
		})
	}
}

func TestBadHeadIsNotSent(t *testing.T) {
	s := newAPI(t)
	client, _ := newClient(t, s)
	run := testRun()
	run.HeadSHA = "main"
	if refused := NewReporter(client, run).Begin(t.Context()); refused == nil || len(s.Requests()) != 0 {
		t.Errorf("%v after %d requests", refused, len(s.Requests()))
	}
}

func TestRerun(t *testing.T) {
	one := apitest.Annotation{Path: "a.md", StartLine: 1, EndLine: 1, Level: "failure", Message: "m"}
	base := apitest.CheckRun{Name: "handoff-gate", HeadSHA: commitB, ExternalID: testRun().ExternalID, Status: "completed", Conclusion: "success"}
	for name, c := range map[string]struct {
		change func(*apitest.CheckRun)
		fresh  bool
	}{
		"completed without annotations": {func(*apitest.CheckRun) {}, false},
		"in progress":                   {func(r *apitest.CheckRun) { r.Status, r.Conclusion = "in_progress", "" }, false},
		"queued":                        {func(r *apitest.CheckRun) { r.Status, r.Conclusion = "queued", "" }, false},
		"completed with annotations":    {func(r *apitest.CheckRun) { r.Annotations = []apitest.Annotation{one} }, true},
		"of another event":              {func(r *apitest.CheckRun) { r.ExternalID = "hg1:7001:push:handoff:." }, true},
		"of another commit":             {func(r *apitest.CheckRun) { r.HeadSHA = commitC }, true},
		"of another name":               {func(r *apitest.CheckRun) { r.Name = "handoff-gate (api)" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAPI(t)
			old := base
			c.change(&old)
			id := s.Add(old)
			r, _ := begun(t, s)
			if (r.ID() != id) != c.fresh {
				t.Fatalf("check run %d, the old one is %d", r.ID(), id)
			}
			res := r.Complete(t.Context(), testOutput, errorsAt(2), Failure)
			if !res.Completed || res.Annotated != 2 {
				t.Errorf("result: %+v", res)
			}
			runs := s.Runs()
			newest := runs[len(runs)-1]
			if newest.Conclusion != "failure" || len(newest.Annotations) != 2 {
				t.Errorf("the newest: %+v", newest)
			}
			if c.fresh && !reflect.DeepEqual(runs[0].Annotations, old.Annotations) {
				t.Error("the old check run was changed")
			}
		})
	}
}

// The default filter shows the newest of a name only, and pages hold 100.
func TestRerunLooksAtEveryPage(t *testing.T) {
	s := newAPI(t)
	mine := s.Add(apitest.CheckRun{Name: "handoff-gate", HeadSHA: commitB, ExternalID: testRun().ExternalID, Status: "in_progress"})
	for i := range 250 {
		s.Add(apitest.CheckRun{Name: "handoff-gate", HeadSHA: commitB, ExternalID: fmt.Sprint("other-", i), Status: "completed", Conclusion: "success"})
	}
	r, _ := begun(t, s)
	if r.ID() != mine {
		t.Errorf("check run %d, want %d", r.ID(), mine)
	}
	if n := len(sentBy(s, "POST")); n != 0 {
		t.Errorf("%d created", n)
	}
}

// An attempt that was killed between two batches left annotations behind: those
// are not added again.
func TestInterruptedAttemptIsContinued(t *testing.T) {
	all := errorsAt(120)
	s := newAPI(t)
	r, _ := begun(t, s)
	// The first batch arrives, then the process ends.
	ctx, cancel := context.WithCancel(t.Context())
	s.Fail(apitest.Fault{Method: "PATCH", Times: 1, Gone: true, Match: func(apitest.Request) bool { cancel(); return true }})
	s.Fail(apitest.Fault{Method: "PATCH", Drop: true})
	_ = r.Complete(ctx, testOutput, all, Failure)
	s.Heal()
	left := len(only(t, s).Annotations)
	if left == 0 || left == len(all) {
		t.Fatalf("set-up: %d annotations are there", left)
	}
	again, _ := begun(t, s)
	res := again.Complete(t.Context(), testOutput, all, Failure)
	got := only(t, s)
	if !res.Completed || res.Annotated != len(all) || len(got.Annotations) != len(all) {
		t.Errorf("%d annotations, result %+v", len(got.Annotations), res)
	}
}

// Two findings may read the same: one of them being there does not make up for
// the other.
func TestEqualAnnotationsAreCounted(t *testing.T) {
	twins := []render.Annotation{annotation(report.Error, 1), annotation(report.Error, 1)}
	s := newAPI(t)
	client, _ := newClient(t, s)
	_, _ = begun(t, s)
	run := only(t, s)
	w, _ := wire(twins[0])
	err := client.updateCheckRun(t.Context(), replay, run.ID, github.UpdateCheckRunOptions{Name: run.Name, Output: output(testOutput, []item{{wire: w}})})
	if err != nil {
		t.Fatal(err)
	}
	again, _ := begun(t, s)
	if res := again.Complete(t.Context(), testOutput, twins, Failure); res.Annotated != 2 || len(only(t, s).Annotations) != 2 {
		t.Errorf("%d annotations, result %+v", len(only(t, s).Annotations), res)
	}
}

func TestInterruptedAttemptThatCannotBeRead(t *testing.T) {
	s := newAPI(t)
	s.Add(apitest.CheckRun{
		Name: "handoff-gate", HeadSHA: commitB, ExternalID: testRun().ExternalID, Status: "in_progress",
		Annotations: []apitest.Annotation{{Path: "a.md", StartLine: 1, EndLine: 1, Level: "failure", Message: "m"}},
	})
	s.Fail(apitest.Fault{Path: regexp.MustCompile(`/annotations$`), Status: 404})
	r, _ := begun(t, s)
	res := r.Complete(t.Context(), testOutput, errorsAt(2), Failure)
	got := only(t, s)
	if !res.Completed || len(res.Unsent) != 2 || res.Refusal == nil || len(got.Annotations) != 1 || got.Conclusion != "failure" {
		t.Errorf("%+v, %+v", res, got)
	}
}

func TestLostCreateIsNotRepeatedBlindly(t *testing.T) {
	for name, fault := range map[string]apitest.Fault{
		"500 after it took effect":     {Status: 500, Apply: true},
		"dropped after it took effect": {Drop: true, Apply: true},
		"502 before it took effect":    {Status: 502},
		"dropped before":               {Drop: true},
		"an answer without an id":      {Status: 201, Body: "{}", Apply: true},
		"an answer that is no JSON":    {Status: 201, Body: "<html>", Apply: true},
		"too slow":                     {Delay: time.Minute, Apply: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAPI(t)
			fault.Method, fault.Times = "POST", 1
			s.Fail(fault)
			if fault.Delay > 0 {
				synctest.Test(t, func(t *testing.T) { lostCreate(t, s, fault, func(o *Options) { o.Transport = direct{s} }) })
				return
			}
			lostCreate(t, s, fault)
		})
	}
}

func lostCreate(t *testing.T, s *apitest.Server, fault apitest.Fault, change ...func(*Options)) {
	t.Helper()
	client, clock := newClient(t, s, change...)
	r := NewReporter(client, testRun())
	if refused := r.Begin(t.Context()); refused != nil {
		t.Fatal(refused)
	}
	if got := only(t, s); got.ID != r.ID() {
		t.Errorf("check run %d, want %d", r.ID(), got.ID)
	}
	var seen []string
	for _, q := range s.Requests() {
		seen = append(seen, q.Method)
	}
	want := []string{"GET", "POST", "GET"}
	if !fault.Apply {
		want = append(want, "POST")
	}
	if !slices.Equal(seen, want) || len(clock.waits) != 1 {
		t.Errorf("requests %v, want %v; waits %v", seen, want, clock.waits)
	}
}

// Rate limited means refused: nothing can have been created, nothing is looked at.
func TestRateLimitedCreateIsRepeated(t *testing.T) {
	s := newAPI(t)
	s.Fail(apitest.Fault{Method: "POST", Status: 429, Times: 2})
	_, _ = begun(t, s)
	if n := len(sentBy(s, "GET")); n != 1 {
		t.Errorf("%d look-ups, want 1", n)
	}
	only(t, s)
}

func TestLostCreateFoundOnlyLater(t *testing.T) {
	s := newAPI(t)
	s.Fail(apitest.Fault{Method: "POST", Status: 500, Apply: true, Times: 1})
	s.Fail(apitest.Fault{Method: "GET", Skip: 1, Times: 1, Status: 404}) // the look after the loss
	client, _ := newClient(t, s)
	r := NewReporter(client, testRun())
	if refused := r.Begin(t.Context()); refused == nil {
		t.Fatal("no refusal")
	}
	res := r.Complete(t.Context(), testOutput, errorsAt(1), Failure)
	if got := only(t, s); !res.Completed || got.Conclusion != "failure" {
		t.Errorf("the check run stays %s: %+v", got.Status, res)
	}
	// The same when the job is cancelled instead.
	s = newAPI(t)
	s.Fail(apitest.Fault{Method: "POST", Status: 500, Apply: true, Times: 1})
	s.Fail(apitest.Fault{Method: "GET", Skip: 1, Times: 1, Status: 404})
	client, _ = newClient(t, s)
	r = NewReporter(client, testRun())
	_ = r.Begin(t.Context())
	client.t.spent = client.t.budget // a cancelled job does not ask for the deadline
	_ = r.Cancel(t.Context())
	if got := only(t, s); got.Conclusion != "cancelled" {
		t.Errorf("conclusion %q", got.Conclusion)
	}
}

func TestCreateGivesUpAfterFiveTries(t *testing.T) {
	s := newAPI(t)
	s.Fail(apitest.Fault{Method: "POST", Status: 500})
	client, _ := newClient(t, s)
	if refused := NewReporter(client, testRun()).Begin(t.Context()); refused == nil || refused.Call.Cause != ServerError {
		t.Errorf("got %v", refused)
	}
	if n := len(sentBy(s, "POST")); n != maxTries {
		t.Errorf("%d tries", n)
	}
}

func TestRefusedBatchIsNotRepeated(t *testing.T) {
	for name, status := range map[string]int{"422": 422, "400": 400, "413": 413} {
		t.Run(name, func(t *testing.T) {
			s := newAPI(t)
			r, _ := begun(t, s)
			s.Fail(apitest.Fault{Method: "PATCH", Match: withFindings, Status: status, Message: "Invalid request."})
			all := errorsAt(120)
			res := r.Complete(t.Context(), testOutput, all, Failure)
			if !res.Completed || res.Annotated != 0 || !reflect.DeepEqual(res.Unsent, all) || res.Refusal == nil {
				t.Errorf("result: %+v", res)
			}
			got := only(t, s)
			if got.Conclusion != "failure" || !strings.Contains(got.Summary, "120 findings could not be added as annotations") {
				t.Errorf("%q, summary %q", got.Conclusion, got.Summary)
			}
			seen := map[string]int{}
			for _, q := range sentBy(s, "PATCH") {
				if seen[string(q.Body)]++; seen[string(q.Body)] > 1 {
					t.Error("a request was sent twice")
				}
			}
			if len(seen) != 4 {
				t.Errorf("%d requests, want three batches and the completion", len(seen))
			}
		})
	}
}

func TestOneRefusedBatch(t *testing.T) {
	s := newAPI(t)
	r, _ := begun(t, s)
	s.Fail(apitest.Fault{Method: "PATCH", Times: 1, Status: 422, Message: "Invalid request."})
	all := errorsAt(110)
	res := r.Complete(t.Context(), testOutput, all, Failure)
	if !res.Completed || res.Annotated != 60 || !reflect.DeepEqual(res.Unsent, all[:50]) {
		t.Errorf("%d annotated, %d unsent", res.Annotated, len(res.Unsent))
	}
	if got := only(t, s); len(got.Annotations) != 60 || !strings.Contains(got.Summary, "50 findings could not") {
		t.Errorf("%d annotations, summary %q", len(got.Annotations), got.Summary)
	}
}

// An output that GitHub refuses must not keep the check run in progress.
func TestRefusedOutput(t *testing.T) {
	s := newAPI(t)
	r, _ := begun(t, s)
	s.Fail(apitest.Fault{Method: "PATCH", Match: func(q apitest.Request) bool { return bytes.Contains(q.Body, []byte(`"output"`)) }, Status: 422})
	res := r.Complete(t.Context(), testOutput, errorsAt(1), Failure)
	if got := only(t, s); !res.Completed || got.Conclusion != "failure" || len(res.Unsent) != 1 {
		t.Errorf("%+v, %+v", got, res)
	}
}

func TestFailedBatchIsSkipped(t *testing.T) {
	s := newAPI(t)
	r, clock := begun(t, s)
	s.Fail(apitest.Fault{Method: "PATCH", Times: 5, Status: 500})
	all := errorsAt(110)
	res := r.Complete(t.Context(), testOutput, all, Failure)
	if !res.Completed || res.Annotated != 60 || len(res.Unsent) != 50 || res.Refusal.Call.Cause != ServerError {
		t.Errorf("result: %d annotated, %d unsent, %v", res.Annotated, len(res.Unsent), res.Refusal)
	}
	if len(clock.waits) != 4 {
		t.Errorf("waits %v", clock.waits)
	}
	if got := only(t, s); got.Conclusion != "failure" || len(got.Annotations) != 60 {
		t.Errorf("%+v", got)
	}
}

// Each update appends, so a batch whose answer was lost is sent again only
// after the check run shows that it did not arrive.
func TestLostBatchIsNotDoubled(t *testing.T) {
	for name, fault := range map[string]apitest.Fault{
		"arrived":        {Status: 502, Apply: true},
		"arrived, cut":   {Drop: true, Apply: true},
		"did not arrive": {Status: 502},
		"last arrived":   {Drop: true, Apply: true, Skip: 1},
		"last did not":   {Drop: true, Skip: 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAPI(t)
			r, _ := begun(t, s)
			fault.Method, fault.Times = "PATCH", 1
			s.Fail(fault)
			res := r.Complete(t.Context(), testOutput, errorsAt(70), Failure)
			got := only(t, s)
			if !res.Completed || res.Annotated != 70 || len(got.Annotations) != 70 || got.Conclusion != "failure" || len(res.Unsent) != 0 {
				t.Errorf("%d annotations, conclusion %q, result %+v", len(got.Annotations), got.Conclusion, res)
			}
		})
	}
}

func TestCompletionPastTheDeadline(t *testing.T) {
	s := newAPI(t)
	r, _ := begun(t, s, func(o *Options) { o.Timeout = 4 * time.Second })
	// Everything but the one completion without annotations is too much.
	s.Fail(apitest.Fault{Method: "PATCH", Match: withFindings, Status: 503})
	all := errorsAt(120)
	res := r.Complete(t.Context(), testOutput, all, Failure)
	got := only(t, s)
	if !res.Completed || got.Conclusion != "failure" || len(res.Unsent) != 120 || res.Refusal.Call.Cause != Deadline {
		t.Errorf("%+v, result %d unsent, %v", got, len(res.Unsent), res.Refusal)
	}
	if !strings.Contains(got.Summary, "120 findings could not") {
		t.Errorf("summary %q", got.Summary)
	}
}

func TestCompletionPastTheDeadlineIsOneTry(t *testing.T) {
	s := newAPI(t)
	r, clock := begun(t, s, func(o *Options) { o.Timeout = 4 * time.Second })
	s.Fail(apitest.Fault{Method: "PATCH", Status: 503})
	all := errorsAt(2)
	before := len(s.Requests())
	res := r.Complete(t.Context(), testOutput, all, Failure)
	if res.Completed || !reflect.DeepEqual(res.Unsent, all) || res.Refusal == nil || res.Refusal.Severity != report.Warning {
		t.Errorf("result: %+v", res)
	}
	var waited time.Duration
	for _, w := range clock.waits {
		waited += w
	}
	if waited >= 4*time.Second {
		t.Errorf("waited %v", clock.waits)
	}
	last := s.Requests()[before:]
	if q := last[len(last)-1]; withFindings(q) || !bytes.Contains(q.Body, []byte(`"conclusion":"failure"`)) {
		t.Errorf("the last request is %s", q.Body)
	}
}

func TestCompletionRefusedForGood(t *testing.T) {
	s := newAPI(t)
	r, _ := begun(t, s)
	s.Fail(apitest.Fault{Method: "PATCH", Status: 403, Message: "Resource not accessible by integration"})
	all := errorsAt(120)
	res := r.Complete(t.Context(), testOutput, all, Failure)
	if res.Completed || !reflect.DeepEqual(res.Unsent, all) || res.Refusal.Severity != report.Notice {
		t.Errorf("result: %+v", res)
	}
	// The first batch shows that no other will be taken either.
	if n := len(sentBy(s, "PATCH")); n != 2 {
		t.Errorf("%d PATCH requests, want 2", n)
	}
}

func TestCancel(t *testing.T) {
	s := newAPI(t)
	r, _ := begun(t, s)
	if refused := r.Cancel(t.Context()); refused != nil {
		t.Fatal(refused)
	}
	if got := only(t, s); got.Conclusion != "cancelled" || got.Status != "completed" {
		t.Errorf("%+v", got)
	}
	n := len(s.Requests())
	if res := r.Complete(t.Context(), testOutput, errorsAt(1), Success); res.Completed {
		t.Error("completed after it was cancelled")
	}
	if refused := r.Cancel(t.Context()); refused != nil || len(s.Requests()) != n {
		t.Error("a second cancellation was sent")
	}
}

func TestCancelIsOneTryBeyondTheDeadline(t *testing.T) {
	s := newAPI(t)
	r, clock := begun(t, s)
	s.Fail(apitest.Fault{Method: "PATCH", Status: 503})
	r.client.t.spent = r.client.t.budget
	if refused := r.Cancel(t.Context()); refused == nil {
		t.Error("no refusal")
	}
	if n := len(sentBy(s, "PATCH")); n != 1 || len(clock.waits) != 0 {
		t.Errorf("%d tries, waits %v", n, clock.waits)
	}
}

func TestCancelKeepsAVerdict(t *testing.T) {
	s := newAPI(t)
	r, _ := begun(t, s)
	r.Complete(t.Context(), testOutput, nil, Failure)
	_ = r.Cancel(t.Context())
	if got := only(t, s); got.Conclusion != "failure" {
		t.Errorf("conclusion %q", got.Conclusion)
	}
}

func TestInterruptedComplete(t *testing.T) {
	s := newAPI(t)
	r, clock := begun(t, s)
	s.Fail(apitest.Fault{Method: "PATCH", Status: 500, Times: 1})
	ctx, cancel := context.WithCancel(t.Context())
	clock.wake = cancel
	res := r.Complete(ctx, testOutput, errorsAt(60), Success)
	if res.Completed {
		t.Fatal("completed although it was interrupted")
	}
	_ = r.Cancel(t.Context())
	if got := only(t, s); got.Conclusion != "cancelled" {
		t.Errorf("conclusion %q", got.Conclusion)
	}
}

func TestExternalID(t *testing.T) {
	base := ExternalID("7001", "pull_request", "handoff", []string{"b", "a"})
	if base != "hg1:7001:pull_request:handoff:a,b" {
		t.Errorf("got %q", base)
	}
	if ExternalID("7001", "pull_request", "handoff", []string{"a", "b", "a"}) != base {
		t.Error("order and repetition count")
	}
	others := []string{
		ExternalID("7002", "pull_request", "handoff", []string{"a", "b"}),
		ExternalID("7001", "push", "handoff", []string{"a", "b"}),
		ExternalID("7001", "pull_request", "gate", []string{"a", "b"}),
		ExternalID("7001", "pull_request", "handoff", []string{"a,b"}),
		ExternalID("7001", "pull_request", "handoff:a", []string{"b"}),
		ExternalID("7001", "pull_request", "handoff", []string{"a"}),
		ExternalID("7001", "pull_request", "handoff", []string{strings.Repeat("a", 500)}),
		ExternalID("7001", "pull_request", "handoff", []string{strings.Repeat("a", 501)}),
		ExternalID("7001", "pull_request", strings.Repeat("j", 500), []string{"a"}),
	}
	seen := map[string]bool{base: true}
	for _, id := range others {
		if seen[id] || len(id) > maxExternalID {
			t.Errorf("%q: seen before or too long", id)
		}
		seen[id] = true
	}
}
