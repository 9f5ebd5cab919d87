package cli_test

import (
	"encoding/base64"
	"io/fs"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// pullRun runs the pull request of a site on what is checked out.
func (s *site) pullRun() outcome {
	s.t.Helper()
	return s.run("pull_request", s.pull("synchronize"))
}

// Every shape in which a workflow can have the files (github-action.md 3,
// "Shapes"). The good change passes, the bad one fails, whatever the shape.
func TestActionCheckoutShapes(t *testing.T) {
	t.Parallel()
	for name, shape := range map[string]func(*site){
		"merge commit, whole":    func(s *site) { s.at(s.M) },
		"merge commit, depth 1":  func(s *site) { s.clone(s.M, clone{depth: 1}) },
		"merge commit, depth 2":  func(s *site) { s.clone(s.M, clone{depth: 2}) },
		"input path of checkout": func(s *site) { s.clone(s.M, clone{below: "a/b"}).input("working-directory", "a/b") },
		"a folder inside it":     func(s *site) { s.clone(s.M, clone{below: "a/b"}).input("working-directory", "./a/b/src/") },
		"no blobs, depth 1":      func(s *site) { s.clone(s.M, clone{depth: 1, filter: "blob:none"}) },
		"no blobs, whole":        func(s *site) { s.clone(s.M, clone{filter: "blob:none"}) },
		"no trees, depth 1":      func(s *site) { s.clone(s.M, clone{depth: 1, filter: "tree:0"}) },
		"sparse":                 func(s *site) { s.clone(s.M, clone{sparse: []string{".ai/handoff"}}) },
		"sparse, no blobs": func(s *site) {
			s.clone(s.M, clone{depth: 1, filter: "blob:none", sparse: []string{".ai/handoff"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for kind, want := range map[kind]int{honest: 0, forgotten: 1} {
				s := newSite(t, kind, ".")
				shape(s)
				o := s.pullRun()
				if o.status != want || o.outputs["base"] != s.B || o.outputs["head"] != s.M {
					t.Errorf("change %d: exit status %d, want %d; base %s, head %s\n%s", kind, o.status, want, o.outputs["base"], o.outputs["head"], o.log)
				}
				if want == 1 {
					o.finding(t, "drift/handoff-not-updated")
				}
			}
		})
	}
}

// A workflow command's path begins at the workspace, an annotation's and a
// link's at the repository's top level.
func TestActionPathsOfACheckoutInAFolder(t *testing.T) {
	t.Parallel()
	s := newSite(t, tampered, ".")
	s.clone(s.M, clone{below: "a/b"}).input("working-directory", "a/b").input("annotations", "commands")
	o := s.pullRun()
	errors := o.named("error")
	if len(errors) != 1 || errors[0].properties["file"] != "a/b/.ai/handoff/STATUS.md" {
		t.Errorf("commands %+v", errors)
	}
	if strings.Contains(o.summary, "a/b/") || !strings.Contains(o.summary, "/blob/"+s.C+"/.ai/handoff/STATUS.md") {
		t.Errorf("the summary's links:\n%s", o.summary)
	}
	s.env["GITHUB_RUN_ID"] = "7002"
	s.input("annotations", "auto")
	s.pullRun()
	runs := s.api.Runs()
	if a := runs[len(runs)-1].Annotations; len(a) == 0 || a[0].Path != ".ai/handoff/STATUS.md" {
		t.Errorf("annotations %+v", a)
	}
}

// In a submodule nothing can be annotated: the files are another repository's.
func TestActionInASubmodule(t *testing.T) {
	t.Parallel()
	s := newSite(t, tampered, ".")
	outer := gittest.At(t, s.workspace)
	outer.Git("init", "-q", "-b", "main")
	outer.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "file://"+s.server, "sub")
	sub := gittest.At(t, filepath.Join(s.workspace, "sub"))
	sub.Git("checkout", "-q", "--detach", s.C)
	outer.Git("commit", "-q", "-m", "outer", "-a")
	s.input("working-directory", "sub").input("base", s.B)
	o := s.run("workflow_dispatch", object{})
	if o.status != 1 || o.outputs["head"] != s.C {
		t.Fatalf("exit status %d, head %s\n%s", o.status, o.outputs["head"], o.log)
	}
	if a := s.checkRun().Annotations; len(a) != 0 {
		t.Errorf("annotations on files of another repository: %+v", a)
	}
	for _, c := range o.named("error") {
		if c.properties["file"] != "" {
			t.Errorf("a command for %s", c.properties["file"])
		}
	}
	if o.finding(t, "integrity/checksum-mismatch"); !strings.Contains(o.summary, "STATUS") {
		t.Errorf("the summary does not have it:\n%s", o.summary)
	}
}

// What a sparse checkout lacks is named with the pattern to add.
func TestActionSparseCheckout(t *testing.T) {
	t.Parallel()
	t.Run("a file", func(t *testing.T) {
		s := newSite(t, honest, ".")
		s.clone(s.M, clone{sparse: []string{"--no-cone", "/.ai/handoff/MANIFEST.json", "/.ai/handoff/LOG.md", "/.ai/handoff/TRUST.md", "/.ai/handoff/NEXT_ACTIONS.md"}})
		o := s.pullRun()
		if f := o.finding(t, "integrity/missing-file"); o.status != 1 || !strings.Contains(f.Message, "/.ai/handoff/STATUS.md") {
			t.Errorf("exit status %d: %s", o.status, f.Message)
		}
	})
	for path, project := range map[string]string{".": ".", "packages/api": "packages/api", "auto": "packages/api", "packages/*": "packages/api"} {
		t.Run("the folder, path "+path, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, honest, project)
			o := s.clone(s.M, clone{sparse: []string{"docs"}}).input("path", path).pullRun()
			want := "/" + strings.TrimPrefix(project+"/", "./")
			if o.status != 2 || !strings.Contains(o.log, "sparse checkout add the pattern "+want) {
				t.Errorf("exit status %d, want 2 and the pattern %s\n%s", o.status, want, o.log)
			}
		})
	}
}

// Depth 1 is what actions/checkout does, so what a cut history leaves undecided
// is a notice here, and no warning on every run.
func TestActionShallowPointerIsANotice(t *testing.T) {
	t.Parallel()
	s := newSite(t, honest, ".")
	o := s.clone(s.M, clone{depth: 1}).pullRun()
	if f := o.finding(t, "pointer/undecidable"); f.Severity != report.Notice || o.outputs["warnings"] != "0" || o.outputs["notices"] != "1" {
		t.Errorf("%s, %s warnings, %s notices", f.Severity, o.outputs["warnings"], o.outputs["notices"])
	}
}

// The checkout is the workflow's: no ref, index, configuration or file of it
// changes, whatever its configuration asks a fetch to do, and a whole history
// stays whole.
func TestActionLeavesTheCheckoutAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]clone{"depth 1": {depth: 1}, "whole": {}} {
		s := newSite(t, honest, ".")
		payload := push("refs/heads/feature", orphaned(s), s.C) // has to be fetched
		s.clone(s.C, c)
		for _, kv := range [][2]string{
			{"fetch.prune", "true"},
			{"fetch.pruneTags", "true"},
			{"remote.origin.prune", "true"},
			{"remote.origin.tagOpt", "--tags"},
			{"fetch.writeCommitGraph", "true"},
			{"fetch.recurseSubmodules", "true"},
			{"gc.auto", "1"},
		} {
			s.checkout.Git("config", kv[0], kv[1])
		}
		s.checkout.Git("update-ref", "refs/remotes/origin/stale", s.C)
		s.checkout.Git("tag", "mine")
		before := filesOf(t, s.workspace)
		o := s.input("report", "").run("push", payload)
		if o.status != 0 {
			t.Fatalf("%s: exit status %d\n%s", name, o.status, o.log)
		}
		after := filesOf(t, s.workspace)
		if c.depth == 0 {
			if _, err := os.Stat(filepath.Join(s.workspace, ".git", "shallow")); err == nil {
				t.Errorf("%s: the clone was made shallow", name)
			}
		}
		for path := range after {
			if before[path] != after[path] {
				t.Errorf("%s: %s changed", name, path)
			}
			delete(before, path)
		}
		for path := range before {
			t.Errorf("%s: %s is gone", name, path)
		}
	}
}

// filesOf reads every file of a checkout but git's objects and the line a fetch
// adds to .git/shallow.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, p)
		if err != nil || d.IsDir() && rel == filepath.Join(".git", "objects") {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		if d.Type().IsRegular() && rel != filepath.Join(".git", "shallow") {
			data, err := os.ReadFile(p)
			out[rel] = string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// gitServer serves a repository over HTTP, as a git host does, and notes who
// asks with what.
type gitServer struct {
	*httptest.Server
	mu     sync.Mutex
	auth   [][]string // the Authorization headers of each request
	refuse int        // so many requests are answered 503 first
	need   string     // "" lets everybody in
}

func serveGit(t *testing.T, s *site) *gitServer {
	t.Helper()
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := filepath.Join(strings.TrimSpace(string(out)), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		t.Skipf("SKIPPED: git has no http-backend here: %v", err)
	}
	g := &gitServer{}
	handler := &cgi.Handler{Path: backend, Env: append(gittest.Environ(), "GIT_PROJECT_ROOT="+filepath.Dir(s.server), "GIT_HTTP_EXPORT_ALL=1")}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		g.auth = append(g.auth, r.Header.Values("Authorization"))
		g.refuse--
		refused, need := g.refuse >= 0, g.need
		g.mu.Unlock()
		switch {
		case refused:
			http.Error(w, "later", http.StatusServiceUnavailable)
		case len(r.Header.Values("Authorization")) > 1:
			http.Error(w, "two Authorization headers", http.StatusBadRequest) // as GitHub does
		case need != "" && r.Header.Get("Authorization") != need:
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "who are you", http.StatusUnauthorized)
		default:
			r.Header.Del("Authorization") // the backend runs as everybody's
			handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(g.Close)
	return g
}

func (g *gitServer) seen() [][]string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.auth)
}

// origin is the repository's address on the server.
func (g *gitServer) origin(s *site) string { return g.URL + "/" + filepath.Base(s.server) }

// The token goes to the server of GITHUB_SERVER_URL in one header, whatever
// actions/checkout has left in the configuration, and to no other host.
func TestActionFetchesWithTheToken(t *testing.T) {
	t.Parallel()
	header := "Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+siteToken))
	shallow := func(s *site, g *gitServer) *site {
		// The clone itself is not what is under test: it comes by path.
		s.clone(s.M, clone{depth: 1})
		s.checkout.Git("remote", "set-url", "origin", g.origin(s))
		return s
	}
	t.Run("the header", func(t *testing.T) {
		s := newSite(t, honest, ".")
		g := serveGit(t, s)
		g.need = header
		s.env["GITHUB_SERVER_URL"] = g.URL
		if o := shallow(s, g).pullRun(); o.status != 0 || o.outputs["base"] != s.B {
			t.Fatalf("exit status %d\n%s", o.status, o.log)
		}
		for _, a := range g.seen() {
			if len(a) != 1 {
				t.Errorf("%d Authorization headers", len(a))
			}
		}
	})
	t.Run("one header, though the checkout left its own", func(t *testing.T) {
		s := newSite(t, honest, ".")
		g := serveGit(t, s)
		g.need = header
		s.env["GITHUB_SERVER_URL"] = g.URL
		shallow(s, g).checkout.Git("config", "http."+g.URL+"/.extraheader", "AUTHORIZATION: basic b2xkOm9sZA==")
		if o := s.pullRun(); o.status != 0 {
			t.Fatalf("exit status %d\n%s", o.status, o.log)
		}
	})
	t.Run("blobs of a partial clone", func(t *testing.T) {
		s := newSite(t, honest, ".")
		g := serveGit(t, s)
		s.env["GITHUB_SERVER_URL"] = g.URL
		s.clone(s.M, clone{depth: 1, filter: "blob:none", sparse: []string{".ai/handoff"}, origin: g.origin(s)})
		g.mu.Lock()
		g.auth, g.need = nil, header
		g.mu.Unlock()
		if o := s.pullRun(); o.status != 0 {
			t.Fatalf("exit status %d\n%s", o.status, o.log)
		}
		if len(g.seen()) == 0 {
			t.Error("nothing was fetched")
		}
	})
	t.Run("no other host sees it", func(t *testing.T) {
		s := newSite(t, honest, ".")
		g := serveGit(t, s)
		if o := shallow(s, g).pullRun(); o.status != 0 { // GITHUB_SERVER_URL is another one
			t.Fatalf("exit status %d\n%s", o.status, o.log)
		}
		for _, a := range g.seen() {
			if len(a) != 0 {
				t.Errorf("another host was sent %q", a)
			}
		}
	})
	t.Run("without a token the configuration's own counts", func(t *testing.T) {
		s := newSite(t, honest, ".")
		g := serveGit(t, s)
		g.need = "basic b2xkOm9sZA=="
		s.env["GITHUB_SERVER_URL"] = g.URL
		shallow(s, g).checkout.Git("config", "http."+g.URL+"/.extraheader", "AUTHORIZATION: basic b2xkOm9sZA==")
		if o := s.input("token", "").pullRun(); o.status != 0 {
			t.Fatalf("exit status %d\n%s", o.status, o.log)
		}
	})
	t.Run("a server that is busy twice", func(t *testing.T) {
		s := newSite(t, honest, ".")
		g := serveGit(t, s)
		g.refuse = 2
		if o := shallow(s, g).pullRun(); o.status != 0 {
			t.Fatalf("exit status %d\n%s", o.status, o.log)
		}
	})
	t.Run("no access", func(t *testing.T) {
		s := newSite(t, honest, ".")
		g := serveGit(t, s)
		g.need = "Basic somebody-else"
		s.env["GITHUB_SERVER_URL"] = g.URL
		o := shallow(s, g).pullRun()
		if f := o.finding(t, "drift/base-missing"); o.status != 1 || !strings.Contains(f.Message, "no access") {
			t.Errorf("exit status %d: %s", o.status, f.Message)
		}
		if n := len(g.seen()); n > 2 {
			t.Errorf("%d requests for what no further try changes", n)
		}
	})
	t.Run("a redirect is not followed", func(t *testing.T) {
		s := newSite(t, honest, ".")
		g := serveGit(t, s)
		lure := httptest.NewServer(http.RedirectHandler(g.URL, http.StatusFound))
		t.Cleanup(lure.Close)
		s.env["GITHUB_SERVER_URL"] = lure.URL
		shallow(s, g).checkout.Git("remote", "set-url", "origin", lure.URL+"/x.git")
		if o := s.pullRun(); o.status != 1 || len(g.seen()) != 0 {
			t.Errorf("exit status %d, %d requests where it led\n%s", o.status, len(g.seen()), o.log)
		}
	})
}

// The old tip of a force push is asked for by its id: no branch has it.
func TestActionSaysWhyTheBaseIsNotThere(t *testing.T) {
	t.Parallel()
	gone := strings.Repeat("d", 40)
	for name, c := range map[string]struct {
		prepare func(*site)
		said    string
	}{
		"gone from the server": {func(*site) {}, "gone from the server"},
		"switched off":         {func(s *site) { s.input("fetch-missing", "false") }, "fetch-missing: false"},
		"no remote":            {func(s *site) { s.checkout.Git("remote", "remove", "origin") }, "fetching it failed"},
		"no commit": {func(s *site) {
			s.env["INPUT_BASE"] = s.src.Git("rev-parse", s.B+"^{tree}")
		}, "no commit"},
	} {
		s := newSite(t, honest, ".")
		s.at(s.C)
		c.prepare(s)
		o := s.run("push", push("refs/heads/feature", gone, s.C))
		f := o.finding(t, "drift/base-missing")
		if o.status != 1 || !strings.Contains(f.Message, c.said) {
			t.Errorf("%s: exit status %d, message %q, want %q", name, o.status, f.Message, c.said)
		}
	}
}
