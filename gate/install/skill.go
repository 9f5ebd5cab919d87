package install

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
)

// header judges the header of SKILL.md, and the version in it.
func (c *checker) header(skill gate.Entry, err error) {
	if c.links[SkillName] {
		return // it is reported, and not followed
	}
	absent := func(why string) {
		c.add(SkillHeaderMissing, c.path(SkillName), firstLine, SkillName+" "+why, restore)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		absent("is not there")
		return
	case err == nil && skill.Kind != gate.Regular:
		absent("is " + skill.Kind.Article() + ", not a regular file")
		return
	}
	var h skillHeader
	if err == nil {
		var rc io.ReadCloser
		if rc, _, err = c.Files.Open(skill.Path); err == nil {
			h, err = readHeader(rc)
			err = errors.Join(err, rc.Close())
		}
	}
	if err != nil {
		absent("cannot be read: " + safetext.Clean(err.Error()))
		return
	}
	var lacks []string
	if !h.name {
		lacks = append(lacks, "name:")
	}
	if !h.hasVersion {
		lacks = append(lacks, "version:")
	}
	if len(lacks) > 0 {
		absent("has no line that begins " + strings.Join(lacks, " and none that begins "))
	}
	if c.record == nil || !h.hasVersion {
		return
	}
	if v, ok := c.record.string("version"); ok && v != h.version {
		c.add(VersionMismatch, c.path(RecordName), c.record.field("version"),
			fmt.Sprintf("the install record is of version %q, %s of %q", safetext.Clean(v), SkillName, safetext.Clean(h.version)), reinstall)
	}
}

// skillHeader is what SKILL.md says of itself.
type skillHeader struct {
	name, hasVersion bool
	version          string // the first word after the first "version:"
}

// maxLine is how much of a line is looked at: a version is a word.
const maxLine = 4096

// readHeader looks at the beginning of each line.
func readHeader(r io.Reader) (h skillHeader, err error) {
	in := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := in.ReadSlice('\n')
		if bytes.HasPrefix(line, []byte("name:")) {
			h.name = true
		}
		if rest, ok := bytes.CutPrefix(line, []byte("version:")); ok && !h.hasVersion {
			h.hasVersion = true
			if words := strings.FieldsFunc(ecma.Decode(rest), ecma.IsSpace); len(words) > 0 {
				h.version = words[0]
			}
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
		}
		if err == io.EOF {
			return h, nil
		}
		if err != nil {
			return h, err
		}
	}
}
