package workflow

import (
	"go.yaml.in/yaml/v3"
)

// Bounds on what aliases may make of a file (aahp-governance.md 11). The second
// keeps a few hundred aliases of one large block from becoming gigabytes of work.
const (
	maxExpansions = 1000
	maxExpanded   = 16 << 20 // bytes of text, and one for each node
)

// Read parses a workflow as GitHub reads it: the top level is any node, and each
// alias is replaced by what its anchor names, so that a node may stand in several
// places. Merge keys are left as they are, see MergeKey. The error is an *Error.
func Read(data []byte) (*File, error) {
	f, err := load(data)
	if err == nil {
		err = f.resolve()
	}
	if err != nil {
		return nil, within(data, err)
	}
	return f, nil
}

// measure is what a node comes to with every alias below it expanded.
type measure struct{ expansions, size int }

// resolver replaces aliases. Each node is visited once, however often it is meant.
type resolver struct {
	done   map[*yaml.Node]measure
	within map[*yaml.Node]bool // the nodes around the one at hand
}

func (f *File) resolve() error {
	r := resolver{done: map[*yaml.Node]measure{}, within: map[*yaml.Node]bool{}}
	_, err := r.visit(&f.Root)
	return err
}

// visit puts the node that is meant into its place and measures it. Counting
// stops growing at the bounds, so no sum overflows.
func (r *resolver) visit(place **yaml.Node) (measure, error) {
	alias := *place
	n, m := alias, measure{}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
		m.expansions++
		*place = n
	}
	if n == nil || r.within[n] {
		return m, failf(alias.Line, "an alias stands in what it names")
	}
	if known, ok := r.done[n]; ok {
		return r.add(m, known, alias)
	}
	r.within[n] = true
	defer delete(r.within, n)
	own := measure{size: 1 + len(n.Value)}
	for i := range n.Content {
		below, err := r.visit(&n.Content[i])
		if err != nil {
			return m, err
		}
		if own, err = r.add(own, below, n.Content[i]); err != nil {
			return m, err
		}
	}
	r.done[n] = own
	return r.add(m, own, alias)
}

func (r *resolver) add(a, b measure, at *yaml.Node) (measure, error) {
	sum := measure{a.expansions + b.expansions, a.size + b.size}
	switch {
	case sum.expansions > maxExpansions:
		return sum, failf(at.Line, "its aliases are expanded more than %d times", maxExpansions)
	case sum.size > maxExpanded:
		return sum, failf(at.Line, "its aliases expand to more than %d bytes", maxExpanded)
	}
	return sum, nil
}

// MergeKey finds the first merge key of a file from Read; nil when it has none.
// GitHub does not follow merge keys, and readers that do disagree about them.
func (f *File) MergeKey() *yaml.Node {
	seen := map[*yaml.Node]bool{}
	var find func(n *yaml.Node) *yaml.Node
	find = func(n *yaml.Node) *yaml.Node {
		if seen[n] {
			return nil
		}
		seen[n] = true
		for i, c := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 0 && isMergeKey(c) {
				return c
			}
			if found := find(c); found != nil {
				return found
			}
		}
		return nil
	}
	return find(f.Root)
}

func isMergeKey(n *yaml.Node) bool { return n.Value == "<<" || n.ShortTag() == "!!merge" }

// Trigger is one event that a workflow is triggered by.
type Trigger struct {
	Name   *yaml.Node // the event's name, where it stands
	Filter *yaml.Node // what is said about it; nil when it is only named
}

// Events are the triggers of a workflow, whichever of its three forms `on` has,
// in the order of the file. It is an error when the workflow has no `on` or two.
func (f *File) Events() ([]Trigger, error) {
	on, err := f.Triggers()
	if err != nil {
		return nil, err
	}
	var events []Trigger
	switch v := on.Value; v.Kind {
	case yaml.ScalarNode:
		if v.ShortTag() != "!!null" {
			events = append(events, Trigger{Name: v})
		}
	case yaml.SequenceNode:
		for _, item := range v.Content {
			if item.Kind == yaml.ScalarNode {
				events = append(events, Trigger{Name: item})
			}
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(v.Content); i += 2 {
			if k := v.Content[i]; k.Kind == yaml.ScalarNode {
				events = append(events, Trigger{Name: k, Filter: v.Content[i+1]})
			}
		}
	case yaml.DocumentNode, yaml.AliasNode:
	}
	return events, nil
}
