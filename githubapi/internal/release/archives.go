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
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A Platform is what one archive is for.
type Platform struct{ OS, Arch string }

// Platforms are those that a release has archives for. The composite action
// (.github/actions/run) knows the same ones.
var Platforms = []Platform{
	{"darwin", "amd64"},
	{"darwin", "arm64"},
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"windows", "amd64"},
	{"windows", "arm64"},
}

// Archive is the file name of a platform's archive.
func (p Platform) Archive(version string) string {
	suffix := ".tar.gz"
	if p.OS == "windows" {
		suffix = ".zip"
	}
	return fmt.Sprintf("handoff-gate_%s_%s_%s%s", version, p.OS, p.Arch, suffix)
}

// Program is the file name of the binary inside it.
func (p Platform) Program() string {
	if p.OS == "windows" {
		return "handoff-gate.exe"
	}
	return "handoff-gate"
}

// A Release is what is made of one commit.
type Release struct {
	Version   string // vX.Y.Z
	Platforms []Platform
}

var versionForm = regexp.MustCompile(`^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$`)

func (r Release) check() error {
	if !versionForm.MatchString(r.Version) {
		return fmt.Errorf("%q is no version of the form v1.2.3", r.Version)
	}
	return nil
}

// Archives builds HEAD of the repository at root for each platform and writes the
// archives and their checksums.txt into dir, listing them on out. The compiler gets
// the variables of env too. Two calls for one commit write the same bytes: every time
// in them is the commit's.
func (r Release) Archives(ctx context.Context, root, dir string, env []string, out io.Writer) error {
	if err := r.check(); err != nil {
		return err
	}
	if dir == "" {
		return errors.New("-out is missing")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	revision, err := git(ctx, root, nil, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	when, err := commitTime(ctx, root)
	if err != nil {
		return err
	}
	version := strings.TrimPrefix(r.Version, "v")
	here := Platform{runtime.GOOS, runtime.GOARCH}
	ours, err := build(ctx, root, env, here, version, revision)
	if err != nil {
		return err
	}
	texts, err := printed(ctx, here, ours)
	if err != nil {
		return err
	}
	for _, name := range []string{"LICENSE", "README.md"} {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		texts = append(texts, packed{name: name, mode: 0o644, data: data})
	}
	var sums strings.Builder
	for _, p := range r.Platforms {
		program := ours
		if p != here {
			if program, err = build(ctx, root, env, p, version, revision); err != nil {
				return err
			}
		}
		files := append([]packed{{name: p.Program(), mode: 0o755, data: program}}, texts...)
		pack := packTar
		if p.OS == "windows" {
			pack = packZip
		}
		archive, err := pack(files, when)
		if err != nil {
			return err
		}
		name := p.Archive(r.Version)
		if err := os.WriteFile(filepath.Join(dir, name), archive, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(archive), name)
		if _, err := fmt.Fprintf(out, "%8.2f MB  %s\n", float64(len(archive))/1e6, name); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "checksums.txt"), []byte(sums.String()), 0o644)
}

// build compiles the program as the Dockerfile does and returns its bytes.
func build(ctx context.Context, root string, env []string, p Platform, version, revision string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "handoff-gate-build-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, p.Program())
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -buildid= -X main.version="+version+" -X main.commit="+revision,
		"-o", file, ".")
	cmd.Dir = root
	cmd.Env = append(append(os.Environ(), env...),
		"CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOOS="+p.OS, "GOARCH="+p.Arch,
		// The baseline of each architecture, whatever the machine at hand prefers.
		"GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=")
	if output, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build for %s/%s: %w\n%s", p.OS, p.Arch, err, output)
	}
	return os.ReadFile(file)
}

// printed are the files that the program prints of itself: its manual page, and
// completion for shells.
func printed(ctx context.Context, here Platform, program []byte) ([]packed, error) {
	dir, err := os.MkdirTemp("", "handoff-gate-texts-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, here.Program())
	if err := os.WriteFile(file, program, 0o755); err != nil {
		return nil, err
	}
	var files []packed
	for _, f := range []struct{ name, command string }{
		{"man/handoff-gate.1", "man"},
		{"completions/handoff-gate.bash", "completion bash"},
		{"completions/_handoff-gate", "completion zsh"},
		{"completions/handoff-gate.fish", "completion fish"},
	} {
		text, err := exec.CommandContext(ctx, file, strings.Fields(f.command)...).Output()
		if err != nil {
			return nil, fmt.Errorf("handoff-gate %s: %w", f.command, err)
		}
		files = append(files, packed{name: f.name, mode: 0o644, data: text})
	}
	return files, nil
}

// packed is one file of an archive.
type packed struct {
	name string
	mode int64
	data []byte
}

func packTar(files []packed, when time.Time) ([]byte, error) {
	var buffer bytes.Buffer
	// The header of gzip keeps no name and no time.
	compressed, err := gzip.NewWriterLevel(&buffer, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(compressed)
	for _, f := range files {
		header := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: when, Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(archive.Close(), compressed.Close()); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}

func packZip(files []packed, when time.Time) ([]byte, error) {
	var buffer bytes.Buffer
	archive := zip.NewWriter(&buffer)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: when}
		header.SetMode(os.FileMode(f.mode))
		w, err := archive.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}

// commitTime is the committer date of HEAD.
func commitTime(ctx context.Context, root string) (time.Time, error) {
	text, err := git(ctx, root, nil, "log", "-1", "--format=%ct")
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, err
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// git runs one git command in dir, with more variables, and gives its trimmed output.
func git(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	output, err := gitOutput(ctx, dir, env, nil, args...)
	return strings.TrimSpace(string(output)), err
}

// gitOutput gives a git command its input and returns its output byte for byte.
func gitOutput(ctx context.Context, dir string, env []string, input []byte, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin = bytes.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, &stderr)
	}
	return output, nil
}
