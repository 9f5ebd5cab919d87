package git

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/proc"
)

// silence keeps git and what it starts from asking anybody: a terminal, a window,
// a browser. ssh asks on its terminal unless it is told to ask a program; that
// one answers nothing.
var silence = []string{"GIT_ASKPASS=", "SSH_ASKPASS=false", "SSH_ASKPASS_REQUIRE=force", "GCM_INTERACTIVE=never"}

// identity is needed where a repository keeps a log of its refs.
var identity = []string{
	"GIT_AUTHOR_NAME=handoff-gate", "GIT_AUTHOR_EMAIL=handoff-gate@localhost.invalid",
	"GIT_COMMITTER_NAME=handoff-gate", "GIT_COMMITTER_EMAIL=handoff-gate@localhost.invalid",
}

// beyondSettings go before the user's own: what would ask, start a helper program
// of a URL, or do more than what is asked for.
var beyondSettings = []setting{
	{"protocol.ext.allow", "never"},
	{"core.askPass", ""},
	{"credential.interactive", "never"},
	{"advice.graftFileDeprecated", "false"},
	{"gc.auto", "0"},
	{"maintenance.auto", "false"},
	{"fetch.recurseSubmodules", "false"},
	{"fetch.prune", "false"},
	{"push.recurseSubmodules", "no"},
	{"push.followTags", "false"},
	{"push.gpgSign", "false"},
}

// Remote is a repository behind a URL or the name of a remote, for records as in
// a Store. Objects are made and read in a temporary repository.
type Remote struct {
	name   string // what git is given: a URL, or the name of a remote
	repo   *Repo
	secret []string // what no message shows
	store  *Store   // nil until the object format is known
}

// RemoteOptions say which remote is meant.
type RemoteOptions struct {
	Name    string   // a URL, a path, or a remote of the repository at Dir
	Dir     string   // the current folder, absolute
	Environ []string // the gate's own environment
	Debug   func(command string)
}

// OpenRemote prepares a temporary folder; Close removes it. Nothing is asked yet.
func OpenRemote(ctx context.Context, o RemoteOptions) (*Remote, error) {
	r := &Remote{name: o.Name}
	var settings []setting
	if isName(o.Name) {
		var err error
		if settings, err = configured(ctx, o); err != nil {
			return nil, err
		}
	}
	if len(settings) == 0 && isPath(o.Name) {
		r.name = absolute(o.Dir, o.Name)
	}
	top, err := os.MkdirTemp("", "handoff-gate-ledger-")
	if err != nil {
		return nil, err
	}
	if top, err = filepath.EvalSymlinks(top); err == nil {
		r.repo, err = forLedger(top, o.Environ, o.Debug)
	}
	if err != nil {
		_ = os.RemoveAll(top)
		return nil, err
	}
	r.repo.settings = settings
	r.secret = append(r.secret, userOf(o.Name)...)
	for _, s := range settings {
		r.secret = append(r.secret, userOf(s.value)...)
	}
	return r, nil
}

// Close removes the temporary repository.
func (r *Remote) Close() error { return os.RemoveAll(r.repo.top) }

// isName tells what may be the name of a remote: git reads anything with a slash
// or a colon as a place.
func isName(s string) bool { return !strings.ContainsAny(s, `/\:`) }

// isPath tells a path on this machine from a URL and from host:path.
func isPath(s string) bool {
	if runtime.GOOS == "windows" && filepath.VolumeName(s) != "" {
		return true
	}
	colon, slash := strings.IndexByte(s, ':'), strings.IndexByte(s, '/')
	return colon < 0 || slash >= 0 && slash < colon
}

// carried are the settings of a repository that say how its remotes are reached.
var carried = regexp.MustCompile(`^(?:url\.|http\.|credential\.|core\.sshcommand$|core\.gitproxy$|ssh\.variant$)`)

// configured gives what the repository at hand says of a remote; nothing when it
// has none of that name, or is none.
func configured(ctx context.Context, o RemoteOptions) ([]setting, error) {
	repo, err := Open(ctx, Options{Dir: o.Dir, StartDir: o.Dir, Environ: o.Environ, Debug: o.Debug})
	if errors.Is(err, ErrNoRepository) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	out, err := repo.output(ctx, "config", "--list", "--show-scope", "--includes", "-z")
	if err != nil {
		return nil, err
	}
	var settings []setting
	known := false
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		if scope := fields[i]; scope != "local" && scope != "worktree" {
			continue
		}
		key, value, _ := strings.Cut(fields[i+1], "\n")
		if rest, ok := strings.CutPrefix(key, "remote."+o.Name+"."); ok {
			switch rest {
			case "url", "pushurl":
				known = true
				if isPath(value) {
					value = absolute(repo.top, value)
				}
			case "proxy", "proxyauthmethod", "uploadpack", "receivepack":
			default:
				continue
			}
		} else if !carried.MatchString(key) {
			continue
		}
		settings = append(settings, setting{key, value})
	}
	if !known {
		return nil, nil
	}
	return settings, nil
}

// run runs one command against the remote. What it says is stripped of what the
// address holds of a user.
func (r *Remote) run(ctx context.Context, trace bool, args ...string) (stdout []byte, said string, err error) {
	c := r.repo.command(beyond, args...)
	if trace {
		c.Env = append(c.Env, "GIT_TRACE_PACKET=2")
	}
	res, err := proc.Run(ctx, c)
	if err == nil {
		return res.Stdout, res.Stderr, nil
	}
	err = failure(ctx, args[0], err)
	var e *Error
	if errors.As(err, &e) {
		e.Message = r.masked(e.Message)
	}
	return nil, "", err
}

var userinfo = regexp.MustCompile(`(://)[^\s'"]*@`)

// masked takes the user's name and password out of addresses.
func (r *Remote) masked(s string) string {
	s = userinfo.ReplaceAllString(s, "$1***@")
	for _, secret := range r.secret {
		s = strings.ReplaceAll(s, secret, "***")
	}
	return s
}

// WithoutUser is a remote's address as it may be shown: without the name and
// password of a user.
func WithoutUser(address string) string {
	if secret := userOf(address); len(secret) > 0 {
		return strings.Replace(address, secret[0], "***@", 1)
	}
	return address
}

// userOf gives what stands for a user in an address, as it is spelled there and
// as it is meant.
func userOf(address string) []string {
	rest := address
	if _, after, ok := strings.Cut(address, "://"); ok {
		rest = after
		if slash := strings.IndexByte(rest, '/'); slash >= 0 {
			rest = rest[:slash]
		}
	} else if colon := strings.IndexByte(rest, ':'); colon >= 0 {
		rest = rest[:colon]
	} else {
		return nil
	}
	at := strings.LastIndexByte(rest, '@')
	if at <= 0 {
		return nil
	}
	var out []string
	name, password, _ := strings.Cut(rest[:at], ":")
	for _, part := range []string{rest[:at] + "@", password, name + "@"} {
		if len(part) < 2 {
			continue
		}
		out = append(out, part)
		if meant, err := url.PathUnescape(part); err == nil && meant != part {
			out = append(out, meant)
		}
	}
	return out
}

var objectFormat = regexp.MustCompile(`\bobject-format=(sha1|sha256)\b`)

// list asks the remote for refs and, the first time, for its object format.
func (r *Remote) list(ctx context.Context, refs []string) (map[string]bool, error) {
	first := r.store == nil
	args := append([]string{"ls-remote", "--quiet", "--end-of-options", r.name}, refs...)
	out, said, err := r.run(ctx, first, args...)
	if err != nil {
		return nil, err
	}
	asked := map[string]bool{}
	for _, ref := range refs {
		asked[ref] = true
	}
	there := map[string]bool{}
	format := ""
	for line := range strings.Lines(string(out)) {
		id, ref, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok || !IsFullID(id) {
			return nil, &Error{Command: "ls-remote", Message: "an answer that cannot be read"}
		}
		if format = "sha1"; len(id) == 64 {
			format = "sha256"
		}
		if asked[ref] { // a pattern fits the end of other names too
			there[ref] = true
		}
	}
	if first {
		if format == "" {
			// Nothing was listed that shows it. What the server says of itself is told
			// by no command, so git is asked to log what it hears.
			format = "sha1"
			if m := objectFormat.FindStringSubmatch(said); m != nil {
				format = m[1]
			}
		}
		if err := r.make(ctx, format); err != nil {
			return nil, err
		}
	}
	return there, nil
}

// make makes the temporary repository.
func (r *Remote) make(ctx context.Context, format string) error {
	dir := filepath.Join(r.repo.top, "objects.git")
	if _, _, err := r.run(ctx, false, "init", "--quiet", "--bare", "--template=", "--object-format="+format, dir); err != nil {
		return err
	}
	r.repo.gitDir = dir
	r.store = &Store{&Repo{top: r.repo.top, gitDir: dir, program: r.repo.program, inherited: r.repo.inherited, narrow: true, debug: r.repo.debug}}
	return nil
}

// fetched is where a fetch puts a ref.
const fetched = "refs/fetched/"

// Refs gives the commit that each of the refs names, as it was fetched; those
// that the remote does not have are left out.
func (r *Remote) Refs(ctx context.Context, refs ...string) (map[string]string, error) {
	there, err := r.list(ctx, refs)
	if err != nil || len(there) == 0 {
		return nil, err
	}
	args := []string{
		"fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-maintenance", "--end-of-options", r.name,
	}
	var names []string
	for ref := range there {
		name := fetched + strings.TrimPrefix(ref, "refs/")
		args = append(args, "+"+ref+":"+name)
		names = append(names, name)
	}
	if _, _, err := r.run(ctx, false, args...); err != nil {
		return nil, err
	}
	local, err := r.store.Refs(ctx, names...)
	if err != nil {
		return nil, err
	}
	if len(local) != len(there) {
		return nil, &Error{Command: "fetch", Message: "it did not bring every ref"}
	}
	found := map[string]string{}
	for name, id := range local {
		found["refs/"+strings.TrimPrefix(name, fetched)] = id
	}
	return found, nil
}

// SoleFiles reads what Refs has fetched; see Store.SoleFiles.
func (r *Remote) SoleFiles(ctx context.Context, name string, limit int64, commits ...string) (map[string][]byte, error) {
	return r.store.SoleFiles(ctx, name, limit, commits...)
}

// Commit makes a commit on this side; see Store.Commit. Refs must have been called.
func (r *Remote) Commit(ctx context.Context, c SoleCommit) (string, error) {
	return r.store.Commit(ctx, c)
}

// SwapRef pushes the commit, if the ref names old there, or does not exist where
// old is "". Any error leaves open whether the ref names the commit now.
func (r *Remote) SwapRef(ctx context.Context, ref, id, old string) error {
	_, _, err := r.run(ctx, false, "push", "--quiet", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no",
		"--force-with-lease="+ref+":"+old, "--end-of-options", r.name, id+":"+ref)
	return err
}
