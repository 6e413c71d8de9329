package secret

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func TestSignedTokensHoldUntilTheyExpire(t *testing.T) {
	t.Parallel()
	r := ring(t, oldKey)
	token := r.Sign("oauth state", []byte("payload \x00\xff"), noon.Add(time.Minute))
	if url.PathEscape(token) != token || url.QueryEscape(token) != token {
		t.Errorf("not url-safe: %s", token)
	}
	got, err := r.Verify("oauth state", token, noon.Add(59*time.Second))
	if err != nil || string(got) != "payload \x00\xff" {
		t.Fatalf("in time: %q, %v", got, err)
	}
	for _, late := range []time.Duration{time.Minute, time.Hour, 1e6 * time.Hour} {
		if _, err := r.Verify("oauth state", token, noon.Add(late)); !errors.Is(err, ErrExpired) {
			t.Errorf("after %v: %v", late, err)
		}
	}
	if _, err := r.Verify("oauth", token, noon); !errors.Is(err, ErrForged) {
		t.Errorf("for another purpose: %v", err)
	}
}

func TestVerifyNoticesEveryChangedCharacter(t *testing.T) {
	t.Parallel()
	r := ring(t, oldKey)
	token := r.Sign("p", []byte("ab"), noon.Add(time.Hour))
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/."
	for i := range token {
		for _, c := range alphabet {
			bad := token[:i] + string(c) + token[i+1:]
			if _, err := r.Verify("p", bad, noon); bad != token && !errors.Is(err, ErrForged) {
				t.Fatalf("character %d may be %q: %v", i, c, err)
			}
		}
		if _, err := r.Verify("p", token[:i], noon); !errors.Is(err, ErrForged) {
			t.Fatalf("the first %d characters are enough: %v", i, err)
		}
	}
	for _, bad := range []string{token + "=", token + "\n", "\n" + token, token + token, " " + token} {
		if _, err := r.Verify("p", bad, noon); !errors.Is(err, ErrForged) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestPurposeCannotRunIntoThePayload(t *testing.T) {
	t.Parallel()
	k := ring(t, oldKey).keys[0]
	if string(k.mac("ab", []byte("c"))) == string(k.mac("a", []byte("bc"))) {
		t.Error("purpose and body are not kept apart")
	}
}

func TestSignedTokensSurviveARotation(t *testing.T) {
	t.Parallel()
	token := ring(t, oldKey).Sign("p", nil, noon.Add(time.Hour))
	if _, err := ring(t, strings.Repeat("n", 40)+","+oldKey).Verify("p", token, noon); err != nil {
		t.Errorf("under the new ring: %v", err)
	}
	if _, err := ring(t, strings.Repeat("n", 40)).Verify("p", token, noon); !errors.Is(err, ErrForged) {
		t.Errorf("without the old key: %v", err)
	}
}

func TestMediaLinksCoverWorkspaceFileAndAudience(t *testing.T) {
	t.Parallel()
	r := ring(t, oldKey)
	link := MediaLink{Tenant: 7, Media: 31, File: "thumbnail"}
	signed := r.SignMedia(ForNetwork, link, noon.Add(time.Hour))
	if got, err := r.VerifyMedia(ForNetwork, signed, noon); err != nil || got != link {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := r.VerifyMedia(ForMember, signed, noon); !errors.Is(err, ErrForged) {
		t.Errorf("a network's link passes for a member's: %v", err)
	}
	other := r.SignMedia(ForNetwork, MediaLink{Tenant: 8, Media: 31, File: "thumbnail"}, noon.Add(time.Hour))
	if other == signed {
		t.Error("two workspaces share a link")
	}
	short := r.Sign(string(ForMember), []byte("short"), noon.Add(time.Hour))
	if _, err := r.VerifyMedia(ForMember, short, noon); !errors.Is(err, ErrForged) {
		t.Errorf("a short payload: %v", err)
	}
}

func TestLinkTokensAreLongAndOnlyTheirHashIsKept(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		token, hash := NewLinkToken()
		if len(token) != 43 || seen[token] || HashToken(token) != hash || url.PathEscape(token) != token {
			t.Fatalf("token %q", token)
		}
		seen[token] = true
	}
}

func FuzzVerifyNeverAcceptsWhatWasNotSigned(f *testing.F) {
	r := ring(f, oldKey)
	f.Add("p", r.Sign("q", []byte("x"), noon.Add(time.Hour)))
	f.Add("", "AAAA")
	f.Fuzz(func(t *testing.T, purpose, token string) {
		if purpose == "q" {
			return
		}
		if _, err := r.Verify(purpose, token, noon); !errors.Is(err, ErrForged) {
			t.Errorf("%q for %q: %v", token, purpose, err)
		}
		if _, err := r.VerifyMedia(ForMember, token, noon); err == nil {
			t.Errorf("media link %q", token)
		}
	})
}
