package install

import (
	"fmt"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// readBase reads the record that the base has at the same place.
func (c *checker) readBase() {
	err := c.BaseErr
	if c.Base != nil {
		doc := gate.ReadDocument(c.Base, c.path(RecordName), MaxRecord)
		c.hadOne = doc.State != gate.Absent && doc.State != gate.Unreadable
		switch doc.State {
		case gate.Present:
			// One that does not parse there has nothing to be compared with.
			c.before, _, _ = parseRecord(doc.Data)
		case gate.Unreadable:
			err = doc.Err
		case gate.Absent, gate.NotRegular, gate.TooLarge:
		}
	}
	if err != nil {
		c.unavailable(c.path(RecordName), err)
	}
}

func (c *checker) unavailable(path string, err error) {
	c.add(BaseUnavailable, path, report.Span{}, "there is no comparison with the base: "+safetext.Clean(err.Error()),
		"Fetch the base commit (in a workflow: fetch-depth: 0), or name one that this clone has.")
}

// compare holds the record to that of the base: for one version the files are
// the same ones.
func (c *checker) compare() {
	was, is := c.before, c.record
	if jsondoc.Equal(was.get("files_sha256"), is.get("files_sha256")) || !jsondoc.Equal(was.get("version"), is.get("version")) {
		return
	}
	message := fmt.Sprintf("files_sha256 is %s and was %s at the base, and the version is still %s", is.shown("files_sha256"), was.shown("files_sha256"), is.shown("version"))
	severity := report.Warning
	if archive := sameArchive(was, is); archive != "" {
		severity = report.Error
		message += "; both records name the same archive (" + archive + "), which cannot give other files"
	}
	c.as(RecordRewritten, severity, c.path(RecordName), is.field("files_sha256"), message,
		"Say in the change why the files differ, or reinstall from the tagged archive.")
}

// sameArchive names the field by which two records are known to come from one
// archive; "" where they are not.
func sameArchive(a, b *record) string {
	for _, r := range []*record{a, b} {
		if kind, _ := stringOf(r.get("source").Get("kind")); kind != "archive" {
			return ""
		}
	}
	for _, name := range []string{"ref", "archive_sha256"} {
		was, ok := stringOf(a.get("source").Get(name))
		if is, also := stringOf(b.get("source").Get(name)); ok && also && was == is {
			return "source." + name
		}
	}
	return ""
}
