package gate_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// io are the imports by which a package reaches the world.
var io = []string{"os", "os/exec", "os/signal", "net", "net/http", "syscall", "golang.org/x/sys/unix", "io/ioutil", "path/filepath"}

// reaches lists the packages that may have some of them; every other one is
// pure: it decides, and does no IO of its own.
var reaches = map[string][]string{
	"main":                          {"os", "os/signal", "syscall"},
	"gate/cli":                      {"os", "path/filepath"},
	"gate/run":                      {"os", "path/filepath"},
	"gate/adopt":                    {"os", "path/filepath"},
	"gate/disk":                     {"os", "path/filepath", "golang.org/x/sys/unix"},
	"gate/git":                      {"os", "os/exec", "path/filepath", "syscall"},
	"gate/packet/ledger/fileledger": {"os", "path/filepath", "golang.org/x/sys/unix"},
	"gate/proc":                     {"os", "os/exec", "path/filepath", "syscall", "golang.org/x/sys/unix"},
	"gate/internal/bench":           {"os", "os/exec", "path/filepath"},
	"gate/internal/bench/table":     {"os"},
	"gate/internal/filelock":        {"os", "golang.org/x/sys/unix"},
	"gate/internal/localpath":       {"path/filepath"},
	"gate/internal/wholefile":       {"os", "path/filepath", "golang.org/x/sys/unix"},
	"gate/internal/gittest":         {"os", "os/exec", "path/filepath"},
	"githubapi":                     {"os", "net", "net/http"},
	"githubapi/apitest":             {"os", "net", "net/http", "path/filepath"},
	"githubapi/internal/demo":       io,
	"githubapi/internal/release":    io,
	"githubapi/internal/sample":     io,
}

// What a package may import is part of the design: the network is reached in
// githubapi alone, a process is started in proc alone (git only looks for its
// program), and what judges opens no file.
func TestPackagesReachOnlyWhatTheyMay(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && (name == "testdata" || name == ".git" || name == ".github" || name == ".cache" || strings.HasPrefix(name, "_")) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		pkg, err := filepath.Rel("..", filepath.Dir(file))
		if err != nil {
			return err
		}
		if pkg == "." {
			pkg = "main"
		}
		pkg = filepath.ToSlash(pkg)
		seen[pkg] = true
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range f.Imports {
			imported, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			if slices.Contains(io, imported) && !slices.Contains(reaches[pkg], imported) {
				t.Errorf("%s imports %s", file, imported)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range reaches {
		if !seen[pkg] {
			t.Errorf("%s is listed, but there is no such package", pkg)
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d packages were found", len(seen))
	}
}
