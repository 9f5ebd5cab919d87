package schemacheck

import (
	"fmt"
	"path"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/lines"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/schema"
)

// shortestMisspelt is the length from which an unknown key can be a misspelling:
// among three letters nearly everything is near to something.
const shortestMisspelt = 4

// nearMisses looks at the objects of a manifest that may have keys of their own
// for keys that look like a misspelt one.
func (c *checker) nearMisses(doc *jsondoc.Document, path string) {
	known := schema.Get(schema.Manifest)
	root := doc.Root
	c.nearMiss(doc, path, "last_session", root.Get("last_session"), known.Keys("/$defs/session"))
	c.nearMiss(doc, path, "token_budget", root.Get("token_budget"), known.Keys("/properties/token_budget"))
	c.nearMissEach(doc, path, root.Get("files"), known.Keys("/$defs/file"))
	c.nearMissEach(doc, path, root.Get("tasks"), known.Keys("/$defs/task"))
}

func (c *checker) nearMissEach(doc *jsondoc.Document, path string, parent *jsondoc.Value, known []string) {
	if !parent.Is(jsondoc.Object) {
		return
	}
	for _, m := range parent.Members {
		c.nearMiss(doc, path, m.Key, m.Value, known)
	}
}

func (c *checker) nearMiss(doc *jsondoc.Document, path, name string, object *jsondoc.Value, known []string) {
	if !object.Is(jsondoc.Object) {
		return
	}
	var lacking []string
	isKnown := map[string]bool{}
	for _, key := range known {
		isKnown[key] = true
		if object.Get(key) == nil {
			lacking = append(lacking, key)
		}
	}
	if len(lacking) == 0 {
		return
	}
	for _, m := range object.Members {
		if isKnown[m.Key] || utf8.RuneCountInString(m.Key) < shortestMisspelt {
			continue
		}
		near, ok := schema.Nearest(m.Key, lacking)
		if !ok {
			continue
		}
		span := doc.AtKey(m)
		c.add(NearMissKey, path, span,
			fmt.Sprintf("%s has the key %q, which nothing reads; did you mean %q?", c.clean(name), c.clean(m.Key), near),
			fmt.Sprintf("Rename the key in %s, line %d, to %q, or give it a name that cannot be taken for it.", safetext.Clean(path), span.Line, near))
	}
}

// duplicateKeys looks for equal keys in the other JSON files of the handoff
// folder: readers disagree on which of the two counts.
func (c *checker) duplicateKeys() {
	if c.in.Files == nil {
		return
	}
	own := map[string]bool{c.handoff(manifestFile): true, c.handoff(allowlistFile): true}
	for doc := range c.in.Files {
		if own[doc.Path] || doc.State == gate.Absent {
			continue
		}
		name := safetext.Clean(path.Base(doc.Path))
		if doc.State != gate.Present {
			c.unread(doc.Path, name, report.Span{}, noBytes(doc))
			continue
		}
		c.duplicateKeysOf(doc, name)
	}
}

// duplicateKeysOf reports each key that an object has more than once, at its
// second place. The file is read token by token: it may be large.
func (c *checker) duplicateKeysOf(doc gate.Document, name string) {
	var objects []map[string]int // how often each open object has had a key; nil for an array
	var index *lines.Index
	err := jsondoc.Scan(doc.Data, jsondoc.Options{MaxDepth: gate.MaxHandoffDepth, KeepEqualKeys: true}, func(t jsondoc.Token) error {
		switch t.Kind {
		case jsondoc.Object:
			objects = append(objects, map[string]int{})
		case jsondoc.Array:
			objects = append(objects, nil)
		case jsondoc.ObjectEnd, jsondoc.ArrayEnd:
			objects = objects[:len(objects)-1]
		case jsondoc.Key:
			seen := objects[len(objects)-1]
			key := t.Text(doc.Data)
			seen[key]++
			if seen[key] != 2 {
				return nil
			}
			if index == nil {
				index = lines.New(doc.Data)
			}
			span := index.Span(t.Off, t.End)
			c.add(DuplicateKey, doc.Path, span,
				fmt.Sprintf("An object has the key %q twice; some readers take the first value, some the last.", c.clean(key)),
				fmt.Sprintf("Keep one of the two in %s, line %d.", safetext.Clean(doc.Path), span.Line))
		case jsondoc.String, jsondoc.Number, jsondoc.True, jsondoc.False, jsondoc.Null:
		}
		return nil
	})
	if err != nil {
		c.unread(doc.Path, name, jsondoc.StoppedAt(doc.Data, err), "as JSON, "+err.Error())
	}
}
