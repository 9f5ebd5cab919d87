package cli_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/catalog"
	"github.com/handoff-gate/handoff-gate/gate/render"
)

var update = flag.Bool("update", false, "write docs/rules.md anew")

// Every rule has a script in which it fires, with its severity, and one in which
// it is silent. docs/rules.md promises the first, people rely on the second.
func TestEveryRuleFiresAndIsSilentInAScript(t *testing.T) {
	shown := readScripts(t)
	for _, r := range catalog.Rules() {
		fires, silent := shown.fires(r.ID), shown.silent(r.ID)
		if !fires {
			t.Errorf("%s fires in no script: expect \"SEVERITY %s PATH\" on standard output", r.ID, r.ID)
		}
		if !silent {
			t.Errorf("%s is silent in no script: expect \"! stdout %s\" of a run that is fine", r.ID, r.ID)
		}
	}
}

// expectations are the lines of all scripts that say which rules fire where.
type expectations struct {
	firing  []string         // lines that announce findings
	silence []*regexp.Regexp // patterns of "! stdout"
	exact   []string         // scripts that list all findings of content rules
}

var (
	positive = regexp.MustCompile(`(?m)^(?:\[[^]]*\] )?stdout .*$|^announce .*$|«[^»\n]+»`)
	negative = regexp.MustCompile(`(?m)^(?:\[[^]]*\] )?! stdout (.*)$`)
	exactly  = regexp.MustCompile(`(?m)^finds `)
)

func readScripts(t *testing.T) expectations {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(scripts, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in %s: %v", scripts, err)
	}
	var e expectations
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		e.firing = append(e.firing, positive.FindAllString(text, -1)...)
		for _, m := range negative.FindAllStringSubmatch(text, -1) {
			pattern := strings.ReplaceAll(strings.Trim(m[1], "'"), "''", "'")
			if !strings.Contains(pattern, "/") {
				continue // not about a rule
			}
			re, err := regexp.Compile(pattern)
			if err != nil {
				t.Fatalf("%s: %v", f, err)
			}
			e.silence = append(e.silence, re)
		}
		if exactly.MatchString(text) {
			e.exact = append(e.exact, text)
		}
	}
	return e
}

func (e expectations) fires(id string) bool {
	named := regexp.MustCompile(`(?:(?:error|warning|notice) |«)` + regexp.QuoteMeta(id) + `(?:[ :'»]|$)`)
	for _, line := range e.firing {
		if named.MatchString(line) {
			return true
		}
	}
	return false
}

func (e expectations) silent(id string) bool {
	for _, re := range e.silence {
		if re.MatchString(" " + id + " ") {
			return true
		}
	}
	group, _, _ := strings.Cut(id, "/")
	if group != "lint" && group != "schema" && group != "tasks" {
		return false // finds looks at no other
	}
	for _, script := range e.exact {
		if !strings.Contains(script, id) {
			return true
		}
	}
	return false
}

// docs/rules.md is what `rules --format markdown` prints.
func TestRulesPageIsCurrent(t *testing.T) {
	page := filepath.Join("..", "..", "docs", "rules.md")
	var want bytes.Buffer
	if err := render.RulesMarkdown(&want, catalog.Rules()); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(page, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("docs/rules.md is not what the rule table says; write it anew with\n\tgo test ./gate/cli -run TestRulesPage -update")
	}
}
