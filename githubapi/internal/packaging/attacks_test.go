package packaging

import (
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/attacks.md names tests that there are. Where a row names rules and scripts, each
// rule occurs in one of the scripts and each script has one of the rules: a script that
// was emptied or given another subject proves the row no more. Every script about a
// hostile input is named.
func TestAttacks(t *testing.T) {
	var (
		rule   = regexp.MustCompile("`([a-z]+/[a-z-]+)`")
		goTest = regexp.MustCompile("`([a-z][a-z/]*)\\.(Test[A-Za-z0-9]+)`")
		script = regexp.MustCompile("`([a-z]+(?:-[a-z]+)+)`")
	)
	named, rows := map[string]bool{}, 0
	for line := range strings.Lines(read(t, "docs/attacks.md")) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| Attack |") || strings.HasPrefix(line, "| Residual risk |") {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 3 {
			t.Errorf("this row has %d cells: %s", len(cells), line)
			continue
		}
		for _, m := range goTest.FindAllStringSubmatch(line, -1) {
			if !hasTest(t, m[1], m[2]) {
				t.Errorf("the package %s has no %s", m[1], m[2])
			}
		}
		scripts := map[string]string{}
		// A residual risk has the script that shows it in the first cell.
		for _, m := range script.FindAllStringSubmatch(cells[2]+cells[0], -1) {
			file := path.Join("testdata/script", m[1]+".txtar")
			if !exists(t, file) {
				t.Errorf("there is no script %s", m[1])
				continue
			}
			named[m[1]], scripts[m[1]] = true, read(t, file)
		}
		if len(scripts) == 0 {
			continue
		}
		shown := map[string]bool{}
		rules := rule.FindAllStringSubmatch(cells[1], -1)
		for _, m := range rules {
			occurs := false
			for name, text := range scripts {
				if strings.Contains(text, m[1]) {
					occurs, shown[name] = true, true
				}
			}
			if !occurs {
				t.Errorf("no script of this row has %s: %s", m[1], line)
			}
		}
		for name := range scripts {
			if len(rules) > 0 && !shown[name] {
				t.Errorf("%s has no rule of this row: %s", name, line)
			}
		}
	}
	if rows < 100 {
		t.Errorf("only %d rows were found", rows)
	}
	for _, file := range files(t, "testdata/script/*hostile*.txtar") {
		if name := strings.TrimSuffix(filepath.Base(file), ".txtar"); !named[name] {
			t.Errorf("the page does not name %s", name)
		}
	}
}

// hasTest tells whether the tests of a package have the function.
func hasTest(t *testing.T, pkg, name string) bool {
	t.Helper()
	for _, file := range files(t, pkg+"/*_test.go") {
		if strings.Contains(read(t, path.Join(pkg, filepath.Base(file))), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}
