package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/internal/digest"
	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// mdCopies are the lines of HANDOFF.md that repeat fields of the manifest.
var mdCopies = []struct {
	prefix, field string
	marks         []string
}{
	{"- raw sha256: ", "raw_sha256", nil},
	{"- manifest sha256: ", hashField, []string{"promoted_at", "federated_at", "prev_project"}},
	{"- incremental: revisions=", "revisions", []string{"prev_project"}},
}

// mdCopy is what was seen of one kind of line.
type mdCopy struct {
	line   int  // the last of the kind; 0 where there is none
	agrees bool // one of them is what the manifest says
}

// contractFields are the lines of an evidence contract, and their places in the
// list.
var contractFields = []string{"RESULT:", "WHAT_CHANGED:", "VALIDATION:", "EVIDENCE:", "BLOCKERS:", "RISKS:", "FOLLOW_UP:"}

const (
	resultField   = 0
	evidenceField = 3
)

// markdown is what was seen in HANDOFF.md. The transcript is quoted in it, so of
// what occurs twice the last counts.
type markdown struct {
	kinds  [3]mdCopy // as mdCopies
	fields [7]bool   // of the contract: there is one
	done   bool      // RESULT: DONE
	empty  bool      // EVIDENCE: and nothing more

	headings []int // the lines of the last headings of a contract
	sealed   int   // the last line that has the contract's hash; 0 for none
	before   []int // the headings above that line
}

// headSize is how much of a line is looked at. No line that counts is longer, but
// for blanks at its end.
const headSize = 256

// maxHeadings is how many headings of a contract are kept: those next to the seal.
const maxHeadings = 64

// render reads HANDOFF.md; nil where it is not there or cannot be read.
func (c *checker) render() *markdown {
	r := c.open(RenderName)
	if r == nil {
		return nil
	}
	defer r.Close()
	md := &markdown{}
	s := newScanner(r)
	defer s.close()
	s.empty = true
	head := make([]byte, 0, headSize)
	for s.next() {
		head = head[:0]
		blank, whole := true, true // what comes after head
		for p := s.part(); p != nil; p = s.part() {
			n := min(headSize-len(head), len(p))
			head = append(head, p[:n]...)
			if n < len(p) {
				whole = false
				blank = blank && len(bytes.TrimSpace(p[n:])) == 0
			}
		}
		c.mdLine(md, s.number, head, whole, blank)
	}
	if s.err != nil {
		c.broken(RenderName, "cannot be read: "+safetext.Clean(s.err.Error()))
		return nil
	}
	return md
}

// mdLine looks at one line. Of a longer one, head is the beginning, and blank tells
// whether only blanks follow.
func (c *checker) mdLine(md *markdown, number int, head []byte, whole, blank bool) {
	if len(head) == 0 {
		return
	}
	switch head[0] {
	case '-':
		for i, k := range mdCopies {
			rest, ok := bytes.CutPrefix(head, []byte(k.prefix))
			if !ok {
				continue
			}
			if i == 2 {
				c.revisionLine(md, number, rest)
			} else if whole && digest.IsSHA256(rest) {
				md.kinds[i].line = number
				want, isText := c.m.text(k.field)
				md.kinds[i].agrees = md.kinds[i].agrees || isText && want == string(rest)
			}
		}
		if bytes.HasPrefix(head, []byte(sealPrefix)) {
			md.sealed = number
			md.before = append(md.before[:0], md.headings...)
		}
	case '#':
		if bytes.HasPrefix(head, []byte(headingPrefix)) {
			if len(md.headings) == maxHeadings {
				md.headings = append(md.headings[:0], md.headings[1:]...)
			}
			md.headings = append(md.headings, number)
		}
	default:
		for i, name := range contractFields {
			if rest, ok := bytes.CutPrefix(head, []byte(name)); ok {
				md.fields[i] = true
				rest = bytes.TrimSpace(rest)
				switch i {
				case resultField:
					word, _, _ := bytes.Cut(rest, []byte{' '})
					md.done = string(word) == "DONE"
				case evidenceField:
					md.empty = len(rest) == 0 && blank
				}
			}
		}
	}
}

const (
	headingPrefix = "## Evidence contract"
	sealPrefix    = "- contract sha256: "
)

// revisionLine reads the number after "- incremental: revisions=".
func (c *checker) revisionLine(md *markdown, number int, rest []byte) {
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	if n == 0 {
		return
	}
	md.kinds[2].line = number
	want, ok := c.m.value("revisions").Number()
	digits := bytes.TrimLeft(rest[:n-1], "0")
	got := ecma.Number(append(digits[:len(digits):len(digits)], rest[n-1]))
	md.kinds[2].agrees = md.kinds[2].agrees || ok && got == want
}

// judgeContract judges the evidence contract and the promotion that rests on it
// (sessions.md 7.5).
func (c *checker) judgeContract(md *markdown) {
	if c.bad[RenderName] {
		return
	}
	if md == nil {
		md = &markdown{}
	}
	if c.m.has("evidence_contract_sha256") {
		want, _ := c.m.text("evidence_contract_sha256")
		if !c.sealed(md, want) {
			c.add(EvidenceContractChanged, c.file(RenderName), report.Span{},
				fmt.Sprintf("no evidence contract in %s has the hash that the manifest records, %s", RenderName, shown(c.m.value("evidence_contract_sha256"))),
				"Rebuild the session to seal the edited contract.")
		}
	}
	if promoted, _ := c.m.text("promoted_gate"); promoted != "VERIFIED" {
		return
	}
	var lacks []string
	for i, name := range contractFields {
		if !md.fields[i] {
			lacks = append(lacks, name)
		}
	}
	message := ""
	switch {
	case len(lacks) > 0:
		message = RenderName + " lacks " + strings.Join(lacks, " ")
	case md.done && md.empty:
		message = RenderName + " says RESULT: DONE, and its EVIDENCE: is empty"
	default:
		return
	}
	c.add(PromotionUnsupported, c.file(RenderName), report.Span{}, "promoted_gate is \"VERIFIED\", but "+message, "Restore the contract, or promote the session again.")
}

// maxHashed bounds what is hashed to find the contract below one of its headings.
const maxHashed = 1 << 30

// sealed tells whether a block of the contract has that hash. The headings are
// tried from the seal upwards, where the real one is the first.
func (c *checker) sealed(md *markdown, want string) bool {
	if md.sealed == 0 || len(md.before) == 0 {
		return false
	}
	hashed := int64(0)
	for i := len(md.before) - 1; i >= 0 && hashed < maxHashed; i-- {
		sum, n := c.block(md.before[i]+2, md.sealed-2)
		if sum == want {
			return true
		}
		hashed += n
	}
	return false
}

// block hashes lines of HANDOFF.md, joined by LF, and tells how much was read.
func (c *checker) block(first, last int) (sum string, read int64) {
	r := c.open(RenderName)
	if r == nil {
		return "", maxHashed
	}
	defer r.Close()
	counted := &countingReader{r: r}
	s := newScanner(counted)
	defer s.close()
	s.empty = true
	h := sha256.New()
	d := ecma.NewDecoder(h)
	for s.next() && s.number <= last {
		if s.number < first {
			continue
		}
		if s.number > first {
			h.Write([]byte{'\n'})
		}
		for p := s.part(); p != nil; p = s.part() {
			_, _ = d.Write(p) // a hash takes everything
		}
		_ = d.Flush()
	}
	return hex.EncodeToString(h.Sum(nil)), counted.n
}

type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
