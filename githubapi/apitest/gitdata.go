package apitest

import (
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// gitData is a repository as far as the Git database API shows it: objects that
// anybody may add, and refs that name them. The ids are git's own.
type gitData struct {
	empty   bool // no commit was ever pushed: GitHub refuses to write
	objects map[string]gitObject
	refs    map[string]string
}

type gitObject struct {
	kind string
	data []byte

	parents []string // of a commit
	tree    string
	entry   treeEntry // of a tree with one name; others are not needed
	entries int
}

type treeEntry struct {
	Path    string  `json:"path"`
	Mode    string  `json:"mode"`
	Type    string  `json:"type"`
	SHA     *string `json:"sha,omitempty"`
	Content *string `json:"content,omitempty"`
}

type signature struct {
	Name  string    `json:"name"`
	Email string    `json:"email"`
	Date  time.Time `json:"date"`
}

func newGitData() gitData {
	return gitData{objects: map[string]gitObject{}, refs: map[string]string{}}
}

func (g *gitData) add(o gitObject) string {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", o.kind, len(o.data))
	h.Write(o.data)
	id := hex.EncodeToString(h.Sum(nil))
	g.objects[id] = o
	return id
}

func (g *gitData) addTree(entries []treeEntry) string {
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b treeEntry) int { return strings.Compare(a.Path, b.Path) })
	o := gitObject{kind: "tree", entries: len(entries)}
	var b bytes.Buffer
	for i, e := range entries {
		if e.Content != nil {
			id := g.add(gitObject{kind: "blob", data: []byte(*e.Content)})
			e.SHA, e.Content = &id, nil
		}
		raw, _ := hex.DecodeString(value(e.SHA))
		fmt.Fprintf(&b, "%s %s\x00%s", strings.TrimPrefix(e.Mode, "0"), e.Path, raw)
		if i == 0 {
			o.entry = e
		}
	}
	o.data = b.Bytes()
	return g.add(o)
}

func (g *gitData) addCommit(tree string, parents []string, author, committer signature, message string) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author %s <%s> %d +0000\n", author.Name, author.Email, author.Date.Unix())
	fmt.Fprintf(&b, "committer %s <%s> %d +0000\n\n%s", committer.Name, committer.Email, committer.Date.Unix(), message)
	return g.add(gitObject{kind: "commit", data: b.Bytes(), parents: parents, tree: tree})
}

// reaches tells whether a commit is another one or a descendant of it.
func (g *gitData) reaches(from, to string) bool {
	if from == to {
		return true
	}
	return slices.ContainsFunc(g.objects[from].parents, func(p string) bool { return g.reaches(p, to) })
}

// EmptyRepository makes the server that of a repository without a commit.
func (s *Server) EmptyRepository() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.git.empty = true
}

// Ref is the id that a ref names; "" when there is none.
func (s *Server) Ref(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.git.refs[name]
}

// PutFile makes a ref name a new commit of one file, a child of the one that it
// named before, as somebody else's push would.
func (s *Server) PutFile(ref, file, text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	tree := s.git.addTree([]treeEntry{{Path: file, Mode: "100644", Type: "blob", Content: &text}})
	var parents []string
	if old := s.git.refs[ref]; old != "" {
		parents = []string{old}
	}
	who := signature{"Dev", "dev@example.com", time.Unix(int64(len(s.git.objects)), 0)}
	s.git.refs[ref] = s.git.addCommit(tree, parents, who, who, "put")
	return s.git.refs[ref]
}

// File is the text of the one file behind a ref; "" when there is none.
func (s *Server) File(ref string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	commit := s.git.objects[s.git.refs[ref]]
	return string(s.git.objects[value(s.git.objects[commit.tree].entry.SHA)].data)
}

// History is how many commits stand behind a ref.
func (s *Server) History(ref string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for id := s.git.refs[ref]; id != ""; n++ {
		parents := s.git.objects[id].parents
		if id = ""; len(parents) > 0 {
			id = parents[0]
		}
	}
	return n
}

// DeleteRef deletes a ref, as whoever may write can.
func (s *Server) DeleteRef(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.git.refs, name)
}

// PointRef makes a ref name any id, one of no object too.
func (s *Server) PointRef(name, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.git.refs[name] = id
}

var (
	postTreePath   = regexp.MustCompile(`^/git/trees$`)
	postCommitPath = regexp.MustCompile(`^/git/commits$`)
	postRefPath    = regexp.MustCompile(`^/git/refs$`)
	patchRefPath   = regexp.MustCompile(`^/git/refs/(.+)$`)
	objectPath     = regexp.MustCompile(`^/git/(commit|tree|blob)s/([0-9a-f]+)$`)
)

// database answers what is about objects and refs; ok is false for anything else.
func (s *Server) database(req Request, rest string) (a answer, ok bool) {
	if m := objectPath.FindStringSubmatch(rest); m != nil && req.Method == http.MethodGet {
		o, there := s.git.objects[m[2]]
		if !there || o.kind != m[1] {
			return failure(http.StatusNotFound, "Not Found"), true
		}
		return answer{status: http.StatusOK, body: s.gitView(m[2], o)}, true
	}
	var write func(Request) answer
	ref := ""
	switch {
	case req.Method == http.MethodPost && postTreePath.MatchString(rest):
		write = s.postTree
	case req.Method == http.MethodPost && postCommitPath.MatchString(rest):
		write = s.postCommit
	case req.Method == http.MethodPost && postRefPath.MatchString(rest):
		write = s.postRef
	case req.Method == http.MethodPatch && patchRefPath.MatchString(rest):
		ref = "refs/" + patchRefPath.FindStringSubmatch(rest)[1]
		write = func(r Request) answer { return s.patchRef(ref, r) }
	default:
		return answer{}, false
	}
	if s.git.empty {
		return failure(http.StatusConflict, "Git Repository is empty."), true
	}
	return write(req), true
}

func unprocessable(message string) answer { return failure(http.StatusUnprocessableEntity, message) }

func (s *Server) postTree(req Request) answer {
	var body struct {
		Tree []treeEntry `json:"tree"`
	}
	if err := json.Unmarshal(req.Body, &body); err != nil || len(body.Tree) == 0 {
		return unprocessable("Invalid tree info")
	}
	for _, e := range body.Tree {
		if e.Path == "" || strings.Contains(e.Path, "/") || e.Mode == "" || (e.Content == nil) == (e.SHA == nil) {
			return unprocessable("tree.path, tree.mode and one of tree.sha and tree.content are required")
		}
		if e.SHA != nil && s.git.objects[*e.SHA].kind == "" {
			return unprocessable("tree.sha " + *e.SHA + " is not a valid blob")
		}
	}
	id := s.git.addTree(body.Tree)
	return answer{status: http.StatusCreated, body: s.gitView(id, s.git.objects[id])}
}

func (s *Server) postCommit(req Request) answer {
	var body struct {
		Message   string     `json:"message"`
		Tree      string     `json:"tree"`
		Parents   []string   `json:"parents"`
		Author    *signature `json:"author"`
		Committer *signature `json:"committer"`
	}
	switch err := json.Unmarshal(req.Body, &body); {
	case err != nil || body.Message == "" || body.Author == nil || body.Committer == nil:
		return unprocessable("Invalid request.")
	case s.git.objects[body.Tree].kind != "tree":
		return unprocessable("Tree SHA does not exist")
	}
	for _, p := range body.Parents {
		if s.git.objects[p].kind != "commit" {
			return unprocessable("Parent SHA does not exist or is not a commit object")
		}
	}
	id := s.git.addCommit(body.Tree, body.Parents, *body.Author, *body.Committer, body.Message)
	return answer{status: http.StatusCreated, body: s.gitView(id, s.git.objects[id])}
}

func (s *Server) postRef(req Request) answer {
	var body struct{ Ref, SHA string }
	switch err := json.Unmarshal(req.Body, &body); {
	case err != nil || !strings.HasPrefix(body.Ref, "refs/") || strings.Count(body.Ref, "/") < 2:
		return unprocessable("Reference name must start with 'refs/' and contain at least one more slash")
	case s.git.objects[body.SHA].kind == "":
		return unprocessable("Object does not exist")
	case s.git.refs[body.Ref] != "":
		return unprocessable("Reference already exists")
	}
	s.git.refs[body.Ref] = body.SHA
	return answer{status: http.StatusCreated, body: s.refView(body.Ref)}
}

func (s *Server) patchRef(ref string, req Request) answer {
	var body struct {
		SHA   string
		Force bool
	}
	switch err := json.Unmarshal(req.Body, &body); {
	case err != nil:
		return unprocessable("Invalid request.")
	case s.git.refs[ref] == "":
		return unprocessable("Reference does not exist")
	case s.git.objects[body.SHA].kind == "":
		return unprocessable("Object does not exist")
	case !body.Force && !s.git.reaches(body.SHA, s.git.refs[ref]):
		return unprocessable("Update is not a fast forward")
	}
	if body.Force {
		s.problem("PATCH %s with force", ref)
	}
	s.git.refs[ref] = body.SHA
	return answer{status: http.StatusOK, body: s.refView(ref)}
}

func (s *Server) refView(ref string) any {
	api := s.URL + "/repos/" + s.opts.Repository + "/git/"
	id := s.git.refs[ref]
	kind := s.git.objects[id].kind
	if kind == "" {
		kind = "commit"
	}
	return map[string]any{
		"ref": ref, "node_id": "REF_" + id, "url": api + ref,
		"object": map[string]any{"type": kind, "sha": id, "url": api + kind + "s/" + id},
	}
}

func (s *Server) gitView(id string, o gitObject) any {
	api := s.URL + "/repos/" + s.opts.Repository + "/git/"
	web := s.opts.Web + "/" + s.opts.Repository + "/commit/"
	switch o.kind {
	case "blob":
		return map[string]any{
			"sha": id, "node_id": "B_" + id, "size": len(o.data), "url": api + "blobs/" + id,
			"content": wrapped(base64.StdEncoding.EncodeToString(o.data)), "encoding": "base64",
		}
	case "tree":
		entries := []any{}
		for i := range o.entries {
			e := o.entry
			if i > 0 {
				e.Path = fmt.Sprintf("%s.%d", e.Path, i)
			}
			entries = append(entries, map[string]any{"path": e.Path, "mode": e.Mode, "type": e.Type, "sha": value(e.SHA), "url": api + "blobs/" + value(e.SHA)})
		}
		return map[string]any{"sha": id, "url": api + "trees/" + id, "truncated": false, "tree": entries}
	}
	who := map[string]any{"name": "x", "email": "x@example.com", "date": "2026-01-01T00:00:00Z"}
	parents := []any{}
	for _, p := range o.parents {
		parents = append(parents, map[string]any{"sha": p, "url": api + "commits/" + p, "html_url": web + p})
	}
	return map[string]any{
		"sha": id, "node_id": "C_" + id, "url": api + "commits/" + id, "html_url": web + id, "author": who, "committer": who, "message": "m",
		"tree": map[string]any{"sha": o.tree, "url": api + "trees/" + o.tree}, "parents": parents,
		"verification": map[string]any{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil},
	}
}

// wrapped breaks lines as GitHub does in the content of a blob.
func wrapped(s string) string {
	var b strings.Builder
	for len(s) > 60 {
		b.WriteString(s[:60] + "\n")
		s = s[60:]
	}
	return b.String() + s + "\n"
}
