package git

import (
	"context"
	"errors"
	"strings"
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
	var e *Error
	if errors.As(err, &e) && e.Status == 1 {
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

// RemoteURL gives the URL of the remote origin; without one, that of the first
// remote in the order of `git remote`, which is by the bytes of their names. It
// is "" where no remote has a URL. A URL may hold a password: print no part of
// it unseen.
func (r *Repo) RemoteURL(ctx context.Context) (string, error) {
	out, err := r.output(ctx, "config", "-z", "--get-regexp", `^remote\..*\.url$`)
	var e *Error
	if errors.As(err, &e) && e.Status == 1 {
		return "", nil // no such key
	}
	if err != nil {
		return "", err
	}
	return firstRemote(string(out)), nil
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
