package packet

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"io"

	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/packet/strict"
)

// PrivateKey is a key that signs. Its Agent and Kid are what a registry calls it.
type PrivateKey struct {
	Agent  string
	Kid    string
	HasKid bool
	key    ed25519.PrivateKey
}

// The reasons why a key file is refused. None of them holds anything of the file.
var (
	errKeyJSON      = errors.New("it is not strict JSON")
	errKeyObject    = errors.New("it is no JSON object")
	errKeyEncrypted = errors.New("it is sealed with a passphrase (encrypted), which this program cannot open: unseal it with the program that made it")
	errKeyAgent     = errors.New("it has no agent that is a non-empty text")
	errKeyKid       = errors.New("its kid is no text")
	errKeyAlg       = errors.New("its alg is not Ed25519, the one algorithm that packets are signed with")
	errKeyPrivate   = errors.New("its private_key is not base64url of 32 bytes")
)

// ReadPrivateKey reads a key file, and overwrites data with zeros. The seed never
// becomes a string, which could not be overwritten.
func ReadPrivateKey(data []byte) (*PrivateKey, error) {
	defer clear(data)
	members, err := tokens(data)
	if err != nil {
		return nil, err
	}
	k := &PrivateKey{}
	if _, sealed := members["encrypted"]; sealed {
		return nil, errKeyEncrypted
	}
	agent, ok := members["agent"]
	if k.Agent = agent.Text(data); !ok || agent.Kind != jsondoc.String || k.Agent == "" {
		return nil, errKeyAgent
	}
	if kid, ok := members[fKid]; ok && kid.Kind != jsondoc.Null {
		if kid.Kind != jsondoc.String {
			return nil, errKeyKid
		}
		k.Kid, k.HasKid = kid.Text(data), true
	}
	if alg, ok := members[fAlg]; ok && alg.Kind != jsondoc.Null && (alg.Kind != jsondoc.String || alg.Text(data) != Ed25519) {
		return nil, errKeyAlg
	}
	private, ok := members["private_key"]
	if !ok || private.Kind != jsondoc.String || private.Escaped {
		return nil, errKeyPrivate
	}
	seed := make([]byte, base64.RawURLEncoding.DecodedLen(private.End-private.Off-2))
	defer clear(seed)
	text := data[private.Off+1 : private.End-1]
	n, err := base64.RawURLEncoding.Decode(seed, text)
	again := base64.RawURLEncoding.AppendEncode(nil, seed[:n])
	defer clear(again)
	if err != nil || n != ed25519.SeedSize || string(again) != string(text) { // the compiler compares without a copy
		return nil, errKeyPrivate
	}
	k.key = ed25519.NewKeyFromSeed(seed[:n])
	return k, nil
}

// tokens gives the values of a document's members, those that hold others by their
// first token.
func tokens(data []byte) (map[string]jsondoc.Token, error) {
	members := map[string]jsondoc.Token{}
	key := ""
	err := strict.Scan(strict.Key, data, func(t jsondoc.Token) error {
		switch {
		case t.Closes():
		case t.Depth == 0 && t.Kind != jsondoc.Object:
			return errKeyObject
		case t.Depth == 1 && t.Kind == jsondoc.Key:
			key = t.Text(data)
		case t.Depth == 1:
			members[key] = t
		}
		return nil
	})
	switch {
	case errors.Is(err, errKeyObject):
		return nil, errKeyObject
	case err != nil:
		return nil, errKeyJSON // its own words could hold a part of the file
	}
	return members, nil
}

// NewPrivateKey makes a key.
func NewPrivateKey(agent, kid string, random io.Reader) (*PrivateKey, error) {
	seed := make([]byte, ed25519.SeedSize)
	defer clear(seed)
	if _, err := io.ReadFull(random, seed); err != nil {
		return nil, err
	}
	return &PrivateKey{Agent: agent, Kid: kid, HasKid: true, key: ed25519.NewKeyFromSeed(seed)}, nil
}

// Forget overwrites the key with zeros.
func (k *PrivateKey) Forget() { clear(k.key) }

// File gives the content of the key's file. Whoever has written it overwrites it.
func (k *PrivateKey) File() []byte {
	out := strict.AppendString([]byte(`{"agent": `), k.Agent)
	out = strict.AppendString(append(out, `, "kid": `...), k.Kid)
	out = append(out, `, "alg": "`+Ed25519+`", "private_key": "`...)
	// What append leaves behind when it grows holds nothing of the key yet.
	out = append(make([]byte, 0, len(out)+base64.RawURLEncoding.EncodedLen(ed25519.SeedSize)+3), out...)
	out = base64.RawURLEncoding.AppendEncode(out, k.key[:ed25519.SeedSize])
	return append(out, "\"}\n"...)
}

// RegistryEntry gives the key as a registry has it, one JSON object.
func (k *PrivateKey) RegistryEntry() string {
	out := strict.AppendString([]byte(`{"kid": `), k.Kid)
	out = strict.AppendString(append(out, `, "alg": "`+Ed25519+`", "public_key": `...), Encode(k.key[ed25519.SeedSize:]))
	return string(append(out, '}'))
}

// sign signs a message and gives the signature as packets have it.
func (k *PrivateKey) sign(message []byte) string { return Encode(ed25519.Sign(k.key, message)) }

// IsAgent tells whether a text can be an agent's id (packets.md 4).
func IsAgent(id string) bool { return isName(&jsondoc.Value{Kind: jsondoc.String, Text: id}, maxName) }
