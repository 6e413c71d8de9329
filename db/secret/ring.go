package secret

import (
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"
)

const (
	keySize       = 32
	minPassphrase = 32
	idSize        = 4
)

// Ring is the operator's keys, newest first. The newest seals, signs and
// derives; every key of the ring opens and verifies, so a key can be changed
// by putting a new one in front and taking the old one away once nothing is
// left that needs it (see Fresh). A Ring is safe for concurrent use and prints
// as ***.
type Ring struct{ keys []*key }

// key is one key of the ring, split by purpose so that no two uses share bytes.
type key struct {
	id     [idSize]byte
	aead   cipher.AEAD
	sign   []byte
	derive []byte
}

// ParseRing reads HERALD_KEYS: keys separated by commas, newest first, each
// one of
//
//   - 32 bytes as base64 (44 characters, or 43 without padding; either alphabet),
//     as `openssl rand -base64 32` prints them,
//   - 32 bytes as hex (64 characters), as `openssl rand -hex 32` prints them,
//   - any other text of at least 32 characters, without a comma: a passphrase.
//
// Its errors name the position of the key and the rule, never the key.
func ParseRing(text string) (*Ring, error) {
	if strings.TrimSpace(text) == "" {
		return nil, fmt.Errorf("no key is set; make one with: openssl rand -base64 32")
	}
	ring, at := &Ring{}, map[[idSize]byte]int{}
	n := 0
	for part := range strings.SplitSeq(text, ",") {
		n++
		k, err := parseKey(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", n, err)
		}
		if first, ok := at[k.id]; ok {
			return nil, fmt.Errorf("key %d is the same as key %d; name each key once", n, first)
		}
		at[k.id] = n
		ring.keys = append(ring.keys, k)
	}
	return ring, nil
}

func parseKey(text string) (*key, error) {
	if raw, ok := decodeKey(text); ok {
		return newKey(raw)
	}
	n := len([]rune(text))
	switch {
	case n == 0:
		return nil, fmt.Errorf("it is empty; take away the extra comma or put a key there")
	case n < minPassphrase:
		return nil, fmt.Errorf("it has %d characters; give 32 bytes as base64 or hex, or a passphrase of at least %d characters", n, minPassphrase)
	}
	raw, err := hkdf.Key(sha256.New, []byte(text), nil, "herald passphrase 1", keySize)
	if err != nil {
		return nil, err
	}
	return newKey(raw)
}

func decodeKey(text string) ([]byte, bool) {
	if raw, err := hex.DecodeString(text); err == nil && len(raw) == keySize {
		return raw, true
	}
	bare := strings.TrimRight(text, "=")
	if n := len(text); n != 43 && n != 44 || len(bare) != 43 {
		return nil, false
	}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if raw, err := enc.DecodeString(bare); err == nil && len(raw) == keySize {
			return raw, true
		}
	}
	return nil, false
}

func newKey(raw []byte) (*key, error) {
	aead, err := chacha20poly1305.NewX(prf(raw, "herald seal 1"))
	if err != nil {
		return nil, err
	}
	k := &key{aead: aead, sign: prf(raw, "herald sign 1"), derive: prf(raw, "herald derive 1")}
	copy(k.id[:], prf(raw, "herald id 1"))
	return k, nil
}

// prf is one step of HKDF-Expand: 32 bytes that tell nothing about key.
func prf(key []byte, label string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(label))
	return h.Sum(nil)
}

// Derive returns a secret for label that is the same for the same newest key:
// 43 url-safe characters. It is for secrets that both sides can compute, such
// as the passwords of database roles, which `herald migrate` must therefore
// set again after a new key came first in the ring.
func (r *Ring) Derive(label string) string {
	return base64.RawURLEncoding.EncodeToString(prf(r.keys[0].derive, label))
}

func (r *Ring) find(id []byte) *key {
	for _, k := range r.keys {
		if string(k.id[:]) == string(id) {
			return k
		}
	}
	return nil
}

func (r *Ring) String() string   { return masked }
func (r *Ring) GoString() string { return masked }

// Format keeps a ring out of every verb.
func (r *Ring) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, masked) }

// MarshalText keeps a ring out of JSON.
func (r *Ring) MarshalText() ([]byte, error) { return []byte(masked), nil }

// LogValue keeps a ring out of the log.
func (r *Ring) LogValue() slog.Value { return slog.StringValue(masked) }
