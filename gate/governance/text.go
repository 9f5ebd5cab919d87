package governance

import (
	"sort"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsregexp"
	"github.com/handoff-gate/handoff-gate/gate/internal/lines"
)

// splitLines splits a text at LF and CRLF. A text that ends in one has a last
// empty line.
func splitLines(text string) []string {
	list := strings.Split(text, "\n")
	for i := range list[:len(list)-1] {
		list[i] = strings.TrimSuffix(list[i], "\r")
	}
	return list
}

// whole is a file as patterns see it that are matched over all of it: CRLF and CR
// read as LF. It knows the lines of the file as it is.
type whole struct {
	text   string
	shifts []shift // ordered
	file   *lines.Index
}

// shift says that from an offset of the text on, so many bytes of the file have
// been left out before it.
type shift struct{ from, by int }

// joint is what stands between two string literals that are added up.
var joint = jsregexp.MustCompile(`"\s*\+\s*\n?\s*"`, "g")

// readWhole reads a file; with join adjacent string literals in it become one.
func readWhole(data []byte, join bool) *whole {
	text := ecma.Decode(data)
	w := &whole{text: text, file: lines.New([]byte(text))}
	var joints [][]int
	if join {
		joints = joint.FindAllStringIndex(text, -1)
	}
	if len(joints) == 0 && !strings.Contains(text, "\r") {
		return w
	}
	var b strings.Builder
	leaveOut := func(from, to int) {
		by := to - from + w.before(b.Len())
		w.shifts = append(w.shifts, shift{b.Len(), by})
	}
	for i := 0; i < len(text); i++ {
		switch {
		case len(joints) > 0 && i == joints[0][0]:
			leaveOut(i, joints[0][1])
			i, joints = joints[0][1]-1, joints[1:]
		case text[i] != '\r':
			b.WriteByte(text[i])
		case i+1 < len(text) && text[i+1] == '\n':
			leaveOut(i, i+1)
		default:
			b.WriteByte('\n')
		}
	}
	w.text = b.String()
	return w
}

// before is how many bytes of the file were left out before an offset of the text.
func (w *whole) before(off int) int {
	i := sort.Search(len(w.shifts), func(i int) bool { return w.shifts[i].from > off })
	if i == 0 {
		return 0
	}
	return w.shifts[i-1].by
}

// line gives the line of the file that the byte at an offset of the text is in.
func (w *whole) line(off int) int { return w.file.Line(off + w.before(off)) }
