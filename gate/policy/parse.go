package policy

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// maxProblems bounds what is listed of one section: a hostile file of 1 MiB can
// hold some hundred thousand broken entries, and nobody reads more than these.
const maxProblems = 50

// The built-in checks, whose ids a declared check may not take (aahp-verify.md 8.3).
const (
	LicenseMatches    = "license-matches"
	ManifestIntegrity = "manifest-integrity"
)

// maxColumnWork bounds the bytes read to count columns, see reader.at.
const maxColumnWork = 4 << 20

var (
	filePattern     = regexp.MustCompile(`^[A-Za-z0-9._@+ -]+(/[A-Za-z0-9._@+ -]+)*$`)
	workflowPattern = regexp.MustCompile(`^\.github/workflows/[A-Za-z0-9_-][A-Za-z0-9._-]*\.ya?ml$`)
	jobPattern      = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,99}$`)
	checkIDPattern  = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)
)

// IsCheckID tells whether a text has the form of a check's id.
func IsCheckID(s string) bool { return checkIDPattern.MatchString(s) }

// Parse reads one copy of aahp.config.json and judges it by all rules of
// aahp-verify.md 3.1 to 3.3. An absent file is the built-in policy, without a
// problem. So is one that is not regular: what that means differs between the
// copies and is for Resolve to say.
func Parse(doc gate.Document) Copy {
	c := Copy{Document: doc, Policy: BuiltIn()}
	whole := func(span report.Span, message string) {
		c.Problems = append(c.Problems, Problem{Section: WholeFile, Span: span, Message: message})
	}
	switch doc.State {
	case gate.Absent, gate.NotRegular:
		return c
	case gate.TooLarge:
		whole(report.Span{}, fmt.Sprintf("%s is larger than %d bytes", ConfigFile, gate.MaxConfig))
		return c
	case gate.Unreadable:
		whole(report.Span{}, ConfigFile+" cannot be read: "+safetext.Clean(doc.Err.Error()))
		return c
	case gate.Present:
	}
	root, err := jsondoc.Parse(doc.Data, jsondoc.Options{MaxDepth: gate.MaxDepth})
	if err != nil {
		span, message := jsonProblem(doc.Data, err)
		whole(span, ConfigFile+" is not valid: "+message)
		return c
	}
	if !root.Root.Is(jsondoc.Object) {
		whole(root.At(root.Root), fmt.Sprintf("%s holds %s, an object is expected", ConfigFile, root.Root.Kind.Article()))
		return c
	}
	c.HandoffImpact = root.Root.Get("handoffImpact")
	c.TrustTTL = root.Root.Get("trustTtl")

	budget := maxColumnWork
	impact := reader{doc: root, src: doc.Data, columns: &budget, section: HandoffImpact}
	reviewed, npm := impact.handoffImpact(c.HandoffImpact)
	c.Problems = append(c.Problems, impact.done()...)
	if c.Sound(HandoffImpact) {
		c.Policy.Reviewed, c.Policy.NPM = reviewed, npm
	}
	ttl := reader{doc: root, src: doc.Data, columns: &budget, section: TrustTTL}
	trust := ttl.trustTTL(c.TrustTTL)
	c.Problems = append(c.Problems, ttl.done()...)
	if c.Sound(TrustTTL) {
		c.Policy.Trust = trust
	}
	return c
}

// jsonProblem says where and why reading JSON stopped.
func jsonProblem(src []byte, err error) (report.Span, string) {
	var e *jsondoc.Error
	if !errors.As(err, &e) {
		return report.Span{}, safetext.Clean(err.Error())
	}
	message := e.Error()
	if e.Problem == jsondoc.EqualKeys {
		message = fmt.Sprintf("an object has the key %s twice", quote(e.Key))
	}
	return jsondoc.StoppedAt(src, err), message
}

func quote(s string) string { return `"` + safetext.Clean(s) + `"` }

// reader checks one section and gathers what it breaks.
type reader struct {
	doc      *jsondoc.Document
	src      []byte
	columns  *int // what is left of maxColumnWork
	section  Section
	problems []Problem
	more     int // problems beyond maxProblems
}

// at is the place of a value. Counting a column takes the length of the line up
// to it, which over the thousands of entries of a file on one line would be
// quadratic: when the budget is spent, places have a line and no column.
func (r *reader) at(v *jsondoc.Value) report.Span {
	if *r.columns <= 0 {
		return report.Span{Line: r.doc.Line(v.Off)}
	}
	*r.columns -= v.End - bytes.LastIndexByte(r.src[:v.Off], '\n')
	return r.doc.At(v)
}

// atKey is the place of a member's key.
func (r *reader) atKey(m jsondoc.Member) report.Span {
	return r.at(&jsondoc.Value{Kind: jsondoc.String, Off: m.KeyOff, End: m.KeyEnd})
}

func (r *reader) bad(span report.Span, message string) {
	if len(r.problems) == maxProblems {
		r.more++
		return
	}
	r.problems = append(r.problems, Problem{Section: r.section, Span: span, Message: message})
}

// done gives the problems; the last one counts those beyond the bound.
func (r *reader) done() []Problem {
	if r.more > 0 {
		r.problems = append(r.problems, Problem{
			Section: r.section,
			Message: fmt.Sprintf("%d more problems in this section are not listed", r.more),
		})
	}
	return r.problems
}

// expect reports v unless it is of the kind.
func (r *reader) expect(v *jsondoc.Value, kind jsondoc.Kind, path string) bool {
	if v.Is(kind) {
		return true
	}
	r.bad(r.at(v), fmt.Sprintf("%s is %s, %s is expected", path, v.Kind.Article(), kind.Article()))
	return false
}

// keys reports members of the object v outside the allowed ones, and required
// ones that it lacks.
func (r *reader) keys(v *jsondoc.Value, path string, required, optional []string) {
	for _, m := range v.Members {
		if !slices.Contains(required, m.Key) && !slices.Contains(optional, m.Key) {
			r.bad(r.atKey(m), fmt.Sprintf("%s has the key %s; allowed are %s", path, quote(m.Key),
				strings.Join(append(slices.Clone(required), optional...), ", ")))
		}
	}
	for _, k := range required {
		if v.Get(k) == nil {
			r.bad(r.at(v), fmt.Sprintf("%s lacks the key %q", path, k))
		}
	}
}

// text reads a string that no rule but its own applies to; ok is false where it
// is absent (reported by keys) or no string (reported here).
func (r *reader) text(object *jsondoc.Value, key, path string) (value *jsondoc.Value, ok bool) {
	v := object.Get(key)
	if v == nil {
		return nil, false
	}
	return v, r.expect(v, jsondoc.String, path+"."+key)
}

// reason checks a review reason: it must say something, and nothing invisible.
func (r *reader) reason(object *jsondoc.Value, path string) string {
	v, ok := r.text(object, "reason", path)
	if !ok {
		return ""
	}
	if strings.IndexFunc(v.Text, func(c rune) bool { return unicode.In(c, unicode.Cc, unicode.Cf) }) >= 0 {
		r.bad(r.at(v), path+".reason holds a control or format character")
		return ""
	}
	if strings.IndexFunc(v.Text, func(c rune) bool { return unicode.In(c, unicode.L, unicode.N) }) < 0 {
		r.bad(r.at(v), path+".reason holds no letter and no number, so it gives no reason")
		return ""
	}
	return v.Text
}

// pattern checks a string against an expression that it must match completely.
func (r *reader) pattern(object *jsondoc.Value, key, path string, re *regexp.Regexp, want string) string {
	v, ok := r.text(object, key, path)
	if !ok {
		return ""
	}
	if !re.MatchString(v.Text) {
		r.bad(r.at(v), fmt.Sprintf("%s.%s is %s, which is not %s", path, key, quote(v.Text), want))
		return ""
	}
	return v.Text
}

const (
	keyReviewed = "nonImpactingModifiedFiles"
	keyNPM      = "npmDevDependencyUpdates"
)

// handoffImpact reads the section of aahp-verify.md 3.2.
func (r *reader) handoffImpact(v *jsondoc.Value) ([]ReviewedFile, *NPMUpdates) {
	const path = "handoffImpact"
	if v == nil || !r.expect(v, jsondoc.Object, path) {
		return nil, nil
	}
	r.keys(v, path, nil, []string{keyReviewed, keyNPM})
	reviewed, npm := v.Get(keyReviewed), v.Get(keyNPM)
	if reviewed == nil && npm == nil {
		r.bad(r.at(v), fmt.Sprintf("%s has neither %q nor %q", path, keyReviewed, keyNPM))
	}
	var files []ReviewedFile
	if reviewed != nil {
		files = r.reviewedFiles(reviewed, path+"."+keyReviewed)
	}
	if npm == nil {
		return files, nil
	}
	return files, r.npmUpdates(npm, path+"."+keyNPM)
}

func (r *reader) reviewedFiles(v *jsondoc.Value, path string) []ReviewedFile {
	if !r.expect(v, jsondoc.Array, path) {
		return nil
	}
	files := make([]ReviewedFile, 0, len(v.Items))
	for i, item := range v.Items {
		path := fmt.Sprintf("%s[%d]", path, i)
		if !r.expect(item, jsondoc.Object, path) {
			continue
		}
		r.keys(item, path, []string{"file", "reason"}, nil)
		why := r.reason(item, path)
		file, ok := r.text(item, "file", path)
		if !ok {
			continue
		}
		if problem := fileProblem(file.Text); problem != "" {
			r.bad(r.at(file), fmt.Sprintf("%s.file is %s: %s", path, quote(file.Text), problem))
			continue
		}
		files = append(files, ReviewedFile{File: file.Text, Reason: why, Span: r.at(file)})
	}
	r.overlaps(files, path)
	return files
}

// fileProblem says what is wrong with the name of a reviewed file; "" if
// nothing is.
func fileProblem(file string) string {
	switch {
	case file == "":
		return "it is empty"
	case strings.TrimSpace(file) != file:
		return "it begins or ends with white space"
	case !filePattern.MatchString(file):
		return "an exact path is expected, relative to the project, of segments with letters, digits, . _ @ + - and blanks"
	}
	for segment := range strings.SplitSeq(file, "/") {
		if segment == "." || segment == ".." {
			return "it has the segment " + segment
		}
	}
	switch lower := strings.ToLower(file); {
	case lower == ConfigFile:
		return "the policy itself cannot be exempt"
	case lower == gate.HandoffDir, strings.HasPrefix(lower, gate.HandoffDir+"/"):
		return "the handoff folder cannot be exempt"
	}
	return ""
}

// overlaps reports names of which one, lower-cased, begins with another: they
// are easily taken for each other. Names are compared in sorted order, where
// everything that begins with a name follows it, so this takes n log n.
func (r *reader) overlaps(files []ReviewedFile, path string) {
	type name struct {
		lower string
		index int
	}
	names := make([]name, len(files))
	for i, f := range files {
		names[i] = name{strings.ToLower(f.File), i}
	}
	slices.SortStableFunc(names, func(a, b name) int { return strings.Compare(a.lower, b.lower) })
	var open []name // each begins with the one before it
	for _, n := range names {
		for len(open) > 0 && !strings.HasPrefix(n.lower, open[len(open)-1].lower) {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			a, b := open[len(open)-1].index, n.index
			if a > b {
				a, b = b, a
			}
			r.bad(files[b].Span, fmt.Sprintf("%s: %s and %s (line %d) are too alike: lower-cased, one begins with the other",
				path, quote(files[b].File), quote(files[a].File), files[a].Span.Line))
		}
		open = append(open, n)
	}
}

func (r *reader) npmUpdates(v *jsondoc.Value, path string) *NPMUpdates {
	if !r.expect(v, jsondoc.Object, path) {
		return nil
	}
	r.keys(v, path, []string{"reason", "supplyChainScan"}, nil)
	npm := &NPMUpdates{Reason: r.reason(v, path)}
	m, ok := v.Member("supplyChainScan")
	if !ok {
		return nil
	}
	npm.Span = r.atKey(m)
	scan, path := m.Value, path+".supplyChainScan"
	if !r.expect(scan, jsondoc.Object, path) {
		return nil
	}
	r.keys(scan, path, []string{"workflow", "job"}, nil)
	npm.Workflow = r.pattern(scan, "workflow", path, workflowPattern, "the path of a .yml or .yaml file directly in .github/workflows/")
	npm.Job = r.pattern(scan, "job", path, jobPattern, "the id of a job (the key below jobs: letters, digits, _ and -, at most 100)")
	return npm
}

// trustTTL reads the section of aahp-verify.md 3.3.
func (r *reader) trustTTL(v *jsondoc.Value) Trust {
	const path = "trustTtl"
	t := BuiltIn().Trust
	if v == nil || !r.expect(v, jsondoc.Object, path) {
		return t
	}
	r.keys(v, path, nil, []string{"enforce", "graceDays", "checks"})
	if e := v.Get("enforce"); e != nil {
		on, ok := e.Bool()
		if !ok {
			r.bad(r.at(e), fmt.Sprintf("%s.enforce is %s, true or false is expected", path, e.Kind.Article()))
		}
		t.Enforce = on
	}
	if g := v.Get("graceDays"); g != nil {
		days, ok := g.Float()
		if whole := int(min(max(days, -1), 366)); ok && float64(whole) == days && whole >= 0 && whole <= 365 {
			t.GraceDays = whole
		} else {
			r.bad(r.at(g), path+".graceDays must be a whole number from 0 to 365, as a number")
		}
	}
	if checks := v.Get("checks"); checks != nil {
		t.Checks = r.checks(checks, path+".checks")
	}
	return t
}

func (r *reader) checks(v *jsondoc.Value, path string) []DeclaredCheck {
	if !r.expect(v, jsondoc.Array, path) {
		return nil
	}
	checks := make([]DeclaredCheck, 0, len(v.Items))
	firstLine := make(map[string]int, len(v.Items)) // of each id
	for i, item := range v.Items {
		path := fmt.Sprintf("%s[%d]", path, i)
		if !r.expect(item, jsondoc.Object, path) {
			continue
		}
		r.keys(item, path, []string{"id", "run", "reason"}, nil)
		c := DeclaredCheck{
			ID:     r.pattern(item, "id", path, checkIDPattern, "an id (lower-case letters, digits and -, at most 64)"),
			Reason: r.reason(item, path),
		}
		if c.ID != "" {
			id := item.Get("id")
			if c.ID == LicenseMatches || c.ID == ManifestIntegrity {
				r.bad(r.at(id), fmt.Sprintf("%s.id is %q, which is a built-in check", path, c.ID))
			}
			if line, twice := firstLine[c.ID]; twice {
				r.bad(r.at(id), fmt.Sprintf("%s.id is %q, which line %d has already", path, c.ID, line))
			} else {
				firstLine[c.ID] = r.at(id).Line
			}
		}
		if run := item.Get("run"); run != nil && r.expect(run, jsondoc.Array, path+".run") {
			c.Run = r.argv(run, path+".run")
		}
		checks = append(checks, c)
	}
	return checks
}

func (r *reader) argv(v *jsondoc.Value, path string) []string {
	if len(v.Items) == 0 {
		r.bad(r.at(v), path+" is empty, a program and its arguments are expected")
	}
	argv := make([]string, 0, len(v.Items))
	for i, item := range v.Items {
		path := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case !r.expect(item, jsondoc.String, path):
		case item.Text == "":
			r.bad(r.at(item), path+" is empty")
		case strings.IndexFunc(item.Text, unicode.IsControl) >= 0:
			r.bad(r.at(item), path+" holds a control character")
		}
		argv = append(argv, item.Text)
	}
	return argv
}
