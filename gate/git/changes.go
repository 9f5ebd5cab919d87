package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
)

var rawFlags = []string{"-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=none", "--no-ext-diff", "--no-textconv"}

// Changes compares the trees of two commits or trees, named by full ids.
func (r *Repo) Changes(ctx context.Context, base, head string) ([]gate.Change, error) {
	if !IsFullID(base) || !IsFullID(head) {
		return nil, fs.ErrNotExist
	}
	return r.raw(ctx, inOrder, append(append([]string{"diff-tree"}, rawFlags...), "--end-of-options", base, head, "--")...)
}

// ChangesBelow is Changes for the paths below one folder ("." for all). A small
// change is found without starting a process.
func (r *Repo) ChangesBelow(ctx context.Context, base, head, dir string) ([]gate.Change, error) {
	if !IsFullID(base) || !IsFullID(head) {
		return nil, fs.ErrNotExist
	}
	if changes, ok := r.smallChange(base, head, dir); ok {
		return changes, nil
	}
	if dir == "." {
		return r.Changes(ctx, base, head)
	}
	return r.raw(ctx, inOrder, append(append([]string{"diff-tree"}, rawFlags...), "--end-of-options", base, head, "--", dir)...)
}

// Staged compares a commit or tree with the index. What "git add -N" only
// announced is in no commit made of the index, so it is no change. Paths narrow
// it to themselves and what is below them.
func (r *Repo) Staged(ctx context.Context, tree string, paths ...string) ([]gate.Change, error) {
	if !IsFullID(tree) {
		return nil, fs.ErrNotExist
	}
	args := append(append([]string{"diff-index", "--cached", "--ita-invisible-in-index"}, rawFlags...), "--end-of-options", tree, "--")
	return r.raw(ctx, anyOrder, append(args, paths...)...)
}

// order is what is known of the paths of a comparison.
type order bool

const (
	anyOrder order = false // an unmerged path may come twice
	inOrder  order = true  // each path once, by bytes
)

// errOrder is about a tree that git itself never writes. Its entries stand in
// another order or one of them twice, so that a file which nobody changed is
// deleted and added, and would count as touched.
var errOrder = errors.New("a tree is malformed: its names are not in order")

func (r *Repo) raw(ctx context.Context, o order, args ...string) (changes []gate.Change, err error) {
	err = r.stream(ctx, r.treeMode(), func(piece string) (rest string, err error) {
		// append grows a long slice by a quarter, doubling copies less.
		if most := len(piece) / shortestRecord; cap(changes)-len(changes) < most {
			changes = slices.Grow(changes, max(most, len(changes)))
		}
		first := max(len(changes), 1)
		changes, rest, err = parseRaw(changes, piece)
		if err = bounded(len(changes), err); err != nil || o == anyOrder {
			return rest, err
		}
		for i := first; i < len(changes); i++ {
			if changes[i].Path <= changes[i-1].Path {
				return rest, errOrder
			}
		}
		return rest, nil
	}, args...)
	if err != nil {
		return nil, err
	}
	return changes, nil
}

// parseRaw adds the whole records of `--raw -z` at the beginning of out and gives
// the rest. What is not exactly such a record is an error, never a shorter list.
// The changes share the memory of out.
func parseRaw(changes []gate.Change, out string) ([]gate.Change, string, error) {
	for len(out) > 0 {
		if out[0] != ':' {
			return nil, out, errRaw
		}
		info := strings.IndexByte(out, 0)
		if info < 0 {
			break
		}
		end := strings.IndexByte(out[info+1:], 0)
		if end < 0 {
			break
		}
		if end == 0 {
			return nil, out, errRaw
		}
		c, err := parseRecord(out[1:info])
		if err != nil {
			return nil, out, err
		}
		c.Path = out[info+1 : info+1+end]
		changes = append(changes, c)
		out = out[info+end+2:]
	}
	return changes, out, nil
}

// shortestRecord is the length of a record with a path of one byte.
const shortestRecord = len(":100644 100644  M\x00p\x00") + 2*40 + 1

var errRaw = errors.New("git printed a record of changes that cannot be read")

// parseRecord reads "oldmode newmode oldid newid status". All its fields have
// a fixed length, the ids one of two.
func parseRecord(s string) (c gate.Change, err error) {
	const modes = len("100644 100644 ")
	id := (len(s) - modes - len("  M")) / 2
	if len(s) != modes+2*id+len("  M") || id != 40 && id != 64 ||
		s[6] != ' ' || s[13] != ' ' || s[modes+id] != ' ' || s[modes+2*id+1] != ' ' {
		return c, errRaw
	}
	if c.OldMode, err = parseMode(s[:6]); err != nil {
		return c, err
	}
	if c.NewMode, err = parseMode(s[7:13]); err != nil {
		return c, err
	}
	c.OldID, c.NewID = s[modes:modes+id], s[modes+id+1:modes+2*id+1]
	if !isHex(c.OldID) || !isHex(c.NewID) {
		return c, errRaw
	}
	c.Status = s[len(s)-1]
	switch c.Status {
	case 'A', 'D', 'M', 'T', 'U':
		return c, nil
	}
	return c, fmt.Errorf("git printed a change of the unknown kind %q", s[len(s)-1:])
}

func parseMode(s string) (uint32, error) {
	switch s {
	case "000000":
		return 0, nil
	case "100644":
		return 0o100644, nil
	case "100755":
		return 0o100755, nil
	}
	m, err := strconv.ParseUint(s, 8, 32)
	if err != nil || len(s) != 6 {
		return 0, errRaw
	}
	return uint32(m), nil
}
