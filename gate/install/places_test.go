package install

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/fake"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

func link(target string) fake.File { return fake.File{Kind: gate.Symlink, Data: target} }

func TestLocate(t *testing.T) {
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
			place, err := Locate(tt.tree, "p", "p", "skills/agents-handoff")
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
	if _, err := Locate(broken, "p", "p", "skills/agents-handoff"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a link that cannot be read: %v", err)
	}
}

func searched(t *testing.T, files, base fake.Tree) []string {
	t.Helper()
	in := Input{Files: files, Root: ".", Dir: "."}
	if base != nil {
		in.Base = base
	}
	found, err := Search(&in, ".")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range found {
		one := in
		one.Dir = f.Path
		l := f.Judge(one)
		out = append(out, strings.TrimRight(fmt.Sprintf("%s: %s", f.Path, strings.Join(brief(l), ", ")), ": "))
	}
	return out
}

func TestSearch(t *testing.T) {
	copyAt := func(dirs ...string) fake.Tree {
		tree := fake.Tree{"README.md": {}}
		for _, d := range dirs {
			tree[d+"/SKILL.md"] = fake.File{Data: skill}
			tree[d+"/"+RecordName] = fake.File{Data: recordOf(pairs{{"SKILL.md", sum(skill)}})}
		}
		return tree
	}
	both := copyAt("skills/agents-handoff", ".claude/skills/agent-handoff")
	for _, tt := range []struct {
		name        string
		files, base fake.Tree
		want        []string
	}{
		{"nothing", copyAt(), nil, nil},
		{"elsewhere", copyAt("vendor/agents-handoff", "skills/other", "agents-handoff"), nil, nil},
		{"in order", both, nil, []string{".claude/skills/agent-handoff", "skills/agents-handoff"}},
		{
			"twice by a link", both.With(map[string]*fake.File{".codex": {Kind: gate.Symlink, Data: ".claude"}, "local": {Kind: gate.Symlink, Data: "."}}), nil,
			[]string{".claude/skills/agent-handoff", "skills/agents-handoff"},
		},
		{
			"a link that leads outside", both.With(map[string]*fake.File{".agents/skills/agents-handoff": {Kind: gate.Symlink, Data: "/opt/agents-handoff"}}), nil,
			[]string{".claude/skills/agent-handoff", ".agents/skills/agents-handoff: symlink .agents/skills/agents-handoff:1", "skills/agents-handoff"},
		},
		{"unchanged since the base", both, both, []string{".claude/skills/agent-handoff", "skills/agents-handoff"}},
		{"new since the base", both, copyAt(), []string{".claude/skills/agent-handoff", "skills/agents-handoff"}},
		{
			"removed since the base", copyAt("skills/agents-handoff"), both,
			[]string{".claude/skills/agent-handoff: record-missing .claude/skills/agent-handoff/.agents-handoff-install.json:1", "skills/agents-handoff"},
		},
		{
			"its record removed since the base", both.With(map[string]*fake.File{"skills/agents-handoff/" + RecordName: nil}), both,
			[]string{".claude/skills/agent-handoff", "skills/agents-handoff: record-missing skills/agents-handoff/.agents-handoff-install.json:1"},
		},
		{"no record in the base", copyAt(), copyAt("skills/agents-handoff").With(map[string]*fake.File{"skills/agents-handoff/" + RecordName: nil}), nil},
		{
			"a link of the base removed with its copy", copyAt(), copyAt("opt/copy").With(map[string]*fake.File{"skills/agents-handoff": {Kind: gate.Symlink, Data: "../opt/copy"}}),
			[]string{"opt/copy: record-missing opt/copy/.agents-handoff-install.json:1"},
		},
		{"a link of the base removed alone", copyAt("opt/copy"), copyAt("opt/copy").With(map[string]*fake.File{"skills/agents-handoff": {Kind: gate.Symlink, Data: "../opt/copy"}}), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := searched(t, tt.files, tt.base); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}

	unreadable := fake.Tree{"skills": {Err: errors.New("this clone lacks the tree")}}
	in := Input{Files: copyAt(), Root: ".", Dir: ".", Base: unreadable}
	if found, err := Search(&in, "."); err != nil || len(found) != 0 || in.BaseErr == nil {
		t.Errorf("a base that cannot be read: %v, %v, %v", found, err, in.BaseErr)
	}
	expect(t, None(in), "base-unavailable .:0")
	if l := None(Input{Root: ".", Dir: "."}); l.Status != report.Skip {
		t.Errorf("nothing found: %s", l.Status)
	}
	in = Input{Files: unreadable, Root: ".", Dir: "."}
	if _, err := Search(&in, "."); err == nil {
		t.Error("a tree that cannot be read is searched")
	}
}
