// Package schemacheck is the layer schema: MANIFEST.json and aahp.config.json
// against their schemas, equal and misspelt keys that no schema can see, and the
// task graph (aahp-schemas.md).
package schemacheck

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/conform"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
	"github.com/handoff-gate/handoff-gate/schema"
)

// The layer's id in a report and its title for people.
const (
	ID    = "schema"
	Title = "Schemas and task graph"
)

// Names of the documents.
const (
	manifestFile  = "MANIFEST.json"
	configFile    = "aahp.config.json"
	allowlistFile = "pii-allowlist.json"
)

// maxFindings is how many findings of one rule a report holds. One more says
// how many there are besides: a manifest of 16 MiB can break a constraint a
// million times, and nobody reads the second thousand.
const maxFindings = 1000

// Input is what the layer judges. All documents are of one copy: the head tree's
// at ci, the index's at precommit (the working tree's for a document that the
// index lacks), else the working tree's.
type Input struct {
	Project  string        // "." or "packages/api"
	Manifest gate.Document // read up to gate.MaxManifest
	Config   gate.Document // read up to gate.MaxConfig; Absent is fine
	// Files are the regular files below the handoff folder, at any depth, whose
	// name ends in .json; nil for none. They are asked for one by one, so that a
	// caller may read each as its turn comes. The manifest and the allowlist among
	// them are passed over: other rules fail them for equal keys.
	Files iter.Seq[gate.Document]
	// Reported are the findings of the other layers of this project. A document
	// that integrity, drift or trust already calls invalid is not reported again.
	Reported []report.Finding
	Now      time.Time
	Commands gate.Commands
	// Mask hides what must not be printed, a credential or an address, in text
	// from a document; nil hides nothing.
	Mask func(string) string
}

// Check judges the documents and the task graph.
func Check(in Input) report.Layer {
	c := &checker{in: in, counts: map[*rule.Rule]int{}}
	c.manifest()
	c.config()
	c.duplicateKeys()
	c.closeLists()
	if len(c.silent) > 0 && len(c.findings) == 0 {
		return report.Skipped(ID, Title, c.unjudged()+".")
	}
	return report.Done(ID, Title, c.summary(), c.findings)
}

// checker collects findings.
type checker struct {
	in       Input
	findings []report.Finding
	counts   map[*rule.Rule]int
	omitted  []omission

	judged []string // documents that were judged by a schema, for the summary
	silent []string // documents that another layer reports as invalid
	broken int      // constraints that documents break
	cut    bool     // so many that not all were looked for
	tasks  int      // tasks in the manifest, where their graph was judged
}

// omission is the first finding of a rule that was left out.
type omission struct {
	rule  *rule.Rule
	first report.Finding
}

func (c *checker) handoff(name string) string {
	return gate.Join(c.in.Project, gate.HandoffDir+"/"+name)
}

func (c *checker) clean(text string) string {
	if c.in.Mask != nil {
		text = c.in.Mask(text)
	}
	return safetext.Clean(text)
}

func (c *checker) add(r *rule.Rule, path string, span report.Span, message, remedy string) {
	c.counts[r]++
	f := r.At(path, span, message, remedy)
	switch n := c.counts[r]; {
	case n <= maxFindings:
		c.findings = append(c.findings, f)
	case n == maxFindings+1:
		c.omitted = append(c.omitted, omission{r, f})
	}
}

// closeLists says for each rule that was cut how many findings are missing.
func (c *checker) closeLists() {
	for _, o := range c.omitted {
		more := c.counts[o.rule] - maxFindings
		message := fmt.Sprintf("This rule has %d more findings from this line on, which are not listed.", more)
		switch {
		case c.cut && (o.rule == Manifest || o.rule == Config || o.rule == Placeholder):
			message = fmt.Sprintf("This rule has at least %d more findings from this line on, which are not listed.", more)
		case more == 1:
			message = o.first.Message
		}
		c.findings = append(c.findings, o.rule.At(o.first.Path, o.first.Span, message, o.first.Remedy))
	}
}

// edit is a remedy for what a person has to change: the same command again
// proves it.
func (c *checker) edit(text string) string { return report.WithFix(text, c.in.Commands.Again) }

// regen is a remedy for what the generator writes.
func (c *checker) regen(text string) string { return report.WithFix(text, c.in.Commands.Regen) }

// invalidElsewhere are the rules by which another layer reports that a document
// could not be read or decoded.
var invalidElsewhere = map[string]bool{
	"integrity/manifest-missing":     true,
	"integrity/manifest-invalid":     true,
	"integrity/not-regular":          true,
	"integrity/unverifiable":         true,
	"integrity/handoff-dir-not-real": true,
	"lint/json-invalid":              true,
	"lint/unscannable":               true,
	"drift/config-invalid":           true,
	"drift/config-not-regular":       true,
	"trust/config-invalid":           true,
}

// reported tells whether another layer already fails the document for it. An
// unreal handoff folder stands for everything below it.
func (c *checker) reported(path string) bool {
	for _, f := range c.in.Reported {
		if f.Severity != report.Error || !invalidElsewhere[f.Rule] {
			continue
		}
		if f.Path == path {
			return true
		}
		if _, below := gate.Below(f.Path, path); below && f.Rule == "integrity/handoff-dir-not-real" {
			return true
		}
	}
	return false
}

// unread reports a document that cannot be judged, unless another layer does.
// It tells whether it did.
func (c *checker) unread(path, name string, span report.Span, why string) bool {
	if c.reported(path) {
		return false
	}
	remedy := fmt.Sprintf("Make %s a regular file of this repository with valid JSON that the gate can read.", safetext.Clean(path))
	c.add(NotEvaluated, path, span, fmt.Sprintf("%s was not judged: %s.", name, why), c.edit(remedy))
	return true
}

// parse decodes a manifest or configuration by the narrow rules of
// aahp-verify.md 3.1; nil when it cannot be judged, which is then reported or
// noted as another layer's finding.
func (c *checker) parse(path, name string, doc gate.Document) *jsondoc.Document {
	parsed, span, why := decode(doc)
	if why == "" {
		return parsed
	}
	if !c.unread(path, name, span, why) {
		c.silent = append(c.silent, name)
	}
	return nil
}

// decode gives the document, or where and why it cannot be judged.
func decode(doc gate.Document) (parsed *jsondoc.Document, span report.Span, why string) {
	if doc.State != gate.Present {
		return nil, report.Span{}, noBytes(doc)
	}
	parsed, err := jsondoc.Parse(doc.Data, jsondoc.Options{MaxDepth: gate.MaxDepth})
	if err != nil {
		return nil, jsondoc.StoppedAt(doc.Data, err), "as JSON, " + err.Error()
	}
	if !parsed.Root.Is(jsondoc.Object) {
		return nil, parsed.At(parsed.Root), fmt.Sprintf("its top level is of type %s, but must be an object", parsed.Root.Kind)
	}
	return parsed, report.Span{}, ""
}

// noBytes says why a document has no bytes.
func noBytes(doc gate.Document) string {
	if doc.State == gate.Absent {
		return "it does not exist"
	}
	return safetext.Clean(doc.Err.Error())
}

// validate judges a document by its schema and notes where that was cut short.
func (c *checker) validate(k schema.Kind, doc *jsondoc.Document) []conform.Violation {
	list := conform.Validate(k, doc, conform.Options{Mask: c.in.Mask})
	c.cut = c.cut || len(list) > conform.MaxViolations
	return list
}

// config judges aahp.config.json, which may be absent.
func (c *checker) config() {
	if c.in.Config.State == gate.Absent {
		return
	}
	path := gate.Join(c.in.Project, configFile)
	doc := c.parse(path, configFile, c.in.Config)
	if doc == nil {
		return
	}
	c.judged = append(c.judged, configFile)
	c.violations(c.validate(schema.Config, doc), Config, path)
}

// manifest judges MANIFEST.json and, where it has tasks, their graph.
func (c *checker) manifest() {
	path := c.handoff(manifestFile)
	doc := c.parse(path, manifestFile, c.in.Manifest)
	if doc == nil {
		return
	}
	c.judged = append(c.judged, manifestFile)
	all := c.validate(schema.Manifest, doc)
	shown := make([]conform.Violation, 0, len(all))
	for _, v := range all {
		// integrity/manifest-incomplete and integrity/index-empty report these.
		if v.Keyword == "required" && len(v.Path) == 0 {
			continue
		}
		shown = append(shown, v)
	}
	c.violations(shown, Manifest, path)
	c.nearMisses(doc, path)
	if !c.cut { // otherwise it is not known which tasks fit the schema
		c.graph(doc, path, all)
	}
}

// violations turns broken constraints into findings of a rule, or of
// schema/placeholder where the value is one. A placeholder counts once, whatever
// constraints it breaks.
func (c *checker) violations(list []conform.Violation, r *rule.Rule, path string) {
	placeholders := map[*jsondoc.Value]bool{}
	for _, v := range list {
		if v.Key == "" && v.Value.Is(jsondoc.String) && schema.Placeholder(v.Value.Text) {
			if !placeholders[v.Value] {
				placeholders[v.Value] = true
				c.broken++
				message := fmt.Sprintf("%s still holds the template's placeholder %q: it %s.", v.Pointer, c.clean(v.Value.Text), v.Allowed)
				c.add(Placeholder, path, v.Span, message, c.remedy(v, r, path))
			}
			continue
		}
		c.broken++
		c.add(r, path, v.Span, v.Message, c.remedy(v, r, path))
	}
}

// generated are the members of a manifest that the generator alone writes.
var generated = map[string]bool{
	"aahp_version":  true,
	"last_session":  true,
	"files":         true,
	"quick_context": true,
	"token_budget":  true,
}

// remedy says how to mend a violation: the field, what is allowed and an
// example; regenerating for what the generator writes, an edit for all else.
func (c *checker) remedy(v conform.Violation, r *rule.Rule, path string) string {
	if r == Manifest && len(v.Path) > 0 && generated[v.Path[0]] {
		return c.regen(fmt.Sprintf("The generator writes /%s: regenerate the manifest instead of editing it.", v.Path[0]))
	}
	place := fmt.Sprintf("in %s, line %d", safetext.Clean(path), v.Span.Line)
	example := ""
	if v.Example != "" {
		example = ", for example " + v.Example
	}
	var text string
	switch {
	case v.Keyword == "required":
		text = fmt.Sprintf("Add the key %q to the object %s: its value %s%s.", v.Key, place, orFits(v.Allowed), example)
	case v.Suggestion != "":
		text = fmt.Sprintf("Rename the key %s, to %q, or remove it.", place, v.Suggestion)
	case v.Key != "" && v.Allowed == "":
		text = fmt.Sprintf("Remove the key %s.", place)
	case v.Key != "":
		text = fmt.Sprintf("Rename or remove the key %s: a key there %s%s.", place, v.Allowed, example)
	case v.Value.Is(jsondoc.String) && schema.Placeholder(v.Value.Text):
		text = fmt.Sprintf("Give %s its value %s: it %s%s. An optional field can be deleted instead.", v.Pointer, place, orFits(v.Allowed), example)
		if r == Manifest {
			text += " Then regenerate the manifest: " + c.in.Commands.Regen
		}
	default:
		text = fmt.Sprintf("Change %s %s: it %s%s.", v.Pointer, place, orFits(v.Allowed), example)
	}
	return c.edit(text)
}

func orFits(allowed string) string {
	if allowed == "" {
		return "must fit the schema"
	}
	return allowed
}

// unjudged names what another layer already reports.
func (c *checker) unjudged() string {
	return strings.Join(c.silent, " and ") + " could not be judged, which another layer of this report fails for"
}

func (c *checker) summary() string {
	var parts []string
	switch names := strings.Join(c.judged, " and "); {
	case names == "":
		parts = append(parts, "no document could be judged")
	case c.broken == 0 && len(c.judged) == 1:
		parts = append(parts, names+" fits its schema")
	case c.broken == 0:
		parts = append(parts, names+" fit their schemas")
	default:
		least := ""
		if c.cut {
			least = "at least "
		}
		parts = append(parts, names+": "+least+count(c.broken, "broken constraint"))
	}
	if c.tasks > 0 {
		n := 0
		for r, k := range c.counts {
			if strings.HasPrefix(r.ID, "tasks/") {
				n += k
			}
		}
		parts = append(parts, fmt.Sprintf("%s, %s on their graph", count(c.tasks, "task"), count(n, "remark")))
	}
	if n := c.counts[DuplicateKey] + c.counts[NearMissKey]; n > 0 {
		parts = append(parts, count(n, "doubtful key"))
	}
	if len(c.silent) > 0 {
		parts = append(parts, c.unjudged())
	}
	return strings.Join(parts, "; ")
}

func count(n int, noun string) string {
	if n == 0 {
		return "no " + noun + "s"
	}
	return plural.Of(n, noun)
}
