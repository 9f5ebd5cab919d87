package cli_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// evilNames are names of files that would like to be something else.
var evilNames = []string{
	"<img src=x onerror=alert(1)>.md", "[click](http://evil.example).md", "![x](http://evil.example/p.png).md", "a | b | c.md",
	"@octocat hello.md", "`code` <script>alert(1)</script>.md", "--> <b>.md", "octo-org/widgets#1.md", "``` evil.md",
	"::error::x.md", "##[error]x.md", "::set-output name=verdict::pass", "%0A::add-mask::x", "100%sure %d%!x.md", "a,b:c.md",
}

// Text of the repository makes no command, no Markdown and no HTML, whatever it
// is, and is still shown. run holds every log to the first.
func TestActionQuotesTheRepository(t *testing.T) {
	t.Parallel()
	s := lostSite(t, evilNames...)
	s.env["RUNNER_DEBUG"] = "1"
	for _, mode := range []string{"auto", "off"} {
		s.env["GITHUB_RUN_ID"] = "run-" + mode
		o := s.input("check-run", mode).pullRun()
		if o.status != 1 {
			t.Fatalf("exit status %d", o.status)
		}
		for _, active := range []string{"<img", "<script", "](", "@octocat", "```", "widgets#1", "-->"} {
			if strings.Contains(o.summary, active) {
				t.Errorf("the summary has an active %q", active)
			}
		}
		for _, name := range evilNames {
			if !strings.Contains(plain(o.summary), name) {
				t.Errorf("the summary does not show %q", name)
			}
		}
	}
	shown := ""
	for _, a := range s.checkRun().Annotations {
		shown += a.Message
	}
	for _, name := range evilNames {
		if !strings.Contains(shown, name) {
			t.Errorf("no annotation shows %q", name)
		}
	}
}

// A project may have a name that is a pattern, a command or half of one.
func TestActionHostileFolders(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"we,ird:100% [x] `y`", "##[error]p", "a\u2028b", "::error::p", "pkg*", "new\nline"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, path := range []string{name, "auto", "*"} {
				if path == "new\nline" {
					continue // an input has a folder a line
				}
				s := newSite(t, tampered, name).at2(commitM).input("path", path)
				o := s.pullRun()
				if o.status != 1 || len(o.report.Projects) != 1 {
					t.Errorf("path %q: exit status %d\n%s", path, o.status, o.log)
				}
			}
		})
	}
}

// monorepo is a site of three projects whose pull request updates all of them.
func monorepo(t *testing.T, change func(*site)) *site {
	t.Helper()
	s := emptySite(t)
	folders := []string{"packages/api", "packages/web", "tools"}
	for _, p := range folders {
		s.write(p+"/app.go", "package app\n")
		s.handoff(p, "Begun.")
	}
	s.A = s.src.Commit("A")
	s.B = s.A
	for _, p := range folders {
		s.write(p+"/app.go", "package app // changed\n")
		s.handoff(p, "Changed.")
	}
	if change != nil {
		change(s)
	}
	s.C = s.src.Commit("C")
	s.propose()
	return s.at(s.M)
}

func (s *site) remove(path string) {
	s.t.Helper()
	if err := os.RemoveAll(filepath.Join(s.src.Dir, filepath.FromSlash(path))); err != nil {
		s.t.Fatal(err)
	}
}

// The input path: folders, patterns, auto; a change cannot take a project out of
// it by deleting its handoff or by a folder named like the pattern.
func TestActionPaths(t *testing.T) {
	t.Parallel()
	all := []string{"packages/api", "packages/web", "tools"}
	for _, c := range []struct {
		name, path string
		change     func(*site)
		status     int
		projects   []string
		rule       string
	}{
		{name: "auto", path: "auto", projects: all},
		{name: "folders, each once", path: "tools\n./packages/api/\ntools", projects: []string{"tools", "packages/api"}},
		{name: "patterns", path: "packages/???\ntools", projects: all},
		{name: "a star stays in its segment", path: "*", projects: []string{"tools"}},
		{
			name: "a handoff is deleted, auto", path: "auto", change: func(s *site) { s.remove("packages/web/.ai") },
			status: 1, projects: all, rule: "action/project-removed",
		},
		{
			name: "a handoff is deleted, pattern", path: "packages/*", change: func(s *site) { s.remove("packages/web/.ai") },
			status: 1, projects: all[:2], rule: "action/project-removed",
		},
		{
			name: "only the manifest is deleted", path: "auto", change: func(s *site) { s.remove("tools/.ai/handoff/MANIFEST.json") },
			status: 1, projects: all, rule: "action/project-removed",
		},
		{name: "the handoff becomes a link", path: "auto", change: func(s *site) {
			s.remove("tools/.ai/handoff")
			if err := os.Symlink("../../packages/api/.ai/handoff", filepath.Join(s.src.Dir, "tools", ".ai", "handoff")); err != nil {
				s.t.Fatal(err)
			}
		}, status: 1, projects: all, rule: "action/project-removed"},
		{name: "the whole project is deleted", path: "auto", change: func(s *site) { s.remove("tools") }, projects: all[:2]},
		{name: "a new folder named auto", path: "auto", change: func(s *site) {
			s.handoff("auto", "A decoy.")
			s.write("tools/.ai/handoff/STATUS.md", "# Status\n\nEdited.\n")
		}, status: 1, projects: []string{"auto", "packages/api", "packages/web", "tools"}, rule: "integrity/checksum-mismatch"},
		{name: "a new folder named like the pattern", path: "packages/*", change: func(s *site) {
			s.handoff("packages/*", "A decoy.")
			s.write("packages/web/.ai/handoff/STATUS.md", "# Status\n\nEdited.\n")
		}, status: 1, projects: []string{"packages/*", "packages/api", "packages/web"}, rule: "integrity/checksum-mismatch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := monorepo(t, c.change).input("path", c.path)
			o := s.pullRun()
			if o.status != c.status {
				t.Fatalf("exit status %d, want %d\n%s", o.status, c.status, o.log)
			}
			var projects []string
			for _, p := range o.report.Projects {
				projects = append(projects, p.Path)
			}
			if !slices.Equal(projects, c.projects) {
				t.Errorf("projects %q, want %q", projects, c.projects)
			}
			if n := strings.Count(o.log, "::group::Project "); n != len(c.projects) {
				t.Errorf("%d groups for %d projects", n, len(c.projects))
			}
			if c.rule != "" {
				o.finding(t, c.rule)
			}
		})
	}
	t.Run("a folder named like a pattern is that folder", func(t *testing.T) {
		s := newSite(t, honest, "pkg*").at2(commitM).input("path", "pkg*")
		if o := s.pullRun(); o.status != 0 || s.checkRun().Name != "handoff-gate (pkg*)" {
			t.Errorf("exit status %d, name %s", o.status, s.checkRun().Name)
		}
	})
	t.Run("a link is no folder", func(t *testing.T) {
		s := newSite(t, honest, "real").at2(commitM).input("path", "link")
		if err := os.Symlink("real", filepath.Join(s.workspace, "link")); err != nil {
			t.Fatal(err)
		}
		if o := s.pullRun(); o.status != 2 {
			t.Errorf("exit status %d", o.status)
		}
	})
	t.Run("a working directory that leads out", func(t *testing.T) {
		s := newSite(t, honest, ".").at2(commitM).input("working-directory", "link")
		if err := os.Symlink(s.src.Dir, filepath.Join(s.workspace, "link")); err != nil {
			t.Fatal(err)
		}
		if o := s.pullRun(); o.status != 2 || !strings.Contains(o.log, "out of the workspace") {
			t.Errorf("exit status %d\n%s", o.status, o.log)
		}
	})
}

// An earlier step of the job had the same workspace. What it set changes no
// verdict and starts no program.
func TestActionAfterAHostileStep(t *testing.T) {
	t.Parallel()
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch "+ran+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, prepare := range map[string]func(*site){
		"git's variables": func(s *site) {
			maps.Copy(s.env, map[string]string{
				"GIT_DIR": s.src.Dir + "/.git", "GIT_WORK_TREE": s.src.Dir, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.bare", "GIT_CONFIG_VALUE_0": "true",
				"GIT_TRACE": ran, "GIT_EXTERNAL_DIFF": program, "GIT_SSH_COMMAND": program, "GIT_ASKPASS": program, "GIT_EXEC_PATH": filepath.Dir(program),
			})
		},
		"git's configuration": func(s *site) {
			for _, kv := range [][2]string{
				{"core.fsmonitor", program},
				{"diff.external", program},
				{"core.hooksPath", filepath.Dir(program)},
				{"core.pager", program},
				{"filter.x.clean", program},
				{"protocol.ext.allow", "always"},
			} {
				s.checkout.Git("config", kv[0], kv[1])
			}
			s.checkout.Git("remote", "set-url", "origin", "ext::"+program)
		},
		"replaced commits": func(s *site) { s.checkout.Git("replace", "-f", s.M, s.B) },
		"the gate's own variables": func(s *site) {
			maps.Copy(s.env, map[string]string{"AAHP_SKIP_VERIFY": "1", "AAHP_BASE_SHA": s.C})
		},
		"a repaired work tree": func(s *site) {
			s.checkout.Write(".ai/handoff/STATUS.md", "# Status\n\nRepaired after the commit.\n")
		},
	} {
		for kind, want := range map[kind]int{honest: 0, forgotten: 1} {
			s := newSite(t, kind, ".").at2(commitM)
			prepare(s)
			o := s.pullRun()
			if name == "a repaired work tree" {
				want = 1 // it differs from its own manifest, too
			}
			if o.status != want {
				t.Errorf("%s, change %d: exit status %d, want %d\n%s", name, kind, o.status, want, o.log)
			}
			if _, err := os.Stat(ran); err == nil {
				t.Errorf("%s: a program was started", name)
				_ = os.Remove(ran) // the next case is judged by itself
			}
		}
	}
	// With that remote, a fetch is refused: the base is missing, nothing runs.
	s := newSite(t, honest, ".")
	s.clone(s.M, clone{depth: 1}).checkout.Git("remote", "set-url", "origin", "ext::"+program)
	s.checkout.Git("config", "protocol.ext.allow", "always")
	if o := s.pullRun(); o.status != 1 {
		t.Errorf("a remote that is a program: exit status %d", o.status)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a remote that is a program was run")
	}
}

// The policy that judges a change is the base's.
func TestActionPolicyRelaxedByTheChange(t *testing.T) {
	t.Parallel()
	relaxed := `{"handoffImpact":{"exempt":[{"paths":["src/**"],"reason":"It is only code."}]}}`
	for before, want := range map[bool]int{false: 1} {
		s := newSite(t, forgotten, ".")
		s.write("aahp.config.json", relaxed)
		s.C = s.src.Commit("relaxed")
		s.propose()
		if o := s.at(s.M).pullRun(); o.status != want {
			t.Errorf("in the base %t: exit status %d, want %d\n%s", before, o.status, want, o.log)
		}
	}
}

// A base is an exact commit id. Nothing that git might resolve, and no option,
// takes its place.
func TestActionBaseIsAnExactCommit(t *testing.T) {
	t.Parallel()
	s := newSite(t, honest, ".").at2(commitC)
	s.checkout.Git("branch", strings.Repeat("b", 40), s.A)
	for base, rule := range map[string]string{
		"main": "drift/base-malformed", "HEAD~1": "drift/base-malformed", "refs/heads/main": "drift/base-malformed", "--upload-pack=x": "drift/base-malformed",
		s.B[:12]: "drift/base-malformed", s.B + "0": "drift/base-malformed", strings.Repeat("g", 40): "drift/base-malformed",
		strings.Repeat("x", 300) + "\x1b[31m\n::error::x": "drift/base-malformed",
		noCommit: "drift/base-zero", strings.Repeat("0", 64): "drift/base-zero", s.C: "drift/base-is-head", strings.Repeat("b", 40): "drift/base-missing",
	} {
		o := s.input("base", base).run("workflow_dispatch", object{})
		f := o.finding(t, rule)
		if o.status != 1 {
			t.Errorf("base %q: exit status %d", base, o.status)
		}
		if long := regexp.MustCompile(`x{82}`); long.MatchString(f.Message) {
			t.Errorf("the message shows more than 80 characters of it: %s", f.Message)
		}
	}
	// The twin, in capitals.
	if o := s.input("base", strings.ToUpper(s.B)).run("workflow_dispatch", object{}); o.status != 0 || o.outputs["base"] != s.B {
		t.Errorf("exit status %d, base %s", o.status, o.outputs["base"])
	}
}
