package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/fake"
)

// sized is a tree in which one file is that long, filled with blanks.
type sized struct {
	fake.Tree
	path string
	size int64
}

func (s sized) Open(p string) (io.ReadCloser, gate.Entry, error) {
	r, e, err := s.Tree.Open(p)
	if p == s.path {
		e.Size = s.size
		r = io.NopCloser(io.LimitReader(endless{}, s.size))
	}
	return r, e, err
}

// endless is a text of blanks.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func (endless) Close() error { return nil }

// The lines of sessions.md 5, "Counting lines".
func TestCountingLines(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "\n": 0, "\r\n\r\n": 0,
		"a\nb": 2, "a\nb\n": 2, "a\r\nb\r\n": 2, "a\n\n\nb\n": 2, "a\r\r\nb\n": 2,
		" \n": 1, "\r": 1, "\r\r\n": 1, "a\rb\n": 1, "\ufeff\n": 1, "a\u2028b\u0085c\n": 1,
	} {
		s := newScanner(strings.NewReader(text))
		n := 0
		for s.next() {
			n++
		}
		if n != want {
			t.Errorf("%q has %d lines, want %d", text, n, want)
		}
		if got := len(plainLines([]byte(text))); got != want {
			t.Errorf("%q has %d lines by the plain implementation, want %d", text, got, want)
		}
	}
}

// The scanner gives the lines of a plain implementation, whatever the size of its
// buffer and of what it reads at once.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{"", "a\nb\r\nc", "\r\n\n\r\r\nx\r", "a\r\r\r\nb\r", "\n\n\nabc\rdef\n\r\n", "abcdefgh\r\nabcdefg\r\n"} {
		f.Add([]byte(s), uint8(3), false)
		f.Add([]byte(s), uint8(0), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, size uint8, empty bool) {
		for _, r := range []io.Reader{bytes.NewReader(text), iotest.OneByteReader(bytes.NewReader(text)), iotest.DataErrReader(bytes.NewReader(text))} {
			s := newScanner(r)
			s.buf, s.empty = make([]byte, 2+int(size)), empty
			var got []string
			for s.next() {
				var line []byte
				for p := s.part(); p != nil; p = s.part() {
					if len(p) == 0 {
						t.Fatal("an empty part")
					}
					line = append(line, p...)
				}
				got = append(got, fmt.Sprintf("%d %q", s.number, line))
			}
			var want []string
			for i, l := range bytes.SplitAfter(text, []byte("\n")) {
				if len(l) == 0 {
					continue // after the last LF
				}
				if l[len(l)-1] == '\n' {
					l = bytes.TrimSuffix(l[:len(l)-1], []byte("\r"))
				}
				if empty || len(l) > 0 {
					want = append(want, fmt.Sprintf("%d %q", i+1, l))
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%q\ngot  %q\nwant %q", text, got, want)
			}
			if s.next() || s.err != nil {
				t.Fatalf("after the end: %v", s.err)
			}
		}
	})
}

func TestScannerError(t *testing.T) {
	s := newScanner(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(io.ErrUnexpectedEOF)))
	n := 0
	for s.next() {
		n++
	}
	if n != 2 || !errors.Is(s.err, io.ErrUnexpectedEOF) {
		t.Errorf("%d lines, %v", n, s.err)
	}
	s = newScanner(nothing{})
	if s.next() || !errors.Is(s.err, io.ErrNoProgress) {
		t.Errorf("a reader that gives nothing: %v", s.err)
	}
}

type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, nil }

// repeated is a text of many equal parts between a beginning and an end, made while
// it is read.
type repeated struct {
	begin, part, end string
	n                int

	rest string
	done int // parts; n+1 after the end
}

func (r *repeated) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if r.rest == "" && !r.more() {
			return n, io.EOF
		}
		m := copy(p[n:], r.rest)
		r.rest = r.rest[m:]
		n += m
	}
	return n, nil
}

// more goes on to the next part.
func (r *repeated) more() bool {
	switch {
	case r.begin != "":
		r.rest, r.begin = r.begin, ""
	case r.done < r.n:
		r.rest = r.part
		if r.done == r.n-1 {
			r.rest = strings.TrimSuffix(r.rest, ",")
		}
		r.done++
	case r.done == r.n && r.end != "":
		r.rest, r.done = r.end, r.n+1
	default:
		return false
	}
	return true
}

// made is a tree with files that are made while they are read.
type made struct {
	fake.Tree
	files map[string]repeated
}

func (m made) Open(p string) (io.ReadCloser, gate.Entry, error) {
	if f, ok := m.files[p]; ok {
		e, err := m.Stat(p)
		e.Size = int64(len(f.begin)+len(f.part)*f.n+len(f.end)) - 1
		return io.NopCloser(&f), e, err
	}
	return m.Tree.Open(p)
}

// A timeline of 250 MB, its payload and the timeline of the base take no more
// memory than small ones do: also as one line, and as lines of nothing.
func TestLargeSession(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads some gigabytes")
	}
	const mb = 1 << 20
	turn := `{"seq":0,"ts":"t","class":"USER","text":"` + strings.Repeat("word é ", 700) + `"}`
	for _, tt := range []struct {
		name     string
		timeline repeated
		payload  repeated
		turns    int
	}{
		{
			name:     "50,000 turns",
			timeline: repeated{part: turn + "\n", n: 250 * mb / len(turn)},
			payload:  repeated{begin: `{"timeline":[`, part: turn + ",", end: "]}", n: 250 * mb / len(turn)},
			turns:    250 * mb / len(turn),
		},
		{
			name:     "one turn",
			timeline: repeated{begin: `{"seq":0,"class":"USER","text":"`, part: "word é ", end: "\"}\n", n: 250 * mb / 8},
			payload:  repeated{begin: `{"timeline":[{"seq":0,"class":"USER","text":"`, part: "word é ", end: `"}]}`, n: 250 * mb / 8},
			turns:    1,
		},
		{
			name:     "8 million turns of nothing",
			timeline: repeated{part: "{}\n", n: 8 * mb},
			payload:  repeated{begin: `{"timeline":[`, part: "{},", end: "]}", n: 8 * mb},
			turns:    8 * mb,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := sample()
			s.Set("turn_count", fmt.Sprint(tt.turns))
			s.Set("watermark", "0")
			s.Set("counts", fmt.Sprintf(`{"USER":%d}`, tt.turns))
			if !strings.Contains(tt.timeline.begin+tt.timeline.part, "USER") {
				s.Delete("counts")
			}
			tree := made{put(dir, s.Files()), map[string]repeated{dir + "/" + TimelineName: tt.timeline, dir + "/" + PayloadName: tt.payload}}
			base := made{put(dir, s.Files()), map[string]repeated{dir + "/" + TimelineName: tt.timeline}}
			base.Tree[dir+"/"+TimelineName] = fake.File{Data: "another id"}
			var got []string
			most := peak(func() {
				got = judge(&Input{Place: place, Now: tree, Base: base, Before: &place, Compared: true})
			})
			same(t, got, []string{"warning copy-missing HANDOFF.llm.json"})
			if limit := uint64(48 * mb); most > limit {
				t.Errorf("%d MB were in use, the bound is %d MB", most/mb, limit/mb)
			}
		})
	}
}

// peak tells how much memory a function has the heap take, beside what is taken
// before.
func peak(f func()) uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before, most := m.HeapInuse, uint64(0)
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapInuse)
			}
		}
	}()
	f()
	close(done)
	<-stopped
	if most < before {
		return 0
	}
	return most - before
}
