//go:build !unix

package disk

import (
	"errors"
	"io/fs"
)

// noFollow is nothing here: the kind of an entry is looked at before and after
// it is opened, and os.Root keeps the path inside the top level.
const noFollow = 0

func passedOver(err error) bool { return errors.Is(err, fs.ErrNotExist) }
