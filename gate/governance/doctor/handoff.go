package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/governance"
	"github.com/handoff-gate/handoff-gate/gate/integrity"
	"github.com/handoff-gate/handoff-gate/gate/internal/conform"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
	"github.com/handoff-gate/handoff-gate/gate/trust"
	"github.com/handoff-gate/handoff-gate/schema"
)

// path is the path of a file of the handoff folder from the top level.
func (d *doctor) path(name string) string {
	return gate.Join(d.in.Project, gate.HandoffDir+"/"+name)
}

// clean makes text from the repository safe for a message.
func (d *doctor) clean(text string) string { return governance.Masked(d.in.Mask, text) }

// at makes a finding whose remedy is an edit.
func (d *doctor) at(r *rule.Rule, path string, span report.Span, message, remedy string) report.Finding {
	return r.At(path, span, message, report.WithFix(remedy, d.in.Commands.Again))
}

// regen makes a finding that a new manifest mends.
func (d *doctor) regen(r *rule.Rule, path string, span report.Span, message, remedy string) report.Finding {
	return r.At(path, span, message, report.WithFix(remedy, d.in.Commands.Regen))
}

// manifest is MANIFEST.json as two gates read it.
type manifest struct {
	path     string
	doc      *jsondoc.Document // nil when it cannot be judged
	findings []report.Finding  // why it cannot
}

func (d *doctor) readManifest() *manifest {
	if d.manifest != nil {
		return d.manifest
	}
	m := &manifest{path: d.path("MANIFEST.json")}
	d.manifest = m
	invalid := func(span report.Span, why string) *manifest {
		m.findings = append(m.findings, d.at(ManifestInvalid, m.path, span, "MANIFEST.json is no manifest: "+why+".",
			"Make it a regular file with one JSON object; `handoff-gate manifest` writes it anew."))
		return m
	}
	doc := gate.ReadDocument(d.in.Work, m.path, gate.MaxManifest)
	switch {
	case doc.State == gate.Absent:
		m.findings = append(m.findings, d.regen(ManifestMissing, m.path, report.Span{}, "There is no MANIFEST.json: nothing says which files belong to the handoff set.",
			"Create the handoff set, or regenerate its manifest."))
		return m
	case doc.State != gate.Present:
		why := "it cannot be read"
		if doc.Err != nil {
			why = d.clean(doc.Err.Error())
		}
		return invalid(report.Span{}, why)
	}
	parsed, err := jsondoc.Parse(doc.Data, jsondoc.Options{MaxDepth: gate.MaxDepth})
	if err != nil {
		return invalid(jsondoc.StoppedAt(doc.Data, err), "as JSON, "+err.Error())
	}
	if !parsed.Root.Is(jsondoc.Object) {
		return invalid(parsed.At(parsed.Root), "it holds "+parsed.Root.Kind.Article()+", and an object is expected")
	}
	m.doc = parsed
	return m
}

// plain tells what keeps a key of the index from being the name of a file in the
// handoff folder; "" when nothing does.
func plain(name string) string {
	switch {
	case name == "":
		return "is empty"
	case name == "." || name == "..":
		return "is no name of a file"
	case strings.ContainsAny(name, `/\`):
		return "holds a separator of paths"
	case len(name) > 1 && name[1] == ':':
		return "begins with a drive letter"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "holds a control character"
	}
	return ""
}

// handoffSet compares the index with the folder. It hashes nothing.
func (d *doctor) handoffSet() governance.Gate {
	m := d.readManifest()
	found := slices.Clone(m.findings)
	indexed := 0
	if m.doc != nil {
		files := m.doc.Root.Get("files")
		if files.Is(jsondoc.Object) {
			indexed = len(files.Members)
			found = append(found, d.indexed(m, files)...)
		}
		for _, name := range integrity.Canonical {
			if d.kind(name) == gate.Regular && (!files.Is(jsondoc.Object) || files.Get(name) == nil) {
				found = append(found, d.regen(UnindexedFile, d.path(name), report.Span{Line: 1}, name+" is not in the index of the manifest, so no checksum vouches for it.",
					"Index it: regenerate the manifest."))
			}
		}
	}
	found = append(found, d.strays()...)
	reason := plural.Of(indexed, "indexed file") + "; content was not compared, which layer 1 of verify does"
	if len(found) > 0 {
		reason = plural.Of(len(found), "difference") + " between the index and the folder"
		if m.doc == nil {
			reason = "there is no index to compare the folder with"
		}
	}
	return governance.Judged(HandoffSet, Titles[HandoffSet], reason, found)
}

// kind tells what stands at a name of the handoff folder; 0 for nothing. What
// cannot be looked at counts as a special file.
func (d *doctor) kind(name string) gate.Kind {
	e, err := d.in.Work.Stat(d.path(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0
	case err != nil:
		return gate.Special
	}
	return e.Kind
}

// indexed judges the entries of the index.
func (d *doctor) indexed(m *manifest, files *jsondoc.Value) []report.Finding {
	var found []report.Finding
	for _, f := range files.Members {
		span := report.Span{Line: m.doc.Line(f.KeyOff)}
		if why := plain(f.Key); why != "" {
			found = append(found, d.regen(UnsafeIndexName, m.path, span, fmt.Sprintf("The index names %q, which %s.", d.clean(f.Key), why),
				"Remove the entry: the index names files of the handoff folder itself, by their names. A regenerated manifest has no other."))
			continue
		}
		switch k := d.kind(f.Key); k {
		case gate.Regular:
		case 0:
			found = append(found, d.regen(IndexedFileMissing, m.path, span, fmt.Sprintf("The index names %s, and there is no such file.", d.clean(f.Key)),
				"Restore the file; if its removal is meant, regenerate the manifest."))
		default:
			found = append(found, d.regen(IndexedFileMissing, m.path, span, fmt.Sprintf("The index names %s, and that is %s, not a regular file.", d.clean(f.Key), k.Article()),
				"Restore the file; if its removal is meant, regenerate the manifest."))
		}
	}
	return found
}

// strays finds documents in the handoff folder that do not belong to the set.
func (d *doctor) strays() []report.Finding {
	entries, err := d.in.Work.List(gate.Join(d.in.Project, gate.HandoffDir))
	if err != nil {
		return nil // a folder that is not there has no manifest either
	}
	var found []report.Finding
	for _, e := range entries {
		name := e.Path[strings.LastIndexByte(e.Path, '/')+1:]
		if e.Kind == gate.Folder || name == "MANIFEST.json" || slices.Contains(integrity.Canonical, name) ||
			!strings.HasSuffix(name, ".md") && !strings.HasSuffix(name, ".json") {
			continue
		}
		found = append(found, d.at(StrayFile, e.Path, report.Span{Line: 1}, d.clean(name)+" is no file of a handoff set: no checksum vouches for it, and an agent may read it all the same.",
			"Move it out of .ai/handoff/, or remove it."))
	}
	return found
}

// manifestSchema judges the manifest by its schema, in full.
func (d *doctor) manifestSchema() governance.Gate {
	m := d.readManifest()
	if m.doc == nil {
		return governance.Judged(ManifestSchema, Titles[ManifestSchema], "there is no manifest to judge", m.findings)
	}
	var found []report.Finding
	broken := conform.Validate(schema.Manifest, m.doc, conform.Options{Mask: d.in.Mask})
	for _, v := range broken {
		remedy, fix := "Give the field a value that fits the schema (manifest.schema.json), or remove what it does not know; the fields that the generator writes come right with a regenerated manifest.", d.in.Commands.Again
		if task(v) {
			remedy = "The value is a left-over of the template: `handoff-gate migrate` takes such values out of the tasks."
			fix = "handoff-gate migrate " + d.in.Given + " --yes"
		}
		found = append(found, ManifestSchemaRule.At(m.path, v.Span, v.Message, report.WithFix(remedy, fix)))
	}
	reason := "MANIFEST.json fits its schema"
	if len(found) > 0 {
		reason = "MANIFEST.json: " + plural.Of(len(found), "broken constraint")
	}
	return governance.Judged(ManifestSchema, Titles[ManifestSchema], reason, found)
}

// task tells whether a violation is a placeholder of the template in a field of a
// task.
func task(v conform.Violation) bool {
	return len(v.Path) == 3 && v.Path[0] == "tasks" && v.Key == "" && v.Value.Is(jsondoc.String) && schema.Placeholder(v.Value.Text)
}

// grounding looks for the grounding rules and for a trust register that says what
// each property rests on.
func (d *doctor) grounding() governance.Gate {
	var found []report.Finding
	if p := d.path("GROUNDING.md"); d.kind("GROUNDING.md") != gate.Regular {
		found = append(found, GroundingMissing.At(p, report.Span{}, "There is no GROUNDING.md: nothing says what an agent may take for a fact.",
			report.WithFix("Create it; `handoff-gate migrate-grounding` brings one and indexes it.", "handoff-gate migrate-grounding "+d.in.Given)))
	}
	p := d.path("TRUST.md")
	doc := gate.ReadDocument(d.in.Work, p, gate.MaxTrustRegister)
	switch {
	case doc.State == gate.Absent || doc.State == gate.NotRegular:
		found = append(found, d.at(TrustMissing, p, report.Span{}, "There is no TRUST.md: nothing says which properties are verified, and how.",
			"Create it, with a table whose head names Property, Status and Provenance; `handoff-gate init` in an empty folder shows one."))
	case doc.State != gate.Present:
		found = append(found, d.at(TrustMissing, p, report.Span{}, "TRUST.md cannot be read: "+d.clean(doc.Err.Error())+".",
			"Make it a regular file that the gate may read."))
	case !trust.NamesProvenance(doc.Data):
		found = append(found, d.at(NoProvenanceColumn, p, report.Span{Line: 1}, "No line of a table in TRUST.md names the column Provenance: what a property rests on is not written down.",
			"Add the column Provenance to the head of the table and to its rows."))
	}
	reason := "GROUNDING.md and TRUST.md are there, and the register has a column Provenance"
	if len(found) > 0 {
		reason = plural.Of(len(found), "part") + " of the grounding missing"
	}
	return governance.Judged(Grounding, Titles[Grounding], reason, found)
}
