//go:build unix

package cli

import (
	"os"
	"syscall"
)

// owner is whom files in the workspace belong to. What root makes there would
// break the next job's clean-up on a self-hosted runner.
type owner struct{ uid, gid int }

// ownerOf gives the owner of a folder; nil where nothing needs to be given away.
func ownerOf(dir string) *owner {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Uid == 0 {
		return nil
	}
	return &owner{int(st.Uid), int(st.Gid)}
}

func (o *owner) give(root *os.Root, name string) {
	if o != nil {
		_ = root.Lchown(name, o.uid, o.gid) // the report is there all the same
	}
}
