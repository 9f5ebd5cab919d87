package gitledger

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/git"
	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger/ledgertest"
)

const noAnswer = "ledger_unreachable unknown"

// script writes a program that leaves a mark, and gives its path.
func script(t *testing.T, mark string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the programs here are shell scripts")
	}
	file := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(file, []byte("#!/bin/sh\necho x >> '"+mark+"'\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

// The repository of a ledger decides nothing: its hooks are off, and what it
// configures starts no program.
func TestHooksAreOff(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	program := script(t, mark)
	work := gittest.New(t, "sha1")
	work.Git("remote", "add", "origin", bare(t, "sha1").Dir)
	for _, hook := range []string{"reference-transaction", "pre-push", "post-update", "pre-commit"} {
		if err := os.Symlink(program, filepath.Join(work.Dir, ".git", "hooks", hook)); err != nil {
			t.Fatal(err)
		}
	}
	work.Git("config", "core.fsmonitor", program)
	work.Git("config", "gpg.program", program)
	work.Git("config", "commit.gpgSign", "true")
	work.Git("config", "push.gpgSign", "true")
	work.Git("config", "core.logAllRefUpdates", "always")
	for name, store := range map[string]ledger.Store{"local": local(t, work.Dir), "remote": remote(t, "origin", work.Dir)} {
		if o := check(t, store, name); len(o.Reasons) != 0 {
			t.Errorf("%s: %s (%v)", name, ledgertest.Codes(o), o.Detail)
		}
	}
	if data, err := os.ReadFile(mark); err == nil {
		t.Errorf("a program was started: %s", data)
	}
}

// A ref that is broken or leads elsewhere is no absence and is not written
// through.
func TestBrokenRefs(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "no id": "nonsense\n", "an object that is not there": strings.Repeat("1", 40) + "\n",
		"a symbolic ref": "ref: refs/heads/main\n",
	} {
		r := bare(t, "sha1")
		put(r, "other", `{"state":"RELEASED"}`)
		r.Git("update-ref", "refs/heads/main", ledger.Ref("other"))
		file := filepath.Join(r.Dir, filepath.FromSlash(ledger.Ref("k")))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		store := local(t, r.Dir)
		store.Pause = noPause
		if got := ledgertest.Codes(check(t, store, "k")); got != noAnswer {
			t.Errorf("%s: %q", name, got)
		}
		if now, err := os.ReadFile(file); err != nil || string(now) != text {
			t.Errorf("%s: the ref is %q now (%v)", name, now, err)
		}
	}
}

// Refs below one of that name, and names that end alike, are other refs.
func TestNamesThatAreAlike(t *testing.T) {
	r := bare(t, "sha1")
	put(r, "other", of(t, "k", `{"state":"COMPLETED"}`))
	r.Git("update-ref", "refs/heads/x/"+ledger.Ref("k"), ledger.Ref("other"))
	for name, store := range map[string]ledger.Store{"local": local(t, r.Dir), "remote": remote(t, r.Dir, t.TempDir())} {
		if o := check(t, store, "k"); name == "local" && len(o.Reasons) != 0 || name == "remote" && ledgertest.Codes(o) == "duplicate_idempotency_key conflicting" {
			t.Errorf("%s: %s (%v)", name, ledgertest.Codes(o), o.Detail)
		}
		r.Git("update-ref", "-d", ledger.Ref("k"))
	}
}

// A folder may be the top of a linked work tree, or of a submodule: its refs are
// those of the repository.
func TestLinkedWorkTree(t *testing.T) {
	work := gittest.New(t, "sha1")
	work.Commit("Start")
	linked := filepath.Join(t.TempDir(), "linked")
	work.Git("worktree", "add", "-q", linked)
	if o := check(t, local(t, linked), "k"); len(o.Reasons) != 0 {
		t.Fatalf("%s (%v)", ledgertest.Codes(o), o.Detail)
	}
	if got := ledgertest.Codes(check(t, local(t, work.Dir), "k")); got != "idempotency_key_reserved duplicate" {
		t.Errorf("%q", got)
	}
	if out := work.Git("status", "--porcelain"); out != "" {
		t.Errorf("the work tree has changed: %s", out)
	}
}

// Where a folder or a remote is no repository, nothing is claimed anywhere else.
func TestNoRepository(t *testing.T) {
	outer := gittest.New(t, "sha1")
	outer.Commit("Start")
	inner := filepath.Join(outer.Dir, "inner")
	if err := os.Mkdir(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := ledgertest.Codes(check(t, local(t, inner), "k")); got != noAnswer {
		t.Errorf("a folder inside a repository: %q", got)
	}
	if _, err := git.OpenStore(filepath.Join(outer.Dir, "none"), gittest.Environ(), nil); err == nil {
		t.Error("a folder that is not there is opened")
	}
	for _, name := range []string{"none", "./none", inner, filepath.Join(outer.Dir, "none.git"), "file:///none", "ext::sh -c 'touch " + filepath.Join(outer.Dir, "owned") + "'", "nowhere:x/y"} {
		store := remote(t, name, outer.Dir)
		store.Pause = noPause
		o := check(t, store, "k")
		if got := ledgertest.Codes(o); got != noAnswer || o.Detail == nil {
			t.Errorf("%s: %q (%v)", name, got, o.Detail)
		}
	}
	if out := outer.Git("for-each-ref", "refs/handoff/"); out != "" {
		t.Errorf("the outer repository holds %s", out)
	}
	if _, err := os.Stat(filepath.Join(outer.Dir, "owned")); err == nil {
		t.Error("a URL has run a command")
	}
}

// A NAME is a remote of the repository at hand, with what that repository says of
// the way there; a path is relative to the current folder.
func TestNamesOfRemotes(t *testing.T) {
	origin := bare(t, "sha1")
	work := gittest.New(t, "sha1")
	below := filepath.Join(work.Dir, "a", "b")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(work.Dir, origin.Dir)
	if err != nil {
		t.Fatal(err)
	}
	work.Git("remote", "add", "origin", origin.Dir)
	work.Git("remote", "add", "rel.ative", relative)
	work.Git("remote", "add", "short", "claims:store")
	work.Git("config", "url."+origin.Dir+".insteadOf", "claims:store")
	fromBelow, err := filepath.Rel(below, origin.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"origin", "rel.ative", "short", fromBelow} {
		if o := check(t, remote(t, name, below), name); len(o.Reasons) != 0 {
			t.Errorf("%s: %s (%v)", name, ledgertest.Codes(o), o.Detail)
		}
		if get(origin, name) == "" {
			t.Errorf("%s: the claim is not where it belongs", name)
		}
	}
}

// The user's own configuration leads to the remote, also where the environment
// names it.
func TestUsersConfiguration(t *testing.T) {
	origin := bare(t, "sha1")
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte("[url \""+origin.Dir+"\"]\n\tinsteadOf = claims:\n[protocol \"ext\"]\n\tallow = always\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[url \""+origin.Dir+"\"]\n\tinsteadOf = homely:\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var plain []string
	with := func(more ...string) []string { return slices.Concat(plain, more) }
	for _, kv := range gittest.Environ() {
		if !strings.HasPrefix(kv, "GIT_CONFIG") && !strings.HasPrefix(kv, "HOME=") {
			plain = append(plain, kv)
		}
	}
	for name, environ := range map[string][]string{
		"claims:":   with("GIT_CONFIG_GLOBAL=" + file),
		"homely:":   with("HOME=" + home),
		"variable:": with("GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url."+origin.Dir+".insteadOf", "GIT_CONFIG_VALUE_0=variable:"),
	} {
		r, err := git.OpenRemote(t.Context(), git.RemoteOptions{Name: name, Dir: t.TempDir(), Environ: environ})
		if err != nil {
			t.Fatal(err)
		}
		if o := check(t, Remote(r), name); len(o.Reasons) != 0 {
			t.Errorf("%s: %s (%v)", name, ledgertest.Codes(o), o.Detail)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	r, err := git.OpenRemote(t.Context(), git.RemoteOptions{Name: "ext::touch " + filepath.Join(home, "owned"), Dir: home, Environ: with("GIT_CONFIG_GLOBAL=" + file)})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	store := Remote(r)
	store.Pause = noPause
	if got := ledgertest.Codes(check(t, store, "k")); got != noAnswer {
		t.Errorf("ext:: %q", got)
	}
	if _, err := os.Stat(filepath.Join(home, "owned")); err == nil {
		t.Error("the user's protocol.ext.allow stands")
	}
}

// What an address holds of a user is never said.
func TestSecretsOfAddresses(t *testing.T) {
	work := gittest.New(t, "sha1")
	work.Git("remote", "add", "secret", "http://somebody:pass%77ord@127.0.0.1:1/store.git")
	for _, name := range []string{
		"http://somebody:password@127.0.0.1:1/store.git", "http://somebody:pass%77ord@127.0.0.1:1/store.git", "https://somebody@127.0.0.1:1/p/a/password", "secret",
		"ssh://somebody:password@127.0.0.1:1/x", "somebody@127.0.0.1:no/such", "file://somebody:password@host/none",
	} {
		store := remote(t, name, work.Dir)
		store.Pause = noPause
		o := check(t, store, "k")
		if got := ledgertest.Codes(o); got != noAnswer || o.Detail == nil {
			t.Fatalf("%s: %q (%v)", name, got, o.Detail)
		}
		said := o.Detail.Error() + o.Reasons[0].Message
		for _, word := range []string{"somebody", "pass%77ord", "password@"} {
			if strings.Contains(said, word) {
				t.Errorf("%s: it says %s", name, said)
			}
			if shown := git.WithoutUser(name); name != "secret" && strings.Contains(shown, word) {
				t.Errorf("%s is shown as %s", name, shown)
			}
		}
	}
}
