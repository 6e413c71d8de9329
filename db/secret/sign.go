package secret

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"time"
)

// Why a signed token is not accepted.
var (
	// ErrForged: not signed by a key of the ring for this purpose.
	ErrForged = errors.New("signature does not match")
	// ErrExpired: signed by us, and its time is over.
	ErrExpired = errors.New("signed link has expired")
)

// signHead is key id and expiry (seconds since 1970), in front of the payload.
const signHead = idSize + 8

// signText is strict, so that the same bytes have one spelling; the line breaks
// it would still skip are refused by Verify.
var signText = base64.RawURLEncoding.Strict()

// Sign makes a url-safe token that carries payload in the open and proves, up
// to but not including expires (whole seconds, cut off), that it is ours and
// meant for purpose. A token of one purpose is forged for every other.
func (r *Ring) Sign(purpose string, payload []byte, expires time.Time) string {
	k := r.keys[0]
	body := make([]byte, 0, signHead+len(payload)+sha256.Size)
	body = append(body, k.id[:]...)
	body = binary.BigEndian.AppendUint64(body, uint64(expires.Unix()))
	body = append(body, payload...)
	return signText.EncodeToString(append(body, k.mac(purpose, body)...))
}

// Verify returns the payload of a token that Sign made for purpose. It fails
// with ErrForged or, for one of ours that is too old, ErrExpired.
func (r *Ring) Verify(purpose, token string, now time.Time) ([]byte, error) {
	raw, err := signText.DecodeString(token)
	if err != nil || len(raw) < signHead+sha256.Size || strings.ContainsAny(token, "\r\n") {
		return nil, ErrForged
	}
	body, mac := raw[:len(raw)-sha256.Size], raw[len(raw)-sha256.Size:]
	k := r.find(body[:idSize])
	if k == nil || !hmac.Equal(mac, k.mac(purpose, body)) {
		return nil, ErrForged
	}
	expires := int64(binary.BigEndian.Uint64(body[idSize:]))
	if now.Unix() >= expires {
		return nil, ErrExpired
	}
	return body[signHead:], nil
}

// mac covers the length of purpose too, so that no purpose can run into a body.
func (k *key) mac(purpose string, body []byte) []byte {
	h := hmac.New(sha256.New, k.sign)
	_ = binary.Write(h, binary.BigEndian, uint32(len(purpose)))
	h.Write([]byte(purpose))
	h.Write(body)
	return h.Sum(nil)
}
