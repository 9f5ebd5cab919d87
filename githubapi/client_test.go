package githubapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/handoff-gate/handoff-gate/githubapi/apitest"
)

const (
	testToken = "ghs_testToken0123456789abcdefXYZ"
	testRepo  = "octo-org/widgets"
)

var (
	commitA = strings.Repeat("a", 40)
	commitB = strings.Repeat("b", 40)
	commitC = strings.Repeat("c", 40)
)

// fakeClock is a time that passes only in waits.
type fakeClock struct {
	now   time.Time
	waits []time.Duration
	wake  func() // called in each wait
}

func newClock() *fakeClock {
	return &fakeClock{now: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)}
}

func (c *fakeClock) Now() time.Time { return c.now }

func (c *fakeClock) Sleep(ctx context.Context, d time.Duration) error {
	c.waits = append(c.waits, d)
	c.now = c.now.Add(d)
	if c.wake != nil {
		c.wake()
	}
	return ctx.Err()
}

// shared is the folder of shared data, "" when it is not there.
func shared() string {
	dir := os.Getenv("HANDOFF_GATE_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared")
	}
	if _, err := os.Stat(filepath.Join(dir, "data")); err != nil {
		return ""
	}
	return dir
}

var specs = map[string]func() (*apitest.Spec, error){}

func init() {
	for _, name := range []string{githubSpec, enterpriseSpec} {
		specs[name] = sync.OnceValues(func() (*apitest.Spec, error) {
			return apitest.LoadSpec(filepath.Join(shared(), "data", name))
		})
	}
}

const (
	githubSpec     = "github-openapi-slice.json"
	enterpriseSpec = "github-openapi-slice-ghes-3.17.json"
)

func spec(t *testing.T, name string) *apitest.Spec {
	t.Helper()
	s, err := specs[name]()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return s
}

// newAPI starts a server that holds every request and answer against GitHub's
// description where that is at hand, and fails the test for what breaks it.
func newAPI(t *testing.T, change ...func(*apitest.Options)) *apitest.Server {
	t.Helper()
	o := apitest.Options{Repository: testRepo, Token: testToken}
	if shared() != "" {
		o.Spec = spec(t, githubSpec)
	}
	for _, c := range change {
		c(&o)
	}
	s, err := apitest.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		for _, p := range s.Problems() {
			t.Errorf("GitHub would object: %s", p)
		}
	})
	return s
}

func newClient(t *testing.T, s *apitest.Server, change ...func(*Options)) (*Client, *fakeClock) {
	t.Helper()
	clock := newClock()
	o := Options{
		APIURL: s.URL, Repository: testRepo, Token: testToken, Version: "0.1.0", Timeout: time.Minute,
		Clock: clock, Jitter: func() float64 { return 0 },
	}
	for _, c := range change {
		c(&o)
	}
	c, err := NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	return c, clock
}

func callError(t *testing.T, err error) *CallError {
	t.Helper()
	var call *CallError
	if !errors.As(err, &call) {
		t.Fatalf("got %v (%T), want a *CallError", err, err)
	}
	return call
}

func compareOK(s *apitest.Server) {
	s.Compare(commitA, commitB, apitest.Comparison{Base: commitA, MergeBase: commitA, AheadBy: 2})
}

func TestRetries(t *testing.T) {
	const sec = time.Second
	reset := fmt.Sprint(newClock().now.Add(20 * sec).Unix())
	past := fmt.Sprint(newClock().now.Add(-20 * sec).Unix())
	date := newClock().now.Add(7 * sec).Format(http.TimeFormat)
	for _, c := range []struct {
		name  string
		fault apitest.Fault
		waits []time.Duration
		fails bool
	}{
		{name: "429", fault: apitest.Fault{Status: 429, Times: 1}, waits: []time.Duration{sec}},
		{name: "429 with seconds", fault: apitest.Fault{Status: 429, Times: 1, Header: map[string]string{"Retry-After": "5"}}, waits: []time.Duration{5 * sec}},
		{name: "429 with a date", fault: apitest.Fault{Status: 429, Times: 1, Header: map[string]string{"Retry-After": date}}, waits: []time.Duration{7 * sec}},
		{name: "429 with a shorter wait", fault: apitest.Fault{Status: 429, Times: 1, Header: map[string]string{"Retry-After": "0"}}, waits: []time.Duration{sec}},
		{name: "429 with an absurd wait", fault: apitest.Fault{Status: 429, Times: 1, Header: map[string]string{"Retry-After": "9223372036854775807"}}, waits: []time.Duration{sec}},
		{name: "429 with nonsense", fault: apitest.Fault{Status: 429, Times: 1, Header: map[string]string{"Retry-After": "soon"}}, waits: []time.Duration{sec}},
		{name: "403 with Retry-After", fault: apitest.Fault{Status: 403, Times: 1, Header: map[string]string{"Retry-After": "3"}}, waits: []time.Duration{3 * sec}},
		{name: "403, primary limit", fault: apitest.Fault{Status: 403, Times: 1, Header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}}, waits: []time.Duration{20 * sec}},
		{name: "403, primary limit, reset passed", fault: apitest.Fault{Status: 403, Times: 1, Header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": past}}, waits: []time.Duration{sec}},
		{name: "403, secondary limit in the message alone", fault: apitest.Fault{Status: 403, Times: 1, Message: "You have exceeded a Secondary Rate Limit. Please wait."}, waits: []time.Duration{sec}},
		{name: "403, reset of a limit that was not hit", fault: apitest.Fault{Status: 403, Times: 1, Message: "secondary rate limit", Header: map[string]string{"X-RateLimit-Remaining": "4900", "X-RateLimit-Reset": reset}}, waits: []time.Duration{sec}},
		{name: "403, no permission", fault: apitest.Fault{Status: 403, Message: "Resource not accessible by integration"}, fails: true},
		{name: "500 twice", fault: apitest.Fault{Status: 500, Times: 2}, waits: []time.Duration{sec, 2 * sec}},
		{name: "502", fault: apitest.Fault{Status: 502, Times: 1, Body: "<html>bad gateway</html>"}, waits: []time.Duration{sec}},
		{name: "503", fault: apitest.Fault{Status: 503, Times: 1, Header: map[string]string{"Retry-After": "4"}}, waits: []time.Duration{4 * sec}},
		{name: "504 to the end", fault: apitest.Fault{Status: 504}, waits: []time.Duration{sec, 2 * sec, 4 * sec, 8 * sec}, fails: true},
		{name: "reset means nothing with a 500", fault: apitest.Fault{Status: 500, Times: 1, Header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}}, waits: []time.Duration{sec}},
		{name: "connection dropped", fault: apitest.Fault{Drop: true, Times: 1}, waits: []time.Duration{sec}},
		{name: "no wait beyond the deadline", fault: apitest.Fault{Status: 429, Times: 1, Header: map[string]string{"Retry-After": "3600"}}, waits: []time.Duration{sec}},
		{name: "400", fault: apitest.Fault{Status: 400}, fails: true},
		{name: "401", fault: apitest.Fault{Status: 401}, fails: true},
		{name: "404", fault: apitest.Fault{Status: 404}, fails: true},
		{name: "410", fault: apitest.Fault{Status: 410}, fails: true},
		{name: "422", fault: apitest.Fault{Status: 422}, fails: true},
		{name: "501", fault: apitest.Fault{Status: 501}, fails: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newAPI(t)
			compareOK(s)
			s.Fail(c.fault)
			client, clock := newClient(t, s)
			_, err := client.Compare(t.Context(), commitA, commitB)
			if (err != nil) != c.fails {
				t.Errorf("error %v", err)
			}
			if !slices.Equal(clock.waits, c.waits) {
				t.Errorf("waited %v, want %v", clock.waits, c.waits)
			}
			if got, want := len(s.Requests()), len(c.waits)+1; got != want {
				t.Errorf("%d requests, want %d", got, want)
			}
		})
	}
}

func TestJitterAddsUpToAQuarter(t *testing.T) {
	s := newAPI(t)
	compareOK(s)
	s.Fail(apitest.Fault{Status: 500, Times: 3})
	client, clock := newClient(t, s, func(o *Options) { o.Jitter = func() float64 { return 0.5 } })
	if _, err := client.Compare(t.Context(), commitA, commitB); err != nil {
		t.Fatal(err)
	}
	want := []time.Duration{1125 * time.Millisecond, 2250 * time.Millisecond, 4500 * time.Millisecond}
	if !slices.Equal(clock.waits, want) {
		t.Errorf("waited %v, want %v", clock.waits, want)
	}
}

// go-github remembers a rate limit and then refuses calls on its own, without
// sending them. It must not learn of one.
func TestNoRefusalWithoutARequest(t *testing.T) {
	s := newAPI(t)
	compareOK(s)
	future := fmt.Sprint(time.Now().Add(time.Hour).Unix())
	s.Fail(apitest.Fault{Header: map[string]string{"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": future}})
	client, _ := newClient(t, s)
	for range 2 {
		if _, err := client.Compare(t.Context(), commitA, commitB); err != nil {
			t.Fatal(err)
		}
	}
	s.Heal()
	s.Fail(apitest.Fault{Status: 403, Times: 5, Message: "You have exceeded a secondary rate limit", Header: map[string]string{"Retry-After": "1"}})
	if _, err := client.Compare(t.Context(), commitA, commitB); callError(t, err).Cause != Limited {
		t.Errorf("cause %v", err)
	}
	if _, err := client.Compare(t.Context(), commitA, commitB); err != nil {
		t.Errorf("refused after the limit was lifted: %v", err)
	}
}

func TestDeadlineOverAllCalls(t *testing.T) {
	s := newAPI(t)
	compareOK(s)
	s.Fail(apitest.Fault{Status: 503})
	client, clock := newClient(t, s, func(o *Options) { o.Timeout = 4 * time.Second })
	_, err := client.Compare(t.Context(), commitA, commitB)
	call := callError(t, err)
	if call.Cause != Deadline || call.Status != 503 || !strings.Contains(err.Error(), "api-timeout") {
		t.Errorf("got %+v: %v", call, err)
	}
	// 1 s and 2 s were waited; 4 s more would have been too long.
	if want := []time.Duration{time.Second, 2 * time.Second}; !slices.Equal(clock.waits, want) {
		t.Errorf("waited %v, want %v", clock.waits, want)
	}
	sent := len(s.Requests())
	s.Heal()
	// The waits count for all calls together: 1 s is left, and it is enough.
	if _, err := client.Compare(t.Context(), commitA, commitB); err != nil {
		t.Error(err)
	}
	clock.now = clock.now.Add(time.Hour) // time between calls does not count
	if _, err := client.Compare(t.Context(), commitA, commitB); err != nil {
		t.Error(err)
	}
	client.t.spent = client.t.budget
	if _, err := client.Compare(t.Context(), commitA, commitB); callError(t, err).Cause != Deadline {
		t.Error(err)
	}
	if got := len(s.Requests()) - sent; got != 2 {
		t.Errorf("%d requests, want 2: none after the deadline", got)
	}
}

// direct calls the server without a network. In a synctest bubble, where time
// passes only while everything waits, a slow answer then takes no time.
type direct struct{ s *apitest.Server }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody // as servers have it
	}
	answer := httptest.NewRecorder()
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.s.ServeHTTP(answer, r)
	}()
	select {
	case <-done:
		return answer.Result(), nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

func TestSlowAnswerIsCut(t *testing.T) {
	s := newAPI(t)
	compareOK(s)
	s.Fail(apitest.Fault{Delay: time.Minute, Times: 1})
	synctest.Test(t, func(t *testing.T) {
		client, clock := newClient(t, s, func(o *Options) { o.Transport = direct{s} })
		begun := time.Now()
		if _, err := client.Compare(t.Context(), commitA, commitB); err != nil {
			t.Error(err)
		}
		if len(clock.waits) != 1 {
			t.Errorf("waited %v", clock.waits)
		}
		if took := time.Since(begun); took != 15*time.Second {
			t.Errorf("cut after %v, the specification says 15 s", took)
		}
	})
	if lastTry != 5*time.Second {
		t.Error("the last try is not as long as in the specification")
	}
}

func TestCancelledWhileWaiting(t *testing.T) {
	s := newAPI(t)
	s.Fail(apitest.Fault{Status: 500})
	client, clock := newClient(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	clock.wake = cancel
	_, err := client.Compare(ctx, commitA, commitB)
	if call := callError(t, err); call.Cause != Cancelled {
		t.Errorf("got %+v", call)
	}
	if n := len(s.Requests()); n != 1 {
		t.Errorf("%d requests after the cancellation, want 1", n)
	}
}

func TestHeaders(t *testing.T) {
	s := newAPI(t)
	compareOK(s)
	client, _ := newClient(t, s)
	if _, err := client.Compare(t.Context(), commitA, commitB); err != nil {
		t.Fatal(err)
	}
	h := s.Requests()[0].Header
	for name, want := range map[string]string{
		"Authorization": "Bearer " + testToken, "Accept": "application/vnd.github+json",
		"X-GitHub-Api-Version": "2022-11-28", "User-Agent": "handoff-gate/0.1.0",
	} {
		if got := h.Values(name); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestBaseURLAsGiven(t *testing.T) {
	for _, c := range []struct{ prefix, given string }{
		{"", ""}, {"", "/"}, {"/api/v3", ""}, {"/api/v3", "/"},
	} {
		s := newAPI(t, func(o *apitest.Options) { o.Prefix = c.prefix })
		compareOK(s)
		client, _ := newClient(t, s, func(o *Options) { o.APIURL += c.given })
		if _, err := client.Compare(t.Context(), commitA, commitB); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestNewClientRefuses(t *testing.T) {
	good := Options{APIURL: "https://api.github.com", Repository: testRepo}
	if _, err := NewClient(good); err != nil {
		t.Fatal(err)
	}
	if c, err := NewClient(Options{Repository: testRepo}); err != nil || c.gh.BaseURL.String() != "https://api.github.com/" {
		t.Errorf("without an URL: %v", err)
	}
	for name, change := range map[string]func(*Options){
		"no repository":    func(o *Options) { o.Repository = "" },
		"no name":          func(o *Options) { o.Repository = "octo-org" },
		"empty owner":      func(o *Options) { o.Repository = "/widgets" },
		"a deeper path":    func(o *Options) { o.Repository = "octo-org/widgets/x" },
		"dots":             func(o *Options) { o.Repository = "../widgets" },
		"a query":          func(o *Options) { o.Repository = "octo-org/widgets?x" },
		"a relative URL":   func(o *Options) { o.APIURL = "api.github.com" },
		"another scheme":   func(o *Options) { o.APIURL = "ftp://api.github.com" },
		"a user in it":     func(o *Options) { o.APIURL = "https://u:p@api.github.com" },
		"not a URL at all": func(o *Options) { o.APIURL = "https://%zz/" },
	} {
		o := good
		change(&o)
		if _, err := NewClient(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestRedirects(t *testing.T) {
	var stolen []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		stolen = append(stolen, r.Header.Get("Authorization"))
	}))
	t.Cleanup(elsewhere.Close)
	for _, status := range []int{301, 302, 307, 308} {
		t.Run(fmt.Sprint("another host, ", status), func(t *testing.T) {
			s := newAPI(t)
			s.Fail(apitest.Fault{Status: status, Body: "{}", Header: map[string]string{"Location": elsewhere.URL + "/x"}})
			client, _ := newClient(t, s)
			_, err := client.Compare(t.Context(), commitA, commitB)
			if call := callError(t, err); call.Cause != Redirected {
				t.Errorf("got %+v", call)
			}
			if len(stolen) != 0 {
				t.Errorf("another host was asked, with %q", stolen)
			}
		})
		// GitHub asks that the same request, body and all, go to the new place:
		// a repository that was renamed.
		t.Run(fmt.Sprint("same host, ", status), func(t *testing.T) {
			s := newAPI(t)
			s.Fail(apitest.Fault{
				Path: regexp.MustCompile(`^/repositories/`), Status: status, Body: "{}",
				Header: map[string]string{"Location": "/repos/" + testRepo + "/check-runs"},
			})
			s.Fail(apitest.Fault{Method: "POST", Times: 1, Status: status, Body: "{}", Header: map[string]string{"Location": s.URL + "/repositories/1/check-runs"}})
			client, _ := newClient(t, s)
			r := NewReporter(client, testRun())
			if refused := r.Begin(t.Context()); refused != nil {
				t.Fatal(refused)
			}
			if runs := s.Runs(); len(runs) != 1 || runs[0].Status != "in_progress" {
				t.Errorf("check runs: %+v", runs)
			}
		})
	}
	t.Run("in circles", func(t *testing.T) {
		s := newAPI(t)
		s.Fail(apitest.Fault{Status: 302, Body: "{}", Header: map[string]string{"Location": "/repos/" + testRepo + "/x"}})
		client, _ := newClient(t, s)
		_, err := client.Compare(t.Context(), commitA, commitB)
		if call := callError(t, err); call.Cause != Redirected || len(s.Requests()) != maxRedirects {
			t.Errorf("got %+v after %d requests", call, len(s.Requests()))
		}
	})
	t.Run("nowhere", func(t *testing.T) {
		s := newAPI(t)
		s.Fail(apitest.Fault{Status: 302, Body: "{}"})
		client, _ := newClient(t, s)
		_, err := client.Compare(t.Context(), commitA, commitB)
		if call := callError(t, err); call.Cause != Redirected {
			t.Errorf("got %+v", call)
		}
	})
}

func TestAnswersAreBounded(t *testing.T) {
	s := newAPI(t)
	s.Fail(apitest.Fault{Status: 200, Body: `{"x":"` + strings.Repeat("x", maxBody) + `"}`})
	client, _ := newClient(t, s)
	_, err := client.Compare(t.Context(), commitA, commitB)
	if call := callError(t, err); call.Cause != Unreadable || !strings.Contains(call.Message, "4194304") {
		t.Errorf("got %+v", call)
	}
}

func TestUnusableAnswersFailClosed(t *testing.T) {
	for name, body := range map[string]string{
		"no JSON": "<html>", "another type": "[]", "nothing": " ", "no merge base": `{"ahead_by":1,"behind_by":0}`,
		"no counts":  `{"merge_base_commit":{"sha":"` + commitA + `"}}`,
		"a short id": `{"ahead_by":1,"behind_by":0,"merge_base_commit":{"sha":"abc"}}`,
	} {
		s := newAPI(t)
		s.Fail(apitest.Fault{Status: 200, Body: body})
		client, _ := newClient(t, s)
		if got, err := client.Compare(t.Context(), commitA, commitB); err == nil {
			t.Errorf("%s: taken for %+v", name, got)
		}
	}
}

func TestNoTokenMeansNoCall(t *testing.T) {
	s := newAPI(t)
	client, _ := newClient(t, s, func(o *Options) { o.Token = "" })
	_, err := client.Compare(t.Context(), commitA, commitB)
	if callError(t, err).Cause != NoToken {
		t.Error(err)
	}
	if _, err := client.Tags(t.Context()); callError(t, err).Cause != NoToken {
		t.Error(err)
	}
	r := NewReporter(client, testRun())
	if refused := r.Begin(t.Context()); refused == nil || refused.Call.Cause != NoToken {
		t.Errorf("got %v", refused)
	}
	if res := r.Complete(t.Context(), testOutput, errorsAt(3), Failure); res.Completed || len(res.Unsent) != 3 {
		t.Errorf("got %+v", res)
	}
	if refused := r.Cancel(t.Context()); refused != nil {
		t.Error(refused)
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests without a token", n)
	}
}

func TestCompare(t *testing.T) {
	s := newAPI(t)
	s.Compare(commitA, commitB, apitest.Comparison{Base: commitA, MergeBase: strings.ToUpper(commitC), AheadBy: 3, BehindBy: 1})
	s.Compare("feature/x+y", commitB, apitest.Comparison{Base: commitA, MergeBase: commitA})
	client, _ := newClient(t, s)
	got, err := client.Compare(t.Context(), commitA, commitB)
	if want := (Comparison{MergeBase: commitC, AheadBy: 3, BehindBy: 1}); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if _, err := client.Compare(t.Context(), "feature/x+y", commitB); err != nil {
		t.Errorf("a branch's name: %v", err)
	}
}

func TestTags(t *testing.T) {
	s := newAPI(t)
	var want []Tag
	for i := range 230 { // three pages
		id := fmt.Sprintf("%040x", i+1)
		s.Tag(fmt.Sprintf("v1.%d.0", i), id, "")
		want = append(want, Tag{fmt.Sprintf("v1.%d.0", i), id})
	}
	object := func(i int) string { return fmt.Sprintf("%040x", 0xf00+i) }
	s.Tag("annotated", commitA, object(1))
	want = append(want, Tag{"annotated", commitA})
	s.Tag("nested", "", object(2))
	s.TagObject(object(2), "tag", object(1))
	want = append(want, Tag{"nested", commitA})
	s.Tag("of-a-tree", "", object(3)) // not a release of anything
	s.TagObject(object(3), "tree", commitB)
	s.Tag("endless", "", object(4))
	s.TagObject(object(4), "tag", object(4))
	client, _ := newClient(t, s)
	got, err := client.Tags(t.Context())
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %d tags, %v; want %d", len(got), err, len(want))
	}
}

func TestTagWhoseObjectIsNotServed(t *testing.T) {
	s := newAPI(t)
	s.Tag("v1", commitA, commitC)
	s.Fail(apitest.Fault{Path: regexp.MustCompile(`/git/tags/`), Status: 404})
	s.Compare("v1", "v1", apitest.Comparison{Base: commitA, MergeBase: commitA})
	client, _ := newClient(t, s)
	got, err := client.Tags(t.Context())
	if err != nil || !slices.Equal(got, []Tag{{"v1", commitA}}) {
		t.Errorf("got %v, %v", got, err)
	}
}

// A gap in the list would move the base of a release further back.
func TestTagsFailAsAWhole(t *testing.T) {
	for name, fault := range map[string]apitest.Fault{
		"second page":  {Path: regexp.MustCompile(`matching-refs`), Skip: 1, Status: 403},
		"nothing":      {Path: regexp.MustCompile(`matching-refs`), Skip: 1, Status: 200, Body: "null"},
		"a tag object": {Path: regexp.MustCompile(`/git/tags/`), Status: 500},
		"circles":      {Path: regexp.MustCompile(`matching-refs`), Header: map[string]string{"Link": `<https://x.test/?page=1>; rel="next"`}},
	} {
		s := newAPI(t)
		for i := range 120 {
			s.Tag(fmt.Sprintf("v%d", i), commitA, "")
		}
		s.Tag("annotated", commitA, commitC)
		s.Fail(fault)
		client, _ := newClient(t, s)
		if got, err := client.Tags(t.Context()); err == nil || got != nil {
			t.Errorf("%s: %d tags, %v", name, len(got), err)
		}
	}
}

func TestDebugHook(t *testing.T) {
	s := newAPI(t)
	compareOK(s)
	s.Fail(apitest.Fault{Status: 429, Times: 1, Header: map[string]string{"Retry-After": "2", "X-RateLimit-Remaining": "7 " + testToken}})
	var lines []string
	client, _ := newClient(t, s, func(o *Options) { o.Debug = func(a Attempt) { lines = append(lines, a.String()) } })
	if _, err := client.Compare(t.Context(), commitA, commitB); err != nil {
		t.Fatal(err)
	}
	path := "/repos/" + testRepo + "/compare/" + commitA + "..." + commitB
	want := []string{
		"GET " + path + ": 429 in 0 ms, remaining 7 ***, retry-after 2",
		"GET " + path + ": 200 in 0 ms",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got  %q\nwant %q", lines, want)
	}
	s.Close()
	lines = nil
	_, _ = client.Compare(t.Context(), commitA, commitB)
	if len(lines) != maxTries || !strings.Contains(lines[0], "no answer") {
		t.Errorf("got %q", lines)
	}
}

// The token must be in no error, however the server echoes it.
func TestTokenStaysOutOfErrors(t *testing.T) {
	echo := "you sent " + testToken
	for name, f := range map[string]apitest.Fault{
		"message":  {Status: 422, Message: echo},
		"errors":   {Status: 422, Body: `{"message":"` + echo + `","errors":["` + echo + `",{"field":"` + testToken + `"}]}`},
		"give up":  {Status: 500, Message: echo},
		"location": {Status: 302, Body: "{}", Header: map[string]string{"Location": "https://" + testToken + ".test/"}},
		"bad JSON": {Status: 200, Body: testToken},
	} {
		s := newAPI(t)
		s.Fail(f)
		client, _ := newClient(t, s)
		_, err := client.Compare(t.Context(), commitA, commitB)
		if err == nil || strings.Contains(err.Error(), testToken) {
			t.Errorf("%s: %v", name, err)
		}
		if text := refusal("creating the check run", err).Text(); strings.Contains(text, testToken) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func TestUnreachable(t *testing.T) {
	// Nothing listens on port 1, and unlike a port that was free a moment ago no
	// other server is given it.
	const nobody = "http://127.0.0.1:1"
	tls := httptest.NewTLSServer(http.NotFoundHandler()) // its certificate is nobody's
	t.Cleanup(tls.Close)
	tls.Config.ErrorLog = nil
	for name, c := range map[string]struct {
		url   string
		waits int
	}{
		"connection refused": {nobody, 4},
		"bad certificate":    {tls.URL, 0}, // the next try would meet the same one
	} {
		client, clock := newClient(t, &apitest.Server{URL: c.url})
		_, err := client.Compare(t.Context(), commitA, commitB)
		if call := callError(t, err); call.Cause != Network || len(clock.waits) != c.waits {
			t.Errorf("%s: %+v after waits %v", name, call, clock.waits)
		}
	}
}

// noWaits is a clock that refuses every wait, so that there is one try alone.
type noWaits struct{ systemClock }

func (noWaits) Sleep(context.Context, time.Duration) error { return errors.New("no waits") }

// The default transport reads HTTPS_PROXY, HTTP_PROXY and NO_PROXY once in a
// process, so a process of its own asks here. It reaches nothing but the proxy:
// looking up a name can take long.
func TestProxyFromEnvironment(t *testing.T) {
	if target := os.Getenv("GITHUBAPI_PROXY_TEST"); target != "" {
		proxy := strings.TrimPrefix(os.Getenv("HTTP_PROXY"), "http://")
		http.DefaultTransport = &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if addr != proxy {
				return nil, errors.New("not the proxy")
			}
			return new(net.Dialer).DialContext(ctx, network, addr)
		}}
		c, err := NewClient(Options{APIURL: target, Repository: testRepo, Token: "x", Timeout: time.Minute, Clock: noWaits{}})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Compare(t.Context(), commitA, commitB)
		return
	}
	for _, c := range []struct {
		no   string
		want []string
	}{{"", []string{"api.github.example.test"}}, {"github.example.test", nil}} {
		var mu sync.Mutex
		var asked []string
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			asked = append(asked, r.URL.Host)
			mu.Unlock()
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, "{}")
		}))
		cmd := exec.Command(os.Args[0], "-test.run=^TestProxyFromEnvironment$")
		cmd.Env = append(os.Environ(), "GITHUBAPI_PROXY_TEST=http://api.github.example.test", "HTTP_PROXY="+proxy.URL,
			"http_proxy="+proxy.URL, "NO_PROXY="+c.no, "no_proxy="+c.no, "REQUEST_METHOD=")
		out, err := cmd.CombinedOutput()
		proxy.Close() // waits for its handlers
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		mu.Lock()
		if !slices.Equal(asked, c.want) {
			t.Errorf("NO_PROXY=%q: the proxy was asked for %v, want %v", c.no, asked, c.want)
		}
		mu.Unlock()
	}
}

// bodyOf decodes the body of a request.
func bodyOf(t *testing.T, r apitest.Request) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(r.Body, &doc); err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.Path, err)
	}
	return doc
}
