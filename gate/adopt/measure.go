package adopt

import (
	"bytes"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/digest"
	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
)

// measure takes the bytes of one handoff file in a stream and works out what its
// entry records. Every byte 0x0D is left out first, so that a checkout with
// other line ends gives the same entry.
type measure struct {
	digest  digest.CRFree
	size    int64
	lines   int64
	words   words
	summary summarizer
	buf     []byte
}

func newMeasure(name string) *measure {
	return &measure{digest: digest.NewCRFree(), summary: newSummarizer(name)}
}

// Write takes the next bytes of the file.
func (m *measure) Write(p []byte) (int, error) {
	n := len(p)
	if bytes.IndexByte(p, '\r') >= 0 {
		m.buf = append(m.buf[:0], p...)
		p = gate.WithoutCR(m.buf)
	}
	m.digest.Write(p)
	m.size += int64(len(p))
	m.lines += int64(bytes.Count(p, []byte{'\n'}))
	m.words.add(p)
	m.summary.add(p)
	return n, nil
}

// tokens estimates how many tokens a model reads for the file.
func (m *measure) tokens() int64 { return estimate(m.words.end(), m.size) }

// estimate is the larger of 1.3 tokens a word and one token per four bytes, both
// rounded up (aahp-authoring.md 2.8).
func estimate(words, size int64) int64 {
	return max((words*13+9)/10, (size+3)/4)
}

// estimateText is estimate for a whole text.
func estimateText(text []byte) int64 {
	text = gate.WithoutCR(text)
	var w words
	w.add(text)
	return estimate(w.end(), int64(len(text)))
}

// words counts maximal runs of anything but white space in a stream.
type words struct {
	n      int64
	inside bool
	rest   []byte // the beginning of a character that the next bytes may end
}

func (w *words) add(p []byte) {
	if len(w.rest) > 0 {
		// At most three bytes wait, and a character has at most four.
		take := min(len(p), utf8.UTFMax-len(w.rest))
		joined := append(append(make([]byte, 0, utf8.UTFMax), w.rest...), p[:take]...)
		if !utf8.FullRune(joined) {
			w.rest = joined
			return
		}
		r, n := utf8.DecodeRune(joined)
		used := n - len(w.rest)
		w.see(ecma.IsSpace(r))
		if used < 0 {
			// The waiting bytes are broken: each is no white space, and none of
			// them but the first can begin a character.
			used = 0
		}
		w.rest = nil
		p = p[used:]
	}
	for i := 0; i < len(p); {
		c := p[i]
		if c < utf8.RuneSelf {
			w.see(c == ' ' || c >= '\t' && c <= '\r')
			i++
			continue
		}
		if !utf8.FullRune(p[i:]) {
			w.rest = append([]byte(nil), p[i:]...)
			return
		}
		r, n := utf8.DecodeRune(p[i:])
		w.see(ecma.IsSpace(r))
		i += n
	}
}

func (w *words) see(space bool) {
	if !space && !w.inside {
		w.n++
	}
	w.inside = !space
}

// end gives the count; bytes that still wait are no white space.
func (w *words) end() int64 {
	if len(w.rest) > 0 && !w.inside {
		return w.n + 1
	}
	return w.n
}
