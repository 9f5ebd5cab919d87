package policy_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/policy"
)

var (
	absent  = gate.Document{Path: policy.ConfigFile}
	link    = gate.Document{State: gate.NotRegular, Err: gate.ErrNotRegular, Entry: gate.Entry{Kind: gate.Symlink}}
	folder  = gate.Document{State: gate.NotRegular, Err: gate.ErrNotRegular, Entry: gate.Entry{Kind: gate.Folder}}
	merging = gate.Document{State: gate.NotRegular, Err: gate.ErrNotRegular, Entry: gate.Entry{Kind: gate.Unmerged}}
	lost    = gate.Document{State: gate.Unreadable, Err: errors.New("missing blob")}
	huge    = gate.Document{State: gate.TooLarge, Err: errors.New("it is larger than its limit")}

	loose  = present(`{"handoffImpact": {"nonImpactingModifiedFiles": [{"file": "a.md", "reason": "r"}]}, "trustTtl": {"graceDays": 30}}`)
	strict = present(`{"trustTtl": {"enforce": true}}`)
	broken = present(`{"handoffImpact": {}, "trustTtl": {"enforce": true}}`)
	noJSON = present(`{`)
)

// describe gives what Resolve decided in one line.
func describe(p policy.Policies) string {
	var out []string
	for _, c := range p.Config {
		name := map[policy.ConfigKind]string{
			policy.Untracked: "untracked", policy.Irregular: "irregular", policy.Unstaged: "unstaged",
			policy.Invalid: "invalid", policy.Unavailable: "unreadable",
		}[c.Kind]
		out = append(out, name)
	}
	for name, set := range map[string]bool{"unavailable": p.Unavailable} {
		if set {
			out = append(out, name)
		}
	}
	if p.BaseBroken {
		out = append(out, "base-broken")
	}
	if p.Changed {
		out = append(out, "changed")
	}
	var applied string
	switch {
	case reflect.DeepEqual(p.Applied, policy.BuiltIn()):
		applied = "built-in"
	case len(p.Applied.Reviewed) > 0:
		applied = "loose"
	case p.Applied.Trust.Enforce:
		applied = "strict"
	}
	return strings.TrimSpace(strings.Join(out, " ") + " applies " + applied)
}

func TestResolve(t *testing.T) {
	const base, head = policy.FromBase, policy.FromHead
	for _, tt := range []struct {
		name string
		in   policy.Input
		want string
	}{
		{"nothing anywhere", policy.Input{Level: gate.CI, BaseAvailable: true}, "applies built-in"},
		{"defaults: ci applies the base's", policy.Input{Level: gate.CI, NewSide: loose, Working: loose, Base: strict, BaseAvailable: true}, "changed applies strict"},
		{"defaults: full applies the head's", policy.Input{Level: gate.Full, NewSide: loose, Working: loose, Base: strict, BaseAvailable: true}, "applies loose"},
		{"asked for the head's at ci", policy.Input{Level: gate.CI, Source: head, NewSide: loose, Working: loose, Base: strict, BaseAvailable: true}, "applies loose"},
		{"asked for the base's at precommit", policy.Input{Level: gate.Precommit, Source: base, NewSide: strict, Working: strict, Base: loose, BaseAvailable: true}, "changed applies loose"},
		{"a policy added by the change", policy.Input{Level: gate.CI, NewSide: loose, Working: loose, BaseAvailable: true}, "changed applies built-in"},
		{"a policy removed by the change", policy.Input{Level: gate.CI, Base: strict, BaseAvailable: true}, "changed applies strict"},
		{"same values, other spelling and order", policy.Input{
			Level: gate.CI, BaseAvailable: true,
			Base:    present(`{"trustTtl": {"enforce": true, "graceDays": 10}}`),
			NewSide: present("{\"check\": {},\n \"trustTtl\": {\"grac\\u0065Days\": 1e1, \"enforce\": true}}"),
			Working: present("{\"check\": {},\n \"trustTtl\": {\"grac\\u0065Days\": 1e1, \"enforce\": true}}"),
		}, "applies strict"},
		{"order of the reviewed files counts", policy.Input{
			Level: gate.CI, BaseAvailable: true,
			Base:    present(`{"trustTtl": {"checks": []}}`),
			NewSide: present(`{"trustTtl": {}}`), Working: present(`{"trustTtl": {}}`),
		}, "changed applies "},

		{"no base", policy.Input{Level: gate.CI, NewSide: loose, Working: loose}, "unavailable applies built-in"},
		{"no base, none wanted", policy.Input{Level: gate.CI, Source: head, NewSide: loose, Working: loose}, "applies loose"},
		{"the base's file is lost", policy.Input{Level: gate.CI, NewSide: loose, Working: loose, Base: lost, BaseAvailable: true}, "unavailable applies built-in"},
		{"the base's file is lost, none wanted", policy.Input{Level: gate.Full, NewSide: loose, Working: loose, Base: lost, BaseAvailable: true}, "applies loose"},
		{"the base is broken, the change repairs it", policy.Input{Level: gate.CI, NewSide: strict, Working: strict, Base: broken, BaseAvailable: true}, "base-broken applies built-in"},
		{"the base is no JSON", policy.Input{Level: gate.CI, NewSide: strict, Working: strict, Base: noJSON, BaseAvailable: true}, "base-broken applies built-in"},
		{"the base's file is a link", policy.Input{Level: gate.CI, NewSide: strict, Working: strict, Base: link, BaseAvailable: true}, "base-broken applies built-in"},
		{"the base's file is too large", policy.Input{Level: gate.CI, NewSide: strict, Working: strict, Base: huge, BaseAvailable: true}, "base-broken applies built-in"},
		{"a broken base is no matter where the head is applied", policy.Input{Level: gate.Full, NewSide: strict, Working: strict, Base: noJSON, BaseAvailable: true}, "applies strict"},
		{"no change set: HEAD's own", policy.Input{Level: gate.CI, NewSide: loose, Working: loose, HeadIsBase: true}, "applies loose"},

		{"untracked", policy.Input{Level: gate.Full, Working: loose}, "untracked applies built-in"},
		{"untracked link", policy.Input{Level: gate.Full, Working: link}, "untracked applies built-in"},
		{"a folder of that name is no policy", policy.Input{Level: gate.Full, Working: folder}, "applies built-in"},
		{"a link in the index", policy.Input{Level: gate.Full, NewSide: link, Working: link}, "irregular applies built-in"},
		{"unmerged", policy.Input{Level: gate.Full, NewSide: merging, Working: loose}, "irregular applies built-in"},
		{"a link in the commit, the base's applied", policy.Input{Level: gate.CI, NewSide: link, Working: link, Base: strict, BaseAvailable: true}, "irregular applies strict"},
		{"edited, not staged", policy.Input{Level: gate.Full, NewSide: strict, Working: loose}, "unstaged applies strict"},
		{"gone from the working tree", policy.Input{Level: gate.Full, NewSide: strict, Working: absent}, "unstaged applies strict"},
		{"a link in the working tree only", policy.Input{Level: gate.Full, NewSide: strict, Working: link}, "unstaged applies strict"},
		{"the working tree's cannot be read", policy.Input{Level: gate.Full, NewSide: strict, Working: lost}, "unstaged applies strict"},
		{"only line ends differ", policy.Input{Level: gate.Full, NewSide: present("{\n}\n"), Working: present("{\r\n}\r\n")}, "applies built-in"},
		{"broken head", policy.Input{Level: gate.Full, NewSide: broken, Working: broken}, "invalid applies strict"},
		{"broken head, sound base", policy.Input{Level: gate.CI, NewSide: broken, Working: broken, Base: loose, BaseAvailable: true}, "invalid changed applies loose"},
		{"broken and not staged", policy.Input{Level: gate.Full, NewSide: noJSON, Working: loose}, "unstaged invalid applies built-in"},
		{"too large", policy.Input{Level: gate.Full, NewSide: huge, Working: huge}, "invalid applies built-in"},
		{"trustTtl alone broken is the business of trust", policy.Input{Level: gate.Full, NewSide: present(`{"trustTtl": 1}`), Working: present(`{"trustTtl": 1}`)}, "applies built-in"},
		{"the head's file is lost", policy.Input{Level: gate.Full, NewSide: lost, Working: loose}, "unreadable applies built-in"},

		{"outside a repository", policy.Input{Level: gate.Full, Outside: true, Working: strict}, "applies strict"},
		{"outside a repository, a link", policy.Input{Level: gate.Full, Outside: true, Working: link}, "applies built-in"},
		{"outside a repository, broken", policy.Input{Level: gate.Full, Outside: true, Working: noJSON}, "applies built-in"},
		{"outside a repository at ci", policy.Input{Level: gate.CI, Outside: true, Working: strict, BaseAvailable: true}, "unavailable applies built-in"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := policy.Resolve(tt.in)
			if got := describe(p); got != strings.TrimSpace(tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if want := len(p.Config) == 0 && !p.Unavailable; p.Classifies() != want {
				t.Errorf("Classifies is %v", p.Classifies())
			}
			for _, c := range p.Config {
				if c.Message == "" {
					t.Error("a problem without message")
				}
			}
		})
	}
}

// The head policy is validated whichever copy is applied, and its problems keep
// their places.
func TestHeadIsAlwaysValidated(t *testing.T) {
	bad := present("{\n \"handoffImpact\": null\n}")
	for _, in := range []policy.Input{
		{Level: gate.CI, NewSide: bad, Working: bad},
		{Level: gate.CI, NewSide: bad, Working: bad, Base: loose, BaseAvailable: true},
		{Level: gate.CI, NewSide: bad, Working: bad, HeadIsBase: true},
		{Level: gate.Precommit, Source: policy.FromBase, NewSide: bad, Working: bad, BaseAvailable: true},
	} {
		p := policy.Resolve(in)
		if len(p.Config) != 1 || p.Config[0].Kind != policy.Invalid || p.Config[0].Span.Line != 2 {
			t.Errorf("%+v gives %v", in, p.Config)
		}
	}
}

// Comparing sections must not be quadratic in the number of keys of a hostile
// head: it breaks a rule, so it is not compared at all.
func TestChangedOverManyKeys(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"trustTtl": {`)
	for i := 0; b.Len() < gate.MaxConfig-20; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"%x":1`, i)
	}
	b.WriteString("}}")
	many := present(b.String())
	p := policy.Resolve(policy.Input{Level: gate.CI, NewSide: many, Working: many, Base: strict, BaseAvailable: true})
	if !p.Changed || p.Head.Sound(policy.TrustTTL) {
		t.Errorf("changed %v", p.Changed)
	}
}
