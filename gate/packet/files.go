package packet

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// verbatimKinds are the kinds of evidence that count word for word only.
var verbatimKinds = []string{"code_text", "verbatim_quote", "legal_text"}

// Need is a file of the workspace that checks 6 and 7 want to know about.
type Need struct {
	Path   string   // relative, with slashes, clean; it may still lead out by a link
	Pins   []string // the digests that it should have, lower-case hex
	Lines  bool     // how many lines it has matters
	Quotes []Quote
}

// Quote is a text that must occur in a file.
type Quote struct {
	Text  string
	Lines Lines
}

// Lines is a range of lines, 1-based and inclusive; the zero value is the whole
// file.
type Lines struct{ From, To int64 }

// FileState says what stands at a path of the workspace.
type FileState uint8

// The states of a File.
const (
	Missing FileState = iota // no regular file
	Present
	Escapes // a link on the way leads outside
)

// File is what is known of a file.
type File struct {
	State  FileState
	SHA256 [sha256.Size]byte // of its bytes
	LF     [sha256.Size]byte // of its bytes with CRLF as LF, where it has not all of Pins
	Lines  int64             // where they matter
	Quoted []bool            // for each quote of the Need, whether it occurs
}

// plan is what one reference or item wants of a file.
type plan struct {
	layer    int
	i        int  // index in its list
	escapes  bool // by its text alone
	need     int  // index in Judged.needs; -1 without one
	quote    int  // index in the need's quotes; -1 without one
	lines    Lines
	ranged   bool
	pinned   string // lower-case hex; "" without
	item     *jsondoc.Value
	path     string // as the packet spells it
	verbatim bool
	noRef    bool
}

// planFiles finds out which files checks 6 and 7 need.
func (c *Judged) planFiles() {
	byPath := map[string]int{}
	need := func(p *plan) {
		p.need, p.quote = -1, -1
		clean, ok := inside(p.path)
		if p.escapes = !ok; p.escapes {
			return
		}
		i, known := byPath[clean]
		if !known {
			i = len(c.needs)
			byPath[clean] = i
			c.needs = append(c.needs, Need{Path: clean})
		}
		p.need = i
		n := &c.needs[i]
		n.Lines = n.Lines || p.ranged
		if p.pinned != "" && !slices.Contains(n.Pins, p.pinned) {
			n.Pins = append(n.Pins, p.pinned)
		}
	}
	for i, ref := range member(c.h.inputs.v, fArtifactRefs).Items {
		p := plan{layer: artifacts, i: i, item: ref, path: text(ref, fPath), pinned: strings.ToLower(text(ref, fSHA256))}
		need(&p)
		c.plans = append(c.plans, p)
	}
	for i, item := range c.evidence() {
		quote := member(item, fQuote)
		if !c.verifying() && quote == nil {
			continue
		}
		p := plan{layer: evidence, i: i, item: item, pinned: strings.ToLower(text(item, fSHA256)), verbatim: isVerbatim(item), need: -1, quote: -1}
		ref := member(item, fRef)
		if p.noRef = ref == nil; !p.noRef {
			p.path, p.lines, p.ranged = splitRef(ref.Text)
			need(&p)
		}
		if quote != nil && quote.Text != "" && p.need >= 0 {
			n := &c.needs[p.need]
			p.quote = len(n.Quotes)
			n.Quotes = append(n.Quotes, Quote{Text: quote.Text, Lines: p.lines})
		}
		c.plans = append(c.plans, p)
	}
}

// Needs are the files that checks 6 and 7 want to know about, each once. Without a
// workspace there are none.
func (c *Judged) Needs() []Need {
	if !c.o.Workspace {
		return nil
	}
	return c.needs
}

// evidence gives the items of evidence.
func (c *Judged) evidence() []*jsondoc.Value {
	if v := member(c.h.acceptance.v, fEvidence); v != nil {
		return v.Items
	}
	return nil
}

// verifying tells whether evidence is verified that has no quote.
func (c *Judged) verifying() bool { return c.policy.verifyEvidence || c.o.VerifyEvidence }

func isVerbatim(item *jsondoc.Value) bool { return slices.Contains(verbatimKinds, text(item, fKind)) }

// inside judges a path by its text: ok is false where it is empty, absolute, a
// home folder, a drive, or has a backslash, a control character or "..". What it
// gives is clean, but for a slash at the end, behind which no file can be.
func inside(p string) (clean string, ok bool) {
	if p == "" || p[0] == '/' || p[0] == '~' || strings.ContainsRune(p, '\\') || strings.IndexFunc(p, unicode.IsControl) >= 0 {
		return "", false
	}
	if len(p) >= 2 && p[1] == ':' && (p[0] >= 'a' && p[0] <= 'z' || p[0] >= 'A' && p[0] <= 'Z') {
		return "", false
	}
	for segment := range strings.SplitSeq(p, "/") {
		if segment == ".." {
			return "", false
		}
	}
	clean = path.Clean(p)
	if strings.HasSuffix(p, "/") || strings.HasSuffix(p, "/.") {
		clean += "/"
	}
	return clean, true
}

// splitRef parts a ref at its first number sign. A fragment that is no range of
// lines is a label. A range that no file can have, from line 0 or one that ends
// before it begins, is given as it stands.
func splitRef(ref string) (p string, lines Lines, ranged bool) {
	p, fragment, found := strings.Cut(ref, "#")
	if !found || !strings.HasPrefix(fragment, "L") {
		return p, Lines{}, false
	}
	from, to, several := strings.Cut(fragment[1:], "-L")
	if !several {
		to = from
	}
	a, okA := line(from)
	b, okB := line(to)
	if !okA || !okB {
		return p, Lines{}, false
	}
	return p, Lines{a, b}, true
}

// farAway is a line that no file has.
const farAway = 1 << 62

func line(digits string) (int64, bool) {
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > farAway {
		n = farAway
	}
	return n, true
}

// has tells whether a file of that many lines has the range.
func (l Lines) has(lines int64) bool { return l.From >= 1 && l.From <= l.To && l.To <= lines }

// Files takes what is known of the files that Needs asked for, in its order, and
// runs checks 6 and 7.
func (c *Judged) Files(files []File) {
	c.checkArtifacts(files)
	c.checkEvidence(files)
}

func (c *Judged) checkArtifacts(files []File) {
	if !c.o.Workspace {
		c.reject(artifacts, workspaceRequired, c.doc.in(fInputs, fArtifactRefs), "the packet pins files, and no workspace was named to compare them with")
		return
	}
	for _, p := range c.plans {
		if p.layer != artifacts {
			continue
		}
		span := func() report.Span { return c.doc.in(fInputs, fArtifactRefs, p.i) }
		f := File{State: Escapes}
		if p.need >= 0 {
			f = files[p.need]
		}
		switch {
		case f.State == Escapes:
			c.reject(artifacts, artifactPathEscapesWorkspace, span(), "%s leads out of the workspace", show(p.path))
		case f.State == Missing:
			c.reject(artifacts, artifactMissing, span(), "%s is no regular file of the workspace", show(p.path))
		case p.pinned != "" && p.pinned != hex.EncodeToString(f.SHA256[:]):
			c.reject(artifacts, artifactHashMismatch, span(), "%s", p.mismatch(f))
		case p.pinned == "" && c.o.Strict:
			c.reject(artifacts, artifactUnpinned, span(), "%s has no sha256", show(p.path))
		case p.pinned == "":
			c.warn(artifacts, artifactUnpinned, span(), "%s has no sha256, so it may be exchanged at any time", show(p.path))
		}
	}
}

// mismatch says what a file has and should have, and whether only its line ends
// differ.
func (p *plan) mismatch(f File) string {
	s := show(p.path) + " is not the file that was pinned: its SHA-256 is " + hex.EncodeToString(f.SHA256[:]) + ", and " + p.pinned + " is pinned"
	if p.pinned == hex.EncodeToString(f.LF[:]) {
		s += "; with CRLF converted to LF it would fit, so only its line ends differ"
	}
	return s
}

func (c *Judged) checkEvidence(files []File) {
	c.requiredEvidence()
	for i, item := range c.evidence() {
		if v, ok := member(item, fVerbatim).Bool(); isVerbatim(item) && (!ok || !v) {
			c.reject(evidence, evidenceNotVerbatim, c.doc.in(fAcceptance, fEvidence, i), "the evidence of kind %s does not say \"verbatim\": true", show(text(item, fKind)))
		}
	}
	for _, p := range c.plans {
		if p.layer != evidence {
			continue
		}
		if !c.o.Workspace {
			c.reject(evidence, workspaceRequired, c.doc.in(fAcceptance, fEvidence), "evidence is to be verified, and no workspace was named")
			return
		}
		c.judgeEvidence(&p, files)
	}
}

func (c *Judged) requiredEvidence() {
	have := set{}
	for _, item := range c.evidence() {
		have[text(item, fKind)] = struct{}{}
	}
	for i, v := range c.h.requiredEvidence.Items {
		if !have.has(v.Text) {
			c.reject(evidence, evidenceMissing, c.doc.in(fAcceptance, fRequiredEvidence, i), "evidence of the kind %s is required, and there is none", show(v.Text))
		}
	}
}

func (c *Judged) judgeEvidence(p *plan, files []File) {
	span := func() report.Span { return c.doc.in(fAcceptance, fEvidence, p.i) }
	kind := show(text(p.item, fKind))
	if p.verbatim && p.pinned == "" {
		c.reject(evidence, verbatimEvidenceUnpinned, span(), "the evidence of kind %s has no sha256", kind)
	}
	if p.noRef {
		c.reject(evidence, evidenceUnreferenced, span(), "the evidence of kind %s has no ref", kind)
		return
	}
	f := File{State: Escapes}
	if p.need >= 0 {
		f = files[p.need]
	}
	ref := show(text(p.item, fRef))
	quote := member(p.item, fQuote)
	switch {
	case f.State == Escapes:
		c.reject(evidence, evidencePathEscapesWorkspace, span(), "%s leads out of the workspace", ref)
	case f.State == Missing:
		c.reject(evidence, evidenceRefMissing, span(), "%s is no regular file of the workspace", ref)
	case p.ranged && !p.lines.has(f.Lines):
		c.reject(evidence, evidenceRefMissing, span(), "%s is beyond the file, which has %d lines", ref, f.Lines)
	case p.pinned != "" && p.pinned != hex.EncodeToString(f.SHA256[:]):
		c.reject(evidence, evidenceHashMismatch, span(), "%s", p.mismatch(f))
	case quote != nil && quote.Text == "":
		c.reject(evidence, evidenceNotVerbatim, span(), "the quote is empty")
	case quote != nil && !f.Quoted[p.quote]:
		c.reject(evidence, evidenceNotVerbatim, span(), "the quote %s does not stand in %s word for word", show(quote.Text), ref)
	}
}
