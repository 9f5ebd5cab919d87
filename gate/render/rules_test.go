package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

func TestRulesGolden(t *testing.T) {
	for name, f := range map[string]func(*bytes.Buffer) error{
		"rules.txt":   func(b *bytes.Buffer) error { return RulesText(b, sampleRules) },
		"rules.json":  func(b *bytes.Buffer) error { return RulesJSON(b, sampleRules) },
		"rules.md":    func(b *bytes.Buffer) error { return RulesMarkdown(b, sampleRules) },
		"explain.txt": func(b *bytes.Buffer) error { return Explain(b, sampleRules[0]) },
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := f(&b); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.Bytes())
			for line := range strings.Lines(b.String()) {
				if name == "explain.txt" && len([]rune(line)) > wrapAt+1 {
					t.Errorf("a line of %d characters", len([]rune(line)))
				}
				if strings.TrimRight(line, " \t\n") != strings.TrimRight(line, "\n") {
					t.Errorf("blanks at the end of %q", line)
				}
			}
		})
	}
}

// The JSON form is an array of exactly these members, empty or not.
func TestRulesJSON(t *testing.T) {
	for _, rules := range [][]*rule.Rule{sampleRules, nil} {
		var b bytes.Buffer
		if err := RulesJSON(&b, rules); err != nil {
			t.Fatal(err)
		}
		var got []map[string]string
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if len(got) != len(rules) {
			t.Errorf("%d rules", len(got))
		}
		for _, r := range got {
			for _, k := range []string{"id", "severity", "title", "why", "remedy"} {
				if r[k] == "" {
					t.Errorf("%v lacks %s", r, k)
				}
			}
			if len(r) != 5 {
				t.Errorf("members of %v", r)
			}
		}
	}
}

// The prose of a rule reads in Markdown as it was written.
func TestMarkdownProse(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                   "plain",
		"use <path> and `<path>`": "use &lt;path&gt; and <code>&lt;path&gt;</code>",
		"LC_* and snake_case":     "LC_* and snake_case",
		"a *b* _c_ [d](e)":        "a *b* _c_ [d](e)",
		"an open ` back-tick":     "an open ` back-tick",
		"# not a heading, #1":     "# not a heading, #1",
		`back\slash`:              `back\slash`,
		"~~gone~~ a|b":            "~~gone~~ a|b",
	} {
		var b bytes.Buffer
		if err := goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(mdProse(in)), &b); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(b.String()); got != "<p>"+want+"</p>" {
			t.Errorf("%q: %s", in, got)
		}
	}
}

func TestFenceIsLongerThanItsContent(t *testing.T) {
	for in, want := range map[string]string{"a": "```", "a ```` b": "`````", "``": "```"} {
		if got := fenceFor(in); got != want {
			t.Errorf("%q: %s", in, got)
		}
	}
}

// The package opens nothing: it holds no import that could.
func TestRenderIsPure(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range f.Imports {
			switch imp.Path.Value {
			case `"os"`, `"os/exec"`, `"net"`, `"net/http"`, `"time"`, `"crypto/rand"`:
				t.Errorf("%s imports %s", name, imp.Path.Value)
			}
		}
	}
}

// A command is to be copied: no line of explain breaks it, and the page shows it as one.
func TestCommandOfARemedyStaysWhole(t *testing.T) {
	command := "handoff-gate packet check FILE --registry REGISTRY --workspace . --ledger LEDGER --dry-run"
	ru := &rule.Rule{ID: "a/b", Severity: report.Error, Title: "T", Remedy: report.WithFix("Try <again>.", command)}
	var text, page, sarif bytes.Buffer
	if err := errors.Join(Explain(&text, ru), RulesMarkdown(&page, []*rule.Rule{ru}), SARIF(&sarif, &report.Report{}, []*rule.Rule{ru})); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "\n  fix: "+command+"\n") {
		t.Errorf("explain says\n%s", &text)
	}
	if !strings.Contains(page.String(), "Try \\<again\\>.\n\n    "+command+"\n") {
		t.Errorf("the page says\n%s", &page)
	}
	if !strings.Contains(sarif.String(), `\n\n    `+command+`"`) {
		t.Errorf("SARIF says\n%s", &sarif)
	}
}
