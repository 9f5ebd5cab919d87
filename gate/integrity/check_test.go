package integrity_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/integrity"
	"github.com/handoff-gate/handoff-gate/gate/internal/fake"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/snapshot"
)

// named is a tree under the name by which messages call it.
type named struct {
	gate.Tree
	name string
}

func (n named) Name() string { return n.name }

const folder = ".ai/handoff/"

// sum is the checksum that a manifest records, made apart from the code under
// test.
func sum(data string) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(strings.ReplaceAll(data, "\r", ""))))
}

// handoff is a sound handoff set of two files. Its manifest has the entry of
// LOG.md on line 4 and that of STATUS.md on line 5.
func handoff() fake.Tree {
	return indexed(fake.Files(map[string]string{
		folder + "STATUS.md": "# Status\n\nAll is well.\n",
		folder + "LOG.md":    "# Log\n",
	}))
}

// indexed adds the manifest of the regular files that stand directly in the
// handoff folder.
func indexed(t fake.Tree) fake.Tree {
	var entries []string
	for p, f := range t {
		name := strings.TrimPrefix(p, folder)
		if name != p && name != "MANIFEST.json" && f.Kind == 0 {
			key, _ := json.Marshal(name)
			entries = append(entries, fmt.Sprintf(`    %s: {"checksum": %q}`, key, sum(f.Data)))
		}
	}
	slices.Sort(entries)
	text := "{\n  \"aahp_version\": \"3.0\",\n  \"files\": {\n" + strings.Join(entries, ",\n") + "\n  },\n" +
		"  \"last_session\": {}, \"project\": \"x\", \"quick_context\": \"x\"\n}\n"
	return t.With(map[string]*fake.File{folder + "MANIFEST.json": {Data: text}})
}

// edited gives the tree with a text of its manifest replaced.
func edited(t *testing.T, tree fake.Tree, from, to string) fake.Tree {
	t.Helper()
	data := tree[folder+"MANIFEST.json"].Data
	if strings.Count(data, from) != 1 {
		t.Fatalf("the manifest holds %q %d times", from, strings.Count(data, from))
	}
	return tree.With(map[string]*fake.File{folder + "MANIFEST.json": {Data: strings.Replace(data, from, to, 1)}})
}

func set(t *testing.T, tree gate.Tree) *snapshot.Set {
	t.Helper()
	s, err := snapshot.Read(context.Background(), tree, ".", snapshot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// judged is the layer without content checks.
func judged(in integrity.Input) report.Layer {
	return integrity.Judge(in).Layer(nil, "content was not checked")
}

func check(t *testing.T, trees ...fake.Tree) report.Layer {
	t.Helper()
	names := []string{gate.WorkingTree}
	if len(trees) == 2 {
		names = []string{gate.HeadTree, gate.WorkingTree}
	}
	in := integrity.Input{Project: ".", Commands: gate.Commands{Regen: "regen", Again: "again"}, Compare: len(trees) == 2}
	for i, tree := range trees {
		in.Sets = append(in.Sets, set(t, named{tree, names[i]}))
	}
	return judged(in)
}

// places lists findings as "RULE PATH:LINE", without the group of the rule.
func places(l report.Layer) []string {
	out := []string{}
	for _, f := range l.Findings {
		s := strings.TrimPrefix(f.Rule, "integrity/") + " " + strings.TrimPrefix(f.Path, folder)
		if f.Line > 0 {
			s += fmt.Sprintf(":%d", f.Line)
		}
		out = append(out, s)
	}
	return out
}

func TestOneSnapshot(t *testing.T) {
	file := func(f fake.File) func(*testing.T, fake.Tree) fake.Tree {
		return func(_ *testing.T, tree fake.Tree) fake.Tree {
			return tree.With(map[string]*fake.File{folder + "LOG.md": &f})
		}
	}
	with := func(path string, f *fake.File) func(*testing.T, fake.Tree) fake.Tree {
		return func(_ *testing.T, tree fake.Tree) fake.Tree { return tree.With(map[string]*fake.File{path: f}) }
	}
	edit := func(from, to string) func(*testing.T, fake.Tree) fake.Tree {
		return func(t *testing.T, tree fake.Tree) fake.Tree { return edited(t, tree, from, to) }
	}
	none := []string{}
	for _, c := range []struct {
		name   string
		change func(*testing.T, fake.Tree) fake.Tree
		want   []string
	}{
		{"a sound set", func(_ *testing.T, tree fake.Tree) fake.Tree { return tree }, none},
		{"a CR does not count, wherever it stands", file(fake.File{Data: "\r# L\rog\r\n"}), none},
		{"other content", file(fake.File{Data: "# Log \n"}), []string{"checksum-mismatch LOG.md:1"}},
		{"no content", file(fake.File{}), []string{"checksum-mismatch LOG.md:1"}},
		{"an indexed file is gone", with(folder+"LOG.md", nil), []string{"missing-file MANIFEST.json:4"}},
		{"an indexed name is a folder", func(_ *testing.T, tree fake.Tree) fake.Tree {
			return tree.With(map[string]*fake.File{folder + "LOG.md": nil, folder + "LOG.md/x": {Data: "# Log\n"}})
		}, []string{"missing-file MANIFEST.json:4"}},
		{"a link with the right bytes", file(fake.File{Data: "# Log\n", Kind: gate.Symlink}), []string{"not-regular LOG.md"}},
		{"a submodule", file(fake.File{Kind: gate.Gitlink}), []string{"not-regular LOG.md"}},
		{"a special file", file(fake.File{Kind: gate.Special}), []string{"not-regular LOG.md"}},
		{"an unmerged file", file(fake.File{Data: "# Log\n", Kind: gate.Unmerged}), []string{"not-regular LOG.md"}},
		{"a file that cannot be read", file(fake.File{Data: "# Log\n", Lost: fmt.Errorf("gone")}), []string{"unverifiable LOG.md"}},
		{"a canonical file that is not indexed", with(folder+"TRUST.md", &fake.File{Data: "x"}), []string{"unindexed TRUST.md:1"}},
		{"a canonical name in another form", with(folder+"TRUST.md", &fake.File{Kind: gate.Symlink}), []string{"unindexed TRUST.md:1"}},
		{"any other file", with(folder+"notes.md", &fake.File{Data: "x"}), none},
		{"a canonical name below the folder is another file", with(folder+"old/TRUST.md", &fake.File{Data: "x"}), none},
		{"a checksum in upper case", edit(sum("# Log\n"), strings.ToUpper(sum("# Log\n"))), []string{"checksum-malformed MANIFEST.json:4"}},
		{"a checksum of nothing", edit(sum("# Log\n"), "sha256:"), []string{"checksum-malformed MANIFEST.json:4"}},
		{"a placeholder", edit(sum("# Log\n"), "sha256:<hash>"), []string{"checksum-malformed MANIFEST.json:4"}},
		{"a CR behind a checksum", edit(sum("# Log\n"), sum("# Log\n")+`\r`), none},
		{"two CR behind a checksum", edit(sum("# Log\n"), sum("# Log\n")+`\r\r`), []string{"checksum-malformed MANIFEST.json:4"}},
		{"no checksum", edit(`"checksum": "`+sum("# Log\n"), `"lines": "`), []string{"checksum-malformed MANIFEST.json:4"}},
		{"an entry that is no object", edit(`"LOG.md": {"checksum": "`+sum("# Log\n")+`"}`, `"LOG.md": "`+sum("# Log\n")+`"`), []string{"checksum-malformed MANIFEST.json:4"}},
		{"names that leave the folder", edit(`"LOG.md": {`, `"../x": {}, "/x": {}, "a\\b": {}, "c:x": {}, "a//b": {}, ".": {}, "": {}, "a\u0000b": {}, "LOG.md": {`), []string{
			"index-path-invalid MANIFEST.json:4", "index-path-invalid MANIFEST.json:4", "index-path-invalid MANIFEST.json:4", "index-path-invalid MANIFEST.json:4",
			"index-path-invalid MANIFEST.json:4", "index-path-invalid MANIFEST.json:4", "index-path-invalid MANIFEST.json:4", "index-path-invalid MANIFEST.json:4",
		}},
		{"two names that differ in case", func(_ *testing.T, tree fake.Tree) fake.Tree {
			return indexed(tree.With(map[string]*fake.File{folder + "status.md": {Data: "x"}}))
		}, []string{"case-collision MANIFEST.json:6"}},
		{"no manifest", with(folder+"MANIFEST.json", nil), []string{"manifest-missing MANIFEST.json"}},
		{"a manifest in other letters", func(_ *testing.T, tree fake.Tree) fake.Tree {
			m := tree[folder+"MANIFEST.json"]
			return tree.With(map[string]*fake.File{folder + "MANIFEST.json": nil, folder + "manifest.json": &m})
		}, []string{"manifest-missing MANIFEST.json"}},
		{"a link to a manifest", with(folder+"MANIFEST.json", &fake.File{Kind: gate.Symlink}), []string{"not-regular MANIFEST.json"}},
		{"a manifest that cannot be read", with(folder+"MANIFEST.json", &fake.File{Data: "{}", Lost: fmt.Errorf("gone")}), []string{"unverifiable MANIFEST.json"}},
		{"a manifest that is no JSON", edit(`"project"`, `"project`), []string{"manifest-invalid MANIFEST.json:7"}},
		{"a manifest with equal keys", edit(`"project"`, `"files": {}, "project"`), []string{"manifest-invalid MANIFEST.json:7"}},
		{"a manifest that is no object", with(folder+"MANIFEST.json", &fake.File{Data: "[]"}), []string{"manifest-invalid MANIFEST.json:1"}},
		{"an empty manifest", with(folder+"MANIFEST.json", &fake.File{}), []string{"manifest-invalid MANIFEST.json:1"}},
		{"an index that is null", with(folder+"MANIFEST.json", &fake.File{Data: "{\n\"files\": null}"}), []string{"index-empty MANIFEST.json:2"}},
		{"an index that is a list", with(folder+"MANIFEST.json", &fake.File{Data: "{\n\"files\": [1]}"}), []string{"index-empty MANIFEST.json:2"}},
		{"no index", with(folder+"MANIFEST.json", &fake.File{Data: "{}"}), []string{"index-empty MANIFEST.json:1"}},
		{"required keys are absent", edit(`"last_session": {}, "project": "x", `, ""), []string{"manifest-incomplete MANIFEST.json:1"}},
		{"an indexed name below a link", func(t *testing.T, tree fake.Tree) fake.Tree {
			return edit(`"files": {`, `"files": {"parts/a.md": {}, "parts/b.md": {},`)(t, with(folder+"parts", &fake.File{Kind: gate.Symlink})(t, tree))
		}, []string{"missing-file MANIFEST.json:3", "missing-file MANIFEST.json:3", "handoff-dir-not-real parts"}},
		{"an indexed name below a file", edit(`"files": {`, `"files": {"STATUS.md/a.md": {},`), []string{"missing-file MANIFEST.json:3", "handoff-dir-not-real STATUS.md"}},
		{"the handoff folder is a link", func(*testing.T, fake.Tree) fake.Tree {
			return fake.Tree{".ai/handoff": {Kind: gate.Symlink}}
		}, []string{"handoff-dir-not-real .ai/handoff"}},
		{"the folder above it is a submodule", func(*testing.T, fake.Tree) fake.Tree {
			return fake.Tree{".ai": {Kind: gate.Gitlink}}
		}, []string{"handoff-dir-not-real .ai/handoff"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			layer := check(t, c.change(t, handoff()))
			if got := places(layer); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if ok := layer.Status == report.OK; ok != (len(c.want) == 0) {
				t.Errorf("status %s", layer.Status)
			}
		})
	}
}

// Each of the eleven canonical names is one, and no twelfth.
func TestCanonicalNames(t *testing.T) {
	names := []string{
		"STATUS.md", "NEXT_ACTIONS.md", "LOG.md", "LOG-ARCHIVE.md", "LOG-ARCHIVE.index.json", "DASHBOARD.md", "TRUST.md",
		"CONVENTIONS.md", "WORKFLOW.md", "GROUNDING.md", "pii-allowlist.json",
	}
	for _, name := range append(names, "MANIFEST.json", "HANDOFF.lock", "README.md", "trust.md") {
		tree := handoff()
		if name == "MANIFEST.json" || name == "STATUS.md" || name == "LOG.md" {
			continue // in the set already
		}
		got := places(check(t, tree.With(map[string]*fake.File{folder + name: {Data: "x"}})))
		if want := slices.Contains(names, name); (len(got) == 1) != want {
			t.Errorf("%s beside the manifest gives %q", name, got)
		}
	}
}

// The same fault in two snapshots is one finding that names both; a fault of one
// names that one. Only where both hold are they compared.
func TestTwoSnapshots(t *testing.T) {
	sound := handoff()
	bad := sound.With(map[string]*fake.File{folder + "LOG.md": {Data: "other"}})
	changed := indexed(bad)
	for _, c := range []struct {
		name             string
		commit, checkout fake.Tree
		want             []string
		where            string // end of the first message
	}{
		{"both sound", sound, sound, []string{}, ""},
		{"line ends", sound, sound.With(map[string]*fake.File{folder + "LOG.md": {Data: "# Log\r\n"}}), []string{}, ""},
		{"the commit is bad", bad, sound, []string{"checksum-mismatch LOG.md:1"}, "(in the head tree)"},
		{"the checkout is bad", sound, bad, []string{"checksum-mismatch LOG.md:1"}, "(in the working tree)"},
		{"both are bad", bad, bad, []string{"checksum-mismatch LOG.md:1"}, "(in the head tree and the working tree)"},
		{"both sound and different", sound, changed, []string{"uncommitted-handoff LOG.md"}, "the commit was judged"},
		{
			"a file of the checkout alone", sound, indexed(sound.With(map[string]*fake.File{folder + "TRUST.md": {Data: "x"}})),
			[]string{"uncommitted-handoff TRUST.md"},
			"the commit was judged",
		},
		{
			"a file of the commit alone", indexed(sound.With(map[string]*fake.File{folder + "TRUST.md": {Data: "x"}})), sound,
			[]string{"uncommitted-handoff TRUST.md"},
			"the commit was judged",
		},
		{
			"a file that a sparse checkout leaves out", sound, sound.With(map[string]*fake.File{folder + "LOG.md": nil}),
			[]string{"missing-file MANIFEST.json:4"},
			"add the pattern /.ai/handoff/LOG.md (in the working tree)",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			layer := check(t, c.commit, c.checkout)
			if got := places(layer); !slices.Equal(got, c.want) {
				t.Fatalf("got %q, want %q", got, c.want)
			}
			if len(c.want) > 0 && !strings.HasSuffix(layer.Findings[0].Message, c.where) {
				t.Errorf("the message %q does not end in %q", layer.Findings[0].Message, c.where)
			}
		})
	}
}

func TestSummaryCountsFilesAndNamesSnapshots(t *testing.T) {
	bad := handoff().With(map[string]*fake.File{folder + "LOG.md": {Data: "other"}, folder + "TRUST.md": {Data: "x"}})
	if got, want := check(t, bad).Summary, "2 indexed, 1 verified, 2 failed; read from the working tree; content was not checked"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := check(t, handoff(), bad).Summary, "2 indexed, 2 verified, 2 failed; read from the head tree and the working tree; content was not checked"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What is reported as not regular or unverifiable needs no word from the content
// checks.
func TestUnread(t *testing.T) {
	tree := handoff().With(map[string]*fake.File{folder + "LOG.md": {Kind: gate.Symlink}, folder + "notes.md": {Kind: gate.Symlink}})
	j := integrity.Judge(integrity.Input{Project: ".", Sets: []*snapshot.Set{set(t, named{tree, gate.WorkingTree})}})
	if got := j.Unread(0); !got["LOG.md"] || got["notes.md"] || len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

func TestProjectInAFolder(t *testing.T) {
	tree := fake.Tree{}
	for p, f := range handoff() {
		tree["packages/api/"+p] = f
	}
	tree["packages/api/"+folder+"LOG.md"] = fake.File{Data: "other"}
	s, err := snapshot.Read(context.Background(), tree, "packages/api", snapshot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	layer := judged(integrity.Input{Project: "packages/api", Sets: []*snapshot.Set{s}})
	if len(layer.Findings) != 1 || layer.Findings[0].Path != "packages/api/.ai/handoff/LOG.md" {
		t.Errorf("got %+v", layer.Findings)
	}
}

// A manifest that is accepted is one that every reader reads in one way: strict
// JSON in which encoding/json finds the same names.
func FuzzParseManifest(f *testing.F) {
	for _, s := range []string{
		handoff()[folder+"MANIFEST.json"].Data, `{}`, `[]`, ``, `{"files": {}, "files": {}}`, `{"files": {"a": 1, "\u0061": 2}}`,
		"\xef\xbb\xbf{}", `{"a": "\ud800"}`, `{"a": 1,}`, `{"a": NaN}`, "{\"a\": \"\xff\"}", strings.Repeat("[", 100), `{"files": {"x": {"checksum": "sha256:0"}}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		doc, bad := integrity.ParseManifest([]byte(s))
		if bad != nil {
			if doc != nil || bad.Message == "" || bad.Span.Line < 1 || bad.Span.Line > strings.Count(s, "\n")+1 {
				t.Errorf("%q is refused with %+v", s, bad)
			}
			return
		}
		var other map[string]json.RawMessage
		if err := json.Unmarshal([]byte(s), &other); err != nil {
			t.Fatalf("%q is accepted, encoding/json says %v", s, err)
		}
		if len(other) != len(doc.Root.Members) {
			t.Errorf("%q has %d members for one reader and %d for another", s, len(doc.Root.Members), len(other))
		}
		for _, m := range doc.Root.Members {
			if _, ok := other[m.Key]; !ok {
				t.Errorf("%q: only one reader finds the member %q", s, m.Key)
			}
		}
	})
}

// An index within its limit has room for a million entries of files that are
// not there. The layer lists some, counts what both trees share once, and says
// how many are left out.
func TestAnIndexOfNothingButHolesIsBounded(t *testing.T) {
	const extra = 7
	var entries strings.Builder
	for i := range report.MaxOfRule + extra {
		fmt.Fprintf(&entries, "    \"f%d\": {},\n", i)
	}
	tree := edited(t, handoff(), "\"files\": {\n", "\"files\": {\n"+entries.String())
	l := check(t, tree, tree)
	missing, last := 0, report.Finding{}
	for _, f := range l.Findings {
		if f.Rule == integrity.MissingFile.ID {
			missing++
			if strings.Contains(f.Message, " more findings ") {
				last = f
			}
		}
	}
	if missing != report.MaxOfRule || !strings.HasPrefix(last.Message, fmt.Sprintf("%d more ", extra+1)) || !strings.Contains(last.Remedy, "\nfix: ") {
		t.Errorf("%d findings, the last is %+v", missing, last)
	}
	if want := fmt.Sprintf("%d failed", report.MaxOfRule+extra); !strings.Contains(l.Summary, want) {
		t.Errorf("summary %q, want %q", l.Summary, want)
	}
}
