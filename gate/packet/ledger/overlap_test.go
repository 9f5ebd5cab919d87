package ledger

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/handoff-gate/handoff-gate/gate/internal/pathglob"
)

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		// Without wildcards equal paths.
		{"src/a", "src/a", true},
		{"src/a", "src/b", false},
		{"src", "src/a", false},
		{"src/a", "SRC/A", true},
		{"straße", "STRASSE", true}, // folded, not lowered
		{"é", "e\u0301", false},     // not normalised
		{"", "", true},
		// One path against the other's glob.
		{"src/*", "src/a", true},
		{"src/*", "src/a/b", false},
		{"src/*", "src/", true},
		{"src/?", "src/a", true},
		{"src/?", "src/ab", false},
		{"src/?", "src//", false},
		{"src/?", "src/é", true},
		{"src/**", "src/a/b/c", true},
		{"src/**", "src", false},
		{"src/**", "src2/a", false},
		{"src/**/a", "src/a", true},
		{"src/**/a", "src/x/a", true},
		{"src/**/a", "src/x/y/a", true},
		{"src/**/a", "src/xa", false},
		{"**/a", "a", true},
		{"**/a", "x/y/a", true},
		{"**/a", "ba", false},
		{"**", "anything/at/all", true},
		{"*", "a/b", false},
		{"a**b", "a/x/b", true},
		{"a**b", "ab", true},
		{"*.GO", "main.go", true},
		{"**/*.go", "main.go", true},
		{"**/*.go", "cmd/x/main.go", true},
		{"**/*.go", "cmd/x/main.c", false},
		{"a.c", "abc", false}, // a dot is a dot
		{"[a]*", "a", false},  // brackets are characters
		{"[a]*", "[a]b", true},
		// Two globs: by what stands before the first wildcard and after the last.
		{"src/**", "src/api/*.go", true},
		{"src/**", "doc/**", false},
		{"src/*.go", "src/*.md", false},
		{"src/*a.go", "src/*.go", true},
		{"*", "x/*", true}, // cautious: they cannot meet, but nothing excludes it
		{"src/a*", "src/b*", false},
		{"**", "*", true},
		{"*.go", "*.GO", true},
		{"b**/a", "*ba", true}, // both stand for "ba"
	} {
		for _, pair := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			if _, _, got := newGlobs([]string{pair[0]}).meet(newGlobs([]string{pair[1]})); got != c.want {
				t.Errorf("%q and %q: %v, want %v", pair[0], pair[1], got, c.want)
			}
		}
	}
}

// expression is a glob as a regular expression: the plain second implementation.
func expression(glob string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`(?s)^`)
	for i := 0; i < len(glob); {
		switch {
		case strings.HasPrefix(glob[i:], "**/"):
			b.WriteString(`(?:.*/)?`)
			i += 3
		case strings.HasPrefix(glob[i:], "**"):
			b.WriteString(`.*`)
			i += 2
		case glob[i] == '*':
			b.WriteString(`[^/]*`)
			i++
		case glob[i] == '?':
			b.WriteString(`[^/]`)
			i++
		default:
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
			i++
		}
	}
	return regexp.MustCompile(b.String() + `$`)
}

// textOf makes a text of fewer than so many letters of an alphabet.
func textOf(random *rand.Rand, alphabet string, below int) string {
	var b strings.Builder
	for range random.IntN(below) {
		b.WriteByte(alphabet[random.IntN(len(alphabet))])
	}
	return b.String()
}

func TestFitsAsARegularExpression(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	text := func(alphabet string) string { return textOf(random, alphabet, 9) }
	rounds := 100_000
	if testing.Short() {
		rounds = 10_000
	}
	for range rounds {
		glob, path := text("ab/**?"), text("ab/")
		if got, want := pathglob.Parse(glob).Match(path), expression(glob).MatchString(path); got != want {
			t.Fatalf("%q and %q: %v, want %v", glob, path, got, want)
		}
	}
}

// Two globs that stand for the same path meet, whatever excludes others.
func TestMeetingIsNeverMissed(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	text := func(alphabet string) string { return textOf(random, alphabet, 6) }
	rounds, met := 200_000, 0
	if testing.Short() {
		rounds = 20_000
	}
	for range rounds {
		a, b, path := text("ab/**?"), text("ab/**?"), text("ab/")
		if !pathglob.Parse(a).Match(path) || !pathglob.Parse(b).Match(path) {
			continue
		}
		met++
		if _, _, ok := newGlobs([]string{a}).meet(newGlobs([]string{b})); !ok {
			t.Fatalf("%q and %q both stand for %q and do not meet", a, b, path)
		}
	}
	if met < rounds/1000 {
		t.Errorf("only %d pairs stood for one path", met)
	}
}

// A hostile glob takes its length times that of the path, and no more.
func TestFitsInTime(t *testing.T) {
	done := make(chan bool)
	go func() {
		pathglob.Parse(strings.Repeat("**/*?", maxGlob/5)).Match(strings.Repeat("a/", maxGlob/2))
		pathglob.Parse(strings.Repeat("*a", maxGlob/2)).Match(strings.Repeat("a", maxGlob-1) + "b")
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("comparing two paths takes longer than a minute")
	}
	if _, _, ok := newGlobs([]string{"a*" + strings.Repeat("b", maxGlob) + "*"}).meet(newGlobs([]string{"ac"})); !ok {
		t.Error("what is too long to be compared does not count as meeting")
	}
}

func FuzzFits(f *testing.F) {
	f.Add("src/**/a?*", "src/x/ab")
	f.Add("**", "")
	f.Fuzz(func(t *testing.T, glob, path string) {
		glob, path = strings.ToValidUTF8(glob, "x"), strings.ToValidUTF8(path, "x")
		if len(glob) > 100 || len(path) > 100 {
			return
		}
		if got, want := pathglob.Parse(glob).Match(path), expression(glob).MatchString(path); got != want {
			t.Fatalf("%q and %q: %v, want %v", glob, path, got, want)
		}
	})
}
