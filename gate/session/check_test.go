package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/fake"
	"github.com/handoff-gate/handoff-gate/gate/internal/sessiontest"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

const (
	root = "handoffs"
	dir  = "handoffs/projects/demo/alpha"
)

var place = Place{Path: dir, ID: "alpha", Project: "demo", Marked: true}

// sample is a session of three turns whose files agree.
func sample() *sessiontest.Session { return sessiontest.New("demo", "alpha", 3) }

// at makes a tree of one session folder.
func put(dir string, files map[string]string) fake.Tree {
	t := fake.Tree{}
	for name, data := range files {
		t[path.Join(dir, name)] = fake.File{Data: data}
	}
	return t
}

// judge checks a session and lists what was found: "SEVERITY RULE FILE:LINE", with
// files named from the session's folder.
func judge(in *Input) []string {
	res := Check(in)
	findings := res.Findings
	report.Sort(findings)
	var out []string
	for _, f := range findings {
		rel, _ := gate.Below(in.Path, f.Path)
		line := fmt.Sprintf("%s %s %s", f.Severity, strings.TrimPrefix(f.Rule, "provenance/"), rel)
		if f.Path == in.Path {
			line = strings.TrimRight(line, " ") + " ."
		}
		if f.Line > 0 {
			line += fmt.Sprintf(":%d", f.Line)
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	want = slices.Clone(want)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("\ngot  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

// edit replaces a text that a file holds exactly once.
func edit(t *testing.T, files map[string]string, name, old, now string) {
	t.Helper()
	if strings.Count(files[name], old) != 1 {
		t.Fatalf("%s holds %q %d times", name, old, strings.Count(files[name], old))
	}
	files[name] = strings.Replace(files[name], old, now, 1)
}

// What is found in a folder by itself (sessions.md 5 and 7). Each case changes one
// thing of a sound session: its manifest, which is sealed again, or the files.
func TestFolder(t *testing.T) {
	set := func(name, json string) func(*sessiontest.Session) {
		return func(s *sessiontest.Session) { s.Set(name, json) }
	}
	for _, tt := range []struct {
		name   string
		seal   func(*sessiontest.Session)
		change func(t *testing.T, files map[string]string)
		want   []string
	}{
		{name: "sound"},
		{name: "white space and escapes of the manifest", change: func(_ *testing.T, f map[string]string) {
			f["manifest.json"] = " \t" + strings.ReplaceAll(strings.ReplaceAll(f["manifest.json"], ",\n", "\r\n ,\t"), `"harness"`, `"\u0068arness"`) + "\n\n"
		}},
		{name: "a field edited", change: func(t *testing.T, f map[string]string) {
			edit(t, f, "manifest.json", "claude-code", "claude-cods")
		}, want: []string{"error manifest-hash-mismatch manifest.json:14"}},
		{name: "a field added", change: func(t *testing.T, f map[string]string) {
			edit(t, f, "manifest.json", "{\n  \"session\"", "{\n  \"x\": 1,\n  \"session\"")
		}, want: []string{"error manifest-hash-mismatch manifest.json:15"}},
		{name: "the hash in upper case", change: func(t *testing.T, f map[string]string) {
			hash := sessiontest.Hash(f["manifest.json"])
			edit(t, f, "manifest.json", hash, strings.ToUpper(hash))
		}, want: []string{
			"error manifest-hash-mismatch manifest.json:14", "error copy-mismatch HANDOFF.llm.json:8", "error copy-mismatch HANDOFF.summary.json:8", "error copy-mismatch HANDOFF.md:5",
		}},
		{name: "no hash", change: func(t *testing.T, f map[string]string) {
			edit(t, f, "manifest.json", "\"manifest_sha256\"", "\"manifest_sha\"")
		}, want: []string{"error manifest-hash-mismatch manifest.json:1"}},
		{name: "the hash is no string", change: func(_ *testing.T, f map[string]string) {
			f["manifest.json"] = strings.ReplaceAll(f["manifest.json"], `"`+sessiontest.Hash(f["manifest.json"])+`"`, "[]")
		}, want: []string{
			"error manifest-hash-mismatch manifest.json:14", "error copy-mismatch HANDOFF.llm.json:8", "error copy-mismatch HANDOFF.summary.json:8", "error copy-mismatch HANDOFF.md:5",
		}},
		{name: "__proto__ is outside of the hash", change: func(t *testing.T, f map[string]string) {
			edit(t, f, "manifest.json", "\"model\": \"m\",", "\"model\": \"m\",\n  \"\\u005f_proto__\": {\"a\": 1},")
		}, want: []string{"error manifest-proto-key manifest.json:6"}},
		{name: "a nested __proto__ is inside", seal: set("x", `{"__proto__":1}`)},
		{name: "equal keys", seal: set("x", "{\"a\":1,\n\"b\":[{\"c\":1,\n\"\\u0063\":2}],\"a\":1}"), want: []string{
			"warning manifest-duplicate-key manifest.json:16", "warning manifest-duplicate-key manifest.json:16",
		}},
		{name: "no JSON", change: func(_ *testing.T, f map[string]string) {
			f["manifest.json"] = "{\n\"a\": 1,\n<<<<<<<\n"
			delete(f, "timeline.jsonl")
		}, want: []string{"error manifest-unparsable manifest.json:3"}},
		{name: "a byte order mark", change: func(_ *testing.T, f map[string]string) {
			f["manifest.json"] = "\ufeff" + f["manifest.json"]
		}, want: []string{"error manifest-unparsable manifest.json:1"}},
		{name: "no object", change: func(_ *testing.T, f map[string]string) { f["manifest.json"] = "\n\n[]" }, want: []string{"error manifest-unparsable manifest.json:3"}},
		{name: "nested as deep as is read", seal: set("x", strings.Repeat("[", 1999)+strings.Repeat("]", 1999))},
		{name: "nested deeper", change: func(_ *testing.T, f map[string]string) {
			f["manifest.json"] = "{\"x\":\n" + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + "}"
		}, want: []string{"error manifest-unparsable manifest.json:2"}},

		{name: "no timeline", change: func(_ *testing.T, f map[string]string) { delete(f, "timeline.jsonl") }, want: []string{"error timeline-missing ."}},
		{
			name: "empty timeline", seal: set("turn_count", "0"), change: func(_ *testing.T, f map[string]string) { f["timeline.jsonl"] = "\n\r\n" },
			want: []string{"error turn-count-drift timeline.jsonl:1", "error class-count-drift manifest.json:13", "error payload-timeline-drift timeline.jsonl:1"},
		},
		{name: "a line lost", change: func(_ *testing.T, f map[string]string) {
			f["timeline.jsonl"] = f["timeline.jsonl"][:strings.LastIndex(strings.TrimSpace(f["timeline.jsonl"]), "\n")]
		}, want: []string{
			"error turn-count-drift timeline.jsonl:2", "error class-count-drift manifest.json:13", "error payload-timeline-drift timeline.jsonl:2", "error watermark-ahead manifest.json:8",
		}},
		{
			name: "a line added", change: func(_ *testing.T, f map[string]string) { f["timeline.jsonl"] += "\n{}\n" },
			want: []string{"error turn-count-drift timeline.jsonl:5", "error payload-timeline-drift timeline.jsonl:5"},
		},
		{name: "other line ends", change: func(_ *testing.T, f map[string]string) {
			f["timeline.jsonl"] = "\r\n" + strings.TrimRight(strings.ReplaceAll(f["timeline.jsonl"], "\n", "\r\n\n"), "\r\n")
		}},
		{name: "turn_count is a string", seal: set("turn_count", `"3"`), want: []string{"error turn-count-drift timeline.jsonl:3"}},
		{name: "turn_count is absent", seal: func(s *sessiontest.Session) { s.Delete("turn_count") }, want: []string{"error turn-count-drift timeline.jsonl:3"}},
		{name: "turn_count is a double", seal: set("turn_count", "3.0e0")},
		{name: "a line is no object", change: func(_ *testing.T, f map[string]string) {
			f["timeline.jsonl"] = "{\"seq\":0\n[1]\n  \n"
		}, want: []string{"error timeline-line-unparsable timeline.jsonl:1", "error timeline-line-unparsable timeline.jsonl:2", "error timeline-line-unparsable timeline.jsonl:3"}},
		{name: "many lines are none", seal: set("turn_count", "50"), change: func(_ *testing.T, f map[string]string) {
			f["timeline.jsonl"] = strings.Repeat("x\n", 50)
		}, want: eachLine("error timeline-line-unparsable timeline.jsonl", 20)},
		{name: "a byte order mark in the timeline", change: func(_ *testing.T, f map[string]string) {
			f["timeline.jsonl"] = "\ufeff" + f["timeline.jsonl"]
		}, want: []string{"error timeline-line-unparsable timeline.jsonl:1"}},
		{
			name: "a class changed", change: func(t *testing.T, f map[string]string) { edit(t, f, "timeline.jsonl", `"AGENT"`, `"USER"`) },
			want: []string{"error class-count-drift manifest.json:13", "error payload-timeline-drift timeline.jsonl:2"},
		},
		{name: "a class that is not counted", change: func(t *testing.T, f map[string]string) {
			for _, name := range []string{"timeline.jsonl", "HANDOFF.llm.json"} {
				edit(t, f, name, `"seq`+map[string]string{"timeline.jsonl": `":1,`, "HANDOFF.llm.json": `": 1,`}[name], `"x":1,"seq":1,`)
			}
		}},
		{name: "counts that are none", seal: set("counts", `[1]`)},
		{name: "counts of a wrong kind", seal: set("counts", `{"USER":"1","AGENT":1,"OTHER":0}`), want: []string{"error class-count-drift manifest.json:13"}},
		{
			name: "a text edited", change: func(t *testing.T, f map[string]string) { edit(t, f, "timeline.jsonl", "turn 1", "turn l") },
			want: []string{"error payload-timeline-drift timeline.jsonl:2"},
		},
		{
			name: "the payload edited", change: func(t *testing.T, f map[string]string) { edit(t, f, "HANDOFF.llm.json", "turn 2", "turn z") },
			want: []string{"error payload-timeline-drift timeline.jsonl:3"},
		},
		{name: "other spellings in the payload", change: func(t *testing.T, f map[string]string) {
			edit(t, f, "HANDOFF.llm.json", `"seq": 1`, `"seq": 9, "seq": 1.0e0`)
			edit(t, f, "HANDOFF.llm.json", `turn 2`, `\u0074urn 2`)
		}},
		{name: "a field absent on one side", change: func(_ *testing.T, f map[string]string) {
			f["timeline.jsonl"] = strings.Replace(f["timeline.jsonl"], `"ts":"2026-10-08T10:00:01Z",`, "", 1)
		}, want: []string{"error payload-timeline-drift timeline.jsonl:2"}},
		{name: "a turn missing in the payload", change: func(_ *testing.T, f map[string]string) {
			f["HANDOFF.llm.json"] = f["HANDOFF.llm.json"][:strings.LastIndex(f["HANDOFF.llm.json"], ",\n")] + "]}"
		}, want: []string{"error payload-timeline-drift timeline.jsonl:3"}},
		{
			name: "a turn too many in the payload", change: func(t *testing.T, f map[string]string) { edit(t, f, "HANDOFF.llm.json", "\n  ]", ",7]") },
			want: []string{"error payload-timeline-drift timeline.jsonl:3"},
		},
		{name: "the last of equal members counts", change: func(t *testing.T, f map[string]string) {
			edit(t, f, "HANDOFF.llm.json", `"timeline": [`, `"timeline": [{}, 1], "timeline": "none", "timeline": [`)
		}},
		{name: "and is wrong", change: func(t *testing.T, f map[string]string) {
			edit(t, f, "HANDOFF.llm.json", "\n  ]\n}", "], \"timeline\": [{}]}")
		}, want: []string{"error payload-timeline-drift timeline.jsonl:1"}},
		{name: "a payload without turns", change: func(_ *testing.T, f map[string]string) {
			f["HANDOFF.llm.json"] = f["HANDOFF.summary.json"]
		}},
		{
			name: "a payload of another shape", change: func(_ *testing.T, f map[string]string) { f["HANDOFF.llm.json"] = `[{"timeline":[1]}]` },
			want: []string{"warning copy-missing HANDOFF.llm.json"},
		},
		{name: "no payload", change: func(_ *testing.T, f map[string]string) { delete(f, "HANDOFF.llm.json") }, want: []string{"error payload-missing ."}},
		{
			name: "a payload that is no JSON", change: func(t *testing.T, f map[string]string) {
				edit(t, f, "HANDOFF.llm.json", `"timeline": [`, `"timeline": `)
			},
			want: []string{"error payload-unparsable HANDOFF.llm.json:12"},
		},
		{name: "deep JSON in the payload", change: func(t *testing.T, f map[string]string) {
			edit(t, f, "HANDOFF.llm.json", `"objective": "o"`, `"objective": `+strings.Repeat("[", 9999)+strings.Repeat("]", 9999))
		}},
		{name: "deeper", change: func(t *testing.T, f map[string]string) {
			edit(t, f, "HANDOFF.llm.json", `"objective": "o"`, `"objective": `+strings.Repeat("[", 10000)+strings.Repeat("]", 10000))
		}, want: []string{"error payload-unparsable HANDOFF.llm.json:2"}},

		{name: "a copy edited", change: func(t *testing.T, f map[string]string) {
			edit(t, f, "HANDOFF.llm.json", `"revision": 1`, `"revision": 2`)
			edit(t, f, "HANDOFF.summary.json", `"watermark": 2`, `"watermark": 2.5`)
			edit(t, f, "HANDOFF.md", "revisions=1 ", "revisions=11 ")
		}, want: []string{"error copy-mismatch HANDOFF.llm.json:5", "error copy-mismatch HANDOFF.summary.json:6", "error copy-mismatch HANDOFF.md:6"}},
		{name: "a number as a number", change: func(t *testing.T, f map[string]string) {
			edit(t, f, "HANDOFF.summary.json", `"watermark": 2`, `"watermark": 2.0`)
			edit(t, f, "HANDOFF.md", "revisions=1 ", "revisions=001x")
		}},
		{name: "a copy that one side lacks", seal: func(s *sessiontest.Session) { s.Delete("raw_sha256") }, change: func(t *testing.T, f map[string]string) {
			edit(t, f, "HANDOFF.summary.json", "    \"revision\"", "    \"raw_sha256\": 1,\n    \"revision\"")
			edit(t, f, "HANDOFF.md", "- raw sha256: \n", "- raw sha256: "+strings.Repeat("a", 64)+"\n")
		}},
		{
			name: "copies that a promotion left behind", seal: func(s *sessiontest.Session) { s.Set("promoted_at", `"t"`) }, change: resealed("harness", `"x"`),
			want: []string{"warning copy-stale HANDOFF.llm.json:8", "warning copy-stale HANDOFF.summary.json:8", "warning copy-stale HANDOFF.md:5"},
		},
		{
			name: "copies that a rename left behind", seal: func(s *sessiontest.Session) { s.Set("prev_project", `"old"`) }, change: resealed("revisions", `2`),
			want: []string{
				"error copy-mismatch HANDOFF.llm.json:8", "error copy-mismatch HANDOFF.summary.json:8", "warning copy-stale HANDOFF.llm.json:5",
				"warning copy-stale HANDOFF.summary.json:5", "warning copy-stale HANDOFF.md:5", "warning copy-stale HANDOFF.md:6",
			},
		},
		{name: "one line of a kind is enough", change: func(_ *testing.T, f map[string]string) {
			other := "- manifest sha256: " + strings.Repeat("0", 64) + "\r\n- raw sha256: " + strings.Repeat("1", 64) + "\n- incremental: revisions=7\n"
			f["HANDOFF.md"] = other + f["HANDOFF.md"] + other
		}},
		{name: "none of a kind agrees", change: func(_ *testing.T, f map[string]string) {
			f["HANDOFF.md"] = strings.ReplaceAll(f["HANDOFF.md"], "- raw sha256: ", "- raw sha256: "+strings.Repeat("0", 64)+"\n- raw sha256: "+strings.Repeat("1", 64)+"\nwas ")
		}, want: []string{"error copy-mismatch HANDOFF.md:5"}},
		{name: "not of that form", change: func(_ *testing.T, f map[string]string) {
			f["HANDOFF.md"] = strings.ReplaceAll(f["HANDOFF.md"], "- ", " - ") + "- raw sha256: " + strings.Repeat("0", 64) + " \n- raw sha256: " + strings.Repeat("A", 64) +
				"\n- raw sha256: " + strings.Repeat("0", 65) + "\n- incremental: revisions=x\n- raw sha256: " + strings.Repeat("0", 64) + "\r\r\n"
		}, want: []string{"warning copy-missing HANDOFF.md"}},
		{name: "no copies", change: func(_ *testing.T, f map[string]string) {
			f["HANDOFF.summary.json"], f["HANDOFF.llm.json"], f["HANDOFF.md"] = `{"provenance":[]}`, `"x"`, ""
		}, want: []string{"warning copy-missing HANDOFF.summary.json", "warning copy-missing HANDOFF.llm.json", "warning copy-missing HANDOFF.md"}},
		{name: "no renders", change: func(_ *testing.T, f map[string]string) {
			delete(f, "HANDOFF.summary.json")
			delete(f, "HANDOFF.md")
			delete(f, "TOOLS.md")
		}, want: []string{"warning render-missing ."}},
		{
			name: "a summary that is no JSON", change: func(_ *testing.T, f map[string]string) { f["HANDOFF.summary.json"] = "{\n" },
			want: []string{"error summary-unparsable HANDOFF.summary.json:1"},
		},

		{name: "a watermark too high", seal: set("watermark", "3"), want: []string{"error watermark-ahead manifest.json:8"}},
		{name: "a watermark too low", seal: set("watermark", "1"), want: []string{"warning watermark-behind manifest.json:8"}},
		{name: "no watermark", seal: set("watermark", `"2"`)},
		{name: "of a merged session", seal: func(s *sessiontest.Session) {
			s.Set("watermark", "99")
			s.Set("merged_from", "[]")
		}},
		{name: "paths of a machine", seal: set("source_paths", "[\"/a\",\n\"b\", \"~/c\",\n\"C:\\\\d\", 5]"), want: []string{
			"warning local-path-exposed manifest.json:7", "warning local-path-exposed manifest.json:8", "warning local-path-exposed manifest.json:9",
		}},
		{name: "another project", seal: set("project", `"other"`), want: []string{"warning project-mismatch manifest.json:3"}},
		{name: "no project", seal: func(s *sessiontest.Session) { s.Delete("project") }, want: []string{"warning project-mismatch manifest.json:1"}},
		{name: "promoted by force", seal: set("promoted_gate", `"FORCED"`), want: []string{"warning promotion-forced manifest.json:14"}},
		{name: "promoted otherwise", seal: set("promoted_gate", `"OTHER"`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := sample()
			if tt.seal != nil {
				tt.seal(s)
			}
			files := s.Files()
			if tt.change != nil {
				tt.change(t, files)
			}
			same(t, judge(&Input{Place: place, Now: put(dir, files), Again: "again"}), tt.want)
		})
	}
}

// resealed sets a field and seals the manifest, and leaves the copies as they were.
func resealed(name, json string) func(*testing.T, map[string]string) {
	return func(_ *testing.T, files map[string]string) {
		lines := strings.Split(files["manifest.json"], "\n")
		for i, l := range lines {
			if strings.HasPrefix(l, `  "`+name+`":`) {
				lines[i] = fmt.Sprintf("  %q: %s,", name, json)
			}
		}
		old := sessiontest.Hash(files["manifest.json"])
		text := strings.Join(lines, "\n")
		files["manifest.json"] = strings.Replace(text, old, sessiontest.Hash(text), 1)
	}
}

func eachLine(what string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%s:%d", what, i+1))
	}
	return out
}

// What is no file, or not to be read, is reported once; what needs it is not judged.
func TestWhatCannotBeRead(t *testing.T) {
	broken := errors.New("input/output error")
	for _, tt := range []struct {
		name  string
		file  string
		is    fake.File
		other Input
		want  []string
	}{
		{"a linked manifest", "manifest.json", fake.File{Kind: gate.Symlink}, Input{}, []string{"error symlink manifest.json"}},
		{"a linked timeline", "timeline.jsonl", fake.File{Kind: gate.Symlink}, Input{}, []string{"error symlink timeline.jsonl"}},
		{"a linked payload", "HANDOFF.llm.json", fake.File{Kind: gate.Symlink}, Input{}, []string{"error symlink HANDOFF.llm.json"}},
		{"a linked summary", "HANDOFF.summary.json", fake.File{Kind: gate.Symlink}, Input{}, []string{"error symlink HANDOFF.summary.json"}},
		{"a linked render", "HANDOFF.md", fake.File{Kind: gate.Symlink}, Input{}, []string{"error symlink HANDOFF.md"}},
		{"a linked list of tools", "TOOLS.md", fake.File{Kind: gate.Symlink}, Input{}, []string{"error symlink TOOLS.md"}},
		{"another link", "manifest.json.bak", fake.File{Kind: gate.Symlink}, Input{}, nil},
		{"a folder", "timeline.jsonl/x", fake.File{}, Input{}, []string{"error unreadable timeline.jsonl"}},
		{"a pipe", "HANDOFF.llm.json", fake.File{Kind: gate.Special}, Input{}, []string{"error unreadable HANDOFF.llm.json"}},
		{"a submodule", "manifest.json", fake.File{Kind: gate.Gitlink}, Input{}, []string{"error unreadable manifest.json"}},
		{"a lost object", "HANDOFF.md", fake.File{Lost: broken}, Input{}, []string{"error unreadable HANDOFF.md"}},
		{"nobody reads the list of tools", "TOOLS.md", fake.File{Lost: broken}, Input{}, nil},
		{"a pointer on disk", "TOOLS.md", fake.File{Data: gate.LFSPointer}, Input{}, nil},
		{"a pointer in a commit", "timeline.jsonl", fake.File{Data: gate.LFSPointer + "\noid sha256:0\n"}, Input{Pointers: true}, []string{"error unreadable timeline.jsonl"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tree := put(dir, sample().Files())
			if before, _, folder := strings.Cut(tt.file, "/"); folder {
				delete(tree, dir+"/"+before)
			}
			tree[dir+"/"+tt.file] = tt.is
			in := tt.other
			in.Place, in.Now = place, tree
			same(t, judge(&in), tt.want)
		})
	}
}

func TestSizeOfAFile(t *testing.T) {
	files := sample().Files()
	for _, tt := range []struct {
		size int64
		want []string
	}{
		{MaxFile, []string{"warning copy-missing HANDOFF.md"}},
		{MaxFile + 1, []string{"error unreadable HANDOFF.md"}},
	} {
		tree := sized{put(dir, files), dir + "/HANDOFF.md", tt.size}
		same(t, judge(&Input{Place: place, Now: tree}), tt.want)
	}
	// It may grow after its size was asked for.
	f := &file{ReadCloser: endless{}, total: MaxFile - 10}
	if n, err := f.Read(make([]byte, 100)); n != 0 || err == nil {
		t.Errorf("read %d bytes, %v", n, err)
	}
}

// The errors of a session are ranked for its FAIL line as sections are ordered.
func TestFirst(t *testing.T) {
	s := sample()
	s.Set("watermark", "99")
	files := s.Files()
	files["timeline.jsonl"] = strings.Replace(files["timeline.jsonl"], "turn 1", "turn l", 1)
	tree := put(dir, files)
	first := func(want string) {
		t.Helper()
		in := &Input{Place: place, Now: tree}
		res := Check(in)
		entry := res.Entry(in)
		if f := First(&entry.Layers[0]); f == nil || f.Rule != "provenance/"+want {
			t.Errorf("got %v, want %s", f, want)
		}
	}
	first("payload-timeline-drift")
	tree[dir+"/HANDOFF.summary.json"] = fake.File{Data: "x"}
	first("summary-unparsable")
	delete(tree, dir+"/timeline.jsonl")
	first("timeline-missing")
	tree[dir+"/manifest.json"] = fake.File{Data: strings.Replace(files["manifest.json"], "claude", "Claude", 1)}
	first("manifest-hash-mismatch")
	tree[dir+"/HANDOFF.llm.json"] = fake.File{Kind: gate.Special}
	first("unreadable")
	tree[dir+"/TOOLS.md"] = fake.File{Kind: gate.Symlink}
	first("symlink")
}

// The private repository of a private person may hold private paths.
func TestPrivate(t *testing.T) {
	s := sample()
	s.Set("source_paths", `["/home/ann/x"]`)
	same(t, judge(&Input{Place: place, Now: put(dir, s.Files()), Private: true}), []string{"notice local-path-exposed manifest.json:7"})
}

func TestLegacyLayout(t *testing.T) {
	s := sample()
	s.Set("project", `"elsewhere"`)
	p := Place{Path: "handoffs/alpha", ID: "alpha"}
	same(t, judge(&Input{Place: p, Now: put(p.Path, s.Files())}), []string{"notice legacy-layout ."})
}

// The evidence contract and the promotion that rests on it (sessions.md 7.5).
func TestContract(t *testing.T) {
	full := []string{"RESULT: DONE", "WHAT_CHANGED: a", "VALIDATION: b", "EVIDENCE: c", "BLOCKERS: none", "RISKS: none", "FOLLOW_UP: none"}
	text, hash := sessiontest.Contract(full...)
	changed, unsupported := "warning evidence-contract-changed HANDOFF.md", "warning promotion-unsupported HANDOFF.md"
	for _, tt := range []struct {
		name           string
		sha, promoted  string // fields of the manifest, as JSON; "" leaves them out
		extra          string
		want           []string
		withoutTheFile bool
	}{
		{name: "nothing is recorded", extra: text},
		{name: "sealed", sha: hash, extra: text},
		{name: "with CR LF", sha: hash, extra: strings.ReplaceAll(text, "\n", "\r\n")},
		{name: "quoted above", sha: hash, extra: "## Evidence contract\n\nRESULT: x\n\n- contract sha256: 0\n" + text},
		{name: "a heading in the block", sha: sessiontest.Sum("a\n## Evidence contract\nb"), extra: "## Evidence contract\n\na\n## Evidence contract\nb\n\n- contract sha256: x\n"},
		{name: "edited", sha: hash, extra: strings.Replace(text, "EVIDENCE: c", "EVIDENCE: d", 1), want: []string{changed}},
		{name: "no seal", sha: hash, extra: strings.Replace(text, "- contract", "* contract", 1), want: []string{changed}},
		{name: "no heading", sha: hash, extra: strings.Replace(text, "## E", "# E", 1), want: []string{changed}},
		{name: "another seal below", sha: hash, extra: text + "- contract sha256: x\n", want: []string{changed}},
		{name: "ill-formed bytes", sha: sessiontest.Sum("a\ufffdb"), extra: "## Evidence contract\n\na\xe2\x82b\n\n- contract sha256: x\n"},
		{name: "no file", sha: hash, withoutTheFile: true, want: []string{changed, "warning render-missing ."}},
		{name: "verified", promoted: `"VERIFIED"`, extra: text},
		{name: "verified, evidence empty", promoted: `"VERIFIED"`, extra: strings.Replace(text, "EVIDENCE: c", "EVIDENCE: \t", 1), want: []string{unsupported}},
		{name: "verified, not done and evidence empty", promoted: `"VERIFIED"`, extra: strings.NewReplacer("EVIDENCE: c", "EVIDENCE:", "DONE", "PARTIAL").Replace(text)},
		{name: "verified, a field missing", promoted: `"VERIFIED"`, extra: strings.Replace(text, "RISKS:", " RISKS:", 1), want: []string{unsupported}},
		{name: "verified, the last counts", promoted: `"VERIFIED"`, extra: "EVIDENCE:\n" + text},
		{name: "verified, no file", promoted: `"VERIFIED"`, withoutTheFile: true, want: []string{unsupported, "warning render-missing ."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := sample()
			if tt.sha != "" {
				s.Set("evidence_contract_sha256", `"`+tt.sha+`"`)
			}
			if tt.promoted != "" {
				s.Set("promoted_gate", tt.promoted)
			}
			s.Extra = tt.extra
			files := s.Files()
			if tt.withoutTheFile {
				delete(files, RenderName)
			}
			same(t, judge(&Input{Place: place, Now: put(dir, files)}), tt.want)
		})
	}
}

// A hostile file cannot make the search for the contract take long: the headings
// next to the seal are tried, and only so many.
func TestManyHeadings(t *testing.T) {
	s := sample()
	s.Set("evidence_contract_sha256", `"`+strings.Repeat("0", 64)+`"`)
	s.Extra = strings.Repeat("## Evidence contract\n", 100_000) + "- contract sha256: x\n"
	same(t, judge(&Input{Place: place, Now: put(dir, s.Files())}), []string{"warning evidence-contract-changed HANDOFF.md"})
}

// Sources are compared where they lie in the tree (sessions.md 7.4).
func TestSources(t *testing.T) {
	s := sample()
	changed := []string{"warning source-changed manifest.json:9"}
	link := func(to string) fake.File { return fake.File{Kind: gate.Symlink, Data: to} }
	for _, tt := range []struct {
		name  string
		paths string
		tree  fake.Tree
		want  []string
	}{
		{"nowhere", `["logs/a"]`, fake.Tree{}, nil},
		{"from the top", `["logs/a"]`, fake.Tree{"logs/a": {Data: s.Source()}}, nil},
		{"from the root", `["logs/a"]`, fake.Tree{"handoffs/logs/a": {Data: s.Source()}}, nil},
		{"one of two", `["logs/a","b"]`, fake.Tree{"logs/a": {Data: "x"}, "b": {Data: s.Source()}}, nil},
		{"from both", `["logs/a"]`, fake.Tree{"logs/a": {Data: "x"}, "handoffs/logs/a": {Data: s.Source()}}, nil},
		{"grown", `["logs/a"]`, fake.Tree{"logs/a": {Data: s.Source() + "x"}}, changed},
		{"up and down", `["x/../logs/a"]`, fake.Tree{"logs/a": {Data: "x"}, "x/y": {}}, changed},
		{"above the root", `["../logs/a"]`, fake.Tree{"logs/a": {Data: "x"}}, changed},
		{"above the top", `["../../logs/a"]`, fake.Tree{"logs/a": {Data: "x"}}, nil},
		{"absolute", `["/repo/logs/a"]`, fake.Tree{"logs/a": {Data: "x"}}, append([]string{"warning local-path-exposed manifest.json:7"}, changed...)},
		{"absolute, elsewhere", `["/other/logs/a"]`, fake.Tree{"logs/a": {Data: "x"}}, []string{"warning local-path-exposed manifest.json:7"}},
		{"a folder", `["logs","","/","."]`, fake.Tree{"logs/a": {Data: "x"}}, []string{"warning local-path-exposed manifest.json:7"}},
		{"a link", `["logs/a"]`, fake.Tree{"logs/a": link("../b"), "b": {Data: "x"}}, changed},
		{"a linked folder", `["logs/a"]`, fake.Tree{"logs": link("real"), "real/a": {Data: "x"}}, changed},
		{"a link out", `["logs/a"]`, fake.Tree{"logs/a": link("../../b"), "b": {Data: "x"}}, nil},
		{"a link to an absolute path", `["logs/a"]`, fake.Tree{"logs/a": link("/b"), "b": {Data: "x"}}, nil},
		{"a link to itself", `["logs/a"]`, fake.Tree{"logs/a": link("a")}, nil},
		{"no string", `[5,null,["logs/a"]]`, fake.Tree{"logs/a": {Data: "x"}}, nil},
		{"no list", `"logs/a"`, fake.Tree{"logs/a": {Data: "x"}}, nil},
		{"unreadable", `["logs/a"]`, fake.Tree{"logs/a": {Lost: errors.New("gone")}}, changed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := sample()
			s.Set("source_paths", tt.paths)
			tree := put(dir, s.Files())
			for p, f := range tt.tree {
				tree[p] = f
			}
			sources := NewSources(linked{tree}, func(name string) []string {
				if strings.HasPrefix(name, "/") {
					rel, ok := gate.Below("/repo", name)
					if !ok {
						return nil
					}
					return []string{rel}
				}
				return []string{name, root + "/" + name}
			})
			same(t, judge(&Input{Place: place, Now: tree, Sources: sources.Find}), tt.want)
		})
	}
	t.Run("decoded", func(t *testing.T) {
		s := sample()
		s.Set("source_paths", `["a"]`)
		s.Set("raw_sha256", `"`+sessiontest.Sum("\ufffd")+`"`)
		tree := put(dir, s.Files())
		tree["a"] = fake.File{Data: "\xe2\x82"}
		sources := NewSources(linked{tree}, func(name string) []string { return []string{name} })
		same(t, judge(&Input{Place: place, Now: tree, Sources: sources.Find}), nil)
	})
}

// linked reads the links of a tree.
type linked struct{ fake.Tree }

func (l linked) ReadLink(p string) (string, error) {
	if l.Tree[p].Kind != gate.Symlink {
		return "", gate.ErrNotLink
	}
	return l.Tree[p].Data, nil
}

// Whatever a file holds, a session is judged, and twice the same.
func FuzzCheck(f *testing.F) {
	files := sample().Files()
	fuzzed := []string{ManifestName, TimelineName, PayloadName, SummaryName, RenderName, "the timeline of the base"}
	for i, texts := range [][]string{
		{files[ManifestName], "{}", `{"promoted_gate":"VERIFIED","evidence_contract_sha256":"0","counts":{"\ud800":1},"source_paths":["/x"],"revisions":1e999,"watermark":-0}`},
		{files[TimelineName], "\r\n{\"seq\":1e999}\r\r\n\ufeff\n["},
		{files[PayloadName], `{"timeline":[{"seq":0}],"timeline":[1,{}],"provenance":{"watermark":1e999}}`},
		{files[SummaryName], `{"provenance":{"revision":{"b":1,"0":2}}}`},
		{files[RenderName], "## Evidence contract\n\nx\n\n- contract sha256: \nRESULT: DONE", "- incremental: revisions=01\r\n- raw sha256: x"},
		{files[TimelineName], "\n\r\n", strings.ReplaceAll(files[TimelineName], "\n", "\r\n\n")},
	} {
		for _, text := range texts {
			f.Add(uint8(i), []byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		tree, before := put(dir, files), put(dir, files)
		timeline, base := []byte(files[TimelineName]), []byte(files[TimelineName])
		switch name := fuzzed[int(which)%len(fuzzed)]; name {
		case TimelineName:
			timeline = data
			fallthrough
		default:
			tree[dir+"/"+name] = fake.File{Data: string(data)}
		case "the timeline of the base":
			base = data
			before[dir+"/"+TimelineName] = fake.File{Data: string(data)}
		}
		in := &Input{Place: place, Now: tree, Base: before, Before: &place, Compared: true, Again: "again"}
		first, second := judge(in), judge(in)
		if !slices.Equal(first, second) {
			t.Errorf("twice judged:\n%q\n%q", first, second)
		}
		res := Check(in)
		for _, f := range res.Findings {
			if f.Message == "" || f.Remedy == "" || strings.ContainsAny(f.Message, "\n\r") || f.Severity == report.Error != strings.HasSuffix(f.Remedy, "\nfix: again") {
				t.Errorf("%+v", f)
			}
		}
		if n := len(plainLines(timeline)); res.Parsed && res.Turns != n {
			t.Errorf("%d turns, want %d", res.Turns, n)
		}
		if rewritten := slices.ContainsFunc(res.Findings, func(f report.Finding) bool { return f.Rule == TimelineRewritten.ID }); res.Parsed && rewritten == prefixOf(plainLines(base), plainLines(timeline)) {
			t.Errorf("rewritten: %v", rewritten)
		}
	})
}

// plainLines splits a text as the engine does, by a second implementation.
func plainLines(text []byte) [][]byte {
	out := bytes.Split(text, []byte("\n"))
	for i := range out[:len(out)-1] {
		out[i] = bytes.TrimSuffix(out[i], []byte("\r"))
	}
	return slices.DeleteFunc(out, func(l []byte) bool { return len(l) == 0 })
}

func prefixOf(base, now [][]byte) bool {
	if len(base) > len(now) {
		return false
	}
	for i := range base {
		if !bytes.Equal(base[i], now[i]) {
			return false
		}
	}
	return true
}

// counting counts how often each file is opened.
type counting struct {
	gate.Tree
	opened map[string]int
}

func (c counting) Open(p string) (io.ReadCloser, gate.Entry, error) {
	c.opened[path.Base(p)]++
	return c.Tree.Open(p)
}

// Of equal members of a payload the last counts. However many there are, neither
// file is read more than twice.
func TestManyTimelinesInThePayload(t *testing.T) {
	files := sample().Files()
	edit(t, files, PayloadName, `"timeline": [`, strings.Repeat(`"timeline": [], "timeline": [{}], "timeline": 1, `, 1000)+`"timeline": [`)
	tree := counting{put(dir, files), map[string]int{}}
	same(t, judge(&Input{Place: place, Now: tree}), nil)
	if n := max(tree.opened[TimelineName], tree.opened[PayloadName]); n > 2 {
		t.Errorf("a file is opened %d times", n)
	}
}
