package governance

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/conform"
	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsregexp"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// compile compiles a pattern of the configuration. What cannot be used is a
// finding of the rule, at the pattern or its flags.
func (j *Judge) compile(r *rule.Rule, of string, source, flags Text) (*jsregexp.Regexp, []report.Finding) {
	re, err := jsregexp.Compile(source.Text, flags.Text)
	if err == nil {
		return re, nil
	}
	span := source.Span
	var e *jsregexp.Error
	if errors.As(err, &e) && e.Flags && flags.Span.Line > 0 {
		span = flags.Span
	}
	return nil, []report.Finding{j.config(r, span, fmt.Sprintf("The pattern of %s cannot be used: %s.", of, j.clean(err.Error())), subset)}
}

const subset = "Correct the construct that the message names. Patterns are JavaScript's, without lookaround and backreferences, matched in linear time."

// captures is compile for a pattern whose first group is wanted.
func (j *Judge) captures(r *rule.Rule, of string, source, flags Text) (*jsregexp.Regexp, []report.Finding) {
	re, bad := j.compile(r, of, source, flags)
	if bad == nil && re.NumSubexp() == 0 {
		bad = []report.Finding{j.config(r, source.Span, fmt.Sprintf("The pattern of %s has no capture group (…), at offset 0 to %d.", of, len([]rune(source.Text))),
			"Put what is wanted, and nothing else, in the first group.")}
	}
	return re, bad
}

// maxMatches is how many matches of one pattern in one file are looked at. An
// expression that matches nothing matches everywhere.
const maxMatches = 1_000_000

// matches finds all matches of a pattern in a file; more than maxMatches are a finding
// of the rule.
func (j *Judge) matches(r *rule.Rule, re *jsregexp.Regexp, source Text, w *whole, p string) ([][]int, []report.Finding) {
	found := re.FindAllStringSubmatchIndex(w.text, maxMatches+1)
	if len(found) <= maxMatches {
		return found, nil
	}
	return nil, []report.Finding{j.config(r, source.Span, fmt.Sprintf("The pattern %s matches %s more than %d times.", j.quote(source.Text), j.clean(p), maxMatches),
		"Correct the pattern, so that it matches what is meant and nothing else.")}
}

// claimsGate is 4.4 but for the scripts that count: these are prepared.
func (j *Judge) claimsGate(ctx context.Context) (summary string, findings []report.Finding, floors []Floor) {
	for _, c := range j.in.Config.Claims {
		if c.FloorCmd != nil {
			f, bad := j.floor(ctx, c)
			findings = append(findings, bad...)
			if bad == nil {
				floors = append(floors, f)
			}
		}
		findings = append(findings, j.claim(c)...)
	}
	return plural.Of(len(j.in.Config.Claims), "claim") + " compared with the files that state them", findings, floors
}

func (j *Judge) claim(c Claim) []report.Finding {
	name := "the claim " + j.quote(c.ID)
	var findings []report.Finding
	if len(c.Surfaces) == 0 {
		findings = append(findings, j.config(NoSurfaces, c.Span, "No file is named that states "+name+", so nothing is proven.",
			"Name the files that state the number, or remove the claim."))
	}
	re, bad := j.captures(ClaimPattern, name, c.Phrase, c.Flags)
	if bad == nil && !re.Global {
		bad = []report.Finding{j.config(ClaimPattern, c.Flags.Span, fmt.Sprintf("The flags %s of %s lack g: every match counts.", j.quote(c.Flags.Text), name),
			"Add g to the flags.")}
	}
	if bad != nil {
		return append(findings, bad...)
	}
	for _, surface := range c.Surfaces {
		findings = append(findings, j.surface(c, re, surface)...)
	}
	return findings
}

func (j *Judge) surface(c Claim, re *jsregexp.Regexp, file Text) []report.Finding {
	p, escape := j.inside(file)
	if escape != nil {
		return escape
	}
	doc := j.follow(p, maxNamed)
	if doc.State != gate.Present {
		return []report.Finding{j.config(MissingSurface, file.Span, fmt.Sprintf("The file %s, which should state the claim %s, cannot be read: %s.", j.quote(file.Text), j.quote(c.ID), j.unread(doc)),
			"Restore the file, correct its path, or drop the surface.")}
	}
	w := readWhole(doc.Data, c.Join)
	matches, bad := j.matches(ClaimPattern, re, c.Phrase, w, p)
	if bad != nil {
		return bad
	}
	want := j.clean(c.Advertised.Text)
	if len(matches) == 0 {
		return []report.Finding{j.at(NoMatch, p, report.Span{Line: 1}, fmt.Sprintf("Nothing there matches the phrase of the claim %s; it should state %s.", j.quote(c.ID), want),
			fmt.Sprintf("State %s there in the words of the phrase, correct the phrase, or drop the surface.", want))}
	}
	type place struct {
		line int
		text string
	}
	seen := map[place]bool{}
	var b report.Bounded
	full := false // so many were found that no more are listed
	for _, m := range matches {
		text := ""
		if m[2] >= 0 {
			text = w.text[m[2]:m[3]]
		}
		at := place{w.line(m[0]), text}
		if isNumber(text, c.Advertised.Text) || seen[at] {
			continue
		}
		seen[at] = true
		if full {
			b.Dropped(WrongNumber.ID, WrongNumber.Severity, 1)
			continue
		}
		full = !b.Add(j.at(WrongNumber, p, report.Span{Line: at.line}, fmt.Sprintf("The text states %s for the claim %s, and %s is advertised.", j.quote(text), j.quote(c.ID), want),
			fmt.Sprintf("State %s there, or correct the advertised number in every place.", want)))
	}
	return b.Findings()
}

var decimal = regexp.MustCompile(`^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$`)

// isNumber tells whether a text is a decimal number, blanks around it aside, and
// equal to the advertised one.
func isNumber(text, advertised string) bool {
	text = ecma.Trim(text)
	return decimal.MatchString(text) && conform.Compare(text, advertised) == 0
}

// Floor is a script that counts what a claim advertises (section 10).
type Floor struct {
	Script string // from the repository's top level; a regular file that git tracks, reached through no link
	claim  Claim
}

// FloorResult is how a script ended. Texts in it are from outside.
type FloorResult struct {
	NotRun string // why it was not run: the end of a sentence; "" when it was
	Failed string // why it did not succeed: the end of a sentence; "" when it did
	Stdout []byte
}

// floor holds floorCmd to what may be executed.
func (j *Judge) floor(ctx context.Context, c Claim) (Floor, []report.Finding) {
	bad := func(why string) (Floor, []report.Finding) {
		return Floor{}, []report.Finding{j.config(FloorPath, c.FloorCmd.Span, fmt.Sprintf("The floorCmd %s of the claim %s is not run: %s.", j.quote(c.FloorCmd.Text), j.quote(c.ID), why),
			"Name a script of the project by its relative path, without arguments, and commit it. Then run "+j.in.WithExec+" where node is, or deselect claims.")}
	}
	if path.Clean(c.FloorCmd.Text) == "." {
		return bad("it names no file")
	}
	_, target, why := j.resolve(c.FloorCmd.Text)
	if why != "" {
		return bad(why)
	}
	e, err := j.in.Work.Stat(target)
	switch {
	case err != nil:
		return bad("there is no such file")
	case e.Kind != gate.Regular:
		return bad("it is " + e.Kind.Article() + ", a regular file is expected")
	}
	tracked, err := j.isTracked(ctx, target)
	switch {
	case err != nil:
		return bad("whether git tracks it is not known: " + j.clean(err.Error()))
	case !tracked:
		return bad("git does not track it")
	}
	return Floor{Script: target, claim: c}, nil
}

var floorNumber = regexp.MustCompile(`-?\d+`)

// judge makes the finding about how a script ended; nil when the claim holds.
func (f Floor) judge(j *Judge, r FloorResult) []report.Finding {
	at := f.claim.FloorCmd.Span
	script, id := j.clean(f.Script), j.quote(f.claim.ID)
	with := func(r *rule.Rule, span report.Span, message, remedy string) []report.Finding {
		return []report.Finding{r.At(j.in.Config.Path, span, message, report.WithFix(remedy, j.in.WithExec))}
	}
	switch {
	case r.NotRun != "":
		return with(FloorNotEvaluated, at, fmt.Sprintf("The claim %s is not proven: %s was not run, as %s.", id, script, j.clean(r.NotRun)),
			"Run "+j.in.WithExec+" where node is, or deselect claims with check.skip, in the action with governance-skip.")
	case r.Failed != "":
		return with(FloorFailed, at, fmt.Sprintf("%s, which counts the claim %s, did not succeed: %s.", script, id, j.clean(r.Failed)),
			"Run the script by hand with node and mend it, or deselect claims.")
	}
	floor := string(floorNumber.Find(r.Stdout))
	if floor == "" {
		return with(FloorNoNumber, at, fmt.Sprintf("%s, which counts the claim %s, printed no number.", script, id),
			"Have the script print the number it counted, or deselect claims.")
	}
	if conform.Compare(f.claim.Advertised.Text, floor) > 0 {
		return with(ExceedsFloor, f.claim.Advertised.Span, fmt.Sprintf("The claim %s advertises %s, and %s counted %s.", id, j.clean(f.claim.Advertised.Text), script, j.clean(floor)),
			fmt.Sprintf("Lower the advertised number, and the texts, to %s.", j.clean(floor)))
	}
	return nil
}
