package git

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/proc"
)

// maxTree bounds one tree object: a folder of about a million names.
const maxTree = 64 << 20

// tree is the tree of a commit, read object by object as it is asked for.
type tree struct {
	repo *Repo
	name string
	root string
}

// Tree gives the tree with that id as a gate.Tree.
func (r *Repo) Tree(name, id string) gate.LinkReader { return &tree{repo: r, name: name, root: id} }

func (t *tree) Name() string { return t.name }

func (t *tree) Stat(p string) (gate.Entry, error) {
	e := gate.Entry{Path: ".", Kind: gate.Folder, Mode: 0o40000, Size: -1, ID: t.root}
	if p == "." {
		return e, nil
	}
	for rest := p; ; {
		if e.Kind != gate.Folder {
			return gate.Entry{}, fs.ErrNotExist
		}
		name, more, deeper := strings.Cut(rest, "/")
		names, err := t.repo.rawTree(e.ID)
		if err != nil {
			return gate.Entry{}, err
		}
		child, ok := names[name]
		if !ok {
			return gate.Entry{}, fs.ErrNotExist
		}
		e = child
		if !deeper {
			e.Path = p
			return e, nil
		}
		rest = more
	}
}

func (t *tree) Open(p string) (io.ReadCloser, gate.Entry, error) {
	e, err := t.Stat(p)
	if err != nil {
		return nil, e, err
	}
	return t.repo.openBlob(e)
}

func (t *tree) List(dir string) ([]gate.Entry, error) {
	e, err := t.Stat(dir)
	if err != nil {
		return nil, err
	}
	if e.Kind != gate.Folder {
		return nil, fs.ErrNotExist
	}
	names, err := t.repo.rawTree(e.ID)
	if err != nil {
		return nil, err
	}
	out := make([]gate.Entry, 0, len(names))
	for _, name := range slices.Sorted(maps.Keys(names)) {
		c := names[name]
		c.Path = gate.Join(dir, name)
		out = append(out, c)
	}
	return out, nil
}

// openBlob opens the blob of a regular entry; its size comes with it.
func (r *Repo) openBlob(e gate.Entry) (io.ReadCloser, gate.Entry, error) {
	if e.Kind != gate.Regular {
		return nil, e, gate.ErrNotRegular
	}
	o, rc, err := r.object(e.ID)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, e, &Error{Command: "cat-file", Message: "this clone lacks the object " + e.ID}
	}
	if err != nil {
		return nil, e, err
	}
	if o.kind != "blob" {
		rc.Close()
		return nil, e, fmt.Errorf("object %s is a %s, not a blob", e.ID, o.kind)
	}
	e.Size = o.size
	return rc, e, nil
}

// rawTree reads and keeps one tree object.
func (r *Repo) rawTree(id string) (map[string]gate.Entry, error) {
	r.mu.Lock()
	names, ok := r.trees[id]
	r.mu.Unlock()
	if ok {
		return names, nil
	}
	if id == EmptyTree(len(id)) {
		return map[string]gate.Entry{}, nil
	}
	o, rc, err := r.object(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &Error{Command: "cat-file", Message: "this clone lacks the tree " + id}
	}
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	if o.kind != "tree" || o.size > maxTree {
		return nil, fmt.Errorf("object %s is not a tree that can be read", id)
	}
	data, err := io.ReadAll(rc)
	if err != nil {
		return nil, err
	}
	if names, err = parseTree(data, len(id)/2); err != nil {
		return nil, fmt.Errorf("tree %s: %w", id, err)
	}
	r.mu.Lock()
	r.trees[id] = names
	r.mu.Unlock()
	return names, nil
}

// parseTree reads a raw tree object: "mode name NUL id" each.
func parseTree(data []byte, idBytes int) (map[string]gate.Entry, error) {
	names := map[string]gate.Entry{}
	last := ""
	for len(data) > 0 {
		sp := bytes.IndexByte(data, ' ')
		nul := bytes.IndexByte(data, 0)
		if sp <= 0 || nul <= sp+1 || len(data) < nul+1+idBytes {
			return nil, errors.New("it is malformed")
		}
		mode, err := strconv.ParseUint(string(data[:sp]), 8, 32)
		if err != nil {
			return nil, errors.New("it is malformed")
		}
		name := string(data[sp+1 : nul])
		if _, twice := names[name]; twice {
			return nil, errors.New("it has one name twice")
		}
		// git writes no such tree, but compares and checks out one that holds
		// "a/b": a second file beside b of folder a.
		if name == "." || name == ".." || strings.Contains(name, "/") {
			return nil, errors.New("it has a name that is no name of a file")
		}
		e := entry(name, uint32(mode), hex.EncodeToString(data[nul+1:nul+1+idBytes]))
		// In another order a comparison passes an entry by and finds it later: what
		// nobody changed is deleted and added, and so looks touched.
		if e.Kind == gate.Folder {
			name += "/" // as git orders them
		}
		if name <= last {
			return nil, errors.New("its names are not in order")
		}
		names[e.Path], last = e, name
		data = data[nul+1+idBytes:]
	}
	return names, nil
}

func entry(p string, mode uint32, id string) gate.Entry {
	e := gate.Entry{Path: p, Mode: mode, Size: -1, ID: id}
	switch mode & 0o170000 {
	case 0o100000:
		e.Kind = gate.Regular
		// Old repositories hold modes such as 100664; git itself reads them as
		// one of its two.
		if mode&0o100 != 0 {
			e.Mode = 0o100755
		} else {
			e.Mode = 0o100644
		}
	case 0o120000:
		e.Kind = gate.Symlink
	case 0o160000:
		e.Kind = gate.Gitlink
	case 0o40000:
		e.Kind = gate.Folder
	default:
		e.Kind = gate.Special
	}
	return e
}

// Index is the index as a gate.Tree.
type Index struct {
	repo    *Repo
	entries []gate.Entry // ordered by path
}

// Index reads the whole index once, without what "git add -N" only announced:
// such an entry reads as an empty file and is in no commit made of the index.
func (r *Repo) Index(ctx context.Context) (*Index, error) {
	entries, err := r.stages(ctx)
	if err != nil {
		return nil, err
	}
	if entries, err = r.withoutIntended(ctx, entries); err != nil {
		return nil, err
	}
	if !slices.IsSortedFunc(entries, byPath) {
		slices.SortFunc(entries, byPath)
	}
	return &Index{repo: r, entries: entries}, nil
}

// Submodules lists the gitlinks that the index has below dir. On disk a
// submodule is a folder like any other.
func (r *Repo) Submodules(ctx context.Context, dir string) ([]gate.Entry, error) {
	entries, err := r.stages(ctx, "--", dir)
	return slices.DeleteFunc(entries, func(e gate.Entry) bool { return e.Kind != gate.Gitlink }), err
}

func (r *Repo) stages(ctx context.Context, args ...string) ([]gate.Entry, error) {
	var entries []gate.Entry
	err := r.stream(ctx, plumbing, func(piece string) (rest string, err error) {
		entries, rest, err = parseStages(entries, piece)
		return rest, bounded(len(entries), err)
	}, append([]string{"ls-files", "-s", "-z"}, args...)...)
	if err != nil {
		return nil, err
	}
	return entries, nil
}

// withoutIntended drops the entries that are only intended to be added. They
// look like empty files; a comparison with the empty tree knows the difference.
func (r *Repo) withoutIntended(ctx context.Context, entries []gate.Entry) ([]gate.Entry, error) {
	empty := func(e gate.Entry) bool { return e.Kind == gate.Regular && emptyBlob(e.ID) }
	var paths []string
	idLength := 0
	for _, e := range entries {
		if empty(e) {
			paths, idLength = append(paths, e.Path), len(e.ID)
		}
	}
	if len(paths) == 0 {
		return entries, nil
	}
	if len(paths) > mostPaths {
		paths = nil // all, rather than too many arguments
	}
	added, err := r.Staged(ctx, EmptyTree(idLength), paths...)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, c := range added {
		if emptyBlob(c.NewID) {
			there[c.Path] = true
		}
	}
	return slices.DeleteFunc(entries, func(e gate.Entry) bool { return empty(e) && !there[e.Path] }), nil
}

// mostPaths is how many paths are given to a command at once.
const mostPaths = 100

func emptyBlob(id string) bool {
	return id == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391" || id == "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"
}

// parseStages adds the whole records "mode id stage TAB path" of
// `ls-files -s -z` at the beginning of out and gives the rest. The stages of an
// unmerged path become one entry.
func parseStages(entries []gate.Entry, out string) ([]gate.Entry, string, error) {
	for {
		record, rest, whole := strings.Cut(out, "\x00")
		if !whole {
			return entries, out, nil
		}
		f, p, ok := fields(record)
		mode, err := strconv.ParseUint(f[0], 8, 32)
		if !ok || err != nil || !IsFullID(f[1]) {
			return nil, out, errors.New("git printed an index entry that cannot be read")
		}
		e := entry(p, uint32(mode), f[1])
		if f[2] != "0" {
			e.Kind = gate.Unmerged
		}
		if n := len(entries); n > 0 && entries[n-1].Path == p {
			entries[n-1].Kind = gate.Unmerged
		} else {
			entries = append(entries, e)
		}
		out = rest
	}
}

// fields reads a record of three fields, a TAB and a path.
func fields(record string) (f [3]string, path string, ok bool) {
	info, path, ok := strings.Cut(record, "\t")
	for i := range f {
		var more bool
		f[i], info, more = strings.Cut(info, " ")
		ok = ok && more == (i < len(f)-1)
	}
	return f, path, ok && path != ""
}

func byPath(a, b gate.Entry) int { return cmp.Compare(a.Path, b.Path) }

// Name is how messages call it.
func (x *Index) Name() string { return gate.IndexTree }

// Stat finds a file, or a folder that holds one.
func (x *Index) Stat(p string) (gate.Entry, error) {
	if p == "." {
		return gate.Entry{Path: ".", Kind: gate.Folder, Mode: 0o40000, Size: -1}, nil
	}
	i, ok := slices.BinarySearchFunc(x.entries, gate.Entry{Path: p}, byPath)
	if ok {
		return x.entries[i], nil
	}
	if below := x.Below(p); len(below) > 0 {
		return gate.Entry{Path: p, Kind: gate.Folder, Mode: 0o40000, Size: -1}, nil
	}
	return gate.Entry{}, fs.ErrNotExist
}

// Below gives every entry below a folder, ordered by path. The slice is shared.
func (x *Index) Below(dir string) []gate.Entry {
	if dir == "." {
		return x.entries
	}
	from := sort.Search(len(x.entries), func(i int) bool { return x.entries[i].Path >= dir+"/" })
	to := sort.Search(len(x.entries), func(i int) bool { return x.entries[i].Path >= dir+"0" })
	return x.entries[from:to]
}

// Open reads the staged blob.
func (x *Index) Open(p string) (io.ReadCloser, gate.Entry, error) {
	e, err := x.Stat(p)
	if err != nil {
		return nil, e, err
	}
	return x.repo.openBlob(e)
}

// List gives the direct children of a folder.
func (x *Index) List(dir string) ([]gate.Entry, error) {
	below := x.Below(dir)
	if len(below) == 0 && dir != "." {
		return nil, fs.ErrNotExist
	}
	var out []gate.Entry
	for _, e := range below {
		rel, _ := gate.Below(dir, e.Path)
		name, _, deeper := strings.Cut(rel, "/")
		if deeper {
			p := gate.Join(dir, name)
			if n := len(out); n == 0 || out[n-1].Path != p {
				out = append(out, gate.Entry{Path: p, Kind: gate.Folder, Mode: 0o40000, Size: -1})
			}
			continue
		}
		out = append(out, e)
	}
	slices.SortFunc(out, byPath)
	return slices.CompactFunc(out, func(a, b gate.Entry) bool { return a.Path == b.Path }), nil
}

// TreeEntries lists every file of a tree below dir, recursively, ordered by path.
// A small tree is listed without starting a process.
func (r *Repo) TreeEntries(ctx context.Context, treeID, dir string) ([]gate.Entry, error) {
	if !IsFullID(treeID) {
		return nil, fs.ErrNotExist
	}
	if entries, ok := r.smallTree(treeID, dir); ok {
		return entries, nil
	}
	args := []string{"ls-tree", "-r", "-z", "--full-tree", "--end-of-options", treeID}
	if dir != "." {
		args = append(args, "--", dir+"/")
	}
	var entries []gate.Entry
	err := r.stream(ctx, r.treeMode(), func(piece string) (rest string, err error) {
		entries, rest, err = parseLsTree(entries, piece)
		return rest, bounded(len(entries), err)
	}, args...)
	if err != nil {
		return nil, err
	}
	return entries, nil
}

// parseLsTree adds the whole records "mode type id TAB path" of `ls-tree -r -z`
// at the beginning of out and gives the rest.
func parseLsTree(entries []gate.Entry, out string) ([]gate.Entry, string, error) {
	for {
		record, rest, whole := strings.Cut(out, "\x00")
		if !whole {
			return entries, out, nil
		}
		f, p, ok := fields(record)
		mode, err := strconv.ParseUint(f[0], 8, 32)
		if !ok || err != nil || !IsFullID(f[2]) {
			return nil, out, errors.New("git printed a tree entry that cannot be read")
		}
		entries = append(entries, entry(p, uint32(mode), f[2]))
		out = rest
	}
}

// WorkTreeFiles lists, below dir, the tracked files and the untracked ones that
// git does not ignore, the user's own ignore file counting (aahp-lint.md 8).
func (r *Repo) WorkTreeFiles(ctx context.Context, dir string) ([]string, error) {
	args := []string{"ls-files", "-z", "-co", "--exclude-standard"}
	if dir != "." {
		args = append(args, "--", dir)
	}
	return list(ctx, r.command(userConfig, args...))
}

// Tracked lists the files below dir that git tracks and that one of the
// pathspecs, which are taken in dir, selects. A path that a pathspec finds outside
// of dir is left out. An *Error with a status above 0 means that git refused the
// pathspecs.
func (r *Repo) Tracked(ctx context.Context, dir string, pathspecs []string) ([]string, error) {
	c := r.command(patterns, append([]string{"ls-files", "-z", "--full-name", "--"}, pathspecs...)...)
	c.Dir = filepath.Join(r.top, filepath.FromSlash(dir))
	all, err := list(ctx, c)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(p string) bool {
		_, below := gate.Below(dir, p)
		return !below
	}), nil
}

// list runs an `ls-files -z`.
func list(ctx context.Context, c proc.Command) ([]string, error) {
	var paths []string
	err := stream(ctx, c, func(piece string) (string, error) {
		for {
			p, rest, whole := strings.Cut(piece, "\x00")
			if !whole {
				return piece, bounded(len(paths), nil)
			}
			// An unmerged path is printed once a stage.
			if p != "" && (len(paths) == 0 || paths[len(paths)-1] != p) {
				paths = append(paths, p)
			}
			piece = rest
		}
	})
	if err != nil {
		return nil, err
	}
	return paths, nil
}
