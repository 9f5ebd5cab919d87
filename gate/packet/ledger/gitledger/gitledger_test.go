package gitledger

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/git"
	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger/ledgertest"
)

// bare makes a bare repository of an object format.
func bare(t testing.TB, format string) *gittest.Repo {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := gittest.At(t, dir)
	r.Git("init", "-q", "--bare", "--object-format="+format, ".")
	return r
}

// tree makes a commit of a tree, as mktree reads it, and gives its id.
func tree(r *gittest.Repo, entries string) string {
	return r.Git("commit-tree", "-m", "claim", r.Feed(entries, "mktree"))
}

// put makes bytes the claim behind the ref of a key.
func put(r *gittest.Repo, key, claim string) {
	blob := r.Feed(claim, "hash-object", "-w", "--stdin")
	r.Git("update-ref", ledger.Ref(key), tree(r, "100644 blob "+blob+"\tclaim.json\n"))
}

// get gives the claim behind the ref; "" when there is none.
func get(r *gittest.Repo, key string) string {
	out, err := r.Try("cat-file", "blob", ledger.Ref(key)+":claim.json")
	if err != nil {
		return ""
	}
	return out
}

// of gives an entry the members that it has behind a ref.
func of(t testing.TB, key, entry string) string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(entry), &m); err != nil {
		t.Fatal(err)
	}
	quoted, err := json.Marshal(key)
	if err != nil {
		t.Fatal(err)
	}
	m["idempotency_key"], m["nonce"] = quoted, json.RawMessage(`"00000000000000000000000000000000"`)
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func local(t testing.TB, dir string) *ledger.Refs {
	t.Helper()
	s, err := git.OpenStore(dir, gittest.Environ(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return Local(s)
}

func remote(t testing.TB, name, dir string) *ledger.Refs {
	t.Helper()
	r, err := git.OpenRemote(context.Background(), git.RemoteOptions{Name: name, Dir: dir, Environ: gittest.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return Remote(r)
}

func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name   string
		make   func(t *testing.T) *gittest.Repo
		open   func(t *testing.T, r *gittest.Repo) *ledger.Refs
		rivals int
		long   bool
	}{
		{"local bare", func(t *testing.T) *gittest.Repo { return bare(t, "sha1") }, func(t *testing.T, r *gittest.Repo) *ledger.Refs { return local(t, r.Dir) }, 8, false},
		{"local with a work tree, SHA-256", func(t *testing.T) *gittest.Repo { return gittest.New(t, "sha256") }, func(t *testing.T, r *gittest.Repo) *ledger.Refs { return local(t, r.Dir) }, 4, true},
		{"remote", func(t *testing.T) *gittest.Repo { return bare(t, "sha1") }, func(t *testing.T, r *gittest.Repo) *ledger.Refs { return remote(t, r.Dir, t.TempDir()) }, 4, false},
		{"remote, SHA-256", func(t *testing.T) *gittest.Repo { return bare(t, "sha256") }, func(t *testing.T, r *gittest.Repo) *ledger.Refs { return remote(t, "file://"+r.Dir, t.TempDir()) }, 2, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.long && testing.Short() {
				t.Skip("SKIPPED: under -short one object format is enough")
			}
			ledgertest.Run(t, func(t *testing.T) ledgertest.Kind {
				r := c.make(t)
				return ledgertest.Kind{
					Open: func() ledger.Store { return c.open(t, r) },
					Put:  func(key, entry string) { put(r, key, of(t, key, entry)) },
					Get:  func(key string) string { return get(r, key) },
					Refs: true, Rivals: c.rivals, Slow: c.name != "local bare",
				}
			})
		})
	}
}

func check(t *testing.T, s ledger.Store, key string) ledger.Outcome {
	t.Helper()
	o, err := ledger.Check(t.Context(), s, ledgertest.A(key), ledgertest.At(0), true)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// What stands behind a ref is a commit of one claim.json, and that of its key.
func TestWhatIsNoClaim(t *testing.T) {
	const key = "k"
	good := of(t, key, `{"state":"RELEASED"}`)
	for _, c := range []struct {
		name string
		make func(r *gittest.Repo, blob string) string // gives what the ref names
	}{
		{"another name", func(r *gittest.Repo, blob string) string { return tree(r, "100644 blob "+blob+"\tclaims.json\n") }},
		{"a second file", func(r *gittest.Repo, blob string) string {
			return tree(r, "100644 blob "+blob+"\tclaim.json\n100644 blob "+blob+"\tx\n")
		}},
		{"an executable file", func(r *gittest.Repo, blob string) string { return tree(r, "100755 blob "+blob+"\tclaim.json\n") }},
		{"a link", func(r *gittest.Repo, blob string) string { return tree(r, "120000 blob "+blob+"\tclaim.json\n") }},
		{"an empty tree", func(r *gittest.Repo, _ string) string { return tree(r, "") }},
		{"a blob", func(_ *gittest.Repo, blob string) string { return blob }},
		{"a tree", func(r *gittest.Repo, blob string) string {
			return r.Feed("100644 blob "+blob+"\tclaim.json\n", "mktree")
		}},
		{"a tag", func(r *gittest.Repo, blob string) string {
			r.Git("tag", "-a", "-m", "t", "t", tree(r, "100644 blob "+blob+"\tclaim.json\n"))
			return r.Git("rev-parse", "t")
		}},
		{"the claim of another key", func(r *gittest.Repo, _ string) string {
			put(r, "other", of(t, "other", `{"state":"RELEASED"}`))
			return r.Git("rev-parse", ledger.Ref("other"))
		}},
		{"no key", func(r *gittest.Repo, _ string) string {
			put(r, "other", `{"state":"RELEASED"}`)
			return r.Git("rev-parse", ledger.Ref("other"))
		}},
		{"no JSON", func(r *gittest.Repo, _ string) string {
			put(r, "other", "RELEASED")
			return r.Git("rev-parse", ledger.Ref("other"))
		}},
		{"an empty file", func(r *gittest.Repo, _ string) string {
			put(r, "other", "")
			return r.Git("rev-parse", ledger.Ref("other"))
		}},
		{"a large file", func(r *gittest.Repo, _ string) string {
			put(r, "other", good+strings.Repeat(" ", ledger.MaxClaim))
			return r.Git("rev-parse", ledger.Ref("other"))
		}},
		{"a key twice", func(r *gittest.Repo, _ string) string {
			put(r, "other", `{"idempotency_key":"k","state":"RELEASED","st\u0061te":"COMPLETED"}`)
			return r.Git("rev-parse", ledger.Ref("other"))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := bare(t, "sha1")
			named := c.make(r, r.Feed(good, "hash-object", "-w", "--stdin"))
			r.Git("update-ref", ledger.Ref(key), named)
			for name, s := range map[string]ledger.Store{"local": local(t, r.Dir), "remote": remote(t, r.Dir, t.TempDir())} {
				if got := ledgertest.Codes(check(t, s, key)); got != "ledger_corrupt invalid" {
					t.Errorf("%s: %q", name, got)
				}
			}
			if now := r.Git("rev-parse", ledger.Ref(key)); now != named {
				t.Errorf("the ref names %s now", now)
			}
		})
	}
}

func noPause(ctx context.Context, _ int) error { return ctx.Err() }
