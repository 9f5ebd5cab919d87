package ledger

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"io"
)

// tokenBytes of randomness are 32 characters of base64url.
const tokenBytes = 24

// NewToken makes a claim token: "ct_" and 32 base64url characters. Whoever has it
// may complete the claim; it is printed nowhere.
func NewToken(random io.Reader) (string, error) {
	var b [tokenBytes]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", err
	}
	return "ct_" + base64.RawURLEncoding.EncodeToString(b[:]), nil
}

// TokenDigest is what an entry holds of a token: the hex SHA-256 of its text.
func TokenDigest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// holds tells whether the token is that of the entry, in a time that does not
// depend on where they differ.
func (e *Entry) holds(token string) bool {
	return subtle.ConstantTimeCompare([]byte(TokenDigest(token)), []byte(e.text(memberToken))) == 1
}
