// Package git reaches git over its plumbing commands alone, with a cleaned
// environment, NUL-separated records and full object ids (aahp-verify.md 2.1).
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/localpath"
	"github.com/handoff-gate/handoff-gate/gate/proc"
)

// Options say which repository to open and how.
type Options struct {
	Dir        string   // absolute folder inside the work tree
	StartDir   string   // the folder the gate was started in
	Environ    []string // the gate's own environment
	ServeHooks bool     // let git's hook variables through (verify below ci)
	Server     string   // where a token may be sent: the server's URL
	Token      string   // for fetches from Server; "" for none
	OnDemand   bool     // a partial clone may fetch blobs it lacks
	Debug      func(command string)
}

// Repo is an open repository. It is safe for use by several goroutines.
type Repo struct {
	top       string
	program   string
	inherited []string
	config    []string  // of the environment, what configures git; for allConfig and beyond
	narrow    bool      // of inherited only what is plain reaches git's plumbing
	gitDir    string    // of a Store; "" where git finds it from top
	settings  []setting // by which the repository at hand reaches a Remote
	server    string
	token     string
	debug     func(string)
	batch     *batch
	onDemand  *batch      // of a partial clone whose objects may be fetched; else nil
	offline   atomic.Bool // nothing is fetched on demand any more
	stop      context.CancelFunc

	originOnce     sync.Once
	originIsServer bool // origin is on the server that the token is for

	mu    sync.Mutex
	trees map[string]map[string]gate.Entry // raw tree objects, by id
}

// ErrNoRepository says that no repository holds the folder, or that git
// refuses the one that does. The error that wraps it says which.
var ErrNoRepository = errors.New("not a git repository")

// ErrDamaged says, beside ErrNoRepository, that git accepts the repository but
// cannot read it.
var ErrDamaged = errors.New("the repository is damaged")

// fatal is git's exit status when it dies by its own decision.
const fatal = 128

type damagedError struct{ error }

func (e *damagedError) Unwrap() []error { return []error{e.error, ErrDamaged} }

// Open finds the repository that holds o.Dir and checks that git accepts it.
func Open(ctx context.Context, o Options) (*Repo, error) {
	inherited := inherit(o.Environ, o.StartDir, o.ServeHooks)
	top := hookTop(inherited, o)
	var err error
	if top == "" {
		if top, err = Top(o.Dir); err != nil {
			return nil, err
		}
		if foreign(inherited, top, o.StartDir) {
			inherited = inherit(o.Environ, o.StartDir, false)
		}
	}
	if !o.ServeHooks {
		inherited = proc.SetEnv(inherited, "PATH="+pathOutside(proc.Getenv(inherited, "PATH"), top))
	}
	program, err := findGit(inherited)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoRepository, err)
	}
	ctx, stop := context.WithCancel(ctx)
	r := &Repo{
		top: top, program: program, inherited: inherited, config: configuration(o.Environ), narrow: !o.ServeHooks, server: o.Server, token: o.Token, debug: o.Debug, stop: stop,
		trees: map[string]map[string]gate.Entry{},
	}
	reader := func(m mode) *batch {
		return &batch{start: func() (*proc.Process, error) {
			c := r.command(m, "cat-file", "--batch")
			c.PipeStdin = true
			return proc.Start(ctx, c)
		}}
	}
	r.batch = reader(plumbing)
	if o.OnDemand {
		r.onDemand = reader(network)
	}
	// An answer of any kind means that git accepts the repository.
	if _, rc, err := r.batch.request(headCommit); err == nil {
		rc.Close()
	} else if !errors.Is(err, fs.ErrNotExist) {
		defer r.Close()
		refused := fmt.Errorf("%w: %w", ErrNoRepository, err)
		// What git refuses is no repository; what it accepts and then cannot read
		// is one that is damaged. A git that can say neither does not work, which
		// says nothing of the folder.
		_, err := r.output(ctx, "rev-parse", "--git-dir")
		var said *Error
		switch {
		case err == nil:
			return nil, &damagedError{refused}
		case errors.As(err, &said) && said.Status == fatal:
			return nil, refused
		}
		return nil, err
	}
	return r, nil
}

// hookTop gives the top level that git's hook variables name, or "" where they
// name none that holds the project.
func hookTop(inherited []string, o Options) string {
	top := proc.Getenv(inherited, "GIT_WORK_TREE")
	if top == "" {
		if proc.Getenv(inherited, "GIT_DIR") == "" {
			return ""
		}
		top = o.StartDir
	}
	top, err := filepath.EvalSymlinks(top)
	if err != nil {
		return ""
	}
	if _, in := localpath.Below(top, o.Dir); !in {
		return ""
	}
	return top
}

// foreign tells hook variables that are about another repository than the one
// at top: they name its folder, which hookTop did not accept, or they come
// from a hook that runs inside another repository. git names the folder to few
// hooks; most get the index alone.
func foreign(inherited []string, top, startDir string) bool {
	if proc.Getenv(inherited, "GIT_DIR") != "" || proc.Getenv(inherited, "GIT_WORK_TREE") != "" {
		return true
	}
	start, err := Top(startDir)
	return err == nil && start != top
}

// Top gives the top level of the work tree that holds a folder, whether or not git
// accepts the repository: of the folder and those above it the first that has an
// entry .git. The error is ErrNoRepository.
func Top(dir string) (string, error) {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return filepath.EvalSymlinks(d)
		}
		if d == filepath.Dir(d) {
			return "", fmt.Errorf("%w: neither it nor a folder above it has a .git", ErrNoRepository)
		}
	}
}

// findGit looks for git in the absolute folders of PATH, so that a program
// named git in the checkout is never started.
func findGit(environ []string) (string, error) {
	for _, dir := range filepath.SplitList(proc.Getenv(environ, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if p, err := exec.LookPath(filepath.Join(dir, "git")); err == nil {
			return p, nil
		}
	}
	return "", errors.New("there is no git in PATH")
}

// pathOutside gives the folders of a PATH that are absolute and not below top.
// An earlier step of a job may have put one of the checkout in front, and what is
// there the change decides.
func pathOutside(path, top string) string {
	var out []string
	for _, dir := range filepath.SplitList(path) {
		resolved, err := filepath.EvalSymlinks(dir)
		if !filepath.IsAbs(dir) || err != nil {
			continue
		}
		if _, in := localpath.Below(top, resolved); in {
			continue
		}
		out = append(out, dir)
	}
	return strings.Join(out, string(filepath.ListSeparator))
}

// Close ends the long-lived children.
func (r *Repo) Close() {
	r.Offline()
	r.batch.close()
	r.stop()
}

// Top is the repository's top level, absolute, links resolved.
func (r *Repo) Top() string { return r.top }

// IsFullID tells whether s is a full object id: 40 or 64 lower-case hex digits.
func IsFullID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && isHex(s)
}

// isHex looks every byte up and branches once: a change of many files has
// millions of digits.
func isHex(s string) bool {
	var other byte
	for i := range len(s) {
		other |= noHex[s[i]]
	}
	return other == 0
}

// noHex is 0 for the lower-case hex digits.
var noHex = func() (t [256]byte) {
	for i := range t {
		t[i] = 1
	}
	for _, c := range "0123456789abcdef" {
		t[c] = 0
	}
	return t
}()

// EmptyTree is the id of the empty tree for ids of that length (40 or 64).
func EmptyTree(idLength int) string {
	if idLength == 64 {
		return "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
	}
	return "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
}

// Commit is a commit as its raw object says, so parents are right in a shallow
// clone too.
type Commit struct {
	ID, Tree string
	Parents  []string
}

// maxCommit bounds a commit object; what stands before its message is short.
const maxCommit = 16 << 20

// Commit reads the commit that name resolves to: a hex id or id prefix, "HEAD"
// or a full ref name. fs.ErrNotExist when this clone lacks it or
// it is no commit; an annotated tag is no commit.
func (r *Repo) Commit(_ context.Context, name string) (Commit, error) {
	o, rc, err := r.batch.request(name)
	if err != nil {
		return Commit{}, err
	}
	defer rc.Close()
	if o.kind != "commit" || o.size > maxCommit {
		return Commit{}, fs.ErrNotExist
	}
	data, err := io.ReadAll(rc)
	if err != nil {
		return Commit{}, err
	}
	c := Commit{ID: o.id}
	// As git reads it: the tree, then the parents, in lines of their own. A
	// "parent" further down is a header like any other, which the author of a
	// commit may write: git follows it nowhere, and fsck finds no fault with it.
	for line := range bytes.Lines(data) {
		line = bytes.TrimSuffix(line, []byte{'\n'})
		if v, ok := bytes.CutPrefix(line, []byte("tree ")); ok && c.Tree == "" {
			c.Tree = string(v)
		} else if v, ok := bytes.CutPrefix(line, []byte("parent ")); ok && c.Tree != "" && IsFullID(string(v)) {
			c.Parents = append(c.Parents, string(v))
		} else {
			break
		}
	}
	if !IsFullID(c.Tree) {
		return Commit{}, fmt.Errorf("commit %s has no tree", o.id)
	}
	return c, nil
}

// Head reads the commit that HEAD names; the zero Commit where it names none.
func (r *Repo) Head(ctx context.Context) (Commit, error) {
	c, err := r.Commit(ctx, headCommit)
	if errors.Is(err, fs.ErrNotExist) {
		return Commit{}, nil
	}
	return c, err
}

const headCommit = "HEAD^{commit}"

// Peel follows a tag object to the commit it names. The id must be full.
func (r *Repo) Peel(ctx context.Context, id string) (string, error) {
	if !IsFullID(id) {
		return "", fs.ErrNotExist
	}
	c, err := r.Commit(ctx, id+"^{commit}")
	return c.ID, err
}

// Ref gives the commit a full ref name peels to; "" when there is none.
func (r *Repo) Ref(ctx context.Context, name string) (string, error) {
	if !strings.HasPrefix(name, "refs/") || strings.ContainsAny(name, " ~^:?*[\\\n\x00") || strings.Contains(name, "..") || strings.Contains(name, "@{") {
		return "", nil
	}
	c, err := r.Commit(ctx, name+"^{commit}")
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return c.ID, err
}

// Upstream gives the commit of the current branch's upstream; "" when it has
// none. cat-file ends over such a question, so rev-parse is asked.
func (r *Repo) Upstream(ctx context.Context) (string, error) {
	out, err := r.output(ctx, "rev-parse", "--verify", "--quiet", "@{upstream}^{commit}")
	var e *Error
	if errors.As(err, &e) && e.Status > 0 {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// IDLength is the length of the repository's object ids: 40 or 64.
func (r *Repo) IDLength(ctx context.Context) (int, error) {
	if c, err := r.Head(ctx); err == nil && c.ID != "" {
		return len(c.ID), nil
	}
	out, err := r.output(ctx, "rev-parse", "--show-object-format")
	if err != nil {
		return 0, err
	}
	if strings.TrimSpace(string(out)) == "sha256" {
		return 64, nil
	}
	return 40, nil
}

// Shallow tells whether the clone's history is cut.
func (r *Repo) Shallow(ctx context.Context) (bool, error) {
	out, err := r.output(ctx, "rev-parse", "--is-shallow-repository")
	return strings.TrimSpace(string(out)) == "true", err
}

// IsAncestor tells whether commit a is reachable from commit b. A near ancestor
// is found without starting a process.
func (r *Repo) IsAncestor(ctx context.Context, a, b string) (bool, error) {
	if !IsFullID(a) || !IsFullID(b) {
		return false, fs.ErrNotExist
	}
	if r.surelyWhole() {
		if near, err := r.isNear(ctx, a, b); near || err != nil {
			return near, err
		}
	}
	_, err := r.output(ctx, "merge-base", "--is-ancestor", a, b)
	if saysNo(err) {
		return false, nil
	}
	return err == nil, err
}

// surelyWhole tells, without starting a process, that the history is not cut. A
// commit at the cut still names its parents, but for git they are none: what a
// depth-1 clone says of its history must not depend on which other commits were
// fetched into it.
func (r *Repo) surelyWhole() bool {
	if proc.Getenv(r.inherited, "GIT_DIR") != "" || proc.Getenv(r.inherited, "GIT_COMMON_DIR") != "" {
		return false
	}
	dir := filepath.Join(r.top, ".git")
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	_, err = os.Lstat(filepath.Join(dir, "shallow"))
	return errors.Is(err, fs.ErrNotExist)
}

// nearCommits is how many commits isNear looks at.
const nearCommits = 16

// isNear tells whether a is among the nearest commits reachable from b. Where
// it is not, nothing is known.
func (r *Repo) isNear(ctx context.Context, a, b string) (bool, error) {
	seen := map[string]bool{b: true}
	for todo := []string{b}; len(todo) > 0; todo = todo[1:] {
		if todo[0] == a {
			return true, nil
		}
		if len(seen) >= nearCommits {
			continue
		}
		c, err := r.Commit(ctx, todo[0])
		if errors.Is(err, fs.ErrNotExist) {
			continue // git will say what it makes of such a history
		}
		if err != nil {
			return false, err
		}
		for _, p := range c.Parents {
			if !seen[p] {
				seen[p] = true
				todo = append(todo, p)
			}
		}
	}
	return false, nil
}

// MergeBase gives a best common ancestor; "" when there is none.
func (r *Repo) MergeBase(ctx context.Context, a, b string) (string, error) {
	if !IsFullID(a) || !IsFullID(b) {
		return "", fs.ErrNotExist
	}
	out, err := r.output(ctx, "merge-base", a, b)
	if saysNo(err) {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// Distance counts the commits reachable from to and not from from.
func (r *Repo) Distance(ctx context.Context, from, to string) (int, error) {
	if !IsFullID(from) || !IsFullID(to) {
		return 0, fs.ErrNotExist
	}
	out, err := r.output(ctx, "rev-list", "--count", to, "^"+from, "--")
	if err != nil {
		return 0, err
	}
	n := 0
	_, err = fmt.Sscan(string(out), &n)
	return n, err
}

// Tag is a tag and the commit it peels to.
type Tag struct{ Name, Commit string }

// Tags lists the tags that peel to a commit.
func (r *Repo) Tags(ctx context.Context) ([]Tag, error) {
	out, err := r.output(ctx, "for-each-ref", "--format=%(refname) %(objecttype) %(objectname) %(*objecttype) %(*objectname)", "refs/tags/")
	if err != nil {
		return nil, err
	}
	var tags []Tag
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(f) != 5 {
			continue
		}
		name := strings.TrimPrefix(f[0], "refs/tags/")
		switch f[1] {
		case "commit":
			tags = append(tags, Tag{name, f[2]})
		case "tag":
			// A tag of a tag names a tag here, so git peels it whole.
			c, err := r.Commit(ctx, f[2]+"^{commit}")
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			tags = append(tags, Tag{name, c.ID})
		}
	}
	return tags, nil
}

// Branch is a local branch and its tip.
type Branch struct{ Name, Commit string }

// Branches lists the local branches, ordered by name.
func (r *Repo) Branches(ctx context.Context) ([]Branch, error) {
	out, err := r.output(ctx, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/")
	if err != nil {
		return nil, err
	}
	var branches []Branch
	for line := range strings.Lines(string(out)) {
		id, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if ok {
			branches = append(branches, Branch{strings.TrimPrefix(name, "refs/heads/"), id})
		}
	}
	return branches, nil
}

// BranchesWith names the local branches whose tip holds path.
func (r *Repo) BranchesWith(ctx context.Context, path string) ([]string, error) {
	branches, err := r.Branches(ctx)
	if err != nil || len(branches) == 0 {
		return nil, err
	}
	if strings.ContainsAny(path, "\n\r") {
		return r.branchesWithByTree(ctx, branches, path)
	}
	if len(branches) <= fewBranches {
		return r.branchesWithByName(branches, path)
	}
	var in bytes.Buffer
	for _, b := range branches {
		fmt.Fprintf(&in, "%s:%s\n", b.Commit, path)
	}
	c := r.command(plumbing, "cat-file", "--batch-check=%(objecttype)")
	c.Stdin = &in
	res, err := proc.Run(ctx, c)
	if err != nil {
		return nil, failure(ctx, "cat-file", err)
	}
	var names []string
	i := 0
	for line := range strings.Lines(string(res.Stdout)) {
		if i == len(branches) {
			break
		}
		if !strings.HasSuffix(line, " missing\n") {
			names = append(names, branches[i].Name)
		}
		i++
	}
	if i != len(branches) {
		return nil, &Error{Command: "cat-file", Message: "it did not answer for every branch"}
	}
	return names, nil
}

// fewBranches is up to how many branches asking the process that runs anyway,
// one by one, is faster than starting another.
const fewBranches = 16

func (r *Repo) branchesWithByName(branches []Branch, path string) (names []string, err error) {
	for _, b := range branches {
		_, rc, err := r.batch.request(b.Commit + ":" + path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		default:
			rc.Close()
			names = append(names, b.Name)
		}
	}
	return names, nil
}

func (r *Repo) branchesWithByTree(ctx context.Context, branches []Branch, path string) ([]string, error) {
	var names []string
	for _, b := range branches {
		c, err := r.Commit(ctx, b.Commit)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		switch _, err := r.Tree("branch", c.Tree).Stat(path); {
		case err == nil:
			names = append(names, b.Name)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return names, nil
}

// IsIDPrefix tells whether s may begin an object id: 4 to 64 lower-case hex
// digits. Anything else must never reach git as a revision.
func IsIDPrefix(s string) bool { return len(s) >= 4 && len(s) <= 64 && isHex(s) }
