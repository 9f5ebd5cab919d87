// Package gittest makes real git repositories for tests. It runs git apart from
// the code under test and with an environment of its own.
package gittest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Environ is an environment in which neither the machine's nor the user's git
// configuration counts.
func Environ() []string {
	env := []string{
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Test", "GIT_AUTHOR_EMAIL=test@example.com", "GIT_COMMITTER_NAME=Test", "GIT_COMMITTER_EMAIL=test@example.com",
		"GIT_AUTHOR_DATE=2026-11-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-11-01T00:00:00Z",
	}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") && !strings.HasPrefix(kv, "LC_ALL=") {
			env = append(env, kv)
		}
	}
	return env
}

// Repo is a repository in a temporary folder.
type Repo struct {
	t   testing.TB
	Dir string
}

// New makes an empty repository; format is "" or an object format.
func New(t testing.TB, format string) *Repo {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &Repo{t: t, Dir: dir}
	args := []string{"init", "-q", "-b", "main"}
	if format != "" {
		args = append(args, "--object-format="+format)
	}
	r.Git(args...)
	return r
}

// At is the repository in a folder that is there already; it may yet have to be
// made with Git("init").
func At(t testing.TB, dir string) *Repo { return &Repo{t: t, Dir: dir} }

// Git runs git in the repository and gives its trimmed output.
func (r *Repo) Git(args ...string) string {
	r.t.Helper()
	out, err := r.Try(args...)
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// Feed is Git for a command that reads its standard input.
func (r *Repo) Feed(input string, args ...string) string {
	r.t.Helper()
	out, err := r.run(input, args...)
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// Try is Git for a command that may fail.
func (r *Repo) Try(args ...string) (string, error) { return r.run("", args...) }

func (r *Repo) run(input string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = r.Dir, Environ(), strings.NewReader(input)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return strings.TrimSpace(out.String()), err
}

// Write writes a file, its folders made as needed.
func (r *Repo) Write(path, content string) {
	r.t.Helper()
	full := filepath.Join(r.Dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// Commit stages everything and commits it, and gives the commit's id.
func (r *Repo) Commit(message string) string {
	r.t.Helper()
	r.Git("add", "-A")
	r.Git("commit", "-q", "--allow-empty", "-m", message)
	return r.Git("rev-parse", "HEAD")
}
