package lint

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// allowlistFile is the name of the allowlist (aahp-lint.md 6).
const allowlistFile = "pii-allowlist.json"

// finishJSON scans a whole JSON file: its bytes, then its decoded strings.
func (s *Scanner) finishJSON() {
	data := s.buf
	s.blocks(data)
	if s.outside {
		return
	}
	bytesFound := s.hits
	s.hits = hitList{}

	d := decodedScan{s: s, data: data, places: newPlacer(data, 1)}
	d.scan.checks = s.scan.checks
	d.scan.path = s.name
	if s.utf16 != nil {
		d.scan.checks = checksFor(s.name, true, s.opts)
	}
	d.escapedOnly = len(bytesFound.hits) == 0 && len(bytesFound.exempt) == 0 && s.utf16 == nil &&
		s.opts.Secrets != Extended && plainASCII(data)
	err := jsondoc.Scan(data, jsondoc.Options{MaxDepth: gate.MaxHandoffDepth, KeepEqualKeys: true}, d.token)
	d.flush()

	failed := err != nil
	if !failed {
		// The decoded strings hold every address there is.
		bytesFound.remove(PII.ID)
		bytesFound.exempt = nil
	}
	bytesFound.dropRepeated(s.hits.hits)
	for _, h := range bytesFound.hits {
		s.hits.add(h)
	}
	for rule, n := range bytesFound.left {
		s.hits.leave(rule, n)
	}
	for a := range bytesFound.exempt {
		s.hits.addExempt(a)
	}

	if s.name == allowlistFile {
		s.result.allowlist = parseAllowlist(data)
		return
	}
	var problem *jsondoc.Error
	if errors.As(err, &problem) && s.name != "MANIFEST.json" {
		s.hits.add(Hit{
			Rule: JSONInvalid, Severity: JSONInvalid.Severity, Span: placeOf(data, problem),
			Message: "not valid JSON, so its escaped text could not be read: " + problem.Error(),
		})
	}
}

// placeOf gives the place where reading a document stopped.
func placeOf(data []byte, e *jsondoc.Error) report.Span {
	off := min(e.Offset, len(data))
	end := off
	if off < len(data) && data[off] != '\n' {
		end = off + 1
		for end < len(data) && data[end]&0xc0 == 0x80 && data[off] >= 0xc0 && end-off < 4 {
			end++
		}
	}
	if off == len(data) && off > 0 && data[off-1] == '\n' {
		off-- // The last line ended with that LF.
		end = off
	}
	return newPlacer(data, 1).span(off, end)
}

// blocks scans data in blocks of whole lines, as Write does, without copying.
func (s *Scanner) blocks(data []byte) {
	for from, keep := 0, 0; from < len(data) || !s.begun; {
		end := len(data)
		if next := from + s.size; next < end {
			if n := bytes.IndexByte(data[next:], '\n'); n >= 0 {
				end = next + n + 1
			}
		}
		s.context = from - keep
		s.scanBlock(data[keep:end])
		was := keep
		keep = end
		for range joinedLines {
			if keep > 0 {
				keep = bytes.LastIndexByte(data[:keep-1], '\n') + 1
			}
		}
		if end-keep > contextLimit {
			keep = end
		}
		keep = max(keep, was)
		s.line += bytes.Count(data[was:keep], []byte{'\n'})
		from = end
	}
}

// plainASCII tells whether data is printable ASCII, tabs and line ends.
func plainASCII(data []byte) bool {
	for _, b := range data {
		if b >= 0x7f || b < 0x20 && b != '\t' && b != '\n' && b != '\r' {
			return false
		}
	}
	return true
}

// remove drops all hits of a rule.
func (l *hitList) remove(id string) {
	l.hits = slices.DeleteFunc(l.hits, func(h Hit) bool { return h.Rule.ID == id })
	delete(l.left, id)
}

// leave counts hits that another list did not keep.
func (l *hitList) leave(rule string, n int) {
	if l.left == nil {
		l.left = map[string]int{}
	}
	l.left[rule] += n
}

// decodedScan scans the strings and keys of a JSON file, one by one.
type decodedScan struct {
	s           *Scanner
	scan        scan
	data        []byte
	places      *placer
	escapedOnly bool // the scan of the bytes has decided all others

	stack   []jsonFrame
	pending []found
	where   []string // of pending: "value at /tasks/T-003"
	seen    map[hitKind]struct{}
}

// jsonFrame is an array or object that is open.
type jsonFrame struct {
	array   bool
	index   int           // of the element at hand
	key     jsondoc.Token // of the member at hand
	segment string        // of the pointer, once it was asked for
	known   bool
}

// pendingHits is how many hits wait to be given their places at once.
const pendingHits = 1024

func (d *decodedScan) token(t jsondoc.Token) error {
	switch t.Kind {
	case jsondoc.ObjectEnd, jsondoc.ArrayEnd:
		d.stack = d.stack[:len(d.stack)-1]
		return nil
	case jsondoc.Key:
		top := &d.stack[len(d.stack)-1]
		top.key, top.known = t, false
		d.text(t, "key at ")
		return nil
	case jsondoc.Object, jsondoc.Array, jsondoc.String, jsondoc.Number, jsondoc.True, jsondoc.False, jsondoc.Null:
	}
	if n := len(d.stack); n > 0 && d.stack[n-1].array {
		d.stack[n-1].index++
		d.stack[n-1].known = false
	}
	switch t.Kind {
	case jsondoc.Object, jsondoc.Array:
		d.stack = append(d.stack, jsonFrame{array: t.Kind == jsondoc.Array, index: -1})
	case jsondoc.String:
		d.text(t, "value at ")
	case jsondoc.ObjectEnd, jsondoc.ArrayEnd, jsondoc.Key, jsondoc.Number, jsondoc.True, jsondoc.False, jsondoc.Null:
	}
	return nil
}

// text scans one string or key.
func (d *decodedScan) text(t jsondoc.Token, what string) {
	if d.escapedOnly && !t.Escaped {
		return
	}
	text := d.data[t.Off+1 : t.End-1]
	if t.Escaped {
		text = []byte(t.Text(d.data))
	}
	if len(text) == 0 {
		return
	}
	d.scan.force = 0
	d.scan.run(text, 0, 0)
	if len(d.scan.hits) == 0 {
		return
	}
	clear(d.seen)
	if d.seen == nil {
		d.seen = map[hitKind]struct{}{}
	}
	where := what + d.pointer()
	for _, f := range d.scan.hits {
		kind := f.key()
		if _, twice := d.seen[kind]; twice {
			continue
		}
		d.seen[kind] = struct{}{}
		if t.Escaped {
			f.start, f.end = t.Off, t.End
		} else {
			f.start += t.Off + 1
			f.end += t.Off + 1
		}
		d.pending = append(d.pending, f)
		d.where = append(d.where, where)
	}
	if len(d.pending) >= pendingHits {
		d.flush()
	}
}

// flush gives the hits that wait their places.
func (d *decodedScan) flush() {
	for i, span := range d.places.all(d.pending) {
		f := d.pending[i]
		d.s.hits.add(Hit{
			Rule: f.rule, Severity: f.severity, Kind: f.kind, Span: span,
			Message: f.message + ", " + d.where[i], address: f.address, pointer: d.where[i],
		})
	}
	d.pending, d.where = d.pending[:0], d.where[:0]
}

// pointer gives the RFC 6901 pointer of the value or key at hand, for a
// message: cleaned, cut, and without any segment that holds a secret.
func (d *decodedScan) pointer() string {
	if len(d.stack) == 0 {
		return "(root)"
	}
	var b strings.Builder
	for i := range d.stack {
		f := &d.stack[i]
		if !f.known {
			f.segment, f.known = d.segment(f), true
		}
		b.WriteByte('/')
		b.WriteString(f.segment)
		if b.Len() > 4*safetext.Limit {
			break
		}
	}
	return safetext.Clean(b.String())
}

func (d *decodedScan) segment(f *jsonFrame) string {
	if f.array {
		return strconv.Itoa(f.index)
	}
	key := f.key.Text(d.data)
	if holdsSecret(key) || d.scan.extended && holdsExtended(d.s.name, key) {
		return "***"
	}
	// What is cut off is not shown anyway.
	return jsondoc.PointerToken(safetext.Clean(key))
}
