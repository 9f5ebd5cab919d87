package run

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
)

// readInside reads a file of the checkout, following links as long as they end
// at a regular file of the same repository that is none of git's own.
func readInside(c *Checkout, path string, limit int64) gate.Document {
	doc := gate.ReadDocument(c.Work, path, limit)
	if doc.State != gate.NotRegular || doc.Entry.Kind != gate.Symlink {
		return doc
	}
	target, err := filepath.EvalSymlinks(filepath.Join(c.Top, filepath.FromSlash(path)))
	if err != nil {
		return doc
	}
	rel, err := filepath.Rel(c.Top, target)
	if err != nil || !filepath.IsLocal(rel) || rel == ".git" || strings.HasPrefix(rel, ".git"+string(filepath.Separator)) {
		doc.Err = errors.New("it is a symbolic link that leaves the repository")
		return doc
	}
	root, err := os.OpenRoot(c.Top)
	if err != nil {
		return doc
	}
	defer root.Close()
	info, err := root.Lstat(rel)
	if err != nil || !info.Mode().IsRegular() {
		return doc
	}
	f, err := root.Open(rel)
	if err != nil {
		return doc
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		doc.State, doc.Err = gate.Unreadable, err
	case int64(len(data)) > limit:
		doc.State, doc.Err = gate.TooLarge, errors.New("it is larger than its limit")
	default:
		doc.State, doc.Data, doc.Err = gate.Present, data, nil
	}
	return doc
}
