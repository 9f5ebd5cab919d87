package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	return r.raw(ctx, append(append([]string{"diff-tree"}, rawFlags...), "--end-of-options", base, head, "--")...)
}

// ChangesBelow is Changes for the paths below one folder ("." for all).
func (r *Repo) ChangesBelow(ctx context.Context, base, head, dir string) ([]gate.Change, error) {
	if dir == "." {
		return r.Changes(ctx, base, head)
	}
	if !IsFullID(base) || !IsFullID(head) {
		return nil, fs.ErrNotExist
	}
	return r.raw(ctx, append(append([]string{"diff-tree"}, rawFlags...), "--end-of-options", base, head, "--", dir)...)
}

// Staged compares a commit or tree with the index.
func (r *Repo) Staged(ctx context.Context, tree string) ([]gate.Change, error) {
	if !IsFullID(tree) {
		return nil, fs.ErrNotExist
	}
	return r.raw(ctx, append(append([]string{"diff-index", "--cached"}, rawFlags...), "--end-of-options", tree, "--")...)
}

func (r *Repo) raw(ctx context.Context, args ...string) ([]gate.Change, error) {
	out, err := r.output(ctx, plumbing, args...)
	if err != nil {
		return nil, err
	}
	return ParseRaw(string(out))
}

// ParseRaw reads the NUL-separated records of `--raw -z`. Anything that is not
// exactly such a record is an error, never a shorter list. The changes share
// the memory of out.
func ParseRaw(out string) ([]gate.Change, error) {
	changes := make([]gate.Change, 0, strings.Count(out, "\x00")/2)
	for len(out) > 0 {
		end := strings.IndexByte(out, 0)
		if end < 0 || out[0] != ':' {
			return nil, errRaw
		}
		c, err := parseRecord(out[1:end])
		if err != nil {
			return nil, err
		}
		out = out[end+1:]
		end = strings.IndexByte(out, 0)
		if end <= 0 {
			return nil, errRaw
		}
		c.Path = out[:end]
		out = out[end+1:]
		changes = append(changes, c)
	}
	return changes, nil
}

var errRaw = errors.New("git printed a record of changes that cannot be read")

// parseRecord reads "oldmode newmode oldid newid status".
func parseRecord(s string) (c gate.Change, err error) {
	var field [5]string
	for i := range 4 {
		n := strings.IndexByte(s, ' ')
		if n < 0 {
			return c, errRaw
		}
		field[i], s = s[:n], s[n+1:]
	}
	field[4] = s
	if c.OldMode, err = parseMode(field[0]); err != nil {
		return c, err
	}
	if c.NewMode, err = parseMode(field[1]); err != nil {
		return c, err
	}
	c.OldID, c.NewID = field[2], field[3]
	if !IsFullID(c.OldID) || len(c.NewID) != len(c.OldID) || !isHex(c.NewID) {
		return c, errRaw
	}
	if len(field[4]) != 1 || !strings.Contains("ADMTU", field[4]) {
		return c, fmt.Errorf("git printed a change of the unknown kind %q", field[4])
	}
	c.Status = field[4][0]
	return c, nil
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
