package session

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// ConfigName is the file that declares a root.
const ConfigName = "handoff.config.json"

// HandoffsName is the folder that is a root without being declared.
const HandoffsName = "handoffs"

// MaxConfig is how large a configuration may be.
const MaxConfig = 1 << 20

// Config is a handoff.config.json (sessions.md 2).
type Config struct {
	// Directory is the root that it declares, as it is written there: relative to
	// the configuration's folder, or absolute; "" where it declares none.
	Directory     string
	DirectoryLine int // of the key that declares it
	// Problems are what is wrong with it, in the order of the text.
	Problems []Problem
}

// Problem is one thing that is wrong with a configuration.
type Problem struct {
	Line    int
	Message string // begins with the path of the key, where it is about one
}

// Err gives all problems as one error; nil where there is none.
func (c Config) Err() error {
	if len(c.Problems) == 0 {
		return nil
	}
	var all []string
	for _, p := range c.Problems {
		all = append(all, p.Message)
	}
	return errors.New(strings.Join(all, "; "))
}

// Finding is the error that a configuration is wrong, for the action.
func (c Config) Finding(path, again string) report.Finding {
	return finding(ConfigInvalid, ConfigInvalid.Severity, path, report.Span{Line: c.Problems[0].Line}, ConfigName+" is wrong: "+c.Err().Error(),
		"Correct the file, or remove it if it is of no use.", again)
}

// ParseConfig reads a configuration. What is wrong is listed, never passed over.
func ParseConfig(data []byte) Config {
	text := []byte(ecma.Decode(data))
	doc, err := jsondoc.Parse(text, jsondoc.Options{MaxDepth: maxDepth, KeepEqualKeys: true, KeepSurrogates: true})
	switch {
	case err != nil:
		return Config{Problems: []Problem{{jsondoc.StoppedAt(text, err).Line, "it is not JSON: " + err.Error()}}}
	case !doc.Root.Is(jsondoc.Object):
		return Config{Problems: []Problem{{doc.Line(doc.Root.Off), "it is " + doc.Root.Kind.Article() + ", not an object"}}}
	}
	var c Config
	c.judge(doc, "", doc.Root, configKeys)
	path, _ := doc.Root.Get("storage").Member("path")
	dir, _ := doc.Root.Member("handoff_dir")
	for _, m := range []jsondoc.Member{path, dir} {
		if m.Value.Is(jsondoc.String) && m.Value.Text != "" && c.Directory == "" {
			c.Directory, c.DirectoryLine = ecma.WellFormed(m.Value.Text), doc.Line(m.KeyOff)
		}
	}
	return c
}

// judge holds an object to the keys that it may have.
func (c *Config) judge(doc *jsondoc.Document, prefix string, object *jsondoc.Value, known []configKey) {
	for _, m := range object.Members {
		if object.Get(m.Key) != m.Value {
			continue // an equal key follows, whose value counts
		}
		name := prefix + safetext.Clean(m.Key)
		problem := func(message string) {
			c.Problems = append(c.Problems, Problem{doc.Line(m.KeyOff), name + " " + message})
		}
		i := slices.IndexFunc(known, func(k configKey) bool { return k.name == m.Key })
		switch {
		case i < 0:
			problem("is no key that is known")
		case known[i].keys == nil:
			if !known[i].holds(m.Value) {
				problem("must be " + known[i].says)
			}
		case !m.Value.Is(jsondoc.Object):
			problem("must be an object")
		default:
			c.judge(doc, name+".", m.Value, known[i].keys)
		}
	}
}

// configKey is a key, and what its value may be.
type configKey struct {
	name  string
	says  string
	holds func(*jsondoc.Value) bool
	keys  []configKey // of an object
}

func text(name string) configKey {
	return configKey{name: name, says: "a string", holds: func(v *jsondoc.Value) bool { return v.Is(jsondoc.String) }}
}

func someText(name string) configKey {
	return configKey{name: name, says: "a string of at least 1 character", holds: func(v *jsondoc.Value) bool { return v.Is(jsondoc.String) && v.Text != "" }}
}

func boolean(name string) configKey {
	return configKey{name: name, says: "true or false", holds: func(v *jsondoc.Value) bool {
		_, ok := v.Bool()
		return ok
	}}
}

func texts(name string) configKey {
	return configKey{name: name, says: "an array of strings", holds: func(v *jsondoc.Value) bool {
		return v.Is(jsondoc.Array) && !slices.ContainsFunc(v.Items, func(e *jsondoc.Value) bool { return !e.Is(jsondoc.String) })
	}}
}

// number is a key whose value lies between two numbers; whole wants it without a
// fraction (1.0 has none).
func number(name, says string, least, most float64, whole bool) configKey {
	return configKey{name: name, says: says, holds: func(v *jsondoc.Value) bool {
		f, ok := v.Float()
		return ok && f >= least && f <= most && (!whole || f == math.Trunc(f) && !math.IsInf(f, 0))
	}}
}

// configKeys are the keys of a configuration, none of them required.
var configKeys = []configKey{
	text("$schema"),
	number("version", "the integer 1", 1, 1, true),
	someText("handoff_dir"),
	{name: "project_name", says: "a string or null", holds: func(v *jsondoc.Value) bool { return v.Is(jsondoc.String) || v.Is(jsondoc.Null) }},
	boolean("auto_capture"),
	number("max_brief_tokens", "an integer from 1000 to 100000", 1000, 100_000, true),
	texts("exclude_from_handoff"),
	{name: "capture", keys: []configKey{
		texts("exclude_patterns"), boolean("include_tool_outputs"), boolean("truncate_tool_outputs"),
		number("max_tool_output_length", "an integer of 0 or more", 0, math.MaxFloat64, true),
	}},
	{name: "linking", keys: []configKey{boolean("enabled"), number("min_overlap_score", "a number from 0 to 1", 0, 1, false)}},
	{name: "integrity", keys: []configKey{boolean("sha256_manifest"), boolean("verify_on_read")}},
	{name: "storage", keys: []configKey{
		{name: "type", says: `"filesystem" or "sqlite"`, holds: func(v *jsondoc.Value) bool {
			return v.Is(jsondoc.String) && (v.Text == "filesystem" || v.Text == "sqlite")
		}},
		someText("path"),
	}},
}
