package governance

import (
	"fmt"
	"path"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

// Tag is a tag that is pushed, created or released, and whose name is a semantic
// version behind a prefix: "v" of v1.4.0, "api/v" of api/v1.4.0.
type Tag struct {
	Name            string
	Prefix, Version string
}

// Tag holds the tag of a release against the version of package.json
// (aahp-governance.md 4.3). For a project in a folder only a tag counts whose
// prefix ends in the folder's name.
func (j *Judge) Tag(t Tag) []report.Finding {
	p := j.pkg
	if !p.Exists {
		return nil
	}
	if j.in.Project != "." {
		name := path.Base(j.in.Project)
		prefix, _ := strings.CutSuffix(t.Prefix, "v")
		if prefix != name+"/" && !strings.HasSuffix(prefix, "/"+name+"/") {
			return nil
		}
	}
	version, span, ok := p.Version()
	if ok && version == t.Version {
		return nil
	}
	message := fmt.Sprintf("The tag %s is of the version %s, and package.json says %s.", j.quote(t.Name), j.clean(t.Version), j.quote(version))
	if !ok {
		message = fmt.Sprintf("The tag %s is of the version %s. %s", j.quote(t.Name), j.clean(t.Version), j.noVersion())
	}
	return []report.Finding{j.at(TagMismatch, p.Path, span, message,
		"Delete the tag, set the version in package.json and the changelog, and tag again.")}
}
