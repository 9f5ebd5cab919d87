package session

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/fake"
)

func TestFind(t *testing.T) {
	link, broken := fake.File{Kind: gate.Symlink}, errors.New("denied")
	tree := fake.Tree{
		"r/INDEX.json":                         {},
		"r/README.md":                          {},
		"r/projects/p/a/manifest.json":         {},
		"r/projects/p/a/timeline.jsonl":        {},
		"r/projects/p/a-b/manifest.json":       link, // a name is enough
		"r/projects/p/c/HANDOFF.llm.json":      {},
		"r/projects/p/d/notes.md":              {},
		"r/projects/p/e":                       link,
		"r/projects/p/PROJECT.md":              link,
		"r/projects/p/f":                       {},
		"r/projects/p/g/h/manifest.json":       {}, // too deep
		"r/projects/q":                         link,
		"r/projects/s":                         {Kind: gate.Gitlink},
		"r/legacy/manifest.json":               {},
		"r/legacy/HANDOFF.llm.json":            {},
		"r/old":                                link,
		"r/links":                              link,
		"r/links2/TOOLS.md":                    {},
		"r/tools/manifest.json":                {},
		"r/templates/manifest.json":            {},
		"r/refs/manifest.json":                 {},
		"elsewhere/projects/p/a/manifest.json": {},
	}
	s := Find(tree, "r")
	var sessions, headless []string
	for _, p := range s.Sessions {
		mark := ""
		if p.Marked {
			mark = "*"
		}
		sessions = append(sessions, strings.TrimPrefix(p.Path, "r/")+"="+p.Name()+mark)
	}
	for _, p := range s.Headless {
		headless = append(headless, p.Name())
	}
	if want := []string{"legacy=legacy*", "projects/p/a=p/a*", "projects/p/a-b=p/a-b"}; !slices.Equal(sessions, want) {
		t.Errorf("sessions %q, want %q", sessions, want)
	}
	if want := []string{"links2", "p/c"}; !slices.Equal(headless, want) {
		t.Errorf("headless %q, want %q", headless, want)
	}
	if want := []string{"r/old", "r/projects/p/e", "r/projects/q"}; !slices.Equal(s.Links, want) {
		t.Errorf("links %q, want %q", s.Links, want)
	}
	if !s.Exists || len(s.Broken) > 0 {
		t.Errorf("%+v", s)
	}
	if got := Find(tree, "."); len(got.Sessions) > 0 {
		t.Errorf("in another root: %+v", got.Sessions)
	}
	for _, name := range []string{"r/README.md", "nowhere"} {
		if s := Find(tree, name); s.Exists || len(s.Broken) > 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if s := Find(fake.Tree{"r": {Err: broken}}, "r"); len(s.Broken) != 1 || !errors.Is(s.Broken[0].Err, broken) {
		t.Errorf("a root that cannot be read: %+v", s)
	}
	if s := Find(fake.Tree{"r/projects": link, "r/x": {}}, "r"); !slices.Equal(s.Links, []string{"r/projects"}) {
		t.Errorf("a link that hides every session: %+v", s)
	}
}

// heads reads candidates from lines "PATH SESSION".
func heads(t *testing.T, lines ...string) []Head {
	t.Helper()
	tree := fake.Tree{}
	for _, l := range lines {
		name, session, _ := strings.Cut(l, " ")
		text := "{}"
		if session != "" {
			text = `{"session":` + session + `}`
		}
		tree["r/"+name+"/manifest.json"] = fake.File{Data: text}
	}
	s := Find(tree, "r")
	var out []Head
	for _, p := range s.Sessions {
		h, bad := ReadHead(&Input{Place: p, Now: tree})
		if len(bad) > 0 {
			t.Fatal(bad)
		}
		out = append(out, h)
	}
	return out
}

// Resolving a prefix (sessions.md 4).
func TestResolve(t *testing.T) {
	candidates := heads(t, "projects/p/login", "projects/p/login-page", `projects/q/login "x"`, `projects/p/n 42`, `projects/p/f 1.50e1`, `projects/p/z -0`,
		`projects/p/e ""`, `projects/p/l [1]`, `projects/p/session-abc "SESSION-Q"`, `projects/p/Session-x`, `old-one "\u00e9t\u00e9"`, `projects/p/i 1e999`)
	for _, tt := range []struct{ prefix, want string }{
		{"login-", "p/login-page"},
		{"login", "p/login p/login-page q/login"}, // also where one is named exactly so
		{"Login", ""},
		{" login", ""},
		{"q/login", "q/login"},
		{"q/log", "q/login"},
		{"q/", "q/login"},
		{"p/login-page/", ""},
		{"Q/login", ""},
		{"x", "q/login"},
		{"42", "p/n"},
		{"15", "p/f"},
		{"1.5", ""},
		{"0", ""},
		{"[", ""},
		{"null", "p/i"},
		{"abc", "p/session-abc"},
		{"session-", "p/session-abc"},
		{"SESSION-", "p/session-abc"}, // by its field; not repeated with another session- in front
		{"SESSION-a", ""},
		{"Session-", "p/Session-x"},
		{"old", "old-one"},
		{"/old", ""},
		{"ét", "old-one"},
	} {
		var got []string
		for _, h := range Resolve(candidates, tt.prefix) {
			got = append(got, h.Name())
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q: %q, want %q", tt.prefix, got, tt.want)
		}
	}
}

func TestAmbiguousPrefix(t *testing.T) {
	candidates := heads(t, "projects/p/a1", "projects/p/a2", "projects/p/a3", "projects/p/a4", "projects/p/a5", "projects/p/a6", "projects/p/a7", "projects/p/a8", "projects/p/a9", "projects/q/a0", "a00")
	f := AmbiguousPrefix("r", candidates, "list")
	if want := "the prefix names 11 sessions: a00, p/a1, p/a2, p/a3, p/a4, p/a5, p/a6, p/a7, p/a8, p/a9, and 1 more"; f.Message != want {
		t.Errorf("got %q", f.Message)
	}
}

func TestReadHead(t *testing.T) {
	for _, tt := range []struct {
		file fake.File
		want string
	}{
		{fake.File{Data: "["}, "provenance/manifest-unparsable"},
		{fake.File{Data: "null"}, "provenance/manifest-unparsable"},
		{fake.File{Kind: gate.Symlink}, "provenance/symlink"},
		{fake.File{Kind: gate.Special}, "provenance/unreadable"},
		{fake.File{Data: "{}"}, ""},
	} {
		_, bad := ReadHead(&Input{Place: place, Now: fake.Tree{dir + "/manifest.json": tt.file}})
		got := ""
		if len(bad) == 1 {
			got = bad[0].Rule
		}
		if len(bad) > 1 || got != tt.want {
			t.Errorf("%+v: %v, want %s", tt.file, bad, tt.want)
		}
	}
}

// INDEX.json is held to the sessions that it names (sessions.md 7.6).
func TestIndex(t *testing.T) {
	tree := put(dir, sample().Files())
	tree["handoffs/old/manifest.json"] = fake.File{Data: `{"project":"p","turn_count":1}`}
	var all []Head
	s := Find(tree, root)
	for _, p := range s.Sessions {
		h, _ := ReadHead(&Input{Place: p, Now: tree})
		all = append(all, h)
	}
	hash, _ := all[1].Hash.Text()
	for _, tt := range []struct {
		name, index string
		want        []int // lines; 0 for none known
	}{
		{"none", "", nil},
		{"right", `[{"id":"alpha","project":"demo","manifest_sha256":"` + hash + `","turns":3,"revisions":1.0},{"id":"old","project":"p","turns":1}]`, nil},
		{"others", `[{"id":"alpha","project":"other","turns":9},{"id":"beta","project":"demo"},{"id":1},5,null,{},[{"id":"alpha","project":"demo","turns":9}]]`, nil},
		{"wrong turns", "[\n{\"project\":\"demo\",\n\"id\":\"alpha\",\"turns\":4}]", []int{3}},
		{"wrong hash and revisions", "[{\"id\":\"alpha\",\"project\":\"demo\",\"manifest_sha256\":\"x\"},\n{\"id\":\"alpha\",\"project\":\"demo\",\"revisions\":\"1\"}]", []int{1, 2}},
		{"a field that the manifest lacks", `[{"id":"old","project":"p","revisions":1}]`, []int{1}},
		{"no JSON", "[\n", []int{1}},
		{"no array", "\n{}", []int{1}},
		{"no array, but rows", `{"a":{"id":"alpha","project":"demo","turns":9}}`, []int{1}},
	} {
		with := tree.With(nil)
		if tt.name != "none" {
			with["handoffs/INDEX.json"] = fake.File{Data: tt.index}
		}
		var got []int
		for _, f := range CheckIndex(with, root, all) {
			if f.Rule != IndexStale.ID || f.Path != "handoffs/INDEX.json" {
				t.Errorf("%s: %+v", tt.name, f)
			}
			got = append(got, f.Line)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: lines %v, want %v", tt.name, got, tt.want)
		}
	}
	for _, file := range []fake.File{{Kind: gate.Symlink}, {Lost: errors.New("x")}} {
		if got := CheckIndex(fake.Tree{"handoffs/INDEX.json": file}, root, nil); len(got) != 1 {
			t.Errorf("%+v: %v", file, got)
		}
	}
}

// What differs between two states (sessions.md 8.5): by ids where both have them,
// by bytes where one is on disk.
func TestChanged(t *testing.T) {
	base := put(dir, sample().Files())
	for _, tt := range []struct {
		name   string
		change map[string]*fake.File
		want   bool
	}{
		{"nothing", nil, false},
		{"a render", map[string]*fake.File{dir + "/HANDOFF.md": {Data: "x"}}, true},
		{"a file more", map[string]*fake.File{dir + "/deep/er/notes.txt": {Data: "x"}}, true},
		{"a file less", map[string]*fake.File{dir + "/TOOLS.md": nil}, true},
		{"a file with another name", map[string]*fake.File{dir + "/TOOLS.md": nil, dir + "/TOOLS.txt": {Data: "# Tool calls\n"}}, true},
		{"a link", map[string]*fake.File{dir + "/TOOLS.md": {Kind: gate.Symlink, Data: "# Tool calls\n"}}, true},
		{"a mode", map[string]*fake.File{dir + "/TOOLS.md": {Data: "# Tool calls\n", Exec: true}}, true},
		{"all of it", map[string]*fake.File{
			dir + "/TOOLS.md": nil, dir + "/HANDOFF.md": nil, dir + "/HANDOFF.llm.json": nil, dir + "/HANDOFF.summary.json": nil, dir + "/timeline.jsonl": nil, dir + "/manifest.json": nil,
		}, true},
		{"a neighbour", map[string]*fake.File{"handoffs/projects/demo/beta/manifest.json": {}}, false},
	} {
		now := base.With(tt.change)
		if got := Changed(now, base, dir); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
	if Changed(base, base, "nowhere") || !Changed(base, fake.Tree{}, dir) || !Changed(fake.Tree{"x": {Err: errors.New("x")}}, base, "x") {
		t.Error("what is not there, or cannot be read")
	}
}

// A configuration is held to its table (sessions.md 2), and every error is named.
func TestConfig(t *testing.T) {
	for _, tt := range []struct {
		text string
		dir  string
		want string // "LINE: MESSAGE", joined by "; "
	}{
		{`{}`, "", ""},
		{`{"storage":{"path":"store","type":"sqlite"},"handoff_dir":"other"}`, "store", ""},
		{`{"handoff_dir":"other","storage":{"type":"filesystem"}}`, "other", ""},
		{`{"handoff_dir":"first","handoff_dir":"\u0061"}`, "a", ""},
		{`{"version":1.0,"$schema":"s","project_name":null,"auto_capture":true,"max_brief_tokens":1e3,"exclude_from_handoff":["a"],
"capture":{"exclude_patterns":[],"include_tool_outputs":false,"truncate_tool_outputs":true,"max_tool_output_length":0},
"linking":{"enabled":true,"min_overlap_score":0.5},"integrity":{"sha256_manifest":true,"verify_on_read":false}}`, "", ""},
		{"", "", "1: it is not JSON: it ends too early"},
		{"\ufeff{}", "", "1: it is not JSON: it begins with a byte order mark"},
		{"{\n\"version\": 1,\n}", "", "3: it is not JSON: a key in double quotes is missing"},
		{"\n[]", "", "2: it is an array, not an object"},
		{`{"version":2}`, "", "1: version must be the integer 1"},
		{`{"version":"1"}`, "", "1: version must be the integer 1"},
		{`{"handoff_dir":""}`, "", "1: handoff_dir must be a string of at least 1 character"},
		{`{"handoff_dir":7}`, "", "1: handoff_dir must be a string of at least 1 character"},
		{"{\"handoffs_dir\":\"x\",\n\"storage\":{\"path\":\"\",\n\"kind\":1}}", "", "1: handoffs_dir is no key that is known; 2: storage.path must be a string of at least 1 character; 3: storage.kind is no key that is known"},
		{`{"storage":[]}`, "", "1: storage must be an object"},
		{`{"storage":{"type":"memory"}}`, "", `1: storage.type must be "filesystem" or "sqlite"`},
		{`{"project_name":1}`, "", "1: project_name must be a string or null"},
		{`{"auto_capture":"true"}`, "", "1: auto_capture must be true or false"},
		{`{"max_brief_tokens":999}`, "", "1: max_brief_tokens must be an integer from 1000 to 100000"},
		{`{"max_brief_tokens":1000.5}`, "", "1: max_brief_tokens must be an integer from 1000 to 100000"},
		{`{"max_brief_tokens":1e999}`, "", "1: max_brief_tokens must be an integer from 1000 to 100000"},
		{`{"exclude_from_handoff":["a",1]}`, "", "1: exclude_from_handoff must be an array of strings"},
		{`{"capture":{"max_tool_output_length":-1}}`, "", "1: capture.max_tool_output_length must be an integer of 0 or more"},
		{`{"capture":{"max_tool_output_length":1e999}}`, "", "1: capture.max_tool_output_length must be an integer of 0 or more"},
		{`{"linking":{"min_overlap_score":1.1}}`, "", "1: linking.min_overlap_score must be a number from 0 to 1"},
		{`{"integrity":{"sha256_manifest":null}}`, "", "1: integrity.sha256_manifest must be true or false"},
		{`{"$schema":null}`, "", "1: $schema must be a string"},
	} {
		c := ParseConfig([]byte(tt.text))
		var got []string
		for _, p := range c.Problems {
			got = append(got, strings.TrimSpace(strings.Join([]string{string(rune('0' + p.Line)), ": ", p.Message}, "")))
		}
		if c.Directory != tt.dir || strings.Join(got, "; ") != tt.want {
			t.Errorf("%s\ngot  %q, %q\nwant %q, %q", tt.text, c.Directory, strings.Join(got, "; "), tt.dir, tt.want)
		}
		if (c.Err() == nil) != (tt.want == "") {
			t.Errorf("%s: %v", tt.text, c.Err())
		}
	}
}

// Whatever a configuration holds, it is right or says what is wrong.
func FuzzConfig(f *testing.F) {
	f.Add([]byte(`{"handoff_dir":"x","storage":{"path":"y"},"linking":{"min_overlap_score":0.5}}`))
	f.Add([]byte(`{"a":1,"a":2,"\ud800":3}`))
	f.Add([]byte("\ufeff{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c := ParseConfig(text)
		for _, p := range c.Problems {
			if p.Line < 1 || p.Message == "" {
				t.Errorf("%q: %+v", text, p)
			}
		}
		if c.Directory != "" && len(c.Problems) == 0 && c.DirectoryLine < 1 {
			t.Errorf("%q declares %q on no line", text, c.Directory)
		}
	})
}
