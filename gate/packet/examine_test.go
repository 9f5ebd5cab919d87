package packet

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// plainly is a second implementation: the whole text at once.
func plainly(data string, n Need) File {
	f := File{State: Present, SHA256: sha256.Sum256([]byte(data)), Quoted: make([]bool, len(n.Quotes))}
	text := strings.ReplaceAll(data, "\r\n", "\n")
	f.LF = sha256.Sum256([]byte(text))
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	f.Lines = int64(len(lines))
	for i, q := range n.Quotes {
		part := text
		if q.Lines != (Lines{}) {
			part = ""
			if from, to := max(q.Lines.From, 1), min(q.Lines.To, f.Lines); from <= to {
				part = strings.Join(lines[from-1:to], "")
			}
		}
		f.Quoted[i] = strings.Contains(part, strings.ReplaceAll(q.Text, "\r\n", "\n"))
	}
	return f
}

// readers cut a text into pieces in several ways: quotes and line ends lie across
// their edges.
var readers = map[string]func(io.Reader) io.Reader{
	"whole":        func(r io.Reader) io.Reader { return r },
	"half":         iotest.HalfReader,
	"bytes":        iotest.OneByteReader,
	"end with the": iotest.DataErrReader,
}

func agree(t *testing.T, data string, n Need) {
	t.Helper()
	want := plainly(data, n)
	for name, cut := range readers {
		got, err := Examine(func() (io.ReadCloser, error) { return io.NopCloser(cut(strings.NewReader(data))), nil }, n)
		if err != nil {
			t.Fatal(err)
		}
		if got.State != Present || got.SHA256 != want.SHA256 || !slices.Equal(got.Quoted, want.Quoted) || n.Lines && got.Lines != want.Lines {
			t.Fatalf("%q with %+v, %s:\n got %+v\nwant %+v", data, n, name, got, want)
		}
		if pinned := slices.Contains(n.Pins, hex.EncodeToString(want.LF[:])); pinned && got.LF != want.LF {
			t.Fatalf("%q, %s: with LF it has %x, want %x", data, name, got.LF, want.LF)
		}
	}
}

func TestExamineAgreesWithAPlainImplementation(t *testing.T) {
	g := rand.New(rand.NewPCG(5, 6))
	const letters = "aab\r\n\r\n"
	text := func(most int) string {
		b := make([]byte, g.IntN(most+1))
		for i := range b {
			b[i] = letters[g.IntN(len(letters))]
		}
		return string(b)
	}
	for range 3000 {
		data := text(12)
		n := Need{Lines: g.IntN(2) == 0}
		for range g.IntN(4) {
			if q := text(4); q != "" {
				quote := Quote{Text: q}
				if g.IntN(2) == 0 {
					quote.Lines = Lines{int64(g.IntN(5)), int64(g.IntN(7))}
				}
				n.Quotes = append(n.Quotes, quote)
			}
		}
		if g.IntN(4) == 0 {
			lf := sha256.Sum256([]byte(strings.ReplaceAll(data, "\r\n", "\n")))
			n.Pins = []string{hex.EncodeToString(lf[:])}
		}
		agree(t, data, n)
	}
	// A file of several chunks.
	long := strings.Repeat("0123456789abcde\n", 3*chunk/16)
	agree(t, long+"the end", Need{Lines: true, Quotes: []Quote{
		{Text: long[chunk-8 : chunk+8]},
		{Text: long[:chunk+1]},
		{Text: long + "the end"},
		{Text: long + "the end."},
		{Text: "the end", Lines: Lines{3*chunk/16 + 1, 3*chunk/16 + 1}},
		{Text: "abcde\n0", Lines: Lines{chunk / 16, chunk/16 + 1}},
	}})
}

func FuzzExamine(f *testing.F) {
	f.Add([]byte("a\r\nb\rc\n"), "a\nb", int64(1), int64(2))
	f.Fuzz(func(t *testing.T, data []byte, quote string, from, to int64) {
		if quote == "" {
			return
		}
		n := Need{Lines: true, Quotes: []Quote{{Text: quote}}}
		if from != 0 || to != 0 {
			n.Quotes = append(n.Quotes, Quote{Text: quote, Lines: Lines{from, to}})
		}
		agree(t, string(data), n)
	})
}

func TestExamineSaysWhatFailed(t *testing.T) {
	broken := errors.New("broken")
	for _, open := range []func() (io.ReadCloser, error){
		func() (io.ReadCloser, error) { return nil, broken },
		func() (io.ReadCloser, error) { return io.NopCloser(iotest.ErrReader(broken)), nil },
	} {
		if f, err := Examine(open, Need{}); !errors.Is(err, broken) || f.State != Missing {
			t.Errorf("got %+v, %v", f, err)
		}
	}
}

func TestRefs(t *testing.T) {
	for _, tt := range []struct {
		ref, path string
		lines     Lines
		ranged    bool
	}{
		{"a", "a", Lines{}, false},
		{"a#L1", "a", Lines{1, 1}, true},
		{"a#L12-L34", "a", Lines{12, 34}, true},
		{"a#L007", "a", Lines{7, 7}, true},
		{"a#L0", "a", Lines{0, 0}, true},
		{"a#b#L1", "a", Lines{}, false},
		{"#L1", "", Lines{1, 1}, true},
		{"a#L1-2", "a", Lines{}, false},
		{"a#L1-L", "a", Lines{}, false},
		{"a#L+1", "a", Lines{}, false},
		{"a#L1-L2-L3", "a", Lines{}, false},
		{"a#l1", "a", Lines{}, false},
		{"a#L1 ", "a", Lines{}, false},
		{"a#L99999999999999999999", "a", Lines{farAway, farAway}, true},
	} {
		if path, lines, ranged := splitRef(tt.ref); path != tt.path || lines != tt.lines || ranged != tt.ranged {
			t.Errorf("%q: %q, %v, %v", tt.ref, path, lines, ranged)
		}
	}
}

// The memory that a file takes does not grow with it.
func TestExamineStreams(t *testing.T) {
	quote := Quote{Text: "needle"}
	n := testing.AllocsPerRun(5, func() {
		data := bytes.Repeat([]byte("hay "), 1<<18)
		if f, err := Examine(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }, Need{Quotes: []Quote{quote}}); err != nil || f.Quoted[0] {
			t.Error(f, err)
		}
	})
	if n > 40 {
		t.Errorf("%v allocations for a file of 1 MB", n)
	}
}
