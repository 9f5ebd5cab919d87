package cli_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

// mends takes each error of a report whose remedy ends in a command that writes,
// runs that command in a copy of the script's folder, and wants the finding gone;
// then it regenerates the manifest there and wants the index to be sound
// (aahp-authoring.md 9.2). So each fixture of a script is one of this test.
func mends(ts *testscript.TestScript, args []string, r *report.Report) {
	if testing.Short() || ts.Getenv("GIT_DIR") != "" || strings.HasPrefix(ts.Name(), "verify-hostile-git") || ts.Name() == "verify-hostile-configuration" {
		return // git could not be run there to mend anything
	}
	byFix := map[string][]report.Finding{}
	unsound := false
	for _, p := range r.Projects {
		for _, l := range p.Layers {
			for _, f := range l.Findings {
				if f.Rule == "integrity/handoff-dir-not-real" {
					return // before that is mended, nothing is written there
				}
				if f.Severity != report.Error {
					continue
				}
				unsound = unsound || unsoundIndex[f.Rule]
				if _, fix, _ := strings.Cut(f.Remedy, "\nfix: "); writes(fix) {
					byFix[fix] = append(byFix[fix], f)
				}
			}
		}
	}
	for fix, findings := range byFix {
		if t := newTwin(ts, args); t != nil {
			t.mended(fix, findings)
		}
	}
	// A commit, or what is staged, is not what a new manifest is made of. Where
	// nothing is wrong, once a script is enough.
	if slices.Contains(args, "ci") || slices.Contains(args, "precommit") || !unsound && ts.Getenv(regenerated) != "" {
		return
	}
	ts.Setenv(regenerated, "1")
	if t := newTwin(ts, args); t != nil {
		t.sound(unsound)
	}
}

// regenerated is a variable of a script in which a manifest was made anew for sound.
const regenerated = "REGENERATED"

// writes tells whether a command changes the handoff set, and does not only run the
// gate again.
func writes(fix string) bool {
	return strings.HasPrefix(fix, "handoff-gate manifest ") || strings.HasPrefix(fix, "git checkout ") || strings.HasPrefix(fix, "rm ")
}

// unsoundIndex are the rules that speak of what a new manifest mends.
var unsoundIndex = map[string]bool{
	"integrity/manifest-missing": true, "integrity/manifest-invalid": true, "integrity/manifest-incomplete": true,
	"integrity/index-path-invalid": true, "integrity/case-collision": true, "integrity/missing-file": true,
	"integrity/checksum-malformed": true, "integrity/checksum-mismatch": true, "integrity/unindexed": true,
}

// twin is a copy of a script's folder, in which commands may write.
type twin struct {
	ts      *testscript.TestScript
	cwd     string   // that of the script, in the copy
	args    []string // of the gate
	project string   // as args names it
}

var errNoTwin = errors.New("no copy stands for this folder")

// copyLimit is how much of a script's folder is copied, in bytes.
const copyLimit = 16 << 20

// newTwin copies the folder of a script; nil where a copy would not stand for it:
// the project is named by its absolute path, a repository has its git folder
// elsewhere, or there is more than is worth copying.
func newTwin(ts *testscript.TestScript, args []string) *twin {
	work := ts.Getenv("WORK")
	rel, err := filepath.Rel(work, ts.MkAbs("."))
	project := projectOf(args)
	if err != nil || !filepath.IsLocal(rel) || filepath.IsAbs(project) {
		return nil
	}
	dir, err := os.MkdirTemp("", "handoff-gate-twin-*")
	ts.Check(err)
	ts.Defer(func() { os.RemoveAll(dir) })
	top := filepath.Join(dir, filepath.Base(work))
	err = copyTree(work, top)
	if errors.Is(err, errNoTwin) {
		return nil
	}
	ts.Check(err)
	return &twin{ts, filepath.Join(top, rel), args, project}
}

// projectOf finds PATH in the arguments of a verifying command.
func projectOf(args []string) string {
	for i := 1; i < len(args); i++ {
		switch arg := args[i]; {
		case slices.Contains([]string{"--level", "--base", "--policy-from", "--now", "--format", "--report"}, arg):
			i++
		case !strings.HasPrefix(arg, "-"):
			return arg
		}
	}
	return "."
}

// copyTree copies files, folders and links with their modes and times.
func copyTree(from, to string) error {
	size := int64(0)
	return filepath.WalkDir(from, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch mode := info.Mode(); {
		case mode.IsDir():
			return os.MkdirAll(target, mode.Perm()|0o700)
		case mode&fs.ModeSymlink != 0:
			aim, err := os.Readlink(file)
			if err != nil {
				return err
			}
			return os.Symlink(aim, target)
		case !mode.IsRegular(), d.Name() == ".git":
			return errNoTwin
		}
		if size += info.Size(); size > copyLimit {
			return errNoTwin
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(target, data, info.Mode().Perm()|0o200); err != nil {
			return err
		}
		return os.Chtimes(target, info.ModTime(), info.ModTime())
	})
}

// run runs a command of a shell in the copy.
func (t *twin) run(command string, args ...string) (ok bool, stdout, stderr string) {
	ts := t.ts
	back := ts.MkAbs(".")
	ts.Check(ts.Chdir(t.cwd))
	err := ts.Exec(command, args...)
	ts.Check(ts.Chdir(back))
	return err == nil, ts.ReadFile("stdout"), ts.ReadFile("stderr")
}

// findings runs the gate in the copy.
func (t *twin) findings(args ...string) []report.Finding {
	args = slices.Insert(slices.Clone(args), 1, "--format", "json", "--now", now)
	_, stdout, stderr := t.run("handoff-gate", args...)
	var r report.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.ts.Fatalf("no report of %q in the copy: %v\n%s", args, err, stderr)
	}
	var all []report.Finding
	for _, p := range r.Projects {
		for _, l := range p.Layers {
			all = append(all, l.Findings...)
		}
	}
	return all
}

// mended runs the command of a remedy and wants the findings gone.
func (t *twin) mended(fix string, before []report.Finding) {
	other := "" // the command that the line before names for another case
	for _, f := range before {
		if f.Rule == "drift/handoff-not-updated" && !t.describe() {
			return
		}
		if m := regenerates.FindString(strings.SplitN(f.Remedy, "\nfix: ", 2)[0]); m != "" {
			other = m
		}
	}
	ok, stderr := t.shell(fix)
	switch {
	case strings.HasPrefix(stderr, "not written: ") && !ok:
		// It refuses to lose data, and names the command that goes on.
		_, again, _ := strings.Cut(stderr, "or run `")
		forced, _, _ := strings.Cut(again, "`")
		_, rest, _ := strings.Cut(fix, " && ")
		ok, stderr = t.shell(strings.TrimSuffix(forced+" && "+rest, " && "))
	case !ok && strings.HasPrefix(fix, "rm ") && strings.Contains(stderr, "s a directory"):
		return
	}
	left := t.left(before)
	if (!ok || left != "") && strings.HasPrefix(fix, "git checkout ") && other != "" {
		// What was committed is not there, or no better.
		ok, stderr = t.shell(other)
		left = t.left(before)
	}
	if !ok {
		t.ts.Fatalf("%s fails: %s", fix, stderr)
	}
	if left != "" {
		t.ts.Fatalf("after %s there is still %s", fix, left)
	}
}

// regenerates finds the command that a remedy names in its sentences.
var regenerates = regexp.MustCompile(`handoff-gate manifest [^\n]*`)

// describe adds to STATUS.md, which a remedy may ask for first.
func (t *twin) describe() bool {
	status := filepath.Join(t.cwd, filepath.FromSlash(t.project), ".ai", "handoff", "STATUS.md")
	data, err := os.ReadFile(status)
	if err != nil {
		return false
	}
	t.ts.Check(os.WriteFile(status, append(data, "\nOne more change.\n"...), 0o644))
	return true
}

// shell runs a line as people paste it, and commits what it leaves where a commit is
// what is judged.
func (t *twin) shell(line string) (ok bool, stderr string) {
	ok, _, stderr = t.run("sh", "-c", line)
	if ok && slices.Contains(t.args, "ci") {
		t.run("git", "add", "-A")
		t.run("git", "commit", "-q", "--no-verify", "-m", "Mended")
	}
	return ok, stderr
}

// left gives the first of the findings that the gate still has.
func (t *twin) left(before []report.Finding) string {
	for _, f := range t.findings(t.args...) {
		for _, b := range before {
			// Of one rule of the schema there may be several at one place.
			if f.Rule == b.Rule && f.Path == b.Path && f.Severity == b.Severity && (f.Message == b.Message || !strings.HasPrefix(f.Rule, "schema/")) {
				return f.Rule + " on " + f.Path + ": " + f.Message
			}
		}
	}
	return ""
}

// sound regenerates the manifest: where the integrity layer finds the index unsound,
// manifest --check has said so, too, and afterwards neither finds anything.
func (t *twin) sound(unsound bool) {
	if ok, _, _ := t.run("handoff-gate", "manifest", "--check", t.project); ok && unsound {
		t.ts.Fatalf("manifest --check finds nothing where the integrity layer does")
	}
	if ok, _, stderr := t.run("handoff-gate", "manifest", "--force", "--quiet", t.project); !ok {
		t.ts.Fatalf("manifest fails: %s", stderr)
	}
	if ok, stdout, _ := t.run("handoff-gate", "manifest", "--check", t.project); !ok {
		t.ts.Fatalf("manifest --check finds what manifest wrote stale:\n%s", stdout)
	}
	for _, f := range t.findings("lint", t.project) {
		if unsoundIndex[f.Rule] && f.Severity == report.Error && !strings.Contains(f.Message, "no regular file") {
			t.ts.Fatalf("the integrity layer still finds %s on %s: %s", f.Rule, f.Path, f.Message)
		}
	}
}
