package workflow_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/workflow"
)

// scalar finds a value by its keys.
func scalar(t *testing.T, f *workflow.File, keys ...string) (value string, line int) {
	t.Helper()
	n := f.Root
	for _, k := range keys {
		m, ok := workflow.Get(n, k)
		if !ok {
			t.Fatalf("there is no %s", k)
		}
		n, line = m.Value, m.Key.Line
	}
	return n.Value, line
}

// An alias stands for what it names, with the lines of the place where that is
// written.
func TestReadFollowsAliases(t *testing.T) {
	f, err := workflow.Read([]byte("x: &job\n  if: false\n  steps: &s [a, b]\njobs:\n  one: *job\n  two:\n    steps: *s\n    &k name: n\n  *k : m\n"))
	if err != nil {
		t.Fatal(err)
	}
	if value, line := scalar(t, f, "jobs", "one", "if"); value != "false" || line != 2 {
		t.Errorf("%s in line %d", value, line)
	}
	if value, line := scalar(t, f, "jobs", "name"); value != "m" || line != 8 {
		t.Errorf("%s in line %d", value, line)
	}
}

func TestReadTakesAnyTop(t *testing.T) {
	for _, text := range []string{"{on: push, jobs: {a: {}}}", "- a\n", "a", "on: push\n"} {
		if _, err := workflow.Read([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	many := "a: &a x\nb:\n" + strings.Repeat("  - *a\n", 1001)
	bomb := "a0: &a0 [x]\n"
	for i := 1; i < 20; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	large := "a: &a " + strings.Repeat("x", 500_000) + "\nb:\n" + strings.Repeat("  - *a\n", 40)
	for _, tt := range []struct {
		name, text string
		line       int
		says       string
	}{
		{"an alias in what it names", "x: &x\n  y: *x\n", 2, "stands in what it names"},
		{"a circle of two", "x: &x\n  y: &y [*x]\n  z: *y\n", 2, "stands in what it names"},
		{"too many aliases", many, 0, "more than 1000 times"},
		{"a bomb", bomb, 0, "more than 1000 times"},
		{"large text many times", large, 0, "expand to more than"},
		{"equal keys", "a: 1\nb: 2\na: 3\n", 3, "twice"},
		{"two documents", "a: 1\n---\nb: 2\n", 2, "more than one"},
		{"nothing", "\n", 0, "empty"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := workflow.Read([]byte(tt.text))
			var e *workflow.Error
			if !errors.As(err, &e) || !strings.Contains(e.Message, tt.says) || tt.line > 0 && e.Line != tt.line {
				t.Errorf("%v (%+v)", err, e)
			}
		})
	}
}

func TestMergeKey(t *testing.T) {
	for text, line := range map[string]int{
		"a: &a {b: c}\nd:\n  <<: *a\n":   3,
		"a: &a {b: c}\nd:\n  '<<': *a\n": 3,
		"a: {b: '<<'}\n":                 0,
	} {
		f, err := workflow.Read([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		if n := f.MergeKey(); n != nil {
			got = n.Line
		}
		if got != line {
			t.Errorf("%s: line %d", text, got)
		}
	}
}

func TestEvents(t *testing.T) {
	for text, want := range map[string]string{
		"on: push\n":                          "push:1",
		"on: [push, pull_request]\n":          "push:1 pull_request:1",
		"on:\n  - push\n  - release\n":        "push:2 release:3",
		"on:\n  push:\n    tags: [a]\n  x:\n": "push:2+ x:4+",
		"on:\n":                               "",
		"true: push\n":                        "push:1",
		"x: &x push\non: [*x]\n":              "push:1",
	} {
		f, err := workflow.Read([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		events, err := f.Events()
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		var got []string
		for _, e := range events {
			s := fmt.Sprintf("%s:%d", e.Name.Value, e.Name.Line)
			if e.Filter != nil {
				s += "+"
			}
			got = append(got, s)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q", text, got)
		}
	}
	for _, text := range []string{"jobs: {}\n", "on: push\ntrue: pull_request\n"} {
		f, err := workflow.Read([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Events(); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

// FuzzRead holds that any bytes give a file in which no alias is left, or an
// *Error with a line of the file.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		whole, "on: pull_request\n" + job, "a: &a [*a]\n", "a: &a {b: c}\nd: {<<: *a}\n", "a: &a x\nb: [*a, *a]\n", "*a : b\n", "&a a: *a\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := workflow.Read(data)
		if err == nil {
			if n := workflow.Indirection(file.Root); n != nil && n.Value != "<<" && n.ShortTag() != "!!merge" {
				t.Errorf("an alias is left in line %d", n.Line)
			}
			_, _ = file.Events()
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
