package git

import (
	"io"

	"github.com/handoff-gate/handoff-gate/gate"
)

// maxLink bounds the target of a symbolic link; no system makes longer ones.
const maxLink = 4096

// ReadLink gives the target of the symbolic link at p, as the blob has it.
func (t *tree) ReadLink(p string) (string, error) {
	e, err := t.Stat(p)
	if err != nil {
		return "", err
	}
	if e.Kind != gate.Symlink {
		return "", gate.ErrNotLink
	}
	e.Kind = gate.Regular // a blob as any other
	rc, _, err := t.repo.openBlob(e)
	if err != nil {
		return "", err
	}
	defer rc.Close()
	target, err := io.ReadAll(io.LimitReader(rc, maxLink+1))
	if err == nil && len(target) > maxLink {
		err = gate.ErrNotLink
	}
	return string(target), err
}
