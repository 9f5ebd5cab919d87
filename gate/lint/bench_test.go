package lint

import (
	"math/rand"
	"strings"
	"testing"
)

// ordinaryText makes a journal of about size bytes: prose, lists, paths,
// commands and a few characters outside ASCII, as LOG-ARCHIVE.md has them.
func ordinaryText(size int) []byte {
	words := strings.Fields(`the parser reads every line and keeps its offset so that a finding can name the place where it
		stands we moved the check into its own package because two callers need it now tests cover the empty file the last
		line without an end and names with spaces review asked for a table instead of three nested branches done release
		notes mention the new flag next session should measure memory over the large archive and decide about streaming
		build green deploy waits for the database migration that Alice runs on Monday after the backup has finished`)
	r := rand.New(rand.NewSource(1))
	var b strings.Builder
	for b.Len() < size {
		switch r.Intn(12) {
		case 0:
			b.WriteString("\n## 2026-03-14 Session: move the scanner — done\n\n")
		case 1:
			b.WriteString("- `gate/lint/scan.go:141`: see https://github.com/handoff-gate/handoff-gate/pull/12 (commit 3f2a9c1e7b) \n")
		case 2:
			b.WriteString("| T-0042 | done | **2 h** | go test ./... | 1.25 s |\n")
		default:
			n := 8 + r.Intn(10)
			for range n {
				b.WriteString(words[r.Intn(len(words))])
				b.WriteByte(' ')
			}
			b.WriteString("here.\n")
		}
	}
	return []byte(b.String())
}

func BenchmarkScanOrdinary(b *testing.B) {
	text := ordinaryText(8 << 20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for range b.N {
		s := NewScanner("LOG-ARCHIVE.md", Options{})
		for i := 0; i < len(text); i += 32 << 10 {
			_, _ = s.Write(text[i:min(len(text), i+32<<10)])
		}
		if r := s.Finish(); len(r.Hits) > 0 {
			b.Fatal(describe(r))
		}
	}
}

// BenchmarkScanCorpus scans the honest corpus: thirty languages, code and data.
func BenchmarkScanCorpus(b *testing.B) {
	for name, secrets := range map[string]SecretSet{"fixed": Fixed, "extended": Extended} {
		b.Run(name, func(b *testing.B) {
			files := honest(b)
			total := 0
			for _, text := range files {
				total += len(text)
			}
			b.SetBytes(int64(total))
			b.ReportAllocs()
			for range b.N {
				for name, text := range files {
					scanFile(name, text, Options{Secrets: secrets})
				}
			}
		})
	}
}
