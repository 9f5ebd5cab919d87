package run

import (
	"cmp"
	"context"
	"io"
	"runtime"
	"slices"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/disk"
	"github.com/handoff-gate/handoff-gate/gate/git"
	"github.com/handoff-gate/handoff-gate/gate/internal/digest"
	"github.com/handoff-gate/handoff-gate/gate/internal/parallel"
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
	var entries []gate.Entry
	var paths []string
	var listErr error
	g := parallel.Group{}
	g.Go(func() (err error) {
		entries, err = s.recorded(ctx)
		return err
	})
	g.Go(func() error {
		paths, listErr = s.workingPaths(ctx)
		return nil
	})
	if err := g.Wait(); err != nil {
		s.markers = []treeMarkers{{problems: []lint.Problem{{Reason: err.Error()}}}, {problems: []lint.Problem{{Reason: err.Error()}}}}
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var working treeMarkers
	var same []bool
	if listErr != nil {
		working.problems = []lint.Problem{{Reason: listErr.Error()}}
	} else {
		var err error
		if working, same, err = s.workingMarkers(ctx, paths, entries); err != nil {
			return err
		}
	}
	s.markers = []treeMarkers{working}
	if s.second == nil {
		return nil
	}
	other, err := s.recordedMarkers(ctx, entries, same, working.found)
	if err != nil {
		return err
	}
	s.markers = row(r.o.Level, working, other)
	return nil
}

// recorded lists the tracked files of the second tree, where there is one.
func (s *source) recorded(ctx context.Context) ([]gate.Entry, error) {
	switch tree := s.second.(type) {
	case nil:
		return nil, nil
	case *git.Index:
		return tree.Below(s.p.Path), nil
	}
	return s.run.c.Repo.TreeEntries(ctx, s.run.head.Tree, s.p.Path)
}

// workingMarkers scans files of the working tree. Of the recorded files, ordered
// by path, it tells which have the same bytes there.
func (s *source) workingMarkers(ctx context.Context, paths []string, recorded []gate.Entry) (out treeMarkers, same []bool, err error) {
	same = make([]bool, len(recorded))
	workers := make([]markerWorker, runtime.GOMAXPROCS(0))
	g, ctx := parallel.WithContext(ctx)
	for w := range workers {
		from, to := len(paths)*w/len(workers), len(paths)*(w+1)/len(workers)
		g.Go(func() error {
			worker := &workers[w]
			worker.folder, worker.buf = s.run.c.Work.Folder(), make([]byte, markerBuffer)
			defer worker.folder.Close()
			if len(recorded) > 0 {
				worker.blob = digest.NewBlob(len(s.run.head.ID))
			}
			for i, p := range paths[from:to] {
				if i%1024 == 0 && ctx.Err() != nil {
					return ctx.Err()
				}
				if at, ok := slices.BinarySearchFunc(recorded, p, comparePath); ok {
					same[at] = worker.scan(p, recorded[at].ID)
				} else {
					worker.scan(p, "")
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return out, nil, err
	}
	for _, w := range workers {
		out.found = append(out.found, w.found...)
		out.problems = append(out.problems, w.problems...)
	}
	return out, same, nil
}

func comparePath(e gate.Entry, path string) int { return cmp.Compare(e.Path, path) }

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

// markerWorker scans files of the working tree, one after another.
type markerWorker struct {
	folder *disk.Folder
	buf    []byte
	blob   *digest.Blob // nil where nothing is recorded
	count  counter
	treeMarkers
}

// scan looks for conflict markers in one file, passing over what is no regular
// file or gone. It tells whether the file is the blob of that id ("" for none).
func (w *markerWorker) scan(path, id string) (same bool) {
	same, err := w.read(path, id)
	if err != nil {
		w.problems = append(w.problems, lint.Problem{Path: path, Reason: err.Error()})
	}
	return same
}

func (w *markerWorker) read(path, id string) (same bool, err error) {
	f, err := w.folder.Open(path)
	if err != nil || f == nil {
		return false, err
	}
	defer f.Close()
	count := &w.count
	*count = counter{r: f}
	if id != "" {
		w.blob.Begin(f.Size())
		count.also = w.blob
	}
	markers, err := lint.ReadMarkers(count, w.buf)
	if err != nil {
		return false, err
	}
	if id != "" {
		// A binary file is left after its first bytes; the id needs them all.
		if _, err := io.CopyBuffer(io.Discard, onlyReader{count}, w.buf); err != nil {
			return false, err
		}
		same = count.n == f.Size() && string(w.blob.ID()) == id
	}
	if markers.Count > 0 {
		w.found = append(w.found, lint.TreeMarkers{Path: path, Markers: markers})
	}
	return same, nil
}

// counter counts what is read, and hashes it where asked to.
type counter struct {
	r    io.Reader
	also *digest.Blob // nil for none
	n    int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if c.also != nil {
		c.also.Write(p[:n])
	}
	return n, err
}

// onlyReader hides every method but Read, so that a copy uses the buffer given.
type onlyReader struct{ io.Reader }

// recordedMarkers scans the files of the second tree. A file that the
// working tree holds with the same bytes at the same path was read there.
func (s *source) recordedMarkers(ctx context.Context, entries []gate.Entry, same []bool, found []lint.TreeMarkers) (treeMarkers, error) {
	var out treeMarkers
	if err := s.prefetch(ctx, entries, same); err != nil {
		return out, err
	}
	known := make(map[string]lint.Markers, len(found))
	for _, f := range found {
		known[f.Path] = f.Markers
	}
	buf := make([]byte, markerBuffer)
	for i, e := range entries {
		if e.Kind != gate.Regular || s.inHandoff(e.Path) {
			continue
		}
		m := known[e.Path]
		if !wasRead(same, i) {
			if err := ctx.Err(); err != nil {
				return out, err
			}
			var err error
			if m, err = blobMarkers(s.second, e.Path, buf); err != nil {
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

// wasRead tells whether the working tree has the bytes of the entry; there are
// no answers where it could not be listed.
func wasRead(same []bool, i int) bool { return same != nil && same[i] }

// prefetch gets at once what a partial clone lacks of the files to scan. That it
// failed is not said here: each file that cannot be read then says so.
func (s *source) prefetch(ctx context.Context, entries []gate.Entry, same []bool) error {
	var ids []string
	for i, e := range entries {
		if e.Kind == gate.Regular && !s.inHandoff(e.Path) && !wasRead(same, i) {
			ids = append(ids, e.ID)
		}
	}
	_ = s.run.c.Repo.Prefetch(ctx, s.run.head.Tree, ids)
	return ctx.Err()
}

func blobMarkers(tree gate.Tree, path string, buf []byte) (lint.Markers, error) {
	r, _, err := tree.Open(path)
	if err != nil {
		return lint.Markers{}, err
	}
	defer r.Close()
	return lint.ReadMarkers(r, buf)
}
