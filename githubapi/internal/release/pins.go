package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// pinForm is a line of the Dockerfile that names a base image.
var pinForm = regexp.MustCompile(`(?m)^ARG ([A-Z]+_IMAGE)=([a-z0-9./_-]+:[A-Za-z0-9._-]+)@sha256:([0-9a-f]{64})$`)

// noDigest is what stands in the Dockerfile until a registry has been asked. No
// image has it, so a build with it stops.
var noDigest = strings.Repeat("0", 64)

// CheckPins tells whether every base image of the Dockerfile is pinned by a digest
// that a registry gave.
func CheckPins(dockerfile string) error {
	text, err := os.ReadFile(dockerfile)
	if err != nil {
		return err
	}
	pins := pinForm.FindAllStringSubmatch(string(text), -1)
	if len(pins) == 0 {
		return errors.New("the Dockerfile names no base image by digest")
	}
	for _, pin := range pins {
		if pin[3] == noDigest {
			return fmt.Errorf("%s has no digest yet: run `make pin-images` where the registry can be reached, and commit the Dockerfile", pin[1])
		}
	}
	return nil
}

// UpdatePins asks the registry for the digest that each base image's tag has now and
// writes them into the Dockerfile. It is the only writer of digests.
func UpdatePins(ctx context.Context, dockerfile string, out io.Writer) error {
	text, err := os.ReadFile(dockerfile)
	if err != nil {
		return err
	}
	updated := string(text)
	for _, pin := range pinForm.FindAllStringSubmatch(updated, -1) {
		name := pin[2]
		cmd := exec.CommandContext(ctx, "docker", "buildx", "imagetools", "inspect", "--format", "{{.Manifest.Digest}}", name)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		answer, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("ask for the digest of %s: %w\n%s", name, err, &stderr)
		}
		digest := strings.TrimSpace(string(answer))
		if !regexp.MustCompile(`^sha256:[0-9a-f]{64}$`).MatchString(digest) {
			return fmt.Errorf("the registry's answer for %s is no digest: %q", name, digest)
		}
		updated = strings.Replace(updated, pin[0], "ARG "+pin[1]+"="+name+"@"+digest, 1)
		if _, err := fmt.Fprintf(out, "%s %s@%s\n", pin[1], name, digest); err != nil {
			return err
		}
	}
	return os.WriteFile(dockerfile, []byte(updated), 0o644)
}
