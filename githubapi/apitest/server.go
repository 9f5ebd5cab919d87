// Package apitest is a server in memory that stands in for GitHub's REST API as
// far as the gate uses it: check runs, comparisons, tags, git's objects and refs. It keeps the limits
// that GitHub keeps and its description leaves out, can be told to fail in the
// ways GitHub fails, and checks each request and each answer against an
// OpenAPI document where it is given one. Tests use it in place of mocks, and
// the demonstration in place of GitHub.
package apitest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Options of a Server.
type Options struct {
	Repository string // OWNER/NAME
	Prefix     string // path before /repos, "/api/v3" on Enterprise Server; "" on github.com
	Token      string // the one that is accepted; "" accepts any
	Spec       *Spec  // checks requests and answers; nil checks nothing
	// Web is where html_url points; "" is https://github.example.test.
	Web string
	// Clients: several clients call at once, so that requests may meet. Each
	// sends one after another.
	Clients bool
}

// Request is one request as it arrived.
type Request struct {
	Method string
	Path   string // decoded, without the prefix
	Query  url.Values
	Header http.Header
	Body   []byte
	Status int // of the answer; 0 when the connection was dropped
}

// Annotation is one annotation as the API stores it.
type Annotation struct {
	Path        string `json:"path"`
	StartLine   int    `json:"start_line"`
	EndLine     int    `json:"end_line"`
	StartColumn *int   `json:"start_column,omitempty"`
	EndColumn   *int   `json:"end_column,omitempty"`
	Level       string `json:"annotation_level"`
	Message     string `json:"message"`
	Title       string `json:"title,omitempty"`
	RawDetails  string `json:"raw_details,omitempty"`
}

// CheckRun is one check run of the server.
type CheckRun struct {
	ID                                    int64
	Name, HeadSHA, ExternalID, DetailsURL string
	Status, Conclusion                    string
	StartedAt, CompletedAt                string
	Title, Summary, Text                  string
	Annotations                           []Annotation
}

// Comparison is what the compare endpoint answers.
type Comparison struct {
	Base, MergeBase   string // commit ids
	AheadBy, BehindBy int
}

// Fault changes the answers to the requests it fits. The first that fits counts.
type Fault struct {
	Method string             // "" fits any
	Path   *regexp.Regexp     // on Request.Path; nil fits any
	Match  func(Request) bool // a further condition; nil fits any
	Skip   int                // so many fitting requests are left alone first
	Times  int                // then so many are changed; 0 means all

	Apply   bool // the request takes effect all the same: its answer is what gets lost
	Drop    bool // the connection is closed without an answer
	Gone    bool // the client does not wait for the answer: the test cancels it
	Delay   time.Duration
	Status  int // 0: the answer is the usual one
	Header  map[string]string
	Message string // of the usual error document
	Body    string // in place of that document
}

// Server is the stand-in. Its methods may be called while it serves.
type Server struct {
	URL string // to be given as GITHUB_API_URL

	opts Options
	http *http.Server
	done chan struct{}

	mu       sync.Mutex
	runs     map[int64]*CheckRun
	next     int64
	tags     []tagRef
	objects  map[string]object
	compares map[string]Comparison
	git      gitData
	faults   []*Fault
	requests []Request
	problems []string
	flying   int
}

type object struct{ Type, SHA string }

type tagRef struct {
	Name string
	object
}

// New starts a server on a free port of this machine.
func New(o Options) (*Server, error) {
	if o.Web == "" {
		o.Web = "https://github.example.test"
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{
		URL: "http://" + l.Addr().String() + o.Prefix, opts: o, done: make(chan struct{}), next: 1000,
		runs: map[int64]*CheckRun{}, objects: map[string]object{}, compares: map[string]Comparison{}, git: newGitData(),
	}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(l) // ends with ErrServerClosed
	}()
	return s, nil
}

// Close stops the server and drops its connections.
func (s *Server) Close() {
	_ = s.http.Close()
	<-s.done
}

// Fail adds a fault.
func (s *Server) Fail(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &f)
}

// Heal removes all faults.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// Add puts a check run there as if it had been created before; it returns its id.
func (s *Server) Add(run CheckRun) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	run.ID = s.next
	s.runs[run.ID] = &run
	return run.ID
}

// Tag adds a lightweight tag, or, with an object, an annotated one.
func (s *Server) Tag(name, commit, tagObject string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if tagObject == "" {
		s.tags = append(s.tags, tagRef{name, object{"commit", commit}})
		return
	}
	s.tags = append(s.tags, tagRef{name, object{"tag", tagObject}})
	s.objects[tagObject] = object{"commit", commit}
}

// TagObject makes a tag object stand for something else than a commit.
func (s *Server) TagObject(id, kind, target string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[id] = object{kind, target}
}

// Compare sets what comparing base and head answers.
func (s *Server) Compare(base, head string, c Comparison) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compares[base+"..."+head] = c
}

// Runs are the check runs, oldest first.
func (s *Server) Runs() []CheckRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []CheckRun
	for _, id := range slices.Sorted(maps.Keys(s.runs)) {
		run := *s.runs[id]
		run.Annotations = slices.Clone(run.Annotations)
		out = append(out, run)
	}
	return out
}

// Requests are all requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Problems are requests that GitHub would refuse or that break its description,
// and answers of this server that break it. A test that did not provoke them
// wants none.
func (s *Server) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.problems)
}

// answer is what goes back.
type answer struct {
	status int
	header http.Header
	body   any // marshalled; a string goes as it is
}

func failure(status int, message string) answer {
	return answer{status: status, body: map[string]any{
		"message": message, "documentation_url": "https://docs.github.example.test/rest", "status": strconv.Itoa(status),
	}}
}

func invalid(problems []string) answer {
	var errs []any
	for _, p := range problems {
		errs = append(errs, map[string]any{"resource": "CheckRun", "code": "custom", "field": "output", "message": p})
	}
	a := failure(http.StatusUnprocessableEntity, "Invalid request.")
	if doc, ok := a.body.(map[string]any); ok {
		doc["errors"] = errs
	}
	return a
}

// maxRequest bounds what a request may send; GitHub refuses far less.
const maxRequest = 16 << 20

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		return
	}
	req := Request{Method: r.Method, Path: strings.TrimPrefix(r.URL.Path, s.opts.Prefix), Query: r.URL.Query(), Header: r.Header.Clone(), Body: body}
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, req)
	fault := s.fault(req)
	// A client gives such a request up and rightly sends the next.
	counted := fault == nil || fault.Delay == 0 && !fault.Gone
	if counted {
		s.flying++
		if s.flying > 1 && !s.opts.Clients {
			s.problem("two requests at once; GitHub asks for one after another")
		}
	}
	var a answer
	if fault == nil || fault.Apply || fault.Status == 0 && !fault.Drop {
		a = s.answer(r, req)
	}
	s.mu.Unlock()

	if fault != nil {
		if fault.Delay > 0 {
			select {
			case <-time.After(fault.Delay):
			case <-r.Context().Done():
				return
			}
		}
		if fault.Drop {
			s.landed(counted)
			drop(w)
			return
		}
		if fault.Status != 0 {
			a = failure(fault.Status, fault.Message)
			if fault.Body != "" {
				a.body = fault.Body
			}
		}
		if a.header == nil {
			a.header = http.Header{}
		}
		for k, v := range fault.Header {
			a.header.Set(k, v)
		}
	}
	data := marshal(a.body)
	s.mu.Lock()
	s.requests[n].Status = a.status
	// An answer that a test has made up is not held to the description.
	if s.opts.Spec != nil && (fault == nil || fault.Body == "") {
		s.problems = append(s.problems, s.opts.Spec.check(r, req, a.status, data)...)
	}
	s.mu.Unlock()
	s.landed(counted)
	maps.Copy(w.Header(), a.header)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(a.status)
	_, _ = w.Write(data) // the client may be gone already
}

// landed ends a request for the count of those at once, before the client can
// know that it ended.
func (s *Server) landed(counted bool) {
	if counted {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.flying--
	}
}

func marshal(v any) []byte {
	if s, ok := v.(string); ok {
		return []byte(s)
	}
	data, err := json.Marshal(v)
	if err != nil { // only for values that JSON has no form for; none is made here
		panic(err)
	}
	return data
}

func drop(w http.ResponseWriter) {
	if h, ok := w.(http.Hijacker); ok {
		if conn, _, err := h.Hijack(); err == nil {
			_ = conn.Close()
		}
	}
}

func (s *Server) fault(req Request) *Fault {
	for _, f := range s.faults {
		if f.Method != "" && f.Method != req.Method || f.Path != nil && !f.Path.MatchString(req.Path) || f.Match != nil && !f.Match(req) {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		switch {
		case f.Times < 0: // used up
			continue
		case f.Times == 1:
			f.Times = -1
		case f.Times > 1:
			f.Times--
		}
		return f
	}
	return nil
}

func (s *Server) problem(format string, args ...any) {
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}

var (
	createPath      = regexp.MustCompile(`^/check-runs$`)
	runPath         = regexp.MustCompile(`^/check-runs/([0-9]+)$`)
	annotationsPath = regexp.MustCompile(`^/check-runs/([0-9]+)/annotations$`)
	listPath        = regexp.MustCompile(`^/commits/([^/]+)/check-runs$`)
	comparePath     = regexp.MustCompile(`^/compare/(.+\.\.\..+)$`)
	refsPath        = regexp.MustCompile(`^/git/matching-refs/(.*)$`)
	tagPath         = regexp.MustCompile(`^/git/tags/([0-9a-f]+)$`)
	fullSHA         = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
)

// answer carries a request out. It is called with the lock held.
func (s *Server) answer(r *http.Request, req Request) answer {
	if !strings.HasPrefix(r.URL.Path, s.opts.Prefix+"/") {
		s.problem("%s %s is outside GITHUB_API_URL", req.Method, r.URL.Path)
		return failure(http.StatusNotFound, "Not Found")
	}
	s.headers(req)
	if s.opts.Token != "" && req.Header.Get("Authorization") != "Bearer "+s.opts.Token {
		return failure(http.StatusUnauthorized, "Bad credentials")
	}
	rest, ok := strings.CutPrefix(req.Path, "/repos/"+s.opts.Repository)
	if !ok {
		return failure(http.StatusNotFound, "Not Found")
	}
	match := func(method string, p *regexp.Regexp) (string, bool) {
		m := p.FindStringSubmatch(rest)
		if req.Method != method || m == nil {
			return "", false
		}
		return m[len(m)-1], true
	}
	if _, ok := match(http.MethodPost, createPath); ok {
		return s.create(req)
	}
	if id, ok := match(http.MethodPatch, runPath); ok {
		return s.update(id, req)
	}
	if id, ok := match(http.MethodGet, runPath); ok {
		if run := s.run(id); run != nil {
			return answer{status: http.StatusOK, body: s.view(run)}
		}
	}
	if id, ok := match(http.MethodGet, annotationsPath); ok {
		if run := s.run(id); run != nil {
			return s.annotations(run, req)
		}
	}
	if sha, ok := match(http.MethodGet, listPath); ok {
		return s.list(sha, req)
	}
	if pair, ok := match(http.MethodGet, comparePath); ok {
		if c, ok := s.compares[pair]; ok {
			return answer{status: http.StatusOK, body: s.comparison(pair, c)}
		}
	}
	if prefix, ok := match(http.MethodGet, refsPath); ok {
		return s.refs(prefix, req)
	}
	if id, ok := match(http.MethodGet, tagPath); ok {
		if o, ok := s.objects[id]; ok {
			return answer{status: http.StatusOK, body: s.tagObject(id, o)}
		}
	}
	if a, ok := s.database(req, rest); ok {
		return a
	}
	return failure(http.StatusNotFound, "Not Found")
}

// headers notes what GitHub asks of every request.
func (s *Server) headers(req Request) {
	for name, want := range map[string]string{
		"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28",
	} {
		if got := req.Header.Get(name); got != want {
			s.problem("%s %s: header %s is %q, expected %q", req.Method, req.Path, name, got, want)
		}
	}
	if req.Header.Get("User-Agent") == "" || strings.HasPrefix(req.Header.Get("User-Agent"), "Go-http-client") {
		s.problem("%s %s: no User-Agent of its own", req.Method, req.Path)
	}
}

func (s *Server) run(id string) *CheckRun {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil
	}
	return s.runs[n]
}

// page cuts the page out of n items that a request asks for, and makes the Link
// header that leads to the next.
func (s *Server) page(req Request, n int) (from, to int, header http.Header) {
	number := func(name string, fallback, most int) int {
		v, err := strconv.Atoi(req.Query.Get(name))
		if err != nil || v < 1 {
			return fallback
		}
		return min(v, most)
	}
	per, page := number("per_page", 30, 100), number("page", 1, 1<<20)
	from, to = min((page-1)*per, n), min(page*per, n)
	header = http.Header{}
	if to < n {
		q := maps.Clone(req.Query)
		q.Set("page", strconv.Itoa(page+1))
		header.Set("Link", fmt.Sprintf(`<%s%s?%s>; rel="next"`, s.URL, req.Path, q.Encode()))
	}
	return from, to, header
}

func (s *Server) list(sha string, req Request) answer {
	var found []*CheckRun
	for _, run := range s.runs {
		if run.HeadSHA == sha && (!req.Query.Has("check_name") || run.Name == req.Query.Get("check_name")) {
			found = append(found, run)
		}
	}
	slices.SortFunc(found, func(a, b *CheckRun) int { return int(b.ID - a.ID) })
	if f := req.Query.Get("filter"); f == "" || f == "latest" {
		seen := map[string]bool{}
		found = slices.DeleteFunc(found, func(r *CheckRun) bool {
			old := seen[r.Name]
			seen[r.Name] = true
			return old
		})
	}
	from, to, header := s.page(req, len(found))
	views := []any{}
	for _, run := range found[from:to] {
		views = append(views, s.view(run))
	}
	return answer{http.StatusOK, header, map[string]any{"total_count": len(found), "check_runs": views}}
}

func (s *Server) annotations(run *CheckRun, req Request) answer {
	from, to, header := s.page(req, len(run.Annotations))
	out := []any{}
	for _, a := range run.Annotations[from:to] {
		out = append(out, map[string]any{
			"path": a.Path, "blob_href": s.opts.Web + "/" + s.opts.Repository + "/blob/" + run.HeadSHA + "/x",
			"start_line": a.StartLine, "end_line": a.EndLine, "start_column": a.StartColumn, "end_column": a.EndColumn,
			"annotation_level": a.Level, "title": text(a.Title), "message": a.Message, "raw_details": text(a.RawDetails),
		})
	}
	return answer{http.StatusOK, header, out}
}

// text is a string or null, as the API shows what was not given.
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (s *Server) view(r *CheckRun) any {
	page := fmt.Sprintf("%s/%s/runs/%d", s.opts.Web, s.opts.Repository, r.ID)
	api := fmt.Sprintf("%s/repos/%s/check-runs/%d", s.URL, s.opts.Repository, r.ID)
	return map[string]any{
		"id": r.ID, "node_id": fmt.Sprintf("CR_%d", r.ID), "name": r.Name, "head_sha": r.HeadSHA,
		"external_id": r.ExternalID, "url": api, "html_url": page, "details_url": text(r.DetailsURL),
		"status": r.Status, "conclusion": text(r.Conclusion), "started_at": text(r.StartedAt), "completed_at": text(r.CompletedAt),
		"check_suite": map[string]any{"id": 5}, "app": nil, "pull_requests": []any{},
		"output": map[string]any{
			"title": text(r.Title), "summary": text(r.Summary), "text": text(r.Text),
			"annotations_count": len(r.Annotations), "annotations_url": api + "/annotations",
		},
	}
}

func (s *Server) commit(sha string) any {
	api := s.URL + "/repos/" + s.opts.Repository
	return map[string]any{
		"url": api + "/commits/" + sha, "sha": sha, "node_id": "C_" + sha, "comments_url": api + "/commits/" + sha + "/comments",
		"html_url": s.opts.Web + "/" + s.opts.Repository + "/commit/" + sha,
		"commit": map[string]any{
			"url": api + "/git/commits/" + sha, "message": "m", "comment_count": 0, "author": nil, "committer": nil,
			"tree": map[string]any{"sha": sha, "url": api + "/git/trees/" + sha},
		},
		"author": nil, "committer": nil, "parents": []any{},
	}
}

func (s *Server) comparison(pair string, c Comparison) any {
	status := "identical"
	switch {
	case c.AheadBy > 0 && c.BehindBy > 0:
		status = "diverged"
	case c.AheadBy > 0:
		status = "ahead"
	case c.BehindBy > 0:
		status = "behind"
	}
	web := s.opts.Web + "/" + s.opts.Repository + "/compare/" + pair
	return map[string]any{
		"url": s.URL + "/repos/" + s.opts.Repository + "/compare/" + pair, "html_url": web, "permalink_url": web,
		"diff_url": web + ".diff", "patch_url": web + ".patch",
		"base_commit": s.commit(c.Base), "merge_base_commit": s.commit(c.MergeBase),
		"status": status, "ahead_by": c.AheadBy, "behind_by": c.BehindBy, "total_commits": c.AheadBy,
		"commits": []any{}, "files": []any{},
	}
}

func (s *Server) refs(prefix string, req Request) answer {
	if s.git.empty {
		return failure(http.StatusConflict, "Git Repository is empty.")
	}
	found := []any{}
	for _, t := range s.tags {
		if strings.HasPrefix("tags/"+t.Name, prefix) {
			api := s.URL + "/repos/" + s.opts.Repository + "/git/"
			found = append(found, map[string]any{
				"ref": "refs/tags/" + t.Name, "node_id": "REF_" + t.SHA, "url": api + "refs/tags/" + t.Name,
				"object": map[string]any{"type": t.Type, "sha": t.SHA, "url": api + t.Type + "s/" + t.SHA},
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.git.refs)) {
		if strings.HasPrefix(name, "refs/"+prefix) {
			found = append(found, s.refView(name))
		}
	}
	from, to, header := s.page(req, len(found))
	return answer{http.StatusOK, header, found[from:to]}
}

func (s *Server) tagObject(id string, o object) any {
	api := s.URL + "/repos/" + s.opts.Repository + "/git/"
	return map[string]any{
		"node_id": "TA_" + id, "tag": "t", "sha": id, "url": api + "tags/" + id, "message": "release",
		"tagger": map[string]any{"date": "2026-01-01T00:00:00Z", "email": "dev@example.com", "name": "Dev"},
		"object": map[string]any{"type": o.Type, "sha": o.SHA, "url": api + o.Type + "s/" + o.SHA},
	}
}

// change is the body of a create or an update.
type change struct {
	Name        *string `json:"name"`
	HeadSHA     *string `json:"head_sha"`
	ExternalID  *string `json:"external_id"`
	DetailsURL  *string `json:"details_url"`
	Status      *string `json:"status"`
	Conclusion  *string `json:"conclusion"`
	StartedAt   *string `json:"started_at"`
	CompletedAt *string `json:"completed_at"`
	Output      *struct {
		Title       *string      `json:"title"`
		Summary     *string      `json:"summary"`
		Text        *string      `json:"text"`
		Annotations []Annotation `json:"annotations"`
	} `json:"output"`
	Actions []any `json:"actions"`
}

func (s *Server) create(req Request) answer {
	var c change
	if err := json.Unmarshal(req.Body, &c); err != nil {
		s.problem("POST without a JSON body: %v", err)
		return failure(http.StatusBadRequest, "Problems parsing JSON")
	}
	bad := c.limits()
	if value(c.Name) == "" || !fullSHA.MatchString(value(c.HeadSHA)) {
		bad = append(bad, "name and a full head_sha are required")
	}
	if len(bad) > 0 {
		s.problem("POST refused: %s", strings.Join(bad, "; "))
		return invalid(bad)
	}
	s.next++
	run := &CheckRun{ID: s.next, HeadSHA: *c.HeadSHA, Status: "queued"}
	s.runs[run.ID] = run
	run.merge(c)
	return answer{status: http.StatusCreated, body: s.view(run)}
}

func (s *Server) update(id string, req Request) answer {
	run := s.run(id)
	if run == nil {
		return failure(http.StatusNotFound, "Not Found")
	}
	var c change
	if err := json.Unmarshal(req.Body, &c); err != nil {
		s.problem("PATCH without a JSON body: %v", err)
		return failure(http.StatusBadRequest, "Problems parsing JSON")
	}
	if bad := c.limits(); len(bad) > 0 {
		s.problem("PATCH refused: %s", strings.Join(bad, "; "))
		return invalid(bad)
	}
	if run.Status == "completed" && c.Status != nil && *c.Status != "completed" {
		s.problem("a completed check run is set back to %s", *c.Status)
	}
	run.merge(c)
	return answer{status: http.StatusOK, body: s.view(run)}
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (r *CheckRun) merge(c change) {
	for to, from := range map[*string]*string{
		&r.Name: c.Name, &r.ExternalID: c.ExternalID, &r.DetailsURL: c.DetailsURL, &r.Status: c.Status,
		&r.Conclusion: c.Conclusion, &r.StartedAt: c.StartedAt, &r.CompletedAt: c.CompletedAt,
	} {
		if from != nil {
			*to = *from
		}
	}
	if c.Conclusion != nil {
		r.Status = "completed"
	}
	if o := c.Output; o != nil {
		r.Title, r.Summary = value(o.Title), value(o.Summary)
		if o.Text != nil {
			r.Text = *o.Text
		}
		r.Annotations = append(r.Annotations, o.Annotations...) // never replaced
	}
}

// The limits that GitHub keeps: 50 annotations a request, 65,535 bytes of
// summary and of text, 64 KB of message, 255 characters of title.
func (c change) limits() []string {
	var bad []string
	no := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	if value(c.Status) == "completed" && c.Conclusion == nil {
		no("completed without a conclusion")
	}
	if c.Conclusion != nil && !slices.Contains([]string{"success", "failure", "cancelled"}, *c.Conclusion) {
		no("the gate never concludes %s", *c.Conclusion)
	}
	if len(c.Actions) > 0 {
		no("actions reach GitHub Apps only")
	}
	o := c.Output
	if o == nil {
		return bad
	}
	if value(o.Title) == "" || value(o.Summary) == "" {
		no("output without title or summary")
	}
	if len(value(o.Summary)) > 65535 || len(value(o.Text)) > 65535 {
		no("summary or text over 65,535 bytes")
	}
	if !utf8.ValidString(value(o.Summary)+value(o.Text)) || strings.ContainsRune(value(o.Summary)+value(o.Text), utf8.RuneError) {
		no("text cut inside a character")
	}
	if len(o.Annotations) > 50 {
		no("%d annotations in one request", len(o.Annotations))
	}
	for _, a := range o.Annotations {
		bad = append(bad, a.limits()...)
	}
	return bad
}

func (a Annotation) limits() []string {
	var bad []string
	no := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	if a.Path == "" || a.Message == "" {
		no("annotation without path or message")
	}
	if strings.HasPrefix(a.Path, "/") || strings.HasPrefix(a.Path, "./") || strings.Contains(a.Path, `\`) || slices.Contains(strings.Split(a.Path, "/"), "..") {
		no("annotation path %q", a.Path)
	}
	if !slices.Contains([]string{"notice", "warning", "failure"}, a.Level) {
		no("annotation level %q", a.Level)
	}
	if a.StartLine < 1 || a.EndLine < a.StartLine {
		no("annotation lines %d-%d", a.StartLine, a.EndLine)
	}
	if a.StartLine != a.EndLine && (a.StartColumn != nil || a.EndColumn != nil) {
		no("annotation columns across lines")
	}
	if len(a.Message) > 64<<10 || len(a.RawDetails) > 64<<10 {
		no("annotation message over 64 KB")
	}
	if utf8.RuneCountInString(a.Title) > 255 {
		no("annotation title over 255 characters")
	}
	return bad
}
