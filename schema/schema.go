// Package schema holds this project's own JSON Schemas (draft 2020-12) of the
// AAHP documents and of the report, compiled once and without a network, and the
// readings that go with them: date-time, placeholders, the nearest known key
// (aahp-schemas.md). Documents of a repository under test are judged through
// gate/internal/conform, which reads them strictly and knows their places.
package schema

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed *.schema.json
var files embed.FS

// Kind is a document that has a schema.
type Kind string

// The documents, each with the file NAME.schema.json.
const (
	Manifest  Kind = "manifest"
	Allowlist Kind = "pii-allowlist"
	Config    Kind = "aahp-config"
	Report    Kind = "report"
	Record    Kind = "governance-record" // of check --json and doctor --json
)

// Kinds are all documents that have a schema.
var Kinds = []Kind{Manifest, Allowlist, Config, Report, Record}

// Source gives the schema file of a document as it is published. The error says
// that there is none.
func Source(k Kind) ([]byte, error) {
	b, err := files.ReadFile(string(k) + ".schema.json")
	if err != nil {
		return nil, fmt.Errorf("schema of %q: %w", string(k), err)
	}
	return b, nil
}

// Compiled is a schema with its parts, for their prose and the keys they know.
type Compiled struct {
	Root  *jsonschema.Schema
	parts map[string]*jsonschema.Schema // by absolute location
}

var compiledOnce = func() map[Kind]func() (*Compiled, error) {
	m := map[Kind]func() (*Compiled, error){}
	for _, k := range Kinds {
		m[k] = sync.OnceValues(func() (*Compiled, error) { return compile(k) })
	}
	return m
}()

// Get gives the schema of a document, compiled at the first call. The schemas
// are part of the program and a test compiles each, so a failure is a bug of
// ours: it panics.
func Get(k Kind) *Compiled {
	once, ok := compiledOnce[k]
	if !ok {
		panic("schema: no document is called " + string(k))
	}
	c, err := once()
	if err != nil {
		panic(err)
	}
	return c
}

func compile(k Kind) (*Compiled, error) {
	src, err := Source(k)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(src))
	if err != nil {
		return nil, fmt.Errorf("schema of %q: %w", string(k), err)
	}
	url := "https://github.com/handoff-gate/handoff-gate/schema/" + string(k) + ".schema.json"
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(offline{})
	c.AssertFormat()
	c.RegisterFormat(&jsonschema.Format{Name: "date-time", Validate: checkDateTime})
	if err := c.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("schema of %q: %w", string(k), err)
	}
	root, err := c.Compile(url)
	if err != nil {
		return nil, fmt.Errorf("schema of %q: %w", string(k), err)
	}
	parts := map[string]*jsonschema.Schema{}
	collect(root, parts)
	return &Compiled{Root: root, parts: parts}, nil
}

// offline refuses to load what is not embedded.
type offline struct{}

func (offline) Load(string) (any, error) {
	return nil, errors.New("schemas are never loaded from elsewhere")
}

// collect indexes the parts of a schema by location.
func collect(s *jsonschema.Schema, parts map[string]*jsonschema.Schema) {
	if s == nil || parts[s.Location] != nil {
		return
	}
	parts[s.Location] = s
	for _, sub := range s.Properties {
		collect(sub, parts)
	}
	for _, sub := range s.PatternProperties {
		collect(sub, parts)
	}
	if sub, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
		collect(sub, parts)
	}
	for _, list := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf, {s.Ref, s.PropertyNames, s.Items2020, s.Not, s.If, s.Then, s.Else}} {
		for _, sub := range list {
			collect(sub, parts)
		}
	}
}

// Check judges a document that this program wrote itself, such as a report. It
// reads with encoding/json, which is not strict enough for anything else.
func Check(k Kind, document []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return fmt.Errorf("%s: %w", k, err)
	}
	return Get(k).Root.Validate(v)
}

// Part gives the part of the schema at an absolute location; nil for none.
func (c *Compiled) Part(location string) *jsonschema.Schema { return c.parts[location] }

// Keys gives the keys that the part of the schema at a pointer ("/$defs/task")
// names, in order; none when there is no such part.
func (c *Compiled) Keys(pointer string) []string {
	part := c.parts[c.Root.Location+pointer]
	if part == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(part.Properties))
}

// Prose finds the description and the first example that hold for a location:
// those of the part itself, else of the nearest part around it that has a
// description.
func (c *Compiled) Prose(location string) (description string, example any) {
	for {
		if part := c.parts[location]; part != nil && part.Description != "" {
			if len(part.Examples) > 0 {
				example = part.Examples[0]
			}
			return part.Description, example
		}
		i := strings.LastIndexByte(location, '/')
		if hash := strings.IndexByte(location, '#'); hash < 0 || i < hash {
			return c.Root.Description, nil
		}
		location = location[:i]
	}
}
