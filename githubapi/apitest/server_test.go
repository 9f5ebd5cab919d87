package apitest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What GitHub refuses must be refused here, or the tests of the client prove
// nothing.
func TestServerObjects(t *testing.T) {
	var spec *Spec
	dir := os.Getenv("HANDOFF_GATE_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	file := filepath.Join(dir, "data", "github-openapi-slice.json")
	if _, err := os.Stat(file); err == nil {
		if spec, err = LoadSpec(file); err != nil {
			t.Fatal(err)
		}
	}
	sha := strings.Repeat("a", 40)
	ann := func(a string) string {
		return `{"output":{"title":"t","summary":"s","annotations":[` + a + `]}}`
	}
	good := `{"path":"a.md","start_line":1,"end_line":1,"annotation_level":"failure","message":"m"}`
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		objects                  string // part of a problem; "" for none
		spec                     bool   // only the description says so
	}{
		{"create", "POST", "/check-runs", `{"name":"n","head_sha":"` + sha + `"}`, 201, "", false},
		{"create without a commit", "POST", "/check-runs", `{"name":"n"}`, 422, "head_sha", false},
		{"create with a short id", "POST", "/check-runs", `{"name":"n","head_sha":"abc"}`, 422, "head_sha", false},
		{"create without JSON", "POST", "/check-runs", `nope`, 400, "JSON", false},
		{"unknown member", "POST", "/check-runs", `{"name":"n","head_sha":"` + sha + `","headsha":"x"}`, 201, "member headsha", true},
		{"unknown member below", "PATCH", "/check-runs/1001", `{"output":{"title":"t","summary":"s","annotation":[]}}`, 200, "member annotation", true},
		{"wrong type", "PATCH", "/check-runs/1001", `{"output":{"title":"t","summary":"s","images":3}}`, 200, "images", true},
		{"update", "PATCH", "/check-runs/1001", ann(good), 200, "", false},
		{"50", "PATCH", "/check-runs/1001", ann(good + strings.Repeat(","+good, 49)), 200, "", false},
		{"51", "PATCH", "/check-runs/1001", ann(good + strings.Repeat(","+good, 50)), 422, "51 annotations", false},
		{"no summary", "PATCH", "/check-runs/1001", `{"output":{"title":"t"}}`, 422, "summary", false},
		{"bytes of the summary", "PATCH", "/check-runs/1001", `{"output":{"title":"t","summary":"` + strings.Repeat("é", 32768) + `"}}`, 422, "65,535", false},
		{"no conclusion", "PATCH", "/check-runs/1001", `{"status":"completed"}`, 422, "conclusion", false},
		{"neutral", "PATCH", "/check-runs/1001", `{"conclusion":"neutral"}`, 422, "neutral", false},
		{"path outside", "PATCH", "/check-runs/1001", ann(strings.Replace(good, "a.md", "../a", 1)), 422, "path", false},
		{"level", "PATCH", "/check-runs/1001", ann(strings.Replace(good, "failure", "error", 1)), 422, "level", false},
		{"lines", "PATCH", "/check-runs/1001", ann(strings.Replace(good, `"end_line":1`, `"end_line":0`, 1)), 422, "lines", false},
		{"columns", "PATCH", "/check-runs/1001", ann(strings.Replace(good, `"end_line":1`, `"end_line":2,"start_column":1`, 1)), 422, "columns", false},
		{"title", "PATCH", "/check-runs/1001", ann(strings.Replace(good, `"message"`, `"title":"`+strings.Repeat("x", 256)+`","message"`, 1)), 422, "title", false},
		{"message", "PATCH", "/check-runs/1001", ann(strings.Replace(good, `"m"`, `"`+strings.Repeat("m", 65537)+`"`, 1)), 422, "message", false},
		{"complete", "PATCH", "/check-runs/1001", `{"conclusion":"success"}`, 200, "", false},
		{"set back", "PATCH", "/check-runs/1001", `{"status":"in_progress"}`, 200, "set back", false},
		{"no such run", "PATCH", "/check-runs/9", `{}`, 404, "", false},
		{"undescribed parameter", "GET", "/commits/" + sha + "/check-runs?checkname=x", "", 200, "checkname", true},
		{"undescribed call", "GET", "/releases", "", 404, "no such call", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.spec && spec == nil {
				t.Skip("SKIPPED: GitHub's OpenAPI description is not here")
			}
			s, err := New(Options{Repository: "o/r", Token: "t", Spec: spec})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			s.Add(CheckRun{Name: "n", HeadSHA: sha, Status: "in_progress"})
			if c.name == "set back" {
				call(t, s, "PATCH", "/check-runs/1001", `{"conclusion":"success"}`)
			}
			status := call(t, s, c.method, c.path, c.body)
			if status != c.status {
				t.Errorf("status %d, want %d", status, c.status)
			}
			got := strings.Join(s.Problems(), "\n")
			if c.objects == "" && got != "" || !strings.Contains(got, c.objects) {
				t.Errorf("objections %q, want one about %q", got, c.objects)
			}
		})
	}
}

func call(t *testing.T, s *Server, method, path, body string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+"/repos/o/r"+path, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{
		"Authorization": "Bearer t", "Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28", "User-Agent": "test",
	} {
		req.Header.Set(k, v)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode
}

func TestServerAsksForTheToken(t *testing.T) {
	s, err := New(Options{Repository: "o/r", Token: "other"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if status := call(t, s, "POST", "/check-runs", `{}`); status != http.StatusUnauthorized {
		t.Errorf("status %d", status)
	}
}

func TestFaultsAreCounted(t *testing.T) {
	s, err := New(Options{Repository: "o/r"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.Fail(Fault{Method: "GET", Skip: 1, Times: 2, Status: 500})
	var got []int
	for range 5 {
		got = append(got, call(t, s, "GET", "/commits/"+strings.Repeat("a", 40)+"/check-runs", ""))
	}
	if want := "[200 500 500 200 200]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
