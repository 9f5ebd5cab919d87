package lint

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"
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

// cost is the least time that a scan of a file takes in a few tries.
func cost(name, text string, tries int) time.Duration {
	best := time.Hour
	for range tries {
		start := time.Now()
		scanFile(name, text, Options{})
		best = min(best, time.Since(start))
	}
	return best
}

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

// TestWorstTexts holds the time of every worst text to that of ordinary text.
// At the most every byte is an event, which costs tens of nanoseconds where
// ordinary text costs three; quadratic work would cost a thousand times as
// much. Texts that are findings from end to end may take longer.
func TestWorstTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	const mostQuiet, mostLoud = 40, 150
	ordinary := string(ordinaryText(1 << 20)[:1<<20])
	quiet := prefixes()
	for name, piece := range worstPieces() {
		text := repeated(piece, 1<<20)
		most := float64(mostLoud)
		if _, ok := quiet[name]; ok {
			most = mostQuiet
		}
		files := []string{"LOG.md"}
		if !strings.HasSuffix(piece, "\n") {
			files = append(files, "x.json")
		}
		for _, file := range files {
			ratio := most
			for range 5 { // A busy machine can spoil one measurement.
				if ratio >= most {
					ratio = float64(cost(file, text, 1)) / float64(cost("LOG.md", ordinary, 1))
				}
			}
			if ratio >= most {
				t.Errorf("%s as %s: %.0f times the time of ordinary text", name, file, ratio)
			}
		}
	}
}

// BenchmarkWorst gives the ratio of each worst text to ordinary text.
func BenchmarkWorst(b *testing.B) {
	ordinary := string(ordinaryText(1 << 20)[:1<<20])
	for name, piece := range prefixes() {
		text := repeated(piece, 1<<20)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for range b.N {
				scanFile("LOG.md", text, Options{})
			}
			b.StopTimer()
			base := cost("LOG.md", ordinary, 3)
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(base), "x-ordinary")
		})
	}
}
