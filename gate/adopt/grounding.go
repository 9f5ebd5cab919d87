package adopt

import (
	"bytes"

	"github.com/handoff-gate/handoff-gate/gate/trust"
)

// Grounding is what Ground did.
type Grounding struct {
	NoTrust      bool // there is no TRUST.md
	Section      bool // the section was added to it
	NoColumn     bool // it has no table with a column Provenance
	NewGrounding bool // GROUNDING.md was written

	NoManifest bool      // there is no manifest
	Manifest   *Manifest // the new one; nil where there is none and where nothing in it is to change
}

// groundingSession is the session that a manifest records after Ground.
var groundingSession = Session{Agent: "grounding-migration", Phase: "fix"}

// Ground adds to a handoff set what the grounding of claims needs: the section on
// provenance in TRUST.md, GROUNDING.md, and a manifest that knows of both. It makes
// sure that the manifest can be written before it changes anything; the error is
// then a *Refusal or one of reading.
func (f *Folder) Ground(facts Facts) (*Grounding, error) {
	old, err := f.readManifest()
	switch {
	case err != nil:
		return nil, called(ManifestName, err)
	case len(old.problems) > 0:
		return nil, &Refusal{old.problems}
	}
	if err := f.generate(&Manifest{previous: old}, groundingSession, facts, false); err != nil {
		return nil, err
	}
	register, there, err := f.text(trustName)
	if err != nil {
		return nil, err
	}
	g := &Grounding{NoTrust: !there, NoManifest: old.data == nil}
	g.NoColumn = there && !trust.NamesProvenance(register)
	if there && !hasProvenance(register) {
		if err := f.Replace(trustName, bytes.NewReader(withProvenance(register)), nil); err != nil {
			return g, called(trustName, err)
		}
		g.Section = true
	}
	starter, err := f.start(groundingName, f.taken(groundingName), false)
	if err != nil {
		return g, called(groundingName, notWritten(err))
	}
	g.NewGrounding = starter.Created
	if g.NoManifest || !g.Section && !g.NewGrounding && f.isGrounded(old, facts) {
		return g, nil
	}
	m, err := f.Generate(groundingSession, facts, false)
	if err != nil {
		return g, err
	}
	if err := f.Write(m); err != nil {
		return g, err
	}
	g.Manifest = m
	return g, nil
}

// isGrounded tells whether a manifest is what an earlier run of Ground left, and
// still right: a second run changes nothing.
func (f *Folder) isGrounded(old *previous, facts Facts) bool {
	agent := old.session.value.Get("agent")
	if agent == nil || agent.Text != groundingSession.Agent {
		return false
	}
	m := &Manifest{previous: old}
	return f.generate(m, groundingSession, facts, true) == nil && bytes.Equal(m.Data, old.data)
}
