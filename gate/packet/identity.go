package packet

import (
	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/report"
)

// checkSignature is check 2: who the packet speaks of, and whether its sender
// signed it.
func (c *Judged) checkSignature() {
	for _, role := range []string{fFrom, fTo} {
		id := c.h.text(role)
		var k *kind
		message := ""
		switch a := c.registry.find(id); {
		case a == nil:
			k, message = unknownAgent, "the registry has no agent "+show(id)
		case a.alias:
			k, message = aliasNotCanonical, show(id)+" is an alias in the registry"
		default:
			continue
		}
		c.found[signature].add(found{kind: k, detail: role, span: c.doc.in(role), message: message})
	}
	c.verify()
}

// verify judges the packet's signature; at most one reason, the first that
// applies.
func (c *Judged) verify() {
	span := func() report.Span { return c.doc.at(fSignature) }
	s := member(c.doc.root, fSignature)
	from := c.h.text(fFrom)
	switch alg := member(s, fAlg); {
	case s == nil && c.policy.signatures:
		c.reject(signature, signatureMissing, span(), "the packet has no signature, and one is required")
	case s == nil:
		c.warn(signature, unsignedPacket, span(), "the packet has no signature: nobody vouches for it")
	case !s.Is(jsondoc.Object) || !member(s, fSig).Is(jsondoc.String):
		c.reject(signature, signatureMalformed, span(), "the signature must be an object whose sig is a text")
	case alg != nil && (!alg.Is(jsondoc.String) || alg.Text != Ed25519):
		c.reject(signature, signatureAlgUnsupported, span(), "alg must be %s or absent", Ed25519)
	case !isText(member(s, fSigner), from):
		c.reject(signature, signatureSignerMismatch, span(), "the packet is from %s, and the signer is %s", show(from), show(text(s, fSigner)))
	default:
		c.verifyBy(s, from)
	}
}

// isText tells a string that is exactly want.
func isText(v *jsondoc.Value, want string) bool { return v.Is(jsondoc.String) && v.Text == want }

func (c *Judged) verifyBy(s *jsondoc.Value, from string) {
	span := func() report.Span { return c.doc.at(fSignature) }
	k, several := c.registry.find(from).key(member(s, fKid), func(k *key) bool { return k.public.ed != nil })
	if several {
		c.reject(signature, signatureKidRequired, span(), "the signature has no kid, and %s has more than one key", show(from))
		return
	}
	if k == nil {
		c.reject(signature, signatureKeyUnknown, span(), "the registry has no usable Ed25519 key%s of %s", kidOf(s), show(from))
		return
	}
	if state, since := k.at(c.o.Now); state != keyGood {
		rules := map[keyState]*kind{keyRevoked: signatureKeyRevoked, keyNotYetValid: signatureKeyNotYetValid, keyExpired: signatureKeyExpired}
		c.reject(signature, rules[state], span(), "the key%s of %s %s", kidOf(s), show(from), since)
		return
	}
	if !k.public.verifies(c.doc.message, text(s, fSig)) {
		c.reject(signature, signatureInvalid, span(), "the signature does not verify by the key%s of %s: the handoff is not the one that was signed", kidOf(s), show(from))
		return
	}
	c.sealed = signatureVerified
}

// key finds the key that a signature names among those that count: the only one
// where it names none. several says that it names none and there are more. An
// unknown agent and an alias have no keys.
func (a *agent) key(kid *jsondoc.Value, counts func(*key) bool) (found *key, several bool) {
	if a == nil {
		return nil, false
	}
	n := 0
	for i := range a.keys {
		k := &a.keys[i]
		if !counts(k) {
			continue
		}
		n++
		if kid == nil || k.hasKid && isText(kid, k.kid) {
			found = k
		}
	}
	if kid == nil && n > 1 {
		return nil, true
	}
	return found, false
}

// kidOf names the key of a signature for a message.
func kidOf(s *jsondoc.Value) string {
	if kid := text(s, fKid); kid != "" {
		return " " + show(kid)
	}
	return ""
}
