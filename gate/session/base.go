package session

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// before is what the base has of a session.
type before struct {
	m      manifest
	parsed bool // the manifest is a JSON object
	same   bool // the timeline is the same file
}

// readBefore reads the manifest of the session's partner; nil where there is none.
func (c *checker) readBefore() *before {
	if c.in.Before == nil {
		return nil
	}
	b := &before{}
	r, err := c.openBase(ManifestName)
	if err != nil {
		c.baseErr(err)
		return b
	}
	defer r.Close()
	m, err := parseManifest(r)
	var unparsable *unparsableError
	switch {
	case err == nil:
		b.m, b.parsed = m, true
	case !errors.As(err, &unparsable):
		c.baseErr(err)
	}
	return b
}

// baseErr notes why the base could not be read. What is there in another form than
// a file has nothing to be compared with.
func (c *checker) baseErr(err error) {
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, gate.ErrNotRegular) {
		c.res.BaseErr = cmp.Or(c.res.BaseErr, err)
	}
}

// openBefore opens the timeline of the base; nil where it is not to be read.
func (c *checker) openBefore(b *before) io.ReadCloser {
	if b == nil {
		return nil
	}
	name := gate.Join(c.in.Before.Path, TimelineName)
	e, err := c.in.Base.Stat(name)
	if err == nil && e.Kind == gate.Regular && e.ID != "" && e.ID == c.files[TimelineName].ID {
		b.same = true
		return nil
	}
	r, err := c.openBase(TimelineName)
	if err != nil {
		c.baseErr(err)
		return nil
	}
	return r
}

// openBase opens a file of the session's partner. A pointer of Git LFS is an error
// here, whatever the state now is read from: the commit has nothing but the pointer.
func (c *checker) openBase(name string) (io.ReadCloser, error) {
	name = gate.Join(c.in.Before.Path, name)
	r, _, err := c.in.Base.Open(name)
	if err != nil {
		return nil, err
	}
	f := &file{ReadCloser: r}
	if f.isPointer() {
		r.Close()
		return nil, errors.New(name + " of the base " + isPointer)
	}
	return f, nil
}

// judgeBase compares the session with the base (sessions.md 8.2 and 8.3).
func (c *checker) judgeBase(b *before, ts *turns) {
	if c.res.BaseErr != nil {
		return // its finding stands where the caller wants it
	}
	if b == nil {
		return
	}
	grew := false
	if t := ts.timeline; t != nil && !b.same {
		was := 0
		if p := t.before; p != nil {
			was = p.count
			if p.violated {
				c.rewritten(p, t)
			}
		}
		grew = t.count > was
	}
	if b.parsed {
		c.neverBackwards(b.m, grew)
	}
}

func (c *checker) rewritten(p *prefix, t *timeline) {
	message := "the line is not the one that the base has at its place"
	if p.missing {
		message = fmt.Sprintf("the base has %s, of which only %d are left", plural.Of(p.count, "line"), t.count)
	}
	c.add(TimelineRewritten, c.file(TimelineName), at(p.line), message, "Restore the lines of the base; only append.")
}

// neverBackwards compares the manifests (sessions.md 8.3).
func (c *checker) neverBackwards(was manifest, grew bool) {
	m, path := c.m, c.file(ManifestName)
	for _, name := range []string{"session", "created_at"} {
		if a, b := was.value(name), m.value(name); !a.Equals(b) {
			c.add(IdentityChanged, path, m.at(name), fmt.Sprintf("%s is %s and was %s at the base", name, shown(b), shown(a)), "Restore the field; use a new session for new work.")
		}
	}
	if !c.lower(was, "revisions", RevisionsRegressed, "Rebuild the session on top of the base's folder.") {
		a, b := was.value("revisions"), m.value("revisions")
		raw := !was.value("raw_sha256").Equals(m.value("raw_sha256"))
		if a.Kind != 0 && a.Equals(b) && (grew || raw) {
			what := "the timeline has more lines"
			if !grew {
				what = "raw_sha256 is another"
			}
			c.add(RevisionsNotBumped, path, m.at("revisions"), fmt.Sprintf("revisions is %s as at the base, and %s", shown(b), what), "Rebuild the session on top of the base's folder.")
		}
	}
	c.lower(was, "watermark", WatermarkRegressed, "Rebuild the session from the full transcript.")
	now := map[string]bool{}
	for _, e := range m.Elements {
		now[string(e.JSON)] = true
	}
	gone := 0
	for _, e := range was.Elements {
		if !now[string(e.JSON)] {
			gone++
		}
	}
	if gone > 0 {
		c.add(SourcePathsRemoved, path, m.at("source_paths"), fmt.Sprintf("%s of the base's source_paths %s gone", plural.Of(gone, "element"), plural.Are(gone)),
			"Restore what was removed, or say in the change why it is gone.")
	}
}

// lower reports a number that is lower than at the base, or none any more.
func (c *checker) lower(was manifest, name string, r *rule.Rule, remedy string) bool {
	a, wasNumber := was.value(name).Number()
	b, ok := c.m.value(name).Number()
	if !wasNumber || ok && b >= a {
		return false
	}
	c.add(r, c.file(ManifestName), c.m.at(name), fmt.Sprintf("%s is %s and was %s at the base", name, shown(c.m.value(name)), shown(was.value(name))), remedy)
	return true
}

// Unavailable is the finding that the base could not be read.
func Unavailable(root string, err error, again string) report.Finding {
	return finding(BaseUnavailable, BaseUnavailable.Severity, root, report.Span{}, "the base commit cannot be compared with: "+safetext.Clean(err.Error()),
		"Fetch the base commit (in a workflow: fetch-depth: 0), or name one that this clone has.", again)
}

// Removed is the finding that a session of the base is gone.
func Removed(p Place) report.Finding {
	return SessionRemoved.At(gate.Join(p.Path, ManifestName), report.Span{}, fmt.Sprintf("the session %s of the base is gone", safetext.Clean(p.Name())), "Confirm that the removal is meant.")
}

// Pairs are the sessions of two states that are the same session: for each path now
// the place at the base (sessions.md 8.1).
type Pairs struct {
	Partner map[string]Place
	Alone   []Place // sessions of the base without a partner, ordered by path
}

// Pair pairs the sessions now with those of the base. Where paths do not do, now
// and base are asked for what the manifests say. The error is the first of theirs.
func Pair(now, base *Store, readNow, readBase func(Place) (Head, error)) (Pairs, error) {
	p := Pairs{Partner: map[string]Place{}}
	var left []Place // now
	paired := map[string]bool{}
	for _, s := range now.Sessions {
		if before, ok := base.Session(s.Path); ok {
			p.Partner[s.Path], paired[s.Path] = before, true
		} else {
			left = append(left, s)
		}
	}
	for _, s := range base.Sessions {
		if !paired[s.Path] {
			p.Alone = append(p.Alone, s)
		}
	}
	if len(left) == 0 || len(p.Alone) == 0 {
		return p, nil
	}
	var firstErr error
	ids := func(places []Place, read func(Place) (Head, error)) []identity {
		var out []identity
		for _, s := range places {
			h, err := read(s)
			firstErr = cmp.Or(firstErr, err)
			out = append(out, identity{place: s, session: h.Session, created: h.CreatedAt})
		}
		return out
	}
	mine, theirs := ids(left, readNow), ids(p.Alone, readBase)
	for _, withDate := range []bool{true, false} {
		first := map[string][]int{} // of theirs, by what is compared
		for i, id := range theirs {
			if key, ok := id.key(withDate); ok && !id.paired {
				first[key] = append(first[key], i)
			}
		}
		for i := range mine {
			key, ok := mine[i].key(withDate)
			if candidates := first[key]; ok && !mine[i].paired && len(candidates) > 0 {
				j := candidates[0]
				first[key] = candidates[1:]
				mine[i].paired, theirs[j].paired = true, true
				p.Partner[mine[i].place.Path] = theirs[j].place
				paired[theirs[j].place.Path] = true
			}
		}
	}
	p.Alone = slices.DeleteFunc(p.Alone, func(s Place) bool { return paired[s.Path] })
	return p, firstErr
}

// ReadIdentity reads what a session is known by. A manifest that says nothing of it
// is no error; one that cannot be read is.
func ReadIdentity(t gate.Tree, p Place) (Head, error) {
	r, _, err := t.Open(gate.Join(p.Path, ManifestName))
	if errors.Is(err, gate.ErrNotRegular) || errors.Is(err, fs.ErrNotExist) {
		return Head{Place: p}, nil
	}
	if err != nil {
		return Head{}, err
	}
	defer r.Close()
	m, err := parseManifest(r)
	var unparsable *unparsableError
	if errors.As(err, &unparsable) {
		return Head{Place: p}, nil
	}
	if err != nil {
		return Head{}, err
	}
	return Head{Place: p, Session: m.value("session"), CreatedAt: m.value("created_at")}, nil
}

// identity is what a session is known by wherever it lies.
type identity struct {
	place            Place
	session, created ecma.Value
	paired           bool
}

// key gives what is compared; false where the manifest says nothing of it.
func (id identity) key(withDate bool) (string, bool) {
	if id.session.Kind == 0 || id.session.Kind == jsondoc.Null || withDate && id.created.Kind == 0 {
		return "", false
	}
	parts := []string{string(id.session.JSON)}
	if withDate {
		parts = append(parts, string(id.created.JSON))
	}
	return strings.Join(parts, "\n"), true
}
