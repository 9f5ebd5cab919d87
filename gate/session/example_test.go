package session

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/fake"
	"github.com/handoff-gate/handoff-gate/gate/internal/parallel"
)

var update = flag.Bool("update", false, "write docs/sessions-unnoticed.md anew")

const (
	exampleDir = "examples/sessions/projects/demo/typescript-project-setup"
	transcript = "examples/demo/transcript.jsonl"
)

var examplePlace = Place{Path: exampleDir, ID: "typescript-project-setup", Project: "demo", Marked: true}

// example is the session of the engine's own documentation, with its transcript.
func example(t *testing.T) fake.Tree {
	t.Helper()
	examples := filepath.Join(cmp.Or(os.Getenv("HANDOFF_GATE_SHARED"), filepath.Join("..", "..", "..", "shared")), "data", "agents-handoff-example")
	if _, err := os.Stat(examples); err != nil {
		t.Skip("SKIPPED: the example of agents-handoff is not here; set HANDOFF_GATE_SHARED to the folder that holds data/agents-handoff-example")
	}
	tree := fake.Tree{}
	for _, name := range append([]string{transcript}, inFolder(names...)...) {
		data, err := os.ReadFile(filepath.Join(examples, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		tree[name] = fake.File{Data: string(data)}
	}
	return tree
}

func inFolder(names ...string) []string {
	var out []string
	for _, name := range names {
		out = append(out, exampleDir+"/"+name)
	}
	return out
}

// noticed tells whether anything is found in a state of the example, the base being
// the example as it is.
func noticed(base fake.Tree, file string, data []byte) bool {
	now := base.With(map[string]*fake.File{file: {Data: string(data)}})
	sources := NewSources(linked{now}, func(name string) []string { return []string{name} })
	res := Check(&Input{Place: examplePlace, Now: now, Base: base, Before: &examplePlace, Compared: true, Sources: sources.Find, Again: "again"})
	return len(res.Findings) > 0
}

// The example of the engine's documentation is sound, its source included.
func TestExample(t *testing.T) {
	tree := example(t)
	if noticed(tree, transcript, []byte(tree[transcript].Data)) {
		t.Error("something is found in the example")
	}
	if !noticed(tree, transcript, []byte("x")) {
		t.Error("its transcript is not looked at")
	}
}

// swaps are the white space that JSON has between tokens.
const swaps = " \t\n\r"

// Every byte of every file of the example is changed in turn, by each of its bits
// and, where it is white space, into other white space. Where that is not noticed
// although the base is known, docs/sessions-unnoticed.md shows the byte. Nothing of
// the manifest, the timeline and the transcript is among these but white space
// between the tokens of the manifest.
func TestEveryByte(t *testing.T) {
	base := example(t)
	if testing.Short() && *update {
		t.Fatal("-update wants every byte")
	}
	page := pageBegin
	for _, file := range append(inFolder(names...), transcript) {
		data := []byte(base[file].Data)
		mask := unnoticed(base, file)
		shown, space := 0, 0
		for i, miss := range mask {
			if miss.bits {
				shown++
			}
			if miss.space {
				space++
			}
			if miss.space && !miss.bits && !strings.HasSuffix(file, ".json") {
				t.Errorf("%s: white space at byte %d may become other white space", file, i)
			}
		}
		page += section(path.Base(file), data, mask, shown, space)
		switch name := path.Base(file); name {
		case ManifestName, TimelineName, path.Base(transcript):
			if shown > 0 {
				t.Errorf("%s: %d bytes can change without being noticed", name, shown)
			}
		}
	}
	const doc = "../../docs/sessions-unnoticed.md"
	if *update {
		if err := os.WriteFile(doc, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	if !testing.Short() && page != string(want) {
		t.Errorf("docs/sessions-unnoticed.md is not what was found; write it anew with\n\tgo test ./gate/session -run TestEveryByte -update")
	}
}

// miss says of a byte what can become of it without being noticed.
type miss struct{ bits, space bool }

// unnoticed changes every byte of a file in turn. With -short it changes one bit of
// every eighth.
func unnoticed(base fake.Tree, file string) []miss {
	data := []byte(base[file].Data)
	mask := make([]miss, len(data))
	var g parallel.Group
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		g.Go(func() error {
			for i := w; i < len(data); i += workers {
				if testing.Short() && i%8 != 0 {
					continue
				}
				changed := bytes.Clone(data)
				for bit := range 8 {
					changed[i] = data[i] ^ 1<<bit
					if mask[i].bits = !noticed(base, file, changed); mask[i].bits || testing.Short() {
						break
					}
				}
				if strings.IndexByte(swaps, data[i]) < 0 || testing.Short() {
					continue
				}
				for _, c := range []byte(swaps) {
					changed[i] = c
					mask[i].space = mask[i].space || c != data[i] && !noticed(base, file, changed)
				}
			}
			return nil
		})
	}
	_ = g.Wait() // none of them fails
	return mask
}

const pageBegin = `# What can change in a session without being noticed

[Sessions](sessions.md) says what is compared with what. This page shows what is left, byte by byte,
in the example of the engine's documentation: a session whose base commit is known, with its
transcript in the repository. It is written by a test that changes every bit in turn.

A byte is shown where another one, of which a single bit differs, can stand without a finding; a dot
is one where none can.

`

// why says of each file what is left of it.
var why = map[string]string{
	ManifestName: "The hash is over the values, however they are spelled, and the copies, the timeline and the base are\nheld against them.",
	TimelineName: "The base has every line, byte for byte.",
	PayloadName: "The turns are those of the timeline, and five fields those of the manifest. Nothing says what the\n" +
		"other members have to be: no hash covers them, and a rebuild may write them differently. A field under\n" +
		"another name is one that the file does not have.",
	SummaryName: "Five fields are those of the manifest. Nothing says what the other members have to be.",
	RenderName: "The file is free text around three lines that repeat the manifest. Only a change that leaves such a\n" +
		"line in its form can be told from a text that does not speak of the manifest; of the line with the\n" +
		"manifest's hash, the absence is noticed, too.",
	ToolsName:             "Nothing repeats it and no hash covers it.",
	path.Base(transcript): "`raw_sha256` covers all of it. A transcript that is not in the repository is not looked at.",
}

// section is what the page says of one file.
func section(name string, data []byte, mask []miss, shown, space int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s\n\n%d of %d bytes", name, why[name], shown, len(data))
	if space > 0 && strings.HasSuffix(name, ".json") {
		fmt.Fprintf(&b, "; beside these, %d bytes of white space between tokens can be other white space", space)
	}
	b.WriteString(".\n")
	if shown == 0 {
		b.WriteString("\n")
		return b.String()
	}
	b.WriteString("\n~~~~text\n")
	for i, c := range data {
		if mask[i].bits || c == '\n' {
			b.WriteByte(c)
		} else {
			b.WriteString("·")
		}
	}
	b.WriteString("\n~~~~\n\n")
	return b.String()
}

// Every file is named, so that a new one does not go without.
func TestEveryFileIsExplained(t *testing.T) {
	for _, name := range append(slices.Clone(names), path.Base(transcript)) {
		if why[name] == "" {
			t.Errorf("%s is not explained", name)
		}
	}
}
