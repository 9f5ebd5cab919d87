package install

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/fake"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

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
