package packet

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"math/big"
)

// The algorithms (packets.md 3). Packets are signed with Ed25519 alone.
const (
	Ed25519 = "Ed25519"
	ES256   = "ES256"
)

// The domain tags. A message is the tag, a line feed and a canonical form, so that
// a signature of one kind is never one of another. The third tag of the format,
// synthe/effect-receipt/v1, is the broker's: nothing here writes or checks it.
const (
	packetDomain   = "synthe/handoff-signature/v1\n"
	approvalDomain = "synthe/approval-signature/v1\n"
)

// sizes of a P-256 key, x and y, and of a signature, r and s.
const (
	es256Key = 64
	es256Sig = 64
)

// Encode gives base64url without padding, the one spelling of keys and
// signatures.
func Encode(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// decode reads base64url of exactly size bytes. Only the spelling that Encode
// gives is accepted: Go's decoder skips line ends, and has a mode that refuses
// loose bits but none that refuses both.
func decode(text string, size int) ([]byte, bool) {
	if len(text) != base64.RawURLEncoding.EncodedLen(size) {
		return nil, false
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) != size || Encode(raw) != text {
		return nil, false
	}
	return raw, true
}

// publicKey is a usable key: one that only the holder of its private key can sign
// for.
type publicKey struct {
	ed ed25519.PublicKey // of Ed25519, else nil
	es *ecdsa.PublicKey  // of ES256, else nil
}

// usable reads a public key, and says why it is none that counts.
func usable(alg, text string) (publicKey, string) {
	switch alg {
	case Ed25519:
		raw, ok := decode(text, ed25519.PublicKeySize)
		switch {
		case !ok:
			return publicKey{}, "it is not base64url of 32 bytes"
		case !canonicalY(raw):
			return publicKey{}, "it is not the canonical encoding of a point"
		case smallOrder(raw):
			return publicKey{}, "it is a point of small order, for which anybody can sign"
		}
		return publicKey{ed: raw}, ""
	case ES256:
		raw, ok := decode(text, es256Key)
		if !ok {
			return publicKey{}, "it is not base64url of 64 bytes"
		}
		key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append([]byte{4}, raw...))
		if err != nil {
			return publicKey{}, "it is no point of the curve P-256"
		}
		return publicKey{es: key}, ""
	}
	return publicKey{}, "its algorithm is neither Ed25519 nor ES256"
}

// verifies tells whether sig, as it is spelled, signs the message.
func (k publicKey) verifies(message []byte, sig string) bool {
	switch {
	case k.ed != nil:
		raw, ok := decode(sig, ed25519.SignatureSize)
		return ok && ed25519.Verify(k.ed, message, raw)
	case k.es != nil:
		raw, ok := decode(sig, es256Sig)
		if !ok {
			return false
		}
		sum := sha256.Sum256(message)
		// Verify wants r and s above 0 and below the order of the group.
		return ecdsa.Verify(k.es, sum[:], new(big.Int).SetBytes(raw[:es256Sig/2]), new(big.Int).SetBytes(raw[es256Sig/2:]))
	}
	return false
}

// fieldPrime is p = 2^255 − 19, little-endian.
var fieldPrime = func() []byte {
	p := bytes.Repeat([]byte{0xff}, 32)
	p[0], p[31] = 0xed, 0x7f
	return p
}()

// y gives the coordinate that a key encodes: all but the top bit.
func y(key []byte) []byte {
	v := bytes.Clone(key)
	v[31] &= 0x7f
	return v
}

// canonicalY tells whether the coordinate is below the prime, as crypto/ed25519
// does not ask.
func canonicalY(key []byte) bool {
	v := y(key)
	for i := 31; i >= 0; i-- {
		if v[i] != fieldPrime[i] {
			return v[i] < fieldPrime[i]
		}
	}
	return false
}

// small are the coordinates of the points of small order, as stored: 0, 1, p − 1
// and the two of order 8.
var small = func() [][]byte {
	zero, one, minus := make([]byte, 32), make([]byte, 32), bytes.Clone(fieldPrime)
	one[0] = 1
	minus[0]--
	list := [][]byte{zero, one, minus}
	for _, digits := range []string{
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
	} {
		raw, _ := hex.DecodeString(digits)
		list = append(list, raw)
	}
	return list
}()

func smallOrder(key []byte) bool {
	v := y(key)
	for _, s := range small {
		if bytes.Equal(v, s) {
			return true
		}
	}
	return false
}
