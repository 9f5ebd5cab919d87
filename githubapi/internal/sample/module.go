package sample

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// CopyModule copies this module as it is now, committed or not but without what git
// ignores, from root into a repository of its own in dir, with one commit. What is
// built or released from there cannot change meanwhile, and nothing is written into
// the real repository.
func CopyModule(ctx context.Context, root, dir string) error {
	source := builder{ctx: ctx, dir: root}
	list := source.git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if source.err != nil {
		return fmt.Errorf("list the files of the module: %w", source.err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00") {
		file, target := filepath.Join(root, name), filepath.Join(dir, name)
		info, err := os.Lstat(file)
		if err != nil || !info.Mode().IsRegular() {
			continue // deleted, but not yet in the index; or a link in some test's data
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, data, info.Mode().Perm()); err != nil {
			return err
		}
	}
	b := builder{ctx: ctx, dir: dir}
	b.git("init", "--quiet")
	b.git("add", "--all", "--force")
	b.commit("2026-01-02T03:04:06Z", "A copy of the module")
	return b.err
}
