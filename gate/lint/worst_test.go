package lint

import (
	"fmt"
	"maps"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/handoff-gate/handoff-gate/gate/internal/bench"
)

// worstPieces are the beginnings that the scanners look for and never complete.
// Texts repeat them, on one line and on many.
func worstPieces() map[string]string {
	pieces := map[string]string{}
	for _, d := range detectors {
		for _, h := range d.heads {
			pieces["head "+h] = h
			pieces["spaced head "+h] = h + " "
		}
	}
	for _, p := range phrases {
		pieces["phrase "+p.name] = p.head[:len(p.head)-1]
		if p.tail != "" {
			pieces["halves "+p.name] = p.tail + p.head
		}
	}
	for _, s := range []string{
		"a", "=", "<", ">", "&", "-", "*", "_", " ", "@", "a@", "@a.", "a.a@", ".", "&#", "&#x", "&#x6", "&a", "&lt", "&lt;", "&nbsp;", "&#105;", "<!--", "-->",
		"ignore<", "ignore <b", "ignore&lt;", "ignore -", "admin_", "eyJ-", "-eyJaaaaaaaaaaaa", "-eyJaaaaaaaaaaaa.", "_KEY=a.", "_KEY='", "://a:", "a://b:ccccccc",
		"\u200b", "a\u200b", "\u200b\u200c\u200d", "\u0646\u200c", "\ufe0f", "\u2764\ufe0f\u200d", "\u202a", "\u2066\u2069", "\U000E0041", "\U0001F3F4\U000E0067", "\x00", "\x1b", "\xff", "\xe2\x80",
		"е", "ignоrе ", "ﬁ", "\u00a0", "é", "字", "한", "ก\u200b", "<<<<<<", "\r", "\r<", "aWdub3Jl", strings.Repeat("aWdub3Jl", 900) + " ", "/+", "AA-/",
		"-----BEGIN ", "PRIVATE KEY", "\\", "\\u0069", "\"", "{", "[", "jailbrea", "override ", "safety ", "instructions",
	} {
		pieces[fmt.Sprintf("%.24q", s)] = s
	}
	for name, p := range maps.Clone(pieces) {
		pieces[name+", a line each"] = p + "\n"
	}
	return pieces
}

// repeated makes a text of about size bytes of whole pieces.
func repeated(piece string, size int) string { return strings.Repeat(piece, max(1, size/len(piece))) }

// prefixes are the worst texts that are nothing but beginnings: they give no
// finding, so all that is spent on them is spent on looking.
func prefixes() map[string]string {
	quiet := map[string]string{}
	for name, piece := range worstPieces() {
		if r := scanFile("LOG.md", repeated(piece, 4096), Options{}); len(r.Hits) == 0 && r.Markers.Count == 0 {
			quiet[name] = piece
		}
	}
	return quiet
}

// TestWorstTexts scans every worst text in two sizes: nothing panics, nothing
// hangs, and four times the text takes about four times the memory (twice that
// where a buffer doubles). The time is measured by BenchmarkWorst and bounded by
// BenchmarkWorstPrefix.
func TestWorstTexts(t *testing.T) {
	used := func(file, text string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		scanFile(file, text, Options{})
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for name, piece := range worstPieces() {
		t.Run(name, func(t *testing.T) {
			for _, file := range []string{"LOG.md", "x.json"} {
				if small, large := used(file, repeated(piece, 16<<10)), used(file, repeated(piece, 64<<10)); large > 8*small+64<<10 {
					t.Errorf("as %s: %d bytes allocated over 16 KiB, %d over 64 KiB", file, small, large)
				}
			}
		})
	}
}

// worstSize is the size of the texts of benchmarks.
const worstSize = 1 << 20

func scanning(text string) func() {
	return func() { scanFile("LOG.md", text, Options{}) }
}

// BenchmarkWorstPrefix is the slowest text of all that are nothing but
// beginnings, against ordinary text of the same size. At the most every byte is
// an event, which costs tens of nanoseconds where ordinary text costs three;
// quadratic work would cost a thousand times as much.
func BenchmarkWorstPrefix(b *testing.B) {
	var worst, slowest string
	var most time.Duration
	for name, piece := range prefixes() {
		text := repeated(piece, worstSize)
		if took := bench.Fastest(2, scanning(text)); took > most {
			worst, slowest, most = name, text, took
		}
	}
	b.Log("the slowest: ", worst)
	bench.Ratio(b, 25, scanning(string(ordinaryText(worstSize)[:worstSize])), scanning(slowest))
}

// BenchmarkWorst is each of them, and the texts that are findings from end to
// end, which may take longer.
func BenchmarkWorst(b *testing.B) {
	ordinary := string(ordinaryText(worstSize)[:worstSize])
	for name, piece := range worstPieces() {
		text := repeated(piece, worstSize)
		b.Run(name, func(b *testing.B) { bench.Ratio(b, 0, scanning(ordinary), scanning(text)) })
	}
}
