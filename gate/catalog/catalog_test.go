package catalog_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/catalog"
)

// Each row is complete, and its id is its own.
func TestRowsAreComplete(t *testing.T) {
	form := regexp.MustCompile(`^[a-z]+/[a-z][a-z0-9]*(?:-[a-z0-9]+)*$`)
	seen := map[string]bool{}
	for _, r := range catalog.Rules() {
		if !form.MatchString(r.ID) || seen[r.ID] {
			t.Errorf("%q is no id, or the id of two rules", r.ID)
		}
		seen[r.ID] = true
		if r.Severity == "" || r.Title == "" || r.Why == "" || r.Remedy == "" || r.Example == "" {
			t.Errorf("%s: a field is empty: %+v", r.ID, r)
		}
		for _, text := range []string{r.Title, r.Why, r.Remedy} {
			if strings.TrimSpace(text) != text {
				t.Errorf("%s: blanks around %q", r.ID, text)
			}
		}
	}
}

// A rule that a package declares and forgets to list would be found by the gate, and
// unknown to `explain`.
func TestEveryDeclaredRuleIsListed(t *testing.T) {
	declared := 0
	for _, top := range []string{"..", filepath.Join("..", "..", "githubapi")} {
		err := filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(f, func(n ast.Node) bool {
				row, ok := n.(*ast.CompositeLit)
				if !ok {
					return true
				}
				if id := idOf(row); id != "" {
					declared++
					if catalog.Find(id) == nil {
						t.Errorf("%s declares %s, which is not in the Rules of its package, or these are not in the catalog", file, id)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if declared < 250 {
		t.Errorf("only %d rules were found", declared)
	}
}

// idOf gives the field ID of a rule.Rule literal, where it is a constant text.
func idOf(row *ast.CompositeLit) string {
	name, ok := row.Type.(*ast.SelectorExpr)
	if !ok || name.Sel.Name != "Rule" {
		return ""
	}
	for _, element := range row.Elts {
		field, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, isName := field.Key.(*ast.Ident)
		value, isText := field.Value.(*ast.BasicLit)
		if isName && isText && key.Name == "ID" {
			id, _ := strconv.Unquote(value.Value) // the parser accepted it
			return id
		}
	}
	return ""
}
