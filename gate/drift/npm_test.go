package drift_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/drift"
	"github.com/handoff-gate/handoff-gate/gate/internal/fake"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

const (
	ci      = ".github/workflows/ci.yml"
	npmConf = "{\n \"handoffImpact\": {\"npmDevDependencyUpdates\": {\n  \"reason\": \"Registry-pinned development tools only.\",\n" +
		"  \"supplyChainScan\": {\"workflow\": \".github/workflows/ci.yml\", \"job\": \"scan\"}}}\n}\n"
	scanJob = "on: [push, pull_request]\njobs:\n  scan:\n    runs-on: x\n    steps:\n      - run: scan\n"
)

type obj = map[string]any

// The lock and manifest before the change, as npm writes them.
const (
	lockBefore = `{
  "name": "fx",
  "version": "1.0.0",
  "lockfileVersion": 3,
  "requires": true,
  "packages": {
    "": {
      "name": "fx",
      "dependencies": {"rt": "1.0.0"},
      "devDependencies": {"tool": "^1.0.0", "other": "~2.0.0"}
    },
    "node_modules/@s/other": {
      "version": "2.0.0",
      "resolved": "https://registry.npmjs.org/@s/other/-/other-2.0.0.tgz",
      "integrity": "sha512-AAAA==",
      "dev": true
    },
    "node_modules/alias": {
      "name": "real",
      "version": "1.0.0",
      "resolved": "https://registry.npmjs.org/real/-/real-1.0.0.tgz",
      "integrity": "sha512-BBBB==",
      "dev": true
    },
    "node_modules/rt": {
      "version": "1.0.0",
      "resolved": "https://registry.npmjs.org/rt/-/rt-1.0.0.tgz",
      "integrity": "sha512-CCCC=="
    },
    "node_modules/tool": {
      "version": "1.0.0",
      "resolved": "https://registry.npmjs.org/tool/-/tool-1.0.0.tgz",
      "integrity": "sha512-DDDD==",
      "dev": true
    },
    "node_modules/tool/node_modules/inner": {
      "version": "1.0.0",
      "resolved": "https://registry.npmjs.org/inner/-/inner-1.0.0.tgz",
      "integrity": "sha512-EEEE==",
      "dev": true
    },
    "node_modules/ws": {
      "resolved": "packages/ws",
      "link": true,
      "dev": true
    },
    "packages/ws": {
      "name": "ws",
      "version": "1.0.0",
      "dev": true
    }
  }
}
`
	pkgBefore = "{\n  \"name\": \"fx\",\n  \"dependencies\": {\"rt\": \"1.0.0\"},\n  \"devDependencies\": {\n    \"tool\": \"^1.0.0\",\n    \"other\": \"~2.0.0\"\n  }\n}\n"
)

var npmStart = change(start, config, npmConf, ci, scanJob, "package-lock.json", lockBefore, "package.json", pkgBefore)

// edited is the lock after an edit of its parsed form. Members are written in
// sorted order, so the lock before is written so too where both are needed.
func edited(t testing.TB, edit func(lock, packages obj)) string {
	t.Helper()
	var l obj
	if err := json.Unmarshal([]byte(lockBefore), &l); err != nil {
		t.Fatal(err)
	}
	e := tool(l)
	e["version"], e["resolved"], e["integrity"] = "1.0.1", "https://registry.npmjs.org/tool/-/tool-1.0.1.tgz", "sha256-ab+/"
	if edit != nil {
		edit(l, l["packages"].(obj))
	}
	return sorted(t, l)
}

func sorted(t testing.TB, v any) string {
	t.Helper()
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data) + "\n"
}

func tool(lock obj) obj { return lock["packages"].(obj)["node_modules/tool"].(obj) }

// lockStart is npmStart with the lock's members sorted.
func lockStart(t testing.TB) fake.Tree {
	var l obj
	if err := json.Unmarshal([]byte(lockBefore), &l); err != nil {
		t.Fatal(err)
	}
	return change(npmStart, "package-lock.json", sorted(t, l))
}

// npmRules gives the npm rules among the findings, each once, in order.
func npmRules(l report.Layer) (out []string) {
	seen := map[string]bool{}
	for _, f := range l.Findings {
		if name, ok := strings.CutPrefix(f.Rule, "drift/npm-"); ok && !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}

func TestNPMGranted(t *testing.T) {
	base := lockStart(t)
	replace := func(s, was, is string) string {
		if !strings.Contains(s, was) {
			t.Fatalf("%q is not there", was)
		}
		return strings.Replace(s, was, is, 1)
	}
	pkgAfter := replace(pkgBefore, "^1.0.0", ">=1.0.1-rc.1+build.5")
	for name, s := range map[string]scene{
		"a new version":       {head: change(base, "package-lock.json", edited(t, nil))},
		"with inside changes": {head: change(base, "package-lock.json", edited(t, nil), ".ai/handoff/LOG.md", "x")},
		"with STATUS.md alone": {
			head: change(base, "package-lock.json", edited(t, nil), status, "Two.\n"),
		},
		"with the manifest": {head: change(base, "package.json", pkgAfter, "package-lock.json", edited(t, func(_, p obj) {
			p[""].(obj)["devDependencies"].(obj)["tool"] = ">=1.0.1-rc.1+build.5"
		}))},
		"added and removed": {head: change(base, "package-lock.json", edited(t, func(_, p obj) {
			delete(p, "node_modules/tool/node_modules/inner")
			p["node_modules/a/node_modules/@x/y"] = obj{"dev": true, "integrity": "sha384-a", "resolved": "https://registry.npmjs.org/@x/y/-/y-1.0.0.tgz"}
		}))},
		"an alias that stays one": {head: change(base, "package-lock.json", edited(t, func(_, p obj) {
			e := p["node_modules/alias"].(obj)
			e["resolved"], e["version"] = "https://registry.npmjs.org/real/-/real-1.0.1.tgz", "1.0.1"
		}))},
		"no install script":  {head: change(base, "package-lock.json", edited(t, func(l, _ obj) { tool(l)["hasInstallScript"] = false }))},
		"other entries move": {base: npmStart, head: change(npmStart, "package-lock.json", replace(lockBefore, `"version": "2.0.0"`, `"version": "\u0032.0.1"`))},
		"in the index":       {level: gate.Precommit, index: change(base, "package-lock.json", edited(t, nil))},
		"committed and staged": {
			level: gate.Full, head: change(base, "package-lock.json", edited(t, func(_, p obj) { p["node_modules/rt"].(obj)["version"] = "6" })),
			index: change(base, "package-lock.json", edited(t, nil)),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if s.base == nil {
				s.base = base
			}
			if s.head == nil {
				s.head = s.base
			}
			l := check(t, s.input(), "npm-dev-update package-lock.json:0")
			if l.Status != report.OK || !strings.Contains(l.Findings[0].Message, "Registry-pinned development tools only.") || !strings.Contains(l.Summary, "required check") {
				t.Errorf("%s %s %v", l.Status, l.Summary, l.Findings)
			}
		})
	}
	t.Run("in a project", func(t *testing.T) {
		inner := change(fake.Tree{}, "p/"+config, npmConf, ci, scanJob, "p/package-lock.json", lockBefore)
		check(t, scene{project: "p", base: inner, head: change(inner, "p/package-lock.json", replace(lockBefore, `"version": "2.0.0"`, `"version": "2.0.1"`), "README.md", "x")}.input(),
			"npm-dev-update p/package-lock.json:0")
	})
}

// TestNPMRefused has one row for each way in which a change is none of
// development packages alone. The pair is not touched, so each fails.
func TestNPMRefused(t *testing.T) {
	base := lockStart(t)
	lock := func(edit func(l, p obj)) scene {
		return scene{head: change(base, "package-lock.json", edited(t, edit))}
	}
	entry := func(edit func(e obj)) scene { return lock(func(l, _ obj) { edit(tool(l)) }) }
	add := func(key string, e obj) scene { return lock(func(_, p obj) { p[key] = e }) }
	good := func() obj {
		return obj{"dev": true, "integrity": "sha512-a", "resolved": "https://registry.npmjs.org/new/-/new-1.0.0.tgz"}
	}
	resolved := func(to string) scene { return entry(func(e obj) { e["resolved"] = to }) }
	raw := func(text string) scene {
		return scene{base: npmStart, head: change(npmStart, "package-lock.json", text)}
	}
	ws := lockBefore[strings.Index(lockBefore, `    "packages/ws"`):strings.Index(lockBefore, "\n  }\n}")]
	swapped := strings.Replace(strings.Replace(lockBefore, ",\n"+ws, "", 1), `    "node_modules/rt"`, ws+",\n"+`    "node_modules/rt"`, 1)
	bumped := strings.Replace(lockBefore, `"version": "2.0.0"`, `"version": "2.0.1"`, 1)
	pkg := func(text string) scene {
		return scene{head: change(base, "package.json", text, "package-lock.json", edited(t, nil))}
	}
	spec := func(was, is string) scene {
		b := change(base, "package.json", strings.Replace(pkgBefore, "^1.0.0", was, 1))
		return scene{base: b, head: change(b, "package.json", strings.Replace(pkgBefore, "^1.0.0", is, 1), "package-lock.json", edited(t, nil))}
	}
	for _, tt := range []struct {
		name  string
		s     scene
		rules string
		line  int // of the first; 0 is none
	}{
		{"another file", scene{head: change(base, "package-lock.json", edited(t, nil), "src/app.js", "two\n")}, "other-files", 0},
		{"another file of that name", scene{head: change(base, "package-lock.json", edited(t, nil), "sub/package.json", "{}")}, "other-files", 0},
		{"the manifest removed", scene{head: change(base, "package-lock.json", edited(t, nil), "package.json", "-")}, "other-files", 0},
		{"a staged lock at ci", scene{index: change(base, "package-lock.json", edited(t, nil))}, "no-package-change other-files", 0},
		{"an executable", scene{head: base.With(map[string]*fake.File{"package-lock.json": {Data: edited(t, nil), Exec: true}})}, "mode", 0},
		{"an executable manifest", scene{head: change(base, "package-lock.json", edited(t, nil)).With(map[string]*fake.File{"package.json": {Data: pkgBefore, Exec: true}})}, "mode", 0},
		{"links", scene{
			base: base.With(map[string]*fake.File{"package-lock.json": {Data: "a", Kind: gate.Symlink}}),
			head: base.With(map[string]*fake.File{"package-lock.json": {Data: "b", Kind: gate.Symlink}}),
		}, "lock-invalid mode", 0},

		{"not JSON", raw("{\n\"a\": }"), "lock-invalid", 2},
		{"an array", raw("[]"), "lock-invalid", 1},
		{"equal keys", raw(strings.Replace(bumped, "\"dev\": true\n    },\n    \"node_modules/alias\"", "\"dev\": true,\n\"d\\u0065v\": true\n    },\n    \"node_modules/alias\"", 1)), "lock-invalid", 17},
		{"no packages", raw(`{"lockfileVersion": 3}`), "lock-invalid", 1},
		{"packages a list", raw("{\"lockfileVersion\": 3,\n\"packages\": []}"), "lock-invalid", 2},
		{"no version", raw(`{"packages": {}}`), "lock-invalid", 1},
		{"version 2", raw(strings.Replace(bumped, `"lockfileVersion": 3`, `"lockfileVersion": 2`, 1)), "lock-invalid", 4},
		{"version as text", raw(strings.Replace(bumped, `"lockfileVersion": 3`, `"lockfileVersion": "3"`, 1)), "lock-invalid", 4},
		{"version 2 before", scene{base: change(npmStart, "package-lock.json", strings.Replace(lockBefore, ": 3,", ": 2,", 1)), head: change(npmStart, "package-lock.json", bumped)}, "lock-invalid", 0},
		{"nested too deep", raw(`{"lockfileVersion": 3, "packages": {}, "x": ` + strings.Repeat("[", 2000)), "lock-invalid", 1},

		{"top level changed", raw(strings.Replace(bumped, `"requires": true`, `"requires": false`, 1)), "lock-top-level", 5},
		{"top level added", lock(func(l, _ obj) { l["overrides"] = obj{} }), "lock-top-level", 4},
		{"top level removed", lock(func(l, _ obj) { delete(l, "requires") }), "lock-top-level", 0},
		{"the name", raw(strings.Replace(bumped, `"name": "fx"`, `"name": "gx"`, 1)), "lock-top-level", 2},

		{"spelling alone", raw(strings.Replace(lockBefore, `"version": "2.0.0"`, `"version": "2.\u0030.0"`, 1)), "no-package-change", 0},
		{"entries in another order", raw(swapped), "no-package-change", 0},
		{"an entry's keys in another order", raw(strings.Replace(lockBefore, "\"version\": \"1.0.0\",\n      \"dev\": true", "\"dev\": true,\n      \"version\": \"1.0.0\"", 1)), "entry-integrity entry-not-package entry-registry", 47},
		{"the root alone", raw(strings.Replace(lockBefore, `"^1.0.0"`, `"^1.0.1"`, 1)), "no-package-change", 0},

		{"a workspace", lock(func(_, p obj) { p["packages/ws"].(obj)["version"] = "2.0.0" }), "entry-integrity entry-not-package entry-registry", 50},
		{"a package of a workspace's own", add("packages/ws/node_modules/new", good()), "entry-not-package", 55},
		{"a key that climbs", add("node_modules/../node_modules/new", good()), "entry-not-package entry-registry", 15},
		{"a key with an empty part", add("node_modules//new", good()), "entry-not-package entry-registry", 15},
		{"a key that ends early", add("node_modules/", good()), "entry-not-package entry-registry", 15},
		{"a look-alike folder", add("node_modules/evilnode_modules/new", good()), "entry-registry", 0},

		{"a runtime package", lock(func(_, p obj) { p["node_modules/rt"].(obj)["version"] = "2.0.0" }), "entry-not-dev", 0},
		{"a runtime package made dev", lock(func(_, p obj) { p["node_modules/rt"].(obj)["dev"] = true }), "entry-not-dev", 0},
		{"a dev package made runtime", entry(func(e obj) { delete(e, "dev") }), "entry-not-dev", 0},
		{"a runtime package removed", lock(func(_, p obj) { delete(p, "node_modules/rt") }), "entry-not-dev", 0},
		{"a runtime package added", add("node_modules/new", obj{"integrity": "sha512-a", "resolved": "https://registry.npmjs.org/new/-/new-1.0.0.tgz"}), "entry-not-dev", 0},
		{"dev as text", entry(func(e obj) { e["dev"] = "true" }), "entry-not-dev", 0},
		{"devOptional", entry(func(e obj) { delete(e, "dev"); e["devOptional"] = true }), "entry-not-dev", 0},
		{"an entry that is a text", lock(func(_, p obj) { p["node_modules/tool"] = "dev" }), "entry-integrity entry-not-dev entry-registry", 0},

		{"a link", lock(func(_, p obj) { p["node_modules/ws"].(obj)["resolved"] = "packages/x" }), "entry-integrity entry-link entry-registry", 0},
		{"a package becomes a link", entry(func(e obj) { e["link"] = true }), "entry-link", 0},
		{"an install script", entry(func(e obj) { e["hasInstallScript"] = true }), "entry-install-script", 0},
		{"an install script spelt otherwise", entry(func(e obj) { e["hasInstallScript"] = 1 }), "entry-install-script", 0},
		{"no integrity", entry(func(e obj) { delete(e, "integrity") }), "entry-integrity", 0},
		{"sha1", entry(func(e obj) { e["integrity"] = "sha1-aaaa" }), "entry-integrity", 0},
		{"two digests", entry(func(e obj) { e["integrity"] = "sha512-a sha1-b" }), "entry-integrity", 0},
		{"integrity with a newline", entry(func(e obj) { e["integrity"] = "sha512-a\n" }), "entry-integrity", 0},

		{"not resolved", entry(func(e obj) { delete(e, "resolved") }), "entry-registry", 0},
		{"plain http", resolved("http://registry.npmjs.org/tool/-/tool-1.0.1.tgz"), "entry-registry", 0},
		{"another host", resolved("https://registry.example.com/tool/-/tool-1.0.1.tgz"), "entry-registry", 0},
		{"a longer host", resolved("https://registry.npmjs.org.example.com/tool/-/tool-1.0.1.tgz"), "entry-registry", 0},
		{"a user before the host", resolved("https://registry.npmjs.org@example.com/tool/-/tool-1.0.1.tgz"), "entry-registry", 0},
		{"a port", resolved("https://registry.npmjs.org:443/tool/-/tool-1.0.1.tgz"), "entry-registry", 0},
		{"upper case", resolved("https://Registry.npmjs.org/tool/-/tool-1.0.1.tgz"), "entry-registry", 0},
		{"another package", resolved("https://registry.npmjs.org/tool2/-/tool2-1.0.1.tgz"), "entry-registry", 0},
		{"its own name, then another", resolved("https://registry.npmjs.org/tool/-/../../evil/-/evil-1.0.1.tgz"), "entry-registry", 0},
		{"encoded", resolved("https://registry.npmjs.org/tool/-/%2e%2e/evil.tgz"), "entry-registry", 0},
		{"a query", resolved("https://registry.npmjs.org/tool/-/tool.tgz?x"), "entry-registry", 0},
		{"a fragment", resolved("https://registry.npmjs.org/tool/-/tool.tgz#x"), "entry-registry", 0},
		{"a backslash", resolved(`https://registry.npmjs.org/tool/-/\evil.tgz`), "entry-registry", 0},
		{"git", resolved("git+ssh://git@github.com/a/tool.git"), "entry-registry", 0},
		{"becomes an alias", entry(func(e obj) { e["name"], e["resolved"] = "evil", "https://registry.npmjs.org/evil/-/evil-1.0.0.tgz" }), "entry-registry", 0},
		{"a new alias", add("node_modules/new", obj{"dev": true, "name": "evil", "integrity": "sha512-a", "resolved": "https://registry.npmjs.org/evil/-/evil-1.tgz"}), "entry-registry", 0},
		{"an alias of another package", lock(func(_, p obj) {
			e := p["node_modules/alias"].(obj)
			e["name"], e["resolved"] = "evil", "https://registry.npmjs.org/evil/-/evil-1.tgz"
		}), "entry-registry", 0},

		{"a script in package.json", pkg(strings.Replace(pkgBefore, `"name": "fx",`, "\"name\": \"fx\",\n  \"scripts\": {\"postinstall\": \"x\"},", 1)), "manifest-changed", 3},
		{"a runtime dependency", pkg(strings.Replace(pkgBefore, `"rt": "1.0.0"`, `"rt": "1.0.1"`, 1)), "manifest-changed", 3},
		{"keys in another order", pkg("{\n  \"dependencies\": {\"rt\": \"1.0.0\"},\n  \"name\": \"fx\",\n  \"devDependencies\": {\n    \"tool\": \"^1.0.0\",\n    \"other\": \"~2.0.0\"\n  }\n}\n"), "manifest-changed", 1},
		{"a new tool", pkg(strings.Replace(pkgBefore, `"tool": "^1.0.0"`, `"a": "1.0.0", "tool": "^1.0.0"`, 1)), "manifest-changed", 4},
		{"another tool", pkg(strings.Replace(pkgBefore, `"tool": "^1.0.0"`, `"tool2": "^1.0.0"`, 1)), "manifest-changed", 5},
		{"tools in another order", pkg("{\n  \"name\": \"fx\",\n  \"dependencies\": {\"rt\": \"1.0.0\"},\n  \"devDependencies\": {\n    \"other\": \"~2.0.0\",\n    \"tool\": \"^1.0.0\"\n  }\n}\n"), "manifest-changed", 5},
		{"no tools any more", pkg("{\n  \"name\": \"fx\",\n  \"dependencies\": {\"rt\": \"1.0.0\"}\n}\n"), "manifest-changed", 1},
		{"tools no object", pkg("{\n  \"name\": \"fx\",\n  \"dependencies\": {\"rt\": \"1.0.0\"},\n  \"devDependencies\": []\n}\n"), "manifest-changed", 4},
		{"package.json no JSON", pkg("{\n//\n}"), "manifest-changed", 2},
		{"package.json with equal keys", pkg(strings.Replace(pkgBefore, "{\n", "{\n  \"name\": \"fx\",\n", 1)), "manifest-changed", 3},
		{"package.json a list", pkg("[]"), "manifest-changed", 1},
		{"package.json too large", pkg(pkgBefore + strings.Repeat(" ", gate.MaxPackageJSON)), "manifest-changed", 0},
		{"the root entry", lock(func(_, p obj) { p[""].(obj)["bin"] = "x.js" }), "manifest-changed", 6},
		{"the root entry removed", lock(func(_, p obj) { delete(p, "") }), "manifest-changed", 0},
		{"the root entry's tools", lock(func(_, p obj) { p[""].(obj)["devDependencies"].(obj)["evil"] = "1.0.0" }), "manifest-changed", 9},

		{"a range", spec("^1.0.0", ">=1.0.0 <2.0.0"), "specifier", 5},
		{"a star", spec("^1.0.0", "*"), "specifier", 5},
		{"a tag", spec("^1.0.0", "latest"), "specifier", 5},
		{"a part of a version", spec("^1.0.0", "1.0"), "specifier", 5},
		{"a leading zero", spec("^1.0.0", "1.00.0"), "specifier", 5},
		{"an address", spec("^1.0.0", "https://example.com/x.tgz"), "specifier", 5},
		{"git", spec("^1.0.0", "github:a/b"), "specifier", 5},
		{"file", spec("^1.0.0", "file:../x"), "specifier", 5},
		{"npm alias", spec("^1.0.0", "npm:evil@1.0.0"), "specifier", 5},
		{"workspace", spec("^1.0.0", "workspace:*"), "specifier", 5},
		{"a tag before", spec("latest", "1.0.0"), "specifier", 5},
		{"a newline", spec("^1.0.0", `1.0.0\n`), "specifier", 5},
		{"no text", pkg(strings.Replace(pkgBefore, `"^1.0.0"`, `1`, 1)), "specifier", 5},
		{"in the lock's root entry", lock(func(_, p obj) { p[""].(obj)["devDependencies"].(obj)["tool"] = "latest" }), "specifier", 11},

		{"reasons of several rows", scene{head: change(base, "README.md", "x", "package-lock.json", edited(t, func(l, _ obj) {
			delete(tool(l), "dev")
			l["requires"] = nil
		}))}, "entry-not-dev lock-top-level other-files", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.s.base == nil {
				tt.s.base = base
			}
			l := drift.Check(tt.s.input())
			sound(t, l)
			got := npmRules(l)
			want := map[string]bool{}
			for r := range strings.FieldsSeq(tt.rules) {
				want[r] = true
			}
			has := map[string]bool{}
			for _, r := range got {
				has[r] = true
			}
			if !reflect.DeepEqual(has, want) {
				t.Errorf("got %v, want %s\n%v", got, tt.rules, l.Findings)
			}
			if !strings.Contains(fmt.Sprint(places(l)), "handoff-not-updated") {
				t.Errorf("the verdict is missing: %v", places(l))
			}
			for _, f := range l.Findings {
				if strings.HasPrefix(f.Rule, "drift/npm-") && tt.line > 0 {
					if f.Line != tt.line {
						t.Errorf("line %d of %s: %s", f.Line, f.Path, f.Message)
					}
					break
				}
			}
		})
	}
}

// The exemption is not tried, and says nothing, where it does not apply.
func TestNPMSilence(t *testing.T) {
	base := lockStart(t)
	bump := edited(t, nil)
	plain := change(base, config, "-")
	for name, tt := range map[string]struct {
		s    scene
		want []string
	}{
		"not opted in":            {scene{base: plain, head: change(plain, "package-lock.json", bump)}, []string{stale}},
		"opted in by the change":  {scene{base: plain, head: change(base, "package-lock.json", bump)}, []string{stale, "policy-changed " + config + ":0"}},
		"dropped by the change":   {scene{base: base, head: change(plain, "package-lock.json", bump)}, []string{stale, "policy-changed " + config + ":0"}},
		"the lock is untouched":   {scene{base: base, head: change(base, "package.json", "{}")}, []string{stale}},
		"the lock is new":         {scene{base: change(base, "package-lock.json", "-"), head: base}, []string{stale}},
		"the lock of a subfolder": {scene{base: base, head: change(base, "x/package-lock.json", bump)}, []string{stale}},
		"the pair is touched":     {scene{base: base, head: handoff(change(base, "package-lock.json", "{"))}, nil},
		"a broken policy": {
			scene{base: base, head: change(base, "package-lock.json", bump, config, `{"handoffImpact": 1}`)},
			[]string{stale, "policy-changed " + config + ":0", "config-invalid " + config + ":1"},
		},
	} {
		t.Run(name, func(t *testing.T) { check(t, tt.s.input(), tt.want...) })
	}
}

func TestScannerProof(t *testing.T) {
	base := lockStart(t)
	bump := edited(t, nil)
	const onConfig = "npm-scan-unproven " + config + ":4"
	for name, tt := range map[string]struct {
		s    scene
		want []string
	}{
		"gone":                     {scene{base: base, head: handoff(change(base, ci, "-"))}, []string{onConfig}},
		"gone, without any change": {scene{level: gate.Precommit, base: change(base, ci, "-")}, []string{onConfig}},
		"a link":                   {scene{base: base.With(map[string]*fake.File{ci: {Data: "x", Kind: gate.Symlink}})}, []string{onConfig}},
		"too large":                {scene{base: change(base, ci, scanJob+strings.Repeat("#", gate.MaxWorkflow))}, []string{onConfig}},
		"not readable":             {scene{base: base.With(map[string]*fake.File{ci: {Lost: errors.New("gone")}})}, []string{onConfig}},
		"no trigger":               {scene{base: change(base, ci, strings.Replace(scanJob, ", pull_request", "", 1))}, []string{"npm-scan-unproven " + ci + ":1"}},
		"conditional":              {scene{base: change(base, ci, scanJob+"    if: always()\n")}, []string{"npm-scan-unproven " + ci + ":7"}},
		"no job, no line":          {scene{base: change(base, ci, "on: pull_request\n")}, []string{onConfig}},
		"then nothing is exempt":   {scene{base: change(base, ci, "on: push\n"), head: change(base, ci, "on: push\n", "package-lock.json", bump)}, []string{stale, "npm-scan-unproven " + ci + ":1"}},
		"the workflow is at the top level": {
			scene{project: "p", base: change(fake.Tree{}, "p/"+config, npmConf, "p/"+ci, scanJob)},
			[]string{"npm-scan-unproven p/" + config + ":4"},
		},
		"the index is what counts":   {scene{level: gate.Full, base: base, index: handoff(change(base, ci, "on: push\n"))}, []string{"npm-scan-unproven " + ci + ":1"}},
		"the base's policy does not": {scene{base: change(base, ci, "on: push\n"), head: handoff(change(base, ci, "on: push\n", config, "-"))}, []string{"policy-changed " + config + ":0"}},
	} {
		t.Run(name, func(t *testing.T) { check(t, tt.s.input(), tt.want...) })
	}
}

// A blob that the clone lacks is no reason to refuse the exemption: it is an
// error of its own.
func TestNPMBlobMissing(t *testing.T) {
	base := lockStart(t)
	lost := base.With(map[string]*fake.File{"package-lock.json": {Data: "old", Lost: errors.New("this clone lacks it")}})
	check(t, scene{base: lost, head: change(base, "package-lock.json", edited(t, nil))}.input(), "diff-failed "+manifest+":0")
}

func TestNPMManyReasons(t *testing.T) {
	base := lockStart(t)
	s := scene{base: base, head: change(base, "package-lock.json", edited(t, func(_, p obj) {
		for i := range 25 {
			p[fmt.Sprintf("node_modules/n%02d", i)] = obj{"dev": true, "integrity": "sha512-a", "resolved": "x"}
		}
	}))}
	l := drift.Check(s.input())
	n, last := 0, ""
	for _, f := range l.Findings {
		if f.Rule == "drift/npm-entry-registry" {
			n++
			if f.Line == 0 {
				last = f.Message
			}
		}
	}
	if n != 21 || !strings.Contains(last, "5 more") {
		t.Errorf("%d notices, %q", n, last)
	}
}

// Hostile locks take linear time; were it quadratic, this would take minutes.
func TestNPMHostileLocks(t *testing.T) {
	var wide strings.Builder
	wide.WriteString(`{"lockfileVersion": 3, "packages": {`)
	for i := range 100_000 {
		if i > 0 {
			wide.WriteByte(',')
		}
		fmt.Fprintf(&wide, `"k%d": 1`, i)
	}
	wide.WriteString("}")
	top := wide.String()
	for i := range 100_000 {
		fmt.Fprintf(&wide, `,"t%d": 1`, i)
	}
	for name, lock := range map[string]string{
		"many entries on one line": top + "}",
		"many keys on top":         wide.String() + "}",
		"deep":                     `{"lockfileVersion": 3, "packages": {"a": ` + strings.Repeat("[", 900) + strings.Repeat("]", 900) + `}}`,
	} {
		t.Run(name, func(t *testing.T) {
			l := drift.Check(scene{base: npmStart, head: change(npmStart, "package-lock.json", lock)}.input())
			if len(l.Findings) > 300 || l.Status != report.Failed {
				t.Errorf("%d findings, %s", len(l.Findings), l.Status)
			}
		})
	}
}

// FuzzLock compares two lock files as the gate does. Whatever they hold: two
// runs agree, a pair that is granted is one of development packages by a plain
// second reading, and what a lock is compared with itself changes nothing.
func FuzzLock(f *testing.F) {
	f.Add([]byte(lockBefore), []byte(strings.Replace(lockBefore, `"version": "2.0.0"`, `"version": "2.0.1"`, 1)))
	f.Add([]byte(lockBefore), []byte(strings.Replace(lockBefore, `"requires": true`, `"requires": 1e0`, 1)))
	f.Add([]byte(`{"lockfileVersion":3,"packages":{}}`), []byte(`{"lockfileVersion":3.0,"packages":{"node_modules/a":{"dev":true,"integrity":"sha256-a","resolved":"https://registry.npmjs.org/a/-/a"}}}`))
	f.Add([]byte(`{}`), []byte(`[`))
	f.Fuzz(func(t *testing.T, old, current []byte) {
		in := scene{
			base: change(npmStart, "package-lock.json", string(old), "package.json", "-"),
			head: change(npmStart, "package-lock.json", string(current), "package.json", "-"),
		}.input()
		l := drift.Check(in)
		sound(t, l)
		if !reflect.DeepEqual(l, drift.Check(in)) {
			t.Fatal("a second run gives another layer")
		}
		if l.Status != report.OK {
			return
		}
		if string(old) == string(current) {
			if len(l.Findings) != 0 {
				t.Errorf("no change gives %v", l.Findings)
			}
			return
		}
		var a, b obj
		if err := errors.Join(json.Unmarshal(old, &a), json.Unmarshal(current, &b)); err != nil {
			t.Fatalf("granted, but %v", err)
		}
		before, after := a["packages"].(obj), b["packages"].(obj)
		delete(a, "packages")
		delete(b, "packages")
		if !reflect.DeepEqual(a, b) {
			t.Errorf("granted, but the top level changed: %v, %v", a, b)
		}
		for key, v := range before {
			if w, ok := after[key]; key != "" && !(ok && reflect.DeepEqual(v, w)) && v.(obj)["dev"] != true {
				t.Errorf("granted, but %q was no dev entry", key)
			}
		}
		for key, v := range after {
			if w, ok := before[key]; key == "" || ok && reflect.DeepEqual(v, w) {
				continue
			}
			e := v.(obj)
			r, _ := e["resolved"].(string)
			if e["dev"] != true || e["link"] == true || e["hasInstallScript"] == true || !strings.HasPrefix(key, "node_modules/") || !strings.HasPrefix(r, "https://registry.npmjs.org/") {
				t.Errorf("granted, but %q is %v", key, e)
			}
		}
	})
}

// This stands last in the package: by now the tests above have seen every rule
// fire. It needs all of them, in their order.
func TestEveryRuleHasFired(t *testing.T) {
	if flag.Lookup("test.run").Value.String() != "" || flag.Lookup("test.shuffle").Value.String() != "off" {
		t.Skip("only some tests were run, or in another order")
	}
	for _, r := range drift.Rules {
		if !fired[r.ID] {
			t.Errorf("no test fires %s", r.ID)
		}
	}
}
