// Package sessiontest makes session folders as the agents-handoff engine writes
// them, for tests.
package sessiontest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
)

// Turn is one turn of a session.
type Turn struct {
	Seq             int
	TS, Class, Text string
}

func (t Turn) line() string {
	return fmt.Sprintf(`{"seq":%d,"ts":%s,"class":%s,"text":%s}`, t.Seq, quote(t.TS), quote(t.Class), quote(t.Text))
}

// Field is a field of a manifest, its value as JSON.
type Field struct{ Name, JSON string }

// Session is a session whose files agree with each other.
type Session struct {
	Manifest []Field // without the hash; the last one of a name counts for the copies
	Turns    []Turn
	Extra    string // what HANDOFF.md has after the copies
}

// classes are those that a manifest counts.
var classes = []string{"USER", "AGENT", "THOUGHT", "TOOL"}

// New makes a session of some turns in a project.
func New(project, session string, turns int) *Session {
	s := &Session{Manifest: []Field{
		{"session", quote("uuid-" + session)},
		{"project", quote(project)},
		{"harness", `"claude-code"`},
		{"model", `"m"`},
		{"created_at", `"2026-10-08T22:53:03.861Z"`},
		{"source_paths", "[" + quote("logs/"+session+".jsonl") + "]"},
		{"watermark", ""},
		{"raw_sha256", ""},
		{"revisions", "1"},
		{"updated_at", `"2026-10-08T22:53:03.865Z"`},
		{"turn_count", ""},
		{"counts", ""},
	}}
	s.Grow(turns)
	return s
}

// Grow appends turns, as a build that reads a longer transcript does, but for the
// revision.
func (s *Session) Grow(turns int) {
	for range turns {
		n := len(s.Turns)
		s.Turns = append(s.Turns, Turn{
			Seq: n, TS: fmt.Sprintf("2026-10-08T10:%02d:%02dZ", n/60%60, n%60), Class: append(classes[:4:4], "OTHER")[n%5], Text: fmt.Sprintf("turn %d: \"é\" <b>\n", n),
		})
	}
	s.Count()
	s.Set("raw_sha256", quote(Sum(s.Source())))
}

// Count sets the fields that follow from the turns.
func (s *Session) Count() {
	of := map[string]int{}
	highest := 0
	for _, t := range s.Turns {
		of[t.Class]++
		highest = max(highest, t.Seq)
	}
	var counts []string
	for _, c := range classes {
		counts = append(counts, fmt.Sprintf("%q:%d", c, of[c]))
	}
	s.Set("counts", "{"+strings.Join(counts, ",")+"}")
	s.Set("turn_count", strconv.Itoa(len(s.Turns)))
	s.Set("watermark", strconv.Itoa(highest))
}

// Set gives a field a value, which is JSON. A new field comes last.
func (s *Session) Set(name, json string) {
	for i := range s.Manifest {
		if s.Manifest[i].Name == name {
			s.Manifest[i].JSON = json
			return
		}
	}
	s.Manifest = append(s.Manifest, Field{name, json})
}

// Delete leaves a field out.
func (s *Session) Delete(name string) {
	kept := s.Manifest[:0]
	for _, f := range s.Manifest {
		if f.Name != name {
			kept = append(kept, f)
		}
	}
	s.Manifest = kept
}

// Source is the transcript that the session was built from.
func (s *Session) Source() string {
	var b strings.Builder
	for _, t := range s.Turns {
		fmt.Fprintf(&b, `{"seq":%d,"kind":"%s","text":%s}`+"\n", t.Seq, strings.ToLower(t.Class), quote(t.Text))
	}
	return b.String()
}

// Timeline is the text of timeline.jsonl.
func (s *Session) Timeline() string {
	var b strings.Builder
	for _, t := range s.Turns {
		b.WriteString(t.line() + "\n")
	}
	return b.String()
}

// Files are the files of the folder by name.
func (s *Session) Files() map[string]string {
	manifest := s.text("")
	hash := Hash(manifest)
	files := s.Copies(hash)
	files["manifest.json"] = s.text(hash)
	files["timeline.jsonl"] = s.Timeline()
	files["TOOLS.md"] = "# Tool calls\n"
	return files
}

// text writes the manifest, a field a line.
func (s *Session) text(hash string) string {
	var b strings.Builder
	b.WriteString("{\n")
	for _, f := range s.Manifest {
		fmt.Fprintf(&b, "  %s: %s,\n", quote(f.Name), f.JSON)
	}
	fmt.Fprintf(&b, "  \"manifest_sha256\": %s\n}", quote(hash))
	return b.String()
}

// Copies are the files that repeat fields of the manifest: the payload, the summary
// and HANDOFF.md.
func (s *Session) Copies(hash string) map[string]string {
	values := map[string]string{}
	for _, f := range s.Manifest {
		values[f.Name] = f.JSON
	}
	var provenance []string
	for _, c := range [][2]string{{"raw_sha256", "raw_sha256"}, {"revision", "revisions"}, {"watermark", "watermark"}, {"total_turns", "turn_count"}} {
		if v, ok := values[c[1]]; ok {
			provenance = append(provenance, fmt.Sprintf("    %q: %s", c[0], v))
		}
	}
	provenance = append(provenance, fmt.Sprintf("    \"manifest_sha256\": %q", hash))
	begin := "{\n  \"objective\": \"o\",\n  \"provenance\": {\n" + strings.Join(provenance, ",\n") + "\n  }"
	var turns []string
	for _, t := range s.Turns {
		turns = append(turns, fmt.Sprintf("    {\"seq\": %d, \"ts\": %s, \"text\": %s, \"class\": %s}", t.Seq, quote(t.TS), quote(t.Text), quote(t.Class)))
	}
	return map[string]string{
		"HANDOFF.summary.json": begin + "\n}",
		"HANDOFF.llm.json":     begin + ",\n  \"timeline\": [\n" + strings.Join(turns, ",\n") + "\n  ]\n}",
		"HANDOFF.md": "# Handoff\n\n## Provenance\n- raw sha256: " + strings.Trim(values["raw_sha256"], `"`) + "\n- manifest sha256: " + hash +
			"\n- incremental: revisions=" + values["revisions"] + " (update-not-recreate)\n" + s.Extra,
	}
}

// Contract is an evidence contract with its heading and its seal, and its hash.
func Contract(lines ...string) (text, hash string) {
	block := strings.Join(lines, "\n")
	hash = Sum(block)
	return "\n## Evidence contract (required)\n\n" + block + "\n\n- contract sha256: " + hash + " (sealed)\n", hash
}

// Hash is the hash of a manifest.
func Hash(manifest string) string {
	d, err := ecma.Read(strings.NewReader(manifest), ecma.Options{MaxDepth: 2000})
	if err != nil {
		return ""
	}
	return d.SHA256("manifest_sha256", "__proto__")
}

// Sum is the SHA-256 of a text.
func Sum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func quote(s string) string { return string(ecma.AppendString(nil, s)) }
