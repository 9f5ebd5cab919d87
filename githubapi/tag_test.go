package githubapi

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
)

// What is a version, behind which prefix, and what is none.
func TestParseVersion(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		"v1.4.0": "v|1.4.0|", "1.4.0": "|1.4.0|", "api/v1.4.0": "api/v|1.4.0|", "pkg@10.0.2": "pkg@|10.0.2|", "release-2024-1.2.3": "release-2024-|1.2.3|",
		"v1.4.0-rc.1": "v|1.4.0|rc.1", "v1.4.0-rc.1+build.7": "v|1.4.0|rc.1", "v1.4.0+build": "v|1.4.0|", "v1.2.3-1.2.3": "v|1.2.3|1.2.3",
		"v99999999999999999999999.0.0": "v|99999999999999999999999.0.0|", "api2/v1.0.0": "api2/v|1.0.0|", "v0.0.0-0": "v|0.0.0|0", "v1.0.0---": "v|1.0.0|--",
		"v1": "", "v1.4": "", "latest": "", "": "", "v1.2.3.4": "", "v01.2.3": "", "v1.02.3": "", "v1.2.3-01": "", "v1.2.3-": "", "v1.2.3+": "", "v1.2.3-a..b": "",
		"v1.2.3 ": "", "v1.2.3-ä": "", "2024.01.15": "", "v1.2.x": "", "v-1.-2.-3": "",
		strings.Repeat("1-", 200) + "1.2.3": "",
	} {
		v, ok := parseVersion(tag)
		got := ""
		if ok {
			got = fmt.Sprintf("%s|%s|%s", v.prefix, strings.Join(v.core[:], "."), strings.Join(v.pre, "."))
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", tag, got, want)
		}
	}
}

// The order of semver.org 2.0.0, its own example included.
func TestVersionOrder(t *testing.T) {
	t.Parallel()
	order := []string{
		"v0.9.99", "v1.0.0-alpha", "v1.0.0-alpha.1", "v1.0.0-alpha.beta", "v1.0.0-beta", "v1.0.0-beta.2", "v1.0.0-beta.11", "v1.0.0-rc.1", "v1.0.0",
		"v1.0.1", "v1.9.0", "v1.10.0", "v2.0.0", "v10.0.0", "v100000000000000000000.0.0",
	}
	for i, a := range order {
		for j, b := range order {
			x, _ := parseVersion(a)
			y, _ := parseVersion(b)
			if got := x.compare(y); (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("%s against %s: %d", a, b, got)
			}
		}
	}
}

// releases is a line of releases with a branch that was never merged:
//
//	r0 -- r1 -- r2 -- r3 -- H
//	        \
//	         side
func releases(tags map[string]string) world {
	return world{
		parents: map[string][]string{"r0": nil, "r1": {"r0"}, "r2": {"r1"}, "r3": {"r2"}, "H": {"r3"}, "side": {"r1"}, "next": {"H"}},
		tags:    tags,
	}
}

// The previous release tag, from a complete clone and from a shallow one through
// the API: both must name the same.
func TestPreviousReleaseTag(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, this string
		tags       map[string]string
		base       string
	}{
		{"the highest lower version, by number", "v1.11.0", map[string]string{"v1.9.0": "r1", "v1.10.0": "r2", "v1.2.0": "r3"}, "r2"},
		{"pre-releases do not count for a release", "v2.0.0", map[string]string{"v1.0.0": "r1", "v2.0.0-rc.1": "r2", "v2.0.0-rc.2": "r3"}, "r1"},
		{"but do for a pre-release", "v2.0.0-rc.3", map[string]string{"v1.0.0": "r1", "v2.0.0-rc.1": "r2", "v2.0.0-rc.2": "r3"}, "r3"},
		{"a release counts for a pre-release", "v2.0.0-rc.1", map[string]string{"v1.0.0": "r2", "v0.9.0-rc.1": "r3"}, "r2"},
		{"another prefix does not count", "api/v1.1.0", map[string]string{"api/v1.0.0": "r1", "web/v1.0.5": "r2", "v1.0.9": "r3"}, "r1"},
		{"higher versions do not count", "v1.4.1", map[string]string{"v1.4.0": "r1", "v1.5.0": "r3"}, "r1"},
		{"tags of another history do not count", "v1.4.0", map[string]string{"v1.2.0": "r1", "v1.3.0": "side"}, "r1"},
		{"tags after HEAD do not count", "v1.4.0", map[string]string{"v1.2.0": "r1", "v1.3.0": "next"}, "r1"},
		{"tags on HEAD itself do not count", "v1.4.0", map[string]string{"v1.2.0": "r1", "v1.3.0": "H"}, "r1"},
		{"floating tags are no versions", "v1.4.0", map[string]string{"v1.2.0": "r1", "v1": "r3", "v1.3": "r2", "latest": "r3"}, "r1"},
		{"no lower version: the empty tree", "v1.0.0", map[string]string{"v1": "r3", "other": "r2", "v2.0.0": "r1"}, "empty"},
		{"the first tag of all", "v1.0.0", map[string]string{}, "empty"},
		{"build metadata is no order", "v1.0.0+b", map[string]string{"v1.0.0+a": "r3", "v0.9.0": "r1"}, "r1"},
		{"no version: the nearest by history", "v1", map[string]string{"v1.4.0": "H", "v1.3.0": "r2", "zzz": "r1", "aaa": "r0"}, "r2"},
		{"no version, nothing before", "nightly", map[string]string{"v1.0.0": "side", "v2.0.0": "next"}, "empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := releases(c.tags)
			w.tags[c.this] = "H"
			want := expect{base: c.base, check: "H", source: "release"}
			push := scenario{event: "push", payload: pushPayload("refs/tags/"+c.this, zero40, id("H")), head: "H", want: want, noToken: true}
			push.run(t, w)
			moved := push
			moved.payload = pushPayload("refs/tags/"+c.this, id("r0"), id("H"))
			moved.run(t, w)
			release := push
			release.event, release.payload = "release", fmt.Sprintf(`{"action": "published", "release": {"tag_name": %q, "target_commitish": "main"}}`, c.this)
			release.run(t, w)
			create := push
			create.event, create.payload = "create", fmt.Sprintf(`{"ref": %q, "ref_type": "tag"}`, c.this)
			create.run(t, w)
			shallow := push
			shallow.noToken, shallow.depth1 = false, true
			shallow.run(t, w)
		})
	}
}

// Where the tags come from, and what happens when nobody can tell.
func TestTagSources(t *testing.T) {
	t.Parallel()
	w := releases(map[string]string{"v1.0.0": "r2", "v1.1.0": "H"})
	w.objects = map[string]string{"v1.1.0": "H"}
	payload := pushPayload("refs/tags/v1.1.0", zero40, id("H"))
	annotated := pushPayload("refs/tags/v1.1.0", zero40, id("object v1.1.0"))
	onlyThis := func(c *clone, _ *server) { c.refs = map[string]string{"refs/tags/v1.1.0": "H"} }
	all := []scenario{
		{name: "annotated", payload: annotated, want: expect{base: "r2", check: "H"}},
		{name: "annotated, the object is not in the clone", payload: annotated, depth1: true, want: expect{base: "r2", check: "H"}},
		{
			name: "annotated, only a fetch can tell", payload: annotated, sha: "?", depth1: true, want: expect{base: "r2", check: "H"},
			resolved: func(t *testing.T, _ Target, c *clone, _ *server) {
				if !slices.Contains(c.fetched, "object v1.1.0") {
					t.Errorf("fetched %v", c.fetched)
				}
			},
		},
		{name: "annotated, nothing can tell", payload: annotated, sha: "?", depth1: true, noFetch: true, want: expect{rules: "wrong-checkout", says: "not proved"}},
		{name: "another commit than the tagged is checked out", payload: payload, head: "next", sha: "H", want: expect{check: "H", rules: "wrong-checkout", says: "github.ref"}},
		{name: "another commit, annotated", payload: annotated, head: "r3", sha: "H", want: expect{check: "H", rules: "wrong-checkout"}},
		{name: "shallow, no token", payload: payload, depth1: true, noToken: true, want: expect{check: "H", problem: gate.BaseRequired, says: "fetch-depth: 0"}},
		{name: "shallow, no answer", payload: payload, depth1: true, silent: true, want: expect{check: "H", problem: gate.BaseRequired, says: "503"}},
		{
			name: "no tags in the clone: the API lists them", payload: payload, change: func(c *clone, _ *server) { c.refs = map[string]string{"refs/heads/x": "H"} },
			want: expect{base: "r2", check: "H"},
		},
		{
			name: "no tags in the clone, no token", payload: payload, noToken: true, change: func(c *clone, _ *server) { c.refs = map[string]string{"refs/heads/x": "H"} },
			want: expect{check: "H", problem: gate.BaseRequired, says: "no tags"},
		},
		{name: "no tag but this one: the API may know more", payload: payload, change: onlyThis, want: expect{base: "r2", check: "H"}},
		{name: "no tag but this one, and no answer: the clone counts", payload: payload, change: onlyThis, silent: true, want: expect{base: "empty", check: "H"}},
		{name: "input base", payload: payload, base: id("r1"), want: expect{base: "r1", check: "H", source: "input base"}},
		{
			name: "the release before is fetched", payload: payload, depth1: true, want: expect{base: "r2", check: "H"},
			resolved: func(t *testing.T, got Target, c *clone, _ *server) {
				if fmt.Sprint(c.fetched) != "[r2]" || got.Tag != "v1.1.0" {
					t.Errorf("fetched %v, tag %q", c.fetched, got.Tag)
				}
			},
		},
		{
			name: "this tag, where it stood before, is not the release before", event: "push", payload: pushPayload("refs/tags/nightly", id("r3"), id("H")),
			change: func(c *clone, _ *server) {
				c.w.tags = map[string]string{"nightly": "r3", "v1.0.0": "r2"}
			}, want: expect{base: "r2", check: "H"},
		},
		{name: "no object id", payload: `{"ref": "refs/tags/v1.1.0", "after": 7, "deleted": false}`, want: expect{check: "H", rules: "payload-unreadable", says: "after is a number"}},
		{name: "a deleted tag", payload: strings.Replace(pushPayload("refs/tags/v1.1.0", id("H"), zero40), `"deleted": false`, `"deleted": true`, 1), head: "r2", want: expect{nothing: true}},
		{name: "release without a tag", event: "release", payload: `{"release": {"tag_name": null}}`, want: expect{check: "H", rules: "payload-unreadable", says: "release.tag_name is null"}},
		{name: "release of a tag with a hostile name", event: "release", payload: `{"release": {"tag_name": "../../x y"}}`, want: expect{base: "r2", check: "H"}},
		{name: "release, GITHUB_SHA unknown: the local tag", event: "release", payload: `{"release": {"tag_name": "v1.1.0"}}`, sha: "?", want: expect{base: "r2", check: "H"}},
		{
			name: "release, the default branch is checked out", event: "release", payload: `{"release": {"tag_name": "v1.1.0"}}`, head: "next", sha: "H",
			want: expect{check: "H", rules: "wrong-checkout", says: "release.tag_name"},
		},
		{name: "create without a name", event: "create", payload: `{"ref_type": "tag", "ref": ""}`, want: expect{check: "H", rules: "payload-unreadable"}},
	}
	for i := range all {
		if all[i].event == "" {
			all[i].event = "push"
		}
		if all[i].head == "" {
			all[i].head = "H"
		}
	}
	runAll(t, w, all)
}

// A shallow clone of a repository with very many tags does not ask about each.
func TestTagsBounded(t *testing.T) {
	t.Parallel()
	w := releases(map[string]string{"nightly": "H"})
	for i := range 150 {
		n := fmt.Sprintf("old%d", i)
		w.parents[n] = nil
		w.tags[n] = n
	}
	for n := range w.parents { // so that the comparison has a common ancestor
		if strings.HasPrefix(n, "old") {
			w.parents[n] = []string{"r0"}
		}
	}
	scenario{
		event: "push", payload: pushPayload("refs/tags/nightly", zero40, id("H")), head: "H", depth1: true,
		want: expect{check: "H", problem: gate.BaseRequired, says: "more than 100 tags"},
		resolved: func(t *testing.T, _ Target, _ *clone, api *server) {
			if len(api.calls) > 101 {
				t.Errorf("%d calls", len(api.calls))
			}
		},
	}.run(t, w)
}
