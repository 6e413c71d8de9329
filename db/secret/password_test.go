package secret

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

var cheap = Cost{Time: 1, Memory: 64, Threads: 1}

func hashed(t *testing.T, password string, cost Cost) string {
	t.Helper()
	hash, err := HashPassword(t.Context(), password, cost)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func TestPasswordsMatchThemselvesOnly(t *testing.T) {
	t.Parallel()
	hash := hashed(t, "caf\u00e9 au lait", cheap)
	for password, want := range map[string]bool{
		"caf\u00e9 au lait":       true,
		"cafe\u0301 au lait":      true, // the same word as another keyboard types it
		"cafe au lait":            false,
		"caf\u00e9 au lait ":      false,
		"":                        false,
		strings.Repeat("x", 1025): false,
	} {
		ok, rehash, err := CheckPassword(t.Context(), hash, password, cheap)
		if err != nil || ok != want || rehash {
			t.Errorf("%q: %v, rehash %v, %v", password, ok, rehash, err)
		}
	}
	if hash == hashed(t, "caf\u00e9 au lait", cheap) {
		t.Error("two hashes share a salt")
	}
}

func TestPasswordHashesOfOthersAreRead(t *testing.T) {
	t.Parallel()
	// Made by the reference program: echo -n password | argon2 somesalt -id -t 2 -k 256 -p 1 -l 32
	const reference = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"
	ok, rehash, err := CheckPassword(t.Context(), reference, "password", cheap)
	if err != nil || !ok || !rehash {
		t.Errorf("reference hash: %v, rehash %v, %v", ok, rehash, err)
	}
}

func TestCheckPasswordAsksForANewHashWhenTheCostChanged(t *testing.T) {
	t.Parallel()
	dearer := Cost{Time: 2, Memory: 64, Threads: 1}
	hash := hashed(t, "password", cheap)
	if ok, rehash, err := CheckPassword(t.Context(), hash, "password", dearer); !ok || !rehash || err != nil {
		t.Errorf("right password: %v, rehash %v, %v", ok, rehash, err)
	}
	if ok, rehash, err := CheckPassword(t.Context(), hash, "wrong", dearer); ok || rehash || err != nil {
		t.Errorf("wrong password: %v, rehash %v, %v", ok, rehash, err)
	}
}

func TestDefaultCostIsWrittenIntoTheHash(t *testing.T) {
	t.Parallel()
	if hash := hashed(t, "password", DefaultCost()); !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("got %s", hash)
	}
	if got := hashed(t, "x", Cost{}); !strings.HasPrefix(got, "$argon2id$v=19$m=8,t=1,p=1$") {
		t.Errorf("an empty cost gives %s", got)
	}
}

func TestPasswordsTooLongAreRefused(t *testing.T) {
	t.Parallel()
	if _, err := HashPassword(t.Context(), strings.Repeat("x", MaxPassword+1), cheap); !errors.Is(err, ErrPasswordTooLong) {
		t.Errorf("got %v", err)
	}
	if _, err := HashPassword(t.Context(), strings.Repeat("x", MaxPassword), cheap); err != nil {
		t.Errorf("the longest allowed: %v", err)
	}
}

func TestUnreadableHashesAreNeverRight(t *testing.T) {
	t.Parallel()
	good := hashed(t, "password", cheap)
	for _, bad := range []string{
		"", "password", "$2y$12$abcdefghijklmnopqrstuu", "$argon2i" + good[len("$argon2id"):],
		strings.Replace(good, "v=19", "v=16", 1), strings.Replace(good, "m=64", "m=99999999", 1),
		strings.Replace(good, "m=64", "m=064", 1), strings.Replace(good, "t=1", "t=0", 1),
		strings.Replace(good, "p=1", "p=0", 1), strings.Replace(good, "p=1", "p=200", 1),
		strings.Replace(good, ",t=1", "", 1), good + "$", good + "=", good[:len(good)-30],
	} {
		if ok, _, err := CheckPassword(t.Context(), bad, "password", cheap); ok || err != nil {
			t.Errorf("%q: %v, %v", bad, ok, err)
		}
	}
}

// A caller waiting for its turn leaves when its request ends, and is not told
// that the password was wrong.
func TestHashingWaitsItsTurnAndLeavesWithTheRequest(t *testing.T) {
	for range cap(hashing) {
		hashing <- struct{}{}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := HashPassword(ctx, "password", cheap)
	_, _, err2 := CheckPassword(ctx, "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$c29tZXNhbHRzb21lc2FsdA", "x", cheap)
	err3 := CheckNobody(ctx, "x", cheap)
	for range cap(hashing) {
		<-hashing
	}
	for i, err := range []error{err, err2, err3} {
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("call %d: got %v, want the deadline", i, err)
		}
	}
	if err := CheckNobody(t.Context(), "x", cheap); err != nil {
		t.Errorf("a turn was not given back: %v", err)
	}
}

// What argon2id costs is the memory it fills, so that is counted: time would say
// more of the machine than of the code.
func TestNobodyCostsAsMuchAsSomebody(t *testing.T) {
	cost := Cost{Time: 2, Memory: 4 << 10, Threads: 1}
	hash := hashed(t, "password", cost)
	filled := func(f func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	somebody := filled(func() { _, _, _ = CheckPassword(t.Context(), hash, "wrong", cost) })
	if somebody < 4<<20 {
		t.Fatalf("a check fills %d bytes, want at least the cost's 4 MiB", somebody)
	}
	for name, f := range map[string]func(){
		"nobody":     func() { _ = CheckNobody(t.Context(), "wrong", cost) },
		"unreadable": func() { _, _, _ = CheckPassword(t.Context(), "!", "wrong", cost) },
	} {
		if n := filled(f); n < somebody*9/10 || n > somebody*11/10 {
			t.Errorf("%s fills %d bytes, somebody %d", name, n, somebody)
		}
	}
}

func FuzzParsePHC(f *testing.F) {
	f.Add("$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$c29tZXNhbHRzb21lc2FsdA")
	f.Add("$argon2id$v=19$m=4294967295,t=1,p=1$$")
	f.Fuzz(func(t *testing.T, text string) {
		h, ok := parsePHC(text)
		if !ok {
			return
		}
		if h.String() != text {
			t.Errorf("%q is read as %q", text, h)
		}
		if c := h.cost; c != c.valid() || c.Memory > maxMemory || c.Time > maxTime || c.Threads > maxThreads {
			t.Errorf("%q costs %+v", text, c)
		}
	})
}
