package install

import (
	"bytes"
	"strings"
	"testing"

	"github.com/handoff-gate/handoff-gate/gate/internal/ecma"
)

// plainHeader reads the header from a text that is held whole.
func plainHeader(text string) (h skillHeader) {
	for line := range strings.SplitSeq(text, "\n") {
		h.name = h.name || strings.HasPrefix(line, "name:")
		if rest, ok := strings.CutPrefix(line, "version:"); ok && !h.hasVersion {
			h.hasVersion = true
			words := strings.FieldsFunc(ecma.Decode([]byte(rest)), ecma.IsSpace)
			if len(words) > 0 {
				h.version = words[0]
			}
		}
	}
	return h
}

// Reading in parts finds what reading all at once finds.
func FuzzReadHeader(f *testing.F) {
	f.Add([]byte(skill))
	f.Add([]byte("version:\r\nname:\nversion: 1"))
	f.Add([]byte("name:\xff\nversion: \xe2\x82 x\n"))
	f.Add(bytes.Repeat([]byte("name:version:\n"), 400))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= maxLine {
			t.Skip("of a longer line only the beginning is looked at")
		}
		got, err := readHeader(bytes.NewReader(data))
		if want := plainHeader(string(data)); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", data, got, err, want)
		}
	})
}
