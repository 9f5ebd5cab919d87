// Package integrity is layer 1 of an AAHP project: does the manifest index the
// handoff set, and do its checksums hold (aahp-verify.md 4).
package integrity

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
	"github.com/handoff-gate/handoff-gate/gate/rule"
	"github.com/handoff-gate/handoff-gate/gate/snapshot"
)

// ID and Title of the layer.
const (
	ID    = "integrity"
	Title = "Manifest integrity"
)

// Canonical are the handoff files that must be indexed when they are present.
var Canonical = []string{
	"STATUS.md", "NEXT_ACTIONS.md", "LOG.md", "LOG-ARCHIVE.md", "LOG-ARCHIVE.index.json", "DASHBOARD.md",
	"TRUST.md", "CONVENTIONS.md", "WORKFLOW.md", "GROUNDING.md", "pii-allowlist.json",
}

// Input is what layer 1 judges.
type Input struct {
	Project  string          // folder from the top level, or "."
	Sets     []*snapshot.Set // the snapshots of the level's row, each judged by itself
	Compare  bool            // at ci: say so when the checkout is another one than the commit
	Commands gate.Commands
}

// Judgement is the layer before the content checks, which are part of it, have
// been added.
type Judgement struct{ c checker }

// Judge judges every snapshot completely and reports what two of them share
// once.
func Judge(in Input) *Judgement {
	c := checker{in: in, seen: map[key]int{}, kept: map[string]int{}, dropped: map[string]map[string]int{}, failedFiles: map[string]bool{}, unread: make([]map[string]bool, len(in.Sets))}
	for i, set := range in.Sets {
		c.set = i
		c.unread[i] = map[string]bool{}
		c.judge(set)
	}
	if in.Compare && len(c.items) == 0 && len(in.Sets) == 2 {
		c.compare(in.Sets[0], in.Sets[1])
	}
	return &Judgement{c}
}

// Unread names the files of one snapshot, relative to the handoff folder, for
// which not-regular or unverifiable is reported, so that the content checks
// need not say it again.
func (j *Judgement) Unread(set int) map[string]bool { return j.c.unread[set] }

// Layer gives the finished layer, with what the content checks found and what
// they were.
func (j *Judgement) Layer(content []report.Finding, checked string) report.Layer {
	errors := 0
	for i := range content {
		if content[i].Severity == report.Error {
			errors++
		}
	}
	if errors > 0 {
		checked += ", " + plural.Of(errors, "error")
	}
	return report.Done(ID, Title, j.c.summary(checked), append(j.c.findings(), content...))
}

// key tells findings of two snapshots that are the same one.
type key struct{ rule, path, subject string }

type item struct {
	finding report.Finding
	sets    []string
}

type checker struct {
	in      Input
	set     int
	items   []item
	seen    map[key]int
	kept    map[string]int            // findings of each rule
	dropped map[string]map[string]int // by rule and snapshot, those above report.MaxOfRule

	indexed, verified int // of the first snapshot
	failedFiles       map[string]bool
	unread            []map[string]bool // by snapshot
}

func (c *checker) path(name string) string {
	return gate.Join(c.in.Project, gate.HandoffDir+"/"+name)
}

func (c *checker) add(r *rule.Rule, path, subject string, span report.Span, message, remedy, fix string) {
	name := c.in.Sets[c.set].Tree
	if r == NotRegular || r == Unverifiable {
		rel, _ := gate.Below(gate.Join(c.in.Project, gate.HandoffDir), path)
		c.unread[c.set][rel] = true
	}
	k := key{r.ID, path, subject}
	if i, ok := c.seen[k]; ok {
		if sets := c.items[i].sets; sets[len(sets)-1] != name {
			c.items[i].sets = append(sets, name)
		}
		return
	}
	if c.kept[r.ID] == report.MaxOfRule {
		if c.dropped[r.ID] == nil {
			c.dropped[r.ID] = map[string]int{}
		}
		c.dropped[r.ID][name]++
		return
	}
	c.kept[r.ID]++
	c.seen[k] = len(c.items)
	c.items = append(c.items, item{finding: r.At(path, span, message, report.WithFix(remedy, fix)), sets: []string{name}})
}

func (c *checker) findings() []report.Finding {
	var out report.Bounded
	for _, it := range c.items {
		f := it.finding
		if len(c.in.Sets) > 1 && f.Rule != UncommittedHandoff.ID {
			f.Message += " (in the " + strings.Join(it.sets, " and the ") + ")"
		}
		out.Add(f)
	}
	for rule, of := range c.dropped {
		most := 0
		for _, n := range of { // what several snapshots share counts once
			most = max(most, n)
		}
		out.Dropped(rule, report.Error, most)
	}
	return out.Findings()
}

func (c *checker) summary(checked string) string {
	names := make([]string, len(c.in.Sets))
	for i, s := range c.in.Sets {
		names[i] = s.Tree
	}
	return fmt.Sprintf("%d indexed, %d verified, %d failed; read from the %s; %s",
		c.indexed, c.verified, len(c.failedFiles), strings.Join(names, " and the "), checked)
}

// judge takes the steps of aahp-verify.md 4 for one snapshot.
func (c *checker) judge(set *snapshot.Set) {
	manifestPath := c.path("MANIFEST.json")
	if set.NotReal != "" {
		c.add(HandoffDirNotReal, gate.Join(c.in.Project, gate.HandoffDir), "", report.Span{},
			fmt.Sprintf("%s is %s, not a real folder, so nothing below it is read", safetext.Clean(set.NotReal), set.NotRealKind.Article()),
			"Make "+safetext.Clean(gate.Join(c.in.Project, gate.HandoffDir))+" a real folder of this repository that holds the handoff files themselves.", c.in.Commands.Again)
		return
	}
	m := set.Manifest
	switch m.State {
	case gate.Absent:
		c.add(ManifestMissing, manifestPath, "", report.Span{}, "there is no MANIFEST.json in the handoff folder",
			"Read "+c.diffCommand()+", then generate it; it indexes every handoff file with its checksum."+c.commit(), c.regen())
		return
	case gate.NotRegular:
		c.add(NotRegular, manifestPath, "", report.Span{}, "MANIFEST.json is "+m.Entry.Kind.Article()+", not a regular file",
			"Replace "+safetext.Clean(manifestPath)+" by a regular file of this repository.", c.in.Commands.Again)
		return
	case gate.TooLarge:
		c.add(ManifestInvalid, manifestPath, "", report.Span{}, fmt.Sprintf("MANIFEST.json is larger than its limit of %d MiB", gate.MaxManifest>>20),
			"Restore the committed manifest; if that one is as large, regenerate it with --force: "+c.in.Commands.Regen+" --force", c.restore(manifestPath))
		return
	case gate.Unreadable:
		c.add(Unverifiable, manifestPath, "", report.Span{}, "MANIFEST.json cannot be read: "+safetext.Clean(m.Err.Error()),
			"Make "+safetext.Clean(manifestPath)+" readable.", c.in.Commands.Again)
		return
	case gate.Present:
	}
	doc, bad := ParseManifest(m.Data)
	if bad != nil {
		c.add(ManifestInvalid, manifestPath, "", bad.Span, "MANIFEST.json cannot be used: "+bad.Message,
			"Restore the committed manifest; if that one is broken too, regenerate it with --force: "+c.in.Commands.Regen+" --force", c.restore(manifestPath))
		return
	}
	files, present := doc.Root.Member("files")
	if !present || files.Value.Kind != jsondoc.Object || len(files.Value.Members) == 0 {
		span, seen := report.Span{Line: 1}, "has no member files"
		if present {
			span = doc.AtKey(files)
			seen = "has a member files that is no object"
			if files.Value.Kind == jsondoc.Object {
				seen = "has an empty member files"
			}
		}
		c.add(IndexEmpty, manifestPath, "", span, "MANIFEST.json "+seen+": an index that lists nothing proves nothing",
			"Read "+c.diffCommand()+", then regenerate the manifest so that it indexes the handoff set."+c.commit(), c.regen())
		return
	}
	c.incomplete(doc, manifestPath)
	c.entries(set, doc, files.Value, manifestPath)
	c.unindexed(set, files.Value)
}

func (c *checker) restore(path string) string {
	return "git checkout HEAD -- " + safetext.ShellQuote(c.in.Commands.GitFile(path))
}

// diffCommand shows what changed: what is not committed yet, staged or not, and
// what is.
func (c *checker) diffCommand() string {
	of := "-- " + safetext.ShellQuote(c.in.Commands.GitFile(gate.Join(c.in.Project, gate.HandoffDir))) + "`"
	show := "`git diff " + of
	if c.judges(gate.IndexTree) {
		show += " and `git diff --cached " + of
	}
	return show + " (of what is committed: `git log -p " + of + ")"
}

// regen regenerates the manifest, and stages it where the index is judged.
func (c *checker) regen() string {
	if !c.judges(gate.IndexTree) {
		return c.in.Commands.Regen
	}
	handoff := c.in.Commands.Handoff
	if handoff == "" {
		handoff = safetext.ShellPath(gate.Join(c.in.Project, gate.HandoffDir))
	}
	return c.in.Commands.Regen + " && git add " + handoff
}

// commit is what is left to do where a commit is judged.
func (c *checker) commit() string {
	if c.judges(gate.HeadTree) {
		return " Then commit it: the commit is judged."
	}
	return ""
}

func (c *checker) judges(tree string) bool {
	return slices.ContainsFunc(c.in.Sets, func(s *snapshot.Set) bool { return s.Tree == tree })
}

// required are the top-level keys besides files.
var required = []string{"aahp_version", "project", "last_session", "quick_context"}

func (c *checker) incomplete(doc *jsondoc.Document, path string) {
	var missing []string
	for _, k := range required {
		if doc.Root.Get(k) == nil {
			missing = append(missing, k)
		}
	}
	if len(missing) > 0 {
		c.add(ManifestIncomplete, path, "", report.Span{Line: 1}, "MANIFEST.json lacks "+strings.Join(missing, ", "),
			"Regenerate the manifest; the generator writes every required key."+c.commit(), c.regen())
	}
}

// notBelow reports the component above an indexed name that is no real folder:
// what a link shows there is not read, and a person who looks finds a file.
func (c *checker) notBelow(set *snapshot.Set, name string) {
	for i, r := range name {
		if r != '/' {
			continue
		}
		if f := set.File(name[:i]); f != nil {
			c.add(HandoffDirNotReal, c.path(name[:i]), "", report.Span{},
				fmt.Sprintf("%s is %s, not a real folder, so nothing below it is read", safetext.Clean(name[:i]), f.Entry.Kind.Article()),
				"Make it a real folder that holds the handoff files themselves.", c.in.Commands.Again)
			return
		}
	}
}

var checksumForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

func (c *checker) entries(set *snapshot.Set, doc *jsondoc.Document, files *jsondoc.Value, manifestPath string) {
	lower := map[string]string{}
	for _, m := range files.Members {
		if c.set == 0 {
			c.indexed++
		}
		ok := c.entry(set, doc, m, manifestPath, lower)
		if !ok {
			c.failedFiles[m.Key] = true
		} else if c.set == 0 {
			c.verified++
		}
	}
}

// entry judges one entry of the index and tells whether it holds.
func (c *checker) entry(set *snapshot.Set, doc *jsondoc.Document, m jsondoc.Member, manifestPath string, lower map[string]string) bool {
	name, shown, span := m.Key, safetext.Clean(m.Key), report.Span{Line: doc.Line(m.KeyOff)}
	if why := unclean(name); why != "" {
		c.add(IndexPathInvalid, manifestPath, name, span, fmt.Sprintf("the index names %q, which %s", shown, why),
			report.In(safetext.Clean(manifestPath), span.Line, "Remove the entry, or regenerate the manifest: "+c.in.Commands.Regen), c.in.Commands.Again)
		return false
	}
	sound := true
	if first, twice := lower[strings.ToLower(name)]; twice {
		c.add(CaseCollision, manifestPath, name, span, fmt.Sprintf("the index names %q and %q, which differ only in letter case", safetext.Clean(first), shown),
			report.In(safetext.Clean(manifestPath), span.Line, "Keep one of the two names; on many disks they are the same file."), c.in.Commands.Again)
		sound = false
	} else {
		lower[strings.ToLower(name)] = name
	}
	path := c.path(name)
	f := set.File(name)
	switch {
	case f == nil:
		c.notBelow(set, name)
		message := fmt.Sprintf("%s is indexed, but there is no such file", shown)
		if c.committedOnly(name) {
			message += "; HEAD's tree has it, so in a sparse checkout add the pattern /" + safetext.Clean(path)
		}
		c.add(MissingFile, manifestPath, name, span, message,
			"Restore the file; if its removal is meant, regenerate the manifest: "+c.in.Commands.Regen, c.restore(path))
		return false
	case f.State == gate.NotRegular:
		c.add(NotRegular, path, name, report.Span{}, fmt.Sprintf("%s is %s, not a regular file", shown, f.Entry.Kind.Article()),
			"Replace "+safetext.Clean(path)+" by a regular file; the gate follows no link.", c.in.Commands.Again)
		return false
	case f.State == gate.TooLarge:
		c.add(Unverifiable, path, name, report.Span{}, fmt.Sprintf("%s is larger than the limit of %d MiB", shown, gate.MaxHandoffFile>>20),
			"Bring "+safetext.Clean(path)+" below the limit (a journal is rotated into its archive), then regenerate the manifest.", c.in.Commands.Again)
		return false
	case f.State != gate.Present:
		c.add(Unverifiable, path, name, report.Span{}, fmt.Sprintf("%s cannot be read: %s", shown, safetext.Clean(f.Err.Error())),
			"Make "+safetext.Clean(path)+" readable for the gate.", c.in.Commands.Again)
		return false
	}
	recorded := ""
	if v := m.Value.Get("checksum"); v.Is(jsondoc.String) {
		recorded = strings.TrimSuffix(v.Text, "\r")
	}
	if !checksumForm.MatchString(recorded) {
		c.add(ChecksumMalformed, manifestPath, name, span,
			fmt.Sprintf("the entry of %s has no checksum of the form sha256: and 64 lower-case hex digits", shown),
			"Regenerate the manifest; never write a checksum by hand."+c.commit(), c.regen())
		return false
	}
	if recorded != f.Digest {
		message := fmt.Sprintf("%s differs from its checksum: recorded %s (MANIFEST.json line %d), computed %s", shown, recorded, span.Line, f.Digest)
		if f.LFSPointer {
			message += "; the file is a Git LFS pointer, and handoff files do not belong in LFS, since the commit then holds only the pointer"
		}
		c.add(ChecksumMismatch, path, name, report.Span{Line: 1}, message,
			"FIRST look at what changed: "+c.diffCommand()+". Regenerating the manifest re-baselines whatever changed, tampering too, so do it only when every change is legitimate."+c.commit(),
			c.regen())
		return false
	}
	return sound
}

// committedOnly tells whether the commit that is judged has the file.
func (c *checker) committedOnly(name string) bool {
	for i, s := range c.in.Sets {
		if i != c.set && s.Tree == gate.HeadTree && s.File(name) != nil && c.in.Sets[c.set].Tree == gate.WorkingTree {
			return true
		}
	}
	return false
}

// unclean says what is wrong with a name of the index; "" when it is a clean
// relative path.
func unclean(name string) string {
	switch {
	case name == "":
		return "is empty"
	case strings.HasPrefix(name, "/"):
		return "is an absolute path"
	case strings.Contains(name, `\`):
		return "holds a backslash"
	case len(name) > 1 && name[1] == ':' && (name[0]|0x20 >= 'a' && name[0]|0x20 <= 'z'):
		return "begins with a drive letter"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "holds a control character"
	}
	for seg := range strings.SplitSeq(name, "/") {
		switch seg {
		case "":
			return "has an empty segment"
		case ".", "..":
			return "has a segment " + seg
		}
	}
	return ""
}

func (c *checker) unindexed(set *snapshot.Set, files *jsondoc.Value) {
	for _, name := range Canonical {
		if !set.Has(name) || files.Get(name) != nil {
			continue
		}
		c.failedFiles[name] = true
		if f := set.File(name); f == nil || f.Entry.Kind != gate.Regular && f.Entry.Kind != gate.Symlink {
			// No generator indexes it.
			c.add(Unindexed, c.path(name), name, report.Span{Line: 1}, name+" is in the handoff folder, but no regular file, and the manifest does not index it",
				"Put a regular file in the place of "+safetext.Clean(c.path(name))+", or remove it."+c.commit(), c.in.Commands.Again)
			continue
		}
		c.add(Unindexed, c.path(name), name, report.Span{Line: 1}, name+" is in the handoff folder, but the manifest does not index it",
			"FIRST review the file as you would a change: "+c.diffCommand()+"; none of them shows a file that git does not track, so read that. Then regenerate the manifest so that it is indexed."+c.commit(), c.regen())
	}
}

// compare reports handoff files that the checkout has otherwise than the
// commit. Both are consistent by themselves, so the commit was judged.
func (c *checker) compare(commit, checkout *snapshot.Set) {
	names := append([]string{}, Canonical...)
	for _, s := range []*snapshot.Set{commit, checkout} {
		if doc, bad := ParseManifest(s.Manifest.Data); bad == nil {
			if files := doc.Root.Get("files"); files.Is(jsondoc.Object) {
				for _, m := range files.Members {
					names = append(names, m.Key)
				}
			}
		}
	}
	done := map[string]bool{}
	for _, name := range names {
		if done[name] {
			continue
		}
		done[name] = true
		a, b := commit.File(name), checkout.File(name)
		what := "differs between the commit and the checkout"
		switch {
		case a == nil && b == nil:
			continue
		case a == nil:
			what = "is in the checkout only"
		case b == nil:
			what = "is in the commit only"
		case a.Digest == b.Digest:
			continue
		}
		c.add(UncommittedHandoff, c.path(name), name, report.Span{}, safetext.Clean(name)+" "+what+"; the commit was judged",
			"Commit the change, or undo what an earlier step of the job did to the checkout.", "")
	}
}

// Unusable is why a manifest cannot be used, and where.
type Unusable struct {
	Span    report.Span
	Message string
}

// ParseManifest reads MANIFEST.json under the rules of aahp-verify.md 3.1.
func ParseManifest(data []byte) (*jsondoc.Document, *Unusable) {
	doc, err := jsondoc.Parse(data, jsondoc.Options{MaxDepth: gate.MaxDepth})
	if err != nil {
		e := &Unusable{Message: err.Error()}
		var at *jsondoc.Error
		if errors.As(err, &at) {
			e.Span = report.Span{Line: jsondoc.StoppedAt(data, err).Line}
			if at.Problem == jsondoc.EqualKeys {
				e.Message += fmt.Sprintf(": %q", safetext.Clean(at.Key))
			}
		}
		return nil, e
	}
	if doc.Root.Kind != jsondoc.Object {
		return nil, &Unusable{Span: report.Span{Line: 1}, Message: "its top level is no object"}
	}
	return doc, nil
}
