package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/fake"
	"github.com/handoff-gate/handoff-gate/gate/internal/sessiontest"
)

// What is found against the base (sessions.md 8.2 and 8.3). Each case changes a
// session that is sealed again afterwards, so that nothing but the base can tell.
func TestAgainstBase(t *testing.T) {
	bumped := func(s *sessiontest.Session) { s.Set("revisions", "2") }
	for _, tt := range []struct {
		name   string
		before func(*sessiontest.Session)
		now    func(*sessiontest.Session)
		files  func(files map[string]string) // now, after they were sealed
		base   func(files map[string]string)
		want   []string
	}{
		{name: "unchanged", now: func(*sessiontest.Session) {}},
		{name: "grown by a build", now: func(s *sessiontest.Session) {
			s.Grow(2)
			bumped(s)
		}},
		{name: "a text rewritten", now: func(s *sessiontest.Session) {
			s.Turns[1].Text = "x"
			bumped(s)
		}, want: []string{"error timeline-rewritten timeline.jsonl:2"}},
		{name: "a line inserted", now: func(s *sessiontest.Session) {
			s.Turns = slices.Insert(s.Turns, 1, sessiontest.Turn{Seq: 9, Class: "USER"})
			s.Count()
			bumped(s)
		}, want: []string{"error timeline-rewritten timeline.jsonl:2"}},
		{name: "the last lines lost", now: func(s *sessiontest.Session) {
			s.Turns = s.Turns[:1]
			s.Count()
			bumped(s)
		}, want: []string{"error timeline-rewritten timeline.jsonl:1", "error watermark-regressed manifest.json:8"}},
		{name: "spacing within a line", now: bumped, files: func(f map[string]string) {
			f[TimelineName] = strings.Replace(f[TimelineName], `{"seq":2,`, `{"seq": 2,`, 1)
		}, want: []string{"error timeline-rewritten timeline.jsonl:3"}},
		{name: "a byte that decodes alike", now: bumped, base: func(f map[string]string) {
			f[TimelineName] = strings.Replace(f[TimelineName], "turn 0", "turn \xe2\x82", 1)
		}, files: func(f map[string]string) {
			f[TimelineName] = strings.Replace(f[TimelineName], "turn 0", "turn \xe2", 1)
			f[PayloadName] = strings.Replace(f[PayloadName], "turn 0", "turn \xe2", 1)
		}, want: []string{"error timeline-rewritten timeline.jsonl:1"}},
		{name: "line ends and empty lines", now: bumped, files: func(f map[string]string) {
			f[TimelineName] = "\n" + strings.ReplaceAll(f[TimelineName], "\n", "\r\n\r\n")
		}},
		{name: "line ends of the base", now: bumped, base: func(f map[string]string) {
			f[TimelineName] = strings.TrimRight(strings.ReplaceAll(f[TimelineName], "\n", "\r\n\n"), "\r\n")
		}},
		{name: "rewritten below an empty line", now: bumped, files: func(f map[string]string) {
			f[TimelineName] = strings.Replace(strings.ReplaceAll(f[TimelineName], "\n", "\n\n"), "turn 1", "turn l", 1)
			f[PayloadName] = strings.Replace(f[PayloadName], "turn 1", "turn l", 1)
		}, want: []string{"error timeline-rewritten timeline.jsonl:3"}},
		{name: "a longer line", now: bumped, files: func(f map[string]string) {
			f[TimelineName] = strings.TrimRight(f[TimelineName], "\n") + " \n"
		}, want: []string{"error timeline-rewritten timeline.jsonl:3"}},
		{name: "a shorter line", now: bumped, base: func(f map[string]string) {
			f[TimelineName] = strings.TrimRight(f[TimelineName], "\n") + " \n"
		}, want: []string{"error timeline-rewritten timeline.jsonl:3"}},
		{name: "the base has no timeline", now: bumped, base: func(f map[string]string) { delete(f, TimelineName) }},
		{name: "the timeline is gone", now: bumped, files: func(f map[string]string) { delete(f, TimelineName) }, want: []string{"error timeline-missing ."}},
		{name: "the base's manifest is no JSON", now: func(s *sessiontest.Session) {
			s.Turns[0].Text = "x"
			s.Set("session", `"other"`)
		}, base: func(f map[string]string) { f[ManifestName] = "{" }, want: []string{"error timeline-rewritten timeline.jsonl:1"}},

		{name: "another session", now: func(s *sessiontest.Session) {
			s.Set("session", `"other"`)
			s.Set("created_at", `"never"`)
		}, want: []string{"error identity-changed manifest.json:2", "error identity-changed manifest.json:6"}},
		{name: "a session without identity", before: func(s *sessiontest.Session) { s.Delete("created_at") }, now: func(s *sessiontest.Session) { s.Delete("created_at") }},
		{name: "an identity lost", now: func(s *sessiontest.Session) { s.Delete("created_at") }, want: []string{"error identity-changed manifest.json:1"}},
		{name: "fewer revisions", before: func(s *sessiontest.Session) { s.Set("revisions", "3") }, now: bumped, want: []string{"error revisions-regressed manifest.json:10"}},
		{
			name: "revisions are no number", now: func(s *sessiontest.Session) { s.Set("revisions", `"2"`) },
			files: func(f map[string]string) { delete(f, RenderName) }, want: []string{"error revisions-regressed manifest.json:10", "warning render-missing ."},
		},
		{name: "revisions never were", before: func(s *sessiontest.Session) { s.Set("revisions", "null") }, now: func(s *sessiontest.Session) { s.Set("revisions", "1") }},
		{name: "more turns of one revision", now: func(s *sessiontest.Session) { s.Grow(1) }, want: []string{"error revisions-not-bumped manifest.json:10"}},
		{
			name: "another source of one revision", now: func(s *sessiontest.Session) { s.Set("raw_sha256", `"`+strings.Repeat("0", 64)+`"`) },
			want: []string{"error revisions-not-bumped manifest.json:10"},
		},
		{name: "promoted", now: func(s *sessiontest.Session) { s.Set("promoted_at", `"t"`) }},
		{name: "a lower watermark", now: func(s *sessiontest.Session) {
			s.Set("watermark", "1")
			bumped(s)
		}, want: []string{"error watermark-regressed manifest.json:8", "warning watermark-behind manifest.json:8"}},
		{name: "no watermark", now: func(s *sessiontest.Session) { s.Delete("watermark") }, want: []string{"error watermark-regressed manifest.json:1"}},
		{
			name: "a source is gone", before: func(s *sessiontest.Session) { s.Set("source_paths", `["a","b"]`) }, now: func(s *sessiontest.Session) { s.Set("source_paths", `["c","b"]`) },
			want: []string{"warning source-paths-removed manifest.json:7"},
		},
		{name: "sources are no list any more", now: func(s *sessiontest.Session) { s.Set("source_paths", `"a"`) }, want: []string{"warning source-paths-removed manifest.json:7"}},
		{name: "a source more", now: func(s *sessiontest.Session) { s.Set("source_paths", `["x","logs/alpha.jsonl"]`) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before, now := sample(), sample()
			if tt.before != nil {
				tt.before(before)
				tt.before(now)
			}
			tt.now(now)
			was, files := before.Files(), now.Files()
			if tt.base != nil {
				tt.base(was)
			}
			if tt.files != nil {
				tt.files(files)
			}
			const older = "handoffs/alpha" // pairs need not lie at one path
			p := Place{Path: older, ID: "alpha"}
			same(t, judge(&Input{Place: place, Now: put(dir, files), Base: put(older, was), Before: &p, Compared: true}), tt.want)
		})
	}
}

// A base that cannot be read is the caller's finding, and nothing is compared.
func TestLostBase(t *testing.T) {
	s := sample()
	s.Turns[0].Text = "x"
	gone := errors.New("this clone lacks the object")
	for _, name := range []string{ManifestName, TimelineName} {
		base := put(dir, sample().Files())
		base[dir+"/"+name] = fake.File{Data: "other", Lost: gone}
		res := Check(&Input{Place: place, Now: put(dir, s.Files()), Base: base, Before: &place})
		if !errors.Is(res.BaseErr, gone) || len(res.Findings) > 0 {
			t.Errorf("%s: %v, %v", name, res.BaseErr, res.Findings)
		}
	}
	base := put(dir, sample().Files())
	base[dir+"/"+ManifestName] = fake.File{Kind: gate.Symlink}
	base[dir+"/"+TimelineName] = fake.File{Kind: gate.Special}
	if res := Check(&Input{Place: place, Now: put(dir, s.Files()), Base: base, Before: &place}); res.BaseErr != nil || len(res.Findings) > 0 {
		t.Errorf("no files at the base: %v, %v", res.BaseErr, res.Findings)
	}
}

// A pointer of Git LFS says nothing of the turns that the base has: to call them
// rewritten would be as wrong as to compare nothing.
func TestPointerAtTheBase(t *testing.T) {
	for _, name := range []string{ManifestName, TimelineName} {
		base := put(dir, sample().Files())
		base[dir+"/"+name] = fake.File{Data: gate.LFSPointer + "\noid sha256:0\nsize 1\n"}
		res := Check(&Input{Place: place, Now: put(dir, sample().Files()), Base: base, Before: &place})
		if res.BaseErr == nil || !strings.Contains(res.BaseErr.Error(), name+" of the base is a pointer of Git LFS") || len(res.Findings) > 0 {
			t.Errorf("%s: %v, %v", name, res.BaseErr, res.Findings)
		}
	}
}

func TestEntrySummary(t *testing.T) {
	for _, tt := range []struct {
		in   Input
		want string
	}{
		{Input{}, "manifest hash ok, timeline 3 turns, payload parses"},
		{Input{Compared: true}, "manifest hash ok, timeline 3 turns, payload parses; new, first commit is trusted"},
	} {
		tt.in.Place, tt.in.Now = place, put(dir, sample().Files())
		res := Check(&tt.in)
		if got := res.Entry(&tt.in).Layers[0].Summary; got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// store makes the sessions of a root from lines "PATH SESSION CREATED".
func store(lines ...string) (Store, func(Place) (Head, error)) {
	tree := fake.Tree{}
	for _, l := range lines {
		f := strings.Fields(l)
		text := "{}"
		switch {
		case len(f) > 2:
			text = fmt.Sprintf(`{"session":%s,"created_at":%s}`, f[1], f[2])
		case len(f) > 1 && f[1] != "lost":
			text = fmt.Sprintf(`{"session":%s}`, f[1])
		}
		file := fake.File{Data: text}
		if len(f) > 1 && f[1] == "lost" {
			file.Lost = errors.New("lost")
		}
		tree["r/projects/"+f[0]+"/manifest.json"] = file
	}
	return Find(tree, "r"), func(p Place) (Head, error) { return ReadIdentity(tree, p) }
}

// Sessions are paired by path, then by session and date, then by session (8.1).
func TestPair(t *testing.T) {
	for _, tt := range []struct {
		name      string
		now, base []string
		want      []string // "NOW=BASE"
		alone     []string
	}{
		{name: "by path, whatever the manifests say", now: []string{"p/a 1 1"}, base: []string{"p/a 2 2"}, want: []string{"p/a=p/a"}},
		{name: "renamed", now: []string{"q/b 1 1"}, base: []string{"p/a 1 1"}, want: []string{"q/b=p/a"}},
		{name: "by session alone", now: []string{"q/b 1 1"}, base: []string{"p/a 1 2"}, want: []string{"q/b=p/a"}},
		{name: "the date first", now: []string{"q/b 1 2"}, base: []string{"p/a 1 1", "p/z 1 2"}, want: []string{"q/b=p/z"}, alone: []string{"p/a"}},
		{name: "the first in order", now: []string{"q/b 1 1", "q/c 1 1"}, base: []string{"p/a 1 1", "p/b 1 1", "p/c 1 1"}, want: []string{"q/b=p/a", "q/c=p/b"}, alone: []string{"p/c"}},
		{name: "each once", now: []string{"q/b 1 1", "q/c 1 1"}, base: []string{"p/a 1 1"}, want: []string{"q/b=p/a"}},
		{name: "the path first", now: []string{"p/a 1 1", "q/b 1 1"}, base: []string{"p/a 1 1"}, want: []string{"p/a=p/a"}},
		{name: "no session", now: []string{"q/b"}, base: []string{"p/a"}, alone: []string{"p/a"}},
		{name: "null is none", now: []string{"q/b null 1"}, base: []string{"p/a null 1"}, alone: []string{"p/a"}},
		{name: "a number is no string", now: []string{`q/b "1" 1`}, base: []string{"p/a 1 1"}, alone: []string{"p/a"}},
		{name: "numbers as numbers", now: []string{`q/b 1.0 1`}, base: []string{"p/a 1e0 1"}, want: []string{"q/b=p/a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now, readNow := store(tt.now...)
			base, readBase := store(tt.base...)
			p, err := Pair(&now, &base, readNow, readBase)
			if err != nil {
				t.Fatal(err)
			}
			var got, alone []string
			for _, s := range now.Sessions {
				if b, ok := p.Partner[s.Path]; ok {
					got = append(got, s.Name()+"="+b.Name())
				}
			}
			for _, s := range p.Alone {
				alone = append(alone, s.Name())
			}
			if !slices.Equal(got, tt.want) || !slices.Equal(alone, tt.alone) {
				t.Errorf("got %q, alone %q; want %q, %q", got, alone, tt.want, tt.alone)
			}
		})
	}
	now, readNow := store("q/b 1 1")
	base, readBase := store("p/a lost")
	if _, err := Pair(&now, &base, readNow, readBase); err == nil {
		t.Error("a manifest of the base that is lost is not an error")
	}
}
