package criteria

import (
	"errors"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
)

// Registry is what the manifest says of the tasks.
type Registry struct {
	Usable bool
	Tasks  map[string]string // status by id, of the tasks whose status is a string
	Err    error             // why it is not usable; nil for an absent one
}

// ErrOutside says that the path of the registry leads out of the project, so that
// nothing was opened.
var ErrOutside = errors.New("it leads out of the project")

// ParseRegistry reads the manifest. One without tasks is an empty registry.
func ParseRegistry(doc gate.Document) Registry {
	switch {
	case doc.State == gate.Absent:
		return Registry{}
	case doc.State != gate.Present:
		return Registry{Err: doc.Err}
	}
	root, err := parse(doc.Data)
	if err != nil {
		return Registry{Err: err}
	}
	if !root.Is(jsondoc.Object) {
		return Registry{Err: errors.New("it holds " + root.Kind.Article() + ", an object is expected")}
	}
	r := Registry{Usable: true, Tasks: map[string]string{}}
	tasks, there := root.Member("tasks")
	switch {
	case !there:
		return r
	case !tasks.Value.Is(jsondoc.Object):
		return Registry{Err: errors.New("its tasks are " + tasks.Value.Kind.Article() + ", an object is expected")}
	}
	for _, m := range tasks.Value.Members {
		if status := m.Value.Get("status"); status.Is(jsondoc.String) {
			r.Tasks[m.Key] = status.Text
		}
	}
	return r
}
