package cli_test

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
)

// The variables by which TestKilled speaks to the program that it kills, which is
// this test's own executable: main does not know them.
const (
	killAt    = "KILL_AT"    // the operation, counted from 0, ahead of which the process ends
	killTrace = "KILL_TRACE" // a file to list the operations in
)

// killer is what the program asks ahead of each change to a file, for
// cli.Process.
func killer() func(string) error {
	at, err := strconv.Atoi(os.Getenv(killAt))
	if err != nil {
		return nil
	}
	done := 0
	return func(operation string) error {
		if done == at {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			if err != nil {
				panic(err)
			}
			select {} // the kill is on its way
		}
		done++
		file := os.Getenv(killTrace)
		if file == "" {
			return nil
		}
		f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.WriteString(operation + "\n")
		return err
	}
}

// writing is a command that writes, run as it is in a folder.
type writing struct {
	name  string
	args  []string
	files map[string]string // what the folder, a repository, holds; none of it is committed
	// operations are what the run does, where that is worth saying.
	operations string
	// environ is what the command needs beside the environment of every run.
	environ []string
	// toStderr is for a command that says on standard error, if anywhere, what it
	// writes.
	toStderr bool
}

// journal makes a log of so many entries, the newest first.
func journal(entries int) string {
	var b strings.Builder
	b.WriteString("# Log\n\n> Newest first.\n\n---")
	for i := entries; i > 0; i-- {
		n := strconv.Itoa(i)
		b.WriteString("\n\n## [2026-11-" + n[len(n)-1:] + "0] Entry " + n + "\n\nText of entry " + n + ".\n\n---")
	}
	return b.String() + "\n"
}

// replaced are the operations by which a file is replaced, and created those by
// which one is written that was not there.
func replaced(name string) string {
	return "create, write, write, chmod, sync, close, rename " + name + ", sync folder"
}

func created(name string) string { return strings.ReplaceAll(replaced(name), "chmod, ", "") }

const (
	statusFile   = ".ai/handoff/STATUS.md"
	manifestFile = ".ai/handoff/MANIFEST.json"
	logFile      = ".ai/handoff/LOG.md"
	archiveFile  = ".ai/handoff/LOG-ARCHIVE.md"
	indexFile    = ".ai/handoff/LOG-ARCHIVE.index.json"
)

// packetHandoffFile is a packet that nobody has signed.
const packetHandoffFile = `{"handoff": ` + packetHandoff + "}\n"

// writings are the commands that write. Each is killed ahead of each of its
// operations.
var writings = []writing{
	{
		name: "manifest",
		args: []string{"manifest", "--now", now, "--agent", "new"},
		files: map[string]string{
			statusFile:   "# Status\n\nThe project builds.\n",
			manifestFile: `{"project": "old", "tasks": {"T-001": {"title": "kept", "status": "ready"}}}`,
		},
		operations: replaced("MANIFEST.json"),
	},
	{
		name:       "manifest, the first",
		args:       []string{"manifest", "--now", now},
		files:      map[string]string{statusFile: "# Status\n\nThe project builds.\n"},
		operations: created("MANIFEST.json"),
	},
	{
		name:       "archive, the first",
		args:       []string{"archive", "--keep", "1"},
		files:      map[string]string{logFile: journal(3)},
		operations: created("LOG-ARCHIVE.md") + ", " + created("LOG-ARCHIVE.index.json") + ", " + replaced("LOG.md"),
	},
	{
		name: "archive",
		args: []string{"archive", "--keep", "2"},
		files: map[string]string{
			logFile: journal(5), archiveFile: "Old head\n\n## [2025-01-01] Old\n", indexFile: `{"version": 1, "entries": []}`,
		},
		operations: replaced("LOG-ARCHIVE.md") + ", " + replaced("LOG-ARCHIVE.index.json") + ", " + replaced("LOG.md"),
	},
	{
		name:       "archive --reindex",
		args:       []string{"archive", "--reindex"},
		files:      map[string]string{archiveFile: journal(3), indexFile: `{"version": 1, "entries": [{"sha256": "gone", "title": "Old"}]}`},
		operations: replaced("LOG-ARCHIVE.index.json"),
	},
	{
		name: "init",
		args: []string{"init", "--with-pii-allowlist"},
	},
	{
		name:  "init --force",
		args:  []string{"init", "--force"},
		files: map[string]string{statusFile: "Mine.\n", logFile: journal(1), manifestFile: `{"tasks": {"T-007": {"title": "kept", "status": "ready"}}}`},
	},
	{
		name: "migrate",
		args: []string{"migrate", "--yes"},
		files: map[string]string{
			statusFile: "# Status\n\nThe project builds.\n", manifestFile: `{"tasks": {"T-001": {"title": "kept", "status": "ready", "created": "[ISO-8601]"}}}`,
		},
		operations: replaced("MANIFEST.json") + ", " + created(".aiignore"),
	},
	{
		name:       "migrate-grounding",
		args:       []string{"migrate-grounding"},
		files:      map[string]string{".ai/handoff/TRUST.md": "# Trust\n", manifestFile: `{"project": "p"}`},
		operations: replaced("TRUST.md") + ", " + created("GROUNDING.md") + ", " + replaced("MANIFEST.json"),
	},
	{
		name:       "hooks install",
		args:       []string{"hooks", "install"},
		files:      map[string]string{statusFile: "# Status\n"},
		operations: "mkdir hooks, " + replaced("pre-commit") + ", " + replaced("pre-push"),
	},
	{
		name:       "hooks install over another hook",
		args:       []string{"hooks", "install"},
		files:      map[string]string{statusFile: "# Status\n", ".git/hooks/pre-commit": "#!/bin/sh\nexit 0\n"},
		operations: replaced("pre-commit.pre-handoff-gate.bak") + ", " + replaced("pre-commit") + ", " + replaced("pre-push"),
	},
	{
		// The new key is its owner's alone from its first byte on: no chmod.
		name:       "packet keygen --force",
		args:       []string{"packet", "keygen", "--agent", "alice", "--out", "alice.key", "--force"},
		files:      map[string]string{"alice.key": string(packetKeyFile("rita"))},
		operations: created("alice.key"),
		toStderr:   true, // beside the key's public half
	},
	{
		name: "packet pin",
		args: []string{"packet", "pin", "p.json", "--workspace", ".", "--refresh", "--out", "p.json"},
		files: map[string]string{
			"p.json": packetHandoffFile, "context/brief.md": packetBrief, "rules.md": packetRules,
		},
		operations: replaced("p.json"),
		toStderr:   true,
	},
	{
		name:       "packet approve",
		args:       []string{"packet", "approve", "p.json", "--action", "push", "--key", "env:RITA", "--out", "approved.json"},
		files:      map[string]string{"p.json": packetHandoffFile},
		operations: created("approved.json"),
		environ:    []string{"RITA=" + string(packetKeyFile("rita"))},
		toStderr:   true,
	},
	{
		name:       "packet sign",
		args:       []string{"packet", "sign", "p.json", "--key", "env:ALICE", "--out", "p.json"},
		files:      map[string]string{"p.json": packetHandoffFile},
		operations: replaced("p.json"),
		environ:    []string{"ALICE=" + string(packetKeyFile("alice"))},
		toStderr:   true,
	},
}

// TestKilled kills each command ahead of each of its operations in turn, until it
// has none left to be killed at. Whatever that leaves, each file is wholly the old
// or wholly the new one, nothing else is there but a file that every command
// passes over, and the next run completes the work (aahp-authoring.md 1, rule 5).
func TestKilled(t *testing.T) {
	processesOnly(t)
	for _, w := range writings {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			dir := w.place(t)
			before := snapshotOf(t, dir)
			trace := filepath.Join(t.TempDir(), "trace")
			if killed, out := w.run(t, dir, killAt+"=-1", killTrace+"="+trace); killed || len(out) == 0 && !w.toStderr {
				t.Fatalf("not killed, it ended all the same, or said nothing: %s", out)
			}
			after := snapshotOf(t, dir)
			if maps.Equal(before, after) {
				t.Fatal("the command changed nothing")
			}
			listed, err := os.ReadFile(trace)
			if err != nil {
				t.Fatal(err)
			}
			operations := strings.Split(strings.TrimSpace(string(listed)), "\n")
			if got := strings.Join(operations, ", "); w.operations != "" && got != w.operations {
				t.Errorf("the operations are\n%s\nwant\n%s", got, w.operations)
			}
			for at, operation := range operations {
				dir := w.place(t)
				if killed, out := w.run(t, dir, killAt+"="+strconv.Itoa(at)); !killed {
					t.Fatalf("not killed ahead of operation %d: %s", at, out)
				}
				for path, got := range snapshotOf(t, dir) {
					switch {
					case isLeftover(path):
						if _, was := before[path]; was {
							t.Errorf("%s is no leftover", path)
						}
					case got != before[path] && got != after[path]:
						t.Errorf("killed ahead of operation %d, %q: %s is neither the old nor the new one:\n%s", at, operation, path, got)
					}
				}
				for path := range before {
					if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(path))); err != nil {
						t.Errorf("killed ahead of operation %d, %q: %s is gone", at, operation, path)
					}
				}
				if killed, out := w.run(t, dir); killed {
					t.Fatalf("after a kill ahead of operation %d, %q, the next run ended: %s", at, operation, out)
				}
				final := snapshotOf(t, dir)
				maps.DeleteFunc(final, func(path, _ string) bool { return isLeftover(path) })
				for path := range union(final, after) {
					if final[path] != after[path] {
						t.Errorf("after a kill ahead of operation %d, %q, the next run leaves %s\n%s\nwant\n%s", at, operation, path, final[path], after[path])
					}
				}
			}
		})
	}
}

// place makes the folder for one run.
func (w writing) place(t *testing.T) string {
	t.Helper()
	// A template would bring its own hooks; the folder's name gets into a manifest.
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repo := gittest.At(t, filepath.Join(dir, "project"))
	if err := os.Mkdir(repo.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	repo.Git("init", "-q", "-b", "main", "--template=")
	for path, text := range w.files {
		repo.Write(path, text)
	}
	return repo.Dir
}

// run runs the command in a folder; anything but success or a kill fails the
// test.
func (w writing) run(t *testing.T, dir string, variables ...string) (killed bool, out []byte) {
	t.Helper()
	cmd := exec.Command("handoff-gate", w.args...)
	cmd.Dir, cmd.Env = dir, slices.Concat(gittest.Environ(), w.environ, variables)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err == nil {
		return false, out
	}
	var exit *exec.ExitError
	// A process that was killed has no exit status of its own, but on Windows.
	if !errors.As(err, &exit) || exit.ExitCode() != -1 && runtime.GOOS != "windows" || said.Len() > 0 && !w.toStderr {
		t.Fatalf("%s: %v\n%s%s", strings.Join(cmd.Args, " "), err, out, said.String())
	}
	return true, out
}

// union has the keys of both.
func union(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// isLeftover tells the name of a file that a killed run may leave, and that every
// command ignores.
func isLeftover(path string) bool {
	base := path[strings.LastIndexByte(path, '/')+1:]
	return strings.HasPrefix(base, ".") && strings.HasSuffix(base, ".tmp")
}

// volatile are the members of a manifest that say when it was made, and a new
// private key.
var volatile = regexp.MustCompile(`"(updated|timestamp|session_id|private_key)": "[^"]*"`)

// snapshotOf gives mode and content of everything in a repository, of git's own
// folder the hooks alone, by its path.
func snapshotOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() && strings.HasPrefix(rel, ".git/") && !strings.HasPrefix(rel, ".git/hooks") {
			return fs.SkipDir
		}
		if strings.HasPrefix(rel, ".git/") && !strings.HasPrefix(rel, ".git/hooks/") {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String() + "\n"
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			text += string(volatile.ReplaceAll(data, []byte(`"$1": "-"`)))
		}
		all[rel] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
