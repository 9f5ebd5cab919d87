package disk

import (
	"github.com/handoff-gate/handoff-gate/gate"
)

// ReadLink gives the target of the symbolic link at p, as the system has it.
func (t *Tree) ReadLink(p string) (string, error) {
	e, err := t.Stat(p)
	if err != nil {
		return "", err
	}
	if e.Kind != gate.Symlink {
		return "", gate.ErrNotLink
	}
	target, err := t.root.Readlink(p)
	return target, Cause(err)
}
