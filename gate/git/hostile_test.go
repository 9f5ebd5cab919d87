package git

import (
	"context"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
)

// stored writes an object as it is, also one that git would never write.
func stored(t *testing.T, r *gittest.Repo, kind, content string) string {
	t.Helper()
	c := exec.Command("git", "hash-object", "-t", kind, "-w", "--literally", "--stdin")
	c.Dir, c.Env, c.Stdin = r.Dir, gittest.Environ(), strings.NewReader(content)
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func open(t *testing.T, r *gittest.Repo) *Repo {
	t.Helper()
	repo, err := Open(context.Background(), Options{Dir: r.Dir, StartDir: r.Dir, Environ: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(repo.Close)
	return repo
}

// Only what git takes for a parent is one: a header of that name further down
// makes no commit an ancestor of what it was never merged into.
func TestAParentIsWhatGitFollows(t *testing.T) {
	r := gittest.New(t, "")
	r.Write("a", "1\n")
	first := r.Commit("first")
	r.Write("a", "2\n")
	second := r.Commit("second")
	other := r.Git("commit-tree", "-m", "other", second+"^{tree}")
	raw := r.Git("cat-file", "commit", second) + "\n"
	for _, c := range []struct{ name, raw string }{
		{"after the committer", strings.Replace(raw, "\n\n", "\nparent "+other+"\n\n", 1)},
		{"after the author", strings.Replace(raw, "\ncommitter", "\nparent "+other+"\ncommitter", 1)},
		{"after another header", strings.Replace(raw, "\nauthor", "\nnote x\nparent "+other+"\nauthor", 1)},
		{"in the message", raw + "\nparent " + other + "\n"},
		{"a second tree", strings.Replace(raw, "\nparent", "\ntree "+strings.Repeat("0", 40)+"\nparent "+other+"\nparent", 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			id := stored(t, r, "commit", c.raw)
			repo := open(t, r)
			commit, err := repo.Commit(context.Background(), id)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range commit.Parents {
				if p == other {
					t.Errorf("parents %v", commit.Parents)
				}
			}
			if is, _ := repo.IsAncestor(context.Background(), other, id); is {
				t.Error("it is taken for an ancestor")
			}
		})
	}
	id := stored(t, r, "commit", strings.Replace(raw, "\nauthor", "\nparent "+other+"\nauthor", 1))
	repo := open(t, r)
	commit, err := repo.Commit(context.Background(), id)
	if err != nil || strings.Join(commit.Parents, " ") != first+" "+other {
		t.Errorf("a merge has the parents %v, %v", commit.Parents, err)
	}
	if is, err := repo.IsAncestor(context.Background(), other, id); !is || err != nil {
		t.Errorf("the second parent of a merge is an ancestor: %v, %v", is, err)
	}
	if _, err := repo.Commit(context.Background(), stored(t, r, "commit", strings.TrimPrefix(raw, strings.SplitAfter(raw, "\n")[0]))); err == nil {
		t.Error("a commit without a tree is read")
	}
}

// A comparison of trees whose names are not in git's order tells of changes
// that nobody made.
func TestTreesOutOfOrder(t *testing.T) {
	r := gittest.New(t, "")
	blob, err := hex.DecodeString(stored(t, r, "blob", "x\n"))
	if err != nil {
		t.Fatal(err)
	}
	file := func(names ...string) string {
		var s strings.Builder
		for _, n := range names {
			s.WriteString("100644 " + n + "\x00" + string(blob))
		}
		return s.String()
	}
	folder, err := hex.DecodeString(stored(t, r, "tree", file("x")))
	if err != nil {
		t.Fatal(err)
	}
	sub := func(name string) string { return "40000 " + name + "\x00" + string(folder) }
	before := stored(t, r, "tree", file("a", "b", "c"))
	for _, c := range []struct {
		name, tree string
		ok         bool
	}{
		{"in order", file("a", "b", "c", "d"), true},
		{"a folder after a longer name", file("a.b") + sub("a"), true},
		{"a folder before a longer name", sub("a") + file("a.b"), false},
		{"a file after a longer name", file("a.b", "a"), false},
		{"backwards", file("c", "b", "a"), false},
		{"one too early", file("c", "a", "b"), false},
		{"one name twice", file("a", "a", "b", "c"), false},
		{"a file and a folder of one name", file("a", "a.b") + sub("a"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			repo := open(t, r)
			id := stored(t, r, "tree", c.tree)
			if _, err := repo.Tree("tree", id).List("."); (err == nil) != c.ok {
				t.Errorf("listing it: %v", err)
			}
			if _, ok := repo.smallChange(before, id, "."); ok != c.ok {
				t.Errorf("a small change: %v", ok)
			}
			// diff-tree takes a file and a folder of one name for two names.
			changes, err := repo.Changes(context.Background(), before, id)
			if c.ok && err != nil {
				t.Errorf("comparing it: %v", err)
			}
			seen := map[string]bool{}
			for _, ch := range changes {
				if seen[ch.Path] {
					t.Errorf("%s changed twice: %v", ch.Path, changes)
				}
				seen[ch.Path] = true
			}
		})
	}
}

// Programs that the repository's configuration names never see the token: what
// has it starts none, and what starts one has it not.
func TestTheTokenReachesNoProgramOfTheConfiguration(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("SKIPPED: the program is a shell script")
	}
	const token = "ghs_forTheServerAlone"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		http.Error(w, "who are you", http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	source := gittest.New(t, "")
	source.Write("a", "1\n")
	id := source.Commit("one")
	for _, c := range []struct {
		name, origin string
		started      bool // the configuration's own programs count where the token is of no use
	}{
		{"the server", server.URL + "/o/r.git", false},
		{"the server, by another name", "alias:o/r.git", false},
		{"another server", strings.Replace(server.URL, "127.0.0.1", "localhost", 1) + "/o/r.git", true},
		{"a path", source.Dir, true},
		{"ssh", "git@127.0.0.1:o/r.git", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t, "")
			r.Write("b", "1\n")
			r.Commit("first")
			seen := filepath.Join(t.TempDir(), "seen")
			program := filepath.Join(t.TempDir(), "program")
			if err := os.WriteFile(program, []byte("#!/bin/sh\nenv >> "+seen+"\nexit 1\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			r.Git("config", "remote.origin.url", c.origin)
			r.Git("config", "url."+server.URL+"/.insteadOf", "alias:")
			for _, key := range []string{"credential.helper", "core.askPass", "core.sshCommand", "core.gitProxy", "core.alternateRefsCommand", "remote.origin.uploadpack"} {
				r.Git("config", key, program)
			}
			r.Write(".git/objects/info/alternates", source.Dir+"/.git/objects\n")
			repo, err := Open(context.Background(), Options{Dir: r.Dir, StartDir: r.Dir, Environ: os.Environ(), Server: server.URL, Token: token})
			if err != nil {
				t.Fatal(err)
			}
			defer repo.Close()
			if err := repo.Fetch(context.Background(), strings.Repeat("1", len(id))); err == nil {
				t.Error("it was fetched")
			}
			env, err := os.ReadFile(seen)
			if (err == nil) != c.started {
				t.Errorf("started a program: %v, want %v", err == nil, c.started)
			}
			if strings.Contains(string(env), basicToken(token)) || strings.Contains(string(env), token) {
				t.Errorf("a program that the configuration names has the token:\n%s", env)
			}
		})
	}
}

// What loads code into git, or is none of its business, does not reach it from
// a step's environment. A person's own environment counts.
func TestWhatGitInherits(t *testing.T) {
	outside := t.TempDir()
	r := gittest.New(t, "")
	r.Write("b", "1\n")
	r.Commit("first")
	r.Write("tools/x", "1\n")
	inside := filepath.Join(r.Dir, "tools")
	path := strings.Join([]string{inside, outside, "bin", os.Getenv("PATH")}, string(filepath.ListSeparator))
	environ := []string{
		"PATH=" + path, "HOME=/home/x", "LD_PRELOAD=", "LD_LIBRARY_PATH=/x", "DYLD_INSERT_LIBRARIES=/x", "OPENSSL_CONF=/x", "GCONV_PATH=/x",
		"SSLKEYLOGFILE=/x", "SSH_ASKPASS=/x", "HTTPS_PROXY=http://127.0.0.1:1", "GITHUB_TOKEN=secret", "NPM_TOKEN=secret", "INPUT_TOKEN=secret", "ACTIONS_RUNTIME_TOKEN=secret",
	}
	names := func(serve bool, m mode) (names []string, path string) {
		repo, err := Open(context.Background(), Options{Dir: r.Dir, StartDir: r.Dir, Environ: environ, ServeHooks: serve})
		if err != nil {
			t.Fatal(err)
		}
		defer repo.Close()
		for _, kv := range repo.environment(m) {
			name, value, _ := strings.Cut(kv, "=")
			if name == "PATH" {
				path = value
			}
			if !strings.HasPrefix(name, "GIT_") && name != "PATH" && name != "LC_ALL" {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return names, path
	}
	for _, c := range []struct {
		name  string
		serve bool
		mode  mode
		want  string
	}{
		{"ci", false, plumbing, "HOME"},
		{"ci, the user's configuration", false, userConfig, "HOME"},
		{"ci, the network", false, network, "GITHUB_TOKEN HOME HTTPS_PROXY NPM_TOKEN"},
		{"below ci", true, plumbing, "DYLD_INSERT_LIBRARIES GCONV_PATH GITHUB_TOKEN HOME HTTPS_PROXY LD_LIBRARY_PATH LD_PRELOAD NPM_TOKEN OPENSSL_CONF SSH_ASKPASS SSLKEYLOGFILE"},
	} {
		got, gotPath := names(c.serve, c.mode)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
		if !c.serve && (strings.Contains(gotPath, inside) || !strings.HasPrefix(gotPath, outside)) {
			t.Errorf("%s: PATH is %s", c.name, gotPath)
		}
	}
}

// A dozen objects make a tree of more files than can be counted. Listing it and
// comparing it end, with an error and not with a shorter list.
func TestATreeOfCountlessFiles(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: nothing bounds the memory of git here")
	}
	records, memory := maxRecords, maxMemory
	t.Cleanup(func() { maxRecords, maxMemory = records, memory })
	maxRecords, maxMemory = 10_000, 100<<20
	r := gittest.New(t, "")
	id := stored(t, r, "blob", "x\n")
	mode := "100644"
	for range 12 {
		raw, err := hex.DecodeString(id)
		if err != nil {
			t.Fatal(err)
		}
		var s strings.Builder
		for i := range 10 {
			s.WriteString(mode + " f" + strconv.Itoa(i) + "\x00" + string(raw))
		}
		id, mode = stored(t, r, "tree", s.String()), "40000"
	}
	repo := open(t, r)
	ctx := context.Background()
	if entries, err := repo.TreeEntries(ctx, id, "."); err == nil {
		t.Errorf("%d files are listed", len(entries))
	}
	if changes, err := repo.Changes(ctx, EmptyTree(40), id); err == nil {
		t.Errorf("%d changes are listed", len(changes))
	}
}
