package snapshot_test

import (
	"context"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/snapshot"
)

// endless is a tree in which every folder holds another one, and as many of git's
// as width says, as a commit can be made of a dozen small objects.
type endless struct {
	width, asked int
	gits         []gate.Entry
}

func (e *endless) Name() string { return "head tree" }

func (e *endless) Stat(p string) (gate.Entry, error) {
	if strings.HasSuffix(p, ".json") {
		return gate.Entry{}, fs.ErrNotExist
	}
	return gate.Entry{Path: p, Kind: gate.Folder}, nil
}

func (e *endless) Open(string) (io.ReadCloser, gate.Entry, error) {
	return nil, gate.Entry{}, fs.ErrNotExist
}

func (e *endless) List(dir string) ([]gate.Entry, error) {
	e.asked++
	for len(e.gits) < e.width {
		e.gits = append(e.gits, gate.Entry{Path: dir + "/.git", Kind: gate.Folder})
	}
	return append(e.gits[:e.width:e.width], gate.Entry{Path: dir + "/d", Kind: gate.Folder}), nil
}

// A folder that is too deep is not entered, and said to be unreadable; a set
// that is too large is not read at all.
func TestTreesThatFitOnNoDisk(t *testing.T) {
	well := &endless{}
	s := read(t, well, snapshot.Options{})
	if len(s.Files) != 1 || s.Files[0].State != gate.Unreadable || s.Files[0].Err == nil || well.asked > 4096 {
		t.Errorf("%d files after asking %d times", len(s.Files), well.asked)
	}
	wide := &endless{width: 10_000}
	if _, err := snapshot.Read(context.Background(), wide, ".", snapshot.Options{}); err == nil || !strings.Contains(err.Error(), "more than 1000000 files") {
		t.Errorf("after asking %d times: %v", wide.asked, err)
	}
}
