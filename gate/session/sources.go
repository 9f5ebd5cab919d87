package session

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/follow"
)

// Sources finds and hashes the transcripts that manifests name, each of them once,
// however many sessions name it. It is safe for several goroutines.
type Sources struct {
	tree gate.LinkReader
	// places gives where a name may lie: paths from the top level.
	places func(name string) []string

	mu   sync.Mutex
	sums map[string]func() Source
}

// NewSources makes a Sources over one state.
func NewSources(tree gate.LinkReader, places func(name string) []string) *Sources {
	return &Sources{tree: tree, places: places, sums: map[string]func() Source{}}
}

// Find gives the files that an element of source_paths names. What leads out of the
// tree is passed over, as is what is no regular file.
func (s *Sources) Find(name string) []Source {
	var found []Source
	for _, p := range s.places(name) {
		if file, ok := s.file(p); ok {
			found = append(found, s.sum(file))
		}
	}
	return found
}

// maxLinks is how many links in a row may stand in the place of a file.
const maxLinks = 40

// file follows the links to a file.
func (s *Sources) file(p string) (string, bool) {
	for range maxLinks {
		if strings.HasPrefix(p, "/") || strings.HasSuffix(p, "/") {
			return "", false
		}
		dir, base := path.Split(p)
		if base == "" || base == "." || base == ".." {
			return "", false
		}
		place, err := follow.Folder(s.tree, ".", ".", dir)
		if err != nil || place.Outside {
			return "", false
		}
		here := gate.Join(place.Path, base)
		e, err := s.tree.Stat(here)
		if err != nil {
			return "", false
		}
		switch e.Kind {
		case gate.Regular:
			return here, true
		case gate.Symlink:
			target, err := s.tree.ReadLink(here)
			if err != nil || strings.HasPrefix(target, "/") {
				return "", false
			}
			p = gate.Join(place.Path, target)
		case gate.Folder, gate.Gitlink, gate.Special, gate.Unmerged:
			return "", false
		}
	}
	return "", false
}

// sum hashes a file once.
func (s *Sources) sum(p string) Source {
	s.mu.Lock()
	f := s.sums[p]
	if f == nil {
		f = sync.OnceValue(func() Source {
			sum, err := textSum(s.tree, p)
			return Source{Path: p, SHA256: sum, Err: err}
		})
		s.sums[p] = f
	}
	s.mu.Unlock()
	return f()
}

// textSum is the SHA-256 of a file's decoded text.
func textSum(t gate.Tree, p string) (string, error) {
	r, e, err := t.Open(p)
	if err != nil {
		return "", err
	}
	defer r.Close()
	if e.Size > MaxFile {
		return "", fmt.Errorf("it has %d bytes, which is more than 256 MiB", e.Size)
	}
	h := sha256.New()
	d := ecma.NewDecoder(h)
	if _, err := io.Copy(d, r); err != nil {
		return "", err
	}
	_ = d.Flush() // a hash takes everything
	return hex.EncodeToString(h.Sum(nil)), nil
}
