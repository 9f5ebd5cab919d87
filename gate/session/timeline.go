package session

import (
	"errors"
	"fmt"
	"io"

	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/plural"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
)

// turnFields are what the timeline and the payload have of each turn, and their
// places in the list.
var turnFields = []string{"seq", "ts", "class", "text"}

const (
	seqField   = 0
	classField = 2
)

// maxBadLines is how many lines that are no JSON object are listed (sessions.md
// 7.2).
const maxBadLines = 20

// badLine is a line of the timeline that is no JSON object.
type badLine struct {
	line int
	why  string
}

// timeline reads timeline.jsonl turn by turn. Beside it runs the timeline of the
// base, of which every line has to stand at the same place.
type timeline struct {
	lines  *scanner
	decode *ecma.Decoder
	tok    *ecma.Tokenizer
	turn   *ecma.Picker
	before *prefix // nil where there is nothing to compare with

	count, last int // lines, and where the last one stands
	bad         []badLine
	classes     map[string]int // the number of turns of each class that the manifest counts
	highest     float64        // seq
	numbered    bool           // there is one
}

func newTimeline(r io.Reader) *timeline {
	t := &timeline{lines: newScanner(r)}
	t.turn = ecma.NewPicker(func() int { return t.tok.Line() }, turnFields...)
	t.tok = ecma.NewTokenizer(t.turn, maxDepth)
	t.decode = ecma.NewDecoder(t.tok)
	return t
}

// next reads the next turn.
func (t *timeline) next() bool {
	if !t.lines.next() {
		return false
	}
	t.count++
	t.last = t.lines.number
	parse := len(t.bad) < maxBadLines
	if parse {
		t.turn.Reset()
		t.tok.Reset(1)
	}
	t.before.begin()
	for p := t.lines.part(); p != nil; p = t.lines.part() {
		t.before.part(p)
		if parse {
			_, _ = t.decode.Write(p) // Finish has the error
		}
	}
	t.before.end(t.last)
	if parse {
		_ = t.decode.Flush()
		t.parsed(t.tok.Finish())
	}
	return true
}

// parsed takes what a turn adds to the counts.
func (t *timeline) parsed(err error) {
	switch {
	case err != nil:
		t.bad = append(t.bad, badLine{t.last, err.Error()})
		return
	case t.turn.Kind != jsondoc.Object:
		t.bad = append(t.bad, badLine{t.last, "it is " + t.turn.Kind.Article() + ", not an object"})
		return
	}
	if f, ok := t.turn.Taken[seqField].Number(); ok && (!t.numbered || f > t.highest) {
		t.highest, t.numbered = f, true
	}
	if class := t.turn.Taken[classField]; class.Kind == jsondoc.String {
		if n, counted := t.classes[string(class.ID)]; counted {
			t.classes[string(class.ID)] = n + 1
		}
	}
}

// turns are the timeline and the payload, read side by side.
type turns struct {
	timeline *timeline // nil where it was not read
	payload  *copies   // nil where it was not read or is not JSON
	drift    *drift    // the first difference between the two
}

// drift is where the payload's turns depart from the timeline's.
type drift struct {
	line int
	what string
}

// turns reads both files. The payload leads: at each of its turns the timeline
// goes one line on, so that neither is held in memory.
func (c *checker) turns(before *before) *turns {
	t := &turns{}
	if !c.there(TimelineName) {
		c.add(TimelineMissing, c.in.Path, at(0), "there is no "+TimelineName, "Restore it from version control, or rebuild the session.")
	}
	if r := c.open(TimelineName); r != nil {
		defer r.Close()
		t.timeline = newTimeline(r)
		defer t.timeline.lines.close()
		t.timeline.classes = c.countedClasses()
		if base := c.openBefore(before); base != nil {
			defer base.Close()
			t.timeline.before = &prefix{lines: newScanner(base)}
			defer t.timeline.before.lines.close()
		}
	}
	c.readPayload(t)
	if t.timeline == nil {
		return t
	}
	for t.timeline.next() {
	}
	t.timeline.before.finish(t.timeline.last)
	if p := t.timeline.before; p != nil && p.lines.err != nil {
		c.res.BaseErr, t.timeline.before = p.lines.err, nil
	}
	if err := t.timeline.lines.err; err != nil {
		c.broken(TimelineName, "cannot be read: "+safetext.Clean(err.Error()))
		t.timeline = nil
	}
	return t
}

// countedClasses are the classes that the manifest counts.
func (c *checker) countedClasses() map[string]int {
	classes := map[string]int{}
	for _, f := range c.counts() {
		classes[ecma.ID(f.Key)] = 0
	}
	return classes
}

// counts are the members of the manifest's counts.
func (c *checker) counts() []ecma.Field {
	if v := c.m.value("counts"); c.counted == nil && v.Kind == jsondoc.Object {
		c.counted = v.Fields()
	}
	return c.counted
}

// readPayload reads the payload and goes through the timeline with it.
func (c *checker) readPayload(t *turns) {
	if !c.there(PayloadName) {
		c.add(PayloadMissing, c.in.Path, at(0), "there is no "+PayloadName, "Rebuild the session.")
		return
	}
	r := c.open(PayloadName)
	if r == nil {
		return
	}
	defer r.Close()
	v := newPayloadVisitor(t.timeline, 1)
	err := v.read(r)
	var syntax *ecma.Error
	switch {
	case errors.As(err, &syntax):
		c.add(PayloadUnparsable, c.file(PayloadName), at(syntax.Line), PayloadName+" is not JSON: "+syntax.Error(), "Rebuild the session.")
	case err != nil:
		c.broken(PayloadName, "cannot be read: "+safetext.Clean(err.Error()))
	default:
		t.payload, t.drift = v.copies, v.drift
		if v.seen > 1 && t.timeline != nil {
			t.drift = c.lastTurns(v.seen)
		}
	}
}

// lastTurns compares the turns of a payload that has several members timeline, of
// which the last counts. Both files are read once more, however many there are: to
// start over at each of them would take a hostile payload's number of members times
// the length of the timeline.
func (c *checker) lastTurns(member int) *drift {
	timeline := c.open(TimelineName)
	if timeline == nil {
		return nil
	}
	defer timeline.Close()
	payload := c.open(PayloadName)
	if payload == nil {
		return nil
	}
	defer payload.Close()
	with := newTimeline(timeline)
	defer with.lines.close()
	v := newPayloadVisitor(with, member)
	if err := v.read(payload); err != nil {
		c.broken(PayloadName, "cannot be read again: "+safetext.Clean(err.Error()))
	}
	return v.drift
}

// payloadVisitor compares the payload's turns with those of the timeline.
type payloadVisitor struct {
	copies   *copies
	timeline *timeline // nil where it was not read
	member   int       // which of the members timeline is compared, from 1
	seen     int       // members timeline

	turn     *ecma.Picker
	elements ecma.Splitter
	with     *timeline // what turns are compared with; nil where they are not, and once a difference is found
	drift    *drift
}

func newPayloadVisitor(t *timeline, member int) *payloadVisitor {
	v := &payloadVisitor{copies: newCopies(PayloadName), timeline: t, member: member}
	v.turn = ecma.NewPicker(func() int { return 0 }, turnFields...)
	v.elements = ecma.Splitter{
		Begin: func(string, jsondoc.Kind) ecma.Visitor {
			v.turn.Reset()
			return v.turn
		},
		End: v.compare,
	}
	return v
}

// read reads the payload.
func (v *payloadVisitor) read(r io.Reader) error { return v.copies.read(r, v.begin, v.end) }

// begin begins a member of the payload.
func (v *payloadVisitor) begin(name string, k jsondoc.Kind) ecma.Visitor {
	if name != "timeline" {
		return nil
	}
	v.seen++
	if k != jsondoc.Array || v.seen != v.member {
		return nil
	}
	v.with = v.timeline
	v.elements.Reset()
	return &v.elements
}

// compare compares one turn.
func (v *payloadVisitor) compare() {
	if v.with == nil {
		return
	}
	if !v.with.next() {
		v.differs(max(v.with.last, 1), fmt.Sprintf("the payload has more turns than the %s of the timeline", plural.Of(v.with.count, "line")))
		return
	}
	for i, name := range turnFields {
		if !v.turn.Taken[i].Same(v.with.turn.Taken[i]) {
			v.differs(v.with.last, fmt.Sprintf("the timeline and turn %d of the payload differ in %s", v.with.count, name))
			return
		}
	}
}

func (v *payloadVisitor) differs(line int, what string) {
	v.drift, v.with = &drift{line, what}, nil
}

// end ends a member of which there was something to be told.
func (v *payloadVisitor) end() {
	if v.with != nil && v.with.next() {
		v.differs(v.with.last, fmt.Sprintf("the timeline has more lines than the payload has turns (%d)", v.with.count-1))
	}
	v.with = nil
}

// judgeTurns judges the timeline by itself and against the manifest and the
// payload (sessions.md 5.4, 7.2 and 7.3).
func (c *checker) judgeTurns(ts *turns) {
	t := ts.timeline
	if t == nil {
		return
	}
	c.res.Turns = t.count
	path, manifest := c.file(TimelineName), c.file(ManifestName)
	turnCount := c.m.value("turn_count")
	if n, ok := turnCount.Number(); !ok || n != float64(t.count) || t.count == 0 {
		c.add(TurnCountDrift, path, at(max(t.last, 1)), fmt.Sprintf("turn_count is %s, and the timeline has %s", shown(turnCount), plural.Of(t.count, "line")),
			"Restore the timeline; to add turns, rebuild the session from its transcript.")
	}
	for _, b := range t.bad {
		c.add(LineUnparsable, path, at(b.line), "the line is not a JSON object: "+b.why, "Restore the line from version control.")
	}
	if len(t.bad) > 0 {
		return
	}
	if wrong := c.wrongCounts(t); wrong != "" {
		c.add(ClassCountDrift, manifest, c.m.at("counts"), wrong, "Restore the timeline: a turn changed its class.")
	}
	if d := ts.drift; d != nil {
		c.add(PayloadTimelineDrift, path, at(d.line), d.what, "One of the two was edited: restore it, or rebuild the session from its source.")
	}
	watermark, ok := c.m.value("watermark").Number()
	if !ok || !t.numbered || c.m.merged() {
		return
	}
	highest := ecma.AppendNumber(nil, t.highest)
	message := fmt.Sprintf("watermark is %s, and the highest seq of the timeline is %s", shown(c.m.value("watermark")), highest)
	switch {
	case watermark > t.highest:
		c.add(WatermarkAhead, manifest, c.m.at("watermark"), message, "Restore the timeline: turns were taken out.")
	case watermark < t.highest:
		c.add(WatermarkBehind, manifest, c.m.at("watermark"), message, "Rebuild the session from the full transcript; the next build would append turns again.")
	}
}

// wrongCounts names the classes that are counted wrong, up to three of them.
func (c *checker) wrongCounts(t *timeline) string {
	message, more := "", 0
	for _, f := range c.counts() {
		n := t.classes[ecma.ID(f.Key)]
		if want, ok := f.Number(); ok && want == float64(n) {
			continue
		}
		if more++; more > 3 {
			continue
		}
		if message != "" {
			message += "; "
		}
		message += fmt.Sprintf("counts says %s of the class %q, and the timeline has %d", shown(f.Value), safetext.Clean(f.Key), n)
	}
	if more > 3 {
		message += fmt.Sprintf("; so it is with %d more", more-3)
	}
	return message
}

// prefix holds a timeline to that of the base: every line of the base has to stand
// at the same place, byte for byte. A nil prefix compares nothing.
type prefix struct {
	lines *scanner // of the base

	count    int // lines of the base, all of them once finish was called
	over     bool
	rest     []byte // of the base's line, not compared yet
	violated bool
	line     int // of the timeline, where it is violated
	missing  bool
}

// begin begins a line of the timeline.
func (p *prefix) begin() {
	if p == nil || p.violated || p.over {
		return
	}
	if p.rest = nil; !p.lines.next() {
		p.over = true
		return
	}
	p.count++
}

// part compares a part of the line.
func (p *prefix) part(part []byte) {
	if p == nil {
		return
	}
	for len(part) > 0 && !p.violated && !p.over {
		if len(p.rest) == 0 {
			p.rest = p.lines.part()
		}
		n := min(len(part), len(p.rest))
		if n == 0 || string(part[:n]) != string(p.rest[:n]) {
			p.violated = true
			return
		}
		part, p.rest = part[n:], p.rest[n:]
	}
}

// end ends the line, which stands there.
func (p *prefix) end(line int) {
	if p == nil || p.over || p.line > 0 {
		return
	}
	if !p.violated && (len(p.rest) > 0 || p.lines.part() != nil) {
		p.violated = true
	}
	if p.violated {
		p.line = line
	}
}

// finish reads what is left of the base. The last line of the timeline stands
// there.
func (p *prefix) finish(last int) {
	if p == nil {
		return
	}
	for p.lines.next() {
		p.count++
		if !p.violated {
			p.violated, p.missing, p.line = true, true, max(last, 1)
		}
	}
}
