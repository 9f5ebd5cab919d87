package cli

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/catalog"
	"github.com/handoff-gate/handoff-gate/gate/disk"
	"github.com/handoff-gate/handoff-gate/gate/render"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// printReport writes a report to standard output in the format that was asked for.
func printReport(p Process, c *common, rep *report.Report, advice []string) error {
	w := bufio.NewWriter(p.Stdout)
	text := render.TextOptions{Quiet: c.quiet, Advice: advice}
	writeText := c.text
	if writeText == nil {
		writeText = render.Text
	}
	var err error
	switch c.format.value {
	case "json":
		err = render.JSON(w, rep)
	case "sarif":
		err = render.SARIF(w, rep, catalog.Rules())
	case "github":
		err = render.GitHub(w, rep, render.GitHubOptions{Random: rand.Reader, Text: text, WriteText: writeText})
	default:
		text.Color = isTerminal(p.Stdout) && p.getenv("NO_COLOR") == "" && p.getenv("TERM") != "dumb"
		err = writeText(w, rep, text)
	}
	if err != nil {
		return err
	}
	return w.Flush()
}

func writeReport(p Process, path string, rep *report.Report) error {
	var b bytes.Buffer
	if err := render.JSON(&b, rep); err != nil {
		return err
	}
	write := func() error {
		return disk.Write(path, b.Bytes(), disk.WriteOptions{Mode: 0o644, Before: p.BeforeChange})
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		// A device or a pipe: nothing to replace.
		write = func() error { return os.WriteFile(path, b.Bytes(), 0o644) } //nolint:gosec // a report is for everybody to read.
	}
	if err := write(); err != nil {
		return fmt.Errorf("the report cannot be written: %w", err)
	}
	return nil
}

var rulesCommand = command{
	name: "rules", summary: "List every rule of the gate", exits: exits("done", "", "used wrongly"),
	text: "The JSON is an array of objects with id, severity, title, why and remedy; the Markdown is docs/rules.md.",
	run: func(_ context.Context, p Process, args []string) error {
		fs := flag.NewFlagSet("rules", flag.ContinueOnError)
		format := choice{"text", []string{"text", "json", "markdown"}}
		fs.Var(&format, "format", "what standard output is")
		if _, err := parse(fs, args, 0); err != nil {
			return err
		}
		switch format.value {
		case "json":
			return render.RulesJSON(p.Stdout, catalog.Rules())
		case "markdown":
			return render.RulesMarkdown(p.Stdout, catalog.Rules())
		}
		return render.RulesText(p.Stdout, catalog.Rules())
	},
}

var explainCommand = command{
	name: "explain", args: "RULE", summary: "Say what a rule finds, why, and how to fix it", exits: exits("done", "", "used wrongly, or no such rule"),
	run: func(_ context.Context, p Process, args []string) error {
		rest, err := parse(flag.NewFlagSet("explain", flag.ContinueOnError), args, 1)
		if err != nil {
			return err
		}
		if len(rest) == 0 {
			return usagef("name a rule, such as integrity/checksum-mismatch; `handoff-gate rules` lists them")
		}
		r := catalog.Find(rest[0])
		if r == nil {
			return usagef("there is no rule %q%s; `handoff-gate rules` lists them", rest[0], similar(rest[0]))
		}
		return render.Explain(p.Stdout, r)
	},
}

// similar says what a name that is no rule's may mean: a group, or the rules of
// that name in any group.
func similar(given string) string {
	var ids []string
	ofGroup := 0
	for _, r := range catalog.Rules() {
		group, name, _ := strings.Cut(r.ID, "/")
		if given == name {
			ids = append(ids, r.ID)
		}
		if given == group {
			ofGroup++
		}
	}
	switch {
	case ofGroup > 0:
		return fmt.Sprintf(", but a group of %d", ofGroup)
	case len(ids) > 0:
		return "; there is " + strings.Join(ids, ", ")
	}
	return ""
}

var versionCommand = command{
	name: "version", summary: "Print version, commit and Go version; also --version", exits: exits("done", "", "used wrongly"),
	run: func(_ context.Context, p Process, args []string) error {
		if _, err := parse(flag.NewFlagSet("version", flag.ContinueOnError), args, 0); err != nil {
			return err
		}
		commit := p.Commit
		if commit == "" {
			commit = "unknown"
		}
		_, err := fmt.Fprintf(p.Stdout, "handoff-gate %s (commit %s, %s)\n", p.Version, commit, runtime.Version())
		return err
	},
}
