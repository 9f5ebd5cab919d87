package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// The pages docs/tutorial.md and docs/packets.md are made from the scripts of those
// names, which TestScripts runs: a tutorial whose commands do not work is no help.
func TestTutorialPage(t *testing.T) {
	for _, name := range []string{"tutorial", "packets"} {
		script, err := os.ReadFile(filepath.Join(scripts, name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		want := tutorial(t, script)
		page := filepath.Join("..", "..", "docs", name+".md")
		if *update {
			if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("docs/%s.md is not what the script says; write it anew with\n\tgo test ./gate/cli -run TestTutorialPage -update", name)
		}
	}
}

// tutorial makes the page of the script. Its comments are the text; of its commands
// those are shown that a reader gives or does: "exec", "cp" of a file of the script,
// and what they print, where "cmp stdout" compares all of it or "stdout" a line,
// the first where its pattern begins with "^".
// The others are the test's own.
func tutorial(t *testing.T, script []byte) string {
	t.Helper()
	archive := txtar.Parse(script)
	files := map[string]string{}
	for _, f := range archive.Files {
		files["$WORK/"+f.Name] = string(f.Data)
	}
	p := page{files: files}
	for line := range strings.Lines(string(archive.Comment)) {
		p.line(strings.TrimSuffix(line, "\n"))
	}
	p.close()
	return strings.TrimSpace(p.out.String()) + "\n"
}

// page is a page of Markdown on the way.
type page struct {
	files map[string]string
	out   strings.Builder
	code  bool // a block of commands is open
	shown bool // the last command is one of those that are shown
}

var (
	quotedShell = regexp.MustCompile(`^sh -c '(.*)'$`)
	copied      = regexp.MustCompile(`^cp (\$WORK/\S+) (\S+)$`)
	compared    = regexp.MustCompile(`^cmp std(?:out|err) (\S+)$`)
	excerpt     = regexp.MustCompile(`^(?:stdout|stderr) '(.*)'$`)
	escaped     = regexp.MustCompile(`\\([.+(){}\[\]])`)
)

func (p *page) line(line string) {
	command, runs := strings.CutPrefix(strings.TrimPrefix(line, "! "), "exec ")
	if strings.HasPrefix(line, "cd ") {
		command, runs = line, true
	}
	switch text, isText := strings.CutPrefix(line, "#"); {
	case isText:
		p.close()
		p.out.WriteString(strings.TrimPrefix(text, " ") + "\n")
	case line == "":
		p.gap()
	case runs:
		p.open()
		p.shown = true
		if m := quotedShell.FindStringSubmatch(command); m != nil {
			command = m[1]
		}
		p.out.WriteString("$ " + command + "\n")
	case copied.MatchString(line):
		p.close()
		p.gap()
		m := copied.FindStringSubmatch(line)
		p.out.WriteString("`" + m[2] + "`:\n\n```" + strings.TrimPrefix(filepath.Ext(m[2]), ".") + "\n" + p.files[m[1]] + "```\n")
	case p.shown && compared.MatchString(line):
		p.out.WriteString(p.files[compared.FindStringSubmatch(line)[1]])
	case p.shown && excerpt.MatchString(line):
		text := escaped.ReplaceAllString(excerpt.FindStringSubmatch(line)[1], "$1")
		if first, ok := strings.CutPrefix(text, "^"); ok {
			p.out.WriteString(first + "\n…\n")
		} else {
			p.out.WriteString("…\n" + text + "\n")
		}
	default:
		p.shown = false
	}
}

func (p *page) open() {
	if !p.code {
		p.gap()
		p.code = true
		p.out.WriteString("```\n")
	}
}

func (p *page) close() {
	if p.code {
		p.code = false
		p.out.WriteString("```\n")
		p.gap()
	}
	p.shown = false
}

// gap makes one empty line outside of a block.
func (p *page) gap() {
	if !p.code && !strings.HasSuffix(p.out.String(), "\n\n") {
		p.out.WriteString("\n")
	}
}
