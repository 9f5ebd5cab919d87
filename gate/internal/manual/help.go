package manual

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	width  = 80 // columns that a line of help has at most
	column = 20 // where the text beside a flag begins
)

// Help lists the commands by task.
func (p Program) Help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s.\n\nusage: %s COMMAND [ARGUMENTS]\n", p.Name, p.Summary, p.Name)
	wide := 0
	for _, c := range p.Commands() {
		wide = max(wide, len(c.Name))
	}
	for _, g := range p.Groups {
		fmt.Fprintf(&b, "\n%s:\n", g.Title)
		list(&b, g.Commands, wide)
	}
	b.WriteString("\n" + fill("`"+p.Name+" help COMMAND` says more. "+exitSentence(p.Exits), 0, width))
	return b.String()
}

func list(b *strings.Builder, commands []Command, wide int) {
	for _, c := range commands {
		fmt.Fprintf(b, "  %-*s  %s\n", wide, c.Name, c.Summary)
	}
}

// CommandHelp is all that there is to say of one command. Path is its name, with
// the name of the command that it is below.
func (p Program) CommandHelp(path string, c Command) string {
	var b strings.Builder
	b.WriteString(c.Summary + ".\n\n" + p.Usage(path, c))
	for _, paragraph := range paragraphs(c.Text) {
		b.WriteString("\n" + fill(paragraph, 0, width))
	}
	if c.Commands != nil {
		b.WriteString("\n")
		wide := 0
		for _, below := range c.Commands {
			wide = max(wide, len(below.Name))
		}
		list(&b, c.Commands, wide)
		fmt.Fprintf(&b, "\n`%s help %s COMMAND` says more.\n", p.Name, path)
		return b.String()
	}
	if len(c.Flags) > 0 {
		b.WriteString("\n")
	}
	for _, f := range c.Flags {
		label := "  " + f.Label()
		text := strings.TrimPrefix(fill(f.text(), column, width), strings.Repeat(" ", column))
		if len(label)+2 > column {
			label += "\n"
			fmt.Fprintf(&b, "%s%*s%s", label, column, "", text)
			continue
		}
		fmt.Fprintf(&b, "%-*s%s", column, label, text)
	}
	b.WriteString("\n" + fill(exitSentence(p.exits(c)), 0, width))
	return b.String()
}

// Usage is the line that says how a command is called.
func (p Program) Usage(path string, c Command) string {
	return "usage: " + strings.Join(p.synopsis(path, c), " ") + "\n"
}

// synopsis is a call of a command, word by word.
func (p Program) synopsis(path string, c Command) []string {
	words := []string{p.Name, path}
	if c.Commands != nil {
		return append(words, "COMMAND [ARGUMENTS]")
	}
	if c.Args != "" {
		words = append(words, c.Args)
	}
	optional := len(c.Flags)
	for _, name := range c.Required {
		for _, f := range c.Flags {
			if f.Name == name {
				words = append(words, f.Label())
				optional--
			}
		}
	}
	if optional > 0 {
		words = append(words, "[FLAGS]")
	}
	return words
}

func (p Program) exits(c Command) []Exit {
	if c.Exits != nil {
		return c.Exits
	}
	return p.Exits
}

func exitSentence(exits []Exit) string {
	parts := make([]string, len(exits))
	for i, e := range exits {
		parts[i] = fmt.Sprintf("%d %s", e.Status, e.Meaning)
	}
	return "Exit status: " + strings.Join(parts, "; ") + "."
}

func paragraphs(text string) []string {
	var all []string
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if paragraph != "" {
			all = append(all, paragraph)
		}
	}
	return all
}

// fill breaks a text into lines of a width that begin with so many spaces. What stands in
// backquotes is a command to be copied, and stays in one line where it fits.
func fill(text string, indent, width int) string {
	var b strings.Builder
	at := 0 // the column, counted from the indent
	for _, word := range unbroken(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case at == 0:
			b.WriteString(strings.Repeat(" ", indent))
		case indent+at+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = 0
		default:
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String() + "\n"
}

// unbroken splits a text at its white space outside of backquotes.
func unbroken(text string) []string {
	var words []string
	quoted := false
	for _, field := range strings.Fields(text) {
		if quoted {
			words[len(words)-1] += " " + field
		} else {
			words = append(words, field)
		}
		if strings.Count(field, "`")%2 == 1 {
			quoted = !quoted
		}
	}
	return words
}
