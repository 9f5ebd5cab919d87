package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// rehearsed names what a rehearsal cannot know: the version, and the digest that a
// registry gives the image when it is pushed.
const (
	rehearsedVersion = "v0.0.0"
	rehearsedImage   = "ghcr.io/handoff-gate/handoff-gate@sha256:" +
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

// Rehearse makes a release of the committed HEAD in scratch clones: the archives in
// dir, the release commit, and the first platform's archive a second time, in another
// folder and without any compiled package of the first, which must come out the same.
// It says on out what it did, and what only a registry can show.
func Rehearse(ctx context.Context, root, dir string, platforms []Platform, out io.Writer) error {
	if dir == "" {
		return errors.New("-out is missing")
	}
	scratch, err := os.MkdirTemp("", "handoff-gate-rehearsal-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	first, second := filepath.Join(scratch, "first"), filepath.Join(scratch, "a second folder")
	for _, clone := range []string{first, second} {
		if _, err := git(ctx, root, nil, "clone", "--quiet", "--no-hardlinks", root, clone); err != nil {
			return err
		}
	}
	head, err := git(ctx, first, nil, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	say := func(format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(out, format, args...)
		}
	}

	say("archives of %.12s as %s:\n", head, rehearsedVersion)
	release := Release{Version: rehearsedVersion, Platforms: platforms}
	if err := release.Archives(ctx, first, dir, nil, out); err != nil {
		return err
	}
	again := filepath.Join(scratch, "again")
	one := Release{Version: rehearsedVersion, Platforms: platforms[:1]}
	if err := one.Archives(ctx, second, again, []string{"GOCACHE=" + filepath.Join(scratch, "cache")}, io.Discard); err != nil {
		return err
	}
	name := platforms[0].Archive(rehearsedVersion)
	if err := same(filepath.Join(dir, name), filepath.Join(again, name)); err != nil {
		return err
	}
	say("a second build of %s, in another folder and from nothing, has the same bytes\n", name)

	sums, readErr := os.ReadFile(filepath.Join(dir, "checksums.txt"))
	if readErr != nil {
		return readErr
	}
	commit, commitErr := release.Commit(ctx, first, rehearsedImage, sums)
	if commitErr != nil {
		return commitErr
	}
	diff, diffErr := git(ctx, first, nil, "diff-tree", "-r", "--no-renames", "--name-status", "HEAD", commit)
	if diffErr != nil {
		return diffErr
	}
	say("release commit %.12s changes:\n  %s\n", commit, strings.ReplaceAll(diff, "\n", "\n  "))
	say("not rehearsed: pushing the image, attestations, tags and the release page (they need the registry and the\nserver); the digest in the release commit is made up\n")
	return err
}

// same tells that two files have the same bytes.
func same(a, b string) error {
	left, err := os.ReadFile(a)
	if err != nil {
		return err
	}
	right, err := os.ReadFile(b)
	if err != nil {
		return err
	}
	if !bytes.Equal(left, right) {
		return fmt.Errorf("two builds of one commit differ: %s", filepath.Base(a))
	}
	return nil
}
