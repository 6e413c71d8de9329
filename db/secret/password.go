package secret

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"runtime"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"
)

// ErrPasswordTooLong is returned for passwords above MaxPassword bytes.
var ErrPasswordTooLong = errors.New("password is longer than 1,024 bytes")

const (
	// MaxPassword is the longest password in bytes.
	MaxPassword = 1024
	saltSize    = 16
	hashSize    = 32
)

// Cost is how dear one argon2id hash is.
type Cost struct {
	Time    uint32 // passes
	Memory  uint32 // KiB
	Threads uint8
}

// DefaultCost is OWASP's: 19 MiB, two passes, one lane; about 50-150 ms.
func DefaultCost() Cost { return Cost{Time: 2, Memory: 19 << 10, Threads: 1} }

// hashing bounds how many hashes run at once, so that a flood of sign-ins takes
// that many times Cost.Memory and no more. It is the one state of this package:
// memory belongs to the process, not to whoever hashes.
var hashing = make(chan struct{}, runtime.GOMAXPROCS(0))

// HashPassword makes the PHC string of a password, under a fresh salt. It waits
// its turn until ctx ends. The two ways Unicode has to write é are one password.
func HashPassword(ctx context.Context, password string, cost Cost) (string, error) {
	if len(password) > MaxPassword {
		return "", ErrPasswordTooLong
	}
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // never fails; it ends the process instead
	h := phc{cost: cost.valid(), salt: salt}
	sum, err := h.compute(ctx, password, hashSize)
	if err != nil {
		return "", err
	}
	h.sum = sum
	return h.String(), nil
}

// CheckPassword says whether hash is that of password, and whether it should be
// made again because its cost is not want. A hash that cannot be read is never
// right. The error is only ctx's, when the turn to hash did not come: then
// nothing is known, and nobody should be told that the password is wrong.
func CheckPassword(ctx context.Context, hash, password string, want Cost) (ok, rehash bool, err error) {
	h, parsed := parsePHC(hash)
	if !parsed || len(password) > MaxPassword {
		return false, false, CheckNobody(ctx, "", want)
	}
	sum, err := h.compute(ctx, password, uint32(len(h.sum)))
	if err != nil {
		return false, false, err
	}
	ok = subtle.ConstantTimeCompare(sum, h.sum) == 1
	return ok, ok && h.cost != want.valid(), nil
}

// CheckNobody takes as long as CheckPassword and knows nobody: call it for an
// address that has no user, so that timing does not tell who exists.
func CheckNobody(ctx context.Context, password string, cost Cost) error {
	if len(password) > MaxPassword {
		password = ""
	}
	h := phc{cost: cost.valid(), salt: make([]byte, saltSize)}
	sum, err := h.compute(ctx, password, hashSize)
	if err == nil {
		subtle.ConstantTimeCompare(sum, make([]byte, hashSize))
	}
	return err
}

func (h phc) compute(ctx context.Context, password string, size uint32) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case hashing <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-hashing }()
	plain := []byte(norm.NFC.String(password))
	return argon2.IDKey(plain, h.salt, h.cost.Time, h.cost.Memory, h.cost.Threads, size), nil
}

// valid raises what argon2 would panic on or silently raise itself, so that the
// cost in the string is the cost that was paid.
func (c Cost) valid() Cost {
	c.Time, c.Threads = max(c.Time, 1), max(c.Threads, 1)
	c.Memory = max(c.Memory, 8*uint32(c.Threads))
	return c
}
