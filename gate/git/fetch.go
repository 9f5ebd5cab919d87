package git

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/handoff-gate/handoff-gate/gate/proc"
)

// FetchError says why a commit could not be fetched.
type FetchError struct {
	Gone    bool   // the server no longer has the commit
	Denied  bool   // the server refused access
	Message string // what git said; outside text
}

func (e *FetchError) Error() string { return e.Message }

const (
	fetchTries = 3           // how often a fetch is tried
	fetchWait  = time.Second // before the second try, twice as long before the third
)

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
	return r.fetch(ctx, nil, append(args, "--end-of-options", "origin", id)...)
}

// fetch runs a fetch until it succeeds, its tries are used up, or the answer is
// one that another try would not change.
func (r *Repo) fetch(ctx context.Context, stdin []byte, args ...string) error {
	for try := 1; ; try++ {
		c := r.command(network, args...)
		if stdin != nil {
			c.Stdin = bytes.NewReader(stdin)
		}
		_, err := proc.Run(ctx, c)
		r.giveBack(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		f := classify(failure(ctx, args[0], err))
		if f.Gone || f.Denied || try == fetchTries || strings.Contains(f.Message, "does not appear to be a git repository") {
			return f
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(try) * fetchWait):
		}
	}
}

// object reads a blob or a tree. In a partial clone that may fetch on demand it
// comes from the server when the clone lacks it. Commits are never asked for in
// this way: a file of the change under review could name one, and git would
// fetch its whole history.
func (r *Repo) object(id string) (object, io.ReadCloser, error) {
	if r.fetches() && IsFullID(id) {
		return r.onDemand.request(id)
	}
	return r.batch.request(id)
}

// fetches tells whether objects are fetched on demand.
func (r *Repo) fetches() bool { return r.onDemand != nil && !r.offline.Load() }

// treeMode is how commands run that compare or list trees: a partial clone may
// lack some.
func (r *Repo) treeMode() mode {
	if r.fetches() {
		return network
	}
	return plumbing
}

// Prefetch gets those of the blobs of a tree that a partial clone lacks in one
// fetch, where one by one each would be a round trip. It does nothing in any
// other clone. After a failure nothing more is fetched on demand: whoever reads
// one of the blobs is told that the clone lacks it.
func (r *Repo) Prefetch(ctx context.Context, tree string, blobs []string) error {
	if !r.fetches() || len(blobs) == 0 || !IsFullID(tree) {
		return nil
	}
	// cat-file --batch-check would end at the first that is missing.
	out, err := r.output(ctx, "rev-list", "--objects", "--no-object-names", "--no-walk", "--missing=print", tree, "--")
	if err != nil {
		return err
	}
	missing := map[string]bool{}
	for line := range bytes.Lines(out) {
		if id, ok := bytes.CutPrefix(bytes.TrimSuffix(line, []byte("\n")), []byte("?")); ok {
			missing[string(id)] = true
		}
	}
	var wanted bytes.Buffer
	for _, id := range blobs {
		if missing[id] && IsFullID(id) {
			delete(missing, id)
			wanted.WriteString(id + "\n")
		}
	}
	if wanted.Len() == 0 {
		return nil
	}
	err = r.fetch(ctx, wanted.Bytes(), "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head",
		"--filter=blob:none", "--stdin", "--end-of-options", "origin")
	if err != nil {
		r.Offline()
	}
	return err
}

// Offline ends the long-lived children and all fetching on demand. It is called
// before programs of the checkout run: they could read the token from a child's
// environment, or change the configuration that a fetch would follow.
func (r *Repo) Offline() {
	r.batch.rest()
	if r.onDemand == nil || r.offline.Swap(true) {
		return
	}
	if r.onDemand.close() {
		r.giveBack(context.Background())
	}
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
//
// A child that has the token starts no program that the configuration names, as
// whatever git starts inherits its environment: credentials come from nowhere
// else, and only the transports that the header is for are left. Where origin is
// on another server or reached in another way, the token is of no use, and git
// does not get it.
func (r *Repo) credential() []setting {
	if r.token == "" || r.server == "" || !r.atServer() {
		return []setting{{"protocol.ext.allow", "never"}}
	}
	key := "http." + strings.TrimSuffix(r.server, "/") + "/.extraheader"
	return []setting{
		{key, ""},
		{key, "Authorization: Basic " + basicToken(r.token)},
		{"protocol.allow", "never"},
		{"protocol.https.allow", "always"},
		{"protocol.http.allow", "always"},
		{"protocol.ext.allow", "never"},
		{"credential.helper", ""},
		{"core.askPass", ""},
		{"core.alternateRefsCommand", ""},
	}
}

// atServer tells whether origin, as git resolves it, is a URL of the server that
// the token is for.
func (r *Repo) atServer() bool {
	r.originOnce.Do(func() {
		out, err := r.output(context.Background(), "ls-remote", "--get-url", "origin")
		if err != nil {
			return
		}
		origin, err := url.Parse(strings.TrimSuffix(string(out), "\n"))
		if err != nil {
			return
		}
		server, err := url.Parse(r.server)
		if err != nil {
			return
		}
		r.originIsServer = (origin.Scheme == "https" || origin.Scheme == "http") && origin.Scheme == server.Scheme &&
			strings.EqualFold(origin.Host, server.Host) &&
			strings.HasPrefix(origin.Path, strings.TrimSuffix(server.Path, "/")+"/")
	})
	return r.originIsServer
}

// basicToken is the form of a token that stands in the header.
func basicToken(token string) string {
	return base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token))
}

// IsPartial tells whether the clone leaves objects to its promisor remote.
func (r *Repo) IsPartial(ctx context.Context) bool {
	out, err := r.output(ctx, "config", "--get-regexp", `^(extensions\.partialclone|remote\..*\.promisor)$`)
	return err == nil && len(bytes.TrimSpace(out)) > 0
}

// IsSubmodule tells whether the repository is a submodule of another one: git
// keeps its objects below the "modules" of that one's .git.
func (r *Repo) IsSubmodule(ctx context.Context) bool {
	out, err := r.output(ctx, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return false
	}
	parts := strings.Split(filepath.ToSlash(strings.TrimSpace(string(out))), "/")
	i := slices.Index(parts, ".git")
	return i >= 0 && slices.Contains(parts[i:], "modules")
}
