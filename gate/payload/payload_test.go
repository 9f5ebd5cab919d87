package payload

import (
	"errors"
	"strings"
	"testing"
)

// Pick finds exactly the values asked for, each with its JSON type.
func TestPick(t *testing.T) {
	t.Parallel()
	const doc = `{
		"action": "opened", "n": 12e3, "yes": true, "no": false, "none": null, "o": {}, "a": [1, [2], {"x": 3}],
		"pull_request": {"base": {"sha": "AB\u0063"}, "title": "base.sha"},
		"a.b": "a key with a dot is on no path", "": {"x": 1},
		"runs": [{"id": "first"}, {"id": "second"}]
	}`
	got, err := Pick([]byte(doc), "action", "n", "yes", "no", "none", "o", "a", "a.2.x", "a.b", "pull_request.base.sha",
		"runs", "runs.0.id", "runs.1.id", "runs.2.id", "missing", "action.below", "pull_request")
	if err != nil {
		t.Fatal(err)
	}
	want := Fields{
		"action":                {Kind: String, Text: "opened"},
		"n":                     {Kind: Number},
		"yes":                   {Kind: Boolean, True: true},
		"no":                    {Kind: Boolean},
		"none":                  {Kind: Null},
		"o":                     {Kind: Object},
		"a":                     {Kind: Array, Items: 3},
		"a.2.x":                 {Kind: Number},
		"pull_request":          {Kind: Object},
		"pull_request.base.sha": {Kind: String, Text: "ABc"},
		"runs":                  {Kind: Array, Items: 2},
		"runs.0.id":             {Kind: String, Text: "first"},
		"runs.1.id":             {Kind: String, Text: "second"},
	}
	for path, f := range want {
		if got[path] != f {
			t.Errorf("%s: got %+v, want %+v", path, got[path], f)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %d fields, want %d: %v", len(got), len(want), got)
	}
}

// What is no JSON object within the limits is refused whole, and the reason
// says what is wrong with it.
func TestPickRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ doc, reason string }{
		"empty":           {"", "empty"},
		"blank":           {" \n", "ends too early"},
		"no JSON":         {"<html>", "value is missing"},
		"cut":             {`{"a": 1`, "ends too early"},
		"an array":        {`[{"a": 1}]`, "no JSON object"},
		"a string":        {`"a"`, "no JSON object"},
		"null":            {"null", "no JSON object"},
		"two documents":   {`{} {}`, "after the end"},
		"byte order mark": {"\ufeff{}", "byte order mark"},
		"bad UTF-8":       {"{\"a\": \"\xff\"}", "UTF-8"},
		"equal keys":      {`{"a": 1, "\u0061": 2}`, "same key twice"},
		"NaN":             {`{"a": NaN}`, "value"},
		"depth 65":        {strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), "deeper than 64"},
		"depth 1000000":   {`{"a":` + strings.Repeat("[", 1_000_000), "deeper than 64"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Pick([]byte(c.doc), "a")
			if err == nil || got != nil {
				t.Fatalf("accepted: %v", got)
			}
			if !strings.Contains(err.Error(), c.reason) {
				t.Errorf("reason %q does not say %q", err, c.reason)
			}
		})
	}
	if got, err := Pick([]byte(`{"a": "\ud83d", "b": 1}`), "b"); err != nil || got["b"].Kind != Number {
		t.Errorf("half an emoji in prose blocks the run: %v %v", got, err)
	}
	if _, err := Pick([]byte(strings.Repeat(`{"a":`, 64)+"1"+strings.Repeat("}", 64)), "a"); err != nil {
		t.Errorf("depth 64 is allowed, but: %v", err)
	}
}

// The size limit counts every byte, blanks too, and the limit itself is allowed.
func TestPickSize(t *testing.T) {
	t.Parallel()
	doc := append([]byte(`{"a": 1}`), make([]byte, MaxBytes-8)...)
	for i := 8; i < len(doc); i++ {
		doc[i] = ' '
	}
	if _, err := Pick(doc, "a"); err != nil {
		t.Errorf("%d bytes: %v", len(doc), err)
	}
	if _, err := Pick(append(doc, ' '), "a"); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%d bytes: %v", len(doc)+1, err)
	}
}

// Whatever the bytes are, Pick ends, keeps to what was asked, and agrees with
// itself.
func FuzzPick(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"ref": "refs/heads/main", "before": null}`, `{"a": [{"b": 1}, {"b": [2]}]}`, `{"a": {"a": {"a": 0}}}`,
		`{"\u0061": "\ud800"}`, `[`, `{"a":`, `{"a": 1}}`, `{"a.b": 1, "": 2}`,
	} {
		f.Add([]byte(s))
	}
	paths := []string{"a", "a.b", "a.0.b", "a.a.a", "ref", "before"}
	f.Fuzz(func(t *testing.T, doc []byte) {
		one, err := Pick(doc, paths...)
		two, again := Pick(doc, paths...)
		if (err == nil) != (again == nil) || len(one) != len(two) {
			t.Fatalf("two readings differ: %v %v, %v %v", one, err, two, again)
		}
		for p, field := range one {
			if field != two[p] || field.Kind == Absent {
				t.Errorf("%s: %+v and %+v", p, field, two[p])
			}
			if p != "a" && p != "a.b" && p != "a.0.b" && p != "a.a.a" && p != "ref" && p != "before" {
				t.Errorf("%s was not asked for", p)
			}
		}
	})
}
