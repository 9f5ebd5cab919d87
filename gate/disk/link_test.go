//go:build unix

package disk_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate"
)

func TestReadLink(t *testing.T) {
	_, work := workTree(t)
	for link, want := range map[string]string{"a/inside": "file", "a/nowhere": "gone", "linked": "a", "self": "self", "up": ".."} {
		if got, err := work.ReadLink(link); got != want || err != nil {
			t.Errorf("ReadLink(%q) = %q, %v; want %q", link, got, err, want)
		}
	}
	for _, p := range []string{"a/file", "a", "a/fifo", "."} {
		if _, err := work.ReadLink(p); !errors.Is(err, gate.ErrNotLink) {
			t.Errorf("ReadLink(%q): %v", p, err)
		}
	}
	for _, p := range []string{"gone", "linked/inside", "../a", ""} {
		if _, err := work.ReadLink(p); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("ReadLink(%q): %v", p, err)
		}
	}
}
