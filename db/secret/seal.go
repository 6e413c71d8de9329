package secret

import (
	"crypto/rand"
	"errors"
	"slices"
)

// Why a sealed value does not open.
var (
	// ErrUnknownKey: it was sealed under a key that the ring does not hold.
	ErrUnknownKey = errors.New("sealed under a key that is not in HERALD_KEYS")
	// ErrTampered: it was changed, cut short, or belongs to another row.
	ErrTampered = errors.New("sealed value was changed or belongs to another row")
)

const sealVersion = 1

// headSize is version and key id; they stand in front and are authenticated.
const headSize = 1 + idSize

// Seal encrypts plain under the newest key for the row that aad names, such as
// "account/7/31/access" (workspace, row, field). The value opens only with the
// same aad, so a value copied into another row stays shut. Sealing twice gives
// two different values.
//
// The value is version (1), key id (4), nonce (24), XChaCha20-Poly1305: random
// nonces of that length never need a counter.
func (r *Ring) Seal(plain, aad string) []byte {
	k := r.keys[0]
	value := make([]byte, headSize, headSize+k.aead.NonceSize()+len(plain)+k.aead.Overhead())
	value[0] = sealVersion
	copy(value[1:], k.id[:])
	nonce := make([]byte, k.aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails; it ends the process instead
	full := sealContext(value[:headSize], aad)
	return k.aead.Seal(append(value, nonce...), nonce, []byte(plain), full)
}

// Open returns what Seal was given. It fails with ErrUnknownKey or ErrTampered.
func (r *Ring) Open(value []byte, aad string) (string, error) {
	if len(value) < headSize || value[0] != sealVersion {
		return "", ErrTampered
	}
	k := r.find(value[1:headSize])
	if k == nil {
		return "", ErrUnknownKey
	}
	head, body := value[:headSize], value[headSize:]
	if len(body) < k.aead.NonceSize() {
		return "", ErrTampered
	}
	nonce, sealed := body[:k.aead.NonceSize()], body[k.aead.NonceSize():]
	plain, err := k.aead.Open(nil, nonce, sealed, sealContext(head, aad))
	if err != nil {
		return "", ErrTampered
	}
	return string(plain), nil
}

// Fresh says whether value is sealed under the newest key. One that is not
// should be opened and sealed again before an old key leaves the ring.
func (r *Ring) Fresh(value []byte) bool {
	return len(value) >= headSize && value[0] == sealVersion &&
		string(value[1:headSize]) == string(r.keys[0].id[:])
}

func sealContext(head []byte, aad string) []byte {
	return append(slices.Clone(head), aad...)
}
