package install

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/localpath"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
)

// judge compares the record with itself and with the files, and gives the
// summary.
func (c *checker) judge() string {
	list, flaws := c.record.entries()
	hashed := 0
	for _, e := range list {
		if e.hash != missing && e.hash != "" {
			hashed++
		}
	}
	if len(flaws) == 0 {
		flaws = c.totals(list, hashed)
	}
	for _, f := range flaws {
		c.add(RecordInconsistent, c.path(RecordName), f.at, f.message, restore)
	}
	c.exposed()
	matched := 0
	for _, e := range list {
		if why := escapes(e.path); why != "" {
			c.add(PathEscape, c.path(RecordName), e.at, fmt.Sprintf("the listed path %q %s; it is not opened", safetext.Clean(e.path), why), reinstall)
		} else if e.hash != "" && c.matches(e) {
			matched++
		}
	}
	switch {
	case len(flaws) > 0:
		return fmt.Sprintf("%d of %d files match the install record, which contradicts itself", matched, hashed)
	case matched < hashed:
		return fmt.Sprintf("%d of %d files match the install record", matched, hashed)
	}
	return fmt.Sprintf("%d files match the install record", matched)
}

// totals holds the fields that follow from the list to it.
func (c *checker) totals(list []entry, hashed int) (flaws []flaw) {
	r := c.record
	if want, got := setHash(list), r.shown("files_sha256"); !c.is("files_sha256", want) {
		flaws = append(flaws, flaw{r.field("files_sha256"), fmt.Sprintf("files_sha256 is %s, but the recorded hashes give %q", got, want)})
	}
	for _, f := range []struct {
		name, what string
		want       int
		optional   bool
	}{
		{"file_count", "are not \"" + missing + "\"", hashed, false},
		{"manifest_entries", "there are", len(list), true},
	} {
		v := r.get(f.name)
		if v == nil && f.optional {
			continue
		}
		if n, ok := v.Float(); !ok || n != float64(f.want) {
			flaws = append(flaws, flaw{r.field(f.name), fmt.Sprintf("%s is %s, but of the entries in files %d %s", f.name, r.shown(f.name), f.want, f.what)})
		}
	}
	return flaws
}

func (c *checker) is(name, want string) bool {
	s, ok := c.record.string(name)
	return ok && s == want
}

// exposed reports paths of somebody's machine in a record that a repository
// publishes.
func (c *checker) exposed() {
	if !c.Repository {
		return
	}
	r := c.record
	for _, f := range []struct {
		name string
		in   *jsondoc.Value
		key  string
	}{{"target", r.doc.Root, "target"}, {"source.path", r.get("source"), "path"}} {
		m, ok := f.in.Member(f.key)
		if s, is := stringOf(m.Value); ok && is && localpath.Is(s) {
			c.add(LocalPathExposed, c.path(RecordName), r.key(m), f.name+" is a path of somebody's machine",
				"Look at it before the repository is published; to be rid of it, reinstall with a relative path.")
		}
	}
}

// matches judges one listed path and tells whether it is there with its hash.
func (c *checker) matches(e entry) bool {
	// An encoder replaces what is no character, so that is the name on disk.
	name := ecma.WellFormed(e.path)
	found, link, err := c.find(name)
	switch {
	case link != "":
		c.link(link, notFollowed)
	case errors.Is(err, fs.ErrNotExist):
		if e.hash != missing {
			c.add(FileMissing, c.path(name), firstLine, safetext.Clean(name)+" is listed in the install record and is not there", restore)
		}
	case e.hash == missing:
		c.add(FileUnexpected, c.path(name), firstLine, safetext.Clean(name)+" is there, but the version that was installed does not have it",
			"Remove it, or reinstall from a trusted archive.")
	case err != nil:
		c.changed(name, "cannot be read: "+safetext.Clean(err.Error()))
	case found.Kind != gate.Regular:
		c.changed(name, "is "+found.Kind.Article()+", not a regular file")
	default:
		return c.sameBytes(name, found.Path, e.hash)
	}
	return false
}

// find looks a listed path up. Where it is, or leads through, a symbolic link,
// it gives that link and nothing else.
func (c *checker) find(name string) (found gate.Entry, link string, err error) {
	rel := ""
	for segment := range strings.SplitSeq(name, "/") {
		if rel != "" && found.Kind != gate.Folder {
			return found, "", fs.ErrNotExist
		}
		if segment == "" {
			continue // "a//b" is a/b wherever files are opened
		}
		rel = strings.TrimPrefix(rel+"/"+segment, "/")
		if found, err = c.Files.Stat(gate.Join(c.Dir, rel)); err != nil {
			return found, "", err
		}
		if found.Kind == gate.Symlink {
			return found, rel, nil
		}
	}
	return found, "", nil
}

// sameBytes hashes a file and compares.
func (c *checker) sameBytes(name, path, want string) bool {
	rc, _, err := c.Files.Open(path)
	if err != nil {
		c.changed(name, "cannot be read: "+safetext.Clean(err.Error()))
		return false
	}
	defer rc.Close()
	in := bufio.NewReaderSize(rc, 64<<10)
	start, _ := in.Peek(len(gate.LFSPointer)) // of a shorter file less; an error comes again
	pointer := string(start) == gate.LFSPointer
	h := sha256.New()
	if _, err = io.Copy(h, in); err != nil {
		c.changed(name, "cannot be read: "+safetext.Clean(err.Error()))
		return false
	}
	got := hex.EncodeToString(h.Sum(nil))
	if got == want {
		return true
	}
	message := fmt.Sprintf("has the SHA-256 %s, the install record says %s", got, want)
	if pointer {
		message += "; it is a pointer of Git LFS, whose content is not in the tree"
	}
	c.changed(name, message)
	return false
}

func (c *checker) changed(name, what string) {
	c.add(FileChanged, c.path(name), firstLine, safetext.Clean(name)+" "+what,
		"Restore it from version control, or reinstall from a trusted archive. If line ends were converted, mark the copy -text in .gitattributes and check it out anew.")
}
