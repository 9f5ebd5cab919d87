// Package gate holds the types that stand between reading a repository and
// judging it. It imports nothing of this project and does no IO of its own.
package gate

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
)

// Level is how much of the gate runs (aahp-verify.md 1).
type Level string

// The four levels of verify. Prepush and Full decide the same.
const (
	Precommit Level = "precommit"
	Prepush   Level = "prepush"
	Full      Level = "full"
	CI        Level = "ci"
)

// Places of a handoff set, relative to its project.
const (
	HandoffDir   = ".ai/handoff"
	ManifestFile = HandoffDir + "/MANIFEST.json"
)

// Kind says what stands at a path.
type Kind uint8

// The kinds of an Entry.
const (
	Regular  Kind = iota + 1 // git mode 100644 or 100755, or a regular file on disk
	Symlink                  // 120000, or a symbolic link on disk
	Gitlink                  // 160000: the commit of a submodule
	Folder                   // 040000, or a folder on disk
	Special                  // a FIFO, socket or device
	Unmerged                 // an index entry with a conflict stage
)

// String names the kind for a message.
func (k Kind) String() string {
	switch k {
	case Regular:
		return "regular file"
	case Symlink:
		return "symbolic link"
	case Gitlink:
		return "submodule"
	case Folder:
		return "folder"
	case Special:
		return "special file"
	case Unmerged:
		return "unmerged entry"
	}
	return "unknown entry"
}

// Article names the kind with its article: "a symbolic link".
func (k Kind) Article() string {
	if k == Unmerged {
		return "an " + k.String()
	}
	return "a " + k.String()
}

// Entry is one name in a Tree.
type Entry struct {
	Path string // from the repository's top level, slash-separated, any bytes
	Kind Kind
	Mode uint32 // git mode (0o100644 …); 0 where the tree does not know it
	Size int64  // bytes; -1 where the tree does not know it
	ID   string // object id in lower-case hex; "" for a working tree
}

// Tree is a set of files to judge: the working tree, the index or a commit.
// Paths are relative to the repository's top level (outside a repository, to
// the project). A name is found only under exactly its byte string, and no
// symbolic link is ever followed.
type Tree interface {
	// Name is how messages call the tree: WorkingTree, IndexTree, HeadTree.
	Name() string
	// Stat tells what stands at path: fs.ErrNotExist when nothing does, or when
	// a component above it is not a folder. The root is "." and a Folder.
	Stat(path string) (Entry, error)
	// Open reads a Regular entry; for any other kind it returns ErrNotRegular.
	Open(path string) (io.ReadCloser, Entry, error)
	// List gives the direct children of a folder, ordered by bytes of the path.
	List(dir string) ([]Entry, error)
}

// The names of the trees that a handoff set is read from.
const (
	WorkingTree = "working tree"
	IndexTree   = "index"
	HeadTree    = "head tree"
)

// ErrNotRegular is what Open returns for anything but a regular file.
var ErrNotRegular = errors.New("not a regular file")

// LinkReader is a Tree that can tell where a symbolic link leads. Following it is
// up to whoever asks.
type LinkReader interface {
	Tree
	// ReadLink gives the target as it stands; for what is no link, ErrNotLink.
	ReadLink(path string) (string, error)
}

// ErrNotLink is what ReadLink returns for anything but a symbolic link that a
// system could follow.
var ErrNotLink = errors.New("not a symbolic link")

// Change is one record of a raw tree comparison without rename detection.
type Change struct {
	Status           byte   // 'A', 'D', 'M', 'T' or 'U'
	Path             string // from the repository's top level, any bytes
	OldMode, NewMode uint32 // git modes; 0 for an absent side
	OldID, NewID     string // object ids; all zeros for an absent side
}

// State says how far reading a document came.
type State uint8

// The states of a Document.
const (
	Absent     State = iota // nothing there under exactly that name
	Present                 // Data holds every byte
	NotRegular              // a link, submodule, folder, special or unmerged entry
	TooLarge                // over the limit; Data is empty
	Unreadable              // Err says why
)

// Document is one file of a Tree, read whole.
type Document struct {
	Path  string // from the repository's top level
	State State
	Entry Entry // zero when Absent
	Data  []byte
	Err   error // never nil when NotRegular, TooLarge or Unreadable
}

// ReadDocument reads the file at path if it is regular and no larger than
// limit bytes. It never returns a part of a file.
func ReadDocument(t Tree, p string, limit int64) Document {
	doc := Document{Path: p}
	e, err := t.Stat(p)
	if errors.Is(err, fs.ErrNotExist) {
		return doc
	}
	if err != nil {
		doc.State, doc.Err = Unreadable, err
		return doc
	}
	doc.Entry = e
	if e.Kind != Regular {
		doc.State, doc.Err = NotRegular, errors.New("it is "+e.Kind.Article())
		return doc
	}
	if e.Size > limit {
		doc.State, doc.Err = TooLarge, errTooLarge
		return doc
	}
	r, _, err := t.Open(p)
	if err != nil {
		doc.State, doc.Err = Unreadable, err
		return doc
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		doc.State, doc.Err = Unreadable, err
	case int64(len(data)) > limit:
		doc.State, doc.Err = TooLarge, errTooLarge
	default:
		doc.State, doc.Data = Present, data
	}
	return doc
}

var errTooLarge = errors.New("it is larger than its limit")

// LFSPointer is how a file begins whose content is not in the commit but in a Git
// LFS store.
const LFSPointer = "version https://git-lfs.github.com/spec/v1"

// Limits on what is read (aahp-verify.md 2). A file over its limit is refused,
// never cut.
const (
	MaxHandoffFile   = 256 << 20
	MaxManifest      = 16 << 20
	MaxTrustRegister = 16 << 20
	MaxConfig        = 1 << 20
	MaxWorkflow      = 1 << 20
	MaxPackageJSON   = 4 << 20
	MaxPackageLock   = 256 << 20
)

// How deep JSON may be nested, the outermost being 1: the manifest and the
// configuration (aahp-verify.md 3.1), and any other file of a handoff set
// (aahp-lint.md 2.3).
const (
	MaxDepth        = 64
	MaxHandoffDepth = 1000
)

// Join joins a project folder (or ".") and a path below it.
func Join(project, rel string) string {
	if project == "." || project == "" {
		return rel
	}
	return project + "/" + rel
}

// Below tells whether p lies below folder dir ("." holds everything) and gives
// the rest of the path.
func Below(dir, p string) (rel string, ok bool) {
	if dir == "." || dir == "" {
		return p, true
	}
	if strings.HasPrefix(p, dir+"/") {
		return p[len(dir)+1:], true
	}
	return "", false
}

// InGit tells whether a path with slashes leads into a folder of git's own, which
// holds credentials and is no part of a project. Case does not matter: there are
// file systems that do not tell it apart.
func InGit(p string) bool {
	for segment := range strings.SplitSeq(p, "/") {
		if strings.EqualFold(segment, ".git") {
			return true
		}
	}
	return false
}

// WithoutCR removes every byte 0x0D, wherever it stands ("CR-free" in the
// specification). It returns b itself when there is none.
func WithoutCR(b []byte) []byte {
	if bytes.IndexByte(b, '\r') < 0 {
		return b
	}
	return bytes.ReplaceAll(b, []byte{'\r'}, nil)
}

// BaseProblem says why no base commit could be used (aahp-verify.md 5.1).
type BaseProblem uint8

// The problems of a base, each with a drift rule of the same name.
const (
	BaseFine BaseProblem = iota
	HeadMissing
	BaseRequired
	BaseMalformed
	BaseZero
	BaseMissing
	BaseIsHead
)

// Base is what layer 2 compares HEAD with.
type Base struct {
	ID      string // full commit id; "" when there is none and for the empty tree
	Empty   bool   // the empty tree
	Source  string // where it came from, for people: "upstream origin/main"
	Problem BaseProblem
	Detail  string // what was given or seen, for the message; outside text
	Shallow bool   // the clone is shallow, so the remedy is to fetch

	// Message and Remedy replace the layer's own sentences for Problem where
	// whoever resolved the base knows more: the event, and why a commit could
	// not be fetched. Outside text in them is already cleaned; Remedy is without
	// the last line "fix: …". Both are "" where nothing more is known.
	Message, Remedy string
}

// Known tells whether there is something to compare with.
func (b Base) Known() bool { return b.Problem == BaseFine && (b.ID != "" || b.Empty) }

// Commands are the commands that remedies end in, quoted for a POSIX shell.
type Commands struct {
	Regen string // regenerates the project's manifest (aahp-verify.md 10)
	Again string // this gate's own command once more, with its flags

	// Handoff is the handoff folder as one word, as `git add` takes it where
	// Regen is run; "" where that is the repository's top level.
	Handoff string

	// Project is the project's folder below the repository's top level, and Given
	// the same folder as a program finds it where the gate was started; "" where that
	// is the top level. GitGiven is Given for git, which takes such a path in a work
	// tree only: outside of one it is "", and its command is for the top level.
	Project, Given, GitGiven string
}

// File names a file of the project, whose path begins at the repository's top level,
// as a program finds it where the gate was started.
func (c Commands) File(p string) string { return c.below(c.Given, p) }

// GitFile is File for git.
func (c Commands) GitFile(p string) string { return c.below(c.GitGiven, p) }

func (c Commands) below(given, p string) string {
	if given == "" {
		return p
	}
	if c.Project != "." {
		p = strings.TrimPrefix(p, c.Project+"/")
	}
	return path.Join(given, p)
}
