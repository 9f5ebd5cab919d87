package githubapi

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
)

// world is a graph of commits by name, as the server holds it.
type world struct {
	parents map[string][]string
	tags    map[string]string // name of a tag: name of its commit
	objects map[string]string // name of an annotated tag: name of its commit
}

// id makes the 40-digit id of a name.
func id(name string) string {
	sum := sha1.Sum([]byte(name))
	return hex.EncodeToString(sum[:])
}

const (
	zero40 = "0000000000000000000000000000000000000000"
	zero64 = zero40 + "000000000000000000000000"
)

// name gives the name behind an id, or the id itself where it is of no commit.
func (w world) name(commit string) string {
	for n := range w.parents {
		if id(n) == commit {
			return n
		}
	}
	return commit
}

// reach is a commit with all that it reaches.
func (w world) reach(name string) map[string]bool {
	seen := map[string]bool{}
	todo := []string{name}
	for len(todo) > 0 {
		n := todo[0]
		todo = todo[1:]
		if !seen[n] {
			seen[n] = true
			todo = append(todo, w.parents[n]...)
		}
	}
	return seen
}

// clone is a Repository over a part of a world. It fails the test when it is
// asked for anything but a full id or a well-formed ref.
type clone struct {
	t       *testing.T
	w       world
	head    string          // name; "" when HEAD resolves to nothing
	has     map[string]bool // the commits that are there; nil: all
	shallow bool
	refs    map[string]string // full ref name: name of a commit
	refuse  error             // what a fetch answers
	gone    map[string]bool   // what the server does not have
	broken  error             // what every other question answers
	fetched []string
	asked   int // questions about tags
}

func (c *clone) commit(id40 string) (Commit, error) {
	c.check(id40)
	if c.broken != nil {
		return Commit{}, c.broken
	}
	n := c.w.name(id40)
	if _, ok := c.w.parents[n]; !ok || c.has != nil && !c.has[n] {
		return Commit{}, fs.ErrNotExist
	}
	out := Commit{ID: id40, Tree: id("tree of " + n)}
	for _, p := range c.w.parents[n] {
		out.Parents = append(out.Parents, id(p))
	}
	return out, nil
}

func (c *clone) check(ids ...string) {
	for _, s := range ids {
		if _, kind := parseID(s, 40); kind != idFine || s != strings.ToLower(s) {
			c.t.Errorf("git was asked about %q", s)
		}
	}
}

func (c *clone) Head(context.Context) (Commit, error) {
	if c.head == "" {
		return Commit{}, nil
	}
	return c.commit(id(c.head))
}

func (c *clone) Commit(_ context.Context, s string) (Commit, error) { return c.commit(s) }

func (c *clone) Peel(_ context.Context, s string) (string, error) {
	for name, of := range c.w.objects {
		if id("object "+name) == s && (c.has == nil || c.has["object "+name]) {
			s = id(of)
		}
	}
	got, err := c.commit(s)
	return got.ID, err
}

func (c *clone) Shallow(context.Context) (bool, error) { return c.shallow, c.broken }

// walk is reach over the commits that are there.
func (c *clone) walk(name string) map[string]bool {
	seen := map[string]bool{}
	todo := []string{name}
	for len(todo) > 0 {
		n := todo[0]
		todo = todo[1:]
		if !seen[n] && (c.has == nil || c.has[n]) {
			seen[n] = true
			todo = append(todo, c.w.parents[n]...)
		}
	}
	return seen
}

func (c *clone) IsAncestor(_ context.Context, a, b string) (bool, error) {
	c.check(a, b)
	return c.walk(c.w.name(b))[c.w.name(a)], c.broken
}

func (c *clone) MergeBase(_ context.Context, a, b string) (string, error) {
	c.check(a, b)
	return c.w.mergeBase(c.w.name(a), c.w.name(b)), c.broken
}

func (w world) mergeBase(a, b string) string {
	ofB := w.reach(b)
	best := ""
	for n := range w.reach(a) {
		if ofB[n] && (best == "" || w.reach(n)[best]) {
			best = n
		}
	}
	if best == "" {
		return ""
	}
	return id(best)
}

func (c *clone) Ref(_ context.Context, name string) (string, error) {
	if !strings.HasPrefix(name, "refs/") || !validRef(name) {
		c.t.Errorf("git was asked for the ref %q", name)
	}
	if n, ok := c.refs[name]; ok {
		return id(n), nil
	}
	if tag, ok := strings.CutPrefix(name, "refs/tags/"); ok && !c.shallow {
		if n, ok := c.w.tags[tag]; ok {
			return id(n), nil
		}
	}
	return "", c.broken
}

func (w world) allTags() []Tag {
	var tags []Tag
	for _, name := range slices.Sorted(maps.Keys(w.tags)) {
		tags = append(tags, Tag{Name: name, Commit: id(w.tags[name])})
	}
	return tags
}

func (c *clone) Tags(context.Context) ([]Tag, error) {
	c.asked++
	var tags []Tag
	for _, t := range c.w.allTags() {
		if c.refs == nil || c.refs["refs/tags/"+t.Name] != "" {
			tags = append(tags, t)
		}
	}
	return tags, c.broken
}

func (c *clone) Distance(_ context.Context, from, to string) (int, error) {
	c.check(from, to)
	return len(c.w.distance(c.w.name(from), c.w.name(to))), c.broken
}

func (w world) distance(from, to string) []string {
	old := w.reach(from)
	var out []string
	for n := range w.reach(to) {
		if !old[n] {
			out = append(out, n)
		}
	}
	return out
}

func (c *clone) Fetch(_ context.Context, s string) error {
	c.check(s)
	n := c.w.name(s)
	for name := range c.w.objects {
		if id("object "+name) == s {
			n = "object " + name
		}
	}
	c.fetched = append(c.fetched, n)
	if c.refuse != nil {
		return c.refuse
	}
	if _, ok := c.w.parents[n]; !ok && !strings.HasPrefix(n, "object ") || c.gone[n] {
		return &FetchError{Gone: true, Message: "upload-pack: not our ref"}
	}
	if c.has == nil {
		return nil
	}
	if o, ok := strings.CutPrefix(n, "object "); ok {
		c.has[n], c.has[c.w.objects[o]] = true, true
		return nil
	}
	c.has[n] = true
	if !c.shallow {
		for a := range c.w.reach(n) {
			c.has[a] = true
		}
	}
	return nil
}

func (c *clone) ObjectIDLength() int { return 40 }

// server answers the look-ups from the whole world.
type server struct {
	w        world
	branches map[string]string // name: name of the commit
	err      error
	calls    []string
}

func (s *server) Compare(_ context.Context, base, head string) (Comparison, error) {
	s.calls = append(s.calls, "compare")
	if s.err != nil {
		return Comparison{}, s.err
	}
	b, h := s.w.name(base), s.w.name(head)
	if n, ok := s.branches[base]; ok {
		b = n
	}
	mb := s.w.mergeBase(b, h)
	if mb == "" {
		return Comparison{}, errors.New("404 No common ancestor")
	}
	return Comparison{MergeBase: mb, AheadBy: len(s.w.distance(b, h)), BehindBy: len(s.w.distance(h, b))}, nil
}

func (s *server) Tags(context.Context) ([]Tag, error) {
	s.calls = append(s.calls, "tags")
	return s.w.allTags(), s.err
}

// std is a target branch (A, B), heads that left it at A (C) and at B (D), and
// merges of them:
//
//	A---B-------M, N      M = merge of B and C, N = merge of B and D
//	 \   \     /          O = merge of A and C, an older one of GitHub's
//	  C   D---            X = the author's own merges of several kinds
func std() world {
	return world{parents: map[string][]string{
		"A": nil, "B": {"A"}, "C": {"A"}, "D": {"B"}, "M": {"B", "C"}, "N": {"B", "D"}, "O": {"A", "C"},
		"reversed": {"C", "B"}, "octopus": {"B", "C", "D"}, "forged": {"D", "C"}, "on itself": {"C", "C"},
		"child": {"C"}, "far": {"D"}, "Z": nil,
	}}
}

// depth1 is the checkout's default: one commit, whose parents are recorded and
// not there.
func depth1(t *testing.T, w world, head string) *clone {
	return &clone{t: t, w: w, head: head, has: map[string]bool{head: true}, shallow: true}
}

func full(t *testing.T, w world, head string) *clone { return &clone{t: t, w: w, head: head} }

func prPayload(base, head string) string {
	return fmt.Sprintf(`{"action": "synchronize", "number": 7, "changes": {"base": {"sha": {"from": %q}}},
		"pull_request": {"number": 7, "merge_commit_sha": %q,
			"base": {"ref": "main", "sha": %q, "repo": {"default_branch": "main"}},
			"head": {"ref": "f", "sha": %q, "repo": null}},
		"repository": {"default_branch": "main"}}`, id("Z"), id("Z"), base, head)
}

func pushPayload(ref, before, after string) string {
	return fmt.Sprintf(`{"ref": %q, "before": %q, "after": %q, "created": false, "deleted": false, "forced": true,
		"repository": {"default_branch": "main"}}`, ref, before, after)
}

func event(name, data string) Event { return ReadEvent(name, "event.json", []byte(data), nil) }
