package conform

import (
	"errors"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
)

// The validator has no limit on errors: a manifest of 16 MiB that is one array
// of zeros cost it twelve gigabytes. So a large document is given to it in
// pieces, and no more pieces are given once enough is broken.

// pieceSize is how many bytes of a document make one piece.
const pieceSize = 8 << 10

// MaxViolations is how many violations are enough. Validate stops after the
// piece in which it passes this number, so more than that means: or more.
const MaxViolations = 10_000

func (j *judge) small(v *jsondoc.Value) bool { return v.End-v.Off <= j.size }

// refer follows references: nothing but prose stands beside one in our schemas.
func refer(s *jsonschema.Schema) *jsonschema.Schema {
	for s.Ref != nil {
		s = s.Ref
	}
	return s
}

// split judges a value by a part of the schema, piece by piece where it is
// large. Only objects and arrays that the schema has parts for are taken apart,
// so it goes no deeper than the schema.
func (j *judge) split(s *jsonschema.Schema, v *jsondoc.Value, path []string) {
	s = refer(s)
	switch {
	case len(j.found) > MaxViolations:
	case !j.small(v) && v.Kind == jsondoc.Array:
		j.splitArray(s, v, path)
	case !j.small(v) && v.Kind == jsondoc.Object:
		j.splitObject(s, v, path)
	default:
		j.run(s, tree(v, 1), piece{path: path})
	}
}

func (j *judge) splitArray(s *jsonschema.Schema, v *jsondoc.Value, path []string) {
	j.run(s, []any{}, piece{path: path})
	if s.Items2020 == nil {
		return
	}
	var items []any
	first, size := 0, 0
	flush := func(next int) {
		if len(items) > 0 {
			j.run(s, items, piece{path: path, offset: first})
		}
		items, first, size = nil, next, 0
	}
	for i, item := range v.Items {
		if len(j.found) > MaxViolations {
			return
		}
		if !j.small(item) {
			flush(i + 1)
			j.split(s.Items2020, item, append(slices.Clone(path), strconv.Itoa(i)))
			continue
		}
		items = append(items, tree(item, 1))
		if size += item.End - item.Off; size > j.size {
			flush(i + 1)
		}
	}
	flush(len(v.Items))
}

func (j *judge) splitObject(s *jsonschema.Schema, v *jsondoc.Value, path []string) {
	if len(s.Properties)+len(s.PatternProperties) == 0 && s.AdditionalProperties == nil {
		j.run(s, map[string]any{}, piece{path: path})
		return
	}
	// Every piece has all the known keys of the object, with a sound value where
	// the real one is in another piece: nothing is missing that is there.
	sound := map[string]any{}
	for key, part := range s.Properties {
		if v.Get(key) != nil {
			sound[key] = standIn(part)
		}
	}
	members := map[string]any{}
	size, later := 0, false
	flush := func() {
		for key, value := range sound {
			if _, ok := members[key]; !ok {
				members[key] = value
			}
		}
		j.run(s, members, piece{path: path, later: later})
		members, size, later = map[string]any{}, 0, true
	}
	for _, m := range v.Members {
		if len(j.found) > MaxViolations {
			return
		}
		size += m.Value.End - m.KeyOff
		switch parts := partsOf(s, m.Key); {
		case j.small(m.Value):
			members[m.Key] = tree(m.Value, 1)
		case len(parts) == 0:
			members[m.Key] = nil // only the key is judged
		default:
			for _, part := range parts {
				j.split(part, m.Value, append(slices.Clone(path), m.Key))
			}
			size = 0 // it was no part of this piece
		}
		if size > j.size {
			flush()
		}
	}
	flush()
}

// partsOf gives the parts of an object's schema that judge the value of a key.
func partsOf(s *jsonschema.Schema, key string) []*jsonschema.Schema {
	var parts []*jsonschema.Schema
	if part, ok := s.Properties[key]; ok {
		parts = append(parts, part)
	}
	for pattern, part := range s.PatternProperties {
		if pattern.MatchString(key) {
			parts = append(parts, part)
		}
	}
	return parts
}

// standIn gives a value that satisfies a part of the schema; a test proves it
// for every part.
func standIn(s *jsonschema.Schema) any {
	s = refer(s)
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Types != nil && slices.Contains(s.Types.ToStrings(), "array"):
		return []any{}
	}
	members := map[string]any{}
	for _, key := range s.Required {
		members[key] = standIn(s.Properties[key])
	}
	return members
}

// piece says which part of the document the validator was given.
type piece struct {
	path   []string // to the value
	offset int      // of an array: the index of its first item
	later  bool     // of an object: an earlier piece has told what the object lacks
}

// run has the validator judge one piece and collects what it says.
func (j *judge) run(s *jsonschema.Schema, value any, p piece) {
	err := s.Validate(value)
	if err == nil {
		return
	}
	var refused *jsonschema.ValidationError
	if !errors.As(err, &refused) {
		panic(err) // the library promises no other type
	}
	j.walk(refused, p)
}

// walk collects the leaves of an error: the constraints themselves. An anyOf
// counts as one constraint, whatever its branches say.
func (j *judge) walk(e *jsonschema.ValidationError, p piece) {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
	default:
		if len(e.Causes) > 0 {
			for _, cause := range e.Causes {
				j.walk(cause, p)
			}
			return
		}
	}
	own := len(e.InstanceLocation) == 0
	if _, unknown := e.ErrorKind.(*kind.AdditionalProperties); own && p.later && !unknown {
		return
	}
	path := append(slices.Clone(p.path), e.InstanceLocation...)
	if !own && p.offset > 0 {
		if i, err := strconv.Atoi(e.InstanceLocation[0]); err == nil {
			path[len(p.path)] = strconv.Itoa(p.offset + i)
		}
	}
	j.leaf(e, path)
}
