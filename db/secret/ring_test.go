package secret

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

const (
	oldKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
)

func ring(t testing.TB, text string) *Ring {
	t.Helper()
	r, err := ParseRing(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestParseRingTakesTheThreeForms(t *testing.T) {
	t.Parallel()
	forms := map[string]string{
		"hex":               oldKey,
		"upper case hex":    strings.ToUpper(oldKey),
		"base64":            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
		"base64, no pad":    "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
		"surrounding space": "  " + oldKey + " ",
	}
	want := ring(t, oldKey).Derive("x")
	for name, text := range forms {
		if got := ring(t, text).Derive("x"); got != want {
			t.Errorf("%s: another key came out", name)
		}
	}
	std := ring(t, "+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/8=")
	url := ring(t, "-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_8=")
	if std.Derive("x") != url.Derive("x") {
		t.Error("the two alphabets of base64 give two keys")
	}
	if got := ring(t, strings.Repeat("ä b", 11)).Derive("x"); got == want || len(got) != 43 {
		t.Errorf("a passphrase gave %q", got)
	}
}

func TestParseRingSaysWhatIsWrongWithoutShowingTheKey(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                     "no key is set",
		"   ":                                  "no key is set",
		oldKey + ",":                           "key 2: it is empty",
		"hunter2-hunter2":                      "key 1: it has 15 characters",
		oldKey + "," + strings.Repeat("s", 31): "key 2: it has 31 characters",
		oldKey + "," + oldKey:                  "key 2 is the same as key 1",
		oldKey[:63]:                            "",
	} {
		_, err := ParseRing(text)
		if want == "" {
			continue // 63 hex digits are a passphrase like any other
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "0001")) {
			t.Errorf("the error shows the key: %v", err)
		}
	}
}

func TestDeriveDependsOnLabelAndNewestKeyOnly(t *testing.T) {
	t.Parallel()
	one, two := ring(t, oldKey), ring(t, strings.Repeat("n", 32)+","+oldKey)
	if one.Derive("role app") == one.Derive("role worker") {
		t.Error("two labels share a secret")
	}
	if one.Derive("role app") == two.Derive("role app") {
		t.Error("a new first key derives the old secret")
	}
	const golden = "eoaCNvghzGde3tX6_0vHrzm2L_awrqmIsVrHemE56sU"
	if got := one.Derive("role app"); got != golden {
		t.Errorf("derivation changed, which locks every installation out: %s", got)
	}
}

func TestSealedValuesOpenForTheirRowOnly(t *testing.T) {
	t.Parallel()
	r := ring(t, oldKey)
	value := r.Seal("EAAB-token", "account/7/31/access")
	if got, err := r.Open(value, "account/7/31/access"); err != nil || got != "EAAB-token" {
		t.Fatalf("open: %q, %v", got, err)
	}
	for _, aad := range []string{"account/8/31/access", "account/7/31/refresh", ""} {
		if _, err := r.Open(value, aad); !errors.Is(err, ErrTampered) {
			t.Errorf("opened for %q: %v", aad, err)
		}
	}
	if strings.Contains(string(value), "EAAB") {
		t.Error("the plain token is in the value")
	}
	if once, twice := r.Seal("a", "b"), r.Seal("a", "b"); string(once) == string(twice) {
		t.Error("sealing twice gives the same value")
	}
	if got, err := r.Open(r.Seal("", "x"), "x"); err != nil || got != "" {
		t.Errorf("an empty secret: %q, %v", got, err)
	}
}

func TestOpenNoticesEveryChangedBit(t *testing.T) {
	t.Parallel()
	r := ring(t, oldKey)
	value := r.Seal("secret", "row")
	for i := range len(value) * 8 {
		bad := append([]byte(nil), value...)
		bad[i/8] ^= 1 << (i % 8)
		if _, err := r.Open(bad, "row"); err == nil {
			t.Fatalf("bit %d may be changed", i)
		}
	}
	for n := range value {
		if _, err := r.Open(value[:n], "row"); err == nil {
			t.Fatalf("the first %d bytes are enough", n)
		}
	}
}

func TestKeysCanBeRotated(t *testing.T) {
	t.Parallel()
	before := ring(t, oldKey)
	during := ring(t, strings.Repeat("n", 40)+","+oldKey)
	after := ring(t, strings.Repeat("n", 40))
	value := before.Seal("token", "row")

	if got, err := during.Open(value, "row"); err != nil || got != "token" {
		t.Fatalf("an old value under the new ring: %q, %v", got, err)
	}
	if during.Fresh(value) || !before.Fresh(value) {
		t.Error("Fresh does not tell that the value should be sealed again")
	}
	if _, err := after.Open(value, "row"); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("without the old key: %v", err)
	}
	again := during.Seal("token", "row")
	if got, err := after.Open(again, "row"); err != nil || got != "token" || !during.Fresh(again) {
		t.Errorf("sealed again: %q, %v", got, err)
	}
}

func TestSecretsNeverPrint(t *testing.T) {
	t.Parallel()
	const plain = "EAAB-very-secret"
	r, tok := ring(t, oldKey), NewToken(plain)
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "ring", r, "token", tok)
	inJSON, err := json.Marshal(map[string]any{"ring": r, "token": tok})
	if err != nil {
		t.Fatal(err)
	}
	type holder struct {
		tok Token
		r   *Ring
	}
	out := log.String() + string(inJSON)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%t"} {
		out += fmt.Sprintf(verb+verb+verb, r, tok, holder{tok, r})
	}
	for _, bad := range []string{plain, fmt.Sprintf("%x", plain), "derive", "[0 1 2 3"} {
		if strings.Contains(out, bad) {
			t.Errorf("%q is in %s", bad, out)
		}
	}
	if got := fmt.Sprint(tok); got != "***" || tok.Reveal() != plain || tok.Empty() || !(Token{}).Empty() {
		t.Errorf("token prints as %s and reveals %q", got, tok.Reveal())
	}
}

func FuzzOpenNeverAcceptsWhatWasNotSealed(f *testing.F) {
	r := ring(f, oldKey)
	f.Add(r.Seal("x", "other row"), "row")
	f.Add([]byte{1}, "")
	f.Fuzz(func(t *testing.T, value []byte, aad string) {
		if aad == "other row" {
			return
		}
		if plain, err := r.Open(value, aad); err == nil {
			t.Errorf("opened %x as %q", value, plain)
		}
		r.Fresh(value)
	})
}
