package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

var (
	imageForm    = regexp.MustCompile(`^[a-z0-9]+([._/-][a-z0-9]+)*@sha256:[0-9a-f]{64}$`)
	checksumForm = regexp.MustCompile(`^[0-9a-f]{64}  (\S+)$`)
	imageLine    = []byte("\n  image: Dockerfile\n")
)

// Commit makes the release commit: a child of HEAD, on no branch, whose action.yml
// names the published image by its digest and whose composite action holds the
// checksums of the archives. It returns the commit's id and changes neither ref,
// index nor work tree. The same arguments give the same id.
//
// Why a commit of its own: with `image: Dockerfile` every run of every user would
// build the image first, and a tag of the image could be moved under a workflow that
// pinned the action.
func (r Release) Commit(ctx context.Context, root, image string, checksums []byte) (string, error) {
	if err := r.check(); err != nil {
		return "", err
	}
	if !imageForm.MatchString(image) {
		return "", fmt.Errorf("%q does not name an image by digest (NAME@sha256:…)", image)
	}
	if err := r.complete(checksums); err != nil {
		return "", err
	}
	action, err := gitOutput(ctx, root, nil, nil, "cat-file", "blob", "HEAD:action.yml")
	if err != nil {
		return "", err
	}
	if bytes.Count(action, imageLine) != 1 {
		return "", errors.New("action.yml of HEAD does not have the line `  image: Dockerfile` exactly once")
	}
	action = bytes.Replace(action, imageLine, []byte("\n  image: docker://"+image+"\n"), 1)

	// An index of our own, so that nothing staged by hand gets into a release.
	scratch, err := os.MkdirTemp("", "handoff-gate-release-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch)
	when, err := commitTime(ctx, root)
	if err != nil {
		return "", err
	}
	date := strconv.FormatInt(when.Unix(), 10) + " +0000"
	const name, address = "github-actions[bot]", "41898282+github-actions[bot]@users.noreply.github.com"
	env := []string{
		"GIT_INDEX_FILE=" + filepath.Join(scratch, "index"),
		"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + address, "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + address, "GIT_COMMITTER_DATE=" + date,
	}
	if _, err := git(ctx, root, env, "read-tree", "HEAD"); err != nil {
		return "", err
	}
	for _, f := range []struct {
		path string
		data []byte
	}{
		{"action.yml", action},
		{".github/actions/run/version.txt", []byte(r.Version + "\n")},
		{".github/actions/run/checksums.txt", checksums},
	} {
		blob, err := gitOutput(ctx, root, env, f.data, "hash-object", "-w", "--no-filters", "--stdin")
		if err != nil {
			return "", err
		}
		entry := "100644," + string(bytes.TrimSpace(blob)) + "," + f.path
		if _, err := git(ctx, root, env, "update-index", "--add", "--cacheinfo", entry); err != nil {
			return "", err
		}
	}
	tree, err := git(ctx, root, env, "write-tree")
	if err != nil {
		return "", err
	}
	return git(ctx, root, env, "commit-tree", tree, "-p", "HEAD", "-m", "Release "+r.Version+"\n\nThe action of this commit runs "+image+".")
}

// complete checks that checksums has exactly the archives of a release.
func (r Release) complete(checksums []byte) error {
	want := map[string]bool{}
	for _, p := range r.Platforms {
		want[p.Archive(r.Version)] = true
	}
	for line := range strings.Lines(string(checksums)) {
		m := checksumForm.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			return fmt.Errorf("checksums: %q is not a digest and a name", line)
		}
		if !want[m[1]] {
			return fmt.Errorf("checksums: %s is no archive of %s, or is there twice", m[1], r.Version)
		}
		delete(want, m[1])
	}
	for name := range want {
		return fmt.Errorf("checksums: no line for %s", name)
	}
	return nil
}
