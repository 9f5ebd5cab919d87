package workflow_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/bench"
	"github.com/handoff-gate/handoff-gate/gate/internal/workflow"
)

const job = "jobs:\n  scan:\n    runs-on: x\n    steps:\n      - run: echo\n"

// whole is an honest workflow with most of what such files hold.
const whole = `name: CI
on:
  push:
    branches: [main]
  pull_request:
    branches: [main]
permissions: &read
  contents: read
jobs:
  test:
    permissions: *read
    runs-on: ubuntu-latest
    steps:
      - run: |

          make <<'END'
          all:
          	cc -o a a.c
          END
  scan:
    name: Scan   # the scanner
    if: github.event_name == 'pull_request' || github.event_name == 'push'
    runs-on: ubuntu-latest
    continue-on-error: false
    steps:
      - if: always()
        continue-on-error: true
        run: |
          if: this is text in a block scalar
          	echo scan
`

func TestProven(t *testing.T) {
	scan := "on: pull_request\njobs:\n  scan:\n    runs-on: x\n"
	for name, text := range map[string]string{
		"a whole workflow":          whole,
		"the same with CR LF":       strings.ReplaceAll(whole, "\n", "\r\n"),
		"with byte order mark":      "\ufeff" + whole,
		"with a document marker":    "---\n" + whole,
		"with an end marker":        whole + "...\n",
		"trigger as scalar":         "on: pull_request\n" + job,
		"trigger quoted":            "on: 'pull_request'\n" + job,
		"trigger in a flow list":    "on: [push, pull_request]\n" + job,
		"trigger in a list":         "on:\n  - push\n  - pull_request\n" + job,
		"trigger in a flush list":   "on:\n- pull_request\n" + job,
		"trigger as quoted key":     "\"on\":\n  \"pull_request\":\n" + job,
		"trigger with filter":       "on:\n  pull_request:\n    paths: [src/**]\n" + job,
		"trigger in a flow mapping": "on: {pull_request: {}, push: {}}\n" + job,
		"comments":                  "on: # triggers\n  pull_request: # here\n" + job,
		"key rewritten to true":     "true:\n  pull_request:\n" + job,
		"explicit key":              "? on\n: pull_request\n" + job,
		"if names it":               scan + "    if: github.event_name == 'pull_request'\n",
		"if as expression":          scan + "    if: ${{ github.event_name == 'pull_request' }}\n",
		"if folded":                 scan + "    if: >-\n      github.event_name == 'push' ||\n      github.event_name == 'pull_request'\n",
		"if names both":             scan + "    if: github.event_name == 'pull_request_target' || github.event_name == 'pull_request'\n",
		"continue-on-error false":   scan + "    continue-on-error: false\n",
		"continue-on-error quoted":  scan + "    continue-on-error: 'false'\n",
		"alias in another job":      "on: pull_request\n" + job + "  other: &o\n    runs-on: x\n  third: *o\n",
		"an anchor in the job":      "on: pull_request\njobs:\n  scan: &s\n    runs-on: x\n  other: *s\n",
		"tab in a blank line":       "on: pull_request\n \t \n" + job,
		"tab behind a key":          "on:\tpull_request\n" + job,
	} {
		if err := workflow.ProvePullRequestJob([]byte(text), "scan"); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}

func TestUnproven(t *testing.T) {
	scan := "on: pull_request\njobs:\n  scan:\n    runs-on: x\n"
	for _, tt := range []struct {
		name string
		text string
		line int
		says string
	}{
		// 1 and 2: it can be read, and in one way only.
		{"empty", "", 0, "empty"},
		{"only a comment", "# on: pull_request\n", 0, "empty"},
		{"too large", whole + strings.Repeat("#", gate.MaxWorkflow), 0, "larger"},
		{"bad UTF-8", "on: pull_request\n#\xff\n" + job, 0, "UTF-8"},
		{"UTF-16", "\xff\xfeo\x00n\x00", 0, "UTF-8"},
		{"not YAML", "on: [pull_request\n" + job, 2, "not valid YAML"},
		{"not YAML further down", "on: pull_request\n" + job + "x:\n  y: [a\nz: b\n", 8, "',' or ']'"},
		{"not YAML in a word", "on: pull_request\n" + job + "x:\n  y: a: b\n", 8, "mapping values"},
		{"two documents", "on: pull_request\n" + job + "---\non: pull_request\n" + job, 0, "more than one"},
		{"a broken second document", "on: pull_request\n" + job + "---\n[", 0, "not valid YAML"},
		{"a list", "- on: pull_request\n", 1, "block mapping"},
		{"a flow mapping", "{on: pull_request, jobs: {scan: {runs-on: x}}}", 1, "block mapping"},
		{"a scalar", "pull_request", 1, "block mapping"},
		{"tab in the indentation", "on: pull_request\njobs:\n  scan:\n\t  runs-on: x\n", 0, ""},
		{"tab in a flow collection", "on: [push,\n\tpull_request]\n" + job, 2, "tab"},
		{"tab behind a block scalar", "on: pull_request\n" + job + "    env:\n      A: |\n        x\n        \ty\n      B: [\n      \tx]\n", 12, "tab"},
		{"tab behind an empty block scalar", "on: pull_request\n" + job + "    env:\n      A: |\n      B: [\n      \tx]\n", 10, "tab"},
		{"equal keys at the top", "on: pull_request\n" + job + job, 7, `"jobs" twice`},
		{"equal jobs", "on: pull_request\n" + job + "  scan:\n    runs-on: x\n", 7, `"scan" twice`},
		{"equal keys elsewhere", "on: pull_request\n" + job + "env:\n  A: 1\n  'A': 2\n", 9, `"A" twice`},
		{"equal keys by alias", "on: &on push\n*on : pull_request\n" + job, 0, "pull_request"},
		{"equal keys by alias, deep", "x: &k A\non: pull_request\n" + job + "env:\n  A: 1\n  *k : 2\n", 10, `"A" twice`},
		{"a list as key", "on: pull_request\n" + job + "env:\n  [a]: 1\n", 8, "no plain text"},
		{"on and true", "on: push\ntrue: pull_request\n" + job, 2, "both"},
		{"line separator", "x: y #\u2028on: pull_request\n" + job, 1, "LF"},
		{"next line", "on: push #\u0085\n" + job, 1, "LF"},
		{"CR alone", "x: y #\ron: pull_request\n" + job, 1, "LF"},
		{"nested too deep", "on: pull_request\n" + job + "x: " + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "\n", 7, "deeper"},

		// 3: the trigger.
		{"no trigger", job, 0, "no key on"},
		{"trigger commented out", "on:\n  push:\n#  pull_request:\n" + job, 1, "not triggered"},
		{"another trigger", "on: push\n" + job, 1, "not triggered"},
		{"pull_request_target", "on: pull_request_target\n" + job, 1, "not triggered"},
		{"pull_request_target in a list", "on: [pull_request_target, push]\n" + job, 1, "not triggered"},
		{"pull_request_target as key", "on:\n  pull_request_target:\n" + job, 1, "not triggered"},
		{"the word as a filter", "on:\n  push:\n    branches: [pull_request]\n" + job, 1, "not triggered"},
		{"the word as a deeper key", "on:\n  push:\n    pull_request:\n" + job, 1, "not triggered"},
		{"trigger empty", "on:\n" + job, 1, "not triggered"},
		{"on in another place", "x:\n  on: pull_request\n" + job, 0, "no key on"},
		{"true quoted is no boolean", "'true': pull_request\n" + job, 0, "no key on"},
		{"alias as trigger", "x: &t pull_request\non: *t\n" + job, 2, "alias"},
		{"alias in the triggers", "x: &t pull_request\non: [push, *t]\n" + job, 2, "alias"},
		{"merge key in the triggers", "x: &t {pull_request: {}}\non:\n  push:\n  <<: *t\n" + job, 4, "alias"},

		// 4: the job.
		{"no jobs", "on: pull_request\n", 0, "no key jobs"},
		{"jobs a list", "on: pull_request\njobs: [scan]\n", 2, "not a mapping"},
		{"jobs an alias", "x: &j {scan: {runs-on: x}}\non: pull_request\njobs: *j\n", 3, "not a mapping"},
		{"another job", "on: pull_request\njobs:\n  Scan:\n    runs-on: x\n", 2, "no job scan"},
		{"the job's name, not its key", "on: pull_request\njobs:\n  x:\n    name: scan\n", 2, "no job scan"},
		{"job empty", "on: pull_request\njobs:\n  scan:\n  other:\n    runs-on: x\n", 3, "not a mapping"},
		{"job by merge key", "x: &j {scan: {runs-on: x}}\non: pull_request\njobs:\n  <<: *j\n", 3, "no job scan"},
		{"job an alias", "on: pull_request\njobs:\n  x: &s\n    runs-on: x\n  scan: *s\n", 5, "alias"},
		{"merge key in the job", "on: pull_request\njobs:\n  x: &s\n    if: false\n  scan:\n    <<: *s\n    runs-on: x\n", 6, "alias"},
		{"alias in a step", "on: pull_request\njobs:\n  scan:\n    runs-on: &r x\n    steps:\n      - run: *r\n", 6, "alias"},

		// 5: its condition.
		{"if empty", scan + "    if:\n", 5, "does not name"},
		{"if false", scan + "    if: false\n", 5, "does not name"},
		{"if always", scan + "    if: always()\n", 5, "does not name"},
		{"if with the word in a comment", scan + "    if: always() # pull_request\n", 5, "does not name"},
		{"if on pull_request_target alone", scan + "    if: github.event_name == 'pull_request_target'\n", 5, "does not name"},
		{"if with a longer word", scan + "    if: my_pull_request\n", 5, "does not name"},
		{"if with a letter before", scan + "    if: äpull_request\n", 5, "does not name"},
		{"if a list", scan + "    if: [pull_request]\n", 5, "does not name"},
		{"if an alias", "x: &i pull_request\n" + scan + "    if: *i\n", 6, "alias"},

		// 6: its failure counts.
		{"continue-on-error true", scan + "    continue-on-error: true\n", 5, "continue-on-error"},
		{"continue-on-error an expression", scan + "    continue-on-error: ${{ false }}\n", 5, "continue-on-error"},
		{"continue-on-error empty", scan + "    continue-on-error:\n", 5, "continue-on-error"},
		{"continue-on-error no", scan + "    continue-on-error: no\n", 5, "continue-on-error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := workflow.ProvePullRequestJob([]byte(tt.text), "scan")
			var e *workflow.Error
			if !errors.As(err, &e) {
				t.Fatalf("proven, or another error: %v\n%s", err, tt.text)
			}
			if !strings.Contains(e.Message, tt.says) || tt.line > 0 && e.Line != tt.line {
				t.Errorf("line %d: %s\nwant line %d … %s", e.Line, e.Message, tt.line, tt.says)
			}
		})
	}
}

// hostileFiles are texts at the limit of size that make a parser work.
func hostileFiles() map[string]string {
	fill := func(unit string) string { return strings.Repeat(unit, (gate.MaxWorkflow-200)/len(unit)) }
	bomb := "a0: &a0 [x]\n"
	for i := 1; i < 60; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d, *a%d, *a%d]\n", i, i, i-1, i-1, i-1)
	}
	return map[string]string{
		"alias bomb":          bomb + "on: pull_request\n" + job,
		"alias to itself":     "x: &x\n  y: *x\non: pull_request\n" + job,
		"brackets":            fill("["),
		"braces":              fill("{"),
		"dashes":              fill("- "),
		"question marks":      fill("? "),
		"flow keys":           "x: {" + fill("a:,") + "}",
		"comments":            "on: # c\n" + fill("  # c\n"),
		"comments on items":   "a:\n" + fill(" - b # c\n"),
		"empty blocks":        "a:\n" + fill(" - |\n"),
		"blocks of blanks":    "a:\n" + fill(" - |\n\n\n\n\n\n\n\n\n\n\n\n"),
		"one long block":      "a: |\n" + fill(" \tx\n"),
		"anchors":             "a:\n" + fill(" - &a b\n"),
		"tags":                fill("!a "),
		"directives":          fill("%a 1\n"),
		"one long plain text": "a: " + fill("a "),
		"indented ever more": func() string {
			var b strings.Builder
			for i := 0; b.Len() < gate.MaxWorkflow-4000; i++ {
				b.WriteString(strings.Repeat(" ", i) + "a:\n")
			}
			return b.String()
		}(),
	}
}

// Hostile files are answered: nothing overflows, nothing hangs. How fast is
// measured by BenchmarkHostileFiles.
func TestHostileFiles(t *testing.T) {
	for name, text := range hostileFiles() {
		t.Run(name, func(*testing.T) { _ = workflow.ProvePullRequestJob([]byte(text), "scan") })
	}
}

// BenchmarkHostileFiles is the slowest of the hostile files against an honest
// one of the same size.
func BenchmarkHostileFiles(b *testing.B) {
	honest := []byte("on: pull_request\n" + job)
	for i := 0; len(honest) < gate.MaxWorkflow-200; i++ {
		honest = fmt.Appendf(honest, "      - run: make test%d # a step\n", i)
	}
	prove := func(text []byte) func() {
		return func() { _ = workflow.ProvePullRequestJob(text, "scan") }
	}
	var worst string
	var most time.Duration
	files := hostileFiles()
	for name, text := range files {
		if took := bench.Fastest(3, prove([]byte(text))); took > most {
			worst, most = name, took
		}
	}
	b.Log("the slowest: ", worst)
	bench.Ratio(b, 20, prove(honest), prove([]byte(files[worst])))
}

// A bomb that is never set off is no reason to refuse.
func TestAliasBombElsewhere(t *testing.T) {
	bomb := "x-a: &a0 [x]\n"
	for i := 1; i < 40; i++ {
		bomb += fmt.Sprintf("x-%d: &a%d [*a%d, *a%d, *a%d, *a%d]\n", i, i, i-1, i-1, i-1, i-1)
	}
	if err := workflow.ProvePullRequestJob([]byte(bomb+"on: pull_request\n"+job), "scan"); err != nil {
		t.Error(err)
	}
}

func TestGet(t *testing.T) {
	f, err := workflow.Load([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	jobs, ok := workflow.Get(f.Root, "jobs")
	if !ok || jobs.Key.Line != 9 {
		t.Fatalf("jobs: %+v", jobs)
	}
	scan, ok := workflow.Get(jobs.Value, "scan")
	if !ok || scan.Key.Line != 20 {
		t.Errorf("scan: %+v", scan)
	}
	if _, ok := workflow.Get(scan.Value, "Name"); ok {
		t.Error("keys are compared with regard to case")
	}
	if _, ok := workflow.Get(nil, "a"); ok {
		t.Error("found a key in nothing")
	}
}

// FuzzProve holds that any bytes give a proof or an *Error with a line of the
// file, twice the same, and that a proof needs both words in the text.
func FuzzProve(f *testing.F) {
	for _, s := range []string{
		whole, "on: pull_request\n" + job, "", "a: &a [*a]\n", "? [a]\n: b\n", "a: |2\n   x\n", "%YAML 1.1\n---\na: b\n",
		"on:\n- pull_request\njobs: {scan: {if: >-\n pull_request}}\n", "\t", "a: 'b\n\tc'\n", "- &a\n- *a\n", "a:\n  # c\n\n\n# d\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := workflow.ProvePullRequestJob(data, "scan")
		if again := workflow.ProvePullRequestJob(data, "scan"); fmt.Sprint(err) != fmt.Sprint(again) {
			t.Fatalf("%v, then %v", err, again)
		}
		if err == nil {
			if s := string(data); !strings.Contains(s, "jobs") && !strings.Contains(s, `\`) {
				t.Errorf("proven: %q", data)
			}
			return
		}
		var e *workflow.Error
		if !errors.As(err, &e) {
			t.Fatalf("%T", err)
		}
		if last := strings.Count(string(data), "\n") + 1; e.Line < 0 || e.Line > last || e.Message == "" {
			t.Errorf("line %d of %d: %q", e.Line, last, e.Message)
		}
	})
}
