package secret

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
)

// NewLinkToken makes the token of a review link, an invitation or a session:
// 256 random bits as 43 url-safe characters. Only its hash is stored.
func NewLinkToken() (token string, hash [32]byte) {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails; it ends the process instead
	token = base64.RawURLEncoding.EncodeToString(raw)
	return token, HashToken(token)
}

// HashToken is what the database keeps and looks up by. A plain hash is enough
// for a token that nobody can guess; looking up by hash leaks no timing.
func HashToken(token string) [32]byte { return sha256.Sum256([]byte(token)) }
