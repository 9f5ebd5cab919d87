package cli_test

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What stands in the files under review and in nothing that a run writes. The
// parts are put together here so that no scanner of secrets takes this file for a
// leak.
const (
	leakedKey  = "A1s2D3f4G5h6Zq8Lm3Xc7Vb2"
	leakedName = "malloryAtHome"
)

// A credential and an address are in every text that some layer quotes: a row of
// the register, what a declared check prints, reasons of the policy, names of
// changed files, keys and values of the manifest. Neither is in the log, the
// outputs, the job summary, the report or what is sent to GitHub.
func TestActionPrintsNoCredentialAndNoAddress(t *testing.T) {
	t.Parallel()
	key, address := "ghp_"+leakedKey, leakedName+"@corp.io"
	s := emptySite(t)
	s.write("app.go", "package app\n")
	s.write("docs/a.md", "a\n")
	config := fmt.Sprintf(`{"handoffImpact": {"nonImpactingModifiedFiles": [{"file": "docs/a.md", "reason": "By %s with %s"}]},
 "trustTtl": {"enforce": true, "checks": [{"id": "runs", "reason": "By %[1]s", "run": ["sh", "-c", "echo %[2]s of %[1]s; exit 3"]}]}}`, address, key)
	s.write("aahp.config.json", config)
	s.handoff(".", "Begun.")
	s.A = s.src.Commit("A")
	s.B = s.A
	s.write("docs/a.md", "b\n")
	s.write("src/"+key+".go", "package src\n")
	s.write("src/"+address, "x\n")
	s.write("aahp.config.json", strings.Replace(config, `{"hand`, `{"`+key+`": 1, "pinnedDep": {"location": "`+address+`"}, "hand`, 1))
	s.write(".ai/handoff/TRUST.md", fmt.Sprintf("# Trust\n\n| Property | Status | Expires | Check |\n|---|---|---|---|\n"+
		"| %s | verified | | runs |\n| %s | verified | %[1]s | - |\n| Built | verified | | %[2]s |\n", key, address))
	s.handoff(".", "Begun.") // STATUS.md stays, so that drift lists what changed
	s.write(".ai/handoff/state.json", fmt.Sprintf(`{"%s": "jailbreak", "%s": ["sudo mode"], "%[1]s": 1}`, key, address))
	s.C = s.src.Commit("C")
	s.propose()
	s.at(s.M).input("schema", "true")
	o := s.pullRun()
	for _, rule := range []string{
		"lint/secret", "lint/pii", "lint/injection", "drift/reviewed-non-impacting",
		"drift/handoff-not-updated", "trust/check-failed", "trust/check-id-invalid", "trust/undated", "schema/config", "schema/duplicate-key",
	} {
		if !strings.Contains(strings.Join(o.rules(), " "), rule) {
			t.Errorf("%s did not fire; these did: %v", rule, o.rules())
		}
	}
	written, err := os.ReadFile(filepath.Join(s.workspace, filepath.FromSlash(o.outputs["report-path"])))
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]string{"log": o.log, "summary": o.summary, "outputs": s.read("output"), "report": string(written)}
	for i, r := range s.api.Requests() {
		places[fmt.Sprintf("request %d, %s %s", i, r.Method, r.Path)] = string(r.Body)
	}
	for place, text := range places {
		text = html.UnescapeString(text)
		for _, secret := range []string{leakedKey, leakedName} {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("the %s holds %q: …%s…", place, secret, text[max(0, i-120):min(len(text), i+60)])
			}
		}
	}
	if !strings.Contains(html.UnescapeString(o.summary), "(github-pat): ghp_***") || len(places) < 6 {
		t.Errorf("the summary does not tell of the key, or %d places are few", len(places))
	}
}

// A summary spells punctuation as entities, so the token is hidden before there is one:
// in a message, in the name of a file, in what a layer says of itself. runPull looks for
// it in everything that is written.
func TestActionHidesTheTokenBeforeItIsEscaped(t *testing.T) {
	t.Parallel()
	s := emptySite(t)
	s.write("app.go", "package app\n")
	s.handoff(".", "Begun.")
	s.A = s.src.Commit("A")
	s.B = s.A
	s.write("src/"+siteToken+".go", "package src\n")
	s.C = s.src.Commit("C")
	s.propose()
	s.at(s.M)
	if o := s.pullRun(); !strings.Contains(html.UnescapeString(o.summary), "src/***.go") {
		t.Errorf("the summary does not name the file:\n%s", o.summary)
	}
	if o := s.input("base", siteToken).pullRun(); !strings.Contains(html.UnescapeString(o.summary), `is "***"`) {
		t.Errorf("the summary does not tell of the base:\n%s", o.summary)
	}
}
