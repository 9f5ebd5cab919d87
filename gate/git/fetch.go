package git

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"strings"
)

// FetchError says why a commit could not be fetched.
type FetchError struct {
	Gone    bool   // the server no longer has the commit
	Denied  bool   // the server refused access
	Message string // what git said; outside text
}

func (e *FetchError) Error() string { return e.Message }

// fetchTries bounds how often a fetch is tried.
const fetchTries = 3

// Fetch gets one commit by its full id from the remote "origin". It writes no
// ref and no FETCH_HEAD, and never cuts the history of a complete clone. Files
// that root made are given to the owner of the repository.
func (r *Repo) Fetch(ctx context.Context, id string) error {
	if !IsFullID(id) {
		return fs.ErrNotExist
	}
	args := []string{"fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"}
	shallow, err := r.Shallow(ctx)
	if err != nil {
		return err
	}
	if shallow {
		args = append(args, "--depth=1")
	}
	args = append(args, "--end-of-options", "origin", id)
	var last *FetchError
	for range fetchTries {
		_, err := r.output(ctx, network, args...)
		r.giveBack(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		last = classify(err)
		if last.Gone || last.Denied {
			break
		}
	}
	return last
}

func classify(err error) *FetchError {
	said := err.Error()
	var e *Error
	if errors.As(err, &e) {
		said = e.Message
	}
	f := &FetchError{Message: said}
	for _, s := range []string{"not our ref", "couldn't find remote ref", "unadvertised object", "bad object"} {
		f.Gone = f.Gone || strings.Contains(said, s)
	}
	for _, s := range []string{"Authentication failed", "could not read Username", "could not read Password", "Permission denied", "not found", "returned error: 40", "access denied"} {
		f.Denied = f.Denied || strings.Contains(said, s)
	}
	return f
}

// credential gives the token to the server's own URL and nothing else. The
// empty value before it clears the header that a checkout may have left in the
// repository's configuration: two Authorization headers are refused.
func (r *Repo) credential() []setting {
	if r.token == "" || r.server == "" {
		return nil
	}
	key := "http." + strings.TrimSuffix(r.server, "/") + "/.extraheader"
	return []setting{{key, ""}, {key, "Authorization: Basic " + BasicToken(r.token)}}
}

// BasicToken is the form of a token that stands in the header.
func BasicToken(token string) string {
	return base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token))
}

// IsPartial tells whether the clone leaves objects to its promisor remote.
func (r *Repo) IsPartial(ctx context.Context) bool {
	out, err := r.output(ctx, plumbing, "config", "--get-regexp", `^(extensions\.partialclone|remote\..*\.promisor)$`)
	return err == nil && len(bytes.TrimSpace(out)) > 0
}
