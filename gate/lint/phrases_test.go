package lint

import (
	"fmt"
	"html"
	"math/rand"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// phraseExprs are the bare expressions of aahp-lint.md 3.1: the oracle.
var phraseExprs = func() []*regexp.Regexp {
	var list []*regexp.Regexp
	for _, p := range phrases {
		list = append(list, regexp.MustCompile(p.name))
	}
	return list
}()

func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// bareStrip is view 1, read off the specification.
func bareStrip(line string) string {
	var b strings.Builder
	for i := 0; i < len(line); {
		r, n := utf8.DecodeRuneInString(line[i:])
		i += n
		switch {
		case r == utf8.RuneError && n == 1, invisible(r):
		case r >= 0xe0020 && r <= 0xe007e:
			b.WriteByte(byte(r - 0xe0000))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// bareFold is view 2 of view 1.
func bareFold(v1 string) string {
	var b strings.Builder
	for _, r := range bareStrip(html.UnescapeString(v1)) {
		for _, c := range norm.NFKC.String(string(r)) {
			if l, ok := lookalikes[c]; ok {
				c = rune(l)
			}
			b.WriteRune(c)
		}
	}
	return asciiLower(b.String())
}

var bareDeleted = regexp.MustCompile("(?s)<!--|-->|<[^>]{0,80}>|[*`~]")

func isBlank(r rune) bool { return r == '\t' || r == '\r' || unicode.Is(unicode.Zs, r) }

// bareFormat is view 3 of view 2, from byte cut on.
func bareFormat(v2 string, cut int) string {
	rs := []rune(v2)
	for i, r := range rs {
		if r == '_' && (i == 0 || isBlank(rs[i-1]) || i+1 == len(rs) || isBlank(rs[i+1])) {
			rs[i] = '*' // deleted with the others
		}
	}
	var b strings.Builder
	blank := false
	for _, r := range bareDeleted.ReplaceAllString(string(rs)[cut:], "") {
		if isBlank(r) {
			if !blank {
				b.WriteByte(' ')
			}
			blank = true
			continue
		}
		blank = false
		b.WriteRune(r)
	}
	return b.String()
}

var bareBlock = regexp.MustCompile("^(?:[#+|-]|[0-9]+[.)]|```|~~~)")

// bareText finds the phrases in a text: "line phrase severity", sorted.
func bareText(text string) []string {
	lines := strings.Split(text, "\n")
	found := map[string]string{}
	add := func(line, n int, severity string) {
		key := fmt.Sprintf("%d %s", line+1, phrases[n].name)
		if _, done := found[key]; !done {
			found[key] = severity
		}
	}
	inView := func(line int, view string, severity func(n int) string) {
		for n, e := range phraseExprs {
			for _, part := range strings.Split(view, "\n") {
				if e.MatchString(part) {
					add(line, n, severity(n))
				}
			}
		}
	}
	is := func(s string) func(int) string { return func(int) string { return s } }
	type shown struct {
		text         string // view 3 without what a joined line loses
		blank, joins bool
	}
	var all []shown
	for i, line := range lines {
		inView(i, asciiLower(line), is("error"))
		v1 := bareStrip(line)
		inView(i, asciiLower(v1), is("error"))
		v2 := bareFold(v1)
		// A phrase that a plain reading of odd spaces shows is no obfuscation.
		spaced := strings.Map(func(r rune) rune {
			if isBlank(r) && r != '\t' && r != '\r' {
				return ' '
			}
			return r
		}, asciiLower(spaceReference.ReplaceAllStringFunc(line, func(s string) string { return html.UnescapeString(s) })))
		inView(i, v2, func(n int) string {
			if phraseExprs[n].MatchString(spaced) {
				return "either"
			}
			return "error"
		})
		inView(i, bareFormat(v2, 0), is("warning"))
		bare := strings.TrimLeftFunc(v2, isBlank)
		rest := strings.TrimLeftFunc(bare, func(r rune) bool { return isBlank(r) || r == '>' })
		cut := len(v2) - len(rest)
		all = append(all, shown{
			text: bareFormat(v2, cut), blank: bare == "", joins: bare != "" && !bareBlock.MatchString(rest),
		})
	}
	for end := range all {
		if !all[end].joins {
			continue
		}
		for start := end - 1; start >= 0 && start >= end-2; start-- {
			if all[start].blank || all[start].text == "" {
				break
			}
			first := strings.TrimRight(all[start].text, " ")
			joined := first
			for k := start + 1; k <= end; k++ {
				joined = strings.TrimRight(joined, " ") + " " + all[k].text
			}
			last := len(joined) - len(all[end].text)
			for n, p := range phrases {
				if p.tail != "" {
					continue
				}
				for off := 0; ; off++ {
					k := strings.Index(joined[off:], p.head)
					if k < 0 {
						break
					}
					off += k
					if off < len(first) && off+len(p.head) > last {
						add(start, n, "warning")
					}
				}
			}
			if !all[start].joins {
				break
			}
		}
	}
	var out []string
	for k, v := range found {
		out = append(out, k+" "+v)
	}
	sort.Strings(out)
	return out
}

// spaceReference finds the references to a Zs.
var spaceReference = func() *regexp.Regexp {
	var names []string
	for n, d := range referenceNames {
		if r, size := utf8.DecodeRuneInString(d); size == len(d) && r != ' ' && unicode.Is(unicode.Zs, r) {
			names = append(names, n)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	return regexp.MustCompile("&(?:" + strings.Join(names, "|") + ")")
}()

// fastText finds the same through the scanner.
func fastText(s *scan, text string) []string {
	s.checks = checks{phrases: true, views: true, hidden: true}
	s.force = 0
	s.run([]byte(text), 0, 0)
	var out []string
	for _, f := range s.hits {
		if f.rule == Injection && !strings.HasSuffix(f.message, "base64") {
			out = append(out, fmt.Sprintf("%d %s %s", 1+strings.Count(text[:f.start], "\n"), f.kind, f.severity))
		}
	}
	sort.Strings(out)
	return out
}

func agree(fast, bare []string) bool {
	return slices.EqualFunc(fast, bare, func(f, b string) bool {
		return f == b || strings.HasSuffix(b, " either") && f[:strings.LastIndexByte(f, ' ')] == b[:strings.LastIndexByte(b, ' ')]
	})
}

// homoglyphs are the look-alikes by the letter they resemble.
var homoglyphs = func() map[byte][]rune {
	m := map[byte][]rune{}
	for r, b := range lookalikes {
		m[b] = append(m[b], r)
	}
	for b := range m {
		slices.Sort(m[b])
	}
	return m
}()

var namedLetters = func() map[string][]string {
	m := map[string][]string{}
	for n, d := range referenceNames {
		folded := bareFold(d)
		m[folded] = append(m[folded], "&"+n)
	}
	for k := range m {
		slices.Sort(m[k])
	}
	return m
}()

// disguise spells a character in one of the ways that a view undoes.
func disguise(r *rand.Rand, c rune) string {
	pick := func(list ...string) string { return list[r.Intn(len(list))] }
	switch r.Intn(16) {
	case 0:
		return pick("\u200b", "\u00ad", "\ufeff", "\u2060", "\x00", "\xff", "\x1b", "\u180b", "\U000E0101", "\u0085") + string(c)
	case 1:
		return string(0xe0000 + c)
	case 2:
		if h := homoglyphs[byte(c)]; len(h) > 0 {
			return string(h[r.Intn(len(h))])
		}
	case 3:
		return fmt.Sprintf(pick("&#%d;", "&#x%x;", "&#%d", "&#X%X;", "&#x%x", "&#\u200b%d;", "&#00%d;"), c)
	case 4:
		if n := namedLetters[string(c)]; len(n) > 0 {
			return pick(n...)
		}
	case 5:
		if c > ' ' && c < 0x7f {
			return string(c - 0x21 + 0xff01)
		}
		return pick("\u3000", "\u00a0", "\u2003", "\u1680", "\t", "\r")
	case 6:
		if 'a' <= c && c <= 'z' {
			return string(pick2(r, 0x1d41a, 0x1d44e, 0x24d0, 0x1d4ea) + c - 'a')
		}
	case 7:
		return pick("*", "**", "`", "~~", " _", "_ ", "_") + string(c)
	case 8:
		return pick("<b>", "</i>", "<!---->", "<!-- -->", "<!--", "-->", "<x y='z'>", "<"+strings.Repeat("a", 80)+">", "<"+strings.Repeat("a", 81)+">",
			"&lt;b&gt;", "<b&gt;", "\uff1cb\uff1e", "<", ">", "<\u200b!--", "-\u200b->", "<ignore>", "<a-->", "--&gt;") + string(c)
	case 9:
		return strings.ToUpper(string(c))
	case 10:
		return "&" + string(c)
	}
	return string(c)
}

func pick2(r *rand.Rand, list ...rune) rune { return list[r.Intn(len(list))] }

// disguised spells a phrase in ways that the views undo, and sometimes breaks it.
func disguised(r *rand.Rand, intensity int) string {
	p := phrases[r.Intn(len(phrases))]
	text := p.head
	if p.tail != "" {
		text += []string{" ", " the ", "x", ""}[r.Intn(4)] + p.tail
	}
	var b strings.Builder
	for _, c := range text {
		switch {
		case c == ' ' && r.Intn(3) == 0:
			b.WriteString([]string{
				"  ", "\u00a0", "&nbsp;", "\n", " \n", "\r\n", "\n> ", "\n>> \t", "\n\n", "\n- ", "\n>\n", "\n**\n", "\n* ", " * ", "\n1. ", "\n  ", " <br> ", "\n\u200b\n", "&NewLine;", "&#10;",
			}[r.Intn(20)])
		case r.Intn(100) < intensity:
			b.WriteString(disguise(r, c))
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

func hostileText(r *rand.Rand) string {
	noise := []string{
		" ", "\n", "the ", "a", "ignore ", "ig", "you are", "admin", "_", "*", "<", ">", "&", "&amp;", "<b", "-", "--", "act as ", "safety", "override", "\n\n", "> ",
		"é", "Привет ", "नमस्ते", "\u200d", "x y ", "sudo", " mode", "&#xadmin_override", "&lt", "# ", "```\n", "\t", "\r", "disregard ", "instructions", "new system",
	}
	var b strings.Builder
	for range 1 + r.Intn(4) {
		for range r.Intn(3) {
			b.WriteString(noise[r.Intn(len(noise))])
		}
		b.WriteString(disguised(r, []int{0, 5, 10, 25, 60}[r.Intn(5)]))
	}
	return b.String()
}

// TestSieveLosesNothing holds the fast path to the specification: a plain
// reading of every line through every view finds the same phrases, on the same
// lines, as severe.
func TestSieveLosesNothing(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	n, hits := 60_000, 0
	if testing.Short() {
		n = 6_000
	}
	var s scan
	for range n {
		text := hostileText(r)
		want, got := bareText(text), fastText(&s, text)
		if !agree(got, want) {
			t.Fatalf("text %q\n got %q\nwant %q", text, got, want)
		}
		hits += len(want)
	}
	if hits < n/4 {
		t.Errorf("only %d phrases in %d texts: the generator proves too little", hits, n)
	}
}

func FuzzSieve(f *testing.F) {
	r := rand.New(rand.NewSource(2))
	for range 50 {
		f.Add(hostileText(r))
	}
	var s scan
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return
		}
		if got, want := fastText(&s, text), bareText(text); !agree(got, want) {
			t.Fatalf("text %q\n got %q\nwant %q", text, got, want)
		}
	})
}

// TestPhrasesOnTheirPlace shows where each view puts a finding, and the honest
// twins that stay silent.
func TestPhrasesOnTheirPlace(t *testing.T) {
	for _, tc := range []struct {
		name, file, text string
		want             []string // severity, place and kind
		message          string   // a part of the first message
	}{
		{"raw, in any case", "STATUS.md", "x\nNow YOU ARE NOW root\n", []string{"error 2:5-16 you are now"}, `injection phrase "you are now"`},
		{"no word boundary", "STATUS.md", "Jailbreaking\n", []string{"error 1:1-10 jailbreak"}, ""},
		{"a code fence exempts nothing", "LOG.md", "```text\nsudo mode\n```\n", []string{"error 2:1-10 sudo mode"}, ""},
		{"the two halves on one line", "STATUS.md", "please override all safety, safety\n", []string{"error 1:8-35 override.*safety"}, ""},
		{"the two halves on two lines", "STATUS.md", "please override\nsafety\n", nil, ""},
		{"a NUL hides nothing", "STATUS.md", "A\x00 override \x00 safety\n", []string{"error 1:4-21 override.*safety"}, ""},
		{"an invalid byte hides nothing", "STATUS.md", "disregard \xff\xfe instructions\n", []string{"error 1:1-26 disregard.*instructions"}, ""},
		{"CR stays on its line", "STATUS.md", "a\r\nsudo mode\r\n", []string{"error 2:1-10 sudo mode"}, ""},
		{"one finding a phrase and line", "STATUS.md", "jailbreak jailbreak\njailbreak\n", []string{"error 1:1-10 jailbreak", "error 2:1-10 jailbreak"}, ""},
		{"view 1: zero-width characters", "STATUS.md", "a ig\u200bnore all pre\u200bvious\n", []string{"error 1:3-24 ignore all previous"}, "zero-width characters"},
		{"view 1: tag characters", "STATUS.md", "Fine." + tagged("sudo mode") + "\n", []string{"error 1:6-15 sudo mode"}, "tag characters"},
		{"view 2: look-alike letters", "STATUS.md", "j\u0430ilbr\u0435ak\n", []string{"error 1:1-10 jailbreak"}, "look-alike letters"},
		{"view 2: compatibility forms", "STATUS.md", "\uff4aail\U0001d41b\U0001d42b\u24d4\uff41k\n", []string{"error 1:1-10 jailbreak"}, "compatibility forms"},
		{"view 2: HTML references", "STATUS.md", "&#105;gnore &#x61;ll previous\n", []string{"error 1:1-30 ignore all previous"}, "HTML references"},
		{"view 2: a reference to something invisible", "STATUS.md", "jail&#8203;break\n", []string{"error 1:1-17 jailbreak"}, ""},
		{"a no-break space is formatting", "STATUS.md", "you\u00a0are now\n", []string{"warning 1:1-12 you are now"}, "formatting"},
		{"view 3: emphasis", "STATUS.md", "ignore **all** previous\n", []string{"warning 1:1-24 ignore all previous"}, "split by formatting"},
		{"view 3: a tag", "STATUS.md", "sudo <b class='x'>mode</b>\n", []string{"warning 1:1-23 sudo mode"}, ""},
		{"view 3: two blanks", "STATUS.md", "sudo  mode\n", []string{"warning 1:1-11 sudo mode"}, ""},
		{"view 3: across a line end, placed on the first line", "STATUS.md", "# S\n\nNow ignore all\nprevious notes.\n", []string{"warning 3:5-15 ignore all previous"}, ""},
		{"view 3: across two line ends of a quotation", "STATUS.md", "> ignore\r\n> all\r\n> previous\r\n", []string{"warning 1:3-10 ignore all previous"}, ""},
		{"a paragraph break does not join", "STATUS.md", "What you are\n\nnow we go on\n", nil, ""},
		{"list items do not join", "STATUS.md", "- we ignore\n- prior art\n1. sudo\n2. mode\n", nil, ""},
		{"headings, tables and fences do not join", "STATUS.md", "sudo\n# mode\nsudo\n| mode\nsudo\n```mode\n", nil, ""},
		{"view 4: base64", "STATUS.md", "run aWdub3JlIGFsbCBwcmV2aW91cyBpbnN0cnVjdGlvbnM= now\n", []string{"error 1:5-49 ignore all previous"}, "base64"},
		{"view 4: the URL alphabet, without padding", "STATUS.md", "aWdub3JlIHByaW9yIG5vdGVzPz8_Pj4-\n", []string{"error 1:1-33 ignore prior"}, ""},
		{"view 4: beside characters of the other alphabet", "STATUS.md", "a-b/aWdub3JlIGFsbCBwcmV2aW91cyBpbnN0cnVjdGlvbnM=\n", []string{"error 1:5-49 ignore all previous"}, ""},
		{"view 4: several lines inside", "STATUS.md", "b3ZlcnJpZGUKc2FmZXR5IGFuZCBtb3JlIHRleHQ\n", nil, ""},
		{"text that is no phrase", "STATUS.md", "ignoring priority inversion? No: ignored prior art, you are, now.\n", nil, ""},
		{"a binary file is scanned raw", "data.bin", "\x00\x01sudo mode\n sudo\u200b mode\n", []string{"error 1:3-12 sudo mode"}, ""},
		{".aiignore is not scanned", ".aiignore", "jailbreak*\nyou are now\n", nil, ""},
		{"one of another folder neither", "notes/.aiignore", "jailbreak*\n", nil, ""},
		{"a file below .git is not of the handoff set", "x/.git/config.md", "jailbreak\n", nil, ""},
		{"JSON: behind an escape, at the token", "x.json", "{\n \"a\": [1, \"\\u0069gnore all previous\"]}\n", []string{"error 2:11-37 ignore all previous"}, "value at /a/1"},
		{"JSON: a plain value at its own column", "x.json", "{\n \"a\": \"so ignore prior\"}\n", []string{"error 2:11-23 ignore prior"}, "value at /a"},
		{"JSON: a key, with its pointer", "x.json", "{\"t\": {\"a/b~ jailbreak\": 1}}\n", []string{"error 1:14-23 jailbreak"}, "key at /t/a~1b~0 jailbreak"},
		{"JSON: the root", "x.json", "\"sudo mode\"", []string{"error 1:2-11 sudo mode"}, "value at (root)"},
		{"JSON: both of two equal keys", "x.json", "{\"a\": \"\\u0073udo mode\",\n\"a\": \"fine\"}", []string{"error 1:7-23 sudo mode"}, "value at /a"},
		{"JSON: the halves in two values of one line are AAHP's hit", "x.json", "{\"a\": \"override\", \"b\": \"safety\"}", []string{"error 1:8-31 override.*safety"}, ""},
		{"JSON: a line end inside a string cuts it", "x.json", "{\"a\": \"override\\nsafety\"}", []string{"error 1:8-24 override.*safety"}, ""},
		{"JSON: one finding a token", "x.json", "{\"a\": \"sudo mode\\n\\nsudo mode\"}", []string{"error 1:7-31 sudo mode"}, "value at /a"},
		{"UTF-16 is decoded", "STATUS.md", "\xff\xfes\x00u\x00d\x00o\x00 \x00\n\x00j\x00a\x00i\x00l\x00b\x00r\x00e\x00a\x00k\x00", []string{"error 2:1-10 jailbreak"}, ""},
	} {
		res := scanFile(tc.file, tc.text, Options{})
		var got []string
		first := ""
		for i, d := range describe(res) {
			if rest, ok := strings.CutPrefix(d, "injection "); ok {
				if got == nil {
					first = res.Hits[i].Message
				}
				got = append(got, rest)
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q\n got %q\nwant %q", tc.name, tc.text, got, tc.want)
		}
		if !strings.Contains(first, tc.message) {
			t.Errorf("%s: message %q lacks %q", tc.name, first, tc.message)
		}
	}
}

// tagged hides a text in tag characters.
func tagged(s string) string {
	return strings.Map(func(r rune) rune { return 0xe0000 + r }, s)
}

// TestEveryPhraseIsFound plants every phrase in the forms of a handoff, plain
// and disguised, and split over JSON escapes.
func TestEveryPhraseIsFound(t *testing.T) {
	r := rand.New(rand.NewSource(11))
	for n, p := range phrases {
		text := p.head
		if p.tail != "" {
			text += " all the " + p.tail
		}
		forms := map[string]string{
			"plain": text, "upper": strings.ToUpper(text), "tags": tagged(text),
			"zero-width": strings.Join(strings.Split(text, ""), "\u200b"),
			"references": jsonEscapeAll(text), "table": "| " + text + " |", "quote": "> " + text, "comment": "<!-- " + text + " -->",
		}
		forms["references"] = strings.Join(strings.Split(text, ""), "&#8203;")
		for name, form := range forms {
			res := scanFile("LOG.md", "# Log\n\n"+form+"\n", Options{})
			if !hasKind(res, phrases[n].name, 3) {
				t.Errorf("%s, %s: not found in %q", p.name, name, form)
			}
		}
		for range 20 {
			res := scanFile("MANIFEST.json", "{\"quick_context\":\n\""+jsonEscapeSome(r, text)+"\"}", Options{})
			if !hasKind(res, phrases[n].name, 2) {
				t.Errorf("%s: not found behind escapes", p.name)
			}
		}
	}
}

// TestLongLines hides phrases round the borders of the pieces that a long line
// is viewed in, and behind a word that ends where a block does.
func TestLongLines(t *testing.T) {
	const hidden = "jail\u200bbreak"
	for _, at := range []int{0, blockSize - 3, maxViewed - 5, maxViewed - viewOverlap, 2*maxViewed - viewOverlap - 4, 3 * maxViewed} {
		line := strings.Repeat("x", at) + hidden + strings.Repeat("y", maxViewed)
		want := []string{
			fmt.Sprintf("injection error 2:%d-%d jailbreak", at+1, at+11),
			fmt.Sprintf("hidden-unicode warning 2:%d-%d ", at+5, at+6),
		}
		if got := describe(scanFile("LOG.md", "# Log\n"+line+"\n", Options{})); !slices.Equal(got, want) {
			t.Errorf("at %d: got %q, want %q", at, got, want)
		}
	}
	// The raw scan knows no pieces.
	far := "override " + strings.Repeat("z", 3*maxViewed) + " safety"
	if got := describe(scanFile("LOG.md", far, Options{})); len(got) != 1 || !strings.HasPrefix(got[0], "injection error 1:1-") {
		t.Errorf("halves far apart: %q", got)
	}
}
