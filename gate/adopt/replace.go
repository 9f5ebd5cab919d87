package adopt

import (
	"bufio"
	"io"
	"io/fs"

	"github.com/handoff-gate/handoff-gate/gate/internal/wholefile"
)

// replacement is one file to be written.
type replacement struct {
	name    string
	content io.WriterTo
	// mode is that of the file that is replaced. Where none is, the new file gets
	// 0644 less the umask.
	replaces bool
	mode     fs.FileMode
	// before is asked right before the new file takes the name, and may refuse;
	// nil asks nothing.
	before func() error
}

// newFileMode is the mode of a file that replaces none.
const newFileMode = 0o644

// replace writes a file at once. That the folder cannot be flushed afterwards is
// no error: the new text is there for everybody.
func replace(folder wholefile.Folder, r replacement) error {
	o := wholefile.Options{Mode: newFileMode, Before: r.before}
	if r.replaces {
		o.Mode, o.Exact = r.mode, true
	}
	return wholefile.Write(folder, r.name, buffered{r.content}, o)
}

// writeSize is how much is written at a time.
const writeSize = 256 << 10

// buffered gathers content that comes in many small pieces.
type buffered struct{ content io.WriterTo }

func (b buffered) WriteTo(w io.Writer) (int64, error) {
	buffer := bufio.NewWriterSize(w, writeSize)
	n, err := b.content.WriteTo(buffer)
	if err != nil {
		return n, err
	}
	return n, buffer.Flush()
}
