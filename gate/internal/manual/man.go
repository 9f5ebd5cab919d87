package manual

import (
	"fmt"
	"strconv"
	"strings"
)

// Man is the manual page, in the macros of man(7). It holds no date: the same
// program gives the same page.
func (p Program) Man() string {
	var b strings.Builder
	title := strings.ToUpper(p.Name)
	fmt.Fprintf(&b, ".\\\" Made by `%s man`; do not edit.\n", p.Name)
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"%s %s\" \"User Commands\"\n", roff(title), roff(p.Name), roff(p.Version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(p.Name), roff(p.Summary))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n.I COMMAND\n.RI [ ARGUMENTS ]\n", roff(p.Name))
	b.WriteString(".SH DESCRIPTION\nThe commands, by task:\n")
	for _, g := range p.Groups {
		fmt.Fprintf(&b, ".TP\n%s\n", roff(g.Title))
		for i, name := range Names(g.Commands) {
			if i > 0 {
				b.WriteString(",\n")
			}
			fmt.Fprintf(&b, "\\fB%s\\fR", roff(name))
		}
		b.WriteString("\n")
	}
	b.WriteString(".PP\nFlags may stand before or after other arguments.\nAfter a lone\n.B \\-\\-\neverything is an argument.\n")
	b.WriteString(".SH COMMANDS\n")
	for _, l := range p.leaves() {
		words := p.synopsis(l.path, l.Command)
		fmt.Fprintf(&b, ".SS %s\n%s.\n", roff(strings.Join(words[1:], " ")), roff(l.Summary))
		for _, paragraph := range paragraphs(l.Text) {
			b.WriteString(".PP\n" + marked(paragraph))
		}
		for _, f := range l.Flags {
			fmt.Fprintf(&b, ".TP\n\\fB%s\\fR", roff(f.dashed()))
			if f.Value != "" {
				fmt.Fprintf(&b, " \\fI%s\\fR", roff(f.Value))
			}
			b.WriteString("\n" + marked(f.text()+"."))
		}
		if l.Exits != nil {
			b.WriteString(".PP\n" + marked(exitSentence(l.Exits)))
		}
	}
	b.WriteString(".SH EXIT STATUS\nOf every command that says nothing else:\n")
	for _, e := range p.Exits {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s.\n", strconv.Itoa(e.Status), roff(e.Meaning))
	}
	for _, section := range []struct {
		title string
		rows  []Named
	}{{"ENVIRONMENT", p.Variables}, {"FILES", p.Files}} {
		if len(section.rows) > 0 {
			fmt.Fprintf(&b, ".SH %s\n", section.title)
		}
		for _, row := range section.rows {
			fmt.Fprintf(&b, ".TP\n\\fB%s\\fR\n%s", roff(row.Name), marked(row.Text+"."))
		}
	}
	b.WriteString(".SH SEE ALSO\n.BR git (1)\n")
	return b.String()
}

// marked is text in lines, with what stands in backquotes in bold.
func marked(text string) string {
	var b strings.Builder
	for line := range strings.Lines(fill(text, 0, 72)) {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			b.WriteString(`\&`) // or the line would be a request
		}
		for i, part := range strings.Split(line, "`") {
			if i%2 == 1 {
				b.WriteString("\\fB" + roff(part) + "\\fR")
				continue
			}
			b.WriteString(roff(part))
		}
	}
	return b.String()
}

// roff takes the meaning from characters that have one in roff. A hyphen is set as
// the sign that people type, which they may copy.
func roff(s string) string {
	return strings.NewReplacer(`\`, `\e`, `-`, `\-`, `"`, `\(dq`).Replace(s)
}
