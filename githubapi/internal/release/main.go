// Command release does the steps of a release that need no registry, so that they
// can be rehearsed anywhere and the workflow only strings them together
// (.github/workflows/release.yml):
//
//	release archives -version v1.2.3 -out DIR            binaries for every platform, checksums.txt
//	release commit -version v1.2.3 -image NAME@sha256:…  the commit that the tag points at; prints its id
//	    -checksums FILE
//	release rehearse -out DIR                            both, in a scratch clone
//	release pins [-update]                               the base images of the Dockerfile
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/handoff-gate/handoff-gate/githubapi/internal/sample"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("which step? archives, commit, rehearse or pins")
	}
	root, err := sample.Root()
	if err != nil {
		return err
	}
	flags := flag.NewFlagSet("release "+args[0], flag.ContinueOnError)
	version := flags.String("version", "", "the version to release, vX.Y.Z")
	dir := flags.String("out", "", "folder for what is made")
	image := flags.String("image", "", "the published image, NAME@sha256:DIGEST")
	checksums := flags.String("checksums", "", "the checksums.txt of the archives")
	update := flags.Bool("update", false, "ask the registry for today's digests and write them")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if *dir != "" {
		if *dir, err = filepath.Abs(*dir); err != nil {
			return err
		}
	}

	release := Release{Version: *version, Platforms: Platforms}
	switch args[0] {
	case "archives":
		return release.Archives(ctx, root, *dir, nil, out)
	case "commit":
		sums, err := os.ReadFile(*checksums)
		if err != nil {
			return err
		}
		id, err := release.Commit(ctx, root, *image, sums)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, id)
		return err
	case "rehearse":
		return Rehearse(ctx, root, *dir, Platforms, out)
	case "pins":
		dockerfile := filepath.Join(root, "Dockerfile")
		if *update {
			return UpdatePins(ctx, dockerfile, out)
		}
		return CheckPins(dockerfile)
	}
	return fmt.Errorf("no step %q; there are archives, commit, rehearse and pins", args[0])
}
