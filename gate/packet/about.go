package packet

import (
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// changed is the notice that a change edits the registry.
func (r *Registry) changed() found {
	return found{kind: registryChanged, path: r.path, span: firstLine, message: "the change edits the registry, which says whose signatures count and what receivers allow"}
}

// unmatched is the warning that a pattern matches nothing.
func (r *Registry) unmatched(pattern string) found {
	return found{kind: noMatch, path: r.path, span: firstLine, message: "the pattern " + show(pattern) + " of the input packets matches no file at HEAD"}
}

// About is what a run of the action says that is about no packet (packets.md 10).
type About struct {
	Registry *Registry // that packets are judged by
	Why      string    // why no packet stands in this entry
	Changed  bool      // the change edits the registry
	Broken   string    // what is wrong with the registry that the change brings; "" for nothing
	NoMatch  []string  // patterns that match nothing
	Notes    bool      // the registry's own warnings belong here, too
	Again    string    // repeats the run
}

// Entry gives it an entry of the report: the registry's path, and all layers skip
// but the first, where there is something to say.
func (a About) Entry() report.Project {
	var b bounded
	if a.Broken != "" {
		b.add(found{kind: registryBrokenAtHead, path: a.Registry.path, span: firstLine, message: a.Broken})
	}
	if a.Notes {
		for _, n := range a.Registry.notes {
			b.add(n)
		}
	}
	if a.Changed {
		b.add(a.Registry.changed())
	}
	for _, pattern := range a.NoMatch {
		b.add(a.Registry.unmatched(pattern))
	}
	p := report.Project{Path: a.Registry.path, Format: Format, Level: Level}
	for i, id := range layerIDs {
		if i == structure && len(b.list) > 0 {
			l := assemble(&Document{path: a.Registry.path}, Commands{Again: a.Again}, id, layerTitles[i], b.list, &report.Packet{})
			l.Summary = a.Why
			p.Layers = append(p.Layers, l)
			continue
		}
		p.Layers = append(p.Layers, report.Skipped(id, layerTitles[i], a.Why))
	}
	return p
}
