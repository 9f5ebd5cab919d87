package fileledger

import (
	"io"
	"io/fs"
	"path/filepath"

	"github.com/handoff-gate/handoff-gate/gate/internal/wholefile"
)

// replace writes a ledger at once. It succeeds only once the new text would
// survive a loss of power: a claim that comes back after a crash could be made
// twice. before is asked ahead of each operation.
func replace(path string, mode fs.FileMode, content io.WriterTo, before func(operation string) error) error {
	folder := wholefile.Watch(wholefile.In(filepath.Dir(path)), before)
	return wholefile.Write(folder, filepath.Base(path), content, wholefile.Options{
		Mode: mode, Exact: mode != newMode, Durable: true,
	})
}
