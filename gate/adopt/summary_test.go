package adopt

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
)

// summaryOf feeds a file in pieces of a given size.
func summaryOf(name, body string, piece int) string {
	m := newMeasure(name)
	for b := []byte(body); len(b) > 0; {
		n := min(piece, len(b))
		_, _ = m.Write(b[:n])
		b = b[n:]
	}
	return m.summary.end()
}

func TestMarkdownSummary(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"empty file", "", noSummary},
		{"headings alone", "# A\n\n## B\n", noSummary},
		{"the first paragraph, up to its first sentence", "# Status\n\nThe build is green on every target. More follows.\n\nOther.\n", "The build is green on every target."},
		{"a sentence needs 20 units before its end", "v1. 2. is out now for everyone. Then.\n", "v1. 2. is out now for everyone."},
		{"a sentence may end in ! or ?", "Is this the way we want it? Yes.\n", "Is this the way we want it?"},
		{"a full stop inside a word ends nothing", "Version 1.2.3 of handoff.gate is the newest one\n", "Version 1.2.3 of handoff.gate is the newest one"},
		{"no sentence: all of it", "Short one. Two\n", "Short one. Two"},
		{"lines of a paragraph are joined", "The first line\n  goes on here\nand ends.\n\nNext.\n", "The first line goes on here and ends."},
		{"CRs are not seen", "# S\r\n\r\nLine one of it\r\nline two of it.\r\n", "Line one of it line two of it."},
		{"no final line end", "Only one line", "Only one line"},
		{"byte order mark", "\ufeff# Title\n\nText.\n", "Text."},
		{"quotes are passed", "> quoted\n\nText.\n", "Text."},
		{"breaks are passed", "---\n***\n___\n===\n-*_=\nText.\n", "Text."},
		{"two hyphens alone are text", "--\nText.\n", "-- Text."},
		{"setext heading", "Title\n=====\n\nText.\n", "Text."},
		{"setext heading with one hyphen", "Title\n-\nText.\n", "- Text."},
		{"text above a break is a heading", "A paragraph\nand more\n---\n", "A paragraph"},
		{"brackets and punctuation alone", "{\n[\n\"x\": 1\n", "\"x\": 1"},
		{"one HTML tag alone", "<div class=\"x\">\n</div>\n<br/>\nText <b>bold</b>.\n", "Text <b>bold</b>."},
		{"two tags are text", "<b>x</b>\n", "<b>x</b>"},
		{"images and badges", "![a](b)\n[![c](d)](e)\n![![f](g)](h)\nText.\n", "Text."},
		{"a comment line", "<!-- x --> text\nText.\n", "Text."},
		{"a comment over lines, and what follows its end", "<!-- a\nb\nc --> after it\nmore\n", "after it more"},
		{"a comment after a comment", "<!-- a\n--> <!-- b\nc\n-->\nText.\n", "Text."},
		{"a comment never closed", "<!-- a\ntext\n", noSummary},
		{"a fence", "```sh\nrm -rf\n```\nText.\n", "Text."},
		{"a fence closes with at least its own run", "````\n```\nx\n````` \nText.\n", "Text."},
		{"a fence of tildes", "~~~\n```\n~~~\nText.\n", "Text."},
		{"a fence never closed", "```\ntext\n", noSummary},
		{"a fence ends a paragraph", "Text\n```\ncode\n```\n", "Text"},
		{"a comment ends a paragraph", "Text\n<!-- c -->\nmore\n", "Text"},
		{"a heading ends a paragraph", "Text\n# H\n", "Text"},
		{"a table ends a paragraph", "Text\n| a |\n", "Text"},
		{"a list ends a paragraph", "Text\n- item\n", "Text"},
		{"a list item", "- item one\n- item two\n", "item one"},
		{"other markers", "12) item one\n", "item one"},
		{"a marker without white space is text", "-item\n", "-item"},
		{"a task box", "* [x] done with this\n", "done with this"},
		{"a task box needs white space", "+ [ ]\n", "[ ]"},
		{"a list item goes on while it is indented", "- item\n  goes on\n\tand on\nnot\n", "item goes on and on"},
		{"a paragraph goes on without", "Text\n  goes on\nand on\n", "Text goes on and on"},
		{"bookkeeping labels", "**Agent:** x\n__Phase__: y\nLast Updated: z\n**Status**: w\nText.\n", "Text."},
		{"a label without a value", "**Goals:**\nGoals:\nText.\n", "Text."},
		{"another label", "**Goal:** ship it\n", "Goal: ship it"},
		{"a plain label needs white space", "Status:green\n", "Status:green"},
		{"a label of 41 characters is none", "**" + strings.Repeat("a", 41) + ":**\n", strings.Repeat("a", 41) + ":"},
		{"a label of 40 characters", "**" + strings.Repeat("a", 40) + ":**\nText.\n", "Text."},
		{"a plain label of 42 characters is none", strings.Repeat("a", 42) + ":\n", strings.Repeat("a", 42) + ":"},
		{"the Kelvin sign is a k", "**Tas\u212a:** x\nText.\n", "Text."},
		{"the first table's columns", "| A | **B** |  |\n|---|---|\n| 1 | 2 |\n", "Table with columns: A, B"},
		{"a table begins with its rule", "|---|:-:|\n| A |\n", "Table with columns: A"},
		{"text beats a table", "| A |\n\nText.\n", "Text."},
		{"an empty paragraph falls back to the table before it", "| A |\n\n** __\n\nMore text.\n", "Table with columns: A"},
		{"white space of the set", "\u3000\u2003\nText\u00a0 here.\n", "Text here."},
		{"U+0085 is no white space", "\u0085\nText.\n", "\u0085 Text."},
		{"bad UTF-8", "A \xff\xfe B \xe2\x82\n", "A \ufffd\ufffd B \ufffd"},
		{"the section", "# S\n\nTop.\n\n<!-- section:SUMMARY -->\nThe section's text.\n<!-- /SECTION -->\n", "The section's text."},
		{"white space in the marker", "Top.\n<!--SECTION\t:  Summary-->\nSection.\n", "Section."},
		{"the marker within a line", "Top. <!-- SECTION: summary --> not this\nSection.\n", "Section."},
		{"another section is none", "Top.\n<!-- SECTION: summaries -->\nSection.\n", "Top."},
		{"the first marker counts", "<!-- SECTION: summary -->\nOne.\n\n<!-- SECTION: summary -->\nTwo.\n", "One."},
		{"an empty section falls back to the top", "Top.\n<!-- SECTION: summary -->\n# only\n", "Top."},
		{"a marker in the last line", "Top.\n<!-- SECTION: summary -->", "Top."},
		{"the section is read afresh inside a fence", "```\n<!-- SECTION: summary -->\nInside.\n```\nTop.\n", "Inside."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, piece := range []int{1, 3, 1 << 20} {
				if got := summaryOf("STATUS.md", tt.body, piece); got != tt.want {
					t.Errorf("in pieces of %d: %q, want %q", piece, got, tt.want)
				}
			}
		})
	}
}

func TestJournalSummary(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"LOG.md", "# Log\n\nText.\n\n## [2026-02-01] a: **first**\n\nbody\n\n## [2026-01-01] b\n", "Latest entry: [2026-02-01] a: first"},
		{"LOG-ARCHIVE.md", "## [2025-01-01] old\n", "Newest archived entry: [2025-01-01] old"},
		{"LOG.md", "```\n## [2026-01-01] an example\n```\n## [x] real\n", "Latest entry: [x] real"},
		{"LOG.md", "~~~~\n~~~\n## [a]\n~~~~\n## [b]\n", "Latest entry: [b]"},
		{"LOG.md", "### [2026-01-01] no\n##[2026-01-01] no\n## [\n\nText.\n", "Text."},
		{"LOG.md", "  ##\t [x](y) z\n", "Latest entry: x z"},
		{"LOG.md", "## [" + strings.Repeat("word ", 60) + "\n", "Latest entry: [" + strings.TrimSpace(strings.Repeat("word ", 26)) + "..."},
		{"WORKFLOW.md", "## [2026-02-01] no journal\n\nText.\n", "Text."},
		{"LOG.md", "", noSummary},
	} {
		for _, piece := range []int{1, 7, 1 << 20} {
			if got := summaryOf(tt.name, tt.body, piece); got != tt.want {
				t.Errorf("%s %q in pieces of %d: %q, want %q", tt.name, tt.body, piece, got, tt.want)
			}
		}
	}
}

func TestJSONSummary(t *testing.T) {
	const list, index = "pii-allowlist.json", "LOG-ARCHIVE.index.json"
	for _, tt := range []struct{ name, body, want string }{
		{list, `{"version": 1, "entries": []}`, "PII allowlist: 0 entries."},
		{list, `{"entries": [{"entries": [1,2]}]}`, "PII allowlist: 1 entry."},
		{index, `{"entries": [{"sha256": "x"}, [1, 2], 3]}`, "LOG archive index: 3 entries."},
		{list, `[1, [2, 3], {"a": [4]}]`, "PII allowlist: array of 3"},
		{list, `[]`, "PII allowlist: array of 0"},
		{list, `{}`, "PII allowlist with keys: "},
		{list, `{"b": {"entries": [1]}, "2": 0, "a": [[1]], "b": 1}`, "PII allowlist with keys: b, 2, a"},
		{list, `{"entries": {"a": 1}}`, "PII allowlist with keys: entries"},
		{list, `{"entries": [1], "entries": 2}`, "PII allowlist with keys: entries"},
		{list, `{"entries": 2, "entries": [1]}`, "PII allowlist: 1 entry."},
		{list, `"text"`, "PII allowlist"},
		{list, "\ufeff[1]", "PII allowlist: array of 1"},
		{list, "\ufeff\ufeff[1]", "(not valid JSON)"},
		{list, ``, "(not valid JSON)"},
		{list, `{"a": 1,}`, "(not valid JSON)"},
		{list, "[\"\xff\"]", "PII allowlist: array of 1"},
		{list, "[\xff]", "(not valid JSON)"},
		{list, `{"\ud800": 1}`, "PII allowlist with keys: \ufffd"},
		{list, `{"` + strings.Repeat("k", 200) + `": 1, "z": 2}`, "PII allowlist with keys: " + strings.Repeat("k", 122) + "..."},
		{list, `{"` + strings.Repeat("k", 125) + `": 1}`, "PII allowlist with keys: " + strings.Repeat("k", 125)},
	} {
		if got := summaryOf(tt.name, tt.body, 5); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.name, tt.body, got, tt.want)
		}
	}
}

// plainJSONSummary is the rule for JSON files once more, over the whole document.
func plainJSONSummary(label, body string) string {
	text := strings.TrimPrefix(ecma.Decode(gate.WithoutCR([]byte(body))), "\ufeff")
	doc, err := jsondoc.Parse([]byte(text), jsondoc.Options{KeepEqualKeys: true, KeepSurrogates: true})
	if err != nil {
		return "(not valid JSON)"
	}
	switch entries := doc.Root.Get("entries"); {
	case doc.Root.Is(jsondoc.Array):
		return fmt.Sprintf("%s: array of %d", label, len(doc.Root.Items))
	case entries.Is(jsondoc.Array) && len(entries.Items) == 1:
		return label + ": 1 entry."
	case entries.Is(jsondoc.Array):
		return fmt.Sprintf("%s: %d entries.", label, len(entries.Items))
	case doc.Root.Is(jsondoc.Object):
		var keys []string
		for _, m := range doc.Root.Members {
			if k := strings.ToValidUTF8(m.Key, "\ufffd"); !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
		return clip(label+" with keys: "+strings.Join(keys, ", "), 150)
	}
	return label
}

func FuzzJSONSummary(f *testing.F) {
	for _, s := range []string{
		`{"entries": [1, {"entries": [2]}], "b": []}`, `[[1], 2, {"a": [3]}]`, "\ufeff{\"entries\": [\"\xff\"]}", `{"entries": [1], "entries": []}`,
		`{"\u0065ntries": [1, 2], "x": [1,]}`, `{"a": "[", "b": [[]]}`, "\ufeff", "[1\r]",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		want := plainJSONSummary("LOG archive index", body)
		for _, piece := range []int{1, 2, 7, 1 + len(body)} {
			if got := summaryOf(IndexName, body, piece); got != want {
				t.Errorf("%q in pieces of %d: %q, want %q", body, piece, got, want)
			}
		}
	})
}

func TestTidy(t *testing.T) {
	for in, want := range map[string]string{
		"":                           "",
		" a \t b\u3000\u00a0c ":      "a b c",
		"a<!-- x -->b<!-- y --> c":   "a b c",
		"a<!-- not closed":           "a<!-- not closed",
		"<!-->-->":                   "",
		"**bold** and __strong__":    "bold and strong",
		"***x***":                    "*x*",
		"[a](b) ![c](d) [e] [f](g":   "a c [e] [f](g",
		"[a [b](c)":                  "a [b",
		"[a] [b](c)":                 "[a] b",
		"!![a](b)":                   "!a",
		"[](x)rest":                  "rest",
		"a\x00\x01b\x7f\x1fc\u0085d": "a b c\u0085d",
	} {
		if got := tidy(in); got != want {
			t.Errorf("tidy(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, tt := range []struct {
		in    string
		limit int
		want  string
	}{
		{"exactly ten", 11, "exactly ten"},
		{"one two three four", 15, "one two..."}, // at the last space past the middle
		{"one two three four", 16, "one two..."}, // "one two three" ends where the cut is
		{"one two three four", 17, "one two three..."},
		{"a bcdefghijklmnopq", 12, "a bcdefgh..."},  // the only space is before the middle
		{"abcde fghijklmnopq", 13, "abcde fghi..."}, // on the middle is not past it
		{"abcdef ghijklmnopq", 13, "abcdef..."},
		{"abcdefg,;:.- hijklmn", 15, "abcdefg..."},
		{"ééééé ééééé ééééé", 10, "ééééé..."},
		{"🚀🚀🚀 abcdefghijk", 11, "🚀🚀🚀..."}, // the place of the space counts UTF-16 units
	} {
		if got := clip(tt.in, tt.limit); got != tt.want {
			t.Errorf("clip(%q, %d) = %q, want %q", tt.in, tt.limit, got, tt.want)
		}
	}
}

// plainSummary is the rule for Markdown once more, written down from the
// specification as it reads: whole file in memory, regular expressions, loops.
func plainSummary(name, body string) string {
	sp := spaceClass
	re := func(s string) *regexp.Regexp { return regexp.MustCompile(strings.ReplaceAll(s, "~S", sp)) }
	text := ecma.Decode(gate.WithoutCR([]byte(body)))
	all := strings.Split(text, "\n")
	trim := func(s string) string { return re(`^[~S]+|[~S]+$`).ReplaceAllString(s, "") }
	plainTidy := func(s string) string {
		s = re(`(?s)<!--.*?-->`).ReplaceAllString(s, " ")
		s = re(`!?\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(s, "$1")
		s = re(`\*\*`).ReplaceAllString(s, "")
		s = re(`__`).ReplaceAllString(s, "")
		s = re(`[\x00-\x1f\x7f]+`).ReplaceAllString(s, " ")
		s = re(`[~S]+`).ReplaceAllString(s, " ")
		return trim(s)
	}
	plainClip := func(s string, n int) string {
		r := []rune(s)
		if len(r) <= n {
			return s
		}
		r = r[:n-3]
		at, units := -1, 0
		unitsAt := 0
		for i, c := range r {
			if c == ' ' {
				at, unitsAt = i, units
			}
			units += len(string(c)) / 4 // 1 for a character of four bytes
			units++
		}
		if at >= 0 && float64(unitsAt) > float64(n-3)/2 {
			r = r[:at]
		}
		return re(`[~S,;:.-]+$`).ReplaceAllString(string(r), "") + "..."
	}
	openFence := func(s string) string { return re("^(```+|~~~+)").FindString(s) }
	if name == "LOG.md" || name == "LOG-ARCHIVE.md" {
		prefix := map[string]string{"LOG.md": "Latest entry: ", "LOG-ARCHIVE.md": "Newest archived entry: "}[name]
		open := ""
		for _, l := range all {
			l = trim(l)
			if open != "" {
				if strings.HasPrefix(l, open) {
					open = ""
				}
				continue
			}
			if open = openFence(l); open != "" {
				continue
			}
			if m := re(`(?s)^##[~S]+(\[.+)$`).FindStringSubmatch(l); m != nil {
				return plainClip(plainTidy(prefix+m[1]), 150)
			}
		}
	}
	kind := func(t, next string, last bool) string {
		next = trim(next)
		switch {
		case t == "" || t[0] == '#' || t[0] == '>' || re(`^[-*_=]{3,}$`).MatchString(t):
			return "skip"
		case t[0] == '|':
			return "table"
		case re("^[\\[\\]{}(),:;\"'`~S]+$").MatchString(t),
			re(`^</?[A-Za-z][^>]*>$`).MatchString(t),
			re(`^(!\[|\[!\[|!\[!\[)`).MatchString(t),
			!last && re(`^(=+|-+)$`).MatchString(next):
			return "skip"
		}
		label, value := "", ""
		if m := re(`(?s)^(?:\*\*([^*_:]{1,40})(?::\*\*|\*\*:)|__([^*_:]{1,40})(?::__|__:))(.*)$`).FindStringSubmatch(t); m != nil {
			label, value = m[1]+m[2], m[3]
		} else if m := re(`(?s)^([A-Za-z][A-Za-z0-9 ()/-]{0,40}):($|[~S].*$)`).FindStringSubmatch(t); m != nil {
			label, value = m[1], m[2]
		}
		known := "agent, session, session id, timestamp, commit, commit before, commit after, phase, branch, task, tasks, date, status, priority, owner, legend, model, last updated, updated, version, current version, current package version, package version, protocol version, expires, ttl, provenance"
		if label != "" && (trim(value) == "" || strings.Contains(", "+known+",", ", "+strings.ToLower(trim(label))+",")) && !strings.Contains(label, ",") {
			if trim(value) == "" || !strings.ContainsRune(label, 'İ') {
				return "skip"
			}
		}
		if re(`^([-*+]|[0-9]+[.)])[~S]`).MatchString(t) {
			return "list"
		}
		return "text"
	}
	firstTable := ""
	plainScan := func(lines []string) string {
		firstTable = ""
		var para []string
		state, open, comment := "", "", false
	loop:
		for i, raw := range lines {
			t := trim(raw)
			if comment {
				_, rest, ok := strings.Cut(t, "-->")
				if !ok {
					continue
				}
				comment, t = false, trim(rest)
			}
			if open != "" {
				if strings.HasPrefix(t, open) {
					open = ""
				}
				continue
			}
			if f := openFence(t); f != "" {
				if state != "" {
					break
				}
				open = f
				continue
			}
			if strings.HasPrefix(t, "<!--") {
				if state != "" {
					break
				}
				comment = !strings.Contains(t, "-->")
				continue
			}
			next, last := "", i+1 == len(lines)
			if !last {
				next = lines[i+1]
			}
			k := kind(t, next, last)
			if state != "" {
				if k != "text" || state == "list" && !re(`^[~S]`).MatchString(raw) {
					break loop
				}
				para = append(para, t)
				continue
			}
			switch k {
			case "table":
				var cells []string
				other := false
				for _, c := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(t, "|"), "|"), "|") {
					if c = plainTidy(c); c != "" {
						cells = append(cells, c)
						other = other || !re(`^:?-+:?$`).MatchString(c)
					}
				}
				if other && firstTable == "" {
					firstTable = plainClip("Table with columns: "+strings.Join(cells, ", "), 150)
				}
			case "list":
				t = re(`^([-*+]|[0-9]+[.)])[~S]+`).ReplaceAllString(t, "")
				t = re(`^\[[ xX]\][~S]+`).ReplaceAllString(t, "")
				state, para = k, []string{t}
			case "text":
				state, para = k, []string{t}
			}
		}
		s := plainTidy(strings.Join(para, " "))
		if s == "" {
			return ""
		}
		for i, r := range s {
			if strings.ContainsRune(".!?", r) && ecma.Units(s[:i]) >= 20 {
				next, _ := utf8.DecodeRuneInString(s[i+1:])
				if i+1 == len(s) || ecma.IsSpace(next) {
					s = s[:i+1]
					break
				}
			}
		}
		return plainClip(s, 150)
	}
	for i, l := range all {
		if re(`(?i)<!--[~S]*SECTION[~S]*:[~S]*summary[~S]*-->`).MatchString(l) {
			if s := plainScan(all[i+1:]); s != "" {
				return s
			}
			break
		}
	}
	if s := plainScan(all); s != "" {
		return s
	}
	if firstTable != "" {
		return firstTable
	}
	return "(no summary available)"
}

// pieces are what generated files are put together from: everything that the
// rule looks for, and its near misses.
var pieces = []string{
	"\n", "\n", "\n", "\n\n", " ", "\t", "\r\n", "# ", "## [", "##  [2026-01-01] x", "> ", "---", "--", "===", "=", "***", "_", "**", "__", "| ", "|", "|---|", "||",
	"```", "````", "~~~", "<!--", "-->", "<!-- x -->", "<!-- SECTION: summary -->", "<!--section :SUMMARY-->", "<div>", "</a>", "<", ">",
	"![", "[![", "[a](b)", "![a](b)", "[", "](", ")", "- ", "* ", "12. ", "3) ", "[ ] ", "[x] ", "**Status:** ", "__Goal__: ", "Agent: ", "Note:", "Long label (x/y): ", ":",
	"word", "A sentence of more than twenty. ", "No. 5! ", "what is it? ", "é", "🚀", "\u2028", "\u00a0", "\ufeff", "\u0085", "\x00", "\x7f", "\xff", "\xe2\x82", "Tas\u212a: ", "sess\u0130on: x",
	strings.Repeat("long word ", 20), strings.Repeat("x", 160), "{", "\"", "`",
}

// TestSummaryAgainstAPlainOne compares the streaming rule with the plain one.
func TestSummaryAgainstAPlainOne(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	names := []string{"STATUS.md", "LOG.md", "LOG-ARCHIVE.md"}
	texts := 4000
	if testing.Short() {
		texts = 400
	}
	for range texts {
		var b strings.Builder
		for range rnd.IntN(30) {
			b.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		compareSummaries(t, names[rnd.IntN(len(names))], b.String(), 1+rnd.IntN(40))
		if t.Failed() {
			return
		}
	}
}

func compareSummaries(t *testing.T, name, body string, piece int) {
	t.Helper()
	got, want := summaryOf(name, body, piece), plainSummary(name, body)
	if got != want {
		t.Errorf("%s %q: %q, want %q", name, body, got, want)
	}
	if n := utf8.RuneCountInString(got); n > maxSummary || got == "" {
		t.Errorf("%s %q: a summary of %d characters", name, body, n)
	}
}

func FuzzSummary(f *testing.F) {
	f.Add("# S\n\n<!-- SECTION: summary -->\n- [x] a **b** [c](d)\n  e\n", true)
	f.Add("## [2026-01-01] x\n", true)
	f.Add("| a | b |\n|---|---|\n", false)
	f.Fuzz(func(t *testing.T, body string, journal bool) {
		name := "STATUS.md"
		if journal {
			name = "LOG.md"
		}
		compareSummaries(t, name, body, 1+len(body)/2)
	})
}

// A line as long as a file must not take quadratic time: were it so, this test
// would run into the time limit of the test run.
func TestSummaryOfLongLines(t *testing.T) {
	for _, unit := range []string{"[", "[a](", "[a]", "<!--", "!", "**", "| ", "- ", "a ", "#", "```", "\n", "- x\n", "<!-- x -->\n"} {
		body := strings.Repeat(unit, 1<<20/len(unit))
		if s := summaryOf("STATUS.md", body, 64<<10); utf8.RuneCountInString(s) > maxSummary {
			t.Errorf("%q: a summary of %d bytes", unit, len(s))
		}
	}
}

func TestSummaryLooksAtTheBeginningOfAnEndlessLine(t *testing.T) {
	m := newMeasure("STATUS.md")
	piece := []byte(strings.Repeat("endless ", 1<<17))
	for range 2 * maxPassage / len(piece) {
		_, _ = m.Write(piece)
	}
	top, _ := m.summary.(*markdownSummary)
	if n := cap(top.line); n > 2*maxPassage {
		t.Errorf("%d bytes of the line were kept", n)
	}
	if got := m.summary.end(); !strings.HasPrefix(got, "endless endless") {
		t.Errorf("summary %q", got)
	}
}

func TestMeasure(t *testing.T) {
	for _, tt := range []struct {
		body                 string
		lines, words, tokens int64
	}{
		{"", 0, 0, 0},
		{"a", 0, 1, 2},
		{"a b\nc", 1, 3, 4},
		{"a\r\nb\r\n", 2, 2, 3},
		{"\n\n", 2, 0, 1},
		{"a\u00a0b\u3000c\ufeff", 0, 3, 4},
		{"a\u0085b", 0, 1, 2},
		{"a\xffb \xe2\x82", 0, 2, 3},
		{"a\xe2\r\x80\xa8b", 0, 2, 3}, // the CR stood inside of U+2028
		{"\xe2\x80", 0, 1, 2},
		{"x" + strings.Repeat("y", 99), 0, 1, 25},
	} {
		for piece := 1; piece < 6; piece++ {
			m := newMeasure("STATUS.md")
			for b := []byte(tt.body); len(b) > 0; {
				n := min(piece, len(b))
				if w, err := m.Write(b[:n]); w != n || err != nil {
					t.Fatal(w, err)
				}
				b = b[n:]
			}
			if m.lines != tt.lines || m.words.end() != tt.words || m.tokens() != tt.tokens {
				t.Errorf("%q in pieces of %d: %d lines, %d words, %d tokens, want %d, %d, %d", tt.body, piece, m.lines, m.words.end(), m.tokens(), tt.lines, tt.words, tt.tokens)
			}
			if got := estimateText([]byte(tt.body)); got != tt.tokens {
				t.Errorf("%q at once: %d tokens, want %d", tt.body, got, tt.tokens)
			}
		}
	}
}

// Words are counted alike in a stream and by splitting the decoded text.
func FuzzWords(f *testing.F) {
	f.Add([]byte("a\xe2\x80\xa8b\xef\xbb"), 1)
	f.Fuzz(func(t *testing.T, b []byte, piece int) {
		piece = 1 + (piece&0xff)%7
		var w words
		for rest := b; len(rest) > 0; {
			n := min(piece, len(rest))
			w.add(rest[:n])
			rest = rest[n:]
		}
		want := int64(len(strings.FieldsFunc(ecma.Decode(b), ecma.IsSpace)))
		if got := w.end(); got != want {
			t.Errorf("%q in pieces of %d: %d words, want %d", b, piece, got, want)
		}
	})
}

func ExampleShow() {
	fmt.Println(Show("a title\x1b[2J\nPhase: forged \u009b"))
	// Output: a title\u001b[2J\u000aPhase: forged \u009b
}
