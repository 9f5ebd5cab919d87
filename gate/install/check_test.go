package install

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/fake"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

const skill = "---\nname: agents-handoff\nversion: 2.0.5\n---\n"

func sum(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }

// pairs are listed paths and what stands beside them, in any order.
type pairs [][2]string

// files is `files` of a record, each path spelled as a JSON string.
func (p pairs) files() string {
	var members []string
	for _, kv := range p {
		members = append(members, string(ecma.AppendString(nil, kv[0]))+": "+string(ecma.AppendString(nil, kv[1])))
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// recordOf makes a record of one line a field that agrees with itself.
func recordOf(p pairs) string {
	hashed := 0
	var list []entry
	for _, kv := range p {
		list = append(list, entry{path: kv[0], hash: kv[1]})
		if kv[1] != missing {
			hashed++
		}
	}
	return `{
"schema_version": "1.0-install-provenance",
"product": "agents-handoff",
"version": "2.0.5",
"source": {"kind": "archive", "ref": "refs/tags/v2.0.5"},
"file_count": ` + fmt.Sprint(hashed) + `,
"files_sha256": "` + setHash(list) + `",
"files": ` + p.files() + "\n}\n"
}

// installed is a copy in the folder skill of a tree.
func installed(record string, files map[string]string) fake.Tree {
	t := fake.Files(map[string]string{"skill/" + RecordName: record})
	for name, data := range files {
		t["skill/"+name] = fake.File{Data: data}
	}
	return t
}

func check(t gate.Tree) report.Layer {
	return Check(Input{Files: t, Root: ".", Dir: "skill", Again: "again"})
}

// brief lists findings as "rule path:line".
func brief(l report.Layer) []string {
	var out []string
	for _, f := range l.Findings {
		name := strings.TrimPrefix(f.Rule, "install/")
		if f.Severity != report.Error {
			name = string(f.Severity) + " " + name
		}
		out = append(out, fmt.Sprintf("%s %s:%d", name, f.Path, f.Line))
	}
	return out
}

func expect(t *testing.T, l report.Layer, want ...string) {
	t.Helper()
	if got := brief(l); !slices.Equal(got, want) {
		t.Errorf("findings %q, want %q", got, want)
		for _, f := range l.Findings {
			t.Log(f.Message)
		}
	}
}

// The example of sessions.md 9.2.
func TestSpecificationExample(t *testing.T) {
	const engine = "// engine\n"
	record := recordOf(pairs{{"tools/handoff.mjs", sum(engine)}, {"docs/OLD.md", missing}, {"SKILL.md", sum(skill)}})
	if want := `"files_sha256": "2745cd53518c35d96a74c21b2e39e0af50fe779e4a8cc5ed2873f06d371fef67"`; !strings.Contains(record, want) {
		t.Errorf("the set hash is another one:\n%s", record)
	}
	l := check(installed(record, map[string]string{"SKILL.md": skill, "tools/handoff.mjs": engine}))
	expect(t, l)
	if l.Summary != "2 files match the install record" || l.Status != report.OK {
		t.Errorf("%s: %s", l.Status, l.Summary)
	}
}

// Paths are sorted as ECMAScript does: U+1F600 comes before U+E000, though its
// bytes are greater. A surrogate that stands alone is written as U+FFFD, and so
// is the file called.
func TestSetHashOrder(t *testing.T) {
	const lone = "\xed\xa0\xbd"
	list := []entry{{path: "\ue000", hash: "3"}, {path: "a", hash: "1"}, {path: "\U0001f600", hash: "2"}}
	if got, want := setHash(list), sum("a\x001\n\U0001f600\x002\n\ue000\x003"); got != want {
		t.Errorf("order: %s, want %s", got, want)
	}
	if got, want := setHash([]entry{{path: lone, hash: "1"}}), sum("\ufffd\x001"); got != want {
		t.Errorf("a lone surrogate: %s, want %s", got, want)
	}
	record := strings.Replace(recordOf(pairs{{"SKILL.md", sum(skill)}, {"x\ufffd", sum("x")}}), "x\ufffd", `x\ud83d`, 1)
	tree := installed(record, map[string]string{"SKILL.md": skill, "x\ufffd": "x"})
	expect(t, check(tree))
}

func TestFiles(t *testing.T) {
	honest := pairs{{"SKILL.md", sum(skill)}, {"a/b", sum("b")}, {"old", missing}}
	base := installed(recordOf(honest), map[string]string{"SKILL.md": skill, "a/b": "b"})
	for _, tt := range []struct {
		name    string
		changes map[string]*fake.File
		want    []string
	}{
		{"honest", nil, nil},
		{"another file beside them", map[string]*fake.File{"skill/mine": {Data: "x"}}, nil},
		{"changed", map[string]*fake.File{"skill/a/b": {Data: "B"}}, []string{"file-changed skill/a/b:1"}},
		{"executable now", map[string]*fake.File{"skill/a/b": {Data: "b", Exec: true}}, nil},
		{"gone", map[string]*fake.File{"skill/a/b": nil}, []string{"file-missing skill/a/b:1"}},
		{"a file in place of its folder", map[string]*fake.File{"skill/a/b": nil, "skill/a": {Data: "x"}}, []string{"file-missing skill/a/b:1"}},
		{"a folder in its place", map[string]*fake.File{"skill/a/b": nil, "skill/a/b/c": {}}, []string{"file-changed skill/a/b:1"}},
		{"a submodule in its place", map[string]*fake.File{"skill/a/b": {Kind: gate.Gitlink}}, []string{"file-changed skill/a/b:1"}},
		{"a FIFO in its place", map[string]*fake.File{"skill/a/b": {Kind: gate.Special}}, []string{"file-changed skill/a/b:1"}},
		{"a link in its place", map[string]*fake.File{"skill/a/b": {Kind: gate.Symlink, Data: "../c"}, "skill/c": {Data: "b"}}, []string{"symlink skill/a/b:1"}},
		{"a link on the way", map[string]*fake.File{"skill/a/b": nil, "skill/a": {Kind: gate.Symlink, Data: "c"}, "skill/c/b": {Data: "b"}}, []string{"symlink skill/a:1"}},
		{"a link in place of what is missing", map[string]*fake.File{"skill/old": {Kind: gate.Symlink, Data: "nowhere"}}, []string{"symlink skill/old:1"}},
		{"what is missing is there", map[string]*fake.File{"skill/old": {}}, []string{"file-unexpected skill/old:1"}},
		{"cannot be opened", map[string]*fake.File{"skill/a/b": {Data: "b", Lost: errors.New("permission denied")}}, []string{"file-changed skill/a/b:1"}},
		{"cannot be looked at", map[string]*fake.File{"skill/a/b": {Data: "b", Err: errors.New("input/output error")}}, []string{"file-changed skill/a/b:1"}},
		{"SKILL.md gone", map[string]*fake.File{"skill/SKILL.md": nil}, []string{"file-missing skill/SKILL.md:1", "skill-header-missing skill/SKILL.md:1"}},
		{"SKILL.md cannot be opened", map[string]*fake.File{"skill/SKILL.md": {Data: skill, Lost: errors.New("permission denied")}}, []string{"file-changed skill/SKILL.md:1", "skill-header-missing skill/SKILL.md:1"}},
		{"SKILL.md a link", map[string]*fake.File{"skill/SKILL.md": {Kind: gate.Symlink}}, []string{"symlink skill/SKILL.md:1"}},
		{"the record a link", map[string]*fake.File{"skill/" + RecordName: {Kind: gate.Symlink}}, []string{"symlink skill/.agents-handoff-install.json:1"}},
		{"the record a submodule", map[string]*fake.File{"skill/" + RecordName: {Kind: gate.Gitlink}}, []string{"record-unparsable skill/.agents-handoff-install.json:1"}},
		{"the record cannot be opened", map[string]*fake.File{"skill/" + RecordName: {Lost: errors.New("permission denied")}}, []string{"record-unparsable skill/.agents-handoff-install.json:1"}},
		{"the record gone", map[string]*fake.File{"skill/" + RecordName: nil}, []string{"record-missing skill/.agents-handoff-install.json:1"}},
		{"both gone", map[string]*fake.File{"skill/" + RecordName: nil, "skill/SKILL.md": nil}, []string{"not-installed skill:0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := check(base.With(tt.changes))
			expect(t, l, tt.want...)
			for _, f := range l.Findings {
				if f.Severity == report.Error && !strings.HasSuffix(f.Remedy, "\nfix: again") {
					t.Errorf("%s: remedy %q", f.Rule, f.Remedy)
				}
			}
		})
	}
}

// Empty segments are none wherever files are opened, so a record cannot hide a
// file behind them.
func TestPathsWithEmptySegments(t *testing.T) {
	files := map[string]string{"SKILL.md": skill, "a/b": "b"}
	expect(t, check(installed(recordOf(pairs{{"a//b", sum("b")}}), files)))
	expect(t, check(installed(recordOf(pairs{{"a//b", missing}}), files)), "file-unexpected skill/a//b:1")
	expect(t, check(installed(recordOf(pairs{{"a/b/", missing}}), files)))
	expect(t, check(installed(recordOf(pairs{{"a/b/", sum("b")}}), files)), "file-missing skill/a/b/:1")
	expect(t, check(installed(recordOf(pairs{{"a/", missing}}), files)), "file-unexpected skill/a/:1")
}

func TestEscapes(t *testing.T) {
	for path, want := range map[string]bool{
		"": true, "/": true, "/a": true, "..": true, "../a": true, "a/..": true, "a/../b": true, ".": true, "./a": true, "a/.": true, "a/./b": true,
		`a\b`: true, `\`: true, "a\x00": true, "C:": true, "c:x": true, "Z:/a": true,
		"a": false, "a/b": false, "...": false, "a..b": false, ".hidden": false, "a:b/c": true, "ab:c": false, "a/c:d": false, "é:x": false, "1:x": false, "a//b": false,
	} {
		if got := escapes(path) != ""; got != want {
			t.Errorf("escapes(%q) = %q", path, escapes(path))
		}
	}
}

// What stands beside a path does not matter for whether it leaves the folder.
func TestEscapeWithoutHash(t *testing.T) {
	record := strings.Replace(recordOf(pairs{{"../a", missing}, {"b", missing}}), `"missing"`, `"none"`, 1)
	expect(t, check(installed(record, map[string]string{"SKILL.md": skill})), "path-escape skill/.agents-handoff-install.json:8", "record-inconsistent skill/.agents-handoff-install.json:8")
}

func TestHeader(t *testing.T) {
	long := strings.Repeat("x", 3*maxLine)
	for _, tt := range []struct {
		name, text string
		want       skillHeader
	}{
		{"empty", "", skillHeader{}},
		{"as it is", skill, skillHeader{true, true, "2.0.5"}},
		{"without a last line end", "name:\nversion: 1", skillHeader{true, true, "1"}},
		{"CR LF", "name: a\r\nversion: 1\r\n", skillHeader{true, true, "1"}},
		{"further words", "version:1 2 3", skillHeader{false, true, "1"}},
		{"the first counts", "version: 1\nversion: 2", skillHeader{false, true, "1"}},
		{"no word", "version:\n1", skillHeader{false, true, ""}},
		{"the first counts, without a word, too", "version:\nversion: 2", skillHeader{false, true, ""}},
		{"indented", " name: a\n\tversion: 1", skillHeader{}},
		{"other case", "Name: a\nVERSION: 1", skillHeader{}},
		{"in the middle of long lines", long + "name:\n" + long + "\nversion: 1\n" + long, skillHeader{false, true, "1"}},
		{"after a long line", long + "\nname:", skillHeader{name: true}},
		{"where the buffer ends", strings.Repeat("x", maxLine) + "name:\n", skillHeader{}},
		{"a byte order mark", "\ufeffname: a", skillHeader{}},
		{"other blanks", "version:\u00a0\u20281\u30002", skillHeader{false, true, "1"}},
	} {
		got, err := readHeader(strings.NewReader(tt.text))
		if err != nil || got != tt.want {
			t.Errorf("%s: %+v, %v; want %+v", tt.name, got, err, tt.want)
		}
	}
}

// The error that stands for an installation is the first of the table of
// sessions.md 9.3, not the first of the report.
func TestFirst(t *testing.T) {
	l := check(installed(strings.Replace(recordOf(pairs{{"a", sum("a")}, {"b", missing}}), `"file_count": 1`, `"file_count": 7`, 1), map[string]string{"b": "b"}))
	expect(t, l, "record-inconsistent skill/.agents-handoff-install.json:6", "skill-header-missing skill/SKILL.md:1", "file-missing skill/a:1", "file-unexpected skill/b:1")
	if f := First(&l); f == nil || f.Rule != RecordInconsistent.ID {
		t.Errorf("First is %v", f)
	}
	l = check(installed(recordOf(pairs{{"SKILL.md", sum(skill)}}), map[string]string{"SKILL.md": skill}))
	if f := First(&l); f != nil {
		t.Errorf("First of none is %v", f)
	}
}

func TestAgainstTheBase(t *testing.T) {
	files := map[string]string{"SKILL.md": skill, "a": "a"}
	now := recordOf(pairs{{"SKILL.md", sum(skill)}, {"a", sum("a")}})
	was := recordOf(pairs{{"SKILL.md", sum(skill)}, {"a", sum("before")}})
	tree := `{"kind": "tree", "path": "."}`
	with := func(record, old, text string) string {
		out := strings.Replace(record, old, text, 1)
		if out == record {
			t.Fatalf("%q is not in the record", old)
		}
		return out
	}
	const source = `{"kind": "archive", "ref": "refs/tags/v2.0.5"}`
	const at = "skill/.agents-handoff-install.json"
	for _, tt := range []struct {
		name, was, is string
		want          []string
	}{
		{"the same", now, now, nil},
		{"one archive", was, now, []string{"record-rewritten " + at + ":7"}},
		{"a tree", with(was, source, tree), with(now, source, tree), []string{"warning record-rewritten " + at + ":7"}},
		{"a tree before", with(was, source, tree), now, []string{"warning record-rewritten " + at + ":7"}},
		{"another reference", with(was, "v2.0.5\"}", "v2.0.4\"}"), now, []string{"warning record-rewritten " + at + ":7"}},
		{
			"another reference of one archive", with(was, source, `{"kind": "archive", "ref": "a", "archive_sha256": "x"}`), with(now, source, `{"kind": "archive", "ref": "b", "archive_sha256": "x"}`),
			[]string{"record-rewritten " + at + ":7"},
		},
		{
			"nothing that names the archive", with(was, source, `{"kind": "archive", "ref": null}`), with(now, source, `{"kind": "archive", "ref": null}`),
			[]string{"warning record-rewritten " + at + ":7"},
		},
		{"another version", with(was, `"2.0.5"`, `"2.0.4"`), now, nil},
		{"a version of another type", with(was, `"2.0.5"`, "2"), now, nil},
		{"no version in either", with(was, "\"version\": \"2.0.5\",\n", ""), with(now, "\"version\": \"2.0.5\",\n", ""), []string{"record-rewritten " + at + ":6"}},
		{"no set hash before", with(was, `"files_sha256"`, `"x"`), now, []string{"record-rewritten " + at + ":7"}},
		{"no JSON before", "{", now, nil},
		{"no object before", "[]", now, nil},
		{"of an unknown form before", with(was, "1.0-install", "0.9-install"), now, []string{"record-rewritten " + at + ":7"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := Check(Input{Files: installed(tt.is, files), Root: ".", Dir: "skill", Base: installed(tt.was, nil)})
			expect(t, l, tt.want...)
			if First(&l) == nil && l.Summary != "2 files match the install record" {
				t.Errorf("summary %q", l.Summary)
			}
		})
	}
	unreadable := installed(was, nil)
	unreadable["skill/"+RecordName] = fake.File{Lost: errors.New("this clone lacks the object")}
	expect(t, Check(Input{Files: installed(now, files), Root: ".", Dir: "skill", Base: unreadable}), "base-unavailable "+at+":0")
	expect(t, Check(Input{Files: installed(now, files), Root: ".", Dir: "skill", BaseErr: errors.New("no such commit")}), "base-unavailable "+at+":0")
	gone := installed("", map[string]string{"SKILL.md": skill})
	delete(gone, "skill/"+RecordName)
	expect(t, Check(Input{Files: gone, Root: ".", Dir: "skill", Base: installed("{", nil)}), "record-missing "+at+":1")
}

// A tree may begin below the top level, outside of a repository.
func TestRoot(t *testing.T) {
	in := Input{Files: installed(recordOf(pairs{{"SKILL.md", sum("x")}}), map[string]string{"SKILL.md": skill}), Root: "up/here", Dir: "skill"}
	expect(t, Check(in), "file-changed up/here/skill/SKILL.md:1")
	if got := in.Entry(report.Layer{}).Path; got != "up/here/skill" {
		t.Errorf("the entry is for %s", got)
	}
	top := fake.Files(map[string]string{RecordName: recordOf(pairs{{"SKILL.md", sum("x")}}), "SKILL.md": skill})
	expect(t, Check(Input{Files: top, Root: ".", Dir: "."}), "file-changed SKILL.md:1")
	expect(t, Check(Input{Files: fake.Tree{}, Root: ".", Dir: "."}), "not-installed .:0")
}

// The reader of records is JSON.parse: it takes and refuses the same texts as the
// reader of sessions, and names the same line.
func FuzzParseRecord(f *testing.F) {
	f.Add([]byte(recordOf(pairs{{"SKILL.md", sum(skill)}})))
	f.Add([]byte("{\"files\":{\"\\ud83d\":\"missing\",\"a\":5,\"a\":\"\"}}"))
	f.Add([]byte("\xef\xbb\xbf{}"))
	f.Add([]byte("{\n\"a\":\n01}"))
	f.Add([]byte("[1.,]"))
	f.Add([]byte("\"\xe2\x82\xed\xa0\x80\""))
	f.Add([]byte("{}\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, line, problem := parseRecord(data)
		if (r == nil) != (problem != "") {
			t.Fatalf("a record and a problem: %q", problem)
		}
		doc, err := ecma.Read(bytes.NewReader(data), ecma.Options{MaxDepth: maxDepth})
		var other *ecma.Error
		if accepted := err == nil && doc.Kind == jsondoc.Object; accepted != (r != nil) {
			t.Fatalf("%q: %q, and the other reader says %v", data, problem, err)
		}
		if errors.As(err, &other) && other.Line != line {
			t.Errorf("%q: %q in line %d, and the other reader says %d", data, problem, line, other.Line)
		}
		if r == nil {
			if line < 1 || line > 1+strings.Count(string(data), "\n") {
				t.Errorf("line %d of %q", line, data)
			}
			return
		}
		list, flaws := r.entries()
		if len(list) == 0 && len(flaws) == 0 {
			t.Errorf("nothing is listed, and nothing is wrong: %q", data)
		}
		l := check(installed(string(data), map[string]string{"SKILL.md": skill}))
		for _, f := range l.Findings {
			if strings.HasPrefix(f.Path, "/") || !strings.HasPrefix(f.Path, "skill") || strings.Contains(f.Message, "\n") {
				t.Errorf("finding %+v", f)
			}
		}
	})
}
