// Package digest computes the two digests that files of a repository are known
// by: the one a manifest records, and git's id of a blob.
package digest

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // git's object ids are SHA-1; nothing here relies on its strength.
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
	"strings"
)

// CRFree is the SHA-256 of a stream with every CR left out.
type CRFree struct{ sum hash.Hash }

// NewCRFree begins a digest.
func NewCRFree() CRFree { return CRFree{sha256.New()} }

// Write adds a part of the stream. It never fails.
func (d CRFree) Write(p []byte) (int, error) {
	n := len(p)
	for {
		i := bytes.IndexByte(p, '\r')
		if i < 0 {
			d.sum.Write(p)
			return n, nil
		}
		d.sum.Write(p[:i])
		p = p[i+1:]
	}
}

// String gives the digest as a manifest records it: "sha256:" and 64 hex digits.
func (d CRFree) String() string { return "sha256:" + hex.EncodeToString(d.sum.Sum(nil)) }

// IsSHA256 tells 64 lower-case hex digits, the one spelling that records have of a
// SHA-256.
func IsSHA256[T string | []byte](s T) bool {
	return len(s) == 2*sha256.Size && strings.Trim(string(s), "0123456789abcdef") == ""
}

// Blob computes git's ids of files, one after another.
type Blob struct {
	sum  hash.Hash
	raw  [2 * sha256.Size]byte // the header of a blob, or the id in bytes
	text [2 * sha256.Size]byte
}

// NewBlob makes a Blob for ids of that many hex digits: 40 or 64. For any other
// number it gives nil.
func NewBlob(idLength int) *Blob {
	switch idLength {
	case 2 * sha1.Size:
		return &Blob{sum: sha1.New()} //nolint:gosec // see the import.
	case 2 * sha256.Size:
		return &Blob{sum: sha256.New()}
	}
	return nil
}

// Begin begins the id of a file of that many bytes.
func (b *Blob) Begin(size int64) {
	b.sum.Reset()
	b.sum.Write(append(strconv.AppendInt(append(b.raw[:0], "blob "...), size, 10), 0))
}

// Write adds a part of the file. It never fails.
func (b *Blob) Write(p []byte) (int, error) { return b.sum.Write(p) }

// ID gives the id in lower-case hex digits, valid until the next call.
func (b *Blob) ID() []byte { return hex.AppendEncode(b.text[:0], b.sum.Sum(b.raw[:0])) }
