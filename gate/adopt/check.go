package adopt

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/handoff-gate/handoff-gate/gate"
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
)

// ErrNoManifest says that there is no manifest to check.
var ErrNoManifest = errors.New("there is no " + ManifestPath)

// Layout is what Check names where values are equal and the bytes are not.
const Layout = "(layout)"

// Check makes the manifest anew, with the session and the context that are on
// record, and names each place where the file that is there differs: a JSON
// Pointer, or Layout. None means that it is byte for byte what would be written.
// The error is ErrNoManifest, a *Refusal, or one of reading.
func (f *Folder) Check(s Session, facts Facts) (m *Manifest, stale []string, err error) {
	old, err := f.readManifest()
	if err != nil {
		return nil, nil, fmt.Errorf("%s %w", ManifestPath, err)
	}
	if old.data == nil {
		return nil, nil, ErrNoManifest
	}
	if len(old.problems) > 0 {
		return nil, nil, &Refusal{old.problems}
	}
	m = &Manifest{previous: old}
	if err := f.generate(m, s, facts, true); err != nil {
		return nil, nil, err
	}
	if bytes.Equal(m.Data, old.data) {
		return m, nil, nil
	}
	doc, err := jsondoc.Parse(m.Data, jsondoc.Options{MaxDepth: gate.MaxDepth})
	if err != nil {
		return nil, nil, err
	}
	if stale = differences(nil, "", doc.Root, old.root); stale == nil {
		stale = []string{Layout}
	}
	return m, stale, nil
}

// differences appends a pointer for each member of two objects that differs: to
// the innermost objects that both have, in the order of the wanted one.
func differences(dst []string, at string, want, got *jsondoc.Value) []string {
	if !want.Is(jsondoc.Object) || !got.Is(jsondoc.Object) {
		if jsondoc.Equal(want, got) {
			return dst
		}
		return append(dst, at)
	}
	for _, m := range want.Members {
		dst = differences(dst, at+"/"+jsondoc.PointerToken(m.Key), m.Value, got.Get(m.Key))
	}
	for _, m := range got.Members {
		if want.Get(m.Key) == nil {
			dst = append(dst, at+"/"+jsondoc.PointerToken(m.Key))
		}
	}
	return dst
}
