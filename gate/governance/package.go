package governance

import (
	"fmt"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// Package is package.json as the gates read it. As for npm, the last of equal keys
// counts.
type Package struct {
	Path   string            // from the repository's top level
	Exists bool              // something has that name, whatever it is
	Doc    *jsondoc.Document // nil when it cannot be parsed as a JSON object
	Why    string            // why Doc is nil: the end of a sentence; outside text is cleaned
}

func (j *Judge) readPackage() *Package {
	p := &Package{Path: j.path(PackageFile)}
	doc := j.read(PackageFile, gate.MaxPackageJSON)
	p.Exists = doc.State != gate.Absent
	if doc.State != gate.Present {
		p.Why = "it cannot be read: " + j.unread(doc)
		return p
	}
	parsed, err := jsondoc.Parse(doc.Data, jsondoc.Options{KeepEqualKeys: true})
	switch {
	case err != nil:
		p.Why = "it is not JSON: " + err.Error()
	case !parsed.Root.Is(jsondoc.Object):
		p.Why = "it holds " + parsed.Root.Kind.Article() + ", an object is expected"
	default:
		p.Doc = parsed
	}
	return p
}

// member finds a member of the top level; nil when there is none.
func (p *Package) member(key string) *jsondoc.Value {
	if p.Doc == nil {
		return nil
	}
	return p.Doc.Root.Get(key)
}

// Name is the name of the package; "" when it has none.
func (p *Package) Name() string {
	if v := p.member("name"); v.Is(jsondoc.String) {
		return v.Text
	}
	return ""
}

// Version is the version; ok is false where there is none that is a text. Span is
// the place of the value, zero without one.
func (p *Package) Version() (version string, span report.Span, ok bool) {
	v := p.member("version")
	if v == nil {
		return "", report.Span{}, false
	}
	span = p.Doc.At(v)
	if !v.Is(jsondoc.String) || v.Text == "" {
		return "", span, false
	}
	return v.Text, span, true
}

// Repository is the URL of the repository that package.json names; "" for none.
func (p *Package) Repository() string {
	v := p.member("repository")
	if v.Is(jsondoc.Object) {
		v = v.Get("url")
	}
	if v.Is(jsondoc.String) {
		return v.Text
	}
	return ""
}

// version gives the version of package.json for a gate that needs it. Where there
// is none, the gate has the finding.
func (j *Judge) version() (string, []report.Finding) {
	p := j.pkg
	version, span, ok := p.Version()
	if ok {
		return version, nil
	}
	return "", []report.Finding{j.at(PackageJSON, p.Path, span, j.noVersion(), `Give package.json a version string, such as "version": "1.0.0".`)}
}

func (j *Judge) noVersion() string {
	v := j.pkg.member("version")
	switch {
	case j.pkg.Doc == nil:
		return PackageFile + " has no version: " + j.pkg.Why + "."
	case v == nil:
		return PackageFile + " has no version."
	case v.Is(jsondoc.String):
		return "The version of " + PackageFile + " is empty."
	}
	return fmt.Sprintf("The version of %s is %s, a string is expected.", PackageFile, v.Kind.Article())
}
