package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/handoff-gate/handoff-gate/githubapi/internal/sample"
)

const (
	testVersion = "v1.2.3"
	testImage   = "ghcr.io/handoff-gate/handoff-gate@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
)

func root(t *testing.T) string {
	t.Helper()
	dir, err := sample.Root()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// snapshot is a repository of this module as it is now.
func snapshot(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "module")
	if err := sample.CopyModule(t.Context(), root(t), dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

var testRelease = Release{Version: testVersion, Platforms: Platforms}

// sums makes a complete checksums.txt without building anything.
func sums(version string) []byte {
	var b bytes.Buffer
	for _, p := range Platforms {
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256([]byte(p.Archive(version))), p.Archive(version))
	}
	return b.Bytes()
}

// An archive holds the program, the licence and the readme, with the commit's time.
func TestArchiveForms(t *testing.T) {
	files := []packed{{"handoff-gate", 0o755, []byte("program")}, {"LICENSE", 0o644, []byte("text")}}
	when, err := commitTime(t.Context(), snapshot(t))
	if err != nil {
		t.Fatal(err)
	}
	data, err := packTar(files, when)
	if err != nil {
		t.Fatal(err)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(unzipped)
	for _, want := range files {
		header, err := archive.Next()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil || header.Name != want.name || header.Mode != want.mode || !header.ModTime.Equal(when) || !bytes.Equal(content, want.data) {
			t.Errorf("tar: %+v %q (%v), expected %+v", header, content, err, want)
		}
	}
	data, err = packZip(files, when)
	if err != nil {
		t.Fatal(err)
	}
	zipped, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(zipped.File) != len(files) {
		t.Fatalf("zip: %v, %v", zipped, err)
	}
	for i, want := range files {
		if got := zipped.File[i]; got.Name != want.name || int64(got.Mode().Perm()) != want.mode || !got.Modified.Equal(when) {
			t.Errorf("zip: %+v, expected %+v", got.FileHeader, want)
		}
	}
}

// The release commit is a child of HEAD that changes action.yml in its one line and
// adds the composite action's two files; nothing else of the repository moves.
func TestCommit(t *testing.T) {
	module := snapshot(t)
	ctx := t.Context()
	id, err := testRelease.Commit(ctx, module, testImage, sums(testVersion))
	if err != nil {
		t.Fatal(err)
	}
	must := func(args ...string) string {
		t.Helper()
		out, err := git(ctx, module, nil, args...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if got, want := must("rev-parse", id+"^"), must("rev-parse", "HEAD"); got != want {
		t.Errorf("its parent is %s, HEAD is %s", got, want)
	}
	changed := must("diff-tree", "-r", "--name-status", "HEAD", id)
	if want := "A\t.github/actions/run/checksums.txt\nA\t.github/actions/run/version.txt\nM\taction.yml"; changed != want {
		t.Errorf("it changes\n%s\nexpected\n%s", changed, want)
	}
	lines := must("diff-tree", "-r", "-p", "--unified=0", "HEAD", id, "--", "action.yml")
	if !strings.Contains(lines, "\n-  image: Dockerfile\n+  image: docker://"+testImage) || strings.Count(lines, "\n-") != 2 {
		t.Errorf("action.yml changes elsewhere:\n%s", lines)
	}
	if again, err := testRelease.Commit(ctx, module, testImage, sums(testVersion)); err != nil || again != id {
		t.Errorf("the same arguments give %s (%v), then %s", id, err, again)
	}
	if status := must("status", "--porcelain"); status != "" {
		t.Errorf("the work tree or the index has changed:\n%s", status)
	}
	if refs := must("for-each-ref", "--points-at", id); refs != "" {
		t.Errorf("a ref was made: %s", refs)
	}
}

// What a release must not be made from.
func TestCommitRefuses(t *testing.T) {
	module := snapshot(t)
	short := sums(testVersion)
	short = short[:bytes.LastIndexByte(bytes.TrimSpace(short), '\n')+1]
	for _, tt := range []struct {
		name, version, image string
		checksums            []byte
	}{
		{"version without v", "1.2.3", testImage, sums(testVersion)},
		{"pre-release", "v1.2.3-rc.1", testImage, sums(testVersion)},
		{"image by tag", testVersion, "ghcr.io/handoff-gate/handoff-gate:v1.2.3", sums(testVersion)},
		{"image with a second line", testVersion, testImage + "\n  args: [x]", sums(testVersion)},
		{"an archive is missing", testVersion, testImage, short},
		{"archives of another version", testVersion, testImage, sums("v1.2.4")},
		{"no checksums", testVersion, testImage, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if id, err := (Release{tt.version, Platforms}).Commit(t.Context(), module, tt.image, tt.checksums); err == nil {
				t.Errorf("made %s", id)
			}
		})
	}
}

// The composite action of a release, as its script runs it: it downloads the archive
// of this platform, checks it and starts the gate; an archive with other bytes, and a
// checkout that is no release, are refused before anything is run.
func TestCompositeAction(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: compiles the program; not with -short")
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("SKIPPED: the composite action needs curl, which this machine lacks")
	}
	ctx := t.Context()
	module := snapshot(t)
	dist := filepath.Join(t.TempDir(), "dist")
	here := Platform{runtime.GOOS, runtime.GOARCH}
	if err := (Release{testVersion, []Platform{here}}).Archives(ctx, module, dist, nil, io.Discard); err != nil {
		t.Fatal(err)
	}
	// The archives of the other platforms are of no interest here, but a release has them.
	built, err := os.ReadFile(filepath.Join(dist, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	checksums := built
	for line := range strings.Lines(string(sums(testVersion))) {
		if !strings.Contains(line, here.Archive(testVersion)) {
			checksums = append(checksums, line...)
		}
	}
	id, err := testRelease.Commit(ctx, module, testImage, checksums)
	if err != nil {
		t.Fatal(err)
	}
	released := filepath.Join(t.TempDir(), "released")
	if _, err := git(ctx, module, nil, "worktree", "add", "--quiet", "--detach", released, id); err != nil {
		t.Fatal(err)
	}

	tampered := false
	var authorized atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer "+testToken {
			authorized.Add(1)
		}
		name := strings.TrimPrefix(r.URL.Path, "/"+testVersion+"/")
		data, err := os.ReadFile(filepath.Join(dist, filepath.Base(name)))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		if tampered {
			data = append(data, 0)
		}
		_, _ = w.Write(data)
	}))
	defer server.Close()

	repository := filepath.Join(t.TempDir(), "tide-tables")
	commits, err := sample.Build(ctx, filepath.Join(root(t), "testdata", "sample"), repository)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name      string
		script    string // the folder that holds .github
		tampered  bool
		head, sha string
		status    int
		says      string
	}{
		{"a change that fails", released, false, commits.Failing, commits.FailingMerge, 1, "handoff-not-updated"},
		{"its repaired twin", released, false, commits.Repaired, commits.RepairedMerge, 0, ""},
		{"an archive with other bytes", released, true, commits.Repaired, commits.RepairedMerge, 2, "it is not run"},
		{"the default branch", module, false, commits.Repaired, commits.RepairedMerge, 2, "this is not a released version"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tampered = tt.tampered
			if err := sample.Checkout(ctx, repository, tt.sha); err != nil {
				t.Fatal(err)
			}
			temp := t.TempDir()
			r := sample.Run{Workspace: repository, Commands: filepath.Join(t.TempDir(), "commands"), SHA: tt.sha, APIURL: server.URL, ServerURL: server.URL}
			if err := r.Prepare(sample.PullRequest("opened", commits.Base, tt.head)); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(ctx, "bash", filepath.Join(tt.script, ".github", "actions", "run", "run.sh"))
			seen := filepath.Join(t.TempDir(), "seen")
			cmd.Env = append(r.Environ(r.Workspace, r.Commands), "PATH="+watchingCurl(t, seen)+string(os.PathListSeparator)+os.Getenv("PATH"), "RUNNER_TEMP="+temp,
				"HANDOFF_GATE_RELEASES="+server.URL, "INPUT_TOKEN="+testToken,
				// As an earlier step sets them through GITHUB_ENV. Neither counts.
				"INPUT_POLICY-FROM=neither", "INPUT_WORKING-DIRECTORY=no/such/folder")
			output, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if status := cmd.ProcessState.ExitCode(); status != tt.status || !strings.Contains(string(output), tt.says) {
				t.Errorf("exit status %d, expected %d and %q\n%s", status, tt.status, tt.says, output)
			}
			written, err := r.Output()
			verdict := map[int]string{0: "pass", 1: "fail", 2: "error"}[tt.status]
			if err != nil || !regexp.MustCompile(`(?m)^verdict(=|<<\w+\n)`+verdict+`$`).MatchString(written) {
				t.Errorf("outputs (%v): %q, expected the verdict %s", err, written, verdict)
			}
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("left on the runner: %v, %v", left, err)
			}
			// The gate has the token; what the script was started with, and what it
			// starts beside the gate, has not.
			if got := authorized.Swap(0) > 0; got != (tt.status < 2) {
				t.Errorf("the API was called with the token: %v", got)
			}
			if data, err := os.ReadFile(seen); err == nil && strings.Contains(string(data), testToken) {
				t.Error("the script keeps the token where every process of its user can read it")
			}
		})
	}
}

const testToken = "ghs_tokenOfTheCompositeAction"

// No input reaches the program under a name with `-`, in whatever letters: for a program
// on Windows they are all the same, and an earlier step could choose whose policy judges.
func TestCompositeDropsForeignInputs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the stand-in of the program is a shell script")
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("SKIPPED: the composite action needs curl, which this machine lacks")
	}
	dir := t.TempDir()
	here := Platform{runtime.GOOS, runtime.GOARCH}
	archive, err := packTar([]packed{{name: here.Program(), mode: 0o755, data: []byte("#!/usr/bin/env bash\nenv\n")}}, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(root(t), ".github", "actions", "run", "run.sh"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"run.sh": script, "version.txt": []byte(testVersion + "\n"), "releases/" + testVersion + "/" + here.Archive(testVersion): archive,
		"checksums.txt": fmt.Appendf(nil, "%x  %s\n", sha256.Sum256(archive), here.Archive(testVersion)),
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "bash", filepath.Join(dir, "run.sh"))
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "RUNNER_TEMP=" + t.TempDir(), "HANDOFF_GATE_RELEASES=file://" + dir + "/releases", "INPUT_TOKEN=" + testToken,
		"INPUT_POLICY_FROM=base", "INPUT_POLICY-FROM=head", "input_policy-from=head", "Input_Check-Run=off", "OTHER-NAME=kept",
	}
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	got := "\n" + string(output)
	for _, want := range []string{"\nINPUT_POLICY_FROM=base\n", "\nINPUT_TOKEN=" + testToken + "\n", "\nOTHER-NAME=kept\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the program does not get %q:\n%s", want, got)
		}
	}
	if m := regexp.MustCompile(`(?mi)^input_\w*-.*$`).FindAllString(got, -1); m != nil {
		t.Errorf("the program gets %q", m)
	}
}

// watchingCurl gives a folder with a curl that first writes to a file what it and
// the script that calls it were started with, as far as /proc tells.
func watchingCurl(t *testing.T, file string) string {
	t.Helper()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("SKIPPED: there is no curl here")
	}
	dir := t.TempDir()
	script := "#!/bin/sh\ncat /proc/$PPID/environ /proc/self/environ >'" + file + "' 2>/dev/null\nexec '" + curl + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "curl"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The rehearsal goes through a whole release and finds that two builds of one commit
// have the same bytes. Two platforms stand for all: the second has the other form of
// archive.
func TestRehearse(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: compiles the program from nothing; not with -short")
	}
	dist := filepath.Join(t.TempDir(), "dist")
	platforms := []Platform{{runtime.GOOS, runtime.GOARCH}, {"windows", runtime.GOARCH}}
	var out strings.Builder
	if err := Rehearse(t.Context(), snapshot(t), dist, platforms, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, p := range platforms {
		if _, err := os.Stat(filepath.Join(dist, p.Archive(rehearsedVersion))); err != nil {
			t.Error(err)
		}
	}
	// Whoever installs the program gets its manual page and completion with it.
	listed, err := exec.CommandContext(t.Context(), "tar", "-tzf", filepath.Join(dist, platforms[0].Archive(rehearsedVersion))).Output()
	want := "handoff-gate\nman/handoff-gate.1\ncompletions/handoff-gate.bash\ncompletions/_handoff-gate\ncompletions/handoff-gate.fish\nLICENSE\nREADME.md\n"
	if err != nil || string(listed) != want {
		t.Errorf("the archive holds (%v)\n%s", err, listed)
	}
	if !strings.Contains(out.String(), "has the same bytes") || !strings.Contains(out.String(), "M\taction.yml") {
		t.Errorf("it says\n%s", &out)
	}
}

// Two files that differ are not called the same.
func TestSame(t *testing.T) {
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	for file, text := range map[string]string{a: "one", b: "two"} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if same(a, a) != nil || same(a, b) == nil {
		t.Errorf("equal files: %v; different ones: %v", same(a, a), same(a, b))
	}
}

// A Dockerfile whose base images nobody has pinned yet is refused in words, and
// pinning writes what the registry says.
func TestPins(t *testing.T) {
	dir := t.TempDir()
	dockerfile := filepath.Join(dir, "Dockerfile")
	before := "ARG GO_IMAGE=golang:1.26-bookworm@sha256:" + noDigest + "\nARG DEBIAN_IMAGE=debian:bookworm-slim@sha256:" + noDigest + "\nFROM ${GO_IMAGE}\n"
	if err := os.WriteFile(dockerfile, []byte(before), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := CheckPins(dockerfile); err == nil || !strings.Contains(err.Error(), "make pin-images") {
		t.Errorf("placeholders: %v", err)
	}

	// A docker that answers as the registry would.
	digest := strings.Repeat("c", 64)
	fake := filepath.Join(dir, "docker")
	answer := func(text string) {
		t.Helper()
		if err := os.WriteFile(fake, []byte("#!/bin/sh\necho '"+text+"'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	answer("something else")
	if err := UpdatePins(context.Background(), dockerfile, io.Discard); err == nil {
		t.Error("an answer that is no digest was written")
	}
	answer("sha256:" + digest)
	if err := UpdatePins(context.Background(), dockerfile, io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := CheckPins(dockerfile); err != nil {
		t.Error(err)
	}
	after, err := os.ReadFile(dockerfile)
	if want := strings.ReplaceAll(before, noDigest, digest); err != nil || string(after) != want {
		t.Errorf("%v\n%s", err, after)
	}
}
