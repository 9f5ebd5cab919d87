//go:build unix

package git

import (
	"context"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// giveBack gives what a fetch left to root in the object store to the owner of
// the repository: files of root would break the next job's clean-up on a
// self-hosted runner (github-action.md 3).
func (r *Repo) giveBack(ctx context.Context) {
	if os.Geteuid() != 0 {
		return
	}
	out, err := r.output(ctx, "rev-parse", "--git-common-dir")
	if err != nil {
		return
	}
	dir := absolute(r.top, strings.TrimSuffix(string(out), "\n"))
	info, err := os.Lstat(dir)
	if err != nil {
		return
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid == 0 {
		return
	}
	// Its owner may write to the folder meanwhile, so no link in it is followed out.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	for _, name := range []string{"objects", "shallow"} {
		if info, err := root.Lstat(name); err != nil || info.Mode()&fs.ModeSymlink != 0 {
			continue
		}
		// What cannot be given away stays root's; the fetch is good all the same.
		_ = fs.WalkDir(root.FS(), name, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // see above.
			}
			if info, err := d.Info(); err == nil {
				if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid == 0 {
					_ = root.Lchown(p, int(owner.Uid), int(owner.Gid))
				}
			}
			return nil
		})
	}
}
