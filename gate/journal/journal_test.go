package journal

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func read(t testing.TB, text string) *Document {
	t.Helper()
	d, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return d
}

func textOf(t testing.TB, d *Document, e Entry) string {
	t.Helper()
	var b strings.Builder
	if err := d.WriteText(&b, e); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func titleOf(t testing.TB, d *Document, e Entry) string {
	t.Helper()
	title, err := d.Title(e)
	if err != nil {
		t.Fatal(err)
	}
	return title
}

func preambleOf(t testing.TB, d *Document) string {
	t.Helper()
	var b strings.Builder
	if err := d.WritePreamble(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// plain is the grammar of aahp-authoring.md 4.1 once more, by regular expressions
// over the whole text.
type plain struct {
	preamble string
	texts    []string
	titles   []string
	digests  []string
}

var (
	// blanks are the white space of the section, written out.
	blanks     = "\t\n\v\f\r\x1c\x1d\x1e\x1f \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
	heading    = regexp.MustCompile(`(?m)^## \[[0-9]{4}-[0-9]{2}-[0-9]{2}\]`)
	separators = regexp.MustCompile(`(?:^|\n)[` + blanks + `]*---$`)
)

func readPlain(text string) plain {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	starts := heading.FindAllStringIndex(text, -1)
	first := len(text)
	if len(starts) > 0 {
		first = starts[0][0]
	}
	p := plain{preamble: strings.TrimRight(text[:first], blanks)}
	for i, at := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		entry := text[at[0]:end]
		for before := ""; before != entry; {
			before = entry
			entry = separators.ReplaceAllString(strings.TrimRight(entry, blanks), "")
		}
		p.texts = append(p.texts, entry)
		line, _, _ := strings.Cut(entry, "\n")
		p.titles = append(p.titles, strings.Trim(line, blanks))
		for before := ""; before != entry; {
			before = entry
			entry = strings.TrimSuffix(strings.TrimRight(entry, blanks), "---")
		}
		p.digests = append(p.digests, fmt.Sprintf("%x", sha256.Sum256([]byte(entry+"\n"))))
	}
	return p
}

// agree compares both readings of a text.
func agree(t *testing.T, text string) {
	t.Helper()
	d := read(t, text)
	want := readPlain(text)
	if got := preambleOf(t, d); got != want.preamble || d.HasPreamble() != (want.preamble != "") {
		t.Errorf("%q: the preamble is %q, want %q", text, got, want.preamble)
	}
	if len(d.Entries) != len(want.texts) {
		t.Fatalf("%q: %d entries, want %d", text, len(d.Entries), len(want.texts))
	}
	for i, e := range d.Entries {
		if got := textOf(t, d, e); got != want.texts[i] {
			t.Errorf("%q: entry %d is %q, want %q", text, i, got, want.texts[i])
		}
		if got := titleOf(t, d, e); got != want.titles[i] {
			t.Errorf("%q: title %d is %q, want %q", text, i, got, want.titles[i])
		}
		if got := e.Digest.String(); got != want.digests[i] {
			t.Errorf("%q: digest %d is %s, want %s", text, i, got, want.digests[i])
		}
	}
	if d.Size != int64(len(text)) || d.Sum != sha256.Sum256([]byte(text)) {
		t.Errorf("%q: %d bytes of digest %s", text, d.Size, d.Sum)
	}
}

func TestEntries(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		preamble   string
		entries    []string
	}{
		{"nothing", "", "", nil},
		{"white space", " \n\t\n\u2003", "", nil},
		{"no entry", "# Log\n\nNothing yet.\n\n", "# Log\n\nNothing yet.", nil},
		{"one", "# Log\n\n---\n\n## [2026-01-02] a\n\nText.\n", "# Log\n\n---", []string{"## [2026-01-02] a\n\nText."}},
		{"at the very beginning", "## [2026-01-02] a", "", []string{"## [2026-01-02] a"}},
		{"nothing after the bracket", "## [2026-01-02]\n", "", []string{"## [2026-01-02]"}},
		{"anything after it", "## [2026-01-02]: a] b\n", "", []string{"## [2026-01-02]: a] b"}},
		{"no date of any calendar", "## [9999-99-99] a\n", "", []string{"## [9999-99-99] a"}},
		{"separated", "## [2026-01-02] b\n\nB\n\n---\n\n## [2026-01-01] a\n\nA\n\n---\n", "", []string{"## [2026-01-02] b\n\nB", "## [2026-01-01] a\n\nA"}},
		{"not separated", "## [2026-01-02] b\n## [2026-01-01] a", "", []string{"## [2026-01-02] b", "## [2026-01-01] a"}},
		{"separators in a row", "## [2026-01-02] b\n---\n\n \u00a0--- \n\n---\n\n", "", []string{"## [2026-01-02] b"}},
		{"a separator inside", "## [2026-01-02] b\n\nB\n\n---\n\nmore\n", "", []string{"## [2026-01-02] b\n\nB\n\n---\n\nmore"}},
		{"a longer line is none", "## [2026-01-02] b\n\n----\n", "", []string{"## [2026-01-02] b\n\n----"}},
		{"nor is a shorter one", "## [2026-01-02] b\n\n--\n", "", []string{"## [2026-01-02] b\n\n--"}},
		{"nor one with a space in it", "## [2026-01-02] b\n\n-- -\n", "", []string{"## [2026-01-02] b\n\n-- -"}},
		{"hyphens that end a text line stay", "## [2026-01-02] b\n\nsee ---\n", "", []string{"## [2026-01-02] b\n\nsee ---"}},
		{"not in column one", " ## [2026-01-02] b\n", " ## [2026-01-02] b", nil},
		{"after a byte order mark", "\ufeff## [2026-01-02] b\n", "\ufeff## [2026-01-02] b", nil},
		{
			"other headings", "### [2026-01-02] b\n# [2026-01-02]\n##  [2026-01-02]\n##[2026-01-02]\n## 2026-01-02\n## [2026-1-2]\n## [２０２６-01-02]\n## [2026-01-02",
			"### [2026-01-02] b\n# [2026-01-02]\n##  [2026-01-02]\n##[2026-01-02]\n## 2026-01-02\n## [2026-1-2]\n## [２０２６-01-02]\n## [2026-01-02", nil,
		},
		{"in a fence", "```\n## [2026-01-02] b\n```\n", "```", []string{"## [2026-01-02] b\n```"}},
		{"CRLF and CR", "# Log\r\n\r\n## [2026-01-02] b\r\n\r\nB\rC\r\n\r\n---\r\n\r## [2026-01-01] a", "# Log", []string{"## [2026-01-02] b\n\nB\nC", "## [2026-01-01] a"}},
		{"no other character ends a line", "## [2026-01-02] b\u2028## [2026-01-01] a\v---\u0085", "", []string{"## [2026-01-02] b\u2028## [2026-01-01] a\v---"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := read(t, tt.text)
			var entries []string
			for _, e := range d.Entries {
				entries = append(entries, textOf(t, d, e))
			}
			if got := preambleOf(t, d); got != tt.preamble {
				t.Errorf("the preamble is %q, want %q", got, tt.preamble)
			}
			if !slices.Equal(entries, tt.entries) {
				t.Errorf("the entries are %q, want %q", entries, tt.entries)
			}
			agree(t, tt.text)
		})
	}
}

// What an entry is known by does not depend on line ends, nor on what separates
// it from the next one.
func TestDigest(t *testing.T) {
	want := Digest(sha256.Sum256([]byte("## [2026-01-02] b\n\nB\n")))
	for _, text := range []string{
		"## [2026-01-02] b\n\nB", "## [2026-01-02] b\n\nB\n\n\n", "## [2026-01-02] b\n\nB\n\n---\n", "## [2026-01-02] b\r\n\r\nB\r\n\r\n---\r\n",
		"## [2026-01-02] b\n\nB\u0085\u001c\n", "## [2026-01-02] b\n\nB---\n", "## [2026-01-02] b\n\nB ---\u00a0------", "## [2026-01-02] b\n\nB\n\n---\n\n--- ---\n",
		"# Head\n\n## [2026-01-02] b\n\nB\n\n---\n\n## [2026-01-01] a\n",
	} {
		if got := read(t, text).Entries[0].Digest; got != want {
			t.Errorf("%q has the digest %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"## [2026-01-02] b\n\nB-", "## [2026-01-02] b\n\nB\ufeff", "## [2026-01-02] b\n\nB----", "## [2026-01-02] b \n\nB"} {
		if got := read(t, text).Entries[0].Digest; got == want {
			t.Errorf("%q has the digest of another text", text)
		}
	}
}

func TestIsSpace(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if want := strings.ContainsRune(blanks, r) && r != utf8.RuneError; isSpace(r) != want {
			t.Errorf("isSpace(%U) = %v", r, !want)
		}
	}
}

func TestNotUTF8(t *testing.T) {
	long := strings.Repeat("a", bufferSize-1)
	for text, want := range map[string]int64{
		"\xff": 0, "ab\x80": 2, "a\xc3": 1, "a\xc3b": 1, "\xed\xa0\x80": 0, "\xc0\xaf": 0, "é\xf0\x9f\x9a": 2, "\xf4\x90\x80\x80": 0,
		long + "\xc3": bufferSize - 1, long + "é\xe2\x82": bufferSize + 1, long + "\x80\x80\x80\x80\x80": bufferSize - 1,
	} {
		_, err := Read(strings.NewReader(text))
		var bad *NotUTF8Error
		if !errors.As(err, &bad) || bad.Off != want {
			t.Errorf("%.20q: %v, want one at %d", text, err, want)
		}
	}
}

// Where the file is cut into pieces for reading changes nothing.
func TestPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"\r\n", "\n", "\r", "---", "-", " ", "é🚀\u2003\u0085", "## [2026-01-02] t", "\n## [2026-01-02] t\n", "x", strings.Repeat("y", 1000)}
	for range 20 {
		var b strings.Builder
		for b.Len() < 3*bufferSize {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		agree(t, b.String())
	}
	// Every place of an opening, a line end and a character across the border.
	for at := bufferSize - 20; at <= bufferSize+2; at++ {
		agree(t, "## [2026-01-01] a\n"+strings.Repeat("a", at-19)+"\r\n## [2026-01-02] é🚀\r\n---\r\n")
		agree(t, "## [2026-01-01] a"+strings.Repeat("a", at-19)+"---🚀---")
	}
}

// A file that cannot be read, or that shrinks, is an error and never a shorter
// journal.
func TestReadErrors(t *testing.T) {
	failure := errors.New("input/output error")
	text := "## [2026-01-01] a\n\n" + strings.Repeat("text ", bufferSize)
	for fail := range 6 {
		n := 0
		_, err := Read(readerAt(func(p []byte, off int64) (int, error) {
			if n++; n > fail {
				return 0, failure
			}
			return strings.NewReader(text).ReadAt(p, off)
		}))
		if !errors.Is(err, failure) {
			t.Errorf("read %d failed: %v", fail, err)
		}
	}
	shrunk := text
	d, err := Read(readerAt(func(p []byte, off int64) (int, error) { return strings.NewReader(shrunk).ReadAt(p, off) }))
	if err != nil {
		t.Fatal(err)
	}
	shrunk = text[:100]
	if err := d.WriteText(io.Discard, d.Entries[0]); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the file shrank: %v", err)
	}
	shrunk = text
	if err := d.WriteText(writer(func([]byte) (int, error) { return 0, failure }), d.Entries[0]); !errors.Is(err, failure) {
		t.Errorf("writing failed: %v", err)
	}
}

type readerAt func(p []byte, off int64) (int, error)

func (f readerAt) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

type writer func(p []byte) (int, error)

func (f writer) Write(p []byte) (int, error) { return f(p) }

func TestMentions(t *testing.T) {
	for _, tt := range []struct {
		text string
		want bool
	}{
		{"## [2026-01-01] a\n\n[redacted: a key] x", true},
		{"## [2026-01-01] a\n\n[redacted] x", false},
		{"## [2026-01-01] [redacted: ]", true},
		{"## [2026-01-01] " + strings.Repeat("a", bufferSize-21) + "[redacted: x", true},
		{"## [2026-01-01] a\n\n## [2026-01-01] b\n\n[redacted: x", false},
	} {
		d := read(t, tt.text)
		if got, err := d.Mentions(d.Entries[0], redactionMark); got != tt.want || err != nil {
			t.Errorf("%.50q: %v, %v", tt.text, got, err)
		}
	}
}

// Both readings agree on any text, and what is written reads back as the same
// entries.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"# Log\n\n---\n\n## [2026-01-02] b\n\nB\n\n---\n\n## [2026-01-01] a\n\nA ---\n\n--- ---\n",
		"## [2026-01-02] b\r\n--\r---\r\n---- - ---\n", "\ufeff## [2026-01-02]\n## [2026-01-02]\u0085\u2028---\n", "## [0000-00-00]---\n-\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if !utf8.Valid(src) {
			if _, err := Read(bytes.NewReader(src)); err == nil {
				t.Errorf("%q was read", src)
			}
			return
		}
		text := string(src)
		agree(t, text)
		d := read(t, text)
		var b strings.Builder
		if _, err := (file{preamble: d, own: logPreamble, parts: []part{{d, d.Entries}}}).WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		agree(t, b.String())
		again := read(t, b.String())
		if len(again.Entries) != len(d.Entries) {
			t.Fatalf("%q was written as %q", text, b.String())
		}
		for i, e := range d.Entries {
			if o := again.Entries[i]; o.Digest != e.Digest || titleOf(t, d, e) != titleOf(t, again, o) || textOf(t, d, e) != textOf(t, again, o) {
				t.Errorf("%q was written as %q", text, b.String())
			}
		}
	})
}
