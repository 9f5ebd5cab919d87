package fileledger

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/packet/ledger"
	"github.com/handoff-gate/handoff-gate/gate/packet/ledger/ledgertest"
)

// members reads a ledger file; nil when there is none.
func members(t testing.TB, path string) map[string]json.RawMessage {
	t.Helper()
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var out map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return out
}

func TestConformance(t *testing.T) {
	ledgertest.Run(t, func(t *testing.T) ledgertest.Kind {
		path := filepath.Join(t.TempDir(), "ledger.json")
		return ledgertest.Kind{
			Open: func() ledger.Store { return Open(path) },
			Put: func(key, entry string) {
				m := members(t, path)
				if m == nil {
					m = map[string]json.RawMessage{}
				}
				clear(m) // one that is corrupt makes the others so
				m[key] = json.RawMessage(entry)
				data, err := json.Marshal(m)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, data, 0o600); err != nil {
					t.Fatal(err)
				}
			},
			Get: func(key string) string { return string(members(t, path)[key]) },
		}
	})
}

func claim(t testing.TB, path, key string) string {
	t.Helper()
	o, err := ledger.Check(t.Context(), Open(path), ledgertest.A(key), ledgertest.At(0), true)
	if err != nil {
		t.Fatal(err)
	}
	return ledgertest.Codes(o)
}

// A claim changes the bytes of its own entry alone, whatever the rest looks like.
func TestOtherBytesStay(t *testing.T) {
	const entry = `{"state": "RESERVED", "handoff_id": "h-1", "trace_id": "t-1", "from": "alice", "to": "bob", "reserved_at": "2026-10-02T12:00:00Z", ` +
		`"signature": "verified", "epoch": 1, "packet_sha256": "abababababababababababababababababababababababababababababababab", "owned_paths": ["out/**"]}`
	for _, c := range []struct{ before, after string }{
		{"{}", "{\n  \"k\": " + entry + "\n}"},
		{"{\n\n}\n\n", "{\n  \"k\": " + entry + "\n}\n\n"},
		{"{\"a\" : {}}", "{\"a\" : {},\n  \"k\": " + entry + "}"},
		{"\t{ \"\\u0061\": {\"n\":1.50,\"m\":-0,\"e\":1E5}\r\n }\n", "\t{ \"\\u0061\": {\"n\":1.50,\"m\":-0,\"e\":1E5},\n  \"k\": " + entry + "\r\n }\n"},
		{"{\"z\":{},\"k\":{\"state\":\"RELEASED\",\"epoch\":0,\"x\":[1.0 ,2]},\"a\":{}}", "{\"z\":{},\"k\":" + strings.Replace(entry[:len(entry)-1], `"epoch": 1`, `"epoch": 2`, 1) + ", \"x\": [1.0 ,2]},\"a\":{}}"},
	} {
		path := filepath.Join(t.TempDir(), "l")
		if err := os.WriteFile(path, []byte(c.before), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := claim(t, path, "k"); got != "" {
			t.Errorf("%q: %s", c.before, got)
		}
		if after, _ := os.ReadFile(path); string(after) != c.after {
			t.Errorf("%q became\n%q, want\n%q", c.before, after, c.after)
		}
	}
}

func TestModeOfANewLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	if got := claim(t, path, "k"); got != "" {
		t.Fatal(got)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// A link to a ledger stays one, and all its names are one ledger with one lock.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("second", link); err != nil {
		t.Skipf("SKIPPED: no symbolic links here: %v", err)
	}
	if err := errors.Join(os.Symlink(filepath.Join("real", "ledger.json"), filepath.Join(dir, "second")), os.Symlink("real", filepath.Join(dir, "folder"))); err != nil {
		t.Fatal(err)
	}
	if got := claim(t, link, "k"); got != "" {
		t.Fatal(got)
	}
	for _, name := range []string{"link", "second", "real/ledger.json", "folder/ledger.json", "real/../folder/./ledger.json"} {
		if got := claim(t, filepath.Join(dir, filepath.FromSlash(name)), "k"); got != "idempotency_key_reserved duplicate" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is %v now", info.Mode())
	}
	for name, want := range map[string]int{".": 4, "real": 2} {
		if entries, err := os.ReadDir(filepath.Join(dir, name)); err != nil || len(entries) != want {
			t.Errorf("%s holds %v", name, entries)
		}
	}
	if err := errors.Join(os.Symlink("b", filepath.Join(dir, "a")), os.Symlink("a", filepath.Join(dir, "b"))); err != nil {
		t.Fatal(err)
	}
	if got := claim(t, filepath.Join(dir, "a"), "k"); got != unreachableCode {
		t.Errorf("links in a circle: %q", got)
	}
}

const unreachableCode = "ledger_unreachable unknown"

func TestWhatIsNoLedger(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"a folder": dir, "a folder with a slash": dir + string(filepath.Separator), "no such folder": filepath.Join(dir, "no", "ledger.json"),
		"below a file": filepath.Join(file, "ledger.json"),
	} {
		for _, write := range []bool{true, false} {
			o, err := ledger.Check(t.Context(), Open(path), ledgertest.A("k"), ledgertest.At(0), write)
			if got := ledgertest.Codes(o); err != nil || got != unreachableCode {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
	}
	for _, text := range []string{"", "\n", "[]", "7", "{", "{}{}", "\ufeff{}", `{"k":{},"k":{}}`, `{"x":{"a":1,"\u0061":2}}`, `{"x":{"a":{"b":1,"b":1}}}`, `{"x":[]}`, `{"x":null}`, `{"x":"y"}`, `{"x":{"n":1e999}}`, `{"x":{"s":"\ud800"}}`, `{"x":{"s":NaN}}`, "{\"x\":{\"s\":\"\xff\"}}", `{"x":{"state":"reserved"}}`} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, write := range []bool{true, false} {
			o, err := ledger.Check(t.Context(), Open(file), ledgertest.A("k"), ledgertest.At(0), write)
			if got := ledgertest.Codes(o); err != nil || got != "ledger_corrupt invalid" {
				t.Errorf("%q: %q, %v", text, got, err)
			}
		}
		if now, _ := os.ReadFile(file); string(now) != text {
			t.Errorf("%q became %q", text, now)
		}
	}
}

// A look makes no file, not even the lock's; a claim that is refused makes no
// ledger.
func TestFilesThatAreMade(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "l")
	if _, err := ledger.Check(t.Context(), Open(path), ledgertest.A("k"), ledgertest.At(0), false); err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("a look has made %v", entries)
	}
	c := ledgertest.A("k")
	c.DependsOn = []string{"k"}
	if o, err := ledger.Check(t.Context(), Open(path), c, ledgertest.At(0), true); err != nil || o.Recorded {
		t.Fatal(o, err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused claim has made a ledger: %v", err)
	}
}

// A lock that somebody holds is waited for, and not for ever.
func TestLockThatIsHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	holder := Open(path)
	unlock, err := holder.lock(t.Context(), path+".lock")
	if err != nil {
		t.Fatal(err)
	}
	l := Open(path)
	l.wait = 1
	o, err := ledger.Check(t.Context(), l, ledgertest.A("k"), ledgertest.At(0), true)
	if got := ledgertest.Codes(o); err != nil || got != unreachableCode || !errors.Is(o.Detail, errLockTime) {
		t.Errorf("%q, %v, %v", got, err, o.Detail)
	}
	// Whoever only looks needs no lock.
	if o, err := ledger.Check(t.Context(), l, ledgertest.A("k"), ledgertest.At(0), false); err != nil || len(o.Reasons) != 0 {
		t.Errorf("a look waits for the lock: %v, %v", ledgertest.Codes(o), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ledger.Check(ctx, Open(path), ledgertest.A("k"), ledgertest.At(0), true); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that was cancelled gives %v", err)
	}
	unlock()
	if got := claim(t, path, "k"); got != "" {
		t.Errorf("after the lock was given up: %q", got)
	}
	// A lock file that somebody has deleted, or put a link in the place of.
	if err := os.Remove(path + ".lock"); err != nil {
		t.Fatal(err)
	}
	if got := claim(t, path, "k2"); got != "" {
		t.Errorf("%q", got)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := errors.Join(os.Remove(path+".lock"), os.Symlink("elsewhere", path+".lock")); err != nil {
		t.Fatal(err)
	}
	if got := claim(t, path, "k3"); got != unreachableCode {
		t.Errorf("a link for a lock: %q", got)
	}
}

// With exclusive paths no two claims in progress own what may be the same files.
func TestExclusivePaths(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	put := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := `"state":"RESERVED","reserved_at":"2020-01-01T00:00:00Z"`
	for _, c := range []struct{ name, entry, mine, want string }{
		{"the same", `"to":"bob","owned_paths":["src/a"]`, "src/a", "claim_conflict blocked"},
		{"another receiver", `"to":"carol","owned_paths":["src/a"]`, "src/a", ""},
		{"no receiver", `"owned_paths":["src/a"]`, "src/a", "claim_conflict blocked"},
		{"a receiver that is none", `"to":null,"owned_paths":["src/a"]`, "src/a", "claim_conflict blocked"},
		{"other paths", `"to":"bob","owned_paths":["src/b","doc/**"]`, "src/a", ""},
		{"case", `"to":"bob","owned_paths":["SRC/A"]`, "src/a", "claim_conflict blocked"},
		{"no list", `"to":"bob"`, "src/a", "claim_conflict blocked"},
		{"a list of anything", `"to":"bob","owned_paths":[7]`, "src/a", "claim_conflict blocked"},
		{"an empty list", `"to":"bob","owned_paths":[]`, "src/a", ""},
		{"nothing of mine", `"to":"bob"`, "", ""},
	} {
		put(`{"other":{` + at + `,` + c.entry + `}}`)
		claim := ledgertest.A("k")
		claim.ExclusivePaths = true
		if claim.OwnedPaths = nil; c.mine != "" {
			claim.OwnedPaths = []string{c.mine}
		}
		o, err := ledger.Check(t.Context(), Open(path), claim, ledgertest.At(0), false)
		if got := ledgertest.Codes(o); err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
	// One reason for each, by key; not for what is over, nor for the own key.
	put(`{"z":{` + at + `},"b":{` + at + `},"k":{"state":"RELEASED"},"done":{"state":"COMPLETED"},"free":{"state":"RELEASED"}}`)
	claim := ledgertest.A("k")
	claim.ExclusivePaths = true
	o, err := ledger.Check(t.Context(), Open(path), claim, ledgertest.At(0), true)
	if err != nil || len(o.Reasons) != 2 || !strings.Contains(o.Reasons[0].Message, `"b"`) || !strings.Contains(o.Reasons[1].Message, `"z"`) {
		t.Errorf("%+v, %v", o.Reasons, err)
	}
	if claim.ExclusivePaths = false; ledgertest.Codes(must(ledger.Check(t.Context(), Open(path), claim, ledgertest.At(0), true))) != "" {
		t.Error("without the policy the paths count")
	}
}

func must(o ledger.Outcome, err error) ledger.Outcome {
	if err != nil {
		panic(err)
	}
	return o
}
