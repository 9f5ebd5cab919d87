// Package strict reads what a signature or a claim depends on: packets,
// registries, ledgers and key files (packets.md 1), and writes the canonical form
// that is hashed and signed (packets.md 2).
//
// It is no second reader of JSON. It sets the options of gate/internal/jsondoc,
// which keeps the spelling, the offset and the line of every member, and gives
// each error the code that the specification has for it. Values are jsondoc's: a
// number is the text of its literal, a string is decoded.
package strict

import (
	"errors"
	"fmt"
	"strings"

	"github.com/handoff-gate/handoff-gate/gate/internal/jsondoc"
	"github.com/handoff-gate/handoff-gate/gate/internal/safetext"
)

// Input is a kind of document. The kinds differ in their size and in the codes
// that refuse them.
type Input uint8

// The kinds of packets.md 1.
const (
	Packet Input = iota + 1
	Registry
	Ledger // also one entry of a ledger in git
	Key    // a private key's file; as a packet
)

// Limits of every kind (packets.md 1).
const (
	maxDepth  = 64   // arrays and objects, the outermost being 1
	maxDigits = 4300 // of an integer literal, the sign apart
)

// MaxBytes is the largest document of the kind. Whoever reads a file stops one
// byte past it, which is enough for Parse to refuse.
func (in Input) MaxBytes() int64 {
	switch in {
	case Registry:
		return 4 << 20
	case Ledger:
		return 256 << 20
	case Packet, Key:
	}
	return 1 << 20
}

// String names the kind in a sentence.
func (in Input) String() string {
	switch in {
	case Packet:
		return "packet"
	case Registry:
		return "registry"
	case Ledger:
		return "ledger"
	case Key:
		return "key file"
	}
	return "document"
}

// The reason codes of packets.md 1. A registry and a ledger have one each; a
// packet (and a key file) has one for each kind of error.
const (
	Unreadable         = "packet_unreadable"
	DuplicateField     = "duplicate_field" // and ":" and the key
	NonFinite          = "malformed:non_finite_number"
	LoneSurrogate      = "malformed:lone_surrogate"
	RegistryUnreadable = "registry_unreadable"
	LedgerCorrupt      = "ledger_corrupt"
)

// Error says why a document is refused: the one reason that is met first.
type Error struct {
	Code   string // the reason code, with its detail: "duplicate_field:from"
	Line   int    // where reading stopped, from 1; also where the size alone refuses it
	reason string
}

// Error gives a sentence without the code and without the document's own text,
// apart from a repeated key, which is escaped and cut.
func (e *Error) Error() string { return e.reason }

// options are the rules of packets.md 1, the same for every kind.
var options = jsondoc.Options{MaxDepth: maxDepth, MaxDigits: maxDigits, Finite: true}

// Parse reads a document. The error is an *Error. The document refers to src,
// which must not change afterwards.
func Parse(in Input, src []byte) (*jsondoc.Document, error) {
	if err := in.size(src); err != nil {
		return nil, err
	}
	doc, err := jsondoc.Parse(src, options)
	if err != nil {
		return nil, in.refusal(src, err)
	}
	return doc, nil
}

// Scan is Parse for a document that is too large to be kept as values: visit gets
// every token, in order. An error is an *Error, or the one that visit returned.
func Scan(in Input, src []byte, visit func(jsondoc.Token) error) error {
	if err := in.size(src); err != nil {
		return err
	}
	return in.refusal(src, jsondoc.Scan(src, options, visit))
}

func (in Input) size(src []byte) error {
	if limit := in.MaxBytes(); int64(len(src)) > limit {
		return &Error{Code: in.code(0, ""), Line: 1, reason: fmt.Sprintf("the %s is larger than %d MiB", in, limit>>20)}
	}
	return nil
}

// refusal puts the code of the kind to an error of the reader. Other errors are
// the visitor's own.
func (in Input) refusal(src []byte, err error) error {
	var e *jsondoc.Error
	if !errors.As(err, &e) {
		return err
	}
	line := jsondoc.StoppedAt(src, err).Line
	out := &Error{Code: in.code(e.Problem, e.Key), Line: line}
	var what string
	switch e.Problem {
	case jsondoc.Syntax:
		what = "the " + in.String() + " is not JSON: " + e.Error()
	case jsondoc.EqualKeys:
		what = "an object has the key " + fmt.Sprintf("%q", ShownKey(e.Key)) + " twice"
	case jsondoc.ByteOrderMark, jsondoc.BadUTF8, jsondoc.LoneSurrogate, jsondoc.TooDeep, jsondoc.TooManyDigits, jsondoc.NonFinite:
		what = "the " + in.String() + " cannot be read in one way: " + e.Error()
	}
	out.reason = fmt.Sprintf("%s (line %d)", what, line)
	return out
}

func (in Input) code(p jsondoc.Problem, key string) string {
	switch in {
	case Registry:
		return RegistryUnreadable
	case Ledger:
		return LedgerCorrupt
	case Packet, Key:
	}
	switch p {
	case jsondoc.EqualKeys:
		return DuplicateField + ":" + ShownKey(key)
	case jsondoc.NonFinite:
		return NonFinite
	case jsondoc.LoneSurrogate:
		return LoneSurrogate
	case jsondoc.Syntax, jsondoc.ByteOrderMark, jsondoc.BadUTF8, jsondoc.TooDeep, jsondoc.TooManyDigits:
	}
	return Unreadable
}

// maxKey is how many characters of a key a reason code shows (packets.md 1).
const maxKey = 64

// ShownKey is a key as a reason code shows it: of more than 64 characters the
// first 61 and "...", with control and format characters escaped.
func ShownKey(key string) string { return safetext.Escape(key, maxKey) }

// IsInteger tells an integer literal: a number without a point and an exponent,
// which is an integer of any size. Every other literal is the nearest binary64.
func IsInteger(v *jsondoc.Value) bool {
	return v.Is(jsondoc.Number) && !strings.ContainsAny(v.Text, ".eE")
}
