package bench

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/gittest"
)

// Sample is a repository, checked out, with a change on its branch as people and
// agents make them: a commit that changes files, and one that hands over and
// records the commit before it.
type Sample struct {
	*gittest.Repo
	Base, Head string
}

// Shape says what is in a Sample.
type Shape struct {
	Files   int // beside the handoff set
	Changed int // of these, by the change
	Archive int // bytes of LOG-ARCHIVE.md; 0 for none
}

// NewSample makes a repository. The same shape gives the same bytes.
func NewSample(b *testing.B, s Shape) Sample {
	b.Helper()
	r := gittest.New(b, "")
	rng := rand.New(rand.NewPCG(1, 2))
	handoff := map[string][]byte{
		"STATUS.md":       []byte("# Status\n\nThe project builds.\n"),
		"NEXT_ACTIONS.md": []byte("# Next actions\n\nNothing is open.\n"),
		"LOG.md":          []byte("# Log\n\n## 2026-11-01 Start\n\nSet up.\n"),
		"TRUST.md":        []byte("# Trust\n\n| Property | Status | Expires | Check |\n|---|---|---|---|\n| Builds | verified | 2099-01-01 | - |\n"),
	}
	if s.Archive > 0 {
		handoff["LOG-ARCHIVE.md"] = Text(rng, s.Archive)
	}
	files := func(w io.Writer, n int) {
		for i := range n {
			put(w, filePath(i), Text(rng, 100+rng.IntN(1900)))
		}
	}
	base := commit(b, r, "", func(w io.Writer) {
		files(w, s.Files)
		for name, data := range handoff {
			put(w, ".ai/handoff/"+name, data)
		}
		put(w, ".ai/handoff/MANIFEST.json", manifest(handoff, "unknown"))
	})
	work := commit(b, r, base, func(w io.Writer) { files(w, s.Changed) })
	head := commit(b, r, work, func(w io.Writer) {
		handoff["STATUS.md"] = []byte("# Status\n\nThe project builds, and does more.\n")
		put(w, ".ai/handoff/STATUS.md", handoff["STATUS.md"])
		put(w, ".ai/handoff/MANIFEST.json", manifest(handoff, work))
	})
	r.Git("reset", "-q", "--hard", "main")
	return Sample{Repo: r, Base: base, Head: head}
}

// commit imports one commit and gives its id; parent is "" for the first.
func commit(b *testing.B, r *gittest.Repo, parent string, write func(io.Writer)) string {
	b.Helper()
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Env = r.Dir, gittest.Environ()
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(in, 1<<20)
	fmt.Fprint(w, "commit refs/heads/main\ncommitter Test <test@example.com> 1793500000 +0000\ndata 0\n")
	if parent != "" {
		fmt.Fprintf(w, "from %s\n", parent)
	}
	write(w)
	err = errors.Join(w.Flush(), in.Close())
	if err := errors.Join(cmd.Wait(), err); err != nil {
		b.Fatalf("git fast-import: %v\n%s", err, said.String())
	}
	return r.Git("rev-parse", "main")
}

// filePath spreads the files over folders of a hundred.
func filePath(i int) string {
	return fmt.Sprintf("services/team%02d/component%03d/source_file_%05d.go", i/5000, i/100, i)
}

func put(w io.Writer, path string, data []byte) {
	fmt.Fprintf(w, "M 100644 inline %s\ndata %d\n", path, len(data))
	w.Write(data)
	fmt.Fprint(w, "\n")
}

// manifest is one that fits the files and records a commit.
func manifest(handoff map[string][]byte, commit string) []byte {
	files := map[string]any{}
	for name, data := range handoff {
		files[name] = map[string]any{
			"checksum": fmt.Sprintf("sha256:%x", sha256.Sum256(data)), "updated": "2026-11-01T00:00:00Z",
			"lines": bytes.Count(data, []byte{'\n'}), "summary": "A file.",
		}
	}
	text, err := json.MarshalIndent(map[string]any{
		"aahp_version": "3.0", "project": "sample", "files": files, "quick_context": "A sample.",
		"last_session": map[string]any{"agent": "sample", "timestamp": "2026-11-01T00:00:00Z", "commit": commit, "phase": "idle"},
	}, "", "  ")
	if err != nil {
		panic(err) // strings and numbers can be encoded
	}
	return append(text, '\n')
}

// words make sentences like those of a log that people and agents keep.
var words = []string{
	"the", "gate", "reads", "a", "file", "and", "its", "digest", "before", "merge", "build", "passes", "on", "every", "branch", "we",
	"moved", "parser", "into", "package", "tests", "cover", "empty", "input", "release", "notes", "are", "ready", "open", "question",
	"`go test ./...`", "(see below)", "https://example.com/run/4711", "3f2a9c1", "**done**", "key", "token", "cache", "instructions",
}

// Text makes size bytes of ordinary Markdown, cut anywhere but for its last LF.
func Text(rng *rand.Rand, size int) []byte {
	out := make([]byte, 0, size+128)
	for len(out) < size {
		switch rng.IntN(12) {
		case 0:
			out = append(out, "\n## 2026-10-12 "...)
		case 1:
			out = append(out, "- "...)
		case 2:
			out = append(out, "| "...)
		}
		for range 6 + rng.IntN(10) {
			out = append(out, words[rng.IntN(len(words))]...)
			out = append(out, ' ')
		}
		out[len(out)-1] = '\n'
	}
	out = out[:size]
	out[size-1] = '\n'
	return out
}
