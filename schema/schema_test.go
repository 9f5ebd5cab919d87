package schema

import (
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// documents are the kinds whose schemas describe AAHP's own files.
var documents = []Kind{Manifest, Allowlist, Config}

func TestEverySchemaCompiles(t *testing.T) {
	names, err := fs.Glob(files, "*.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		k := Kind(strings.TrimSuffix(name, ".schema.json"))
		if !slices.Contains(Kinds, k) {
			t.Errorf("%s is embedded, but is no Kind", name)
			continue
		}
		c, err := compile(k)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var doc struct {
			Schema string `json:"$schema"`
			ID     string `json:"$id"`
		}
		src, _ := Source(k)
		if err := json.Unmarshal(src, &doc); err != nil {
			t.Fatal(err)
		}
		if doc.Schema != "https://json-schema.org/draft/2020-12/schema" {
			t.Errorf("%s is of draft %q", name, doc.Schema)
		}
		if doc.ID != "" && c.Root.Location != doc.ID+"#" {
			t.Errorf("%s calls itself %q, but is known as %q", name, doc.ID, c.Root.Location)
		}
	}
	for _, k := range Kinds {
		if !slices.Contains(names, string(k)+".schema.json") {
			t.Errorf("the schema of %s is not embedded", k)
		}
	}
	if _, err := Source("none"); err == nil {
		t.Error("there is a schema of nothing")
	}
}

func TestNothingIsLoadedFromElsewhere(t *testing.T) {
	if _, err := (offline{}).Load("https://example.com/schema.json"); err == nil {
		t.Error("a schema from the network was accepted")
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(offline{})
	if err := c.AddResource("https://example.com/a.json", map[string]any{"$ref": "https://example.com/b.json"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Compile("https://example.com/a.json"); err == nil {
		t.Error("a reference to the network was followed")
	}
}

// The schemas keep to what the rest of the program relies on: sentences are made
// from descriptions that begin "must", numbers are judged by stand-ins that keep
// their place among small whole numbers, large documents are judged in pieces,
// and date-time is the only format.
func TestConventions(t *testing.T) {
	for _, k := range documents {
		src, err := Source(k)
		if err != nil {
			t.Fatal(err)
		}
		var root any
		if err := json.Unmarshal(src, &root); err != nil {
			t.Fatal(err)
		}
		var walk func(pointer string, v any, isSchema, described bool)
		walk = func(pointer string, v any, isSchema, described bool) {
			m, ok := v.(map[string]any)
			if !ok {
				if list, ok := v.([]any); ok && isSchema {
					for _, x := range list {
						walk(pointer, x, true, described)
					}
				}
				return
			}
			if !isSchema { // a map of names to schemas
				for name, x := range m {
					walk(pointer+"/"+name, x, true, false)
				}
				return
			}
			text, _ := m["description"].(string)
			if text != "" && !strings.HasPrefix(text, "must ") {
				t.Errorf("%s %s: the description %q does not begin with must", k, pointer, text)
			}
			described = described || text != ""
			for key, x := range m {
				switch key {
				case "type", "enum", "const", "pattern", "format", "minLength", "maxLength", "minimum", "maximum", "required", "additionalProperties":
					if !described {
						t.Errorf("%s %s: has %s, but no description", k, pointer, key)
					}
					if n, ok := x.(float64); ok && (n != float64(int64(n)) || n > 1e15) && key != "const" {
						t.Errorf("%s %s: the bound %v is no small whole number", k, pointer, n)
					}
					if key == "format" && x != "date-time" {
						t.Errorf("%s %s: the format %v is not asserted by us", k, pointer, x)
					}
				case "properties", "patternProperties", "$defs":
					walk(pointer+"/"+key, x, false, false)
				case "items", "propertyNames":
					walk(pointer+"/"+key, x, true, false)
				case "allOf", "anyOf", "not":
					walk(pointer+"/"+key, x, true, described)
				case "description", "examples", "$ref", "$schema", "$id", "title":
				default:
					t.Errorf("%s %s: the keyword %s is not among those that sentences are made for", k, pointer, key)
				}
			}
			if extra, ok := m["additionalProperties"]; ok && extra != false {
				t.Errorf("%s %s: additionalProperties is %v; other keys are refused or not judged", k, pointer, extra)
			}
			if m["$ref"] != nil && len(m) > 2 {
				t.Errorf("%s %s: beside a $ref stand more than examples", k, pointer)
			}
			if k == Config && m["type"] == "object" && m["additionalProperties"] != false {
				t.Errorf("%s %s: an object of the configuration takes unknown keys", k, pointer)
			}
		}
		walk("", root, true, false)
	}
}

// Each example must satisfy the part that it is an example of.
func TestExamplesFit(t *testing.T) {
	for _, k := range documents {
		for location, part := range Get(k).parts {
			for _, example := range part.Examples {
				if err := part.Validate(example); err != nil {
					t.Errorf("%s: the example %v does not fit: %v", location, example, err)
				}
			}
		}
	}
}

func TestKeysAndProse(t *testing.T) {
	c := Get(Manifest)
	if got := strings.Join(c.Keys("/$defs/session"), " "); got != "agent commit duration_minutes phase session_id timestamp" {
		t.Errorf("keys of last_session: %s", got)
	}
	if c.Keys("/$defs/none") != nil {
		t.Error("there are keys of nothing")
	}
	text, example := c.Prose(c.Root.Location + "/$defs/task/properties/status")
	if !strings.Contains(text, "in_progress") || example != "ready" {
		t.Errorf("prose of a status: %q, %v", text, example)
	}
	text, _ = Get(Config).Prose(Get(Config).Root.Location + "/properties/handoffImpact/anyOf/0")
	if !strings.Contains(text, "npmDevDependencyUpdates") {
		t.Errorf("a part without prose takes that of the part around it, not %q", text)
	}
	if text, _ := c.Prose("https://example.com/x#/y"); text != c.Root.Description {
		t.Errorf("an unknown location has the prose %q", text)
	}
}

func TestUnknownKindPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a schema of nothing was given")
		}
	}()
	Get("none")
}

func TestCheck(t *testing.T) {
	if err := Check(Config, []byte(`{"verifyWorkflow": {"enforce": true}}`)); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{`{"verifyWorkflow": {"enforce": 1}}`, `{`, ``} {
		if Check(Config, []byte(bad)) == nil {
			t.Errorf("%s fits the schema", bad)
		}
	}
	// The format is ours, not the library's, and it is asserted.
	entry := `{"aahp_version":"3.0","project":"p","files":{},"quick_context":"","last_session":{"agent":"a","phase":"idle","timestamp":"%"}}`
	if err := Check(Manifest, []byte(strings.Replace(entry, "%", "2026-01-01 00:00:00+02", 1))); err != nil {
		t.Error(err)
	}
	if Check(Manifest, []byte(strings.Replace(entry, "%", "2026-01-01T00:00:00", 1))) == nil {
		t.Error("a time without a zone fits date-time")
	}
}

func TestParseDateTime(t *testing.T) {
	day := func(s string) time.Time {
		v, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, tt := range []struct{ text, want string }{ // "": refused
		{"2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"},
		{"2026-01-01t00:00:00z", "2026-01-01T00:00:00Z"},
		{"2026-01-01T00:00:00.5Z", "2026-01-01T00:00:00.5Z"},
		{"2026-01-01T00:00:00.123456789123Z", "2026-01-01T00:00:00.123456789Z"},
		{"2026-01-01T00:00:00.Z", ""},
		{"2026-01-01T00:00:00,5Z", ""},

		{"2026-01-01 00:00:00Z", "2026-01-01T00:00:00Z"},
		{"2026-01-01\t00:00:00Z", "2026-01-01T00:00:00Z"},
		{"2026-01-01\n00:00:00Z", "2026-01-01T00:00:00Z"},
		{"2026-01-01\u00a000:00:00Z", "2026-01-01T00:00:00Z"},
		{"2026-01-01\u300000:00:00Z", "2026-01-01T00:00:00Z"},
		{"2026-01-01\u202800:00:00Z", "2026-01-01T00:00:00Z"},
		{"2026-01-01\ufeff00:00:00Z", "2026-01-01T00:00:00Z"},
		{"2026-01-01\u008500:00:00Z", ""}, // no white space in ECMAScript
		{"2026-01-01\u200b00:00:00Z", ""},
		{"2026-01-01  00:00:00Z", ""},
		{"2026-01-01_00:00:00Z", ""},
		{"2026-01-0100:00:00Z", ""},

		{"2026-01-01T00:00:00+02", "2025-12-31T22:00:00Z"},
		{"2026-01-01T00:00:00+0230", "2025-12-31T21:30:00Z"},
		{"2026-01-01T00:00:00+02:30", "2025-12-31T21:30:00Z"},
		{"2026-01-01T00:00:00-02:30", "2026-01-01T02:30:00Z"},
		{"2026-01-01T00:00:00+23:59", "2025-12-31T00:01:00Z"},
		{"2026-01-01T00:00:00-00:00", "2026-01-01T00:00:00Z"},
		{"2026-01-01T00:00:00+24:00", ""},
		{"2026-01-01T00:00:00+02:60", ""},
		{"2026-01-01T00:00:00+2", ""},
		{"2026-01-01T00:00:00+023", ""},
		{"2026-01-01T00:00:00+02:", ""},
		{"2026-01-01T00:00:00+02:3", ""},
		{"2026-01-01T00:00:00+02:30:00", ""},
		{"2026-01-01T00:00:00+", ""},
		{"2026-01-01T00:00:00", ""},
		{"2026-01-01T00:00:00ZZ", ""},
		{"2026-01-01T00:00:00 Z", ""},
		{"2026-01-01T00:00:00\u22120200", ""}, // MINUS SIGN

		{"2026-02-30T00:00:00Z", ""},
		{"2026-02-29T00:00:00Z", ""},
		{"2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"},
		{"2000-02-29T00:00:00Z", "2000-02-29T00:00:00Z"},
		{"1900-02-29T00:00:00Z", ""},
		{"2026-04-31T00:00:00Z", ""},
		{"2026-12-31T00:00:00Z", "2026-12-31T00:00:00Z"},
		{"2026-13-01T00:00:00Z", ""},
		{"2026-00-01T00:00:00Z", ""},
		{"2026-01-00T00:00:00Z", ""},
		{"2026-01-32T00:00:00Z", ""},
		{"0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"},
		{"2026-01-01T23:59:59Z", "2026-01-01T23:59:59Z"},
		{"2026-01-01T24:00:00Z", ""},
		{"2026-01-01T00:60:00Z", ""},
		{"2026-01-01T00:00:61Z", ""},

		{"2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"},
		{"2016-12-31T23:59:60.5Z", "2017-01-01T00:00:00.5Z"},
		{"2017-01-01T00:59:60+01:00", "2017-01-01T00:00:00Z"},
		{"2017-01-01T05:29:60+05:30", "2017-01-01T00:00:00Z"},
		{"2016-12-31T18:29:60-0530", "2017-01-01T00:00:00Z"},
		{"2016-12-31T22:59:60Z", ""},
		{"2016-12-31T23:58:60Z", ""},
		{"2016-12-31T23:59:60+01:00", ""},

		{"26-01-01T00:00:00Z", ""},
		{"12026-01-01T00:00:00Z", ""},
		{"2026-1-1T00:00:00Z", ""},
		{"2026-01-01T0:00:00Z", ""},
		{"2026-01-01T00:00Z", ""},
		{"2026-01-01", ""},
		{"20260101T000000Z", ""},
		{"2026-W01-1T00:00:00Z", ""},
		{" 2026-01-01T00:00:00Z", ""},
		{"2026-01-01T00:00:00Z ", ""},
		{"٢٠٢٦-01-01T00:00:00Z", ""},
		{"-026-01-01T00:00:00Z", ""},
		{"[ISO-8601]", ""},
		{"YYYY-MM-DDT00:00:00Z", ""},
		{"unset", ""},
		{"", ""},
	} {
		got, ok := ParseDateTime(tt.text)
		if ok != (tt.want != "") {
			t.Errorf("ParseDateTime(%q): accepted %v", tt.text, ok)
			continue
		}
		if ok && !got.Equal(day(tt.want)) {
			t.Errorf("ParseDateTime(%q) = %s, want %s", tt.text, got.UTC(), tt.want)
		}
	}
}

// What Go reads as RFC 3339 is read here, as the same instant.
func FuzzParseDateTime(f *testing.F) {
	f.Add("2026-01-01T00:00:00Z")
	f.Add("2024-02-29 23:59:60.5+0530")
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := ParseDateTime(s)
		var want time.Time
		err := want.UnmarshalText([]byte(s)) // stricter than time.Parse, which takes T0:00:00
		if err == nil && (!ok || !got.Equal(want)) {
			t.Errorf("ParseDateTime(%q) = %v, %v; Go reads %v", s, got, ok, want)
		}
	})
}

func TestNearest(t *testing.T) {
	known := []string{"assigned_to", "blocked_by", "completed", "created", "depends_on", "priority", "status", "title"}
	for _, tt := range []struct{ key, want string }{
		{"depend_on", "depends_on"},
		{"asigned_to", "assigned_to"},
		{"assignedTo", "assigned_to"}, // one insertion, without regard to case
		{"TITLE", "title"},
		{"titel", ""}, // two replacements, and five characters allow one
		{"titl", "title"},
		{"title2", "title"},
		{"statuses", "status"},
		{"state", ""},
		{"notes", ""},
		{"blockedby", "blocked_by"},
		{"block_by", "blocked_by"},
		{"dependencies", ""},
		{"", ""},
		{"x", ""},
		{strings.Repeat("x", 100_000), ""},
		{strings.Repeat("é", 5), ""},
	} {
		got, ok := Nearest(tt.key, known)
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("Nearest(%.20q) = %q, want %q", tt.key, got, tt.want)
		}
	}
	for _, tt := range []struct {
		key   string
		known []string
		want  string
	}{
		{"cat", []string{"bat", "hat"}, "bat"},                 // equally near: the first by name
		{"hats", []string{"bats", "hat"}, "bats"},              // and not the first that is longer or shorter
		{"a", []string{"b"}, "b"},                              // the shortest key may be off by one
		{"abcdefghijkl", []string{"abcdefghi"}, "abcdefghi"},   // three of twelve
		{"abcdefghijkl", []string{"abcdefgh"}, ""},             // four are never near
		{"abcdefgh", []string{"abcdef"}, "abcdef"},             // two of eight
		{"abcdefgh", []string{"abcde"}, ""},                    // three of eight are not
		{"ÄBCDEF", []string{"abcdef", "äbcdef"}, "äbcdef"},     // case beyond ASCII, length in characters
		{"\u0130bc", []string{"ibc"}, "ibc"},                   // folding changes no length
		{"include", []string{"exclude", "include"}, "include"}, // distance zero wins
	} {
		if got, _ := Nearest(tt.key, tt.known); got != tt.want {
			t.Errorf("Nearest(%q, %q) = %q, want %q", tt.key, tt.known, got, tt.want)
		}
	}
}

func TestPlaceholder(t *testing.T) {
	for text, want := range map[string]bool{
		"[ISO-8601]":               true,
		"[task title]":             true,
		"[é]":                      true,
		"[]":                       false,
		"[":                        false,
		"":                         false,
		"[a][b]":                   false,
		"[a]]":                     false,
		"[a\nb]":                   false,
		"[a\rb]":                   false,
		"x[a]":                     false,
		"[a] ":                     false,
		"YYYY-MM-DD":               true,
		"YYYY-MM-DDT00:00:00Z":     true,
		"YYYY-MM-DDtHH:MM":         true,
		"YYYY-MM-DD HH:MM":         true,
		"YYYY-MM-DD_x":             false,
		"YYYY-MM-DDx":              false,
		"yyyy-mm-dd":               false,
		"2026-01-01":               false,
		"on YYYY-MM-DD":            false,
		"2026-01-01T00:00:00Z":     false,
		"YYYY-MM":                  false,
		"YYYY-MM-DD\tHH:MM":        false,
		"[placeholder, in part] a": false,
	} {
		if Placeholder(text) != want {
			t.Errorf("Placeholder(%q) is %v", text, !want)
		}
	}
}
