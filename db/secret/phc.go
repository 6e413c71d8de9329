package secret

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
)

// The most that a stored hash may ask of us: a row that was tampered with must
// not be able to take all memory or an hour.
const (
	maxTime    = 32
	maxMemory  = 1 << 20 // KiB, so 1 GiB
	maxThreads = 16
)

// phc is an argon2id hash as the PHC string format writes it:
// $argon2id$v=19$m=19456,t=2,p=1$salt$hash, base64 without padding.
type phc struct {
	cost Cost
	salt []byte
	sum  []byte
}

func (h phc) String() string {
	enc := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version,
		h.cost.Memory, h.cost.Time, h.cost.Threads,
		enc.EncodeToString(h.salt), enc.EncodeToString(h.sum))
}

func parsePHC(text string) (h phc, ok bool) {
	parts := strings.Split(text, "$")
	if len(parts) != 6 || strings.ContainsAny(text, "\r\n") || parts[0] != "" || parts[1] != "argon2id" ||
		parts[2] != "v="+strconv.Itoa(argon2.Version) {
		return phc{}, false
	}
	if h.cost, ok = parseCost(parts[3]); !ok {
		return phc{}, false
	}
	enc := base64.RawStdEncoding.Strict()
	salt, err1 := enc.DecodeString(parts[4])
	sum, err2 := enc.DecodeString(parts[5])
	if err1 != nil || err2 != nil || !within(len(salt), 8, 64) || !within(len(sum), 16, 64) {
		return phc{}, false
	}
	h.salt, h.sum = salt, sum
	return h, true
}

func parseCost(text string) (c Cost, ok bool) {
	fields := strings.Split(text, ",")
	if len(fields) != 3 {
		return Cost{}, false
	}
	var n [3]int
	for i, name := range []string{"m=", "t=", "p="} {
		digits, found := strings.CutPrefix(fields[i], name)
		v, err := strconv.ParseUint(digits, 10, 31)
		if !found || err != nil || strconv.FormatUint(v, 10) != digits {
			return Cost{}, false
		}
		n[i] = int(v)
	}
	if !within(n[0], 8*n[2], maxMemory) || !within(n[1], 1, maxTime) || !within(n[2], 1, maxThreads) {
		return Cost{}, false
	}
	return Cost{Memory: uint32(n[0]), Time: uint32(n[1]), Threads: uint8(n[2])}, true
}

func within(n, low, high int) bool { return n >= low && n <= high }
