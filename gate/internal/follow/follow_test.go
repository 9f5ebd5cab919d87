package follow

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/fake"
)

func link(target string) fake.File { return fake.File{Kind: gate.Symlink, Data: target} }

func TestFolder(t *testing.T) {
	for _, tt := range []struct {
		name string
		tree fake.Tree
		want string // "PATH", "PATH by LINK", "LINK leads outside" or "nothing"
	}{
		{"a folder", fake.Tree{"p/skills/agents-handoff/x": {}}, "p/skills/agents-handoff"},
		{"nothing", fake.Tree{"p/x": {}}, "nothing"},
		{"a file", fake.Tree{"p/skills/agents-handoff": {}}, "nothing"},
		{"a file on the way", fake.Tree{"p/skills": {}}, "nothing"},
		{"a submodule", fake.Tree{"p/skills/agents-handoff": {Kind: gate.Gitlink}}, "nothing"},
		{"a link beside", fake.Tree{"p/skills/agents-handoff": link("real"), "p/skills/real/x": {}}, "p/skills/real by p/skills/agents-handoff"},
		{"a link above", fake.Tree{"p/skills": link("other/./deep/.."), "p/other/deep/x": {}, "p/other/agents-handoff/x": {}}, "p/other/agents-handoff by p/skills"},
		{"a link to a link", fake.Tree{"p/skills": link("a"), "p/a": link("b/"), "p/b/agents-handoff/x": {}}, "p/b/agents-handoff by p/skills"},
		{"a link to its own folder", fake.Tree{"p/skills/agents-handoff": link("."), "p/skills/x": {}}, "p/skills by p/skills/agents-handoff"},
		{"a link to the folder that is searched", fake.Tree{"p/skills/agents-handoff": link(".."), "p/x": {}}, "p by p/skills/agents-handoff"},
		{"a link to a file", fake.Tree{"p/skills/agents-handoff": link("real"), "p/skills/real": {}}, "nothing"},
		{"a link to nothing inside", fake.Tree{"p/skills/agents-handoff": link("real")}, "nothing"},
		{"a link out and in again", fake.Tree{"p/skills/agents-handoff": link("../../p/real"), "p/real/x": {}}, "p/real by p/skills/agents-handoff"},
		{"a link out", fake.Tree{"p/skills/agents-handoff": link("../../q"), "q/x": {}}, "p/skills/agents-handoff leads outside"},
		{"a link to a folder whose name only begins alike", fake.Tree{"p/skills/agents-handoff": link("../../p2"), "p2/x": {}}, "p/skills/agents-handoff leads outside"},
		{"a link out of the tree", fake.Tree{"p/skills/agents-handoff": link("../../../q")}, "p/skills/agents-handoff leads outside"},
		{"an absolute link", fake.Tree{"p/skills": link("/p/skills")}, "p/skills leads outside"},
		{"a link to itself", fake.Tree{"p/skills": link("skills")}, "p/skills leads outside"},
		{"a link that grows", fake.Tree{"p/skills": link("skills/x")}, "p/skills leads outside"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			place, err := Folder(tt.tree, "p", "p", "skills/agents-handoff")
			got := place.Path
			switch {
			case errors.Is(err, fs.ErrNotExist):
				got = "nothing"
			case err != nil:
				t.Fatal(err)
			case place.Outside:
				got = place.Link + " leads outside"
			case place.Link != "":
				got += " by " + place.Link
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	broken := fake.Tree{"p/skills": {Kind: gate.Symlink, Lost: errors.New("this clone lacks the object")}}
	if _, err := Folder(broken, "p", "p", "skills/agents-handoff"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a link that cannot be read: %v", err)
	}
}

// What a configuration declares is any text.
func TestAnyPath(t *testing.T) {
	tree := fake.Tree{"a/b/x": {}, "a/up": link("..")}
	for rel, want := range map[string]string{
		".": "a", "": "a", "b": "a/b", "./b/": "a/b", "b/..": "a", "..": ".", "../a//b/.": "a/b", "up/a/b": "a/b", "up": ".",
	} {
		if place, err := Folder(tree, ".", "a", rel); err != nil || place.Outside || place.Path != want {
			t.Errorf("%q leads to %+v, %v; want %s", rel, place, err, want)
		}
	}
	for _, rel := range []string{"../..", "/a", "/", "up/..", "b/../../.."} {
		if place, err := Folder(tree, ".", "a", rel); err != nil || !place.Outside {
			t.Errorf("%q leads to %+v, %v", rel, place, err)
		}
	}
	for _, rel := range []string{"c", "b/x", "b/x/y", "../c"} {
		if _, err := Folder(tree, ".", "a", rel); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", rel, err)
		}
	}
}
