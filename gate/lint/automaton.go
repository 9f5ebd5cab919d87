package lint

// automaton is an Aho-Corasick machine over bytes: one table look-up a byte,
// whatever the text is, so no prefix can be repeated to make it slow. Entries
// hold the row of the next state; the top bit marks the ones that need a look.
type automaton struct {
	class  [256]uint8
	stride int // a power of two, 1<<shift
	shift  uint
	next   []uint32 // row of a state + class of a byte -> row of the next state, perhaps with look
	out    [][]uint16
	last   []byte // the last byte of the state's word, by state
	word   []string
}

// look marks a transition that the caller must act on.
const look = 1 << 31

// newAutomaton builds the machine for words. With fold the words are lower case
// and match ASCII letters of either case. Every byte that stands in no word is
// in a class of its own only if extra names it.
func newAutomaton(words []string, fold bool, extra string) *automaton {
	a := &automaton{}
	classes := 1 // class 0: bytes that mean nothing
	add := func(b byte) {
		if a.class[b] == 0 {
			a.class[b] = uint8(classes)
			classes++
		}
	}
	for _, w := range words {
		for i := range len(w) {
			add(w[i])
		}
	}
	for i := range len(extra) {
		add(extra[i])
	}
	if fold {
		for c := byte('a'); c <= 'z'; c++ {
			a.class[c-'a'+'A'] = a.class[c]
		}
	}
	a.stride = 1
	for a.stride < classes {
		a.stride *= 2
		a.shift++
	}

	type node struct {
		to   map[uint8]int
		fail int
		out  []uint16
		last byte
		word string
	}
	nodes := []node{{to: map[uint8]int{}}}
	for id, w := range words {
		s := 0
		for i := range len(w) {
			c := a.class[w[i]]
			t, ok := nodes[s].to[c]
			if !ok {
				t = len(nodes)
				nodes = append(nodes, node{to: map[uint8]int{}, last: w[i], word: w[:i+1]})
				nodes[s].to[c] = t
			}
			s = t
		}
		nodes[s].out = append(nodes[s].out, uint16(id))
	}

	a.next = make([]uint32, len(nodes)*a.stride)
	queue := []int{0}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if s != 0 {
			nodes[s].out = append(nodes[s].out, nodes[nodes[s].fail].out...)
		}
		for c := range a.stride {
			t, ok := nodes[s].to[uint8(c)]
			switch {
			case ok && s == 0:
				nodes[t].fail = 0
			case ok:
				nodes[t].fail = int(a.next[nodes[s].fail*a.stride+c]) / a.stride
			case s == 0:
				t = 0
			default:
				t = int(a.next[nodes[s].fail*a.stride+c]) / a.stride
			}
			if ok {
				queue = append(queue, t)
			}
			a.next[s*a.stride+c] = uint32(t * a.stride)
		}
	}
	for _, n := range nodes {
		a.out = append(a.out, n.out)
		a.last = append(a.last, n.last)
		a.word = append(a.word, n.word)
	}
	return a
}

// mark sets the look bit on every transition into a state that ends a word. It
// is called last: the rows of the table are no longer plain after it.
func (a *automaton) mark() {
	for i, row := range a.next {
		if len(a.out[int(row&^look)/a.stride]) > 0 {
			a.next[i] |= look
		}
	}
}

// words gives the ids of the words that end in the state of row.
func (a *automaton) words(row uint32) []uint16 { return a.out[row>>a.shift] }
