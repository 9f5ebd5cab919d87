package bench

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// Session says what is in a session folder.
type Session struct {
	Turns   int
	Text    int    // bytes of the text of a turn, on the average
	Seed    uint64 // the same seed gives the same bytes
	Compact bool   // the payload is not indented as the engine's, and about as large as the timeline
}

// NewSession writes a session folder that agrees with itself, as the engine does:
// manifest, timeline, payload, summary and renders. Session and project are named
// after the folder and the one above.
func NewSession(b *testing.B, dir string, s Session) {
	b.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	project, id := filepath.Base(filepath.Dir(dir)), filepath.Base(dir)
	counts := map[string]int{}
	raw := sha256.New()
	writeFile(b, filepath.Join(dir, "timeline.jsonl"), func(w io.Writer) {
		w = io.MultiWriter(w, raw)
		s.each(func(i int, class, text string) {
			counts[class]++
			fmt.Fprintf(w, `{"seq":%d,"ts":"2026-11-01T10:00:00Z","class":"%s","text":%s}`+"\n", i, class, text)
		})
	})
	source := fmt.Sprintf("%x", raw.Sum(nil))
	counted := fmt.Sprintf(`{"USER":%d,"AGENT":%d,"THOUGHT":%d,"TOOL":%d}`, counts["USER"], counts["AGENT"], counts["THOUGHT"], counts["TOOL"])
	manifest := fmt.Sprintf(`{"session":"%s","project":"%s","harness":"claude-code","model":"sample","created_at":"2026-11-01T10:00:00.000Z",`+
		`"source_paths":["logs/%s.jsonl"],"watermark":%d,"raw_sha256":"%s","revisions":1,"updated_at":"2026-11-01T10:00:00.000Z","turn_count":%d,"counts":%s`,
		id, project, id, s.Turns-1, source, s.Turns, counted)
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(manifest+"}")))
	writeFile(b, filepath.Join(dir, "manifest.json"), func(w io.Writer) { indent(b, w, manifest+`,"manifest_sha256":"`+sum+`"}`) })
	head := fmt.Sprintf(`"session":{"id":"%s"},"project":"%s","objective":"A sample.","open_loops":[],"counts":%s,`+
		`"provenance":{"sources":["logs/%s.jsonl"],"raw_sha256":"%s","manifest_sha256":"%s","revision":1,"watermark":%d,"total_turns":%d}`,
		id, project, counted, id, source, sum, s.Turns-1, s.Turns)
	writeFile(b, filepath.Join(dir, "HANDOFF.summary.json"), func(w io.Writer) { indent(b, w, `{"schema_version":"2.0.0-summary",`+head+`}`) })
	payload := func(w io.Writer) {
		fmt.Fprintf(w, `{"schema_version":"2.0.0",%s,"timeline":[`, head)
		s.each(func(i int, class, text string) {
			if i > 0 {
				fmt.Fprint(w, ",")
			}
			fmt.Fprintf(w, `{"seq":%d,"ts":"2026-11-01T10:00:00Z","text":%s,"class":"%s"}`, i, text, class)
		})
		fmt.Fprint(w, `],"tool_calls":[]}`)
	}
	writeFile(b, filepath.Join(dir, "HANDOFF.llm.json"), func(w io.Writer) {
		if s.Compact {
			payload(w)
			return
		}
		var text bytes.Buffer
		payload(&text)
		indent(b, w, text.String())
	})
	writeFile(b, filepath.Join(dir, "HANDOFF.md"), func(w io.Writer) {
		fmt.Fprintf(w, "# Handoff: %s\n\n## Provenance\n- sources: logs/%s.jsonl\n- raw sha256: %s\n- manifest sha256: %s\n- incremental: revisions=1 (update-not-recreate)\n", id, id, source, sum)
	})
	writeFile(b, filepath.Join(dir, "TOOLS.md"), func(w io.Writer) { fmt.Fprint(w, "# Tool calls\n") })
}

func writeFile(b *testing.B, name string, write func(io.Writer)) {
	b.Helper()
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 64<<10)
	write(w)
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}

func indent(b *testing.B, w io.Writer, text string) {
	b.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(text), "", "  "); err != nil {
		b.Fatal(err)
	}
	if _, err := out.WriteTo(w); err != nil {
		b.Fatal(err)
	}
}

// each makes the turns of a session: their class, and their text as JSON.
func (s Session) each(turn func(i int, class, text string)) {
	classes := []string{"USER", "AGENT", "TOOL", "THOUGHT"}
	words := []string{"the", "gate", "reads", "both", "states", "and", "says", "what", "differs", "in", "a", "line", `\n`, `\"quoted\"`, "naïve", "ß", "path/to/file.go", "42"}
	r := rand.New(rand.NewPCG(s.Seed, 1))
	var text bytes.Buffer
	for i := range s.Turns {
		text.Reset()
		text.WriteByte('"')
		for n := s.Text/2 + r.IntN(s.Text); text.Len() < n; {
			text.WriteString(words[r.IntN(len(words))])
			text.WriteByte(' ')
		}
		text.WriteByte('"')
		turn(i, classes[r.IntN(len(classes))], text.String())
	}
}
