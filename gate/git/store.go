package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/handoff-gate/handoff-gate/gate/proc"
)

// Store is a repository as a place for small records: one ref for each, whose
// commit holds one file (packets.md 9). Unlike a Repo it is written, may be bare
// and is named by its folder, not found from below.
type Store struct {
	repo *Repo
}

// OpenStore names the repository in a folder, bare or not. Nothing is read yet.
func OpenStore(dir string, environ []string, debug func(command string)) (*Store, error) {
	top, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	if top, err = filepath.Abs(top); err != nil {
		return nil, err
	}
	gitDir := top
	if _, err := os.Lstat(filepath.Join(top, ".git")); err == nil {
		gitDir = filepath.Join(top, ".git")
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	repo, err := forLedger(top, environ, debug)
	if err != nil {
		return nil, err
	}
	repo.gitDir, repo.narrow = gitDir, true
	return &Store{repo}, nil
}

// forLedger is what a store and a remote have in common.
func forLedger(top string, environ []string, debug func(string)) (*Repo, error) {
	inherited := inherit(environ, top, false)
	program, err := findGit(inherited)
	return &Repo{top: top, program: program, inherited: inherited, config: configuration(environ), debug: debug}, err
}

// run runs one command of a store. A limit of 0 is the usual one for its output.
func (s *Store) run(ctx context.Context, stdin []byte, limit int64, args ...string) (proc.Result, error) {
	c := s.repo.command(records, args...)
	c.Stdin = bytes.NewReader(stdin)
	if limit > 0 {
		c.MaxOutput = limit
	}
	res, err := proc.Run(ctx, c)
	if errors.Is(err, proc.ErrTooMuchOutput) {
		return res, err
	}
	return res, failure(ctx, args[0], err)
}

// Refs gives the object that each of the refs names; those that do not exist are
// left out. A ref that is broken, or that names another ref, is an error.
func (s *Store) Refs(ctx context.Context, refs ...string) (map[string]string, error) {
	res, err := s.run(ctx, nil, 0, append([]string{"for-each-ref", "--format=%(objectname) %(refname) %(symref)", "--"}, refs...)...)
	if err != nil {
		return nil, err
	}
	if res.Stderr != "" {
		// git passes over a broken ref with a warning, and it would seem absent.
		return nil, &Error{Command: "for-each-ref", Message: message(res.Stderr)}
	}
	asked := map[string]bool{}
	for _, ref := range refs {
		asked[ref] = true
	}
	found := map[string]string{}
	for line := range strings.Lines(string(res.Stdout)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(f) != 3 || !IsFullID(f[0]) {
			return nil, &Error{Command: "for-each-ref", Message: "an answer that cannot be read"}
		}
		if !asked[f[1]] {
			continue // a ref below one of that name, which somebody made
		}
		if f[2] != "" {
			return nil, &Error{Command: "for-each-ref", Message: "the ref is a symbolic one"}
		}
		found[f[1]] = f[0]
	}
	return found, nil
}

// SoleFiles gives the bytes of a file for each of the commits. A commit whose tree
// holds anything else, an object that is no commit, and a file above limit bytes
// are left out.
func (s *Store) SoleFiles(ctx context.Context, name string, limit int64, commits ...string) (map[string][]byte, error) {
	var ask bytes.Buffer
	for _, id := range commits {
		if !IsFullID(id) {
			return nil, fs.ErrNotExist
		}
		fmt.Fprintf(&ask, "%s\n%s^{tree}\n%s:%s\n", id, id, id, name)
	}
	// Of each commit the commit itself, a tree of one name and the file.
	const others = 64 << 10
	res, err := s.run(ctx, ask.Bytes(), int64(len(commits))*(limit+others), "cat-file", "--batch")
	if errors.Is(err, proc.ErrTooMuchOutput) {
		return map[string][]byte{}, nil
	}
	if err != nil {
		return nil, err
	}
	found, out := map[string][]byte{}, res.Stdout
	for _, id := range commits {
		var commit, tree, file record
		for _, r := range []*record{&commit, &tree, &file} {
			if out, err = r.read(out); err != nil {
				return nil, err
			}
		}
		if commit.kind == "" {
			return nil, &Error{Command: "cat-file", Message: "the repository lacks the object " + id}
		}
		if commit.kind == "commit" && commit.id == id && file.kind == "blob" && int64(len(file.data)) <= limit &&
			bytes.Equal(tree.data, soleTree(name, file.id)) {
			found[id] = file.data
		}
	}
	return found, nil
}

// record is one answer of cat-file --batch; without a kind when the object is not
// there.
type record struct {
	id, kind string
	data     []byte
}

func (r *record) read(out []byte) (rest []byte, err error) {
	line, rest, ok := bytes.Cut(out, []byte{'\n'})
	f := strings.Split(string(line), " ")
	switch {
	case ok && len(f) == 2 && f[1] == "missing":
		return rest, nil
	case ok && len(f) == 3 && IsFullID(f[0]):
		size, err := strconv.Atoi(f[2])
		if err == nil && size >= 0 && size < len(rest) && rest[size] == '\n' {
			r.id, r.kind, r.data = f[0], f[1], rest[:size]
			return rest[size+1:], nil
		}
	}
	return nil, &Error{Command: "cat-file", Message: "an answer that cannot be read"}
}

// soleTree is a tree object of one regular file.
func soleTree(name, blob string) []byte {
	id, err := hex.DecodeString(blob)
	if err != nil {
		return nil
	}
	return append([]byte("100644 "+name+"\x00"), id...)
}

// SoleCommit is a commit to make: of one file, by one author.
type SoleCommit struct {
	Name        string // of the file
	Data        []byte
	Parent      string // full id; "" for none
	Author      string // without < and >
	Email       string
	When        time.Time
	Description string // one line
}

// Dates that every git and server reads lie between these two.
var (
	firstDate = time.Unix(0, 0)
	lastDate  = time.Date(2099, 12, 31, 0, 0, 0, 0, time.UTC)
)

// Commit makes the commit and gives its id. No ref names it yet.
func (s *Store) Commit(ctx context.Context, c SoleCommit) (string, error) {
	blob, err := s.object(ctx, "blob", c.Data)
	if err != nil {
		return "", err
	}
	tree, err := s.object(ctx, "tree", soleTree(c.Name, blob))
	if err != nil {
		return "", err
	}
	when := c.When
	if when.Before(firstDate) {
		when = firstDate
	} else if when.After(lastDate) {
		when = lastDate
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", tree)
	if c.Parent != "" {
		fmt.Fprintf(&b, "parent %s\n", c.Parent)
	}
	for _, role := range []string{"author", "committer"} {
		fmt.Fprintf(&b, "%s %s <%s> %d +0000\n", role, c.Author, c.Email, when.Unix())
	}
	fmt.Fprintf(&b, "\n%s\n", c.Description)
	return s.object(ctx, "commit", b.Bytes())
}

func (s *Store) object(ctx context.Context, kind string, data []byte) (string, error) {
	res, err := s.run(ctx, data, 0, "hash-object", "-w", "-t", kind, "--stdin")
	if err != nil {
		return "", err
	}
	id := strings.TrimSuffix(string(res.Stdout), "\n")
	if !IsFullID(id) {
		return "", &Error{Command: "hash-object", Message: "an answer that is no object id"}
	}
	return id, nil
}

// SwapRef makes the ref name an object, only if it names old, or does not exist
// where old is "". Any error leaves open whether it does now.
func (s *Store) SwapRef(ctx context.Context, ref, id, old string) error {
	if old == "" {
		old = strings.Repeat("0", len(id))
	}
	_, err := s.run(ctx, nil, 0, "update-ref", "--no-deref", ref, id, old)
	return err
}
