package httpx

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"herald/jobs/networks/fault"
)

func TestSortGivesEachStatusItsClass(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status         int
		commit, before fault.Kind
	}{
		{200, fault.Unknown, fault.Transient}, {204, fault.Unknown, fault.Transient},
		{301, fault.Validation, fault.Validation}, {307, fault.Validation, fault.Validation}, {304, fault.Validation, fault.Validation},
		{400, fault.Validation, fault.Validation}, {401, fault.Auth, fault.Auth}, {403, fault.Permission, fault.Permission},
		{404, fault.Validation, fault.Validation}, {410, fault.Validation, fault.Validation}, {422, fault.Validation, fault.Validation},
		{408, fault.Unknown, fault.Transient}, {499, fault.Unknown, fault.Transient}, {425, fault.Transient, fault.Transient},
		{429, fault.RateLimited, fault.RateLimited},
		{500, fault.Unknown, fault.Transient}, {502, fault.Unknown, fault.Transient}, {503, fault.Unknown, fault.Transient}, {504, fault.Unknown, fault.Transient}, {520, fault.Unknown, fault.Transient},
	} {
		a := &Answer{Status: tt.status, RequestID: "r1", Header: http.Header{}}
		for step, want := range map[Step]fault.Kind{Commit: tt.commit, Prepare: tt.before, Token: tt.before} {
			f := Sort(step, a)
			if f.Kind != want || f.Status != tt.status || f.RequestID != "r1" || f.Code == "" || !strings.HasSuffix(f.Say, ".") {
				t.Errorf("%d on %s: %+v, want %s", tt.status, step, f, want)
			}
		}
	}
}

func TestRetryAfterReadsSecondsAndDatesAndIsCapped(t *testing.T) {
	t.Parallel()
	for v, want := range map[string]time.Duration{
		"": 0, "120": 2 * time.Minute, " 7 ": 7 * time.Second, "0": 0, "-5": 0, "1.5": 1500 * time.Millisecond, "soon": 0, "NaN": 0, "1e300": 24 * time.Hour, "Inf": 24 * time.Hour,
		"Fri, 01 May 2026 12:05:00 GMT": 5 * time.Minute, "Fri, 01 May 2026 11:00:00 GMT": 0, "Fri, 01 May 2027 12:00:00 GMT": 24 * time.Hour,
	} {
		a := &Answer{Status: 429, Header: http.Header{"Retry-After": {v}}, At: noon}
		if got := RetryAfter(a); got != want {
			t.Errorf("%q: %v, want %v", v, got, want)
		}
		if got := Sort(Commit, a).Wait; got != want {
			t.Errorf("%q: fault waits %v, want %v", v, got, want)
		}
	}
}

// credentials have the shapes of real ones; none is one.
var credentials = []string{
	"EAAGm0PX4ZCpsBAKZBqXyZ1234567890abcdef", "xoxb-" + "123456789012-abcdefABCDEF123456", "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw",
	"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U", "ya29.a0AfH6SMBx1234567890abcdefghij", "f47ac10b-58cc-4372-a567-0e02b2c3d479",
}

func TestSafeTextHidesCredentials(t *testing.T) {
	t.Parallel()
	for _, secret := range credentials {
		for _, text := range []string{
			"Token " + secret + " is invalid", "Authorization: Bearer " + secret, `{"access_token":"` + secret + `"}`, "access_token=" + secret,
			"see https://x.example/p?access_token=" + secret, "https://x.example/p?a=b#t=" + secret, "https://u:" + secret + "@x.example/",
		} {
			got := SafeText(text)
			for part := range strings.SplitSeq(secret, ".") {
				if len(part) > 8 && strings.Contains(got, part) {
					t.Errorf("SafeText(%q) = %q", text, got)
				}
			}
		}
	}
}

func TestSafeTextKeepsWhatAPersonNeeds(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Validation failed: Text character limit of 500 exceeded":                   "Validation failed: Text character limit of 500 exceeded",
		"Content is a duplicate of urn:li:share:7012345678901234567":                "Content is a duplicate of urn:li:share:7012345678901234567",
		"two\r\nlines\tand\u200b more":                                              "two lines and more",
		"(#100) Object 17841400000000000_1790000000000000000 is gone":               "(#100) Object 17841400000000000_1790000000000000000 is gone",
		"Video konnte nicht verarbeitet werden: Donaudampfschifffahrtsgesellschaft": "Video konnte nicht verarbeitet werden: Donaudampfschifffahrtsgesellschaft",
		"bad \xff byte": "bad byte",
	} {
		if got := SafeText(in); got != want {
			t.Errorf("SafeText(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzSafeTextIsOneShortLine(f *testing.F) {
	f.Add("hello\nworld")
	f.Add(strings.Repeat("é", 500))
	f.Add("https://a.example/?" + credentials[0])
	f.Fuzz(func(t *testing.T, s string) {
		got := SafeText(s)
		if utf8.RuneCountInString(got) > safeRunes || strings.ContainsAny(got, "\r\n\x00\t") || !utf8.ValidString(got) {
			t.Errorf("SafeText(%q) = %q", s, got)
		}
		if strings.Contains(s, credentials[0]) && strings.Contains(got, credentials[0]) {
			t.Errorf("a credential passed: %q", got)
		}
	})
}
