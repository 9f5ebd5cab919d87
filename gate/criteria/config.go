package criteria

import (
	"errors"
	"fmt"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/policy"
)

// section is the member of aahp.config.json that is about this report.
const section = "acceptanceCriteria"

// What is read where nothing is configured (aahp-authoring.md 5.1).
const (
	DefaultInclude  = gate.HandoffDir + "/NEXT_ACTIONS.md"
	DefaultManifest = gate.ManifestFile
)

// Config says what is read.
type Config struct {
	Include    []string // git pathspecs
	Manifest   string   // the task registry, relative to the project
	Configured bool     // Manifest is not the default of a configuration without one
	Problems   []string // why a default is used instead of what is written; sentences
}

// ParseConfig reads aahp.config.json. What has the wrong shape is a problem, and
// its default counts. The error says that the file cannot be read at all.
func ParseConfig(doc gate.Document) (Config, error) {
	c := Config{Include: []string{DefaultInclude}, Manifest: DefaultManifest}
	switch {
	case doc.State == gate.Absent:
		return c, nil
	case doc.State != gate.Present:
		return c, fmt.Errorf("%s cannot be read: %w", policy.ConfigFile, doc.Err)
	}
	root, err := parse(doc.Data)
	if err != nil {
		return c, fmt.Errorf("%s is not valid JSON: %w", policy.ConfigFile, err)
	}
	if !root.Is(jsondoc.Object) {
		c.problem("%s holds %s, an object is expected; the defaults are used.", policy.ConfigFile, root.Kind.Article())
		return c, nil
	}
	v := root.Get(section)
	switch {
	case v == nil:
		return c, nil
	case !v.Is(jsondoc.Object):
		c.problem("%s is %s, an object is expected; the defaults are used.", section, v.Kind.Article())
		return c, nil
	}
	for _, m := range v.Members {
		switch m.Key {
		case "include":
			if specs, ok := pathspecs(m.Value); ok {
				c.Include = specs
			} else {
				c.problem("%s.include must be an array of one or more git pathspecs, none of them blank; the default %s is used.", section, DefaultInclude)
			}
		case "manifest":
			if m.Value.Is(jsondoc.String) && ecma.Trim(m.Value.Text) != "" {
				c.Manifest, c.Configured = m.Value.Text, true
			} else {
				c.problem("%s.manifest must be a path that is not blank; the default %s is used.", section, DefaultManifest)
			}
		default:
			c.problem("%s has the member “%s”, which has no meaning.", section, safetext.Clean(m.Key))
		}
	}
	return c, nil
}

func (c *Config) problem(format string, args ...any) {
	c.Problems = append(c.Problems, fmt.Sprintf(format, args...))
}

// pathspecs reads the value of include.
func pathspecs(v *jsondoc.Value) ([]string, bool) {
	if !v.Is(jsondoc.Array) || len(v.Items) == 0 {
		return nil, false
	}
	var specs []string
	for _, item := range v.Items {
		if !item.Is(jsondoc.String) || ecma.Trim(item.Text) == "" {
			return nil, false
		}
		specs = append(specs, item.Text)
	}
	return specs, true
}

// parse reads a configuration or a manifest by the strict rules of both. The error
// names the line.
func parse(data []byte) (*jsondoc.Value, error) {
	doc, err := jsondoc.Parse(data, jsondoc.Options{MaxDepth: gate.MaxDepth})
	if err == nil {
		return doc.Root, nil
	}
	var e *jsondoc.Error
	if !errors.As(err, &e) {
		return nil, err
	}
	key := ""
	if e.Problem == jsondoc.EqualKeys {
		key = " (“" + safetext.Clean(e.Key) + "”)"
	}
	return nil, fmt.Errorf("%w%s, line %d", err, key, jsondoc.StoppedAt(data, err).Line)
}
