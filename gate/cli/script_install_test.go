package cli_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// installCommands are for scripts about install records.
//
//	record DIR SETTINGS   writes the install record that fits the files in DIR, as
//	                      the installer of a tagged archive does. A setting
//	                      "version=null" is a field and its JSON, "version=" leaves
//	                      the field out, "docs/OLD.md" is a listed path that is
//	                      missing
var installCommands = map[string]func(*testscript.TestScript, bool, []string){"record": writeInstallRecord}

func writeInstallRecord(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, 100)
	const name = ".agents-handoff-install.json"
	dir := ts.MkAbs(args[0])
	files := map[string]string{}
	present := 0
	ts.Check(filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == name {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(file)
		files[filepath.ToSlash(rel)] = fmt.Sprintf("%x", sha256.Sum256(data))
		present++
		return err
	}))
	given := map[string]string{}
	for _, setting := range args[1:] {
		if field, value, ok := strings.Cut(setting, "="); ok {
			given[field] = value
		} else {
			files[setting] = "missing"
		}
	}
	text := func(v any) string {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		ts.Check(e.Encode(v))
		return b.String()
	}
	var list []string
	for path, hash := range files {
		list = append(list, path+"\x00"+hash)
	}
	slices.Sort(list) // the paths of the scripts are ASCII
	fields := [][2]string{
		{"schema_version", `"1.0-install-provenance"`},
		{"product", `"agents-handoff"`},
		{"version", `"2.0.5"`},
		{"installer_version", `"2.0.5"`},
		{"installed_at", `"2026-10-09T00:00:00.000Z"`},
		{"harness", `"claude"`},
		{"target", `".claude/skills/agents-handoff"`},
		{"source", `{"kind": "archive", "ref": "refs/tags/v2.0.5", "archive_sha256": "` + strings.Repeat("a", 64) + `"}`},
		{"file_count", text(present)},
		{"manifest_entries", text(len(files))},
		{"files_sha256", text(fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(list, "\n")))))},
		{"files", text(files)},
	}
	var members []string
	for _, f := range fields {
		value, ok := given[f[0]]
		switch {
		case !ok:
			value = f[1]
		case value == "":
			continue
		}
		members = append(members, fmt.Sprintf("%q: %s", f[0], value))
	}
	var b bytes.Buffer
	ts.Check(json.Indent(&b, []byte("{"+strings.Join(members, ",")+"}"), "", "  "))
	ts.Check(os.WriteFile(filepath.Join(dir, name), append(b.Bytes(), '\n'), 0o644))
}
