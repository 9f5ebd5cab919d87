package render

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/report"
)

// Log writes the log of a job so that the runner obeys only what the program
// itself says (github-action.md 5 and 9). Text from outside goes through
// Untrusted, which prints it between a stop-commands command and its end token.
// Groups are never nested, and Close ends the one that is open.
//
// The first failed write is kept and returned by Close; after it nothing more
// is written, so callers need not look at each call.
type Log struct {
	w      io.Writer
	random io.Reader
	group  bool
	taken  report.Counts
	err    error
}

// NewLog makes a Log on w. random is the source of end tokens, crypto/rand in
// the program.
func NewLog(w io.Writer, random io.Reader) *Log { return &Log{w: w, random: random} }

// write prints whole lines, at once.
func (l *Log) write(s string) {
	if l.err == nil {
		_, l.err = io.WriteString(l.w, s)
	}
}

// Group begins a group; one that is open ends.
func (l *Log) Group(title string) {
	l.EndGroup()
	l.write(command("group", nil, plainLine(title)) + "\n")
	l.group = true
}

// EndGroup ends the open group, if there is one.
func (l *Log) EndGroup() {
	if l.group {
		l.group = false
		l.write("::endgroup::\n")
	}
}

// Line prints our own words. Should text from outside be among them, it cannot
// begin a command; whole text from outside belongs in Untrusted.
func (l *Log) Line(s string) {
	for _, line := range plainLines(s) {
		l.write(line + "\n")
	}
}

// Debug prints a debug line, which the runner shows when debugging is on.
func (l *Log) Debug(s string) { l.write(command("debug", nil, AnnotationText(s)) + "\n") }

// Message prints a single error, warning or notice that is about this run and
// not about a file. It ends an open group: a reader must see it. It counts
// against the ten of its level that the runner keeps; beyond them it is a line
// of text.
func (l *Log) Message(s report.Severity, text string) {
	l.EndGroup()
	n := &l.taken.Errors
	switch s {
	case report.Warning:
		n = &l.taken.Warnings
	case report.Notice:
		n = &l.taken.Notices
	case report.Error:
	default:
		s = report.Error
	}
	if *n >= maxCommandsPerLevel {
		l.Line(string(s) + ": " + text)
		return
	}
	*n++
	l.write(annotationCommand(s, &Annotation{Message: AnnotationText(text)}, "") + "\n")
}

// Annotate prints annotations as workflow commands, outside any group. What
// Message has printed before is counted.
func (l *Log) Annotate(annotations []Annotation, o CommandOptions) {
	l.EndGroup()
	o.Taken.Errors += l.taken.Errors
	o.Taken.Warnings += l.taken.Warnings
	o.Taken.Notices += l.taken.Notices
	var b bytes.Buffer
	if err := writeCommands(&b, annotations, o); err != nil && l.err == nil {
		l.err = err
		return
	}
	l.write(b.String())
	for line := range strings.Lines(b.String()) {
		switch {
		case strings.HasPrefix(line, "::error"):
			l.taken.Errors++
		case strings.HasPrefix(line, "::warning"):
			l.taken.Warnings++
		case strings.HasPrefix(line, "::notice"):
			l.taken.Notices++
		}
	}
}

// errToken says that no end token could be had.
var errToken = errors.New("no random end token for text from outside")

// Untrusted prints what write writes, inside a stop-commands block with an end
// token of its own: 32 random hex digits that do not occur in the text. Without
// a token nothing is printed: text from outside is never printed bare. The text
// is collected first, so a write that fails half-way leaves no open block.
func (l *Log) Untrusted(write func(io.Writer) error) error {
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	if text.Len() == 0 {
		return l.err
	}
	var b strings.Builder
	for _, line := range plainLines(text.String()) {
		b.WriteString(line)
		b.WriteByte('\n')
	}
	body := b.String()
	token, err := endToken(l.random, body)
	if err != nil {
		return err
	}
	l.write("::stop-commands::" + token + "\n" + body + "::" + token + "::\n")
	return l.err
}

// Quote prints a piece of text from outside; see Untrusted.
func (l *Log) Quote(text string) error {
	return l.Untrusted(func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// Close ends the open group and returns the first error.
func (l *Log) Close() error {
	l.EndGroup()
	return l.err
}

// endToken draws 32 hex digits that body does not contain.
func endToken(random io.Reader, body string) (string, error) {
	if random == nil {
		return "", errToken
	}
	for range 3 { // a second draw is next to impossible, a third means a broken source
		var raw [16]byte
		if _, err := io.ReadFull(random, raw[:]); err != nil {
			return "", fmt.Errorf("%w: %w", errToken, err)
		}
		token := hex.EncodeToString(raw[:])
		if !strings.Contains(strings.ToLower(body), token) {
			return token, nil
		}
	}
	return "", errToken
}

// GitHubOptions are the choices of GitHub.
type GitHubOptions struct {
	Random      io.Reader // the source of the end token
	Text        TextOptions
	WriteText   func(io.Writer, *report.Report, TextOptions) error // nil is Text
	Annotations AnnotationOptions
	Commands    CommandOptions
}

// GitHub writes a report for the log of a job that calls the command line
// (`--format github`): the text for people, inert, then the findings as
// workflow commands.
func GitHub(w io.Writer, r *report.Report, o GitHubOptions) error {
	l := NewLog(w, o.Random)
	o.Text.Color = false
	if o.WriteText == nil {
		o.WriteText = Text
	}
	if err := l.Untrusted(func(w io.Writer) error { return o.WriteText(w, r, o.Text) }); err != nil {
		return err
	}
	if o.Commands.Where == "" {
		o.Commands.Where = "the log above"
	}
	l.Annotate(Annotations(r, o.Annotations), o.Commands)
	return l.Close()
}
