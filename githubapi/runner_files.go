package githubapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/handoff-gate/handoff-gate/gate/render"
)

// The values of the output reporting: where findings are shown.
const (
	ReportingCheckRun = "check-run"
	ReportingCommands = "commands"
	ReportingNone     = "none" // annotations: off, and no check run
)

// Outputs are the Action's outputs. They are written on every exit, so their
// zero value is that of a run that could not be made: verdict error.
type Outputs struct {
	Verdict                   string // pass, fail, or error for exit 2; "" is error
	Base, Head                string // commit ids, or ""
	Errors, Warnings, Notices int
	CheckRunID                int64  // 0 without a check run
	CheckRunURL               string // "" without a check run
	Reporting                 string // of the constants above; "" is commands
	ReportPath, SARIFPath     string // relative to the workspace; "" when not written
}

// OutputNames are the names in the order of action.yml.
var OutputNames = []string{
	"verdict", "base", "head", "errors", "warnings", "notices",
	"check-run-id", "check-run-url", "reporting", "report-path", "sarif-path",
}

func (o Outputs) value(name string) string {
	switch name {
	case "verdict":
		if o.Verdict == "" {
			return "error"
		}
		return o.Verdict
	case "base":
		return o.Base
	case "head":
		return o.Head
	case "errors":
		return strconv.Itoa(o.Errors)
	case "warnings":
		return strconv.Itoa(o.Warnings)
	case "notices":
		return strconv.Itoa(o.Notices)
	case "check-run-id":
		if o.CheckRunID == 0 {
			return ""
		}
		return strconv.FormatInt(o.CheckRunID, 10)
	case "check-run-url":
		return o.CheckRunURL
	case "reporting":
		if o.Reporting == "" {
			return ReportingCommands
		}
		return o.Reporting
	case "report-path":
		return o.ReportPath
	case "sarif-path":
		return o.SARIFPath
	}
	return ""
}

// encode writes the outputs in the form of the runner's file: each with a
// delimiter of its own that its value does not hold, so that no value can end
// early and write another output.
func (o Outputs) encode(random io.Reader, mask *Masker) ([]byte, error) {
	var b bytes.Buffer
	for _, name := range OutputNames {
		if err := render.Output(&b, random, name, mask.String(o.value(name))); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// WriteOutputs appends the outputs to the file GITHUB_OUTPUT names. An error is
// for the log as a warning, and for nothing else: it never changes the verdict.
// random is the source of the delimiters, crypto/rand in the program.
//
// go-githubactions' SetOutput is not used: its delimiter is one constant, which
// a value can hold, and it panics when the file cannot be written.
func WriteOutputs(file string, random io.Reader, mask *Masker, o Outputs) error {
	data, err := o.encode(random, mask)
	if err == nil {
		err = appendTo(file, data)
	}
	if err != nil {
		return fmt.Errorf("outputs are not written: %w", err)
	}
	return nil
}

// SummaryRoom is how many bytes may still be appended to the file that
// GITHUB_STEP_SUMMARY names; render.MaxSummary when there is no such file yet.
func SummaryRoom(file string) int {
	info, err := os.Stat(file)
	if err != nil {
		return render.MaxSummary
	}
	return int(max(0, render.MaxSummary-info.Size()))
}

// summaryCut ends a summary that did not fit. Render leaves out whole findings
// before that; this is for a file that has grown since.
const summaryCut = "\n\n*The rest of this summary is left out: the file is full. See the log.*\n"

// AppendSummary appends Markdown to the file that GITHUB_STEP_SUMMARY names,
// once, and keeps the file within render.MaxSummary. As for WriteOutputs, an error is
// a warning in the log.
func AppendSummary(file string, mask *Masker, markdown string) error {
	text := mask.String(markdown)
	if room := SummaryRoom(file); len(text) > room {
		if room < len(summaryCut) {
			return fmt.Errorf("the job summary is not written: the file has no room left within %d bytes", render.MaxSummary)
		}
		n := room - len(summaryCut)
		for n > 0 && !utf8.RuneStart(text[n]) {
			n--
		}
		if i := strings.LastIndexByte(text[:n], '\n'); i > 0 {
			n = i
		}
		text = text[:n] + summaryCut
	}
	if err := appendTo(file, []byte(text)); err != nil {
		return fmt.Errorf("the job summary is not written: %w", err)
	}
	return nil
}

// errUnset is what an unset GITHUB_OUTPUT or GITHUB_STEP_SUMMARY amounts to.
var errUnset = errors.New("the runner names no file for it")

// appendTo appends data in one write.
func appendTo(file string, data []byte) error {
	if file == "" {
		return errUnset
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // the runner reads it as another user.
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
