package jsregexp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// script reads a list of expressions, each with texts, and prints whether node
// accepts it, and per text where all matches begin and end, in UTF-16 units.
const script = `
const list = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(list.map(({source, flags, texts}) => {
  let re;
  try { re = new RegExp(source, flags); } catch { return {valid: false}; }
  return {valid: true, matches: texts.map(t => [...t.matchAll(re)].map(m => [m.index, m.index + m[0].length]))};
})));
`

type question struct {
	Source string   `json:"source"`
	Flags  string   `json:"flags"`
	Texts  []string `json:"texts"`
}

type answer struct {
	Valid   bool      `json:"valid"`
	Matches [][][]int `json:"matches"`
}

// Generated expressions match in node and here at the same places, and what node
// refuses is refused here.
func TestAsNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: nothing to compare with")
	}
	r := rand.New(rand.NewPCG(20, 26))
	var questions []question
	for range 20_000 {
		q := question{Source: randomSource(r, 3), Flags: randomFlags(r) + "g"}
		for range 4 {
			q.Texts = append(q.Texts, randomText(r))
		}
		questions = append(questions, q)
	}
	in, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "-e", script)
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answers []answer
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatal(err)
	}
	accepted, refused, unsupported := 0, 0, 0
	for i, q := range questions {
		re, err := Compile(q.Source, q.Flags)
		var e *Error
		switch {
		case err == nil && !answers[i].Valid:
			t.Errorf("/%s/%s is accepted, and node refuses it", q.Source, q.Flags)
		case err == nil:
			accepted++
			for k, text := range q.Texts {
				if got, want := places(re, text), withoutAbutting(answers[i].Matches[k]); got != want {
					t.Errorf("/%s/%s in %q: %s, node has %s", q.Source, q.Flags, text, got, want)
				}
			}
		case errors.As(err, &e) && e.Unsupported:
			unsupported++
		default:
			refused++
			if answers[i].Valid {
				t.Errorf("/%s/%s: %v, and node accepts it", q.Source, q.Flags, err)
			}
		}
	}
	t.Logf("%d accepted, %d invalid, %d not supported", accepted, refused, unsupported)
	if accepted < 4000 || refused < 1000 || unsupported < 200 {
		t.Error("the generator gives too few of one kind")
	}
}

// places lists matches in UTF-16 units.
func places(re *Regexp, text string) string {
	units := func(off int) int { return len(utf16.Encode([]rune(text[:off]))) }
	var out [][]int
	for _, m := range re.FindAllStringIndex(text, -1) {
		out = append(out, []int{units(m[0]), units(m[1])})
	}
	return fmt.Sprint(out)
}

// withoutAbutting drops an empty match right behind another, which Go never gives.
func withoutAbutting(matches [][]int) string {
	var out [][]int
	end := -1
	for _, m := range matches {
		if m[0] != m[1] || m[0] != end {
			out = append(out, m)
		}
		end = m[1]
	}
	return fmt.Sprint(out)
}

func pick(r *rand.Rand, of ...string) string { return of[r.IntN(len(of))] }

// randomFlags are flags that node knows, each at most once.
func randomFlags(r *rand.Rand) string {
	return pick(r, "", "", "i", "m", "s", "im", "u", "u", "iu", "su", "mu")
}

// randomSource is mostly sound. What the package says it cannot do as node does is
// left out: letters that fold in two ways, lone CR and LS where m is set, and groups
// that can match nothing inside of a repetition.
func randomSource(r *rand.Rand, depth int) string {
	var b strings.Builder
	for range 1 + r.IntN(4) {
		switch r.IntN(12) {
		case 0:
			b.WriteString(pick(r, "^", "$", `\b`, `\B`, "|"))
			continue
		case 1:
			if depth > 0 {
				b.WriteString(pick(r, "(", "(?:", "(?<n"+fmt.Sprint(r.IntN(100))+">") + "x" + randomSource(r, depth-1) + ")")
			}
			continue
		case 2:
			b.WriteString(randomClass(r))
		case 3:
			b.WriteString(randomEscape(r))
		case 4:
			b.WriteString(pick(r, "{", "}", "]", "{2", "{,3}", "{x}", "(", ")", "[", "*", "a**", "(?=a)", "(?!a)", "(?<=a)", "(?i)", "(?P<n>a)", `\1`, `\k<n>`, `\`))
			if r.IntN(3) > 0 {
				continue
			}
		default:
			b.WriteString(pick(r, "a", "b", "c", "A", "é", "1", "-", ".", " ", "/", "\"", "&", ":", "漢"))
		}
		b.WriteString(pick(r, "", "", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,}", "+?", "*?", "??", "{2,1}", "{1,2}?"))
	}
	return b.String()
}

func randomEscape(r *rand.Rand) string {
	return pick(r, `\d`, `\D`, `\w`, `\W`, `\s`, `\S`, `\n`, `\t`, `\r`, `\v`, `\f`, `\0`, `\x41`, `\x4`, `\u0061`, `\u006`, `\u{61}`, `\cA`, `\c1`, `\c`,
		`\.`, `\*`, `\-`, `\/`, `\a`, `\A`, `\z`, `\Q`, `\e`, `\p{L}`, `\P{L}`, `\p{Lu}`, `\P{Lu}`, `\p{Nope}`, `\p`, `\k`, `\_`, `\]`, `\}`, `\012`, `\08`)
}

func randomClass(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString(pick(r, "[", "[^"))
	for range r.IntN(4) {
		b.WriteString(pick(r, "a", "b", "-", "^", "[", "a-c", "A-C", "é", ".", "(", `\d`, `\s`, `\S`, `\W`, `\b`, `\B`, `\]`, `\-`, `\c1`, `\cA`, `\c`, `\1`, `\8`, `\x61`, `\u0062`, "c-a", `a-\d`, `\d-z`, `\p{L}`, `\P{Lu}`, "&&", "[:alpha:]"))
	}
	b.WriteString("]")
	return b.String()
}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(12) {
		b.WriteString(pick(r, "a", "b", "c", "A", "B", "é", "É", "1", "x", "x", "-", " ", "\n", "\t", "]", "{", "\u00a0", "漢", "u", "\\", "."))
	}
	return b.String()
}

// The generator is what the comparison rests on: it makes what it should.
func TestGeneratorMakesEachKind(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var all []string
	for range 2000 {
		all = append(all, randomSource(r, 3))
	}
	for _, part := range []string{"(?:", "[^", `\p{L}`, "{1,2}", "(?<n", `\b`} {
		if !slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, part) }) {
			t.Errorf("no source has %s", part)
		}
	}
}
