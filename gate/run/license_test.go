package run

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/git"
)

func TestALicenseMayBeALinkWithinTheRepository(t *testing.T) {
	outside := t.TempDir()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{filepath.Join(outside, "LICENSE"), filepath.Join(top, "docs", "LICENSE"), filepath.Join(top, ".git", "LICENSE")} {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(filepath.Base(filepath.Dir(file))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const leaves = "it is a symbolic link that leaves the repository"
	for _, c := range []struct{ name, target, text, why string }{
		{"relative", "docs/LICENSE", "docs", ""},
		{"absolute", filepath.Join(top, "docs", "LICENSE"), "docs", ""},
		{"twice", "relative", "docs", ""},
		{"outside", filepath.Join(outside, "LICENSE"), "", leaves},
		{"git", ".git/LICENSE", "", leaves},
		{"nothing", "docs/COPYING", "", "it is a symbolic link"},
		{"folder", "docs", "", "it is a symbolic link"},
		{"itself", "itself", "", "it is a symbolic link"},
	} {
		if err := os.Symlink(c.target, filepath.Join(top, c.name)); err != nil {
			t.Skip(err)
		}
		checkout, err := OpenCheckout(context.Background(), git.Options{Dir: top, StartDir: top})
		if err != nil {
			t.Fatal(err)
		}
		doc := (&source{run: &run{c: checkout}, p: Project{Path: "."}}).license(c.name)
		checkout.Close()
		if string(doc.Data) != c.text || (doc.State == gate.Present) != (c.text != "") || c.why != "" && (doc.Err == nil || doc.Err.Error() != c.why) {
			t.Errorf("%s: %v %q, %v", c.name, doc.State, doc.Data, doc.Err)
		}
	}
}
