package render

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

func sarif(t *testing.T, r *report.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := SARIF(&b, r, sampleRules); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// obj and list walk a decoded document and fail loudly.
func obj(t *testing.T, v any, what string) map[string]any {
	t.Helper()
	m, ok := v.(map[string]any)
	if !ok {
		t.Fatalf("%s is %T", what, v)
	}
	return m
}

func list(t *testing.T, v any, what string) []any {
	t.Helper()
	l, ok := v.([]any)
	if !ok {
		t.Fatalf("%s is %T", what, v)
	}
	return l
}

func str(t *testing.T, v any, what string) string {
	t.Helper()
	s, ok := v.(string)
	if !ok || s == "" {
		t.Fatalf("%s is %#v", what, v)
	}
	return s
}

var fingerprintForm = regexp.MustCompile(`^[0-9a-f]{16}:[1-9][0-9]*$`)

// checkSARIF holds a log to what SARIF 2.1.0 requires and to what GitHub code
// scanning needs besides; it returns the results.
func checkSARIF(t *testing.T, doc []byte) []map[string]any {
	t.Helper()
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		t.Fatal(err)
	}
	log := obj(t, v, "log")
	if log["version"] != "2.1.0" || !strings.Contains(str(t, log["$schema"], "$schema"), "sarif-2.1.0") {
		t.Errorf("version %v, schema %v", log["version"], log["$schema"])
	}
	runs := list(t, log["runs"], "runs")
	if len(runs) != 1 {
		t.Fatalf("%d runs", len(runs))
	}
	run := obj(t, runs[0], "run")
	driver := obj(t, obj(t, run["tool"], "tool")["driver"], "driver")
	str(t, driver["name"], "driver.name")
	levels := map[string]bool{"error": true, "warning": true, "note": true}
	var ids []string
	seen := map[string]bool{}
	for _, x := range list(t, driver["rules"], "rules") {
		ru := obj(t, x, "rule")
		id := str(t, ru["id"], "rule.id")
		if seen[id] {
			t.Errorf("rule %s twice", id)
		}
		seen[id] = true
		ids = append(ids, id)
		for _, k := range []string{"shortDescription", "fullDescription", "help"} {
			str(t, obj(t, ru[k], k)["text"], id+" "+k)
		}
		if !levels[str(t, obj(t, ru["defaultConfiguration"], "defaultConfiguration")["level"], "level")] {
			t.Errorf("level of %s", id)
		}
		if _, err := url.ParseRequestURI(str(t, ru["helpUri"], "helpUri")); err != nil {
			t.Error(err)
		}
	}
	bases := obj(t, run["originalUriBaseIds"], "originalUriBaseIds")
	prints := map[string]bool{}
	var results []map[string]any
	for _, x := range list(t, run["results"], "results") {
		res := obj(t, x, "result")
		results = append(results, res)
		id := str(t, res["ruleId"], "ruleId")
		i, ok := res["ruleIndex"].(float64)
		if !ok || int(i) >= len(ids) || ids[int(i)] != id {
			t.Errorf("%s has index %v", id, res["ruleIndex"])
		}
		if !levels[str(t, res["level"], "level")] {
			t.Errorf("level %v", res["level"])
		}
		message := str(t, obj(t, res["message"], "message")["text"], "message.text")
		if strings.Contains(message, "](") {
			t.Errorf("a link in %q", message)
		}
		locations := list(t, res["locations"], "locations")
		if len(locations) != 1 {
			t.Errorf("%d locations", len(locations))
		}
		physical := obj(t, obj(t, locations[0], "location")["physicalLocation"], "physicalLocation")
		artifact := obj(t, physical["artifactLocation"], "artifactLocation")
		u, err := url.Parse(str(t, artifact["uri"], "uri"))
		if err != nil || u.IsAbs() || u.Host != "" || strings.HasPrefix(u.Path, "/") || u.RawQuery != "" || u.Fragment != "" {
			t.Errorf("uri %v (%v)", artifact["uri"], err)
		}
		if _, ok := bases[str(t, artifact["uriBaseId"], "uriBaseId")]; !ok {
			t.Errorf("base %v is not declared", artifact["uriBaseId"])
		}
		if region, ok := physical["region"]; ok {
			n := func(k string) float64 { f, _ := obj(t, region, "region")[k].(float64); return f }
			if n("startLine") < 1 || n("endLine") != 0 && n("endLine") < n("startLine") ||
				n("endColumn") != 0 && n("startColumn") == 0 || n("endLine") == 0 && n("endColumn") != 0 && n("endColumn") < n("startColumn") {
				t.Errorf("region %v", region)
			}
		}
		mark := str(t, obj(t, res["partialFingerprints"], "partialFingerprints")["primaryLocationLineHash"], "fingerprint")
		if !fingerprintForm.MatchString(mark) || prints[mark] {
			t.Errorf("fingerprint %s", mark)
		}
		prints[mark] = true
	}
	return results
}

func TestSARIF(t *testing.T) {
	golden(t, "fail.sarif", sarif(t, failing()))
	for name, r := range map[string]*report.Report{
		"passing": passing(), "failing": failing(), "hostile": hostile(), "large": large(300), "skipped": skipped(), "empty": made(),
	} {
		t.Run(name, func(t *testing.T) {
			c := r.Count()
			if got := len(checkSARIF(t, sarif(t, r))); got != c.Errors+c.Warnings+c.Notices {
				t.Errorf("%d results of %+v", got, c)
			}
			if !bytes.Equal(sarif(t, r), sarif(t, r)) {
				t.Error("two runs differ")
			}
		})
	}
}

func TestSARIFLocations(t *testing.T) {
	uri := func(res map[string]any) string {
		loc := list(t, res["locations"], "locations")[0]
		return obj(t, obj(t, obj(t, loc, "l")["physicalLocation"], "p")["artifactLocation"], "a")["uri"].(string)
	}
	for path, want := range map[string]string{
		"a b/c#d?e.md": "a%20b/c%23d%3Fe.md",
		"c:d.md":       "c%3Ad.md",
		"é/100%.md":    "%C3%A9/100%25.md",
		"":             "p/.ai/handoff/MANIFEST.json",
	} {
		if got := uri(checkSARIF(t, sarif(t, one("p", finding("a/b", report.Error, path, 1, "m", "r"))))[0]); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}

// A finding is recognised in the next run although lines, counts and digests
// moved; another rule, file or wording is another finding.
func TestSARIFFingerprints(t *testing.T) {
	mark := func(f report.Finding) string {
		return obj(t, checkSARIF(t, sarif(t, one(".", f)))[0]["partialFingerprints"], "p")["primaryLocationLineHash"].(string)
	}
	a := mark(finding("a/b", report.Error, "f", 3, "row Build expired 12 days ago, digest sha256:0a1b2c3d4e", "r"))
	for name, f := range map[string]report.Finding{
		"another line and day": finding("a/b", report.Error, "f", 9, "row Build expired 113 days ago, digest sha256:99ffee00aa", "r"),
		"another remedy":       finding("a/b", report.Error, "f", 3, "row Build expired 12 days ago, digest sha256:0a1b2c3d4e", "x"),
	} {
		if mark(f) != a {
			t.Errorf("%s: another fingerprint", name)
		}
	}
	for name, f := range map[string]report.Finding{
		"another rule": finding("a/c", report.Error, "f", 3, "row Build expired 12 days ago, digest sha256:0a1b2c3d4e", "r"),
		"another file": finding("a/b", report.Error, "g", 3, "row Build expired 12 days ago, digest sha256:0a1b2c3d4e", "r"),
		"another row":  finding("a/b", report.Error, "f", 3, "row Tests expired 12 days ago, digest sha256:0a1b2c3d4e", "r"),
	} {
		if mark(f) == a {
			t.Errorf("%s: the same fingerprint", name)
		}
	}
}
