package conform

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/schema"
)

// Each document below is whole and sound; a case changes one place of it.
const (
	soundManifest = `{
  "aahp_version": "3.0",
  "project": "demo",
  "last_session": {"agent": "a", "session_id": "s", "timestamp": "2026-01-01T00:00:00Z", "commit": "unset", "phase": "idle", "duration_minutes": 0},
  "files": {
    "STATUS.md": {"checksum": "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "updated": "2026-01-01T00:00:00Z", "lines": 1, "summary": "x"}
  },
  "quick_context": "q",
  "token_budget": {"manifest_only": 1, "manifest_plus_core": 2, "full_read": 3},
  "next_task_id": 3,
  "tasks": {
    "T-001": {"title": "t", "status": "done", "priority": "low", "depends_on": [], "blocked_by": "b", "assigned_to": "a", "created": "2026-01-01T00:00:00Z", "completed": "2026-01-02T00:00:00Z"}
  },
  "cross_repo_ref": {"repo": "o/n", "commit": "abc", "relation": "extends", "handoff_file": "f"}
}`
	soundAllowlist = `{"version": 1, "entries": [{"value": "a@example.com", "kind": "email", "reason": "r", "owner": "o", "expires": "2026-12-31"}]}`
	soundConfig    = `{
  "$schema": "x",
  "versionSites": [{"file": "f", "minOccurrences": 1, "boundary": true, "note": "n"}],
  "claims": [{"id": "i", "canonical": "c", "phrase": "p", "advertised": 1, "surfaces": [{"file": "f", "note": "n"}], "flags": "g", "floorCmd": "c", "joinTsConcat": false}],
  "generate": {"log": {"source": "s", "target": "t", "title": "u"}, "freshness": {"file": "f"}},
  "forbiddenPatterns": [{"pattern": "p", "id": "i", "flags": "g", "message": "m", "include": ["a"], "exclude": ["b"]}],
  "docSync": [{"sources": [{"file": "f", "pattern": "p"}], "id": "i"}],
  "docLinks": {"include": ["a"]},
  "docPaths": {"include": ["a"], "adopterPaths": [{"path": "p", "occurrences": 1, "reason": "r"}], "requiredHeadings": [{"id": "i", "file": "f", "pattern": "p", "before": "b", "note": "n"}]},
  "acceptanceCriteria": {"include": ["a"], "manifest": "m"},
  "handoffImpact": {
    "nonImpactingModifiedFiles": [{"file": "docs/a.md", "reason": "reviewed"}],
    "npmDevDependencyUpdates": {"reason": "scanned", "supplyChainScan": {"workflow": ".github/workflows/ci.yml", "job": "scan"}}
  },
  "check": {"only": ["a"], "skip": ["b"]},
  "pinnedDep": {"name": "n", "location": "any", "allowRange": true},
  "trustTtl": {"enforce": true, "graceDays": 14, "checks": [{"id": "tests", "run": ["make", "test"], "reason": "proves it"}]},
  "verifyWorkflow": {"enforce": true}
}`
)

var sound = map[schema.Kind]string{schema.Manifest: soundManifest, schema.Allowlist: soundAllowlist, schema.Config: soundConfig}

const gone = "\x00gone" // in place of a value: the member is removed

// change puts raw JSON at a place of a sound document.
func change(t testing.TB, src, place, raw string) string {
	t.Helper()
	var root any
	if err := json.Unmarshal([]byte(src), &root); err != nil {
		t.Fatal(err)
	}
	if place == "" {
		return raw
	}
	tokens := strings.Split(place[1:], "/")
	at := root
	for i, token := range tokens {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		last := i == len(tokens)-1
		switch v := at.(type) {
		case map[string]any:
			switch {
			case last && raw == gone:
				if _, ok := v[token]; !ok {
					t.Fatalf("nothing to remove at %s", place)
				}
				delete(v, token)
			case last:
				v[token] = json.RawMessage(raw)
			default:
				at = v[token]
			}
		case []any:
			n, err := strconv.Atoi(token)
			if err != nil {
				t.Fatal(err)
			}
			if last {
				v[n] = json.RawMessage(raw)
			} else {
				at = v[n]
			}
		default:
			t.Fatalf("no place %s", place)
		}
	}
	b, err := json.Marshal(root)
	if err != nil {
		t.Fatalf("%s = %s: %v", place, raw, err)
	}
	return string(b)
}

// broken lists what a document breaks as "KEYWORD POINTER" or, for a missing
// key, "required POINTER KEY".
func broken(t testing.TB, k schema.Kind, src string) []string {
	t.Helper()
	doc, err := jsondoc.Parse([]byte(src), jsondoc.Options{MaxDepth: gate.MaxDepth})
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	var list []string
	for _, v := range Validate(k, doc, Options{}) {
		s := v.Keyword + " " + v.Pointer
		if v.Keyword == "required" {
			s += " " + v.Key
		}
		list = append(list, s)
		if v.Message == "" || !strings.HasSuffix(v.Message, ".") && !strings.HasSuffix(v.Message, "?") || strings.HasSuffix(v.Message, "..") || strings.Contains(v.Message, "\n") {
			t.Errorf("the message %q is not one sentence", v.Message)
		}
		if v.Span.Line == 0 || v.Span.Column == 0 {
			t.Errorf("%q has no place", v.Message)
		}
	}
	slices.Sort(list)
	return list
}

func TestSoundDocuments(t *testing.T) {
	for k, src := range sound {
		if got := broken(t, k, src); got != nil {
			t.Errorf("%s: %q", k, got)
		}
	}
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func long(n int) string { return quote(strings.Repeat("é", n)) }

// row is a place and what may and may not stand there. A refused value breaks
// exactly the keyword before the blank.
type row struct {
	kind  schema.Kind
	place string
	fits  []string
	not   []string // "KEYWORD VALUE", several keywords joined by +
}

const (
	hash   = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	reason = "must be a text with at least one letter or number"
)

// What stands for a kind of value in the rows.
var (
	anyText  = []string{`""`, `"x"`, `"[x]"`, `"\u0000"`}
	noText   = []string{"type 1", "type true", "type null", "type []", "type {}"}
	noObject = []string{`type "x"`, "type 1", "type null", "type []"}
	noArray  = []string{`type "x"`, "type 1", "type null", "type {}"}
	noBool   = []string{`type "true"`, "type 1", "type 0", "type null"}
	instants = []string{`"2026-01-01T00:00:00Z"`, `"2026-01-01 00:00:00.5+0200"`, `"2024-02-29t00:00:00z"`}
	noTime   = append([]string{`format ""`, `format "2026-01-01"`, `format "2026-02-30T00:00:00Z"`, `format "[ISO-8601]"`, `format "YYYY-MM-DDT00:00:00Z"`}, noText...)
	counts   = []string{"0", "1", "1.0", "1e3", "0e5", "-0", "0.0", "10e-1", "1e999999999", strings.Repeat("9", 400)}
	noCount  = []string{"minimum -1", "minimum -1e999999999", "type 0.5", "type 1e-1", "type -0.5", "type 0.99999999999999999999999", `type "1"`, "type true", "type null", "type []"}
	strs     = []string{"[]", `["a"]`, `["a","a",""]`}
	noStrs   = []string{`type "a"`, "type null", "type {}"}
	texts    = []string{`"a"`, `"1"`, `"é"`, `"٣"`, `"ok, reviewed: 2"`, `"\u2028a"`}
	noTexts  = append([]string{
		`minLength+pattern ""`, `pattern " "`, `pattern "--"`, `pattern "😀"`, `not "a\nb"`, `not "a\u0007"`, `not "a\u200b"`, `not "\u202ea"`, `not+pattern "\t"`,
	}, noText...)
)

var rows = []row{
	{schema.Manifest, "/aahp_version", []string{`"3.0"`, `"2.1"`, `"10.12"`, `"0.0"`}, append([]string{`pattern "3"`, `pattern "3.0.0"`, `pattern "v3.0"`, `pattern "3."`, `pattern "3.0\n"`, `pattern ""`, `pattern "٣.٠"`}, noText...)},
	{schema.Manifest, "/project", []string{`"x"`, `"[PROJECT]"`}, append([]string{`minLength ""`}, noText...)},
	{schema.Manifest, "/quick_context", []string{`""`, long(500)}, append([]string{"maxLength " + long(501)}, noText...)},
	{schema.Manifest, "/next_task_id", []string{"1", "1.0", "7", "1e999999999"}, []string{"minimum 0", "minimum -1", "minimum -0", "minimum 0e999999999", "type 1.5", "type 0.5", `type "1"`, "type null", "type true"}},
	{schema.Manifest, "/last_session", nil, noObject},
	{schema.Manifest, "/last_session/agent", anyText, noText},
	{schema.Manifest, "/last_session/timestamp", instants, noTime},
	{schema.Manifest, "/last_session/phase", []string{`"research"`, `"architecture"`, `"implementation"`, `"review"`, `"fix"`, `"idle"`, `"documentation"`}, append([]string{`enum ""`, `enum "Idle"`, `enum "done"`}, noText...)},
	{schema.Manifest, "/last_session/session_id", anyText, noText},
	{schema.Manifest, "/last_session/commit", []string{`""`, `"unset"`, `"abc1234"`, quote(hash)}, noText},
	{schema.Manifest, "/last_session/duration_minutes", counts, noCount},
	{schema.Manifest, "/last_session/mood", []string{"1", "null", `{"a":[]}`}, nil},
	{schema.Manifest, "/files", []string{"{}"}, noObject},
	{schema.Manifest, "/files/STATUS.md", nil, noObject},
	{schema.Manifest, "/files/STATUS.md/checksum", []string{quote("sha256:" + hash)}, append([]string{
		"pattern " + quote("sha256:"+strings.ToUpper(hash)), "pattern " + quote(hash), "pattern " + quote("sha256:"+hash[1:]), "pattern " + quote("sha256:"+hash+"0"), "pattern " + quote(" sha256:"+hash), "pattern " + quote("sha512:"+hash), `pattern ""`, `pattern "[sha256]"`,
	}, noText...)},
	{schema.Manifest, "/files/STATUS.md/updated", instants, noTime},
	{schema.Manifest, "/files/STATUS.md/lines", counts, noCount},
	{schema.Manifest, "/files/STATUS.md/summary", []string{`""`, long(200)}, append([]string{"maxLength " + long(201)}, noText...)},
	{schema.Manifest, "/files/STATUS.md/mood", []string{"1", "null"}, nil},
	{schema.Manifest, "/token_budget", []string{"{}", `{"mine":"x"}`}, noObject},
	{schema.Manifest, "/token_budget/manifest_only", counts, noCount},
	{schema.Manifest, "/token_budget/manifest_plus_core", counts, noCount},
	{schema.Manifest, "/token_budget/full_read", counts, noCount},
	{schema.Manifest, "/tasks", []string{"{}"}, noObject},
	{schema.Manifest, "/tasks/T-001", []string{`{"title":"","status":"ready"}`}, noObject},
	{schema.Manifest, "/tasks/T-001/title", []string{`""`, long(200), `"[title]"`}, append([]string{"maxLength " + long(201)}, noText...)},
	{schema.Manifest, "/tasks/T-001/status", []string{`"ready"`, `"in_progress"`, `"blocked"`, `"done"`, `"cancelled"`}, append([]string{`enum ""`, `enum "canceled"`, `enum "Done"`, `enum "[status]"`}, noText...)},
	{schema.Manifest, "/tasks/T-001/priority", []string{`"critical"`, `"high"`, `"medium"`, `"low"`}, append([]string{`enum "urgent"`, `enum ""`}, noText...)},
	{schema.Manifest, "/tasks/T-001/depends_on", []string{"[]", `["T-001","T-001"]`, `["T-0001","T-999999999999999999999999"]`}, noArray},
	{schema.Manifest, "/tasks/T-001/blocked_by", []string{`""`, long(200)}, append([]string{"maxLength " + long(201)}, noText...)},
	{schema.Manifest, "/tasks/T-001/assigned_to", anyText, noText},
	{schema.Manifest, "/tasks/T-001/created", instants, noTime},
	{schema.Manifest, "/tasks/T-001/completed", instants, noTime},
	{schema.Manifest, "/tasks/T-001/notes", []string{"1", "null", `[{}]`}, nil},
	{schema.Manifest, "/cross_repo_ref", nil, noObject},
	{schema.Manifest, "/cross_repo_ref/repo", []string{`"x"`, `"o/n"`}, append([]string{`minLength ""`}, noText...)},
	{schema.Manifest, "/cross_repo_ref/commit", anyText, noText},
	{schema.Manifest, "/cross_repo_ref/relation", []string{`"implements"`, `"extends"`, `"consumes"`}, append([]string{`enum "uses"`, `enum ""`}, noText...)},
	{schema.Manifest, "/cross_repo_ref/handoff_file", anyText, noText},

	{schema.Allowlist, "/version", []string{"1", "1.0", "10e-1"}, []string{"const 2", `const "1"`, "const true", "const 1.5", "const null", "const 1e999999999"}},
	{schema.Allowlist, "/entries", []string{"[]"}, noArray},
	{schema.Allowlist, "/entries/0", nil, noObject},
	{schema.Allowlist, "/entries/0/value", []string{`"a@b.io"`, `"A.b_c%d+e-f@g-h.i.museum"`}, append([]string{`pattern "*@corp.io"`, `pattern "@corp.io"`, `pattern "corp.io"`, `pattern "a@corp"`, `pattern "a@corp.i"`, `pattern " a@corp.io"`, `pattern "a@corp.io\n"`, `pattern "ä@corp.io"`, `pattern ""`}, noText...)},
	{schema.Allowlist, "/entries/0/kind", []string{`"email"`}, []string{`const "Email"`, `const "domain"`, "const 1", "const null"}},
	{schema.Allowlist, "/entries/0/reason", []string{`"x"`, `" é "`}, append([]string{`minLength+pattern ""`, `pattern " "`, `not "a\nb"`, `not "a\tb"`, `not "a\rb"`, `not+pattern "\n"`}, noText...)},
	{schema.Allowlist, "/entries/0/owner", []string{`"x"`}, append([]string{`minLength+pattern ""`, `pattern " "`, `not "a\n"`}, noText...)},
	{schema.Allowlist, "/entries/0/expires", []string{`"2026-12-31"`, `"9999-99-99"`}, append([]string{`pattern "2026-12-1"`, `pattern "20261231"`, `pattern "2026-12-31T00:00:00Z"`, `pattern "YYYY-MM-DD"`, `pattern "٢٠٢٦-12-31"`}, noText...)},

	{schema.Config, "/$schema", anyText, noText},
	{schema.Config, "/versionSites", []string{"[]"}, noArray},
	{schema.Config, "/versionSites/0", []string{`{"file":""}`}, noObject},
	{schema.Config, "/versionSites/0/file", anyText, noText},
	{schema.Config, "/versionSites/0/minOccurrences", []string{"1", "9"}, []string{"minimum 0", "type 1.5", `type "1"`, "type null"}},
	{schema.Config, "/versionSites/0/boundary", []string{"true", "false"}, noBool},
	{schema.Config, "/versionSites/0/note", anyText, noText},
	{schema.Config, "/claims", []string{"[]"}, noArray},
	{schema.Config, "/claims/0", nil, noObject},
	{schema.Config, "/claims/0/id", anyText, noText},
	{schema.Config, "/claims/0/canonical", anyText, noText},
	{schema.Config, "/claims/0/phrase", anyText, noText},
	{schema.Config, "/claims/0/advertised", []string{"-5", "0", "7", "1.0"}, []string{"type 1.5", `type "1"`, "type null", "type true"}},
	{schema.Config, "/claims/0/surfaces", []string{"[]"}, noArray},
	{schema.Config, "/claims/0/surfaces/0", []string{`{"file":""}`}, noObject},
	{schema.Config, "/claims/0/surfaces/0/file", anyText, noText},
	{schema.Config, "/claims/0/surfaces/0/note", anyText, noText},
	{schema.Config, "/claims/0/flags", anyText, noText},
	{schema.Config, "/claims/0/floorCmd", anyText, noText},
	{schema.Config, "/claims/0/joinTsConcat", []string{"true", "false"}, noBool},
	{schema.Config, "/generate", []string{"{}"}, noObject},
	{schema.Config, "/generate/log", []string{"{}"}, noObject},
	{schema.Config, "/generate/log/source", anyText, noText},
	{schema.Config, "/generate/log/target", anyText, noText},
	{schema.Config, "/generate/log/title", anyText, noText},
	{schema.Config, "/generate/freshness", []string{"{}"}, noObject},
	{schema.Config, "/generate/freshness/file", anyText, noText},
	{schema.Config, "/forbiddenPatterns", []string{"[]"}, noArray},
	{schema.Config, "/forbiddenPatterns/0", []string{`{"pattern":""}`}, noObject},
	{schema.Config, "/forbiddenPatterns/0/pattern", anyText, noText},
	{schema.Config, "/forbiddenPatterns/0/id", anyText, noText},
	{schema.Config, "/forbiddenPatterns/0/flags", anyText, noText},
	{schema.Config, "/forbiddenPatterns/0/message", anyText, noText},
	{schema.Config, "/forbiddenPatterns/0/include", strs, noStrs},
	{schema.Config, "/forbiddenPatterns/0/include/0", anyText, noText},
	{schema.Config, "/forbiddenPatterns/0/exclude", strs, noStrs},
	{schema.Config, "/docSync", []string{"[]"}, noArray},
	{schema.Config, "/docSync/0", []string{`{"sources":[]}`}, noObject},
	{schema.Config, "/docSync/0/sources", []string{"[]"}, noArray},
	{schema.Config, "/docSync/0/sources/0", nil, noObject},
	{schema.Config, "/docSync/0/sources/0/file", anyText, noText},
	{schema.Config, "/docSync/0/sources/0/pattern", anyText, noText},
	{schema.Config, "/docSync/0/id", anyText, noText},
	{schema.Config, "/docLinks", []string{"{}"}, noObject},
	{schema.Config, "/docLinks/include", strs, noStrs},
	{schema.Config, "/docPaths", []string{"{}"}, noObject},
	{schema.Config, "/docPaths/include", strs, noStrs},
	{schema.Config, "/docPaths/adopterPaths", []string{"[]"}, noArray},
	{schema.Config, "/docPaths/adopterPaths/0", nil, noObject},
	{schema.Config, "/docPaths/adopterPaths/0/path", []string{`"x"`}, append([]string{`minLength ""`}, noText...)},
	{schema.Config, "/docPaths/adopterPaths/0/occurrences", []string{"1", "9"}, []string{"minimum 0", "type 1.5", "type null"}},
	{schema.Config, "/docPaths/adopterPaths/0/reason", []string{`"x"`, `" "`}, append([]string{`minLength ""`}, noText...)},
	{schema.Config, "/docPaths/requiredHeadings", []string{"[]"}, noArray},
	{schema.Config, "/docPaths/requiredHeadings/0", nil, noObject},
	{schema.Config, "/docPaths/requiredHeadings/0/id", anyText, noText},
	{schema.Config, "/docPaths/requiredHeadings/0/file", anyText, noText},
	{schema.Config, "/docPaths/requiredHeadings/0/pattern", anyText, noText},
	{schema.Config, "/docPaths/requiredHeadings/0/before", anyText, noText},
	{schema.Config, "/docPaths/requiredHeadings/0/note", anyText, noText},
	{schema.Config, "/acceptanceCriteria", []string{"{}"}, noObject},
	{schema.Config, "/acceptanceCriteria/include", strs, noStrs},
	{schema.Config, "/acceptanceCriteria/manifest", anyText, noText},
	{schema.Config, "/handoffImpact", []string{`{"nonImpactingModifiedFiles":[]}`}, append([]string{"anyOf {}"}, noObject...)},
	{schema.Config, "/handoffImpact/nonImpactingModifiedFiles", []string{"[]"}, noArray},
	{schema.Config, "/handoffImpact/nonImpactingModifiedFiles/0", nil, noObject},
	{
		schema.Config, "/handoffImpact/nonImpactingModifiedFiles/0/file",
		[]string{`"a"`, `"docs/a.md"`, `"A_b@c+d - e/.f"`, `".ai/notes.md"`, `".ai/handoff2/x"`, `"x/.ai/handoff/y"`, `"sub/aahp.config.json"`, `"..."`, `"a..b/c"`},
		append([]string{
			`minLength+pattern ""`, `pattern "/a"`, `pattern "a/"`, `pattern "a//b"`, `pattern "a\\b"`, `pattern "C:/a"`, `pattern "*.md"`, `pattern "a\n"`, `pattern "é.md"`, `pattern "a'b"`,
			`not "aahp.config.json"`, `not ".ai/handoff"`, `not ".ai/handoff/STATUS.md"`, `not "."`, `not ".."`, `not "./a"`, `not "a/../b"`, `not "a/.."`, `not+not ".ai/handoff/../x"`, `not+pattern "../"`,
		}, noText...),
	},
	{schema.Config, "/handoffImpact/nonImpactingModifiedFiles/0/reason", texts, noTexts},
	{schema.Config, "/handoffImpact/npmDevDependencyUpdates", nil, noObject},
	{schema.Config, "/handoffImpact/npmDevDependencyUpdates/reason", texts, noTexts},
	{schema.Config, "/handoffImpact/npmDevDependencyUpdates/supplyChainScan", nil, noObject},
	{
		schema.Config, "/handoffImpact/npmDevDependencyUpdates/supplyChainScan/workflow",
		[]string{`".github/workflows/ci.yml"`, `".github/workflows/a-b_c.D.yaml"`, `".github/workflows/-.yml"`},
		append([]string{
			`pattern "ci.yml"`, `pattern ".github/workflows/.yml"`, `pattern ".github/workflows/.ci.yml"`, `pattern ".github/workflows/sub/ci.yml"`, `pattern ".github/workflows/ci.json"`, `pattern "./.github/workflows/ci.yml"`,
			`pattern ".github/workflows/ci.yml "`, `pattern "xgithub/workflows/ci.yml"`, `pattern ".github/workflows/ci.yml\n"`, `pattern ""`,
		}, noText...),
	},
	{
		schema.Config, "/handoffImpact/npmDevDependencyUpdates/supplyChainScan/job",
		[]string{`"a"`, `"_"`, `"A-b_9"`, quote(strings.Repeat("a", 100))},
		append([]string{`pattern ""`, `pattern "9a"`, `pattern "-a"`, `pattern "a b"`, `pattern "a.b"`, "pattern " + quote(strings.Repeat("a", 101))}, noText...),
	},
	{schema.Config, "/check", []string{"{}"}, noObject},
	{schema.Config, "/check/only", strs, noStrs},
	{schema.Config, "/check/skip", strs, noStrs},
	{schema.Config, "/pinnedDep", []string{"{}"}, noObject},
	{schema.Config, "/pinnedDep/name", anyText, noText},
	{schema.Config, "/pinnedDep/location", []string{`"devDependencies"`, `"dependencies"`, `"any"`}, []string{`enum "peerDependencies"`, `enum ""`, "enum 1", "enum null"}},
	{schema.Config, "/pinnedDep/allowRange", []string{"true", "false"}, noBool},
	{schema.Config, "/trustTtl", []string{"{}"}, noObject},
	{schema.Config, "/trustTtl/enforce", []string{"true", "false"}, noBool},
	{schema.Config, "/trustTtl/graceDays", []string{"0", "365", "14.0", "3.65e2"}, []string{"minimum -1", "maximum 366", "maximum 1e999999999", "type 365.00000000000000000000001", "type 14.5", `type "14"`, "type true", "type null"}},
	{schema.Config, "/trustTtl/checks", []string{"[]"}, noArray},
	{schema.Config, "/trustTtl/checks/0", nil, noObject},
	{
		schema.Config, "/trustTtl/checks/0/id",
		[]string{`"a"`, `"9"`, `"a-b-9"`, `"license-matches2"`, quote(strings.Repeat("a", 64))},
		append([]string{`pattern ""`, `pattern "-a"`, `pattern "A"`, `pattern "a_b"`, `pattern "a\n"`, "pattern " + quote(strings.Repeat("a", 65)), `not "license-matches"`, `not "manifest-integrity"`}, noText...),
	},
	{schema.Config, "/trustTtl/checks/0/run", []string{"[]", `["a"]`, `["a","a"]`}, noArray},
	{schema.Config, "/trustTtl/checks/0/run/0", []string{`"a"`, `" "`, `"a\u200b"`}, append([]string{`minLength ""`, `not "a\n"`, `not "\u007f"`, `not "\u009b"`}, noText...)},
	{schema.Config, "/trustTtl/checks/0/reason", texts, noTexts},
	{schema.Config, "/verifyWorkflow", []string{"{}"}, noObject},
	{schema.Config, "/verifyWorkflow/enforce", []string{"true", "false"}, noBool},
}

func TestFields(t *testing.T) {
	for _, r := range rows {
		t.Run(string(r.kind)+r.place, func(t *testing.T) {
			for _, raw := range r.fits {
				if got := broken(t, r.kind, change(t, sound[r.kind], r.place, raw)); got != nil {
					t.Errorf("%.80s is refused: %q", raw, got)
				}
			}
			for _, n := range r.not {
				keywords, raw, _ := strings.Cut(n, " ")
				var want []string
				for _, keyword := range strings.Split(keywords, "+") {
					want = append(want, keyword+" "+r.place)
				}
				got := broken(t, r.kind, change(t, sound[r.kind], r.place, raw))
				if !slices.Equal(got, want) {
					t.Errorf("%.80s breaks %q, want %q", raw, got, want)
				}
			}
		})
	}
}

// Every member that the schemas name has a row above: a new field comes with its
// vectors.
func TestEveryFieldHasARow(t *testing.T) {
	covered := map[string]bool{}
	for _, r := range rows {
		covered[string(r.kind)+r.place] = true
	}
	var walk func(k schema.Kind, place string, v *jsondoc.Value)
	walk = func(k schema.Kind, place string, v *jsondoc.Value) {
		if place != "" && !covered[string(k)+place] && !strings.HasSuffix(place, "/0") && !strings.HasSuffix(place, "/1") {
			t.Errorf("%s%s has no row", k, place)
		}
		for _, m := range v.Members {
			walk(k, place+"/"+m.Key, m.Value)
		}
		for i, item := range v.Items {
			walk(k, fmt.Sprintf("%s/%d", place, i), item)
		}
	}
	for k, src := range sound {
		doc, err := jsondoc.Parse([]byte(src), jsondoc.Options{})
		if err != nil {
			t.Fatal(err)
		}
		walk(k, "", doc.Root)
	}
	for k, pointers := range map[schema.Kind][]string{
		schema.Manifest: {"", "/$defs/session", "/$defs/file", "/properties/token_budget", "/$defs/task", "/properties/cross_repo_ref"},
		schema.Config:   {""},
	} {
		for _, p := range pointers {
			for _, key := range schema.Get(k).Keys(p) {
				if !strings.Contains(sound[k], `"`+key+`"`) {
					t.Errorf("%s: the sound document lacks %q", k, key)
				}
			}
		}
	}
}

func TestRequired(t *testing.T) {
	for _, tt := range []struct {
		kind     schema.Kind
		object   string
		required string
		optional string
	}{
		{schema.Manifest, "", "aahp_version project last_session files quick_context", "token_budget next_task_id tasks cross_repo_ref"},
		{schema.Manifest, "/last_session", "agent timestamp phase", "session_id commit duration_minutes"},
		{schema.Manifest, "/files/STATUS.md", "checksum updated lines summary", ""},
		{schema.Manifest, "/token_budget", "", "manifest_only manifest_plus_core full_read"},
		{schema.Manifest, "/tasks/T-001", "title status", "priority depends_on blocked_by assigned_to created completed"},
		{schema.Manifest, "/cross_repo_ref", "repo commit relation", "handoff_file"},
		{schema.Allowlist, "", "version entries", ""},
		{schema.Allowlist, "/entries/0", "value kind reason owner expires", ""},
		{schema.Config, "", "", "$schema versionSites claims generate forbiddenPatterns docSync docLinks docPaths acceptanceCriteria handoffImpact check pinnedDep trustTtl verifyWorkflow"},
		{schema.Config, "/versionSites/0", "file", "minOccurrences boundary note"},
		{schema.Config, "/claims/0", "id canonical phrase advertised surfaces", "flags floorCmd joinTsConcat"},
		{schema.Config, "/claims/0/surfaces/0", "file", "note"},
		{schema.Config, "/generate", "", "log freshness"},
		{schema.Config, "/generate/log", "", "source target title"},
		{schema.Config, "/generate/freshness", "", "file"},
		{schema.Config, "/forbiddenPatterns/0", "pattern", "id flags message include exclude"},
		{schema.Config, "/docSync/0", "sources", "id"},
		{schema.Config, "/docSync/0/sources/0", "file pattern", ""},
		{schema.Config, "/docLinks", "", "include"},
		{schema.Config, "/docPaths", "", "include adopterPaths requiredHeadings"},
		{schema.Config, "/docPaths/adopterPaths/0", "path occurrences reason", ""},
		{schema.Config, "/docPaths/requiredHeadings/0", "id file pattern", "before note"},
		{schema.Config, "/acceptanceCriteria", "", "include manifest"},
		{schema.Config, "/handoffImpact", "", "nonImpactingModifiedFiles npmDevDependencyUpdates"},
		{schema.Config, "/handoffImpact/nonImpactingModifiedFiles/0", "file reason", ""},
		{schema.Config, "/handoffImpact/npmDevDependencyUpdates", "reason supplyChainScan", ""},
		{schema.Config, "/handoffImpact/npmDevDependencyUpdates/supplyChainScan", "workflow job", ""},
		{schema.Config, "/check", "", "only skip"},
		{schema.Config, "/pinnedDep", "", "name location allowRange"},
		{schema.Config, "/trustTtl", "", "enforce graceDays checks"},
		{schema.Config, "/trustTtl/checks/0", "id run reason", ""},
		{schema.Config, "/verifyWorkflow", "", "enforce"},
	} {
		pointer := tt.object
		if pointer == "" {
			pointer = "(root)"
		}
		for _, key := range strings.Fields(tt.required) {
			got := broken(t, tt.kind, change(t, sound[tt.kind], tt.object+"/"+key, gone))
			if want := []string{"required " + pointer + " " + key}; !slices.Equal(got, want) {
				t.Errorf("%s without %s/%s breaks %q, want %q", tt.kind, tt.object, key, got, want)
			}
		}
		for _, key := range strings.Fields(tt.optional) {
			if got := broken(t, tt.kind, change(t, sound[tt.kind], tt.object+"/"+key, gone)); got != nil {
				t.Errorf("%s without %s/%s breaks %q", tt.kind, tt.object, key, got)
			}
		}
	}
}

func TestUnknownKeys(t *testing.T) {
	for _, tt := range []struct {
		kind   schema.Kind
		object string
		open   bool
	}{
		{schema.Manifest, "", false},
		{schema.Manifest, "/last_session", true},
		{schema.Manifest, "/files", false},
		{schema.Manifest, "/files/STATUS.md", true},
		{schema.Manifest, "/token_budget", true},
		{schema.Manifest, "/tasks", false},
		{schema.Manifest, "/tasks/T-001", true},
		{schema.Manifest, "/cross_repo_ref", false},
		{schema.Allowlist, "", false},
		{schema.Allowlist, "/entries/0", false},
		{schema.Config, "", false},
		{schema.Config, "/versionSites/0", false},
		{schema.Config, "/claims/0", false},
		{schema.Config, "/claims/0/surfaces/0", false},
		{schema.Config, "/generate", false},
		{schema.Config, "/generate/log", false},
		{schema.Config, "/generate/freshness", false},
		{schema.Config, "/forbiddenPatterns/0", false},
		{schema.Config, "/docSync/0", false},
		{schema.Config, "/docSync/0/sources/0", false},
		{schema.Config, "/docLinks", false},
		{schema.Config, "/docPaths", false},
		{schema.Config, "/docPaths/adopterPaths/0", false},
		{schema.Config, "/docPaths/requiredHeadings/0", false},
		{schema.Config, "/acceptanceCriteria", false},
		{schema.Config, "/handoffImpact", false},
		{schema.Config, "/handoffImpact/nonImpactingModifiedFiles/0", false},
		{schema.Config, "/handoffImpact/npmDevDependencyUpdates", false},
		{schema.Config, "/handoffImpact/npmDevDependencyUpdates/supplyChainScan", false},
		{schema.Config, "/check", false},
		{schema.Config, "/pinnedDep", false},
		{schema.Config, "/trustTtl", false},
		{schema.Config, "/trustTtl/checks/0", false},
		{schema.Config, "/verifyWorkflow", false},
	} {
		place := tt.object + "/zzzzz"
		got := broken(t, tt.kind, change(t, sound[tt.kind], place, "1"))
		var want []string
		if !tt.open {
			want = []string{"additionalProperties " + place}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s%s breaks %q, want %q", tt.kind, place, got, want)
		}
	}
	if got := broken(t, schema.Manifest, change(t, soundManifest, "/$schema", `"x"`)); len(got) != 1 {
		t.Errorf("$schema is not among the root keys of a manifest: %q", got)
	}
}

func TestNames(t *testing.T) {
	entry := `{"checksum":"sha256:` + hash + `","updated":"2026-01-01T00:00:00Z","lines":0,"summary":""}`
	for name, ok := range map[string]bool{
		"STATUS.md": true, "a.md": true, "sub/x.md": true, "../x.md": true, "é.md": true, "pii-allowlist.json": true, "LOG-ARCHIVE.index.json": true,
		".md": false, "STATUS.MD": false, "a.md ": false, "MANIFEST.json": false, "xpii-allowlist.json": false, "pii-allowlist.json.md": true, "LOG-ARCHIVExindex.json": false, "a.txt": false, "": false,
	} {
		b, _ := json.Marshal(map[string]json.RawMessage{name: json.RawMessage(entry)})
		if got := broken(t, schema.Manifest, change(t, soundManifest, "/files", string(b))); (got == nil) != ok {
			t.Errorf("the file name %q: %q", name, got)
		}
	}
	for id, ok := range map[string]bool{
		"T-001": true, "T-0001": true, "T-000": true, "T-12345678901234567890": true,
		"T-01": false, "T-": false, "t-001": false, "T001": false, "T-001 ": false, "T-00a": false, "xT-001": false, "T-٠٠١": false, "": false,
	} {
		b, _ := json.Marshal(map[string]json.RawMessage{id: json.RawMessage(`{"title":"","status":"ready"}`)})
		if got := broken(t, schema.Manifest, change(t, soundManifest, "/tasks", string(b))); (got == nil) != ok {
			t.Errorf("the task id %q: %q", id, got)
		}
		got := broken(t, schema.Manifest, change(t, soundManifest, "/tasks/T-001/depends_on", "["+quote(id)+"]"))
		if (got == nil) != ok {
			t.Errorf("the dependency %q: %q", id, got)
		}
	}
}

func TestRoots(t *testing.T) {
	for k := range sound {
		for _, root := range []string{"[]", "1", `"x"`, "null", "true"} {
			if got := broken(t, k, root); !slices.Equal(got, []string{"type (root)"}) {
				t.Errorf("%s %s: %q", k, root, got)
			}
		}
	}
	if got := broken(t, schema.Config, "{}"); got != nil {
		t.Errorf("an empty configuration: %q", got)
	}
}

// Places and sentences, as people see them.
func TestSentences(t *testing.T) {
	src := `{
  "doclinks": {},
  "chekc": {},
  "trustTtl": {
    "graceDays": 1000,
    "checks": [
      {"id": "x", "run": ["a\u0007b"], "reason": ""},
      {"id": "manifest-integrity", "reson": "é"}
    ]
  },
  "handoffImpact": {},
  "verifyWorkflow": {"enforce": "true"}
}`
	want := []string{
		`2:3-13 (root) has the unknown key "doclinks"; did you mean "docLinks"?`,
		`3:3-10 (root) has the unknown key "chekc".`,
		`5:18-22 /trustTtl/graceDays is the number 1000, but must be 365 or less.`,
		`7:27-37 /trustTtl/checks/0/run/0 is "ab", but must be a text that is not empty and holds no control characters.`,
		`7:50-52 /trustTtl/checks/0/reason is an empty text, but must not be empty.`,
		`7:50-52 /trustTtl/checks/0/reason is an empty text, but ` + reason + `.`,
		`8:7-8 /trustTtl/checks/1 lacks the required key "reason".`,
		`8:7-8 /trustTtl/checks/1 lacks the required key "run".`,
		`8:14-34 /trustTtl/checks/1/id is "manifest-integrity", but must not be license-matches or manifest-integrity, which are built in.`,
		`8:36-43 /trustTtl/checks/1 has the unknown key "reson"; did you mean "reason"?`,
		`11:20-21 /handoffImpact is an object that lacks what is required: it must be an object with nonImpactingModifiedFiles, npmDevDependencyUpdates or both.`,
		`12:33-39 /verifyWorkflow/enforce is "true", but must be true or false.`,
	}
	doc, err := jsondoc.Parse([]byte(src), jsondoc.Options{MaxDepth: gate.MaxDepth})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 { // the validator walks maps: the order must not be theirs
		var got []string
		for _, v := range Validate(schema.Config, doc, Options{}) {
			got = append(got, fmt.Sprintf("%d:%d-%d %s", v.Span.Line, v.Span.Column, v.Span.EndColumn, v.Message))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestViolationSaysWhatIsAllowed(t *testing.T) {
	find := func(src, keyword string) Violation {
		t.Helper()
		doc, err := jsondoc.Parse([]byte(src), jsondoc.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range Validate(schema.Manifest, doc, Options{}) {
			if v.Keyword == keyword {
				return v
			}
		}
		t.Fatalf("no violation of %s in %s", keyword, src)
		return Violation{}
	}
	v := find(change(t, soundManifest, "/tasks/T-001/created", `"soon"`), "format")
	if v.Allowed != "must be a date and time with a time zone" || v.Example != `"2026-01-31T09:30:00Z"` || v.Value.Text != "soon" || strings.Join(v.Path, " ") != "tasks T-001 created" {
		t.Errorf("%+v", v)
	}
	v = find(change(t, soundManifest, "/tasks/T-001/status", gone), "required")
	if v.Key != "status" || !strings.Contains(v.Allowed, "in_progress") || v.Example != `"ready"` {
		t.Errorf("%+v", v)
	}
	v = find(change(t, soundManifest, "/files/notes.txt", `{}`), "additionalProperties")
	if v.Key != "notes.txt" || v.Suggestion != "" || !strings.Contains(v.Message, "must end in .md") || v.Example != `"STATUS.md"` {
		t.Errorf("%+v", v)
	}
	v = find(change(t, soundManifest, "/files/a~1b.t~0xt", `{}`), "additionalProperties")
	if v.Pointer != "/files/a~1b.t~0xt" {
		t.Errorf("pointer %q", v.Pointer)
	}
}

// What comes from the document is cleaned, cut and masked wherever it is shown.
func TestOutsideTextInSentences(t *testing.T) {
	secret := "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	doc, err := jsondoc.Parse([]byte(`{"`+secret+`\u001b[31m": 1, "project": "", "aahp_version": "`+secret+`\n::error::", "quick_context": 7, "tasks": {"`+secret+`": {}, "T-001": {"status": "`+strings.Repeat("x", 1000)+`"}}}`), jsondoc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mask := func(s string) string { return strings.ReplaceAll(s, secret, "***") }
	for _, v := range Validate(schema.Manifest, doc, Options{Mask: mask}) {
		for _, text := range []string{v.Message, v.Pointer} {
			if strings.Contains(text, "ghp_") || strings.ContainsAny(text, "\x1b\n") || len(text) > 600 {
				t.Errorf("%q is not fit to print", text)
			}
		}
	}
	if !slices.ContainsFunc(Validate(schema.Manifest, doc, Options{Mask: mask}), func(v Violation) bool { return v.Key == secret+"\x1b[31m" }) {
		t.Error("the key itself stays as it is, for who looks it up")
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]any{
		"0": int64(0), "-0": int64(0), "0.000e5": int64(0), "0e999999999999999999999": int64(0),
		"1": int64(1), "-1": int64(-1), "1.0": int64(1), "10e-1": int64(1), "0.1e1": int64(1), "1200e-2": int64(12), "1.50e1": int64(15),
		"365": int64(365), "1e17": int64(1e17), "999999999999999999": int64(999999999999999999),
		"1e18": int64(1e18), "-1e400": int64(-1e18), "1e99999999999999999999": int64(1e18),
		"0.5": 0.5, "0.1": 0.5, "-0.001": -0.5, "1e-400": 0.5, "1e-99999999999999999999": 0.5, "0.99999999999999999999999": 0.5,
		"1.5": 1.5, "365.01": 365.5, "-2.25": -2.5, "123e-1": 12.5, "12345678901234567.5": 1e15 + 0.5,
	} {
		if got := stand(text); got != want {
			t.Errorf("stand(%s) = %v (%T), want %v (%T)", text, got, got, want, want)
		}
	}
	huge := strings.Repeat("9", 1<<20)
	if stand(huge) != int64(1e18) || stand("0."+huge) != 0.5 || stand("1e"+huge) != int64(1e18) || stand("1e-"+huge) != 0.5 {
		t.Error("numbers of a million digits")
	}
}

func TestCompareWhole(t *testing.T) {
	for _, tt := range []struct {
		number, decimal string
		want            int
	}{
		{"7", "7", 0},
		{"7", "007", 0},
		{"7.0", "7", 0},
		{"70e-1", "7", 0},
		{"7e2", "700", 0},
		{"7e2", "701", -1},
		{"7e2", "699", 1},
		{"0", "", 0},
		{"0", "000", 0},
		{"1", "0", 1},
		{"9", "10", -1},
		{"100", "99", 1},
		{"120", "12", 1},
		{"12", "120", -1},
		{"12345678901234567890123", "12345678901234567890124", -1},
		{"1e999999999", strings.Repeat("9", 1000), 1},
		{"1.5e1", "15", 0},
	} {
		if got := CompareWhole(tt.number, tt.decimal); got != tt.want {
			t.Errorf("CompareWhole(%s, %.20s) = %d, want %d", tt.number, tt.decimal, got, tt.want)
		}
	}
}

// What nests deeper than any schema looks is passed over, not walked.
func TestDeepDocument(t *testing.T) {
	const n = 200_000
	deep := strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n)
	src := strings.Replace(soundManifest, `"title": "t"`, `"title": "t", "notes": `+deep, 1)
	doc, err := jsondoc.Parse([]byte(src), jsondoc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := Validate(schema.Manifest, doc, Options{}); got != nil {
		t.Errorf("%+v", got)
	}
}

func parse(t testing.TB, src string) *jsondoc.Document {
	t.Helper()
	doc, err := jsondoc.Parse([]byte(src), jsondoc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// All violations of a document on one line, in its order.
func TestManyViolations(t *testing.T) {
	const n = MaxViolations / 2
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"T-%06d":{"title":"","status":"x"},"u%d":0,`, i, i)
	}
	src := strings.Replace(strings.ReplaceAll(soundManifest, "\n", " "), `"T-001":`, b.String()+`"T-001":`, 1)
	got := Validate(schema.Manifest, parse(t, src), Options{})
	if len(got) != 2*n {
		t.Fatalf("%d violations, want %d", len(got), 2*n)
	}
	for i, v := range got {
		if want := []string{"enum", "additionalProperties"}[i%2]; v.Keyword != want {
			t.Fatalf("violation %d is of %s at column %d: not in the order of the document", i, v.Keyword, v.Span.Column)
		}
	}
}

// The largest manifest and configuration, with as much broken as fits.
func TestEnoughIsEnough(t *testing.T) {
	fill := func(piece string, size int) string {
		return strings.TrimSuffix(strings.Repeat(piece, size/len(piece)), ",")
	}
	var names strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&names, `"k%d":0,`, i)
	}
	unknown := strings.TrimSuffix(names.String(), ",")
	for name, tt := range map[string]struct {
		kind schema.Kind
		src  string
	}{
		"dependencies":       {schema.Manifest, `{"tasks":{"T-001":{"title":"t","status":"ready","depends_on":[` + fill("0,", 4<<20) + `]}}}`},
		"tasks":              {schema.Manifest, `{"tasks":{` + strings.ReplaceAll(unknown, `"k`, `"T-0000`) + `}}`},
		"names of files":     {schema.Manifest, `{"files":{` + unknown + `}}`},
		"root keys":          {schema.Manifest, `{` + unknown + `}`},
		"version sites":      {schema.Config, `{"versionSites":[` + fill("0,", 1<<20) + `]}`},
		"sources of claims":  {schema.Config, `{"claims":[{"surfaces":[` + fill("{},", 1<<20) + `]}]}`},
		"keys of an object":  {schema.Config, `{"check":{` + unknown + `}}`},
		"empty array items":  {schema.Config, `{"check":{"only":[` + fill("[],", 1<<20) + `]}}`},
		"an array as a root": {schema.Config, `[` + fill("0,", 1<<20) + `]`},
	} {
		got := Validate(tt.kind, parse(t, tt.src), Options{})
		if name == "an array as a root" {
			if len(got) != 1 {
				t.Errorf("%s: %d violations, want 1", name, len(got))
			}
			continue
		}
		if len(got) <= MaxViolations || len(got) > MaxViolations+2*pieceSize {
			t.Errorf("%s: %d violations, want some more than %d", name, len(got), MaxViolations)
		}
	}
}

func TestStandInsAreSound(t *testing.T) {
	for k := range sound {
		var walk func(s *jsonschema.Schema)
		walk = func(s *jsonschema.Schema) {
			s = refer(s)
			if err := s.Validate(standIn(s)); err != nil {
				t.Errorf("%s: %v", s.Location, err)
			}
			for _, part := range s.Properties {
				walk(part)
			}
			for _, part := range s.PatternProperties {
				walk(part)
			}
			if s.Items2020 != nil {
				walk(s.Items2020)
			}
		}
		walk(schema.Get(k).Root)
	}
}

// A document must be judged alike in one piece and in pieces of any size.
func TestPiecesAgreeWithTheWhole(t *testing.T) {
	compare := func(k schema.Kind, src string) {
		t.Helper()
		doc := parse(t, src)
		whole := validate(k, doc, Options{}, len(src))
		for _, size := range []int{0, 1, 20, 60, 300} {
			if pieces := validate(k, doc, Options{}, size); !reflect.DeepEqual(whole, pieces) {
				t.Errorf("%s %.3000s\nwhole %+v\nin pieces of %d %+v", k, src, whole, size, pieces)
			}
		}
	}
	for k, src := range sound {
		compare(k, src)
		compare(k, change(t, src, "/zzzzz", `{"a":[1]}`))
	}
	for _, r := range rows {
		for _, n := range r.not {
			_, raw, _ := strings.Cut(n, " ")
			compare(r.kind, change(t, sound[r.kind], r.place, raw))
		}
		if r.not != nil && !strings.HasSuffix(r.place, "/0") {
			compare(r.kind, change(t, sound[r.kind], r.place, gone))
		}
	}
	compare(schema.Manifest, change(t, soundManifest, "/tasks/T-001/depends_on", `["T-1","T-001",[],{},"T-002","x","y",["z"],"T-003",0]`))
	compare(schema.Config, change(t, soundConfig, "/check/only", `[{"a":["b"]},"c",1,"d",[[[]]],2]`))
}

func FuzzValidate(f *testing.F) {
	for _, src := range sound {
		f.Add(src)
	}
	f.Add(`{"tasks":{"T-1":[],"T-001":{"depends_on":[1,"x"]}},"x":1e400}`)
	f.Fuzz(func(t *testing.T, src string) {
		doc, err := jsondoc.Parse([]byte(src), jsondoc.Options{MaxDepth: gate.MaxDepth})
		if err != nil {
			return
		}
		for k := range sound {
			whole := Validate(k, doc, Options{})
			if pieces := validate(k, doc, Options{}, 16); len(whole) <= MaxViolations && !reflect.DeepEqual(whole, pieces) {
				t.Errorf("%s: in one piece %+v, in many %+v", k, whole, pieces)
			}
			for _, v := range whole {
				if v.Span.Line < 1 || v.Message == "" || v.Keyword == "" || v.Value == nil {
					t.Errorf("%s: %+v", k, v)
				}
			}
		}
	})
}
