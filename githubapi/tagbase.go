package githubapi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/payload"
)

// maxCompared bounds how many tags the API is asked about, one call each. A
// repository with more candidates than this is better cloned whole.
const maxCompared = 100

// graph tells where a tag stands before HEAD: how many commits HEAD has that it
// has not, and whether it is a proper ancestor at all. why is set when that
// cannot be told.
type graph func(ctx context.Context, commit string) (distance int, before bool, why string, err error)

// previous finds the release before the tag named this (github-action.md 3,
// "Previous release tag"). why is set when that cannot be told.
func (r *resolver) previous(ctx context.Context, this string) (tag Tag, found bool, why string, err error) {
	tags, before, asked, why, err := r.tags(ctx, this)
	if why != "" || err != nil {
		return Tag{}, false, why, err
	}
	tags = slices.DeleteFunc(tags, func(t Tag) bool {
		id, kind := parseID(t.Commit, r.ids)
		return t.Name == this || kind != idFine || id != t.Commit
	})
	v, versioned := parseVersion(this)
	if versioned {
		tags = lowerVersions(tags, v)
	} else {
		slices.SortFunc(tags, func(a, b Tag) int { return strings.Compare(a.Name, b.Name) })
	}
	type answer struct {
		distance int
		before   bool
	}
	known := map[string]answer{} // tags often share a commit
	nearest := 0
	for _, t := range tags {
		a, ok := known[t.Commit]
		if !ok {
			if asked && len(known) == maxCompared {
				return Tag{}, false, fmt.Sprintf("more than %d tags would have to be compared through the API", maxCompared), nil
			}
			if a.distance, a.before, why, err = before(ctx, t.Commit); why != "" || err != nil {
				return Tag{}, false, why, err
			}
			known[t.Commit] = a
		}
		switch {
		case !a.before:
		case versioned:
			return t, true, "", nil
		case !found || a.distance < nearest:
			tag, found, nearest = t, true, a.distance
		}
	}
	return tag, found, "", nil
}

// lowerVersions keeps the tags that may be the release before v, highest first.
// Tags of one version, which differ in build metadata, are ordered by name.
func lowerVersions(tags []Tag, v version) []Tag {
	type candidate struct {
		tag Tag
		v   version
	}
	var all []candidate
	for _, t := range tags {
		if w, ok := parseVersion(t.Name); ok && w.precedes(v) {
			all = append(all, candidate{t, w})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		if c := b.v.compare(a.v); c != 0 {
			return c
		}
		return strings.Compare(b.tag.Name, a.tag.Name)
	})
	lower := make([]Tag, len(all))
	for i, c := range all {
		lower[i] = c.tag
	}
	return lower
}

// tags lists the tags, with what tells where they stand. A complete clone with
// tags answers for itself, any other leaves it to the API (asked).
//
// A clone with no tag but this one may have been made with a depth that happens
// to reach the root, and without tags. Then "no release before" would compare
// with the empty tree and hide a change without a handoff, so the API is asked
// for more tags; when it is silent, the clone counts as it is.
func (r *resolver) tags(ctx context.Context, this string) (tags []Tag, before graph, asked bool, why string, err error) {
	repo := r.in.Repository
	shallow, err := repo.Shallow(ctx)
	if err != nil {
		return nil, nil, false, "", fmt.Errorf("asking whether the clone is shallow: %w", err)
	}
	where := "the clone is shallow"
	if !shallow {
		if tags, err = repo.Tags(ctx); err != nil {
			return nil, nil, false, "", fmt.Errorf("listing tags: %w", err)
		}
		where = "the clone has no tags"
	}
	others := slices.ContainsFunc(tags, func(t Tag) bool { return t.Name != this })
	if others || len(tags) > 0 && r.in.Lookups == nil {
		return tags, r.localGraph, false, "", nil
	}
	if r.in.Lookups == nil {
		return nil, nil, false, where + ", and there is no usable token to ask the API", nil
	}
	listed, err := r.in.Lookups.Tags(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, nil, false, "", ctx.Err()
	case err != nil && len(tags) > 0:
		r.note("the API did not list the tags: %s", payload.Cut(err.Error(), 160))
		return tags, r.localGraph, false, "", nil
	case err != nil:
		return nil, nil, false, where + ", and the API gave no answer (" + payload.Cut(err.Error(), 160) + ")", nil
	case !shallow:
		return listed, r.localGraph, false, "", nil
	}
	return listed, r.comparedGraph, true, "", nil
}

// localGraph asks the clone, whose history is complete: a commit that it lacks
// is no ancestor of HEAD.
func (r *resolver) localGraph(ctx context.Context, commit string) (int, bool, string, error) {
	repo := r.in.Repository
	if commit == r.head.ID {
		return 0, false, "", nil
	}
	if _, err := repo.Commit(ctx, commit); errors.Is(err, fs.ErrNotExist) {
		return 0, false, "", nil
	} else if err != nil {
		return 0, false, "", fmt.Errorf("reading commit %s: %w", commit, err)
	}
	yes, err := repo.IsAncestor(ctx, commit, r.head.ID)
	if err != nil {
		return 0, false, "", fmt.Errorf("asking whether HEAD contains %s: %w", commit, err)
	}
	if !yes {
		return 0, false, "", nil
	}
	n, err := repo.Distance(ctx, commit, r.head.ID)
	if err != nil {
		return 0, false, "", fmt.Errorf("counting the commits since %s: %w", commit, err)
	}
	return n, true, "", nil
}

// comparedGraph asks the API.
func (r *resolver) comparedGraph(ctx context.Context, commit string) (int, bool, string, error) {
	if commit == r.head.ID {
		return 0, false, "", nil
	}
	c, err := r.in.Lookups.Compare(ctx, commit, r.head.ID)
	if ctx.Err() != nil {
		return 0, false, "", ctx.Err()
	}
	if err != nil {
		return 0, false, "the clone is shallow, and the API did not compare " + commit + " with HEAD (" + payload.Cut(err.Error(), 160) + ")", nil
	}
	return c.AheadBy, c.BehindBy == 0 && c.AheadBy > 0, "", nil
}
