package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// Spec is GitHub's own description of the API, or a part of it.
type Spec struct {
	doc    *openapi3.T
	routes []route
}

type route struct {
	path   *regexp.Regexp
	names  []string // of the parameters, in order
	key    string   // as the document writes the path
	length int      // of its fixed part: the longest that fits is the one meant
	item   *openapi3.PathItem
}

// slashes are the parameters at the end of a path that may hold slashes.
var slashes = map[string]bool{"ref": true, "path": true, "basehead": true}

// LoadSpec reads an OpenAPI 3 document in JSON.
func LoadSpec(file string) (*Spec, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	s := &Spec{doc: doc}
	parameter := regexp.MustCompile(`\\\{([a-z_]+)\\\}`)
	for key, item := range doc.Paths.Map() {
		r := route{key: key, item: item}
		quoted := regexp.QuoteMeta(key)
		for _, m := range parameter.FindAllStringSubmatch(quoted, -1) {
			r.names = append(r.names, m[1])
		}
		r.length = len(parameter.ReplaceAllString(quoted, ""))
		expr := parameter.ReplaceAllStringFunc(quoted, func(m string) string {
			if strings.HasSuffix(quoted, m) && slashes[strings.Trim(m, `\{}`)] {
				return `(.+)`
			}
			return `([^/]+)`
		})
		r.path, err = regexp.Compile("^" + expr + "$")
		if err != nil {
			return nil, fmt.Errorf("%s: path %s: %w", file, key, err)
		}
		s.routes = append(s.routes, r)
	}
	return s, nil
}

// undeclared are query parameters that the endpoint takes although the
// description leaves them out: its answer declares the header Link.
var undeclared = map[string][]string{
	"/repos/{owner}/{repo}/git/matching-refs/{ref}": {"page", "per_page"},
}

// check holds a request and its answer against the description.
func (s *Spec) check(r *http.Request, req Request, status int, answer []byte) []string {
	name := req.Method + " " + req.Path
	rt, values := s.find(req)
	if rt == nil {
		return []string{name + ": the description has no such call"}
	}
	op := rt.item.GetOperation(req.Method)
	params := map[string]string{}
	for i, n := range rt.names {
		params[n] = values[i]
	}
	var problems []string
	query := map[string]bool{}
	for _, p := range append(slices.Clone(rt.item.Parameters), op.Parameters...) {
		query[p.Value.Name] = p.Value.In == "query"
	}
	for q := range req.Query {
		if !query[q] && !slices.Contains(undeclared[rt.key], q) {
			problems = append(problems, fmt.Sprintf("%s: query parameter %s is not described", name, q))
		}
	}
	if op.RequestBody != nil && len(req.Body) > 0 {
		if media := op.RequestBody.Value.Content.Get("application/json"); media != nil {
			var body any
			if err := json.Unmarshal(req.Body, &body); err == nil {
				problems = append(problems, unknownMembers(name, media.Schema, body)...)
			}
		}
	}
	clone := r.Clone(r.Context())
	clone.Body = io.NopCloser(bytes.NewReader(req.Body))
	opts := &openapi3filter.Options{
		MultiError: true, SkipSettingDefaults: true, IncludeResponseStatus: true,
		AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
	}
	// Without the whole schema and value in each message.
	opts.WithCustomSchemaErrorFunc(func(e *openapi3.SchemaError) string {
		return "/" + strings.Join(e.JSONPointer(), "/") + ": " + e.Reason
	})
	in := &openapi3filter.RequestValidationInput{
		Request: clone, PathParams: params, Options: opts,
		Route: &routers.Route{Spec: s.doc, Path: rt.key, PathItem: rt.item, Method: req.Method, Operation: op},
	}
	if err := openapi3filter.ValidateRequest(r.Context(), in); err != nil {
		problems = append(problems, fmt.Sprintf("request %s: %v", name, err))
	}
	if op.Responses.Status(status) == nil {
		// Errors of the whole API are described for few calls; their form is the
		// same everywhere.
		if err := s.errorForm(answer); status < 400 || err != nil {
			problems = append(problems, fmt.Sprintf("answer %d to %s: not described (%v)", status, name, err))
		}
		return problems
	}
	out := (&openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: status, Options: opts,
		Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}},
	}).SetBodyBytes(answer)
	if err := openapi3filter.ValidateResponse(r.Context(), out); err != nil {
		problems = append(problems, fmt.Sprintf("answer %d to %s: %v", status, name, err))
	}
	return problems
}

func (s *Spec) find(req Request) (*route, []string) {
	var best *route
	var values []string
	for i := range s.routes {
		r := &s.routes[i]
		if m := r.path.FindStringSubmatch(req.Path); m != nil && r.item.GetOperation(req.Method) != nil && (best == nil || r.length > best.length) {
			best, values = r, m[1:]
		}
	}
	return best, values
}

func (s *Spec) errorForm(answer []byte) error {
	var doc any
	if err := json.Unmarshal(answer, &doc); err != nil {
		return err
	}
	schema := s.doc.Components.Schemas["basic-error"]
	if schema == nil {
		return nil
	}
	return schema.Value.VisitJSON(doc)
}

// unknownMembers finds members that the description does not name. GitHub
// passes over them in silence, so that a misspelt one would never be noticed.
func unknownMembers(where string, schema *openapi3.SchemaRef, v any) []string {
	if schema == nil || schema.Value == nil {
		return nil
	}
	var out []string
	switch v := v.(type) {
	case map[string]any:
		for k, member := range v {
			p := schema.Value.Properties[k]
			if p == nil && len(schema.Value.Properties) > 0 {
				// head_sha of an update and the like: named by the create alone.
				out = append(out, fmt.Sprintf("%s: member %s is not described", where, k))
				continue
			}
			out = append(out, unknownMembers(where+" "+k, p, member)...)
		}
	case []any:
		for _, e := range v {
			out = append(out, unknownMembers(where, schema.Value.Items, e)...)
		}
	}
	return out
}
