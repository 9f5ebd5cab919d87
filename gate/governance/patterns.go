package governance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsregexp"
	"github.com/handoff-gate/handoff-gate/gate/internal/parallel"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// errNoGit says that there is nobody to ask for the tracked files.
var errNoGit = errors.New("the project is in no git repository")

// tracked lists the tracked files that the pathspecs select. Most rules select the
// same, so git is asked once for each list.
func (j *Judge) tracked(ctx context.Context, pathspecs []string) ([]string, error) {
	if j.in.Tracked == nil {
		if j.in.NoGit != nil {
			return nil, j.in.NoGit
		}
		return nil, errNoGit
	}
	key := strings.Join(pathspecs, "\x00")
	if list, known := j.lists[key]; known {
		return list, nil
	}
	list, err := j.in.Tracked(ctx, pathspecs)
	if err != nil {
		return nil, err
	}
	if j.lists == nil {
		j.lists = map[string][]string{}
	}
	j.lists[key] = list
	return list, nil
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
func (j *Judge) readTracked(p string, limit int64) (c content, ok bool) {
	doc := gate.ReadDocument(j.in.Work, p, limit)
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

// largeFile is from how many bytes on files are searched one at a time, so that a few
// of them do not take the memory of the machine.
const largeFile = 8 << 20

// search reads files side by side and lets judge find something in each.
func (j *Judge) search(ctx context.Context, paths []string, limit int64, judge func(content) []report.Finding) ([]report.Finding, error) {
	found := make([][]report.Finding, len(paths))
	var large sync.Mutex
	err := parallel.Each(ctx, len(paths), func(ctx context.Context, i int) error {
		if e, err := j.in.Work.Stat(paths[i]); err == nil && e.Size >= largeFile {
			large.Lock()
			defer large.Unlock()
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if c, ok := j.readTracked(paths[i], limit); ok {
			found[i] = judge(c)
		}
		return nil
	})
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
	if _, err := j.tracked(ctx, []string{":(literal)" + ConfigFile}); err != nil {
		if ctx.Err() != nil {
			return "", nil, ctx.Err()
		}
		findings = append(findings, j.noFiles(err))
	}
	known := findings == nil
	alike := map[string]*[]activePattern{} // rules that select the same files
	of := map[string][]*[]activePattern{}  // such rules, by file
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
		key := strings.Join(p.Include, "\x00") + "\x00\x00" + strings.Join(p.Exclude, "\x00")
		if alike[key] == nil {
			alike[key] = new([]activePattern)
			for _, f := range files {
				of[f] = append(of[f], alike[key])
			}
		}
		*alike[key] = append(*alike[key], activePattern{p, re})
	}
	found, err := j.search(ctx, slices.Sorted(maps.Keys(of)), maxSearched, func(c content) []report.Finding {
		var patterns []activePattern
		for _, list := range of[c.path] {
			patterns = append(patterns, *list...)
		}
		return j.forbidden(c, patterns)
	})
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
	return slices.DeleteFunc(slices.Clone(files), func(f string) bool { return drop[f] }), nil
}

// forbidden searches one file, line by line.
func (j *Judge) forbidden(c content, patterns []activePattern) []report.Finding {
	if c.why != "" {
		return []report.Finding{j.at(PatternsUnreadable, c.path, report.Span{}, "The file could not be searched: "+c.why+".", "Make the file readable.")}
	}
	text := ecma.Decode(c.data)
	patterns = slices.DeleteFunc(patterns, func(p activePattern) bool { return !p.re.MayMatch(text) })
	var b report.Bounded
	full := false // so many were found that no more are listed
	for line, number := "", 1; len(patterns) > 0; number++ {
		var more bool
		line, text, more = strings.Cut(text, "\n")
		if more {
			line = strings.TrimSuffix(line, "\r")
		}
		for _, p := range patterns {
			switch {
			case !p.re.MatchString(line):
			case full:
				b.Dropped(Forbidden.ID, Forbidden.Severity, 1)
			default:
				full = !b.Add(j.forbiddenLine(c.path, p, line, number))
			}
		}
		if !more {
			break
		}
	}
	return b.Findings()
}

func (j *Judge) forbiddenLine(path string, p activePattern, line string, number int) report.Finding {
	// A line that is too long to be shown may hold a credential that is recognised as
	// a whole only.
	text := ecma.Trim(line)
	if j.in.Mask != nil {
		text = j.in.Mask(text)
	}
	message := j.clean(p.Message)
	return j.at(Forbidden, path, report.Span{Line: number}, fmt.Sprintf("%s (%s): %s", message, j.clean(p.ID), safetext.Cut(text, 100)),
		fmt.Sprintf("%s. Or exclude the file in the rule %s.", strings.TrimSuffix(message, "."), j.quote(p.ID)))
}
