package governance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsregexp"
	"github.com/handoff-gate/handoff-gate/gate/internal/parallel"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// errNoGit says that there is nobody to ask for the tracked files.
var errNoGit = errors.New("the project is in no git repository")

// tracked lists the tracked files that the pathspecs select.
func (j *Judge) tracked(ctx context.Context, pathspecs []string) ([]string, error) {
	if j.in.Tracked == nil {
		if j.in.NoGit != nil {
			return nil, j.in.NoGit
		}
		return nil, errNoGit
	}
	return j.in.Tracked(ctx, pathspecs)
}

// isTracked tells whether git tracks one file.
func (j *Judge) isTracked(ctx context.Context, p string) (bool, error) {
	rel, _ := gate.Below(j.in.Project, p)
	list, err := j.tracked(ctx, []string{":(literal)" + rel})
	return slices.Contains(list, p), err
}

// content is a tracked file for a gate that searches it.
type content struct {
	path string
	data []byte
	why  string // why it could not be read, the end of a sentence; "" when it was
}

// readTracked reads a tracked file from the work tree; ok is false for one that is
// passed over: it is missing there, a submodule or a symbolic link.
func (j *Judge) readTracked(p string) (c content, ok bool) {
	doc := gate.ReadDocument(j.in.Work, p, maxText)
	c = content{path: p, data: doc.Data}
	switch {
	case doc.State == gate.Absent:
		return c, false
	case doc.State == gate.NotRegular && doc.Entry.Kind != gate.Special:
		return c, false
	case doc.State != gate.Present:
		c.why = j.unread(doc)
	}
	return c, true
}

// search reads files side by side and lets judge find something in each.
func (j *Judge) search(ctx context.Context, paths []string, judge func(content) []report.Finding) ([]report.Finding, error) {
	found := make([][]report.Finding, len(paths))
	g, ctx := parallel.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, p := range paths {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if c, ok := j.readTracked(p); ok {
				found[i] = judge(c)
			}
			return nil
		})
	}
	err := g.Wait()
	return slices.Concat(found...), err
}

// activePattern is a rule that can be searched for.
type activePattern struct {
	Pattern
	re *jsregexp.Regexp
}

// patternsGate is 4.5: no file holds what is forbidden.
func (j *Judge) patternsGate(ctx context.Context) (string, []report.Finding, error) {
	var findings []report.Finding
	of := map[string][]activePattern{} // by file
	if _, err := j.tracked(ctx, []string{":(literal)" + ConfigFile}); err != nil {
		if ctx.Err() != nil {
			return "", nil, ctx.Err()
		}
		findings = append(findings, j.noFiles(err))
	}
	known := findings == nil
	for _, p := range j.in.Config.ForbiddenPatterns {
		re, bad := j.compile(ForbiddenPattern, "the rule "+j.quote(p.ID), p.Pattern, p.Flags)
		findings = append(findings, bad...)
		if bad != nil || !known {
			continue
		}
		files, bad := j.selected(ctx, p)
		if err := ctx.Err(); err != nil {
			return "", nil, err
		}
		findings = append(findings, bad...)
		for _, f := range files {
			of[f] = append(of[f], activePattern{p, re})
		}
	}
	found, err := j.search(ctx, slices.Sorted(maps.Keys(of)), func(c content) []report.Finding { return j.forbidden(c, of[c.path]) })
	summary := fmt.Sprintf("%s searched for in %s", plural.Of(len(j.in.Config.ForbiddenPatterns), "pattern"), plural.Of(len(of), "file"))
	return summary, append(findings, found...), err
}

func (j *Judge) noFiles(err error) report.Finding {
	return j.config(PatternsNoGit, j.in.Config.PatternsSpan, fmt.Sprintf("Which files to search is not known: %s.", j.clean(err.Error())),
		"Run the gate inside the repository.")
}

// selected lists the files of a rule.
func (j *Judge) selected(ctx context.Context, p Pattern) ([]string, []report.Finding) {
	refused := func(err error) []report.Finding {
		return []report.Finding{j.config(PatternsNoGit, j.in.Config.PatternsSpan, fmt.Sprintf("Which files the rule %s selects is not known: %s.", j.quote(p.ID), j.clean(err.Error())),
			"Correct the pathspecs of its include and exclude.")}
	}
	files, err := j.tracked(ctx, p.Include)
	if err != nil {
		return nil, refused(err)
	}
	if len(files) == 0 {
		if !p.Configured {
			return nil, nil
		}
		return nil, []report.Finding{j.config(PatternsNoFiles, p.IncludeSpan, fmt.Sprintf("The include of the rule %s selects no tracked file.", j.quote(p.ID)), "Correct include, or drop it.")}
	}
	if len(p.Exclude) == 0 {
		return files, nil
	}
	without, err := j.tracked(ctx, p.Exclude)
	if err != nil {
		return nil, refused(err)
	}
	drop := make(map[string]bool, len(without))
	for _, f := range without {
		drop[f] = true
	}
	return slices.DeleteFunc(files, func(f string) bool { return drop[f] }), nil
}

// forbidden searches one file, line by line.
func (j *Judge) forbidden(c content, patterns []activePattern) []report.Finding {
	if c.why != "" {
		return []report.Finding{j.at(PatternsUnreadable, c.path, report.Span{}, "The file could not be searched: "+c.why+".", "Make the file readable.")}
	}
	var b report.Bounded
	text := decode(c.data)
	patterns = slices.DeleteFunc(slices.Clone(patterns), func(p activePattern) bool { return !p.re.MayMatch(text) })
	if len(patterns) == 0 {
		return nil
	}
	for i, line := range splitLines(text) {
		for _, p := range patterns {
			if !p.re.MatchString(line) {
				continue
			}
			// A line that is too long to be shown may hold a credential that is
			// recognised as a whole only.
			text := trim(line)
			if j.in.Mask != nil {
				text = j.in.Mask(text)
			}
			b.Add(j.at(Forbidden, c.path, report.Span{Line: i + 1}, fmt.Sprintf("%s (%s): %s", j.clean(p.Message), j.clean(p.ID), safetext.Cut(text, 100)),
				fmt.Sprintf("%s. Or exclude the file in the rule %s.", strings.TrimSuffix(j.clean(p.Message), "."), j.quote(p.ID))))
		}
	}
	return b.Findings()
}
