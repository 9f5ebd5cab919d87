package adopt

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/integrity"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// set is a handoff set with something of everything.
var set = map[string]string{
	"STATUS.md":              "# Status\r\n\r\nThe parser is done & tested; <b>nothing</b> is \"open\".\r\n",
	"NEXT_ACTIONS.md":        "# Next\n\n- [ ] Ship the parser before the end of the week\n",
	"LOG.md":                 "# Log\n\n## [2026-02-01] a: first\n\nbody",
	"LOG-ARCHIVE.md":         "",
	"LOG-ARCHIVE.index.json": `{"version": 1, "entries": []}`,
	"TRUST.md":               "# Trust\n\n| Property | Status |\n|---|---|\n| Builds | verified |\n",
	"pii-allowlist.json":     "{\"version\": 1, \"entries\": [{\"value\": \"a@b.example\"}]}\n",
	".aiignore":              "x\n",
	"HANDOFF.lock":           "x\n",
	"NOTES.md":               "Not canonical.\n",
}

const carried = `{
    "project": "kept \u00e9", "next_task_id": 7,
    "tasks": {"T-010": {"title": "caf\u00e9", "status": "ready", "estimate": 1.50, "big": 12345678901234567890,
      "9": 1, "1": 2, "e": 1e3, "none": [], "empty": {}}, "T-002": {"title": "b", "status": "done", "depends_on": ["T-010"]}},
    "cross_repo_ref": {"repo": "o/n", "commit": "abc1234", "relation": "extends"},
    "files": {}, "quick_context": "old", "aahp_version": "2.0", "token_budget": null, "last_session": [1]
}`

func generate(t testing.TB, project string, s Session, force bool) *Manifest {
	t.Helper()
	m, err := openFolder(t, project).Generate(s, facts, force)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestGoldenManifests(t *testing.T) {
	plain := Session{Agent: "cli-tool", Phase: "idle"}
	for _, tt := range []struct {
		name    string
		files   map[string]string
		session Session
	}{
		{"empty", nil, plain},
		{"full", set, Session{Agent: "a \"b\" \\ <&>\u2028\x7f\x01\b\xff", ID: "s-1", Phase: "review", Minutes: 45, Context: "k\tv\nw "}},
		{"carried", map[string]string{"STATUS.md": set["STATUS.md"], ManifestName: carried}, plain},
	} {
		t.Run(tt.name, func(t *testing.T) {
			project := handoff(t, tt.files)
			at := time.Date(2026, 2, 3, 4, 5, 6, 789e6, time.FixedZone("", 3600))
			for name := range tt.files {
				if err := os.Chtimes(filepath.Join(project, ".ai", "handoff", name), at, at); err != nil {
					t.Fatal(err)
				}
			}
			m := generate(t, project, tt.session, false)
			golden := filepath.Join("testdata", "manifest-"+tt.name+".json")
			if *update {
				if err := os.WriteFile(golden, m.Data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(m.Data, want) {
				t.Errorf("got\n%s\nwant\n%s", m.Data, want)
			}
			if got := estimateText(m.Data); got != m.Budget.Manifest {
				t.Errorf("the budget says %d tokens for the manifest, which has %d", m.Budget.Manifest, got)
			}
		})
	}
}

func TestWriteThenCheck(t *testing.T) {
	project := handoff(t, set)
	f := openFolder(t, project)
	if _, _, err := f.Check(Session{}, facts); !errors.Is(err, ErrNoManifest) {
		t.Errorf("without a manifest Check returns %v", err)
	}
	m := generate(t, project, Session{Agent: "x", Phase: "fix", Context: "given"}, false)
	if err := f.Write(m); err != nil {
		t.Fatal(err)
	}
	later := facts
	later.Now, later.Commit = facts.Now.Add(time.Hour), "abcdef0"
	check := func(what string, want ...string) {
		t.Helper()
		before := get(t, project, ManifestName)
		_, stale, err := f.Check(Session{Agent: "cli-tool", Phase: "idle"}, later)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if !slices.Equal(stale, want) {
			t.Errorf("%s: stale are %q, want %q", what, stale, want)
		}
		if get(t, project, ManifestName) != before {
			t.Errorf("%s: Check wrote", what)
		}
	}
	edit := func(old, replacement string) {
		t.Helper()
		text := string(m.Data)
		if strings.Count(text, old) != 1 {
			t.Fatalf("%q is not once in\n%s", old, text)
		}
		put(t, project, ManifestName, strings.Replace(text, old, replacement, 1))
	}
	check("nothing changed")
	edit("\"agent\": \"x\",\n    ", `"agent":"x",`)
	check("another layout of the session", Layout)
	edit("\n}\n", "\n}")
	check("no final line end", Layout)
	put(t, project, ManifestName, strings.ReplaceAll(string(m.Data), "\n", "\r\n"))
	check("other line ends", Layout)
	edit(`"given"`, `"g\u0069ven"`)
	check("another spelling", Layout)
	edit(`"lines": 4,`, `"lines": 5,`)
	check("one wrong number", "/files/LOG.md/lines")
	edit(`"aahp_version": "3.0"`, `"aahp_version": "2.0"`)
	check("another version", "/aahp_version")
	edit(`"manifest_plus_core"`, `"x/y~z"`)
	check("another member", "/token_budget/manifest_plus_core", "/token_budget/x~1y~0z")
	edit(`"quick_context": "given"`, `"quick_context": 5`)
	check("a context of the wrong type", "/quick_context", "/token_budget/manifest_only", "/token_budget/manifest_plus_core", "/token_budget/full_read")
	edit(`"phase": "fix"`, `"phase": "f\u0069x"`)
	check("a session spelled otherwise, which is kept", "/token_budget/manifest_only", "/token_budget/manifest_plus_core", "/token_budget/full_read")

	put(t, project, ManifestName, string(m.Data))
	put(t, project, "GROUNDING.md", "New here.\n")
	check("a new file", "/files/GROUNDING.md", "/token_budget/manifest_only", "/token_budget/manifest_plus_core", "/token_budget/full_read")
	put(t, project, ManifestName, `{"unknown": 1}`)
	var refusal *Refusal
	if _, _, err := f.Check(Session{}, facts); !errors.As(err, &refusal) {
		t.Errorf("of a manifest that is refused Check says %v", err)
	}
}

// A changed file changes its entry, and the time on record stays for the others.
func TestUpdated(t *testing.T) {
	project := handoff(t, map[string]string{"STATUS.md": "A.\n", "LOG.md": "B.\n", "TRUST.md": "C.\n"})
	f := openFolder(t, project)
	first := generate(t, project, Session{}, false)
	if err := f.Write(first); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Files map[string]struct{ Updated, Checksum string }
	}
	text := string(first.Data)
	if err := json.Unmarshal(first.Data, &doc); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"STATUS.md", "LOG.md", "TRUST.md"} {
		now := map[string]string{"STATUS.md": "2020-01-02T03:04:05.678Z", "LOG.md": "2020-01-02", "TRUST.md": "2020-01-02T03:04:05Z"}[name]
		i := strings.Index(text, `"`+name+`"`)
		text = text[:i] + strings.Replace(text[i:], doc.Files[name].Updated, now, 1)
	}
	put(t, project, ManifestName, text)
	put(t, project, "TRUST.md", "Changed.\n")
	at := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	for _, name := range []string{"LOG.md", "TRUST.md"} {
		if err := os.Chtimes(filepath.Join(project, ".ai", "handoff", name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal(generate(t, project, Session{}, false).Data, &doc); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"STATUS.md": "2020-01-02T03:04:05.678Z", // on record, of the right form
		"LOG.md":    "2026-05-06T07:08:09Z",     // on record, but no time
		"TRUST.md":  "2026-05-06T07:08:09Z",     // the file has changed
	} {
		if got := doc.Files[name].Updated; got != want {
			t.Errorf("%s: updated %s, want %s", name, got, want)
		}
	}
}

func TestProblems(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	for _, tt := range []struct {
		name, old string
		problems  []string
		kept      map[string]string // what stays with --force, as it is spelled
	}{
		{"sound", `{"project": "p", "next_task_id": 3, "tasks": {}, "cross_repo_ref": null}`, nil, map[string]string{"next_task_id": "3", "tasks": "{}"}},
		{"empty file", "", []string{"not valid JSON: it ends too early (line 1)"}, nil},
		{"not UTF-8", "{\"project\": \"p\xff\"}", []string{"not valid UTF-8"}, nil},
		{"byte order mark", "\ufeff{}", []string{"not valid JSON: it begins with a byte order mark (line 1)"}, nil},
		{"cut short", "{\n\"tasks\": {", []string{"not valid JSON: it ends too early (line 2)"}, nil},
		{"array", "[]", []string{"its top level is an array, not an object"}, nil},
		{"null", "null", []string{"its top level is null, not an object"}, nil},
		{"string", `"x"`, []string{"its top level is a string, not an object"}, nil},
		{"unknown members", `{"handoff_notes": 1, "tasks": {"T-1": 1}, "no\u001bte": {"a":1,"a":1}}`, []string{"unknown member: handoff_notes", `unknown member: no\u001bte`}, map[string]string{"tasks": `{"T-1": 1}`}},
		{"a member named twice", `{"tasks": 1, "next_task_id": 4, "tasks": 2, "t\u0061sks": 3}`, []string{"member named twice: tasks"}, map[string]string{"next_task_id": "4"}},
		{"an unknown member named twice", `{"x": 1, "x": 2}`, []string{"unknown member: x", "member named twice: x"}, nil},
		{"equal keys deep inside", "{\"tasks\": {\"T-1\": {\n\"a\": 1, \"\\u0061\": 2}}, \"cross_repo_ref\": {\"repo\": \"r\"}}", []string{"tasks: an object has the same key twice: a (line 2)"}, map[string]string{"cross_repo_ref": `{"repo": "r"}`}},
		{"lone surrogate", `{"tasks": ["\ud800"], "project": "p\udc00"}`, []string{"tasks: an escape leaves a lone surrogate (line 1)", "project: an escape leaves a lone surrogate (line 1)"}, nil},
		{"a lone surrogate in a key", `{"\ud800": 1}`, []string{"unknown member: \ufffd"}, nil},
		{"64 levels", `{"tasks": ` + deep(63) + `}`, nil, map[string]string{"tasks": deep(63)}},
		{"65 levels", `{"tasks": ` + deep(64) + `}`, []string{"tasks: it is nested deeper than 63 levels (line 1)"}, nil},
		{"what is made anew is not judged", `{"files": 1, "token_budget": "x", "quick_context": [], "last_session": 0, "aahp_version": null}`, nil, nil},
		{"project and next_task_id of other types", `{"project": ["p"], "next_task_id": "seven"}`, []string{`next_task_id "seven" is not a whole number of zero or more`, "project is an array, neither a string nor null"}, nil},
		{"null counts as absent", `{"project": null, "next_task_id": null, "tasks": null}`, nil, nil},
		{"tasks of any type", `{"tasks": [1, "2"]}`, nil, map[string]string{"tasks": `[1, "2"]`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := readPrevious([]byte(tt.old))
			if !slices.Equal(p.problems, tt.problems) {
				t.Errorf("problems\n%q\nwant\n%q", p.problems, tt.problems)
			}
			kept := map[string]string{}
			for key, s := range map[string]spelled{"tasks": p.tasks, "cross_repo_ref": p.crossRef} {
				if s.present() {
					kept[key] = string(s.src[s.value.Off:s.value.End])
				}
			}
			if p.nextTask != "" {
				kept["next_task_id"] = p.nextTask
			}
			if len(kept)+len(tt.kept) > 0 && !reflect.DeepEqual(kept, tt.kept) {
				t.Errorf("kept %q, want %q", kept, tt.kept)
			}
		})
	}
}

func TestWholeNumber(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "7": "7", "-0": "-0", "7.0": "7.0", "1e3": "1e3", "1.5e1": "1.5e1", "150e-1": "150e-1", "0e-9": "0e-9",
		"12345678901234567890": "12345678901234567890", "1e99999999999999999999": "1e99999999999999999999", "-0.0e5": "-0.0e5",
		`"7"`: "7", `"007"`: "7", `"000"`: "0",
		"-1": "", "1.5": "", "15e-2": "", "1e-99999999999999999999": "", "0.99999999999999999999": "", "-1e3": "",
		`""`: "", `"seven"`: "", `"7a"`: "", `"-7"`: "", `"７"`: "", "true": "", "[3]": "", "{}": "",
	} {
		doc, err := jsondoc.Parse([]byte(text), jsondoc.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, ok := wholeNumber(doc.Root)
		if ok != (want != "") || ok && got != want {
			t.Errorf("wholeNumber(%s) = %q, %v, want %q", text, got, ok, want)
		}
	}
}

func TestRefusedUnlessForced(t *testing.T) {
	const old = `{"tasks": {"T-1": {}}, "notes": "n", "next_task_id": -1}`
	project := handoff(t, map[string]string{"STATUS.md": "Text.\n", ManifestName: old})
	f := openFolder(t, project)
	var refusal *Refusal
	if _, err := f.Generate(Session{}, facts, false); !errors.As(err, &refusal) || len(refusal.Problems) != 2 {
		t.Fatalf("Generate returns %v", err)
	}
	m := generate(t, project, Session{}, true)
	if len(m.Warnings) != 2 || !strings.Contains(string(m.Data), `"T-1": {}`) || strings.Contains(string(m.Data), "notes") {
		t.Errorf("with force: %q\n%s", m.Warnings, m.Data)
	}
	put(t, project, ManifestName, "{")
	if m = generate(t, project, Session{}, true); len(m.Warnings) != 1 || !strings.Contains(m.Warnings[0], "task registry") {
		t.Errorf("with force over a broken file: %q", m.Warnings)
	}
	if err := os.Truncate(filepath.Join(project, ".ai", "handoff", ManifestName), gate.MaxManifest+1); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Generate(Session{}, facts, false); !errors.As(err, &refusal) || !strings.Contains(err.Error(), "16 MiB") {
		t.Errorf("over its limit: %v", err)
	}
	generate(t, project, Session{}, true)
}

func TestContext(t *testing.T) {
	long := strings.Repeat("🚀", 500)
	for _, tt := range []struct {
		name                       string
		status, next, given, built string
		warnings                   int
	}{
		{name: "neither file", built: "No handoff files found with content summaries."},
		{name: "both", status: "All green here!\n", next: "- do the first thing\n", built: "All green here! do the first thing."},
		{name: "one without a summary", status: "# S\n", next: "Only this\n", built: "Only this."},
		{name: "a question", status: "Is it done?\n", built: "Is it done?"},
		{name: "given as it is", status: "x\n", given: " a\tb\r\n ", built: " a\tb\r\n "},
		{name: "given, 500 characters", given: long, built: long},
		{name: "given, too long", given: strings.Repeat("b", 490) + strings.Repeat("🚀", 11), built: strings.Repeat("b", 490) + strings.Repeat("🚀", 7) + "...", warnings: 1},
		{name: "given, no UTF-8", given: "a\xffb", built: "a\ufffdb"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{"TRUST.md": "Never read for this.\n"}
			if tt.status != "" {
				files["STATUS.md"] = tt.status
			}
			if tt.next != "" {
				files["NEXT_ACTIONS.md"] = tt.next
			}
			m := generate(t, handoff(t, files), Session{Context: tt.given}, false)
			var doc struct {
				Context string `json:"quick_context"`
			}
			if err := json.Unmarshal(m.Data, &doc); err != nil {
				t.Fatal(err)
			}
			if doc.Context != tt.built || len(m.Warnings) != tt.warnings {
				t.Errorf("context %q with warnings %q, want %q", doc.Context, m.Warnings, tt.built)
			}
		})
	}
}

func TestProjectName(t *testing.T) {
	for _, tt := range []struct{ recorded, url, want string }{
		{"own", "https://example.com/o/other.git", "own"},
		{"", "https://example.com/o/name.git", "name"},
		{"[PROJECT]", "https://example.com/o/name.git/", "name"},
		{"[project]", "", "[project]"},
		{"", "git@example.com:owner/name.git", "name"},
		{"", "git@example.com:name", "name"},
		{"", "../up/a.b_c-1", "a.b_c-1"},
		{"", "", "folder"},
		{"", "https://user:s3cret@example.com", "folder"},
		{"", "https://example.com/o/a b.git", "folder"},
		{"", "https://example.com/o/é.git", "folder"},
		{"", "https://example.com/.git", "folder"},
		{"", "https://example.com/o//", "folder"},
		{"", "https://example.com/o/x?token=1", "folder"},
	} {
		d := document{previous: &previous{project: tt.recorded}, project: ProjectName(tt.url, "folder")}
		text, _ := d.render()
		var doc struct{ Project string }
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		if doc.Project != tt.want {
			t.Errorf("recorded %q, remote %q: %q, want %q", tt.recorded, tt.url, doc.Project, tt.want)
		}
	}
}

// TestLinks shows which links are followed and which end the command.
func TestLinks(t *testing.T) {
	link := func(target, name string) func(*testing.T, string) {
		return func(t *testing.T, project string) {
			file := filepath.Join(project, filepath.FromSlash(name))
			if err := os.RemoveAll(file); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(strings.ReplaceAll(target, "PROJECT", project), file); err != nil {
				t.Skipf("no symbolic links here: %v", err)
			}
		}
	}
	for _, tt := range []struct {
		name    string
		prepare func(*testing.T, string)
		files   int
		warning string // part of it
		err     string // part of it
	}{
		{"inside", link("../../docs/x.md", ".ai/handoff/TRUST.md"), 2, "TRUST.md is a symbolic link; it is indexed", ""},
		{"inside, absolute", link("PROJECT/docs/x.md", ".ai/handoff/TRUST.md"), 2, "TRUST.md is a symbolic link; it is indexed", ""},
		{"inside, over the outside", link("../../../"+"BASE/docs/x.md", ".ai/handoff/TRUST.md"), 2, "is indexed", ""},
		{"a folder inside", link("../../docs", ".ai/handoff/TRUST.md"), 1, "TRUST.md is a folder, not a regular file; it is not indexed", ""},
		{"to nothing inside", link("none", ".ai/handoff/TRUST.md"), 1, "TRUST.md is a symbolic link to nothing; it is not indexed", ""},
		{"outside", link("../../../outside.md", ".ai/handoff/TRUST.md"), 0, "", "TRUST.md is a symbolic link that leaves the repository"},
		{"outside, absolute", link("/etc/passwd", ".ai/handoff/TRUST.md"), 0, "", "TRUST.md is a symbolic link that leaves the repository"},
		{"to nothing outside", link("../../../none.md", ".ai/handoff/TRUST.md"), 0, "", "leaves the repository"},
		{"to nothing outside, over two", func(t *testing.T, project string) {
			link("../../docs/second", ".ai/handoff/TRUST.md")(t, project)
			link("../../none", "docs/second")(t, project)
		}, 0, "", "leaves the repository"},
		{"into .git", link("../../.git/config", ".ai/handoff/TRUST.md"), 0, "", "into git's own folder"},
		{"a loop", link("TRUST.md", ".ai/handoff/TRUST.md"), 0, "", "cannot be followed"},
		{"the manifest, outside", link("../../../outside.md", ".ai/handoff/MANIFEST.json"), 0, "", "MANIFEST.json is a symbolic link that leaves the repository"},
		{"the manifest, to nothing", link("none", ".ai/handoff/MANIFEST.json"), 1, "", ""},
		{"the handoff folder", func(t *testing.T, project string) {
			if err := os.Rename(filepath.Join(project, ".ai", "handoff"), filepath.Join(project, "real")); err != nil {
				t.Fatal(err)
			}
			link("../real", ".ai/handoff")(t, project)
		}, 0, "", ".ai/handoff is a symbolic link"},
		{"the folder above it", func(t *testing.T, project string) {
			if err := os.Rename(filepath.Join(project, ".ai"), filepath.Join(project, "real")); err != nil {
				t.Fatal(err)
			}
			link("real", ".ai")(t, project)
		}, 0, "", ".ai is a symbolic link"},
		{"a folder in place of a file", func(t *testing.T, project string) {
			if err := os.Mkdir(filepath.Join(project, ".ai", "handoff", "TRUST.md"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, 1, "TRUST.md is a folder, not a regular file; it is not indexed", ""},
		{"a folder in place of the manifest", func(t *testing.T, project string) {
			if err := os.Mkdir(filepath.Join(project, ".ai", "handoff", ManifestName), 0o755); err != nil {
				t.Fatal(err)
			}
		}, 0, "", "MANIFEST.json is a folder"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			project := filepath.Join(base, "BASE")
			for _, dir := range []string{".ai/handoff", "docs", ".git"} {
				if err := os.MkdirAll(filepath.Join(project, filepath.FromSlash(dir)), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for _, file := range []string{".ai/handoff/STATUS.md", "docs/x.md", ".git/config", "../outside.md"} {
				if err := os.WriteFile(filepath.Join(project, filepath.FromSlash(file)), []byte("Text of a file.\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			tt.prepare(t, project)
			f, err := OpenFolder(project, project, Hooks{})
			var m *Manifest
			if err == nil {
				defer f.Close()
				m, err = f.Generate(Session{}, facts, true)
			}
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if m.Files != tt.files || !strings.Contains(strings.Join(m.Warnings, "\n"), tt.warning) || tt.warning == "" && len(m.Warnings) > 0 {
				t.Errorf("%d files with warnings %q, want %d with %q", m.Files, m.Warnings, tt.files, tt.warning)
			}
			if err := f.Write(m); err != nil {
				t.Fatal(err)
			}
			if info, err := os.Lstat(filepath.Join(project, ".ai", "handoff", ManifestName)); err != nil || !info.Mode().IsRegular() {
				t.Errorf("the manifest is %v", info.Mode())
			}
		})
	}
}

func TestUnreadableFile(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads every file")
	}
	project := handoff(t, map[string]string{"STATUS.md": "x", ManifestName: "{}"})
	for _, name := range []string{"STATUS.md", ManifestName} {
		file := filepath.Join(project, ".ai", "handoff", name)
		if err := os.Chmod(file, 0); err != nil {
			t.Fatal(err)
		}
		_, err := openFolder(t, project).Generate(Session{}, facts, true)
		if err == nil || !strings.Contains(err.Error(), name+" cannot be read: permission denied") {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Chmod(file, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Layer 1 accepts what is written, whatever the files are.
func TestIntegrityAcceptsTheManifest(t *testing.T) {
	project := handoff(t, set)
	m := generate(t, project, Session{}, false)
	doc, err := integrity.ParseManifest(m.Data)
	if err != nil {
		t.Fatal(err)
	}
	files := doc.Root.Get("files")
	var got []string
	for _, f := range files.Members {
		got = append(got, f.Key)
	}
	var want []string
	for _, name := range integrity.Canonical {
		if _, ok := set[name]; ok {
			want = append(want, name)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("indexed are %q, want %q", got, want)
	}
}

// Whatever manifest is there, the next one is sound, and tasks that can be
// carried over are there token by token.
func FuzzPrevious(f *testing.F) {
	f.Add([]byte(carried))
	f.Add([]byte(`{"tasks": {"T-1": {"a": 1, "a": 2}}, "next_task_id": "07"}`))
	f.Add([]byte(`{"project": "\ud800", "quick_context": "x", "last_session": {"n": 1.50}}`))
	f.Add([]byte("\ufeff[]"))
	f.Fuzz(func(t *testing.T, old []byte) {
		p := readPrevious(old)
		for _, keep := range []bool{false, true} {
			d := document{previous: p, commit: UnknownCommit, project: "p", now: facts.Now, context: "c"}
			if keep {
				d.recorded = p.session
			}
			text, budget := d.render()
			doc, err := integrity.ParseManifest(text)
			if err != nil {
				t.Fatalf("%q became %q: %v", old, text, err)
			}
			if got := estimateText(text); got != budget.Manifest {
				t.Errorf("%q: %d tokens, the budget says %d", text, got, budget.Manifest)
			}
			for key, s := range map[string]spelled{"tasks": p.tasks, "cross_repo_ref": p.crossRef} {
				v := doc.Root.Get(key)
				if (v != nil) != s.present() {
					t.Fatalf("%q: %s is there: %v", text, key, v != nil)
				}
				if v != nil && tokens(t, text[v.Off:v.End]) != tokens(t, s.src[s.value.Off:s.value.End]) {
					t.Errorf("%q became %q", old, text)
				}
			}
		}
		// Strictly sound input with an object for tasks must carry them.
		strict, err := integrity.ParseManifest(old)
		if err != nil {
			return
		}
		if tasks := strict.Root.Get("tasks"); tasks.Is(jsondoc.Object) && !p.tasks.present() {
			t.Errorf("%q: tasks were dropped", old)
		}
		again := readPrevious(func() []byte { d := document{previous: p, now: facts.Now}; text, _ := d.render(); return text }())
		if len(again.problems) > 0 {
			t.Errorf("%q: the new manifest would be refused: %q", old, again.problems)
		}
	})
}

// tokens lists the tokens of a document as they are spelled.
func tokens(t *testing.T, src []byte) string {
	t.Helper()
	var b strings.Builder
	err := jsondoc.Scan(src, jsondoc.Options{}, func(tok jsondoc.Token) error {
		b.Write(src[tok.Off:tok.End])
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
