package git

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/proc"
)

// minShort is the shortest abbreviation of an id that a document may record:
// shorter ones soon name several objects.
const minShort = 7

// ShortHead abbreviates the id of HEAD as `git rev-parse --short HEAD` does, but
// to no fewer than seven digits whatever core.abbrev says. It is "" before the
// first commit.
func (r *Repo) ShortHead(ctx context.Context) (string, error) {
	id, err := r.short(ctx, "--short")
	if err == nil && id != "" && len(id) < minShort {
		id, err = r.short(ctx, "--short=7")
	}
	return id, err
}

func (r *Repo) short(ctx context.Context, flag string) (string, error) {
	out, err := r.output(ctx, "rev-parse", "--verify", "--quiet", flag, "HEAD")
	if saysNo(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	id := strings.TrimSuffix(string(out), "\n")
	if !IsIDPrefix(id) {
		return "", &Error{Command: "rev-parse", Message: "it gave no object id"}
	}
	return id, nil
}

// HookDir gives the folder that git runs hooks from, as the configuration of the
// user, the machine and the repository says together, and the common folder of
// the repository, which its linked worktrees share. Both are absolute; links in
// them are not resolved, and the first may not be there.
func (r *Repo) HookDir(ctx context.Context) (hooks, common string, err error) {
	// The path of a hook tells what that of the folder does not where
	// core.hooksPath is empty: git then looks at the root of the file system.
	if hooks, err = r.gitPath(ctx, "--git-path", "hooks/pre-commit"); err != nil {
		return "", "", err
	}
	common, err = r.gitPath(ctx, "--git-common-dir")
	return filepath.Dir(hooks), common, err
}

func (r *Repo) gitPath(ctx context.Context, question ...string) (string, error) {
	res, err := proc.Run(ctx, r.command(allConfig, append([]string{"-c", "safe.directory=" + r.top, "rev-parse"}, question...)...))
	if err != nil {
		return "", failure(ctx, "rev-parse", err)
	}
	p := strings.TrimSuffix(string(res.Stdout), "\n")
	if p == "" {
		return "", &Error{Command: "rev-parse", Message: "it gave no path"}
	}
	return absolute(r.top, filepath.FromSlash(p)), nil
}

// RemoteURL gives the URL of the remote origin; without one, that of the first
// remote in the order of `git remote`, which is by the bytes of their names. It
// is "" where no remote has a URL. A URL may hold a password: print no part of
// it unseen.
func (r *Repo) RemoteURL(ctx context.Context) (string, error) {
	out, err := r.output(ctx, "config", "-z", "--get-regexp", `^remote\..*\.url$`)
	if saysNo(err) {
		return "", nil // no such key
	}
	if err != nil {
		return "", err
	}
	return firstRemote(string(out)), nil
}

// OriginURL gives the URL of the remote origin; "" where there is none. It may hold
// a password: print no part of it unseen.
func (r *Repo) OriginURL(ctx context.Context) (string, error) {
	out, err := r.output(ctx, "config", "-z", "--get-all", "remote.origin.url")
	if saysNo(err) {
		return "", nil // no such key
	}
	first, _, _ := strings.Cut(string(out), "\x00")
	return first, err
}

// firstRemote chooses from the records "remote.NAME.url", LF, URL, NUL.
func firstRemote(records string) string {
	first, url := "", ""
	for record := range strings.SplitSeq(records, "\x00") {
		key, value, ok := strings.Cut(record, "\n")
		if !ok || value == "" {
			continue
		}
		name := strings.TrimSuffix(strings.TrimPrefix(key, "remote."), ".url")
		switch {
		case url != "" && name == first: // of several URLs git fetches from the first
		case url == "", name == "origin", name < first && first != "origin":
			first, url = name, value
		}
	}
	return url
}
