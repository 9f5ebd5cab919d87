package session

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/fake"
)

// entries lists a tree as git does: files, ordered.
func entries(t *testing.T, tree fake.Tree) []gate.Entry {
	t.Helper()
	var out []gate.Entry
	for _, p := range slices.Sorted(maps.Keys(tree)) {
		e, err := tree.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// laidOut makes a tree of session folders, each with manifest and timeline, and of
// other files.
func laidOut(other map[string]string, sessions ...string) fake.Tree {
	tree := fake.Files(other)
	for _, dir := range sessions {
		tree[dir+"/manifest.json"] = fake.File{Data: "{}"}
		tree[dir+"/timeline.jsonl"] = fake.File{}
	}
	return tree
}

func TestFindRoots(t *testing.T) {
	const wrong = `{"version": 2}`
	for _, tt := range []struct {
		name       string
		head, base fake.Tree
		roots      []string
		wrong      []string
	}{
		{"nothing", laidOut(map[string]string{"README.md": ""}), nil, nil, nil},
		{
			"folders of that name, deep and in each other",
			laidOut(map[string]string{"handoffs/a": "", "x/handoffs/y/handoffs/b": "", "myhandoffs/a": "", "handoffs.md": "", "src/handoffs": "", "handoffsx/a": ""}), nil,
			[]string{"handoffs", "x/handoffs", "x/handoffs/y/handoffs"},
			nil,
		},
		{
			"a link of that name, inside and outside",
			laidOut(map[string]string{"docs/store/a": "", "c/x": ""}).With(map[string]*fake.File{
				"handoffs": {Kind: gate.Symlink, Data: "docs/store"}, "c/handoffs": {Kind: gate.Symlink, Data: "/srv"}, "d/handoffs": {Kind: gate.Symlink, Data: "x"}, "e/store": {Kind: gate.Symlink, Data: "../c"},
			}), nil,
			[]string{"docs/store"},
			nil,
		},
		{
			"of the base alone",
			laidOut(map[string]string{"README.md": ""}), laidOut(map[string]string{"a/handoffs/b": "", "c/handoff.config.json": `{"handoff_dir": "d"}`, "c/d/e": ""}),
			[]string{"a/handoffs", "c/d"},
			nil,
		},
		{
			"declared, the second key where the first declares nothing",
			laidOut(map[string]string{
				"handoff.config.json": `{"storage": {"path": "one"}, "handoff_dir": "two"}`, "one/a": "", "two/a": "",
				"p/handoff.config.json": `{"storage": {"type": "filesystem"}, "handoff_dir": "../q/./three"}`, "q/three/a": "",
				"r/handoff.config.json": `{"handoff_dir": "."}`,
				"s/handoff.config.json": `{"handoff_dir": "gone"}`,
			}), nil,
			[]string{"one", "q/three", "r"},
			nil,
		},
		{
			"declared beside one of that name: both",
			laidOut(map[string]string{"handoff.config.json": `{"handoff_dir": "store"}`, "store/a": "", "handoffs/a": ""}), nil,
			[]string{"handoffs", "store"},
			nil,
		},
		{
			"declared through a link",
			laidOut(map[string]string{"handoff.config.json": `{"handoff_dir": "link/in"}`, "real/in/a": ""}).With(map[string]*fake.File{"link": {Kind: gate.Symlink, Data: "real"}}), nil,
			[]string{"real/in"},
			nil,
		},
		{
			"outside the repository",
			laidOut(map[string]string{"p/handoff.config.json": "{\n \"handoff_dir\": \"../../store\"}", "handoff.config.json": "{\n\n \"storage\": {\"path\": \"/srv\"}}"}), nil,
			nil,
			[]string{"handoff.config.json:3: it declares /srv, which is outside the repository", "p/handoff.config.json:2: it declares ../../store, which is outside the repository"},
		},
		{
			"outside the repository by a link",
			laidOut(map[string]string{"handoff.config.json": `{"handoff_dir": "link"}`}).With(map[string]*fake.File{"link": {Kind: gate.Symlink, Data: "/srv"}}), nil,
			nil,
			[]string{"handoff.config.json:1: it declares link, which is outside the repository"},
		},
		{
			"wrong, and ours because it declares",
			laidOut(map[string]string{"handoff.config.json": "{\"handoff_dir\": \"d\",\n\"colour\": 1}", "d/a": ""}), nil,
			[]string{"d"},
			[]string{"handoff.config.json:2: colour is no key that is known"},
		},
		{
			"wrong, and ours by a session beside it",
			laidOut(map[string]string{"a/handoff.config.json": wrong, "b/handoff.config.json": wrong, "b/handoffs/x/manifest.json": ""}, "a/handoffs/projects/p/s"), nil,
			[]string{"a/handoffs", "b/handoffs"},
			[]string{"a/handoff.config.json:1: version must be the integer 1"},
		},
		{
			"wrong, and ours by a session that the base has beside it",
			laidOut(map[string]string{"handoff.config.json": "{"}), laidOut(nil, "handoffs/legacy"),
			[]string{"handoffs"},
			[]string{"handoff.config.json:1: it is not JSON: it ends too early"},
		},
		{"wrong, and somebody else's", laidOut(map[string]string{"handoff.config.json": wrong, "x/handoff.config.json": "{"}), nil, nil, nil},
		{
			"no file, and ours by a session beside it",
			laidOut(nil, "handoffs/s").With(map[string]*fake.File{"handoff.config.json": {Kind: gate.Symlink, Data: "x"}}), nil,
			[]string{"handoffs"},
			[]string{"handoff.config.json:1: it cannot be read: it is a symbolic link"},
		},
		{
			"wrong now, while the base's root is still there",
			laidOut(map[string]string{"handoff.config.json": `{"handoff_dir": ""}`, "store/a": ""}), laidOut(map[string]string{"handoff.config.json": `{"handoff_dir": "store"}`, "store/a": ""}),
			[]string{"store"},
			[]string{"handoff.config.json:1: handoff_dir must be a string of at least 1 character"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var r Roots
			if tt.base == nil {
				r = FindRoots(tt.head, nil, entries(t, tt.head), nil)
			} else {
				r = FindRoots(tt.head, tt.base, entries(t, tt.head), entries(t, tt.base))
			}
			var wrong []string
			for _, w := range r.Wrong {
				wrong = append(wrong, fmt.Sprintf("%s:%d: %s", w.Path, w.Problems[0].Line, w.Problems[0].Message))
			}
			if !slices.Equal(r.Paths, tt.roots) || !slices.Equal(wrong, tt.wrong) || r.BaseErr != nil {
				t.Errorf("roots %q, wrong %q, %v; want %q, %q", r.Paths, wrong, r.BaseErr, tt.roots, tt.wrong)
			}
		})
	}
	head := laidOut(map[string]string{"README.md": ""})
	base := fake.Tree{"handoff.config.json": {Lost: errors.New("this clone lacks the object")}}
	if r := FindRoots(head, base, entries(t, head), entries(t, base)); r.BaseErr == nil {
		t.Error("a configuration of the base that cannot be read is passed over")
	}
}

// Other projects use these names, too. A folder is a session only if in one of the
// states a timeline or a payload stands beside its manifest.
func TestCount(t *testing.T) {
	tree := laidOut(map[string]string{
		"handoffs/projects/p/other/manifest.json":     "{}",
		"handoffs/projects/p/other/HANDOFF.md":        "",
		"handoffs/projects/p/payload/manifest.json":   "{}",
		"handoffs/projects/p/payload/" + PayloadName:  "{}",
		"handoffs/projects/p/headless/" + PayloadName: "{}",
		"handoffs/plugin/manifest.json":               "{}",
	}, "handoffs/projects/p/session").With(map[string]*fake.File{"handoffs/link": {Kind: gate.Symlink}})
	paths := func(places []Place) []string {
		var out []string
		for _, p := range places {
			out = append(out, p.Path)
		}
		return out
	}
	now, base := Find(tree, "handoffs"), Store{}
	Count(&now, &base)
	if got, want := paths(now.Sessions), []string{"handoffs/projects/p/payload", "handoffs/projects/p/session"}; !slices.Equal(got, want) {
		t.Errorf("sessions %q, want %q", got, want)
	}
	if len(now.Headless) > 0 || len(now.Links) != 1 {
		t.Errorf("headless %q, links %q", paths(now.Headless), now.Links)
	}

	// What the base has counts, and what the base lacks counts there.
	stripped := tree.With(map[string]*fake.File{"handoffs/projects/p/session/timeline.jsonl": nil, "handoffs/projects/p/payload/manifest.json": nil})
	now, base = Find(stripped, "handoffs"), Find(tree, "handoffs")
	Count(&now, &base)
	if got, want := paths(now.Sessions), []string{"handoffs/projects/p/session"}; !slices.Equal(got, want) {
		t.Errorf("sessions now %q, want %q", got, want)
	}
	if got, want := paths(now.Headless), []string{"handoffs/projects/p/payload"}; !slices.Equal(got, want) {
		t.Errorf("headless now %q, want %q", got, want)
	}

	// Without a session a link is somebody else's.
	now, base = Find(fake.Tree{"handoffs/link": {Kind: gate.Symlink}, "handoffs/p/manifest.json": {}}, "handoffs"), Store{}
	Count(&now, &base)
	if len(now.Sessions)+len(now.Links) > 0 {
		t.Errorf("%q, %q", paths(now.Sessions), now.Links)
	}
}
