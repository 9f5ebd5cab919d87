package session

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/localpath"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// The fields that no hash covers (sessions.md 6.4).
const (
	hashField  = "manifest_sha256"
	protoField = "__proto__"
)

// manifest is a manifest.json that parses to an object.
type manifest struct{ *ecma.Document }

// unparsableError is a manifest that is no JSON object.
type unparsableError struct {
	line   int
	reason string
}

func (e *unparsableError) Error() string { return e.reason }

// parseManifest reads a manifest. The error is an *unparsableError where it is no
// JSON object, else that of r.
func parseManifest(r io.Reader) (manifest, error) {
	doc, err := ecma.Read(r, ecma.Options{MaxDepth: maxManifestDepth, Elements: "source_paths"})
	var syntax *ecma.Error
	switch {
	case errors.As(err, &syntax):
		return manifest{}, &unparsableError{syntax.Line, syntax.Error()}
	case err != nil:
		return manifest{}, err
	case doc.Kind != jsondoc.Object:
		return manifest{}, &unparsableError{doc.Line, "it is " + doc.Kind.Article() + ", not an object"}
	}
	return manifest{doc}, nil
}

func (m manifest) value(name string) ecma.Value {
	f, _ := m.Field(name)
	return f.Value
}

func (m manifest) has(name string) bool { return m.value(name).Kind != 0 }

func (m manifest) text(name string) (string, bool) { return m.value(name).Text() }

// at is the line of a field: of its key, or the first where there is none.
func (m manifest) at(name string) report.Span {
	f, ok := m.Field(name)
	if !ok {
		return at(1)
	}
	return at(f.Line)
}

// merged tells a manifest that the engine's merge wrote, of which some numbers are
// made up (sessions.md 7).
func (m manifest) merged() bool { return m.has("merged_from") }

// shown shows a value in a message.
func shown(v ecma.Value) string {
	if v.Kind == 0 {
		return "absent"
	}
	return safetext.Cut(string(v.JSON), 80)
}

// sources are the texts in source_paths.
func (m manifest) sources() []ecma.Value {
	var out []ecma.Value
	for _, e := range m.Elements {
		if e.Kind == jsondoc.String {
			out = append(out, e)
		}
	}
	return out
}

// readManifest reads the manifest, and says so where that cannot be done.
func (c *checker) readManifest() bool {
	r := c.open(ManifestName)
	if r == nil {
		return false
	}
	defer r.Close()
	m, err := parseManifest(r)
	var unparsable *unparsableError
	switch {
	case errors.As(err, &unparsable):
		c.add(ManifestUnparsable, c.file(ManifestName), at(unparsable.line), ManifestName+" is not a JSON object: "+unparsable.reason,
			"Restore it from version control, or rebuild the session.")
		return false
	case err != nil:
		c.broken(ManifestName, "cannot be read: "+safetext.Clean(err.Error()))
		return false
	}
	c.m, c.res.Parsed = m, true
	h := &c.res.Head
	if project, ok := m.text("project"); ok {
		h.Label = project
	}
	h.Session, h.CreatedAt, h.Hash = m.value("session"), m.value("created_at"), m.value(hashField)
	h.Turns, h.Revisions, h.Harness, h.UpdatedAt = m.value("turn_count"), m.value("revisions"), m.value("harness"), m.value("updated_at")
	return true
}

// judgeManifest judges the manifest by itself (sessions.md 5.2, 6.4 and 7.6).
func (c *checker) judgeManifest() {
	m, path := c.m, c.file(ManifestName)
	want := m.SHA256(hashField, protoField)
	if got, ok := m.text(hashField); !ok || got != want {
		c.add(ManifestHash, path, m.at(hashField), fmt.Sprintf("%s is %s, but the manifest has the hash %q", hashField, shown(m.value(hashField)), want),
			"Undo the edit of the manifest; to change what it records, rebuild the session.")
	}
	if m.has(protoField) {
		c.add(ManifestProtoKey, path, m.at(protoField), "the manifest has the key "+protoField+", which its hash does not cover", "Remove the key.")
	}
	for _, r := range m.Repeated {
		c.add(DuplicateKey, path, at(r.Line), fmt.Sprintf("an object has the key %q a second time; the hash covers the last value only", safetext.Clean(r.Key)), "Keep one of the two.")
	}
	if project, ok := m.text("project"); !c.in.Legacy() && (!ok || project != c.in.Project) {
		c.add(ProjectMismatch, path, m.at("project"),
			fmt.Sprintf("project is %s, and the folder lies in the project %q", shown(m.value("project")), safetext.Clean(c.in.Project)),
			"Move the folder back, and use the engine's rename.")
	}
	severity := LocalPathExposed.Severity
	if c.in.Private {
		severity = report.Notice
	}
	for _, e := range m.sources() {
		if s, _ := e.Text(); localpath.Is(s) {
			c.as(LocalPathExposed, severity, path, at(e.Line), "an element of source_paths is a path of somebody's machine",
				"Build the session from a relative path, and look at the field before the repository is published.")
		}
	}
	if promoted, _ := m.text("promoted_gate"); promoted == "FORCED" {
		c.add(PromotionForced, path, m.at("promoted_gate"), "the session was promoted past its evidence gate", "Complete the contract and promote the session again.")
	}
}

// judgeSource compares the transcripts that lie in the repository with the hash of
// the one that was read (sessions.md 7.4).
func (c *checker) judgeSource() {
	if c.m.merged() || c.in.Sources == nil {
		return
	}
	want, isText := c.m.text("raw_sha256")
	var seen string // the first that differs, for the message
	for _, e := range c.m.sources() {
		name, _ := e.Text()
		for _, s := range c.in.Sources(name) {
			switch {
			case s.Err != nil:
				seen = cmp.Or(seen, safetext.Clean(s.Path)+" cannot be read: "+safetext.Clean(s.Err.Error()))
			case isText && s.SHA256 == want:
				return
			default:
				seen = cmp.Or(seen, safetext.Clean(s.Path)+" has the hash "+s.SHA256)
			}
		}
	}
	if seen != "" {
		c.add(SourceChanged, c.file(ManifestName), c.m.at("raw_sha256"),
			fmt.Sprintf("raw_sha256 is %s, which no source has: %s", shown(c.m.value("raw_sha256")), seen), "Rebuild the session, or restore the transcript.")
	}
}

// Head is what other places say of a session, and what tells it from others.
type Head struct {
	Place
	Label string // the project, for people

	Session, CreatedAt, Hash, Turns, Revisions, Harness, UpdatedAt ecma.Value
}

// ReadHead reads what a manifest says of its session. Where it is none, it gives
// the findings that say why.
func ReadHead(in *Input) (Head, []report.Finding) {
	c := newChecker(in)
	if c.list() {
		if c.files[ManifestName].Kind == gate.Symlink {
			c.link(ManifestName)
		} else {
			c.readManifest()
		}
	}
	return c.res.Head, c.res.Findings
}
