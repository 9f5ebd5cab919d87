package criteria

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// shape shows what was read: "LINE task TASK" of a section, then its criteria, its
// first plain item and its first open box; "fence LINE lost N" at the end.
func shape(d Document) string {
	var out []string
	for _, s := range d.Sections {
		text := fmt.Sprintf("%d", s.Line)
		if s.Task != "" {
			text += " " + s.Task
		}
		if s.Alias != "" {
			text += " as " + s.Alias
		}
		text += fmt.Sprintf(": %d", s.Criteria)
		if s.Plain > 0 {
			text += fmt.Sprintf(", plain %d", s.Plain)
		}
		if s.Open > 0 {
			text += fmt.Sprintf(", open %d", s.Open)
		}
		out = append(out, text)
	}
	if d.OpenFence > 0 {
		out = append(out, fmt.Sprintf("fence %d lost %d", d.OpenFence, d.Lost))
	}
	return strings.Join(out, "; ")
}

// readings are documents and what is read in them.
var readings = []struct{ name, text, want string }{
	{"nothing", "", ""},
	{"no section", "# Next\n\n- [ ] a\n", ""},

	{"a section below its task", "## T-001: a\n\n### Acceptance criteria\n- [ ] a\n", "3 T-001: 1, open 4"},
	{"a bold label", "## T-001: a\n\n**Acceptance criteria:**\n- [ ] a\n", "3 T-001: 1, open 4"},
	{"a bold label with the colon outside", "## T-001: a\n\n**Acceptance criteria**:\n- [ ] a\n", "3 T-001: 1, open 4"},
	{"a bold label without a colon", "## T-001: a\n**Acceptance criteria**\n- [ ] a\n", "2 T-001: 1, open 3"},
	{"a bold label with white space round it", "## T-001: a\n   **Acceptance criteria:** \n- [ ] a\n", "2 T-001: 1, open 3"},
	{"too far in for a label", "## T-001: a\n    **Acceptance criteria:**\n- [ ] a\n", ""},
	{"a label that is not the whole line", "## T-001: a\n**Acceptance criteria:** (v2)\n- [ ] a\n", ""},
	{"a label with a star in it", "## T-001: a\n**Acceptance * criteria:**\n- [ ] a\n", ""},
	{"CRLF", "## T-001: a\r\n\r\n### Acceptance criteria\r\n- [ ] a\r\n", "3 T-001: 1, open 4"},
	{"no final line end", "## T-001: a\n### Acceptance criteria\n- [x] a", "2 T-001: 1"},
	{"white space is ECMAScript's", "##\u00a0T-001: a\n\ufeff###\u3000Acceptance\u2003criteria\n-\u00a0[ ] a\n", "2 T-001: 1, open 3"},
	{"a byte order mark", "\ufeff## T-001\n### Acceptance criteria\n- a\n", "2 T-001: 1, plain 3"},

	{"case, stars, spaces and one colon are looked past", "## T-001\n### **ACCEPTANCE \t criteria**:\n- a\n", "2 T-001: 1, plain 3"},
	{"a colon inside the stars", "## T-001\n### *Acceptance criteria:*\n- a\n", "2 T-001: 1, plain 3"},
	{"two colons are not", "## T-001\n### Acceptance criteria::\n- a\n", ""},
	{"more than the phrase is not", "## T-001\n### Acceptance criteria (v2)\n- a\n", ""},
	{"closing number signs are part of the text", "## T-001\n### Acceptance criteria ###\n- a\n", ""},
	{
		"legacy headings", "## T-001\n### Definition of Done\n- a\n### completion criteria:\n- a\n",
		"2 T-001 as definition of done: 1, plain 3; 4 T-001 as completion criteria: 1, plain 5",
	},

	{"setext headings", "T-001: a\n===\nAcceptance criteria\n---\n- a\n", "3 T-001: 1, plain 5"},
	{"one character underlines", "T-001: a\n=\nAcceptance criteria\n-\n- a\n", "3 T-001: 1, plain 5"},
	{"an underline of both characters is none", "T-001: a\n=-\n### Acceptance criteria\n- a\n", "3: 1, plain 4"},
	{"a label above an underline is a heading", "## T-001\n**Acceptance criteria:**\n---\n- a\n", "2: 1, plain 4"},
	{"an item above an underline is none", "## T-001\n### Acceptance criteria\n- a\n---\n- b\n", "2 T-001: 1, plain 3"},
	{"a break above an underline is none", "# T-001\n***\n---\n## Acceptance criteria\n- a\n", "4 T-001: 1, plain 5"},
	{"a fence above an underline is none", "# T-001\n```\n---\n```\n## Acceptance criteria\n- a\n", "5 T-001: 1, plain 6"},
	{"too far in for a setext heading", "# T-001\n    Acceptance criteria\n---\n- a\n", ""},
	{"an underline that is too far in", "# T-001\nAcceptance criteria\n    ---\n- a\n", ""},

	{"a heading of its own level ends a task", "## T-001\n## Acceptance criteria\n- a\n", "2: 1, plain 3"},
	{"a shallower one ends it", "## T-001\n# Other\n### Acceptance criteria\n- a\n", "3: 1, plain 4"},
	{"a deeper one does not", "## T-001\n### Other\n### Acceptance criteria\n- a\n", "3 T-001: 1, plain 4"},
	{"a heading that names another task begins that", "## T-001\n### T-002\n#### Acceptance criteria\n- a\n", "3 T-002: 1, plain 4"},
	{"the first id counts", "## T-002 after T-001\n### Acceptance criteria\n- a\n", "2 T-002: 1, plain 3"},
	{"word boundaries", "## XT-001 T-002x T-03 T-0004\n### Acceptance criteria\n- a\n", "2 T-0004: 1, plain 3"},
	{"a label begins a task", "**T-003: small**\n**Acceptance criteria:**\n- a\n", "2 T-003: 1, plain 3"},
	{"any heading ends the task of a label", "**T-003**\n###### Notes\n**Acceptance criteria:**\n- a\n", "3: 1, plain 4"},
	{"also its own criteria heading", "**T-003**\n###### Acceptance criteria\n- a\n", "2: 1, plain 3"},
	{"a label without an id ends nothing", "## T-001\n**Goal:**\n**Acceptance criteria:**\n- a\n", "3 T-001: 1, plain 4"},
	{"an id elsewhere begins nothing", "T-001 is next.\n\n### Acceptance criteria\n- a\n", "3: 1, plain 4"},
	{"seven number signs are no heading", "## T-001\n####### T-002\n### Acceptance criteria\n- a\n", "3 T-001: 1, plain 4"},
	{"no white space, no heading", "## T-001\n##T-002\n### Acceptance criteria\n- a\n", "3 T-001: 1, plain 4"},
	{"four characters in is no heading", "## T-001\n    ## T-002\n   ### Acceptance criteria\n- a\n", "3 T-001: 1, plain 4"},

	{"a section ends at a heading", "## T-001\n### Acceptance criteria\n- [x] a\n### Notes\n- b\n", "2 T-001: 1"},
	{"at a bold line", "## T-001\n### Acceptance criteria\n- [x] a\n**Note:** the rest\n- [ ] b\n", "2 T-001: 1"},
	{"at a bold line three characters in", "## T-001\n### Acceptance criteria\n- [x] a\n   ** x\n- [ ] b\n", "2 T-001: 1"},
	{"not at one four in", "## T-001\n### Acceptance criteria\n- [x] a\n    **Note**\n- [ ] b\n", "2 T-001: 2, open 5"},
	{"at a break", "## T-001\n### Acceptance criteria\n- [x] a\n***\n- [ ] b\n", "2 T-001: 1"},
	{"at a break of equals signs", "## T-001\n### Acceptance criteria\n- [x] a\n====\n- [ ] b\n", "2 T-001: 1"},
	{"two hyphens are no break", "## T-001\n### Acceptance criteria\n- [x] a\n--\n- [ ] b\n", "2 T-001: 2, open 5"},
	{"mixed characters are no break", "## T-001\n### Acceptance criteria\n- [x] a\n-*-\n- [ ] b\n", "2 T-001: 2, open 5"},
	{"not at prose, tables or quotes", "## T-001\n### Acceptance criteria\ntext\n| a |\n> ## q\n- [ ] b\n", "2 T-001: 1, open 6"},

	{"every marker", "## T-001\n### Acceptance criteria\n- [x] a\n* [x] a\n+ [X] a\n1. [x] a\n999999999) [x] a\n- a\n", "2 T-001: 6, plain 8"},
	{"ten digits are too many", "## T-001\n### Acceptance criteria\n1234567890. a\n", "2 T-001: 0"},
	{"a marker needs white space", "## T-001\n### Acceptance criteria\n-a\n1.a\n-\n1\n12\n", "2 T-001: 0"},
	{"an empty item is a plain one", "## T-001\n### Acceptance criteria\n- \n", "2 T-001: 1, plain 3"},
	{"one character in is a criterion, two are detail", "## T-001\n### Acceptance criteria\n - [ ] a\n  - [ ] b\n\t\t- c\n", "2 T-001: 1, open 3"},
	{"a box needs its brackets", "## T-001\n### Acceptance criteria\n- [] a\n", "2 T-001: 1, plain 3"},
	{"other letters are no check", "## T-001\n### Acceptance criteria\n- [y] a\n", "2 T-001: 1, plain 3"},
	{"the first plain item and the first open box", "## T-001\n### Acceptance criteria\n- [x] a\n- b\n- [ ] c\n- d\n- [ ] e\n", "2 T-001: 5, plain 4, open 5"},

	{"settled boxes", "## T-001\n### Acceptance criteria\n- [ ] a (waived: no rig)\n- [ ] b (Follow-up: T-008)\n- [ ] c (MOVED : #12) and more\n" +
		"- [ ] d (waiver: agreed)\n- [ ] e ( followup\u00a0: x)\n- [ ] f (x) (waived:) (moved: y)\n", "2 T-001: 6"},
	{"a reason that is blank", "## T-001\n### Acceptance criteria\n- [ ] a (waived: \u00a0)\n", "2 T-001: 1, open 3"},
	{"no reason", "## T-001\n### Acceptance criteria\n- [ ] a (waived)\n", "2 T-001: 1, open 3"},
	{"no end", "## T-001\n### Acceptance criteria\n- [ ] a (waived: x\n", "2 T-001: 1, open 3"},
	{"another word", "## T-001\n### Acceptance criteria\n- [ ] a (waivered: x) (todo: y) waived: z)\n", "2 T-001: 1, open 3"},
	{"the reason stands on another line", "## T-001\n### Acceptance criteria\n- [ ] a\n  (waived: x)\n", "2 T-001: 1, open 3"},

	{"code is not content", "## T-001\n### Acceptance criteria\n```\n- [ ] a\n### Notes\n```\n- [x] b\n", "2 T-001: 1"},
	{"a fence closes with its own character, at least as often", "## T-001\n### Acceptance criteria\n~~~~\n```\n~~~\n- a\n~~~~~ \n- [x] b\n", "2 T-001: 1"},
	{"nothing but white space may follow", "## T-001\n### Acceptance criteria\n```\n``` x\n- a\n```\n- [x] b\n", "2 T-001: 1"},
	{"a fence has an info string", "## T-001\n### Acceptance criteria\n```sh x\n- a\n   ```\n- [x] b\n", "2 T-001: 1"},
	{"a backtick in it makes none", "## T-001\n### Acceptance criteria\n``` `x\n- [ ] a\n", "2 T-001: 1, open 4"},
	{"one in that of tildes does not matter", "## T-001\n### Acceptance criteria\n~~~ `x\n- [ ] a\n~~~\n", "2 T-001: 0"},
	{"four characters in is no fence", "## T-001\n### Acceptance criteria\n    ```\n- [ ] a\n", "2 T-001: 1, open 4"},
	{"an open fence", "## T-001\n### Acceptance criteria\n- [x] a\n```\n- [ ] b\n\n", "2 T-001: 1; fence 4 lost 2"},
	{"an open fence in the last line", "```", "fence 1 lost 0"},

	// The blind spots that stay blind (aahp-authoring.md 5.4).
	{"a quoted section", "## T-001\n> ### Acceptance criteria\n> - [ ] a\n", ""},
	{"a table", "## T-001\n### Acceptance criteria\n| C | Met |\n|---|---|\n| a | no |\n", "2 T-001: 0"},
	{"HTML is read through", "## T-001\n<div>\n### Acceptance criteria\n- [ ] a\n</div>\n", "3 T-001: 1, open 4"},
}

func TestRead(t *testing.T) {
	for _, tt := range readings {
		if got := shape(Read([]byte(tt.text))); got != tt.want {
			t.Errorf("%s: %q\n got %s\nwant %s", tt.name, tt.text, got, tt.want)
		}
	}
}

// oracle is a second, plain implementation of the same section of the
// specification, in regular expressions over whole lines.
func oracle(text string) Document {
	const ws = `[\t\v\f\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]`
	const s3 = `^` + ws + `{0,3}`
	c := func(parts ...string) *regexp.Regexp { return regexp.MustCompile(strings.Join(parts, "")) }
	var (
		ticks   = c(s3, "(```+)[^`]*$")
		tildes  = c(s3, "(~~~+).*$")
		atx     = c(s3, `(#{1,6})`, ws, `(.*)$`)
		equals  = c(s3, `=+`, ws, `*$`)
		hyphens = c(s3, `-+`, ws, `*$`)
		ruler   = c(s3, `(?:-{3,}|={3,}|\*{3,})`, ws, `*$`)
		label   = c(s3, `\*\*([^*]+)\*\*:?`, ws, `*$`)
		stars   = c(s3, `\*\*`)
		list    = c(`^(`, ws, `*)(?:[-*+]|[0-9]{1,9}[.)])`, ws, `+(.*)$`)
		plain   = c(s3, `[^`, ws[1:])
		id      = c(`\bT-[0-9]{3,}\b`)
		waived  = c(`(?i)\(`, ws, `*(?:waived|waiver|follow-up|followup|moved)`, ws, `*:`, ws, `*[^)`, ws[1:len(ws)-1], `][^)]*\)`)
		around  = c(`^(?:\*|`, ws, `)+|(?:\*|`, ws, `)+$`)
		inner   = c(ws, `+`)
	)
	var doc Document
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if text == "" {
		lines = nil
	}
	if strings.HasSuffix(text, "\n") && len(lines) == 1 && lines[0] == "" {
		lines = []string{""}
	}
	task, level := "", 0
	var open *Section
	end := func() {
		if open != nil {
			doc.Sections = append(doc.Sections, *open)
			open = nil
		}
	}
	begin := func(text string, line int) bool {
		text = around.ReplaceAllString(text, "")
		text = around.ReplaceAllString(strings.TrimSuffix(text, ":"), "")
		text = strings.ToLower(inner.ReplaceAllString(text, " "))
		switch text {
		case "acceptance criteria":
			open = &Section{Line: line, Task: task}
		case "completion criteria", "definition of done":
			open = &Section{Line: line, Task: task, Alias: text}
		default:
			return false
		}
		return true
	}
	heading := func(n int, text string, line int) {
		end()
		if found := id.FindString(text); found != "" {
			task, level = found, n
		} else if n <= level {
			task, level = "", 0
		}
		begin(text, line)
	}
	for i := 0; i < len(lines); i++ {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	for i := 0; i < len(lines); i++ {
		line, number := lines[i], i+1
		if m := ticks.FindStringSubmatch(line); m != nil || tildes.MatchString(line) {
			if m == nil {
				m = tildes.FindStringSubmatch(line)
			}
			closing := c(s3, regexp.QuoteMeta(m[1]), m[1][:1], `*`, ws, `*$`)
			for i++; i < len(lines) && !closing.MatchString(lines[i]); i++ {
			}
			if i >= len(lines) {
				doc.OpenFence, doc.Lost = number, len(lines)-number
			}
			continue
		}
		if m := atx.FindStringSubmatch(line); m != nil {
			heading(len(m[1]), m[2], number)
			continue
		}
		item := list.FindStringSubmatch(line)
		if item == nil && !ruler.MatchString(line) && plain.MatchString(line) && i+1 < len(lines) {
			n := 0
			if equals.MatchString(lines[i+1]) {
				n = 1
			} else if hyphens.MatchString(lines[i+1]) {
				n = 2
			}
			if n > 0 {
				heading(n, line, number)
				i++
				continue
			}
		}
		if m := label.FindStringSubmatch(line); m != nil {
			end()
			if !begin(m[1], number) {
				if found := id.FindString(m[1]); found != "" {
					task, level = found, 7
				}
			}
			continue
		}
		if stars.MatchString(line) || ruler.MatchString(line) {
			end()
			continue
		}
		if open == nil || item == nil || len([]rune(item[1])) >= 2 {
			continue
		}
		open.Criteria++
		switch {
		case strings.HasPrefix(item[2], "[x]") || strings.HasPrefix(item[2], "[X]"):
		case !strings.HasPrefix(item[2], "[ ]"):
			if open.Plain == 0 {
				open.Plain = number
			}
		case open.Open == 0 && !waived.MatchString(line):
			open.Open = number
		}
	}
	end()
	return doc
}

func TestOracle(t *testing.T) {
	for _, tt := range readings {
		if got := shape(oracle(tt.text)); got != tt.want {
			t.Errorf("%s: %q\n got %s\nwant %s", tt.name, tt.text, got, tt.want)
		}
	}
}

// Whatever a document holds, two readings of the specification agree on it, its
// line ends do not matter, and every line named is one of the document.
func FuzzRead(f *testing.F) {
	for _, tt := range readings {
		f.Add(tt.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Read([]byte(text))
		if want := oracle(text); shape(got) != shape(want) {
			t.Fatalf("%q\n got %s\nwant %s", text, shape(got), shape(want))
		}
		if !strings.Contains(text, "\r") {
			if crlf := Read([]byte(strings.ReplaceAll(text, "\n", "\r\n"))); shape(crlf) != shape(got) {
				t.Fatalf("%q\nwith LF   %s\nwith CRLF %s", text, shape(got), shape(crlf))
			}
		}
		last := strings.Count(text, "\n") + 1
		for _, s := range got.Sections {
			for _, line := range []int{s.Line, s.Plain, s.Open} {
				if line < 0 || line > last || line > 0 && line < s.Line {
					t.Fatalf("%q: line %d of %d in %+v", text, line, last, s)
				}
			}
		}
	})
}
