package run

import (
	"context"
	"crypto/sha1" //nolint:gosec // git's object ids are SHA-1; nothing here relies on its strength.
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/disk"
	"github.com/handoff-gate/handoff-gate/gate/git"
	"github.com/handoff-gate/handoff-gate/gate/lint"
)

// treeMarkers is what the conflict-marker scan of one tree found outside the
// handoff folder, whose files the content scanner reads itself.
type treeMarkers struct {
	found    []lint.TreeMarkers
	problems []lint.Problem
}

// readMarkers scans the tree of each snapshot of layer 1 (aahp-lint.md 8), in
// the order of readSets.
func (s *source) readMarkers(ctx context.Context) error {
	r := s.run
	entries, second, err := s.recorded(ctx)
	if err != nil {
		s.markers = []treeMarkers{{problems: []lint.Problem{{Reason: err.Error()}}}, {problems: []lint.Problem{{Reason: err.Error()}}}}
		return ctx.Err()
	}
	idLength := 0
	if second != nil {
		idLength = len(r.head.ID)
	}
	working, known, err := s.workingMarkers(ctx, idLength)
	if err != nil {
		return err
	}
	s.markers = []treeMarkers{working}
	if second == nil {
		return nil
	}
	other, err := s.recordedMarkers(ctx, second, entries, known)
	if err != nil {
		return err
	}
	if r.o.Level == gate.CI {
		s.markers = []treeMarkers{other, working}
	} else {
		s.markers = append(s.markers, other)
	}
	return nil
}

// recorded lists the tracked files of the second snapshot, where there is one.
func (s *source) recorded(ctx context.Context) ([]gate.Entry, gate.Tree, error) {
	r := s.run
	if r.c.Repo == nil || !r.hasHead || r.o.OnlyContent {
		return nil, nil, nil
	}
	switch r.o.Level {
	case gate.CI:
		entries, err := r.c.Repo.TreeEntries(ctx, r.head.Tree, s.p.Path)
		return entries, r.headSet, err
	case gate.Precommit:
		if _, err := s.newSide.Stat(manifestPath(s.p.Path)); err == nil {
			return s.newSide.(*git.Index).Below(s.p.Path), s.newSide, nil
		}
	case gate.Prepush, gate.Full:
	}
	return nil, nil, nil
}

// scanned is a file of the working tree that was read.
type scanned struct {
	blob    string // git's id for its bytes; "" when not asked for
	markers lint.Markers
}

// workingMarkers scans the working tree. With idLength it also tells which blob
// each file would be.
func (s *source) workingMarkers(ctx context.Context, idLength int) (treeMarkers, map[string]scanned, error) {
	var out treeMarkers
	paths, err := s.workingPaths(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return out, nil, ctx.Err()
		}
		out.problems = append(out.problems, lint.Problem{Reason: err.Error()})
		return out, nil, nil
	}
	type slot struct {
		scanned
		read bool
		err  error
	}
	slots := make([]slot, len(paths))
	workers := runtime.GOMAXPROCS(0)
	g, ctx := errgroup.WithContext(ctx)
	for w := range workers {
		from, to := len(paths)*w/workers, len(paths)*(w+1)/workers
		g.Go(func() error {
			folder := s.run.c.Work.Folder()
			defer folder.Close()
			buf := make([]byte, markerBuffer)
			for i := from; i < to; i++ {
				if i%1024 == 0 && ctx.Err() != nil {
					return ctx.Err()
				}
				slots[i].scanned, slots[i].read, slots[i].err = scanFile(folder, paths[i], buf, idLength)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return out, nil, err
	}
	var known map[string]scanned
	if idLength > 0 {
		known = make(map[string]scanned, len(paths))
	}
	for i, p := range paths {
		f := slots[i]
		switch {
		case f.err != nil:
			out.problems = append(out.problems, lint.Problem{Path: p, Reason: f.err.Error()})
		case f.read:
			if f.markers.Count > 0 {
				out.found = append(out.found, lint.TreeMarkers{Path: p, Markers: f.markers})
			}
			if known != nil {
				known[p] = f.scanned
			}
		}
	}
	return out, known, nil
}

// workingPaths lists the files to scan outside the handoff folder.
func (s *source) workingPaths(ctx context.Context) ([]string, error) {
	var paths []string
	var err error
	if s.run.c.Repo != nil {
		paths, err = s.run.c.Repo.WorkTreeFiles(ctx, s.p.Path)
	} else {
		paths, err = s.run.c.Work.Walk(s.p.Path, func(name string) bool { return name == ".git" || name == "node_modules" })
	}
	kept := paths[:0]
	for _, p := range paths {
		if !s.inHandoff(p) {
			kept = append(kept, p)
		}
	}
	return kept, err
}

func (s *source) inHandoff(path string) bool {
	_, inside := gate.Below(gate.Join(s.p.Path, gate.HandoffDir), path)
	return inside
}

// markerBuffer holds most files whole; larger ones pass through it.
const markerBuffer = 256 << 10

// scanFile looks for conflict markers in one file of the working tree. read is
// false for what is no regular file or gone.
func scanFile(folder *disk.Folder, path string, buf []byte, idLength int) (out scanned, read bool, err error) {
	f, err := folder.Open(path)
	if err != nil || f == nil {
		return out, false, err
	}
	defer f.Close()
	var in io.Reader = f
	var blob hash.Hash
	var size int64
	if idLength > 0 {
		info, err := f.Stat()
		if err != nil {
			return out, false, err
		}
		size = info.Size()
		blob = newBlob(idLength, size)
		in = io.TeeReader(f, blob)
	}
	count := &counter{r: in}
	out.markers, err = lint.ReadMarkers(count, buf, false)
	if err != nil {
		return out, false, reasonOf(err)
	}
	if blob != nil {
		// A binary file is left after its first bytes; the id needs them all.
		if _, err := io.CopyBuffer(io.Discard, onlyReader{count}, buf); err != nil {
			return out, false, reasonOf(err)
		}
		if count.n == size {
			out.blob = hex.EncodeToString(blob.Sum(nil))
		}
	}
	return out, true, nil
}

func newBlob(idLength int, size int64) hash.Hash {
	h := sha1.New() //nolint:gosec // see the import.
	if idLength == 64 {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", size)
	return h
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// onlyReader hides every method but Read, so that a copy uses the buffer given.
type onlyReader struct{ io.Reader }

func reasonOf(err error) error {
	if pe, ok := err.(*os.PathError); ok {
		return pe.Err
	}
	return err
}

// recordedMarkers scans the files of the index or a commit. A file whose blob
// is what the working tree holds at the same path was read there.
func (s *source) recordedMarkers(ctx context.Context, tree gate.Tree, entries []gate.Entry, known map[string]scanned) (treeMarkers, error) {
	var out treeMarkers
	buf := make([]byte, markerBuffer)
	if err := s.prefetch(ctx, entries, known); err != nil {
		return out, err
	}
	for _, e := range entries {
		if e.Kind != gate.Regular || s.inHandoff(e.Path) {
			continue
		}
		k, ok := known[e.Path]
		m := k.markers
		if !ok || k.blob != e.ID {
			if err := ctx.Err(); err != nil {
				return out, err
			}
			var err error
			if m, err = blobMarkers(tree, e.Path, buf); err != nil {
				out.problems = append(out.problems, lint.Problem{Path: e.Path, Reason: err.Error()})
				continue
			}
		}
		if m.Count > 0 {
			out.found = append(out.found, lint.TreeMarkers{Path: e.Path, Markers: m})
		}
	}
	return out, nil
}

// prefetch gets at once what a partial clone lacks of the files to scan. That it
// failed is not said here: each file that cannot be read then says so.
func (s *source) prefetch(ctx context.Context, entries []gate.Entry, known map[string]scanned) error {
	var ids []string
	for _, e := range entries {
		if e.Kind == gate.Regular && !s.inHandoff(e.Path) && known[e.Path].blob != e.ID {
			ids = append(ids, e.ID)
		}
	}
	_ = s.run.c.Repo.Prefetch(ctx, ids)
	return ctx.Err()
}

func blobMarkers(tree gate.Tree, path string, buf []byte) (lint.Markers, error) {
	r, _, err := tree.Open(path)
	if err != nil {
		return lint.Markers{}, err
	}
	defer r.Close()
	return lint.ReadMarkers(r, buf, false)
}
