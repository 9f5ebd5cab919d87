package governance

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/fake"
)

// gateCase is a project, as files, and all that check finds there.
type gateCase struct {
	name  string
	files map[string]string
	want  string
}

func runCases(t *testing.T, config string, cases []gateCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			tree := fake.Files(tt.files)
			if _, own := tree[ConfigFile]; !own {
				tree[ConfigFile] = fake.File{Data: config}
			}
			expect(t, tree, tt.want)
		})
	}
}

func TestClaims(t *testing.T) {
	config := func(members string) string {
		return `{"claims": [{"id": "a", "canonical": "", "advertised": 12, "phrase": "(\\d+|no) rules", "surfaces": [{"file": "R"}]` + members + "}]}"
	}
	runCases(t, config(""), []gateCase{
		{"right", map[string]string{"R": "12 rules and 12 Rules"}, ""},
		{"wrong in three lines", map[string]string{"R": "11 rules, 11 rules, 13 rules\n12 rules\nno rules"}, "claims/wrong-number R:1, claims/wrong-number R:1, claims/wrong-number R:3"},
		{"not there", map[string]string{"R": "rules"}, "claims/no-match R:1"},
		{"no file", nil, "claims/missing-surface aahp.config.json:1"},
		{"over lines", map[string]string{ConfigFile: `{"claims": [{"id": "a", "canonical": "", "advertised": 12, "phrase": "total:\\s+(\\d+)", "surfaces": [{"file": "R"}]}]}`, "R": "\r\ntotal:\r\n\r\n13"}, "claims/wrong-number R:2"},
		{"a group that takes no part", map[string]string{ConfigFile: `{"claims": [{"id": "a", "canonical": "", "advertised": 12, "phrase": "(\\d+)x|rules", "surfaces": [{"file": "R"}]}]}`, "R": "rules"}, "claims/wrong-number R:1"},
		{"joined", map[string]string{ConfigFile: config(`, "joinTsConcat": true`), "R": "\n\"12 \" +\n\n \"rules, 13 r\"\n+\"ules\""}, "claims/wrong-number R:4"},
		{"joined only on request", map[string]string{"R": `"12 " + "rules"`}, "claims/no-match R:1"},
		{"empty flags", map[string]string{ConfigFile: config(`, "flags": ""`), "R": "11 rules"}, "claims/invalid-pattern aahp.config.json:1"},
		{"a path outside", map[string]string{ConfigFile: strings.Replace(config(""), `"R"`, `"a/../../R"`, 1)}, "config/path-escape aahp.config.json:1"},
	})
}

func TestPatterns(t *testing.T) {
	config := func(members string) string { return `{"forbiddenPatterns": [{"pattern": "BA[D]"` + members + "}]}" }
	runCases(t, config(""), []gateCase{
		{"none", map[string]string{"a.md": "bad"}, ""},
		{"one a line", map[string]string{"a.md": "BAD BAD\nx\nBAD", "b.go": "BAD"}, "patterns/forbidden a.md:1, patterns/forbidden a.md:3"},
		{"case", map[string]string{ConfigFile: config(`, "flags": "i"`), "a.md": "bad"}, "patterns/forbidden a.md:1"},
		{"no match spans lines", map[string]string{ConfigFile: `{"forbiddenPatterns": [{"pattern": "a\\sb"}]}`, "a.md": "a\nb\na\r\nb\na\rb"}, "patterns/forbidden a.md:5"},
		{"every line has an end", map[string]string{ConfigFile: `{"forbiddenPatterns": [{"pattern": "x$", "flags": "", "exclude": ["*.json"]}]}`, "a.md": "x\r\nx y\nx"}, "patterns/forbidden a.md:1, patterns/forbidden a.md:3"},
		{"a last empty line", map[string]string{ConfigFile: `{"forbiddenPatterns": [{"pattern": "^$"}]}`, "a.md": "x\n", "b.md": "x", "c.md": ""}, "patterns/forbidden a.md:2, patterns/forbidden c.md:1"},
		{"what is excluded", map[string]string{ConfigFile: config(`, "include": ["*.md"], "exclude": ["b.md"]`), "a.md": "BAD", "b.md": "BAD"}, "patterns/forbidden a.md:1"},
		{"everything excluded", map[string]string{ConfigFile: config(`, "include": ["*.md"], "exclude": ["*.md"]`), "a.md": "BAD"}, ""},
		{"nothing included", map[string]string{ConfigFile: config(`, "include": ["*.x"]`), "a.md": "BAD"}, "patterns/no-files aahp.config.json:1"},
		{"an invalid one beside another", map[string]string{ConfigFile: `{"forbiddenPatterns": [{"pattern": "("}, {"pattern": "BA[D]"}]}`, "a.md": "BAD"}, "patterns/forbidden a.md:1, patterns/invalid-pattern aahp.config.json:1"},
		{"bytes that are not UTF-8", map[string]string{ConfigFile: `{"forbiddenPatterns": [{"pattern": "\ufffd[x]"}]}`, "a.md": "\xffx"}, "patterns/forbidden a.md:1"},
	})
	tree := fake.Files(map[string]string{ConfigFile: config("")})
	tree["special.md"] = fake.File{Kind: gate.Special}
	tree["lost.md"] = fake.File{Lost: errors.New("permission denied")}
	tree["link.md"] = fake.File{Kind: gate.Symlink, Data: ConfigFile}
	tree["module.md"] = fake.File{Kind: gate.Gitlink}
	expect(t, tree, "patterns/unreadable lost.md, patterns/unreadable special.md")
}

func TestForbiddenMessage(t *testing.T) {
	in := world(fake.Files(map[string]string{
		ConfigFile: `{"forbiddenPatterns": [{"id": "i", "pattern": "BA[D]", "message": "say it otherwise."}]}`,
		"a.md":     "\u00a0 \tBAD token" + strings.Repeat("x", 200) + " \n",
	}))
	in.Mask = func(s string) string { return strings.ReplaceAll(s, "token", "***") }
	f := run(t, in).Findings()
	if want := "say it otherwise. (i): BAD ***" + strings.Repeat("x", 93); len(f) != 1 || !strings.HasPrefix(f[0].Message, want) || strings.Contains(f[0].Message, want+"x") {
		t.Errorf("%+v", f)
	}
	if want := "say it otherwise. Or exclude the file in the rule \"i\".\nfix: handoff-gate check ."; f[0].Remedy != want {
		t.Errorf("%s", f[0].Remedy)
	}
}

// The example of the page fits a project as it is meant for, but for what the page says
// is not executed.
func TestExampleOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/governance.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## An example\n")
	_, example, found := strings.Cut(section, "```json\n")
	example, _, ends := strings.Cut(example, "```")
	if !found || !ends {
		t.Fatal("the page has no example")
	}
	expect(t, fake.Files(map[string]string{
		ConfigFile: example, "package.json": `{"name": "sample", "version": "2.0.0"}`, "CHANGELOG.md": changes,
		"README.md": "# Sample 2.0.0\n\nnpm install sample@2.0.0\n\nIt has 350+ rules.\n", "docs/overview.md": "350+ rules\n",
		"src/version.ts": "export const version = \"2.0.0\"\n", "src/kinds.ts": `const kinds = [{kind: "a"}, {kind: "b"}]`,
		"docs/kinds.md": "# Kinds\n\n| Kind | |\n|---|---|\n| `a` | |\n| `b` | |\n", "scripts/count-rules.mjs": "console.log(361)\n",
	}), "claims/floor-not-evaluated aahp.config.json:12")
}

func TestDocSync(t *testing.T) {
	config := `{"docSync": [{"id": "k", "sources": [{"file": "a", "pattern": "\"(\\w+)\""}, {"file": "b", "pattern": "(?:` + "`(\\\\w+)`" + `)|-"}]}]}`
	runCases(t, config, []gateCase{
		{"equal", map[string]string{"a": `"x" "y" "x"`, "b": "`y` - `x`"}, ""},
		{"one missing", map[string]string{"a": `"x" "y"`, "b": "\n`x`"}, "docsync/disagree b:1"},
		{"one too many", map[string]string{"a": `"x"`, "b": "\r\n`x`\r\n`z` `y`"}, "docsync/disagree b:3"},
		{"none", map[string]string{"a": "", "b": "-"}, "docsync/no-values a:1, docsync/no-values b:1"},
		{"no files", nil, "docsync/missing-source aahp.config.json:1, docsync/missing-source aahp.config.json:1"},
		{"only the second", map[string]string{"b": "`x`"}, "docsync/missing-source aahp.config.json:1"},
		{"no sources", map[string]string{ConfigFile: `{"docSync": [{"sources": []}]}`}, "docsync/single-source aahp.config.json:1"},
		{"a bad pattern and no file", map[string]string{ConfigFile: `{"docSync": [{"sources": [{"file": "a", "pattern": "(?=x)"}]}]}`}, "docsync/invalid-pattern aahp.config.json:1, docsync/missing-source aahp.config.json:1, docsync/single-source aahp.config.json:1"},
		{"values over lines", map[string]string{ConfigFile: `{"docSync": [{"sources": [{"file": "a", "pattern": "^(x\\n)"}, {"file": "b", "pattern": "^(x\\n)"}]}]}`, "a": "x\r\n", "b": "x\n"}, ""},
	})
}

func TestLinks(t *testing.T) {
	runCases(t, `{"docLinks": {"include": ["*.md"]}}`, []gateCase{
		{"sound", map[string]string{"README.md": "[a](docs/b.md) [b](docs) [c](/docs/b.md)", "docs/b.md": "[a](../README.md) [b](b.md)"}, ""},
		{"broken", map[string]string{"README.md": "\n[a](b.md)\r\n\r\n[b](README.MD)", "docs/b.md": "[a](README.md) [b](../..)"}, "links/broken README.md:2, links/broken README.md:4, links/broken docs/b.md:1, links/broken docs/b.md:1"},
		{"no files", map[string]string{"x": ""}, "links/no-files aahp.config.json:1"},
		{"the defaults select nothing", map[string]string{ConfigFile: `{"docLinks": {}}`}, ""},
	})
	tree := fake.Files(map[string]string{ConfigFile: `{"docLinks": {"include": ["*.md"]}}`, "README.md": "[a](in) [b](out) [c](lost)", "docs/x": ""})
	for name, to := range map[string]string{"in": "docs/x", "out": "/etc", "lost": "nothing"} {
		tree[name] = fake.File{Kind: gate.Symlink, Data: to}
	}
	tree["lost.md"] = fake.File{Lost: errors.New("permission denied")}
	expect(t, tree, "links/broken README.md:1, links/broken README.md:1, links/unreadable lost.md")
}

func TestHandoff(t *testing.T) {
	wanted := strings.Join(parseHistory([]byte(changes)).journal(), "\n")
	files := func(more ...string) map[string]string {
		m := map[string]string{ManifestFile: "", "package.json": `{"name": "p", "version": "2.0.0"}`, "log.txt": changes}
		for i := 0; i < len(more); i += 2 {
			m[more[i]] = more[i+1]
		}
		return m
	}
	runCases(t, `{"generate": {"log": {"source": "log.txt", "target": "j.md"}}}`, []gateCase{
		{"current", files("j.md", "# p: Release Journal\n"+wanted, ".ai/handoff/NEXT_ACTIONS.md", "current VERSION:**v2.0.0**"), ""},
		{"stale", files("j.md", "# p: Release Journal\n"+strings.Replace(wanted, "(2", "(1", 1), ".ai/handoff/NEXT_ACTIONS.md", "\nCurrent version: **v1.0.0**"), "freshness/version-mismatch .ai/handoff/NEXT_ACTIONS.md:2, freshness/stale-journal j.md:2"},
		{"no journal", files(), "freshness/stale-journal aahp.config.json:1"},
		{"no source", map[string]string{ManifestFile: "", "j.md": "x"}, "freshness/source-missing aahp.config.json:1"},
		{"named after the folder", map[string]string{ManifestFile: "", "log.txt": changes, "j.md": "# folder: Release Journal\n" + wanted}, ""},
		{"a title", files(ConfigFile, `{"generate": {"log": {"title": "T", "source": "log.txt", "target": "j.md"}}}`, "j.md", "# T\n"+wanted), ""},
		{"no target", files(ConfigFile, `{"generate": {"log": {"source": "gone", "target": "\u00a0"}}}`), "freshness/target-unset aahp.config.json:1"},
		{"the archive as the target", files(ConfigFile, `{"generate": {"log": {"source": "gone", "target": "./.ai/handoff/LOG-archive.MD"}}}`), "freshness/target-refused aahp.config.json:1"},
		{"paths outside", files(ConfigFile, `{"generate": {"log": {"source": "../a", "target": "../b"}, "freshness": {"file": "../c"}}}`), "config/path-escape aahp.config.json:1, config/path-escape aahp.config.json:1, config/path-escape aahp.config.json:1"},
		{"another file", files(ConfigFile, `{"generate": {"freshness": {"file": "T"}}}`, "T", "Current version: **v3.0.0-rc.1**"), "freshness/version-mismatch T:1"},
		{"a placeholder", files(ConfigFile, `{}`, ".ai/handoff/NEXT_ACTIONS.md", "Current version: **v[VERSION]**"), ""},
		{"no version to compare with", files(ConfigFile, `{}`, "package.json", "{}", ".ai/handoff/NEXT_ACTIONS.md", "Current version: **v1.0.0**"), "version/package-json package.json"},
		{"a version nobody needs", files(ConfigFile, `{}`, "package.json", "{}"), ""},
		{"a package.json that is no JSON", files(ConfigFile, `{}`, "package.json", "{"), "version/package-json package.json"},
		{"a folder in the place of the file", files(ConfigFile, `{}`, ".ai/handoff/NEXT_ACTIONS.md/x", ""), "freshness/version-mismatch .ai/handoff/NEXT_ACTIONS.md"},
		{"no handoff set", map[string]string{"x": ""}, ""},
	})
	tree := fake.Files(map[string]string{ManifestFile: "", ".ai/handoff/LOG.md": "", ConfigFile: `{"generate": {"log": {"target": "j.md"}}}`})
	tree["j.md"] = fake.File{Kind: gate.Symlink, Data: ".ai/handoff/LOG.md"}
	expect(t, tree, "freshness/target-refused aahp.config.json:1")
}

// Rule P, with what each path is refused for.
func TestPathsOutOfTheConfiguration(t *testing.T) {
	tree := fake.Files(map[string]string{"package.json": `{"version": "1.0.0"}`, "V": "1.0.0", "docs/V": "1.0.0", ".git/V": "1.0.0"})
	for name, to := range map[string]string{"in": "docs/V", "out": "../V", "top": "/V", "git": ".git/V", "dir": "docs"} {
		tree[name] = fake.File{Kind: gate.Symlink, Data: to}
	}
	for file, why := range map[string]string{
		"V": "", "./V": "", "docs/../V": "", "docs//V": "", "in": "", "gone/../V": "",
		"": "missing", ".": "missing", "docs": "missing", "gone": "missing", "V/": "", "V/x": "missing", `docs\V`: "missing", "dir": "missing", "...": "missing", "\x00": "missing",
		"..": "out of the project", "../V": "out of the project", "docs/../../V": "out of the project", `..\V`: "out of the project", `docs\..\..\V`: "out of the project",
		"/V": "not relative", "//host/V": "not relative", `\V`: "not relative", `\\host\V`: "not relative", "C:V": "a drive", "c:/V": "a drive",
		".git/V": "git's own folder", ".GIT/V": "git's own folder", "docs/.git": "git's own folder", "git": "git's own folder", "out": "symbolic link", "top": "symbolic link",
	} {
		in := world(tree)
		in.Config = &Config{Path: ConfigFile, VersionSites: []VersionSite{{File: Text{Text: file}, Min: 1}}, Only: &Selection{Gates: []Text{{Text: VersionSync}}}}
		f := run(t, in).Findings()
		switch {
		case why == "":
			if len(f) != 0 {
				t.Errorf("%q: %+v", file, f)
			}
		case len(f) != 1 || (f[0].Rule == "version/missing-file") != (why == "missing") || why != "missing" && !strings.Contains(f[0].Message, why):
			t.Errorf("%q: %+v", file, f)
		}
	}
}
