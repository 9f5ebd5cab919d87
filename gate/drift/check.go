// Package drift is layer 2 of verify: does a change touch anything outside the
// handoff folder that the handoff must describe, without updating STATUS.md and
// MANIFEST.json (aahp-verify.md 3, 5 and 6)?
package drift

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/digest"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/policy"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
)

// ID and Title name the layer in a report.
const (
	ID    = "drift"
	Title = "Content drift"
)

// Input is what the layer judges. Trees and changes are those of the whole
// repository; the layer takes what lies below Project.
type Input struct {
	Project    string // "." or a folder such as "packages/api"
	Level      gate.Level
	Repository bool // the project is in a git repository
	// Refused says why there is no repository: git may refuse the one that is
	// there. It may be nil.
	Refused error

	// Base is what HEAD is compared with. It is not looked at where precommit
	// compares the head tree with the index.
	Base gate.Base
	// NoChangeSet says why there rightly is nothing to compare: a scheduled run.
	// The layer is skip then, unless the policy itself has a finding.
	NoChangeSet string
	// Given are findings of the search for the base that stand in this layer.
	// With an error among them nothing is compared.
	Given []report.Finding

	Changes []gate.Change // base tree to head tree; none at precommit
	Staged  []gate.Change // head tree to index
	DiffErr error         // why Changes or Staged could not be had

	Policies policy.Policies

	OldSide  gate.Tree // the base tree, at precommit the head tree; nil without one
	HeadTree gate.Tree // nil where HEAD does not resolve
	NewSide  gate.Tree // the index, at ci the head tree; nil without one

	Commands gate.Commands
}

// pair are the files that a change of anything else must bring along.
var pair = [2]string{gate.HandoffDir + "/STATUS.md", gate.ManifestFile}

const inside = gate.HandoffDir + "/"

// maxListed is how many impacting changes the message names.
const maxListed = 20

// maxSample is how many impacting changes are kept to be named: more than
// maxListed, so that the two halves of a rename can find each other.
const maxSample = 64

// Check judges one project.
func Check(in Input) report.Layer {
	c := &checker{Input: in, findings: slices.Clone(in.Given)}
	summary := c.run()
	if in.NoChangeSet != "" && in.Repository && len(c.findings) == 0 {
		return report.Skipped(ID, Title, in.NoChangeSet)
	}
	return report.Done(ID, Title, summary, c.findings)
}

// Alone is the layer of a run that verifies no project, but sessions or packets:
// what was found on the way to a base, and nothing compared. ok is false where
// nothing was found.
func Alone(in Input) (l report.Layer, ok bool) {
	c := &checker{Input: in, findings: slices.Clone(in.Given)}
	blocked := slices.ContainsFunc(c.Given, func(f report.Finding) bool { return f.Severity == report.Error })
	if in.NoChangeSet == "" && !blocked && !c.Base.Known() {
		c.baseFinding()
	}
	return report.Done(ID, Title, "there is no project whose handoff could be compared", c.findings), len(c.findings) > 0
}

// checker is one run of the layer.
type checker struct {
	Input
	findings []report.Finding
}

// run gathers the findings and gives the summary.
func (c *checker) run() string {
	if !c.Repository {
		message := "There is no change to judge"
		if c.Refused != nil {
			message += ": the project's folder is " + safetext.Clean(c.Refused.Error())
		} else {
			message += ": the project is not in a git repository"
		}
		c.fail(NotARepository, c.manifest(), report.Span{}, message+".",
			"Run the gate inside the project's git repository, with git in PATH.")
		return "not evaluated: not in a git repository"
	}
	c.configFindings()
	sound := c.proveReviewed()
	classifies := sound && c.Policies.Classifies()
	scan := c.proveScanner()

	if c.NoChangeSet != "" {
		return "nothing was compared: " + c.NoChangeSet + scan.note()
	}
	if why := c.incomparable(); why != "" {
		return "not evaluated: " + why
	}
	return c.judge(classifies, scan) + scan.note()
}

// add notes a finding with the severity of its rule.
func (c *checker) add(r *rule.Rule, path string, at report.Span, message, remedy string) {
	c.findings = append(c.findings, r.At(path, at, message, remedy))
}

// fail notes an error whose fix is an edit, or another base, and then this gate
// once more.
func (c *checker) fail(r *rule.Rule, path string, at report.Span, message, remedy string) {
	c.add(r, path, at, message, report.WithFix(remedy, c.Commands.Again))
}

func (c *checker) path(rel string) string { return gate.Join(c.Project, rel) }
func (c *checker) manifest() string       { return c.path(pair[1]) }
func (c *checker) config() string         { return c.path(policy.ConfigFile) }

// diffFailed reports what could not be read of the two sides.
func (c *checker) diffFailed(what string, err error) {
	remedy := "Make git able to compare the two: every tree, and the blobs of the files that are compared, must be in this clone."
	if c.Base.Shallow {
		remedy += " This clone is shallow: fetch the base commit, or check out with fetch-depth: 0."
	}
	c.fail(DiffFailed, c.manifest(), report.Span{}, what+": "+safetext.Clean(err.Error()), remedy)
}

// incomparable says why there is nothing to compare, after reporting it; ""
// when the change set is there. Only the first reason is reported.
func (c *checker) incomparable() string {
	for _, f := range c.Given {
		if f.Severity == report.Error {
			return "no base could be settled on"
		}
	}
	if c.Level != gate.Precommit && !c.Base.Known() {
		c.baseFinding()
		return "no usable base"
	}
	switch {
	case c.DiffErr != nil:
		c.diffFailed("The change set cannot be read", c.DiffErr)
	case c.Policies.BaseErr != nil:
		c.diffFailed("The base's "+policy.ConfigFile+" cannot be read", c.Policies.BaseErr)
	case c.NewSide == nil, c.HeadTree == nil && c.Level != gate.Precommit:
		c.diffFailed("The change set cannot be read", errNoTree)
	case slices.ContainsFunc(c.Policies.Config, func(p policy.ConfigProblem) bool { return p.Kind == policy.Unavailable }):
		// Reported with the other problems of the policy.
	default:
		return ""
	}
	return "the two sides cannot be compared"
}

// baseFinding reports why there is no base. A base that is neither known nor
// explained is one that nobody has chosen.
func (c *checker) baseFinding() {
	row, ok := baseRows[c.Base.Problem]
	if !ok {
		row = baseRows[gate.BaseRequired]
	}
	message, remedy := c.Base.Message, c.Base.Remedy
	if message == "" {
		message = row.message
		if d := safetext.Cut(c.Base.Detail, maxDetail); d != "" {
			message += ": " + d
		}
		message += "."
	}
	if remedy == "" {
		remedy = row.remedy
		if c.Base.Problem == gate.BaseMissing && c.Base.Shallow {
			remedy = "This clone is shallow: fetch the base commit (git fetch --depth=1 origin ID), or check out with fetch-depth: 0."
		}
	}
	c.fail(row.rule, c.manifest(), report.Span{}, message, remedy)
}

// maxDetail is how many characters of a given base a message shows
// (github-action.md 3).
const maxDetail = 80

var baseRows = map[gate.BaseProblem]struct {
	rule            *rule.Rule
	message, remedy string
}{
	gate.HeadMissing: {HeadMissing, "HEAD names no commit", "Make a first commit, then run the gate again."},
	gate.BaseRequired: {
		BaseRequired, "No base commit was given, and at this level none is guessed",
		"Pass the base commit's id with --base or AAHP_BASE_SHA: of a pull request the base's, of a push the one before it. `git merge-base HEAD TARGET` prints the commit at which a branch left TARGET.",
	},
	gate.BaseMalformed: {
		BaseMalformed, "The base is not a commit id of 7 to 64 hex digits",
		"Pass a hexadecimal commit id, as `git rev-parse NAME` prints it; no branch, no tag and no expression such as HEAD~1.",
	},
	gate.BaseZero: {
		BaseZero, "The base is all zeros, which names no commit",
		"For a new branch pass the commit that it left from.",
	},
	gate.BaseMissing: {
		BaseMissing, "The base names no commit of this clone",
		"Fetch that commit, or pass the id of one that exists here.",
	},
	gate.BaseIsHead: {
		BaseIsHead, "The base is HEAD itself, so nothing would be compared",
		"Pass the commit before the change, not HEAD.",
	},
}

// configFindings reports what is wrong with the copies of the policy
// (aahp-verify.md 3).
func (c *checker) configFindings() {
	file := safetext.Clean(report.ValidPath(c.config()))
	for _, p := range c.Policies.Config {
		switch p.Kind {
		case policy.Untracked:
			c.fail(ConfigUntracked, c.config(), p.Span, p.Message+".", "Add "+file+" to git, or remove it.")
		case policy.Irregular:
			c.fail(ConfigNotRegular, c.config(), p.Span, p.Message+".", "Make "+file+" a regular file that git tracks, with its merge conflict resolved if it has one.")
		case policy.Unstaged:
			c.fail(ConfigUnstaged, c.config(), p.Span, p.Message+".", "Stage the change of "+file+" (at ci: commit it), or discard it.")
		case policy.Invalid:
			c.fail(ConfigInvalid, c.config(), p.Span, p.Message+".", "Correct "+place(file, p.Span)+": "+p.Message+".")
		case policy.Unavailable:
			c.fail(DiffFailed, c.manifest(), p.Span, p.Message+".", "Make git able to read it: the clone must hold the blob.")
		}
	}
	if c.Policies.BaseBroken {
		c.add(BaseConfigInvalid, c.config(), report.Span{},
			policy.ConfigFile+" of the base is broken, so the built-in policy is applied in its place and nothing is exempt: "+c.baseProblem()+".",
			"Update the handoff with this change: nothing is exempt until a sound policy is merged.")
	}
	if c.Policies.Changed {
		c.add(PolicyChanged, c.config(), report.Span{},
			"handoffImpact or trustTtl differs from the base's. The base's policy judged this change; the new one takes effect after the merge.", "")
	}
}

// place names a file and, where it is known, a line of it.
func place(file string, at report.Span) string {
	if at.Line == 0 {
		return file
	}
	return fmt.Sprintf("%s, line %d", file, at.Line)
}

// baseProblem says in a clause what is wrong with the base's copy.
func (c *checker) baseProblem() string {
	base := c.Policies.Base
	if len(base.Problems) == 0 {
		return "it is " + base.Document.Entry.Kind.Article()
	}
	first := base.Problems[0]
	text := first.Message
	if first.Span.Line > 0 {
		text = fmt.Sprintf("line %d there: %s", first.Span.Line, text)
	}
	if more := len(base.Problems) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

// record is a change that counts for this project.
type record struct {
	*gate.Change
	rel    string // relative to the project
	staged bool   // from head tree to index
}

// set is the project's change set, as far as the verdict needs it: counts, and
// a few records.
type set struct {
	outside   int // records outside the handoff folder
	impacting int // of these, not reviewed
	sample    []record
	pair      [2][]record
	lock      bool // package-lock.json is modified and impacting
}

// judge is 5.3 to 5.5 and 6.2; it gives the summary.
func (c *checker) judge(classifies bool, scan scanner) string {
	s := c.collect(classifies)
	since := c.since()
	switch {
	case s.outside == 0:
		return "no change outside " + gate.HandoffDir + since
	case s.impacting == 0:
		return plural.Of(s.outside, "change") + " outside " + gate.HandoffDir + since + ", all of reviewed files"
	}
	outside := plural.Of(s.impacting, "impacting change") + " outside " + gate.HandoffDir + since
	var missing []int
	for i := range pair {
		touched, err := c.touched(s.pair[i])
		if err != nil {
			c.diffFailed(fmt.Sprintf("%s cannot be compared", pair[i]), err)
			return outside + "; whether the handoff was updated cannot be told"
		}
		if !touched {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		with := "them"
		if s.impacting == 1 {
			with = "it"
		}
		return outside + ", and the handoff was updated with " + with
	}
	if classifies && scan.proven && s.lock && c.Policies.Applied.NPM != nil {
		granted, err := c.npmUpdate()
		if err != nil {
			c.diffFailed("The npm lock file or manifest cannot be compared", err)
			return outside + "; whether they are npm development updates cannot be told"
		}
		if granted {
			return plural.Of(s.outside, "change") + " outside " + gate.HandoffDir + since + ", an npm devDependency update that needs no handoff"
		}
	}
	c.notUpdated(s, missing)
	return outside + ", but the handoff was not updated"
}

func (c *checker) since() string {
	switch {
	case c.Level == gate.Precommit:
		return " in the index"
	case c.Base.Empty:
		return " since the empty tree"
	}
	text := " since " + c.Base.ID[:min(12, len(c.Base.ID))]
	if c.Base.Source != "" {
		text += " (" + safetext.Clean(c.Base.Source) + ")"
	}
	return text
}

// collect goes once over all changes. It allocates for the few that are kept,
// not for each.
func (c *checker) collect(classifies bool) *set {
	s := &set{}
	var reviewed map[string]*review
	if classifies && len(c.Policies.Applied.Reviewed) > 0 {
		reviewed = make(map[string]*review, len(c.Policies.Applied.Reviewed))
		for _, f := range c.Policies.Applied.Reviewed {
			reviewed[f.File] = &review{reason: f.Reason}
		}
	}
	for i := range c.Changes {
		c.sort(s, &c.Changes[i], false, reviewed)
	}
	for i := range c.Staged {
		c.sort(s, &c.Staged[i], true, reviewed)
	}
	return s
}

// review is the applied policy's word on one file, and what was reported of it.
type review struct {
	reason                string
	exempted, modeChanged bool
}

// sort puts one change where it belongs.
func (c *checker) sort(s *set, ch *gate.Change, staged bool, reviewed map[string]*review) {
	rel, ok := gate.Below(c.Project, ch.Path)
	if !ok {
		return
	}
	if strings.HasPrefix(rel, inside) {
		for i := range pair {
			if rel == pair[i] {
				s.pair[i] = append(s.pair[i], record{ch, rel, staged})
			}
		}
		return
	}
	s.outside++
	if reviewed != nil && ch.Status == 'M' {
		if r := reviewed[rel]; r != nil && c.exempt(r, ch) {
			return
		}
	}
	s.impacting++
	if len(s.sample) < maxSample {
		s.sample = append(s.sample, record{ch, rel, staged})
	}
	if ch.Status == 'M' && rel == lockFile {
		s.lock = true
	}
}

// exempt applies a review to a modification of its file (5.4).
func (c *checker) exempt(r *review, ch *gate.Change) bool {
	switch {
	case ch.OldMode != ch.NewMode:
		if !r.modeChanged {
			r.modeChanged = true
			c.add(ReviewedModeChange, ch.Path, report.Span{},
				fmt.Sprintf("The file is reviewed as non-impacting, but its mode changed from %o to %o, so the review does not apply.", ch.OldMode, ch.NewMode),
				"Undo the mode change, or update the handoff with it.")
		}
		return false
	case !regular(ch.NewMode), ch.OldID == ch.NewID:
		return false
	}
	if !r.exempted {
		r.exempted = true
		c.add(ReviewedNonImpacting, ch.Path, report.Span{},
			"Reviewed as non-impacting: "+safetext.Clean(strings.TrimSpace(r.reason)), "")
	}
	return true
}

// regular tells whether a git mode is one of a regular file.
func regular(mode uint32) bool { return mode == 0o100644 || mode == 0o100755 }

// touched tells whether one of the records gives a member of the pair new
// content (5.3). A deletion does not, nor a mode change or line ends alone; at ci
// nothing staged does, as it is not part of what will be merged.
func (c *checker) touched(records []record) (bool, error) {
	for _, r := range records {
		if r.staged && c.Level == gate.CI || !regular(r.NewMode) {
			continue
		}
		if !regular(r.OldMode) {
			return true, nil
		}
		if r.OldID == r.NewID {
			continue
		}
		old, current := c.OldSide, c.HeadTree
		if r.staged {
			old, current = c.HeadTree, c.NewSide
		}
		differ, err := contentDiffers(old, current, r.Path)
		if differ || err != nil {
			return differ, err
		}
	}
	return false, nil
}

// contentDiffers compares a file between two trees, CR-free. The two are read
// one after the other: a tree need not have two of its files open at once.
func contentDiffers(old, current gate.Tree, path string) (bool, error) {
	a, err := digestOf(old, path)
	if err != nil {
		return false, err
	}
	b, err := digestOf(current, path)
	return a != b, err
}

// digestOf is the digest of a file's content, CR-free.
func digestOf(t gate.Tree, path string) (string, error) {
	if t == nil {
		return "", errNoTree
	}
	r, _, err := t.Open(path)
	if err != nil {
		return "", err
	}
	defer r.Close()
	sum := digest.NewCRFree()
	if _, err := io.Copy(sum, r); err != nil {
		return "", err
	}
	return sum.String(), nil
}

// notUpdated is the verdict against the change (5.5).
func (c *checker) notUpdated(s *set, missing []int) {
	names := make([]string, len(missing))
	for i, m := range missing {
		names[i] = strings.TrimPrefix(pair[m], inside)
	}
	handoff := c.Commands.Handoff
	if handoff == "" {
		handoff = safetext.ShellPath(c.path(gate.HandoffDir))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Handoff-impacting files changed but handoff state did not: no new content in %s. Impacting changes:", strings.Join(names, " and "))
	c.list(&b, s)
	c.add(HandoffNotUpdated, c.path(pair[missing[0]]), report.Span{}, b.String(),
		report.WithFix("Describe the change in "+safetext.Clean(report.ValidPath(c.path(pair[0])))+
			", regenerate the manifest, and commit both with the change.", c.Commands.Regen+" && git add "+handoff))
}

// list writes up to maxListed impacting changes, one a line, and how many more
// there are. A deletion and an addition of the same content are one line.
func (c *checker) list(b *strings.Builder, s *set) {
	used := make([]bool, len(s.sample))
	listed, covered := 0, 0
	for i, r := range s.sample {
		if used[i] {
			continue
		}
		if listed == maxListed {
			break
		}
		listed++
		covered++
		b.WriteByte('\n')
		if j := c.movedTo(s.sample, used, i); j >= 0 {
			used[j] = true
			covered++
			from, to := r, s.sample[j]
			if from.Status == 'A' {
				from, to = to, from
			}
			fmt.Fprintf(b, "R %s -> %s", shown(from.rel), shown(to.rel))
		} else {
			fmt.Fprintf(b, "%c %s", r.Status, shown(r.rel))
		}
		if r.Status == 'M' && r.OldMode != r.NewMode {
			fmt.Fprintf(b, " (mode %o -> %o)", r.OldMode, r.NewMode)
		}
		if r.staged && c.Level == gate.CI {
			b.WriteString(" (staged, not committed)")
		}
	}
	if more := s.impacting - covered; more > 0 {
		fmt.Fprintf(b, "\nand %d more", more)
	}
}

// movedTo finds the other half of a rename without change: an A for a D, or a D
// for an A, with the same id; -1 when there is none.
func (c *checker) movedTo(sample []record, used []bool, i int) int {
	r := sample[i]
	for j := i + 1; j < len(sample); j++ {
		o := sample[j]
		if used[j] || o.staged != r.staged {
			continue
		}
		if r.Status == 'D' && o.Status == 'A' && r.OldID == o.NewID || r.Status == 'A' && o.Status == 'D' && r.NewID == o.OldID {
			return j
		}
	}
	return -1
}

// shown is a path as a message shows it.
func shown(p string) string { return safetext.Clean(report.ValidPath(p)) }
