package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/sessiontest"
)

// session writes a session folder; change, where there is one, is made first.
func (s *site) session(dir string, turns int, change func(*sessiontest.Session)) {
	s.t.Helper()
	parts := strings.Split(dir, "/")
	session := sessiontest.New(parts[len(parts)-2], parts[len(parts)-1], turns)
	if change != nil {
		change(session)
	}
	for name, text := range session.Files() {
		s.write(dir+"/"+name, text)
	}
}

// rewritten is a session whose third turn is another one.
func rewritten(s *sessiontest.Session) {
	s.Turns[2].Text = "Nothing happened."
	s.Set("revisions", "2")
}

// sessionSite is a site whose pull request changes a session.
func sessionSite(t *testing.T, change func(s *site)) *site {
	t.Helper()
	s := emptySite(t)
	s.session("handoffs/projects/tide/alpha", 5, nil)
	s.A = s.src.Commit("A")
	s.write("docs/other.md", "Of somebody else.\n")
	s.B = s.src.Commit("B")
	change(s)
	s.C = s.src.Commit("C")
	s.propose()
	return s
}

// The check run marks the line that was rewritten; without a token the job does.
func TestRewrittenTurnIsAnnotated(t *testing.T) {
	s := sessionSite(t, func(s *site) { s.session("handoffs/projects/tide/alpha", 5, rewritten) })
	o := s.at(s.M).pullRun()
	if f := o.finding(t, "provenance/timeline-rewritten"); o.status != 1 || f.Line != 3 {
		t.Errorf("exit status %d, line %d", o.status, f.Line)
	}
	run := s.checkRun()
	if run.Conclusion != "failure" || len(run.Annotations) != 1 {
		t.Fatalf("%s with %d annotations", run.Conclusion, len(run.Annotations))
	}
	if a := run.Annotations[0]; a.Path != "handoffs/projects/tide/alpha/timeline.jsonl" || a.StartLine != 3 || a.Level != "failure" {
		t.Errorf("annotation %+v", a)
	}

	s.input("token", "")
	o = s.pullRun()
	if errors := o.named("error"); o.status != 1 || len(errors) != 1 || errors[0].properties["file"] != "handoffs/projects/tide/alpha/timeline.jsonl" || errors[0].properties["line"] != "3" {
		t.Errorf("exit status %d, commands %v", o.status, errors)
	}
}

// Both states of a timeline that is too large to be read at once are read side by
// side from one repository.
func TestLargeTimelines(t *testing.T) {
	long := strings.Repeat("All of it was said. ", 100_000)
	for _, want := range []string{"", "provenance/timeline-rewritten"} {
		large := func(revision string) func(*sessiontest.Session) {
			return func(s *sessiontest.Session) {
				s.Turns[1].Text = long
				s.Set("revisions", revision)
				if want != "" && revision == "2" {
					s.Turns[2].Text = "Another."
				}
			}
		}
		s := emptySite(t)
		s.session("handoffs/projects/tide/alpha", 3, large("1"))
		s.B = s.src.Commit("B")
		s.session("handoffs/projects/tide/alpha", 4, large("2"))
		s.C = s.src.Commit("C")
		s.propose()
		if o := s.at(s.M).pullRun(); strings.Join(o.rules(), " ") != want {
			t.Errorf("exit status %d: %v, want %s\n%s", o.status, o.rules(), want, o.log)
		}
	}
}

// What a partial clone lacks of many sessions is fetched at once.
func TestSessionsOfAPartialClone(t *testing.T) {
	const sessions = 8
	s := emptySite(t)
	dir := func(i int) string { return fmt.Sprintf("handoffs/projects/tide/session-%d", i) }
	for i := range sessions {
		s.session(dir(i), 3+i, nil)
	}
	s.B = s.src.Commit("B")
	for i := range sessions {
		s.session(dir(i), 4+i, func(session *sessiontest.Session) { session.Set("revisions", "2") })
	}
	s.C = s.src.Commit("C")
	s.propose()
	g := serveGit(t, s)
	s.env["GITHUB_SERVER_URL"] = g.URL
	s.clone(s.M, clone{depth: 1, filter: "blob:none", sparse: []string{"docs"}, origin: g.origin(s)})
	before := len(g.seen())
	if o := s.pullRun(); o.status != 0 || len(o.report.Projects) != sessions {
		t.Fatalf("exit status %d\n%s", o.status, o.log)
	}
	// The base, its tree's blobs and HEAD's: each some requests of one fetch.
	if n := len(g.seen()) - before; n == 0 || n > 12 {
		t.Errorf("%d requests", n)
	}
}
