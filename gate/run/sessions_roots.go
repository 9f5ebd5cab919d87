package run

import (
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/session"
)

// pairSessions pairs the sessions of two states. Where paths do not do, their
// manifests are read. The error is about reading the base.
func pairSessions(now, base gate.Tree, is, was *session.Store) (session.Pairs, error) {
	return session.Pair(is, was, func(p session.Place) (session.Head, error) {
		h, _ := session.ReadIdentity(now, p) // what is wrong with it now, its own entry says
		return h, nil
	}, func(p session.Place) (session.Head, error) { return session.ReadIdentity(base, p) })
}

// PairRoots pairs the sessions of several roots, so that one that moved from a root
// to another is known again (sessions.md 12). It gives the pairs of each root.
// marked is that of SessionInput. The error is about reading the base.
func PairRoots(now, base gate.Tree, roots []string, marked bool) (map[string]*session.Pairs, error) {
	var is, was session.Store
	in := map[string]string{} // the root of each session at the base
	for _, root := range roots {
		a, b := session.Find(now, root), session.Find(base, root)
		if marked {
			session.Count(&a, &b)
		}
		is.Sessions, was.Sessions = append(is.Sessions, a.Sessions...), append(was.Sessions, b.Sessions...)
		for _, p := range b.Sessions {
			if _, ok := in[p.Path]; !ok {
				in[p.Path] = root
			}
		}
	}
	for _, s := range []*session.Store{&is, &was} {
		slices.SortStableFunc(s.Sessions, func(a, b session.Place) int { return strings.Compare(a.Path, b.Path) })
		s.Sessions = slices.CompactFunc(s.Sessions, func(a, b session.Place) bool { return a.Path == b.Path })
	}
	pairs, err := pairSessions(now, base, &is, &was)
	if err != nil {
		return nil, err
	}
	out := map[string]*session.Pairs{}
	for _, root := range roots {
		one := &session.Pairs{Partner: pairs.Partner}
		for _, p := range pairs.Alone {
			if in[p.Path] == root {
				one.Alone = append(one.Alone, p)
			}
		}
		out[root] = one
	}
	return out, nil
}
